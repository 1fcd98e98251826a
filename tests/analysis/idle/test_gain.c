/* test_gain.c - what a device would save without one cause of its idle time: random schedules of host code, launches, waits
 * and allocations are played on a simulated GPU, once as they are and once for each cause, each part of the waits, all
 * waits and half of the host code without it. What the report says of the first must be what the others save. */
#include "analysis/analyze.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	SEEDS = 400,
	DEEDS_MAX = 6000,
	SCRIPT_BYTES = 1 << 20,
	/* The simulated GPU: what a call takes, how long work is on its way, how late a waiting host wakes, and how many
	 * launches may wait. */
	LAUNCH_NS = 3000,
	SYNC_NS = 1500,
	SUBMIT_NS = 2000,
	WAKE_NS = 5000,
	QUEUE = 1024,
	START_NS = 1000000
};

/* What a schedule is played without: a cause of idle time, or one of these. */
enum without { SMALL_READS = VPA_CAUSES, LARGE_COPIES, OTHER_SYNCS, ALL_WAITS, HALF_CODE };

/* READ: a few bytes to pinned memory, which only the SYNC after it waits for. */
struct deed {
	enum { HOST, LAUNCH, SYNC, COPY, READ, MALLOC } kind;
	uint64_t ns; /* of the host, or on the device */
	/* A SYNC: of the copy before it, to memory of this kind. A COPY: not of a few bytes. */
	enum { NO_COPY, PAGEABLE, PINNED } of_copy;
	int is_large;
};

struct schedule {
	struct deed deeds[DEEDS_MAX];
	size_t count;
	unsigned waits;
	int is_long; /* more launches than a queue holds */
};

static struct schedule schedule;

/* ---- schedules ---- */

static void put(struct schedule *s, struct deed deed)
{
	if (s->count < DEEDS_MAX)
		s->deeds[s->count++] = deed;
}

/* A length between two others. */
static uint64_t some(struct vpt_random *r, uint64_t least, uint64_t most)
{
	return least + vpt_random_below(r, most - least + 1);
}

/* Host code, of either kind: never two stretches without a call between them. */
static void put_host_code(struct schedule *s, struct vpt_random *r, unsigned stalls)
{
	int is_stall = vpt_random_below(r, 100) < stalls;

	put(s, (struct deed){.kind = HOST,
		       .ns = is_stall ? some(r, 100000, 3000000) : some(r, 500, 60000)});
}

/* Whether a synchronisation that is put next is PyTorch's way to read a value: right behind a copy. */
static void set_copy(const struct schedule *s, struct deed *sync)
{
	const struct deed *copy = s->count > 1 ? &s->deeds[s->count - 2] : NULL;
	uint64_t ns = copy ? s->deeds[s->count - 1].ns : 0;

	if (copy && copy->kind == COPY && ns < 10000) {
		sync->of_copy = PAGEABLE;
		sync->is_large = copy->is_large;
	} else if (copy && copy->kind == READ && ns < 100000) {
		sync->of_copy = PINNED;
	}
}

/* A host that launches as the seed likes, and sometimes waits. */
static void make_schedule(struct schedule *s, uint64_t seed)
{
	struct vpt_random r = {seed * 2 + 1};
	size_t deeds = seed % 16 == 0 ? 5000 : some(&r, 4, 400);
	uint64_t op_ns = some(&r, 1, 20) * some(&r, 1000, 20000);
	unsigned stalls = (unsigned)vpt_random_below(&r, 12);
	unsigned waits = (unsigned)vpt_random_below(&r, 20), mallocs = waits / 2;

	s->count = s->waits = 0;
	s->is_long = deeds == 5000;
	put(s, (struct deed){.kind = LAUNCH, .ns = op_ns});
	while (s->count < deeds) {
		unsigned pick = (unsigned)vpt_random_below(&r, 100);
		struct deed deed = {.kind = LAUNCH, .ns = some(&r, 1000, 2 * op_ns)};

		if (s->is_long && s->count > deeds / 2 && vpt_random_below(&r, 500) == 0)
			put(s, (struct deed){.kind = HOST, .ns = QUEUE * some(&r, 1, 3) * op_ns});
		else
			put_host_code(s, &r, stalls);
		if (s->is_long)
			pick *= 50; /* hardly ever */
		if (pick < waits)
			deed = (struct deed){
				.kind = pick % 2 ? SYNC : COPY, .ns = some(&r, 1000, 40000)};
		else if (pick < waits + mallocs)
			deed = (struct deed){.kind = MALLOC, .ns = some(&r, 5000, 300000)};
		s->waits += deed.kind == SYNC || deed.kind == COPY;
		if (deed.kind == SYNC)
			set_copy(s, &deed);
		if (deed.kind == COPY && vpt_random_below(&r, 3) == 0)
			deed.kind = READ;
		deed.is_large |= deed.kind == COPY && vpt_random_below(&r, 2);
		put(s, deed);
		if (deed.kind == COPY && vpt_random_below(&r, 3) == 0)
			put(s, (struct deed){.kind = SYNC,
				       .of_copy = PAGEABLE,
				       .is_large = deed.is_large});
		if (deed.kind == READ)
			put(s, (struct deed){.kind = SYNC, .of_copy = PINNED});
	}
	put(s, (struct deed){.kind = LAUNCH, .ns = op_ns});
}

