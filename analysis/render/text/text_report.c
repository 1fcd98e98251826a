/* text_report.c - the text report: all or some of its sections, in the order of the page. */
#include "analysis/render/text/text_report.h"

#include "analysis/render/renderer.h"
#include "analysis/render/text/screen.h"

const struct vpa_text_section vpa_text_sections[VPA_TEXT_SECTIONS] = {
#define VPA_SECTION(name, rank, put) {name, rank, put},
#include "analysis/render/text/text_sections.def"
};

void vpa_text_put_section(struct vpa_page *p, const struct vpa_report *r,
	const struct vpa_digest *d, const struct vpa_text_section *section)
{
	p->touched = r->touched;
	section->put(p, r, d);
}

static void put_sections(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d,
	const char *only)
{
	size_t i;

	for (i = 0; i < VPA_TEXT_SECTIONS; i++)
		if (!only || !strcmp(only, vpa_text_sections[i].name))
			vpa_text_put_section(p, r, d, &vpa_text_sections[i]);
	p->touched = 0;
	if (only && !p->line_count)
		vpa_page_words(p, "", VPA_PLAIN, "%s: nothing to show", only);
	if (!only)
		vpa_text_next(p, r);
}

int vpa_render_text(const struct vpa_report *r, const struct vpa_text *form, struct vpt_sink *sink,
	struct vpt_err *err)
{
	struct vpa_digest d;
	struct vpa_page p;

	vpa_digest_of(r, &d);
	vpa_page_init(&p, sink, form->width ? form->width : 80, form->colour, err);
	if (form->full || form->only)
		put_sections(&p, r, &d, form->only);
	else
		vpa_screen_put(&p, r, &d);
	return p.rc;
}

int vpa_text_has_section(const char *name)
{
	size_t i;

	for (i = 0; i < VPA_TEXT_SECTIONS; i++)
		if (!strcmp(vpa_text_sections[i].name, name))
			return 1;
	return 0;
}
