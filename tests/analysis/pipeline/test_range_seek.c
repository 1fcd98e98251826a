/* test_range_seek.c - an instance of a range is the same one, with the same window, whether the chunks before it are read or
 * left out, by contents that count ranges or without: of random ranges that nest, overlap on two threads, last over many chunks,
 * and are called like each other. */
#include "analysis/analyze.h"
#include "analysis/pipeline/range_seek.h"
#include "formats/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/random.h"
#include "tests/support/traces/script.h"

enum { SEEDS = 12, MOMENTS = 160, STEP_US = 10, OPEN_MAX = 6 };

struct text {
	char bytes[65536];
	size_t used;
};

static void put(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->bytes + t->used, sizeof(t->bytes) - t->used, format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < sizeof(t->bytes) - t->used);
	t->used += (size_t)n;
}

/* Two threads that open and close ranges, and launch kernels that end up to 300 us later; `cuts`: with so many chunks; 32
 * have contents. */
static void make_script(struct text *t, uint64_t seed, unsigned cuts)
{
	static const char *const names[] = {"a", "b", "a:2", "b, op_id = 7"};
	struct vpt_random random = {seed};
	struct {
		unsigned from_us, name;
	} open[2][OPEN_MAX];
	unsigned depth[2] = {0, 0}, i, us, busy_us = 0, whole = seed % 5 == 0 ? 3 : 2;

	t->used = 0;
	put(t, "start 1us\n");
	for (i = 1; i <= MOMENTS; i++) {
		unsigned thread = (unsigned)vpt_random_below(&random, 2);
		unsigned what = (unsigned)vpt_random_below(&random, 4);

		us = 10 + i * STEP_US;
		if (what == 0 && depth[thread] < OPEN_MAX) {
			open[thread][depth[thread]].from_us = us;
			open[thread][depth[thread]++].name =
				(unsigned)vpt_random_below(&random, whole + seed % 2 * 2) % 4;
		} else if (what == 1 && depth[thread]) {
			depth[thread]--;
			put(t, "range t%u %uus-%uus \"%s\"\n", thread + 1,
				open[thread][depth[thread]].from_us, us,
				names[open[thread][depth[thread]].name]);
		} else {
			put(t, "call t%u cudaLaunchKernel %uus+2us corr %u\n", thread + 1, us, i);
			busy_us = busy_us > us + 3 ? busy_us : us + 3;
			put(t, "kernel s7 %uus+%uus corr %u \"gemm\"\n", busy_us, 1 + i % 9, i);
			busy_us += 1 + i % 9 + (i % 16 ? 0 : 30);
		}
		if (cuts && i % (MOMENTS / cuts) == 0)
			put(t, "chunk %uus\n", us + 5);
	}
}

/* The window of a range; 0, 0: it cannot be one. */
static void window_of(const struct text *t, const char *range, uint64_t window[2])
{
	const struct vpa_options options = {.range = range, .jobs = 1};
	struct vpa_report *report = NULL;
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};

	window[0] = window[1] = 0;
	if (vpt_script_trace(t->bytes, &trace, &err))
		fail_msg("%s\n%s", err.text, t->bytes);
	if (!vpa_analyze(trace, "case", &options, &report, &err)) {
		window[0] = report->window_start_ns;
		window[1] = report->window_end_ns;
	}
	vpa_report_free(report);
	vpt_trace_close(trace);
}

/* Whether a search for this range would leave out chunks. */
static int may_leave(const struct text *t, const char *range)
{
	struct vpt_trace *trace = NULL;
	struct vpa_range_seek seek;
	int may;

	assert_int_equal(vpt_script_trace(t->bytes, &trace, NULL), 0);
	assert_int_equal(vpa_range_seek(trace, range, 1, &seek), 0);
	may = seek.is_known && seek.target > 2;
	vpa_range_seek_free(&seek);
	vpt_trace_close(trace);
	return may;
}

static void test_any_instance_is_the_same(void **state)
{
	static const char *const names[] = {"a", "b", "a:2", "b, op_id = 7", "a:2:2", "c"};
	struct text *whole = vpt_alloc(1, sizeof(*whole)), *cut = vpt_alloc(1, sizeof(*cut));
	unsigned found = 0, left = 0, i, number;
	uint64_t seed;

	(void)state;
	assert_true(whole && cut);
	for (seed = 0; seed < SEEDS; seed++) {
		make_script(whole, seed, 0);
		make_script(cut, seed, seed % 2 ? 40 : 8 + (unsigned)(seed % 20));
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			for (number = 0; number < 14; number += 1 + number / 4) {
				uint64_t expected[2], got[2];
				char range[32];

				snprintf(range, sizeof(range), number ? "%s:%u" : "%s", names[i],
					number);
				window_of(whole, range, expected);
				window_of(cut, range, got);
				if (expected[0] != got[0] || expected[1] != got[1])
					fail_msg("seed %d, %s: %d-%d, expected %d-%d\n%s",
						(int)seed, range, (int)got[0], (int)got[1],
						(int)expected[0], (int)expected[1], cut->bytes);
				found += expected[1] != 0;
				left += may_leave(cut, range) != 0;
			}
	}
	assert_true(found > 150 && left > 60);
	vpt_free(whole);
	vpt_free(cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_instance_is_the_same)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
