/* text_window.c - the tables after the summary: how the window was spent, and the evidence.
 *
 * Each section is a function that prints nothing without data; each table names its columns in a
 * constant. Rows are few, the largest first: --top and the JSON report have the others. The window's
 * table has both idle and busy time in one set of columns, so that its shares add up to 100 %.
 *
 * Ids (G1, K2, C1, S3) number the rows of the report's tables; findings name them as evidence. */
#include "analysis/render/text/sections/text_sections.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <stdio.h>
#include <string.h>

enum { /* rows of each table */
	CAUSES = 7,
	PLACES_OF_FIRST = 3,
	PLACES_OF_OTHERS = 2,
	FAMILIES = 7,
	GAPS = 5,
	INLINE = 24 /* columns that a place needs beside the cause of a gap */
};

/* ---- the window ---- */

static void fill_part(struct vpa_row *row, uint64_t ns, uint64_t count, uint64_t total_ns,
	const struct vpa_digest *d)
{
	row->cells[0] = vpa_ms(ns, d);
	row->cells[1] = vpa_percent(ns, d->windows_ns);
	row->cells[2] = vpa_count(count);
	row->cells[3] = vpa_mean(total_ns, count);
}

static void add_where(struct vpa_row *row, const char *where)
{
	size_t used = strlen(row->label.text);

	if (where[0] && used < 64)
		snprintf(row->label.text + used, sizeof(row->label.text) - used, ": %.400s", where);
}

/* "of which inside cudaMalloc": where the host was while the cause held it back. */
static void add_inside(struct vpa_table *t, const struct vpa_digest *d, enum vpa_cause cause)
{
	struct vpa_idle_place inside = vpa_inside_of(d, cause);
	struct vpa_row *row;

	if (!inside.ns)
		return;
	row = vpa_table_row(t, 4, "of which inside %s%s", vpa_fit(inside.call, 60).text,
		inside.is_inside_others ? " and other calls" : "");
	row->cells[0] = vpa_ms(inside.ns, d);
	row->cells[1] = vpa_percent(inside.ns, d->windows_ns);
}

/* "of which host code in post_process": what the host did after the cause had held it back. */
static void add_code(struct vpa_table *t, const struct vpa_digest *d, enum vpa_cause cause)
{
	struct vpa_host_code code = vpa_code_of(d, cause);
	struct vpa_row *row;

	if (!code.ns)
		return;
	row = vpa_table_row(t, 4, "of which host code%s", vpa_code_place(&code, 60).text);
	row->wrap = 1;
	row->cells[0] = vpa_ms(code.ns, d);
	row->cells[1] = vpa_percent(code.ns, d->windows_ns);
}

/* What the hosts did before the first work. */
static void add_heads(struct vpa_table *t, const struct vpa_digest *d)
{
	size_t i;

	for (i = 0; i < d->head_count && i < PLACES_OF_FIRST; i++) {
		const struct vpa_idle_place *at = &d->heads[i];
		struct vpa_label where = vpa_place_label(at->call, &at->place, 64);
		struct vpa_row *row;

		if (at->ns < d->cause_ns[VPA_CAUSE_BEFORE_FIRST_WORK] / 10)
			break;
		row = vpa_table_row(t, 4, "%s%s%s", vpa_cause_text(at->cause),
			where.text[0] ? ": " : "", where.text);
		row->cells[0] = vpa_ms(at->ns, d);
		row->cells[1] = vpa_percent(at->ns, d->windows_ns);
	}
}

static void add_call(struct vpa_table *t, const struct vpa_digest *d, enum vpa_cause cause)
{
	size_t ranges;
	struct vpa_alike names;
	struct vpa_idle_place call = vpa_call_of(d, cause, &ranges),
			      alike = vpa_similar_of(d, cause, &names);
	struct vpa_row *row = NULL;

	if (names.count > 1 && alike.ns >= d->cause_ns[cause] / 10) {
		struct vpa_label name = vpa_alike_label(&names, alike.place.text);
		const struct vpa_place all = {alike.place.kind, name.text};

		row = vpa_table_row(t, 4, "%s", vpa_place_label(alike.call, &all, 64).text);
		fill_part(row, alike.ns, alike.gaps, alike.ns, d);
	} else if (ranges > 1 && call.ns >= d->cause_ns[cause] / 10) {
		row = vpa_table_row(t, 4, "%s in %zu ranges", vpa_fit(call.call, 60).text, ranges);
		fill_part(row, call.ns, call.gaps, call.ns, d);
	}
	if (row)
		row->wrap = 1;
}

