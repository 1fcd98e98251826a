/* fields.c - shared by many objects of the JSON report: spreads of durations, and names. */
#include "analysis/render/fields/fields.h"

#define ROW struct vpa_durations
static const struct vpa_field spread_values[] = {
	{"p50_ns", U64(p50_ns), "ns", "median, nearest rank"},
	{"p90_ns", U64(p90_ns), "ns", "90th percentile, nearest rank"},
	{"p95_ns", U64(p95_ns), "ns", "95th percentile, nearest rank"},
	{"p99_ns", U64(p99_ns), "ns", "99th percentile, nearest rank"},
	{"min_ns", U64(min_ns), "ns", "the shortest"},
	{"max_ns", U64(max_ns), "ns", "the longest"},
	{"mean_ns", REAL(mean_ns), "ns", "mean"},
	{"deviation_ns", REAL(deviation_ns), "ns", "population standard deviation"},
	{"approximate", FLAG(approximate), NULL,
		"percentiles are up to 1 % off: there are more than 4,096 samples"},
};
TABLE(vpa_fields_spread_values, "spread_values", "percentiles and moments of durations",
	spread_values);

static const struct vpa_field spread[] = {
	{"count", U64(count), "count", "samples"},
	{"total_ns", U64(total_ns), "ns", "their sum"},
	{NULL, .type = VPA_FIELD_SAME, .fields = &vpa_fields_spread_values, .bytes = sizeof(ROW)},
};
TABLE(vpa_fields_spread, "spread", "distribution of durations", spread);
#undef ROW

VPA_NAMES(vpa_cause_choice, vpa_cause_text, VPA_CAUSES);
VPA_WORDS(vpa_part_choice, [VPA_PART_BUSY] = "busy", [VPA_PART_IDLE] = "idle",
	[VPA_PART_PAUSED] = "paused");
VPA_NAMES(vpa_scope_choice, vpa_scope_kind_name, VPA_SCOPE_KINDS);
VPA_WORDS(vpa_finding_status_choice, [VPA_FINDING_INFO] = "info", [VPA_FINDING_WARN] = "warn",
	[VPA_FINDING_FAIL] = "fail");
VPA_NAMES(vpa_finding_choice, vpa_finding_text, VPA_FOUND_COUNT);
VPA_NAMES(vpa_family_choice, vpa_family_name, VPA_FAMILY_COUNT);

const char *vpa_backend_choice(size_t i)
{
	if (!i)
		return "-";
	return i < VPA_BACKENDS ? vpa_backend_name((enum vpa_backend)i) : NULL;
}

VPA_NAMES(vpa_precision_choice, vpa_precision_name, VPA_PRECISIONS);
VPA_NAMES(vpa_base_choice, vpa_base_name, VPA_BASES);

uint64_t vpa_first_choice(const struct vpa_at *at)
{
	(void)at;
	return 0;
}
