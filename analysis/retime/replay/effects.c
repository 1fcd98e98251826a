/* effects.c - the rules of all worlds, and what they do to ops. */
#include "analysis/retime/replay/rules.h"

#include "analysis/base/sort.h"
#include "analysis/retime/replay/chain_ops.h"
#include "analysis/retime/replay/replay_clocks.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

enum { RATE_BYTES = 1 << 20 /* a smaller copy says nothing about the rate */ };

int vpa_world_deletes(const struct vpa_world *w)
{
	size_t i;

	for (i = 0; i < w->change_count; i++)
		if (w->changes[i].kind == VPA_CHANGE_DELETE ||
			w->changes[i].kind == VPA_CHANGE_GRAPH ||
			w->changes[i].kind == VPA_CHANGE_SKIP ||
			w->changes[i].kind == VPA_CHANGE_STEPS)
			return 1;
	return 0;
}

/* ---- names ---- */

static int means_name(
	const struct vpa_effects *x, const struct vpa_change *c, uint32_t name, uint8_t klass)
{
	switch (c->what) {
	case VPA_WHAT_CALLS:
	case VPA_WHAT_KERNELS:
		return vpa_name_matches(x->t, name, c->name);
	case VPA_WHAT_SYNCS:
		return klass == VPT_CALL_SYNC;
	case VPA_WHAT_LAUNCHES:
		return klass == VPT_CALL_LAUNCH || klass == VPT_CALL_GRAPH_LAUNCH;
	case VPA_WHAT_COPIES:
		return klass == VPT_CALL_COPY || klass == VPT_CALL_BLOCKING_COPY;
	case VPA_WHAT_ALLOCATIONS:
		return klass == VPT_CALL_ALLOCATION;
	case VPA_WHAT_LOADS:
		return klass == VPT_CALL_MODULE_LOAD;
	case VPA_WHAT_BUILDS:
		return klass == VPT_CALL_GRAPH_BUILD || klass == VPT_CALL_BEGIN_CAPTURE ||
		       klass == VPT_CALL_END_CAPTURE;
	default:
		return 0;
	}
}

const uint64_t *vpa_rules_find_name(struct vpa_effects *x, uint32_t name, uint8_t klass)
{
	uint64_t *row;
	size_t i;

	if (vpt_grow(&x->names, &x->name_cap, x->name_rows + 1, x->words * sizeof(*x->names))) {
		x->failed = 1;
		return x->names;
	}
	row = &x->names[x->name_rows * x->words];
	memset(row, 0, x->words * sizeof(*row));
	for (i = 0; i < x->rule_count; i++)
		if (means_name(x, x->rules[i].change, name, klass))
			vpa_rule_add(row, i);
	x->name_row[2 * (size_t)name + (klass == VPA_KERNEL_CLASS)] = (uint32_t)++x->name_rows;
	return row;
}

/* ---- rules ---- */

/* The number of a pattern, which is added where it is new. */
static uint32_t place_of(const char **patterns, size_t *count, const char *pattern)
{
	uint32_t i;

	if (!*pattern)
		return VPA_TAPE_NONE;
	for (i = 0; i < *count; i++)
		if (!strcmp(patterns[i], pattern))
			return i;
	patterns[(*count)++] = pattern;
	return i;
}

static uint32_t line_of(const struct vpa_tape *t, const char *line)
{
	uint32_t i;

	for (i = 0; *line && i < t->line_count; i++)
		if (!strcmp(t->lines[i], line))
			return i;
	return VPA_TAPE_NONE;
}

