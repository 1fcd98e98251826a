/* fields_steps.c - steps in the JSON report: marked ones without blocks, those that nothing marks, inferred from the kernel
 * sequence, and what kinds of them there are. */
#include "analysis/render/fields/fields.h"

#define ROW struct vpa_inferred_step
static const struct vpa_field step_fields[] = {
	{"start_ns", .look = VPA_LOOK_MOMENT, U64(start_ns), "ns",
		"start of its first op, on the trace clock"},
	{"end_ns", .look = VPA_LOOK_MOMENT, U64(end_ns), "ns", "end of its last op"},
	{"period_ns", U64(period_ns), "ns",
		"start_ns to the start of the pass that follows directly, else to end_ns"},
	{"busy_ns", U64(busy_ns), "ns", "GPU busy time in the period, on all streams"},
	{"idle_ns", U64(idle_ns), "ns", "GPU idle time in the period"},
	{"followed", FLAG(followed), NULL,
		"a pass follows directly: period_ns is to its start; false also of a first step "
		"left out"},
};
static TABLE(step, "inferred_step", "an inferred step", step_fields);
#undef ROW

static VPA_WORDS(source_choice, "inferred");

#define ROW struct vpa_inferred
static const struct vpa_field inferred_fields[] = {
	{"source", .look = VPA_LOOK_SINGLE, COMPUTED(CHOICE), NULL, "what makes these steps",
		.number = vpa_first_choice, .choice = source_choice},
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
	{"left_first_ns", KNOWN(left_first_ns), "ns",
		"period of the first step, if it is unlike all others: s_per_it is without it; "
		"null: it counts"},
	{"busy_ns", U64(busy_ns), "ns", "GPU busy time, added over the steps' periods"},
	{"idle_ns", U64(idle_ns), "ns", "GPU idle time, added over the steps' periods"},
	{"passes_per_step", UNSIGNED(passes_per_step), "count",
		"passes of the model in a step; 2 and more: guidance", .head = "passes a step"},
	{"layers", KNOWN_COUNT(layers), "count", "repetitions inside a pass; null: none found"},
	{"rows", KNOWN_COUNT(rows), "count",
		"rows of steps that follow each other, as those of blocks and requests; null: one, "
		"or they differ"},
	{"row_steps", KNOWN_COUNT(row_steps), "count", "steps in each row; null: as rows"},
	{"rounds", SIZE(round_count), "count",
		"rounds: a row of steps and what comes before the next row; not the same as rows "
		"where the first is cut"},
	{"round_steps", KNOWN_COUNT(round_steps), "count",
		"steps in each round; null: there are no rounds"},
	{"round_step_ns", KNOWN(round_step_ns), "ns",
		"median period of these steps; their GPU time where they are not known one by "
		"one; null: as round_steps"},
	{"round_left_first_ns", KNOWN(round_left_first_ns), "ns",
		"period of the first round, if it is unlike all others; null: it counts"},
	{"context_passes", SIZE(context_passes), "count",
		"passes of the model that are not steps: the scheduler does not follow them"},
	{"cut", SIZE(cut), "count",
		"passes left out: the window's edge or a pause cuts them, or the loop was left in "
		"them"},
	{"ops_left_out", U64(ops_left_out), "ops", "ops after the first 2,097,152, not examined"},
	{"series", ROWS(step, steps, step_count), NULL, "every step, by its start"},
	{"round_series", ROWS(step, rounds, round_count), NULL, "every round, by its start"},
	{"incomplete", FLAG(touched), NULL, "missing records may change these figures"},
};
TABLE(vpa_fields_inferred, "inferred_steps",
	"steps of one GPU where nothing marks any, inferred from its kernel sequence",
	inferred_fields);
#undef ROW

#define ROW struct vpa_step_rival
static const struct vpa_field rival_fields[] = {
	{"count", U64(count), "count", "how often it occurs"},
	{"median_ns", U64(median_ns), "ns", "GPU time of one, the median"},
};
TABLE(vpa_fields_rival, "step_rival", "a repetition that may be the steps, or not", rival_fields);
#undef ROW

/* ---- marked steps ---- */

