/* command_line.c - the command line that makes an output, as a shell reads it. */
#include "analysis/commands/base/command.h"

#include <stdio.h>
#include <string.h>

static void add_word(char *line, size_t size, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "._/+=,@:%-";
	size_t used = strlen(line), quoted = word[strspn(word, plain)] || !*word;

	snprintf(line + used, size - used, quoted ? " '" : " ");
	for (used = strlen(line); *word && used + 8 < size; word++) {
		if (*word == '\'') {
			memcpy(line + used, "'\\''", 5);
			used += 4;
		} else {
			line[used++] = *word;
			line[used] = '\0';
		}
	}
	if (quoted && used + 2 < size)
		memcpy(line + used, "'", 2);
}

static void add_operands(const struct vpt_args *args, char *line, size_t size)
{
	size_t i;

	for (i = 0; i < args->operand_count; i++) {
		if (args->first_count && i == args->first_count)
			add_word(line, size, "--");
		add_word(line, size, args->operands[i]);
	}
}

void vpa_command_line(const struct vpt_args *args, char *line, size_t size)
{
	size_t i;

	snprintf(line, size, "vptrace-analyze");
	if (args->command != &vpa_cmd_analyze)
		add_word(line, size, args->command->name);
	add_operands(args, line, size);
	for (i = 0; i < args->given_count; i++) {
		const struct vpt_given *g = &args->given[i];
		const struct vpt_option *o = &args->command->options[g->option];
		char word[64];

		if (g->text && o->fallback && !strcmp(g->text, o->fallback))
			continue;
		snprintf(word, sizeof(word), "--%s", o->name);
		add_word(line, size, word);
		if (g->text)
			add_word(line, size, g->text);
	}
}
