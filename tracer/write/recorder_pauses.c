/* recorder_pauses.c - when a recorder records, and what was launched then. */
#include "tracer/clock/capture_clock.h"
#include "tracer/write/recorder_state.h"

void vtr_recorder_pause(struct vtr_recorder *r, uint64_t from_ns)
{
	vtr_pauses_begin(&r->pauses, from_ns);
	vtr_recorder_update_clear(r);
}

void vtr_recorder_now(struct vtr_recorder *r, uint64_t now_ns)
{
	struct vtr_pause p;

	while (vtr_pauses_take(&r->pauses, now_ns, &p))
		vtr_recorder_loss(r, NULL, VPT_LOSSKIND_PAUSED, p.from_ns, p.to_ns, 0);
}

void vtr_recorder_resume(struct vtr_recorder *r, uint64_t to_ns)
{
	vtr_recorder_now(r, UINT64_MAX);
	vtr_pauses_end(&r->pauses, to_ns);
	vtr_recorder_update_clear(r);
	vtr_recorder_now(r, vtr_now());
}

/* What was launched before the file was full, or had begun, and found no room in it, is lost. */
static void end_full(struct vtr_recorder *r, uint64_t stop_ns)
{
	uint64_t ops = vtr_refused_ops_before(&r->refused, r->full_ns);

	if (r->full_ns < stop_ns)
		vtr_recorder_loss(r, NULL, VPT_LOSSKIND_PAUSED, r->full_ns, stop_ns, 0);
	if (r->refused.ranges)
		vtr_recorder_loss(r, NULL, VPT_LOSSKIND_REFUSED, r->refused.from_ns, stop_ns,
			r->refused.ranges);
	if (!ops)
		return;
	vtr_recorder_drop(r, NULL, ops);
	vtr_recorder_loss(r, NULL, VPT_LOSSKIND_REFUSED, r->full_ns, stop_ns, ops);
}

void vtr_recorder_end_pauses(struct vtr_recorder *r, uint64_t stop_ns)
{
	if (vtr_recorder_is_empty(r))
		return;
	vtr_pauses_stop(&r->pauses, stop_ns);
	vtr_recorder_update_clear(r);
	vtr_recorder_now(r, UINT64_MAX);
	if (r->is_full)
		end_full(r, stop_ns);
}

int vtr_recorder_wants_calls(struct vtr_recorder *r, uint64_t since_ns)
{
	vtr_recorder_follow(r);
	return r->o.max_bytes || vtr_pauses_reach(&r->pauses, since_ns);
}

void vtr_recorder_note_id(struct vtr_recorder *r, uint64_t newest)
{
	vtr_pauses_note_id(&r->pauses, newest);
}

void vtr_recorder_note_call(struct vtr_recorder *r, uint64_t correlation, uint64_t start_ns)
{
	vtr_pauses_note_call(&r->pauses, correlation, start_ns);
	if (r->o.max_bytes)
		vtr_refused_call(&r->refused, correlation, start_ns);
}

int vtr_recorder_doubts_op(const struct vtr_recorder *r, uint64_t correlation, uint64_t start_ns)
{
	return vtr_pauses_doubt_op(&r->pauses, correlation, start_ns);
}

int vtr_recorder_hides_op(struct vtr_recorder *r, uint64_t correlation)
{
	return vtr_pauses_hide_op(&r->pauses, correlation, 0) ||
	       (r->is_full && r->refused.call_count &&
		       !vtr_refused_is_before(&r->refused, correlation, r->full_ns));
}

int vtr_recorder_cut(struct vtr_recorder *r, uint64_t *start_ns, uint64_t end_ns)
{
	vtr_recorder_follow(r);
	return vtr_pauses_cut(&r->pauses, start_ns, end_ns);
}
