/* Ranks whose host's name alone says where they ran: clocks tell two machines by one name apart. */
#include "analysis/ranks/alignment/machines.h"
#include "analysis/ranks/alignment/matching.h"
#include "tests/support/ranks_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRIALS = 200, RANKS = 6, ROWS = 100 };

/* Six ranks on hosts of one name, whose second half has a clock of its own. */
static void make(struct rig_job *job, int64_t shift_ns, struct vpt_random *random)
{
	unsigned i, r, p;

	memset(job, 0, sizeof(*job));
	job->ranks = RANKS;
	job->rows = ROWS;
	job->groups = 1;
	job->members[0] = (1u << RANKS) - 1;
	job->skew_ns = 1 + vpt_random_below(random, 6000);
	job->has_names = 1;
	for (r = 0; r < RANKS; r++) {
		job->host[r] = "localhost";
		job->shift_ns[r] = r < RANKS / 2 ? 0 : shift_ns;
	}
	for (i = 0; i < ROWS; i++)
		for (r = 0; r < RANKS; r++)
			for (p = 0; p < RIG_PARTS; p++)
				job->row[i].part_ns[r][p] =
					10000 + vpt_random_below(random, 4000000);
	rig_run(job, random);
}

/* Half of its time: about 4 ms for each row. */
static int64_t random_shift(struct vpt_random *random)
{
	int64_t ns = 3000000 + (int64_t)vpt_random_below(random, (uint64_t)ROWS * 2000000);

	return vpt_random_below(random, 2) ? ns : -ns;
}

static size_t whole_rows(const struct vpa_rank_list *list)
{
	struct vpa_matching m;
	size_t g, row, k, rows = 0;

	assert_int_equal(vpa_match(list, &m), 0);
	for (g = 0; g < m.group_count; g++)
		for (row = 0; row < m.groups[g].row_count; row++) {
			for (k = 0; k < m.groups[g].rank_count; k++)
				if (vpa_group_cell(&m.groups[g], row, k) == VPA_NO_COLLECTIVE)
					break;
			rows += k == RANKS;
		}
	vpa_matching_free(&m);
	return rows;
}

static void two_machines_of_one_name_are_told_apart(void **state)
{
	struct rig_job *job = malloc(sizeof(*job));
	struct vpt_random random = {77};
	unsigned n, r;

	(void)state;
	for (n = 0; n < TRIALS; n++) {
		struct vpa_rank_list list = {.count = 0};

		make(job, random_shift(&random), &random);
		rig_ranks(job, &list);
		assert_int_equal(vpa_machines_tell(&list), 0);
		for (r = 0; r < RANKS; r++)
			assert_int_equal(list.items[r]->machine, r >= RANKS / 2);
		assert_int_equal(whole_rows(&list), ROWS);
		vpa_rank_list_free(&list);
	}
	free(job);
}

/* Also where a rank lacks a good part of them. */
static void one_machine_stays_one(void **state)
{
	struct rig_job *job = malloc(sizeof(*job));
	struct vpt_random random = {78};
	unsigned n, r, i;

	(void)state;
	for (n = 0; n < TRIALS; n++) {
		struct vpa_rank_list list = {.count = 0};
		unsigned cut = (unsigned)vpt_random_below(&random, ROWS - 10);

		make(job, 0, &random);
		for (i = 0; i < cut; i++)
			job->row[n % 2 ? i : ROWS - 1 - i].lacks = 1u << (n % RANKS);
		rig_ranks(job, &list);
		assert_int_equal(vpa_machines_tell(&list), 0);
		for (r = 0; r < RANKS; r++)
			assert_int_equal(list.items[r]->machine, 0);
		vpa_rank_list_free(&list);
	}
	free(job);
}

/* Nothing tells, so nothing is claimed. */
static void what_cannot_be_told_stays_one_machine(void **state)
{
	struct rig_job *job = malloc(sizeof(*job));
	struct vpt_random random = {79};
	struct vpa_rank_list list = {.count = 0}, nameless = {.count = 0};
	unsigned r;

	(void)state;
	make(job, 1000000000000, &random); /* recorded at other times, it seems */
	rig_ranks(job, &list);
	assert_int_equal(vpa_machines_tell(&list), 0);
	make(job, 100000000, &random);
	job->has_names = 0;
	rig_ranks(job, &nameless);
	assert_int_equal(vpa_machines_tell(&nameless), 0);
	for (r = 0; r < RANKS; r++) {
		assert_int_equal(list.items[r]->machine, 0);
		assert_int_equal(nameless.items[r]->machine, 0);
	}
	vpa_rank_list_free(&list);
	vpa_rank_list_free(&nameless);
	free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_machines_of_one_name_are_told_apart),
		cmocka_unit_test(one_machine_stays_one),
		cmocka_unit_test(what_cannot_be_told_stays_one_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
