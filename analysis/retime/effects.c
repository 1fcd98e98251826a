/* effects.c - a function for each kind of change. */
#include "analysis/retime/effects.h"

#include "analysis/model/model.h"
#include "analysis/retime/cover.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/calls.h"
#include "formats/event_schema.h"

#include <stdlib.h>

enum {
	/* Of a CUDA graph, where the trace has none: to launch it, host code before that, to instantiate it. */
	GRAPH_LAUNCH_NS = 8000,
	GRAPH_CODE_NS = 30000,
	GRAPH_BUILD_NS = 1000000,
	RATE_BYTES = 1 << 20 /* a smaller copy says nothing about the rate */
};

struct applying {
	struct vpa_tape *t;
	const struct vpa_edges *e;
	struct vpa_effects *x;
	uint32_t *next; /* by call: the next one of its thread; NONE */
	const struct vpa_change *change;
	struct vpa_cover cover; /* of the change's place */
	size_t world;
	uint64_t hits;
	struct vpt_err *err;
};

/* Lengths that a replay can add up. */
static uint64_t scaled(uint64_t ns, double factor)
{
	return (uint64_t)vpt_sat_i64((double)ns * factor);
}

static void lengthen(uint64_t *ns, uint64_t more_ns)
{
	*ns = vpt_sat_add(*ns, more_ns);
	if (*ns > INT64_MAX)
		*ns = INT64_MAX;
}

/* ---- lists ---- */

/* What is different of a call in this world, to be changed. NULL: no memory. */
static struct vpa_call_effect *of_call(struct applying *a, uint32_t call)
{
	struct vpa_tape_call *c = &a->t->calls[call];
	struct vpa_effects *x = a->x;
	uint32_t at;

	for (at = c->mods; at; at = x->calls[at].next)
		if (x->calls[at].world == a->world)
			return &x->calls[at];
	if (!x->call_count)
		x->call_count = 1;
	if (vpt_grow(&x->calls, &x->call_cap, x->call_count + 1, sizeof(*x->calls)))
		return NULL;
	x->calls[x->call_count] = (struct vpa_call_effect){.next = c->mods,
		.world = (uint8_t)a->world,
		.gap_ns = c->gap_ns,
		.cost_ns = c->cost_ns};
	c->mods = (uint32_t)x->call_count;
	return &x->calls[x->call_count++];
}

static struct vpa_op_effect *of_op(struct applying *a, uint32_t op)
{
	struct vpa_tape_op *o = &a->t->ops[op];
	struct vpa_effects *x = a->x;
	uint32_t at;

	for (at = o->mods; at; at = x->ops[at].next)
		if (x->ops[at].world == a->world)
			return &x->ops[at];
	if (!x->op_count)
		x->op_count = 1;
	if (vpt_grow(&x->ops, &x->op_cap, x->op_count + 1, sizeof(*x->ops)))
		return NULL;
	x->ops[x->op_count] = (struct vpa_op_effect){.next = o->mods,
		.world = (uint8_t)a->world,
		.call = o->call,
		.duration_ns = (int64_t)(o->end_ns - o->start_ns)};
	o->mods = (uint32_t)x->op_count;
	return &x->ops[x->op_count++];
}

/* ---- what a change is about ---- */

static const struct vpa_tape_op *op_of(
	const struct vpa_tape *t, const struct vpa_tape_call *c, uint32_t i)
{
	return &t->ops[t->launched[c->op + i]];
}

static int is_small_read(const struct vpa_tape *t, const struct vpa_tape_call *c)
{
	uint32_t i;

	for (i = 0; i < c->op_count; i++) {
		const struct vpa_tape_op *o = op_of(t, c, i);

		if (o->is_kernel || o->copy_kind != VPT_COPYKIND_DTOH || o->bytes > VPA_SMALL_BYTES)
			return 0;
	}
	return c->op_count > 0;
}

static int has_copy(const struct vpa_tape *t, const struct vpa_tape_call *c, uint32_t kind)
{
	uint32_t i;

	for (i = 0; i < c->op_count; i++)
		if (!op_of(t, c, i)->is_kernel && op_of(t, c, i)->copy_kind == kind)
			return 1;
	return 0;
}

