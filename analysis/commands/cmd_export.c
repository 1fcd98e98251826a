/* cmd_export.c - any trace as a file that another tool opens.
 *
 * One pass, chunk by chunk, so memory does not grow with the trace. The last lines say where to open
 * the result. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/rank_inputs.h"
#include "analysis/commands/base/shared_options.h"

#include "analysis/base/numbers.h"
#include "analysis/export/export_pass.h"
#include "analysis/export/rows/table_choice.h"
#include "analysis/render/text_page.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <string.h>

enum {
	FORMAT,
	OUTPUT,
	FROM,
	TO,
	RANGE,
	REQUEST,
	RULES,
	ONLY,
	WITHOUT,
	NO_API,
	SAFE,
	MIN_GAP,
	GPU_ENCODING,
	COMPRESS,
	LEVEL,
	JOBS,
	MEMORY,
	FORCE,
	NO_PROGRESS,
	OPTIONS
};

/* clang-format off */
static const char level_help[] =
	"compression level (perfetto: zstd " VPT_TEXT_OF(VPT_PACK_ZSTD_LEVEL) ", others "
	VPT_TEXT_OF(VPT_PACK_DEFLATE_LEVEL) "; chrome and tables " VPT_TEXT_OF(VPA_EXPORT_LEVEL)
	"; gzip at most 9)";
/* clang-format on */

#define WORD(name) "|" #name
static const struct vpt_option options[OPTIONS] = {
	[FORMAT] = VPA_FORMAT_OPTION(&(VPA_EXPORTERS(WORD))[1], VPA_EXPORTER_USUAL, "; see above"),
	[OUTPUT] = {"output", 'o', VPT_OUTPUT, "FILE", NULL,
		"write to this file or folder; - is standard output (in the current folder, the "
		"input's name with another ending)"},
	[FROM] = VPA_FROM_OPTION("the capture's start"),
	/* an end and a format may be given; each of them once, see read_format() */
	[TO] = {"to", '\0', VPT_TEXTS, "TIME", NULL, "window end, relative to the capture's start"},
	[RANGE] = VPA_RANGE_OPTION("window"),
	[REQUEST] = VPA_REQUEST_OPTION("window"),
	[RULES] = VPA_RULES_OPTION("analyze --help"),
	[ONLY] = {"only", '\0', VPT_TEXT, "TABLE[,TABLE]", NULL,
		"tables: write these alone; see above"},
	[WITHOUT] = {"without", '\0', VPT_TEXT, "TABLE[,TABLE]", NULL,
		"tables: write all but these"},
	[NO_API] = {"no-api", '\0', VPT_FLAG, NULL, NULL, "omit CUDA calls"},
	[SAFE] = VPA_SAFE_OPTION,
	[MIN_GAP] = {"export-min-gap", '\0', VPT_DURATION, NULL, NULL,
		"omit shorter gaps (perfetto " VPT_TEXT_OF(VPA_EXPORT_MIN_GAP_US) "us, others 0)"},
	[GPU_ENCODING] = {"gpu-encoding", '\0', VPT_CHOICE, "gpu|trackevent", "gpu",
		"perfetto: gpu (with launch parameters, since v55), or trackevent (slices that any "
		"Perfetto shows)"},
	[COMPRESS] = {"compress", '\0', VPT_CHOICE, "packets|zstd|gzip|none", NULL,
		"compression of the file, or of each file of a folder; see above"},
	[LEVEL] = {"level", 'l', VPT_NUMBER, "1..22", NULL, level_help},
	[JOBS] = {"jobs", 'j', VPT_NUMBER, "0..64", "0",
		"decoding and compressing threads; 0: one per core, up to 4"},
	[MEMORY] = VPA_MEMORY_OPTION,
	[FORCE] = {"force", '\0', VPT_FLAG, NULL, NULL,
		"allow -o to replace an existing file or folder"},
	[NO_PROGRESS] = VPA_NO_PROGRESS_OPTION,
};

#undef WORD

