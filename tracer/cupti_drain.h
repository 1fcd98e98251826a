/* cupti_drain.h - waiting for the work that has been launched, before a capture ends. */
#ifndef VPTRACE_TRACER_CUPTI_DRAIN_H
#define VPTRACE_TRACER_CUPTI_DRAIN_H

/* Waits for the current context to finish its work, if there is one and the calling thread can see that it is not capturing. */
void vtr_drain_current(void);

#endif