static int is_copy(const struct vpa_tape_call *c)
{
	return c->klass == VPT_CALL_COPY || c->klass == VPT_CALL_BLOCKING_COPY;
}

/* Whether the change is about this call, wherever it is. */
static int is_meant(
	const struct vpa_tape *t, const struct vpa_change *ch, const struct vpa_tape_call *c)
{
	switch (ch->what) {
	case VPA_WHAT_SYNCS:
		return c->klass == VPT_CALL_SYNC;
	case VPA_WHAT_COPIES:
		return is_copy(c);
	case VPA_WHAT_SMALL_READS:
		return is_small_read(t, c);
	case VPA_WHAT_COPY_KIND:
		return has_copy(t, c, ch->number);
	default:
		return vpa_name_matches(t, c->name, ch->name);
	}
}

static int is_op_meant(
	const struct vpa_tape *t, const struct vpa_change *ch, const struct vpa_tape_op *o)
{
	switch (ch->what) {
	case VPA_WHAT_FAMILY:
		return o->is_kernel && o->family == ch->number;
	case VPA_WHAT_COPY_KIND:
		return !o->is_kernel && o->copy_kind == ch->number;
	default:
		return o->is_kernel && vpa_name_matches(t, o->name, ch->name);
	}
}

static int is_inside(const struct applying *a, const struct vpa_tape_op *o)
{
	return !*a->change->place || (o->call != VPA_TAPE_NONE && a->cover.calls[o->call]);
}

/* ---- a function for each kind ---- */

/* The wait that a small read ends with, as its own call; NONE. */
static uint32_t wait_after(const struct applying *a, uint32_t call)
{
	uint32_t next = a->next[call];

	return next != VPA_TAPE_NONE && a->t->calls[next].klass == VPT_CALL_SYNC &&
			       a->t->calls[next].gap_ns < VPA_LAUNCH_GAP_NS
		       ? next
		       : VPA_TAPE_NONE;
}

static int is_stretch(const struct vpa_change *c, uint64_t ns)
{
	return ns >= c->least_ns && (!c->most_ns || ns < c->most_ns);
}

/* Whether host code of the length that the change names follows the call. */
static int is_followed(const struct applying *a, uint32_t call)
{
	uint32_t next = a->next[call];

	return is_stretch(a->change, next == VPA_TAPE_NONE ? 0 : a->t->calls[next].gap_ns);
}

static int stop_waiting(struct applying *a, uint32_t call)
{
	const struct vpa_tape_call *c = &a->t->calls[call];
	struct vpa_call_effect *effect;
	uint64_t cost_ns = vpa_edges_cost_without_wait(c->klass);

	if (!c->target_count || !is_followed(a, call))
		return VPT_OK;
	effect = of_call(a, call);
	if (!effect)
		return VPT_ENOMEM;
	if (effect->is_gone || effect->no_wait)
		return VPT_OK;
	effect->no_wait = 1;
	if (effect->cost_ns > cost_ns)
		effect->cost_ns = cost_ns;
	a->hits++;
	return VPT_OK;
}

static int drop(struct applying *a, uint32_t call)
{
	uint32_t wait =
		a->change->what == VPA_WHAT_SMALL_READS ? wait_after(a, call) : VPA_TAPE_NONE;
	int rc = stop_waiting(a, call);

	return rc || wait == VPA_TAPE_NONE ? rc : stop_waiting(a, wait);
}

