/* man.c - manual pages in man(7), which every man(1) reads.
 *
 * A command's text is laid out in lines for --help. The shape of a paragraph gives its type: one that
 * begins with a blank is kept as it is; one with some lines indented and others with a word before that
 * column is a list of terms; any other is prose. */
#include "formats/cli/manual/manual.h"

#include "formats/io/io.h"
#include "formats/base/memory.h"

#include <string.h>

/* ---- text ---- */

/* Characters that troff would read as its own. `len` of a text without line ends. */
static void put_text(FILE *out, const char *text, size_t len)
{
	size_t i;

	if (len && (*text == '.' || *text == '\''))
		fputs("\\&", out);
	for (i = 0; i < len; i++) {
		if (text[i] == '\\')
			fputs("\\e", out);
		else if (text[i] == '-')
			fputs("\\-", out);
		else if (text[i] == '\'')
			fputs("\\(aq", out);
		else if (text[i] == '^')
			fputs("\\(ha", out);
		else if (text[i] == '~')
			fputs("\\(ti", out);
		else if (text[i] == '`')
			fputs("\\(ga", out);
		else
			fputc(text[i], out);
	}
}

static void put_string(FILE *out, const char *text)
{
	put_text(out, text, strlen(text));
}

/* ---- paragraphs ---- */

enum form { PROSE, KEPT, TERMS };

struct paragraph {
	enum form form;
	size_t lines;
	size_t indent; /* of its indented lines, at least; 0: none is */
};

static size_t line_length(const char *text)
{
	return strcspn(text, "\n");
}

static const char *next_line(const char *text)
{
	text += line_length(text);
	return *text ? text + 1 : text;
}

/* A word, then a blank before the column where indented lines begin. */
static int is_term(const char *line, size_t indent)
{
	return *line != ' ' && indent && line_length(line) > indent && line[indent - 1] == ' ';
}

/* A paragraph ends before an empty line, a list also before a line that is neither a term nor
 * indented. */
static struct paragraph paragraph_of(const char *text)
{
	struct paragraph p = {.form = *text == ' ' ? KEPT : PROSE};
	const char *line;

	for (line = text; *line && *line != '\n'; line = next_line(line)) {
		size_t indent = strspn(line, " ");

		if (indent && (!p.indent || indent < p.indent))
			p.indent = indent;
	}
	if (is_term(text, p.indent))
		p.form = TERMS;
	for (line = text; *line && *line != '\n'; line = next_line(line), p.lines++)
		if (p.form == TERMS && *line != ' ' && !is_term(line, p.indent))
			break;
	return p;
}

static void put_line(FILE *out, const char *line, size_t from)
{
	put_text(out, line + from, line_length(line) - from);
	fputc('\n', out);
}

static void put_term(FILE *out, const char *line, size_t indent)
{
	size_t len = indent;

	while (line[len - 1] == ' ')
		len--;
	fputs(".TP\n.B ", out);
	put_text(out, line, len);
	fputc('\n', out);
}

static void put_paragraph(FILE *out, const char *line, const struct paragraph *p)
{
	size_t i;

	fputs(p->form == KEPT ? ".EX\n" : "", out);
	for (i = 0; i < p->lines; i++, line = next_line(line)) {
		if (p->form == TERMS && *line != ' ')
			put_term(out, line, p->indent);
		put_line(out, line, p->form == TERMS ? p->indent : 0);
	}
	fputs(p->form == KEPT ? ".EE\n" : "", out);
}

static void put_about(FILE *out, const char *text)
{
	int is_first = 1;

	for (; *text; is_first = 0) {
		struct paragraph p = paragraph_of(text);
		size_t i;

		fputs(is_first || p.form == TERMS ? "" : ".PP\n", out);
		put_paragraph(out, text, &p);
		for (i = 0; i < p.lines; i++)
			text = next_line(text);
		text += *text == '\n';
	}
}

/* What a command makes of a list for --help. Without memory the page goes without it. */
static void put_more(FILE *out, void (*more)(struct vpt_out *o))
{
	struct vpt_buffer text = {0};
	struct vpt_out o = {0};

	if (vpt_sink_memory(&text, &o.sink, &o.err))
		return;
	more(&o);
	vpt_out_bytes(&o, "", 1);
	if (!vpt_out_close(&o, 1, NULL))
		put_about(out, text.data);
	vpt_free(text.data);
}

/* ---- pages ---- */

/* A name in capitals or as it is; its dashes are no hyphens. */
static void put_name(FILE *out, const char *name, int in_capitals)
{
	for (; *name; name++) {
		if (*name == '-')
			fputc('\\', out);
		fputc(in_capitals && *name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name, out);
	}
}

