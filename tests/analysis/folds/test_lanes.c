/* test_lanes.c - each fold gets every batch, in order, one at a time, whoever feeds it, and the notes made for it. */
#include "analysis/folds/lanes.h"
#include "formats/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { FOLDS = 5, NOTED = 3, BATCHES = 500, FAILS_AT = 77 };

/* What a lane was fed. */
struct fed {
	uint64_t ops, ranges; /* the next batch, the next range */
	int is_fed;           /* by two threads at once, were it set twice */
};

struct folds {
	struct fed fed[FOLDS];
	struct vpa_batch_notes
		notes; /* of fold NOTED: a batch has its number, split at a place that differs */
	int failing;   /* a lane that fails at FAILS_AT; -1: none */
	int wrong;
};

static void make_note(struct folds *f, uint64_t number)
{
	struct vpa_batch_note *notes = vpa_batch_notes_make(&f->notes);

	notes[0] = (struct vpa_batch_note){(uint32_t)(number % VPA_OPS_MAX), (uint32_t)number};
	notes[1] = (struct vpa_batch_note){VPA_OPS_MAX, ~(uint32_t)number};
}

static int has_note(struct folds *f, uint64_t number)
{
	const struct vpa_batch_note *notes = vpa_batch_notes_take(&f->notes);

	return notes[0].end == number % VPA_OPS_MAX && notes[0].value == (uint32_t)number &&
	       notes[1].end == VPA_OPS_MAX && notes[1].value == ~(uint32_t)number;
}

/* Every thread may count here, so a wrong order is noted, and looked at by the test. */
static int feed(void *ctx, int fold, const struct vpa_lane_batch *batch)
{
	struct folds *f = ctx;
	struct fed *fed = &f->fed[fold];
	size_t i;

	if (__atomic_exchange_n(&fed->is_fed, 1, __ATOMIC_SEQ_CST))
		__atomic_store_n(&f->wrong, 1, __ATOMIC_RELAXED);
	for (i = 0; i < batch->range_count; i++)
		if (batch->ranges[i].start_ns != fed->ranges++)
			__atomic_store_n(&f->wrong, 1, __ATOMIC_RELAXED);
	if (!batch->range_count && fold == NOTED && !has_note(f, fed->ops))
		__atomic_store_n(&f->wrong, 1, __ATOMIC_RELAXED);
	if (!batch->range_count && batch->ops.start_ns[0] != fed->ops++)
		__atomic_store_n(&f->wrong, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&fed->is_fed, 0, __ATOMIC_SEQ_CST);
	return fold == f->failing && fed->ops == FAILS_AT ? VPT_ENOMEM : VPT_OK;
}

static void begin(
	struct vpa_lanes *l, struct folds *f, unsigned threads, struct vpa_crew **crew, int failing)
{
	int i;

	memset(f, 0, sizeof(*f));
	*l = (struct vpa_lanes){.feed = feed, .ctx = f};
	f->failing = failing;
	for (i = 0; i < FOLDS; i++)
		vpa_lanes_add(l, i);
	*crew = vpa_crew_start(threads);
	assert_non_null(*crew);
	vpa_lanes_share(l, *crew);
}

static int end(struct vpa_lanes *l, struct vpa_crew *crew)
{
	int rc = vpa_lanes_unshare(l);

	vpa_crew_stop(crew);
	return rc;
}

static int put(struct vpa_lanes *l, uint64_t number)
{
	/* The batch may change as soon as it is put. */
	static struct vpa_ops ops;

	ops.count = 1;
	ops.start_ns[0] = number;
	make_note(l->ctx, number);
	return vpa_lanes_put(l, &ops);
}

static void every_fold_gets_all_batches_in_order(void **state)
{
	struct folds f;
	struct vpa_lanes l;
	struct vpa_crew *crew;
	unsigned threads;
	uint64_t n, range;
	int i;

	(void)state;
	for (threads = 1; threads <= 6; threads++) {
		begin(&l, &f, threads, &crew, -1);
		for (n = range = 0; n < BATCHES; n++) {
			assert_int_equal(put(&l, n), 0);
			/* None, some, and more than a batch holds. */
			for (i = 0; n % 10 == 3 && i < (int)n; i++) {
				const struct vpa_range copied = {.start_ns = range++};

				assert_int_equal(vpa_lanes_put_range(&l, &copied), 0);
			}
			if (n % 50 == 7) {
				assert_int_equal(vpa_lanes_catch_up(&l, 2), 0);
				assert_int_equal(f.fed[2].ops, n + 1);
				assert_int_equal(f.fed[2].ranges, range);
			}
			if (n % 100 != 99)
				continue;
			assert_int_equal(vpa_lanes_settle(&l), 0);
			for (i = 0; i < FOLDS; i++) {
				assert_int_equal(f.fed[i].ops, n + 1);
				assert_int_equal(f.fed[i].ranges, range);
			}
		}
		assert_int_equal(end(&l, crew), 0);
		assert_false(f.wrong);
		assert_true(range > 1000);
	}
}

/* What a lane waits for when the crew leaves is not lost. */
static void what_is_under_way_arrives_before_the_crew_leaves(void **state)
{
	const struct vpa_range copied = {.start_ns = 0};
	struct folds f;
	struct vpa_lanes l;
	struct vpa_crew *crew;

	(void)state;
	begin(&l, &f, 2, &crew, -1);
	assert_int_equal(put(&l, 0), 0);
	assert_int_equal(vpa_lanes_put_range(&l, &copied), 0);
	assert_int_equal(end(&l, crew), 0);
	assert_int_equal(f.fed[FOLDS - 1].ops, 1);
	assert_int_equal(f.fed[FOLDS - 1].ranges, 1);
	assert_false(f.wrong);
}

static void a_fold_that_fails_ends_the_pass(void **state)
{
	struct folds f;
	struct vpa_lanes l;
	struct vpa_crew *crew;
	uint64_t n = 0;
	int rc = 0;

	(void)state;
	begin(&l, &f, 2, &crew, 1);
	while (!rc && n < BATCHES)
		rc = put(&l, n++);
	assert_int_equal(rc, VPT_ENOMEM);
	assert_true(n >= FAILS_AT);
	assert_int_equal(vpa_lanes_settle(&l), VPT_ENOMEM);
	assert_int_equal(end(&l, crew), VPT_ENOMEM);
}

static void without_a_crew_nobody_keeps_a_batch(void **state)
{
	struct vpa_lanes l = {.feed = feed};

	(void)state;
	vpa_lanes_add(&l, 0);
	vpa_lanes_share(&l, NULL);
	assert_null(l.crew);
	assert_int_equal(vpa_lanes_settle(&l), 0);
	assert_int_equal(vpa_lanes_unshare(&l), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fold_gets_all_batches_in_order),
		cmocka_unit_test(what_is_under_way_arrives_before_the_crew_leaves),
		cmocka_unit_test(a_fold_that_fails_ends_the_pass),
		cmocka_unit_test(without_a_crew_nobody_keeps_a_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
