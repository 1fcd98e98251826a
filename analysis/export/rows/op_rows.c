/* op_rows.c - joins rows of kernels and copies with what the pass finds about them.
 *
 * A chunk brings rows; the pass emits ops later, when nothing earlier can come, joined with their
 * launches, in an order of its own where several begin at once. So rows wait here as text, both sides
 * are sorted, and merged. An op that the pass does not emit, since its times are invalid, gets empty
 * cells. */
#include "analysis/export/rows/table_parts.h"

#include "analysis/export/rows/row_places.h"
#include "analysis/export/sorted_runs.h"
#include "analysis/names/demangle.h"
#include "analysis/past/past_calls.h"

#include <stdlib.h>

struct key {
	uint64_t start_ns, correlation, end_ns;
	uint32_t stream, is_kernel;
};

struct row {
	struct key key;
	size_t offset; /* of its text */
	uint32_t len;
	struct vpa_rows_table *table;
};

/* What is known of an op when the pass emits it; its launch and ranges are freed later. */
struct joined {
	struct key key;
	uint64_t call_start_ns, call_end_ns;
	uint32_t call, thread; /* the call's name; VPA_NONE: no launch record */
	uint32_t kernel;       /* VPA_NONE: a copy */
	uint8_t kind;
	struct vpa_rows_place place;
};

struct vpa_rows_ops {
	struct vpa_runs rows; /* of struct row */
	struct vpa_line texts;
	struct vpa_runs joined;    /* of struct joined */
	struct vpa_pieces kernels; /* the first three cells, by kernel of the model */
};

int vpa_rows_ops_new(struct vpa_rows *x)
{
	x->ops = vpt_calloc(1, sizeof(*x->ops));
	return x->ops ? VPT_OK : VPT_ENOMEM;
}

void vpa_rows_ops_free(struct vpa_rows *x)
{
	if (!x->ops)
		return;
	vpa_runs_free(&x->ops->rows);
	vpt_free(x->ops->texts.data);
	vpa_runs_free(&x->ops->joined);
	vpa_pieces_free(&x->ops->kernels);
	vpt_free(x->ops);
}

/* ---- rows in ---- */

static int compare_keys(const struct key *a, const struct key *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return (int)a->is_kernel - (int)b->is_kernel;
}

static inline int is_row_after(const void *a, const void *b, void *unused)
{
	(void)unused;
	return compare_keys(&((const struct row *)a)->key, &((const struct row *)b)->key) > 0;
}

static inline int is_joined_after(const void *a, const void *b, void *unused)
{
	(void)unused;
	return compare_keys(&((const struct joined *)a)->key, &((const struct joined *)b)->key) > 0;
}

/* The key that the pass uses: cut at the window's edges. */
static struct key key_of(const struct vpa_rows *x, const struct vpt_section *s, uint32_t row,
	uint32_t stream, int correlation)
{
	const struct vpa_model *m = x->view.context->model;
	struct key k = {s->col[0][row], s->col[correlation][row], s->col[0][row] + s->col[1][row],
		stream, s->kind == VPT_KERNEL};

	if (k.start_ns < m->window_start_ns)
		k.start_ns = m->window_start_ns;
	if (k.end_ns > m->window_end_ns)
		k.end_ns = m->window_end_ns;
	return k;
}

int vpa_rows_ops_add(struct vpa_rows *x, const struct vpt_section *s)
{
	struct vpa_rows_ops *o = x->ops;
	int correlation = s->kind == VPT_KERNEL ? VPT_KERNEL_CORRELATION : VPT_COPY_CORRELATION;
	uint32_t row, stream = vpa_rows_stream(x, s->lane);

	if (vpa_runs_reserve(&o->rows, s->row_count, sizeof(struct row)))
		return VPT_ENOMEM;
	vpa_cat_section(&x->cat, s);
	for (row = 0; row < s->row_count; row++) {
		size_t begin = o->texts.size;

		if (!vpa_export_has_row(x->c, s, row))
			continue;
		vpa_cat_row_begin(&x->cat, s, row, &o->texts);
		((struct row *)o->rows.items)[o->rows.count] =
			(struct row){key_of(x, s, row, stream, correlation), begin,
				(uint32_t)(o->texts.size - begin), x->by_kind[s->kind]};
		if (vpa_runs_put(&o->rows, sizeof(struct row), is_row_after))
			return VPT_ENOMEM;
	}
	return o->texts.failed || x->failed ? VPT_ENOMEM : VPT_OK;
}

