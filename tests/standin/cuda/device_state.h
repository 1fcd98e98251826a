/* device_state.h - the simulation's internal structures, for the files of libcuda only. */
#ifndef VPT_STANDIN_DEVICE_STATE_H
#define VPT_STANDIN_DEVICE_STATE_H

#include "tests/standin/cuda/simulation.h"

enum {
	SIM_DEVICES_MAX = 16,
	SIM_FRONTIER_MAX = 64 /* branches of a capture that meet in one stream */
};

#define SIM_STREAM_MAGIC UINT64_C(0x53545245414d0001)
#define SIM_EVENT_MAGIC  UINT64_C(0x4556454e54000001)
#define SIM_GRAPH_MAGIC  UINT64_C(0x4752415048000001)
#define SIM_EXEC_MAGIC   UINT64_C(0x4558454300000001)
#define SIM_KERNEL_MAGIC UINT64_C(0x4b45524e454c0001)
#define SIM_MODULE_MAGIC UINT64_C(0x4d4f44554c450001)

/* The nodes that the next node captured on a stream depends on. */
struct sim_frontier {
	CUgraphNode nodes[SIM_FRONTIER_MAX];
	unsigned count;
};

struct CUstream_st {
	uint64_t magic;
	CUcontext context;
	uint32_t id;
	unsigned flags;
	int priority;
	uint64_t ready_ns; /* when everything queued so far is done */
	CUgraph capture;   /* NULL: not capturing */
	int capture_mode, capture_origin;
	struct sim_frontier frontier;
	struct CUstream_st *next;
};

struct CUctx_st {
	uint32_t id;
	int device;
	struct CUstream_st legacy;
	struct CUstream_st *streams;
	uint64_t blocking_ready_ns;    /* of all blocking streams but the legacy one */
	uint64_t ready_ns;             /* of all streams */
	uint64_t queue[STANDIN_QUEUE]; /* ends of the last launches */
	uint64_t launches;
};

struct CUevent_st {
	uint64_t magic;
	uint32_t id;
	unsigned flags;
	uint64_t time_ns; /* 0: never recorded */
	uint64_t record;  /* its number among all records of events */
	CUgraph capture;
	struct sim_frontier frontier;
};

struct CUgraphNode_st {
	CUgraph graph;
	uint64_t id;
	unsigned index;
	struct sim_work work;
	uint64_t end_ns; /* in the launch that is being scheduled */
	unsigned dependency_count;
	CUgraphNode *dependencies;
};

struct CUgraph_st {
	uint64_t magic;
	uint32_t id;
	int invalid; /* the capture was broken */
	CUgraphNode *nodes;
	unsigned count, capacity;
};

struct CUgraphExec_st {
	uint64_t magic;
	CUgraph graph;
};

struct sim_kernel {
	uint64_t magic;
	const char *name;
	int has_arguments;
	struct sim_kernel *next;
};

/* Gives an op that starts at op->start_ns its end; of a collective's kernel also `met`. Returns 0 or
 * CUDA's error number. */
int sim_run(struct sim_op *op, struct sim_met *met);
/* Assigns work its times on a stream; `queued_ns` is when it was queued. */
uint64_t sim_earliest(CUstream stream, uint64_t queued_ns);
void sim_stream_done(CUstream stream, uint64_t end_ns);
/* Waits, in the call, for room in the queue, and notes the overhead. */
void sim_queue_wait(struct sim_call *call, CUcontext context);
void sim_queue_put(CUcontext context, uint64_t end_ns);
/* Records an op and notifies the observer. `met`: as sim_run() filled it. */
void sim_op_done(struct sim_op *op, const struct sim_met *met);
/* Puts work on a stream, or into the graph that captures it. `end_ns` may be NULL; 0 where it was
 * captured. */
int sim_submit(
	struct sim_call *call, CUstream stream, const struct sim_work *work, uint64_t *end_ns);
/* Waits for `done_ns` like a synchronising call; notifies the observer if `sync` is given. */
void sim_block(struct sim_call *call, uint64_t done_ns, struct sim_sync *sync);

int sim_capture_work(CUstream stream, const struct sim_work *work);
void sim_capture_join(CUstream stream, const struct CUevent_st *event);
/* A call that is forbidden during stream capture breaks the capture. 0: no stream is being
 * captured. */
int sim_capture_forbids(CUcontext context, CUstream stream);

/* Allocates an object that the program may leave unfreed at exit, as the driver allows: hidden from
 * leak checkers. */
void sim_may_stay(const void *object);
void sim_host_later(uint64_t due_ns, CUhostFn function, void *data);
void sim_log_op(const struct sim_op *op, const struct sim_met *met);
void sim_tell(const struct sim_resource *resource);
const struct sim_observer *sim_watcher(void); /* NULL: none */
void sim_passed(void);                        /* the clock moved: calls the observer if due */
uint64_t sim_first_correlation(void);
int sim_driver_missing(void);

#endif
