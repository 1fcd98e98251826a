/* test_launches.c - the table of launches by itself, and what is taken for one by its name alone. */
#include "analysis/join/pending/launches.h"

#include "analysis/join/resolver_maps.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 2, SLOTS = 1024 /* of a new table */ };

#define SECOND_NS ((uint64_t)1000000000)

struct rig {
	struct vpa_thread_past pasts[THREADS];
	struct vpa_launches launches;
};

/* Adds a call that begins at `start_ns` and lasts 10 ns to its thread's past. */
static void make_call(struct rig *g, uint32_t thread, uint64_t id, uint64_t start_ns)
{
	struct vpa_calls *calls = &g->pasts[thread].calls;
	uint32_t slot = (uint32_t)(calls->end % VPA_CALL_SLAB);
	struct vpa_call_slab *slab;

	if (!slot)
		assert_int_equal(vpa_calls_begin_slab(calls, thread), 0);
	slab = calls->slabs[calls->slab_count - 1];
	slab->calls[slot] = (struct vpa_call){.slot = (uint16_t)slot};
	slab->starts_ns[slot] = start_ns;
	slab->ends_ns[slot] = start_ns + 10;
	slab->correlations[slot] = id;
	calls->end++;
}

/* Adds such a call to the table too. */
static void call(struct rig *g, uint32_t thread, uint64_t id, uint64_t start_ns)
{
	uint64_t position = g->pasts[thread].calls.end;

	make_call(g, thread, id, start_ns);
	assert_int_equal(
		vpa_launches_add(&g->launches, g->pasts, thread, position, &id, 1), VPT_OK);
}

/* Adds `count` calls at once, up to a whole slab; calls with id 0 among them have no id. */
static void call_all(struct rig *g, uint32_t thread, const uint64_t *ids, size_t count)
{
	uint64_t position = g->pasts[thread].calls.end;
	size_t i;

	for (i = 0; i < count; i++)
		make_call(g, thread, ids[i], ids[i] * 100);
	assert_int_equal(
		vpa_launches_add(&g->launches, g->pasts, thread, position, ids, count), VPT_OK);
}

/* When the call with this id began; 0: it is not known. */
static uint64_t found(const struct rig *g, uint64_t id)
{
	const struct vpa_call *call = vpa_launches_find(&g->launches, g->pasts, id);

	return call ? vpa_call_start(call) : 0;
}

static void clear(struct rig *g)
{
	uint32_t i;

	for (i = 0; i < THREADS; i++)
		vpa_calls_free(&g->pasts[i].calls);
	vpa_launches_free(&g->launches);
}

static void calls_are_known_for_as_long_as_they_are_kept(void **state)
{
	struct rig g = {0};
	uint64_t id;

	(void)state;
	assert_int_equal(found(&g, 1), 0);
	for (id = 1; id <= 20000; id++) {
		call(&g, id % 3 == 0, id, id * 100);
		if (id % 1000 == 0)
			vpa_calls_drop(&g.pasts[0].calls,
				g.pasts[0].calls.end - g.pasts[0].calls.end % VPA_CALL_SLAB);
	}
	for (id = 1; id <= 20000; id++) {
		/* Thread 1 keeps all; of thread 0 the calls of the last slab are left. */
		uint64_t position = (id - 1) - (id - 1) / 3, kept = g.pasts[0].calls.begin;

		assert_int_equal(found(&g, id), id % 3 == 0 || position >= kept ? id * 100 : 0);
	}
	assert_int_equal(found(&g, 0), 0);
	assert_int_equal(g.launches.ambiguous, 0);
	clear(&g);
}

/* Many calls at once: their ids count up, but for one in some rounds; some calls have none. The table is
 * used again and again, and another thread's call is in the way of one. Then it grows. */
