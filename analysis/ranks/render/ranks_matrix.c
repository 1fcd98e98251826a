/* ranks_matrix.c - the time of each rank in each stage, in the ranges where it computes most, and in each part of a unit, side by
 * side: a cell each, shaded where the rank is far from the others; of many ranks a histogram of each column, with who is at its
 * ends. */
#include "analysis/ranks/render/ranks_pages.h"

#include "analysis/base/sort.h"
#include "analysis/render/html/markup/html.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	CELLS_MOST = 64, /* ranks that have a row each */
	STAGES_MOST = 12,
	PLACES_MOST = 4,
	PLACES_LOOKED_AT = 64,
	PARTS = 5,
	COLUMNS_MOST = STAGES_MOST + PLACES_MOST + PARTS,
	LEAST = 500, /* a difference of less than 1 / this of a unit is not shaded */
	BINS = 30,
	BIN_HEIGHT = 48,
	SHADES = 3
};

/* Of the column's median: what is shaded, and how much. */
static const unsigned shade_percent[SHADES] = {2, 10, 25};

/* Ranks that meet in a stage leave it together, so a late one shows in what it computes where. */
enum column_kind { OF_STAGE, OF_PLACE, OF_PART };

struct matrix {
	struct vpa_html *h;
	const struct vpa_job *job;
	const struct vpa_late_ranks *late;
	struct column {
		enum column_kind kind;
		const char *name; /* of a stage or place; of a part our own word */
		int in_blocks;
		int64_t *ns; /* by rank; below 0: not known */
		int64_t median_ns;
	} columns[COLUMNS_MOST];
	size_t column_count;
};

/* ---- what is in it ---- */

static struct column *add_column(struct matrix *m, enum column_kind kind, const char *name)
{
	struct column *c = &m->columns[m->column_count];
	size_t i;

	c->kind = kind;
	c->name = name;
	c->ns = vpt_calloc(m->job->rank_count + 1, sizeof(*c->ns));
	if (!c->ns) {
		m->h->rc = vpt_fail(m->h->err, VPT_ENOMEM, "no memory for a page");
		return NULL;
	}
	for (i = 0; i < m->job->rank_count; i++)
		c->ns[i] = -1;
	m->column_count++;
	return c;
}

static struct column *find_stage(struct matrix *m, const struct vpa_rank_stage *s)
{
	struct column *c;
	size_t i;

	for (i = 0; i < m->column_count; i++)
		if (m->columns[i].in_blocks == s->in_blocks && !strcmp(m->columns[i].name, s->name))
			return &m->columns[i];
	if (m->column_count == STAGES_MOST)
		return NULL;
	c = add_column(m, OF_STAGE, s->name);
	if (c)
		c->in_blocks = s->in_blocks;
	return c;
}

static void add_stages(struct matrix *m)
{
	size_t i, k;

	for (i = 0; i < m->job->rank_count && !m->h->rc; i++)
		for (k = 0; k < m->job->ranks[i].stage_count && !m->h->rc; k++) {
			const struct vpa_rank_stage *s = &m->job->ranks[i].stages[k];
			struct column *c = find_stage(m, s);

			if (c)
				c->ns[i] =
					(int64_t)(s->time_ns < INT64_MAX ? s->time_ns : INT64_MAX);
		}
}

/* A range in which ranks compute, and for how long, summed over ranks. */
struct place {
	const char *name;
	double ns;
};

static double compute_at(const struct vpa_job *job, const struct vpa_job_rank *r, const char *place)
{
	double ns = 0;
	size_t i;

	for (i = 0; i < r->rank->part_name_count; i++) {
		const struct vpa_part_name *name = &r->rank->part_names[i];

		if (name->klass == VPA_TIME_COMPUTE && vpt_same_text(name->place, place))
			ns += (double)r->rank->part_ns[i];
	}
	return vpa_job_rank_per_unit(job, r, ns);
}

