/* test_replay_odd.c - a trace without a change is replayed to the nanosecond, whatever it holds. */
#include "analysis/retime/retime.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/report/report.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"
#include "tests/support/traces/random_causes.h"
#include "tests/support/scarce.h"
#include "tests/support/traces/script.h"

enum { PROGRAMS = 1000, ODD = 3000, SPANS = 8, LISTS = 5, CHANGES = 4, LINES = 40, LINE = 200 };

static const char *const some_changes[] = {"drop syncs", "drop copies", "delete small-reads",
	"delete copies HtoD", "delete syncs in *1", "host 0", "host 0.5 in *2", "host 1000",
	"host 0 after syncs", "host 1000 after copies", "host 0.1 after small-reads", "scale * 0.5",
	"scale gemm 2", "scale * 1000", "scale *a* 0 in *", "rate HtoD 25", "rate DtoH 1e-300",
	"rate memset 0.001", "pin DtoH 12", "pin HtoD 3 in *", "aside *1", "aside *", "graph *",
	"graph *1 each *2", "skip 1/2 *", "skip 1/3 *1", "steps 1 *", "steps 2 *1", "host 0 on *",
	"host 2 on 1", "drop syncs under 1s"};

static struct vpa_change changes[LISTS][CHANGES];
static struct vpa_change_list lists[LISTS];

static void pick_changes(struct vpt_random *random)
{
	size_t i, k;

	for (i = 0; i < LISTS; i++) {
		lists[i] = (struct vpa_change_list){changes[i], i % (CHANGES + 1)};
		for (k = 0; k < lists[i].count; k++)
			assert_int_equal(
				vpa_change_read(
					some_changes[vpt_random_below(random, COUNT(some_changes))],
					&changes[i][k], NULL),
				VPT_OK);
	}
}

/* Whether the trace has calls and ops; without a change each span is as long as it was. */
static int check_trace(struct vpt_trace *trace, const struct vpa_span *spans, uint64_t seed)
{
	struct vpt_random random = {seed};
	struct vpa_retiming out;
	struct vpt_err err = {0};
	size_t i;
	int rc;

	pick_changes(&random);
	rc = vpa_retime(trace, 1, VPA_REPLAYED_MOST, lists, LISTS, spans, SPANS, &out, &err);
	if (rc && (rc != VPT_EUNSUPPORTED || !strstr(err.text, "the trace has no ")) &&
		(rc != VPT_EINVAL || !strstr(err.text, "expected pin ")))
		fail_msg("seed %d: %d %s", (int)seed, rc, err.text);
	for (i = 0; !rc && i < SPANS; i++)
		if (vpa_retimed_ns(&out, VPA_WORLD_RECORDED, i) !=
				spans[i].to_ns - spans[i].from_ns ||
			vpa_retimed_ns(&out, VPA_WORLD_FIRST, i) !=
				spans[i].to_ns - spans[i].from_ns)
			fail_msg("seed %d: %" PRIu64 "-%" PRIu64 ": found %" PRIu64, (int)seed,
				spans[i].from_ns, spans[i].to_ns,
				vpa_retimed_ns(&out, VPA_WORLD_RECORDED, i));
	vpa_retiming_free(&out);
	return !rc;
}

static int check_script(const char *script, const struct vpa_span *spans, uint64_t seed)
{
	struct vpt_trace *trace;
	struct vpt_err err = {0};
	int has;

	if (vpt_script_trace(script, &trace, &err))
		fail_msg("seed %d: %s\n%s", (int)seed, err.text, script);
	has = check_trace(trace, spans, seed);
	vpt_trace_close(trace);
	return has;
}

