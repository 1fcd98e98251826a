/* series.c - series.def as a table. */
#include "formats/series.h"

static const struct {
	const char *name, *unit;
} all[VPT_SERIES_COUNT] = {
	[VPT_SERIES_OTHER] = {"", ""},
#define VPT_SERIES(NAME, name, unit) [VPT_SERIES_##NAME] = {name, unit},
#include "formats/series.def"
};

const char *vpt_series_name(enum vpt_series series)
{
	return all[series].name;
}

const char *vpt_series_unit(enum vpt_series series)
{
	return all[series].unit;
}

enum vpt_series vpt_series_find(struct vpt_text name)
{
	unsigned i;

	for (i = 1; i < VPT_SERIES_COUNT; i++)
		if (vpt_text_is(name, all[i].name))
			return (enum vpt_series)i;
	return VPT_SERIES_OTHER;
}
