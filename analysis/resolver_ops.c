/* resolver_ops.c - ops leave the queue and learn their launch. A call or two of this per event of the trace: what
 * a batch's ops have in common is looked up when it changes, and the ordinary op takes the short way. */
#include "analysis/resolver.h"

#include "analysis/resolver_maps.h"
#include "formats/vectorise.h"

#include <string.h>

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

static const uint64_t not_known[VPA_CALLS_AHEAD];

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
	if (waited && vpa_in_window(r->model, vpa_call_start(call)) && vpa_hand_out_call(r, call))
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
static unsigned meet(struct vpa_ops *ops, size_t i, struct vpa_call *launch)
{
	unsigned state = launch->state;

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
	uint64_t start_ns;

	if (i)
		s[-1].end = (uint8_t)i;
	*s = (struct vpa_op_stretch){.until_ns = UINT64_MAX, .thread = VPA_NONE};
	if (!launch)
		return s;
	start_ns = vpa_call_start(launch);
	s->thread = vpa_call_thread(launch);
	past = &r->pasts[s->thread];
	s->range = vpa_step_span_at(&past->range, &past->ranges.steps, start_ns);
	s->from_ns = past->range.from_ns;
	s->until_ns = past->range.until_ns;
	process = &r->processes[r->model->threads[s->thread].process];
	if (process->ranges.steps.count) {
		s->process_range =
			vpa_step_span_at(&process->range, &process->ranges.steps, start_ns);
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
	ops->family[to] = ops->family[from];
	ops->role[to] = ops->role[from];
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

	ops->other_count = ops->special_count = 0;
	for (i = 0; i < ops->count; i++) {
		if (!clip(r, ops, i, &counts[ops->kind[i]]))
			continue;
		if (n < i)
			move_op(ops, n, i);
		if (ops->kind[n] != VPA_KERNEL || ops->is_comm[n])
			ops->others[ops->other_count++] = (uint8_t)n;
		if (vpa_is_special(ops->role[n]))
			ops->specials[ops->special_count++] = (uint8_t)n;
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

/* Ops next to each other whose launches are calls next to each other, of one block. */
struct series {
	struct vpa_call *first; /* NULL: one op without a launch record */
	size_t begin, end;
};

/* The series of a batch, in order. */
struct all_series {
	size_t count;
	struct series items[VPA_OPS_MAX];
};

/* Finds the series anew, where some ops are gone. */
VPA_RARE static void find_series(const struct vpa_ops *ops, struct all_series *all)
{
	size_t i, end;

	all->count = 0;
	for (i = 0; i < ops->count; i = end) {
		struct vpa_call *first = ops->launch[i];

		end = i + 1;
		while (first && end < ops->count && ops->launch[end] == first + (end - i))
			end++;
		all->items[all->count++] = (struct series){first, i, end};
	}
}

/* Meets the launches of a series. Returns how many were missed until now. */
static size_t meet_all(struct vpa_ops *ops, const struct series *s)
{
	enum { BEFORE = VPA_CALL_WAITS | VPA_CALL_MISSED };
	enum { AFTER = VPA_CALL_MISSED | VPA_CALL_MET | VPA_CALL_SHOWN };
	size_t count = s->end - s->begin, missed = 0, k;
	uint32_t *names = ops->launch_name + s->begin;
	struct vpa_call *call = s->first;
	unsigned any = 0, all = BEFORE;

	for (k = 0; k < count; k++) {
		struct vpa_call one = call[k]; /* a word */

		names[k] = one.name;
		any |= one.state;
		all &= one.state;
	}
	if (any != BEFORE || all != BEFORE) {
		for (k = 0; k < count; k++)
			missed += meet(ops, s->begin + k, &call[k]);
		return missed;
	}
	/* As mostly, each has this op only: the first of its launch, which the batch has been told of all. */
	for (k = 0; k + 4 <= count; k += 4)
		call[k].state = call[k + 1].state = call[k + 2].state = call[k + 3].state = AFTER;
	for (; k < count; k++)
		call[k].state = AFTER;
	vpa_call_block_of(call)->waiting -= (uint32_t)count;
	return count;
}

/* The stretch at hand. */
struct stretch {
	uint64_t from_ns, span_ns; /* span 0: nothing lies in it */
	uint32_t thread;
};

/* Tells when the launches of a series were made, and where new stretches begin. */
static void show_series(struct vpa_resolver *r, struct vpa_ops *ops, const struct series *s,
	struct stretch *stretch)
{
	const struct vpa_call_block *block = vpa_call_block_of(s->first);
	const uint64_t *starts = block->starts_ns + s->first->slot;
	const uint64_t *ends = block->ends_ns + s->first->slot;
	uint64_t *start_ns = ops->launch_start_ns + s->begin;
	uint64_t *end_ns = ops->launch_end_ns + s->begin;
	uint64_t from_ns = stretch->from_ns, span_ns = stretch->span_ns;
	size_t count = s->end - s->begin, k;

	if (block->thread != stretch->thread)
		span_ns = 0;
	stretch->thread = block->thread;
	for (k = 0; k < count; k++) {
		uint64_t start = starts[k];

		start_ns[k] = start;
		end_ns[k] = ends[k];
		if (start - from_ns >= span_ns) {
			const struct vpa_op_stretch *next =
				begin_stretch(r, ops, s->begin + k, s->first + k);

			from_ns = next->from_ns;
			span_ns = next->until_ns - from_ns;
		}
	}
	stretch->from_ns = from_ns;
	stretch->span_ns = span_ns;
}

/* Tells the folds what they want to know of the launches, and cuts the batch in stretches. */
static void show_launches(struct vpa_resolver *r, struct vpa_ops *ops, const struct all_series *all)
{
	struct stretch stretch = {.thread = VPA_NONE};
	size_t i, missed = 0;

	ops->stretch_count = 0;
	ops->graph_launches = 0;
	ops->all_first = 1;
	memset(ops->first_of_launch, 1, sizeof(ops->first_of_launch));
	for (i = 0; i < all->count; i++) {
		const struct series *s = &all->items[i];

		if (s->first) {
			show_series(r, ops, s, &stretch);
			missed += meet_all(ops, s);
			continue;
		}
		if (!i || stretch.thread != VPA_NONE)
			begin_stretch(r, ops, s->begin, NULL);
		stretch = (struct stretch){.thread = VPA_NONE};
		show_no_launch(ops, s->begin);
	}
	if (ops->count)
		ops->stretches[ops->stretch_count - 1].end = (uint8_t)ops->count;
	r->launches_without_op -= missed;
}

/* Joins ops with their launches. */
static void resolve(struct vpa_resolver *r, struct vpa_ops *ops, struct all_series *all)
{
	size_t i;

	if (count_ordinary(ops, r->model->window_start_ns, r->model->window_end_ns) == ops->count) {
		count_ops(r, ops);
		for (i = 0; i < ops->other_count; i++)
			join_copy(r, ops, ops->others[i]);
	} else {
		clip_all(r, ops);
		find_series(ops, all);
	}
	show_launches(r, ops, all);
}

/* The launch of an op that is not one of the next calls. */
VPA_RARE static struct vpa_call *look_up(const struct vpa_resolver *r, const struct origin *from,
	uint64_t correlation, struct launcher *by)
{
	struct vpa_call *launch = NULL;

	if (correlation)
		launch = from->launches ? vpa_launches_find(from->launches, r->pasts, correlation)
					: find_launch(r, from->stream, correlation);
	if (launch && from->launches) {
		by->correlation = &vpa_call_block_of(launch)->correlations[launch->slot + 1];
		by->call = launch + 1;
	}
	return launch;
}

/* The launch of an op that is not the next call: mostly it is the one behind it, since some calls put nothing on a device.
 * All of those that may be it are looked at together, which no branch has to guess. */
static inline struct vpa_call *launch_near(const struct vpa_resolver *r, const struct origin *from,
	uint64_t correlation, struct launcher *by)
{
	const uint64_t *next = by->correlation;
	unsigned hits, skip;

	_Static_assert(VPA_CALLS_AHEAD == 4, "looked at here");
	hits = (next[1] == correlation) * 2u | (next[2] == correlation) * 4u |
	       (next[3] == correlation) * 8u;
	if (!hits || !correlation)
		return look_up(r, from, correlation, by);
	skip = (unsigned)__builtin_ctz(hits);
	by->call += skip + 1;
	by->correlation += skip + 1;
	return by->call - 1;
}

/* How many of `count` ops were launched by the calls that have these ids, one after the other. The ids end with one that
 * no op has: 0. */
static size_t count_next(const uint64_t *ids, size_t count, const uint64_t *next)
{
	size_t n = 0;

	while (n < count && ids[n] == next[n] && ids[n])
		n++;
	return n;
}

/* Finds the launches of ops [i, end), which are of one stream. */
static void find_launches_of(const struct vpa_resolver *r, struct vpa_ops *ops, size_t i,
	size_t end, const struct origin *from, struct launcher *by, struct all_series *all)
{
	while (i < end) {
		size_t n = count_next(ops->correlation + i, end - i, by->correlation), k;
		struct vpa_call *first = by->call;

		if (n) {
			by->call += n;
			by->correlation += n;
		} else {
			first = launch_near(r, from, ops->correlation[i], by);
			n = 1;
		}
		all->items[all->count++] = (struct series){first, i, i + n};
		for (k = 0; k < n; k++)
			ops->launch[i + k] = first ? first + k : NULL;
		i += n;
	}
}

/* Finds the launches. */
static void find_launches(struct vpa_resolver *r, struct vpa_ops *ops, struct origin *from,
	struct launcher *by, struct all_series *all)
{
	size_t i, end;

	all->count = 0;
	for (i = 0; i < ops->count; i = end) {
		end = ops->one_stream ? ops->count : i + 1;
		while (end < ops->count && ops->stream[end] == ops->stream[i])
			end++;
		if (ops->stream[i] != from->stream) {
			*from = origin_of(r, ops->stream[i]);
			if (!from->launches)
				by->correlation = not_known;
		}
		find_launches_of(r, ops, i, end, from, by, all);
	}
}

int vpa_resolver_release(struct vpa_resolver *r, uint64_t until_ns)
{
	struct vpa_ops *ops = &r->ops;
	struct origin from = {.stream = VPA_NONE};
	struct launcher by = {.correlation = not_known};
	struct all_series all;
	int rc = VPT_OK;
	size_t i;

	for (i = 0; i < r->model->thread_count; i++)
		r->pasts[i].range = (struct vpa_step_span){0};
	for (i = 0; i < r->process_count; i++)
		r->processes[i].range = (struct vpa_step_span){0};
	while (!rc && vpa_op_queue_take(&r->queue, until_ns, ops)) {
		find_launches(r, ops, &from, &by, &all);
		resolve(r, ops, &all);
		if (ops->count)
			rc = r->sink.ops(r->sink.ctx, ops);
	}
	if (!rc)
		rc = vpa_op_queue_hold(&r->queue);
	if (until_ns > r->released_ns)
		r->released_ns = until_ns;
	return rc ? rc : r->failed;
}
