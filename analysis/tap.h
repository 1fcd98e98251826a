/* tap.h - whoever wants to see the one pass over a trace while it runs: exporters.
 *
 * Unlike a fold a tap sees the chunks themselves, after the resolver has taken them in: rows in their original detail, together with
 * the model's numbers for what they name. It writes nothing into the report. */
#ifndef VPA_ANALYSIS_TAP_H
#define VPA_ANALYSIS_TAP_H

#include "analysis/folds/fold.h"
#include "formats/batch.h"

/* What a tap may look at from begin() on. The report is in the making: GPUs and META rows stand in it as soon as
 * their chunk has been read, tables at the end. */
struct vpa_tap_view {
	struct vpa_resolver *resolver;
	const struct vpa_fold_context *context;
	const struct vpa_report *report;
};

/* All members but ctx may be NULL. They return 0 or a code of error.h, which ends the pass. */
struct vpa_tap {
	void *ctx;
	int (*begin)(void *ctx, const struct vpa_tap_view *view); /* the window's start is known */
	/* A chunk, when all its ops that could be released have been; chunks to come bring no op and no launch that
	 * begins before `times_from_ns`. */
	int (*chunk)(void *ctx, const struct vpt_batch *b, uint64_t times_from_ns);
	int (*ops)(void *ctx, const struct vpa_ops *ops);       /* as folds see them, after them */
	int (*gap)(void *ctx, const struct vpa_gap *gap);       /* of at least min_gap_ns */
	int (*range)(void *ctx, const struct vpa_range *range); /* so too */
	int (*end)(void *ctx); /* the report is complete, and the window's end known */
	uint64_t min_gap_ns;
};

/* The outcome of a pass with a tap: what the pass knows of the tap's own failure (`own`, code 0: none) is only that there was one.
 * `err` may be NULL. */
static inline int vpa_tap_outcome(int rc, const struct vpt_err *own, struct vpt_err *err)
{
	if (!rc || !own->code)
		return rc;
	if (err)
		*err = *own;
	return own->code;
}

#endif
