/* text_tables.c - the tables under the summary: what to fix, where the window went, and the
 * proof.
 *
 * Each section is a function that is silent without data; each table names its columns in a
 * constant. Rows are few, the largest first: the JSON report has the others. The window's table
 * holds both halves, idle and busy, in one set of columns, so that its shares add up to 100 %.
 *
 * Ids (G1, K2, C1, S3) number the rows of the report's tables; findings name them as evidence. */
#include "analysis/render/render.h"

#include <stdio.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { /* rows of each table */
	FINDINGS = 5,
	DEVICES = 32,
	CAUSES = 7,
	PLACES_OF_FIRST = 3,
	PLACES_OF_OTHERS = 2,
	FAMILIES = 7,
	GAPS = 5,
	PIECES = 5
};

/* ---- FIX FIRST ---- */

/* The ids as one cell: ASCII, as many as it holds. */
static struct vpa_num evidence_of(const struct vpa_finding *f)
{
	struct vpa_num out = {{0}};
	size_t used = 0, i, k;

	for (i = 0; i < f->evidence_count; i++) {
		const char *id = vpa_text_or(f->evidence[i], "?");
		size_t len = strlen(id), before = used ? 2 : 0;

		if (used + before + len > 16)
			break;
		memcpy(out.text + used, ", ", before);
		used += before;
		for (k = 0; k < len; k++)
			out.text[used + k] = id[k] > ' ' && id[k] < 0x7f ? id[k] : '?';
		used += len;
	}
	return out;
}

int vpa_is_note(const struct vpa_finding *f)
{
	return !(f->gain_at_most_ms > 0) && !strcmp(vpa_text_or(f->status, "info"), "info");
}

void vpa_text_findings(struct vpa_page *p, const struct vpa_report *r)
{
	static const struct vpa_column columns[] = {{"at most *", 0}, {"evidence", 1}};
	struct vpa_table t;
	size_t i;

	vpa_table_init(&t, columns, COUNT(columns), "FIX FIRST");
	for (i = 0; i < r->finding_count && t.row_count < FINDINGS; i++) {
		const struct vpa_finding *f = &r->findings[i];
		struct vpa_row *row;

		if (vpa_is_note(f))
			continue;
		row = vpa_table_row(&t, 1, "%zu %s", t.row_count + 1, vpa_text_or(f->title, "?"));
		row->wrap = 1;
		if (!strcmp(vpa_text_or(f->status, ""), "fail"))
			row->style = VPA_YELLOW;
		row->cells[0] = (struct vpa_num){"-"};
		if (f->gain_at_most_ms > 0)
			snprintf(row->cells[0].text, sizeof(row->cells[0].text), "%.30s ms",
				vpa_fixed(f->gain_at_most_ms, 1).text);
		row->cells[1] = evidence_of(f);
	}
	if (!t.row_count)
		return;
	vpa_text_row(&t, 1, "* if nothing else becomes the bottleneck; gains do not add up");
	vpa_page_blank(p);
	vpa_page_table(p, &t);
}

/* ---- devices, and the window ---- */

void vpa_text_devices(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	static const struct vpa_column columns[] = {{"active ms", 2}, {"busy ms", 0},
		{"compute", 0}, {"copies *", 0}, {"comm *", 0}, {"idle ms", 0}, {"longest", 1}};
	struct vpa_table t;
	size_t i;

	if (r->device_count < 2)
		return;
	vpa_table_init(&t, columns, COUNT(columns), "DEVICE");
	for (i = 0; i < r->device_count && i < DEVICES; i++) {
		const struct vpa_device *dev = &r->devices[i];
		struct vpa_row *row = vpa_table_row(&t, 1, "GPU %lld", (long long)dev->device);

		row->cells[0] = vpa_ms(dev->active_ns, d);
		row->cells[1] = vpa_ms(dev->busy_ns, d);
		row->cells[2] = vpa_ms(dev->compute_ns, d);
		row->cells[3] = vpa_ms(dev->exposed_copy_ns, d);
		row->cells[4] = vpa_ms(dev->exposed_comm_ns, d);
		row->cells[5] = vpa_ms(dev->idle_ns, d);
		row->cells[6] = vpa_duration(dev->longest_gap_ns);
	}
	vpa_text_row(&t, 1, "* hidden by no kernel; idle: from the first to the last op");
	vpa_page_blank(p);
	vpa_page_table(p, &t);
}

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

static void add_call(struct vpa_table *t, const struct vpa_digest *d, enum vpa_cause cause)
{
	size_t ranges;
	struct vpa_idle_place call = vpa_call_of(d, cause, &ranges);

	if (ranges > 1 && call.ns >= d->opened_ns[cause] / 10)
		fill_part(vpa_table_row(
				  t, 4, "%s in %zu ranges", vpa_fit(call.call, 60).text, ranges),
			call.ns, call.gaps, call.ns, d);
}

