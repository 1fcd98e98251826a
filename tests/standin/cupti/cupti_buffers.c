/* cupti_buffers.c - activity buffers: asked for on the application's thread, inside the call that
 * needs one, and given back by a worker, by the caller of the flush, or some time after it.
 *
 * A record is written whole when its op is queued, because the op's end is known; what is left to
 * do is to keep the buffer until the clock has passed the last end in it. A forced flush does not
 * wait: it takes the ends away that have not come. */
#include "tests/standin/cupti/cupti_state.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POLL_MS = 5 };

/* Where a thread's records go; one for all threads where buffers are global. */
struct lane {
	struct cupti_buffer *current;
	int used; /* by a living thread */
	struct lane *next;
};

struct list {
	struct cupti_buffer *first, **last;
};

static struct lane *lanes, global_lane = {.used = 1};
static struct list waiting = {NULL, &waiting.first}, ready = {NULL, &ready.first};
static uint64_t ready_count,
	done_count; /* buffers that ever came onto the ready list, and left it */
static standin_requested client_requested;
static standin_completed client_completed;
static int per_thread = -1, zeroed, stolen, late_released;
static uint64_t dropped, foreign_countdown;

static pthread_key_t lane_key;
static pthread_once_t lane_once = PTHREAD_ONCE_INIT;
static __thread struct lane *my_lane;

static pthread_mutex_t worker_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t worker_wake;
static int worker_running, worker_asked;

static uint64_t now_ms(void)
{
	struct timespec t;

	sim_clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void wake_worker(void)
{
	pthread_mutex_lock(&worker_lock);
	worker_asked = 1;
	pthread_cond_signal(&worker_wake);
	pthread_mutex_unlock(&worker_lock);
}

static void append(struct list *l, struct cupti_buffer *b)
{
	b->next = NULL;
	*l->last = b;
	l->last = &b->next;
}

/* ---- from waiting to ready ---- */

static void make_ready(struct cupti_buffer *b, int flushed)
{
	const struct cupti_settings *s = cupti_settings();

	b->not_before_ms = 0;
	if (s->faults.late_ms)
		b->not_before_ms = late_released ? now_ms() + s->faults.late_ms : UINT64_MAX;
	else if (flushed && s->completion == COMPLETE_AFTER)
		b->not_before_ms = now_ms() + s->after_ms;
	append(&ready, b);
	ready_count++;
}

/* Moves what is complete, and asks to be called for the rest. */
static void sift(int flushed)
{
	struct cupti_buffer *b = waiting.first;
	uint64_t now = standin_now(), next = UINT64_MAX, before = ready_count;

	waiting = (struct list){NULL, &waiting.first};
	while (b) {
		struct cupti_buffer *rest = b->next;

		if (b->complete_ns <= now) {
			make_ready(b, flushed);
		} else {
			if (b->complete_ns < next)
				next = b->complete_ns;
			append(&waiting, b);
		}
		b = rest;
	}
	sim_due(next);
	if (ready_count != before && cupti_settings()->completion != COMPLETE_CALLER)
		wake_worker();
}

void cupti_buffers_due(void)
{
	sift(0);
}

static void retire(struct lane *l)
{
	append(&waiting, l->current);
	l->current = NULL;
	sift(0);
}

/* ---- asking for buffers ---- */

static void thief_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = malloc(1 << 20);
	*size = *buffer ? 1 << 20 : 0;
	*max_records = 0;
}

static struct cupti_buffer *request(void)
{
	struct cupti_buffer *b = calloc(1, sizeof(*b));
	struct standin_counts *c = sim_counts();

	if (!b)
		return NULL;
	b->thief = stolen;
	if (stolen) {
		thief_requested(&b->base, &b->size, &b->max_count);
	} else if (client_requested) {
		c->buffers_requested++;
		cupti_client_enter();
		client_requested(&b->base, &b->size, &b->max_count);
		cupti_client_leave();
		c->buffers_refused += !b->base;
	}
	if (!b->base || (uintptr_t)b->base % 8) {
		/* Before API 27 a refusal is a crash of the process. */
		if (!b->base && !stolen && client_requested && cupti_settings()->version < 27)
			abort();
		free(b);
		return NULL;
	}
	if (!zeroed)
		memset(b->base, 0, b->size);
	return b;
}

static void thread_ended(void *lane)
{
	sim_lock();
	((struct lane *)lane)->used = 0;
	sim_unlock();
}

static void make_key(void)
{
	pthread_key_create(&lane_key, thread_ended);
}

