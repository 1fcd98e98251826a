/* main.c - vptrace-analyze: finds the command, reads its options, runs it.
 *
 * The common case needs no command: `vptrace-analyze trace.zst` analyzes. For a file named like a
 * command write `vptrace-analyze ./info`. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/rank_inputs.h"
#include "formats/cli/help.h"
#include "formats/base/cost_limits.h"
#include "formats/cli/process.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef VPT_VERSION
#define VPT_VERSION "unknown"
#endif

#define VPT_COMMAND(id, name) name,
static const char *const command_names[] = {
#include "formats/cli/analyzer.def"
};
#undef VPT_COMMAND

enum { COMMANDS = sizeof(command_names) / sizeof(command_names[0]) };

static const struct vpt_command *find_command(const char *name)
{
	const struct vpt_command *const *c = vpa_program.commands;

	while (*c && strcmp((*c)->name, name) != 0)
		c++;
	return *c;
}

/* ---- help ---- */

/* One answer to standard output. */
static int print(void (*body)(struct vpt_out *o, const void *ctx), const void *ctx)
{
	struct vpt_err err = {0};
	struct vpt_out o;

	if (vpt_out_open(&o, "-", 0, &err))
		return vpa_failed(&err);
	body(&o, ctx);
	return vpt_out_close(&o, 1, &err) ? vpa_failed(&err) : VPT_EXIT_DONE;
}

static void version_body(struct vpt_out *o, const void *ctx)
{
	(void)ctx;
	vpt_out_print(
		o, "vptrace-analyze %s, capture format %d.%d\n", VPT_VERSION, VPT_MAJOR, VPT_MINOR);
}

static void overview_body(struct vpt_out *o, const void *ctx)
{
	(void)ctx;
	vpt_help_overview(o, &vpa_program);
}

static void command_body(struct vpt_out *o, const void *ctx)
{
	vpt_help_command(o, ctx);
}

/* ---- running ---- */

/* Several files to analyze are the ranks of a job: `ranks` reports them. */
static int is_of_ranks(const struct vpt_args *args)
{
	return args->command == &vpa_cmd_analyze &&
	       (args->operand_count > 1 ||
		       (args->operand_count == 1 && vpa_is_job(args->operands[0])));
}

static int run(const struct vpt_command *command, int argc, char **argv)
{
	struct vpt_err err = {0};
	struct vpt_args args;
	int rc = vpt_args_read(command, argc, argv, &args, &err);
	int as_ranks = !args.wants_help && is_of_ranks(&args);

	if (as_ranks) {
		vpt_args_free(&args);
		command = &vpa_cmd_ranks;
		rc = vpt_args_read(command, argc, argv, &args, &err);
	}
	if (args.wants_help) {
		rc = print(command_body, command);
	} else if (rc) {
		rc = vpa_failed(&err);
		if (rc == VPT_EXIT_MISUSED && as_ranks)
			fprintf(stderr, "several files, a folder or an archive are reported as the "
					"ranks of one job\n");
		if (rc == VPT_EXIT_MISUSED)
			fprintf(stderr, "see vptrace-analyze %s --help\n", command->name);
	} else {
		vpa_memory_bound(&args);
		rc = command->run(&args);
	}
	vpt_args_free(&args);
	return rc;
}

/* Other programs' names for commands, and ours. */
static const struct {
	const char *word, *meant;
} foreign_words[] = {
	{"stats", "analyze"},
	{"stat", "analyze"},
	{"report", "analyze"},
	{"summary", "analyze"},
	{"show", "analyze"},
	{"dump", "cat"},
	{"print", "cat"},
	{"events", "cat"},
	{"verify", "check"},
	{"validate", "check"},
	{"import", "convert"},
};

enum { FOREIGN_WORDS = sizeof(foreign_words) / sizeof(foreign_words[0]) };

/* The command that an unknown word may mean; NULL: none. */
static const char *meant_by(const char *word)
{
	unsigned i;

	for (i = 0; i < FOREIGN_WORDS; i++)
		if (!strcmp(foreign_words[i].word, word))
			return foreign_words[i].meant;
	return vpt_nearest(word, command_names, COMMANDS, sizeof(*command_names));
}

/* Whether a first word that is no command was meant as one: a file's name has a dot or a slash, or the
 * file exists. */
static int is_word(const char *word)
{
	return islower((unsigned char)word[0]) && !strpbrk(word, "./") && access(word, F_OK);
}

static int unknown_command(const char *word)
{
	const char *meant = meant_by(word);

	if (meant)
		vpa_say("%s: neither a command nor a file; did you mean \"%s\"?", word, meant);
	else
		vpa_say("%s: neither a command nor a file", word);
	fprintf(stderr, "see vptrace-analyze --help\n");
	return VPT_EXIT_MISUSED;
}

/* `help`, `help COMMAND` */
static int help(int argc, char **argv)
{
	const struct vpt_command *command = argc ? find_command(argv[0]) : NULL;

	if (argc > 1) {
		vpa_say("help: expected one command, found \"%s\" as well", argv[1]);
		return VPT_EXIT_MISUSED;
	}
	if (argc && !strcmp(argv[0], "help"))
		return print(overview_body, NULL);
	if (argc && !command)
		return unknown_command(argv[0]);
	return command ? print(command_body, command) : print(overview_body, NULL);
}

int main(int argc, char **argv)
{
	const struct vpt_command *command;
	struct vpt_err err;

	if (vpt_process_begin(&err)) {
		fprintf(stderr, "vptrace-analyze: %s\n", err.text);
		return VPT_EXIT_FAILED;
	}
	vpt_limits_memory(0);
	if (argc < 2) {
		vpa_say("expected a trace file or a command");
		fprintf(stderr, "see vptrace-analyze --help\n");
		return VPT_EXIT_MISUSED;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print(overview_body, NULL);
	if (!strcmp(argv[1], "--version"))
		return print(version_body, NULL);
	if (!strcmp(argv[1], "--schema"))
		return run(&vpa_cmd_schema, argc - 2, argv + 2);
	command = find_command(argv[1]);
	if (command)
		return run(command, argc - 2, argv + 2);
	if (!strcmp(argv[1], "help") && access(argv[1], F_OK))
		return help(argc - 2, argv + 2);
	if (is_word(argv[1]))
		return unknown_command(argv[1]);
	return run(vpa_program.commands[0], argc - 1, argv + 1);
}
