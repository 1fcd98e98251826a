/* trials.c - kernels that a library tries for a product, one after another, before it keeps one: cuDNN's benchmark for each new shape of a
 * convolution, and tuners of matrix products.
 *
 * A trial is what a thread launches on a stream between two waits for events: the kernel of a product, once or again, as a library
 * warms it up and times several runs. Each trial begins when the one before has ended. Four different kernels or more, on average run
 * four times at most, of which the last was among those before, are trials but for the last: the thread goes on without a wait for that
 * one, which is kept. All are launched in one operator, and other kernels of it belong to the trials; where no operator is known, nothing
 * but copies and memsets may lie between them. A program that waits for each of its layers, or times products, waits for the last too. */
#include "analysis/folds/fold.h"

#include "analysis/folds/gaps/gap_parts.h"
#include "analysis/join/resolver.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/vectorise.h"
#include "formats/chunk/strings.h"

#include <string.h>

enum {
	LEAST = 4, /* different kernels */
	NAMES_MOST = 32,
	SPANS_MOST = 4096,
	TIMES_MOST = 4, /* that each kernel is tried, on average */
	CALLS_MOST = 64 /* between two launches: the wait is one of them, and near the second */
};

/* What may be trials, on a stream. */
struct series {
	uint64_t start_ns;
	uint64_t last_start_ns; /* of the last trial; the rest is of its last kernel */
	uint64_t last_end_ns, last_launch_ns;
	uint64_t kernel_ns, last_ns; /* of all trials but the last, and of that */
	uint64_t operator_ns;        /* when the operator began */
	const struct vpa_range *around;
	uint32_t thread, place, name_count;
	uint32_t kernels, last_kernels; /* as their times */
	uint32_t kernel;                /* of the last trial */
	uint32_t names[NAMES_MOST];
	uint8_t is_open, is_conv, is_again; /* again: the last kernel was among those before */
	uint8_t has_around;                 /* the second launch has told the operator */
	uint64_t cause_ns[VPA_CAUSES];
};

/* A part of a gap of the batch that begins in a wait for an event. */
struct piece {
	uint64_t gap_end_ns, ns;
	uint32_t device;
	uint8_t cause;
};

struct state {
	uint64_t waits[2]; /* ids of the calls' names; VPT_NO_ID: the trace has none so far */
	size_t names_seen;
	struct series *streams;
	size_t stream_cap, open;
	uint8_t *may_begin; /* a series, by op of the batch */
	size_t may_cap;
	struct piece *pieces;
	size_t piece_count, piece_cap;
	struct vpa_trials sum;
	struct vpa_trial_span *spans;
	uint32_t *places; /* of the spans */
	size_t span_cap, place_cap;
};

/* Looks for the names of the waits, if there are new names. Returns 0 if the trace has none so far. */
static int know_waits(struct state *s, const struct vpt_strings *names)
{
	static const char *const calls[] = {"cudaEventSynchronize", "cuEventSynchronize"};
	size_t i;

	for (i = 0; i < COUNT(calls) && s->names_seen < names->count; i++)
		s->waits[i] = vpt_strings_find(names, calls[i], strlen(calls[i]));
	s->names_seen = names->count;
	return s->names_seen && (s->waits[0] != VPT_NO_ID || s->waits[1] != VPT_NO_ID);
}

static inline int is_wait(const struct state *s, uint32_t name)
{
	return name == s->waits[0] || name == s->waits[1];
}

/* ---- gaps: they come before the ops of their batch ---- */

static int fold_gap(void *state, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	struct state *s = state;
	size_t i;

	if (!gap->piece_count || gap->pieces[0].cause != VPA_CAUSE_SYNC)
		return VPT_OK;
	if (!know_waits(s, &c->model->names) || !is_wait(s, gap->pieces[0].call))
		return VPT_OK;
	if (vpt_grow(&s->pieces, &s->piece_cap, s->piece_count + gap->piece_count,
		    sizeof(*s->pieces)))
		return VPT_ENOMEM;
	for (i = 0; i < gap->piece_count; i++)
		s->pieces[s->piece_count++] =
			(struct piece){gap->end_ns, gap->pieces[i].end_ns - gap->pieces[i].start_ns,
				gap->device, gap->pieces[i].cause};
	return VPT_OK;
}

