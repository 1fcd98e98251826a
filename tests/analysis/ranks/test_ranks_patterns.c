/* Patterns of random jobs in which one was planted: it is found, by rank, count and time, to the nanosecond; and in jobs without
 * one there is none. */
#include "analysis/base/sort.h"
#include "analysis/ranks/patterns/patterns.h"
#include "tests/support/ranks_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { JOBS = 200, JITTER_NS = 2000, WORK_NS = 400000 };

/* A job of one group in which all ranks do about the same. */
static struct rig_job *new_job(struct vpt_random *random, unsigned least)
{
	struct rig_job *job = calloc(1, sizeof(*job));
	unsigned i, r;

	assert_non_null(job);
	job->ranks = least + (unsigned)vpt_random_below(random, 9 - least);
	job->rows = 40 + (unsigned)vpt_random_below(random, 100);
	job->groups = 1;
	job->has_names = 1;
	job->members[0] = (1u << job->ranks) - 1;
	for (r = 0; r < job->ranks; r++)
		job->host[r] = "one";
	for (i = 0; i < job->rows; i++)
		for (r = 0; r < job->ranks; r++)
			job->row[i].part_ns[r][0] = WORK_NS + vpt_random_below(random, JITTER_NS);
	return job;
}

static struct vpa_job *analyze(struct rig_job *job, struct vpt_random *random)
{
	struct vpa_rank_list list = {.count = 0};
	struct vpa_job *found;
	struct vpt_err err;

	rig_run(job, random);
	rig_ranks(job, &list);
	assert_int_equal(vpa_job_new(&list, &found, &err), 0);
	assert_int_equal(vpa_patterns_find(found, &err), 0);
	return found;
}

static size_t count_of(const struct vpa_job *job, enum vpa_pattern_kind kind)
{
	size_t i, count = 0;

	for (i = 0; i < job->pattern_count; i++)
		count += job->patterns[i].kind == kind;
	return count;
}

/* The only pattern of its kind. */
static const struct vpa_job_pattern *only(const struct vpa_job *job, enum vpa_pattern_kind kind)
{
	size_t i;

	assert_int_equal(count_of(job, kind), 1);
	for (i = 0; job->patterns[i].kind != kind; i++)
		;
	return &job->patterns[i];
}

static void clear(struct rig_job *job, struct vpa_job *found)
{
	vpa_job_free(found);
	free(job);
}

/* "0, 3" of bits. */
static void list_bits(uint32_t bits, char out[64])
{
	char *at = out;
	unsigned r;

	*at = 0;
	for (r = 0; r < RIG_RANKS; r++) {
		unsigned last = r;

		if (!(bits >> r & 1))
			continue;
		while (bits >> (last + 1) & 1)
			last++;
		at += sprintf(
			at, last >= r + 2 ? "%s%u to %u" : "%s%u", at == out ? "" : ", ", r, last);
		r = last >= r + 2 ? last : r;
	}
}

static void nothing_planted_is_no_pattern(void **state)
{
	struct vpt_random random = {1};
	unsigned n;

	(void)state;
	for (n = 0; n < JOBS; n++) {
		struct rig_job *job = new_job(&random, 2);
		struct vpa_job *found = analyze(job, &random);

		assert_int_equal(found->pattern_count, 0);
		clear(job, found);
	}
}

/* Ranks that are late in turns, each to a few collectives: who they are, how often it changes, and what is waited for them. */
static void ranks_late_in_turns_are_named(void **state)
{
	struct vpt_random random = {2};
	unsigned n, i, r, k;

	(void)state;
	for (n = 0; n < JOBS; n++) {
		struct rig_job *job = new_job(&random, 4);
		unsigned count = 2 + (unsigned)vpt_random_below(&random, job->ranks / 2 - 1);
		unsigned first = (unsigned)vpt_random_below(&random, job->ranks);
		unsigned each = 1 + (unsigned)vpt_random_below(&random, 4), changes = 0;
		const struct vpa_job_pattern *p;
		struct vpa_job *found;
		uint32_t bits = 0;
		uint64_t ns = 0;
		char ranks[64];

		for (k = 0; k < count; k++)
			bits |= 1u << (first + k) % job->ranks;
		for (i = 0; i < job->rows; i++) {
			job->row[i].part_ns[(first + i / each % count) % job->ranks][2] = 300000;
			changes += i && i / each % count != (i - 1) / each % count;
		}
		found = analyze(job, &random);
		for (i = 0; i < job->rows; i++) {
			uint64_t least = UINT64_MAX, most = 0;

			for (r = 0; r < job->ranks; r++) {
				uint64_t at = job->row[i].start_ns[r];

				least = at < least ? at : least;
				most = at > most ? at : most;
			}
			ns += most - least;
		}
		p = only(found, VPA_PATTERN_TURNS);
		list_bits(bits, ranks);
		assert_string_equal(p->ranks, ranks);
		assert_int_equal(p->collectives, job->rows);
		assert_int_equal(p->changes, changes);
		assert_int_equal(p->ns, ns);
		clear(job, found);
	}
}

