/* ranks_strips.c - stretches between marks, spread over columns. */
#include "analysis/ranks/render/ranks_pages.h"

#include "analysis/ranks/rank/file/rank_fold.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

const char *vpa_doing_words(enum vpa_rank_doing doing)
{
	static const char *const words[VPA_DOINGS] = {
		[VPA_DOING_COMPUTE] = "computes",
		[VPA_DOING_COPY] = "copies",
		[VPA_DOING_TRANSFER] = "transfers",
		[VPA_DOING_WAIT] = "waits for other ranks",
		[VPA_DOING_IDLE] = "idle",
	};

	return doing < VPA_DOINGS ? words[doing] : "";
}

static const struct vpa_clock *clock_of(const struct vpa_job *job, size_t rank)
{
	return &job->clocks.items[job->clocks.of_rank[rank]];
}

void vpa_job_window(const struct vpa_job *job, int64_t *start_ns, uint64_t *length_ns)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	size_t i;

	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_rank *r = job->ranks[i].rank;
		int64_t from = vpa_clock_time(clock_of(job, i), r->first_ns);
		int64_t to = vpa_clock_time(clock_of(job, i), r->last_ns);

		first = from < first ? from : first;
		last = to > last ? to : last;
	}
	*start_ns = job->rank_count ? first : 0;
	*length_ns = job->rank_count && last > first ? (uint64_t)last - (uint64_t)first : 0;
}

/* ---- spreading ---- */

/* Adds the shares of a stretch that lie in the window to the columns. */
static void spread(const struct vpa_rank_strips *s, struct vpa_rank_column *columns, int64_t from,
	int64_t to, const uint64_t ns[VPA_DOINGS])
{
	int64_t end = s->start_ns + (int64_t)s->length_ns, at, next;
	uint64_t length = to > from ? (uint64_t)to - (uint64_t)from : 0;
	size_t column, k;

	if (!length || to <= s->start_ns || from >= end)
		return;
	for (at = from < s->start_ns ? s->start_ns : from; at < to && at < end; at = next) {
		column = ((uint64_t)at - (uint64_t)s->start_ns) / s->column_ns;
		next = s->start_ns + (int64_t)((column + 1) * s->column_ns);
		next = next < to ? next : to;
		next = next < end ? next : end;
		for (k = 0; k < VPA_DOINGS; k++)
			if (ns[k])
				vpt_sat_add_to(&columns[column].ns[k],
					vpt_sat_scale(ns[k], (uint64_t)(next - at), length));
	}
}

/* What a collective runs beside nothing is TRANSFER at first. */
static enum vpa_rank_doing doing_of(enum vpa_part_class klass)
{
	static const enum vpa_rank_doing doings[VPA_TIME_CLASSES] = {
		[VPA_TIME_COMPUTE] = VPA_DOING_COMPUTE,
		[VPA_TIME_COMM] = VPA_DOING_TRANSFER,
		[VPA_TIME_COPY] = VPA_DOING_COPY,
		[VPA_TIME_IDLE] = VPA_DOING_IDLE,
	};

	return doings[klass];
}

static void add_rank(const struct vpa_job *job, size_t at, const struct vpa_rank_detail *d,
	struct vpa_rank_strips *s)
{
	const struct vpa_rank *r = job->ranks[at].rank;
	const struct vpa_clock *clock = clock_of(job, at);
	struct vpa_rank_column *columns = &s->columns[at * s->column_count];
	int64_t from = vpa_clock_time(clock, r->first_ns), to;
	uint64_t rest[VPA_DOINGS] = {0};
	size_t i, part = 0, k;

	for (k = 0; k < VPA_TIME_CLASSES; k++)
		rest[doing_of((enum vpa_part_class)k)] = r->class_ns[k];
	for (i = 0; i < d->mark_count; i++, from = to) {
		uint64_t ns[VPA_DOINGS] = {0};

		for (; part < d->marks[i].part_end; part++)
			vpt_sat_add_to(&ns[doing_of(r->part_names[d->parts[part].name].klass)],
				d->parts[part].ns);
		for (k = 0; k < VPA_DOINGS; k++)
			rest[k] -= rest[k] < ns[k] ? rest[k] : ns[k];
		to = vpa_clock_time(clock, d->marks[i].time_ns);
		spread(s, columns, from, to, ns);
	}
	/* After the last mark. */
	spread(s, columns, from, vpa_clock_time(clock, r->last_ns), rest);
}

/* ---- collectives ---- */

