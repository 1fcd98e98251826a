/* unmarked_steps_table.c - denoising steps where nothing marks any, from the sequence of ops of each device's busiest
 * stream. See analysis/steps/loop.h for how, and for when nothing is claimed.
 *
 * Retains a few numbers of each op, 48 bytes, until a scope turns up: a trace with a request, block, step or
 * stage has its own steps, or has them elsewhere, and is left alone. Only an iteration of a profiler or of
 * training says nothing about steps. What lies beyond the limit of ops is left out and counted. */
#include "analysis/folds/fold.h"

#include "analysis/base/durations.h"
#include "analysis/base/intervals.h"
#include "analysis/steps/loop.h"
#include "analysis/steps/loop_rounds.h"
#include "analysis/steps/step_kinds.h"
#include "formats/base/hash.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/search.h"

enum {
	DEVICES = 16, /* further ones are left out */
	OTHERS = 3    /* steps that the first one is compared with */
};

struct kept {
	uint64_t launch_ns; /* its start, if its launch is not known */
	uint64_t start_ns;
	uint64_t idle_ns; /* of its device, up to its start */
	uint64_t duration_ns;
	uint32_t name;   /* of a kernel, kind of a copy: equal ops have equal ones */
	uint32_t blocks; /* of a kernel */
	/* kind: enum vpa_loop_kind; is_compute: a kernel that does not communicate */
	uint32_t stream : 24;
	unsigned kind : 7, is_compute : 1;
};

/* From the first op that was launched in a marked iteration on. */
struct turn {
	size_t op;         /* its place in state.ops */
	uint64_t start_ns; /* of the iteration, on the host */
};

struct state {
	int is_marked;
	struct turn *turns;
	size_t turn_count, turn_cap;
	struct kept *ops;
	size_t count, cap;
	uint64_t left_out;
};

static void free_state(void *state)
{
	struct state *s = state;

	vpt_free(s->ops);
	vpt_free(s->turns);
	s->ops = NULL;
	s->turns = NULL;
	s->count = s->cap = s->turn_count = s->turn_cap = 0;
}

static int is_mark(enum vpa_scope_kind kind)
{
	return kind != VPA_SCOPE_NONE && kind != VPA_SCOPE_ITERATION;
}

static void see_mark(struct state *s)
{
	s->is_marked = 1;
	free_state(s);
}

/* ---- during the pass ---- */

/* What equal ops have in common. */
static uint32_t name_of(const struct vpa_ops *ops, size_t i)
{
	uint64_t what = ops->kernel[i];

	if (ops->kind[i] != VPA_KERNEL)
		what = (uint64_t)ops->kind[i] << 60 | (uint64_t)ops->copy[i].kind << 16 |
		       (uint64_t)ops->copy[i].source_memory << 8 | ops->copy[i].target_memory;
	return (uint32_t)vpt_mix(what);
}

static enum vpa_loop_kind kind_of(const struct vpa_ops *ops, size_t i)
{
	if (ops->kind[i] == VPA_KERNEL)
		return ops->role[i] == VPA_ROLE_FUSED || ops->role[i] == VPA_ROLE_SOFTMAX
			       ? VPA_LOOP_ATTENTION
			       : VPA_LOOP_OTHER;
	return ops->kind[i] == VPA_MEMCPY && ops->copy[i].kind == VPT_COPYKIND_DTOH &&
			       ops->copy[i].bytes <= VPA_SMALL_BYTES
		       ? VPA_LOOP_READ
		       : VPA_LOOP_OTHER;
}

static int has_mark(const struct vpa_fold_context *c)
{
	const struct vpa_pipeline *p = c->pipeline;
	size_t i, k;

	for (i = 0; i < p->position_count; i++)
		for (k = 0; k < p->positions[i].count; k++)
			if (is_mark(p->scopes[p->positions[i].scopes[k]].label.kind))
				return 1;
	return 0;
}

/* Notes where iterations begin among the batch's first `count` ops. Ops of other threads, as those of a
 * backward pass, belong to the one that has begun. */
