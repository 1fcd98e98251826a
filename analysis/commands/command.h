/* command.h - what a command of vptrace-analyze is, and what commands share.
 *
 * A command is one file with one exported descriptor. Its options are a table. A row has the name,
 * letter, type, default and help; the parser, --help and the suggestions read it:
 *
 *	enum { FORMAT, OUTPUT };
 *	static const struct vpa_option options[] = {
 *		[FORMAT] = {"format", 'f', VPA_CHOICE, "text|json", "text", "output format"},
 *		[OUTPUT] = {"output", 'o', VPA_TEXT, "FILE", "-", "where to; - is standard output"},
 *	};
 *	...
 *	if (!strcmp(vpa_text_of(args, FORMAT), "json"))
 *
 * Commands print the answer to standard output or a file through struct vpa_out, messages to standard
 * error through vpa_say(), and return an exit code. */
#ifndef VPA_ANALYSIS_COMMANDS_COMMAND_H
#define VPA_ANALYSIS_COMMANDS_COMMAND_H

#include "formats/base/error.h"
#include "formats/base/io.h"
#include "formats/chunk/strings.h"
#include "formats/import/any_trace.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Every command in the order of --help; the first is the default one. */
#define VPA_COMMANDS(X)                                                                            \
	X(analyze)                                                                                 \
	X(compare)                                                                                 \
	X(info)                                                                                    \
	X(check)                                                                                   \
	X(cat)                                                                                     \
	X(convert)                                                                                 \
	X(export)                                                                                  \
	X(stacks)                                                                                  \
	X(classify)                                                                                \
	X(schema)

enum vpa_exit {
	VPA_EXIT_DONE = 0,
	VPA_EXIT_FAILED = 1,
	VPA_EXIT_MISUSED = 2,
	VPA_EXIT_DAMAGED = 3, /* the input is damaged or lossy; the answer was printed anyway */
	VPA_EXIT_LIMIT = 4    /* a condition of --fail-if holds; the answer was printed anyway */
};

/* ---- options ---- */

enum vpa_option_type {
	VPA_FLAG,     /* takes no argument */
	VPA_TEXT,     /* any text */
	VPA_TEXTS,    /* the same; may be given several times, and each value counts */
	VPA_NUMBER,   /* a whole number; `argument` is "MIN..MAX" */
	VPA_DURATION, /* "1.5s", "200ms", "10us", "5000ns", "0" */
	VPA_CHOICE,   /* one of the words of `argument`, "text|json" */
	VPA_MODE      /* the same, as --name=WORD; --name alone is "", which means the first */
};

struct vpa_option {
	const char *name; /* without the dashes */
	char letter;      /* '\0': long form only */
	uint8_t type;     /* enum vpa_option_type */
	const char *argument;
	const char *fallback; /* the default, parsed like an argument; NULL: none */
	const char *help;     /* NULL: neither help nor manual pages show it */
};

struct vpa_given {
	unsigned option;  /* index in the command's table */
	const char *text; /* NULL for a flag */
	uint64_t number;  /* of NUMBER and DURATION (nanoseconds) */
};

struct vpa_args;
struct vpa_out;

struct vpa_command {
	const char *program; /* whose command it is; NULL: vptrace-analyze */
	const char *name;
	const char *usage;               /* text after the name: "FILE [options]" */
	const char *help;                /* one line */
	const char *about;               /* more text for --help; may be NULL */
	void (*more)(struct vpa_out *o); /* prints more, made from a list; may be NULL */
	const struct vpa_option *options;
	unsigned option_count;
	const char *operand;    /* what an operand is; NULL: "file" */
	unsigned operand_count; /* exact or minimum number */
	int more_operands;      /* 1: operand_count is the minimum */
	int ends_at_operand;    /* 1: words after the first operand are no options */
	int has_sides;          /* 1: "--" separates two lists of operands; options may follow it */
	int (*run)(const struct vpa_args *args); /* returns enum vpa_exit */
};

struct vpa_args {
	const struct vpa_command *command;
	struct vpa_given *given; /* defaults first, then in the order of the command line */
	size_t given_count;
	size_t default_count; /* of these, defaults */
	const char **operands;
	size_t operand_count;
	size_t first_count; /* operands before "--", of a command with sides; 0: no "--" */
	int wants_help;
};

