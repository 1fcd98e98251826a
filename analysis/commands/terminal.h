/* terminal.h - the layout of a report that is printed for people. */
#ifndef VPA_ANALYSIS_COMMANDS_TERMINAL_H
#define VPA_ANALYSIS_COMMANDS_TERMINAL_H

#include "analysis/commands/command.h"

/* Columns of the terminal that shows the output: 40 to 400; 80 if it is none and COLUMNS is not set. */
unsigned vpa_terminal_width(const struct vpa_out *o);

/* Lines of the terminal that shows the output; 0 if it is none or has no size. */
unsigned vpa_terminal_height(const struct vpa_out *o);

/* Whether to use colours, by the choice "auto", "always" or "never"; auto obeys NO_COLOR. */
int vpa_terminal_colour(const struct vpa_out *o, const char *choice);

#endif
