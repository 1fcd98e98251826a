/* test_tracer_cupti_clock.c - times of another clock, made up here: a counter of some speed against a system's clock that is slewed,
 * and readings that are a little off. */
#include "tests/tracer/ranges/tracer_rig.h"

#include "formats/base/memory.h"
#include "tracer/cupti/cupti_parts.h"
#include "tracer/cupti/records/cupti_clock.h"
#include "tracer/clock/capture_clock.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000, READING_OFF_NS = 50, READING_EVERY_MS = 100 };

static const uint64_t epoch_ns = UINT64_C(1790000000) * 1000 * MS, first_ticks = 77777777777;
static struct vtr_cupti_clock c;
static uint64_t state;

static int64_t dice(int64_t sides)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int64_t)(state >> 33) % sides;
}

static uint64_t ticks_at(uint64_t ns)
{
	return first_ticks + (uint64_t)((double)ns * 2.4);
}

/* The clock runs 20 ppm fast, and 21 from a moment in the fourth second on: between two points a second apart that bends a line
 * by a quarter of a microsecond. */
enum { BEND_NS = 250 };

static uint64_t clock_at(uint64_t ns)
{
	uint64_t turn_ns = UINT64_C(3456) * MS;

	return epoch_ns + ns + (uint64_t)((double)(ns < turn_ns ? ns : turn_ns) * 20e-6) +
	       (ns > turn_ns ? (uint64_t)((double)(ns - turn_ns) * 21e-6) : 0);
}

static void read_at(uint64_t cupti, uint64_t trace_ns, uint64_t monotonic_ns)
{
	struct vpt_clock moment = {.trace_ns = trace_ns, .monotonic_ns = monotonic_ns};

	vtr_cupti_clock_reading(&c, cupti, &moment);
}

static void look(uint64_t ns)
{
	read_at(ticks_at(ns),
		clock_at(ns) + (uint64_t)(dice(2 * READING_OFF_NS + 1) - READING_OFF_NS), ns);
}

static uint64_t error_at(uint64_t ns)
{
	uint64_t got = vtr_cupti_clock_convert(&c, ticks_at(ns)), truth = clock_at(ns);

	return got > truth ? got - truth : truth - got;
}

static int fresh(void **unused)
{
	(void)unused;
	memset(&c, 0, sizeof(c));
	state = 1;
	return 0;
}

/* What is asked for between a reading and the next is known when that has come. */
static void times_between_readings_are_as_good_as_the_readings(void **unused)
{
	uint64_t ms, most = 0, back;

	(void)unused;
	look(0);
	for (ms = READING_EVERY_MS; ms < 60000; ms += READING_EVERY_MS) {
		look(ms * MS);
		assert_int_equal(vtr_cupti_clock_reaches(&c, (ms - 1) * MS), 1);
		assert_int_equal(vtr_cupti_clock_reaches(&c, (ms + 1) * MS), 0);
		for (back = 7; back < READING_EVERY_MS; back += 31) {
			uint64_t ns = (ms - back) * MS, error = error_at(ns);

			most = error > most ? error : most;
		}
	}
	assert_in_range(most, READING_OFF_NS / 2, READING_OFF_NS + BEND_NS);
	/* Long afterwards too. */
	assert_in_range(error_at(UINT64_C(1234) * MS), 0, READING_OFF_NS + 2);
	assert_in_range(error_at(UINT64_C(50123) * MS), 0, READING_OFF_NS + 2);
	assert_in_range(c.error_ns, READING_OFF_NS, 2 * READING_OFF_NS + BEND_NS);
}

static void times_in_order_stay_so(void **unused)
{
	uint64_t ms, ns, last = 0;

	(void)unused;
	for (ms = 0; ms < 5000; ms += READING_EVERY_MS)
		look(ms * MS);
	for (ns = 0; ns < UINT64_C(6000) * MS; ns += 999983) {
		uint64_t now = vtr_cupti_clock_convert(&c, ticks_at(ns));

		assert_true(now >= last);
		last = now;
	}
}

