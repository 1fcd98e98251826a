/* fields_steps.c - steps without blocks in the JSON report: marked ones, and those that nothing marks, inferred from
 * the kernel sequence. */
#include "analysis/render/fields/fields.h"

#define ROW struct vpa_inferred_step
static const struct vpa_field step_fields[] = {
	{"start_ns", U64(start_ns), "ns", "start of its first op, on the trace clock"},
	{"end_ns", U64(end_ns), "ns", "end of its last op"},
	{"period_ns", U64(period_ns), "ns",
		"start_ns to the start of the pass that follows directly, else to end_ns"},
	{"busy_ns", U64(busy_ns), "ns", "GPU busy time in the period, on all streams"},
	{"idle_ns", U64(idle_ns), "ns", "GPU idle time in the period"},
	{"followed", FLAG(followed), NULL, "a pass follows directly: period_ns is to its start"},
};
static const struct vpa_fields step = FIELDS("inferred_step", "an inferred step", step_fields);
#undef ROW

static const char *source_choice(size_t i)
{
	return i ? NULL : "inferred";
}

#define ROW struct vpa_inferred
static const struct vpa_field inferred_fields[] = {
	{"source", COMPUTED(CHOICE), NULL, "what makes these steps", .number = vpa_first_choice,
		.choice = source_choice},
	{"device", I64(device), "index", "CUDA ordinal"},
	{"stream", I64(stream), "index", "the stream whose ops show them: the busiest"},
	{"confidence", REAL(confidence), "fraction",
		"how likely these are the steps, and not layers or blocks; at least 0.8"},
	{"explained", REAL(explained), "fraction",
		"of the ops in the steps: explained by the repeating pattern"},
	{"count", SIZE(step_count), "count", "whole steps in the window"},
	{"period", SPREAD(period), NULL, "periods of the steps"},
	{"steps_per_s", RATE(steps_per_s), "steps/s", "1 / s_per_it; null: no time"},
	{"s_per_it", RATE(s_per_it), "s/step",
		"mean period of the steps that a pass follows directly; null: no time"},
	{"busy_ns", U64(busy_ns), "ns", "GPU busy time, added over the steps' periods"},
	{"idle_ns", U64(idle_ns), "ns", "GPU idle time, added over the steps' periods"},
	{"passes_per_step", UNSIGNED(passes_per_step), "count",
		"passes of the model in a step; 2 and more: guidance", .head = "passes a step"},
	{"layers", KNOWN_COUNT(layers), "count", "repetitions inside a pass; null: none found"},
	{"rows", KNOWN_COUNT(rows), "count",
		"rows of steps that follow each other, as those of blocks and requests; null: one, "
		"or "
		"they differ"},
	{"row_steps", KNOWN_COUNT(row_steps), "count", "steps in each row; null: as rows"},
	{"context_passes", SIZE(context_passes), "count",
		"passes of the model that are not steps: the scheduler does not follow them"},
	{"cut", SIZE(cut), "count",
		"passes left out: the window's edge or a pause cuts them, or the loop was left in "
		"them"},
	{"ops_left_out", U64(ops_left_out), "ops", "ops after the first 2,097,152, not examined"},
	{"series", ROWS(step, steps, step_count), NULL, "every step, by its start"},
	{"incomplete", FLAG(touched), NULL, "missing records may change these figures"},
};
const struct vpa_fields vpa_fields_inferred = FIELDS("inferred_steps",
	"steps of one GPU where nothing marks any, inferred from its kernel sequence",
	inferred_fields);
#undef ROW

#define ROW struct vpa_step_rival
static const struct vpa_field rival_fields[] = {
	{"count", U64(count), "count", "how often it occurs"},
	{"median_ns", U64(median_ns), "ns", "GPU time of one, the median"},
};
const struct vpa_fields vpa_fields_rival =
	FIELDS("step_rival", "a repetition that may be the steps, or not", rival_fields);
#undef ROW

/* ---- marked steps ---- */

#define ROW struct vpa_step_part
static const struct vpa_field period_fields[] = {
	{"request", U64(request), "index", "its request, among those with such steps"},
	{"order", NATURAL(order), "index",
		"its place among all steps of the request, by time, also those without a period; "
		"null: not "
		"known"},
	{"start_ns", U64(start_ns), "ns", "start of its first op, on the trace clock"},
	{"period_ns", U64(period_ns), "ns",
		"to the start of the next one's first op, in its block or request"},
	{"busy_ns", U64(busy_ns), "ns", "GPU busy time in the period, summed over devices"},
	{"idle_ns", U64(idle_ns), "ns", "GPU idle time in the period, summed over devices"},
	{"paused_ns", U64(paused_ns), "ns", "of period_ns * devices: recording was paused"},
	{"devices", UNSIGNED(devices), "count", "devices of the sums"},
};
static const struct vpa_fields period = FIELDS(
	"step_period", "from a marked step to the next in its block or request", period_fields);
#undef ROW

#define ROW struct vpa_report
static const struct vpa_field marked_fields[] = {
	{"iterations", FLAG(steps_are_iterations), NULL,
		"they are iterations, since no steps are marked"},
	{"count", U64(steps_marked), "count", "such steps in the window"},
	{"parts", ROWS(vpa_fields_block_part, step_totals.parts, step_totals.part_count), NULL,
		"all periods of series by part; by kind, then time, descending"},
	{"series", ROWS(period, step_parts, step_part_count), NULL,
		"periods by request, then time; at most 4,096"},
};
const struct vpa_fields vpa_fields_marked =
	FIELDS("marked_steps", "the periods of marked steps, without blocks", marked_fields);
#undef ROW
