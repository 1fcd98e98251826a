/* fold.h - one-pass analyses.
 *
 * A fold sees each resolved op, call, range and gap once, keeps aggregates, and writes its tables at the end.
 * Folds write their tables in the order of VPA_FOLDS: one that reads another's rows comes after it. To add one: a
 * file with one exported descriptor, a line in VPA_FOLDS. */
#ifndef VPA_ANALYSIS_FOLDS_FOLD_H
#define VPA_ANALYSIS_FOLDS_FOLD_H

#include "analysis/idle/idle.h"
#include "analysis/pipeline/pipeline.h"
#include "analysis/report/analysis_options.h"
#include "analysis/report/report.h"
#include "formats/chunk/batch.h"

struct vpa_lanes;
struct vpa_stage_times;

struct vpa_fold_context {
	struct vpa_model *model;
	struct vpa_resolver *resolver;
	struct vpa_idle *idle;
	const struct vpa_options *options;
	size_t top; /* maximum rows per table */
	/* Has already seen what a fold is given. Folds may add scopes of their own, and label ranges. */
	struct vpa_pipeline *pipeline;
	struct vpa_lanes *lanes;              /* of folds that work beside the pass */
	const struct vpa_stage_times *stages; /* of the scopes that all folds have seen */
};

/* Unused members are NULL. All functions return 0 or VPT_ENOMEM; range() also VPT_END, if it needs no more ranges. */
struct vpa_fold {
	const char *name, *help;
	size_t state_bytes;                               /* zeroed before first use */
	int (*wanted)(const struct vpa_options *options); /* NULL: always */
	int (*ops)(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops);
	/* The same, on any thread, while the pass takes later ops. It may read
	 *
	 *	the batch, as vpa_lanes_put() copies it; of launches only what they are
	 *	ranges as they were recorded, not their scope; and write gpu and launches
	 *	names, kernels, threads, streams and devices of the model
	 *	pauses of the resolver
	 *
	 * and nothing of idle time or the pipeline. Whatever else a fold is given comes after the ops before it. With
	 * ops() too, the two must not touch the same parts of the state. */
	int (*aside)(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops);
	/* Ops of no length, see struct vpa_resolver_sink. */
	int (*instants)(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops);
	/* Only calls that wait for a device, see vpa_call_effect(). */
	int (*call)(void *state, const struct vpa_fold_context *c, const struct vpa_call *call);
	/* Only calls that load code or make a CUDA graph, see struct vpa_resolver_sink. */
	int (*setup)(void *state, const struct vpa_fold_context *c, const struct vpa_call *call);
	int (*range)(void *state, const struct vpa_fold_context *c, const struct vpa_range *range);
	/* The same, in place of it: only annotated ranges; only those of operators, see vpa_range_is_operator(). */
	int (*annotated)(
		void *state, const struct vpa_fold_context *c, const struct vpa_range *range);
	int (*operator_range)(
		void *state, const struct vpa_fold_context *c, const struct vpa_range *range);
	/* The same, in place of it, as aside(): a copy, whose parents may be gone. It may read what aside() may but
	 * names, and devices of idle time. With aside(). */
	int (*range_aside)(
		void *state, const struct vpa_fold_context *c, const struct vpa_range *range);
	/* Only ranges with a scope, see vpa_pipeline_has_scope(): few, and most ranges have none. */
	int (*scope)(void *state, const struct vpa_fold_context *c, const struct vpa_range *range);
	/* Most folds read annotations only, see struct vpa_mark. A mark comes before those of its thread's ops that
	 * begin after everything released so far. */
	int (*mark)(void *state, const struct vpa_fold_context *c, const struct vpa_mark *mark);
	/* Gaps that ops->gap_cause does not describe; most are described there. */
	int (*gap)(void *state, const struct vpa_fold_context *c, const struct vpa_gap *gap);
	int gap_is_apart; /* gap() touches nothing that aside() does, so it need not come after it */
	/* Sections of COUNTER, MEMORY, LOSS and GRAPH rows, in the order of the file: the window is not
	 * applied. */
	int (*section)(void *state, const struct vpa_fold_context *c, const struct vpt_batch *b,
		const struct vpt_section *s);
	int (*finish)(void *state, const struct vpa_fold_context *c, struct vpa_report *out);
	void (*free)(void *state); /* what the state points to, not the state */
};

/* Every fold, in the order in which they see the trace and finish: gains reads what gaps has written,
 * first_use adds it up; attention reads kernels; lines splits it, and the stages of blocks; checks reads blocks and steps, and
 * counters and graphs what checks has written; misfits reads kernels, neighbours attention, components counters;
 * host_operators names places of what gaps has written, after all that look for them. */
#define VPA_FOLDS(X)                                                                               \
	X(devices)                                                                                 \
	X(gaps)                                                                                    \
	X(launch_blocking)                                                                         \
	X(host_stops)                                                                              \
	X(trials)                                                                                  \
	X(gains)                                                                                   \
	X(kernels)                                                                                 \
	X(attention)                                                                               \
	X(ranges)                                                                                  \
	X(copies)                                                                                  \
	X(comm)                                                                                    \
	X(collectives)                                                                             \
	X(reductions)                                                                              \
	X(first_use)                                                                               \
	X(syncs)                                                                                   \
	X(blocks)                                                                                  \
	X(lines)                                                                                   \
	X(attention_steps)                                                                         \
	X(steps)                                                                                   \
	X(step_kinds)                                                                              \
	X(checks)                                                                                  \
	X(graphs)                                                                                  \
	X(overlap)                                                                                 \
	X(queues)                                                                                  \
	X(misfits)                                                                                 \
	X(neighbours)                                                                              \
	X(moves)                                                                                   \
	X(short_runs)                                                                              \
	X(stage_families)                                                                          \
	X(attention_shapes)                                                                        \
	X(flop_rates)                                                                              \
	X(byte_rates)                                                                              \
	X(recomputed)                                                                              \
	X(operators)                                                                               \
	X(counters)                                                                                \
	X(allocations)                                                                             \
	X(marked_host)                                                                             \
	X(facts)                                                                                   \
	X(components)                                                                              \
	X(iteration_parts)                                                                         \
	X(iterations)                                                                              \
	X(models)                                                                                  \
	X(compilations)                                                                            \
	X(memory_labels)                                                                           \
	X(moments)                                                                                 \
	X(host_operators)                                                                          \
	X(overview)

#define VPA_DECLARE(name) extern const struct vpa_fold vpa_fold_##name;
VPA_FOLDS(VPA_DECLARE)
#undef VPA_DECLARE

extern const struct vpa_fold *const vpa_folds[]; /* ends with NULL */

/* `wanted` of a fold that only writes tables which neither the first screen nor a finding, prediction or condition reads. */
int vpa_fold_is_table(const struct vpa_options *options);

/* The arena's copy of a name; NULL for id 0. */
const char *vpa_fold_name(struct vpa_report *out, const struct vpa_model *m, uint32_t id);

/* The id of a name in the model, as vpt_strings_put(). For folds on the thread of the pass. */
uint64_t vpa_fold_intern(const struct vpa_fold_context *c, const char *name);

/* A line by the number of its frame, see vpa_stacks_frame_at(). */
struct vpa_code_line vpa_fold_line(
	struct vpa_report *out, const struct vpa_model *m, uint32_t frame);

/* The place of an id, see struct vpa_cause_piece; its text is in the arena. */
struct vpa_place vpa_fold_place(struct vpa_arena *texts, const struct vpa_model *m, uint32_t id);

#endif