static void beyond_the_readings_the_nearest_line_is_used(void **unused)
{
	(void)unused;
	look(UINT64_C(1000) * MS);
	look(UINT64_C(2000) * MS);
	assert_in_range(error_at(0), 0, 3 * READING_OFF_NS + 2);
	assert_in_range(error_at(UINT64_C(3000) * MS), 0, 3 * READING_OFF_NS + 2);
}

static void old_readings_are_forgotten(void **unused)
{
	uint64_t s;

	(void)unused;
	for (s = 0; s < 10 * VTR_CUPTI_CLOCK_POINTS; s++)
		look(s * 1000 * MS);
	assert_int_equal(c.count, 10 * VTR_CUPTI_CLOCK_POINTS);
	for (s = 1; s < VTR_CUPTI_CLOCK_POINTS - 1; s++)
		assert_in_range(error_at((10 * VTR_CUPTI_CLOCK_POINTS - s) * 1000 * MS - 1), 0,
			READING_OFF_NS + 2);
	/* From its oldest line on it is slope alone. */
	assert_in_range(error_at((10 * VTR_CUPTI_CLOCK_POINTS - 260) * UINT64_C(1000) * MS), 0,
		10 * READING_OFF_NS);
}

static void what_is_not_another_clock_stays(void **unused)
{
	uint64_t near = clock_at(UINT64_C(7000) * MS);

	(void)unused;
	assert_int_equal(vtr_cupti_clock_is_known(&c), 0);
	assert_int_equal(vtr_cupti_clock_convert(&c, 5), 5);
	look(0);
	assert_int_equal(vtr_cupti_clock_is_known(&c), 0);
	assert_int_equal(vtr_cupti_clock_reaches(&c, 1), 0);
	assert_int_equal(vtr_cupti_clock_convert(&c, 5), 5);
	/* Readings of the system's clock, of none, and of one that stands still. */
	read_at(near, near, 1);
	read_at(0, near, 2);
	read_at(ticks_at(0), near, 3);
	assert_int_equal(c.count, 1);
	look(UINT64_C(1000) * MS);
	assert_int_equal(vtr_cupti_clock_is_known(&c), 1);
	assert_int_equal(vtr_cupti_clock_convert(&c, 0), 0);
	assert_int_equal(vtr_cupti_clock_convert(&c, near), near);
	assert_int_equal(c.converted, 0);
	vtr_cupti_clock_convert(&c, ticks_at(5));
	assert_int_equal(c.converted, 1);
}

/* A clock of which a reading says nothing, or always the same, or that of the system though records are of another. */
static void what_cannot_be_converted_waits_for_two_readings_and_no_more(void **unused)
{
	const uint64_t said[] = {0, 5, epoch_ns};
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		memset(&c, 0, sizeof(c));
		read_at(said[i], epoch_ns, 1000);
		assert_int_equal(vtr_cupti_clock_reaches(&c, 1500), 0);
		read_at(said[i], epoch_ns + 1000, 2000);
		assert_int_equal(vtr_cupti_clock_reaches(&c, 1500), 0);
		read_at(said[i], epoch_ns + 2000, 3000);
		assert_int_equal(vtr_cupti_clock_is_known(&c), 0);
		assert_int_equal(vtr_cupti_clock_reaches(&c, 1500), 1);
		assert_int_equal(vtr_cupti_clock_reaches(&c, 2500), 0);
	}
}

static void a_clock_that_is_replaced_once_more_begins_another_line(void **unused)
{
	uint64_t ms;

	(void)unused;
	for (ms = 0; ms < 3000; ms += READING_EVERY_MS)
		look(ms * MS);
	/* One that counts milliseconds, far behind the first. */
	read_at(ms + 777, clock_at(ms * MS), ms * MS);
	assert_int_equal(vtr_cupti_clock_is_known(&c), 0);
	ms += READING_EVERY_MS;
	read_at(ms + 777, clock_at(ms * MS), ms * MS);
	assert_int_equal(vtr_cupti_clock_reaches(&c, ms * MS), 1);
	assert_in_range(vtr_cupti_clock_convert(&c, ms + 777 - 50), clock_at((ms - 50) * MS) - 2,
		clock_at((ms - 50) * MS) + 2);
}

