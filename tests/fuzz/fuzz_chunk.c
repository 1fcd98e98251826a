/* fuzz_chunk.c - any bytes as a chunk's payload. What is decoded must come back from its own encoding; and a
 * payload taken as torn gives at least what it gives as a whole.
 *
 * The zstd frame around a payload has a checksum that a fuzzer cannot guess, so payloads are fed here bare.
 * Files of the corpus are taken apart first. */
#include "tests/fuzz/fuzz.h"

#include "formats/base/memory.h"
#include "formats/chunk/batch_stacks.h"
#include "formats/chunk/chunk.h"

#include <string.h>
#include <zstd.h>

/* The frames of all stacks that rows of a column refer to. */
static uint64_t touch_stacks(const struct vpt_batch *b, const uint64_t *ids, size_t rows)
{
	uint64_t sum = 0, stack;
	struct vpt_stacks stacks;
	size_t row;

	vpt_stacks_view(&stacks, b);
	for (row = 0; row < rows; row++) {
		uint32_t left = vpt_stacks_depth(&stacks, ids[row]);

		FUZZ_EXPECT(left <= VPT_STACK_DEPTH_MAX);
		for (stack = ids[row]; left; left--) {
			struct vpt_frame frame = vpt_stacks_pop(&stacks, &stack);

			sum += vpt_batch_text(b, frame.function).len + frame.line;
		}
		FUZZ_EXPECT(!vpt_stacks_depth(&stacks, ids[row]) || !stack);
	}
	return sum;
}

/* Values of every row, read so that the sanitizers see them. */
static uint64_t touch(const struct vpt_batch *b)
{
	uint64_t sum = b->strings.size;
	size_t i, row;
	unsigned c;

	for (i = 0; i < b->section_count; i++) {
		const struct vpt_section *s = &b->sections[i];
		const struct vpt_kind_desc *kind = vpt_kind_desc(s->kind);

		if (s->kind == VPT_SAMPLE)
			sum += touch_stacks(b, s->col[VPT_SAMPLE_STACK], s->row_count);
		for (c = 0; c < kind->n_columns; c++)
			for (row = 0; row < s->row_count; row++) {
				sum += s->col[c][row];
				if (kind->columns[c].unit == VPT_UNIT_STRING)
					sum += vpt_batch_text(b, s->col[c][row]).len;
			}
	}
	return sum;
}

static void run_payload(const uint8_t *data, size_t size)
{
	static struct vpt_batch first, second;
	static struct vpt_payload encoded, again;
	struct vpt_err err = {0};
	uint64_t sum;
	int rc;

	rc = vpt_chunk_decode(data, size, 0, &first, &err);
	if (rc) {
		FUZZ_EXPECT(err.text[0] && !first.section_count && !first.strings.count);
		vpt_chunk_decode(data, size, 1, &second, NULL);
		touch(&second);
		return;
	}
	sum = touch(&first);
	/* A column may be wider in the encoding that we would choose than in the one that was met. */
	if (vpt_chunk_encode(&first, &encoded, NULL))
		return;
	FUZZ_EXPECT(!vpt_chunk_decode(encoded.data, encoded.size, 0, &second, NULL));
	FUZZ_EXPECT(touch(&second) == sum && second.event_count == first.event_count);
	FUZZ_EXPECT(!vpt_chunk_encode(&second, &again, NULL));
	FUZZ_EXPECT(again.size == encoded.size && !memcmp(again.data, encoded.data, again.size));
	FUZZ_EXPECT(!vpt_chunk_decode(data, size, 1, &second, NULL));
	FUZZ_EXPECT(touch(&second) == sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at, frame;

	if (size < 4 || memcmp(data, "\x28\xb5\x2f\xfd", 4)) {
		run_payload(data, size);
		return 0;
	}
	for (at = 0; at < size; at += frame) {
		unsigned long long content = ZSTD_getFrameContentSize(data + at, size - at);
		uint8_t *payload;

		frame = ZSTD_findFrameCompressedSize(data + at, size - at);
		if (ZSTD_isError(frame) || content > VPT_PAYLOAD_MAX)
			break;
		payload = vpt_alloc((size_t)content, 1);
		if (payload &&
			ZSTD_decompress(payload, (size_t)content, data + at, frame) == content)
			run_payload(payload, (size_t)content);
		vpt_free(payload);
	}
	return 0;
}