static void calls_added_at_once_are_all_found(void **state)
{
	enum { AT_ONCE = 100, ROUNDS = 100, LAST = 80, OTHER = 1 << 20 | 50, ODD = 3000000 };
	struct rig g = {0};
	uint64_t ids[AT_ONCE], first = 1, round;
	size_t i;

	(void)state;
	call(&g, 1, OTHER, 7);
	for (round = 0; round < ROUNDS; round++, first += AT_ONCE) {
		for (i = 0; i < AT_ONCE; i++)
			ids[i] = i % 10 == 3 ? 0 : first + i;
		if (round % 3 == 2)
			ids[round] = ODD + round;
		call_all(&g, 0, ids, AT_ONCE);
		for (i = 0; i < AT_ONCE; i++)
			assert_int_equal(found(&g, ids[i]), ids[i] * 100);
		assert_int_equal(found(&g, first + 13), 0);
		assert_int_equal(found(&g, OTHER), 7);
		if (round < LAST)
			vpa_calls_drop(&g.pasts[0].calls, g.pasts[0].calls.end);
		if (round == LAST)
			assert_int_equal(g.launches.slot_count, SLOTS);
	}
	assert_true(g.launches.slot_count > SLOTS);
	assert_false(g.launches.doubled);
	assert_false(vpa_launches_may_double(&g.launches, OTHER));
	clear(&g);
}

static void ids_of_one_slot_stand_beside_each_other(void **state)
{
	struct rig g = {0};
	uint64_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		call(&g, 0, 7 + i * SLOTS, 100 + i);
	for (i = 0; i < 4; i++)
		assert_int_equal(found(&g, 7 + i * SLOTS), 100 + i);
	assert_int_equal(g.launches.slot_count, SLOTS);
	clear(&g);
}

