/* attention_rows.h - the report's rows of attention: which back-ends ran, where a slow one, and with which shapes. Part of
 * report.h; ../../folds/kernels/ defines the figures. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_ATTENTION_ROWS_H
#define VPA_ANALYSIS_REPORT_ROWS_ATTENTION_ROWS_H

#include "analysis/names/families.h"

#include <stddef.h>
#include <stdint.h>

struct vpa_backend_row {
	enum vpa_backend backend;
	uint64_t calls, total_ns;   /* main kernels, forward and backward */
	uint64_t aux_calls, aux_ns; /* helpers: combine, convert, preprocess */
	/* Copies between layouts, and quantisations, that ran right before its calls on their stream. */
	uint64_t before_kernels, before_ns;
	double share_of_busy; /* exclusive time of main kernels and helpers */
};

struct vpa_eager_row {
	const char *range; /* NULL: outside all ranges */
	const char *gemm, *softmax;
	uint64_t count, total_ns, softmax_ns; /* count: sequences GEMM, softmax, GEMM */
};

/* Places of a denoising step whose attention is done by more than one back-end: the fastest there,
 * and another one. */
struct vpa_backend_change {
	enum vpa_backend fast, slow;
	uint64_t places; /* k-th attention calls of steps with equal numbers of them */
	uint64_t fast_calls, fast_ns, slow_calls, slow_ns;
	double gain_ns; /* slow calls x their extra time, at each place */
};

struct vpa_attention {
	uint64_t calls;       /* fused calls + eager sequences */
	double share_of_busy; /* of all attention, eager softmax included */
	struct vpa_backend_row *backends;
	size_t backend_count;
	struct vpa_eager_row *eager;
	size_t eager_count;
	const char **fallbacks; /* one sentence each */
	size_t fallback_count;
	struct vpa_backend_change *changes; /* by slow_ns, descending */
	size_t change_count;
};

enum vpa_attention_kind { VPA_ATTENTION_UNKNOWN, VPA_ATTENTION_SELF, VPA_ATTENTION_CROSS };

/* "unknown", "self", "cross" */
const char *vpa_attention_kind_name(enum vpa_attention_kind kind);

/* Calls of one attention kernel with one grid. */
struct vpa_attention_shape {
	const char *kernel;
	enum vpa_backend backend;     /* VPA_BACKEND_NONE: not known */
	enum vpa_attention_kind kind; /* unknown: no range says */
	uint64_t blocks;              /* thread blocks of the grid; 0: not known */
	uint64_t calls, total_ns, min_ns, max_ns;
};

#endif
