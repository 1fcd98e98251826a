/* rows_export.c - a trace as tables, one for each kind of row.
 *
 * Rows are those of `cat`, plus columns from the analysis: a kernel's family, the call that launched
 * it, the range it belongs to. Results of the analysis have tables of their own: gaps, ranges as
 * they ran on each device, and those of the report. An outlet takes the rows.
 *
 * This file has the pass and the tables: those of events.def that hold events or describe the run, with
 * the columns that the analysis adds, and those of analysis results. */
#include "analysis/export/rows/table_outlet.h"
#include "analysis/export/rows/row_places.h"
#include "analysis/export/rows/table_choice.h"
#include "analysis/folds/gap_line.h"

/* ---- columns that the analysis adds ---- */

static const struct vpa_rows_column call_columns[] = {
	{"range", VPT_UNIT_STRING, "innermost range that was open on the thread when it began"},
	{"stage", VPT_UNIT_STRING, "nearest stage around that"},
	{"block", VPT_UNIT_SIGNED, "index of the video block"},
	{"step", VPT_UNIT_SIGNED, "index of the denoising step"},
	{NULL, 0, NULL},
};

static const struct vpa_rows_column range_columns[] = {
	{"role", VPT_UNIT_STRING, "its role in the pipeline: request, stage, block, step ..."},
	{"index", VPT_UNIT_SIGNED, "index of the block or step"},
	{NULL, 0, NULL},
};

static const struct vpa_rows_column sample_columns[] = {
	{"stack_number", VPT_UNIT_NUMBER,
		"row of table stack; empty: the thread runs no Python code"},
	{NULL, 0, NULL},
};

static const struct vpa_rows_column gap_columns[] = {
	{"device", VPT_UNIT_SIGNED, "CUDA device ordinal"},
	{"start_ns", VPT_UNIT_TIME_NS, "end of the last op before it"},
	{"duration_ns", VPT_UNIT_DUR_NS, "length of the gap"},
	{"cause", VPT_UNIT_STRING, "the cause of most of it, as in the report"},
	{"call", VPT_UNIT_STRING, "the call of the longest piece with that cause"},
	{"range", VPT_UNIT_STRING, "the range that was open then, or around the next launch"},
	{"pid", VPT_UNIT_SIGNED, "process of the launching thread"},
	{"tid", VPT_UNIT_SIGNED, "the thread that launched the op that ended it"},
	{"after", VPT_UNIT_STRING, "the op before it; empty: none, or a copy"},
	{"before", VPT_UNIT_STRING, "the op that ended it; empty: none, or a copy"},
	{"correlation", VPT_UNIT_NUMBER, "of the op that ended it"},
	{"place", VPT_UNIT_STRING,
		"the range as in table idle: \"before\" and its name if it was around the next "
		"launch only"},
	{"function", VPT_UNIT_STRING,
		"the innermost function of the user's code that covers most of the cause; empty: "
		"unknown, or stacks are samples: see table idle, by device, cause, place and call"},
	{"file", VPT_UNIT_STRING, "its file"},
	{"line", VPT_UNIT_NUMBER, "number of the line in it; empty: unknown"},
	{"line_share", VPT_UNIT_F64, "fraction of the cause that is at the line"},
	{NULL, 0, NULL},
};

static const struct vpa_rows_column idle_columns[] = {
	{"device", VPT_UNIT_SIGNED, "CUDA device ordinal"},
	{"cause", VPT_UNIT_STRING, "why it was idle, as in the report"},
	{"place", VPT_UNIT_STRING,
		"the range that was open then, or \"before\" and the range around the next launch"},
	{"call", VPT_UNIT_STRING, "the call that held the host, or that launched the next op"},
	{"idle_ns", VPT_UNIT_DUR_NS, "idle time of all such pieces of gaps"},
	{"gaps", VPT_UNIT_COUNT, "gaps with such a piece"},
	{"function", VPT_UNIT_STRING,
		"the function of the user's code that most of it is at; empty: unknown"},
	{"file", VPT_UNIT_STRING, "its file"},
	{"line", VPT_UNIT_NUMBER, "number of the line in it; empty: unknown"},
	{"line_share", VPT_UNIT_F64, "fraction of the samples, or of the time, at the line"},
	{"samples", VPT_UNIT_COUNT,
		"that belong to the time; 0: none, or the stack is known at every moment"},
	{NULL, 0, NULL},
};