static void one_late_rank_takes_no_turns(void **state)
{
	struct vpt_random random = {3};
	unsigned n, i;

	(void)state;
	for (n = 0; n < JOBS; n++) {
		struct rig_job *job = new_job(&random, 2);
		unsigned late = (unsigned)vpt_random_below(&random, job->ranks);
		struct vpa_job *found;

		for (i = 0; i < job->rows; i++)
			job->row[i].part_ns[late][0] += 50000 + vpt_random_below(&random, 100000);
		found = analyze(job, &random);
		assert_true(found->ranks[late].blame_ns > 0);
		assert_int_equal(found->pattern_count, 0);
		clear(job, found);
	}
}

/* A capture that ends early: by how many collectives, and how long the others go on. */
static void a_capture_that_ends_early_is_named(void **state)
{
	struct vpt_random random = {4};
	unsigned n, i;

	(void)state;
	for (n = 0; n < JOBS; n++) {
		struct rig_job *job = new_job(&random, 2);
		unsigned cut = (unsigned)vpt_random_below(&random, job->ranks);
		unsigned lacks = (unsigned)vpt_random_below(&random, job->rows / 2);
		struct vpa_job *found;
		uint64_t ns, all = 0;
		char ranks[16];

		for (i = job->rows - lacks; i < job->rows; i++)
			job->row[i].lacks = 1u << cut;
		found = analyze(job, &random);
		for (i = 0; i < job->ranks; i++)
			all = job->row[job->rows - 1].end_ns[i] - 2000000000;
		ns = job->row[job->rows - 1].end_ns[0] - job->row[job->rows - 1 - lacks].end_ns[0];
		if (lacks < 3 || ns < all / 50) {
			assert_int_equal(count_of(found, VPA_PATTERN_TRUNCATED), 0);
		} else {
			const struct vpa_job_pattern *p = only(found, VPA_PATTERN_TRUNCATED);

			snprintf(ranks, sizeof(ranks), "%u", cut);
			assert_string_equal(p->ranks, ranks);
			assert_int_equal(p->collectives, lacks);
			assert_int_equal(p->ns, ns);
		}
		clear(job, found);
	}
}

/* Three pairs of ranks exchange as much; those of one take longer. */
static void a_slow_link_is_named_with_what_it_takes(void **state)
{
	struct vpt_random random = {5};
	unsigned n, i, g;

	(void)state;
	for (n = 0; n < JOBS; n++) {
		struct rig_job *job = new_job(&random, 6);
		unsigned slow = (unsigned)vpt_random_below(&random, 3), rows = 0;
		struct vpa_job *found;
		char ranks[32], group[32];

		job->ranks = 6;
		job->groups = 3;
		for (g = 0; g < 3; g++)
			job->members[g] = 3u << 2 * g;
		for (i = 0; i < job->rows; i++) {
			job->row[i].group = i % 3;
			rows += i % 3 == slow;
		}
		job->link_ns[slow] = vpt_random_below(&random, 30000);
		found = analyze(job, &random);
		if (job->link_ns[slow] <= 12500) {
			assert_int_equal(count_of(found, VPA_PATTERN_SLOW_LINK), 0);
		} else {
			const struct vpa_job_pattern *p = only(found, VPA_PATTERN_SLOW_LINK);

			snprintf(ranks, sizeof(ranks), "%u, %u", 2 * slow, 2 * slow + 1);
			snprintf(group, sizeof(group), "group %u", slow);
			assert_string_equal(p->ranks, ranks);
			assert_string_equal(p->group, group);
			assert_int_equal(p->collective, VPA_COLLECTIVE_ALL_REDUCE);
			assert_int_equal(p->usual_ns, 50000);
			assert_int_equal(p->found_ns, 50000 + job->link_ns[slow]);
			assert_int_equal(p->collectives, rows);
			assert_int_equal(p->ns, rows * job->link_ns[slow]);
		}
		clear(job, found);
	}
}

