/* pipeline.h - which request, block, step and stage of a video pipeline an op or a range belongs
 * to.
 *
 *	resolver --> ops, ranges --> pipeline --> folds, exporters
 *
 * A range with a meaning to the pipeline, see range_scopes.h, is a *scope*. Its name or annotation does
 * not decide that alone: inside a step, "block 7" is a transformer layer. So a range is judged at
 * the first op launched in it, by the ranges around it then, and stays what it became. Consecutive
 * ops in the same scopes share one *position*.
 *
 * A range without a meaning that begins directly in a block, and contains no scope, is a *plain part* of the block:
 * a scope of kind STAGE and source PLACE that only position->part names. What it is worth, ../folds/blocks/ decides.
 *
 * Only this module writes range->scope and range->placed; all others call it. Each batch of ops and
 * each range is passed in before any fold sees it. One thread. */
#ifndef VPA_ANALYSIS_PIPELINE_PIPELINE_H
#define VPA_ANALYSIS_PIPELINE_PIPELINE_H

#include "analysis/model/model.h"
#include "analysis/pipeline/range_scopes.h"

enum {
	/* With more than these a trace is no longer a video's: further requests and blocks are left
	 * out, and counted. */
	VPA_BLOCKS_MAX = 16384,
	/* Maximum nesting of open scopes; deeper ones are skipped. */
	VPA_SCOPES_OPEN_MAX = 64
};

/* Values of range->scope besides 0, not judged: no scope, or the scope's number plus
 * VPA_FIRST_SCOPE. */
enum { VPA_NO_SCOPE = 1, VPA_FIRST_SCOPE = 2 };

/* Requests and blocks are kept to the end; others are freed when they are over and their number is
 * reused. */
struct vpa_scope {
	struct vpa_scope_label label;
	uint64_t start_ns, end_ns; /* on the host; the end once it is finished */
	uint32_t name, thread;
	uint32_t annotation;            /* of which the label tells, as in vpa_range.payload */
	uint32_t request, block, stage; /* the scopes it began in; VPA_NONE: none */
	uint8_t finished, cut_off;      /* cut_off: not all of it is in the window */
	uint8_t nested;                 /* began in a step, an iteration or a stage */
	uint8_t nests;                  /* a push/pop range */
	uint8_t holds_scopes;           /* of a plain part: it is none after all */
};

/* The scopes of an op, one of each kind; VPA_NONE: none. A context pass counts as a step. */
struct vpa_around {
	uint32_t request, block, iteration, step, stage;
};

/* Consecutive ops of a batch, of one thread and in the same scopes. */
struct vpa_position {
	uint8_t end;     /* Index after its last op; it begins where the previous position ends. */
	uint32_t thread; /* VPA_NONE: no launch records, so nothing else is known */
	uint64_t from_ns, until_ns;         /* it holds for launches in [from, until) */
	const struct vpa_range *own, *wide; /* the innermost ranges that may be scopes */
	struct vpa_around around;
	uint32_t scopes[VPA_SCOPES_OPEN_MAX]; /* outermost first */
	uint32_t begun[VPA_SCOPES_OPEN_MAX];  /* those of them that begin with this position */
	uint32_t count, begun_count;
	uint32_t part; /* the plain part inside all of these; VPA_NONE: none */
};

enum { VPA_ANNOTATED_SETS = 64 };

/* What an annotation and a name mean together. */
struct vpa_annotated {
	uint32_t payload, name; /* payload 0: nothing */
	struct vpa_scope_label label;
};

struct vpa_pipeline {
	const struct vpa_model *model;
	const struct vpa_range_rules *rules; /* the user's; NULL: none */
	struct vpa_scope *scopes;
	size_t scope_count, scope_cap;
	struct vpa_position *positions; /* of the current batch */
	size_t position_count, position_cap;
	size_t kept_count;           /* requests and blocks so far */
	uint64_t left_out;           /* requests and blocks beyond the maximum */
	uint64_t blocks_without_ops; /* annotated, but launched nothing */
	int is_diffusion;            /* a scope so far says that steps are denoising steps */
	uint32_t unused;             /* free scopes, linked by `block`; VPA_NONE: none */
	uint32_t *known; /* By name: 0 not looked up, 1 no meaning by itself, else 2 + label. */
	size_t known_cap;
	/* By name: ranges without a meaning that were no plain parts, up to the number from which none is asked for. */
	uint8_t *elsewhere;
	size_t elsewhere_cap;
	struct vpa_scope_label *labels;
	size_t label_count, label_cap;
	struct vpa_annotated annotated[VPA_ANNOTATED_SETS][2]; /* met last, by a hash */
};

