/* command_line.c - the command line that makes an output, as a shell reads it. */
#include "analysis/commands/base/analyzer_command.h"

#include "formats/cli/shell_word.h"

#include <stdio.h>
#include <string.h>

static void add_word(FILE *out, const char *word)
{
	putc(' ', out);
	vpt_put_word(out, word, strlen(word));
}

static void add_operands(const struct vpt_args *args, FILE *out)
{
	size_t i;

	for (i = 0; i < args->operand_count; i++) {
		if (args->first_count && i == args->first_count)
			add_word(out, "--");
		add_word(out, args->operands[i]);
	}
}

static void add_options(const struct vpt_args *args, FILE *out)
{
	size_t i;

	for (i = 0; i < args->given_count; i++) {
		const struct vpt_given *g = &args->given[i];
		const struct vpt_option *o = &args->command->options[g->option];

		if (g->text && o->fallback && !strcmp(g->text, o->fallback))
			continue;
		fprintf(out, " --%s", o->name);
		if (g->text)
			add_word(out, g->text);
	}
}

void vpa_command_line(const struct vpt_args *args, char *line, size_t size)
{
	FILE *out = fmemopen(line, size, "w");

	*line = '\0';
	if (!out)
		return;
	fputs("vptrace-analyze", out);
	if (args->command != &vpa_cmd_analyze)
		add_word(out, args->command->name);
	add_operands(args, out);
	add_options(args, out);
	fclose(out);
	line[size - 1] = '\0';
}
