/* page_overview.c - the window at a glance: requests, blocks and stages above, then a strip for each GPU, busy
 * from below and idle from above, with the longest gaps as numbered flags. Drawn columns may be several buckets wide. */
#include "analysis/render/html/page_parts.h"
#include "analysis/render/html/markup/chart_axes.h"
#include "analysis/render/html/markup/chart_strips.h"
#include "analysis/render/text/sections/text_blocks_parts.h"
#include "analysis/render/text/sections/text_sections.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

enum {
	COLUMNS = 4096, /* of all strips */
	COLUMNS_LEAST = 128,
	STRIP = 76,
	STRIPS = 16,
	LANE = 18,
	LANES = 8,
	SPANS = 256,     /* drawn in a lane */
	UNITS = 1000000, /* of the window's length, in lanes */
	PARTS = 8,
	FLAGS = 9,
	FLAG_ROWS = 3
};

struct view {
	struct vpa_html *h;
	const struct vpa_report *r;
	const struct vpa_overview *o;
	uint64_t length_ns;
	struct vpa_parts parts;
	size_t columns, per_column; /* buckets of a column */
	unsigned y;
};

/* ---- lanes ---- */

static uint64_t units_at(const struct view *v, uint64_t time_ns)
{
	uint64_t at = time_ns > v->r->window_start_ns ? time_ns - v->r->window_start_ns : 0;

	if (at > v->length_ns)
		at = v->length_ns;
	return vpt_sat_scale(at, UNITS, v->length_ns);
}

static void begin_lane(struct view *v, const char *label)
{
	vpa_html_print(v->h,
		"<svg class=\"zoom lane\" data-width=\"%d\" y=\"%u\" width=\"100%%\" height=\"%d\" "
		"viewBox=\"0 0 %d 10\" preserveAspectRatio=\"none\" data-label=\"",
		UNITS, v->y, LANE - 4, UNITS);
	vpa_html_text(v->h, label);
	vpa_html_raw(v->h, "\">");
}

static void end_lane(struct view *v)
{
	vpa_html_raw(v->h, "</svg>\n");
	v->y += LANE;
}

static void put_span(
	struct view *v, const char *class_name, uint64_t start_ns, uint64_t end_ns, size_t at)
{
	uint64_t from = units_at(v, start_ns), to = units_at(v, end_ns);

	vpa_html_print(v->h,
		"<rect class=\"%s%s\" x=\"%" PRIu64 "\" width=\"%" PRIu64 "\" height=\"10\"/>",
		class_name, at % 2 ? " odd" : "", from, to > from ? to - from : 1);
}

static void put_requests(struct view *v)
{
	size_t i;

	if (!v->r->request_count || (v->r->request_count == 1 && !v->r->requests[0].name))
		return;
	begin_lane(v, "requests");
	for (i = 0; i < v->r->request_count && i < SPANS; i++)
		put_span(v, "l-request", v->r->requests[i].start_ns, v->r->requests[i].end_ns, i);
	end_lane(v);
}

static void put_blocks(struct view *v)
{
	const struct vpa_request *q = vpa_main_request(v->r);
	size_t stride, i;

	if (!q || !q->blocks.count)
		return;
	begin_lane(v, "blocks");
	stride = q->blocks.count / SPANS + 1;
	for (i = 0; i < q->blocks.count; i += stride) {
		const struct vpa_block_row *first = &q->blocks.series[i];
		size_t last = vpa_least(i + stride, q->blocks.count) - 1;

		put_span(v, first->missed ? "l-late" : "l-block", first->start_ns,
			q->blocks.series[last].end_ns, i / stride);
	}
	end_lane(v);
}

/* The largest lanes, in their order. */
static int is_large(const struct view *v, const struct vpa_overview_lane *lane)
{
	size_t larger = 0, i;

	for (i = 0; i < v->o->lane_count; i++)
		larger += v->o->lanes[i].count > lane->count ||
			  (v->o->lanes[i].count == lane->count && &v->o->lanes[i] < lane);
	return v->o->lane_count <= LANES || larger < LANES;
}

