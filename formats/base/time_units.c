/* time_units.c - their table. */
#include "formats/base/time_units.h"

#include <stddef.h>
#include <string.h>

uint64_t vpt_time_unit_ns(const char *name)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"ns", 1},
		{"us", 1000},
		{"\xc2\xb5s", 1000}, /* micro sign */
		{"\xce\xbcs", 1000}, /* Greek mu */
		{"ms", 1000000},
		{"s", 1000000000},
		{"m", 60000000000},
		{"min", 60000000000},
		{"h", 3600000000000},
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(units[i].name, name))
			return units[i].ns;
	return 0;
}
