/* kineto_devices.c - imports the GPUs that a file describes. */
#include "formats/import/kineto/kineto_parts.h"

#include "formats/import/kineto/kineto_own.h"

static int read_device(
	struct vpt_kineto_rows *r, const struct vpt_kineto_value *object, struct vpt_device *d)
{
	struct vpt_text name = vpt_kineto_text(vpt_kineto_member(object, "name"));
	int64_t id;

	*d = (struct vpt_device){0};
	if (!vpt_kineto_integer(r, object, "id", &id))
		return 0;
	d->device = (uint64_t)id;
	d->name = name.text ? vpt_kineto_put_text(r, name) : 0;
	/* ROCm may give no name; only AMD's GPUs have waves of 64. */
	if (!name.len && vpt_kineto_natural(r, object, "warpSize") == 64)
		d->name = vpt_collect_string(r->collect, "AMD GPU", 7);
	d->compute_major = vpt_kineto_natural(r, object, "computeMajor");
	d->compute_minor = vpt_kineto_natural(r, object, "computeMinor");
	d->sm_count = vpt_kineto_natural(r, object, "numSms");
	d->sm_threads = vpt_kineto_natural(r, object, "maxThreadsPerMultiprocessor");
	d->sm_registers = vpt_kineto_natural(r, object, "regsPerMultiprocessor");
	d->sm_shared = vpt_kineto_natural(r, object, "sharedMemPerMultiprocessor");
	d->memory_bytes = vpt_kineto_natural(r, object, "totalGlobalMem");
	vpt_kineto_own_device(r, object, d);
	return 1;
}

void vpt_kineto_devices(struct vpt_kineto_rows *r, const struct vpt_kineto_value *devices)
{
	const struct vpt_kineto_value *object = vpt_kineto_element(devices, 0);
	struct vpt_device d;

	/* Those of the ranks say the same, and whose they are. */
	if (r->processes.device_count)
		return;
	for (; object; object = vpt_kineto_next(devices, object))
		if (read_device(r, object, &d))
			vpt_collect_device(r->collect, -1, &d);
}

void vpt_kineto_devices_of_process(struct vpt_kineto_rows *r, const struct vpt_kineto_value *event,
	const struct vpt_kineto_value *devices)
{
	const struct vpt_kineto_value *object = vpt_kineto_element(devices, 0);
	struct vpt_device d;

	for (; object; object = vpt_kineto_next(devices, object))
		if (read_device(r, object, &d))
			vpt_kineto_device_of_process(r, event, &d);
}