/* Options that only some exporters take. */
static const struct {
	unsigned option, takes;
} special[] = {
	{GPU_ENCODING, VPA_TAKES_GPU_ENCODING},
	{SAFE, VPA_TAKES_SAFE},
	{MIN_GAP, VPA_TAKES_MIN_GAP},
};

/* What the command line asks for. */
struct job {
	const struct vpt_args *args;
	const struct vpa_exporter *exporter;
	const struct vpa_packing *packing;
	struct vpa_options analysis;
	struct vpa_export_options how;
	const char *output;
	struct vpa_export_totals totals;
};

static int read_end(struct vpt_given *to, struct vpt_err *err)
{
	int rc = vpt_duration_read(to->text, &to->number, err);

	if (rc && (to->text[0] < '0' || to->text[0] > '9'))
		return vpt_fail(err, rc,
			"--to: expected a time such as 1.5s, found \"%.60s\"; formats (%s) are "
			"chosen with --format",
			to->text, options[FORMAT].argument);
	if (rc)
		vpt_err_at(err, "--to");
	return rc;
}

/* Reads the exporter, and the window's end if given. "--to FORMAT" is an older spelling of
 * "--format FORMAT", which scripts may still use. */
static int read_format(const struct vpt_args *args, const struct vpa_exporter **exporter,
	struct vpt_given *to, struct vpt_err *err)
{
	const struct vpt_given *format = NULL;
	int rc = VPT_OK;
	size_t i;

	*to = (struct vpt_given){.text = NULL};
	*exporter = vpa_exporter_find(VPA_EXPORTER_USUAL);
	for (i = args->default_count; i < args->given_count && !rc; i++) {
		const struct vpt_given *g = &args->given[i];

		if (g->option == FORMAT || (g->option == TO && vpa_exporter_find(g->text))) {
			rc = vpt_given_once("format", format, g, err);
			format = g;
			*exporter = vpa_exporter_find(g->text);
		} else if (g->option == TO) {
			rc = vpt_given_once("to", to->text ? to : NULL, g, err);
			*to = *g;
			if (!rc)
				rc = read_end(to, err);
		}
	}
	if (!rc && format && format->option == TO)
		vpa_say("--to %s is an older spelling of --format %s", format->text, format->text);
	return rc;
}

/* The first whose usual name ends as the output's does: who names a file .json wants JSON. NULL: none does. */
static const struct vpa_packing *packing_of_name(
	const struct vpa_exporter *exporter, const char *name)
{
	const char *end = name ? strrchr(name, '.') : NULL;
	const struct vpa_packing *p = exporter->packings;

	while (end && p->word && strcmp(strrchr(p->suffix, '.'), end) != 0)
		p++;
	return end && p->word ? p : NULL;
}

static int read_packing(struct job *j, struct vpt_err *err)
{
	const char *word = vpt_text_of(j->args, COMPRESS);
	const struct vpa_packing *p = word ? NULL : packing_of_name(j->exporter, j->output);

	p = p ? p : j->exporter->packings;
	while (word && p->word && strcmp(word, p->word))
		p++;
	if (!p->word)
		return vpt_fail(err, VPT_EINVAL,
			"--format %s does not support --compress %s: use %s", j->exporter->name,
			word, j->exporter->packings[0].word);
	if (!vpt_container_available(p->container))
		return vpt_fail(err, VPT_EINVAL,
			"this build has no libdeflate or zlib: use --compress none");
	j->packing = p;
	return VPT_OK;
}

/* Reports options that were given but have no effect. */
static void say_ignored(const struct job *j)
{
	size_t i, k;

	for (i = 0; i < sizeof(special) / sizeof(*special); i++) {
		const struct vpt_option *o = &options[special[i].option];
		int is_given = 0;

		for (k = 0; k < j->args->given_count; k++)
			is_given |= j->args->given[k].option == special[i].option &&
				    (!o->fallback || j->args->given[k].text != o->fallback);
		if (is_given && !(j->exporter->takes & special[i].takes))
			vpa_say("--%s does not apply to --format %s", o->name, j->exporter->name);
	}
}

