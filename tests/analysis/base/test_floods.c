/* test_floods.c - files made to be slow: names that collide, marks, pauses, threads and streams without end. Four
 * times as many take four times as long. */
#include "analysis/analyze.h"
#include "formats/calls.h"
#include "tests/support/growth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- names ---- */

static uint64_t inverse_of(uint64_t odd)
{
	uint64_t inverse = odd;
	int i;

	for (i = 0; i < 6; i++)
		inverse *= 2 - odd * inverse;
	return inverse;
}

/* The inverse of vpt_mix(). */
static uint64_t unmixed(uint64_t h)
{
	h ^= h >> 29 ^ h >> 58;
	h *= inverse_of(0x9e3779b97f4a7c15u);
	return h ^ h >> 32;
}

/* Names of 8 bytes that have the same lower half of their hash in a table without a key. */
static void names_that_collide(struct trace *t, uint64_t second)
{
	uint64_t i, word;

	put_launch(t, MAIN, range_at(second, 0));
	for (i = 0; i < RANGES_A_SECOND; i++) {
		struct vpt_range range = {.start_ns = range_at(second, i), .duration_ns = 10};

		word = unmixed(unmixed((second * RANGES_A_SECOND + i) << 32 | 0x12345678));
		word = unmixed(word * inverse_of(0xd6e8feb86659fd93u)) ^ 0x2545f4914f6cdd1du ^ 8;
		range.name = vpt_batch_string(&t->batch, (const char *)&word, sizeof(word));
		vpt_batch_put(&t->batch, VPT_RANGE, MAIN, &range);
	}
}

/* ---- ranges ---- */

/* Open ranges whose starts collide with one name in a table without a key. */
static void starts_that_collide(struct trace *t, uint64_t second)
{
	struct vpt_open open = {.lane = MAIN, .name = vpt_batch_string(&t->batch, "work", 4)};
	uint64_t i, k;

	put_launch(t, MAIN, range_at(second, 0));
	for (i = 0, k = second * RANGES_A_SECOND * 8; i < RANGES_A_SECOND; k++) {
		open.start_ns = unmixed(unmixed(k << 32 | 0x1234567) - 1);
		if (open.start_ns >> 63)
			continue;
		vpt_batch_put(&t->batch, VPT_OPEN, 0, &open);
		i++;
	}
}

/* ---- marks ---- */

/* All marks come after all ops, each of which is in a range of its own. */
static void marks_of_frames(struct trace *t, uint64_t second)
{
	static const char schema[] = "{\"kind\":\"frames\"}";
	struct vpt_mark mark = {.time_ns = 1000 * (uint64_t)SECOND + second,
		.name = vpt_batch_string(&t->batch, "vptrace", 7),
		.payload = VPT_PAYLOAD_JSON,
		.value = vpt_batch_string(&t->batch, schema, sizeof(schema) - 1)};
	uint64_t i;

	mark.domain = mark.name;
	for (i = 0; i < RANGES_A_SECOND; i++) {
		struct vpt_range range = {.start_ns = range_at(second, i),
			.duration_ns = 20000,
			.name = vpt_batch_string(&t->batch, i ? "vae" : "block 1", i ? 3 : 7)};

		put_launch(t, MAIN, range.start_ns + 1000);
		vpt_batch_put(&t->batch, VPT_RANGE, MAIN, &range);
		vpt_batch_put(&t->batch, VPT_MARK, MAIN, &mark);
	}
}

/* ---- a chunk each ---- */

static void put_pause(struct trace *t, uint64_t at_ns)
{
	struct vpt_loss pause = {
		.start_ns = at_ns, .duration_ns = 10, .loss_kind = VPT_LOSSKIND_PAUSED, .count = 1};

	vpt_batch_put(&t->batch, VPT_LOSS, 0, &pause);
}

static void pauses(struct trace *t, uint64_t second)
{
	put_pause(t, range_at(second, 0));
}

static void pauses_in_reverse(struct trace *t, uint64_t second)
{
	put_launch(t, MAIN, range_at(second, 0));
	put_pause(t, range_at(t->seconds + 1 - second, 1));
}

static void a_thread_each(struct trace *t, uint64_t second)
{
	struct vpt_lane lane = {.key = 1000 + second,
		.lane_type = VPT_LANETYPE_THREAD,
		.pid = 1,
		.tid = 1000 + second,
		.device = (uint64_t)-1,
		.stream = (uint64_t)-1};

	vpt_batch_put(&t->batch, VPT_LANE, 0, &lane);
	put_call_of(t, lane.key, "cudaMalloc", range_at(second, 0), 1000);
}

static void a_stream_each(struct trace *t, uint64_t second)
{
	struct vpt_lane lane = {.key = 1000 + second,
		.lane_type = VPT_LANETYPE_STREAM,
		.pid = 1,
		.tid = (uint64_t)-1,
		.context = 1,
		.stream = second * 7919 % 100003};
	struct vpt_copy copy = {.start_ns = range_at(second, 0),
		.duration_ns = 100,
		.copy_kind = VPT_COPYKIND_DTOD};

	vpt_batch_put(&t->batch, VPT_LANE, 0, &lane);
	vpt_batch_put(&t->batch, VPT_COPY, lane.key, &copy);
}

static void time_grows_as_the_flood_does(void **state)
{
	static const struct growth cases[] = {
		{"names that collide", names_that_collide, 4, 1},
		{"starts of open ranges that collide", starts_that_collide, 4, 1},
		{"marks of frames", marks_of_frames, 3, 1},
		{"pauses", pauses, 2000, 0},
		{"pauses in reverse", pauses_in_reverse, 2000, 0},
		{"a thread each", a_thread_each, 1500, 0},
		{"a stream each", a_stream_each, 1500, 0},
	};

	(void)state;
	expect_growth_of_each(cases, sizeof(cases) / sizeof(cases[0]));
}

/* ---- calls ---- */

/* One after the other. */
static void calls_in_turn(struct trace *t, uint64_t second)
{
	uint64_t i;

	for (i = 0; i < RANGES_A_SECOND; i++)
		put_call_of(t, MAIN, "cudaMalloc", range_at(second, i), 1000);
}

/* Each in thousands of others, and around none. */
static void calls_across_calls(struct trace *t, uint64_t second)
{
	uint64_t i;

	for (i = 0; i < RANGES_A_SECOND; i++)
		put_call_of(t, MAIN, "cudaMalloc", range_at(second, i), 10 * (uint64_t)SECOND);
}

/* A look at each of the last thousand calls would take 40 times as long. */
static void what_overlaps_costs_no_more(void **state)
{
	enum { SECONDS = 64, ATTEMPTS = 5 };
	double in_turn, across;
	int k = 0;

	(void)state;
	do {
		in_turn = time_of(calls_in_turn, SECONDS, 1);
		across = time_of(calls_across_calls, SECONDS, 1);
		print_message("calls: %.1f ms, %.1f ms\n", in_turn * 1e3, across * 1e3);
	} while (across > 10 * in_turn && ++k < ATTEMPTS);
	if (across > 10 * in_turn)
		fail_msg("%.1f ms in turn, and %.1f ms across each other", in_turn * 1e3,
			across * 1e3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_grows_as_the_flood_does),
		cmocka_unit_test(what_overlaps_costs_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
