/* sizes.c - the size of each record that the tracer reads: by the headers this was compiled with, and by a libcupti.
 *
 *	layout_sizes LIBCUPTI
 *
 * A line a kind: its name and both sizes. From CUDA 13.2 on a library says nothing before it has a driver, and the one of 13.2
 * itself must not even be asked: their column is "-". Ends with 1 where the two differ, or where the library's record
 * is shorter than what the tracer reads of it. */
#include "formats/base/error.h"
#include "tracer/cupti/library/cupti_library.h"
#include "tracer/cupti/library/cupti_sizes.h"

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_version.h>

#include "newest.h"

#include <stdio.h>

enum { FIRST_MUTE = 130200 };

static const struct {
	uint32_t kind;
	size_t bytes;
} records[] = {
	{VTR_KIND_MEMCPY, sizeof(NEWEST_Memcpy)},
	{VTR_KIND_MEMSET, sizeof(NEWEST_Memset)},
	{VTR_KIND_KERNEL, sizeof(NEWEST_Kernel)},
	{VTR_KIND_DRIVER, sizeof(NEWEST_API)},
	{VTR_KIND_RUNTIME, sizeof(NEWEST_API)},
	{VTR_KIND_DEVICE, sizeof(NEWEST_Device)},
	{VTR_KIND_CONTEXT, sizeof(NEWEST_Context)},
	{VTR_KIND_CONCURRENT_KERNEL, sizeof(NEWEST_Kernel)},
	{VTR_KIND_OVERHEAD, sizeof(NEWEST_Overhead)},
	{VTR_KIND_MEMCPY2, sizeof(NEWEST_MemcpyPtoP)},
	{VTR_KIND_CUDA_EVENT, sizeof(NEWEST_CudaEvent)},
	{VTR_KIND_STREAM, sizeof(NEWEST_Stream)},
	{VTR_KIND_SYNCHRONIZATION, sizeof(NEWEST_Synchronization)},
	{VTR_KIND_MEMORY2, sizeof(NEWEST_Memory)},
	{VTR_KIND_GRAPH_TRACE, sizeof(NEWEST_GraphTrace)},
	{VTR_KIND_JIT, sizeof(NEWEST_Jit)},
};

enum { RECORDS = sizeof(records) / sizeof(records[0]) };

static int print(const struct vtr_sizes *sizes)
{
	int differ = 0;
	size_t i;

	for (i = 0; i < RECORDS; i++) {
		uint16_t bytes = sizes ? sizes->bytes[records[i].kind] : 0;

		printf("%-18s %4zu ", vtr_kind_name(records[i].kind), records[i].bytes);
		if (sizes)
			printf("%4u%s\n", bytes, bytes == records[i].bytes ? "" : "  differs");
		else
			printf("   -\n");
		differ |= sizes && bytes != records[i].bytes;
	}
	return differ;
}

int main(int argc, char **argv)
{
	static struct vtr_library library;
	struct vtr_sizes sizes;
	struct vpt_err err;

	if (argc != 2) {
		fprintf(stderr, "usage: layout_sizes LIBCUPTI\n");
		return 2;
	}
	if (vtr_library_load(argv[1], 0, &library, &err)) {
		fprintf(stderr, "%s: %s\n", argv[1], err.text);
		return 1;
	}
	printf("CUPTI %d\n", CUPTI_API_VERSION);
	if (CUPTI_API_VERSION >= FIRST_MUTE)
		return print(NULL);
	if (library.fn.version(&library.api) || library.api != CUPTI_API_VERSION) {
		fprintf(stderr, "%s: expected CUPTI %d, as in the headers, found %u\n", argv[1],
			CUPTI_API_VERSION, library.api);
		return 1;
	}
	vtr_sizes_learn(&library.fn, &sizes);
	return print(&sizes);
}
