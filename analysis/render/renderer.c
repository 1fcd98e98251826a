/* renderer.c - the list of renderers, and the two that the library offers on their own. */
#include "analysis/render/renderer.h"

#include <string.h>

static const struct vpa_renderer *const renderers[] = {
#define LIST(name) &vpa_renderer_##name,
	VPA_RENDERERS(LIST)
#undef LIST
};

const struct vpa_renderer *vpa_renderer_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(renderers) / sizeof(renderers[0]); i++)
		if (!strcmp(renderers[i]->name, name))
			return renderers[i];
	return NULL;
}

static int render_json(const struct vpa_report *r, const struct vpa_text *form,
	struct vpt_sink *sink, struct vpt_err *err)
{
	(void)form;
	return vpa_render_json(r, sink, err);
}

const struct vpa_renderer vpa_renderer_text = {
	.name = "text",
	.has_layout = 1,
	.render = vpa_render_text,
};

const struct vpa_renderer vpa_renderer_json = {
	.name = "json",
	.render = render_json,
};
