/* stage_names.h - numbers of the stages that ops belong to: the innermost stage, step, block or request around a launch. */
#ifndef VPA_ANALYSIS_FOLDS_KERNELS_STAGE_NAMES_H
#define VPA_ANALYSIS_FOLDS_KERNELS_STAGE_NAMES_H

#include "analysis/base/index.h"
#include "analysis/folds/fold.h"

/* Zero-initialised. After the 64th of kind stage all others are one. For one thread. */
struct vpa_stage_names {
	struct vpa_index index; /* kind, name; a row is a number */
	int has_stage;          /* 1: not all is outside all stages */
	int has_last;
	uint32_t last_name, last_kind, last_row; /* of the newest position */
};

/* VPA_NONE: no memory. */
uint32_t vpa_stage_names_row(struct vpa_stage_names *n, const struct vpa_fold_context *c,
	const struct vpa_position *position);

/* In the report's arena, or constant; NULL: no memory. */
const char *vpa_stage_names_text(const struct vpa_stage_names *n, const struct vpa_fold_context *c,
	struct vpa_report *out, uint32_t row);

enum vpa_scope_kind vpa_stage_names_kind(const struct vpa_stage_names *n, uint32_t row);

void vpa_stage_names_free(struct vpa_stage_names *n);

#endif
