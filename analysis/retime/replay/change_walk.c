/* change_walk.c - goes through the calls with all rules.
 *
 * Rules of one call add up, so what each does to it is written here, on the same effects: more than 600 lines. */
#include "analysis/retime/replay/rules.h"

#include "analysis/model/model.h"
#include "analysis/retime/replay/chain_ops.h"
#include "analysis/retime/replay/replay_clocks.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	/* Of a CUDA graph, where the trace has none: to launch it, host code before that, to instantiate it. */
	GRAPH_LAUNCH_NS = 8000,
	GRAPH_CODE_NS = 30000,
	GRAPH_BUILD_NS = 1000000,
	/* A stack that was sampled is taken to be there so long at most, if no other was seen. */
	SAMPLE_HOLDS_NS = 100000000
};

/* A thread, as far as its calls have come. All sets are of rules. */
struct walk_thread {
	struct vpa_whereabouts gap,
		call;               /* of the middle of the code before the call; of its start */
	uint64_t *in_gap, *in_call; /* rules whose places are there */
	uint64_t *meant;            /* rules that meant the last call */
	uint64_t *carried;          /* rules whose small read ended with the last call, a wait */
	uint64_t *others;           /* rules that are about other threads only */
	size_t sample,
		last_sample; /* of the tape: the one before the code before the call; the end of the thread's */
	uint32_t *runs; /* by rule: 1 + the run of a graph that the thread is in; 0: none */
	int captures;   /* it has begun to capture a graph */
};

struct vpa_walk {
	struct vpa_effects *x;
	size_t from, to; /* rules */
	int counts;      /* the walk that counts what is meant */
	int is_measured; /* the current call is to be counted */
	struct walk_thread *threads;
	uint64_t *words;                       /* what the threads' sets are in */
	uint32_t *numbers;                     /* what their ranges and runs are in */
	size_t *next_run;                      /* by rule */
	uint64_t *todo, *wait, *after, *means; /* sets, of one call */
	struct vpa_call_effects *out;
};

/* ---- lengths that a replay can add up ---- */

static uint64_t scaled(uint64_t ns, double factor)
{
	uint64_t scaled_ns = vpt_sat_u64((double)ns * factor);

	return scaled_ns < VPA_CLOCK_LAST ? scaled_ns : VPA_CLOCK_LAST;
}

static void lengthen(uint64_t *ns, uint64_t more_ns)
{
	*ns = vpt_sat_add(*ns, more_ns);
	if (*ns > VPA_CLOCK_LAST)
		*ns = VPA_CLOCK_LAST;
}

/* ---- where and what a call is ---- */

static void find_rules(const struct vpa_effects *x, const struct vpa_whereabouts *w,
	const uint64_t *others, uint64_t *rules)
{
	size_t place, i;

	memcpy(rules, vpa_rule_set(x, VPA_RULES_EVERYWHERE), x->words * sizeof(*rules));
	for (place = 0; place < x->cover.place_count; place++)
		for (i = 0; w->ranges[place] && i < x->words; i++)
			rules[i] |= x->of_place[place * x->words + i];
	for (i = 0; i < x->words; i++)
		rules[i] &= ~others[i];
}

/* Whether a change names another thread than this one, by name or number. */
static int is_of_other(
	const struct vpa_tape *t, const struct vpa_change *c, const struct vpa_tape_thread *thread)
{
	char number[32];

	if (!*c->thread)
		return 0;
	snprintf(number, sizeof(number), "%" PRId64, thread->tid);
	return strcmp(number, c->thread) != 0 &&
	       !(thread->name && vpa_name_matches(t, thread->name, c->thread));
}

static void find_place(
	const struct vpa_effects *x, struct walk_thread *th, const struct vpa_tape_call *c)
{
	if (vpa_cover_at(&x->cover, c->thread, c->start_ns - c->gap_ns / 2, &th->gap))
		find_rules(x, &th->gap, th->others, th->in_gap);
	if (vpa_cover_at(&x->cover, c->thread, c->start_ns, &th->call))
		find_rules(x, &th->call, th->others, th->in_call);
}

