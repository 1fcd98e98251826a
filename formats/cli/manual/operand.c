/* operand.c - what the completions of both shells offer after an option. */
#include "formats/cli/manual/manual.h"

#include "formats/event_schema.h"

#include <string.h>

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

enum vpt_operand vpt_manual_operand(const struct vpt_option *option, const char **words)
{
	const int is_text = option->type == VPT_TEXT || option->type == VPT_TEXTS;
	static char choice[200];
	char *bar;

	*words = "";
	if (option->type == VPT_FLAG || option->type == VPT_MODE || option->type == VPT_MAYBE)
		return VPT_OPERAND_NONE;
	if (vpt_option_is_input(option) || option->type == VPT_OUTPUT)
		return VPT_OPERAND_FILE;
	if (is_text && !strcmp(option->argument, "KIND")) {
		*words = kinds();
		return VPT_OPERAND_WORDS;
	}
	if (option->type != VPT_CHOICE && option->type != VPT_CHOICES)
		return VPT_OPERAND_TEXT;
	snprintf(choice, sizeof(choice), "%s", option->argument);
	while ((bar = strchr(choice, '|')))
		*bar = ' ';
	*words = choice;
	return VPT_OPERAND_WORDS;
}
