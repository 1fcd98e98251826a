/* stack_sampler.c - ticks, and at each tick the threads that call CUDA.
 *
 * Everything that it needs of a thread is allocated when it is first seen. Threads that ended, or
 * have not called for long, make room for others. */
#include "tracer/python_stacks/stack_sampler.h"

#include "formats/base/memory.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/loaded/loaded_symbols.h"
#include "tracer/guest/own_thread.h"
#include "tracer/handover/gate.h"
#include "tracer/python_stacks/python_code.h"
#include "tracer/python_stacks/python_stack.h"
#include "tracer/python_stacks/thread_state.h"
#include "tracer/ranges/cuda_callers.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	NAMINGS = 3,  /* reads of a stack whose code is new */
	IDLE_MS = 50, /* between looks for a thread that calls CUDA */
	SHARE = 200,  /* of a processor's time is left to others, for one of ours */
	NO_WAIT = 97, /* percent of an interval, on a processor: it has not waited for one */
	SURPRISE_NS = 50000,
	/* Before a thread without a Python state is looked at again; doubled four times, to 1.6 s. */
	RETRY_MS = 100,
	RETRIES = 4
};

struct watched {
	uint32_t tid;
	int is_listed; /* in this tick */
	struct vtr_thread_state state;
	uint64_t retry_ns; /* CLOCK_MONOTONIC; 0: now */
	unsigned retries;
	uint64_t time_ns, cpu_ns; /* at the last sample; the first by the trace clock */
	uint64_t wait_ns;         /* when it was last read */
	int has_sample;
	int rests; /* it slept then, and the sample's stack is what it will go on with */
	struct vtr_stack_sample last;
	struct vtr_stack_path path;
	struct vtr_python_plan plan;
};

struct vtr_stack_sampler {
	pthread_t thread;
	uint32_t hz;
	struct vtr_gate stop, ended;
	pthread_mutex_t lock;     /* of the next four */
	struct vtr_mailbox *mail; /* NULL: nobody wants more */
	int has_thread, is_stopped;
	uint64_t loaded; /* libraries, when it was last looked for a Python */
	struct vtr_stack_samples *samples;

	/* The thread's own. */
	struct vtr_own_memory memory;
	struct vtr_python python;
	struct vtr_python_reader *reader;
	struct vtr_python_codes *codes;
	struct watched *watched[VTR_CALLERS_MAX];
	struct vtr_python_stack stack;
	uint32_t places[VTR_PYTHON_DEPTH_MAX];
	uint64_t cost_ns; /* processor time of a tick, of late */
	uint32_t random;
	int is_off;
	uint64_t ticks, taken, cut, torn, deep;
};

static atomic_uint threads;
/* One that hangs, so that leak checkers of the host see who owns it. */
static _Atomic(struct vtr_stack_sampler *) held;

unsigned vtr_stack_sampler_threads(void)
{
	return atomic_load(&threads);
}

/* ---- facts ---- */

static void post(struct vtr_stack_sampler *s, enum vpt_metadata fact, const char *value)
{
	pthread_mutex_lock(&s->lock);
	if (s->mail)
		vtr_mailbox_fact(s->mail, fact, value);
	pthread_mutex_unlock(&s->lock);
}

static void post_number(struct vtr_stack_sampler *s, enum vpt_metadata fact, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	post(s, fact, text);
}

static void post_counts(struct vtr_stack_sampler *s)
{
	if (!s->codes)
		return;
	post_number(s, VPT_METADATA_STACKS_TICKS, s->ticks);
	post_number(s, VPT_METADATA_STACKS_SAMPLES, s->taken);
	if (s->cut)
		post_number(s, VPT_METADATA_STACKS_CUT, s->cut);
	if (s->torn)
		post_number(s, VPT_METADATA_STACKS_TORN, s->torn);
	if (s->deep)
		post_number(s, VPT_METADATA_STACKS_DEEP, s->deep);
	if (s->samples->refused)
		post_number(s, VPT_METADATA_STACKS_REFUSED, s->samples->refused);
}

/* ---- the interpreter ---- */

static void give_up(struct vtr_stack_sampler *s, const char *why)
{
	s->is_off = 1;
	post(s, VPT_METADATA_STACKS_UNAVAILABLE, why);
}

/* Prepares for the interpreter that was found. */
static void begin(struct vtr_stack_sampler *s)
{
	s->reader = vtr_python_reader_new(&s->memory, &s->python);
	s->codes = s->reader ? vtr_python_codes_new(&s->memory, &s->python, &s->samples->places)
			     : NULL;
	if (!s->codes) {
		give_up(s, "no memory for the stacks of threads");
		return;
	}
	post(s, VPT_METADATA_STACKS_PYTHON, s->python.version);
	post_number(s, VPT_METADATA_STACKS_RATE, s->hz);
}

