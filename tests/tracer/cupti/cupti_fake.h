/* cupti_fake.h - a libcupti made of a table of functions, and buffers of records as three versions
 * of it write them.
 *
 * For tests that want to say exactly which call fails or what stands in a buffer. What a whole
 * simulated GPU is good for, tests/standin does. */
#ifndef VPT_TESTS_TRACER_CUPTI_FAKE_H
#define VPT_TESTS_TRACER_CUPTI_FAKE_H

#include "tracer/cupti/library/cupti_abi.h"

#include <stdio.h>
#include <string.h>

/* Sizes of records by API version, measured from the real libraries. */
static const struct fake_version {
	uint32_t api;
	uint16_t bytes[VTR_KINDS];
} fake_versions[] = {
	{18, {[VTR_KIND_MEMCPY] = 88,
		     [VTR_KIND_MEMSET] = 88,
		     [VTR_KIND_KERNEL] = 200,
		     [VTR_KIND_DRIVER] = 40,
		     [VTR_KIND_RUNTIME] = 40,
		     [VTR_KIND_DEVICE] = 176,
		     [VTR_KIND_CONTEXT] = 16,
		     [VTR_KIND_CONCURRENT_KERNEL] = 200,
		     [VTR_KIND_OVERHEAD] = 40,
		     [VTR_KIND_MEMCPY2] = 96,
		     [VTR_KIND_CUDA_EVENT] = 24,
		     [VTR_KIND_STREAM] = 24,
		     [VTR_KIND_SYNCHRONIZATION] = 40,
		     [VTR_KIND_MEMORY2] = 120,
		     [VTR_KIND_GRAPH_TRACE] = 48,
		     [VTR_KIND_JIT] = 64,
		     [12] = 56}},
	{22, {[VTR_KIND_MEMCPY] = 88,
		     [VTR_KIND_MEMSET] = 88,
		     [VTR_KIND_KERNEL] = 208,
		     [VTR_KIND_DRIVER] = 40,
		     [VTR_KIND_RUNTIME] = 40,
		     [VTR_KIND_DEVICE] = 184,
		     [VTR_KIND_CONTEXT] = 24,
		     [VTR_KIND_CONCURRENT_KERNEL] = 208,
		     [VTR_KIND_OVERHEAD] = 56,
		     [VTR_KIND_MEMCPY2] = 96,
		     [VTR_KIND_CUDA_EVENT] = 24,
		     [VTR_KIND_STREAM] = 24,
		     [VTR_KIND_SYNCHRONIZATION] = 40,
		     [VTR_KIND_MEMORY2] = 120,
		     [VTR_KIND_GRAPH_TRACE] = 56,
		     [VTR_KIND_JIT] = 72,
		     [12] = 56}},
	{130001, {[VTR_KIND_MEMCPY] = 96,
			 [VTR_KIND_MEMSET] = 88,
			 [VTR_KIND_KERNEL] = 216,
			 [VTR_KIND_DRIVER] = 40,
			 [VTR_KIND_RUNTIME] = 40,
			 [VTR_KIND_DEVICE] = 184,
			 [VTR_KIND_CONTEXT] = 32,
			 [VTR_KIND_CONCURRENT_KERNEL] = 216,
			 [VTR_KIND_OVERHEAD] = 56,
			 [VTR_KIND_MEMCPY2] = 96,
			 [VTR_KIND_CUDA_EVENT] = 56,
			 [VTR_KIND_STREAM] = 24,
			 [VTR_KIND_SYNCHRONIZATION] = 56,
			 [VTR_KIND_MEMORY2] = 128,
			 [VTR_KIND_GRAPH_TRACE] = 56,
			 [VTR_KIND_JIT] = 72,
			 [12] = 56}},
};

enum { FAKE_VERSIONS = sizeof(fake_versions) / sizeof(fake_versions[0]) };

