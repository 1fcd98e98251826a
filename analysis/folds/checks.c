/* checks.c - what the checklist needs and no other table has: blocking calls inside the loop, and the
 * time from a launch to the start of its work.
 *
 * That time is measured only where the device was idle when the launch call began: elsewhere the work
 * waits for earlier work, which is what a pipeline wants. Such gaps are few or the loop is slow, so this
 * costs nothing where it matters. */
#include "analysis/folds/fold.h"

#include "analysis/checklist.h"
#include "analysis/history.h"
#include "analysis/resolver.h"
#include "analysis/spread.h"
#include "formats/memory.h"

#include <stdlib.h>

enum { CALLS_MAX = 1 << 20 }; /* blocking calls that are kept; later ones are left out */

struct state {
	uint64_t *calls_ns; /* when each blocking call began */
	size_t call_count, call_cap;
	uint64_t left_out;
	struct vpa_spread_builder launch;
	uint64_t first_start_ns, first_end_ns, last_end_ns; /* of marked steps, on the host */
	int has_step;
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

static int fold_gap(void *state, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	const struct vpa_op *op = gap->gating;
	struct state *s = state;
	uint64_t start;

	(void)c;
	if (!gap->before || !op || !op->launch)
		return VPT_OK;
	start = vpa_call_start(op->launch);
	if (start < gap->start_ns || start > op->start_ns)
		return VPT_OK;
	return vpa_spread_add(&s->launch, op->start_ns - start) ? VPT_ENOMEM : VPT_OK;
}

static void add_step(struct state *s, uint64_t start_ns, uint64_t end_ns)
{
	if (!s->has_step || start_ns < s->first_start_ns) {
		s->first_start_ns = start_ns;
		s->first_end_ns = end_ns;
	}
	if (end_ns > s->last_end_ns)
		s->last_end_ns = end_ns;
	s->has_step = 1;
}

static int fold_range(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	(void)c;
	if (vpa_pipeline_kind(range) == VPA_SCOPE_STEP && !range->unmatched)
		add_step(state, range->start_ns, range->end_ns);
	return VPT_OK;
}

/* Steps that begin and end with marks. */
static void add_laps(struct state *s, const struct vpa_laps *laps)
{
	size_t i, k;

	for (i = 0; i < laps->counts[VPA_LAP_STEP]; i++) {
		const struct vpa_lap_track *t = &laps->tracks[VPA_LAP_STEP][i];

		for (k = 0; k < t->count; k++)
			if (t->items[k].end_ns != UINT64_MAX)
				add_step(s, t->items[k].start_ns, t->items[k].end_ns);
	}
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_check_loop *loop = &out->expert.loop;
	struct state *s = state;
	struct vpa_spread launch = vpa_spread_of(&s->launch);
	size_t i;

	vpa_check_loop_find(out, loop);
	if (!s->has_step)
		add_laps(s, &c->idle->resolver->laps);
	if (loop->kind && !loop->end_ns) {
		loop->start_ns = s->first_start_ns;
		loop->first_end_ns = s->first_end_ns;
		loop->end_ns = s->last_end_ns;
	}
	for (i = 0; i < s->call_count; i++)
		loop->blocking_calls +=
			s->calls_ns[i] >= loop->start_ns && s->calls_ns[i] < loop->end_ns;
	loop->blocking_calls += s->left_out;
	out->expert.launches_while_idle = launch.count;
	out->expert.launch_p50_ns = launch.p50_ns;
	out->expert.launch_p95_ns = launch.p95_ns;
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpt_free(s->calls_ns);
	vpa_spread_free(&s->launch);
}

const struct vpa_fold vpa_fold_checks = {
	.name = "checks",
	.help = "blocking calls in the loop, and the time from a launch to the start of its work",
	.state_bytes = sizeof(struct state),
	.call = fold_call,
	.range = fold_range,
	.only_scopes = 1,
	.gap = fold_gap,
	.gaps_with_ops = 1,
	.finish = finish,
	.free = free_state,
};
