/* stage_names.h - numbers of the stages that ops belong to: the innermost stage, step, block or request around a launch. */
#ifndef VPA_ANALYSIS_FOLDS_KERNELS_STAGE_NAMES_H
#define VPA_ANALYSIS_FOLDS_KERNELS_STAGE_NAMES_H

#include "analysis/base/index.h"
#include "analysis/folds/fold.h"
#include "analysis/model/gpu_peak.h"

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

/* ---- stage_work.c: how each stage uses the GPU's multipliers: its time in kernels that use tensor cores, and the operations that
 * ranges say of its kernels. For the fold of operations, see flop_rates.c, which finishes after those of kernels and of stages. ---- */

/* Zero-initialised. */
struct vpa_work_stages {
	struct vpa_stage_names names;
	struct vpa_index index; /* stage; device and precision */
	struct vpa_stage_flop {
		uint64_t calls, flop, ns;
	} * sums;
	size_t sum_cap;
	size_t position; /* of the batch, that of the newest op */
};

/* Before the ops of a batch. */
void vpa_stage_work_batch(struct vpa_work_stages *w);
/* The stage of an op of the batch, by its index, which does not fall. VPA_NONE: no memory. */
uint32_t vpa_stage_work_row(struct vpa_work_stages *w, const struct vpa_fold_context *c, size_t op);
/* A range that says its operations. `stage`: of all its kernels; VPA_NONE: they are of several. 0 or VPT_ENOMEM. */
int vpa_stage_work_add(struct vpa_work_stages *w, uint32_t stage, uint32_t device,
	unsigned precision, uint64_t flop, uint64_t kernel_ns);
/* Writes the rows. 0 or VPT_ENOMEM. */
int vpa_stage_work_write(
	struct vpa_work_stages *w, const struct vpa_fold_context *c, struct vpa_report *out);
void vpa_stage_work_free(struct vpa_work_stages *w);

/* vpa_gpu_peak_tflops() of a device by its number; -1: not known. */
double vpa_stage_work_peak(
	const struct vpa_report *r, int64_t device, enum vpa_precision precision);

#endif
