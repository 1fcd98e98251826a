/* ranks_chart.c - what ranks do over time: a strip for each rank, or for the late ones and the mean of the others; of many
 * ranks a map of their waits; and a few collectives close up, with who came last to each. */
#include "analysis/ranks/render/ranks_pages.h"
#include "analysis/render/html/markup/chart_axes.h"
#include "analysis/render/html/markup/chart_strips.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	STRIPS = 16,    /* ranks in strips of their own */
	COLUMNS = 4096, /* of all strips */
	COLUMNS_LEAST = 128,
	COLUMNS_MOST = 512,
	GAP = 4,
	BANDS = 128, /* rows of the map */
	BAND = 3,    /* their height */
	LEVELS = 5,
	CLOSE = 12, /* collectives of a rank in a close-up */
	UNITS = 100000
};

struct chart {
	struct vpa_html *h;
	const struct vpa_job *job;
	struct vpa_rank_strips strips;
	size_t shown[STRIPS], shown_count; /* indexes in job->ranks, ascending */
	unsigned height, y;                /* of a strip; where the next thing stands */
};

/* ---- which ranks ---- */

static int is_shown(const struct chart *c, size_t rank)
{
	size_t i;

	for (i = 0; i < c->shown_count && c->shown[i] != rank; i++)
		;
	return i < c->shown_count;
}

static void show(struct chart *c, size_t rank)
{
	size_t i;

	if (c->shown_count == STRIPS || is_shown(c, rank))
		return;
	for (i = c->shown_count++; i && c->shown[i - 1] > rank; i--)
		c->shown[i] = c->shown[i - 1];
	c->shown[i] = rank;
}

/* The rank that others wait for most, of those that are not shown; rank_count: none. */
static size_t most_to_blame(const struct chart *c)
{
	const struct vpa_job *job = c->job;
	size_t best = job->rank_count, i;

	for (i = 0; i < job->rank_count; i++)
		if (job->ranks[i].blame_ns && !is_shown(c, i) &&
			(best == job->rank_count ||
				job->ranks[i].blame_ns > job->ranks[best].blame_ns))
			best = i;
	return best;
}

static void choose_ranks(struct chart *c, const struct vpa_late_ranks *late)
{
	const struct vpa_job *job = c->job;
	size_t i;

	if (job->rank_count <= STRIPS) {
		for (i = 0; i < job->rank_count; i++)
			show(c, i);
		return;
	}
	for (i = 0; i < late->rank_count; i++)
		show(c, late->ranks[i]);
	while (!late->rank_count && c->shown_count < 4 && (i = most_to_blame(c)) < job->rank_count)
		show(c, i);
}

static size_t columns_for(size_t strips)
{
	size_t most = COLUMNS / (strips ? strips : 1);

	return most < COLUMNS_LEAST ? COLUMNS_LEAST : most > COLUMNS_MOST ? COLUMNS_MOST : most;
}

/* ---- strips ---- */

static const struct {
	const char *slug, *kind;
} looks[VPA_DOINGS] = {
	[VPA_DOING_COMPUTE] = {"rank-computes", ""},
	[VPA_DOING_COPY] = {"memcpy", ""},
	[VPA_DOING_TRANSFER] = {"comm", ""},
	[VPA_DOING_WAIT] = {"rank-waits", ""},
	[VPA_DOING_IDLE] = {"other-idle", " idle"},
};

static void put_class(struct vpa_html *h, const void *ctx, size_t k)
{
	(void)ctx;
	vpa_html_print(h, "p-%s%s", looks[k].slug, looks[k].kind);
}

static void put_name(struct vpa_html *h, const void *ctx, size_t k)
{
	(void)ctx;
	vpa_html_raw(h, vpa_doing_words((enum vpa_rank_doing)k));
}

static void put_legend(struct vpa_html *h)
{
	size_t k;

	vpa_html_raw(h, "<p class=\"legend\">");
	for (k = 0; k < VPA_DOINGS; k++) {
		vpa_html_key(
			h, looks[k].slug, looks[k].kind, vpa_doing_words((enum vpa_rank_doing)k));
		vpa_html_raw(h, " ");
	}
	vpa_html_raw(h, "</p>\n");
}

/* The last one may be cut. */
static uint64_t column_length(const struct vpa_rank_strips *s, size_t column)
{
	uint64_t from = column * s->column_ns;

	return s->length_ns - from < s->column_ns ? s->length_ns - from : s->column_ns;
}

