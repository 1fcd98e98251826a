/* screen_result.c - RESULT of the first screen: how fast the unit is that a user counts in. */
#include "analysis/advice/finding.h"
#include "analysis/base/intervals.h"
#include "analysis/pipeline/uneven_units.h"
#include "analysis/render/text/screen/screen.h"
#include "analysis/render/text/sections/text_blocks_parts.h"

#include <math.h>
#include <string.h>

enum {
	OUTLIER = 5,     /* times the mean of the others */
	FRAME_MARKS = 3, /* at least */
	STEADY = 3       /* blocks after those that grow have a rate of their own */
};

/* Below this share of a block a growth is none. */
static const double growth_share = 0.01;
/* Of a growth. */
static const double nearly_all = 0.9;
/* Blocks are unlike from here on: the longest to the shortest; and units are of two kinds. */
static const double apart = 1.25, two_kinds = 1.5;
/* The same of iterations. */
static const double vary_from = 1.3;
static const double turns_vary_from = 1.2;

/* ---- blocks ---- */

/* "TOO SLOW: 14.7 FPS, target 16.0." The style is that of its first word. */
static enum vpa_style add_rate(
	struct vpa_words *w, const struct vpa_report *r, double fps, const char *words)
{
	double target = vpa_target(r);
	int has_target = r->target_millifps != 0, is_slow = has_target && fps < target;

	if (has_target)
		vpa_words_add(w, "", "%s: ", is_slow ? "TOO SLOW" : "FAST ENOUGH");
	vpa_words_add(w, "", "%s %s", vpa_rate(fps).text, words);
	if (has_target)
		vpa_words_add(w, ", ", "target %s", vpa_rate(target).text);
	vpa_words_end(w);
	return !has_target ? VPA_PLAIN : is_slow ? VPA_RED : VPA_GREEN;
}

/* The time that a block's frames last at the target rate. */
static uint64_t may_take_ns(const struct vpa_report *r, const struct vpa_blocks *b)
{
	if (!r->target_millifps || !b->frames)
		return 0;
	return vpt_sat_u64((double)b->frames * 1e9 / ((double)b->measured * vpa_target(r)) + 0.5);
}

/* "; every 4th takes 2.10 s, the others 1.20 s", "; 4 take 3.60 s to 4.00 s, the other 2 1.70 s": a mean that no unit has. Returns
 * 0: they are not of two kinds. */
static int add_two_kinds(struct vpa_words *w, const struct vpa_report *r)
{
	struct vpa_uneven_units u;
	int are_two = !vpa_uneven_units_of(r, &u) && u.slow &&
		      (double)u.slow_ns.most_ns > two_kinds * (double)u.quick_ns.least_ns &&
		      (double)u.slow_ns.most_ns < two_kinds * (double)u.slow_ns.least_ns;

	if (are_two && u.every > 1)
		vpa_words_add(w, "", "; every %s takes", vpa_ordinal(u.every).text);
	else if (are_two)
		vpa_words_add(
			w, "", "; %zu of %zu take%s", u.slow, u.count, u.slow == 1 ? "s" : "");
	if (are_two)
		vpa_words_add(w, "", " %s, the other%s %s", vpa_times_text(u.slow_ns).text,
			vpa_plural(u.count - u.slow), vpa_times_text(u.quick_ns).text);
	vpa_uneven_units_free(&u);
	return are_two;
}

static int grows(const struct vpa_blocks *b)
{
	return b->has_drift && b->period_drift_ns >= growth_share * b->period.mean_ns;
}

/* "; the shortest 188 ms, the longest 314 ms": a mean that no block may have, as where the GPU's clock falls for a while. What
 * grows is said to grow. */
static void add_span_of_times(
	struct vpa_words *w, const struct vpa_report *r, const struct vpa_blocks *b)
{
	const struct vpa_durations *period = &b->period;

	if (add_two_kinds(w, r))
		return;
	if (b->measured > 1 && !grows(b) && (double)period->max_ns > apart * (double)period->min_ns)
		vpa_words_add(w, "", "; the shortest %s, the longest %s",
			vpa_duration(period->min_ns).text, vpa_duration(period->max_ns).text);
}

static void add_block_time(struct vpa_words *w, const struct vpa_screen *s)
{
	const struct vpa_blocks *b = s->blocks;
	uint64_t may_ns = b->fps >= 0 ? may_take_ns(s->report, b) : 0;

	vpa_words_add(w, " ", "A block takes %s",
		vpa_duration(vpa_divided(b->span_ns, b->measured)).text);
	if (may_ns)
		vpa_words_add(w, "", " and may take %s", vpa_duration(may_ns).text);
	add_span_of_times(w, s->report, b);
	vpa_words_add(w, "", ".");
}

