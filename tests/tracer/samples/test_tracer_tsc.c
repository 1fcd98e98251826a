/* test_tracer_tsc.c - the counter that stands in for the system's clock, on clocks that the tests make up: a counter of some
 * speed, readings that are a little off, clocks that are set and slewed, a keeper that sleeps. */
#include "tests/tracer/ranges/tracer_rig.h"

#include "tests/support/skip.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/clock/tsc.h"

#include <unistd.h>

enum { MS = 1000000, READING_OFF_NS = 15 };

static struct vtr_tsc c;
static const uint64_t epoch_ns = UINT64_C(1790000000) * 1000 * MS, first_ticks = 77777777777;

/* A counter and a system's clock, both functions of true time since the beginning. */
struct world {
	double ghz;
	double ppm_until_ms, ppm; /* from that moment on the clock runs so much faster */
	int64_t step_at_ms, step_ns;
};

static uint64_t ticks_at(const struct world *w, double ns)
{
	return first_ticks + (uint64_t)(ns * w->ghz);
}

static uint64_t clock_at(const struct world *w, double ns)
{
	double t = ns;

	if (w->ppm != 0 && ns > w->ppm_until_ms * MS)
		t += (ns - w->ppm_until_ms * MS) * w->ppm / 1e6;
	return epoch_ns + (uint64_t)t +
	       (uint64_t)(w->step_ns && ns >= (double)w->step_at_ms * MS ? w->step_ns : 0);
}

static uint64_t state;

static uint32_t dice(uint32_t sides)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % sides;
}

static void look(const struct world *w, double ns)
{
	vtr_tsc_learn(&c, ticks_at(w, ns),
		clock_at(w, ns) + dice(2 * READING_OFF_NS + 1) - READING_OFF_NS);
}

/* What a reader gets, minus the truth; 0 known: it asks the system. */
static int reads(const struct world *w, double ns, int64_t *off)
{
	uint64_t got = vtr_tsc_convert(&c, ticks_at(w, ns));

	*off = (int64_t)(got - clock_at(w, ns));
	return got != 0;
}

static int fresh(void **unused)
{
	(void)unused;
	memset(&c, 0, sizeof(c));
	state = 1;
	return 0;
}

static void nothing_is_known_without_a_keeper(void **unused)
{
	(void)unused;
	assert_int_equal(vtr_tsc_convert(&c, 0), 0);
	assert_int_equal(vtr_tsc_convert(&c, first_ticks), 0);
	vtr_tsc_learn(&c, first_ticks, epoch_ns);
	assert_int_equal(vtr_tsc_convert(&c, first_ticks + 1), 0);
}

static void readers_are_right_and_never_go_back(void **unused)
{
	static const double speeds[] = {0.6, 1.0, 2.0, 2.9, 3.7, 5.9, 9.5};
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(speeds) / sizeof(*speeds); i++) {
		struct world w = {.ghz = speeds[i]};
		uint64_t last = 0, known = 0, got;
		double ns = 0, next = 0;
		int64_t off;

		memset(&c, 0, sizeof(c));
		for (; ns < 2000.0 * MS; ns += 1000 + dice(40000)) {
			if (ns >= next) {
				look(&w, ns);
				next = ns + 5 * MS + dice(5 * MS);
			}
			if (!reads(&w, ns, &off))
				continue;
			assert_in_range(off + 60, 0, 120);
			got = vtr_tsc_convert(&c, ticks_at(&w, ns));
			assert_true(got >= last);
			last = got;
			known++;
		}
		assert_true(known > 90000); /* all but the first 30 ms of some 97,000 */
	}
}

static void looks_in_quick_succession_count_once(void **unused)
{
	struct world w = {.ghz = 3};
	double ns;

	(void)unused;
	for (ns = 0; ns < 19 * MS; ns += 100000)
		look(&w, ns);
	assert_int_equal(c.count, 5);
	assert_int_equal(vtr_tsc_convert(&c, ticks_at(&w, 19 * MS)), 0);
}