static void count_place(struct place *places, size_t *count, const char *name, double ns)
{
	size_t i;

	for (i = 0; i < *count && strcmp(places[i].name, name) != 0; i++)
		;
	if (i == PLACES_LOOKED_AT)
		return;
	if (i == *count)
		places[(*count)++] = (struct place){name, 0};
	places[i].ns += ns;
}

static int by_time(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void add_places(struct matrix *m)
{
	struct place places[PLACES_LOOKED_AT];
	size_t i, k, count = 0;

	for (i = 0; i < m->job->rank_count; i++) {
		const struct vpa_rank *r = m->job->ranks[i].rank;

		for (k = 0; k < r->part_name_count; k++)
			if (r->part_names[k].klass == VPA_TIME_COMPUTE && r->part_names[k].place)
				count_place(places, &count, r->part_names[k].place,
					(double)r->part_ns[k]);
	}
	qsort(places, count, sizeof(*places), by_time);
	for (k = 0; k < count && k < PLACES_MOST && !m->h->rc; k++) {
		struct column *c = add_column(m, OF_PLACE, places[k].name);

		for (i = 0; c && i < m->job->rank_count; i++)
			c->ns[i] = vpt_sat_i64(
				compute_at(m->job, &m->job->ranks[i], places[k].name) + 0.5);
	}
}

/* A rank's time in a part of a unit, as in the table of ranks. */
static double part_of(const struct vpa_job *job, const struct vpa_job_rank *r, unsigned part)
{
	switch (part) {
	case 0:
		return r->metrics[VPA_METRIC_COMPUTES];
	case 1:
		return vpa_job_rank_per_unit(job, r, (double)r->rank->class_ns[VPA_TIME_COPY]);
	case 2:
		return job->rows ? vpa_job_rank_per_unit(job, r, (double)r->transfer_ns) : -1;
	case 3:
		return r->metrics[VPA_METRIC_WAITS];
	default:
		return r->metrics[VPA_METRIC_IDLE];
	}
}

static void add_parts(struct matrix *m)
{
	static const char *const names[PARTS] = {
		"computes", "copies", "transfers", "waits", "idle"};
	unsigned part;
	size_t i;

	for (part = 0; part < PARTS && !m->h->rc; part++) {
		struct column *c = add_column(m, OF_PART, names[part]);

		for (i = 0; c && i < m->job->rank_count; i++) {
			double ns = part_of(m->job, &m->job->ranks[i], part);

			c->ns[i] = ns < 0 ? -1 : vpt_sat_i64(ns + 0.5);
		}
	}
}

static void find_median(struct matrix *m, struct column *c)
{
	size_t i, count = 0;
	int64_t *known = vpt_calloc(m->job->rank_count + 1, sizeof(*known));

	if (!known) {
		m->h->rc = vpt_fail(m->h->err, VPT_ENOMEM, "no memory for a page");
		return;
	}
	for (i = 0; i < m->job->rank_count; i++)
		if (c->ns[i] >= 0)
			known[count++] = c->ns[i];
	c->median_ns = count ? vpa_nth(known, count, count / 2) : 0;
	vpt_free(known);
}

/* ---- the table ---- */

/* How far a cell is from its column's median: 0, 1 to SHADES above it, below 0 below it. */
static int shade_of(const struct matrix *m, const struct column *c, size_t rank)
{
	double off = (double)c->ns[rank] - (double)c->median_ns, size = off < 0 ? -off : off;
	int shade = 0;

	if (c->ns[rank] < 0 || size * LEAST < (double)m->job->unit_ns)
		return 0;
	while (shade < SHADES && size * 100 >= (double)c->median_ns * shade_percent[shade])
		shade++;
	return off < 0 ? -shade : shade;
}

static int is_first_of_kind(const struct matrix *m, size_t column)
{
	return column && m->columns[column - 1].kind != m->columns[column].kind;
}

static void put_cell(const struct matrix *m, size_t column, size_t rank)
{
	const struct column *c = &m->columns[column];
	int shade = shade_of(m, c, rank);

	vpa_html_print(m->h, "<td class=\"n%s", is_first_of_kind(m, column) ? " apart" : "");
	if (shade)
		vpa_html_print(
			m->h, " %s-%d", shade > 0 ? "up" : "down", shade > 0 ? shade : -shade);
	vpa_html_print(m->h, "\">%s</td>",
		c->ns[rank] < 0 ? "-" : vpa_duration((uint64_t)c->ns[rank]).text);
}

/* What a number of the column is of. */
static const char *unit_of(const struct matrix *m, const struct column *c)
{
	if (c->kind == OF_PLACE)
		return "computes";
	return c->kind == OF_PART ? vpa_unit_words(m->job->unit)->a_name
	       : c->in_blocks     ? "a block"
				  : "each";
}

static void put_heads(const struct matrix *m)
{
	size_t i;

	vpa_html_raw(m->h, "<thead><tr><th class=\"n\">rank</th>");
	for (i = 0; i < m->column_count; i++) {
		vpa_html_print(m->h, "<th class=\"n%s\">", is_first_of_kind(m, i) ? " apart" : "");
		vpa_html_fit(m->h, m->columns[i].name, 24);
		if (m->columns[i].kind != OF_PART)
			vpa_html_print(m->h, " <small>%s</small>", unit_of(m, &m->columns[i]));
		vpa_html_raw(m->h, "</th>");
	}
	vpa_html_raw(m->h, "</tr></thead>\n");
}

static void put_key(const struct matrix *m)
{
	int shade;

	vpa_html_raw(m->h,
		"<p class=\"legend matrix\"><span class=\"kind\">beside the median of the "
		"column</span> ");
	for (shade = -SHADES; shade <= SHADES; shade++)
		if (shade)
			vpa_html_print(m->h, "<span class=\"%s-%d\">%u %% %s</span> ",
				shade < 0 ? "down" : "up", shade < 0 ? -shade : shade,
				shade_percent[(shade < 0 ? -shade : shade) - 1],
				shade < 0 ? "less" : "more");
	vpa_html_raw(m->h, "</p>\n");
}

static void put_table(const struct matrix *m)
{
	size_t i, k;

	vpa_html_raw(m->h, "<div class=\"scroll\"><table class=\"matrix\">");
	put_heads(m);
	vpa_html_raw(m->h, "<tbody>\n");
	for (i = 0; i < m->job->rank_count; i++) {
		int is_late = vpa_is_late(m->late, i);

		vpa_html_print(m->h, "<tr><td class=\"n\">%s%" PRId64 "%s</td>",
			is_late ? "<b>" : "", m->job->ranks[i].number, is_late ? "</b>" : "");
		for (k = 0; k < m->column_count; k++)
			put_cell(m, k, i);
		vpa_html_raw(m->h, "</tr>\n");
	}
	vpa_html_raw(m->h, "</tbody></table></div>\n");
	put_key(m);
}

/* ---- histograms ---- */

struct histogram {
	size_t counts[BINS], most;       /* most: of a bin */
	size_t known, least_at, most_at; /* ranks with the least and the most */
	int64_t least_ns, most_ns;
};

static void count_ranks(const struct matrix *m, const struct column *c, struct histogram *out)
{
	size_t i, bin;
	uint64_t span;

	*out = (struct histogram){.least_ns = INT64_MAX, .most_ns = -1};
	for (i = 0; i < m->job->rank_count; i++) {
		if (c->ns[i] < 0)
			continue;
		out->known++;
		if (c->ns[i] < out->least_ns) {
			out->least_ns = c->ns[i];
			out->least_at = i;
		}
		if (c->ns[i] > out->most_ns) {
			out->most_ns = c->ns[i];
			out->most_at = i;
		}
	}
	span = out->known ? (uint64_t)out->most_ns - (uint64_t)out->least_ns : 0;
	for (i = 0; i < m->job->rank_count && out->known; i++) {
		if (c->ns[i] < 0)
			continue;
		bin = span ? (size_t)vpt_sat_scale((uint64_t)(c->ns[i] - out->least_ns), BINS, span)
			   : BINS / 2;
		bin = bin < BINS ? bin : BINS - 1;
		if (++out->counts[bin] > out->most)
			out->most = out->counts[bin];
	}
}

static void put_bins(const struct matrix *m, const struct histogram *g)
{
	size_t i;

	vpa_html_print(m->h,
		"<svg class=\"bins\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		"preserveAspectRatio=\"none\">",
		BIN_HEIGHT, BINS * 10, BIN_HEIGHT);
	for (i = 0; i < BINS; i++) {
		size_t height = g->counts[i] * BIN_HEIGHT / g->most;

		/* One rank of a thousand is what is looked for. */
		if (g->counts[i] && height < 3)
			height = 3;
		if (height)
			vpa_html_print(m->h,
				"<rect x=\"%zu\" y=\"%zu\" width=\"9\" height=\"%zu\"><title>%zu "
				"rank%s</title></rect>",
				i * 10, BIN_HEIGHT - height, height, g->counts[i],
				vpa_plural(g->counts[i]));
	}
	vpa_html_raw(m->h, "</svg>");
}

static void put_histogram(const struct matrix *m, const struct column *c)
{
	struct histogram g;

	count_ranks(m, c, &g);
	if (!g.known)
		return;
	vpa_html_raw(m->h, "<figure class=\"counter\"><figcaption><b>");
	vpa_html_fit(m->h, c->name, 24);
	vpa_html_print(m->h, "</b><span>%s", unit_of(m, c));
	if (g.known < m->job->rank_count)
		vpa_html_print(m->h, ", %zu of %zu ranks", g.known, m->job->rank_count);
	vpa_html_raw(m->h, "</span></figcaption>");
	put_bins(m, &g);
	vpa_html_print(m->h, "<figcaption><span>%s", vpa_duration((uint64_t)g.least_ns).text);
	if (g.most_ns > g.least_ns)
		vpa_html_print(m->h, ", rank %" PRId64 "</span><span>%s, rank %" PRId64,
			m->job->ranks[g.least_at].number, vpa_duration((uint64_t)g.most_ns).text,
			m->job->ranks[g.most_at].number);
	else
		vpa_html_raw(m->h, ", all of them");
	vpa_html_raw(m->h, "</span></figcaption></figure>\n");
}

static void put_histograms(const struct matrix *m)
{
	size_t i;

	vpa_html_raw(m->h, "<div class=\"counters\">\n");
	for (i = 0; i < m->column_count; i++)
		put_histogram(m, &m->columns[i]);
	vpa_html_raw(m->h, "</div>\n");
}

void vpa_ranks_put_matrix(
	struct vpa_html *h, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	struct matrix m = {.h = h, .job = job, .late = late};
	int is_many = job->rank_count > CELLS_MOST;
	struct vpa_words lead = {.used = 0};
	size_t i;

	add_stages(&m);
	add_places(&m);
	add_parts(&m);
	for (i = 0; i < m.column_count && !h->rc; i++)
		find_median(&m, &m.columns[i]);
	vpa_words_add(&lead, "", "%s in each stage, where it computes, and in each part of %s.%s",
		is_many ? "How many ranks spend how long" : "The time of each rank",
		job->unit == VPA_UNIT_WINDOW ? "its time" : vpa_unit_words(job->unit)->a_noun,
		is_many ? " The ends of an axis are the least and the most." : "");
	if (!h->rc) {
		vpa_html_begin(h, "matrix", "Ranks and stages", lead.text);
		if (is_many)
			put_histograms(&m);
		else
			put_table(&m);
		vpa_html_end(h);
	}
	for (i = 0; i < m.column_count; i++)
		vpt_free(m.columns[i].ns);
}
