/* driver.c - loads libcuda.so.1 and asks only for its version, before CUPTI is called.
 *
 * A libcupti may rely on a working driver: that of CUDA 13.2 looks for one in each function, and
 * without an answer it recurses until the stack overflows. Neither 13.1 nor 13.3 does. */
#include "tracer/loaded/driver.h"

#include "tracer/guest/environment.h"
#include "tracer/loaded/loaded_symbols.h"
#include "tracer/vptrace.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libcuda.so.1"

enum { STUB_LIBRARY = 34 };

static const char *path_of(void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_fname ? info.dli_fname : LIBRARY;
}

int vtr_driver_load(int *version, struct vpt_err *err)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *address;
	int (*version_of)(int *);
	const char *reason;
	int rc;

	*version = 0;
	if (!handle) {
		reason = dlerror();
		return vpt_fail(err, VPTRACE_ENOCUPTI, "no CUDA driver: %s",
			reason ? reason : LIBRARY " cannot be loaded");
	}
	address = dlsym(handle, "cuDriverGetVersion");
	if (!address)
		return vpt_fail(err, VPTRACE_ENOCUPTI,
			"no CUDA driver: " LIBRARY " has no function cuDriverGetVersion");
	memcpy(&version_of, &address, sizeof(address));
	rc = version_of(version);
	if (!rc && *version > 0)
		return VPT_OK;
	*version = 0;
	if (rc == STUB_LIBRARY)
		return vpt_fail(err, VPTRACE_ENOCUPTI,
			"no CUDA driver: %.256s is the CUDA toolkit's stub for linking (error 34). "
			"Install the NVIDIA driver, or remove the stub's folder from "
			"LD_LIBRARY_PATH",
			path_of(address));
	return vpt_fail(err, VPTRACE_ENOCUPTI,
		"the CUDA driver %.256s does not work: cuDriverGetVersion returned error %d",
		path_of(address), rc);
}

void *vtr_driver_symbol(const char *name)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);

	return handle ? dlsym(handle, name) : NULL;
}

int vtr_driver_serves_cupti(void)
{
	static const char *const names[] = {"cuDeviceGet", "cuDriverGetVersion",
		"cuDeviceGetPCIBusId", "cuDeviceGetAttribute", "cuDeviceGetCount"};
	static const uint8_t tools[16] = {0x7c, 0xb6, 0x3f, 0x9b, 0x9c, 0xa4, 0x8e, 0x42, 0xa4,
		0x84, 0xbe, 0xb6, 0x6e, 0x6a, 0xed, 0x7f};
	void *address = vtr_driver_symbol("cuGetExportTable");
	int (*table_of)(const void **, const uint8_t *);
	const void *table = NULL;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!vtr_driver_symbol(names[i]))
			return 0;
	memcpy(&table_of, &address, sizeof(table_of));
	return table_of && !table_of(&table, tools) && table;
}

int vtr_driver_gpus(void)
{
	void *address = vtr_driver_symbol("cuDeviceGetCount");
	int (*count_of)(int *);
	int count = 0;

	memcpy(&count_of, &address, sizeof(count_of));
	return count_of && !count_of(&count) && count > 0 ? count : 0;
}

int vtr_driver_uuid(int device, uint8_t uuid[16])
{
	void *handle = vtr_driver_symbol("cuDeviceGet");
	void *newer = vtr_driver_symbol("cuDeviceGetUuid_v2");
	void *address = newer ? newer : vtr_driver_symbol("cuDeviceGetUuid");
	int (*device_of)(int *, int), (*uuid_of)(uint8_t *, int);
	int number;

	memcpy(&device_of, &handle, sizeof(device_of));
	memcpy(&uuid_of, &address, sizeof(uuid_of));
	return device_of && uuid_of && !device_of(&number, device) && !uuid_of(uuid, number) ? 0
											     : -1;
}

int vtr_driver_pci(int device, char *out, int size)
{
	uint64_t address = vtr_loaded_symbol("cuDeviceGetPCIBusId");
	int (*address_of)(char *, int, int);

	memcpy(&address_of, &address, sizeof(address_of));
	/* A CUdevice is the GPU's number. */
	if (address_of && !address_of(out, size, device))
		return 0;
	out[0] = '\0';
	return -1;
}

const char *vtr_driver_words(char *out, size_t size)
{
	void *address = vtr_driver_symbol("cuDriverGetVersion");
	int (*version_of)(int *);
	int version = 0;

	memcpy(&version_of, &address, sizeof(address));
	if (!version_of)
		snprintf(out, size, "no CUDA driver (" LIBRARY ") in this process");
	else if (version_of(&version))
		snprintf(out, size, "a CUDA driver of unknown version");
	else
		snprintf(out, size, "CUDA driver %d.%d", version / 1000, version % 1000 / 10);
	return out;
}

const char *vtr_driver_hint(void)
{
	const char *visible = vtr_environment_trusted() ? getenv("CUDA_VISIBLE_DEVICES") : NULL;

	return visible && (!*visible || *visible == '-')
		       ? "; CUDA_VISIBLE_DEVICES hides all GPUs from this process"
		       : "";
}
