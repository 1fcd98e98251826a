/* test_sweep.c - device time between edges, without a trace around it. */
#include "analysis/pipeline/sweep.h"

#include "tests/support/traces/hand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void run(struct vpa_sweep *s, uint32_t device, uint64_t start, uint64_t end)
{
	assert_int_equal(vpa_sweep_op(s, device, VPA_FAMILY_MEMCPY, start, end), VPT_OK);
}

static void run_with(struct vpa_sweep *s, uint32_t cut, uint64_t start, uint64_t end)
{
	vpa_sweep_hold(s, cut);
	run(s, 0, start, end);
	assert_int_equal(vpa_sweep_extend(s, cut, end), VPT_OK);
}

static void stand_idle(struct vpa_sweep *s, uint32_t device, uint64_t start, uint64_t end)
{
	assert_int_equal(vpa_sweep_gap(s, device, VPA_CAUSE_SYNC, start, end), VPT_OK);
}

static uint64_t part_between(
	const struct vpa_sweep *s, uint32_t from, uint32_t to, uint32_t mask, size_t part)
{
	struct vpa_sweep_sums sums = {{0}, {0}};

	vpa_sweep_between(s, from, to, mask, &sums, NULL, NULL);
	return sums.ns[part];
}

enum { IDLE = VPA_SWEEP_IDLE + VPA_CAUSE_SYNC };

static void a_cut_ends_with_its_last_op(void **state)
{
	struct vpa_sweep s;
	uint32_t first, second, pin;

	(void)state;
	vpa_sweep_init(&s);
	first = vpa_sweep_cut_new(&s);
	second = vpa_sweep_cut_new(&s);
	vpa_sweep_hold(&s, first);
	assert_int_equal(vpa_sweep_reach(&s, 10), VPT_OK);
	pin = vpa_sweep_pin(&s);
	run(&s, 0, 10, 20);
	assert_int_equal(vpa_sweep_extend(&s, first, 20), VPT_OK);
	stand_idle(&s, 0, 20, 25);
	run_with(&s, second, 25, 40); /* the first cut is passed at 20 */
	assert_int_not_equal(s.cuts[first].edge, VPA_NONE);
	stand_idle(&s, 0, 40, 50);
	run_with(&s, first, 50, 60); /* and moves on after all */
	assert_int_equal(vpa_sweep_end(&s), VPT_OK);
	assert_int_equal(s.cuts[first].time_ns, 60);
	assert_int_equal(s.edges[s.cuts[first].edge].time_ns, 60);
	assert_int_equal(s.edges[s.cuts[second].edge].time_ns, 40);
	assert_int_equal(part_between(&s, pin, s.cuts[second].edge, 1, VPA_FAMILY_MEMCPY), 25);
	assert_int_equal(part_between(&s, pin, s.cuts[second].edge, 1, IDLE), 5);
	assert_int_equal(
		part_between(&s, s.cuts[second].edge, s.cuts[first].edge, 1, VPA_FAMILY_MEMCPY),
		10);
	assert_int_equal(part_between(&s, s.cuts[second].edge, s.cuts[first].edge, 1, IDLE), 10);
	assert_int_equal(part_between(&s, pin, pin, 1, IDLE), 0);
	vpa_sweep_free(&s);
}

static void a_gap_is_cut_at_the_edges_inside_it(void **state)
{
	struct vpa_sweep s;
	uint32_t cut[3], i;

	(void)state;
	vpa_sweep_init(&s);
	for (i = 0; i < 3; i++)
		cut[i] = vpa_sweep_cut_new(&s);
	run(&s, 1, 0, 10);
	run_with(&s, cut[0], 5, 20);
	run_with(&s, cut[1], 20, 45);
	run_with(&s, cut[2], 45, 80);
	stand_idle(&s, 1, 10, 70); /* known at its end only */
	run(&s, 1, 70, 75);
	assert_int_equal(vpa_sweep_end(&s), VPT_OK);
	assert_int_equal(part_between(&s, VPA_NONE, s.cuts[cut[0]].edge, 2, IDLE), 10);
	assert_int_equal(part_between(&s, s.cuts[cut[0]].edge, s.cuts[cut[1]].edge, 2, IDLE), 25);
	assert_int_equal(part_between(&s, s.cuts[cut[1]].edge, s.cuts[cut[2]].edge, 2, IDLE), 25);
	assert_int_equal(
		part_between(&s, s.cuts[cut[1]].edge, s.cuts[cut[2]].edge, 2, VPA_FAMILY_MEMCPY),
		5);
	assert_int_equal(part_between(&s, VPA_NONE, VPA_NONE, 2, IDLE), 60);
	assert_int_equal(part_between(&s, VPA_NONE, VPA_NONE, 1, VPA_FAMILY_MEMCPY), 75);
	vpa_sweep_free(&s);
}

