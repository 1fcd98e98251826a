/* nvml.c - binds the few functions of NVML that a sample needs, with prototypes of our own.
 *
 * They have been in every driver since R450, and keep their layouts. A function that is missing or
 * refuses costs its value only. The library is loaded with the driver, so it is never linked. */
#include "tracer/counters/nvml.h"

#include "formats/base/memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum {
	NVML_SUCCESS = 0,
	NVML_TEMPERATURE_GPU = 0,
	NVML_CLOCK_SM = 1,
	NVML_CLOCK_MEM = 2,
	TEXT_BYTES = 80 /* NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE and the driver's */
};

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_utilization {
	unsigned gpu, memory;
};

struct vtr_nvml {
	int (*shutdown)(void);
	int (*by_uuid)(const char *uuid, void **gpu);
	int (*memory)(void *gpu, struct nvml_memory *out);
	int (*utilization)(void *gpu, struct nvml_utilization *out);
	int (*power)(void *gpu, unsigned *milliwatts);
	int (*clock)(void *gpu, int type, unsigned *mhz);
	int (*reasons)(void *gpu, unsigned long long *bits);
	int (*temperature)(void *gpu, int sensor, unsigned *celsius);
};

/* The functions by name, in the order in which one replaces a missing other. */
static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define BIND(member, name)                                                                         \
	{                                                                                          \
		name, offsetof(struct vtr_nvml, member)                                            \
	}
	BIND(shutdown, "nvmlShutdown"),
	BIND(by_uuid, "nvmlDeviceGetHandleByUUID"),
	BIND(memory, "nvmlDeviceGetMemoryInfo"),
	BIND(utilization, "nvmlDeviceGetUtilizationRates"),
	BIND(power, "nvmlDeviceGetPowerUsage"),
	BIND(clock, "nvmlDeviceGetClockInfo"),
	BIND(reasons, "nvmlDeviceGetCurrentClocksEventReasons"),
	BIND(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons"), /* its name before R535 */
	BIND(temperature, "nvmlDeviceGetTemperature"),
#undef BIND
};

static void bind(struct vtr_nvml *n, void *library)
{
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		char *member = (char *)n + functions[i].offset;
		void *bound, *found;

		memcpy(&bound, member, sizeof(bound));
		found = bound ? bound : dlsym(library, functions[i].name);
		memcpy(member, &found, sizeof(found));
	}
}

static int start(void *library, char *words, size_t size)
{
	int (*init)(void);
	const char *(*error_text)(int);
	void *found = dlsym(library, "nvmlInit_v2");
	int rc;

	memcpy(&init, &found, sizeof(init));
	if (!init) {
		snprintf(words, size, "unavailable: libnvidia-ml.so.1 has no nvmlInit_v2");
		return -1;
	}
	rc = init();
	if (rc == NVML_SUCCESS)
		return 0;
	found = dlsym(library, "nvmlErrorString");
	memcpy(&error_text, &found, sizeof(error_text));
	snprintf(words, size, "unavailable: nvmlInit_v2 gave error %d%s%.100s", rc,
		error_text ? ": " : "", error_text ? error_text(rc) : "");
	return -1;
}

static void read_text(void *library, const char *name, char *out)
{
	int (*read)(char *, unsigned);
	void *found = dlsym(library, name);

	memcpy(&read, &found, sizeof(read));
	if (!read || read(out, TEXT_BYTES))
		snprintf(out, TEXT_BYTES, "unknown");
	out[TEXT_BYTES - 1] = '\0';
}

struct vtr_nvml *vtr_nvml_open(char *words, size_t size)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	char version[TEXT_BYTES] = "", driver[TEXT_BYTES] = "";
	struct vtr_nvml *n;
	const char *why;

	if (!library) {
		why = dlerror();
		snprintf(words, size, "unavailable: %.200s",
			why ? why : "libnvidia-ml.so.1 cannot be loaded");
		return NULL;
	}
	if (start(library, words, size))
		return NULL;
	n = vpt_calloc(1, sizeof(*n));
	if (!n) {
		snprintf(words, size, "unavailable: no memory");
		return NULL;
	}
	bind(n, library);
	read_text(library, "nvmlSystemGetNVMLVersion", version);
	read_text(library, "nvmlSystemGetDriverVersion", driver);
	snprintf(words, size, "%s, driver %s", version, driver);
	return n;
}

void *vtr_nvml_find(const struct vtr_nvml *n, const uint8_t uuid[16])
{
	static const char *const prefixes[] = {"GPU", "MIG"};
	const uint8_t *u = uuid;
	char text[48];
	size_t i;

	for (i = 0; n->by_uuid && i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		void *gpu = NULL;

		snprintf(text, sizeof(text),
			"%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			prefixes[i], u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9],
			u[10], u[11], u[12], u[13], u[14], u[15]);
		if (!n->by_uuid(text, &gpu) && gpu)
			return gpu;
	}
	return NULL;
}

static void put(struct vtr_gpu_values *out, enum vtr_gpu_quantity quantity, double value)
{
	out->known |= 1u << quantity;
	out->value[quantity] = value;
}

static int wants(unsigned wanted, enum vtr_gpu_quantity quantity)
{
	return wanted >> quantity & 1;
}

static void read_clocks(
	const struct vtr_nvml *n, void *gpu, unsigned wanted, struct vtr_gpu_values *out)
{
	unsigned long long bits = 0;
	unsigned mhz = 0;

	if (wants(wanted, VTR_GPU_SM_CLOCK) && n->clock && !n->clock(gpu, NVML_CLOCK_SM, &mhz))
		put(out, VTR_GPU_SM_CLOCK, mhz);
	if (wants(wanted, VTR_GPU_MEMORY_CLOCK) && n->clock && !n->clock(gpu, NVML_CLOCK_MEM, &mhz))
		put(out, VTR_GPU_MEMORY_CLOCK, mhz);
	if (wants(wanted, VTR_GPU_CLOCK_REASONS) && n->reasons && !n->reasons(gpu, &bits))
		put(out, VTR_GPU_CLOCK_REASONS, (double)bits);
}

void vtr_nvml_read(const struct vtr_nvml *n, void *gpu, unsigned wanted, struct vtr_gpu_values *out)
{
	struct nvml_utilization utilization = {0, 0};
	struct nvml_memory memory = {0, 0, 0};
	unsigned number = 0;

	out->known = 0;
	if (wants(wanted, VTR_GPU_MEMORY_USED) && n->memory && !n->memory(gpu, &memory)) {
		put(out, VTR_GPU_MEMORY_USED, (double)memory.used);
		put(out, VTR_GPU_MEMORY_TOTAL, (double)memory.total);
	}
	if (wants(wanted, VTR_GPU_UTILIZATION) && n->utilization &&
		!n->utilization(gpu, &utilization)) {
		put(out, VTR_GPU_UTILIZATION, utilization.gpu);
		put(out, VTR_GPU_MEMORY_UTILIZATION, utilization.memory);
	}
	if (wants(wanted, VTR_GPU_POWER) && n->power && !n->power(gpu, &number))
		put(out, VTR_GPU_POWER, (double)number / 1e3);
	read_clocks(n, gpu, wanted, out);
	if (wants(wanted, VTR_GPU_TEMPERATURE) && n->temperature &&
		!n->temperature(gpu, NVML_TEMPERATURE_GPU, &number))
		put(out, VTR_GPU_TEMPERATURE, number);
}

void vtr_nvml_close(struct vtr_nvml *n)
{
	if (n && n->shutdown)
		n->shutdown();
	vpt_free(n);
}
