/* full_memory.c - looks at the devices' causes, the samples of memory, and the operators that allocate. */
#include "analysis/advice/full_memory.h"

#include "analysis/base/numbers.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <string.h>

/* Of the GPU's memory, as the finding about almost full memory has it. */
static const double full_share = 0.9;

enum { REPEATS = 4 }; /* gaps: a program frees once at its start, too */

static int frees(const char *call)
{
	return call && strstr(call, "Free") && !strstr(call, "Host");
}

static uint64_t allocation_ns(const struct vpa_report *r, int only_frees)
{
	uint64_t ns = 0, gaps = 0;
	size_t d, i;

	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].cause_count; i++) {
			const struct vpa_idle_part *p = &r->devices[d].causes[i];

			if (p->cause != VPA_CAUSE_ALLOCATION || (only_frees && !frees(p->call)))
				continue;
			vpt_sat_add_to(&ns, p->ns);
			vpt_sat_add_to(&gaps, p->gaps);
		}
	return gaps >= REPEATS ? ns : 0;
}

static uint64_t memory_of(const struct vpa_report *r, int64_t device)
{
	const struct vpa_gpu *gpu = vpa_report_gpu(r, device);

	return gpu ? gpu->memory_bytes : 0;
}

/* Samples of at least that share of their GPU's memory; NULL: there are none. */
static const struct vpa_counter *samples_of(const struct vpa_report *r, double share)
{
	static const enum vpt_series series[] = {
		VPT_SERIES_TORCH_RESERVED, VPT_SERIES_MARKED_RESERVED, VPT_SERIES_MEMORY_USED};
	size_t i, k;

	for (k = 0; k < COUNT(series); k++)
		for (i = 0; i < r->counter_count; i++) {
			const struct vpa_counter *c = &r->counters[i];
			double all = (double)memory_of(r, c->device);

			if (c->series == series[k] && all > 0 && c->max >= share * all)
				return c;
		}
	return NULL;
}

int vpa_frees_most(const struct vpa_report *r)
{
	uint64_t free_ns = allocation_ns(r, 1);

	return free_ns && free_ns >= allocation_ns(r, 0) / 2;
}

static const char *use_of(struct vpa_report *r, const struct vpa_counter *c)
{
	return vpa_arena_printf(&r->arena, "%s %s of %s GB",
		c->series == VPT_SERIES_MEMORY_USED ? "in use were" : "PyTorch held",
		vpa_fixed(c->max / 1e9, 1).text,
		vpa_fixed((double)memory_of(r, c->device) / 1e9, 1).text);
}

const char *vpa_most_memory(struct vpa_report *r)
{
	const struct vpa_counter *c = samples_of(r, 0);

	return c ? use_of(r, c) : NULL;
}

const char *vpa_full_memory(struct vpa_report *r)
{
	const struct vpa_counter *c = samples_of(r, full_share);

	if (!vpa_frees_most(r))
		return NULL;
	if (c)
		return use_of(r, c);
	return r->allocating.gaps_ns && r->allocating.operators_ns >= r->allocating.gaps_ns / 2
		       ? "an operator that allocates had to free"
		       : NULL;
}

const struct vpa_counter *vpa_memory_over(const struct vpa_report *r, uint64_t *size_bytes)
{
	const struct vpa_counter *c = samples_of(r, 1);

	*size_bytes = c ? memory_of(r, c->device) : 0;
	return c;
}
