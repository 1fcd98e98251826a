/* measures.h - what the unit of a value measures, which decides how a number in it is written; and values of samples. */
#ifndef VPA_ANALYSIS_RENDER_MEASURES_H
#define VPA_ANALYSIS_RENDER_MEASURES_H

#include "analysis/base/numbers.h"

enum vpa_measure {
	VPA_MEASURE_OTHER, /* no unit, or one whose numbers are only numbers */
	VPA_MEASURE_NS,
	VPA_MEASURE_IDLE_NS,
	VPA_MEASURE_MS,
	VPA_MEASURE_BYTES,
	VPA_MEASURE_BYTE_RATE, /* bytes per second */
	VPA_MEASURE_BITS,
	VPA_MEASURE_FRACTION,
	VPA_MEASURE_WH,
	VPA_MEASURE_COUNT,
	VPA_MEASURE_OF_ROW /* the unit is another value of the row */
};

/* `unit` may be NULL. */
enum vpa_measure vpa_measure_of(const char *unit);

/* Where a number's unit stands on the page. */
enum vpa_shown {
	VPA_SHOWN_IN_HEAD, /* of the column */
	VPA_SHOWN_IN_CELL, /* after each number */
	VPA_SHOWN_NOWHERE  /* the key says it */
};

enum vpa_shown vpa_unit_shown(const char *unit);

static inline int vpa_is_time(enum vpa_measure m)
{
	return m == VPA_MEASURE_NS || m == VPA_MEASURE_IDLE_NS;
}

/* Whether values of samples have their unit with them: bytes, and bytes per second. */
static inline int vpa_is_bytes(enum vpa_measure m)
{
	return m == VPA_MEASURE_BYTES || m == VPA_MEASURE_BYTE_RATE;
}

/* "1.5 GB", "1.5 GB/s"; of other units the number alone: "0.333", "97.5", "1,980". */
struct vpa_num vpa_sample_value(double value, const char *unit);

#endif