/* The largest places of a cause. One that holds all of it stands on the cause's own line. */
static void add_cause(
	struct vpa_table *t, const struct vpa_digest *d, enum vpa_cause cause, size_t most)
{
	struct vpa_row *row = vpa_table_row(t, 2, "%s", vpa_cause_text(cause));
	size_t i, shown = 0;

	fill_part(row, d->opened_ns[cause], d->opened_gaps[cause], d->opened_ns[cause], d);
	for (i = 0; i < d->place_count && shown < most; i++) {
		const struct vpa_idle_place *at = &d->places[i];
		struct vpa_label where;

		if (at->cause != cause || at->ns < d->opened_ns[cause] / 10)
			continue;
		if (at->ns == d->opened_ns[cause]) {
			add_where(row, vpa_place(at->call, at->range, 64).text);
			return;
		}
		where = vpa_place(at->call, at->range, 80);
		fill_part(
			vpa_table_row(t, 4, "%s", where.text[0] ? where.text : "no call, no range"),
			at->ns, at->gaps, at->ns, d);
		shown++;
	}
	if (!shown && most)
		add_call(t, d, cause);
}

/* Where the host was meanwhile, as shares of all idle time: those of a hundredth and more, by size.
 */
static void add_spent(struct vpa_table *t, const struct vpa_digest *d)
{
	unsigned char named[VPA_CAUSES] = {0};
	char text[400] = "";
	size_t used = 0, piece;

	for (piece = 0; piece < PIECES; piece++) {
		unsigned cause, best = VPA_CAUSES;
		int len;

		for (cause = 0; cause < VPA_CAUSES; cause++)
			if (!named[cause] && d->spent_ns[cause] > d->window_idle_ns / 100 &&
				(best == VPA_CAUSES || d->spent_ns[cause] > d->spent_ns[best]))
				best = cause;
		if (best == VPA_CAUSES)
			break;
		named[best] = 1;
		len = snprintf(text + used, sizeof(text) - used, "%s%s %s %%", used ? ", " : "",
			vpa_cause_text((enum vpa_cause)best),
			vpa_percent(d->spent_ns[best], d->window_idle_ns).text);
		if (len < 0 || (size_t)len >= sizeof(text) - used)
			break;
		used += (size_t)len;
	}
	if (used)
		vpa_text_row(t, 2, "spent in: %s", text);
}

/* A line for a thousandth of the window and more, and for the three largest. */
static int is_worth(uint64_t ns, const struct vpa_digest *d, size_t rank)
{
	return rank < 3 || ns >= d->windows_ns / 1000;
}

/* Where a device always works, little idle time needs no places. */
static size_t places_wanted(const struct vpa_digest *d, size_t rank)
{
	if (d->gpu_bound && d->opened_ns[d->opened[rank]] < d->windows_ns / 100)
		return 0;
	return rank ? PLACES_OF_OTHERS : PLACES_OF_FIRST;
}

static void add_idle(struct vpa_table *t, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct vpa_row *row = vpa_table_row(t, 1, "GPU IDLE, by what opened the gap");
	uint64_t rest_ns = 0, rest_gaps = 0;
	size_t i;

	row->style = VPA_BOLD;
	fill_part(row, d->window_idle_ns, d->window_gaps, d->window_idle_ns, d);
	for (i = 0; i < d->opened_count && i < CAUSES && is_worth(d->opened_ns[d->opened[i]], d, i);
		i++)
		add_cause(t, d, d->opened[i], places_wanted(d, i));
	for (; i < d->opened_count; i++) {
		rest_ns += d->opened_ns[d->opened[i]];
		rest_gaps += d->opened_gaps[d->opened[i]];
	}
	if (rest_ns)
		fill_part(vpa_table_row(t, 2, "smaller ones"), rest_ns, rest_gaps, rest_ns, d);
	add_spent(t, d);
	if (r->verdict.gaps != VPA_OK)
		vpa_text_row(t, 2, "%s: see DATA",
			r->verdict.gaps == VPA_DEGRADED ? "DEGRADED" : "UNAVAILABLE")
			->style = VPA_YELLOW;
}

