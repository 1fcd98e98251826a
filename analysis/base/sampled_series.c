/* sampled_series.c - segments between samples, clipped to the times asked for. */
#include "analysis/base/sampled_series.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double in_seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* Whether a value is one until the next sample. */
static int holds(enum vpa_sample_shape shape)
{
	return shape == VPA_SAMPLE_UNTIL || shape == VPA_SAMPLE_EVENT;
}

static double segment_area(
	enum vpa_sample_shape shape, double before, double after, uint64_t duration_ns)
{
	double value = shape == VPA_SAMPLE_LINE ? (before + after) / 2
		       : holds(shape)           ? before
						: after;

	return value * in_seconds(duration_ns);
}

/* Keeps the first sample, and the later one of each pair after it. */
static void thin(struct vpa_samples *s)
{
	size_t i, kept = 1;

	for (i = 1; i + 1 < s->count; i += 2) {
		const struct vpa_sample *earlier = &s->items[i];
		struct vpa_sample later = s->items[i + 1];

		later.min = earlier->min < later.min ? earlier->min : later.min;
		later.max = earlier->max > later.max ? earlier->max : later.max;
		later.sum += earlier->sum;
		later.count += earlier->count;
		s->items[kept++] = later;
	}
	if (i < s->count)
		s->items[kept++] = s->items[i];
	s->count = kept;
	s->is_thinned = 1;
}

int vpa_samples_add(struct vpa_samples *s, uint64_t time_ns, double value)
{
	struct vpa_sample sample = {time_ns, value, 0, value, value, value, 1};
	const struct vpa_sample *last;

	if (!isfinite(value) || (s->count && time_ns < s->items[s->count - 1].time_ns))
		return 0;
	if (s->count == VPA_SAMPLES_MAX)
		thin(s);
	if (vpt_grow(&s->items, &s->cap, s->count + 1, sizeof(*s->items)))
		return VPT_ENOMEM;
	if (s->count) {
		last = &s->items[s->count - 1];
		sample.area = last->area +
			      segment_area(s->shape, last->value, value, time_ns - last->time_ns);
	}
	s->items[s->count++] = sample;
	return 0;
}

int vpa_samples_end(struct vpa_samples *s, uint64_t end_ns)
{
	const struct vpa_sample *last = s->count ? &s->items[s->count - 1] : NULL;
	int rc;

	if (!last || !holds(s->shape) || end_ns <= last->time_ns)
		return 0;
	rc = vpa_samples_add(s, end_ns, last->value);
	if (!rc) {
		s->items[s->count - 1].sum = 0;
		s->items[s->count - 1].count = 0;
	}
	return rc;
}

/* The index of the first sample after `t`. */
static size_t first_after(const struct vpa_samples *s, uint64_t t)
{
	size_t low = 0, high = s->count;

	VPT_SEARCH(low, high, middle, s->items[middle].time_ns <= t);
	return low;
}

static double on_line(const struct vpa_sample *from, const struct vpa_sample *to, uint64_t at_ns)
{
	return from->value + (to->value - from->value) * (double)(at_ns - from->time_ns) /
				     (double)(to->time_ns - from->time_ns);
}

/* The integral over [start, end), a part of the segment that ends at item `i`. */
static double clipped_area(
	const struct vpa_samples *s, size_t i, uint64_t start_ns, uint64_t end_ns)
{
	const struct vpa_sample *from = &s->items[i - 1], *to = &s->items[i];
	uint64_t whole_ns = to->time_ns - from->time_ns;

	if (start_ns == from->time_ns && end_ns == to->time_ns)
		return to->area - from->area;
	if (s->shape == VPA_SAMPLE_LINE && !s->is_thinned)
		return (on_line(from, to, start_ns) + on_line(from, to, end_ns)) / 2 *
		       in_seconds(end_ns - start_ns);
	return (to->area - from->area) * (double)(end_ns - start_ns) / (double)whole_ns;
}

double vpa_samples_area(const struct vpa_samples *s, uint64_t start_ns, uint64_t end_ns)
{
	size_t i = first_after(s, start_ns);
	double area = 0;

	for (i = i ? i : 1; i < s->count && s->items[i - 1].time_ns < end_ns; i++) {
		uint64_t from = s->items[i - 1].time_ns, to = s->items[i].time_ns;

		from = from > start_ns ? from : start_ns;
		to = to < end_ns ? to : end_ns;
		if (from < to)
			area += clipped_area(s, i, from, to);
	}
	return area;
}

/* ---- measures ---- */

struct weight {
	double value;
	uint64_t size; /* ns, or samples */
};

struct tally {
	struct vpa_measure *out;
	struct weight *weights;
	size_t count, cap;
	double sum; /* of the samples inside */
	double min, max;
};

static void widen(struct tally *t, double min, double max)
{
	t->min = min < t->min ? min : t->min;
	t->max = max > t->max ? max : t->max;
}

static int add_weight(struct tally *t, double value, uint64_t size)
{
	if (vpt_grow(&t->weights, &t->cap, t->count + 1, sizeof(*t->weights)))
		return VPT_ENOMEM;
	t->weights[t->count++] = (struct weight){value, size};
	return 0;
}

