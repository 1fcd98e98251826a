/* nvtx_tool.c - another NVTX tool, to be chained: counts what it is called for, and complains about handles that are not its own. */
#include "tracer/nvtx/nvtx_abi.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

static int pushes, pops, starts, ends, marks, wrong;
static char domains[8], strings[8];
static int domain_count, string_count;

static int is_ours(const void *handle, const char *base, int count)
{
	return (const char *)handle > base && (const char *)handle <= base + count;
}

static void check(const void *domain, const struct vtr_nvtx_event *event)
{
	wrong += !is_ours(domain, domains, domain_count);
	if (event->text_type == VTR_NVTX_TEXT_REGISTERED)
		wrong += !is_ours(event->text, strings, string_count);
}

static int push_a(const char *text)
{
	wrong += strcmp(text, "outer") != 0;
	pushes++;
	return 0;
}

static int pop(void)
{
	pops++;
	return 0;
}

static void mark_w(const wchar_t *text)
{
	wrong += wcscmp(text, L"wide") != 0;
	marks++;
}

static void *create(const char *name)
{
	(void)name;
	return &domains[++domain_count % 8];
}

static void *string(const void *domain, const char *text)
{
	(void)text;
	wrong += !is_ours(domain, domains, domain_count);
	return &strings[++string_count % 8];
}

static int domain_push(const void *domain, const struct vtr_nvtx_event *event)
{
	check(domain, event);
	pushes++;
	return 0;
}

static int domain_pop(const void *domain)
{
	wrong += !is_ours(domain, domains, domain_count);
	pops++;
	return 0;
}

static void domain_mark(const void *domain, const struct vtr_nvtx_event *event)
{
	check(domain, event);
	marks++;
}

static uint64_t domain_start(const void *domain, const struct vtr_nvtx_event *event)
{
	check(domain, event);
	return 1000 + (uint64_t)starts++;
}

static void domain_end(const void *domain, uint64_t id)
{
	wrong += id != 1000 + (uint64_t)ends++ || !is_ours(domain, domains, domain_count);
}

static void domain_destroy(const void *domain)
{
	wrong += !is_ours(domain, domains, domain_count);
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(vtr_nvtx_get_table get_table);
int InitializeInjectionNvtx2(vtr_nvtx_get_table get_table)
{
	const struct vtr_nvtx_callbacks *callbacks = get_table(VTR_NVTX_TABLE_CALLBACKS);
	vtr_nvtx_function **core, **core2;
	unsigned count;

	if (!callbacks->module(VTR_NVTX_CORE, &core, &count) ||
		!callbacks->module(VTR_NVTX_CORE2, &core2, &count))
		return 0;
	*core[VTR_NVTX_PUSH_A] = (vtr_nvtx_function)push_a;
	*core[VTR_NVTX_POP] = (vtr_nvtx_function)pop;
	*core[VTR_NVTX_MARK_W] = (vtr_nvtx_function)mark_w;
	*core2[VTR_NVTX_DOMAIN_CREATE_A] = (vtr_nvtx_function)create;
	*core2[VTR_NVTX_DOMAIN_STRING_A] = (vtr_nvtx_function)string;
	*core2[VTR_NVTX_DOMAIN_PUSH] = (vtr_nvtx_function)domain_push;
	*core2[VTR_NVTX_DOMAIN_POP] = (vtr_nvtx_function)domain_pop;
	*core2[VTR_NVTX_DOMAIN_MARK] = (vtr_nvtx_function)domain_mark;
	*core2[VTR_NVTX_DOMAIN_START] = (vtr_nvtx_function)domain_start;
	*core2[VTR_NVTX_DOMAIN_END] = (vtr_nvtx_function)domain_end;
	*core2[VTR_NVTX_DOMAIN_DESTROY] = (vtr_nvtx_function)domain_destroy;
#ifdef TOOL_REFUSES
	return 0;
#else
	return 1;
#endif
}

__attribute__((destructor)) static void report(void)
{
	printf("tool: %d pushes %d pops %d starts %d ends %d marks %d wrong\n", pushes, pops,
		starts, ends, marks, wrong);
}
