/* bash.c - completion for bash, without the package bash-completion.
 *
 * The script is one function; the commands' tables become the branches of its two case statements. */
#include "analysis/commands/manual/manual.h"

static const char head[] =
	"# bash completion for vptrace-analyze, made from its own tables of commands and options.\n"
	"_vptrace_analyze()\n"
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
	"}\n"
	"complete -F _vptrace_analyze vptrace-analyze\n";

static void put_options(FILE *out, const struct vpa_command *c)
{
	unsigned i;

	for (i = 0; i < c->option_count; i++) {
		if (c->options[i].letter)
			fprintf(out, "-%c ", c->options[i].letter);
		fprintf(out, "--%s ", c->options[i].name);
	}
	fputs("-h --help", out);
}

static void put_values(FILE *out, const struct vpa_command *c)
{
	unsigned i;

	for (i = 0; i < c->option_count; i++) {
		const struct vpa_option *o = &c->options[i];
		const char *words;
		enum vpa_operand operand = vpa_manual_operand(o, &words);

		if (operand == VPA_OPERAND_NONE)
			continue;
		fprintf(out, "\t%s:--%s", c->name, o->name);
		if (o->letter)
			fprintf(out, " | %s:-%c", c->name, o->letter);
		fprintf(out, ") words=\"%s\" files=%s ;;\n", words,
			operand == VPA_OPERAND_FILE ? "yes" : "");
	}
}

void vpa_manual_bash(FILE *out)
{
	const struct vpa_command *const *c;

	fputs(head, out);
	fputs("\tlocal commands=\"help", out);
	for (c = vpa_manual_commands; *c; c++)
		fprintf(out, " %s", (*c)->name);
	fputs(" --help --version\"\n", out);
	fputs(middle, out);
	for (c = vpa_manual_commands + 1; *c; c++) {
		fprintf(out, "\t%s) command=%s options=\"", (*c)->name, (*c)->name);
		put_options(out, *c);
		fputs("\" ;;\n", out);
	}
	fputs("\thelp) words=$commands files= ;;\n", out);
	c = vpa_manual_commands; /* which needs no name */
	fprintf(out, "\t*) command=%s options=\"", (*c)->name);
	put_options(out, *c);
	fputs("\" ;;\n", out);
	fputs(value_head, out);
	for (c = vpa_manual_commands; *c; c++)
		put_values(out, *c);
	fputs(tail, out);
}
