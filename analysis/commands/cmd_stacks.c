/* cmd_stacks.c - Python stacks as a flame graph: which of them the GPU waited for, and which launched its work. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/shared_options.h"

#include "analysis/flame/flame.h"
#include "formats/base/memory.h"

enum { OF, FORMAT, NO_MERGE, OUTPUT, VPA_WINDOW_IDS, VPA_WORK_IDS, NO_PROGRESS, OPTIONS };

/* In the order of enum vpa_flame_of. */
#define OF_WORDS "idle|sync|launches|all"

static const struct vpt_option options[OPTIONS] = {
	[OF] = {"of", '\0', VPT_CHOICE, OF_WORDS, "idle", "what the widths show; see above"},
	[FORMAT] = VPA_FORMAT_OPTION("svg|folded|speedscope", "svg", "; see above"),
	[NO_MERGE] = {"no-merge", '\0', VPT_FLAG, NULL, NULL,
		"keep apart what differs only in a number, like Block_0 and Block_1"},
	[OUTPUT] = VPA_OUTPUT_OPTION,
	VPA_WINDOW_OPTIONS("the capture's start", "window", "analyze --help"),
	VPA_WORK_OPTIONS,
	[NO_PROGRESS] = VPA_NO_PROGRESS_OPTION,
};

static enum vpa_flame_of what(const struct vpt_args *args)
{
	static const char *const words[] = {
		[VPA_FLAME_IDLE] = "idle",
		[VPA_FLAME_SYNC] = "sync",
		[VPA_FLAME_LAUNCHES] = "launches",
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (vpt_is(args, OF, words[i]))
			return (enum vpa_flame_of)i;
	return VPA_FLAME_ALL;
}

static int put(const struct vpt_args *args, const struct vpa_report *r, struct vpt_out *o)
{
	struct vpa_flame flame;
	int rc = vpa_flame_build(r, what(args), !vpt_has(args, NO_MERGE), &flame);

	if (rc)
		rc = vpt_fail(&o->err, rc, "no memory for the stacks");
	else if (vpt_is(args, FORMAT, "folded"))
		rc = vpa_flame_folded(&flame, o->sink, &o->err);
	else if (vpt_is(args, FORMAT, "speedscope"))
		rc = vpa_flame_speedscope(&flame, r->path, o->sink, &o->err);
	else
		rc = vpa_flame_svg(&flame, r->path, o->sink, &o->err);
	vpa_flame_free(&flame);
	return rc;
}

static int render(const struct vpt_args *args, const struct vpa_report *r, struct vpt_err *err)
{
	struct vpt_out o;
	int rc;

	if (r->lines.stack_count < 2)
		return vpt_fail(err, VPT_EDATA,
			"%s has no Python stacks: record them with VPTRACE_STACKS, or "
			"with_stack=True in PyTorch's profiler",
			r->path);
	if (!r->device_count)
		return vpt_fail(err, VPT_EDATA,
			"nothing to draw: %s has no work on a GPU%s, so no stack delayed or "
			"launched any",
			r->path, r->window_note ? " in this window" : "");
	rc = vpt_out_open(&o, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), err);
	if (rc)
		return rc;
	if (o.to_terminal && !vpt_is(args, FORMAT, "folded")) {
		vpt_out_close(&o, 0, NULL);
		return vpt_fail(
			err, VPT_EINVAL, "this format is not written to a terminal: use -o FILE");
	}
	o.failed = put(args, r, &o);
	return vpt_out_close(&o, 1, err);
}

static int read_report(const struct vpt_args *args, struct vpa_report **report, struct vpt_err *err)
{
	const char *path = args->operands[0];
	struct vpa_options o = {0};
	char *text = NULL;
	int rc = vpa_shared_options_read(args, &o, err);

	if (!rc)
		rc = vpa_out_check(args, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), err);
	if (!rc)
		rc = vpa_rules_option_read(args, &o, &text, err);
	if (!rc)
		rc = vpa_trace_report(path, &o, !vpt_has(args, NO_PROGRESS), report, err);
	vpt_free(text);
	return rc;
}

static int run(const struct vpt_args *args)
{
	struct vpa_report *report = NULL;
	struct vpt_err err = {0};
	int rc = read_report(args, &report, &err), complete = 1;

	if (!rc) {
		complete = report->verdict.complete;
		rc = render(args, report, &err);
	}
	vpa_report_free(report);
	if (rc)
		return vpa_failed(&err);
	return complete ? VPT_EXIT_DONE : VPT_EXIT_DAMAGED;
}

const struct vpt_command vpa_cmd_stacks = {
	.program = VPA_PROGRAM,
	.name = "stacks",
	.usage = "FILE [--of WHAT] [--format FORMAT] [-o FILE] [options]",
	.help = "draw a flame graph of GPU idle time, or of launched work, by Python stack",
	.about = "WHAT the widths show:\n"
		 "  idle        time in which the GPU was idle because of the stack; the last\n"
		 "              frame is the cause\n"
		 "  sync        the part of idle in which the host waited in a sync or a\n"
		 "              blocking copy\n"
		 "  launches    time of the kernels, copies and memsets that the stack launched\n"
		 "  all         idle and launches\n"
		 "\n"
		 "FORMAT:\n"
		 "  svg         a picture for a browser, which needs nothing else; click to zoom\n"
		 "  folded      a line per stack with nanoseconds, for flamegraph.pl and inferno\n"
		 "  speedscope  JSON for speedscope.app\n"
		 "\n"
		 "Callees of one frame whose names differ only in a number at the end, like the\n"
		 "layers of a model in PyTorch's traces, are one frame, Block_*, with the sum of\n"
		 "their times.",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.run = run,
};
