/* standin_cupti.c - holds the stand-in's records, numbers and callback data against CUPTI's headers. Compiles to nothing.
 *
 * Its structs are those of CUPTI 13.0: later ones may be longer, earlier ones are the same cut short. */
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <cupti_version.h>

#include "calls.h"
#include "newest.h"
#include "tests/standin/include/standin_records.h"

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #ours)
#if CUPTI_API_VERSION >= 130000
#define SIZE(ours, theirs) SAME(sizeof(struct ours) <= sizeof(theirs), 1)
#else
#define SIZE(ours, theirs) SAME(sizeof(struct ours) >= sizeof(theirs), 1)
#endif
#define FIELD(ours, f, theirs, g)                                                                  \
	SAME(offsetof(struct ours, f), offsetof(theirs, g));                                       \
	SAME(sizeof(((struct ours *)0)->f), sizeof(((theirs *)0)->g))

SIZE(standin_kernel_record, NEWEST_Kernel);
FIELD(standin_kernel_record, registers, NEWEST_Kernel, registersPerThread);
FIELD(standin_kernel_record, start, NEWEST_Kernel, start);
FIELD(standin_kernel_record, end, NEWEST_Kernel, end);
FIELD(standin_kernel_record, completed, NEWEST_Kernel, completed);
FIELD(standin_kernel_record, device, NEWEST_Kernel, deviceId);
FIELD(standin_kernel_record, context, NEWEST_Kernel, contextId);
FIELD(standin_kernel_record, stream, NEWEST_Kernel, streamId);
FIELD(standin_kernel_record, static_shared, NEWEST_Kernel, staticSharedMemory);
FIELD(standin_kernel_record, dynamic_shared, NEWEST_Kernel, dynamicSharedMemory);
FIELD(standin_kernel_record, local_per_thread, NEWEST_Kernel, localMemoryPerThread);
FIELD(standin_kernel_record, local_total, NEWEST_Kernel, localMemoryTotal);
FIELD(standin_kernel_record, correlation, NEWEST_Kernel, correlationId);
FIELD(standin_kernel_record, grid_id, NEWEST_Kernel, gridId);
FIELD(standin_kernel_record, name, NEWEST_Kernel, name);
FIELD(standin_kernel_record, queued, NEWEST_Kernel, queued);
FIELD(standin_kernel_record, submitted, NEWEST_Kernel, submitted);
FIELD(standin_kernel_record, launch_type, NEWEST_Kernel, launchType);
FIELD(standin_kernel_record, shared_executed, NEWEST_Kernel, sharedMemoryExecuted);
FIELD(standin_kernel_record, graph_node, NEWEST_Kernel, graphNodeId);
FIELD(standin_kernel_record, graph, NEWEST_Kernel, graphId);
FIELD(standin_kernel_record, policy_window, NEWEST_Kernel, pAccessPolicyWindow);
FIELD(standin_kernel_record, channel, NEWEST_Kernel, channelID);
FIELD(standin_kernel_record, channel_type, NEWEST_Kernel, channelType);
FIELD(standin_kernel_record, local_total_v2, NEWEST_Kernel, localMemoryTotal_v2);
#if CUPTI_API_VERSION >= 21
FIELD(standin_kernel_record, max_cluster, NEWEST_Kernel, maxPotentialClusterSize);
#endif
#if CUPTI_API_VERSION >= 130000
FIELD(standin_kernel_record, device_launched, NEWEST_Kernel, isDeviceLaunched);
#endif

