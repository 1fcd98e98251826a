/* fail_if.c - reads and checks the conditions of --fail-if, in the order of the command line. */
#include "analysis/commands/base/fail_if.h"

#include "analysis/compare/conditions/predicted_condition.h"

int vpa_fail_if_read(
	const struct vpt_args *args, unsigned option, int is_single, struct vpt_err *err)
{
	struct vpa_condition condition;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < args->given_count && !rc; i++) {
		if (args->given[i].option == option)
			rc = vpa_condition_read(args->given[i].text, is_single, &condition, err);
	}
	return rc;
}

int vpa_fail_if_changes(const struct vpt_args *args, unsigned option, struct vpa_condition *room,
	const char **changes, size_t most, size_t *count, struct vpt_err *err)
{
	size_t i;
	int rc = VPT_OK;

	for (i = *count = 0; i < args->given_count && !rc; i++) {
		if (args->given[i].option != option ||
			!vpa_is_predicted_condition(args->given[i].text))
			continue;
		if (*count == most)
			return vpt_fail(err, VPT_EINVAL,
				"--fail-if: expected at most %zu predictions", most);
		rc = vpa_condition_read(args->given[i].text, 1, &room[*count], err);
		changes[*count] = room[*count].change;
		*count += !rc;
	}
	return rc;
}

int vpa_fail_if_exit(const struct vpt_args *args, unsigned option, const struct vpa_report *r,
	const struct vpa_comparison *c, int complete)
{
	int rc, holds, held = 0, unavailable = 0;
	struct vpa_condition condition;
	struct vpt_err err;
	char what[160];
	size_t i;

	for (i = 0; i < args->given_count; i++) {
		if (args->given[i].option != option)
			continue;
		rc = vpa_condition_read(args->given[i].text, !c, &condition, &err);
		if (!rc)
			rc = c ? vpa_condition_holds(&condition, c, &holds, what, &err)
			       : vpa_condition_holds_of(&condition, r, &holds, what, &err);
		if (rc && rc != VPT_EINVAL)
			return vpa_failed(&err);
		if (rc)
			vpa_say("%s", err.text);
		else if (holds)
			vpa_say("--fail-if %s%s: %s", condition.text,
				holds == VPA_CONDITION_HOLDS ? "" : " does not hold", what);
		unavailable |= rc != VPT_OK;
		held |= !rc && holds == VPA_CONDITION_HOLDS;
	}
	if (held)
		return VPT_EXIT_LIMIT;
	if (!complete)
		return VPT_EXIT_DAMAGED;
	return unavailable ? VPT_EXIT_MISUSED : VPT_EXIT_DONE;
}

int vpa_fail_if_jobs(const struct vpt_args *args, unsigned option, vpa_job_holds_fn *fn,
	const void *ctx, int *held, struct vpt_err *err)
{
	char what[160] = "";
	size_t i;
	int holds, rc = VPT_OK;

	*held = 0;
	for (i = 0; i < args->given_count && !rc; i++) {
		if (args->given[i].option != option)
			continue;
		holds = 0;
		rc = fn(ctx, args->given[i].text, &holds, what, err);
		if (!rc && holds)
			vpa_say("--fail-if %s: %s", args->given[i].text, what);
		*held |= !rc && holds;
	}
	return rc;
}
