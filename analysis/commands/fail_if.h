/* fail_if.h - the option --fail-if of analyze and compare: conditions that make the exit code 4. */
#ifndef VPA_ANALYSIS_COMMANDS_FAIL_IF_H
#define VPA_ANALYSIS_COMMANDS_FAIL_IF_H

#include "analysis/commands/command.h"
#include "analysis/compare/limits.h"

/* Checks how the conditions are written, before the work. `option` is that of --fail-if. 0 or VPT_EINVAL. */
int vpa_fail_if_read(
	const struct vpa_args *args, unsigned option, int is_single, struct vpt_err *err);

/* Says which conditions hold, one line each on standard error. Sets *held if any does. `c` is NULL for a
 * single report. 0, VPT_EINVAL if a figure is unavailable, or VPT_ENOMEM. */
int vpa_fail_if_check(const struct vpa_args *args, unsigned option, const struct vpa_report *r,
	const struct vpa_comparison *c, int *held, struct vpt_err *err);

#endif
