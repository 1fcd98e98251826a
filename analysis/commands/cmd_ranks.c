/* cmd_ranks.c - several ranks of one job: who waits for whom, and why. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/fail_if.h"
#include "analysis/commands/base/rank_inputs.h"
#include "analysis/commands/base/shared_options.h"
#include "formats/cli/terminal.h"

#include "analysis/ranks/figures/job_conditions.h"
#include "analysis/ranks/figures/job_metrics.h"
#include "analysis/ranks/patterns/patterns.h"
#include "analysis/ranks/render/ranks_pages.h"
#include "analysis/ranks/scaling.h"
#include "formats/base/memory.h"

enum {
	FORMAT,
	OUTPUT,
	BASE,
	WEAK,
	FULL,
	CHANGE,
	FAIL_IF,
	VPA_WINDOW_IDS,
	VPA_WORK_IDS,
	NO_PROGRESS,
	COLOR,
	OPTIONS
};

static const struct vpt_option options[OPTIONS] = {
	[FORMAT] = VPA_FORMAT_OPTION("text|json|md|html", "text",
		"; md: Markdown; html: one page that needs nothing else"),
	[OUTPUT] = VPA_OUTPUT_OPTION,
	[BASE] = {"base", '\0', VPT_INPUT, "FILE", NULL,
		"a capture of the same work on one rank: efficiency, and why it is not 100 %"},
	[WEAK] = {"weak", '\0', VPT_FLAG, NULL, NULL,
		"with --base: each rank does work of its own, as in data parallelism"},
	[FULL] = {"full", '\0', VPT_FLAG, NULL, NULL,
		"text: every metric of the ranks, also those that hardly differ"},
	[CHANGE] = {"change", 'c', VPT_TEXTS, "CHANGE", NULL,
		"also replay all ranks with a change, such as 'all: host 0.5', '3: scale gemm 0.8' "
		"or 'rank 3 like median'; see above"},
	[FAIL_IF] = VPA_FAIL_IF_OPTION(": efficiency<80%, which needs --base, waits>5%, or of the "
				       "job fps<16, bps<2, period>750ms, idle:sync>5%"),
	VPA_WINDOW_OPTIONS("the start of each capture", "windows", "analyze --help"),
	VPA_WORK_OPTIONS,
	[NO_PROGRESS] = VPA_NO_PROGRESS_OPTION,
	[COLOR] = VPA_COLOR_OPTION,
};

/* Whether what is read is the summary of one rank, of which nothing is asked that needs others. */
static int is_summary_of_one(const struct vpt_args *args, const struct vpa_rank_list *ranks)
{
	return ranks->count == 1 && vpa_rank_is_folded(ranks->items[0]) && !vpt_has(args, BASE) &&
	       !vpt_given_of(args, CHANGE) && !vpt_given_of(args, FAIL_IF);
}

static int render(const struct vpt_args *args, const struct vpa_job *job, struct vpt_err *err)
{
	struct vpa_page page;
	char command[4096];
	struct vpt_out o;
	int rc = vpt_out_open(&o, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), err);

	if (rc)
		return rc;
	if (vpt_is(args, FORMAT, "json")) {
		o.failed = vpa_ranks_json(job, o.sink, &o.err);
	} else if (vpt_is(args, FORMAT, "md")) {
		o.failed = vpa_ranks_markdown(job, o.sink, &o.err);
	} else if (vpt_is(args, FORMAT, "html")) {
		vpa_command_line(args, command, sizeof(command));
		o.failed = vpa_ranks_html(job, command, o.sink, &o.err);
	} else {
		vpa_page_init(&page, o.sink, vpt_terminal_width(&o),
			vpt_terminal_colour(&o, vpt_text_of(args, COLOR)), &o.err);
		vpa_ranks_put(&page, job, vpt_has(args, FULL));
		o.failed = page.rc;
	}
	return vpt_out_close(&o, 1, err);
}

static int compare_base(const struct vpt_args *args, struct vpa_options *o, struct vpa_job *job,
	struct vpt_err *err)
{
	struct vpa_rank_list list = {.count = 0};
	int rc = vpa_rank_base_read(
		vpt_text_of(args, BASE), o, !vpt_has(args, NO_PROGRESS), &list, err);

	if (!rc && list.count)
		rc = vpa_scaling_find(job, list.items[0], vpt_has(args, WEAK), err);
	vpa_rank_list_free(&list);
	return rc;
}

/* A condition of --fail-if; without a job it is only read. */
static int condition_holds(
	const void *job, const char *text, int *holds, char what[160], struct vpt_err *err)
{
	struct vpa_job_condition condition;
	int rc = vpa_job_condition_read(text, &condition, err);

	return rc || !job ? rc : vpa_job_condition_holds(&condition, job, holds, what, err);
}

/* Before the work: the changes. *count: how many of the room there are. */
static int read_changes(const struct vpt_args *args,
	struct vpa_job_change room[VPA_JOB_CHANGES_MOST], size_t *count, struct vpt_err *err)
{
	size_t i;
	int rc = VPT_OK;

	for (i = args->default_count, *count = 0; i < args->given_count && !rc; i++) {
		if (args->given[i].option != CHANGE)
			continue;
		if (*count == VPA_JOB_CHANGES_MOST)
			return vpt_fail(err, VPT_EINVAL, "--change: expected at most %d changes",
				VPA_JOB_CHANGES_MOST);
		rc = vpa_job_change_read(args->given[i].text, &room[(*count)++], err);
	}
	return rc;
}

