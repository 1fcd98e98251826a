/* Waits of random jobs, beside a model that looks at each collective and each pair of ranks on its own. */
#include "analysis/names/families.h"
#include "analysis/ranks/job.h"
#include "analysis/report/rows/causes.h"
#include "formats/base/error.h"
#include "formats/event_schema.h"
#include "tests/support/ranks_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BEGAN = RIG_PARTS + 1, ENDED, MODEL_PARTS };

struct model {
	uint64_t wait[RIG_RANKS], kernel[RIG_RANKS], blame_ns[RIG_RANKS], last[RIG_RANKS];
	int64_t blame[RIG_RANKS][MODEL_PARTS]; /* RIG_PARTS: other collectives */
	uint64_t matched[RIG_RANKS];
};

static int has(const struct rig_job *job, unsigned row, unsigned rank)
{
	return (int)(job->members[job->row[row].group] >> rank & ~(job->row[row].lacks >> rank) &
		     1);
}

/* What a rank did from the end of `from` to the start of `to`. */
static void instead(const struct rig_job *job, unsigned rank, unsigned from, unsigned to,
	int64_t sign, int64_t *out)
{
	unsigned i, p;

	for (i = from + 1; i <= to; i++) {
		const struct rig_row *row = &job->row[i];

		if (!(job->members[row->group] >> rank & 1))
			continue;
		for (p = 0; p < RIG_PARTS; p++)
			out[p] += sign * (int64_t)row->part_ns[rank][p];
		if (i < to)
			out[RIG_PARTS] += sign * (int64_t)(row->end_ns[rank] - row->start_ns[rank]);
	}
}

static void blame(
	const struct rig_job *job, struct model *m, unsigned at, unsigned last, unsigned w)
{
	uint32_t team = job->members[job->row[at].group];
	int64_t wait = (int64_t)(job->row[at].start_ns[last] - job->row[at].start_ns[w]);
	int64_t *out = m->blame[last];
	unsigned before = at;

	m->wait[w] += (uint64_t)wait;
	m->blame_ns[last] += (uint64_t)wait;
	while (before-- > 0)
		if (job->members[job->row[before].group] == team && has(job, before, last) &&
			has(job, before, w))
			break;
	if (before == UINT32_MAX) {
		out[BEGAN] += wait;
		return;
	}
	instead(job, last, before, at, 1, out);
	instead(job, w, before, at, -1, out);
	out[ENDED] += (int64_t)(job->row[before].end_ns[last] - job->row[before].end_ns[w]);
}

static void run_model(const struct rig_job *job, struct model *m)
{
	unsigned i, r, last, count;

	memset(m, 0, sizeof(*m));
	for (i = 0; i < job->rows; i++) {
		const struct rig_row *row = &job->row[i];
		uint64_t before;

		for (last = RIG_RANKS, r = count = 0; r < job->ranks; r++) {
			if (!has(job, i, r))
				continue;
			count++;
			if (last == RIG_RANKS || row->start_ns[r] > row->start_ns[last])
				last = r;
		}
		if (count < 2)
			continue;
		before = m->blame_ns[last];
		for (r = 0; r < job->ranks; r++) {
			if (!has(job, i, r))
				continue;
			m->matched[r]++;
			m->kernel[r] += row->end_ns[r] - row->start_ns[r];
			if (row->start_ns[r] != row->start_ns[last])
				blame(job, m, i, last, r);
		}
		m->last[last] += m->blame_ns[last] > before;
	}
}

static int64_t part_of(const struct vpa_job_rank *r, enum vpa_late_class klass, unsigned kind)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < r->part_count; i++)
		if (r->parts[i].klass == klass && r->parts[i].kind == kind)
			sum += r->parts[i].ns;
	return sum;
}

