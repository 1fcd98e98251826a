/* cupti_session.c - one CUPTI session: subscribe, enable, flush, stop, and the callbacks.
 *
 *	load -> sizes, names -> subscribe -> thread ids, attributes -> buffers -> callbacks
 *	     -> calls -> kinds
 *
 * Subscribing is the first step that changes anything: it reveals another client. Dispensable parts
 * that fail are noted and the rest goes on; without kernels the start fails. cuptiFinalize is never
 * called: it breaks CUPTI for the process. The callbacks see one static struct, whose pointers
 * never change once CUPTI knows them; it is private to this file, which is long for it. */
#include "tracer/cupti/cupti.h"

#include "tracer/cupti/cupti_parts.h"
#include "tracer/cupti/library/cupti_library.h"
#include "tracer/cupti/cupti_watch.h"
#include "tracer/cupti/records/cupti_records.h"
#include "tracer/cupti/library/cupti_kinds.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/guest/thread_id.h"
#include "tracer/loaded/driver.h"
#include "tracer/handover/buffer_pool.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/cuda_callers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* What this library calls itself as a subscriber of CUPTI. */
#define OWN_NAME "vptrace"

enum { REASON_BYTES = 256, LAST_RESORT_BYTES = 64 << 10 };

/* A call in a buffer that is not full arrives with the next flush, usually within a second. */
#define HOLD_NS UINT64_C(3000000000)

/* Times that were converted along two lines differ by more than the error of both: they are rounded. */
enum { CLOCK_DOUBT_NS = 1000 };

struct vtr_cupti {
	struct vtr_library library;
	struct vtr_sizes sizes;
	struct vtr_calls calls;
	struct vtr_decoder *decoder;
	struct vtr_unfinished unfinished; /* the writer's */
	struct vtr_graphs graphs;         /* the writer's */
	_Atomic uint64_t stopped_ns;      /* when recording ended, CLOCK_MONOTONIC; 0: it has not */
	struct vtr_kinds kinds;
	struct vtr_watch watch;
	void *subscriber;        /* NULL: not subscribed */
	uint64_t device_buffers; /* the limit asked for; 0: none was */
	int profiler_api;        /* its calls are of interest */
	struct vtr_cupti_attributes attributes;

	/* seen by callbacks */
	_Atomic(struct vtr_pool *) pool;
	int null_is_safe; /* set before the callbacks are registered, as the next */
	uint64_t flush_interval_ns;
	_Atomic uint64_t requested, refused_buffers, completed, resources;
	_Atomic uint64_t unread_bytes;
	struct vtr_strays strays;
	/* the last resort: outstanding count, and since when */
	_Atomic uint64_t resorts, resort_ns;
	_Atomic int64_t out; /* buffers of ours that CUPTI holds, of all captures */
	char reason[REASON_BYTES];
	atomic_int fatal; /* 1: being worded, 2: `reason` says why */
};

static struct vtr_cupti the;

static _Thread_local struct vtr_buffer_rate rate __attribute__((tls_model("initial-exec")));

/* ---- callbacks: they never wait, allocate, print or call CUDA ---- */

/* When the discard buffers have run out too: one buffer for every request, since a NULL would crash
 * the host. Nobody reads it. */
static uint8_t last_resort[LAST_RESORT_BYTES] __attribute__((aligned(4096)));

static void on_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	struct vtr_pool *pool = atomic_load_explicit(&the.pool, memory_order_acquire);
	uint64_t now_ns = vtr_clock_ns(CLOCK_MONOTONIC);

	atomic_fetch_add_explicit(&the.requested, 1, memory_order_relaxed);
	vtr_callers_saw(vtr_tid(), now_ns);
	*max_records = 0;
	*size = vtr_pool_is_crowded(pool) ? VTR_BUFFER_BYTES
					  : vtr_buffer_size(&rate, now_ns, the.flush_interval_ns);
	*buffer = vtr_pool_take(pool, *size);
	vtr_watch_requested(&the.watch, *buffer);
	if (*buffer)
		return;
	atomic_fetch_add_explicit(&the.refused_buffers, 1, memory_order_relaxed);
	*size = 0;
	if (the.null_is_safe)
		return;
	*buffer = vtr_pool_take_discard(pool, size);
	if (*buffer)
		return;
	if (!atomic_fetch_add(&the.resorts, 1))
		atomic_store(&the.resort_ns, vtr_now());
	*buffer = last_resort;
	*size = sizeof(last_resort);
}

