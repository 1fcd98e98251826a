/* iteration_parts.c - what the iterations of training are made of: the ranges right inside them, in which the program marks its
 * forward and backward pass, its optimizer and the like, and how long the GPUs work for each.
 *
 * Autograd launches the backward pass from a thread of its own, while the thread that called it waits in its range. So what another
 * thread of the process that runs gradients launches belongs to the range that is open then on the thread of the parts. Of several
 * processes that holds for the first one with parts. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "analysis/model/recomputation.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>

enum { PARTS_MOST = 64 };

struct state {
	struct vpa_index index; /* by name */
	struct vpa_iteration_part *parts;
	size_t part_cap;
	uint8_t *runs_gradients; /* by thread: something that it launched was one */
	size_t thread_cap;
	uint32_t thread; /* of the parts: the first one with a range in an iteration */
	int has_thread;
	uint64_t *worked_until_ns; /* by device */
	size_t device_cap;
};

/* Where launches of a thread are. */
struct place {
	uint32_t name; /* of the outermost range that the program marked on the thread; 0: none */
	int in_gradients;
};

static struct place place_at(
	const struct vpa_model *m, const struct vpa_range *range, uint64_t at_ns)
{
	struct place place = {0};

	range = vpa_range_open_at((struct vpa_range *)range, at_ns);
	for (; range; range = vpa_range_around(range, at_ns))
		if (vpa_range_is_operator(range))
			place.in_gradients |= vpa_is_of_gradients(vpa_name(m, range->name));
		else if (range->level == VPA_LEVEL_ANNOTATION &&
			 vpa_pipeline_kind(range) != VPA_SCOPE_ITERATION)
			place.name = range->name;
	return place;
}

/* Whether the profiler's iteration is open, which is one of the process. */
static int is_in_iteration(const struct vpa_range *wide, uint64_t at_ns)
{
	wide = vpa_range_open_at((struct vpa_range *)wide, at_ns);
	while (wide && wide->level != VPA_LEVEL_ITERATION)
		wide = vpa_range_around(wide, at_ns);
	return wide != NULL;
}

/* The part that a stretch launches for. */
struct owner {
	uint32_t name;       /* 0: none */
	int is_in_iteration; /* else it is nobody's */
	int may_change;      /* within the stretch: another thread's ranges decide */
};

/* Whether the thread launches for the thread of the parts. */
static int is_helper(const struct state *s, const struct vpa_model *m, uint32_t thread)
{
	return s->has_thread && thread != s->thread && s->runs_gradients[thread] &&
	       m->threads[thread].process == m->threads[s->thread].process;
}

static int find_owner(struct state *s, const struct vpa_fold_context *c,
	const struct vpa_op_stretch *stretch, uint64_t at_ns, struct owner *out)
{
	uint32_t thread = stretch->thread;
	const struct vpa_range *own, *wide;
	struct place place;

	*out = (struct owner){0};
	if (thread == VPA_NONE || !is_in_iteration(stretch->process_range, at_ns))
		return VPT_OK;
	if (vpt_grow_zeroed(&s->runs_gradients, &s->thread_cap, (size_t)thread + 1, 1))
		return VPT_ENOMEM;
	place = place_at(c->model, stretch->range, at_ns);
	s->runs_gradients[thread] |= (uint8_t)place.in_gradients;
	out->is_in_iteration = 1;
	out->may_change = is_helper(s, c->model, thread);
	if (out->may_change) {
		vpa_resolver_ranges_at(c->resolver, s->thread, at_ns, &own, &wide);
		place = place_at(c->model, own, at_ns);
	} else if (place.name && !s->has_thread) {
		s->thread = thread;
		s->has_thread = 1;
	}
	out->name = place.name;
	return VPT_OK;
}

/* What of the op no op of an iteration before it on its device covers. */
static int own_ns(struct state *s, const struct vpa_ops *ops, size_t i, uint64_t *ns)
{
	uint64_t *until;

	if (vpt_grow_zeroed(&s->worked_until_ns, &s->device_cap, (size_t)ops->device[i] + 1,
		    sizeof(*s->worked_until_ns)))
		return VPT_ENOMEM;
	until = &s->worked_until_ns[ops->device[i]];
	*ns = vpt_sat_sub(ops->end_ns[i], ops->start_ns[i] > *until ? ops->start_ns[i] : *until);
	*until = ops->end_ns[i] > *until ? ops->end_ns[i] : *until;
	return VPT_OK;
}

static int add_op(struct state *s, uint32_t name, uint64_t start_ns, uint64_t ns)
{
	size_t before = s->index.count;
	uint32_t row;

	if (!name || !vpa_index_has_room(&s->index, PARTS_MOST, name, 0))
		return VPT_OK;
	row = vpa_index_row(&s->index, name, 0, &s->parts, &s->part_cap, sizeof(*s->parts));
	if (row == VPA_NONE)
		return VPT_ENOMEM;
	if (s->index.count > before)
		s->parts[row] = (struct vpa_iteration_part){.first_ns = start_ns};
	vpt_sat_add_to(&s->parts[row].work_ns, ns);
	return VPT_OK;
}

/* The ops of a stretch, *i and behind it, which moves to its end. */
static int fold_stretch(struct state *s, const struct vpa_fold_context *c,
	const struct vpa_ops *ops, const struct vpa_op_stretch *stretch, size_t *i)
{
	struct owner owner = {.may_change = 1};
	size_t first = *i;
	uint64_t ns;

	for (; *i < stretch->end; ++*i) {
		if ((*i == first || owner.may_change) &&
			find_owner(s, c, stretch, ops->launch_start_ns[*i], &owner))
			return VPT_ENOMEM;
		if (owner.is_in_iteration &&
			(own_ns(s, ops, *i, &ns) || add_op(s, owner.name, ops->start_ns[*i], ns)))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	size_t i = 0, k;
	int rc = VPT_OK;

	for (k = 0; k < ops->stretch_count && !rc; k++)
		if (ops->stretches[k].process_range)
			rc = fold_stretch(state, c, ops, &ops->stretches[k], &i);
		else
			i = ops->stretches[k].end; /* no iteration is open */
	return rc;
}

/* ---- writing down ---- */

static int by_first(const void *pa, const void *pb)
{
	const struct vpa_iteration_part *a = pa, *b = pb;

	return (a->first_ns > b->first_ns) - (a->first_ns < b->first_ns);
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	const struct state *s = state;
	struct vpa_said *said = &out->said;
	size_t i;

	said->iteration_parts =
		vpa_arena_alloc(&out->arena, s->index.count + 1, sizeof(*said->iteration_parts));
	if (!said->iteration_parts)
		return VPT_ENOMEM;
	for (i = 0; i < s->index.count; i++) {
		said->iteration_parts[i] = s->parts[i];
		said->iteration_parts[i].name =
			vpa_fold_name(out, c->model, (uint32_t)s->index.entries[i].a);
	}
	said->iteration_part_count = s->index.count;
	qsort(said->iteration_parts, s->index.count, sizeof(*said->iteration_parts), by_first);
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->index);
	vpt_free(s->parts);
	vpt_free(s->runs_gradients);
	vpt_free(s->worked_until_ns);
}

const struct vpa_fold vpa_fold_iteration_parts = {
	.name = "iteration-parts",
	.help = "the ranges that iterations are made of",
	.state_bytes = sizeof(struct state),
	.ops = fold_ops,
	.finish = finish,
	.free = free_state,
};