static void find_python(struct vtr_stack_sampler *s)
{
	struct vpt_err err;

	vtr_own_memory_open(&s->memory);
	if (s->memory.way == VTR_OWN_MEMORY_REFUSED)
		give_up(s, "the system refuses process_vm_readv() and /proc/self/mem, by which "
			   "this process would read its own memory");
	else if (!vtr_python_find(&s->memory, &s->python, &err))
		begin(s);
	else
		give_up(s, err.text);
}

/* ---- one thread ---- */

static uint32_t state_of(const struct watched *w, uint64_t cpu_ns)
{
	uint32_t state;

	if (vtr_thread_cpu_ns(w->tid) != cpu_ns)
		return VPT_THREADSTATE_RUNNING;
	state = vtr_thread_state_now(&w->state);
	return state == VPT_THREADSTATE_RUNNING ? VPT_THREADSTATE_WAITING : state;
}

/* Reads and names a stack, again if its code was not known. Returns the outcome; the number of the
 * stack is in *stack. */
static enum vtr_python_outcome read_stack(
	struct vtr_stack_sampler *s, struct watched *w, uint32_t *stack)
{
	enum vtr_python_outcome outcome;
	uint32_t count;
	int i, rc = 1;

	for (i = 0; i < NAMINGS && rc == 1; i++) {
		outcome = vtr_python_stack_read(s->reader, &w->plan, &s->stack);
		if (outcome != VTR_PYTHON_WHOLE && outcome != VTR_PYTHON_CUT)
			return outcome;
		/* Naming adds to the tables. */
		pthread_mutex_lock(&s->samples->lock);
		rc = vtr_python_codes_name(s->codes, &s->stack, s->places, &count);
		pthread_mutex_unlock(&s->samples->lock);
	}
	if (rc)
		return VTR_PYTHON_TORN;
	*stack = vtr_stack_samples_stack(s->samples, &w->path, s->places, count);
	return outcome;
}

/* To read how long it waited costs more than what it can say of a thread that was on a processor all the
 * time. What little that thread did wait is added to the next interval for which it is read. */
static int may_have_waited(const struct watched *w, uint64_t cpu_ns)
{
	uint64_t interval_ns = w->last.time_ns - w->time_ns;

	return (cpu_ns - w->cpu_ns) * 100 < interval_ns * NO_WAIT;
}

/* Microseconds since it was last read; 0 if it never was. */
static uint32_t waited_us(struct watched *w)
{
	struct vtr_thread_times times;
	uint64_t before_ns = w->wait_ns;

	vtr_thread_state_times(&w->state, &times);
	w->wait_ns = times.wait_ns;
	if (!before_ns || times.wait_ns < before_ns)
		return 0;
	return (uint32_t)(times.wait_ns / 1000 - before_ns / 1000);
}

static void emit(struct vtr_stack_sampler *s, struct watched *w, uint64_t cpu_ns)
{
	w->last.cpu_us = w->last.wait_us = 0;
	if (w->rests && w->has_sample && cpu_ns == w->cpu_ns) {
		s->taken += vtr_stack_samples_fill(
			s->samples, &w->last, w->time_ns, 1000000000 / s->hz);
		w->time_ns = w->last.time_ns;
		vtr_stack_samples_put(s->samples, &w->last);
		s->taken++;
		return;
	}
	if (w->has_sample)
		w->last.cpu_us = (uint32_t)(cpu_ns / 1000 - w->cpu_ns / 1000);
	if (!w->has_sample || may_have_waited(w, cpu_ns))
		w->last.wait_us = waited_us(w);
	w->time_ns = w->last.time_ns;
	w->cpu_ns = cpu_ns;
	w->has_sample = 1;
	w->rests = w->last.state == VPT_THREADSTATE_SLEEPING ||
		   w->last.state == VPT_THREADSTATE_UNINTERRUPTIBLE;
	vtr_stack_samples_put(s->samples, &w->last);
	s->taken++;
}

