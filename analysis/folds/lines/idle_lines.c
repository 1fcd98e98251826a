/* idle_lines.c - which lines of Python idle time waited for, and which launched the work.
 *
 * A piece of a gap is about the call that held the host, or about the host's own code. Samples of
 * the launching thread in that call, or in the piece, belong to its cause, range and call (of the main
 * thread, for code before the launching thread was first sampled, as when it did not exist): each of them once, however many
 * gaps the call is to blame for. Few pieces have a sample, but all pieces of one cause, range and call together have many:
 * their time is split by them (lines_write.c). Where stacks are exact, each piece has its own.
 *
 * Most gaps are those of a few microseconds between ops that were launched in time. They are about the
 * launch, so they have its line. */
#include "analysis/folds/lines/lines_write.h"

#include "analysis/folds/exact_stacks.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

enum {
	PARTS_MAX = 1 << 16,
	SHARES_MAX = 1 << 20,
	/* The longest pause between two launches of a run. */
	NEAR_NS = 1000000
};

/* Whether anything has stacks. */
static int has_stacks(const struct vpa_fold_context *c)
{
	return vpa_stacks_count(&c->model->stacks) > 1;
}

static struct vpa_stack_samples *samples_of(const struct vpa_fold_context *c, uint32_t thread)
{
	return &c->resolver->pasts[thread].samples;
}

/* ---- idle time ---- */

/* A piece, and where it is added. */
struct piece {
	const struct vpa_cause_piece *of;
	const struct vpa_gap *gap;
	const struct vpa_stack_samples *samples;
	uint32_t thread, part;
	int is_of_host; /* for its line only, see line_owner_of() */
};

static int add_share(
	struct lines_state *s, uint32_t part, uint32_t stack, const struct line_share *more)
{
	uint32_t row;

	if (s->shares_index.count >= SHARES_MAX)
		return VPT_OK;
	row = vpa_index_row(
		&s->shares_index, part, stack, &s->shares, &s->share_cap, sizeof(*s->shares));
	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	s->shares[row].samples += more->samples;
	s->shares[row].weight_ns += more->weight_ns;
	s->shares[row].exact_ns += more->exact_ns;
	return VPT_OK;
}

/* Notes time of the scopes around the op that ended the gap. */
static int note_time(
	struct lines_state *s, const struct piece *p, const struct vpa_scoped_time *note)
{
	return p->is_of_host ? VPT_OK : vpa_lines_scopes_note(&s->scopes, p->gap, note);
}

/* Counts the samples in [from, to) that the part has not counted yet. */
static int count_samples(struct lines_state *s, const struct piece *p, uint64_t from, uint64_t to)
{
	const struct vpa_stack_samples *all = p->samples;
	uint32_t row = vpa_index_row(
		&s->seen_index, p->part, p->thread, &s->seen_ns, &s->seen_cap, sizeof(*s->seen_ns));
	struct vpa_scoped_time note = {
		.part = p->part, .thread = p->thread, .kind = VPA_SCOPED_SAMPLE};
	struct line_share one = {.samples = 1};
	size_t i;

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	i = vpa_stack_samples_from(all, vpa_later(from, s->seen_ns[row]));
	for (; i < all->count && all->items[i].time_ns < to; i++) {
		if (all->items[i].is_exact)
			continue;
		one.weight_ns = all->items[i].weight_ns;
		s->parts[p->part].samples++;
		s->parts[p->part].weight_ns += one.weight_ns;
		note.sample_ns = all->items[i].time_ns;
		note.stack = all->items[i].stack;
		note.ns = one.weight_ns;
		if (add_share(s, p->part, note.stack, &one) || note_time(s, p, &note))
			return VPT_ENOMEM;
		s->seen_ns[row] = all->items[i].time_ns + 1;
	}
	return VPT_OK;
}

/* The same for the host's own code, of which the main thread's samples tell where the piece's own thread has none yet. */
static int count_code(
	struct lines_state *s, const struct vpa_fold_context *c, const struct piece *p)
{
	uint64_t from = p->of->start_ns, to = p->of->end_ns, own_ns = p->samples->first_ns;
	struct piece before = *p;
	int rc = VPT_OK;

	if (own_ns > from)
		before.samples = vpa_resolver_stand_in(c->resolver, p->thread, &before.thread);
	if (own_ns > from && before.samples)
		rc = count_samples(s, &before, from, vpa_earlier(own_ns, to));
	return rc ? rc : count_samples(s, p, from, to);
}

/* Adds the piece's exact stacks. Returns the time that had one in *ns. */
static int add_exact(struct lines_state *s, const struct piece *p, uint64_t *ns)
{
	struct vpa_exact_stacks w;
	int rc = VPT_OK;

	*ns = 0;
	vpa_exact_stacks_begin(&w, p->samples, p->of);
	while (!rc && vpa_exact_stacks_next(&w)) {
		rc = add_share(s, p->part, w.stack, &(struct line_share){.exact_ns = w.ns}) ||
				     note_time(s, p,
					     &(struct vpa_scoped_time){.ns = w.ns,
						     .part = p->part,
						     .stack = w.stack,
						     .kind = VPA_SCOPED_EXACT})
			     ? VPT_ENOMEM
			     : VPT_OK;
		*ns += w.ns;
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
				vpt_sat_u64((double)wait * (double)inside / (double)(end - begin)));
	}
	return sum;
}

