/* tracer_cupti.c - holds tracer/cupti/library/cupti_abi.h against CUPTI's headers. Compiles to nothing.
 *
 * A field must stand where the struct that this version of CUPTI writes has it, with the same size: where a field is checked
 * from some version on, earlier ones do not have it. Structs only grow, so ours may be shorter. */
#include "tracer/cupti/library/cupti_abi.h"

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_version.h>

#include "newest.h"

/* A name that both sides agree on where it differs: AT(our struct, our field, CUPTI's struct, its
 * field). */
#define AT(ours, field, theirs, their_field)                                                       \
	_Static_assert(                                                                            \
		offsetof(struct ours, field) == offsetof(theirs, their_field) &&                   \
			sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->their_field),   \
		#ours "." #field)
#define SAME(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #ours)

SAME(VTR_CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
SAME(VTR_CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME(VTR_CUPTI_TAKEN, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME(VTR_CUPTI_VIRTUALIZED_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);

#define CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API
#define VTR_CUPTI_KIND(KIND, number, record, TIMES, OP, decode, PROFILES, existing)                \
	SAME(VTR_KIND_##KIND, CUPTI_ACTIVITY_KIND_##KIND);
#include "tracer/cupti/library/cupti_kinds.def"
_Static_assert((int)VTR_KINDS >= (int)CUPTI_ACTIVITY_KIND_COUNT, "kinds beyond our table");

SAME(VTR_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME(VTR_ATTRIBUTE_ZEROED_BUFFERS, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
SAME(VTR_ATTRIBUTE_DEVICE_BYTES, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE);
SAME(VTR_ATTRIBUTE_DEVICE_LIMIT, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT);
SAME(VTR_ATTRIBUTE_DEVICE_READY, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE);
SAME(VTR_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
#if CUPTI_API_VERSION >= 21
SAME(VTR_ATTRIBUTE_PER_THREAD_BUFFERS, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
#endif

SAME(VTR_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(VTR_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME(VTR_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
SAME(VTR_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
SAME(VTR_RESOURCE_CONTEXT_DESTROYED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME(VTR_RESOURCE_STREAM_CREATED, CUPTI_CBID_RESOURCE_STREAM_CREATED);
SAME(VTR_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED);
SAME(VTR_RESOURCE_NODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME(VTR_RESOURCE_NODE_DESTROYED, CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
SAME(VTR_RESOURCE_EXEC_DESTROYED, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
SAME(VTR_RESOURCE_NODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);

AT(vtr_resource_data, context, CUpti_ResourceData, context);
AT(vtr_resource_data, handle, CUpti_ResourceData, resourceHandle);
AT(vtr_resource_data, graph, CUpti_ResourceData, resourceDescriptor);
AT(vtr_graph_data, graph, CUpti_GraphData, graph);
AT(vtr_graph_data, node, CUpti_GraphData, node);
AT(vtr_graph_data, original_node, CUpti_GraphData, originalNode);
AT(vtr_graph_data, exec, CUpti_GraphData, graphExec);
#if CUPTI_API_VERSION >= 22
SAME(VTR_DOMAIN_STATE, CUPTI_CB_DOMAIN_STATE);
SAME(VTR_STATE_FATAL, CUPTI_CBID_STATE_FATAL_ERROR);
SAME(VTR_SITE_ENTER, CUPTI_API_ENTER);
SAME(VTR_SITE_EXIT, CUPTI_API_EXIT);
AT(vtr_call_data, site, CUpti_CallbackData, callbackSite);
AT(vtr_call_data, result, CUpti_CallbackData, functionReturnValue);
AT(vtr_call_data, context, CUpti_CallbackData, context);
AT(vtr_call_data, correlation, CUpti_CallbackData, correlationId);
AT(vtr_state_data, message, CUpti_StateData, notification.message);
#endif
#if CUPTI_API_VERSION >= 130000
_Static_assert(
	sizeof(struct vtr_subscriber_params) <= sizeof(CUpti_SubscriberParams), "subscriber");
AT(vtr_subscriber_params, struct_bytes, CUpti_SubscriberParams, structSize);
AT(vtr_subscriber_params, name, CUpti_SubscriberParams, subscriberName);
AT(vtr_subscriber_params, old_name, CUpti_SubscriberParams, oldSubscriberName);
AT(vtr_subscriber_params, old_name_bytes, CUpti_SubscriberParams, oldSubscriberSize);
#endif

_Static_assert((uint32_t)VTR_NO_ID == (uint32_t)CUPTI_SYNCHRONIZATION_INVALID_VALUE, "no id");
#define NO_PLACE(theirs)                                                                           \
	_Static_assert((theirs) == 0 || (uint32_t)(theirs) == (uint32_t)VTR_NO_ID, #theirs)
NO_PLACE(CUPTI_INVALID_STREAM_ID);
NO_PLACE(CUPTI_INVALID_CONTEXT_ID);
SAME(VTR_COPY_ASYNCHRONOUS, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
SAME(VTR_COPY_ASYNCHRONOUS, CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
SAME(VTR_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
SAME(VTR_STREAM_NON_BLOCKING, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
SAME(VTR_MEMORY_ALLOCATION, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
SAME(VTR_MEMORY_RELEASE, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
SAME(VTR_SYNC_EVENT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
SAME(VTR_SYNC_STREAM_WAIT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
SAME(VTR_SYNC_STREAM, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
SAME(VTR_SYNC_CONTEXT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
SAME(VTR_OVERHEAD_COMPILER, CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER);
SAME(1 << VTR_OVERHEAD_SHIFT, CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);

/* ---- records ---- */

AT(vtr_record_kernel, registers, NEWEST_Kernel, registersPerThread);
AT(vtr_record_kernel, start, NEWEST_Kernel, start);
AT(vtr_record_kernel, end, NEWEST_Kernel, end);
AT(vtr_record_kernel, device, NEWEST_Kernel, deviceId);
AT(vtr_record_kernel, context, NEWEST_Kernel, contextId);
AT(vtr_record_kernel, stream, NEWEST_Kernel, streamId);
AT(vtr_record_kernel, grid_x, NEWEST_Kernel, gridX);
AT(vtr_record_kernel, grid_z, NEWEST_Kernel, gridZ);
AT(vtr_record_kernel, block_x, NEWEST_Kernel, blockX);
AT(vtr_record_kernel, block_z, NEWEST_Kernel, blockZ);
AT(vtr_record_kernel, static_shared, NEWEST_Kernel, staticSharedMemory);
AT(vtr_record_kernel, dynamic_shared, NEWEST_Kernel, dynamicSharedMemory);
AT(vtr_record_kernel, local_thread, NEWEST_Kernel, localMemoryPerThread);
AT(vtr_record_kernel, correlation, NEWEST_Kernel, correlationId);
AT(vtr_record_kernel, name, NEWEST_Kernel, name);
AT(vtr_record_kernel, graph_node, NEWEST_Kernel, graphNodeId);
AT(vtr_record_kernel, graph, NEWEST_Kernel, graphId);
AT(vtr_record_kernel, cluster_x, NEWEST_Kernel, clusterX);
AT(vtr_record_kernel, cluster_z, NEWEST_Kernel, clusterZ);

#define COPY(ours, theirs)                                                                         \
	AT(ours, copy_kind, theirs, copyKind);                                                     \
	AT(ours, source, theirs, srcKind);                                                         \
	AT(ours, target, theirs, dstKind);                                                         \
	AT(ours, flags, theirs, flags);                                                            \
	AT(ours, bytes, theirs, bytes)
#define OP(ours, theirs)                                                                           \
	AT(ours, start, theirs, start);                                                            \
	AT(ours, end, theirs, end);                                                                \
	AT(ours, device, theirs, deviceId);                                                        \
	AT(ours, context, theirs, contextId);                                                      \
	AT(ours, stream, theirs, streamId);                                                        \
	AT(ours, correlation, theirs, correlationId);                                              \
	AT(ours, graph_node, theirs, graphNodeId);                                                 \
	AT(ours, graph, theirs, graphId)

COPY(vtr_record_memcpy, NEWEST_Memcpy);
OP(vtr_record_memcpy, NEWEST_Memcpy);
COPY(vtr_record_peer, NEWEST_MemcpyPtoP);
OP(vtr_record_peer, NEWEST_MemcpyPtoP);
AT(vtr_record_peer, source_device, NEWEST_MemcpyPtoP, srcDeviceId);
AT(vtr_record_peer, target_device, NEWEST_MemcpyPtoP, dstDeviceId);
OP(vtr_record_memset, NEWEST_Memset);
AT(vtr_record_memset, value, NEWEST_Memset, value);
AT(vtr_record_memset, bytes, NEWEST_Memset, bytes);
AT(vtr_record_memset, flags, NEWEST_Memset, flags);
AT(vtr_record_memset, memory_kind, NEWEST_Memset, memoryKind);

_Static_assert(sizeof(struct vtr_record_call) <= sizeof(NEWEST_API), "call");
AT(vtr_record_call, cbid, NEWEST_API, cbid);
AT(vtr_record_call, start, NEWEST_API, start);
AT(vtr_record_call, end, NEWEST_API, end);
AT(vtr_record_call, process, NEWEST_API, processId);
AT(vtr_record_call, thread, NEWEST_API, threadId);
AT(vtr_record_call, correlation, NEWEST_API, correlationId);
AT(vtr_record_call, result, NEWEST_API, returnValue);

AT(vtr_record_sync, type, NEWEST_Synchronization, type);
AT(vtr_record_sync, start, NEWEST_Synchronization, start);
AT(vtr_record_sync, end, NEWEST_Synchronization, end);
AT(vtr_record_sync, correlation, NEWEST_Synchronization, correlationId);
AT(vtr_record_sync, context, NEWEST_Synchronization, contextId);
AT(vtr_record_sync, stream, NEWEST_Synchronization, streamId);
AT(vtr_record_sync, event, NEWEST_Synchronization, cudaEventId);
#if CUPTI_API_VERSION >= 26
AT(vtr_record_sync_tail, sync_id, NEWEST_Synchronization, cudaEventSyncId);
#endif

AT(vtr_record_event, correlation, NEWEST_CudaEvent, correlationId);
AT(vtr_record_event, context, NEWEST_CudaEvent, contextId);
AT(vtr_record_event, stream, NEWEST_CudaEvent, streamId);
AT(vtr_record_event, event, NEWEST_CudaEvent, eventId);
#if CUPTI_API_VERSION >= 26
AT(vtr_record_event_tail, device, NEWEST_CudaEvent, deviceId);
AT(vtr_record_event_tail, device_time, NEWEST_CudaEvent, deviceTimestamp);
AT(vtr_record_event_tail, sync_id, NEWEST_CudaEvent, cudaEventSyncId);
#endif

AT(vtr_record_memory, operation, NEWEST_Memory, memoryOperationType);
AT(vtr_record_memory, memory_kind, NEWEST_Memory, memoryKind);
AT(vtr_record_memory, correlation, NEWEST_Memory, correlationId);
AT(vtr_record_memory, address, NEWEST_Memory, address);
AT(vtr_record_memory, bytes, NEWEST_Memory, bytes);
AT(vtr_record_memory, time, NEWEST_Memory, timestamp);
AT(vtr_record_memory, device, NEWEST_Memory, deviceId);
AT(vtr_record_memory, context, NEWEST_Memory, contextId);
AT(vtr_record_memory, stream, NEWEST_Memory, streamId);
AT(vtr_record_memory, pool, NEWEST_Memory, memoryPoolConfig.address);

AT(vtr_record_graph, correlation, NEWEST_GraphTrace, correlationId);
AT(vtr_record_graph, start, NEWEST_GraphTrace, start);
AT(vtr_record_graph, end, NEWEST_GraphTrace, end);
AT(vtr_record_graph, device, NEWEST_GraphTrace, deviceId);
AT(vtr_record_graph, graph, NEWEST_GraphTrace, graphId);
AT(vtr_record_graph, context, NEWEST_GraphTrace, contextId);
AT(vtr_record_graph, stream, NEWEST_GraphTrace, streamId);

AT(vtr_record_overhead, overhead, NEWEST_Overhead, overheadKind);
AT(vtr_record_overhead, object, NEWEST_Overhead, objectKind);
AT(vtr_record_overhead, process, NEWEST_Overhead, objectId.pt.processId);
AT(vtr_record_overhead, thread, NEWEST_Overhead, objectId.pt.threadId);
AT(vtr_record_overhead, start, NEWEST_Overhead, start);
AT(vtr_record_overhead, end, NEWEST_Overhead, end);
#if CUPTI_API_VERSION >= 22
AT(vtr_record_overhead_tail, correlation, NEWEST_Overhead, correlationId);
AT(vtr_record_overhead_tail, data, NEWEST_Overhead, overheadData);
#endif

AT(vtr_record_jit, start, NEWEST_Jit, start);
AT(vtr_record_jit, end, NEWEST_Jit, end);
AT(vtr_record_jit, correlation, NEWEST_Jit, correlationId);
#if CUPTI_API_VERSION >= 22
AT(vtr_record_jit_tail, process, NEWEST_Jit, processId);
AT(vtr_record_jit_tail, thread, NEWEST_Jit, threadId);
#endif

AT(vtr_record_device, memory_bytes, NEWEST_Device, globalMemorySize);
AT(vtr_record_device, warp_threads, NEWEST_Device, numThreadsPerWarp);
AT(vtr_record_device, sm_count, NEWEST_Device, numMultiprocessors);
AT(vtr_record_device, sm_warps, NEWEST_Device, maxWarpsPerMultiprocessor);
AT(vtr_record_device, sm_shared, NEWEST_Device, maxSharedMemoryPerMultiprocessor);
AT(vtr_record_device, sm_registers, NEWEST_Device, maxRegistersPerMultiprocessor);
AT(vtr_record_device, compute_major, NEWEST_Device, computeCapabilityMajor);
AT(vtr_record_device, compute_minor, NEWEST_Device, computeCapabilityMinor);
AT(vtr_record_device, device, NEWEST_Device, id);
AT(vtr_record_device, uuid, NEWEST_Device, uuid);
AT(vtr_record_device, name, NEWEST_Device, name);

AT(vtr_record_context, context, NEWEST_Context, contextId);
AT(vtr_record_context, device, NEWEST_Context, deviceId);
AT(vtr_record_context, null_stream, NEWEST_Context, nullStreamId);

AT(vtr_record_stream, context, NEWEST_Stream, contextId);
AT(vtr_record_stream, stream, NEWEST_Stream, streamId);
AT(vtr_record_stream, priority, NEWEST_Stream, priority);
AT(vtr_record_stream, flag, NEWEST_Stream, flag);
