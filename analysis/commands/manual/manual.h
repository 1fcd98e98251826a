/* manual.h - generates manual pages, and completion for bash and zsh, from the commands' tables.
 *
 * Each function writes one complete file. Check ferror() for write failures. */
#ifndef VPA_ANALYSIS_COMMANDS_MANUAL_MANUAL_H
#define VPA_ANALYSIS_COMMANDS_MANUAL_MANUAL_H

#include "analysis/commands/command.h"

#include <stdio.h>

/* A program with commands. */
struct vpa_manual_program {
	const char *name;
	const char *alias; /* another word for the default command; NULL: none */
	/* The default command first, which needs no word; ends with NULL. */
	const struct vpa_command *const *commands;
};

/* man(7) pages: vptrace-analyze as a whole; vptrace; one command. */
void vpa_manual_man(FILE *out, const struct vpa_manual_program *program);
void vpa_manual_man_launcher(FILE *out, const struct vpa_manual_program *program);
void vpa_manual_man_command(
	FILE *out, const struct vpa_manual_program *program, const struct vpa_command *command);

void vpa_manual_bash(FILE *out, const struct vpa_manual_program *program);
void vpa_manual_zsh(FILE *out, const struct vpa_manual_program *program);

/* ---- shared by both completions ---- */

/* What an option takes. */
enum vpa_operand {
	VPA_OPERAND_NONE,
	VPA_OPERAND_WORDS, /* one of some words */
	VPA_OPERAND_FILE,
	VPA_OPERAND_TEXT /* no completion */
};

/* What the option takes. Sets *words to the words of VPA_OPERAND_WORDS, separated by blanks, else to
 * "". Valid until the next call. */
enum vpa_operand vpa_manual_operand(const struct vpa_option *option, const char **words);

#endif
