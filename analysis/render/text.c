/* text.c - the text report: all or some of its sections, in the order of the page. */
#include "analysis/render/text.h"

#include "analysis/render/renderer.h"

static const struct {
	const char *name;
	void (*put)(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
} sections[] = {
#define VPA_SECTION(name, put) {name, put},
#include "analysis/render/sections.def"
};

enum {
	SECTIONS = sizeof(sections) / sizeof(sections[0]),
	BRIEF = 3,       /* the first sections, DATA to FIX FIRST */
	BRIEF_LINES = 24 /* of a small terminal */
};

const char *vpa_text_put_section(
	struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d, size_t section)
{
	if (section >= SECTIONS)
		return NULL;
	p->touched = r->touched;
	sections[section].put(p, r, d);
	return sections[section].name;
}

int vpa_render_text(const struct vpa_report *r, const struct vpa_text *form, struct vpt_sink *sink,
	struct vpt_err *err)
{
	size_t i, count = form->brief ? BRIEF : SECTIONS;
	struct vpa_digest d;
	struct vpa_page p;

	vpa_digest_of(r, &d);
	vpa_page_init(&p, sink, form->width ? form->width : 80, form->colour, err);
	p.line_limit = form->brief ? BRIEF_LINES : 0;
	for (i = 0; i < count; i++)
		if (!form->only || !strcmp(form->only, sections[i].name))
			vpa_text_put_section(&p, r, &d, i);
	p.touched = 0;
	if (form->only && !p.line_count)
		vpa_page_words(&p, "", VPA_PLAIN, "%s: nothing to show", form->only);
	if (!form->only && !form->brief)
		vpa_text_next(&p, r);
	vpa_page_end(&p);
	return p.rc;
}

int vpa_text_has_section(const char *name)
{
	size_t i;

	for (i = 0; i < SECTIONS; i++)
		if (!strcmp(sections[i].name, name))
			return 1;
	return 0;
}
