/* test_tracer_window.c - when a capture records: what the text of a trigger means, which times lie in
 * a pause, what opens and closes the window, and that the writer sees all of it in order. */
#include "tracer/settings/trigger.h"
#include "tracer/window/pauses.h"
#include "tracer/window/recording_window.h"

#include "tests/support/random.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/ranges/app_threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- triggers ---- */

#define UNITS(note, skipped, idle, recorded, cycles)                                               \
	{                                                                                          \
		.kind = VTR_TRIGGER_UNITS, .unit = VPTRACE_NOTE_##note, .skip = (skipped),         \
		.wait = (idle), .active = (recorded), .repeat = (cycles)                           \
	}

static void a_trigger_is_a_word_and_what_it_needs(void **state)
{
	static const struct {
		const char *text;
		struct vtr_trigger expected;
	} cases[] = {
		{"", {.kind = VTR_TRIGGER_NOW}},
		{"now", {.kind = VTR_TRIGGER_NOW}},
		{"api", {.kind = VTR_TRIGGER_API}},
		{"cudaProfilerApi", {.kind = VTR_TRIGGER_PROFILER}},
		{"nvtx:a", {.kind = VTR_TRIGGER_RANGE, .name = "a"}},
		{"nvtx:block 3", {.kind = VTR_TRIGGER_RANGE, .name = "block 3"}},
		{"nvtx:a:b", {.kind = VTR_TRIGGER_RANGE, .name = "a:b"}},
		{"nvtx:a:2", {.kind = VTR_TRIGGER_RANGE, .name = "a", .count = 2}},
		{"nvtx:a:2:3", {.kind = VTR_TRIGGER_RANGE, .name = "a:2", .count = 3}},
		{"nvtx:a:", {.kind = VTR_TRIGGER_RANGE, .name = "a:"}},
		{"step:0", UNITS(STEP, 0, 0, 1, 1)},
		{"step:7", UNITS(STEP, 0, 7, 1, 1)},
		{"step:10-12", UNITS(STEP, 0, 10, 3, 1)},
		{"block:1-2", UNITS(BLOCK, 0, 1, 2, 1)},
		{"request:1-3", UNITS(REQUEST, 0, 1, 3, 1)},
		{"request:0-18446744073709551614", UNITS(REQUEST, 0, 0, UINT64_MAX, 1)},
		{"request:active=3", UNITS(REQUEST, 0, 0, 3, 0)},
		{"request:wait=2", UNITS(REQUEST, 0, 2, 1, 0)},
		{"step:wait=1,warmup=2,active=3,repeat=4,skip_first=5", UNITS(STEP, 5, 3, 3, 4)},
		{"block:repeat=2,active=1", UNITS(BLOCK, 0, 0, 1, 2)},
		{"delay:0", {.kind = VTR_TRIGGER_DELAY}},
		{"delay:2.5", {.kind = VTR_TRIGGER_DELAY, .delay_ns = 2500000000}},
		{"delay:0.000000001", {.kind = VTR_TRIGGER_DELAY, .delay_ns = 1}},
	};
	struct vtr_trigger got;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const struct vtr_trigger *e = &cases[i].expected;

		if (vtr_trigger_read(cases[i].text, &got, NULL) || got.kind != e->kind ||
			strcmp(got.name, e->name) != 0 || got.count != e->count ||
			got.unit != e->unit || got.skip != e->skip || got.wait != e->wait ||
			got.active != e->active || got.repeat != e->repeat ||
			got.delay_ns != e->delay_ns)
			fail_msg("\"%s\" is read as kind %d, \"%s\", %llu, units %lld "
				 "%llu-%llu-%llu-%llu, "
				 "%llu ns",
				cases[i].text, (int)got.kind, got.name,
				(unsigned long long)got.count, (long long)got.unit,
				(unsigned long long)got.skip, (unsigned long long)got.wait,
				(unsigned long long)got.active, (unsigned long long)got.repeat,
				(unsigned long long)got.delay_ns);
	}
}

