/* test_findings_devices.c - advice for several devices, on traces whose answer a person can compute: what is lost is time
 * of the run, not time in which one of its devices is idle. */
#include "analysis/advice/finding.h"
#include "analysis/analyze.h"
#include "analysis/pipeline/unit.h"
#include "analysis/render/renderer.h"
#include "analysis/report/device_limit.h"
#include "formats/base/count.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/traces/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/outputs/page.h"

#define GEMM   " \"ampere_bf16_s16816gemm_bf16_128x64_nn\"\n"
#define REDUCE " \"ncclDevKernel_AllReduce_Sum_f32_RING_LL\"\n"

enum { SCRIPT_BYTES = 32768 };

/* A script that grows. */
struct script {
	char text[SCRIPT_BYTES];
	size_t used, corr;
};

static void begin(struct script *s)
{
	s->used = (size_t)snprintf(s->text, sizeof(s->text), "start 1ms\n");
	s->corr = 0;
}

/* A kernel that `thread` launches at once. */
static void launch(
	struct script *s, int thread, int device, size_t at_us, size_t us, const char *name)
{
	s->corr++;
	s->used += (size_t)snprintf(s->text + s->used, sizeof(s->text) - s->used,
		"call t%d cudaLaunchKernel %zuus+0us corr %zu\n"
		"kernel s%d.7 %zuus+%zuus corr %zu%s",
		thread, at_us, s->corr, device, at_us, us, s->corr, name);
}

static void wait_until(struct script *s, int thread, size_t from_us, size_t to_us)
{
	s->corr++;
	s->used += (size_t)snprintf(s->text + s->used, sizeof(s->text) - s->used,
		"call t%d cudaStreamSynchronize %zuus-%zuus corr %zu\n", thread, from_us, to_us,
		s->corr);
}

static void step(struct script *s, int thread, size_t from_us, size_t to_us, size_t index)
{
	s->used += (size_t)snprintf(s->text + s->used, sizeof(s->text) - s->used,
		"range t%d %zuus-%zuus \"step %zu\"\n", thread, from_us, to_us, index);
}

static struct vpa_report *analyze(const struct script *s)
{
	static const struct vpa_options options = {.step_parts = 1};

	assert_true(s->used < sizeof(s->text));
	return vpt_script_report(s->text, &options);
}

static void expect_page(const struct vpa_report *r, const char *words, int there)
{
	char *page = page_of(r);

	if ((strstr(page, words) != NULL) != there)
		fail_msg("%s \"%s\" in\n%s", there ? "no" : "there is", words, page);
	vpt_free(page);
}

/* No finding leaves less of the run than the work of the busiest device takes. */
static void expect_provable(const struct vpa_report *r)
{
	double least_ms = vpa_in_ms(vpa_most_work_ns(r)), run_ms = vpa_in_ms(vpa_run_ns(r));
	size_t i;

	for (i = 0; i < r->finding_count; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (f->base != VPA_BASE_ACTIVE)
			continue;
		assert_true(f->base_ms == run_ms);
		if (f->base_ms - f->base_gain_ms < least_ms - 1e-6)
			fail_msg("%s: %.3f of %.3f ms leave less than %.3f",
				vpa_finding_text(f->id), f->base_gain_ms, f->base_ms, least_ms);
	}
}

/* Four times: a device encodes for 20 ms, then another works for 300 ms; the host waits for each. 1,200 of 1,280 ms are
 * work of one device, so overlap saves 80 ms, not the 900 ms that the encoder's device waits. */
static void a_device_that_works_keeps_others_from_gaining(void **state)
{
	static struct script s;
	struct vpa_report *r;
	size_t i;

	(void)state;
	begin(&s);
	for (i = 0; i < 4; i++) {
		size_t t = 1000 + i * 320000;

		launch(&s, 1, 1, t, 20000, GEMM);
		wait_until(&s, 1, t, t + 20000);
		launch(&s, 1, 0, t + 20000, 300000, GEMM);
		wait_until(&s, 1, t + 20000, t + 320000);
	}
	r = analyze(&s);
	expect_provable(r);
	expect_page(r, "CAUSE GPU-BOUND: each GPU, on average, waits 640 ms.", 1);
	expect_page(r,
		"80.0 ms of 1.28 s from the first to the last op of all GPUs, on the GPU that "
		"gains most: "
		"at most 1.07x as fast; GPU 1, 8.2 % busy",
		1);
	vpa_report_free(r);
}

