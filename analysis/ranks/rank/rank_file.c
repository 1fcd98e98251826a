/* rank_file.c - packs, sorts, writes and reads blocks. */
#include "analysis/ranks/rank/rank_file.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/rank/rank_bytes.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static const char magic[8] = {'V', 'P', 'T', 'R', 'A', 'N', 'K', '1'};

enum { LEVEL = 9, HEADER_BYTES = 32 };

/* A rank of 16,000 collectives takes about 1 MiB. */
#define RANK_BYTES_MOST (UINT64_C(256) << 20)

/* FNV-1a, eight bytes at a time: against damage, not against anybody. */
static uint64_t checksum_of(const unsigned char *data, size_t size)
{
	uint64_t h = 0xcbf29ce484222325u, word;

	for (; size >= 8; data += 8, size -= 8) {
		memcpy(&word, data, 8);
		h = (h ^ word) * 0x100000001b3u;
		h ^= h >> 29;
	}
	for (; size; data++, size--)
		h = (h ^ *data) * 0x100000001b3u;
	return h ^ h >> 32;
}

static int add_block(struct vpa_rank_blocks *b, const struct vpa_rank_block *block)
{
	if (vpt_grow(&b->items, &b->cap, b->count + 1, sizeof(*b->items)))
		return VPT_ENOMEM;
	b->items[b->count++] = *block;
	return VPT_OK;
}

int vpa_rank_blocks_add(struct vpa_rank_blocks *b, const struct vpa_rank *rank)
{
	struct vpa_rank_block block = {
		.rank = rank->rank < 0 ? UINT64_MAX : 1 + (uint64_t)rank->rank};
	struct vpt_buffer bytes;
	size_t packed;
	int rc = vpa_rank_to_bytes(rank, &bytes);

	if (rc)
		return rc;
	block.size = bytes.size;
	block.packed = vpt_alloc(ZSTD_compressBound(bytes.size), 1);
	packed = block.packed ? ZSTD_compress(block.packed, ZSTD_compressBound(bytes.size),
					bytes.data, bytes.size, LEVEL)
			      : 0;
	vpt_free(bytes.data);
	if (!block.packed || ZSTD_isError(packed)) {
		vpt_free(block.packed);
		return VPT_ENOMEM;
	}
	block.packed_size = packed;
	block.checksum = checksum_of(block.packed, packed);
	rc = add_block(b, &block);
	if (rc)
		vpt_free(block.packed);
	return rc;
}

/* ---- a file ---- */

static uint64_t number_at(const unsigned char *bytes)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < 8; i++)
		n |= (uint64_t)bytes[i] << 8 * i;
	return n;
}

