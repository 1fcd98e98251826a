/* test_request_facts.c - what requests were asked for and made: each fact belongs to its request. */
#include "formats/base/count.h"
#include "tests/support/traces/block_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void fact(const char *thread, unsigned ms, const char *name, const char *value)
{
	line("mark %s %ums \"fact\" json "
	     "\"{\\\"kind\\\":\\\"fact\\\",\\\"name\\\":\\\"%s\\\",\\\"value\\\":\\\"%s\\\"}\"",
		thread, at(ms), name, value);
}

static void say_facts(struct words *w, const struct vpa_request *q)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {{"frames", q->frames}, {"of", q->frames_asked}, {"height", q->height},
		{"width", q->width}, {"steps", q->steps_asked}, {"batch", q->batch}};
	size_t i;

	for (i = 0; i < COUNT(numbers); i++)
		if (numbers[i].value)
			say(w, " %s %" PRIu64, numbers[i].name, numbers[i].value);
	if (q->guidance >= 0)
		say(w, " guidance %g", q->guidance);
	if (q->passes_per_step >= 0)
		say(w, " passes %g", q->passes_per_step);
	if (q->seed)
		say(w, " seed %s", q->seed);
	if (q->error)
		say(w, " error %s", q->error);
	for (i = 0; i < q->fact_count; i++)
		say(w, " (%s %s)", q->facts[i].key, q->facts[i].value);
}

static void expect_facts(const char *rule, const char *expected)
{
	struct vpa_report *r = analyze(NULL);
	struct words w = {.len = 0};
	size_t i;

	for (i = 0; i < r->request_count; i++) {
		say(&w, "%s%s:", i ? "; " : "", r->requests[i].name ? r->requests[i].name : "all");
		say_facts(&w, &r->requests[i]);
	}
	expect(rule, &w, expected);
	vpa_report_free(r);
}

static void facts_belong_to_the_request_that_is_open_on_their_thread(void **state)
{
	(void)state;
	begin();
	fact("t1", 1, "height", "1");
	annotated("range", 10, 100, "a", "{'kind':'request','frames':9}");
	fact("t1", 20, "height", "480");
	fact("t1", 20, "width", "832");
	fact("t1", 30, "seed", "18446744073709551615");
	fact("t1", 90, "frames_asked", "11");
	fact("t1", 91, "height", "512");
	kernel(50, 50, 60, GEMM);
	fact("t1", 150, "width", "7");
	annotated("range", 200, 300, "b", "{'kind':'request'}");
	fact("t1", 210, "guidance", "7.5");
	fact("t1", 210, "steps", "50");
	fact("t2", 220, "batch", "3");
	fact("t1", 280, "error", "OutOfMemoryError");
	fact("t1", 280, "scheduler", "UniPC");
	fact("t1", 281, "scheduler", "Euler");
	kernel(250, 250, 260, GEMM);
	expect_facts("two requests",
		"a: frames 9 of 11 height 512 width 832 seed 18446744073709551615; "
		"b: steps 50 guidance 7.5 error OutOfMemoryError (scheduler Euler)");
}

/* Told at the end: the annotation is of the begin, and blocks may be left out. */
static void the_frames_that_were_made_are_told_last(void **state)
{
	(void)state;
	begin();
	annotated("range", 0, 1000, "a", "{'kind':'request','frames':81}");
	block(100, 200, 0, 12);
	kernel(110, 110, 190, GEMM);
	fact("t1", 999, "frames", "17");
	expect_facts("17 frames", "a: frames 17");
}

/* Its blocks have frames, which nobody sees. */
static void failures_and_latents_have_no_frames(void **state)
{
	static const struct {
		const char *name, *value, *expected;
	} cases[] = {
		{"seed", "1", "a: frames 24 seed 1"},
		{"error", "MemoryError", "a: error MemoryError"},
		{"output", "latent", "a: (output latent)"},
		{"output", "pil", "a: frames 24 (output pil)"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		begin();
		request(0, 1000, "a");
		block(100, 200, 0, 12);
		kernel(110, 110, 190, GEMM);
		block(200, 300, 1, 12);
		kernel(210, 210, 290, GEMM);
		fact("t1", 999, cases[i].name, cases[i].value);
		expect_facts(cases[i].value, cases[i].expected);
	}
}

static void what_is_no_number_is_unknown(void **state)
{
	static const char *const wrong[] = {
		"-1", "4x", " 4", "1e3", "1234567890123456", "nan", "0x10"};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(wrong); i++) {
		begin();
		request(0, 100, "a");
		kernel(50, 50, 60, GEMM);
		fact("t1", 10, "height", wrong[i]);
		fact("t1", 10, "guidance", wrong[i]);
		expect_facts(wrong[i], "a:");
	}
	begin();
	request(0, 100, "a");
	kernel(50, 50, 60, GEMM);
	line("mark t1 %ums \"fact\" json "
	     "\"{\\\"kind\\\":\\\"fact\\\",\\\"name\\\":\\\"height\\\"}\"",
		at(10));
	line("mark t1 %ums \"fact\" json \"{\\\"kind\\\":\\\"fact\\\",\\\"value\\\":\\\"3\\\"}\"",
		at(10));
	line("mark t1 %ums \"fact\" json "
	     "\"{\\\"kind\\\":\\\"fact\\\",\\\"name\\\":\\\"width\\\",\\\"value\\\":\\\"3\\\"\"",
		at(10));
	fact("t1", 11, "guidance", "0.125");
	expect_facts("half a fact", "a: guidance 0.125");
}

/* The stage with most of the steps' time is the model; its parts are called more often. */
static void passes_of_the_model_in_a_step_are_counted(void **state)
{
	unsigned i, k;

	(void)state;
	begin();
	request(0, 1000, "a");
	annotated("range", 10, 50, "text_encode", "{'kind':'stage'}");
	kernel(20, 20, 40, GEMM);
	for (i = 0; i < 4; i++) {
		unsigned from = 100 + 100 * i;

		step(from, from + 90, i, 0);
		for (k = 0; k < 2; k++) {
			annotated("range", from + 5 + 40 * k, from + 40 + 40 * k, "transformer",
				"{'kind':'stage'}");
			annotated("range", from + 6 + 40 * k, from + 20 + 40 * k, "layer",
				"{'kind':'stage'}");
			kernel(from + 7 + 40 * k, from + 7 + 40 * k, from + 9 + 40 * k, GEMM);
			annotated("range", from + 21 + 40 * k, from + 30 + 40 * k, "layer",
				"{'kind':'stage'}");
			kernel(from + 22 + 40 * k, from + 22 + 40 * k, from + 35 + 40 * k, GEMM);
		}
	}
	annotated("range", 700, 900, "vae_decode", "{'kind':'stage'}");
	kernel(710, 710, 890, CONV);
	expect_facts("guidance", "a: passes 2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_belong_to_the_request_that_is_open_on_their_thread),
		cmocka_unit_test(what_is_no_number_is_unknown),
		cmocka_unit_test(the_frames_that_were_made_are_told_last),
		cmocka_unit_test(failures_and_latents_have_no_frames),
		cmocka_unit_test(passes_of_the_model_in_a_step_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
