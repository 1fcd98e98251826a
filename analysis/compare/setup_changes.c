/* setup_changes.c - what differs in the set-up: the work, the GPUs, versions, the environment.
 *
 * A side's fact is its runs' common text; if they differ, all texts, separated by commas. */
#include "analysis/compare/comparison_steps.h"

#include "analysis/base/numbers.h"
#include "analysis/render/fields/fields.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <string.h>

enum { FACTS_MAX = 128, TEXTS_MOST = 4 };

/* A fact of one report; NULL: not known. */
typedef const char *(*fact_reader)(
	const struct vpa_report *r, const char *key, struct vpa_arena *arena);

/* ---- sides ---- */

static int is_listed(const char *const *texts, size_t count, const char *text)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(texts[i], text))
			return 1;
	return 0;
}

static const char *side_text(
	const struct vpa_side *s, fact_reader read, const char *key, struct vpa_arena *arena)
{
	const char *texts[TEXTS_MOST], *all = NULL;
	size_t count = 0, i;

	for (i = 0; i < s->count && count < TEXTS_MOST; i++) {
		const char *text = read(s->reports[i], key, arena);

		if (!text || !*text || is_listed(texts, count, text))
			continue;
		texts[count++] = text;
		all = all ? vpa_arena_printf(arena, "%s, %s", all, text) : text;
	}
	return all;
}

static void add_fact(
	struct vpa_comparison *c, const char *name, fact_reader read, const char *key, int is_work)
{
	const char *a = side_text(&c->a, read, key, &c->arena);
	const char *b = side_text(&c->b, read, key, &c->arena);

	if (c->fact_count == FACTS_MAX || (!a && !b) || (a && b && !strcmp(a, b)))
		return;
	c->facts[c->fact_count++] = (struct vpa_compared_fact){name, a, b, is_work};
}

/* ---- the work ---- */

static const char *blocks_text(const struct vpa_report *r, const char *key, struct vpa_arena *arena)
{
	uint64_t blocks = 0, requests = 0;
	size_t i;

	(void)key;
	for (i = 0; i < r->request_count; i++) {
		vpt_sat_add_to(&blocks, r->requests[i].blocks.count);
		requests += r->requests[i].blocks.count > 0;
	}
	return requests ? vpa_arena_printf(arena, "%" PRIu64 " in %" PRIu64 " request%s", blocks,
				  requests, vpa_plural(requests))
			: NULL;
}

/* The last block's: the first often has another number. */
static const char *last_block(
	const struct vpa_report *r, size_t member, const char *unit, struct vpa_arena *arena)
{
	const struct vpa_request *q = vpa_main_request(r);
	uint64_t value;

	if (!q || !q->blocks.count)
		return NULL;
	value = *(const uint64_t *)(const void
			*)((const char *)&q->blocks.series[q->blocks.count - 1] + member);
	return value ? vpa_arena_printf(arena, "%" PRIu64 " %s", value, unit) : NULL;
}

static const char *frames_text(const struct vpa_report *r, const char *key, struct vpa_arena *arena)
{
	(void)key;
	return last_block(r, offsetof(struct vpa_block_row, frames), "frames", arena);
}

static const char *latents_text(
	const struct vpa_report *r, const char *key, struct vpa_arena *arena)
{
	(void)key;
	return last_block(r, offsetof(struct vpa_block_row, latents), "latents", arena);
}

static const char *warmup_text(const struct vpa_report *r, const char *key, struct vpa_arena *arena)
{
	const struct vpa_request *q = vpa_main_request(r);

	(void)key;
	return q && q->blocks.count ? vpa_arena_printf(arena, "%zu blocks", q->blocks.warmup)
				    : NULL;
}

static const char *steps_text(const struct vpa_report *r, const char *key, struct vpa_arena *arena)
{
	const struct vpa_request *q = vpa_main_request(r);
	uint64_t milli;

	(void)key;
	if (!q || !q->steps.count)
		return NULL;
	if (q->steps.per_block <= 0)
		return vpa_arena_printf(arena, "%" PRIu64 " in a request", q->steps.count);
	milli = vpt_sat_u64(q->steps.per_block * 1000 + 0.5);
	return milli % 1000 ? vpa_arena_printf(arena, "%" PRIu64 ".%03" PRIu64 " per block",
				      milli / 1000, milli % 1000)
			    : vpa_arena_printf(arena, "%" PRIu64 " per block", milli / 1000);
}

static const char *passes_text(const struct vpa_report *r, const char *key, struct vpa_arena *arena)
{
	const struct vpa_request *q = vpa_main_request(r);

	(void)key;
	return q && q->steps.count ? vpa_arena_printf(arena, "%" PRIu64, q->steps.context_count)
				   : NULL;
}

static const char *window_text(const struct vpa_report *r, const char *key, struct vpa_arena *arena)
{
	(void)key;
	(void)arena;
	return r->window_note ? r->window_note : "the whole capture";
}