static void other_triggers_are_refused(void **state)
{
	static const char *const texts[] = {"later", "NOW", "now ", "nvtx", "nvtx:", "nvtx:a:0",
		"nvtx:a:2-3", "nvtx:a:2x", "nvtx:a:-1", "nvtx:a:+1", "nvtx:a:1.5", "nvtx:a:1,2",
		"nvtx:a:b:2-3", "nvtx:a:18446744073709551616", "nvtx::1", "step:", "step:-1",
		"step:1-", "step:2-1", "step:1-2-3", "step:x", "step:99999999999999999999",
		"step:0-18446744073709551615", "frame:1", "request:", "block:1-",
		"request:active=0", "request:active=", "request:active=-1", "request:active=1,",
		"request:,active=1", "request:active=1,active=2", "request:cycles=2",
		"request:1-2,repeat=2", "step:wait=4294967296", "request:active=1;repeat=2",
		"delay:", "delay:.5", "delay:1.", "delay:-1", "delay:1s", "delay:0.0000000001",
		"delay:99999999999"};
	char longest[VTR_TRIGGER_NAME_MAX + 16] = "nvtx:";
	struct vtr_trigger got;
	struct vpt_err err;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(texts); i++) {
		if (vtr_trigger_read(texts[i], &got, &err) != VPT_EINVAL ||
			!strstr(err.text, "expected now, api") || !strstr(err.text, texts[i]))
			fail_msg("\"%s\" is not refused: %s", texts[i], err.text);
		assert_int_equal(got.kind, VTR_TRIGGER_NOW);
	}
	memset(longest + 5, 'x', VTR_TRIGGER_NAME_MAX);
	assert_int_equal(vtr_trigger_read(longest, &got, &err), VPT_EINVAL);
	longest[5 + VTR_TRIGGER_NAME_MAX - 1] = '\0';
	assert_int_equal(vtr_trigger_read(longest, &got, &err), VPT_OK);
}

/* ---- pauses ---- */

/* Compared with a list that is searched from end to end. */
static void a_time_lies_in_a_pause_or_does_not(void **state)
{
	struct vtr_pause all[400];
	struct vtr_pauses p;
	struct vpt_random random = {7};
	int round;

	(void)state;
	for (round = 0; round < 50; round++) {
		uint64_t now = 1000, from_ns, to_ns, t;
		size_t count = 0, i;

		p = (struct vtr_pauses){0};
		while (count < COUNT(all)) {
			/* Every other round the clock is set back now and then. */
			if (round % 2 && !(vpt_random_below(&random, 20)))
				now -= vpt_random_below(&random, 300) % now;
			now += vpt_random_below(&random, 20);
			all[count].from_ns = now;
			vtr_pauses_begin(&p, now);
			now += vpt_random_below(&random, 20);
			all[count++].to_ns = now;
			vtr_pauses_end(&p, now);
		}
		for (t = 0; t < 12000; t++) {
			int expected = 0;

			for (i = 0; i < count; i++)
				expected |= t >= all[i].from_ns && t < all[i].to_ns;
			if (expected != (vtr_pauses_at(&p, t) != NULL))
				fail_msg("round %d: %llu", round, (unsigned long long)t);
		}
		vtr_pauses_clear(&p, &from_ns, &to_ns);
		assert_int_equal(to_ns, UINT64_MAX);
		for (t = from_ns; t < from_ns + 100; t++)
			assert_null(vtr_pauses_at(&p, t));
		vtr_pauses_free(&p);
	}
}

/* Calls and pauses in random order; half of the calls are noted late, and some never. */
static void an_op_is_of_the_pause_that_it_was_launched_in(void **state)
{
	enum { CALLS = 400, ROUNDS = 60 };
	static uint64_t called_ns[CALLS];
	struct vpt_random random = {11};
	int round, i, off, hidden = 0, kept = 0, doubted = 0;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		struct vtr_pauses p = {0};
		uint64_t now = 1000, start_ns;
		int is_off = 0;

		for (i = 0; i < CALLS; i++) {
			if (!vpt_random_below(&random, 8)) {
				now += 1 + vpt_random_below(&random, 30);
				(is_off ? vtr_pauses_end : vtr_pauses_begin)(&p, now);
				is_off = !is_off;
			}
			now += vpt_random_below(&random, 10);
			called_ns[i] = now;
			if (i % 2)
				vtr_pauses_note_call(&p, 1 + (uint64_t)i, now);
		}
		for (i = CALLS - 2; i >= 0; i -= 2)
			if (i % 20)
				vtr_pauses_note_call(&p, 1 + (uint64_t)i, called_ns[i]);
		for (i = 0; i < CALLS; i++) {
			start_ns = called_ns[i] + vpt_random_below(&random, 300);
			off = vtr_pauses_at(&p, called_ns[i]) != NULL;
			if (!vtr_pauses_at(&p, start_ns))
				continue;
			if (i % 20 == 0 && vtr_pauses_doubt_op(&p, 1 + (uint64_t)i, start_ns)) {
				doubted++;
				continue;
			}
			if (vtr_pauses_doubt_op(&p, 1 + (uint64_t)i, start_ns) ||
				vtr_pauses_hide_op(&p, 1 + (uint64_t)i, start_ns) != off)
				fail_msg("round %d: call %d, %s a pause", round, i,
					off ? "in" : "outside");
			hidden += off;
			kept += !off;
		}
		vtr_pauses_free(&p);
	}
	if (hidden < 1000 || kept < 1000 || doubted < 10)
		fail_msg("only %d, %d, %d", hidden, kept, doubted);
}

