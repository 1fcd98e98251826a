/* cupti_watch.c - watches CUPTI from the host's side. */
#include "tracer/cupti/cupti_watch.h"

#include "tracer/clock/capture_clock.h"
#include "tracer/loaded/driver.h"

#include <signal.h>
#include <string.h>
#include <time.h>

enum {
	/* A buffer comes back within the flush or just after it; if not, a second flush gets more
	 * time. */
	MOMENT_MS = 30,
	PATIENCE_MS = 100,
	LATE_MS = 500, /* longer than a busy machine delays the thread that gives buffers back */
	/* Consecutive looks without any sign; fewer where buffers used to come back at once. */
	MISSES = 3,
	MISSES_RETURNING = 2,
	KINDS_MAX = 256
};

/* Only this long without a sign counts; the longer one where a running kernel may hold back the
 * buffer: one that all threads share, or that this thread has inherited. */
#define LATE_NS    (LATE_MS * UINT64_C(1000000))
#define SILENCE_NS UINT64_C(10000000000)

#define ASKED   "cuDriverGetVersion"
#define UNASKED "cuDeviceGetCount"

/* 1: this thread makes a call to see whether CUPTI asks for a buffer; 2: it has asked. */
static _Thread_local volatile sig_atomic_t looking __attribute__((tls_model("initial-exec")));

/* ---- in callbacks ---- */

void vtr_watch_requested(struct vtr_watch *w, uint8_t *buffer)
{
	atomic_fetch_add_explicit(&w->callbacks, 1, memory_order_relaxed);
	if (!looking)
		return;
	looking = 2;
	atomic_store(&w->own, buffer);
}

void vtr_watch_completed(struct vtr_watch *w, const uint8_t *buffer, size_t valid_bytes)
{
	const uint8_t *at = buffer, *end = buffer + valid_bytes;
	uint64_t broken = 0;
	uint32_t kind, cbid;
	size_t size;

	atomic_fetch_add_explicit(&w->callbacks, 1, memory_order_relaxed);
	if (buffer != atomic_load(&w->own))
		return;
	/* It holds a record or two if threads have buffers of their own. */
	for (cbid = w->kinds->unwatched; w->by_thread && cbid && at < end; at += size) {
		size = vtr_sizes_of_record(w->kinds->sizes, at, (size_t)(end - at), &kind);
		if (!size)
			break;
		if (kind == VTR_KIND_DRIVER)
			broken += ((const struct vtr_record_call *)(const void *)at)->cbid == cbid;
	}
	if (broken)
		atomic_fetch_add(&w->broken, broken);
	atomic_store(&w->own, NULL);
}

/* ---- what CUPTI reports ---- */

uint64_t vtr_watch_enabled(const struct vtr_cupti_functions *fn)
{
	uint32_t kinds[KINDS_MAX], room = KINDS_MAX, count = 0, i;
	uint64_t bits = 0;

	/* Its header does not say whether the room is counted in bytes or in kinds: it is enough
	 * for both. */
	if (!fn->enabled_kinds || fn->enabled_kinds(NULL, kinds, &room, &count))
		return 0;
	for (i = 0; i < count && i < KINDS_MAX / sizeof(*kinds); i++)
		bits |= kinds[i] < VTR_KINDS ? vtr_kind_bit(kinds[i]) : 0;
	return bits;
}

static uint32_t find_cbid(const struct vtr_cupti_functions *fn, const char *wanted)
{
	const char *name;
	uint32_t cbid;

	for (cbid = 1; cbid < VTR_CBIDS; cbid++) {
		name = NULL;
		if (!fn->callback_name(VTR_DOMAIN_DRIVER, cbid, &name) && name &&
			!strcmp(name, wanted))
			return cbid;
	}
	return 0;
}

/* Whether the attribute says that each thread has its own buffer; -1: it cannot be read. */
static int per_thread(const struct vtr_watch *w)
{
	const struct vtr_library *l = w->kinds->library;
	size_t size = sizeof(uint8_t);
	uint8_t value = 0;

	if (l->api < VTR_CUPTI_PER_THREAD || !l->fn.get_attribute ||
		l->fn.get_attribute(VTR_ATTRIBUTE_PER_THREAD_BUFFERS, &size, &value))
		return -1;
	return value != 0;
}

/* ---- looking ---- */

/* Makes the call. Returns whether CUPTI asked us for a buffer; -1: no call to make. */
static int call_asked(struct vtr_watch *w)
{
	int version, rc, found;

	if (!w->asked)
		return -1;
	looking = 1;
	rc = w->asked(&version);
	found = looking == 2;
	looking = 0;
	return rc && !found ? -1 : found;
}

static int dump_devices(struct vtr_watch *w)
{
	const struct vtr_cupti_functions *fn = &w->kinds->library->fn;
	int rc, found;

	if (!fn->enable_and_dump)
		return 0;
	looking = 1;
	rc = fn->enable_and_dump(VTR_KIND_DEVICE);
	found = looking == 2;
	looking = 0;
	return !rc && found;
}