static void put_lanes(struct view *v)
{
	size_t i, k;

	for (i = 0; i < v->o->lane_count; i++) {
		const struct vpa_overview_lane *lane = &v->o->lanes[i];
		size_t stride = lane->span_count / SPANS + 1;

		if (!is_large(v, lane))
			continue;
		begin_lane(v, vpa_text_or(lane->name, "?"));
		for (k = 0; k < lane->span_count; k += stride)
			put_span(v, "l-stage", lane->spans[k].start_ns,
				lane->spans[vpa_least(k + stride, lane->span_count) - 1].end_ns,
				k / stride);
		end_lane(v);
	}
}

static void put_turns(
	struct view *v, const char *name, const struct vpa_inferred_step *turns, size_t count)
{
	size_t stride = count / SPANS + 1, k;

	if (!count)
		return;
	begin_lane(v, name);
	for (k = 0; k < count; k += stride)
		put_span(v, "l-stage", turns[k].start_ns,
			turns[vpa_least(k + stride, count) - 1].end_ns, k / stride);
	end_lane(v);
}

static void put_inferred(struct view *v)
{
	size_t i;

	for (i = 0; i < v->r->inferred_count && i < LANES; i++) {
		const struct vpa_inferred *row = &v->r->inferred[i];

		put_turns(v, "rounds, inferred", row->rounds, row->round_count);
		put_turns(v, "steps, inferred", row->steps, row->step_count);
	}
}

/* ---- strips ---- */

/* What a column says: the sums of its buckets. */
static void column_of(const struct view *v, const struct vpa_overview_device *d, size_t column,
	uint64_t out[VPA_PARTS_ALL])
{
	uint64_t sum[VPA_OVERVIEW_PARTS] = {0};
	size_t from = column * v->per_column, i, k;

	for (i = from; i < from + v->per_column && i < v->o->bucket_count; i++)
		for (k = 0; k < VPA_OVERVIEW_PARTS; k++)
			vpt_sat_add_to(&sum[k], d->buckets[i].ns[k]);
	vpa_parts_sum(&v->parts, sum, out);
}

/* The length of a column inside the window. */
static uint64_t column_length(const struct view *v, size_t column)
{
	uint64_t width = v->per_column * v->o->bucket_ns, from = column * width;

	return from >= v->length_ns ? 0 : v->length_ns - from < width ? v->length_ns - from : width;
}

static void put_part_class(struct vpa_html *h, const void *ctx, size_t k)
{
	vpa_html_part_class(h, ((const struct view *)ctx)->parts.order[k]);
}

static void put_part_name(struct vpa_html *h, const void *ctx, size_t k)
{
	size_t part = ((const struct view *)ctx)->parts.order[k];

	vpa_html_print(h, "%s%s", vpa_part_is_idle(part) ? "idle, " : "", vpa_part_name(part));
}

/* Cumulated shares of all columns, a byte for each part that is shown. */
static void fill_heights(
	const struct view *v, const struct vpa_overview_device *d, uint8_t *heights)
{
	size_t i, k;

	for (i = 0; i < v->columns; i++) {
		uint64_t ns[VPA_PARTS_ALL], done = 0, length = column_length(v, i);

		column_of(v, d, i, ns);
		for (k = 0; k < v->parts.count; k++) {
			vpt_sat_add_to(&done, ns[v->parts.order[k]]);
			heights[i * v->parts.count + k] = vpa_strip_height(done, length);
		}
	}
}

static void put_strip(struct view *v, const struct vpa_overview_device *d, uint8_t *heights)
{
	struct vpa_label label;
	const struct vpa_strip strip = {.label = label.text,
		.y = v->y,
		.height = STRIP,
		.length_ns = v->length_ns,
		.column_ns = v->per_column * v->o->bucket_ns,
		.columns = v->columns,
		.part_count = v->parts.count,
		.heights = heights,
		.put_class = put_part_class,
		.put_name = put_part_name,
		.ctx = v};

	snprintf(label.text, sizeof(label.text), "GPU %lld", (long long)d->device);
	fill_heights(v, d, heights);
	vpa_html_strip(v->h, &strip);
	v->y += STRIP + 8;
}