static enum vpa_rule_set set_of(const struct vpa_change *c)
{
	switch (c->kind) {
	case VPA_CHANGE_HOST:
		return VPA_RULES_HOST;
	case VPA_CHANGE_HOST_AFTER:
		return VPA_RULES_AFTER;
	case VPA_CHANGE_SCALE:
	case VPA_CHANGE_RATE:
		return VPA_RULES_OP;
	case VPA_CHANGE_ASIDE:
		return VPA_RULES_ASIDE;
	case VPA_CHANGE_GRAPH:
		return VPA_RULES_GRAPH;
	case VPA_CHANGE_SKIP:
	case VPA_CHANGE_STEPS:
		return VPA_RULES_SKIP;
	default:
		return VPA_RULES_NOW;
	}
}

const struct vpa_chain_rules vpa_chain_rules[VPA_CHAIN_RULES] = {
	{VPA_WHAT_ADAPTERS, VPA_RULES_ADAPTERS, VPA_CHAIN_ADAPTER},
	{VPA_WHAT_UNPACKING, VPA_RULES_UNPACKING, VPA_CHAIN_UNPACKING},
	{VPA_WHAT_REDUCTIONS, VPA_RULES_REDUCTIONS, VPA_CHAIN_REDUCTION},
	{VPA_WHAT_RECOMPUTED, VPA_RULES_RECOMPUTED, VPA_CHAIN_RECOMPUTED},
};

static void add_chain(struct vpa_effects *x, size_t i)
{
	size_t k;

	for (k = 0; k < VPA_CHAIN_RULES; k++)
		if (vpa_chain_rules[k].what == x->rules[i].change->what) {
			x->chains_matter = 1;
			vpa_rule_add(vpa_rule_set(x, vpa_chain_rules[k].set), i);
		}
}

/* Puts a rule into the sets of what it means. */
static void add_meaning(struct vpa_effects *x, size_t i)
{
	const struct vpa_change *c = x->rules[i].change;

	switch (c->what) {
	case VPA_WHAT_SMALL_READS:
		x->copies_matter = 1;
		vpa_rule_add(vpa_rule_set(x, VPA_RULES_SMALL_READS), i);
		vpa_rule_add(vpa_rule_set(x, VPA_RULES_SMALL), i);
		break;
	case VPA_WHAT_COPY_KIND:
		x->copies_matter = 1;
		vpa_rule_add(&x->copy_kind[(c->number % VPA_COPY_KINDS) * x->words], i);
		break;
	case VPA_WHAT_FAMILY:
		vpa_rule_add(&x->families[c->number * x->words], i);
		break;
	case VPA_WHAT_STOPS:
		x->stops_matter = 1;
		vpa_rule_add(vpa_rule_set(x, VPA_RULES_STOPS), i);
		break;
	case VPA_WHAT_BUILDS:
		x->captures_matter = 1;
		vpa_rule_add(vpa_rule_set(x, VPA_RULES_CAPTURED), i);
		break;
	default:
		add_chain(x, i);
		break;
	}
}

static void widen_stretches(struct vpa_effects *x, const struct vpa_change *c)
{
	uint64_t most_ns = c->most_ns ? c->most_ns : UINT64_MAX;

	if (x->host_least_ns > c->least_ns)
		x->host_least_ns = c->least_ns;
	if (x->host_most_ns < most_ns)
		x->host_most_ns = most_ns;
}

static void add_to_sets(struct vpa_effects *x, size_t i)
{
	const struct vpa_rule *r = &x->rules[i];

	vpa_rule_add(vpa_rule_set(x, set_of(r->change)), i);
	if (r->change->kind == VPA_CHANGE_HOST)
		widen_stretches(x, r->change);
	if (r->change->kind == VPA_CHANGE_PIN)
		vpa_rule_add(vpa_rule_set(x, VPA_RULES_OP), i);
	add_meaning(x, i);
	if (r->place == VPA_TAPE_NONE)
		vpa_rule_add(vpa_rule_set(x, VPA_RULES_EVERYWHERE), i);
	else
		vpa_rule_add(&x->of_place[r->place * x->words], i);
}

/* ---- a rate ---- */

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

