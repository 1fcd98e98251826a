/* help.c - prints --help from the commands' tables in lines of at most 100 columns. */
#include "formats/cli/help.h"

#include "formats/base/text.h"

#include <stdio.h>
#include <string.h>

/* ---- words ---- */

const char vpt_help_durations[] =
	"TIME is a number with a unit: 1.5s, 200ms, 10us, 5000ns, 2min, 1h.";

const struct vpt_option vpt_help_option = {"help", 'h', VPT_FLAG, NULL, NULL, "print this help"};

enum vpt_help_join vpt_help_join(const struct vpt_option *option)
{
	return option->type == VPT_FLAG                                ? VPT_HELP_ALONE
	       : option->type == VPT_MODE || option->type == VPT_MAYBE ? VPT_HELP_MAYBE
								       : VPT_HELP_ARGUMENT;
}

const char *vpt_help_argument(const struct vpt_option *option)
{
	return vpt_option_is_number(option)   ? "N"
	       : option->type == VPT_DURATION ? "TIME"
					      : option->argument;
}

void vpt_help_of(const struct vpt_option *option, char out[VPT_HELP_MAX])
{
	int has_fallback = option->fallback && !vpt_is_standard(option->fallback);

	snprintf(
		out, VPT_HELP_MAX, has_fallback ? "%s (%s)" : "%s", option->help, option->fallback);
}

/* ---- layout ---- */

/* Words from column `indent` on, in lines of at most 100 columns. */
static void print_wrapped(struct vpt_out *o, const char *text, size_t indent)
{
	enum { WIDTH = 100 };
	size_t column = indent;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > indent && column + 1 + word > WIDTH) {
			vpt_out_print(o, "\n%*s", (int)indent, "");
			column = indent;
		}
		vpt_out_print(o, "%s%.*s", column > indent ? " " : "", (int)word, text);
		column += word + (column > indent);
		text += word + (text[word] == ' ');
	}
	vpt_out_print(o, "\n");
}

static void print_option(struct vpt_out *o, const struct vpt_option *option)
{
	enum { LEFT = 29 };
	static const char *const before[] = {"", "[=", " "}, *const after[] = {"", "]", ""};
	char left[80], help[VPT_HELP_MAX];
	enum vpt_help_join join = vpt_help_join(option);

	if (!option->help)
		return;
	snprintf(left, sizeof(left), "%c%c%c --%s%s%s%s", option->letter ? '-' : ' ',
		option->letter ? option->letter : ' ', option->letter ? ',' : ' ', option->name,
		before[join], join == VPT_HELP_ALONE ? "" : vpt_help_argument(option), after[join]);
	vpt_help_of(option, help);
	vpt_out_print(o, "  %-*s", LEFT, left);
	if (strlen(left) > LEFT)
		vpt_out_print(o, "\n%*s", LEFT + 2, "");
	vpt_out_print(o, " ");
	print_wrapped(o, help, LEFT + 3);
}

/* ---- pages ---- */

void vpt_help_overview(struct vpt_out *o, const struct vpt_program *program)
{
	const struct vpt_command *const *c;
	unsigned i;

	vpt_out_print(o,
		"%s - %s\n\n"
		"usage: %s FILE [options]\n"
		"       %s COMMAND [options]\n\n"
		"%s\ncommands:\n",
		program->name, program->title, program->name, program->name, program->about);
	for (c = program->commands; *c; c++)
		vpt_out_print(o, "  %-10s %s\n", (*c)->name, (*c)->help);
	vpt_out_print(o,
		"\n'%s help COMMAND' describes a command; --version prints the version."
		"\n\nexit codes: ",
		program->name);
	for (i = 0; i < program->exit_count; i++)
		vpt_out_print(o, "%s%u %s", i ? ", " : "", i, program->exits[i]);
	vpt_out_print(o, "\n");
}

void vpt_help_command(struct vpt_out *o, const struct vpt_command *c)
{
	const char *program = c->program;
	int has_durations = 0;
	unsigned i;

	vpt_out_print(o, "%s %s - %s\n\nusage: %s %s %s\n", program, c->name, c->help, program,
		c->name, c->usage);
	if (c->about)
		vpt_out_print(o, "\n%s\n", c->about);
	if (c->more) {
		vpt_out_print(o, "\n");
		c->more(o);
	}
	vpt_out_print(o, "\noptions (defaults in parentheses):\n");
	for (i = 0; i < c->option_count; i++) {
		print_option(o, &c->options[i]);
		has_durations |= c->options[i].type == VPT_DURATION;
	}
	print_option(o, &vpt_help_option);
	if (has_durations)
		vpt_out_print(o, "\n%s\n", vpt_help_durations);
}

int vpt_help_print(const struct vpt_command *command, struct vpt_err *err)
{
	struct vpt_out o;
	int rc = vpt_out_open(&o, "-", 0, err);

	if (rc)
		return rc;
	vpt_help_command(&o, command);
	return vpt_out_close(&o, 1, err);
}
