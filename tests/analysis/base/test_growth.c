/* test_growth.c - a trace twice as long takes no more memory, and no more than twice the time: of traces in which the same
 * happens second for second, the most that is ever allocated is the same for a short one and a long one. */
#include "analysis/analyze.h"
#include "formats/base/memory.h"
#include "tests/support/growth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- what is allocated ---- */

static size_t living_bytes, most_bytes;

static void *counting_resize(void *ptr, size_t size)
{
	size_t before = 0, *block = ptr ? (size_t *)ptr - 2 : NULL;

	if (block)
		before = *block;
	block = realloc(block, size + 2 * sizeof(*block));
	if (!block)
		return NULL;
	*block = size;
	living_bytes += size - before;
	most_bytes = living_bytes > most_bytes ? living_bytes : most_bytes;
	return block + 2;
}

static void counting_release(void *ptr)
{
	size_t *block = (size_t *)ptr - 2;

	living_bytes -= *block;
	free(block);
}

static const struct vpt_memory_ops counting = {counting_resize, counting_release};

/* ---- traces ---- */

enum { LAUNCH_EVERY = 100 };

/* One thread launches all the time. The other one has launched once, and has had ranges ever since. */
static void ranges_beside_old_calls(struct trace *t, uint64_t second)
{
	uint64_t i;

	if (second == 1)
		put_launch(t, EARLY, range_at(second, 0));
	for (i = 0; i < RANGES_A_SECOND; i++) {
		if (i % LAUNCH_EVERY == 0)
			put_launch(t, MAIN, range_at(second, i) + 10000);
		put_range(t, EARLY, VPT_RANGEKIND_PUSH_POP, range_at(second, i));
	}
}

/* The same where what it has launched was lost. */
static void ranges_beside_a_launch_without_op(struct trace *t, uint64_t second)
{
	uint64_t i;

	if (second == 1)
		put_call_of(t, EARLY, "cudaLaunchKernel", range_at(second, 0), 1000);
	put_launch(t, MAIN, range_at(second, 0) + 10000);
	for (i = 0; i < RANGES_A_SECOND; i++)
		put_range(t, EARLY, VPT_RANGEKIND_PUSH_POP, range_at(second, i));
}

static void process_wide_ranges_beside_a_launch_without_op(struct trace *t, uint64_t second)
{
	uint64_t i;

	if (second == 1)
		put_call_of(t, EARLY, "cudaLaunchKernel", range_at(second, 0), 1000);
	put_launch(t, MAIN, range_at(second, 0) + 10000);
	for (i = 0; i < RANGES_A_SECOND; i++)
		put_range(t, MAIN, VPT_RANGEKIND_START_END, range_at(second, i));
}

static void process_wide_ranges_beside_old_calls(struct trace *t, uint64_t second)
{
	uint64_t i;

	if (second == 1)
		put_launch(t, EARLY, range_at(second, 0));
	for (i = 0; i < RANGES_A_SECOND; i++) {
		if (i % LAUNCH_EVERY == 0)
			put_launch(t, MAIN, range_at(second, i) + 10000);
		put_range(t, MAIN, VPT_RANGEKIND_START_END, range_at(second, i));
	}
}

static void ranges_alone(struct trace *t, uint64_t second)
{
	uint64_t i;

	for (i = 0; i < RANGES_A_SECOND; i++)
		put_range(t, MAIN, VPT_RANGEKIND_PUSH_POP, range_at(second, i));
}

/* A stream waits for others, but nothing runs on it. */
static void waits_for_nothing(struct trace *t, uint64_t second)
{
	uint64_t i;

	put_launch(t, MAIN, range_at(second, 0));
	for (i = 0; i < RANGES_A_SECOND; i++) {
		struct vpt_sync wait = {.start_ns = range_at(second, i),
			.duration_ns = 1,
			.sync_kind = VPT_SYNCKIND_STREAM_WAIT,
			.correlation = ++t->correlation};

		vpt_batch_put(&t->batch, VPT_SYNC, WAITING, &wait);
	}
}

/* Nothing of what runs touches the next. */
static void gaps_between_ops(struct trace *t, uint64_t second)
{
	uint64_t i;

	for (i = 0; i < RANGES_A_SECOND; i++)
		put_launch(t, MAIN, range_at(second, i) + 10000);
}

/* Where nothing is marked, some numbers of each op are kept: steps are inferred from them. */
static void mark_a_stage(struct trace *t, uint64_t second)
{
	struct vpt_range range = {.start_ns = range_at(second, 0), .duration_ns = 10};

	if (second > 1)
		return;
	range.name = vpt_batch_string(&t->batch, "vae_decode", 10);
	vpt_batch_put(&t->batch, VPT_RANGE, MAIN, &range);
}

static void gaps_between_ops_of_stages(struct trace *t, uint64_t second)
{
	mark_a_stage(t, second);
	gaps_between_ops(t, second);
}

