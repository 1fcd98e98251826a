/* test_findings_uploads.c - what is said of copies to the GPU that nothing hides: where they are made, how much a step copies, and
 * whether it is the same each time. */
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

enum { STEPS = 6 };

static const struct {
	const char *rule;
	unsigned steps;     /* that copy */
	unsigned mb, grows; /* of the first copy in a step; by how much from step to step */
	unsigned second_mb; /* of another one, elsewhere; 0: none */
	unsigned pieces;    /* of the first copy */
	const char *fix;    /* of the page */
	const char *note;   /* a part of it; NULL: it says nothing of units */
} cases[] = {
	{"the same in each step", STEPS, 100, 0, 0, 1, "copy once, not 100 MB a step in controlnet",
		"; 100 MB in each step, of the same size; in controlnet"},
	{"two sizes, most in one place", STEPS, 100, 0, 30, 1,
		"copy once, not 130 MB a step, mostly in controlnet",
		"; 130 MB in each step, of the same sizes; most in controlnet"},
	{"two places", STEPS, 100, 0, 90, 1, "copy once, not 190 MB a step 25",
		"; 190 MB in each step, of the same sizes"},
	{"other sizes each time are other data", STEPS, 100, 1, 0, 1,
		"overlap copies to the GPU in controlnet", NULL},
	{"several in a step are layers", STEPS, 100, 0, 0, 4,
		"overlap copies to the GPU in controlnet", NULL},
	{"some steps are not all", 3, 200, 0, 0, 1, "overlap copies to the GPU in controlnet",
		NULL},
};

static int add_copy(char *script, size_t size, unsigned at_us, unsigned corr, unsigned mb,
	unsigned pieces, const char *range)
{
	int at = snprintf(script, size, "range t1 %uus+%uus \"%s\"\n", at_us, 200 * mb, range);
	unsigned i, us = 200 * mb / pieces;

	for (i = 0; i < pieces; i++)
		at += snprintf(script + at, size - (size_t)at,
			"call t1 cudaMemcpyAsync %uus+%uus corr %u\n"
			"copy s7 HtoD pageable->device %uus+%uus corr %u bytes %u000000\n",
			at_us + i * us, us - 10, corr + i, at_us + i * us + 5, us - 20, corr + i,
			mb / pieces);
	return at;
}

/* Steps of a kernel of 40 ms after copies at 5 GB/s. */
static struct vpa_report *report_of(size_t k)
{
	const struct vpa_options options = {.step_parts = 1};
	static char script[16384];
	size_t size = sizeof(script);
	int at = snprintf(script, size, "start 0us\n");
	unsigned i, t = 1000;

	for (i = 0; i < STEPS; i++) {
		unsigned mb = i < cases[k].steps ? cases[k].mb + i * cases[k].grows : 0,
			 second = cases[k].second_mb, us = 200 * (mb + second);

		at += snprintf(script + at, size - (size_t)at, "range t1 %uus+%uus \"step %u\"\n",
			t, us + 40000, i);
		if (mb)
			at += add_copy(script + at, size - (size_t)at, t, 10 * i + 1, mb,
				cases[k].pieces, "controlnet");
		if (second)
			at += add_copy(script + at, size - (size_t)at, t + 200 * mb, 10 * i + 8,
				second, 1, "masks");
		at += snprintf(script + at, size - (size_t)at,
			"call t1 cudaLaunchKernel %uus+5us corr %u\n"
			"kernel s7 %uus+39000us corr %u" GEMM,
			t + us + 10, 10 * i + 9, t + us + 20, 10 * i + 9);
		t += us + 40000;
	}
	return vpt_script_report(script, &options);
}

static void copies_of_each_step_are_told_from_others(void **state)
{
	size_t k;

	(void)state;
	for (k = 0; k < COUNT(cases); k++) {
		struct vpa_report *r = report_of(k);
		const struct vpa_finding *f = finding(r, "exposed-copy");

		if (!f)
			fail_msg("%s: no finding", cases[k].rule);
		if (cases[k].note ? !strstr(f->note, cases[k].note)
				  : strstr(f->note, "in each step") != NULL)
			fail_msg("%s: %s", cases[k].rule, f->note);
		expect_page(cases[k].rule, r, cases[k].fix, 1);
		vpa_report_free(r);
	}
}