static void without_calls_a_pause_has_the_ops_that_begin_in_it(void **state)
{
	struct vtr_pauses p = {0};

	(void)state;
	vtr_pauses_begin(&p, 100);
	vtr_pauses_note_id(&p, 5);
	assert_true(vtr_pauses_hide_op(&p, 3, 150));
	assert_false(vtr_pauses_hide_op(&p, 3, 50));
	vtr_pauses_note_call(&p, 4, 110);
	assert_false(vtr_pauses_hide_op(&p, 3, 150));
	assert_true(vtr_pauses_hide_op(&p, 4, 150));
	assert_true(vtr_pauses_hide_op(&p, 0, 150)); /* no id: nobody knows its launch */
	assert_true(vtr_pauses_hide_op(&p, 4, 0));   /* it never began */
	vtr_pauses_free(&p);
}

static void a_pause_to_come_can_come_earlier(void **state)
{
	struct vtr_pauses p = {0};
	struct vtr_pause got;
	uint64_t from_ns, to_ns;

	(void)state;
	vtr_pauses_begin(&p, 500);
	vtr_pauses_clear(&p, &from_ns, &to_ns);
	assert_int_equal(from_ns, 1);
	assert_int_equal(to_ns, 500);
	vtr_pauses_begin(&p, 300);
	vtr_pauses_begin(&p, 400);
	assert_null(vtr_pauses_at(&p, 299));
	assert_non_null(vtr_pauses_at(&p, 300));
	vtr_pauses_end(&p, 600);
	assert_false(vtr_pauses_take(&p, 599, &got));
	assert_true(vtr_pauses_take(&p, 600, &got));
	assert_int_equal(got.from_ns, 300);
	assert_false(vtr_pauses_take(&p, 700, &got));
	vtr_pauses_begin(&p, 900);
	vtr_pauses_stop(&p, 800); /* it never came */
	assert_false(vtr_pauses_take(&p, UINT64_MAX, &got));
	vtr_pauses_begin(&p, 900);
	vtr_pauses_stop(&p, 950);
	assert_true(vtr_pauses_take(&p, UINT64_MAX, &got));
	assert_int_equal(got.to_ns, 950);
	vtr_pauses_free(&p);
}

static void the_oldest_pauses_are_forgotten(void **state)
{
	struct vtr_pauses p = {0};
	uint64_t i;

	(void)state;
	for (i = 0; i < 10 * VTR_PAUSES_MAX; i++) {
		vtr_pauses_begin(&p, 10 * i);
		vtr_pauses_end(&p, 10 * i + 5);
	}
	assert_true(p.count <= VTR_PAUSES_MAX && p.count >= VTR_PAUSES_MAX / 2);
	for (i = 9 * VTR_PAUSES_MAX + VTR_PAUSES_MAX / 2 + 2; i < 10 * VTR_PAUSES_MAX; i++) {
		assert_non_null(vtr_pauses_at(&p, 10 * i + 4));
		assert_null(vtr_pauses_at(&p, 10 * i + 5));
	}
	vtr_pauses_free(&p);
}

/* ---- the window ---- */

static void begin(const char *text)
{
	struct vtr_trigger t;

	vtr_names_init();
	vtr_threads_init();
	assert_int_equal(vtr_trigger_read(text, &t, NULL), VPT_OK);
	vtr_window_begin(&t, 0, vtr_now());
	vtr_threads_record(vtr_now());
}

