/* pipeline.h - where in a video pipeline things stand: in which request, block, step and stage.
 *
 *	resolver --> ops, ranges --> pipeline --> folds, exporters
 *
 * A range that is something to the pipeline, see scopes.h, is a *scope*. What its name or annotation says is not all of it:
 * inside a step, "block 7" is a transformer layer. So a range becomes a scope with the first op that was launched in it, by
 * what stands around it then, and stays what it is. Ops next to each other in the same scopes have one *position*.
 *
 * This is the one owner of all that: it alone writes range->scope and range->placed, and everybody else asks. Each batch of
 * ops and each range is handed in before any fold sees it. One thread. */
#ifndef VPA_ANALYSIS_PIPELINE_H
#define VPA_ANALYSIS_PIPELINE_H

#include "analysis/model.h"
#include "analysis/scopes.h"

enum {
	/* Beyond these a trace is no longer a video's: requests and blocks on top are left out, and counted. */
	VPA_BLOCKS_MAX = 16384,
	/* Open scopes in one another; more are passed over. */
	VPA_SCOPES_OPEN_MAX = 64
};

/* What range->scope says besides 0, which is that it has not been judged: it is nothing, or the number of its scope and
 * this. */
enum { VPA_NO_SCOPE = 1, VPA_FIRST_SCOPE = 2 };

/* Requests and blocks stay to the end; others go when they are over, and their number is used again. */
struct vpa_scope {
	struct vpa_scope_label label;
	uint64_t start_ns, end_ns; /* on the host; the end once it is finished */
	uint32_t name, thread;
	uint32_t request, block, stage; /* scopes that it began in; VPA_NONE: none */
	uint8_t finished, cut_off;      /* cut_off: not all of it is in the window */
	uint8_t nested;                 /* began in a step, an iteration or a stage */
	uint8_t nests;                  /* a push/pop range */
};

/* The scopes that an op belongs to, of each kind one; VPA_NONE: none. A context pass counts as a step. */
struct vpa_around {
	uint32_t request, block, iteration, step, stage;
};

/* Ops of a batch next to each other, of one thread and in the same scopes. */
struct vpa_position {
	uint8_t end; /* index of the first op that is not of it; it begins where the one before ends */
	uint32_t thread;            /* VPA_NONE: no launch records, and nothing else is known */
	uint64_t from_ns, until_ns; /* launches in [from, until) stand there */
	const struct vpa_range *own, *wide; /* the innermost ranges that are not nothing */
	struct vpa_around around;
	uint32_t scopes[VPA_SCOPES_OPEN_MAX]; /* outermost first */
	uint32_t begun[VPA_SCOPES_OPEN_MAX];  /* those of them that began with it */
	uint32_t count, begun_count;
};

struct vpa_pipeline {
	const struct vpa_model *model;
	const struct vpa_scope_rules *rules; /* the user's; NULL: none */
	struct vpa_scope *scopes;
	size_t scope_count, scope_cap;
	struct vpa_position *positions; /* of the batch at hand */
	size_t position_count, position_cap;
	size_t kept_count;           /* requests and blocks so far */
	uint64_t left_out;           /* requests and blocks, for there were too many */
	uint64_t blocks_without_ops; /* annotated, and launched nothing */
	uint32_t unused;             /* scope, linked by `block`; VPA_NONE: none */
	uint32_t *known; /* by name: 0 not asked, 1 it is nothing by itself, else 2 + label */
	size_t known_cap;
	struct vpa_scope_label *labels;
	size_t label_count, label_cap;
};

/* Both are borrowed. */
void vpa_pipeline_init(
	struct vpa_pipeline *p, const struct vpa_model *model, const struct vpa_scope_rules *rules);
void vpa_pipeline_free(struct vpa_pipeline *p);

/* ---- as the trace goes by; all return 0 or VPT_ENOMEM ---- */

/* Fills `positions` for a batch, and makes scopes of ranges that these are the first ops of. */
int vpa_pipeline_ops(struct vpa_pipeline *p, const struct vpa_ops *ops);

/* A range is over. One that launched nothing may still be the request around those of other threads. */
int vpa_pipeline_end(struct vpa_pipeline *p, struct vpa_range *range);
/* Everybody has seen that. */
void vpa_pipeline_forget(struct vpa_pipeline *p, const struct vpa_range *range);

/* A new scope that is no range's. VPA_NONE: no memory. */
uint32_t vpa_pipeline_add(struct vpa_pipeline *p, const struct vpa_scope *scope);

/* Whether scopes of a kind stay to the end. */
int vpa_scope_is_kept(enum vpa_scope_kind kind);

/* ---- asking ---- */

/* What a range is by its annotation, else by its name, wherever it stands. 0 or VPT_ENOMEM. */
int vpa_pipeline_label(
	struct vpa_pipeline *p, const struct vpa_range *range, struct vpa_scope_label *out);

/* The same of any text; an annotation that cannot be read, or is empty, says nothing. */
void vpa_pipeline_read(const struct vpa_pipeline *p, struct vpt_text name,
	struct vpt_text annotation, struct vpa_scope_label *out);

/* What a range is where it stands; NONE: nothing, or it has launched no op so far. */
static inline enum vpa_scope_kind vpa_pipeline_kind(const struct vpa_range *range)
{
	return (enum vpa_scope_kind)range->placed;
}

/* The innermost scope of a kind, of a range and those around it that are open at `at_ns`; NULL: none. */
static inline const struct vpa_range *vpa_pipeline_find(
	const struct vpa_range *range, uint64_t at_ns, enum vpa_scope_kind kind)
{
	range = vpa_range_open_at((struct vpa_range *)range, at_ns);
	while (range && range->placed != kind)
		range = vpa_range_around(range, at_ns);
	return range;
}

/* What stands around a moment, whether or not an op was launched then. */
struct vpa_where {
	int64_t block, step;           /* indexes; -1: none, or it has none */
	const struct vpa_range *stage; /* the innermost; NULL: none */
	const char *stage_name;        /* what a rule calls it; NULL: by its own name */
	uint64_t until_ns;             /* it is the same up to here, unless other ranges begin */
};

/* In the innermost ranges of a thread and of its process at `at_ns`; NULL: none. 0 or VPT_ENOMEM. */
int vpa_pipeline_where(struct vpa_pipeline *p, const struct vpa_range *own,
	const struct vpa_range *wide, uint64_t at_ns, struct vpa_where *out);

#endif
