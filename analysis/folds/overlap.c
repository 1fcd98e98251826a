/* overlap.c - what runs at the same time on each device: compute, communication, copies; and how busy
 * each stream is.
 *
 * Ops come in order of start, so a kind runs until the largest end that it has had. Time is divided at
 * the next op's start, and only where communication or copies run: what remains of the busy time is
 * compute alone. */
#include "analysis/folds/fold.h"

#include "analysis/join/resolver.h"
#include "formats/base/memory.h"

#include <stdlib.h>

enum { KINDS = 3 };

struct device {
	uint64_t at_ns;         /* time is divided up to here */
	uint64_t end_ns[KINDS]; /* each kind runs until then */
	uint64_t ns[VPA_OVERLAPS];
};

struct stream {
	uint64_t end_ns, busy_ns, ops;
};

struct state {
	struct device *devices;
	size_t device_cap;
	struct stream *streams;
	size_t stream_cap;
	struct stream any; /* of all devices together */
};

/* Divides the time up to `to_ns`. */
VPA_RARE static void advance(struct device *d, uint64_t to_ns)
{
	while (d->at_ns < to_ns) {
		uint64_t next = to_ns;
		unsigned mask = 0;
		int k;

		for (k = 0; k < KINDS; k++) {
			if (d->end_ns[k] <= d->at_ns)
				continue;
			mask |= 1u << k;
			next = d->end_ns[k] < next ? d->end_ns[k] : next;
		}
		d->ns[mask] += next - d->at_ns;
		d->at_ns = next;
	}
}

static int kind_of(const struct vpa_ops *ops, size_t i)
{
	return ops->kind[i] != VPA_KERNEL ? 2 : ops->is_comm[i] ? 1 : 0;
}

static void begin_op(struct device *d, const struct vpa_ops *ops, size_t i)
{
	uint64_t *end = &d->end_ns[kind_of(ops, i)];

	advance(d, ops->start_ns[i]);
	*end = ops->end_ns[i] > *end ? ops->end_ns[i] : *end;
}

/* In a serial run each op begins after all before it have ended, so each but the last is alone. Compute
 * alone is not summed, see write_overlap(). */
static void add_serial(struct device *d, const struct vpa_ops *ops, const struct vpa_op_run *run,
	const uint8_t *other, const uint8_t *others_end)
{
	size_t last = run->end - (size_t)1;

	if (d->end_ns[1] > d->at_ns || d->end_ns[2] > d->at_ns)
		advance(d, ops->start_ns[run->begin]);
	for (; other < others_end && *other < last; other++)
		d->ns[1u << kind_of(ops, *other)] += ops->end_ns[*other] - ops->start_ns[*other];
	d->at_ns = ops->start_ns[last];
	d->end_ns[kind_of(ops, last)] = ops->end_ns[last];
}

static void add_to_device(
	struct device *d, const struct vpa_ops *ops, const struct vpa_op_run *run, size_t *other)
{
	size_t first = *other, i;

	while (*other < ops->other_count && ops->others[*other] < run->end)
		++*other;
	if (run->serial) {
		add_serial(d, ops, run, ops->others + first, ops->others + *other);
		return;
	}
	for (i = run->begin; i < run->end; i++)
		begin_op(d, ops, i);
}

/* In a serial run nothing else runs between its ops, so the stream is busy where the device is not
 * idle. Without pauses that is a difference of two numbers. */
static uint64_t busy_before_last(
	const struct vpa_ops *ops, const struct vpa_op_run *run, int has_pauses)
{
	size_t last = run->end - (size_t)1, i;
	uint64_t ns = 0;

	if (!has_pauses)
		return ops->start_ns[last] - ops->start_ns[run->begin] -
		       (ops->idle_ns[last] - ops->idle_ns[run->begin]);
	for (i = run->begin; i < last; i++)
		ns += ops->end_ns[i] - ops->start_ns[i];
	return ns;
}

static void add_to_stream(
	struct stream *s, const struct vpa_ops *ops, const struct vpa_op_run *run, int has_pauses)
{
	size_t i = run->begin;

