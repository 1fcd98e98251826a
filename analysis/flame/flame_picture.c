/* flame_picture.c - draws a flame graph: the root at the top, a rectangle for each node, as wide as its time.
 *
 * Each node is an <svg> of its own, which clips its label; places are shares of the whole width, so that the
 * picture fits any page. The script (flame.js) zooms and searches. */
#include "analysis/flame/flame_picture.h"

#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	ROW = 18,        /* pixels */
	CONTROLS = 22,   /* pixels: the line of buttons */
	UNITS = 1000000, /* of the whole width */
	LEAST = 200,     /* units: narrower nodes are not drawn */
	LABELLED = 4000, /* units: narrower ones have no label */
	NAME = 512
};

static uint64_t units(const struct vpa_flame *f, uint64_t ns)
{
	return vpt_sat_scale(ns, UNITS, f->nodes[0].ns);
}

/* The least time of a drawn node, so that at most `most` of them are. */
static uint64_t least_ns(const struct vpa_flame *f, size_t most)
{
	uint64_t least = LEAST;
	size_t drawn, i;

	do {
		for (drawn = i = 0; i < f->count; i++)
			drawn += units(f, f->nodes[i].ns) >= least;
		least *= 2;
	} while (drawn > most && least < UNITS);
	return least / 2;
}

unsigned vpa_html_flame_height(const struct vpa_flame *f, size_t most)
{
	uint64_t least = least_ns(f, most);
	unsigned depth = 0;
	size_t i;

	for (i = 0; i < f->count; i++)
		if (units(f, f->nodes[i].ns) >= least && f->nodes[i].depth > depth)
			depth = f->nodes[i].depth;
	return CONTROLS + (depth + 1) * ROW;
}

static void put_class(struct vpa_html *h, const struct vpa_flame_node *node)
{
	switch (node->kind) {
	case VPA_FLAME_FRAME:
		vpa_html_raw(h, node->row->is_users ? "fu" : "ff");
		break;
	case VPA_FLAME_CAUSE:
		vpa_html_raw(h, "p-");
		vpa_html_slug(h, vpa_cause_text(node->cause));
		vpa_html_raw(h, " idle");
		break;
	case VPA_FLAME_WORK:
		vpa_html_raw(h, "fw");
		break;
	default:
		vpa_html_raw(h, "fn");
	}
}

/* The name, "Block_* (36)" for 36 members; times; of members the longest, since one may differ from all others. */
static void put_title(struct vpa_html *h, const struct vpa_flame *f,
	const struct vpa_flame_node *node, const char *name)
{
	vpa_html_raw(h, "<title>");
	vpa_html_text(h, name);
	vpa_html_print(h, "\n%s, ", vpa_duration(node->ns).text);
	vpa_html_percent(h, node->ns, f->nodes[0].ns);
	vpa_html_raw(h, " %");
	if (node->members) {
		vpa_html_print(h, "\n%" PRIu32 " numbered ones together, mean %s; the longest ",
			node->members, vpa_duration(node->ns / node->members).text);
		vpa_html_text(h, node->longest->frame.function);
		vpa_html_print(h, ", %s", vpa_duration(node->longest_ns).text);
	}
	if (node->kind == VPA_FLAME_FRAME && node->row->frame.file && node->row->frame.file[0]) {
		vpa_html_raw(h, "\n");
		vpa_html_text(h, node->row->frame.file);
	}
	vpa_html_raw(h, "</title>");
}

static void put_node(struct vpa_html *h, const struct vpa_flame *f,
	const struct vpa_flame_node *node, unsigned top)
{
	uint64_t width = units(f, node->ns);
	char name[NAME];

	vpa_flame_name(node, name, sizeof(name) - 16);
	if (node->members)
		snprintf(name + strlen(name), 16, " (%" PRIu32 ")", node->members);
	vpa_html_raw(h, "<svg class=\"fl\" x=\"");
	vpa_html_percent(h, node->start_ns, f->nodes[0].ns);
	vpa_html_print(h, "%%\" y=\"%u\" width=\"", top + CONTROLS + node->depth * ROW);
	vpa_html_percent(h, node->ns, f->nodes[0].ns);
	vpa_html_print(h, "%%\" height=\"%u\" data-x=\"%" PRIu64 "\" data-w=\"%" PRIu64 "\">",
		ROW - 1, units(f, node->start_ns), width);
	put_title(h, f, node, name);
	vpa_html_raw(h, "<rect width=\"100%\" height=\"100%\" class=\"");
	put_class(h, node);
	vpa_html_raw(h, "\"/>");
	if (width >= LABELLED) {
		vpa_html_raw(h, "<text x=\"3\" y=\"13\">");
		vpa_html_cut(h, name, 160);
		vpa_html_raw(h, "</text>");
	}
	vpa_html_raw(h, "</svg>\n");
}

void vpa_html_flame(struct vpa_html *h, const struct vpa_flame *f, size_t most, unsigned top)
{
	uint64_t least = least_ns(f, most);
	size_t i;

	vpa_html_print(h,
		"<svg class=\"flame\" width=\"100%%\" height=\"%u\">\n<g class=\"controls\"></g>\n",
		top + vpa_html_flame_height(f, most));
	for (i = 0; i < f->count; i++)
		if (units(f, f->nodes[i].ns) >= least)
			put_node(h, f, &f->nodes[i], top);
	vpa_html_raw(h, "</svg>\n");
}
