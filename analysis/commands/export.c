/* export.c - any trace as a file that another tool opens.
 *
 * One pass, chunk by chunk, so memory does not grow with the trace. The last lines say where to open the result. */
#include "analysis/commands/command.h"

#include "analysis/export/chrome/chrome.h"
#include "analysis/export/perfetto/perfetto.h"
#include "analysis/export/perfetto/ranks.h"
#include "analysis/export/rows/rows.h"
#include "formats/memory.h"

#include <stdio.h>
#include <string.h>

enum {
	FORMAT,
	OUTPUT,
	FROM,
	TO,
	RANGE,
	RULES,
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

static const struct vpa_option options[OPTIONS] = {
	[FORMAT] = {"format", 'f', VPA_CHOICE, "perfetto|chrome|csv|jsonl", "perfetto",
		"which format, see above"},
	[OUTPUT] = {"output", 'o', VPA_TEXT, "FILE", NULL,
		"the file or folder to write; - is standard output (the input's name with another "
		"ending)"},
	[FROM] = {"from", '\0', VPA_DURATION, NULL, NULL,
		"begin so long after the capture's start"},
	[TO] = {"to", '\0', VPA_TEXT, "TIME", NULL, "end so long after the capture's start"},
	[RANGE] = {"range", 'r', VPA_TEXT, "NAME", NULL, "only the first NVTX range of this name"},
	[RULES] = {"rules", '\0', VPA_TEXT, "FILE", NULL,
		"your kernel families and what your ranges are; see analyze --help"},
	[NO_API] = {"no-api", '\0', VPA_FLAG, NULL, NULL, "leave the CUDA calls out"},
	[SAFE] = {"safe", '\0', VPA_FLAG, NULL, NULL,
		"csv: text that a spreadsheet would compute gets a '"},
	[MIN_GAP] = {"export-min-gap", '\0', VPA_DURATION, NULL, NULL,
		"leave shorter gaps out (perfetto 2us, others 0)"},
	[GPU_ENCODING] = {"gpu-encoding", '\0', VPA_CHOICE, "gpu|trackevent", "gpu",
		"perfetto: gpu (with launch parameters, since v55), or trackevent (slices that any "
		"Perfetto shows)"},
	[COMPRESS] = {"compress", '\0', VPA_CHOICE, "packets|zstd|gzip|none", NULL,
		"perfetto: packets (any Perfetto opens it), zstd (since v58) or gzip; chrome: "
		"gzip; csv and jsonl: zstd, each file by itself; or none (packets, gzip, none)"},
	[LEVEL] = {"level", 'l', VPA_NUMBER, "1..22", NULL,
		"of compression (perfetto: zstd 1, others 6; chrome and tables 3; gzip ends at 9)"},
	[JOBS] = {"jobs", 'j', VPA_NUMBER, "0..64", "0",
		"decoding and compressing threads; 0: as many as cores, up to 4"},
	[MEMORY] = VPA_MEMORY_OPTION,
	[FORCE] = {"force", '\0', VPA_FLAG, NULL, NULL, "replace an existing file"},
	[NO_PROGRESS] = {"no-progress", '\0', VPA_FLAG, NULL, NULL, "no progress on a terminal"},
};

/* What --compress says. */
struct packing {
	const char *word; /* NULL ends the list */
	enum vpt_container container;
	const char *suffix;
};

struct format {
	const char *name; /* of --format */
	/* Writes a file. NULL: a folder of tables, of the form `rows`. */
	int (*write)(const struct vpt_trace *trace, const char *path,
		const struct vpa_options *analysis, const struct vpa_export_options *options,
		struct vpt_sink *sink, struct vpa_export_totals *totals, struct vpt_err *err);
	struct packing packings[5]; /* the first is the usual one */
	const char *opens;          /* where to open the result */
	enum vpa_rows_format rows;
	int ranks; /* 1: several traces become one archive */
	/* Where nothing else is asked for. */
	uint64_t min_gap_ns;
	int level; /* 0: the container's own */
};

static const struct format formats[] = {
	{.name = "perfetto",
		.write = vpa_export_perfetto,
		.packings = {{"packets", VPT_CONTAINER_PACKETS, ".pftrace"},
			{"zstd", VPT_CONTAINER_ZSTD, ".pftrace.zst"},
			{"gzip", VPT_CONTAINER_GZIP, ".pftrace.gz"},
			{"none", VPT_CONTAINER_NONE, ".pftrace"}},
		.opens = "open it at https://ui.perfetto.dev/#!/"
			 "?enablePlugins=dev.perfetto.GpuByProcess,com.meta.GpuCompute",
		.ranks = 1,
		.min_gap_ns = 2000},
	{.name = "chrome",
		.write = vpa_export_chrome,
		.packings = {{"gzip", VPT_CONTAINER_GZIP, ".pt.trace.json.gz"},
			{"none", VPT_CONTAINER_NONE, ".pt.trace.json"}},
		.opens = "open it at https://ui.perfetto.dev or chrome://tracing, or as a trace of "
			 "PyTorch's profiler",
		.level = 3},
	{.name = "csv",
		.rows = VPA_ROWS_CSV,
		.packings = {{"none", VPT_CONTAINER_NONE, ".csv.d"},
			{"zstd", VPT_CONTAINER_ZSTD, ".csv.d"}},
		.opens = "schema.json says what the columns are; DuckDB and pandas open the files "
			 "as they are"},
	{.name = "jsonl",
		.rows = VPA_ROWS_JSONL,
		.packings = {{"none", VPT_CONTAINER_NONE, ".jsonl.d"},
			{"zstd", VPT_CONTAINER_ZSTD, ".jsonl.d"}},
		.opens = "schema.json says what the members are; DuckDB and pandas open the files "
			 "as they are"},
};

static const struct format *find_format(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(name, formats[i].name))
			return &formats[i];
	return NULL;
}

