/* check_nvml.c - whether a capture has counters of the GPU: memory, power, clocks, temperature. It is
 * recorded without them too. */
#include "tracer/doctor/checks/checks.h"

static void find_gpus(const struct vtr_probe *nvml, struct vtr_answer *a)
{
	const char *version = vtr_probe_value(nvml, "nvml", 0), *text;
	unsigned i;

	for (i = 0; (text = vtr_probe_value(nvml, "gpu", i)) != NULL; i++)
		vtr_find(a, VTR_STATUS_OK, NULL, "%s: %s", version, text);
	for (i = 0; (text = vtr_probe_value(nvml, "unknown", i)) != NULL; i++)
		vtr_find(a, VTR_STATUS_WARN,
			"Compare nvidia-smi -L in the same container: it may show other GPUs than "
			"CUDA.",
			"%s: it does not know GPU %s by the UUID that CUDA gives: no counters of "
			"it",
			version, text);
}

void vtr_check_nvml(const struct vtr_patient *p, struct vtr_answer *a)
{
	const char *error = vtr_probe_value(&p->nvml, "nvml_error", 0);
	char failure[512];

	if (!vtr_probe_value(&p->self, "device", 0)) {
		vtr_find(a, VTR_STATUS_WARN, "See the line gpu.",
			"not asked: there is no GPU to ask it about");
		return;
	}
	find_gpus(&p->nvml, a);
	if (error)
		vtr_find(a, VTR_STATUS_WARN,
			"nvidia-smi needs the same library: if it fails too, install that of the "
			"driver's version. In a container: NVIDIA_DRIVER_CAPABILITIES=compute,"
			"utility.",
			"no counters of the GPU: %s", error);
	else if (vtr_probe_failed(&p->nvml, failure, sizeof(failure)))
		vtr_find(a, VTR_STATUS_WARN,
			"If nvidia-smi hangs as well, restart the machine. Until then set "
			"VPTRACE_COUNTERS=off.",
			"no counters of the GPU: %s", failure);
}