/* Adds the rules that mean the copies that the call makes. */
static void mean_copies(struct vpa_effects *x, const struct vpa_tape_call *c, uint64_t *meant)
{
	const uint64_t *small = vpa_rule_set(x, VPA_RULES_SMALL_READS);
	int is_small = 1;
	uint32_t i;
	size_t k;

	for (i = 0; i < c->op_count; i++) {
		const struct vpa_tape_op *o = &x->t->ops[x->t->launched[c->op + i]];

		is_small &= !o->is_kernel && o->copy_kind == VPT_COPYKIND_DTOH &&
			    o->bytes <= VPA_SMALL_BYTES;
		for (k = 0; !o->is_kernel && k < x->words; k++)
			meant[k] |= x->copy_kind[o->copy_kind * x->words + k];
	}
	for (k = 0; is_small && k < x->words; k++)
		meant[k] |= small[k];
}

/* Adds the rules that mean chains, if all that the call launches is of one. */
static void mean_chains(const struct vpa_effects *x, const struct vpa_tape_call *c, uint64_t *meant)
{
	uint8_t all = UINT8_MAX;
	uint32_t i;
	size_t k, w;

	for (i = 0; i < c->op_count; i++)
		all &= x->chains[x->t->launched[c->op + i]];
	for (k = 0; k < VPA_CHAIN_RULES; k++)
		for (w = 0; all & vpa_chain_rules[k].chain && w < x->words; w++)
			meant[w] |= vpa_rule_set(x, vpa_chain_rules[k].set)[w];
}

/* ---- what a rule does ---- */

/* What the call is in a world so far. */
static struct vpa_call_effect *of_call(
	struct vpa_walk *w, const struct vpa_tape_call *c, uint32_t world)
{
	struct vpa_call_effect *effect = &w->out->at[world];
	uint32_t bit = (uint32_t)1 << world;

	if (!(w->out->worlds & bit))
		*effect = (struct vpa_call_effect){
			.gap_ns = c->gap_ns, .cost_ns = c->cost_ns, .after_ns = c->after_ns};
	w->out->worlds |= bit;
	return effect;
}

static void hit(const struct vpa_walk *w, const struct vpa_rule *r)
{
	*r->hits += (uint64_t)w->is_measured;
}

static int is_stretch(const struct vpa_change *c, uint64_t ns)
{
	return ns >= c->least_ns && (!c->most_ns || ns < c->most_ns);
}

static void cut_cost(struct vpa_call_effect *effect, const struct vpa_tape_call *c)
{
	uint64_t cost_ns = vpa_edges_cost_without_wait(c->klass);

	effect->no_wait = 1;
	if (effect->cost_ns > cost_ns)
		effect->cost_ns = cost_ns;
}

/* Where host code of the length that the change names follows. */
static void stop_waiting(
	struct vpa_walk *w, const struct vpa_rule *r, const struct vpa_tape_call *c)
{
	const struct vpa_tape_call *calls = w->x->t->calls;
	struct vpa_call_effect *effect;

	if (!c->target_count ||
		!is_stretch(r->change, c->next == VPA_TAPE_NONE ? 0 : calls[c->next].gap_ns))
		return;
	effect = of_call(w, c, r->world);
	if (effect->is_gone || effect->no_wait)
		return;
	cut_cost(effect, c);
	hit(w, r);
}

/* Whether a launch of a kernel, or a wait that has nothing to wait for, took so long. */
static int is_long_call(const struct vpa_tape_call *c)
{
	return c->cost_ns >= VPA_STOP_NS && c->waits == VPA_WAIT_NONE &&
	       (c->klass == VPT_CALL_LAUNCH || c->klass == VPT_CALL_SYNC);
}

/* Whether one went on for so long after the end of what it waited for: of a launch, after its queue had room. */
static int is_late_wait(const struct vpa_tape_call *c)
{
	return c->after_ns >= VPA_STOP_NS && c->waits != VPA_WAIT_NONE &&
	       (c->klass == VPT_CALL_LAUNCH || c->klass == VPT_CALL_SYNC);
}

static int is_stop(const struct vpa_tape_call *c)
{
	return c->gap_ns >= VPA_STOP_NS || is_long_call(c) || is_late_wait(c);
}

static void lower(uint64_t *ns, uint64_t most_ns)
{
	*ns = *ns < most_ns ? *ns : most_ns;
}

/* Where the host stood still it takes what is usual. Host code of this length may be just that, unless it ends when
 * stops do. */
