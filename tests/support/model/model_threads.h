/* model_threads.h - what a thread did: its calls in order and which of them are outermost, its stream captures, the
 * ranges that were open. A part of the model of causes (model_causes.h); nobody else needs it. */
#ifndef VPT_TESTS_SUPPORT_MODEL_THREADS_H
#define VPT_TESTS_SUPPORT_MODEL_THREADS_H

#include "tests/support/model/model.h"

/* Where the name of a range counts: in this order, whatever began last. FOREIGN: a process-wide annotation that another
 * thread opened. */
enum model_level {
	MODEL_ANNOTATION,
	MODEL_CPU_OP,
	MODEL_PYTHON,
	MODEL_FOREIGN,
	MODEL_STEP,
	MODEL_LEVELS
};

struct model_time {
	uint64_t start, end;
};

struct model_thread {
	struct model_call **calls; /* in order; queries and what ended before it started left out */
	size_t call_count;
	struct model_call **outermost; /* those inside none, in the same order */
	size_t outermost_count;
	size_t lane;
	const struct model_range **ranges; /* all that can be open on it, by start */
	size_t range_count;
	uint64_t *reach;             /* for each range: the latest end of it and those before */
	struct model_time *captures; /* of streams; end ~0 while nothing has ended it */
	size_t capture_count, capture_cap;
};

/* Makes a thread for every lane of the model, and sets what its calls have for causes. The caller frees them. */
struct model_thread *model_threads_new(struct model *m);
void model_threads_free(struct model_thread *threads, size_t count); /* accepts NULL */

/* Whether this is a record that counts beside the window: no query, and it did not end before it started. */
int model_is_call(const struct model_call *c);
/* Whether two of one process, as far as both are known. */
int model_same_process(int64_t a, int64_t b);
/* The kind of a call; an asynchronous copy from or to pageable memory blocks. */
enum model_call_kind model_kind(const struct model_call *c);
/* Whether the thread captures a stream at a moment. */
int model_captures(const struct model_thread *thread, uint64_t t);

enum model_level model_level_of(const struct model_range *r);
/* The name of the range that the thread is in at a moment; NULL: in none. */
const char *model_place_at(const struct model_thread *thread, uint64_t t);
/* The range in the middle of [start, end) that covers more than half of it; NULL: none does. */
const char *model_place_of(const struct model_thread *thread, uint64_t start, uint64_t end);

#endif
