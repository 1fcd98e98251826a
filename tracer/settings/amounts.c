/* amounts.c - units, and the numbers before them. */
#include "tracer/settings/amounts.h"

#include "formats/base/time_units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct vtr_word vtr_sizes[] = {{"TiB", 1ll << 40}, {"GiB", 1ll << 30}, {"MiB", 1ll << 20},
	{"KiB", 1ll << 10}, {"T", 1ll << 40}, {"G", 1ll << 30}, {"M", 1ll << 20}, {"K", 1ll << 10},
	{"TB", 1000000000000}, {"GB", 1000000000}, {"MB", 1000000}, {"KB", 1000}, {"B", 1}, {"", 1},
	{NULL, 0}};
const struct vtr_word vtr_milliseconds[] = {{"ms", 1}, {"", 1}, {"s", 1000}, {NULL, 0}};
const struct vtr_word vtr_numbers[] = {{"", 1}, {NULL, 0}};
const struct vtr_word vtr_never[] = {{"off", -1}, {"0", -1}, {"no", -1}, {NULL, 0}};

const struct vtr_word *vtr_word_find(const struct vtr_word *words, const char *text)
{
	for (; words->text; words++)
		if (!strcasecmp(words->text, text))
			return words;
	return NULL;
}

/* A time in another unit than those of the list; `unit_ns` 0: it is none. 0, or -1: it is not a whole number of ms. */
static int to_ms(long long number, uint64_t unit_ns, int64_t *out)
{
	int64_t ns;

	if (!unit_ns || __builtin_mul_overflow(number, unit_ns, &ns) || ns % 1000000)
		return -1;
	*out = ns / 1000000;
	return 0;
}

int vtr_amount_read(const struct vtr_word *units, const char *text, int64_t *out)
{
	const struct vtr_word *unit;
	long long number;
	char *end;

	if (!*text || !strchr("-0123456789", *text))
		return -1; /* strtoll(3) would skip blanks and take a plus sign */
	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || end == text)
		return -1;
	end += *end == ' ' && end[1];
	unit = vtr_word_find(units, end);
	if (!unit && units == vtr_milliseconds)
		return to_ms(number, vpt_time_unit_ns(end), out);
	if (!unit || __builtin_mul_overflow(number, unit->value, out))
		return -1;
	return 0;
}
