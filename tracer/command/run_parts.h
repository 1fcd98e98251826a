/* run_parts.h - what `vptrace run` does before, beside and after the command, each in a file of its own. */
#ifndef VPTRACE_TRACER_COMMAND_RUN_PARTS_H
#define VPTRACE_TRACER_COMMAND_RUN_PARTS_H

#include "formats/base/error.h"
#include "formats/cli/command.h"
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

/* Starts the process, before the command. `list`: path of the list. `target`: of watch; NULL: none. -1: it cannot be started. */
pid_t vtr_live_start(const char *list, const char *analyzer, const char *text, const char *target);

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

/* ---- run_sources.c: where each option of `vptrace run` has its value from: the command line, else the environment, else the
 * file of --config, else the default ---- */

enum vtr_origin { VTR_FROM_DEFAULT, VTR_FROM_FILE, VTR_FROM_ENVIRONMENT, VTR_FROM_COMMAND_LINE };

struct vtr_source {
	const char *name;     /* of the option, or of a variable that is none */
	const char *variable; /* NULL: none sets the option */
	enum vtr_origin origin;
	unsigned line; /* FILE */
	char *value;   /* NULL: there is none */
};

struct vtr_sources {
	const char *file; /* of --config; NULL: none */
	char *texts;      /* of the file, which args points into */
	struct vtr_source *all;
	size_t count;
};

/* Reads the file of --config, adds to `args` what neither the command line nor the environment says, and sets variables that
 * are no options. VPT_EINVAL: the file, a key or a value's type; VPT_ENOMEM. Free `out` after `args`, also after a failure. */
int vtr_sources_take(struct vpt_args *args, struct vtr_sources *out, struct vpt_err *err);

/* Says which line of the file an error is about, if its text begins with an option or variable from there. */
void vtr_sources_explain(const struct vtr_sources *s, struct vpt_err *err);

/* A line for each option: name, value, origin. */
void vtr_sources_print(const struct vtr_sources *s, struct vpt_out *out);

void vtr_sources_free(struct vtr_sources *s);

/* ---- run_summary.c: what was recorded, in one line for each file, or of several ranks for each rank ---- */

enum vtr_report { VTR_REPORT_NONE, VTR_REPORT_TEXT, VTR_REPORT_HTML };

/* How the command ended. */
struct vtr_ending {
	int status;    /* its exit status */
	int killed_by; /* a signal; 0: none */
};

/* The report that is wanted. */
struct vtr_wanted {
	enum vtr_report report;
	const char *target; /* of a report of one process; NULL: none */
};

/* Says it on standard error; the report goes to standard output. Sorts the files by rank. `analyzer` may be "". `simulated`: what
 * to type for the same run with --simulate. Returns 0, or -1: the tracer failed, and nothing was recorded. */
int vtr_summary(struct vtr_list *list, const char *analyzer, struct vtr_wanted wanted,
	const struct vtr_ending *ending, const char *simulated);

/* Whether the analyzer can write an HTML page. */
int vtr_summary_knows_html(const char *analyzer);

/* ---- simulated_run.c: the command line of a run, with --simulate ---- */

/* "vptrace run --simulate -o run.zst -- python3 generate.py", quoted for a shell. `args`: as typed, before those of a
 * file are added. --profile is left out, since --simulate has its own. The caller frees it. NULL: no memory. */
char *vtr_simulated_run(const struct vpt_args *args);

#endif
