/* registry.c - the list of folds, in the order in which they see the trace and finish. */
#include "analysis/folds/fold.h"

const struct vpa_fold *const vpa_folds[] = {
	&vpa_fold_devices,
	&vpa_fold_gaps,
	&vpa_fold_gains, /* reads what gaps has written */
	&vpa_fold_kernels,
	&vpa_fold_attention,
	&vpa_fold_ranges,
	&vpa_fold_copies,
	&vpa_fold_comm,
	&vpa_fold_first_use, /* adds up what gaps has written */
	&vpa_fold_syncs,
	&vpa_fold_blocks,
	&vpa_fold_attention_steps,
	NULL,
};