/* Before the work: how the conditions are written. */
static int check_conditions(const struct vpt_args *args, struct vpt_err *err)
{
	int held, rc = vpa_fail_if_jobs(args, FAIL_IF, condition_holds, NULL, &held, err);

	if (!rc && vpt_has(args, WEAK) && !vpt_has(args, BASE))
		rc = vpt_fail(err, VPT_EINVAL, "--weak needs --base");
	return rc;
}

static int read_operands(const struct vpt_args *args, struct vpa_options *o,
	struct vpa_rank_list *out, int *damaged, struct vpt_err *err, void *ctx)
{
	(void)ctx;
	return vpa_rank_inputs_read(args->operands, args->operand_count, o,
		!vpt_has(args, NO_PROGRESS), out, damaged, err);
}

int vpa_ranks_run(const struct vpt_args *args, vpa_ranks_read_fn *read, void *ctx)
{
	struct vpa_options o = {.top = 1};
	struct vpa_rank_list ranks = {.count = 0};
	struct vpa_job_change asked[VPA_JOB_CHANGES_MOST];
	struct vpa_job *job = NULL;
	struct vpt_err err = {0};
	char *rules_text = NULL;
	size_t asked_count = 0;
	int is_whole = 1, damaged = 0, held = 0, rc = vpa_shared_options_read(args, &o, &err);

	if (!rc)
		rc = check_conditions(args, &err);
	if (!rc)
		rc = read_changes(args, asked, &asked_count, &err);
	if (!rc)
		rc = vpa_out_check(args, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), &err);
	if (!rc)
		rc = vpa_rules_option_read(args, &o, &rules_text, &err);
	if (!rc)
		rc = read(args, &o, &ranks, &damaged, &err, ctx);
	ranks.jobs = o.jobs;
	if (!rc)
		rc = is_summary_of_one(args, &ranks)
			     ? vpa_job_new_alone(&ranks, &job, &err)
			     : vpa_job_new_asked(&ranks, asked, asked_count, &job, &err);
	if (!rc)
		rc = vpa_patterns_find(job, &err);
	if (!rc)
		rc = vpa_job_figures_find(job, &err);
	if (!rc)
		rc = compare_base(args, &o, job, &err);
	if (!rc)
		rc = render(args, job, &err);
	if (!rc)
		rc = vpa_fail_if_jobs(args, FAIL_IF, condition_holds, job, &held, &err);
	if (!rc)
		is_whole = !damaged && !job->incomplete;
	vpa_job_free(job);
	vpa_rank_list_free(&ranks);
	vpt_free(rules_text);
	if (rc)
		return vpa_failed(&err);
	if (held)
		return VPT_EXIT_LIMIT;
	return is_whole ? VPT_EXIT_DONE : VPT_EXIT_DAMAGED;
}

static int run(const struct vpt_args *args)
{
	return vpa_ranks_run(args, read_operands, NULL);
}

const struct vpt_command vpa_cmd_ranks = {
	.program = VPA_PROGRAM,
	.name = "ranks",
	.usage = "FILE|FOLDER... [options]",
	.help = "report which ranks of a job wait for which others, and why",
	.about =
		"Each file is a capture of one rank or of several, a trace of PyTorch's profiler,\n"
		"an export of Nsight Systems, a summary (.vps), or an archive of such files "
		"(.tar,\n"
		".tar.gz, .tar.zst); a folder is all files in it. Collectives of different ranks\n"
		"are matched by their communicator, else by their order on the stream, and the\n"
		"clocks of hosts by the moments at which collectives end.\n"
		"\n"
		"In a collective a rank waits until the last one has come. That one is to blame:\n"
		"since the collective before, it did more of something than the waiting rank. The\n"
		"differences sum to the wait.\n"
		"\n"
		"With --change 'all: host X [in PLACE]' the host's own code takes X times as "
		"long,\n"
		"with 'all: scale FAMILY|KIND X [in PLACE]' kernels of a family, or copies of a\n"
		"kind (HtoD ...); '3: ...' is rank 3 only, '0, 4 to 6: ...' four of them. 'ranks\n"
		"all:' and 'rank 3:' are the same. X is at most 1. PLACE is one that LATER BY\n"
		"shows, or a pattern. With --change 'rank 3 like median' the rank takes no longer\n"
		"between collectives than the median of its group; 'ranks 0, 3' and 'all' can be\n"
		"asked about, too. With 'all: scale comm X', or all-reduce, all-gather and so on\n"
		"for comm, collectives transfer X times as long. Several changes are replayed\n"
		"together. Other changes of what-if need single calls, which ranks that are laid\n"
		"beside others do not keep.\n"
		"\n"
		"A file that cannot be read is named, and the others are reported. Of the summary\n"
		"of one rank alone what it knows is printed: its time, stages and samples.\n"
		"\n"
		"Where captures lie on the disks of many nodes, vptrace-ranks-mpi reads them "
		"there,\n"
		"if it was built: srun vptrace-ranks-mpi --local FOLDER. Its report is the same.",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.more_operands = 1,
	.run = run,
};