static int find_rate(const struct vpa_effects *x, struct vpa_rule *r)
{
	const struct vpa_change *c = r->change;

	if (c->factor > 0)
		*r->rate = c->factor;
	else if (!(*r->rate > 0))
		*r->rate = pinned_rate(x->t, c->number);
	return *r->rate < 0 ? VPT_ENOMEM : VPT_OK;
}

/* ---- what is usual ---- */

/* The middle time of launches of kernels that wait for nothing. 0 or VPT_ENOMEM. */
static int find_launch_ns(const struct vpa_tape *t, uint64_t *out)
{
	int64_t *all = vpt_alloc(t->call_count + 1, sizeof(*all));
	size_t count = 0, i;

	if (!all)
		return VPT_ENOMEM;
	for (i = 0; i < t->call_count; i++)
		if (t->calls[i].klass == VPT_CALL_LAUNCH && t->calls[i].waits == VPA_WAIT_NONE)
			all[count++] = (int64_t)t->calls[i].cost_ns;
	*out = count ? (uint64_t)vpa_nth(all, count, count / 2) : 0;
	vpt_free(all);
	return VPT_OK;
}

/* ---- what is skipped ---- */

/* Every N-th instance of a range, in the order of their start. */
static void skip_some(const struct vpa_tape *t, struct vpa_rule *r)
{
	uint32_t number = 0;
	size_t i;

	for (i = 0; i < t->range_count; i++)
		if (vpa_name_matches(t, t->ranges[i].name, r->change->place))
			r->skipped[i + 1] = ++number % r->change->number == 0;
}

/* By range: 1 + the one of its thread around it; 0: none. */
static void find_outer(const struct vpa_tape *t, uint32_t *last, uint32_t *outer)
{
	size_t i;

	for (i = 0; i < t->range_count; i++) {
		const struct vpa_tape_range *range = &t->ranges[i];
		uint32_t at = last[range->thread];

		while (at && t->ranges[at - 1].end_ns <= range->start_ns)
			at = outer[at - 1];
		outer[i] = at;
		last[range->thread] = (uint32_t)i + 1;
	}
}

/* All but N of the instances in each range around them. Of K, the one with number i runs if N / K of the first i + 1 are
 * more than of the first i. */
static int skip_surplus(const struct vpa_tape *t, struct vpa_rule *r)
{
	uint32_t *last = vpt_calloc(t->thread_count + 1, sizeof(*last)),
		 *outer = vpt_calloc(t->range_count + 1, sizeof(*outer));
	uint64_t *counts = vpt_calloc(t->range_count + 1, sizeof(*counts)),
		 *numbers = vpt_calloc(t->range_count + 1, sizeof(*numbers)), n = r->change->number;
	int rc = last && outer && counts && numbers ? VPT_OK : VPT_ENOMEM;
	size_t i;

	if (!rc)
		find_outer(t, last, outer);
	for (i = 0; !rc && i < t->range_count; i++)
		counts[outer[i]] +=
			(uint64_t)vpa_name_matches(t, t->ranges[i].name, r->change->place);
	for (i = 0; !rc && i < t->range_count; i++) {
		uint64_t k = counts[outer[i]], number = numbers[outer[i]];

		if (k <= n || !vpa_name_matches(t, t->ranges[i].name, r->change->place))
			continue;
		r->skipped[i + 1] = (number + 1) * n / k == number * n / k;
		numbers[outer[i]]++;
	}
	vpt_free(last);
	vpt_free(outer);
	vpt_free(counts);
	vpt_free(numbers);
	return rc;
}

static int find_skipped(const struct vpa_effects *x, struct vpa_rule *r)
{
	if (r->change->kind != VPA_CHANGE_SKIP && r->change->kind != VPA_CHANGE_STEPS)
		return VPT_OK;
	r->skipped = vpt_calloc(x->t->range_count + 1, 1);
	if (!r->skipped)
		return VPT_ENOMEM;
	if (r->change->kind == VPA_CHANGE_STEPS)
		return skip_surplus(x->t, r);
	skip_some(x->t, r);
	return VPT_OK;
}