static void add_gap(const struct state *s, struct series *t, const struct vpa_ops *ops, size_t i)
{
	size_t k;

	for (k = 0; k < s->piece_count; k++)
		if (s->pieces[k].gap_end_ns == ops->start_ns[i] &&
			s->pieces[k].device == ops->device[i])
			vpt_sat_add_to(&t->cause_ns[s->pieces[k].cause], s->pieces[k].ns);
}

/* ---- series ---- */

static int is_product(const struct vpa_ops *ops, size_t i)
{
	return ops->family[i] == VPA_FAMILY_CONV || ops->family[i] == VPA_FAMILY_GEMM;
}

static const struct vpa_range *operator_at(struct vpa_range *range, uint64_t at_ns)
{
	range = vpa_range_open_at(range, at_ns);
	while (range && !vpa_range_is_operator(range))
		range = vpa_range_around(range, at_ns);
	return range;
}

/* Whether a thread has waited for an event between a launch at `before_ns` and its call `at`. */
static int has_waited(
	const struct state *s, const struct vpa_calls *calls, uint64_t at, uint64_t before_ns)
{
	uint64_t steps;

	for (steps = 0; steps < CALLS_MOST && at > calls->begin; steps++) {
		const struct vpa_call *call = vpa_calls_at(calls, --at);

		if (vpa_call_start(call) <= before_ns)
			break;
		if (is_wait(s, call->name))
			return 1;
	}
	return 0;
}

static void add_name(struct series *t, uint32_t kernel)
{
	uint32_t i;

	t->kernel = kernel;
	for (i = 0; i < t->name_count && t->names[i] != kernel; i++)
		;
	t->is_again = i < t->name_count;
	if (i == t->name_count && i < NAMES_MOST)
		t->names[t->name_count++] = kernel;
}

static void begin_series(struct state *s, struct series *t, const struct vpa_ops *ops, size_t i,
	const struct vpa_op_stretch *stretch)
{
	t->is_open = ops->launch[i] != NULL;
	if (!t->is_open)
		return;
	s->open++;
	t->start_ns = t->last_start_ns = ops->start_ns[i];
	t->last_end_ns = ops->end_ns[i];
	t->last_launch_ns = ops->launch_start_ns[i];
	t->last_ns = t->last_end_ns - t->start_ns;
	t->kernel_ns = 0;
	t->thread = stretch->thread;
	t->kernels = 0;
	t->last_kernels = 1;
	t->has_around = 0;
	t->kernel = t->names[0] = ops->kernel[i];
	t->name_count = 1;
	t->is_again = 0;
	t->is_conv = ops->family[i] == VPA_FAMILY_CONV;
}

/* The thread's call `at` launches what comes next. A series that the trace ends in has kept none. */
static int end_series(
	struct state *s, const struct vpa_fold_context *c, struct series *t, uint64_t at)
{
	struct vpa_trials *sum = &s->sum;
	uint64_t span_ns = t->last_start_ns - t->start_ns;
	unsigned k;

	t->is_open = 0;
	s->open--;
	if (t->name_count < LEAST || !t->is_again || t->kernels > TIMES_MOST * t->name_count ||
		has_waited(s, &c->resolver->pasts[t->thread].calls, at, t->last_launch_ns))
		return VPT_OK;
	sum->count++;
	sum->convs += t->is_conv;
	sum->kernels += t->kernels;
	vpt_sat_add_to(&sum->kernel_ns, t->kernel_ns);
	vpt_sat_add_to(&sum->span_ns, span_ns);
	for (k = 0; k < VPA_CAUSES; k++)
		vpt_sat_add_to(&sum->cause_ns[k], t->cause_ns[k]);
	if (sum->span_count == SPANS_MOST)
		return VPT_OK;
	if (vpt_grow(&s->spans, &s->span_cap, sum->span_count + 1, sizeof(*s->spans)) ||
		vpt_grow(&s->places, &s->place_cap, sum->span_count + 1, sizeof(*s->places)))
		return VPT_ENOMEM;
	s->places[sum->span_count] = t->place;
	s->spans[sum->span_count++] = (struct vpa_trial_span){t->start_ns, t->last_start_ns};
	return VPT_OK;
}

