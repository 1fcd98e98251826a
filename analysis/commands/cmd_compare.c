/* cmd_compare.c - two sides of captures: which is faster, how sure that is, and why.
 *
 * Analyzes each capture as `analyze` does, one after the other, and compares the reports. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/fail_if.h"
#include "analysis/commands/base/pager.h"
#include "analysis/commands/base/rank_inputs.h"
#include "analysis/commands/base/shared_options.h"
#include "formats/cli/terminal.h"

#include "analysis/compare/baseline.h"
#include "analysis/compare/comparison.h"
#include "analysis/compare/render/job_compare_pages.h"
#include "analysis/compare/conditions/predicted_condition.h"
#include "analysis/ranks/figures/job_metrics.h"
#include "analysis/ranks/patterns/patterns.h"
#include "formats/base/memory.h"

#include <stdlib.h>

enum {
	FORMAT,
	OUTPUT,
	TOP,
	MARGIN,
	FAIL_IF,
	BASELINE,
	BASE,
	VPA_WINDOW_IDS,
	VPA_BLOCK_IDS,
	VPA_WORK_IDS,
	NO_PREDICT,
	NO_PROGRESS,
	COLOR,
	NO_PAGER,
	OPTIONS
};

static const struct vpt_option options[OPTIONS] = {
	[FORMAT] = VPA_FORMAT_OPTION(
		"text|json|md|html", "text", "; md: Markdown, for a pull request; html: one page"),
	[OUTPUT] = VPA_OUTPUT_OPTION,
	[TOP] = VPA_TOP_OPTION("text: maximum rows per table (" VPT_TEXT_OF(VPA_TOP_COMPARED) ")"),
	[MARGIN] = {"margin", '\0', VPT_TEXT, "PERCENT", "0.5",
		"changes up to this count as no change"},
	[FAIL_IF] = VPA_FAIL_IF_OPTION(", such as fps-2%, idle:sync+5% or fps<16; see above"),
	[BASELINE] = {"baseline", '\0', VPT_INPUTS, "FILE", NULL,
		"a JSON report of analyze as A, once for each run; all files are then B's"},
	[BASE] = {"base", '\0', VPT_INPUT, "FILE", NULL,
		"of two jobs: a capture of the same work on one rank, for their efficiency"},
	VPA_WINDOW_OPTIONS("the start of each capture", "windows", "analyze --help"),
	VPA_BLOCK_OPTIONS("a trace"),
	VPA_WORK_OPTIONS,
	[NO_PREDICT] = {"no-predict", '\0', VPT_FLAG, NULL, NULL,
		"do not replay A with the changes of its findings that B lacks"},
	[NO_PROGRESS] = VPA_NO_PROGRESS_OPTION,
	[COLOR] = VPA_COLOR_OPTION,
	[NO_PAGER] = VPA_NO_PAGER_OPTION(""),
};

/* The reports of the captures, in the order of the command line. */
struct captures {
	struct vpa_report **reports;
	size_t count, a_count;
	char *rules;
};

/* ---- the command line ---- */

/* Reads "0.5" as a share of one. */
static int read_margin(const char *text, double *margin, struct vpt_err *err)
{
	const char *end = vpa_decimal_read(text, margin);

	*margin /= 100;
	if (!end || *end || *margin >= 1)
		return vpt_fail(err, VPT_EINVAL,
			"--margin: expected percent below 100 such as 0.5, found \"%.60s\"", text);
	return VPT_OK;
}

static int set_options(
	const struct vpt_args *args, struct vpa_options *o, double *margin, struct vpt_err *err)
{
	int rc;

	/* Every kernel counts, so that the rows add up. */
	*o = (struct vpa_options){.top = 200, .all_kernels = 1, .step_parts = 1};
	rc = vpa_shared_options_read(args, o, err);
	return rc ? rc : read_margin(vpt_text_of(args, MARGIN), margin, err);
}

static size_t baselines(const struct vpt_args *args)
{
	size_t count = 0, i;

	for (i = 0; i < args->given_count; i++)
		count += args->given[i].option == BASELINE;
	return count;
}

/* How many of the files are A's; 0 where baselines are. */
static int split(const struct vpt_args *args, size_t *a_count, struct vpt_err *err)
{
	*a_count = baselines(args);
	if (*a_count)
		return args->first_count ? vpt_fail(err, VPT_EINVAL,
						   "with --baseline all files are B's: expected no "
						   "\"--\"")
					 : VPT_OK;
	*a_count = args->first_count ? args->first_count : 1;
	if (args->operand_count == *a_count)
		return vpt_fail(err, VPT_EINVAL, "expected files of two sides, found those of one");
	if (!args->first_count && args->operand_count > 2)
		return vpt_fail(err, VPT_EINVAL,
			"expected \"--\" between the files of A and B, since there are %zu",
			args->operand_count);
	return VPT_OK;
}

