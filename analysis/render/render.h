/* render.h - a page of text: paragraphs and tables that never leave their columns. For
 * text*.c alone.
 *
 * A page is sticky: after a failure nothing is written, vpa_page.rc tells. Texts may hold any
 * bytes; the page escapes what a terminal would obey. */
#ifndef VPA_ANALYSIS_RENDER_RENDER_H
#define VPA_ANALYSIS_RENDER_RENDER_H

#include "analysis/limit.h"
#include "analysis/render/kernel_names.h"
#include "analysis/render/units.h"
#include "analysis/report.h"

#include "formats/io.h"

#include <string.h>

enum vpa_style { VPA_PLAIN, VPA_BOLD, VPA_RED, VPA_YELLOW, VPA_GREEN };

struct vpa_page {
	struct vpt_sink *sink; /* borrowed */
	struct vpt_err *err;
	int rc;
	unsigned width; /* VPA_WIDTH_MIN .. VPA_COLUMNS_MAX */
	int colour;
	int touched; /* what comes now has figures that missing records may change: sections and titles are marked */
};

enum { VPA_WIDTH_MIN = 60, VPA_INDENT = 8 };

#define VPA_TOUCHED "[!]" /* the mark of such figures */

void vpa_page_init(
	struct vpa_page *p, struct vpt_sink *sink, unsigned width, int colour, struct vpt_err *err);
void vpa_page_blank(struct vpa_page *p);

/* A paragraph, broken between words, VPA_INDENT columns in; `section` stands before its first line
 * ("" for none, at most VPA_INDENT - 1 characters). Its first word has the style. Paragraphs of
 * more than 2 KB are cut. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void vpa_page_words(struct vpa_page *p, const char *section, enum vpa_style style, const char *fmt,
	...);

/* ---- tables: a label on the left, numbers on the right ---- */

enum { VPA_TABLE_COLUMNS = 8, VPA_TABLE_BLOCK = 48 };

struct vpa_column {
	const char *head;
	unsigned drop; /* on a narrow page columns go, the highest first; 0: never */
};

struct vpa_row {
	struct vpa_label label;
	unsigned indent;
	enum vpa_style style;
	int wide; /* no cells: the label has the whole line */
	int wrap; /* a long label goes on below, instead of losing its middle */
	struct vpa_num cells[VPA_TABLE_COLUMNS]; /* ASCII */
};

/* Rows stay where they are while others are added: all but the first are in blocks of their own. */
struct vpa_table {
	const struct vpa_column *columns;
	size_t column_count, row_count;
	struct vpa_label title;
	struct vpa_row first[VPA_TABLE_BLOCK];
	struct vpa_row **blocks; /* the next rows; vpa_page_table() frees them */
	size_t block_count, block_cap;
	int failed; /* no memory for a row */
};

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void vpa_table_init(struct vpa_table *t, const struct vpa_column *columns, size_t column_count,
	const char *title, ...);

/* Adds a row; its cells are the caller's to fill, empty ones stay blank. Never NULL: without memory
 * the last row is given again, and the page fails. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
struct vpa_row *
vpa_table_row(struct vpa_table *t, unsigned indent, const char *label, ...);

/* A row of text over the whole width, and more lines if it takes them. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
struct vpa_row *
vpa_text_row(struct vpa_table *t, unsigned indent, const char *text, ...);

struct vpa_row *vpa_table_at(const struct vpa_table *t, size_t row);

/* Prints the table and frees its rows: each table that got a row has to come here. */
void vpa_page_table(struct vpa_page *p, struct vpa_table *t);
/* The columns that labels of this table have on the page, their indent with them. */
size_t vpa_page_label_columns(const struct vpa_page *p, const struct vpa_table *t);

/* Rows of a table that usually has so many: those of --top, if it was given. */
static inline size_t vpa_rows(const struct vpa_report *r, size_t usual)
{
	return r->top ? r->top : usual;
}

/* ---- words put together ---- */

struct vpa_words {
	char text[1024];
	size_t used;
};

/* Appends with a separator before all but the first. What does not fit is left out. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void vpa_words_add(struct vpa_words *w, const char *separator, const char *fmt, ...);

/* ---- the sections of the report, each silent without data ---- */

/* A place where idle time was opened, over all devices. */
struct vpa_idle_place {
	enum vpa_cause cause;
	const char *call, *range;
	uint64_t ns, gaps;
	const char *inside; /* the host was in this call for inside_ns of it */
	uint64_t inside_ns;
};

enum { VPA_PLACES = 256, VPA_HEADS = 32 };

