/* overview_fold.c - device time by bucket, kernel family and cause of idle time, see overview.h.
 *
 * Buckets begin at a microsecond. When the trace reaches beyond the last one, neighbours are added up
 * in pairs and buckets get twice as long, so memory stays the same and every sum exact. Concurrent ops
 * share their time, see sharing.h.
 *
 * Runs only if the options request it, or only its lanes. */
#include "analysis/folds/over_time/overview_lanes.h"
#include "analysis/pipeline/sharing.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SHIFT = 10 /* 2^10 ns */ };

struct device {
	struct vpa_sharing sharing;          /* cells are families */
	struct vpa_overview_bucket *buckets; /* NULL: no op yet */
};

struct state {
	unsigned shift; /* a bucket has 1 << shift ns; 0: not begun */
	uint64_t start_ns, last_ns;
	struct device *devices;
	size_t device_count, device_cap;
	struct vpa_overview_lanes lanes;
};

/* What time is given to. */
struct target {
	struct state *state;
	struct device *device;
};

/* ---- buckets ---- */

static void join_pairs(struct vpa_overview_bucket *b)
{
	size_t i, part;

	for (i = 0; i < VPA_OVERVIEW_BUCKETS / 2; i++)
		for (part = 0; part < VPA_OVERVIEW_PARTS; part++)
			b[i].ns[part] = b[2 * i].ns[part] + b[2 * i + 1].ns[part];
	memset(b + i, 0, i * sizeof(*b));
}

VPA_RARE static void lengthen(struct state *s)
{
	size_t i;

	for (i = 0; i < s->device_count; i++)
		if (s->devices[i].buckets)
			join_pairs(s->devices[i].buckets);
	s->shift++;
}

/* Makes the buckets reach up to `end_ns`. */
static inline void reach(struct state *s, uint64_t end_ns)
{
	if (end_ns <= s->last_ns)
		return;
	s->last_ns = end_ns;
	while ((end_ns - s->start_ns - 1) >> s->shift >= VPA_OVERVIEW_BUCKETS)
		lengthen(s);
}

/* Adds time of one part. */
static void add(struct state *s, struct device *d, size_t part, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns < s->start_ns)
		from_ns = s->start_ns;
	if (to_ns <= from_ns)
		return;
	reach(s, to_ns);
	while (from_ns < to_ns) {
		uint64_t bucket = (from_ns - s->start_ns) >> s->shift;
		uint64_t end_ns = s->start_ns + ((bucket + 1) << s->shift);

		if (end_ns > to_ns || end_ns <= from_ns) /* it wraps at the end of time */
			end_ns = to_ns;
		d->buckets[bucket].ns[part] += end_ns - from_ns;
		from_ns = end_ns;
	}
}

/* ---- ops ---- */

/* Gives each running op its part of the time until `to_ns`, in slices of a bucket at most. */
static void share_out(void *ctx, const struct vpa_sharing *d, uint64_t to_ns)
{
	const struct target *t = ctx;
	struct state *s = t->state;
	uint64_t from_ns = d->at_ns > s->start_ns ? d->at_ns : s->start_ns;

	if (d->count == 1) {
		add(s, t->device, d->running[0].cell, from_ns, to_ns);
		return;
	}
	reach(s, to_ns);
	while (from_ns < to_ns) {
		uint64_t bucket = (from_ns - s->start_ns) >> s->shift;
		uint64_t end_ns = s->start_ns + ((bucket + 1) << s->shift), ns, rest;
		size_t i;

		if (end_ns > to_ns || end_ns <= from_ns) /* it wraps at the end of time */
			end_ns = to_ns;
		ns = end_ns - from_ns;
		rest = ns % d->count;
		for (i = 0; i < d->count; i++)
			t->device->buckets[bucket].ns[d->running[i].cell] +=
				ns / d->count + (i < rest);
		from_ns = end_ns;
	}
}

static void advance(struct state *s, struct device *d, uint64_t to_ns)
{
	struct target target = {s, d};

	vpa_sharing_advance(&d->sharing, to_ns, share_out, &target);
}

