/* test_tracer_threads.c - many threads, and those that end, fork or are interrupted: everything is kept or counted. VPT_PERCENT
 * scales the work. */
#include "tests/tracer/ranges/tracer_rig.h"

#include <semaphore.h>
#include <unistd.h>

static pthread_barrier_t crowd_gate;

/* ---- threads ---- */

static void leave_ranges_open(void)
{
	push("", "outer");
	push("", "inner");
}

static void a_thread_that_ends_closes_its_ranges(void **state)
{
	(void)state;
	in_a_thread(leave_ranges_open);
	assert_int_equal(open_now(), 0);
	assert_int_equal(drain(), 2);
	assert_true(is_named(&kept.events[0], "inner"));
	assert_true(is_named(&kept.events[1], "outer"));
	assert_int_equal(kept.events[1].unmatched, 1);
	assert_true(kept.events[1].end_ns >= kept.events[1].start_ns);
	assert_int_not_equal(kept.events[1].tid, vtr_tid());
}

static uint32_t lossy_tid;

/* More than all sizes of rings hold, one after the other. */
enum { FLOOD = 32768 };

static void lose_events(void)
{
	int i;

	lossy_tid = vtr_tid();
	for (i = 0; i < FLOOD; i++)
		vptrace_mark("flood");
}

static void find_lossy(void *ctx, uint32_t tid, uint64_t lost)
{
	if (tid == lossy_tid)
		*(uint64_t *)ctx += lost;
}

static void losses_outlive_their_thread(void **state)
{
	uint64_t lost = 0, drained = 0, all;

	(void)state;
	limit_to(VTR_THREAD_BYTES);
	in_a_thread(lose_events);
	lift_limit();
	vtr_threads_dropped(find_lossy, &lost);
	assert_true(lost > 0);
	vtr_threads_drain(count_event, &drained);
	assert_int_equal(drained + lost, FLOOD);
	lost = 0;
	all = vtr_threads_dropped(find_lossy, &lost);
	assert_int_equal(all, lost);
	assert_int_equal(drained + lost, FLOOD);
}

static sem_t may_mark, has_marked;

static void *mark_when_told(void *arg)
{
	(void)arg;
	vptrace_mark("early");
	sem_post(&has_marked);
	sem_wait(&may_mark);
	vptrace_mark("late");
	sem_post(&has_marked);
	sem_wait(&may_mark);
	return NULL;
}

/* Another capture begins in the middle of a drain, and has an event at once. */
static void begin_another(void *ctx, const struct vtr_event *e)
{
	if (is_named(e, "begin another")) {
		vtr_threads_stop();
		vtr_threads_record(vtr_now());
		sem_post(&may_mark);
		sem_wait(&has_marked);
	}
	*(uint64_t *)ctx += (uint64_t)is_named(e, "late");
}

static void a_drain_that_began_before_the_capture_takes_nothing_from_it(void **state)
{
	pthread_t thread;
	uint64_t late = 0;

	(void)state;
	sem_init(&may_mark, 0, 0);
	sem_init(&has_marked, 0, 0);
	vptrace_mark("the first thread has memory");
	assert_int_equal(pthread_create(&thread, NULL, mark_when_told, NULL), 0);
	sem_wait(&has_marked);
	drain();
	vptrace_mark("begin another");
	vtr_threads_drain(begin_another, &late);
	vtr_threads_drain(begin_another, &late);
	assert_int_equal(late, 1);
	sem_post(&may_mark);
	pthread_join(thread, NULL);
}

