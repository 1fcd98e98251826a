/* kineto_unpack.h - the text of a plain, gzip or zstd source, in slabs. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_UNPACK_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_UNPACK_H

#include "formats/base/error.h"
#include "formats/io/io.h"

#include <stddef.h>
#include <stdint.h>

struct vpt_kineto_inflate;
struct vpt_kineto_unzstd;

struct vpt_kineto_unpack {
	struct vpt_source *src; /* borrowed */
	const char *packer;     /* "gzip", "zstd"; NULL: the source is plain text */
	uint64_t offset;        /* next one to read, in the source */
	uint64_t made;          /* bytes of text so far */
	uint64_t text_max;      /* bytes of text that it may unpack to */
	int finished;
	int torn;                           /* the compressed data ended early or is damaged */
	struct vpt_kineto_inflate *inflate; /* NULL unless gzip */
	struct vpt_kineto_unzstd *unzstd;   /* NULL unless zstd */
	/* The gzip has ended, and what follows is no part of it: bytes that are not zeros */
	uint64_t after_gzip;
	int another_gzip; /* zeros, and then what may be another gzip */
};

/* Begins at the start of `src`, which the caller keeps. 0, VPT_EIO or VPT_ENOMEM; call close in
 * every case. */
int vpt_kineto_unpack_open(
	struct vpt_kineto_unpack *u, struct vpt_source *src, struct vpt_err *err);
void vpt_kineto_unpack_close(struct vpt_kineto_unpack *u);

/* Writes the next text, at most `size` bytes. 0: *made is 1 or more; VPT_END: no more, and u->torn is set if the
 * text ended early; VPT_EIO, VPT_ENOMEM. One thread at a time. */
int vpt_kineto_unpack(struct vpt_kineto_unpack *u, unsigned char *to, size_t size, size_t *made,
	struct vpt_err *err);

#endif
