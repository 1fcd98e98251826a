/* resolver_ops.c - ops leave the queue and learn their launch. A call or two of this per event of the trace: what
 * a batch's ops have in common is looked up when it changes, and the ordinary op takes the short way. */
#include "analysis/resolver.h"

#include "analysis/resolver_maps.h"
#include "formats/vectorise.h"

#include <string.h>

enum { AHEAD = 8 };

/* What all ops of a stream share. */
struct origin {
	uint32_t stream;
	/* NULL: of more than one process, or some id has been met on several calls */
	const struct vpa_launches *launches;
};

/* What stands behind the launch of the op before: mostly it is the launch of the next op. */
struct launcher {
	const uint64_t *correlation; /* of that call; 0 where it is not known */
	struct vpa_call *call;
};

static const uint64_t not_known;

/* Ops that do not know their process match any, as do calls that do not know theirs. */
static int may_launch(const struct vpa_process *p, int64_t pid)
{
	return pid == -1 || p->pid == pid || p->pid == -1;
}

VPA_RARE static struct vpa_call *find_launch(
	const struct vpa_resolver *r, uint32_t stream, uint64_t correlation)
{
	int64_t pid = r->model->streams[stream].pid;
	struct vpa_call *call = NULL;
	size_t i;

	/* Its own process first; those of unknown pid only where that does not know the call. */
	for (i = 0; i < r->process_count && !call; i++)
		if (r->processes[i].pid == pid)
			call = vpa_launches_find(&r->processes[i].launches, r->pasts, correlation);
	for (i = 0; i < r->process_count && !call; i++)
		if (r->processes[i].pid != pid && may_launch(&r->processes[i], pid))
			call = vpa_launches_find(&r->processes[i].launches, r->pasts, correlation);
	return call;
}

VPA_RARE static struct origin origin_of(const struct vpa_resolver *r, uint32_t stream)
{
	const struct vpa_stream *s = &r->model->streams[stream];
	struct origin o = {.stream = stream};

	if (r->process_count == 1 && may_launch(&r->processes[0], s->pid) &&
		!r->processes[0].launches.doubled && !r->processes[0].launches.ambiguous)
		o.launches = &r->processes[0].launches;
	return o;
}

static void met_first_op(struct vpa_resolver *r, struct vpa_call *launch)
{
	unsigned state = launch->state;

	vpa_call_block_of(launch)->waiting -= state & VPA_CALL_WAITS;
	r->launches_without_op -= (state & VPA_CALL_MISSED) / VPA_CALL_MISSED;
	launch->state = (uint8_t)((state & ~(unsigned)VPA_CALL_WAITS) | VPA_CALL_MET);
}

/* An asynchronous copy with a pageable side has waited; it joins the calls that do. */
VPA_RARE static void judge_wait(
	struct vpa_resolver *r, struct vpa_call *call, const struct vpa_copy *copy)
{
	unsigned waited = copy->target_memory == VPT_MEMKIND_PAGEABLE   ? VPA_CALL_WAITED_STREAM
			  : copy->source_memory == VPT_MEMKIND_PAGEABLE ? VPA_CALL_WAITED_COPY
									: 0u;

	call->state |= (uint8_t)waited;
	if (waited && vpa_in_window(r->model, call->start_ns) && vpa_hand_out_call(r, call))
		r->failed = VPT_ENOMEM;
}

static void join_copy(struct vpa_resolver *r, struct vpa_ops *ops, size_t i)
{
	struct vpa_call *launch = ops->launch[i];

	if (ops->kind[i] == VPA_MEMCPY && launch->klass == VPT_CALL_COPY &&
		!(launch->state & (VPA_CALL_WAITED_COPY | VPA_CALL_WAITED_STREAM)))
		judge_wait(r, launch, &ops->copy[i]);
}

