/* session.h - one capture at a time: what vptrace_start() and vptrace_stop() do, for them and for
 * the injection. */
#ifndef VPTRACE_TRACER_SESSION_H
#define VPTRACE_TRACER_SESSION_H

#include "tracer/vptrace.h"

enum vtr_start {
	VTR_START_API,  /* the host asked: a file is made even if nothing happens */
	VTR_START_CUDA, /* the driver loaded us; a capture of ranges that runs already gets CUPTI */
	VTR_START_RANGES /* NVTX loaded us: ranges only, CUPTI joins when the driver loads us */
};

/* What vptrace_start() returns. From the injections nobody hears it, so a failure is said in one
 * line on stderr. */
int vtr_session_start(const struct vptrace_options *options, enum vtr_start how);

/* In a forked child: nothing is recorded, written or freed any more. */
void vtr_session_inert(void);

#endif
