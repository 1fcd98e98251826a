/* page_findings.c - FIX FIRST: what to change, and the most it could save. The first few stand on the first screen; all are cards, with
 * what was measured and links to the evidence. */
#include "analysis/render/fields/fields.h"
#include "analysis/render/html/report_page.h"
#include "analysis/render/text/screen/screen.h"

#include <stdlib.h>
#include <string.h>

enum { TOP = 3 }; /* fixes on the first screen */

static size_t fix_count(const struct vpa_report *r)
{
	size_t count = 0, i;

	for (i = 0; i < r->finding_count; i++)
		count += !vpa_is_note(&r->findings[i]);
	return count;
}

/* ---- in short and in full ---- */

/* What it means for the speed; where that cannot be said, the time. Nothing if neither is known. */
static struct vpa_words gain_of(const struct vpa_finding *f)
{
	struct vpa_words w = {.used = 0};
	struct vpa_num gain = vpa_finding_gain(f);

	vpa_finding_meaning(&w, f);
	if (!w.used && !vpa_is_missing(&gain))
		vpa_words_add(&w, "", "%s %s",
			f->fps_to > 0 || f->steps_per_s_to > 0 ? "at most" : "saves at most",
			gain.text);
	return w;
}

/* Of what the gain is a part, and where it is. */
static struct vpa_words place_of(const struct vpa_report *r, const struct vpa_finding *f)
{
	struct vpa_words w = {.used = 0};

	vpa_finding_time(&w, r, f);
	vpa_finding_note(&w, f);
	vpa_finding_instead(&w, r, f);
	return w;
}

enum { WORDS = 100 }; /* columns */

/* As FIX FIRST says it everywhere. */
static void put_title(struct vpa_html *h, const struct vpa_finding *f)
{
	vpa_html_text(h, vpa_fix_words(f, WORDS).text);
	if (f->touched)
		vpa_html_raw(h, " " VPA_TOUCHED);
}

static void put_gain(struct vpa_html *h, const struct vpa_finding *f)
{
	struct vpa_words gain = gain_of(f);

	if (!gain.used)
		return;
	vpa_html_raw(h, "<p class=\"gain\">");
	vpa_html_text(h, gain.text);
	vpa_html_raw(h, "</p>\n");
}

/* ---- the first screen ---- */

static void put_top(
	struct vpa_html *h, const struct vpa_report *r, const struct vpa_finding *f, size_t number)
{
	struct vpa_words place = place_of(r, f);

	vpa_html_print(h,
		"<div class=\"fix\"><span class=\"number\">%zu</span><p><a href=\"#fix-%zu\">",
		number, number);
	put_title(h, f);
	vpa_html_raw(h, "</a></p>");
	put_gain(h, f);
	if (place.used) {
		vpa_html_raw(h, "<p class=\"place\">");
		vpa_html_text(h, place.text);
		vpa_html_raw(h, "</p>");
	}
	vpa_html_raw(h, "</div>\n");
}

static void put_together(struct vpa_html *h, const struct vpa_screen *s)
{
	struct vpa_words who = {.used = 0};
	struct vpa_num gain;

	if (!vpa_screen_together(s, 1, TOP, &who, &gain))
		return;
	vpa_html_raw(h, "<div class=\"fix\"><span class=\"number\"></span><p>");
	vpa_html_text(h, who.text);
	vpa_html_raw(h, "</p><p class=\"gain\">");
	vpa_html_print(h, "%s %s", gain.text, vpa_screen_gain_unit(s));
	vpa_html_raw(h, "</p></div>\n");
}

void vpa_html_top_findings(
	struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	size_t count = fix_count(r), number = 0, i;
	struct vpa_words meaning = {.used = 0};
	struct vpa_screen s;

	if (!count)
		return;
	vpa_html_raw(h, "<dl id=\"fix-top\">\n<dt>FIX FIRST</dt><dd>\n");
	for (i = 0; i < r->finding_count && number < TOP; i++)
		if (!vpa_is_note(&r->findings[i]))
			put_top(h, r, &r->findings[i], ++number);
	vpa_screen_of(r, d, &s);
	put_together(h, &s);
	vpa_screen_add_meaning(&meaning, &s, 1, 0);
	vpa_html_raw(h, "<p class=\"note\">");
	vpa_html_text(h, meaning.text);
	vpa_html_raw(h, " <a href=\"#fix-first\">");
	if (count > TOP)
		vpa_html_print(h, "All %zu, and what was measured", count);
	else
		vpa_html_raw(h, "What was measured");
	vpa_html_raw(h, "</a></p>\n</dd>\n</dl>\n");
}

/* ---- cards ---- */

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

/* What the line above says is not said again. */
static void put_other(struct vpa_html *h, const char *title, const char *text, const char *above)
{
	if (text && !strstr(above, text))
		put_line(h, title, vpa_grouped(text).text);
}

void vpa_html_what_if(struct vpa_html *h, const struct vpa_report *r, const char *change)
{
	vpa_html_raw(h, "<pre class=\"command\">vptrace-analyze what-if ");
	vpa_html_text(h, vpa_text_or(r->path, "FILE"));
	vpa_html_raw(h, " --change '");
	vpa_html_text(h, change);
	vpa_html_raw(h, "'</pre>\n");
}

/* The change that was replayed. */
static void put_change(struct vpa_html *h, const struct vpa_report *r, const struct vpa_finding *f)
{
	if (!(f->predicted_ms > 0) || !f->change)
		return;
	vpa_html_raw(h, "<p>Predicted by a replay:</p>\n");
	vpa_html_what_if(h, r, f->change);
}

static void put_card(
	struct vpa_html *h, const struct vpa_report *r, const struct vpa_finding *f, size_t number)
{
	struct vpa_words place = place_of(r, f);

	vpa_html_raw(h, "<article class=\"card ");
	vpa_html_slug(h, vpa_finding_status_choice(f->status));
	vpa_html_print(
		h, "\" id=\"fix-%zu\"><h3><span class=\"number\">%zu</span> ", number, number);
	put_title(h, f);
	vpa_html_raw(h, "</h3>\n");
	put_gain(h, f);
	if (strcmp(vpa_fix_words(f, WORDS).text, vpa_text_or(f->title, "?")) != 0)
		put_line(h, "", f->title);
	put_line(h, "", place.text);
	put_other(h, "Measured: ", f->measured, place.text);
	put_line(h, "Threshold: ", f->threshold);
	put_other(h, "Caveat: ", f->caveat, place.text);
	put_change(h, r, f);
	put_evidence(h, r, f);
	vpa_html_raw(h, "</article>\n");
}

void vpa_html_findings(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	size_t number = 0, i;

	(void)d;
	if (!fix_count(r))
		return;
	vpa_html_begin(h, "fix-first", "Fix first",
		"What each fix would bring: predicted by a replay of the trace with it, and at "
		"most, if nothing else becomes the bottleneck. Gains do not add up.");
	vpa_html_raw(h, "<div class=\"cards\">\n");
	for (i = 0; i < r->finding_count; i++)
		if (!vpa_is_note(&r->findings[i]))
			put_card(h, r, &r->findings[i], ++number);
	vpa_html_raw(h, "</div>\n");
	vpa_html_end(h);
}