static const struct vpa_rows_column projection_columns[] = {
	{"pid", VPT_UNIT_SIGNED, "process"},
	{"tid", VPT_UNIT_SIGNED, "the thread that opened the range"},
	{"name", VPT_UNIT_STRING, "the range's text"},
	{"domain", VPT_UNIT_STRING, "its NVTX domain"},
	{"host_start_ns", VPT_UNIT_TIME_NS, "when it was opened"},
	{"host_duration_ns", VPT_UNIT_DUR_NS, "how long it was open"},
	{"role", VPT_UNIT_STRING, "its role in the pipeline: request, stage, block, step ..."},
	{"index", VPT_UNIT_SIGNED, "index of the block or step"},
	{"launches", VPT_UNIT_COUNT, "calls in it that put ops on a device"},
	{"device", VPT_UNIT_SIGNED, "CUDA device ordinal"},
	{"start_ns", VPT_UNIT_TIME_NS, "start of its first op there"},
	{"duration_ns", VPT_UNIT_DUR_NS, "from there to the end of its last op"},
	{"busy_ns", VPT_UNIT_DUR_NS, "time in which its own ops ran"},
	{"ops", VPT_UNIT_COUNT, "kernels, copies and memsets"},
	{"nested", VPT_UNIT_COUNT,
		"1: it began inside one of the same name, whose times include its own"},
	{NULL, 0, NULL},
};

static const struct vpa_rows_column *columns_of(unsigned kind)
{
	switch (kind) {
	case VPT_KERNEL:
		return vpa_rows_kernel_columns;
	case VPT_COPY:
		return vpa_rows_copy_columns;
	case VPT_CALL:
		return call_columns;
	case VPT_RANGE:
		return range_columns;
	case VPT_SAMPLE:
		return sample_columns;
	default:
		return NULL;
	}
}

/* ---- tables ---- */

static const struct vpa_rows_table own_tables[VPA_ROWS_OWN] = {
	[VPA_ROWS_GAP] = {.name = "gap",
		.help = "a period in which a device ran no op",
		.columns = gap_columns},
	[VPA_ROWS_IDLE] = {.name = "idle",
		.help = "idle time by cause, range and call, as in the report, with the "
			"line of Python that most of it is at",
		.columns = idle_columns},
	[VPA_ROWS_PROJECTION] = {.name = "range_gpu",
		.help = "a range on a device, from the ops launched in it",
		.columns = projection_columns},
	[VPA_ROWS_STACK] = {.name = "stack",
		.help = "a Python stack",
		.columns = vpa_rows_stack_columns},
	[VPA_ROWS_STACK_TIME] = {.name = "stack_time",
		.help = "time of a device that a Python stack is to blame for, or that it launched",
		.columns = vpa_rows_stack_time_columns},
};

/* Whether rows of this kind are a table: they are events, or describe the run. */
static int has_table(unsigned kind)
{
	const struct vpt_kind_desc *d = vpt_kind_desc(kind);

	return d && (d->flags & VPT_KIND_EVENT || kind == VPT_DEVICE || kind == VPT_META);
}

int vpa_tables_each(int (*each)(void *ctx, const char *name, int is_report), void *ctx)
{
	struct vpa_report_tables *report = vpt_alloc(1, sizeof(*report));
	unsigned kind;
	size_t i;
	int rc = report ? VPT_OK : VPT_ENOMEM;

	for (kind = 0; kind < VPT_KIND_LIMIT && !rc; kind++)
		if (has_table(kind))
			rc = each(ctx, vpt_kind_desc(kind)->name, 0);
	for (i = 0; i < VPA_ROWS_OWN && !rc; i++)
		rc = each(ctx, own_tables[i].name, 0);
	if (!rc)
		vpa_report_tables_find(report);
	for (i = 0; !rc && i < report->count; i++)
		rc = each(ctx, report->at[i].name, 1);
	vpt_free(report);
	return rc;
}