/* A strip of the sums of `count` ranks. */
static void put_strip(struct chart *c, const char *label, const struct vpa_rank_column *columns,
	size_t count, uint8_t *heights)
{
	const struct vpa_rank_strips *s = &c->strips;
	const struct vpa_strip strip = {.label = label,
		.y = c->y,
		.height = c->height,
		.length_ns = s->length_ns,
		.column_ns = s->column_ns,
		.columns = s->column_count,
		.part_count = VPA_DOINGS,
		.heights = heights,
		.put_class = put_class,
		.put_name = put_name};
	size_t i, k;

	for (i = 0; i < s->column_count; i++) {
		uint64_t length = vpt_sat_mul(column_length(s, i), count), sum = 0;

		for (k = 0; k < VPA_DOINGS; k++) {
			vpt_sat_add_to(&sum, columns[i].ns[k]);
			heights[i * VPA_DOINGS + k] = vpa_strip_height(sum, length);
		}
	}
	vpa_html_strip(c->h, &strip);
	c->y += c->height + GAP;
}

static struct vpa_label rank_label(const struct vpa_job *job, size_t rank)
{
	struct vpa_label label;

	snprintf(label.text, sizeof(label.text), "rank %" PRId64, job->ranks[rank].number);
	return label;
}

static size_t others_of(const struct chart *c)
{
	return c->job->rank_count - c->shown_count;
}

static void put_others(struct chart *c, uint8_t *heights)
{
	struct vpa_rank_column *sum = vpt_calloc(c->strips.column_count, sizeof(*sum));
	struct vpa_label label;
	size_t i, k;

	if (!sum) {
		c->h->rc = vpt_fail(c->h->err, VPT_ENOMEM, "no memory for a page");
		return;
	}
	for (i = 0; i < c->job->rank_count; i++)
		for (k = 0; !is_shown(c, i) && k < c->strips.column_count; k++)
			vpa_rank_column_add(
				&sum[k], &c->strips.columns[i * c->strips.column_count + k]);
	snprintf(label.text, sizeof(label.text), "%zu others", others_of(c));
	put_strip(c, label.text, sum, others_of(c), heights);
	vpt_free(sum);
}

static void put_strips(struct chart *c, int with_others)
{
	uint8_t *heights = vpt_alloc(c->strips.column_count, VPA_DOINGS);
	size_t i;

	if (!heights) {
		c->h->rc = vpt_fail(c->h->err, VPT_ENOMEM, "no memory for a page");
		return;
	}
	for (i = 0; i < c->shown_count; i++)
		put_strip(c, rank_label(c->job, c->shown[i]).text,
			&c->strips.columns[c->shown[i] * c->strips.column_count], 1, heights);
	if (with_others && others_of(c))
		put_others(c, heights);
	vpt_free(heights);
}

static void put_labels(const struct chart *c, int with_others)
{
	unsigned y = c->height / 2 + 4, step = c->height + GAP;
	struct vpa_label label;
	size_t i;

	for (i = 0; i < c->shown_count; i++, y += step)
		vpa_html_strip_label(c->h, rank_label(c->job, c->shown[i]).text, y);
	if (with_others && others_of(c)) {
		snprintf(label.text, sizeof(label.text), "%zu others", others_of(c));
		vpa_html_strip_label(c->h, label.text, y);
	}
}

/* ---- the map of waits ---- */

static size_t band_count(const struct vpa_job *job)
{
	size_t per = (job->rank_count + BANDS - 1) / BANDS;

	return (job->rank_count + per - 1) / per;
}

/* How much of its time a band of ranks waits: 0 to LEVELS. */
static unsigned level_of(const struct chart *c, size_t band, size_t column)
{
	const struct vpa_rank_strips *s = &c->strips;
	size_t per = (c->job->rank_count + BANDS - 1) / BANDS, i = band * per;
	size_t last = i + per < c->job->rank_count ? i + per : c->job->rank_count;
	uint64_t sum = 0, length = column_length(s, column);

	length = vpt_sat_mul(length, last - i);
	for (; i < last; i++)
		vpt_sat_add_to(&sum, s->columns[i * s->column_count + column].ns[VPA_DOING_WAIT]);
	return (unsigned)(vpt_sat_scale(sum, (uint64_t)2 * LEVELS, length) + 1) / 2;
}

/* One path for each level: its runs of columns in each row. */
static void put_level(struct chart *c, unsigned level, const uint8_t *levels, size_t bands)
{
	size_t columns = c->strips.column_count, row, i, run;

	vpa_html_print(c->h, "<path class=\"p-rank-waits heat-%u\" d=\"", level);
	for (row = 0; row < bands; row++)
		for (i = 0; i < columns; i += run) {
			const uint8_t *at = &levels[row * columns + i];

			for (run = 1; i + run < columns && at[run] == *at; run++)
				;
			if (*at == level)
				vpa_html_print(c->h, "M%zu %zuh%zuv1h-%zuz", i, row, run, run);
		}
	vpa_html_raw(c->h, "\"/>");
}

