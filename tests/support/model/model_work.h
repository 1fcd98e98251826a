/* model_work.h - the ops and calls of a trace, ordered and joined. A part of the model of causes (model_causes.h). */
#ifndef VPT_TESTS_SUPPORT_MODEL_WORK_H
#define VPT_TESTS_SUPPORT_MODEL_WORK_H

#include "tests/support/model/model_threads.h"

struct model_work {
	struct model *m;
	struct model_thread *threads; /* one a lane of the model */
	struct model_op **ops; /* of the trace, those of positive length; see model_is_op() */
	size_t op_count;
	const struct model_op **firsts; /* of their names */
	size_t first_count;
	const struct model_call **calls; /* by id */
	size_t call_count;
	uint64_t *counted; /* for each call of the model, of the device at hand */
};

/* Orders what has been read. `m` is borrowed; the caller frees the rest with model_work_free(). */
void model_work_init(struct model_work *w, struct model *m);
void model_work_free(struct model_work *w);

/* Whether an op has a length: `ops` are such, by start, stream and id. */
int model_is_op(const struct model_op *op);
/* Whether an op of the trace is the first of its name on its device. */
int model_is_first_use(const struct model_work *w, const struct model_op *op);
/* The call that put an op on its device; NULL: none is recorded. */
const struct model_call *model_own_call(const struct model_work *w, const struct model_op *op);
/* Whether the stream of `k`, launched inside of `launch`, got a wait since the previous op. */
int model_waited(
	const struct model_work *w, const struct model_op *k, const struct model_call *launch);

#endif
