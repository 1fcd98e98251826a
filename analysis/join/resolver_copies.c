/* resolver_copies.c - what a copy says of the calls that made it: the call with its id, and those around it. */
#include "analysis/join/resolver_maps.h"
#include "analysis/join/resolver_parts.h"

/* What a copy says of the call that made it. */
struct copy_traits {
	int is_pageable;
	int is_large; /* no read of a few bytes */
};

/* A copy of a call that waits by its name, or one with pageable memory: a copy has then waited, and joins the
 * calls that wait. Returns whether the call had no such copy before. */
static int set_copy(
	struct vpa_resolver *r, uint64_t position, struct vpa_calls *calls, struct copy_traits t)
{
	struct vpa_call *call = vpa_calls_at(calls, position);
	int makes_it_wait = t.is_pageable && !(call->state & VPA_CALL_PAGEABLE);

	if (!vpa_call_set_copy(call, t.is_large) && !makes_it_wait)
		return 0;
	if (makes_it_wait) {
		call->state |= VPA_CALL_PAGEABLE;
		if (call->klass == VPT_CALL_COPY && vpa_in_window(r->model, vpa_call_start(call)) &&
			vpa_hand_out_call(r, call))
			r->failed = VPT_ENOMEM;
	}
	vpa_calls_note_again(calls, position);
	return 1;
}

/* Applies it to the calls around the call too. Where many overlap, only to the first ones. */
static void spread_copy(struct vpa_resolver *r, struct vpa_call *call, struct copy_traits t)
{
	enum { LOOKED_AT = 64 };
	struct vpa_calls *calls = &r->pasts[vpa_call_thread(call)].calls;
	uint64_t position = vpa_call_position(call), p, around = VPA_NOWHERE, last = position;
	int is_new = set_copy(r, position, calls, t), i;

	/* What is around a call with such a copy has got it from there. */
	for (p = position; is_new && vpa_calls_at(calls, p)->state & VPA_CALL_NESTED;) {
		p += *vpa_call_encloses(vpa_calls_at(calls, p));
		is_new = set_copy(r, p, calls, t);
	}
	for (i = 0; i < LOOKED_AT; i++) {
		around = vpa_calls_around(calls, position, around);
		if (around == VPA_NOWHERE)
			break;
		set_copy(r, around, calls, t);
		last = around;
	}
	/* Calls that overlap an enclosing one may enclose it too. */
	for (p = position + 1; p < last && p - position <= LOOKED_AT; p++)
		if (vpa_call_is_inside(call, vpa_calls_at(calls, p)))
			set_copy(r, p, calls, t);
}

/* Notes a copy that its call waits for, by the call's name or since its memory is pageable; or a read of a few bytes,
 * which the next call may wait for. Several calls may have the id of the copy. */
static void note_copy(struct vpa_resolver *r, struct vpa_call *launch, struct copy_traits t)
{
	const struct vpa_thread *thread = &r->model->threads[vpa_call_thread(launch)];
	const struct vpa_launches *l = &r->processes[thread->process].launches;
	struct vpa_call *call;
	int i = 0;

	spread_copy(r, launch, t);
	while (l->doubled &&
		(call = vpa_launches_next(l, r->pasts, vpa_call_correlation(launch), &i)))
		spread_copy(r, call, t);
}

static int is_pageable(uint64_t source, uint64_t target)
{
	return source == VPT_MEMKIND_PAGEABLE || target == VPT_MEMKIND_PAGEABLE;
}

static int is_large(uint64_t kind, uint64_t bytes)
{
	return kind != VPT_COPYKIND_DTOH || bytes > VPA_SMALL_BYTES;
}

/* Whether the host waits for it, or may do so in the next call: a few bytes are read to be looked at. */
static int is_waited_for(const struct copy_traits *t, int waits_by_name)
{
	return t->is_pageable || waits_by_name || !t->is_large;
}

void vpa_resolver_join_copy(struct vpa_resolver *r, struct vpa_ops *ops, size_t i)
{
	const struct vpa_copy *c = &ops->copy[i];
	struct vpa_call *launch = ops->launch[i];
	struct copy_traits t;

	if (!launch || ops->kind[i] != VPA_MEMCPY || ops->end_ns[i] < ops->start_ns[i])
		return;
	t = (struct copy_traits){
		is_pageable(c->source_memory, c->target_memory), is_large(c->kind, c->bytes)};
	if (is_waited_for(&t, launch->klass == VPT_CALL_BLOCKING_COPY))
		note_copy(r, launch, t);
}

/* Whether a row of a COPY section is an op. One of no length may have been rounded to whole
 * microseconds: its call waited for it all the same. */
static int is_op(const struct vpt_section *s, uint32_t row)
{
	uint64_t start = s->col[VPT_COPY_START][row];

	return start && start + s->col[VPT_COPY_DURATION][row] >= start;
}

void vpa_resolver_note_copies(struct vpa_resolver *r, const struct vpt_section *s)
{
	uint32_t stream = vpa_maps_find(r, s->lane, VPT_LANETYPE_STREAM);
	const uint64_t *source = s->col[VPT_COPY_SOURCE_MEMORY],
		       *target = s->col[VPT_COPY_TARGET_MEMORY];
	uint32_t row;

	for (row = 0; stream != VPA_NONE && row < s->row_count; row++) {
		uint64_t id = s->col[VPT_COPY_CORRELATION][row],
			 start = s->col[VPT_COPY_START][row];
		struct copy_traits t = {is_pageable(source[row], target[row]),
			is_large(s->col[VPT_COPY_COPY_KIND][row], s->col[VPT_COPY_BYTES][row])};
		struct vpa_call *call = is_waited_for(&t, 0) && is_op(s, row)
						? vpa_resolver_find_launch(r, stream, id)
						: NULL;

		if (call)
			note_copy(r, call, t);
		if (vpt_copy_is_migration(s->col[VPT_COPY_COPY_KIND][row]) && is_op(s, row) &&
			vpa_resolver_note_fault(
				r, stream, start, start + s->col[VPT_COPY_DURATION][row]))
			r->failed = VPT_ENOMEM;
	}
}
