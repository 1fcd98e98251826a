/* self_probe.c - the self-test: a capture by libvptrace.so of a few operations whose number is
 * known.
 *
 * It knows CUDA by its driver API alone, through dlopen, and NVTX by what NVTX itself does: it
 * loads the library that NVTX_INJECTION64_PATH names and hands it tables of slots. */
#include "formats/base/count.h"
#include "tracer/doctor/probes/patient.h"
#include "tracer/nvtx/nvtx_abi.h"
#include "tracer/vptrace.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 16, ROUNDS = 4 };

/* One thread, which does nothing. An old target suits the older GPUs, a newer one a driver that has
 * dropped it. */
#define PTX(target)                                                                                \
	".version 6.4\n.target " target "\n.address_size 64\n"                                     \
	".visible .entry vptrace_doctor(.param .u64 unused) { ret; }\n"
static const char *const ptx[] = {PTX("sm_52"), PTX("sm_75")};

typedef unsigned long long device_pointer;

/* X(field, symbol, arguments) */
#define DRIVER(X)                                                                                  \
	X(init, cuInit, (unsigned))                                                                \
	X(error_name, cuGetErrorName, (int, const char **))                                        \
	X(count, cuDeviceGetCount, (int *))                                                        \
	X(device, cuDeviceGet, (int *, int))                                                       \
	X(name, cuDeviceGetName, (char *, int, int))                                               \
	X(attribute, cuDeviceGetAttribute, (int *, int, int))                                      \
	X(retain, cuDevicePrimaryCtxRetain, (void **, int))                                        \
	X(release, cuDevicePrimaryCtxRelease_v2, (int))                                            \
	X(set_current, cuCtxSetCurrent, (void *))                                                  \
	X(synchronize, cuCtxSynchronize, (void))                                                   \
	X(allocate, cuMemAlloc_v2, (device_pointer *, size_t))                                     \
	X(release_memory, cuMemFree_v2, (device_pointer))                                          \
	X(stream_create, cuStreamCreate, (void **, unsigned))                                      \
	X(fill, cuMemsetD8Async, (device_pointer, unsigned char, size_t, void *))                  \
	X(to_device, cuMemcpyHtoDAsync_v2, (device_pointer, const void *, size_t, void *))         \
	X(to_host, cuMemcpyDtoHAsync_v2, (void *, device_pointer, size_t, void *))                 \
	X(load_module, cuModuleLoadData, (void **, const void *))                                  \
	X(function, cuModuleGetFunction, (void **, void *, const char *))                          \
	X(launch, cuLaunchKernel,                                                                  \
		(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
			void *, void **, void **))

struct driver {
#define FIELD(field, symbol, arguments) int(*field) arguments;
	DRIVER(FIELD)
#undef FIELD
};

enum { COMPUTE_MAJOR = 75, COMPUTE_MINOR = 76 }; /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_* */

struct tracer {
	int (*start)(const struct vptrace_options *);
	int (*stop)(struct vptrace_stats *);
	const char *(*last_error)(void);
	const char *(*path)(void);
	int (*push)(const char *);
	int (*pop)(void);
};

struct self {
	int to;
	struct driver cuda;
	struct tracer tracer;
	int has_cuda;
	void *context, *stream;
	int device;
};

/* ---- the driver ---- */

