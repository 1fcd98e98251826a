/* column_form.h - how a column of a table looks, by its key in the JSON report. */
#ifndef VPA_ANALYSIS_RENDER_HTML_COLUMN_FORM_H
#define VPA_ANALYSIS_RENDER_HTML_COLUMN_FORM_H

#include "analysis/base/numbers.h"
#include "analysis/render/fields/fields.h"

struct vpa_html;

/* The number of a value of that kind. `unit` is that of the cell; NULL: none. `is_change`: it is a
 * difference, so one above 0 has a sign too. */
struct vpa_num vpa_html_number(const struct vpa_value *v, const char *unit, int is_change);

/* A moment on the trace clock as seconds from `from_ns` on, to the microsecond: "0.780803 s". */
struct vpa_num vpa_html_moment(const struct vpa_value *v, uint64_t from_ns);

/* The words at its head, those of its field or of its key: "host mean" for "host.mean_ns", since the cells have
 * the unit. In a comparison "A mean" for "a_mean_ns". */
void vpa_html_label(
	struct vpa_html *h, const char *key, const struct vpa_field *f, int is_comparison);

/* Whether the head names this unit: neither the cells do, nor the key, and it is not just a count. */
int vpa_html_label_has_unit(const char *key, const char *unit);

/* The class of its texts: " s" for single words, " k" for names of kernels, which break anywhere, "" for
 * others. `path` is the table's. */
const char *vpa_html_text_class(const char *path, const char *key);

#endif
