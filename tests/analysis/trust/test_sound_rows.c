/* test_sound_rows.c - what sound_rows.h does not doubt, an analysis calls complete: of random programs without a fault, which
 * it never doubts, and of the same with one fault of any kind; and of the random captures for causes. */
#include "analysis/analyze.h"
#include "analysis/trust/completeness.h"
#include "analysis/trust/sound_rows.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/random.h"
#include "tests/support/traces/random_causes.h"
#include "tests/support/traces/script.h"

/* Whether neither the file nor its rows leave anything in doubt, as `check` looks at them. */
static int is_sound(const struct vpt_trace *trace)
{
	struct vpa_completeness reading;
	struct vpa_sound *sound = vpa_sound_new(trace);
	struct vpt_decoder *d = vpt_decoder_new();
	struct vpt_batch b;
	size_t i;
	int rc = VPT_OK;

	assert_non_null(sound);
	vpt_batch_init(&b);
	vpa_completeness_begin(&reading, trace);
	for (i = 0; i < vpt_trace_chunks(trace) && !rc; i++) {
		rc = vpt_trace_chunk(trace, d, i, &b, NULL);
		if (!rc)
			rc = vpa_completeness_chunk(&reading, i, &b);
		if (!rc)
			rc = vpa_sound_chunk(sound, &b);
		assert_int_not_equal(rc, VPT_ENOMEM);
	}
	if (!rc && !vpa_completeness_end(&reading) && !vpa_sound_end(sound, &reading))
		rc = VPT_END;
	vpa_completeness_free(&reading);
	vpa_sound_free(sound);
	vpt_decoder_free(d);
	vpt_batch_free(&b);
	return !rc;
}

static int is_complete(const struct vpt_trace *trace)
{
	const struct vpa_options options = {.jobs = 1};
	struct vpa_report *report = NULL;
	struct vpt_err err = {0};
	int complete;

	if (vpa_analyze(trace, "case", &options, &report, &err))
		fail_msg("%s", err.text);
	complete = report->verdict.complete;
	vpa_report_free(report);
	return complete;
}

/* ---- random programs ---- */

enum fault {
	NONE,
	NO_KERNEL,   /* of a launch */
	NO_CALL,     /* of a kernel */
	UNKNOWN_ID,  /* a kernel of no call */
	NO_ID,       /* a kernel without one */
	TWICE,       /* two calls of an id */
	REVERSED,    /* a kernel that ends before it begins */
	NO_TIME,     /* a kernel that began at 0 */
	BEFORE,      /* a kernel that ended before the capture */
	FAR,         /* a kernel long after the end */
	OVER_OTHERS, /* a kernel that lasts over the next three */
	LATE_KERNEL, /* a kernel in a chunk after the next, whose header says so: no fault */
	LATE_RANGE,  /* ranges that no chunk lists as open */
	DEEP,        /* ranges in 300 others */
	LONG_NAME,
	CLOCK, /* another tool's */
	LOST,  /* records */
	BOOKS, /* that do not add up */
	KILLED,
	FAULTS
};

struct program {
	char text[65536];
	size_t used;
	struct vpt_random random;
	unsigned calls, chunk_calls; /* all; of a chunk */
	unsigned victim;             /* the call that has the fault */
	enum fault fault;
};

static void put(struct program *p, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(p->text + p->used, sizeof(p->text) - p->used, format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < sizeof(p->text) - p->used);
	p->used += (size_t)n;
}

/* A kernel of the call that begins at this time. */
static void put_kernel(struct program *p, unsigned id, unsigned us, const char *stream)
{
	enum fault fault = id == p->victim ? p->fault : NONE;
	char time[64], corr[32];

	snprintf(time, sizeof(time), "%uus+%uus", us + 7, 5 + id % 7);
	snprintf(corr, sizeof(corr), "corr %u", id);
	if (fault == NO_KERNEL || fault == LATE_KERNEL)
		return;
	if (fault == UNKNOWN_ID)
		snprintf(corr, sizeof(corr), "corr %u", 100000 + id);
	if (fault == NO_ID)
		corr[0] = 0;
	if (fault == REVERSED)
		snprintf(time, sizeof(time), "%uus-%uus", us + 7, us + 6);
	if (fault == NO_TIME)
		snprintf(time, sizeof(time), "0+%uus", us + 9);
	if (fault == BEFORE)
		snprintf(time, sizeof(time), "1us-2us");
	if (fault == FAR)
		snprintf(time, sizeof(time), "9000s+5us");
	if (fault == OVER_OTHERS)
		snprintf(time, sizeof(time), "%uus+95us", us + 7);
	put(p, "kernel %s %s %s \"%s\"\n", stream, time, corr, id % 3 ? "gemm" : "add");
}

/* A call, what it puts on a stream, and the ranges around it. */
static void put_call(struct program *p, unsigned id, unsigned us)
{
	unsigned what = (unsigned)vpt_random_below(&p->random, 8), two = id / 8 % 2;
	enum fault fault = id == p->victim ? p->fault : NONE;
	const char *thread = two ? "t2" : "t1", *stream = two ? "s8" : "s7";

	if (fault)
		what = 4;
	if (what == 0) {
		put(p, "call %s cudaStreamSynchronize %uus+4us corr %u\n", thread, us, id);
	} else if (what == 1) {
		put(p, "call %s cudaMemcpyAsync %uus+4us corr %u\n", thread, us, id);
		put(p, "copy %s HtoD %uus+3us corr %u bytes 64\n", stream, us + 6, id);
	} else if (what == 2) {
		put(p, "call %s \"cudaFuncSetAttribute\" %uus+4us corr %u\n", thread, us, id);
	} else {
		if (fault != NO_CALL)
			put(p, "call %s cudaLaunchKernel %uus+4us corr %u\n", thread, us,
				fault == TWICE ? id - 1 : id);
		put_kernel(p, id, us, stream);
	}
	if (what > 4)
		put(p, "range %s %uus+6us \"op\"\n", thread, us - 1);
	if (fault == DEEP)
		for (what = 0; what < 300; what++)
			put(p, "range %s %uus-%uus \"in\"\n", thread, us - 5 + what / 100,
				us + 10 - what / 100);
	if (fault == LONG_NAME)
		put(p, "range t1 %uus+6us \"%09000d\"\n", us, 7);
	if (fault == CLOCK)
		put(p, "meta clock.cupti_skew_ns \"100\"\n");
	if (fault == LOST)
		put(p, "loss all dropped %uus-%uus count 5\n", us, us + 4);
	if (fault == BOOKS)
		put(p, "stats all received 7 dropped 0 invalid 0\n");
}

