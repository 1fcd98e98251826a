/* random_lines.c - lines of a random script, and their chunks. */
#include "tests/support/traces/random_lines.h"

#include "formats/base/memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void random_text_add(struct random_text *s, const char *format, ...)
{
	va_list args;
	int n;

	if (vpt_grow(&s->data, &s->cap, s->size + 256, 1))
		abort();
	va_start(args, format);
	n = vsnprintf(s->data + s->size, 256, format, args);
	va_end(args);
	if (n < 0 || n > 255)
		abort();
	s->size += (size_t)n;
}

void random_lines_put(struct random_lines *l, uint64_t end, unsigned delay, const char *format, ...)
{
	struct random_line *line = &l->items[l->count];
	va_list args;

	if (l->count == l->max)
		return;
	l->count++;
	va_start(args, format);
	vsnprintf(line->text, sizeof(line->text), format, args);
	va_end(args);
	line->end = end;
	line->delay = delay;
	if (end != UINT64_MAX && end > l->last)
		l->last = end;
}

static size_t chunk_of(const struct random_line *line, const uint64_t *cuts, size_t count)
{
	size_t chunk = 0;

	while (chunk < count && cuts[chunk] < line->end)
		chunk++;
	return chunk + line->delay < count ? chunk + line->delay : count;
}

void random_lines_write(const struct random_lines *l, const uint64_t *cuts, size_t cut_count,
	struct random_text *out)
{
	size_t chunk, i;

	for (chunk = 0; chunk <= cut_count; chunk++) {
		for (i = 0; i < l->count; i++)
			if (chunk_of(&l->items[i], cuts, cut_count) == chunk)
				random_text_add(out, "%s\n", l->items[i].text);
		if (chunk < cut_count)
			random_text_add(out, "chunk %" PRIu64 "\n", cuts[chunk]);
	}
}
