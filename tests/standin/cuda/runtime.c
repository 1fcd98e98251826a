/* runtime.c - the runtime API, on the same simulation as the driver's. The driver calls that the
 * real runtime makes inside are only records (see calls.def). It also exports clock_gettime(),
 * because a program linked to libcudart alone finds libcuda behind libc. */
#include "tests/standin/cuda/simulation.h"

#include <string.h>

static __thread cudaError_t last_error;

static cudaError_t note(int error)
{
	if (error && error != cudaErrorNotReady)
		last_error = (cudaError_t)error;
	return (cudaError_t)error;
}

/* The runtime words a missing driver in its own way. */
static cudaError_t refuse(int error)
{
	return note(sim_fault("no-driver", NULL) ? cudaErrorInsufficientDriver : error);
}

/* The whole body of an API function; `action` is an expression that sees `call` and is 0 or an
 * error. */
#define RUNTIME(function, parameters, action)                                                      \
	cudaError_t function parameters                                                            \
	{                                                                                          \
		struct sim_call call;                                                              \
		int error = sim_enter(&call, SIM_##function);                                      \
                                                                                                   \
		return error ? refuse(error) : note(sim_leave(&call, (action)));                   \
	}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	return sim_clock_gettime(clock, out);
}

static int give(int *out, int value)
{
	*out = value;
	return 0;
}

/* ---- versions, errors, devices ---- */

cudaError_t cudaDriverGetVersion(int *version)
{
	*version = 13000;
	return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	*version = 13000;
	return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
	struct sim_call call;
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	if (!sim_enter(&call, SIM_cudaGetLastError))
		sim_leave(&call, (int)error);
	return error;
}

cudaError_t cudaPeekAtLastError(void)
{
	struct sim_call call;

	if (!sim_enter(&call, SIM_cudaPeekAtLastError))
		sim_leave(&call, (int)last_error);
	return last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
	return sim_error_name((int)error);
}

const char *cudaGetErrorString(cudaError_t error)
{
	return sim_error_text((int)error);
}

static int device_count(int *count)
{
	*count = sim_device_count();
	return *count ? 0 : CUDA_ERROR_NO_DEVICE;
}

static int priority_range(int *least, int *greatest)
{
	*least = 0;
	*greatest = -5;
	return 0;
}

static int device_synchronize(struct sim_call *call)
{
	CUcontext context;
	int error = sim_current_or_primary(&context);

	return error ? error : sim_synchronize_context(call, context);
}

RUNTIME(cudaGetDeviceCount, (int *count), device_count(count))
RUNTIME(cudaSetDevice, (int device), sim_set_device(device))
RUNTIME(cudaGetDevice, (int *device), give(device, sim_get_device()))
RUNTIME(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attribute, int device),
	sim_device_attribute(value, (int)attribute, device))
RUNTIME(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest),
	priority_range(least, greatest))
RUNTIME(cudaDeviceCanAccessPeer, (int *can, int device, int peer), give(can, device != peer))
RUNTIME(cudaDeviceEnablePeerAccess, (int peer, unsigned flags), ((void)peer, (void)flags, 0))
RUNTIME(cudaDeviceSynchronize, (void), device_synchronize(&call))

/* For tools to see; nothing else. */
RUNTIME(cudaProfilerStart, (void), 0)
RUNTIME(cudaProfilerStop, (void), 0)

/* ---- memory ---- */

RUNTIME(cudaMalloc, (void **pointer, size_t size_bytes), sim_allocate(&call, pointer, size_bytes))
RUNTIME(cudaFree, (void *pointer), sim_free(&call, pointer))
RUNTIME(cudaMallocHost, (void **pointer, size_t size_bytes),
	sim_allocate_host(&call, pointer, size_bytes))
RUNTIME(cudaHostAlloc, (void **pointer, size_t size_bytes, unsigned flags),
	((void)flags, sim_allocate_host(&call, pointer, size_bytes)))
RUNTIME(cudaFreeHost, (void *pointer), sim_free_host(&call, pointer))
RUNTIME(cudaMallocAsync, (void **pointer, size_t size_bytes, cudaStream_t stream),
	sim_allocate_async(&call, pointer, size_bytes, stream))
RUNTIME(cudaFreeAsync, (void *pointer, cudaStream_t stream), sim_free_async(&call, pointer, stream))
RUNTIME(cudaMemGetInfo, (size_t * free_bytes, size_t *total_bytes),
	sim_memory_info(free_bytes, total_bytes))
RUNTIME(cudaMemcpy, (void *to, const void *from, size_t size_bytes, enum cudaMemcpyKind kind),
	((void)kind, sim_copy(&call, to, from, size_bytes, 0, NULL)))
