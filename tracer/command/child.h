/* child.h - the command as a child of the launcher. */
#ifndef VPTRACE_TRACER_COMMAND_CHILD_H
#define VPTRACE_TRACER_COMMAND_CHILD_H

/* Starts `path` with `argv` and the environment, waits for its end, and passes signals on:
 * SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and SIGWINCH, if they were sent to the
 * launcher alone. A signal of the terminal, or one sent to the process group, has reached the
 * command already. The child has the signal mask and dispositions that the launcher was started
 * with. Returns the command's exit status: 128 and the signal's number if a signal killed it.
 * `*killed_by`: that signal; 0: none. */
int vtr_child_run(const char *path, char *const *argv, int *killed_by);

#endif
