/* findings_again.c - conclusions about work that is the same in each block or request, and could be done once.
 *
 * A stage before the steps that runs the same number of kernels and copies for the same time in each block, while no block gets data
 * from the host: what it computes may never change. Whether it does is not in the trace, since it may read what a block before it made:
 * so that is asked, and nothing is predicted. Decoders, encoders, what denoises and what copies frames get something new each time,
 * and what grows or varies is not the same. And a range that loads a model or an adapter, whatever it takes: its name says that the
 * result can be kept.
 *
 * In training, encoders of the data are mostly frozen: then what they make of a sample never changes, and can be encoded once for
 * all. Whether they are is not in the trace, except that convolutions have no gradients then: so that is asked. And activation
 * checkpointing runs forward work again. */
#include "analysis/advice/finding.h"

#include "analysis/advice/full_memory.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/model/recomputation.h"
#include "analysis/names/range_names.h"
#include "analysis/pipeline/range_scopes.h"
#include "analysis/pipeline/unit.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <string.h>

enum { AGAIN = 3 /* units at least */ };

/* Of the units' time; and the most that lengths may differ to be the same. */
static const double again_share = 0.1, same_share = 0.02;

/* ---- names ---- */

/* Whether a stage gets something new each time, or goes on with what came before. */
static int is_of_new_data(const char *name)
{
	static const char *const words[] = {"encod", "decod", "vae", "taehv", "denois", "sampl",
		"scheduler", "step", "transformer", "dit", "unet", "postprocess", "post_process",
		"to_host", "to_cpu", "download", "upload", "copy", "frame", "push", "emit",
		"control", "image", "video", "audio", "text", "prompt", "token", "cache", "kv",
		"context", "prefill", "recompute", "noise", "wav", "flow", "depth", "pose"};
	struct vpa_scope_label label;
	size_t i, len = strlen(name);

	vpa_scope_builtin(name, len, &label);
	for (i = 0; i < COUNT(words); i++)
		if (vpa_range_has_word(name, len, words[i]))
			return 1;
	return label.work == VPA_WORK_PROMPT || label.work == VPA_WORK_VAE ||
	       label.work == VPA_WORK_WHOLE;
}

/* ---- stages before the steps ---- */

/* The number of stages before the first that is a step. */
static size_t first_step(const struct vpa_report *r)
{
	size_t i = 0;

	while (i < r->stage_count && r->stages[i].kind != VPA_SCOPE_STEP &&
		!r->stages[i].holds_steps)
		i++;
	return i < r->stage_count ? i : 0;
}

static int is_same_in_blocks(const struct vpa_stage_row *s, const struct vpa_blocks *b)
{
	return s->kind == VPA_SCOPE_STAGE && !s->nested && s->in_blocks == b->measured &&
	       s->ops % s->in_blocks == 0 && s->time.deviation_ns < same_share * s->time.mean_ns &&
	       s->alone_share >= again_share && !is_of_new_data(s->name);
}

/* `words`: with the name and the unit. */
static struct vpa_finding *add_again(
	struct vpa_report *r, const struct vpa_saving *s, const char *name, const char *words)
{
	struct vpa_finding *f = vpa_finding_add(r, VPA_FOUND_WORK_AGAIN, vpa_saving_status(r, s));

	if (!f)
		return NULL;
	vpa_finding_saves(r, f, s);
	f->words = words;
	f->threshold = "the same in each of 3 units or more, a tenth of their time";
	vpa_finding_evidence(f, name);
	return f;
}

