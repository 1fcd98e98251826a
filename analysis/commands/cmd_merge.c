/* cmd_merge.c - summaries of ranks become one; in whatever order and however often, with the same bytes. */
#include "analysis/commands/base/command.h"
#include "analysis/commands/base/rank_inputs.h"
#include "analysis/commands/base/shared_options.h"

#include "analysis/ranks/rank/file/rank_file.h"

enum { OUTPUT, MEMORY, FORCE, OPTIONS };

static const struct vpt_option options[OPTIONS] = {
	[OUTPUT] = VPA_SUMMARY_OUTPUT_OPTION,
	[MEMORY] = VPA_MEMORY_OPTION,
	[FORCE] = VPA_FORCE_OPTION,
};

static int read_all(const struct vpt_args *args, struct vpa_rank_blocks *blocks, int *damaged,
	struct vpt_err *err)
{
	struct vpt_source *src;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < args->operand_count && rc != VPT_ENOMEM; i++) {
		rc = vpt_source_open(args->operands[i], &src, err);
		if (!rc) {
			rc = vpa_rank_blocks_read(blocks, src, err);
			vpt_source_close(src);
		}
		if (rc && rc != VPT_ENOMEM) {
			vpa_say("%s", err->text);
			++*damaged;
		}
	}
	if (rc == VPT_ENOMEM)
		return rc;
	return blocks->count ? VPT_OK : vpt_fail(err, VPT_EDATA, "none of the files has a rank");
}

static int run(const struct vpt_args *args)
{
	struct vpa_rank_blocks blocks = {.count = 0};
	struct vpt_err err = {0};
	int damaged = 0, rc = VPT_OK;

	if (!vpt_has(args, OUTPUT))
		rc = vpt_fail(&err, VPT_EINVAL, "merge: expected -o FILE, the summary to write");
	if (!rc)
		rc = vpa_out_check(args, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), &err);
	if (!rc)
		rc = read_all(args, &blocks, &damaged, &err);
	if (!rc)
		rc = vpa_rank_output_write(
			&blocks, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), &err);
	vpa_rank_blocks_free(&blocks);
	if (rc)
		return vpa_failed(&err);
	return damaged ? VPT_EXIT_DAMAGED : VPT_EXIT_DONE;
}

const struct vpt_command vpa_cmd_merge = {
	.program = VPA_PROGRAM,
	.name = "merge",
	.usage = "NAME.vps... -o ALL.vps [options]",
	.help = "join summaries of ranks",
	.about = "Summaries can be merged in any order, in steps, and twice: the result depends\n"
		 "only on which ranks are in them. A damaged file gives the ranks before the\n"
		 "damage.",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.more_operands = 1,
	.run = run,
};