static void on_completed(
	void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid_bytes)
{
	(void)context, (void)stream, (void)size;
	if (!buffer)
		return;
	atomic_fetch_add_explicit(&the.completed, 1, memory_order_relaxed);
	vtr_watch_completed(&the.watch, buffer, valid_bytes); /* before the writer gets it */
	if (vtr_pool_give(
		    atomic_load_explicit(&the.pool, memory_order_acquire), buffer, valid_bytes))
		return;
	if (buffer == last_resort) {
		atomic_fetch_add(&the.unread_bytes, valid_bytes);
		atomic_fetch_sub(&the.resorts, 1);
	} else {
		vtr_strays_add(&the.strays, &the.sizes, buffer, valid_bytes);
		atomic_store(&the.watch.foreign, 1);
	}
}

static uint64_t node_id(void *node)
{
	uint64_t id = 0;

	if (node && the.library.fn.graph_node_id)
		the.library.fn.graph_node_id(node, &id);
	return id;
}

static uint64_t graph_id(int (*ask)(void *, uint32_t *), void *graph)
{
	uint32_t id = 0;

	if (graph && ask)
		ask(graph, &id);
	return id;
}

static void on_graph(uint32_t cbid, const struct vtr_graph_data *g)
{
	if (!g)
		return;
	if (cbid == VTR_RESOURCE_EXEC_DESTROYED)
		vtr_graph_event(VPT_GRAPHOP_DESTROYED,
			graph_id(the.library.fn.graph_exec_id, g->exec), 0, 0);
	else
		vtr_graph_event(cbid == VTR_RESOURCE_NODE_CREATED  ? VPT_GRAPHOP_NODE_CREATED
				: cbid == VTR_RESOURCE_NODE_CLONED ? VPT_GRAPHOP_NODE_CLONED
								   : VPT_GRAPHOP_NODE_DESTROYED,
			graph_id(the.library.fn.graph_id, g->graph), node_id(g->node),
			cbid == VTR_RESOURCE_NODE_CLONED ? node_id(g->original_node) : 0);
}

static void on_fatal(const struct vtr_state_data *state)
{
	const char *message = state->message ? state->message : "no reason given";
	int none = 0;

	if (!atomic_compare_exchange_strong(&the.fatal, &none, 1))
		return;
	snprintf(the.reason, sizeof(the.reason), "CUPTI failed (error %u): %s", state->result,
		message);
	atomic_store(&the.fatal, 2);
}

static void on_callback(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)user;
	if (!data)
		return;
	if (domain == VTR_DOMAIN_STATE) {
		if (cbid == VTR_STATE_FATAL)
			on_fatal(data);
		return;
	}
	if (domain == VTR_DOMAIN_DRIVER)
		vtr_drain_on_driver(cbid, data);
	if (domain == VTR_DOMAIN_DRIVER || domain == VTR_DOMAIN_RUNTIME)
		vtr_profiler_api_on_call(domain, cbid, data);
	if (domain != VTR_DOMAIN_RESOURCE)
		return;
	atomic_fetch_add_explicit(&the.resources, 1, memory_order_relaxed);
	vtr_drain_on_resource(cbid, data);
	if (cbid == VTR_RESOURCE_NODE_CREATED || cbid == VTR_RESOURCE_NODE_DESTROYED ||
		cbid == VTR_RESOURCE_NODE_CLONED || cbid == VTR_RESOURCE_EXEC_DESTROYED)
		on_graph(cbid, ((const struct vtr_resource_data *)data)->graph);
}

/* Callbacks of contexts are for cupti_drain.c, which enables them. */
static const struct {
	uint32_t domain, cbid;
} callbacks[] = {{VTR_DOMAIN_STATE, VTR_STATE_FATAL},
	{VTR_DOMAIN_RESOURCE, VTR_RESOURCE_STREAM_CREATED},
	{VTR_DOMAIN_RESOURCE, VTR_RESOURCE_MODULE_LOADED},
	{VTR_DOMAIN_RESOURCE, VTR_RESOURCE_NODE_CREATED},
	{VTR_DOMAIN_RESOURCE, VTR_RESOURCE_NODE_CLONED},
	{VTR_DOMAIN_RESOURCE, VTR_RESOURCE_NODE_DESTROYED},
	{VTR_DOMAIN_RESOURCE, VTR_RESOURCE_EXEC_DESTROYED}};