SIZE(standin_memcpy_record, NEWEST_Memcpy);
FIELD(standin_memcpy_record, copy_kind, NEWEST_Memcpy, copyKind);
FIELD(standin_memcpy_record, src_kind, NEWEST_Memcpy, srcKind);
FIELD(standin_memcpy_record, dst_kind, NEWEST_Memcpy, dstKind);
FIELD(standin_memcpy_record, flags, NEWEST_Memcpy, flags);
FIELD(standin_memcpy_record, bytes, NEWEST_Memcpy, bytes);
FIELD(standin_memcpy_record, start, NEWEST_Memcpy, start);
FIELD(standin_memcpy_record, end, NEWEST_Memcpy, end);
FIELD(standin_memcpy_record, device, NEWEST_Memcpy, deviceId);
FIELD(standin_memcpy_record, context, NEWEST_Memcpy, contextId);
FIELD(standin_memcpy_record, stream, NEWEST_Memcpy, streamId);
FIELD(standin_memcpy_record, correlation, NEWEST_Memcpy, correlationId);
FIELD(standin_memcpy_record, runtime_correlation, NEWEST_Memcpy, runtimeCorrelationId);
FIELD(standin_memcpy_record, graph_node, NEWEST_Memcpy, graphNodeId);
FIELD(standin_memcpy_record, graph, NEWEST_Memcpy, graphId);
FIELD(standin_memcpy_record, channel, NEWEST_Memcpy, channelID);
FIELD(standin_memcpy_record, channel_type, NEWEST_Memcpy, channelType);
#if CUPTI_API_VERSION >= 26
FIELD(standin_memcpy_record, copies, NEWEST_Memcpy, copyCount);
#endif

SIZE(standin_memcpy2_record, NEWEST_MemcpyPtoP);
FIELD(standin_memcpy2_record, copy_kind, NEWEST_MemcpyPtoP, copyKind);
FIELD(standin_memcpy2_record, src_kind, NEWEST_MemcpyPtoP, srcKind);
FIELD(standin_memcpy2_record, dst_kind, NEWEST_MemcpyPtoP, dstKind);
FIELD(standin_memcpy2_record, flags, NEWEST_MemcpyPtoP, flags);
FIELD(standin_memcpy2_record, bytes, NEWEST_MemcpyPtoP, bytes);
FIELD(standin_memcpy2_record, start, NEWEST_MemcpyPtoP, start);
FIELD(standin_memcpy2_record, end, NEWEST_MemcpyPtoP, end);
FIELD(standin_memcpy2_record, device, NEWEST_MemcpyPtoP, deviceId);
FIELD(standin_memcpy2_record, context, NEWEST_MemcpyPtoP, contextId);
FIELD(standin_memcpy2_record, stream, NEWEST_MemcpyPtoP, streamId);
FIELD(standin_memcpy2_record, src_device, NEWEST_MemcpyPtoP, srcDeviceId);
FIELD(standin_memcpy2_record, src_context, NEWEST_MemcpyPtoP, srcContextId);
FIELD(standin_memcpy2_record, dst_device, NEWEST_MemcpyPtoP, dstDeviceId);
FIELD(standin_memcpy2_record, dst_context, NEWEST_MemcpyPtoP, dstContextId);
FIELD(standin_memcpy2_record, correlation, NEWEST_MemcpyPtoP, correlationId);
FIELD(standin_memcpy2_record, graph_node, NEWEST_MemcpyPtoP, graphNodeId);
FIELD(standin_memcpy2_record, graph, NEWEST_MemcpyPtoP, graphId);
FIELD(standin_memcpy2_record, channel, NEWEST_MemcpyPtoP, channelID);
FIELD(standin_memcpy2_record, channel_type, NEWEST_MemcpyPtoP, channelType);

SIZE(standin_memset_record, NEWEST_Memset);
FIELD(standin_memset_record, value, NEWEST_Memset, value);
FIELD(standin_memset_record, bytes, NEWEST_Memset, bytes);
FIELD(standin_memset_record, start, NEWEST_Memset, start);
FIELD(standin_memset_record, end, NEWEST_Memset, end);
FIELD(standin_memset_record, device, NEWEST_Memset, deviceId);
FIELD(standin_memset_record, context, NEWEST_Memset, contextId);
FIELD(standin_memset_record, stream, NEWEST_Memset, streamId);
FIELD(standin_memset_record, correlation, NEWEST_Memset, correlationId);
FIELD(standin_memset_record, flags, NEWEST_Memset, flags);
FIELD(standin_memset_record, memory_kind, NEWEST_Memset, memoryKind);
FIELD(standin_memset_record, graph_node, NEWEST_Memset, graphNodeId);
FIELD(standin_memset_record, graph, NEWEST_Memset, graphId);
FIELD(standin_memset_record, channel, NEWEST_Memset, channelID);
FIELD(standin_memset_record, channel_type, NEWEST_Memset, channelType);

