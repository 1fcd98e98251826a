/* idle_gaps.h - why a device was idle before each op. */
#ifndef VPA_ANALYSIS_IDLE_IDLE_GAPS_H
#define VPA_ANALYSIS_IDLE_IDLE_GAPS_H

#include "analysis/idle/idle_devices.h"

/* Explains the gaps before a run's ops, in order. 0 or what gap() returned. */
int vpa_idle_answer(struct vpa_idle *s, struct vpa_ops *ops, struct vpa_op_run *run);

/* Explains one gap and emits it, in parts if pauses split it. */
int vpa_idle_explain(struct vpa_idle *s, const struct vpa_question *q);

/* A gap and the objects it points to. */
struct vpa_whole_gap {
	struct vpa_gap gap;
	struct vpa_op before, gating;
	struct vpa_cause_piece pieces[VPA_GAP_STRETCHES];
};

/* The gap that ends with op `i` of the current batch; its cause is filled in only if the op has a
 * gap_cause. */
void vpa_idle_gap(
	const struct vpa_idle *s, const struct vpa_ops *ops, size_t i, struct vpa_whole_gap *out);

#endif