static void make_program(struct program *p, uint64_t seed, enum fault fault)
{
	unsigned i, us;

	memset(p, 0, sizeof(*p));
	p->random.state = seed;
	p->calls = 20 + (unsigned)vpt_random_below(&p->random, 60);
	p->chunk_calls = 3 + (unsigned)vpt_random_below(&p->random, 30);
	p->fault = fault;
	p->victim = 2 + (unsigned)vpt_random_below(&p->random, p->calls - 10);
	put(p, "start 50us\npid 1\n%s",
		fault == KILLED ? "killed\n"
		: fault == FAR  ? "end 1s\n"
				: "");
	put(p, "stream s7 device 0 context 1 stream 7 pid 1\n"
	       "stream s8 device 0 context 1 stream 8 pid 1\n"
	       "thread t1 pid 1 tid 1\nthread t2 pid 1 tid 2\n");
	put(p, "range t1 90us-%uus \"request\"\n", 100 + 20 * p->calls);
	if (seed % 2)
		put(p, "startend t1 95us-%uus \"job\"\n", 90 + 20 * p->calls);
	for (i = 1; i <= p->calls; i++) {
		us = 100 + 20 * i;
		put_call(p, i, us);
		if (i % p->chunk_calls == 0 && i < p->calls)
			put(p, "chunk %uus\n", fault == LATE_RANGE ? 1 : us + 15);
	}
	if (fault == LATE_KERNEL) {
		put(p, "chunk\ncall t1 cudaFree %uus+1us corr 999\nchunk\n", 200 + 20 * i);
		put(p, "call t1 cudaFree %uus+1us corr 1000\n", 220 + 20 * i);
		put(p, "kernel s7 %uus+5us corr %u \"gemm\"\n", 107 + 20 * p->victim, p->victim);
	}
}

/* The range of all lines stands in the first chunk, which a row of it must not do: as an open one, it is moved to the last. */
static void end_ranges(struct program *p)
{
	char *line, *end, moved[2][128];
	size_t i, count = 0;

	while ((line = strstr(p->text, "range t1 90us-")) != NULL ||
		(line = strstr(p->text, "startend ")) != NULL) {
		end = strchr(line, '\n') + 1;
		assert_true((size_t)(end - line) < sizeof(moved[0]) && count < 2);
		memcpy(moved[count], line, (size_t)(end - line));
		moved[count++][end - line] = 0;
		memmove(line, end, strlen(end) + 1);
		p->used -= (size_t)(end - line);
	}
	for (i = 0; i < count; i++)
		put(p, "%s", moved[i]);
}

static void test_programs(void **state)
{
	enum { SEEDS = 40 };
	struct program *p = vpt_alloc(1, sizeof(*p));
	unsigned incomplete[FAULTS] = {0}, fault;
	uint64_t seed;

	(void)state;
	assert_non_null(p);
	for (fault = NONE; fault < FAULTS; fault++)
		for (seed = 0; seed < SEEDS; seed++) {
			struct vpt_trace *trace = NULL;
			struct vpt_err err = {0};
			int sound, complete;

			make_program(p, seed, (enum fault)fault);
			end_ranges(p);
			if (vpt_script_trace(p->text, &trace, &err))
				fail_msg("%s\n%s", err.text, p->text);
			sound = is_sound(trace);
			complete = is_complete(trace);
			vpt_trace_close(trace);
			if (sound && !complete)
				fail_msg("fault %u, not doubted:\n%s", fault, p->text);
			if (fault == NONE && !(sound && complete))
				fail_msg(
					"doubted: %d, complete: %d\n%s", !sound, complete, p->text);
			incomplete[fault] += (unsigned)!complete;
		}
	for (fault = NONE + 1; fault < FAULTS; fault++)
		if (!incomplete[fault] != (fault == LATE_KERNEL))
			fail_msg("fault %u makes %u captures incomplete", fault, incomplete[fault]);
	vpt_free(p);
}

static void test_random_captures(void **state)
{
	struct random_causes how = {0};
	unsigned incomplete = 0;

	(void)state;
	for (how.seed = 0; how.seed < 300; how.seed++) {
		struct vpa_options window;
		struct vpt_trace *trace = NULL;
		struct vpt_err err = {0};
		char *script;

		how.cuts = (unsigned)(how.seed % 4);
		how.orderly = how.seed % 2;
		script = random_causes_script(&how, &window);
		if (!script || vpt_script_trace(script, &trace, &err))
			fail_msg("seed %d: %s", (int)how.seed, err.text);
		if (!is_complete(trace)) {
			incomplete++;
			if (is_sound(trace))
				fail_msg("seed %d is not doubted", (int)how.seed);
		}
		vpt_trace_close(trace);
		vpt_free(script);
	}
	assert_true(incomplete > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs), cmocka_unit_test(test_random_captures)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
