/* check_driver.c - the driver's user part, libcuda.so.1, beside its kernel part. */
#include "tracer/doctor/checks/checks.h"
#include "tracer/guest/system_file.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first driver that any supported libcupti works with. */
enum { OLDEST = 11080 };

#define MODULE_LINE "Kernel Module"

/* "580.65.06" of "NVRM version: NVIDIA UNIX ... Kernel Module  580.65.06  ..."; "" if unknown. */
static void kernel_part(char *out, size_t size)
{
	char text[1024];
	const char *p;
	size_t len;

	out[0] = '\0';
	if (!vtr_system_file("/proc/driver/nvidia/version", text, sizeof(text)))
		return;
	p = strstr(text, MODULE_LINE);
	if (!p)
		return;
	p = strpbrk(p, "0123456789");
	len = p ? strspn(p, "0123456789.") : 0;
	snprintf(out, size, "%.*s", (int)len, p ? p : "");
}

static int has_device_files(void)
{
	glob_t found;
	int rc = glob("/dev/nvidia[0-9]*", 0, NULL, &found);

	globfree(&found);
	return !rc;
}

static const char *remedy_without_driver(const char *kernel)
{
	if (*kernel)
		return "The kernel's part of the driver is loaded, but its libcuda.so.1 is not "
		       "found. In a container: docker run --gpus all, with the NVIDIA Container "
		       "Toolkit on the host. Else install the driver's libraries of that version.";
	return "Install the NVIDIA driver. In a container: install it on the host, and docker run "
	       "--gpus all.";
}

void vtr_check_driver(const struct vtr_patient *p, struct vtr_answer *a)
{
	const char *error = vtr_probe_value(&p->cuda, "driver_error", 0);
	const char *path = vtr_probe_value(&p->cuda, "driver_path", 0);
	int version = (int)vtr_probe_number(&p->cuda, "driver");
	char kernel[64], failure[512];

	kernel_part(kernel, sizeof(kernel));
	if (error) {
		vtr_find_words(a, VTR_STATUS_FAIL, error, remedy_without_driver(kernel));
	} else if (!version) {
		vtr_probe_failed(&p->cuda, failure, sizeof(failure));
		vtr_find(a, VTR_STATUS_FAIL,
			"Install the driver again; nvidia-smi should answer before anything else.",
			"the driver does not answer: %s", failure);
	} else if (version < OLDEST) {
		vtr_find(a, VTR_STATUS_FAIL, "Update the driver to 520 or newer.",
			"CUDA driver %d.%d at %s is older than 11.8, the oldest that CUPTI traces "
			"with here",
			version / 1000, version % 1000 / 10, path ? path : "libcuda.so.1");
	} else {
		vtr_find(a, VTR_STATUS_OK, NULL, "CUDA driver %d.%d%s%s, %s%s", version / 1000,
			version % 1000 / 10, *kernel ? ", NVIDIA " : "", kernel,
			path ? path : "libcuda.so.1",
			vtr_probe_number(&p->cuda, "simulated") ? " (simulated: no GPU)" : "");
	}
	if (*kernel && !has_device_files())
		vtr_find(a, VTR_STATUS_FAIL,
			"In a container: docker run --gpus all. Else run nvidia-modprobe -u -c 0 "
			"as root.",
			"the driver's kernel part %s is loaded, but there is no /dev/nvidia0",
			kernel);
}
