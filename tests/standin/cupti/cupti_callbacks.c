/* cupti_callbacks.c - the one subscriber, and what is reported to it: resources, API calls, the fatal
 * state.
 *
 * Callbacks run on the thread that made the call, with the simulation's lock held, as CUPTI holds
 * locks of its own around them. */
#include "tests/standin/cupti/cupti_state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { CBIDS = 1024 };

struct standin_subscriber {
	standin_callback callback; /* NULL: nobody */
	void *user;
	char name[64];
	uint8_t on[STANDIN_DOMAINS][CBIDS];
};

static struct standin_subscriber only;
static int dead;
static int api_callbacks; /* how many of the API domains' bits are set */

/* ---- the guard around the client ---- */

static void (*heap_guard)(int on);
static uint64_t (*heap_calls)(void);
static pthread_once_t heap_once = PTHREAD_ONCE_INIT;

static void find_heap_guard(void)
{
	void *guard = dlsym(RTLD_DEFAULT, "standin_heap_guard");
	void *calls = dlsym(RTLD_DEFAULT, "standin_heap_calls");

	memcpy(&heap_guard, &guard, sizeof(guard));
	memcpy(&heap_calls, &calls, sizeof(calls));
}

void cupti_client_enter(void)
{
	pthread_once(&heap_once, find_heap_guard);
	__atomic_fetch_add(&sim_counts()->callbacks, 1, __ATOMIC_RELAXED);
	if (heap_guard)
		heap_guard(1);
}

void cupti_client_leave(void)
{
	if (!heap_guard)
		return;
	heap_guard(0);
	__atomic_store_n(&sim_counts()->heap_guarded, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&sim_counts()->heap_calls, heap_calls(), __ATOMIC_RELAXED);
}

/* ---- the subscriber ---- */

int cupti_subscribe(struct standin_subscriber **out, standin_callback callback, void *user)
{
	if (only.callback || cupti_settings()->faults.busy)
		return STANDIN_CUPTI_MULTIPLE_SUBSCRIBERS;
	memset(&only, 0, sizeof(only));
	api_callbacks = 0;
	only.callback = callback;
	only.user = user;
	*out = &only;
	return 0;
}

void cupti_name_subscriber(const char *name)
{
	snprintf(only.name, sizeof(only.name), "%s", name);
}

const char *cupti_subscriber_name(void)
{
	return only.callback ? only.name : "standin-profiler";
}

int cupti_unsubscribe(struct standin_subscriber *subscriber)
{
	if (subscriber != &only || !only.callback)
		return STANDIN_CUPTI_INVALID_PARAMETER;
	memset(&only, 0, sizeof(only));
	api_callbacks = 0;
	return 0;
}

int cupti_enable_callback(
	struct standin_subscriber *subscriber, uint32_t domain, uint32_t cbid, int on)
{
	if (subscriber != &only || !only.callback || !domain || domain >= STANDIN_DOMAINS ||
		cbid >= CBIDS)
		return STANDIN_CUPTI_INVALID_PARAMETER;
	if (domain <= STANDIN_DOMAIN_RUNTIME)
		api_callbacks += (on != 0) - only.on[domain][cbid];
	only.on[domain][cbid] = on != 0;
	return 0;
}

int cupti_enable_domain(struct standin_subscriber *subscriber, uint32_t domain, int on)
{
	int error = 0;

	for (uint32_t cbid = 0; cbid < CBIDS && !error; cbid++)
		error = cupti_enable_callback(subscriber, domain, cbid, on);
	return error;
}

static void call_client(uint32_t domain, uint32_t cbid, const void *data)
{
	cupti_client_enter();
	only.callback(only.user, domain, cbid, data);
	cupti_client_leave();
}

static int wanted(uint32_t domain, uint32_t cbid)
{
	return only.callback && !dead && only.on[domain][cbid];
}

void cupti_resource(const struct sim_resource *r)
{
	struct standin_resource_data data = {r->context, r->stream, NULL};
	struct standin_module_data module = {r->module, r->image_bytes, r->image};
	struct standin_graph_data graph = {r->graph, r->original_graph, r->node, r->original_node,
		(uint32_t)r->node_type, r->dependency, r->exec};

	if (!wanted(STANDIN_DOMAIN_RESOURCE, r->id))
		return;
	if (r->id == SIM_MODULE_LOADED || r->id == SIM_MODULE_UNLOAD)
		data.descriptor = &module;
	else if (r->id >= SIM_GRAPH_CREATED)
		data.descriptor = &graph;
	call_client(STANDIN_DOMAIN_RESOURCE, r->id, &data);
}

static void tell_call(
	const struct sim_call *call, uint32_t domain, uint32_t cbid, int exit, int error)
{
	static __thread uint64_t scratch;
	CUcontext context;

	if (!wanted(domain, cbid))
		return;
	context = sim_current();
	call_client(domain, cbid,
		&(struct standin_api_data){.site = (uint32_t)exit,
			.function = call->info->name,
			.result = exit ? &error : NULL,
			.context = context,
			.context_id = context ? sim_context_id(context) : 0,
			.scratch = &scratch,
			.correlation = call->correlation});
}

/* The driver's call lies inside of the runtime's; of both the name is the outer one's. */
void cupti_api_callback(const struct sim_call *call, int exit, int error)
{
	const struct sim_call_info *info = call->info;

	if (!api_callbacks)
		return;
	if (info->nested && exit)
		tell_call(call, SIM_DRIVER, info->nested, exit, error);
	tell_call(call, info->domain, info->cbid, exit, error);
	if (info->nested && !exit)
		tell_call(call, SIM_DRIVER, info->nested, exit, error);
}

/* CUPTI takes itself down: nothing is recorded any more. */
void cupti_die(void)
{
	struct standin_state_data state = {STANDIN_CUPTI_UNKNOWN, "the stand-in was set to fail"};
	int tell = wanted(STANDIN_DOMAIN_STATE, STANDIN_STATE_FATAL);

	dead = 1;
	cupti_disable_all();
	if (tell)
		call_client(STANDIN_DOMAIN_STATE, STANDIN_STATE_FATAL, &state);
}

int cupti_dead(void)
{
	return dead;
}
