/* cupti_abi.h - the parts of CUPTI's binary interface that the tracer relies on: numbers, offsets,
 * function types. Our own words for public facts.
 *
 * CUPTI's records only grow at the end, and assigned numbers never change. So each struct here is
 * the beginning of a record, the same from CUPTI 11.8 to 13.x; the loaded library reveals the
 * record's full length, see cupti_sizes.h. Fields of later versions are in a separate struct,
 * "_tail"; call vtr_sizes_reach() before reading them. With VPT_LAYOUT_CHECKS, tests/layout/
 * compares all of it with CUPTI's headers. */
#ifndef VPTRACE_TRACER_CUPTI_LIBRARY_CUPTI_ABI_H
#define VPTRACE_TRACER_CUPTI_LIBRARY_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { VTR_CUPTI_FLOOR = 18 };       /* the API number of CUDA 11.8 */
enum { VTR_CUPTI_PER_THREAD = 21 };  /* 12.3: buffers per thread */
enum { VTR_CUPTI_BY_CALL = 23 };     /* 12.5: RUNTIME and DRIVER records call by call */
enum { VTR_CUPTI_NULL_BUFFER = 27 }; /* 12.9: a refused buffer no longer crashes CUPTI */

/* Results */
enum {
	VTR_CUPTI_OK = 0,
	VTR_CUPTI_NOT_INITIALIZED = 15,
	VTR_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	VTR_CUPTI_TAKEN = 39, /* another subscriber in this process, or a tool around it */
	VTR_CUPTI_VIRTUALIZED_PRIVILEGES = 40
};

/* Kinds of records */
enum {
#define VTR_CUPTI_KIND(KIND, number, record, TIMES, OP, decode, PROFILES, existing)                \
	VTR_KIND_##KIND = number,
#include "tracer/cupti/library/cupti_kinds.def"
	VTR_KINDS = 64 /* higher numbers are unknown to us */
};

enum { VTR_FLUSH_FORCED = 1 };
enum {
	VTR_ATTRIBUTE_DEVICE_BYTES = 0,   /* of a buffer on the device; size_t, like the next two */
	VTR_ATTRIBUTE_DEVICE_LIMIT = 2,   /* of buffers, for a context */
	VTR_ATTRIBUTE_ZEROED_BUFFERS = 5, /* uint8_t */
	VTR_ATTRIBUTE_DEVICE_READY = 6,   /* initial number of buffers */
	VTR_ATTRIBUTE_PER_THREAD_BUFFERS = 9 /* uint8_t */
};
enum { VTR_THREAD_ID_SYSTEM = 1 };

/* Callbacks */
enum {
	VTR_DOMAIN_DRIVER = 1,
	VTR_DOMAIN_RUNTIME = 2,
	VTR_DOMAIN_RESOURCE = 3,
	VTR_DOMAIN_STATE = 6
};
enum { VTR_STATE_FATAL = 1 };
enum {
	VTR_RESOURCE_CONTEXT_CREATED = 1,
	VTR_RESOURCE_CONTEXT_DESTROYED = 2, /* is about to be */
	VTR_RESOURCE_STREAM_CREATED = 3,
	VTR_RESOURCE_MODULE_LOADED = 6,
	VTR_RESOURCE_NODE_CREATED = 13,
	VTR_RESOURCE_NODE_DESTROYED = 14,
	VTR_RESOURCE_EXEC_DESTROYED = 19,
	VTR_RESOURCE_NODE_CLONED = 20
};

struct vtr_resource_data {
	void *context, *handle;
	const struct vtr_graph_data *graph; /* of the graph callbacks */
};

struct vtr_graph_data {
	void *graph, *original_graph, *node, *original_node;
	uint32_t node_type;
	void *dependency, *exec;
};

enum { VTR_SITE_ENTER = 0, VTR_SITE_EXIT = 1 };
struct vtr_call_data { /* of driver and runtime calls */
	uint32_t site;
	const char *name;
	const void *arguments;
	const void *result; /* at the exit */
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *scratch;
	uint32_t correlation;
};

struct vtr_state_data {
	uint32_t result;
	const char *message; /* may be NULL */
};

