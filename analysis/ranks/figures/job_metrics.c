/* job_metrics.c - a value of each rank and metric, then what all of them have in common. */
#include "analysis/ranks/figures/job_metrics.h"

#include "analysis/base/sort.h"
#include "analysis/names/families.h"
#include "analysis/ranks/figures/job_rates.h"
#include "analysis/ranks/late_ranks.h"
#include "analysis/render/measures.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdio.h>
#include <string.h>

enum {
	ALIKE = 100,       /* values that differ by less than 1 / this of the mean are alike */
	CAUSE_LEAST = 100, /* a cause of less than 1 / this of a unit on each rank is left out */
	CLOCK_BELOW = 3    /* %, by which a clock is below the mean where it explains less power */
};

/* Which end of a metric is the bad one. */
enum end { END_LOW = -1, END_FAR, END_HIGH };

static const struct metric {
	const char *name, *words, *unit;
	enum end bad;
} metrics[VPA_METRIC_KINDS] = {
	[VPA_METRIC_FPS] = {"fps", "FPS", "frames/s", END_LOW},
	[VPA_METRIC_BPS] = {"blocks_per_s", "blocks/s", "blocks/s", END_LOW},
	[VPA_METRIC_PERIOD] = {"period", "period", "ns", END_HIGH},
	[VPA_METRIC_BUSY] = {"busy", "busy", "ns", END_FAR},
	[VPA_METRIC_COMPUTES] = {"computes", "computes", "ns", END_HIGH},
	[VPA_METRIC_WAITS] = {"waits", "waits for others", "ns", END_FAR},
	[VPA_METRIC_IDLE] = {"idle", "idle", "ns", END_FAR},
	[VPA_METRIC_MEMORY] = {"memory_used", "memory in use, most", "B", END_HIGH},
	[VPA_METRIC_ALLOCATED] = {"memory_allocated", "PyTorch allocated, most", "B", END_HIGH},
	[VPA_METRIC_RESERVED] = {"memory_reserved", "PyTorch reserved, most", "B", END_HIGH},
	[VPA_METRIC_POWER] = {"power", "power", "W", END_FAR},
	[VPA_METRIC_TEMPERATURE] = {"temperature", "temperature, most", "C", END_HIGH},
	[VPA_METRIC_SM_CLOCK] = {"sm_clock", "SM clock", "MHz", END_LOW},
	[VPA_METRIC_CLOCK_LIMITED] = {"clock_limited", "clock limited", "%", END_HIGH},
	[VPA_METRIC_CAUSE] = {"idle_cause", NULL, "ns", END_HIGH},
};

const char *vpa_metric_words(enum vpa_metric kind, enum vpa_cause cause)
{
	if (kind != VPA_METRIC_CAUSE)
		return metrics[kind].words;
	return cause ? vpa_cause_words(cause) : "idle, not recorded why";
}

const char *vpa_metric_name(enum vpa_metric kind)
{
	return metrics[kind].name;
}

const char *vpa_metric_unit(enum vpa_metric kind)
{
	return metrics[kind].unit;
}

struct vpa_num vpa_metric_number(enum vpa_metric kind, double value)
{
	const char *unit = metrics[kind].unit;
	enum vpa_measure measure = vpa_measure_of(unit);
	struct vpa_num n;

	if (value < 0)
		return vpa_missing();
	if (measure == VPA_MEASURE_NS)
		return vpa_duration(vpt_sat_u64(value + 0.5));
	if (measure == VPA_MEASURE_BYTES)
		return vpa_bytes(vpt_sat_u64(value + 0.5));
	n = vpa_fixed(value, value < 100 ? 1 : 0);
	if (kind == VPA_METRIC_FPS || kind == VPA_METRIC_BPS)
		return vpa_fixed(value, value < 10 ? 2 : 1);
	snprintf(n.text + strlen(n.text), sizeof(n.text) - strlen(n.text), " %s", unit);
	return n;
}

/* ---- of a rank ---- */

/* What a rank does, of a unit. */
struct spent {
	double compute[VPA_FAMILY_COUNT], cause[VPA_CAUSES], comm, copy;
};

static double *part_at(struct spent *s, const struct vpa_part_name *name)
{
	switch (name->klass) {
	case VPA_TIME_COMPUTE:
		return &s->compute[name->kind < VPA_FAMILY_COUNT ? name->kind : 0];
	case VPA_TIME_IDLE:
		return &s->cause[name->kind < VPA_CAUSES ? name->kind : 0];
	case VPA_TIME_COMM:
		return &s->comm;
	default:
		return &s->copy;
	}
}

