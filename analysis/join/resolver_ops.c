/* resolver_ops.c - takes ops from the queue and finds their launch. A call or two of this per event
 * of the trace: what a batch's ops share is looked up when it changes, and ordinary ops take a
 * short path. */
#include "analysis/join/resolver.h"

#include "analysis/join/resolver_maps.h"
#include "analysis/join/resolver_parts.h"
#include "formats/base/memory.h"
#include "formats/base/vectorise.h"

#include <stdlib.h>
#include <string.h>

/* The place of a call. */
struct spot {
	struct vpa_call_slab *slab; /* NULL: nowhere */
	size_t slot;
};

/* Holds no call. */
static struct vpa_call_slab empty_slab;

VPA_RARE struct vpa_call *vpa_resolver_find_launch(
	const struct vpa_resolver *r, uint32_t stream, uint64_t correlation)
{
	int64_t pid = r->model->streams[stream].pid;
	struct vpa_call *call = NULL;
	size_t i;

	/* Its own process first; those of unknown pid only if its own does not know the call. */
	for (i = 0; i < r->process_count && !call; i++)
		if (r->processes[i].pid == pid)
			call = vpa_launches_find(&r->processes[i].launches, r->pasts, correlation);
	for (i = 0; i < r->process_count && !call; i++)
		if (r->processes[i].pid != pid && vpa_may_launch(&r->processes[i], pid))
			call = vpa_launches_find(&r->processes[i].launches, r->pasts, correlation);
	return call;
}

static void met_first_op(struct vpa_resolver *r, struct vpa_call *launch)
{
	unsigned state = launch->state;

	vpa_call_slab_of(launch)->waiting -= state & VPA_CALL_WAITS;
	r->launches_without_op -= (state & VPA_CALL_MISSED) != 0;
	launch->state = (uint8_t)((state & ~(unsigned)VPA_CALL_WAITS) | VPA_CALL_MET);
}

static void cut_chain(struct vpa_range *range, uint64_t at_ns)
{
	for (range = vpa_range_open_at(range, at_ns); range; range = vpa_range_around(range, at_ns))
		range->cut = 1;
}

/* Ranges that ended by the window's end may have launched work that runs past it, since the host
 * runs ahead. */
static void note_cut(struct vpa_resolver *r, const struct vpa_call *launch)
{
	uint64_t at_ns = vpa_call_start(launch);
	uint32_t thread = vpa_call_thread(launch), process = r->model->threads[thread].process;

	if (!vpa_in_window(r->model, at_ns))
		return;
	cut_chain(vpa_range_changes_at(&r->pasts[thread].ranges.changes, at_ns), at_ns);
	cut_chain(vpa_range_changes_at(&r->processes[process].ranges.changes, at_ns), at_ns);
}

/* What clip() leaves of an op. */
enum clipped { CLIPPED_NOTHING, CLIPPED_INSTANT, CLIPPED_OP };

/* Clips an op that is invalid, of no length or not wholly inside the window. */
VPA_RARE static enum clipped clip(
	struct vpa_resolver *r, struct vpa_ops *ops, size_t i, uint64_t *count)
{
	const struct vpa_model *m = r->model;
	uint64_t start = ops->start_ns[i], end = ops->end_ns[i];

	/* The time of an invalid op is unknown, so it cannot wait for its launch. */
	if (!vpa_is_op_valid(m, start, end)) {
		++*count;
		r->far_ops += start && end >= start;
		r->zero_time += !start;
		r->reversed += end < start;
		return CLIPPED_NOTHING;
	}
	if (ops->launch[i]) {
		if (!(ops->launch[i]->state & VPA_CALL_MET))
			met_first_op(r, ops->launch[i]);
		vpa_resolver_join_copy(r, ops, i);
		if (end > m->window_end_ns)
			note_cut(r, ops->launch[i]);
	}
	if (end > start && start <= m->window_start_ns && r->sink.early &&
		r->sink.early(r->sink.ctx, ops, i))
		r->failed = VPT_ENOMEM;
	if (!vpa_is_op_in_window(m, start, end)) {
		r->ops_before += end <= m->window_start_ns;
		return CLIPPED_NOTHING;
	}
	++*count;
	if (!ops->launch[i])
		vpa_resolver_count_without_launch(r, ops, i);
	if (end == start) {
		r->zero_duration++;
		return CLIPPED_INSTANT;
	}
	if (start < m->window_start_ns)
		ops->start_ns[i] = m->window_start_ns;
	if (end > m->window_end_ns)
		ops->end_ns[i] = m->window_end_ns;
	return CLIPPED_OP;
}