/* Nested and overlapping calls of several processes, graphs, copies, ops that nobody launched. */
static void test_random_programs(void **state)
{
	uint64_t seed;
	size_t replayed = 0, i;

	(void)state;
	for (seed = 1; seed <= PROGRAMS; seed++) {
		struct random_causes how = {.seed = seed, .cuts = 3, .orderly = seed % 2};
		struct vpt_random random = {seed};
		struct vpa_options window = {0};
		struct vpa_span spans[SPANS];
		char *script = random_causes_script(&how, &window);

		for (i = 0; i < SPANS; i++) {
			spans[i].from_ns = vpt_random_below(&random, 20000000);
			spans[i].to_ns = spans[i].from_ns + vpt_random_below(&random, 20000000);
		}
		replayed += (size_t)check_script(script, spans, seed);
		vpt_free(script);
	}
	assert_true(replayed > PROGRAMS / 2);
}

/* A time of any size; most are near each other. */
static uint64_t some_time(struct vpt_random *r)
{
	return vpt_random_below(r, 6) ? 1 + vpt_random_below(r, 50) * 1000 : vpt_random_nasty(r);
}

static uint64_t some_length(struct vpt_random *r)
{
	return vpt_random_below(r, 6) ? vpt_random_below(r, 8) * 500 : vpt_random_nasty(r);
}

static void write_odd(struct vpt_random *r, char *script)
{
	static const char *const calls[] = {"cudaLaunchKernel", "cuLaunchKernel", "cudaGraphLaunch",
		"cudaMemcpyAsync", "cudaMemcpy", "cudaDeviceSynchronize", "cudaStreamWaitEvent"};
	size_t used = 0, lines = 2 + vpt_random_below(r, LINES), i;

	for (i = 0; i < lines; i++) {
		uint64_t at = some_time(r), ns = some_length(r), corr = vpt_random_below(r, 8),
			 lane = vpt_random_below(r, 3);
		char span[64];

		/* An end before the start makes a negative duration. */
		if (at + ns < at)
			snprintf(span, sizeof(span), "%" PRIu64 "-%" PRIu64, at, at / 2);
		else
			snprintf(span, sizeof(span), "%" PRIu64 "+%" PRIu64, at, ns);
		switch (vpt_random_below(r, 5)) {
		case 0:
		case 1:
			used += (size_t)snprintf(script + used, LINE, "call t%d %s %s corr %d\n",
				(int)lane, calls[vpt_random_below(r, COUNT(calls))], span,
				(int)corr);
			break;
		case 2:
			used += (size_t)snprintf(script + used, LINE,
				"kernel s%d %s corr %d \"gemm_a\" node 1\n", (int)lane + 1, span,
				(int)corr);
			break;
		case 3:
			used += (size_t)snprintf(script + used, LINE,
				"copy s%d HtoD pageable->device %s corr %d bytes %" PRIu64 "\n",
				(int)lane + 1, span, (int)corr, vpt_random_nasty(r));
			break;
		default:
			used += (size_t)snprintf(script + used, LINE, "%s t%d %s \"r%d\"\n",
				vpt_random_below(r, 2) ? "range" : "startend", (int)lane, span,
				(int)corr % 3);
		}
	}
}

static void test_odd_times(void **state)
{
	static char script[LINES * LINE + LINE];
	size_t replayed = 0, i;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= ODD; seed++) {
		struct vpt_random random = {seed};
		struct vpa_span spans[SPANS];

		write_odd(&random, script);
		for (i = 0; i < SPANS; i++) {
			uint64_t a = some_time(&random), b = some_time(&random);

			/* Replayed times are in half of 64 bits. */
			a &= INT64_MAX;
			b &= INT64_MAX;
			spans[i] = (struct vpa_span){a < b ? a : b, a < b ? b : a};
		}
		replayed += (size_t)check_script(script, spans, seed);
	}
	assert_true(replayed > ODD / 2);
}

/* ---- too little memory ---- */

