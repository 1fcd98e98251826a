/* ranks_pages.h - a job of several ranks as text, Markdown, JSON and a page for browsers. */
#ifndef VPA_ANALYSIS_RANKS_RENDER_RANKS_PAGES_H
#define VPA_ANALYSIS_RANKS_RENDER_RANKS_PAGES_H

#include "analysis/ranks/job.h"
#include "analysis/ranks/late_ranks.h"
#include "analysis/render/text_page.h"

#define VPA_RANKS_SCHEMA "vptrace.ranks/1"

/* Puts the answer on one screen: who waits, for whom, for what; of the summary of one rank what it knows. is_full: every metric,
 * not only those that differ. */
void vpa_ranks_put(struct vpa_page *p, const struct vpa_job *job, int is_full);

/* The keys of a job as JSON, see fields.h. */
extern const struct vpa_fields vpa_fields_ranks;

/* Writes a job as JSON, as Markdown, and as a page that `command` makes. 0, the sink's error or VPT_ENOMEM. */
int vpa_ranks_json(const struct vpa_job *job, struct vpt_sink *sink, struct vpt_err *err);
int vpa_ranks_markdown(const struct vpa_job *job, struct vpt_sink *sink, struct vpt_err *err);
int vpa_ranks_html(
	const struct vpa_job *job, const char *command, struct vpt_sink *sink, struct vpt_err *err);

/* ---- what these share ---- */

/* What the summary of one rank knows. */
void vpa_rank_put(struct vpa_page *p, const struct vpa_rank *rank);

/* Names of enum vpa_late_class and enum vpa_late_kind in JSON, from 0; NULL: no more. */
const char *vpa_late_class_choice(size_t i);
const char *vpa_late_kind_choice(size_t i);

/* RESULT of the first screen, and CAUSE. */
void vpa_ranks_put_result(
	struct vpa_page *p, const struct vpa_job *job, const struct vpa_late_ranks *late);
/* The table of the first screen that has a row for each rank that is to blame. */
void vpa_ranks_put_table(struct vpa_page *p, const struct vpa_job *job);

/* The table of metrics: all, or those that differ between ranks and stand in no other table. */
void vpa_ranks_put_metrics(struct vpa_page *p, const struct vpa_job *job, int is_full);
/* The rates of the job in a sentence; "": there are none. */
struct vpa_words vpa_ranks_rate_words(const struct vpa_job *job);

/* The fixes worth saying, in order. Returns their number. */
size_t vpa_ranks_fixes(const struct vpa_job *job, const struct vpa_late_ranks *late,
	const struct vpa_job_fix *out[VPA_FIXES_MOST]);
struct vpa_words vpa_ranks_fix_words(const struct vpa_job *job, const struct vpa_job_fix *f);
/* A pattern in a sentence. */
struct vpa_words vpa_ranks_pattern_words(
	const struct vpa_job *job, const struct vpa_job_pattern *p);
/* The pattern of a kind that matters most; NULL: there is none. */
const struct vpa_job_pattern *vpa_ranks_pattern(
	const struct vpa_job *job, enum vpa_pattern_kind kind);
/* The slow link that is the result of the job, since nobody is late for reasons of its own; NULL: none. What it takes, of a rank
 * that uses it. */
const struct vpa_job_pattern *vpa_ranks_slow_link(
	const struct vpa_job *job, const struct vpa_late_ranks *late);
/* The pipeline of which a late rank is the stage that computes most; NULL: there is none. */
const struct vpa_job_pattern *vpa_ranks_heavy_stage(
	const struct vpa_job *job, const struct vpa_late_ranks *late);
uint64_t vpa_ranks_link_ns(const struct vpa_job_pattern *p);
const char *vpa_scaling_words(enum vpa_scaling_part part);

/* The sections of the page with pictures: all ranks over the job's time, and a few collectives of it. */
struct vpa_html;
void vpa_ranks_put_timeline(
	struct vpa_html *h, const struct vpa_job *job, const struct vpa_late_ranks *late);
void vpa_ranks_put_close_up(
	struct vpa_html *h, const struct vpa_job *job, const struct vpa_late_ranks *late);

/* What each rank takes for each stage, and for each part of a unit: a table; of many ranks how many take how long. */
void vpa_ranks_put_matrix(
	struct vpa_html *h, const struct vpa_job *job, const struct vpa_late_ranks *late);

/* ---- ranks_strips.c: what ranks did over a window of the job's time, in columns of equal length.
 *
 * Between two marks of a rank it is known how long it did what, but not when: there it is spread evenly. Where a
 * collective ran beside nothing, its time until the last rank came is waiting, the rest transfer. */

/* In the order in which they stand in a column, from below. */
enum vpa_rank_doing {
	VPA_DOING_COMPUTE,
	VPA_DOING_COPY,
	VPA_DOING_TRANSFER,
	VPA_DOING_WAIT,
	VPA_DOING_IDLE,
	VPA_DOINGS
};

const char *vpa_doing_words(enum vpa_rank_doing doing); /* "waits for other ranks" */

struct vpa_rank_column {
	uint64_t ns[VPA_DOINGS];
};

struct vpa_rank_strips {
	int64_t start_ns; /* of the window, in the job's time */
	uint64_t length_ns, column_ns;
	size_t column_count;
	struct vpa_rank_column *columns; /* by rank and column */
};

/* The job's time from the first op to the last; a rank whose clock is not placed begins at 0. */
void vpa_job_window(const struct vpa_job *job, int64_t *start_ns, uint64_t *length_ns);

/* Fills strips of a window, of at most `most` columns. vpa_rank_strips_free() frees them, whatever this returns: 0 or
 * VPT_ENOMEM. */
int vpa_rank_strips_find(const struct vpa_job *job, int64_t start_ns, uint64_t length_ns,
	size_t most, struct vpa_rank_strips *out);
void vpa_rank_strips_free(struct vpa_rank_strips *s);

/* Adds up the columns of several ranks. */
void vpa_rank_column_add(struct vpa_rank_column *sum, const struct vpa_rank_column *c);

/* ---- one collective, as the page draws it ---- */

struct vpa_job_meeting {
	int64_t last_ns;   /* the last arrival, in the job's time */
	size_t last;       /* who came last: an index in job->ranks */
	size_t rank_count; /* that were there */
	uint64_t wait_ns;  /* of all of them */
};

/* Calls `put` for each collective of which two ranks or more are known. */
void vpa_job_meetings(const struct vpa_job *job,
	void (*put)(
		void *ctx, const struct vpa_group *g, size_t row, const struct vpa_job_meeting *m),
	void *ctx);

#endif
