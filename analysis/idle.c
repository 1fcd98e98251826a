/* idle.c - unions of ops by a moving edge: ops come in order of start, so what is covered so far ends at the
 * latest end seen, and a start beyond it leaves a gap. */
#include "analysis/idle.h"

#include "analysis/cause.h"
#include "formats/memory.h"
#include "formats/vectorise.h"

#include <string.h>

const char *const vpa_gap_bucket_names[VPA_GAP_BUCKETS] = {
	"lt_1us", "1_5us", "5_20us", "20_100us", "100us_1ms", "1_10ms", "gt_10ms"};
const uint64_t vpa_gap_bucket_from_ns[VPA_GAP_BUCKETS + 1] = {
	0, 1000, 5000, 20000, 100000, 1000000, 10000000, UINT64_MAX};

/* A device that stands idle for longer than this, while another works, no longer keeps the host's past: what its gap
 * was spent in is known from then on only. */
#define IDLE_KEPT_NS ((uint64_t)30 * 1000000000)

VPA_RARE static int make_room(struct vpa_idle *s, uint32_t device, uint32_t stream)
{
	size_t before = s->device_count, streams = s->stream_cap;

	if (device >= before) {
		if (vpt_grow(&s->devices, &s->device_cap, (size_t)device + 1, sizeof(*s->devices)))
			return VPT_ENOMEM;
		s->device_count = (size_t)device + 1;
		memset(s->devices + before, 0, (s->device_count - before) * sizeof(*s->devices));
		for (; before < s->device_count; before++) {
			s->devices[before].cursor_ns = s->resolver->model->window_start_ns;
			s->devices[before].newest = VPA_NO_OP;
		}
		s->grown(s->ctx);
	}
	if (vpt_grow(&s->streams, &s->stream_cap, (size_t)stream + 1, sizeof(*s->streams)))
		return VPT_ENOMEM;
	memset(s->streams + streams, 0, (s->stream_cap - streams) * sizeof(*s->streams));
	return VPT_OK;
}

/* ---- gaps ---- */

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

void vpa_idle_gap(
	const struct vpa_idle *s, const struct vpa_ops *ops, size_t i, struct vpa_whole_gap *out)
{
	const struct vpa_idle_device *d = &s->devices[ops->device[i]];
	int is_here = ops->gap_before[i] != VPA_NO_OP;
	size_t k = 0;

	out->before = is_here ? vpa_ops_get(ops, ops->gap_before[i]) : d->last;
	out->gating = vpa_ops_get(ops, i);
	out->gap = (struct vpa_gap){.start_ns = ops->start_ns[i] - ops->gap_ns[i],
		.end_ns = ops->start_ns[i],
		.device = ops->device[i],
		.opened_by = (enum vpa_cause)ops->gap_opened_by[i],
		.call = ops->launch_name[i],
		.range = vpa_ops_stretch(ops, i, &k)->range_name,
		.thread = ops->launch[i] ? vpa_call_thread(ops->launch[i]) : VPA_NONE,
		.before = is_here || d->has_last ? &out->before : NULL,
		.gating = &out->gating};
}

/* Answers a gap that is told of by itself. While recording is switched off nothing can be said: a pause cuts it. */
static int hand_out(struct vpa_idle *s, struct vpa_gap *gap)
{
	const struct vpa_intervals *paused = &s->resolver->paused;
	struct vpa_idle_device *d = &s->devices[gap->device];
	uint64_t end_ns = gap->end_ns;
	int rc = VPT_OK, is_cut = vpa_intervals_touch(paused, gap->start_ns, end_ns);
	size_t i = is_cut ? vpa_intervals_after(paused, gap->start_ns) : paused->count;

	for (; !rc && gap->start_ns < end_ns; i++) {
		int last = i >= paused->count || paused->items[i].start_ns >= end_ns;

		gap->end_ns = last ? end_ns : paused->items[i].start_ns;
		if (gap->end_ns > gap->start_ns) {
			if (gap->before && gap->gating)
				count_gap(d, gap->end_ns - gap->start_ns);
			vpa_cause_answer(s, gap, d->spent_ns);
			rc = s->gap(s->ctx, gap);
		}
		gap->start_ns = last ? end_ns : paused->items[i].end_ns;
	}
	return rc;
}

