/* counters_by_stage.c - measures each series over the window, over each stage, and, if it is a power,
 * over each request and block.
 *
 * The pauses of a capture belong to none of them. A GPU's series is measured while the GPU worked for
 * a stage, any other while the stage's range was open on the host. Energy is unavailable where
 * samples cover less than 95 % of the time, since it would then seem too small. */
#include "analysis/folds/over_time/counters_by_stage.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 400 };

static const double least_coverage = 0.95, joules_per_wh = 3600;

int vpa_counter_pauses(struct vpa_counter_times *t, const struct vpt_section *s)
{
	uint32_t row;
	int rc = VPT_OK;

	for (row = 0; row < s->row_count && !rc; row++) {
		uint64_t start_ns = s->col[VPT_LOSS_START][row], end_ns;

		if (s->col[VPT_LOSS_LOSS_KIND][row] == VPT_LOSSKIND_PAUSED &&
			!__builtin_add_overflow(start_ns, s->col[VPT_LOSS_DURATION][row], &end_ns))
			rc = vpa_intervals_add(&t->paused, start_ns, end_ns);
	}
	return rc;
}

void vpa_counter_times_free(struct vpa_counter_times *t)
{
	vpa_intervals_free(&t->paused);
	vpa_intervals_free(&t->open);
}

/* ---- times ---- */

/* The window without pauses. */
static int find_open(const struct vpa_fold_context *c, struct vpa_counter_times *t)
{
	uint64_t from_ns = c->model->window_start_ns;
	struct vpa_intervals_at at = {0, 0};
	const struct vpa_interval *p;
	int rc = VPT_OK;

	while (!rc && (p = vpa_intervals_next(&t->paused, &at)) &&
		p->start_ns < c->model->window_end_ns) {
		rc = vpa_intervals_add(&t->open, from_ns, p->start_ns);
		from_ns = p->end_ns > from_ns ? p->end_ns : from_ns;
	}
	if (!rc)
		rc = vpa_intervals_add(&t->open, from_ns, c->model->window_end_ns);
	return rc;
}

/* The times in both sets. */
static int intersect(
	const struct vpa_intervals *a, const struct vpa_intervals *b, struct vpa_intervals *out)
{
	struct vpa_intervals_at a_at = {0, 0}, b_at = {0, 0};
	const struct vpa_interval *x = vpa_intervals_next(a, &a_at);
	const struct vpa_interval *y = vpa_intervals_next(b, &b_at);
	int rc = VPT_OK;

	while (x && y && !rc) {
		uint64_t from = vpa_later(x->start_ns, y->start_ns);
		uint64_t to = vpa_earlier(x->end_ns, y->end_ns);

		if (from < to)
			rc = vpa_intervals_add(out, from, to);
		if (x->end_ns < y->end_ns)
			x = vpa_intervals_next(a, &a_at);
		else
			y = vpa_intervals_next(b, &b_at);
	}
	return rc;
}

/* ---- energy ---- */

static int is_power(const struct vpa_counter_series *s)
{
	return s->unit.len == 1 && s->unit.text[0] == 'W';
}

static double energy_of(double area, uint64_t covered_ns, uint64_t whole_ns)
{
	return whole_ns && (double)covered_ns >= least_coverage * (double)whole_ns
		       ? area / joules_per_wh
		       : -1;
}

/* The energy of [start, end) without pauses, in Wh; -1: samples do not cover it. */
static double energy_in(const struct vpa_counter_times *t, const struct vpa_samples *s,
	uint64_t start_ns, uint64_t end_ns)
{
	uint64_t covered_ns = 0, whole_ns = 0, first = s->items[0].time_ns;
	uint64_t last = s->items[s->count - 1].time_ns;
	double area = 0;
	struct vpa_intervals_at at;
	const struct vpa_interval *o = vpa_intervals_after(&t->open, start_ns, &at);

	for (; o && o->start_ns < end_ns; o = vpa_intervals_next(&t->open, &at)) {
		uint64_t from = o->start_ns > start_ns ? o->start_ns : start_ns;
		uint64_t to = o->end_ns < end_ns ? o->end_ns : end_ns;

		whole_ns += to - from;
		from = from > first ? from : first;
		to = to < last ? to : last;
		if (from >= to)
			continue;
		covered_ns += to - from;
		area += vpa_samples_area(s, from, to);
	}
	return energy_of(area, covered_ns, whole_ns);
}

static double per(double energy_wh, uint64_t count)
{
	return energy_wh >= 0 && count ? energy_wh / (double)count : -1;
}

