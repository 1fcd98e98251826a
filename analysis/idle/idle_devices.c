/* idle_devices.c - unions of ops by a moving edge: ops come in order of start, so the covered time
 * ends at the latest end seen, and a start after it leaves a gap. */
#include "analysis/idle/idle_devices.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/vectorise.h"

#include <string.h>

enum {
	LOOK_EVERY = 64,       /* ops */
	FAR_AHEAD_NS = 1000000 /* no host fills a queue in less */
};

VPA_RARE int vpa_idle_room(struct vpa_idle *s, uint32_t device, uint32_t stream)
{
	size_t before = s->device_count;

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
	return vpt_grow_zeroed(
		&s->streams, &s->stream_cap, (size_t)stream + 1, sizeof(*s->streams));
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

/* Makes room for all kernels known so far. */
static inline int know_kernels(const struct vpa_idle *s, struct vpa_idle_device *d)
{
	return vpt_grow_zeroed(
		&d->used, &d->used_cap, s->resolver->model->kernel_count, sizeof(*d->used));
}

/* Notes that the device runs a copy or memset of this kind. Returns whether it is the first. */
static int use_copy(struct vpa_idle_device *d, const struct vpa_ops *ops, size_t i)
{
	const struct vpa_copy *copy = &ops->copy[i];
	unsigned kind = ops->kind[i] == VPA_MEMSET ? USED_KINDS - 1 : copy->kind % (USED_KINDS - 1);
	uint64_t bit = (uint64_t)1 << (copy->source_memory % 8 * 8 + copy->target_memory % 8);
	int first = !(d->used_copies[kind] & bit);

	d->used_copies[kind] |= bit;
	return first;
}

/* Notes that the device runs a kernel. Returns whether it is the first time. */
static inline int use_kernel(struct vpa_idle_device *d, uint32_t kernel)
{
	int first = !d->used[kernel];

	d->used[kernel] = 1;
	d->kernels_used += (size_t)first;
	return first;
}

int vpa_idle_find_firsts(
	struct vpa_idle *s, struct vpa_ops *ops, size_t begin, size_t end, size_t other)
{
	struct vpa_idle_device *d = &s->devices[ops->device[begin]];
	size_t i;

	if (know_kernels(s, d))
		return VPT_ENOMEM;
	/* Soon it has run all kernels there are. */
	for (i = begin; i < end && d->kernels_used < s->resolver->model->kernel_count; i++)
		if (ops->kind[i] == VPA_KERNEL && use_kernel(d, ops->kernel[i]))
			ops->firsts[ops->first_count++] = (uint8_t)i;
	for (; other < ops->other_count && ops->others[other] < end; other++)
		if (ops->kind[ops->others[other]] != VPA_KERNEL &&
			use_copy(d, ops, ops->others[other]))
			ops->firsts[ops->first_count++] = ops->others[other];
	return VPT_OK;
}

/* Counts what is counted for every kernel. */
static void add_kernel(struct vpa_idle_device *d, const struct vpa_ops *ops, size_t i)
{
	uint64_t ns = ops->end_ns[i] - ops->start_ns[i];

	if (ops->kind[i] != VPA_KERNEL)
		return;
	d->kernel_ns += ns;
	if (ops->blocks[i] && ops->blocks[i] < d->sm_count)
		d->small_grid_ns += ns;
}

/* A kernel may overlap the next one of its stream (programmatic dependent launch), and be outlasted by it, but
 * not by two, one after the other. Nodes of graphs run at once. Notes op `i`, which ends before another of its
 * stream does that began earlier. */
VPA_RARE static void note_inside(const struct vpa_idle *s, struct vpa_idle_device *d,
	struct vpa_idle_stream *stream, const struct vpa_ops *ops, size_t i)
{
	const struct vpa_call *launch = ops->launch[i];

	if (stream->outer_ns != stream->end_ns)
		stream->inside = stream->inside_end_ns = 0;
	stream->outer_ns = stream->end_ns;
	if (s->resolver->model->streams[ops->stream[i]].stream == -1 || ops->graph_node[i] ||
		(ops->correlation[i] && ops->correlation[i] == stream->last_id) ||
		(launch && launch->klass == VPT_CALL_GRAPH_LAUNCH) ||
		ops->start_ns[i] < stream->inside_end_ns)
		return;
	if (!stream->inside++)
		stream->inside_start_ns = ops->start_ns[i];
	stream->inside_end_ns = ops->end_ns[i];
	if (stream->inside != 2)
		return;
	d->too_long_ops++;
	vpt_sat_add_to(&d->doubted_ns, stream->end_ns - stream->inside_start_ns);
}

/* Adds an op that may begin while others run, at the window's start, or after a pause. */
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
		d->idle_ns += vpa_resolver_recorded_ns(s->resolver, d->cursor_ns, start);
	ops->idle_ns[i] = d->idle_ns;
	d->same_stream_overlaps += start < stream->end_ns;
	if (end < stream->end_ns) {
		note_inside(s, d, stream, ops, i);
	} else if (end > stream->end_ns) {
		stream->end_ns = end;
		stream->last_id = ops->correlation[i];
	}
	if (end >= d->cursor_ns)
		d->newest = (uint8_t)i;
	add_kernel(d, ops, i);
	d->busy_ns += cover(&d->cursor_ns, start, end);
	if (is_kernel)
		d->work_ns += cover(&d->work_end_ns, start, end);
	if (is_kernel && !ops->is_comm[i])
		d->compute_ns += cover(&d->compute_end_ns, start, end);
}