static void spend(const struct vpa_job *job, const struct vpa_job_rank *r, struct spent *s)
{
	size_t i;

	for (i = 0; i < r->rank->part_name_count; i++)
		*part_at(s, &r->rank->part_names[i]) +=
			vpa_job_rank_per_unit(job, r, (double)r->rank->part_ns[i]);
}

/* Mean or most of a gauge; below 0: not known. */
static double gauge_of(const struct vpa_rank *r, enum vpa_gauge gauge, int is_most)
{
	const struct vpa_rank_gauge *g = &r->gauges[gauge];

	return g->samples ? (double)(is_most ? g->most : g->mean) / vpa_gauge_scale(gauge) : -1;
}

static void measure(const struct vpa_job *job, struct vpa_job_rank *r)
{
	const struct vpa_rank *rank = r->rank;
	uint64_t all_ns = rank->last_ns - rank->first_ns;
	double idle = (double)rank->class_ns[VPA_TIME_IDLE];
	double *m = r->metrics;

	r->stages = rank->stages;
	r->stage_count = rank->stage_count;
	m[VPA_METRIC_FPS] = rank->fps > 0 ? rank->fps : -1;
	m[VPA_METRIC_BPS] = rank->blocks_per_1e9s ? (double)rank->blocks_per_1e9s / 1e9 : -1;
	m[VPA_METRIC_PERIOD] = rank->unit == job->unit && job->unit != VPA_UNIT_WINDOW
				       ? (double)vpa_job_unit_of(job, r)
				       : -1;
	m[VPA_METRIC_BUSY] = vpa_job_rank_per_unit(job, r, (double)all_ns - idle);
	m[VPA_METRIC_COMPUTES] =
		vpa_job_rank_per_unit(job, r, (double)rank->class_ns[VPA_TIME_COMPUTE]);
	m[VPA_METRIC_WAITS] =
		job->rows ? vpa_job_rank_per_unit(job, r, (double)vpa_job_wait_of(job, r)) : -1;
	m[VPA_METRIC_IDLE] = vpa_job_rank_per_unit(job, r, idle);
	m[VPA_METRIC_MEMORY] = gauge_of(rank, VPA_GAUGE_MEMORY_USED, 1);
	m[VPA_METRIC_ALLOCATED] = gauge_of(rank, VPA_GAUGE_ALLOCATED, 1);
	m[VPA_METRIC_RESERVED] = gauge_of(rank, VPA_GAUGE_RESERVED, 1);
	m[VPA_METRIC_POWER] = gauge_of(rank, VPA_GAUGE_POWER, 0);
	m[VPA_METRIC_TEMPERATURE] = gauge_of(rank, VPA_GAUGE_TEMPERATURE, 1);
	m[VPA_METRIC_SM_CLOCK] = gauge_of(rank, VPA_GAUGE_SM_CLOCK, 0);
	m[VPA_METRIC_CLOCK_LIMITED] = rank->clock.awake_ns ? 100 * (double)rank->clock.limited_ns /
								     (double)rank->clock.awake_ns
							   : -1;
}

static int list_causes(struct vpa_job *job, struct vpa_job_rank *r, const struct spent *s)
{
	size_t i, count = 0;

	for (i = 0; i < VPA_CAUSES; i++)
		count += s->cause[i] >= 0.5;
	r->idle_causes = vpa_arena_alloc(&job->arena, count + 1, sizeof(*r->idle_causes));
	if (!r->idle_causes)
		return VPT_ENOMEM;
	for (i = 0; i < VPA_CAUSES; i++)
		if (s->cause[i] >= 0.5)
			r->idle_causes[r->idle_cause_count++] = (struct vpa_cause_time){
				(enum vpa_cause)i, vpt_sat_u64(s->cause[i] + 0.5)};
	return VPT_OK;
}

/* ---- of all ranks ---- */

struct finding {
	struct vpa_job *job;
	struct spent *spent; /* by rank */
	struct spent mean;
};

static double value_of(const struct finding *f, const struct vpa_job_metric *m, size_t rank)
{
	return m->kind == VPA_METRIC_CAUSE ? f->spent[rank].cause[m->cause]
					   : f->job->ranks[rank].metrics[m->kind];
}

static void choose_rank(const struct finding *f, struct vpa_job_metric *m)
{
	enum end bad = metrics[m->kind].bad;

	if (bad == END_FAR)
		bad = m->most - m->mean >= m->mean - m->least ? END_HIGH : END_LOW;
	m->rank = m->most - m->least < m->mean / ALIKE || !(m->most > m->least) ? f->job->rank_count
		  : bad == END_HIGH                                             ? m->most_rank
										: m->least_rank;
}