/* ---- the work ---- */

static int read_baseline(const char *path, struct vpa_report **out, struct vpt_err *err)
{
	char *text;
	size_t len;
	int rc = vpa_file_read(path, &text, &len, err);

	if (rc)
		return rc;
	rc = vpa_baseline_read(text, len, path, out, err);
	vpt_free(text);
	return rc;
}

static int read_baselines(const struct vpt_args *args, struct captures *all, struct vpt_err *err)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < args->given_count && !rc; i++) {
		if (args->given[i].option != BASELINE)
			continue;
		rc = read_baseline(args->given[i].text, &all->reports[all->count], err);
		all->count += !rc;
	}
	return rc;
}

static int analyze_all(const struct vpt_args *args, struct vpa_options *o, struct captures *all,
	struct vpt_err *err)
{
	int rc = vpa_rules_option_read(args, o, &all->rules, err);
	size_t i;

	all->reports = vpt_calloc(baselines(args) + args->operand_count, sizeof(*all->reports));
	if (!rc && !all->reports)
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for the reports");
	if (!rc)
		rc = read_baselines(args, all, err);
	for (i = 0; !rc && i < args->operand_count; i++) {
		rc = vpa_trace_report(args->operands[i], o, !vpt_has(args, NO_PROGRESS),
			&all->reports[all->count], err);
		all->count += !rc;
	}
	return rc;
}

/* Of a capture A, not of a JSON report, of which there is no trace to replay. */
static int predict(const struct vpt_args *args, const struct captures *all,
	struct vpa_comparison *c, struct vpt_err *err)
{
	struct vpt_trace *trace = NULL;
	int rc;

	if (vpt_has(args, NO_PREDICT) || baselines(args) || all->count != 2)
		return VPT_OK;
	rc = vpt_trace_open(args->operands[0], &trace, err);
	if (!rc)
		rc = vpa_compare_predict(
			c, all->reports[0], trace, (unsigned)vpt_number_of(args, JOBS), err);
	vpt_trace_close(trace);
	return rc;
}

static void free_captures(struct captures *all)
{
	while (all->count > 0)
		vpa_report_free(all->reports[--all->count]);
	vpt_free(all->reports);
	vpt_free(all->rules);
}

static int render(const struct vpt_args *args, const struct vpa_comparison *c, struct vpt_err *err)
{
	struct vpt_out o;
	int rc = vpt_out_open(&o, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), err);
	char command[4096];

	if (rc)
		return rc;
	vpa_command_line(args, command, sizeof(command));
	if (vpt_is(args, FORMAT, "text") && !vpt_has(args, NO_PAGER))
		o.failed = vpa_pager_begin(&o, &o.err);
	if (o.failed)
		return vpt_out_close(&o, 0, err);
	if (vpt_is(args, FORMAT, "html"))
		o.failed = vpa_compare_html(c, command, o.sink, &o.err);
	else if (vpt_is(args, FORMAT, "json"))
		o.failed = vpa_compare_json(c, o.sink, &o.err);
	else if (vpt_is(args, FORMAT, "md"))
		o.failed = vpa_compare_markdown(c, o.sink, &o.err);
	else
		o.failed = vpa_compare_text(c, vpt_terminal_width(&o),
			vpt_terminal_colour(&o, vpt_text_of(args, COLOR)), vpt_number_of(args, TOP),
			o.sink, &o.err);
	return vpt_out_close(&o, 1, err);
}

/* ---- two jobs of several ranks ---- */

/* Whether a side is a job: a folder, an archive, or summaries. */
static int has_jobs(const struct vpt_args *args)
{
	size_t i;

	for (i = 0; i < args->operand_count; i++)
		if (vpa_is_job(args->operands[i]))
			return 1;
	return 0;
}

/* A condition of --fail-if; without a comparison it is only read. */
static int condition_holds(
	const void *comparison, const char *text, int *holds, char what[160], struct vpt_err *err)
{
	struct vpa_jobs_condition condition;
	int rc = vpa_jobs_condition_read(text, &condition, err);

	return rc || !comparison
		       ? rc
		       : vpa_jobs_condition_holds(&condition, comparison, holds, what, err);
}