/* Callback ids that the fake knows, with the names that the real libraries have for them. */
enum {
	FAKE_GET_LAST_ERROR = 10,
	FAKE_MALLOC = 20,
	FAKE_MEMCPY_ASYNC = 41,
	FAKE_STREAM_SYNCHRONIZE = 131,
	FAKE_LAUNCH_KERNEL = 211,
	FAKE_GRAPH_LAUNCH = 311,
	FAKE_CU_CTX_SYNCHRONIZE = 17,
	FAKE_CU_MEM_ALLOC = 243,
	FAKE_CU_LAUNCH_KERNEL = 307,
	FAKE_CU_LAUNCH_KERNEL_EX = 652,
	FAKE_CU_CTX_GET_CURRENT = 304,
	FAKE_CU_MEMCPY_DTOA = 300 /* not in calls.def */
};

static const struct {
	uint32_t domain, cbid;
	const char *name;
} fake_names[] = {
	{VTR_DOMAIN_RUNTIME, FAKE_GET_LAST_ERROR, "cudaGetLastError_v3020"},
	{VTR_DOMAIN_RUNTIME, FAKE_MALLOC, "cudaMalloc_v3020"},
	{VTR_DOMAIN_RUNTIME, FAKE_MEMCPY_ASYNC, "cudaMemcpyAsync_v3020"},
	{VTR_DOMAIN_RUNTIME, FAKE_STREAM_SYNCHRONIZE, "cudaStreamSynchronize_ptsz_v7000"},
	{VTR_DOMAIN_RUNTIME, FAKE_LAUNCH_KERNEL, "cudaLaunchKernel_v7000"},
	{VTR_DOMAIN_RUNTIME, FAKE_GRAPH_LAUNCH, "cudaGraphLaunch_v10000"},
	{VTR_DOMAIN_DRIVER, FAKE_CU_CTX_SYNCHRONIZE, "cuCtxSynchronize"},
	{VTR_DOMAIN_DRIVER, FAKE_CU_MEM_ALLOC, "cuMemAlloc_v2"},
	{VTR_DOMAIN_DRIVER, FAKE_CU_LAUNCH_KERNEL, "cuLaunchKernel"},
	{VTR_DOMAIN_DRIVER, FAKE_CU_LAUNCH_KERNEL_EX, "cuLaunchKernelEx_ptsz"},
	{VTR_DOMAIN_DRIVER, FAKE_CU_CTX_GET_CURRENT, "cuCtxGetCurrent"},
	{VTR_DOMAIN_DRIVER, FAKE_CU_MEMCPY_DTOA, "cuMemcpyDtoA_v2_ptds"},
};

/* The settings of the fake, and the calls it received. */
static struct fake {
	const struct fake_version *version;
	/* results to give; 0: success */
	int subscribe_rc, thread_id_rc, register_rc, kernel_rc, memory_rc, by_call_rc,
		device_dump_rc;
	const char *owner;
	/* what it saw */
	int subscribed, subscribes, unsubscribes, forced_flushes, flushes;
	uint64_t enabled, dumped;
	unsigned runtime_calls, driver_calls; /* enabled one by one */
	int per_thread, per_thread_sets, zeroed, thread_ids;
	uint64_t device_limit;
	int device_limit_rc;
	unsigned callbacks_enabled;
	vtr_callback callback;
	vtr_buffer_requested requested;
	vtr_buffer_completed completed;
	size_t dropped;
	char order[16]; /* S subscribe, T thread ids, A attributes, R register, C callbacks, K
			   kinds: the first of each */
} fake;

static void fake_note(char what)
{
	size_t len = strlen(fake.order);

	if (len + 1 < sizeof(fake.order) && !strchr(fake.order, what))
		fake.order[len] = what;
}

static void fake_reset(const struct fake_version *version)
{
	memset(&fake, 0, sizeof(fake));
	fake.version = version;
}

static int fake_get_version(uint32_t *out)
{
	*out = fake.version->api;
	return 0;
}

static int fake_result_string(uint32_t rc, const char **out)
{
	*out = rc == 999 ? "CUPTI_ERROR_UNKNOWN" : "CUPTI_ERROR_OTHER";
	return 0;
}

static int fake_timestamp(uint64_t *out)
{
	*out = 4242;
	return 0;
}

static int fake_callback_name(uint32_t domain, uint32_t cbid, const char **out)
{
	size_t i;

	for (i = 0; i < sizeof(fake_names) / sizeof(fake_names[0]); i++)
		if (fake_names[i].domain == domain && fake_names[i].cbid == cbid) {
			*out = fake_names[i].name;
			return 0;
		}
	return 1;
}

