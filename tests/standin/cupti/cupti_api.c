/* cupti_api.c - CUPTI's functions. Each is an indirect function, so that it can be missing: dlsym()
 * finds NULL for those that the chosen version does not have yet and for those that
 * VPT_STANDIN_FAULTS=no-symbols=... names. */
#include "tests/standin/cupti/cupti_state.h"

#include "tests/standin/standin.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The dynamic linker asks before this library is set up, and before the sanitizers are. */
#define EARLY __attribute__((no_sanitize("address", "undefined", "thread")))

extern char **environ;

EARLY static const char *setting(const char *name)
{
	for (char **e = environ; e && *e; e++) {
		size_t i = 0;

		while (name[i] && (*e)[i] == name[i])
			i++;
		if (!name[i] && (*e)[i] == '=')
			return *e + i + 1;
	}
	return "";
}

EARLY static int begins(const char *text, const char *with)
{
	while (*with && *text == *with) {
		text++;
		with++;
	}
	return !*with;
}

EARLY static size_t length(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

EARLY static int is_missing(const char *function, uint32_t since)
{
	const char *at = setting("VPT_STANDIN_CUPTI");
	uint32_t version = *at ? 0 : CUPTI_NEWEST;
	size_t n = length(function);

	for (; *at >= '0' && *at <= '9'; at++)
		version = version * 10 + (uint32_t)(*at - '0');
	if (version < since)
		return 1;
	for (at = setting("VPT_STANDIN_FAULTS"); *at; at++) {
		if (!begins(at, "no-symbols="))
			continue;
		at += length("no-symbols=");
		while (*at && *at != ',') {
			if (begins(at, function) && (!at[n] || at[n] == ':' || at[n] == ','))
				return 1;
			while (*at && *at != ',' && *at != ':')
				at++;
			at += *at == ':';
		}
		return 0;
	}
	return 0;
}

/* Whether the driver is one with which CUDA 13.2's CUPTI calls itself until the stack is full. */
EARLY static int is_deadly(void)
{
	for (const char *at = setting("VPT_STANDIN_FAULTS"); *at; at++)
		if (begins(at, "stub-driver") || begins(at, "old-driver"))
			return 1;
	return 0;
}

EARLY static int die(void)
{
	__builtin_trap();
}

/* Begins a function that is there from API `since` on. */
#define CUPTI(since, function, parameters)                                                         \
	static int real_##function parameters;                                                     \
	EARLY __attribute__((used)) static __typeof__(&real_##function) resolve_##function(void)   \
	{                                                                                          \
		if (is_deadly())                                                                   \
			return (__typeof__(&real_##function))(void (*)(void))die;                  \
		return is_missing(#function, since) ? NULL : real_##function;                      \
	}                                                                                          \
	__attribute__((ifunc("resolve_" #function))) int function parameters;                      \
	static int real_##function parameters

static int last_error;

static int note(int error)
{
	if (error)
		__atomic_store_n(&last_error, error, __ATOMIC_RELAXED);
	return error;
}

/* Leaves a function that was entered with begin(). */
static int end(int error)
{
	sim_unlock();
	return note(error);
}

static _Atomic uint64_t calls_to_failure; /* 0: none fails */
static _Atomic int failure;

void standin_fail_cupti(uint64_t call, int error)
{
	failure = error;
	calls_to_failure = call;
}

/* The error of this call, if it is the one that fails. */
static int failure_of_call(void)
{
	uint64_t left = calls_to_failure;

	while (left && !atomic_compare_exchange_weak(&calls_to_failure, &left, left - 1))
		continue;
	return left == 1 ? note(failure) : 0;
}

/* 0 with the lock held, or why CUPTI does nothing. */
static int begin(void)
{
	const struct cupti_settings *s = cupti_settings();
	int error = failure_of_call();

	if (error)
		return error;
	if (s->faults.no_driver)
		return note(s->version < 130000 ? STANDIN_CUPTI_NOT_INITIALIZED
						: STANDIN_CUPTI_UNKNOWN);
	sim_lock();
	return cupti_dead() ? end(STANDIN_CUPTI_UNKNOWN) : 0;
}

/* ---- what works without a driver ---- */

CUPTI(0, cuptiGetVersion, (uint32_t * version))
{
	*version = cupti_settings()->version;
	return 0;
}

static const struct {
	int result;
	const char *name;
} results[] = {
	{0, "CUPTI_SUCCESS"},
	{STANDIN_CUPTI_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER"},
	{STANDIN_CUPTI_MAX_LIMIT_REACHED, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
	{STANDIN_CUPTI_NOT_COMPATIBLE, "CUPTI_ERROR_NOT_COMPATIBLE"},
	{STANDIN_CUPTI_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED"},
	{STANDIN_CUPTI_INVALID_KIND, "CUPTI_ERROR_INVALID_KIND"},
	{STANDIN_CUPTI_NOT_SUPPORTED, "CUPTI_ERROR_NOT_SUPPORTED"},
	{STANDIN_CUPTI_NO_PRIVILEGES, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
	{STANDIN_CUPTI_MULTIPLE_SUBSCRIBERS, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
	{STANDIN_CUPTI_UNKNOWN, "CUPTI_ERROR_UNKNOWN"},
};

static int result_name(int result, const char **text)
{
	*text = NULL;
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		if (results[i].result == result)
			*text = results[i].name;
	return *text ? 0 : STANDIN_CUPTI_INVALID_PARAMETER;
}

CUPTI(0, cuptiGetResultString, (int result, const char **text))
{
	return result_name(result, text);
}

CUPTI(21, cuptiGetErrorMessage, (int result, const char **text))
{
	return result_name(result, text);
}

CUPTI(0, cuptiGetLastError, (void))
{
	return __atomic_exchange_n(&last_error, 0, __ATOMIC_RELAXED);
}

CUPTI(0, cuptiGetTimestamp, (uint64_t * ns))
{
	cupti_settings();
	*ns = cupti_time(standin_now());
	return 0;
}

CUPTI(0, cuptiGetCallbackName, (uint32_t domain, uint32_t cbid, const char **name))
{
	*name = NULL;
	for (int i = 0; i < SIM_CALL_COUNT; i++)
		if (sim_calls[i].domain == domain && sim_calls[i].cbid == cbid)
			*name = sim_calls[i].name;
	return *name ? 0 : note(STANDIN_CUPTI_INVALID_PARAMETER);
}

CUPTI(0, cuptiActivityRegisterCallbacks, (standin_requested requested, standin_completed completed))
{
	int error = failure_of_call();

	if (error)
		return error;
	if (!requested || !completed)
		return note(STANDIN_CUPTI_INVALID_PARAMETER);
	sim_lock();
	cupti_register(requested, completed);
	return end(0);
}

CUPTI(0, cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped))
{
	(void)context;
	(void)stream;
	sim_lock();
	*dropped = cupti_take_dropped();
	return end(0);
}

CUPTI(0, cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid, void **record))
{
	uint8_t *at = record ? *record : NULL;
	uint32_t kind;

	if (!buffer || !record)
		return note(STANDIN_CUPTI_INVALID_PARAMETER);
	if (at) {
		memcpy(&kind, at, 4);
		if (kind >= STANDIN_KINDS || !cupti_record_bytes[kind])
			return note(STANDIN_CUPTI_INVALID_KIND);
		at += cupti_record_bytes[kind];
	} else {
		at = buffer;
	}
	if (at < buffer || (size_t)(at - buffer) + 4 > valid)
		return STANDIN_CUPTI_MAX_LIMIT_REACHED;
	memcpy(&kind, at, 4);
	if (kind >= STANDIN_KINDS || !cupti_record_bytes[kind])
		return note(STANDIN_CUPTI_INVALID_KIND);
	if ((size_t)(at - buffer) + cupti_record_bytes[kind] > valid)
		return STANDIN_CUPTI_MAX_LIMIT_REACHED;
	*record = at;
	return 0;
}

/* ---- subscribers ---- */

static int subscribe(struct standin_subscriber **out, standin_callback callback, void *user)
{
	int error = begin();

	if (error)
		return error;
	if (cupti_settings()->faults.denied)
		return end(STANDIN_CUPTI_NO_PRIVILEGES);
	return end(out && callback ? cupti_subscribe(out, callback, user)
				   : STANDIN_CUPTI_INVALID_PARAMETER);
}

CUPTI(0, cuptiSubscribe, (struct standin_subscriber * *out, standin_callback callback, void *user))
{
	return subscribe(out, callback, user);
}

CUPTI(130000, cuptiSubscribe_v2,
	(struct standin_subscriber * *out, standin_callback callback, void *user,
		struct standin_subscriber_parameters *parameters))
{
	int error = subscribe(out, callback, user);

	sim_lock();
	if (!error && parameters && parameters->name)
		cupti_name_subscriber(parameters->name);
	if (error == STANDIN_CUPTI_MULTIPLE_SUBSCRIBERS && parameters && parameters->old_name)
		snprintf(parameters->old_name, parameters->old_name_bytes, "%s",
			cupti_subscriber_name());
	sim_unlock();
	return error;
}

CUPTI(0, cuptiUnsubscribe, (struct standin_subscriber * subscriber))
{
	int error = begin();

	if (error)
		return error;
	error = cupti_unsubscribe(subscriber);
	if (!error)
		cupti_release_late();
	return end(error);
}

CUPTI(0, cuptiEnableCallback,
	(uint32_t enable, struct standin_subscriber *subscriber, uint32_t domain, uint32_t cbid))
{
	int error = begin();

	return error ? error : end(cupti_enable_callback(subscriber, domain, cbid, enable != 0));
}

CUPTI(0, cuptiEnableDomain,
	(uint32_t enable, struct standin_subscriber *subscriber, uint32_t domain))
{
	int error = begin();

	return error ? error : end(cupti_enable_domain(subscriber, domain, enable != 0));
}

/* ---- activities ---- */

static int enable(uint32_t kind, int on, int dump)
{
	int error = begin();

	if (error)
		return error;
	if (!cupti_kind_known(kind))
		return end(STANDIN_CUPTI_INVALID_KIND);
	if (dump && !cupti_may_dump())
		return end(STANDIN_CUPTI_NOT_INITIALIZED);
	cupti_start_worker();
	cupti_enable_kind(kind, on);
	if (dump)
		cupti_dump(kind);
	return end(0);
}

CUPTI(0, cuptiActivityEnable, (uint32_t kind))
{
	return enable(kind, 1, 0);
}

CUPTI(0, cuptiActivityEnableAndDump, (uint32_t kind))
{
	return enable(kind, 1, 1);
}

CUPTI(0, cuptiActivityDisable, (uint32_t kind))
{
	return enable(kind, 0, 0);
}

static int enable_call(enum sim_domain domain, uint32_t cbid, int on)
{
	int error = begin();

	if (error)
		return error;
	cupti_start_worker();
	cupti_enable_call(domain, cbid, on);
	return end(0);
}

CUPTI(23, cuptiActivityEnableRuntimeApi, (uint32_t cbid, uint8_t on))
{
	return enable_call(SIM_RUNTIME, cbid, on);
}

CUPTI(23, cuptiActivityEnableDriverApi, (uint32_t cbid, uint8_t on))
{
	return enable_call(SIM_DRIVER, cbid, on);
}

CUPTI(130000, cuptiActivityEnableAllSyncRecords, (uint8_t on))
{
	int error = begin();

	(void)on;
	return error ? error : end(0);
}

CUPTI(0, cuptiActivityEnableLatencyTimestamps, (uint8_t on))
{
	int error = begin();

	(void)on;
	return error ? error : end(0);
}

CUPTI(0, cuptiActivityFlushPeriod, (uint32_t ms))
{
	int error = begin();

	(void)ms; /* complete buffers never wait for a flush here */
	return error ? error : end(0);
}

CUPTI(0, cuptiActivityFlushAll, (uint32_t flag))
{
	static uint64_t flushes;
	uint64_t hang = cupti_settings()->faults.hang_flush;
	int error = begin();

	if (error)
		return error;
	flushes++;
	if (hang && flushes == hang) {
		sim_unlock();
		for (;;)
			pause();
	}
	error = end(0);
	cupti_flush((flag & STANDIN_FLUSH_FORCED) != 0);
	return error;
}

CUPTI(0, cuptiFinalize, (void))
{
	int error = begin();

	if (error)
		return error;
	cupti_disable_all();
	sim_unlock();
	cupti_flush(1);
	return 0;
}

CUPTI(130200, cuptiActivityGetEnabledKinds,
	(struct standin_subscriber * subscriber, uint32_t *buffer, uint32_t *room, uint32_t *count))
{
	uint32_t kind, places = buffer && room ? *room : 0;
	int error = begin();

	(void)subscriber; /* kinds are enabled for all */
	if (error)
		return error;
	*count = 0;
	for (kind = 0; kind < STANDIN_KINDS; kind++) {
		if (!cupti_kind_is_on(kind))
			continue;
		if (*count < places)
			buffer[*count] = kind;
		++*count;
	}
	return end(0);
}

CUPTI(0, cuptiSetThreadIdType, (uint32_t type))
{
	int error = begin();

	if (error)
		return error;
	cupti_set_system_threads(type == STANDIN_THREAD_ID_SYSTEM);
	return end(0);
}

static uint64_t number(const void *value, size_t size)
{
	uint64_t n = 0;

	memcpy(&n, value, size < sizeof(n) ? size : sizeof(n));
	return n;
}

/* Attributes about buffers on the device, by number: kept, and nothing more. */
static uint64_t device_attributes[] = {[0] = 3200000, [1] = 8388608, [2] = 250, [6] = 3};

static int is_about_devices(uint32_t attribute)
{
	return attribute < sizeof(device_attributes) / sizeof(device_attributes[0]) &&
	       device_attributes[attribute];
}

CUPTI(0, cuptiActivitySetAttribute, (uint32_t attribute, size_t *size, void *value))
{
	int error = begin();

	if (error)
		return error;
	if (!size || !value ||
		(attribute == STANDIN_ATTRIBUTE_PER_THREAD && cupti_settings()->version < 21))
		return end(STANDIN_CUPTI_INVALID_PARAMETER);
	if (attribute == STANDIN_ATTRIBUTE_PER_THREAD)
		cupti_set_per_thread(number(value, *size) != 0);
	if (attribute == STANDIN_ATTRIBUTE_ZEROED)
		cupti_set_zeroed(number(value, *size) != 0);
	if (is_about_devices(attribute) && (*size != sizeof(size_t) || !number(value, *size)))
		return end(STANDIN_CUPTI_INVALID_PARAMETER);
	if (is_about_devices(attribute))
		device_attributes[attribute] = number(value, *size);
	return end(0);
}

CUPTI(0, cuptiActivityGetAttribute, (uint32_t attribute, size_t *size, void *value))
{
	int error = begin();
	uint64_t n;

	if (error)
		return error;
	if (!size || !value ||
		(attribute != STANDIN_ATTRIBUTE_PER_THREAD &&
			attribute != STANDIN_ATTRIBUTE_ZEROED && !is_about_devices(attribute)))
		return end(STANDIN_CUPTI_INVALID_PARAMETER);
	n = is_about_devices(attribute)             ? device_attributes[attribute]
	    : attribute == STANDIN_ATTRIBUTE_ZEROED ? (uint64_t)cupti_is_zeroed()
						    : (uint64_t)cupti_is_per_thread();
	memcpy(value, &n, *size < sizeof(n) ? *size : sizeof(n));
	return end(0);
}

/* ---- ids: also in callbacks, so without waiting for a lock that is not held already ---- */

CUPTI(0, cuptiGetContextId, (void *context, uint32_t *id))
{
	if (!context || !id)
		return note(STANDIN_CUPTI_INVALID_PARAMETER);
	*id = sim_context_id(context);
	return 0;
}

CUPTI(0, cuptiGetDeviceId, (void *context, uint32_t *id))
{
	if (!context || !id)
		return note(STANDIN_CUPTI_INVALID_PARAMETER);
	*id = (uint32_t)sim_context_device(context);
	return 0;
}

CUPTI(0, cuptiGetStreamIdEx, (void *context, void *stream, uint8_t per_thread, uint32_t *id))
{
	(void)context;
	(void)per_thread;
	if (!id)
		return note(STANDIN_CUPTI_INVALID_PARAMETER);
	*id = (uintptr_t)stream <= 2 ? SIM_NULL_STREAM_ID : sim_stream_id(stream);
	return 0;
}

CUPTI(0, cuptiGetGraphId, (void *graph, uint32_t *id))
{
	if (!graph || !id)
		return note(STANDIN_CUPTI_INVALID_PARAMETER);
	*id = sim_graph_id(graph);
	return 0;
}

CUPTI(22, cuptiGetGraphExecId, (void *exec, uint32_t *id))
{
	if (!exec || !id)
		return note(STANDIN_CUPTI_INVALID_PARAMETER);
	*id = sim_exec_id(exec);
	return 0;
}

CUPTI(0, cuptiGetGraphNodeId, (void *node, uint64_t *id))
{
	if (!node || !id)
		return note(STANDIN_CUPTI_INVALID_PARAMETER);
	*id = sim_node_id(node);
	return 0;
}
