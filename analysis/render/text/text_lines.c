/* text_lines.c - lines of Python: which the GPU waited for, and which launched its work. */
#include "analysis/render/text/text_report.h"

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
	static const struct vpa_column columns[] = {
		{"ms", 0, NULL}, {"% window", 1, NULL}, {"samples", 2, NULL}};
	const struct vpa_lines *lines = &r->lines;
	size_t i, shown = 0, known = 0, sampled = 0, most = vpa_rows(r, IDLE_LINES);
	uint64_t rest_ns = 0, none_ns = 0;
	char text[LINE_TEXT];
	struct vpa_table t;
	struct vpa_row *row;

	for (; known < lines->idle_count && lines->idle[known].line.file; known++)
		sampled += known < most && lines->idle[known].samples;
	if (!known)
		return;
	/* Exact stacks have no samples. */
	vpa_table_init(&t, columns, sampled ? 3 : 2,
		"GPU IDLE BY INNERMOST LINE OF PYTHON, %zu of %zu", vpa_least(known, most), known);
	for (i = 0; i < lines->idle_count; i++) {
		const struct vpa_idle_line *line = &lines->idle[i];

		if (i >= known || shown == most) {
			*(i >= known ? &none_ns : &rest_ns) += line->ns;
			continue;
		}
		row = vpa_table_row(&t, 1, "%s, %s", vpa_line_text(text, sizeof(text), &line->line),
			vpa_cause_text(vpa_known_cause(line->cause)));
		row->wrap = 1;
		row->cells[0] = vpa_ms(line->ns, d);
		row->cells[1] = vpa_percent(line->ns, d->windows_ns);
		if (line->samples)
			row->cells[2] = vpa_count(line->samples);
		shown++;
	}
	if (rest_ns) {
		row = vpa_table_row(&t, 1, "smaller ones");
		row->cells[0] = vpa_ms(rest_ns, d);
		row->cells[1] = vpa_percent(rest_ns, d->windows_ns);
	}
	if (none_ns) {
		row = vpa_table_row(&t, 1, "no line: no Python, or too few samples");
		row->cells[0] = vpa_ms(none_ns, d);
		row->cells[1] = vpa_percent(none_ns, d->windows_ns);
	}
	vpa_page_blank(p);
	vpa_page_table(p, &t);
}

static void fill_launches(
	struct vpa_row *row, const struct vpa_launch_line *line, const struct vpa_digest *d)
{
	row->cells[0] = vpa_ms(line->busy_ns, d);
	row->cells[1] = vpa_count(line->ops);
}

static void put_launches(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	static const struct vpa_column columns[] = {{"ms", 0, NULL}, {"ops", 1, NULL}};
	const struct vpa_lines *lines = &r->lines;
	struct vpa_launch_line smaller = {.ops = 0}, none = {.ops = 0}, *sum;
	size_t i, known = 0, most = vpa_rows(r, LAUNCH_LINES);
	struct vpa_table t;

	while (known < lines->launch_count && lines->launches[known].line.file)
		known++;
	if (!known)
		return;
	vpa_table_init(&t, columns, sizeof(columns) / sizeof(columns[0]),
		"WORK BY LINE %s, %zu of %zu",
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
		fill_launches(row, line, d);
	}
	if (smaller.ops)
		fill_launches(vpa_table_row(&t, 1, "smaller ones"), &smaller, d);
	if (none.ops)
		fill_launches(
			vpa_table_row(&t, 1, "no line: no Python, or no sample near"), &none, d);
	vpa_page_blank(p);
	vpa_page_table(p, &t);
}

void vpa_text_lines(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	put_idle(p, r, d);
	put_launches(p, r, d);
}
