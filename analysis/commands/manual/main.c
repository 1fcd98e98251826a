/* main.c - vptrace-manual FOLDER: writes the manual pages and completions of vptrace-analyze.
 *
 * The build runs it. FOLDER/man1, FOLDER/bash and FOLDER/zsh are there already. */
#include "analysis/commands/manual/manual.h"

#include "formats/schema.h"

#include <string.h>

#define COMMAND_ENTRY(name) &vpa_cmd_##name,
const struct vpa_command *const vpa_manual_commands[] = {VPA_COMMANDS(COMMAND_ENTRY) NULL};
#undef COMMAND_ENTRY

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
	static char choice[200];
	char *bar;

	*words = "";
	if (option->type == VPA_FLAG)
		return VPA_OPERAND_NONE;
	if (option->type == VPA_TEXT && !strcmp(option->argument, "FILE"))
		return VPA_OPERAND_FILE;
	if (option->type == VPA_TEXT && !strcmp(option->argument, "KIND")) {
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

static int write_one(const char *folder, const char *name, void (*write)(FILE *out))
{
	FILE *out = begin(folder, name);

	if (!out)
		return 1;
	write(out);
	return end(out, name);
}

int main(int argc, char **argv)
{
	const struct vpa_command *const *c;
	int failed = 0;
	char name[100];
	FILE *out;

	if (argc != 2) {
		fprintf(stderr, "usage: vptrace-manual FOLDER\n");
		return 2;
	}
	failed |= write_one(argv[1], "man1/vptrace-analyze.1", vpa_manual_man);
	failed |= write_one(argv[1], "bash/vptrace-analyze", vpa_manual_bash);
	failed |= write_one(argv[1], "zsh/_vptrace-analyze", vpa_manual_zsh);
	for (c = vpa_manual_commands; *c && !failed; c++) {
		snprintf(name, sizeof(name), "man1/vptrace-analyze-%s.1", (*c)->name);
		out = begin(argv[1], name);
		if (!out)
			return 1;
		vpa_manual_man_command(out, *c);
		failed |= end(out, name);
	}
	return failed;
}