static int hand_out_of(struct vpa_idle *s, struct vpa_ops *ops, size_t i, uint64_t previous)
{
	struct vpa_whole_gap whole;

	vpa_idle_gap(s, ops, i, &whole);
	whole.gap.previous = previous;
	return hand_out(s, &whole.gap);
}

uint64_t vpa_idle_recorded_ns(const struct vpa_idle *s, uint64_t start_ns, uint64_t end_ns)
{
	const struct vpa_intervals *paused = &s->resolver->paused;
	uint64_t ns = end_ns - start_ns;
	size_t i = vpa_intervals_after(paused, start_ns);

	for (; i < paused->count && paused->items[i].start_ns < end_ns; i++) {
		uint64_t from = paused->items[i].start_ns, to = paused->items[i].end_ns;

		ns -= (to < end_ns ? to : end_ns) - (from > start_ns ? from : start_ns);
	}
	return ns;
}

/* ---- ops ---- */

/* Adds [start, end) to a union whose edge is *edge; returns how much was not covered before. */
static uint64_t cover(uint64_t *edge, uint64_t start, uint64_t end)
{
	uint64_t from = start > *edge ? start : *edge;

	if (end <= from)
		return 0;
	*edge = end;
	return end - from;
}

/* What is the same for any op. */
static void add_kernel(struct vpa_idle_device *d, const struct vpa_ops *ops, size_t i)
{
	uint64_t ns = ops->end_ns[i] - ops->start_ns[i];

	if (ops->kind[i] != VPA_KERNEL)
		return;
	d->kernel_ns += ns;
	if (ops->blocks[i] && ops->blocks[i] < d->sm_count)
		d->small_grid_ns += ns;
}

/* An op that may begin while others run, or at the window's start, or after a pause. */
static void add_one(struct vpa_idle *s, struct vpa_idle_device *d, struct vpa_idle_stream *stream,
	struct vpa_ops *ops, size_t i)
{
	uint64_t start = ops->start_ns[i], end = ops->end_ns[i];
	int is_kernel = ops->kind[i] == VPA_KERNEL;

	if (!d->seen)
		d->first_ns = start;
	d->seen = 1;
	ops->gap_ns[i] = start > d->cursor_ns ? start - d->cursor_ns : 0;
	ops->gap_before[i] = d->newest;
	if (ops->gap_ns[i])
		d->idle_ns += vpa_idle_recorded_ns(s, d->cursor_ns, start);
	ops->idle_ns[i] = d->idle_ns;
	d->same_stream_overlaps += start < stream->end_ns;
	if (end > stream->end_ns)
		stream->end_ns = end;
	if (end >= d->cursor_ns)
		d->newest = (uint8_t)i;
	add_kernel(d, ops, i);
	d->busy_ns += cover(&d->cursor_ns, start, end);
	if (is_kernel)
		d->work_ns += cover(&d->work_end_ns, start, end);
	if (is_kernel && !ops->is_comm[i])
		d->compute_ns += cover(&d->compute_end_ns, start, end);
}

/* The gaps between ops [begin, end) as if each began when the one before it had ended. Returns whether that is so; for
 * numbers whose top bit is set that it is not. */
VPT_VECTORISE
static int subtract_ends(const uint64_t *restrict starts, const uint64_t *restrict ends,
	size_t begin, size_t end, uint64_t *restrict gaps, uint8_t *restrict before)
{
	uint64_t bad = 0;
	size_t i;

	for (i = begin + 1; i < end; i++) {
		gaps[i] = starts[i] - ends[i - 1];
		bad |= gaps[i] | ends[i - 1];
	}
	for (i = begin + 1; i < end; i++)
		before[i] = (uint8_t)(i - 1);
	return !(bad >> 63);
}

/* Tells the gaps before ops, less the first, that each begin when the one before has ended. Returns where the first
 * that does not is. */
static size_t find_overlap(struct vpa_ops *ops, size_t begin, size_t end)
{
	size_t i;

	if (subtract_ends(ops->start_ns, ops->end_ns, begin, end, ops->gap_ns, ops->gap_before))
		return end;
	for (i = begin + 1; i < end && ops->start_ns[i] >= ops->end_ns[i - 1]; i++)
		;
	return i;
}

/* Measures the gaps before ops that each begin when the one before has ended, up to the first that does not;
 * returns where that is. The first is known to begin when all before it have ended. */
