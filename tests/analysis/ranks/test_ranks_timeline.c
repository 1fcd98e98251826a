/* A rank's time, cut at marks, beside a model that looks at each nanosecond. */
#include "analysis/ranks/rank/rank_parts.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LENGTH = 200, PARTS = 9, UNKNOWN = 8, MARKS = 12 };

struct model {
	int level[LENGTH], part[LENGTH];
};

/* Each class has two parts; what began first has the time. */
static void put(struct vpa_rank_timeline *t, struct model *m, int klass, uint64_t from, uint64_t to,
	uint32_t part)
{
	uint64_t i;

	assert_int_equal(vpa_rank_timeline_put(t, (enum vpa_part_class)klass, from, to, part), 0);
	for (i = from; i < to; i++)
		if (m->level[i] > klass) {
			m->level[i] = klass;
			m->part[i] = (int)part;
		}
}

static void fill(struct vpa_rank_timeline *t, struct model *m, struct vpt_random *random)
{
	int klass;
	uint64_t i;

	for (i = 0; i < LENGTH; i++) {
		m->level[i] = VPA_TIME_CLASSES;
		m->part[i] = UNKNOWN;
	}
	for (klass = 0; klass < VPA_TIME_CLASSES; klass++) {
		uint64_t from = 0, until = 0;

		while ((from += vpt_random_below(random, 12)) < LENGTH) {
			uint64_t to = from + 1 + vpt_random_below(random, 20);

			to = to > LENGTH ? LENGTH : to;
			/* Gaps do not overlap. */
			if (klass != VPA_TIME_IDLE || from >= until)
				put(t, m, klass, from, to,
					2 * (uint32_t)klass +
						(uint32_t)vpt_random_below(random, 2));
			until = to > until ? to : until;
		}
	}
}

static int by_time(const void *a, const void *b)
{
	const struct vpa_rank_mark *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void check(const struct vpa_rank *rank, const struct model *m)
{
	uint64_t sums[PARTS] = {0}, at = 0, classes[VPA_TIME_CLASSES] = {0};
	size_t i, k, part = 0;

	for (i = 0; i < rank->detail.mark_count; i++) {
		uint64_t found[PARTS] = {0}, want[PARTS] = {0};

		for (; at < rank->detail.marks[i].time_ns; at++)
			want[m->part[at]]++;
		for (; part < rank->detail.marks[i].part_end; part++)
			found[rank->detail.parts[part].name] += rank->detail.parts[part].ns;
		assert_memory_equal(found, want, sizeof(found));
	}
	for (i = 0; i < LENGTH; i++) {
		sums[m->part[i]]++;
		classes[m->level[i] < VPA_TIME_CLASSES ? m->level[i] : VPA_TIME_IDLE]++;
	}
	for (k = 0; k < PARTS; k++)
		assert_int_equal(rank->part_ns[k], sums[k]);
	for (k = 0; k < VPA_TIME_CLASSES; k++)
		assert_int_equal(rank->class_ns[k], classes[k]);
}

static void time_between_marks_is_that_of_the_model(void **state)
{
	struct vpt_random random = {5};
	unsigned n, i;

	(void)state;
	for (n = 0; n < 1000; n++) {
		struct vpa_rank_timeline t = {{{NULL, 0, 0}}};
		struct vpa_rank rank = {.part_name_count = PARTS, .detail = {.mark_count = MARKS}};
		struct model m;

		rank.part_ns = vpt_calloc(PARTS, sizeof(*rank.part_ns));
		rank.detail.marks = vpt_calloc(MARKS, sizeof(*rank.detail.marks));
		fill(&t, &m, &random);
		for (i = 0; i < MARKS; i++)
			rank.detail.marks[i].time_ns = vpt_random_below(&random, LENGTH);
		qsort(rank.detail.marks, MARKS, sizeof(*rank.detail.marks), by_time);
		assert_int_equal(vpa_rank_timeline_cut(&t, 0, LENGTH, UNKNOWN, &rank), 0);
		check(&rank, &m);
		vpa_rank_timeline_free(&t);
		vpa_rank_free(&rank);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_between_marks_is_that_of_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
