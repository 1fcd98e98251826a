/* pass.h - runs all folds, then a tap, over one pass. */
#ifndef VPA_ANALYSIS_FOLDS_PASS_H
#define VPA_ANALYSIS_FOLDS_PASS_H

#include "analysis/folds/fold.h"
#include "analysis/folds/observer.h"

enum { VPA_FOLDS_MAX = 32 };

struct vpa_fold_driver {
	struct vpa_fold_context context; /* filled by the caller */
	const struct vpa_observer *tap;  /* NULL: none */
	void *states[VPA_FOLDS_MAX];
	/* The folds that take each kind of event; each list ends with -1. */
	int with_ops[VPA_FOLDS_MAX], with_call[VPA_FOLDS_MAX], with_range[VPA_FOLDS_MAX],
		with_gap[VPA_FOLDS_MAX], with_mark[VPA_FOLDS_MAX], with_section[VPA_FOLDS_MAX],
		with_setup[VPA_FOLDS_MAX];
	/* Of with_range, those without only_scopes: few, and most ranges are no scope. */
	int with_any_range[VPA_FOLDS_MAX];
};

/* Makes the folds' states. 0 or VPT_ENOMEM; free it in both cases. */
int vpa_folds_begin(struct vpa_fold_driver *d);
void vpa_folds_free(struct vpa_fold_driver *d);

/* Pass the resolver's events, and gaps emitted on their own, to every fold that takes them. `driver`
 * is a struct vpa_fold_driver. All return 0 or the code of the first fold that failed. */
int vpa_folds_ops(void *driver, struct vpa_ops *ops); /* fills in idle time and positions first */
int vpa_folds_instants(void *driver, const struct vpa_ops *ops);
int vpa_folds_gap(void *driver, const struct vpa_gap *gap);
int vpa_folds_call(void *driver, const struct vpa_call *call);
int vpa_folds_setup(void *driver, const struct vpa_call *call);
int vpa_folds_range(void *driver, struct vpa_range *range);
int vpa_folds_mark(void *driver, const struct vpa_mark *mark);

/* The sections of a chunk that folds read themselves. */
int vpa_folds_sections(struct vpa_fold_driver *d, const struct vpt_batch *b);

/* At the end of the trace: the folds write their tables, in the order of the registry. */
int vpa_folds_finish(struct vpa_fold_driver *d, struct vpa_report *out);

#endif