/* What the first block does is needed. */
static void find_same_stage(struct vpa_report *r, const struct vpa_blocks *b)
{
	size_t i, until = first_step(r);
	struct vpa_finding *f;

	/* Most blocks get data, on which all their stages may depend. */
	if (b->measured < AGAIN || r->block_uploads >= b->measured)
		return;
	for (i = 0; i < until; i++) {
		const struct vpa_stage_row *s = &r->stages[i];
		uint64_t ns = b->count > b->measured
				      ? s->alone_ns
				      : vpt_sat_scale(s->alone_ns, b->measured - 1, b->measured);
		struct vpa_saving saving = {.ns = ns, .base_ns = ns};

		if (!is_same_in_blocks(s, b) || !vpa_saving_is_worth(r, &saving))
			continue;
		f = add_again(r, &saving, s->name,
			vpa_arena_printf(&r->arena, "%s once, if its input stays",
				vpa_fit(s->name, 24).text));
		if (!f)
			return;
		f->title = vpa_arena_printf(&r->arena,
			"%s does the same in each block: if its input stays the same, do it once "
			"and keep the result",
			vpa_fit(s->name, 40).text);
		f->measured = vpa_arena_printf(&r->arena,
			"%s: the same %" PRIu64
			" op%s in each of %zu blocks, %s with nothing else beside it",
			vpa_fit(s->name, 100).text, s->ops / s->in_blocks,
			vpa_plural(s->ops / s->in_blocks), b->measured,
			vpa_duration(s->alone_ns).text);
		f->note = f->measured;
		f->caveat = "what a stage reads is not in the trace: it may change";
		f->is_asked = 1;
		f->base_likely_ms = f->base_gain_ms / 2;
	}
}

/* ---- what is loaded again ---- */

/* How often the program does its work; 0: nothing says so. */
static size_t count_units(const struct vpa_report *r, const struct vpa_mean_unit *unit)
{
	if (unit->kind == VPA_UNIT_REQUEST)
		return r->request_count;
	if (unit->kind == VPA_UNIT_BLOCK && vpa_main_request(r))
		return vpa_main_request(r)->blocks.count;
	return unit->kind == VPA_UNIT_INSTANCE && r->device_count == 1
		       ? vpa_unit_count(r, unit->kind)
		       : 0;
}

/* "pass" is what the first screen calls an instance. */
static const char *unit_name(const struct vpa_mean_unit *unit)
{
	return unit->kind == VPA_UNIT_INSTANCE ? "pass" : vpa_unit_kind_name(unit->kind);
}

static uint64_t range_ns(const struct vpa_range_row *range)
{
	return vpt_sat_add(range->busy_ns, range->idle_host_ns);
}

/* The range that loads longest in each unit, as often in each. NULL: none does. */
static const struct vpa_range_row *longest_load(const struct vpa_report *r, size_t units)
{
	const struct vpa_range_row *best = NULL;
	size_t i;

	for (i = 0; i < r->range_count; i++) {
		const struct vpa_range_row *range = &r->ranges[i];
		uint64_t count = range->host.count;

		if (count < units || count % units || range->ops % count ||
			!vpa_range_loads(range->name, strlen(range->name)))
			continue;
		best = !best || range_ns(range) > range_ns(best) ? range : best;
	}
	return best;
}

static void find_load(struct vpa_report *r)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	size_t units = count_units(r, &unit);
	const struct vpa_range_row *range = units >= AGAIN ? longest_load(r, units) : NULL;
	struct vpa_saving s = {.ns = 0};
	struct vpa_finding *f;

	if (!range)
		return;
	s.ns = vpt_sat_scale(range_ns(range), units - 1, units);
	s.base_ns = vpt_sat_u64((double)range_ns(range) / (double)units * unit.units);
	if ((double)s.base_ns < again_share * (double)unit.span_ns * (double)unit.devices ||
		!vpa_saving_is_worth(r, &s))
		return;
	s.base_ns = vpa_earlier(s.base_ns, s.ns);
	f = add_again(r, &s, range->name,
		vpa_arena_printf(&r->arena, "%s once, not in each %s",
			vpa_fit(range->name, 24).text, unit_name(&unit)));
	if (!f)
		return;
	f->gain_shared_ms =
		f->gain_at_most_ms * (double)range->idle_host_ns / (double)range_ns(range);
	f->title = vpa_arena_printf(&r->arena,
		"%s runs in each %s: load once, and keep what was loaded",
		vpa_fit(range->name, 40).text, unit_name(&unit));
	f->measured = vpa_arena_printf(&r->arena,
		"%s: %" PRIu64 " times in %zu %s, the GPU works %s for it and waits %s",
		vpa_fit(range->name, 100).text, range->host.count, units,
		vpa_arena_printf(&r->arena, "%s%s", unit_name(&unit),
			unit.kind == VPA_UNIT_INSTANCE ? "es" : "s"),
		vpa_duration(range->busy_ns).text, vpa_duration(range->idle_host_ns).text);
	f->note = f->measured;
	f->caveat = "what was loaded takes memory";
}

