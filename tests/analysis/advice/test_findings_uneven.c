/* test_findings_uneven.c - what is said of blocks of which some take far longer than the others. */
#include "formats/base/count.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/pipeline/unit.h"
#include "tests/support/traces/findings_rig.h"

/* Blocks of 20 kernels of 100 us, launched one after another, each 5 us after the one before has ended. What else is in a block:
 *
 *	.   nothing
 *	k   kernels take twice as long
 *	r   10 kernels more, in a range of their own
 *	c   2 ms of code, in a range of its own
 *	1 to 9   kernels take longer: 1 a tenth, 2 two tenths, and so on */
enum { KERNELS = 20, SIZE = 1 << 17 };

struct script {
	char text[SIZE];
	size_t used;
	unsigned us, call;
};

static void put(struct script *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	s->used += (size_t)vsnprintf(s->text + s->used, sizeof(s->text) - s->used, format, args);
	va_end(args);
	assert_true(s->used < sizeof(s->text));
}

static void run(struct script *s, unsigned count, unsigned us)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		s->call++;
		put(s, "call t1 cudaLaunchKernel %uus+4us corr %u\nkernel s7 %uus+%uus corr %u%s",
			s->us, s->call, s->us + 5, us, s->call, GEMM);
		s->us += us + 6;
	}
}

static void put_block(struct script *s, unsigned index, char what)
{
	unsigned from_us = s->us;

	run(s, KERNELS,
		what == 'k'                  ? 200
		: what >= '1' && what <= '9' ? 100 + 10 * (unsigned)(what - '0')
					     : 100);
	if (what == 'r' || what == 'c') {
		unsigned at_us = s->us;

		if (what == 'r')
			run(s, 10, 200);
		else
			s->us += 2000;
		put(s, "range t1 %uus-%uus \"%s\"\n", at_us, s->us,
			what == 'r' ? "preview" : "save");
	}
	run(s, 1, 10);
	put(s, "range t1 %uus-%uus \"block %u\"\n", from_us, s->us, index);
	s->us++;
}

static const struct {
	const char *rule, *blocks;
	const char *title; /* of the finding, a part; NULL: there is none */
	double saves_ms;
	const char *note;   /* of host-stall, a part; NULL: none */
	const char *result; /* in RESULT; NULL: no kinds */
} cases[] = {
	{"blocks that are alike", "............", NULL, 0, NULL, NULL},
	{"kernels that take longer in every fourth block", "...k...k...k...k",
		"the same kernels take longer in every 4th of 16 blocks: ", 8, NULL,
		"every 4th takes 4.1"},
	{"in blocks without a period", "..k..k......k...",
		"the same kernels take longer in the 3rd, 6th and 13th of 16 blocks: ", 6, NULL,
		"3 of 16 take 4.1"},
	{"more kernels are work, which is named", "...r...r...r...r",
		"every 4th of 16 blocks runs more kernels: 2.00 ms of work that the others have "
		"not, in preview",
		0, NULL, "every 4th takes 4.20"},
	{"idle time stays with its cause", "...c...c...c...c", NULL, 0,
		"is in every 4th of 16 blocks alone, which take 4.1", "every 4th takes 4.1"},
	{"the first one pays for first use", "c...............", NULL, 0, NULL, NULL},
	{"blocks that grow are of one kind", "..112233445566778899", NULL, 0, NULL, NULL},
	{"three are too few", "..k", NULL, 0, NULL, NULL},
};

static struct vpa_report *analyze(const char *blocks)
{
	static const struct vpa_options options = {
		.frames_per_block = 4, .has_warmup = 1, .step_parts = 1, .top = 10};
	static struct script s;
	unsigned i;

	s = (struct script){.us = 1000};
	put(&s, "start 1ms\n");
	for (i = 0; blocks[i]; i++)
		put_block(&s, i, blocks[i]);
	return vpt_script_report(s.text, &options);
}

static void expect_note(const char *rule, const struct vpa_report *r, const char *words)
{
	const struct vpa_finding *f = finding(r, "host-stall");
	const char *note = f && f->note ? f->note : "";

	if (words ? !strstr(note, words) : strstr(note, "alone, which") != NULL)
		fail_msg("%s: %s", rule, note);
}

static void slow_units_are_told_apart(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const char *rule = cases[i].rule, *title = cases[i].title;
		struct vpa_report *r = analyze(cases[i].blocks);
		const struct vpa_finding *f = finding(r, "uneven-units");

		if (!f != !title || (f && strncmp(f->title, title, strlen(title)) != 0))
			fail_msg("%s: expected \"%s\", found \"%s\"", rule,
				title ? title : "nothing", f ? f->title : "nothing");
		if (f && fabs(f->gain_at_most_ms - cases[i].saves_ms) > 0.01)
			fail_msg("%s: saves %.3f ms", rule, f->gain_at_most_ms);
		expect_note(rule, r, cases[i].note);
		expect_page(rule, r, cases[i].result ? cases[i].result : "; every",
			cases[i].result != NULL);
		vpa_report_free(r);
	}
}

