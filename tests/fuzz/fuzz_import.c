/* fuzz_import.c - any bytes as a trace of another tool. The first byte may choose what the bytes pretend to be,
 * so that the fuzzer need not find a magic: 1 JSON events, 2 one JSON event's fields, 3 SQLite. */
#include "tests/fuzz/fuzz_trace.h"

#include <string.h>

#define FRAME(before, after)                                                                       \
	{                                                                                          \
		before, after, sizeof(before) - 1                                                  \
	}

static const struct {
	const char *before, *after;
	size_t before_len;
} frames[] = {
	FRAME("{\"traceEvents\": [", "]}"),
	FRAME("{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 5, \"dur\": 2, \"name\": \"n\", ", "}]}"),
	FRAME("SQLite format 3\0", ""),
};

static void run_framed(size_t which, const uint8_t *data, size_t size)
{
	size_t before = frames[which].before_len, after = strlen(frames[which].after);
	char *bytes = vpt_alloc(before + size + after, 1);
	struct vpt_source *src;

	if (!bytes)
		return;
	memcpy(bytes, frames[which].before, before);
	if (size)
		memcpy(bytes + before, data, size);
	memcpy(bytes + before + size, frames[which].after, after);
	if (!vpt_source_memory(bytes, before + size + after, &src, NULL))
		fuzz_trace(src);
	vpt_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vpt_source *src;

	if (size && data[0] >= 1 && data[0] <= sizeof(frames) / sizeof(frames[0]))
		run_framed(data[0] - 1u, data + 1, size - 1);
	else if (!vpt_source_memory(data, size, &src, NULL))
		fuzz_trace(src);
	return 0;
}