#define ROW struct vpa_step_part
static const struct vpa_field period_fields[] = {
	{"request", U64(request), "index", "its request, among those with such steps"},
	{"order", NATURAL(order), "index",
		"its place among all steps of the request, by time, also those without a period; "
		"null: not known"},
	{"start_ns", .look = VPA_LOOK_MOMENT, U64(start_ns), "ns",
		"start of its first op, on the trace clock"},
	{"period_ns", U64(period_ns), "ns",
		"to the start of the next one's first op, in its block or request; of a last "
		"iteration that counts, to its last op's end"},
	{"busy_ns", U64(busy_ns), "ns", "GPU busy time in the period, summed over devices"},
	{"idle_ns", U64(idle_ns), "ns", "GPU idle time in the period, summed over devices"},
	{"paused_ns", U64(paused_ns), "ns", "of period_ns * devices: recording was paused"},
	{"devices", UNSIGNED(devices), "count", "devices of the sums"},
};
static TABLE(period, "step_period", "from a marked step to the next in its block or request",
	period_fields);
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
	{"iterations_per_cycle", KNOWN(iterations_per_cycle), "count",
		"N, if the optimizer runs in every N-th iteration, or every N-th takes far longer "
		"than the others: RESULT has the mean of whole cycles; null: there are none"},
};
TABLE(vpa_fields_marked, "marked_steps", "the periods of marked steps, without blocks",
	marked_fields);
#undef ROW

/* ---- steps by their kernels ---- */

static VPA_WORDS(role_choice, [VPA_STEP_FULL] = "full", [VPA_STEP_FEWER] = "fewer",
	[VPA_STEP_HALF] = "half", [VPA_STEP_OTHER] = "other");
VPA_NUMBER(mean_step_ns, struct vpa_step_kind, row->steps ? row->total_ns / row->steps : 0);

#define ROW struct vpa_step_kind
static const struct vpa_field step_kind_fields[] = {
	{"role", .look = VPA_LOOK_SINGLE, CHOICE(vpa_step_role, role), NULL,
		"full: runs most; fewer: two steps or more with at most 4/5 of its kernels, "
		"mostly the same ones; half: one of its halves; other",
		.choice = role_choice},
	{"first", U64(first), "index", "its first step, counted from 0 in order of their ends"},
	{"steps", U64(steps), "count", "steps that run these kernels with these grids"},
	{"ops", U64(ops), "ops", "kernels, copies and memsets of each step"},
	{"of_full", RATE(of_full), "fraction",
		"ops of those of a full step; null: no kind is frequent enough",
		.head = "ops of a full step"},
	{"mean_ns", COMPUTED(U64), "ns", "mean, from first op's start to last op's end",
		.number = mean_step_ns},
	{"total_ns", U64(total_ns), "ns", "the same, of all its steps together"},
	{"half_ops", KNOWN(half_ops), "ops",
		"of the half that repeats the other half; null: none does"},
	{"second_half_ns", U64(second_ns), "ns", "time of the second halves of all its steps",
		.head = "second halves"},
	{"saved_ns", U64(saved_ns), "ns",
		"role fewer: by how much as many full steps would take longer; else 0"},
};
static TABLE(step_kind, "step_kind", "steps that run the same kernels", step_kind_fields);
#undef ROW

static VPA_WORDS(steps_source_choice, [VPA_STEPS_UNKNOWN] = "unknown",
	[VPA_STEPS_MARKED] = "marked", [VPA_STEPS_INFERRED] = "inferred");

#define ROW struct vpa_step_kinds
static const struct vpa_field step_kinds_fields[] = {
	{"source", .look = VPA_LOOK_SINGLE, .choice = steps_source_choice,
		WORD(vpa_steps_source, source), NULL,
		"marked: ranges or marks; inferred: see steps_inferred"},
	{"steps", U64(steps), "count", "steps that were compared"},
	{"distinct", SIZE(distinct), "count", "different kinds among them"},
	{"left_out", U64(left_out), "count", "steps of kinds after the first 4,096"},
	{"total_ns", U64(total_ns), "ns", "time of all steps, each from first to last op"},
	{"full_ops", KNOWN(full_ops), "ops",
		"of a full step; null: no kind has two steps and a twentieth of all"},
	{"fewer", U64(fewer), "count", "steps of role fewer: a step cache?"},
	{"saved_ns", U64(saved_ns), "ns", "by how much as many full steps would take longer"},
	{"paired", U64(paired), "count", "steps whose halves repeat each other: guidance?"},
	{"second_half_ns", U64(second_ns), "ns", "time of their second halves"},
	{"kinds", ROWS(step_kind, rows, row_count), NULL, "at most --top; by total_ns, descending"},
};
TABLE(vpa_fields_step_kinds, "step_kinds", "denoising steps by the kernels that they run",
	step_kinds_fields);
#undef ROW