/* ---- the simulated GPU ---- */

struct machine {
	uint64_t now, tail, first; /* the host's clock; the last op's end, the first one's start */
	uint64_t ends[DEEDS_MAX];  /* of launches */
	size_t launches;
	char *script; /* what happens is written down here; NULL: nowhere */
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct machine *m, const char *format, ...)
{
	va_list args;
	int n;

	if (!m->script)
		return;
	va_start(args, format);
	n = vsnprintf(m->script + m->used, SCRIPT_BYTES - m->used, format, args);
	va_end(args);
	assert_true(n >= 0 && m->used + (size_t)n < SCRIPT_BYTES);
	m->used += (size_t)n;
}

static void wait_until(struct machine *m, uint64_t t)
{
	if (t > m->now)
		m->now = t + WAKE_NS;
}

static void say_call(struct machine *m, const char *name, uint64_t start)
{
	say(m, "call t1 %s %" PRIu64 "-%" PRIu64 " corr %zu\n", name, start, m->now, m->launches);
}

/* Puts an op on the device: the deed's, less its host's part where `is_free`. */
static void launch(struct machine *m, const struct deed *d, int is_free)
{
	int is_copy = d->kind == COPY || d->kind == READ, held = d->kind == COPY && !is_free;
	uint64_t start = m->now, ns = d->ns, from;

	m->now += is_free ? 0 : LAUNCH_NS;
	if (m->launches >= QUEUE && m->ends[m->launches - QUEUE] > m->now)
		m->now = m->ends[m->launches - QUEUE];
	from = m->now + SUBMIT_NS > m->tail ? m->now + SUBMIT_NS : m->tail;
	m->first = m->launches ? m->first : from;
	m->tail = from + ns;
	m->ends[m->launches++] = m->tail;
	if (held)
		wait_until(m, m->tail);
	say_call(m, is_copy ? "cudaMemcpyAsync" : "cudaLaunchKernel", start);
	if (is_copy)
		say(m, "copy s7 DtoH device->%s %" PRIu64 "-%" PRIu64 " corr %zu bytes %d\n",
			d->kind == READ ? "pinned" : "pageable", from, m->tail, m->launches,
			d->is_large ? 65 : 64);
	else
		say(m, "kernel s7 %" PRIu64 "-%" PRIu64 " corr %zu \"gemm\"\n", from, m->tail,
			m->launches);
}

static void call(struct machine *m, const char *name, uint64_t ns, int waits)
{
	uint64_t start = m->now;

	m->now += ns;
	if (waits)
		wait_until(m, m->tail);
	say(m, "call t1 %s %" PRIu64 "-%" PRIu64 "\n", name, start, m->now);
}

/* Whether a wait, or the read of one, goes away. */
static int is_without(const struct deed *d, int without)
{
	int is_read = d->kind == READ || d->of_copy || (d->kind == COPY && !d->is_large);

	switch (without) {
	case VPA_CAUSE_SYNC:
		return d->kind == SYNC && d->of_copy != PAGEABLE;
	case VPA_CAUSE_BLOCKING_COPY:
		return d->kind == COPY || d->of_copy == PAGEABLE;
	case SMALL_READS:
		return is_read && !d->is_large;
	case LARGE_COPIES:
		return d->is_large;
	case OTHER_SYNCS:
		return d->kind == SYNC && !d->of_copy;
	case ALL_WAITS:
		return d->kind != READ;
	default:
		return 0;
	}
}

static void play(struct machine *m, const struct deed *d, int without)
{
	int code = d->ns < 100000 ? VPA_CAUSE_LAUNCH_RATE : VPA_CAUSE_HOST_CODE;

	switch (d->kind) {
	case HOST:
		m->now += code == without                                       ? 0
			  : code == VPA_CAUSE_HOST_CODE && without == HALF_CODE ? d->ns / 2
										: d->ns;
		break;
	case LAUNCH:
		launch(m, d, 0);
		break;
	case COPY:
	case READ:
		launch(m, d, is_without(d, without));
		break;
	case SYNC:
		if (!is_without(d, without))
			call(m, "cudaStreamSynchronize", SYNC_NS, 1);
		break;
	case MALLOC:
		if (without != VPA_CAUSE_ALLOCATION)
			call(m, "cudaMalloc", d->ns, 0);
		break;
	}
}

/* How long the device was active without a cause. */
static uint64_t simulate(const struct schedule *s, int without, char *script)
{
	static struct machine m;
	size_t i;

	m = (struct machine){.now = START_NS, .script = script};
	say(&m, "start 1ms\n");
	for (i = 0; i < s->count; i++)
		play(&m, &s->deeds[i], without);
	return m.tail - m.first;
}

/* ---- what the report says ---- */

