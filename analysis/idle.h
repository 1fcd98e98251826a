/* idle.h - device time: when each GPU worked, when it stood idle, and why.
 *
 * A device is busy while any of its ops runs, on any stream, of any process; a gap is a longest stretch of the
 * window in which none does. The stretch before its first op and the one after its last are gaps too. */
#ifndef VPA_ANALYSIS_IDLE_H
#define VPA_ANALYSIS_IDLE_H

#include "analysis/idle_devices.h"

/* Takes the next ops: fills in what struct vpa_ops leaves to idle.h, and answers their gaps. Those that need more
 * than gap_cause are handed to gap(). */
int vpa_idle_ops(struct vpa_idle *s, struct vpa_ops *ops);

/* Op `i` began before the window, or with it: those of its name in the window are not the first, and its stream knows it.
 * 0 or VPT_ENOMEM. */
int vpa_idle_early(struct vpa_idle *s, const struct vpa_ops *ops, size_t i);

/* The batch is going: what devices have to remember of it is copied. */
void vpa_idle_done(struct vpa_idle *s, const struct vpa_ops *ops);

/* Calls that end before `until_ns` may be forgotten: what they mean to gaps that are to come is counted. */
void vpa_idle_pass(struct vpa_idle *s, uint64_t until_ns);

/* The window ends: hands out each device's tail. */
int vpa_idle_end(struct vpa_idle *s, uint64_t window_end_ns);

/* No gap will begin before this moment any more, but for devices that have stood idle for 30 s while another worked:
 * what they will ask for may have been forgotten. */
uint64_t vpa_idle_frontier(const struct vpa_idle *s);

void vpa_idle_free(struct vpa_idle *s);

#endif
