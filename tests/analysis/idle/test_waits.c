/* test_waits.c - advice on waits of the host, on traces whose answer a person can compute: small reads, other copies,
 * other synchronisations, and all of them where they hide each other. */
#include "analysis/retime/predictions.h"
#include "formats/base/count.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

/* Ten iterations of 600 us: a launch of 1 us, a kernel of 100 us from then on, and what the host does next. In that text
 * "%T20" is the time 20 us after the iteration began, and "%N2" is the iteration's second id. */
static const char *iterations(const char *host)
{
	static char script[65536];
	size_t i, used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	const char *at;

	for (i = 0; i < 10; i++) {
		size_t t = 1000 + 600 * i;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
			"kernel s7 %zuus+100us corr %zu" GEMM,
			t, 10 * i + 1, t + 1, 10 * i + 1);
		for (at = host; *at; at++) {
			unsigned n = 0;
			int len = 0;

			if (*at != '%') {
				script[used++] = *at;
				continue;
			}
			assert_int_equal(sscanf(at + 2, "%u%n", &n, &len), 1);
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				at[1] == 'T' ? "%zuus" : "%zu", at[1] == 'T' ? t + n : 10 * i + n);
			at += 1 + len;
		}
	}
	script[used] = '\0';
	return script;
}

/* "id gain (shared)", in their order, in microseconds. */
static void say_findings(const struct vpa_report *r, char *text, size_t size)
{
	size_t i, used = 0;

	text[0] = '\0';
	for (i = 0; i < r->finding_count; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (!(f->gain_at_most_ms > 0))
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s %.0f", used ? ", " : "",
			vpa_finding_text(f->id), f->gain_at_most_ms * 1e3);
		if (f->gain_shared_ms > 0)
			used += (size_t)snprintf(text + used, size - used, " (%.0f shared)",
				f->gain_shared_ms * 1e3);
	}
}

#define READ(memory) "copy s7 DtoH device->" memory " %T101+1us corr %N2 bytes 8\n"

/* Between two iterations the device is idle for 499 us, from 102 on. A read takes its op of 1 us along, ten times. */
static const struct {
	const char *rule, *host, *findings, *first; /* the first one's note has this */
} cases[] = {
	{"a read of pinned memory and the synchronisation after it are one",
		"call t1 cudaMemcpyAsync %T2+1us corr %N2\n" READ(
			"pinned") "call t1 cudaStreamSynchronize %T5+535us corr %N3\n",
		"small-reads 4501 (9 shared)", "10 copies of at most 64 bytes, 80 B in all"},
	{"so are they with some code between them, which would wait instead",
		"call t1 cudaMemcpyAsync %T2+1us corr %N2\n" READ(
			"pinned") "call t1 cudaStreamSynchronize %T80+460us corr %N3\n",
		/* without its two calls the host comes 461 us earlier; 60 us of code are left after them */
		"small-reads 4159 (9 shared), launch-rate 540 (198 shared)",
		"cudaStreamSynchronize"},
	{"a large copy to pinned memory is no read",
		"call t1 cudaMemcpyAsync %T2+1us corr %N2\n"
		"copy s7 DtoH device->pinned %T101+1us corr %N2 bytes 65\n"
		"call t1 cudaStreamSynchronize %T5+535us corr %N3\n",
		"sync-drain 4491 (9 shared)", "cudaStreamSynchronize"},
	/* Without the read the copy waits for the kernel, without the copy the read does. Without both calls and the
	 * synchronisation the host comes 115 us earlier in nine gaps, and 3 in the last one, between them; and the ten
	 * reads' ops go, 1 us each. */
	{"waits that hide each other are worth most together",
		"call t1 cudaMemcpyAsync %T2+101us corr %N2\n" READ(
			"pageable") "call t1 cudaMemcpyAsync %T104+12us corr %N4\n"
				    "copy s7 DtoH device->pageable %T105+10us corr %N4 bytes "
				    "1000000\n"
				    "call t1 cudaStreamSynchronize %T118+2us corr %N5\n",
		"host-stall 4320 (72 shared), host-waits 1048 (1018 shared), blocking-copy 127",
		NULL},
	/* 258 us of waiting against half of 340 us of code, of which the wait has 100 by its credit. */
	{"code that would have to vanish comes after a wait that can",
		"call t1 cudaMemcpyAsync %T2+258us corr %N2\n" READ("pageable"),
		"small-reads 2332, host-stall 3060 (900 shared)", NULL},
};

