/* idle.c - unions of ops by a moving edge: ops come in order of start, so what is covered so far ends at the
 * latest end seen, and a start beyond it leaves a gap. */
#include "analysis/idle.h"

#include "analysis/cause.h"
#include "formats/memory.h"

#include <string.h>

const char *const vpa_gap_bucket_names[VPA_GAP_BUCKETS] = {
	"lt_1us", "1_5us", "5_20us", "20_100us", "100us_1ms", "1_10ms", "gt_10ms"};
const uint64_t vpa_gap_bucket_from_ns[VPA_GAP_BUCKETS + 1] = {
	0, 1000, 5000, 20000, 100000, 1000000, 10000000, UINT64_MAX};

VPA_RARE static int make_room(struct vpa_idle *s, const struct vpa_op *op)
{
	size_t before = s->device_count, streams = s->stream_cap;

	if (op->device >= before) {
		if (vpt_grow(&s->devices, &s->device_cap, (size_t)op->device + 1,
			    sizeof(*s->devices)))
			return VPT_ENOMEM;
		s->device_count = (size_t)op->device + 1;
		memset(s->devices + before, 0, (s->device_count - before) * sizeof(*s->devices));
		for (; before < s->device_count; before++)
			s->devices[before].cursor_ns = s->resolver->model->window_start_ns;
		s->grown(s->ctx);
	}
	if (vpt_grow(&s->streams, &s->stream_cap, (size_t)op->stream + 1, sizeof(*s->streams)))
		return VPT_ENOMEM;
	memset(s->streams + streams, 0, (s->stream_cap - streams) * sizeof(*s->streams));
	return VPT_OK;
}

static unsigned bucket_of(uint64_t ns)
{
	unsigned b = 0;

	while (ns >= vpa_gap_bucket_from_ns[b + 1])
		b++;
	return b;
}

static inline int hand_out_part(struct vpa_idle *s, struct vpa_gap *gap, struct vpa_idle_device *d)
{
	uint64_t ns = gap->end_ns - gap->start_ns;

	if (gap->before && gap->gating) {
		d->gaps++;
		d->histogram[bucket_of(ns)]++;
		if (ns > d->longest_gap_ns)
			d->longest_gap_ns = ns;
	}
	d->idle_ns += ns;
	vpa_cause_answer(s, gap, d->spent_ns);
	return s->gap(s->ctx, gap);
}

/* While recording is switched off nothing can be said: a pause cuts the gap that it lies in. */
VPA_RARE static int hand_out_cut(struct vpa_idle *s, struct vpa_gap *gap, struct vpa_idle_device *d)
{
	const struct vpa_intervals *paused = &s->resolver->paused;
	uint64_t end_ns = gap->end_ns;
	size_t i;
	int rc = VPT_OK;

	for (i = vpa_intervals_after(paused, gap->start_ns); !rc && gap->start_ns < end_ns; i++) {
		int last = i == paused->count || paused->items[i].start_ns >= end_ns;

		gap->end_ns = last ? end_ns : paused->items[i].start_ns;
		if (gap->end_ns > gap->start_ns)
			rc = hand_out_part(s, gap, d);
		gap->start_ns = last ? end_ns : paused->items[i].end_ns;
	}
	return rc;
}

static inline int hand_out(struct vpa_idle *s, struct vpa_gap *gap, struct vpa_idle_device *d)
{
	if (vpa_intervals_touch(&s->resolver->paused, gap->start_ns, gap->end_ns))
		return hand_out_cut(s, gap, d);
	return hand_out_part(s, gap, d);
}

/* A gap between two ops. */
static int hand_out_between(struct vpa_idle *s, struct vpa_idle_device *d, const struct vpa_op *op)
{
	struct vpa_gap gap = {.start_ns = d->cursor_ns,
		.end_ns = op->start_ns,
		.device = op->device,
		.before = &d->last,
		.gating = op,
		.thread = VPA_NONE};

	return hand_out(s, &gap, d);
}

/* The first op of a device, and the head of the window before it. */
VPA_RARE static int begin_device(
	struct vpa_idle *s, struct vpa_idle_device *d, const struct vpa_op *op)
{
	struct vpa_gap gap = {.start_ns = d->cursor_ns,
		.end_ns = op->start_ns,
		.device = op->device,
		.gating = op,
		.thread = VPA_NONE};

	d->seen = 1;
	d->first_ns = op->start_ns;
	return op->start_ns > d->cursor_ns ? hand_out(s, &gap, d) : VPT_OK;
}

