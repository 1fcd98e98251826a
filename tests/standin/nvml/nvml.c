/* nvml.c - a stand-in for libnvidia-ml.so.1: what the tracer's sampler calls, with scripted values.
 * Nothing of it is measured.
 *
 * VPT_STANDIN_NVML="[DEVICE.]NAME=VALUE[@MS],VALUE@MS...;..." gives values by the simulation's time
 * in ms since STANDIN_EPOCH_NS: on straight lines between the points, constant before the first and
 * after the last; those of `reasons` in steps. Memory in use is the simulated device's unless it is
 * scripted. A function's value that has no default and no script is not supported. */
#include "tests/standin/cuda/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SUCCESS = 0,
	INVALID_ARGUMENT = 2,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	DRIVER_NOT_LOADED = 9,
	INSUFFICIENT_SIZE = 7,
	DEVICES_MAX = 16,
	CLOCK_SM = 1,
	CLOCK_MEMORY = 2
};

/* What handles point to. */
static struct nvml_device {
	int number;
} devices[DEVICES_MAX];

/* ---- faults ---- */

/* The n-th call of NVML, from its start on, never returns. */
static void maybe_hang(void)
{
	static _Atomic uint64_t calls;
	uint64_t n = 1;

	if (!sim_fault("nvml-hang", &n) || ++calls < n)
		return;
	for (;;)
		pause();
}

/* Whether VPT_STANDIN_FAULTS has nvml-no=NAME: the function of that value refuses. */
static int refuses(const char *name)
{
	const char *at = getenv("VPT_STANDIN_FAULTS");
	char word[64];

	snprintf(word, sizeof(word), "nvml-no=%s", name);
	at = at ? strstr(at, word) : NULL;
	return at && strchr(",:", at[strlen(word)]) != NULL;
}

/* ---- the script ---- */

/* The points of NAME for a device: its own, else those of all devices. NULL: not scripted. */
static const char *find_points(const char *name, int device)
{
	const char *at = getenv("VPT_STANDIN_NVML"), *general = NULL;
	char own[64];

	snprintf(own, sizeof(own), "%d.%s=", device, name);
	for (; at && *at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL) {
		if (!strncmp(at, own, strlen(own)))
			return at + strlen(own);
		if (!strncmp(at, name, strlen(name)) && at[strlen(name)] == '=')
			general = at + strlen(name) + 1;
	}
	return general;
}

static double value_at(const char *points, double ms, int in_steps)
{
	double value = 0, before = 0, from = 0, at;
	int is_first = 1;
	char *end;

	for (;; points = end + 1, is_first = 0) {
		before = value;
		value = strtod(points, &end); /* reads 0x4 too */
		at = *end == '@' ? strtod(end + 1, &end) : 0;
		if (ms < at)
			return is_first   ? value
			       : in_steps ? before
					  : before + (value - before) * (ms - from) / (at - from);
		from = at;
		if (*end != ',')
			return value;
	}
}

/* 0, or NVML's error; `fallback` below 0: there is none. */
static int give(void *gpu, const char *name, double fallback, double *out)
{
	const struct nvml_device *d = gpu;
	double ms = (double)(standin_now() - STANDIN_EPOCH_NS) / 1e6;
	const char *points;

	maybe_hang();
	if (!d || d->number >= sim_device_count())
		return INVALID_ARGUMENT;
	points = find_points(name, d->number);
	if (refuses(name) || (!points && fallback < 0))
		return NOT_SUPPORTED;
	*out = points ? value_at(points, ms, !strcmp(name, "reasons")) : fallback;
	return SUCCESS;
}

static int give_whole(void *gpu, const char *name, double scale, double fallback, unsigned *out)
{
	double value = 0;
	int error = give(gpu, name, fallback, &value);

	if (!error)
		*out = (unsigned)lround(value * scale);
	return error;
}

