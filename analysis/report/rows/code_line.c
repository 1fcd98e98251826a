/* code_line.c - lines of Python in words. */
#include "analysis/report/rows/code_line.h"

#include "formats/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FOLDERS = 2 };

/* The file's name with its last folders. */
static struct vpt_text short_path(struct vpt_text path)
{
	size_t at = path.len;
	int slashes = 0;

	while (at && slashes <= FOLDERS)
		slashes += path.text[--at] == '/';
	at += slashes > FOLDERS;
	return (struct vpt_text){path.text + at, path.len - at};
}

const char *vpa_code_line_words(
	char *text, size_t cap, struct vpt_text function, struct vpt_text file, uint64_t number)
{
	enum { NUMBER = 22 };
	size_t most = cap > NUMBER ? cap - NUMBER : 0;
	struct vpt_text words = file.len ? file : function;
	size_t cut = words.len > most ? words.len - most : 0;

	if (file.len && number)
		snprintf(text, cap, "%.*s:%" PRIu64, (int)(words.len - cut), words.text + cut,
			number);
	else
		snprintf(text, cap, "%.*s", (int)words.len, words.len ? words.text : "");
	return text;
}

const char *vpa_line_text(char *text, size_t cap, const struct vpa_code_line *line)
{
	return vpa_code_line_words(text, cap, vpt_text_from(line->function),
		short_path(vpt_text_from(line->file)), line->number);
}

int vpa_is_same_line(const struct vpa_code_line *a, const struct vpa_code_line *b)
{
	return a->number == b->number && a->file && b->file &&
	       (a->file == b->file || !strcmp(a->file, b->file)) &&
	       (*a->file || vpt_same_text(a->function, b->function));
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