/* The largest places of a cause. A place with all of it is put on the cause's own line. */
static void add_cause(
	struct vpa_table *t, const struct vpa_digest *d, enum vpa_cause cause, size_t most)
{
	struct vpa_row *row = vpa_table_row(t, 2, "%s", vpa_cause_text(cause));
	size_t i, shown = 0;

	fill_part(row, d->cause_ns[cause], d->cause_gaps[cause], d->cause_ns[cause], d);
	if (cause == VPA_CAUSE_BEFORE_FIRST_WORK && most) {
		add_heads(t, d);
		return;
	}
	for (i = 0; i < d->place_count && shown < most; i++) {
		const struct vpa_idle_place *at = &d->places[i];
		struct vpa_label where;

		if (at->cause != cause || at->ns < d->cause_ns[cause] / 10)
			continue;
		if (at->ns == d->cause_ns[cause]) {
			add_where(row, vpa_place_label(at->call, &at->place, 64).text);
			add_inside(t, d, cause);
			add_code(t, d, cause);
			return;
		}
		where = vpa_place_label(at->call, &at->place, 80);
		fill_part(
			vpa_table_row(t, 4, "%s", where.text[0] ? where.text : "no call, no range"),
			at->ns, at->gaps, at->ns, d);
		shown++;
	}
	if (!shown && most)
		add_call(t, d, cause);
	if (most) {
		add_inside(t, d, cause);
		add_code(t, d, cause);
	}
}

/* Host code that waits for a CPU has no line to blame. */
static void add_cpu_wait(struct vpa_table *t, const struct vpa_digest *d)
{
	struct vpa_row *row;

	if (d->cpu_wait_ns < d->cause_ns[VPA_CAUSE_HOST_CODE] / 20 || !d->cpu_wait_ns)
		return;
	row = vpa_table_row(t, 4, "of which waiting for a CPU: check quota, cores, workers");
	row->wrap = 1;
	row->cells[0] = vpa_ms(d->cpu_wait_ns, d);
	row->cells[1] = vpa_percent(d->cpu_wait_ns, d->windows_ns);
}

/* Whether a part gets a line: a thousandth of the window or more, or one of the three largest. */
static int is_worth(uint64_t ns, const struct vpa_digest *d, size_t rank)
{
	return rank < 3 || ns >= d->windows_ns / 1000;
}

/* If the devices are nearly always busy, the little idle time needs no places. */
static size_t places_wanted(const struct vpa_digest *d, size_t rank)
{
	if (d->gpu_bound && d->cause_ns[d->causes[rank]] < d->windows_ns / 100)
		return 0;
	return rank ? PLACES_OF_OTHERS : PLACES_OF_FIRST;
}

static void add_idle(struct vpa_table *t, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct vpa_row *row = vpa_table_row(t, 1, "GPU IDLE, by cause");
	uint64_t rest_ns = 0, rest_gaps = 0;
	size_t i;

	row->style = VPA_BOLD;
	fill_part(row, d->window_idle_ns, d->window_gaps, d->window_idle_ns, d);
	for (i = 0; i < d->cause_count && i < CAUSES && is_worth(d->cause_ns[d->causes[i]], d, i);
		i++) {
		add_cause(t, d, d->causes[i], places_wanted(d, i));
		if (d->causes[i] == VPA_CAUSE_HOST_CODE)
			add_cpu_wait(t, d);
	}
	for (; i < d->cause_count; i++) {
		vpt_sat_add_to(&rest_ns, d->cause_ns[d->causes[i]]);
		rest_gaps += d->cause_gaps[d->causes[i]];
	}
	if (rest_ns)
		fill_part(vpa_table_row(t, 2, "smaller ones"), rest_ns, rest_gaps, rest_ns, d);
	if (r->verdict.gaps != VPA_OK)
		vpa_text_row(t, 2, "%s: see DATA",
			r->verdict.gaps == VPA_DEGRADED ? "DEGRADED" : "UNAVAILABLE")
			->style = VPA_YELLOW;
}

/* The part of the waiting that may be exposed: what compute hides is a part of durations, not of the row's
 * exclusive time. */
