/* test_findings_training.c - what is said of training that computes again what it could keep. */
#include "formats/base/count.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

#define CONV     "sm80_xmma_fprop_implicit_gemm_bf16"
#define WGRAD    "sm80_xmma_wgrad_implicit_gemm_bf16"
#define ADAM     "multi_tensor_apply_kernel"
#define BACKWARD "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<64>"
#define PRODUCT  "ampere_bf16_s16816gemm_bf16_128x64_nn"

enum { SIZE = 1 << 16 };

struct script {
	char text[SIZE];
	size_t used;
	unsigned us, call;
	unsigned thread; /* 0: the first */
};

static void put(struct script *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	s->used += (size_t)vsnprintf(s->text + s->used, sizeof(s->text) - s->used, format, args);
	va_end(args);
	assert_true(s->used < sizeof(s->text));
}

/* Kernels of 1 ms, one after another, each launched when the one before has ended. */
static void run(struct script *s, unsigned count, const char *kernel)
{
	for (; count; count--) {
		s->call++;
		put(s,
			"call t%u cudaLaunchKernel %uus+4us corr %u\nkernel s7 %uus+1ms corr %u "
			"\"%s\"\n",
			1 + s->thread, s->us, s->call, s->us + 5, s->call, kernel);
		s->us += 1010;
	}
}

/* The same in a range. */
static void run_in(
	struct script *s, const char *range, const char *domain, unsigned count, const char *kernel)
{
	unsigned from_us = s->us;

	run(s, count, kernel);
	if (range)
		put(s, "range t%u %uus-%uus \"%s\"%s\n", 1 + s->thread, from_us, s->us - 1, range,
			domain);
}

/* ---- encoders ---- */

/* Iterations of: 3 kernels of an encoder, 3 forward, 6 of gradients, an optimizer. */
static const struct training {
	const char *rule, *encoder, *encodes, *forward, *gradient, *optimizer;
	unsigned iterations;
	int is_found;
} trainings[] = {
	{"latents are encoded in each iteration", "vae_encode", CONV, PRODUCT, PRODUCT, ADAM, 5, 1},
	{"prompts are, too", "encode_prompt", PRODUCT, PRODUCT, PRODUCT, ADAM, 5, 1},
	{"an encoder with gradients is trained", "vae_encode", CONV, PRODUCT, WGRAD, ADAM, 5, 0},
	{"gradients may be those of a network beside it", "vae_encode", CONV, CONV, WGRAD, ADAM, 5,
		1},
	{"a decoder is no encoder", "vae_decode", CONV, PRODUCT, PRODUCT, ADAM, 5, 0},
	{"without an optimizer nothing trains", "vae_encode", CONV, PRODUCT, PRODUCT, PRODUCT, 5,
		0},
	{"a backward pass is training", "vae_encode", CONV, PRODUCT, PRODUCT, BACKWARD, 5, 1},
	{"two iterations are too few", "vae_encode", CONV, PRODUCT, PRODUCT, ADAM, 2, 0},
	{"nothing encodes", NULL, CONV, PRODUCT, PRODUCT, ADAM, 5, 0},
};

static struct vpa_report *train(const struct training *t)
{
	static const struct vpa_options options = {.step_parts = 1, .top = 10};
	static struct script s;
	unsigned i;

	s = (struct script){.us = 1000};
	put(&s, "start 1ms\n");
	for (i = 0; i < t->iterations; i++) {
		unsigned from_us = s.us;

		run_in(&s, t->encoder, "", 3, t->encodes);
		run(&s, 3, t->forward);
		run(&s, 6, t->gradient);
		run(&s, 1, t->optimizer);
		put(&s, "range t1 %uus-%uus \"ProfilerStep#%u\"\n", from_us, s.us - 1, i);
		s.us++;
	}
	return vpt_script_report(s.text, &options);
}

static void frozen_encoders_run_once(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(trainings); i++) {
		const struct training *t = &trainings[i];
		struct vpa_report *r = train(t);
		const struct vpa_finding *f = finding(r, "encoded-again");

		if (!f != !t->is_found)
			fail_msg("%s: found %s", t->rule, f ? f->title : "nothing");
		if (f && fabs(f->base_gain_ms - 3.03) > 0.03)
			fail_msg("%s: saves %.3f ms", t->rule, f->base_gain_ms);
		if (f && (strncmp(f->change, "skip 1/1 ", 9) != 0 ||
				 strcmp(f->change + 9, t->encoder) != 0))
			fail_msg("%s: %s", t->rule, f->change);
		expect_page(t->rule, r, "encode data once", t->is_found);
		/* Steps and blocks are of making video. */
		if (t->iterations > 2)
			expect_page(t->rule, r, "MARK", !strcmp(t->optimizer, PRODUCT));
		vpa_report_free(r);
	}
}

/* ---- checkpoints ---- */

/* In each of four iterations 4 products forward; in the backward pass `again` of them again, in or beside a range, then 4 gradients. */
static const struct checkpoints {
	const char *rule, *range, *gradient;
	unsigned again;
	double saves_ms; /* 0: nothing is found */
} checkpoints[] = {
	{"forward work runs again", "CheckpointFunctionBackward",
		"autograd::engine::evaluate_function: MulBackward0", 4, 4},
	{"up to an operator of gradients", "CheckpointFunctionBackward", "aten::gelu_backward", 3,
		3},
	{"another range recomputes nothing", "MulBackward0", "aten::gelu_backward", 4, 0},
	{"gradients alone are none", "CheckpointFunctionBackward", "aten::gelu_backward", 0, 0},
};