/* Ends a series with an op that does not go on with it. Of one that another thread launched it is not known what the series' own did:
 * nothing is kept. */
static int end_before(struct state *s, const struct vpa_fold_context *c, struct series *t,
	const struct vpa_ops *ops, size_t i, const struct vpa_op_stretch *stretch)
{
	if (!ops->launch[i] || stretch->thread != t->thread)
		t->is_again = 0;
	return end_series(s, c, t, ops->launch[i] ? vpa_call_position(ops->launch[i]) : 0);
}

/* The second launch tells the operator of all, which began before the first. */
static int is_in_operator(struct series *t, const struct vpa_range *around)
{
	if (!t->has_around && (!around || around->start_ns <= t->last_launch_ns)) {
		t->has_around = 1;
		t->around = around;
		t->operator_ns = around ? around->start_ns : 0;
		memset(t->cause_ns, 0, sizeof(t->cause_ns));
		return 1;
	}
	return t->has_around && around == t->around &&
	       (!around || around->start_ns == t->operator_ns);
}

enum step { ENDS, SAME_TRIAL, NEXT_TRIAL };

/* What a product is to the series. */
static enum step step_of(const struct state *s, const struct vpa_fold_context *c, struct series *t,
	const struct vpa_ops *ops, size_t i, const struct vpa_op_stretch *stretch)
{
	uint64_t launch_ns = ops->launch_start_ns[i];
	enum step step = ENDS;

	if (!ops->launch[i] || stretch->thread != t->thread)
		return ENDS;
	if (launch_ns >= t->last_end_ns &&
		has_waited(s, &c->resolver->pasts[t->thread].calls,
			vpa_call_position(ops->launch[i]), t->last_launch_ns))
		step = NEXT_TRIAL;
	else if (ops->kernel[i] == t->kernel)
		step = SAME_TRIAL;
	return step != ENDS && is_in_operator(t, operator_at(stretch->range, launch_ns)) ? step
											 : ENDS;
}

static void begin_trial(const struct state *s, struct series *t, const struct vpa_ops *ops,
	size_t i, uint32_t place)
{
	t->place = place;
	t->kernels += t->last_kernels;
	vpt_sat_add_to(&t->kernel_ns, t->last_ns);
	t->last_kernels = 0;
	t->last_ns = 0;
	t->last_start_ns = ops->start_ns[i];
	t->is_conv |= ops->family[i] == VPA_FAMILY_CONV;
	add_name(t, ops->kernel[i]);
	add_gap(s, t, ops, i);
}

static void add_to_trial(struct series *t, const struct vpa_ops *ops, size_t i)
{
	t->last_kernels++;
	vpt_sat_add_to(&t->last_ns, ops->end_ns[i] - ops->start_ns[i]);
	t->last_end_ns = ops->end_ns[i];
	t->last_launch_ns = ops->launch_start_ns[i];
}

/* What prepares a product, or ends it, in the same operator, is a part of its trial. */
static int is_beside(const struct series *t, const struct vpa_ops *ops, size_t i,
	const struct vpa_op_stretch *stretch)
{
	const struct vpa_range *around;

	if (ops->kind[i] != VPA_KERNEL)
		return 1;
	if (!ops->launch[i])
		return 0;
	around = operator_at(stretch->range, ops->launch_start_ns[i]);
	if (!t->has_around)
		return around && around->start_ns <= t->last_launch_ns;
	return around && around == t->around && around->start_ns == t->operator_ns;
}

/* Finds the products that may begin a series: the same kernel follows on the stream, or a launch after the end of this one or of the op
 * that follows. */
VPT_VECTORISE
static void find_beginnings(const struct vpa_ops *ops, uint8_t *may_begin)
{
	size_t i, last = ops->count - 1;

	/* Whether the next op was launched before this one had ended. */
	for (i = 0; i < last; i++)
		may_begin[i] = (uint8_t)((ops->stream[i + 1] == ops->stream[i]) &
					 (ops->kind[i + 1] == VPA_KERNEL) &
					 (ops->launch_start_ns[i + 1] < ops->end_ns[i]));
	may_begin[last] = 0;
	for (i = 0; i < last; i++) {
		unsigned product =
			(ops->family[i] == VPA_FAMILY_CONV) | (ops->family[i] == VPA_FAMILY_GEMM);
		unsigned ends =
			may_begin[i] & may_begin[i + 1] & (ops->kernel[i + 1] != ops->kernel[i]);

		may_begin[i] = (uint8_t)(product & !ends);
	}
	may_begin[last] = (uint8_t)is_product(ops, last);
}

