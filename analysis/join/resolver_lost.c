/* resolver_lost.c - launches whose kernel is missing from the recording.
 *
 * A launch may have no op because it failed, was captured into a graph, or because its kernel had
 * not ended when the recording did. It is lost if none of this explains it: the kernel must have
 * ended while work was recorded, since
 *
 *	- a wait for its whole device returned,
 *	- its thread uses one stream, and waited for a stream, or a later launch of it has an op, or
 *	- the launch lies further before the end of a later wait of its thread than any op of the
 *	  thread ended after its launch. The same before the start of the last op recorded, on
 *	  whatever device, but further if no later launch of the thread has an op: a kernel that
 *	  takes unusually long may hold back all others.
 *
 * A pause of the recording does not take what was launched before it: a launch that a pause follows is lost too.
 *
 * Which stream or event a call waits for is not recorded with every call. A thread without any op is
 * taken for one that uses one device and one stream.
 *
 * Calls are looked at when they are dropped, slab by slab: most slabs have no launch that still
 * waits for its op, and cost nothing. By then the waits after them are known, except beyond the time
 * that a launch waits for its op. */
#include "analysis/join/resolver_maps.h"
#include "analysis/join/resolver_parts.h"

#include "formats/base/vectorise.h"
#include "formats/clocks.h"

/* How much further before the last op a launch must lie if no later one of its thread has an op. */
enum { SLOW_TIMES = 4, SLOW_NS = 1000000 };

/* ---- what ops tell ---- */

/* Counts ops that began before their launch, by more than whole microseconds explain. */
VPT_VECTORISE
static void note_leads(struct vpa_resolver *r, const uint64_t *restrict launches_ns,
	const uint64_t *restrict starts_ns, size_t count)
{
	int64_t longest_ns = (int64_t)r->lead_ns;
	uint64_t premature = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t lead_ns = (int64_t)(launches_ns[i] - starts_ns[i]);

		premature += (uint64_t)(VPT_ROUNDED_NS - lead_ns) >> 63;
		longest_ns = lead_ns > longest_ns ? lead_ns : longest_ns;
	}
	r->joined_ops += count;
	r->premature_ops += premature;
	r->lead_ns = (uint64_t)longest_ns;
}

VPT_VECTORISE
static void note_times(struct vpa_answers *a, const uint64_t *restrict launches_ns,
	const uint64_t *restrict ends_ns, size_t count)
{
	int64_t longest_ns = (int64_t)a->longest_ns, latest_ns = (int64_t)a->latest_ns;
	size_t i;

	/* Signed, since instructions for that are the fewest. */
	for (i = 0; i < count; i++) {
		int64_t launch_ns = (int64_t)launches_ns[i];
		int64_t answer_ns = (int64_t)(ends_ns[i] - launches_ns[i]);

		latest_ns = launch_ns > latest_ns ? launch_ns : latest_ns;
		longest_ns = answer_ns > longest_ns ? answer_ns : longest_ns;
	}
	a->longest_ns = (uint64_t)longest_ns;
	a->latest_ns = (uint64_t)latest_ns;
}

/* Notes the streams and devices of ops. */
static void note_places(struct vpa_resolver *r, uint32_t thread, const struct vpa_ops *ops,
	size_t begin, size_t end)
{
	struct vpa_answers *a = &r->pasts[thread].answers;
	struct vpa_process *process = &r->processes[r->model->threads[thread].process];
	size_t i;

	if (!a->any) {
		a->any = 1;
		a->stream = ops->stream[begin];
		a->device = ops->device[begin];
		a->first_ns = ops->launch_start_ns[begin];
		if (!process->has_device)
			process->device = a->device;
		process->has_device = 1;
		process->has_devices |= process->device != a->device;
	}
	if (ops->one_stream)
		end = begin + 1;
	for (i = begin; i < end; i++) {
		a->has_streams |= ops->stream[i] != a->stream;
		a->has_devices |= ops->device[i] != a->device;
	}
	process->has_devices |= a->has_devices;
}

/* Ops [begin, end), launched by one thread. */
static void note_thread(struct vpa_resolver *r, uint32_t thread, const struct vpa_ops *ops,
	size_t begin, size_t end)
{
	struct vpa_answers *a = &r->pasts[thread].answers;

	note_times(a, &ops->launch_start_ns[begin], &ops->end_ns[begin], end - begin);
	note_leads(r, &ops->launch_start_ns[begin], &ops->start_ns[begin], end - begin);
	if (!a->has_streams || !a->any)
		note_places(r, thread, ops, begin, end);
}

void vpa_resolver_note_answers(struct vpa_resolver *r, const struct vpa_ops *ops)
{
	size_t i, begin = 0;

	for (i = 0; i < ops->stretch_count; begin = ops->stretches[i++].end) {
		uint32_t thread = ops->stretches[i].thread;

		while (i + 1 < ops->stretch_count && ops->stretches[i + 1].thread == thread)
			i++;
		if (thread != VPA_NONE)
			note_thread(r, thread, ops, begin, ops->stretches[i].end);
	}
}

/* ---- waits ---- */

