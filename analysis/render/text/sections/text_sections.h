/* text_sections.h - the sections of the text report: those of text_sections.def, in its order, and after them or between them
 * those of views (fields/view.h) that are a section of their own.
 *
 * When a section begins, p->touched is set for figures of the window. Sections with other figures set
 * it themselves. */
#ifndef VPA_ANALYSIS_RENDER_TEXT_SECTIONS_TEXT_SECTIONS_H
#define VPA_ANALYSIS_RENDER_TEXT_SECTIONS_TEXT_SECTIONS_H

#include "analysis/render/digest.h"
#include "analysis/render/kernel_names.h"
#include "analysis/render/text_page.h"
#include "analysis/report/report.h"

/* Every section: text_summary.c, text_steps.c, text_findings.c, text_blocks.c, text_fps.c, text_window.c, text_work.c. */
#define VPA_SECTION(name, rank, put)                                                               \
	void put(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
#include "analysis/render/text/sections/text_sections.def"

enum { VPA_TEXT_SECTIONS = 64 }; /* maximum */

struct vpa_text_section {
	const char *name;
	size_t rank;
	/* Prints it; NULL: the view is printed. */
	void (*put)(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
	const struct vpa_view *view;
};

/* All sections, in the order of the page. */
struct vpa_text_sections {
	struct vpa_text_section at[VPA_TEXT_SECTIONS];
	size_t count;
};
struct vpa_text_sections vpa_text_sections(void);

/* Whether only --only shows it: a long list. */
static inline int vpa_text_is_asked(const struct vpa_text_section *section)
{
	return section->view && section->view->text.is_asked;
}

/* Prints one of them. */
void vpa_text_put_section(struct vpa_page *p, const struct vpa_report *r,
	const struct vpa_digest *d, const struct vpa_text_section *section);

/* Fills the cells of a row that the view has keys for, from the struct of the report that the view is of. */
#define vpa_text_fill(row, view, from, d) vpa_text_fill_bytes(row, view, from, sizeof(*(from)), d)
struct vpa_at;
struct vpa_fields;
void vpa_text_fill_bytes(struct vpa_row *row, const struct vpa_view *view, const void *from,
	size_t bytes, const struct vpa_digest *d);

/* The same for the cells of a table with these columns, from a row of the report with these fields. */
void vpa_text_fill_columns(struct vpa_row *row, const struct vpa_column *columns, size_t count,
	const struct vpa_at *from, const struct vpa_fields *fields, const struct vpa_digest *d);
/* The view's columns in which a row of the report has something to show, or that are not rare. Returns how many. */
size_t vpa_text_columns(const struct vpa_report *r, const struct vpa_view *view,
	struct vpa_column out[VPA_TABLE_COLUMNS]);
/* Prints a table whose view says all of it: text_view.c. Returns the number of rows. */
size_t vpa_text_put_view(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d,
	const struct vpa_view *view);

/* The end of the page: next steps. */
void vpa_text_next(struct vpa_page *p, const struct vpa_report *r);
/* The path if a shell needs no quotes for it, else the word FILE. */
const char *vpa_path_for_shell(const struct vpa_page *p, const char *path);
/* Whether nothing marks blocks or steps of work on a GPU. */
int vpa_text_lacks_marks(const struct vpa_report *r);
/* DATA: reason `i` of the verdict, as an item; `with_remedy`: and how to avoid it, if that is known. */
void vpa_text_reason(struct vpa_page *p, const struct vpa_verdict *v, size_t i, int with_remedy);
/* RUN: the command with all its options, on as many lines as it takes, unless it is a program's text. Returns whether it
 * is known. */
int vpa_text_command(struct vpa_page *p, const struct vpa_report *r);
/* RUN: the GPUs, as parts of a list: "2 x NVIDIA H100 (sm_90)", "1 used". */
void vpa_text_gpus(struct vpa_words *w, const struct vpa_report *r);
/* RESULT: of several requests, which one its figures are of; RUN counts all. The first one often sets up what the others
 * reuse: returns what it has instead ("has 98.8 FPS", "takes 704 ms"), empty if that is about the same. */
struct vpa_label vpa_text_which_request(
	struct vpa_words *w, const struct vpa_report *r, const struct vpa_request *q);
/* RESULT of a trace without work on a GPU: why there is none, and what to check. */
void vpa_text_no_work(struct vpa_page *p, const struct vpa_report *r);

/* RUN of a pipeline: its requests, blocks, frames and steps, as parts of a list; and these with its context passes. */
void vpa_text_pipeline_work(struct vpa_words *w, const struct vpa_report *r);
void vpa_text_pipeline(struct vpa_page *p, const struct vpa_report *r);
int vpa_has_blocks(const struct vpa_report *r); /* whether a request has any */

/* What is known of a finding's bound, in parts that add to a sentence: "130 ms of the mean block's 764 ms"; what that means,
 * "15.7 -> at most 18.9 FPS" or "at most 1.33x as fast"; where most of it is. A part that is not known adds nothing. */
void vpa_finding_time(struct vpa_words *w, const struct vpa_report *r, const struct vpa_finding *f);
void vpa_finding_meaning(struct vpa_words *w, const struct vpa_finding *f);
void vpa_finding_note(struct vpa_words *w, const struct vpa_finding *f);
/* Appends "; may save the same time as 1" if an earlier finding of the list may save most of what it saves. */
void vpa_finding_instead(
	struct vpa_words *w, const struct vpa_report *r, const struct vpa_finding *f);

/* The bound: "18.9 FPS", "68.8-131 ms", "-". */
struct vpa_num vpa_finding_gain(const struct vpa_finding *f);

/* Whether a finding is information without a gain, which goes to NOTES: text_findings.c. */
int vpa_is_note(const struct vpa_finding *f);
/* "110 ms", "68.8-131 ms". */
struct vpa_label vpa_ms_range(double from_ms, double to_ms);

#endif