/* By an hour: what was given shortly before does not wait for that hour, and what comes is on the clock as it is now. */
static void a_system_clock_that_is_set_back_holds_nothing_up(void **unused)
{
	uint64_t hour = UINT64_C(3600000) * MS, ms;

	(void)unused;
	for (ms = 0; ms < 3000; ms += READING_EVERY_MS)
		look(ms * MS);
	for (; ms < 3200; ms += READING_EVERY_MS)
		read_at(ticks_at(ms * MS), epoch_ns + ms * MS - hour, ms * MS);
	assert_int_equal(vtr_cupti_clock_reaches(&c, UINT64_C(2999) * MS), 1);
	assert_in_range(vtr_cupti_clock_convert(&c, ticks_at(UINT64_C(3050) * MS)),
		epoch_ns + UINT64_C(3050) * MS - hour - 1,
		epoch_ns + UINT64_C(3050) * MS - hour + 1);
}

/* ---- readings on a busy machine ---- */

/* Of vtr_clock_point(), for each of its readings; the third is CUPTI's. */
enum { BUSY_READS = 5 };

/* The time that passes after each read: the process was preempted, or the machine slept. NULL: the system's clock. */
static const uint64_t *pauses_ns;
static uint64_t busy_ns, busy_reads;

int clock_gettime(clockid_t clock, struct timespec *out)
{
	if (!pauses_ns)
		return (int)syscall(SYS_clock_gettime, clock, out);
	out->tv_sec = (time_t)(busy_ns / 1000000000);
	out->tv_nsec = (long)(busy_ns % 1000000000);
	busy_ns += pauses_ns[busy_reads++ % BUSY_READS];
	return 0;
}

static uint64_t cupti_is(void *ahead_ns)
{
	return vtr_clock_ns(CLOCK_REALTIME) + *(const uint64_t *)ahead_ns;
}

static int64_t skew_with(const uint64_t after_each[BUSY_READS], uint64_t ahead_ns)
{
	struct vpt_clock moment;
	uint64_t cupti, doubt_ns;

	busy_ns = epoch_ns;
	busy_reads = 0;
	pauses_ns = after_each;
	doubt_ns = vtr_clock_point(cupti_is, &ahead_ns, &moment, &cupti);
	pauses_ns = NULL;
	return vtr_cupti_clock_skew(cupti, &moment, doubt_ns);
}

/* Wherever the time passes: between the first reading and CUPTI's, after that, in one or in all. */
static void time_between_two_readings_is_no_other_clock(void **unused)
{
	static const uint64_t lengths[] = {3 * MS, 30 * MS, UINT64_C(3600000) * MS};
	uint64_t pauses[BUSY_READS];
	size_t i, k;

	(void)unused;
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (k = 0; k <= BUSY_READS; k++) {
			memset(pauses, 0, sizeof(pauses));
			if (k < BUSY_READS)
				pauses[k] = lengths[i];
			else
				pauses[1] = pauses[3] = lengths[i];
			assert_int_equal(skew_with(pauses, 0), 0);
			assert_int_equal(skew_with(pauses, MS), 0);
		}
}

static void a_clock_further_away_than_the_readings_are_apart_is_another(void **unused)
{
	const uint64_t none[BUSY_READS] = {0}, late[BUSY_READS] = {0, 0, 0, 4 * MS};

	(void)unused;
	assert_int_equal(skew_with(none, 2 * MS), 2 * MS);
	assert_int_equal(skew_with(none, MS + 1), MS + 1);
	assert_int_equal(skew_with(none, VTR_CLOCK_FAR_NS + 1), 0); /* not near */
	/* CUPTI's was read 2 ms before the middle. */
	assert_int_equal(skew_with(late, 5 * MS), 0);
	assert_int_equal(skew_with(late, 6 * MS), 4 * MS);
}