static void edges_that_nothing_stands_on_go(void **state)
{
	struct vpa_sweep s;
	uint32_t a, b;
	uint64_t t;

	(void)state;
	vpa_sweep_init(&s);
	a = vpa_sweep_cut_new(&s);
	b = vpa_sweep_cut_new(&s);
	/* Each passes the other, over and over. */
	for (t = 0; t < 100000; t += 10)
		run_with(&s, t % 20 ? a : b, t, t + 5);
	assert_int_equal(vpa_sweep_end(&s), VPT_OK);
	assert_in_range(s.edge_count, 2, 4);
	assert_int_equal(part_between(&s, VPA_NONE, VPA_NONE, 1, VPA_FAMILY_MEMCPY), 50000);
	assert_int_equal(part_between(&s, s.cuts[b].edge, s.cuts[a].edge, 1, VPA_FAMILY_MEMCPY), 5);
	vpa_sweep_free(&s);
}

static void copies_of_cuts_stand_where_they_were_made(void **state)
{
	struct vpa_sweep s;
	uint32_t thread, mark, late;

	(void)state;
	vpa_sweep_init(&s);
	thread = vpa_sweep_cut_new(&s);
	mark = vpa_sweep_cut_new(&s);
	late = vpa_sweep_cut_new(&s);
	run_with(&s, thread, 0, 10);
	assert_int_equal(vpa_sweep_cut_copy(&s, mark, thread), VPT_OK); /* ahead of the sweep */
	run(&s, 0, 20, 30);
	assert_int_equal(vpa_sweep_cut_copy(&s, late, thread), VPT_OK); /* behind it */
	run_with(&s, thread, 30, 40);
	assert_int_equal(vpa_sweep_end(&s), VPT_OK);
	assert_int_equal(s.edges[s.cuts[mark].edge].time_ns, 10);
	assert_int_equal(s.cuts[late].edge, s.cuts[mark].edge);
	assert_int_equal(s.edges[s.cuts[thread].edge].time_ns, 40);
	vpa_sweep_free(&s);
}

static void many_devices_are_left_out(void **state)
{
	struct vpa_sweep s;

	(void)state;
	vpa_sweep_init(&s);
	run(&s, VPA_SWEEP_DEVICES, 0, 10);
	run(&s, VPA_SWEEP_DEVICES - 1, 0, 10);
	stand_idle(&s, VPA_SWEEP_DEVICES, 10, 20);
	assert_int_equal(vpa_sweep_end(&s), VPT_OK);
	assert_int_equal(part_between(&s, VPA_NONE, VPA_NONE, UINT32_MAX, VPA_FAMILY_MEMCPY), 10);
	assert_int_equal(part_between(&s, VPA_NONE, VPA_NONE, UINT32_MAX, IDLE), 0);
	vpa_sweep_free(&s);
}

/* A run of ops, each of which begins when the one before has ended; sometimes at once. */
static struct vpa_op_run fill_run(struct vpt_random *r, struct vpa_ops *ops, int calm)
{
	uint64_t clock = 1000 + vpt_random_below(r, 1000), idle = 0;
	size_t i;

	memset(ops, 0, sizeof(*ops));
	ops->count = 1 + vpt_random_below(r, VPA_OPS_MAX);
	for (i = 0; i < ops->count; i++) {
		uint64_t gap = vpt_random_below(r, 4) || calm ? 1 + vpt_random_below(r, 50) : 0;

		ops->gap_ns[i] = gap;
		if (gap && (i || vpt_random_below(r, 2)))
			ops->gap_cause[i] =
				(uint8_t)(calm && i                ? VPA_CAUSE_SCHEDULING
					  : vpt_random_below(r, 2) ? VPA_CAUSE_QUEUED
								   : VPA_CAUSE_DEPENDENCY);
		ops->idle_ns[i] = idle += gap;
		ops->start_ns[i] = clock += gap;
		ops->end_ns[i] = clock += 1 + vpt_random_below(r, 90);
		ops->family[i] = (uint8_t)vpt_random_below(r, VPA_FAMILY_COUNT);
	}
	return (struct vpa_op_run){0, (uint8_t)ops->count, 1, (uint8_t)calm, 50};
}

static void add_one_by_one(struct vpa_sweep *s, const struct vpa_ops *ops)
{
	size_t i;

	for (i = 0; i < ops->count; i++) {
		if (ops->gap_cause[i])
			assert_int_equal(
				vpa_sweep_gap(s, 0, ops->gap_cause[i],
					ops->start_ns[i] - ops->gap_ns[i], ops->start_ns[i]),
				VPT_OK);
		assert_int_equal(
			vpa_sweep_op(s, 0, ops->family[i], ops->start_ns[i], ops->end_ns[i]),
			VPT_OK);
	}
}

/* Two cuts, somewhere in the run or beyond it. */
static void set_cuts(struct vpa_sweep *s, const uint64_t times[2], uint32_t cuts[2])
{
	int i;

	vpa_sweep_init(s);
	for (i = 0; i < 2; i++) {
		cuts[i] = vpa_sweep_cut_new(s);
		vpa_sweep_hold(s, cuts[i]);
		assert_int_equal(vpa_sweep_extend(s, cuts[i], times[i]), VPT_OK);
	}
}