/* "-" and "+" for each change: closed, open; "." for the last. */
static const char *changes(void)
{
	static char out[64];
	struct vtr_window_change c;
	size_t n = 0;

	while (vtr_window_next(&c) && n < sizeof(out) - 2) {
		out[n++] = c.records ? '+' : '-';
		if (c.is_last)
			out[n++] = '.';
	}
	out[n] = '\0';
	return out;
}

static void push(const char *name)
{
	vtr_range_push(&(struct vtr_attributes){.name = vtr_name_of(name)});
}

static void pop(void)
{
	vtr_range_pop(VTR_NAME_EMPTY);
}

static void ranges_of_the_name_open_the_window(void **state)
{
	uint64_t id;

	(void)state;
	begin("nvtx:a");
	assert_string_equal(changes(), "-");
	push("b");
	push("a");
	assert_true(vtr_window_is_open());
	push("a");
	push("b");
	pop();
	pop();
	assert_string_equal(changes(), "+");
	pop();
	assert_string_equal(changes(), "-");
	assert_false(vtr_window_is_open());
	push("a");
	id = vtr_range_start(&(struct vtr_attributes){.name = vtr_name_of("a")});
	pop();
	vtr_range_end(id); /* did not open it */
	assert_string_equal(changes(), "+-");
	id = vtr_range_start(&(struct vtr_attributes){.name = vtr_name_of("a")});
	push("a");
	pop();
	assert_string_equal(changes(), "+");
	vtr_range_end(id);
	assert_string_equal(changes(), "-");
	pop();
	vtr_window_end();
	push("a");
	pop();
	assert_string_equal(changes(), "");
}

static void a_count_of_windows_ends_it(void **state)
{
	int i;

	(void)state;
	begin("nvtx:a:2");
	for (i = 0; i < 4; i++) {
		push("a");
		pop();
	}
	assert_string_equal(changes(), "-+-+-.");
}

/* 256 ranges have room on a stack; a newer one takes the place of the oldest. */
static void a_range_above_forgotten_ones_opens_a_window(void **state)
{
	int i;

	(void)state;
	begin("nvtx:a");
	for (i = 0; i < 2 * VTR_DEPTH_MAX; i++)
		push("b");
	push("a");
	assert_true(vtr_window_is_open());
	pop();
	assert_false(vtr_window_is_open());
	for (i = 0; i < 2 * VTR_DEPTH_MAX; i++)
		pop();
	changes();
	push("a");
	for (i = 0; i < 2 * VTR_DEPTH_MAX; i++)
		push("a");
	assert_true(vtr_window_is_open());
	for (i = 0; i < VTR_DEPTH_MAX; i++)
		pop();
	assert_false(vtr_window_is_open()); /* the others are only counted */
	for (i = 0; i < VTR_DEPTH_MAX + 1; i++)
		pop();
	push("a");
	assert_true(vtr_window_is_open());
	pop();
	assert_false(vtr_window_is_open());
}

static void a_forgotten_range_closes_its_window(void **state)
{
	int i;

	(void)state;
	begin("nvtx:a");
	push("a");
	for (i = 1; i < VTR_DEPTH_MAX; i++)
		push("b");
	assert_true(vtr_window_is_open());
	push("b");
	assert_false(vtr_window_is_open());
	push("a");
	assert_true(vtr_window_is_open());
	pop();
	assert_false(vtr_window_is_open());
	for (i = 0; i < VTR_DEPTH_MAX + 1; i++)
		pop();
}

static void *push_and_end(void *arg)
{
	(void)arg;
	push("a");
	return NULL;
}

static void a_thread_that_ends_closes_its_window(void **state)
{
	pthread_t thread;

	(void)state;
	begin("nvtx:a");
	assert_int_equal(pthread_create(&thread, NULL, push_and_end, NULL), 0);
	pthread_join(thread, NULL);
	assert_string_equal(changes(), "-+-");
}

static void step(void)
{
	static const struct vptrace_note note = {VPTRACE_NOTE_STEP, -1, -1, -1, -1};

	vptrace_note_push("denoise", &note);
}