static int fake_subscribe(void **out, vtr_callback callback, void *user)
{
	(void)user;
	fake_note('S');
	if (fake.subscribe_rc)
		return fake.subscribe_rc;
	fake.callback = callback;
	fake.subscribed = 1;
	fake.subscribes++;
	*out = &fake;
	return 0;
}

static int fake_subscribe_v2(
	void **out, vtr_callback callback, void *user, struct vtr_subscriber_params *params)
{
	int rc = fake_subscribe(out, callback, user);

	if (rc && params && fake.owner)
		snprintf(params->old_name, params->old_name_bytes, "%s", fake.owner);
	return rc;
}

static int fake_unsubscribe(void *subscriber)
{
	fake.unsubscribes++;
	fake.subscribed = 0;
	return subscriber == &fake ? 0 : 1;
}

static int fake_enable_callback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t cbid)
{
	(void)domain, (void)cbid;
	fake_note('C');
	fake.callbacks_enabled += enable;
	return subscriber == &fake ? 0 : 1;
}

static int fake_register(vtr_buffer_requested requested, vtr_buffer_completed completed)
{
	fake_note('R');
	if (fake.register_rc)
		return fake.register_rc;
	fake.requested = requested;
	fake.completed = completed;
	return 0;
}

static int fake_enable(uint32_t kind)
{
	fake_note('K');
	if (kind == VTR_KIND_CONCURRENT_KERNEL && fake.kernel_rc)
		return fake.kernel_rc;
	if (kind == VTR_KIND_MEMORY2 && fake.memory_rc)
		return fake.memory_rc;
	fake.enabled |= UINT64_C(1) << kind;
	return 0;
}

static int fake_enable_and_dump(uint32_t kind)
{
	if (kind == VTR_KIND_DEVICE && fake.device_dump_rc)
		return fake.device_dump_rc;
	fake.dumped |= UINT64_C(1) << kind;
	return fake_enable(kind);
}

static int fake_disable(uint32_t kind)
{
	fake.enabled &= ~(UINT64_C(1) << kind);
	return 0;
}

static int fake_flush(uint32_t flag)
{
	fake.flushes++;
	fake.forced_flushes += flag == VTR_FLUSH_FORCED;
	return 0;
}

static int fake_next_record(uint8_t *buffer, size_t valid_bytes, void **record)
{
	size_t at = 0, size;
	uint32_t kind;

	if (*record) {
		memcpy(&kind, *record, sizeof(kind));
		at = (size_t)((uint8_t *)*record - buffer) + fake.version->bytes[kind];
	}
	if (at + sizeof(kind) > valid_bytes)
		return 12;
	memcpy(&kind, buffer + at, sizeof(kind));
	size = kind < VTR_KINDS ? fake.version->bytes[kind] : 0;
	if (!size)
		return 21;
	if (at + size > valid_bytes)
		return 12;
	*record = buffer + at;
	return 0;
}

static int fake_dropped(void *context, uint32_t stream, size_t *out)
{
	(void)context, (void)stream;
	*out = fake.dropped;
	fake.dropped = 0;
	return 0;
}

static int fake_set_attribute(uint32_t attribute, size_t *size, void *value)
{
	fake_note('A');
	if (attribute == VTR_ATTRIBUTE_DEVICE_LIMIT && *size == sizeof(size_t)) {
		if (!fake.device_limit_rc)
			memcpy(&fake.device_limit, value, sizeof(fake.device_limit));
		return fake.device_limit_rc;
	}
	if (*size != 1 || *(uint8_t *)value != 1)
		return 1;
	if (attribute == VTR_ATTRIBUTE_PER_THREAD_BUFFERS)
		fake.per_thread = 1;
	fake.per_thread_sets += attribute == VTR_ATTRIBUTE_PER_THREAD_BUFFERS;
	fake.zeroed += attribute == VTR_ATTRIBUTE_ZEROED_BUFFERS;
	return 0;
}

