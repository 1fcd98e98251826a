/* launcher.c - vptrace, as its manual pages and completions describe it. What it passes to vptrace-analyze has that
 * program's options. */
#include "formats/cli/manual/manual.h"

/* The tables of both programs, which are linked in. */
#define VPT_COMMAND(id, name) extern const struct vpt_command vpa_cmd_##id;
#include "formats/cli/analyzer.def"
#undef VPT_COMMAND
extern const struct vpt_command vtr_command_run, vtr_command_doctor;

#define VPT_COMMAND(id, name) &vpa_cmd_##id,
static const struct vpt_command *const commands[] = {
#include "formats/cli/analyzer.def"
	&vtr_command_run, &vtr_command_doctor, NULL};
#undef VPT_COMMAND

const struct vpt_program vtr_program = {
	.name = "vptrace",
	.alias = "report",
	.title = "record the GPU work of a program, and see where the time went",
	.synopsis = ".B vptrace run\n.RI [ options ]\n.RB [ \\-\\- ]\n.I COMMAND\n.RI [ ARGUMENT "
		    "...]\n.br\n"
		    ".B vptrace report\n.I FILE\n.RI [ options ]\n.br\n"
		    ".B vptrace doctor\n.RI [ options ]\n.br\n"
		    ".B vptrace\n.I COMMAND\n.RI [ options ]\n.SH DESCRIPTION\n"
		    ".B vptrace run\nrecords a command, without changing it.\n"
		    ".B vptrace doctor\nchecks what can be recorded here.\n"
		    "All other commands are passed to\n.BR vptrace\\-analyze (1);\n"
		    ".B report\nis its\n.BR analyze .\n",
	.commands = commands,
};
