/* work.c - kernels, copies, memsets and host functions, from a call's arguments to an op with a
 * duration. */
#include "tests/standin/cuda/device_state.h"

#include <string.h>

/* Bytes at a rate in bytes a microsecond, in ns, rounded up. */
static uint64_t transfer_ns(uint64_t bytes, uint64_t rate)
{
	return STANDIN_COPY_NS + (bytes * 1000 + rate - 1) / rate;
}

int sim_launch(struct sim_call *call, const void *kernel, const unsigned grid[3],
	const unsigned block[3], size_t shared_bytes, CUstream stream, void **arguments)
{
	const struct sim_kernel *k = kernel;
	struct sim_work work = {.type = SIM_KERNEL, .duration_ns = STANDIN_PLAIN_NS};
	int error = sim_stream_find(&stream);

	if (error)
		return error;
	if (!k || k->magic != SIM_KERNEL_MAGIC)
		return cudaErrorInvalidDeviceFunction;
	for (int i = 0; i < 3; i++) {
		if (!grid[i] || !block[i])
			return CUDA_ERROR_INVALID_VALUE;
		work.grid[i] = grid[i];
		work.block[i] = block[i];
	}
	work.name = k->name;
	work.shared_bytes = (uint32_t)shared_bytes;
	if (k->has_arguments && arguments)
		memcpy(&work.duration_ns, arguments[0], sizeof(work.duration_ns));
	return sim_submit(call, stream, &work, NULL);
}

int sim_launch_collective(struct sim_call *call, const char *name, unsigned blocks,
	const struct sim_collective *c, CUstream stream)
{
	struct sim_work work = {.type = SIM_KERNEL,
		.collective = sim_collective_keep(c),
		.name = sim_intern(name),
		.bytes = c->bytes,
		.grid = {blocks, 1, 1},
		.block = {STANDIN_LINK_THREADS, 1, 1}};
	int error = sim_stream_find(&stream);

	if (error)
		return error;
	if (!work.collective || !work.name)
		return CUDA_ERROR_OUT_OF_MEMORY;
	return sim_submit(call, stream, &work, NULL);
}

static const struct {
	int from_device, to_device;
	enum sim_copy copy;
} directions[] = {{0, 1, SIM_HTOD}, {1, 0, SIM_DTOH}, {1, 1, SIM_DTOD}, {0, 0, SIM_HTOH}};

static uint64_t copy_rate(const struct sim_work *w)
{
	if (w->copy == SIM_PTOP)
		return STANDIN_PEER_RATE;
	if (w->copy == SIM_DTOD)
		return STANDIN_DEVICE_RATE;
	return w->from == SIM_PAGEABLE || w->to == SIM_PAGEABLE ? STANDIN_PAGEABLE_RATE
								: STANDIN_PINNED_RATE;
}

int sim_copy(struct sim_call *call, void *to, const void *from, size_t size_bytes, int async,
	CUstream stream)
{
	struct sim_work work = {.type = SIM_COPY, .bytes = size_bytes, .async = async};
	int error = sim_stream_find(&stream), blocking;
	uint64_t end;

	if (error || !size_bytes)
		return error;
	if (!to || !from)
		return CUDA_ERROR_INVALID_VALUE;
	work.from = sim_kind_of(from, &work.from_device);
	work.to = sim_kind_of(to, &work.to_device);
	for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]); i++)
		if (directions[i].from_device == (work.from == SIM_DEVICE) &&
			directions[i].to_device == (work.to == SIM_DEVICE))
			work.copy = directions[i].copy;
	if (work.copy == SIM_DTOD && work.from_device != work.to_device)
		work.copy = SIM_PTOP;
	work.duration_ns = transfer_ns(size_bytes, copy_rate(&work));
	blocking = !async || work.from == SIM_PAGEABLE || work.to == SIM_PAGEABLE;
	if (blocking && stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	error = sim_submit(call, stream, &work, &end);
	if (!error && blocking)
		sim_block(call, end, NULL);
	return error;
}

int sim_memset(struct sim_call *call, void *to, uint32_t value, size_t size_bytes, int async,
	CUstream stream)
{
	struct sim_work work = {.type = SIM_MEMSET,
		.bytes = size_bytes,
		.value = value,
		.async = async,
		.duration_ns = transfer_ns(size_bytes, STANDIN_DEVICE_RATE)};
	int error = sim_stream_find(&stream);

	if (error || !size_bytes)
		return error;
	if (!to)
		return CUDA_ERROR_INVALID_VALUE;
	work.to = sim_kind_of(to, &work.to_device);
	return sim_submit(call, stream, &work, NULL);
}

int sim_host_function(struct sim_call *call, CUstream stream, CUhostFn function, void *data)
{
	struct sim_work work = {.type = SIM_HOST, .function = function, .data = data};
	int error = sim_stream_find(&stream);

	if (error || !function)
		return error ? error : CUDA_ERROR_INVALID_VALUE;
	return sim_submit(call, stream, &work, NULL);
}
