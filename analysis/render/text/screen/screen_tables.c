/* screen_tables.c - the mean unit of the first screen as a table that adds up, and the series of blocks. */
#include "analysis/base/intervals.h"
#include "analysis/render/text/screen/screen.h"
#include "analysis/render/text/sections/text_blocks_parts.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <stdio.h>
#include <string.h>

enum {
	STAGES = 8,
	RANGES = 5,    /* of an iteration: with its waits, more leave no room for the table */
	PARTS = 3,     /* of the work, and of the waits */
	LEAST = 20,    /* a part below 1 / this of the unit has no row */
	HARDLY = 1000, /* what is left, or between stages, has no row below this */
	GPUS = 8,
	BLOCKS = 8,
	HOST = 2 /* its column, the last one */
};

/* Ranges with less of the work of iterations than this say too little of it. */
static const double marked_share = 0.8;

/* ---- a block, by stage ---- */

/* A stage's part of a block. */
static uint64_t a_block(const struct vpa_screen *s, uint64_t ns)
{
	return vpa_divided(ns, vpt_sat_mul(s->blocks->measured, s->devices));
}

/* Whether the stages of blocks are parts of them: one request, and none overlaps another one. */
static int has_stages(const struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	uint64_t busy_ns = 0, idle_ns = 0;
	size_t i, count = 0;

	if (!s->blocks || s->unit.kind != VPA_UNIT_BLOCK || r->request_count != 1)
		return 0;
	for (i = 0; i < r->stage_count; i++) {
		const struct vpa_stage_row *stage = &r->stages[i];

		if (stage->nested || !stage->in_blocks)
			continue;
		count++;
		vpt_sat_add_to(&busy_ns, stage->busy_ns);
		vpt_sat_add_to(&idle_ns, stage->idle_ns);
	}
	return count && busy_ns <= s->blocks->busy_ns + s->blocks->busy_ns / 100 &&
	       idle_ns <= s->blocks->idle_ns + s->blocks->idle_ns / 100;
}

static void put_times(
	struct vpa_row *row, const struct vpa_screen *s, uint64_t works_ns, uint64_t waits_ns)
{
	row->cells[0] = vpa_in_column(works_ns, s->ns);
	row->cells[1] = vpa_in_column(waits_ns, s->ns);
}

/* "denoise, 4 steps" */
static void add_steps(struct vpa_row *row, const struct vpa_request *q)
{
	size_t used = strlen(row->label.text);

	snprintf(row->label.text + used, sizeof(row->label.text) - used, ", %s step%s",
		vpa_each(q->steps.count, q->blocks.count).text,
		q->steps.count == q->blocks.count ? "" : "s");
}

/* The host's pace by stage, if it is of this unit. */
static int has_host(const struct vpa_screen *s)
{
	const struct vpa_forecast *f = &s->report->forecast;

	return f->stage_count && f->base == vpa_base_of_unit(s->unit.kind);
}

static const struct vpa_forecast_stage *forecast_of(const struct vpa_screen *s, const char *name)
{
	const struct vpa_forecast *f = &s->report->forecast;
	size_t i;

	for (i = 0; i < f->stage_count; i++)
		if (f->stages[i].name && vpt_same_text(f->stages[i].name, name))
			return &f->stages[i];
	return NULL;
}

/* The host's time of a row. */
struct host_time {
	uint64_t left_ns; /* of all, less the rows so far */
	int lacks_some;   /* a row has none of its own: its time is in what is left */
};

/* "-": the forecast does not have the stage apart, or no replayed part of the trace has it. */
static struct vpa_num take_host(
	const struct vpa_screen *s, const char *name, struct host_time *host)
{
	const struct vpa_forecast_stage *f = forecast_of(s, name);
	uint64_t ns;

	host->lacks_some |= !f;
	if (!f || !f->is_replayed)
		return vpa_missing();
	ns = vpa_earlier(vpt_sat_u64(f->host_ms * 1e6 + 0.5), host->left_ns);
	host->left_ns -= ns;
	return vpa_in_column(ns, s->ns);
}

static struct vpa_num left_host(const struct vpa_screen *s, const struct host_time *host)
{
	return host->lacks_some ? vpa_missing() : vpa_in_column(host->left_ns, s->ns);
}

