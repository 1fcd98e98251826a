/* kineto_ahead.h - a thread that reads and unpacks text ahead of the one that parses it. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_AHEAD_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_AHEAD_H

#include "formats/import/kineto/text/kineto_unpack.h"

struct vpt_kineto_ahead;

/* Starts the thread, which has `unpack` to itself until vpt_kineto_ahead_stop(). NULL: there can be none. */
struct vpt_kineto_ahead *vpt_kineto_ahead_start(
	struct vpt_kineto_unpack *unpack, size_t block_bytes);
void vpt_kineto_ahead_stop(struct vpt_kineto_ahead *a); /* accepts NULL */

/* The next block, as vpt_kineto_unpack() made it, with its flags then; valid until the following call. After a
 * result that is not 0, there is only this one. */
struct vpt_kineto_block {
	unsigned char *text;
	size_t size;
	int rc, finished, torn;
	struct vpt_err err;
};
const struct vpt_kineto_block *vpt_kineto_ahead_next(struct vpt_kineto_ahead *a);

#endif
