/* cupti_drain.c - contexts and stream captures as reported by callbacks, and the thread that
 * waits. */
#include "tracer/cupti/cupti_parts.h"

#include "tracer/cupti/library/cupti_calls.h"
#include "tracer/cupti/library/own_calls.h"
#include "tracer/loaded/driver.h"
#include "tracer/guest/own_thread.h"
#include "tracer/handover/gate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { CONTEXTS_MAX = 64, CAPTURE_MODE_RELAXED = 2 };

/* The role of a driver call. */
enum role { NOTHING, BEGINS_CAPTURE, ENDS_CAPTURE, WAITS };

static struct {
	uint8_t roles[VTR_CBIDS];
	_Atomic(void *) contexts[CONTEXTS_MAX]; /* created while recording; NULL: free */
	atomic_int captures;                    /* that are open */
	int blind;                              /* not all callbacks could be enabled */
	/* of the one thread */
	atomic_int busy, given_up, result;
	_Atomic(struct vtr_gate *) ended; /* NULL: the wait was given up */
	void *current;                    /* the context of the thread that stops; NULL: none */
	void *waited_for[VTR_OWN_CALLS_MAX];
	int waits;
} all;

static _Thread_local int is_waiter __attribute__((tls_model("initial-exec")));

/* ---- callbacks ---- */

void vtr_drain_on_resource(uint32_t cbid, const struct vtr_resource_data *data)
{
	void *from = NULL, *to = data->context;
	int i;

	if (!data->context)
		return;
	if (cbid == VTR_RESOURCE_CONTEXT_DESTROYED) {
		from = data->context;
		to = NULL;
	} else if (cbid != VTR_RESOURCE_CONTEXT_CREATED) {
		return;
	}
	for (i = 0; i < CONTEXTS_MAX; i++) {
		void *expected = from;

		if (atomic_compare_exchange_strong(&all.contexts[i], &expected, to))
			return;
	}
}

static int failed(const struct vtr_call_data *data)
{
	return data->result && *(const int *)data->result;
}

static void add_captures(int n)
{
	int open = atomic_load(&all.captures);

	/* One that ends may have begun before recording did. */
	while (open + n >= 0 && !atomic_compare_exchange_weak(&all.captures, &open, open + n))
		;
}

void vtr_drain_on_driver(uint32_t cbid, const struct vtr_call_data *data)
{
	switch (cbid < VTR_CBIDS ? all.roles[cbid] : NOTHING) {
	case BEGINS_CAPTURE: /* counted before it begins; uncounted if it failed */
		if (data->site == VTR_SITE_ENTER)
			add_captures(1);
		else if (failed(data))
			add_captures(-1);
		break;
	case ENDS_CAPTURE:
		if (data->site == VTR_SITE_EXIT)
			add_captures(-1);
		break;
	case WAITS: /* before CUPTI has any record of it */
		if (data->site == VTR_SITE_ENTER && is_waiter)
			vtr_own_call_add(data->correlation);
		break;
	default:
		break;
	}
}

/* ---- CUPTI's start ---- */

static enum role role_of(const char *name)
{
	static const struct {
		const char *beginning;
		enum role role;
	} roles[] = {{"cuStreamBeginCapture", BEGINS_CAPTURE},
		{"cuStreamBeginRecapture", BEGINS_CAPTURE}, {"cuStreamEndCapture", ENDS_CAPTURE},
		{"cuCtxSynchronize", WAITS}};
	size_t i;

	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strncmp(name, roles[i].beginning, strlen(roles[i].beginning)))
			return roles[i].role;
	return NOTHING;
}

void vtr_drain_begin(const struct vtr_cupti_functions *fn, void *subscriber)
{
	static const uint32_t resources[] = {
		VTR_RESOURCE_CONTEXT_CREATED, VTR_RESOURCE_CONTEXT_DESTROYED};
	const char *name;
	uint32_t cbid;
	size_t i;

	for (i = 0; i < CONTEXTS_MAX; i++)
		atomic_store(&all.contexts[i], NULL);
	atomic_store(&all.captures, 0);
	all.blind = 0;
	if (!atomic_load(&all.busy)) /* or its call has not returned yet */
		vtr_own_calls_begin();
	for (i = 0; i < sizeof(resources) / sizeof(resources[0]); i++)
		fn->enable_callback(1, subscriber, VTR_DOMAIN_RESOURCE, resources[i]);
	for (cbid = 1; cbid < VTR_CBIDS; cbid++) {
		name = NULL;
		fn->callback_name(VTR_DOMAIN_DRIVER, cbid, &name);
		all.roles[cbid] = (uint8_t)(name ? role_of(name) : NOTHING);
		if (all.roles[cbid] && fn->enable_callback(1, subscriber, VTR_DOMAIN_DRIVER, cbid))
			all.blind = 1;
	}
}

/* ---- the driver ---- */

