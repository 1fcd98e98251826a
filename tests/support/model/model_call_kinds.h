/* model_call_kinds.h - what a CUDA call does, from its name alone. */
#ifndef VPT_TESTS_SUPPORT_MODEL_CALL_KINDS_H
#define VPT_TESTS_SUPPORT_MODEL_CALL_KINDS_H

enum model_call_kind {
	MODEL_CALL_MODULE_LOAD,
	MODEL_CALL_GRAPH_LAUNCH,
	MODEL_CALL_BEGIN_CAPTURE,
	MODEL_CALL_END_CAPTURE,
	MODEL_CALL_GRAPH_BUILD,
	MODEL_CALL_LAUNCH,
	MODEL_CALL_COPY,
	MODEL_CALL_BLOCKING_COPY,
	MODEL_CALL_MEMSET,
	MODEL_CALL_STREAM_WAIT,
	MODEL_CALL_SYNC,
	MODEL_CALL_QUERY,
	MODEL_CALL_ALLOCATION,
	MODEL_CALL_OTHER
};

/* The kind of a call by its name, decorated or not; NULL is a name that says nothing. */
enum model_call_kind model_call_kind_of(const char *name);

/* Whether a call of this kind puts work on a device. */
int model_call_submits(enum model_call_kind kind);

#endif
