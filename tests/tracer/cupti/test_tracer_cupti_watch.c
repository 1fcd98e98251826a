/* test_tracer_cupti_watch.c - what a look at CUPTI concludes, with a CUPTI of a few lines: one call that asks for a buffer, and
 * flushes that give it back unless something holds it. */
#include "tracer/cupti/cupti_watch.h"
#include "tracer/guest/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LATE_US = 550000 }; /* longer than a busy machine delays a buffer */
enum { BUFFERS = 8 };

static struct vtr_library library;
static struct vtr_sizes sizes;
static struct vtr_kinds kinds;
static struct vtr_watch watch;
static struct vtr_pool *pool;
static uint8_t *current; /* the buffer that CUPTI has */
static int held;         /* CUPTI does not give it back */
static int theirs;       /* another client has the callbacks */

static int asked(int *version)
{
	*version = 13000;
	if (current || theirs)
		return 0;
	current = vtr_pool_take(pool, VTR_BUFFER_BYTES);
	vtr_watch_requested(&watch, current);
	return 0;
}

static void flush(void)
{
	if (!current || held)
		return;
	vtr_watch_completed(&watch, current, 0);
	assert_int_equal(vtr_pool_give(pool, current, 0), 1);
	current = NULL;
}

static int take_back(void)
{
	theirs = 0;
	return 0;
}

static int begin(void **unused)
{
	(void)unused;
	kinds = (struct vtr_kinds){.library = &library, .sizes = &sizes};
	watch = (struct vtr_watch){
		.kinds = &kinds, .pool = pool, .flush = flush, .take_back = take_back};
	held = theirs = 0;
	vtr_pool_begin(pool);
	vtr_watch_begin(&watch);
	vtr_watch_begun(&watch);
	watch.asked = asked;
	watch.works = watch.by_thread = 1;
	return 0;
}

static int end(void **unused)
{
	struct vtr_full full;

	(void)unused;
	held = 0;
	flush();
	while (vtr_pool_next(pool, &full))
		vtr_pool_recycle(pool, &full);
	return 0;
}

static struct vtr_watch_news look(void)
{
	struct vtr_watch_news news;

	vtr_watch_look(&watch, &news);
	return news;
}

static void expect_nothing_new(void)
{
	struct vtr_watch_news news = look(), none;

	memset(&none, 0, sizeof(none));
	assert_memory_equal(&news, &none, sizeof(news));
}

static void expect_no_loss_at_the_end(void)
{
	struct vtr_watch_news news;

	flush();
	assert_int_equal(vtr_watch_end(&watch, UINT64_MAX, &news), 0);
	assert_int_equal(news.lost_to_ns, 0);
}

/* CUPTI no longer gives the buffer back: one look does not prove that another client has it. */
static void hold_back(void)
{
	held = 1;
	expect_nothing_new();
	usleep(LATE_US);
	assert_int_equal(look().begun, 1);
}

static void a_capture_of_our_own_has_no_news(void **unused)
{
	int i;

	(void)unused;
	for (i = 0; i < 3; i++)
		expect_nothing_new();
	expect_no_loss_at_the_end();
}

/* As on a busy machine. */
static void a_buffer_that_is_late_once_is_no_news(void **unused)
{
	(void)unused;
	expect_nothing_new();
	expect_nothing_new();
	held = 1;
	expect_nothing_new();
	held = 0;
	expect_nothing_new();
	expect_no_loss_at_the_end();
}

static void a_buffer_that_is_only_late_is_no_other_client(void **unused)
{
	struct vtr_watch_news news;

	(void)unused;
	expect_nothing_new();
	expect_nothing_new();
	hold_back();
	held = 0;
	news = look();
	assert_int_equal(news.over, 1);
	assert_int_equal(news.taken_back, 0);
	assert_int_equal(news.lost_to_ns, 0);
	expect_no_loss_at_the_end();
}

/* A thread has ended and left its buffer, which a running kernel holds back, to the one that looks. */
static void an_inherited_buffer_is_no_other_client(void **unused)
{
	int i;

	(void)unused;
	current = vtr_pool_take(pool, VTR_BUFFER_BYTES);
	held = 1;
	for (i = 0; i < 3; i++) {
		expect_nothing_new();
		usleep(LATE_US);
	}
	assert_int_equal(vtr_watch_is_taken(&watch, 0), 0);
	held = 0;
	expect_nothing_new();
	expect_no_loss_at_the_end();
}

/* How long it is worth waiting for. */
static void a_buffer_is_given_up_as_late_as_another_client_is_reported(void **unused)
{
	(void)unused;
	expect_nothing_new();
	assert_int_equal(vtr_watch_is_taken(&watch, 1), 0);
	held = 1;
	expect_nothing_new();
	assert_int_equal(vtr_watch_is_taken(&watch, 1), 0);
	usleep(LATE_US);
	assert_int_equal(vtr_watch_is_taken(&watch, 1), 1);
	held = 0;
	flush();
	assert_int_equal(vtr_watch_is_taken(&watch, 1), 0);
}

