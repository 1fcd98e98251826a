/* text_report.c - the text report: all or some of its sections, in the order of the page. */
#include "analysis/render/text/sections/text_sections.h"

#include "analysis/render/renderer.h"
#include "analysis/render/text/screen/screen.h"
#include "formats/base/count.h"

#include <assert.h>
#include <string.h>

static const struct vpa_text_section written[] = {
#define VPA_SECTION(name, rank, put) {name, rank, put, NULL},
#include "analysis/render/text/sections/text_sections.def"
};

/* Adds a section and those that follow it. */
static void add(struct vpa_text_sections *all, struct vpa_text_section section)
{
	const struct vpa_view *v;
	size_t i;

	assert(all->count < VPA_TEXT_SECTIONS);
	all->at[all->count++] = section;
	for (i = 0; (v = vpa_view_at(i)) != NULL; i++)
		if (v->text.section && !strcmp(v->text.after, section.name))
			add(all, (struct vpa_text_section){v->text.section, v->text.rank, NULL, v});
}

struct vpa_text_sections vpa_text_sections(void)
{
	struct vpa_text_sections all = {.count = 0};
	size_t i;

	for (i = 0; i < COUNT(written); i++)
		add(&all, written[i]);
	return all;
}

void vpa_text_put_section(struct vpa_page *p, const struct vpa_report *r,
	const struct vpa_digest *d, const struct vpa_text_section *section)
{
	p->touched = r->touched;
	if (section->put)
		section->put(p, r, d);
	else
		vpa_text_put_view(p, r, d, section->view);
}

static void put_sections(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d,
	const char *only)
{
	const struct vpa_text_sections all = vpa_text_sections();
	size_t i;

	for (i = 0; i < all.count; i++)
		if (only ? !strcmp(only, all.at[i].name) : !vpa_text_is_asked(&all.at[i]))
			vpa_text_put_section(p, r, d, &all.at[i]);
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
	const struct vpa_text_sections all = vpa_text_sections();
	size_t i;

	for (i = 0; i < all.count; i++)
		if (!strcmp(all.at[i].name, name))
			return 1;
	return 0;
}

struct vpa_words vpa_text_section_names(void)
{
	const struct vpa_text_sections all = vpa_text_sections();
	struct vpa_words names = {.used = 0};
	size_t i;

	for (i = 0; i < all.count; i++)
		vpa_words_add(&names, " ", "%s", all.at[i].name);
	return names;
}