/* ---- all ---- */

static int make_rules(struct vpa_effects *x, const struct vpa_world *worlds, size_t world_count,
	const char **patterns, size_t *pattern_count)
{
	size_t w, i, at = 0;

	for (w = 0; w < world_count; w++)
		for (i = 0; i < worlds[w].change_count; i++) {
			struct vpa_rule *r = &x->rules[at++];
			const struct vpa_change *c = &worlds[w].changes[i];

			*r = (struct vpa_rule){
				.change = c, .world = (uint32_t)w, .hits = &worlds[w].hits[i]};
			r->line = line_of(x->t, c->line);
			r->place = place_of(patterns, pattern_count, c->place);
			r->outer = place_of(patterns, pattern_count, c->outer);
			if (c->kind == VPA_CHANGE_RATE || c->kind == VPA_CHANGE_PIN)
				r->rate = &worlds[w].rates[i];
			if (c->kind == VPA_CHANGE_ASIDE)
				r->aside = ++x->asides;
		}
	return vpa_cover_find(x->t, patterns, *pattern_count, &x->cover);
}

static int make_sets(struct vpa_effects *x, size_t place_count)
{
	size_t i;

	x->sets = vpt_calloc(VPA_RULE_SETS * x->words, sizeof(*x->sets));
	x->copy_kind = vpt_calloc(VPA_COPY_KINDS * x->words, sizeof(*x->copy_kind));
	x->families = vpt_calloc(VPA_FAMILY_COUNT * x->words, sizeof(*x->families));
	x->of_place = vpt_calloc(place_count * x->words + 1, sizeof(*x->of_place));
	x->name_row = vpt_calloc(2 * x->t->names.count + 1, sizeof(*x->name_row));
	/* A first row, for want of a better one where memory ends. */
	if (!x->sets || !x->copy_kind || !x->families || !x->of_place || !x->name_row ||
		vpt_grow_zeroed(&x->names, &x->name_cap, 1, x->words * sizeof(*x->names)))
		return VPT_ENOMEM;
	for (i = 0; i < x->rule_count; i++)
		add_to_sets(x, i);
	return VPT_OK;
}

static int find_details(struct vpa_effects *x)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < x->rule_count && !rc; i++) {
		rc = x->rules[i].rate ? find_rate(x, &x->rules[i]) : VPT_OK;
		if (!rc)
			rc = find_skipped(x, &x->rules[i]);
		if (!rc && x->rules[i].change->kind == VPA_CHANGE_GRAPH)
			rc = vpa_graphs_find(x, i);
	}
	return rc;
}

int vpa_effects_new(const struct vpa_tape *t, const struct vpa_edges *e,
	const struct vpa_world *worlds, size_t world_count, struct vpa_effects **out)
{
	struct vpa_effects *x = *out = vpt_calloc(1, sizeof(*x));
	const char **patterns;
	size_t count = 0, pattern_count = 0, w;
	int rc = VPT_ENOMEM;

	for (w = 0; w < world_count; w++)
		count += worlds[w].change_count;
	patterns = vpt_alloc(2 * count + 1, sizeof(*patterns));
	if (x && patterns) {
		x->t = t;
		x->e = e;
		x->rule_count = count;
		x->host_least_ns = UINT64_MAX;
		x->words = count ? (count + 63) / 64 : 1;
		x->rules = vpt_calloc(count + 1, sizeof(*x->rules));
		rc = x->rules ? make_rules(x, worlds, world_count, patterns, &pattern_count)
			      : VPT_ENOMEM;
	}
	if (!rc)
		rc = make_sets(x, pattern_count);
	if (!rc)
		rc = find_details(x);
	if (!rc && x->stops_matter)
		rc = find_launch_ns(t, &x->launch_ns);
	if (!rc && x->chains_matter)
		rc = vpa_chain_ops_find(t, &x->chains);
	vpt_free(patterns);
	return rc;
}