#define VPA_DECLARE(name) extern const struct vpa_command vpa_cmd_##name;
VPA_COMMANDS(VPA_DECLARE)
#undef VPA_DECLARE

/* Reads the words after the command's name. VPT_EINVAL with a sentence on misuse, which includes a second
 * value for an option that takes one: neither should win silently. The texts are
 * borrowed from argv; free the rest with vpa_args_free(), also after a failure. */
int vpa_args_read(const struct vpa_command *command, int argc, char **argv, struct vpa_args *out,
	struct vpt_err *err);
void vpa_args_free(struct vpa_args *args);

/* The last value given, or the default; NULL if there is neither. For all values of a repeated option
 * walk args->given. */
const struct vpa_given *vpa_given_of(const struct vpa_args *args, unsigned option);
int vpa_has(
	const struct vpa_args *args, unsigned option); /* flags, and options without a default */
const char *vpa_text_of(const struct vpa_args *args, unsigned option); /* NULL: not given */
uint64_t vpa_number_of(const struct vpa_args *args, unsigned option);  /* 0: not given */
int vpa_is(const struct vpa_args *args, unsigned option, const char *text);

/* VPT_EINVAL with a sentence if `first`, a value of the option --NAME, is not NULL. */
int vpa_given_once(const char *name, const struct vpa_given *first, const struct vpa_given *again,
	struct vpt_err *err);

/* Reads a duration exactly, without floating point. VPT_EINVAL with a sentence on misuse. */
int vpa_duration_read(const char *text, uint64_t *ns, struct vpt_err *err);

/* VPT_EINVAL with a sentence if the window is empty or chosen twice. NULL: not given. */
int vpa_window_check(const struct vpa_given *from, const struct vpa_given *to, const char *range,
	struct vpt_err *err);

/* The word nearest to `text` among `count` names, `stride` bytes apart; NULL if none is near. */
const char *vpa_nearest(const char *text, const char *const *names, size_t count, size_t stride);

/* ---- printing ---- */

/* An output. Sticky: after a failure nothing is printed; vpa_out_close() reports it. */
struct vpa_out {
	struct vpt_sink *sink;
	struct vpt_err err;
	int failed;
	int to_stdout;
	int to_terminal;
};

/* "-" is standard output; any other path is a new file or, with `force`, also an existing one. */
int vpa_out_open(struct vpa_out *o, const char *path, int force, struct vpt_err *err);
void vpa_out_bytes(struct vpa_out *o, const void *data, size_t size);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void vpa_out_print(struct vpa_out *o, const char *fmt, ...);
/* Prints text from a file; characters unsafe on a terminal are shown as "\x1b" or "\u202e". */
void vpa_out_text(struct vpa_out *o, const char *text, size_t len);
/* Commits the output if nothing failed and `commit` is set, else removes it. 0 or an error code. */
int vpa_out_close(struct vpa_out *o, int commit, struct vpt_err *err);

/* Whether the output `path` can be written and is no input, see below. Call it before a long computation. 0 or an
 * error code. */
int vpa_out_check(const struct vpa_args *args, const char *path, int force, struct vpt_err *err);

/* Prints one line on standard error, after the program's name. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void vpa_say(const char *fmt, ...);

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
int vpa_inputs_check(const struct vpa_args *args, const char *output, struct vpt_err *err);

/* The command line with all options that have been given, apart from defaults. A longer one is cut. */
void vpa_command_line(const struct vpa_args *args, char *line, size_t size);

/* Reads a small file; *text is NUL-terminated, and the caller frees it with vpt_free(). */
int vpa_file_read(const char *path, char **text, size_t *len, struct vpt_err *err);

/* Makes SIGINT and SIGTERM set a flag only, so that a partial file can be removed. */
void vpa_interrupt_catch(void);
int vpa_interrupted(void);
/* Dies of the caught signal. Returns VPA_EXIT_FAILED if there was none. */
int vpa_interrupt_die(void);

/* Reports what is missing from a trace that has been read, one line each on standard error. Returns
 * whether anything is. */
struct vpa_reading;
int vpa_say_missing(const char *path, const struct vpa_reading *n);

#endif
