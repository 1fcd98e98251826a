/* kineto_bytes.h - reads the text of a plain, gzip or zstd source block by block. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_BYTES_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_BYTES_H

#include "formats/base/error.h"
#include "formats/base/io.h"

#include <stddef.h>
#include <stdint.h>

struct vpt_kineto_inflate;
struct vpt_kineto_unzstd;

struct vpt_kineto_bytes {
	/* Text not consumed yet; the caller advances cur. VPT_SCAN_BYTES NULs follow it. */
	const unsigned char *cur, *end;
	uint64_t end_offset; /* offset of `end` in the text */
	/* The first byte that fill must retain, at or before cur; NULL: none before cur. It moves with the
	 * text. */
	const unsigned char *keep;
	int torn;           /* the compressed data ended early or is damaged */
	const char *packer; /* "gzip", "zstd"; NULL: the source is plain text */

	struct vpt_source *src; /* borrowed */
	uint64_t offset;        /* next one to read, in the source */
	int finished;
	uint64_t text_max;                  /* bytes of text that it may unpack to */
	struct vpt_kineto_inflate *inflate; /* NULL unless gzip */
	struct vpt_kineto_unzstd *unzstd;   /* NULL unless zstd */
	unsigned char *block;
	size_t block_bytes;
	/* The gzip has ended, and what follows is no part of it: bytes that are not zeros */
	uint64_t after_gzip;
	int another_gzip; /* zeros, and then what may be another gzip */
};

/* Begins at the start of `src`, which the caller keeps. 0, VPT_EIO or VPT_ENOMEM; call close in
 * every case. */
int vpt_kineto_bytes_open(struct vpt_kineto_bytes *b, struct vpt_source *src, struct vpt_err *err);
void vpt_kineto_bytes_close(struct vpt_kineto_bytes *b);

/* Reads more text; the bytes from keep or cur on are retained, and both move. 0: at least one more byte is
 * available; VPT_END: no more, and b->torn is set if the text ended early; VPT_EIO, VPT_ENOMEM. */
int vpt_kineto_bytes_fill(struct vpt_kineto_bytes *b, struct vpt_err *err);

static inline uint64_t vpt_kineto_bytes_offset(const struct vpt_kineto_bytes *b)
{
	return b->end_offset - (uint64_t)(b->end - b->cur);
}

#endif
