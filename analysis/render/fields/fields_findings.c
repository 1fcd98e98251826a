/* fields_findings.c - conclusions, and what a replay with their changes predicts. */
#include "analysis/render/fields/fields.h"

/* ---- findings ---- */

#define ROW struct vpa_finding
static const struct vpa_field finding_fields[] = {
	{"id", .look = VPA_LOOK_SINGLE | VPA_LOOK_ID, WORD(vpa_finding_id, id), NULL,
		"id of what was found, which does not change: \"sync-drain\" ...",
		.choice = vpa_finding_choice},
	{"title", TEXT(title), NULL, "what to change, in one line"},
	{"measured", TEXT_OR_NULL(measured), NULL, "what was measured; null: nothing to add"},
	{"threshold", TEXT_OR_NULL(threshold), NULL,
		"threshold from which it is listed; null: always listed"},
	{"gain_at_most_ms", POSITIVE(gain_at_most_ms), "ms",
		"the most it could save, if nothing else becomes the bottleneck; null: no time"},
	{"evidence", TEXTS(evidence, evidence_count), NULL,
		"ids of the text report's rows (S1, G4, K1) and names"},
	{"status", .look = VPA_LOOK_STATUS, WORD(vpa_finding_status, status), NULL,
		"fail, warn or info", .choice = vpa_finding_status_choice},
	{"caveat", TEXT_OR_NULL(caveat), NULL, "what the gain assumes; null: nothing more"},
	{"gain_shared_ms", POSITIVE(gain_shared_ms), "ms",
		"part of the gain that other findings claim too; null: none"},
	{"gain_from_ms", POSITIVE(gain_from_ms), "ms",
		"lower end of the gain; null: the gain is one number"},
	{"base", BASE_OR_NULL(base), NULL,
		"what base_gain_ms is a part of: the report's unit (the mean one, or the only "
		"one), which is a block, request, step, iteration, inferred step or instance of a "
		"range; where the gain lies outside, active or idle time; null: no gain"},
	{"base_ms", POSITIVE(base_ms), "ms",
		"length of the base: of steps from one to the next, of the only one from its "
		"range's start; null: no gain"},
	{"base_gain_ms", POSITIVE(base_gain_ms), "ms", "the gain in the base; null: no gain"},
	{"base_gain_from_ms", POSITIVE(base_gain_from_ms), "ms",
		"lower end of base_gain_ms; null: it is one number"},
	{"base_likely_ms", POSITIVE(base_likely_ms), "ms",
		"what findings are ordered by: of host code what half of it would save in the "
		"base, of a range its middle, else base_gain_ms; null: no gain"},
	{"fps_from", POSITIVE(fps_from), "frames/s",
		"steady FPS as measured, of a request end to end; null: unavailable"},
	{"fps_to", POSITIVE(fps_to), "frames/s", "the same with the full gain; null: unavailable"},
	{"steps_per_s_from", POSITIVE(steps_per_s_from), "steps/s",
		"steps or iterations per second as measured; null: base is neither, or the only "
		"step"},
	{"steps_per_s_to", POSITIVE(steps_per_s_to), "steps/s",
		"the same with the full gain; null: as before"},
	{"adds_ms", POSITIVE(adds_ms), "ms",
		"part of gain_at_most_ms that no finding before it may save too, which no two of "
		"them claim; null: nothing"},
	{"instead_of", WORD_OR_NULL(vpa_finding_id, instead_of), NULL,
		"id of the finding before it that may save most of the rest; null: none",
		.choice = vpa_finding_choice},
	{"note", TEXT_OR_NULL(note), NULL, "where most of it lies; null: nothing to add"},
	{"incomplete", FLAG(touched), NULL, "missing records may change these figures"},
	{"host_code_ms", POSITIVE(host_code_ms), "ms",
		"of the idle time that a wait is to blame for: the host ran its own code after it, "
		"and less of that would save the same time; null: none"},
	{"change", TEXT_OR_NULL(change), NULL,
		"the change that it asks for, as what-if --change takes it; null: there is none"},
	{"predicted_ms", POSITIVE(predicted_ms), "ms",
		"length of the base if the trace is replayed with the change; null: no prediction"},
	{"fps_predicted", POSITIVE(fps_predicted), "frames/s",
		"the FPS of fps_from with the change; null: no prediction"},
	{"steps_per_s_predicted", POSITIVE(steps_per_s_predicted), "steps/s",
		"the rate of steps_per_s_from with the change; null: no prediction"},
	{"predicted_at_least", FLAG(predicted_at_least), NULL,
		"the change leaves out a part of the repair, whose effect the trace does not tell: "
		"the repair brings as much as predicted, or more"},
};
TABLE(vpa_fields_finding, "finding", "a conclusion, with its evidence", finding_fields);
#undef ROW

