/* measures.c - the units that are written in a way of their own, in a table; and bytes of samples in the unit that fits, other
 * numbers with three digits, or all before the point. */
#include "analysis/render/measures.h"

#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <math.h>
#include <string.h>

static const struct unit {
	const char *word;
	enum vpa_measure measure;
	enum vpa_shown place;
} units[] = {
	{"ns", VPA_MEASURE_NS, VPA_SHOWN_IN_CELL},
	{"ns/block", VPA_MEASURE_OTHER, VPA_SHOWN_IN_CELL},
	{"ns idle", VPA_MEASURE_IDLE_NS, VPA_SHOWN_IN_HEAD},
	{"ms", VPA_MEASURE_MS, VPA_SHOWN_IN_CELL},
	{"bytes", VPA_MEASURE_BYTES, VPA_SHOWN_IN_CELL},
	{"B", VPA_MEASURE_BYTES, VPA_SHOWN_IN_HEAD},
	{"B/s", VPA_MEASURE_BYTE_RATE, VPA_SHOWN_IN_HEAD},
	{"bits", VPA_MEASURE_BITS, VPA_SHOWN_IN_HEAD},
	{"fraction", VPA_MEASURE_FRACTION, VPA_SHOWN_IN_CELL},
	{"Wh", VPA_MEASURE_WH, VPA_SHOWN_IN_CELL},
	{"GB/s", VPA_MEASURE_OTHER, VPA_SHOWN_IN_CELL},
	{"MHz", VPA_MEASURE_OTHER, VPA_SHOWN_IN_CELL},
	{"frames/s", VPA_MEASURE_OTHER, VPA_SHOWN_IN_CELL},
	{"blocks/s", VPA_MEASURE_OTHER, VPA_SHOWN_IN_CELL},
	{"steps/s", VPA_MEASURE_OTHER, VPA_SHOWN_IN_CELL},
	{"s/step", VPA_MEASURE_OTHER, VPA_SHOWN_IN_CELL},
	{"unit", VPA_MEASURE_OF_ROW, VPA_SHOWN_IN_CELL},
	{"value", VPA_MEASURE_OF_ROW, VPA_SHOWN_NOWHERE},
	{"count", VPA_MEASURE_COUNT, VPA_SHOWN_NOWHERE},
	{"id", VPA_MEASURE_OTHER, VPA_SHOWN_NOWHERE},
	{"index", VPA_MEASURE_OTHER, VPA_SHOWN_NOWHERE},
	{"probability", VPA_MEASURE_OTHER, VPA_SHOWN_NOWHERE},
	{"ops", VPA_MEASURE_OTHER, VPA_SHOWN_NOWHERE},
	{"calls", VPA_MEASURE_OTHER, VPA_SHOWN_NOWHERE},
	{"ranges", VPA_MEASURE_OTHER, VPA_SHOWN_NOWHERE},
	{"gaps", VPA_MEASURE_OTHER, VPA_SHOWN_NOWHERE},
	{"samples", VPA_MEASURE_OTHER, VPA_SHOWN_NOWHERE},
	{"instances/block", VPA_MEASURE_OTHER, VPA_SHOWN_NOWHERE},
};

static const struct unit *find(const char *word)
{
	size_t i;

	/* Each number of a page asks: most words differ in their first letter. */
	for (i = 0; word && i < COUNT(units); i++)
		if (*units[i].word == *word && !strcmp(units[i].word, word))
			return &units[i];
	return NULL;
}

enum vpa_measure vpa_measure_of(const char *unit)
{
	const struct unit *known = find(unit);

	return known ? known->measure : VPA_MEASURE_OTHER;
}

enum vpa_shown vpa_unit_shown(const char *unit)
{
	const struct unit *known = find(unit);

	return known ? known->place : VPA_SHOWN_IN_HEAD;
}

struct vpa_num vpa_sample_value(double value, const char *unit)
{
	enum vpa_measure measure = vpa_measure_of(unit);
	double size = fabs(value);
	struct vpa_num n;

	if (!vpa_is_bytes(measure) || !(value >= 0 && value < 1e18))
		return vpa_fixed(value, size > 0 && size < 1 ? 3 : size < 100 ? 1 : 0);
	n = vpa_bytes(vpt_sat_u64(value + 0.5));
	strncat(n.text, measure == VPA_MEASURE_BYTE_RATE ? "/s" : "",
		sizeof(n.text) - strlen(n.text) - 1);
	return n;
}