/* One thread waits for ever; the ids of another come to its slots again and again. */
static void a_call_that_is_over_makes_room(void **state)
{
	static const struct {
		uint64_t released_ns;
		int is_over;
	} cases[] = {
		{1000, 0},
		{1010 + VPA_LAUNCH_WAIT_S * SECOND_NS - 1, 0},
		{1010 + VPA_LAUNCH_WAIT_S * SECOND_NS, 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct rig g = {0};

		call(&g, 0, 7, 1000);
		g.launches.released_ns = cases[i].released_ns;
		call(&g, 1, 7 + SLOTS, 2000);
		assert_int_equal(found(&g, 7 + SLOTS), 2000);
		assert_int_equal(found(&g, 7), cases[i].is_over ? 0 : 1000);
		/* What comes to a slot that is not its own takes nobody's place. */
		call(&g, 1, 8 + SLOTS, 3000);
		assert_int_equal(found(&g, 8 + SLOTS), 3000);
		assert_int_equal(found(&g, 7 + SLOTS), 2000);
		clear(&g);
	}
}

/* A thread with more calls than half the table holds is not helped by the places of others: the table grows. */
static void many_calls_make_the_table_grow(void **state)
{
	struct rig g = {0};
	uint64_t id;

	(void)state;
	call(&g, 0, 7 + SLOTS, 1000);
	for (id = 8; id < 7 + SLOTS; id++)
		call(&g, 1, id, 2000 + id);
	g.launches.released_ns = 100 * SECOND_NS;
	for (; id < 7 + 2 * SLOTS; id++)
		if (id != 7 + SLOTS)
			call(&g, 1, id, 2000 + id);
	assert_int_equal(found(&g, 7 + SLOTS), 1000);
	assert_true(g.launches.slot_count > SLOTS);
	for (id = 8; id < 7 + 2 * SLOTS; id++)
		if (id != 7 + SLOTS)
			assert_int_equal(found(&g, id), 2000 + id);
	clear(&g);
}

/* The slot of an id whose call was kept next to it may be free when the second one comes. */
static void two_calls_of_an_id_are_known_wherever_they_are(void **state)
{
	struct rig g = {0};

	(void)state;
	call(&g, 0, 5, 1000);
	call(&g, 0, 5, 2000); /* from now on ids may be doubled */
	call(&g, 0, 7 + SLOTS, 3000);
	call(&g, 1, 7, 4000); /* beside its slot, which is taken */
	vpa_calls_drop(&g.pasts[0].calls, g.pasts[0].calls.end);
	call(&g, 0, 7, 5000);
	assert_true(vpa_launches_may_double(&g.launches, 7));
	assert_int_equal(found(&g, 7), 4000);
	clear(&g);
}

static void of_equal_ids_the_first_or_the_outer_is_found(void **state)
{
	struct rig g = {0};

	(void)state;
	call(&g, 0, 7, 5000);
	call(&g, 1, 7, 4000);
	call(&g, 0, 7, 6000);
	assert_int_equal(found(&g, 7), 4000);
	assert_int_equal(g.launches.doubled, 1);
	assert_true(vpa_launches_may_double(&g.launches, 7));
	assert_false(vpa_launches_may_double(&g.launches, 8));
	/* Of one inside the other, begun at the same moment, the outer one, which completes later. */
	call(&g, 0, 9, 7000);
	vpa_launches_find(&g.launches, g.pasts, 9)->state |= VPA_CALL_NESTED;
	call(&g, 0, 9, 7000);
	assert_int_equal(vpa_launches_find(&g.launches, g.pasts, 9)->state & VPA_CALL_NESTED, 0);
	clear(&g);
}

/* ---- calls that only their names tell of ---- */

static void names_tell_what_puts_nothing_on_a_device(void **state)
{
	static const struct {
		const char *name;
		int may_launch, launches;
	} cases[] = {
		{"cudaNewQuery", 0, 0},
		{"cudaNewGetAttribute", 0, 0},
		{"cuNewCreate", 0, 0},
		{"cuNewDestroy", 0, 0},
		{"cudaNewOccupancy", 0, 0},
		{"cuNewAttributes", 0, 0},
		{"cuNewThing", 1, 0},
		{"", 1, 0},
		{"cuLaunchNewQuery", 0, 1},
		{"cudaMemcpyNewGet", 0, 1},
		{"cuMemsetNew", 0, 1},
		{"cudaGraphLaunchCreate", 0, 1},
		{"hipLaunchNewThing", 0, 1},
	};
	static struct vpa_model model;
	const struct vpa_resolver_sink nobody = {.ops = NULL};
	struct vpa_resolver r = {.model = NULL};
	struct vpt_batch b;
	size_t i;
	int again;

	(void)state;
	vpt_batch_init(&b);
	assert_int_equal(vpa_resolver_init(&r, &model, NULL, &nobody), 0);
	for (i = 0; i < COUNT(cases); i++)
		vpt_batch_string(&b, cases[i].name, strlen(cases[i].name));
	assert_int_equal(vpa_maps_begin_chunk(&r, &b), 0);
	for (again = 0; again < 2; again++)
		for (i = 0; i < COUNT(cases); i++) {
			uint64_t id = vpt_batch_string(&b, cases[i].name, strlen(cases[i].name));
			struct vpa_call_kind kind;

			assert_int_equal(vpa_maps_call_kind(&r, &b, 0, id, &kind), 0);
			if (kind.unknown != cases[i].may_launch)
				fail_msg("%s: %d", cases[i].name, kind.unknown);
			assert_int_equal(kind.launches, cases[i].launches);
		}
	vpa_resolver_free(&r);
	vpt_strings_free(&model.names);
	vpt_batch_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_known_for_as_long_as_they_are_kept),
		cmocka_unit_test(calls_added_at_once_are_all_found),
		cmocka_unit_test(ids_of_one_slot_stand_beside_each_other),
		cmocka_unit_test(a_call_that_is_over_makes_room),
		cmocka_unit_test(many_calls_make_the_table_grow),
		cmocka_unit_test(two_calls_of_an_id_are_known_wherever_they_are),
		cmocka_unit_test(of_equal_ids_the_first_or_the_outer_is_found),
		cmocka_unit_test(names_tell_what_puts_nothing_on_a_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