static void put_strips(struct view *v)
{
	uint8_t *heights = vpt_alloc(v->columns, VPA_PARTS_ALL);
	size_t i;

	if (!heights) {
		v->h->rc = vpt_fail(v->h->err, VPT_ENOMEM, "no memory for a page");
		return;
	}
	for (i = 0; i < v->o->device_count && i < STRIPS; i++)
		put_strip(v, &v->o->devices[i], heights);
	vpt_free(heights);
}

/* ---- flags ---- */

/* The first row in which a flag at `at` covers no earlier one; FLAG_ROWS: none. */
static size_t flag_row(const uint64_t *placed, const size_t *rows, size_t count, uint64_t at)
{
	size_t row, i;

	for (row = 0; row < FLAG_ROWS; row++) {
		for (i = 0; i < count; i++)
			if (rows[i] == row && placed[i] < at + UNITS / 25 &&
				at < placed[i] + UNITS / 25)
				break;
		if (i == count)
			break;
	}
	return row;
}

static void put_flag(
	struct view *v, const struct vpa_gap_row *g, uint64_t at, unsigned y, unsigned bottom)
{
	vpa_html_print(v->h,
		"<a class=\"flag\" href=\"#%s\"><line class=\"flag\" data-at=\"%" PRIu64 "\" x1=\"",
		g->id, at);
	vpa_html_percent(v->h, at, UNITS);
	vpa_html_raw(v->h, "%\" x2=\"");
	vpa_html_percent(v->h, at, UNITS);
	vpa_html_print(v->h,
		"%%\" y1=\"%u\" y2=\"%u\"/><text class=\"%s\" data-at=\"%" PRIu64
		"\" y=\"%u\" x=\"",
		y + 12, bottom,
		at > UNITS - UNITS / 40 ? "end"
		: at < UNITS / 40       ? "start"
					: "middle",
		at, y + 10);
	vpa_html_percent(v->h, at, UNITS);
	vpa_html_print(v->h, "%%\">%s<title>%s, GPU %lld: %s, ", g->id, g->id, (long long)g->device,
		vpa_duration(g->duration_ns).text);
	vpa_html_text(v->h, vpa_cause_text(vpa_known_cause(g->cause)));
	vpa_html_raw(v->h, "</title></text></a>\n");
}

/* Numbers of the longest gaps, in rows so that they do not cover each other; what has no room is in the
 * table only. */
static void put_flags(struct view *v, unsigned top, unsigned bottom)
{
	uint64_t placed[FLAGS];
	size_t rows[FLAGS], count = 0, i;

	for (i = 0; i < v->r->gap_count && count < FLAGS; i++) {
		const struct vpa_gap_row *g = &v->r->gaps[i];
		uint64_t at = units_at(v, vpt_sat_add(g->start_ns, g->duration_ns / 2));
		size_t row = flag_row(placed, rows, count, at);

		if (row == FLAG_ROWS)
			continue;
		placed[count] = at;
		rows[count++] = row;
		put_flag(v, g, at, top + 13 * (unsigned)row, bottom);
	}
}

/* ---- the section ---- */

/* The labels on the left, at the places of lanes and strips: in the order in which they are drawn. */
static void put_labels(struct view *v, unsigned height)
{
	const struct vpa_request *q = vpa_main_request(v->r);
	unsigned y = 0;
	size_t i;

	vpa_html_print(v->h, "<svg class=\"axis\" width=\"96\" height=\"%u\">", height);
	if (v->r->request_count && (v->r->request_count > 1 || v->r->requests[0].name)) {
		vpa_html_strip_label(v->h, "requests", y + 11);
		y += LANE;
	}
	if (q && q->blocks.count) {
		vpa_html_strip_label(v->h, "blocks", y + 11);
		y += LANE;
	}
	for (i = 0; i < v->o->lane_count; i++)
		if (is_large(v, &v->o->lanes[i])) {
			vpa_html_strip_label(v->h, vpa_text_or(v->o->lanes[i].name, "?"), y + 11);
			y += LANE;
		}
	for (i = 0; i < v->r->inferred_count && i < LANES; i++, y += LANE)
		vpa_html_strip_label(v->h, "steps, inferred", y + 11);
	if (v->r->gap_count)
		vpa_html_strip_label(v->h, "longest gaps", y + 22);
	y += 13 * FLAG_ROWS + 4;
	for (i = 0; i < v->o->device_count && i < STRIPS; i++, y += STRIP + 8) {
		struct vpa_label gpu;

		snprintf(
			gpu.text, sizeof(gpu.text), "GPU %lld", (long long)v->o->devices[i].device);
		vpa_html_strip_label(v->h, gpu.text, y + STRIP / 2 + 4);
	}
	vpa_html_raw(v->h, "</svg>");
}

