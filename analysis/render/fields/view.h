/* view.h - what people see of the rows of a report: where a table stands, and which values of a row are its columns.
 *
 * fields.h says what the values of a row are. A view stands beside the fields of its rows and says what of them is
 * shown. The text report and Markdown have only its columns; the page has others on request. A table without a view is
 * on the page too, under "Everything else". A view with a title in the text is a section of its own there:
 *
 *	{"misfits", "Alignment, precision, layout", .section = "kernels", .first = "title calls exclusive_ns",
 *		.text = {"misfits", .after = "kernels", .rank = 16, .title = "ALIGNMENT, PRECISION, LAYOUT",
 *			.label = "{title}", .worth = "exclusive_ns"},
 *		VPA_TEXT_COLUMNS({"ms", .key = "exclusive_ns"}, {"calls", .key = "calls", .drop = 1})},
 *
 * Views are listed in an array of each fields_*.c, in the order in which their tables stand; `after` puts one elsewhere. */
#ifndef VPA_ANALYSIS_RENDER_FIELDS_VIEW_H
#define VPA_ANALYSIS_RENDER_FIELDS_VIEW_H

#include <stddef.h>

/* How the number of a cell is written: by its unit, which makes milliseconds of ns, or as these say. */
enum vpa_cell_form {
	VPA_CELL_USUAL,
	VPA_CELL_DURATION, /* with the unit that fits */
	VPA_CELL_OF_BUSY,  /* percent of the devices' busy time */
	VPA_CELL_OF_WINDOW,
	VPA_CELL_RATE, /* three digits */
	VPA_CELL_WHOLE
};

struct vpa_column {
	const char *head;
	const char *key; /* the field of the row in the cell; NULL: the section fills it */
	const char *
		over; /* the cell is the mean: the field's time for each of this count; NULL: no mean */
	enum vpa_cell_form form;
	int blank;     /* 1: an unknown value or 0 is blank; else an unknown one is "-" */
	unsigned drop; /* a narrow page drops the highest first; 0: never */
	/* Of the numbers, where neither the head nor the cells say it: a terminal shows it only for
	 * the first of similar columns. NULL: none. */
	const char *unit;
	int rare;         /* 1: a table whose rows all have 0 here leaves it out */
	const char *note; /* explains it in a line below the table; NULL: none */
};

/* A section of the text report that has this table only. */
struct vpa_view_text {
	const char *
		section; /* its name for --only; NULL: a function prints the table, or nothing does */
	const char *after;   /* the section that it follows */
	unsigned rank;       /* see text_sections.def */
	const char *title;   /* "COPIES" */
	int is_asked;        /* 1: a long list, which only --only shows */
	unsigned least_rows; /* with fewer rows it is left out */
	unsigned most;       /* rows that it shows, unless --top says; 0: all */
	/* Where struct vpa_report says how many there are, a size_t; 0: the report has all. */
	size_t used_at;
	/* The label of a row, and of a line below it: "{key}" is a value of the row; a GPU is known only if there are
	 * several. "[...]" is left out if a value in it is not known. A name of a kernel is shortened: "{kernel:40}". */
	const char *label, *below;
	/* A time: rows below a thousandth of it in `worth_of` are left out unless --top asks for them. NULL: none are. */
	const char *worth;
	enum vpa_cell_form worth_of; /* VPA_CELL_OF_BUSY or VPA_CELL_OF_WINDOW */
};

struct vpa_view {
	const char *path;    /* of the rows: "attention.backends" */
	const char *title;   /* on the page; NULL: it has no place there */
	const char *section; /* of the page, by id; NULL: a function prints it */
	const char *after;   /* of the same section: the path that it follows; NULL: as listed */
	const char *first;   /* keys shown at first, separated by blanks; NULL: all */
	const char *prefix;  /* rows have ids of this letter and a number, from 1; NULL: none */
	struct vpa_view_text text;
	const struct vpa_column
		*columns; /* of the text; NULL: it has no such table, or a function knows them */
	size_t column_count;
};

#define VPA_TEXT_COLUMNS(...)                                                                      \
	.columns = (const struct vpa_column[]){__VA_ARGS__},                                       \
	.column_count = sizeof((struct vpa_column[]){__VA_ARGS__}) / sizeof(struct vpa_column)

/* All views of a report, by number from 0; NULL: there are no more. */
const struct vpa_view *vpa_view_at(size_t i);
/* The view of these rows; NULL: there is none. */
const struct vpa_view *vpa_view_of(const char *path);

/* The arrays of fields_*.c; the last element of each has no path. */
extern const struct vpa_view vpa_views_report[], vpa_views_pipeline[], vpa_views_counters[],
	vpa_views_lines[], vpa_views_expert[], vpa_views_said[];

#endif
