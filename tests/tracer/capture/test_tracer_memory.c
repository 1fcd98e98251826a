/* test_tracer_memory.c - what the tracer holds in a process: little where little happens, all that the limit allows where
 * much does, and nothing more. VPT_PERCENT scales the work. */
#include "tests/tracer/ranges/tracer_rig.h"

#include "formats/base/memory.h"
#include "tests/support/process.h"
#include "tracer/handover/buffer_pool.h"

#include <stdatomic.h>
#include <unistd.h>

enum { MIB = 1 << 20, PAGE = 4096 };

static uint64_t resident_bytes(void)
{
	long kib = vpt_process_kib("VmRSS:");

	assert_true(kib > 0);
	return (uint64_t)kib << 10;
}

/* ---- threads ---- */

enum { CROWD_MAX = 1000 };

/* Enough that a page for each shows. */
static unsigned crowd_size(void)
{
	unsigned size = scaled(CROWD_MAX);

	return size < 100 ? 100 : size > CROWD_MAX ? CROWD_MAX : size;
}

static pthread_t crowd[CROWD_MAX];
static pthread_barrier_t gate;
static void (*crowd_does)(void);

static void *one_of_crowd(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&gate);
	pthread_barrier_wait(&gate);
	crowd_does();
	pthread_barrier_wait(&gate);
	pthread_barrier_wait(&gate);
	return NULL;
}