static int note_turns(struct state *s, const struct vpa_pipeline *p, size_t count)
{
	size_t begin = 0, i;

	for (i = 0; i < p->position_count && begin < count; begin = p->positions[i++].end) {
		uint32_t scope = p->positions[i].around.iteration;
		uint64_t start_ns = scope == VPA_NONE ? 0 : p->scopes[scope].start_ns;

		if (!start_ns ||
			(s->turn_count && start_ns <= s->turns[s->turn_count - 1].start_ns))
			continue;
		if (vpt_grow(&s->turns, &s->turn_cap, s->turn_count + 1, sizeof(*s->turns)))
			return VPT_ENOMEM;
		s->turns[s->turn_count++] = (struct turn){s->count + begin, start_ns};
	}
	return VPT_OK;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t count = ops->count, i;

	if (!s->is_marked && has_mark(c))
		see_mark(s);
	if (s->is_marked)
		return VPT_OK;
	if (count > VPA_LOOP_OPS_MAX - s->count)
		count = VPA_LOOP_OPS_MAX - s->count;
	s->left_out += ops->count - count;
	if (note_turns(s, c->pipeline, count) ||
		vpt_grow(&s->ops, &s->cap, s->count + count, sizeof(*s->ops)))
		return VPT_ENOMEM;
	for (i = 0; i < count; i++)
		s->ops[s->count++] = (struct kept){
			vpa_earlier(ops->launch_start_ns[i], ops->start_ns[i]), ops->start_ns[i],
			ops->idle_ns[i], ops->end_ns[i] - ops->start_ns[i], name_of(ops, i),
			ops->kind[i] == VPA_KERNEL ? (uint32_t)ops->blocks[i] : 0,
			ops->stream[i] & 0xffffff, (unsigned)kind_of(ops, i) & 127,
			ops->kind[i] == VPA_KERNEL && ops->family[i] != VPA_FAMILY_COMM};
	return VPT_OK;
}

/* Scopes that launched nothing are marks too. */
static int fold_range(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct vpa_scope_label label;
	struct state *s = state;

	if (s->is_marked)
		return VPT_END;
	if (vpa_pipeline_label(c->pipeline, range, &label))
		return VPT_ENOMEM;
	if (is_mark(label.kind))
		see_mark(s);
	return VPT_OK;
}

static int fold_mark(void *state, const struct vpa_fold_context *c, const struct vpa_mark *mark)
{
	struct vpt_text text = vpa_name(c->model, mark->payload);
	struct vpa_scope_label label;

	if (!vpa_scope_read(text.text, text.len, &label) && is_mark(label.kind))
		see_mark(state);
	return VPT_OK;
}

/* ---- at the end ---- */

/* The stream of a device whose kernels take most time, all added up, without those that communicate: their stream
 * repeats too, but not the model. VPA_NONE: none has any. */
static int busiest_stream(
	const struct state *s, const struct vpa_model *m, uint32_t device, uint32_t *out)
{
	uint64_t *sums = vpt_calloc(m->stream_count + 1, sizeof(*sums));
	uint32_t stream;
	size_t i;

	*out = VPA_NONE;
	if (!sums)
		return VPT_ENOMEM;
	for (i = 0; i < s->count; i++)
		if (s->ops[i].is_compute)
			sums[s->ops[i].stream] += s->ops[i].duration_ns;
	for (stream = 0; stream < m->stream_count; stream++)
		if (m->streams[stream].device == device && sums[stream] &&
			(*out == VPA_NONE || sums[stream] > sums[*out]))
			*out = stream;
	vpt_free(sums);
	return VPT_OK;
}

/* The ops of one stream. */
struct lane {
	uint32_t *symbols, *duration_ns, *at; /* at: their place in state.ops */
	uint8_t *kinds;
	size_t count;
};

static void free_lane(struct lane *l)
{
	vpt_free(l->symbols);
	vpt_free(l->duration_ns);
	vpt_free(l->at);
	vpt_free(l->kinds);
}

