/* host_operators.c - names operators that run on the CPU while a GPU has no work, as the place of that time.
 *
 * What the host does before the first op, after the last one and in code of its own between two has the range around it as its
 * place; where none is open, "before X" is all that is known, and X is what comes after the time. Of PyTorch's profiler operators
 * are known too, which say what the code was: aten::mul on tensors in memory of the host. Only the outermost ones count, on the
 * thread that launched next, or on any before the end; and only if they take half of the time at that place, as far as that is in
 * the longest gaps.
 *
 * Where allocations made gaps, it says for how much of them an operator ran that does nothing else: such an operator frees only
 * if there is no memory left, while a program that empties a cache does so outside of them. */
#include "analysis/folds/fold.h"

#include "analysis/base/intervals.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

enum {
	OPERATORS_MAX = 65536, /* the longest ones */
	LEAST_NS = 10000,
	NAMES_MAX = 256, /* at a place */
	NAMED = 3,
	PARTS_MAX = 128
};

struct host_operator {
	uint64_t start_ns, end_ns;
	uint64_t number; /* inner ones come before the one around them */
	uint32_t thread, name;
};

struct state {
	struct host_operator *rows;
	size_t count, cap;
	uint64_t least_ns; /* shorter ones are not kept */
	uint64_t seen;     /* how many came */
};

static void keep_long(struct state *s)
{
	size_t i, kept = 0;

	s->least_ns *= 2;
	for (i = 0; i < s->count; i++)
		if (s->rows[i].end_ns - s->rows[i].start_ns >= s->least_ns)
			s->rows[kept++] = s->rows[i];
	s->count = kept;
}

static int fold_operator(
	void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct state *s = state;

	(void)c;
	s->least_ns = s->least_ns ? s->least_ns : LEAST_NS;
	if (range->end_ns == UINT64_MAX || range->end_ns - range->start_ns < s->least_ns)
		return VPT_OK;
	while (s->count == OPERATORS_MAX)
		keep_long(s);
	if (vpt_grow(&s->rows, &s->cap, s->count + 1, sizeof(*s->rows)))
		return VPT_ENOMEM;
	s->rows[s->count++] = (struct host_operator){
		range->start_ns, range->end_ns, s->seen++, range->thread, range->name};
	return VPT_OK;
}

/* ---- what they take at a place ---- */

struct name {
	uint32_t name;
	uint64_t ns;
};

struct sum {
	struct name names[NAMES_MAX];
	size_t count;
	uint64_t ns; /* of all names */
};

/* Outer ones before what they call. In whole microseconds both may have the same times. */
static int by_start(const void *pa, const void *pb)
{
	const struct host_operator *a = pa, *b = pb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return a->number > b->number ? -1 : 1;
}

static void add_name(struct sum *sum, uint32_t name, uint64_t ns)
{
	size_t i;

	for (i = 0; i < sum->count && sum->names[i].name != name; i++)
		;
	if (i == NAMES_MAX)
		return;
	if (i == sum->count)
		sum->names[sum->count++] = (struct name){name, 0};
	sum->names[i].ns += ns;
	sum->ns += ns;
}

/* Adds the outermost operators of the thread whose rows begin at `at`, as far as they are in a gap. NULL: only counts them. Returns
 * how long they take. */
static uint64_t add_thread(
	const struct state *s, size_t at, const struct vpa_long_gap *gap, struct sum *sum)
{
	uint32_t thread = s->rows[at].thread;
	uint64_t until_ns = gap->start_ns, all_ns = 0;

	for (; at < s->count && s->rows[at].thread == thread; at++) {
		const struct host_operator *row = &s->rows[at];
		uint64_t end_ns = vpa_earlier(row->end_ns, gap->end_ns),
			 ns = vpt_sat_sub(end_ns, vpa_later(row->start_ns, until_ns));

		if (row->start_ns >= gap->end_ns)
			break;
		if (!ns)
			continue;
		until_ns = end_ns;
		all_ns += ns;
		if (sum)
			add_name(sum, row->name, ns);
	}
	return all_ns;
}

static size_t next_thread(const struct state *s, size_t at)
{
	uint32_t thread = s->rows[at].thread;

	while (at < s->count && s->rows[at].thread == thread)
		at++;
	return at;
}

