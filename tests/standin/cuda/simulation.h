/* simulation.h - what the stand-in's three libraries share: the simulated device, its clock, and
 * who watches it.
 *
 *	libcudart ---+                                       one lock guards everything below, observers run with it held
 *	             +--> sim_*(): calls, streams, graphs ---> struct sim_observer (libcupti)
 *	libcuda  ----+         |
 *	                  virtual clock
 *
 * The schedule is computed when work is queued: durations are known, so every op's start and end
 * are too, without an event loop. "Has ended" means that the clock has passed the end. Functions
 * return 0 or CUDA's error number. Call every sim_* function except the first group between
 * sim_enter() and sim_leave(), on the calling thread. */
#ifndef VPT_STANDIN_SIMULATION_H
#define VPT_STANDIN_SIMULATION_H

#include "tests/standin/include/standin_cuda.h"
#include "tests/standin/standin.h"
#include "tests/standin/cuda/world.h"

#include <time.h>

/* ---- calls: what the API functions are ---- */

enum sim_domain { SIM_DRIVER = 1, SIM_RUNTIME = 2 }; /* as CUPTI numbers callback domains */

enum sim_call_id {
#define STANDIN_RUNTIME(function, suffix, cbid, cost, nested) SIM_##function,
#define STANDIN_DRIVER(function, cbid, cost)                  SIM_##function,
#define STANDIN_NESTED(function, cbid)                        SIM_##function,
#include "tests/standin/cuda/calls.def"
	SIM_CALL_COUNT
};

struct sim_call_info {
	const char *name; /* as CUPTI says it */
	enum sim_domain domain;
	uint32_t cbid, nested; /* nested: of a driver call, 0: none */
	uint64_t cost_ns;
};
extern const struct sim_call_info sim_calls[SIM_CALL_COUNT];

struct sim_call {
	const struct sim_call_info *info;
	uint64_t entry_ns;
	uint32_t correlation, tid;
	int spent; /* its cost has passed */
};

/* ---- work: what ops do, before they have a time ---- */

enum sim_type { SIM_KERNEL, SIM_COPY, SIM_MEMSET, SIM_HOST, SIM_TYPES };

/* Numbers as CUPTI has them. */
enum sim_copy { SIM_HTOD = 1, SIM_DTOH = 2, SIM_DTOD = 8, SIM_HTOH = 9, SIM_PTOP = 10 };
enum sim_memory { SIM_PAGEABLE = 1, SIM_PINNED = 2, SIM_DEVICE = 3 };

struct sim_work {
	enum sim_type type;
	uint64_t duration_ns;
	const struct sim_collective *collective; /* NULL: a kernel that needs no other rank */
	const char *name; /* kernel: interned, lives as long as the process */
	uint32_t grid[3], block[3], shared_bytes;
	uint64_t bytes; /* copy, memset */
	uint32_t value; /* memset */
	enum sim_copy copy;
	enum sim_memory from, to;
	int from_device, to_device; /* PtoP */
	int async;
	CUhostFn function;
	void *data;
};

struct sim_op {
	const struct sim_work *work;
	uint64_t start_ns, end_ns;
	uint32_t device, context, stream, correlation;
	uint32_t graph;      /* 0: not in a graph */
	uint64_t graph_node; /* 0: not in a graph */
	uint64_t number;     /* counts ops of the process, from 1 */
};

struct sim_graph_run {
	uint64_t start_ns, end_ns;
	uint32_t device, context, stream, correlation, graph;
};

enum sim_sync_type {
	SIM_SYNC_EVENT = 1,
	SIM_SYNC_WAIT = 2,
	SIM_SYNC_STREAM = 3,
	SIM_SYNC_CONTEXT = 4
};

struct sim_sync {
	enum sim_sync_type type;
	uint64_t start_ns, end_ns;
	uint32_t correlation, context, stream, event; /* stream, event: UINT32_MAX where none */
	uint64_t event_record; /* number of the event's record that is waited for, 0: none */
};

struct sim_event_record {
	uint32_t correlation, context, stream, event, device;
	uint64_t time_ns, record;
};

struct sim_overhead {
	uint64_t start_ns, end_ns;
	uint32_t tid, correlation;
};

struct sim_memory_event {
	int release; /* 0: allocation */
	enum sim_memory kind;
	uint64_t address, bytes, time_ns;
	uint32_t correlation, device, context, stream; /* stream: UINT32_MAX unless async */
	int async;
};

