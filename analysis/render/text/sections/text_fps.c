/* text_fps.c - the rates of a request: RESULT has the first one, RATES all.
 *
 * A rate that is not an FPS is never called one. Shows one request, a steady one with most measured blocks;
 * a table lists the others. */
#include "analysis/render/text/sections/text_blocks_parts.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <math.h>

enum { REQUESTS = 6 };

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

void vpa_text_pipeline_work(struct vpa_words *w, const struct vpa_report *r)
{
	uint64_t blocks = 0, frames = 0, steps = 0;
	size_t i;

	for (i = 0; i < r->request_count; i++) {
		vpt_sat_add_to(&blocks, r->requests[i].blocks.count);
		vpt_sat_add_to(&frames, r->requests[i].frames);
		vpt_sat_add_to(&steps, r->requests[i].steps.count);
	}
	if (r->request_count)
		vpa_words_add(
			w, "", "%zu request%s", r->request_count, vpa_plural(r->request_count));
	if (blocks)
		vpa_words_add(w, ", ", "%s block%s", vpa_count(blocks).text, vpa_plural(blocks));
	if (frames)
		vpa_words_add(w, ", ", "%s frame%s", vpa_count(frames).text, vpa_plural(frames));
	if (steps)
		vpa_words_add(w, ", ", "%s step%s", vpa_count(steps).text, vpa_plural(steps));
}

void vpa_text_pipeline(struct vpa_page *p, const struct vpa_report *r)
{
	struct vpa_words w = {.used = 0};
	uint64_t context = 0;
	size_t i;

	if (!r->request_count)
		return;
	for (i = 0; i < r->request_count; i++)
		vpt_sat_add_to(&context, r->requests[i].steps.context_count);
	vpa_text_pipeline_work(&w, r);
	if (context)
		vpa_words_add(&w, ", ", "%s context pass%s", vpa_count(context).text,
			vpa_plural_es(context));
	vpa_page_words(p, "", VPA_PLAIN, "%s", w.text);
}

/* ---- RESULT ---- */

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

static void put_includes(struct vpa_page *p, const struct vpa_blocks *b)
{
	struct vpa_words w = {.used = 0};
	size_t i;

	for (i = 0; i < b->include_count; i++)
		vpa_words_add(&w, ", ", "%s", vpa_fit(b->includes[i], 32).text);
	if (w.used)
		vpa_page_words(p, "", VPA_PLAIN, "a block's time includes %s", w.text);
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
	put_includes(p, b);
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
