/* fuzz_contents.c - any bytes as the table of a file's contents. What is believed describes exactly the bytes before it, and
 * comes back from its own encoding.
 *
 * The zstd frame around a table has a checksum that a fuzzer cannot guess, so tables are packed here. Bit 0 of the first
 * byte: the bytes before the table are as many as its first column says, if it is coded as this reader's writer does. */
#include "tests/fuzz/fuzz.h"

#include "formats/base/memory.h"
#include "formats/chunk/chunk.h"
#include "formats/file/contents.h"

#include <string.h>
#include <zstd.h>

enum { BEFORE_MAX = 1 << 16 };

/* How many bytes the chunks have by the table's first column, PLAIN with a width of 0 or 1. */
static size_t sum_sizes(const uint8_t *table, size_t size)
{
	size_t rows, i, sum = 0;

	if (size < 32 || table[16] != 1 || table[18] > 1)
		return 0;
	rows = (size_t)vpt_le_get(table, 4);
	for (i = 0; i < rows && i < BEFORE_MAX && sum < BEFORE_MAX; i++)
		sum += (size_t)vpt_le_get(table + 24, 8) % BEFORE_MAX +
		       (table[18] && 32 + i < size ? table[32 + i] : 0);
	return sum < BEFORE_MAX ? sum : 0;
}

/* Reads what a table says of ranges: no more than there is. */
static void count_ranges(const struct vpt_contents *c, uint64_t before)
{
	struct vpt_contents_counts counts;
	size_t chunks = 0;
	uint64_t bytes = 0;

	if (vpt_contents_counts_begin(&counts, c))
		return;
	while (!vpt_contents_counts_next(&counts) && chunks < c->count) {
		size_t i;

		for (chunks++, i = 0; i < counts.count; i++)
			bytes += counts.items[i].name.len ? (uint64_t)counts.items[i].name.text[0]
							  : 0;
	}
	FUZZ_EXPECT(chunks <= c->count && c->name_bytes <= before);
	FUZZ_EXPECT(counts.names.size <= before);
	vpt_contents_counts_end(&counts);
	(void)bytes;
}

static void check(const struct vpt_contents *c, uint64_t before)
{
	struct vpt_buffer again = {0};
	struct vpt_contents back;
	struct vpt_source *src;
	uint64_t sum = 0;
	uint8_t *file;
	size_t i;

	for (i = 0; i < c->count; i++) {
		FUZZ_EXPECT(c->items[i].offset == sum);
		sum += c->items[i].values[VPT_CONTENTS_SIZE];
	}
	FUZZ_EXPECT(sum == before);
	count_ranges(c, before);
	if (vpt_contents_encode(c, NULL, &again))
		return;
	file = vpt_calloc(before + again.size, 1);
	if (file) {
		memcpy(file + before, again.data, again.size);
		FUZZ_EXPECT(!vpt_source_memory(file, before + again.size, &src, NULL));
		FUZZ_EXPECT(!vpt_contents_read(src, 0, &back, NULL));
		FUZZ_EXPECT(back.count == c->count);
		FUZZ_EXPECT(!memcmp(back.items, c->items, c->count * sizeof(*c->items)));
		vpt_contents_free(&back);
		vpt_source_close(src);
	}
	vpt_free(file);
	vpt_free(again.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t before, at, room = ZSTD_compressBound(size);
	struct vpt_contents c;
	struct vpt_source *src;
	uint8_t *file;

	if (!size || size > BEFORE_MAX)
		return 0;
	before = data[0] & 1 ? sum_sizes(data + 1, size - 1) : data[0] * (size_t)32;
	data++;
	size--;
	file = vpt_calloc(before + room + 24, 1);
	if (!file)
		return 0;
	at = ZSTD_compress(file + before + 8, room, data, size, 1);
	FUZZ_EXPECT(!ZSTD_isError(at));
	vpt_le_put(file + before, 4, 0x184d2a56);
	vpt_le_put(file + before + 4, 4, at + 16);
	vpt_le_put(file + before + 8 + at, 4, at + 24);
	memcpy(file + before + 8 + at + 8, "VPTCNTS\n", 8);
	if (!vpt_source_memory(file, before + at + 24, &src, NULL)) {
		if (!vpt_contents_read(src, 0, &c, NULL)) {
			check(&c, before);
			vpt_contents_free(&c);
		}
		vpt_source_close(src);
	}
	vpt_free(file);
	return 0;
}
