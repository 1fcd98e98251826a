/* compare_fields.c - the keys of a comparison as JSON, "vptrace.compare/1", as tables of fields.h.
 *
 * Every difference is b - a; delta_ns of the parts and of the rows add up to the delta_ns above them. */
#include "analysis/compare/render/compare_pages.h"

#include "analysis/render/fields/fields.h"

/* ---- words ---- */

static VPA_NAMES(change_choice, vpa_change_name, VPA_CHANGES);

/* The kinds of unit, then "frame". */
static const char *unit_choice(size_t i)
{
	return i < VPA_UNIT_KINDS    ? vpa_unit_kind_name((enum vpa_unit_kind)i)
	       : i == VPA_UNIT_KINDS ? "frame"
				     : NULL;
}

VPA_NUMBER(unit_number, struct vpa_comparison,
	row->per_frame ? (uint64_t)VPA_UNIT_KINDS : (uint64_t)row->unit);
static VPA_NAMES(state_choice, vpa_row_state_name, VPA_ROW_STATES);

static const char *group_choice(size_t i)
{
	return vpa_count_group_name((enum vpa_count_group)i);
}

static VPA_WORDS(side_choice, "a", "b");
VPA_NUMBER(side_number, struct vpa_compared_finding, row->in_b != 0);
static VPA_WORDS(schema_choice, VPA_COMPARE_SCHEMA);

/* ---- the verdict ---- */

VPA_KNOWN(has_interval, struct vpa_comparison, row->level > 0);

#define ROW struct vpa_comparison
static const struct vpa_field verdict_fields[] = {
	{"change", CHOICE(vpa_verdict_change, verdict), NULL, "of B's time, beside A's",
		.choice = change_choice},
	{"unit", .look = VPA_LOOK_SINGLE | VPA_LOOK_UNIT, COMPUTED(CHOICE), NULL,
		"what is compared; frame: blocks with different numbers of frames",
		.number = unit_number, .choice = unit_choice},
	{"rate", TEXT(rate_name), NULL,
		"what a_rate and b_rate are: FPS, FPS end to end, denoise rate, blocks/s, "
		"instances/s ..."},
	{"a_rate", SHARE(a_rate), "1/s", "of the paired units of A"},
	{"b_rate", SHARE(b_rate), "1/s", "of the paired units of B"},
	{"a_fps_end_to_end", RATE(a_fps_end_to_end), "frames/s",
		"frames of all of A's requests, over their time; null: not known"},
	{"b_fps_end_to_end", RATE(b_fps_end_to_end), "frames/s", "the same of B; null: not known"},
	{"rate_change", SHARE(rate_change), "fraction", "change of the rate, of A's"},
	{"rate_change_low", SHARE(rate_low), "fraction",
		"lower end of its interval; null: there is none", .known = has_interval},
	{"rate_change_high", SHARE(rate_high), "fraction",
		"upper end of its interval; null: there is none", .known = has_interval},
	{"time_change", SHARE(time_change), "fraction", "change of a unit's time, of A's"},
	{"time_change_low", SHARE(time_low), "fraction",
		"lower end of its interval; null: there is none", .known = has_interval},
	{"time_change_high", SHARE(time_high), "fraction",
		"upper end of its interval; null: there is none", .known = has_interval},
	{"level", SHARE(level), "fraction",
		"probability that the interval covers the change; null: there is none",
		.known = has_interval},
	{"outliers", SIZE(outliers), "count",
		"units of both sides that the change and its interval leave out, the rates do not"},
	{"units_needed", SIZE(units_needed), "count",
		"units a side that it takes to tell a change from noise that changes slowly; 0: "
		"there are enough"},
	{"resembles", FLAG(resembles), NULL,
		"neighbouring units resemble each other, as with such noise"},
	{"detectable", RATE(detectable), "fraction",
		"smallest change that would show in four of five cases; null: not known"},
	{"a_noise", RATE(a_noise), "fraction",
		"standard deviation of A's units, of their mean; null: fewer than two"},
	{"b_noise", RATE(b_noise), "fraction", "the same of B's; null: fewer than two"},
	{"a_run_noise", RATE(a_run_noise), "fraction",
		"the same of the medians of A's runs; null: one run"},
	{"b_run_noise", RATE(b_run_noise), "fraction",
		"the same of the medians of B's runs; null: one run"},
	{"between_runs", FLAG(between_runs), NULL,
		"p and the interval are of a test between runs, else within these runs"},
	{"p", RATE(p), "probability", "of Mann and Whitney's test; null: no test between runs"},
	{"margin", SHARE(margin), "fraction", "changes up to this are no change"},
	{"pairs", SIZE(pairs), "count", "units that all captures have"},
	{"a_units", U64(a_units), "count", "units of all runs of A, paired or not"},
	{"b_units", U64(b_units), "count", "units of all runs of B, paired or not"},
	{"complete", FLAG(complete), NULL, "no capture lacks records"},
	{"notes", TEXTS(notes, note_count), NULL, "what limits the comparison, a sentence each"},
};
static TABLE(
	verdict, "compared_verdict", "which side is faster, and how sure that is", verdict_fields);