static void put_number(unsigned char *bytes, uint64_t n)
{
	unsigned i;

	for (i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(n >> 8 * i);
}

static int read_exactly(
	struct vpt_source *src, uint64_t at, void *to, size_t size, struct vpt_err *err)
{
	size_t got;
	int rc = src->read_at(src, at, to, size, &got, err);

	if (!rc && got < size)
		rc = vpt_fail(err, VPT_EDATA,
			"%s: ends at byte %" PRIu64 ", in the middle of a rank", src->name,
			at + got);
	return rc;
}

int vpa_is_rank_file(struct vpt_source *src)
{
	char found[sizeof(magic)];
	size_t got;

	return !src->read_at(src, 0, found, sizeof(found), &got, NULL) && got == sizeof(found) &&
	       !memcmp(found, magic, sizeof(magic));
}

static int read_block(
	struct vpt_source *src, uint64_t *at, struct vpa_rank_block *block, struct vpt_err *err)
{
	unsigned char header[HEADER_BYTES];
	int rc = read_exactly(src, *at, header, sizeof(header), err);

	if (rc)
		return rc;
	*block = (struct vpa_rank_block){.rank = number_at(header),
		.size = number_at(header + 8),
		.packed_size = number_at(header + 16),
		.checksum = number_at(header + 24)};
	*at += sizeof(header);
	if (block->size > RANK_BYTES_MOST)
		return vpt_fail(err, VPT_EDATA,
			"%s: byte %" PRIu64 ": expected a rank of at most %" PRIu64
			" bytes, found one of %" PRIu64,
			src->name, *at, RANK_BYTES_MOST, block->size);
	if (block->packed_size > src->size_bytes - *at)
		return vpt_fail(err, VPT_EDATA,
			"%s: ends at byte %" PRIu64 ", in the middle of a rank", src->name,
			src->size_bytes);
	block->packed = vpt_alloc((size_t)block->packed_size, 1);
	if (!block->packed)
		return vpt_fail(err, VPT_ENOMEM, "%s: no memory for its ranks", src->name);
	rc = read_exactly(src, *at, block->packed, (size_t)block->packed_size, err);
	if (!rc && checksum_of(block->packed, (size_t)block->packed_size) != block->checksum)
		rc = vpt_fail(err, VPT_EDATA, "%s: the rank at byte %" PRIu64 " is damaged",
			src->name, *at);
	*at += block->packed_size;
	if (rc)
		vpt_free(block->packed);
	return rc;
}

int vpa_rank_blocks_read(struct vpa_rank_blocks *b, struct vpt_source *src, struct vpt_err *err)
{
	uint64_t at = sizeof(magic);
	int rc = VPT_OK;

	if (!vpa_is_rank_file(src))
		return vpt_fail(err, VPT_EDATA,
			"%s: expected a summary of ranks, NAME.vps, as `vptrace-analyze summarize` "
			"writes it",
			src->name);
	while (!rc && at < src->size_bytes) {
		struct vpa_rank_block block;

		rc = read_block(src, &at, &block, err);
		if (!rc && add_block(b, &block)) {
			vpt_free(block.packed);
			rc = vpt_fail(err, VPT_ENOMEM, "%s: no memory for its ranks", src->name);
		}
	}
	return rc;
}

/* ---- in order, each once ---- */

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_content(const void *a, const void *b)
{
	const struct vpa_rank_block *x = a, *y = b;
	int order = by_number(x->rank, y->rank);

	if (!order)
		order = by_number(x->checksum, y->checksum);
	if (!order)
		order = by_number(x->packed_size, y->packed_size);
	return order ? order : memcmp(x->packed, y->packed, (size_t)x->packed_size);
}

int vpa_rank_blocks_write(struct vpa_rank_blocks *b, struct vpt_sink *sink, struct vpt_err *err)
{
	size_t i;
	int rc;

	if (vpa_sort(b->items, b->count, sizeof(*b->items), by_content))
		return vpt_fail(err, VPT_ENOMEM, "no memory to sort ranks");
	rc = vpt_sink_write(sink, magic, sizeof(magic), err);
	for (i = 0; i < b->count && !rc; i++) {
		const struct vpa_rank_block *x = &b->items[i];
		unsigned char header[HEADER_BYTES];

		if (i && !by_content(x - 1, x))
			continue;
		put_number(header, x->rank);
		put_number(header + 8, x->size);
		put_number(header + 16, x->packed_size);
		put_number(header + 24, x->checksum);
		rc = vpt_sink_write(sink, header, sizeof(header), err);
		if (!rc)
			rc = vpt_sink_write(sink, x->packed, (size_t)x->packed_size, err);
	}
	return rc;
}

int vpa_rank_block_unpack(
	const struct vpa_rank_blocks *b, size_t i, struct vpa_rank_list *out, struct vpt_err *err)
{
	const struct vpa_rank_block *x = &b->items[i];
	unsigned char *bytes;
	struct vpa_rank *rank;
	int rc;

	if (ZSTD_getFrameContentSize(x->packed, (size_t)x->packed_size) != x->size)
		return vpt_fail(err, VPT_EDATA,
			"a rank of %" PRIu64 " bytes: its frame is of another size", x->size);
	bytes = vpt_alloc((size_t)x->size, 1);
	rank = bytes ? vpa_rank_add(out) : NULL;
	if (!rank) {
		vpt_free(bytes);
		return vpt_fail(err, VPT_ENOMEM, "no memory for a rank");
	}
	if (ZSTD_decompress(bytes, (size_t)x->size, x->packed, (size_t)x->packed_size) != x->size)
		rc = vpt_fail(err, VPT_EDATA, "a rank is damaged: its frame cannot be unpacked");
	else
		rc = vpa_rank_from_bytes(bytes, (size_t)x->size, rank, err);
	vpt_free(bytes);
	if (rc) {
		vpa_rank_free(rank);
		vpt_free(rank);
		out->count--;
	}
	return rc;
}

void vpa_rank_blocks_free(struct vpa_rank_blocks *b)
{
	size_t i;

	for (i = 0; i < b->count; i++)
		vpt_free(b->items[i].packed);
	vpt_free(b->items);
	*b = (struct vpa_rank_blocks){0};
}