/* Opens the table that `form` describes if it is wanted. */
static int open_table(
	struct vpa_rows *x, const struct vpa_rows_table *form, struct vpa_rows_table **out)
{
	struct vpa_rows_table *t = &x->tables[x->table_count];
	size_t i;

	*out = NULL;
	if (!vpa_table_is_chosen(x->c->options, form->name, 1))
		return VPT_OK;
	x->table_count++;
	*t = *form;
	*out = t;
	if (t->kind)
		vpa_cat_columns(t->kind, vpa_table_columns_put_unit, &t->all);
	for (i = 0; t->columns && t->columns[i].name; i++) {
		t->labels[i] = vpa_cat_label(&x->cat, t->columns[i].name, !t->kind && !i);
		vpa_table_columns_put_unit(
			&t->all, t->columns[i].name, t->columns[i].unit, t->columns[i].help);
	}
	return t->all.failed ? VPT_ENOMEM : x->outlet->open(x, t);
}

static int open_report_table(struct vpa_rows *x, size_t number)
{
	const struct vpa_report_table *form = &x->report_tables.at[number];
	struct vpa_rows_table *t = &x->tables[x->table_count];

	if (!vpa_table_is_chosen(x->c->options, form->name, x->outlet->has_report))
		return VPT_OK;
	x->table_count++;
	t->name = form->name;
	t->help = form->help;
	vpa_report_table_columns(&x->report_tables, number, &x->texts, &t->all);
	x->of_report[number] = t;
	return t->all.failed ? VPT_ENOMEM : x->outlet->open(x, t);
}

static int open_tables(struct vpa_rows *x)
{
	unsigned kind;
	size_t i;
	int rc = VPT_OK;

	for (kind = 0; kind < VPT_KIND_LIMIT && !rc; kind++) {
		const struct vpt_kind_desc *d = vpt_kind_desc(kind);
		struct vpa_rows_table form = {.kind = d, .columns = columns_of(kind)};

		if (!has_table(kind))
			continue;
		form.name = d->name;
		form.help = d->help;
		rc = open_table(x, &form, &x->by_kind[kind]);
	}
	for (i = 0; i < VPA_ROWS_OWN && !rc; i++)
		rc = open_table(x, &own_tables[i], &x->own[i]);
	vpa_report_tables_find(&x->report_tables);
	for (i = 0; i < x->report_tables.count && !rc; i++)
		rc = open_report_table(x, i);
	return rc;
}

/* ---- rows ---- */

static void put_call_place(struct vpa_rows_row *r, const struct vpt_section *s, uint32_t row)
{
	struct vpa_rows *x = r->x;
	uint32_t thread = vpa_rows_thread(x, s->lane);
	uint64_t start_ns = s->col[VPT_CALL_START][row];
	const struct vpa_range *own = NULL, *wide = NULL;
	struct vpa_rows_place place;

	if (thread != UINT32_MAX)
		vpa_resolver_ranges_at(x->view.resolver, thread, start_ns, &own, &wide);
	place = vpa_rows_place_of(x, own, wide, start_ns);
	vpa_rows_put_place(r, &place);
}

static void put_role(struct vpa_rows_row *r, const struct vpa_scope_label *label)
{
	vpa_rows_words(r, label->kind == VPA_SCOPE_NONE ? NULL : vpa_scope_kind_name(label->kind));
	vpa_rows_index(r, label->index);
}

static void read_role(struct vpa_rows_row *r, struct vpt_text name, struct vpt_text payload)
{
	struct vpa_scope_label label;

	vpa_pipeline_read(r->x->view.context->pipeline, name, payload, &label);
	put_role(r, &label);
}

