/* counter_sampler.c - rounds of samples.
 *
 * The thread reads into its own memory without a lock, and posts a round under one, so that
 * whoever takes the mailbox away never waits for a reading. Two own the sampler, its thread and
 * the capture; the last one frees it. */
#include "tracer/counters/counter_sampler.h"

#include "formats/base/memory.h"
#include "formats/series.h"
#include "tracer/counters/nvml.h"
#include "tracer/counters/proc.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/loaded/driver.h"
#include "tracer/guest/own_thread.h"
#include "tracer/handover/gate.h"
#include "tracer/ranges/words/range_strings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { GPUS_MAX = 64 };

static const enum vpt_series gpu_series[VTR_GPU_QUANTITIES] = {
	[VTR_GPU_MEMORY_USED] = VPT_SERIES_MEMORY_USED,
	[VTR_GPU_MEMORY_TOTAL] = VPT_SERIES_MEMORY_TOTAL,
	[VTR_GPU_UTILIZATION] = VPT_SERIES_GPU_UTILIZATION,
	[VTR_GPU_MEMORY_UTILIZATION] = VPT_SERIES_MEMORY_UTILIZATION,
	[VTR_GPU_POWER] = VPT_SERIES_POWER,
	[VTR_GPU_SM_CLOCK] = VPT_SERIES_SM_CLOCK,
	[VTR_GPU_MEMORY_CLOCK] = VPT_SERIES_MEMORY_CLOCK,
	[VTR_GPU_CLOCK_REASONS] = VPT_SERIES_CLOCK_REASONS,
	[VTR_GPU_TEMPERATURE] = VPT_SERIES_TEMPERATURE,
};

static const enum vpt_series proc_series[VTR_PROC_QUANTITIES] = {
	[VTR_PROC_CPU] = VPT_SERIES_PROCESS_CPU,
	[VTR_PROC_RESIDENT] = VPT_SERIES_PROCESS_MEMORY,
	[VTR_PROC_DISK_READ] = VPT_SERIES_DISK_READ,
	[VTR_PROC_MAJOR_FAULTS] = VPT_SERIES_MAJOR_FAULTS,
	[VTR_PROC_MINOR_FAULTS] = VPT_SERIES_MINOR_FAULTS,
	[VTR_PROC_CONTEXT_SWITCHES] = VPT_SERIES_CONTEXT_SWITCHES,
	[VTR_PROC_SYSTEM_CPU] = VPT_SERIES_SYSTEM_CPU,
	[VTR_PROC_AVAILABLE_MEMORY] = VPT_SERIES_AVAILABLE_MEMORY,
	[VTR_PROC_THROTTLED] = VPT_SERIES_QUOTA_THROTTLED,
};

#define BIT(quantity) (1u << (quantity))

/* What each monitor reads. */
static const struct {
	unsigned gpu, proc; /* bits by quantity */
} read_by[VTR_MONITORS] = {
	[VTR_MONITOR_MEMORY] = {BIT(VTR_GPU_MEMORY_USED) | BIT(VTR_GPU_MEMORY_TOTAL), 0},
	[VTR_MONITOR_UTILIZATION] = {BIT(VTR_GPU_UTILIZATION) | BIT(VTR_GPU_MEMORY_UTILIZATION), 0},
	[VTR_MONITOR_POWER] = {BIT(VTR_GPU_POWER), 0},
	[VTR_MONITOR_CLOCKS] = {BIT(VTR_GPU_SM_CLOCK) | BIT(VTR_GPU_MEMORY_CLOCK) |
					BIT(VTR_GPU_CLOCK_REASONS),
		0},
	[VTR_MONITOR_TEMPERATURE] = {BIT(VTR_GPU_TEMPERATURE), 0},
	[VTR_MONITOR_CPU] = {0,
		BIT(VTR_PROC_CPU) | BIT(VTR_PROC_SYSTEM_CPU) | BIT(VTR_PROC_THROTTLED)},
	[VTR_MONITOR_RAM] = {0, BIT(VTR_PROC_RESIDENT) | BIT(VTR_PROC_AVAILABLE_MEMORY)},
	[VTR_MONITOR_DISK] = {0, BIT(VTR_PROC_DISK_READ)},
	[VTR_MONITOR_FAULTS] = {0, BIT(VTR_PROC_MAJOR_FAULTS) | BIT(VTR_PROC_MINOR_FAULTS) |
					   BIT(VTR_PROC_CONTEXT_SWITCHES)},
};

struct vtr_sampler {
	pthread_t thread;
	uint64_t interval_ns[VTR_MONITORS]; /* 0: off */
	struct vtr_gate stop, ended;
	pthread_mutex_t lock;
	struct vtr_mailbox *mail; /* NULL: nobody wants more */
	int owners;
	int hung; /* was freed before its thread had ended */

