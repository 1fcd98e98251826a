/* text_fps.c - the first lines of a capture with video blocks: frames per second, whether that is
 * enough, and what limits it.
 *
 * A rate that is not an FPS is never called one. Shows one request, a steady one with most measured blocks;
 * a table lists the others. Left out: the gain of each finding in FPS, since gains are of the whole
 * window. */
#include "analysis/pipeline/unit.h"
#include "analysis/render/text/text_blocks_parts.h"
#include "analysis/report/main_line.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <math.h>

enum { REQUESTS = 6, NAMES = 3 };

int vpa_has_blocks(const struct vpa_report *r)
{
	const struct vpa_request *q = vpa_main_request(r);

	return q && q->blocks.count > 0;
}

struct vpa_label vpa_where(const struct vpa_digest *d, enum vpa_cause cause, size_t columns)
{
	const struct vpa_idle_place *first = vpa_first_place(d, cause);
	struct vpa_idle_place call;
	struct vpa_label where = {{0}}, shared = {{0}};
	uint64_t all_ns = d->cause_ns[cause], ns;
	size_t ranges;

	if (first && first->ns >= all_ns / 2) {
		where = vpa_place_label(first->call, &first->place, columns);
		ns = first->ns;
	} else {
		call = vpa_call_of(d, cause, &ranges);
		if (call.ns && call.ns >= all_ns / 2)
			where = vpa_fit(call.call, columns);
		ns = call.ns;
	}
	if (!where.text[0] || ns >= all_ns - all_ns / 200)
		return where;
	snprintf(shared.text, sizeof(shared.text), "%.30s %% %.400s", vpa_percent(ns, all_ns).text,
		where.text);
	return shared;
}

/* ---- RUN ---- */

void vpa_text_pipeline(struct vpa_page *p, const struct vpa_report *r)
{
	uint64_t blocks = 0, frames = 0, steps = 0, context = 0;
	struct vpa_words w = {.used = 0};
	size_t i;

	for (i = 0; i < r->request_count; i++) {
		vpt_sat_add_to(&blocks, r->requests[i].blocks.count);
		vpt_sat_add_to(&frames, r->requests[i].frames);
		vpt_sat_add_to(&steps, r->requests[i].steps.count);
		vpt_sat_add_to(&context, r->requests[i].steps.context_count);
	}
	if (!r->request_count)
		return;
	vpa_words_add(&w, "", "%zu request%s", r->request_count, vpa_plural(r->request_count));
	if (blocks)
		vpa_words_add(&w, ", ", "%s block%s", vpa_count(blocks).text, vpa_plural(blocks));
	if (frames)
		vpa_words_add(&w, ", ", "%s frame%s", vpa_count(frames).text, vpa_plural(frames));
	if (steps)
		vpa_words_add(&w, ", ", "%s step%s", vpa_count(steps).text, vpa_plural(steps));
	if (context)
		vpa_words_add(&w, ", ", "%s context pass%s", vpa_count(context).text,
			vpa_plural_es(context));
	vpa_page_words(p, "", VPA_PLAIN, "%s", w.text);
}

/* ---- RESULT ---- */

/* "FPS steady 14.7, target 16.0: TOO SLOW (0.92x)." The style is that of its first word. */
static enum vpa_style add_target(
	struct vpa_words *w, const struct vpa_report *r, double fps, const char *ok)
{
	double target = vpa_target(r);

	if (!r->target_millifps)
		return VPA_PLAIN;
	vpa_words_add(w, ", ", "target %s: %s (%sx)", vpa_rate(target).text,
		fps < target ? "TOO SLOW" : ok, vpa_fixed(fps / target, 2).text);
	return fps < target ? VPA_RED : VPA_GREEN;
}

static enum vpa_style add_headline(
	struct vpa_words *w, const struct vpa_report *r, const struct vpa_request *q)
{
	const struct vpa_blocks *b = &q->blocks;
	enum vpa_style style = VPA_PLAIN;