/* ---- iterations ---- */

/* Iterations of training: 5 ms of products, 2 ms of all-reduce where a letter is a capital, 0.4 ms in those called b, and an
 * optimizer of 3 ms in those called o; one called c takes 6 ms longer. The last one has no period. */
static struct vpa_report *train(const char *iterations)
{
	static const struct vpa_options options = {.step_parts = 1, .top = 10};
	static struct script s;
	unsigned i;

	s = (struct script){.us = 1000};
	put(&s, "start 1ms\n");
	for (i = 0; iterations[i]; i++) {
		unsigned from_us = s.us;
		char what = iterations[i];

		run(&s, 5, 1000);
		if (what == 'A' || what == 'O' || what == 'b')
			put(&s,
				"call t1 cudaLaunchKernel %uus+4us corr %u\nkernel s7 %uus+%uus "
				"corr %u" REDUCE "\n",
				s.us, 900 + i, s.us + 5, what == 'b' ? 400 : 2000, 900 + i);
		s.us += 2010;
		if (what == 'O' || what == 'o')
			put(&s,
				"call t1 cudaLaunchKernel %uus+4us corr %u\nkernel s7 %uus+3ms "
				"corr %u \"multi_tensor_apply_kernel\"\n",
				s.us, 950 + i, s.us + 5, 950 + i);
		s.us += what == 'O' || what == 'o' ? 3010 : 0;
		s.us += what == 'c' ? 6000 : 0;
		put(&s, "range t1 %uus-%uus \"ProfilerStep#%u\"\n", from_us, s.us - 1, i);
	}
	return vpt_script_report(s.text, &options);
}

static void gradients_that_are_summed_make_cycles(void **state)
{
	static const struct {
		const char *rule, *iterations;
		size_t cycle;
		double mean_ms;
		int says_no_sync;
		const char *result;
	} trainings[] = {
		/* 7.04 ms, and 3.01 ms more with the optimizer. */
		{"the optimizer in every fourth: 8 of 11", "AAAOAAAOAAAO", 4, 7.04 + 3.01 / 4, 1,
			"the mean of the last 8; the optimizer runs in every 4th"},
		{"without all-reduce until then", "aaaOaaaOaaaO", 4, 7.04 + 3.01 / 4, 0,
			"the mean of the last 8"},
		{"with little of it until then", "bbbObbbObbbO", 4, 7.04 + 3.01 / 4, 0,
			"the mean of the last 8"},
		{"the optimizer in each", "OOOOOOOO", 0, 7.04 + 3.01, 0, "the mean of 7."},
		{"at no fixed distance", "AOAAOAOAAA", 0, 7.04 + 3.01 / 3, 0, "the mean of 9"},
		{"once says nothing", "AAAOAAAA", 0, 7.04 + 3.01 / 7, 0, "the mean of 7"},
		/* Three long ones and two short ones are no two cycles. */
		{"every second is longer: 4 of 5", "cacaca", 0, 7.04 + 6.0 / 2, 0,
			"the mean of the last 4; every 2nd takes 13.0 ms, the others 7.04 ms"},
		{"every third is longer: 9 of 11", "acaacaacaaca", 0, 7.04 + 6.0 / 3, 0,
			"the mean of the last 9; every 3rd"},
		{"every second is longer: all 6", "acacaca", 0, 7.04 + 6.0 / 2, 0,
			"the mean of 6; every 2nd"},
		{"longer at no fixed distance: all 8", "acaacacaa", 0, 7.04 + 6.0 * 3 / 8, 0,
			"the mean of 8; 3 of 8 take"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(trainings); i++) {
		const char *rule = trainings[i].rule;
		struct vpa_report *r = train(trainings[i].iterations);
		struct vpa_mean_unit unit = vpa_mean_unit_of(r);

		assert_int_equal(unit.kind, VPA_UNIT_ITERATION);
		if (vpa_unit_cycle(r) != trainings[i].cycle ||
			fabs((double)vpa_mean_unit_ns(&unit) / 1e6 - trainings[i].mean_ms) > 0.01)
			fail_msg("%s: cycle %zu, mean %.3f ms", rule, vpa_unit_cycle(r),
				(double)vpa_mean_unit_ns(&unit) / 1e6);
		expect_page(rule, r, "no_sync() but in the last of 4 passes",
			trainings[i].says_no_sync);
		expect_page(rule, r, trainings[i].result, 1);
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_units_are_told_apart),
		cmocka_unit_test(gradients_that_are_summed_make_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
