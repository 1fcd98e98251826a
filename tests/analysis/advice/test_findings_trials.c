/* test_findings_trials.c - kernels that a library tries for a convolution or a matrix product, one after another, each with a wait. Lists
 * of letters become what a thread launches. */
#include "formats/base/count.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"
#include "tests/support/outputs/read_back.h"

enum { SCRIPT_BYTES = 1 << 18 };

/* A script that grows. */
struct program {
	char text[SCRIPT_BYTES];
	size_t used;
	unsigned us, corr; /* where the host is */
	unsigned gpu_us;   /* when the GPU is done */
	unsigned operator_us;
};

static void add(struct program *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	p->used += (size_t)vsnprintf(p->text + p->used, sizeof(p->text) - p->used, format, args);
	va_end(args);
	assert_true(p->used < sizeof(p->text));
}

static void begin(struct program *p)
{
	*p = (struct program){.us = 1000, .gpu_us = 1000};
	add(p, "start 1ms\n");
}

/* "A" to "H": convolutions, "1" to "8": matrix products, "n": a norm. The launch takes 10 us, the kernel 100 us, and starts with the end of
 * the launch if the GPU is done. */
static void launch(struct program *p, char letter)
{
	unsigned from;

	p->us += 10;
	from = p->us > p->gpu_us ? p->us : p->gpu_us;
	p->gpu_us = from + 100;
	p->corr++;
	add(p, "call t1 cudaLaunchKernel %uus+10us corr %u\nkernel s7 %uus+100us corr %u ",
		p->us - 10, p->corr, from, p->corr);
	if (isdigit((unsigned char)letter))
		add(p, "\"ampere_bf16_s16816gemm_bf16_128x%c_nn\"\n", letter);
	else if (letter == 'n')
		add(p, "\"void at::native::vectorized_layer_norm_kernel<float>\"\n");
	else
		add(p,
			"\"sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_ndhwckrsc_ndhwc_"
			"tilesize%c\"\n",
			letter);
}

/* For what has been launched; the host knows after 10 us. */
static void wait(struct program *p, const char *call)
{
	unsigned until = (p->us > p->gpu_us ? p->us : p->gpu_us) + 10;

	add(p, "call t1 %s %uus-%uus corr %u\n", call, p->us, until, ++p->corr);
	p->us = until;
}

/* Besides launches: "." waits for an event, "!" for the stream; "(" and ")" are the ends of an operator. */
static void run(struct program *p, const char *letters)
{
	for (; *letters; letters++)
		switch (*letters) {
		case '.':
			wait(p, "cudaEventSynchronize");
			break;
		case '!':
			wait(p, "cudaStreamSynchronize");
			break;
		case '(':
			p->operator_us = p->us;
			break;
		case ')':
			add(p, "range t1 %uus-%uus \"aten::convolution\" domain cpu_op\n",
				p->operator_us, p->us);
			break;
		default:
			launch(p, *letters);
		}
}

