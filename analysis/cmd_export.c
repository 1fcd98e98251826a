/* cmd_export.c - any trace as a file that another tool opens.
 *
 * One pass, chunk by chunk, so memory does not grow with the trace. The last lines say where to open the result. */
#include "analysis/command.h"

#include "analysis/export.h"
#include "formats/memory.h"

#include <stdio.h>
#include <string.h>

enum { OUTPUT, FROM, TO, RANGE, RULES, NO_API, MIN_GAP, COMPRESS, LEVEL, JOBS, FORCE, OPTIONS };

static const struct vpa_option options[OPTIONS] = {
	[OUTPUT] = {"output", 'o', VPA_TEXT, "FILE", NULL,
		"the file to write; - is standard output (the input's name with another ending)"},
	[FROM] = {"from", '\0', VPA_DURATION, NULL, NULL,
		"begin so long after the capture's start"},
	[TO] = {"to", '\0', VPA_TEXT, "perfetto|TIME", NULL,
		"which format: perfetto; or end so long after the capture's start"},
	[RANGE] = {"range", 'r', VPA_TEXT, "NAME", NULL, "only the first NVTX range of this name"},
	[RULES] = {"rules", '\0', VPA_TEXT, "FILE", NULL,
		"your kernel families and what your ranges are; see analyze --help"},
	[NO_API] = {"no-api", '\0', VPA_FLAG, NULL, NULL, "leave the CUDA calls out"},
	[MIN_GAP] = {"export-min-gap", '\0', VPA_DURATION, NULL, "2us", "leave shorter gaps out"},
	[COMPRESS] = {"compress", '\0', VPA_CHOICE, "packets|zstd|gzip|none", "packets",
		"packets: any Perfetto opens it; zstd: smaller and faster, since v58"},
	[LEVEL] = {"level", 'l', VPA_NUMBER, "1..22", NULL,
		"of compression (zstd 1, others 6; those end at 9)"},
	[JOBS] = {"jobs", 'j', VPA_NUMBER, "0..64", "0",
		"decoding and compressing threads; 0: as many as cores, up to 4"},
	[FORCE] = {"force", '\0', VPA_FLAG, NULL, NULL, "replace an existing file"},
};

static const struct {
	const char *word;
	enum vpt_container container;
} containers[] = {
	{"packets", VPT_CONTAINER_PACKETS},
	{"zstd", VPT_CONTAINER_ZSTD},
	{"gzip", VPT_CONTAINER_GZIP},
	{"none", VPT_CONTAINER_NONE},
};

/* "--to" may be given twice: once for the format, once for the window. */
static int read_to(const struct vpa_args *args, struct vpa_options *o, struct vpt_err *err)
{
	struct vpt_err why;
	size_t i;

	for (i = 0; i < args->given_count; i++) {
		const char *text = args->given[i].text;

		if (args->given[i].option != TO || !strcmp(text, "perfetto"))
			continue;
		if (vpa_duration_read(text, &o->to_ns, &why))
			return vpt_fail(err, VPT_EINVAL,
				"--to: expected perfetto, or a time such as 1.5s, found \"%.60s\"",
				text);
		o->has_to = 1;
	}
	return VPT_OK;
}

static int read_options(const struct vpa_args *args, struct vpa_options *o,
	struct vpa_export_options *e, struct vpt_err *err)
{
	size_t i;
	int rc = read_to(args, o, err);

	o->has_from = vpa_has(args, FROM);
	o->from_ns = vpa_number_of(args, FROM);
	o->range = vpa_text_of(args, RANGE);
	o->jobs = e->jobs = (unsigned)vpa_number_of(args, JOBS);
	e->level = (int)vpa_number_of(args, LEVEL);
	e->no_api = vpa_has(args, NO_API);
	e->min_gap_ns = vpa_number_of(args, MIN_GAP);
	e->stop = vpa_interrupted;
	for (i = 0; i < sizeof(containers) / sizeof(*containers); i++)
		if (vpa_is(args, COMPRESS, containers[i].word))
			e->container = containers[i].container;
	if (rc)
		return rc;
	if (o->range && (o->has_from || o->has_to))
		return vpt_fail(err, VPT_EINVAL, "--range and --from or --to exclude each other");
	if (!vpt_container_available(e->container))
		return vpt_fail(err, VPT_EINVAL,
			"this build has no zlib: use --compress zstd or --compress none");
	return VPT_OK;
}