static int bind_driver(struct driver *d)
{
	void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *address;

	if (!handle)
		return 0;
#define BIND(field, symbol, arguments)                                                             \
	address = dlsym(handle, #symbol);                                                          \
	memcpy(&d->field, &address, sizeof(address));                                              \
	if (!address)                                                                              \
		return 0;
	DRIVER(BIND)
#undef BIND
	return 1;
}

/* Says a failure of the driver; returns whether it was one. */
static int failed(struct self *s, const char *function, int rc)
{
	const char *name = NULL;

	if (!rc)
		return 0;
	if (s->cuda.error_name(rc, &name) || !name)
		name = "unknown";
	vtr_probe_say(s->to, "cuda_error", "%s gave error %d (%s)", function, rc, name);
	return 1;
}

/* Names the step, takes it, and ends the function with 0 if it fails. */
#define STEP(function, call)                                                                       \
	do {                                                                                       \
		vtr_probe_step(s->to, function);                                                   \
		if (failed(s, function, s->cuda.call))                                             \
			return 0;                                                                  \
	} while (0)

static int start_cuda(struct self *s)
{
	int count = 0, i;

	STEP("cuInit", init(0));
	STEP("cuDeviceGetCount", count(&count));
	vtr_probe_say(s->to, "devices", "%d", count);
	for (i = 0; i < count; i++) {
		int device = 0, major = 0, minor = 0;
		char name[256] = "";

		STEP("cuDeviceGet", device(&device, i));
		STEP("cuDeviceGetName", name(name, (int)sizeof(name) - 1, device));
		STEP("cuDeviceGetAttribute", attribute(&major, COMPUTE_MAJOR, device));
		STEP("cuDeviceGetAttribute", attribute(&minor, COMPUTE_MINOR, device));
		vtr_probe_say(s->to, "device", "%s, compute capability %d.%d", name, major, minor);
		if (!i)
			s->device = device;
	}
	return count > 0;
}

/* ---- work ---- */

static int launch_kernels(struct self *s)
{
	void *module, *function;
	uint64_t unused = 0;
	void *arguments[] = {&unused};
	int i, rc;

	vtr_probe_step(s->to, "cuModuleLoadData");
	rc = s->cuda.load_module(&module, ptx[0]);
	if (rc)
		rc = s->cuda.load_module(&module, ptx[1]);
	if (rc) {
		vtr_probe_say(s->to, "no_kernels", "cuModuleLoadData gave error %d", rc);
		return 1;
	}
	STEP("cuModuleGetFunction", function(&function, module, "vptrace_doctor"));
	for (i = 0; i < VTR_SELF_KERNELS; i++)
		STEP("cuLaunchKernel",
			launch(function, 1, 1, 1, 1, 1, 1, 0, s->stream, arguments, NULL));
	vtr_probe_say(s->to, "kernels", "%d", VTR_SELF_KERNELS);
	return 1;
}

static int launch_copies(struct self *s)
{
	static unsigned char bytes[BYTES];
	device_pointer memory;
	int i;

	STEP("cuMemAlloc", allocate(&memory, BYTES));
	for (i = 0; i < ROUNDS; i++) {
		STEP("cuMemsetD8Async", fill(memory, 1, BYTES, s->stream));
		STEP("cuMemcpyHtoDAsync", to_device(memory, bytes, BYTES, s->stream));
		STEP("cuMemcpyDtoHAsync", to_host(bytes, memory, BYTES, s->stream));
	}
	STEP("cuCtxSynchronize", synchronize());
	STEP("cuMemFree", release_memory(memory));
	vtr_probe_say(s->to, "copies", "%d", 3 * ROUNDS);
	return 1;
}

static int work(struct self *s)
{
	STEP("cuDevicePrimaryCtxRetain", retain(&s->context, s->device));
	STEP("cuCtxSetCurrent", set_current(s->context));
	STEP("cuStreamCreate", stream_create(&s->stream, 0));
	if (!launch_kernels(s) || !launch_copies(s))
		return 0;
	STEP("cuCtxSynchronize", synchronize());
	return 1;
}

/* ---- ranges ---- */

static vtr_nvtx_function slots[VTR_NVTX_CORE2_COUNT];
static vtr_nvtx_function *tables[VTR_NVTX_MODULES][VTR_NVTX_CORE2_COUNT];
static vtr_nvtx_function core[VTR_NVTX_CORE_COUNT];

static int give_module(int module, vtr_nvtx_function ***table, unsigned *count)
{
	unsigned i;

	if (module != VTR_NVTX_CORE && module != VTR_NVTX_CORE2)
		return 0;
	*count = module == VTR_NVTX_CORE ? VTR_NVTX_CORE_COUNT : VTR_NVTX_CORE2_COUNT;
	for (i = 1; i < *count; i++)
		tables[module][i] = module == VTR_NVTX_CORE ? &core[i] : &slots[i];
	*table = tables[module];
	return 1;
}

static const void *give_table(uint32_t table)
{
	static const struct vtr_nvtx_callbacks callbacks = {sizeof(callbacks), give_module};

	return table == VTR_NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

/* As NVTX does at a library's first call. */
static int attach_nvtx(struct self *s, int (**push)(const char *), int (**pop)(void))
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	int (*attach)(vtr_nvtx_get_table);
	void *handle, *address;

	vtr_probe_step(s->to, "the loading of NVTX's injection");
	handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	address = handle ? dlsym(handle, "InitializeInjectionNvtx2") : NULL;
	memcpy(&attach, &address, sizeof(address));
	if (!attach || !attach(give_table))
		return 0;
	*push = (int (*)(const char *))core[VTR_NVTX_PUSH_A];
	*pop = (int (*)(void))core[VTR_NVTX_POP];
	return *push && *pop;
}

static void make_ranges(struct self *s)
{
	int (*push)(const char *), (*pop)(void);
	int attached = attach_nvtx(s, &push, &pop), i;

	for (i = 0; i < VTR_SELF_RANGES / 2; i++) {
		s->tracer.push(VTR_SELF_RANGE);
		s->tracer.pop();
		if (!attached)
			continue;
		push(VTR_SELF_NVTX);
		pop();
	}
	vtr_probe_say(s->to, "nvtx_attached", "%d", attached);
}

/* ---- the capture ---- */

static int bind_tracer(struct self *s, const char *path)
{
	static const struct {
		const char *name;
		size_t at;
	} names[] = {{"vptrace_start", offsetof(struct tracer, start)},
		{"vptrace_stop", offsetof(struct tracer, stop)},
		{"vptrace_last_error", offsetof(struct tracer, last_error)},
		{"vptrace_path", offsetof(struct tracer, path)},
		{"vptrace_range_push", offsetof(struct tracer, push)},
		{"vptrace_range_pop", offsetof(struct tracer, pop)}};
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL), *address;
	size_t i;

	for (i = 0; handle && i < sizeof(names) / sizeof(names[0]); i++) {
		address = dlsym(handle, names[i].name);
		memcpy((char *)&s->tracer + names[i].at, &address, sizeof(address));
		if (!address)
			return 0;
	}
	return handle != NULL;
}

