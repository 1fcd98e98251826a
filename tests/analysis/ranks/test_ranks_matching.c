/* Captures that begin late and lack collectives, on clocks that say nothing: each collective finds its partner. */
#include "analysis/ranks/alignment/matching.h"
#include "formats/base/error.h"
#include "tests/support/ranks_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SHIFT_MOST = 500000000 };

static int64_t within(struct vpt_random *random, int64_t most)
{
	return (int64_t)vpt_random_below(random, 2 * (uint64_t)most + 1) - most;
}

static void begin(struct rig_job *job, unsigned ranks, unsigned rows, struct vpt_random *random)
{
	static const char *const hosts[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	unsigned i, r, p;

	memset(job, 0, sizeof(*job));
	job->ranks = ranks;
	job->rows = rows;
	job->groups = 1;
	job->members[0] = (1u << ranks) - 1;
	job->skew_ns = 5000;
	for (r = 0; r < ranks; r++) {
		job->host[r] = hosts[r];
		job->shift_ns[r] = r ? within(random, SHIFT_MOST) : 0;
		job->ppb[r] = r ? within(random, 50000) : 0;
	}
	for (i = 0; i < rows; i++)
		for (r = 0; r < ranks; r++)
			for (p = 0; p < RIG_PARTS; p++)
				job->row[i].part_ns[r][p] =
					50000 + vpt_random_below(random, 300000);
}

/* Which row a cell is. */
static unsigned row_of(const struct rig_job *job, const struct vpa_rank_list *list,
	const struct vpa_group *g, size_t row, size_t k)
{
	uint32_t cell = vpa_group_cell(g, row, k);
	unsigned i, rank = g->ranks[k];

	for (i = 0; i < job->rows; i++)
		if (job->row[i].group < job->groups &&
			rig_clock(job, rank, job->row[i].start_ns[rank]) ==
				vpa_rank_start_ns(list->items[rank], cell))
			return i;
	fail_msg("no such collective");
	return 0;
}

/* All cells of a row are one collective; returns how many rows there are. */
static size_t check_rows(
	const struct rig_job *job, const struct vpa_rank_list *list, const struct vpa_matching *m)
{
	size_t g, row, k, rows = 0;

	for (g = 0; g < m->group_count; g++)
		for (row = 0; row < m->groups[g].row_count; row++, rows++) {
			unsigned first = job->rows;

			for (k = 0; k < m->groups[g].rank_count; k++) {
				if (vpa_group_cell(&m->groups[g], row, k) == VPA_NO_COLLECTIVE)
					continue;
				if (first == job->rows)
					first = row_of(job, list, &m->groups[g], row, k);
				assert_int_equal(row_of(job, list, &m->groups[g], row, k), first);
			}
		}
	return rows;
}

static void lags_of_200_jobs_are_found(void **state)
{
	struct vpt_random random = {24};
	struct rig_job *job = malloc(sizeof(*job));
	unsigned n, i;

	(void)state;
	for (n = 0; n < 200; n++) {
		struct vpa_rank_list list = {.count = 0};
		unsigned late = (unsigned)vpt_random_below(&random, 2);
		unsigned missing = (unsigned)vpt_random_below(&random, 25);
		struct vpa_matching m;

		begin(job, 2, 60 + (unsigned)vpt_random_below(&random, 100), &random);
		for (i = 0; i < missing; i++)
			job->row[i].lacks = 1u << late;
		rig_run(job, &random);
		rig_ranks(job, &list);
		assert_int_equal(vpa_match(&list, &m), 0);
		assert_int_equal(m.group_count, 1);
		assert_int_equal(check_rows(job, &list, &m), job->rows - missing);
		assert_int_equal(m.unmatched[late], 0);
		assert_int_equal(m.unmatched[!late], missing);
		vpa_matching_free(&m);
		vpa_rank_list_free(&list);
	}
	free(job);
}

static void collectives_that_any_rank_lacks_are_matched_among_the_others(void **state)
{
	struct vpt_random random = {4};
	struct rig_job *job = malloc(sizeof(*job));
	unsigned n, i, r;

	(void)state;
	for (n = 0; n < 100; n++) {
		struct vpa_rank_list list = {.count = 0};
		struct vpa_matching m;

		begin(job, 4, 100, &random);
		for (i = r = 0; i < 90; i += 5 + (unsigned)vpt_random_below(&random, 9))
			job->row[i].lacks = 1u << r++ % 4;
		rig_run(job, &random);
		rig_ranks(job, &list);
		assert_int_equal(vpa_match(&list, &m), 0);
		assert_int_equal(check_rows(job, &list, &m), 100);
		for (r = 0; r < 4; r++)
			assert_int_equal(m.unmatched[r], 0);
		vpa_matching_free(&m);
		vpa_rank_list_free(&list);
	}
	free(job);
}

static void streams_without_names_become_the_groups_that_they_are(void **state)
{
	struct vpt_random random = {8};
	struct rig_job *job = malloc(sizeof(*job));
	struct vpa_rank_list list = {.count = 0};
	struct vpa_matching m;
	unsigned i;

	(void)state;
	begin(job, 8, 150, &random);
	job->groups = 3;
	job->members[1] = 0x0f;
	job->members[2] = 0xf0;
	for (i = 0; i < job->rows; i++)
		job->row[i].group = i % 3;
	rig_run(job, &random);
	rig_ranks(job, &list);
	/* Both halves have their group on the second stream. */
	for (i = 0; i < 8; i++)
		list.items[i]->keys[2].lane = 1;
	assert_int_equal(vpa_match(&list, &m), 0);
	assert_true(m.is_by_stream);
	assert_int_equal(m.group_count, 3);
	assert_int_equal(m.groups[0].rank_count, 8);
	assert_int_equal(m.groups[1].rank_count, 4);
	assert_int_equal(m.groups[2].rank_count, 4);
	assert_int_equal(m.groups[1].ranks[0], 0);
	assert_int_equal(m.groups[2].ranks[0], 4);
	assert_int_equal(check_rows(job, &list, &m), 150);
	vpa_matching_free(&m);
	vpa_rank_list_free(&list);
	free(job);
}

static void names_say_what_a_collective_does(void **state)
{
	static const struct {
		const char *name;
		enum vpa_collective_kind kind;
	} cases[] = {
		{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
			VPA_COLLECTIVE_ALL_REDUCE},
		{"ncclKernel_ReduceScatter_RING_LL_Sum_float", VPA_COLLECTIVE_REDUCE_SCATTER},
		{"ncclDevKernel_Reduce_Sum_f32", VPA_COLLECTIVE_REDUCE},
		{"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)", VPA_COLLECTIVE_SEND_RECV},
		{"_allgather_base", VPA_COLLECTIVE_ALL_GATHER},
		{"all_to_allv", VPA_COLLECTIVE_ALL_TO_ALL},
		{"vllm::cross_device_reduce_1stage", VPA_COLLECTIVE_ALL_REDUCE},
		{"barrier", VPA_COLLECTIVE_BARRIER},
		{"", VPA_COLLECTIVE_OTHER},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(vpa_collective_name(vpa_collective_kind_of(
					    cases[i].name, strlen(cases[i].name))),
			vpa_collective_name(cases[i].kind));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lags_of_200_jobs_are_found),
		cmocka_unit_test(collectives_that_any_rank_lacks_are_matched_among_the_others),
		cmocka_unit_test(streams_without_names_become_the_groups_that_they_are),
		cmocka_unit_test(names_say_what_a_collective_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
