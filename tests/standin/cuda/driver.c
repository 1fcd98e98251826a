/* driver.c - the driver API: each function enters the simulation, does one thing there, and
 * leaves. */
#include "tests/standin/cuda/simulation.h"

#include <stdio.h>
#include <string.h>

/* The whole body of an API function; `action` is an expression that sees `call` and is 0 or an
 * error. */
#define DRIVER(function, parameters, action)                                                       \
	CUresult function parameters                                                               \
	{                                                                                          \
		struct sim_call call;                                                              \
		int error = sim_enter(&call, SIM_##function);                                      \
                                                                                                   \
		return error ? error : sim_leave(&call, (action));                                 \
	}

static void *at(CUdeviceptr p)
{
	return (void *)(uintptr_t)p;
}

/* ---- start, errors, devices ---- */

CUresult cuInit(unsigned flags)
{
	(void)flags;
	return sim_init();
}

CUresult cuDriverGetVersion(int *version)
{
	uint64_t old = 12040;
	struct sim_call call;
	int up = sim_is_up() && !sim_enter(&call, SIM_cuDriverGetVersion);

	*version = sim_fault("old-driver", &old) ? (int)old : 13000;
	if (up)
		return sim_leave(&call, 0);
	return sim_fault("stub-driver", NULL) ? CUDA_ERROR_STUB_LIBRARY : 0;
}

CUresult cuGetErrorName(CUresult error, const char **text)
{
	*text = sim_error_name(error);
	return 0;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
	*text = sim_error_text(error);
	return 0;
}

static int give(int *out, int value, int error)
{
	*out = value;
	return error;
}

static int device_error(int device)
{
	return device < 0 || device >= sim_device_count() ? CUDA_ERROR_INVALID_DEVICE : 0;
}

static int current_device(int *device)
{
	CUcontext context = sim_current();

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	return give(device, sim_context_device(context), 0);
}

static int primary_state(int device, unsigned *flags, int *active)
{
	*flags = 0;
	*active = sim_primary_if_any(device) != NULL;
	return device_error(device);
}

static int set_current(CUcontext context)
{
	if (context && !sim_is_context(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_set_current(context);
	return 0;
}

static int get_current(CUcontext *context)
{
	*context = sim_current();
	return 0;
}

static int synchronize(struct sim_call *call)
{
	CUcontext context = sim_current();

	return context ? sim_synchronize_context(call, context) : CUDA_ERROR_INVALID_CONTEXT;
}

DRIVER(cuDeviceGet, (CUdevice * device, int ordinal), give(device, ordinal, device_error(ordinal)))
/* Asking for devices does not start CUDA. */
CUresult cuDeviceGetCount(int *count)
{
	struct sim_call call;
	int error =
		sim_is_up() ? sim_enter(&call, SIM_cuDeviceGetCount) : CUDA_ERROR_NOT_INITIALIZED;

	return error ? error : sim_leave(&call, give(count, sim_device_count(), 0));
}

DRIVER(cuDeviceGetPCIBusId, (char *address, int size, CUdevice device),
	sim_device_pci(address, size, device))
DRIVER(cuDeviceGetUuid_v2, (unsigned char uuid[16], CUdevice device), sim_device_uuid(uuid, device))
DRIVER(cuDeviceGetName, (char *name, int size_bytes, CUdevice device),
	sim_device_name(name, (size_t)size_bytes, device))
DRIVER(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device),
	sim_device_attribute(value, attribute, device))
DRIVER(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device),
	sim_primary(context, device))
DRIVER(cuDevicePrimaryCtxRelease_v2, (CUdevice device), device_error(device))
DRIVER(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned *flags, int *active),
	primary_state(device, flags, active))
DRIVER(cuCtxGetCurrent, (CUcontext * context), get_current(context))
DRIVER(cuCtxSetCurrent, (CUcontext context), set_current(context))
DRIVER(cuCtxPushCurrent_v2, (CUcontext context), sim_push_current(context))
DRIVER(cuCtxPopCurrent_v2, (CUcontext * context), sim_pop_current(context))
DRIVER(cuCtxGetDevice, (CUdevice * device), current_device(device))
DRIVER(cuCtxSynchronize, (void), synchronize(&call))
DRIVER(cuProfilerStart, (void), 0)
DRIVER(cuProfilerStop, (void), 0)

CUresult cuDeviceTotalMem_v2(size_t *size_bytes, CUdevice device)
{
	*size_bytes = SIM_DEVICE_BYTES;
	return device_error(device);
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
	if (!context)
		context = sim_current();
	if (!sim_is_context(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	*id = sim_context_id(context);
	return 0;
}

/* ---- code ---- */

DRIVER(cuLibraryLoadData,
	(CUlibrary * library, const void *code, void *jit_options, void **jit_values,
		unsigned jit_count, void *options, void **values, unsigned count),
	((void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values,
		(void)count, sim_module_load((void **)library, code)))
DRIVER(cuLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char *name),
	sim_module_kernel((void **)kernel, library, name))
DRIVER(cuLibraryUnload, (CUlibrary library), sim_module_unload(library))
DRIVER(cuModuleLoadData, (CUmodule * module, const void *image),
	sim_module_load((void **)module, image))
DRIVER(cuModuleLoadDataEx,
	(CUmodule * module, const void *image, unsigned count, void *options, void **values),
	((void)count, (void)options, (void)values, sim_module_load((void **)module, image)))
DRIVER(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name),
	sim_module_kernel((void **)function, module, name))
DRIVER(cuModuleUnload, (CUmodule module), sim_module_unload(module))
DRIVER(cuKernelGetFunction, (CUfunction * function, CUkernel kernel),
	(*(void **)function = kernel, 0))

/* ---- launches ---- */

static int launch(struct sim_call *call, CUfunction function, const CUlaunchConfig *c,
	void **arguments, void **extra)
{
	const unsigned grid[3] = {c->gridDimX, c->gridDimY, c->gridDimZ};
	const unsigned block[3] = {c->blockDimX, c->blockDimY, c->blockDimZ};

	if (extra)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_launch(call, function, grid, block, c->sharedMemBytes, c->hStream, arguments);
}

DRIVER(cuLaunchKernel,
	(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
		unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
		void **arguments, void **extra),
	launch(&call, function,
		&(CUlaunchConfig){grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
			stream, NULL, 0},
		arguments, extra))
DRIVER(cuLaunchKernelEx,
	(const CUlaunchConfig *config, CUfunction function, void **arguments, void **extra),
	launch(&call, function, config, arguments, extra))
DRIVER(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *data),
	sim_host_function(&call, stream, function, data))

