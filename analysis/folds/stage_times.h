/* stage_times.h - when each stage of the pipeline was at work, on the host and on the devices.
 *
 * Rows are those of the pipeline's scopes: stages by name, and requests, blocks, steps and context
 * passes. On the host, a scope lasts as long as its range; on the devices, from the start of its
 * first op to the end of its last. */
#ifndef VPA_ANALYSIS_FOLDS_STAGE_TIMES_H
#define VPA_ANALYSIS_FOLDS_STAGE_TIMES_H

#include "analysis/base/index.h"
#include "analysis/base/intervals.h"
#include "analysis/folds/fold.h"

enum { VPA_STAGE_TIMES_MAX = 1 << 18 }; /* of all rows; later ones are left out */

/* A range that has ended, as an instance of a stage. */
struct vpa_stage_at {
	enum vpa_scope_kind kind;
	uint32_t name;          /* id; 0: the kind is the name */
	const char *given;      /* by a rule; NULL: `name` */
	uint64_t key, key_name; /* equal for instances of one stage, for an index */
	/* On the devices; first >= last: it launched nothing that took time. */
	uint64_t first_ns, last_ns;
};

/* Whether the range is a request, block, step, context pass or stage; if so, fills *out. */
int vpa_stage_at_of(
	const struct vpa_fold_context *c, const struct vpa_range *range, struct vpa_stage_at *out);
/* The stage's name, in the report's arena. */
const char *vpa_stage_at_name(
	struct vpa_report *out, const struct vpa_model *m, const struct vpa_stage_at *at);

struct vpa_stage_time {
	struct vpa_stage_at at;         /* of its first instance */
	struct vpa_intervals host, gpu; /* touching ones merged */
	/* Of the one that began first, on the host. */
	uint64_t first_start_ns, first_end_ns;
};

/* All zeros is empty. */
struct vpa_stage_times {
	struct vpa_index index;
	struct vpa_stage_time *rows; /* index.count of them, in order of their first end */
	size_t cap;
	size_t total;
};

/* A range has ended, as a fold sees it. 0 or VPT_ENOMEM. */
int vpa_stage_times_add(
	struct vpa_stage_times *t, const struct vpa_fold_context *c, const struct vpa_range *range);
void vpa_stage_times_free(struct vpa_stage_times *t);

#endif
