/* what_if.c - fills in the answer to "what if". */
#include "analysis/retime/what_if.h"

#include "analysis/base/intervals.h"
#include "analysis/pipeline/unit.h"
#include "formats/base/memory.h"

#include <string.h>

enum { ROWS_MOST = 512 };

static double rate_of(double ms)
{
	return ms > 0 ? 1e3 / ms : 0;
}

static double ms_of(const struct vpa_report *r)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);

	return (double)vpa_mean_unit_ns(&unit) / 1e6;
}

/* The mean unit; without units, all of the active time. */
static void put_mean(struct vpa_what_if *w, const struct vpa_spans *s, const struct vpa_retiming *t,
	const struct vpa_report *other)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(w->report);
	struct vpa_what_if_row *row = &w->rows[w->row_count++];
	double by = vpa_spans_ratio(w->report, s, t, VPA_WORLD_FIRST, w->forecast.base);

	*row = (struct vpa_what_if_row){.unit = w->forecast.base,
		.number = -1,
		.recorded_ms = w->forecast.base_ms,
		.predicted_ms = w->forecast.base_ms * by,
		.fps_recorded = vpa_unit_fps(w->report, unit.kind)};
	row->fps_predicted = by > 0 ? row->fps_recorded / by : 0;
	if (unit.has_rate) {
		row->steps_per_s_recorded = rate_of(row->recorded_ms);
		row->steps_per_s_predicted = rate_of(row->predicted_ms);
	}
	if (!other || vpa_unit_of(other) != unit.kind)
		return;
	row->measured_ms = ms_of(other);
	row->fps_measured = vpa_unit_fps(other, unit.kind);
	row->steps_per_s_measured = unit.has_rate ? rate_of(row->measured_ms) : 0;
}

/* The block of a number that the request measures; NULL: none. */
static const struct vpa_block_row *block_of(const struct vpa_report *r, size_t index)
{
	const struct vpa_request *q = r ? vpa_main_request(r) : NULL;

	return q && index < q->blocks.count && !q->blocks.series[index].warmup
		       ? &q->blocks.series[index]
		       : NULL;
}

/* The spans of blocks, after those of the bases. */
static size_t add_blocks(const struct vpa_report *r, struct vpa_spans *s)
{
	const struct vpa_request *q = vpa_main_request(r);
	size_t i, first = s->count;

	for (i = 0; vpa_unit_of(r) == VPA_UNIT_BLOCK && i < q->blocks.count && s->count < ROWS_MOST;
		i++) {
		const struct vpa_block_row *b = block_of(r, i);

		if (b && b->period_ns && b->end_ns > b->period_ns)
			s->at[s->count++] = (struct vpa_span){b->end_ns - b->period_ns, b->end_ns};
	}
	return first;
}

static void put_blocks(struct vpa_what_if *w, const struct vpa_spans *s,
	const struct vpa_retiming *t, size_t first, const struct vpa_report *other)
{
	const struct vpa_request *q = vpa_main_request(w->report);
	size_t i, at = first;

	for (i = 0; q && at < s->count && i < q->blocks.count; i++) {
		const struct vpa_block_row *b = block_of(w->report, i), *o = block_of(other, i);

		if (!b || b->end_ns != s->at[at].to_ns)
			continue;
		w->rows[w->row_count++] = (struct vpa_what_if_row){
			.unit = vpa_base_of_unit(VPA_UNIT_BLOCK),
			.number = (int64_t)i,
			.recorded_ms = (double)vpa_retimed_ns(t, VPA_WORLD_RECORDED, at) / 1e6,
			.predicted_ms = (double)vpa_retimed_ns(t, VPA_WORLD_FIRST, at) / 1e6,
			.measured_ms = o ? (double)o->period_ns / 1e6 : 0};
		at++;
	}
}