/* Adds [start, end) to a union whose edge is *edge; returns how much was not covered before. */
static uint64_t cover(uint64_t *edge, uint64_t start, uint64_t end)
{
	uint64_t from = start > *edge ? start : *edge;

	if (end <= from)
		return 0;
	*edge = end;
	return end - from;
}

/* An op that begins while others are known to run. */
VPA_RARE static void add_overlapping(
	struct vpa_idle_device *d, const struct vpa_op *op, int is_compute)
{
	uint64_t start = op->start_ns, end = op->end_ns;

	if (end >= d->cursor_ns)
		d->last = (struct vpa_neighbour){
			end, op->correlation, op->kernel, op->kind, op->graph_node};
	d->busy_ns += cover(&d->cursor_ns, start, end);
	if (op->kind == VPA_KERNEL)
		d->work_ns += cover(&d->work_end_ns, start, end);
	if (is_compute)
		d->compute_ns += cover(&d->compute_end_ns, start, end);
}

/* One that begins when everything before it has ended. */
static void add_serial(struct vpa_idle_device *d, const struct vpa_op *op, int is_compute)
{
	uint64_t ns = op->end_ns - op->start_ns;

	d->last = (struct vpa_neighbour){
		op->end_ns, op->correlation, op->kernel, op->kind, op->graph_node};
	d->cursor_ns = op->end_ns;
	d->busy_ns += ns;
	if (op->kind == VPA_KERNEL) {
		d->work_end_ns = op->end_ns;
		d->work_ns += ns;
	}
	if (is_compute) {
		d->compute_end_ns = op->end_ns;
		d->compute_ns += ns;
	}
}

static inline int add_op(struct vpa_idle *s, struct vpa_op *op)
{
	struct vpa_idle_device *d;
	struct vpa_idle_stream *stream;
	int is_kernel = op->kind == VPA_KERNEL, is_compute, rc = VPT_OK;

	if ((op->device >= s->device_count || op->stream >= s->stream_cap) && make_room(s, op))
		return VPT_ENOMEM;
	d = &s->devices[op->device];
	if (!d->seen)
		rc = begin_device(s, d, op);
	else if (op->start_ns > d->cursor_ns)
		rc = hand_out_between(s, d, op);
	op->device_idle_ns = d->idle_ns;
	d->ops++;
	stream = &s->streams[op->stream];
	d->same_stream_overlaps += op->start_ns < stream->end_ns;
	if (op->end_ns > stream->end_ns)
		stream->end_ns = op->end_ns;
	if (op->correlation)
		stream->correlation = op->correlation;
	if (is_kernel) {
		d->kernel_ns += op->end_ns - op->start_ns;
		/* Masked, since one kernel's grid says nothing about the next one's. */
		d->small_grid_ns +=
			(op->end_ns - op->start_ns) &
			(0 - (uint64_t)((op->blocks != 0) & (op->blocks < d->sm_count)));
	}
	is_compute = is_kernel && !s->resolver->model->kernels[op->kernel].is_comm;
	if (op->start_ns >= d->cursor_ns)
		add_serial(d, op, is_compute);
	else
		add_overlapping(d, op, is_compute);
	return rc;
}

int vpa_idle_ops(struct vpa_idle *s, struct vpa_op *const *ops, size_t count)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < count && !rc; i++)
		rc = add_op(s, ops[i]);
	return rc;
}

int vpa_idle_end(struct vpa_idle *s, uint64_t window_end_ns)
{
	uint32_t i;
	int rc = VPT_OK;

	for (i = 0; !rc && i < s->device_count; i++) {
		struct vpa_idle_device *d = &s->devices[i];
		struct vpa_gap gap = {.start_ns = d->cursor_ns,
			.end_ns = window_end_ns,
			.device = i,
			.before = &d->last,
			.thread = VPA_NONE};

		if (d->seen && window_end_ns > d->cursor_ns)
			rc = hand_out(s, &gap, d);
	}
	return rc;
}

uint64_t vpa_idle_frontier(const struct vpa_idle *s)
{
	uint64_t frontier = UINT64_MAX;
	size_t i;

	for (i = 0; i < s->device_count; i++)
		if (s->devices[i].seen && s->devices[i].cursor_ns < frontier)
			frontier = s->devices[i].cursor_ns;
	return frontier == UINT64_MAX ? s->resolver->model->window_start_ns : frontier;
}

void vpa_idle_free(struct vpa_idle *s)
{
	vpt_free(s->devices);
	vpt_free(s->streams);
	memset(s, 0, sizeof(*s));
}
