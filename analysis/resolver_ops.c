/* resolver_ops.c - ops leave the queue and learn their launch. A call or two of this per event of the trace: what
 * a batch's ops have in common is looked up when it changes, and the ordinary op takes the short way. */
#include "analysis/resolver.h"

#include "analysis/resolver_maps.h"

enum { OPS_BATCH = 128 };

/* What all ops of a stream share. */
struct origin {
	uint32_t stream;
	const struct vpa_launches *launches; /* NULL: of more than one process */
};

/* The thread that launched the op before: mostly it launched the next one too. */
struct launcher {
	uint32_t thread;
	uint32_t begin; /* low bits of its first call's position */
	uint64_t live;  /* calls that are kept */
	const struct vpa_calls *calls;
};

/* Ops that do not know their process match any, as do calls that do not know theirs. */
static int may_launch(const struct vpa_process *p, int64_t pid)
{
	return pid == -1 || p->pid == pid || p->pid == -1;
}

VPA_RARE static struct vpa_call *find_launch(const struct vpa_resolver *r, const struct vpa_op *op)
{
	int64_t pid = r->model->streams[op->stream].pid;
	struct vpa_call *call = NULL;
	size_t i;

	/* Its own process first; those of unknown pid only where that does not know the call. */
	for (i = 0; i < r->process_count && !call; i++)
		if (r->processes[i].pid == pid)
			call = vpa_launches_find(
				&r->processes[i].launches, r->pasts, op->correlation);
	for (i = 0; i < r->process_count && !call; i++)
		if (r->processes[i].pid != pid && may_launch(&r->processes[i], pid))
			call = vpa_launches_find(
				&r->processes[i].launches, r->pasts, op->correlation);
	return call;
}

VPA_RARE static struct origin origin_of(const struct vpa_resolver *r, uint32_t stream)
{
	const struct vpa_stream *s = &r->model->streams[stream];
	struct origin o = {.stream = stream};

	if (r->process_count == 1 && may_launch(&r->processes[0], s->pid) &&
		r->processes[0].launches.slot_count && !r->processes[0].launches.doubled)
		o.launches = &r->processes[0].launches;
	return o;
}

static inline void met_first_op(struct vpa_resolver *r, struct vpa_call *launch)
{
	unsigned state = launch->state;

	vpa_call_block_of(launch)->waiting -= state & VPA_CALL_WAITS;
	r->launches_without_op -= (state & VPA_CALL_MISSED) / VPA_CALL_MISSED;
	launch->state = (uint8_t)((state & ~(unsigned)VPA_CALL_WAITS) | VPA_CALL_MET);
}

/* An asynchronous copy with a pageable side has waited; it joins the calls that do. */
VPA_RARE static void judge_wait(struct vpa_resolver *r, const struct vpa_op *op)
{
	struct vpa_call *call = op->launch;

	call->waited = op->target_memory == VPT_MEMKIND_PAGEABLE   ? VPA_WAITED_STREAM
		       : op->source_memory == VPT_MEMKIND_PAGEABLE ? VPA_WAITED_COPY
								   : VPA_WAITED_NOT;
	if (call->waited && vpa_in_window(r->model, call->start_ns) && vpa_hand_out_call(r, call))
		r->failed = VPT_ENOMEM;
}

static inline void join(struct vpa_resolver *r, struct vpa_op *op, int wide_ranges)
{
	struct vpa_call *launch = op->launch;

	if (!(launch->state & VPA_CALL_MET))
		met_first_op(r, launch);
	if (op->kind == VPA_MEMCPY && launch->klass == VPT_CALL_COPY && !launch->waited)
		judge_wait(r, op);
	if (wide_ranges)
		op->process_range = vpa_steps_at(
			&r->processes[r->model->threads[launch->thread].process].ranges.steps,
			launch->start_ns);
}

/* An op that is not wholly inside the window, or invalid. Returns whether there is something left of it. */
VPA_RARE static int clip(
	struct vpa_resolver *r, struct vpa_op *op, uint64_t *count, int wide_ranges)
{
	const struct vpa_model *m = r->model;

	/* When an invalid op ran is not known, so it cannot wait until its launch is there. */
	if (!op->start_ns || op->end_ns < op->start_ns) {
		++*count;
		r->zero_time += !op->start_ns;
		r->reversed += op->end_ns < op->start_ns;
		return 0;
	}
	if (op->launch)
		join(r, op, wide_ranges);
	if (op->start_ns > m->window_end_ns || op->end_ns < m->window_start_ns)
		return 0;
	++*count;
	r->ops_without_launch += !op->launch;
	r->zero_duration += op->end_ns == op->start_ns;
	if (op->start_ns < m->window_start_ns)
		op->start_ns = m->window_start_ns;
	if (op->end_ns > m->window_end_ns)
		op->end_ns = m->window_end_ns;
	return op->end_ns > op->start_ns;
}

