/* model_late.h - the part of a gap before the launch was called. A part of the model of causes (model_causes.h). */
#ifndef VPT_TESTS_SUPPORT_MODEL_LATE_H
#define VPT_TESTS_SUPPORT_MODEL_LATE_H

#include "tests/support/model/model_causes.h"
#include "tests/support/model/model_threads.h"

/* A piece in the making. */
struct model_cut {
	struct model_piece piece;
	const struct model_call *in; /* the outermost call it was cut as inside of; NULL: none */
	enum model_cause in_cause;   /* what it counted to then */
	int taken;                   /* by credit */
	int is_host;                 /* of Late or Call, so that overhead records apply */
	/* Host code, whose whole stretch lasts 1 ms or longer or has no call before. */
	int is_long;
};

struct model_cuts {
	struct model_cut *items;
	size_t count, cap;
};

/* One gap and what is known of it. */
struct model_late {
	const struct model *m;
	const struct model_thread *thread; /* that launched */
	const struct model_call *launch;   /* the outermost call around the launch */
	uint64_t start, end;               /* Late: from the gap's start */
	int first_use;                     /* the op that ends the gap is the first of its name */
	uint64_t *counted;                 /* for each call of the model, of this device */
	uint64_t window_start;
};

/* The cause of time inside a call. */
enum model_cause model_cause_of_kind(enum model_call_kind kind);

void model_cuts_put(struct model_cuts *cuts, struct model_cut cut);

/* Puts the pieces of Late: cut by calls, then credited. */
void model_late_cut(const struct model_late *late, struct model_cuts *cuts);

/* Cuts pieces by the overhead records of the trace. */
void model_cut_overhead(const struct model *m, size_t lane, struct model_cuts *cuts);

/* Cuts the pieces of Late and Call, which are [start, end), where the op after them is the first of its name. */
void model_cut_first_use(
	const struct model *m, size_t lane, uint64_t start, uint64_t end, struct model_cuts *cuts);

/* Cuts a piece of time away from all others. */
void model_cut_away(struct model_cuts *cuts, uint64_t start, uint64_t end);

#endif