/* Options of captures say nothing of jobs. */
static int check_job_options(const struct vpt_args *args, struct vpt_err *err)
{
	static const unsigned others[] = {TOP, BASELINE, WARMUP, FRAMES_PER_BLOCK,
		FIRST_BLOCK_FRAMES, LATENTS_PER_BLOCK, VAE_FACTOR};
	size_t i;
	int held, rc = VPT_OK;

	for (i = 0; i < sizeof(others) / sizeof(others[0]) && !rc; i++)
		if (vpt_given_of(args, others[i]))
			rc = vpt_fail(err, VPT_EINVAL,
				"--%s does not apply to jobs of several ranks",
				options[others[i]].name);
	return rc ? rc : vpa_fail_if_jobs(args, FAIL_IF, condition_holds, NULL, &held, err);
}

static int read_job(const struct vpt_args *args, const char *const *paths, size_t count,
	struct vpa_options *o, const struct vpa_rank *base, struct vpa_job **out, int *damaged,
	struct vpt_err *err)
{
	struct vpa_rank_list ranks = {.count = 0};
	int rc = vpa_rank_inputs_read(
		paths, count, o, !vpt_has(args, NO_PROGRESS), &ranks, damaged, err);

	if (!rc)
		rc = vpa_job_new(&ranks, out, err);
	if (!rc)
		rc = vpa_patterns_find(*out, err);
	if (!rc)
		rc = vpa_job_figures_find(*out, err);
	if (!rc && base)
		rc = vpa_scaling_find(*out, base, 0, err);
	vpa_rank_list_free(&ranks);
	if (rc)
		vpt_err_at(err, paths[0]);
	return rc;
}

static int render_jobs(
	const struct vpt_args *args, const struct vpa_job_comparison *c, struct vpt_err *err)
{
	struct vpa_page page;
	struct vpt_out o;
	int rc = vpt_out_open(&o, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), err);
	char command[4096];

	if (rc)
		return rc;
	vpa_command_line(args, command, sizeof(command));
	if (vpt_is(args, FORMAT, "html")) {
		o.failed = vpa_compare_jobs_html(c, command, o.sink, &o.err);
	} else if (vpt_is(args, FORMAT, "json")) {
		o.failed = vpa_compare_jobs_json(c, o.sink, &o.err);
	} else if (vpt_is(args, FORMAT, "md")) {
		o.failed = vpa_compare_jobs_markdown(c, o.sink, &o.err);
	} else {
		vpa_page_init(&page, o.sink, vpt_terminal_width(&o),
			vpt_terminal_colour(&o, vpt_text_of(args, COLOR)), &o.err);
		vpa_compare_jobs_put(&page, c);
		o.failed = page.rc;
	}
	return vpt_out_close(&o, 1, err);
}

/* The ranks of both sides. */
static int read_jobs(const struct vpt_args *args, size_t a_count, struct vpa_job *jobs[2],
	int *damaged, struct vpt_err *err)
{
	struct vpa_options o = {.top = 1};
	struct vpa_rank_list base = {.count = 0};
	char *rules = NULL;
	int rc = vpa_shared_options_read(args, &o, err);

	if (!rc)
		rc = vpa_rules_option_read(args, &o, &rules, err);
	if (!rc)
		rc = vpa_rank_base_read(
			vpt_text_of(args, BASE), &o, !vpt_has(args, NO_PROGRESS), &base, err);
	if (!rc)
		rc = read_job(args, args->operands, a_count, &o, base.count ? base.items[0] : NULL,
			&jobs[0], damaged, err);
	if (!rc)
		rc = read_job(args, args->operands + a_count, args->operand_count - a_count, &o,
			base.count ? base.items[0] : NULL, &jobs[1], damaged, err);
	vpa_rank_list_free(&base);
	vpt_free(rules);
	return rc;
}

