/* kineto_bytes.c - the text of a profiler's file as a stretch of memory that moves on.
 *
 * The first slab is unpacked by the caller. If the file is long, a thread unpacks those after it ahead: inflating
 * takes half as long as parsing. */
#include "formats/import/kineto/text/kineto_bytes.h"

#include "formats/base/memory.h"
#include "formats/import/kineto/text/kineto_scan.h"

#include <string.h>

enum {
	SLAB_BYTES = 256 << 10,
	LONG_FILE_BYTES = 1 << 20 /* for a shorter one, no thread is started */
};

static void end_text(struct vpt_kineto_bytes *b)
{
	memset(b->slab + (b->end - b->slab), 0, VPT_SCAN_BYTES);
}

int vpt_kineto_bytes_open(struct vpt_kineto_bytes *b, struct vpt_source *src, struct vpt_err *err)
{
	int rc;

	memset(b, 0, sizeof(*b));
	rc = vpt_kineto_unpack_open(&b->unpack, src, err);
	if (rc)
		return rc;
	if (vpt_grow(&b->slab, &b->slab_bytes, VPT_SCAN_BYTES + SLAB_BYTES, 1))
		return vpt_fail(err, VPT_ENOMEM, "no memory to read the trace");
	b->packer = b->unpack.packer;
	b->is_alone = src->size_bytes < LONG_FILE_BYTES;
	b->cur = b->end = b->slab;
	end_text(b);
	return 0;
}

void vpt_kineto_bytes_stop(struct vpt_kineto_bytes *b)
{
	vpt_kineto_ahead_stop(b->ahead);
	b->ahead = NULL;
	b->is_alone = 1;
}

void vpt_kineto_bytes_close(struct vpt_kineto_bytes *b)
{
	vpt_kineto_bytes_stop(b);
	vpt_kineto_unpack_close(&b->unpack);
	vpt_free(b->slab);
	b->slab = NULL;
	b->cur = b->end = b->keep = NULL;
}

/* Moves what must be retained to the start of the slab, and makes room for another part after it. */
static int make_room(struct vpt_kineto_bytes *b, struct vpt_err *err)
{
	const unsigned char *from = b->keep ? b->keep : b->cur;
	size_t retained = (size_t)(b->end - from), before_cur = (size_t)(b->cur - from);

	if (retained && from != b->slab)
		memmove(b->slab, from, retained);
	if (vpt_grow(&b->slab, &b->slab_bytes, retained + VPT_SCAN_BYTES + SLAB_BYTES, 1))
		return vpt_fail(err, VPT_ENOMEM, "no memory to read the trace");
	b->keep = b->keep ? b->slab : NULL;
	b->cur = b->slab + before_cur;
	b->end = b->slab + retained;
	return 0;
}

static int take_next(struct vpt_kineto_bytes *b, size_t *made, struct vpt_err *err)
{
	const struct vpt_kineto_slab *next = vpt_kineto_ahead_next(b->ahead);

	*made = next->rc ? 0 : next->size;
	memcpy(b->slab + (b->end - b->slab), next->text, *made);
	b->finished = next->finished;
	b->torn = next->torn;
	if (next->rc && next->rc != VPT_END && err)
		*err = next->err;
	return next->rc;
}

int vpt_kineto_bytes_fill(struct vpt_kineto_bytes *b, struct vpt_err *err)
{
	size_t made = 0;
	int rc;

	if (b->finished)
		return VPT_END;
	rc = make_room(b, err);
	if (rc)
		return rc;
	if (!b->is_alone && b->end_offset && !b->ahead) {
		b->ahead = vpt_kineto_ahead_start(&b->unpack, SLAB_BYTES);
		b->is_alone = !b->ahead;
	}
	if (b->ahead) {
		rc = take_next(b, &made, err);
	} else {
		rc = vpt_kineto_unpack(
			&b->unpack, b->slab + (b->end - b->slab), SLAB_BYTES, &made, err);
		b->finished = b->unpack.finished;
		b->torn = b->unpack.torn;
	}
	b->end += made;
	b->end_offset += made;
	end_text(b);
	return rc;
}