static void drop_stops(struct vpa_walk *w, const struct vpa_rule *r, const struct vpa_tape_call *c)
{
	struct vpa_stop_clock clock = r->change->stops;
	int in_call = (is_long_call(c) || is_late_wait(c)) && vpa_stop_ends_at(clock, c->end_ns),
	    in_code = c->gap_ns >= VPA_STOP_NS && clock.every_ns &&
		      vpa_stop_ends_at(clock, c->start_ns);
	struct vpa_call_effect *effect;

	if (!in_call && !in_code)
		return;
	effect = of_call(w, c, r->world);
	if (in_code)
		lower(&effect->gap_ns, w->x->e->launch_gap_ns);
	if (in_call && is_late_wait(c))
		effect->after_ns = (int64_t)vpa_edges_cost_without_wait(c->klass);
	else if (in_call)
		lower(&effect->cost_ns, c->klass == VPT_CALL_LAUNCH
						? w->x->launch_ns
						: vpa_edges_cost_without_wait(c->klass));
	hit(w, r);
}

/* The call and its ops. Of the host code before it, what a launch usually needs goes too; all of it if it is short. */
static void remove_call(
	struct vpa_walk *w, const struct vpa_rule *r, const struct vpa_tape_call *c, int with_code)
{
	struct vpa_call_effect *effect = of_call(w, c, r->world);

	if (with_code || (!effect->is_gone && effect->gap_ns < VPA_LAUNCH_GAP_NS))
		effect->gap_ns = 0;
	else if (!effect->is_gone)
		effect->gap_ns -= w->x->e->launch_gap_ns;
	if (!effect->is_gone)
		hit(w, r);
	effect->is_gone = 1;
	w->out->ops_gone |= (uint32_t)1 << r->world;
}

/* A rule about the call itself. */
static void change_call(struct vpa_walk *w, const struct vpa_rule *r, const struct vpa_tape_call *c)
{
	switch (r->change->kind) {
	case VPA_CHANGE_DROP:
		if (r->change->what == VPA_WHAT_STOPS)
			drop_stops(w, r, c);
		else
			stop_waiting(w, r, c);
		break;
	case VPA_CHANGE_DELETE:
		remove_call(w, r, c,
			r->change->what == VPA_WHAT_BUILDS && w->threads[c->thread].captures);
		break;
	default:
		cut_cost(of_call(w, c, r->world), c);
	}
}

/* For how much of the code before a call a line was in the thread's stack. */
static uint64_t time_at_line(
	struct vpa_walk *w, const struct vpa_rule *r, const struct vpa_tape_call *c)
{
	struct walk_thread *th = &w->threads[c->thread];
	const struct vpa_tape_sample *s, *end = w->x->t->samples + th->last_sample;
	uint64_t from_ns = c->start_ns - c->gap_ns, ns = 0;

	while (th->sample + 1 < th->last_sample && w->x->t->samples[th->sample + 1].ns <= from_ns)
		th->sample++;
	for (s = w->x->t->samples + th->sample; s < end && s->ns < c->start_ns; s++) {
		uint64_t begins_ns = s->ns > from_ns ? s->ns : from_ns, ends_ns = c->start_ns;

		if (s + 1 < end && s[1].ns < ends_ns)
			ends_ns = s[1].ns;
		if (!s->is_exact && ends_ns > s->ns + SAMPLE_HOLDS_NS)
			ends_ns = s->ns + SAMPLE_HOLDS_NS;
		if (s->lines >> r->line & 1 && ends_ns > begins_ns)
			ns += ends_ns - begins_ns;
	}
	return ns;
}

/* Of the code before a call, what is at a line. */
static void scale_line(struct vpa_walk *w, const struct vpa_rule *r, const struct vpa_tape_call *c)
{
	uint64_t ns = time_at_line(w, r, c);
	struct vpa_call_effect *effect;

	if (!ns)
		return;
	effect = of_call(w, c, r->world);
	/* Earlier changes made all of the code this much longer. */
	ns = scaled(ns, (double)effect->gap_ns / (double)c->gap_ns);
	effect->gap_ns = vpt_sat_sub(effect->gap_ns, ns);
	lengthen(&effect->gap_ns, scaled(ns, r->change->factor));
	hit(w, r);
}

static void scale_gap(struct vpa_walk *w, const struct vpa_rule *r, const struct vpa_tape_call *c)
{
	struct vpa_call_effect *effect = of_call(w, c, r->world);

	effect->gap_ns = scaled(effect->gap_ns, r->change->factor);
	hit(w, r);
}

/* What a launch needs of the code before it. Before any other call short code is taken to be a part of launching. */
static void scale_launch(
	struct vpa_walk *w, const struct vpa_rule *r, const struct vpa_tape_call *c)
{
	struct vpa_call_effect *effect;
	uint64_t ns = c->gap_ns;