/* Of 100 MB: eight tensors of three sizes, or one. */
static int add_tensors(char *script, size_t size, unsigned t, unsigned corr, int many)
{
	int at;

	if (!many)
		return add_copy(script, size, t, corr, 100, 1, "text_encoder");
	at = add_copy(script, size, t, corr, 50, 5, "text_encoder");
	at += add_copy(script + at, size - (size_t)at, t + 10000, corr + 5, 30, 2, "text_encoder");
	at += add_copy(script + at, size - (size_t)at, t + 16000, corr + 7, 20, 1, "text_encoder");
	return at;
}

/* Six steps: 20 ms of copies to the GPU in text_encoder, a kernel of 40 ms, and `back_mb` of 100 MB copied back. */
static struct vpa_report *report_of_copies_back(const char *head, unsigned back_mb, int many)
{
	const struct vpa_options options = {.step_parts = 1};
	static char script[16384];
	size_t size = sizeof(script);
	int at = snprintf(script, size, "start 0us\n%s", head);
	unsigned i;

	for (i = 0; i < STEPS; i++) {
		unsigned t = 1000 + 80000 * i;

		at += snprintf(script + at, size - (size_t)at,
			"range t1 %uus+79999us \"step %u\"\n", t, i);
		at += add_tensors(script + at, size - (size_t)at, t, 20 * i + 1, many);
		at += snprintf(script + at, size - (size_t)at,
			"call t1 cudaLaunchKernel %uus+5us corr %u\nkernel s7 %uus+39000us corr "
			"%u" GEMM "call t1 cudaMemcpyAsync %uus+5us corr %u\n"
			"copy s7 DtoH device->pinned %uus+19000us corr %u bytes %u000000\n",
			t + 20010, 20 * i + 12, t + 20020, 20 * i + 12, t + 20030, 20 * i + 13,
			t + 60000, 20 * i + 13, back_mb);
	}
	return vpt_script_report(script, &options);
}

/* 100 MB of weights a step stay on a GPU of 160 MiB, not on one of 120. They are hidden behind the kernel of 39 ms, once they need not
 * come back. */
static void what_does_not_fit_is_copied_ahead(void **state)
{
	static const struct {
		const char *head, *words;
	} gpus[] = {{"device 0 \"GPU\" cc 8.9 sms 128 memory 120MiB\n",
			    "copy weights ahead; 94.4 MB can stay"},
		{"device 0 \"GPU\" cc 8.9 sms 128 memory 160MiB\n", "keep weights on the GPU"}};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(gpus); i++) {
		struct vpa_report *r = report_of_copies_back(gpus[i].head, 95, 1);
		const struct vpa_finding *f = finding(r, "exposed-copy");

		assert_non_null(f);
		assert_string_equal(f->words, gpus[i].words);
		assert_true(!(f->gain_from_ms > 0));
		vpa_report_free(r);
	}
}

/* Six steps: eight tensors of 100 MB in all go to the GPU in 20 ms, and a kernel takes `kernel_us`. */
static struct vpa_report *report_of_streamed(const char *head, unsigned kernel_us)
{
	const struct vpa_options options = {.step_parts = 1};
	static char script[16384];
	size_t size = sizeof(script);
	int at = snprintf(script, size, "start 0us\n%s", head);
	unsigned i, step_us = 20030 + kernel_us;

	for (i = 0; i < STEPS; i++) {
		unsigned t = 1000 + step_us * i;

		at += snprintf(script + at, size - (size_t)at, "range t1 %uus+%uus \"step %u\"\n",
			t, step_us - 1, i);
		at += add_tensors(script + at, size - (size_t)at, t, 20 * i + 1, 1);
		at += snprintf(script + at, size - (size_t)at,
			"call t1 cudaLaunchKernel %uus+5us corr %u\n"
			"kernel s7 %uus+%uus corr %u" GEMM,
			t + 20010, 20 * i + 12, t + 20020, kernel_us, 20 * i + 12);
	}
	return vpt_script_report(script, &options);
}

