/* fuzz_input.h - the forms in which the fuzz targets take captures.
 *
 * Input that begins with 'w' is a list of payloads, each with its length in two bytes before it, which are wrapped as the frames of a
 * capture: so the fuzzer gets past zstd's checksums. Anything else is a file as it is. */
#ifndef VPT_TESTS_FUZZ_FUZZ_INPUT_H
#define VPT_TESTS_FUZZ_FUZZ_INPUT_H

#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "formats/capture_layout.h"

#include <string.h>
#include <zstd.h>

/* Stands between two captures in one input. */
#define FUZZ_BETWEEN "\n--and--\n"

/* Appends a frame of a payload, the chunk header in a block of its own. */
static inline int fuzz_wrap(struct vpt_buffer *file, const uint8_t *payload, size_t size)
{
	size_t bound = ZSTD_compressBound(size) + 64,
	       head = size < VPT_CHUNK_HEADER_SIZE ? size : VPT_CHUNK_HEADER_SIZE;
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_inBuffer in = {payload, head, 0};
	ZSTD_outBuffer out;

	if (!zstd || vpt_grow(&file->data, &file->cap, file->size + bound, 1)) {
		ZSTD_freeCCtx(zstd);
		return VPT_ENOMEM;
	}
	out = (ZSTD_outBuffer){file->data + file->size, bound, 0};
	ZSTD_CCtx_setPledgedSrcSize(zstd, size);
	ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush);
	in.size = size;
	ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_end);
	file->size += out.pos;
	ZSTD_freeCCtx(zstd);
	return VPT_OK;
}

/* The capture that an input is, as a file: *out is freed with vpt_free(), and NULL without memory. */
static inline void fuzz_file(const uint8_t *data, size_t size, struct vpt_buffer *out)
{
	static const uint8_t header[VPT_HEADER_SIZE] = "VPTRACE\n\1\0\0\0\x40\0\0\0\xe8\3";
	int rc;

	*out = (struct vpt_buffer){0};
	if (!size || *data != 'w') {
		if (!vpt_grow(&out->data, &out->cap, size + 1, 1) && size)
			memcpy(out->data, data, out->size = size);
		return;
	}
	rc = fuzz_wrap(out, header, sizeof(header));
	for (data++, size--; !rc && size >= 2;) {
		size_t len = (size_t)data[0] | (size_t)data[1] << 8;

		data += 2;
		size -= 2;
		len = len < size ? len : size;
		rc = fuzz_wrap(out, data, len);
		data += len;
		size -= len;
	}
}

#endif
