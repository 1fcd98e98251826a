/* layout_check.c - checks this stand-in's records, numbers and callback data against the real
 * headers, where there are any. Compiled, never linked. */
#include <cupti.h>

#include "tests/standin/include/standin_records.h"

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #ours)
#define SIZE(ours, theirs) SAME(sizeof(struct ours), sizeof(theirs))
#define FIELD(ours, f, theirs, g)                                                                  \
	SAME(offsetof(struct ours, f), offsetof(theirs, g));                                       \
	SAME(sizeof(((struct ours *)0)->f), sizeof(((theirs *)0)->g))

SIZE(standin_kernel_record, CUpti_ActivityKernel10);
FIELD(standin_kernel_record, registers, CUpti_ActivityKernel10, registersPerThread);
FIELD(standin_kernel_record, start, CUpti_ActivityKernel10, start);
FIELD(standin_kernel_record, end, CUpti_ActivityKernel10, end);
FIELD(standin_kernel_record, completed, CUpti_ActivityKernel10, completed);
FIELD(standin_kernel_record, device, CUpti_ActivityKernel10, deviceId);
FIELD(standin_kernel_record, context, CUpti_ActivityKernel10, contextId);
FIELD(standin_kernel_record, stream, CUpti_ActivityKernel10, streamId);
FIELD(standin_kernel_record, static_shared, CUpti_ActivityKernel10, staticSharedMemory);
FIELD(standin_kernel_record, dynamic_shared, CUpti_ActivityKernel10, dynamicSharedMemory);
FIELD(standin_kernel_record, local_per_thread, CUpti_ActivityKernel10, localMemoryPerThread);
FIELD(standin_kernel_record, local_total, CUpti_ActivityKernel10, localMemoryTotal);
FIELD(standin_kernel_record, correlation, CUpti_ActivityKernel10, correlationId);
FIELD(standin_kernel_record, grid_id, CUpti_ActivityKernel10, gridId);
FIELD(standin_kernel_record, name, CUpti_ActivityKernel10, name);
FIELD(standin_kernel_record, queued, CUpti_ActivityKernel10, queued);
FIELD(standin_kernel_record, submitted, CUpti_ActivityKernel10, submitted);
FIELD(standin_kernel_record, launch_type, CUpti_ActivityKernel10, launchType);
FIELD(standin_kernel_record, shared_executed, CUpti_ActivityKernel10, sharedMemoryExecuted);
FIELD(standin_kernel_record, graph_node, CUpti_ActivityKernel10, graphNodeId);
FIELD(standin_kernel_record, graph, CUpti_ActivityKernel10, graphId);
FIELD(standin_kernel_record, policy_window, CUpti_ActivityKernel10, pAccessPolicyWindow);
FIELD(standin_kernel_record, channel, CUpti_ActivityKernel10, channelID);
FIELD(standin_kernel_record, channel_type, CUpti_ActivityKernel10, channelType);
FIELD(standin_kernel_record, local_total_v2, CUpti_ActivityKernel10, localMemoryTotal_v2);
FIELD(standin_kernel_record, max_cluster, CUpti_ActivityKernel10, maxPotentialClusterSize);
FIELD(standin_kernel_record, device_launched, CUpti_ActivityKernel10, isDeviceLaunched);

