/* test_lines.c - which lines of Python a cause of idle time, a gap and launches have, on traces whose
 * answers a person can compute. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "formats/base/count.h"
#include "tests/support/traces/lines_rig.h"

static void a_slow_line_is_named(void **state)
{
	struct random_text text = {0};
	const struct vpa_idle_part *part;
	struct vpa_report *r;
	char words[200];

	(void)state;
	add_script(&text, HOST_CODE);
	add_samples(&text, 0, 15, slow, "");
	add_samples(&text, 15, 20, other, "");
	r = report_of_text(&text);
	part = part_of(r, VPA_CAUSE_HOST_CODE);
	assert_int_equal(part->ns, 100000000);
	assert_non_null(part->top);
	assert_string_equal(part->top->line.function, "slow");
	assert_string_equal(part->top->line.file, "/app/model.py");
	assert_int_equal(part->top->line.number, 40);
	assert_int_equal(part->top->samples, 20);
	assert_true(part->top->share == 0.75);
	assert_string_equal(vpa_top_line_text(words, sizeof(words), part->top),
		"at /app/model.py:40 (75 %, 20 samples)");
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), 75000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 4), 25000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 0), 0);
	assert_int_equal(r->counts.samples, 20);
	/* The gap has the same by its own samples. */
	assert_int_equal(r->gaps[0].top->line.number, 40);
	assert_int_equal(r->gaps[0].top->samples, 20);
	assert_true(r->gaps[0].top->share == 0.75);
	vpa_report_free(r);
}

/* A worker launches; what came before its first sample, when there was no such thread, is of the main thread. */
static void the_main_thread_stands_for_one_that_is_not_there_yet(void **state)
{
	static const struct {
		unsigned main, worker; /* samples */
		uint64_t slow_ns, other_ns;
	} cases[] = {{20, 10, 50000000, 50000000}, {20, 0, 0, 0}, {0, 10, 0, 100000000}};
	struct vpa_report *r;
	size_t i;
	unsigned k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct random_text text = {0};

		add_script(&text, "start 0\n"
				  "call t1 cudaLaunchKernel 900000-910000 corr 1\n"
				  "kernel s1 1000000-2000000 corr 1 \"a\"\n"
				  "call t2 cudaLaunchKernel 102000000-102005000 corr 2\n"
				  "kernel s1 102010000-103000000 corr 2 \"b\"\n"
				  "end 103000000\n");
		add_samples(&text, 0, cases[i].main, slow, "");
		for (k = 0; k < cases[i].worker; k++)
			random_text_add(&text, "sample t2 %u \"%s\"\n",
				4000000 + (10 + k) * 5000000, other);
		r = report_of_text(&text);
		assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), cases[i].slow_ns);
		assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 4), cases[i].other_ns);
		vpa_report_free(r);
	}
}

static void four_samples_name_no_line(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, HOST_CODE);
	add_samples(&text, 0, 4, slow, "");
	r = report_of_text(&text);
	assert_null(part_of(r, VPA_CAUSE_HOST_CODE)->top);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 0), 100000000);
	vpa_report_free(r);
}

/* ---- causes, gaps ---- */

/* The samples of a wait come while the GPU still works. */
static void a_wait_has_the_line_of_its_call(void **state)
{
	struct random_text text = {0};
	const struct vpa_idle_part *part;
	struct vpa_report *r;

	(void)state;
	add_script(&text, "start 0\n"
			  "call t1 cudaLaunchKernel 1000000-1010000 corr 1\n"
			  "kernel s1 1020000-60000000 corr 1 \"a\"\n"
			  "call t1 cudaStreamSynchronize 1100000-60010000 corr 2\n"
			  "call t1 cudaLaunchKernel 60020000-60030000 corr 3\n"
			  "kernel s1 60040000-70000000 corr 3 \"b\"\n"
			  "end 70000000\n");
	add_samples(&text, 0, 10, "main (/app/run.py:3);item (/app/sched.py:9)", "state sleeping");
	r = report_of_text(&text);
	part = part_of(r, VPA_CAUSE_SYNC);
	assert_string_equal(part->call, "cudaStreamSynchronize");
	assert_int_equal(part->top->line.number, 9);
	assert_int_equal(part->top->samples, 10);
	assert_ptr_equal(vpa_top_line_of_call(r, "cudaStreamSynchronize"), part->top);
	assert_null(vpa_top_line_of_call(r, "cudaLaunchKernel"));
	vpa_report_free(r);
}