/* Three times in a row: rings that were added are given back, and the first one used again. */
static void a_full_ring_is_followed_by_another(void **state)
{
	uint64_t before, drained, lost = 0;
	int round;

	(void)state;
	in_a_thread(leave_ranges_open); /* its memory waits for the next one */
	drain();
	before = vtr_budget_of(VTR_BUDGET_THREADS);
	for (round = 0; round < 3; round++) {
		drained = 0;
		in_a_thread(lose_events);
		assert_int_equal(vtr_threads_dropped(find_lossy, &lost), 0);
		assert_true(
			vtr_budget_of(VTR_BUDGET_THREADS) >= before + FLOOD * 3 * sizeof(uint64_t));
		vtr_threads_drain(count_event, &drained);
		assert_int_equal(drained, FLOOD);
		assert_int_equal(vtr_budget_of(VTR_BUDGET_THREADS), before);
	}
}

/* While the writer reads, the chain grows and shrinks; nothing is lost or doubled, and order stays. */
static atomic_int flooding;

static void flood_in_order(void)
{
	uint64_t i;

	for (i = 0; i < (uint64_t)scaled(40) * FLOOD; i++)
		vptrace_counter("n", (double)i, NULL);
	atomic_store(&flooding, 0);
}

static void *flood_thread(void *nothing)
{
	(void)nothing;
	flood_in_order();
	return NULL;
}

static void check_order(void *ctx, const struct vtr_event *e)
{
	uint64_t *next = ctx;
	double value;

	memcpy(&value, &e->payload.value, sizeof(value));
	if (value != (double)*next)
		fail_msg("%.0f after %.0f", value, (double)*next - 1);
	++*next;
}

static void a_chain_of_rings_keeps_all_in_order(void **state)
{
	uint64_t next = 0;
	pthread_t thread;

	(void)state;
	atomic_store(&flooding, 1);
	assert_int_equal(pthread_create(&thread, NULL, flood_thread, NULL), 0);
	while (atomic_load(&flooding))
		vtr_threads_drain(check_order, &next);
	pthread_join(thread, NULL);
	vtr_threads_drain(check_order, &next);
	assert_int_equal(dropped(), 0);
	assert_int_equal(next, (uint64_t)scaled(40) * FLOOD);
}

/* What a drain with a cut took, and what it only looked at. */
static struct {
	size_t taken, seen;
} two;

static void take_it(void *ctx, const struct vtr_event *e)
{
	(void)ctx;
	assert_true(e->end_ns <= start_ns);
	two.taken++;
}

static void see_it(void *ctx, const struct vtr_event *e)
{
	(void)ctx;
	assert_true(e->end_ns > start_ns);
	two.seen++;
}

static void three_rings_of_ranges(void)
{
	int i;

	for (i = 0; i < 1000; i++) {
		push("", "range");
		pop("");
	}
}

/* What ended after a cut stays in its ring, and in the rings behind it, also of a thread that has ended. */
static void what_comes_after_the_cut_stays(void **state)
{
	struct vtr_drain how = {.take = take_it};
	size_t count;

	(void)state;
	push("", "around");
	three_rings_of_ranges();
	how.cut_ns = start_ns = vtr_now();
	two.taken = two.seen = 0;
	while (vtr_now() == start_ns)
		;
	three_rings_of_ranges();
	pop("");
	in_a_thread(three_rings_of_ranges);
	assert_int_equal(vtr_threads_drain_some(&how, &count), 0);
	assert_int_equal(count, 1000);
	assert_int_equal(two.taken, 1000);
	vtr_threads_look(see_it, NULL);
	assert_int_equal(two.seen, 2001);
	assert_int_equal(drain(), 2001);
	assert_int_equal(dropped(), 0);
}

/* Its first ring has been left, and is gone on in, since there is no other: it does not begin at 0. */
static void come_back_to_the_first_ring(void)
{
	struct vtr_drain how = {.take = take_it};
	size_t count;
	int i;

	for (i = 0; i < VTR_RING_FIRST_WORDS; i++) {
		push("", "range");
		pop("");
	}
	assert_int_equal(drain(), VTR_RING_FIRST_WORDS);
	how.cut_ns = start_ns = vtr_now();
	while (vtr_now() == start_ns)
		;
	three_rings_of_ranges();
	two.taken = two.seen = 0;
	assert_int_equal(vtr_threads_drain_some(&how, &count), 0);
	vtr_threads_look(see_it, NULL);
	assert_int_equal(two.taken, 0);
	assert_int_equal(two.seen + dropped(), 1000);
	assert_in_range(two.seen, (VTR_RING_FIRST_WORDS + VTR_RING_NEXT_WORDS) / 5, 999);
	assert_int_equal(drain(), two.seen);
}