static struct vpa_report *checkpoint(const struct checkpoints *c)
{
	static const struct vpa_options options = {.step_parts = 1, .top = 10};
	static struct script s;
	unsigned i;

	s = (struct script){.us = 1000};
	put(&s, "start 1ms\n");
	for (i = 0; i < 4; i++) {
		unsigned from_us = s.us, backward_us;

		run(&s, 4, PRODUCT);
		backward_us = s.us;
		run(&s, c->again, PRODUCT);
		run_in(&s, c->gradient, " domain cpu_op", 2, PRODUCT);
		/* What is between two gradients is a part of them. */
		run(&s, 1, PRODUCT);
		run_in(&s, c->gradient, " domain cpu_op", 1, PRODUCT);
		put(&s, "range t1 %uus-%uus \"%s\" domain cpu_op\n", backward_us, s.us - 1,
			c->range);
		run(&s, 1, ADAM);
		put(&s, "range t1 %uus-%uus \"ProfilerStep#%u\"\n", from_us, s.us - 1, i);
		s.us++;
	}
	return vpt_script_report(s.text, &options);
}

static void checkpointing_is_named_with_what_it_costs(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(checkpoints); i++) {
		const struct checkpoints *c = &checkpoints[i];
		struct vpa_report *r = checkpoint(c);
		const struct vpa_finding *f = finding(r, "recomputation");

		if (!f != !(c->saves_ms > 0))
			fail_msg("%s: found %s", c->rule, f ? f->measured : "nothing");
		if (f && fabs(f->base_gain_ms - c->saves_ms) > 0.05)
			fail_msg("%s: saves %.3f ms", c->rule, f->base_gain_ms);
		if (f)
			assert_string_equal(f->change, "delete recomputation");
		vpa_report_free(r);
	}
}

/* ---- parts ---- */

/* Iterations of 3 kernels forward, 6 of gradients that another thread launches meanwhile, one of an optimizer, and `left` that no range
 * is around. */
static struct vpa_report *parts(const char *gradients, unsigned left)
{
	static const struct vpa_options options = {.step_parts = 1, .top = 10};
	static struct script s;
	unsigned i;

	s = (struct script){.us = 1000};
	put(&s, "start 1ms\n");
	for (i = 0; i < 5; i++) {
		unsigned from_us = s.us, backward_us;

		run_in(&s, "forward", "", 3, PRODUCT);
		backward_us = s.us;
		s.thread = 1;
		run_in(&s, gradients, " domain cpu_op", 6, PRODUCT);
		s.thread = 0;
		put(&s, "range t1 %uus-%uus \"backward\"\n", backward_us, s.us - 1);
		run_in(&s, "optimizer", "", 1, ADAM);
		run(&s, left, PRODUCT);
		put(&s, "range t1 %uus-%uus \"ProfilerStep#%u\"\n", from_us, s.us - 1, i);
		s.us++;
	}
	return vpt_script_report(s.text, &options);
}

static void expect_screen(const struct vpa_report *r, const char *words, int there)
{
	char *screen = text_of(r, 0);

	if ((strstr(screen, words) != NULL) != there)
		fail_msg("%s \"%s\" in\n%s", there ? "no" : "there is", words, screen);
	vpt_free(screen);
}

static void iterations_are_shown_by_their_ranges(void **state)
{
	static const char autograd[] = "autograd::engine::evaluate_function: MulBackward0";
	static const struct {
		const char *name;
		uint64_t work_ns;
	} expected[] = {{"forward", 15000000}, {"backward", 30000000}, {"optimizer", 5000000}};
	struct vpa_report *r = parts(autograd, 0);
	size_t i;

	(void)state;
	assert_int_equal(r->said.iteration_part_count, COUNT(expected));
	for (i = 0; i < COUNT(expected); i++) {
		assert_string_equal(r->said.iteration_parts[i].name, expected[i].name);
		assert_int_equal(r->said.iteration_parts[i].work_ns, expected[i].work_ns);
	}
	expect_screen(r, " waits, ms forward 3.00 backward 6.00 optimizer 1.00 other waits", 1);
	/* Training has no steps of denoising. */
	expect_screen(r, "fewer tokens, or products in fewer bits, since gemm", 1);
	vpa_report_free(r);
	/* Of another thread that runs no gradients nothing is known. */
	r = parts("aten::mul", 0);
	assert_int_equal(r->said.iteration_part_count, 2);
	expect_screen(r, " waits, ms forward", 0);
	vpa_report_free(r);
	r = parts(autograd, 6);
	assert_int_equal(r->said.iteration_part_count, 3);
	/* 10 of 16 ms are too little. */
	expect_screen(r, " waits, ms forward", 0);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frozen_encoders_run_once),
		cmocka_unit_test(checkpointing_is_named_with_what_it_costs),
		cmocka_unit_test(iterations_are_shown_by_their_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