static void add_wait(struct vpa_table *t, const struct vpa_report *r, uint64_t comm_ns,
	const struct vpa_digest *d)
{
	uint64_t wait_ns = vpa_load_of_all(r).wait_ns, ns = wait_ns < comm_ns ? wait_ns : comm_ns;
	struct vpa_row *row;

	if (!ns)
		return;
	row = vpa_table_row(t, 4, "of which exposed waiting for other ranks");
	row->wrap = 1;
	row->cells[0] = vpa_ms(ns, d);
	row->cells[1] = vpa_percent(ns, d->windows_ns);
}

static void add_busy(struct vpa_table *t, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct vpa_row *row = vpa_table_row(t, 1, "GPU BUSY, by kernel family");
	uint64_t rest_ns = 0, rest_calls = 0, rest_total = 0, ops = 0;
	size_t i, rest = 0;

	row->style = VPA_BOLD;
	for (i = 0; i < r->family_count; i++) {
		const struct vpa_family_row *f = &r->families[i];

		vpt_sat_add_to(&ops, f->calls);
		if ((i < FAMILIES && is_worth(f->exclusive_ns, d, i)) ||
			(i + 1 == r->family_count && !rest)) {
			fill_part(vpa_table_row(t, 2, "%s", vpa_family_text(d, f->family)),
				f->exclusive_ns, f->calls, f->total_ns, d);
			if (f->family == VPA_FAMILY_COMM)
				add_wait(t, r, f->exclusive_ns, d);
			continue;
		}
		rest++;
		vpt_sat_add_to(&rest_ns, f->exclusive_ns);
		vpt_sat_add_to(&rest_calls, f->calls);
		vpt_sat_add_to(&rest_total, f->total_ns);
	}
	if (rest)
		fill_part(vpa_table_row(t, 2, "%zu smaller ones", rest), rest_ns, rest_calls,
			rest_total, d);
	row->cells[0] = vpa_ms(d->busy_ns, d);
	row->cells[1] = vpa_percent(d->busy_ns, d->windows_ns);
	row->cells[2] = vpa_count(ops);
}

void vpa_text_window(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	static const struct vpa_column columns[] = {
		{.head = "ms"}, {.head = "% window"}, {.head = "count"}, {"mean", .drop = 1}};
	struct vpa_table t;

	if (!r->device_count)
		return;
	if (r->device_count > 1)
		vpa_table_init(&t, columns, COUNT(columns), "THE WINDOWS OF %zu GPUS, SUMMED",
			r->device_count);
	else
		vpa_table_init(&t, columns, COUNT(columns), "THE WINDOW");
	if (d->gpu_bound)
		add_busy(&t, r, d);
	add_idle(&t, r, d);
	if (!d->gpu_bound)
		add_busy(&t, r, d);
	vpa_page_table(p, &t);
}

/* ---- gaps ---- */

/* The cause of most of a gap, and every other with more than a quarter of it: one row each, with its
 * longest piece. */
static void add_pieces(struct vpa_table *t, const struct vpa_gap_row *g, size_t room)
{
	uint64_t ns[VPA_CAUSES] = {0};
	const struct vpa_gap_piece *longest[VPA_CAUSES] = {NULL};
	size_t i;

	for (i = 0; i < g->piece_count; i++) {
		const struct vpa_gap_piece *piece = &g->pieces[i];
		enum vpa_cause cause = vpa_known_cause(piece->cause);

		ns[cause] += piece->ns;
		if (!longest[cause] || piece->ns > longest[cause]->ns)
			longest[cause] = piece;
	}
	for (i = 0; i < VPA_CAUSES; i++) {
		struct vpa_label place;
		size_t used;

		if (i == (size_t)g->cause || ns[i] <= g->duration_ns / 4)
			continue;
		used = strlen(vpa_cause_text((enum vpa_cause)i)) + 20;
		place = vpa_place_label(
			longest[i]->call, &longest[i]->place, room > used ? room - used : 0);
		vpa_text_row(t, 4, "and %s %s%s%s", vpa_cause_text((enum vpa_cause)i),
			vpa_duration(ns[i]).text, place.text[0] ? ", " : "", place.text);
	}
}

/* "mostly graph build in runner": what else the host did after the wait, for most of the gap. */
static void add_gap_call(struct vpa_table *t, const struct vpa_gap_row *g)
{
	struct vpa_host_code call = {.ns = 0};
	size_t i, longest = 0;

	for (i = 1; i < g->piece_count; i++)
		longest = g->pieces[i].ns > g->pieces[longest].ns ? i : longest;
	if (!g->piece_count || g->pieces[longest].ns <= g->duration_ns / 2)
		return;
	call.host = g->pieces[longest].host;
	if (!vpa_host_call_has_remedy(call.host))
		return;
	call.ns = call.place_ns = g->pieces[longest].ns;
	call.place = g->pieces[longest].host_place;
	vpa_text_row(
		t, 4, "mostly %s%s", vpa_cause_text(call.host), vpa_code_place(&call, 60).text);
}