	if (ns >= VPA_LAUNCH_GAP_NS)
		ns = c->op_count ? w->x->e->launch_gap_ns : 0;
	if (!ns)
		return;
	effect = of_call(w, c, r->world);
	if (ns > effect->gap_ns)
		ns = effect->gap_ns;
	effect->gap_ns -= ns;
	lengthen(&effect->gap_ns, scaled(ns, r->change->factor));
	hit(w, r);
}

/* The code after a call, or after the wait that it ends with. What any launch needs stays. */
static void scale_after(struct vpa_walk *w, const struct vpa_rule *r, const struct vpa_tape_call *c)
{
	struct vpa_call_effect *effect;
	uint64_t stays_ns = w->x->e->launch_gap_ns;

	if (c->gap_ns <= stays_ns || !is_stretch(r->change, c->gap_ns))
		return;
	effect = of_call(w, c, r->world);
	if (effect->gap_ns > stays_ns) {
		effect->gap_ns = scaled(effect->gap_ns - stays_ns, r->change->factor);
		lengthen(&effect->gap_ns, stays_ns);
	}
	hit(w, r);
}

static void skip(struct vpa_walk *w, const struct vpa_rule *r, const struct vpa_tape_call *c,
	const struct walk_thread *th)
{
	int with_code = r->skipped[th->gap.ranges[r->place]];

	if (r->skipped[th->call.ranges[r->place]])
		remove_call(w, r, c, with_code);
	else if (with_code)
		of_call(w, c, r->world)->gap_ns = 0;
}

/* The first launch becomes that of the graph. */
static void make_launch(struct vpa_walk *w, const struct vpa_rule *r,
	const struct vpa_graph_run *run, const struct vpa_tape_call *c)
{
	struct vpa_call_effect *head = of_call(w, c, r->world);

	if (run->is_captured)
		lengthen(&head->gap_ns, vpt_sat_add(run->host_ns, GRAPH_BUILD_NS));
	if (run->is_captured || head->gap_ns < GRAPH_CODE_NS)
		lengthen(&head->gap_ns, GRAPH_CODE_NS);
	head->cost_ns = GRAPH_LAUNCH_NS;
	hit(w, r);
}

/* The others go, and their ops hang on the graph's launch. */
static void join_graph(struct vpa_walk *w, const struct vpa_rule *r,
	const struct vpa_graph_run *run, const struct vpa_tape_call *c)
{
	struct vpa_call_effect *effect = of_call(w, c, r->world);

	effect->gap_ns = 0;
	if (effect->is_gone)
		return;
	effect->is_gone = 1;
	w->out->in_graph |= (uint32_t)1 << r->world;
	w->out->heads[r->world] = run->first;
}

static void graph(struct vpa_walk *w, size_t rule, uint32_t call, struct walk_thread *th)
{
	const struct vpa_rule *r = &w->x->rules[rule];
	const struct vpa_tape_call *c = &w->x->t->calls[call];
	const struct vpa_graph_run *run;

	if (th->runs[rule]) {
		run = &r->runs[th->runs[rule] - 1];
		if (call <= run->last) {
			join_graph(w, r, run, c);
			return;
		}
		th->runs[rule] = 0;
	}
	if (w->next_run[rule] < r->run_count && r->runs[w->next_run[rule]].first == call) {
		th->runs[rule] = (uint32_t)++w->next_run[rule];
		make_launch(w, r, &r->runs[th->runs[rule] - 1], c);
	}
}

/* A rule that the call's sets name. */
static void apply(struct vpa_walk *w, size_t rule, uint32_t call, struct walk_thread *th)
{
	const struct vpa_rule *r = &w->x->rules[rule];
	const struct vpa_tape_call *c = &w->x->t->calls[call];

	switch (r->change->kind) {
	case VPA_CHANGE_HOST:
		if (*r->change->line)
			scale_line(w, r, c);
		else if (r->change->per_launch)
			scale_launch(w, r, c);
		else
			scale_gap(w, r, c);
		break;
	case VPA_CHANGE_HOST_AFTER:
		if (vpa_rule_has(th->carried, rule))
			scale_after(w, r, c);
		if (vpa_rule_has(w->after, rule))
			scale_after(w, r, c);
		break;
	case VPA_CHANGE_SKIP:
	case VPA_CHANGE_STEPS:
		skip(w, r, c, th);
		break;
	case VPA_CHANGE_GRAPH:
		graph(w, rule, call, th);
		break;
	default:
		/* As the wait of a small read, then for its own sake. */
		if (vpa_rule_has(w->wait, rule))
			change_call(w, r, c);
		if (vpa_rule_has(th->meant, rule))
			change_call(w, r, c);
	}
}

