/* attention_steps.c - checks whether each attention call of a denoising step always uses the same
 * back-end.
 *
 * Steps repeat a sequence of attention calls, so the k-th call of all steps with the same number of
 * calls is one place in the model. If its back-end varies, some steps took a fallback: a mask, a
 * shape, a number format. Steps with more or fewer calls are another sequence, and are not compared. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Steps beyond these limits do not repeat and are left out. */
enum { CALLS_MAX = 4096, SEQUENCES_MAX = 16, USED_MAX = 3 };

struct call {
	uint64_t ns;
	enum vpa_backend backend;
};

/* The calls of a step; empty before its first op on the device, and after its end. */
struct step {
	struct call *calls;
	size_t count, cap;
};

/* The k-th call of a sequence. */
struct turn {
	struct used {
		enum vpa_backend backend; /* VPA_BACKEND_NONE: unused */
		uint64_t calls, ns;
	} used[USED_MAX];
};

/* Steps of `count` calls. */
struct sequence {
	size_t count;
	struct turn *turns;
};

struct state {
	struct vpa_index ranges; /* by address, which a new range may reuse after a range is over */
	struct step *steps;      /* by row of `ranges` */
	size_t step_count, step_cap;
	const struct vpa_range *newest; /* the step of the last call; NULL: it is over */
	uint32_t newest_row;
	struct sequence sequences[SEQUENCES_MAX];
	uint64_t backends; /* a bit for each that is used in a step */
};

/* The innermost step around a launch; NULL: none. */
static const struct vpa_range *find_step(const struct vpa_op_stretch *stretch, uint64_t at_ns)
{
	const struct vpa_range *own = vpa_pipeline_find(stretch->range, at_ns, VPA_SCOPE_STEP);

	return own ? own : vpa_pipeline_find(stretch->process_range, at_ns, VPA_SCOPE_STEP);
}

/* NULL: no memory. */
static struct step *step_of(struct state *s, const struct vpa_range *range)
{
	uint32_t row;

	if (range == s->newest)
		return &s->steps[s->newest_row];
	row = vpa_index_put(&s->ranges, (uintptr_t)range, 0);
	if (row == UINT32_MAX ||
		vpt_grow(&s->steps, &s->step_cap, s->ranges.count, sizeof(*s->steps)))
		return NULL;
	while (s->step_count < s->ranges.count)
		s->steps[s->step_count++] = (struct step){.calls = NULL};
	s->newest = range;
	s->newest_row = row;
	return &s->steps[row];
}

static int add_call(struct state *s, const struct vpa_fold_context *c, const struct vpa_ops *ops,
	size_t i, const struct vpa_op_stretch *stretch)
{
	enum vpa_backend backend = c->model->kernels[ops->kernel[i]].klass.backend;
	const struct vpa_range *range =
		backend ? find_step(stretch, ops->launch_start_ns[i]) : NULL;
	struct step *step;

	/* A range that began before the window is not reported at its end. */
	if (!range || range->start_ns < c->model->window_start_ns)
		return VPT_OK;
	step = step_of(s, range);
	if (!step)
		return VPT_ENOMEM;
	if (step->count > CALLS_MAX)
		return VPT_OK;
	if (vpt_grow(&step->calls, &step->cap, step->count + 1, sizeof(*step->calls)))
		return VPT_ENOMEM;
	s->backends |= UINT64_C(1) << backend;
	step->calls[step->count++] = (struct call){ops->end_ns[i] - ops->start_ns[i], backend};
	return VPT_OK;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	size_t k, stretches = 0;
	int rc = VPT_OK;

	for (k = 0; k < ops->special_count && !rc; k++) {
		size_t i = ops->specials[k];

		if (ops->role[i] == VPA_ROLE_FUSED || ops->role[i] == VPA_ROLE_SOFTMAX)
			rc = add_call(state, c, ops, i, vpa_ops_stretch(ops, i, &stretches));
	}
	return rc;
}

/* ---- a step is over ---- */

/* The sequence of `count` calls. NULL: too many different lengths, or no memory, see *rc. */
static struct sequence *find_sequence(struct state *s, size_t count, int *rc)
{
	struct sequence *q = s->sequences;

	while (q < s->sequences + SEQUENCES_MAX && q->count && q->count != count)
		q++;
	if (q == s->sequences + SEQUENCES_MAX)
		return NULL;
	if (!q->count) {
		q->turns = vpt_calloc(count, sizeof(*q->turns));
		if (!q->turns) {
			*rc = VPT_ENOMEM;
			return NULL;
		}
		q->count = count;
	}
	return q;
}