/* Of the thread that launched what ended the gap; if that is not known, of the one with most. */
static void add_gap(const struct state *s, const struct vpa_long_gap *gap, struct sum *sum)
{
	size_t at, best = s->count;
	uint64_t most_ns = 0;

	for (at = 0; at < s->count; at = next_thread(s, at)) {
		uint64_t ns = 0;

		if (gap->thread == VPA_NONE || gap->thread == s->rows[at].thread)
			ns = add_thread(s, at, gap, NULL);
		if (ns > most_ns) {
			most_ns = ns;
			best = at;
		}
	}
	if (best < s->count)
		add_thread(s, best, gap, sum);
}

/* ---- operators that allocate ---- */

static int allocates(struct vpt_text operator)
{
	return (operator.len >= 11 && !memcmp(operator.text, "aten::empty", 11)) ||
	       (operator.len >= 13 && !memcmp(operator.text, "aten::resize_", 13));
}

/* Of a gap, in operators of the thread that launched what ended it. One may call another: each nanosecond counts once. */
static uint64_t allocating_ns(
	const struct state *s, const struct vpa_model *m, const struct vpa_long_gap *gap)
{
	uint64_t until_ns = gap->start_ns, ns = 0;
	size_t i;

	for (i = 0; i < s->count; i++) {
		const struct host_operator *row = &s->rows[i];
		uint64_t end_ns = vpa_earlier(row->end_ns, gap->end_ns);

		if (row->thread != gap->thread || row->start_ns >= gap->end_ns ||
			end_ns <= until_ns || !allocates(vpa_name(m, row->name)))
			continue;
		ns += end_ns - vpa_later(row->start_ns, until_ns);
		until_ns = end_ns;
	}
	return ns;
}

static void sum_allocating(const struct state *s, const struct vpa_model *m, struct vpa_report *out)
{
	size_t i;

	for (i = 0; i < out->long_gap_count; i++) {
		const struct vpa_long_gap *gap = &out->long_gaps[i];

		if (gap->cause != VPA_CAUSE_ALLOCATION)
			continue;
		vpt_sat_add_to(&out->allocating.gaps_ns, gap->end_ns - gap->start_ns);
		vpt_sat_add_to(&out->allocating.operators_ns, allocating_ns(s, m, gap));
	}
}

/* ---- names ---- */

