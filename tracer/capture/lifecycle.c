/* lifecycle.c - how the library enters a process: by dlopen, by the injection of the driver or of NVTX, by fork.
 *
 * The constructor only prepares memory and points NVTX at us, so that ranges of libraries that
 * initialise their NVTX later reach us; it starts nothing. The library is linked with -z nodelete:
 * CUPTI and NVTX keep pointers into it. */
#include "tracer/capture/session.h"

#include "tracer/guest/environment.h"
#include "tracer/nvtx/nvtx_injection.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"
#include "formats/base/text.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define INJECTION __attribute__((visibility("default")))

int InitializeInjection(void);

static int asked_by_nvtx; /* the environment named us before our constructor ran */
static atomic_int nvtx_seen;

static const char *own_path(void)
{
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)&own_path, &info) || !info.dli_fname)
		return NULL;
	return strncmp(vpt_file_name(info.dli_fname), "libvptrace", 10) ? NULL : info.dli_fname;
}

static void point_nvtx_here(void)
{
	const char *path = own_path(), *set = getenv("NVTX_INJECTION64_PATH");

	if (!path || !vtr_environment_trusted())
		return;
	/* A program started by this process inherits the variable, but nobody asked to trace it. */
	asked_by_nvtx = set && strstr(set, "libvptrace") && !getenv("VPTRACE_NVTX_OWN");
	if (set)
		return;
	vtr_environment_default("VPTRACE_NVTX_OWN", "1");
	vtr_environment_default("NVTX_INJECTION64_PATH", path);
}

/* NVTX has found us, for one library more. Starts a capture of ranges if the user set NVTX_INJECTION64_PATH; not if our
 * own constructor set it. Any thread. */
static void come_with_nvtx(void)
{
	if (asked_by_nvtx && !atomic_exchange(&nvtx_seen, 1))
		vtr_session_start(NULL, VTR_START_RANGES);
}

__attribute__((constructor)) static void come(void)
{
	vtr_names_init();
	vtr_threads_init();
	pthread_atfork(NULL, NULL, vtr_session_forked);
	point_nvtx_here();
	vtr_nvtx_when_attached(come_with_nvtx);
}

/* The driver calls this inside cuInit() when CUDA_INJECTION64_PATH names us. Always 1: a 0 would
 * make cuInit() fail. */
INJECTION int InitializeInjection(void)
{
	vtr_session_start(NULL, VTR_START_CUDA);
	return 1;
}
