/* test_full_memory.c - what tells an allocator at the limit of the GPU's memory from a program that allocates in its loop. */
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

#define GPU      "device 0 \"GPU\" cc 8.9 sms 128 memory 24GiB\n"
#define RESERVED "series held device 0 unit \"B\" \"PyTorch reserved\"\ncounter held 1ms "

static const struct {
	const char *rule, *head;
	const char *first, *second; /* the calls between two kernels, of 3 ms and of 1 ms */
	const char *operator;       /* around them; NULL: none */
	unsigned times;
	const char *note; /* NULL: memory is not full */
} cases[] = {
	{"the allocator holds nearly all memory", GPU RESERVED "25000000000\n", "cudaFree",
		"cudaMalloc", NULL, 6, "PyTorch held 25.0 of 25.8 GB"},
	{"it holds half", GPU RESERVED "12000000000\n", "cudaFree", "cudaMalloc", NULL, 6, NULL},
	{"nothing says how much there is", RESERVED "25000000000\n", "cudaFree", "cudaMalloc", NULL,
		6, NULL},
	{"the GPU's memory is in use, by whom ever",
		GPU
		"series held device 0 unit \"B\" \"Memory used\"\ncounter held 1ms 24000000000\n",
		"cudaFree", "cudaMalloc", NULL, 6, "in use were 24.0 of 25.8 GB"},
	{"an operator frees to allocate", "", "cudaFree", "cudaMalloc", "aten::empty", 6,
		"an operator that allocates had to free"},
	{"a program empties the cache", "", "cudaFree", "cudaMalloc", "empty_cache", 6, NULL},
	{"it allocates and hardly frees", GPU RESERVED "25000000000\n", "cudaMalloc", "cudaFree",
		NULL, 6, NULL},
	{"it frees what pins memory", GPU RESERVED "25000000000\n", "cudaFreeHost",
		"cudaMallocHost", NULL, 6, NULL},
	{"it frees once or twice", GPU RESERVED "25000000000\n", "cudaFree", "cudaMalloc", NULL, 3,
		NULL},
};

static struct vpa_report *report_of(size_t k)
{
	char script[8000];
	int at = snprintf(script, sizeof(script), "start 0us\n%s", cases[k].head);
	unsigned i;

	for (i = 0; i < cases[k].times; i++) {
		unsigned t = 1000 + 9000 * i, corr = 4 * i;

		at += snprintf(script + at, sizeof(script) - (size_t)at,
			"range t1 %uus+8900us \"tile\"\n"
			"call t1 cudaLaunchKernel %uus+5us corr %u\n"
			"kernel s7 %uus+4900us corr %u" GEMM,
			t, t + 10, corr + 1, t + 100, corr + 1);
		if (cases[k].operator)
			at += snprintf(script + at, sizeof(script) - (size_t)at,
				"range t1 %uus+4100us \"%s\"%s\n", t + 4795, cases[k].operator,
				strncmp(cases[k].operator, "aten", 4) ? "" : " domain cpu_op");
		at += snprintf(script + at, sizeof(script) - (size_t)at,
			"call t1 %s %uus+3000us corr %u\ncall t1 %s %uus+1000us corr %u\n",
			cases[k].first, t + 4800, corr + 2, cases[k].second, t + 7850, corr + 3);
	}
	snprintf(script + at, sizeof(script) - (size_t)at,
		"call t1 cudaLaunchKernel %uus+5us corr 99\nkernel s7 %uus+4900us corr 99" GEMM,
		1000 + 9000 * i, 1100 + 9000 * i);
	return vpt_script_report(script, NULL);
}

static void an_allocator_at_the_limit_is_told_from_a_program_that_allocates(void **state)
{
	size_t k;

	(void)state;
	for (k = 0; k < COUNT(cases); k++) {
		struct vpa_report *r = report_of(k);
		const struct vpa_finding *f = finding(r, "allocation");
		int is_full = f && strncmp(f->title, "memory is full, ", 16) == 0;

		if (!f || is_full != (cases[k].note != NULL))
			fail_msg("%s: %s", cases[k].rule, f ? f->title : "no finding");
		if (cases[k].note && !strstr(f->note, cases[k].note))
			fail_msg("%s: %s", cases[k].rule, f->note);
		expect_page(
			cases[k].rule, r, "memory is full: expandable_segments, offload", is_full);
		vpa_report_free(r);
	}
}

/* A kernel of 900 us of a window of 1 ms, with samples of `held` bytes. */
static void what_does_not_fit_is_said_first(void **state)
{
	static const struct {
		const char *rule, *head, *measured, *note;
	} over[] = {
		{"PyTorch holds more than there is", GPU RESERVED "28430000000\n",
			"GPU 0: PyTorch held 28.4 of 25.8 GB, 110.3 %",
			"of the same name; no \"at most\", since no trace has the reads over PCIe"},
		{"pages of managed memory move",
			GPU RESERVED
			"28430000000\nstream u device 0\noverhead u \"page faults\" 120us-420us\n",
			"GPU 0: PyTorch held 28.4 of 25.8 GB, 110.3 %",
			"; pages moved during 300 us of 900 us of kernels; no \"at most\""},
		{"all of it", GPU RESERVED "25769803776\n",
			"GPU 0: PyTorch held 25.8 of 25.8 GB, 100.0 %", NULL},
		{"a byte less fits", GPU RESERVED "25769803775\n", NULL, NULL},
		{"nothing says how much there is", RESERVED "28430000000\n", NULL, NULL},
		{"more is in use",
			GPU "series held device 0 unit \"B\" \"Memory used\"\ncounter held 1ms "
			    "26000000000\n",
			"GPU 0: in use were 26.0 of 25.8 GB, 100.9 %", NULL},
	};
	const struct vpa_finding *f;
	struct vpa_report *r;
	char script[1000], *screen;
	size_t k;

	(void)state;
	for (k = 0; k < COUNT(over); k++) {
		snprintf(script, sizeof(script),
			"start 0us\n%scall t1 cudaLaunchKernel 10us+5us corr 1\n"
			"kernel s7 20us+900us corr 1 "
			"\"ampere_bf16_s16816gemm_bf16_128x64_nn\" grid 1024\n",
			over[k].head);
		r = vpt_script_report(script, NULL);
		f = finding(r, "memory-over");
		if (!f != !over[k].measured || (f && strcmp(f->measured, over[k].measured) != 0))
			fail_msg("%s: %s", over[k].rule, f ? f->measured : "nothing");
		if (over[k].note && !strstr(f->note, over[k].note))
			fail_msg("%s: %s", over[k].rule, f->note);
		if (f && (f->gain_at_most_ms > 0 || f->base_gain_ms > 0))
			fail_msg("%s: a gain", over[k].rule);
		screen = text_of(r, 0);
		if (!strstr(screen, f ? "Make the program fit into the GPU's memory first, see "
					"MORE. Nothing else is found that is wasted."
				      : "FIX FIRST Nothing found that is wasted.") ||
			!strstr(screen, " GB are held of 25.8 GB that GPU 0 has: ") != !f)
			fail_msg("%s: %s", over[k].rule, screen);
		vpt_free(screen);
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_not_fit_is_said_first),
		cmocka_unit_test(an_allocator_at_the_limit_is_told_from_a_program_that_allocates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