	if (b->fps >= 0) {
		vpa_words_add(w, "", "%s FPS steady", vpa_rate(b->fps).text);
		style = add_target(w, r, b->fps, "REAL TIME");
	} else if (q->fps_end_to_end >= 0) {
		vpa_words_add(w, "", "%s FPS end to end", vpa_rate(q->fps_end_to_end).text);
		style = add_target(w, r, q->fps_end_to_end, "FAST ENOUGH");
	} else if (b->bps >= 0) {
		vpa_words_add(
			w, "", "%s blocks per second, FPS unavailable", vpa_rate(b->bps).text);
		style = VPA_YELLOW;
	} else {
		vpa_words_add(w, "", "No FPS or BPS, see DATA");
		style = VPA_YELLOW;
	}
	vpa_words_add(w, "", ".");
	return style;
}

static void add_deadlines(struct vpa_words *w, const struct vpa_blocks *b)
{
	if (b->misses < 0)
		return;
	vpa_words_add(w, " ", "%" PRId64 " of %zu block%s late", b->misses, b->measured,
		b->measured == 1 ? " is" : "s are");
	if (b->longest_miss_run > 1)
		vpa_words_add(w, "", ", up to %" PRId64 " in a row", b->longest_miss_run);
	if (b->prebuffer_frames > 0)
		vpa_words_add(w, "", "; buffer %" PRId64 " frames for stall-free playback",
			b->prebuffer_frames);
	vpa_words_add(w, "", ".");
}

static void add_limit(
	struct vpa_words *w, const struct vpa_report *r, const struct vpa_mean_unit *unit)
{
	struct vpa_unit_limit limit = vpa_unit_limit_of(r);
	uint64_t all_ns = vpt_sat_add(unit->busy_ns, unit->idle_ns);

	if (!all_ns)
		return;
	vpa_words_add(w, " ", "GPU%s busy %s %% of it", unit->devices > 1 ? "s" : "",
		vpa_percent(unit->busy_ns, all_ns).text);
	if (vpa_limit_words(limit.bound) || limit.idle.group)
		vpa_words_add(w, ": ", "%s.", vpa_limit_sentence(&limit).text);
}

/* FPS, the cause and FIX FIRST are about the mean. Blocks that lack the VAE's work are not what several requests are
 * counted in. */
static void add_mean_unit(
	struct vpa_words *w, const struct vpa_report *r, const struct vpa_mean_unit *unit)
{
	const struct vpa_blocks *b = &vpa_main_request(r)->blocks;

	if (unit->kind == VPA_UNIT_BLOCK)
		vpa_words_add(w, "", "The mean block takes %s (median %s, p95 %s).",
			vpa_duration(vpa_divided(b->span_ns, b->measured)).text,
			vpa_duration(b->period.p50_ns).text, vpa_duration(b->period.p95_ns).text);
	else
		vpa_words_add(w, "", "The mean request takes %s, its blocks %s each.",
			vpa_duration(vpa_mean_unit_ns(unit)).text,
			vpa_duration(vpa_divided(b->span_ns, b->measured)).text);
	add_limit(w, r, unit);
}

static double fps_of(const struct vpa_request *q)
{
	return q->blocks.fps > 0 ? q->blocks.fps : q->fps_end_to_end;
}

static uint64_t span_of(const struct vpa_request *q)
{
	return vpt_sat_sub(q->end_ns, q->start_ns);
}

static int differs(double a, double b)
{
	return a > 0 && b > 0 && fabs(a - b) > 0.02 * b;
}

/* What RESULT says of its request, for the first one, if that differs. */
static struct vpa_label of_first(const struct vpa_report *r, const struct vpa_request *q)
{
	const struct vpa_request *first = r->requests;
	struct vpa_label out = {{0}};
	double s_per_it = first->steps.s_per_it;