/* Runs this in that many threads at once. Returns by how much the process grew meanwhile. */
static uint64_t run_crowd(unsigned count, void (*does)(void))
{
	uint64_t before, after;
	pthread_attr_t attr;
	unsigned i;

	crowd_does = does;
	pthread_barrier_init(&gate, NULL, count + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	for (i = 0; i < count; i++)
		if (pthread_create(&crowd[i], &attr, one_of_crowd, NULL)) {
			print_message("only %u threads can be had here\n", i);
			_exit(77);
		}
	pthread_barrier_wait(&gate); /* all have come to life */
	before = resident_bytes();
	pthread_barrier_wait(&gate);
	pthread_barrier_wait(&gate);
	after = resident_bytes();
	pthread_barrier_wait(&gate);
	for (i = 0; i < count; i++)
		pthread_join(crowd[i], NULL);
	pthread_barrier_destroy(&gate);
	return after > before ? after - before : 0;
}

static void one_range(void)
{
	push("", "once");
	pop("");
}

static void a_thread_with_a_range_costs_a_page(void **state)
{
	uint64_t grown = run_crowd(crowd_size(), one_range), drained = 0;

	(void)state;
	vtr_threads_drain(count_event, &drained);
	assert_int_equal(drained, crowd_size());
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
	/* The test's own needs are in it too: a page of stack that was not touched before, here and there. */
	assert_in_range(grown / crowd_size(), 0, PAGE * 3 / 2);
#else
	(void)grown;
#endif
}

static void open_many(void)
{
	struct vptrace_note note = {VPTRACE_NOTE_STEP, 1, -1, -1, 500};
	int i;

	for (i = 0; i < 100; i++)
		vptrace_note_push("deep", &note);
}

/* Rings and deep stacks go with their threads; some memory waits for the next ones. */
static void memory_of_thousands_of_threads_is_given_back(void **state)
{
	unsigned rounds = scaled(10), round;
	uint64_t drained = 0, held;

	(void)state;
	vptrace_mark("this thread has its memory");
	vtr_threads_drain(count_event, &drained);
	drained = 0;
	for (round = 0; round < rounds; round++) {
		run_crowd(crowd_size(), round % 2 ? open_many : one_range);
		held = vtr_budget_of(VTR_BUDGET_THREADS);
		assert_true(held >= crowd_size() * VTR_THREAD_BYTES);
		vtr_threads_drain(count_event, &drained);
		assert_true(vtr_budget_of(VTR_BUDGET_THREADS) <=
			    (1 + VTR_THREADS_KEPT) * VTR_THREAD_BYTES);
	}
	assert_int_equal(drained, crowd_size() * ((rounds + 1) / 2 + rounds / 2 * 100));
	assert_int_equal(dropped(), 0);
}

/* ---- the limit ---- */

static atomic_int over;

static void *storm(void *arg)
{
	unsigned long *made = arg;

	for (*made = 0; !atomic_load(&over); ++*made) {
		push("", "storm");
		pop("");
	}
	return NULL;
}

static void find_loser(void *ctx, uint32_t tid, uint64_t lost)
{
	assert_int_not_equal(tid, 0);
	*(uint64_t *)ctx += lost;
}

/* Nobody drains: records are dropped when the threads have what the limit gives them, three quarters, and not before. */
static void the_limit_decides_when_ranges_are_dropped(void **state)
{
	uint64_t drained = 0, lost = 0, share = 16 * MIB / 4 * 3;
	unsigned long made[2];
	pthread_t threads[2];

	(void)state;
	vtr_budget_limit(16 * MIB);
	atomic_store(&over, 0);
	pthread_create(&threads[0], NULL, storm, &made[0]);
	pthread_create(&threads[1], NULL, storm, &made[1]);
	while (!dropped())
		usleep(1000);
	atomic_store(&over, 1);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert_in_range(vtr_budget_of(VTR_BUDGET_THREADS),
		share - VTR_RING_BYTES(VTR_RING_NEXT_WORDS), share);
	vtr_threads_dropped(find_loser, &lost);
	assert_true(lost > 0);
	vtr_threads_drain(count_event, &drained);
	assert_int_equal(drained + lost, made[0] + made[1]);
	assert_true(drained > 12 * MIB / 40);
	assert_true(vtr_budget_of(VTR_BUDGET_THREADS) < MIB);
	lift_limit();
}

static void take_all(struct vtr_pool *pool, uint64_t *bytes)
{
	while (vtr_pool_take(pool, VTR_BUFFER_BYTES))
		*bytes += VTR_BUFFER_BYTES;
}

static void flood(void)
{
	int i;

	while (!dropped())
		for (i = 0; i < 1024; i++)
			vptrace_mark("flood");
}

/* Whoever comes first leaves the other a quarter, less what is kept for the writer; together they stay below the limit. */
static void buffers_and_rings_share_one_limit(void **state)
{
	const uint64_t limit = 32 * MIB;
	int rings_first;

	(void)state;
	vtr_budget_limit(limit);
	for (rings_first = 0; rings_first < 2; rings_first++) {
		struct vtr_pool *pool = vtr_pool_new(1024 * (uint64_t)MIB);
		uint64_t buffers = 0;

		if (rings_first)
			in_a_thread(flood);
		take_all(pool, &buffers);
		if (!rings_first)
			in_a_thread(flood);
		assert_true(vtr_budget_held() <= limit);
		assert_true(vtr_budget_held() > limit - limit / 8 - 2 * MIB);
		assert_true(buffers >= limit / 8 - MIB && buffers <= limit / 4 * 3);
		assert_true(vtr_budget_of(VTR_BUDGET_THREADS) >= limit / 8 - MIB);
		vtr_threads_drain(count_event, &(uint64_t){0});
		vtr_pool_free(pool);
		vtr_threads_record(vtr_now());
	}
	assert_int_equal(vtr_budget_of(VTR_BUDGET_BUFFERS), 0);
	lift_limit();
}

static void what_the_writer_allocates_counts(void **state)
{
	uint64_t before = vtr_budget_held(), bytes = 20 * MIB;
	void *memory = vpt_alloc(bytes, 1);

	(void)state;
	assert_in_range(vtr_budget_held() - before, bytes, bytes + PAGE);
	vtr_budget_limit(before + bytes + MIB);
	assert_int_equal(vtr_budget_take(VTR_BUDGET_BUFFERS, 2 * MIB), 0);
	vpt_free(memory);
	assert_int_equal(vtr_budget_held(), before);
	assert_int_equal(vtr_budget_take(VTR_BUDGET_BUFFERS, 2 * MIB), 1);
	vtr_budget_give(VTR_BUDGET_BUFFERS, 2 * MIB);
	assert_int_equal(vtr_budget_held(), before);
	lift_limit();
}

static void names_count_too(void **state)
{
	static char text[VTR_NAME_BYTES_MAX];
	uint64_t before = vtr_budget_of(VTR_BUDGET_NAMES), refused = vtr_names_refused();

	(void)state;
	memset(text, 'n', sizeof(text));
	assert_true(vtr_name(text, sizeof(text)) > VTR_NAME_REFUSED);
	assert_int_equal(vtr_budget_of(VTR_BUDGET_NAMES) - before, sizeof(text) + 1);
	vtr_budget_limit(0);
	assert_true(vtr_name(text, sizeof(text)) > VTR_NAME_REFUSED); /* known already */
	text[0] = 'm';
	assert_int_equal(vtr_name(text, sizeof(text)), VTR_NAME_REFUSED);
	assert_int_equal(vtr_names_refused(), refused + 1);
	lift_limit();
	assert_true(vtr_name(text, sizeof(text)) > VTR_NAME_REFUSED);
}

/* ---- stacks ---- */

static int deep_count;

static void open_too_many(void)
{
	for (int i = 0; i < deep_count; i++)
		push("", "open");
}

/* Those that found no room are counted when their thread ends, too. */
static void open_ranges_beyond_the_limit_are_counted(void **state)
{
	uint64_t drained = 0;

	(void)state;
	in_a_thread(one_range); /* its memory waits for the next one */
	drain();
	limit_to(0);
	deep_count = 100;
	in_a_thread(open_too_many);
	vtr_threads_drain(count_event, &drained);
	assert_int_equal(drained + dropped(), 100);
	assert_in_range(drained, VTR_STACK_ROOM, 99);
	lift_limit();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_CAPTURE(open_ranges_beyond_the_limit_are_counted),
		WITH_CAPTURE(a_thread_with_a_range_costs_a_page),
		WITH_CAPTURE(memory_of_thousands_of_threads_is_given_back),
		WITH_CAPTURE(the_limit_decides_when_ranges_are_dropped),
		WITH_CAPTURE(buffers_and_rings_share_one_limit),
		WITH_CAPTURE(what_the_writer_allocates_counts),
		WITH_CAPTURE(names_count_too),
	};

	if (vtr_names_init() || vtr_threads_init())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