SIZE(standin_api_record, NEWEST_API);
FIELD(standin_api_record, cbid, NEWEST_API, cbid);
FIELD(standin_api_record, start, NEWEST_API, start);
FIELD(standin_api_record, end, NEWEST_API, end);
FIELD(standin_api_record, process, NEWEST_API, processId);
FIELD(standin_api_record, thread, NEWEST_API, threadId);
FIELD(standin_api_record, correlation, NEWEST_API, correlationId);
FIELD(standin_api_record, result, NEWEST_API, returnValue);

SIZE(standin_sync_record, NEWEST_Synchronization);
FIELD(standin_sync_record, type, NEWEST_Synchronization, type);
FIELD(standin_sync_record, start, NEWEST_Synchronization, start);
FIELD(standin_sync_record, end, NEWEST_Synchronization, end);
FIELD(standin_sync_record, correlation, NEWEST_Synchronization, correlationId);
FIELD(standin_sync_record, context, NEWEST_Synchronization, contextId);
FIELD(standin_sync_record, stream, NEWEST_Synchronization, streamId);
FIELD(standin_sync_record, event, NEWEST_Synchronization, cudaEventId);
#if CUPTI_API_VERSION >= 26
FIELD(standin_sync_record, event_sync, NEWEST_Synchronization, cudaEventSyncId);
FIELD(standin_sync_record, result, NEWEST_Synchronization, returnValue);
#endif

SIZE(standin_event_record, NEWEST_CudaEvent);
FIELD(standin_event_record, correlation, NEWEST_CudaEvent, correlationId);
FIELD(standin_event_record, context, NEWEST_CudaEvent, contextId);
FIELD(standin_event_record, stream, NEWEST_CudaEvent, streamId);
FIELD(standin_event_record, event, NEWEST_CudaEvent, eventId);
#if CUPTI_API_VERSION >= 26
FIELD(standin_event_record, device, NEWEST_CudaEvent, deviceId);
FIELD(standin_event_record, device_time, NEWEST_CudaEvent, deviceTimestamp);
FIELD(standin_event_record, event_sync, NEWEST_CudaEvent, cudaEventSyncId);
#endif

SIZE(standin_overhead_record, NEWEST_Overhead);
FIELD(standin_overhead_record, overhead, NEWEST_Overhead, overheadKind);
FIELD(standin_overhead_record, object, NEWEST_Overhead, objectKind);
FIELD(standin_overhead_record, object_process, NEWEST_Overhead, objectId.pt.processId);
FIELD(standin_overhead_record, object_thread, NEWEST_Overhead, objectId.pt.threadId);
FIELD(standin_overhead_record, start, NEWEST_Overhead, start);
FIELD(standin_overhead_record, end, NEWEST_Overhead, end);
#if CUPTI_API_VERSION >= 22
FIELD(standin_overhead_record, correlation, NEWEST_Overhead, correlationId);
FIELD(standin_overhead_record, data, NEWEST_Overhead, overheadData);

SIZE(standin_overhead_data, CUpti_ActivityOverheadCommandBufferFullData);
FIELD(standin_overhead_data, length, CUpti_ActivityOverheadCommandBufferFullData,
	commandBufferLength);
FIELD(standin_overhead_data, channel, CUpti_ActivityOverheadCommandBufferFullData, channelID);
FIELD(standin_overhead_data, channel_type, CUpti_ActivityOverheadCommandBufferFullData,
	channelType);
#endif

