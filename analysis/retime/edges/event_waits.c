/* event_waits.c - what a wait for an event waited for, where no record says which event: traces of PyTorch have none by default.
 *
 * Such a wait returns soon after the end of an op, and always as soon: the way back takes its time. Of a stream that it does not wait
 * for ops end at any time before it returns. So the times from the last end on each stream to the return of each wait are counted, and
 * of the ops that ended just before a wait returned it was for that whose time is counted most often. */
#include "analysis/retime/edges/edges_finding.h"

#include "analysis/names/families.h"
#include "formats/base/memory.h"
#include "formats/calls.h"

#include <string.h>

enum {
	RETURN_NS = 10000, /* a wait returns so soon after the end of what it waited for */
	CLASS_NS = 500,    /* times that are counted together */
	CLASSES = RETURN_NS / CLASS_NS,
	LOOK_BACK = 4096 /* ops */
};

int vpa_waits_for_event(const struct vpa_tape *t, const struct vpa_tape_call *c)
{
	struct vpt_text name;

	if (c->klass != VPT_CALL_SYNC || c->end_ns - c->start_ns <= RETURN_NS)
		return 0;
	name = vpt_strings_get(&t->names, c->name);
	return memmem(name.text, name.len, "EventSynchronize", 16) != NULL;
}

/* The first op from `end_ns` on. Ops are by start. */
static uint32_t first_from(const struct vpa_tape *t, uint64_t end_ns)
{
	uint32_t low = 0, high = (uint32_t)t->op_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->ops[middle].start_ns < end_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether the call may have waited for the op. */
static int may_be_for(
	const struct vpa_tape *t, const struct vpa_tape_call *c, const struct vpa_tape_op *o)
{
	return o->end_ns > c->start_ns && o->end_ns <= c->end_ns &&
	       c->end_ns - o->end_ns < RETURN_NS &&
	       vpa_tape_may_own(t->threads[c->thread].pid, t->streams[o->stream].pid);
}

/* How often such an op ended so long before a wait returned. */
static uint32_t *times_of(const struct vpa_edges_finding *f, const struct vpa_tape_op *o,
	const struct vpa_tape_call *c)
{
	return &f->returns[(size_t)o->stream * CLASSES + (c->end_ns - o->end_ns) / CLASS_NS];
}

static void count_returns(const struct vpa_edges_finding *f, const struct vpa_tape_call *c)
{
	const struct vpa_tape *t = f->t;
	uint32_t row = first_from(t, c->end_ns), least_row = row > LOOK_BACK ? row - LOOK_BACK : 0;

	for (; row > least_row; row--)
		if (may_be_for(t, c, &t->ops[row - 1]))
			++*times_of(f, &t->ops[row - 1], c);
}

int vpa_event_waits_count(struct vpa_edges_finding *f)
{
	const struct vpa_tape *t = f->t;
	uint32_t i;

	for (i = 0; i < t->call_count; i++) {
		if (!vpa_waits_for_event(t, &t->calls[i]))
			continue;
		if (!f->returns)
			f->returns = vpt_calloc(t->stream_count * CLASSES, sizeof(*f->returns));
		if (!f->returns)
			return VPT_ENOMEM;
		count_returns(f, &t->calls[i]);
	}
	return VPT_OK;
}

uint32_t vpa_event_wait_op(const struct vpa_edges_finding *f, const struct vpa_tape_call *c)
{
	const struct vpa_tape *t = f->t;
	uint32_t row = first_from(t, c->end_ns), least_row = row > LOOK_BACK ? row - LOOK_BACK : 0;
	uint32_t best = VPA_TAPE_NONE, most = 0;

	for (; row > least_row; row--) {
		const struct vpa_tape_op *o = &t->ops[row - 1];

		if (may_be_for(t, c, o) && *times_of(f, o, c) > most) {
			best = row - 1;
			most = *times_of(f, o, c);
		}
	}
	return best;
}

/* ---- waits of streams ---- */

/* What a thread did last: NCCL's callers record an event behind their work, make the communicator's stream wait for it, and launch. */
struct caller {
	enum { LAUNCHED, RECORDED, TOLD_TO_WAIT } last;
	uint32_t op; /* that it launched last; NONE */
};

static int has_records(const struct vpa_tape *t)
{
	size_t i;

	for (i = 0; i < t->sync_count; i++)
		if (t->syncs[i].waiting != VPA_TAPE_NONE)
			return 1;
	return 0;
}

static int is_collective(const struct vpa_tape_op *o)
{
	return o->is_kernel && o->family == VPA_FAMILY_COMM;
}

/* A launch by the caller. */
static void follow_launch(
	struct vpa_edges_finding *f, const struct vpa_tape_call *c, struct caller *caller)
{
	const struct vpa_tape *t = f->t;
	uint32_t op = t->launched[c->op];
	const struct vpa_tape_op *o = &t->ops[op];
	const struct vpa_tape_op *q = caller->op == VPA_TAPE_NONE ? NULL : &t->ops[caller->op];

	if (caller->last == TOLD_TO_WAIT && q && is_collective(o) && !is_collective(q) &&
		q->stream != o->stream && caller->op < op && q->end_ns <= o->start_ns &&
		t->streams[q->stream].gpu == t->streams[o->stream].gpu)
		f->followed[op] = caller->op;
	*caller = (struct caller){LAUNCHED, t->launched[c->op + c->op_count - 1]};
}

int vpa_collectives_follow(struct vpa_edges_finding *f)
{
	const struct vpa_tape *t = f->t;
	struct caller *callers;
	size_t i;

	if (has_records(t) || t->stream_count < 2)
		return VPT_OK;
	f->followed = vpa_new_rows(t->op_count);
	callers = vpt_calloc(t->thread_count + 1, sizeof(*callers));
	if (!f->followed || !callers) {
		vpt_free(callers);
		return VPT_ENOMEM;
	}
	for (i = 0; i < t->thread_count; i++)
		callers[i].op = VPA_TAPE_NONE;
	for (i = 0; i < t->call_count; i++) {
		const struct vpa_tape_call *c = &t->calls[i];
		struct caller *caller = &callers[c->thread];

		if (c->op_count)
			follow_launch(f, c, caller);
		else if (c->klass == VPT_CALL_EVENT_RECORD)
			caller->last = RECORDED;
		else if (c->klass == VPT_CALL_STREAM_WAIT && caller->last == RECORDED)
			caller->last = TOLD_TO_WAIT;
	}
	vpt_free(callers);
	return VPT_OK;
}
