/* analyzer_command.h - what a command of vptrace-analyze is, and what commands share.
 *
 * A command is one file with one exported descriptor, see formats/cli/command.h.
 *
 * Commands print the answer to standard output or a file through struct vpt_out, messages to standard
 * error through vpa_say(), and return an exit code. */
#ifndef VPA_ANALYSIS_COMMANDS_BASE_ANALYZER_COMMAND_H
#define VPA_ANALYSIS_COMMANDS_BASE_ANALYZER_COMMAND_H

#include "formats/chunk/strings.h"
#include "formats/cli/command.h"
#include "formats/import/any_trace.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define VPA_PROGRAM "vptrace-analyze"

#define VPT_COMMAND(id, name) extern const struct vpt_command vpa_cmd_##id;
#include "formats/cli/analyzer.def"
#undef VPT_COMMAND

/* vptrace-analyze, for --help and its manual pages. */
struct vpt_program;
extern const struct vpt_program vpa_program;

/* VPT_EINVAL with a sentence if the window is empty or chosen twice. NULL: not given. */
int vpa_window_check(const struct vpt_given *from, const struct vpt_given *to, const char *range,
	struct vpt_err *err);

/* Whether the output `path` can be written and is no input, see below. Call it before a long computation. 0 or an
 * error code. */
int vpa_out_check(const struct vpt_args *args, const char *path, int force, struct vpt_err *err);

/* Prints one line on standard error, after the program's name. */
VPT_PRINTF(1, 2)
void vpa_say(const char *fmt, ...);

/* Bounds memory by --memory, where the command has it. */
void vpa_memory_bound(const struct vpt_args *args);

/* Reports a failure and returns the exit code. Silent if the reader of standard output is gone. */
int vpa_failed(const struct vpt_err *err);

/* Progress of a pass over a trace, shown on standard error if that is a terminal and the pass is
 * long. */
struct vpa_options;
struct vpa_progress {
	struct timespec began, shown;
	int visible;
};

/* If `wanted`, makes passes with `options` show their progress until vpa_progress_end() erases it. */
void vpa_progress_begin(struct vpa_progress *p, struct vpa_options *options, int wanted);
void vpa_progress_end(struct vpa_progress *p);

/* Opens a trace and analyzes it; `progress` 1: shown while it lasts. 0, with *out for vpa_report_free(),
 * or an error code. */
struct vpa_report;
int vpa_trace_report(const char *operand, struct vpa_options *options, int progress,
	struct vpa_report **out, struct vpt_err *err);

/* ---- the rest ---- */

/* The name of an operand in reports and messages: "-" is standard input. */
const char *vpa_input_name(const char *operand);

/* VPT_EINVAL with a sentence if `output`, a file, a folder or "-", is an operand or a file that an option reads,
 * by whatever name: also with --force, since nobody replaces what is being read on purpose. */
int vpa_inputs_check(const struct vpt_args *args, const char *output, struct vpt_err *err);

/* The command line with all options that have been given, apart from defaults. A longer one is cut. */
void vpa_command_line(const struct vpt_args *args, char *line, size_t size);

/* Reads a small file; *text is NUL-terminated, and the caller frees it with vpt_free(). */
int vpa_file_read(const char *path, char **text, size_t *len, struct vpt_err *err);

/* Makes SIGINT and SIGTERM set a flag only, so that a partial file can be removed. */
void vpa_interrupt_catch(void);
int vpa_interrupted(void);
/* Dies of the caught signal. Returns VPT_EXIT_FAILED if there was none. */
int vpa_interrupt_die(void);

/* Reports what is missing from a trace that has been read, one line each on standard error. Returns
 * whether anything is. */
struct vpa_completeness;
int vpa_say_missing(const char *path, const struct vpa_completeness *n);

#endif
