/* sample_value.h - values of series of samples, in their units. */
#ifndef VPA_ANALYSIS_RENDER_SAMPLE_VALUE_H
#define VPA_ANALYSIS_RENDER_SAMPLE_VALUE_H

#include "analysis/base/numbers.h"

/* Whether values have their unit with them: bytes, and bytes per second. */
int vpa_unit_is_bytes(const char *unit);

/* "1.5 GB", "1.5 GB/s"; of other units the number alone: "0.333", "97.5", "1,980". */
struct vpa_num vpa_sample_value(double value, const char *unit);

#endif
