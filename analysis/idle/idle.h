/* idle.h - device time: when each GPU was busy, when it was idle, and why.
 *
 * A device is busy while any of its ops runs, on any stream, of any process. A gap is a maximal
 * stretch of the window in which none does. The stretches before its first op and after its last
 * one are gaps too. */
#ifndef VPA_ANALYSIS_IDLE_IDLE_H
#define VPA_ANALYSIS_IDLE_IDLE_H

#include "analysis/idle/idle_devices.h"

/* Takes the next ops: fills in the part of struct vpa_ops that belongs to idle.h and explains their
 * gaps. Gaps that need more than gap_cause go to gap(). */
int vpa_idle_ops(struct vpa_idle *s, struct vpa_ops *ops);

/* Op `i` began before the window or with it: later ops of the same name are not first uses, and it
 * counts as an op of its stream. 0 or VPT_ENOMEM. */
int vpa_idle_early(struct vpa_idle *s, const struct vpa_ops *ops, size_t i);

/* The batch is about to be reused: copies what devices must remember of it. */
void vpa_idle_done(struct vpa_idle *s, const struct vpa_ops *ops);

/* Calls that end before `until_ns` may be dropped: counts first what they mean to future gaps. */
void vpa_idle_pass(struct vpa_idle *s, uint64_t until_ns);

/* The window ends: emits each device's tail gap. */
int vpa_idle_end(struct vpa_idle *s, uint64_t window_end_ns);

/* No future gap begins before this time, except on devices that were idle for 30 s while another
 * worked: the history their gaps need may have been dropped. */
uint64_t vpa_idle_frontier(const struct vpa_idle *s);

void vpa_idle_free(struct vpa_idle *s);

#endif