static int read_options(struct job *j, struct vpt_err *err)
{
	const struct vpt_args *args = j->args;
	struct vpa_options *o = &j->analysis;
	struct vpa_export_options *e = &j->how;
	struct vpt_given to;
	int rc = read_format(args, &j->exporter, &to, err);

	o->has_from = vpt_has(args, FROM);
	o->from_ns = vpt_number_of(args, FROM);
	o->has_to = to.text != NULL;
	o->to_ns = to.number;
	o->range = vpt_text_of(args, RANGE);
	o->request = vpt_number_of(args, REQUEST);
	o->jobs = e->jobs = (unsigned)vpt_number_of(args, JOBS);
	e->no_api = vpt_has(args, NO_API);
	e->only = vpt_text_of(args, ONLY);
	e->without = vpt_text_of(args, WITHOUT);
	e->safe = vpt_has(args, SAFE);
	e->gpu_as_slices = vpt_is(args, GPU_ENCODING, "trackevent");
	e->stop = vpa_interrupted;
	if (!rc)
		rc = read_packing(j, err);
	if (!rc)
		rc = vpa_tables_check(j->exporter, e, err);
	if (rc)
		return rc;
	say_ignored(j);
	e->container = j->packing->container;
	e->level = vpt_has(args, LEVEL) ? (int)vpt_number_of(args, LEVEL) : j->exporter->level;
	e->min_gap_ns =
		vpt_has(args, MIN_GAP) ? vpt_number_of(args, MIN_GAP) : j->exporter->min_gap_ns;
	return vpa_window_check(vpt_given_of(args, FROM), o->has_to ? &to : NULL, o->range, err);
}

/* "dir/trace.json.gz" becomes "trace.pftrace", in the current folder as with every other output. */
static char *usual_output(const char *operand, const char *suffix)
{
	static const char *const endings[] = {".gz", ".json", ".zst", ".sqlite"};
	const char *path = vpt_file_name(operand);
	size_t len = strlen(path), i;
	char *out = vpt_alloc(len + strlen(suffix) + 1, 1);

	for (i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t n = strlen(endings[i]);

		if (len > n && !strncmp(path + len - n, endings[i], n))
			len -= n;
	}
	if (!out)
		return NULL;
	memcpy(out, path, len);
	strcpy(out + len, suffix);
	return out;
}

static void say_clocks(const struct vpa_export_totals *t)
{
	if (t->aligned > 1)
		vpa_say("the clocks of %zu machines are aligned by the ends of collectives, to "
			"within %s",
			t->aligned, vpa_duration(t->uncertainty_ns).text);
	if (t->unaligned)
		vpa_say("%s are not aligned: %s",
			t->aligned > 1 ? "some of the traces" : "the traces", t->unaligned);
}

static void say_result(const struct job *j)
{
	enum { MANY_KERNELS = 4000000 };
	const struct vpa_export_totals *t = &j->totals;
	const char *output = !vpt_is_standard(j->output) ? j->output : "standard output";

	vpa_say("wrote %" PRIu64 " kernel%s, %" PRIu64 " %s, %" PRIu64 " call%s, %" PRIu64
		" range%s, %" PRIu64 " gap%s: %" PRIu64 " bytes, %" PRIu64
		" before compression, to %s",
		t->kernels, vpa_plural(t->kernels), t->copies, t->copies == 1 ? "copy" : "copies",
		t->calls, vpa_plural(t->calls), t->ranges, vpa_plural(t->ranges), t->gaps,
		vpa_plural(t->gaps), t->bytes, t->raw_bytes, output);
	if (t->kernels > MANY_KERNELS && !j->how.no_api)
		vpa_say("this is large for a browser: run trace_processor_shell server http %s "
			"beside it, or export less with --from, --to, --no-api",
			output);
	say_clocks(t);
	vpa_say("%s", j->exporter->opens);
}

/* The folder of the output, where temporary files go: there is room for it. Of standard output, and where there is no memory, NULL:
 * the usual one. */
static char *folder_of(const char *output, int to_stdout)
{
	const char *slash = strrchr(output, '/');

	if (to_stdout)
		return NULL;
	return slash ? vpt_strndup(output, (size_t)(slash - output) + 1) : vpt_strndup(".", 1);
}