static void a_look_finds_what_is_in_a_ring_used_again(void **state)
{
	(void)state;
	limit_to(VTR_THREAD_BYTES + VTR_RING_BYTES(VTR_RING_NEXT_WORDS));
	in_a_thread(come_back_to_the_first_ring);
	lift_limit();
}

static void nothing(void *ctx, const struct vtr_event *e)
{
	(void)e;
	usleep(*(unsigned *)ctx);
}

/* A round ends though its thread is faster: what is made meanwhile belongs to the next one. */
static void a_round_has_an_end(void **state)
{
	unsigned us = 1;
	struct vtr_drain how = {.take = nothing, .ctx = &us};
	uint64_t next = 0;
	pthread_t thread;
	size_t count;

	(void)state;
	atomic_store(&flooding, 1);
	assert_int_equal(pthread_create(&thread, NULL, flood_thread, NULL), 0);
	while (atomic_load(&flooding))
		usleep(1000);
	how.cut_ns = vtr_threads_reach(vtr_now(), 1000);
	assert_int_equal(vtr_threads_drain_some(&how, &count), 0);
	assert_true(count > 0 && count <= 1000);
	pthread_join(thread, NULL);
	vtr_threads_drain(count_event, &next);
	assert_int_equal(next + count + dropped(), (uint64_t)scaled(40) * FLOOD);
}

/* A step of time has about as many events as it may, of whatever threads, and never none. */
static void a_step_of_time_has_its_share_of_events(void **state)
{
	struct vtr_drain how = {.take = count_event};
	uint64_t taken = 0, last_ns = 0;
	size_t count;
	int steps = 0;

	(void)state;
	assert_int_equal(vtr_threads_reach(5, 1), 5); /* nothing is there */
	three_rings_of_ranges();
	last_ns = vtr_now();
	in_a_thread(three_rings_of_ranges);
	how.ctx = &taken;
	start_ns = vtr_now();
	assert_int_equal(vtr_threads_reach(start_ns, 10000), start_ns);
	assert_true(vtr_threads_reach(start_ns, 200) < last_ns);
	for (how.cut_ns = 0; how.cut_ns < start_ns; steps++) {
		how.cut_ns = vtr_threads_reach(start_ns, 200);
		vtr_threads_drain_some(&how, &count);
		assert_in_range(count, 1, 200);
		assert_true(steps < 2000);
	}
	assert_int_equal(taken, 2000);
	assert_int_equal(dropped(), 0);
}

/* However many threads have events, and wherever they lie: the time to drain is that of all events, not
 * that of all events for each thread. */
static void a_step_of_time_is_full(void **state)
{
	struct vtr_drain how = {.take = count_event};
	int i, steps = 0, threads = (int)scaled(40);
	uint64_t taken = 0;
	size_t count;

	(void)state;
	for (i = 0; i < threads; i++)
		in_a_thread(three_rings_of_ranges);
	how.ctx = &taken;
	start_ns = vtr_now();
	for (how.cut_ns = 0; how.cut_ns < start_ns; steps++) {
		how.cut_ns = vtr_threads_reach(start_ns, 1000);
		vtr_threads_drain_some(&how, &count);
		assert_in_range(count, 1, 1000);
	}
	assert_int_equal(taken, 1000 * threads);
	assert_in_range(steps, threads, 2 * threads);
}