	if (q == first)
		return out;
	if (fps_of(q) > 0) {
		if (differs(fps_of(first), fps_of(q)))
			snprintf(out.text, sizeof(out.text), "has %s FPS",
				vpa_rate(fps_of(first)).text);
	} else if (vpa_unit_of(r) == VPA_UNIT_REQUEST) {
		if (differs((double)span_of(first), (double)span_of(q)))
			snprintf(out.text, sizeof(out.text), "takes %s",
				vpa_duration(span_of(first)).text);
	} else if (differs(s_per_it, q->steps.s_per_it))
		snprintf(out.text, sizeof(out.text), "takes %s a step",
			vpa_duration(vpt_sat_u64(s_per_it * 1e9 + 0.5)).text);
	return out;
}

struct vpa_label vpa_text_which_request(
	struct vpa_words *w, const struct vpa_report *r, const struct vpa_request *q)
{
	if (r->request_count < 2)
		return (struct vpa_label){{0}};
	/* A mean is of all that it counts. */
	if (vpa_unit_of(r) != VPA_UNIT_REQUEST || fps_of(q) > 0)
		vpa_words_add(w, " ", "This is request %zu of %zu%s.",
			(size_t)(q - r->requests) + 1, r->request_count,
			q != r->requests && r->request_count > 2 ? ", the median without the first"
								 : "");
	return of_first(r, q);
}

static void add_which(struct vpa_words *w, const struct vpa_report *r, const struct vpa_request *q)
{
	struct vpa_label first = vpa_text_which_request(w, r, q);

	if (first.text[0])
		vpa_words_add(w, " ", "The first, often with first use in it, %s.", first.text);
}

/* A first step that compiles, or a pause of the host, makes a mean that no step has. */
static void add_steps(
	struct vpa_words *w, const struct vpa_report *r, const struct vpa_step_times *t)
{
	const struct vpa_durations *period = &t->period;

	vpa_words_add(w, " ", "%s %sstep%s%s %s%s", vpa_count(t->count).text,
		r->is_diffusion ? "denoising " : "", vpa_plural(t->count), t->periods ? "," : " of",
		vpa_duration(vpt_sat_u64(t->s_per_it * 1e9 + 0.5)).text,
		t->periods ? " from one to the next" : "");
	if (t->periods && fabs(period->mean_ns - (double)period->p50_ns) > period->mean_ns / 5)
		vpa_words_add(w, "", " on average; median %s, longest %s",
			vpa_duration(period->p50_ns).text, vpa_duration(period->max_ns).text);
	vpa_words_add(w, "", ".");
}

static void put_result(struct vpa_page *p, const struct vpa_report *r, const struct vpa_request *q,
	const struct vpa_mean_unit *unit)
{
	const struct vpa_blocks *b = &q->blocks;
	struct vpa_words w = {.used = 0}, first = {.used = 0};
	enum vpa_style style = add_headline(&w, r, q);
	size_t i;

	if (b->fps >= 0)
		add_deadlines(&w, b);
	else if (b->denoise_rate >= 0)
		vpa_words_add(&w, " ",
			"No steady FPS: the VAE or the copies of frames come after the last "
			"block.");
	add_which(&w, r, q);
	vpa_page_words(p, "RESULT", style, "%s", w.text);
	w.used = 0;
	if (b->measured)
		add_mean_unit(&w, r, unit);
	else if (q->steps.s_per_it > 0)
		add_steps(&w, r, &q->steps);
	if (q->ttfb_ns)
		vpa_words_add(&first, "", "First block after %s", vpa_duration(q->ttfb_ns).text);
	if (q->ttff_ns)
		vpa_words_add(&first, ", ", "first frames after %s", vpa_duration(q->ttff_ns).text);
	if (first.used)
		vpa_words_add(&w, " ", "%s.", first.text);
	if (w.used)
		vpa_page_words(p, "", VPA_PLAIN, "%s", w.text);
	w.used = 0;
	for (i = 0; i < b->include_count; i++)
		vpa_words_add(&w, ", ", "%s", vpa_fit(b->includes[i], 32).text);
	if (w.used)
		vpa_page_words(p, "", VPA_PLAIN, "A block's time includes: %s.", w.text);
}

/* ---- CAUSE ---- */

