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

/* Answers the gaps that have gathered and hands them out. */
static int hand_out(struct vpa_idle *s)
{
	size_t count = s->gap_count;

	s->gap_count = 0;
	vpa_cause_answer(s, s->gaps, count);
	return count ? s->gaps_out(s->ctx, s->gaps, count) : VPT_OK;
}

VPA_RARE static int make_room(struct vpa_idle *s, const struct vpa_op *op)
{
	size_t before = s->device_count, streams = s->stream_cap;

	if (op->device >= before) {
		/* Gaps refer to what devices remember, which is about to move. */
		if (hand_out(s) || vpt_grow(&s->devices, &s->device_cap, (size_t)op->device + 1,
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

static inline unsigned bucket_of(uint64_t ns)
{
	unsigned b = 0;

	while (ns >= vpa_gap_bucket_from_ns[b + 1])
		b++;
	return b;
}

static inline void count_gap(struct vpa_idle_device *d, uint64_t ns)
{
	d->gaps++;
	d->histogram[bucket_of(ns)]++;
	if (ns > d->longest_gap_ns)
		d->longest_gap_ns = ns;
}

/* While recording is switched off nothing can be said: a pause cuts the gap that it lies in. */
VPA_RARE static int put_cut(struct vpa_idle *s, struct vpa_gap gap, struct vpa_idle_device *d)
{
	const struct vpa_intervals *paused = &s->resolver->paused;
	uint64_t end_ns = gap.end_ns;
	size_t i;

	for (i = vpa_intervals_after(paused, gap.start_ns); gap.start_ns < end_ns; i++) {
		int last = i == paused->count || paused->items[i].start_ns >= end_ns;

		gap.end_ns = last ? end_ns : paused->items[i].start_ns;
		if (gap.end_ns > gap.start_ns) {
			if (s->gap_count == VPA_GAPS_MAX && hand_out(s))
				return VPT_ENOMEM;
			if (gap.before && gap.gating)
				count_gap(d, gap.end_ns - gap.start_ns);
			d->idle_ns += gap.end_ns - gap.start_ns;
			s->gaps[s->gap_count++] = gap;
		}
		gap.start_ns = last ? end_ns : paused->items[i].end_ns;
	}
	return VPT_OK;
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

/* An op that begins while others are known to run. Returns the one that ends last. */
VPA_RARE static const struct vpa_op *add_overlapping(struct vpa_idle_device *d,
	struct vpa_idle_stream *stream, const struct vpa_op *op, int is_compute,
	const struct vpa_op *last)
{
	uint64_t start = op->start_ns, end = op->end_ns;

	d->same_stream_overlaps += start < stream->end_ns;
	if (end > stream->end_ns)
		stream->end_ns = end;
	if (end >= d->cursor_ns)
		last = op;
	d->busy_ns += cover(&d->cursor_ns, start, end);
	if (op->kind == VPA_KERNEL)
		d->work_ns += cover(&d->work_end_ns, start, end);
	if (is_compute)
		d->compute_ns += cover(&d->compute_end_ns, start, end);
	return last;
}

/* A gap with something about it: at the window's start, in a pause, or one too many to gather. */
VPA_RARE static int put_odd_gap(struct vpa_idle *s, struct vpa_idle_device *d,
	const struct vpa_op *last, const struct vpa_op *op, uint64_t previous)
{
	return put_cut(s,
		(struct vpa_gap){.start_ns = d->cursor_ns,
			.end_ns = op->start_ns,
			.device = op->device,
			.before = last,
			.gating = op,
			.previous = previous},
		d);
}

/* Notes a gap between two ops. */
static inline void put_gap(struct vpa_idle *s, struct vpa_idle_device *d, const struct vpa_op *last,
	const struct vpa_op *op, uint64_t previous)
{
	struct vpa_gap *gap = &s->gaps[s->gap_count++];
	uint64_t from = d->cursor_ns;

	gap->start_ns = from;
	gap->end_ns = op->start_ns;
	gap->device = op->device;
	gap->before = last;
	gap->gating = op;
	gap->previous = previous;
	count_gap(d, op->start_ns - from);
	d->idle_ns += op->start_ns - from;
}

/* What the ops of a run that begin when everything before them has ended add up to. */
struct serial {
	uint64_t busy_ns, work_ns, compute_ns;
};

/* Adds the ops in front that are of one stream, so of one device too, and returns how many; 0: no memory. */
static size_t add_run(struct vpa_idle *s, struct vpa_op *ops, size_t count)
{
	const struct vpa_kernel *kernels = s->resolver->model->kernels;
	struct vpa_idle_device *d = &s->devices[ops->device];
	struct vpa_idle_stream *stream = &s->streams[ops->stream];
	const struct vpa_op *last = !d->seen ? NULL : d->newest ? d->newest : &d->last;
	uint64_t kernel_ns = 0, small_grid_ns = 0, previous = stream->correlation;
	uint32_t of = ops->stream, small = d->sm_count ? d->sm_count - 1 : 0;
	struct serial sums = {0};
	size_t i;

	if (!d->seen)
		d->first_ns = ops->start_ns;
	d->seen = 1;
	for (i = 0; i < count && ops[i].stream == of; i++) {
		struct vpa_op *op = &ops[i];
		uint64_t start = op->start_ns, end = op->end_ns, ns = end - start;
		int is_kernel = op->kind == VPA_KERNEL;
		int is_compute = is_kernel && !kernels[op->kernel].is_comm;

		if (start > d->cursor_ns) {
			if (last && s->gap_count < VPA_GAPS_MAX &&
				d->cursor_ns >= s->paused_until_ns)
				put_gap(s, d, last, op, previous);
			else if (put_odd_gap(s, d, last, op, previous))
				return 0;
		}
		op->device_idle_ns = d->idle_ns;
		previous = op->correlation ? op->correlation : previous;
		if (is_kernel) {
			kernel_ns += ns;
			/* Masked, since one kernel's grid says nothing about the next one's. */
			small_grid_ns += ns & (0 - (uint64_t)(op->blocks - 1 < small));
		}
		if (start < d->cursor_ns) {
			last = add_overlapping(d, stream, op, is_compute, last);
			continue;
		}
		last = op;
		d->cursor_ns = stream->end_ns = end;
		sums.busy_ns += ns;
		if (is_kernel) {
			d->work_end_ns = end;
			sums.work_ns += ns;
		}
		if (is_compute) {
			d->compute_end_ns = end;
			sums.compute_ns += ns;
		}
	}
	d->newest = last;
	d->ops += i;
	d->busy_ns += sums.busy_ns;
	d->work_ns += sums.work_ns;
	d->compute_ns += sums.compute_ns;
	d->kernel_ns += kernel_ns;
	d->small_grid_ns += small_grid_ns;
	stream->correlation = previous;
	return i;
}

/* The batch is going: what devices remember of it is copied. */
static void keep_newest(struct vpa_idle *s)
{
	size_t i;

	for (i = 0; i < s->device_count; i++) {
		struct vpa_idle_device *d = &s->devices[i];

		if (!d->newest)
			continue;
		d->last = *d->newest;
		d->last.launch = NULL;
		d->last.range = d->last.process_range = NULL;
		d->newest = NULL;
	}
}

int vpa_idle_ops(struct vpa_idle *s, struct vpa_op *ops, size_t count)
{
	const struct vpa_intervals *paused = &s->resolver->paused;
	size_t i, added = 1;
	int rc = VPT_OK;

	s->paused_until_ns = paused->count ? paused->items[paused->count - 1].end_ns : 0;
	for (i = 0; i < count && added && !rc; i += added) {
		if (ops[i].device >= s->device_count || ops[i].stream >= s->stream_cap)
			rc = make_room(s, &ops[i]);
		added = rc ? 0 : add_run(s, ops + i, count - i);
	}
	if (added)
		rc = hand_out(s);
	keep_newest(s);
	return added ? rc : VPT_ENOMEM;
}

int vpa_idle_end(struct vpa_idle *s, uint64_t window_end_ns)
{
	uint32_t i;

	for (i = 0; i < s->device_count; i++) {
		struct vpa_idle_device *d = &s->devices[i];
		struct vpa_gap gap = {.start_ns = d->cursor_ns,
			.end_ns = window_end_ns,
			.device = i,
			.before = &d->last};

		if (d->seen && window_end_ns > d->cursor_ns && put_cut(s, gap, d))
			return VPT_ENOMEM;
	}
	return hand_out(s);
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