/* 0, or -1: the thread has ended. */
static int sample(struct vtr_stack_sampler *s, struct watched *w, uint64_t now_ns)
{
	uint64_t cpu_ns = vtr_thread_cpu_ns(w->tid);
	enum vtr_python_outcome outcome;
	uint32_t stack = 0;

	if (cpu_ns == UINT64_MAX)
		return -1;
	w->last.time_ns = vtr_now();
	if (w->has_sample && w->rests && cpu_ns == w->cpu_ns) {
		emit(s, w, cpu_ns);
		return 0;
	}
	w->rests = 0;
	outcome = read_stack(s, w, &stack);
	switch (outcome) {
	case VTR_PYTHON_ENDED:
		return -1;
	case VTR_PYTHON_TORN:
		s->torn++;
		return 0;
	case VTR_PYTHON_DEEP:
		s->deep++;
		return 0;
	case VTR_PYTHON_NONE:
		if (!w->plan.thread.at) { /* not one of Python's */
			w->retry_ns = now_ns + ((uint64_t)RETRY_MS * 1000000 << w->retries);
			w->retries += w->retries < RETRIES;
			return 0;
		}
		break;
	case VTR_PYTHON_CUT:
		s->cut++;
		break;
	case VTR_PYTHON_WHOLE:
		break;
	}
	if (stack == UINT32_MAX)
		return 0; /* refused, and counted */
	w->last.tid = w->tid;
	w->last.stack = stack;
	w->last.flags = outcome == VTR_PYTHON_CUT ? VPT_SAMPLE_TRUNCATED : 0;
	w->last.state = state_of(w, cpu_ns);
	emit(s, w, cpu_ns);
	return 0;
}

/* ---- all threads ---- */

static void forget(struct vtr_stack_sampler *s, size_t i)
{
	vtr_thread_state_close(&s->watched[i]->state);
	vpt_free(s->watched[i]);
	s->watched[i] = NULL;
}

/* The entry of a thread; NULL: no memory, or no room in this tick. */
static struct watched *watch(struct vtr_stack_sampler *s, uint32_t tid)
{
	size_t i, room = VTR_CALLERS_MAX;
	struct watched *w;

	for (i = 0; i < VTR_CALLERS_MAX; i++) {
		if (s->watched[i] && s->watched[i]->tid == tid)
			return s->watched[i];
		if (!s->watched[i])
			room = i;
	}
	if (room == VTR_CALLERS_MAX)
		return NULL;
	w = vpt_calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->tid = w->plan.tid = tid;
	vtr_thread_state_open(&w->state, tid);
	return s->watched[room] = w;
}

/* Samples all threads; returns whether there are any. */
static int tick(struct vtr_stack_sampler *s, uint64_t now_ns)
{
	uint32_t tids[VTR_CALLERS_MAX];
	struct watched *w;
	size_t i, count;

	count = vtr_callers(
		now_ns > VTR_STACKS_LATELY_NS ? now_ns - VTR_STACKS_LATELY_NS : 0, tids);
	if (!count)
		return 0;
	if (!s->codes) {
		find_python(s);
		return !s->is_off;
	}
	s->ticks++;
	for (i = 0; i < count; i++) {
		w = watch(s, tids[i]);
		if (w)
			w->is_listed = 1;
	}
	for (i = 0; i < VTR_CALLERS_MAX; i++) {
		w = s->watched[i];
		if (!w)
			continue;
		if (!w->is_listed || (now_ns >= w->retry_ns && sample(s, w, now_ns)))
			forget(s, i);
		else
			w->is_listed = 0;
	}
	return 1;
}

static void release(struct vtr_stack_sampler *s)
{
	vtr_python_codes_free(s->codes);
	vtr_python_reader_free(s->reader);
	vtr_stack_samples_free(s->samples);
	vtr_gate_free(&s->stop);
	vtr_gate_free(&s->ended);
	pthread_mutex_destroy(&s->lock);
	vpt_free(s);
}

/* The mean time between ticks. A tick that costs much, as with many threads or without
 * process_vm_readv(), makes ticks rarer. A single one that costs much more than those before it, as
 * when a virtual machine stands still, counts little. */
static uint64_t mean_step(struct vtr_stack_sampler *s, uint64_t *cpu_ns)
{
	uint64_t now_ns = vtr_clock_ns(CLOCK_THREAD_CPUTIME_ID), step_ns = 1000000000 / s->hz;

	uint64_t used_ns = now_ns - *cpu_ns, most_ns = 2 * s->cost_ns + SURPRISE_NS;

	s->cost_ns += (used_ns < most_ns ? used_ns : most_ns) / 8 - s->cost_ns / 8;
	*cpu_ns = now_ns;
	return s->cost_ns * SHARE > step_ns ? s->cost_ns * SHARE : step_ns;
}

/* A time from half the mean to one and a half, all equally likely: regular ticks would always find a
 * loop of the same length, or of a fraction of it, at the same line. */
static uint64_t any_step(struct vtr_stack_sampler *s, uint64_t mean_ns)
{
	s->random =
		s->random * 1664525 + 1013904223; /* Numerical Recipes; the high bits are good */
	return mean_ns / 2 + mean_ns / 1024 * (s->random >> 22);
}

