/* random_lines.h - the lines of a script that is made at random, and how they stand in chunks. */
#ifndef VPT_TESTS_RANDOM_LINES_H
#define VPT_TESTS_RANDOM_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Text that grows. The caller frees `data` with vpt_free(). */
struct random_text {
	char *data;
	size_t size, cap;
};

/* Adds at most 255 bytes; aborts where it is more, or without memory. */
__attribute__((format(printf, 2, 3))) void random_text_add(
	struct random_text *s, const char *format, ...);

struct random_line {
	char text[160];
	uint64_t end;   /* when the record was complete: it stands in no earlier chunk */
	unsigned delay; /* how many chunks later than possible a record is written */
};

struct random_lines {
	struct random_line *items; /* `max` of them, the caller's */
	size_t count, max;
	uint64_t last; /* the latest end */
};

/* Adds a line, unless there are `max`. An end of UINT64_MAX: in the last chunk; it moves no end. */
__attribute__((format(printf, 4, 5))) void random_lines_put(
	struct random_lines *l, uint64_t end, unsigned delay, const char *format, ...);

/* Adds all lines to a script, a chunk ending at each cut; cuts are in order. */
void random_lines_write(const struct random_lines *l, const uint64_t *cuts, size_t cut_count,
	struct random_text *out);

#endif
