/* cell_columns.c - which columns the rows of a kind have as text: those of its lane first. */
#include "analysis/export/cell_text.h"

#include <string.h>

static const struct vpa_lane_column lane_columns[][5] = {
	[VPT_LANES_NONE] = {{NULL, 0}},
	[VPT_LANES_STREAM] = {{"pid", VPT_LANE_PID}, {"device", VPT_LANE_DEVICE},
		{"context", VPT_LANE_CONTEXT}, {"stream", VPT_LANE_STREAM}},
	[VPT_LANES_THREAD] = {{"pid", VPT_LANE_PID}, {"tid", VPT_LANE_TID}},
	[VPT_LANES_SERIES] = {{"series", VPT_LANE_NAME}, {"unit", VPT_LANE_LANE_UNIT}},
	[VPT_LANES_ANY] = {{"lane", -1}},
};

const struct vpa_lane_column *vpa_lane_columns(const struct vpt_kind_desc *kind)
{
	return lane_columns[kind->lanes];
}

static void kind_columns(const struct vpt_kind_desc *kind, vpa_cat_column_fn *column, void *ctx)
{
	unsigned i;

	for (i = 0; i < kind->n_columns; i++) {
		const struct vpt_column_desc *d = &kind->columns[i];

		if (d->unit == VPT_UNIT_CONFIG)
			kind_columns(vpt_kind_desc(VPT_CONFIG), column, ctx);
		else
			column(ctx, d->name, d->unit, d->help);
	}
}

void vpa_cat_columns(const struct vpt_kind_desc *kind, vpa_cat_column_fn *column, void *ctx)
{
	const struct vpa_lane_column *lane = vpa_lane_columns(kind);
	const struct vpt_kind_desc *lanes = vpt_kind_desc(VPT_LANE);

	for (; lane->name; lane++)
		if (lane->column < 0)
			column(ctx, lane->name, VPT_UNIT_LANE, "its stream or thread");
		else
			column(ctx, lane->name, lanes->columns[lane->column].unit,
				lanes->columns[lane->column].help);
	kind_columns(kind, column, ctx);
}

static void put_name(void *ctx, const char *name, unsigned unit, const char *help)
{
	struct vpa_line *l = ctx;

	(void)unit;
	(void)help;
	vpa_line_put(l, ",", 1);
	vpa_line_words(l, name);
}

void vpa_cat_header(const struct vpt_kind_desc *kind, struct vpa_line *l)
{
	size_t begin = l->size;

	vpa_cat_columns(kind, put_name, l);
	/* Every name begins with a comma. */
	if (!l->failed)
		memmove(l->data + begin, l->data + begin + 1, --l->size - begin);
	vpa_line_put(l, "\n", 1);
}
