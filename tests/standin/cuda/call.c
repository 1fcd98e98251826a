/* call.c - what every API function goes through: the lock, the correlation id, the cost, the
 * watcher.
 *
 * A call is entered and left on one thread with the lock held in between, so calls of all threads
 * happen one after the other, as the shared virtual clock wants it; only real waiting lets others
 * in. */
#include "tests/standin/cuda/clock.h"
#include "tests/standin/cuda/device_state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COST(name) SIM_COST_##name
enum {
#define X(name, ns) COST(name) = ns,
	STANDIN_COSTS(X)
#undef X
		COST(Call) = STANDIN_CALL_NS
};

const struct sim_call_info sim_calls[SIM_CALL_COUNT] = {
#define STANDIN_RUNTIME(function, suffix, cbid, cost, nested)                                      \
	{#function suffix, SIM_RUNTIME, cbid, nested, COST(cost)},
#define STANDIN_DRIVER(function, cbid, cost) {#function, SIM_DRIVER, cbid, 0, COST(cost)},
#define STANDIN_NESTED(function, cbid)       {#function, SIM_DRIVER, cbid, 0, 0},
#include "tests/standin/cuda/calls.def"
};

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static const struct sim_observer *watcher;
static uint64_t due_ns = UINT64_MAX;
static uint32_t next_correlation;
static int correlating;

static struct host_function {
	uint64_t due_ns;
	CUhostFn function;
	void *data;
	struct host_function *next;
} * host_functions;
static atomic_int host_function_count;

void sim_lock(void)
{
	pthread_mutex_lock(&lock);
}

void sim_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void sim_lock_forked(void)
{
	static const pthread_mutex_t fresh = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	memcpy(&lock, &fresh, sizeof(lock));
}

/* Asked for with every record, and a system call each: kept until a fork. */
static __thread uint32_t tid;
static atomic_uint pid;

static void forget_ids(void)
{
	tid = 0;
	atomic_store(&pid, 0);
}

uint32_t sim_tid(void)
{
	if (!tid)
		tid = (uint32_t)syscall(SYS_gettid);
	return tid;
}

uint32_t sim_pid(void)
{
	uint32_t p = atomic_load_explicit(&pid, memory_order_relaxed);

	if (!p) {
		p = (uint32_t)getpid();
		atomic_store(&pid, p);
	}
	return p;
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_ids);
}

void sim_observe(const struct sim_observer *observer)
{
	sim_lock();
	watcher = observer;
	sim_unlock();
}

const struct sim_observer *sim_watcher(void)
{
	return watcher;
}

void sim_due(uint64_t ns)
{
	due_ns = ns;
}

void sim_passed(void)
{
	if (watcher && standin_now() >= due_ns) {
		due_ns = UINT64_MAX;
		watcher->due();
	}
}

void sim_tell(const struct sim_resource *resource)
{
	if (watcher)
		watcher->resource(resource);
}

static uint32_t correlation(void)
{
	if (!correlating) {
		next_correlation = (uint32_t)sim_first_correlation();
		correlating = 1;
	}
	if (!next_correlation) /* CUPTI's word for none */
		next_correlation++;
	return next_correlation++;
}

int sim_enter(struct sim_call *call, enum sim_call_id id)
{
	int error = sim_init();

	if (error)
		return error;
	sim_lock();
	/* A question changes nothing for the calls of others, not even their numbers. */
	*call = (struct sim_call){&sim_calls[id], standin_now(),
		sim_calls[id].cost_ns ? correlation() : 0, sim_tid(), 0};
	if (watcher)
		watcher->enter(call);
	return 0;
}

void sim_spend(struct sim_call *call)
{
	if (call->spent)
		return;
	call->spent = 1;
	if (sim_calls_cost())
		sim_clock_advance(call->info->cost_ns);
}

int sim_leave(struct sim_call *call, int error)
{
	sim_spend(call);
	if (watcher)
		watcher->call(call, standin_now(), error);
	sim_passed();
	sim_unlock();
	if (atomic_load_explicit(&host_function_count, memory_order_relaxed))
		sim_run_host_functions();
	return error;
}

void sim_host_later(uint64_t when_ns, CUhostFn function, void *data)
{
	struct host_function **at = &host_functions, *h = malloc(sizeof(*h));

	if (!h)
		return;
	while (*at && (*at)->due_ns <= when_ns)
		at = &(*at)->next;
	*h = (struct host_function){when_ns, function, data, *at};
	*at = h;
	atomic_fetch_add(&host_function_count, 1);
}

void sim_run_host_functions(void)
{
	for (;;) {
		struct host_function *h;

		sim_lock();
		h = host_functions;
		if (h && h->due_ns > standin_now())
			h = NULL;
		if (h)
			host_functions = h->next;
		sim_unlock();
		if (!h)
			return;
		atomic_fetch_sub(&host_function_count, 1);
		h->function(h->data);
		free(h);
	}
}
