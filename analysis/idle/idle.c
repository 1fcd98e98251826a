/* idle.c - adds each batch of ops to the figures of its devices, then explains its gaps. */
#include "analysis/idle/idle.h"

#include "analysis/idle/idle_gaps.h"
#include "formats/base/memory.h"

#include <string.h>

/* A device that is idle longer than this while another works no longer keeps the host's past: the
 * causes of its gap are known only from then on. */
#define IDLE_KEPT_NS ((uint64_t)30 * 1000000000)

/* The threads that launched ops [begin, end) become hosts of the device. `*stretch`: as in vpa_ops_stretch(). */
static int meet_hosts(
	struct vpa_idle *s, const struct vpa_ops *ops, size_t begin, size_t end, size_t *stretch)
{
	struct vpa_gain *gain = &s->devices[ops->device[begin]].gain;
	size_t i;
	int rc = VPT_OK;

	for (i = begin; i < end && !rc; i = ops->stretches[*stretch].end) {
		uint32_t thread = vpa_ops_stretch(ops, i, stretch)->thread;

		if (thread != VPA_NONE && !vpa_gain_host_of(gain, thread))
			rc = vpa_gain_meet(gain, s->resolver, ops->launch[i]);
	}
	return rc;
}

int vpa_idle_early(struct vpa_idle *s, const struct vpa_ops *ops, size_t i)
{
	if ((ops->device[i] >= s->device_count || ops->stream[i] >= s->stream_cap) &&
		vpa_idle_room(s, ops->device[i], ops->stream[i]))
		return VPT_ENOMEM;
	if (vpa_idle_use(s, ops, i))
		return VPT_ENOMEM;
	vpa_idle_note_launch(&s->streams[ops->stream[i]], ops->correlation[i],
		ops->launch[i] ? vpa_call_start(ops->launch[i]) : ops->start_ns[i]);
	return VPT_OK;
}

int vpa_idle_ops(struct vpa_idle *s, struct vpa_ops *ops)
{
	const struct vpa_intervals *paused = &s->resolver->paused;
	size_t i, end = 0, other = 0, stretch = 0;
	int rc = VPT_OK;

	s->paused_until_ns = paused->count ? vpa_intervals_last(paused)->end_ns : 0;
	ops->run_count = ops->first_count = ops->late_count = s->stretch = 0;
	memset(ops->has_late, 0, ops->count);
	for (i = 0; i < ops->count && !rc;) {
		if (ops->device[i] >= s->device_count || ops->stream[i] >= s->stream_cap)
			rc = vpa_idle_room(s, ops->device[i], ops->stream[i]);
		end = ops->one_stream ? ops->count : i + 1;
		while (end < ops->count && ops->stream[end] == ops->stream[i])
			end++;
		while (i < end && !rc) {
			size_t begin = i, others_from = other;

			i = vpa_idle_run(s, ops, i, end, &other);
			rc = vpa_idle_find_firsts(s, ops, begin, i, others_from);
			if (!rc)
				rc = meet_hosts(s, ops, begin, i, &stretch);
			if (!rc)
				rc = vpa_idle_answer(s, ops, &ops->runs[ops->run_count - 1]);
			vpa_idle_note_ends(s, ops, &ops->runs[ops->run_count - 1]);
		}
	}
	return rc;
}

void vpa_idle_done(struct vpa_idle *s, const struct vpa_ops *ops)
{
	size_t i;

	for (i = 0; i < s->device_count; i++) {
		struct vpa_idle_device *d = &s->devices[i];

		if (d->newest == VPA_NO_OP)
			continue;
		d->last = vpa_ops_get(ops, d->newest);
		d->last.launch = NULL;
		d->has_last = 1;
		d->newest = VPA_NO_OP;
	}
}

int vpa_idle_end(struct vpa_idle *s, uint64_t window_end_ns)
{
	uint32_t i;
	int rc = VPT_OK;

	for (i = 0; !rc && i < s->device_count; i++) {
		struct vpa_idle_device *d = &s->devices[i];
		const struct vpa_question q = {.start_ns = d->cursor_ns,
			.end_ns = window_end_ns,
			.device = i,
			.before = &d->last};

		if (!d->seen || window_end_ns <= d->cursor_ns)
			continue;
		d->idle_ns += vpa_resolver_recorded_ns(s->resolver, d->cursor_ns, window_end_ns);
		rc = vpa_idle_explain(s, &q);
	}
	return rc;
}

void vpa_idle_pass(struct vpa_idle *s, uint64_t until_ns)
{
	size_t i;

	for (i = 0; i < s->device_count; i++)
		vpa_gain_pass(&s->devices[i].gain, s->resolver, until_ns, s->devices[i].cursor_ns);
}

uint64_t vpa_idle_frontier(const struct vpa_idle *s)
{
	uint64_t newest = 0, frontier = UINT64_MAX;
	size_t i;

	for (i = 0; i < s->device_count; i++)
		if (s->devices[i].seen && s->devices[i].cursor_ns > newest)
			newest = s->devices[i].cursor_ns;
	for (i = 0; i < s->device_count; i++) {
		const struct vpa_idle_device *d = &s->devices[i];

		if (d->seen && newest - d->cursor_ns <= IDLE_KEPT_NS && d->cursor_ns < frontier)
			frontier = d->cursor_ns;
	}
	return frontier == UINT64_MAX ? s->resolver->model->window_start_ns : frontier;
}

void vpa_idle_free(struct vpa_idle *s)
{
	size_t i;

	for (i = 0; i < s->device_count; i++) {
		vpt_free(s->devices[i].used);
		vpa_gain_free(&s->devices[i].gain);
	}
	vpt_free(s->devices);
	vpt_free(s->streams);
	vpa_answer_free(&s->answer);
	vpt_free(s->part.items);
	vpt_free(s->host_part.items);
	memset(s, 0, sizeof(*s));
}
