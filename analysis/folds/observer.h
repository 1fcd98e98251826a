/* observer.h - lets exporters observe the one pass over a trace while it runs.
 *
 * Unlike a fold, an observer sees the chunks themselves, after the resolver took them: rows in full
 * detail, and the model's numbers for what they name. It writes nothing into the report. */
#ifndef VPA_ANALYSIS_FOLDS_OBSERVER_H
#define VPA_ANALYSIS_FOLDS_OBSERVER_H

#include "analysis/folds/fold.h"
#include "formats/chunk/batch.h"

/* What an observer may read from begin() on. The report is incomplete: GPUs and META rows appear once
 * their chunk has been read, tables at the end. */
struct vpa_observer_view {
	struct vpa_resolver *resolver;
	const struct vpa_fold_context *context;
	const struct vpa_report *report;
};

/* Any member but ctx may be NULL. They return 0, or a code of error.h, which ends the pass. */
struct vpa_observer {
	void *ctx;
	int (*begin)(
		void *ctx, const struct vpa_observer_view *view); /* the window's start is known */
	/* A chunk, after all its ops that could be released were. Later chunks bring no op and no
	 * launch that begins before `times_from_ns`. */
	int (*chunk)(void *ctx, const struct vpt_batch *b, uint64_t times_from_ns);
	/* A chunk that cannot be read, and why. */
	int (*damage)(void *ctx, const char *text);
	int (*ops)(void *ctx, const struct vpa_ops *ops); /* as folds see them, after the folds */
	int (*instants)(void *ctx, const struct vpa_ops *ops);
	int (*gap)(void *ctx, const struct vpa_gap *gap); /* of at least min_gap_ns */
	/* as folds see them, after the folds */
	int (*range)(void *ctx, const struct vpa_range *range);
	int (*end)(void *ctx); /* the report is complete, the window's end is known */
	uint64_t min_gap_ns;
};

/* The outcome of a pass with an observer. If it itself failed (`own`; code 0: it did not), the pass
 * only knows that it did. `err` may be NULL. */
static inline int vpa_observer_outcome(int rc, const struct vpt_err *own, struct vpt_err *err)
{
	if (!rc || !own->code)
		return rc;
	if (err)
		*err = *own;
	return own->code;
}

#endif
