/* help.c - prints --help from the commands' tables in lines of at most 100 columns. */
#include "analysis/commands/help.h"

#include <stdio.h>
#include <string.h>

/* ---- words ---- */

const char vpa_help_title[] = "report where the time of a GPU trace went";

const char vpa_help_inputs[] =
	"FILE is a vptrace capture (trace.zst), a PyTorch profiler trace (.json, .json.gz or\n"
	".json.zst) or an Nsight Systems export (.sqlite); - is standard input.\n";

const char vpa_help_durations[] = "TIME is a number with a unit: 1.5s, 200ms, 10us, 5000ns, 2min.";

const struct vpa_option vpa_help_option = {"help", 'h', VPA_FLAG, NULL, NULL, "print this help"};

const char *const vpa_exit_texts[] = {
	[VPA_EXIT_DONE] = "done",
	[VPA_EXIT_FAILED] = "failed",
	[VPA_EXIT_MISUSED] = "misused",
	[VPA_EXIT_DAMAGED] = "input damaged or lossy\n(the answer is still printed)",
	[VPA_EXIT_LIMIT] = "a condition of --fail-if holds",
};

const unsigned vpa_exit_count = sizeof(vpa_exit_texts) / sizeof(*vpa_exit_texts);

const char *vpa_help_program(const struct vpa_command *command)
{
	return command->program ? command->program : "vptrace-analyze";
}

enum vpa_help_join vpa_help_join(const struct vpa_option *option)
{
	return option->type == VPA_FLAG   ? VPA_HELP_ALONE
	       : option->type == VPA_MODE ? VPA_HELP_MAYBE
					  : VPA_HELP_ARGUMENT;
}

const char *vpa_help_argument(const struct vpa_option *option)
{
	return option->type == VPA_NUMBER     ? "N"
	       : option->type == VPA_DURATION ? "TIME"
					      : option->argument;
}

void vpa_help_of(const struct vpa_option *option, char out[VPA_HELP_MAX])
{
	int has_fallback = option->fallback && strcmp(option->fallback, "-") != 0;

	snprintf(
		out, VPA_HELP_MAX, has_fallback ? "%s (%s)" : "%s", option->help, option->fallback);
}

/* ---- layout ---- */

/* Words from column `indent` on, in lines of at most 100 columns. */
static void print_wrapped(struct vpa_out *o, const char *text, size_t indent)
{
	enum { WIDTH = 100 };
	size_t column = indent;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > indent && column + 1 + word > WIDTH) {
			vpa_out_print(o, "\n%*s", (int)indent, "");
			column = indent;
		}
		vpa_out_print(o, "%s%.*s", column > indent ? " " : "", (int)word, text);
		column += word + (column > indent);
		text += word + (text[word] == ' ');
	}
	vpa_out_print(o, "\n");
}

static void print_option(struct vpa_out *o, const struct vpa_option *option)
{
	enum { LEFT = 29 };
	static const char *const before[] = {"", "[=", " "}, *const after[] = {"", "]", ""};
	char left[80], help[VPA_HELP_MAX];
	enum vpa_help_join join = vpa_help_join(option);

	if (!option->help)
		return;
	snprintf(left, sizeof(left), "%c%c%c --%s%s%s%s", option->letter ? '-' : ' ',
		option->letter ? option->letter : ' ', option->letter ? ',' : ' ', option->name,
		before[join], join == VPA_HELP_ALONE ? "" : vpa_help_argument(option), after[join]);
	vpa_help_of(option, help);
	vpa_out_print(o, "  %-*s", LEFT, left);
	if (strlen(left) > LEFT)
		vpa_out_print(o, "\n%*s", LEFT + 2, "");
	vpa_out_print(o, " ");
	print_wrapped(o, help, LEFT + 3);
}

/* ---- pages ---- */

void vpa_help_overview(struct vpa_out *o, const struct vpa_command *const *commands, unsigned count)
{
	unsigned i;

	vpa_out_print(o,
		"vptrace-analyze - %s\n\n"
		"usage: vptrace-analyze FILE [options]\n"
		"       vptrace-analyze COMMAND [options]\n\n"
		"%s\ncommands:\n",
		vpa_help_title, vpa_help_inputs);
	for (i = 0; i < count; i++)
		vpa_out_print(o, "  %-10s %s\n", commands[i]->name, commands[i]->help);
	vpa_out_print(o, "\n'vptrace-analyze help COMMAND' describes a command; --version prints "
			 "the version."
			 "\n\nexit codes: ");
	for (i = 0; i < vpa_exit_count; i++)
		vpa_out_print(o, "%s%u %s", i ? ", " : "", i, vpa_exit_texts[i]);
	vpa_out_print(o, "\n");
}

void vpa_help_command(struct vpa_out *o, const struct vpa_command *c)
{
	const char *program = vpa_help_program(c);
	int has_durations = 0;
	unsigned i;

	vpa_out_print(o, "%s %s - %s\n\nusage: %s %s %s\n", program, c->name, c->help, program,
		c->name, c->usage);
	if (c->about)
		vpa_out_print(o, "\n%s\n", c->about);
	if (c->more) {
		vpa_out_print(o, "\n");
		c->more(o);
	}
	vpa_out_print(o, "\noptions (defaults in parentheses):\n");
	for (i = 0; i < c->option_count; i++) {
		print_option(o, &c->options[i]);
		has_durations |= c->options[i].type == VPA_DURATION;
	}
	print_option(o, &vpa_help_option);
	if (has_durations)
		vpa_out_print(o, "\n%s\n", vpa_help_durations);
}
