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
const struct vpa_fields vpa_fields_spread_values =
	FIELDS("spread_values", "percentiles and moments of durations", spread_values);

static const struct vpa_field spread[] = {
	{"count", U64(count), "count", "samples"},
	{"total_ns", U64(total_ns), "ns", "their sum"},
	{NULL, .type = VPA_FIELD_SAME, .fields = &vpa_fields_spread_values, .bytes = sizeof(ROW)},
};
const struct vpa_fields vpa_fields_spread = FIELDS("spread", "distribution of durations", spread);
#undef ROW

const char *vpa_cause_choice(size_t i)
{
	return i < VPA_CAUSES ? vpa_cause_text((enum vpa_cause)i) : NULL;
}

const char *vpa_part_choice(size_t i)
{
	static const char *const kinds[] = {
		[VPA_PART_BUSY] = "busy", [VPA_PART_IDLE] = "idle", [VPA_PART_PAUSED] = "paused"};

	return i < sizeof(kinds) / sizeof(kinds[0]) ? kinds[i] : NULL;
}

const char *vpa_scope_choice(size_t i)
{
	return i < VPA_SCOPE_KINDS ? vpa_scope_kind_name((enum vpa_scope_kind)i) : NULL;
}

const char *vpa_finding_status_choice(size_t i)
{
	static const char *const words[] = {[VPA_FINDING_INFO] = "info",
		[VPA_FINDING_WARN] = "warn",
		[VPA_FINDING_FAIL] = "fail"};

	return i < sizeof(words) / sizeof(words[0]) ? words[i] : NULL;
}

const char *vpa_finding_choice(size_t i)
{
	return i < VPA_FOUND_COUNT ? vpa_finding_text((enum vpa_finding_id)i) : NULL;
}

const char *vpa_family_choice(size_t i)
{
	return i < VPA_FAMILY_COUNT ? vpa_family_name((enum vpa_family)i) : NULL;
}

const char *vpa_backend_choice(size_t i)
{
	if (!i)
		return "-";
	return i < VPA_BACKENDS ? vpa_backend_name((enum vpa_backend)i) : NULL;
}

const char *vpa_precision_choice(size_t i)
{
	return i < VPA_PRECISIONS ? vpa_precision_name((enum vpa_precision)i) : NULL;
}

const char *vpa_base_choice(size_t i)
{
	return i < VPA_BASES ? vpa_base_name((enum vpa_base)i) : NULL;
}

uint64_t vpa_first_choice(const struct vpa_at *at)
{
	(void)at;
	return 0;
}
