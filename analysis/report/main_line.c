/* main_line.c - finds a line with a large share of many lists without memory, by the counters of Misra and Gries: time
 * of a line without a counter is taken from all counters, so a line with more than a fifth of the time keeps one. */
#include "analysis/report/main_line.h"

#include "analysis/base/intervals.h"
#include "analysis/report/device_limit.h"
#include "formats/base/saturate.h"

#include <stdio.h>

static void outweigh(struct vpa_main_line *m, const struct vpa_code_line *line, uint64_t ns)
{
	uint64_t least = ns;
	size_t i;

	for (i = 0; i < VPA_LINE_RIVALS; i++)
		least = vpa_earlier(least, m->rivals[i].ns);
	for (i = 0; i < VPA_LINE_RIVALS; i++)
		m->rivals[i].ns -= least;
	for (i = 0; i < VPA_LINE_RIVALS && ns > least; i++)
		if (!m->rivals[i].ns) {
			m->rivals[i].line = *line;
			m->rivals[i].ns = ns - least;
			return;
		}
}

static void add_line(struct vpa_main_line *m, const struct vpa_code_line *line, uint64_t ns)
{
	size_t i;

	for (i = 0; i < VPA_LINE_RIVALS; i++)
		if (vpa_is_same_line(&m->rivals[i].line, line)) {
			m->rivals[i].ns += ns;
			return;
		}
	if (!m->is_second)
		outweigh(m, line, ns);
}

void vpa_main_line_add(struct vpa_main_line *m, const struct vpa_top_line *top, uint64_t ns)
{
	size_t i;

	m->ns += ns;
	if (!top || !top->line.file)
		return;
	/* Several rows may be parts of one place. */
	m->samples += (double)top->samples * (top->ns ? (double)ns / (double)top->ns : 1);
	if (!top->lines)
		add_line(m, &top->line, vpt_sat_u64(top->share * (double)ns + 0.5));
	for (i = 0; i < top->line_count; i++)
		add_line(m, &top->lines[i].line, vpa_portion(ns, top->lines[i].ns, top->ns));
}

int vpa_main_line_again(struct vpa_main_line *m)
{
	size_t i;

	if (m->is_second)
		return 0;
	for (i = 0; i < VPA_LINE_RIVALS; i++)
		m->rivals[i].ns = 0;
	m->ns = 0;
	m->samples = 0;
	m->is_second = 1;
	return 1;
}

struct vpa_top_line vpa_main_line_of(const struct vpa_main_line *m)
{
	struct vpa_top_line top = {.samples = vpt_sat_u64(m->samples + 0.5), .ns = m->ns};
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < VPA_LINE_RIVALS; i++)
		if (m->rivals[i].ns > most) {
			most = m->rivals[i].ns;
			top.line = m->rivals[i].line;
		}
	top.share = m->ns ? (double)most / (double)m->ns : 0;
	return top.share >= VPA_LINE_LEAST ? top : (struct vpa_top_line){.samples = 0};
}

struct vpa_top_line vpa_main_line_among(struct vpa_top_line top, uint64_t ns, uint64_t all_ns)
{
	if (ns < all_ns)
		top.share *= (double)ns / (double)all_ns;
	return top.share >= VPA_LINE_LEAST ? top : (struct vpa_top_line){.samples = 0};
}

const char *vpa_main_line_text(
	char *text, size_t cap, const struct vpa_top_line *top, const char *most)
{
	char line[320];

	*text = '\0';
	if (top && top->share >= VPA_LINE_LEAST && vpa_top_line_text(line, sizeof(line), top)[0])
		snprintf(text, cap, "%s%s",
			top->share >= VPA_LINE_MOST ? most : "the largest part ", line);
	return text;
}
