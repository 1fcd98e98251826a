/* pager.h - shows a long answer on a terminal through a pager, as git does.
 *
 * The pager is $VPTRACE_PAGER, else $PAGER, else less. An empty value and "cat" mean none. */
#ifndef VPA_ANALYSIS_COMMANDS_BASE_PAGER_H
#define VPA_ANALYSIS_COMMANDS_BASE_PAGER_H

#include "analysis/commands/base/analyzer_command.h"

/* Collects what is printed to `o` from now on. vpt_out_close() shows it: through the pager if it has at
 * least as many lines as the terminal, else as it is. A pager that is quit early is no error; one that
 * cannot be started is replaced by plain output. No effect unless `o` is a terminal of known height, other
 * than a dumb one, and a pager is set. On VPT_ENOMEM `o` is unchanged. */
int vpa_pager_begin(struct vpt_out *o, struct vpt_err *err);

#endif