static struct lane *lane_of_thread(void)
{
	struct lane *l;

	if (!cupti_is_per_thread())
		return &global_lane;
	if (my_lane)
		return my_lane;
	pthread_once(&lane_once, make_key);
	for (l = lanes; l && l->used; l = l->next)
		continue;
	if (!l) {
		l = calloc(1, sizeof(*l));
		if (!l)
			abort(); /* the books would be wrong */
		l->next = lanes;
		lanes = l;
	}
	l->used = 1;
	my_lane = l;
	pthread_setspecific(lane_key, l);
	return l;
}

static int fits(const struct cupti_buffer *b, size_t bytes)
{
	return b->used + bytes <= b->size && (!b->max_count || b->count < b->max_count);
}

/* Faults that begin with the n-th record. */
static void count_record(void)
{
	struct standin_counts *c = sim_counts();
	const struct cupti_faults *f = &cupti_settings()->faults;

	c->records++;
	if (f->stolen && c->records == f->stolen)
		stolen = 1;
	if (f->fatal && c->records == f->fatal)
		cupti_die();
}

void *cupti_put(uint32_t kind, uint64_t complete_ns, struct cupti_buffer **buffer)
{
	struct standin_counts *c = sim_counts();
	size_t bytes = cupti_record_bytes[kind];
	struct lane *l = lane_of_thread();
	void *record;

	count_record();
	if (l->current && !fits(l->current, bytes))
		retire(l);
	if (!l->current)
		l->current = request();
	if (l->current && !fits(l->current, bytes))
		retire(l); /* not even room for one: it goes back empty */
	if (!l->current) {
		c->dropped++;
		dropped++;
		return NULL;
	}
	record = l->current->base + l->current->used;
	l->current->used += bytes;
	l->current->count++;
	if (complete_ns > l->current->complete_ns)
		l->current->complete_ns = complete_ns;
	c->held++;
	memcpy(record, &kind, 4);
	if (buffer)
		*buffer = l->current;
	return record;
}

uint64_t cupti_take_dropped(void)
{
	uint64_t n = dropped;

	dropped = 0;
	return n;
}

/* ---- giving them back ---- */

/* The first ready buffer whose time has come, off the list; NULL: none. `wait_ms` becomes the
 * moment of the next one. */
static struct cupti_buffer *take_ready(uint64_t *wait_ms)
{
	uint64_t now = now_ms();

	*wait_ms = UINT64_MAX;
	for (struct cupti_buffer **at = &ready.first; *at; at = &(*at)->next) {
		struct cupti_buffer *b = *at;

		if (b->not_before_ms <= now) {
			*at = b->next;
			if (!b->next)
				ready.last = at;
			return b;
		}
		if (b->not_before_ms < *wait_ms)
			*wait_ms = b->not_before_ms;
	}
	return NULL;
}

/* A buffer that the client never gave; it holds no record. */
static void deliver_foreign(standin_completed completed)
{
	static uint8_t foreign[4096] __attribute__((aligned(8)));

	cupti_client_enter();
	completed(NULL, 0, foreign, sizeof(foreign), 0);
	cupti_client_leave();
}

/* Called with the lock held once; calls the client without it when `unlock`. */
static void deliver(struct cupti_buffer *b, int unlock)
{
	struct standin_counts *c = sim_counts();
	standin_completed completed = client_completed;
	uint64_t foreign = cupti_settings()->faults.foreign_buffer;
	int gone = b->thief || stolen || !completed;

	if (!gone) {
		cupti_damage(b);
		c->held -= b->count;
		c->delivered += b->count;
		c->buffers_completed++;
	}
	if (unlock)
		sim_unlock();
	if (!gone && foreign && ++foreign_countdown == foreign)
		deliver_foreign(completed);
	if (!gone) {
		cupti_client_enter();
		completed(NULL, 0, b->base, b->size, b->valid);
		cupti_client_leave();
	} else if (b->thief) {
		free(b->base);
	}
	if (unlock)
		sim_lock();
	cupti_names_delivered(b);
	done_count++;
	free(b);
}

void cupti_deliver_in_call(void)
{
	struct cupti_buffer *b;
	uint64_t wait_ms;

	if (cupti_settings()->completion != COMPLETE_CALLER)
		return;
	while (ready.first && (b = take_ready(&wait_ms)))
		deliver(b, 0);
}

