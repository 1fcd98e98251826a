/* fields_counters.c - the JSON report: series of samples, by stage, and energy. */
#include "analysis/render/fields/fields.h"

static const char mean_help[] = "mean of its samples or by time, see mean_of",
		  mean_of_help[] =
			  "\"time\": its unit is one of bytes, shares, rates, power, temperature "
			  "or clocks; \"samples\": any other unit, none, or no time is covered",
		  by_time_help[] = "mean by time; null: over no time",
		  p95_help[] = "value that 95 % of the same samples or time do not exceed";

static VPA_WORDS(mean_of_choice, [VPA_MEAN_OF_TIME] = "time", [VPA_MEAN_OF_SAMPLES] = "samples");

#define ROW struct vpa_counter_part
VPA_KNOWN(part_has_time, ROW, row->covered_ns != 0);

static const struct vpa_field part_fields[] = {
	{"name", TEXT(name), NULL, "the stage; the kind where that is the name"},
	{"kind", .look = VPA_LOOK_SINGLE, SCOPE(kind), NULL,
		"stage, request, block, step or context"},
	{"samples", U64(samples), "samples", "samples in it"},
	{"covered_ns", U64(covered_ns), "ns", "its time for which there is a value"},
	{"min", REAL(min), "value", "smallest value, in the series' unit"},
	{"mean", REAL(mean), "value", mean_help},
	{"mean_of", WORD(vpa_mean_of, mean_of), NULL, mean_of_help, .choice = mean_of_choice},
	{"mean_by_time", REAL(mean_by_time), "value", by_time_help, .known = part_has_time},
	{"p95", REAL(p95), "value", p95_help},
	{"max", REAL(max), "value", "largest value"},
	{"energy_wh", RATE(energy_wh), "Wh",
		"energy; null: no power, or samples cover less than 95 % of the time"},
};
static TABLE(part, "counter_stage",
	"a series in one stage: of a GPU while that worked for it, else while its range was open",
	part_fields);
#undef ROW

#define ROW struct vpa_block_energy
static const struct vpa_field block_fields[] = {
	{"index", NATURAL(index), "id", "of the block in its request; null: not given"},
	{"energy_wh", RATE(energy_wh), "Wh", "energy of its period; null: samples do not cover it"},
};
static TABLE(block, "block_energy", "energy of a block, in the order of the request's series",
	block_fields);
#undef ROW

#define ROW struct vpa_request_energy
static const struct vpa_field request_fields[] = {
	{"request", U64(request), "id", "index in requests, from 0"},
	{"energy_wh", RATE(energy_wh), "Wh",
		"energy from its start to its end; null: samples do not cover it"},
	{"energy_per_frame_wh", RATE(per_frame_wh), "Wh",
		"the same for each of its frames; null: frames or energy are not known"},
	{"energy_per_block_wh", RATE(per_block_wh), "Wh",
		"mean energy of a measured block's period; null: not known"},
	{"energy_per_block_frame_wh", RATE(per_block_frame_wh), "Wh",
		"the same for each frame of the measured blocks; null: not known"},
	{"blocks", ROWS(block, blocks, block_count), NULL, "its blocks"},
};
static TABLE(request, "request_energy", "energy of a request and its blocks", request_fields);
#undef ROW

#define ROW struct vpa_clock_reason
static const struct vpa_field reason_fields[] = {
	{"reason", TEXT(reason), NULL, "what limited the clocks: \"power cap\" ..."},
	{"ns", .head = "time", U64(ns), "ns", "for how long"},
};
static TABLE(reason, "clock_reason", "a reason for clocks below the maximum", reason_fields);
#undef ROW

#define ROW struct vpa_counter
VPA_KNOWN(has_time, ROW, row->covered_ns != 0);
VPA_KNOWN(is_of_loop, ROW, row->has_loop);

static const struct vpa_field counter_fields[] = {
	{"name", TEXT(name), NULL, "name of the series"},
	{"unit", .look = VPA_LOOK_SINGLE | VPA_LOOK_UNIT, TEXT(unit), NULL,
		"its unit; empty: none"},
	{"device", KNOWN_GPU(device), "id", "CUDA's device number; null: of no GPU"},
	{"samples", U64(samples), "samples", "samples in the window"},
	{"covered_ns", U64(covered_ns), "ns", "time of the window for which there is a value"},
	{"min", REAL(min), "value", "smallest value"},
	{"mean", REAL(mean), "value", mean_help},
	{"mean_of", WORD(vpa_mean_of, mean_of), NULL, mean_of_help, .choice = mean_of_choice},
	{"mean_by_time", REAL(mean_by_time), "value", by_time_help, .known = has_time},
	{"p95", REAL(p95), "value", p95_help},
	{"max", REAL(max), "value", "largest value"},
	{"energy_wh", RATE(energy_wh), "Wh", "energy over covered_ns; null: no power"},
	{"stages", ROWS(part, parts, part_count), NULL, "the series by stage"},
	{"requests", ROWS(request, requests, request_count), NULL,
		"energy by request; empty: no power"},
	{"awake_ns", KNOWN(awake_ns), "ns",
		"of clock reasons: time in which the GPU was not idle; null: other series"},
	{"limited_ns", KNOWN(limited_ns), "ns",
		"of it: something limited the clocks; null: nothing did"},
	{"reasons", ROWS(reason, reasons, reason_count), NULL,
		"what limited the clocks, by time, descending"},
	{"limited_mhz", POSITIVE(limited_mhz), "MHz",
		"mean SM clock of that time; null: not known"},
	{"highest_mhz", POSITIVE(highest_mhz), "MHz", "highest SM clock seen; null: not known"},
	{"loop_from", REAL(loop_from), "value",
		"of bytes: at the end of the first block or step of the loop; null: no loop",
		.known = is_of_loop},
	{"loop_to", REAL(loop_to), "value",
		"the same at the end of the last: their difference is the growth over the loop; "
		"null: no loop",
		.known = is_of_loop},
};
TABLE(vpa_fields_counter, "counter", "a series of samples", counter_fields);
#undef ROW

/* ---- what people see of these rows ---- */

const struct vpa_view vpa_views_counters[] = {
	{"counters", "Series",
		.first = "name unit device samples min mean mean_of p95 max energy_wh",
		VPA_TEXT_COLUMNS({"min", .key = "min", .drop = 3}, {"mean", .key = "mean"},
			{"p95", .key = "p95", .drop = 2}, {"max", .key = "max"},
			{"samples", .key = "samples", .drop = 1})},
	{.path = NULL},
};