static void a_run_adds_up_to_what_its_ops_do(void **state)
{
	static struct vpa_ops ops;
	struct vpt_random r = {11};
	int round, k;

	(void)state;
	for (round = 0; round < 2000; round++) {
		struct vpa_op_run run = fill_run(&r, &ops, round % 2);
		uint64_t end = ops.end_ns[ops.count - 1] + 100, times[2];
		struct vpa_sweep a, b;
		uint32_t cuts[2];

		times[0] = 900 + vpt_random_below(&r, end - 900);
		times[1] = times[0] + vpt_random_below(&r, end);
		set_cuts(&a, times, cuts);
		set_cuts(&b, times, cuts);
		assert_int_equal(vpa_sweep_ops(&a, &ops, &run, 0, ops.count), VPT_OK);
		add_one_by_one(&b, &ops);
		assert_int_equal(vpa_sweep_end(&a), VPT_OK);
		assert_int_equal(vpa_sweep_end(&b), VPT_OK);
		for (k = 0; k < 3; k++) {
			struct vpa_sweep_sums sa = {{0}, {0}}, sb = {{0}, {0}};

			vpa_sweep_between(&a, k ? a.cuts[cuts[k - 1]].edge : VPA_NONE,
				k < 2 ? a.cuts[cuts[k]].edge : VPA_NONE, 1, &sa, NULL, NULL);
			vpa_sweep_between(&b, k ? b.cuts[cuts[k - 1]].edge : VPA_NONE,
				k < 2 ? b.cuts[cuts[k]].edge : VPA_NONE, 1, &sb, NULL, NULL);
			assert_memory_equal(sa.ns, sb.ns, sizeof(sa.ns));
			assert_memory_equal(sa.count, sb.count, sizeof(sa.count));
		}
		vpa_sweep_free(&a);
		vpa_sweep_free(&b);
	}
}

/* Edges that lie far behind have been packed: they can be asked, given more, and taken away all the same. */
static void edges_far_behind_are_edges(void **state)
{
	enum { EDGES = 60 };
	uint32_t pins[EDGES], i;
	struct vpa_sweep s;

	(void)state;
	vpa_sweep_init(&s);
	for (i = 0; i < EDGES; i++) {
		assert_int_equal(vpa_sweep_reach(&s, i * 100), VPT_OK);
		pins[i] = vpa_sweep_pin(&s);
		run(&s, i % 3, i * 100, i * 100 + 10 + i);
	}
	assert_non_null(s.edges[pins[20]].packed);
	for (i = 0; i + 1 < EDGES; i++) {
		uint64_t busy_ns[VPA_SWEEP_DEVICES] = {0};

		vpa_sweep_between(&s, pins[i], pins[i + 1], UINT32_MAX, NULL, busy_ns, NULL);
		assert_int_equal(busy_ns[i % 3], 10 + i);
		assert_int_equal(
			part_between(&s, pins[i], pins[i + 1], 1u << i % 3, VPA_FAMILY_MEMCPY),
			10 + i);
		assert_int_equal(
			part_between(&s, pins[i], pins[i + 1], ~(1u << i % 3), VPA_FAMILY_MEMCPY),
			0);
	}
	/* A gap that began long ago is cut at all edges inside it. */
	stand_idle(&s, 7, 1050, (EDGES - 1) * 100);
	assert_int_equal(vpa_sweep_reach(&s, EDGES * 100), VPT_OK);
	assert_int_equal(part_between(&s, pins[10], pins[11], UINT32_MAX, IDLE), 50);
	for (i = 11; i + 1 < EDGES; i++)
		assert_int_equal(part_between(&s, pins[i], pins[i + 1], 1u << 7, IDLE), 100);
	/* What was on both sides of an edge that goes becomes one. */
	vpa_sweep_release(&s, pins[5]);
	vpa_sweep_release(&s, pins[21]);
	assert_int_equal(part_between(&s, pins[4], pins[6], UINT32_MAX, VPA_FAMILY_MEMCPY), 29);
	assert_int_equal(part_between(&s, pins[20], pins[22], UINT32_MAX, VPA_FAMILY_MEMCPY), 61);
	assert_int_equal(part_between(&s, pins[20], pins[22], UINT32_MAX, IDLE), 200);
	assert_int_equal(vpa_sweep_end(&s), VPT_OK);
	vpa_sweep_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cut_ends_with_its_last_op),
		cmocka_unit_test(a_gap_is_cut_at_the_edges_inside_it),
		cmocka_unit_test(edges_that_nothing_stands_on_go),
		cmocka_unit_test(copies_of_cuts_stand_where_they_were_made),
		cmocka_unit_test(many_devices_are_left_out),
		cmocka_unit_test(a_run_adds_up_to_what_its_ops_do),
		cmocka_unit_test(edges_far_behind_are_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
