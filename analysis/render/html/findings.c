/* findings.c - FIX FIRST as cards: what to change, the most it could save, and links to the evidence. */
#include "analysis/render/html/html.h"
#include "analysis/render/text.h"

#include <stdlib.h>
#include <string.h>

/* Whether the page has a row with this id: a letter and a number. */
static int has_row(const struct vpa_report *r, const char *id)
{
	const struct {
		char letter;
		size_t rows;
	} tables[] = {{'K', r->kernel_count}, {'G', r->gap_count}, {'C', r->copy_count},
		{'S', r->sync_count}};
	size_t len = *id ? strspn(id + 1, "0123456789") : 0, i;
	unsigned long number;

	if (!len || len > 6 || id[1 + len])
		return 0;
	number = strtoul(id + 1, NULL, 10);
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].letter == id[0])
			return number && number <= vpa_least(tables[i].rows, VPA_HTML_ROWS);
	return 0;
}

static void put_evidence(
	struct vpa_html *h, const struct vpa_report *r, const struct vpa_finding *f)
{
	size_t i;

	if (!f->evidence_count)
		return;
	vpa_html_raw(h, "<p class=\"evidence\">Evidence: ");
	for (i = 0; i < f->evidence_count; i++) {
		const char *id = vpa_text_or(f->evidence[i], "?");

		vpa_html_raw(h, i ? ", " : "");
		if (has_row(r, id)) {
			vpa_html_print(h, "<a href=\"#%s\">", id);
			vpa_html_text(h, id);
			vpa_html_raw(h, "</a>");
		} else {
			vpa_html_text(h, id);
		}
	}
	vpa_html_raw(h, "</p>\n");
}

static void put_line(struct vpa_html *h, const char *title, const char *text)
{
	if (!text || !*text)
		return;
	vpa_html_print(h, "<p>%s", title);
	vpa_html_text(h, text);
	vpa_html_raw(h, "</p>\n");
}

static void put_card(
	struct vpa_html *h, const struct vpa_report *r, const struct vpa_finding *f, size_t number)
{
	struct vpa_num gain = vpa_finding_gain(f);
	struct vpa_words base = {.used = 0};

	vpa_finding_base(&base, r, f);
	vpa_html_raw(h, "<article class=\"card ");
	vpa_html_slug(h, vpa_text_or(f->status, "info"));
	vpa_html_print(h, "\"><h3><span class=\"number\">%zu</span> ", number);
	vpa_html_text(h, vpa_text_or(f->title, "?"));
	if (f->touched)
		vpa_html_raw(h, " " VPA_TOUCHED);
	vpa_html_raw(h, "</h3>\n");
	if (gain.text[0] != '-')
		vpa_html_print(h, "<p class=\"gain\">%s %s</p>\n",
			f->fps_to > 0 || f->steps_per_s_to > 0 ? "at most" : "saves at most",
			gain.text);
	put_line(h, "", base.text);
	put_line(h, "Measured: ", vpa_grouped(f->measured).text);
	put_line(h, "Listed from: ", f->threshold);
	put_line(h, "Caveat: ", f->caveat);
	put_evidence(h, r, f);
	vpa_html_raw(h, "</article>\n");
}

void vpa_html_findings(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	size_t i, number = 0;

	(void)d;
	for (i = 0; i < r->finding_count; i++) {
		if (vpa_is_note(&r->findings[i]))
			continue;
		if (!number)
			vpa_html_begin(h, "fix-first", "Fix first",
				"The most that each fix could save if nothing else becomes the "
				"bottleneck; gains do not add up.");
		if (!number)
			vpa_html_raw(h, "<div class=\"cards\">\n");
		put_card(h, r, &r->findings[i], ++number);
	}
	if (!number)
		return;
	vpa_html_raw(h, "</div>\n");
	vpa_html_end(h);
}