static void a_keeper_that_sleeps_is_not_believed(void **unused)
{
	struct world w = {.ghz = 2.5};
	int64_t off;
	int ms;

	(void)unused;
	for (ms = 0; ms <= 100; ms += 5)
		look(&w, ms * (double)MS);
	assert_true(reads(&w, 149.9 * MS, &off));
	assert_in_range(off + 200, 0, 400);
	assert_false(reads(&w, 150.1 * MS, &off));
	assert_false(reads(&w, 1e6 * MS, &off));
	assert_false(reads(&w, 99.9 * MS, &off)); /* a count from before its last look */
	look(&w, 200.0 * MS);                     /* begins again */
	assert_false(reads(&w, 201.0 * MS, &off));
	for (ms = 205; ms <= 225; ms += 5)
		look(&w, ms * (double)MS);
	assert_true(reads(&w, 226.0 * MS, &off));
}

static void a_clock_that_is_set_is_followed_at_the_next_look(void **unused)
{
	static const int64_t steps[] = {
		-3600000000000, -1000000000, -5000, -1200, 1200, 5000, 1000000000, 3600000000000};
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct world w = {.ghz = 3.1, .step_at_ms = 103, .step_ns = steps[i]};
		int64_t off;
		int ms;

		memset(&c, 0, sizeof(c));
		for (ms = 0; ms <= 105; ms += 5)
			look(&w, ms * (double)MS);
		assert_false(reads(&w, 105.1 * MS, &off));
		for (; ms <= 130; ms += 5)
			look(&w, ms * (double)MS);
		assert_true(reads(&w, 131.0 * MS, &off));
		assert_in_range(off + 100, 0, 200);
	}
}

static void a_clock_that_is_slewed_is_followed(void **unused)
{
	static const double slews[] = {-500, -50, -5, -0.5, 0.5, 5, 50, 500};
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(slews) / sizeof(*slews); i++) {
		struct world w = {.ghz = 2.1, .ppm_until_ms = 100, .ppm = slews[i]};
		double most = 60 + 20 * (slews[i] < 0 ? -slews[i] : slews[i]), ns, next = 0;
		unsigned known = 0, asked = 0;
		int64_t off;

		memset(&c, 0, sizeof(c));
		for (ns = 0; ns < 1000.0 * MS; ns += 20000) {
			if (ns >= next) {
				look(&w, ns);
				next = ns + 5 * MS + dice(4 * MS);
			}
			asked++;
			if (!reads(&w, ns, &off))
				continue;
			known++;
			assert_true((double)off <= most && (double)off >= -most);
		}
		assert_true(known > asked * 3 / 4);
		reads(&w, ns - 20000, &off);
		assert_in_range(off + 100, 0, 200);
	}
}

static void a_counter_that_jumps_is_not_believed(void **unused)
{
	struct world w = {.ghz = 2.5};
	int ms;

	(void)unused;
	for (ms = 0; ms <= 50; ms += 5)
		look(&w, ms * (double)MS);
	vtr_tsc_learn(&c, first_ticks + 7, clock_at(&w, 55.0 * MS)); /* back */
	assert_int_equal(vtr_tsc_convert(&c, first_ticks + 8), 0);
	assert_int_equal(c.count, 1);
	for (ms = 60; ms <= 110; ms += 5)
		look(&w, ms * (double)MS);
	assert_int_not_equal(vtr_tsc_convert(&c, ticks_at(&w, 111.0 * MS)), 0);
	vtr_tsc_learn(&c, ticks_at(&w, 300.0 * MS), clock_at(&w, 115.0 * MS)); /* ahead */
	assert_int_equal(c.count, 1);
}

static void a_counter_of_absurd_speed_is_not_used(void **unused)
{
	static const double speeds[] = {0.0001, 0.3, 11, 4000};
	size_t i;
	int ms;

	(void)unused;
	for (i = 0; i < sizeof(speeds) / sizeof(*speeds); i++) {
		struct world w = {.ghz = speeds[i]};
		int64_t off;

		memset(&c, 0, sizeof(c));
		for (ms = 0; ms <= 200; ms += 5)
			look(&w, ms * (double)MS);
		assert_false(reads(&w, 201.0 * MS, &off));
	}
}

