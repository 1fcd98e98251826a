/* test_queues.c - launches that wait on each stream: how many over time, and how long each. */
#include "formats/base/count.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/random.h"
#include "tests/support/traces/findings_rig.h"

#define START                     "start 1us\n"
#define LAUNCH(from, to, corr)    "call t1 cudaLaunchKernel " from "-" to " corr " corr "\n"
#define KERNEL(s, from, to, corr) "kernel " s " " from "-" to " corr " corr " \"add\"\n"

/* Each row: stream, launches; delay's min, median and max; launches by delay; the waiting ones' mean, min, median, p95 and max. */
static const struct {
	const char *rule, *script, *rows;
} cases[] = {
	{"an op that begins at once waits its delay",
		START LAUNCH("2us", "3us", "1") KERNEL("s7", "7us", "9us", "1"),
		"7: 1; 5000 5000 5000; 1 0 0 0 0; 1.000 1 1 1 1\n"},
	/* Waiting: 1 from 2 us on, 2 from 3, 1 from 12, none from 22, 1 from 32 to 36. */
	{"a host that is ahead has launches that wait",
		START LAUNCH("2us", "3us", "1") LAUNCH("3us", "4us", "2")
			LAUNCH("32us", "33us", "3") KERNEL("s7", "12us", "22us", "1")
				KERNEL("s7", "22us", "30us", "2") KERNEL("s7", "36us", "38us", "3"),
		"7: 3; 4000 10000 19000; 1 2 0 0 0; 0.971 0 1 2 2\n"},
	{"a stream has its own",
		START LAUNCH("2us", "3us", "1") LAUNCH("3us", "4us", "2")
			KERNEL("s7", "4us", "6us", "1") KERNEL("s9", "2ms", "3ms", "2"),
		"7: 1; 2000 2000 2000; 1 0 0 0 0; 1.000 1 1 1 1\n"
		"9: 1; 1997000 1997000 1997000; 0 0 0 1 0; 1.000 1 1 1 1\n"},
	{"a graph's launch counts once",
		START "call t1 cudaGraphLaunch 2us-3us corr 1\n"
		      "kernel s7 4us-5us corr 1 node 1 \"a\"\n"
		      "kernel s7 5us-6us corr 1 node 2 \"b\"\n",
		"7: 1; 2000 2000 2000; 1 0 0 0 0; 1.000 1 1 1 1\n"},
	{"an op without a launch has no delay", START "kernel s7 4us-5us corr 0 \"a\"\n", ""},
	{"bounds belong to the longer ones",
		START LAUNCH("2us", "3us", "1") LAUNCH("20us", "21us", "2") LAUNCH(
			"300us", "301us", "3") LAUNCH("3ms", "4ms", "4") LAUNCH("30ms", "31ms", "5")
			KERNEL("s7", "12us", "13us", "1") KERNEL(
				"s7", "120us", "121us", "2") KERNEL("s7", "1300us", "1301us", "3")
				KERNEL("s7", "13ms", "14ms", "4") KERNEL("s7", "40ms", "41ms", "5"),
		"7: 5; 10000 1000000 10000000; 0 1 1 1 2; 0.528 0 1 1 1\n"},
};

static void write_rows(const struct vpa_report *r, char *out, size_t size)
{
	size_t used = 0, i;

	*out = '\0';
	for (i = 0; i < r->expert.queue_count; i++) {
		const struct vpa_queue_row *q = &r->expert.queues[i];

		used += (size_t)snprintf(out + used, size - used,
			"%" PRId64 ": %" PRIu64 "; %" PRIu64 " %" PRIu64 " %" PRIu64 "; %" PRIu64
			" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "; %.3f %" PRIu64
			" %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			q->stream, q->launches, q->delay.min_ns, q->delay.p50_ns, q->delay.max_ns,
			q->bins[0], q->bins[1], q->bins[2], q->bins[3], q->bins[4], q->waiting_mean,
			q->waiting_min, q->waiting_p50, q->waiting_p95, q->waiting_max);
	}
}

static void launches_wait_on_their_stream(void **state)
{
	char rows[1024];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *r = vpt_script_report(cases[i].script, NULL);

		write_rows(r, rows, sizeof(rows));
		if (strcmp(rows, cases[i].rows) != 0)
			fail_msg("%s: found\n%sexpected\n%s", cases[i].rule, rows, cases[i].rows);
		vpa_report_free(r);
	}
}

/* Compared with one that looks at each nanosecond's launches. */
static void the_length_is_that_of_every_moment(void **state)
{
	enum { OPS = 40, ROUNDS = 20 };
	struct vpt_random random = {17};
	static char script[1 << 16];
	unsigned launch[OPS], start[OPS], at_length[OPS + 1], i, t, n, round, total, sum;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		const struct vpa_queue_row *q;
		struct vpa_report *r;
		size_t used = (size_t)snprintf(script, sizeof(script), START);
		unsigned called = 2000, began = 2000, max = 0;
		double area = 0;

		memset(at_length, 0, sizeof(at_length));
		for (i = 0; i < OPS; i++) {
			launch[i] = called += 1 + (unsigned)vpt_random_below(&random, 60);
			began = began > called ? began : called;
			start[i] = began += 1 + (unsigned)vpt_random_below(&random, 90);
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 cudaLaunchKernel %u-%u corr %u\n"
				"kernel s7 %u-%u corr %u \"k\"\n",
				launch[i], launch[i] + 1, i + 1, start[i], start[i] + 1, i + 1);
		}
		total = start[OPS - 1] - launch[0];
		for (t = launch[0]; t < start[OPS - 1]; t++) {
			for (i = 0, n = 0; i < OPS; i++)
				n += launch[i] <= t && start[i] > t;
			at_length[n]++;
			area += n;
			max = n > max ? n : max;
		}
		for (n = 0, sum = at_length[0]; sum * 2 < total; sum += at_length[++n])
			;
		r = vpt_script_report(script, NULL);
		assert_int_equal(r->expert.queue_count, 1);
		q = &r->expert.queues[0];
		assert_int_equal(q->launches, OPS);
		assert_int_equal(q->waiting_p50, n);
		assert_int_equal(q->waiting_max, max);
		assert_true(q->waiting_mean * total < area + 0.5 &&
			    q->waiting_mean * total > area - 0.5);
		vpa_report_free(r);
	}
}

static void all_forms_show_them(void **state)
{
	struct vpa_report *r = vpt_script_report(cases[1].script, NULL);

	(void)state;
	expect_page("the text has a section", r, "LAUNCHES THAT WAIT", 1);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_wait_on_their_stream),
		cmocka_unit_test(the_length_is_that_of_every_moment),
		cmocka_unit_test(all_forms_show_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