/* A choice of --format and --compress. */
struct choice {
	const struct format *format;
	const struct packing *packing;
};

static int read_end(struct vpa_given *to, struct vpt_err *err)
{
	int rc = vpa_duration_read(to->text, &to->number, err);

	if (rc && (to->text[0] < '0' || to->text[0] > '9'))
		return vpt_fail(err, rc,
			"--to: expected a time such as 1.5s, found \"%.60s\"; formats (%s) are "
			"chosen with --format",
			to->text, options[FORMAT].argument);
	if (rc)
		vpt_err_at(err, "--to");
	return rc;
}

/* The format, and the window's end if there is one. "--to FORMAT" is an older spelling of "--format FORMAT", which scripts may
 * still have. */
static int read_format(const struct vpa_args *args, const struct format **format,
	struct vpa_given *to, struct vpt_err *err)
{
	const char *old = NULL;
	int rc = VPT_OK;
	size_t i;

	*to = (struct vpa_given){.text = NULL};
	for (i = 0; i < args->given_count && !rc; i++) {
		const struct vpa_given *g = &args->given[i];

		if (g->option == FORMAT || (g->option == TO && find_format(g->text))) {
			*format = find_format(g->text);
			old = g->option == TO ? g->text : old;
		} else if (g->option == TO) {
			*to = *g;
			rc = read_end(to, err);
		}
	}
	if (!rc && old)
		vpa_say("--to %s is an older spelling of --format %s", old, old);
	return rc;
}

static int read_packing(const struct vpa_args *args, struct choice *c, struct vpt_err *err)
{
	const char *word = vpa_text_of(args, COMPRESS);
	const struct packing *p = c->format->packings;

	while (word && p->word && strcmp(word, p->word))
		p++;
	if (!p->word)
		return vpt_fail(err, VPT_EINVAL, "--format %s cannot have --compress %s: use %s",
			c->format->name, word, c->format->packings[0].word);
	if (!vpt_container_available(p->container))
		return vpt_fail(err, VPT_EINVAL,
			"this build has no libdeflate or zlib: use --compress none");
	c->packing = p;
	return VPT_OK;
}

static int read_options(const struct vpa_args *args, struct vpa_options *o,
	struct vpa_export_options *e, struct choice *c, struct vpt_err *err)
{
	struct vpa_given to;
	int rc = read_format(args, &c->format, &to, err);

