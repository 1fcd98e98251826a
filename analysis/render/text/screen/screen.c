/* screen.c - the order of the first screen, and what is left out where it would be too long. */
#include "analysis/render/text/screen/screen.h"

static const struct section {
	unsigned rank;
	void (*put)(struct vpa_page *p, const struct vpa_screen *s);
} sections[] = {
#define VPA_SCREEN(rank, put) {rank, put},
#include "analysis/render/text/screen/screen_sections.def"
};

enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

static void put_one(struct vpa_page *p, const struct vpa_screen *s,
	void (*put)(struct vpa_page *, const struct vpa_screen *))
{
	p->touched = s->report->touched;
	put(p, s);
	p->touched = 0;
}

/* Nothing is written by a page that has failed. */
static size_t lines_of(
	const struct vpa_page *p, const struct vpa_screen *s, const struct section *section)
{
	struct vpa_page counted = *p;

	counted.rc = VPT_END;
	counted.line_count = 1; /* an empty line before it counts */
	put_one(&counted, s, section->put);
	return counted.line_count - 1;
}

/* The ranks below this one fit. */
static unsigned first_left_out(const struct vpa_page *p, const struct vpa_screen *s)
{
	size_t lines[SECTIONS], all = 0, i;
	unsigned rank = SECTIONS;

	for (i = 0; i < SECTIONS; i++)
		all += lines[i] = lines_of(p, s, &sections[i]);
	while (all > VPA_SCREEN_LINES && rank > 1)
		for (rank--, i = 0; i < SECTIONS; i++)
			all -= sections[i].rank == rank ? lines[i] : 0;
	return rank;
}

void vpa_screen_put(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct vpa_screen s;
	unsigned rank;
	size_t i;

	vpa_screen_of(r, d, &s);
	rank = first_left_out(p, &s);
	for (i = 0; i < SECTIONS; i++)
		if (sections[i].rank < rank)
			put_one(p, &s, sections[i].put);
}