/* The first late block, and whether all later ones are late too. NULL: none is. */
static const struct vpa_block_row *first_late(const struct vpa_blocks *b, int *to_the_end)
{
	const struct vpa_block_row *first = NULL;
	size_t i;

	*to_the_end = 1;
	for (i = 0; i < b->count; i++) {
		if (b->series[i].warmup)
			continue;
		if (!first && b->series[i].missed)
			first = &b->series[i];
		else if (first && !b->series[i].missed)
			*to_the_end = 0;
	}
	return first;
}

static void add_late(struct vpa_words *w, const struct vpa_blocks *b)
{
	int to_the_end;
	const struct vpa_block_row *first;

	if (b->misses < 0)
		return;
	first = first_late(b, &to_the_end);
	if (!first) {
		vpa_words_add(w, " ", "None of %zu blocks is late.", b->measured);
		return;
	}
	vpa_words_add(w, " ", "%" PRId64 " of %zu blocks %s late%s block %s%s.", b->misses,
		b->measured, b->misses == 1 ? "is" : "are",
		b->misses == 1 ? ":"
		: to_the_end   ? ", from"
			       : ", the first is",
		vpa_block_name(b, (size_t)(first - b->series)).text,
		to_the_end && b->misses > 1 ? " on" : "");
	if (b->prebuffer_frames > 0)
		vpa_words_add(w, " ",
			"Playback without a stall needs a buffer of %" PRId64 " frames.",
			b->prebuffer_frames);
}

/* What grows, if it is not attention: "torch.cat" where that is most of what changes layouts. */
static const char *grown_name(const struct vpa_report *r, enum vpa_family family)
{
	const struct vpa_finding *joins = vpa_finding_find(r, VPA_FOUND_TENSOR_JOINS);
	double half_ms = (double)vpa_family_ns(r, family) / 2e6;

	return family == VPA_FAMILY_LAYOUT && joins && joins->gain_at_most_ms >= half_ms
		       ? "torch.cat"
		       : vpa_family_name(family);
}

/* What takes most of the growth. A longer KV cache is the cause where attention is nearly all of it; of what is elsewhere a stage
 * says more than a kind of work. */
static void add_grown(struct vpa_words *w, const struct vpa_report *r, const struct vpa_blocks *b)
{
	double half_ns = b->period_drift_ns / 2;

	if (b->grown_stage && b->grown_stage_drift_ns >= half_ns &&
		b->attention_drift_most_ns < nearly_all * b->period_drift_ns)
		vpa_words_add(w, "", ": %s takes %s of it", vpa_fit(b->grown_stage, 40).text,
			vpa_duration(vpt_sat_u64(b->grown_stage_drift_ns + 0.5)).text);
	else if (b->attention_drift_most_ns >= half_ns)
		vpa_words_add(w, "", ": attention reads a longer KV cache");
	else if (b->grown_drift_ns >= half_ns)
		vpa_words_add(w, "", ": %s takes %s of it", grown_name(r, b->grown),
			vpa_duration(vpt_sat_u64(b->grown_drift_ns + 0.5)).text);
}

/* The rate of the blocks that no longer grow, from the last one that did. */
static void add_steady(struct vpa_words *w, const struct vpa_blocks *b)
{
	uint64_t frames = 0, ns = 0;
	size_t i, count = 0;

	for (i = (size_t)b->grown_until; i < b->count; i++) {
		if (b->series[i].warmup)
			continue;
		vpt_sat_add_to(&frames, b->series[i].frames);
		vpt_sat_add_to(&ns, b->series[i].period_ns);
		count++;
	}
	if (b->fps >= 0 && ns && count > STEADY)
		vpa_words_add(w, " ", "From block %s on it is %s FPS.",
			vpa_block_name(b, (size_t)b->grown_until).text,
			vpa_rate((double)frames * 1e9 / (double)ns).text);
}

/* The rate at the end of those that still grow: the mean is none of theirs. */
static void add_last(struct vpa_words *w, const struct vpa_blocks *b)
{
	const struct vpa_block_row *last = b->count ? &b->series[b->count - 1] : NULL;

	if (last && !last->warmup && b->fps >= 0 && last->frames && last->period_ns)
		vpa_words_add(w, " ", "The last block runs at %s FPS.",
			vpa_rate((double)last->frames * 1e9 / (double)last->period_ns).text);
}

