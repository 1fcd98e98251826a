/* code_line.c - lines of Python in words. */
#include "analysis/report/code_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FOLDERS = 2 };

/* The file's name with its last folders. */
static const char *short_path(const char *path)
{
	const char *at = path + strlen(path);
	int slashes = 0;

	while (at > path && slashes <= FOLDERS)
		slashes += *--at == '/';
	return slashes > FOLDERS ? at + 1 : path;
}

const char *vpa_line_text(char *text, size_t cap, const struct vpa_code_line *line)
{
	const char *file = line->file ? line->file : "";

	if (!*file)
		snprintf(text, cap, "%s", line->function ? line->function : "");
	else if (line->number)
		snprintf(text, cap, "%s:%" PRIu64, short_path(file), line->number);
	else
		snprintf(text, cap, "%s", short_path(file));
	return text;
}

const char *vpa_top_line_text(char *text, size_t cap, const struct vpa_top_line *top)
{
	char line[256], base[48] = " of its time";
	const char *innermost = "";

	*text = '\0';
	if (!top || !top->line.file)
		return text;
	if (top->samples)
		snprintf(base, sizeof(base), ", %" PRIu64 " samples", top->samples);
	else if (top->covers_calls)
		snprintf(base, sizeof(base), " of its time, calls included");
	else
		innermost = "innermost for ";
	snprintf(text, cap, "at %s (%s%.0f %%%s)", vpa_line_text(line, sizeof(line), &top->line),
		innermost, 100 * top->share, base);
	return text;
}
