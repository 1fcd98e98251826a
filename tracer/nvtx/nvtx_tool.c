/* nvtx_tool.c - a chained NVTX tool. */
#include "tracer/nvtx/nvtx_tool.h"

#include "tracer/nvtx/nvtx_injection.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

vtr_nvtx_function _Atomic vtr_nvtx_tool[VTR_NVTX_MODULES][VTR_NVTX_CORE_COUNT];
vtr_nvtx_function _Atomic vtr_nvtx_tool_payload[VTR_NVTX_PAYLOAD_SLOTS];

static struct {
	pthread_once_t once;
	int (*attach)(vtr_nvtx_get_table get_table);
	int (*extend)(struct vtr_nvtx_extension *extension);
} tool = {.once = PTHREAD_ONCE_INIT};

static const unsigned slot_counts[VTR_NVTX_MODULES] = {
	[VTR_NVTX_CORE] = VTR_NVTX_CORE_COUNT,
	[VTR_NVTX_CUDA] = VTR_NVTX_CUDA_COUNT,
	[VTR_NVTX_CUDART] = VTR_NVTX_CUDART_COUNT,
	[VTR_NVTX_CORE2] = VTR_NVTX_CORE2_COUNT,
};

/* A setuid program ignores the variable. Naming this library itself means no tool. */
static void load_tool(void)
{
	const char *path = secure_getenv("VPTRACE_NVTX_CHAIN");
	void *library = path && *path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
	void *attach = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;

	if (!attach || attach == (void *)InitializeInjectionNvtx2)
		return;
	*(void **)&tool.attach = attach;
	*(void **)&tool.extend = dlsym(library, "InitializeInjectionNvtxExtension");
}

/* Copies a module's slots into `out`; missing ones are NULL. */
static unsigned read_slots(const struct vtr_nvtx_callbacks *callbacks, int module,
	vtr_nvtx_function out[VTR_NVTX_CORE_COUNT], vtr_nvtx_function ***table)
{
	unsigned count = 0, i;

	if (!slot_counts[module] || !callbacks->module(module, table, &count) || !*table)
		return 0;
	if (count > slot_counts[module])
		count = slot_counts[module];
	for (i = 0; i < count; i++)
		out[i] = (*table)[i] ? *(*table)[i] : NULL;
	return count;
}

void vtr_nvtx_tool_attach(vtr_nvtx_get_table get_table, const struct vtr_nvtx_callbacks *callbacks)
{
	vtr_nvtx_function before[VTR_NVTX_MODULES][VTR_NVTX_CORE_COUNT] = {{NULL}};
	vtr_nvtx_function after[VTR_NVTX_CORE_COUNT] = {NULL}, **table = NULL;
	int module, accepted;
	unsigned i, count;

	pthread_once(&tool.once, load_tool);
	if (!tool.attach)
		return;
	for (module = 0; module < VTR_NVTX_MODULES; module++)
		read_slots(callbacks, module, before[module], &table);
	accepted = tool.attach(get_table);
	for (module = 0; module < VTR_NVTX_MODULES; module++) {
		count = read_slots(callbacks, module, after, &table);
		for (i = 0; i < count; i++) {
			if (after[i] == before[module][i])
				continue;
			if (accepted)
				atomic_store_explicit(
					&vtr_nvtx_tool[module][i], after[i], memory_order_relaxed);
			else /* a tool that refused must not be called */
				*table[i] = before[module][i];
		}
	}
}

int vtr_nvtx_tool_extend(struct vtr_nvtx_extension *extension)
{
	struct vtr_nvtx_segment *segment = extension->segments;
	int accepted;
	size_t i;

	pthread_once(&tool.once, load_tool);
	if (!tool.attach)
		return 1;
	accepted = tool.extend ? tool.extend(extension) : 0;
	if (extension->module != VTR_NVTX_PAYLOAD_MODULE || !segment || !segment->slots)
		return accepted;
	for (i = 0; i < segment->slot_count && i < VTR_NVTX_PAYLOAD_SLOTS; i++) {
		intptr_t slot = segment->slots[i];

		if (!accepted)
			segment->slots[i] = 0;
		else if (slot > VTR_NVTX_SLOT_STATES)
			atomic_store_explicit(&vtr_nvtx_tool_payload[i], (vtr_nvtx_function)slot,
				memory_order_relaxed);
	}
	return accepted;
}
