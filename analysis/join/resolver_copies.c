/* resolver_copies.c - what a copy says of the calls that made it: the call with its id, and those around it. */
#include "analysis/join/resolver_maps.h"
#include "analysis/join/resolver_parts.h"

/* A copy of a call that waits by its name, or one with pageable memory: a copy has then waited, and joins the
 * calls that wait. Returns whether the call had no such copy before. */
static int set_copy(struct vpa_resolver *r, uint64_t position, struct vpa_calls *calls,
	struct vpa_copy_traits t)
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
static void spread_copy(struct vpa_resolver *r, struct vpa_call *call, struct vpa_copy_traits t)
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

/* Several calls may have the id of the copy. */
void vpa_resolver_note_copy(
	struct vpa_resolver *r, struct vpa_call *launch, struct vpa_copy_traits t)
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