SIZE(standin_device_record, NEWEST_Device);
FIELD(standin_device_record, flags, NEWEST_Device, flags);
FIELD(standin_device_record, global_bandwidth, NEWEST_Device, globalMemoryBandwidth);
FIELD(standin_device_record, global_bytes, NEWEST_Device, globalMemorySize);
FIELD(standin_device_record, constant_bytes, NEWEST_Device, constantMemorySize);
FIELD(standin_device_record, l2_bytes, NEWEST_Device, l2CacheSize);
FIELD(standin_device_record, warp, NEWEST_Device, numThreadsPerWarp);
FIELD(standin_device_record, core_khz, NEWEST_Device, coreClockRate);
FIELD(standin_device_record, copy_engines, NEWEST_Device, numMemcpyEngines);
FIELD(standin_device_record, multiprocessors, NEWEST_Device, numMultiprocessors);
FIELD(standin_device_record, block_threads, NEWEST_Device, maxThreadsPerBlock);
FIELD(standin_device_record, capability_major, NEWEST_Device, computeCapabilityMajor);
FIELD(standin_device_record, capability_minor, NEWEST_Device, computeCapabilityMinor);
FIELD(standin_device_record, id, NEWEST_Device, id);
FIELD(standin_device_record, ecc, NEWEST_Device, eccEnabled);
FIELD(standin_device_record, uuid, NEWEST_Device, uuid);
FIELD(standin_device_record, name, NEWEST_Device, name);
FIELD(standin_device_record, visible, NEWEST_Device, isCudaVisible);
FIELD(standin_device_record, mig, NEWEST_Device, isMigEnabled);
FIELD(standin_device_record, gpu_instance, NEWEST_Device, gpuInstanceId);
FIELD(standin_device_record, mig_uuid, NEWEST_Device, migUuid);
#if CUPTI_API_VERSION >= 22
FIELD(standin_device_record, numa, NEWEST_Device, numaId);
#endif

SIZE(standin_context_record, NEWEST_Context);
FIELD(standin_context_record, context, NEWEST_Context, contextId);
FIELD(standin_context_record, device, NEWEST_Context, deviceId);
FIELD(standin_context_record, api, NEWEST_Context, computeApiKind);
FIELD(standin_context_record, null_stream, NEWEST_Context, nullStreamId);
#if CUPTI_API_VERSION >= 22
FIELD(standin_context_record, parent, NEWEST_Context, parentContextId);
#endif
#if CUPTI_API_VERSION >= 24
FIELD(standin_context_record, green, NEWEST_Context, isGreenContext);
FIELD(standin_context_record, multiprocessors, NEWEST_Context, numMultiprocessors);
#endif

SIZE(standin_stream_record, NEWEST_Stream);
FIELD(standin_stream_record, context, NEWEST_Stream, contextId);
FIELD(standin_stream_record, stream, NEWEST_Stream, streamId);
FIELD(standin_stream_record, priority, NEWEST_Stream, priority);
FIELD(standin_stream_record, flag, NEWEST_Stream, flag);
FIELD(standin_stream_record, correlation, NEWEST_Stream, correlationId);

SIZE(standin_memory_record, NEWEST_Memory);
FIELD(standin_memory_record, operation, NEWEST_Memory, memoryOperationType);
FIELD(standin_memory_record, memory_kind, NEWEST_Memory, memoryKind);
FIELD(standin_memory_record, correlation, NEWEST_Memory, correlationId);
FIELD(standin_memory_record, address, NEWEST_Memory, address);
FIELD(standin_memory_record, bytes, NEWEST_Memory, bytes);
FIELD(standin_memory_record, time, NEWEST_Memory, timestamp);
FIELD(standin_memory_record, pc, NEWEST_Memory, PC);
FIELD(standin_memory_record, process, NEWEST_Memory, processId);
FIELD(standin_memory_record, device, NEWEST_Memory, deviceId);
FIELD(standin_memory_record, context, NEWEST_Memory, contextId);
FIELD(standin_memory_record, stream, NEWEST_Memory, streamId);
FIELD(standin_memory_record, name, NEWEST_Memory, name);
FIELD(standin_memory_record, async, NEWEST_Memory, isAsync);
FIELD(standin_memory_record, pool_type, NEWEST_Memory, memoryPoolConfig.memoryPoolType);
FIELD(standin_memory_record, pool_address, NEWEST_Memory, memoryPoolConfig.address);
FIELD(standin_memory_record, pool_used, NEWEST_Memory, memoryPoolConfig.utilizedSize);
#if CUPTI_API_VERSION >= 24
FIELD(standin_memory_record, source, NEWEST_Memory, source);
#endif

