/* test_tracer_sampler.c - the sampler's rounds, what it costs, and that nobody waits for an NVML
 * that hangs, whenever it does. NVML is the stand-in's where it is on the loader's path. */
#include "tests/standin/include/standin_cuda.h"
#include "tracer/counters/counter_sampler.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/ranges/words/range_strings.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/support/skip.h"

enum { ROUND_MS = 5, PATIENCE_MS = 5000 };

static struct vtr_mailbox box;

/* What the mailbox held. */
struct counts {
	unsigned samples, gpu_samples, facts, rounds, faults;
	uint64_t last_ns;
	double resident, power;
	char nvml[512];
};

static void count_mail(struct counts *c, const struct vtr_mail *m)
{
	const char *name;
	size_t len;

	if (m->type == VTR_MAIL_META) {
		c->facts++;
		assert_string_equal(m->key, "nvml");
		snprintf(c->nvml, sizeof(c->nvml), "%s", m->value);
		return;
	}
	assert_int_equal(m->type, VTR_MAIL_SAMPLE);
	c->samples++;
	c->gpu_samples += m->sample.device >= 0;
	assert_true(m->sample.time_ns >= c->last_ns);
	c->last_ns = m->sample.time_ns;
	assert_true(m->sample.value >= 0);
	name = vtr_name_text(m->sample.name, &len);
	if (len == strlen("Process memory") && !memcmp(name, "Process memory", len)) {
		c->resident = m->sample.value;
		c->rounds++;
	}
	c->faults += len == strlen("Minor page faults") && !memcmp(name, "Minor page faults", len);
	if (len == strlen("Power draw") && !memcmp(name, "Power draw", len))
		c->power = m->sample.value;
}

static struct counts take_all(void)
{
	struct counts c = {0};
	struct vtr_mail *m;

	while ((m = vtr_mailbox_take(&box))) {
		count_mail(&c, m);
		vtr_mail_free(m);
	}
	return c;
}

static struct vtr_sampler *begin_with(const struct vtr_monitors *monitors)
{
	struct vtr_sampler *s;
	struct vpt_err err;

	assert_int_equal(vtr_sampler_start(&box, monitors, &s, &err), 0);
	return s;
}

static struct vtr_sampler *begin(unsigned interval_ms)
{
	struct vtr_monitors monitors;

	vtr_monitors_all(&monitors, interval_ms);
	return begin_with(&monitors);
}

static uint64_t in_ms(unsigned ms)
{
	return vtr_clock_ns(CLOCK_MONOTONIC) + (uint64_t)ms * 1000000;
}

static void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void end(struct vtr_sampler *s)
{
	vtr_sampler_stop(s);
	assert_int_equal(vtr_sampler_wait(s, in_ms(PATIENCE_MS)), 0);
	vtr_sampler_free(s);
}

static void all_threads_end(void)
{
	int i;

	for (i = 0; i < PATIENCE_MS && vtr_sampler_threads(); i++)
		sleep_ms(1);
	assert_int_equal(vtr_sampler_threads(), 0);
}

/* Memory is read at the start and the end, page faults again and again, all else never. */
static void each_monitor_has_its_own_rounds(void **state)
{
	struct vtr_monitors monitors = {0};
	struct counts c = {0}, more;
	struct vtr_sampler *s;
	int i;

	(void)state;
	monitors.ms[VTR_MONITOR_RAM] = 60000;
	monitors.ms[VTR_MONITOR_FAULTS] = ROUND_MS;
	s = begin_with(&monitors);
	for (i = 0; i < PATIENCE_MS && c.faults < 4; i++) {
		sleep_ms(1);
		more = take_all();
		c.faults += more.faults;
		c.rounds += more.rounds;
		c.samples += more.samples;
	}
	assert_int_equal(c.rounds, 1);
	end(s);
	more = take_all();
	assert_int_equal(more.rounds, 1);
	c.faults += more.faults;
	c.samples += more.samples;
	assert_true(c.faults >= 5);
	assert_int_equal(c.samples, 2 * 2 + 3 * c.faults);
}

static void the_first_and_the_last_round_are_always_taken(void **state)
{
	struct vtr_sampler *s = begin(60000);
	struct counts c = {0};
	int i;

	(void)state;
	for (i = 0; i < PATIENCE_MS && !c.rounds; i++) {
		sleep_ms(1);
		c = take_all();
	}
	assert_int_equal(c.rounds, 1);
	end(s);
	c = take_all();
	assert_int_equal(c.rounds, 1);
	assert_true(c.samples > 2); /* with rates */
	end(begin(60000));          /* the first may be the last */
	c = take_all();
	assert_in_range(c.rounds, 1, 2);
	assert_int_equal(c.gpu_samples, 0);
	assert_true(c.resident > 100000);
	all_threads_end();
}

static void nothing_is_posted_after_the_end(void **state)
{
	struct vtr_sampler *s;
	int i;

	(void)state;
	for (i = 0; i < 200; i++) {
		s = begin(1);
		sleep_ms(i % 3);
		vtr_sampler_stop(s);
		/* Now and then without the wait, as if it hung. */
		if (i % 2)
			vtr_sampler_wait(s, in_ms(PATIENCE_MS));
		vtr_sampler_free(s);
		take_all();
		sleep_ms(i % 2);
		assert_int_equal(take_all().samples, 0);
	}
	all_threads_end();
	vtr_sampler_stop(NULL);
	assert_int_equal(vtr_sampler_wait(NULL, 0), 0);
	vtr_sampler_free(NULL);
}