static void put_map(struct chart *c)
{
	size_t bands = band_count(c->job), columns = c->strips.column_count, i;
	uint64_t thousandths = vpt_sat_scale(c->strips.length_ns, 1000, c->strips.column_ns);
	uint8_t *levels = vpt_alloc(bands, columns);
	unsigned level;

	if (!levels) {
		c->h->rc = vpt_fail(c->h->err, VPT_ENOMEM, "no memory for a page");
		return;
	}
	for (i = 0; i < bands * columns; i++)
		levels[i] = (uint8_t)level_of(c, i / columns, i % columns);
	vpa_html_print(c->h,
		"<svg class=\"zoom map\" data-width=\"%" PRIu64 ".%03u\" y=\"%u\" width=\"100%%\" "
		"height=\"%zu\" viewBox=\"0 0 %" PRIu64
		".%03u %zu\" preserveAspectRatio=\"none\"><rect class=\"track\" width=\"100%%\" "
		"height=\"100%%\"/>",
		thousandths / 1000, (unsigned)(thousandths % 1000), c->y, bands * BAND,
		thousandths / 1000, (unsigned)(thousandths % 1000), bands);
	for (level = 1; level <= LEVELS; level++)
		put_level(c, level, levels, bands);
	vpa_html_raw(c->h, "</svg>\n");
	c->y += (unsigned)bands * BAND + GAP;
	vpt_free(levels);
}

/* Ranks at the top, at the quarters and at the bottom of the map. */
static void put_map_labels(const struct chart *c, unsigned y)
{
	size_t bands = band_count(c->job), last = c->job->rank_count - 1, i;

	for (i = 0; i <= 4; i++)
		vpa_html_strip_label(c->h, rank_label(c->job, last * i / 4).text,
			y + (unsigned)(bands * BAND * i / 4) +
				(i == 4     ? 0
					: i ? 4
					    : 9));
}

static void put_map_legend(struct vpa_html *h)
{
	unsigned level;

	vpa_html_raw(h, "<p class=\"legend\"><span class=\"kind\">waits for other ranks, of the "
			"time</span> ");
	for (level = 1; level <= LEVELS; level++)
		vpa_html_print(h,
			"<span class=\"key\"><svg class=\"swatch\" width=\"12\" "
			"height=\"12\"><rect "
			"width=\"12\" height=\"12\" class=\"p-rank-waits heat-%u\"/></svg>%u "
			"%%</span> ",
			level, level * 100 / LEVELS);
	vpa_html_raw(h, "</p>\n");
}

/* ---- the job's time ---- */

static void put_timeline(struct chart *c)
{
	size_t strips = c->shown_count + (others_of(c) != 0);
	unsigned top = (unsigned)strips * (c->height + GAP);
	unsigned map = others_of(c) ? (unsigned)band_count(c->job) * BAND + 3 * GAP : 0;

	vpa_html_print(c->h,
		"<div class=\"plot wide\" id=\"timeline\" data-ns=\"%" PRIu64
		"\" data-full=\"%d\"><svg class=\"axis\" width=\"96\" height=\"%u\">",
		c->strips.length_ns, VPA_STRIP_FULL, top + map + 22);
	put_labels(c, 1);
	if (map)
		put_map_labels(c, top + GAP);
	vpa_html_print(
		c->h, "</svg><svg class=\"main\" width=\"100%%\" height=\"%u\">\n", top + map + 22);
	put_strips(c, 1);
	if (map) {
		c->y += GAP;
		put_map(c);
	}
	vpa_html_time_axis(c->h, c->strips.length_ns, 0, top + map);
	vpa_html_raw(c->h, "</svg></div>\n");
}

/* Where the start is said apart, from when the rank that most waited for then began. 1: it is. */
static int leave_out_start(const struct vpa_job *job, const struct vpa_late_ranks *late,
	int64_t *start_ns, uint64_t *length_ns)
{
	size_t i, last = 0;
	uint64_t before_ns;

	if (!job->start_ns || late->with_start)
		return 0;
	for (i = 1; i < job->rank_count; i++)
		if (job->ranks[i].start_blame_ns > job->ranks[last].start_blame_ns)
			last = i;
	before_ns = (uint64_t)vpa_clock_time(&job->clocks.items[job->clocks.of_rank[last]],
			    job->ranks[last].rank->first_ns) -
		    (uint64_t)*start_ns;
	if (before_ns >= *length_ns)
		return 0;
	*start_ns += (int64_t)before_ns;
	*length_ns -= before_ns;
	return 1;
}

