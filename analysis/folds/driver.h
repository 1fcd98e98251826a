/* driver.h - one pass of all folds, and of a tap after them. */
#ifndef VPA_ANALYSIS_FOLDS_DRIVER_H
#define VPA_ANALYSIS_FOLDS_DRIVER_H

#include "analysis/folds/fold.h"
#include "analysis/tap.h"

enum { VPA_FOLDS_MAX = 32 };

struct vpa_fold_driver {
	struct vpa_fold_context context; /* the caller's to fill */
	const struct vpa_tap *tap;       /* NULL: none */
	void *states[VPA_FOLDS_MAX];
	/* The folds that see what; each list ends with -1. */
	int with_ops[VPA_FOLDS_MAX], with_call[VPA_FOLDS_MAX], with_range[VPA_FOLDS_MAX],
		with_gap[VPA_FOLDS_MAX], with_mark[VPA_FOLDS_MAX];
};

/* Makes the folds' states. 0 or VPT_ENOMEM; free it in both cases. */
int vpa_folds_begin(struct vpa_fold_driver *d);
void vpa_folds_free(struct vpa_fold_driver *d);

/* What the resolver hands out, and gaps that are handed out by themselves, goes to all folds that want it. `driver` is a struct
 * vpa_fold_driver. All return 0 or what the first fold that failed returned. */
int vpa_folds_ops(void *driver, struct vpa_ops *ops); /* fills in idle time and positions first */
int vpa_folds_gap(void *driver, const struct vpa_gap *gap);
int vpa_folds_call(void *driver, const struct vpa_call *call);
int vpa_folds_range(void *driver, struct vpa_range *range);
int vpa_folds_mark(void *driver, const struct vpa_mark *mark);

/* The trace is over: the folds write their tables, in the order of the registry. */
int vpa_folds_finish(struct vpa_fold_driver *d, struct vpa_report *out);

#endif