/* The role by the name alone is the same each time. */
static void put_name_role(struct vpa_rows_row *r, uint64_t id)
{
	enum { ROLE_CELLS = 2 };
	struct vpa_pieces *roles = &r->x->roles;
	struct vpt_text name = vpt_batch_text(r->x->cat.batch, id), none = {"", 0};
	struct vpa_line *l = r->l;
	size_t begin;

	if (id >= roles->count) {
		read_role(r, name, none);
		return;
	}
	if (vpa_pieces_put(roles, id, l)) {
		r->label += ROLE_CELLS;
		return;
	}
	begin = vpa_pieces_begin(roles);
	r->l = &roles->text;
	read_role(r, name, none);
	r->l = l;
	vpa_pieces_end(roles, id, begin, l);
	r->x->failed |= roles->text.failed;
}

static void put_range_role(struct vpa_rows_row *r, const struct vpt_section *s, uint32_t row)
{
	const struct vpt_batch *b = r->x->cat.batch;
	uint64_t name = s->col[VPT_RANGE_NAME][row];

	if (s->col[VPT_RANGE_PAYLOAD][row] == VPT_PAYLOAD_JSON)
		read_role(r, vpt_batch_text(b, name),
			vpt_batch_text(b, s->col[VPT_RANGE_VALUE][row]));
	else
		put_name_role(r, name);
}

static void put_stack_number(struct vpa_rows_row *r, uint64_t row)
{
	uint32_t number = vpa_stacks_of_row(&r->x->view.context->model->stacks, row);

	if (number)
		vpa_rows_number(r, number);
	else
		vpa_rows_nothing(r, 1);
}

static int put_section(struct vpa_rows *x, const struct vpt_section *s)
{
	struct vpa_rows_table *t = x->by_kind[s->kind];
	uint32_t row;
	int rc = VPT_OK;

	vpa_cat_section(&x->cat, s);
	for (row = 0; row < s->row_count && !rc; row++) {
		struct vpa_rows_row r = vpa_rows_begin(x, t);

		if (!vpa_export_has_row(x->c, s, row))
			continue;
		vpa_cat_row_begin(&x->cat, s, row, r.l);
		if (s->kind == VPT_CALL)
			put_call_place(&r, s, row);
		else if (s->kind == VPT_RANGE)
			put_range_role(&r, s, row);
		else if (s->kind == VPT_SAMPLE)
			put_stack_number(&r, s->col[VPT_SAMPLE_STACK][row]);
		rc = vpa_rows_end(&r);
	}
	return rc;
}

/* ---- tables of analysis results ---- */

static void put_op_name(struct vpa_rows_row *r, const struct vpa_op *op)
{
	const struct vpa_model *m = r->x->view.context->model;

	vpa_rows_name(r, op && op->kernel != VPA_NONE ? m->kernels[op->kernel].name : 0);
}

static int put_gap_line(struct vpa_rows_row *r, const struct vpa_gap *gap)
{
	const struct vpa_observer_view *view = &r->x->view;
	const struct vpa_model *m = view->context->model;
	struct vpa_rows_line line = {.number = 0};
	struct vpa_gap_line found;
	struct vpt_frame frame;

	if (vpa_gap_line(view->context, gap, &found))
		return VPT_ENOMEM;
	if (found.frame != VPA_NONE && !found.samples) {
		frame = vpa_stacks_frame_at(&m->stacks, found.frame);
		line = (struct vpa_rows_line){vpa_name(m, (uint32_t)frame.function),
			vpa_name(m, (uint32_t)frame.file), frame.line, found.share, 1};
	}
	vpa_rows_put_line(r, &line);
	return VPT_OK;
}