/* ---- forecast ---- */

static VPA_NAMES(confidence_choice, vpa_confidence_word, VPA_CONFIDENCES);
VPA_NUMBER(confidence, struct vpa_forecast, row->confidence);
VPA_KNOWN(is_replayed, struct vpa_forecast_stage, row->is_replayed);

#define ROW struct vpa_forecast_stage
static const struct vpa_field forecast_stage_fields[] = {
	{"name", TEXT_OR_NULL(name), NULL,
		"name of the stage, one that is in no other one; null: the time between stages' "
		"ops"},
	{"host_ms", REAL(host_ms), "ms",
		"its part of the host's pace: of the forecast's host_ms; null: no replayed part of "
		"the trace has it",
		.known = is_replayed},
	{"recorded_ms", REAL(recorded_ms), "ms",
		"its part of the forecast's base_ms; null: as before", .known = is_replayed},
	{"predicted_ms", REAL(predicted_ms), "ms",
		"the same with the changes of all findings, or of the only one that has any; "
		"without, as recorded; null: as before",
		.known = is_replayed},
};
static TABLE(forecast_stage, "forecast_stage", "a part of the mean block or request",
	forecast_stage_fields);
#undef ROW

#define ROW struct vpa_forecast
static const struct vpa_field forecast_fields[] = {
	{"confidence", COMPUTED(CHOICE), NULL, "how far predictions can be trusted",
		.number = confidence, .choice = confidence_choice},
	{"why_not", TEXT_OR_NULL(why_not), NULL, "why there are none; null: there are"},
	{"base", BASE_OR_NULL(base), NULL,
		"what the paces are of: the report's unit, the mean one, or active, the time from "
		"the first op to the last; null: no forecast"},
	{"base_ms", POSITIVE(base_ms), "ms", "its length; null: no forecast"},
	{"host_ms", POSITIVE(host_ms), "ms",
		"the host's pace: its length if no op took time; null: no forecast"},
	{"gpu_ms", POSITIVE(gpu_ms), "ms",
		"the GPUs' pace: its length if the host took no time and waited for nothing; null: "
		"no forecast"},
	{"unexplained_share", SHARE(unexplained_share), "fraction",
		"delay of ops for which no reason is known, of the time from the first op to the "
		"last; may exceed 1"},
	{"inferred_share", SHARE(inferred_share), "fraction",
		"the same for delay whose reason was inferred"},
	{"handed_over_share", SHARE(handed_over_share), "fraction",
		"the same for host code that is taken to wait for a call of another thread"},
	{"replayed_share", SHARE(replayed_share), "fraction",
		"of the trace: of a large one only parts are replayed, spread evenly"},
	{"without_call_share", SHARE(without_call_share), "fraction",
		"ops whose launch is not known: no change of the host moves them"},
	{"all_count", SIZE(all_count), "findings",
		"findings with a prediction, whose changes are made together"},
	{"all_ms", POSITIVE(all_ms), "ms", "the base with all of them; null: fewer than two"},
	{"all_fps", POSITIVE(all_fps), "frames/s", "FPS with all of them; null: unavailable"},
	{"all_steps_per_s", POSITIVE(all_steps_per_s), "steps/s",
		"steps or iterations per second with all of them; null: unavailable"},
	{"all_at_least", FLAG(all_at_least), NULL,
		"one of them brings as much as predicted, or more"},
	{"stages", ROWS(forecast_stage, stages, stage_count), NULL,
		"what the mean block or request is made of, in order; the times add up; empty: "
		"stages overlap, or there are none"},
};
TABLE(vpa_fields_forecast, "forecast",
	"what a replay of the trace says; the predictions are in the findings", forecast_fields);
#undef ROW
