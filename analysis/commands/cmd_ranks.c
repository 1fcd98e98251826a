/* cmd_ranks.c - several ranks of one job: who waits for whom, and why. */
#include "analysis/commands/command.h"
#include "analysis/commands/rank_inputs.h"
#include "analysis/commands/shared_options.h"
#include "formats/cli/terminal.h"

#include "analysis/ranks/render/ranks_pages.h"
#include "formats/base/memory.h"

enum {
	FORMAT,
	OUTPUT,
	FROM,
	TO,
	RANGE,
	REQUEST,
	RULES,
	JOBS,
	MEMORY,
	FORCE,
	NO_PROGRESS,
	COLOR,
	OPTIONS
};

static const struct vpt_option options[OPTIONS] = {
	[FORMAT] = {"format", 'f', VPT_CHOICE, "text|json|md", "text",
		"output format; md: Markdown"},
	[OUTPUT] = VPA_OUTPUT_OPTION,
	[FROM] = VPA_FROM_OPTION("the start of each capture"),
	[TO] = VPA_TO_OPTION("the start of each capture"),
	[RANGE] = VPA_RANGE_OPTION("windows"),
	[REQUEST] = VPA_REQUEST_OPTION("windows"),
	[RULES] = VPA_RULES_OPTION("analyze --help"),
	[JOBS] = VPA_JOBS_OPTION,
	[MEMORY] = VPA_MEMORY_OPTION,
	[FORCE] = VPA_FORCE_OPTION,
	[NO_PROGRESS] = VPA_NO_PROGRESS_OPTION,
	[COLOR] = VPA_COLOR_OPTION,
};

static int render(const struct vpt_args *args, const struct vpa_job *job, struct vpt_err *err)
{
	struct vpa_page page;
	struct vpt_out o;
	int rc = vpt_out_open(&o, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), err);

	if (rc)
		return rc;
	if (vpt_is(args, FORMAT, "json")) {
		o.failed = vpa_ranks_json(job, o.sink, &o.err);
	} else if (vpt_is(args, FORMAT, "md")) {
		o.failed = vpa_ranks_markdown(job, o.sink, &o.err);
	} else {
		vpa_page_init(&page, o.sink, vpt_terminal_width(&o),
			vpt_terminal_colour(&o, vpt_text_of(args, COLOR)), &o.err);
		vpa_ranks_put(&page, job);
		o.failed = page.rc;
	}
	return vpt_out_close(&o, 1, err);
}

static int run(const struct vpt_args *args)
{
	struct vpa_options o = {.top = 1};
	struct vpa_rank_list ranks = {.count = 0};
	const char *rules = vpt_text_of(args, RULES);
	struct vpa_job *job = NULL;
	struct vpt_err err = {0};
	char *rules_text = NULL;
	int is_whole = 1, damaged = 0, rc = vpa_shared_options_read(args, &o, &err);

	if (!rc)
		rc = vpa_out_check(args, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), &err);
	if (!rc && rules)
		rc = vpa_file_read(rules, &rules_text, &o.rules_len, &err);
	o.rules = rules_text;
	if (!rc)
		rc = vpa_rank_inputs_read(
			args, &o, !vpt_has(args, NO_PROGRESS), &ranks, &damaged, &err);
	if (!rc)
		rc = vpa_job_new(&ranks, &job, &err);
	if (!rc)
		rc = render(args, job, &err);
	if (!rc)
		is_whole = !damaged && !job->incomplete;
	vpa_job_free(job);
	vpa_rank_list_free(&ranks);
	vpt_free(rules_text);
	if (rc)
		return vpa_failed(&err);
	return is_whole ? VPT_EXIT_DONE : VPT_EXIT_DAMAGED;
}

const struct vpt_command vpa_cmd_ranks = {
	.program = VPA_PROGRAM,
	.name = "ranks",
	.usage = "FILE|FOLDER... [options]",
	.help = "report which ranks of a job wait for which others, and why",
	.about =
		"Each file is a capture of one rank or of several; of a folder, all files that\n"
		"are traces. Collectives of different ranks are matched by their communicator,\n"
		"else by their order on the stream, and the clocks of hosts by the moments at\n"
		"which collectives end.\n"
		"\n"
		"In a collective a rank waits until the last one has come. That one is to blame:\n"
		"since the collective before, it did more of something than the waiting rank. The\n"
		"differences sum to the wait.\n"
		"\n"
		"A file that cannot be read is named, and the others are reported.",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.more_operands = 1,
	.run = run,
};