static void sleep_ms(int ms)
{
	const struct timespec moment = {0, ms * 1000000L};

	nanosleep(&moment, NULL);
}

/* Whether the buffer of the last look has come back. */
static int wait_for_own(struct vtr_watch *w, int ms)
{
	for (; atomic_load(&w->own) && ms > 0; ms--)
		sleep_ms(1);
	return !atomic_load(&w->own);
}

enum sign { UNSURE, INTACT, SWITCHED, TAKEN };

static uint64_t patience_ns(const struct vtr_watch *w)
{
	return w->by_thread && w->settled ? LATE_NS : SILENCE_NS;
}

/* This look found no sign: returns whether there has been none for too long. */
static enum sign silence(struct vtr_watch *w)
{
	uint64_t now = vtr_clock_ns(CLOCK_MONOTONIC), callbacks = atomic_load(&w->callbacks);

	if (callbacks != w->moved || !w->missed_ns) {
		w->missed_ns = now;
		w->misses = 0;
	}
	w->misses++;
	w->moved = callbacks;
	w->unsure = 1;
	if (!w->works)
		return UNSURE;
	if (w->misses < (w->returns ? MISSES_RETURNING : MISSES))
		return UNSURE;
	return now - w->missed_ns >= patience_ns(w) ? TAKEN : UNSURE;
}

static enum sign look_at_callbacks(struct vtr_watch *w)
{
	struct vtr_pool_state buffers;
	int found, version;

	if (!wait_for_own(w, MOMENT_MS)) {
		w->flush();
		if (!wait_for_own(w, PATIENCE_MS))
			return silence(w);
	}
	if (w->looked_ns)
		w->returns = 1;
	found = call_asked(w);
	if (!found) {
		/* This thread may have inherited the buffer of one that ended, and the record is there. */
		w->flush();
		found = call_asked(w);
	}
	if (found < 0)
		return UNSURE;
	if (found) {
		w->works = w->settled = 1;
		w->unsure = 0;
		w->missed_ns = 0;
		if (w->unasked && w->by_thread)
			w->unasked(&version);
		return INTACT;
	}
	vtr_pool_state(w->pool, &buffers);
	/* If there is a record, it is in a buffer already outstanding. */
	if (!w->works || (!(w->by_thread && w->settled) && buffers.outstanding))
		return silence(w);
	return dump_devices(w) ? SWITCHED : TAKEN;
}

static enum sign look(struct vtr_watch *w)
{
	enum sign sign = look_at_callbacks(w);
	uint64_t broken = atomic_load(&w->broken), wanted = w->kinds->enabled;

	if (w->per_thread_set && !per_thread(w))
		return TAKEN;
	if (sign != INTACT)
		return sign;
	if (w->tells_kinds && (vtr_watch_enabled(&w->kinds->library->fn) & wanted) != wanted)
		sign = SWITCHED;
	if (broken != w->broken_seen)
		sign = SWITCHED;
	w->broken_seen = broken;
	return sign;
}

/* Whether the client with the callbacks has verifiably stopped recording. */
static int finished(const struct vtr_watch *w)
{
	if (w->per_thread_set && !per_thread(w))
		return 1;
	return w->tells_kinds && !(vtr_watch_enabled(&w->kinds->library->fn) &
					 vtr_kind_bit(VTR_KIND_CONCURRENT_KERNEL));
}

/* ---- what follows ---- */

/* From now on all is well again. */
static void renew(struct vtr_watch *w, struct vtr_watch_news *out)
{
	out->lost_to_ns = vtr_now();
	w->good_ns = w->sealed_ns = out->lost_to_ns;
	w->looked_ns = 0;
	w->missed_ns = 0;
	w->happened = 1;
}

static void switch_on(struct vtr_watch *w, struct vtr_watch_news *out)
{
	out->lost_from_ns = w->sealed_ns;
	out->begun = out->over = 1;
	vtr_kinds_again(w->kinds);
	/* This look's own calls came earlier. */
	w->flush();
	wait_for_own(w, MOMENT_MS);
	w->broken_seen = atomic_load(&w->broken);
	renew(w, out);
}

/* Since when records may be missing. A buffer inherited at the start goes back to the other client,
 * with all records since. Outstanding buffers go to the other client, with their records,
 * and with the last look's buffer goes the proof that calls were not switched before it. If that came
 * back and shows the opposite, they were. */
static uint64_t since(const struct vtr_watch *w, const struct vtr_pool_state *buffers)
{
	int switched = atomic_load(&w->broken) != w->broken_seen;
	uint64_t from_ns =
		switched || (w->unasked && atomic_load(&w->own)) ? w->sealed_ns : w->good_ns;

	if (w->inherited_ns)
		return w->inherited_ns;
	return buffers->outstanding && buffers->oldest_ns < from_ns ? buffers->oldest_ns : from_ns;
}

