/* cmd_merge.c - summaries of ranks become one; in whatever order and however often, with the same bytes. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/rank_inputs.h"
#include "analysis/commands/base/shared_options.h"

#include "analysis/base/jobs.h"
#include "analysis/ranks/rank/file/rank_file.h"
#include "analysis/ranks/rank/rank_threads.h"
#include "formats/base/memory.h"

enum { OUTPUT, MEMORY, FORCE, OPTIONS };

enum { FILES_LEAST = 16 /* that threads are begun for */ };

static const struct vpt_option options[OPTIONS] = {
	[OUTPUT] = VPA_SUMMARY_OUTPUT_OPTION,
	[MEMORY] = VPA_MEMORY_OPTION,
	[FORCE] = VPA_FORCE_OPTION,
};

/* Files that are read in threads; each thread has its own blocks, since their order does not matter. */
struct reading {
	const char *const *paths;
	struct vpa_rank_blocks blocks[VPA_RANK_THREADS_MOST];
	struct failed {
		int rc;
		struct vpt_err err;
	} * files;
};

static int read_one(void *ctx, unsigned thread, size_t i)
{
	struct reading *r = ctx;
	struct failed *f = &r->files[i];
	struct vpt_source *src;

	f->rc = vpt_source_open(r->paths[i], &src, &f->err);
	if (!f->rc) {
		f->rc = vpa_rank_blocks_read(&r->blocks[thread], src, &f->err);
		vpt_source_close(src);
	}
	return f->rc == VPT_ENOMEM ? VPT_ENOMEM : VPT_OK;
}

/* Says what is wrong with files, in their order. A file without memory is the first one that says so. */
static int say_failed(const struct reading *r, size_t count, int *damaged, struct vpt_err *err)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (r->files[i].rc == VPT_ENOMEM) {
			*err = r->files[i].err;
			return VPT_ENOMEM;
		}
		if (!r->files[i].rc)
			continue;
		vpa_say("%s", r->files[i].err.text);
		++*damaged;
	}
	return VPT_OK;
}

static int read_all(const struct vpt_args *args, struct vpa_rank_blocks *blocks, int *damaged,
	struct vpt_err *err)
{
	size_t count = args->operand_count, i;
	struct reading r = {.paths = args->operands, .files = vpt_calloc(count, sizeof(*r.files))};
	int rc;

	if (!r.files)
		return vpt_fail(err, VPT_ENOMEM, "no memory for %zu files", count);
	vpa_in_threads(
		count < FILES_LEAST ? 1 : vpa_jobs(0, VPA_RANK_THREADS_MOST), count, read_one, &r);
	rc = say_failed(&r, count, damaged, err);
	for (i = 0; i < VPA_RANK_THREADS_MOST; i++) {
		if (!rc && vpa_rank_blocks_join(blocks, &r.blocks[i]))
			rc = vpt_fail(err, VPT_ENOMEM, "no memory for the ranks");
		vpa_rank_blocks_free(&r.blocks[i]);
	}
	vpt_free(r.files);
	if (rc)
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