/* Only shares of the time follow from it. */
static uint32_t saturate(uint64_t ns)
{
	return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static int make_lane(const struct state *s, uint32_t stream, struct lane *l)
{
	size_t i;

	l->symbols = vpt_alloc(s->count, sizeof(*l->symbols));
	l->duration_ns = vpt_alloc(s->count, sizeof(*l->duration_ns));
	l->at = vpt_alloc(s->count, sizeof(*l->at));
	l->kinds = vpt_alloc(s->count, sizeof(*l->kinds));
	if (!l->symbols || !l->duration_ns || !l->at || !l->kinds)
		return VPT_ENOMEM;
	for (i = 0; i < s->count; i++) {
		if (s->ops[i].stream != stream)
			continue;
		l->kinds[l->count] = (uint8_t)s->ops[i].kind;
		l->duration_ns[l->count] = saturate(s->ops[i].duration_ns);
		l->at[l->count++] = (uint32_t)i;
	}
	return VPT_OK;
}

/* Busy time of a device, in order of time. */
struct busy {
	const struct state *state;
	const struct vpa_model *model;
	uint32_t device;
	size_t next;
	uint64_t until_ns; /* it is busy until then, by the ops so far */
};

/* How long the device is busy in [from_ns, to_ns), which does not begin before the last one ended. */
static uint64_t busy_in(struct busy *b, uint64_t from_ns, uint64_t to_ns)
{
	const struct state *s = b->state;
	uint64_t busy_ns = 0, at_ns = from_ns;

	for (;; b->next++) {
		const struct kept *op = b->next < s->count ? &s->ops[b->next] : NULL;
		uint64_t start_ns = op && op->start_ns < to_ns ? op->start_ns : to_ns, end_ns;

		if (op && b->model->streams[op->stream].device != b->device)
			continue;
		/* What the ops before this one cover up to its start. */
		end_ns = b->until_ns < start_ns ? b->until_ns : start_ns;
		if (end_ns > at_ns)
			busy_ns += end_ns - at_ns;
		at_ns = start_ns > at_ns ? start_ns : at_ns;
		if (!op || op->start_ns >= to_ns)
			return busy_ns;
		if (op->start_ns + op->duration_ns > b->until_ns)
			b->until_ns = op->start_ns + op->duration_ns;
	}
}

static void write_step(const struct state *s, const struct lane *l,
	const struct vpa_loop_step *step, struct busy *busy, struct vpa_inferred_step *out)
{
	const struct kept *first = &s->ops[l->at[step->begin]];
	const struct kept *last = &s->ops[l->at[step->end - 1]], *next = last;
	uint64_t until_ns;

	out->start_ns = first->start_ns;
	out->end_ns = until_ns = last->start_ns + last->duration_ns;
	if (step->followed) {
		next = &s->ops[l->at[step->next]];
		until_ns = next->start_ns;
	}
	out->followed = step->followed;
	out->period_ns = until_ns > out->start_ns ? until_ns - out->start_ns : 0;
	out->idle_ns = next->idle_ns - first->idle_ns;
	out->busy_ns = busy_in(busy, out->start_ns, until_ns);
}

/* Of steps, or of rounds. NULL: no memory. */
static struct vpa_inferred_step *write_turns(const struct state *s,
	const struct vpa_fold_context *c, const struct lane *l, const struct vpa_loop *loop,
	struct vpa_report *out, int64_t device)
{
	struct busy busy = {s, c->model, vpa_find_device(c->model, device), 0, 0};
	struct vpa_inferred_step *turns =
		vpa_arena_alloc(&out->arena, loop->step_count, sizeof(*turns));
	size_t i;

	for (i = 0; i < loop->step_count && turns; i++)
		write_step(s, l, &loop->steps[i], &busy, &turns[i]);
	return turns;
}

static int write_steps(const struct state *s, const struct vpa_fold_context *c,
	const struct lane *l, const struct vpa_loop *loop, struct vpa_report *out,
	struct vpa_inferred *row)
{
	struct vpa_durations_builder periods = {0};
	size_t i;
	int rc = VPT_OK;

	row->steps = write_turns(s, c, l, loop, out, row->device);
	if (!row->steps)
		return VPT_ENOMEM;
	for (i = 0; i < loop->step_count && !rc; i++) {
		const struct vpa_inferred_step *step = &row->steps[row->step_count++];

		row->busy_ns += step->busy_ns;
		row->idle_ns += step->idle_ns;
		row->ops += loop->steps[i].end - loop->steps[i].begin;
		rc = vpa_durations_add(&periods, step->period_ns);
	}
	if (!rc)
		row->period = vpa_durations_of(&periods);
	vpa_durations_free(&periods);
	return rc;
}

/* The ops of a step on its stream, as step_kinds.h wants them. */
static int gather_ops(const struct state *s, const struct lane *l, const struct vpa_loop_step *step,
	struct vpa_step_ops *out)
{
	size_t count = step->end - step->begin, i;
	const struct kept *last = &s->ops[l->at[step->end - 1]];

	vpa_step_ops_reset(out);
	if (vpa_step_ops_reserve(out, count))
		return VPT_ENOMEM;
	out->ops = count;
	out->kept = count < VPA_STEP_OPS_MAX ? count : VPA_STEP_OPS_MAX;
	for (i = 0; i < out->kept; i++) {
		out->symbols[i] = l->symbols[step->begin + i];
		out->starts_ns[i] = s->ops[l->at[step->begin + i]].start_ns;
	}
	out->first_ns = out->starts_ns[0];
	out->last_ns = last->start_ns + last->duration_ns;
	return VPT_OK;
}

static int write_kinds(const struct state *s, const struct vpa_fold_context *c,
	const struct lane *l, const struct vpa_loop *loop, struct vpa_report *out)
{
	struct vpa_step_groups groups = {.rows = NULL};
	struct vpa_step_ops ops = {.symbols = NULL};
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < loop->step_count && !rc; i++) {
		rc = gather_ops(s, l, &loop->steps[i], &ops);
		if (!rc)
			rc = vpa_step_groups_add(&groups, &ops);
	}
	if (!rc)
		rc = vpa_step_groups_write(
			&groups, VPA_STEPS_INFERRED, c->top, &out->arena, &out->expert.step_kinds);
	vpa_step_ops_free(&ops);
	vpa_step_groups_free(&groups);
	return rc;
}