/* Computes the gaps between ops [begin, end) as if each began after the previous one ended, and the longest. Returns
 * whether that holds; 0 for numbers whose top bit is set. */
VPT_VECTORISE
static int subtract_ends(const uint64_t *restrict starts, const uint64_t *restrict ends,
	size_t begin, size_t end, uint64_t *restrict gaps, uint8_t *restrict before,
	uint64_t *restrict longest_ns)
{
	uint64_t bad = 0;
	int64_t longest = 0;
	size_t i;

	for (i = begin + 1; i < end; i++) {
		int64_t ns = (int64_t)(starts[i] - ends[i - 1]);

		gaps[i] = (uint64_t)ns;
		bad |= gaps[i] | ends[i - 1];
		longest = ns > longest ? ns : longest;
	}
	*longest_ns = (uint64_t)longest;
	for (i = begin + 1; i < end; i++)
		before[i] = (uint8_t)(i - 1);
	return !(bad >> 63);
}

/* Sets the gaps before ops, except the first, that each begin after the previous one ended, and the longest. Returns
 * the first that does not. */
static size_t find_overlap(struct vpa_ops *ops, size_t begin, size_t end, uint64_t *longest_ns)
{
	size_t i;

	if (subtract_ends(ops->start_ns, ops->end_ns, begin, end, ops->gap_ns, ops->gap_before,
		    longest_ns))
		return end;
	*longest_ns = 0;
	for (i = begin + 1; i < end && ops->start_ns[i] >= ops->end_ns[i - 1]; i++)
		*longest_ns = vpa_later(*longest_ns, ops->gap_ns[i]);
	return i;
}

/* Measures the gaps before ops that each begin after the previous one ended, up to the first that
 * does not; returns that one. The first op is known to begin after all before it ended. */
