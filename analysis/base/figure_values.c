/* figure_values.c - reads names and values of figures. */
#include "analysis/base/figure_values.h"

#include "analysis/base/numbers.h"
#include "formats/base/time_units.h"

#include <ctype.h>
#include <string.h>

int vpa_value_read(const char *text, enum vpa_value_kind kind, double *value)
{
	const char *unit = vpa_decimal_read(text, value);

	if (!unit)
		return 0;
	if (kind == VPA_VALUE_SHARE) {
		*value /= 100;
		return !strcmp(unit, "%");
	}
	if (kind == VPA_VALUE_TIME) {
		*value *= (double)vpt_time_unit_ns(unit);
		return vpt_time_unit_ns(unit) != 0;
	}
	return !*unit;
}

static char plain(char c)
{
	return c == '-' || c == '_' ? ' ' : (char)tolower((unsigned char)c);
}

int vpa_figure_name_is(const char *text, size_t len, const char *name)
{
	size_t i;

	if (!name || strlen(name) != len)
		return 0;
	for (i = 0; i < len; i++)
		if (plain(text[i]) != plain(name[i]))
			return 0;
	return 1;
}
