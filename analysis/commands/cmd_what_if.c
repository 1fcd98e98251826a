/* cmd_what_if.c - what changes of the program would bring: the trace, replayed with them. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/shared_options.h"
#include "formats/cli/terminal.h"

#include "analysis/analyze.h"
#include "analysis/retime/predictions.h"
#include "analysis/retime/what_if/what_if_pages.h"
#include "formats/base/memory.h"

#include <string.h>

enum {
	CHANGE,
	CHECK,
	FORMAT,
	OUTPUT,
	VPA_WINDOW_IDS,
	VPA_BLOCK_IDS,
	VPA_WORK_IDS,
	NO_PROGRESS,
	COLOR,
	OPTIONS
};

static const struct vpt_option options[OPTIONS] = {
	[CHANGE] = {"change", 'c', VPT_TEXTS, "CHANGE", NULL,
		"a change of the program, such as 'host 0.5'; see above"},
	[CHECK] = {"check", '\0', VPT_INPUT, "FILE", NULL,
		"a trace of the run with the changes: print how far off the prediction is"},
	[FORMAT] = VPA_FORMAT_OPTION("text|json", "text", ""),
	[OUTPUT] = VPA_OUTPUT_OPTION,
	VPA_WINDOW_OPTIONS("the capture's start", "window", "analyze --help"),
	VPA_BLOCK_OPTIONS("the trace"),
	VPA_WORK_OPTIONS,
	[NO_PROGRESS] = VPA_NO_PROGRESS_OPTION,
	[COLOR] = VPA_COLOR_OPTION,
};

/* All changes given, as one text. */
static int join_changes(const struct vpt_args *args, char *text, size_t size, struct vpt_err *err)
{
	size_t i, used = 0;

	text[0] = '\0';
	for (i = args->default_count; i < args->given_count; i++) {
		const struct vpt_given *g = &args->given[i];
		size_t len = g->option == CHANGE ? strlen(g->text) : 0;

		if (g->option != CHANGE)
			continue;
		if (used + len + 3 > size)
			return vpt_fail(err, VPT_EINVAL,
				"--change: expected at most %zu bytes of changes in all", size);
		if (used) {
			memcpy(text + used, "; ", 2);
			used += 2;
		}
		memcpy(text + used, g->text, len + 1);
		used += len;
	}
	return VPT_OK;
}

/* Before the work: whether the changes can be read. */
static int check_changes(const char *text, struct vpt_err *err)
{
	struct vpa_change changes[VPA_CHANGES_MOST];
	size_t count;

	return vpa_changes_read(text, changes, &count, err);
}

static int open_out(const struct vpt_args *args, struct vpt_out *o, struct vpt_err *err)
{
	return vpt_out_open(o, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), err);
}

static void begin_page(const struct vpt_args *args, struct vpt_out *o, struct vpa_page *p)
{
	vpa_page_init(p, o->sink, vpt_terminal_width(o),
		vpt_terminal_colour(o, vpt_text_of(args, COLOR)), &o->err);
}

static int put_answer(const struct vpt_args *args, const struct vpa_what_if *w, struct vpt_err *err)
{
	struct vpa_page page;
	struct vpt_out o;
	int rc = open_out(args, &o, err);

	if (rc)
		return rc;
	if (vpt_is(args, FORMAT, "json")) {
		o.failed = vpa_what_if_json(w, o.sink, &o.err);
	} else {
		begin_page(args, &o, &page);
		vpa_what_if_put(&page, w);
		o.failed = page.rc;
	}
	return vpt_out_close(&o, 1, err);
}

static int put_findings(
	const struct vpt_args *args, const struct vpa_report *r, struct vpt_err *err)
{
	struct vpa_page page;
	struct vpt_out o;
	int rc = open_out(args, &o, err);

	if (rc)
		return rc;
	begin_page(args, &o, &page);
	vpa_what_if_put_findings(&page, r);
	o.failed = page.rc;
	return vpt_out_close(&o, 1, err);
}

static int ask(const struct vpt_args *args, const struct vpt_trace *trace,
	struct vpa_report *report, const struct vpa_report *other, const char *text,
	struct vpt_err *err)
{
	unsigned jobs = (unsigned)vpt_number_of(args, JOBS);
	struct vpa_what_if answer = {0};
	int rc;

	if (!*text) {
		rc = vpa_predict(trace, jobs, VPA_REPLAYED_MOST, report, err);
		return rc ? rc : put_findings(args, report, err);
	}
	rc = vpa_what_if(trace, jobs, report, text, other, &answer, err);
	if (!rc)
		rc = put_answer(args, &answer, err);
	vpa_what_if_free(&answer);
	return rc;
}

static int check_options(const struct vpt_args *args, const char *text, struct vpt_err *err)
{
	if (!*text && vpt_has(args, CHECK))
		return vpt_fail(err, VPT_EINVAL,
			"--check needs --change: which change does that run have?");
	if (!*text && vpt_is(args, FORMAT, "json"))
		return vpt_fail(err, VPT_EINVAL,
			"--format json needs --change; the predictions of all findings are in the "
			"JSON of analyze");
	return check_changes(text, err);
}