/* ---- a call ---- */

/* Rules that mean the call, wherever it is. */
static const uint64_t *mean_call(struct vpa_walk *w, const struct vpa_tape_call *c)
{
	const uint64_t *rules = vpa_rules_of_name(w->x, c->name, c->klass);

	int copies = c->op_count && w->x->copies_matter, chains = c->op_count && w->x->chains,
	    captured = w->x->captures_matter && w->threads[c->thread].captures,
	    stops = w->x->stops_matter && is_stop(c);
	size_t i;

	if (!copies && !chains && !captured && !stops)
		return rules;
	memcpy(w->means, rules, w->x->words * sizeof(*rules));
	if (copies)
		mean_copies(w->x, c, w->means);
	if (chains)
		mean_chains(w->x, c, w->means);
	for (i = 0; captured && i < w->x->words; i++)
		w->means[i] |= vpa_rule_set(w->x, VPA_RULES_CAPTURED)[i];
	for (i = 0; stops && i < w->x->words; i++)
		w->means[i] |= vpa_rule_set(w->x, VPA_RULES_STOPS)[i];
	return w->means;
}

/* Of rules about host code, those that are about stretches of this length. */
static uint64_t mean_stretch(const struct vpa_effects *x, size_t word, uint64_t rules, uint64_t ns)
{
	uint64_t left;

	for (left = rules; left; left &= left - 1)
		if (!is_stretch(x->rules[word * 64 + (size_t)__builtin_ctzll(left)].change, ns))
			rules ^= left & -left;
	return rules;
}

/* Which rules have something to do, from where the call is, what it is, and what was before it. */
static uint64_t find_todo(struct vpa_walk *w, const struct vpa_tape_call *c, struct walk_thread *th)
{
	const struct vpa_effects *x = w->x;
	const uint64_t *means = mean_call(w, c), *now = vpa_rule_set(x, VPA_RULES_NOW),
		       *after = vpa_rule_set(x, VPA_RULES_AFTER),
		       *small = vpa_rule_set(x, VPA_RULES_SMALL),
		       *host = vpa_rule_set(x, VPA_RULES_HOST),
		       *skips = vpa_rule_set(x, VPA_RULES_SKIP),
		       *graphs = vpa_rule_set(x, VPA_RULES_GRAPH);
	uint64_t is_wait = c->klass == VPT_CALL_SYNC && c->gap_ns < VPA_LAUNCH_GAP_NS ? ~(uint64_t)0
										      : 0,
		 is_host = c->gap_ns && c->gap_ns >= x->host_least_ns && c->gap_ns < x->host_most_ns
				   ? ~(uint64_t)0
				   : 0,
		 any = 0;
	size_t i;

	for (i = 0; i < x->words; i++) {
		uint64_t before = th->meant[i], code = th->in_gap[i] & host[i] & is_host;

		th->meant[i] = means[i] & th->in_call[i];
		w->wait[i] = before & small[i] & is_wait;
		w->after[i] = before & after[i] & ~w->wait[i];
		w->todo[i] = th->carried[i] | w->after[i] | ((w->wait[i] | th->meant[i]) & now[i]) |
			     (code ? mean_stretch(x, i, code, c->gap_ns) : 0) |
			     ((th->in_gap[i] | th->in_call[i]) & skips[i]) | graphs[i];
		any |= w->todo[i] | (w->wait[i] & after[i]);
	}
	return any;
}

static void apply_all(struct vpa_walk *w, uint32_t call, struct walk_thread *th)
{
	uint64_t bits;
	size_t i, rule;

	for (i = w->from / 64; i < w->x->words; i++)
		for (bits = w->todo[i]; bits; bits &= bits - 1) {
			rule = i * 64 + (size_t)__builtin_ctzll(bits);
			if (rule >= w->from && rule < w->to)
				apply(w, rule, call, th);
		}
}

static void carry(const struct vpa_walk *w, struct walk_thread *th)
{
	size_t i;

	for (i = 0; i < w->x->words; i++)
		th->carried[i] = w->wait[i] & vpa_rule_set(w->x, VPA_RULES_AFTER)[i];
}

