/* kineto_memory.c - how much memory PyTorch's allocator holds.
 *
 * If the profiler was set to record memory, there is an instant event after each change, for GPUs
 * and for the host. Those of each GPU become two series. */
#include "formats/import/kineto/kineto_put.h"

#include "formats/series.h"

#include <string.h>

/* Puts a sample of a series. Returns 0 if the event lacks the member or it is not a number of
 * bytes. */
static int put_sample(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t device,
	enum vpt_series series, const char *key)
{
	int64_t bytes;
	double value;
	const char *name = vpt_series_name(series), *unit = vpt_series_unit(series);
	struct vpt_counter c = {.time_ns = e->start_ns};

	if (!vpt_kineto_member(e->args, key) || !vpt_kineto_integer(r, e->args, key, &bytes) ||
		bytes < 0)
		return 0;
	value = (double)bytes;
	memcpy(&c.value, &value, sizeof(value));
	vpt_collect_put(r->collect, VPT_COUNTER,
		vpt_collect_series(r->collect, -1, device,
			vpt_kineto_put_text(r, vpt_text_from(name)),
			vpt_kineto_put_text(r, vpt_text_from(unit))),
		&c);
	return 1;
}

int vpt_kineto_put_memory(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	enum { GPU = 1 };
	int64_t device, type = 0;

	if (!vpt_kineto_same_word("[memory]", e->name) ||
		!vpt_kineto_integer(r, e->args, "Device Type", &type) || type != GPU)
		return VPT_KINETO_NOT_MEANT;
	device = vpt_kineto_optional_id(r, e->args, "Device Id");
	if (device < 0 || !put_sample(r, e, device, VPT_SERIES_TORCH_ALLOCATED, "Total Allocated"))
		return 0;
	/* Older versions do not write this one. */
	put_sample(r, e, device, VPT_SERIES_TORCH_RESERVED, "Total Reserved");
	return 1;
}