/* An op that is not wholly inside the window, or invalid. Returns whether there is something left of it. */
VPA_RARE static int clip(struct vpa_resolver *r, struct vpa_ops *ops, size_t i, uint64_t *count)
{
	const struct vpa_model *m = r->model;
	uint64_t start = ops->start_ns[i], end = ops->end_ns[i];

	/* When an invalid op ran is not known, so it cannot wait until its launch is there. */
	if (!start || end < start) {
		++*count;
		r->zero_time += !start;
		r->reversed += end < start;
		return 0;
	}
	if (ops->launch[i]) {
		if (!(ops->launch[i]->state & VPA_CALL_MET))
			met_first_op(r, ops->launch[i]);
		join_copy(r, ops, i);
	}
	if (start > m->window_end_ns || end < m->window_start_ns)
		return 0;
	++*count;
	r->ops_without_launch += !ops->launch[i];
	r->zero_duration += end == start;
	if (start < m->window_start_ns)
		ops->start_ns[i] = m->window_start_ns;
	if (end > m->window_end_ns)
		ops->end_ns[i] = m->window_end_ns;
	return ops->end_ns[i] > ops->start_ns[i];
}

/* What becomes of a launch that is shown: it is met, if it has not been yet. Returns whether it was missed until
 * now. */
static inline unsigned meet(struct vpa_ops *ops, size_t i, struct vpa_call *launch)
{
	unsigned state = launch->state;

	/* As mostly, this is its only op. */
	if (state == (VPA_CALL_WAITS | VPA_CALL_MISSED)) {
		launch->state = VPA_CALL_MISSED | VPA_CALL_MET | VPA_CALL_SHOWN;
		vpa_call_block_of(launch)->waiting--;
		ops->first_of_launch[i] = 1;
		return 1;
	}
	vpa_call_block_of(launch)->waiting -= state & VPA_CALL_WAITS;
	launch->state =
		(uint8_t)((state & ~(unsigned)VPA_CALL_WAITS) | VPA_CALL_MET | VPA_CALL_SHOWN);
	ops->first_of_launch[i] = !(state & VPA_CALL_SHOWN);
	ops->all_first &= !(state & VPA_CALL_SHOWN);
	ops->graph_launches |= (state & VPA_CALL_GRAPH) != 0;
	return (state & (VPA_CALL_MISSED | VPA_CALL_MET)) == VPA_CALL_MISSED;
}

static void show_no_launch(struct vpa_ops *ops, size_t i)
{
	ops->launch_start_ns[i] = ops->launch_end_ns[i] = UINT64_MAX;
	ops->launch_name[i] = 0;
	ops->first_of_launch[i] = 0;
	ops->all_first = 0;
}

/* Ends the stretch at hand before op `i` and begins that of its launch; NULL: none. */
VPA_RARE static struct vpa_op_stretch *begin_stretch(
	struct vpa_resolver *r, struct vpa_ops *ops, size_t i, const struct vpa_call *launch)
{
	struct vpa_op_stretch *s = &ops->stretches[ops->stretch_count++];
	struct vpa_thread_past *past;
	struct vpa_process *process;
	const struct vpa_range *range;

	if (i)
		s[-1].end = (uint8_t)i;
	*s = (struct vpa_op_stretch){.until_ns = UINT64_MAX, .thread = VPA_NONE};
	if (!launch)
		return s;
	past = &r->pasts[launch->thread];
	s->thread = launch->thread;
	s->range = vpa_step_span_at(&past->range, &past->ranges.steps, launch->start_ns);
	s->from_ns = past->range.from_ns;
	s->until_ns = past->range.until_ns;
	process = &r->processes[r->model->threads[launch->thread].process];
	if (process->ranges.steps.count) {
		s->process_range =
			vpa_step_span_at(&process->range, &process->ranges.steps, launch->start_ns);
		if (process->range.from_ns > s->from_ns)
			s->from_ns = process->range.from_ns;
		if (process->range.until_ns < s->until_ns)
			s->until_ns = process->range.until_ns;
	}
	range = vpa_inner_range(s->range, s->process_range);
	s->range_name = range ? range->name : 0;
	return s;
}

