/* nvml_probe.c - what NVML gives of each GPU, through the code that samples it.
 *
 * NVML knows GPUs by the UUIDs that CUDA gives them, so this starts CUDA. */
#include "tracer/counters/nvml.h"
#include "tracer/doctor/probes/patient.h"
#include "tracer/loaded/driver.h"

#include <string.h>

/* Whether CUDA has started, and shows a GPU. What it lacks is another check's matter. */
static int start_cuda(int to)
{
	int (*init)(unsigned), version;
	struct vpt_err err;
	void *address;

	vtr_probe_step(to, "cuInit");
	if (vtr_driver_load(&version, &err))
		return 0;
	address = vtr_driver_symbol("cuInit");
	memcpy(&init, &address, sizeof(address));
	return init && !init(0) && vtr_driver_gpus() > 0;
}

static void say_gpu(int to, const struct vtr_nvml *nvml, int device)
{
	struct vtr_gpu_values values;
	uint8_t uuid[16];
	unsigned known;
	void *gpu;

	vtr_probe_step(to, "nvmlDeviceGetHandleByUUID");
	gpu = vtr_driver_uuid(device, uuid) ? NULL : vtr_nvml_find(nvml, uuid);
	if (!gpu) {
		vtr_probe_say(to, "unknown", "%d", device);
		return;
	}
	vtr_probe_step(to, "the reading of a GPU's values");
	vtr_nvml_read(nvml, gpu, ~0u, &values);
	for (known = 0; values.known; values.known &= values.known - 1)
		known++;
	vtr_probe_say(to, "gpu", "%u of %u values of GPU %d", known, VTR_GPU_QUANTITIES, device);
}

void vtr_probe_nvml(int to, void *patient)
{
	struct vtr_nvml *nvml;
	char words[512];
	int i, count;

	(void)patient;
	vtr_probe_unset();
	if (!start_cuda(to))
		return;
	vtr_probe_step(to, "nvmlInit");
	nvml = vtr_nvml_open(words, sizeof(words));
	vtr_probe_say(to, nvml ? "nvml" : "nvml_error", "%s", words);
	count = nvml ? vtr_driver_gpus() : 0;
	for (i = 0; i < count; i++)
		say_gpu(to, nvml, i);
	vtr_probe_step(to, "nvmlShutdown");
	vtr_nvml_close(nvml);
}