/* One device is always busy; three kernels of 5 us run on another: nothing that is done about their gaps, nor about what
 * comes after them, makes the run shorter. */
static void nothing_saves_where_a_device_is_always_busy(void **state)
{
	static struct script s;
	struct vpa_report *r;
	size_t i;

	(void)state;
	begin(&s);
	for (i = 0; i < 30; i++) {
		launch(&s, 1, 0, 1000 + i * 3000, 3000, GEMM);
		if (i % 10 == 0)
			launch(&s, 1, 1, 1000 + i * 3000, 5, GEMM);
	}
	r = analyze(&s);
	expect_provable(r);
	for (i = 0; i < r->finding_count; i++)
		assert_int_equal(r->findings[i].status, VPA_FINDING_INFO);
	expect_page(r, "CAUSE GPU-BOUND: each GPU, on average, waits 45.0 ms.", 1);
	vpa_report_free(r);
}

/* Two ranks, a thread and a device each: 6 ms of work, then both wait for 4 ms. */
static void ranks_that_wait_together_keep_their_advice(void **state)
{
	static struct script s;
	struct vpa_report *r;
	size_t i;
	int rank;

	(void)state;
	begin(&s);
	for (i = 0; i < 10; i++)
		for (rank = 0; rank < 2; rank++) {
			size_t t = 1000 + i * 10000;

			launch(&s, rank + 1, rank, t, 6000, GEMM);
			wait_until(&s, rank + 1, t, t + 10000);
		}
	r = analyze(&s);
	expect_provable(r);
	expect_page(r,
		"waits 40.0 ms. For 36.0 ms the host waited for the GPU, cudaStreamSynchronize.",
		1);
	expect_page(r, "FAIL of 2 GPUs", 1);
	expect_page(r, "36.0 ms of 96.0 ms from the first to the last op of all GPUs", 1);
	vpa_report_free(r);
}

/* Steps of a product and three collectives, the first of them beside the product. Names say what can be sent less of. */
static void communication_has_a_name_and_two_remedies(void **state)
{
	static const struct {
		const char *collective, *other, *cause, *note;
		int is_one; /* call in a step */
	} cases[] = {
		{REDUCE, GEMM,
			"Most communication is ncclDevKernel_AllReduce_Sum_f32_RING_LL, 3 calls in "
			"a step. 9.00 ms of communication, 6.00 ms of it exposed.",
			"; or BF16 in place of FP32", 0},
		{" \"ncclDevKernel_SendRecv\"\n", GEMM,
			"Most communication is ncclDevKernel_SendRecv, 3 calls in a step. 9.00 "
			"ms of communication, 6.00 ms of it exposed.",
			"; or the two passes of guidance", 0},
		{REDUCE, " \"flash_bwd_kernel\"\n",
			"Most communication is ncclDevKernel_AllReduce_Sum_f32_RING_LL, 3 calls in "
			"a step. 9.00 ms of communication, 6.00 ms of it exposed.",
			"; or gradients in BF16", 0},
		{" \"ncclDevKernel_AllReduce_Sum_bf16_RING_LL\"\n", " \"flash_bwd_kernel\"\n",
			"Most communication is ncclDevKernel_AllReduce_Sum_bf16_RING_LL, 3 calls "
			"in a step.",
			"; or larger batches, gradients accumulated", 0},
		{" \"ncclKernel_AllReduce_RING_LL_Sum_float\"\n", " \"flash_bwd_kernel\"\n",
			"Most communication is ncclKernel_AllReduce_RING_LL_Sum_float, 3 calls in "
			"a step.",
			"; or gradients in BF16", 0},
		{" \"ncclDevKernel_AllGather_RING_LL\"\n", GEMM,
			"Most communication is ncclDevKernel_AllGather_RING_LL, 3 calls in a step.",
			"; or whole weights on each GPU", 0},
		{REDUCE, GEMM,
			"Most communication is ncclDevKernel_AllReduce_Sum_f32_RING_LL, 1 call in "
			"a step. 6.00 ms of communication, all of it exposed.",
			"; or BF16 in place of FP32", 1},
	};
	static struct script s;
	size_t i, k;

	(void)state;
	for (k = 0; k < COUNT(cases); k++) {
		struct vpa_report *r;

		begin(&s);
		for (i = 0; i < 6; i++) {
			size_t t = 1000 + i * 10000;

			step(&s, 1, t, t + 9000, i);
			launch(&s, 1, 0, t, 4000, cases[k].other);
			if (cases[k].is_one) {
				launch(&s, 1, 0, t + 4000, 6000, cases[k].collective);
				continue;
			}
			s.used += (size_t)snprintf(s.text + s.used, sizeof(s.text) - s.used,
				"call t1 cudaLaunchKernel %zuus+0us corr %zu\n"
				"kernel s0.9 %zuus+3000us corr %zu%s",
				t, 900 + i, t + 1000, 900 + i, cases[k].collective);
			launch(&s, 1, 0, t + 4000, 3000, cases[k].collective);
			launch(&s, 1, 0, t + 7000, 3000, cases[k].collective);
		}
		r = analyze(&s);
		expect_page(r, cases[k].cause, 1);
		expect_page(r, cases[k].note, 1);
		expect_page(r, "overlap communication, or send less", 1);
		vpa_report_free(r);
	}
}