static int write_blocks(const struct vpa_counter_times *t, const struct vpa_samples *s,
	const struct vpa_blocks *b, struct vpa_report *out, struct vpa_request_energy *e)
{
	double sum = 0;
	size_t i;

	e->per_block_wh = e->per_block_frame_wh = -1;
	e->blocks = vpa_arena_alloc(&out->arena, b->count, sizeof(*e->blocks));
	if (!e->blocks)
		return b->count ? VPT_ENOMEM : VPT_OK;
	e->block_count = b->count;
	for (i = 0; i < b->count; i++) {
		const struct vpa_block_row *row = &b->series[i];
		double wh = energy_in(t, s, row->end_ns - row->period_ns, row->end_ns);

		e->blocks[i] = (struct vpa_block_energy){row->index, wh};
		if (!row->warmup)
			sum = sum >= 0 && wh >= 0 ? sum + wh : -1;
	}
	e->per_block_wh = per(sum, b->measured);
	e->per_block_frame_wh = per(sum, b->frames);
	return VPT_OK;
}

static int write_requests(const struct vpa_counter_times *t, const struct vpa_samples *s,
	struct vpa_report *out, struct vpa_counter *row)
{
	size_t i;
	int rc = VPT_OK;

	row->requests = vpa_arena_alloc(&out->arena, out->request_count, sizeof(*row->requests));
	if (!row->requests)
		return out->request_count ? VPT_ENOMEM : VPT_OK;
	for (i = 0; i < out->request_count && !rc; i++) {
		const struct vpa_request *q = &out->requests[i];
		struct vpa_request_energy *e = &row->requests[row->request_count++];

		e->request = i;
		e->energy_wh = energy_in(t, s, q->start_ns, q->end_ns);
		e->per_frame_wh = per(e->energy_wh, q->frames);
		rc = write_blocks(t, s, &q->blocks, out, e);
	}
	return rc;
}

static enum vpa_mean_of mean_of(const struct vpa_measure *m)
{
	return m->is_of_samples ? VPA_MEAN_OF_SAMPLES : VPA_MEAN_OF_TIME;
}

/* ---- stages ---- */

static int write_part(const struct vpa_fold_context *c, const struct vpa_counter_times *t,
	const struct vpa_counter_series *s, const struct vpa_stage_time *stage,
	struct vpa_report *out, struct vpa_counter *row)
{
	struct vpa_counter_part *part = &row->parts[row->part_count];
	struct vpa_intervals times = {0};
	struct vpa_measure m;
	int rc = intersect(s->device < 0 ? &stage->host : &stage->gpu, &t->open, &times);

	if (!rc)
		rc = vpa_samples_measure(&s->samples, &times, &m);
	if (!rc && (m.samples || m.covered_ns)) {
		*part = (struct vpa_counter_part){
			.name = vpa_stage_at_name(out, c->model, &stage->at),
			.kind = stage->at.kind,
			.samples = m.samples,
			.covered_ns = m.covered_ns,
			.min = m.min,
			.mean = m.mean,
			.mean_of = mean_of(&m),
			.mean_by_time = m.mean_by_time,
			.p95 = m.p95,
			.max = m.max,
			.energy_wh = is_power(s) ? energy_of(m.area, m.covered_ns,
							   vpa_intervals_total(&times, UINT64_MAX))
						 : -1};
		row->part_count++;
	}
	vpa_intervals_free(&times);
	return rc;
}

/* ---- what limits the clocks ---- */

/* NVML's bits, nvmlClocksEventReason*. Idle is no limit, nor are clocks that somebody set. */
static const struct {
	unsigned bit;
	const char *reason;
} reasons[] = {
	{VPA_CLOCK_POWER_CAP, "power cap"},
	{VPA_CLOCK_HARDWARE, "hardware slowdown"},
	{0x20, "software thermal slowdown"},
	{0x40, "hardware thermal slowdown"},
	{VPA_CLOCK_POWER_BRAKE, "power brake"},
};
enum { GPU_IDLE = 0x1, REASONS = sizeof(reasons) / sizeof(reasons[0]) };

static int compare_reasons(const void *pa, const void *pb)
{
	const struct vpa_clock_reason *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return strcmp(a->reason, b->reason);
}

/* Adds the time of each reason in the window, and the limited times to `limited`. Thinned samples
 * stand for those before them. */
static int add_reasons(const struct vpa_counter_times *t, const struct vpa_samples *s,
	struct vpa_counter *row, uint64_t ns[REASONS], struct vpa_intervals *limited)
{
	size_t i, k;
	int rc = VPT_OK;

