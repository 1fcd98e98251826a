/* row_names.h - finds rows of a table by their names, and perhaps a device.
 *
 * A comparison matches tables of many reports, whose length a file decides. */
#ifndef VPA_ANALYSIS_COMPARE_ROW_NAMES_H
#define VPA_ANALYSIS_COMPARE_ROW_NAMES_H

#include "formats/base/map.h"

/* What tells rows apart. A text may be NULL, which equals NULL alone. */
struct vpa_row_name {
	const char *name, *kind;
	int64_t device;
};

/* The name of the row `i` of a table. */
typedef struct vpa_row_name vpa_row_name_of(const void *rows, size_t i);

/* All zeros, but for `rows` and `name_of`, is empty. Free with vpt_map_free(&names->map). */
struct vpa_row_names {
	const void *rows; /* the caller's, who may append to them */
	vpa_row_name_of *name_of;
	struct vpt_map map;
};

/* The first row of that name that was put; SIZE_MAX: none. */
size_t vpa_row_names_find(const struct vpa_row_names *names, const struct vpa_row_name *name);

/* Puts the row `i`, if none of its name is there. Returns 1: it was put; 0: there is one; VPT_ENOMEM. */
int vpa_row_names_put(struct vpa_row_names *names, size_t i);

#endif
