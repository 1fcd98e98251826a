/* fields_expert.c - the JSON report: what people who tune a pipeline look up by hand. */
#include "analysis/render/fields.h"

/* ---- the checklist ---- */

static const char *status_choice(size_t i)
{
	static const char *const names[] = {[VPA_CHECK_PASS] = "pass",
		[VPA_CHECK_WARN] = "warn",
		[VPA_CHECK_FAIL] = "fail",
		[VPA_CHECK_UNKNOWN] = "unknown"};

	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

#define ROW struct vpa_check
static const struct vpa_field check_fields[] = {
	{"id", TEXT(id), NULL, "id of the check, which does not change: \"gpu-busy\" ..."},
	{"title", TEXT(title), NULL, "what is looked up"},
	{"status", CHOICE(vpa_check_status, status), NULL,
		"pass, warn, fail; unknown: not in the capture, or records are missing",
		.choice = status_choice},
	{"value", RATE(value), "unit", "the figure; null: not known"},
	{"unit", TEXT(unit), NULL, "of value and bounds: fraction, ns"},
	{"pass_bound", REAL(pass_bound), "unit", "passes below it, or from it on: at_least"},
	{"warn_bound", REAL(warn_bound), "unit", "fails beyond it"},
	{"at_least", FLAG(at_least), NULL, "larger values are better"},
	{"note", TEXT_OR_NULL(note), NULL,
		"what it is a figure of, or why it is not known; null: nothing to add"},
};
static const struct vpa_fields check =
	FIELDS("check", "a figure of the checklist, and its bounds", check_fields);
#undef ROW

static int has_loop(const struct vpa_at *at)
{
	return at->report->expert.loop.kind != NULL;
}

#define ROW struct vpa_check_loop
static const struct vpa_field loop_fields[] = {
	{"kind", TEXT(kind), NULL, "block, step, inferred step"},
	{"count", U64(count), "count", "measured blocks, or steps"},
	{"start_ns", U64(start_ns), "ns", "where it begins, on the trace clock"},
	{"end_ns", U64(end_ns), "ns", "where it ends"},
	{"span_ns", U64(span_ns), "ns", "time of its blocks or steps, one after the other"},
	{"busy_ns", U64(busy_ns), "ns", "busy time in it, summed over devices"},
	{"idle_ns", U64(idle_ns), "ns", "idle time in it, summed over devices"},
	{"blocking_calls", U64(blocking_calls), "calls",
		"calls that wait for a device and begin in it"},
	{"ops", U64(ops), "ops", "kernels, copies and memsets launched in it"},
	{"ops_count", U64(ops_count), "count", "steps, else blocks, that launched them"},
};
static const struct vpa_fields loop =
	FIELDS("loop", "what a pipeline spends its time in", loop_fields);
#undef ROW

#define ROW struct vpa_expert
static const struct vpa_field checks_fields[] = {
	{"loop", MEMBER(loop, loop), NULL, "null: no blocks or steps are known", .known = has_loop},
	{"checks", ROWS(check, checks, check_count), NULL, "none without GPU work"},
};
const struct vpa_fields vpa_fields_checks = FIELDS(
	"checklist", "the questions of diffusers' profiling guide, with answers", checks_fields);
#undef ROW