#define IN_USE(bytes)                                                                              \
	"series used device 0 unit \"B\" \"Memory used\"\ncounter used 1ms " bytes "\n"

/* Of the GPU's memory the rest needs a quarter, or what is in use, and a twentieth is left. A step's 20 ms of copies are hidden by its
 * kernel, as far as that is long enough, or need not be made. */
static void what_does_not_fit_stays_in_part(void **state)
{
	static const struct {
		const char *rule, *head, *words, *change;
		unsigned kernel_us;
		double saved_ms; /* in six steps, without the 20 us from copy to copy */
	} gpus[] = {
		{"all fit", "device 0 \"GPU\" cc 8.9 sms 128 memory 160MiB\n",
			"overlap copies to the GPU", "scale HtoD 0", 40000, 119},
		{"a quarter is not for them", "device 0 \"GPU\" cc 8.9 sms 128 memory 80000000\n",
			"copy weights ahead; 60.0 MB can stay", "scale HtoD 0", 40000, 119},
		{"what is in use is not",
			"device 0 \"GPU\" cc 8.9 sms 128 memory 160000000\n" IN_USE("92000000"),
			"copy weights ahead; 60.0 MB can stay", "scale HtoD 0", 40000, 119},
		{"4 of 20 ms are hidden, 12 not made",
			"device 0 \"GPU\" cc 8.9 sms 128 memory 80000000\n",
			"copy weights ahead; 60.0 MB can stay", "scale HtoD 0.20", 4000, 95},
		{"there is no room",
			"device 0 \"GPU\" cc 8.9 sms 128 memory 160000000\n" IN_USE("150000000"),
			"copy weights ahead, or quantise them", "scale HtoD 0.80", 4000, 24},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(gpus); i++) {
		struct vpa_report *r = report_of_streamed(gpus[i].head, gpus[i].kernel_us);
		const struct vpa_finding *f = finding(r, "exposed-copy");

		if (!f || strcmp(f->words, gpus[i].words) || strcmp(f->change, gpus[i].change) ||
			f->gain_from_ms > 0 || f->gain_at_most_ms < gpus[i].saved_ms - 1 ||
			f->gain_at_most_ms > gpus[i].saved_ms + 1)
			fail_msg("%s: %s; %s; %g ms", gpus[i].rule, f ? f->words : "nothing",
				f ? f->change : "", f ? f->gain_at_most_ms : 0);
		vpa_report_free(r);
	}
}

static void what_goes_out_and_back_is_kept(void **state)
{
	struct vpa_report *r = report_of_copies_back("", 95, 1);
	const struct vpa_finding *f = finding(r, "exposed-copy");

	(void)state;
	assert_non_null(f);
	assert_string_equal(f->words, "keep weights on the GPU");
	assert_string_equal(f->where, "in text_encoder");
	assert_string_equal(f->change, "scale HtoD 0; scale DtoH 0");
	vpa_report_free(r);
	/* One of a size may as well be frames, which come and go. */
	r = report_of_copies_back("", 100, 0);
	f = finding(r, "exposed-copy");
	assert_non_null(f);
	assert_string_equal(f->words, "overlap copies, or keep data on the GPU");
	assert_null(f->change);
	vpa_report_free(r);
	r = report_of_copies_back("", 80, 0);
	f = finding(r, "exposed-copy");
	assert_non_null(f);
	assert_string_equal(f->words, "copy once, not 100 MB a step");
	assert_string_equal(f->change, "scale HtoD 0");
	vpa_report_free(r);
}

/* A kernel of 20 ms, and 12 copies `way` of 10 ms with `first` and `second` after each, one of 3 ms and one of 7 in turn; each has
 * eight short ones of its name inside. */
