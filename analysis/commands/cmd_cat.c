/* cmd_cat.c - every row of a trace as JSON lines, or the rows of one kind as CSV, for other
 * programs.
 *
 * In the order of the file: chunk, section, row, which is not the order of time. Chunks that cannot
 * be read are named and left out. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/shared_options.h"

#include "analysis/export/cell_text.h"
#include "analysis/trust/completeness.h"
#include "analysis/trust/window_errors.h"

enum { KIND, FORMAT, FROM, TO, OUTPUT, MEMORY, FORCE, SAFE, OPTIONS };

static const struct vpt_option options[OPTIONS] = {
	[KIND] = {"kind", 'k', VPT_TEXTS, "KIND", NULL,
		"print only this kind; may be repeated (all events)"},
	[FORMAT] = {"format", 'f', VPT_CHOICE, "jsonl|csv", "jsonl",
		"csv: one kind, with a header line"},
	[FROM] = {"from", '\0', VPT_DURATION, NULL, NULL,
		"only rows that end at or after this time, relative to the start"},
	[TO] = {"to", '\0', VPT_DURATION, NULL, NULL,
		"only rows that begin before this time, relative to the start"},
	[OUTPUT] = VPA_OUTPUT_OPTION,
	[MEMORY] = VPA_MEMORY_OPTION,
	[FORCE] = VPA_FORCE_OPTION,
	[SAFE] = VPA_SAFE_OPTION,
};

struct task {
	const char *path;
	const struct vpt_trace *trace;
	struct vpt_decoder *decoder;
	struct vpt_batch batch;
	struct vpa_cat cat;
	struct vpa_line line; /* what is not written yet */
	struct vpt_out out;
	uint32_t kinds; /* bit by type */
	unsigned last_kind;
	int windowed;
	uint64_t from_ns, to_ns; /* on the trace clock */
	struct vpa_completeness reading;
	uint64_t last_ns; /* of all events, if windowed */
	int lossy;
};

/* ---- the window ---- */

/* The column of the time; -1 for kinds without one, whose rows are always shown. */
static int time_column(const struct vpt_kind_desc *kind)
{
	int i;

	for (i = 0; i < kind->n_columns; i++)
		if (kind->columns[i].unit == VPT_UNIT_TIME_NS)
			return i;
	return -1;
}

static int in_window(
	const struct task *t, const struct vpt_section *s, int column, int is_span, uint32_t row)
{
	uint64_t start = s->col[column][row], end = start;

	/* An end before its start wraps; such a row has no length. */
	if (is_span && start + s->col[1][row] > start)
		end = start + s->col[1][row];
	return start < t->to_ns && end >= t->from_ns;
}

static void set_window(struct task *t, const struct vpt_args *args)
{
	uint64_t start = vpt_trace_start(t->trace);

	t->windowed = vpt_has(args, FROM) || vpt_has(args, TO);
	t->from_ns = start + vpt_number_of(args, FROM);
	t->to_ns = start + vpt_number_of(args, TO);
	if (t->from_ns < start)
		t->from_ns = UINT64_MAX;
	if (t->to_ns < start || !vpt_has(args, TO))
		t->to_ns = UINT64_MAX;
}

/* ---- rows ---- */

static void flush(struct task *t)
{
	vpt_out_bytes(&t->out, t->line.data, t->line.size);
	t->line.size = 0;
}

static void put_section(struct task *t, const struct vpt_section *s)
{
	enum { FLUSH_BYTES = 256 << 10 };
	const struct vpt_kind_desc *kind = vpt_kind_desc(s->kind);
	int column = t->windowed ? time_column(kind) : -1, is_span = kind->flags & VPT_KIND_SPAN;
	uint32_t row;

	vpa_cat_section(&t->cat, s);
	for (row = 0; row < s->row_count && !t->out.failed; row++) {
		if (column >= 0 && !in_window(t, s, column, is_span, row))
			continue;
		vpa_cat_row(&t->cat, s, row, &t->line);
		if (t->line.size >= FLUSH_BYTES)
			flush(t);
	}
}

static int put_chunk(struct task *t, size_t index, struct vpt_err *err)
{
	int rc = vpt_trace_chunk(t->trace, t->decoder, index, &t->batch, err);
	size_t i;

	if (rc && rc != VPT_EDATA)
		return rc;
	if (rc) {
		vpa_say("%s: left out: %s", t->path, err->text);
		rc = vpa_completeness_damage(&t->reading, index, err->text);
	} else {
		rc = vpa_completeness_chunk(&t->reading, index, &t->batch);
	}
	if (t->windowed) {
		vpt_batch_measure(&t->batch); /* a torn chunk holds less than its header says */
		if (t->batch.t_max_ns > t->last_ns)
			t->last_ns = t->batch.t_max_ns;
	}
	vpa_cat_batch(&t->cat, &t->batch);
	for (i = 0; i < t->batch.section_count; i++)
		if (t->kinds >> t->batch.sections[i].kind & 1)
			put_section(t, &t->batch.sections[i]);
	flush(t);
	return rc || t->line.failed || vpa_cat_error(&t->cat)
		       ? vpt_fail(err, VPT_ENOMEM, "no memory for the text of chunk %zu", index)
		       : VPT_OK;
}

static int put_all(struct task *t, struct vpt_err *err)
{
	size_t count = vpt_trace_chunks(t->trace), i;
	int rc = VPT_OK;

	for (i = 0; i < count && !rc && !t->out.failed && !vpa_interrupted(); i++)
		rc = put_chunk(t, i, err);
	return rc;
}