/* What several sections say of the same sums. */
struct vpa_digest {
	uint64_t window_ns, windows_ns; /* one, and one for each device */
	uint64_t active_ns, busy_ns, idle_ns, window_idle_ns, gaps, window_gaps;
	uint64_t edge_ns; /* of the window's idle time: its heads and tails */
	uint64_t cause_ns[VPA_CAUSES], cause_gaps[VPA_CAUSES];
	enum vpa_cause causes[VPA_CAUSES]; /* by ns, falling; those with any */
	size_t cause_count;
	struct vpa_idle_place
		places[VPA_PLACES]; /* by ns, falling; later ones are in the sums only */
	size_t place_count;
	struct vpa_label unknown; /* vpa_unknown_label() */
	struct vpa_idle_place
		heads[VPA_HEADS]; /* what the hosts did before the first work, by ns, falling */
	size_t head_count;
	enum vpa_limit limit; /* of all devices together */
	int gpu_bound;        /* it is what they do, not what they wait for */
	unsigned decimals;    /* of a millisecond, for this window */
};

enum { VPA_REASONS = 3 }; /* sentences of the verdict at the top; the others follow under NOTES */

void vpa_digest_of(const struct vpa_report *r, struct vpa_digest *d);
/* Idle time of one cause in one call but in many ranges, each with little of it: the
 * sum over the ranges, whose number is set. For the call of the cause's largest place; no ns if
 * there is none. */
struct vpa_idle_place vpa_call_of(const struct vpa_digest *d, enum vpa_cause cause, size_t *ranges);
/* The largest place of a cause; NULL: none is known. */
const struct vpa_idle_place *vpa_first_place(const struct vpa_digest *d, enum vpa_cause cause);
/* The places of a cause that differ from its largest in the range's numbers alone, added up: "IO 190", "IO 200". Their
 * number is set. */
struct vpa_idle_place vpa_alike_of(
	const struct vpa_digest *d, enum vpa_cause cause, size_t *ranges);
enum vpa_cause vpa_known_cause(enum vpa_cause cause); /* "unknown" for a number out of range */
int vpa_is_edge(enum vpa_cause cause);                /* head or tail of the window */
/* "cudaMemcpy in to_host", "before step 3"; in at most `columns`. Empty where neither is known. */
struct vpa_label vpa_place(const char *call, const char *range, size_t columns);
/* A family's name; of the kernels of none also what they are called. NULL is "?". */
const char *vpa_family_text(const struct vpa_digest *d, const char *family);

/* "host waited for the GPU (sync)"; the key alone where both are the same. */
struct vpa_label vpa_cause_label(enum vpa_cause cause);
struct vpa_label vpa_cause_sentence(enum vpa_cause cause); /* "sync: host waited for the GPU" */
/* The call in which most of a cause's time was spent that earlier waits made idle time; no ns where that is at most a
 * quarter of the cause. */
struct vpa_idle_place vpa_inside_of(const struct vpa_digest *d, enum vpa_cause cause);

int vpa_is_note(const struct vpa_finding *f); /* information, and no gain: it goes under NOTES */

static inline size_t vpa_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* NULL is the same as NULL alone. */
static inline int vpa_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static inline const char *vpa_text_or(const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

static inline struct vpa_num vpa_mean(uint64_t total_ns, uint64_t count)
{
	return count ? vpa_duration(total_ns / count) : (struct vpa_num){"-"};
}

static inline struct vpa_num vpa_ms(uint64_t ns, const struct vpa_digest *d)
{
	return vpa_scaled(ns, 1000000, d->decimals);
}

/* What devices with such a load are limited by, if they are bound: "the work itself", "copies that no kernel hides ...". */
void vpa_limit_cause(struct vpa_words *w, const struct vpa_report *r, enum vpa_limit limit,
	struct vpa_load load);

void vpa_text_summary(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
/* text_blocks.c. Whether a request has blocks to speak of; then they lead. */
int vpa_has_blocks(const struct vpa_report *r);
void vpa_text_pipeline(struct vpa_page *p, const struct vpa_report *r);
/* Returns whether it has told what limits the blocks: of a single one nothing can be said. */
int vpa_text_block_result(
	struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
void vpa_text_blocks(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
void vpa_text_findings(struct vpa_page *p, const struct vpa_report *r);
void vpa_text_devices(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
void vpa_text_window(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
void vpa_text_gaps(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
void vpa_text_work(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
void vpa_text_notes(struct vpa_page *p, const struct vpa_report *r);
void vpa_text_next(struct vpa_page *p, const struct vpa_report *r);

#endif