	o->has_from = vpa_has(args, FROM);
	o->from_ns = vpa_number_of(args, FROM);
	o->has_to = to.text != NULL;
	o->to_ns = to.number;
	o->range = vpa_text_of(args, RANGE);
	o->jobs = e->jobs = (unsigned)vpa_number_of(args, JOBS);
	e->no_api = vpa_has(args, NO_API);
	e->safe = vpa_has(args, SAFE);
	e->gpu_as_slices = vpa_is(args, GPU_ENCODING, "trackevent");
	e->stop = vpa_interrupted;
	if (!rc)
		rc = read_packing(args, c, err);
	if (rc)
		return rc;
	e->container = c->packing->container;
	e->level = vpa_has(args, LEVEL) ? (int)vpa_number_of(args, LEVEL) : c->format->level;
	e->min_gap_ns =
		vpa_has(args, MIN_GAP) ? vpa_number_of(args, MIN_GAP) : c->format->min_gap_ns;
	return vpa_window_check(vpa_given_of(args, FROM), o->has_to ? &to : NULL, o->range, err);
}

/* "dir/trace.json.gz" becomes "dir/trace.pftrace". */
static char *usual_output(const char *path, const char *suffix)
{
	static const char *const endings[] = {".gz", ".json", ".zst", ".sqlite"};
	size_t len = strlen(path), i;
	char *out = vpt_alloc(len + strlen(suffix) + 1, 1);

	for (i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t n = strlen(endings[i]);

		if (len > n && path[len - n - 1] != '/' && !strncmp(path + len - n, endings[i], n))
			len -= n;
	}
	if (!out)
		return NULL;
	memcpy(out, path, len);
	strcpy(out + len, suffix);
	return out;
}

static void say_result(const struct vpa_export_totals *t, const struct format *format,
	const char *output, int has_api)
{
	enum { MANY_KERNELS = 4000000 };

	vpa_say("wrote %llu kernels, %llu copies, %llu calls, %llu ranges, %llu gaps: %llu bytes, "
		"%llu before compression, to %s",
		(unsigned long long)t->kernels, (unsigned long long)t->copies,
		(unsigned long long)t->calls, (unsigned long long)t->ranges,
		(unsigned long long)t->gaps, (unsigned long long)t->bytes,
		(unsigned long long)t->raw_bytes, output);
	if (t->kernels > MANY_KERNELS && has_api)
		vpa_say("this is much for a browser: run trace_processor_shell server http %s "
			"beside it, or export less with --from, --to, --no-api",
			output);
	vpa_say("%s", format->opens);
}

/* What to do, read from the command line. */
struct job {
	const struct vpa_args *args;
	struct choice choice;
	struct vpa_options analysis;
	struct vpa_export_options how;
	const char *output;
	struct vpa_export_totals totals;
};

/* Several traces: an archive of their exports. Temporary files lie where it will. */
static int export_ranks(struct job *j, struct vpa_out *out)
{
	const char *slash = strrchr(j->output, '/');
	char *folder = slash ? vpt_strndup(j->output, (size_t)(slash - j->output) + 1) : NULL;
	int rc = vpa_export_ranks(j->args->operands, j->args->operand_count, &j->analysis, &j->how,
		out->to_stdout ? NULL
		: slash        ? folder
			       : ".",
		out->sink, &j->totals, &out->err);

	vpt_free(folder);
	return rc;
}

/* `trace` NULL: all operands. */
static int export_file(struct job *j, const struct vpt_trace *trace, struct vpt_err *err)
{
	struct vpa_out out;
	int rc = vpa_out_open(&out, j->output, vpa_has(j->args, FORCE), err);

	if (rc)
		return rc;
	if (out.to_terminal) {
		vpa_out_close(&out, 0, NULL);
		return vpt_fail(
			err, VPT_EINVAL, "an export is not written to a terminal: use -o FILE");
	}
	if (!out.to_stdout)
		vpa_interrupt_catch();
	out.failed = trace ? j->choice.format->write(trace, vpa_input_name(j->args->operands[0]),
				     &j->analysis, &j->how, out.sink, &j->totals, &out.err)
			   : export_ranks(j, &out);
	return vpa_out_close(&out, !vpa_interrupted(), err);
}