void vpa_walk_call(struct vpa_walk *w, uint32_t call, struct vpa_call_effects *out)
{
	const struct vpa_tape_call *c = &w->x->t->calls[call];
	struct walk_thread *th = &w->threads[c->thread];
	uint32_t i;

	out->worlds = out->gone = out->ops_gone = out->in_graph = 0;
	out->inside = th->in_call;
	if (!w->x->rule_count)
		return;
	w->out = out;
	w->is_measured =
		w->counts && c->start_ns >= w->x->t->from_ns && c->start_ns < w->x->t->to_ns;
	find_place(w->x, th, c);
	if (find_todo(w, c, th)) {
		apply_all(w, call, th);
		carry(w, th);
	}
	if (c->klass == VPT_CALL_BEGIN_CAPTURE || c->klass == VPT_CALL_END_CAPTURE)
		th->captures = c->klass == VPT_CALL_BEGIN_CAPTURE;
	for (i = 0; out->worlds >> i; i++)
		if (out->worlds >> i & 1)
			out->gone |= (uint32_t)out->at[i].is_gone << i;
}

uint32_t vpa_walk_place(const struct vpa_walk *w, uint32_t thread, uint32_t place)
{
	return place == VPA_TAPE_NONE ? 1 : w->threads[thread].call.ranges[place];
}

/* ---- all ---- */

/* Of each thread its samples. */
static void find_samples(struct vpa_walk *w)
{
	const struct vpa_tape *t = w->x->t;
	size_t i;

	for (i = 0; i < t->sample_count; i++) {
		struct walk_thread *th = &w->threads[t->samples[i].thread];

		if (!th->last_sample)
			th->sample = i;
		th->last_sample = i + 1;
	}
}

static int start_threads(struct vpa_walk *w)
{
	const struct vpa_effects *x = w->x;
	size_t threads = x->t->thread_count, sets = 5, i, rule;
	size_t numbers = 2 * x->cover.place_count + x->rule_count;
	uint64_t *words;
	uint32_t *number;

	w->threads = vpt_calloc(threads + 1, sizeof(*w->threads));
	w->words = vpt_calloc(threads * sets * x->words + 4 * x->words, sizeof(*w->words));
	w->numbers = vpt_calloc(threads * numbers + 1, sizeof(*w->numbers));
	w->next_run = vpt_calloc(x->rule_count + 1, sizeof(*w->next_run));
	if (!w->threads || !w->words || !w->numbers || !w->next_run)
		return VPT_ENOMEM;
	words = w->words;
	w->todo = words;
	w->wait = words + x->words;
	w->after = words + 2 * x->words;
	w->means = words + 3 * x->words;
	words += 4 * x->words;
	number = w->numbers;
	for (i = 0; i < threads; i++, words += sets * x->words, number += numbers) {
		struct walk_thread *th = &w->threads[i];

		th->in_gap = words;
		th->in_call = words + x->words;
		th->meant = words + 2 * x->words;
		th->carried = words + 3 * x->words;
		th->others = words + 4 * x->words;
		for (rule = 0; rule < x->rule_count; rule++)
			if (is_of_other(x->t, x->rules[rule].change, &x->t->threads[i]))
				vpa_rule_add(th->others, rule);
		th->gap.ranges = number;
		th->call.ranges = number + x->cover.place_count;
		th->runs = number + 2 * x->cover.place_count;
		find_rules(x, &th->gap, th->others, th->in_gap);
		find_rules(x, &th->call, th->others, th->in_call);
	}
	find_samples(w);
	return VPT_OK;
}

struct vpa_walk *vpa_walk_part(struct vpa_effects *x, size_t from, size_t to)
{
	struct vpa_walk *w = vpt_calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->x = x;
	w->from = from;
	w->to = to;
	if (start_threads(w)) {
		vpa_walk_free(w);
		return NULL;
	}
	return w;
}

struct vpa_walk *vpa_walk_new(struct vpa_effects *x)
{
	struct vpa_walk *w = vpa_walk_part(x, 0, x->rule_count);

	if (w)
		w->counts = 1;
	return w;
}

void vpa_walk_free(struct vpa_walk *w)
{
	if (!w)
		return;
	vpt_free(w->threads);
	vpt_free(w->words);
	vpt_free(w->numbers);
	vpt_free(w->next_run);
	vpt_free(w);
}
