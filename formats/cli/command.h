/* command.h - a program's commands: their options, and what they print.
 *
 * A command has one descriptor. Its options are a table. A row has the name, letter, type, default and help; the
 * parser, --help, the manual and the suggestions read it:
 *
 *	enum { FORMAT, OUTPUT };
 *	static const struct vpt_option options[] = {
 *		[FORMAT] = {"format", 'f', VPT_CHOICE, "text|json", "text", "output format"},
 *		[OUTPUT] = {"output", 'o', VPT_OUTPUT, "FILE", "-", "where to; - is standard output"},
 *	};
 *	...
 *	if (vpt_is(args, FORMAT, "json"))
 */
#ifndef VPT_FORMATS_CLI_COMMAND_H
#define VPT_FORMATS_CLI_COMMAND_H

#include "formats/base/error.h"
#include "formats/io/io.h"
#include "formats/base/text.h"

#include <stddef.h>
#include <stdint.h>

enum vpt_exit {
	VPT_EXIT_DONE = 0,
	VPT_EXIT_FAILED = 1,
	VPT_EXIT_MISUSED = 2,
	VPT_EXIT_DAMAGED = 3, /* the input is damaged or lossy; the answer was printed anyway */
	VPT_EXIT_LIMIT = 4    /* a condition of --fail-if holds; the answer was printed anyway */
};

/* ---- options ---- */

enum vpt_option_type {
	VPT_FLAG,       /* takes no argument */
	VPT_TEXT,       /* any text */
	VPT_TEXTS,      /* the same; may be given several times, and each value counts */
	VPT_INPUT,      /* the path of a file that is read */
	VPT_INPUTS,     /* the same; may be given several times */
	VPT_OUTPUT,     /* the path of a file that is written */
	VPT_NUMBER,     /* a whole number; `argument` is "MIN..MAX" */
	VPT_MEMORY_MIB, /* the same: MiB that the program may use; 0: as many as it does by itself */
	VPT_DURATION,   /* "1.5s", "200ms", "10us", "5000ns", "0" */
	VPT_CHOICE,     /* one of the words of `argument`, "text|json" */
	VPT_CHOICES,    /* one or several of them, separated by commas */
	VPT_MODE,       /* one of them, as --name=WORD; --name alone is "", which means the first */
	VPT_MAYBE       /* any text, as --name=TEXT; --name alone is "" */
};

struct vpt_option {
	const char *name; /* without the dashes */
	char letter;      /* '\0': long form only */
	uint8_t type;     /* enum vpt_option_type */
	const char *argument;
	const char *fallback; /* the default, parsed like an argument; NULL: none */
	const char *help;     /* NULL: neither help nor manual pages show it */
};

/* Whether each value that is given counts, not only one. */
static inline int vpt_option_is_list(const struct vpt_option *o)
{
	return o->type == VPT_TEXTS || o->type == VPT_INPUTS;
}

/* Whether its argument is the path of a file to read. */
static inline int vpt_option_is_input(const struct vpt_option *o)
{
	return o->type == VPT_INPUT || o->type == VPT_INPUTS;
}

static inline int vpt_option_is_number(const struct vpt_option *o)
{
	return o->type == VPT_NUMBER || o->type == VPT_MEMORY_MIB;
}

struct vpt_given {
	unsigned option;  /* index in the command's table */
	const char *text; /* NULL for a flag */
	uint64_t number;  /* of NUMBER and DURATION (nanoseconds) */
};

struct vpt_args;
struct vpt_out;

struct vpt_command {
	const char *program; /* whose command it is */
	const char *name;
	const char *usage;               /* text after the name: "FILE [options]" */
	const char *help;                /* one line */
	const char *about;               /* more text for --help; may be NULL */
	void (*more)(struct vpt_out *o); /* prints more, made from a list; may be NULL */
	const struct vpt_option *options;
	unsigned option_count;
	const char *operand;    /* what an operand is; NULL: "file" */
	unsigned operand_count; /* exact or minimum number */
	int more_operands;      /* 1: operand_count is the minimum */
	int ends_at_operand;    /* 1: words after the first operand are no options */
	int has_sides;          /* 1: "--" separates two lists of operands; options may follow it */
	int (*run)(const struct vpt_args *args); /* returns enum vpt_exit */
};

struct vpt_args {
	const struct vpt_command *command;
	struct vpt_given *given; /* defaults first, then in the order of the command line */
	size_t given_count;
	size_t default_count; /* of these, defaults */
	const char **operands;
	size_t operand_count;
	size_t first_count; /* operands before "--", of a command with sides; 0: no "--" */
	int wants_help;
};

/* Reads the words after the command's name. VPT_EINVAL with a sentence on misuse, which includes a second
 * value for an option that takes one: neither should win silently. The texts are
 * borrowed from argv; free the rest with vpt_args_free(), also after a failure. */
int vpt_args_read(const struct vpt_command *command, int argc, char **argv, struct vpt_args *out,
	struct vpt_err *err);
void vpt_args_free(struct vpt_args *args);

/* Adds a value of an option, as if it came last on the command line; NULL for a flag. The text is borrowed. VPT_EINVAL with a
 * sentence, VPT_ENOMEM. */
int vpt_args_add(struct vpt_args *args, unsigned option, const char *text, struct vpt_err *err);

/* The last value given, or the default; NULL if there is neither. For all values of a repeated option
 * walk args->given. */
const struct vpt_given *vpt_given_of(const struct vpt_args *args, unsigned option);
int vpt_has(
	const struct vpt_args *args, unsigned option); /* flags, and options without a default */
const char *vpt_text_of(const struct vpt_args *args, unsigned option); /* NULL: not given */
uint64_t vpt_number_of(const struct vpt_args *args, unsigned option);  /* 0: not given */
int vpt_is(const struct vpt_args *args, unsigned option, const char *text);

/* VPT_EINVAL with a sentence if `first`, a value of the option --NAME, is not NULL. */
int vpt_given_once(const char *name, const struct vpt_given *first, const struct vpt_given *again,
	struct vpt_err *err);

/* Reads a duration exactly, without floating point. VPT_EINVAL with a sentence on misuse. */
int vpt_duration_read(const char *text, uint64_t *ns, struct vpt_err *err);

/* The word nearest to `text` among `count` names, `stride` bytes apart; NULL if none is near. */
const char *vpt_nearest(const char *text, const char *const *names, size_t count, size_t stride);

/* ---- printing ---- */

/* An output. Sticky: after a failure nothing is printed; vpt_out_close() reports it. */
struct vpt_out {
	struct vpt_sink *sink;
	struct vpt_err err;
	int failed;
	int to_stdout;
	int to_terminal;
};

/* "-" is standard output; any other path is a new file or, with `force`, also an existing one. */
int vpt_out_open(struct vpt_out *o, const char *path, int force, struct vpt_err *err);
void vpt_out_bytes(struct vpt_out *o, const void *data, size_t size);
VPT_PRINTF(2, 3)
void vpt_out_print(struct vpt_out *o, const char *fmt, ...);
/* Prints text from a file; characters unsafe on a terminal are shown as "\x1b" or "\u202e". */
void vpt_out_text(struct vpt_out *o, const char *text, size_t len);
/* Passes on what has been printed so far: somebody waits for it. */
void vpt_out_flush(struct vpt_out *o);
/* Commits the output if nothing failed and `commit` is set, else removes it. 0 or an error code. */
int vpt_out_close(struct vpt_out *o, int commit, struct vpt_err *err);

#endif