	for (i = 1; i < s->count && !rc; i++) {
		uint64_t from = s->items[i - 1].time_ns, to = s->items[i].time_ns;
		uint64_t bits = s->items[i].value < 1e15 ? vpt_sat_u64(s->items[i].value) : 0;
		uint64_t part = vpa_intervals_outside(&t->paused, from, to);
		int is_limited = 0;

		if (from < vpa_intervals_first(&t->open)->start_ns ||
			to > vpa_intervals_last(&t->open)->end_ns || bits & GPU_IDLE)
			continue;
		row->awake_ns += part;
		for (k = 0; k < REASONS; k++) {
			ns[k] += bits & reasons[k].bit ? part : 0;
			is_limited |= (bits & reasons[k].bit) != 0;
		}
		row->limited_ns += is_limited ? part : 0;
		if (is_limited)
			rc = vpa_intervals_add(limited, from, to);
	}
	return rc;
}

static int write_reasons(const struct vpa_counter_times *t, const struct vpa_counter_series *s,
	const struct vpa_counter_series *clock, struct vpa_report *out, struct vpa_counter *row)
{
	struct vpa_intervals limited = {0};
	uint64_t ns[REASONS] = {0};
	struct vpa_measure m;
	size_t k;
	int rc;

	row->reasons = vpa_arena_alloc(&out->arena, REASONS, sizeof(*row->reasons));
	rc = row->reasons ? add_reasons(t, &s->samples, row, ns, &limited) : VPT_ENOMEM;
	for (k = 0; k < REASONS && !rc; k++)
		if (ns[k])
			row->reasons[row->reason_count++] =
				(struct vpa_clock_reason){reasons[k].bit, reasons[k].reason, ns[k]};
	if (!rc)
		qsort(row->reasons, row->reason_count, sizeof(*row->reasons), compare_reasons);
	if (!rc && clock)
		rc = vpa_samples_measure(&clock->samples, &limited, &m);
	if (!rc && clock && m.covered_ns)
		row->limited_mhz = m.mean;
	if (!rc && clock)
		rc = vpa_samples_measure(&clock->samples, &t->open, &m);
	if (!rc && clock && m.samples)
		row->highest_mhz = m.max;
	vpa_intervals_free(&limited);
	return rc;
}

/* ---- reads from disk in the loop ---- */

/* The loop: the blocks, else the steps; NULL: neither. */
static const struct vpa_stage_time *find_loop(const struct vpa_stage_times *stages)
{
	const struct vpa_stage_time *loop = NULL;
	size_t i;

	for (i = 0; i < stages->index.count; i++) {
		if (stages->rows[i].at.kind == VPA_SCOPE_BLOCK)
			return &stages->rows[i];
		if (stages->rows[i].at.kind == VPA_SCOPE_STEP)
			loop = &stages->rows[i];
	}
	return loop;
}

/* Only intervals between samples that lie wholly between the first marked span's end and the last one's, on
 * the host: a first marked span may load what it needs, and what came before the loop is not the loop's. */
static void write_loop(const struct vpa_fold_context *c, const struct vpa_counter_times *t,
	const struct vpa_samples *s, struct vpa_counter *row)
{
	const struct vpa_stage_time *loop = find_loop(c->stages);
	uint64_t to_ns;
	size_t i;

	if (!loop || !loop->host.count)
		return;
	to_ns = vpa_intervals_last(&loop->host)->end_ns;
	for (i = 1; i < s->count; i++) {
		uint64_t from = s->items[i - 1].time_ns, to = s->items[i].time_ns;

		if (from < loop->first_end_ns || to > to_ns ||
			vpa_intervals_outside(&t->paused, from, to) < to - from)
			continue;
		row->loop_ns += to - from;
		row->loop_bytes += s->items[i].area - s->items[i - 1].area;
	}
}

/* ---- growth over the loop ---- */

/* The newest value at `time_ns`; 0: none yet. */
static int level_at(const struct vpa_samples *s, uint64_t time_ns, double *out)
{
	size_t i;

	for (i = s->count; i && s->items[i - 1].time_ns > time_ns; i--)
		;
	if (i)
		*out = s->items[i - 1].value;
	return i != 0;
}

static void write_growth(
	const struct vpa_samples *s, const struct vpa_check_loop *loop, struct vpa_counter *row)
{
	row->has_loop = loop->count > 1 && level_at(s, loop->first_end_ns, &row->loop_from) &&
			level_at(s, loop->end_ns, &row->loop_to) &&
			s->items[s->count - 1].time_ns > loop->first_end_ns;
}

/* ---- points ---- */

/* All samples, in groups if there are many. */
static int write_points(
	const struct vpa_samples *s, struct vpa_report *out, struct vpa_counter *row)
{
	size_t stride = s->count / POINTS_MAX + 1, i;

	row->points = vpa_arena_alloc(&out->arena, s->count / stride + 1, sizeof(*row->points));
	if (!row->points)
		return VPT_ENOMEM;
	for (i = 0; i < s->count; i++) {
		const struct vpa_sample *from = &s->items[i];
		struct vpa_counter_point *p = &row->points[i / stride];

		if (i % stride == 0)
			*p = (struct vpa_counter_point){.min = from->min, .max = from->max};
		p->time_ns = from->time_ns;
		p->value = from->value;
		p->min = from->min < p->min ? from->min : p->min;
		p->max = from->max > p->max ? from->max : p->max;
		row->point_count = i / stride + 1;
	}
	return VPT_OK;
}