static size_t measure_gaps(struct vpa_idle_device *d, struct vpa_ops *ops, size_t begin, size_t end)
{
	const uint64_t *gaps = ops->gap_ns;
	uint64_t sum = d->idle_ns;
	size_t i;

	end = find_overlap(ops, begin, end);
	ops->gap_ns[begin] = ops->start_ns[begin] - d->cursor_ns;
	ops->gap_before[begin] = d->newest;
	for (i = begin; i + 4 <= end; i += 4) {
		ops->idle_ns[i] = sum += gaps[i];
		ops->idle_ns[i + 1] = sum += gaps[i + 1];
		ops->idle_ns[i + 2] = sum += gaps[i + 2];
		ops->idle_ns[i + 3] = sum += gaps[i + 3];
	}
	for (; i < end; i++)
		ops->idle_ns[i] = sum += gaps[i];
	d->idle_ns = sum;
	d->newest = (uint8_t)(end - 1);
	d->cursor_ns = ops->end_ns[end - 1];
	return end;
}

/* Time of kernels that have blocks, but fewer than `small`. */
VPT_VECTORISE
static uint64_t small_grid_ns(const struct vpa_ops *ops, size_t begin, size_t end, uint32_t small)
{
	uint64_t sum = 0;
	size_t i;

	for (i = begin; i < end; i++)
		/* Masked, since one kernel's grid says nothing about the next one's. */
		sum += (ops->end_ns[i] - ops->start_ns[i]) &
		       (0 - (uint64_t)(ops->blocks[i] && ops->blocks[i] < small));
	return sum;
}

/* Ops that run one after the other, with nothing else on the device: no edge has to be looked at. `*other` is the
 * first of ops->others from `begin` on, and goes on to the first from `end` on. */
static void add_serial(struct vpa_idle_device *d, struct vpa_idle_stream *stream,
	const struct vpa_ops *ops, size_t begin, size_t end, size_t *other)
{
	uint64_t gaps_ns = ops->idle_ns[end - 1] - ops->idle_ns[begin];
	uint64_t busy_ns = ops->end_ns[end - 1] - ops->start_ns[begin] - gaps_ns, copy_ns = 0,
		 comm_ns = 0;
	size_t i;

	for (; *other < ops->other_count && ops->others[*other] < end; ++*other) {
		i = ops->others[*other];
		*(ops->is_comm[i] ? &comm_ns : &copy_ns) += ops->end_ns[i] - ops->start_ns[i];
	}
	d->busy_ns += busy_ns;
	d->kernel_ns += busy_ns - copy_ns;
	d->work_ns += busy_ns - copy_ns;
	d->compute_ns += busy_ns - copy_ns - comm_ns;
	if (d->sm_count)
		d->small_grid_ns += small_grid_ns(ops, begin, end, d->sm_count);
	stream->end_ns = ops->end_ns[end - 1];
	for (i = end; i > begin && ops->kind[i - 1] != VPA_KERNEL; i--)
		;
	d->work_end_ns = i > begin ? ops->end_ns[i - 1] : d->work_end_ns;
	for (; i > begin && (ops->kind[i - 1] != VPA_KERNEL || ops->is_comm[i - 1]); i--)
		;
	d->compute_end_ns = i > begin ? ops->end_ns[i - 1] : d->compute_end_ns;
}

/* Adds ops of one stream from `begin` on, at most up to `end`; returns where the run ends. */
static size_t add_run(
	struct vpa_idle *s, struct vpa_ops *ops, size_t begin, size_t end, size_t *other)
{
	struct vpa_idle_device *d = &s->devices[ops->device[begin]];
	struct vpa_idle_stream *stream = &s->streams[ops->stream[begin]];
	int serial = d->seen && ops->start_ns[begin] >= d->cursor_ns &&
		     d->cursor_ns >= s->paused_until_ns;

	if (serial) {
		end = measure_gaps(d, ops, begin, end);
		add_serial(d, stream, ops, begin, end, other);
	} else {
		end = begin + 1;
		add_one(s, d, stream, ops, begin);
		*other += *other < ops->other_count && ops->others[*other] == begin;
	}
	d->ops += end - begin;
	ops->runs[ops->run_count++] = (struct vpa_op_run){
		.begin = (uint8_t)begin, .end = (uint8_t)end, .serial = (uint8_t)serial};
	return end;
}