static void put_stages(struct vpa_table *t, const struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	uint64_t works_ns = s->works_ns, waits_ns = s->waits_ns,
		 all_host_ns = vpt_sat_u64(r->forecast.host_ms * 1e6 + 0.5);
	struct host_time host = {.left_ns = has_host(s) ? all_host_ns : 0};
	struct vpa_row *row;
	size_t i, shown = 0;

	for (i = 0; i < r->stage_count && shown < STAGES; i++) {
		const struct vpa_stage_row *stage = &r->stages[i];
		uint64_t busy_ns, idle_ns;

		if (stage->nested || !stage->in_blocks)
			continue;
		busy_ns = vpa_earlier(a_block(s, stage->busy_ns), works_ns);
		idle_ns = vpa_earlier(a_block(s, stage->idle_ns), waits_ns);
		works_ns -= busy_ns;
		waits_ns -= idle_ns;
		row = vpa_table_row(t, 1, "%s", vpa_text_or(stage->name, "?"));
		if (stage->holds_steps && s->request->steps.per_block > 0)
			add_steps(row, s->request);
		put_times(row, s, busy_ns, idle_ns);
		row->cells[HOST] = take_host(s, stage->name, &host);
		shown++;
	}
	if (works_ns + waits_ns + host.left_ns >= s->ns / HARDLY) {
		/* Stages are cut by ops here: a host that waits there may be in one, as CAUSE says. */
		row = vpa_table_row(t, 1, VPA_BETWEEN_STAGES);
		put_times(row, s, works_ns, waits_ns);
		row->cells[HOST] = left_host(s, &host);
	}
	row = vpa_table_row(t, 1, "in all");
	put_times(row, s, s->works_ns, s->waits_ns);
	row->cells[HOST] = vpa_in_column(all_host_ns, s->ns);
}

/* ---- any unit, by family and cause ---- */

struct part {
	size_t number; /* of the family or cause */
	uint64_t ns;
};

/* The largest `most` parts of at least 1 / LEAST of the unit, falling. Returns their number. */
static size_t largest_parts(
	const struct vpa_screen *s, const uint64_t *ns, size_t count, struct part *out)
{
	size_t i, at, used = 0;

	for (i = 0; i < count; i++) {
		struct part part = {i, ns[i]};

		if (!ns[i] || ns[i] < s->ns / LEAST)
			continue;
		for (at = used; at && out[at - 1].ns < part.ns; at--)
			if (at < PARTS)
				out[at] = out[at - 1];
		if (at < PARTS)
			out[at] = part;
		used += used < PARTS;
	}
	return used;
}

/* Rows that add up to `all_ns`, in a column. */
static void put_parts(struct vpa_table *t, const struct vpa_screen *s, const struct part *parts,
	size_t count, uint64_t all_ns, unsigned column)
{
	uint64_t left_ns = all_ns;
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t ns = vpa_earlier(parts[i].ns, left_ns);

		left_ns -= ns;
		vpa_table_row(t, 1, "%s",
			column ? vpa_cause_text((enum vpa_cause)parts[i].number)
			       : vpa_family_text(s->digest, (enum vpa_family)parts[i].number))
			->cells[column] = vpa_in_column(ns, s->ns);
	}
	if (left_ns && left_ns >= s->ns / HARDLY)
		vpa_table_row(t, 1, "other %s", column ? "waits" : "work")->cells[column] =
			vpa_in_column(left_ns, s->ns);
}

/* Whether there is more to say than that one part is nearly all. */
static int put_families(struct vpa_table *t, const struct vpa_screen *s)
{
	struct part work[PARTS], waits[PARTS];
	size_t works = largest_parts(s, s->family_ns, VPA_FAMILY_COUNT, work),
	       waited = largest_parts(s, s->cause_ns, VPA_CAUSES, waits);

	if (!s->has_parts || works + waited < 2)
		return 0;
	put_parts(t, s, work, works, s->works_ns, 0);
	put_parts(t, s, waits, waited, s->waits_ns, 1);
	if (s->unit.from_host && s->rest_ns && s->rest_ns >= s->ns / HARDLY)
		vpa_table_row(t, 1, "earlier work")->cells[0] = vpa_in_column(s->rest_ns, s->ns);
	return 1;
}

/* ---- an iteration, by the ranges in it ---- */

/* Whether they say what most of its work is for: few ranges, more than one. */
static int has_ranges(const struct vpa_screen *s)
{
	const struct vpa_said *said = &s->report->said;
	uint64_t work_ns = 0;
	size_t i, count = 0;

	if (s->unit.kind != VPA_UNIT_ITERATION || !s->has_parts)
		return 0;
	for (i = 0; i < said->iteration_part_count; i++) {
		vpt_sat_add_to(&work_ns, said->iteration_parts[i].work_ns);
		count += said->iteration_parts[i].work_ns >= s->digest->busy_ns / HARDLY;
	}
	return count > 1 && count <= RANGES &&
	       (double)work_ns >= marked_share * (double)s->digest->busy_ns;
}

