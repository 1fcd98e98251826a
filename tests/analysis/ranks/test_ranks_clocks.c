/* Clocks of several machines: where they are laid is known to as much as is said. */
#include "analysis/ranks/alignment/rank_clocks.h"
#include "formats/base/error.h"
#include "tests/support/ranks_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRIALS = 1000, RANKS = 4 };

static int64_t within(struct vpt_random *random, int64_t most)
{
	return (int64_t)vpt_random_below(random, 2 * (uint64_t)most + 1) - most;
}

/* Two machines of two ranks each. */
static void make(struct rig_job *job, struct vpt_random *random)
{
	int64_t shift = within(random, 500000000), ppb = within(random, 50000);
	unsigned i, r, p;

	memset(job, 0, sizeof(*job));
	job->ranks = RANKS;
	job->rows = 4 + (unsigned)vpt_random_below(random, 100);
	job->groups = 1;
	job->members[0] = (1u << RANKS) - 1;
	job->skew_ns = 1 + vpt_random_below(random, 6000);
	job->has_names = 1;
	for (r = 0; r < RANKS; r++) {
		job->host[r] = r < 2 ? "a" : "b";
		job->shift_ns[r] = r < 2 ? 0 : shift;
		job->ppb[r] = r < 2 ? 0 : ppb;
		job->bias_ns[r] = vpt_random_below(random, 3000);
	}
	for (i = 0; i < job->rows; i++)
		for (r = 0; r < RANKS; r++)
			for (p = 0; p < RIG_PARTS; p++)
				job->row[i].part_ns[r][p] =
					10000 + vpt_random_below(random, 4000000);
	rig_run(job, random);
}

/* How far a moment is from where it is on the first clock, beyond what is said. */
static int is_within(const struct rig_job *job, const struct vpa_clocks *c, uint64_t t_ns)
{
	int64_t error = vpa_clock_time(&c->items[1], rig_clock(job, 2, t_ns)) -
			vpa_clock_time(&c->items[0], t_ns);

	return (uint64_t)(error < 0 ? -error : error) <= c->items[1].uncertainty_ns;
}

static void offsets_are_within_the_uncertainty_that_is_printed(void **state)
{
	struct vpt_random random = {1000};
	struct rig_job *job = malloc(sizeof(*job));
	uint64_t largest_ns = 0;
	unsigned n;

	(void)state;
	for (n = 0; n < TRIALS; n++) {
		struct vpa_rank_list list = {.count = 0};
		struct vpa_matching m;
		struct vpa_clocks c;
		const struct rig_row *last;

		make(job, &random);
		last = &job->row[job->rows - 1];
		rig_ranks(job, &list);
		assert_int_equal(vpa_match(&list, &m), 0);
		assert_int_equal(m.groups[0].row_count, job->rows);
		assert_int_equal(vpa_clocks_find(&list, &m, &c), 0);
		assert_int_equal(c.count, 2);
		assert_true(c.items[1].is_placed);
		assert_true(is_within(job, &c, job->row[0].start_ns[2]));
		assert_true(is_within(job, &c, job->row[job->rows / 2].start_ns[2]));
		assert_true(is_within(job, &c, last->end_ns[2]));
		/* Ends that agree better do so by chance; what causality leaves, where no drift is found, is no chance. */
		assert_true(!c.items[1].ppb || c.items[1].uncertainty_ns >= 10000);
		if (c.items[1].uncertainty_ns > largest_ns)
			largest_ns = c.items[1].uncertainty_ns;
		vpa_clocks_free(&c);
		vpa_matching_free(&m);
		vpa_rank_list_free(&list);
	}
	/* What is said is worth saying: a transfer takes 50 us. */
	assert_true(largest_ns < 100000);
	free(job);
}

static void one_machine_has_one_clock_that_is_only_checked(void **state)
{
	struct vpt_random random = {2};
	struct rig_job *job = malloc(sizeof(*job));
	struct vpa_rank_list list = {.count = 0};
	struct vpa_matching m;
	struct vpa_clocks c;
	unsigned r;

	(void)state;
	make(job, &random);
	for (r = 0; r < RANKS; r++) {
		job->host[r] = "a";
		job->shift_ns[r] = job->ppb[r] = 0;
		job->bias_ns[r] = r == 3 ? 5000 : 0;
	}
	job->skew_ns = 0;
	rig_run(job, &random);
	rig_ranks(job, &list);
	assert_int_equal(vpa_match(&list, &m), 0);
	assert_int_equal(vpa_clocks_find(&list, &m, &c), 0);
	assert_int_equal(c.count, 1);
	assert_int_equal(c.items[0].uncertainty_ns, 0);
	assert_int_equal(c.bias_ns, 5000);
	vpa_clocks_free(&c);
	vpa_matching_free(&m);
	vpa_rank_list_free(&list);
	free(job);
}

/* A line through points, a fifth of which are wrong by a lot. */
static void a_fit_ignores_a_fifth_of_wrong_ends(void **state)
{
	struct vpa_clock_end ends[40];
	int64_t slopes[40 * 40];
	struct vpa_clock_fit fit;
	int i;

	(void)state;
	for (i = 0; i < 40; i++) {
		ends[i].at_ns = (int64_t)i * 100000000;
		ends[i].later_ns = 7000 + 3 * (int64_t)i * 1000 + (i % 5 ? 0 : 40000000);
	}
	fit = vpa_clock_fit(ends, 40, slopes);
	assert_int_equal(fit.ppb, 30000);
	assert_int_equal(fit.later_ns, 7000);
	assert_true(fit.deviation_ns >= 40000000);
	/* A single one says where, not how fast. */
	fit = vpa_clock_fit(&ends[1], 1, slopes);
	assert_int_equal(fit.ppb, 0);
	assert_int_equal(fit.later_ns, 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_within_the_uncertainty_that_is_printed),
		cmocka_unit_test(one_machine_has_one_clock_that_is_only_checked),
		cmocka_unit_test(a_fit_ignores_a_fifth_of_wrong_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
