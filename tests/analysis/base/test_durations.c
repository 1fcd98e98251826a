/* test_durations.c - percentiles of durations against sorting them. */
#include "analysis/base/durations.h"
#include "formats/base/count.h"
#include "tests/support/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SAMPLES_MAX = 20000 };

static uint64_t samples[SAMPLES_MAX];
static size_t sample_count;

static int compare_ns(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

static struct vpa_durations spread_of_samples(struct vpa_durations_builder *b)
{
	size_t i;

	memset(b, 0, sizeof(*b));
	for (i = 0; i < sample_count; i++)
		assert_int_equal(vpa_durations_add(b, samples[i]), 0);
	qsort(samples, sample_count, sizeof(*samples), compare_ns);
	return vpa_durations_of(b);
}

/* The smallest sample that at least `percent` of all do not exceed. */
static uint64_t nearest_rank(unsigned percent)
{
	size_t i = 0;

	while ((i + 1) * 100 < sample_count * percent)
		i++;
	return samples[i];
}

static void expect_near(uint64_t found, uint64_t exact, double tolerance)
{
	double off = found > exact ? (double)(found - exact) : (double)(exact - found);

	if (off > tolerance * (double)exact)
		fail_msg("%llu is not within %.3f of %llu, of %zu samples",
			(unsigned long long)found, tolerance, (unsigned long long)exact,
			sample_count);
}

static void expect_percentiles(const struct vpa_durations *s, double tolerance)
{
	uint64_t total = 0;
	double mean, squares = 0;
	size_t i;

	for (i = 0; i < sample_count; i++)
		total += samples[i];
	mean = (double)total / (double)sample_count;
	for (i = 0; i < sample_count; i++)
		squares += ((double)samples[i] - mean) * ((double)samples[i] - mean);
	assert_int_equal(s->count, sample_count);
	assert_int_equal(s->total_ns, total);
	assert_int_equal(s->min_ns, samples[0]);
	assert_int_equal(s->max_ns, samples[sample_count - 1]);
	expect_near(s->p50_ns, nearest_rank(50), tolerance);
	expect_near(s->p90_ns, nearest_rank(90), tolerance);
	expect_near(s->p95_ns, nearest_rank(95), tolerance);
	expect_near(s->p99_ns, nearest_rank(99), tolerance);
	assert_true(fabs(s->mean_ns - mean) <= 1e-9 * mean);
	assert_true(fabs(s->deviation_ns - sqrt(squares / (double)sample_count)) <= 1e-6 * mean);
}

static void nothing_has_no_spread(void **state)
{
	struct vpa_durations_builder b = {0};
	struct vpa_durations s = vpa_durations_of(&b);

	(void)state;
	assert_int_equal(s.count, 0);
	assert_int_equal(s.p99_ns, 0);
	assert_int_equal(s.max_ns, 0);
	assert_int_equal(vpa_durations_at_least(&b, 0), 0);
	vpa_durations_free(&b);
}

static void up_to_4096_samples_are_exact(void **state)
{
	static const size_t counts[] = {1, 2, 3, 10, 20, 99, 100, 101, 1000, 4095, 4096};
	struct vpt_random r = {1};
	struct vpa_durations_builder b;
	size_t c, i;

	(void)state;
	for (c = 0; c < COUNT(counts); c++) {
		struct vpa_durations s;

		sample_count = counts[c];
		for (i = 0; i < sample_count; i++)
			samples[i] = vpt_random(&r) >> (20 + vpt_random_below(&r, 40));
		s = spread_of_samples(&b);
		assert_false(s.approximate);
		expect_percentiles(&s, 0);
		vpa_durations_free(&b);
	}
}

/* A mask says in which bits samples differ. */
static void samples_are_sorted_by_all_their_bytes(void **state)
{
	static const uint64_t masks[] = {UINT64_MAX, 0xff, 0xff00000000000000, 0x00ff00ff00ff0000,
		0x8000000000000001, 0x0000ffff00000000};
	static const size_t counts[] = {2, 63, 64, 65, 500, 4096};
	struct vpt_random r = {3};
	struct vpa_durations_builder b;
	size_t c, m, i;

	(void)state;
	for (m = 0; m < COUNT(masks); m++)
		for (c = 0; c < COUNT(counts); c++) {
			struct vpa_durations s;

			sample_count = counts[c];
			for (i = 0; i < sample_count; i++)
				samples[i] = vpt_random(&r) & masks[m];
			s = spread_of_samples(&b);
			assert_int_equal(s.p50_ns, nearest_rank(50));
			assert_int_equal(s.p90_ns, nearest_rank(90));
			assert_int_equal(s.p95_ns, nearest_rank(95));
			assert_int_equal(s.p99_ns, nearest_rank(99));
			vpa_durations_free(&b);
		}
}

static void more_samples_are_off_by_at_most_1_percent(void **state)
{
	static const size_t counts[] = {4097, 5000, SAMPLES_MAX};
	struct vpt_random r = {2};
	struct vpa_durations_builder b;
	size_t c, i;
	unsigned shift;

	(void)state;
	for (c = 0; c < COUNT(counts); c++)
		for (shift = 0; shift < 50; shift += 7) {
			struct vpa_durations s;

			sample_count = counts[c];
			for (i = 0; i < sample_count; i++)
				samples[i] =
					vpt_random(&r) >> (14 + shift) >> vpt_random_below(&r, 4);
			s = spread_of_samples(&b);
			assert_true(s.approximate);
			expect_percentiles(&s, 0.01);
			vpa_durations_free(&b);
		}
}

static void equal_samples_stay_what_they_are(void **state)
{
	struct vpa_durations_builder b;
	struct vpa_durations s;
	size_t i;

	(void)state;
	sample_count = 5000;
	for (i = 0; i < sample_count; i++)
		samples[i] = 123456789;
	s = spread_of_samples(&b);
	assert_int_equal(s.p50_ns, 123456789);
	assert_int_equal(s.p99_ns, 123456789);
	vpa_durations_free(&b);
}

/* A bucket begins where the one before ends, and holds no more than 1/64 of its value. */
static void buckets_leave_nothing_out(void **state)
{
	size_t bucket = 0, i;
	uint64_t edges[64], t;

	(void)state;
	for (t = 0; t < 100000; t++) {
		size_t next = vpa_durations_bucket(t);

		assert_in_range(next, bucket, bucket + 1);
		bucket = next;
	}
	for (i = 7; i < 64; i++)
		edges[i] = (uint64_t)1 << i;
	for (i = 8; i < 64; i++) {
		assert_int_equal(
			vpa_durations_bucket(edges[i]), vpa_durations_bucket(edges[i] - 1) + 1);
		assert_int_equal(vpa_durations_bucket(edges[i] + edges[i] / 64),
			vpa_durations_bucket(edges[i]) + 1);
		assert_int_equal(vpa_durations_bucket(edges[i] + edges[i] / 64 - 1),
			vpa_durations_bucket(edges[i]));
	}
}

static void the_longest_durations_fit(void **state)
{
	struct vpa_durations_builder b;
	struct vpa_durations s;
	size_t i;

	(void)state;
	sample_count = 5000;
	for (i = 0; i < sample_count; i++)
		samples[i] = UINT64_MAX - i;
	s = spread_of_samples(&b);
	assert_int_equal(s.max_ns, UINT64_MAX);
	expect_near(s.p50_ns, nearest_rank(50), 0.01);
	vpa_durations_free(&b);
}

static void samples_of_a_length_are_counted(void **state)
{
	struct vpa_durations_builder b;
	size_t i;

	(void)state;
	sample_count = 4096;
	for (i = 0; i < sample_count; i++)
		samples[i] = i;
	spread_of_samples(&b);
	assert_int_equal(vpa_durations_at_least(&b, 0), 4096);
	assert_int_equal(vpa_durations_at_least(&b, 1000), 3096);
	assert_int_equal(vpa_durations_at_least(&b, 4096), 0);
	vpa_durations_free(&b);

	/* In the histogram to the bucket: 4096 is the edge of one. */
	sample_count = 10000;
	for (i = 0; i < sample_count; i++)
		samples[i] = i;
	spread_of_samples(&b);
	assert_int_equal(vpa_durations_at_least(&b, 4096), 10000 - 4096);
	vpa_durations_free(&b);
}

/* Octaves below and above those of the first samples, one by one and many at once. */
static void octaves_are_made_when_samples_need_them(void **state)
{
	static const uint64_t levels[] = {1000000, 1500000, 40000, 90, 7, (uint64_t)1 << 27, 30,
		(uint64_t)1 << 28, (uint64_t)1 << 40, 0, (uint64_t)1 << 52};
	struct vpa_durations_builder b = {.count = 0};
	struct vpa_durations s;
	size_t level, i;

	(void)state;
	sample_count = 0;
	for (level = 0; level < COUNT(levels); level++)
		for (i = 0; i < (level ? 200 : 5000); i++) {
			samples[sample_count++] = levels[level] + i % 101;
			if (level % 2)
				continue;
			assert_int_equal(vpa_durations_add(&b, levels[level] + i % 101), 0);
			assert_int_equal(b.octaves, level ? b.octaves : sample_count > 4096);
		}
	for (level = 1; level < COUNT(levels); level += 2)
		assert_int_equal(
			vpa_durations_add_all(&b, samples + 5000 + (level - 1) * 200, 200), 0);
	qsort(samples, sample_count, sizeof(*samples), compare_ns);
	s = vpa_durations_of(&b);
	expect_percentiles(&s, 0.01);
	for (level = 0; level < COUNT(levels); level++) {
		size_t least = 0;

		while (least < sample_count && samples[least] < levels[level])
			least++;
		if (vpa_durations_bucket(levels[level]) != vpa_durations_bucket(levels[level] - 1))
			assert_int_equal(
				vpa_durations_at_least(&b, levels[level]), sample_count - least);
	}
	vpa_durations_free(&b);
}

/* The same sums without percentiles: of few samples, of many, of long ones. */
static void sums_need_no_histogram(void **state)
{
	static const size_t counts[] = {1, 100, 4096, 4097, 4353, 10000};
	size_t c, i;

	(void)state;
	for (c = 0; c < COUNT(counts); c++) {
		struct vpa_durations_builder all = {.count = 0}, b = {.only_sums = 1};
		struct vpt_random r = {5};
		struct vpa_durations s, whole;

		sample_count = counts[c];
		for (i = 0; i < sample_count; i++)
			samples[i] = vpt_random(&r) >> (20 + vpt_random_below(&r, 40));
		for (i = 0; i < sample_count; i++)
			assert_int_equal(vpa_durations_add(&b, samples[i]), 0);
		assert_int_equal(vpa_durations_add_all(&b, samples, sample_count), 0);
		for (i = 0; i < 2; i++)
			assert_int_equal(vpa_durations_add_all(&all, samples, sample_count), 0);
		whole = vpa_durations_of(&all);
		s = vpa_durations_of(&b);
		assert_int_equal(s.count, whole.count);
		assert_int_equal(s.total_ns, whole.total_ns);
		assert_int_equal(s.min_ns, whole.min_ns);
		assert_int_equal(s.max_ns, whole.max_ns);
		assert_true(s.mean_ns == whole.mean_ns && s.deviation_ns == whole.deviation_ns);
		assert_int_equal(s.p50_ns | s.p90_ns | s.p95_ns | s.p99_ns, 0);
		vpa_durations_free(&all);
		vpa_durations_free(&b);
	}
}

/* Samples of 2 to 2^44 ns, or of a few octaves. */
static void fill(struct vpa_durations_builder *both, struct vpa_durations_builder *part,
	struct vpt_random *r, size_t count, unsigned octaves)
{
	while (count--) {
		uint64_t ns = vpt_random(r) >> (20 + vpt_random_below(r, octaves));

		assert_int_equal(vpa_durations_add(both, ns), 0);
		assert_int_equal(vpa_durations_add(part, ns), 0);
	}
}

static void merged_samples_are_as_those_of_one(void **state)
{
	static const size_t counts[] = {0, 1, 2000, 4096, 4097, 4500, 9000};
	struct vpt_random r = {7};
	size_t k;

	(void)state;
	for (k = 0; k < COUNT(counts) * COUNT(counts); k++) {
		struct vpa_durations_builder both = {0}, a = {0}, b = {0};
		struct vpa_durations expected, found;
		uint64_t ns;

		fill(&both, &a, &r, counts[k / COUNT(counts)], 3);
		fill(&both, &b, &r, counts[k % COUNT(counts)], 40);
		assert_int_equal(vpa_durations_merge(&a, &b), 0);
		/* What comes later counts too. */
		fill(&both, &a, &r, 10, 40);
		expected = vpa_durations_of(&both);
		found = vpa_durations_of(&a);
		assert_memory_equal(&found, &expected, sizeof(found));
		for (ns = 1; ns < UINT64_C(1) << 50; ns *= 3)
			assert_int_equal(
				vpa_durations_at_least(&a, ns), vpa_durations_at_least(&both, ns));
		vpa_durations_free(&both);
		vpa_durations_free(&a);
		vpa_durations_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_has_no_spread),
		cmocka_unit_test(up_to_4096_samples_are_exact),
		cmocka_unit_test(samples_are_sorted_by_all_their_bytes),
		cmocka_unit_test(more_samples_are_off_by_at_most_1_percent),
		cmocka_unit_test(equal_samples_stay_what_they_are),
		cmocka_unit_test(buckets_leave_nothing_out),
		cmocka_unit_test(the_longest_durations_fit),
		cmocka_unit_test(samples_of_a_length_are_counted),
		cmocka_unit_test(octaves_are_made_when_samples_need_them),
		cmocka_unit_test(sums_need_no_histogram),
		cmocka_unit_test(merged_samples_are_as_those_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
