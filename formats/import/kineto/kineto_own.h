/* kineto_own.h - reads what only files written by vptrace-analyze contain. */
#ifndef VPT_FORMATS_IMPORT_KINETO_KINETO_OWN_H
#define VPT_FORMATS_IMPORT_KINETO_KINETO_OWN_H

#include "formats/import/kineto/event/kineto_event.h"

/* The members "vptrace" and "vptraceEnd" of the file. */
void vpt_kineto_own_begin(struct vpt_kineto_rows *r, const struct vpt_kineto_value *value);
void vpt_kineto_own_end(struct vpt_kineto_rows *r, const struct vpt_kineto_value *value);

/* "vptraceParts", of a file that several traces make. */
void vpt_kineto_own_parts(struct vpt_kineto_rows *r, const struct vpt_kineto_value *value);

/* "vptrace_rank", an event of such a file: what is known of one of its ranks. */
void vpt_kineto_own_rank(struct vpt_kineto_rows *r, const struct vpt_kineto_value *event);

/* Reads what NVTX says about a range besides its name. Returns 1 if there is nothing to put: it never ended, and is put
 * already, or it repeats another one. */
int vpt_kineto_own_range(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, uint64_t lane,
	struct vpt_range *range);

/* The lane of the thread that the arguments identify; 0: none. */
uint64_t vpt_kineto_own_thread(struct vpt_kineto_rows *r, const struct vpt_kineto_value *args);

/* Reads the members of a GPU that the profiler does not write. */
void vpt_kineto_own_device(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object,
	struct vpt_device *device);

#endif
