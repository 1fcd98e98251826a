/* stack_tables.c - tables of Python stacks: each stack once, and the time that each is to blame for.
 *
 * The report knows both at the end; a stack's number is the row of a sample's too. */
#include "analysis/export/rows/table_parts.h"

const struct vpa_rows_column vpa_rows_stack_columns[] = {
	{"stack", VPT_UNIT_NUMBER, "its number, from 1; as in sample and stack_time"},
	{"caller", VPT_UNIT_NUMBER,
		"number of the stack without the innermost frame, a smaller one; empty: it has "
		"only one frame"},
	{"depth", VPT_UNIT_COUNT, "frames"},
	{"function", VPT_UNIT_STRING, "function of the innermost frame"},
	{"file", VPT_UNIT_STRING, "its file"},
	{"line", VPT_UNIT_NUMBER, "number of the line in it; empty: unknown"},
	{"is_users", VPT_UNIT_COUNT, "1: the innermost frame is not a framework's"},
	{"text", VPT_UNIT_STRING, "all frames, outermost first, separated by ;"},
	{NULL, 0, NULL},
};

const struct vpa_rows_column vpa_rows_stack_time_columns[] = {
	{"stack", VPT_UNIT_NUMBER, "number of the stack; empty: not known"},
	{"device", VPT_UNIT_SIGNED, "CUDA device ordinal"},
	{"kind", VPT_UNIT_STRING,
		"idle: the device was idle because of it; launched: it launched work"},
	{"cause", VPT_UNIT_STRING, "why it was idle; empty: of launched work"},
	{"time_ns", VPT_UNIT_DUR_NS, "idle time, or durations of the work"},
	{NULL, 0, NULL},
};

/* Appends "function (file:line)", as cell_text.h. */
static void put_frame(struct vpa_line *l, const struct vpa_code_line *frame)
{
	const char *file = frame->file ? frame->file : "";

	vpa_line_words(l, frame->function ? frame->function : "");
	if (!*file && !frame->number)
		return;
	vpa_line_words(l, " (");
	vpa_line_words(l, file);
	if (frame->number) {
		vpa_line_words(l, ":");
		vpa_line_unsigned(l, frame->number);
	}
	vpa_line_words(l, ")");
}

/* Appends all frames; returns how many there are. A text of more than VPT_STRING_MAX bytes has "..." for its outer frames. */
static uint64_t put_frames(struct vpa_line *l, const struct vpa_lines *lines, uint32_t stack)
{
	uint32_t path[VPT_STACK_DEPTH_MAX], at;
	uint64_t depth = 0, shown = 0;
	size_t bytes = 0;

	for (at = stack; at && depth < VPT_STACK_DEPTH_MAX; at = lines->stacks[at].caller)
		path[depth++] = at;
	while (shown < depth) {
		const struct vpa_code_line *frame = &lines->stacks[path[shown]].frame;

		bytes += strlen(frame->function ? frame->function : "") +
			 strlen(frame->file ? frame->file : "") +
			 sizeof(" (:18446744073709551615);");
		if (shown && bytes > VPT_STRING_MAX)
			break;
		shown++;
	}
	vpa_line_words(l, shown < depth ? "...;" : "");
	while (shown--) {
		put_frame(l, &lines->stacks[path[shown]].frame);
		vpa_line_words(l, shown ? ";" : "");
	}
	return depth;
}

static void put_number(struct vpa_rows_row *r, uint64_t number)
{
	if (number)
		vpa_rows_number(r, number);
	else
		vpa_rows_nothing(r, 1);
}

static int put_stack(struct vpa_rows *x, struct vpa_rows_table *t, uint32_t stack)
{
	const struct vpa_lines *lines = &x->view.report->lines;
	const struct vpa_stack_row *row = &lines->stacks[stack];
	struct vpa_rows_row r = vpa_rows_begin(x, t);
	struct vpa_line *text = &x->cat.scratch;
	uint64_t depth;

	text->size = 0;
	depth = put_frames(text, lines, stack);
	x->failed |= text->failed;
	vpa_rows_number(&r, stack);
	put_number(&r, row->caller);
	vpa_rows_number(&r, depth);
	vpa_rows_words(&r, row->frame.function);
	vpa_rows_words(&r, row->frame.file);
	put_number(&r, row->frame.number);
	vpa_rows_number(&r, (uint64_t)row->is_users);
	vpa_rows_text(&r, text->data, text->size);
	return vpa_rows_end(&r);
}

static int put_weights(struct vpa_rows *x, struct vpa_rows_table *t, const char *kind,
	const struct vpa_stack_weight *weights, size_t count, int has_cause)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < count && !rc; i++) {
		struct vpa_rows_row r = vpa_rows_begin(x, t);

		put_number(&r, weights[i].stack);
		vpa_rows_signed(&r, weights[i].device);
		vpa_rows_words(&r, kind);
		if (has_cause)
			vpa_rows_cause(&r, weights[i].cause);
		else
			vpa_rows_nothing(&r, 1);
		vpa_rows_number(&r, weights[i].ns);
		rc = vpa_rows_end(&r);
	}
	return rc;
}

int vpa_rows_put_stacks(struct vpa_rows *x)
{
	const struct vpa_lines *lines = &x->view.report->lines;
	struct vpa_rows_table *stacks = x->own[VPA_ROWS_STACK],
			      *times = x->own[VPA_ROWS_STACK_TIME];
	uint32_t i;
	int rc = VPT_OK;

	for (i = 1; stacks && i < lines->stack_count && !rc; i++)
		rc = put_stack(x, stacks, i);
	if (times && !rc)
		rc = put_weights(x, times, "idle", lines->idle_stacks, lines->idle_stack_count, 1);
	if (times && !rc)
		rc = put_weights(
			x, times, "launched", lines->launch_stacks, lines->launch_stack_count, 0);
	return rc;
}
