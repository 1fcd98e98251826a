/* thread_waits.c - the names of Python's and C++'s functions that wait for another thread. */
#include "analysis/advice/findings/findings_idle.h"

#include "formats/base/count.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The last word of a name, and what a word before it must end with; NULL: anything, or nothing. */
static const struct {
	const char *last, *before;
} waits[] = {
	{"put", "queue"},
	{"get", "queue"},
	{"put", "q"},
	{"get", "q"},
	{"pop", "queue"},
	{"push", "queue"},
	{"join", "thread"},
	{"join", "worker"},
	{"result", "future"},
	{"get", "future"},
	{"wait", NULL},
	{"acquire", NULL},
	{"lock", "mutex"},
};

static const char *word_before(const char *name, const char *end, size_t *len)
{
	const char *from;

	while (end > name && !isalnum((unsigned char)end[-1]))
		end--;
	from = end;
	while (from > name && isalnum((unsigned char)from[-1]))
		from--;
	*len = (size_t)(end - from);
	return from;
}

static int ends_with(const char *word, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !strncasecmp(word + len - n, end, n);
}

int vpa_is_thread_wait(const char *range)
{
	size_t len, before_len, i;
	const char *last = word_before(range, range + strlen(range), &len),
		   *before = word_before(range, last, &before_len);

	for (i = 0; i < COUNT(waits); i++)
		if (len == strlen(waits[i].last) && ends_with(last, len, waits[i].last) &&
			(!waits[i].before || ends_with(before, before_len, waits[i].before)))
			return 1;
	return 0;
}