static const struct vpa_gain_row *gain_of(const struct vpa_report *r, int without)
{
	static const struct vpa_gain_row none;
	static struct vpa_gain_row half;
	size_t i;

	switch (without) {
	case SMALL_READS:
		return &r->devices[0].small_reads.row;
	case LARGE_COPIES:
		return &r->devices[0].large_copies.row;
	case OTHER_SYNCS:
		return &r->devices[0].other_syncs.row;
	case ALL_WAITS:
		return &r->devices[0].waits.row;
	case HALF_CODE:
		half.ns = r->devices[0].half_code_ns;
		return &half;
	default:
		break;
	}
	for (i = 0; i < r->devices[0].gain_count; i++)
		if ((int)r->devices[0].gains[i].cause == without)
			return &r->devices[0].gains[i];
	return &none;
}

/* Never less than is saved. A wait that goes away takes its call and its waking with it, which the report cannot tell
 * from the waiting. And it cannot tell where the queue would be full that is not: a host with more launches than that may
 * be promised too much. */
static int is_met(uint64_t gain, uint64_t saved, const struct schedule *s)
{
	return gain >= saved &&
	       (s->is_long || gain - saved <= saved / 50 + s->waits * (LAUNCH_NS + WAKE_NS));
}

static unsigned check_seed(uint64_t seed, char *script)
{
	static const int causes[] = {VPA_CAUSE_SYNC, VPA_CAUSE_BLOCKING_COPY, VPA_CAUSE_ALLOCATION,
		VPA_CAUSE_LAUNCH_RATE, VPA_CAUSE_HOST_CODE, SMALL_READS, LARGE_COPIES, OTHER_SYNCS,
		ALL_WAITS, HALF_CODE};
	const struct vpa_gain_row *all;
	unsigned differ = 0;
	struct vpa_report *r;
	uint64_t active, own = 0, parts = 0;
	size_t i;

	make_schedule(&schedule, seed);
	active = simulate(&schedule, VPA_CAUSE_NOT_IDLE, script);
	r = vpt_script_report(script, NULL);
	assert_int_equal(r->devices[0].active_ns, active);
	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		const struct vpa_gain_row *gain = gain_of(r, causes[i]);
		uint64_t left = simulate(&schedule, causes[i], NULL), saved;

		saved = left < active ? active - left : 0;
		own += causes[i] < SMALL_READS ? gain->ns - gain->shared_ns : 0;
		parts += causes[i] >= SMALL_READS && causes[i] < ALL_WAITS
				 ? gain->ns - gain->shared_ns
				 : 0;
		if (is_met(gain->ns, saved, &schedule))
			continue;
		print_error("seed %" PRIu64 ", without %d: %" PRIu64 " ns saved, at most %" PRIu64
			    " promised, of %" PRIu64 " with %zu deeds\n",
			seed, causes[i], saved, gain->ns, active, schedule.count);
		differ++;
	}
	/* Nothing is counted twice. */
	assert_true(own <= r->devices[0].idle_ns);
	all = gain_of(r, ALL_WAITS);
	assert_true(parts <= all->ns - all->shared_ns);
	vpa_report_free(r);
	return differ;
}

static void a_gain_is_what_the_schedule_without_the_cause_saves(void **state)
{
	char *script = vpt_alloc(SCRIPT_BYTES, 1);
	const char *wanted = getenv("VPT_GAIN_SEEDS"); /* asks for more */
	uint64_t seed, end = wanted ? strtoull(wanted, NULL, 10) : SEEDS;
	unsigned differ = 0;

	(void)state;
	assert_non_null(script);
	for (seed = 0; seed < end; seed++)
		differ += check_seed(seed, script);
	vpt_free(script);
	assert_int_equal(differ, 0);
}

/* While the queue is full a faster host would only wait longer: host code of that time saves nothing later. */
static void host_code_beside_a_full_queue_saves_nothing(void **state)
{
	char *script = vpt_alloc(SCRIPT_BYTES, 1);
	struct vpa_report *r;
	size_t i;

	(void)state;
	assert_non_null(script);
	schedule = (struct schedule){.is_long = 1};
	for (i = 0; i < 2500; i++) {
		put(&schedule, (struct deed){.kind = LAUNCH, .ns = 50000});
		put(&schedule, (struct deed){.kind = HOST, .ns = i == 2400 ? 200000000 : 5000});
	}
	put(&schedule, (struct deed){.kind = LAUNCH, .ns = 50000});
	simulate(&schedule, VPA_CAUSE_NOT_IDLE, script);
	r = vpt_script_report(script, NULL);
	/* A look at the queue is taken now and then, so what the last launches of a full one had beside them may count. */
	assert_true(r->devices[0].idle_ns > 100000000);
	assert_true(gain_of(r, VPA_CAUSE_HOST_CODE)->ns > 100000000);
	assert_true(gain_of(r, VPA_CAUSE_LAUNCH_RATE)->ns < 200 * 5000);
	vpa_report_free(r);
	vpt_free(script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gain_is_what_the_schedule_without_the_cause_saves),
		cmocka_unit_test(host_code_beside_a_full_queue_saves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