/* ---- rows ---- */

static const struct vpa_counter_series *find_series(const struct vpa_counter_series *series,
	size_t count, int64_t device, enum vpt_series known)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (series[i].device == device && series[i].known == known)
			return &series[i];
	return NULL;
}

static int write_details(const struct vpa_fold_context *c, const struct vpa_counter_times *t,
	const struct vpa_counter_series *s, const struct vpa_counter_series *clock,
	struct vpa_report *out, struct vpa_counter *row)
{
	size_t i, count = c->stages->index.count;
	int rc = VPT_OK;

	row->parts = vpa_arena_alloc(&out->arena, count, sizeof(*row->parts));
	if (!row->parts && count)
		return VPT_ENOMEM;
	for (i = 0; i < count && !rc; i++)
		rc = write_part(c, t, s, &c->stages->rows[i], out, row);
	if (!rc && is_power(s))
		rc = write_requests(t, &s->samples, out, row);
	if (!rc && s->device >= 0 && s->known == VPT_SERIES_CLOCK_REASONS)
		rc = write_reasons(t, s, clock, out, row);
	if (!rc && s->device < 0 && s->known == VPT_SERIES_DISK_READ)
		write_loop(c, t, &s->samples, row);
	if (s->samples.shape == VPA_SAMPLE_UNTIL || s->samples.shape == VPA_SAMPLE_AT_END)
		write_growth(&s->samples, &out->expert.loop, row);
	return rc;
}

static int write_row(const struct vpa_fold_context *c, const struct vpa_counter_times *t,
	struct vpa_counter_series *s, const struct vpa_counter_series *clock,
	struct vpa_report *out)
{
	struct vpa_counter *row = &out->counters[out->counter_count];
	struct vpa_measure m;
	int rc = vpa_samples_measure(&s->samples, &t->open, &m);

	if (rc || (!m.samples && !m.covered_ns))
		return rc;
	*row = (struct vpa_counter){.name = vpa_arena_text(&out->arena, s->name.text, s->name.len),
		.unit = vpa_arena_text(&out->arena, s->unit.text, s->unit.len),
		.series = s->known,
		.device = s->device,
		.samples = m.samples,
		.covered_ns = m.covered_ns,
		.min = m.min,
		.mean = m.mean,
		.mean_by_time = m.mean_by_time,
		.mean_of = mean_of(&m),
		.p95 = m.p95,
		.max = m.max,
		.energy_wh = is_power(s) && m.covered_ns ? m.area / joules_per_wh : -1};
	out->counter_count++;
	if (c->options->overview && write_points(&s->samples, out, row))
		return VPT_ENOMEM;
	return write_details(c, t, s, clock, out, row);
}

static int compare_series(const void *pa, const void *pb)
{
	const struct vpa_counter_series *a = pa, *b = pb;
	uint64_t device_a = (uint64_t)a->device, device_b = (uint64_t)b->device;
	size_t len = a->name.len < b->name.len ? a->name.len : b->name.len;
	int order = memcmp(a->name.text, b->name.text, len);

	if (device_a != device_b) /* -1 last */
		return device_a < device_b ? -1 : 1;
	if (order || a->name.len != b->name.len)
		return order ? order : a->name.len < b->name.len ? -1 : 1;
	return 0;
}

int vpa_counters_write(const struct vpa_fold_context *c, struct vpa_counter_times *t,
	struct vpa_counter_series *series, size_t count, struct vpa_report *out)
{
	size_t i;
	int rc = VPT_OK;

	if (!count)
		return VPT_OK;
	if (!out->counters)
		out->counters =
			vpa_arena_alloc(&out->arena, VPA_COUNTER_ROWS_MAX, sizeof(*out->counters));
	if (!out->counters || find_open(c, t))
		return VPT_ENOMEM;
	qsort(series, count, sizeof(*series), compare_series);
	for (i = 0; i < count && !rc; i++) {
		series[i].known = vpt_series_find(series[i].name);
		rc = vpa_samples_end(&series[i].samples, c->model->window_end_ns);
	}
	for (i = 0; i < count && !rc && t->open.count && out->counter_count < VPA_COUNTER_ROWS_MAX;
		i++)
		rc = write_row(c, t, &series[i],
			find_series(series, count, series[i].device, VPT_SERIES_SM_CLOCK), out);
	return rc;
}