/* ---- records ---- */

static struct vtr_sizes sizes;

static void all_sizes(void)
{
	memset(&sizes, 0, sizeof(sizes));
	sizes.bytes[VTR_KIND_CONCURRENT_KERNEL] = sizeof(struct vtr_record_kernel);
	sizes.bytes[VTR_KIND_RUNTIME] = sizeof(struct vtr_record_call);
	sizes.bytes[VTR_KIND_MEMCPY] = sizeof(struct vtr_record_memcpy);
	sizes.bytes[VTR_KIND_MEMORY2] = sizeof(struct vtr_record_memory);
	sizes.bytes[VTR_KIND_DEVICE] = sizeof(struct vtr_record_device);
	/* As before 12.8: without the device's time. */
	sizes.bytes[VTR_KIND_CUDA_EVENT] = 24;
}

static void every_time_of_a_buffer_is_converted(void **unused)
{
	struct {
		struct vtr_record_device device;
		struct vtr_record_kernel kernel;
		struct vtr_record_call call;
		uint32_t event[6];
		struct vtr_record_memcpy copy;
		struct vtr_record_memory memory;
		uint32_t cut; /* a record that is not whole */
	} b = {.device = {.kind = VTR_KIND_DEVICE, .memory_bytes = 77},
		.kernel = {.kind = VTR_KIND_CONCURRENT_KERNEL,
			.start = ticks_at(100),
			.end = ticks_at(200),
			.grid_id = 12345,
			.graph_node = 12345},
		.call = {.kind = VTR_KIND_RUNTIME,
			.start = ticks_at(300),
			.end = ticks_at(400),
			.correlation = 9},
		.event = {VTR_KIND_CUDA_EVENT, 1, 2, 3, 4, 5},
		.copy = {.kind = VTR_KIND_MEMCPY,
			.bytes = 12345,
			.start = ticks_at(500),
			.end = ticks_at(600)},
		.memory = {.kind = VTR_KIND_MEMORY2,
			.address = 12345,
			.bytes = 12345,
			.time = ticks_at(700)},
		.cut = VTR_KIND_RUNTIME};
	struct vtr_full full = {.data = &b, .valid_bytes = sizeof(b), .taken_ns = epoch_ns};
	static const uint32_t event[] = {VTR_KIND_CUDA_EVENT, 1, 2, 3, 4, 5};

	(void)unused;
	all_sizes();
	read_at(ticks_at(0), epoch_ns, 0);
	read_at(ticks_at(1000), epoch_ns + 1000, 1000);
	assert_int_equal(vtr_cupti_clock_is_foreign(&sizes, &full), 1);
	vtr_cupti_clock_buffer(&c, &sizes, &full);
	assert_int_equal(vtr_cupti_clock_is_foreign(&sizes, &full), 0);
	assert_int_equal(b.kernel.start, epoch_ns + 100);
	assert_int_equal(b.kernel.end, epoch_ns + 200);
	assert_int_equal(b.kernel.completed, 0);
	assert_int_equal(b.kernel.grid_id, 12345);
	assert_int_equal(b.kernel.graph_node, 12345);
	assert_int_equal(b.call.start, epoch_ns + 300);
	assert_int_equal(b.call.end, epoch_ns + 400);
	assert_int_equal(b.call.correlation, 9);
	assert_memory_equal(b.event, event, sizeof(event));
	assert_int_equal(b.copy.bytes, 12345);
	assert_int_equal(b.copy.start, epoch_ns + 500);
	assert_int_equal(b.copy.end, epoch_ns + 600);
	assert_int_equal(b.memory.address, 12345);
	assert_int_equal(b.memory.time, epoch_ns + 700);
	assert_int_equal(b.device.memory_bytes, 77);
	assert_int_equal(c.converted, 7);
}

