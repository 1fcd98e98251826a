/* new_graphs.c - which launches a change makes a graph of. */
#include "analysis/retime/replay/rules.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>

/* Launches of a thread that become one. */
struct run {
	struct vpa_graph_run is;
	uint32_t range; /* 0: no run */
	uint32_t pass;  /* the range of the last run */
	uint32_t launches;
	uint32_t outer; /* in which the last run of this thread was captured */
	int any;
};

struct finding {
	struct vpa_effects *x;
	struct vpa_rule *rule;
	struct vpa_walk *walk;
	struct run *runs; /* by thread */
};

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

/* One launch alone stays what it is. */
static int end_run(const struct finding *f, struct run *run)
{
	struct vpa_rule *r = f->rule;

	run->range = 0;
	if (run->launches < 2)
		return VPT_OK;
	if (vpt_grow(&r->runs, &r->run_cap, r->run_count + 1, sizeof(*r->runs)))
		return VPT_ENOMEM;
	r->runs[r->run_count++] = run->is;
	return VPT_OK;
}

/* Parts of one pass are captured together. */
static void begin_run(struct run *run, uint32_t call, uint32_t range, uint32_t outer)
{
	if (!run->any || run->outer != outer)
		run->is.is_captured = 1;
	else if (run->pass != range)
		run->is.is_captured = 0;
	run->any = 1;
	run->outer = outer;
	run->range = run->pass = range;
	run->is.first = run->is.last = call;
	run->is.host_ns = 0;
	run->launches = 1;
}

static int add_call(struct finding *f, uint32_t call, const struct vpa_call_effects *effects)
{
	const struct vpa_tape_call *c = &f->x->t->calls[call];
	struct run *run = &f->runs[c->thread];
	uint32_t range = vpa_walk_place(f->walk, c->thread, f->rule->place),
		 outer = vpa_walk_place(f->walk, c->thread, f->rule->outer), world = f->rule->world;
	struct vpa_call_effect now = {.gap_ns = c->gap_ns, .cost_ns = c->cost_ns};
	int is_launch, rc = VPT_OK;

	if (effects->worlds >> world & 1)
		now = effects->at[world];
	is_launch = !now.is_gone && can_be_captured(c, &now);
	if (run->range && (run->range != range || !(is_launch || is_neutral(c, &now))))
		rc = end_run(f, run);
	if (!run->range && range && is_launch) {
		begin_run(run, call, range, outer);
	} else if (run->range) {
		vpt_sat_add_to(
			&run->is.host_ns, vpt_sat_add(now.gap_ns, now.is_gone ? 0 : now.cost_ns));
		if (is_launch) {
			run->launches++;
			run->is.last = call;
		}
	}
	return rc;
}

static int by_first(const void *a, const void *b)
{
	const struct vpa_graph_run *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* The first rule of the same world. */
static size_t first_rule(const struct vpa_effects *x, size_t rule)
{
	size_t first = rule;

	while (first && x->rules[first - 1].world == x->rules[rule].world)
		first--;
	return first;
}

int vpa_graphs_find(struct vpa_effects *x, size_t rule)
{
	const struct vpa_tape *t = x->t;
	struct finding f = {.x = x, .rule = &x->rules[rule]};
	struct vpa_call_effects *effects = vpt_alloc(1, sizeof(*effects));
	size_t i;
	int rc = VPT_ENOMEM;

	f.walk = vpa_walk_part(x, first_rule(x, rule), rule);
	f.runs = vpt_calloc(t->thread_count + 1, sizeof(*f.runs));
	if (effects && f.walk && f.runs)
		rc = VPT_OK;
	for (i = 0; i < t->call_count && !rc; i++) {
		vpa_walk_call(f.walk, (uint32_t)i, effects);
		rc = add_call(&f, (uint32_t)i, effects);
	}
	for (i = 0; i < t->thread_count && !rc; i++)
		if (f.runs[i].range)
			rc = end_run(&f, &f.runs[i]);
	if (!rc && f.rule->run_count)
		qsort(f.rule->runs, f.rule->run_count, sizeof(*f.rule->runs), by_first);
	vpa_walk_free(f.walk);
	vpt_free(f.runs);
	vpt_free(effects);
	return rc;
}