static void begin_op(
	struct state *s, struct device *d, uint64_t start_ns, uint64_t end_ns, uint32_t family)
{
	advance(s, d, start_ns);
	vpa_sharing_begin(&d->sharing, end_ns, family);
}

/* The device's state, with buckets; *out is NULL if it is left out. 0 or VPT_ENOMEM. */
static int device_of(
	struct state *s, const struct vpa_fold_context *c, uint32_t device, struct device **out)
{
	*out = NULL;
	if (!s->shift) {
		s->shift = FIRST_SHIFT;
		s->start_ns = s->last_ns = c->model->window_start_ns;
	}
	if (device >= VPA_OVERVIEW_DEVICES)
		return VPT_OK;
	if (vpt_grow_zeroed(&s->devices, &s->device_cap, (size_t)device + 1, sizeof(*s->devices)))
		return VPT_ENOMEM;
	if (device >= s->device_count)
		s->device_count = (size_t)device + 1;
	*out = &s->devices[device];
	if (!(*out)->buckets)
		(*out)->buckets = vpt_calloc(VPA_OVERVIEW_BUCKETS, sizeof(*(*out)->buckets));
	return (*out)->buckets ? VPT_OK : VPT_ENOMEM;
}

/* Adds an op's gap, if its causes are known. */
static inline void add_gap(struct state *s, struct device *d, const struct vpa_ops *ops, size_t i)
{
	struct vpa_gap_stretch parts[VPA_GAP_STRETCHES];
	size_t k, count = vpa_ops_gap(ops, i, 0, parts);

	for (k = 0; k < count; k++)
		add(s, d, VPA_OVERVIEW_IDLE + (size_t)parts[k].cause, parts[k].start_ns,
			parts[k].end_ns);
}

/* Adds ops from `i` on, each with its gap, to the bucket around the first's gap, while they are wholly in it. Returns the
 * first that is not. */
static size_t add_in_bucket(
	struct state *s, struct device *d, const struct vpa_ops *ops, size_t i, size_t last)
{
	uint64_t from_ns = ops->start_ns[i] - ops->gap_ns[i], bucket, end_ns, *ns, *idle;
	struct vpa_gap_stretch parts[VPA_GAP_STRETCHES];
	size_t k, count;

	if (from_ns < s->start_ns)
		return i;
	bucket = (from_ns - s->start_ns) >> s->shift;
	end_ns = s->start_ns + ((bucket + 1) << s->shift);
	end_ns = end_ns <= from_ns ? UINT64_MAX : end_ns; /* it wraps at the end of time */
	ns = d->buckets[bucket].ns;
	idle = ns + VPA_OVERVIEW_IDLE;
	for (; i < last && ops->end_ns[i] <= end_ns; i++) {
		ns[ops->family[i]] += ops->end_ns[i] - ops->start_ns[i];
		if (!ops->has_late[i]) {
			idle[ops->gap_cause[i]] += ops->gap_cause[i] ? ops->gap_ns[i] : 0;
			continue;
		}
		count = vpa_ops_gap(ops, i, 0, parts);
		for (k = 0; k < count; k++)
			idle[parts[k].cause] += parts[k].end_ns - parts[k].start_ns;
	}
	return i;
}

/* Adds the ops of a serial run but the last, which others may overlap: nothing runs beside them. Returns
 * the last. */
static size_t add_serial(
	struct state *s, struct device *d, const struct vpa_ops *ops, const struct vpa_op_run *run)
{
	size_t last = run->end - (size_t)1, i = run->begin;

	if (last == i)
		return last;
	advance(s, d, ops->start_ns[i]);
	reach(s, ops->end_ns[last - 1]);
	while ((i = add_in_bucket(s, d, ops, i, last)) < last) {
		add(s, d, ops->family[i], ops->start_ns[i], ops->end_ns[i]);
		add_gap(s, d, ops, i);
		if (++i == last)
			break;
	}
	d->sharing.at_ns = ops->end_ns[last - 1];
	return last;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	struct device *d;
	size_t k, i;