static int fake_get_attribute(uint32_t attribute, size_t *size, void *value)
{
	uint64_t n = attribute == VTR_ATTRIBUTE_PER_THREAD_BUFFERS ? (uint64_t)fake.per_thread
		     : attribute == VTR_ATTRIBUTE_DEVICE_BYTES     ? 3200000
		     : attribute == VTR_ATTRIBUTE_DEVICE_LIMIT     ? fake.device_limit
								   : 3;

	memcpy(value, &n, *size);
	return 0;
}

static int fake_thread_ids(uint32_t type)
{
	fake_note('T');
	fake.thread_ids = (int)type;
	return fake.thread_id_rc;
}

static int fake_enable_runtime(uint32_t cbid, uint8_t enable)
{
	(void)cbid;
	if (!fake.by_call_rc)
		fake.runtime_calls += enable ? 1u : ~0u;
	return fake.by_call_rc;
}

static int fake_enable_driver(uint32_t cbid, uint8_t enable)
{
	(void)cbid;
	if (!fake.by_call_rc)
		fake.driver_calls += enable ? 1u : ~0u;
	return fake.by_call_rc;
}

static int fake_graph_node_id(void *node, uint64_t *out)
{
	*out = 1000 + (uintptr_t)node;
	return 0;
}

static int fake_graph_id(void *graph, uint32_t *out)
{
	*out = 100 + (uint32_t)(uintptr_t)graph;
	return 0;
}

/* A library as new as its version. */
static inline struct vtr_cupti_functions fake_functions(void)
{
	struct vtr_cupti_functions fn = {.version = fake_get_version,
		.result_string = fake_result_string,
		.timestamp = fake_timestamp,
		.callback_name = fake_callback_name,
		.subscribe = fake_subscribe,
		.unsubscribe = fake_unsubscribe,
		.enable_callback = fake_enable_callback,
		.register_callbacks = fake_register,
		.enable = fake_enable,
		.disable = fake_disable,
		.flush_all = fake_flush,
		.next_record = fake_next_record,
		.dropped = fake_dropped,
		.set_attribute = fake_set_attribute,
		.get_attribute = fake_get_attribute,
		.thread_id_type = fake_thread_ids,
		.enable_and_dump = fake_enable_and_dump,
		.graph_node_id = fake_graph_node_id,
		.graph_id = fake_graph_id,
		.graph_exec_id = fake_graph_id};

	if (fake.version->api >= VTR_CUPTI_BY_CALL) {
		fn.enable_runtime = fake_enable_runtime;
		fn.enable_driver = fake_enable_driver;
	}
	if (fake.version->api >= 130000)
		fn.subscribe_v2 = fake_subscribe_v2;
	return fn;
}

/* ---- buffers ---- */

struct fake_buffer {
	uint64_t words[1 << 14];
	size_t bytes;
};

/* A zeroed record of this kind at the end of a buffer; what the version's records do not have of
 * our struct is cut off: the next record begins there. */
static inline void *fake_record(struct fake_buffer *b, uint32_t kind)
{
	uint8_t *record = (uint8_t *)b->words + b->bytes;

	memset(record, 0, fake.version->bytes[kind]);
	memcpy(record, &kind, sizeof(kind));
	b->bytes += fake.version->bytes[kind];
	return record;
}

static inline void fake_call(struct fake_buffer *b, uint32_t kind, uint32_t cbid, uint32_t thread,
	uint64_t start, uint64_t end, uint32_t correlation)
{
	struct vtr_record_call *c = fake_record(b, kind);

	c->cbid = cbid;
	c->thread = thread;
	c->start = start;
	c->end = end;
	c->correlation = correlation;
}

static inline struct vtr_record_kernel *fake_kernel(
	struct fake_buffer *b, const char *name, uint64_t start, uint64_t end, uint32_t correlation)
{
	struct vtr_record_kernel *k = fake_record(b, VTR_KIND_CONCURRENT_KERNEL);

	k->name = name;
	k->start = start;
	k->end = end;
	k->correlation = correlation;
	k->device = 0;
	k->context = 1;
	k->stream = 7;
	k->grid_x = 4;
	k->grid_y = k->grid_z = k->block_y = k->block_z = 1;
	k->block_x = 128;
	return k;
}

#endif