	/* The thread's own. */
	uint64_t next_ns[VTR_MONITORS]; /* CLOCK_MONOTONIC */
	struct vtr_proc proc[VTR_MONITORS];
	struct vtr_nvml *nvml;
	int gpus_known; /* their number, and which of them NVML knows */
	int gpu_count;
	void *gpus[GPUS_MAX]; /* by CUDA's device number; NULL: NVML does not know it */
	uint32_t gpu_names[VTR_GPU_QUANTITIES], gpu_units[VTR_GPU_QUANTITIES];
	uint32_t proc_names[VTR_PROC_QUANTITIES], proc_units[VTR_PROC_QUANTITIES];
};

static atomic_uint threads, hung;
/* One that hangs, so that leak checkers of the host see who owns it. */
static _Atomic(struct vtr_sampler *) held;

unsigned vtr_sampler_threads(void)
{
	return atomic_load(&threads);
}

/* Releases an owner's part, with the lock held. */
static void release(struct vtr_sampler *s)
{
	int left = --s->owners;

	pthread_mutex_unlock(&s->lock);
	if (left)
		return;
	vtr_gate_free(&s->stop);
	vtr_gate_free(&s->ended);
	pthread_mutex_destroy(&s->lock);
	vpt_free(s);
}

/* ---- posting ---- */

static void post(struct vtr_sampler *s, const struct vtr_mail *mail)
{
	pthread_mutex_lock(&s->lock);
	if (s->mail)
		vtr_mailbox_post(s->mail, mail);
	pthread_mutex_unlock(&s->lock);
}

static void post_fact(struct vtr_sampler *s, enum vpt_metadata fact, const char *value)
{
	struct vtr_mail mail = {.type = VTR_MAIL_META,
		.key = (char *)(uintptr_t)vpt_metadata_key(fact),
		.value = (char *)(uintptr_t)value};

	post(s, &mail);
}

static void post_sample(struct vtr_sampler *s, uint64_t time_ns, int64_t device, uint32_t name,
	uint32_t unit, double value)
{
	struct vtr_mail mail = {.type = VTR_MAIL_SAMPLE,
		.sample = {.name = name,
			.unit = unit,
			.device = device,
			.time_ns = time_ns,
			.value = value}};

	post(s, &mail);
}

/* ---- GPUs ---- */

/* Which GPUs NVML knows; says in `words` which of them it does not. */
static void find_gpus(struct vtr_sampler *s, char *words, size_t size)
{
	size_t used = strlen(words);
	uint8_t uuid[16];
	int i;

	for (i = 0; i < s->gpu_count; i++) {
		s->gpus[i] = vtr_driver_uuid(i, uuid) ? NULL : vtr_nvml_find(s->nvml, uuid);
		if (!s->gpus[i] && used < size)
			used += (size_t)snprintf(words + used, size - used, ", without GPU %d", i);
	}
}

/* CUDA may start at any time; its devices then stay. */
static void look_for_gpus(struct vtr_sampler *s)
{
	char words[512] = "unavailable: a call of NVML, in an earlier capture, has not returned";
	int count = s->gpus_known ? 0 : vtr_driver_gpus();

	if (!count)
		return;
	s->gpus_known = 1;
	s->gpu_count = count < GPUS_MAX ? count : GPUS_MAX;
	if (!atomic_load(&hung))
		s->nvml = vtr_nvml_open(words, sizeof(words));
	if (s->nvml)
		find_gpus(s, words, sizeof(words));
	post_fact(s, VPT_METADATA_NVML, words);
}

static void sample_gpus(struct vtr_sampler *s, unsigned wanted)
{
	struct vtr_gpu_values values;
	uint64_t time_ns;
	int i, q;

	if (wanted)
		look_for_gpus(s);
	for (i = 0; wanted && s->nvml && i < s->gpu_count; i++) {
		if (!s->gpus[i])
			continue;
		time_ns = vtr_now();
		vtr_nvml_read(s->nvml, s->gpus[i], wanted, &values);
		for (q = 0; q < VTR_GPU_QUANTITIES; q++)
			if (wanted & values.known & BIT(q))
				post_sample(s, time_ns, i, s->gpu_names[q], s->gpu_units[q],
					values.value[q]);
	}
}

static void sample_proc(struct vtr_sampler *s, enum vtr_monitor m, uint64_t time_ns)
{
	struct vtr_proc_values values;
	int q;

	vtr_proc_read(&s->proc[m], read_by[m].proc, &values);
	for (q = 0; q < VTR_PROC_QUANTITIES; q++)
		if (read_by[m].proc & values.known & BIT(q))
			post_sample(s, time_ns, -1, s->proc_names[q], s->proc_units[q],
				values.value[q]);
}

/* ---- rounds ---- */

