/* fuzz_capture.c - any bytes as a capture, from opening to reports; see fuzz_input.h. */
#include "tests/fuzz/fuzz_trace.h"

#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vpt_buffer file;
	struct vpt_source *src;

	fuzz_file(data, size, &file);
	if (file.data && !vpt_source_memory(file.data, file.size, &src, NULL))
		fuzz_trace(src);
	vpt_free(file.data);
	return 0;
}