static const char *noun_of(const struct vpa_change *c, uint64_t n)
{
	switch (c->kind) {
	case VPA_CHANGE_HOST:
	case VPA_CHANGE_HOST_AFTER:
		return n == 1 ? "stretch of host code" : "stretches of host code";
	case VPA_CHANGE_SCALE:
	case VPA_CHANGE_RATE:
	case VPA_CHANGE_PIN:
	case VPA_CHANGE_ASIDE:
		return n == 1 ? "op" : "ops";
	case VPA_CHANGE_GRAPH:
		return n == 1 ? "launch of a graph" : "launches of graphs";
	default:
		return n == 1 ? "call" : "calls";
	}
}

/* Splits the text at semicolons, for the answer. */
static int put_changes(struct vpa_what_if *w, const char *text, const struct vpa_change *changes,
	const uint64_t *hits)
{
	w->changes = vpa_arena_alloc(&w->arena, VPA_CHANGES_MOST, sizeof(*w->changes));
	for (w->change_count = 0; w->changes && *text; w->change_count++) {
		size_t len = strcspn(text, ";"), skip = strspn(text, " ");

		w->changes[w->change_count] = (struct vpa_what_if_change){
			.text = vpa_arena_text(&w->arena, text + skip, len > skip ? len - skip : 0),
			.hits = hits[w->change_count],
			.noun = noun_of(&changes[w->change_count], hits[w->change_count])};
		text += len + (text[len] == ';');
	}
	return w->arena.failed ? VPT_ENOMEM : VPT_OK;
}

static void measure_errors(struct vpa_what_if *w)
{
	size_t i;

	for (i = 0; i < w->row_count; i++) {
		struct vpa_what_if_row *row = &w->rows[i];

		if (row->measured_ms > 0)
			row->error_percent =
				100 * (row->predicted_ms - row->measured_ms) / row->measured_ms;
	}
}

static int answer(struct vpa_what_if *w, const char *text, const struct vpa_change *changes,
	const struct vpa_spans *s, size_t first, const struct vpa_retiming *t,
	const struct vpa_report *other)
{
	w->rows = vpa_arena_alloc(&w->arena, ROWS_MOST + 1, sizeof(*w->rows));
	if (!w->rows)
		return VPT_ENOMEM;
	put_mean(w, s, t, other);
	put_blocks(w, s, t, first, other);
	measure_errors(w);
	return put_changes(w, text, changes, t->hits);
}

int vpa_what_if(const struct vpt_trace *trace, unsigned jobs, struct vpa_report *report,
	const char *text, const struct vpa_report *other, struct vpa_what_if *out,
	struct vpt_err *err)
{
	struct vpa_change changes[VPA_CHANGES_MOST];
	struct vpa_change_list list = {.changes = changes};
	struct vpa_spans *spans = vpt_calloc(1, sizeof(*spans));
	struct vpa_retiming t = {0};
	size_t first;
	int rc = vpa_changes_read(text, changes, &list.count, err);

	*out = (struct vpa_what_if){.report = report,
		.path = report->path,
		.simulated = report->simulated,
		.other = other ? other->path : NULL};
	if (!rc && !spans)
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for predictions");
	if (rc)
		goto out;
	vpa_spans_of(report, spans);
	first = add_blocks(report, spans);
	rc = vpa_retime(trace, jobs, VPA_REPLAYED_MOST, &list, 1, spans->at, spans->count, &t, err);
	if (!rc) {
		vpa_forecast_write(report, spans, &t);
		out->forecast = report->forecast;
		if (out->forecast.why_not)
			rc = vpt_fail(
				err, VPT_EUNSUPPORTED, "no prediction: %s", out->forecast.why_not);
	}
	if (!rc && answer(out, text, changes, spans, first, &t, other))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for predictions");
out:
	vpa_retiming_free(&t);
	vpt_free(spans);
	return rc;
}

void vpa_what_if_free(struct vpa_what_if *w)
{
	vpa_arena_free(&w->arena);
}
