/* main.c - vptrace-manual FOLDER: writes the manual pages and completions of vptrace-analyze and
 * vptrace.
 *
 * The build runs it. FOLDER/man1, FOLDER/bash and FOLDER/zsh are there already. */
#include "analysis/commands/manual/manual.h"

#include "formats/event_schema.h"
#include "tracer/command/run.h"
#include "tracer/doctor/doctor.h"

#include <string.h>

#define COMMAND_ENTRY(name) &vpa_cmd_##name,
static const struct vpa_command *const analyzer_commands[] = {VPA_COMMANDS(COMMAND_ENTRY) NULL};
/* What it passes to vptrace-analyze has that program's options. */
static const struct vpa_command *const launcher_commands[] = {
	VPA_COMMANDS(COMMAND_ENTRY) & vtr_command_run, &vtr_command_doctor, NULL};
#undef COMMAND_ENTRY

static const struct vpa_manual_program analyzer = {"vptrace-analyze", NULL, analyzer_commands};
static const struct vpa_manual_program launcher = {"vptrace", "report", launcher_commands};

/* What --kind of `cat` takes: all but strings, which rows use. */
static const char *kinds(void)
{
	static char words[1000];
	size_t used = 0;
	unsigned type;

	for (type = 0; type < VPT_KIND_LIMIT; type++)
		if (vpt_kind_desc(type) && type != VPT_STRING)
			used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s",
				used ? " " : "", vpt_kind_desc(type)->name);
	return words;
}

enum vpa_operand vpa_manual_operand(const struct vpa_option *option, const char **words)
{
	const int is_text = option->type == VPA_TEXT || option->type == VPA_TEXTS;
	static char choice[200];
	char *bar;

	*words = "";
	if (option->type == VPA_FLAG || option->type == VPA_MODE)
		return VPA_OPERAND_NONE;
	if (is_text && !strcmp(option->argument, "FILE"))
		return VPA_OPERAND_FILE;
	if (is_text && !strcmp(option->argument, "KIND")) {
		*words = kinds();
		return VPA_OPERAND_WORDS;
	}
	if (option->type != VPA_CHOICE)
		return VPA_OPERAND_TEXT;
	snprintf(choice, sizeof(choice), "%s", option->argument);
	while ((bar = strchr(choice, '|')))
		*bar = ' ';
	*words = choice;
	return VPA_OPERAND_WORDS;
}

static FILE *begin(const char *folder, const char *name)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	if (!out)
		fprintf(stderr, "vptrace-manual: %s: cannot write\n", path);
	return out;
}

/* 0, or 1 where the file is not whole. */
static int end(FILE *out, const char *name)
{
	int failed = ferror(out);

	failed |= fclose(out);
	if (failed)
		fprintf(stderr, "vptrace-manual: %s: cannot write\n", name);
	return failed != 0;
}

static int write_one(const char *folder, const char *name, const struct vpa_manual_program *program,
	void (*write)(FILE *out, const struct vpa_manual_program *program))
{
	FILE *out = begin(folder, name);

	if (!out)
		return 1;
	write(out, program);
	return end(out, name);
}

static int write_command(const char *folder, const struct vpa_command *c)
{
	const struct vpa_manual_program *program = c->program ? &launcher : &analyzer;
	char name[100];
	FILE *out;

	snprintf(name, sizeof(name), "man1/%s-%s.1", program->name, c->name);
	out = begin(folder, name);
	if (!out)
		return 1;
	vpa_manual_man_command(out, program, c);
	return end(out, name);
}

int main(int argc, char **argv)
{
	const struct vpa_command *const *c;
	int failed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: vptrace-manual FOLDER\n");
		return 2;
	}
	failed |= write_one(argv[1], "man1/vptrace-analyze.1", &analyzer, vpa_manual_man);
	failed |= write_one(argv[1], "bash/vptrace-analyze", &analyzer, vpa_manual_bash);
	failed |= write_one(argv[1], "zsh/_vptrace-analyze", &analyzer, vpa_manual_zsh);
	failed |= write_one(argv[1], "man1/vptrace.1", &launcher, vpa_manual_man_launcher);
	failed |= write_one(argv[1], "bash/vptrace", &launcher, vpa_manual_bash);
	failed |= write_one(argv[1], "zsh/_vptrace", &launcher, vpa_manual_zsh);
	for (c = launcher_commands; *c && !failed; c++)
		failed |= write_command(argv[1], *c);
	return failed;
}