#undef ROW

#define ROW struct vpa_compared_fact
static const struct vpa_field fact_fields[] = {
	{"name", TEXT(name), NULL, "the fact, or its key in the metadata"},
	{"a", TEXT_OR_NULL(a), NULL, "of A; null: not recorded"},
	{"b", TEXT_OR_NULL(b), NULL, "of B; null: not recorded"},
	{"work", FLAG(is_work), NULL, "it changes the work itself: frames, steps, GPUs"},
};
static TABLE(fact, "compared_fact", "a fact of the set-up that differs", fact_fields);
#undef ROW

/* ---- accounts ---- */

#define ROW struct vpa_account_part
static const struct vpa_field times_fields[] = {
	{"a_ns", U64(a_ns), "ns", "total of A, over a_over units"},
	{"b_ns", U64(b_ns), "ns", "total of B, over b_over units"},
	{"delta_ns", CHANGE(delta_ns), "ns", "difference of the means of a unit", .head = "B - A"},
};
static TABLE(times, "compared_times", "totals, and the difference of their means", times_fields);
#undef ROW

VPA_KNOWN(part_has_host, struct vpa_compared_part, row->host != VPA_CAUSE_NOT_IDLE);
VPA_KNOWN(row_has_host, struct vpa_compared_row, row->host != VPA_CAUSE_NOT_IDLE);

#define ROW struct vpa_compared_part
static const struct vpa_field part_fields[] = {
	{"kind", .look = VPA_LOOK_SINGLE, CHOICE(vpa_block_part_kind, kind), NULL,
		"GPU busy, GPU idle, recording paused", .choice = vpa_part_choice},
	{"name", TEXT(name), NULL, "kernel family, cause of idle time; all: not divided"},
	{NULL, SAME(times, times), NULL, NULL},
	{"a_mean_ns", U64(a_mean_ns), "ns", "a_ns / a_over, rounded"},
	{"b_mean_ns", U64(b_mean_ns), "ns", "b_ns / b_over, rounded"},
	{"change", CHANGE_SHARE(share), "fraction", "delta_ns, of the whole mean unit of A"},
	{"host", CAUSE(host), NULL,
		"what the host did in this time, which counts to a wait that had held it before; "
		"null: all other time of the cause, or not known",
		.known = part_has_host},
	{"host_range", PLACE(host_place), NULL,
		"where it did most of that, on the side with more; null: none, or several"},
	{"host_call", TEXT_OR_NULL(host_call), NULL,
		"the CUDA call that it was in for most of that; null: none"},
	{"call", TEXT_OR_NULL(call), NULL,
		"the CUDA call that had held it before most of that; null: host is"},
};
static TABLE(part, "compared_part", "a part of the mean unit", part_fields);
#undef ROW

#define ROW struct vpa_comparison
static const struct vpa_field mean_fields[] = {
	{"a_over", U64(a_over), "count", "paired units (or frames) of A, times GPUs"},
	{"b_over", U64(b_over), "count", "the same of B"},
	{"a_ns", U64(a_total_ns), "ns", "time of A's paired units, times GPUs"},
	{"b_ns", U64(b_total_ns), "ns", "time of B's paired units, times GPUs"},
	{"delta_ns", CHANGE(delta_ns), "ns", "b_ns / b_over - a_ns / a_over, rounded",
		.head = "B - A"},
	{"busy_delta_ns", CHANGE(busy_delta_ns), "ns", "of delta_ns: GPU busy"},
	{"idle_delta_ns", CHANGE(idle_delta_ns), "ns", "of delta_ns: GPU idle"},
	{"parts", ROWS(part, parts, part_count), NULL,
		"by kind, then change, descending; their delta_ns add up to delta_ns"},
};
static TABLE(mean, "compared_mean", "why the mean unit takes longer", mean_fields);
#undef ROW