/* ---- the library ---- */

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int error);
int nvmlSystemGetNVMLVersion(char *text, unsigned size);
int nvmlSystemGetDriverVersion(char *text, unsigned size);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **gpu);
int nvmlDeviceGetMemoryInfo(void *gpu, unsigned long long *total_free_used);
int nvmlDeviceGetUtilizationRates(void *gpu, unsigned *gpu_memory);
int nvmlDeviceGetPowerUsage(void *gpu, unsigned *milliwatts);
int nvmlDeviceGetClockInfo(void *gpu, int type, unsigned *mhz);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *gpu, unsigned long long *bits);
int nvmlDeviceGetTemperature(void *gpu, int sensor, unsigned *celsius);

int nvmlInit_v2(void)
{
	uint64_t error = DRIVER_NOT_LOADED;

	maybe_hang();
	return sim_fault("nvml-init", &error) ? (int)error : SUCCESS;
}

int nvmlShutdown(void)
{
	return SUCCESS;
}

const char *nvmlErrorString(int error)
{
	return error == DRIVER_NOT_LOADED ? "Driver Not Loaded" : "Unknown Error";
}

static int give_text(char *out, unsigned size, const char *text)
{
	return snprintf(out, size, "%s", text) < (int)size ? SUCCESS : INSUFFICIENT_SIZE;
}

int nvmlSystemGetNVMLVersion(char *text, unsigned size)
{
	return give_text(text, size, "simulated");
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
	return give_text(text, size, "simulated");
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **gpu)
{
	unsigned char u[16];
	char text[64];

	maybe_hang();
	for (int i = 0; !sim_device_uuid(u, i); i++) {
		snprintf(text, sizeof(text),
			"GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11],
			u[12], u[13], u[14], u[15]);
		if (strcmp(text, uuid))
			continue;
		devices[i].number = i;
		*gpu = &devices[i];
		return refuses("device") ? NOT_FOUND : SUCCESS;
	}
	return NOT_FOUND;
}

int nvmlDeviceGetMemoryInfo(void *gpu, unsigned long long *total_free_used)
{
	double used, total;
	uint64_t allocated;
	int error;

	sim_lock();
	allocated = sim_memory_used(((struct nvml_device *)gpu)->number);
	sim_unlock();
	error = give(gpu, "memory", (double)allocated, &used);
	if (error || give(gpu, "memory_total", (double)SIM_DEVICE_BYTES, &total))
		return error ? error : NOT_SUPPORTED;
	total_free_used[0] = (unsigned long long)total;
	total_free_used[1] = (unsigned long long)(total - used);
	total_free_used[2] = (unsigned long long)used;
	return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(void *gpu, unsigned *gpu_memory)
{
	int error = give_whole(gpu, "utilization", 1, -1, &gpu_memory[0]);

	return error ? error : give_whole(gpu, "memory_utilization", 1, 0, &gpu_memory[1]);
}

int nvmlDeviceGetPowerUsage(void *gpu, unsigned *milliwatts)
{
	return give_whole(gpu, "power", 1000, -1, milliwatts);
}

int nvmlDeviceGetClockInfo(void *gpu, int type, unsigned *mhz)
{
	return type == CLOCK_SM       ? give_whole(gpu, "sm_clock", 1, -1, mhz)
	       : type == CLOCK_MEMORY ? give_whole(gpu, "memory_clock", 1, -1, mhz)
				      : NOT_SUPPORTED;
}

/* By its name before R535 alone, so that the tracer's second choice is tried. */
int nvmlDeviceGetCurrentClocksThrottleReasons(void *gpu, unsigned long long *bits)
{
	double value = 0;
	int error = give(gpu, "reasons", -1, &value);

	if (!error)
		*bits = (unsigned long long)value;
	return error;
}

/* The value that the sampler reads last. */
int nvmlDeviceGetTemperature(void *gpu, int sensor, unsigned *celsius)
{
	const struct nvml_device *d = gpu;
	int error = sensor ? INVALID_ARGUMENT : give_whole(gpu, "temperature", 1, -1, celsius);

	sim_lock();
	sim_counts()->gpu_rounds += d && d->number == sim_device_count() - 1;
	sim_unlock();
	return error;
}