/* ---- options ---- */

static int unknown_kind(const char *name, struct vpt_err *err)
{
	const char *names[VPT_KIND_LIMIT], *meant;
	unsigned type, count = 0;

	for (type = 0; type < VPT_KIND_LIMIT; type++)
		if (vpt_kind_desc(type))
			names[count++] = vpt_kind_desc(type)->name;
	meant = vpt_nearest(name, names, count, sizeof(*names));
	if (meant)
		return vpt_fail(err, VPT_EINVAL,
			"--kind: unknown kind \"%.60s\"; did you mean \"%s\"?", name, meant);
	return vpt_fail(err, VPT_EINVAL,
		"--kind: unknown kind \"%.60s\"; vptrace-analyze schema lists all", name);
}

static int read_kinds(struct task *t, const struct vpt_args *args, struct vpt_err *err)
{
	unsigned type;
	size_t i;

	for (i = 0; i < args->given_count; i++) {
		const struct vpt_kind_desc *kind;

		if (args->given[i].option != KIND)
			continue;
		kind = vpt_kind_by_name(args->given[i].text);
		if (!kind)
			return unknown_kind(args->given[i].text, err);
		if (kind->type == VPT_STRING)
			return vpt_fail(err, VPT_EINVAL,
				"--kind: strings are printed in the rows that use them");
		t->kinds |= 1u << kind->type;
		t->last_kind = kind->type;
	}
	if (vpt_is(args, FORMAT, "csv") && (!t->kinds || t->kinds & (t->kinds - 1)))
		return vpt_fail(err, VPT_EINVAL,
			"--format csv: expected one --kind, since each kind has different columns");
	for (type = 0; type < VPT_KIND_LIMIT && !vpt_has(args, KIND); type++)
		if (vpt_kind_desc(type) && vpt_kind_desc(type)->flags & VPT_KIND_EVENT)
			t->kinds |= 1u << type;
	return VPT_OK;
}

/* ---- the whole ---- */

static int end_reading(struct task *t, const struct vpt_args *args, struct vpt_err *err)
{
	uint64_t start_ns = vpt_trace_start(t->trace);

	if (vpa_completeness_end(&t->reading))
		return vpt_fail(err, VPT_ENOMEM, "no memory for what is missing");
	if (vpt_has(args, FROM) && t->last_ns > start_ns && t->last_ns < t->from_ns)
		return vpa_window_beyond(
			&t->reading, vpt_number_of(args, FROM), t->last_ns - start_ns, err);
	t->lossy = vpa_say_missing(t->path, &t->reading);
	return VPT_OK;
}

static int run_task(struct task *t, const struct vpt_args *args, struct vpt_err *err)
{
	int csv = vpt_is(args, FORMAT, "csv"), rc, failed;

	set_window(t, args);
	rc = vpt_out_open(&t->out, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), err);
	if (rc)
		return rc;
	if (!t->out.to_stdout)
		vpa_interrupt_catch();
	vpa_cat_init(
		&t->cat, csv ? VPA_CAT_CSV : VPA_CAT_JSON, vpt_has(args, SAFE), t->out.to_terminal);
	if (csv)
		vpa_cat_header(vpt_kind_desc(t->last_kind), &t->line);
	vpa_completeness_begin(&t->reading, t->trace);
	rc = put_all(t, err);
	flush(t);
	/* What was not read is not missing. */
	if (!rc && !t->out.failed && !vpa_interrupted())
		rc = end_reading(t, args, err);
	vpa_completeness_free(&t->reading);
	failed = vpt_out_close(&t->out, !rc && !vpa_interrupted(), rc ? NULL : err);
	return rc ? rc : failed;
}

static int run(const struct vpt_args *args)
{
	struct task t = {.path = vpa_input_name(args->operands[0])};
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};
	int rc;

	vpt_batch_init(&t.batch);
	rc = read_kinds(&t, args, &err);
	if (!rc)
		rc = vpa_window_check(vpt_given_of(args, FROM), vpt_given_of(args, TO), NULL, &err);
	if (!rc)
		rc = vpa_out_check(args, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), &err);
	if (!rc)
		rc = vpt_trace_open(args->operands[0], &trace, &err);
	if (!rc) {
		t.trace = trace;
		t.decoder = vpt_decoder_new();
		rc = t.decoder ? run_task(&t, args, &err)
			       : vpt_fail(&err, VPT_ENOMEM, "no memory for a decoder");
	}
	vpa_cat_free(&t.cat);
	vpt_free(t.line.data);
	vpt_decoder_free(t.decoder);
	vpt_batch_free(&t.batch);
	vpt_trace_close(trace);
	if (rc)
		return vpa_failed(&err);
	if (vpa_interrupted())
		return vpa_interrupt_die();
	return t.lossy ? VPT_EXIT_DAMAGED : VPT_EXIT_DONE;
}

const struct vpt_command vpa_cmd_cat = {
	.program = VPA_PROGRAM,
	.name = "cat",
	.usage = "FILE [options]",
	.help = "print every row as JSON lines or CSV",
	.about = "KIND is kernel, call, copy, range, ...; 'vptrace-analyze schema' lists all, with "
		 "their columns.\n"
		 "Times are nanoseconds on the trace clock. An unknown value is null, or an empty "
		 "field.",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.run = run,
};