static int run_jobs(const struct vpt_args *args)
{
	struct vpa_job_comparison *c = NULL;
	struct vpa_job *jobs[2] = {NULL, NULL};
	struct vpt_err err = {0};
	double margin = 0;
	size_t a_count = 0;
	int damaged = 0, held = 0, is_whole = 0, rc = check_job_options(args, &err);

	if (!rc)
		rc = read_margin(vpt_text_of(args, MARGIN), &margin, &err);
	if (!rc)
		rc = split(args, &a_count, &err);
	if (!rc)
		rc = vpa_out_check(args, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), &err);
	if (!rc)
		rc = read_jobs(args, a_count, jobs, &damaged, &err);
	if (!rc)
		rc = vpa_compare_jobs(jobs[0], jobs[1], margin, &c, &err);
	if (!rc)
		rc = render_jobs(args, c, &err);
	if (!rc)
		rc = vpa_fail_if_jobs(args, FAIL_IF, condition_holds, c, &held, &err);
	if (!rc)
		is_whole = !damaged && !jobs[0]->incomplete && !jobs[1]->incomplete;
	vpa_job_comparison_free(c);
	vpa_job_free(jobs[0]);
	vpa_job_free(jobs[1]);
	if (rc)
		return vpa_failed(&err);
	return held ? VPT_EXIT_LIMIT : is_whole ? VPT_EXIT_DONE : VPT_EXIT_DAMAGED;
}

/* ---- captures ---- */

static int run_captures(const struct vpt_args *args)
{
	struct vpa_compare_options how = {0};
	struct vpa_comparison *comparison = NULL;
	struct captures all = {0};
	struct vpt_err err = {0};
	struct vpa_options o;
	int code = VPT_EXIT_DONE, rc = set_options(args, &o, &how.margin, &err);

	if (!rc)
		rc = vpa_fail_if_read(args, FAIL_IF, 0, &err);
	if (!rc)
		rc = split(args, &all.a_count, &err);
	if (!rc)
		rc = vpa_out_check(args, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), &err);
	if (!rc)
		rc = analyze_all(args, &o, &all, &err);
	if (!rc) {
		const struct vpa_report *const *reports =
			(const struct vpa_report *const *)all.reports;
		struct vpa_side a = {reports, all.a_count};
		struct vpa_side b = {reports + all.a_count, all.count - all.a_count};

		rc = vpa_compare(&a, &b, &how, &comparison, &err);
	}
	if (!rc)
		rc = predict(args, &all, comparison, &err);
	if (!rc)
		rc = render(args, comparison, &err);
	if (!rc)
		code = vpa_fail_if_exit(args, FAIL_IF, NULL, comparison, comparison->complete);
	vpa_comparison_free(comparison);
	free_captures(&all);
	return rc ? vpa_failed(&err) : code;
}

static int run(const struct vpt_args *args)
{
	struct vpt_err err;

	if (has_jobs(args))
		return run_jobs(args);
	if (!vpt_has(args, BASE))
		return run_captures(args);
	vpt_fail(&err, VPT_EINVAL,
		"--base applies to jobs of several ranks: folders, archives or summaries");
	return vpa_failed(&err);
}

const struct vpt_command vpa_cmd_compare = {
	.program = VPA_PROGRAM,
	.name = "compare",
	.usage = "A B | A... -- B... | --baseline A.json B... [options]",
	.help = "report which of two captures or jobs is faster, how surely, and why",
	.about = "Every change is from A to B. The captures are compared by the best unit that\n"
		 "all of them have: measured blocks, four or more requests, marked steps,\n"
		 "iterations, inferred steps, or else the whole window. Blocks are not compared\n"
		 "if only some of them include the VAE's work: then requests are, and FPS is end\n"
		 "to end. Units are paired by request and index. A -- separates several runs of A\n"
		 "from those of B. With three or more runs per side, the test is between runs.\n"
		 "\n"
		 "A CONDITION is a change from A to B, or a limit of B. A change is a figure,\n"
		 "- or +, and percent: fps-2% holds if FPS is lower by more than 2 %. Figures\n"
		 "are those of analyze --help: rates such as fps and steps/s, period, busy, idle,\n"
		 "and the parts busy:FAMILY and idle:CAUSE. Changes of busy, idle and their parts\n"
		 "are percent of A's mean block, step or window. A change of the other figures\n"
		 "that may be chance does not count. A limit is a figure, < or >, and a value, as\n"
		 "in analyze. --fail-if may be given several times.\n"
		 "\n"
		 "Two folders, archives or summaries are two jobs of several ranks: what a unit\n"
		 "takes, where its time went, who was late in each, and efficiency with --base.\n"
		 "Figures of their conditions are fps, period, efficiency and waits; changes of\n"
		 "the last two are in percent of full efficiency and of a rank's time. Limits are\n"
		 "those of ranks.\n"
		 "\n"
		 "Where B lacks a finding of A that asks for a change, A is replayed with it, and\n"
		 "what was predicted stands beside what came.",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.more_operands = 1,
	.has_sides = 1,
	.run = run,
};