static void begin_taken(struct vtr_watch *w, struct vtr_watch_news *out)
{
	struct vtr_pool_state buffers;

	if (w->taken)
		return;
	vtr_pool_state(w->pool, &buffers);
	w->good_ns = since(w, &buffers);
	w->happened_before = w->happened;
	w->taken = w->happened = w->kinds->shared = 1;
	out->begun = 1;
}

static void take_back(struct vtr_watch *w, struct vtr_watch_news *out)
{
	/* What the other client flushed last may come after that: it belongs to its profile. */
	sleep_ms(LATE_MS);
	if (w->take_back())
		return;
	/* The other client's buffers, perhaps with this look's record, now come to us. */
	w->flush();
	vtr_pool_forsake(w->pool);
	atomic_store(&w->own, NULL);
	w->taken = w->kinds->shared = 0;
	vtr_kinds_again(w->kinds);
	w->inherited_ns = 0;
	out->lost_from_ns = w->good_ns;
	out->over = out->taken_back = 1;
	renew(w, out);
}

void vtr_watch_look(struct vtr_watch *w, struct vtr_watch_news *out)
{
	uint64_t start_ns = vtr_now();
	enum sign sign;

	memset(out, 0, sizeof(*out));
	w->flush();
	/* A writer that the disk holds up empties none: the host needs those that are left, and CUPTI
	 * would count the record of a look that gets none as dropped. */
	if (vtr_pool_is_dry(w->pool))
		return;
	sign = look(w);
	if (sign == INTACT) {
		/* A switch made meanwhile shows when this look's buffer comes back. */
		if (w->looked_ns)
			w->sealed_ns = w->looked_ns;
		w->looked_ns = w->good_ns = start_ns;
		if (w->taken) {
			/* It was not taken: something else had kept the buffer. */
			out->over = 1;
			w->happened = w->happened_before;
		}
		w->taken = w->kinds->shared = 0;
	} else if (sign == SWITCHED && !w->taken) {
		switch_on(w, out);
	} else if (sign == TAKEN) {
		begin_taken(w, out);
		if (finished(w))
			take_back(w, out);
	}
}

int vtr_watch_is_taken(struct vtr_watch *w, int all_flushed)
{
	uint64_t silence_ns = all_flushed ? LATE_NS : patience_ns(w);

	if (w->taken || !w->unsure)
		return w->taken;
	return atomic_load(&w->callbacks) == w->moved &&
	       vtr_clock_ns(CLOCK_MONOTONIC) - w->missed_ns >= silence_ns;
}

int vtr_watch_end(struct vtr_watch *w, uint64_t stop_ns, struct vtr_watch_news *out)
{
	struct vtr_pool_state buffers;

	memset(out, 0, sizeof(*out));
	vtr_pool_state(w->pool, &buffers);
	/* After a look without a sign, any callback is a sign. If no look ever found one, a buffer
	 * of ours that came back is, unless another client's came too. */
	if (w->taken || (w->unsure && (w->works ? atomic_load(&w->callbacks) == w->moved
						: !buffers.given || atomic_load(&w->foreign))))
		out->lost_from_ns = since(w, &buffers);
	else if (atomic_load(&w->broken) != w->broken_seen)
		out->lost_from_ns = w->sealed_ns;
	else
		return w->happened;
	out->lost_to_ns = stop_ns;
	return 1;
}

/* ---- begin ---- */

uint32_t vtr_watch_cbid(const struct vtr_cupti_functions *fn)
{
	return find_cbid(fn, ASKED);
}

void vtr_watch_begin(struct vtr_watch *w)
{
	void *asked = w->kinds->watched ? vtr_driver_symbol(ASKED) : NULL;
	void *unasked = vtr_driver_symbol(UNASKED);
	int found;

	memcpy(&w->asked, &asked, sizeof(asked));
	memcpy(&w->unasked, &unasked, sizeof(unasked));
	w->kinds->unwatched = w->kinds->by_call ? find_cbid(&w->kinds->library->fn, UNASKED) : 0;
	if (!w->kinds->unwatched)
		w->unasked = NULL;
	w->taken = w->happened = w->happened_before = w->returns = w->tells_kinds = 0;
	w->unsure = w->settled = 0;
	w->looked_ns = w->missed_ns = w->broken_seen = w->moved = 0;
	atomic_store(&w->broken, 0);
	atomic_store(&w->foreign, 0);
	atomic_store(&w->callbacks, 0);
	w->good_ns = w->sealed_ns = vtr_now();
	w->per_thread_set = w->by_thread = per_thread(w) == 1;
	found = call_asked(w);
	w->works = found == 1;
	w->inherited_ns = found ? 0 : w->good_ns;
	/* The host's own records follow it there. */
	atomic_store(&w->own, NULL);
}

void vtr_watch_begun(struct vtr_watch *w)
{
	uint64_t enabled = vtr_watch_enabled(&w->kinds->library->fn);

	w->tells_kinds = enabled && (enabled & w->kinds->enabled) == w->kinds->enabled;
}