static const char scarce_script[] =
	"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-25000 corr 1 \"gemm\"\n"
	"call t1 cudaMemcpyAsync 10000-12000 corr 2\n"
	"copy s7 DtoH device->pinned 26000-27000 corr 2 bytes 2000000\n"
	"call t1 cudaStreamSynchronize 13000-30000 corr 3\nsync t1 stream 13000-30000 corr 3 waits "
	"s7\n"
	"call t2 cudaEventRecord 31000-32000 corr 4\nevent s7 31500 event 1 sync_id 1 corr 4\n"
	"call t2 cudaStreamWaitEvent 33000-34000 corr 5\n"
	"sync s8 \"stream waits for event\" 33000-34000 corr 5 waits s7 sync_id 1\n"
	"call t2 cudaLaunchKernel 35000-36000 corr 6\nkernel s8 38000-40000 corr 6 \"b\"\n"
	"call t2 cudaLaunchKernel 37000-38000 corr 7\nkernel s8 41000-42000 corr 7 \"b\"\n"
	"range t2 30000-50000 \"step 1\"\nstartend t1 500-60000 \"all\"\n";

static struct vpt_trace *scarce_trace;

static int retime_scarce(struct vpt_err *err)
{
	static const char *const texts[LISTS] = {"graph step*", "pin DtoH; delete small-reads",
		"aside all; scale gemm 2; skip 1/1000 all", "host 2 in all; host 0 after copies",
		"drop syncs"};
	static const struct vpa_span spans[] = {{1000, 42000}, {5000, 30000}};
	struct vpa_retiming out;
	size_t i;
	int rc;

	for (i = 0; i < LISTS; i++) {
		char copy[200], *at, *next;

		lists[i] = (struct vpa_change_list){changes[i], 0};
		strcpy(copy, texts[i]);
		for (at = strtok_r(copy, ";", &next); at; at = strtok_r(NULL, ";", &next))
			vpa_change_read(at, &changes[i][lists[i].count++], NULL);
	}
	rc = vpa_retime(
		scarce_trace, 1, VPA_REPLAYED_MOST, lists, LISTS, spans, COUNT(spans), &out, err);
	if (!rc && vpa_retimed_ns(&out, VPA_WORLD_RECORDED, 1) != 25000)
		rc = VPT_EDATA;
	vpa_retiming_free(&out);
	return rc;
}

static void test_each_allocation_fails(void **state)
{
	(void)state;
	assert_int_equal(vpt_script_trace(scarce_script, &scarce_trace, NULL), VPT_OK);
	vpt_fail_each_allocation(retime_scarce);
	vpt_trace_close(scarce_trace);
}

/* ---- damage ---- */

/* Cuts and bytes that are wrong: what is left is replayed, or there is a reason. */
static void test_damaged(void **state)
{
	static const struct vpa_span spans[SPANS] = {{1000, 2000}};
	struct random_causes how = {.seed = 7, .cuts = 12};
	struct vpt_random random = {7};
	struct vpa_options window = {0};
	struct vpt_buffer file;
	size_t opened = 0, i;

	(void)state;
	assert_int_equal(random_causes_write(&how, &window, &file, NULL), VPT_OK);
	for (i = 0; i < 300; i++) {
		size_t size = i % 2 ? file.size : 1 + vpt_random_below(&random, file.size);
		uint8_t *copy = vpt_alloc(size, 1);
		struct vpt_source *source;
		struct vpt_trace *trace;

		memcpy(copy, file.data, size);
		if (i % 2)
			copy[vpt_random_below(&random, size)] ^=
				(uint8_t)(1 + vpt_random_below(&random, 255));
		assert_int_equal(vpt_source_memory(copy, size, &source, NULL), VPT_OK);
		if (!vpt_trace_open_source(source, &trace, NULL)) {
			check_trace(trace, spans, i);
			vpt_trace_close(trace);
			opened++;
		}
		vpt_free(copy);
	}
	assert_true(opened > 100);
	vpt_free(file.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_odd_times),
		cmocka_unit_test(test_each_allocation_fails),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