static void steps_are_counted(void **state)
{
	(void)state;
	begin("step:1-2");
	step();
	pop();
	assert_string_equal(changes(), "-");
	step();
	pop();
	assert_string_equal(changes(), "+"); /* from one step to the next */
	step();
	push("denoise");
	pop();
	assert_string_equal(changes(), "");
	pop();
	assert_string_equal(changes(), "-.");
	step();
	pop();
	assert_string_equal(changes(), "");

	begin("step:1-2");
	vptrace_step();
	vptrace_step();
	vptrace_step();
	assert_string_equal(changes(), "-+");
	vptrace_step();
	vptrace_step();
	assert_string_equal(changes(), "-.");
}

static void unit(int64_t kind, const char *name)
{
	struct vptrace_note note = {kind, -1, -1, -1, -1};

	vptrace_note_push(name, &note);
}

/* Requests by number, with blocks and steps in them, which count for nothing. */
static const char *requests(int count)
{
	static char all[256];
	int i;

	*all = '\0';
	for (i = 0; i < count; i++) {
		unit(VPTRACE_NOTE_REQUEST, i % 2 ? "odd" : "even");
		unit(VPTRACE_NOTE_BLOCK, "block");
		step();
		vptrace_step();
		push("odd");
		pop();
		pop();
		pop();
		strcat(strcat(all, changes()), "(");
		pop();
		strcat(strcat(all, changes()), ")");
	}
	return all;
}

static void any_unit_can_be_counted(void **state)
{
	(void)state;
	begin("request:1-2");
	assert_string_equal(requests(5), "-()+()(-.)()()");
	begin("request:0");
	assert_string_equal(requests(3), "-+(-.)()()");
	begin("request:3-9");
	assert_string_equal(requests(5), "-()()()+()()");
	begin("block:2");
	unit(VPTRACE_NOTE_BLOCK, "b");
	unit(VPTRACE_NOTE_BLOCK, "b");
	unit(VPTRACE_NOTE_BLOCK, "b");
	assert_string_equal(changes(), "-+");
	pop();
	assert_string_equal(changes(), "-.");
	pop();
	pop();
	assert_string_equal(changes(), "");
}

static void a_schedule_repeats(void **state)
{
	(void)state;
	begin("request:skip_first=1,wait=1,warmup=1,active=2,repeat=2");
	assert_string_equal(requests(11), "-()()()+()(-)()()+()(-.)()()");
	begin("request:wait=1");
	assert_string_equal(requests(5), "-()+(-)()+(-)()");
	begin("request:active=2"); /* windows without anything between them */
	assert_string_equal(requests(5), "-+()(-)+()(-)+()");
	begin("step:wait=1,active=1,repeat=2");
	vptrace_step();
	vptrace_step();
	assert_string_equal(changes(), "-+");
	vptrace_step();
	assert_string_equal(changes(), "-");
	vptrace_step();
	vptrace_step();
	assert_string_equal(changes(), "+-.");
}

static void *one_request(void *state)
{
	(void)state;
	unit(VPTRACE_NOTE_REQUEST, "request");
	return NULL; /* the thread's end ends it */
}

/* The window is whole although the next request begins before its last one ends. */
static void requests_overlap(void **state)
{
	pthread_t thread;

	(void)state;
	begin("request:1");
	unit(VPTRACE_NOTE_REQUEST, "request");
	pop();
	unit(VPTRACE_NOTE_REQUEST, "request");
	assert_string_equal(changes(), "-+");
	assert_int_equal(pthread_create(&thread, NULL, one_request, NULL), 0);
	pthread_join(thread, NULL);
	assert_string_equal(changes(), "");
	pop();
	assert_string_equal(changes(), "-.");
}

static void the_host_pauses_inside(void **state)
{
	(void)state;
	begin("nvtx:a");
	assert_true(vtr_window_pause(1));
	assert_false(vtr_window_pause(1));
	push("a");
	assert_false(vtr_window_is_open());
	assert_string_equal(changes(), "-");
	assert_true(vtr_window_pause(0));
	assert_string_equal(changes(), "+");
	pop();
	assert_string_equal(changes(), "-");

	begin("api");
	assert_false(vtr_window_is_open());
	assert_true(vtr_window_start());
	assert_false(vtr_window_start()); /* it is a second start then */
	assert_string_equal(changes(), "-+");
}

