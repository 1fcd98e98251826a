/* terminal.h - the layout of a report that is printed for people. */
#ifndef VPT_FORMATS_CLI_TERMINAL_H
#define VPT_FORMATS_CLI_TERMINAL_H

#include "formats/cli/command.h"

/* Columns of the terminal that shows the output: 40 to 400; 80 if it is none and COLUMNS is not set. */
unsigned vpt_terminal_width(const struct vpt_out *o);

/* Lines of the terminal that shows the output; 0 if it is none or has no size. */
unsigned vpt_terminal_height(const struct vpt_out *o);

/* Whether to use colours, by the choice "auto", "always" or "never"; auto obeys NO_COLOR. */
int vpt_terminal_colour(const struct vpt_out *o, const char *choice);

/* Whether TERM names no terminal that can move its cursor. */
int vpt_terminal_is_dumb(void);

#endif
