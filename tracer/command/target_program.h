/* target_program.h - the command to run: found, and whether it can be traced. */
#ifndef VPTRACE_TRACER_COMMAND_TARGET_PROGRAM_H
#define VPTRACE_TRACER_COMMAND_TARGET_PROGRAM_H

#include "formats/base/error.h"

#include <limits.h>

/* Finds a command as a shell does and looks at its program, or the interpreter of a script. 0, and
 * its path. Else an exit status, and a sentence in `err`: VTR_EXIT_NOT_FOUND,
 * VTR_EXIT_CANNOT_EXECUTE, or VPT_EXIT_MISUSED for what cannot be traced: a static or 32-bit
 * program, a setuid one. `python`: the Python that it or its script is run by, else that of PATH; "": there is none. */
int vtr_target_find(
	const char *command, char path[PATH_MAX], char python[PATH_MAX], struct vpt_err *err);

#endif