/* The capture ends before a second look. */
static void a_buffer_that_never_came_back_is_lost(void **unused)
{
	struct vtr_watch_news news;

	(void)unused;
	expect_nothing_new();
	expect_nothing_new();
	held = 1;
	expect_nothing_new();
	assert_int_equal(vtr_watch_end(&watch, UINT64_MAX, &news), 1);
	assert_true(news.lost_from_ns <= watch.good_ns);
	assert_int_equal(news.lost_to_ns, UINT64_MAX);
}

static void another_client_is_remembered_to_the_end(void **unused)
{
	struct vtr_watch_news news;

	(void)unused;
	expect_nothing_new();
	flush();
	theirs = 1;
	news = look();
	assert_int_equal(news.begun, 1);
	assert_int_equal(vtr_watch_end(&watch, UINT64_MAX, &news), 1);
	assert_true(news.lost_from_ns > 0);
	assert_int_equal(news.lost_to_ns, UINT64_MAX);
}

/* No look ever found a sign, since another client's buffer was in use. That one of ours came back once proves nothing. */
static void a_foreign_buffer_outweighs_one_of_ours(void **unused)
{
	struct vtr_watch_news news;

	(void)unused;
	watch.works = watch.by_thread = 0;
	theirs = 1;
	expect_nothing_new();
	theirs = 0;
	asked(&(int){0});
	flush();
	assert_int_equal(vtr_watch_end(&watch, UINT64_MAX, &news), 0);
	atomic_store(&watch.foreign, 1);
	assert_int_equal(vtr_watch_end(&watch, UINT64_MAX, &news), 1);
	assert_true(news.lost_from_ns == watch.good_ns);
}

static int unasked(int *count)
{
	*count = 1;
	return 0;
}

/* Calls were switched off and on before the second look; the record that proves it goes to the other client with the buffer. */
static void what_a_lost_buffer_would_have_proven_is_lost(void **unused)
{
	struct vtr_watch_news news;
	uint64_t sealed_ns;

	(void)unused;
	watch.unasked = unasked;
	expect_nothing_new();
	sealed_ns = watch.sealed_ns;
	expect_nothing_new();
	assert_true(watch.sealed_ns > sealed_ns && watch.sealed_ns < watch.good_ns);
	hold_back();
	assert_int_equal(vtr_watch_end(&watch, UINT64_MAX, &news), 1);
	assert_true(news.lost_from_ns <= watch.sealed_ns);
}

/* The same, but the buffer has come back with the record, in a flush of the other client's, before that took the callbacks. */
static void what_a_buffer_has_proven_is_lost_too(void **unused)
{
	struct vtr_watch_news news;

	(void)unused;
	watch.unasked = unasked;
	expect_nothing_new();
	expect_nothing_new();
	atomic_fetch_add(&watch.broken, 1);
	flush();
	theirs = 1;
	assert_int_equal(look().begun, 1);
	assert_int_equal(vtr_watch_end(&watch, UINT64_MAX, &news), 1);
	assert_true(news.lost_from_ns <= watch.sealed_ns);
}

/* The writer is held up, so none comes back: looks would use up the memory, and what CUPTI then cannot record is no loss of the
 * host's. */
static void a_look_leaves_the_last_buffers_to_the_host(void **unused)
{
	struct vtr_pool_state state;
	void *taken[BUFFERS];
	int i;

	(void)unused;
	for (i = 0; i < BUFFERS - 1; i++)
		taken[i] = vtr_pool_take(pool, VTR_BUFFER_BYTES);
	expect_nothing_new();
	assert_non_null(current);
	expect_nothing_new(); /* its buffer waits to be read */
	assert_null(current);
	vtr_pool_state(pool, &state);
	assert_int_equal(state.taken, BUFFERS);
	assert_int_equal(state.starved, 0);
	for (i = 0; i < BUFFERS - 1; i++)
		vtr_pool_give(pool, taken[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_capture_of_our_own_has_no_news, begin, end),
		cmocka_unit_test_setup_teardown(a_buffer_that_is_late_once_is_no_news, begin, end),
		cmocka_unit_test_setup_teardown(
			a_buffer_that_is_only_late_is_no_other_client, begin, end),
		cmocka_unit_test_setup_teardown(an_inherited_buffer_is_no_other_client, begin, end),
		cmocka_unit_test_setup_teardown(
			a_buffer_is_given_up_as_late_as_another_client_is_reported, begin, end),
		cmocka_unit_test_setup_teardown(a_buffer_that_never_came_back_is_lost, begin, end),
		cmocka_unit_test_setup_teardown(
			another_client_is_remembered_to_the_end, begin, end),
		cmocka_unit_test_setup_teardown(a_foreign_buffer_outweighs_one_of_ours, begin, end),
		cmocka_unit_test_setup_teardown(
			what_a_lost_buffer_would_have_proven_is_lost, begin, end),
		cmocka_unit_test_setup_teardown(what_a_buffer_has_proven_is_lost_too, begin, end),
		cmocka_unit_test_setup_teardown(
			a_look_leaves_the_last_buffers_to_the_host, begin, end),
	};
	int failed;

	pool = vtr_pool_new(BUFFERS * VTR_BUFFER_BYTES);
	vtr_pool_ready(pool);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	vtr_pool_free(pool);
	return failed;
}