/* Adds the part [start, end) of the segment that ends at item `i`. */
static int add_segment(
	struct tally *t, const struct vpa_samples *s, size_t i, uint64_t start_ns, uint64_t end_ns)
{
	const struct vpa_sample *from = &s->items[i - 1], *to = &s->items[i];
	uint64_t ns = end_ns - start_ns, half_ns = ns / 2;
	double area = clipped_area(s, i, start_ns, end_ns), first, last;

	t->out->covered_ns += ns;
	t->out->area += area;
	if (s->shape == VPA_SAMPLE_EVENT)
		return 0;
	if (s->is_thinned) {
		widen(t, to->min, to->max);
		return add_weight(t, area / in_seconds(ns), ns);
	}
	first = s->shape == VPA_SAMPLE_LINE    ? on_line(from, to, start_ns)
		: s->shape == VPA_SAMPLE_UNTIL ? from->value
					       : to->value;
	last = s->shape == VPA_SAMPLE_LINE ? on_line(from, to, end_ns) : first;
	widen(t, first < last ? first : last, first > last ? first : last);
	return add_weight(t, first, half_ns) || add_weight(t, last, ns - half_ns) ? VPT_ENOMEM : 0;
}

/* Adds [start, end), which ends at the first sample or before it, of a level that is told at the end. */
static int add_first(
	struct tally *t, const struct vpa_samples *s, uint64_t start_ns, uint64_t end_ns)
{
	double value = s->items[0].value;

	t->out->covered_ns += end_ns - start_ns;
	t->out->area += value * in_seconds(end_ns - start_ns);
	widen(t, value, value);
	return add_weight(t, value, end_ns - start_ns);
}

static int add_sample(struct tally *t, const struct vpa_samples *s, const struct vpa_sample *item)
{
	if (!item->count)
		return 0;
	t->out->samples += item->count;
	t->sum += item->sum;
	widen(t, item->min, item->max);
	return s->shape == VPA_SAMPLE_EVENT
		       ? add_weight(t, item->sum / (double)item->count, item->count)
		       : 0;
}

static int add_interval(
	struct tally *t, const struct vpa_samples *s, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t before = t->out->samples;
	size_t i = first_after(s, start_ns);
	int rc = 0;

	/* A sample at the very start is inside, and the last one of all also at the very end. */
	while (i && s->items[i - 1].time_ns >= start_ns)
		i--;
	for (; i < s->count && !rc; i++) {
		const struct vpa_sample *item = &s->items[i];
		uint64_t from = i ? s->items[i - 1].time_ns : item->time_ns, to = item->time_ns;

		from = from > start_ns ? from : start_ns;
		to = to < end_ns ? to : end_ns;
		if (s->shape == VPA_SAMPLE_AT_END && item->time_ns >= end_ns &&
			t->out->samples > before)
			break;
		if (!i && s->shape == VPA_SAMPLE_AT_END && start_ns < to)
			rc = add_first(t, s, start_ns, to);
		else if (from < to)
			rc = add_segment(t, s, i, from, to);
		if (item->time_ns > end_ns || (item->time_ns == end_ns && i + 1 < s->count))
			break;
		rc = rc ? rc : add_sample(t, s, item);
	}
	return rc;
}

static int compare_weights(const void *pa, const void *pb)
{
	const struct weight *a = pa, *b = pb;

	return a->value < b->value ? -1 : a->value > b->value;
}

static double nearest_rank(struct tally *t, double share)
{
	uint64_t total = 0, sum = 0;
	size_t i;

	qsort(t->weights, t->count, sizeof(*t->weights), compare_weights);
	for (i = 0; i < t->count; i++)
		total += t->weights[i].size;
	for (i = 0; i + 1 < t->count; i++) {
		sum += t->weights[i].size;
		if ((double)sum >= share * (double)total)
			break;
	}
	return t->weights[i].value;
}

static void summarize(struct tally *t, int is_of_samples)
{
	struct vpa_measure *out = t->out;

	if (out->covered_ns)
		out->mean_by_time = out->area / in_seconds(out->covered_ns);
	out->is_of_samples = is_of_samples;
	out->mean = is_of_samples ? t->sum / (double)out->samples : out->mean_by_time;
	out->p95 = t->count ? nearest_rank(t, 0.95) : t->max;
	out->min = t->min;
	out->max = t->max;
}

int vpa_samples_measure(
	const struct vpa_samples *s, const struct vpa_intervals *times, struct vpa_measure *out)
{
	struct tally t = {.out = out, .min = INFINITY, .max = -INFINITY};
	struct vpa_intervals_at at = {0, 0};
	const struct vpa_interval *span;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	while (!rc && (span = vpa_intervals_next(times, &at)))
		rc = add_interval(&t, s, span->start_ns, span->end_ns);
	if (!rc && s->shape == VPA_SAMPLE_EVENT && !out->samples)
		memset(out, 0, sizeof(*out));
	if (!rc && (out->covered_ns || out->samples))
		summarize(&t, s->shape == VPA_SAMPLE_EVENT || !out->covered_ns);
	vpt_free(t.weights);
	return rc;
}

void vpa_samples_free(struct vpa_samples *s)
{
	vpt_free(s->items);
	s->items = NULL;
	s->count = s->cap = 0;
}