#define ROW struct vpa_compared_row
static const struct vpa_field row_fields[] = {
	{"kind", .look = VPA_LOOK_SINGLE, CHOICE(vpa_block_part_kind, kind), NULL,
		"busy: a kernel, copies, memsets; idle", .choice = vpa_part_choice},
	{"name", .look = VPA_LOOK_KERNEL, TEXT(name), NULL,
		"of the kernel; memcpy, memset; the cause of idle time"},
	{"family", .look = VPA_LOOK_SINGLE | VPA_LOOK_FAMILY, TEXT_OR_NULL(family), NULL,
		"the kernel's family; null: idle time"},
	{"range", PLACE(place), NULL,
		"the range around the idle time; null: none, or there is a host"},
	{"similar", U64(similar), "count",
		"further ranges in this row, which differ from range, or host_range, only in their "
		"numbers"},
	{"call", TEXT_OR_NULL(call), NULL, "the CUDA call that it waited for; null: none"},
	{"a_count", U64(a_count), "count", "calls or gaps in all runs of A"},
	{"b_count", U64(b_count), "count", "calls or gaps in all runs of B"},
	{NULL, SAME(times, times), NULL, NULL},
	{"state", .look = VPA_LOOK_SINGLE, CHOICE(vpa_row_state, state), NULL,
		"the sides that have it, new: only B; other shape: the mean grids differ",
		.choice = state_choice},
	{"a_per_unit", SHARE(a_per_unit), "count", "a_count per unit in A's windows",
		.head = "A count"},
	{"b_per_unit", SHARE(b_per_unit), "count", "b_count per unit in B's windows",
		.head = "B count"},
	{"a_mean_ns", U64(a_mean_ns), "ns", "a_ns / a_over, rounded"},
	{"b_mean_ns", U64(b_mean_ns), "ns", "b_ns / b_over, rounded"},
	{"change", CHANGE_SHARE(share), "fraction", "delta_ns, of A's windows per unit"},
	{"a_call_ns", KNOWN(a_call_ns), "ns", "a_ns / a_count, rounded; null: A has none"},
	{"b_call_ns", KNOWN(b_call_ns), "ns", "b_ns / b_count, rounded; null: B has none"},
	{"a_blocks_mean", POSITIVE(a_blocks), "blocks",
		"thread blocks of a kernel's grid, mean of A's calls; null: not known"},
	{"b_blocks_mean", POSITIVE(b_blocks), "blocks", "the same of B's; null: not known"},
	{"host", CAUSE(host), NULL,
		"what the host did in this time, which counts to a wait that had held it before; "
		"null: all other time of the cause there, or not known",
		.known = row_has_host},
	{"host_range", PLACE(host_place), NULL, "the range around that; null: none"},
	{"host_call", TEXT_OR_NULL(host_call), NULL,
		"the CUDA call that the host was in then; null: none"},
};
static TABLE(compared_row, "compared_row", "a kernel, copies, or idle time at a place", row_fields);
#undef ROW

#define ROW struct vpa_comparison
static const struct vpa_field window_fields[] = {
	{"a_over", U64(a_window_over), "count", "units in A's windows, times GPUs"},
	{"b_over", U64(b_window_over), "count", "units in B's windows, times GPUs"},
	{"delta_ns", CHANGE(window_delta_ns), "ns", "difference of the windows' time per unit",
		.head = "B - A"},
	{"a_lists_all_kernels", FLAG(a_lists_all), NULL, "A's reports list all of their kernels"},
	{"b_lists_all_kernels", FLAG(b_lists_all), NULL, "B's reports list all of their kernels"},
	{"rows", ROWS(compared_row, rows, row_count), NULL,
		"by change, descending; their delta_ns add up to delta_ns"},
};
static TABLE(window, "compared_window",
	"the whole windows by kernel and place of idle time, per unit", window_fields);
#undef ROW

