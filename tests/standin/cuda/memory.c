/* memory.c - allocations: device addresses that nothing lies behind, and real pinned memory.
 *
 * A device's addresses are its own terabyte of a part of the address space that user programs do
 * not get, so an address says its device. Copies move no bytes: kernels compute nothing. Sizes are
 * kept in a hash table by address. */
#include "tests/standin/cuda/device_state.h"

#include <stdlib.h>

#define DEVICE_BASE UINT64_C(0x200000000000)
#define DEVICE_SPAN UINT64_C(0x10000000000)

struct block {
	uint64_t address; /* 0: free slot, 1: was used */
	uint64_t bytes;
};

static struct block *blocks;
static size_t block_room, block_used; /* used: with those that were */
static uint64_t next_offset[SIM_DEVICES_MAX], allocated[SIM_DEVICES_MAX];

static struct pinned {
	char *at;
	size_t bytes;
	struct pinned *next;
} * pinned;

static size_t slot_of(uint64_t address)
{
	return (size_t)((address >> 9) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (block_room - 1);
}

static struct block *find(uint64_t address)
{
	if (!block_room)
		return NULL;
	for (size_t i = slot_of(address);; i = (i + 1) & (block_room - 1)) {
		if (blocks[i].address == address)
			return &blocks[i];
		if (!blocks[i].address)
			return NULL;
	}
}

static void put(struct block b)
{
	size_t i = slot_of(b.address);

	while (blocks[i].address)
		i = (i + 1) & (block_room - 1);
	blocks[i] = b;
	block_used++;
}

static int grow(void)
{
	struct block *old = blocks;
	size_t old_room = block_room, live = 0;

	if (block_room && block_used * 2 < block_room)
		return 0;
	for (size_t i = 0; i < old_room; i++)
		live += old[i].address > 1;
	block_room = 1024;
	while (block_room < live * 4)
		block_room *= 2;
	blocks = calloc(block_room, sizeof(*blocks));
	if (!blocks) {
		blocks = old;
		block_room = old_room;
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	block_used = 0;
	for (size_t i = 0; i < old_room; i++)
		if (old[i].address > 1)
			put(old[i]);
	free(old);
	return 0;
}

static void tell(struct sim_call *call, const struct sim_memory_event *event)
{
	struct sim_memory_event e = *event;

	sim_spend(call);
	e.time_ns = standin_now();
	e.correlation = call->correlation;
	if (sim_watcher())
		sim_watcher()->memory(&e);
}

static uint64_t rounded(uint64_t bytes)
{
	return (bytes + 511) & ~UINT64_C(511);
}

static int allocate(void **out, size_t size_bytes, CUcontext context)
{
	uint64_t bytes = rounded(size_bytes);
	int device = context->device, error = grow();

	if (error)
		return error;
	if (!size_bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (size_bytes > SIM_DEVICE_BYTES || allocated[device] + bytes > SIM_DEVICE_BYTES)
		return CUDA_ERROR_OUT_OF_MEMORY;
	/* A terabyte before an address comes again: by then its block has long been freed. */
	if (next_offset[device] + bytes > DEVICE_SPAN)
		next_offset[device] = 0;
	put((struct block){
		DEVICE_BASE + (uint64_t)device * DEVICE_SPAN + next_offset[device], size_bytes});
	*out = (void *)(uintptr_t)(DEVICE_BASE + (uint64_t)device * DEVICE_SPAN +
				   next_offset[device]);
	next_offset[device] += bytes;
	allocated[device] += bytes;
	return 0;
}

static int release(void *pointer, uint64_t *bytes, int *device)
{
	struct block *b = find((uint64_t)(uintptr_t)pointer);

	if (!b || sim_kind_of(pointer, device) != SIM_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	*bytes = b->bytes;
	allocated[*device] -= rounded(b->bytes);
	*b = (struct block){1, 0};
	return 0;
}

int sim_allocate(struct sim_call *call, void **out, size_t size_bytes)
{
	CUcontext context;
	int error = sim_current_or_primary(&context);

	*out = NULL;
	if (!error)
		error = allocate(out, size_bytes, context);
	if (!error)
		tell(call, &(struct sim_memory_event){.kind = SIM_DEVICE,
				   .address = (uint64_t)(uintptr_t)*out,
				   .bytes = size_bytes,
				   .device = (uint32_t)context->device,
				   .context = context->id,
				   .stream = UINT32_MAX});
	return error;
}

int sim_allocate_async(struct sim_call *call, void **out, size_t size_bytes, CUstream stream)
{
	int error = sim_stream_find(&stream);

	*out = NULL;
	if (!error)
		error = allocate(out, size_bytes, stream->context);
	if (!error)
		tell(call, &(struct sim_memory_event){.kind = SIM_DEVICE,
				   .address = (uint64_t)(uintptr_t)*out,
				   .bytes = size_bytes,
				   .device = (uint32_t)stream->context->device,
				   .context = stream->context->id,
				   .stream = stream->id,
				   .async = 1});
	return error;
}

static int free_device(struct sim_call *call, void *pointer, CUcontext context, CUstream stream)
{
	uint64_t bytes;
	int device, error;

	if (!pointer)
		return 0;
	error = release(pointer, &bytes, &device);
	if (!error)
		tell(call, &(struct sim_memory_event){.release = 1,
				   .kind = SIM_DEVICE,
				   .address = (uint64_t)(uintptr_t)pointer,
				   .bytes = bytes,
				   .device = (uint32_t)device,
				   .context = context->id,
				   .stream = stream ? stream->id : UINT32_MAX,
				   .async = stream != NULL});
	return error;
}

int sim_free(struct sim_call *call, void *pointer)
{
	CUcontext context;
	int error = sim_current_or_primary(&context);

	return error ? error : free_device(call, pointer, context, NULL);
}

int sim_free_async(struct sim_call *call, void *pointer, CUstream stream)
{
	int error = sim_stream_find(&stream);

	return error ? error : free_device(call, pointer, stream->context, stream);
}

int sim_allocate_host(struct sim_call *call, void **out, size_t size_bytes)
{
	CUcontext context;
	struct pinned *p;
	int error = sim_current_or_primary(&context);

	*out = NULL;
	if (error)
		return error;
	p = malloc(sizeof(*p));
	if (!p || !size_bytes || posix_memalign(out, 4096, size_bytes)) {
		free(p);
		*out = NULL;
		return size_bytes ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
	}
	*p = (struct pinned){*out, size_bytes, pinned};
	pinned = p;
	tell(call, &(struct sim_memory_event){.kind = SIM_PINNED,
			   .address = (uint64_t)(uintptr_t)*out,
			   .bytes = size_bytes,
			   .device = (uint32_t)context->device,
			   .context = context->id,
			   .stream = UINT32_MAX});
	return 0;
}

int sim_free_host(struct sim_call *call, void *pointer)
{
	CUcontext context;
	int error = sim_current_or_primary(&context);

	if (error || !pointer)
		return error;
	for (struct pinned **at = &pinned; *at; at = &(*at)->next) {
		struct pinned *p = *at;

		if (p->at != pointer)
			continue;
		*at = p->next;
		tell(call, &(struct sim_memory_event){.release = 1,
				   .kind = SIM_PINNED,
				   .address = (uint64_t)(uintptr_t)pointer,
				   .bytes = p->bytes,
				   .device = (uint32_t)context->device,
				   .context = context->id,
				   .stream = UINT32_MAX});
		free(p->at);
		free(p);
		return 0;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

int sim_memory_info(size_t *free_bytes, size_t *total_bytes)
{
	CUcontext context;
	int error = sim_current_or_primary(&context);

	if (error)
		return error;
	*total_bytes = SIM_DEVICE_BYTES;
	*free_bytes = SIM_DEVICE_BYTES - allocated[context->device];
	return 0;
}

uint64_t sim_memory_used(int device)
{
	return allocated[device];
}

enum sim_memory sim_kind_of(const void *pointer, int *device)
{
	uint64_t address = (uint64_t)(uintptr_t)pointer;

	*device = -1;
	if (address >= DEVICE_BASE && address < DEVICE_BASE + SIM_DEVICES_MAX * DEVICE_SPAN) {
		*device = (int)((address - DEVICE_BASE) / DEVICE_SPAN);
		return SIM_DEVICE;
	}
	for (const struct pinned *p = pinned; p; p = p->next)
		if ((const char *)pointer >= p->at && (const char *)pointer < p->at + p->bytes)
			return SIM_PINNED;
	return SIM_PAGEABLE;
}