static int by_time(const void *pa, const void *pb)
{
	const struct name *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static const char *short_name(struct vpa_report *out, const struct vpa_model *m, uint32_t id)
{
	static const char prefix[] = "aten::";
	const char *name = vpa_fold_name(out, m, id);

	return name && !strncmp(name, prefix, sizeof(prefix) - 1) ? name + sizeof(prefix) - 1
								  : name;
}

/* "CPU operators mul, div_, add_": all of them are PyTorch's */
static const char *text_of(struct vpa_report *out, const struct vpa_model *m, struct sum *sum)
{
	const char *text = NULL;
	size_t i;

	qsort(sum->names, sum->count, sizeof(*sum->names), by_time);
	for (i = 0; i < sum->count && i < NAMED && sum->names[i].ns >= sum->ns / 10; i++) {
		const char *name = short_name(out, m, sum->names[i].name);

		if (name && text)
			text = vpa_arena_printf(&out->arena, "%s, %.60s", text, name);
		else if (name)
			text = vpa_arena_printf(&out->arena, "%.60s", name);
	}
	if (!text)
		return NULL;
	return vpa_arena_printf(
		&out->arena, VPA_OPERATOR_TEXT "%s %s", strchr(text, ',') ? "s" : "", text);
}

/* Whether no range is known to be around it. */
static int lacks_place(const struct vpa_place *place)
{
	return place->kind == VPA_PLACE_BEFORE || (place->kind == VPA_PLACE_IN && !place->text);
}

static int is_like(
	const struct vpa_long_gap *gap, enum vpa_cause cause, const struct vpa_place *place)
{
	return gap->cause == cause && !vpa_place_compare(&gap->place, place);
}

/* Adds the operators at a place to `all`, unless they take less than half of the time there. Returns 0: so it is. */
static int add_part(const struct state *s, const struct vpa_report *out,
	const struct vpa_idle_part *part, enum vpa_cause cause, struct sum *all)
{
	struct sum sum = {.count = 0};
	size_t i;

	if (!lacks_place(&part->place))
		return 0;
	for (i = 0; i < out->long_gap_count; i++)
		if (cause == VPA_CAUSE_BEFORE_FIRST_WORK
				? out->long_gaps[i].cause == cause
				: is_like(&out->long_gaps[i], cause, &part->place))
			add_gap(s, &out->long_gaps[i], &sum);
	if (!sum.ns || sum.ns < part->ns / 2)
		return 0;
	for (i = 0; i < sum.count; i++)
		add_name(all, sum.names[i].name, sum.names[i].ns);
	return 1;
}

/* Of the gaps that are listed, and of others, with a cause and place; `is_head`: before the first op. */
static void rename_gaps(struct vpa_report *out, int is_head, enum vpa_cause cause,
	struct vpa_place from, struct vpa_place to)
{
	size_t i, k;

	for (i = 0; i < out->long_gap_count; i++)
		if (is_like(&out->long_gaps[i], cause, &from))
			out->long_gaps[i].place = to;
	for (i = 0; i < out->gap_count; i++) {
		struct vpa_gap_row *gap = &out->gaps[i];

		if ((gap->cause == VPA_CAUSE_BEFORE_FIRST_WORK) != is_head)
			continue;
		if ((is_head || gap->cause == cause) && !vpa_place_compare(&gap->place, &from))
			gap->place = to;
		for (k = 0; k < gap->piece_count; k++)
			if ((is_head || gap->pieces[k].cause == cause) &&
				!vpa_place_compare(&gap->pieces[k].place, &from))
				gap->pieces[k].place = to;
	}
}

static int by_ns(const void *pa, const void *pb)
{
	const struct vpa_idle_part *a = pa, *b = pb;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

/* Parts of a cause whose places are all that, as one: the largest one keeps what is known of its lines. */
static void join(struct vpa_idle_part *parts, size_t *count, enum vpa_cause cause, const char *text)
{
	struct vpa_idle_part *first = NULL;
	size_t i, kept = 0;

	for (i = 0; i < *count; i++) {
		struct vpa_idle_part *part = &parts[i];

		if (part->cause != cause || part->place.text != text || part->call) {
			parts[kept++] = *part;
		} else if (!first) {
			first = &parts[kept];
			parts[kept++] = *part;
		} else {
			first->ns += part->ns;
			first->gaps += part->gaps;
			first->inside_ns += part->inside_ns;
			first->instead_ns += part->instead_ns;
		}
	}
	*count = kept;
	qsort(parts, kept, sizeof(*parts), by_ns);
}

/* Of one cause; `is_head`: of what the host did before the first op. */
static void name_parts(const struct state *s, const struct vpa_fold_context *c,
	struct vpa_report *out, struct vpa_idle_part *parts, size_t *count, enum vpa_cause cause,
	int is_head)
{
	enum vpa_cause of_gap = is_head ? VPA_CAUSE_BEFORE_FIRST_WORK : cause;
	struct vpa_place to = {.kind = VPA_PLACE_IN};
	uint8_t named[PARTS_MAX] = {0};
	struct sum all = {.count = 0};
	size_t i;

	for (i = 0; i < *count && i < PARTS_MAX; i++)
		named[i] = parts[i].cause == cause && add_part(s, out, &parts[i], of_gap, &all);
	to.text = text_of(out, c->model, &all);
	for (i = 0; i < *count && i < PARTS_MAX && to.text; i++) {
		if (!named[i])
			continue;
		rename_gaps(out, is_head, of_gap, parts[i].place, to);
		parts[i].place = to;
	}
	if (to.text)
		join(parts, count, cause, to.text);
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i;

	if (!s->count)
		return VPT_OK;
	qsort(s->rows, s->count, sizeof(*s->rows), by_start);
	sum_allocating(s, c->model, out);
	for (i = 0; i < out->device_count; i++) {
		struct vpa_device *d = &out->devices[i];

		name_parts(s, c, out, d->before_first_work, &d->before_first_work_count,
			VPA_CAUSE_HOST_CODE, 1);
		name_parts(s, c, out, d->causes, &d->cause_count, VPA_CAUSE_HOST_CODE, 0);
		name_parts(s, c, out, d->causes, &d->cause_count, VPA_CAUSE_AFTER_LAST_WORK, 0);
	}
	return out->arena.failed ? VPT_ENOMEM : VPT_OK;
}

static void free_state(void *state)
{
	vpt_free(((struct state *)state)->rows);
}

const struct vpa_fold vpa_fold_host_operators = {
	.name = "host_operators",
	.help = "operators that run on the CPU while a GPU has no work",
	.state_bytes = sizeof(struct state),
	.operator_range = fold_operator,
	.finish = finish,
	.free = free_state,
};
