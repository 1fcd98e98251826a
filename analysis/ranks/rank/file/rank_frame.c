/* rank_frame.c - blocks of one size: what cannot be packed is then not packed together with what can. */
#include "analysis/ranks/rank/file/rank_frame.h"

#include <zstd.h>

enum {
	LEVEL = 6,
	MATCH_LEAST =
		6, /* bytes: shorter ones of as good as random numbers say nothing, and take long to unpack */
	BLOCK = 16 << 10,
	BLOCK_HEADER = 8 /* bytes, more than one takes */
};

size_t vpa_frame_room(size_t size)
{
	return ZSTD_compressBound(size) + (size / BLOCK + 1) * BLOCK_HEADER;
}

/* Packs block by block, since the end of one is the end of what has the same frequencies. */
static int pack_blocks(ZSTD_CCtx *c, ZSTD_outBuffer *out, const char *data, size_t size)
{
	size_t at = 0, left = 1;

	while (at < size || left) {
		size_t count = size - at < BLOCK ? size - at : BLOCK;
		ZSTD_inBuffer in = {data + at, count, 0};

		at += count;
		do
			left = ZSTD_compressStream2(
				c, out, &in, at < size ? ZSTD_e_flush : ZSTD_e_end);
		while (left && !ZSTD_isError(left) && out->pos < out->size);
		if (left)
			return 0;
	}
	return 1;
}

size_t vpa_frame_pack(void *to, size_t room, const void *data, size_t size)
{
	ZSTD_outBuffer out = {to, room, 0};
	ZSTD_CCtx *c = ZSTD_createCCtx();
	int is_packed = c &&
			!ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, LEVEL)) &&
			!ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_minMatch, MATCH_LEAST)) &&
			!ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(c, size)) &&
			pack_blocks(c, &out, data, size);

	ZSTD_freeCCtx(c);
	return is_packed ? out.pos : 0;
}