/* "dir/trace.json.gz" becomes "dir/trace.pftrace". */
static char *usual_output(const char *path, enum vpt_container container)
{
	static const char *const endings[] = {".gz", ".json", ".zst", ".sqlite"};
	const char *suffix = vpt_container_suffix(container);
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

static void say_result(const struct vpa_export_totals *t, const char *output, int has_api)
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
	vpa_say("open it at https://ui.perfetto.dev/#!/"
		"?enablePlugins=dev.perfetto.GpuByProcess,com.meta.GpuCompute");
}

static int export_to(const struct vpt_trace *trace, const struct vpa_args *args, const char *output,
	const struct vpa_options *o, const struct vpa_export_options *e, int *complete,
	struct vpt_err *err)
{
	const char *path = args->operands[0];
	struct vpa_export_totals totals;
	struct vpa_out out;
	int rc = vpa_out_open(&out, output, vpa_has(args, FORCE), err);

	if (rc)
		return rc;
	if (out.to_terminal) {
		vpa_out_close(&out, 0, NULL);
		return vpt_fail(
			err, VPT_EINVAL, "an export is not written to a terminal: use -o FILE");
	}
	if (!out.to_stdout)
		vpa_interrupt_catch();
	vpa_say_import(path, trace);
	out.failed = vpa_export_perfetto(trace, path, o, e, out.sink, &totals, &out.err);
	rc = vpa_out_close(&out, !vpa_interrupted(), err);
	*complete = totals.complete;
	if (!rc && !vpa_interrupted())
		say_result(&totals, out.to_stdout ? "standard output" : output, !e->no_api);
	return rc;
}

static int run(const struct vpa_args *args)
{
	struct vpa_options o = {0};
	struct vpa_export_options e = {0};
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};
	char *rules = NULL, *usual = NULL;
	const char *output = vpa_text_of(args, OUTPUT);
	int complete = 1, rc = read_options(args, &o, &e, &err);

	if (!rc && !output)
		output = usual = usual_output(args->operands[0], e.container);
	if (!rc && !output)
		rc = vpt_fail(&err, VPT_ENOMEM, "no memory for a file name");
	/* Before an import of minutes, not after it. */
	if (!rc)
		rc = vpa_out_check(output, vpa_has(args, FORCE), &err);
	if (!rc && vpa_has(args, RULES))
		rc = vpa_file_read(vpa_text_of(args, RULES), &rules, &o.rules_len, &err);
	o.rules = rules;
	if (!rc)
		rc = vpt_trace_open(args->operands[0], &trace, &err);
	if (!rc)
		rc = export_to(trace, args, output, &o, &e, &complete, &err);
	vpt_trace_close(trace);
	vpt_free(rules);
	vpt_free(usual);
	if (vpa_interrupted())
		return vpa_interrupt_die();
	if (rc)
		return vpa_failed(&err);
	return complete ? VPA_EXIT_DONE : VPA_EXIT_DAMAGED;
}

const struct vpa_command vpa_cmd_export = {
	.name = "export",
	.usage = "FILE --to perfetto [-o FILE] [options]",
	.help = "any trace as a file for ui.perfetto.dev",
	.about = "GPU work with launch parameters and the calls that launched it, NVTX ranges on "
		 "their\n"
		 "threads; and for each GPU a track of stages, denoising steps, video blocks,\n"
		 "attention, and of its idle gaps: by what opened them, with the report's ids.",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.run = run,
};