/* Updates a launch that is passed on: marks it met. Returns whether it was missed until now. */
VPA_RARE static unsigned meet(struct vpa_ops *ops, size_t i, struct vpa_call *launch)
{
	unsigned state = launch->state;

	vpa_call_slab_of(launch)->waiting -= state & VPA_CALL_WAITS;
	launch->state =
		(uint8_t)((state & ~(unsigned)VPA_CALL_WAITS) | VPA_CALL_MET | VPA_CALL_SHOWN);
	ops->first_of_launch[i] = !(state & VPA_CALL_SHOWN);
	ops->all_first &= !(state & VPA_CALL_SHOWN);
	ops->graph_launches |= launch->klass == VPT_CALL_GRAPH_LAUNCH;
	ops->nested_launches |= (state & VPA_CALL_NESTED) != 0;
	return (state & (VPA_CALL_MISSED | VPA_CALL_MET)) == VPA_CALL_MISSED;
}

/* When the first of the ranges around `at_ns` ends; at most `until_ns`. */
static uint64_t first_end(struct vpa_range *range, uint64_t at_ns, uint64_t until_ns)
{
	for (range = vpa_range_open_at(range, at_ns); range; range = vpa_range_around(range, at_ns))
		until_ns = range->end_ns < until_ns ? range->end_ns : until_ns;
	return until_ns;
}

/* Finds the place of a stretch's launches, the first of which began at `at_ns`. Usually it is the
 * innermost range. If it is one further out, ranges in between may have ended before, or it may end
 * first: the stretch lasts until the first of them ends. */
static void find_place(struct vpa_op_stretch *s, uint64_t at_ns)
{
	const struct vpa_range *inner = vpa_inner_range(s->range, s->process_range);

	if (!inner)
		return;
	if (inner->level == VPA_LEVEL_ANNOTATION && inner->thread == s->thread) {
		s->place = inner->name;
		return;
	}
	s->place = vpa_place_among(s->range, s->process_range, s->thread, at_ns);
	s->from_ns = at_ns;
	s->until_ns = first_end(s->range, at_ns, s->until_ns);
	s->until_ns = first_end(s->process_range, at_ns, s->until_ns);
}

/* Ends the current stretch before op `i` and begins that of its launch; NULL: none. */
VPA_RARE static struct vpa_op_stretch *begin_stretch(
	struct vpa_resolver *r, struct vpa_ops *ops, size_t i, const struct vpa_call *launch)
{
	struct vpa_op_stretch *s = &ops->stretches[ops->stretch_count++];
	struct vpa_thread_past *past;
	struct vpa_process *process;
	uint64_t start_ns;

	if (i)
		s[-1].end = (uint8_t)i;
	*s = (struct vpa_op_stretch){.until_ns = UINT64_MAX, .thread = VPA_NONE};
	if (!launch)
		return s;
	start_ns = vpa_call_start(launch);
	s->thread = vpa_call_thread(launch);
	past = &r->pasts[s->thread];
	s->range = vpa_range_span_at(&past->range, &past->ranges.changes, start_ns);
	s->from_ns = past->range.from_ns;
	s->until_ns = past->range.until_ns;
	process = &r->processes[r->model->threads[s->thread].process];
	if (process->ranges.changes.count) {
		s->process_range =
			vpa_range_span_at(&process->range, &process->ranges.changes, start_ns);
		if (process->range.from_ns > s->from_ns)
			s->from_ns = process->range.from_ns;
		if (process->range.until_ns < s->until_ns)
			s->until_ns = process->range.until_ns;
	}
	find_place(s, start_ns);
	return s;
}