/* Moves what the queue has filled in. */
VPA_RARE static void move_op(struct vpa_ops *ops, size_t to, size_t from)
{
	ops->start_ns[to] = ops->start_ns[from];
	ops->end_ns[to] = ops->end_ns[from];
	ops->correlation[to] = ops->correlation[from];
	ops->launch[to] = ops->launch[from];
	ops->stream[to] = ops->stream[from];
	ops->device[to] = ops->device[from];
	ops->kernel[to] = ops->kernel[from];
	ops->blocks[to] = ops->blocks[from];
	ops->kind[to] = ops->kind[from];
	ops->graph_node[to] = ops->graph_node[from];
	ops->is_comm[to] = ops->is_comm[from];
	ops->copy[to] = ops->copy[from];
}

/* Counts ops by kind. */
static void count_ops(struct vpa_resolver *r, const struct vpa_ops *ops)
{
	size_t copies = 0, memsets = 0, k;

	for (k = 0; k < ops->other_count; k++) {
		copies += ops->kind[ops->others[k]] == VPA_MEMCPY;
		memsets += ops->kind[ops->others[k]] == VPA_MEMSET;
	}
	r->counts.kernels += ops->count - copies - memsets;
	r->counts.memcpy += copies;
	r->counts.memset += memsets;
}

/* Keeps those ops that go on to the folds: inside the window and of positive length. */
VPA_RARE static void clip_all(struct vpa_resolver *r, struct vpa_ops *ops)
{
	uint64_t counts[] = {[VPA_KERNEL] = 0, [VPA_MEMCPY] = 0, [VPA_MEMSET] = 0};
	size_t n = 0, i;

	ops->other_count = 0;
	for (i = 0; i < ops->count; i++) {
		if (!clip(r, ops, i, &counts[ops->kind[i]]))
			continue;
		if (n < i)
			move_op(ops, n, i);
		if (ops->kind[n] != VPA_KERNEL || ops->is_comm[n])
			ops->others[ops->other_count++] = (uint8_t)n;
		n++;
	}
	ops->count = n;
	r->counts.kernels += counts[VPA_KERNEL];
	r->counts.memcpy += counts[VPA_MEMCPY];
	r->counts.memset += counts[VPA_MEMSET];
}

/* How many ops lie wholly in the window and have a length and a launch. */
VPT_VECTORISE
static size_t count_ordinary(const struct vpa_ops *ops, uint64_t from_ns, uint64_t to_ns)
{
	size_t n = 0, i;

	for (i = 0; i < ops->count; i++)
		n += (ops->start_ns[i] > from_ns) & (ops->end_ns[i] > ops->start_ns[i]) &
		     (ops->end_ns[i] <= to_ns) & (ops->launch[i] != NULL);
	return n;
}

/* Tells the folds what they want to know of the launches, and cuts the batch in stretches. */
static void show_launches(struct vpa_resolver *r, struct vpa_ops *ops)
{
	uint64_t from_ns = 0,
		 span_ns = 0; /* of the stretch at hand; nothing lies in it to begin with */
	uint32_t thread = VPA_NONE;
	size_t i, missed = 0;

	ops->stretch_count = 0;
	ops->graph_launches = 0;
	ops->all_first = 1;
	for (i = 0; i < ops->count; i++) {
		struct vpa_call *launch = ops->launch[i];
		const struct vpa_op_stretch *stretch;

		if (!launch) {
			if (!i || thread != VPA_NONE)
				begin_stretch(r, ops, i, NULL);
			thread = VPA_NONE;
			span_ns = 0;
			show_no_launch(ops, i);
			continue;
		}
		if (launch->start_ns - from_ns >= span_ns || launch->thread != thread) {
			stretch = begin_stretch(r, ops, i, launch);
			from_ns = stretch->from_ns;
			span_ns = stretch->until_ns - from_ns;
			thread = launch->thread;
		}
		ops->launch_start_ns[i] = launch->start_ns;
		ops->launch_end_ns[i] = launch->end_ns;
		ops->launch_name[i] = launch->name;
		missed += meet(ops, i, launch);
	}
	if (ops->count)
		ops->stretches[ops->stretch_count - 1].end = (uint8_t)ops->count;
	r->launches_without_op -= missed;
}

