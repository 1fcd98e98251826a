/* text_facts.c - what each request was asked for, as it says itself: size, frames, steps, guidance, seed. */
#include "analysis/render/text/sections/text_blocks_parts.h"
#include "analysis/render/text/sections/text_sections.h"
#include "formats/base/count.h"

#include <stdio.h>

enum { REQUESTS = 6 };

/* Each fact has its cell; a column is shown if some request has one. */
enum { SIZE, FRAMES, STEPS, PASSES, GUIDANCE, BATCH, SEED, CELLS };

static void put_pair(struct vpa_num *out, const char *form, uint64_t a, uint64_t b)
{
	snprintf(out->text, sizeof(out->text), form, vpa_count(a).text, vpa_count(b).text);
}

static unsigned pixels(uint64_t n)
{
	return n < 1000000 ? (unsigned)n : 1000000;
}

/* Empty where nothing is known. */
static void fill_cells(const struct vpa_request *q, struct vpa_num cells[CELLS])
{
	uint64_t steps = q->steps.count;
	size_t i;

	for (i = 0; i < CELLS; i++)
		cells[i].text[0] = '\0';
	if (q->width && q->height)
		snprintf(cells[SIZE].text, sizeof(cells[SIZE].text), "%ux%u", pixels(q->width),
			pixels(q->height));
	if (q->frames_asked && q->frames && q->frames_asked != q->frames)
		put_pair(&cells[FRAMES], "%.16s of %.16s", q->frames, q->frames_asked);
	else if (q->frames_asked)
		cells[FRAMES] = vpa_count(q->frames_asked);
	if (q->steps_asked && steps && steps != q->steps_asked)
		put_pair(&cells[STEPS], "%.16s of %.16s", steps, q->steps_asked);
	else if (q->steps_asked)
		cells[STEPS] = vpa_count(q->steps_asked);
	if (q->passes_per_step > 0)
		cells[PASSES] = vpa_rate(q->passes_per_step);
	if (q->guidance >= 0)
		cells[GUIDANCE] = vpa_fixed(q->guidance, 2);
	if (q->batch)
		cells[BATCH] = vpa_count(q->batch);
	if (q->seed)
		snprintf(cells[SEED].text, sizeof(cells[SEED].text), "%.39s",
			vpa_fit(q->seed, 24).text);
}

static void add_row(struct vpa_table *t, const struct vpa_request *q, const unsigned char *shown)
{
	struct vpa_row *row =
		vpa_table_row(t, 1, "%s", vpa_text_or(q->name, "outside all requests"));
	struct vpa_num cells[CELLS];
	size_t i, column = 0;

	fill_cells(q, cells);
	for (i = 0; i < CELLS; i++)
		if (shown[i])
			row->cells[column++] = cells[i].text[0] ? cells[i] : vpa_missing();
}

/* That it failed, and what the program said and no column has. */
static void add_others(struct vpa_table *t, const struct vpa_request *q)
{
	struct vpa_words w = {.used = 0};
	size_t i;

	if (q->error)
		vpa_words_add(&w, "", "failed: %s", vpa_fit(q->error, 60).text);
	for (i = 0; i < q->fact_count; i++)
		vpa_words_add(&w, ", ", "%s %s", vpa_fit(q->facts[i].key, 24).text,
			vpa_fit(q->facts[i].value, 40).text);
	if (w.used)
		vpa_text_row(t, 2, "%s", w.text);
}

void vpa_text_facts(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	static const struct vpa_column all[CELLS] = {{"size", .drop = 2}, {.head = "frames"},
		{.head = "steps"}, {"passes a step", .drop = 1}, {"guidance", .drop = 3},
		{"batch", .drop = 4}, {"seed", .drop = 5}};
	struct vpa_column columns[CELLS];
	unsigned char shown[CELLS] = {0};
	size_t i, k, count = 0, said = 0;
	struct vpa_num cells[CELLS];
	struct vpa_table t;

	(void)d;
	for (i = 0; i < r->request_count; i++) {
		fill_cells(&r->requests[i], cells);
		for (k = 0; k < CELLS; k++)
			shown[k] |= cells[k].text[0] != '\0';
		/* Passes alone are no fact that anybody told. */
		for (k = 0; k < CELLS; k++)
			said += k != PASSES && cells[k].text[0];
		said += r->requests[i].error != NULL || r->requests[i].fact_count;
	}
	if (!said)
		return;
	for (k = 0; k < CELLS; k++)
		if (shown[k])
			columns[count++] = all[k];
	vpa_table_init(&t, columns, count, "ASKED, by request");
	for (i = 0; i < r->request_count && i < REQUESTS; i++) {
		add_row(&t, &r->requests[i], shown);
		add_others(&t, &r->requests[i]);
	}
	vpa_table_more(&t, r->request_count - i);
	vpa_page_table(p, &t);
}
