/* test_collect_times.c - times of ops in foreign traces that cannot be: far away, or over later ones of their
 * stream. */
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

/* The kernels in order of start. */
static void say(const struct vpt_collect *c, char *out, size_t size)
{
	struct vpt_batch b;
	uint64_t found[8][2];
	size_t chunk, s, n = 0, i, used = 0;
	uint32_t row;

	vpt_batch_init(&b);
	for (chunk = 0; chunk < vpt_collect_chunks(c); chunk++) {
		assert_int_equal(vpt_collect_chunk(c, chunk, &b, NULL), 0);
		for (s = 0; s < b.section_count; s++)
			for (row = 0;
				b.sections[s].kind == VPT_KERNEL && row < b.sections[s].row_count;
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
						       (int)((found[i][0] - T0) / S),
						       (int)(found[i][1] / S))
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
		say(c, found, sizeof(found));
		if (strcmp(found, rows[i].found) || vpt_collect_cut_ops(c) != rows[i].cut)
			fail_msg("%s: found %s, expected %s", rows[i].rule, found, rows[i].found);
		vpt_collect_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(impossible_times_are_doubted)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
