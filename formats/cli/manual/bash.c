/* bash.c - completion for bash, without the package bash-completion.
 *
 * The script is one function; the commands' tables become the branches of its two case statements. */
#include "formats/cli/manual/manual.h"

/* %1$s: the program, %2$s: the function. */
static const char head[] =
	"# bash completion for %1$s, made from its own tables of commands and options.\n"
	"%2$s()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i\n"
	"\tlocal command= options= words= files=yes\n"
	"\t# \"--name=value\" comes as three words.\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\tcur=\n"
	"\telif [[ $prev == = ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n";

static const char middle[] = "\tcase ${COMP_WORDS[1]} in\n";

static const char value_head[] = "\tesac\n"
				 "\tcase $command:$prev in\n";

static const char tail[] =
	"\t*)\n"
	"\t\tif [[ $cur == -* ]]; then\n"
	"\t\t\twords=$options files=\n"
	"\t\telif ((COMP_CWORD == 1)); then\n"
	"\t\t\twords=$commands\n"
	"\t\tfi\n"
	"\t\t;;\n"
	"\tesac\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	"\tif [[ $files ]]; then\n"
	"\t\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\tfi\n"
	"}\n";

static void put_options(FILE *out, const struct vpt_command *c)
{
	unsigned i;

	for (i = 0; i < c->option_count; i++) {
		if (!c->options[i].help)
			continue;
		if (c->options[i].letter)
			fprintf(out, "-%c ", c->options[i].letter);
		fprintf(out, "--%s ", c->options[i].name);
	}
	fputs("-h --help", out);
}

static void put_values(FILE *out, const struct vpt_command *c)
{
	unsigned i;

	for (i = 0; i < c->option_count; i++) {
		const struct vpt_option *o = &c->options[i];
		const char *words;
		enum vpt_operand operand = vpt_manual_operand(o, &words);

		if (operand == VPT_OPERAND_NONE || !o->help)
			continue;
		fprintf(out, "\t%s:--%s", c->name, o->name);
		if (o->letter)
			fprintf(out, " | %s:-%c", c->name, o->letter);
		fprintf(out, ") words=\"%s\" files=%s ;;\n", words,
			operand == VPT_OPERAND_FILE ? "yes" : "");
	}
}

static void put_case(FILE *out, const char *word, const struct vpt_command *c)
{
	fprintf(out, "\t%s) command=%s options=\"", word, c->name);
	put_options(out, c);
	fputs("\" ;;\n", out);
}

/* "_vptrace_analyze" */
static void put_function(const char *program, char *out, size_t size)
{
	snprintf(out, size, "_%s", program);
	for (; *out; out++)
		if (*out == '-')
			*out = '_';
}

void vpt_manual_bash(FILE *out, const struct vpt_program *program)
{
	const struct vpt_command *const *c;
	char function[64];

	put_function(program->name, function, sizeof(function));
	fprintf(out, head, program->name, function);
	fprintf(out, "\tlocal commands=\"help%s%s", program->alias ? " " : "",
		program->alias ? program->alias : "");
	for (c = program->commands; *c; c++)
		fprintf(out, " %s", (*c)->name);
	fputs(" --help --version\"\n", out);
	fputs(middle, out);
	for (c = program->commands + 1; *c; c++)
		put_case(out, (*c)->name, *c);
	fputs("\thelp) words=$commands files= ;;\n", out);
	put_case(out, "*", *program->commands); /* which needs no name */
	fputs(value_head, out);
	for (c = program->commands; *c; c++)
		put_values(out, *c);
	fputs(tail, out);
	fprintf(out, "complete -F %s %s\n", function, program->name);
}
