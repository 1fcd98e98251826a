/* page_parts.c - which parts of device time a chart shows, and in which order. */
#include "analysis/render/html/page_parts.h"

#include <string.h>

const char *vpa_part_name(size_t part)
{
	return part == VPA_OTHER_BUSY   ? "other busy"
	       : part == VPA_OTHER_IDLE ? "other idle"
					: vpa_overview_part_name(part);
}

int vpa_part_is_idle(size_t part)
{
	return part == VPA_OTHER_IDLE || (part >= VPA_OVERVIEW_IDLE && part < VPA_OVERVIEW_PARTS);
}

/* The largest part in [from, to) that is not chosen yet; `to`: none with any time. */
static size_t largest(
	const uint64_t *ns, const struct vpa_parts *p, size_t from, size_t to, uint64_t least_ns)
{
	size_t best = to, i;

	for (i = from; i < to; i++)
		if (p->shown_as[i] != i && ns[i] > least_ns && (best == to || ns[i] > ns[best]))
			best = i;
	return best;
}

static void choose_kind(const uint64_t *ns, size_t from, size_t to, size_t most, size_t other,
	uint64_t least_ns, struct vpa_parts *out)
{
	size_t i, shown, part, rest = 0;

	for (i = from; i < to; i++)
		out->shown_as[i] = other;
	for (shown = 0; shown < most; shown++) {
		part = largest(ns, out, from, to, least_ns);
		if (part == to)
			break;
		out->shown_as[part] = part;
		out->order[out->count++] = part;
	}
	for (i = from; i < to; i++)
		rest += out->shown_as[i] == other && ns[i];
	if (rest)
		out->order[out->count++] = other;
}

void vpa_parts_choose(const uint64_t ns[VPA_OVERVIEW_PARTS], size_t most, struct vpa_parts *out)
{
	uint64_t all = 0, least;
	size_t i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < VPA_OVERVIEW_PARTS; i++)
		all += ns[i];
	least = all / 500; /* smaller ones cannot be seen */
	choose_kind(ns, 0, VPA_OVERVIEW_IDLE, most, VPA_OTHER_BUSY, least, out);
	choose_kind(ns, VPA_OVERVIEW_IDLE, VPA_OVERVIEW_PARTS, most, VPA_OTHER_IDLE, least, out);
}

void vpa_parts_sum(const struct vpa_parts *p, const uint64_t ns[VPA_OVERVIEW_PARTS],
	uint64_t out[VPA_PARTS_ALL])
{
	size_t i;

	memset(out, 0, VPA_PARTS_ALL * sizeof(*out));
	for (i = 0; i < VPA_OVERVIEW_PARTS; i++)
		out[p->shown_as[i]] += ns[i];
}

void vpa_html_part_class(struct vpa_html *h, size_t part)
{
	vpa_html_raw(h, "p-");
	vpa_html_slug(h, vpa_part_name(part));
	if (vpa_part_is_idle(part))
		vpa_html_raw(h, " idle");
}

void vpa_html_legend(struct vpa_html *h, const struct vpa_parts *p)
{
	size_t i;

	vpa_html_raw(h, "<p class=\"legend\"><span class=\"kind\">busy</span> ");
	for (i = 0; i < p->count; i++) {
		size_t part = p->order[i];
		int idle = vpa_part_is_idle(part);

		if (idle && (!i || !vpa_part_is_idle(p->order[i - 1])))
			vpa_html_raw(
				h, "</p>\n<p class=\"legend\"><span class=\"kind\">idle</span> ");
		vpa_html_key(h, vpa_part_name(part), idle ? " idle" : "", vpa_part_name(part));
		vpa_html_raw(h, " ");
	}
	vpa_html_raw(h, "</p>\n");
}