/* Two ranks, one sends to the other: who is late, as what, and how long the other waits. */
static void a_late_sender_and_a_late_receiver_are_named(void **state)
{
	static const struct {
		const char *late, *waits;
		enum vpa_pattern_kind kind;
	} cases[] = {{"send", "recv", VPA_PATTERN_LATE_SENDER},
		{"recv", "send", VPA_PATTERN_LATE_RECEIVER},
		{"ncclDevKernel_SendRecv", "ncclDevKernel_SendRecv", VPA_PATTERN_LATE_PEER}};
	struct vpt_random random = {6};
	unsigned n, i;

	(void)state;
	for (n = 0; n < JOBS; n++) {
		struct rig_job *job = new_job(&random, 2);
		unsigned late = (unsigned)vpt_random_below(&random, 2), which = n % 3, rows = 0;
		const struct vpa_job_pattern *p;
		struct vpa_job *found;
		uint64_t ns = 0;

		job->ranks = 2;
		job->members[0] = 3;
		job->kind = VPA_COLLECTIVE_SEND_RECV;
		job->text[late] = cases[which].late;
		job->text[!late] = cases[which].waits;
		for (i = 0; i < job->rows; i++)
			job->row[i].part_ns[late][2] = 20000 + vpt_random_below(&random, 100000);
		found = analyze(job, &random);
		assert_int_equal(found->unmatched, 0);
		for (i = 0; i < job->rows; i++) {
			int64_t wait =
				(int64_t)(job->row[i].start_ns[late] - job->row[i].start_ns[!late]);

			ns += wait > 0 ? (uint64_t)wait : 0;
			rows += wait > 0;
		}
		p = only(found, cases[which].kind);
		assert_int_equal(found->pattern_count, 1);
		assert_string_equal(p->ranks, late ? "1" : "0");
		assert_string_equal(p->peers, late ? "0" : "1");
		assert_int_equal(p->collectives, rows);
		assert_int_equal(p->ns, ns);
		clear(job, found);
	}
}

/* Ranks that pass on from one to the next: a path is a pipeline, with the waits of the rank that waits longest; a circle is none. */
static void a_pipeline_is_named_with_its_longest_bubbles(void **state)
{
	struct vpt_random random = {8};
	unsigned n, i, r;

	(void)state;
	for (n = 0; n < JOBS; n++) {
		struct rig_job *job = new_job(&random, 4);
		unsigned links = n % 2 ? 4 : 3, most = 0;
		uint64_t wait_ns[4] = {0}, work_ns[4] = {0}, usual_ns;
		int64_t sorted[4];
		struct vpa_job *found;
		char rank[16];

		job->ranks = 4;
		job->groups = links;
		job->kind = VPA_COLLECTIVE_SEND_RECV;
		for (i = 0; i < links; i++)
			job->members[i] = 1u << i | 1u << (i + 1) % 4;
		for (i = 0; i < job->rows; i++) {
			job->row[i].group = i % links;
			for (r = 0; r < 4; r++)
				job->row[i].part_ns[r][2] = vpt_random_below(&random, 300000);
			/* A rank does its work before its own messages. */
			for (r = 0; r < 4; r++)
				if (job->members[i % links] >> r & 1)
					work_ns[r] += job->row[i].part_ns[r][0];
		}
		found = analyze(job, &random);
		for (i = 0; i < job->rows; i++) {
			unsigned a = i % links, b = (a + 1) % 4;
			uint64_t at = job->row[i].start_ns[a], bt = job->row[i].start_ns[b];

			wait_ns[a] += bt > at ? bt - at : 0;
			wait_ns[b] += at > bt ? at - bt : 0;
		}
		for (r = 1; r < 4; r++)
			most = wait_ns[r] > wait_ns[most] ? r : most;
		if (links == 4) {
			assert_int_equal(count_of(found, VPA_PATTERN_PIPELINE), 0);
		} else {
			const struct vpa_job_pattern *p = only(found, VPA_PATTERN_PIPELINE);

			snprintf(rank, sizeof(rank), "%u", most);
			assert_string_equal(p->ranks, "0 to 3");
			assert_string_equal(p->peers, rank);
			assert_int_equal(p->ns, wait_ns[most]);
			assert_int_equal(p->collectives, job->rows);
			for (r = 0, most = 0; r < 4; r++) {
				sorted[r] = (int64_t)work_ns[r];
				most = work_ns[r] > work_ns[most] ? r : most;
			}
			usual_ns = (uint64_t)vpa_nth(sorted, 4, 1);
			snprintf(rank, sizeof(rank), "%u", most);
			assert_int_equal(p->usual_ns, usual_ns);
			assert_int_equal(p->found_ns, work_ns[most]);
			if (work_ns[most] - usual_ns < usual_ns / 10)
				assert_null(p->busiest);
			else
				assert_string_equal(p->busiest, rank);
		}
		clear(job, found);
	}
}