/* The first op from `i` on that a series may begin with or that an open one may end with. */
static size_t next_of_interest(const struct state *s, const struct vpa_ops *ops, size_t i)
{
	const uint8_t *next =
		s->open || i == ops->count ? NULL : memchr(s->may_begin + i, 1, ops->count - i);

	return s->open ? i : next ? (size_t)(next - s->may_begin) : ops->count;
}

static int make_room(struct state *s, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	if (vpt_grow_zeroed(
		    &s->streams, &s->stream_cap, c->model->stream_count, sizeof(*s->streams)) ||
		vpt_grow(&s->may_begin, &s->may_cap, ops->count, sizeof(*s->may_begin)))
		return VPT_ENOMEM;
	return VPT_OK;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t i, k = 0;
	int rc;

	if (!know_waits(s, &c->model->names) || !ops->count)
		return VPT_OK;
	rc = make_room(s, c, ops);
	if (rc)
		return rc;
	find_beginnings(ops, s->may_begin);
	for (i = next_of_interest(s, ops, 0); i < ops->count && !rc;
		i = next_of_interest(s, ops, i + 1)) {
		struct series *t = &s->streams[ops->stream[i]];
		const struct vpa_op_stretch *stretch;
		int product = is_product(ops, i);
		enum step step;

		if (!t->is_open && !s->may_begin[i])
			continue;
		stretch = vpa_ops_stretch(ops, i, &k);
		step = product && t->is_open ? step_of(s, c, t, ops, i, stretch) : ENDS;
		if (step == NEXT_TRIAL)
			begin_trial(s, t, ops, i, stretch->place);
		if (step != ENDS) {
			add_to_trial(t, ops, i);
		} else if (product || !is_beside(t, ops, i, stretch)) {
			if (t->is_open)
				rc = end_before(s, c, t, ops, i, stretch);
			if (product)
				begin_series(s, t, ops, i, stretch);
		} else if (t->has_around) {
			add_gap(s, t, ops, i);
		}
	}
	s->piece_count = 0;
	return rc;
}

/* ---- writing down ---- */

static void write_place(
	const struct state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	uint64_t most_ns = 0;
	uint32_t best = 0;
	size_t i, k;

	/* There are few places. */
	for (i = 0; i < s->sum.span_count; i++) {
		uint64_t ns = 0;

		if (i && s->places[i] == best)
			continue;
		for (k = 0; k < s->sum.span_count; k++)
			if (s->places[k] == s->places[i])
				vpt_sat_add_to(&ns, s->spans[k].end_ns - s->spans[k].start_ns);
		best = ns > most_ns ? s->places[i] : best;
		most_ns = ns > most_ns ? ns : most_ns;
	}
	out->trials.place_ns = most_ns;
	if (best)
		out->trials.place = (struct vpa_place){
			.kind = VPA_PLACE_IN, .text = vpa_fold_name(out, c->model, best)};
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	struct vpa_trial_span *spans;

	out->trials = s->sum;
	if (!s->sum.span_count)
		return VPT_OK;
	out->trials.causes =
		vpa_cause_times(&out->arena, out->trials.cause_ns, &out->trials.cause_count);
	spans = vpa_arena_alloc(&out->arena, s->sum.span_count, sizeof(*spans));
	if (!spans)
		return VPT_ENOMEM;
	memcpy(spans, s->spans, s->sum.span_count * sizeof(*spans));
	out->trials.spans = spans;
	write_place(s, c, out);
	return out->arena.failed ? VPT_ENOMEM : VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpt_free(s->streams);
	vpt_free(s->may_begin);
	vpt_free(s->pieces);
	vpt_free(s->spans);
	vpt_free(s->places);
}

const struct vpa_fold vpa_fold_trials = {
	.name = "trials",
	.help = "kernels that a library tries before it keeps one",
	.state_bytes = sizeof(struct state),
	.ops = fold_ops,
	.gap = fold_gap,
	.finish = finish,
	.free = free_state,
};
