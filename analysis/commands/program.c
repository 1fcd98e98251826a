/* program.c - vptrace-analyze, as its help and manual pages describe it. */
#include "analysis/commands/base/analyzer_command.h"
#include "formats/cli/help.h"

#define VPT_COMMAND(id, name) &vpa_cmd_##id,
static const struct vpt_command *const commands[] = {
#include "formats/cli/analyzer.def"
	NULL};
#undef VPT_COMMAND

static const char *const exits[] = {
	[VPT_EXIT_DONE] = "done",
	[VPT_EXIT_FAILED] = "failed",
	[VPT_EXIT_MISUSED] = "misused",
	[VPT_EXIT_DAMAGED] = "input damaged or lossy\n(the answer is still printed)",
	[VPT_EXIT_LIMIT] = "a condition of --fail-if holds",
};

const struct vpt_program vpa_program = {
	.name = VPA_PROGRAM,
	.title = "report where the time of a GPU trace went",
	.about = "FILE is " VPT_TRACE_FILES("\n") "; - is standard input.\n\n"
						  "Without options, at most 40 lines are printed: "
						  "what limits the program, and what\n"
						  "to fix first. --full prints all, --target 16 "
						  "compares with 16 frames per second,\n"
						  "--format html -o report.html writes a page; "
						  "'vptrace-analyze help analyze' lists\n"
						  "all options.\n",
	.synopsis = ".B vptrace\\-analyze\n.I FILE\n.RI [ options ]\n.br\n"
		    ".B vptrace\\-analyze\n.I COMMAND\n.RI [ options ]\n.SH DESCRIPTION\n",
	.commands = commands,
	.exits = exits,
	.exit_count = sizeof(exits) / sizeof(exits[0]),
};