/* Sets when a monitor is due again. Rounds that were missed are not made up for. */
static void plan(struct vtr_sampler *s, enum vtr_monitor m)
{
	uint64_t now_ns = vtr_clock_ns(CLOCK_MONOTONIC);

	s->next_ns[m] += s->interval_ns[m];
	if (s->next_ns[m] < now_ns)
		s->next_ns[m] = now_ns + s->interval_ns[m];
}

/* Reads what is due by `now_ns`. NVML, which may hang, is last. */
static void sample(struct vtr_sampler *s, uint64_t now_ns)
{
	uint64_t time_ns = vtr_now();
	unsigned gpu = 0, due = 0;
	int m;

	for (m = 0; m < VTR_MONITORS; m++) {
		if (!s->interval_ns[m] || s->next_ns[m] > now_ns)
			continue;
		due |= BIT(m);
		gpu |= read_by[m].gpu;
		if (read_by[m].proc)
			sample_proc(s, (enum vtr_monitor)m, time_ns);
	}
	sample_gpus(s, gpu);
	for (m = 0; m < VTR_MONITORS; m++)
		if (due & BIT(m))
			plan(s, (enum vtr_monitor)m);
}

static uint64_t next_round(const struct vtr_sampler *s)
{
	uint64_t next_ns = UINT64_MAX;
	int m;

	for (m = 0; m < VTR_MONITORS; m++)
		if (s->interval_ns[m] && s->next_ns[m] < next_ns)
			next_ns = s->next_ns[m];
	return next_ns;
}

/* ---- the thread ---- */

static void name_series(
	const enum vpt_series *series, size_t count, uint32_t *names, uint32_t *units)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const char *name = vpt_series_name(series[i]), *unit = vpt_series_unit(series[i]);

		names[i] = vtr_name(name, strlen(name));
		units[i] = vtr_name(unit, strlen(unit));
	}
}

/* The thread's part ends, and whatever its call of NVML did. */
static void end_thread(struct vtr_sampler *s)
{
	struct vtr_sampler *mine = s;

	pthread_mutex_lock(&s->lock);
	if (s->hung) {
		atomic_compare_exchange_strong(&held, &mine, NULL);
		atomic_fetch_sub(&hung, 1);
	}
	release(s);
}

static void *run(void *arg)
{
	struct vtr_sampler *s = arg;
	uint64_t next_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	int is_last, m;

	pthread_setname_np(pthread_self(), "vptrace-sample");
	name_series(gpu_series, VTR_GPU_QUANTITIES, s->gpu_names, s->gpu_units);
	name_series(proc_series, VTR_PROC_QUANTITIES, s->proc_names, s->proc_units);
	for (m = 0; m < VTR_MONITORS; m++)
		s->next_ns[m] = next_ns;
	do {
		is_last = vtr_gate_wait(&s->stop, next_round(s));
		sample(s, is_last ? UINT64_MAX : vtr_clock_ns(CLOCK_MONOTONIC));
	} while (!is_last);
	vtr_gate_open(&s->ended);
	vtr_nvml_close(s->nvml);
	end_thread(s);
	atomic_fetch_sub(&threads, 1);
	return NULL;
}

int vtr_sampler_start(struct vtr_mailbox *mail, const struct vtr_monitors *monitors,
	struct vtr_sampler **out, struct vpt_err *err)
{
	struct vtr_sampler *s = vpt_calloc(1, sizeof(*s));
	int rc, m;

	*out = NULL;
	if (!s)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the sampler");
	s->mail = mail;
	for (m = 0; m < VTR_MONITORS; m++)
		s->interval_ns[m] = (uint64_t)monitors->ms[m] * 1000000;
	s->owners = 2;
	vtr_gate_init(&s->stop);
	vtr_gate_init(&s->ended);
	pthread_mutex_init(&s->lock, NULL);
	atomic_fetch_add(&threads, 1);
	rc = vtr_own_thread(&s->thread, run, s);
	if (rc) {
		atomic_fetch_sub(&threads, 1);
		s->owners = 1;
		pthread_mutex_lock(&s->lock);
		release(s);
		return vpt_fail(err, VPT_ENOMEM, "no thread for the sampler: %s", strerror(rc));
	}
	pthread_detach(s->thread);
	*out = s;
	return VPT_OK;
}

void vtr_sampler_stop(struct vtr_sampler *s)
{
	if (s)
		vtr_gate_open(&s->stop);
}

int vtr_sampler_wait(struct vtr_sampler *s, uint64_t deadline_ns)
{
	return !s || vtr_gate_wait(&s->ended, deadline_ns) ? 0 : -1;
}

void vtr_sampler_free(struct vtr_sampler *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->mail = NULL;
	/* The thread may end at any moment, but not release its part meanwhile. */
	s->hung = s->owners == 2 && !vtr_gate_wait(&s->ended, 0);
	if (s->hung) {
		atomic_store(&held, s);
		atomic_fetch_add(&hung, 1);
	}
	release(s);
}
