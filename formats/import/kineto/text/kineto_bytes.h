/* kineto_bytes.h - reads the text of a plain, gzip or zstd source slab by slab. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_BYTES_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_BYTES_H

#include "formats/import/kineto/text/kineto_unpack.h"

struct vpt_kineto_ahead;

struct vpt_kineto_bytes {
	/* Text not consumed yet; the caller advances cur. VPT_SCAN_BYTES NULs follow it. */
	const unsigned char *cur, *end;
	uint64_t end_offset; /* offset of `end` in the text */
	/* The first byte that fill must retain, at or before cur; NULL: none before cur. It moves with the
	 * text. */
	const unsigned char *keep;
	int torn;           /* the compressed data ended early or is damaged */
	const char *packer; /* "gzip", "zstd"; NULL: the source is plain text */
	int finished;       /* no more text comes */

	unsigned char *slab;
	size_t slab_bytes;
	struct vpt_kineto_unpack unpack; /* while a thread reads ahead, only that looks inside */
	struct vpt_kineto_ahead *ahead;  /* NULL: there is no such thread */
	int is_alone;                    /* there will be none */
};

/* Begins at the start of `src`, which the caller keeps. 0, VPT_EIO or VPT_ENOMEM; call close in
 * every case. */
int vpt_kineto_bytes_open(struct vpt_kineto_bytes *b, struct vpt_source *src, struct vpt_err *err);
void vpt_kineto_bytes_close(struct vpt_kineto_bytes *b);

/* Reads more text; the bytes from keep or cur on are retained, and both move. 0: at least one more byte is
 * available; VPT_END: no more, and b->torn is set if the text ended early; VPT_EIO, VPT_ENOMEM. A long file is
 * read ahead by a thread: the result is the same. */
int vpt_kineto_bytes_fill(struct vpt_kineto_bytes *b, struct vpt_err *err);

/* Ends the reading ahead; then b->unpack tells what stands where the reading ended. */
void vpt_kineto_bytes_stop(struct vpt_kineto_bytes *b);

static inline uint64_t vpt_kineto_bytes_offset(const struct vpt_kineto_bytes *b)
{
	return b->end_offset - (uint64_t)(b->end - b->cur);
}

/* ---- kineto_ahead.c: a thread that reads and unpacks text ahead of the one that parses it. ---- */

struct vpt_kineto_ahead;

/* Starts the thread, which has `unpack` to itself until vpt_kineto_ahead_stop(). NULL: there can be none. */
struct vpt_kineto_ahead *vpt_kineto_ahead_start(
	struct vpt_kineto_unpack *unpack, size_t slab_bytes);
void vpt_kineto_ahead_stop(struct vpt_kineto_ahead *a); /* accepts NULL */

/* The next slab, as vpt_kineto_unpack() made it, with its flags then; valid until the following call. After a
 * result that is not 0, there is only this one. */
struct vpt_kineto_slab {
	unsigned char *text;
	size_t size;
	int rc, finished, torn;
	struct vpt_err err;
};
const struct vpt_kineto_slab *vpt_kineto_ahead_next(struct vpt_kineto_ahead *a);

#endif
