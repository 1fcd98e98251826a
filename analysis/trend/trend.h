/* trend.h - archived reports in order of time: how their figures move, and where they changed.
 *
 *	report --> point: time, commit, tags, figures --> changes of each figure --> trend_text.c, trend_rows.c
 *
 * A change splits a series of reports in two whose means differ more than chance explains; each half may have changes of its
 * own. */
#ifndef VPA_ANALYSIS_TREND_TREND_H
#define VPA_ANALYSIS_TREND_TREND_H

#include "analysis/base/arena.h"
#include "analysis/report/report.h"

enum vpa_trend_figure {
	VPA_TREND_FPS,    /* that of RESULT: steady, or else end to end */
	VPA_TREND_STEPS,  /* steps per second */
	VPA_TREND_PERIOD, /* ns of the mean unit */
	VPA_TREND_IDLE,   /* share of the devices' window */
	VPA_TREND_MEMORY, /* bytes at most: of PyTorch's allocator, or else of the device */
	VPA_TREND_ENERGY, /* J per frame, or else of the capture */
	VPA_TREND_FIGURES
};

struct vpa_trend_point {
	const char *path, *commit, *tags;  /* "": none */
	uint64_t unix_ns;                  /* the window's start as a time of day; 0: unknown */
	enum vpa_unit_kind unit;           /* of the report's period */
	double figures[VPA_TREND_FIGURES]; /* below 0: the report has none */
	double causes[VPA_CAUSES];         /* share of the devices' window that is idle for it */
	int complete;
	int is_shift; /* bits by figure: the first report after a change */
};

struct vpa_trend_shift {
	enum vpa_trend_figure figure;
	size_t from, at,
		to; /* points from..at - 1 and at..to - 1, those without the figure left out */
	size_t before_count, after_count; /* that have it */
	double before, after;             /* means */
	double p;                         /* how often chance makes a split so clear */
	enum vpa_cause
		cause; /* whose share of the window moved most; VPA_CAUSES: none did by a hundredth */
	double cause_before, cause_after;
};

struct vpa_trend {
	struct vpa_trend_point *points; /* by time; as they were added where a time is unknown */
	size_t count, cap;
	int is_by_time;
	/* What most reports count in, so that periods can be compared: those of other units are left out. The window: no report has
	 * a period. */
	enum vpa_unit_kind unit;
	struct vpa_trend_shift *shifts; /* by figure, then place */
	size_t shift_count, shift_cap;
	struct vpa_arena texts;
};

/* "2026-03-01 14:05", in UTC; "" for 0. */
enum { VPA_TREND_TIME = 24 };
void vpa_trend_time(uint64_t unix_ns, char out[VPA_TREND_TIME]);

extern const struct vpa_trend_words {
	const char *name;  /* as CSV and JSON call it: "fps" */
	const char *words; /* in a sentence */
	const char *head;  /* of its column; NULL: what vpa_trend_words() says */
	unsigned drop;     /* a narrow page drops the highest first; 0: never */
} vpa_trend_figures[VPA_TREND_FIGURES];

/* Adds a report, of which nothing is kept. 0 or VPT_ENOMEM. */
int vpa_trend_add(struct vpa_trend *t, const struct vpa_report *r);
/* Sorts the points and finds the changes. 0 or VPT_ENOMEM. */
int vpa_trend_find(struct vpa_trend *t);
void vpa_trend_free(struct vpa_trend *t);

/* ---- a trend as text, as a page, as rows, and as JSON ---- */

struct vpa_num;
struct vpa_page;
struct vpt_sink;

void vpa_trend_put(struct vpa_page *p, const struct vpa_trend *t);
/* The same without the table of reports. */
void vpa_trend_put_changes(struct vpa_page *p, const struct vpa_trend *t);
/* A figure as it is written; "-": there is none. Its name in a sentence: "FPS", "step period". The cause that is idle most. */
struct vpa_num vpa_trend_value(enum vpa_trend_figure figure, double value);
struct vpa_num vpa_trend_words(const struct vpa_trend *t, enum vpa_trend_figure figure);
enum vpa_cause vpa_trend_main_cause(const struct vpa_trend_point *p);

/* One page for a browser. `command` makes it; NULL: not known. 0, the sink's error or VPT_ENOMEM. */
int vpa_trend_html(
	const struct vpa_trend *t, const char *command, struct vpt_sink *sink, struct vpt_err *err);
/* A line for each report. 0, the sink's error or VPT_ENOMEM. */
int vpa_trend_csv(const struct vpa_trend *t, struct vpt_sink *sink, struct vpt_err *err);
int vpa_trend_json(const struct vpa_trend *t, struct vpt_sink *sink, struct vpt_err *err);

#endif