#define DRIVER_FUNCTIONS(X)                                                                        \
	X(get_current, "cuCtxGetCurrent", (void **))                                               \
	X(push, "cuCtxPushCurrent_v2", (void *))                                                   \
	X(pop, "cuCtxPopCurrent_v2", (void **))                                                    \
	X(synchronize, "cuCtxSynchronize", (void))                                                 \
	X(is_capturing, "cuStreamIsCapturing", (void *, int *))                                    \
	X(devices, "cuDeviceGetCount", (int *))                                                    \
	X(device, "cuDeviceGet", (int *, int))                                                     \
	X(primary_state, "cuDevicePrimaryCtxGetState", (int, unsigned *, int *))                   \
	X(primary_retain, "cuDevicePrimaryCtxRetain", (void **, int))                              \
	X(primary_release, "cuDevicePrimaryCtxRelease_v2", (int))                                  \
	X(exchange_mode, "cuThreadExchangeStreamCaptureMode", (int *))

struct driver {
#define FIELD(field, symbol, arguments) int(*field) arguments;
	DRIVER_FUNCTIONS(FIELD)
#undef FIELD
};

static struct driver driver; /* set once all of it is loaded */

/* 0, or -1 if the process has no driver with all functions. */
static int find_driver(void)
{
	void *address;

#define FIND(field, symbol, arguments)                                                             \
	address = vtr_driver_symbol(symbol);                                                       \
	if (!address)                                                                              \
		return -1;                                                                         \
	memcpy(&driver.field, &address, sizeof(address));
	DRIVER_FUNCTIONS(FIND)
#undef FIND
	return 0;
}

/* ---- the thread ---- */

static void worsen(enum vtr_drained to)
{
	if (atomic_load(&all.result) < (int)to)
		atomic_store(&all.result, (int)to);
}

/* In the current context. A query of the legacy stream fails while a blocking stream is being
 * captured. */
static int capturing(void)
{
	int status = 0;

	return atomic_load(&all.captures) || driver.is_capturing(NULL, &status) || status;
}

static void wait_for_context(void *context)
{
	void *popped;
	int i;

	for (i = 0; i < all.waits; i++)
		if (all.waited_for[i] == context)
			return;
	if (!context || all.waits == VTR_OWN_CALLS_MAX || atomic_load(&all.given_up) ||
		driver.push(context))
		return;
	all.waited_for[all.waits++] = context;
	if (capturing())
		worsen(VTR_CAPTURING);
	else
		driver.synchronize(); /* errors of its kernels are left for the host */
	driver.pop(&popped);
}

static void wait_for_device(int ordinal)
{
	void *context;
	unsigned flags;
	int device, active = 0;

	if (atomic_load(&all.given_up) || driver.device(&device, ordinal) ||
		driver.primary_state(device, &flags, &active) || !active ||
		driver.primary_retain(&context, device))
		return;
	wait_for_context(context);
	driver.primary_release(device);
}

static void *run(void *arg)
{
	int mode = CAPTURE_MODE_RELAXED, devices = 0, i;
	struct vtr_gate *ended;

	(void)arg;
	pthread_setname_np(pthread_self(), "vptrace-wait");
	is_waiter = 1;
	/* Else the calls below would be forbidden, and would spoil captures that other threads
	 * began a moment ago. */
	driver.exchange_mode(&mode);
	wait_for_context(all.current);
	for (i = 0; i < CONTEXTS_MAX; i++)
		wait_for_context(atomic_load(&all.contexts[i]));
	if (!driver.devices(&devices))
		for (i = 0; i < devices; i++)
			wait_for_device(i);
	ended = atomic_exchange(&all.ended, NULL);
	if (ended)
		vtr_gate_open(ended);
	atomic_store(&all.busy, 0);
	return NULL;
}

static int start_thread(void)
{
	pthread_t thread;
	int rc;

	rc = vtr_own_thread(&thread, run, NULL);
	if (!rc)
		pthread_detach(thread);
	return rc;
}

unsigned vtr_drain_threads(void)
{
	return (unsigned)atomic_load(&all.busy);
}

enum vtr_drained vtr_drain_wait(uint64_t deadline_ns)
{
	static struct vtr_gate ended; /* static: the thread may outlive the wait */
	int free = 0;

	if (all.blind || !atomic_compare_exchange_strong(&all.busy, &free, 1))
		return VTR_NOT_ASKED;
	if (find_driver()) {
		atomic_store(&all.busy, 0);
		return VTR_NOT_ASKED;
	}
	if (driver.get_current(&all.current))
		all.current = NULL;
	all.waits = 0;
	atomic_store(&all.given_up, 0);
	atomic_store(&all.result, VTR_DRAINED);
	vtr_gate_init(&ended);
	atomic_store(&all.ended, &ended);
	if (start_thread()) {
		atomic_store(&all.busy, 0);
		return VTR_NOT_ASKED;
	}
	if (vtr_gate_wait(&ended, deadline_ns))
		return (enum vtr_drained)atomic_load(&all.result);
	atomic_store(&all.given_up, 1);
	/* If the thread has taken the gate, it is about to open it. */
	if (!atomic_exchange(&all.ended, NULL))
		vtr_gate_wait(&ended, UINT64_MAX / 2);
	return VTR_LATE;
}
