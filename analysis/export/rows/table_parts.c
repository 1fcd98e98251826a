/* table_parts.c - shared by the tables of an export: cells, the choice of rows, and lanes. */
#include "analysis/export/rows/table_parts.h"

static void put_label(const struct vpa_rows *x, struct vpa_line *l, const char *name)
{
	vpa_line_put(l, ",\"", x->cat.csv ? 1 : 2);
	if (x->cat.csv)
		return;
	vpa_line_words(l, name);
	vpa_line_put(l, "\":", 2);
}

void vpa_rows_text(
	struct vpa_rows *x, struct vpa_line *l, const char *name, const char *text, size_t len)
{
	put_label(x, l, name);
	if (text)
		vpa_cat_text_cell(&x->cat, l, text, len);
	else
		vpa_cat_null(&x->cat, l);
}

void vpa_rows_name(struct vpa_rows *x, struct vpa_line *l, const char *name, uint32_t id)
{
	struct vpt_text t = vpa_name(x->view.context->model, id);

	vpa_rows_text(x, l, name, id ? t.text : NULL, t.len);
}

void vpa_rows_number(struct vpa_rows *x, struct vpa_line *l, const char *name, uint64_t value)
{
	put_label(x, l, name);
	vpa_line_unsigned(l, value);
}

void vpa_rows_signed(struct vpa_rows *x, struct vpa_line *l, const char *name, int64_t value)
{
	put_label(x, l, name);
	vpa_line_signed(l, (uint64_t)value);
}

void vpa_rows_nothing(struct vpa_rows *x, struct vpa_line *l, const char *name)
{
	vpa_rows_text(x, l, name, NULL, 0);
}

void vpa_rows_index(struct vpa_rows *x, struct vpa_line *l, const char *name, int64_t index)
{
	if (index < 0)
		vpa_rows_nothing(x, l, name);
	else
		vpa_rows_signed(x, l, name, index);
}

void vpa_rows_put_place(struct vpa_rows *x, struct vpa_line *l, const struct vpa_rows_place *place)
{
	struct vpt_text stage = {NULL, 0};

	if (place->stage)
		stage = vpt_strings_get(&x->stages, place->stage - 1);
	vpa_rows_name(x, l, "range", place->range);
	vpa_rows_text(x, l, "stage", stage.text, stage.len);
	vpa_rows_index(x, l, "block", place->block);
	vpa_rows_index(x, l, "step", place->step);
}

void vpa_rows_put_line(struct vpa_rows *x, struct vpa_line *l, const struct vpa_rows_line *line)
{
	if (!line->is_known) {
		vpa_rows_nothing(x, l, "function");
		vpa_rows_nothing(x, l, "file");
		vpa_rows_nothing(x, l, "line");
		vpa_rows_nothing(x, l, "line_share");
		return;
	}
	vpa_rows_text(x, l, "function", line->function.text, line->function.len);
	vpa_rows_text(x, l, "file", line->file.text, line->file.len);
	if (line->number)
		vpa_rows_number(x, l, "line", line->number);
	else
		vpa_rows_nothing(x, l, "line");
	put_label(x, l, "line_share");
	vpa_line_double(l, line->share);
}

void vpa_rows_place_cell(struct vpa_rows *x, struct vpa_line *l, uint32_t place)
{
	uint32_t id = place & ~VPA_BEFORE;
	struct vpt_text name = vpa_name(x->view.context->model, id);
	struct vpa_line *text = &x->cat.scratch;

	if (!id || id == place) {
		vpa_rows_name(x, l, "place", id);
		return;
	}
	text->size = 0;
	vpa_line_words(text, "before ");
	vpa_line_put(text, name.text, name.len);
	vpa_rows_text(x, l, "place", text->data, text->size);
	l->failed |= text->failed;
}

/* ---- lanes ---- */

/* Adds what the model has met since; its rows and ours have the same numbers, as both are in order of
 * arrival. */
static int follow(struct vpa_rows *x, struct vpa_index *index, uint64_t key)
{
	uint32_t row = vpa_index_put(index, key, 0);

	x->cat.out.failed |= row == UINT32_MAX;
	return row + (uint64_t)1 == index->count;
}

uint32_t vpa_rows_stream(struct vpa_rows *x, uint64_t key)
{
	const struct vpa_model *m = x->view.context->model;

	while (x->streams.count < m->stream_count &&
		follow(x, &x->streams, m->streams[x->streams.count].key))
		;
	return vpa_index_find(&x->streams, key, 0);
}

uint32_t vpa_rows_thread(struct vpa_rows *x, uint64_t key)
{
	const struct vpa_model *m = x->view.context->model;

	while (x->threads.count < m->thread_count &&
		follow(x, &x->threads, m->threads[x->threads.count].key))
		;
	return vpa_index_find(&x->threads, key, 0);
}
