/* cmd_summarize.c - captures become the few numbers that a report of several ranks needs. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/rank_inputs.h"
#include "analysis/commands/base/shared_options.h"

#include "analysis/ranks/rank/file/rank_file.h"
#include "formats/base/memory.h"

enum { OUTPUT, VPA_WINDOW_IDS, VPA_WORK_IDS, NO_PROGRESS, OPTIONS };

static const struct vpt_option options[OPTIONS] = {
	[OUTPUT] = VPA_SUMMARY_OUTPUT_OPTION,
	VPA_WINDOW_OPTIONS("the start of each capture", "windows", "analyze --help"),
	VPA_WORK_OPTIONS,
	[NO_PROGRESS] = VPA_NO_PROGRESS_OPTION,
};

static int pack(struct vpa_rank_list *ranks, struct vpa_rank_blocks *blocks, struct vpt_err *err)
{
	size_t i;

	for (i = 0; i < ranks->count; i++)
		if (vpa_rank_blocks_add(blocks, ranks->items[i]))
			return vpt_fail(err, VPT_ENOMEM, "no memory for a summary");
	return VPT_OK;
}

static int run(const struct vpt_args *args)
{
	struct vpa_options o = {.top = 1};
	struct vpa_rank_list ranks = {.count = 0};
	struct vpa_rank_blocks blocks = {.count = 0};
	struct vpt_err err = {0};
	char *rules_text = NULL;
	int damaged = 0, rc = vpa_shared_options_read(args, &o, &err);

	if (!rc && !vpt_has(args, OUTPUT))
		rc = vpt_fail(
			&err, VPT_EINVAL, "summarize: expected -o FILE, the summary to write");
	if (!rc)
		rc = vpa_out_check(args, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), &err);
	if (!rc)
		rc = vpa_rules_option_read(args, &o, &rules_text, &err);
	if (!rc)
		rc = vpa_rank_inputs_read(args->operands, args->operand_count, &o,
			!vpt_has(args, NO_PROGRESS), &ranks, &damaged, &err);
	if (!rc)
		rc = pack(&ranks, &blocks, &err);
	if (!rc)
		rc = vpa_rank_output_write(
			&blocks, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), &err);
	vpa_rank_blocks_free(&blocks);
	vpa_rank_list_free(&ranks);
	vpt_free(rules_text);
	if (rc)
		return vpa_failed(&err);
	return damaged ? VPT_EXIT_DAMAGED : VPT_EXIT_DONE;
}

const struct vpt_command vpa_cmd_summarize = {
	.program = VPA_PROGRAM,
	.name = "summarize",
	.usage = "FILE|FOLDER... -o NAME.vps [options]",
	.help = "condense captures of ranks to what `ranks` needs of them",
	.about = "One process for each capture, on the node where it lies; then `merge` joins the\n"
		 "summaries and `ranks` reports them, as it does the captures themselves:\n"
		 "\n"
		 "  vptrace-analyze summarize rank3.zst -o rank3.vps\n"
		 "  vptrace-analyze merge *.vps -o all.vps\n"
		 "  vptrace-analyze ranks all.vps",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.more_operands = 1,
	.run = run,
};
