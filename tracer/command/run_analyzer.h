/* run_analyzer.h - vptrace-analyze, run by the launcher. */
#ifndef VPTRACE_TRACER_COMMAND_RUN_ANALYZER_H
#define VPTRACE_TRACER_COMMAND_RUN_ANALYZER_H

#include <stddef.h>

/* Runs it in place of this process, with `argv`, which ends with NULL; argv[0] is set here. Returns
 * an exit status only if it cannot be run, after saying why. */
int vtr_analyzer_become(char **argv);

/* Runs it with `argv` and reads its standard output, cut at `size`, with a NUL; its standard error
 * is discarded. Returns its exit status, or -1 if it cannot be run. */
int vtr_analyzer_ask(const char *program, const char *const *argv, char *out, size_t size);

/* Runs it with `argv`, its output on ours. Returns its exit status, or -1. */
int vtr_analyzer_show(const char *program, const char *const *argv);

#endif