static struct vpa_report *report_of_updates(const char *way, const char *first, const char *second)
{
	static char script[32768];
	int at = snprintf(script, sizeof(script),
		"start 0us\ncall t1 cudaLaunchKernel 10us+5us corr 1\nkernel s7 20us+20000us corr "
		"1" GEMM);
	unsigned i, k, t;

	for (i = 0; i < 12; i++) {
		t = 20020 + 20000 * i;
		at += snprintf(script + at, sizeof(script) - (size_t)at,
			"call t1 cudaMemcpyAsync %uus+10000us corr %u\n"
			"copy s7 %s %uus+9990us corr %u bytes 40000000\n"
			"range t1 %uus+%uus \"%s\" domain cpu_op\n"
			"range t1 %uus+%uus \"%s\" domain cpu_op\n",
			t, i + 2, way, t + 5, i + 2, t + 10000, i % 2 ? 3000 : 7000, first,
			t + (i % 2 ? 13000 : 17000), i % 2 ? 6990 : 2990, second);
		for (k = 0; k < 8; k++)
			at += snprintf(script + at, sizeof(script) - (size_t)at,
				"range t1 %uus+1us \"%s\" domain cpu_op\n"
				"range t1 %uus+1us \"%s\" domain cpu_op\n",
				t + 10010 + 2 * k, first, t + 17010 + 2 * k, second);
	}
	return vpt_script_report(script, NULL);
}

/* After the last copy nothing is launched: that code is no idle time between two ops. */
static void what_the_cpu_computes_with_copies_is_done_on_the_gpu(void **state)
{
	static const char *const way = "DtoH device->pageable";
	const struct {
		const char *rule, *way, *first, *second;
		int is_one;
	} works[] = {
		{"copies and operators are one work", way, "aten::mul_", "aten::add_", 1},
		{"copies to the GPU are for it", "HtoD pageable->device", "aten::mul_",
			"aten::add_", 0},
		{"operators that set up tensors compute nothing", way, "aten::fill_", "aten::zero_",
			0},
		{"other code is the program's", way, "to_json", "write", 0},
	};
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t i;

	for (i = 0; i < COUNT(works); i++) {
		r = report_of_updates(works[i].way, works[i].first, works[i].second);
		f = finding(r, "host-updates");
		if (!f != !works[i].is_one ||
			(finding(r, "host-stall") == NULL) != works[i].is_one ||
			(finding(r, "exposed-copy") == NULL) != works[i].is_one)
			fail_msg("%s: %s", works[i].rule, f ? f->measured : "nothing");
		if (f) {
			assert_string_equal(f->measured,
				"12 copies to the host, 120 ms, and 110 ms between them in mul_, "
				"add_");
			assert_string_equal(f->words, "on the GPU, not the CPU: mul_, add_");
			assert_string_equal(f->change,
				"scale DtoH 0; host 0 in aten::mul_; host 0 in aten::add_");
			assert_true(f->gain_at_most_ms > 229 && f->gain_at_most_ms < 231);
		}
		vpa_report_free(r);
	}
	(void)state;
}

/* `count` tensors of 300 MB in all go to the GPU at 5 GB/s, a kernel works for 40 ms, and they come back; so `times` times. */
static struct vpa_report *report_of_tensors(unsigned count, unsigned times)
{
	static const unsigned sizes_mb[] = {60, 60, 40, 40, 40, 20, 20, 20};
	static char script[16384];
	int at = snprintf(script, sizeof(script), "start 0us\n");
	unsigned i, k, t = 1000, corr = 0;

	for (i = 0; i < times; i++)
		for (k = 0; k < 2 * count + 1; k++) {
			unsigned of = k < count ? k : k - count - 1;
			unsigned mb = count == 1 ? 300 : sizes_mb[of % 8],
				 us = k == count ? 40000 : 200 * mb;

			at += snprintf(script + at, sizeof(script) - (size_t)at,
				"call t1 %s %uus+5us corr %u\n",
				k == count ? "cudaLaunchKernel" : "cudaMemcpyAsync", t, ++corr);
			if (k == count)
				at += snprintf(script + at, sizeof(script) - (size_t)at,
					"kernel s7 %uus+%uus corr %u" GEMM, t + 6, us, corr);
			else
				at += snprintf(script + at, sizeof(script) - (size_t)at,
					"copy s7 %s %uus+%uus corr %u bytes %u000000\n",
					k < count ? "HtoD pinned->device" : "DtoH device->pinned",
					t + 6, us, corr, mb);
			t += us + 10;
		}
	return vpt_script_report(script, NULL);
}