struct vtr_subscriber_params {
	size_t struct_bytes;
	const char *name;
	char *old_name; /* out: the client that holds CUPTI */
	size_t old_name_bytes;
};

/* Values inside records */
enum { VTR_NO_ID = 0xffffffffu };   /* no event; up to CUDA 13.1 also no stream, no context */
enum { VTR_COPY_ASYNCHRONOUS = 1 }; /* flag of copies and memsets */
enum { VTR_OBJECT_THREAD = 2 };
enum { VTR_STREAM_NON_BLOCKING = 2 };
enum { VTR_MEMORY_ALLOCATION = 1, VTR_MEMORY_RELEASE = 2 };
enum { VTR_SYNC_EVENT = 1, VTR_SYNC_STREAM_WAIT = 2, VTR_SYNC_STREAM = 3, VTR_SYNC_CONTEXT = 4 };
enum { VTR_OVERHEAD_COMPILER = 1, VTR_OVERHEAD_SHIFT = 16 }; /* all others: n << 16 */

/* Whether an id means "no stream" or "no context": 0 from CUDA 13.2 on, which was never a valid
 * id. */
static inline int vtr_no_place(uint32_t id)
{
	return !id || id == VTR_NO_ID;
}

/* ---- records ---- */

struct vtr_record_kernel { /* CONCURRENT_KERNEL */
	uint32_t kind;
	uint16_t cache_config, registers;
	uint64_t partitioned;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	uint32_t grid_x, grid_y, grid_z, block_x, block_y, block_z;
	uint32_t static_shared, dynamic_shared, local_thread, local_total;
	uint32_t correlation;
	uint64_t grid_id;
	const char *name;
	uint64_t reserved, queued, submitted, launch_type;
	uint64_t graph_node;
	uint32_t shared_limit, graph;
	uint64_t access_policy;
	uint32_t channel, channel_type;
	uint32_t cluster_x, cluster_y, cluster_z;
};

struct vtr_record_memcpy {
	uint32_t kind;
	uint8_t copy_kind, source, target, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime_correlation, padding;
	uint64_t reserved, graph_node;
	uint32_t graph;
};

struct vtr_record_peer { /* MEMCPY2 */
	uint32_t kind;
	uint8_t copy_kind, source, target, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t source_device, source_context, target_device, target_context;
	uint32_t correlation;
	uint64_t reserved, graph_node;
	uint32_t graph;
};

struct vtr_record_memset {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory_kind;
	uint32_t padding;
	uint64_t reserved, graph_node;
	uint32_t graph;
};

struct vtr_record_call { /* RUNTIME, DRIVER */
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

struct vtr_record_sync { /* SYNCHRONIZATION */
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
};
struct vtr_record_sync_tail { /* from 12.8 */
	struct vtr_record_sync head;
	uint64_t sync_id;
	uint32_t result, padding;
};

struct vtr_record_event { /* CUDA_EVENT */
	uint32_t kind, correlation, context, stream, event;
};
struct vtr_record_event_tail { /* from 12.8 */
	struct vtr_record_event head;
	uint32_t padding, device, padding_device;
	uint64_t reserved;
	uint64_t device_time; /* 0: not asked for */
	uint64_t sync_id;
};

struct vtr_record_memory { /* MEMORY2 */
	uint32_t kind, operation, memory_kind, correlation;
	uint64_t address, bytes, time, pc;
	uint32_t process, device, context, stream;
	const char *name;
	uint32_t asynchronous, padding;
	uint32_t pool_type, pool_padding;
	uint64_t pool;
};

struct vtr_record_graph { /* GRAPH_TRACE */
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
};

struct vtr_record_overhead {
	uint32_t kind, overhead, object, process, thread, object_padding;
	uint64_t start, end;
};
struct vtr_record_overhead_tail { /* from 12.4 */
	struct vtr_record_overhead head;
	uint32_t correlation, padding;
	void *data; /* malloc'ed for us */
};

struct vtr_record_jit {
	uint32_t kind, entry, operation, device;
	uint64_t start, end;
	uint32_t correlation, padding;
};
struct vtr_record_jit_tail { /* from 12.4 */
	struct vtr_record_jit head;
	uint64_t operation_correlation, cache_bytes;
	const char *cache_path;
	uint32_t process, thread;
};

struct vtr_record_device {
	uint32_t kind, flags;
	uint64_t memory_bandwidth, memory_bytes;
	uint32_t constant_memory, l2_cache, warp_threads, core_clock;
	uint32_t copy_engines, sm_count, sm_issue, sm_warps, sm_blocks, sm_shared, sm_registers;
	uint32_t block_registers, block_shared, block_threads;
	uint32_t block_x, block_y, block_z, grid_x, grid_y, grid_z;
	uint32_t compute_major, compute_minor, device, ecc;
	uint8_t uuid[16];
	const char *name;
};

struct vtr_record_context {
	uint32_t kind, context, device;
	uint16_t api, null_stream;
};

struct vtr_record_stream {
	uint32_t kind, context, stream, priority, flag, correlation;
};

/* ---- functions ---- */

typedef void (*vtr_callback)(void *user, uint32_t domain, uint32_t cbid, const void *data);
typedef void (*vtr_buffer_requested)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*vtr_buffer_completed)(
	void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid_bytes);