/* Without a writer the ring fills up: windows are missed as a whole, and counted. */
static void windows_beyond_the_ring_are_missed_as_a_whole(void **state)
{
	struct vtr_window_change c;
	uint64_t taken = 0;
	int i, records = 1;

	(void)state;
	begin("nvtx:a");
	for (i = 0; i < 5000; i++) {
		push("a");
		pop();
	}
	while (vtr_window_next(&c)) {
		assert_int_equal(c.records, !records);
		records = c.records;
		taken++;
	}
	assert_false(records);
	assert_int_equal((taken - 1) / 2 + vtr_window_missed(), 5000);
	assert_true(vtr_window_missed() > 0);
	push("a");
	assert_string_equal(changes(), "+");
	pop();
}

/* Threads open and close it as fast as they can, while the writer follows: changes alternate. */
enum { TOGGLES = 20000, TOGGLERS = 4 };
static atomic_int running;

static void *toggle(void *arg)
{
	int i;

	for (i = 0; i < TOGGLES; i++) {
		if (arg)
			vtr_window_pause(i & 1);
		push("a");
		pop();
	}
	vtr_window_pause(0);
	atomic_fetch_sub(&running, 1);
	return NULL;
}

static void changes_alternate_whoever_makes_them(void **state)
{
	pthread_t threads[TOGGLERS];
	struct vtr_window_change c;
	int i, records = 1, last;

	(void)state;
	begin("nvtx:a");
	atomic_store(&running, TOGGLERS);
	for (i = 0; i < TOGGLERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, toggle, i ? NULL : state), 0);
	do {
		last = !atomic_load(&running);
		while (vtr_window_next(&c)) {
			assert_int_equal(c.records, !records);
			records = c.records;
		}
	} while (!last);
	for (i = 0; i < TOGGLERS; i++)
		pthread_join(threads[i], NULL);
	assert_false(records);
	assert_false(vtr_window_is_open());
}

/* The clock, which lets somebody else pause and resume before it is read, once. */
static int interrupts;

int clock_gettime(clockid_t id, struct timespec *out)
{
	if (interrupts) {
		interrupts = 0;
		vtr_window_pause(1);
		vtr_window_pause(0);
	}
	return (int)syscall(SYS_clock_gettime, id, out);
}

/* Otherwise a pause could end before it begins, and what was launched after it would be lost. */
static void times_have_the_order_of_the_changes(void **state)
{
	struct vtr_window_change c;
	uint64_t time_ns = 0;
	int count = 0;

	(void)state;
	begin("now");
	interrupts = 1;
	vtr_window_pause(1);
	assert_int_equal(interrupts, 0);
	while (vtr_window_next(&c)) {
		assert_true(c.time_ns > time_ns);
		time_ns = c.time_ns;
		count++;
	}
	assert_in_range(count, 2, 3);
}

static int end_capture(void **state)
{
	(void)state;
	vtr_window_end();
	vtr_threads_stop();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trigger_is_a_word_and_what_it_needs),
		cmocka_unit_test(other_triggers_are_refused),
		cmocka_unit_test(a_time_lies_in_a_pause_or_does_not),
		cmocka_unit_test(an_op_is_of_the_pause_that_it_was_launched_in),
		cmocka_unit_test(without_calls_a_pause_has_the_ops_that_begin_in_it),
		cmocka_unit_test(a_pause_to_come_can_come_earlier),
		cmocka_unit_test(the_oldest_pauses_are_forgotten),
		cmocka_unit_test_teardown(ranges_of_the_name_open_the_window, end_capture),
		cmocka_unit_test_teardown(a_count_of_windows_ends_it, end_capture),
		cmocka_unit_test_teardown(a_range_above_forgotten_ones_opens_a_window, end_capture),
		cmocka_unit_test_teardown(a_forgotten_range_closes_its_window, end_capture),
		cmocka_unit_test_teardown(a_thread_that_ends_closes_its_window, end_capture),
		cmocka_unit_test_teardown(steps_are_counted, end_capture),
		cmocka_unit_test_teardown(any_unit_can_be_counted, end_capture),
		cmocka_unit_test_teardown(a_schedule_repeats, end_capture),
		cmocka_unit_test_teardown(requests_overlap, end_capture),
		cmocka_unit_test_teardown(the_host_pauses_inside, end_capture),
		cmocka_unit_test_teardown(
			windows_beyond_the_ring_are_missed_as_a_whole, end_capture),
		cmocka_unit_test_teardown(changes_alternate_whoever_makes_them, end_capture),
		cmocka_unit_test_teardown(times_have_the_order_of_the_changes, end_capture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