static int export_folder(struct job *j, const struct vpt_trace *trace, struct vpt_err *err)
{
	vpa_interrupt_catch();
	return vpa_export_rows(trace, vpa_input_name(j->args->operands[0]), &j->analysis, &j->how,
		j->choice.format->rows, j->output, vpa_has(j->args, FORCE), &j->totals, err);
}

static int export_to(struct job *j, const struct vpt_trace *trace, struct vpt_err *err)
{
	struct vpa_progress progress;
	int rc;

	vpa_progress_begin(&progress, &j->analysis, !vpa_has(j->args, NO_PROGRESS));
	rc = j->choice.format->write ? export_file(j, trace, err) : export_folder(j, trace, err);
	vpa_progress_end(&progress);
	if (!rc && !vpa_interrupted())
		say_result(&j->totals, j->choice.format,
			strcmp(j->output, "-") != 0 ? j->output : "standard output",
			!j->how.no_api);
	return rc;
}

/* Before an import of minutes, not after it. */
static int check_output(const struct job *j, struct vpt_err *err)
{
	int force = vpa_has(j->args, FORCE);

	if (j->args->operand_count > 1 && !j->choice.format->ranks)
		return vpt_fail(err, VPT_EINVAL,
			"--format %s takes one file: several become one archive of --format "
			"perfetto",
			j->choice.format->name);
	if (j->choice.format->write)
		return vpa_out_check(j->output, force, err);
	if (!strcmp(j->output, "-"))
		return vpt_fail(err, VPT_EINVAL, "--format %s makes a folder: use -o FOLDER",
			j->choice.format->name);
	return vpa_export_rows_check(j->output, force, err);
}

static int run(const struct vpa_args *args)
{
	struct job j = {.args = args, .output = vpa_text_of(args, OUTPUT)};
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};
	char *rules = NULL, *usual = NULL;
	int rc = read_options(args, &j.analysis, &j.how, &j.choice, &err);

	if (!rc && !j.output && args->operand_count > 1)
		rc = vpt_fail(
			&err, VPT_EINVAL, "several files become one archive: use -o FILE.tar");
	if (!rc && !j.output && !strcmp(args->operands[0], "-"))
		rc = vpt_fail(&err, VPT_EINVAL,
			"standard input has no name to call the export by: use -o FILE");
	if (!rc && !j.output)
		j.output = usual = usual_output(args->operands[0], j.choice.packing->suffix);
	if (!rc && !j.output)
		rc = vpt_fail(&err, VPT_ENOMEM, "no memory for a file name");
	if (!rc)
		rc = check_output(&j, &err);
	if (!rc && vpa_has(args, RULES))
		rc = vpa_file_read(vpa_text_of(args, RULES), &rules, &j.analysis.rules_len, &err);
	j.analysis.rules = rules;
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
	return j.totals.complete ? VPA_EXIT_DONE : VPA_EXIT_DAMAGED;
}

const struct vpa_command vpa_cmd_export = {
	.name = "export",
	.usage = "FILE... --format FORMAT [-o FILE] [options]",
	.help = "any trace as a file for ui.perfetto.dev, chrome://tracing and others",
	.about =
		"perfetto  GPU work with launch parameters and the calls that launched it, NVTX "
		"ranges on\n"
		"          their threads; and for each GPU a track of stages, denoising steps, "
		"video blocks,\n"
		"          attention, and of its idle gaps: by cause, with the report's ids.\n"
		"          The traces of several ranks become one archive (-o all.tar), which "
		"Perfetto opens as\n"
		"          one from v58 on.\n"
		"chrome    Chrome's JSON in the form of PyTorch's profiler. Read back it gives the "
		"same\n"
		"          report, but for damage, a missing stop, and names that are not UTF-8.\n"
		"csv jsonl A folder of tables, a file for each kind of row: of a kernel its "
		"family, the call\n"
		"          that launched it, range, stage, block and step; also of gaps, and of "
		"ranges on\n"
		"          each GPU. schema.json in it says what the columns are.\n"
		"Without --format it is perfetto.",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.more_operands = 1,
	.run = run,
};