/* The call and its ops. Of the host code before it, what a launch usually needs goes too; all of it if it is short. */
static int remove_call(struct applying *a, uint32_t call, int with_code)
{
	struct vpa_tape *t = a->t;
	const struct vpa_tape_call *c = &t->calls[call];
	struct vpa_call_effect *effect = of_call(a, call);
	uint32_t i;

	if (!effect)
		return VPT_ENOMEM;
	if (with_code || (!effect->is_gone && effect->gap_ns < VPA_LAUNCH_GAP_NS))
		effect->gap_ns = 0;
	else if (!effect->is_gone)
		effect->gap_ns -= a->e->launch_gap_ns;
	a->hits += !effect->is_gone;
	effect->is_gone = 1;
	for (i = 0; i < c->op_count; i++) {
		struct vpa_op_effect *op = of_op(a, t->launched[c->op + i]);

		if (!op)
			return VPT_ENOMEM;
		op->is_gone = 1;
	}
	return VPT_OK;
}

static int delete_call(struct applying *a, uint32_t call)
{
	uint32_t wait =
		a->change->what == VPA_WHAT_SMALL_READS ? wait_after(a, call) : VPA_TAPE_NONE;
	int rc = remove_call(a, call, 0);

	return rc || wait == VPA_TAPE_NONE ? rc : remove_call(a, wait, 0);
}

static int scale_gap(struct applying *a, uint32_t call)
{
	struct vpa_call_effect *effect = of_call(a, call);

	if (!effect)
		return VPT_ENOMEM;
	effect->gap_ns = scaled(effect->gap_ns, a->change->factor);
	a->hits++;
	return VPT_OK;
}

/* The code after a call, or after the wait that it ends with. What any launch needs stays. */
static int scale_after(struct applying *a, uint32_t call)
{
	uint32_t wait =
		a->change->what == VPA_WHAT_SMALL_READS ? wait_after(a, call) : VPA_TAPE_NONE;
	uint32_t next = a->next[wait == VPA_TAPE_NONE ? call : wait];
	struct vpa_call_effect *effect;
	uint64_t stays_ns = a->e->launch_gap_ns;

	if (next == VPA_TAPE_NONE || a->t->calls[next].gap_ns <= stays_ns)
		return VPT_OK;
	effect = of_call(a, next);
	if (!effect)
		return VPT_ENOMEM;
	if (effect->gap_ns > stays_ns) {
		effect->gap_ns = scaled(effect->gap_ns - stays_ns, a->change->factor);
		lengthen(&effect->gap_ns, stays_ns);
	}
	a->hits++;
	return VPT_OK;
}

static int pin(struct applying *a, uint32_t call)
{
	const struct vpa_tape_call *c = &a->t->calls[call];
	struct vpa_call_effect *effect = of_call(a, call);
	uint64_t cost_ns = vpa_edges_cost_without_wait(c->klass);

	if (!effect)
		return VPT_ENOMEM;
	effect->no_wait = 1;
	if (effect->cost_ns > cost_ns)
		effect->cost_ns = cost_ns;
	return VPT_OK;
}

static int each_call(struct applying *a, int (*apply)(struct applying *a, uint32_t call))
{
	uint32_t i;
	int rc = VPT_OK;

	for (i = 0; i < a->t->call_count && !rc; i++)
		if (a->cover.calls[i] && is_meant(a->t, a->change, &a->t->calls[i]))
			rc = apply(a, i);
	return rc;
}

static int scale_host(struct applying *a)
{
	uint32_t i;
	int rc = VPT_OK;

	for (i = 0; i < a->t->call_count && !rc; i++)
		if (a->cover.gaps[i] && a->t->calls[i].gap_ns &&
			is_stretch(a->change, a->t->calls[i].gap_ns))
			rc = scale_gap(a, i);
	return rc;
}