void vpa_ranks_put_timeline(
	struct vpa_html *h, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	struct chart c = {.h = h, .job = job};
	uint64_t length_ns;
	int64_t start_ns;
	int is_later;

	vpa_job_window(job, &start_ns, &length_ns);
	if (!length_ns)
		return;
	is_later = leave_out_start(job, late, &start_ns, &length_ns);
	choose_ranks(&c, late);
	c.height = c.shown_count > 8 ? 28 : 40;
	if (vpa_rank_strips_find(job, start_ns, length_ns,
		    columns_for(c.shown_count + (others_of(&c) != 0)), &c.strips)) {
		h->rc = vpt_fail(h->err, VPT_ENOMEM, "no memory for a page");
	} else {
		vpa_html_begin(h, "overview", "Ranks over time",
			others_of(&c) ? "The ranks that others wait for most, and the mean of the "
					"others. Below, how much each rank waits: a late rank "
					"is a line that does not."
			: is_later    ? "Each rank from when the last one began to the job's end."
				      : "Each rank from the job's start to its end.");
		put_timeline(&c);
		put_legend(h);
		if (others_of(&c))
			put_map_legend(h);
		vpa_html_print(h,
			"<div id=\"timeline-detail\" class=\"detail\"></div>\n<p "
			"class=\"note\">A column is %s wide.</p>\n",
			vpa_duration(c.strips.column_ns).text);
		vpa_html_end(h);
	}
	vpa_rank_strips_free(&c.strips);
}

/* ---- close up ---- */

/* The collective that shows best what is said: one that the latest rank came last to, with a wait like its mean one. */
struct typical {
	const struct vpa_job *job;
	size_t late; /* rank_count: any */
	uint64_t mean_ns, off_ns;
	struct vpa_job_meeting meeting;
	const struct vpa_group *group;
};

static void choose_typical(
	void *ctx, const struct vpa_group *g, size_t row, const struct vpa_job_meeting *m)
{
	struct typical *t = ctx;
	uint64_t off = m->wait_ns > t->mean_ns ? m->wait_ns - t->mean_ns : t->mean_ns - m->wait_ns;

	(void)row;
	if (!m->wait_ns || (t->late < t->job->rank_count && m->last != t->late))
		return;
	if (t->group && (off > t->off_ns || (off == t->off_ns && m->last_ns >= t->meeting.last_ns)))
		return;
	t->group = g;
	t->meeting = *m;
	t->off_ns = off;
}

static void find_typical(
	const struct vpa_job *job, const struct vpa_late_ranks *late, struct typical *t)
{
	const struct vpa_job_rank *r;

	*t = (struct typical){
		.job = job, .late = late->rank_count ? late->ranks[0] : job->rank_count};
	if (late->rank_count) {
		r = &job->ranks[t->late];
		t->mean_ns = r->last ? r->blame_ns / r->last : 0;
	} else {
		t->mean_ns = job->rows ? job->wait_ns / job->rows : 0;
	}
	vpa_job_meetings(job, choose_typical, t);
}

/* How long a close-up is: CLOSE collectives of a rank, and no longer than a unit. */
static uint64_t close_length(const struct vpa_job *job, uint64_t all_ns)
{
	uint64_t matched = 0, length;
	size_t i;

	for (i = 0; i < job->rank_count; i++)
		vpt_sat_add_to(&matched, job->ranks[i].matched);
	matched /= job->rank_count;
	length = matched > CLOSE ? vpt_sat_scale(all_ns, CLOSE, matched) : all_ns;
	return job->unit != VPA_UNIT_WINDOW && job->unit_ns && job->unit_ns < length ? job->unit_ns
										     : length;
}

/* The window's part up to a moment, of UNITS. */
static uint64_t units_at(const struct chart *c, int64_t at_ns)
{
	return vpt_sat_scale(
		(uint64_t)at_ns - (uint64_t)c->strips.start_ns, UNITS, c->strips.length_ns);
}

