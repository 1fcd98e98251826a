/* simulated_run.c - what to type again to record the marks alone. */
#include "tracer/command/run_parts.h"

#include "formats/cli/shell_word.h"
#include "tracer/command/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_option(FILE *out, const struct vpt_option *option, const char *text)
{
	if (option->letter)
		fprintf(out, " -%c%s", option->letter, text ? " " : "");
	else
		fprintf(out, " --%s%s", option->name, text ? "=" : "");
	if (text)
		vpt_put_word(out, text, strlen(text));
}

char *vtr_simulated_run(const struct vpt_args *args)
{
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("vptrace run --simulate", out);
	for (i = args->default_count; i < args->given_count; i++) {
		const struct vpt_given *g = &args->given[i];

		if (g->option != VTR_RUN_PROFILE && g->option != VTR_RUN_SIMULATE)
			put_option(out, &args->command->options[g->option], g->text);
	}
	fputs(" --", out);
	for (i = 0; i < args->operand_count; i++) {
		putc(' ', out);
		vpt_put_word(out, args->operands[i], strlen(args->operands[i]));
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