static const char *devices_text(
	const struct vpa_report *r, const char *key, struct vpa_arena *arena)
{
	(void)key;
	return vpa_arena_printf(arena, "%zu", r->device_count);
}

/* ---- the machine ---- */

/* The GPUs at work: "2 x NAME (sm_90, 132 SMs, 79 GiB)". */
static const char *gpus_text(const struct vpa_report *r, const char *key, struct vpa_arena *arena)
{
	const struct vpa_gpu *g = NULL;
	size_t i, k, count = 0;

	(void)key;
	for (i = 0; i < r->gpu_count; i++)
		for (k = 0; k < r->device_count; k++)
			if (r->devices[k].device == r->gpus[i].device) {
				g = g ? g : &r->gpus[i];
				count++;
			}
	if (!g || !g->name || !*g->name)
		return NULL;
	if (!g->compute_major)
		return vpa_arena_printf(arena, "%zu x %s", count, g->name);
	return vpa_arena_printf(arena, "%zu x %s (sm_%u%u, %u SMs, %" PRIu64 " GiB)", count,
		g->name, g->compute_major, g->compute_minor, g->sm_count,
		vpt_sat_add(g->memory_bytes, (uint64_t)1 << 29) >> 30);
}

static const char *simulated_text(
	const struct vpa_report *r, const char *key, struct vpa_arena *arena)
{
	(void)key;
	(void)arena;
	return r->simulated > 0 ? "yes" : r->simulated ? NULL : "no";
}

static const char *format_text(const struct vpa_report *r, const char *key, struct vpa_arena *arena)
{
	(void)key;
	(void)arena;
	return r->format;
}

static const char *meta_text(const struct vpa_report *r, const char *key, struct vpa_arena *arena)
{
	(void)arena;
	return vpa_meta_of_key(r, key);
}

/* What every tool records, whatever it calls it. */
static const char *system_text(const struct vpa_report *r, const char *key, struct vpa_arena *arena)
{
	const struct vpa_at at = {r, r, NULL};
	char bytes[VPA_FIELD_BYTES];
	size_t i;

	(void)arena;
	for (i = 0; i < vpa_fields_system.count; i++) {
		const struct vpa_field *f = &vpa_fields_system.at[i];

		if (!strcmp(f->key, key) && f->text)
			return f->text(&at, f->offset, bytes);
	}
	return NULL;
}

/* Pairs that say nothing about the run, only about its file. What the sampler counts in a run is a figure of it, not a
 * choice: all its numbers but the rate that was asked for. */
static int is_dull(const char *key, const char *value)
{
	static const char *const dull[] = {"trace_name", "profilingStartTime", "trace_id"};
	static const char sampler[] = "stacks.", rate[] = "stacks.hz";

	if (!strncmp(key, sampler, sizeof(sampler) - 1) && strcmp(key, rate) != 0)
		return value && !value[strspn(value, "0123456789")];
	return is_listed(dull, sizeof(dull) / sizeof(dull[0]), key);
}

static int has_fact(const struct vpa_comparison *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->fact_count; i++)
		if (!strcmp(c->facts[i].name, name))
			return 1;
	return 0;
}

static void add_meta(struct vpa_comparison *c, const struct vpa_side *s)
{
	size_t i, k;

	for (i = 0; i < s->count; i++)
		for (k = 0; k < s->reports[i]->meta_count; k++) {
			const struct vpa_pair *pair = &s->reports[i]->meta[k];
			const char *key = pair->key;

			if (key && !is_dull(key, pair->value) && !vpa_system_has(key) &&
				!has_fact(c, key))
				add_fact(c, key, meta_text, key, 0);
		}
}

int vpa_compare_facts(struct vpa_comparison *c)
{
	static const struct {
		const char *name;
		fact_reader read;
		int is_work;
	} facts[] = {
		{"GPUs", gpus_text, 1},
		{"GPUs at work", devices_text, 1},
		{"blocks", blocks_text, 1},
		{"frames of a block", frames_text, 1},
		{"latents of a block", latents_text, 1},
		{"steps", steps_text, 1},
		{"context passes", passes_text, 1},
		{"warm-up", warmup_text, 1},
		{"window", window_text, 1},
		{"simulated", simulated_text, 0},
		{"recorded as", format_text, 0},
	};
	size_t i;

	c->facts = vpa_arena_alloc(&c->arena, FACTS_MAX, sizeof(*c->facts));
	if (!c->facts)
		return VPT_ENOMEM;
	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		add_fact(c, facts[i].name, facts[i].read, NULL, facts[i].is_work);
	for (i = 0; i < vpa_fields_system.count; i++)
		if (vpa_fields_system.at[i].text)
			add_fact(c, vpa_fields_system.at[i].key, system_text,
				vpa_fields_system.at[i].key, 0);
	add_meta(c, &c->a);
	add_meta(c, &c->b);
	return c->arena.failed ? VPT_ENOMEM : VPT_OK;
}