static void what_goes_up_once_is_not_copied_back(void **state)
{
	struct vpa_report *r = report_of_tensors(8, 1);
	const struct vpa_finding *f = finding(r, "exposed-copy");

	(void)state;
	assert_int_equal(r->came_back_bytes, 300000000);
	assert_int_equal(r->uploaded_again_bytes, 0);
	assert_non_null(f);
	assert_string_equal(f->words, "do not copy weights back: drop them");
	assert_string_equal(f->change, "scale DtoH 0");
	assert_float_equal(f->gain_at_most_ms, 60, 1e-6);
	vpa_report_free(r);
	/* Half of the copies to the GPU are of what had been there. */
	r = report_of_tensors(8, 2);
	f = finding(r, "exposed-copy");
	assert_int_equal(r->uploaded_again_bytes, 300000000);
	assert_non_null(f);
	assert_string_equal(f->words, "keep weights on the GPU");
	assert_string_equal(f->change, "scale HtoD 0; scale DtoH 0");
	assert_float_equal(f->gain_at_most_ms, 240, 1e-6);
	vpa_report_free(r);
	/* A video that is worked on goes up and comes back. */
	r = report_of_tensors(1, 1);
	f = finding(r, "exposed-copy");
	assert_int_equal(r->came_back_bytes, 300000000);
	assert_string_equal(f->words, "overlap copies, or keep data on the GPU");
	assert_null(f->change);
	assert_float_equal(f->gain_at_most_ms, 120, 1e-6);
	vpa_report_free(r);
}

/* Six steps of 100 ms: 300 MB and more from pinned memory for 60 ms, other sizes each time, and a kernel of 39 ms. */
static void more_copies_than_kernels_hide_are_named_with_their_bytes(void **state)
{
	const struct vpa_options options = {.step_parts = 1};
	static char script[16384];
	int at = snprintf(script, sizeof(script), "start 0us\n");
	const struct vpa_finding *f;
	struct vpa_report *r;
	unsigned i;

	(void)state;
	for (i = 0; i < STEPS; i++) {
		unsigned t = 1000 + 100000 * i;

		at += snprintf(script + at, sizeof(script) - (size_t)at,
			"range t1 %uus+99999us \"step %u\"\n"
			"call t1 cudaMemcpyAsync %uus+5us corr %u\n"
			"copy s7 HtoD pinned->device %uus+60000us corr %u bytes %u000000\n"
			"call t1 cudaLaunchKernel %uus+5us corr %u\n"
			"kernel s7 %uus+39000us corr %u" GEMM,
			t, i, t + 1, 2 * i + 1, t + 10, 2 * i + 1, 300 + i, t + 8, 2 * i + 2,
			t + 60020, 2 * i + 2);
	}
	r = vpt_script_report(script, &options);
	f = finding(r, "exposed-copy");
	assert_non_null(f);
	/* 1,815 MB; five of six steps have a period, of 599 ms in all. */
	assert_string_equal(f->words, "copy less to the GPU: 303 MB a step");
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_of_each_step_are_told_from_others),
		cmocka_unit_test(what_goes_out_and_back_is_kept),
		cmocka_unit_test(what_does_not_fit_is_copied_ahead),
		cmocka_unit_test(what_does_not_fit_stays_in_part),
		cmocka_unit_test(what_the_cpu_computes_with_copies_is_done_on_the_gpu),
		cmocka_unit_test(what_goes_up_once_is_not_copied_back),
		cmocka_unit_test(more_copies_than_kernels_hide_are_named_with_their_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