/* Whether the host ran its own code in nearly all of a gap that counts to a wait before it. */
static int is_code_after_wait(const struct vpa_gap_row *g)
{
	return (g->cause == VPA_CAUSE_SYNC || g->cause == VPA_CAUSE_BLOCKING_COPY) &&
	       g->code.ns > g->duration_ns - g->duration_ns / 10;
}

/* "of which host code 4.02 ms in post_process": after a wait that had held the host, most of the gap was code. Where that is nearly
 * all, the headline says so, and here comes "or: do not wait in cudaMemcpyAsync (counts as blocking copy)". */
static void add_gap_code(struct vpa_table *t, const struct vpa_gap_row *g)
{
	struct vpa_host_code code = {
		.ns = g->code.ns, .place = g->code.place, .place_ns = g->code.place_ns};

	if (is_code_after_wait(g))
		vpa_text_row(t, 4, "or: do not wait in %s (counts as %s)",
			vpa_fit(vpa_text_or(g->call, "that call"), 60).text,
			vpa_cause_text(g->cause));
	else if (code.ns > g->duration_ns / 2)
		vpa_text_row(t, 4, "of which host code %s%s", vpa_duration(code.ns).text,
			vpa_code_place(&code, 60).text);
	else
		add_gap_call(t, g);
}

/* "of which host code 457 ms, in prompt": what most of the time before the first work was. */
static void add_gap_head(
	struct vpa_table *t, const struct vpa_report *r, const struct vpa_gap_row *g)
{
	const struct vpa_device *d = vpa_report_device(r, g->device);
	const struct vpa_idle_part *most = NULL;
	struct vpa_label place;
	size_t i;

	if (g->cause != VPA_CAUSE_BEFORE_FIRST_WORK)
		return;
	for (i = 0; d && i < d->before_first_work_count; i++)
		if (!most || d->before_first_work[i].ns > most->ns)
			most = &d->before_first_work[i];
	if (!most || most->ns <= g->duration_ns / 2 || most->cause == VPA_CAUSE_BEFORE_FIRST_WORK)
		return;
	place = vpa_place_label(most->call, &most->place, 60);
	vpa_text_row(t, 4, "of which %s %s%s%s", vpa_cause_text(vpa_known_cause(most->cause)),
		vpa_duration(most->ns).text, place.text[0] ? ", " : "", place.text);
}

/* "or, for 4.02 ms: no wait in cudaMemcpyAsync": before long code the host had waited, and need not have. */
static void add_gap_instead(struct vpa_table *t, const struct vpa_gap_row *g)
{
	const char *call = NULL;
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < g->piece_count; i++)
		if (g->pieces[i].instead) {
			ns += g->pieces[i].instead_ns;
			call = call ? call : g->pieces[i].instead;
		}
	if (ns > g->duration_ns / 4)
		vpa_text_row(t, 4, "or, for %s: do not wait in %s", vpa_duration(ns).text,
			vpa_fit(call, 60).text);
}

static uint64_t headline_ns(const struct vpa_gap_row *g)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < g->piece_count; i++)
		if (g->pieces[i].cause == g->cause)
			ns += g->pieces[i].ns;
	return ns;
}

/* "mostly ", where the headline's place does not cover its code. */
static const char *share_in_place(const struct vpa_gap_row *g, int is_code)
{
	const struct vpa_gap_piece *longest = NULL;
	size_t i;

	if (is_code)
		return g->code.place_ns < g->code.ns - g->code.ns / 10 ? "mostly " : "";
	for (i = 0; i < g->piece_count; i++)
		if (g->pieces[i].cause == g->cause && (!longest || g->pieces[i].ns > longest->ns))
			longest = &g->pieces[i];
	return longest && longest->is_partly ? "mostly " : "";
}