static void waits_are_sold_by_what_goes_away_with_them(void **state)
{
	char text[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpa_report *r = vpt_script_report(iterations(cases[i].host), NULL);

		say_findings(r, text, sizeof(text));
		if (strcmp(text, cases[i].findings) != 0 ||
			(cases[i].first && !strstr(r->findings[0].note, cases[i].first)))
			fail_msg("%s: found %s (%s)\nexpected %s", cases[i].rule, text,
				r->findings[0].note, cases[i].findings);
		vpa_report_free(r);
	}
}

/* The repair names every kind of wait that there is: one that saves nothing alone has to go too. */
static void all_waits_name_each_remedy(void **state)
{
	struct vpa_report *r = vpt_script_report(iterations(cases[3].host), NULL);
	const struct vpa_finding *f = finding(r, "host-waits");

	(void)state;
	assert_non_null(f);
	assert_string_equal(f->title,
		"keep the host from waiting: no .item() or .cpu(), pinned memory and "
		"non_blocking=True, no synchronise");
	assert_non_null(
		strstr(f->note, "one of them alone saves less: the host then waits in the next"));
	vpa_report_free(r);
}

/* Of 340 us of code in each of nine gaps half would save 170. */
static void host_code_says_what_half_of_it_would_save(void **state)
{
	struct vpa_report *r = vpt_script_report(iterations(cases[4].host), NULL);
	const struct vpa_finding *f = finding(r, "host-stall");

	(void)state;
	assert_non_null(f);
	assert_true(f->base_gain_ms == 3.06 && f->base_likely_ms == 1.53);
	expect_page(
		"half", r, "of 5.50 ms active: at most 2.25x as fast, 1.39x with half of it", 1);
	expect_page("half", r, "Order: by what is likely saved.", 1);
	vpa_report_free(r);
}

/* Ten iterations of 6 ms: a copy to the GPU, a kernel of 3 ms, a blocking copy to the host, and code of 2.8 ms. */
static const struct {
	const char *rule;
	unsigned up_bytes, down_bytes;
	const char *words; /* NULL: the usual ones */
} results[] = {
	{"pictures come out", 1000, 1000000, "in a thread: host code"},
	{"what comes out may be what goes in next", 300000, 1000000, NULL},
	{"numbers come out", 1000, 200000, NULL},
};

static void code_for_results_can_run_in_another_thread(void **state)
{
	static char script[16384];
	size_t k, i;

	(void)state;
	for (k = 0; k < COUNT(results); k++) {
		const struct vpa_finding *f;
		struct vpt_trace *trace = NULL;
		struct vpa_report *r = NULL;
		struct vpt_err err = {0};
		size_t used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");

		for (i = 0; i < 10; i++) {
			size_t t = 1000 + 6000 * i, id = 3 * i + 1;

			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 cudaMemcpyAsync %zuus+5us corr %zu\n"
				"copy s7 HtoD pageable->device %zuus+4us corr %zu bytes %u\n"
				"call t1 cudaLaunchKernel %zuus+5us corr %zu\n"
				"kernel s7 %zuus+3000us corr %zu" GEMM
				"call t1 cudaMemcpyAsync %zuus+3180us corr %zu\n"
				"copy s7 DtoH device->pageable %zuus+150us corr %zu bytes %u\n",
				t, id, t + 1, id, results[k].up_bytes, t + 10, id + 1, t + 16,
				id + 1, t + 20, id + 2, t + 3040, id + 2, results[k].down_bytes);
		}
		if (vpt_script_trace(script, &trace, &err) ||
			vpa_analyze(trace, "case", NULL, &r, &err) ||
			vpa_predict(trace, 1, VPA_REPLAYED_MOST, r, &err))
			fail_msg("%s: %s", results[k].rule, err.text);
		f = finding(r, "host-stall");
		assert_non_null(f);
		if (results[k].words ? !f->words || strcmp(f->words, results[k].words) != 0
				     : f->words != NULL)
			fail_msg(
				"%s: %s", results[k].rule, f->words ? f->words : "the usual words");
		/* Nine times 2.8 ms, or half of that. */
		if (fabs(f->base_ms - f->predicted_ms - 9 * 2.8 / (f->words ? 1 : 2)) > 0.1)
			fail_msg("%s: saves %g ms", results[k].rule, f->base_ms - f->predicted_ms);
		vpa_report_free(r);
		vpt_trace_close(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_are_sold_by_what_goes_away_with_them),
		cmocka_unit_test(all_waits_name_each_remedy),
		cmocka_unit_test(host_code_says_what_half_of_it_would_save),
		cmocka_unit_test(code_for_results_can_run_in_another_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
