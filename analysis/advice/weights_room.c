/* weights_room.c - compares the bytes of a unit's copies with the GPU's memory. */
#include "analysis/advice/weights_room.h"

#include "analysis/advice/finding.h"
#include "analysis/base/intervals.h"
#include "analysis/pipeline/unit.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

/* Units are nearly all of the run from this share of it on. */
static const double most_share = 0.8;

/* Of the GPU's memory, what weights may take where nothing says what the rest needs; and where that is known, both together. */
static const double fits_share = 0.75, full_share = 0.95;

uint64_t vpa_copied_in_unit(const struct vpa_report *r, unsigned kind)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	uint64_t bytes = vpa_copies_of(r, kind).bytes, run_ns = vpa_run_ns(r);

	if (!(unit.units > 0) || (double)unit.span_ns < most_share * (double)run_ns)
		return 0;
	return vpt_sat_u64((double)vpt_sat_scale(bytes, unit.span_ns, run_ns) / unit.units);
}

static const struct vpa_gpu *largest_gpu(const struct vpa_report *r)
{
	const struct vpa_gpu *most = NULL;
	size_t i;

	for (i = 0; i < r->gpu_count; i++)
		if (!most || r->gpus[i].memory_bytes > most->memory_bytes)
			most = &r->gpus[i];
	return most;
}

/* The most that samples say was in use: by all programs, else by PyTorch's allocator. 0: there are none. */
static uint64_t used_bytes(const struct vpa_report *r, int64_t device)
{
	static const enum vpt_series series[] = {
		VPT_SERIES_MEMORY_USED, VPT_SERIES_TORCH_RESERVED, VPT_SERIES_MARKED_RESERVED};
	size_t i, k;

	for (k = 0; k < COUNT(series); k++)
		for (i = 0; i < r->counter_count; i++)
			if (r->counters[i].series == series[k] && r->counters[i].device == device &&
				r->counters[i].max > 0)
				return vpt_sat_u64(r->counters[i].max);
	return 0;
}

struct vpa_weights_room vpa_weights_room_of(const struct vpa_report *r)
{
	const struct vpa_gpu *gpu = largest_gpu(r);
	struct vpa_weights_room out = {
		.bytes = vpa_copied_in_unit(r, VPT_COPYKIND_HTOD), .room_bytes = UINT64_MAX};

	if (!gpu || !gpu->memory_bytes)
		return out;
	out.gpu_bytes = gpu->memory_bytes;
	if (vpa_unit_of(r) != VPA_UNIT_REQUEST)
		out.used_bytes = used_bytes(r, gpu->device);
	out.room_bytes = out.used_bytes
				 ? vpt_sat_sub(vpt_sat_u64(full_share * (double)out.gpu_bytes),
					   out.used_bytes)
				 : vpt_sat_u64(fits_share * (double)out.gpu_bytes);
	return out;
}
