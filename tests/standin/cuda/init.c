/* init.c - cuInit: once a process, and with it the library that CUDA_INJECTION64_PATH names.
 *
 * The injected library's InitializeInjection() runs without the simulation's lock, because it
 * starts threads and may wait for them; other threads that come to CUDA meanwhile wait here. The
 * thread itself may come again. */
#include "tests/standin/cuda/device_state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t init_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static atomic_int done;
static int begun, result;

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
	void *found = library ? dlsym(library, "InitializeInjection") : NULL;
	int (*start)(void);

	memcpy(&start, &found, sizeof(start));
	if (start)
		start();
}

int sim_is_up(void)
{
	return atomic_load_explicit(&done, memory_order_acquire) && !result;
}

int sim_init(void)
{
	if (atomic_load_explicit(&done, memory_order_acquire))
		return result;
	pthread_mutex_lock(&init_lock);
	if (!begun) {
		begun = 1;
		result = sim_fault("stub-driver", NULL)                ? CUDA_ERROR_STUB_LIBRARY
			 : sim_driver_missing() || !sim_device_count() ? CUDA_ERROR_NO_DEVICE
								       : 0;
		if (!result) {
			inject();
			sim_lock();
			sim_tell(&(struct sim_resource){.id = SIM_INIT_FINISHED});
			sim_unlock();
		}
		atomic_store_explicit(&done, 1, memory_order_release);
	}
	pthread_mutex_unlock(&init_lock);
	return result;
}