/* The rate of the blocks that something keeps at a pace. */
static void add_paced(struct vpa_words *w, const struct vpa_screen *s)
{
	struct vpa_screen_pace pace;

	if (vpa_screen_pace_of(s, &pace) && pace.fps >= 0 && pace.blocks < s->blocks->measured)
		vpa_words_add(w, " ", "From block %s on it is %s FPS.",
			vpa_block_name(s->blocks, pace.first).text, vpa_rate(pace.fps).text);
}

/* "Until block 5 each block takes 57.9 ms longer than the one before" */
static void add_growth(struct vpa_words *w, const struct vpa_report *r, const struct vpa_blocks *b)
{
	if (!grows(b))
		return;
	if (b->grown_until >= 0)
		vpa_words_add(w, " ", "Until block %s each takes %s longer than the one before",
			vpa_block_name(b, (size_t)b->grown_until).text,
			vpa_duration(vpt_sat_u64(b->period_drift_ns + 0.5)).text);
	else
		vpa_words_add(w, " ", "Each block takes %s longer than the one before",
			vpa_duration(vpt_sat_u64(b->period_drift_ns + 0.5)).text);
	add_grown(w, r, b);
	vpa_words_add(w, "", ".");
	if (b->grown_until >= 0)
		add_steady(w, b);
	else
		add_last(w, b);
}

static void add_which(struct vpa_words *w, const struct vpa_screen *s)
{
	struct vpa_label first = vpa_text_which_request(w, s->report, s->request);

	if (first.text[0])
		vpa_words_add(
			w, " ", "The first one, which sets up what others reuse, %s.", first.text);
}

/* `bps` below 0: not known either. */
static void add_without_fps(struct vpa_words *w, double bps)
{
	if (bps < 0) {
		vpa_words_add(w, "", "FPS are not known, see DATA");
		vpa_words_end(w);
		return;
	}
	vpa_words_add(w, "", "%s blocks/s", vpa_rate(bps).text);
	vpa_words_end(w);
	vpa_words_add(w, " ", "FPS are not known.");
}

static enum vpa_style add_blocks(struct vpa_words *w, const struct vpa_screen *s)
{
	const struct vpa_request *q = s->request;
	const struct vpa_blocks *b = &q->blocks;

	enum vpa_style style = VPA_YELLOW;

	if (b->fps >= 0)
		style = add_rate(w, s->report, b->fps, "FPS");
	else if (q->fps_end_to_end >= 0)
		style = add_rate(w, s->report, q->fps_end_to_end, "FPS end to end");
	else
		add_without_fps(w, b->bps);
	if (s->unit.kind == VPA_UNIT_REQUEST)
		vpa_words_add(w, " ", "A request takes %s.", vpa_duration(s->ns).text);
	add_block_time(w, s);

	add_late(w, b);
	add_growth(w, s->report, b);
	if (!grows(b))
		add_paced(w, s);
	return style;
}

/* ---- other units ---- */

static void add_inferred(struct vpa_words *w, const struct vpa_screen *s)
{
	const struct vpa_inferred *row = s->report->inferred;

	if (s->unit.kind == VPA_UNIT_ROUND)
		vpa_words_add(w, " ",
			"Nothing marks rounds, which may be requests, blocks or frames: each is %u "
			"steps of %s and what is between them. They are the repetition of the "
			"kernels, with confidence %s.",
			row->round_steps, vpa_duration(row->round_step_ns).text,
			vpa_fixed(row->confidence, 2).text);
	else
		vpa_words_add(w, " ",
			"Nothing marks steps: these are the repetition of the kernels, with "
			"confidence %s.",
			vpa_fixed(row->confidence, 2).text);
}

struct spread {
	uint64_t shortest_ns, longest_ns, all_ns;
	size_t count;
};

static void add_period(struct spread *s, uint64_t period_ns)
{
	s->shortest_ns = vpa_earlier(s->shortest_ns, period_ns);
	s->longest_ns = vpa_later(s->longest_ns, period_ns);
	vpt_sat_add_to(&s->all_ns, period_ns);
	s->count++;
}

/* Iterations of which one took far longer than the others, or that differ much: a mean that none of them has. "; the longest takes
 * 2.00 s, the others 82.2 ms on average", "; the shortest 1.74 s, the longest 2.93 s" */
