/* test_tracer_pool.c - buffers between CUPTI's threads and the writer: never twice, never lost,
 * always zeroed. */
#include "tracer/handover/buffer_pool.h"

#include "tracer/clock/capture_clock.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

enum { MIB = 1 << 20 };

static struct vtr_pool *ready_pool(uint64_t limit_bytes)
{
	struct vtr_pool *p = vtr_pool_new(limit_bytes);

	vtr_pool_ready(p);
	return p;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct vtr_pool_state state_of(struct vtr_pool *p)
{
	struct vtr_pool_state s;

	vtr_pool_state(p, &s);
	return s;
}

static void a_buffer_goes_round(void **unused)
{
	uint64_t before_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	struct vtr_pool *p = ready_pool(8 * MIB);
	struct vtr_full full;
	uint8_t *b;
	size_t i;

	(void)unused;
	assert_int_equal(vtr_pool_next(p, &full), 0);
	b = vtr_pool_take(p, VTR_BUFFER_BYTES);
	assert_non_null(b);
	assert_int_equal((uintptr_t)b % 4096, 0);
	assert_int_equal(state_of(p).outstanding, 1);
	memset(b, 0xaa, VTR_BUFFER_BYTES);
	vtr_pool_give(p, b, 1000);
	assert_int_equal(state_of(p).outstanding, 0);
	assert_int_equal(state_of(p).given, 1);
	assert_int_equal(vtr_pool_next(p, &full), 1);
	assert_ptr_equal(full.data, b);
	assert_int_equal(full.valid_bytes, 1000);
	assert_int_equal(full.discard, 0);
	assert_int_equal(full.stale, 0);
	assert_true(full.taken_ns > 0);
	assert_in_range(full.given_ns, before_ns, vtr_clock_ns(CLOCK_MONOTONIC));
	vtr_pool_recycle(p, &full);
	assert_ptr_equal(vtr_pool_take(p, VTR_BUFFER_BYTES), b); /* the lowest free one again */
	for (i = 0; i < VTR_BUFFER_BYTES; i++)
		assert_int_equal(b[i], 0);
	vtr_pool_free(p);
}

static void full_buffers_come_in_order(void **unused)
{
	struct vtr_pool *p = ready_pool(8 * MIB);
	struct vtr_full full;
	void *b[6];
	size_t i;

	(void)unused;
	for (i = 0; i < 6; i++)
		b[i] = vtr_pool_take(p, VTR_BUFFER_BYTES);
	for (i = 0; i < 3; i++)
		vtr_pool_give(p, b[i], i);
	assert_int_equal(vtr_pool_next(p, &full), 1); /* takes over three, hands out one */
	assert_ptr_equal(full.data, b[0]);
	for (; i < 6; i++)
		vtr_pool_give(p, b[i], i);
	for (i = 1; i < 6; i++) {
		assert_int_equal(vtr_pool_next(p, &full), 1);
		assert_ptr_equal(full.data, b[i]);
		assert_int_equal(full.valid_bytes, i);
	}
	assert_int_equal(vtr_pool_next(p, &full), 0);
	vtr_pool_free(p);
}

static void an_empty_pool_starves(void **unused)
{
	struct vtr_pool *p = ready_pool(0); /* 4 at least */
	struct vtr_full full;
	void *b[4];
	size_t i;

	(void)unused;
	for (i = 0; i < 4; i++) {
		b[i] = vtr_pool_take(p, VTR_BUFFER_BYTES);
		assert_non_null(b[i]);
	}
	assert_null(vtr_pool_take(p, VTR_BUFFER_BYTES));
	assert_null(vtr_pool_take(p, VTR_BUFFER_BYTES));
	assert_int_equal(state_of(p).starved, 2);
	assert_int_equal(state_of(p).taken, 4);
	vtr_pool_give(p, b[2], 0);
	assert_null(vtr_pool_take(p, VTR_BUFFER_BYTES)); /* full is not free */
	assert_int_equal(vtr_pool_next(p, &full), 1);
	vtr_pool_recycle(p, &full);
	assert_ptr_equal(vtr_pool_take(p, VTR_BUFFER_BYTES), b[2]);
	vtr_pool_free(p);
}

static void the_writer_grows_the_pool_to_its_limit(void **unused)
{
	struct vtr_pool *p = ready_pool(100 * (uint64_t)MIB + 12345);
	unsigned taken = VTR_POOL_READY_BUFFERS, i;

	(void)unused;
	assert_int_equal(state_of(p).memory_bytes, VTR_POOL_READY_BUFFERS * (uint64_t)MIB);
	assert_int_equal(vtr_pool_grow(p), 0); /* enough are free */
	for (i = 0; i < VTR_POOL_READY_BUFFERS; i++)
		assert_non_null(vtr_pool_take(p, VTR_BUFFER_BYTES));
	while (vtr_pool_grow(p))
		while (vtr_pool_take(p, VTR_BUFFER_BYTES) && taken < 99)
			taken++;
	assert_int_equal(state_of(p).memory_bytes, 100 * (uint64_t)MIB);
	vtr_pool_free(p);
}

/* The writer gets no turn: what the limit allows is there all the same, zeroed. */
static void a_burst_takes_all_that_the_limit_allows(void **unused)
{
	struct vtr_pool *p = ready_pool(100 * (uint64_t)MIB + 12345);
	unsigned taken = 0;
	uint8_t *b;

	(void)unused;
	while ((b = vtr_pool_take(p, VTR_BUFFER_BYTES))) {
		assert_int_equal(b[0] | b[VTR_BUFFER_BYTES / 2] | b[VTR_BUFFER_BYTES - 1], 0);
		memset(b, 0xaa, VTR_BUFFER_BYTES);
		taken++;
	}
	assert_int_equal(taken, 100);
	assert_int_equal(state_of(p).starved, 1);
	assert_int_equal(state_of(p).memory_bytes, 100 * (uint64_t)MIB);
	vtr_pool_free(p);
}

static void foreign_buffers_are_counted(void **unused)
{
	struct vtr_pool *p = ready_pool(8 * MIB);
	struct vtr_full full;
	uint8_t *b = vtr_pool_take(p, VTR_BUFFER_BYTES), other[16];

	(void)unused;
	vtr_pool_give(p, other, 16);      /* not ours */
	vtr_pool_give(p, b + 8, 16);      /* inside of one */
	vtr_pool_give(p, b + MIB, 16);    /* ours, but not out */
	vtr_pool_give(p, b + 9 * MIB, 1); /* behind the last */
	vtr_pool_give(p, NULL, 16);
	assert_int_equal(state_of(p).foreign, 5);
	assert_int_equal(vtr_pool_next(p, &full), 0);
	vtr_pool_give(p, b, 2 * MIB); /* more than it holds */
	vtr_pool_give(p, b, 16);      /* twice */
	assert_int_equal(state_of(p).foreign, 6);
	assert_int_equal(vtr_pool_next(p, &full), 1);
	assert_int_equal(full.valid_bytes, MIB);
	vtr_pool_recycle(p, &full);
	vtr_pool_recycle(p, &full); /* twice changes nothing */
	assert_int_equal(vtr_pool_next(p, &full), 0);
	assert_ptr_equal(vtr_pool_take(p, VTR_BUFFER_BYTES), b);
	assert_ptr_not_equal(vtr_pool_take(p, VTR_BUFFER_BYTES), b);
	vtr_pool_free(p);
}

static void discard_buffers_are_distinct_and_few(void **unused)
{
	struct vtr_pool *p = ready_pool(4 * MIB);
	uint8_t *b[VTR_DISCARD_MAX];
	struct vtr_full full;
	size_t size, i, j;

	(void)unused;
	for (i = 0; i < VTR_DISCARD_MAX; i++) {
		b[i] = vtr_pool_take_discard(p, &size);
		assert_non_null(b[i]);
		assert_int_equal(size, VTR_DISCARD_BYTES);
		memset(b[i], (int)i, size);
		for (j = 0; j < i; j++)
			assert_ptr_not_equal(b[i], b[j]);
	}
	assert_null(vtr_pool_take_discard(p, &size));
	assert_int_equal(size, 0);
	vtr_pool_give(p, b[5], MIB);
	assert_int_equal(vtr_pool_next(p, &full), 1);
	assert_int_equal(full.discard, 1);
	assert_int_equal(full.valid_bytes, VTR_DISCARD_BYTES);
	vtr_pool_recycle(p, &full);
	assert_ptr_equal(vtr_pool_take_discard(p, &size), b[5]);
	for (i = 0; i < size; i++)
		assert_int_equal(b[5][i], 0);
	assert_int_equal(state_of(p).memory_bytes, 4 * MIB + VTR_DISCARD_MAX * VTR_DISCARD_BYTES);
	vtr_pool_free(p);
}

static void buffers_of_an_earlier_capture_are_stale(void **unused)
{
	struct vtr_pool *p = ready_pool(8 * MIB);
	void *read_late, *out, *mine;
	struct vtr_full full;

	(void)unused;
	vtr_pool_begin(p);
	read_late = vtr_pool_take(p, VTR_BUFFER_BYTES);
	out = vtr_pool_take(p, VTR_BUFFER_BYTES);
	vtr_pool_give(p, read_late, 8);
	vtr_pool_begin(p);
	assert_int_equal(state_of(p).outstanding, 0);
	assert_int_equal(state_of(p).given, 0);
	mine = vtr_pool_take(p, VTR_BUFFER_BYTES);
	assert_ptr_not_equal(mine, out); /* CUPTI still has that one */
	vtr_pool_give(p, out, 8);
	vtr_pool_give(p, mine, 8);
	assert_int_equal(state_of(p).given, 1);
	assert_int_equal(vtr_pool_next(p, &full), 1);
	assert_ptr_equal(full.data, read_late);
	assert_int_equal(full.stale, 1);
	vtr_pool_recycle(p, &full);
	assert_int_equal(vtr_pool_next(p, &full), 1);
	assert_int_equal(full.stale, 1);
	vtr_pool_recycle(p, &full);
	assert_int_equal(vtr_pool_next(p, &full), 1);
	assert_ptr_equal(full.data, mine);
	assert_int_equal(full.stale, 0);
	vtr_pool_free(p);
}

/* ---- threads ---- */

enum { THREADS = 8, TURNS = 2000, MARK = 64 };

struct crowd {
	struct vtr_pool *pool;
	_Atomic uint64_t given, missed, dirty;
	atomic_int running;
};

/* Stands for a thread inside of CUPTI: fills buffers and gives them back. */
static void *fill_buffers(void *arg)
{
	struct crowd *c = arg;
	unsigned i;

	for (i = 1; i <= TURNS; i++) {
		uint64_t *b = vtr_pool_take(c->pool, VTR_BUFFER_BYTES);
		size_t size = VTR_BUFFER_BYTES, word;

		if (!b)
			b = vtr_pool_take_discard(c->pool, &size);
		if (!b) {
			atomic_fetch_add(&c->missed, 1);
			sched_yield();
			continue;
		}
		for (word = 0; word < MARK; word++) {
			atomic_fetch_add(&c->dirty, b[word] != 0);
			b[word] = i;
		}
		vtr_pool_give(c->pool, b, i % size);
		atomic_fetch_add(&c->given, 1);
	}
	atomic_fetch_sub(&c->running, 1);
	vtr_pool_wake(c->pool);
	return NULL;
}

static void many_threads_lose_nothing(void **unused)
{
	struct crowd c = {.pool = ready_pool(6 * MIB), .running = THREADS};
	pthread_t threads[THREADS];
	uint64_t read = 0, mixed = 0;
	struct vtr_full full;
	size_t i, word;
	int last;

	(void)unused;
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fill_buffers, &c), 0);
	do {
		last = !atomic_load(&c.running);
		while (vtr_pool_next(c.pool, &full)) {
			const uint64_t *b = full.data;
			size_t size = full.discard ? VTR_DISCARD_BYTES : VTR_BUFFER_BYTES;

			for (word = 0; word < MARK; word++)
				mixed += b[word] != b[0];
			mixed += b[0] % size != full.valid_bytes;
			read++;
			vtr_pool_recycle(c.pool, &full);
		}
		if (!last)
			vtr_pool_wait(c.pool, 1000);
	} while (!last);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(mixed, 0);
	assert_int_equal(c.dirty, 0);
	assert_int_equal(read, c.given);
	assert_int_equal(c.given + c.missed, THREADS * TURNS);
	assert_int_equal(state_of(c.pool).outstanding, 0);
	assert_int_equal(state_of(c.pool).foreign, 0);
	vtr_pool_free(c.pool);
}