static size_t measure_gaps(struct vpa_idle_device *d, struct vpa_ops *ops, size_t begin, size_t end,
	uint64_t *longest_ns)
{
	const uint64_t *gaps = ops->gap_ns;
	uint64_t sum = d->idle_ns;
	size_t i;

	end = find_overlap(ops, begin, end, longest_ns);
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

/* Time of kernels that have fewer than `small` blocks, but not 0. */
VPT_VECTORISE
static uint64_t small_grid_ns(const struct vpa_ops *ops, size_t begin, size_t end, uint32_t small)
{
	uint64_t sum = 0;
	size_t i;

	for (i = begin; i < end; i++)
		/* Masked: a branch on the grid would be unpredictable. */
		sum += (ops->end_ns[i] - ops->start_ns[i]) &
		       (0 - (uint64_t)(ops->blocks[i] && ops->blocks[i] < small));
	return sum;
}

/* Adds ops that run one after the other, with nothing else on the device: no edge needs checking.
 * `*other` is the first of ops->others from `begin` on; it is advanced to the first from `end`
 * on. */
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

/* Checks at intervals how far the host is ahead. */
static inline void look_at_queue(const struct vpa_idle *s, struct vpa_idle_device *d,
	const struct vpa_ops *ops, size_t begin, size_t end)
{
	size_t i = begin + (size_t)(LOOK_EVERY - 1 - d->ops % LOOK_EVERY);

	if (i < end && ops->launch[i] && ops->launch_end_ns[i] < ops->start_ns[i] &&
		ops->start_ns[i] - ops->launch_end_ns[i] >= FAR_AHEAD_NS)
		vpa_gain_look_at_queue(&d->gain, s->resolver, ops->launch[i], ops->start_ns[i]);
}

static void note_end(struct vpa_idle_ends *e, uint32_t device, uint64_t end_ns)
{
	if (end_ns > e->end_ns[0] && device != e->device[0]) {
		e->device[1] = e->device[0];
		e->end_ns[1] = e->end_ns[0];
		e->device[0] = device;
		e->end_ns[0] = end_ns;
	} else if (device == e->device[0]) {
		e->end_ns[0] = end_ns > e->end_ns[0] ? end_ns : e->end_ns[0];
	} else if (end_ns > e->end_ns[1]) {
		e->device[1] = device;
		e->end_ns[1] = end_ns;
	}
}

void vpa_idle_note_ends(struct vpa_idle *s, const struct vpa_ops *ops, const struct vpa_op_run *run)
{
	uint32_t device = ops->device[run->begin];
	size_t last = run->end - (size_t)1;

	/* In a run of several, each begins after the one before has ended. */
	if (last > run->begin)
		note_end(&s->all, device, ops->end_ns[last - 1]);
	if (ops->start_ns[last] > s->newest_start_ns) {
		s->before = s->all;
		s->newest_start_ns = ops->start_ns[last];
	}
	note_end(&s->all, device, ops->end_ns[last]);
}

size_t vpa_idle_run(
	struct vpa_idle *s, struct vpa_ops *ops, size_t begin, size_t end, size_t *other)
{
	struct vpa_idle_device *d = &s->devices[ops->device[begin]];
	struct vpa_idle_stream *stream = &s->streams[ops->stream[begin]];
	int serial = d->seen && ops->start_ns[begin] >= d->cursor_ns &&
		     d->cursor_ns >= s->paused_until_ns;
	uint64_t longest_ns = 0;

	if (serial) {
		end = measure_gaps(d, ops, begin, end, &longest_ns);
		add_serial(d, stream, ops, begin, end, other);
	} else {
		end = begin + 1;
		add_one(s, d, stream, ops, begin);
		*other += *other < ops->other_count && ops->others[*other] == begin;
	}
	look_at_queue(s, d, ops, begin, end);
	d->ops += end - begin;
	ops->runs[ops->run_count++] = (struct vpa_op_run){.begin = (uint8_t)begin,
		.end = (uint8_t)end,
		.serial = (uint8_t)serial,
		.longest_ns = longest_ns};
	return end;
}

int vpa_idle_use(struct vpa_idle *s, const struct vpa_ops *ops, size_t i)
{
	struct vpa_idle_device *d = &s->devices[ops->device[i]];

	if (know_kernels(s, d))
		return VPT_ENOMEM;
	if (ops->kind[i] == VPA_KERNEL)
		use_kernel(d, ops->kernel[i]);
	else
		use_copy(d, ops, i);
	return VPT_OK;
}