/* ---- errors ---- */

/* A result of CUPTI in words: its name and CUPTI's description. */
static const char *words_of(struct vtr_cupti *c, int rc, char *out, size_t size)
{
	const struct vtr_cupti_functions *fn = &c->library.fn;
	const char *name = NULL, *message = NULL;

	if (fn->result_string((uint32_t)rc, &name) || !name)
		name = "unknown";
	if (!fn->error_message || fn->error_message((uint32_t)rc, &message))
		message = NULL;
	snprintf(out, size, "%s (%d)%s%.120s", name, rc, message ? ": " : "",
		message ? message : "");
	return out;
}

static int fail(
	struct vtr_cupti *c, const char *step, int rc, const char *owner, struct vpt_err *err)
{
	char words[256], driver[64];

	if (rc == VTR_CUPTI_TAKEN && owner && strcmp(owner, OWN_NAME) == 0)
		return vpt_fail(err, VPTRACE_ETAKEN,
			"another copy of libvptrace records in this process, and what is marked "
			"through this one is missing in its capture. Use one copy: link the "
			"program with the library beside the vptrace command");
	if (rc == VTR_CUPTI_TAKEN)
		return vpt_fail(err, VPTRACE_ETAKEN,
			"another profiler holds CUPTI in this process%s%s (CUPTI error 39). Nsight "
			"Systems, Nsight Compute, cuda-gdb and compute-sanitizer hold it while "
			"they are attached. torch.profiler of PyTorch before August 2026 holds it "
			"from its first profile on: start vptrace before that, or set "
			"TEARDOWN_CUPTI=1 before it and make a CUDA call after it",
			owner && *owner ? ": " : "", owner ? owner : "");
	if (rc == VTR_CUPTI_INSUFFICIENT_PRIVILEGES || rc == VTR_CUPTI_VIRTUALIZED_PRIVILEGES)
		return vpt_fail(err, VPTRACE_EDENIED,
			"the driver does not allow this user to trace (%s: CUPTI error %d). In a "
			"container: docker run --cap-add SYS_ADMIN. For all users: options nvidia "
			"NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d/nvidia.conf, "
			"then restart%s",
			step, rc,
			rc == VTR_CUPTI_VIRTUALIZED_PRIVILEGES
				? ". On a virtual GPU the host must allow it as well"
				: "");
	return vpt_fail(err, VPTRACE_ENOCUPTI, "%s: %s; CUPTI %u at %.128s, %s%s", step,
		words_of(c, rc, words, sizeof(words)), c->library.api, c->library.path,
		vtr_driver_words(driver, sizeof(driver)), vtr_driver_hint());
}

/* ---- start ---- */

static int subscribe(struct vtr_cupti *c, struct vpt_err *err)
{
	char owner[64] = "";
	struct vtr_subscriber_params params = {.struct_bytes = sizeof(params),
		.name = OWN_NAME,
		.old_name = owner,
		.old_name_bytes = sizeof(owner)};
	int rc;

	c->subscriber = NULL;
	if (c->library.fn.subscribe_v2)
		rc = c->library.fn.subscribe_v2(&c->subscriber, on_callback, NULL, &params);
	else
		rc = c->library.fn.subscribe(&c->subscriber, on_callback, NULL);
	if (rc)
		c->subscriber = NULL;
	owner[sizeof(owner) - 1] = '\0';
	return rc ? fail(c, "cuptiSubscribe", rc, owner, err) : VPTRACE_OK;
}

static void set_attributes(struct vtr_cupti *c)
{
	vtr_cupti_attributes_set(&c->library.fn, c->library.api, c->device_buffers, &c->attributes);
}

/* Another client may record without subscribing. Registering callbacks would take its records. */
static int check_alone(struct vtr_cupti *c, struct vpt_err *err)
{
	if (!(vtr_watch_enabled(&c->library.fn) & vtr_kind_bit(VTR_KIND_CONCURRENT_KERNEL)))
		return VPTRACE_OK;
	c->library.fn.unsubscribe(c->subscriber);
	c->subscriber = NULL;
	return vpt_fail(err, VPTRACE_ETAKEN,
		"another client of CUPTI is recording in this process, as torch.profiler does "
		"during a profile: stop its profile first");
}

