/* arrow_stream.c - Arrow's structs around the columns of a store.
 *
 * A consumer may take a child out of its parent and keep it, so each array and schema holds the store by itself. */
#include "analysis/export/columns/column_store.h"

#include "formats/base/memory.h"

#include <errno.h>
#include <string.h>

enum { BATCH_ROWS = 1 << 16 }; /* a multiple of 8, so that bits begin at a byte */

/* What a schema or an array holds. */
struct held {
	struct vpa_store *store;
	const void *buffers[3]; /* of an array */
	size_t count;
	void *children[]; /* the dictionary is the only one where it is there */
};

static void let_go(struct held *held)
{
	while (held->count)
		vpt_free(held->children[--held->count]);
	vpa_store_drop(held->store);
	vpt_free(held);
}

/* Holds the store and `count` children of `size` bytes, which are zeroed. NULL: no memory. */
static struct held *hold(struct vpa_store *s, size_t count, size_t size)
{
	struct held *held = vpt_calloc(1, sizeof(*held) + count * sizeof(*held->children));

	if (!held)
		return NULL;
	held->store = s;
	vpa_store_hold(s);
	while (held->count < count) {
		held->children[held->count] = vpt_calloc(1, size);
		if (!held->children[held->count]) {
			let_go(held);
			return NULL;
		}
		held->count++;
	}
	return held;
}

/* ---- schemas ---- */

static void release_schema(struct ArrowSchema *a)
{
	struct held *held = a->private_data;
	size_t i;

	for (i = 0; i < held->count; i++) {
		struct ArrowSchema *child = held->children[i];

		if (child->release)
			child->release(child);
	}
	let_go(held);
	a->release = NULL;
}

/* A schema with `count` empty children. 0 or ENOMEM. */
static int hold_schema(struct vpa_store *s, struct ArrowSchema *out, size_t count)
{
	struct held *held = hold(s, count, sizeof(*out));

	memset(out, 0, sizeof(*out));
	if (!held)
		return ENOMEM;
	out->name = "";
	out->children = (struct ArrowSchema **)held->children;
	out->n_children = (int64_t)count;
	out->private_data = held;
	out->release = release_schema;
	return 0;
}

static int make_field(struct vpa_store *s, const struct vpa_stored_column *c, const char *name,
	struct ArrowSchema *out)
{
	int is_text = c->text_offsets != NULL;

	if (hold_schema(s, out, is_text ? 1 : 0))
		return ENOMEM;
	out->name = name;
	out->metadata = c->metadata;
	out->flags = ARROW_FLAG_NULLABLE;
	out->format = is_text ? "i" : c->about.type == VPA_COLUMN_NUMBER ? "g" : "l";
	if (!is_text)
		return 0;
	out->n_children = 0;
	out->dictionary = out->children[0];
	if (hold_schema(s, out->dictionary, 0))
		return ENOMEM;
	out->dictionary->format = "U"; /* with offsets of 64 bits */
	return 0;
}

/* ---- arrays ---- */

static void release_array(struct ArrowArray *a)
{
	struct held *held = a->private_data;
	size_t i;

	for (i = 0; i < held->count; i++) {
		struct ArrowArray *child = held->children[i];

		if (child->release)
			child->release(child);
	}
	let_go(held);
	a->release = NULL;
}

static int hold_array(struct vpa_store *s, struct ArrowArray *out, size_t count)
{
	struct held *held = hold(s, count, sizeof(*out));

	memset(out, 0, sizeof(*out));
	if (!held)
		return ENOMEM;
	out->buffers = held->buffers;
	out->children = (struct ArrowArray **)held->children;
	out->n_children = (int64_t)count;
	out->private_data = held;
	out->release = release_array;
	return 0;
}

static int make_texts(
	struct vpa_store *s, const struct vpa_stored_column *c, struct ArrowArray *out)
{
	if (hold_array(s, out, 0))
		return ENOMEM;
	out->length = (int64_t)c->texts.count;
	out->n_buffers = 3;
	out->buffers[1] = c->text_offsets;
	out->buffers[2] = c->texts.bytes ? c->texts.bytes : "";
	return 0;
}

static int make_values(struct vpa_store *s, const struct vpa_stored_column *c, uint64_t first,
	uint64_t count, struct ArrowArray *out)
{
	int is_text = c->text_offsets != NULL;

	if (hold_array(s, out, is_text ? 1 : 0))
		return ENOMEM;
	out->length = (int64_t)count;
	out->offset = (int64_t)first;
	out->n_buffers = 2;
	out->null_count = c->unknown ? -1 : 0; /* of these rows it is not counted */
	out->buffers[0] = c->unknown ? c->known : NULL;
	out->buffers[1] = c->values.data;
	if (!is_text)
		return 0;
	out->n_children = 0;
	out->dictionary = out->children[0];
	return make_texts(s, c, out->dictionary);
}

/* ---- streams ---- */

struct stream {
	struct vpa_store *store;
	const struct vpa_stored_table *table;
	size_t part;
	uint64_t row; /* of the part, the next */
};

static int get_schema(struct ArrowArrayStream *a, struct ArrowSchema *out)
{
	const struct stream *s = a->private_data;
	const struct vpa_stored_part *first = &s->table->parts[0];
	size_t i;

	if (hold_schema(s->store, out, s->table->column_count))
		return ENOMEM;
	out->format = "+s";
	for (i = 0; i < s->table->column_count; i++) {
		if (make_field(s->store, first->columns[i], first->columns[i]->about.name,
			    out->children[i])) {
			out->release(out);
			return ENOMEM;
		}
	}
	return 0;
}

static int get_next(struct ArrowArrayStream *a, struct ArrowArray *out)
{
	struct stream *s = a->private_data;
	const struct vpa_stored_part *part;
	uint64_t count;
	size_t i;

	while (s->part < s->table->part_count && s->row == s->table->parts[s->part].rows) {
		s->part++;
		s->row = 0;
	}
	memset(out, 0, sizeof(*out));
	if (s->part == s->table->part_count)
		return 0;
	part = &s->table->parts[s->part];
	count = part->rows - s->row < BATCH_ROWS ? part->rows - s->row : BATCH_ROWS;
	if (hold_array(s->store, out, s->table->column_count))
		return ENOMEM;
	out->length = (int64_t)count;
	out->n_buffers = 1;
	for (i = 0; i < s->table->column_count; i++) {
		if (make_values(s->store, part->columns[i], s->row, count, out->children[i])) {
			out->release(out);
			return ENOMEM;
		}
	}
	s->row += count;
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *a)
{
	(void)a;
	return "no memory for a batch of rows"; /* the only one */
}

static void release_stream(struct ArrowArrayStream *a)
{
	struct stream *s = a->private_data;

	vpa_store_drop(s->store);
	vpt_free(s);
	a->release = NULL;
}

int vpa_arrow_stream(
	struct vpa_store *store, const struct vpa_stored_table *table, struct ArrowArrayStream *out)
{
	struct stream *s = vpt_calloc(1, sizeof(*s));

	memset(out, 0, sizeof(*out));
	if (!s)
		return VPT_ENOMEM;
	*s = (struct stream){.store = store, .table = table};
	vpa_store_hold(store);
	*out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, s};
	return VPT_OK;
}