/* The first step sets up what the others reuse, or what comes before its ops was not recorded, if its period differs from those
 * of all others by more than these do from each other, and by a twentieth. */
static void leave_first(struct vpa_inferred_step *steps, size_t count, uint64_t *left_first_ns)
{
	uint64_t least_ns = UINT64_MAX, most_ns = 0, beyond_ns;
	size_t i, others = 0;

	for (i = 1; i < count; i++) {
		if (!steps[i].followed)
			continue;
		least_ns = vpa_earlier(steps[i].period_ns, least_ns);
		most_ns = vpa_later(steps[i].period_ns, most_ns);
		others++;
	}
	if (others < OTHERS || !steps[0].followed)
		return;
	beyond_ns = vpt_sat_sub(steps[0].period_ns, most_ns) +
		    vpt_sat_sub(least_ns, steps[0].period_ns);
	if (beyond_ns <= most_ns - least_ns || beyond_ns <= least_ns / 20)
		return;
	*left_first_ns = steps[0].period_ns;
	steps[0].followed = 0;
}

/* Nothing shows the period of a step that no pass follows directly. */
static void write_rate(struct vpa_inferred *row)
{
	uint64_t ns = 0, periods = 0;
	size_t i;

	for (i = 0; i < row->step_count; i++) {
		if (!row->steps[i].followed)
			continue;
		ns += row->steps[i].period_ns;
		periods++;
	}
	if (!periods) {
		ns = row->period.total_ns;
		periods = row->period.count;
	}
	row->s_per_it = ns ? (double)ns / 1e9 / (double)periods : -1;
	row->steps_per_s = ns ? (double)periods * 1e9 / (double)ns : -1;
}

/* Leaves out steps that were launched around a pause of the recording, of which ops may be missing; what was
 * launched after a pause does not follow what was launched before. */