	if (!c->options->overview)
		return VPT_OK;
	for (k = 0; k < ops->run_count; k++) {
		const struct vpa_op_run *run = &ops->runs[k];

		if (device_of(s, c, ops->device[run->begin], &d))
			return VPT_ENOMEM;
		if (!d)
			continue;
		for (i = run->serial ? add_serial(s, d, ops, run) : run->begin; i < run->end; i++) {
			begin_op(s, d, ops->start_ns[i], ops->end_ns[i], ops->family[i]);
			add_gap(s, d, ops, i);
		}
	}
	return VPT_OK;
}

static int fold_gap(void *state, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	struct state *s = state;
	struct device *d;
	size_t i;

	if (!c->options->overview)
		return VPT_OK;
	if (device_of(s, c, gap->device, &d))
		return VPT_ENOMEM;
	for (i = 0; d && i < gap->piece_count; i++)
		add(s, d, VPA_OVERVIEW_IDLE + (size_t)gap->pieces[i].cause, gap->pieces[i].start_ns,
			gap->pieces[i].end_ns);
	return VPT_OK;
}

static int fold_scope(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	return vpa_overview_lanes_add(&((struct state *)state)->lanes, c, range);
}

/* ---- writing down ---- */

static int compare_devices(const void *pa, const void *pb)
{
	const struct vpa_overview_device *a = pa, *b = pb;

	return a->device < b->device ? -1 : a->device > b->device;
}

static int write_devices(struct state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_overview *o = out->overview;
	size_t i, bytes = o->bucket_count * sizeof(struct vpa_overview_bucket);

	o->devices = vpa_arena_alloc(&out->arena, s->device_count, sizeof(*o->devices));
	if (!o->devices)
		return VPT_ENOMEM;
	for (i = 0; i < s->device_count; i++) {
		struct vpa_overview_device *d = &o->devices[o->device_count];

		if (!s->devices[i].buckets)
			continue;
		d->device = c->model->devices[i];
		d->buckets = vpa_arena_alloc(&out->arena, o->bucket_count, sizeof(*d->buckets));
		if (!d->buckets)
			return VPT_ENOMEM;
		memcpy(d->buckets, s->devices[i].buckets, bytes);
		/* One of the two copies is enough. */
		vpt_free(s->devices[i].buckets);
		s->devices[i].buckets = NULL;
		o->device_count++;
	}
	qsort(o->devices, o->device_count, sizeof(*o->devices), compare_devices);
	return VPT_OK;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	uint64_t end_ns = c->model->window_end_ns;
	struct vpa_overview *o;
	size_t i;

	out->overview = o = vpa_arena_alloc(&out->arena, 1, sizeof(*o));
	if (!o)
		return VPT_ENOMEM;
	if (!s->shift)
		return vpa_overview_lanes_write(&s->lanes, c, out);
	for (i = 0; i < s->device_count; i++)
		if (s->devices[i].buckets)
			advance(s, &s->devices[i], UINT64_MAX);
	if (end_ns > s->start_ns)
		reach(s, end_ns);
	o->start_ns = s->start_ns;
	o->bucket_ns = (uint64_t)1 << s->shift;
	if (s->last_ns > s->start_ns)
		o->bucket_count = (size_t)((s->last_ns - s->start_ns - 1) >> s->shift) + 1;
	return write_devices(s, c, out) || vpa_overview_lanes_write(&s->lanes, c, out) ? VPT_ENOMEM
										       : VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->device_count; i++)
		vpt_free(s->devices[i].buckets);
	vpt_free(s->devices);
	vpa_overview_lanes_free(&s->lanes);
}

static int wanted(const struct vpa_options *options)
{
	return options->overview || options->stage_spans;
}

const struct vpa_fold vpa_fold_overview = {
	.name = "overview",
	.help = "what happened when, for the page",
	.state_bytes = sizeof(struct state),
	.wanted = wanted,
	.aside = fold_ops,
	.scope = fold_scope,
	.gap = fold_gap,
	.finish = finish,
	.free = free_state,
};