/* Answers the gap before an op. */
static int answer_gap(struct vpa_idle *s, struct vpa_ops *ops, size_t i, uint64_t previous)
{
	struct vpa_idle_device *d = &s->devices[ops->device[i]];
	uint64_t ns = ops->gap_ns[i];

	ops->gap_opened_by[i] = 0;
	if (!ns)
		return VPT_OK;
	ops->gap_opened_by[i] = (uint8_t)vpa_cause_of_queued(s, ops, i, previous);
	if (!ops->gap_opened_by[i])
		return hand_out_of(s, ops, i, previous);
	count_gap(d, ns);
	d->spent_ns[ops->gap_opened_by[i]] += ns;
	return VPT_OK;
}

/* What the gaps of a serial run are like. */
struct calm {
	uint64_t bad; /* top bit: not all of them are the device's own time to begin, for sure */
	uint64_t below[3]; /* how many are in the first buckets, each including those before it */
	uint64_t longest_ns;
};

/* The rule of vpa_cause_is_scheduling(), and that neighbours are not of one launch, as a sum of signs: numbers whose
 * top bit is set are refused too. */
VPT_VECTORISE
static struct calm look_at_gaps(const struct vpa_ops *ops, size_t begin, size_t end)
{
	uint64_t bad = 0, below_1us = 0, below_5us = 0;
	int64_t longest_ns = 0;
	size_t i;

	for (i = begin + 1; i < end; i++) {
		uint64_t from = ops->end_ns[i - 1], returned = ops->launch_end_ns[i];
		uint64_t ns = ops->gap_ns[i];

		bad |= returned | from | (from - returned - VPA_NEAR_NS);
		bad |= (ns - 1) | (VPA_NEAR_NS - ns);
		bad |= (ops->correlation[i] ^ ops->correlation[i - 1]) - 1;
		below_1us += (ns - 1000) >> 63;
		below_5us += (ns - 5000) >> 63;
		longest_ns = (int64_t)ns > longest_ns ? (int64_t)ns : longest_ns;
	}
	return (struct calm){bad, {below_1us, below_5us, end - begin - 1}, (uint64_t)longest_ns};
}

/* Answers the gaps behind a serial run's first op if all of them are what nearly all are: short, before ops that had
 * been queued long ago. Returns whether that was so. */
static int answer_all(struct vpa_idle *s, struct vpa_ops *ops, struct vpa_op_run *run)
{
	struct vpa_idle_device *d = &s->devices[ops->device[run->begin]];
	size_t begin = run->begin, count = run->end - begin - 1;
	struct calm calm;

	_Static_assert(VPA_NEAR_NS < 20000, "such gaps are in the first three buckets");
	if (ops->graph_launches || !count)
		return 0;
	calm = look_at_gaps(ops, begin, run->end);
	if (calm.bad >> 63)
		return 0;
	memset(ops->gap_opened_by + begin + 1, VPA_CAUSE_SCHEDULING, count);
	d->gaps += count;
	d->histogram[0] += calm.below[0];
	d->histogram[1] += calm.below[1] - calm.below[0];
	d->histogram[2] += calm.below[2] - calm.below[1];
	d->spent_ns[VPA_CAUSE_SCHEDULING] += ops->idle_ns[run->end - 1] - ops->idle_ns[begin];
	if (calm.longest_ns > d->longest_gap_ns)
		d->longest_gap_ns = calm.longest_ns;
	run->calm = 1;
	run->longest_ns = (uint32_t)calm.longest_ns;
	return 1;
}

/* The gaps of a serial run behind its first op, with nothing recorded that could have a part in them and no wait
 * queued on the stream, where not all are alike. */
static int answer_each(struct vpa_idle *s, struct vpa_ops *ops, const struct vpa_op_run *run)
{
	struct vpa_idle_device *d = &s->devices[ops->device[run->begin]];
	uint64_t scheduling_ns = 0, longest_ns = 0, tiny = 0, gaps = 0;
	size_t i;
	int rc = VPT_OK;

	for (i = run->begin + (size_t)1; i < run->end && !rc; i++) {
		uint64_t from = ops->end_ns[i - 1], ns = ops->gap_ns[i];

		if (!vpa_cause_is_scheduling(from, ns, ops->launch_end_ns[i]) ||
			ops->correlation[i] == ops->correlation[i - 1] ||
			ops->launch[i]->klass == VPT_CALL_GRAPH_LAUNCH) {
			rc = answer_gap(s, ops, i, 0);
			continue;
		}
		ops->gap_opened_by[i] = VPA_CAUSE_SCHEDULING;
		scheduling_ns += ns;
		longest_ns = ns > longest_ns ? ns : longest_ns;
		gaps++;
		if (ns < vpa_gap_bucket_from_ns[1])
			tiny++;
		else
			d->histogram[bucket_of(ns)]++;
	}
	d->gaps += gaps;
	d->histogram[0] += tiny;
	d->spent_ns[VPA_CAUSE_SCHEDULING] += scheduling_ns;
	d->longest_gap_ns = longest_ns > d->longest_gap_ns ? longest_ns : d->longest_gap_ns;
	return rc;
}