static const struct {
	const char *rule, *letters;
	unsigned count, kernels, convs;
	unsigned span_us; /* a kernel and the wait after it are 120 us */
} cases[] = {
	{"four are tried, then one is kept", "A.B.C.D.Bn", 1, 4, 1, 480},
	{"each may be tried twice", "A.A.B.B.C.C.D.D.An", 1, 8, 1, 960},
	{"in one operator", "(A.B.C.D.B)n", 1, 4, 1, 480},
	{"in several they are layers", "(A.)(B.)(C.)(D.)(B)", 0, 0, 0, 0},
	{"a kernel that prepares belongs to a trial", "(A.nB.nC.nD.nB)n", 1, 4, 1, 880},
	{"without an operator it is a layer", "A.nB.nC.nD.nB", 0, 0, 0, 0},
	{"three are few", "A.B.C.B", 0, 0, 0, 0},
	{"what is kept was tried", "A.B.C.D.E", 0, 0, 0, 0},
	{"another wait is no trial", "A!B!C!D!B", 0, 0, 0, 0},
	{"one without a wait is no trial", "A.B.CD.B", 0, 0, 0, 0},
	{"what follows at once is another product", "A.B.C.D.BA.B.C.D.Cn", 2, 8, 2, 960},
	{"products of matrices are tried too", "1.2.3.4.2n", 1, 4, 0, 480},
	{"a wait before is none between", ".ABCDB", 0, 0, 0, 0},
	{"what is kept runs on", "A.B.C.D.Bn.A.B.C.D.B!n", 2, 8, 2, 960},
	{"layers that each wait keep none", "A.B.C.D.B.n.A.B.C.D.B.n.", 0, 0, 0, 0},
	{"nor where the trace ends", "A.B.C.D.B.", 0, 0, 0, 0},
	{"nor do products alone", "1.2.3.4.1.2.3.4.1.2.3.4.1.2.3.4.1.2.3.4.1.2.3.4.1n", 0, 0, 0, 0},
	{"each may be tried four times", "A.A.A.A.B.B.B.B.C.C.C.C.D.D.D.D.An", 1, 16, 1, 1920},
	{"a trial may be several runs", "AA.BB.CC.DD.Bn", 1, 8, 1, 880},
	{"with a wait for the stream before those that are timed", "A!AA.B!BB.C!CC.D!DD.Bn", 1, 12,
		1, 1360},
	{"in one operator", "(AA.BB.CC.DD.B)n", 1, 8, 1, 880},
	{"with what prepares and ends each", "(nAn.nBn.nCn.nDn.nBn)n", 1, 4, 1, 1280},
	{"what is kept may run again", "AA.BB.CC.DD.BBn", 1, 8, 1, 880},
	{"several runs, then another product", "AA.BB.CC.DD.BAA.BB.CC.DD.Cn", 2, 16, 2, 1760},
	{"several layers are no trial", "AB.CD.AB.CD.AB.CD.ABn", 0, 0, 0, 0},
	{"nor are layers that run twice, each in its operator", "(AA.)(BB.)(CC.)(DD.)(B)n", 0, 0, 0,
		0},
	{"nor layers that each wait after two runs", "AA.BB.CC.DD.BB.n.AA.BB.CC.DD.BB.n.", 0, 0, 0,
		0},
	{"nor layers that wait for the stream", "AA!BB!CC!DD!B", 0, 0, 0, 0},
	{"nor two runs without a wait", "AABBCCDDB", 0, 0, 0, 0},
	{"one that is tried so often is timed", "A.A.A.A.B.B.B.B.C.C.C.C.C.D.D.D.D.An", 0, 0, 0, 0},
};

static void trials_end_in_the_kernel_that_is_kept(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		static struct program p;
		struct vpa_report *r;
		const struct vpa_trials *t;

		begin(&p);
		run(&p, cases[i].letters);
		r = vpt_script_report(p.text, NULL);
		t = &r->trials;
		if (t->count != cases[i].count || t->kernels != cases[i].kernels ||
			t->convs != cases[i].convs || t->span_ns != cases[i].span_us * 1000ull)
			fail_msg("%s: found %u with %u kernels, %u convolutions, %u ns",
				cases[i].rule, (unsigned)t->count, (unsigned)t->kernels,
				(unsigned)t->convs, (unsigned)t->span_ns);
		vpa_report_free(r);
	}
}

/* Batches hold 240 ops. */
static void trials_are_found_across_batches(void **state)
{
	static struct program p;
	struct vpa_report *r;
	unsigned i;

	(void)state;
	begin(&p);
	for (i = 0; i < 60; i++)
		run(&p, "A.B.C.D.Bn");
	r = vpt_script_report(p.text, NULL);
	assert_int_equal(r->trials.count, 60);
	assert_int_equal(r->trials.kernels, 240);
	assert_int_equal(r->trials.span_count, 60);
	/* Each wait is 10 us longer than its kernel, and the next launch takes 10 us more. */
	assert_int_equal(r->trials.cause_ns[VPA_CAUSE_SYNC] +
				 r->trials.cause_ns[VPA_CAUSE_LAUNCH_CALL] +
				 r->trials.cause_ns[VPA_CAUSE_HOST_CODE] +
				 r->trials.cause_ns[VPA_CAUSE_LAUNCH_RATE],
		240 * 20000);
	vpa_report_free(r);
}