/* vpa_where(), or, if the largest place has less than half, it and those that differ from it by a number. */
static struct vpa_label main_places(
	const struct vpa_digest *d, enum vpa_cause cause, size_t columns)
{
	const struct vpa_idle_place *first = vpa_first_place(d, cause);
	uint64_t all_ns = d->cause_ns[cause];
	struct vpa_label where = {{0}};
	struct vpa_idle_place alike;
	size_t count;

	alike = vpa_similar_of(d, cause, &count);
	if (!first || first->ns >= all_ns / 2 || count < 2 || alike.ns < all_ns / 2)
		return vpa_where(d, cause, columns);
	if (alike.ns < all_ns - all_ns / 200)
		snprintf(where.text, sizeof(where.text), "%.30s %% ",
			vpa_percent(alike.ns, all_ns).text);
	snprintf(where.text + strlen(where.text), sizeof(where.text) - strlen(where.text),
		"%.400s and %zu similar", vpa_place_label(first->call, &first->place, columns).text,
		count - 1);
	return where;
}

/* NULL: the blocks have none of it. */
static const struct vpa_block_part *idle_part(const struct vpa_blocks *b, enum vpa_cause cause)
{
	size_t i;

	for (i = 0; i < b->part_count; i++)
		if (b->parts[i].kind == VPA_PART_IDLE && b->parts[i].cause == cause)
			return &b->parts[i];
	return NULL;
}

/* The cause that limits the blocks, then others by time. */
static void put_idle_cause(struct vpa_page *p, const struct vpa_blocks *b,
	const struct vpa_digest *d, enum vpa_cause cause)
{
	const struct vpa_block_part *part = idle_part(b, cause), *other;
	struct vpa_words w = {.used = 0}, then = {.used = 0};
	/* What the GPUs lose at one time makes a block longer once, so the means are of one GPU. */
	uint64_t of_gpus = vpt_sat_mul(b->measured, b->devices ? b->devices : 1), code_ns;
	struct vpa_label where;
	struct vpa_top_line top;
	char line[320];
	size_t shown = 1;

	if (!part)
		return;
	where = main_places(d, vpa_known_cause(part->cause), 64);
	vpa_words_add(&w, "", "%s: %s of the mean block's %s",
		vpa_cause_label(vpa_known_cause(part->cause)).text,
		vpa_duration(vpa_divided(part->ns, of_gpus)).text,
		vpa_duration(vpa_divided(b->span_ns, b->measured)).text);
	if (b->devices > 1)
		vpa_words_add(&w, " ", "on each of %zu GPUs, on average", (size_t)b->devices);
	vpa_words_add(&w, ", ", "%s time%s of %s each", vpa_each(part->count, of_gpus).text,
		part->count == of_gpus ? "" : "s", vpa_mean(part->ns, part->count).text);
	if (where.text[0])
		vpa_words_add(&w, ": ", "%s", where.text);
	top = vpa_line_of_cause(d, vpa_known_cause(part->cause));
	if (vpa_main_line_text(line, sizeof(line), &top, "")[0])
		vpa_words_add(&w, ", ", "%s", line);
	vpa_words_add(&w, "", ".");
	code_ns = vpa_part_code_ns(part);
	if (code_ns)
		vpa_add_code(
			&w, &d->code[vpa_known_cause(part->cause)], vpa_divided(code_ns, of_gpus));
	for (other = b->parts; other < b->parts + b->part_count && shown < NAMES; other++)
		if (other->kind == VPA_PART_IDLE && other != part && ++shown &&
			other->ns >= b->idle_ns / 20)
			vpa_words_add(&then, ", ", "%s %s",
				vpa_cause_label(vpa_known_cause(other->cause)).text,
				vpa_duration(vpa_divided(other->ns, of_gpus)).text);
	if (then.used)
		vpa_words_add(&w, " ", "Next: %s.", then.text);
	vpa_page_words(p, "CAUSE", VPA_PLAIN, "%s", w.text);
}