/* Answers the gaps of a run, in order. */
static int answer_run(struct vpa_idle *s, struct vpa_ops *ops, struct vpa_op_run *run)
{
	struct vpa_idle_stream *stream = &s->streams[ops->stream[run->begin]];
	const struct vpa_waits *waits = &s->resolver->waits[ops->stream[run->begin]];
	uint64_t quiet_ns = s->resolver->quiet_ns;
	size_t i = run->begin;
	int rc = answer_gap(s, ops, i, stream->correlation);

	if (!rc && run->serial && waits->taken == waits->count && ops->end_ns[i] >= quiet_ns) {
		if (!answer_all(s, ops, run))
			rc = answer_each(s, ops, run);
		for (i = run->end - (size_t)1; i > run->begin && !ops->correlation[i]; i--)
			;
		if (ops->correlation[i])
			stream->correlation = ops->correlation[i];
		return rc;
	}
	for (; i < run->end && !rc; i++) {
		if (i > run->begin)
			rc = answer_gap(s, ops, i, stream->correlation);
		if (ops->correlation[i])
			stream->correlation = ops->correlation[i];
	}
	return rc;
}

int vpa_idle_ops(struct vpa_idle *s, struct vpa_ops *ops)
{
	const struct vpa_intervals *paused = &s->resolver->paused;
	size_t i, end = 0, other = 0;
	int rc = VPT_OK;

	s->paused_until_ns = paused->count ? paused->items[paused->count - 1].end_ns : 0;
	ops->run_count = 0;
	for (i = 0; i < ops->count && !rc;) {
		if (ops->device[i] >= s->device_count || ops->stream[i] >= s->stream_cap)
			rc = make_room(s, ops->device[i], ops->stream[i]);
		end = ops->one_stream ? ops->count : i + 1;
		while (end < ops->count && ops->stream[end] == ops->stream[i])
			end++;
		while (i < end && !rc) {
			i = add_run(s, ops, i, end, &other);
			rc = answer_run(s, ops, &ops->runs[ops->run_count - 1]);
		}
	}
	return rc;
}

void vpa_idle_done(struct vpa_idle *s, const struct vpa_ops *ops)
{
	size_t i;

	for (i = 0; i < s->device_count; i++) {
		struct vpa_idle_device *d = &s->devices[i];

		if (d->newest == VPA_NO_OP)
			continue;
		d->last = vpa_ops_get(ops, d->newest);
		d->last.launch = NULL;
		d->last.range = d->last.process_range = NULL;
		d->has_last = 1;
		d->newest = VPA_NO_OP;
	}
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

		if (!d->seen || window_end_ns <= d->cursor_ns)
			continue;
		d->idle_ns += vpa_idle_recorded_ns(s, d->cursor_ns, window_end_ns);
		rc = hand_out(s, &gap);
	}
	return rc;
}

uint64_t vpa_idle_frontier(const struct vpa_idle *s)
{
	uint64_t newest = 0, frontier = UINT64_MAX;
	size_t i;

	for (i = 0; i < s->device_count; i++)
		if (s->devices[i].seen && s->devices[i].cursor_ns > newest)
			newest = s->devices[i].cursor_ns;
	for (i = 0; i < s->device_count; i++) {
		const struct vpa_idle_device *d = &s->devices[i];

		if (d->seen && newest - d->cursor_ns <= IDLE_KEPT_NS && d->cursor_ns < frontier)
			frontier = d->cursor_ns;
	}
	return frontier == UINT64_MAX ? s->resolver->model->window_start_ns : frontier;
}

void vpa_idle_free(struct vpa_idle *s)
{
	vpt_free(s->devices);
	vpt_free(s->streams);
	memset(s, 0, sizeof(*s));
}
