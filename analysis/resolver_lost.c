/* resolver_lost.c - launches whose kernel is missing from the recording.
 *
 * A launch may have no op because it failed, was captured into a graph, or because its kernel had
 * not ended when the recording did. It is lost if none of this explains it:
 *
 *	- a later call of its thread waited for all work of the only device, or
 *	- a later call of its thread has an op, and either all ops are on one stream, hence run in
 *	  the order of their launches, or the launch lies further before the last recorded op than
 *	  any recorded op ended after its launch.
 *
 * A recording may begin while a stream is captured, which nothing in it shows: launches before the
 * first of their thread with an op are not judged.
 *
 * Calls are looked at when they are dropped, block by block: most blocks have no launch that still
 * waits for its op, and cost nothing. */
#include "analysis/resolver_parts.h"

#include "formats/vectorise.h"

#include <string.h>

/* Signed, since instructions for that are the fewest: of ops without a launch, the launch's start
 * is -1. */
VPT_VECTORISE
static int64_t longest_answer(const uint64_t *restrict launches_ns,
	const uint64_t *restrict ends_ns, size_t count, int64_t longest_ns)
{
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t launch_ns = (int64_t)launches_ns[i];
		int64_t answer_ns = (int64_t)(ends_ns[i] - launches_ns[i]);

		answer_ns = launch_ns < 0 ? 0 : answer_ns;
		longest_ns = answer_ns > longest_ns ? answer_ns : longest_ns;
	}
	return longest_ns;
}

void vpa_resolver_note_answers(struct vpa_resolver *r, const struct vpa_ops *ops)
{
	r->longest_answer_ns = (uint64_t)longest_answer(
		ops->launch_start_ns, ops->end_ns, ops->count, (int64_t)r->longest_answer_ns);
}

/* Whether a kernel launched at `start_ns`, before one that was recorded, should have ended while
 * work was recorded. */
static int had_time(const struct vpa_resolver *r, uint64_t start_ns)
{
	uint64_t wait_ns = r->longest_answer_ns;

	if (r->paused.count &&
		vpa_intervals_outside(&r->paused, start_ns, start_ns + wait_ns) != wait_ns)
		return 0;
	return r->model->stream_count == 1 ||
	       (start_ns < r->newest_op_ns && r->newest_op_ns - start_ns >= wait_ns);
}

/* Whether some thread may have captured a stream: launches of any thread may have gone into it. */
static int may_be_captured(const struct vpa_resolver *r, uint64_t start_ns)
{
	return start_ns >= r->captured_from_ns &&
	       (r->open_captures || start_ns <= r->captured_until_ns);
}

/* Whether the call must have launched a kernel of its own, which was not recorded. Calls inside
 * others, or around them, may share the kernel's record. */
static int lacks_kernel(const struct vpa_resolver *r, const struct vpa_call *call)
{
	enum {
		LOOKED_AT = VPA_CALL_WAITS | VPA_CALL_MISSED | VPA_CALL_MET | VPA_CALL_NESTED |
			    VPA_CALL_SUBMITS
	};
	uint64_t start_ns = vpa_call_start(call);

	return call->klass == VPT_CALL_LAUNCH &&
	       (call->state & LOOKED_AT) == (VPA_CALL_WAITS | VPA_CALL_MISSED) &&
	       vpa_call_correlation(call) && had_time(r, start_ns) && !may_be_captured(r, start_ns);
}

/* Whether all work that the thread had launched before the call ended while work was recorded. */
static int waits_for_all(const struct vpa_resolver *r, const struct vpa_call *call)
{
	static const char *const names[] = {
		"cudaDeviceSynchronize", "cuCtxSynchronize", "hipDeviceSynchronize"};
	struct vpt_text name;
	size_t i;

	if (call->klass != VPT_CALL_SYNC || r->model->device_count != 1 || r->paused.count ||
		vpa_call_end(call) > r->model->window_end_ns)
		return 0;
	name = vpa_name(r->model, call->name);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		/* Some tools add a version. */
		if (name.len >= strlen(names[i]) && !memcmp(name.text, names[i], strlen(names[i])))
			return 1;
	return 0;
}

static void count_call(
	struct vpa_resolver *r, struct vpa_thread_past *past, const struct vpa_call *call)
{
	if (call->state & VPA_CALL_MET) {
		past->has_answer = 1;
		r->launches_lost += past->overdue;
		past->unanswered -= past->overdue;
		past->overdue = 0;
	} else if (past->has_answer && lacks_kernel(r, call)) {
		past->unanswered++;
		past->overdue += (uint64_t)had_time(r, vpa_call_start(call));
	} else if (past->unanswered && waits_for_all(r, call)) {
		r->launches_lost += past->unanswered;
		past->unanswered = past->overdue = 0;
	}
}

void vpa_resolver_count_lost(struct vpa_resolver *r, uint32_t thread, uint64_t end)
{
	struct vpa_thread_past *past = &r->pasts[thread];
	const struct vpa_process *process = &r->processes[r->model->threads[thread].process];
	uint64_t at, next;

	/* Of calls with one id, only one has the op. */
	if (process->launches.doubled || process->launches.ambiguous)
		return;
	for (at = past->calls.begin; at < end; at = next) {
		const struct vpa_call_block *block = vpa_calls_block(&past->calls, at);

		next = vpa_earlier(block->first + VPA_CALL_BLOCK, end);
		if (!block->waiting && !past->unanswered && past->has_answer)
			continue;
		for (; at < next; at++)
			count_call(r, past, vpa_calls_at(&past->calls, at));
	}
}