/* Returns 0: fewer than two ranks have it. */
static int measure_all(const struct finding *f, struct vpa_job_metric *m)
{
	size_t i;

	for (i = 0; i < f->job->rank_count; i++) {
		double x = value_of(f, m, i);

		if (x < 0)
			continue;
		if (!m->known || x < m->least) {
			m->least = x;
			m->least_rank = i;
		}
		if (!m->known || x > m->most) {
			m->most = x;
			m->most_rank = i;
		}
		m->mean += x;
		m->known++;
	}
	if (m->known < 2)
		return 0;
	m->mean /= (double)m->known;
	choose_rank(f, m);
	m->differs = m->rank < f->job->rank_count &&
		     (m->most - m->least) * 100 > m->mean * VPA_METRIC_DIFFERS;
	return 1;
}

/* ---- why ---- */

/* Kinds of parts that explain a metric. */
enum { OF_COMPUTE = 1, OF_COMM = 2, OF_COPY = 4, OF_IDLE = 8, OF_ALL = 15 };

/* The part of which a rank has most more, or less, than the mean, in the direction of the metric: "gemm, 4.12 ms more". */
static const char *part_of(const struct finding *f, size_t rank, unsigned kinds, int sign)
{
	const struct spent *s = &f->spent[rank];
	struct vpa_job_part best = {.klass = VPA_LATE_COMM};
	double most = 0;
	size_t i;

	for (i = 0; kinds & OF_COMPUTE && i < VPA_FAMILY_COUNT; i++)
		if ((s->compute[i] - f->mean.compute[i]) * sign > most) {
			most = (s->compute[i] - f->mean.compute[i]) * sign;
			best = (struct vpa_job_part){
				.klass = VPA_LATE_COMPUTE, .kind = (unsigned)i};
		}
	for (i = 0; kinds & OF_IDLE && i < VPA_CAUSES; i++)
		if ((s->cause[i] - f->mean.cause[i]) * sign > most) {
			most = (s->cause[i] - f->mean.cause[i]) * sign;
			best = (struct vpa_job_part){.klass = VPA_LATE_IDLE, .kind = (unsigned)i};
		}
	if (kinds & OF_COMM && (s->comm - f->mean.comm) * sign > most) {
		most = (s->comm - f->mean.comm) * sign;
		best.klass = VPA_LATE_CLASSES;
	}
	if (kinds & OF_COPY && (s->copy - f->mean.copy) * sign > most) {
		most = (s->copy - f->mean.copy) * sign;
		best.klass = VPA_LATE_COPY;
		best.kind = VPA_CAUSES;
	}
	if (most < 0.5)
		return NULL;
	return vpa_arena_printf(&f->job->arena, "%s: %s %s",
		best.klass == VPA_LATE_CLASSES ? "collectives"
		: best.klass == VPA_LATE_COPY  ? "copies"
					       : vpa_job_part_words(&best),
		vpa_duration(vpt_sat_u64(most + 0.5)).text, sign > 0 ? "more" : "less");
}

/* Where a rank is idle most for that reason. */
static const char *place_of(const struct finding *f, size_t rank, enum vpa_cause cause)
{
	const struct vpa_rank *r = f->job->ranks[rank].rank;
	uint64_t most = 0;
	const char *place = NULL;
	size_t i;

	for (i = 0; i < r->part_name_count; i++)
		if (r->part_names[i].klass == VPA_TIME_IDLE && r->part_names[i].kind == cause &&
			r->part_ns[i] > most) {
			most = r->part_ns[i];
			place = r->part_names[i].place;
		}
	return place ? vpa_arena_printf(&f->job->arena, "most in %s", place) : NULL;
}

static const char *limit_of(const struct finding *f, size_t rank)
{
	const struct vpa_rank_clock *c = &f->job->ranks[rank].rank->clock;

	return c->limited_ns ? c->reason : NULL;
}

/* Less power, and less heat, of a GPU whose clock is lower than the others'. */
static const char *clock_of(const struct finding *f, size_t rank)
{
	struct vpa_job_metric clock = {.kind = VPA_METRIC_SM_CLOCK};
	double mhz = f->job->ranks[rank].metrics[VPA_METRIC_SM_CLOCK];

	if (mhz < 0 || !measure_all(f, &clock) || mhz * 100 > clock.mean * (100 - CLOCK_BELOW))
		return NULL;
	return vpa_arena_printf(&f->job->arena, "its SM clock is %s",
		vpa_metric_number(VPA_METRIC_SM_CLOCK, mhz).text);
}