static void a_buffer_without_times_is_nobodys(void **unused)
{
	struct vtr_record_call call = {.kind = VTR_KIND_RUNTIME};
	struct vtr_full full = {.data = &call, .valid_bytes = sizeof(call), .taken_ns = epoch_ns};

	(void)unused;
	all_sizes();
	assert_int_equal(vtr_cupti_clock_is_foreign(&sizes, &full), 0);
	full.valid_bytes = 3;
	assert_int_equal(vtr_cupti_clock_is_foreign(&sizes, &full), 0);
	full.valid_bytes = 0;
	assert_int_equal(vtr_cupti_clock_is_foreign(&sizes, &full), 0);
}

/* ---- buffers of another client ---- */

static struct vtr_strays strays;

static void stray(uint64_t start, uint64_t end)
{
	struct vtr_record_call calls[] = {
		{.kind = VTR_KIND_RUNTIME},
		{.kind = VTR_KIND_RUNTIME, .start = end, .end = end},
		{.kind = VTR_KIND_RUNTIME, .start = start, .end = end},
	};

	all_sizes();
	vtr_strays_add(&strays, &sizes, (const uint8_t *)calls, sizeof(calls));
}

static void the_earliest_time_of_strays_is_given_once(void **unused)
{
	uint64_t now = vtr_now();

	(void)unused;
	vtr_strays_reset(&strays);
	assert_int_equal(vtr_strays_from(&strays, &c), UINT64_MAX);
	stray(now - 500, now);
	stray(now - 900, now - 800);
	stray(now - 700, now);
	assert_int_equal(strays.bytes, 9 * sizeof(struct vtr_record_call));
	assert_int_equal(vtr_strays_from(&strays, &c), now - 900);
	assert_int_equal(vtr_strays_from(&strays, &c), UINT64_MAX);
	stray(0, 0);
	assert_int_equal(vtr_strays_from(&strays, &c), UINT64_MAX);
}

/* Times of another clock are converted; before it is known they may be any. */
static void the_earliest_time_of_strays_may_be_of_another_clock(void **unused)
{
	uint64_t now = vtr_now();

	(void)unused;
	vtr_strays_reset(&strays);
	stray(ticks_at(100), ticks_at(200));
	assert_int_equal(vtr_strays_from(&strays, &c), 0);
	read_at(ticks_at(0), now - 1000, 0);
	read_at(ticks_at(1000), now, 1000);
	stray(ticks_at(100), ticks_at(200));
	stray(now - 850, now);
	assert_int_equal(vtr_strays_from(&strays, &c), now - 900);
	stray(ticks_at(200), ticks_at(300));
	stray(now - 850, now);
	assert_int_equal(vtr_strays_from(&strays, &c), now - 850);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(times_between_readings_are_as_good_as_the_readings, fresh),
		cmocka_unit_test_setup(times_in_order_stay_so, fresh),
		cmocka_unit_test_setup(beyond_the_readings_the_nearest_line_is_used, fresh),
		cmocka_unit_test_setup(old_readings_are_forgotten, fresh),
		cmocka_unit_test_setup(what_is_not_another_clock_stays, fresh),
		cmocka_unit_test_setup(
			what_cannot_be_converted_waits_for_two_readings_and_no_more, fresh),
		cmocka_unit_test_setup(
			a_clock_that_is_replaced_once_more_begins_another_line, fresh),
		cmocka_unit_test_setup(a_system_clock_that_is_set_back_holds_nothing_up, fresh),
		cmocka_unit_test(time_between_two_readings_is_no_other_clock),
		cmocka_unit_test(a_clock_further_away_than_the_readings_are_apart_is_another),
		cmocka_unit_test_setup(every_time_of_a_buffer_is_converted, fresh),
		cmocka_unit_test_setup(a_buffer_without_times_is_nobodys, fresh),
		cmocka_unit_test_setup(the_earliest_time_of_strays_is_given_once, fresh),
		cmocka_unit_test_setup(the_earliest_time_of_strays_may_be_of_another_clock, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
