/* test_host_operators.c - which operators of PyTorch are the place of time in which the host runs code of its own. */
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/random.h"
#include "tests/support/traces/findings_rig.h"

/* Six kernels of 1 ms, each launched in aten::linear, 8 ms after the one before has ended. What is between them, by events with times
 * from the end of a kernel on; the same comes after the last one, and the capture ends 8 ms after it. */
enum { KERNELS = 6, PERIOD_US = 10000 };

struct event {
	unsigned from_us, us; /* us 0: no more */
	const char *name, *domain;
};

static const struct {
	const char *rule;
	struct event events[5];
	const char *place; /* of host code; NULL: outside all ranges */
	const char *words; /* in FIX FIRST */
} cases[] = {
	{"what comes after the time is all that is known", {{0, 0, NULL, NULL}},
		"before aten::linear", "less host code before aten::linear"},
	{"operators are what the host did, the longest first",
		{{100, 1000, "aten::add_", "cpu_op"}, {1200, 4000, "aten::mul", "cpu_op"},
			{5300, 2000, "aten::div_", "cpu_op"}},
		"CPU operators mul, div_, add_", "run on the GPU: mul, div_, add_"},
	{"what is inside an operator is a part of it",
		{{100, 3500, "aten::to", "cpu_op"}, {200, 2500, "aten::copy_", "cpu_op"},
			{3700, 3000, "aten::mul", "cpu_op"}},
		"CPU operators to, mul", "run on the GPU: to, mul"},
	{"copies and random numbers load and set up weights",
		{{100, 3500, "aten::copy_", "cpu_op"}, {3700, 3000, "aten::normal_", "cpu_op"}},
		"CPU operators copy_, normal_", "less host code in CPU operators copy_, normal_"},
	{"less than half says nothing", {{100, 3000, "aten::mul", "cpu_op"}}, "before aten::linear",
		"less host code before aten::linear"},
	{"a range around them is the place",
		{{50, 7500, "blend", ""}, {100, 6000, "aten::mul", "cpu_op"}}, "blend",
		"less host code in blend"},
};

static struct vpa_report *analyze(const struct event *events)
{
	static const struct vpa_options options = {.top = 10};
	static char text[1 << 15];
	size_t used = (size_t)snprintf(text, sizeof(text), "start 0us\n");
	unsigned i, k;

	for (i = 1; i <= KERNELS; i++) {
		unsigned us = i * PERIOD_US;

		used += (size_t)snprintf(text + used, sizeof(text) - used,
			"range t1 %uus+20us \"aten::linear\" domain cpu_op\n"
			"call t1 cudaLaunchKernel %uus+5us corr %u\nkernel s7 %uus+1ms corr "
			"%u" GEMM,
			us, us + 5, i, us + 1000, i);
		for (k = 0; events[k].us; k++)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
				"range t1 %uus+%uus \"%s\"%s%s\n", us + 2000 + events[k].from_us,
				events[k].us, events[k].name, *events[k].domain ? " domain " : "",
				events[k].domain);
	}
	return vpt_script_report(text, &options);
}

static void operators_on_the_cpu_are_a_place(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *r = analyze(cases[i].events);
		const struct vpa_device *d = &r->devices[0];
		const char *place = NULL;

		for (k = 0; k < d->cause_count; k++)
			if (d->causes[k].cause == VPA_CAUSE_HOST_CODE && !place)
				place = d->causes[k].place.text;
		if (!place || strcmp(place, cases[i].place) != 0)
			fail_msg("%s: expected \"%s\", found \"%s\"", cases[i].rule, cases[i].place,
				place ? place : "nothing");
		expect_page(cases[i].rule, r, cases[i].words, 1);
		vpa_report_free(r);
	}
}

/* Adds calls of aten::mul, one after the other for 7 ms. Each calls others. Times are multiples of 500 us, so that many are equal. What
 * ends first is listed first. */
static size_t add_nests(struct vpt_random *r, char *text, size_t size, unsigned us)
{
	static const char *const inner[] = {"aten::empty", "aten::copy_", "aten::sub"};
	unsigned from = 0, to;
	size_t used = 0;

	for (; from < 14; from = to) {
		unsigned starts[4], ends[4], depth = 1 + (unsigned)vpt_random_below(r, 4), k;

		to = from + 1 + (unsigned)vpt_random_below(r, 14 - from);
		starts[0] = from;
		ends[0] = to;
		for (k = 1; k < depth; k++) {
			unsigned len = ends[k - 1] - starts[k - 1],
				 of = 1 + (unsigned)vpt_random_below(r, len);

			starts[k] = starts[k - 1] + (unsigned)vpt_random_below(r, len - of + 1);
			ends[k] = starts[k] + of;
		}
		for (k = depth; k--;)
			used += (size_t)snprintf(text + used, size - used,
				"range t1 %uus+%uus \"%s\" domain cpu_op\n", us + 500 * starts[k],
				500 * (ends[k] - starts[k]), k ? inner[k - 1] : "aten::mul");
	}
	return used;
}

