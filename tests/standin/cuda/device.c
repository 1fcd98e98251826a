/* device.c - the simulated devices and their contexts. Each device has its primary context and no
 * other; they live to the end. */
#include "tests/standin/cuda/device_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_MAX = 16 };

static struct CUctx_st *primaries[SIM_DEVICES_MAX];
static uint32_t context_count;

static __thread CUcontext stack[STACK_MAX];
static __thread unsigned stack_depth;
static __thread int runtime_device;

/* By CUDA's numbers of attributes. */
static const struct {
	int attribute, value;
} attributes[] = {
	{1, 1024},         /* threads a block */
	{2, 1024},         /* block size in x */
	{5, 2147483647},   /* grid size in x */
	{8, 49152},        /* shared bytes a block */
	{10, 32},          /* warp */
	{12, 65536},       /* registers a block */
	{13, 1980000},     /* kHz */
	{16, 132},         /* multiprocessors */
	{31, 1},           /* kernels run side by side */
	{36, 2619000},     /* memory kHz */
	{37, 5120},        /* memory bus bits */
	{38, 52428800},    /* L2 bytes */
	{39, 2048},        /* threads a multiprocessor */
	{40, 3},           /* copy engines */
	{41, 1},           /* one address space */
	{75, 9},           /* compute capability */
	{76, 0}, {115, 1}, /* stream-ordered allocation */
};

/* The leak checker's, where one is built in. */
extern void __lsan_ignore_object(const void *object) __attribute__((weak));

void sim_may_stay(const void *object)
{
	if (__lsan_ignore_object && object)
		__lsan_ignore_object(object);
}

int sim_device_count(void)
{
	const char *setting = getenv("VPT_STANDIN_DEVICES");
	int n = setting ? atoi(setting) : 1;

	return n < 0 ? 0 : n > SIM_DEVICES_MAX ? SIM_DEVICES_MAX : n;
}

int sim_device_attribute(int *value, int attribute, int device)
{
	if (device < 0 || device >= sim_device_count())
		return CUDA_ERROR_INVALID_DEVICE;
	*value = attribute == cudaDevAttrPciBusId ? device + 1 : 0;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		if (attributes[i].attribute == attribute)
			*value = attributes[i].value;
	return 0;
}

int sim_device_name(char *name, size_t size_bytes, int device)
{
	if (device < 0 || device >= sim_device_count())
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, size_bytes, "Simulated H100");
	return 0;
}

int sim_device_pci(char *address, int size_bytes, int device)
{
	if (device < 0 || device >= sim_device_count())
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(address, (size_t)size_bytes, "0000:%02x:00.0", device + 1);
	return 0;
}

int sim_device_uuid(unsigned char uuid[16], int device)
{
	int64_t host = 0;

	if (device < 0 || device >= sim_device_count())
		return CUDA_ERROR_INVALID_DEVICE;
	memcpy(uuid, "standin-gpu-0000", 16);
	sim_rank_word("host", &host);
	uuid[12] = (unsigned char)('0' + host / 10 % 10);
	uuid[13] = (unsigned char)('0' + host % 10);
	uuid[14] = (unsigned char)('0' + device / 10);
	uuid[15] = (unsigned char)('0' + device % 10);
	return 0;
}

static void stream_init(struct CUstream_st *s, CUcontext context)
{
	*s = (struct CUstream_st){
		.magic = SIM_STREAM_MAGIC, .context = context, .id = SIM_NULL_STREAM_ID};
}

int sim_primary(CUcontext *context, int device)
{
	struct CUctx_st *c;

	*context = NULL;
	if (device < 0 || device >= sim_device_count())
		return sim_device_count() ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_NO_DEVICE;
	if (!primaries[device]) {
		c = calloc(1, sizeof(*c));
		if (!c)
			return CUDA_ERROR_OUT_OF_MEMORY;
		c->id = ++context_count;
		c->device = device;
		stream_init(&c->legacy, c);
		primaries[device] = c;
		sim_tell(&(struct sim_resource){.id = SIM_CONTEXT_CREATED, .context = c});
	}
	*context = primaries[device];
	return 0;
}

CUcontext sim_primary_if_any(int device)
{
	return device >= 0 && device < SIM_DEVICES_MAX ? primaries[device] : NULL;
}

int sim_is_context(CUcontext context)
{
	for (int i = 0; i < SIM_DEVICES_MAX; i++)
		if (context && primaries[i] == context)
			return 1;
	return 0;
}

CUcontext sim_current(void)
{
	return stack_depth ? stack[stack_depth - 1] : NULL;
}

void sim_set_current(CUcontext context)
{
	if (!context)
		stack_depth -= stack_depth > 0;
	else if (stack_depth)
		stack[stack_depth - 1] = context;
	else
		stack[stack_depth++] = context;
	if (context)
		runtime_device = context->device;
}

int sim_push_current(CUcontext context)
{
	if (!sim_is_context(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (stack_depth == STACK_MAX)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stack[stack_depth++] = context;
	return 0;
}

int sim_pop_current(CUcontext *context)
{
	if (!stack_depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	stack_depth--;
	if (context)
		*context = stack[stack_depth];
	return 0;
}

int sim_current_or_primary(CUcontext *context)
{
	int error;

	*context = sim_current();
	if (*context)
		return 0;
	error = sim_primary(context, runtime_device);
	if (!error)
		sim_set_current(*context);
	return error;
}

int sim_set_device(int device)
{
	CUcontext context;
	int error = sim_primary(&context, device);

	if (!error)
		sim_set_current(context);
	return error;
}

int sim_get_device(void)
{
	return sim_current() ? sim_current()->device : runtime_device;
}

uint32_t sim_context_id(CUcontext context)
{
	return context->id;
}

int sim_context_device(CUcontext context)
{
	return context->device;
}

int sim_synchronize_context(struct sim_call *call, CUcontext context)
{
	struct sim_sync sync = {.type = SIM_SYNC_CONTEXT,
		.context = context->id,
		.stream = UINT32_MAX,
		.event = UINT32_MAX};

	if (sim_capture_forbids(context, NULL))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	sim_block(call, context->ready_ns, &sync);
	return 0;
}

void sim_each_context(void (*take)(CUcontext context, void *arg), void *arg)
{
	for (int i = 0; i < SIM_DEVICES_MAX; i++)
		if (primaries[i])
			take(primaries[i], arg);
}

void sim_each_stream(void (*take)(CUstream stream, void *arg), void *arg)
{
	for (int i = 0; i < SIM_DEVICES_MAX; i++) {
		if (!primaries[i])
			continue;
		take(&primaries[i]->legacy, arg);
		for (CUstream s = primaries[i]->streams; s; s = s->next)
			take(s, arg);
	}
}
