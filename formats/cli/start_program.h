/* start_program.h - starts another program beside this one. */
#ifndef VPT_FORMATS_CLI_START_PROGRAM_H
#define VPT_FORMATS_CLI_START_PROGRAM_H

#include <signal.h>
#include <sys/types.h>

/* Starts words[0], found in PATH, with `in` as its standard input and `out` as its standard output; -1: this program's own. Signals
 * that are ignored remain ignored in it, but for `defaults`. 0 or an errno. */
int vpt_start_program(pid_t *pid, char *const *words, int in, int out, const sigset_t *defaults);

#endif