/* ---- ops in ---- */

int vpa_rows_ops_join(struct vpa_rows *x, const struct vpa_ops *ops)
{
	struct vpa_rows_ops *o = x->ops;
	size_t i, k = 0;

	if (vpa_runs_room(&o->joined, ops->count, sizeof(struct joined)))
		return VPT_ENOMEM;
	for (i = 0; i < ops->count; i++) {
		const struct vpa_op_stretch *stretch = vpa_ops_stretch(ops, i, &k);

		((struct joined *)o->joined.items)[o->joined.count] =
			(struct joined){{ops->start_ns[i], ops->correlation[i], ops->end_ns[i],
						ops->stream[i], ops->kind[i] == VPA_KERNEL},
				ops->launch_start_ns[i], ops->launch_end_ns[i], ops->launch_name[i],
				ops->launch[i] ? vpa_call_thread(ops->launch[i]) : VPA_NONE,
				ops->kernel[i], ops->kind[i],
				vpa_rows_place_of(x, stretch->range, stretch->process_range,
					ops->launch_start_ns[i])};
		if (vpa_runs_put(&o->joined, sizeof(struct joined), is_joined_after))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

/* The op of a row, or NULL. `*at` is the first op that no row has taken; call it in order of keys. */
static const struct joined *take_joined(
	const struct vpa_rows_ops *o, size_t *at, const struct key *key)
{
	const struct joined *joined = o->joined.items;

	while (*at < o->joined.count && compare_keys(&joined[*at].key, key) < 0)
		++*at;
	if (*at == o->joined.count || compare_keys(&joined[*at].key, key))
		return NULL;
	return &joined[(*at)++];
}

/* ---- rows out ---- */

const struct vpa_rows_column vpa_rows_kernel_columns[] = {
	{"demangled", VPT_UNIT_STRING, "its demangled name, as in the report"},
	{"family", VPT_UNIT_STRING, "family of its name: attention, gemm, memcpy ..."},
	{"backend", VPT_UNIT_STRING, "back-end of an attention kernel"},
	{"call", VPT_UNIT_STRING, "the call that launched it; empty: no launch record"},
	{"call_start_ns", VPT_UNIT_TIME_NS, "that call's entry"},
	{"call_duration_ns", VPT_UNIT_DUR_NS, "its exit - entry"},
	{"call_pid", VPT_UNIT_SIGNED, "process of the launching thread"},
	{"call_tid", VPT_UNIT_SIGNED, "the launching thread"},
	{"thread", VPT_UNIT_STRING, "its name"},
	{"range", VPT_UNIT_STRING, "innermost range that was open on it when the call began"},
	{"stage", VPT_UNIT_STRING, "nearest stage around that"},
	{"block", VPT_UNIT_SIGNED, "index of the video block"},
	{"step", VPT_UNIT_SIGNED, "index of the denoising step"},
	{NULL, 0, NULL},
};

const struct vpa_rows_column *const vpa_rows_copy_columns = vpa_rows_kernel_columns + 1;

static void put_family(struct vpa_rows_row *r, const struct joined *j)
{
	static const char *const families[] = {
		[VPA_MEMCPY] = "memcpy",
		[VPA_MEMSET] = "memset",
	};
	const struct vpa_model *m = r->x->view.context->model;
	const struct vpa_kernel_class *klass =
		j->kernel == VPA_NONE ? NULL : &m->kernels[j->kernel].klass;

	vpa_rows_words(r, klass                   ? vpa_family_name(klass->family)
			  : j->kind == VPA_KERNEL ? NULL
						  : families[j->kind]);
	vpa_rows_words(r, klass ? vpa_backend_name(klass->backend) : NULL);
}

enum { KERNEL_CELLS = 3 }; /* name and family: the same for all of a kernel's ops */

static void put_kernel(struct vpa_rows_row *r, const struct joined *j)
{
	struct vpa_rows_ops *o = r->x->ops;
	const struct vpa_model *m = r->x->view.context->model;
	struct vpt_text name = vpa_name(m, m->kernels[j->kernel].name);
	struct vpa_arena arena = {0};
	struct vpa_line *l = r->l;
	size_t begin;

	if (vpa_pieces_extend(&o->kernels, (size_t)j->kernel + 1)) {
		r->label += KERNEL_CELLS;
		r->x->failed = 1;
		return;
	}
	if (vpa_pieces_put(&o->kernels, j->kernel, l)) {
		r->label += KERNEL_CELLS;
		return;
	}
	begin = vpa_pieces_begin(&o->kernels);
	r->l = &o->kernels.text;
	vpa_rows_words(r, vpa_demangle(&arena, vpa_arena_text(&arena, name.text, name.len)));
	put_family(r, j);
	r->l = l;
	vpa_pieces_end(&o->kernels, j->kernel, begin, l);
	r->x->failed |= o->kernels.text.failed || arena.failed;
	vpa_arena_free(&arena);
}

static void put_launch(struct vpa_rows_row *r, const struct joined *j)
{
	vpa_rows_name(r, j->call);
	vpa_rows_number(r, j->call_start_ns);
	vpa_rows_number(r, j->call_end_ns - j->call_start_ns);
	vpa_rows_put_thread(r, j->thread);
}

/* `j`: the row's op; NULL: the pass did not emit it. */
static int write_row(struct vpa_rows *x, const struct row *row, const struct joined *j)
{
	enum { LAUNCH_CELLS = 6, PLACE_CELLS = 4 };
	struct vpa_rows_row r = vpa_rows_begin(x, row->table);
	int is_kernel = row->table == x->by_kind[VPT_KERNEL];

	vpa_line_put(r.l, x->ops->texts.data + row->offset, row->len);
	if (j && is_kernel && j->kernel != VPA_NONE) {
		put_kernel(&r, j);
	} else {
		vpa_rows_nothing(&r, is_kernel ? 1 : 0);
		if (j)
			put_family(&r, j);
		else
			vpa_rows_nothing(&r, 2);
	}
	if (j && j->thread != VPA_NONE) {
		put_launch(&r, j);
		vpa_rows_put_place(&r, &j->place);
	} else {
		vpa_rows_nothing(&r, LAUNCH_CELLS + PLACE_CELLS);
	}
	return vpa_rows_end(&r);
}

/* Moves the texts of rows that still wait to the front. */
static int keep_rest(struct vpa_rows_ops *o, size_t done)
{
	struct row *rows = o->rows.items;
	struct vpa_line rest = {0};
	size_t i;

	for (i = done; i < o->rows.count; i++) {
		size_t offset = rest.size;

		vpa_line_put(&rest, o->texts.data + rows[i].offset, rows[i].len);
		rows[i].offset = offset;
	}
	if (done == o->rows.count) {
		o->texts.size = 0;
	} else {
		rest.failed |= o->texts.failed;
		vpt_free(o->texts.data);
		o->texts = rest;
	}
	return vpa_runs_drop(&o->rows, done, sizeof(*rows));
}

int vpa_rows_ops_release(struct vpa_rows *x, uint64_t until_ns)
{
	struct vpa_rows_ops *o = x->ops;
	const struct row *rows;
	size_t done = 0, joined = 0;
	int rc = VPT_OK;

	if (!o->rows.count)
		return VPT_OK;
	vpa_runs_sort(&o->rows, sizeof(*rows), is_row_after);
	vpa_runs_sort(&o->joined, sizeof(struct joined), is_joined_after);
	rows = o->rows.items;
	while (!rc && done < o->rows.count && rows[done].key.start_ns < until_ns) {
		const struct joined *j = take_joined(o, &joined, &rows[done].key);

		rc = write_row(x, &rows[done++], j);
	}
	if (done &&
		(keep_rest(o, done) || vpa_runs_drop(&o->joined, joined, sizeof(struct joined))))
		return VPT_ENOMEM;
	return rc ? rc : o->texts.failed ? VPT_ENOMEM : VPT_OK;
}
