/* manual.h - what is made of the commands' own tables besides --help: manual pages, and completion for
 * bash and zsh.
 *
 * Each function writes one whole file. Failures to write show in ferror(). */
#ifndef VPA_ANALYSIS_COMMANDS_MANUAL_MANUAL_H
#define VPA_ANALYSIS_COMMANDS_MANUAL_MANUAL_H

#include "analysis/commands/command.h"

#include <stdio.h>

/* Every command, the one that needs no name first; ends with NULL. */
extern const struct vpa_command *const vpa_manual_commands[];

/* man(7): the program as a whole, and one command of it. */
void vpa_manual_man(FILE *out);
void vpa_manual_man_command(FILE *out, const struct vpa_command *command);

void vpa_manual_bash(FILE *out);
void vpa_manual_zsh(FILE *out);

/* ---- what the two completions share ---- */

/* What an option takes. */
enum vpa_operand {
	VPA_OPERAND_NONE,
	VPA_OPERAND_WORDS, /* one of some words */
	VPA_OPERAND_FILE,
	VPA_OPERAND_TEXT /* nothing that could be completed */
};

/* Sets *words, "" unless it is one of them, to words between blanks: valid until the next call. */
enum vpa_operand vpa_manual_operand(const struct vpa_option *option, const char **words);

#endif
