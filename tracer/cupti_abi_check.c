/* cupti_abi_check.c - holds cupti_abi.h against CUPTI's own headers, where they are installed.
 * Compiles to nothing.
 *
 * A field must stand where CUPTI's struct of this version has it, with the same size. */
#include "tracer/cupti_abi.h"

#ifdef VPT_HAVE_CUPTI

#include <cupti.h>

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

SAME(VTR_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(VTR_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(VTR_KIND_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
SAME(VTR_KIND_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
SAME(VTR_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME(VTR_KIND_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
SAME(VTR_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
SAME(VTR_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(VTR_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME(VTR_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME(VTR_KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
SAME(VTR_KIND_STREAM, CUPTI_ACTIVITY_KIND_STREAM);
SAME(VTR_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME(VTR_KIND_INTERNAL_LAUNCH, CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API);
SAME(VTR_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
SAME(VTR_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
SAME(VTR_KIND_JIT, CUPTI_ACTIVITY_KIND_JIT);
_Static_assert((int)VTR_KINDS >= (int)CUPTI_ACTIVITY_KIND_COUNT, "kinds beyond our table");

SAME(VTR_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME(VTR_ATTRIBUTE_ZEROED_BUFFERS, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
SAME(VTR_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
#if CUPTI_API_VERSION >= 21
SAME(VTR_ATTRIBUTE_PER_THREAD_BUFFERS, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
#endif

SAME(VTR_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(VTR_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME(VTR_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
SAME(VTR_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
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
AT(vtr_state_data, message, CUpti_StateData, notification.message);
#endif
#if CUPTI_API_VERSION >= 130000
_Static_assert(
	sizeof(struct vtr_subscriber_params) == sizeof(CUpti_SubscriberParams), "subscriber");
AT(vtr_subscriber_params, name, CUpti_SubscriberParams, subscriberName);
AT(vtr_subscriber_params, old_name, CUpti_SubscriberParams, oldSubscriberName);
AT(vtr_subscriber_params, old_name_bytes, CUpti_SubscriberParams, oldSubscriberSize);
#endif

_Static_assert((uint32_t)VTR_NO_ID == (uint32_t)CUPTI_SYNCHRONIZATION_INVALID_VALUE, "no id");
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

/* The rest needs the structs of CUDA 13; earlier ones have the same offsets, which nobody checks
 * here. */
#if CUPTI_API_VERSION >= 130000

AT(vtr_record_kernel, registers, CUpti_ActivityKernel10, registersPerThread);
AT(vtr_record_kernel, start, CUpti_ActivityKernel10, start);
AT(vtr_record_kernel, end, CUpti_ActivityKernel10, end);
AT(vtr_record_kernel, device, CUpti_ActivityKernel10, deviceId);
AT(vtr_record_kernel, context, CUpti_ActivityKernel10, contextId);
AT(vtr_record_kernel, stream, CUpti_ActivityKernel10, streamId);
AT(vtr_record_kernel, grid_x, CUpti_ActivityKernel10, gridX);
AT(vtr_record_kernel, grid_z, CUpti_ActivityKernel10, gridZ);
AT(vtr_record_kernel, block_x, CUpti_ActivityKernel10, blockX);
AT(vtr_record_kernel, block_z, CUpti_ActivityKernel10, blockZ);
AT(vtr_record_kernel, static_shared, CUpti_ActivityKernel10, staticSharedMemory);
AT(vtr_record_kernel, dynamic_shared, CUpti_ActivityKernel10, dynamicSharedMemory);
AT(vtr_record_kernel, local_thread, CUpti_ActivityKernel10, localMemoryPerThread);
AT(vtr_record_kernel, correlation, CUpti_ActivityKernel10, correlationId);
AT(vtr_record_kernel, name, CUpti_ActivityKernel10, name);
AT(vtr_record_kernel, graph_node, CUpti_ActivityKernel10, graphNodeId);
AT(vtr_record_kernel, graph, CUpti_ActivityKernel10, graphId);
AT(vtr_record_kernel, cluster_x, CUpti_ActivityKernel10, clusterX);
AT(vtr_record_kernel, cluster_z, CUpti_ActivityKernel10, clusterZ);

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

COPY(vtr_record_memcpy, CUpti_ActivityMemcpy6);
OP(vtr_record_memcpy, CUpti_ActivityMemcpy6);
COPY(vtr_record_peer, CUpti_ActivityMemcpyPtoP4);
OP(vtr_record_peer, CUpti_ActivityMemcpyPtoP4);
AT(vtr_record_peer, source_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
AT(vtr_record_peer, target_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
OP(vtr_record_memset, CUpti_ActivityMemset4);
AT(vtr_record_memset, value, CUpti_ActivityMemset4, value);
AT(vtr_record_memset, bytes, CUpti_ActivityMemset4, bytes);
AT(vtr_record_memset, flags, CUpti_ActivityMemset4, flags);
AT(vtr_record_memset, memory_kind, CUpti_ActivityMemset4, memoryKind);

_Static_assert(sizeof(struct vtr_record_call) == sizeof(CUpti_ActivityAPI), "call");
AT(vtr_record_call, cbid, CUpti_ActivityAPI, cbid);
AT(vtr_record_call, start, CUpti_ActivityAPI, start);
AT(vtr_record_call, end, CUpti_ActivityAPI, end);
AT(vtr_record_call, process, CUpti_ActivityAPI, processId);
AT(vtr_record_call, thread, CUpti_ActivityAPI, threadId);
AT(vtr_record_call, correlation, CUpti_ActivityAPI, correlationId);
AT(vtr_record_call, result, CUpti_ActivityAPI, returnValue);

AT(vtr_record_sync, type, CUpti_ActivitySynchronization2, type);
AT(vtr_record_sync, start, CUpti_ActivitySynchronization2, start);
AT(vtr_record_sync, end, CUpti_ActivitySynchronization2, end);
AT(vtr_record_sync, correlation, CUpti_ActivitySynchronization2, correlationId);
AT(vtr_record_sync, context, CUpti_ActivitySynchronization2, contextId);
AT(vtr_record_sync, stream, CUpti_ActivitySynchronization2, streamId);
AT(vtr_record_sync, event, CUpti_ActivitySynchronization2, cudaEventId);
AT(vtr_record_sync_tail, sync_id, CUpti_ActivitySynchronization2, cudaEventSyncId);

AT(vtr_record_event, correlation, CUpti_ActivityCudaEvent2, correlationId);
AT(vtr_record_event, context, CUpti_ActivityCudaEvent2, contextId);
AT(vtr_record_event, stream, CUpti_ActivityCudaEvent2, streamId);
AT(vtr_record_event, event, CUpti_ActivityCudaEvent2, eventId);
AT(vtr_record_event_tail, device, CUpti_ActivityCudaEvent2, deviceId);
AT(vtr_record_event_tail, device_time, CUpti_ActivityCudaEvent2, deviceTimestamp);
AT(vtr_record_event_tail, sync_id, CUpti_ActivityCudaEvent2, cudaEventSyncId);

AT(vtr_record_memory, operation, CUpti_ActivityMemory4, memoryOperationType);
AT(vtr_record_memory, memory_kind, CUpti_ActivityMemory4, memoryKind);
AT(vtr_record_memory, correlation, CUpti_ActivityMemory4, correlationId);
AT(vtr_record_memory, address, CUpti_ActivityMemory4, address);
AT(vtr_record_memory, bytes, CUpti_ActivityMemory4, bytes);
AT(vtr_record_memory, time, CUpti_ActivityMemory4, timestamp);
AT(vtr_record_memory, device, CUpti_ActivityMemory4, deviceId);
AT(vtr_record_memory, context, CUpti_ActivityMemory4, contextId);
AT(vtr_record_memory, stream, CUpti_ActivityMemory4, streamId);
AT(vtr_record_memory, pool, CUpti_ActivityMemory4, memoryPoolConfig.address);

AT(vtr_record_graph, correlation, CUpti_ActivityGraphTrace2, correlationId);
AT(vtr_record_graph, start, CUpti_ActivityGraphTrace2, start);
AT(vtr_record_graph, end, CUpti_ActivityGraphTrace2, end);
AT(vtr_record_graph, device, CUpti_ActivityGraphTrace2, deviceId);
AT(vtr_record_graph, graph, CUpti_ActivityGraphTrace2, graphId);
AT(vtr_record_graph, context, CUpti_ActivityGraphTrace2, contextId);
AT(vtr_record_graph, stream, CUpti_ActivityGraphTrace2, streamId);

AT(vtr_record_overhead, overhead, CUpti_ActivityOverhead3, overheadKind);
AT(vtr_record_overhead, object, CUpti_ActivityOverhead3, objectKind);
AT(vtr_record_overhead, process, CUpti_ActivityOverhead3, objectId.pt.processId);
AT(vtr_record_overhead, thread, CUpti_ActivityOverhead3, objectId.pt.threadId);
AT(vtr_record_overhead, start, CUpti_ActivityOverhead3, start);
AT(vtr_record_overhead, end, CUpti_ActivityOverhead3, end);
AT(vtr_record_overhead_tail, correlation, CUpti_ActivityOverhead3, correlationId);
AT(vtr_record_overhead_tail, data, CUpti_ActivityOverhead3, overheadData);

AT(vtr_record_jit, start, CUpti_ActivityJit2, start);
AT(vtr_record_jit, end, CUpti_ActivityJit2, end);
AT(vtr_record_jit, correlation, CUpti_ActivityJit2, correlationId);
AT(vtr_record_jit_tail, process, CUpti_ActivityJit2, processId);
AT(vtr_record_jit_tail, thread, CUpti_ActivityJit2, threadId);

AT(vtr_record_device, memory_bytes, CUpti_ActivityDevice5, globalMemorySize);
AT(vtr_record_device, warp_threads, CUpti_ActivityDevice5, numThreadsPerWarp);
AT(vtr_record_device, sm_count, CUpti_ActivityDevice5, numMultiprocessors);
AT(vtr_record_device, sm_warps, CUpti_ActivityDevice5, maxWarpsPerMultiprocessor);
AT(vtr_record_device, sm_shared, CUpti_ActivityDevice5, maxSharedMemoryPerMultiprocessor);
AT(vtr_record_device, sm_registers, CUpti_ActivityDevice5, maxRegistersPerMultiprocessor);
AT(vtr_record_device, compute_major, CUpti_ActivityDevice5, computeCapabilityMajor);
AT(vtr_record_device, compute_minor, CUpti_ActivityDevice5, computeCapabilityMinor);
AT(vtr_record_device, device, CUpti_ActivityDevice5, id);
AT(vtr_record_device, uuid, CUpti_ActivityDevice5, uuid);
AT(vtr_record_device, name, CUpti_ActivityDevice5, name);

AT(vtr_record_context, context, CUpti_ActivityContext3, contextId);
AT(vtr_record_context, device, CUpti_ActivityContext3, deviceId);
AT(vtr_record_context, null_stream, CUpti_ActivityContext3, nullStreamId);

AT(vtr_record_stream, context, CUpti_ActivityStream, contextId);
AT(vtr_record_stream, stream, CUpti_ActivityStream, streamId);
AT(vtr_record_stream, priority, CUpti_ActivityStream, priority);
AT(vtr_record_stream, flag, CUpti_ActivityStream, flag);

#endif
#endif