static void put_busy_cause(struct vpa_page *p, const struct vpa_report *r,
	const struct vpa_blocks *b, const struct vpa_digest *d, const struct vpa_unit_limit *limit)
{
	struct vpa_words w = {.used = 0}, what = {.used = 0};
	size_t i;

	vpa_limit_cause(&what, r, limit->bound, limit->load);
	for (i = 0; i < b->part_count && i < NAMES && b->parts[i].kind == VPA_PART_BUSY; i++)
		vpa_words_add(&w, ", ", "%s %s %%", vpa_family_text(d, b->parts[i].name),
			vpa_percent(b->parts[i].ns, b->busy_ns).text);
	vpa_page_words(p, "CAUSE", VPA_PLAIN, "%s: %s of busy time.", what.text, w.text);
}

static void put_growth(struct vpa_page *p, const struct vpa_blocks *b)
{
	struct vpa_words w = {.used = 0};

	/* Mention a drift of a hundredth of the period per block, or more. */
	if (!b->has_drift || b->attention_drift_most_ns * 100 < b->period.mean_ns)
		return;
	vpa_words_add(&w, "", "Attention grows by %s per block",
		vpa_ms_range(b->attention_drift_ns / 1e6, b->attention_drift_most_ns / 1e6).text);
	if (b->saturated_at >= 0)
		vpa_words_add(&w, "", " until block %s, where the KV window is full",
			vpa_block_name(b, (size_t)b->saturated_at).text);
	vpa_page_words(p, "", VPA_PLAIN, "%s.", w.text);
}

int vpa_text_block_result(
	struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_request *q = vpa_main_request(r);
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	struct vpa_unit_limit limit = vpa_unit_limit_of(r);

	/* Without a steady FPS the rate is of the whole request. */
	p->touched = q->blocks.fps >= 0 ? q->blocks.touched : q->touched;
	put_result(p, r, q, &unit);
	p->touched = r->touched;
	if (unit.kind != VPA_UNIT_BLOCK)
		return 0;
	p->touched = q->blocks.touched;
	if (vpa_limit_is_bound(limit.bound))
		put_busy_cause(p, r, &q->blocks, d, &limit);
	else
		put_idle_cause(p, &q->blocks, d, limit.idle.cause);
	put_growth(p, &q->blocks);
	p->touched = r->touched;
	return 1;
}

/* What the findings, the checklist and a comparison count in, where that is neither a block nor a marked step. The line
 * STEPS is about inferred steps. */
static void add_units(struct vpa_words *w, const struct vpa_mean_unit *unit)
{
	const char *name = vpa_unit_kind_name(unit->kind);
	uint64_t count = (uint64_t)unit->units;
	struct vpa_num mean = vpa_duration(vpa_mean_unit_ns(unit));
	int is_left_out = unit->kind == VPA_UNIT_REQUEST && unit->without_first;

	if (!count)
		return;
	if (unit->kind == VPA_UNIT_INSTANCE)
		vpa_words_add(w, " ", "%s instances of %s, on the GPU %s each.",
			vpa_count(count).text, vpa_fit(unit->range->name, 48).text, mean.text);
	else if (unit->kind != VPA_UNIT_ITERATION && unit->kind != VPA_UNIT_REQUEST)
		return;
	else
		vpa_words_add(w, " ", "%s %s%s%s%s %s%s.", vpa_count(count).text, name,
			vpa_plural(count), is_left_out ? " without the first" : "",
			count == 1 && !is_left_out ? " of" : ",", mean.text,
			count == 1 ? "" : " from one to the next");
}

int vpa_text_request_result(struct vpa_page *p, const struct vpa_report *r)
{
	const struct vpa_request *q = vpa_main_request(r);
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	enum vpa_style style = VPA_PLAIN;
	struct vpa_words w = {.used = 0};

	if (!q) {
		add_units(&w, &unit);
		if (w.used)
			vpa_page_words(p, "RESULT", style, "%s", w.text);
		return w.used != 0;
	}
	p->touched = q->touched;
	if (q->fps_end_to_end >= 0) {
		style = add_headline(&w, r, q);
		vpa_words_add(
			&w, " ", "%s frame%s", vpa_count(q->frames).text, vpa_plural(q->frames));
		if (q->frames_asked && q->frames_asked != q->frames)
			vpa_words_add(&w, " ", "(%s asked for)", vpa_count(q->frames_asked).text);
		vpa_words_add(
			&w, " ", "in %s.", vpa_duration(vpt_sat_sub(q->end_ns, q->start_ns)).text);
	} else
		add_units(&w, &unit);
	if (q->steps.s_per_it > 0)
		add_steps(&w, r, &q->steps);
	if (w.used) {
		add_which(&w, r, q);
		vpa_page_words(p, "RESULT", style, "%s", w.text);
	}
	p->touched = r->touched;
	return w.used != 0;
}