static void add_gap(
	struct vpa_table *t, const struct vpa_report *r, const struct vpa_gap_row *g, size_t room)
{
	int is_code = is_code_after_wait(g);
	const char *cause =
		vpa_cause_text(is_code ? VPA_CAUSE_HOST_CODE : vpa_known_cause(g->cause));
	const char *call = is_code ? NULL : g->call;
	const struct vpa_place *at = is_code ? &g->code.place : &g->place;
	struct vpa_label place, before = {{0}}, id = vpa_fit(g->id, 8);
	struct vpa_num ns = g->piece_count ? vpa_duration(is_code ? g->code.ns : headline_ns(g))
					   : (struct vpa_num){""};
	const char *mostly = share_in_place(g, is_code);
	struct vpa_row *row;
	char line[320];
	size_t used;
	int below;

	used = vpa_columns(id.text) + strlen(cause) + strlen(ns.text) + 4 + strlen(mostly);
	place = vpa_place_label(call, at, VPA_COLUMNS_MAX);
	below = vpa_columns(place.text) > (room > used ? room - used : 0) && used + INLINE > room;
	if (below)
		place.text[0] = '\0';
	else
		place = vpa_place_label(call, at, room > used ? room - used : 0);
	used += vpa_columns(place.text);
	if (g->before && !vpa_is_edge(g->cause) && used + 28 < room)
		before = vpa_kernel_label(g->before, room - used - 9);
	row = vpa_table_row(t, 1, "%s %s%s%s%s%s%s%s%s", id.text, cause, ns.text[0] ? " " : "",
		ns.text, place.text[0] ? ", " : "", place.text[0] ? mostly : "", place.text,
		before.text[0] ? ", then " : "", before.text);
	row->wrap = 1;
	row->cells[0] =
		vpa_scaled(g->start_ns > r->window_start_ns ? g->start_ns - r->window_start_ns : 0,
			1000000000, 6);
	row->cells[1] = vpa_duration(g->duration_ns);
	if (t->column_count > 2)
		snprintf(row->cells[2].text, sizeof(row->cells[2].text), "%lld",
			(long long)g->device);
	if (below)
		vpa_text_row(t, 4, "%s%s", mostly, vpa_place_label(call, at, room).text);
	if (vpa_top_line_text(line, sizeof(line), g->top)[0])
		vpa_text_row(t, 4, "%s", line);
	add_gap_head(t, r, g);
	add_gap_code(t, g);
	add_gap_instead(t, g);
	if (!is_code)
		add_pieces(t, g, room);
}

static void put_longest_gaps(
	struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	static const struct vpa_column columns[] = {
		{.head = "at s"}, {.head = "length"}, {.head = "GPU"}};
	struct vpa_table t;
	size_t i, shown = vpa_least(r->gap_count, vpa_rows(r, GAPS)), room;

	if (!shown)
		return;
	vpa_table_init(&t, columns, r->device_count > 1 ? 3 : 2, "LONGEST GAPS, %zu of %s over %s",
		shown, vpa_count(r->gaps_listed_of < shown ? shown : r->gaps_listed_of).text,
		vpa_duration(r->min_gap_ns).text);
	/* The room that two or three columns leave: no time is longer than the window's. */
	room = p->width - strlen(vpa_scaled(d->window_ns, 1000000000, 6).text) -
	       (r->device_count > 1 ? 17 : 12);
	for (i = 0; i < shown; i++)
		add_gap(&t, r, &r->gaps[i], room);
	vpa_page_table(p, &t);
}

void vpa_text_gaps(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	static const struct vpa_column columns[] = {{"<1 us", .drop = 4}, {"1-5 us", .drop = 3},
		{"5-20 us", .drop = 2}, {"20-100", .drop = 1, .unit = "us"}, {.head = "0.1-1 ms"},
		{.head = "1-10 ms"}, {.head = ">10 ms"}};
	struct vpa_table t;
	struct vpa_row *row;
	size_t i, bucket;

	_Static_assert(COUNT(columns) == VPA_GAP_BUCKETS, "a column for each bucket");
	if (!r->device_count)
		return;
	put_longest_gaps(p, r, d);
	if (!d->gaps)
		return;
	vpa_table_init(&t, columns, COUNT(columns), "GAPS BY LENGTH");
	t.joined = 1;
	row = vpa_table_row(&t, 1, "all %s", vpa_count(d->gaps).text);
	for (bucket = 0; bucket < VPA_GAP_BUCKETS; bucket++) {
		uint64_t sum = 0;

		for (i = 0; i < r->device_count; i++)
			vpt_sat_add_to(&sum, r->devices[i].histogram[bucket]);
		row->cells[bucket] = vpa_count(sum);
	}
	vpa_page_table(p, &t);
}