/* Freed without a wait, at any moment of their end. One that seemed to hang for ever would keep the next tests from NVML. */
static void nothing_hangs_that_ends(void **state)
{
	struct vtr_sampler *s;
	uint64_t from_ns;
	unsigned i;

	(void)state;
	for (i = 0; i < 600; i++) {
		s = begin(60000);
		vtr_sampler_stop(s);
		from_ns = vtr_clock_ns(CLOCK_MONOTONIC);
		while (vtr_clock_ns(CLOCK_MONOTONIC) - from_ns < (uint64_t)i * 2000)
			;
		vtr_sampler_free(s);
		take_all();
	}
	all_threads_end();
}

/* The stand-in's own libraries, in a process that did not link them. */
static int load_standin(void)
{
	CUresult (*init)(unsigned);
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), *found;

	found = cuda && dlsym(cuda, "standin_now") ? dlsym(cuda, "cuInit") : NULL;
	memcpy(&init, &found, sizeof(init));
	return found && !init(0);
}

static void a_gpu_has_values_once_cuda_runs(void **state)
{
	struct vtr_sampler *s;
	struct counts c;

	(void)state;
	if (!load_standin())
		vpt_skip("the simulated NVML is not built");
	setenv("VPT_STANDIN_NVML", "power=300;temperature=60", 1);
	s = begin(ROUND_MS);
	sleep_ms(20 * ROUND_MS);
	end(s);
	c = take_all();
	assert_int_equal(c.facts, 1);
	assert_string_equal(c.nvml, "simulated, driver simulated");
	assert_true(c.gpu_samples >= 4 * 2); /* memory twice, power, temperature */
	assert_true(c.power > 299.9 && c.power < 300.1);
	all_threads_end();
}

static void what_nvml_refuses_is_left_out(void **state)
{
	static const struct {
		const char *faults, *nvml;
		unsigned gpu_samples; /* a round */
	} cases[] = {
		{"", "simulated, driver simulated", 3},
		{"nvml-no=power", "simulated, driver simulated", 2},
		{"nvml-no=device", "simulated, driver simulated, without GPU 0", 0},
		{"nvml-init", "unavailable: nvmlInit_v2 gave error 9: Driver Not Loaded", 0},
		{"nvml-init=999", "unavailable: nvmlInit_v2 gave error 999: Unknown Error", 0},
	};
	struct counts c;
	size_t i;

	(void)state;
	if (!load_standin())
		vpt_skip("the simulated NVML is not built");
	setenv("VPT_STANDIN_NVML", "power=300", 1);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("VPT_STANDIN_FAULTS", cases[i].faults, 1);
		end(begin(60000));
		c = take_all();
		assert_string_equal(c.nvml, cases[i].nvml);
		assert_int_equal(c.gpu_samples, c.rounds * cases[i].gpu_samples);
	}
	unsetenv("VPT_STANDIN_FAULTS");
	all_threads_end();
}

static void a_round_costs_little(void **state)
{
	enum { ROUNDS = 200 };
	struct timespec from, to;
	struct vtr_sampler *s;
	double us;

	(void)state;
	s = begin(1);
	sleep_ms(20);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	sleep_ms(ROUNDS);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	us = ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / 1e3;
	end(s);
	printf("a round takes at most %.0f us of CPU time\n", us / ROUNDS);
	take_all();
	all_threads_end();
	assert_true(us / ROUNDS < 5000); /* 1 % of a processor at the default interval */
}

/* Last: the hanging threads stay. */
static void nobody_waits_for_an_nvml_that_hangs(void **state)
{
	char fault[32];
	struct vtr_sampler *s;
	struct counts c;
	uint64_t from_ns;
	unsigned n;

	(void)state;
	if (!load_standin())
		vpt_skip("the simulated NVML is not built");
	/* In its start, in the search for a GPU, in a reading. */
	snprintf(fault, sizeof(fault), "nvml-hang=%u", 1);
	setenv("VPT_STANDIN_FAULTS", fault, 1);
	s = begin(60000);
	for (n = 0; n < PATIENCE_MS && !take_all().samples; n++)
		sleep_ms(1);
	vtr_sampler_stop(s);
	from_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(vtr_sampler_wait(s, in_ms(20)), -1);
	assert_true(vtr_clock_ns(CLOCK_MONOTONIC) - from_ns < 2000000000);
	vtr_sampler_free(s);
	c = take_all();
	assert_int_equal(c.gpu_samples + c.facts, 0);
	/* The later ones leave NVML alone, and so have all their rounds. */
	for (n = 0; n < 2; n++) {
		end(begin(60000));
		c = take_all();
		assert_in_range(c.rounds, 1, 2);
		assert_int_equal(c.gpu_samples, 0);
		assert_int_equal(c.facts, 1);
		assert_non_null(strstr(c.nvml, "has not returned"));
	}
	for (n = 0; n < PATIENCE_MS && vtr_sampler_threads() > 1; n++)
		sleep_ms(1);
	assert_int_equal(vtr_sampler_threads(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_monitor_has_its_own_rounds),
		cmocka_unit_test(the_first_and_the_last_round_are_always_taken),
		cmocka_unit_test(nothing_is_posted_after_the_end),
		cmocka_unit_test(nothing_hangs_that_ends),
		cmocka_unit_test(a_gpu_has_values_once_cuda_runs),
		cmocka_unit_test(what_nvml_refuses_is_left_out),
		cmocka_unit_test(a_round_costs_little),
		cmocka_unit_test(nobody_waits_for_an_nvml_that_hangs),
	};
	int rc;

	vtr_names_init();
	vtr_mailbox_init(&box);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	vtr_mailbox_free(&box);
	return rc;
}