static void add_spread(struct vpa_words *w, const struct spread *s, double from)
{
	uint64_t others_ns = s->count > 1 ? (s->all_ns - s->longest_ns) / (s->count - 1) : 0;

	if (others_ns && s->longest_ns / OUTLIER > others_ns)
		vpa_words_add(w, "", "; the longest takes %s, the other%s %s%s",
			vpa_duration(s->longest_ns).text, vpa_plural(s->count - 1),
			vpa_duration(others_ns).text, s->count > 2 ? " on average" : "");
	else if (s->count > 1 && (double)s->longest_ns > from * (double)s->shortest_ns)
		vpa_words_add(w, "", "; the shortest %s, the longest %s",
			vpa_duration(s->shortest_ns).text, vpa_duration(s->longest_ns).text);
}

static void add_longest(struct vpa_words *w, const struct vpa_report *r)
{
	struct spread s = {.shortest_ns = UINT64_MAX};
	size_t i;

	for (i = 0; i < r->step_part_count; i++)
		add_period(&s, r->step_parts[i].period_ns);
	add_spread(w, &s, vary_from);
}

/* Of inferred steps and rounds, which have equal kernels. Those of a causal model grow. */
static void add_uneven_turns(struct vpa_words *w, struct vpa_unit_turns turns)
{
	struct spread s = {.shortest_ns = UINT64_MAX};
	size_t i;

	for (i = 0; i < turns.count; i++)
		if (turns.at[i].followed)
			add_period(&s, turns.at[i].period_ns);
	add_spread(w, &s, turns_vary_from);
}

/* "A request takes 101 ms, the mean of 3 without the first." A first step that compiles, or a pause of the host, makes a
 * mean that no step has. */
static void add_mean(struct vpa_words *w, const struct vpa_screen *s, uint64_t count)
{
	const struct vpa_durations *period = s->request ? &s->request->steps.period : NULL;
	int is_left_out = s->unit.kind == VPA_UNIT_REQUEST && s->unit.without_first;
	int has_cycles = s->unit.kind == VPA_UNIT_ITERATION && !s->unit.without_first;
	struct vpa_unit_turns turns = {0};
	size_t cycle = has_cycles ? vpa_unit_cycle(s->report) : 0,
	       whole = has_cycles ? vpa_unit_in_cycles(s->report) : 0;

	vpa_words_add(w, " ", "%c%s takes %s", s->a_noun[0] - 'a' + 'A', s->a_noun + 1,
		vpa_duration(s->ns).text);
	if (count > 1)
		vpa_words_add(w, "", ", the mean of %s%s",
			whole && whole < count ? "the last " : "",
			vpa_count(whole ? whole : count).text);
	vpa_words_add(w, "", "%s%s", is_left_out && count == 1 ? "," : "",
		!is_left_out                            ? ""
		: s->report->request_count == count + 2 ? " without the first and the last"
							: " without the first");
	if (vpa_unit_is_inferred(s->unit.kind))
		turns = vpa_unit_turns_of(&s->report->inferred[0], s->unit.kind);
	if (turns.left_first_ns)
		vpa_words_add(
			w, "", " without the first, of %s", vpa_duration(turns.left_first_ns).text);
	add_uneven_turns(w, turns);
	if (add_two_kinds(w, s->report))
		return;
	if (s->unit.kind == VPA_UNIT_STEP && period && s->request->steps.periods &&
		fabs(period->mean_ns - (double)period->p50_ns) > period->mean_ns / 5)
		vpa_words_add(w, "", "; the median %s, the longest %s",
			vpa_duration(period->p50_ns).text, vpa_duration(period->max_ns).text);
	if (cycle)
		vpa_words_add(w, "", "; the optimizer runs in every %s", vpa_ordinal(cycle).text);
	else if (s->unit.kind == VPA_UNIT_ITERATION)
		add_longest(w, s->report);
}

/* "s", and "es" of a batch. */
static const char *plural_of(const char *word)
{
	size_t len = strlen(word);
	int hisses = strchr("sxz", word[len - 1]) ||
		     (word[len - 1] == 'h' && strchr("cs", word[len - 2]));

	return hisses ? "es" : "s";
}

