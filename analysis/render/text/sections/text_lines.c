/* text_lines.c - lines of Python: which the GPU waited for, and which launched its work. */
#include "analysis/render/text/sections/text_sections.h"

#include "formats/base/saturate.h"

#include <stdio.h>

enum { IDLE_LINES = 8, LAUNCH_LINES = 5, LINE_TEXT = 320 };

/* "wan/modules/model.py:212 forward" */
static struct vpa_label line_label(const struct vpa_code_line *line)
{
	const char *function = line->file && line->file[0] ? line->function : NULL;
	char place[LINE_TEXT];
	struct vpa_label out;

	vpa_line_text(place, sizeof(place), line);
	snprintf(out.text, sizeof(out.text), "%s%s%.120s", place, function ? " " : "",
		function ? function : "");
	return out;
}

static void put_idle(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_view *v = vpa_view_of("lines.idle");
	const struct vpa_lines *lines = &r->lines;
	size_t i, shown = 0, known = 0, sampled = 0, most = vpa_rows(r, IDLE_LINES);
	struct vpa_idle_line rest = {.ns = 0}, none = {.ns = 0};
	char text[LINE_TEXT];
	struct vpa_table t;
	struct vpa_row *row;

	for (; known < lines->idle_count && lines->idle[known].line.file; known++)
		sampled += known < most && lines->idle[known].samples;
	if (!known)
		return;
	/* Exact stacks have no samples. */
	vpa_table_init(&t, v->columns, sampled ? v->column_count : 2,
		"GPU IDLE BY INNERMOST LINE OF PYTHON, %zu of %zu", vpa_least(known, most), known);
	for (i = 0; i < lines->idle_count; i++) {
		const struct vpa_idle_line *line = &lines->idle[i];

		if (i >= known || shown == most) {
			(i >= known ? &none : &rest)->ns += line->ns;
			continue;
		}
		row = vpa_table_row(&t, 1, "%s, %s", vpa_line_text(text, sizeof(text), &line->line),
			vpa_cause_text(vpa_known_cause(line->cause)));
		row->wrap = 1;
		vpa_text_fill(row, v, line, d);
		shown++;
	}
	if (rest.ns)
		vpa_text_fill(vpa_table_row(&t, 1, "smaller ones"), v, &rest, d);
	if (none.ns)
		vpa_text_fill(vpa_table_row(&t, 1, "no line: no Python, or too few samples"), v,
			&none, d);
	vpa_page_table(p, &t);
}

static void put_launches(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_view *v = vpa_view_of("lines.launches");
	const struct vpa_lines *lines = &r->lines;
	struct vpa_launch_line smaller = {.ops = 0}, none = {.ops = 0}, *sum;
	size_t i, known = 0, most = vpa_rows(r, LAUNCH_LINES);
	struct vpa_table t;

	while (known < lines->launch_count && lines->launches[known].line.file)
		known++;
	if (!known)
		return;
	vpa_table_init(&t, v->columns, v->column_count, "WORK BY LINE %s, %zu of %zu",
		lines->launches_are_sampled ? "SAMPLED AFTER ITS LAUNCH" : "THAT LAUNCHED IT",
		vpa_least(known, most), known);
	for (i = 0; i < lines->launch_count; i++) {
		const struct vpa_launch_line *line = &lines->launches[i];
		struct vpa_row *row;

		if (i >= vpa_least(known, most)) {
			sum = i < known ? &smaller : &none;
			vpt_sat_add_to(&sum->busy_ns, line->busy_ns);
			vpt_sat_add_to(&sum->ops, line->ops);
			continue;
		}
		row = vpa_table_row(&t, 1, "%s", line_label(&line->line).text);
		row->wrap = 1;
		vpa_text_fill(row, v, line, d);
	}
	if (smaller.ops)
		vpa_text_fill(vpa_table_row(&t, 1, "smaller ones"), v, &smaller, d);
	if (none.ops)
		vpa_text_fill(
			vpa_table_row(&t, 1, "no line: no Python, or no sample near"), v, &none, d);
	vpa_page_table(p, &t);
}

void vpa_text_lines(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	put_idle(p, r, d);
	put_launches(p, r, d);
}