int vpa_rows_take_gap(void *state, const struct vpa_gap *gap)
{
	struct vpa_rows *x = state;
	const struct vpa_model *m = x->view.context->model;
	struct vpa_rows_row r;

	if (!x->own[VPA_ROWS_GAP])
		return VPT_OK;
	r = vpa_rows_begin(x, x->own[VPA_ROWS_GAP]);
	vpa_rows_signed(&r, m->devices[gap->device]);
	vpa_rows_number(&r, gap->start_ns);
	vpa_rows_number(&r, gap->end_ns - gap->start_ns);
	vpa_rows_cause(&r, gap->cause);
	vpa_rows_name(&r, gap->call);
	vpa_rows_name(&r, gap->place & ~VPA_BEFORE);
	if (gap->thread == VPA_NONE) {
		vpa_rows_nothing(&r, 2);
	} else {
		vpa_rows_signed(&r, m->threads[gap->thread].pid);
		vpa_rows_signed(&r, m->threads[gap->thread].tid);
	}
	put_op_name(&r, gap->before);
	put_op_name(&r, gap->gating);
	vpa_rows_number(&r, gap->gating ? gap->gating->correlation : 0);
	vpa_rows_place_cell(&r, gap->place);
	return put_gap_line(&r, gap) ? VPT_ENOMEM : vpa_rows_end(&r);
}

/* A range on one device. */
static int put_projection(struct vpa_rows *x, const struct vpa_range *range,
	const struct vpa_projection *p, const struct vpa_scope_label *label)
{
	const struct vpa_model *m = x->view.context->model;
	const struct vpa_thread *t = &m->threads[range->thread];
	struct vpt_text name = vpa_range_name(m, range), domain = vpa_name(m, range->domain);
	struct vpa_rows_row r = vpa_rows_begin(x, x->own[VPA_ROWS_PROJECTION]);

	vpa_rows_signed(&r, t->pid);
	vpa_rows_signed(&r, t->tid);
	vpa_rows_text(&r, range->name ? name.text : NULL, name.len);
	vpa_rows_text(&r, domain.text, domain.len);
	vpa_rows_number(&r, range->start_ns);
	vpa_rows_number(&r, range->end_ns - range->start_ns);
	put_role(&r, label);
	vpa_rows_number(&r, range->launches);
	vpa_rows_signed(&r, m->devices[p->device]);
	vpa_rows_number(&r, p->first_ns);
	vpa_rows_number(&r, p->last_ns - p->first_ns);
	vpa_rows_number(&r, p->busy_ns);
	vpa_rows_number(&r, p->ops);
	vpa_rows_number(&r, range->nested);
	return vpa_rows_end(&r);
}

int vpa_rows_take_range(void *state, const struct vpa_range *range)
{
	struct vpa_rows *x = state;
	const struct vpa_model *m = x->view.context->model;
	const struct vpa_projection *p = &range->gpu;
	struct vpa_scope_label label;
	int rc = VPT_OK;

	x->last = (struct vpa_rows_asked){0};
	if (!x->own[VPA_ROWS_PROJECTION])
		return VPT_OK;
	if (range->payload)
		vpa_pipeline_read(x->view.context->pipeline, vpa_name(m, range->name),
			vpa_name(m, range->payload), &label);
	else if (vpa_pipeline_label(x->view.context->pipeline, range, &label))
		return VPT_ENOMEM;
	for (; p && !rc; p = p->next)
		if (p->device != VPA_NONE && p->ops)
			rc = put_projection(x, range, p, &label);
	return rc;
}

static int put_idle(struct vpa_rows *x, int64_t device, const struct vpa_idle_part *part)
{
	static const struct vpa_top_line none;
	const struct vpa_top_line *top = part->top ? part->top : &none;
	const struct vpa_rows_line line = {vpt_text_from(top->line.function),
		vpt_text_from(top->line.file), top->line.number, top->share,
		top->line.file != NULL};
	struct vpa_rows_row r = vpa_rows_begin(x, x->own[VPA_ROWS_IDLE]);

	vpa_rows_signed(&r, device);
	vpa_rows_cause(&r, part->cause);
	vpa_rows_words(&r, part->place.text);
	vpa_rows_words(&r, part->call);
	vpa_rows_number(&r, part->ns);
	vpa_rows_number(&r, part->gaps);
	vpa_rows_put_line(&r, &line);
	vpa_rows_number(&r, top->samples);
	return vpa_rows_end(&r);
}