/* ---- who watches ---- */

/* As CUPTI numbers resource callbacks. */
enum sim_resource_id {
	SIM_CONTEXT_CREATED = 1,
	SIM_STREAM_CREATED = 3,
	SIM_STREAM_DESTROY = 4,
	SIM_INIT_FINISHED = 5,
	SIM_MODULE_LOADED = 6,
	SIM_MODULE_UNLOAD = 7,
	SIM_GRAPH_CREATED = 9,
	SIM_GRAPH_DESTROY = 10,
	SIM_GRAPH_CLONED = 11,
	SIM_NODE_STARTING = 12,
	SIM_NODE_CREATED = 13,
	SIM_NODE_DESTROY = 14,
	SIM_DEPENDENCY_CREATED = 15,
	SIM_EXEC_STARTING = 17,
	SIM_EXEC_CREATED = 18,
	SIM_EXEC_DESTROY = 19,
	SIM_NODE_CLONED = 20
};

struct sim_resource {
	enum sim_resource_id id;
	CUcontext context;
	CUstream stream;
	uint32_t module; /* modules */
	const char *image;
	size_t image_bytes;
	CUgraph graph, original_graph; /* graphs */
	CUgraphNode node, original_node, dependency;
	int node_type; /* as CUDA numbers them */
	CUgraphExec exec;
};

struct sim_observer {
	void (*enter)(const struct sim_call *call);
	void (*call)(const struct sim_call *call, uint64_t exit_ns, int error);
	void (*op)(const struct sim_op *op);
	void (*graph)(const struct sim_graph_run *run);
	void (*sync)(const struct sim_sync *sync);
	void (*event)(const struct sim_event_record *record);
	void (*overhead)(const struct sim_overhead *overhead);
	void (*memory)(const struct sim_memory_event *event);
	void (*resource)(const struct sim_resource *resource);
	void (*stream)(CUstream stream, uint32_t correlation);
	void (*due)(void); /* the clock has passed sim_due_ns */
};

/* One observer, or NULL, for the life of the process. */
void sim_observe(const struct sim_observer *observer);
/* The time when the observer wants to be called; UINT64_MAX: never. With the lock held. */
void sim_due(uint64_t ns);

/* ---- process-wide, any thread, no call needed ---- */

void sim_lock(void); /* recursive */
void sim_unlock(void);
/* In a forked child: its thread has another id than the one that took the lock before the fork. */
void sim_lock_forked(void);
uint32_t sim_tid(void);
uint32_t sim_pid(void);
int sim_is_virtual(void);
int sim_clock_gettime(clockid_t clock, struct timespec *out);

/* Starts CUDA with the injected library: once per process. 0 or the driver's error. */
int sim_init(void);
int sim_is_up(void); /* without starting it */

/* Whether the variable's list, "word[=number],...", has `word`; `value` (may be NULL) becomes its
 * number, two's complement if it is negative, or stays. */
int sim_word(const char *variable, const char *word, uint64_t *value);
/* The same of VPT_STANDIN_FAULTS. */
int sim_fault(const char *word, uint64_t *value);

/* The counts of the process; with the lock held. */
struct standin_counts *sim_counts(void);

/* Interns a text at a permanent address. NULL: no memory. */
const char *sim_intern(const char *text);

const char *sim_error_name(int error);
const char *sim_error_text(int error);

/* ---- a call ---- */

/* Enters: takes the lock, notes the time, assigns the correlation id. 0, or an error: then not
 * entered. */
int sim_enter(struct sim_call *call, enum sim_call_id id);
/* Advances the clock by the call's cost, once; queueing and waiting do it themselves. */
void sim_spend(struct sim_call *call);
/* Leaves with `error`, which is returned. Runs host functions that are due. */
int sim_leave(struct sim_call *call, int error);
/* Waits inside a call. */
void sim_wait_until(uint64_t ns);

/* ---- devices and contexts ---- */

int sim_device_count(void);
int sim_device_attribute(int *value, int attribute, int device);
int sim_device_name(char *name, size_t size_bytes, int device);
int sim_device_pci(char *address, int size_bytes, int device);
int sim_device_uuid(unsigned char uuid[16], int device);
#define SIM_DEVICE_BYTES (UINT64_C(80) << 30)

