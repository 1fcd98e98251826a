/* manual.h - generates manual pages, and completion for bash and zsh, from the commands' tables.
 *
 * Each function writes one complete file. Check ferror() for write failures. */
#ifndef VPT_FORMATS_CLI_MANUAL_MANUAL_H
#define VPT_FORMATS_CLI_MANUAL_MANUAL_H

#include "formats/cli/help.h"

#include <stdio.h>

/* vptrace-analyze, which is linked in, and vptrace, see launcher.c. */
extern const struct vpt_program vpa_program, vtr_program;

/* man(7) pages: a program as a whole; one command. */
void vpt_manual_man(FILE *out, const struct vpt_program *program);
void vpt_manual_man_command(
	FILE *out, const struct vpt_program *program, const struct vpt_command *command);

void vpt_manual_bash(FILE *out, const struct vpt_program *program);
void vpt_manual_zsh(FILE *out, const struct vpt_program *program);

/* ---- shared by both completions ---- */

/* What an option takes. */
enum vpt_operand {
	VPT_OPERAND_NONE,
	VPT_OPERAND_WORDS, /* one of some words */
	VPT_OPERAND_FILE,
	VPT_OPERAND_TEXT /* no completion */
};

/* What the option takes. Sets *words to the words of VPT_OPERAND_WORDS, separated by blanks, else to
 * "". Valid until the next call. */
enum vpt_operand vpt_manual_operand(const struct vpt_option *option, const char **words);

#endif