static void leave_out_paused(const struct state *s, const struct vpa_fold_context *c,
	const struct lane *l, struct vpa_loop *loop)
{
	const struct vpa_intervals *paused = &c->resolver->paused;
	size_t kept = 0, i;

	for (i = 0; i < loop->step_count; i++) {
		struct vpa_loop_step *step = &loop->steps[i];
		uint64_t first_ns = s->ops[l->at[step->begin]].launch_ns;
		uint64_t last_ns = s->ops[l->at[step->end - 1]].launch_ns;

		if (vpa_intervals_between(paused, first_ns, last_ns)) {
			loop->cut++;
			continue;
		}
		step->followed = step->followed && !vpa_intervals_between(paused, last_ns,
							   s->ops[l->at[step->next]].launch_ns);
		loop->steps[kept++] = *step;
	}
	loop->step_count = kept;
}

/* ---- rows of steps, and rounds ---- */

static int has_periods(const struct vpa_loop *rounds)
{
	size_t i;

	for (i = 0; i < rounds->step_count && !rounds->steps[i].followed; i++)
		;
	return i < rounds->step_count;
}

static int write_rounds(const struct state *s, const struct vpa_fold_context *c,
	const struct lane *l, const struct vpa_loop *rounds, struct vpa_report *out,
	struct vpa_inferred *row)
{
	if (!has_periods(rounds))
		return VPT_OK;
	row->round_count = rounds->step_count;
	row->rounds = write_turns(s, c, l, rounds, out, row->device);
	if (!row->rounds)
		return VPT_ENOMEM;
	leave_first(row->rounds, row->round_count, &row->round_left_first_ns);
	return VPT_OK;
}

/* Rows, and the rounds that they make. */
static int write_rows(const struct state *s, const struct vpa_fold_context *c, const struct lane *l,
	const struct vpa_loop *loop, struct vpa_report *out, struct vpa_inferred *row)
{
	struct vpa_loop rounds = {0};
	struct vpa_loop_rows rows = {0};
	int rc = vpa_loop_rows_find(loop, &rows);

	if (!rc && vpa_loop_rows_are_whole(&rows)) {
		row->rows = (unsigned)rows.count;
		row->row_steps = rows.steps;
	}
	if (!rc)
		rc = vpa_loop_rounds_find(loop, &rows, &rounds);
	leave_out_paused(s, c, l, &rounds);
	if (!rc)
		rc = write_rounds(s, c, l, &rounds, out, row);
	if (row->round_count) {
		row->round_steps = rows.steps * rows.in_round;
		row->round_step_ns = row->period.p50_ns;
	}
	vpa_loop_rows_free(&rows);
	vpa_loop_free(&rounds);
	return rc;
}

static int write_row(const struct state *s, const struct vpa_fold_context *c, uint32_t stream,
	const struct lane *l, const struct vpa_loop *loop, struct vpa_report *out)
{
	const struct vpa_stream *at = &c->model->streams[stream];
	struct vpa_inferred *row = &out->inferred[out->inferred_count];
	int rc;

	*row = (struct vpa_inferred){.device = c->model->devices[at->device],
		.stream = at->stream,
		.explained = loop->explained,
		.confidence = loop->confidence,
		.passes_per_step = loop->passes_per_step,
		.layers = loop->layers,
		.context_passes = loop->context_passes,
		.cut = loop->cut,
		.ops_left_out = s->left_out};
	if (loop->round_steps) {
		row->s_per_it = row->steps_per_s = -1;
		row->round_steps = loop->round_steps;
		row->round_step_ns = loop->round_step_ns;
		if (has_periods(loop))
			out->inferred_count++;
		return write_rounds(s, c, l, loop, out, row);
	}
	rc = write_steps(s, c, l, loop, out, row);
	if (!rc)
		rc = write_rows(s, c, l, loop, out, row);
	if (rc)
		return rc;
	leave_first(row->steps, row->step_count, &row->left_first_ns);
	write_rate(row);
	/* One GPU stands for all: they run the same model. */
	return out->inferred_count++ ? VPT_OK : write_kinds(s, c, l, loop, out);
}

/* The number of turns that have begun by op `at`. */
static size_t turn_of(const struct state *s, size_t at)
{
	size_t low = 0, high = s->turn_count;

	VPT_SEARCH(low, high, middle, s->turns[middle].op <= at);
	return low;
}