SIZE(standin_graph_record, NEWEST_GraphTrace);
FIELD(standin_graph_record, correlation, NEWEST_GraphTrace, correlationId);
FIELD(standin_graph_record, start, NEWEST_GraphTrace, start);
FIELD(standin_graph_record, end, NEWEST_GraphTrace, end);
FIELD(standin_graph_record, device, NEWEST_GraphTrace, deviceId);
FIELD(standin_graph_record, graph, NEWEST_GraphTrace, graphId);
FIELD(standin_graph_record, context, NEWEST_GraphTrace, contextId);
FIELD(standin_graph_record, stream, NEWEST_GraphTrace, streamId);
#if CUPTI_API_VERSION >= 22
FIELD(standin_graph_record, end_device, NEWEST_GraphTrace, endDeviceId);
FIELD(standin_graph_record, end_context, NEWEST_GraphTrace, endContextId);
#endif

SIZE(standin_resource_data, CUpti_ResourceData);
FIELD(standin_resource_data, context, CUpti_ResourceData, context);
FIELD(standin_resource_data, stream, CUpti_ResourceData, resourceHandle.stream);
FIELD(standin_resource_data, descriptor, CUpti_ResourceData, resourceDescriptor);

SIZE(standin_module_data, CUpti_ModuleResourceData);
FIELD(standin_module_data, id, CUpti_ModuleResourceData, moduleId);
FIELD(standin_module_data, bytes, CUpti_ModuleResourceData, cubinSize);
FIELD(standin_module_data, image, CUpti_ModuleResourceData, pCubin);

SIZE(standin_graph_data, CUpti_GraphData);
FIELD(standin_graph_data, graph, CUpti_GraphData, graph);
FIELD(standin_graph_data, original_graph, CUpti_GraphData, originalGraph);
FIELD(standin_graph_data, node, CUpti_GraphData, node);
FIELD(standin_graph_data, original_node, CUpti_GraphData, originalNode);
FIELD(standin_graph_data, node_type, CUpti_GraphData, nodeType);
FIELD(standin_graph_data, dependency, CUpti_GraphData, dependency);
FIELD(standin_graph_data, exec, CUpti_GraphData, graphExec);

#if CUPTI_API_VERSION >= 22
SIZE(standin_state_data, CUpti_StateData);
FIELD(standin_state_data, result, CUpti_StateData, notification.result);
FIELD(standin_state_data, message, CUpti_StateData, notification.message);
#endif

SIZE(standin_api_data, CUpti_CallbackData);
FIELD(standin_api_data, site, CUpti_CallbackData, callbackSite);
FIELD(standin_api_data, function, CUpti_CallbackData, functionName);
FIELD(standin_api_data, parameters, CUpti_CallbackData, functionParams);
FIELD(standin_api_data, result, CUpti_CallbackData, functionReturnValue);
FIELD(standin_api_data, symbol, CUpti_CallbackData, symbolName);
FIELD(standin_api_data, context, CUpti_CallbackData, context);
FIELD(standin_api_data, context_id, CUpti_CallbackData, contextUid);
FIELD(standin_api_data, scratch, CUpti_CallbackData, correlationData);
FIELD(standin_api_data, correlation, CUpti_CallbackData, correlationId);

#if CUPTI_API_VERSION >= 130000
SIZE(standin_subscriber_parameters, CUpti_SubscriberParams);
FIELD(standin_subscriber_parameters, struct_bytes, CUpti_SubscriberParams, structSize);
FIELD(standin_subscriber_parameters, name, CUpti_SubscriberParams, subscriberName);
FIELD(standin_subscriber_parameters, old_name, CUpti_SubscriberParams, oldSubscriberName);
FIELD(standin_subscriber_parameters, old_name_bytes, CUpti_SubscriberParams, oldSubscriberSize);
#endif

