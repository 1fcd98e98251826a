/* test_collect_doubtful_times.c - times in foreign traces that cannot be: ops far away, or over later ones of their stream; calls and
 * ranges of a thread that overlap. */
#include "formats/base/count.h"
#include "formats/import/collect/collect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S    UINT64_C(1000000000)
#define T0   (1000000 * S)
#define HOUR (3600 * S)

struct op {
	uint64_t start, duration, correlation, node;
	int64_t stream;
};

/* Calls last from T0 to T0 + 10 s. */
struct row {
	const char *rule;
	struct op ops[6];
	const char *found; /* "start+duration" of each, in seconds after T0; 0: an invalid time */
	unsigned cut;
};

#define NEAR                                                                                       \
	{T0 + S, S, 1, 0, 7},                                                                      \
	{                                                                                          \
		T0 + 3 * S, S, 2, 0, 7                                                             \
	}

static const struct row rows[] = {
	{"ordinary times stay", {NEAR}, "1+1 3+1", 0},
	{"an op days later is invalid", {NEAR, {T0 + 240 * HOUR, S, 3, 0, 7}}, "0 1+1 3+1", 0},
	{"one an hour later is not", {NEAR, {T0 + HOUR, S, 3, 0, 7}}, "1+1 3+1 3600+1", 0},
	{"an op days before is invalid", {NEAR, {T0 - 240 * HOUR, S, 3, 0, 7}}, "0 1+1 3+1", 0},
	{"so is one at the beginning of time", {NEAR, {1, S, 3, 0, 7}}, "0 1+1 3+1", 0},
	{"if most are there, it is the clocks that differ",
		{{T0 + 240 * HOUR, S, 1, 0, 7}, {T0 + 240 * HOUR + S, S, 2, 0, 7},
			{T0 + 3 * S, S, 3, 0, 7}},
		"3+1 864000+1 864001+1", 0},
	{"an op over two later ones of its stream is cut",
		{{T0, 100 * S, 1, 0, 7}, {T0 + 2 * S, S, 2, 0, 7}, {T0 + 4 * S, S, 3, 0, 7}},
		"0+2 2+1 4+1", 1},
	{"in any order of rows",
		{{T0 + 4 * S, S, 3, 0, 7}, {T0 + 2 * S, S, 2, 0, 7}, {T0, 100 * S, 1, 0, 7}},
		"0+2 2+1 4+1", 1},
	{"the next one may begin early",
		{{T0, 3 * S, 1, 0, 7}, {T0 + 2 * S, 3 * S, 2, 0, 7}, {T0 + 4 * S, 3 * S, 3, 0, 7}},
		"0+3 2+3 4+3", 0},
	{"and even end early",
		{{T0, 3 * S, 1, 0, 7}, {T0 + S, S, 2, 0, 7}, {T0 + 4 * S, S, 3, 0, 7}},
		"0+3 1+1 4+1", 0},
	{"other streams run at once",
		{{T0, 100 * S, 1, 0, 7}, {T0 + 2 * S, S, 2, 0, 8}, {T0 + 4 * S, S, 3, 0, 8}},
		"0+100 2+1 4+1", 0},
	{"so do nodes of a graph",
		{{T0, 100 * S, 1, 5, 7}, {T0 + 2 * S, S, 1, 6, 7}, {T0 + 4 * S, S, 1, 7, 7}},
		"0+100 2+1 4+1", 0},
	{"and ops of one launch",
		{{T0, 100 * S, 1, 0, 7}, {T0 + 2 * S, S, 1, 0, 7}, {T0 + 4 * S, S, 1, 0, 7}},
		"0+100 2+1 4+1", 0},
	{"and ops of an unknown stream",
		{{T0, 100 * S, 1, 0, -1}, {T0 + 2 * S, S, 2, 0, -1}, {T0 + 4 * S, S, 3, 0, -1}},
		"0+100 2+1 4+1", 0},
};

static void put(struct vpt_collect *c, const struct op *op)
{
	struct vpt_kernel k = {.start_ns = op->start,
		.duration_ns = op->duration,
		.correlation = op->correlation,
		.graph_node = op->node};
	struct vpt_call call = {
		.start_ns = T0, .duration_ns = 10 * S, .id = 1, .correlation = op->correlation};

	vpt_collect_put(c, VPT_KERNEL, vpt_collect_stream(c, 1, 0, 1, op->stream), &k);
	vpt_collect_put(c, VPT_CALL, vpt_collect_thread(c, 1, 1), &call);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The rows of a kind in order of start, in so many nanoseconds. */
static void say(
	const struct vpt_collect *c, enum vpt_kind kind, uint64_t unit, char *out, size_t size)
{
	struct vpt_batch b;
	uint64_t found[8][2];
	size_t chunk, s, n = 0, i, used = 0;
	uint32_t row;

	vpt_batch_init(&b);
	for (chunk = 0; chunk < vpt_collect_chunks(c); chunk++) {
		assert_int_equal(vpt_collect_chunk(c, chunk, &b, NULL), 0);
		for (s = 0; s < b.section_count; s++)
			for (row = 0; b.sections[s].kind == kind && row < b.sections[s].row_count;
				row++, n++) {
				found[n][0] = b.sections[s].col[VPT_KERNEL_START][row];
				found[n][1] = b.sections[s].col[VPT_KERNEL_DURATION][row];
			}
	}
	vpt_batch_free(&b);
	qsort(found, n, sizeof(found[0]), compare);
	out[0] = '\0';
	for (i = 0; i < n; i++) {
		const char *gap = i ? " " : "";

		used += (size_t)(found[i][0] ? snprintf(out + used, size - used, "%s%d+%d", gap,
						       (int)((found[i][0] - T0) / unit),
						       (int)(found[i][1] / unit))
					     : snprintf(out + used, size - used, "%s0", gap));
	}
}

static void impossible_times_are_doubted(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		struct vpt_collect *c = vpt_collect_new();
		char found[200];

		assert_non_null(c);
		for (k = 0; rows[i].ops[k].start; k++)
			put(c, &rows[i].ops[k]);
		assert_int_equal(vpt_collect_finish(c, NULL), 0);
		say(c, VPT_KERNEL, S, found, sizeof(found));
		if (strcmp(found, rows[i].found) || vpt_collect_doubts(c)->cut_ops != rows[i].cut)
			fail_msg("%s: found %s, expected %s", rows[i].rule, found, rows[i].found);
		vpt_collect_free(c);
	}
}

