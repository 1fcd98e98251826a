/* uneven_units.h - units of a report, see unit.h, of which some take far longer than the others, though all are of one kind: every
 * fourth one decodes a preview, or the GPU's clock falls for a while.
 *
 * What most units take is the median of their quicker half. A slow one takes more than 1.3 times that, and there is none in the
 * middle: units that grow are not of two kinds. The first unit, which pays for first use, is left out if it takes longer than all
 * others, and a last one that is shorter. */
#ifndef VPA_ANALYSIS_PIPELINE_UNEVEN_UNITS_H
#define VPA_ANALYSIS_PIPELINE_UNEVEN_UNITS_H

#include "analysis/base/numbers.h"
#include "analysis/names/families.h"
#include "analysis/report/report.h"
#include "analysis/report/rows/unit_kind.h"

enum { VPA_UNEVEN_LEAST = 4 /* units that are compared, two of them quick */ };

struct vpa_unit_span {
	uint64_t start_ns, end_ns;
	uint64_t busy_ns, idle_ns; /* summed over its devices */
	uint64_t ops;              /* 0: not known */
	unsigned devices;
	const uint64_t *parts_ns; /* as of struct vpa_block_row; NULL: not known */
	size_t number;            /* in the report, from 1 on; of blocks with the warm-up */
	int is_slow;
};

/* Of times: the shortest and the longest. */
struct vpa_span_of_times {
	uint64_t least_ns, most_ns;
};

struct vpa_uneven_units {
	enum vpa_unit_kind kind;
	struct vpa_unit_span *rows; /* those that were compared, by start */
	size_t count, slow;         /* slow 0: they are alike, or too few */
	size_t last;                /* the number of the last one */
	uint64_t usual_ns;          /* the median of the quicker half */
	struct vpa_span_of_times quick_ns, slow_ns;
	size_t every;       /* N, if three or more are slow, and every N-th is; 0: no such number */
	uint64_t excess_ns; /* what the slow ones take beyond usual_ns, in all */
	/* Of the slow ones, what their devices worked and waited longer than those of as many quick ones do on average. */
	int64_t busy_ns, idle_ns;
	/* Of work: the family with most of it; 0 ns: not known. */
	enum vpa_family family;
	int64_t family_ns;
	/* How many more ops a slow one runs on average. 0: as many, to a fiftieth, so its kernels take longer; or that is not known. */
	double more_ops;
	int ops_are_known;
};

/* The units of a report, summed in `out`, which the caller frees, also on failure. 0 or VPT_ENOMEM. */
int vpa_uneven_units_of(const struct vpa_report *r, struct vpa_uneven_units *out);
void vpa_uneven_units_free(struct vpa_uneven_units *u);

/* Sets iterations_per_cycle of a report that has its requests, blocks and iterations: cycles of the optimizer, else from one iteration
 * that takes far longer than the others to the next. 0 or VPT_ENOMEM. */
int vpa_unit_find_cycles(struct vpa_report *r);

/* "3.60 s to 4.00 s"; "1.70 s" where they hardly differ. */
struct vpa_label vpa_times_text(struct vpa_span_of_times span);

/* How long something lasted in the slow units beyond what it does in as many quick ones: of each unit `ns` says how much. */
struct vpa_uneven_sum {
	uint64_t slow_ns, quick_ns;
};
/* Adds a stretch of time to the units that it lies in. */
void vpa_uneven_sum_add(struct vpa_uneven_sum *sum, const struct vpa_uneven_units *u,
	uint64_t start_ns, uint64_t end_ns);
/* 0: it lasts no longer. */
uint64_t vpa_uneven_sum_excess(const struct vpa_uneven_sum *sum, const struct vpa_uneven_units *u);

#endif