static void add_to_turn(struct turn *p, const struct call *call)
{
	struct used *u = p->used;

	while (u < p->used + USED_MAX && u->backend && u->backend != call->backend)
		u++;
	if (u == p->used + USED_MAX)
		return;
	u->backend = call->backend;
	u->calls++;
	u->ns += call->ns;
}

static int fold_scope(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct state *s = state;
	struct sequence *q;
	struct step *step;
	int rc = VPT_OK;
	uint32_t row;
	size_t i;

	(void)c;
	if (range == s->newest)
		s->newest = NULL;
	row = vpa_pipeline_kind(range) == VPA_SCOPE_STEP
		      ? vpa_index_find(&s->ranges, (uintptr_t)range, 0)
		      : UINT32_MAX;
	if (row == UINT32_MAX || !s->steps[row].count)
		return VPT_OK;
	step = &s->steps[row];
	q = step->count <= CALLS_MAX ? find_sequence(s, step->count, &rc) : NULL;
	for (i = 0; q && i < step->count; i++)
		add_to_turn(&q->turns[i], &step->calls[i]);
	vpt_free(step->calls);
	*step = (struct step){.calls = NULL};
	return rc;
}

/* ---- writing down ---- */

static double mean_of(const struct used *u)
{
	return (double)u->ns / (double)u->calls;
}

static void add_change(
	struct vpa_backend_change *change, const struct used *fast, const struct used *slow)
{
	change->places++;
	change->slow_calls += slow->calls;
	change->slow_ns += slow->ns;
	change->fast_calls += fast->calls;
	change->fast_ns += fast->ns;
	change->gain_ns += (mean_of(slow) - mean_of(fast)) * (double)slow->calls;
}

static int compare_changes(const void *pa, const void *pb)
{
	const struct vpa_backend_change *a = pa, *b = pb;
	int order;

	if (a->slow_ns != b->slow_ns)
		return a->slow_ns > b->slow_ns ? -1 : 1;
	order = strcmp(vpa_backend_name(a->slow), vpa_backend_name(b->slow));
	return order ? order : strcmp(vpa_backend_name(a->fast), vpa_backend_name(b->fast));
}

/* Adds each back-end of a turn that is not its fastest. */
static int add_turn(
	const struct turn *p, struct vpa_index *pairs, struct vpa_backend_change *changes)
{
	const struct used *fast = &p->used[0];
	size_t i;

	for (i = 1; i < USED_MAX && p->used[i].backend; i++)
		if (mean_of(&p->used[i]) < mean_of(fast))
			fast = &p->used[i];
	for (i = 0; i < USED_MAX && p->used[i].backend; i++) {
		const struct used *slow = &p->used[i];
		uint32_t row;

		if (slow == fast)
			continue;
		row = vpa_index_put(pairs, fast->backend, slow->backend);
		if (row == UINT32_MAX)
			return VPT_ENOMEM;
		changes[row].fast = fast->backend;
		changes[row].slow = slow->backend;
		add_change(&changes[row], fast, slow);
	}
	return VPT_OK;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	struct vpa_attention *a = &out->attention;
	struct vpa_index pairs = {0};
	size_t i, k, count = 0;
	uint64_t bits;
	int rc = VPT_OK;

	_Static_assert(VPA_BACKENDS <= 64, "a bit for each back-end");
	(void)c;
	for (bits = s->backends; bits; bits &= bits - 1)
		count++;
	a->changes = vpa_arena_alloc(&out->arena, count * count, sizeof(*a->changes));
	if (!a->changes)
		return VPT_ENOMEM;
	for (i = 0; i < SEQUENCES_MAX && s->sequences[i].count && !rc; i++)
		for (k = 0; k < s->sequences[i].count && !rc; k++)
			rc = add_turn(&s->sequences[i].turns[k], &pairs, a->changes);
	a->change_count = pairs.count;
	vpa_index_free(&pairs);
	qsort(a->changes, a->change_count, sizeof(*a->changes), compare_changes);
	return rc;
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->step_count; i++)
		vpt_free(s->steps[i].calls);
	vpt_free(s->steps);
	vpa_index_free(&s->ranges);
	for (i = 0; i < SEQUENCES_MAX; i++)
		vpt_free(s->sequences[i].turns);
}

const struct vpa_fold vpa_fold_attention_steps = {
	.name = "attention in steps",
	.help = "attention back-ends that differ between steps",
	.state_bytes = sizeof(struct state),
	.ops = fold_ops,
	.scope = fold_scope,
	.finish = finish,
	.free = free_state,
};