/* Two communicators without a name on one stream, whose ranks work in step but for a few collectives: these tell that ranks
 * of the one do not wait for those of the other. */
static void groups_in_step_without_a_name_are_told(void **state)
{
	struct vpt_random random = {7};
	unsigned n, i, r;

	(void)state;
	for (n = 0; n < JOBS; n++) {
		struct rig_job *job = new_job(&random, 4);
		unsigned apart = n % 4, at = 20;
		struct vpa_job *found;

		job->ranks = 4;
		job->groups = 2;
		job->members[0] = 3;
		job->members[1] = 12;
		job->has_names = 0;
		job->is_one_lane = 1;
		job->rows = 160;
		for (i = 0; i < job->rows; i++) {
			job->row[i].group = i % 2;
			for (r = 0; r < 4; r++) /* in step: each pair ends together */
				job->row[i].part_ns[r][0] = i % 2 ? WORK_NS : WORK_NS + r % 2;
		}
		for (i = 0; i < apart; i++, at += 30) {
			job->row[at + 1].part_ns[2][0] += 60000;
			job->row[at + 1].part_ns[3][0] += 60000;
			job->row[at + 2].part_ns[0][0] += 60000;
			job->row[at + 2].part_ns[1][0] += 60000;
		}
		found = analyze(job, &random);
		if (!apart) {
			assert_int_equal(count_of(found, VPA_PATTERN_LOCKSTEP), 0);
		} else {
			const struct vpa_job_pattern *p = only(found, VPA_PATTERN_LOCKSTEP);

			assert_string_equal(p->ranks, "0, 1; 2, 3");
			assert_int_equal(p->collectives, 2 * apart); /* one of each */
		}
		clear(job, found);
	}
}

/* Whatever files say of it. */
static void a_start_of_any_length_is_compared(void **state)
{
	struct vpt_random random = {8};
	struct rig_job *job = new_job(&random, 4);
	struct vpa_rank_list list = {.count = 0};
	struct vpa_job *found;
	struct vpt_err err;
	size_t i;

	(void)state;
	rig_run(job, &random);
	rig_ranks(job, &list);
	for (i = 0; i < list.count; i++) {
		list.items[i]->inits = 3;
		list.items[i]->init_ns = i ? 5 + (UINT64_C(1) << 63) : 5;
	}
	assert_int_equal(vpa_job_new(&list, &found, &err), 0);
	assert_string_equal(found->init_late_ranks, "0");
	assert_int_equal(found->init_late_ns, INT64_MAX);
	clear(job, found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_planted_is_no_pattern),
		cmocka_unit_test(ranks_late_in_turns_are_named),
		cmocka_unit_test(one_late_rank_takes_no_turns),
		cmocka_unit_test(a_capture_that_ends_early_is_named),
		cmocka_unit_test(a_slow_link_is_named_with_what_it_takes),
		cmocka_unit_test(a_start_of_any_length_is_compared),
		cmocka_unit_test(a_late_sender_and_a_late_receiver_are_named),
		cmocka_unit_test(a_pipeline_is_named_with_its_longest_bubbles),
		cmocka_unit_test(groups_in_step_without_a_name_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
