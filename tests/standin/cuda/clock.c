/* clock.c - the simulated time, and CLOCK_REALTIME of the whole process.
 *
 * Virtual time is one number that only goes forward under the simulation's lock; readers need no
 * lock. clock_gettime() is exported, so every caller in a program that is linked against libcuda or
 * libcudart ahead of libc sees it; the libc's own function is reached through a handle, because it
 * may stand before or behind this library in the search order. time(), gettimeofday() and
 * timespec_get() are not covered: they show the machine's clock. */
#include "tests/standin/cuda/clock.h"
#include "tests/standin/cuda/device_state.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint64_t virtual_ns = STANDIN_EPOCH_NS; /* until sim_world_local_ns() says more */
static _Atomic int mode;                               /* of time; 0: not decided */
enum { VIRTUAL = 1, REAL, OF_FIRST_THREAD };
static int (*_Atomic libc_gettime)(clockid_t, struct timespec *);

static int time_mode(void)
{
	int m = atomic_load_explicit(&mode, memory_order_relaxed);

	if (!m) {
		const char *setting = getenv("VPT_STANDIN_TIME");

		if (setting && !strcmp(setting, "real"))
			m = REAL;
		else if (setting && !strcmp(setting, "first-thread"))
			m = OF_FIRST_THREAD;
		else
			m = VIRTUAL;
		atomic_store(&mode, m);
	}
	return m;
}

int sim_is_virtual(void)
{
	return time_mode() != REAL;
}

int sim_calls_cost(void)
{
	return time_mode() != OF_FIRST_THREAD || sim_tid() == sim_pid();
}

/* On the clock of all ranks. */
static uint64_t start_ns(void)
{
	int64_t late_ms = 0;

	sim_rank_word("late", &late_ms);
	return late_ms > 0 ? (uint64_t)late_ms * 1000000 : 0;
}

__attribute__((constructor)) static void find_libc(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *found = libc ? dlsym(libc, "clock_gettime") : NULL;
	int (*function)(clockid_t, struct timespec *);

	memcpy(&function, &found, sizeof(function));
	atomic_store(&libc_gettime, function);
	atomic_store(&virtual_ns, sim_world_local_ns(start_ns()));
}

static int real_gettime(clockid_t clock, struct timespec *out)
{
	int (*function)(clockid_t, struct timespec *) = atomic_load(&libc_gettime);

	return function ? function(clock, out) : (int)syscall(SYS_clock_gettime, clock, out);
}

int sim_clock_gettime(clockid_t clock, struct timespec *out)
{
	uint64_t now;

	if (clock != CLOCK_REALTIME || !sim_is_virtual())
		return real_gettime(clock, out);
	now = atomic_load_explicit(&virtual_ns, memory_order_acquire);
	out->tv_sec = (time_t)(now / 1000000000);
	out->tv_nsec = (long)(now % 1000000000);
	return 0;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	return sim_clock_gettime(clock, out);
}

uint64_t standin_now(void)
{
	struct timespec t = {0, 0};

	if (sim_is_virtual())
		return atomic_load_explicit(&virtual_ns, memory_order_acquire);
	real_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void sim_clock_advance(uint64_t ns)
{
	if (!sim_is_virtual())
		return;
	atomic_fetch_add_explicit(&virtual_ns, ns, memory_order_acq_rel);
	sim_passed();
}

void sim_clock_sleep(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		continue;
}

void sim_wait_until(uint64_t ns)
{
	uint64_t now = standin_now();

	if (now >= ns)
		return;
	if (sim_is_virtual()) {
		sim_clock_advance(ns - now);
		return;
	}
	sim_unlock();
	sim_clock_sleep(ns - now);
	sim_lock();
	sim_passed();
}

void standin_work(uint64_t ns)
{
	if (!sim_is_virtual())
		sim_clock_sleep(ns);
	sim_lock();
	sim_clock_advance(ns);
	sim_unlock();
	sim_run_host_functions();
}
