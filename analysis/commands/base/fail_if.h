/* fail_if.h - the option --fail-if of analyze, compare and ranks: conditions that make the exit code 4. */
#ifndef VPA_ANALYSIS_COMMANDS_BASE_FAIL_IF_H
#define VPA_ANALYSIS_COMMANDS_BASE_FAIL_IF_H

#include "analysis/commands/base/analyzer_command.h"
#include "analysis/compare/conditions/fail_conditions.h"

/* Checks how the conditions are written, before the work. `option` is that of --fail-if. 0 or VPT_EINVAL. */
int vpa_fail_if_read(
	const struct vpt_args *args, unsigned option, int is_single, struct vpt_err *err);

/* The changes whose gain conditions ask for: pointers into `room` of `most`, of which the caller keeps both. *count: how many.
 * VPT_EINVAL: there are more. */
int vpa_fail_if_changes(const struct vpt_args *args, unsigned option, struct vpa_condition *room,
	const char **changes, size_t most, size_t *count, struct vpt_err *err);

/* Says which conditions hold and which cannot be checked, one line each on standard error. `c` is NULL for a
 * single report. Returns the exit code of a report that has been printed, and whose captures are `complete` or
 * not: VPT_EXIT_LIMIT if any condition holds. If the figure of one is unavailable, the condition is wrong for
 * these captures, VPT_EXIT_MISUSED, unless what is missing from them may be the reason. */
int vpa_fail_if_exit(const struct vpt_args *args, unsigned option, const struct vpa_report *r,
	const struct vpa_comparison *c, int complete);

/* Of jobs of several ranks: reads a condition and, unless `ctx` is NULL, sets whether it holds and the figure in words. */
typedef int vpa_job_holds_fn(
	const void *ctx, const char *text, int *holds, char what[160], struct vpt_err *err);
/* Asks `fn` of each condition and says which hold, one line each on standard error; *held: whether any does. 0, or what `fn`
 * returns. */
int vpa_fail_if_jobs(const struct vpt_args *args, unsigned option, vpa_job_holds_fn *fn,
	const void *ctx, int *held, struct vpt_err *err);

#endif