/* The host of these waits for a copy until 51 ms, then works on what it got until 91 ms: samples of the wait are its line,
 * those of the work are in the row of what the host did. */
static void work_after_a_wait_has_its_own_line(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text,
		"start 0\n"
		"call t1 cudaLaunchKernel 900000-910000 corr 1; kernel s1 1000000-50000000 corr 1 "
		"\"a\"\n"
		"call t1 cudaMemcpyAsync 920000-51000000 corr 2\n"
		"copy s1 DtoH device->pageable 50000000-51000000 bytes 8294400 corr 2\n"
		"range t1 51000000-91000000 \"post_process\"\n"
		"call t1 cudaLaunchKernel 91000000-91005000 corr 3\n"
		"kernel s1 91010000-92000000 corr 3 \"b\"\n"
		"end 92000000\n");
	add_samples(&text, 0, 9, other, "");
	add_samples(&text, 10, 17, slow, "");
	r = report_of_text(&text);
	assert_int_equal(part_of(r, VPA_CAUSE_HOST_CODE)->ns, 40000000);
	assert_string_equal(part_of(r, VPA_CAUSE_HOST_CODE)->place.text, "post_process");
	assert_int_equal(part_of(r, VPA_CAUSE_HOST_CODE)->top->line.number, 40);
	assert_int_equal(part_of(r, VPA_CAUSE_HOST_CODE)->instead_ns, 40000000);
	assert_string_equal(part_of(r, VPA_CAUSE_HOST_CODE)->instead, "cudaMemcpyAsync");
	assert_int_equal(r->devices[0].instead_count, 0);
	/* Each nanosecond is at one line only. */
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), 40000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 4), 0);
	assert_string_equal(r->gaps[0].pieces[0].instead, "cudaMemcpyAsync");
	assert_null(r->gaps[0].pieces[0].instead_place.text);
	vpa_report_free(r);
}

/* 3 of each 5 ms. The first sample, at 4 ms, says nothing of the time before it. */
static void the_wait_for_a_cpu_is_known(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, HOST_CODE);
	add_samples(&text, 0, 19, slow, "state 2 wait_us 3000");
	r = report_of_text(&text);
	assert_int_equal(r->devices[0].cpu_wait_ns, 18 * 3000000);
	assert_int_equal(part_of(r, VPA_CAUSE_HOST_CODE)->top->wait_ns, 18 * 3000000);
	vpa_report_free(r);
}

/* Exact stacks hold from their time to the next. */
static void exact_stacks_split_each_gap(void **state)
{
	struct random_text text = {0};
	const struct vpa_idle_part *part;
	struct vpa_report *r;

	(void)state;
	add_script(&text, HOST_CODE);
	random_text_add(&text,
		"sample t1 1 \"main (/app/run.py:1)\" flags 1\n"
		"sample t1 12000000 \"%s\" flags 1\n"
		"sample t1 72000000 \"%s\" flags 1\n",
		slow, other);
	r = report_of_text(&text);
	part = part_of(r, VPA_CAUSE_HOST_CODE);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 1), 10000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), 60000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 4), 30000000);
	assert_int_equal(part->top->samples, 0);
	assert_int_equal(part->top->line.number, 40);
	assert_true(part->top->share == 0.6);
	assert_int_equal(r->gaps[0].top->line.number, 40);
	assert_true(r->gaps[0].top->share == 0.6);
	vpa_report_free(r);
}