/* ---- encoders of training ---- */

static uint64_t iteration_count(const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->stage_count; i++)
		if (r->stages[i].kind == VPA_SCOPE_ITERATION)
			return r->stages[i].count;
	return 0;
}

/* Whether a stage encodes what comes in: a prompt, an image, a video. */
static int encodes(const struct vpa_stage_row *s)
{
	size_t len = strlen(s->name);
	struct vpa_scope_label label;

	vpa_scope_builtin(s->name, len, &label);
	return label.work == VPA_WORK_PROMPT || vpa_range_is_encoder(s->name, len);
}

/* How long convolutions run in the stage. */
static uint64_t convs_of(const struct vpa_report *r, const struct vpa_stage_row *s)
{
	const struct vpa_expert *e = &r->expert;
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < e->stage_family_count; i++)
		if (e->stage_families[i].family == VPA_FAMILY_CONV &&
			!strcmp(e->stage_families[i].stage, s->name))
			vpt_sat_add_to(&ns, e->stage_families[i].exclusive_ns);
	return ns;
}

/* How long convolutions run in all: those of gradients, or the others. */
static uint64_t all_convs(const struct vpa_report *r, int of_gradients)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->kernel_names; i++)
		if (r->kernels[i].family == VPA_FAMILY_CONV &&
			vpa_is_marked(r->kernels[i].marks, VPA_MARK_BACKWARD) == of_gradients)
			vpt_sat_add_to(&ns, r->kernels[i].exclusive_ns);
	return ns;
}

/* Gradients of convolutions take about twice as long as these. So an encoder of convolutions is frozen where there is less of them than
 * it and all other convolutions would need. */
static int may_be_frozen(const struct vpa_report *r, const struct vpa_stage_row *s)
{
	uint64_t own = convs_of(r, s), others = vpt_sat_sub(all_convs(r, 0), own);

	return !own || all_convs(r, 1) < vpt_sat_add(own, vpt_sat_add(others, others));
}

static const char *and_name(struct vpa_report *r, const char *list, const char *name)
{
	return list ? vpa_arena_printf(&r->arena, "%s and %s", list, vpa_fit(name, 40).text)
		    : vpa_arena_printf(&r->arena, "%s", vpa_fit(name, 40).text);
}

/* The encoders of iterations, together. */
struct encoders {
	const char *names, *change; /* NULL: none */
	const char *listed[3];
	size_t count;
	uint64_t ns;
	int cannot_change; /* the name of one cannot be a part of a change */
};

static void add_encoder(struct vpa_report *r, struct encoders *e, const struct vpa_stage_row *s)
{
	e->cannot_change |= !vpa_is_plain_name(s->name);
	e->names = and_name(r, e->names, s->name);
	e->change = vpa_arena_printf(&r->arena, "%s%sskip 1/1 %s", e->change ? e->change : "",
		e->change ? "; " : "", s->name);
	e->listed[e->count++] = s->name;
	vpt_sat_add_to(&e->ns, s->alone_ns);
}