	s->ops += (uint64_t)run->end - run->begin;
	/* Of all devices another one may work beside it. */
	if (run->serial && s->end_ns <= ops->start_ns[i]) {
		s->busy_ns += busy_before_last(ops, run, has_pauses);
		i = run->end - (size_t)1;
	}
	for (; i < run->end; i++) {
		uint64_t start = ops->start_ns[i] > s->end_ns ? ops->start_ns[i] : s->end_ns;

		if (ops->end_ns[i] <= start)
			continue;
		s->busy_ns += ops->end_ns[i] - start;
		s->end_ns = ops->end_ns[i];
	}
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	int has_pauses = c->resolver->paused.count != 0;
	size_t r, other = 0;

	if (vpt_grow_zeroed(
		    &s->devices, &s->device_cap, c->model->device_count, sizeof(*s->devices)) ||
		vpt_grow_zeroed(
			&s->streams, &s->stream_cap, c->model->stream_count, sizeof(*s->streams)))
		return VPT_ENOMEM;
	for (r = 0; r < ops->run_count; r++) {
		const struct vpa_op_run *run = &ops->runs[r];

		add_to_device(&s->devices[ops->device[run->begin]], ops, run, &other);
		add_to_stream(&s->streams[ops->stream[run->begin]], ops, run, has_pauses);
		add_to_stream(&s->any, ops, run, has_pauses);
	}
	return VPT_OK;
}

/* ---- writing down ---- */

static void write_overlap(struct device *d, const struct vpa_device *row, struct vpa_report *out)
{
	struct vpa_overlap_row *o = &out->expert.overlaps[out->expert.overlap_count++];
	size_t i;

	advance(d, UINT64_MAX);
	o->device = row->device;
	for (i = 2; i < VPA_OVERLAPS; i++)
		o->ns[i] = d->ns[i];
	/* Compute alone: all compute but that at the same time as something else. */
	o->ns[VPA_OVERLAP_COMPUTE] = row->compute_ns - d->ns[3] - d->ns[5] - d->ns[7];
}

static int compare_streams(const void *pa, const void *pb)
{
	const struct vpa_stream_row *a = pa, *b = pb;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->busy_ns != b->busy_ns)
		return a->busy_ns > b->busy_ns ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static int write_streams(
	const struct state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	const struct vpa_model *m = c->model;
	struct vpa_expert *e = &out->expert;
	size_t i;

	e->streams = vpa_arena_alloc(&out->arena, m->stream_count, sizeof(*e->streams));
	if (!e->streams && m->stream_count)
		return VPT_ENOMEM;
	for (i = 0; i < m->stream_count && i < s->stream_cap; i++)
		if (s->streams[i].ops)
			e->streams[e->streams_used++] =
				(struct vpa_stream_row){.device = m->devices[m->streams[i].device],
					.stream = m->streams[i].stream,
					.pid = m->streams[i].pid,
					.ops = s->streams[i].ops,
					.busy_ns = s->streams[i].busy_ns};
	qsort(e->streams, e->streams_used, sizeof(*e->streams), compare_streams);
	e->stream_count = e->streams_used < c->top ? e->streams_used : c->top;
	return VPT_OK;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i;

	out->any_busy_ns = s->any.busy_ns;
	out->expert.overlaps =
		vpa_arena_alloc(&out->arena, out->device_count, sizeof(*out->expert.overlaps));
	if (!out->expert.overlaps && out->device_count)
		return VPT_ENOMEM;
	for (i = 0; i < out->device_count; i++) {
		uint32_t index = vpa_find_device(c->model, out->devices[i].device);

		if (index < s->device_cap)
			write_overlap(&s->devices[index], &out->devices[i], out);
	}
	return write_streams(s, c, out);
}

static void free_state(void *state)
{
	struct state *s = state;

	vpt_free(s->devices);
	vpt_free(s->streams);
}

const struct vpa_fold vpa_fold_overlap = {
	.name = "overlap",
	.help = "compute, communication and copies at the same time, and the busy time of streams",
	.state_bytes = sizeof(struct state),
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};
