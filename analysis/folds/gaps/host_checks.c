/* host_checks.c - what the checklist needs and no other table has: blocking calls inside the loop, and the
 * time from a launch to the start of its work.
 *
 * That time is measured only where the device was idle when the launch call began: elsewhere the work
 * waits for earlier work, which is what a pipeline wants. Such gaps are few or the loop is slow, so this
 * costs nothing where it matters. */
#include "analysis/folds/fold.h"

#include "analysis/base/durations.h"
#include "analysis/base/intervals.h"
#include "analysis/folds/gaps/check_loop.h"
#include "analysis/join/resolver.h"
#include "analysis/past/past_calls.h"
#include "formats/base/memory.h"

#include <stdlib.h>

enum {
	CALLS_MAX = 1 << 20, /* blocking calls that are kept; later ones are left out */
	STEPS_MAX = 1 << 20  /* the same of steps */
};

struct state {
	uint64_t *calls_ns; /* when each blocking call began */
	size_t call_count, call_cap;
	uint64_t left_out;
	struct vpa_durations_builder launch, graph; /* graph: launches of CUDA graphs */
	struct vpa_interval *steps;                 /* marked ones, on the host */
	size_t step_count, step_cap;
};

static int fold_call(void *state, const struct vpa_fold_context *c, const struct vpa_call *call)
{
	struct state *s = state;

	(void)c;
	if (s->call_count == CALLS_MAX) {
		s->left_out++;
		return VPT_OK;
	}
	if (vpt_grow(&s->calls_ns, &s->call_cap, s->call_count + 1, sizeof(*s->calls_ns)))
		return VPT_ENOMEM;
	s->calls_ns[s->call_count++] = vpa_call_start(call);
	return VPT_OK;
}

/* A launch whose op ended a gap: for the checklist, which the first screen does not show. */
static int add_launch(
	struct state *s, const struct vpa_call *launch, uint64_t op_ns, uint64_t gap_ns)
{
	uint64_t start = vpa_call_start(launch);

	if (start < op_ns - gap_ns || start > op_ns)
		return VPT_OK;
	return vpa_durations_add(
		launch->klass == VPT_CALL_GRAPH_LAUNCH ? &s->graph : &s->launch, op_ns - start);
}

static int fold_gap(void *state, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	const struct vpa_op *op = gap->gating;

	if (c->options->only_screen || !gap->before || !op || !op->launch)
		return VPT_OK;
	return add_launch(state, op->launch, op->start_ns, op->start_ns - gap->start_ns);
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	size_t i;
	int rc = VPT_OK;

	if (c->options->only_screen || !ops->late_count)
		return VPT_OK;
	for (i = 0; i < ops->count && !rc; i++)
		if (ops->has_late[i])
			rc = add_launch(state, ops->launch[i], ops->start_ns[i], ops->gap_ns[i]);
	return rc;
}

static int add_step(struct state *s, uint64_t start_ns, uint64_t end_ns)
{
	if (s->step_count == STEPS_MAX)
		return VPT_OK;
	if (vpt_grow(&s->steps, &s->step_cap, s->step_count + 1, sizeof(*s->steps)))
		return VPT_ENOMEM;
	s->steps[s->step_count++] = (struct vpa_interval){start_ns, end_ns};
	return VPT_OK;
}

static int fold_scope(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	(void)c;
	if (vpa_pipeline_kind(range) == VPA_SCOPE_STEP && !range->unmatched)
		return add_step(state, range->start_ns, range->end_ns);
	return VPT_OK;
}

/* Steps that begin and end with marks. */
static int add_marked_spans(struct state *s, const struct vpa_marked_spans *marked_spans)
{
	size_t i, k;
	int rc = VPT_OK;

	for (i = 0; i < marked_spans->counts[VPA_MARKED_SPAN_STEP]; i++) {
		const struct vpa_marked_span_track *t =
			&marked_spans->tracks[VPA_MARKED_SPAN_STEP][i];

		for (k = 0; k < t->count && !rc; k++)
			if (t->items[k].end_ns != UINT64_MAX)
				rc = add_step(s, t->items[k].start_ns, t->items[k].end_ns);
	}
	return rc;
}