/* Joins ops with their launches. */
static void resolve(struct vpa_resolver *r, struct vpa_ops *ops)
{
	size_t i;

	if (count_ordinary(ops, r->model->window_start_ns, r->model->window_end_ns) == ops->count) {
		count_ops(r, ops);
		for (i = 0; i < ops->other_count; i++)
			join_copy(r, ops, ops->others[i]);
	} else {
		clip_all(r, ops);
	}
	show_launches(r, ops);
}

/* The launch of an op that is not that of the next call. */
VPA_RARE static struct vpa_call *look_up(const struct vpa_resolver *r, const struct origin *from,
	uint64_t correlation, struct launcher *by)
{
	const uint64_t *next = by->correlation, *end;
	struct vpa_call *launch = NULL;
	int i;

	/* Mostly it is one of the next calls that puts something on a device. */
	if (next != &not_known && correlation) {
		end = vpa_call_block_of(by->call - 1)->correlations + VPA_CALL_BLOCK;
		for (i = 0; i < AHEAD && next < end && *next != correlation; i++)
			next++;
		if (*next == correlation) {
			by->call += next - by->correlation + 1;
			by->correlation = next + 1;
			return by->call - 1;
		}
	}
	if (correlation)
		launch = from->launches ? vpa_launches_find(from->launches, r->pasts, correlation)
					: find_launch(r, from->stream, correlation);
	if (launch && from->launches) {
		by->correlation = &vpa_call_block_of(launch)->correlations[launch->slot + 1];
		by->call = launch + 1;
	}
	return launch;
}

/* Finds the launches: by the time they are looked at they have come into the cache. */
static void find_launches(
	struct vpa_resolver *r, struct vpa_ops *ops, struct origin *from, struct launcher *by)
{
	const uint64_t *next =
		by->correlation; /* kept apart from *by, which nobody looks at meanwhile */
	struct vpa_call *call = by->call;
	size_t i;

	for (i = 0; i < ops->count; i++) {
		uint64_t correlation = ops->correlation[i];

		if (ops->stream[i] != from->stream) {
			*from = origin_of(r, ops->stream[i]);
			next = from->launches ? next : &not_known;
		}
		if (*next == correlation && correlation) {
			ops->launch[i] = call++;
			next++;
		} else {
			*by = (struct launcher){next, call};
			ops->launch[i] = look_up(r, from, correlation, by);
			next = by->correlation;
			call = by->call;
		}
		__builtin_prefetch(ops->launch[i], 1);
	}
	*by = (struct launcher){next, call};
}

int vpa_resolver_release(struct vpa_resolver *r, uint64_t until_ns)
{
	struct vpa_ops *ops = &r->ops;
	struct origin from = {.stream = VPA_NONE};
	struct launcher by = {.correlation = &not_known};
	int rc = VPT_OK;
	size_t i;

	for (i = 0; i < r->model->thread_count; i++)
		r->pasts[i].range = (struct vpa_step_span){0};
	for (i = 0; i < r->process_count; i++)
		r->processes[i].range = (struct vpa_step_span){0};
	while (!rc && vpa_op_queue_take(&r->queue, until_ns, ops)) {
		find_launches(r, ops, &from, &by);
		resolve(r, ops);
		if (ops->count)
			rc = r->sink.ops(r->sink.ctx, ops);
	}
	if (!rc)
		rc = vpa_op_queue_hold(&r->queue);
	if (until_ns > r->released_ns)
		r->released_ns = until_ns;
	return rc ? rc : r->failed;
}