/* ---- RATES ---- */

struct rate {
	const char *form;
	double rate;
};

static void put_some_rates(
	struct vpa_page *p, const char *section, const struct rate *rates, size_t count)
{
	struct vpa_words w = {.used = 0};
	size_t i;

	for (i = 0; i < count; i++)
		if (rates[i].rate >= 0)
			vpa_words_add(&w, ", ", rates[i].form, vpa_rate(rates[i].rate).text);
	if (w.used)
		vpa_page_words(p, section, VPA_PLAIN, "%s", w.text);
}

static void put_rates(struct vpa_page *p, const struct vpa_request *q)
{
	const struct vpa_blocks *b = &q->blocks;
	const struct rate frames[] = {
		{"FPS %s steady", b->fps},
		{b->fps >= 0 ? "%s end to end" : "FPS %s end to end", q->fps_end_to_end},
		{"%s if the GPU were never idle", b->fps >= 0 ? b->fps_busy : -1},
	};
	const struct rate others[] = {
		{"BPS %s", b->bps},
		{"steps/s %s", q->steps.steps_per_s},
		{q->steps.periods ? "s/it %s" : "s/it %s (a step's length: none follows another)",
			q->steps.s_per_it},
		{"latents/s %s", b->latent_fps},
	};
	const struct rate no_fps[] = {
		{"denoise rate %s frames/s (VAE or copies come after the blocks)", b->denoise_rate},
		{"denoising steps alone %s frames/s (not FPS)", b->fps_denoise},
	};

	if (q->fps_end_to_end < 0 && b->bps < 0 && q->steps.steps_per_s < 0)
		return;
	vpa_page_blank(p);
	put_some_rates(p, "RATES", frames, COUNT(frames));
	put_some_rates(
		p, b->fps >= 0 || q->fps_end_to_end >= 0 ? "" : "RATES", others, COUNT(others));
	put_some_rates(p, "", no_fps, COUNT(no_fps));
	if (b->measured > 1)
		vpa_page_words(p, "", VPA_PLAIN,
			"period p50 %s, p95 %s, p99 %s, jitter (p99 - p50) %s",
			vpa_duration(b->period.p50_ns).text, vpa_duration(b->period.p95_ns).text,
			vpa_duration(b->period.p99_ns).text, vpa_duration(b->jitter_ns).text);
}

void vpa_text_rates(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_request *q = vpa_main_request(r);

	(void)d;
	if (!q)
		return;
	p->touched = q->touched;
	put_rates(p, q);
}

/* ---- REQUESTS ---- */

void vpa_text_requests(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_view *v = vpa_view_of("requests");
	const struct vpa_request *q = vpa_main_request(r);
	struct vpa_table t;
	size_t i;

	if (!q || r->request_count < 2)
		return;
	p->touched = 0; /* its rows are marked */
	vpa_table_init(&t, v->columns, v->column_count, "REQUESTS, * is shown");
	for (i = 0; i < r->request_count && i < REQUESTS; i++) {
		const struct vpa_request *other = &r->requests[i];
		struct vpa_row *row = vpa_table_row(&t, 1, "%s%s%s",
			vpa_text_or(other->name, "outside all requests"), other == q ? " *" : "",
			other->touched ? " " VPA_TOUCHED : "");

		vpa_text_fill(row, v, other, d);
	}
	vpa_table_more(&t, r->request_count - i);
	vpa_page_table(p, &t);
}