static void times_that_are_equal_leave_calls_inside_their_callers(void **state)
{
	static char text[1 << 15];
	uint64_t seed;

	(void)state;
	for (seed = 0; seed < 100; seed++) {
		struct vpt_random random = {seed};
		struct vpa_report *r;
		size_t used = (size_t)snprintf(text, sizeof(text), "start 0us\n");
		const struct vpa_device *d;
		unsigned i;
		size_t k;

		for (i = 1; i <= KERNELS; i++) {
			unsigned us = i * PERIOD_US;

			used += (size_t)snprintf(text + used, sizeof(text) - used,
				"range t1 %uus+20us \"aten::linear\" domain cpu_op\n"
				"call t1 cudaLaunchKernel %uus+5us corr %u\nkernel s7 %uus+1ms "
				"corr %u" GEMM,
				us, us + 5, i, us + 1000, i);
			used += add_nests(&random, text + used, sizeof(text) - used, us + 2500);
		}
		r = vpt_script_report(text, NULL);
		d = &r->devices[0];
		for (k = 0; k < d->cause_count && d->causes[k].cause != VPA_CAUSE_HOST_CODE; k++)
			;
		if (k == d->cause_count)
			fail_msg("seed %u: no host code", (unsigned)seed);
		/* The innermost call around all of the time is a place itself. */
		if (!strncmp(d->causes[k].place.text, VPA_OPERATOR_TEXT,
			    strlen(VPA_OPERATOR_TEXT)) &&
			strcmp(d->causes[k].place.text, "CPU operator mul") != 0)
			fail_msg("seed %u: \"%s\"", (unsigned)seed, d->causes[k].place.text);
		vpa_report_free(r);
	}
}

/* The window begins with the script, and ends with the last event. */
static void what_no_finding_names_is_named_by_its_place(void **state)
{
	static const struct {
		const char *rule;
		unsigned first_us,
			last_us;   /* how long code runs before the first op, and after the last */
		const char *words; /* on the page; NULL: nothing */
	} ends[] = {
		{"the last operators have no other line", 0, 5000,
			"look at CPU operators cat, clamp after the last op, which no finding "
			"names"},
		{"nor the first", 8000, 0,
			"look at aten::cat before the first op, which no finding names"},
		{"the larger one has it", 5000, 8000, "clamp after the last op"},
		{"little is not worth it", 0, 900, NULL},
		{"a long end has its own", 0, 40000, NULL},
	};
	static char text[1 << 15];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(ends); i++) {
		unsigned us = ends[i].first_us, k, first_us = us * 6 / 10,
			 last_us = ends[i].last_us * 6 / 10;
		size_t used = (size_t)snprintf(text, sizeof(text), "start 0us\n");
		struct vpa_report *r;

		if (us)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
				"range t1 0us+%uus \"aten::cat\" domain cpu_op\n"
				"range t1 %uus+%uus \"aten::clamp\" domain cpu_op\n",
				first_us, first_us + 1, us - first_us - 2);
		for (k = 1; k <= 50; k++, us += 1000)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
				"call t1 cudaLaunchKernel %uus+5us corr %u\nkernel s7 %uus+990us "
				"corr "
				"%u" GEMM,
				us, k, us + 6, k);
		us += 10;
		if (last_us)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
				"range t1 %uus+%uus \"aten::cat\" domain cpu_op\n"
				"range t1 %uus+%uus \"aten::clamp\" domain cpu_op\n",
				us, last_us, us + last_us + 1, ends[i].last_us - last_us - 2);
		r = vpt_script_report(text, NULL);
		expect_page(ends[i].rule, r, ends[i].words ? ends[i].words : "no finding names",
			ends[i].words != NULL);
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_on_the_cpu_are_a_place),
		cmocka_unit_test(times_that_are_equal_leave_calls_inside_their_callers),
		cmocka_unit_test(what_no_finding_names_is_named_by_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
