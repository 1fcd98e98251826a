/* session.h - one capture at a time: the work of vptrace_start() and vptrace_stop(), also for the
 * injections. */
#ifndef VPTRACE_TRACER_CAPTURE_SESSION_H
#define VPTRACE_TRACER_CAPTURE_SESSION_H

#include "tracer/vptrace.h"

enum vtr_start {
	VTR_START_API,   /* the host asked: create a file even if nothing happens */
	VTR_START_CUDA,  /* the driver loaded us; CUPTI joins a running capture of ranges */
	VTR_START_RANGES /* NVTX loaded us: ranges only, CUPTI joins when the driver loads us */
};

/* Returns what vptrace_start() does. The injections have no caller to return it to, so a failure is
 * reported in one line on stderr. */
int vtr_session_start(const struct vptrace_options *options, enum vtr_start how);

/* In a forked child: if its parent had never begun a capture, it may begin one, in which the parent's
 * open ranges are not; else it records, writes and frees nothing from now on. */
void vtr_session_forked(void);

#endif