/* The four waits are each 10 us longer than the work, and the next launch takes 10 us more, whatever it launches. */
static void idle_time_of_trials_ends_in_any_kernel_of_the_operator(void **state)
{
	static struct program p;
	struct vpa_report *r;
	uint64_t ns = 0;
	unsigned i;

	(void)state;
	begin(&p);
	run(&p, "(A.nB.nC.nD.nB)n");
	r = vpt_script_report(p.text, NULL);
	assert_int_equal(r->trials.count, 1);
	for (i = 0; i < VPA_CAUSES; i++)
		ns += r->trials.cause_ns[i];
	/* Which operator it is, the second product tells. */
	assert_int_equal(ns, 3 * 20000);
	vpa_report_free(r);
}

/* Ten passes of 2.02 ms of work; in the first `tried` of them kernels are tried for five shapes. */
static void passes(struct program *p, unsigned tried, const char *shape)
{
	unsigned i, k;

	begin(p);
	for (i = 0; i < 10; i++) {
		unsigned from = p->us;

		for (k = 0; k < 5; k++)
			run(p, i < tried ? shape : shape + strlen(shape) - 1);
		run(p, "nnnnnnnnnnnnnnn!");
		add(p, "range t1 %uus-%uus \"generate\"\n", from, p->us);
	}
}

static void what_is_tried_is_the_library_s_and_no_wait_of_the_program(void **state)
{
	const struct vpa_options options = {.step_parts = 1};
	static struct program p;
	const struct vpa_finding *f;
	struct vpa_report *r, *back;

	(void)state;
	passes(&p, 10, "A.B.C.D.B");
	r = vpt_script_report(p.text, &options);
	f = finding(r, "trials");
	assert_non_null(f);
	assert_string_equal(f->words, "cudnn.benchmark = False, or fewer shapes");
	assert_string_equal(f->measured,
		"200 kernels tried for 50 convolutions: they take 20.0 ms, 24.0 ms with the waits "
		"between them");
	assert_float_equal(f->gain_at_most_ms, 24, 1e-6);
	assert_float_equal(f->base_gain_ms, 2.4, 1e-6);
	assert_null(finding(r, "sync-drain"));
	assert_null(finding(r, "host-waits"));
	back = read_back(r);
	assert_int_equal(back->trials.count, 50);
	assert_int_equal(back->trials.convs, 50);
	assert_int_equal(back->trials.kernels, 200);
	assert_int_equal(back->trials.kernel_ns, 20000000);
	assert_int_equal(back->trials.span_ns, 24000000);
	assert_int_equal(back->trials.span_count, 50);
	assert_int_equal(back->trials.spans[49].end_ns, r->trials.spans[49].end_ns);
	assert_int_equal(back->trials.cause_count, r->trials.cause_count);
	assert_string_equal(back->trials.place.text, "generate");
	assert_int_equal(back->trials.place_ns, r->trials.place_ns);
	vpa_report_free(back);
	vpa_report_free(r);
	/* The same waits for what is no trial are the program's. */
	passes(&p, 10, "A.B.C.D.E");
	r = vpt_script_report(p.text, &options);
	assert_null(finding(r, "trials"));
	assert_non_null(finding(r, "sync-drain"));
	vpa_report_free(r);
	/* Trials of the first half are half of them. */
	passes(&p, 5, "A.B.C.D.B");
	r = vpt_script_report(p.text, &options);
	assert_float_equal(finding(r, "trials")->gain_at_most_ms, 12, 1e-6);
	vpa_report_free(r);
	passes(&p, 10, "1.2.3.4.2");
	r = vpt_script_report(p.text, &options);
	assert_string_equal(
		finding(r, "trials")->words, "keep tuned matrix products, or fewer shapes");
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trials_end_in_the_kernel_that_is_kept),
		cmocka_unit_test(trials_are_found_across_batches),
		cmocka_unit_test(idle_time_of_trials_ends_in_any_kernel_of_the_operator),
		cmocka_unit_test(what_is_tried_is_the_library_s_and_no_wait_of_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