/* What was reported of each thread so far. */
static struct {
	uint32_t tid;
	uint64_t lost;
} reported_losses[4096];

static void losses_grow(void *ctx, uint32_t tid, uint64_t lost)
{
	size_t i = 0;

	while (reported_losses[i].lost && reported_losses[i].tid != tid)
		i++;
	assert_true(lost > 0 && lost >= reported_losses[i].lost);
	*(uint64_t *)ctx += lost - reported_losses[i].lost;
	reported_losses[i].tid = tid;
	reported_losses[i].lost = lost;
}

static void go_too_deep(void)
{
	int i;

	push("", "deep");
	limit_to(0);
	for (i = 0; i < VTR_STACK_ROOM; i++)
		push("", "deep");
	lift_limit();
	pop("");
}

static void nest_without_memory(void)
{
	int i;

	push("", "outer");
	limit_to(0);
	for (i = 0; i < VTR_STACK_ROOM; i++)
		push("", "inner");
	lift_limit();
	for (i = 0; i <= VTR_STACK_ROOM; i++)
		pop("");
}

/* There, nothing is known of the program: the outermost range is dropped, and counted as all that finds no memory. */
static void a_stack_that_cannot_grow_drops_the_oldest(void **state)
{
	uint64_t unmatched = vtr_threads_unmatched();
	int i;

	(void)state;
	in_a_thread(nest_without_memory);
	assert_int_equal(dropped(), 1);
	assert_int_equal(drain(), VTR_STACK_ROOM);
	for (i = 0; i < VTR_STACK_ROOM; i++)
		assert_true(is_named(&kept.events[i], "inner"));
	assert_int_equal(vtr_threads_unmatched(), unmatched);
}

static void many_threads_may_lose_something(void **state)
{
	uint64_t reported = 0, drained = 0;
	int i, count = (int)scaled(1300); /* more than are counted separately */

	(void)state;
	for (i = 0; i < count; i++) {
		in_a_thread(go_too_deep);
		if (i % 3 == 0)
			vtr_threads_dropped(losses_grow, &reported);
		vtr_threads_drain(count_event, &drained);
		if (i % 5 == 0)
			vtr_threads_dropped(losses_grow, &reported);
	}
	assert_int_equal(vtr_threads_dropped(losses_grow, &reported), count);
	assert_int_equal(reported, count);
	assert_int_equal(drained, (uint64_t)count * VTR_STACK_ROOM);
}

static pthread_key_t late_key;

static void be_late(void *value)
{
	vptrace_range_push("late");
	vptrace_range_pop();
	vptrace_mark("late");
	/* A destructor that sets its key again runs again, after ours. */
	if ((uintptr_t)value > 1)
		pthread_setspecific(late_key, (void *)((uintptr_t)value - 1));
}

static void end_late(void)
{
	vptrace_mark("in time");
	pthread_setspecific(late_key, (void *)3);
}

static void events_of_late_destructors_are_counted(void **state)
{
	uint64_t memory, all = 0;
	int i;

	(void)state;
	/* Made after ours, so it runs after ours in each round. */
	assert_int_equal(pthread_key_create(&late_key, be_late), 0);
	in_a_thread(end_late);
	all += drain();
	memory = vtr_budget_of(VTR_BUDGET_THREADS);
	for (i = 0; i < 20; i++) {
		in_a_thread(end_late);
		all += drain();
	}
	assert_int_equal(all + dropped(), 21 * 7);
	assert_true(all >= 21);
	assert_int_equal(vtr_budget_of(VTR_BUDGET_THREADS), memory);
	pthread_key_delete(late_key);
}

static void *short_life(void *arg)
{
	(void)arg;
	vptrace_range_push("life");
	vptrace_mark("event");
	vptrace_range_pop();
	return NULL;
}