#define ROW struct vpa_compared_line
static const struct vpa_field line_fields[] = {
	{"cause", .look = VPA_LOOK_SINGLE | VPA_LOOK_CAUSE, CAUSE(cause), NULL,
		"why the GPU was idle"},
	{"function", TEXT_OR_NULL(line.function), NULL,
		"name of the function; null: no line known"},
	{"file", TEXT_OR_NULL(line.file), NULL,
		"its file, as recorded; empty: built in; null: no line known"},
	{"line", KNOWN(line.number), "id", "number of the line; null: not known"},
	{NULL, SAME(times, times), NULL, NULL},
	{"a_mean_ns", U64(a_mean_ns), "ns", "a_ns / a_over, rounded"},
	{"b_mean_ns", U64(b_mean_ns), "ns", "b_ns / b_over, rounded"},
	{"a_samples", U64(a_samples), "samples", "of A at the line; 0: none, or exact stacks"},
	{"b_samples", U64(b_samples), "samples", "the same of B"},
	{"beyond_samples", FLAG(beyond_samples), NULL,
		"it changed by more than three standard errors of these numbers of samples; exact "
		"stacks: always"},
};
static TABLE(line, "compared_line", "idle time of one cause at one line of Python", line_fields);
#undef ROW

/* ---- tables ---- */

VPA_KNOWN(has_both_stages, struct vpa_compared_stage, row->a_ns > 0 && row->b_ns >= 0);

#define ROW struct vpa_compared_stage
static const struct vpa_field stage_fields[] = {
	{"name", TEXT_OR_NULL(name), NULL, "the stage; null: no name"},
	{"kind", .look = VPA_LOOK_SINGLE, TEXT_OR_NULL(kind), NULL,
		"stage, step, context ...; null: not known"},
	{"a_per_block", RATE(a_per_unit), "count", "instances per block of A; null: not known"},
	{"b_per_block", RATE(b_per_unit), "count", "instances per block of B; null: not known"},
	{"a_mean_ns", RATE(a_ns), "ns", "mean duration of an instance; null: A has none"},
	{"b_mean_ns", RATE(b_ns), "ns", "mean duration of an instance; null: B has none"},
	{"p_holm", RATE(p), "probability",
		"of the test between runs, after Holm; null: no such test", .head = "p (Holm)"},
	{"delta_ns", CHANGE_SHARE(delta_ns), "ns", "b_mean_ns - a_mean_ns; null: a side has none",
		.known = has_both_stages, .head = "B - A"},
	{"change", CHANGE_SHARE(change), "fraction",
		"delta_ns, of a_mean_ns; null: a side has none", .known = has_both_stages},
};
static TABLE(stage, "compared_stage", "a stage of the pipeline", stage_fields);
#undef ROW

VPA_KNOWN(has_count, struct vpa_compared_count, row->a > 0);

#define ROW struct vpa_compared_count
static const struct vpa_field count_fields[] = {
	{"group", .look = VPA_LOOK_SINGLE, .choice = group_choice, WORD(vpa_count_group, group),
		NULL, "events, copies, syncs, attention, gemm, graphs"},
	{"name", TEXT(name), NULL, "what is counted"},
	{"unit", .look = VPA_LOOK_SINGLE | VPA_LOOK_UNIT, TEXT(unit), NULL,
		"count, bytes, ns idle"},
	{"a", SHARE(a), "unit", "per unit in A's windows"},
	{"b", SHARE(b), "unit", "per unit in B's windows"},
	{"change", CHANGE_SHARE(change), "fraction", "b - a, of a; null: a is 0",
		.known = has_count},
};
static TABLE(counted, "compared_count", "a count per unit", count_fields);
#undef ROW

VPA_KNOWN(has_means, struct vpa_compared_counter, row->a_mean > 0 && row->b_mean >= 0);

#define ROW struct vpa_compared_counter
static const struct vpa_field counter_fields[] = {
	{"name", TEXT(name), NULL, "the series of samples"},
	{"unit", .look = VPA_LOOK_SINGLE | VPA_LOOK_UNIT, TEXT_OR_NULL(unit), NULL,
		"of the samples; null: none"},
	{"device", I64(device), "id", "CUDA's device number; -1: of none"},
	{"a_mean", RATE(a_mean), "unit", "mean of A's runs; null: A has none"},
	{"b_mean", RATE(b_mean), "unit", "mean of B's runs; null: B has none"},
	{"a_max", RATE(a_max), "unit", "maximum of A's runs; null: A has none"},
	{"b_max", RATE(b_max), "unit", "maximum of B's runs; null: B has none"},
	{"change", CHANGE_SHARE(change), "fraction", "of the means, of a_mean; null: not known",
		.known = has_means},
};
static TABLE(counter, "compared_counter", "samples: memory, clocks, power", counter_fields);
#undef ROW