/* ---- calls and ranges of a thread that overlap ---- */

struct span {
	uint64_t start, duration; /* in nanoseconds after T0 */
	int64_t tid;
	unsigned kind; /* of a range */
};

struct siblings {
	const char *rule;
	struct span spans[4];
	const char *found; /* start+duration of each, in order of start */
};

static const struct siblings siblings[] = {
	{"those that lie apart stay", {{0, 5000, 1, 0}, {5000, 5000, 1, 0}}, "0+5000 5000+5000"},
	{"one that ends in the next is cut", {{0, 5000, 1, 0}, {4999, 5000, 1, 0}},
		"0+4999 4999+5000"},
	{"also where it holds another that ends with it",
		{{0, 9000, 1, 0}, {6000, 3000, 1, 0}, {8750, 5000, 1, 0}},
		"0+8750 6000+2750 8750+5000"},
	{"but not by more than rounding explains", {{0, 9000, 1, 0}, {6999, 9000, 1, 0}},
		"0+9000 6999+9000"},
	{"nor by most of it", {{0, 100, 1, 0}, {40, 5000, 1, 0}}, "0+100 40+5000"},
	{"what ends after the one around it ends with it", {{0, 9000, 1, 0}, {2000, 7001, 1, 0}},
		"0+9000 2000+7000"},
	{"and so does what is in that", {{0, 9000, 1, 0}, {1000, 8001, 1, 0}, {2000, 7002, 1, 0}},
		"0+9000 1000+8000 2000+7000"},
	{"but not if most of it is after that", {{0, 9000, 1, 0}, {6000, 5001, 1, 0}},
		"0+9000 6000+5001"},
	{"one inside another stays", {{0, 5000, 1, 0}, {4000, 999, 1, 0}}, "0+5000 4000+999"},
	{"so does one that ends with it", {{0, 5000, 1, 0}, {4000, 1000, 1, 0}},
		"0+5000 4000+1000"},
	{"threads do not nest", {{0, 5000, 1, 0}, {4999, 5000, 2, 0}}, "0+5000 4999+5000"},
	{"nor do ranges of a process", {{0, 5000, 1, 1}, {4999, 5000, 1, 1}}, "0+5000 4999+5000"},
	{"rows in another order say nothing", {{4999, 5000, 1, 0}, {0, 5000, 1, 0}},
		"0+5000 4999+5000"},
};

static struct vpt_collect *collect_spans(const struct siblings *s, enum vpt_kind kind)
{
	struct vpt_collect *c = vpt_collect_new();
	size_t i;

	assert_non_null(c);
	for (i = 0; i < 4 && s->spans[i].duration; i++) {
		const struct span *at = &s->spans[i];
		uint64_t lane = vpt_collect_thread(c, 1, at->tid);
		struct vpt_range range = {.start_ns = T0 + at->start,
			.duration_ns = at->duration,
			.range_kind = at->kind};
		struct vpt_call call = {
			.start_ns = T0 + at->start, .duration_ns = at->duration, .id = 1};

		if (kind == VPT_RANGE)
			vpt_collect_put(c, kind, lane, &range);
		else
			vpt_collect_put(c, kind, lane, &call);
	}
	return c;
}

static void check_siblings(const struct siblings *s, enum vpt_kind kind)
{
	struct vpt_collect *c = collect_spans(s, kind);
	char found[200];

	assert_int_equal(vpt_collect_finish(c, NULL), VPT_OK);
	say(c, kind, 1, found, sizeof(found));
	if (strcmp(found, s->found))
		fail_msg("%s: found %s, expected %s", s->rule, found, s->found);
	vpt_collect_free(c);
}

static void exact_times_are_left_alone(void **state)
{
	static const struct siblings exact = {
		"", {{0, 5000, 1, 0}, {4999, 5000, 1, 0}}, "0+5000 4999+5000"};
	struct vpt_collect *c = collect_spans(&exact, VPT_RANGE);
	char found[200];

	(void)state;
	vpt_collect_times_are_exact(c);
	assert_int_equal(vpt_collect_finish(c, NULL), VPT_OK);
	say(c, VPT_RANGE, 1, found, sizeof(found));
	assert_string_equal(found, exact.found);
	vpt_collect_free(c);
}

static void siblings_that_overlap_by_rounding_are_cut(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(siblings); i++) {
		check_siblings(&siblings[i], VPT_RANGE);
		if (!siblings[i].spans[0].kind)
			check_siblings(&siblings[i], VPT_CALL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(impossible_times_are_doubted),
		cmocka_unit_test(exact_times_are_left_alone),
		cmocka_unit_test(siblings_that_overlap_by_rounding_are_cut)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
