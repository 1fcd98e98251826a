/* what_if_fields.c - the keys of an answer as JSON, "vptrace.what-if/1", as tables of fields.h. */
#include "analysis/retime/what_if/what_if_pages.h"

#include "analysis/render/fields/fields.h"

static VPA_WORDS(schema_choice, VPA_WHAT_IF_SCHEMA);

#define ROW struct vpa_what_if_change
static const struct vpa_field change_fields[] = {
	{"change", TEXT(text), NULL, "the change, as it was given"},
	{"hits", U64(hits), "calls or ops", "how many calls or ops it changes; 0: none is meant"},
};
static TABLE(change, "change", "a change of the program", change_fields);
#undef ROW

VPA_KNOWN(is_measured, struct vpa_what_if_row, row->measured_ms > 0);

#define ROW struct vpa_what_if_row
static const struct vpa_field row_fields[] = {
	{"unit", BASE(unit), NULL,
		"the report's unit: block, request, step, iteration, inferred step or instance; "
		"active: the time from the first op to the last"},
	{"number", NATURAL(number), "index", "its number in its request; null: the mean one"},
	{"recorded_ms", REAL(recorded_ms), "ms", "its length as recorded"},
	{"predicted_ms", REAL(predicted_ms), "ms", "with the changes"},
	{"measured_ms", POSITIVE(measured_ms), "ms",
		"in the trace of --check; null: none, or it has no such unit"},
	{"error_percent", REAL(error_percent), "%",
		"predicted_ms beside measured_ms; null: not measured", .known = is_measured},
	{"fps_recorded", POSITIVE(fps_recorded), "frames/s", "FPS as recorded; null: unavailable"},
	{"fps_predicted", POSITIVE(fps_predicted), "frames/s", "with the changes; null: as before"},
	{"fps_measured", POSITIVE(fps_measured), "frames/s", "in the trace of --check; null: none"},
	{"steps_per_s_recorded", POSITIVE(steps_per_s_recorded), "steps/s",
		"steps or iterations per second as recorded; null: unavailable"},
	{"steps_per_s_predicted", POSITIVE(steps_per_s_predicted), "steps/s",
		"with the changes; null: as before"},
	{"steps_per_s_measured", POSITIVE(steps_per_s_measured), "steps/s",
		"in the trace of --check; null: none"},
};
static TABLE(unit_row, "unit", "a unit as recorded and as predicted", row_fields);
#undef ROW

static VPA_NAMES(part_kind_choice, vpa_part_kind_name, VPA_PART_KINDS);
VPA_KNOWN(is_part_checked, struct vpa_what_if_part, row->measured_ms > 0 && row->predicted_ms > 0);

#define ROW struct vpa_what_if_part
static const struct vpa_field part_fields[] = {
	{"kind", CHOICE(vpa_part_kind, kind), NULL,
		"stage, or context, the pass that writes the KV cache: from its first op's start "
		"to its last op's end; step: to the next one's start",
		.choice = part_kind_choice},
	{"name", TEXT(name), NULL, "name of the stage; step or iteration"},
	{"number", NATURAL(number), "index",
		"of a step in its block, from 0, without those that the changes remove; null: the "
		"mean of all"},
	{"instances", U64(instances), "count", "that the predicted mean is of"},
	{"recorded_ms", REAL(recorded_ms), "ms", "mean length as recorded, without warm-up blocks"},
	{"predicted_ms", POSITIVE(predicted_ms), "ms", "with the changes; null: they remove it"},
	{"measured_ms", POSITIVE(measured_ms), "ms",
		"in the trace of --check; null: none, or it has no such part"},
	{"error_percent", REAL(error_percent), "%",
		"predicted_ms beside measured_ms; null: not measured", .known = is_part_checked},
};
static TABLE(part, "part", "a stage or step as recorded and as predicted", part_fields);
#undef ROW

#define ROW struct vpa_what_if
static const struct vpa_field what_if_fields[] = {
	{"schema", COMPUTED(CHOICE), NULL, "name and version of this schema",
		.number = vpa_first_choice, .choice = schema_choice},
	{"path", TEXT_OR_NULL(path), NULL, "path of the trace, as given; null: none"},
	{"simulated", KNOWN_FLAG(simulated), NULL,
		"no GPU ran: a stand-in made up every device time; null: not known"},
	{"check", TEXT_OR_NULL(other), NULL, "path of the trace of --check; null: none"},
	{"changes", ROWS(change, changes, change_count), NULL,
		"in order; later ones see earlier ones"},
	{"units", ROWS(unit_row, rows, row_count), NULL, "the mean unit, then measured blocks"},
	{"forecast", MEMBER(vpa_fields_forecast, forecast), NULL,
		"two paces, and how far predictions can be trusted"},
	{"parts", ROWS(part, parts, part_count), NULL, "stages and steps"},
	{"parts_left_out", TEXTS(parts_left_out, parts_left_out_count), NULL,
		"stages and steps that overlap others, or have too many instances"},
};
TABLE(vpa_fields_what_if, "what_if", "what changes of the program would bring", what_if_fields);
#undef ROW

int vpa_what_if_json(const struct vpa_what_if *w, struct vpt_sink *sink, struct vpt_err *err)
{
	const struct vpa_at whole = {w->report, w, NULL};

	return vpa_fields_json(&vpa_fields_what_if, &whole, sink, err);
}