RUNTIME(cudaMemcpyAsync,
	(void *to, const void *from, size_t size_bytes, enum cudaMemcpyKind kind,
		cudaStream_t stream),
	((void)kind, sim_copy(&call, to, from, size_bytes, 1, stream)))
RUNTIME(cudaMemcpyPeerAsync,
	(void *to, int to_device, const void *from, int from_device, size_t size_bytes,
		cudaStream_t stream),
	((void)to_device, (void)from_device, sim_copy(&call, to, from, size_bytes, 1, stream)))
RUNTIME(cudaMemset, (void *to, int value, size_t size_bytes),
	sim_memset(&call, to, (uint32_t)value, size_bytes, 0, NULL))
RUNTIME(cudaMemsetAsync, (void *to, int value, size_t size_bytes, cudaStream_t stream),
	sim_memset(&call, to, (uint32_t)value, size_bytes, 1, stream))

/* ---- streams and events ---- */

RUNTIME(cudaStreamCreate, (cudaStream_t * stream), sim_stream_create(&call, stream, 0, 0))
RUNTIME(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags),
	sim_stream_create(&call, stream, flags, 0))
RUNTIME(cudaStreamCreateWithPriority, (cudaStream_t * stream, unsigned flags, int priority),
	sim_stream_create(&call, stream, flags, priority))
RUNTIME(cudaStreamDestroy, (cudaStream_t stream), sim_stream_destroy(&call, stream))
RUNTIME(cudaStreamSynchronize, (cudaStream_t stream), sim_stream_synchronize(&call, stream))
RUNTIME(cudaStreamQuery, (cudaStream_t stream), sim_stream_query(&call, stream))
RUNTIME(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
	((void)flags, sim_stream_wait(&call, stream, event)))
RUNTIME(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
	sim_capture_begin(&call, stream, (int)mode))
RUNTIME(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph),
	sim_capture_end(&call, stream, graph))
RUNTIME(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
	sim_capture_status(stream, (int *)status))
RUNTIME(cudaEventCreate, (cudaEvent_t * event), sim_event_create(event, 0))
RUNTIME(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags),
	sim_event_create(event, flags))
RUNTIME(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream),
	sim_event_record(&call, event, stream))
RUNTIME(cudaEventSynchronize, (cudaEvent_t event), sim_event_synchronize(&call, event))
RUNTIME(cudaEventQuery, (cudaEvent_t event), sim_event_query(&call, event))
RUNTIME(cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t end),
	sim_event_elapsed(ms, start, end))
RUNTIME(cudaEventDestroy, (cudaEvent_t event), sim_event_destroy(event))

/* ---- launches, code, graphs ---- */

static int launch(
	struct sim_call *call, const void *function, const cudaLaunchConfig_t *c, void **arguments)
{
	const unsigned grid[3] = {c->gridDim.x, c->gridDim.y, c->gridDim.z};
	const unsigned block[3] = {c->blockDim.x, c->blockDim.y, c->blockDim.z};

	return sim_launch(call, function, grid, block, c->dynamicSmemBytes, c->stream, arguments);
}

RUNTIME(cudaLaunchKernel,
	(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
		cudaStream_t stream),
	launch(&call, function, &(cudaLaunchConfig_t){grid, block, shared_bytes, stream, NULL, 0},
		arguments))
RUNTIME(cudaLaunchKernelExC,
	(const cudaLaunchConfig_t *config, const void *function, void **arguments),
	launch(&call, function, config, arguments))
RUNTIME(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void *data),
	sim_host_function(&call, stream, function, data))
RUNTIME(cudaLibraryLoadData,
	(cudaLibrary_t * library, const void *code, void *jit_options, void **jit_values,
		unsigned jit_count, void *options, void **values, unsigned count),
	((void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values,
		(void)count, sim_module_load((void **)library, code)))
RUNTIME(cudaLibraryGetKernel, (cudaKernel_t * kernel, cudaLibrary_t library, const char *name),
	sim_module_kernel((void **)kernel, library, name))
RUNTIME(cudaLibraryUnload, (cudaLibrary_t library), sim_module_unload(library))
RUNTIME(cudaGraphInstantiate, (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
	((void)flags, sim_instantiate(&call, exec, graph)))
RUNTIME(cudaGraphInstantiateWithFlags,
	(cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
	((void)flags, sim_instantiate(&call, exec, graph)))
RUNTIME(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream),
	((void)stream, sim_is_exec(exec) ? 0 : CUDA_ERROR_INVALID_VALUE))
RUNTIME(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream),
	sim_graph_launch(&call, exec, stream))
RUNTIME(cudaGraphExecDestroy, (cudaGraphExec_t exec), sim_exec_destroy(exec))
RUNTIME(cudaGraphDestroy, (cudaGraph_t graph), sim_graph_destroy(graph))
RUNTIME(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
	sim_graph_nodes(graph, nodes, count))