/* 30 ms in step(), 25 ms of it in a framework's code, 25 ms in other(), all called by run(). */
static void add_run(struct random_text *text)
{
	random_text_add(text, "sample t1 20000000 \"main (/app/run.py:1)\" flags 1\n"
			      "sample t1 32000000 \"main (/app/run.py:1);run (/app/run.py:2);step "
			      "(/app/a.py:3)\" flags 1\n"
			      "sample t1 37000000 \"main (/app/run.py:1);run (/app/run.py:2);step "
			      "(/app/a.py:3);item (/x/torch/t.py:4)\" flags 1\n");
	random_text_add(text, "sample t1 62000000 \"main (/app/run.py:1);run (/app/run.py:2);other "
			      "(/app/b.py:5)\" flags 1\n"
			      "sample t1 87000000 \"main (/app/run.py:1)\" flags 1\n");
}

/* run() covers 55 ms of 100. */
static void an_exact_gap_has_the_innermost_line_that_covers_most(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, HOST_CODE);
	add_run(&text);
	r = report_of_text(&text);
	assert_string_equal(r->gaps[0].top->line.function, "run");
	assert_int_equal(r->gaps[0].top->line.number, 2);
	assert_true(r->gaps[0].top->share == 0.55);
	vpa_report_free(r);
}

/* The gap before the first op is listed, so the finding about it names the same line: run() covers 55 ms of 100. */
static void a_late_start_has_the_line_of_its_gap(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text,
		"start 1ms\nrange t1 1ms-120ms \"load\"\n"
		"call t1 cudaLaunchKernel 101ms+0us corr 1\nkernel s7 101ms-120ms corr 1\n");
	add_run(&text);
	r = report_of_text(&text);
	assert_int_equal(r->findings[0].id, VPA_FOUND_BEFORE_FIRST_WORK);
	assert_true(r->gaps[0].top->share == 0.55);
	assert_non_null(
		strstr(r->findings[0].note, "at /app/run.py:2 (55 % of its time, calls included)"));
	vpa_report_free(r);
}

static const struct vpa_launch_line *launches_at(const struct vpa_report *r, uint64_t number)
{
	size_t i;

	for (i = 0; i < r->lines.launch_count; i++)
		if (r->lines.launches[i].line.number == number)
			return &r->lines.launches[i];
	fail_msg("no launches at line %" PRIu64, number);
	return NULL;
}

/* Launch i is at 1 + i/5 ms; its kernel takes 1 us. Samples in between, after the 3rd and after the 5th launch; one long after
 * the last launch, and one long before the first, are of other code. The last launch is far from all. */
static void launches_have_the_line_of_a_sample_among_them(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;
	unsigned i;

	(void)state;
	random_text_add(&text, "start 0\nsample t1 100 \"%s\"\n", other);
	for (i = 0; i <= 8; i++) {
		unsigned t = 1000000 + i * 200000 + (i == 8 ? 50000000 : 0);

		random_text_add(&text,
			"call t1 cudaLaunchKernel %u-%u corr %u; kernel s1 %u-%u corr %u \"k\"\n",
			t, t + 1000, i + 1, t + 2000, t + 3000, i + 1);
	}
	random_text_add(&text, "sample t1 1500000 \"main (/app/run.py:1)\"\n");
	random_text_add(&text, "sample t1 1900000 \"main (/app/run.py:2)\"\n");
	random_text_add(&text, "sample t1 2500000 \"%s\"\nend 60000000\n", slow);
	r = report_of_text(&text);
	assert_int_equal(launches_at(r, 1)->ops, 3);
	assert_int_equal(launches_at(r, 1)->busy_ns, 3000);
	assert_int_equal(launches_at(r, 2)->ops, 5);
	assert_int_equal(launches_at(r, 0)->ops, 1);
	assert_int_equal(r->lines.launch_count, 3);
	vpa_report_free(r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_line_is_named),
		cmocka_unit_test(four_samples_name_no_line),
		cmocka_unit_test(the_main_thread_stands_for_one_that_is_not_there_yet),
		cmocka_unit_test(a_wait_has_the_line_of_its_call),
		cmocka_unit_test(work_after_a_wait_has_its_own_line),
		cmocka_unit_test(the_wait_for_a_cpu_is_known),
		cmocka_unit_test(exact_stacks_split_each_gap),
		cmocka_unit_test(an_exact_gap_has_the_innermost_line_that_covers_most),
		cmocka_unit_test(a_late_start_has_the_line_of_its_gap),
		cmocka_unit_test(launches_have_the_line_of_a_sample_among_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