/* Each thread makes one call. */
static void threads_that_come_and_go(struct trace *t, uint64_t second)
{
	enum { THREADS_A_SECOND = 200 };
	uint64_t i;

	mark_a_stage(t, second);
	for (i = 0; i < THREADS_A_SECOND; i++) {
		struct vpt_lane lane = {.key = 1000 + second * THREADS_A_SECOND + i,
			.lane_type = VPT_LANETYPE_THREAD,
			.pid = 1,
			.tid = 1000 + second * THREADS_A_SECOND + i,
			.device = (uint64_t)-1,
			.stream = (uint64_t)-1};

		vpt_batch_put(&t->batch, VPT_LANE, 0, &lane);
		put_launch(t, lane.key, range_at(second, i));
	}
}

/* Each wait that a stream gets began before all those that are known. */
static void waits_in_reverse(struct trace *t, uint64_t second)
{
	uint64_t i;

	put_launch(t, MAIN, range_at(second, 0));
	for (i = 0; i < RANGES_A_SECOND; i++) {
		struct vpt_sync wait = {.start_ns = range_at(1000 - second, RANGES_A_SECOND - i),
			.duration_ns = 1,
			.sync_kind = VPT_SYNCKIND_STREAM_WAIT,
			.correlation = ++t->correlation};

		vpt_batch_put(&t->batch, VPT_SYNC, STREAM, &wait);
	}
}

/* More and more ranges are open, and each chunk tells of its own alone. */
static void ranges_that_never_end(struct trace *t, uint64_t second)
{
	struct vpt_open open = {.lane = MAIN, .name = vpt_batch_string(&t->batch, "work", 4)};
	uint64_t i;

	for (i = 0; i < RANGES_A_SECOND; i++) {
		open.start_ns = range_at(second, i);
		vpt_batch_put(&t->batch, VPT_OPEN, 0, &open);
	}
}

/* Each outlives the one that it began in, and something is launched in each. */
static void ranges_that_overlap(struct trace *t, uint64_t second)
{
	enum { OPEN_AT_A_TIME = 3 };
	uint64_t i;

	for (i = 0; i < RANGES_A_SECOND; i++) {
		struct vpt_range range = {.start_ns = range_at(second, i),
			.duration_ns = OPEN_AT_A_TIME * (SECOND / RANGES_A_SECOND),
			.name = vpt_batch_string(&t->batch, "work", 4)};

		put_launch(t, MAIN, range_at(second, i) + 10000);
		vpt_batch_put(&t->batch, VPT_RANGE, MAIN, &range);
	}
}

/* Each begins in all those before it: they end when the trace does. */
static void ranges_in_ranges(struct trace *t, uint64_t second)
{
	uint64_t i;

	for (i = 0; i < RANGES_A_SECOND; i++) {
		struct vpt_range range = {.start_ns = range_at(second, i),
			.duration_ns = (1000 * (uint64_t)SECOND - range_at(second, i)) * 2,
			.name = vpt_batch_string(&t->batch, "work", 4)};

		put_launch(t, MAIN, range_at(second, i) + 10000);
		vpt_batch_put(&t->batch, VPT_RANGE, MAIN, &range);
	}
}

/* Calls go on for longer than the trace: each ends after all those that began before it. */
static void calls_that_overlap(struct trace *t, uint64_t second)
{
	uint64_t i;

	for (i = 0; i < RANGES_A_SECOND; i++) {
		put_call_of(
			t, MAIN, "cudaLaunchKernel", range_at(second, i), 1000 * (uint64_t)SECOND);
		put_kernel(t, "gemm", range_at(second, i) + 2000);
	}
}

/* Each call is around all those before it, and something is launched in the innermost alone. */
static void calls_in_calls(struct trace *t, uint64_t second)
{
	uint64_t i;

	for (i = 0; i < RANGES_A_SECOND; i++) {
		uint64_t at_ns = range_at(second + 1, i);
		uint64_t from_ns = 2 * (uint64_t)SECOND - 10 * (second * RANGES_A_SECOND + i);

		put_launch(t, MAIN, at_ns);
		put_call_of(t, MAIN, "cudaMalloc", from_ns, at_ns + 10000 - from_ns);
	}
}

/* The device's clock is ahead: ops come before their launches, and after many calls that launch nothing. */
static void launches_after_their_ops(struct trace *t, uint64_t second)
{
	enum { APART_NS = 10000 };
	uint64_t count = second * RANGES_A_SECOND, i;

	if (second < t->seconds)
		return;
	for (i = 0; i < count; i++)
		put_call_of(t, MAIN, "cudaMalloc", SECOND + i * APART_NS, 1000);
	for (i = 0; i < count; i++) {
		put_call_of(t, MAIN, "cudaLaunchKernel", 3 * (uint64_t)SECOND + i * APART_NS, 1000);
		put_kernel(t, "gemm", 2 * (uint64_t)SECOND + i * APART_NS);
	}
}