static void undo(struct vtr_cupti *c)
{
	vtr_kinds_disable(&c->kinds);
	if (c->subscriber)
		c->library.fn.unsubscribe(c->subscriber);
	c->subscriber = NULL;
}

static void flush(void)
{
	vtr_cupti_flush(&the, 0);
}

static int take_back(void)
{
	const struct vtr_cupti_functions *fn = &the.library.fn;

	set_attributes(&the);
	fn->thread_id_type(VTR_THREAD_ID_SYSTEM);
	return fn->register_callbacks(on_requested, on_completed);
}

/* All steps from thread ids to kinds. Returns CUPTI's result and the step that returned it. */
static int enable_all(struct vtr_cupti *c, const char **step)
{
	const struct vtr_cupti_functions *fn = &c->library.fn;
	size_t i;
	int rc;

	*step = "cuptiSetThreadIdType";
	rc = fn->thread_id_type(VTR_THREAD_ID_SYSTEM);
	if (rc)
		return rc;
	set_attributes(c);
	*step = "cuptiActivityRegisterCallbacks";
	rc = fn->register_callbacks(on_requested, on_completed);
	if (rc)
		return rc;
	for (i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
		fn->enable_callback(1, c->subscriber, callbacks[i].domain, callbacks[i].cbid);
	vtr_drain_begin(fn, c->subscriber);
	vtr_profiler_api_begin(fn, c->subscriber, c->profiler_api);
	vtr_kinds_enable_calls(&c->kinds);
	vtr_watch_begin(&c->watch);
	vtr_kinds_enable(&c->kinds);
	vtr_watch_begun(&c->watch);
	*step = "cuptiActivityEnable(CONCURRENT_KERNEL)";
	if (!(c->kinds.enabled & vtr_kind_bit(VTR_KIND_CONCURRENT_KERNEL)))
		rc = fn->enable(VTR_KIND_CONCURRENT_KERNEL);
	return rc;
}

/* The records of essential kinds must be as long as what we read of them. */
static int check_sizes(const struct vtr_cupti *c, struct vpt_err *err)
{
	static const uint32_t needed[] = {VTR_KIND_CONCURRENT_KERNEL, VTR_KIND_MEMCPY,
		VTR_KIND_MEMSET, VTR_KIND_RUNTIME, VTR_KIND_DRIVER};
	size_t i;

	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!c->sizes.bytes[needed[i]])
			return vpt_fail(err, VPTRACE_ENOCUPTI,
				"CUPTI %u at %.200s %s records of the kind %s, which vptrace "
				"requires",
				c->library.api, c->library.path,
				c->sizes.too_short & vtr_kind_bit(needed[i]) ? "has shorter"
									     : "does not know",
				vtr_kind_name(needed[i]));
	return VPTRACE_OK;
}

/* Maps the library, once per process: the first one stays. Or uses a test's functions. */
static int load(struct vtr_cupti *c, const struct vtr_cupti_options *o, struct vpt_err *err)
{
	int rc = VPTRACE_OK;

	if (o->functions) {
		memset(&c->library, 0, sizeof(c->library));
		c->library.fn = *o->functions;
		c->library.fn.version(&c->library.api);
	} else if (!c->library.api) {
		rc = vtr_library_open(o->path, &c->library, err);
	}
	if (!rc) {
		vtr_sizes_learn(&c->library.fn, &c->sizes);
		rc = check_sizes(c, err);
	}
	if (rc)
		memset(&c->library, 0, sizeof(c->library));
	return rc;
}

static int prepare(struct vtr_cupti *c, const struct vtr_cupti_options *o, struct vpt_err *err)
{
	int rc = load(c, o, err);

	if (rc)
		return rc;
	if (!c->decoder)
		c->decoder = vtr_decoder_new();
	if (!c->decoder)
		return vpt_fail(err, VPTRACE_ENOMEM, "no memory to decode CUPTI's records");
	vtr_calls_learn(&c->library.fn, o->profile, &c->calls);
	vtr_decoder_begin(c->decoder, &c->sizes, &c->calls);
	return VPTRACE_OK;
}