/* ---- memory ---- */

DRIVER(cuMemAlloc_v2, (CUdeviceptr * pointer, size_t size_bytes),
	sim_allocate(&call, (void **)pointer, size_bytes))
DRIVER(cuMemFree_v2, (CUdeviceptr pointer), sim_free(&call, at(pointer)))
DRIVER(cuMemAllocHost_v2, (void **pointer, size_t size_bytes),
	sim_allocate_host(&call, pointer, size_bytes))
DRIVER(cuMemFreeHost, (void *pointer), sim_free_host(&call, pointer))
DRIVER(cuMemAllocAsync, (CUdeviceptr * pointer, size_t size_bytes, CUstream stream),
	sim_allocate_async(&call, (void **)pointer, size_bytes, stream))
DRIVER(cuMemFreeAsync, (CUdeviceptr pointer, CUstream stream),
	sim_free_async(&call, at(pointer), stream))
DRIVER(cuMemGetInfo_v2, (size_t * free_bytes, size_t *total_bytes),
	sim_memory_info(free_bytes, total_bytes))
DRIVER(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t size_bytes, CUstream stream),
	sim_copy(&call, at(to), at(from), size_bytes, 1, stream))
DRIVER(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t size_bytes),
	sim_copy(&call, at(to), from, size_bytes, 0, NULL))
DRIVER(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t size_bytes),
	sim_copy(&call, to, at(from), size_bytes, 0, NULL))
DRIVER(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t size_bytes, CUstream stream),
	sim_copy(&call, at(to), from, size_bytes, 1, stream))
DRIVER(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t size_bytes, CUstream stream),
	sim_copy(&call, to, at(from), size_bytes, 1, stream))
DRIVER(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t size_bytes, CUstream stream),
	sim_copy(&call, at(to), at(from), size_bytes, 1, stream))
DRIVER(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t count, CUstream stream),
	sim_memset(&call, at(to), value, count, 1, stream))
DRIVER(cuMemsetD32Async, (CUdeviceptr to, unsigned value, size_t count, CUstream stream),
	sim_memset(&call, at(to), value, count * 4, 1, stream))

/* ---- streams and events ---- */

DRIVER(cuStreamCreate, (CUstream * stream, unsigned flags),
	sim_stream_create(&call, stream, flags, 0))
DRIVER(cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority),
	sim_stream_create(&call, stream, flags, priority))
DRIVER(cuStreamDestroy_v2, (CUstream stream), sim_stream_destroy(&call, stream))
DRIVER(cuStreamSynchronize, (CUstream stream), sim_stream_synchronize(&call, stream))
DRIVER(cuStreamQuery, (CUstream stream), sim_stream_query(&call, stream))
DRIVER(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags),
	((void)flags, sim_stream_wait(&call, stream, event)))
DRIVER(cuStreamBeginCapture_v2, (CUstream stream, int mode), sim_capture_begin(&call, stream, mode))
DRIVER(cuStreamEndCapture, (CUstream stream, CUgraph *graph), sim_capture_end(&call, stream, graph))
DRIVER(cuThreadExchangeStreamCaptureMode, (int *mode), sim_exchange_mode(mode))
DRIVER(cuStreamIsCapturing, (CUstream stream, int *status), sim_capture_status(stream, status))
DRIVER(cuEventCreate, (CUevent * event, unsigned flags), sim_event_create(event, flags))
DRIVER(cuEventRecord, (CUevent event, CUstream stream), sim_event_record(&call, event, stream))
DRIVER(cuEventSynchronize, (CUevent event), sim_event_synchronize(&call, event))
DRIVER(cuEventQuery, (CUevent event), sim_event_query(&call, event))
DRIVER(cuEventElapsedTime_v2, (float *ms, CUevent start, CUevent end),
	sim_event_elapsed(ms, start, end))
DRIVER(cuEventDestroy_v2, (CUevent event), sim_event_destroy(event))

/* ---- graphs ---- */

DRIVER(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags),
	((void)flags, sim_instantiate(&call, exec, graph)))
DRIVER(cuGraphUpload, (CUgraphExec exec, CUstream stream),
	((void)stream, sim_is_exec(exec) ? 0 : CUDA_ERROR_INVALID_VALUE))
DRIVER(cuGraphLaunch, (CUgraphExec exec, CUstream stream), sim_graph_launch(&call, exec, stream))
DRIVER(cuGraphExecDestroy, (CUgraphExec exec), sim_exec_destroy(exec))
DRIVER(cuGraphDestroy, (CUgraph graph), sim_graph_destroy(graph))
