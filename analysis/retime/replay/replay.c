/* replay.c - the order of calls and ops, and the memory for their clocks. */
#include "analysis/retime/tape/ends.h"
#include "analysis/retime/replay/replaying.h"

#include "formats/base/memory.h"

enum { KEPT = 16384 /* launches, and ops */ };

/* ---- the order ---- */

static void end_call(struct vpa_replaying *r, uint32_t call, size_t newest_op)
{
	vpa_moments_pass(r->moments, r->t->calls[call].end_ns, r->host);
	vpa_replay_end(r, call, (uint32_t)newest_op);
}

/* At one moment: ends of calls that began before it, then calls in order, then ops. A call of no length begins and ends
 * at once. */
static int run(struct vpa_replaying *r)
{
	const struct vpa_tape *t = r->t;
	size_t calls = 0, ops = 0;
	struct vpa_ends open = {0};
	uint32_t row;
	int rc = VPT_OK;

	while (!rc) {
		uint64_t start_ns = calls < t->call_count ? t->calls[calls].start_ns : UINT64_MAX,
			 op_ns = ops < t->op_count ? t->ops[ops].start_ns : UINT64_MAX;

		if (vpa_ends_pop(&open, start_ns < op_ns ? start_ns : op_ns, &row)) {
			end_call(r, row, ops);
		} else if (calls < t->call_count && start_ns <= op_ns) {
			row = (uint32_t)calls++;
			vpa_replay_start(r, row);
			if (t->calls[row].end_ns == start_ns)
				end_call(r, row, ops);
			else if (vpa_ends_push(&open, t->calls[row].end_ns, row))
				rc = VPT_ENOMEM;
		} else if (ops < t->op_count) {
			vpa_replay_op(r, (uint32_t)ops++);
		} else {
			break;
		}
	}
	vpt_free(open.items);
	vpa_moments_pass(r->moments, UINT64_MAX, r->host);
	vpa_moments_end(r->moments);
	return rc;
}

/* ---- all ---- */

static size_t kept_of(size_t count)
{
	size_t kept = 1;

	while (kept < count && kept < KEPT)
		kept *= 2;
	return kept;
}

static void list_worlds(struct vpa_replaying *r, const struct vpa_world *worlds)
{
	size_t w;

	r->n = (r->worlds + VPA_CLOCKS - 1) / VPA_CLOCKS * VPA_CLOCKS;
	r->all = (uint32_t)(((uint64_t)1 << r->worlds) - 1);
	for (w = 0; w < VPA_WORLDS_MOST; w++) {
		r->keeps[w] = w < r->worlds && worlds[w].no_ops ? 0 : -1;
		r->never[w] = VPA_CLOCK_NEVER;
	}
	for (w = 0; w < r->worlds; w++) {
		if (!vpa_world_deletes(&worlds[w]))
			r->plain = w + 1;
		r->no_host |= (uint32_t)(worlds[w].no_host != 0) << w;
	}
	r->own = r->worlds - r->plain;
	r->host = r->zero;
}

static int allocate_calls(struct vpa_replaying *r, size_t launches)
{
	const struct vpa_tape *t = r->t;
	size_t i;

	r->open = vpt_calloc(t->thread_count, sizeof(*r->open));
	r->starts = vpt_calloc(t->thread_count, r->n * sizeof(*r->starts));
	r->ends = vpt_calloc(t->thread_count, r->n * sizeof(*r->ends));
	r->costs = vpt_calloc(t->thread_count, r->n * sizeof(*r->costs));
	r->afters = vpt_calloc(t->thread_count, r->n * sizeof(*r->afters));
	r->launches = vpt_alloc(launches, sizeof(*r->launches));
	r->launch_starts = vpt_alloc(launches, r->n * sizeof(*r->launch_starts));
	r->launch_ends = vpt_alloc(launches, r->n * sizeof(*r->launch_ends));
	r->places = vpt_alloc(launches, r->own * sizeof(*r->places));
	r->inside = vpt_alloc(launches, r->words * sizeof(*r->inside));
	r->heads =
		vpt_alloc(vpa_effects_make_graphs(r->x) ? launches : 1, r->n * sizeof(*r->heads));
	r->counts = vpt_calloc(t->gpu_count, sizeof(*r->counts));
	r->own_counts = vpt_calloc(t->gpu_count, r->own * sizeof(*r->own_counts));
	r->lines = vpt_alloc(t->gpu_count * (size_t)VPA_LINE, r->n * sizeof(*r->lines));
	r->own_lines = vpt_alloc(t->gpu_count * (size_t)VPA_LINE, r->own * sizeof(*r->own_lines));
	for (i = 0; r->launches && i < launches; i++)
		r->launches[i].call = VPA_TAPE_NONE;
	return r->open && r->starts && r->ends && r->costs && r->afters && r->launches &&
			       r->launch_starts && r->launch_ends && r->places && r->inside &&
			       r->heads && r->counts && r->own_counts && r->lines && r->own_lines
		       ? VPT_OK
		       : VPT_ENOMEM;
}

static int allocate_ops(struct vpa_replaying *r, size_t ops)
{
	const struct vpa_tape *t = r->t;
	size_t streams = t->stream_count + vpa_effects_asides(r->x), i;

	r->op_ends = vpt_alloc(ops, r->n * sizeof(*r->op_ends));
	r->streams = vpt_calloc(streams, sizeof(*r->streams));
	r->tails = vpt_calloc(streams, r->n * sizeof(*r->tails));
	r->last_end = vpt_calloc(t->stream_count, r->n * sizeof(*r->last_end));
	for (i = 0; r->streams && i < streams; i++)
		r->streams[i].last = VPA_TAPE_NONE;
	return r->op_ends && r->streams && r->tails && r->last_end ? VPT_OK : VPT_ENOMEM;
}

static int allocate(struct vpa_replaying *r)
{
	size_t launches = kept_of(r->t->call_count), ops = kept_of(r->t->op_count);
	int rc;

	r->launch_mask = launches - 1;
	r->op_mask = ops - 1;
	r->words = vpa_effects_words(r->x);
	r->walk = vpa_walk_new(r->x);
	rc = r->walk ? allocate_calls(r, launches) : VPT_ENOMEM;
	return rc ? rc : allocate_ops(r, ops);
}

static void release(struct vpa_replaying *r)
{
	void *all[] = {r->open, r->starts, r->ends, r->costs, r->afters, r->launches,
		r->launch_starts, r->launch_ends, r->places, r->inside, r->heads, r->counts,
		r->own_counts, r->lines, r->own_lines, r->op_ends, r->streams, r->tails,
		r->last_end};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		vpt_free(all[i]);
	vpa_walk_free(r->walk);
	vpt_free(r);
}

int vpa_replay(const struct vpa_tape *t, const struct vpa_edges *e, struct vpa_effects *x,
	const struct vpa_world *worlds, size_t world_count, struct vpa_moments *moments,
	uint64_t *error_ns)
{
	struct vpa_replaying *r = vpt_calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return VPT_ENOMEM;
	r->t = t;
	r->e = e;
	r->x = x;
	r->worlds = world_count;
	r->moments = moments;
	list_worlds(r, worlds);
	rc = allocate(r);
	if (!rc) {
		rc = run(r);
		rc = vpa_effects_failed(x) ? VPT_ENOMEM : rc;
	}
	*error_ns = r->error_ns;
	release(r);
	return rc;
}