void vpa_effects_free(struct vpa_effects *x)
{
	size_t i;

	if (!x)
		return;
	for (i = 0; x->rules && i < x->rule_count; i++) {
		vpt_free(x->rules[i].skipped);
		vpt_free(x->rules[i].runs);
	}
	vpt_free(x->rules);
	vpt_free(x->sets);
	vpt_free(x->copy_kind);
	vpt_free(x->families);
	vpt_free(x->of_place);
	vpt_free(x->name_row);
	vpt_free(x->chains);
	vpt_free(x->names);
	vpa_cover_free(&x->cover);
	vpt_free(x);
}

uint32_t vpa_effects_asides(const struct vpa_effects *x)
{
	return x->asides;
}

static int is_empty(const struct vpa_effects *x, enum vpa_rule_set set)
{
	const uint64_t *bits = vpa_rule_set(x, set);
	size_t i;

	for (i = 0; i < x->words; i++)
		if (bits[i])
			return 0;
	return 1;
}

int vpa_effects_make_graphs(const struct vpa_effects *x)
{
	return !is_empty(x, VPA_RULES_GRAPH);
}

size_t vpa_effects_words(const struct vpa_effects *x)
{
	return x->words;
}

int vpa_effects_failed(const struct vpa_effects *x)
{
	return x->failed;
}

/* ---- ops ---- */

/* A copy of unknown size keeps its length, whatever the rate. */
static void change_op(const struct vpa_effects *x, const struct vpa_rule *r,
	const struct vpa_tape_op *o, struct vpa_op_effect *effect)
{
	uint32_t on_gpu = r->change->on_gpu;

	if (on_gpu && x->t->streams[o->stream].device != (int64_t)on_gpu - 1)
		return;
	if (r->change->kind == VPA_CHANGE_ASIDE)
		effect->aside = r->aside;
	else if (!r->rate)
		effect->duration_ns = vpt_sat_i64((double)effect->duration_ns * r->change->factor);
	else if (o->bytes && *r->rate > 0)
		effect->duration_ns = vpt_sat_i64((double)o->bytes / *r->rate);
	else
		return;
	if (effect->duration_ns > VPA_CLOCK_LAST)
		effect->duration_ns = VPA_CLOCK_LAST;
	*r->hits += o->start_ns >= x->t->from_ns && o->start_ns < x->t->to_ns;
}

uint32_t vpa_effects_on_op(struct vpa_effects *x, const struct vpa_tape_op *o,
	const uint64_t *inside, struct vpa_op_effect out[VPA_WORLDS_MOST])
{
	const uint64_t *asides = vpa_rule_set(x, VPA_RULES_ASIDE),
		       *ops = vpa_rule_set(x, VPA_RULES_OP),
		       *by_name = o->is_kernel ? vpa_rules_of_name(x, o->name, VPA_KERNEL_CLASS)
					       : NULL,
		       *by_kind = o->is_kernel ? &x->families[o->family * x->words]
					       : &x->copy_kind[o->copy_kind * x->words];
	uint32_t worlds = 0;
	size_t i;

	for (i = 0; i < x->words; i++) {
		uint64_t bits = ((by_kind[i] | (by_name ? by_name[i] : 0)) & ops[i]) | asides[i];

		bits &= inside ? inside[i] : vpa_rule_set(x, VPA_RULES_EVERYWHERE)[i];
		for (; bits; bits &= bits - 1) {
			const struct vpa_rule *r =
				&x->rules[i * 64 + (size_t)__builtin_ctzll(bits)];
			struct vpa_op_effect *effect = &out[r->world];

			if (!(worlds >> r->world & 1))
				*effect = (struct vpa_op_effect){
					.duration_ns = (int64_t)(o->end_ns - o->start_ns)};
			worlds |= (uint32_t)1 << r->world;
			change_op(x, r, o, effect);
		}
	}
	return worlds;
}