/* `gb_per_s` 0: the durations times the factor. A copy of unknown size stays as it is. */
static int scale_ops(struct applying *a, double gb_per_s)
{
	uint32_t i;

	for (i = 0; i < a->t->op_count; i++) {
		const struct vpa_tape_op *o = &a->t->ops[i];
		struct vpa_op_effect *effect;

		if (!is_op_meant(a->t, a->change, o) || !is_inside(a, o) ||
			(gb_per_s > 0 && !o->bytes))
			continue;
		effect = of_op(a, i);
		if (!effect)
			return VPT_ENOMEM;
		effect->duration_ns = gb_per_s > 0 ? vpt_sat_i64((double)o->bytes / gb_per_s)
						   : (int64_t)scaled((uint64_t)effect->duration_ns,
							     a->change->factor);
		a->hits++;
	}
	return VPT_OK;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The middle rate of copies of this kind from or to pinned memory, in bytes per nanosecond; 0: there are none. -1: no
 * memory. */
static double pinned_rate(const struct vpa_tape *t, uint32_t kind)
{
	double *rates = NULL, rate = 0;
	size_t count = 0, cap = 0, i;

	for (i = 0; i < t->op_count; i++) {
		const struct vpa_tape_op *o = &t->ops[i];

		if (o->is_kernel || o->copy_kind != kind || o->bytes < RATE_BYTES ||
			o->end_ns == o->start_ns ||
			(o->source_memory != VPT_MEMKIND_PINNED &&
				o->target_memory != VPT_MEMKIND_PINNED))
			continue;
		if (vpt_grow(&rates, &cap, count + 1, sizeof(*rates))) {
			vpt_free(rates);
			return -1;
		}
		rates[count++] = (double)o->bytes / (double)(o->end_ns - o->start_ns);
	}
	if (count) {
		qsort(rates, count, sizeof(*rates), by_value);
		rate = rates[count / 2];
	}
	vpt_free(rates);
	return rate;
}

static int pin_all(struct applying *a)
{
	double rate = a->change->factor;
	int rc;

	if (!(rate > 0))
		rate = pinned_rate(a->t, a->change->number);
	if (rate < 0)
		return VPT_ENOMEM;
	if (!(rate > 0))
		return vpt_fail(a->err, VPT_EINVAL,
			"no copy of this kind from or to pinned memory shows how fast they are: "
			"expected pin %s GB/s",
			vpt_word(VPT_UNIT_COPY_KIND, a->change->number));
	rc = scale_ops(a, rate);
	return rc ? rc : each_call(a, pin);
}

static int put_aside(struct applying *a)
{
	uint32_t i, aside = ++a->x->asides;

	for (i = 0; i < a->t->op_count; i++) {
		const struct vpa_tape_op *o = &a->t->ops[i];
		struct vpa_op_effect *effect;

		if (o->call == VPA_TAPE_NONE || !a->cover.calls[o->call])
			continue;
		effect = of_op(a, i);
		if (!effect)
			return VPT_ENOMEM;
		effect->aside = aside;
		a->hits++;
	}
	return VPT_OK;
}

/* Every N-th instance of a range, in the order of their start: by range, whether it is skipped. */
static uint8_t *skipped_ranges(const struct applying *a)
{
	const struct vpa_tape *t = a->t;
	uint8_t *skipped = vpt_calloc(t->range_count + 1, 1);
	uint32_t number = 0;
	size_t i;

	for (i = 0; skipped && i < t->range_count; i++)
		if (vpa_name_matches(t, t->ranges[i].name, a->change->place))
			skipped[i + 1] = ++number % a->change->number == 0;
	return skipped;
}

static int skip(struct applying *a)
{
	uint8_t *skipped = skipped_ranges(a);
	uint32_t i;
	int rc = skipped ? VPT_OK : VPT_ENOMEM;

	for (i = 0; i < a->t->call_count && !rc; i++) {
		struct vpa_call_effect *effect;

		if (skipped[a->cover.calls[i]])
			rc = remove_call(a, i, skipped[a->cover.gaps[i]]);
		else if (skipped[a->cover.gaps[i]]) {
			effect = of_call(a, i);
			if (effect)
				effect->gap_ns = 0;
			rc = effect ? VPT_OK : VPT_ENOMEM;
		}
	}
	vpt_free(skipped);
	return rc;
}

/* ---- a graph ---- */

/* Launches of a thread that become one. */
struct run {
	uint32_t range, first, last; /* range: 0: no run; first: its first launch */
	uint32_t pass;               /* the range of the last run */
	uint32_t launches;
	uint64_t host_ns; /* of its calls and the code between them */
	int is_captured;
	uint32_t outer; /* in which the last run of this thread was captured */
	int any;
};

/* What the call is in this world so far. */
static struct vpa_call_effect as_changed(const struct applying *a, uint32_t call)
{
	const struct vpa_tape_call *c = &a->t->calls[call];
	const struct vpa_call_effect *effect = vpa_effect_on_call(a->x, c, a->world);

	return effect ? *effect
		      : (struct vpa_call_effect){.gap_ns = c->gap_ns,
				.cost_ns = c->cost_ns,
				.no_wait = !c->target_count};
}

/* Whether a graph can contain the call: it puts work on a device and waits for nothing. */
static int can_be_captured(const struct vpa_tape_call *c, const struct vpa_call_effect *now)
{
	return (c->klass == VPT_CALL_LAUNCH || c->klass == VPT_CALL_MEMSET ||
		       c->klass == VPT_CALL_COPY) &&
	       c->op_count && (now->no_wait || !c->target_count);
}

/* What neither begins nor ends a run. */
static int is_neutral(const struct vpa_tape_call *c, const struct vpa_call_effect *now)
{
	return now->is_gone || c->klass == VPT_CALL_QUERY || c->klass == VPT_CALL_EVENT_RECORD ||
	       c->klass == VPT_CALL_STREAM_WAIT;
}

/* An op that was launched by another call hangs on the graph's launch. */
static int join_op(struct applying *a, uint32_t op, uint32_t graph)
{
	struct vpa_op_effect *effect = of_op(a, op);

	if (!effect)
		return VPT_ENOMEM;
	if (effect->in_graph)
		a->t->calls[effect->call].uses--;
	effect->call = graph;
	effect->in_graph = 1;
	a->t->calls[graph].uses++;
	return VPT_OK;
}

/* The call goes, and its ops hang on the graph's launch. */
static int join_call(struct applying *a, uint32_t call, uint32_t graph)
{
	const struct vpa_tape_call *c = &a->t->calls[call];
	struct vpa_call_effect *effect = of_call(a, call);
	uint32_t i;
	int rc = VPT_OK;

	if (!effect)
		return VPT_ENOMEM;
	effect->gap_ns = 0;
	if (effect->is_gone)
		return VPT_OK;
	effect->is_gone = 1;
	for (i = 0; i < c->op_count && !rc; i++)
		rc = join_op(a, a->t->launched[c->op + i], graph);
	return rc;
}

/* The first launch becomes that of the graph. */
static int make_launch(struct applying *a, const struct run *run)
{
	struct vpa_call_effect *head = of_call(a, run->first);

	if (!head)
		return VPT_ENOMEM;
	if (run->is_captured)
		lengthen(&head->gap_ns, vpt_sat_add(run->host_ns, GRAPH_BUILD_NS));
	if (run->is_captured || head->gap_ns < GRAPH_CODE_NS)
		lengthen(&head->gap_ns, GRAPH_CODE_NS);
	head->cost_ns = GRAPH_LAUNCH_NS;
	a->hits++;
	return VPT_OK;
}

static int end_run(struct applying *a, struct run *run)
{
	uint32_t call = run->first;
	int rc = run->launches > 1 ? make_launch(a, run) : VPT_OK;

	while (run->launches > 1 && !rc && call != run->last) {
		call = a->next[call];
		rc = join_call(a, call, run->first);
	}
	run->range = 0;
	run->launches = 0;
	return rc;
}

/* Parts of one pass are captured together. */
static void begin_run(struct run *run, uint32_t call, uint32_t range, uint32_t outer)
{
	if (!run->any || run->outer != outer)
		run->is_captured = 1;
	else if (run->pass != range)
		run->is_captured = 0;
	run->any = 1;
	run->outer = outer;
	run->range = run->pass = range;
	run->first = run->last = call;
	run->launches = 1;
	run->host_ns = 0;
}

static int add_to_graph(struct applying *a, struct run *run, uint32_t call, uint32_t outer)
{
	const struct vpa_tape_call *c = &a->t->calls[call];
	struct vpa_call_effect now = as_changed(a, call);
	uint32_t range = a->cover.calls[call];
	int is_launch = !now.is_gone && can_be_captured(c, &now), rc = VPT_OK;

	if (run->range && (run->range != range || !(is_launch || is_neutral(c, &now))))
		rc = end_run(a, run);
	if (rc)
		return rc;
	if (!run->range && range && is_launch) {
		begin_run(run, call, range, outer);
	} else if (run->range) {
		vpt_sat_add_to(
			&run->host_ns, vpt_sat_add(now.gap_ns, now.is_gone ? 0 : now.cost_ns));
		if (is_launch) {
			run->launches++;
			run->last = call;
		}
	}
	return VPT_OK;
}

static int make_graph(struct applying *a)
{
	const char *pattern = a->change->outer;
	struct run *runs = vpt_calloc(a->t->thread_count, sizeof(*runs));
	struct vpa_cover outer = {0};
	uint32_t i;
	int rc = runs ? vpa_cover_find(a->t, pattern, &outer) : VPT_ENOMEM;

	for (i = 0; i < a->t->call_count && !rc; i++)
		rc = add_to_graph(a, &runs[a->t->calls[i].thread], i, outer.calls[i]);
	for (i = 0; i < a->t->thread_count && !rc; i++)
		if (runs[i].range)
			rc = end_run(a, &runs[i]);
	vpa_cover_free(&outer);
	vpt_free(runs);
	return rc;
}

/* ---- all ---- */

static int apply(struct applying *a)
{
	switch (a->change->kind) {
	case VPA_CHANGE_DROP:
		return each_call(a, drop);
	case VPA_CHANGE_DELETE:
		return each_call(a, delete_call);
	case VPA_CHANGE_HOST:
		return scale_host(a);
	case VPA_CHANGE_HOST_AFTER:
		return each_call(a, scale_after);
	case VPA_CHANGE_SCALE:
		return scale_ops(a, 0);
	case VPA_CHANGE_RATE:
		return scale_ops(a, a->change->factor);
	case VPA_CHANGE_PIN:
		return pin_all(a);
	case VPA_CHANGE_ASIDE:
		return put_aside(a);
	case VPA_CHANGE_GRAPH:
		return make_graph(a);
	default:
		return skip(a);
	}
}

static uint32_t *find_next(const struct vpa_tape *t)
{
	uint32_t *next = vpt_alloc(t->call_count, sizeof(*next));
	uint32_t *last = vpt_alloc(t->thread_count, sizeof(*last)), i;

	for (i = 0; last && i < t->thread_count; i++)
		last[i] = VPA_TAPE_NONE;
	for (i = (uint32_t)t->call_count; last && next && i--;) {
		next[i] = last[t->calls[i].thread];
		last[t->calls[i].thread] = i;
	}
	if (!last) {
		vpt_free(next);
		next = NULL;
	}
	vpt_free(last);
	return next;
}

int vpa_effects_find(struct vpa_tape *t, const struct vpa_edges *e, const struct vpa_world *worlds,
	size_t world_count, struct vpa_effects *out, uint64_t *hits, struct vpt_err *err)
{
	struct applying a = {.t = t, .e = e, .x = out, .next = find_next(t), .err = err};
	size_t i;
	int rc = a.next ? VPT_OK : VPT_ENOMEM;

	*out = (struct vpa_effects){0};
	for (a.world = 0; a.world < world_count && !rc; a.world++)
		for (i = 0; i < worlds[a.world].change_count && !rc; i++) {
			a.change = &worlds[a.world].changes[i];
			a.hits = 0;
			rc = vpa_cover_find(t, a.change->place, &a.cover);
			if (!rc)
				rc = apply(&a);
			vpa_cover_free(&a.cover);
			*hits++ = a.hits;
		}
	vpt_free(a.next);
	return rc == VPT_ENOMEM ? vpt_fail(err, rc, "no memory to replay the trace") : rc;
}

void vpa_effects_free(struct vpa_effects *x)
{
	vpt_free(x->calls);
	vpt_free(x->ops);
	*x = (struct vpa_effects){0};
}
