/* help.h - --help, and its texts that manual pages and completions reuse. */
#ifndef VPA_ANALYSIS_COMMANDS_HELP_H
#define VPA_ANALYSIS_COMMANDS_HELP_H

#include "analysis/commands/command.h"

/* ---- words ---- */

extern const char vpa_help_title[];     /* what the program is for */
extern const char vpa_help_inputs[];    /* what FILE may be */
extern const char vpa_help_durations[]; /* how a TIME is written */
extern const struct vpa_option vpa_help_option;

/* The meaning of each exit code, by number. */
extern const char *const vpa_exit_texts[];
extern const unsigned vpa_exit_count;

enum { VPA_HELP_MAX = 500 };

/* How a flag, an argument that may be left out, and another one follow the option's name. */
enum vpa_help_join { VPA_HELP_ALONE, VPA_HELP_MAYBE, VPA_HELP_ARGUMENT };
enum vpa_help_join vpa_help_join(const struct vpa_option *option);

/* The name of an option's argument in help. */
const char *vpa_help_argument(const struct vpa_option *option);

/* The program whose command it is. */
const char *vpa_help_program(const struct vpa_command *command);

/* An option's help, with its default in brackets if it is worth stating. */
void vpa_help_of(const struct vpa_option *option, char out[VPA_HELP_MAX]);

/* ---- pages ---- */

void vpa_help_overview(
	struct vpa_out *o, const struct vpa_command *const *commands, unsigned count);
void vpa_help_command(struct vpa_out *o, const struct vpa_command *command);

#endif