static void gather_encoders(struct vpa_report *r, uint64_t iterations, struct encoders *e)
{
	size_t i;

	for (i = 0; i < r->stage_count && e->count < COUNT(e->listed); i++) {
		const struct vpa_stage_row *row = &r->stages[i];

		if (row->kind == VPA_SCOPE_STAGE && row->count >= iterations && row->alone_ns &&
			encodes(row) && may_be_frozen(r, row))
			add_encoder(r, e, row);
	}
}

static void describe_encoders(
	struct vpa_report *r, struct vpa_finding *f, const struct encoders *e, uint64_t iterations)
{
	size_t i;

	f->title = vpa_arena_printf(&r->arena,
		"%s run%s in each iteration of training: if frozen, encode the data set once, and "
		"keep latents and embeddings",
		e->names, e->count > 1 ? "" : "s");
	f->measured = vpa_arena_printf(&r->arena,
		"%s: %s in %" PRIu64
		" iterations with nothing else beside; if frozen, a sample has "
		"the same result each time",
		e->names, vpa_duration(e->ns).text, iterations);
	f->note = f->measured;
	f->threshold = "once in each of 3 iterations or more, 2 % of active, 1 % of the window";
	f->caveat = "whether encoders are frozen, and whether data are changed at random before "
		    "them, is not in the trace";
	f->change = e->cannot_change ? NULL : e->change;
	for (i = 0; i < e->count; i++)
		vpa_finding_evidence(f, e->listed[i]);
}

static void find_encoders(struct vpa_report *r)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	uint64_t iterations = iteration_count(r);
	struct encoders e = {.names = NULL};
	struct vpa_saving s = {.ns = 0};
	struct vpa_finding *f;

	if (iterations < AGAIN || !vpa_unit_trains(r))
		return;
	gather_encoders(r, iterations, &e);
	s.ns = e.ns;
	s.base_ns = vpa_earlier(vpt_sat_u64((double)e.ns / (double)iterations * unit.units), e.ns);
	if (!vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_ENCODED_AGAIN, vpa_saving_status(r, &s));
	if (!f)
		return;
	vpa_finding_saves(r, f, &s);
	describe_encoders(r, f, &e, iterations);
}

/* ---- forward work in the backward pass ---- */

static void describe_recomputation(struct vpa_report *r, struct vpa_finding *f)
{
	const struct vpa_recomputed *again = &r->recomputed;
	const char *memory = vpa_most_memory(r);

	f->title = "activation checkpointing runs forward work again in the backward pass: leave "
		   "it out where memory allows, or in some layers";
	f->measured = vpa_arena_printf(&r->arena,
		"%s of forward work again, %" PRIu64 " op%s in %" PRIu64 " checkpoint%s%s%s",
		vpa_duration(again->total_ns).text, again->ops, vpa_plural(again->ops),
		again->count, vpa_plural(again->count), memory ? "; " : "", memory ? memory : "");
	f->note = f->measured;
	f->threshold = "2 % of active, 1 % of the window";
	f->caveat = "activations that are kept take memory: a smaller batch may be needed";
	f->is_unsure = 1;
	vpa_finding_evidence(f, VPA_RECOMPUTES);
}

static void find_recomputation(struct vpa_report *r)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	struct vpa_saving s = {.ns = vpa_earlier(r->recomputed.total_ns, vpa_busy_ns(r))};
	struct vpa_finding *f;

	s.base_ns = vpt_sat_scale(s.ns, vpa_earlier(unit.busy_ns, vpa_busy_ns(r)), vpa_busy_ns(r));
	if (!vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_RECOMPUTATION, vpa_saving_status(r, &s));
	if (!f)
		return;
	vpa_finding_saves(r, f, &s);
	describe_recomputation(r, f);
}

void vpa_find_again(struct vpa_report *r)
{
	const struct vpa_request *q = vpa_main_request(r);

	if (q)
		find_same_stage(r, &q->blocks);
	find_load(r);
	find_encoders(r);
	find_recomputation(r);
}
