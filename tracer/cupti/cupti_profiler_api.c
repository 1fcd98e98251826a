/* cupti_profiler_api.c - four calls, found by CUPTI's names for them. */
#include "tracer/cupti/cupti_parts.h"

#include "tracer/cupti/library/cupti_calls.h"
#include "tracer/window/recording_window.h"

#include <stdatomic.h>
#include <string.h>

static struct {
	uint32_t domain;
	const char *name; /* the beginning of CUPTI's, which may end in "_v4000" */
	int starts;
	_Atomic uint32_t cbid; /* 0: this CUPTI has no such call */
} calls[] = {
	{VTR_DOMAIN_DRIVER, "cuProfilerStart", 1, 0},
	{VTR_DOMAIN_DRIVER, "cuProfilerStop", 0, 0},
	{VTR_DOMAIN_RUNTIME, "cudaProfilerStart", 1, 0},
	{VTR_DOMAIN_RUNTIME, "cudaProfilerStop", 0, 0},
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static uint32_t find(const struct vtr_cupti_functions *fn, uint32_t domain, const char *wanted)
{
	const char *name;
	uint32_t cbid;

	for (cbid = 1; cbid < VTR_CBIDS; cbid++) {
		name = NULL;
		fn->callback_name(domain, cbid, &name);
		if (name && !strncmp(name, wanted, strlen(wanted)))
			return cbid;
	}
	return 0;
}

void vtr_profiler_api_begin(const struct vtr_cupti_functions *fn, void *subscriber, int wanted)
{
	uint32_t cbid;
	size_t i;

	for (i = 0; i < CALLS; i++) {
		cbid = wanted ? find(fn, calls[i].domain, calls[i].name) : 0;
		if (cbid && fn->enable_callback(1, subscriber, calls[i].domain, cbid))
			cbid = 0;
		atomic_store(&calls[i].cbid, cbid);
	}
}

void vtr_profiler_api_on_call(uint32_t domain, uint32_t cbid, const struct vtr_call_data *data)
{
	size_t i;

	for (i = 0; i < CALLS; i++)
		if (calls[i].domain == domain && cbid &&
			atomic_load_explicit(&calls[i].cbid, memory_order_relaxed) == cbid &&
			data->site == (calls[i].starts ? VTR_SITE_EXIT : VTR_SITE_ENTER))
			vtr_window_profiler(calls[i].starts);
}
