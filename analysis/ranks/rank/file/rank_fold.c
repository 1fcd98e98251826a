/* rank_fold.c - frames of zstd around the bytes of a detail: one, and one around its shares and paces, so that a report which does
 * not need these does not unpack them. Older versions wrote one around all. */
#include "analysis/ranks/rank/file/rank_fold.h"

#include "analysis/ranks/rank/file/rank_bytes.h"
#include "analysis/ranks/rank/file/rank_columns.h"
#include "analysis/ranks/rank/file/rank_frame.h"
#include "formats/base/memory.h"

#include <string.h>
#include <zstd.h>

/* Appends a frame around `size` bytes to a buffer that has room. 0: it failed. */
static int put_frame(unsigned char *packed, size_t cap, size_t *used, const char *data, size_t size)
{
	size_t more = vpa_frame_pack(packed + *used, cap - *used, data, size);

	*used += more;
	return more != 0;
}

/* Packs bytes as a frame of those before `split` and one of the others, if there are any. NULL: no memory. */
static unsigned char *pack(const struct vpt_buffer *bytes, size_t split, size_t *packed_size)
{
	size_t left = bytes->size - split, cap = vpa_frame_room(split) + vpa_frame_room(left),
	       used = 0;
	unsigned char *packed = vpt_alloc(cap, 1), *smaller = NULL;

	if (packed && put_frame(packed, cap, &used, bytes->data, split) &&
		(!left || put_frame(packed, cap, &used, bytes->data + split, left)))
		smaller = vpt_alloc(used, 1);
	if (smaller)
		memcpy(smaller, packed, used);
	vpt_free(packed);
	*packed_size = used;
	return smaller;
}

int vpa_rank_fold(struct vpa_rank *r)
{
	struct vpt_buffer bytes;
	unsigned char *packed;
	size_t shares_at, packed_size;

	if (r->folded.packed || r->folded.path)
		return VPT_OK;
	if (vpa_rank_detail_to_bytes(r, &bytes, &shares_at))
		return VPT_ENOMEM;
	packed = pack(&bytes, shares_at, &packed_size);
	vpt_free(bytes.data);
	if (!packed)
		return VPT_ENOMEM;
	r->folded.packed = packed;
	r->folded.packed_size = packed_size;
	r->folded.size = bytes.size;
	r->has_lengths = 0;
	vpa_rank_detail_free(&r->detail);
	return VPT_OK;
}

int vpa_rank_leave_in_file(struct vpa_rank *r, const char *path, uint64_t at)
{
	r->folded.path = vpa_arena_text(&r->arena, path, strlen(path));
	if (!r->folded.path)
		return VPT_ENOMEM;
	r->folded.at = at;
	vpa_rank_drop_folded(r);
	return VPT_OK;
}

static int read_packed(
	const struct vpa_rank_folded *f, struct vpa_unfolded *out, struct vpt_err *err)
{
	struct vpt_source *src;
	size_t got;
	int rc;

	if (vpt_grow(&out->packed, &out->packed_cap, f->packed_size + 1, 1))
		return vpt_fail(err, VPT_ENOMEM, "no memory for a rank");
	rc = vpt_source_open(f->path, &src, err);
	if (rc)
		return rc;
	rc = src->read_at(src, f->at, out->packed, f->packed_size, &got, err);
	vpt_source_close(src);
	if (!rc && got < f->packed_size)
		rc = vpt_fail(err, VPT_EDATA, "%s: it became shorter while it was read", f->path);
	return rc;
}

/* Unpacks what is asked for: the first frame, and the second one if there is one and paces are read. *size: of what is unpacked. */
static int unpack(const struct vpa_rank_folded *f, const unsigned char *packed,
	struct vpa_unfolded *out, size_t *size, struct vpt_err *err)
{
	unsigned long long first = ZSTD_getFrameContentSize(packed, f->packed_size);
	size_t packed_size = f->packed_size;

	*size = f->size;
	/* Errors are the largest sizes. */
	if (first > f->size)
		return vpt_fail(err, VPT_EDATA, "a rank of %zu bytes: its frame is of another size",
			f->size);
	if (out->without_paces && first < f->size) {
		packed_size = ZSTD_findFrameCompressedSize(packed, f->packed_size);
		*size = (size_t)first;
	}
	if (!out->decoder)
		out->decoder = ZSTD_createDCtx();
	if (!out->decoder || vpt_grow(&out->bytes, &out->byte_cap, *size + VPA_COLUMN_PADDING, 1))
		return vpt_fail(err, VPT_ENOMEM, "no memory for a rank");
	if (ZSTD_isError(packed_size) ||
		ZSTD_decompressDCtx(out->decoder, out->bytes, *size, packed, packed_size) != *size)
		return vpt_fail(err, VPT_EDATA, "a rank is damaged: its frame cannot be unpacked");
	return VPT_OK;
}

int vpa_rank_unfold(const struct vpa_rank *r, struct vpa_unfolded *out, struct vpt_err *err)
{
	const struct vpa_rank_folded *f = &r->folded;
	const unsigned char *packed = f->packed;
	size_t size;
	int rc = packed ? VPT_OK : read_packed(f, out, err);

	if (!rc)
		rc = unpack(f, packed ? packed : out->packed, out, &size, err);
	return rc ? rc
		  : vpa_rank_detail_from_bytes(out->bytes, size, r, !out->without_paces, out->taker,
			    &out->detail, err);
}

void vpa_unfolded_free(struct vpa_unfolded *u)
{
	ZSTD_freeDCtx(u->decoder);
	vpa_rank_detail_free(&u->detail);
	vpt_free(u->bytes);
	vpt_free(u->packed);
	*u = (struct vpa_unfolded){.byte_cap = 0};
}
