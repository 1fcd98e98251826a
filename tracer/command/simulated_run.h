/* simulated_run.h - the command line of a run, with --simulate. */
#ifndef VPTRACE_TRACER_COMMAND_SIMULATED_RUN_H
#define VPTRACE_TRACER_COMMAND_SIMULATED_RUN_H

#include "formats/cli/command.h"

/* "vptrace run --simulate -o run.zst -- python3 generate.py", quoted for a shell. `args`: as typed, before those of a
 * file are added. --profile is left out, since --simulate has its own. The caller frees it. NULL: no memory. */
char *vtr_simulated_run(const struct vpt_args *args);

#endif