/* When the last one came: a line over the strips of those that were there, and a mark on that rank's. */
static void put_arrival(
	void *ctx, const struct vpa_group *g, size_t row, const struct vpa_job_meeting *m)
{
	struct chart *c = ctx;
	size_t first = STRIPS, last = STRIPS, i, k;

	(void)row;
	if (m->last_ns < c->strips.start_ns ||
		(uint64_t)m->last_ns - (uint64_t)c->strips.start_ns > c->strips.length_ns ||
		m->wait_ns < c->strips.column_ns)
		return;
	for (i = 0; i < c->shown_count; i++)
		for (k = 0; k < g->rank_count; k++)
			if (g->ranks[k] == c->shown[i]) {
				first = first == STRIPS ? i : first;
				last = i;
			}
	if (first == STRIPS)
		return;
	vpa_html_raw(c->h, "<line class=\"arrival\" x1=\"");
	vpa_html_percent(c->h, units_at(c, m->last_ns), UNITS);
	vpa_html_raw(c->h, "%\" x2=\"");
	vpa_html_percent(c->h, units_at(c, m->last_ns), UNITS);
	vpa_html_print(c->h, "%%\" y1=\"%zu\" y2=\"%zu\"/>", first * (c->height + GAP),
		last * (c->height + GAP) + c->height);
	for (i = first; i <= last && c->shown[i] != m->last; i++)
		;
	if (i > last)
		return;
	vpa_html_raw(c->h, "<text class=\"arrival middle\" x=\"");
	vpa_html_percent(c->h, units_at(c, m->last_ns), UNITS);
	vpa_html_print(c->h,
		"%%\" y=\"%zu\">\xe2\x97\x86<title>rank %" PRId64
		" came last: the others waited %s, summed</title></text>",
		i * (c->height + GAP) + c->height / 2 + 4, c->job->ranks[m->last].number,
		vpa_duration(m->wait_ns).text);
}

/* Of many ranks those that met, near the one that came last. */
static void choose_members(struct chart *c, const struct typical *t)
{
	size_t at = 0, k;

	if (c->job->rank_count <= STRIPS) {
		for (k = 0; k < c->job->rank_count; k++)
			show(c, k);
		return;
	}
	while (at < t->group->rank_count && t->group->ranks[at] != t->meeting.last)
		at++;
	at = at > STRIPS / 2 ? at - STRIPS / 2 : 0;
	if (at + STRIPS > t->group->rank_count)
		at = t->group->rank_count > STRIPS ? t->group->rank_count - STRIPS : 0;
	for (k = at; k < t->group->rank_count && k < at + STRIPS; k++)
		show(c, t->group->ranks[k]);
}

static void put_close_up(struct chart *c, const struct typical *t)
{
	unsigned top = (unsigned)c->shown_count * (c->height + GAP);
	struct vpa_words lead = {.used = 0};

	vpa_words_add(&lead, "",
		"%s around a collective to which rank %" PRId64
		" came last. A line is the moment when the last rank has come, the mark on it "
		"that rank.",
		vpa_duration(c->strips.length_ns).text, c->job->ranks[t->meeting.last].number);
	vpa_html_begin(c->h, "close-up", "Who waits for whom", lead.text);
	vpa_html_print(c->h,
		"<div class=\"plot wide\"><svg class=\"axis\" width=\"96\" height=\"%u\">",
		top + 22);
	put_labels(c, 0);
	vpa_html_print(
		c->h, "</svg><svg class=\"main\" width=\"100%%\" height=\"%u\">\n", top + 22);
	put_strips(c, 0);
	vpa_html_time_axis(c->h, c->strips.length_ns, 0, top);
	vpa_job_meetings(c->job, put_arrival, c);
	vpa_html_raw(c->h, "</svg></div>\n");
	put_legend(c->h);
	vpa_html_end(c->h);
}

void vpa_ranks_put_close_up(
	struct vpa_html *h, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	struct chart c = {.h = h, .job = job, .height = 28};
	struct typical t;
	uint64_t all_ns, length_ns;
	int64_t start_ns, at_ns;

	find_typical(job, late, &t);
	vpa_job_window(job, &start_ns, &all_ns);
	if (!t.group || !all_ns)
		return;
	length_ns = close_length(job, all_ns);
	/* Two thirds before it. */
	at_ns = t.meeting.last_ns - (int64_t)(length_ns / 3 * 2);
	at_ns = at_ns < start_ns ? start_ns : at_ns;
	if ((uint64_t)at_ns - (uint64_t)start_ns > all_ns - length_ns)
		at_ns = start_ns + (int64_t)(all_ns - length_ns);
	choose_members(&c, &t);
	if (vpa_rank_strips_find(job, at_ns, length_ns, columns_for(c.shown_count), &c.strips))
		h->rc = vpt_fail(h->err, VPT_ENOMEM, "no memory for a page");
	else
		put_close_up(&c, &t);
	vpa_rank_strips_free(&c.strips);
}