static int write_file(struct job *j, struct vpa_export_job *e, struct vpt_out *out)
{
	char *folder = folder_of(j->output, out->to_stdout);
	int rc;

	e->scratch = folder;
	rc = e->trace ? vpa_export(e, &j->totals, &out->err)
		      : e->exporter->archive(e, j->args->operands, j->args->operand_count, folder,
				&j->totals, &out->err);
	vpt_free(folder);
	return rc;
}

static int export_file(struct job *j, struct vpa_export_job *e, struct vpt_err *err)
{
	struct vpt_out out;
	int rc = vpt_out_open(&out, j->output, e->force, err);

	if (rc)
		return rc;
	if (out.to_terminal) {
		vpt_out_close(&out, 0, NULL);
		return vpt_fail(
			err, VPT_EINVAL, "an export is not written to a terminal: use -o FILE");
	}
	if (!out.to_stdout)
		vpa_interrupt_catch();
	e->sink = out.sink;
	out.failed = write_file(j, e, &out);
	return vpt_out_close(&out, !vpa_interrupted(), err);
}

static int export_folder(struct job *j, struct vpa_export_job *e, struct vpt_err *err)
{
	vpa_interrupt_catch();
	e->folder = j->output;
	return vpa_export(e, &j->totals, err);
}

/* `trace` NULL: all operands. */
static int export_to(struct job *j, const struct vpt_trace *trace, struct vpt_err *err)
{
	struct vpa_export_job e = {.exporter = j->exporter,
		.trace = trace,
		.path = vpa_input_name(j->args->operands[0]),
		.analysis = &j->analysis,
		.options = &j->how,
		.force = vpt_has(j->args, FORCE)};
	struct vpa_progress progress;
	int rc;

	vpa_progress_begin(&progress, &j->analysis, !vpt_has(j->args, NO_PROGRESS));
	rc = j->exporter->is_folder ? export_folder(j, &e, err) : export_file(j, &e, err);
	vpa_progress_end(&progress);
	if (!rc && !vpa_interrupted())
		say_result(j);
	return rc;
}

/* "perfetto and chrome": the exporters that make one file of several. */
static struct vpa_words archivers(void)
{
	struct vpa_words names = {.used = 0};
	size_t i;

	for (i = 0; vpa_exporters[i]; i++)
		if (vpa_exporters[i]->archive)
			vpa_words_add(&names, " and ", "%s", vpa_exporters[i]->name);
	return names;
}

/* Before an import of minutes, not after it. */
static int check_output(const struct job *j, struct vpt_err *err)
{
	int force = vpt_has(j->args, FORCE), rc;

	if (j->args->operand_count > 1 && !j->exporter->archive)
		return vpt_fail(err, VPT_EINVAL, "--format %s takes one file; %s take several",
			j->exporter->name, archivers().text);
	if (!j->exporter->is_folder)
		return vpa_out_check(j->args, j->output, force, err);
	if (vpt_is_standard(j->output))
		return vpt_fail(err, VPT_EINVAL, "--format %s makes a folder: use -o FOLDER",
			j->exporter->name);
	rc = vpa_inputs_check(j->args, j->output, err);
	if (!rc)
		rc = vpa_export_folder_check(j->output, force, err);
	return rc || !j->exporter->check ? rc : j->exporter->check(err);
}

static int export_files(const struct vpt_args *args)
{
	struct job j = {.args = args, .output = vpt_text_of(args, OUTPUT)};
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};
	char *rules = NULL, *usual = NULL;
	int rc = read_options(&j, &err);

	if (!rc && !j.output && args->operand_count > 1)
		rc = vpt_fail(&err, VPT_EINVAL,
			"several files become one: use -o FILE, all.tar for perfetto, all.json.gz "
			"for chrome");
	if (!rc && !j.output && vpt_is_standard(args->operands[0]))
		rc = vpt_fail(
			&err, VPT_EINVAL, "standard input gives the export no name: use -o FILE");
	if (!rc && !j.output)
		j.output = usual = usual_output(args->operands[0], j.packing->suffix);
	if (!rc && !j.output)
		rc = vpt_fail(&err, VPT_ENOMEM, "no memory for a file name");
	if (!rc)
		rc = check_output(&j, &err);
	if (!rc)
		rc = vpa_rules_option_read(args, &j.analysis, &rules, &err);
	if (!rc && args->operand_count == 1)
		rc = vpt_trace_open(args->operands[0], &trace, &err);
	if (!rc)
		rc = export_to(&j, trace, &err);
	vpt_trace_close(trace);
	vpt_free(rules);
	vpt_free(usual);
	if (vpa_interrupted())
		return vpa_interrupt_die();
	if (rc)
		return vpa_failed(&err);
	return j.totals.complete ? VPT_EXIT_DONE : VPT_EXIT_DAMAGED;
}

