/* standin_records.h - CUPTI's records, numbers and callback data, in our own words.
 *
 * The layout is that of CUPTI API 130001; older ones are the same structs cut short (the table in cupti_records.c says
 * where). They are written here on their own, apart from the tracer's, so that a slip in one is not repeated in the other;
 * with VPT_LAYOUT_CHECKS, tests/layout/ compares them with <cupti.h>. */
#ifndef VPT_STANDIN_RECORDS_H
#define VPT_STANDIN_RECORDS_H

#include <stddef.h>
#include <stdint.h>

/* ---- records ---- */

enum standin_kind {
	STANDIN_MEMCPY = 1,
	STANDIN_MEMSET = 2,
	STANDIN_DRIVER = 4,
	STANDIN_RUNTIME = 5,
	STANDIN_DEVICE = 8,
	STANDIN_CONTEXT = 9,
	STANDIN_KERNEL = 10, /* the concurrent one */
	STANDIN_OVERHEAD = 17,
	STANDIN_MEMCPY2 = 22,
	STANDIN_CUDA_EVENT = 36,
	STANDIN_STREAM = 37,
	STANDIN_SYNCHRONIZATION = 38,
	STANDIN_MEMORY2 = 49,
	STANDIN_MEMORY_POOL = 50,
	STANDIN_GRAPH_TRACE = 51,
	STANDIN_JIT = 52,
	STANDIN_KINDS = 64 /* no kind reaches this */
};

struct standin_kernel_record {
	uint32_t kind;
	uint8_t cache, shared_config;
	uint16_t registers;
	uint32_t partition_requested, partition_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout_requested, carveout, padding;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit, graph;
	void *policy_window;
	uint32_t channel, channel_type;
	uint32_t cluster[3], cluster_policy;
	uint64_t local_total_v2;
	uint32_t max_cluster, max_active_clusters;
	uint8_t device_launched, padding2[7];
};

struct standin_memcpy_record {
	uint32_t kind;
	uint8_t copy_kind, src_kind, dst_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime_correlation, padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel, channel_type;
	uint8_t device_launched, padding2[3];
	uint64_t copies;
};

struct standin_memcpy2_record {
	uint32_t kind;
	uint8_t copy_kind, src_kind, dst_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t src_device, src_context, dst_device, dst_context, correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel, channel_type, padding;
};

struct standin_memset_record {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory_kind;
	uint32_t padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel, channel_type;
	uint8_t device_launched, padding2[3];
};

struct standin_api_record { /* RUNTIME and DRIVER */
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

struct standin_sync_record {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
	uint64_t event_sync;
	uint32_t result, padding;
};

struct standin_event_record {
	uint32_t kind, correlation, context, stream, event, padding, device, padding2;
	void *reserved;
	uint64_t device_time, event_sync;
};

struct standin_overhead_record {
	uint32_t kind, overhead, object;
	uint32_t object_process, object_thread, object_rest;
	uint64_t start, end;
	uint32_t correlation, reserved;
	void *data; /* malloc'd, the client's to free */
};

struct standin_overhead_data { /* of COMMAND_BUFFER_FULL */
	uint32_t length, channel, channel_type;
};

struct standin_device_record {
	uint32_t kind, flags;
	uint64_t global_bandwidth, global_bytes;
	uint32_t constant_bytes, l2_bytes, warp, core_khz, copy_engines, multiprocessors, max_ipc;
	uint32_t max_warps, max_blocks, max_shared, max_registers, block_registers, block_shared;
	uint32_t block_threads, block_dim[3], grid_dim[3];
	uint32_t capability_major, capability_minor, id, ecc;
	uint8_t uuid[16];
	const char *name;
	uint8_t visible, mig, reserved[6];
	uint32_t gpu_instance, compute_instance;
	uint8_t mig_uuid[16];
	uint32_t is_numa, numa;
};

struct standin_context_record {
	uint32_t kind, context, device;
	uint16_t api, null_stream;
	uint32_t parent;
	uint8_t green, padding;
	uint16_t multiprocessors;
	uint32_t cig, padding2;
};

struct standin_stream_record {
	uint32_t kind, context, stream, priority, flag, correlation;
};

struct standin_memory_record { /* MEMORY2 */
	uint32_t kind, operation, memory_kind, correlation;
	uint64_t address, bytes, time, pc;
	uint32_t process, device, context, stream;
	const char *name;
	uint32_t async, padding;
	uint32_t pool_type, padding2;
	uint64_t pool_address, pool_threshold, pool_size, pool_used;
	const char *source;
};

struct standin_graph_record {
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
	void *reserved;
	uint32_t end_device, end_context;
};

/* ---- numbers ---- */

enum standin_cupti_result {
	STANDIN_CUPTI_OK = 0,
	STANDIN_CUPTI_INVALID_PARAMETER = 1,
	STANDIN_CUPTI_MAX_LIMIT_REACHED = 12,
	STANDIN_CUPTI_NOT_COMPATIBLE = 14,
	STANDIN_CUPTI_NOT_INITIALIZED = 15,
	STANDIN_CUPTI_INVALID_KIND = 21,
	STANDIN_CUPTI_NOT_SUPPORTED = 27,
	STANDIN_CUPTI_NO_PRIVILEGES = 35,
	STANDIN_CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	STANDIN_CUPTI_UNKNOWN = 999
};

enum {
	STANDIN_DOMAIN_DRIVER = 1,
	STANDIN_DOMAIN_RUNTIME = 2,
	STANDIN_DOMAIN_RESOURCE = 3,
	STANDIN_DOMAIN_STATE = 6,
	STANDIN_DOMAINS = 7,
	STANDIN_STATE_FATAL = 1,
	STANDIN_FLUSH_FORCED = 1,
	STANDIN_ATTRIBUTE_ZEROED = 5,
	STANDIN_ATTRIBUTE_PER_THREAD = 9,
	STANDIN_THREAD_ID_SYSTEM = 1,
	STANDIN_OVERHEAD_QUEUE_FULL = 6 << 16,
	STANDIN_OBJECT_THREAD = 2
};

/* ---- what callbacks are given ---- */

struct standin_resource_data {
	void *context, *stream;
	void *descriptor; /* module or graph data, or NULL */
};

struct standin_module_data {
	uint32_t id;
	size_t bytes;
	const char *image;
};

struct standin_graph_data {
	void *graph, *original_graph, *node, *original_node;
	uint32_t node_type;
	void *dependency, *exec;
};

struct standin_state_data {
	uint32_t result;
	const char *message;
};

struct standin_api_data {
	uint32_t site; /* 0: enter, 1: exit */
	const char *function;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *scratch;
	uint32_t correlation;
};

struct standin_subscriber_parameters {
	size_t struct_bytes;
	const char *name;
	char *old_name;
	size_t old_name_bytes;
};

#endif