static const char *why_of(const struct finding *f, const struct vpa_job_metric *m)
{
	int sign = m->rank == m->most_rank ? 1 : -1;

	switch (m->kind) {
	case VPA_METRIC_FPS:
	case VPA_METRIC_BPS:
		return part_of(f, m->rank, OF_ALL, 1);
	case VPA_METRIC_PERIOD:
		return part_of(f, m->rank, OF_ALL, sign);
	case VPA_METRIC_BUSY:
		return part_of(f, m->rank, OF_COMPUTE | OF_COMM | OF_COPY, sign);
	case VPA_METRIC_COMPUTES:
		return part_of(f, m->rank, OF_COMPUTE, sign);
	case VPA_METRIC_WAITS:
		return sign < 0 && f->job->ranks[m->rank].blame_ns > 0 ? "the others wait for it"
								       : NULL;
	case VPA_METRIC_IDLE:
		return part_of(f, m->rank, OF_IDLE, sign);
	case VPA_METRIC_CAUSE:
		return place_of(f, m->rank, m->cause);
	case VPA_METRIC_SM_CLOCK:
	case VPA_METRIC_CLOCK_LIMITED:
		return limit_of(f, m->rank);
	case VPA_METRIC_POWER:
		return sign < 0 ? clock_of(f, m->rank) : NULL;
	default:
		return NULL;
	}
}

/* ---- the table ---- */

static void add_metric(struct finding *f, enum vpa_metric kind, enum vpa_cause cause)
{
	struct vpa_job *job = f->job;
	struct vpa_job_metric m = {.kind = kind, .cause = cause};

	if (!measure_all(f, &m) ||
		(kind == VPA_METRIC_CAUSE && m.most * CAUSE_LEAST < (double)job->unit_ns))
		return;
	/* A cause that is little of a unit does not matter, however much it differs. */
	if (kind == VPA_METRIC_CAUSE && (m.most - m.least) * CAUSE_LEAST < (double)job->unit_ns)
		m.differs = 0;
	if (m.rank < job->rank_count)
		m.why = why_of(f, &m);
	job->metrics[job->metric_count++] = m;
}

/* Causes are parts of idle time. */
static double place_in_table(enum vpa_metric kind)
{
	return kind == VPA_METRIC_CAUSE ? (double)VPA_METRIC_IDLE + 0.5 : (double)kind;
}

static int by_mean(const void *a, const void *b)
{
	const struct vpa_job_metric *x = a, *y = b;

	if (x->kind != y->kind)
		return place_in_table(x->kind) < place_in_table(y->kind) ? -1 : 1;
	if (x->mean != y->mean)
		return x->mean < y->mean ? 1 : -1;
	return (x->cause > y->cause) - (x->cause < y->cause);
}

static void average(struct finding *f)
{
	size_t i, k;

	for (i = 0; i < f->job->rank_count; i++) {
		const struct spent *s = &f->spent[i];
		double n = (double)f->job->rank_count;

		for (k = 0; k < VPA_FAMILY_COUNT; k++)
			f->mean.compute[k] += s->compute[k] / n;
		for (k = 0; k < VPA_CAUSES; k++)
			f->mean.cause[k] += s->cause[k] / n;
		f->mean.comm += s->comm / n;
		f->mean.copy += s->copy / n;
	}
}

static int find(struct finding *f)
{
	struct vpa_job *job = f->job;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < job->rank_count && !rc; i++) {
		spend(job, &job->ranks[i], &f->spent[i]);
		measure(job, &job->ranks[i]);
		rc = list_causes(job, &job->ranks[i], &f->spent[i]);
	}
	if (rc)
		return rc;
	average(f);
	for (i = 0; i < VPA_METRICS; i++)
		add_metric(f, (enum vpa_metric)i, VPA_CAUSE_NOT_IDLE);
	for (i = 0; i < VPA_CAUSES; i++)
		add_metric(f, VPA_METRIC_CAUSE, (enum vpa_cause)i);
	return vpa_sort(job->metrics, job->metric_count, sizeof(*job->metrics), by_mean);
}

int vpa_job_metrics_find(struct vpa_job *job)
{
	struct finding f = {.job = job};
	int rc;

	f.spent = vpt_calloc(job->rank_count + 1, sizeof(*f.spent));
	job->metrics = vpa_arena_alloc(
		&job->arena, (size_t)VPA_METRICS + VPA_CAUSES, sizeof(*job->metrics));
	rc = f.spent && job->metrics ? find(&f) : VPT_ENOMEM;
	vpt_free(f.spent);
	return rc || job->arena.failed ? VPT_ENOMEM : VPT_OK;
}

int vpa_job_figures_find(struct vpa_job *job, struct vpt_err *err)
{
	int rc = vpa_job_rates_find(job);

	if (!rc)
		rc = vpa_job_metrics_find(job);
	return rc ? vpt_fail(err, rc, "no memory for the figures of a job") : VPT_OK;
}
