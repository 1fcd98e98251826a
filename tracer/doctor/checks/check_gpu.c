/* check_gpu.c - the devices that a program would see. */
#include "tracer/doctor/checks/checks.h"
#include "tracer/loaded/driver.h"

#include <stdlib.h>

static void find_hidden(struct vtr_answer *a, const char *fact)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	if (*vtr_driver_hint())
		vtr_find(a, VTR_STATUS_FAIL, "unset CUDA_VISIBLE_DEVICES, or name a device in it.",
			"%s%s", fact, vtr_driver_hint());
	else if (visible)
		vtr_find(a, VTR_STATUS_FAIL,
			"Compare CUDA_VISIBLE_DEVICES with nvidia-smi -L: it may name devices that "
			"are not there.",
			"%s; CUDA_VISIBLE_DEVICES=%s", fact, visible);
	else
		vtr_find(a, VTR_STATUS_FAIL,
			"nvidia-smi shows what the driver sees. In a container: docker run --gpus "
			"all.",
			"%s", fact);
}

void vtr_check_gpu(const struct vtr_patient *p, struct vtr_answer *a)
{
	const char *error = vtr_probe_value(&p->self, "cuda_error", 0), *device;
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	unsigned i;

	for (i = 0; (device = vtr_probe_value(&p->self, "device", i)) != NULL; i++)
		vtr_find(a, VTR_STATUS_OK, NULL, "%u: %s%s%s%s", i, device,
			vtr_probe_number(&p->cuda, "simulated") ? ": simulated, no GPU" : "",
			!i && visible ? "; CUDA_VISIBLE_DEVICES=" : "",
			!i && visible ? visible : "");
	if (i)
		return;
	if (error)
		find_hidden(a, error);
	else if (!vtr_probe_number(&p->cuda, "driver"))
		vtr_find(a, VTR_STATUS_FAIL, "See the line driver.",
			"none can be used without a driver");
	else if (vtr_probe_value(&p->self, "devices", 0))
		find_hidden(a, "the driver knows no device");
	else
		vtr_find(a, VTR_STATUS_FAIL, "See the line self-test.",
			"the driver was not started");
}
