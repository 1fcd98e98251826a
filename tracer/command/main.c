/* main.c - vptrace: `run` is its own command; `doctor` is another program; the words of
 * vptrace-analyze are passed to that. */
#include "formats/cli/help.h"
#include "formats/cli/process.h"
#include "tracer/command/run.h"
#include "tracer/command/base/run_program.h"
#include "tracer/command/base/say.h"
#include "tracer/command/base/doctor.h"
#include "tracer/vptrace.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VPT_COMMAND(id, name) name,
/* Our own commands, and what vptrace-analyze knows as commands. */
static const char *const words[] = {
	"run",
	"doctor",
	"report",
	"help",
#include "formats/cli/analyzer.def"
};
#undef VPT_COMMAND

enum { WORDS = sizeof(words) / sizeof(words[0]), COLUMNS = 80 };

static void print_overview(void)
{
	size_t i, column = 1;

	printf("vptrace - record the GPU work of a program, and see where the time went\n\n"
	       "usage: vptrace run [options] [--] COMMAND [ARGUMENT...]\n"
	       "       vptrace report FILE [options]\n"
	       "       vptrace doctor [options]\n\n"
	       "to begin with:\n"
	       "  vptrace doctor                                  can a GPU be recorded here?\n"
	       "  vptrace run -o run.zst -- python3 generate.py   record a program\n"
	       "  vptrace report run.zst --target 16              is it fast enough, and why "
	       "not?\n\n"
	       "commands:\n"
	       "  %-10s %s\n"
	       "  %-10s %s\n"
	       "  %-10s print the report of a trace; the same as vptrace-analyze analyze\n"
	       "\nCommands of vptrace-analyze work too, see vptrace-analyze --help:\n ",
		vtr_command_run.name, vtr_command_run.help, vtr_command_doctor.name,
		vtr_command_doctor.help, "report");
	for (i = 4; i < WORDS; i++) {
		if (column + strlen(words[i]) + 2 > COLUMNS)
			column = (size_t)printf("\n ") - 1;
		column += (size_t)printf(" %s%s", words[i], i + 1 < WORDS ? "," : "");
	}
	printf("\n\nvptrace COMMAND --help describes a command; --version prints the version.\n");
}

/* 0, or 1 if standard output could not be written. */
static int printed(void)
{
	return fflush(stdout) || ferror(stdout) ? VPT_EXIT_FAILED : VPT_EXIT_DONE;
}

static int misused(const char *command)
{
	fprintf(stderr, "see vptrace%s%s --help\n", command ? " " : "", command ? command : "");
	return VPT_EXIT_MISUSED;
}

static int run(int argc, char **argv)
{
	struct vpt_err err = {0};
	struct vpt_args args;
	int rc = vpt_args_read(&vtr_command_run, argc, argv, &args, &err);

	if (args.wants_help) {
		rc = vpt_help_print(&vtr_command_run, &err) ? VPT_EXIT_FAILED : VPT_EXIT_DONE;
		if (rc)
			vtr_say("%s", err.text);
	} else if (rc) {
		vtr_say("%s", err.text);
		rc = err.code == VPT_EINVAL ? misused("run") : VPT_EXIT_FAILED;
	} else {
		rc = vtr_run(&args);
	}
	vpt_args_free(&args);
	return rc;
}

static int unknown(const char *word)
{
	const char *near = vpt_nearest(word, words, WORDS, sizeof(*words));

	if (near)
		vtr_say("%s: neither a command nor a file; did you mean \"%s\"?", word, near);
	else
		vtr_say("%s: neither a command nor a file; to record it: vptrace run -- %s", word,
			word);
	return misused(NULL);
}

static int is_word(const char *text)
{
	size_t i;

	for (i = 0; i < WORDS; i++)
		if (!strcmp(words[i], text))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "--help";
	struct vpt_err err;

	if (vpt_process_begin(&err)) {
		fprintf(stderr, "vptrace: %s\n", err.text);
		return VPT_EXIT_FAILED;
	}
	if (argc < 2) {
		vtr_say("expected a command");
		return misused(NULL);
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h") ||
		(!strcmp(word, "help") && argc == 2)) {
		print_overview();
		return printed();
	}
	if (!strcmp(word, "--version")) {
		printf("vptrace %d.%d.%d\n", VPTRACE_VERSION_MAJOR, VPTRACE_VERSION_MINOR,
			VPTRACE_VERSION_PATCH);
		return printed();
	}
	if (!strcmp(word, "run"))
		return run(argc - 2, argv + 2);
	if (!strcmp(word, "help") && argc == 3 && !strcmp(argv[2], "run"))
		return run(1, (char *[]){"--help", NULL});
	if (!strcmp(word, "doctor"))
		return vtr_diagnosis_become(argc - 2, argv + 2);
	if (!strcmp(word, "help") && argc == 3 && !strcmp(argv[2], "doctor"))
		return vtr_diagnosis_become(1, (char *[]){"--help", NULL});
	if (!strcmp(word, "report"))
		argv[1] = "analyze";
	if (is_word(argv[1]) || strpbrk(word, "./") || !access(word, F_OK))
		return vtr_analyzer_become(argv);
	return unknown(word);
}
