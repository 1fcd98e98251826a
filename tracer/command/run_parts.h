/* run_parts.h - what `vptrace run` does before, beside and after the command, each in a file of its own. */
#ifndef VPTRACE_TRACER_COMMAND_RUN_PARTS_H
#define VPTRACE_TRACER_COMMAND_RUN_PARTS_H

#include "formats/base/error.h"
#include "tracer/command/processes/process_list.h"

#include <sys/types.h>

/* ---- the command as a child of the launcher: child.c ---- */

/* Starts `path` with `argv` and the environment, waits for its end, and passes signals on:
 * SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and SIGWINCH, if they were sent to the
 * launcher alone. A signal of the terminal, or one sent to the process group, has reached the
 * command already. The child has the signal mask and dispositions that the launcher was started
 * with. Returns the command's exit status: 128 and the signal's number if a signal killed it.
 * `*killed_by`: that signal; 0: none. */
int vtr_child_run(const char *path, char *const *argv, int *killed_by);

/* ---- --live, beside the command a process that follows its first capture: follow.c ---- */

/* Whether `text`, of --live, can be followed: "" (every 2 seconds), SECONDS, or prometheus:FILE. VPT_EINVAL with a
 * sentence. */
int vtr_live_check(const char *text, struct vpt_err *err);

/* Starts the process, before the command. `list`: path of the list. -1: it cannot be started. */
pid_t vtr_live_start(const char *list, const char *analyzer, const char *text);

/* After the command: lets it look at the end of the capture, and waits for it. */
void vtr_live_end(pid_t live);

/* ---- the flight recorders of the traced processes, and what is left of them: dead_rings.c ---- */

struct vtr_rings;

/* Opens a socket in a folder of its own, sets VPTRACE_RING_SOCKET, and receives the memory of each
 * ring in a thread. VPT_EIO: it cannot be made; rings die with their processes then. */
int vtr_rings_listen(struct vtr_rings **out, struct vpt_err *err);

/* After the command's end: writes each ring whose process did not write its own end, since it died
 * (cause `death`) or still runs (`leave`), adds the files to the list, and says what failed. Accepts
 * NULL. */
void vtr_rings_write(struct vtr_rings *rings, struct vtr_list *list);

void vtr_rings_free(struct vtr_rings *rings); /* accepts NULL */

/* ---- Pythons that recorded, and did not load the marks that they should have: pythons.c ---- */

/* Adds the first of them and their number to the list's marks, with the reason and what to do. */
void vtr_pythons_check(struct vtr_list *list);

#endif