/* Joins ops; keeps those that go on to the folds, inside the window and of positive length, and returns how many. */
static size_t resolve(struct vpa_resolver *r, struct vpa_op *ops, size_t count, int wide_ranges)
{
	uint64_t window_start = r->model->window_start_ns, window_end = r->model->window_end_ns;
	uint64_t counts[] = {[VPA_KERNEL] = 0, [VPA_MEMCPY] = 0, [VPA_MEMSET] = 0};
	size_t n = 0, i;

	for (i = 0; i < count; i++) {
		struct vpa_op *op = &ops[i];
		struct vpa_call *launch = op->launch;

		if (launch && op->start_ns > window_start && op->end_ns > op->start_ns &&
			op->end_ns <= window_end) {
			join(r, op, wide_ranges);
			counts[op->kind]++;
		} else if (!clip(r, op, &counts[op->kind], wide_ranges)) {
			continue;
		}
		if (launch) {
			struct vpa_thread_past *past = &r->pasts[launch->thread];

			op->first_of_launch = !(launch->state & VPA_CALL_SHOWN);
			launch->state |= VPA_CALL_SHOWN;
			op->range = vpa_step_span_at(
				&past->range, &past->ranges.steps, launch->start_ns);
		}
		if (n < i)
			ops[n] = *op;
		n++;
	}
	r->counts.kernels += counts[VPA_KERNEL];
	r->counts.memcpy += counts[VPA_MEMCPY];
	r->counts.memset += counts[VPA_MEMSET];
	return n;
}

/* The call of an id. */
static inline struct vpa_call *launch_of(const struct vpa_resolver *r, const struct vpa_launches *l,
	struct launcher *by, uint64_t correlation)
{
	const struct vpa_launch *own = &l->slots[correlation & (l->slot_count - 1)];
	struct vpa_call *call;
	uint32_t at = own->position - by->begin;

	if (own->correlation == correlation && own->thread == by->thread && at < by->live)
		return vpa_calls_at(by->calls, by->calls->begin + at);
	call = vpa_launches_find(l, r->pasts, correlation);
	if (call && call->thread != by->thread) {
		by->thread = call->thread;
		by->calls = &r->pasts[by->thread].calls;
		by->begin = (uint32_t)by->calls->begin;
		by->live = by->calls->end - by->calls->begin;
	}
	return call;
}

/* Finds the launches: by the time they are looked at they have come into the cache. */
static void find_launches(struct vpa_resolver *r, struct vpa_op *ops, size_t count)
{
	struct origin from = {.stream = VPA_NONE};
	struct launcher by = {.thread = VPA_NONE};
	size_t i;

	for (i = 0; i < count; i++) {
		struct vpa_op *op = &ops[i];

		if (op->stream != from.stream)
			from = origin_of(r, op->stream);
		op->launch = !op->correlation ? NULL
			     : from.launches  ? launch_of(r, from.launches, &by, op->correlation)
					      : find_launch(r, op);
		__builtin_prefetch(op->launch, 1);
	}
}

static int has_wide_ranges(const struct vpa_resolver *r)
{
	size_t i;

	for (i = 0; i < r->process_count; i++)
		if (r->processes[i].ranges.steps.count)
			return 1;
	return 0;
}

int vpa_resolver_release(struct vpa_resolver *r, uint64_t until_ns)
{
	struct vpa_op ops[OPS_BATCH];
	int wide_ranges = has_wide_ranges(r), rc = VPT_OK;
	size_t taken, n, i;

	for (i = 0; i < r->model->thread_count; i++)
		r->pasts[i].range = (struct vpa_step_span){0};

	while (!rc && (taken = vpa_op_queue_take(&r->queue, until_ns, ops, OPS_BATCH))) {
		find_launches(r, ops, taken);
		n = resolve(r, ops, taken, wide_ranges);
		if (n)
			rc = r->sink.ops(r->sink.ctx, ops, n);
	}
	if (!rc)
		rc = vpa_op_queue_hold(&r->queue);
	if (until_ns > r->released_ns)
		r->released_ns = until_ns;
	return rc ? rc : r->failed;
}