/* "24.3 steps/s. A step takes 41.2 ms, the mean of 44." */
static void add_units(struct vpa_words *w, const struct vpa_screen *s)
{
	const struct vpa_mean_unit *u = &s->unit;
	uint64_t count = (uint64_t)(u->units + 0.5);
	int is_named = u->range && u->range->a_name;

	if ((u->has_rate || is_named) && count > 1) {
		vpa_words_add(w, " ", "%s %s%s/s", vpa_rate(1e9 / (double)s->ns).text, s->noun,
			is_named ? plural_of(s->noun) : "s");
		vpa_words_end(w);
	}
	if (u->kind == VPA_UNIT_INSTANCE && !is_named) {
		vpa_words_add(w, " ", "A pass through %s takes %s%s, the mean of %s",
			vpa_fit(u->range->name, 48).text, vpa_duration(s->ns).text,
			u->range->is_series ? "" : " on the GPU", vpa_count(count).text);
		add_two_kinds(w, s->report);
	} else if (count == 1 && !u->without_first && !vpa_unit_is_inferred(u->kind))
		vpa_words_add(w, " ", "The only %s takes %s", s->noun, vpa_duration(s->ns).text);
	else
		add_mean(w, s, count);
	vpa_words_end(w);
	if (u->head_ns)
		vpa_words_add(
			w, " ", "Its first op begins after %s.", vpa_duration(u->head_ns).text);
	if (vpa_unit_is_inferred(u->kind))
		add_inferred(w, s);
}

/* ---- the window ---- */

static void add_window(struct vpa_words *w, const struct vpa_screen *s)
{
	if (s->devices > 1)
		vpa_words_add(w, " ", "Each of %u GPUs works %s of %s, on average", s->devices,
			vpa_duration(s->works_ns).text, vpa_duration(s->ns).text);
	else
		vpa_words_add(w, " ", "The GPU works %s of %s", vpa_duration(s->works_ns).text,
			vpa_duration(s->ns).text);
	vpa_words_end(w);
}

/* A rate of steps says little where most of the window is none. */
static void add_window_and_steps(struct vpa_words *w, const struct vpa_screen *s)
{
	struct vpa_screen window;

	vpa_screen_of_window(s, &window);
	add_window(w, &window);
	vpa_screen_add_minor_steps(w, s);
}

/* "20.8 FPS, between the first of 30 marks of frames and the last." Programs that mark no blocks may mark when frames are ready. */
static enum vpa_style add_marked_frames(struct vpa_words *w, const struct vpa_report *r)
{
	const struct vpa_frame_marks *f = &r->said.frame_marks;
	uint64_t ns = vpt_sat_sub(f->last_ns, f->first_ns);
	enum vpa_style style;

	if (f->count < FRAME_MARKS || !f->frames || !ns)
		return VPA_PLAIN;
	style = add_rate(w, r, (double)f->frames * 1e9 / (double)ns, "FPS");
	vpa_words_add(w, " ", "That is from the first to the last of %s marks of frames.",
		vpa_count(f->count).text);
	return style;
}

static enum vpa_style add_other(struct vpa_words *w, const struct vpa_screen *s)
{
	const struct vpa_request *q = s->request;
	enum vpa_style style = VPA_PLAIN;

	if (q && q->fps_end_to_end >= 0) {
		style = add_rate(w, s->report, q->fps_end_to_end, "FPS end to end");
		vpa_words_add(
			w, " ", "%s frame%s", vpa_count(q->frames).text, vpa_plural(q->frames));
		if (q->frames_asked && q->frames_asked != q->frames)
			vpa_words_add(w, " ", "(%s asked for)", vpa_count(q->frames_asked).text);
		vpa_words_add(
			w, " ", "in %s.", vpa_duration(vpt_sat_sub(q->end_ns, q->start_ns)).text);
	}
	if (!q || q->fps_end_to_end < 0)
		style = add_marked_frames(w, s->report);
	if (vpa_screen_steps_are_minor(s))
		add_window_and_steps(w, s);
	else if (s->unit.units > 0)
		add_units(w, s);
	else
		add_window(w, s);
	vpa_screen_add_rest(w, s);
	return style;
}

void vpa_screen_result(struct vpa_page *p, const struct vpa_screen *s)
{
	const struct vpa_request *q = s->request;
	struct vpa_words w = {.used = 0};
	enum vpa_style style;

	vpa_page_blank(p);
	if (!s->report->device_count) {
		vpa_text_no_work(p, s->report);
		return;
	}
	if (s->blocks)
		p->touched = s->blocks->fps >= 0 ? s->blocks->touched : q->touched;
	style = s->blocks ? add_blocks(&w, s) : add_other(&w, s);
	if (q && q->ttff_ns)
		vpa_words_add(
			&w, " ", "The first frames come after %s.", vpa_duration(q->ttff_ns).text);
	if (q)
		add_which(&w, s);
	vpa_page_answer(p, "RESULT", style, &w);
}
