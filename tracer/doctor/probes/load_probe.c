/* load_probe.c - loads libvptrace.so as a program would, and asks for its version. */
#include "tracer/doctor/probes/patient.h"

#include <dlfcn.h>
#include <string.h>

/* What a program, Python and `vptrace run` need of it. */
static const char *const needed[] = {"vptrace_start", "vptrace_stop", "vptrace_statistics",
	"vptrace_last_error", "vptrace_path", "vptrace_range_push", "vptrace_range_pop",
	"vptrace_step", "InitializeInjection", "InitializeInjectionNvtx2"};

void vtr_probe_load(int to, void *patient)
{
	const struct vtr_patient *p = patient;
	const char *(*version)(void);
	void *library, *address;
	const char *reason;
	size_t i;

	vtr_probe_step(to, "the loading of libvptrace.so");
	library = dlopen(p->library, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		reason = dlerror();
		vtr_probe_say(to, "error", "%s", reason ? reason : p->library);
		return;
	}
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!dlsym(library, needed[i]))
			vtr_probe_say(to, "missing", "%s", needed[i]);
	address = dlsym(library, "vptrace_version");
	memcpy(&version, &address, sizeof(address));
	if (version)
		vtr_probe_say(to, "version", "%s", version());
}