static void memory_of_ended_threads_is_used_again(void **state)
{
	enum { ALIVE = 8 };
	int count = (int)scaled(10000 / ALIVE) * ALIVE;
	uint64_t drained = 0, before = vtr_budget_of(VTR_BUDGET_THREADS);
	pthread_t threads[ALIVE];
	int i, k;

	(void)state;
	for (i = 0; i < count; i += ALIVE) {
		for (k = 0; k < ALIVE; k++)
			assert_int_equal(pthread_create(&threads[k], NULL, short_life, NULL), 0);
		for (k = 0; k < ALIVE; k++)
			pthread_join(threads[k], NULL);
		vtr_threads_drain(count_event, &drained);
	}
	assert_int_equal(drained, 2 * count);
	assert_int_equal(dropped(), 0);
	assert_true(vtr_budget_of(VTR_BUDGET_THREADS) - before <= ALIVE * VTR_THREAD_BYTES);

	vtr_threads_stop(); /* nobody drains, and nothing has to be drained */
	for (i = 0; i < count / 20; i++) {
		assert_int_equal(pthread_create(&threads[0], NULL, short_life, NULL), 0);
		pthread_join(threads[0], NULL);
	}
	assert_true(vtr_budget_of(VTR_BUDGET_THREADS) - before <= ALIVE * VTR_THREAD_BYTES);
}

static void *crowd(void *arg)
{
	(void)arg;
	vptrace_range_push("crowd");
	pthread_barrier_wait(&crowd_gate); /* all have their memory, or none */
	vptrace_range_pop();
	vptrace_mark("crowd");
	pthread_barrier_wait(&crowd_gate);
	return NULL;
}

static void threads_beyond_the_limit_are_counted(void **state)
{
	enum { CROWD = 300, ROOM = 100 };
	static pthread_t threads[CROWD];
	pthread_attr_t attr;
	uint64_t drained = 0, homes;
	int i;

	(void)state;
	vptrace_mark("this thread has its memory");
	limit_to(ROOM * VTR_THREAD_BYTES);
	pthread_barrier_init(&crowd_gate, NULL, CROWD + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	for (i = 0; i < CROWD; i++)
		if (pthread_create(&threads[i], &attr, crowd, NULL)) {
			print_message("only %d threads can be had here\n", i);
			_exit(77);
		}
	pthread_barrier_wait(&crowd_gate);
	pthread_barrier_wait(&crowd_gate);
	for (i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	vtr_threads_drain(count_event, &drained);
	homes = (drained - 1) / 2;
	assert_in_range(homes, ROOM, ROOM + VTR_THREADS_KEPT);
	assert_int_equal(drained + dropped(), 1 + 2 * CROWD);
	in_a_thread(leave_ranges_open); /* there is room again */
	assert_int_equal(drain(), 2);
	lift_limit();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_CAPTURE(a_thread_that_ends_closes_its_ranges),
		WITH_CAPTURE(a_drain_that_began_before_the_capture_takes_nothing_from_it),
		WITH_CAPTURE(losses_outlive_their_thread),
		WITH_CAPTURE(a_stack_that_cannot_grow_drops_the_oldest),
		WITH_CAPTURE(many_threads_may_lose_something),
		WITH_CAPTURE(events_of_late_destructors_are_counted),
		WITH_CAPTURE(memory_of_ended_threads_is_used_again),
		WITH_CAPTURE(a_full_ring_is_followed_by_another),
		WITH_CAPTURE(a_chain_of_rings_keeps_all_in_order),
		WITH_CAPTURE(what_comes_after_the_cut_stays),
		WITH_CAPTURE(a_look_finds_what_is_in_a_ring_used_again),
		WITH_CAPTURE(a_round_has_an_end),
		WITH_CAPTURE(a_step_of_time_has_its_share_of_events),
		WITH_CAPTURE(a_step_of_time_is_full),
		WITH_CAPTURE(threads_beyond_the_limit_are_counted),
	};

	if (vtr_names_init() || vtr_threads_init())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
