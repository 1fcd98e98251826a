/* kineto_put.h - the functions that make rows, one per category of events. */
#ifndef VPT_FORMATS_IMPORT_KINETO_KINETO_PUT_H
#define VPT_FORMATS_IMPORT_KINETO_KINETO_PUT_H

#include "formats/import/kineto/event/kineto_event.h"

/* Returned in place of 1 or 0: this event needs no row. */
enum { VPT_KINETO_NOT_MEANT = 2 };

/* Puts the row of an event. Returns 0 if the event lacks what the kind needs, else 1. */
typedef int vpt_kineto_put(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);

vpt_kineto_put vpt_kineto_put_kernel; /* kineto_kernels.c */
vpt_kineto_put vpt_kineto_put_memcpy; /* kineto_copies.c */
vpt_kineto_put vpt_kineto_put_memset;
vpt_kineto_put vpt_kineto_put_call; /* kineto_host.c */
vpt_kineto_put vpt_kineto_put_annotation;
vpt_kineto_put vpt_kineto_put_operator;
vpt_kineto_put vpt_kineto_put_python; /* kineto_python.c; or VPT_KINETO_NOT_MEANT */
vpt_kineto_put vpt_kineto_put_sync;   /* kineto_waits.c */
vpt_kineto_put vpt_kineto_put_record;
vpt_kineto_put vpt_kineto_put_overhead;
vpt_kineto_put vpt_kineto_put_memory; /* kineto_memory.c; or VPT_KINETO_NOT_MEANT */
vpt_kineto_put vpt_kineto_own_mark;   /* kineto_own.c */
vpt_kineto_put vpt_kineto_own_counter;
vpt_kineto_put vpt_kineto_own_other;

#endif