#define ROW struct vpa_compared_finding
static const struct vpa_field finding_fields[] = {
	{"id", .look = VPA_LOOK_SINGLE | VPA_LOOK_ID, WORD(vpa_finding_id, id), NULL,
		"id of the finding, as in a report", .choice = vpa_finding_choice},
	{"title", TEXT(title), NULL, "the finding in one line"},
	{"only_in", .look = VPA_LOOK_SINGLE | VPA_LOOK_SIDE, COMPUTED(CHOICE), NULL,
		"the side that has it", .number = side_number, .choice = side_choice},
};
static TABLE(finding, "compared_finding", "a finding that only one side has", finding_fields);
#undef ROW

#define ROW struct vpa_compared_prediction
static const struct vpa_field prediction_fields[] = {
	{"titles", TEXTS(titles, finding_count), NULL,
		"findings of A that B lacks, each in one line"},
	{"ids", TEXTS(ids, id_count), NULL, "their ids"},
	{"change", TEXT(change), NULL, "what they ask for, as what-if --change takes it"},
	{"confidence", TEXT(confidence), NULL, "how far the prediction can be trusted"},
	{"unit", .look = VPA_LOOK_SINGLE | VPA_LOOK_UNIT, BASE(unit), NULL,
		"what the times are of: A's unit, the mean one"},
	{"recorded_ms", REAL(recorded_ms), "ms", "its length in A"},
	{"predicted_ms", REAL(predicted_ms), "ms", "in a replay of A with the change"},
	{"measured_ms", REAL(measured_ms), "ms", "in B"},
	{"error_percent", REAL(error_percent), "%", "predicted_ms beside measured_ms"},
	{"fps_predicted", POSITIVE(fps_predicted), "frames/s",
		"FPS in the replay; null: unavailable"},
	{"fps_measured", POSITIVE(fps_measured), "frames/s", "FPS of B; null: unavailable"},
};
static TABLE(prediction, "compared_prediction",
	"what was predicted for findings of A that B lacks, and what came", prediction_fields);
#undef ROW

/* ---- the whole ---- */

#define ROW struct vpa_comparison
static const struct vpa_field comparison_fields[] = {
	{"schema", COMPUTED(CHOICE), NULL, "name and version of this schema",
		.number = vpa_first_choice, .choice = schema_choice},
	{"a", TEXTS(a_paths, a.count), NULL, "the captures or reports of A"},
	{"b", TEXTS(b_paths, b.count), NULL, "the captures of B"},
	{"verdict", PART(verdict), NULL, "which side is faster, and how sure that is"},
	{"setup", ROWS(fact, facts, fact_count), NULL, "the facts of the set-up that differ"},
	{"mean", PART(mean), NULL, "the mean unit, by part"},
	{"stages", ROWS(stage, stages, stage_count), NULL, "in the pipeline's order"},
	{"window", PART(window), NULL, "the whole windows, by kernel and place of idle time"},
	{"lines", ROWS(line, lines, line_count), NULL,
		"idle time of the windows by line, by change, descending, with the units of "
		"window; they add up to all idle time; empty: a capture has no stacks"},
	{"counts", ROWS(counted, counts, count_count), NULL, "counts per unit in the windows"},
	{"counters", ROWS(counter, counters, counter_count), NULL, "series of samples"},
	{"findings", ROWS(finding, findings, finding_count), NULL,
		"findings that only one side has"},
	{"prediction", POINTER(prediction, prediction), NULL,
		"what was predicted, and what came; null: A has no finding with a change that B "
		"lacks, or no prediction"},
};
TABLE(vpa_fields_comparison, "comparison", "two sides of captures: every difference is b - a",
	comparison_fields);
#undef ROW

int vpa_compare_json(const struct vpa_comparison *c, struct vpt_sink *sink, struct vpt_err *err)
{
	const struct vpa_at whole = {NULL, c, NULL};

	return vpa_fields_json(&vpa_fields_comparison, &whole, sink, err);
}