SIZE(standin_memcpy_record, CUpti_ActivityMemcpy6);
FIELD(standin_memcpy_record, copy_kind, CUpti_ActivityMemcpy6, copyKind);
FIELD(standin_memcpy_record, src_kind, CUpti_ActivityMemcpy6, srcKind);
FIELD(standin_memcpy_record, dst_kind, CUpti_ActivityMemcpy6, dstKind);
FIELD(standin_memcpy_record, flags, CUpti_ActivityMemcpy6, flags);
FIELD(standin_memcpy_record, bytes, CUpti_ActivityMemcpy6, bytes);
FIELD(standin_memcpy_record, start, CUpti_ActivityMemcpy6, start);
FIELD(standin_memcpy_record, end, CUpti_ActivityMemcpy6, end);
FIELD(standin_memcpy_record, device, CUpti_ActivityMemcpy6, deviceId);
FIELD(standin_memcpy_record, context, CUpti_ActivityMemcpy6, contextId);
FIELD(standin_memcpy_record, stream, CUpti_ActivityMemcpy6, streamId);
FIELD(standin_memcpy_record, correlation, CUpti_ActivityMemcpy6, correlationId);
FIELD(standin_memcpy_record, runtime_correlation, CUpti_ActivityMemcpy6, runtimeCorrelationId);
FIELD(standin_memcpy_record, graph_node, CUpti_ActivityMemcpy6, graphNodeId);
FIELD(standin_memcpy_record, graph, CUpti_ActivityMemcpy6, graphId);
FIELD(standin_memcpy_record, channel, CUpti_ActivityMemcpy6, channelID);
FIELD(standin_memcpy_record, channel_type, CUpti_ActivityMemcpy6, channelType);
FIELD(standin_memcpy_record, copies, CUpti_ActivityMemcpy6, copyCount);