/* Copies the members that the queue filled in, and the launch. */
VPA_RARE static void copy_op(struct vpa_ops *to, size_t k, const struct vpa_ops *from, size_t i)
{
	to->start_ns[k] = from->start_ns[i];
	to->end_ns[k] = from->end_ns[i];
	to->correlation[k] = from->correlation[i];
	to->launch[k] = from->launch[i];
	to->stream[k] = from->stream[i];
	to->device[k] = from->device[i];
	to->kernel[k] = from->kernel[i];
	to->blocks[k] = from->blocks[i];
	to->shape[k] = from->shape[i];
	to->kind[k] = from->kind[i];
	to->graph_node[k] = from->graph_node[i];
	to->is_comm[k] = from->is_comm[i];
	to->family[k] = from->family[i];
	to->role[k] = from->role[i];
	to->traits[k] = from->traits[i];
	to->copy[k] = from->copy[i];
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

/* Adds an op of another batch, or an earlier one of the same batch. */
VPA_RARE static void keep_op(struct vpa_ops *to, const struct vpa_ops *from, size_t i)
{
	size_t n = to->count++;

	if (to != from || n < i)
		copy_op(to, n, from, i);
	if (to->kind[n] != VPA_KERNEL || to->is_comm[n])
		to->others[to->other_count++] = (uint8_t)n;
	if (vpa_is_special(to->role[n]))
		to->specials[to->special_count++] = (uint8_t)n;
}

static void empty_batch(struct vpa_ops *ops)
{
	ops->count = ops->other_count = ops->special_count = ops->stretch_count = 0;
}

/* Keeps the ops inside the window, and moves those of no length to r->instants. */
VPA_RARE static void clip_all(struct vpa_resolver *r, struct vpa_ops *ops)
{
	uint64_t counts[] = {[VPA_KERNEL] = 0, [VPA_MEMCPY] = 0, [VPA_MEMSET] = 0};
	size_t count = ops->count, i;

	empty_batch(ops);
	empty_batch(&r->instants);
	for (i = 0; i < count; i++) {
		enum clipped left = clip(r, ops, i, &counts[ops->kind[i]]);

		if (left != CLIPPED_NOTHING)
			keep_op(left == CLIPPED_OP ? ops : &r->instants, ops, i);
	}
	r->counts.kernels += counts[VPA_KERNEL];
	r->counts.memcpy += counts[VPA_MEMCPY];
	r->counts.memset += counts[VPA_MEMSET];
}

/* Whether all ops are wholly in the window and have a length, as a sum of signs: also refuses
 * numbers whose top bit is set. */
VPT_VECTORISE
static int are_ordinary(const struct vpa_ops *ops, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t to = to_ns > INT64_MAX ? INT64_MAX : to_ns, bad = 0;
	size_t i;

	for (i = 0; i < ops->count; i++)
		bad |= (ops->start_ns[i] - from_ns - 1) | (ops->end_ns[i] - ops->start_ns[i] - 1) |
		       (to - ops->end_ns[i]) | ops->start_ns[i] | ops->end_ns[i];
	return !(bad >> 63);
}

/* The place of the call that launched an op, if there is only one process. `slab` and `slot` are
 * where it was expected: usually it is the next one, since some calls put nothing on a device, or the one before, since
 * some put several ops there. The next candidates are compared at once, without a branch to predict. */
VPA_RARE static struct spot find_near(
	const struct vpa_resolver *r, uint64_t correlation, struct vpa_call_slab *slab, size_t slot)
{
	const uint64_t *ids = &slab->correlations[slot];
	struct vpa_call *call;
	unsigned hits;

	_Static_assert(VPA_CALLS_AHEAD == 4, "looked at here");
	if (slot && ids[-1] == correlation && correlation &&
		!vpa_launches_may_double(&r->processes[0].launches, correlation))
		return (struct spot){slab, slot - 1};
	hits = (ids[1] == correlation) * 2u | (ids[2] == correlation) * 4u |
	       (ids[3] == correlation) * 8u;
	if (hits && correlation && !vpa_launches_may_double(&r->processes[0].launches, correlation))
		return (struct spot){slab, slot + (unsigned)__builtin_ctz(hits)};
	call = correlation ? vpa_launches_find(&r->processes[0].launches, r->pasts, correlation)
			   : NULL;
	return call ? (struct spot){vpa_call_slab_of(call), call->slot} : (struct spot){NULL, 0};
}

/* Whether the call with this id may be another one than that at `next`. */
static inline int is_elsewhere(const struct vpa_resolver *r, uint64_t correlation, struct spot next)
{
	return next.slab->correlations[next.slot] != correlation || !correlation ||
	       vpa_launches_may_double(&r->processes[0].launches, correlation);
}

/* Fills in what folds need to know of a launch, except its stretch. Returns whether it was missed
 * until now. */
static inline unsigned show_launch(
	struct vpa_ops *ops, size_t i, struct vpa_call_slab *slab, size_t slot)
{
	enum { BEFORE = VPA_CALL_WAITS | VPA_CALL_MISSED };
	enum { AFTER = VPA_CALL_MISSED | VPA_CALL_MET | VPA_CALL_SHOWN };
	struct vpa_call *call = &slab->calls[slot];

	ops->launch[i] = call;
	ops->launch_start_ns[i] = slab->starts_ns[slot];
	ops->launch_end_ns[i] = slab->ends_ns[slot];
	ops->launch_name[i] = call->name;
	if (call->state != BEFORE)
		return meet(ops, i, call);
	/* The usual case: this is its only op, hence the first, which is the batch's default. */
	call->state = AFTER;
	slab->waiting--;
	return 1;
}

/* The current stretch. */
struct stretch {
	uint64_t from_ns, span_ns; /* span 0: it is empty */
	uint32_t thread;           /* VPA_NONE: of ops without launches */
};

static void show_no_launch(
	struct vpa_resolver *r, struct vpa_ops *ops, size_t i, struct stretch *stretch)
{
	ops->launch[i] = NULL;
	ops->launch_start_ns[i] = ops->launch_end_ns[i] = UINT64_MAX;
	ops->launch_name[i] = 0;
	ops->first_of_launch[i] = 0;
	ops->all_first = 0;
	if (!i || stretch->thread != VPA_NONE)
		begin_stretch(r, ops, i, NULL);
	*stretch = (struct stretch){.thread = VPA_NONE};
}

/* Begins a new stretch if the launch of op `i`, already filled in, is not in the current one. */
static inline void stretch_to(
	struct vpa_resolver *r, struct vpa_ops *ops, size_t i, struct stretch *stretch)
{
	if (ops->launch_start_ns[i] - stretch->from_ns >= stretch->span_ns) {
		const struct vpa_op_stretch *next = begin_stretch(r, ops, i, ops->launch[i]);

		*stretch = (struct stretch){
			next->from_ns, next->until_ns - next->from_ns, next->thread};
	}
}

/* Joins ops that all go to the folds with the calls of the only process. `next` is the call after the
 * previous op's launch, which usually launched the next op. */
static struct spot join_simply(struct vpa_resolver *r, struct vpa_ops *ops, struct spot next)
{
	struct stretch stretch = {.thread = VPA_NONE};
	struct vpa_call_slab *slab = next.slab ? next.slab : &empty_slab;
	uint64_t missed = 0;
	size_t i, slot = next.slot;

	for (i = 0; i < ops->count; i++) {
		uint64_t correlation = ops->correlation[i];

		if (is_elsewhere(r, correlation, (struct spot){slab, slot})) {
			struct spot found = find_near(r, correlation, slab, slot);

			if (!found.slab) {
				vpa_resolver_count_without_launch(r, ops, i);
				show_no_launch(r, ops, i, &stretch);
				continue;
			}
			slab = found.slab;
			slot = found.slot;
			if (slab->thread != stretch.thread)
				stretch.span_ns = 0;
		}
		missed += show_launch(ops, i, slab, slot++);
		stretch_to(r, ops, i, &stretch);
	}
	r->launches_without_op -= missed;
	return (struct spot){slab, slot};
}

/* Passes on the ops of no length. They change nothing that is known of their launches, whose first
 * op with a time may still come. */
VPA_RARE static int send_instants(struct vpa_resolver *r)
{
	struct vpa_ops *ops = &r->instants;
	struct stretch stretch = {.thread = VPA_NONE};
	size_t i;

	vpa_resolver_end_backlogs(r, ops);
	if (!ops->count || !r->sink.instants)
		return VPT_OK;
	for (i = 0; i < ops->count; i++) {
		const struct vpa_call *call = ops->launch[i];

		if (!call) {
			show_no_launch(r, ops, i, &stretch);
			continue;
		}
		ops->launch_start_ns[i] = vpa_call_start(call);
		ops->launch_end_ns[i] = vpa_call_end(call);
		ops->launch_name[i] = call->name;
		if (vpa_call_thread(call) != stretch.thread)
			stretch.span_ns = 0;
		stretch_to(r, ops, i, &stretch);
	}
	ops->stretches[ops->stretch_count - 1].end = (uint8_t)ops->count;
	return r->sink.instants(r->sink.ctx, ops);
}

/* Finds the calls that launched ops, as join_simply() does. */
static struct spot find_simply(struct vpa_resolver *r, struct vpa_ops *ops, struct spot next)
{
	size_t i;

	if (!next.slab)
		next.slab = &empty_slab;
	for (i = 0; i < ops->count; i++) {
		uint64_t correlation = ops->correlation[i];
		struct spot found = next;

		if (is_elsewhere(r, correlation, next))
			found = find_near(r, correlation, next.slab, next.slot);
		ops->launch[i] = found.slab ? &found.slab->calls[found.slot] : NULL;
		if (found.slab)
			next = (struct spot){found.slab, found.slot + 1};
	}
	return next;
}

static void find_launches(struct vpa_resolver *r, struct vpa_ops *ops)
{
	size_t i;

	for (i = 0; i < ops->count; i++)
		/* All ops of a graph's launch have its id. */
		ops->launch[i] =
			i && ops->correlation[i] == ops->correlation[i - 1] &&
					ops->stream[i] == ops->stream[i - 1]
				? ops->launch[i - 1]
				: vpa_resolver_find_launch(r, ops->stream[i], ops->correlation[i]);
}

/* Joins ops whose launches are known, and drops those not passed on; `all`: none is dropped. */
VPA_RARE static void join_any(struct vpa_resolver *r, struct vpa_ops *ops, int all)
{
	struct stretch stretch = {.thread = VPA_NONE};
	size_t i;

	if (!all) {
		clip_all(r, ops);
		if (send_instants(r))
			r->failed = VPT_ENOMEM;
	}
	for (i = 0; i < ops->count; i++) {
		struct vpa_call *call = ops->launch[i];

		if (!call) {
			if (all)
				vpa_resolver_count_without_launch(r, ops, i);
			show_no_launch(r, ops, i, &stretch);
			continue;
		}
		r->launches_without_op -= show_launch(ops, i, vpa_call_slab_of(call), call->slot);
		if (vpa_call_thread(call) != stretch.thread)
			stretch.span_ns = 0;
		stretch_to(r, ops, i, &stretch);
	}
}

/* Whether any op may belong to the only process. */
static int is_simple(const struct vpa_resolver *r)
{
	const struct vpa_process *p = r->processes;
	size_t i;

	if (r->process_count != 1 || p->launches.ambiguous)
		return 0;
	for (i = 0; i < r->model->stream_count; i++)
		if (!vpa_may_launch(p, r->model->streams[i].pid))
			return 0;
	return 1;
}

/* Joins ops with their launches, and splits the batch into stretches. Returns the call after the
 * last op's launch; `next` is that of the previous batch. */
static struct spot join(struct vpa_resolver *r, struct vpa_ops *ops, int simple, struct spot next)
{
	const struct vpa_model *m = r->model;
	int all = are_ordinary(
		ops, m->window_start_ns, vpa_earlier(m->window_end_ns, vpa_ops_until(m)));
	size_t i;

	ops->stretch_count = 0;
	ops->graph_launches = ops->nested_launches = 0;
	ops->all_first = 1;
	memset(ops->first_of_launch, 1, sizeof(ops->first_of_launch));
	if (simple && all) {
		next = join_simply(r, ops, next);
	} else if (simple) {
		next = find_simply(r, ops, next);
		join_any(r, ops, all);
	} else {
		find_launches(r, ops);
		join_any(r, ops, all);
	}
	if (all) {
		count_ops(r, ops);
		for (i = 0; i < ops->other_count; i++)
			vpa_resolver_join_copy(r, ops, ops->others[i]);
	}
	if (ops->count)
		ops->stretches[ops->stretch_count - 1].end = (uint8_t)ops->count;
	vpa_resolver_note_answers(r, ops);
	vpa_resolver_end_backlogs(r, ops);
	return next;
}

int vpa_resolver_release(struct vpa_resolver *r, uint64_t until_ns)
{
	struct vpa_ops *ops = &r->ops;
	struct spot next = {NULL, 0};
	int simple = is_simple(r);
	int rc = vpa_resolver_rank_streams(r);
	size_t i;

	until_ns = vpa_earlier(
		vpa_copy_holds_pass(&r->holds, until_ns), vpa_resolver_sampled(r, until_ns));
	for (i = 0; i < r->model->thread_count; i++)
		r->pasts[i].range = (struct vpa_range_span){0};
	for (i = 0; i < r->process_count; i++)
		r->processes[i].range = (struct vpa_range_span){0};
	while (!rc && vpa_op_queue_take(&r->queue, until_ns, ops)) {
		r->newest_op_ns = ops->start_ns[ops->count - 1];
		next = join(r, ops, simple, next);
		if (ops->count)
			rc = r->sink.ops(r->sink.ctx, ops);
	}
	if (!rc)
		rc = vpa_op_queue_hold(&r->queue);
	if (until_ns > r->released_ns)
		r->released_ns = until_ns;
	return rc ? rc : r->failed;
}
