/* time_units.h - the units in which both programs take times. */
#ifndef VPT_FORMATS_BASE_TIME_UNITS_H
#define VPT_FORMATS_BASE_TIME_UNITS_H

#include <stdint.h>

/* In ns; 0: the name is no unit. Names: ns, us (also with the micro sign), ms, s, m or min, h. */
uint64_t vpt_time_unit_ns(const char *name);

#endif
