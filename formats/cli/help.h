/* help.h - --help, and its texts that manual pages and completions reuse. */
#ifndef VPT_FORMATS_CLI_HELP_H
#define VPT_FORMATS_CLI_HELP_H

#include "formats/cli/command.h"

/* A program with commands. */
struct vpt_program {
	const char *name;
	const char *alias; /* another word for the default command; NULL: none */
	const char *title; /* what it is for */
	const char *about; /* more text for --help; NULL: none */
	const char
		*synopsis; /* SYNOPSIS and what begins DESCRIPTION of its manual page, in man(7) */
	/* The default command first, which needs no word; ends with NULL. */
	const struct vpt_command *const *commands;
	/* The meaning of each exit code, by number; NULL: they are another program's. */
	const char *const *exits;
	unsigned exit_count;
};

/* ---- words ---- */

extern const char vpt_help_durations[]; /* how a TIME is written */
extern const struct vpt_option vpt_help_option;

enum { VPT_HELP_MAX = 500 };

/* How a flag, an argument that may be left out, and another one follow the option's name. */
enum vpt_help_join { VPT_HELP_ALONE, VPT_HELP_MAYBE, VPT_HELP_ARGUMENT };
enum vpt_help_join vpt_help_join(const struct vpt_option *option);

/* The name of an option's argument in help. */
const char *vpt_help_argument(const struct vpt_option *option);

/* An option's help, with its default in brackets if it is worth stating. */
void vpt_help_of(const struct vpt_option *option, char out[VPT_HELP_MAX]);

/* ---- pages ---- */

void vpt_help_overview(struct vpt_out *o, const struct vpt_program *program);
void vpt_help_command(struct vpt_out *o, const struct vpt_command *command);

/* Prints a command's help to standard output. 0, or an error code if it cannot be written. */
int vpt_help_print(const struct vpt_command *command, struct vpt_err *err);

#endif
