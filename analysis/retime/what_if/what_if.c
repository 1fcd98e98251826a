/* what_if.c - fills in the answer to "what if". */
#include "analysis/retime/what_if/what_if.h"

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

/* All stretches that an answer is about, one after the other: of the bases, of blocks, of parts. */
struct asked {
	struct vpa_spans bases;
	struct vpa_timed_parts parts;
	struct vpa_span *at;
	size_t blocks, timed, count; /* blocks, timed: the first ones of blocks and parts */
};

static void add_blocks(const struct vpa_report *r, struct asked *a)
{
	const struct vpa_request *q = vpa_main_request(r);
	size_t i, most = a->count + ROWS_MOST - 1;

	for (i = 0; vpa_unit_of(r) == VPA_UNIT_BLOCK && i < q->blocks.count && a->count < most;
		i++) {
		const struct vpa_block_row *b = block_of(r, i);

		if (b && b->period_ns && b->end_ns > b->period_ns)
			a->at[a->count++] = (struct vpa_span){b->end_ns - b->period_ns, b->end_ns};
	}
}

/* Work put aside overlaps what it was in turn with, so no part is like those of the recording. */
static void leave_out_all(struct vpa_timed_parts *p)
{
	size_t i;

	for (i = 0; i < p->part_count; i++)
		p->left_out[p->left_out_count++] = p->parts[i].name;
	p->part_count = p->span_count = 0;
}

static int puts_aside(const struct vpa_change_list *list)
{
	size_t i;

	for (i = 0; i < list->count && list->changes[i].kind != VPA_CHANGE_ASIDE; i++)
		;
	return i < list->count;
}

static int list_asked(const struct vpa_report *r, const struct vpa_change_list *list,
	struct vpa_arena *arena, struct asked *a)
{
	a->at = vpa_arena_alloc(
		arena, VPA_SPANS_MOST + ROWS_MOST + VPA_TIMED_SPANS_MOST, sizeof(*a->at));
	if (!a->at || vpa_timed_parts_of(r, 0, arena, &a->parts))
		return VPT_ENOMEM;
	if (puts_aside(list))
		leave_out_all(&a->parts);
	vpa_spans_of(r, &a->bases);
	memcpy(a->at, a->bases.at, a->bases.count * sizeof(*a->at));
	a->blocks = a->count = a->bases.count;
	add_blocks(r, a);
	a->timed = a->count;
	memcpy(&a->at[a->count], a->parts.spans, a->parts.span_count * sizeof(*a->at));
	a->count += a->parts.span_count;
	return VPT_OK;
}

