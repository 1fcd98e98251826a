/* fuzz_capture.c - any bytes as a capture, from opening to reports.
 *
 * Input that begins with 'w' is a list of payloads, each with its length in front, which are wrapped as the
 * frames of a capture: so the fuzzer gets past zstd's checksums. Anything else is a file as it is. */
#include "tests/fuzz/fuzz_trace.h"

#include "formats/capture.h"

#include <string.h>
#include <zstd.h>

/* Appends a frame of a payload, the chunk header in a block of its own. */
static int wrap(struct vpt_buffer *file, const uint8_t *payload, size_t size)
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

static void run_wrapped(const uint8_t *data, size_t size)
{
	static const uint8_t header[VPT_HEADER_SIZE] = "VPTRACE\n\1\0\0\0\x40\0\0\0\xe8\3";
	struct vpt_buffer file = {0};
	struct vpt_source *src;
	int rc = wrap(&file, header, sizeof(header));

	while (!rc && size >= 2) {
		size_t len = (size_t)data[0] | (size_t)data[1] << 8;

		data += 2;
		size -= 2;
		len = len < size ? len : size;
		rc = wrap(&file, data, len);
		data += len;
		size -= len;
	}
	if (!rc && !vpt_source_memory(file.data, file.size, &src, NULL))
		fuzz_trace(src);
	vpt_free(file.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vpt_source *src;

	if (size && *data == 'w')
		run_wrapped(data + 1, size - 1);
	else if (!vpt_source_memory(data, size, &src, NULL))
		fuzz_trace(src);
	return 0;
}