SAME((int)STANDIN_MEMCPY, (int)CUPTI_ACTIVITY_KIND_MEMCPY);
SAME((int)STANDIN_MEMSET, (int)CUPTI_ACTIVITY_KIND_MEMSET);
SAME((int)STANDIN_DRIVER, (int)CUPTI_ACTIVITY_KIND_DRIVER);
SAME((int)STANDIN_RUNTIME, (int)CUPTI_ACTIVITY_KIND_RUNTIME);
SAME((int)STANDIN_DEVICE, (int)CUPTI_ACTIVITY_KIND_DEVICE);
SAME((int)STANDIN_CONTEXT, (int)CUPTI_ACTIVITY_KIND_CONTEXT);
SAME((int)STANDIN_KERNEL, (int)CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME((int)STANDIN_OVERHEAD, (int)CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME((int)STANDIN_MEMCPY2, (int)CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME((int)STANDIN_CUDA_EVENT, (int)CUPTI_ACTIVITY_KIND_CUDA_EVENT);
SAME((int)STANDIN_STREAM, (int)CUPTI_ACTIVITY_KIND_STREAM);
SAME((int)STANDIN_SYNCHRONIZATION, (int)CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME((int)STANDIN_MEMORY2, (int)CUPTI_ACTIVITY_KIND_MEMORY2);
SAME((int)STANDIN_MEMORY_POOL, (int)CUPTI_ACTIVITY_KIND_MEMORY_POOL);
SAME((int)STANDIN_GRAPH_TRACE, (int)CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
SAME((int)STANDIN_JIT, (int)CUPTI_ACTIVITY_KIND_JIT);
SAME((int)STANDIN_CUPTI_INVALID_PARAMETER, (int)CUPTI_ERROR_INVALID_PARAMETER);
SAME((int)STANDIN_CUPTI_MAX_LIMIT_REACHED, (int)CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME((int)STANDIN_CUPTI_NOT_COMPATIBLE, (int)CUPTI_ERROR_NOT_COMPATIBLE);
SAME((int)STANDIN_CUPTI_NOT_INITIALIZED, (int)CUPTI_ERROR_NOT_INITIALIZED);
SAME((int)STANDIN_CUPTI_INVALID_KIND, (int)CUPTI_ERROR_INVALID_KIND);
SAME((int)STANDIN_CUPTI_NOT_SUPPORTED, (int)CUPTI_ERROR_NOT_SUPPORTED);
SAME((int)STANDIN_CUPTI_NO_PRIVILEGES, (int)CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME((int)STANDIN_CUPTI_MULTIPLE_SUBSCRIBERS, (int)CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME((int)STANDIN_CUPTI_UNKNOWN, (int)CUPTI_ERROR_UNKNOWN);
SAME((int)STANDIN_DOMAIN_DRIVER, (int)CUPTI_CB_DOMAIN_DRIVER_API);
SAME((int)STANDIN_DOMAIN_RUNTIME, (int)CUPTI_CB_DOMAIN_RUNTIME_API);
SAME((int)STANDIN_DOMAIN_RESOURCE, (int)CUPTI_CB_DOMAIN_RESOURCE);
#if CUPTI_API_VERSION >= 22
SAME((int)STANDIN_DOMAIN_STATE, (int)CUPTI_CB_DOMAIN_STATE);
SAME((int)STANDIN_STATE_FATAL, (int)CUPTI_CBID_STATE_FATAL_ERROR);
#endif
SAME((int)STANDIN_FLUSH_FORCED, (int)CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME((int)STANDIN_ATTRIBUTE_ZEROED, (int)CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
#if CUPTI_API_VERSION >= 21
SAME((int)STANDIN_ATTRIBUTE_PER_THREAD, (int)CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
#endif
SAME((int)STANDIN_THREAD_ID_SYSTEM, (int)CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
#if CUPTI_API_VERSION >= 22
SAME((int)STANDIN_OVERHEAD_QUEUE_FULL, (int)CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
#endif
SAME((int)STANDIN_OBJECT_THREAD, (int)CUPTI_ACTIVITY_OBJECT_THREAD);
