/* table_parts.c - shared by the tables of an export: cells, the choice of rows, and lanes. */
#include "analysis/export/rows/table_outlet.h"

#include <assert.h>

/* ---- rows ---- */

int vpa_rows_flush(struct vpa_rows *x, struct vpa_rows_table *t, size_t at_least)
{
	int rc = VPT_OK;

	if (t->out.failed || x->failed)
		return VPT_ENOMEM;
	if (t->out.size < at_least)
		return VPT_OK;
	x->c->totals->raw_bytes += t->out.size;
	rc = x->outlet->put(x, t, t->out.data, t->out.size);
	t->out.size = 0;
	return rc;
}

struct vpa_rows_row vpa_rows_begin(struct vpa_rows *x, struct vpa_rows_table *t)
{
	return (struct vpa_rows_row){x, t, &t->out, t->labels};
}

int vpa_rows_ended(struct vpa_rows *x, struct vpa_rows_table *t)
{
	enum { FLUSH_BYTES = 256 << 10 };

	t->rows++;
	return t->out.size < FLUSH_BYTES && !t->out.failed ? VPT_OK
							   : vpa_rows_flush(x, t, FLUSH_BYTES);
}

int vpa_rows_end(struct vpa_rows_row *r)
{
	assert(!r->table->columns || !r->table->columns[r->label - r->table->labels].name);
	vpa_cat_row_end(&r->x->cat, r->l);
	return vpa_rows_ended(r->x, r->table);
}

/* ---- cells ---- */

static void put_label(struct vpa_rows_row *r)
{
	vpa_cat_put_label(r->l, r->label++);
}

void vpa_rows_text(struct vpa_rows_row *r, const char *text, size_t len)
{
	put_label(r);
	if (text)
		vpa_cat_text_cell(&r->x->cat, r->l, text, len);
	else
		vpa_cat_null(&r->x->cat, r->l);
}

void vpa_rows_words(struct vpa_rows_row *r, const char *words)
{
	vpa_rows_text(r, words, words ? strlen(words) : 0);
}

/* Makes piece `id` and appends it. */
static void make_piece(
	struct vpa_rows_row *r, struct vpa_pieces *pieces, size_t id, struct vpt_text text)
{
	size_t begin = vpa_pieces_begin(pieces);

	vpa_cat_text_cell(&r->x->cat, &pieces->text, text.text, text.len);
	vpa_pieces_end(pieces, id, begin, r->l);
	r->x->failed |= pieces->text.failed;
}

/* Whether the piece is there and appended; otherwise makes room for it. */
static int put_piece(struct vpa_rows_row *r, struct vpa_pieces *pieces, size_t id)
{
	put_label(r);
	if (id < pieces->count)
		return vpa_pieces_put(pieces, id, r->l);
	r->x->failed |= vpa_pieces_extend(pieces, id + 1) != VPT_OK;
	return r->x->failed;
}

void vpa_rows_name(struct vpa_rows_row *r, uint32_t id)
{
	struct vpa_rows *x = r->x;

	if (!id)
		vpa_rows_nothing(r, 1);
	else if (!put_piece(r, &x->names, id))
		make_piece(r, &x->names, id, vpa_name(x->view.context->model, id));
}

void vpa_rows_cause(struct vpa_rows_row *r, enum vpa_cause cause)
{
	const char *words = vpa_cause_text(cause);

	if (!put_piece(r, &r->x->causes, cause))
		make_piece(r, &r->x->causes, cause, (struct vpt_text){words, strlen(words)});
}

void vpa_rows_number(struct vpa_rows_row *r, uint64_t value)
{
	const struct vpa_label *label = r->label++;
	struct vpa_line *l = r->l;
	char *to = vpa_line_room(l, VPA_CAT_LABEL + VPA_DIGITS);

	if (!to)
		return;
	memcpy(to, label->text, VPA_CAT_LABEL);
	l->size += label->len + vpa_line_digits(l, to + label->len, value);
}

void vpa_rows_signed(struct vpa_rows_row *r, int64_t value)
{
	if (value >= 0) {
		vpa_rows_number(r, (uint64_t)value);
		return;
	}
	put_label(r);
	vpa_line_signed(r->l, (uint64_t)value);
}