int sim_primary(CUcontext *context, int device); /* created if there is none */
CUcontext sim_primary_if_any(int device);
CUcontext sim_current(void);                    /* NULL: none */
int sim_current_or_primary(CUcontext *context); /* as the runtime does it */
void sim_set_current(CUcontext context);
int sim_push_current(CUcontext context);
int sim_pop_current(CUcontext *context);
int sim_set_device(int device);
int sim_get_device(void);
int sim_is_context(CUcontext context);
uint32_t sim_context_id(CUcontext context);
int sim_context_device(CUcontext context);
int sim_synchronize_context(struct sim_call *call, CUcontext context);
void sim_each_context(void (*take)(CUcontext context, void *arg), void *arg);
void sim_each_stream(void (*take)(CUstream stream, void *arg), void *arg);

/* ---- memory ---- */

int sim_allocate(struct sim_call *call, void **out, size_t size_bytes);
int sim_allocate_async(struct sim_call *call, void **out, size_t size_bytes, CUstream stream);
int sim_allocate_host(struct sim_call *call, void **out, size_t size_bytes);
int sim_free(struct sim_call *call, void *pointer);
int sim_free_async(struct sim_call *call, void *pointer, CUstream stream);
int sim_free_host(struct sim_call *call, void *pointer);
int sim_memory_info(size_t *free_bytes, size_t *total_bytes);
uint64_t sim_memory_used(int device); /* bytes; outside of a call, with the lock held */
enum sim_memory sim_kind_of(const void *pointer, int *device);

/* ---- modules ---- */

int sim_module_load(void **out, const void *image);
int sim_module_unload(void *module);
int sim_module_kernel(void **out, void *module, const char *name);

/* ---- streams and events ---- */

enum { SIM_NULL_STREAM_ID = 7, SIM_FIRST_STREAM_ID = 13 };

int sim_stream_create(struct sim_call *call, CUstream *out, unsigned flags, int priority);
int sim_stream_destroy(struct sim_call *call, CUstream stream);
int sim_stream_synchronize(struct sim_call *call, CUstream stream);
int sim_stream_query(struct sim_call *call, CUstream stream);
int sim_stream_wait(struct sim_call *call, CUstream stream, CUevent event);
uint32_t sim_stream_id(CUstream stream);
int sim_stream_find(CUstream *stream); /* the legacy stream's handle becomes its object */
CUcontext sim_stream_context(CUstream stream);
int sim_stream_priority(CUstream stream);
unsigned sim_stream_flags(CUstream stream);

int sim_event_create(CUevent *out, unsigned flags);
int sim_event_destroy(CUevent event);
int sim_event_record(struct sim_call *call, CUevent event, CUstream stream);
int sim_event_synchronize(struct sim_call *call, CUevent event);
int sim_event_query(struct sim_call *call, CUevent event);
int sim_event_elapsed(float *ms, CUevent start, CUevent end);

/* ---- work ---- */

int sim_launch(struct sim_call *call, const void *kernel, const unsigned grid[3],
	const unsigned block[3], size_t shared_bytes, CUstream stream, void **arguments);
/* One kernel of NCCL, which ends when all ranks that it needs have come. `name` and `c` are kept. */
int sim_launch_collective(struct sim_call *call, const char *name, unsigned blocks,
	const struct sim_collective *c, CUstream stream);
int sim_copy(struct sim_call *call, void *to, const void *from, size_t size_bytes, int async,
	CUstream stream);
int sim_memset(struct sim_call *call, void *to, uint32_t value, size_t size_bytes, int async,
	CUstream stream);
int sim_host_function(struct sim_call *call, CUstream stream, CUhostFn function, void *data);

/* ---- graphs ---- */

int sim_capture_begin(struct sim_call *call, CUstream stream, int mode);
int sim_capture_end(struct sim_call *call, CUstream stream, CUgraph *out);
int sim_capture_status(CUstream stream, int *status);
int sim_exchange_mode(int *mode); /* only kept: no mode forbids anything here */
int sim_instantiate(struct sim_call *call, CUgraphExec *out, CUgraph graph);
int sim_graph_launch(struct sim_call *call, CUgraphExec exec, CUstream stream);
int sim_exec_destroy(CUgraphExec exec);
int sim_graph_destroy(CUgraph graph);
int sim_graph_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count);
int sim_is_exec(CUgraphExec exec);
uint32_t sim_graph_id(CUgraph graph);
uint32_t sim_exec_id(CUgraphExec exec);
uint64_t sim_node_id(CUgraphNode node);

#endif
