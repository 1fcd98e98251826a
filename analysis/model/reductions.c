/* reductions.c - finds the passes of each optimizer step, by what each thread launched in which order. */
#include "analysis/model/reductions.h"

/* A number for a kind. Those of a pass are added: streams may run its all-reduces in another order. */
static uint64_t number_of(uint64_t kind)
{
	kind = (kind ^ kind >> 31) * 0x9e3779b97f4a7c15ull;
	kind = (kind ^ kind >> 29) * 0xbf58476d1ce4e5b9ull;
	return kind ^ kind >> 32;
}

static void end_pass(struct vpa_training *t)
{
	if (!t->is_in_pass)
		return;
	if (!t->in_step++)
		t->first_pass = t->pass;
	else if (t->pass != t->first_pass)
		t->differs = 1;
	t->pass = 0;
	t->is_in_pass = 0;
}

/* An optimizer step has many kernels, of which the first ends its passes. */
static void end_step(struct vpa_training *t, uint32_t thread)
{
	if (!t->has_optimizer)
		t->thread = thread;
	t->has_optimizer = 1;
	end_pass(t);
	if (!t->in_step)
		return;
	if (t->passes && t->passes != t->in_step)
		t->differs = 1;
	t->passes = t->in_step;
	t->in_step = 0;
}

static int is_of_optimizer(const struct vpa_training *t, uint64_t kind)
{
	size_t i;

	for (i = 0; i < t->kind_count; i++)
		if (t->kinds[i] == kind)
			return 1;
	return 0;
}

static void add_kind(struct vpa_training *t, uint64_t kind)
{
	if (is_of_optimizer(t, kind))
		return;
	if (t->kind_count == VPA_TRAINING_KINDS)
		t->differs = 1;
	else
		t->kinds[t->kind_count++] = kind;
}

int vpa_training_take(struct vpa_training *t, const struct vpa_training_op *op)
{
	int is_own;

	if (op->part == VPA_TRAINING_OPTIMIZER)
		end_step(t, op->thread);
	if (op->part == VPA_TRAINING_SCATTER)
		t->differs = 1;
	is_own = op->thread == t->thread;
	if (!t->has_optimizer || (op->part != VPA_TRAINING_ALL_REDUCE && !is_own))
		return 0;
	if (op->part == VPA_TRAINING_ALL_REDUCE && !is_own) {
		t->differs |= (uint8_t)is_of_optimizer(t, op->kind);
		t->pass += number_of(op->kind);
		t->is_in_pass = 1;
		return 1;
	}
	if (op->part == VPA_TRAINING_ALL_REDUCE)
		add_kind(t, op->kind);
	else if (op->part == VPA_TRAINING_WORK)
		end_pass(t);
	return 0;
}

struct vpa_reducing vpa_training_says(const struct vpa_training *gpus, size_t count)
{
	struct vpa_reducing all = {0};
	int differs = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct vpa_training *t = &gpus[i];

		differs |= t->differs;
		if (!t->passes) {
			all.by_optimizer |= t->kind_count && !t->in_step && !t->is_in_pass;
			continue;
		}
		differs |= all.passes && all.passes != t->passes;
		all.passes = t->passes;
	}
	all.by_optimizer = all.by_optimizer && !differs && !all.passes;
	if (differs || all.passes == 1)
		all.passes = 0;
	return all;
}
