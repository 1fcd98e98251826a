/* Ranks as bytes: what is written is read, and no bytes do harm, whatever they say. */
#include "analysis/ranks/job.h"
#include "analysis/ranks/rank/rank_bytes.h"
#include "analysis/ranks/rank/rank_file.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "tests/support/ranks_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void make(struct rig_job *job, unsigned rows, struct vpt_random *random)
{
	unsigned i, r, p;

	memset(job, 0, sizeof(*job));
	job->ranks = 3;
	job->rows = rows;
	job->groups = 2;
	job->has_names = 1;
	job->members[0] = 7;
	job->members[1] = 5;
	job->skew_ns = 3000;
	for (r = 0; r < 3; r++)
		job->host[r] = r ? "b" : "a";
	for (i = 0; i < rows; i++) {
		job->row[i].group = i % 2;
		for (r = 0; r < 3; r++)
			for (p = 0; p < RIG_PARTS; p++)
				job->row[i].part_ns[r][p] =
					vpt_random_below(random, 3)
						? vpt_random_below(random, 90000)
						: 0;
	}
	rig_run(job, random);
}

/* Facts, and terms as condense.h makes them. */
static void add_the_rest(struct vpa_rank *r)
{
	size_t i;

	r->facts = vpt_calloc(2, sizeof(*r->facts));
	r->facts[0] = (struct vpa_rank_fact){"NCCL_ALGO", "Ring"};
	r->facts[1] = (struct vpa_rank_fact){"cuda_driver", ""};
	r->fact_count = 2;
	r->capture = "rank.zst";
	r->fps = 16.25;
	r->term_ends = vpt_calloc(r->collective_count + 1, sizeof(*r->term_ends));
	r->terms = vpt_calloc(2 * r->collective_count + 2, sizeof(*r->terms));
	for (i = 0; i <= r->collective_count; i++) {
		r->terms[2 * i] = (struct vpa_rank_term){VPA_RANK_START, -(int64_t)i};
		r->terms[2 * i + 1] = (struct vpa_rank_term){
			i ? (uint32_t)i - 1 : VPA_RANK_START, (int64_t)i << 40};
		r->term_ends[i] = 2 * i + 2;
	}
}

static void what_is_written_is_read(void **state)
{
	struct vpt_random random = {6};
	struct rig_job *job = malloc(sizeof(*job));
	struct vpa_rank_list list = {.count = 0};
	unsigned r;

	(void)state;
	make(job, 60, &random);
	rig_ranks(job, &list);
	for (r = 0; r < 3; r++) {
		const struct vpa_rank *x = list.items[r];
		struct vpa_rank found = {.rank = 0};
		struct vpt_buffer bytes, again;
		struct vpt_err err;

		add_the_rest(list.items[r]);
		assert_int_equal(vpa_rank_to_bytes(x, &bytes), 0);
		assert_int_equal(vpa_rank_from_bytes(bytes.data, bytes.size, &found, &err), 0);
		assert_string_equal(found.host, x->host);
		assert_string_equal(found.facts[0].value, "Ring");
		assert_string_equal(found.facts[1].value, "");
		assert_null(found.boot_id);
		assert_int_equal(found.collective_count, x->collective_count);
		assert_int_equal(found.collectives[5].start_ns, x->collectives[5].start_ns);
		assert_int_equal(found.collectives[5].end_ns, x->collectives[5].end_ns);
		assert_int_equal(found.part_count, x->part_count);
		assert_memory_equal(found.marks, x->marks, x->mark_count * sizeof(*x->marks));
		assert_int_equal(found.terms[9].ns, x->terms[9].ns);
		assert_int_equal(found.terms[8].after, VPA_RANK_START);
		assert_true(found.fps == 16.25);
		assert_int_equal(vpa_rank_to_bytes(&found, &again), 0);
		assert_int_equal(again.size, bytes.size);
		assert_memory_equal(again.data, bytes.data, bytes.size);
		vpt_free(again.data);
		vpt_free(bytes.data);
		vpa_rank_free(&found);
	}
	vpa_rank_list_free(&list);
	free(job);
}

/* Reads bytes that may be anything; returns what the reader said. What it takes can be reported. */
static int try(const void *data, size_t size, const struct rig_job *job)
{
	struct vpa_rank_list list = {.count = 0};
	struct vpa_rank *rank = vpa_rank_add(&list);
	struct vpa_job *found;
	struct vpt_err err = {0};
	int rc = vpa_rank_from_bytes(data, size, rank, &err);

	assert_true(!rc || ((rc == VPT_EDATA || rc == VPT_EVERSION) && err.text[0]));
	if (!rc && job) {
		rig_ranks(job, &list);
		rc = vpa_job_new(&list, &found, &err);
		assert_true(!rc || rc == VPT_EINVAL);
		if (!rc)
			vpa_job_free(found);
	}
	vpa_rank_list_free(&list);
	return rc;
}

static void no_prefix_is_a_rank(void **state)
{
	struct vpt_random random = {7};
	struct rig_job *job = malloc(sizeof(*job));
	struct vpa_rank_list list = {.count = 0};
	struct vpt_buffer bytes;
	size_t size;

	(void)state;
	make(job, 12, &random);
	rig_ranks(job, &list);
	add_the_rest(list.items[0]);
	assert_int_equal(vpa_rank_to_bytes(list.items[0], &bytes), 0);
	for (size = 0; size < bytes.size; size++)
		assert_int_equal(try(bytes.data, size, NULL), VPT_EDATA);
	assert_int_equal(try(bytes.data, bytes.size, job), 0);
	vpt_free(bytes.data);
	vpa_rank_list_free(&list);
	free(job);
}

static void changed_bytes_do_no_harm(void **state)
{
	struct vpt_random random = {8};
	struct rig_job *job = malloc(sizeof(*job));
	struct vpa_rank_list list = {.count = 0};
	struct vpt_buffer bytes;
	unsigned n, taken = 0, refused = 0;

	(void)state;
	make(job, 12, &random);
	rig_ranks(job, &list);
	add_the_rest(list.items[0]);
	assert_int_equal(vpa_rank_to_bytes(list.items[0], &bytes), 0);
	for (n = 0; n < 20000; n++) {
		unsigned char *copy = malloc(bytes.size);
		unsigned changes = 1 + (unsigned)vpt_random_below(&random, 4);

		memcpy(copy, bytes.data, bytes.size);
		while (changes-- > 0)
			copy[vpt_random_below(&random, bytes.size)] =
				(unsigned char)vpt_random_nasty(&random);
		if (try(copy, bytes.size, job))
			refused++;
		else
			taken++;
		free(copy);
	}
	assert_true(taken > 1000 && refused > 1000);
	vpt_free(bytes.data);
	vpa_rank_list_free(&list);
	free(job);
}

static void a_newer_version_is_refused(void **state)
{
	struct vpa_rank rank = {.rank = 0};
	struct vpt_err err;

	(void)state;
	assert_int_equal(vpa_rank_from_bytes("\x02", 1, &rank, &err), VPT_EVERSION);
	assert_string_equal(
		err.text, "summary version 2: expected at most 1, from a newer vptrace");
	vpa_rank_free(&rank);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(no_prefix_is_a_rank),
		cmocka_unit_test(changed_bytes_do_no_harm),
		cmocka_unit_test(a_newer_version_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
