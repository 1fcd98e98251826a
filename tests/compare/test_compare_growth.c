/* test_compare_growth.c - the time of a comparison is in proportion to the rows of its reports, whatever they are. */
#include "analysis/compare/baseline.h"
#include "analysis/compare/comparison.h"
#include "analysis/render/fields/fields.h"
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* The row `i` of `count` as JSON, and what surrounds the rows. */
static const struct table {
	const char *name, *before, *row, *after;
	int falls; /* 1: the rows' numbers fall */
} tables[] = {
	{"stages", "\"stages\": [", "{\"name\": \"stage %zu\", \"kind\": \"stage\"}", "]", 0},
	{"series of samples", "\"counters\": [", "{\"name\": \"series %zu\", \"device\": 1}", "]",
		0},
	{"waits", "\"syncs\": [", "{\"call\": \"cuda%zu\", \"count\": 2}", "]", 0},
	{"blocks whose numbers fall", "\"requests\": [{\"blocks\": {\"series\": [",
		"{\"index\": %zu, \"period_ns\": 1000000, \"frames\": 12, \"warmup\": false}",
		"]}}]", 1},
};

static struct vpa_report *report_of(const struct table *t, size_t count)
{
	size_t size = 200 + count * (strlen(t->row) + 24), used, i;
	char *text = malloc(size);
	struct vpa_report *r = NULL;
	struct vpt_err err = {0};

	assert_non_null(text);
	used = (size_t)snprintf(text, size,
		"{\"schema\": \"" VPA_REPORT_SCHEMA "\", \"devices\": [{\"busy_ns\": 1000}], %s",
		t->before);
	for (i = 0; i < count; i++) {
		used += (size_t)snprintf(text + used, size - used, "%s", i ? ", " : "");
		used += (size_t)snprintf(
			text + used, size - used, t->row, t->falls ? count - 1 - i : i);
	}
	used += (size_t)snprintf(text + used, size - used, "%s}", t->after);
	assert_true(used < size);
	if (vpa_baseline_read(text, used, "a.json", &r, &err))
		fail_msg("%s: %s", t->name, err.text);
	free(text);
	return r;
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The shortest time of several comparisons of a report of `count` rows with itself. */
static double time_of(const struct table *t, size_t count)
{
	static const struct vpa_compare_options usual = {.margin = 0.005};
	struct vpa_report *r = report_of(t, count);
	const struct vpa_report *reports[] = {r};
	const struct vpa_side side = {reports, 1};
	double least = 1e9;
	int i;

	for (i = 0; i < 5; i++) {
		struct vpa_comparison *c = NULL;
		struct vpt_err err = {0};
		double began = seconds_now(), took;

		if (vpa_compare(&side, &side, &usual, &c, &err))
			fail_msg("%s: %s", t->name, err.text);
		took = seconds_now() - began;
		least = took < least ? took : least;
		vpa_comparison_free(c);
	}
	vpa_report_free(r);
	return least;
}

/* Four times the rows take at most eight times as long; it would be sixteen times if each row searched all others. Other
 * processes disturb, but not every time. */
static void time_grows_with_the_rows(void **state)
{
	enum { ROWS = 6000, TRIES = 5 };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(tables); i++) {
		double few = 0, many = 0;
		int tries = 0;

		do {
			few = time_of(&tables[i], ROWS);
			many = time_of(&tables[i], 4 * ROWS);
		} while (many > 8 * few && ++tries < TRIES);
		if (many > 8 * few)
			fail_msg("%s: %d rows take %.4f s, four times as many %.4f s",
				tables[i].name, ROWS, few, many);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_grows_with_the_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
