/* run_program.h - other programs, run by the launcher: without what loads the tracer into the traced command. */
#ifndef VPTRACE_TRACER_COMMAND_BASE_RUN_PROGRAM_H
#define VPTRACE_TRACER_COMMAND_BASE_RUN_PROGRAM_H

#include <stddef.h>

/* Exit statuses besides a program's own, as a shell has them. */
enum { VTR_EXIT_CANNOT_EXECUTE = 126, VTR_EXIT_NOT_FOUND = 127, VTR_EXIT_SIGNAL = 128 };

/* Runs vptrace-analyze in place of this process, with `argv`, which ends with NULL; argv[0] is set here. Returns
 * an exit status only if it cannot be run, after saying why. */
int vtr_analyzer_become(char **argv);

/* Runs a program in place of this process, with `argv`. Returns only if it cannot be run. */
void vtr_program_become(const char *program, const char *const *argv);

/* Runs a program with `argv` and reads its standard output, cut at `size`, with a NUL; its standard error
 * is discarded. Returns its exit status, or -1 if it cannot be run. */
int vtr_program_ask(const char *program, const char *const *argv, char *out, size_t size);

/* Runs a program with `argv`, its output on ours. Returns its exit status, or -1. */
int vtr_program_show(const char *program, const char *const *argv);

#endif