SIZE(standin_memcpy2_record, CUpti_ActivityMemcpyPtoP4);
FIELD(standin_memcpy2_record, copy_kind, CUpti_ActivityMemcpyPtoP4, copyKind);
FIELD(standin_memcpy2_record, src_kind, CUpti_ActivityMemcpyPtoP4, srcKind);
FIELD(standin_memcpy2_record, dst_kind, CUpti_ActivityMemcpyPtoP4, dstKind);
FIELD(standin_memcpy2_record, flags, CUpti_ActivityMemcpyPtoP4, flags);
FIELD(standin_memcpy2_record, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
FIELD(standin_memcpy2_record, start, CUpti_ActivityMemcpyPtoP4, start);
FIELD(standin_memcpy2_record, end, CUpti_ActivityMemcpyPtoP4, end);
FIELD(standin_memcpy2_record, device, CUpti_ActivityMemcpyPtoP4, deviceId);
FIELD(standin_memcpy2_record, context, CUpti_ActivityMemcpyPtoP4, contextId);
FIELD(standin_memcpy2_record, stream, CUpti_ActivityMemcpyPtoP4, streamId);
FIELD(standin_memcpy2_record, src_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
FIELD(standin_memcpy2_record, src_context, CUpti_ActivityMemcpyPtoP4, srcContextId);
FIELD(standin_memcpy2_record, dst_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
FIELD(standin_memcpy2_record, dst_context, CUpti_ActivityMemcpyPtoP4, dstContextId);
FIELD(standin_memcpy2_record, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
FIELD(standin_memcpy2_record, graph_node, CUpti_ActivityMemcpyPtoP4, graphNodeId);
FIELD(standin_memcpy2_record, graph, CUpti_ActivityMemcpyPtoP4, graphId);
FIELD(standin_memcpy2_record, channel, CUpti_ActivityMemcpyPtoP4, channelID);
FIELD(standin_memcpy2_record, channel_type, CUpti_ActivityMemcpyPtoP4, channelType);

SIZE(standin_memset_record, CUpti_ActivityMemset4);
FIELD(standin_memset_record, value, CUpti_ActivityMemset4, value);
FIELD(standin_memset_record, bytes, CUpti_ActivityMemset4, bytes);
FIELD(standin_memset_record, start, CUpti_ActivityMemset4, start);
FIELD(standin_memset_record, end, CUpti_ActivityMemset4, end);
FIELD(standin_memset_record, device, CUpti_ActivityMemset4, deviceId);
FIELD(standin_memset_record, context, CUpti_ActivityMemset4, contextId);
FIELD(standin_memset_record, stream, CUpti_ActivityMemset4, streamId);
FIELD(standin_memset_record, correlation, CUpti_ActivityMemset4, correlationId);
FIELD(standin_memset_record, flags, CUpti_ActivityMemset4, flags);
FIELD(standin_memset_record, memory_kind, CUpti_ActivityMemset4, memoryKind);
FIELD(standin_memset_record, graph_node, CUpti_ActivityMemset4, graphNodeId);
FIELD(standin_memset_record, graph, CUpti_ActivityMemset4, graphId);
FIELD(standin_memset_record, channel, CUpti_ActivityMemset4, channelID);
FIELD(standin_memset_record, channel_type, CUpti_ActivityMemset4, channelType);

SIZE(standin_api_record, CUpti_ActivityAPI);
FIELD(standin_api_record, cbid, CUpti_ActivityAPI, cbid);
FIELD(standin_api_record, start, CUpti_ActivityAPI, start);
FIELD(standin_api_record, end, CUpti_ActivityAPI, end);
FIELD(standin_api_record, process, CUpti_ActivityAPI, processId);
FIELD(standin_api_record, thread, CUpti_ActivityAPI, threadId);
FIELD(standin_api_record, correlation, CUpti_ActivityAPI, correlationId);
FIELD(standin_api_record, result, CUpti_ActivityAPI, returnValue);

SIZE(standin_sync_record, CUpti_ActivitySynchronization2);
FIELD(standin_sync_record, type, CUpti_ActivitySynchronization2, type);
FIELD(standin_sync_record, start, CUpti_ActivitySynchronization2, start);
FIELD(standin_sync_record, end, CUpti_ActivitySynchronization2, end);
FIELD(standin_sync_record, correlation, CUpti_ActivitySynchronization2, correlationId);
FIELD(standin_sync_record, context, CUpti_ActivitySynchronization2, contextId);
FIELD(standin_sync_record, stream, CUpti_ActivitySynchronization2, streamId);
FIELD(standin_sync_record, event, CUpti_ActivitySynchronization2, cudaEventId);
FIELD(standin_sync_record, event_sync, CUpti_ActivitySynchronization2, cudaEventSyncId);
FIELD(standin_sync_record, result, CUpti_ActivitySynchronization2, returnValue);

SIZE(standin_event_record, CUpti_ActivityCudaEvent2);
FIELD(standin_event_record, correlation, CUpti_ActivityCudaEvent2, correlationId);
FIELD(standin_event_record, context, CUpti_ActivityCudaEvent2, contextId);
FIELD(standin_event_record, stream, CUpti_ActivityCudaEvent2, streamId);
FIELD(standin_event_record, event, CUpti_ActivityCudaEvent2, eventId);
FIELD(standin_event_record, device, CUpti_ActivityCudaEvent2, deviceId);
FIELD(standin_event_record, device_time, CUpti_ActivityCudaEvent2, deviceTimestamp);
FIELD(standin_event_record, event_sync, CUpti_ActivityCudaEvent2, cudaEventSyncId);

SIZE(standin_overhead_record, CUpti_ActivityOverhead3);
FIELD(standin_overhead_record, overhead, CUpti_ActivityOverhead3, overheadKind);
FIELD(standin_overhead_record, object, CUpti_ActivityOverhead3, objectKind);
FIELD(standin_overhead_record, object_process, CUpti_ActivityOverhead3, objectId.pt.processId);
FIELD(standin_overhead_record, object_thread, CUpti_ActivityOverhead3, objectId.pt.threadId);
FIELD(standin_overhead_record, start, CUpti_ActivityOverhead3, start);
FIELD(standin_overhead_record, end, CUpti_ActivityOverhead3, end);
FIELD(standin_overhead_record, correlation, CUpti_ActivityOverhead3, correlationId);
FIELD(standin_overhead_record, data, CUpti_ActivityOverhead3, overheadData);

SIZE(standin_overhead_data, CUpti_ActivityOverheadCommandBufferFullData);
FIELD(standin_overhead_data, length, CUpti_ActivityOverheadCommandBufferFullData,
	commandBufferLength);
FIELD(standin_overhead_data, channel, CUpti_ActivityOverheadCommandBufferFullData, channelID);
FIELD(standin_overhead_data, channel_type, CUpti_ActivityOverheadCommandBufferFullData,
	channelType);

SIZE(standin_device_record, CUpti_ActivityDevice5);
FIELD(standin_device_record, flags, CUpti_ActivityDevice5, flags);
FIELD(standin_device_record, global_bandwidth, CUpti_ActivityDevice5, globalMemoryBandwidth);
FIELD(standin_device_record, global_bytes, CUpti_ActivityDevice5, globalMemorySize);
FIELD(standin_device_record, constant_bytes, CUpti_ActivityDevice5, constantMemorySize);
FIELD(standin_device_record, l2_bytes, CUpti_ActivityDevice5, l2CacheSize);
FIELD(standin_device_record, warp, CUpti_ActivityDevice5, numThreadsPerWarp);
FIELD(standin_device_record, core_khz, CUpti_ActivityDevice5, coreClockRate);
FIELD(standin_device_record, copy_engines, CUpti_ActivityDevice5, numMemcpyEngines);
FIELD(standin_device_record, multiprocessors, CUpti_ActivityDevice5, numMultiprocessors);
FIELD(standin_device_record, block_threads, CUpti_ActivityDevice5, maxThreadsPerBlock);
FIELD(standin_device_record, capability_major, CUpti_ActivityDevice5, computeCapabilityMajor);
FIELD(standin_device_record, capability_minor, CUpti_ActivityDevice5, computeCapabilityMinor);
FIELD(standin_device_record, id, CUpti_ActivityDevice5, id);
FIELD(standin_device_record, ecc, CUpti_ActivityDevice5, eccEnabled);
FIELD(standin_device_record, uuid, CUpti_ActivityDevice5, uuid);
FIELD(standin_device_record, name, CUpti_ActivityDevice5, name);
FIELD(standin_device_record, visible, CUpti_ActivityDevice5, isCudaVisible);
FIELD(standin_device_record, mig, CUpti_ActivityDevice5, isMigEnabled);
FIELD(standin_device_record, gpu_instance, CUpti_ActivityDevice5, gpuInstanceId);
FIELD(standin_device_record, mig_uuid, CUpti_ActivityDevice5, migUuid);
FIELD(standin_device_record, numa, CUpti_ActivityDevice5, numaId);

SIZE(standin_context_record, CUpti_ActivityContext3);
FIELD(standin_context_record, context, CUpti_ActivityContext3, contextId);
FIELD(standin_context_record, device, CUpti_ActivityContext3, deviceId);
FIELD(standin_context_record, api, CUpti_ActivityContext3, computeApiKind);
FIELD(standin_context_record, null_stream, CUpti_ActivityContext3, nullStreamId);
FIELD(standin_context_record, parent, CUpti_ActivityContext3, parentContextId);
FIELD(standin_context_record, green, CUpti_ActivityContext3, isGreenContext);
FIELD(standin_context_record, multiprocessors, CUpti_ActivityContext3, numMultiprocessors);

SIZE(standin_stream_record, CUpti_ActivityStream);
FIELD(standin_stream_record, context, CUpti_ActivityStream, contextId);
FIELD(standin_stream_record, stream, CUpti_ActivityStream, streamId);
FIELD(standin_stream_record, priority, CUpti_ActivityStream, priority);
FIELD(standin_stream_record, flag, CUpti_ActivityStream, flag);
FIELD(standin_stream_record, correlation, CUpti_ActivityStream, correlationId);

SIZE(standin_memory_record, CUpti_ActivityMemory4);
FIELD(standin_memory_record, operation, CUpti_ActivityMemory4, memoryOperationType);
FIELD(standin_memory_record, memory_kind, CUpti_ActivityMemory4, memoryKind);
FIELD(standin_memory_record, correlation, CUpti_ActivityMemory4, correlationId);
FIELD(standin_memory_record, address, CUpti_ActivityMemory4, address);
FIELD(standin_memory_record, bytes, CUpti_ActivityMemory4, bytes);
FIELD(standin_memory_record, time, CUpti_ActivityMemory4, timestamp);
FIELD(standin_memory_record, pc, CUpti_ActivityMemory4, PC);
FIELD(standin_memory_record, process, CUpti_ActivityMemory4, processId);
FIELD(standin_memory_record, device, CUpti_ActivityMemory4, deviceId);
FIELD(standin_memory_record, context, CUpti_ActivityMemory4, contextId);
FIELD(standin_memory_record, stream, CUpti_ActivityMemory4, streamId);
FIELD(standin_memory_record, name, CUpti_ActivityMemory4, name);
FIELD(standin_memory_record, async, CUpti_ActivityMemory4, isAsync);
FIELD(standin_memory_record, pool_type, CUpti_ActivityMemory4, memoryPoolConfig.memoryPoolType);
FIELD(standin_memory_record, pool_address, CUpti_ActivityMemory4, memoryPoolConfig.address);
FIELD(standin_memory_record, pool_used, CUpti_ActivityMemory4, memoryPoolConfig.utilizedSize);
FIELD(standin_memory_record, source, CUpti_ActivityMemory4, source);

SIZE(standin_graph_record, CUpti_ActivityGraphTrace2);
FIELD(standin_graph_record, correlation, CUpti_ActivityGraphTrace2, correlationId);
FIELD(standin_graph_record, start, CUpti_ActivityGraphTrace2, start);
FIELD(standin_graph_record, end, CUpti_ActivityGraphTrace2, end);
FIELD(standin_graph_record, device, CUpti_ActivityGraphTrace2, deviceId);
FIELD(standin_graph_record, graph, CUpti_ActivityGraphTrace2, graphId);
FIELD(standin_graph_record, context, CUpti_ActivityGraphTrace2, contextId);
FIELD(standin_graph_record, stream, CUpti_ActivityGraphTrace2, streamId);
FIELD(standin_graph_record, end_device, CUpti_ActivityGraphTrace2, endDeviceId);
FIELD(standin_graph_record, end_context, CUpti_ActivityGraphTrace2, endContextId);

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

SIZE(standin_state_data, CUpti_StateData);
FIELD(standin_state_data, result, CUpti_StateData, notification.result);
FIELD(standin_state_data, message, CUpti_StateData, notification.message);

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

SIZE(standin_subscriber_parameters, CUpti_SubscriberParams);
FIELD(standin_subscriber_parameters, struct_bytes, CUpti_SubscriberParams, structSize);
FIELD(standin_subscriber_parameters, name, CUpti_SubscriberParams, subscriberName);
FIELD(standin_subscriber_parameters, old_name, CUpti_SubscriberParams, oldSubscriberName);
FIELD(standin_subscriber_parameters, old_name_bytes, CUpti_SubscriberParams, oldSubscriberSize);

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
SAME((int)STANDIN_DOMAIN_STATE, (int)CUPTI_CB_DOMAIN_STATE);
SAME((int)STANDIN_STATE_FATAL, (int)CUPTI_CBID_STATE_FATAL_ERROR);
SAME((int)STANDIN_FLUSH_FORCED, (int)CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME((int)STANDIN_ATTRIBUTE_ZEROED, (int)CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
SAME((int)STANDIN_ATTRIBUTE_PER_THREAD, (int)CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
SAME((int)STANDIN_THREAD_ID_SYSTEM, (int)CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
SAME((int)STANDIN_OVERHEAD_QUEUE_FULL, (int)CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
SAME((int)STANDIN_OBJECT_THREAD, (int)CUPTI_ACTIVITY_OBJECT_THREAD);

#define STANDIN_RUNTIME(function, suffix, cbid, cost, nested)
#define STANDIN_DRIVER(function, cbid, cost) SAME(CUPTI_DRIVER_TRACE_CBID_##function, cbid);
#define STANDIN_NESTED(function, cbid)       SAME(CUPTI_DRIVER_TRACE_CBID_##function, cbid);
#include "tests/standin/calls.def"
