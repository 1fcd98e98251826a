/* nvtx.c - loading of a tool, and calls through the slots that it has filled. */
#include "tests/standin/nccl/nvtx.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static vtr_nvtx_function core2[VTR_NVTX_CORE2_COUNT];
static intptr_t payload[VTR_NVTX_PAYLOAD_SLOTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int give_module(int module, vtr_nvtx_function ***table, unsigned *count)
{
	static vtr_nvtx_function *slots[VTR_NVTX_CORE2_COUNT];
	unsigned i;

	if (module != VTR_NVTX_CORE2)
		return 0;
	for (i = 1; i < VTR_NVTX_CORE2_COUNT; i++)
		slots[i] = &core2[i];
	*table = slots;
	*count = VTR_NVTX_CORE2_COUNT;
	return 1;
}

static const void *give_table(uint32_t table)
{
	static const struct vtr_nvtx_callbacks callbacks = {sizeof(callbacks), give_module};

	return table == VTR_NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

static void load_tool(void)
{
	static struct vtr_nvtx_segment segment = {0, VTR_NVTX_PAYLOAD_SLOTS, payload};
	static struct vtr_nvtx_extension extension = {.version = 1,
		.struct_bytes = sizeof(extension),
		.module = VTR_NVTX_PAYLOAD_MODULE,
		.segment_count = 1,
		.segments = &segment};
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*attach)(vtr_nvtx_get_table) = NULL;
	int (*extend)(struct vtr_nvtx_extension *) = NULL;

	if (!library)
		return;
	*(void **)&attach = dlsym(library, "InitializeInjectionNvtx2");
	*(void **)&extend = dlsym(library, "InitializeInjectionNvtxExtension");
	if (!attach || !attach(give_table))
		memset(core2, 0, sizeof(core2));
	if (!extend || !extend(&extension))
		memset(payload, 0, sizeof(payload));
}

static vtr_nvtx_function core2_of(enum vtr_nvtx_core2 id)
{
	pthread_once(&once, load_tool);
	return core2[id];
}

static vtr_nvtx_function payload_of(enum vtr_nvtx_payload_slot slot)
{
	pthread_once(&once, load_tool);
	return payload[slot] > VTR_NVTX_SLOT_STATES ? (vtr_nvtx_function)payload[slot] : NULL;
}

void *nvtx_domain(const char *name)
{
	void *(*create)(const char *) = (void *(*)(const char *))core2_of(VTR_NVTX_DOMAIN_CREATE_A);

	return create ? create(name) : NULL;
}

void *nvtx_string(void *domain, const char *text)
{
	void *(*add)(void *, const char *) =
		(void *(*)(void *, const char *))core2_of(VTR_NVTX_DOMAIN_STRING_A);

	return add ? add(domain, text) : NULL;
}

void nvtx_schema(void *domain, const struct vtr_nvtx_schema *schema)
{
	uint64_t (*add)(void *, const struct vtr_nvtx_schema *) = (uint64_t(*)(
		void *, const struct vtr_nvtx_schema *))payload_of(VTR_NVTX_SCHEMA_REGISTER);

	if (add)
		add(domain, schema);
}

void nvtx_enum(void *domain, const struct vtr_nvtx_enum *values)
{
	uint64_t (*add)(void *, const struct vtr_nvtx_enum *) = (uint64_t(*)(
		void *, const struct vtr_nvtx_enum *))payload_of(VTR_NVTX_ENUM_REGISTER);

	if (add)
		add(domain, values);
}

void nvtx_push(void *domain, void *text, const struct vtr_nvtx_blob *blob)
{
	int (*push)(void *, const struct vtr_nvtx_event *) =
		(int (*)(void *, const struct vtr_nvtx_event *))core2_of(VTR_NVTX_DOMAIN_PUSH);
	struct vtr_nvtx_event event = {.version = VTR_NVTX_VERSION,
		.size = sizeof(event),
		.payload_type = VTR_NVTX_PAYLOAD_EXTENDED,
		.payload_count = 1,
		.payload = (uint64_t)(uintptr_t)blob,
		.text_type = VTR_NVTX_TEXT_REGISTERED,
		.text = text};

	if (push)
		push(domain, &event);
}

void nvtx_pop(void *domain)
{
	int (*pop)(void *) = (int (*)(void *))core2_of(VTR_NVTX_DOMAIN_POP);

	if (pop)
		pop(domain);
}