/* The same in steps: 4 of 10 ms, on either device. */
static void ranks_gain_in_their_steps(void **state)
{
	static struct script s;
	struct vpa_report *r;
	size_t i;
	int rank;

	(void)state;
	begin(&s);
	for (i = 0; i < 10; i++) {
		size_t t = 1000 + i * 10000;

		step(&s, 1, t, t + 9000, i);
		for (rank = 0; rank < 2; rank++)
			launch(&s, 1, rank, t, 6000, GEMM);
		wait_until(&s, 1, t, t + 10000);
	}
	r = analyze(&s);
	expect_provable(r);
	expect_page(r,
		"4.00 ms of the mean 10.0 ms from one step to the next on the GPU that gains most",
		1);
	vpa_report_free(r);
}

/* In each step of 10 ms a device works for 2 ms, then another for 8: overlap saves 2 ms of a step. */
static void a_step_takes_as_long_as_a_device_works_in_it(void **state)
{
	static struct script s;
	struct vpa_report *r;
	size_t i;

	(void)state;
	begin(&s);
	for (i = 0; i < 10; i++) {
		size_t t = 1000 + i * 10000;

		step(&s, 1, t, t + 9000, i);
		launch(&s, 1, 1, t, 2000, GEMM);
		wait_until(&s, 1, t, t + 2000);
		launch(&s, 1, 0, t + 2000, 8000, GEMM);
		wait_until(&s, 1, t + 2000, t + 10000);
	}
	r = analyze(&s);
	expect_provable(r);
	expect_page(r,
		"2.00 ms of the mean 10.0 ms from one step to the next on the GPU that gains most",
		1);
	vpa_report_free(r);
}

/* A rank that waits for another in a collective is busy, but does no work: the late rank's host code, 4 of 10 ms, is lost
 * time of the run. */
static void waiting_in_a_collective_is_no_work(void **state)
{
	static struct script s;
	struct vpa_report *r;
	size_t i;

	(void)state;
	begin(&s);
	for (i = 0; i < 10; i++) {
		size_t t = 1000 + i * 10000;

		launch(&s, 1, 0, t + 4000, 5000, GEMM);
		launch(&s, 1, 0, t + 9000, 1000, REDUCE);
		wait_until(&s, 1, t + 9000, t + 10000);
		launch(&s, 2, 1, t, 5000, GEMM);
		launch(&s, 2, 1, t + 5000, 5000, REDUCE);
		wait_until(&s, 2, t + 5000, t + 10000);
	}
	r = analyze(&s);
	expect_provable(r);
	expect_page(r, "36.0 ms of 100 ms from the first to the last op of all GPUs", 1);
	vpa_report_free(r);
}

/* A pipeline of 2 GPUs: in each of ten passes of `us` GPU 0 works for `first_us`, then GPU 1 all the time but 10 us. All is launched at
 * once; `waits`: each stream waits for an event, or else for what nobody knows. */
static struct vpa_report *pipeline(size_t first_us, size_t us, int waits)
{
	static struct script s;
	size_t i;

	begin(&s);
	for (i = 0; i < 10; i++) {
		size_t t = 3000 + i * us, host = 1000 + i * 50;

		s.used += (size_t)snprintf(s.text + s.used, sizeof(s.text) - s.used,
			"range t1 %zuus-%zuus \"generate\"\n", host, host + 49);
		for (int device = 0; device < 2; device++) {
			size_t from = device ? t + 100 : t;

			s.corr++;
			if (waits)
				s.used += (size_t)snprintf(s.text + s.used, sizeof(s.text) - s.used,
					"call t1 cudaStreamWaitEvent %zuus+1us corr %zu\n",
					host + 10 + 20 * (size_t)device, 500 + s.corr);
			s.used += (size_t)snprintf(s.text + s.used, sizeof(s.text) - s.used,
				"call t1 cudaLaunchKernel %zuus+5us corr %zu\n"
				"kernel s%d.7 %zuus+%zuus corr %zu%s",
				host + 15 + 20 * (size_t)device, s.corr, device, from,
				device ? us - 10 : first_us, s.corr, GEMM);
		}
	}
	return analyze(&s);
}