/* When a rank's kernel of a row starts and ends. 0: it has none, or its clock is not placed. */
static int times_of(const struct vpa_job *job, const struct vpa_group *g, size_t row, size_t k,
	int64_t *start_ns, int64_t *end_ns)
{
	const struct vpa_rank *r = job->list.items[g->ranks[k]];
	const struct vpa_clock *clock = clock_of(job, g->ranks[k]);
	uint32_t cell = vpa_group_cell(g, row, k);

	if (cell == VPA_NO_COLLECTIVE || !clock->is_placed)
		return 0;
	*start_ns = vpa_clock_time(clock, vpa_rank_start_ns(r, cell));
	*end_ns = vpa_clock_time(clock, vpa_rank_end_ns(r, cell));
	return 1;
}

static int meet(const struct vpa_job *job, const struct vpa_group *g, size_t row,
	struct vpa_job_meeting *out)
{
	int64_t start, end;
	size_t k;

	*out = (struct vpa_job_meeting){.last_ns = INT64_MIN};
	for (k = 0; k < g->rank_count; k++) {
		if (!times_of(job, g, row, k, &start, &end))
			continue;
		out->rank_count++;
		if (start > out->last_ns) {
			out->last_ns = start;
			out->last = g->ranks[k];
		}
	}
	for (k = 0; k < g->rank_count; k++)
		if (times_of(job, g, row, k, &start, &end))
			vpt_sat_add_to(&out->wait_ns, (uint64_t)out->last_ns - (uint64_t)start);
	return out->rank_count >= 2;
}

void vpa_job_meetings(const struct vpa_job *job,
	void (*put)(
		void *ctx, const struct vpa_group *g, size_t row, const struct vpa_job_meeting *m),
	void *ctx)
{
	struct vpa_job_meeting m;
	size_t i, row;

	for (i = 0; i < job->matching.group_count; i++)
		for (row = 0; row < job->matching.groups[i].row_count; row++)
			if (meet(job, &job->matching.groups[i], row, &m))
				put(ctx, &job->matching.groups[i], row, &m);
}

struct waiting {
	const struct vpa_job *job;
	struct vpa_rank_strips *s;
};

static void add_waits(
	void *ctx, const struct vpa_group *g, size_t row, const struct vpa_job_meeting *m)
{
	const struct waiting *w = ctx;
	size_t k;

	for (k = 0; k < g->rank_count; k++) {
		const struct vpa_clock *clock = clock_of(w->job, g->ranks[k]);
		uint64_t ns[VPA_DOINGS] = {0};
		int64_t from, to;

		if (!times_of(w->job, g, row, k, &from, &to))
			continue;
		to = to < m->last_ns ? to : m->last_ns;
		if (to <= from || (uint64_t)(to - from) < clock->uncertainty_ns)
			continue;
		ns[VPA_DOING_WAIT] = (uint64_t)(to - from);
		spread(w->s, &w->s->columns[g->ranks[k] * w->s->column_count], from, to, ns);
	}
}

/* A wait that a kernel of the rank hides is none of its time. */
static void take_waits(struct vpa_rank_column *c)
{
	uint64_t wait = c->ns[VPA_DOING_WAIT], transfer = c->ns[VPA_DOING_TRANSFER];

	c->ns[VPA_DOING_WAIT] = wait < transfer ? wait : transfer;
	c->ns[VPA_DOING_TRANSFER] -= c->ns[VPA_DOING_WAIT];
}

int vpa_rank_strips_find(const struct vpa_job *job, int64_t start_ns, uint64_t length_ns,
	size_t most, struct vpa_rank_strips *out)
{
	struct waiting w = {job, out};
	struct vpa_unfolded u = {.without_paces = 1};
	size_t i;
	int rc = VPT_OK;

	*out = (struct vpa_rank_strips){.start_ns = start_ns,
		.length_ns = length_ns ? length_ns : 1,
		.column_ns = length_ns / most + (length_ns % most != 0)};
	out->column_ns += !out->column_ns;
	out->column_count =
		out->length_ns / out->column_ns + (out->length_ns % out->column_ns != 0);
	out->columns = vpt_calloc(
		vpt_sat_mul(job->rank_count + 1, out->column_count), sizeof(*out->columns));
	if (!out->columns)
		return VPT_ENOMEM;
	for (i = 0; i < job->rank_count && !rc; i++) {
		rc = vpa_rank_unfold(job->list.items[i], &u, NULL);
		if (!rc)
			add_rank(job, i, &u.detail, out);
	}
	vpa_unfolded_free(&u);
	if (rc)
		return rc;
	vpa_job_meetings(job, add_waits, &w);
	for (i = 0; i < job->rank_count * out->column_count; i++)
		take_waits(&out->columns[i]);
	return VPT_OK;
}

void vpa_rank_strips_free(struct vpa_rank_strips *s)
{
	vpt_free(s->columns);
	s->columns = NULL;
}

void vpa_rank_column_add(struct vpa_rank_column *sum, const struct vpa_rank_column *c)
{
	size_t k;

	for (k = 0; k < VPA_DOINGS; k++)
		vpt_sat_add_to(&sum->ns[k], c->ns[k]);
}
