/* test_replay_model.c - random programs, replayed and by the slow model of tests/support/model/retime_model.h. */
#include "analysis/retime/retime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"
#include "tests/support/model/retime_model.h"
#include "tests/support/traces/script.h"

enum {
	PROGRAMS = 6000,
	LISTS = 5,
	CHANGES = 3,
	MOMENTS = 2 * (MODEL_CALLS + MODEL_OPS + MODEL_RANGES)
};

static const char *const some_changes[] = {"drop syncs", "drop copies", "drop small-reads",
	"drop cudaStream* in r1", "drop syncs under 8us", "drop copies over 1us in r*",
	"host 0.2 over 100us", "host 2 under 2us in r1", "delete small-reads", "delete copies HtoD",
	"delete syncs in r*", "delete cudaLaunchKernel in r2", "delete cudaEventRecord", "host 0",
	"host 0.5 in r1", "host 3 in r*", "host 0 after syncs", "host 0.1 after small-reads",
	"host 2 after copies in x", "scale * 0.5", "scale gem? 2", "scale con* 0 in r*",
	"rate HtoD 25", "rate DtoH 0.001 in r1", "pin DtoH 12", "pin HtoD 3 in r2", "aside r1",
	"aside r*", "aside x", "skip 1/2 r*", "delete cudaNothing", "scale nothing 3", "host 1",
	"skip 1/2 nothing", "aside nothing", "skip 1/3 r1", "host 0 per launch",
	"host 0.5 per launch in r1", "host 0 over 1us under 8us after syncs", "host 0.3 over 2us"};

static struct retime_model model;
static struct vpa_change changes[LISTS][CHANGES];
static struct vpa_change_list lists[LISTS];
static const char *texts[LISTS][CHANGES];

static void pick_changes(struct vpt_random *random)
{
	size_t i, k;

	for (i = 0; i < LISTS; i++) {
		lists[i] = (struct vpa_change_list){changes[i], i < 3 ? 1 : i - 1};
		for (k = 0; k < lists[i].count; k++) {
			texts[i][k] = some_changes[vpt_random_below(random, COUNT(some_changes))];
			assert_int_equal(
				vpa_change_read(texts[i][k], &changes[i][k], NULL), VPT_OK);
		}
	}
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The call that ended last by a moment; of those that ended together, the last that was made. -1: none. */
static int call_before(int64_t at)
{
	int i, last = -1;

	for (i = 0; i < model.call_count; i++) {
		const struct model_call *c = &model.calls[i],
					*l = &model.calls[last < 0 ? 0 : last];
		int is_short = c->end == c->start, last_is_short = l->end == l->start;

		if (c->end <= at && (last < 0 || c->end > l->end ||
					    (c->end == l->end && is_short >= last_is_short)))
			last = i;
	}
	return last;
}

/* The first call that starts from a moment on; -1: none. */
static int call_after(int64_t at)
{
	int i;

	for (i = 0; i < model.call_count; i++)
		if (model.calls[i].start >= at)
			return i;
	return -1;
}

static int64_t host_at(const struct model_times *times, int64_t at)
{
	int before = call_before(at);

	return before < 0 ? 0 : times->call_end[before];
}

/* A moment between two calls is the same part of the way from one to the other, if they are in that order. */
static int64_t host_mark_in(
	const struct model_times *recorded, const struct model_times *times, int64_t at, int64_t t0)
{
	int64_t was = host_at(recorded, at), now = host_at(times, at), since = at - t0 - was;
	int after = call_after(at);
	int64_t all = recorded->call_start[after] - was, all_now = times->call_start[after] - now;

	return now + (all > 0 && all_now >= 0 ? since * all_now / all : since);
}

/* When a moment is in a world, as replay.h has it. */
static int64_t moment_in(
	const struct model_times *recorded, const struct model_times *times, int64_t at, int64_t t0)
{
	int64_t ended = INT64_MIN, was_ended = INT64_MIN, starts = INT64_MAX;
	int i, is_end = 0, is_start = 0;

	for (i = 0; i < model.op_count; i++) {
		const struct model_op *o = &model.ops[i];

		is_end |= o->end == at;
		is_start |= o->start == at;
		if (o->end <= at)
			was_ended = larger(was_ended, recorded->op_end[i]);
		if (!times->is_gone[i] && o->end <= at)
			ended = larger(ended, times->op_end[i]);
		if (!times->is_gone[i] && o->start >= at && times->op_start[i] < starts)
			starts = times->op_start[i];
	}
	if (!is_end && !is_start && call_after(at) < 0)
		return larger(ended, host_at(times, at)) +
		       (at - t0 - larger(was_ended, host_at(recorded, at)));
	if (!is_end && !is_start)
		return larger(ended, host_mark_in(recorded, times, at, t0));
	if (!is_end && starts != INT64_MAX)
		return larger(starts, ended);
	return ended == INT64_MIN ? host_at(times, at) : ended;
}

static size_t list_moments(int64_t *moments)
{
	size_t count = 0;
	int i;

	for (i = 0; i < model.call_count; i++) {
		moments[count++] = model.calls[i].start;
		moments[count++] = model.calls[i].end;
	}
	for (i = 0; i < model.op_count; i++) {
		moments[count++] = model.ops[i].start;
		moments[count++] = model.ops[i].end;
	}
	for (i = 0; i < model.range_count; i++) {
		moments[count++] = model.ranges[i].start;
		moments[count++] = model.ranges[i].end;
	}
	return count;
}

static void compare(uint64_t seed, const struct vpa_retiming *out, size_t world,
	const struct model_times *recorded, const struct model_times *times, const int64_t *moments,
	size_t count, int64_t t0)
{
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t expected = moment_in(recorded, times, moments[i], t0) + 1;
		int64_t found = (int64_t)vpa_retimed_ns(out, world, i);

		expected = expected < 0 ? 0 : expected;
		if (found != expected)
			fail_msg(
				"seed %d world %d (%s%s%s): moment %lld: expected %lld, found %lld",
				(int)seed, (int)world,
				world < VPA_WORLD_FIRST ? "" : texts[world - VPA_WORLD_FIRST][0],
				world < VPA_WORLD_FIRST + 3 ? "" : ", ",
				world < VPA_WORLD_FIRST + 3 ? ""
							    : texts[world - VPA_WORLD_FIRST][1],
				(long long)moments[i], (long long)expected, (long long)found);
	}
}

