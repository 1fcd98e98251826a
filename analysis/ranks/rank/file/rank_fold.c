/* rank_fold.c - a frame of zstd around the bytes of a detail. */
#include "analysis/ranks/rank/file/rank_fold.h"

#include "analysis/ranks/rank/file/rank_detail_bytes.h"
#include "analysis/ranks/rank/file/rank_numbers.h"
#include "formats/base/memory.h"

#include <string.h>
#include <zstd.h>

enum { LEVEL = 6 };

int vpa_rank_fold(struct vpa_rank *r)
{
	struct vpt_buffer bytes;
	unsigned char *packed, *smaller;
	size_t size;

	if (r->folded.packed || r->folded.path)
		return VPT_OK;
	if (vpa_rank_detail_to_bytes(r, &bytes))
		return VPT_ENOMEM;
	packed = vpt_alloc(ZSTD_compressBound(bytes.size), 1);
	size = packed ? ZSTD_compress(packed, ZSTD_compressBound(bytes.size), bytes.data,
				bytes.size, LEVEL)
		      : 0;
	vpt_free(bytes.data);
	smaller = packed && !ZSTD_isError(size) ? vpt_alloc(size, 1) : NULL;
	if (smaller)
		memcpy(smaller, packed, size);
	vpt_free(packed);
	if (!smaller)
		return VPT_ENOMEM;
	r->folded.packed = smaller;
	r->folded.packed_size = size;
	r->folded.size = bytes.size;
	vpa_rank_detail_free(&r->detail);
	return VPT_OK;
}

int vpa_rank_leave_in_file(struct vpa_rank *r, const char *path, uint64_t at)
{
	r->folded.path = vpa_arena_text(&r->arena, path, strlen(path));
	if (!r->folded.path)
		return VPT_ENOMEM;
	r->folded.at = at;
	vpt_free(r->folded.packed);
	r->folded.packed = NULL;
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

int vpa_rank_unfold(const struct vpa_rank *r, struct vpa_unfolded *out, struct vpt_err *err)
{
	const struct vpa_rank_folded *f = &r->folded;
	const unsigned char *packed = f->packed;

	if (!packed) {
		int rc = read_packed(f, out, err);

		if (rc)
			return rc;
		packed = out->packed;
	}
	if (ZSTD_getFrameContentSize(packed, f->packed_size) != f->size)
		return vpt_fail(err, VPT_EDATA, "a rank of %zu bytes: its frame is of another size",
			f->size);
	if (!out->decoder)
		out->decoder = ZSTD_createDCtx();
	if (!out->decoder || vpt_grow(&out->bytes, &out->byte_cap, f->size + VPA_COLUMN_PADDING, 1))
		return vpt_fail(err, VPT_ENOMEM, "no memory for a rank");
	if (ZSTD_decompressDCtx(out->decoder, out->bytes, f->size, packed, f->packed_size) !=
		f->size)
		return vpt_fail(err, VPT_EDATA, "a rank is damaged: its frame cannot be unpacked");
	return vpa_rank_detail_from_bytes(
		out->bytes, f->size, r, !out->without_paces, &out->detail, err);
}

void vpa_unfolded_free(struct vpa_unfolded *u)
{
	ZSTD_freeDCtx(u->decoder);
	vpa_rank_detail_free(&u->detail);
	vpt_free(u->bytes);
	vpt_free(u->packed);
	*u = (struct vpa_unfolded){.byte_cap = 0};
}