static unsigned height_of(const struct view *v)
{
	const struct vpa_request *q = vpa_main_request(v->r);
	size_t lanes = vpa_least(v->r->inferred_count, LANES), i;

	lanes += v->r->request_count && (v->r->request_count > 1 || v->r->requests[0].name);
	lanes += q && q->blocks.count;
	for (i = 0; i < v->o->lane_count; i++)
		lanes += is_large(v, &v->o->lanes[i]) != 0;
	return (unsigned)(lanes * LANE + 13 * FLAG_ROWS + 4 +
			  vpa_least(v->o->device_count, STRIPS) * (STRIP + 8) + 20);
}

static void choose(struct view *v)
{
	uint64_t sum[VPA_OVERVIEW_PARTS] = {0};
	size_t strips = vpa_least(v->o->device_count, STRIPS), most, i, k, part;

	for (i = 0; i < strips; i++)
		for (k = 0; k < v->o->bucket_count; k++)
			for (part = 0; part < VPA_OVERVIEW_PARTS; part++)
				vpt_sat_add_to(&sum[part], v->o->devices[i].buckets[k].ns[part]);
	vpa_parts_choose(sum, PARTS, &v->parts);
	most = COLUMNS / (strips ? strips : 1);
	most = most > COLUMNS_LEAST ? most : COLUMNS_LEAST;
	v->per_column = (v->o->bucket_count + most - 1) / most;
	v->columns = (v->o->bucket_count + v->per_column - 1) / v->per_column;
	/* The window may end before the last bucket. */
	while (v->columns > 1 && (v->columns - 1) * v->per_column * v->o->bucket_ns >= v->length_ns)
		v->columns--;
}

void vpa_html_overview(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct view v = {.h = h, .r = r, .o = r->overview};
	unsigned flags, height;

	(void)d;
	v.length_ns = vpa_window_span_ns(r);
	if (!v.o || !v.o->device_count || !v.length_ns)
		return;
	choose(&v);
	height = height_of(&v);
	vpa_html_begin(h, "overview", "Overview",
		vpa_has_blocks(r) ? "Each GPU from the window's start to its end: busy from below, "
				    "idle from above. Late blocks are orange."
				  : "Each GPU from the window's start to its end: busy from below, "
				    "idle from above.");
	vpa_html_print(h,
		"<div class=\"plot wide\" id=\"timeline\" data-ns=\"%" PRIu64
		"\" data-full=\"%d\">",
		v.length_ns, VPA_STRIP_FULL);
	put_labels(&v, height + 2);
	vpa_html_print(h, "<svg class=\"main\" width=\"100%%\" height=\"%u\">\n", height + 2);
	put_requests(&v);
	put_blocks(&v);
	put_lanes(&v);
	put_inferred(&v);
	flags = v.y;
	v.y += 13 * FLAG_ROWS + 4;
	put_strips(&v);
	vpa_html_time_axis(h, v.length_ns, 0, v.y - 4);
	put_flags(&v, flags, v.y - 8);
	vpa_html_raw(h, "</svg></div>\n");
	vpa_html_legend(h, &v.parts);
	vpa_html_raw(h, "<div id=\"timeline-detail\" class=\"detail\"></div>\n");
	if (v.o->device_count > STRIPS)
		vpa_html_print(h, "<p class=\"note\">The first %d of %zu GPUs.</p>\n", STRIPS,
			v.o->device_count);
	vpa_html_print(h,
		"<p class=\"note\">A column is %s wide. Flags number the longest gaps.</p>\n",
		vpa_duration(v.per_column * v.o->bucket_ns).text);
	vpa_html_end(h);
}