static void check_program(uint64_t seed)
{
	static struct model_times recorded, times;
	struct vpt_random random = {~seed};
	struct vpa_span spans[MOMENTS];
	int64_t moments[MOMENTS], t0;
	struct vpa_retiming out;
	struct vpt_trace *trace;
	struct vpt_err err = {0};
	size_t count, i;
	char *script;
	int k;

	retime_model_random(&model, seed);
	script = retime_model_script(&model);
	if (vpt_script_trace(script, &trace, &err))
		fail_msg("seed %d: %s", (int)seed, err.text);
	pick_changes(&random);
	count = list_moments(moments);
	t0 = model.calls[0].start < model.ops[0].start ? model.calls[0].start : model.ops[0].start;
	for (i = 0; i < count; i++)
		spans[i] = (struct vpa_span){(uint64_t)t0 - 1, (uint64_t)moments[i]};
	if (vpa_retime(trace, 1, VPA_REPLAYED_MOST, lists, LISTS, spans, count, &out, &err))
		fail_msg("seed %d: %s\n%s", (int)seed, err.text, script);
	retime_model_run(&model, MODEL_ALL, NULL, 0, &recorded);
	compare(seed, &out, VPA_WORLD_RECORDED, &recorded, &recorded, moments, count, t0);
	retime_model_run(&model, MODEL_HOST_ALONE, NULL, 0, &times);
	compare(seed, &out, VPA_WORLD_HOST, &recorded, &times, moments, count, t0);
	retime_model_run(&model, MODEL_GPU_ALONE, NULL, 0, &times);
	compare(seed, &out, VPA_WORLD_GPU, &recorded, &times, moments, count, t0);
	/* Nothing comes later where no host is waited for. */
	for (k = 0; k < model.op_count; k++)
		assert_true(times.op_end[k] <= recorded.op_end[k]);
	for (i = 0; i < LISTS; i++) {
		retime_model_run(&model, MODEL_ALL, lists[i].changes, lists[i].count, &times);
		compare(seed, &out, VPA_WORLD_FIRST + i, &recorded, &times, moments, count, t0);
	}
	vpa_retiming_free(&out);
	vpt_trace_close(trace);
	vpt_free(script);
}

static void test_random_programs(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= PROGRAMS; seed++)
		check_program(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