static void *run(void *arg)
{
	struct vtr_stack_sampler *s = arg;
	uint64_t now_ns = vtr_clock_ns(CLOCK_MONOTONIC), next_ns = now_ns, step_ns;
	uint64_t cpu_ns = vtr_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	size_t i;

	pthread_setname_np(pthread_self(), "vptrace-stacks");
	s->random = (uint32_t)now_ns;
	while (!s->is_off && !vtr_gate_wait(&s->stop, next_ns)) {
		if (tick(s, vtr_clock_ns(CLOCK_MONOTONIC)))
			step_ns = any_step(s, mean_step(s, &cpu_ns));
		else
			step_ns = (uint64_t)IDLE_MS * 1000000;
		next_ns += step_ns;
		now_ns = vtr_clock_ns(CLOCK_MONOTONIC);
		/* Ticks that were missed are not made up for. */
		if (next_ns < now_ns)
			next_ns = now_ns + step_ns;
	}
	for (i = 0; i < VTR_CALLERS_MAX; i++)
		if (s->watched[i])
			forget(s, i);
	vtr_own_memory_close(&s->memory);
	post_counts(s);
	atomic_fetch_sub(&threads, 1);
	vtr_gate_open(&s->ended);
	return NULL;
}

void vtr_stack_sampler_expect(void)
{
	if (vtr_python_is_there())
		vtr_callers_watch();
}

/* Under the lock. 0, also if there is no Python, or VPT_ENOMEM. */
static int start_thread(struct vtr_stack_sampler *s, struct vpt_err *err)
{
	uint64_t loaded = vtr_loaded_count();
	int rc;

	if (s->has_thread || s->is_stopped || (loaded && loaded == s->loaded))
		return VPT_OK;
	s->loaded = loaded;
	if (!vtr_python_is_there())
		return VPT_OK;
	vtr_callers_watch();
	atomic_fetch_add(&threads, 1);
	rc = vtr_own_thread(&s->thread, run, s);
	s->has_thread = !rc;
	if (!rc)
		return VPT_OK;
	atomic_fetch_sub(&threads, 1);
	return vpt_fail(err, VPT_ENOMEM, "no thread for the sampler of stacks: %s", strerror(rc));
}

int vtr_stack_sampler_start(
	struct vtr_mailbox *mail, uint32_t hz, struct vtr_stack_sampler **out, struct vpt_err *err)
{
	struct vtr_stack_sampler *s = vpt_calloc(1, sizeof(*s));
	int rc;

	*out = NULL;
	if (s)
		s->samples = vtr_stack_samples_new();
	if (!s || !s->samples) {
		vpt_free(s);
		return vpt_fail(err, VPT_ENOMEM, "no memory for the sampler of stacks");
	}
	s->mail = mail;
	s->hz = hz;
	s->memory.fd = -1;
	vtr_gate_init(&s->stop);
	vtr_gate_init(&s->ended);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_lock(&s->lock);
	rc = start_thread(s, err);
	pthread_mutex_unlock(&s->lock);
	if (rc)
		release(s);
	else
		*out = s;
	return rc;
}

void vtr_stack_sampler_look(struct vtr_stack_sampler *s)
{
	struct vpt_err err;
	int rc;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	rc = start_thread(s, &err);
	pthread_mutex_unlock(&s->lock);
	if (rc)
		post(s, VPT_METADATA_STACKS_UNAVAILABLE, err.text);
}

struct vtr_stack_samples *vtr_stack_sampler_samples(struct vtr_stack_sampler *s)
{
	return s->samples;
}

void vtr_stack_sampler_stop(struct vtr_stack_sampler *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->is_stopped = 1;
	pthread_mutex_unlock(&s->lock);
	vtr_gate_open(&s->stop);
}

int vtr_stack_sampler_wait(struct vtr_stack_sampler *s, uint64_t deadline_ns)
{
	int has_thread;

	if (!s)
		return 0;
	pthread_mutex_lock(&s->lock);
	has_thread = s->has_thread;
	pthread_mutex_unlock(&s->lock);
	if (has_thread && !vtr_gate_wait(&s->ended, deadline_ns))
		return -1;
	if (has_thread)
		pthread_join(s->thread, NULL);
	pthread_mutex_lock(&s->lock);
	s->has_thread = 0;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

void vtr_stack_sampler_free(struct vtr_stack_sampler *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->mail = NULL;
	pthread_mutex_unlock(&s->lock);
	if (!vtr_stack_sampler_wait(s, 0)) {
		release(s);
	} else {
		pthread_detach(s->thread);
		atomic_store(&held, s);
	}
}
