/* manual.h - generates manual pages, and completion for bash and zsh, from the commands' tables.
 *
 * Each function writes one complete file. Check ferror() for write failures. */
#ifndef VPA_ANALYSIS_COMMANDS_MANUAL_MANUAL_H
#define VPA_ANALYSIS_COMMANDS_MANUAL_MANUAL_H

#include "analysis/commands/command.h"

#include <stdio.h>

/* Every command, the default one first; ends with NULL. */
extern const struct vpa_command *const vpa_manual_commands[];

/* man(7) pages: the program as a whole; one of its commands. */
void vpa_manual_man(FILE *out);
void vpa_manual_man_command(FILE *out, const struct vpa_command *command);

void vpa_manual_bash(FILE *out);
void vpa_manual_zsh(FILE *out);

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
