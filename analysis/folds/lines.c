/* lines.c - which lines of Python idle time waited for, and which launched the work.
 *
 * A piece of a gap is about the call that held the host, or about the host's own code. Samples of
 * the launching thread in that call, or in the piece, belong to its cause, range and call: each of
 * them once, however many gaps the call is to blame for. Few pieces have a sample, but all pieces of
 * one cause, range and call together have many: their time is split by them (lines_write.c). Where
 * stacks are exact, each piece has its own. */
#include "analysis/folds/lines.h"

#include "formats/memory.h"

enum {
	PARTS_MAX = 1 << 16,
	SHARES_MAX = 1 << 20,
	/* A launch between two samples belongs to the next one, or the one before, if that is not
	 * further away than this. */
	NEAR_NS = 20000000
};

/* Whether anything has stacks. */
static int has_stacks(const struct vpa_fold_context *c)
{
	return vpa_stacks_count(&c->model->stacks) > 1;
}

static struct vpa_stack_samples *samples_of(const struct vpa_fold_context *c, uint32_t thread)
{
	return &c->idle->resolver->pasts[thread].samples;
}

/* ---- idle time ---- */

/* A piece, and where it is added. */
struct piece {
	const struct vpa_cause_piece *of;
	struct vpa_stack_samples *samples;
	uint32_t thread, part;
};

static int add_share(
	struct lines_state *s, uint32_t part, uint32_t stack, uint64_t samples, uint64_t exact_ns)
{
	uint32_t row;

	if (s->shares_index.count >= SHARES_MAX)
		return VPT_OK;
	row = vpa_index_row(
		&s->shares_index, part, stack, &s->shares, &s->share_cap, sizeof(*s->shares));
	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	s->shares[row].samples += samples;
	s->shares[row].exact_ns += exact_ns;
	return VPT_OK;
}

/* Counts the samples in [from, to) that the part has not counted yet. */
static int count_samples(struct lines_state *s, const struct piece *p, uint64_t from, uint64_t to)
{
	const struct vpa_stack_samples *all = p->samples;
	uint32_t row = vpa_index_row(
		&s->seen_index, p->part, p->thread, &s->seen_ns, &s->seen_cap, sizeof(*s->seen_ns));
	size_t i;

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	i = vpa_stack_samples_from(all, vpa_later(from, s->seen_ns[row]));
	for (; i < all->count && all->items[i].time_ns < to; i++) {
		s->parts[p->part].samples++;
		if (add_share(s, p->part, all->items[i].stack, 1, 0))
			return VPT_ENOMEM;
		s->seen_ns[row] = all->items[i].time_ns + 1;
	}
	return VPT_OK;
}

/* Splits [from, to) by the stacks in force. Returns the time that had one in *ns. */
static int add_exact(
	struct lines_state *s, const struct piece *p, uint64_t from, uint64_t to, uint64_t *ns)
{
	const struct vpa_stack_samples *all = p->samples;
	const struct vpa_stack_sample *at = vpa_stack_samples_at(all, from);
	const struct vpa_stack_sample *end = all->items + all->count;
	int rc = VPT_OK;

	*ns = 0;
	for (; at && at->is_exact && from < to && !rc; at++) {
		uint64_t until = at + 1 < end ? vpa_earlier(at[1].time_ns, to) : to;

		if (until > from) {
			rc = add_share(s, p->part, at->stack, 0, until - from);
			*ns += until - from;
			from = until;
		}
		if (at + 1 == end)
			break;
	}
	return rc;
}

/* How long the thread waited for a CPU in [from, to), by the samples around it. */
static uint64_t waited_ns(const struct vpa_stack_samples *all, uint64_t from, uint64_t to)
{
	size_t i = vpa_stack_samples_from(all, from + 1);
	uint64_t sum = 0;

	for (i += i == all->dropped; i < all->count && all->items[i - 1].time_ns < to; i++) {
		uint64_t begin = all->items[i - 1].time_ns, end = all->items[i].time_ns;
		uint64_t inside = vpa_earlier(end, to) - vpa_later(begin, from);
		uint64_t wait = (uint64_t)all->items[i].wait_us * 1000;

		if (end > begin)
			sum += vpa_earlier(inside,
				(uint64_t)((double)wait * (double)inside / (double)(end - begin)));
	}
	return sum;
}