static void compare(const struct rig_job *job, const struct vpa_job *found)
{
	static const struct {
		enum vpa_late_class klass;
		unsigned kind;
	} parts[MODEL_PARTS] = {{VPA_LATE_COMPUTE, VPA_FAMILY_GEMM},
		{VPA_LATE_COPY, VPT_COPYKIND_HTOD}, {VPA_LATE_IDLE, VPA_CAUSE_HOST_CODE},
		{VPA_LATE_IDLE, VPA_CAUSE_LAUNCH_RATE}, {VPA_LATE_COMM, 0}, {VPA_LATE_BEGAN, 0},
		{VPA_LATE_ENDED, 0}};
	struct model m;
	unsigned r, p;
	uint64_t wait = 0, blamed = 0;

	run_model(job, &m);
	assert_int_equal(found->rank_count, job->ranks);
	for (r = 0; r < job->ranks; r++) {
		const struct vpa_job_rank *x = &found->ranks[r];
		int64_t sum = 0;
		size_t i;

		assert_int_equal(x->matched, m.matched[r]);
		assert_int_equal(x->wait_ns, m.wait[r]);
		assert_int_equal(x->unsure_ns, 0);
		assert_int_equal(x->blame_ns, m.blame_ns[r]);
		assert_int_equal(x->last, m.last[r]);
		/* wait + transfer + end skew = kernel */
		assert_int_equal((int64_t)x->wait_ns + x->transfer_ns + (int64_t)x->skew_ns,
			(int64_t)m.kernel[r]);
		for (p = 0; p < MODEL_PARTS; p++)
			assert_int_equal(part_of(x, parts[p].klass, parts[p].kind), m.blame[r][p]);
		for (i = 0; i < x->part_count; i++)
			sum += x->parts[i].ns;
		assert_int_equal(sum, (int64_t)x->blame_ns);
		wait += x->wait_ns;
		blamed += x->blame_ns;
	}
	assert_int_equal(wait, blamed);
	assert_true(wait > 0);
}

static void make(struct rig_job *job, struct vpt_random *random)
{
	unsigned i, r, p, g;

	memset(job, 0, sizeof(*job));
	job->ranks = 2 + (unsigned)vpt_random_below(random, 7);
	job->rows = 20 + (unsigned)vpt_random_below(random, 60);
	job->groups = 1 + (unsigned)vpt_random_below(random, 3);
	job->skew_ns = vpt_random_below(random, 4000);
	job->has_names = 1;
	job->members[0] = (1u << job->ranks) - 1;
	for (g = 1; g < job->groups; g++)
		do
			job->members[g] = (uint32_t)vpt_random_below(random, 1u << job->ranks);
		while (!(job->members[g] & (job->members[g] - 1)));
	for (r = 0; r < job->ranks; r++)
		job->host[r] = "one";
	for (i = 0; i < job->rows; i++) {
		job->row[i].group = (unsigned)vpt_random_below(random, job->groups);
		for (r = 0; r < job->ranks; r++)
			for (p = 0; p < RIG_PARTS; p++)
				job->row[i].part_ns[r][p] =
					20000 + vpt_random_below(random, 1000000);
	}
	/* Some captures lack some: never so many in a row that a group cannot be followed. */
	for (i = 5; i + 5 < job->rows; i += 7)
		job->row[i].lacks = 1u << vpt_random_below(random, job->ranks);
	rig_run(job, random);
}

static void waits_and_blame_of_random_jobs_are_those_of_the_model(void **state)
{
	struct vpt_random random = {35};
	unsigned n;

	(void)state;
	for (n = 0; n < 300; n++) {
		struct vpa_rank_list list = {.count = 0};
		struct rig_job *job = malloc(sizeof(*job));
		struct vpa_job *found;
		struct vpt_err err;

		make(job, &random);
		rig_ranks(job, &list);
		list.jobs = 1 + n % 3; /* threads change nothing */
		assert_int_equal(vpa_job_new(&list, &found, &err), 0);
		compare(job, found);
		vpa_job_free(found);
		free(job);
	}
}