static void *wake_later(void *arg)
{
	struct timespec t = {0, 20000000};

	nanosleep(&t, NULL);
	vtr_pool_wake(arg);
	return NULL;
}

static void *give_later(void *arg)
{
	struct timespec t = {0, 20000000};
	void *b = vtr_pool_take(arg, VTR_BUFFER_BYTES);

	nanosleep(&t, NULL);
	vtr_pool_give(arg, b, 8);
	return NULL;
}

static void the_writer_wakes(void **unused)
{
	struct vtr_pool *p = ready_pool(4 * MIB);
	uint64_t before = now_ms();
	pthread_t thread;

	(void)unused;
	vtr_pool_wait(p, 30); /* nothing comes */
	assert_true(now_ms() - before >= 29);
	before = now_ms();
	vtr_pool_wake(p);
	vtr_pool_wait(p, 60000); /* a wake that came before is not lost */
	pthread_create(&thread, NULL, wake_later, p);
	vtr_pool_wait(p, 60000);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, give_later, p);
	vtr_pool_wait(p, 60000);
	vtr_pool_wait(p, 60000); /* the buffer is still there */
	pthread_join(thread, NULL);
	assert_true(now_ms() - before < 30000);
	vtr_pool_free(p);
}

/* A thread that fills buffers at `rate` bytes a second for 10 s, from *at_ns on: how long the last one took. */
static uint64_t fill_for(struct vtr_buffer_rate *r, uint64_t *at_ns, double rate)
{
	uint64_t end_ns = *at_ns + 10000000000, filled_ns = 0;
	size_t size;

	while (*at_ns < end_ns) {
		size = vtr_buffer_size(r, *at_ns, 1000000000);
		assert_in_range(size, VTR_BUFFER_LEAST_BYTES, VTR_BUFFER_BYTES);
		assert_int_equal(size % 4096, 0);
		filled_ns = (uint64_t)((double)size / rate * 1e9);
		*at_ns += filled_ns;
	}
	return filled_ns;
}