static void a_full_gpu_gives_work_to_those_that_wait(void **state)
{
	struct vpa_report *r = pipeline(4000, 10000, 1);
	const struct vpa_finding *f = NULL;
	struct vpa_mean_unit unit;
	size_t i;

	(void)state;
	for (i = 0; i < r->finding_count; i++) {
		assert_int_not_equal(r->findings[i].id, VPA_FOUND_DEPENDENCY);
		f = r->findings[i].id == VPA_FOUND_GPU_BALANCE ? &r->findings[i] : f;
	}
	assert_non_null(f);
	assert_string_equal(f->words, "move work from GPU 1 to the other");
	/* 99.9 ms and 40 ms: 69.95 on each. */
	assert_float_equal(f->gain_at_most_ms, (float)(2 * 29.95), 1e-5);
	assert_string_equal(f->title,
		"GPU 1 works all the time, and the other waits for it: move work to the other");
	assert_string_equal(f->change, "scale * 1.7488 on GPU 0; scale * 0.7002 on GPU 1");
	expect_page(r,
		/* 54 of the 94 ms from its first op to its last. */
		"GPU 1 works 99.9 % of the time; GPU 0 waits for others for 57.4 % of the time.",
		1);
	/* Passes of GPU 0 take 4 ms, those of GPU 1 what a pass takes. */
	unit = vpa_mean_unit_of(r);
	assert_int_equal(unit.kind, VPA_UNIT_INSTANCE);
	assert_int_equal(vpa_mean_unit_ns(&unit), 9990000);
	vpa_report_free(r);
	/* Even work; and a GPU that waits for the host. */
	for (i = 0; i < 2; i++) {
		size_t k;

		r = i ? pipeline(4000, 10000, 0) : pipeline(9500, 10000, 1);
		for (k = 0; k < r->finding_count; k++)
			assert_int_not_equal(r->findings[k].id, VPA_FOUND_GPU_BALANCE);
		vpa_report_free(r);
	}
}

/* GPU 0 works on its own, while GPUs 1 and 2 take turns: what they wait for is not said to be GPU 0. */
static void who_waits_for_whom_is_known_of_two(void **state)
{
	static struct script s;
	struct vpa_report *r;
	size_t i, k;

	(void)state;
	begin(&s);
	for (i = 0; i < 20; i++)
		for (k = 0; k < 3; k++) {
			size_t host = 1000 + i * 60 + k * 20;

			s.corr++;
			s.used += (size_t)snprintf(s.text + s.used, sizeof(s.text) - s.used,
				"call t1 cudaStreamWaitEvent %zuus+1us corr %zu\n"
				"call t1 cudaLaunchKernel %zuus+5us corr %zu\n"
				"kernel s%zu.7 %zuus+%zuus corr %zu%s",
				host, 500 + s.corr, host + 5, s.corr, k,
				3000 + i * 10000 + (k == 2 ? 5000 : 0), k ? (size_t)4900 : 9990,
				s.corr, GEMM);
		}
	r = analyze(&s);
	expect_page(r, "GPU 1 and 2 wait for others for", 1);
	for (i = 0; i < r->finding_count; i++)
		if (r->findings[i].id == VPA_FOUND_GPU_BALANCE)
			break;
	assert_true(i < r->finding_count);
	assert_string_equal(r->findings[i].title,
		"GPU 0 works all the time, and the others wait for it, or for each other: "
		"move work to them");
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_that_works_keeps_others_from_gaining),
		cmocka_unit_test(nothing_saves_where_a_device_is_always_busy),
		cmocka_unit_test(ranks_that_wait_together_keep_their_advice),
		cmocka_unit_test(ranks_gain_in_their_steps),
		cmocka_unit_test(communication_has_a_name_and_two_remedies),
		cmocka_unit_test(a_step_takes_as_long_as_a_device_works_in_it),
		cmocka_unit_test(waiting_in_a_collective_is_no_work),
		cmocka_unit_test(a_full_gpu_gives_work_to_those_that_wait),
		cmocka_unit_test(who_waits_for_whom_is_known_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