/* A folder is the files in it, and so is an archive, as for `ranks`. */
static int run(const struct vpt_args *args)
{
	struct vpa_rank_files files = {.count = 0};
	struct vpt_args named = *args;
	struct vpt_err err = {0};
	int rc = vpa_rank_files_list(args->operands, args->operand_count, &files, &err);

	if (!rc && vpt_has(args, OUTPUT))
		rc = vpa_inputs_check(args, vpt_text_of(args, OUTPUT), &err);
	if (!rc)
		rc = vpa_rank_files_unpack(&files, &err);
	named.operands = (const char **)files.paths;
	named.operand_count = files.count;
	rc = rc ? vpa_failed(&err) : export_files(&named);
	vpa_rank_files_free(&files);
	return rc;
}

/* A list of names in lines of a page's width. */
struct names {
	struct vpt_out *out;
	int is_report; /* which ones */
	size_t used;   /* of the line */
};

static int print_name(void *ctx, const char *name, int is_report)
{
	struct names *n = ctx;
	size_t len = strlen(name);

	if (is_report != n->is_report)
		return VPT_OK;
	if (n->used + len + 1 > 78) {
		vpt_out_print(n->out, "\n");
		n->used = 0;
	}
	vpt_out_print(n->out, "%s%s", n->used ? " " : "  ", name);
	n->used += len + (n->used ? 1 : 2);
	return VPT_OK;
}

static void print_tables(struct vpt_out *o, const struct vpa_exporter *e)
{
	struct names rows = {o, 0, 0}, report = {o, 1, 0};

	vpt_out_print(o, "\nTables, for --only and --without:\n");
	e->tables(print_name, &rows);
	vpt_out_print(o, "\nTables of the report, as in its JSON; folders have those that --only "
			 "names:\n");
	e->tables(print_name, &report);
	vpt_out_print(o, "\n");
}

/* Lists the exporters: "name      help", with the lines of the help aligned. */
static void print_formats(struct vpt_out *o)
{
	enum { INDENT = 10 };
	size_t i;

	for (i = 0; vpa_exporters[i]; i++) {
		const struct vpa_exporter *e = vpa_exporters[i];
		const struct vpa_packing *p;
		const char *line = e->help, *end;

		vpt_out_print(o, "%-*s", INDENT, e->name);
		for (; (end = strchr(line, '\n')) != NULL; line = end + 1)
			vpt_out_print(o, "%.*s\n%*s", (int)(end - line), line, INDENT, "");
		vpt_out_print(o, "%s\n%*s(--compress", line, INDENT, "");
		for (p = e->packings; p->word; p++)
			vpt_out_print(o, "%s %s", p > e->packings ? "," : "", p->word);
		vpt_out_print(o, ")\n");
	}
	vpt_out_print(o,
		"The default format is %s. The default of --compress is the first one listed, or\n"
		"what -o ends with: .json, .gz, .zst.\n",
		VPA_EXPORTER_USUAL);
	print_tables(o, vpa_exporter_find("csv"));
}

const struct vpt_command vpa_cmd_export = {
	.program = VPA_PROGRAM,
	.name = "export",
	.usage = "FILE|FOLDER... --format FORMAT [-o FILE] [options]",
	.help = "convert any trace for ui.perfetto.dev, chrome://tracing and other tools",
	.more = print_formats,
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.more_operands = 1,
	.run = run,
};