static void a_thread_fills_a_buffer_in_an_eighth_of_an_interval(void **state)
{
	static const double rates[] = {150e3, 300e3, 1e6, 7e6};
	struct vtr_buffer_rate r = {0};
	uint64_t at_ns = 1000000000000;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		assert_in_range(fill_for(&r, &at_ns, rates[i]), 85000000, 150000000);
	for (; i > 0; i--)
		assert_in_range(fill_for(&r, &at_ns, rates[i - 1]), 85000000, 150000000);
}

static void the_size_of_a_buffer_has_bounds(void **state)
{
	struct vtr_buffer_rate r = {0};
	uint64_t at_ns = 1000000000000;

	(void)state;
	assert_int_equal(vtr_buffer_size(&r, at_ns, 1000000000), VTR_BUFFER_LEAST_BYTES);
	fill_for(&r, &at_ns, 100e6);
	assert_int_equal(vtr_buffer_size(&r, at_ns, 1000000000), VTR_BUFFER_BYTES);
	at_ns += 2000000000; /* nothing for two intervals */
	assert_int_equal(vtr_buffer_size(&r, at_ns, 1000000000), VTR_BUFFER_LEAST_BYTES);
	assert_int_equal(vtr_buffer_size(&r, at_ns, 0), VTR_BUFFER_BYTES);
}