int vtr_cupti_start(
	const struct vtr_cupti_options *options, struct vtr_cupti **out, struct vpt_err *err)
{
	struct vtr_cupti *c = &the;
	const char *step = "";
	int rc;

	*out = NULL;
	rc = prepare(c, options, err);
	if (rc)
		return rc;
	c->kinds = (struct vtr_kinds){.library = &c->library,
		.sizes = &c->sizes,
		.calls = &c->calls,
		.watched = vtr_watch_cbid(&c->library.fn),
		.profile = options->profile};
	c->watch.kinds = &c->kinds;
	c->watch.pool = options->pool;
	c->watch.flush = flush;
	c->watch.take_back = take_back;
	c->device_buffers = options->device_buffers;
	c->flush_interval_ns = options->flush_interval_ns;
	c->profiler_api = options->profiler_api;
	c->null_is_safe = c->library.api >= VTR_CUPTI_NULL_BUFFER;
	vtr_unfinished_reset(&c->unfinished);
	atomic_store(&c->stopped_ns, 0);
	atomic_store(&c->pool, options->pool);
	atomic_store(&c->requested, 0);
	atomic_store(&c->refused_buffers, 0);
	atomic_store(&c->completed, 0);
	atomic_store(&c->resources, 0);
	vtr_strays_reset(&c->strays);
	atomic_store(&c->unread_bytes, 0);
	atomic_store(&c->fatal, 0);
	rc = subscribe(c, err);
	if (!rc)
		rc = check_alone(c, err);
	if (rc)
		return rc;
	rc = enable_all(c, &step);
	vtr_graphs_begin(&c->graphs, (c->kinds.enabled & vtr_kind_bit(VTR_KIND_GRAPH_TRACE)) != 0);
	if (rc) {
		rc = fail(c, step, rc, NULL, err);
		undo(c);
		return rc;
	}
	*out = c;
	return VPTRACE_OK;
}

/* ---- while it runs ---- */

/* Whether CUPTI may still be called. */
static int alive(struct vtr_cupti *c)
{
	return c->subscriber && !atomic_load(&c->fatal);
}

void vtr_cupti_flush(struct vtr_cupti *c, int forced)
{
	if (!alive(c))
		return;
	vtr_kinds_dump_late(&c->kinds);
	c->library.fn.flush_all(forced ? VTR_FLUSH_FORCED : 0);
}

uint64_t vtr_cupti_clock(struct vtr_cupti *c)
{
	uint64_t now = 0;

	return alive(c) && !c->library.fn.timestamp(&now) ? now : 0;
}

uint64_t vtr_cupti_dropped(struct vtr_cupti *c)
{
	size_t dropped = 0;

	if (atomic_load(&c->fatal) || c->library.fn.dropped(NULL, 0, &dropped))
		return 0;
	return dropped;
}

void vtr_cupti_look(struct vtr_cupti *c, struct vtr_watch_news *out)
{
	memset(out, 0, sizeof(*out));
	if (alive(c))
		vtr_watch_look(&c->watch, out);
}

int vtr_cupti_looked(struct vtr_cupti *c, uint64_t stop_ns, struct vtr_watch_news *out)
{
	return vtr_watch_end(&c->watch, stop_ns, out);
}

int vtr_cupti_is_taken(struct vtr_cupti *c, int all_flushed)
{
	return vtr_watch_is_taken(&c->watch, all_flushed);
}

void vtr_cupti_stop(struct vtr_cupti *c)
{
	if (alive(c)) {
		vtr_cupti_flush(c, 0);
		vtr_kinds_disable(&c->kinds);
		/* Records that come back from now on may be unfinished. */
		atomic_store(&c->stopped_ns, vtr_clock_ns(CLOCK_MONOTONIC));
		vtr_cupti_flush(c, 1);
		c->library.fn.unsubscribe(c->subscriber);
	}
	c->subscriber = NULL;
}

enum vtr_drained vtr_cupti_wait(struct vtr_cupti *c, uint64_t deadline_ns)
{
	/* Without recorded work there is nothing to wait for, and an unused CUDA stays
	 * untouched. */
	if (!alive(c) || !atomic_load(&c->requested))
		return VTR_DRAINED;
	return vtr_drain_wait(deadline_ns);
}

const char *vtr_cupti_failure(struct vtr_cupti *c)
{
	return atomic_load(&c->fatal) == 2 ? c->reason : NULL;
}