/* X(field, symbol, arguments): the required functions, then the optional ones. */
#define VTR_CUPTI_NEEDED(X)                                                                        \
	X(version, cuptiGetVersion, (uint32_t *))                                                  \
	X(result_string, cuptiGetResultString, (uint32_t, const char **))                          \
	X(timestamp, cuptiGetTimestamp, (uint64_t *))                                              \
	X(callback_name, cuptiGetCallbackName, (uint32_t, uint32_t, const char **))                \
	X(subscribe, cuptiSubscribe, (void **, vtr_callback, void *))                              \
	X(unsubscribe, cuptiUnsubscribe, (void *))                                                 \
	X(enable_callback, cuptiEnableCallback, (uint32_t, void *, uint32_t, uint32_t))            \
	X(register_callbacks, cuptiActivityRegisterCallbacks,                                      \
		(vtr_buffer_requested, vtr_buffer_completed))                                      \
	X(enable, cuptiActivityEnable, (uint32_t))                                                 \
	X(disable, cuptiActivityDisable, (uint32_t))                                               \
	X(flush_all, cuptiActivityFlushAll, (uint32_t))                                            \
	X(next_record, cuptiActivityGetNextRecord, (uint8_t *, size_t, void **))                   \
	X(dropped, cuptiActivityGetNumDroppedRecords, (void *, uint32_t, size_t *))                \
	X(set_attribute, cuptiActivitySetAttribute, (uint32_t, size_t *, void *))                  \
	X(thread_id_type, cuptiSetThreadIdType, (uint32_t))

#define VTR_CUPTI_OPTIONAL(X)                                                                      \
	X(subscribe_v2, cuptiSubscribe_v2,                                                         \
		(void **, vtr_callback, void *, struct vtr_subscriber_params *))                   \
	X(error_message, cuptiGetErrorMessage, (uint32_t, const char **))                          \
	X(get_attribute, cuptiActivityGetAttribute, (uint32_t, size_t *, void *))                  \
	X(enabled_kinds, cuptiActivityGetEnabledKinds,                                             \
		(void *, uint32_t *, uint32_t *, uint32_t *))                                      \
	X(enable_and_dump, cuptiActivityEnableAndDump, (uint32_t))                                 \
	X(enable_runtime, cuptiActivityEnableRuntimeApi, (uint32_t, uint8_t))                      \
	X(enable_driver, cuptiActivityEnableDriverApi, (uint32_t, uint8_t))                        \
	X(all_sync_records, cuptiActivityEnableAllSyncRecords, (uint8_t))                          \
	X(graph_node_id, cuptiGetGraphNodeId, (void *, uint64_t *))                                \
	X(graph_id, cuptiGetGraphId, (void *, uint32_t *))                                         \
	X(graph_exec_id, cuptiGetGraphExecId, (void *, uint32_t *))

/* The functions of one library, under our names. All return a result; 0 is success. */
struct vtr_cupti_functions {
#define VTR_FIELD(field, symbol, arguments) int(*field) arguments;
	VTR_CUPTI_NEEDED(VTR_FIELD)
	VTR_CUPTI_OPTIONAL(VTR_FIELD)
#undef VTR_FIELD
};

#endif