void vpa_resolver_note_wait(struct vpa_resolver *r, uint32_t thread, const struct vpa_call *call,
	const struct vpa_call_kind *kind)
{
	struct vpa_thread_past *past = &r->pasts[thread];
	struct vpa_process *process = &r->processes[r->model->threads[thread].process];
	uint64_t start_ns = vpa_call_start(call);

	past->wait_end_ns = vpa_later(past->wait_end_ns, vpa_call_end(call));
	if (kind->for_all) {
		past->device_wait_ns = vpa_later(past->device_wait_ns, start_ns);
		process->device_wait_ns = vpa_later(process->device_wait_ns, start_ns);
	}
	/* An event may have been recorded before the launches. */
	if (!kind->for_event)
		past->stream_wait_ns = vpa_later(past->stream_wait_ns, start_ns);
}

/* ---- launches ---- */

/* A launch without an op. */
struct suspect {
	const struct vpa_resolver *r;
	const struct vpa_thread_past *past;
	const struct vpa_process *process;
	uint64_t start_ns, end_ns;
};

/* Whether it was launched before a moment, and work was recorded until then. */
static int precedes(const struct suspect *s, uint64_t moment_ns)
{
	return s->end_ns <= moment_ns &&
	       (!s->r->paused.count || vpa_intervals_outside(&s->r->paused, s->start_ns,
					       moment_ns) == moment_ns - s->start_ns);
}

static int was_waited_for(const struct suspect *s)
{
	const struct vpa_thread_past *past = s->past;
	const struct vpa_answers *a = &past->answers;

	if ((!a->any || !a->has_devices) && precedes(s, past->device_wait_ns))
		return 1;
	if (!s->process->has_devices && precedes(s, s->process->device_wait_ns))
		return 1;
	return (!a->any || !a->has_streams) && precedes(s, past->stream_wait_ns);
}

/* A recording may begin while a stream is captured, which nothing in it shows: what comes before the thread's
 * first op is judged by waits alone, which a capture does not allow. */
static int is_among_answers(const struct suspect *s)
{
	return s->past->answers.any && s->start_ns > s->past->answers.first_ns;
}

static int had_time(const struct suspect *s)
{
	const struct vpa_answers *a = &s->past->answers;
	uint64_t usual_ns = a->any ? a->longest_ns : 0, newest_ns = s->r->newest_op_ns;

	if (usual_ns > UINT64_MAX / 8)
		return 0;
	if (precedes(s, s->past->wait_end_ns) && s->past->wait_end_ns - s->start_ns >= usual_ns)
		return 1;
	if (!is_among_answers(s))
		return 0;
	if (!a->has_streams && precedes(s, a->latest_ns))
		return 1;
	if (s->start_ns >= a->latest_ns)
		usual_ns = SLOW_TIMES * usual_ns + SLOW_NS;
	return precedes(s, newest_ns) && newest_ns - s->start_ns >= usual_ns;
}

/* Whether recording was off at some time after the launch. The tracer goes on until what was launched before has
 * ended, so the kernel should be there, whenever it ran. */
static int is_before_pause(const struct suspect *s)
{
	const struct vpa_intervals *paused = &s->r->paused;

	return paused->count && vpa_intervals_last(paused)->start_ns >= s->end_ns;
}

/* Whether some thread may have captured a stream: launches of any thread may have gone into it. */
static int may_be_captured(const struct vpa_process *p, uint64_t start_ns)
{
	return start_ns >= p->captured_from_ns &&
	       (p->open_captures || start_ns <= p->captured_until_ns);
}

/* Whether a call inside this one has the op, or the call is inside one that may have it. */
static int shares_op(const struct vpa_calls *calls, const struct vpa_call *call)
{
	uint64_t position = vpa_call_position(call), inside = *vpa_call_encloses(call), i;

	if (call->state & VPA_CALL_NESTED || inside > position - calls->begin)
		return 1;
	for (i = 1; i <= inside; i++)
		if (vpa_calls_at(calls, position - i)->state & VPA_CALL_MET)
			return 1;
	return 0;
}

/* Whether the call must have launched a kernel, which was not recorded. */
static int lacks_kernel(const struct vpa_calls *calls, const struct vpa_call *call)
{
	return (call->klass == VPT_CALL_LAUNCH || call->klass == VPT_CALL_GRAPH_LAUNCH) &&
	       (call->state & (VPA_CALL_MISSED | VPA_CALL_MET)) == VPA_CALL_MISSED &&
	       vpa_call_correlation(call) && !shares_op(calls, call);
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
		const struct vpa_call_slab *slab = vpa_calls_slab(&past->calls, at);

		next = vpa_earlier(slab->first + VPA_CALL_SLAB, end);
		for (; slab->waiting && at < next; at++) {
			const struct vpa_call *call = vpa_calls_at(&past->calls, at);
			struct suspect s = {
				r, past, process, vpa_call_start(call), vpa_call_end(call)};

			if (lacks_kernel(&past->calls, call) &&
				!may_be_captured(process, s.start_ns))
				r->launches_lost +=
					was_waited_for(&s) || had_time(&s) || is_before_pause(&s);
		}
	}
}
