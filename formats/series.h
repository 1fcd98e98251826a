/* series.h - the sampled series that programs know, see series.def. */
#ifndef VPT_FORMATS_SERIES_H
#define VPT_FORMATS_SERIES_H

#include "formats/base/text.h"

enum vpt_series {
	VPT_SERIES_OTHER, /* any name that is not in the list */
#define VPT_SERIES(NAME, name, unit) VPT_SERIES_##NAME,
#include "formats/series.def"
	VPT_SERIES_COUNT
};

/* Constants; "" for VPT_SERIES_OTHER. */
const char *vpt_series_name(enum vpt_series series);
const char *vpt_series_unit(enum vpt_series series);

/* The series with exactly this name, whatever its unit; VPT_SERIES_OTHER: none has it. */
enum vpt_series vpt_series_find(struct vpt_text name);

#endif