static void put_blocks(struct vpa_what_if *w, const struct asked *a, const struct vpa_retiming *t,
	const struct vpa_report *other)
{
	const struct vpa_request *q = vpa_main_request(w->report);
	size_t i, at = a->blocks;

	for (i = 0; q && at < a->timed && i < q->blocks.count; i++) {
		const struct vpa_block_row *b = block_of(w->report, i), *o = block_of(other, i);

		if (!b || b->end_ns != a->at[at].to_ns)
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

/* ---- stages and steps ---- */

/* The same part of another report; NULL: it has none. */
static const struct vpa_timed_part *part_like(
	const struct vpa_timed_parts *parts, const struct vpa_timed_part *like)
{
	size_t i;

	for (i = 0; i < parts->part_count; i++)
		if (parts->parts[i].kind == like->kind && !strcmp(parts->parts[i].name, like->name))
			return &parts->parts[i];
	return NULL;
}

/* Returns 0 if there is no instance of this number. */
static int put_part(struct vpa_what_if *w, const struct asked *a, const struct vpa_timed_part *part,
	const struct vpa_timed_parts *others, int64_t number, const struct vpa_retiming *t)
{
	const struct vpa_timed_part *same = part_like(others, part);
	struct vpa_what_if_part *row = &w->parts[w->part_count];
	uint64_t recorded, measured;

	*row = (struct vpa_what_if_part){.kind = part->kind, .name = part->name, .number = number};
	row->recorded_ms = vpa_timed_mean_ns(&a->parts, part, t, VPA_WORLD_RECORDED, a->timed,
				   number, &recorded) /
			   1e6;
	row->predicted_ms = vpa_timed_mean_ns(&a->parts, part, t, VPA_WORLD_FIRST, a->timed, number,
				    &row->instances) /
			    1e6;
	if (same)
		row->measured_ms =
			vpa_timed_mean_ns(others, same, NULL, 0, 0, number, &measured) / 1e6;
	w->part_count += recorded != 0;
	return recorded != 0;
}

static void put_parts(struct vpa_what_if *w, const struct asked *a, const struct vpa_retiming *t,
	const struct vpa_timed_parts *others)
{
	int64_t number;
	size_t i;

	w->parts_left_out = a->parts.left_out;
	w->parts_left_out_count = a->parts.left_out_count;
	for (i = 0; i < a->parts.part_count; i++) {
		const struct vpa_timed_part *part = &a->parts.parts[i];

		put_part(w, a, part, others, -1, t);
		for (number = 0; part->kind == VPA_PART_OF_STEP && number < VPA_TIMED_STEPS_MOST;
			number++)
			if (!put_part(w, a, part, others, number, t))
				break;
	}
}

/* ---- the answer ---- */

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

static double error_of(double predicted_ms, double measured_ms)
{
	return measured_ms > 0 && predicted_ms > 0
		       ? 100 * (predicted_ms - measured_ms) / measured_ms
		       : 0;
}

static void measure_errors(struct vpa_what_if *w)
{
	size_t i;

	for (i = 0; i < w->row_count; i++)
		w->rows[i].error_percent =
			error_of(w->rows[i].predicted_ms, w->rows[i].measured_ms);
	for (i = 0; i < w->part_count; i++)
		w->parts[i].error_percent =
			error_of(w->parts[i].predicted_ms, w->parts[i].measured_ms);
}

static int answer(struct vpa_what_if *w, const char *text, const struct vpa_change *changes,
	const struct asked *a, const struct vpa_retiming *t, const struct vpa_report *other)
{
	struct vpa_timed_parts others = {.part_count = 0};

	w->rows = vpa_arena_alloc(&w->arena, ROWS_MOST + 1, sizeof(*w->rows));
	w->parts = vpa_arena_alloc(
		&w->arena, a->parts.part_count + VPA_TIMED_STEPS_MOST + 1, sizeof(*w->parts));
	if (!w->rows || !w->parts || (other && vpa_timed_parts_of(other, 0, &w->arena, &others)))
		return VPT_ENOMEM;
	put_mean(w, &a->bases, t, other);
	put_blocks(w, a, t, other);
	put_parts(w, a, t, &others);
	measure_errors(w);
	return put_changes(w, text, changes, t->hits);
}

int vpa_what_if(const struct vpt_trace *trace, unsigned jobs, struct vpa_report *report,
	const char *text, const struct vpa_report *other, struct vpa_what_if *out,
	struct vpt_err *err)
{
	struct vpa_change changes[VPA_CHANGES_MOST];
	struct vpa_change_list list = {.changes = changes};
	struct asked *asked = vpt_calloc(1, sizeof(*asked));
	struct vpa_retiming t = {0};
	int rc = vpa_changes_read(text, changes, &list.count, err);

	*out = (struct vpa_what_if){.report = report,
		.path = report->path,
		.simulated = report->simulated,
		.other = other ? other->path : NULL};
	if (!rc && (!asked || list_asked(report, &list, &out->arena, asked)))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for predictions");
	if (rc)
		goto out;
	rc = vpa_retime(trace, jobs, VPA_REPLAYED_MOST, &list, 1, asked->at, asked->count, &t, err);
	if (!rc) {
		vpa_forecast_write(report, &asked->bases, &t);
		out->forecast = report->forecast;
		if (out->forecast.why_not)
			rc = vpt_fail(
				err, VPT_EUNSUPPORTED, "no prediction: %s", out->forecast.why_not);
	}
	if (!rc && answer(out, text, changes, asked, &t, other))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for predictions");
out:
	vpa_retiming_free(&t);
	vpt_free(asked);
	return rc;
}

void vpa_what_if_free(struct vpa_what_if *w)
{
	vpa_arena_free(&w->arena);
}
