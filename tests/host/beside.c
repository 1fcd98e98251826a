/* beside.c - a traced program in which another client of CUPTI takes a profile.
 *
 *	host_beside CAPTURE inside|around [end]
 *
 * A hundred kernels before the profile or capture that lies inside, a hundred in it, and a hundred after it. With `end` the profile
 * ends as those of PyTorch's profiler do, so that the tracer can tell; without it switches its kinds off and is silent. */
#include "tests/host/host.h"
#include "tests/standin/include/standin_cupti.h"

#include "tracer/vptrace.h"

#include <string.h>
#include <unistd.h>

enum { HUNDRED = 100, FLUSH_MS = 10, A_FEW_FLUSHES_US = 200000 };

static const uint32_t kinds[] = {
	STANDIN_MEMCPY, STANDIN_MEMSET, STANDIN_KERNEL, STANDIN_RUNTIME, STANDIN_DRIVER};
static struct host_gpu gpu;
static const char *path;

static void requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, 1 << 20);
	*size = *buffer ? 1 << 20 : 0;
	*max_records = 0;
}

/* It keeps its buffers. */
static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)buffer, (void)size, (void)valid;
}

static void begin(void)
{
	HOST_CHECK(cuptiActivityRegisterCallbacks(requested, completed));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		HOST_CHECK(cuptiActivityEnable(kinds[i]));
}

static void end(int clears)
{
	uint8_t zero = 0;
	size_t size = sizeof(zero);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		HOST_CHECK(cuptiActivityDisable(kinds[i]));
	HOST_CHECK(cuptiActivityFlushAll(STANDIN_FLUSH_FORCED));
	if (clears)
		HOST_CHECK(cuptiActivitySetAttribute(STANDIN_ATTRIBUTE_PER_THREAD, &size, &zero));
}

/* The tracer learns at its next flush what has changed. */
static void launch(void)
{
	usleep(A_FEW_FLUSHES_US);
	for (int i = 0; i < HUNDRED; i++)
		host_launch(gpu.gemm, 1000, 0);
	HOST_CHECK(cudaDeviceSynchronize());
	usleep(A_FEW_FLUSHES_US);
}

static void start(void)
{
	struct vptrace_options o = {.struct_bytes = sizeof(o),
		.path = path,
		.overwrite = 1,
		.flush_interval_ms = FLUSH_MS};

	printf("start %d\n", vptrace_start(&o));
}

int main(int argc, char **argv)
{
	int around, clears = argc > 3 && !strcmp(argv[3], "end");

	if (argc < 3) {
		fprintf(stderr, "usage: host_beside CAPTURE inside|around [end]\n");
		return 2;
	}
	path = argv[1];
	around = !strcmp(argv[2], "around");
	gpu = host_open();
	(around ? begin : start)();
	launch();
	(around ? start : begin)();
	launch();
	if (around)
		printf("stop %d\n", vptrace_stop(NULL));
	else
		end(clears);
	launch();
	if (around)
		end(clears);
	else
		printf("stop %d\n", vptrace_stop(NULL));
	return 0;
}