static void sleep_until(uint64_t ms)
{
	struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	pthread_mutex_lock(&worker_lock);
	while (!worker_asked) {
		if (ms == UINT64_MAX)
			pthread_cond_wait(&worker_wake, &worker_lock);
		else if (pthread_cond_timedwait(&worker_wake, &worker_lock, &t))
			break;
	}
	worker_asked = 0;
	pthread_mutex_unlock(&worker_lock);
}

static void *worker(void *unused)
{
	(void)unused;
	for (;;) {
		struct cupti_buffer *b;
		uint64_t wait_ms, names_ms;

		sim_lock();
		if (!sim_is_virtual())
			sift(0);
		b = take_ready(&wait_ms);
		names_ms = cupti_names_expire();
		if (b)
			deliver(b, 1);
		sim_unlock();
		if (b)
			continue;
		if (!sim_is_virtual() && wait_ms > now_ms() + POLL_MS)
			wait_ms = now_ms() + POLL_MS;
		sleep_until(wait_ms < names_ms ? wait_ms : names_ms);
	}
	return NULL;
}

void cupti_start_worker(void)
{
	pthread_condattr_t attributes;
	sigset_t all, before;
	pthread_t thread;

	if (worker_running)
		return;
	worker_running = 1;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&worker_wake, &attributes);
	pthread_condattr_destroy(&attributes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, NULL, worker, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- flushing ---- */

/* Where a record says when its op began and ended; 0: it is not an op's. */
static size_t times_of(uint32_t kind)
{
	switch (kind) {
	case STANDIN_KERNEL:
	case STANDIN_MEMCPY:
	case STANDIN_MEMCPY2:
	case STANDIN_MEMSET:
		return 16;
	case STANDIN_GRAPH_TRACE:
		return 8;
	default:
		return 0;
	}
}

/* Takes away what the clock has not reached. */
static void cut_off(struct cupti_buffer *b)
{
	uint64_t now = cupti_time(standin_now());

	if (b->complete_ns <= standin_now())
		return;
	for (size_t at = 0; at < b->used;) {
		uint64_t times[2];
		uint32_t kind;
		size_t where;

		memcpy(&kind, b->base + at, 4);
		where = times_of(kind);
		if (where) {
			memcpy(times, b->base + at + where, sizeof(times));
			times[0] = times[0] > now ? 0 : times[0];
			times[1] = times[1] > now ? 0 : times[1];
			memcpy(b->base + at + where, times, sizeof(times));
		}
		at += cupti_record_bytes[kind];
	}
	b->complete_ns = 0;
}

static void flush_lane(struct lane *l, int forced)
{
	struct cupti_buffer *b = l->current;

	if (!b || !b->count)
		return;
	if (forced)
		cut_off(b);
	if (b->complete_ns > standin_now())
		return;
	append(&waiting, b);
	l->current = NULL;
}

void cupti_flush(int forced)
{
	const struct cupti_settings *s = cupti_settings();
	struct cupti_buffer *b;
	uint64_t wait_ms, target;

	sim_lock();
	for (b = forced ? waiting.first : NULL; b; b = b->next)
		cut_off(b);
	flush_lane(&global_lane, forced);
	for (struct lane *l = lanes; l; l = l->next)
		flush_lane(l, forced);
	sift(1);
	target = ready_count;
	if (s->completion == COMPLETE_CALLER) {
		while ((b = take_ready(&wait_ms)))
			deliver(b, 1);
		sim_unlock();
		return;
	}
	sim_unlock();
	if (s->completion == COMPLETE_AFTER || s->faults.late_ms)
		return;
	for (;;) {
		int done;

		sim_lock();
		done = done_count >= target;
		sim_unlock();
		if (done)
			return;
		wake_worker();
		usleep(50);
	}
}

void cupti_release_late(void)
{
	uint64_t late_ms = cupti_settings()->faults.late_ms;

	if (!late_ms)
		return;
	late_released = 1;
	for (struct cupti_buffer *b = ready.first; b; b = b->next)
		b->not_before_ms = now_ms() + late_ms;
	wake_worker();
}

/* ---- attributes ---- */

void cupti_register(standin_requested requested, standin_completed completed)
{
	client_requested = requested;
	client_completed = completed;
	cupti_start_worker();
}

void cupti_set_per_thread(int on)
{
	per_thread = on;
}

int cupti_is_per_thread(void)
{
	const struct cupti_settings *s = cupti_settings();

	return s->buffers_forced || per_thread < 0 ? s->per_thread : per_thread;
}

void cupti_set_zeroed(int on)
{
	zeroed = on;
}

int cupti_is_zeroed(void)
{
	return zeroed;
}
