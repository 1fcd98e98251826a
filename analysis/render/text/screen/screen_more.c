/* screen_more.c - MORE of the first screen: advice that has no number in FIX FIRST, and where the rest is. */
#include "analysis/advice/finding.h"
#include "analysis/render/text/screen/screen.h"

#include <string.h>

enum {
	ADVICE = 2,
	OTHERS = 36 /* columns of the last line beside the path */
};

/* What is not marked, so that the report lacks it. Returns 0: nothing. */
static int put_unmarked(struct vpa_page *p, const struct vpa_screen *s, const char *section)
{
	const struct vpa_report *r = s->report;
	const struct vpa_step_rival *may_be = r->step_rivals;

	if (!vpa_text_lacks_marks(r))
		return 0;
	if (s->unit.kind == VPA_UNIT_ITERATION)
		vpa_page_item(p, section,
			"only iterations are marked, no blocks or steps: see MARK at the end of "
			"--full");
	else if (r->step_rival_count && !r->inferred_count)
		vpa_page_item(p, section,
			"nothing marks steps: they may be %s of %s of GPU work, or %s of %s; see "
			"MARK at the end of --full",
			vpa_count(may_be[0].count).text, vpa_duration(may_be[0].median_ns).text,
			vpa_count(may_be[1].count).text, vpa_duration(may_be[1].median_ns).text);
	else
		vpa_page_item(
			p, section, "nothing marks blocks or steps: see MARK at the end of --full");
	return 1;
}

/* A title that says how much it is says it once. */
static void put_advice(struct vpa_page *p, const char *section, const struct vpa_finding *f)
{
	const char *title = vpa_text_or(f->title, "?");
	struct vpa_label gain =
		vpa_ms_range(0, f->base_gain_ms > 0 ? f->base_gain_ms : f->gain_at_most_ms);

	if (vpa_finding_vanishes(f))
		vpa_page_item(p, section, "%s; alone it saves nothing", title);
	else if (!(f->gain_at_most_ms > 0 || f->base_gain_ms > 0) || strstr(title, gain.text))
		vpa_page_item(p, section, "%s", title);
	else if (f->base_gain_ms > 0)
		vpa_page_item(p, section, "%s; saves at most %s of %s", title, gain.text,
			vpa_ms_range(0, f->base_ms).text);
	else
		vpa_page_item(p, section, "%s; saves at most %s", title, gain.text);
}

void vpa_screen_more(struct vpa_page *p, const struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	const char *path = vpa_text_or(r->path, ""), *section = "MORE";
	const char *file = strlen(path) + OTHERS > p->width ? "FILE" : vpa_path_for_shell(p, path);
	size_t i, shown = 0;

	vpa_page_blank(p);
	p->touched = 0;
	for (i = 0; i < r->finding_count && shown < ADVICE; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (vpa_screen_is_fix(s, f) || vpa_is_note(f))
			continue;
		put_advice(p, section, f);
		section = "";
		shown++;
	}
	if (put_unmarked(p, s, section))
		section = "";
	vpa_page_words(p, section, VPA_PLAIN,
		"vptrace-analyze %s --full, or --format html -o report.html", file);
}
