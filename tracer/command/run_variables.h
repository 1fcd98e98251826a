/* run_variables.h - the environment of the command: what loads the tracer, and what it obeys. */
#ifndef VPTRACE_TRACER_COMMAND_RUN_VARIABLES_H
#define VPTRACE_TRACER_COMMAND_RUN_VARIABLES_H

#include "formats/cli/command.h"
#include "tracer/command/base/install_places.h"

/* Sets the variables in this process's own environment, which the command inherits, and checks all
 * of them as the library will, and marks as the command's Python will: `python`, "" where there is none. VPT_EINVAL with a
 * sentence: another tool is in the way, an option is invalid, the output cannot be written. VPT_ENOMEM. */
int vtr_variables_set(const struct vpt_args *args, const struct vtr_places *places,
	const char *python, struct vpt_err *err);

/* The parts of that check, for `vptrace doctor`; each changes nothing. VPT_EINVAL: a profiler of
 * NVIDIA's is in the environment; the variables for CUDA's or NVTX's injection name other tools
 * that cannot be chained. */
int vtr_variables_check_tools(struct vpt_err *err);
int vtr_variables_check_injections(struct vpt_err *err);

#endif