/* Whether the steps fit the marked iterations: each is in one of them, and each has as many. The first and the
 * last one may be cut, and have fewer. */
static int agrees_with_turns(
	const struct state *s, const struct lane *l, const struct vpa_loop *loop)
{
	size_t first = 0, turn = 0, in_turn = 0, in_first = 0, usual = 0, i;

	for (i = 0; i < loop->step_count && s->turn_count > 1; i++) {
		size_t at = turn_of(s, l->at[loop->steps[i].begin]);

		if (turn_of(s, l->at[loop->steps[i].end - 1]) != at || (i && at > turn + 1))
			return 0;
		if (!i)
			first = turn = at;
		if (at > turn) {
			if (turn > first && usual && in_turn != usual)
				return 0;
			*(turn > first ? &usual : &in_first) = in_turn;
			turn = at;
			in_turn = 0;
		}
		in_turn++;
	}
	return !usual || (in_first <= usual && in_turn <= usual);
}

static int write_rivals(const struct vpa_loop *loop, struct vpa_report *out)
{
	size_t i;

	out->step_rivals = vpa_arena_alloc(&out->arena, 2, sizeof(*out->step_rivals));
	if (!out->step_rivals)
		return VPT_ENOMEM;
	for (i = 0; i < 2; i++)
		out->step_rivals[out->step_rival_count++] =
			(struct vpa_step_rival){loop->rivals[i].count, loop->rivals[i].median_ns};
	return VPT_OK;
}

/* Finds the loop of ops that are equal in name and size; if there is none, in name: sizes may depend on a prompt. */
static int find_loop(const struct state *s, struct lane *l, struct vpa_loop *loop)
{
	struct vpa_loop_ops ops = {l->symbols, l->duration_ns, l->kinds, l->count};
	size_t i;
	int rc;

	for (i = 0; i < l->count; i++)
		l->symbols[i] = (uint32_t)vpt_mix(
			(uint64_t)s->ops[l->at[i]].name << 32 | s->ops[l->at[i]].blocks);
	rc = vpa_loop_find(&ops, loop);
	if (rc || loop->step_count || loop->rivals[0].count)
		return rc;
	vpa_loop_free(loop);
	for (i = 0; i < l->count; i++)
		l->symbols[i] = s->ops[l->at[i]].name;
	return vpa_loop_find(&ops, loop);
}

static int infer(const struct state *s, const struct vpa_fold_context *c, uint32_t device,
	struct vpa_report *out)
{
	struct lane l = {0};
	struct vpa_loop loop = {0};
	uint32_t stream;
	int rc = busiest_stream(s, c->model, device, &stream);

	if (rc || stream == VPA_NONE)
		return rc;
	rc = make_lane(s, stream, &l);
	if (!rc)
		rc = find_loop(s, &l, &loop);
	if (!rc)
		leave_out_paused(s, c, &l, &loop);
	if (!rc && loop.rivals[0].count && !out->step_rival_count && s->turn_count < 2)
		rc = write_rivals(&loop, out);
	if (!rc && loop.step_count && agrees_with_turns(s, &l, &loop))
		rc = write_row(s, c, stream, &l, &loop, out);
	vpa_loop_free(&loop);
	free_lane(&l);
	return rc;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	uint32_t device;
	int rc = VPT_OK;

	if (s->is_marked || !s->count)
		return VPT_OK;
	out->inferred = vpa_arena_alloc(&out->arena, DEVICES, sizeof(*out->inferred));
	if (!out->inferred)
		return VPT_ENOMEM;
	for (device = 0; device < c->model->device_count && device < DEVICES && !rc; device++)
		rc = infer(s, c, device, out);
	return rc;
}

const struct vpa_fold vpa_fold_steps = {
	.name = "steps",
	.help = "denoising steps where nothing marks any, inferred from the kernel sequence",
	.state_bytes = sizeof(struct state),
	.ops = fold_ops,
	.range = fold_range,
	.mark = fold_mark,
	.finish = finish,
	.free = free_state,
};
