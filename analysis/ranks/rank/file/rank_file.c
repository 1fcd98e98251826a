/* rank_file.c - packs, sorts, writes and reads blocks. */
#include "analysis/ranks/rank/file/rank_file.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/rank/file/rank_bytes.h"
#include "analysis/ranks/rank/file/rank_columns.h"
#include "analysis/ranks/rank/file/rank_fold.h"
#include "analysis/ranks/rank/file/rank_frame.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static const char magic[8] = {'V', 'P', 'T', 'R', 'A', 'N', 'K', '1'};

enum { HEADER_BYTES = 48 };

/* A rank of 16,000 collectives takes less than 1 MiB. */
#define RANK_BYTES_MOST (UINT64_C(256) << 20)

/* FNV-1a, eight bytes at a time: against damage, not against anybody. */
static uint64_t checksum_of(uint64_t h, const unsigned char *data, size_t size)
{
	uint64_t word;

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

static uint64_t checksum_of_block(const struct vpa_rank_block *b)
{
	return checksum_of(
		checksum_of(0xcbf29ce484222325u, b->who.packed, (size_t)b->who.packed_size),
		b->detail.packed, (size_t)b->detail.packed_size);
}

void vpa_rank_block_free(struct vpa_rank_block *block)
{
	vpa_slab_drop(block->slab);
	block->slab = NULL;
	block->who.packed = block->detail.packed = NULL;
}

/* Packs who a rank is. The caller frees *packed, whatever this returns. */
static int pack(const struct vpa_rank *rank, struct vpa_rank_frame *out, unsigned char **packed)
{
	struct vpt_buffer bytes;
	int rc = vpa_rank_to_bytes(rank, &bytes);

	*packed = NULL;
	if (rc)
		return rc;
	out->size = bytes.size;
	*packed = vpt_alloc(vpa_frame_room(bytes.size), 1);
	out->packed_size = *packed ? vpa_frame_pack(*packed, vpa_frame_room(bytes.size), bytes.data,
					     bytes.size)
				   : 0;
	vpt_free(bytes.data);
	return out->packed_size ? VPT_OK : VPT_ENOMEM;
}

/* Makes room for the frames of a block, whose sizes are known and add up. 0 or VPT_ENOMEM. */
static int room_for_frames(struct vpa_rank_block *block, struct vpa_slab **slab)
{
	size_t who = (size_t)block->who.packed_size;
	unsigned char *bytes =
		vpa_slab_take(slab, who + (size_t)block->detail.packed_size, &block->slab);

	if (!bytes)
		return VPT_ENOMEM;
	block->who.packed = bytes;
	block->detail.packed = bytes + who;
	return VPT_OK;
}

/* Where a rank stands in a file: what its header says. */
static uint64_t place_of(int64_t rank)
{
	return rank < 0 ? UINT64_MAX : 1 + (uint64_t)rank;
}

int vpa_rank_blocks_add(struct vpa_rank_blocks *b, struct vpa_rank *rank)
{
	struct vpa_rank_block block = {.rank = place_of(rank->rank)};
	unsigned char *who;
	int rc = vpa_rank_fold(rank);

	if (rc)
		return rc;
	block.detail.size = rank->folded.size;
	block.detail.packed_size = rank->folded.packed_size;
	rc = pack(rank, &block.who, &who);
	if (!rc)
		rc = room_for_frames(&block, &b->slab);
	if (!rc) {
		memcpy(block.who.packed, who, (size_t)block.who.packed_size);
		memcpy(block.detail.packed, rank->folded.packed, rank->folded.packed_size);
		block.checksum = checksum_of_block(&block);
		rc = add_block(b, &block);
	}
	vpt_free(who);
	if (rc)
		vpa_rank_block_free(&block);
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

/* Whether a frame can be at byte *at; moves it behind the frame. */
static int check_frame(
	const struct vpt_source *src, uint64_t *at, struct vpa_rank_frame *f, struct vpt_err *err)
{
	if (f->size > RANK_BYTES_MOST)
		return vpt_fail(err, VPT_EDATA,
			"%s: byte %" PRIu64 ": expected a rank of at most %" PRIu64
			" bytes, found one of %" PRIu64,
			src->name, *at, RANK_BYTES_MOST, f->size);
	if (*at > src->size_bytes || f->packed_size > src->size_bytes - *at)
		return vpt_fail(err, VPT_EDATA,
			"%s: ends at byte %" PRIu64 ", in the middle of a rank", src->name,
			src->size_bytes);
	f->at = *at;
	*at += f->packed_size;
	return VPT_OK;
}

/* Whether frames hold as much as is said. The checksum is of the packed bytes, and sizes stand before them: a block that is wrong
 * there is not to be merged with others. */
static int is_of_its_size(const struct vpa_rank_frame *f)
{
	const unsigned char *frame = f->packed;
	size_t left = (size_t)f->packed_size, packed;
	uint64_t size = 0;

	for (; left; frame += packed, left -= packed) {
		unsigned long long holds = ZSTD_getFrameContentSize(frame, left);

		packed = ZSTD_findFrameCompressedSize(frame, left);
		if (holds >= ZSTD_CONTENTSIZE_ERROR || holds > f->size - size ||
			ZSTD_isError(packed))
			return 0;
		size += holds;
	}
	return size == f->size;
}

int vpa_rank_block_find(
	struct vpt_source *src, uint64_t *at, struct vpa_rank_block *out, struct vpt_err *err)
{
	unsigned char header[HEADER_BYTES];
	int rc;

	*out = (struct vpa_rank_block){.rank = 0};
	if (!*at) {
		if (!vpa_is_rank_file(src))
			return vpt_fail(err, VPT_EDATA,
				"%s: expected a summary of ranks, NAME.vps, as `vptrace-analyze "
				"summarize` writes it",
				src->name);
		*at = sizeof(magic);
	}
	if (*at >= src->size_bytes)
		return VPT_END;
	rc = read_exactly(src, *at, header, sizeof(header), err);
	if (rc)
		return rc;
	*at += sizeof(header);
	*out = (struct vpa_rank_block){.rank = number_at(header),
		.who = {.packed_size = number_at(header + 8), .size = number_at(header + 24)},
		.detail = {.packed_size = number_at(header + 16), .size = number_at(header + 32)},
		.checksum = number_at(header + 40)};
	rc = check_frame(src, at, &out->who, err);
	return rc ? rc : check_frame(src, at, &out->detail, err);
}

int vpa_rank_block_read(struct vpt_source *src, struct vpa_slab **slab,
	struct vpa_rank_block *block, struct vpt_err *err)
{
	size_t size = (size_t)(block->who.packed_size + block->detail.packed_size);
	int rc;

	if (room_for_frames(block, slab))
		return vpt_fail(err, VPT_ENOMEM, "%s: no memory for its ranks", src->name);
	rc = read_exactly(src, block->who.at, block->who.packed, size, err);
	if (!rc && (!is_of_its_size(&block->who) || !is_of_its_size(&block->detail) ||
			   checksum_of_block(block) != block->checksum))
		rc = vpt_fail(err, VPT_EDATA, "%s: the rank at byte %" PRIu64 " is damaged",
			src->name, block->who.at - HEADER_BYTES);
	return rc;
}

/* Unpacks who a rank is; the caller frees it, whatever this returns. */
static int unpack_who(const struct vpa_rank_frame *who, unsigned char **bytes, struct vpt_err *err)
{
	*bytes = vpt_alloc((size_t)who->size + VPA_COLUMN_PADDING, 1);
	if (!*bytes)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a rank");
	if (ZSTD_decompress(*bytes, (size_t)who->size, who->packed, (size_t)who->packed_size) !=
		who->size)
		return vpt_fail(err, VPT_EDATA, "a rank is damaged: its frame cannot be unpacked");
	return VPT_OK;
}

/* No checksum is of the header's number. */
static int check_place(const struct vpa_rank_block *x, int64_t rank, struct vpt_err *err)
{
	if (x->rank == place_of(rank))
		return VPT_OK;
	return vpt_fail(err, VPT_EDATA,
		"a rank is damaged: its header says rank %" PRId64 ", it is rank %" PRId64,
		(int64_t)(x->rank - (x->rank != UINT64_MAX)), rank);
}

/* Before it is merged: who it is must be what its header says, unless a newer version wrote it. */
static int check_block(const struct vpa_rank_block *x, struct vpt_err *err)
{
	unsigned char *bytes;
	int64_t rank;
	int rc = unpack_who(&x->who, &bytes, err);

	if (!rc)
		rc = vpa_rank_number_from_bytes(bytes, (size_t)x->who.size, &rank, err);
	if (!rc)
		rc = check_place(x, rank, err);
	vpt_free(bytes);
	return rc == VPT_EVERSION ? VPT_OK : rc;
}

int vpa_rank_blocks_read(struct vpa_rank_blocks *b, struct vpt_source *src, struct vpt_err *err)
{
	struct vpa_rank_block block;
	uint64_t at = 0;
	int rc;

	while (!(rc = vpa_rank_block_find(src, &at, &block, err))) {
		rc = vpa_rank_block_read(src, &b->slab, &block, err);
		if (!rc && (rc = check_block(&block, err)) != 0)
			vpt_err_at(err, src->name);
		if (!rc && add_block(b, &block))
			rc = vpt_fail(err, VPT_ENOMEM, "%s: no memory for its ranks", src->name);
		if (rc) {
			vpa_rank_block_free(&block);
			return rc;
		}
	}
	return rc == VPT_END ? VPT_OK : rc;
}

int vpa_rank_blocks_join(struct vpa_rank_blocks *to, struct vpa_rank_blocks *from)
{
	if (vpt_grow(&to->items, &to->cap, to->count + from->count, sizeof(*to->items)))
		return VPT_ENOMEM;
	if (from->count)
		memcpy(to->items + to->count, from->items, from->count * sizeof(*to->items));
	to->count += from->count;
	from->count = 0;
	vpa_rank_blocks_free(from);
	return VPT_OK;
}

/* ---- in order, each once ---- */

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_bytes(const struct vpa_rank_frame *x, const struct vpa_rank_frame *y)
{
	int order = by_number(x->packed_size, y->packed_size);

	return order ? order : memcmp(x->packed, y->packed, (size_t)x->packed_size);
}

static int by_content(const void *a, const void *b)
{
	const struct vpa_rank_block *x = a, *y = b;
	int order = by_number(x->rank, y->rank);

	if (!order)
		order = by_number(x->checksum, y->checksum);
	if (!order)
		order = by_bytes(&x->who, &y->who);
	return order ? order : by_bytes(&x->detail, &y->detail);
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
		put_number(header + 8, x->who.packed_size);
		put_number(header + 16, x->detail.packed_size);
		put_number(header + 24, x->who.size);
		put_number(header + 32, x->detail.size);
		put_number(header + 40, x->checksum);
		rc = vpt_sink_write(sink, header, sizeof(header), err);
		if (!rc)
			rc = vpt_sink_write(sink, x->who.packed, (size_t)x->who.packed_size, err);
		if (!rc)
			rc = vpt_sink_write(
				sink, x->detail.packed, (size_t)x->detail.packed_size, err);
	}
	return rc;
}

int vpa_rank_block_unpack(struct vpa_rank_block *x, struct vpa_rank_list *out, struct vpt_err *err)
{
	const struct vpa_rank_frame *who = &x->who;
	unsigned char *bytes;
	struct vpa_rank *rank;
	int rc;

	rank = vpa_rank_add(out);
	if (!rank)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a rank");
	rc = unpack_who(who, &bytes, err);
	if (!rc)
		rc = vpa_rank_from_bytes(bytes, (size_t)who->size, &out->slab, rank, err);
	if (!rc)
		rc = check_place(x, rank->rank, err);
	vpt_free(bytes);
	if (rc) {
		vpa_rank_free(rank);
		vpt_free(rank);
		out->count--;
		return rc;
	}
	rank->folded.packed = x->detail.packed;
	rank->folded.packed_size = (size_t)x->detail.packed_size;
	rank->folded.size = (size_t)x->detail.size;
	rank->folded.slab = x->slab;
	x->slab = NULL;
	x->who.packed = x->detail.packed = NULL;
	return VPT_OK;
}

void vpa_rank_blocks_free(struct vpa_rank_blocks *b)
{
	size_t i;

	for (i = 0; i < b->count; i++)
		vpa_rank_block_free(&b->items[i]);
	vpt_free(b->items);
	vpa_slab_drop(b->slab);
	*b = (struct vpa_rank_blocks){0};
}