/* `model` and `rules` are borrowed. */
void vpa_pipeline_init(
	struct vpa_pipeline *p, const struct vpa_model *model, const struct vpa_range_rules *rules);
void vpa_pipeline_free(struct vpa_pipeline *p);

/* ---- during the pass; all return 0 or VPT_ENOMEM ---- */

/* Fills `positions` for a batch, and makes scopes of the ranges whose first ops are in it. */
int vpa_pipeline_ops(struct vpa_pipeline *p, const struct vpa_ops *ops);

/* A range has ended. Even if it launched nothing, it may be the request around those of other
 * threads. */
int vpa_pipeline_end(struct vpa_pipeline *p, struct vpa_range *range);
/* All users have seen the end of the range. */
void vpa_pipeline_forget(struct vpa_pipeline *p, const struct vpa_range *range);

/* Adds a scope without a range. VPA_NONE: no memory. */
uint32_t vpa_pipeline_add(struct vpa_pipeline *p, const struct vpa_scope *scope);

/* What steps are called: "denoise step" if anything says that they are some. Known when all ops have come. */
const char *vpa_pipeline_step_name(const struct vpa_pipeline *p);

/* Whether scopes of this kind are kept to the end. */
int vpa_scope_is_kept(enum vpa_scope_kind kind);

/* ---- queries ---- */

/* What a range means by its annotation, else by its name, ignoring the ranges around it. 0 or
 * VPT_ENOMEM. */
int vpa_pipeline_label(
	struct vpa_pipeline *p, const struct vpa_range *range, struct vpa_scope_label *out);

/* The same of a range that has ended, or is open. A request that is in a step, or in another request of its thread, is none: NONE. */
int vpa_pipeline_request(
	struct vpa_pipeline *p, const struct vpa_range *range, struct vpa_scope_label *out);

/* The same for any text; an unreadable or empty annotation means nothing. */
void vpa_pipeline_read(const struct vpa_pipeline *p, struct vpt_text name,
	struct vpt_text annotation, struct vpa_scope_label *out);

/* What a range is in its place; NONE: no scope, or it has launched no op so far. */
static inline enum vpa_scope_kind vpa_pipeline_kind(const struct vpa_range *range)
{
	return (enum vpa_scope_kind)range->placed;
}

/* Whether the range has a scope: it is something in its place, or a plain part. */
static inline int vpa_pipeline_has_scope(const struct vpa_range *range)
{
	return range->placed || range->scope >= VPA_FIRST_SCOPE;
}

/* The innermost scope of a kind among a range and those around it that are open at `at_ns`; NULL:
 * none. */
static inline const struct vpa_range *vpa_pipeline_find(
	const struct vpa_range *range, uint64_t at_ns, enum vpa_scope_kind kind)
{
	range = vpa_range_open_at((struct vpa_range *)range, at_ns);
	while (range && range->placed != kind)
		range = vpa_range_around(range, at_ns);
	return range;
}

/* What is around a moment, whether or not an op was launched then. */
struct vpa_where {
	int64_t block, step;           /* indexes; -1: no such scope, or it has no index */
	const struct vpa_range *stage; /* the innermost; NULL: none */
	const char *stage_name;        /* the name a rule gives it; NULL: its own name */
	uint64_t until_ns;             /* the answer holds up to here, unless other ranges begin */
};

/* `own` and `wide` are the innermost ranges of a thread and of its process at `at_ns`; NULL: none.
 * 0 or VPT_ENOMEM. */
int vpa_pipeline_where(struct vpa_pipeline *p, const struct vpa_range *own,
	const struct vpa_range *wide, uint64_t at_ns, struct vpa_where *out);

#endif