static int add_to_part(
	struct lines_state *s, const struct vpa_fold_context *c, const struct piece *p)
{
	const struct vpa_cause_piece *of = p->of;
	int is_call = of->call_end_ns != 0;
	uint64_t ns = of->end_ns - of->start_ns, exact_ns = 0;
	int rc = add_exact(s, p, &exact_ns);

	if (!is_call)
		s->parts[p->part].wait_ns += waited_ns(p->samples, of->start_ns, of->end_ns);
	s->parts[p->part].exact_ns += exact_ns;
	s->parts[p->part].ns += ns - exact_ns;
	if (!rc)
		rc = note_time(
			s, p, &(struct vpa_scoped_time){.ns = ns - exact_ns, .part = p->part});
	if (rc || exact_ns)
		return rc;
	return is_call ? count_samples(s, p, of->call_start_ns, of->call_end_ns)
		       : count_code(s, c, p);
}

/* Adds a piece to its part. */
static int add_piece(
	struct lines_state *s, const struct vpa_fold_context *c, struct piece *p, uint64_t owner)
{
	uint64_t names = s->parts_index.count < PARTS_MAX
				 ? (uint64_t)p->of->place << 32 | p->of->call
				 : UINT64_MAX;

	p->part = vpa_index_row(
		&s->parts_index, owner, names, &s->parts, &s->part_cap, sizeof(*s->parts));
	return p->part == UINT32_MAX ? VPT_ENOMEM : add_to_part(s, c, p);
}

/* The host's own code in a piece that counts to an earlier call. */
static int add_host_code(
	struct lines_state *s, const struct vpa_fold_context *c, const struct piece *p)
{
	struct vpa_cause_piece code = *p->of;
	struct piece of_host = *p;

	if (code.inside || !code.host)
		return VPT_OK;
	code.place = code.host_place;
	code.call_start_ns = code.call_end_ns = 0;
	of_host.of = &code;
	of_host.is_of_host = 1;
	return add_piece(s, c, &of_host, line_owner_of(p->gap->device, code.cause, code.host));
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
		struct piece p = {of, gap, samples_of(c, gap->thread), gap->thread, 0, 0};

		rc = add_piece(s, c, &p, line_owner_of(gap->device, of->cause, 0));
		if (!rc)
			rc = add_host_code(s, c, &p);
	}
	return rc;
}

/* ---- launches ----
 *
 * A sample says where a launch came from only if its thread was launching then: between two launches
 * that are near each other. Such launches are a run; each belongs to the next sample of its run, the
 * last ones to the last sample, and all of a run without samples to none. */

static void add_up(struct line_launches *to, const struct line_launches *more)
{
	size_t i;

	to->ops += more->ops;
	to->busy_ns += more->busy_ns;
	for (i = 0; i < LINE_QUEUED_CAUSES; i++)
		to->queued_ns[i] += more->queued_ns[i];
}

/* Op `i` by itself, with the gap before it if that has only one cause. */
static struct line_launches launch_of(const struct vpa_ops *ops, size_t i)
{
	static const uint8_t rows[VPA_CAUSES] = {
#define LIST(name) [VPA_CAUSE_##name] = LINE_AFTER_##name + 1,
		LINE_QUEUED(LIST)
#undef LIST
	};
	struct line_launches one = {1, ops->end_ns[i] - ops->start_ns[i], {0}};
	uint8_t row = rows[ops->gap_cause[i]];

	if (row)
		one.queued_ns[row - 1] = ops->gap_ns[i];
	return one;
}

static int add_launches(
	struct lines_state *s, uint32_t device, uint32_t stack, const struct line_launches *more)
{
	uint32_t row = vpa_index_row(&s->launches_index, device, stack, &s->launches,
		&s->launches_cap, sizeof(*s->launches));

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	add_up(&s->launches[row], more);
	return VPT_OK;
}

/* Gives what is waiting to the stack of a sample. */
static int settle(struct lines_state *s, struct line_run *run, uint32_t stack, uint64_t sample_ns)
{
	struct vpa_scoped_time sample = {.sample_ns = sample_ns,
		.stack = stack,
		.thread = (uint32_t)(run - s->runs),
		.kind = VPA_SCOPED_SAMPLE};
	int rc = run->waiting.ops ? add_launches(s, run->device, stack, &run->waiting) : VPT_OK;

	run->waiting = (struct line_launches){.ops = 0};
	return rc ? rc : vpa_lines_scopes_settle(&s->scopes, &run->scoped, &sample);
}

