/* host_updates.h - operators that run on the CPU with tensors that were copied to it from the GPU for that.
 *
 * A moving average of the weights in the host's memory is such work: a copy for each tensor, and CPU operators between the copies,
 * while the GPU waits. The copies count as work of the GPU and the operators as idle time, yet one remedy takes both. */
#ifndef VPA_ANALYSIS_ADVICE_HOST_UPDATES_H
#define VPA_ANALYSIS_ADVICE_HOST_UPDATES_H

#include "analysis/report/report.h"

/* Replaces the findings about copies and about host code by one, if they are two halves of such work. After those of idle time. */
void vpa_find_host_updates(struct vpa_report *r);

#endif