void vtr_cupti_signs(struct vtr_cupti *c, struct vtr_cupti_signs *out)
{
	out->buffers_requested = atomic_load(&c->requested);
	out->buffers_refused = atomic_load(&c->refused_buffers);
	out->buffers_completed = atomic_load(&c->completed);
	out->resources = atomic_load(&c->resources);
	out->foreign_bytes = atomic_load(&c->strays.bytes);
	out->unread_bytes = atomic_load(&c->unread_bytes);
	out->unread_from_ns = atomic_load(&c->resort_ns);
}

uint64_t vtr_cupti_foreign_from(struct vtr_cupti *c, struct vtr_cupti_clock *clock)
{
	return vtr_strays_from(&c->strays, clock);
}

/* ---- the writer ---- */

/* The beginning of vtr_driver_words() if there is a driver. */
#define DRIVER_WORDS "CUDA driver "

void vtr_cupti_describe(struct vtr_cupti *c, struct vtr_recorder *r)
{
	char text[512];
	int known;

	snprintf(text, sizeof(text), "%u", c->library.api);
	vtr_recorder_fact(r, VPT_METADATA_CUPTI_VERSION, text);
	vtr_recorder_fact(r, VPT_METADATA_CUPTI_LIBRARY, c->library.path);
	vtr_driver_words(text, sizeof(text));
	known = !strncmp(text, DRIVER_WORDS, strlen(DRIVER_WORDS));
	vtr_recorder_fact(r, VPT_METADATA_DRIVER, known ? text + strlen(DRIVER_WORDS) : text);
	vtr_recorder_fact(r, VPT_METADATA_CUPTI_CALLS,
		c->kinds.said_by_call ? "one by one" : "all, filtered when decoded");
	vtr_cupti_attributes_describe(&c->attributes, r);
	vtr_kinds_list(c->kinds.refused, text, sizeof(text));
	if (*text)
		vtr_recorder_fact(r, VPT_METADATA_CUPTI_REFUSED, text);
	if (c->graphs.suspect)
		vtr_recorder_fact(r, VPT_METADATA_CUPTI_GRAPHS,
			"an earlier capture of this process used the profile coarse");
}

int vtr_cupti_is_foreign(const struct vtr_cupti *c, const struct vtr_full *full)
{
	return vtr_cupti_clock_is_foreign(&c->sizes, full);
}

uint64_t vtr_cupti_decode(struct vtr_cupti *c, struct vtr_cupti_clock *clock,
	const struct vtr_full *full, struct vtr_recorder *r)
{
	uint64_t stopped_ns = atomic_load(&c->stopped_ns);

	if (vtr_cupti_clock_is_known(clock) && !full->stale)
		vtr_cupti_clock_buffer(clock, &c->sizes, full);
	/* A pair of calls may lie in two buffers, and a reading of the clocks between them. */
	vtr_decoder_doubt(c->decoder,
		vtr_cupti_clock_is_known(clock) ? 2 * clock->error_ns + CLOCK_DOUBT_NS : 0);
	if (stopped_ns && full->given_ns >= stopped_ns && !full->stale && !full->discard)
		vtr_unfinished_buffer(&c->unfinished, &c->sizes, full);
	if (c->graphs.suspect && !full->stale && !full->discard)
		vtr_graphs_buffer(&c->graphs, &c->sizes, &c->calls, full);
	return vtr_decoder_buffer(c->decoder, full, r);
}

void vtr_cupti_settle(struct vtr_cupti *c, struct vtr_recorder *r, int all)
{
	vtr_decoder_settle(c->decoder, r, all ? 0 : HOLD_NS);
}

uint64_t vtr_cupti_unfinished(struct vtr_cupti *c, struct vtr_recorder *r, uint64_t stop_ns)
{
	vtr_graphs_put(&c->graphs, r, stop_ns);
	return vtr_unfinished_put(&c->unfinished, r, vtr_decoder_newest(c->decoder), stop_ns);
}

const char *vtr_cupti_missing(const struct vtr_cupti *c)
{
	return vtr_graphs_failure(&c->graphs);
}

void vtr_cupti_decoded(struct vtr_cupti *c, struct vtr_decoded *out)
{
	vtr_decoder_counts(c->decoder, out);
}