static int by_start(const void *pa, const void *pb)
{
	const struct vpa_interval *a = pa, *b = pb;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Whether a request runs at `at_ns`, and when the next one begins or ends. */
static int is_in_request(const struct vpa_report *r, uint64_t at_ns, uint64_t *next_ns)
{
	size_t i;
	int is_in = 0;

	*next_ns = UINT64_MAX;
	for (i = 0; i < r->request_count; i++) {
		uint64_t start_ns = r->requests[i].start_ns, end_ns = r->requests[i].end_ns;

		is_in |= start_ns <= at_ns && at_ns < end_ns;
		if (start_ns > at_ns && start_ns < *next_ns)
			*next_ns = start_ns;
		if (end_ns > at_ns && end_ns < *next_ns)
			*next_ns = end_ns;
	}
	return is_in;
}

/* From the first step to the last one of each request. */
static int find_stretches(
	struct state *s, const struct vpa_report *r, struct vpa_intervals *stretches)
{
	uint64_t start_ns = 0, end_ns = 0, next_ns = 0;
	size_t i;
	int is_in = 0, rc = VPT_OK;

	for (i = 0; i < s->step_count && !rc; i++) {
		const struct vpa_interval *step = &s->steps[i];

		if (step->start_ns >= next_ns) {
			rc = end_ns > start_ns ? vpa_intervals_add(stretches, start_ns, end_ns)
					       : VPT_OK;
			start_ns = end_ns = step->start_ns;
			is_in = is_in_request(r, step->start_ns, &next_ns);
		}
		if (is_in && step->end_ns > end_ns)
			end_ns = step->end_ns;
	}
	if (!rc && end_ns > start_ns)
		rc = vpa_intervals_add(stretches, start_ns, end_ns);
	return rc;
}

/* Steps on the host, where the loop has no times on the device. */
static int place_loop(struct state *s, const struct vpa_fold_context *c, const struct vpa_report *r,
	struct vpa_check_loop *loop, struct vpa_intervals *stretches)
{
	size_t i;

	if (!loop->count)
		return VPT_OK;
	if (loop->end_ns)
		return vpa_intervals_add(stretches, loop->start_ns, loop->end_ns);
	if (!s->step_count && add_marked_spans(s, &c->resolver->marked_spans))
		return VPT_ENOMEM;
	if (!s->step_count)
		return VPT_OK;
	qsort(s->steps, s->step_count, sizeof(*s->steps), by_start);
	loop->start_ns = s->steps[0].start_ns;
	loop->first_end_ns = s->steps[0].end_ns;
	for (i = 0; i < s->step_count; i++)
		if (s->steps[i].end_ns > loop->end_ns)
			loop->end_ns = s->steps[i].end_ns;
	return find_stretches(s, r, stretches);
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_check_loop *loop = &out->expert.loop;
	struct state *s = state;
	struct vpa_durations launch = vpa_durations_of(&s->launch),
			     graph = vpa_durations_of(&s->graph);
	struct vpa_intervals stretches = {.count = 0};
	size_t i;
	int rc;

	vpa_check_loop_find(out, loop);
	rc = place_loop(s, c, out, loop, &stretches);
	for (i = 0; i < s->call_count; i++)
		loop->blocking_calls += (uint64_t)vpa_intervals_touch(
			&stretches, s->calls_ns[i], s->calls_ns[i] + 1);
	vpa_intervals_free(&stretches);
	if (rc)
		return rc;
	loop->blocking_calls += s->left_out;
	out->expert.launches_while_idle = launch.count;
	out->expert.launch_p50_ns = launch.p50_ns;
	out->expert.launch_p95_ns = launch.p95_ns;
	out->expert.graphs_while_idle = graph.count;
	out->expert.graph_p50_ns = graph.p50_ns;
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpt_free(s->calls_ns);
	vpt_free(s->steps);
	vpa_durations_free(&s->launch);
	vpa_durations_free(&s->graph);
}

const struct vpa_fold vpa_fold_checks = {
	.name = "checks",
	.help = "blocking calls in the loop, and the time from a launch to the start of its work",
	.state_bytes = sizeof(struct state),
	.call = fold_call,
	.scope = fold_scope,
	.gap = fold_gap,
	.ops = fold_ops,
	.finish = finish,
	.free = free_state,
};