static void add_busy(struct vpa_table *t, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct vpa_row *row = vpa_table_row(t, 1, "GPU BUSY, by kernel family");
	uint64_t rest_ns = 0, rest_calls = 0, rest_total = 0, ops = 0;
	size_t i, rest = 0;

	row->style = VPA_BOLD;
	for (i = 0; i < r->family_count; i++) {
		const struct vpa_family_row *f = &r->families[i];

		ops += f->calls;
		if ((i < FAMILIES && is_worth(f->exclusive_ns, d, i)) ||
			(i + 1 == r->family_count && !rest)) {
			fill_part(vpa_table_row(t, 2, "%s", vpa_family_text(d, f->family)),
				f->exclusive_ns, f->calls, f->total_ns, d);
			continue;
		}
		rest++;
		rest_ns += f->exclusive_ns;
		rest_calls += f->calls;
		rest_total += f->total_ns;
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
		{"ms", 0}, {"% window", 0}, {"count", 0}, {"mean", 1}};
	struct vpa_table t;

	if (r->device_count > 1)
		vpa_table_init(&t, columns, COUNT(columns), "THE WINDOWS OF %zu GPUS, ADDED UP",
			r->device_count);
	else
		vpa_table_init(&t, columns, COUNT(columns), "THE WINDOW");
	if (d->gpu_bound)
		add_busy(&t, r, d);
	add_idle(&t, r, d);
	if (!d->gpu_bound)
		add_busy(&t, r, d);
	vpa_page_blank(p);
	vpa_page_table(p, &t);
}

/* ---- gaps ---- */

static void add_gap(
	struct vpa_table *t, const struct vpa_report *r, const struct vpa_gap_row *g, size_t room)
{
	const char *cause = vpa_cause_text(
		(unsigned)g->opened_by < VPA_CAUSES ? g->opened_by : VPA_CAUSE_UNKNOWN);
	struct vpa_label place, before = {{0}}, id = vpa_fit(g->id, 8);
	struct vpa_row *row;
	size_t used;

	used = vpa_columns(id.text) + strlen(cause) + 3;
	place = vpa_place(g->call, g->range, room > used ? room - used : 0);
	used += vpa_columns(place.text);
	if (g->before && !vpa_is_edge(g->opened_by) && used + 28 < room)
		before = vpa_kernel_label(g->before, room - used - 9);
	row = vpa_table_row(t, 1, "%s %s%s%s%s%s", id.text, cause, place.text[0] ? ", " : "",
		place.text, before.text[0] ? ", before " : "", before.text);
	row->cells[0] =
		vpa_scaled(g->start_ns > r->window_start_ns ? g->start_ns - r->window_start_ns : 0,
			1000000000, 6);
	row->cells[1] = vpa_duration(g->duration_ns);
	if (t->column_count > 2)
		snprintf(row->cells[2].text, sizeof(row->cells[2].text), "%lld",
			(long long)g->device);
}

static void put_longest_gaps(
	struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	static const struct vpa_column columns[] = {{"at s", 0}, {"length", 0}, {"GPU", 0}};
	struct vpa_table t;
	size_t i, shown = vpa_least(r->gap_count, GAPS), room;

	if (!shown)
		return;
	vpa_table_init(&t, columns, r->device_count > 1 ? 3 : 2, "LONGEST GAPS, %zu of %s over %s",
		shown, vpa_count(r->gaps_listed_of < shown ? shown : r->gaps_listed_of).text,
		vpa_duration(r->min_gap_ns).text);
	/* What two or three columns leave: no time is longer than the window's. */
	room = p->width - strlen(vpa_scaled(d->window_ns, 1000000000, 6).text) -
	       (r->device_count > 1 ? 17 : 12);
	for (i = 0; i < shown; i++)
		add_gap(&t, r, &r->gaps[i], room);
	vpa_page_blank(p);
	vpa_page_table(p, &t);
}

void vpa_text_gaps(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	static const struct vpa_column columns[] = {{"<1 us", 4}, {"1-5 us", 3}, {"5-20 us", 2},
		{"20-100", 1}, {"0.1-1 ms", 0}, {"1-10 ms", 0}, {">10 ms", 0}};
	struct vpa_table t;
	struct vpa_row *row;
	size_t i, bucket;

	_Static_assert(COUNT(columns) == VPA_GAP_BUCKETS, "a column for each bucket");
	put_longest_gaps(p, r, d);
	if (!d->gaps)
		return;
	vpa_table_init(&t, columns, COUNT(columns), "GAPS BY LENGTH");
	row = vpa_table_row(&t, 1, "all %s", vpa_count(d->gaps).text);
	for (bucket = 0; bucket < VPA_GAP_BUCKETS; bucket++) {
		uint64_t sum = 0;

		for (i = 0; i < r->device_count; i++)
			sum += r->devices[i].histogram[bucket];
		row->cells[bucket] = vpa_count(sum);
	}
	vpa_page_table(p, &t);
}
