/* view.c - finds views of a report. */
#include "analysis/render/fields/view.h"

#include "formats/base/count.h"

#include <string.h>

static const struct vpa_view *const lists[] = {vpa_views_report, vpa_views_pipeline,
	vpa_views_counters, vpa_views_lines, vpa_views_expert, vpa_views_said};

const struct vpa_view *vpa_view_at(size_t i)
{
	const struct vpa_view *v;
	size_t list;

	for (list = 0; list < COUNT(lists); list++)
		for (v = lists[list]; v->path; v++)
			if (!i--)
				return v;
	return NULL;
}

const struct vpa_view *vpa_view_of(const char *path)
{
	const struct vpa_view *v;
	size_t i;

	for (i = 0; (v = vpa_view_at(i)) != NULL && strcmp(v->path, path) != 0; i++)
		;
	return v;
}