/* Idle time by cause and place, which the report knows at the end. */
static int put_idle_times(struct vpa_rows *x)
{
	const struct vpa_report *r = x->view.report;
	size_t d, i;
	int rc = VPT_OK;

	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].cause_count && !rc; i++)
			rc = put_idle(x, r->devices[d].device, &r->devices[d].causes[i]);
	return rc;
}

/* ---- the pass ---- */

int vpa_rows_take_chunk(void *state, const struct vpt_batch *b, uint64_t times_from_ns)
{
	struct vpa_rows *x = state;
	size_t i;
	int rc = VPT_OK;

	vpa_cat_batch(&x->cat, b);
	vpa_pieces_reset(&x->roles, b->strings.count);
	for (i = 0; i < b->section_count && !rc; i++) {
		const struct vpt_section *s = &b->sections[i];

		if (!x->by_kind[s->kind] || !vpa_export_has_kind(x->c, s->kind))
			continue;
		rc = s->kind == VPT_KERNEL || s->kind == VPT_COPY ? vpa_rows_ops_add(x, s)
								  : put_section(x, s);
	}
	if (!rc)
		rc = vpa_rows_ops_release(x, times_from_ns);
	/* The next chunk may bring the ends of ranges that are open now. */
	x->last.until_ns = 0;
	return rc ? rc : vpa_cat_error(&x->cat) || x->failed ? VPT_ENOMEM : VPT_OK;
}

int vpa_rows_take_ops(void *state, const struct vpa_ops *ops)
{
	struct vpa_rows *x = state;

	return x->by_kind[VPT_KERNEL] || x->by_kind[VPT_COPY] ? vpa_rows_ops_join(x, ops) : VPT_OK;
}

static uint64_t rows_of(const struct vpa_rows_table *t)
{
	return t ? t->rows : 0;
}

static void sum_up(const struct vpa_rows *x, struct vpa_export_totals *totals)
{
	totals->kernels = rows_of(x->by_kind[VPT_KERNEL]);
	totals->copies = rows_of(x->by_kind[VPT_COPY]);
	totals->calls = rows_of(x->by_kind[VPT_CALL]);
	totals->ranges = rows_of(x->by_kind[VPT_RANGE]);
	totals->gaps = rows_of(x->own[VPA_ROWS_GAP]);
}

int vpa_rows_take_end(void *state)
{
	struct vpa_rows *x = state;
	size_t i;
	int rc = vpa_rows_ops_release(x, UINT64_MAX);

	if (!rc && x->own[VPA_ROWS_IDLE])
		rc = put_idle_times(x);
	if (!rc)
		rc = vpa_rows_put_stacks(x);
	if (!rc)
		rc = vpa_report_rows(x);
	for (i = 0; i < x->table_count && !rc; i++)
		rc = vpa_rows_flush(x, &x->tables[i], 1);
	sum_up(x, x->c->totals);
	return rc ? rc : x->outlet->end(x);
}

int vpa_rows_begin_pass(struct vpa_rows *x, const struct vpa_export_context *c,
	const struct vpa_rows_outlet *outlet)
{
	x->c = c;
	x->view = c->view;
	x->outlet = outlet;
	vpa_cat_init(&x->cat, outlet->form, c->options->safe, 0);
	x->cat.alone = 1;
	return vpa_rows_ops_new(x) ? VPT_ENOMEM : open_tables(x);
}

void vpa_rows_free_state(void *state)
{
	struct vpa_rows *x = state;
	size_t i;

	if (x->outlet && x->outlet->free)
		x->outlet->free(x);
	for (i = 0; i < x->table_count; i++) {
		vpt_free(x->tables[i].out.data);
		vpt_free(x->tables[i].all.at);
	}
	vpa_arena_free(&x->texts);
	vpa_rows_ops_free(x);
	vpa_rows_place_free(x);
	vpa_pieces_free(&x->names);
	vpa_pieces_free(&x->causes);
	vpa_pieces_free(&x->roles);
	vpt_free(x->last_place.text.data);
	vpt_free(x->last_thread.text.data);
	vpa_cat_free(&x->cat);
	vpa_index_free(&x->threads);
	vpa_index_free(&x->streams);
}