/* Steps follow each other, with attention in each. */
static void steps_with_attention(struct trace *t, uint64_t second)
{
	uint64_t i;

	for (i = 0; i < RANGES_A_SECOND; i++) {
		struct vpt_range range = {.start_ns = range_at(second, i),
			.duration_ns = 100000,
			.name = vpt_batch_string(&t->batch, "denoise_step", 12)};

		put_call_of(t, MAIN, "cudaLaunchKernel", range.start_ns + 1000, 1000);
		put_kernel(t, "flash_fwd_kernel", range.start_ns + 3000);
		vpt_batch_put(&t->batch, VPT_RANGE, MAIN, &range);
	}
}

/* Long names that no two ranges share. */
static void ranges_with_long_names(struct trace *t, uint64_t second)
{
	enum { LENGTH = 400 };
	static char name[LENGTH];
	int i;

	put_launch(t, MAIN, range_at(second, 0));
	memset(name, 'n', sizeof(name));
	for (i = 0; i < RANGES_A_SECOND; i++) {
		struct vpt_range range = {
			.start_ns = range_at(second, (uint64_t)i), .duration_ns = 10};
		char number[32];

		memcpy(name, number,
			(size_t)snprintf(
				number, sizeof(number), "%llu %d", (unsigned long long)second, i));
		range.name = vpt_batch_string(&t->batch, name, LENGTH);
		vpt_batch_put(&t->batch, VPT_RANGE, MAIN, &range);
	}
}

/* ---- the rule ---- */

/* The most that an analysis of this many seconds takes at a time. */
static size_t most_of(happen *happens, uint64_t seconds)
{
	const struct vpa_options options = {.jobs = 1};
	struct vpa_report *report;
	struct vpt_trace *trace;
	struct vpt_err err = {0};
	size_t before;

	vpt_memory_use(&counting);
	trace = make_trace(happens, seconds, 0);
	before = most_bytes = living_bytes;
	assert_int_equal(vpa_analyze(trace, "case", &options, &report, &err), 0);
	vpa_report_free(report);
	vpt_trace_close(trace);
	vpt_memory_use(NULL);
	assert_int_equal(living_bytes, 0);
	return most_bytes - before;
}

static void memory_does_not_grow_with_the_length_of_a_trace(void **state)
{
	static const struct {
		const char *name;
		happen *happens;
		uint64_t seconds; /* so long that nothing more is kept */
	} cases[] = {
		{"ranges of a thread that made its only call long ago", ranges_beside_old_calls,
			30},
		{"process-wide ranges, and such a thread", process_wide_ranges_beside_old_calls,
			30},
		{"ranges of a thread whose only launch has no op",
			ranges_beside_a_launch_without_op, 600},
		{"process-wide ranges, and such a thread",
			process_wide_ranges_beside_a_launch_without_op, 600},
		{"ops with gaps between them", gaps_between_ops_of_stages, 30},
		{"waits of a stream without ops", waits_for_nothing, 300},
		{"ranges where nothing ever runs on a device", ranges_alone, 1200},
		{"ranges that never end", ranges_that_never_end, 100},
		{"ranges with long names", ranges_with_long_names, 150},
		{"threads that come and go", threads_that_come_and_go, 60},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t once = most_of(cases[i].happens, cases[i].seconds);
		size_t twice = most_of(cases[i].happens, 2 * cases[i].seconds);

		if (twice > once + once / 16)
			fail_msg("%s: %zu bytes, and %zu where it is twice as long", cases[i].name,
				once, twice);
	}
}

/* The bound of DEFINITIONS.md, with room for arrays that double. */
static void ops_that_nothing_marks_take_little_memory_each(void **state)
{
	enum { SECONDS = 30, BYTES = 100 };
	size_t once = most_of(gaps_between_ops, SECONDS);
	size_t twice = most_of(gaps_between_ops, 2 * SECONDS);

	(void)state;
	if (twice > once + (size_t)BYTES * SECONDS * RANGES_A_SECOND)
		fail_msg("%zu bytes, and %zu with %d ops more", once, twice,
			SECONDS * RANGES_A_SECOND);
}

/* Where time grows with the square of the length, four times the length takes sixteen times as long. */
static void time_grows_as_the_trace_does(void **state)
{
	static const struct growth cases[] = {
		{"ranges that never end", ranges_that_never_end, 100, 0},
		{"ranges that overlap", ranges_that_overlap, 8, 1},
		{"ranges in ranges", ranges_in_ranges, 8, 1},
		{"waits in reverse", waits_in_reverse, 16, 1},
		{"calls that overlap", calls_that_overlap, 8, 1},
		{"calls in calls", calls_in_calls, 8, 1},
		{"launches after their ops", launches_after_their_ops, 4, 1},
		{"steps with attention", steps_with_attention, 16, 1},
	};

	(void)state;
	expect_growth_of_each(cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_grows_as_the_trace_does),
		cmocka_unit_test(memory_does_not_grow_with_the_length_of_a_trace),
		cmocka_unit_test(ops_that_nothing_marks_take_little_memory_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
