/* schema_names.c - the constants of events.def by name.
 *
 * Each column names its unit, so any column with a unit gives its name. */
#include "analysis/export/schema_names.h"

#include "formats/event_schema.h"

#include <stddef.h>

struct constant_name {
	unsigned value;
	const char *name;
};

static const struct constant_name unit_names[] = {
#define VPT_COLUMN(KIND, kind, COL, col, id, enc, unit, help) {VPT_UNIT_##unit, #unit},
#include "formats/events.def"
};

static const struct constant_name encoding_names[] = {
#define VPT_COLUMN(KIND, kind, COL, col, id, enc, unit, help) {VPT_ENC_##enc, #enc},
#include "formats/events.def"
};

static const struct constant_name lane_names[] = {
#define VPT_KIND(KIND, kind, type, lane, flags, help) {VPT_LANES_##lane, #lane},
#include "formats/events.def"
};

static const char *name_of(const struct constant_name *names, size_t count, unsigned value)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (names[i].value == value)
			return names[i].name;
	return "?";
}

const char *vpa_unit_name(unsigned unit)
{
	return name_of(unit_names, sizeof(unit_names) / sizeof(*unit_names), unit);
}

const char *vpa_encoding_name(unsigned enc)
{
	return name_of(encoding_names, sizeof(encoding_names) / sizeof(*encoding_names), enc);
}

const char *vpa_lanes_name(unsigned lanes)
{
	return name_of(lane_names, sizeof(lane_names) / sizeof(*lane_names), lanes);
}