/* Four ranks send to the next one. Rank 3 comes late: only rank 2, which leaves after that, waits for it. */
static void who_left_before_a_sender_came_did_not_wait_for_it(void **state)
{
	struct vpt_random random = {1};
	struct rig_job *job = calloc(1, sizeof(*job));
	struct vpa_rank_list list = {.count = 0};
	struct vpa_job *found;
	struct vpt_err err;
	unsigned r;

	(void)state;
	job->ranks = 4;
	job->rows = job->groups = 1;
	job->has_names = 1;
	job->kind = VPA_COLLECTIVE_SEND_RECV;
	job->members[0] = 15;
	for (r = 0; r < 4; r++) {
		job->host[r] = "one";
		job->row[0].part_ns[r][0] = r < 3 ? 10000 + 1000 * r : 400000;
	}
	rig_run(job, &random);
	for (r = 0; r < 2; r++)
		job->row[0].end_ns[r] = job->row[0].start_ns[2] + 30000;
	rig_ranks(job, &list);
	assert_int_equal(vpa_job_new(&list, &found, &err), 0);
	assert_int_equal(found->negative, 0);
	assert_int_equal(found->ranks[0].wait_ns, 2000);
	assert_int_equal(found->ranks[1].wait_ns, 1000);
	assert_int_equal(found->ranks[2].wait_ns, 388000);
	assert_int_equal(found->ranks[3].wait_ns, 0);
	assert_int_equal(found->ranks[2].blame_ns, 3000);
	assert_int_equal(found->ranks[3].blame_ns, 388000);
	assert_int_equal(found->ranks[0].transfer_ns, 30000);
	assert_int_equal(found->ranks[0].skew_ns, 0);
	vpa_job_free(found);
	free(job);
}

/* It waits for nobody, so less than the others do, but they do not wait for it either: nothing can be replayed for it. */
static void a_rank_without_partners_is_not_late(void **state)
{
	struct vpt_random random = {14};
	struct rig_job *job = calloc(1, sizeof(*job));
	struct vpa_rank_list list = {.count = 0};
	struct vpa_job *found;
	struct vpt_err err;
	unsigned i, r, p;

	(void)state;
	job->ranks = 3;
	job->rows = 24;
	job->groups = 2;
	job->has_names = 1;
	job->members[0] = 3; /* ranks 0 and 1 */
	job->members[1] = 4; /* rank 2 */
	for (r = 0; r < 3; r++)
		job->host[r] = "a";
	for (i = 0; i < job->rows; i++) {
		job->row[i].group = i % 4 == 3;
		for (r = 0; r < 3; r++)
			for (p = 0; p < RIG_PARTS; p++)
				job->row[i].part_ns[r][p] = vpt_random_below(&random, 90000);
	}
	rig_run(job, &random);
	rig_ranks(job, &list);
	for (r = 0; r < 3; r++)
		rig_terms(list.items[r]);
	assert_int_equal(vpa_job_new(&list, &found, &err), 0);
	assert_true(found->is_replayed && found->wait_ns > 0);
	assert_int_equal(found->ranks[2].matched, 0);
	assert_int_equal(found->ranks[2].unmatched, 6);
	for (i = 0; i < found->fix_count; i++)
		assert_true(!found->fixes[i].ranks || !strchr(found->fixes[i].ranks, '2'));
	vpa_job_free(found);
	free(job);
}

static void one_rank_is_no_job(void **state)
{
	struct vpa_rank_list list = {.count = 0};
	struct vpa_job *found;
	struct vpt_err err;

	(void)state;
	assert_non_null(vpa_rank_add(&list));
	assert_int_equal(vpa_job_new(&list, &found, &err), VPT_EINVAL);
	assert_null(found);
	assert_string_equal(
		err.text, "expected two ranks or more, found 1: give the captures of all ranks");
	assert_int_equal(vpa_job_new(&list, &found, &err), VPT_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_and_blame_of_random_jobs_are_those_of_the_model),
		cmocka_unit_test(who_left_before_a_sender_came_did_not_wait_for_it),
		cmocka_unit_test(a_rank_without_partners_is_not_late),
		cmocka_unit_test(one_rank_is_no_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
