/* pass.h - the folds of one pass: passes each event to those that take it. */
#ifndef VPA_ANALYSIS_FOLDS_PASS_H
#define VPA_ANALYSIS_FOLDS_PASS_H

#include "analysis/folds/fold.h"
#include "analysis/folds/lanes.h"
#include "analysis/folds/stage_times.h"

enum { VPA_FOLDS_MAX = 64 };

struct vpa_fold_pass {
	struct vpa_fold_context context; /* filled by the caller */
	void *states[VPA_FOLDS_MAX];
	/* The folds that take each kind of event; each list ends with -1. */
	int with_ops[VPA_FOLDS_MAX], with_call[VPA_FOLDS_MAX], with_range[VPA_FOLDS_MAX],
		with_scope[VPA_FOLDS_MAX], with_gap[VPA_FOLDS_MAX], with_mark[VPA_FOLDS_MAX],
		with_section[VPA_FOLDS_MAX], with_setup[VPA_FOLDS_MAX],
		with_instants[VPA_FOLDS_MAX], with_aside[VPA_FOLDS_MAX],
		with_range_aside[VPA_FOLDS_MAX], with_annotated[VPA_FOLDS_MAX],
		with_operator_range[VPA_FOLDS_MAX];
	struct vpa_lanes lanes; /* of the folds that take ops aside */
	struct vpa_stage_times stages;
};

/* Makes the folds' states. 0 or VPT_ENOMEM; free it in both cases. */
int vpa_folds_begin(struct vpa_fold_pass *p);
void vpa_folds_free(struct vpa_fold_pass *p);

/* A crew may take ops aside from now on, until vpa_folds_unshare(), which must come before the crew stops and
 * vpa_folds_free(), and returns 0 or the code of the first fold that failed. NULL: nobody does. */
void vpa_folds_share(struct vpa_fold_pass *p, struct vpa_crew *crew);
int vpa_folds_unshare(struct vpa_fold_pass *p);

/* All folds get what they wait for. Call it before anything changes that vpa_fold.aside may read. 0 or the code of the
 * first fold that failed. */
int vpa_folds_settle(struct vpa_fold_pass *p);

/* Pass an event to every fold that takes it. All return 0 or the code of the first fold that failed. Idle time and the
 * pipeline have seen the event before: ops say what they waited for, ranges what they are. */
int vpa_folds_ops(struct vpa_fold_pass *p, const struct vpa_ops *ops);
int vpa_folds_instants(struct vpa_fold_pass *p, const struct vpa_ops *ops);
int vpa_folds_gap(struct vpa_fold_pass *p, const struct vpa_gap *gap);
int vpa_folds_call(struct vpa_fold_pass *p, const struct vpa_call *call);
int vpa_folds_setup(struct vpa_fold_pass *p, const struct vpa_call *call);
int vpa_folds_range(struct vpa_fold_pass *p, const struct vpa_range *range);
int vpa_folds_mark(struct vpa_fold_pass *p, const struct vpa_mark *mark);
/* The sections of a chunk that folds read themselves. */
int vpa_folds_sections(struct vpa_fold_pass *p, const struct vpt_batch *b);

/* At the end of the trace: the folds write their tables, in the order of the registry. */
int vpa_folds_finish(struct vpa_fold_pass *p, struct vpa_report *out);

#endif
