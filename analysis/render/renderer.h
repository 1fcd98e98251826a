/* renderer.h - the forms of a report: text, JSON, Markdown, a page for browsers.
 *
 * A renderer is one exported descriptor. To add one: its file, and a line in VPA_RENDERERS. The command
 * line and its help read this list. */
#ifndef VPA_ANALYSIS_RENDER_RENDERER_H
#define VPA_ANALYSIS_RENDER_RENDERER_H

#include "analysis/report/report.h"
#include "formats/base/error.h"

struct vpa_page;
struct vpa_words;
struct vpt_sink;

/* Layout of the text report. All zero: the first screen, 80 columns, no colours. */
struct vpa_text {
	unsigned width;   /* columns of the terminal; 0: 80 */
	int colour;       /* ANSI colours */
	int full;         /* every section, not only the first screen */
	const char *only; /* only this section, by its name; NULL: all */
	const char
		*command; /* the command line that makes the report, for a page; NULL: not known */
};

#define VPA_TOP_PAGE 100 /* rows per table of the page */

struct vpa_renderer {
	const char *name;
	int has_layout;     /* --full, --brief and --only apply to it */
	int needs_overview; /* it draws struct vpa_overview */
	size_t top;         /* rows per table if the user gives no number; 0: VPA_TOP_USUAL */
	/* 0, the sink's error, or VPT_ENOMEM. `form` is for the text report; never NULL. */
	int (*render)(const struct vpa_report *r, const struct vpa_text *form,
		struct vpt_sink *sink, struct vpt_err *err);
};

/* The first one is the default. */
#define VPA_RENDERERS(X)                                                                           \
	X(text)                                                                                    \
	X(json)                                                                                    \
	X(md)                                                                                      \
	X(html)

#define VPA_DECLARE(name) extern const struct vpa_renderer vpa_renderer_##name;
VPA_RENDERERS(VPA_DECLARE)
#undef VPA_DECLARE

/* The renderer of this name; NULL: none. */
const struct vpa_renderer *vpa_renderer_find(const char *name);

/* The text report, and JSON. 0, the sink's error, or VPT_ENOMEM. */
int vpa_render_text(const struct vpa_report *r, const struct vpa_text *form, struct vpt_sink *sink,
	struct vpt_err *err);
int vpa_render_json(const struct vpa_report *r, struct vpt_sink *sink, struct vpt_err *err);

/* Lets `put` fill a page whose paragraphs become items of a list and whose tables become tables of Markdown, with at most
 * `rows` rows in a group. 0, or the first failure. */
int vpa_markdown_page(void (*put)(struct vpa_page *p, const void *ctx), const void *ctx,
	size_t rows, struct vpt_sink *sink, struct vpt_err *err);

/* Whether the text report has a section of this name; all names, with a blank between them. */
int vpa_text_has_section(const char *name);
struct vpa_words vpa_text_section_names(void);

#endif
