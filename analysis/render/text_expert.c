/* text_expert.c - what people who tune a pipeline look up by hand: the checklist. */
#include "analysis/render/text.h"
#include "formats/count.h"

#include <stdio.h>
#include <string.h>

/* ---- the checklist ---- */

static const struct {
	const char *word;
	enum vpa_style style;
} statuses[] = {[VPA_CHECK_PASS] = {"pass", VPA_GREEN},
	[VPA_CHECK_WARN] = {"warn", VPA_YELLOW},
	[VPA_CHECK_FAIL] = {"FAIL", VPA_RED},
	[VPA_CHECK_UNKNOWN] = {"unknown", VPA_PLAIN}};

/* "< 1 %", ">= 90 %", "< 10 us" */
static struct vpa_num bound_of(const struct vpa_check *c)
{
	const char *sign = c->at_least ? ">=" : "<";
	struct vpa_num out;

	if (!strcmp(c->unit, "ns"))
		snprintf(out.text, sizeof(out.text), "%s %.0f us", sign, c->pass_bound / 1e3);
	else
		snprintf(out.text, sizeof(out.text), "%s %.3g %%", sign, c->pass_bound * 100);
	return out;
}

static void add_check(struct vpa_table *t, const struct vpa_check *c)
{
	struct vpa_row *row = vpa_table_row(t, 1, "%s", c->title);

	row->style = statuses[c->status].style;
	snprintf(row->cells[0].text, sizeof(row->cells[0].text), "%.38s", c->shown);
	row->cells[1] = bound_of(c);
	snprintf(row->cells[2].text, sizeof(row->cells[2].text), "%s", statuses[c->status].word);
	if (c->note)
		vpa_text_row(t, 3, "%s", c->note);
}

/* Checks without a figure, those with one reason in one line. */
static void add_unknown(struct vpa_table *t, const struct vpa_expert *e)
{
	size_t i, k;

	for (i = 0; i < e->check_count; i++) {
		struct vpa_words w = {.used = 0};
		const char *why = e->checks[i].note;
		int is_first = !e->checks[i].shown;

		for (k = 0; k < i; k++)
			is_first &= e->checks[k].shown || !vpa_same(e->checks[k].note, why);
		if (!is_first)
			continue;
		for (k = i; k < e->check_count; k++)
			if (!e->checks[k].shown && vpa_same(e->checks[k].note, why))
				vpa_words_add(&w, ", ", "%s", e->checks[k].title);
		vpa_text_row(t, 1, "unknown: %s: %s", w.text, vpa_text_or(why, "?"));
	}
}

void vpa_text_checks(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	static const struct vpa_column columns[] = {
		{"measured", 0, NULL}, {"bound", 0, NULL}, {"result", 0, NULL}};
	const struct vpa_expert *e = &r->expert;
	struct vpa_table t;
	size_t i;

	(void)d;
	if (!e->check_count)
		return;
	if (e->loop.kind)
		vpa_table_init(&t, columns, COUNT(columns), "CHECKLIST, a loop of %s %s%s",
			vpa_count(e->loop.count).text, e->loop.kind, vpa_plural(e->loop.count));
	else
		vpa_table_init(&t, columns, COUNT(columns), "CHECKLIST");
	for (i = 0; i < e->check_count; i++)
		if (e->checks[i].shown)
			add_check(&t, &e->checks[i]);
	add_unknown(&t, e);
	vpa_page_blank(p);
	vpa_page_table(p, &t);
}