static void a_pool_is_crowded_when_a_quarter_of_it_is_out(void **state)
{
	struct vtr_pool *p = vtr_pool_new(UINT64_C(8) << 20);
	int i;

	(void)state;
	vtr_pool_ready(p);
	for (i = 0; i <= 2; i++) {
		assert_false(vtr_pool_is_crowded(p));
		assert_non_null(vtr_pool_take(p, VTR_BUFFER_BYTES));
	}
	assert_true(vtr_pool_is_crowded(p));
	vtr_pool_free(p);
}

/* A part of a buffer was handed out, and its giver claims more. */
static void a_part_of_a_buffer_is_zeroed_again(void **state)
{
	struct vtr_pool *p = vtr_pool_new(UINT64_C(8) << 20);
	struct vtr_full full;
	uint8_t *b;
	size_t i;

	(void)state;
	vtr_pool_ready(p);
	b = vtr_pool_take(p, VTR_BUFFER_LEAST_BYTES);
	memset(b, 0xff, VTR_BUFFER_LEAST_BYTES);
	assert_int_equal(vtr_pool_give(p, b, VTR_BUFFER_BYTES), 1);
	assert_int_equal(vtr_pool_next(p, &full), 1);
	assert_int_equal(full.valid_bytes, VTR_BUFFER_LEAST_BYTES);
	vtr_pool_recycle(p, &full);
	assert_ptr_equal(vtr_pool_take(p, VTR_BUFFER_BYTES), b);
	for (i = 0; i < VTR_BUFFER_BYTES; i++)
		assert_int_equal(b[i], 0);
	vtr_pool_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_buffer_goes_round),
		cmocka_unit_test(full_buffers_come_in_order),
		cmocka_unit_test(an_empty_pool_starves),
		cmocka_unit_test(the_writer_grows_the_pool_to_its_limit),
		cmocka_unit_test(a_burst_takes_all_that_the_limit_allows),
		cmocka_unit_test(foreign_buffers_are_counted),
		cmocka_unit_test(discard_buffers_are_distinct_and_few),
		cmocka_unit_test(buffers_of_an_earlier_capture_are_stale),
		cmocka_unit_test(many_threads_lose_nothing),
		cmocka_unit_test(the_writer_wakes),
		cmocka_unit_test(a_thread_fills_a_buffer_in_an_eighth_of_an_interval),
		cmocka_unit_test(the_size_of_a_buffer_has_bounds),
		cmocka_unit_test(a_part_of_a_buffer_is_zeroed_again),
		cmocka_unit_test(a_pool_is_crowded_when_a_quarter_of_it_is_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
