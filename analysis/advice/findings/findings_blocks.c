/* findings_blocks.c - conclusions about blocks, steps and stages of the reported request.
 *
 * The thresholds are those of interactive video: at least 10 frames and 2 blocks per second, at most 30 denoising
 * steps and 8 latent frames per block. Nothing is reported if a number is unavailable. Whether FPS
 * reaches a target is part of the result, and no finding beside it. */
#include "analysis/advice/finding.h"

#include "analysis/advice/gain_unit.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/names/families.h"
#include "analysis/names/range_names.h"
#include "analysis/pipeline/range_scopes.h"
#include "analysis/report/overview.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <string.h>

static const double least_fps = 10, least_bps = 2, most_steps = 30, most_latents = 8;

/* Growth of attention is worth a line from this share of the period, per block. */
static const double growth_share = 0.01;
/* Attention is all that grows from this share of the growth. */
static const double nearly_all = 0.9;

/* A stage is worth a line if its work has a device to itself for this share of the blocks' time. */
static const double stage_share = 0.3;

/* Blocks that show that something is done in each. */
enum { AGAIN = 3 };

/* Without a target the result judges no rate. */
static void find_fps(struct vpa_report *r, const struct vpa_request *q)
{
	double fps = q->blocks.fps > 0 ? q->blocks.fps : q->fps_end_to_end;
	struct vpa_finding *f;

	if (r->target_millifps || !(fps > 0) || fps >= least_fps)
		return;
	f = vpa_finding_add(r, VPA_FOUND_FPS, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = "too slow to watch while it is made: --target FPS says what each frame may take";
	f->measured = vpa_arena_printf(&r->arena, "%s frames per second%s", vpa_fixed(fps, 2).text,
		q->blocks.fps > 0 ? "" : ", end to end");
	f->threshold = "10 frames per second";
	f->note = f->measured;
}

static void find_bps(struct vpa_report *r, const struct vpa_blocks *b)
{
	struct vpa_finding *f;

	if (b->bps < 0 || b->bps >= least_bps)
		return;
	f = vpa_finding_add(r, VPA_FOUND_BPS, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = "user input takes effect one block late: make blocks shorter";
	f->measured =
		vpa_arena_printf(&r->arena, "%s blocks per second", vpa_fixed(b->bps, 2).text);
	f->threshold = "2 blocks per second";
	f->note = f->measured;
}

static void find_steps(struct vpa_report *r, const struct vpa_request *q)
{
	int in_blocks = q->steps.per_block >= 0;
	double steps = in_blocks ? q->steps.per_block : (double)q->steps.count;
	struct vpa_finding *f;

	/* A window may hold any number of videos or images; steps of training have no such limit. */
	if (!r->is_diffusion || steps <= most_steps || (!in_blocks && !q->source))
		return;
	f = vpa_finding_add(r, VPA_FOUND_STEPS, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = "use fewer denoising steps: distilled models need 4 to 8, step caches skip some";
	f->measured = vpa_arena_printf(&r->arena, "%s denoising steps %s",
		vpa_fixed(steps, steps != (double)(uint64_t)steps).text,
		in_blocks ? "per block" : "per request");
	f->threshold = "30 steps";
	f->note = f->measured;
}

static void find_block_size(struct vpa_report *r, const struct vpa_blocks *b)
{
	uint64_t most = 0;
	struct vpa_finding *f;
	size_t i;

	for (i = 0; i < b->count; i++)
		most = b->series[i].latents > most ? b->series[i].latents : most;
	if ((double)most <= most_latents)
		return;
	f = vpa_finding_add(r, VPA_FOUND_BLOCK_SIZE, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = "use smaller blocks: the first frame waits for all latent frames of its block";
	f->measured = vpa_arena_printf(&r->arena, "%" PRIu64 " latent frames per block", most);
	f->threshold = "8 latent frames";
	f->note = f->measured;
}

/* Attention time in measured blocks that other findings already claim. */
static uint64_t sold_ns(const struct vpa_report *r)
{
	static const enum vpa_finding_id ids[] = {
		VPA_FOUND_EAGER_ATTENTION, VPA_FOUND_ATTENTION_CHANGE};
	double ms = 0;
	size_t i, k;

	for (i = 0; i < r->finding_count; i++)
		for (k = 0; k < sizeof(ids) / sizeof(ids[0]); k++)
			if (r->findings[i].id == ids[k])
				ms += r->findings[i].gain_at_most_ms;
	return vpt_sat_u64(ms * 1e6 + 0.5);
}

/* Time of whole sequences GEMM, softmax, GEMM that is not softmax, in proportion to `softmax_ns`. */
static double eager_gemms_ns(const struct vpa_report *r, double softmax_ns)
{
	uint64_t total = 0, softmax = 0;
	size_t i;

	for (i = 0; i < r->attention.eager_count; i++) {
		vpt_sat_add_to(&total, r->attention.eager[i].total_ns);
		vpt_sat_add_to(&softmax, r->attention.eager[i].softmax_ns);
	}
	return softmax ? softmax_ns * (double)vpt_sat_sub(total, softmax) / (double)softmax : 0;
}

/* With more keys in the cache the GEMMs of unfused attention grow as its softmax does. */
static void write_drifts(struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->request_count; i++) {
		struct vpa_blocks *b = &r->requests[i].blocks;

		if (b->eager_drift_ns > 0)
			b->attention_drift_most_ns =
				b->attention_drift_ns + eager_gemms_ns(r, b->eager_drift_ns);
	}
}

/* The row of the stage that grows most; NULL: none does. */
static const struct vpa_stage_row *grown_stage(
	const struct vpa_report *r, const struct vpa_blocks *b)
{
	size_t i;

	for (i = 0; b->grown_stage && i < r->stage_count; i++)
		if (!strcmp(r->stages[i].name, b->grown_stage))
			return &r->stages[i];
	return NULL;
}

/* Whether it decodes: then it needs no more keys than its own, and grows where old latents are decoded again. */
static int is_decoder_growth(const struct vpa_blocks *b)
{
	return vpa_range_is_decoder(b->grown_stage, strlen(b->grown_stage)) ||
	       (b->grown == VPA_FAMILY_CONV && 2 * b->grown_drift_ns >= b->grown_stage_drift_ns);
}

/* Growth of a stage that has a line of its own: enough of it, and not attention. */
static int has_stage_growth(const struct vpa_report *r, const struct vpa_blocks *b)
{
	const struct vpa_stage_row *s = grown_stage(r, b);
	struct vpa_saving saving = {
		.ns = b->grown_stage_more_ns, .base_ns = b->grown_stage_more_ns};

	return s && b->has_drift && b->grown_stage_drift_ns >= growth_share * b->period.mean_ns &&
	       s->attention_ns < s->busy_ns / 2 && vpa_saving_is_worth(r, &saving);
}

/* Of that, what no shorter KV window saves. */
static int has_decoder_growth(const struct vpa_report *r, const struct vpa_blocks *b)
{
	return has_stage_growth(r, b) && is_decoder_growth(b);
}

/* Whether blocks grow by more than attention does, as where what it reads is computed anew in each: then the same window that
 * makes attention shorter makes other work shorter too. */
static int grows_beside(const struct vpa_report *r, const struct vpa_blocks *b)
{
	double drift = b->period_drift_ns;

	if (has_decoder_growth(r, b))
		drift -= b->grown_stage_drift_ns;
	return b->attention_drift_most_ns < nearly_all * drift;
}

/* The GPUs' work beyond that of the block with least. */
static uint64_t work_growth_ns(const struct vpa_report *r, const struct vpa_blocks *b)
{
	uint64_t least = UINT64_MAX, ns = 0;
	size_t i;

	for (i = 0; i < b->count; i++)
		if (!b->series[i].warmup)
			least = vpa_earlier(b->series[i].busy_ns, least);
	for (i = 0; i < b->count; i++)
		if (!b->series[i].warmup)
			vpt_sat_add_to(&ns, b->series[i].busy_ns - least);
	return has_decoder_growth(r, b) ? vpt_sat_sub(ns, b->grown_stage_more_ns) : ns;
}

/* Attention beyond that of the block with least, as a range where some of it is not fused, or other work grows too. */
static struct vpa_saving growth_of(const struct vpa_report *r, const struct vpa_blocks *b)
{
	uint64_t least = UINT64_MAX, least_eager = UINT64_MAX, eager = 0;
	struct vpa_saving s = {0};
	size_t i;

	for (i = 0; i < b->count; i++) {
		if (b->series[i].warmup)
			continue;
		least = vpa_earlier(b->series[i].attention_ns, least);
		least_eager = vpa_earlier(b->series[i].eager_ns, least_eager);
	}
	for (i = 0; i < b->count; i++) {
		if (b->series[i].warmup)
			continue;
		vpt_sat_add_to(&s.ns, b->series[i].attention_ns - least);
		vpt_sat_add_to(&eager, b->series[i].eager_ns - least_eager);
	}
	s.from_ns = eager || grows_beside(r, b) ? s.ns : 0;
	vpt_sat_add_to(&s.ns, vpt_sat_u64(eager_gemms_ns(r, (double)eager) + 0.5));
	if (grows_beside(r, b))
		s.ns = vpa_later(s.ns, work_growth_ns(r, b));
	return s;
}

/* A window that reads as much as that of the block with least attention, which is what its gain is for. */
static const char *growth_words(struct vpa_report *r, const struct vpa_blocks *b)
{
	size_t i, least = b->count;

	for (i = 0; i < b->count; i++)
		if (!b->series[i].warmup &&
			(least == b->count ||
				b->series[i].attention_ns < b->series[least].attention_ns))
			least = i;
	if (least == b->count)
		return NULL;
	return b->series[least].index >= 0
		       ? vpa_arena_printf(&r->arena,
				 "a KV window as in block %" PRId64 " (forgets frames)",
				 b->series[least].index)
		       : vpa_arena_printf(&r->arena,
				 "a KV window as in block #%zu (forgets frames)", least + 1);
}

static void find_growth(struct vpa_report *r, const struct vpa_blocks *b)
{
	struct vpa_saving s = growth_of(r, b);
	uint64_t sold = sold_ns(r);
	struct vpa_finding *f;
	int is_range = b->attention_drift_most_ns > b->attention_drift_ns;

	if (!b->has_drift || b->attention_drift_most_ns < growth_share * b->period.mean_ns)
		return;
	f = vpa_finding_add(r, VPA_FOUND_ATTENTION_GROWTH, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = "attention grows with the KV cache: use a shorter window, or a sink and a "
		   "window";
	f->words = growth_words(r, b);
	f->caveat = "with a shorter window the model forgets earlier frames";
	f->note = vpa_arena_printf(&r->arena, "%s%s%s", f->caveat,
		grows_beside(r, b)
			? "; other work grows too: at most each block is as short as the shortest"
			: "",
		s.ns && sold ? "; what a faster back-end of attention would save is left out" : "");
	s.ns = s.base_ns = s.ns > sold ? s.ns - sold : 0;
	s.from_ns = s.from_ns > sold ? s.from_ns - sold : 0;
	vpa_finding_saves(r, f, &s);
	f->measured =
		is_range ? vpa_arena_printf(&r->arena,
				   "+%s to +%s of attention per block, %s to %s %% of the period",
				   vpa_duration(vpt_sat_u64(b->attention_drift_ns)).text,
				   vpa_duration(vpt_sat_u64(b->attention_drift_most_ns)).text,
				   vpa_share(b->attention_drift_ns / b->period.mean_ns).text,
				   vpa_share(b->attention_drift_most_ns / b->period.mean_ns).text)
			 : vpa_arena_printf(&r->arena,
				   "+%s of attention per block, %s %% of the period",
				   vpa_duration(vpt_sat_u64(b->attention_drift_ns)).text,
				   vpa_share(b->attention_drift_ns / b->period.mean_ns).text);
	f->threshold = "1 % of the period";
}

/* In the replay all its kernels get shorter alike, so that it works in all measured blocks as often what it works in the first. */
static const char *steady_stage(struct vpa_report *r, const struct vpa_blocks *b)
{
	return vpa_is_plain_name(b->grown_stage)
		       ? vpa_arena_printf(&r->arena, "scale * %s in %s",
				 vpa_fixed(
					 (double)(b->grown_stage_busy_ns - b->grown_stage_more_ns) /
						 (double)b->grown_stage_busy_ns,
					 6)
					 .text,
				 b->grown_stage)
		       : NULL;
}

/* A stage that does more in each block, where what it did before could be kept. Other work that grows with attention is in the
 * bound of attention's line. */
static void find_stage_growth(struct vpa_report *r, const struct vpa_blocks *b)
{
	struct vpa_saving s = {.ns = b->grown_stage_more_ns, .base_ns = b->grown_stage_more_ns};
	struct vpa_finding *f;
	int decodes;

	if (!has_stage_growth(r, b) ||
		(!is_decoder_growth(b) && vpa_finding_find(r, VPA_FOUND_ATTENTION_GROWTH)))
		return;
	f = vpa_finding_add(r, VPA_FOUND_STAGE_GROWTH, vpa_saving_status(r, &s));
	if (!f)
		return;
	decodes = is_decoder_growth(b) &&
		  !vpa_range_is_encoder(b->grown_stage, strlen(b->grown_stage));
	f->title = decodes ? "the decoder takes longer in each block: decode only the "
			     "new latents, and keep its state between blocks"
			   : "a stage takes longer in each block: keep what it "
			     "computed for earlier blocks";
	f->words =
		decodes ? "decode only the new latents" : "compute only what is new in each block";
	f->where = vpa_arena_printf(&r->arena, "in %s", b->grown_stage);
	vpa_finding_saves(r, f, &s);
	f->measured = vpa_arena_printf(&r->arena,
		"%s: +%s per block; %s of %s is beyond what it takes in the first",
		vpa_fit(b->grown_stage, 100).text,
		vpa_duration(vpt_sat_u64(b->grown_stage_drift_ns + 0.5)).text,
		vpa_duration(b->grown_stage_more_ns).text,
		vpa_duration(b->grown_stage_busy_ns).text);
	f->threshold = "1 % of the period per block, 2 % of active, 1 % of the window";
	f->note = f->measured;
	f->change = steady_stage(r, b);
	vpa_finding_evidence(f, b->grown_stage);
}

/* Whether a stage is outside denoising: one that only its place makes a stage may be all of it, where no steps are known. */
static int is_outside_steps(const struct vpa_request *q, const struct vpa_stage_row *s)
{
	return s->kind == VPA_SCOPE_STAGE && !s->nested && !s->holds_steps &&
	       (q->steps.per_block > 0 || s->source != VPA_SOURCE_PLACE);
}

/* Such a stage has a finding of its own, with what to do. */
static int is_named(
	const struct vpa_report *r, const struct vpa_stage_row *s, enum vpa_finding_id id)
{
	const struct vpa_finding *f = vpa_finding_find(r, id);

	return f && f->evidence_count && !strcmp(f->evidence[0], s->name);
}

static void find_stages(struct vpa_report *r, const struct vpa_request *q)
{
	struct vpa_finding *f;
	size_t i;

	for (i = 0; i < r->stage_count; i++) {
		const struct vpa_stage_row *s = &r->stages[i];

		if (!is_outside_steps(q, s) || !s->in_blocks || s->alone_share <= stage_share ||
			is_named(r, s, VPA_FOUND_WORK_AGAIN) ||
			is_named(r, s, VPA_FOUND_STAGE_GROWTH))
			continue;
		f = vpa_finding_add(r, VPA_FOUND_STAGE_SHARE, VPA_FINDING_WARN);
		if (!f)
			return;
		f->title = vpa_arena_printf(&r->arena,
			"a large part of each block is outside denoising: in %s",
			vpa_fit(s->name, 40).text);
		f->measured = vpa_arena_printf(&r->arena,
			"%s: %s %% of the blocks' time, with nothing else beside it",
			vpa_fit(s->name, 100).text, vpa_share(s->alone_share).text);
		f->threshold = "30 %";
		f->note = f->measured;
		vpa_finding_evidence(f, s->name);
	}
}

/* A text encoder that runs in each block, though a prompt seldom changes in each. */
static void find_prompt_again(struct vpa_report *r, const struct vpa_blocks *b)
{
	struct vpa_scope_label label;
	struct vpa_finding *f;
	size_t i, blocks = vpa_unit_count(r, VPA_UNIT_BLOCK);

	for (i = 0; i < r->stage_count; i++) {
		const struct vpa_stage_row *s = &r->stages[i];
		struct vpa_saving saving = {
			.ns = s->alone_ns, .base_ns = vpa_gain_unit_blocks(r, s->alone_ns)};

		vpa_scope_builtin(s->name, strlen(s->name), &label);
		if (label.work != VPA_WORK_PROMPT || s->nested || b->measured < AGAIN ||
			s->in_blocks < blocks || !vpa_saving_is_worth(r, &saving))
			continue;
		f = vpa_finding_add(r, VPA_FOUND_PROMPT_AGAIN, VPA_FINDING_WARN);
		if (!f)
			return;
		vpa_finding_saves(r, f, &saving);
		f->title = "the text encoder runs in each block: encode a prompt once, and keep "
			   "the result until it changes";
		f->measured = vpa_arena_printf(&r->arena,
			"%s: %" PRIu64 " times in %zu blocks, %s with nothing else beside it",
			vpa_fit(s->name, 100).text, s->in_blocks, blocks,
			vpa_duration(s->alone_ns).text);
		f->threshold = "once in each of 3 blocks or more, 2 % of active, 1 % of the window";
		f->note = f->measured;
		vpa_finding_evidence(f, s->name);
	}
}

/* Whether most copies to the host that it waits for are of a few bytes. */
static int reads_scalars(const struct vpa_report *r)
{
	uint64_t small = 0, large = 0;
	size_t i;

	for (i = 0; i < r->read_count; i++) {
		vpt_sat_add_to(&small, r->reads[i].small);
		vpt_sat_add_to(&large, r->reads[i].large);
	}
	return small > 9 * large;
}

/* The findings about the causes of the waits give their cost. */
static void find_syncs(struct vpa_report *r, const struct vpa_request *q)
{
	const struct vpa_blocks *b = &q->blocks;
	double steps = q->steps.per_block * (double)b->measured;
	uint64_t count = 0, ns = 0;
	int scalars = reads_scalars(r);
	struct vpa_finding *f;
	size_t i;

	for (i = 0; i < b->part_count; i++) {
		const struct vpa_block_part *p = &b->parts[i];

		if (p->kind != VPA_PART_IDLE ||
			(vpa_part_cause(p->part) != VPA_CAUSE_SYNC &&
				(vpa_part_cause(p->part) != VPA_CAUSE_BLOCKING_COPY || !scalars)))
			continue;
		vpt_sat_add_to(&count, p->count);
		vpt_sat_add_to(&ns, p->ns);
	}
	if (steps <= 0 || (double)count < steps || ns < b->span_ns / 100)
		return;
	f = vpa_finding_add(r, VPA_FOUND_SYNCS_PER_STEP, VPA_FINDING_INFO);
	if (!f)
		return;
	f->title = "the host waits for the GPU in every step: keep scalars on the device";
	f->measured =
		vpa_arena_printf(&r->arena, "%s waits per step drain the GPU, %s in all blocks",
			vpa_fixed((double)count / steps, 1).text, vpa_duration(ns).text);
	f->threshold = "1 per step, 1 % of the blocks' time";
}

void vpa_find_blocks(struct vpa_report *r)
{
	const struct vpa_request *q = vpa_main_request(r);

	write_drifts(r);
	if (!q)
		return;
	find_fps(r, q);
	find_bps(r, &q->blocks);
	find_steps(r, q);
	find_block_size(r, &q->blocks);
	find_growth(r, &q->blocks);
	find_stage_growth(r, &q->blocks);
	find_stages(r, q);
	find_prompt_again(r, &q->blocks);
	find_syncs(r, q);
}