/* `command` NULL: the page of the program. */
static void put_head(FILE *out, const char *program, const char *command, const char *help)
{
	int i;

	fputs(".\\\" Made from the program's own tables of commands and options.\n.TH ", out);
	for (i = 1; i >= 0; i--) {
		put_name(out, program, i);
		fputs(command ? "\\-" : "", out);
		put_name(out, command ? command : "", i);
		if (i)
			fprintf(out, " 1 \"\" \"vptrace %s\" \"vptrace\"\n.ad l\n.SH NAME\n",
				VPT_VERSION);
	}
	fputs(" \\- ", out);
	put_string(out, help);
	fputs("\n.SH SYNOPSIS\n", out);
}

static void put_option(FILE *out, const struct vpt_option *o)
{
	char help[VPT_HELP_MAX];

	enum vpt_help_join join = vpt_help_join(o);

	if (!o->help)
		return;
	fputs(".TP\n", out);
	if (o->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
	fputs("\\fB\\-\\-", out);
	put_string(out, o->name);
	fputs("\\fR", out);
	if (join != VPT_HELP_ALONE) {
		fputs(join == VPT_HELP_MAYBE ? "[=\\fI" : " \\fI", out);
		put_string(out, vpt_help_argument(o));
		fputs(join == VPT_HELP_MAYBE ? "\\fR]" : "\\fR", out);
	}
	fputc('\n', out);
	vpt_help_of(o, help);
	put_string(out, help);
	fputc('\n', out);
}

static void put_exits(FILE *out, const struct vpt_program *program)
{
	unsigned i;

	if (!program->exits)
		return;
	fputs(".SH EXIT STATUS\n", out);
	for (i = 0; i < program->exit_count; i++) {
		const char *text = program->exits[i];

		fprintf(out, ".TP\n.B %u\n", i);
		for (; *text; text = next_line(text))
			put_line(out, text, 0);
	}
}

static void put_reference(FILE *out, const struct vpt_command *c)
{
	fputs(".BR ", out);
	put_name(out, c->program, 0);
	fprintf(out, "\\-%s (1)", c->name);
}

static void put_others(
	FILE *out, const struct vpt_program *program, const struct vpt_command *except)
{
	const struct vpt_command *const *c;

	fputs(".SH SEE ALSO\n", out);
	if (except) {
		fputs(".BR ", out);
		put_name(out, program->name, 0);
		fputs(" (1),\n", out);
	}
	for (c = program->commands; *c; c++)
		if (*c != except) {
			put_reference(out, *c);
			fputs(",\n", out);
		}
	fputs(".BR vptrace (3)\n", out);
}

static void put_commands(FILE *out, const struct vpt_program *program)
{
	const struct vpt_command *const *c;

	for (c = program->commands; *c; c++) {
		fputs(".TP\n", out);
		put_reference(out, *c);
		fputc('\n', out);
		put_string(out, (*c)->help);
		fputc('\n', out);
	}
}

void vpt_manual_man(FILE *out, const struct vpt_program *program)
{
	put_head(out, program->name, NULL, program->title);
	fputs(program->synopsis, out);
	if (program->about)
		put_about(out, program->about);
	fputs(".SH COMMANDS\n", out);
	put_commands(out, program);
	put_exits(out, program);
	put_others(out, program, NULL);
}

void vpt_manual_man_command(
	FILE *out, const struct vpt_program *program, const struct vpt_command *c)
{
	unsigned i;
	int has_durations = 0;

	put_head(out, program->name, c->name, c->help);
	fputs(".B ", out);
	put_name(out, program->name, 0);
	fprintf(out, " %s\n", c->name);
	put_string(out, c->usage);
	fputs("\n.SH DESCRIPTION\n", out);
	if (c->about)
		put_about(out, c->about);
	else if (!c->more)
		fputs("See NAME.\n", out);
	if (c->about && c->more)
		fputs(".PP\n", out);
	if (c->more)
		put_more(out, c->more);
	fputs(".SH OPTIONS\nDefaults are in parentheses.\n", out);
	for (i = 0; i < c->option_count; i++) {
		put_option(out, &c->options[i]);
		has_durations |= c->options[i].type == VPT_DURATION;
	}
	put_option(out, &vpt_help_option);
	if (has_durations) {
		fputs(".PP\n", out);
		put_string(out, vpt_help_durations);
		fputc('\n', out);
	}
	if (!strcmp(c->program, program->name))
		put_exits(out, program);
	put_others(out, program, c);
}