/* A reader gets one conversion or the other, never something in between. */
static atomic_int over;

static void *keep_saying(void *arg)
{
	struct world worlds[2] = {{.ghz = 2}, {.ghz = 2, .step_at_ms = 0, .step_ns = 1000000000}};
	unsigned which;
	int ms;

	(void)arg;
	for (which = 0; !atomic_load(&over); which = !which)
		for (ms = 0; ms <= 40; ms += 5)
			look(&worlds[which], ms * (double)MS);
	return NULL;
}

static void a_conversion_is_read_as_a_whole(void **unused)
{
	const struct world w = {.ghz = 2};
	unsigned seen[2] = {0, 0};
	pthread_t keeper;
	uint64_t until_ns;

	(void)unused;
	atomic_store(&over, 0);
	assert_int_equal(pthread_create(&keeper, NULL, keep_saying, NULL), 0);
	until_ns = vtr_clock_ns(CLOCK_MONOTONIC) + 200 * UINT64_C(1000000);
	while (vtr_clock_ns(CLOCK_MONOTONIC) < until_ns) {
		uint64_t got = vtr_tsc_convert(&c, ticks_at(&w, 41.0 * MS));
		int64_t off = (int64_t)(got - clock_at(&w, 41.0 * MS));
		int other = off > 500000000;

		if (!got)
			continue;
		assert_in_range(off - other * 1000000000 + 100, 0, 200);
		seen[other]++;
	}
	atomic_store(&over, 1);
	pthread_join(keeper, NULL);
	assert_true(seen[0] + seen[1] > 0);
}

static void the_real_counter_agrees_with_the_real_clock(void **unused)
{
	unsigned i, from_counter = 0;

	(void)unused;
	if (!vtr_tsc_begin()) {
		vpt_skip("no counter that the kernel trusts");
	}
	assert_int_equal(vtr_tsc_begin(), 0); /* one keeper at a time */
	assert_int_equal(vtr_tsc_kept(), 1);
	for (i = 0; i < 60; i++) {
		uint64_t before, now, after;

		vtr_tsc_keep();
		before = vtr_clock_ns(CLOCK_REALTIME);
		now = vtr_now();
		after = vtr_clock_ns(CLOCK_REALTIME);
		from_counter += atomic_load(&vtr_tsc.valid) != 0;
		assert_true(now + 2000 >= before && now <= after + 2000);
		usleep(4500);
	}
	vtr_tsc_end();
	assert_int_equal(vtr_tsc_kept(), 0);
	assert_int_equal(atomic_load(&vtr_tsc.valid), 0);
	print_message("%u of 60 from the counter\n", from_counter);
}

static void it_can_be_forbidden(void **unused)
{
	(void)unused;
	setenv("VPTRACE_TSC", "0", 1);
	assert_int_equal(vtr_tsc_begin(), 0);
	unsetenv("VPTRACE_TSC");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_is_known_without_a_keeper, fresh),
		cmocka_unit_test_setup(readers_are_right_and_never_go_back, fresh),
		cmocka_unit_test_setup(looks_in_quick_succession_count_once, fresh),
		cmocka_unit_test_setup(a_keeper_that_sleeps_is_not_believed, fresh),
		cmocka_unit_test_setup(a_clock_that_is_set_is_followed_at_the_next_look, fresh),
		cmocka_unit_test_setup(a_clock_that_is_slewed_is_followed, fresh),
		cmocka_unit_test_setup(a_counter_that_jumps_is_not_believed, fresh),
		cmocka_unit_test_setup(a_counter_of_absurd_speed_is_not_used, fresh),
		cmocka_unit_test_setup(a_conversion_is_read_as_a_whole, fresh),
		cmocka_unit_test_setup(the_real_counter_agrees_with_the_real_clock, fresh),
		cmocka_unit_test_setup(it_can_be_forbidden, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
