/* figure_values.h - names and values of figures as a user writes them in conditions: "fps<16", "period>750ms", "idle:host-code>5%". */
#ifndef VPA_ANALYSIS_BASE_FIGURE_VALUES_H
#define VPA_ANALYSIS_BASE_FIGURE_VALUES_H

#include <stddef.h>

/* What a value is written in. */
enum vpa_value_kind {
	VPA_VALUE_RATE, /* a plain number */
	VPA_VALUE_TIME, /* a number with a unit of time; read as ns */
	VPA_VALUE_SHARE /* a number with %; read as a fraction */
};

/* Reads a value up to the end of the text. Returns 0 if it is none of the kind. */
int vpa_value_read(const char *text, enum vpa_value_kind kind, double *value);

/* Whether `len` bytes are the name, whatever the case; "-", "_" and a space are alike. name: NULL: there is none. */
int vpa_figure_name_is(const char *text, size_t len, const char *name);

#endif
