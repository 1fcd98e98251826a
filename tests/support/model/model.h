/* model.h - the analyzer's numbers, computed again in the slowest and most obvious way.
 *
 * Everything is read into flat arrays; time is cut at every edge there is, and for each piece all events are
 * looked at. No order of arrival, no chunks, no forgetting: what the definitions say, and nothing else. So the
 * model is right where it can be read against the definitions, and takes quadratic time.
 *
 *	model.c         events of a trace, joined: launches, ranges, the window
 *	model_causes.h  gaps and what they waited for
 *	model_gaps.c    devices, and the report's causes against those
 *	model_tables.c  ranges, kernels, families, copies, syncs, counts
 *	model_causes.h  why each device was idle: the causes of each gap
 */
#ifndef VPT_TESTS_SUPPORT_MODEL_H
#define VPT_TESTS_SUPPORT_MODEL_H

#include "analysis/model/model.h"
#include "analysis/report/analysis_options.h"
#include "analysis/report/report.h"
#include "formats/import/any_trace.h"
#include "tests/support/model/model_call_kinds.h"

struct model_lane {
	uint64_t key, type;
	int64_t pid, tid, device, stream;
};

struct model_call {
	uint64_t start, end, corr;
	size_t thread, order;
	int64_t pid;
	const char *name;
	enum vpt_call_class klass;
	size_t ops;      /* that it launched */
	int is_pageable; /* it has an op by pageable memory, or encloses a call that has */
	int failed;      /* it returned an error, so it launched nothing */
	int reversed;    /* it ended before it started; end is start here */

	/* For causes alone; see model_threads.h. */
	enum model_call_kind kind;
	struct model_call *outer; /* the last outermost call around it, or itself */
	int pageable;             /* it, or a call inside it, has an op from or to such memory */
	int submits;              /* it, or a call inside it, puts work on a device */
	uint64_t own_start;       /* of an outermost call: where its time is no earlier one's */
};

struct model_range {
	uint64_t start, end; /* end ~0 while nothing has closed it */
	const char *name, *domain;
	size_t thread, order;
	int64_t pid;
	int process_wide, unmatched, reversed;
};

struct model_op {
	uint64_t start, end, corr, bytes, blocks; /* start and end clipped to the window */
	uint64_t raw_start, raw_end;
	size_t stream, order;
	int64_t device, pid;
	const char *name; /* of a kernel; NULL for copies and memsets */
	enum vpa_op_kind kind;
	enum vpa_family family;
	int node, valid, empty, counted, active; /* active: of positive length inside the window */
	uint64_t copy_kind, source, target;
	struct model_call *launch;
	size_t place; /* for causes: in the order of ops */
};

struct model_wait {
	uint64_t start;
	size_t stream; /* its lane */
	uint64_t corr;
	uint64_t asked_ns; /* for causes: when the call that asked for it began, or start */
};

struct model_overhead {
	uint64_t start, end, kind; /* VPT_OVERHEADKIND_* */
	size_t lane;
};

struct model_loss {
	uint64_t start, end, kind; /* VPT_LOSSKIND_* */
};

struct model_sms {
	int64_t device;
	uint64_t count;
};

#define MODEL_LIST(type)                                                                           \
	struct {                                                                                   \
		struct type *items;                                                                \
		size_t count, cap;                                                                 \
	}

struct model {
	MODEL_LIST(model_lane) lanes;
	MODEL_LIST(model_call) calls;
	MODEL_LIST(model_range) ranges;
	MODEL_LIST(model_op) ops; /* after reading: in order of start, stream, correlation */
	MODEL_LIST(model_wait) waits;
	MODEL_LIST(model_overhead) overheads;
	MODEL_LIST(model_loss) losses;
	MODEL_LIST(model_sms) sms;
	char **texts;
	size_t text_count, text_cap;
	size_t range_rows, open_count; /* rows so far, ranges that nothing has closed yet */
	uint64_t window_start, window_end;
	uint64_t limit; /* of what is counted: the window's end if one was asked for, else ~0 */
	uint64_t last_clock, last_event;
	int has_last;
	char why[1024]; /* what differs, "" if nothing does */
};

/* Compares a report of `trace`, made with these options (neither range nor rules, min_gap_ns 1 and a `top` that
 * cuts nothing), with the model's. NULL if they agree, else what differs first: good until the next call. */
const char *vpt_model_differs(const struct vpt_trace *trace, const struct vpa_options *options,
	const struct vpa_report *report);

/* The same of devices and what their idle time waited for alone. */
const char *vpt_model_devices_differ(const struct vpt_trace *trace,
	const struct vpa_options *options, const struct vpa_report *report);

/* ---- parts, for each other ---- */

/* Reads all chunks of a trace into `m`, which is all zeros, and frees what it holds. */
void model_read(struct model *m, const struct vpt_trace *trace);
void model_free(struct model *m);
/* The window of a capture: from its start to its last clock point, or what was asked for. */
void model_choose_window(
	struct model *m, const struct vpt_trace *trace, const struct vpa_options *o);

#define MODEL_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Words the first difference; later ones are dropped. */
__attribute__((format(printf, 2, 3))) void model_say(struct model *m, const char *format, ...);
void model_same(
	struct model *m, const char *where, const char *what, uint64_t model, uint64_t report);

int model_same_text(const char *a, const char *b); /* NULL equals only NULL */

/* The innermost range of a thread at a moment, process-wide ones included; NULL: none. */
const struct model_range *model_range_at(const struct model *m, size_t thread, uint64_t t);
/* Whether a range is open for a thread at a moment. */
int model_is_open(const struct model *m, const struct model_range *r, size_t thread, uint64_t t);
/* Whether `a` lies inside `b` where both are open: it began last, or ends first, or completed first. A thread's own
 * ranges are inside of process-wide ones that began at the same moment. */
int model_range_is_inside(const struct model_range *a, const struct model_range *b);
/* What the call was like for its thread: a copy may block. */
enum vpt_call_class model_effect(const struct model_call *c);

/* Edges of time: put in any order, sorted with model_edges_sort(). */
struct model_edges {
	uint64_t *items;
	size_t count, cap;
};
void model_edge(struct model_edges *e, uint64_t t);
void model_edges_sort(struct model_edges *e);

/* Each compares a part of the report. */
int model_has_pauses(const struct model *m);

struct model_causes;
void model_check_devices(
	struct model *m, const struct model_causes *causes, const struct vpa_report *r);
void model_check_tables(
	struct model *m, const struct model_causes *causes, const struct vpa_report *r);

#endif