void vpa_rows_nothing(struct vpa_rows_row *r, unsigned cells)
{
	for (; cells; cells--) {
		put_label(r);
		vpa_cat_null(&r->x->cat, r->l);
	}
}

void vpa_rows_index(struct vpa_rows_row *r, int64_t index)
{
	if (index < 0)
		vpa_rows_nothing(r, 1);
	else
		vpa_rows_signed(r, index);
}

/* Cells that the row before had too, or else keep_cells() after they are made. */
static int put_again(
	struct vpa_rows_row *r, const struct vpa_line *kept, int is_same, unsigned cells)
{
	if (!is_same || !kept->size)
		return 0;
	vpa_line_put_short(r->l, kept->data, kept->size);
	r->label += cells;
	return 1;
}

static void keep_cells(struct vpa_rows_row *r, struct vpa_line *kept, size_t begin)
{
	kept->size = 0;
	vpa_line_put(kept, r->l->data + begin, r->l->size - begin);
	vpa_line_room(kept, VPA_LINE_SLACK);
	r->x->failed |= kept->failed;
}

void vpa_rows_put_thread(struct vpa_rows_row *r, uint32_t thread)
{
	const struct vpa_thread *t = &r->x->view.context->model->threads[thread];
	struct vpa_rows_thread_text *last = &r->x->last_thread;
	size_t begin = r->l->size;

	if (put_again(r, &last->text, last->thread == thread && last->name == t->name, 3))
		return;
	vpa_rows_signed(r, t->pid);
	vpa_rows_signed(r, t->tid);
	vpa_rows_name(r, t->name);
	last->thread = thread;
	last->name = t->name;
	keep_cells(r, &last->text, begin);
}

static int is_same_place(const struct vpa_rows_place *a, const struct vpa_rows_place *b)
{
	return a->range == b->range && a->stage == b->stage && a->block == b->block &&
	       a->step == b->step;
}

void vpa_rows_put_place(struct vpa_rows_row *r, const struct vpa_rows_place *place)
{
	struct vpa_rows_place_text *last = &r->x->last_place;
	struct vpt_text stage = {NULL, 0};
	size_t begin = r->l->size;

	if (put_again(r, &last->text, is_same_place(&last->place, place), 4))
		return;
	if (place->stage)
		stage = vpt_strings_get(&r->x->stages, place->stage - 1);
	vpa_rows_name(r, place->range);
	vpa_rows_text(r, stage.text, stage.len);
	vpa_rows_index(r, place->block);
	vpa_rows_index(r, place->step);
	last->place = *place;
	keep_cells(r, &last->text, begin);
}

void vpa_rows_put_line(struct vpa_rows_row *r, const struct vpa_rows_line *line)
{
	if (!line->is_known) {
		vpa_rows_nothing(r, 4);
		return;
	}
	vpa_rows_text(r, line->function.text, line->function.len);
	vpa_rows_text(r, line->file.text, line->file.len);
	if (line->number)
		vpa_rows_number(r, line->number);
	else
		vpa_rows_nothing(r, 1);
	put_label(r);
	vpa_line_double(r->l, line->share);
}

void vpa_rows_place_cell(struct vpa_rows_row *r, uint32_t place)
{
	uint32_t id = place & ~VPA_BEFORE;
	struct vpt_text name = vpa_name(r->x->view.context->model, id);
	struct vpa_line *text = &r->x->cat.scratch;

	if (!id || id == place) {
		vpa_rows_name(r, id);
		return;
	}
	text->size = 0;
	vpa_line_words(text, "before ");
	vpa_line_put(text, name.text, name.len);
	vpa_rows_text(r, text->data, text->size);
	r->x->failed |= text->failed;
}

/* ---- lanes ---- */

/* Adds what the model has met since; its rows and ours have the same numbers, as both are in order of
 * arrival. */
static int follow(struct vpa_rows *x, struct vpa_index *index, uint64_t key)
{
	uint32_t row = vpa_index_put(index, key, 0);

	x->failed |= row == UINT32_MAX;
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
