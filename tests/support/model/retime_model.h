/* retime_model.h - a second, slow account of what changes would bring, to compare analysis/retime/ with.
 *
 * A random program of calls and ops is a list of rows. From it the model builds the whole graph of edges as
 * analysis/retime/edges.h words it, and finds the longest path to each time by asking for its predecessors: it knows no
 * order of events, keeps everything, and looks for each answer among all rows. It leaves out full queues, CUDA graphs
 * and calls inside calls. */
#ifndef VPT_TESTS_SUPPORT_RETIME_MODEL_H
#define VPT_TESTS_SUPPORT_RETIME_MODEL_H

#include "analysis/retime/replay/change.h"

#include <stddef.h>
#include <stdint.h>

enum { MODEL_CALLS = 64, MODEL_OPS = 80, MODEL_RANGES = 8, MODEL_THREADS = 3, MODEL_STREAMS = 4 };

enum model_call_kind {
	MODEL_LAUNCH,
	MODEL_COPY,
	MODEL_BLOCKING_COPY,
	MODEL_DEVICE_SYNC,
	MODEL_STREAM_SYNC,
	MODEL_EVENT_SYNC,
	MODEL_RECORD,
	MODEL_STREAM_WAIT,
	MODEL_QUERY,
	MODEL_CALL_KINDS
};

struct model_kind {
	const char *name;
	int launches, copies, waits;
};

extern const struct model_kind model_kinds[MODEL_CALL_KINDS];
extern const int model_thread_pid[MODEL_THREADS], model_stream_pid[MODEL_STREAMS],
	model_stream_gpu[MODEL_STREAMS];

struct model_call {
	int64_t start, end;
	enum model_call_kind kind;
	int thread;
	int stream; /* recorded, waited for, or that waits; of MODEL_STREAM_SYNC */
	int event;  /* recorded or waited for */
};

struct model_op {
	int64_t start, end, bytes;
	int call; /* -1: nobody's */
	int stream;
	int is_kernel, is_pageable;
	uint32_t copy_kind;
	const char *name;
};

struct model_range {
	int64_t start, end;
	int thread, is_wide;
	const char *name;
};

struct retime_model {
	struct model_call calls[MODEL_CALLS]; /* by start */
	int call_count;
	struct model_op ops[MODEL_OPS]; /* by start */
	int op_count;
	struct model_range ranges[MODEL_RANGES]; /* by start */
	int range_count;
};

/* Makes the program of a seed: retime_program.c. */
void retime_model_random(struct retime_model *m, uint64_t seed);

/* The program as a script: the caller's to free with vpt_free(). */
char *retime_model_script(const struct retime_model *m);

/* The times of a world with these changes, from the first event on. `host`, `gpu`: the paces. */
struct model_times {
	int64_t call_start[MODEL_CALLS], call_end[MODEL_CALLS], op_start[MODEL_OPS],
		op_end[MODEL_OPS];
	int is_gone[MODEL_OPS];
};

enum model_pace { MODEL_ALL, MODEL_HOST_ALONE, MODEL_GPU_ALONE };

void retime_model_run(const struct retime_model *m, enum model_pace pace,
	const struct vpa_change *changes, size_t change_count, struct model_times *out);

#endif