/* Each has its share of the work of all iterations. */
static void put_ranges(struct vpa_table *t, const struct vpa_screen *s)
{
	const struct vpa_said *said = &s->report->said;
	struct part waits[PARTS];
	uint64_t left_ns = s->works_ns;
	size_t i;

	for (i = 0; i < said->iteration_part_count; i++) {
		const struct vpa_iteration_part *part = &said->iteration_parts[i];
		uint64_t ns = vpa_earlier(
			vpt_sat_scale(s->works_ns, part->work_ns, s->digest->busy_ns), left_ns);

		left_ns -= ns;
		if (ns >= s->ns / HARDLY)
			vpa_table_row(t, 1, "%s", vpa_text_or(part->name, "?"))->cells[0] =
				vpa_in_column(ns, s->ns);
	}
	if (left_ns && left_ns >= s->ns / HARDLY)
		vpa_table_row(t, 1, "other work")->cells[0] = vpa_in_column(left_ns, s->ns);
	put_parts(t, s, waits, largest_parts(s, s->cause_ns, VPA_CAUSES, waits), s->waits_ns, 1);
	put_times(vpa_table_row(t, 1, "in all"), s, s->works_ns, s->waits_ns);
}

/* ---- the window of several GPUs ---- */

static void put_gpus(struct vpa_table *t, const struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	size_t i;

	for (i = 0; i < r->device_count && i < GPUS; i++)
		put_times(vpa_table_row(t, 1, "GPU %lld", (long long)r->devices[i].device), s,
			r->devices[i].busy_ns, r->devices[i].window_idle_ns);
	vpa_table_more(t, r->device_count - i);
}

void vpa_screen_unit(struct vpa_page *p, const struct vpa_screen *s)
{
	static const struct vpa_column in_ms[] = {{.head = "GPU works, ms"}, {.head = "waits, ms"},
		{.head = "host alone, ms"}},
				       in_us[] = {{.head = "GPU works, us"}, {.head = "waits, us"},
					       {.head = "host alone, us"}};
	int has_column = has_stages(s) && has_host(s);
	int is_short = vpa_column_unit(s->ns)[0] == 'u';
	char title[32];
	struct vpa_table t;
	size_t i;

	if (!s->report->device_count)
		return;
	snprintf(title, sizeof(title), "%s", s->a_noun);
	for (i = 0; title[i]; i++)
		title[i] = title[i] >= 'a' && title[i] <= 'z' ? (char)(title[i] - 'a' + 'A')
							      : title[i];
	vpa_table_init(&t, is_short ? in_us : in_ms, HOST + (unsigned)has_column, "%s%s", title,
		s->devices > 1 && s->unit.units > 0 ? ", mean of all GPUs" : "");
	if (s->blocks)
		p->touched = s->blocks->touched;
	if (!(s->unit.units > 0) && s->report->device_count > 1) {
		put_gpus(&t, s);
	} else if (has_stages(s)) {
		put_stages(&t, s);
	} else if (has_ranges(s)) {
		put_ranges(&t, s);
	} else if (put_families(&t, s)) {
		put_times(vpa_table_row(&t, 1, "in all"), s, vpt_sat_sub(s->ns, s->waits_ns),
			s->waits_ns);
	}
	vpa_page_table(p, &t);
}

/* ---- the series of blocks ---- */

/* The measured block of a column: every one, or some at even steps from first to last. */
static size_t block_of(const struct vpa_blocks *b, size_t column, size_t columns)
{
	size_t at = b->measured <= columns ? column : column * (b->measured - 1) / (columns - 1), i;

	for (i = 0; i + 1 < b->count && (b->series[i].warmup || at); i++)
		at -= !b->series[i].warmup;
	return i;
}

void vpa_screen_series(struct vpa_page *p, const struct vpa_screen *s)
{
	const struct vpa_blocks *b = s->blocks;
	size_t columns, i;
	struct vpa_column heads[BLOCKS];
	struct vpa_num names[BLOCKS];
	struct vpa_row *length, *late = NULL;
	struct vpa_table t;

	if (!b || b->measured < 2)
		return;
	columns = b->measured < BLOCKS ? b->measured : BLOCKS;
	for (i = 0; i < columns; i++) {
		names[i] = vpa_block_name(b, block_of(b, i, columns));
		heads[i] = (struct vpa_column){
			names[i].text, .drop = i && i + 1 < columns ? (unsigned)(columns - i) : 0};
	}
	vpa_table_init(&t, heads, columns, "BLOCK");
	vpa_table_of(&t, columns, b->measured);
	p->touched = b->touched;
	length = vpa_table_row(&t, 1, "%s", vpa_column_unit(b->period.max_ns));
	if (b->misses > 0)
		late = vpa_table_row(&t, 1, "at %s FPS", vpa_rate(vpa_target(s->report)).text);
	for (i = 0; i < columns; i++) {
		const struct vpa_block_row *row = &b->series[block_of(b, i, columns)];

		length->cells[i] = vpa_in_column(row->period_ns, b->period.max_ns);
		if (late)
			late->cells[i] =
				row->missed ? (struct vpa_num){"late"} : (struct vpa_num){"ok"};
	}
	vpa_page_table(p, &t);
}

/* Of a trace without work on a GPU: what the marks found. */
void vpa_screen_marks(struct vpa_page *p, const struct vpa_screen *s)
{
	if (s->report->expert.marked_count)
		vpa_text_put_view(p, s->report, s->digest, vpa_view_of("marked"));
}