static int answer(const struct vpt_args *args, struct vpa_options *o, const char *text,
	int *complete, struct vpt_err *err)
{
	const char *path = args->operands[0], *check = vpt_text_of(args, CHECK);
	struct vpa_report *report = NULL, *other = NULL;
	struct vpa_progress shown;
	struct vpt_trace *trace = NULL;
	int progress = !vpt_has(args, NO_PROGRESS), rc = vpt_trace_open(path, &trace, err);

	if (!rc) {
		vpa_progress_begin(&shown, o, progress);
		rc = vpa_analyze(trace, vpa_input_name(path), o, &report, err);
		vpa_progress_end(&shown);
	}
	if (!rc && check)
		rc = vpa_trace_report(check, o, progress, &other, err);
	if (!rc) {
		*complete = report->verdict.complete;
		rc = ask(args, trace, report, other, text, err);
	}
	vpa_report_free(report);
	vpa_report_free(other);
	vpt_trace_close(trace);
	return rc;
}

static int run(const struct vpt_args *args)
{
	struct vpa_options o = {.step_parts = 1, .stage_spans = 1};
	struct vpt_err err = {0};
	char text[4096], *rules_text = NULL;
	int complete = 1, rc = vpa_shared_options_read(args, &o, &err);

	if (!rc)
		rc = join_changes(args, text, sizeof(text), &err);
	if (!rc)
		rc = check_options(args, text, &err);
	if (!rc)
		rc = vpa_out_check(args, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), &err);
	if (!rc)
		rc = vpa_rules_option_read(args, &o, &rules_text, &err);
	if (!rc)
		rc = answer(args, &o, text, &complete, &err);
	vpt_free(rules_text);
	if (rc)
		return vpa_failed(&err);
	return complete ? VPT_EXIT_DONE : VPT_EXIT_DAMAGED;
}

const struct vpt_command vpa_cmd_what_if = {
	.program = VPA_PROGRAM,
	.name = "what-if",
	.usage = "FILE [--change CHANGE]... [--check FILE] [options]",
	.help = "predict what a change of the program would bring, by replaying the trace with it",
	.about =
		"Without --change: what each finding's change would bring, and all together.\n"
		"Several changes combine; later ones see what earlier ones did.\n"
		"\n"
		"A CHANGE is one of\n"
		"  drop CALL [under TIME] [in PLACE]\n"
		"                                the call no longer waits; call and copy stay;\n"
		"                                only where less host code than TIME follows;\n"
		"                                CALL may be launches, where each waits for its\n"
		"                                own kernel, as with CUDA_LAUNCH_BLOCKING=1\n"
		"  drop stops [every TIME from TIME] [in PLACE]\n"
		"                                where the host stood still for 5 ms and longer,\n"
		"                                calls take as long as is usual; only stops that\n"
		"                                ended at these times, as those of a CPU quota\n"
		"  delete small-reads|CALL [in PLACE]\n"
		"                                the calls are gone, with their ops\n"
		"  delete copies KIND [in PLACE] the same for copies: HtoD, DtoH, ...\n"
		"  delete graph-builds [in PLACE]\n"
		"                                CUDA graphs are there: no captures, and nothing\n"
		"                                else that makes or frees graphs\n"
		"  delete adapters [in PLACE]    low-rank adapters (LoRA) are merged into the\n"
		"                                weights: their kernels are gone\n"
		"  delete unpacking [in PLACE]   weights need no unpacking before products\n"
		"  delete reductions [in PLACE]  gradients are summed over ranks once in each\n"
		"                                optimizer step: no_sync() in the other passes\n"
		"  delete recomputation [in PLACE]\n"
		"                                activation checkpointing runs nothing again in\n"
		"                                backward passes\n"
		"  host X [over TIME] [under TIME] [in PLACE]\n"
		"                                host code between calls takes X times as long;\n"
		"                                only stretches of at least, of less than TIME\n"
		"  host X ... after small-reads|CALL [in PLACE]\n"
		"                                the same for the code after such calls\n"
		"  host X per launch [in PLACE]  the same for what each launch needs\n"
		"  host X ... on THREAD [in PLACE]\n"
		"                                the same of one thread, by name or number\n"
		"  host X ... at FILE:LINE [in PLACE]\n"
		"                                the same while this line of Python is running,\n"
		"                                or a function that it calls\n"
		"  scale FAMILY|KERNEL|KIND X [on GPU N] [in PLACE]\n"
		"                                kernels, or copies of a kind, take X times as\n"
		"                                long; only those of a GPU, by its number\n"
		"  rate KIND GB/s [in PLACE]     copies of a kind run at this rate\n"
		"  pin KIND [GB/s] [in PLACE]    the same, from pinned memory: nothing waits for\n"
		"                                them; without a rate, that of other such copies\n"
		"  aside PLACE                   its ops run on a stream of their own\n"
		"  graph PLACE [each OUTER]      its launches become one CUDA graph, captured\n"
		"                                once, or anew in each OUTER\n"
		"  skip 1/N PLACE                every N-th instance of the range does not run\n"
		"  steps N PLACE                 N of its instances run in each range around them\n"
		"\n"
		"CALL is the name of a CUDA call, or syncs, launches, copies, allocations,\n"
		"loads: all of that kind. PLACE is the name of a range, and the rest of the\n"
		"text. Names may be patterns: 'step *', '@(a|b)'.\n"
		"\n"
		"The prediction knows the order of calls and ops, streams, waits, the launch\n"
		"queue and CUDA graphs. It does not know contention, clocks, caches or other\n"
		"processes, and says how much of the recording it explains. With --check it is\n"
		"compared with a run.",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.run = run,
};