static void say_end(struct self *s, int rc, const struct vptrace_stats *stats)
{
	vtr_probe_say(s->to, "stop", "%d", rc);
	if (rc)
		vtr_probe_say(s->to, "stop_error", "%s", s->tracer.last_error());
	vtr_probe_say(s->to, "dropped", "%llu",
		(unsigned long long)(stats->dropped + stats->cupti_dropped));
	vtr_probe_say(s->to, "written", "%llu", (unsigned long long)stats->written);
	vtr_probe_say(s->to, "unfinished", "%llu", (unsigned long long)stats->unfinished);
	vtr_probe_say(s->to, "path", "%s", s->tracer.path());
}

void vtr_probe_unset(void)
{
	static const char *const kept[] = {
		"VPTRACE_LIBCUPTI", "VPTRACE_MEMORY", "VPTRACE_DEVICE_BUFFERS"};
	static const char *const others[] = {"CUDA_INJECTION64_PATH", "VPTRACE_NVTX_CHAIN",
		"VPTRACE_NVTX_OWN", "VPTRACE_LIST", "VPTRACE_RING_SOCKET"};
	size_t i, k;

	for (i = 0; i < vtr_options_count(); i++) {
		for (k = 0; k < COUNT(kept) && strcmp(kept[k], vtr_options_variable(i)) != 0; k++)
			;
		if (k == COUNT(kept))
			unsetenv(vtr_options_variable(i));
	}
	for (i = 0; i < COUNT(others); i++)
		unsetenv(others[i]);
}

static void set_environment(const struct vtr_patient *p)
{
	vtr_probe_unset();
	setenv("VPTRACE_OUTPUT", p->capture, 1);
	setenv("NVTX_INJECTION64_PATH", p->library, 1);
}

void vtr_probe_self(int to, void *patient)
{
	const struct vtr_patient *p = patient;
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	static struct self self;
	struct self *s = &self;
	int rc;

	s->to = to;
	set_environment(p);
	vtr_probe_step(to, "the loading of libvptrace.so");
	if (!bind_tracer(s, p->library))
		return;
	vtr_probe_step(to, "the loading of libcuda.so.1");
	s->has_cuda = bind_driver(&s->cuda) && start_cuda(s);
	vtr_probe_step(to, "vptrace_start");
	rc = s->tracer.start(NULL);
	vtr_probe_say(to, "start", "%d", rc);
	if (rc)
		vtr_probe_say(to, "start_error", "%s", s->tracer.last_error());
	if (s->has_cuda)
		work(s);
	make_ranges(s);
	vtr_probe_step(to, "vptrace_stop");
	rc = s->tracer.stop(&stats);
	say_end(s, rc, &stats);
	if (s->context) {
		vtr_probe_step(to, "cuDevicePrimaryCtxRelease");
		s->cuda.release(s->device);
	}
}