static int add_to_part(struct lines_state *s, const struct piece *p)
{
	const struct vpa_cause_piece *of = p->of;
	int is_call = of->call_end_ns != 0;
	uint64_t ns = of->end_ns - of->start_ns, exact_ns = 0;
	const struct vpa_stack_sample *at;
	int rc = VPT_OK;

	if (is_call) {
		at = vpa_stack_samples_at(p->samples, of->call_start_ns);
		exact_ns = at ? ns : 0;
		rc = at ? add_share(s, p->part, at->stack, 0, ns) : VPT_OK;
	} else {
		s->parts[p->part].wait_ns += waited_ns(p->samples, of->start_ns, of->end_ns);
		rc = add_exact(s, p, of->start_ns, of->end_ns, &exact_ns);
	}
	s->parts[p->part].exact_ns += exact_ns;
	s->parts[p->part].ns += ns - exact_ns;
	if (rc || exact_ns)
		return rc;
	return count_samples(s, p, is_call ? of->call_start_ns : of->start_ns,
		is_call ? of->call_end_ns : of->end_ns);
}

static int fold_gap(void *state, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	struct lines_state *s = state;
	size_t i;
	int rc = VPT_OK;

	if (gap->thread == VPA_NONE || !has_stacks(c) || !samples_of(c, gap->thread)->count)
		return VPT_OK;
	for (i = 0; i < gap->piece_count && !rc; i++) {
		const struct vpa_cause_piece *of = &gap->pieces[i];
		struct piece p = {of, samples_of(c, gap->thread), gap->thread, 0};
		uint64_t names = s->parts_index.count < PARTS_MAX
					 ? (uint64_t)of->place << 32 | of->call
					 : UINT64_MAX;

		p.part = vpa_index_row(&s->parts_index, (uint64_t)gap->device << 8 | of->cause,
			names, &s->parts, &s->part_cap, sizeof(*s->parts));
		rc = p.part == UINT32_MAX ? VPT_ENOMEM : add_to_part(s, &p);
	}
	return rc;
}

/* ---- launches ---- */

/* Finds the stack of a launch at `t`, and for which other launches the answer is the same. */
static void find_stack(struct lines_state *s, const struct vpa_stack_samples *all, uint64_t t)
{
	size_t next = vpa_stack_samples_from(all, t + 1);
	const struct vpa_stack_sample *before = next > all->dropped ? &all->items[next - 1] : NULL;
	const struct vpa_stack_sample *after = next < all->count ? &all->items[next] : NULL;
	const struct vpa_stack_sample *found = NULL;

	s->from_ns = before ? before->time_ns : 0;
	s->until_ns = after ? after->time_ns : UINT64_MAX;
	if (before && before->is_exact) {
		found = before;
	} else if (after && !after->is_exact && after->time_ns - t <= NEAR_NS) {
		found = after;
		s->from_ns = vpa_later(
			s->from_ns, after->time_ns < NEAR_NS ? 0 : after->time_ns - NEAR_NS);
	} else {
		found = before && t - before->time_ns <= NEAR_NS ? before : NULL;
		s->from_ns = t;
		s->until_ns = t + 1;
	}
	s->stack = found ? found->stack : 0;
}

static int add_launch(struct lines_state *s, const struct vpa_fold_context *c,
	const struct vpa_ops *ops, size_t i)
{
	uint32_t thread = vpa_call_thread(ops->launch[i]), row;
	uint64_t t = ops->launch_start_ns[i];

	if (thread != s->thread || t < s->from_ns || t >= s->until_ns) {
		s->thread = thread;
		find_stack(s, samples_of(c, thread), t);
	}
	row = vpa_index_row(&s->launches_index, ops->device[i], s->stack, &s->launches,
		&s->launches_cap, sizeof(*s->launches));
	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	s->launches[row].ops++;
	s->launches[row].busy_ns += ops->end_ns[i] - ops->start_ns[i];
	return VPT_OK;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct lines_state *s = state;
	size_t i;
	int rc = VPT_OK;

	if (!has_stacks(c))
		return VPT_OK;
	s->from_ns = s->until_ns = 0; /* new samples may have come */
	for (i = 0; i < ops->count && !rc; i++)
		if (ops->launch[i])
			rc = add_launch(s, c, ops, i);
	return rc;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	return has_stacks(c) ? vpa_lines_write(state, c, out) : VPT_OK;
}

static void free_state(void *state)
{
	struct lines_state *s = state;

	vpa_index_free(&s->parts_index);
	vpa_index_free(&s->shares_index);
	vpa_index_free(&s->seen_index);
	vpa_index_free(&s->launches_index);
	vpt_free(s->parts);
	vpt_free(s->shares);
	vpt_free(s->seen_ns);
	vpt_free(s->launches);
}

const struct vpa_fold vpa_fold_lines = {
	.name = "lines",
	.help = "lines of Python that idle time waited for, and that launched work",
	.state_bytes = sizeof(struct lines_state),
	.ops = fold_ops,
	.gap = fold_gap,
	.gaps_with_ops = 1,
	.finish = finish,
	.free = free_state,
};