/* Finds the last sample at `t` or before it. Answers hold until the next sample, or the next batch. */
static void look(const struct lines_state *s, struct line_run *run,
	const struct vpa_stack_samples *all, uint64_t t)
{
	const struct vpa_stack_sample *at;
	size_t next;

	if (run->batch == s->batch && t >= run->from_ns && t < run->until_ns)
		return;
	next = vpa_stack_samples_from(all, t + 1);
	at = next > all->dropped ? &all->items[next - 1] : NULL;
	run->batch = s->batch;
	run->from_ns = at ? at->time_ns : 0;
	run->until_ns = next < all->count ? all->items[next].time_ns : UINT64_MAX;
	run->sample = at ? at->stack : 0;
	run->is_exact = at && at->is_exact;
}

/* A launch at `t` goes on with the thread's run, or begins another. */
static int extend(struct lines_state *s, struct line_run *run, uint32_t device, uint64_t t)
{
	int rc = VPT_OK;

	if (t > run->last_ns && t - run->last_ns > NEAR_NS) {
		rc = settle(s, run, run->stack, run->stack_ns);
		run->stack = 0;
	} else if (run->from_ns > run->last_ns) {
		rc = settle(s, run, run->sample, run->from_ns);
		run->stack = run->sample;
		run->stack_ns = run->from_ns;
	} else if (run->device != device) {
		rc = settle(s, run, run->stack, run->stack_ns);
	}
	return rc;
}

/* Op `i`, whose launch has an exact stack. */
static int add_exact_launch(struct lines_state *s, const struct line_run *run,
	const struct vpa_ops *ops, size_t i, const struct line_launches *one)
{
	struct vpa_scoped_time sample = {.stack = run->sample, .kind = VPA_SCOPED_EXACT};
	int rc = add_launches(s, ops->device[i], run->sample, one);

	if (!rc && ops->gap_cause[i])
		rc = vpa_lines_scopes_queue(&s->scopes, ops, i, &s->at_once);
	return rc ? rc : vpa_lines_scopes_settle(&s->scopes, &s->at_once, &sample);
}

static int add_launch(struct lines_state *s, const struct vpa_fold_context *c,
	const struct vpa_ops *ops, size_t i)
{
	uint32_t thread = vpa_call_thread(ops->launch[i]);
	const struct line_launches one = launch_of(ops, i);
	uint64_t t = ops->launch_start_ns[i];
	struct line_run *run;
	int rc;

	if (vpt_grow_zeroed(&s->runs, &s->run_cap, (size_t)thread + 1, sizeof(*s->runs)))
		return VPT_ENOMEM;
	s->run_count = s->run_count > thread ? s->run_count : thread + 1;
	run = &s->runs[thread];
	look(s, run, samples_of(c, thread), t);
	if (run->is_exact)
		return add_exact_launch(s, run, ops, i, &one);
	rc = extend(s, run, ops->device[i], t);
	if (!rc && ops->gap_cause[i])
		rc = vpa_lines_scopes_queue(&s->scopes, ops, i, &run->scoped);
	run->device = ops->device[i];
	run->last_ns = vpa_later(run->last_ns, t);
	add_up(&run->waiting, &one);
	return rc;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct lines_state *s = state;
	size_t i;
	int rc = vpa_lines_scopes_ops(s, c, ops);

	if (rc || !has_stacks(c))
		return rc;
	s->batch++;
	for (i = 0; i < ops->count && !rc; i++)
		if (ops->launch[i])
			rc = add_launch(s, c, ops, i);
	return rc;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct lines_state *s = state;
	uint32_t thread;
	int rc = VPT_OK;

	if (!has_stacks(c))
		return vpa_lines_scopes_write(s, c, out);
	for (thread = 0; thread < s->run_count && !rc; thread++)
		rc = settle(s, &s->runs[thread], s->runs[thread].stack, s->runs[thread].stack_ns);
	out->lines.launches_are_sampled = c->resolver->counts.samples > c->resolver->exact_samples;
	if (!rc)
		rc = vpa_modules_write(s, c, out);
	return rc ? rc : vpa_lines_write(s, c, out);
}

static void free_state(void *state)
{
	struct lines_state *s = state;
	uint32_t thread;

	vpa_lines_scopes_free(&s->scopes);
	vpt_free(s->at_once.items);
	for (thread = 0; thread < s->run_count; thread++)
		vpt_free(s->runs[thread].scoped.items);
	vpa_index_free(&s->parts_index);
	vpa_index_free(&s->shares_index);
	vpa_index_free(&s->seen_index);
	vpa_index_free(&s->launches_index);
	vpt_free(s->parts);
	vpt_free(s->shares);
	vpt_free(s->seen_ns);
	vpt_free(s->launches);
	vpt_free(s->runs);
}

const struct vpa_fold vpa_fold_lines = {
	.name = "lines",
	.help = "lines of Python that idle time waited for, and that launched work",
	.state_bytes = sizeof(struct lines_state),
	.ops = fold_ops,
	.gap = fold_gap,
	.finish = finish,
	.free = free_state,
};
