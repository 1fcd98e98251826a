/* zsh.c - completion for zsh: a specification of _arguments for each command. */
#include "formats/cli/manual/manual.h"

#include "formats/cli/help.h"

/* %1$s: the program. */
static const char head[] =
	"#compdef %1$s\n"
	"# zsh completion for %1$s, made from its own tables of commands and options.\n"
	"_%1$s() {\n"
	"  local -a commands=(\n";

static const char middle[] =
	"  )\n"
	"  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
	"    _alternative 'commands:command:(($commands))' 'files:trace:_files'\n"
	"    return\n"
	"  fi\n"
	"  case $words[2] in\n";

/* Words from the command's name on. */
static const char named[] = "    shift words\n    (( CURRENT-- ))\n";

/* Between single quotes; brackets and colons end a field of a specification. */
static void put_quoted(FILE *out, const char *text, const char *special)
{
	for (; *text; text++) {
		const char *s = special;

		while (*s && *s != *text)
			s++;
		if (*text == '\'') {
			fputs("'\\''", out);
			continue;
		}
		if (*s)
			fputc('\\', out);
		fputc(*text, out);
	}
}

/* The name, in both forms if it has a letter. "*" offers it again after it has been given; without it, a list
 * in parentheses says what the option excludes: itself. */
static void put_name(FILE *out, const struct vpt_option *o, const char *joined)
{
	int again = vpt_option_is_list(o);

	if (o->letter && again)
		fprintf(out, "'*'{-%c%s,--%s%s}'[", o->letter, *joined ? "+" : "", o->name, joined);
	else if (o->letter)
		fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter,
			*joined ? "+" : "", o->name, joined);
	else
		fprintf(out, "'%s--%s%s[", again ? "*" : "", o->name, joined);
}

static void put_option(FILE *out, const struct vpt_option *o)
{
	const char *words;
	enum vpt_operand operand = vpt_manual_operand(o, &words);
	const char *joined = operand == VPT_OPERAND_NONE ? "" : "=";
	char help[VPT_HELP_MAX];

	if (!o->help)
		return;
	fputs("      ", out);
	put_name(out, o, joined);
	vpt_help_of(o, help);
	put_quoted(out, help, "[]\\:");
	fputc(']', out);
	if (operand != VPT_OPERAND_NONE) {
		fputc(':', out);
		put_quoted(out, vpt_help_argument(o), "[]\\:");
		fputc(':', out);
	}
	if (operand == VPT_OPERAND_WORDS)
		fprintf(out, "(%s)", words);
	else if (operand == VPT_OPERAND_FILE)
		fputs("_files", out);
	fputs("' \\\n", out);
}

static void put_command(FILE *out, const struct vpt_command *c)
{
	unsigned i;

	fputs("    _arguments -s -S : \\\n", out);
	for (i = 0; i < c->option_count; i++)
		put_option(out, &c->options[i]);
	put_option(out, &vpt_help_option);
	fprintf(out, "      %s\n    ;;\n",
		c->ends_at_operand     ? "'1:command:_command_names -e' '*::arguments:_normal'"
		: c->more_operands     ? "'*:file:_files'"
		: c->operand_count > 0 ? "'1:file:_files'"
				       : "':'");
}

void vpt_manual_zsh(FILE *out, const struct vpt_program *program)
{
	const struct vpt_command *first = *program->commands, *const * c;

	fprintf(out, head, program->name);
	for (c = program->commands; *c; c++) {
		fprintf(out, "    '%s:", (*c)->name);
		put_quoted(out, (*c)->help, ":\\");
		fputs("'\n", out);
	}
	if (program->alias)
		fprintf(out, "    '%s:the same as %s'\n", program->alias, first->name);
	fputs("    'help:describe a command'\n", out);
	fputs(middle, out);
	for (c = program->commands + 1; *c; c++) {
		fprintf(out, "  %s)\n%s", (*c)->name, named);
		put_command(out, *c);
	}
	fputs("  help)\n    (( CURRENT == 3 )) && _describe command commands\n    ;;\n", out);
	fprintf(out, "  *)\n    if [[ $words[2] == %s", first->name); /* which needs no name */
	if (program->alias)
		fprintf(out, " || $words[2] == %s", program->alias);
	fprintf(out, " ]]; then\n%s    fi\n", named);
	put_command(out, first);
	fprintf(out, "  esac\n}\n_%s \"$@\"\n", program->name);
}
