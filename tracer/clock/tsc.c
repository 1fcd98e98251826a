/* tsc.c - converts the time stamp counter to the system's clock.
 *
 * The speed is measured since the oldest reading kept, 60 ms or more ago, so that an error of 20 ns
 * in a reading becomes less than a nanosecond for the next one. The conversion never jumps while
 * both agree within a microsecond: it continues where it is and is steered to meet the system's
 * clock 10 ms later, so a thread's own stamps stay in order. Beyond a microsecond the clock or its
 * speed was set: start over. */
#include "tracer/clock/tsc.h"

#include "tracer/guest/environment.h"
#include "tracer/clock/system_clock.h"
#include "tracer/guest/system_file.h"
#include "formats/base/text.h"

#include <dlfcn.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

enum {
	APART_NS = 4000000,
	BASELINE_NS = 20000000, /* before that the speed is too inexact */
	MEET_NS = 10000000,
	VALID_NS = 50000000,
	AGREED_NS = 1000,
	BRACKETS = 4,
	BRACKET_TICKS = 2000, /* a wider one was interrupted */
};

struct vtr_tsc vtr_tsc;
static atomic_int kept;

static void say(struct vtr_tsc *c, uint64_t from, uint64_t from_ns, uint64_t mult, uint64_t valid)
{
	uint32_t version = atomic_load_explicit(&c->version, memory_order_relaxed);

	atomic_store_explicit(&c->version, version + 1, memory_order_relaxed);
	atomic_store_explicit(&c->from, from, memory_order_release);
	atomic_store_explicit(&c->from_ns, from_ns, memory_order_release);
	atomic_store_explicit(&c->mult, mult, memory_order_release);
	atomic_store_explicit(&c->valid, valid, memory_order_release);
	atomic_store_explicit(&c->version, version + 2, memory_order_release);
}

/* Invalidates the conversion: readers use the system's clock. The keeper only. */
static void forget(struct vtr_tsc *c)
{
	c->count = 0;
	say(c, 0, 0, 0, 0);
}

static void append(struct vtr_tsc *c, struct vtr_tsc_reading reading)
{
	if (c->count == VTR_TSC_READINGS) {
		memmove(c->readings, c->readings + 1, sizeof(c->readings) - sizeof(*c->readings));
		c->count--;
	}
	c->readings[c->count++] = reading;
}

/* Whether a reading can follow the last one: both clocks advanced, not too far, and together. */
static int follows(struct vtr_tsc *c, uint64_t ticks, uint64_t ns)
{
	const struct vtr_tsc_reading *last = &c->readings[c->count - 1];
	uint64_t said = vtr_tsc_convert(c, ticks);

	if (ticks <= last->ticks || ns <= last->ns || ns - last->ns > VALID_NS)
		return 0;
	if (!atomic_load_explicit(&c->valid, memory_order_relaxed))
		return 1;
	return said && said < ns + AGREED_NS && ns < said + AGREED_NS;
}

void vtr_tsc_learn(struct vtr_tsc *c, uint64_t ticks, uint64_t ns)
{
	uint64_t from_ns, elapsed_ns, elapsed, mult;

	if (c->count && !follows(c, ticks, ns))
		forget(c);
	if (c->count && ns - c->readings[c->count - 1].ns < APART_NS)
		return;
	append(c, (struct vtr_tsc_reading){ticks, ns});
	elapsed_ns = ns - c->readings[0].ns;
	elapsed = ticks - c->readings[0].ticks;
	/* Between 0.5 and 10 GHz the products of vtr_tsc_convert() stay within 64 bits. */
	if (elapsed_ns < BASELINE_NS || elapsed < elapsed_ns / 2 || elapsed / 10 > elapsed_ns)
		return;
	mult = (elapsed_ns << 32) / elapsed;
	from_ns = vtr_tsc_convert(c, ticks);
	if (!from_ns)
		from_ns = ns;
	mult = (uint64_t)((int64_t)mult + (int64_t)(ns - from_ns) * (int64_t)mult / MEET_NS);
	say(c, ticks, from_ns, mult, elapsed * (VALID_NS / 1000) / (elapsed_ns / 1000));
}

#if defined(__x86_64__)

static int never_stops(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
}

/* On several processors only the kernel knows whether their counters agree. */
static int kernel_uses_it(void)
{
	char name[16];

	return vtr_clock_source(name, sizeof(name)) && !strcmp(name, "tsc");
}

static int clock_is_the_systems(void)
{
	const char *file;
	Dl_info where;

	if (!dladdr((void *)(uintptr_t)clock_gettime, &where) || !where.dli_fname)
		return 0;
	file = vpt_file_name(where.dli_fname);
	return !strncmp(file, "libc.so", 7) || !strncmp(file, "libc-", 5);
}

static int usable(void)
{
	const char *wanted = vtr_environment("VPTRACE_TSC");

	return (!wanted || strcmp(wanted, "0") != 0) && never_stops() && kernel_uses_it() &&
	       clock_is_the_systems();
}

static uint64_t ticks_in_order(void)
{
	uint64_t ticks;

	_mm_lfence();
	ticks = __rdtsc();
	_mm_lfence();
	return ticks;
}

void vtr_tsc_keep(void)
{
	uint64_t tightest = UINT64_MAX, ticks = 0, ns = 0;
	int i;

	for (i = 0; i < BRACKETS; i++) {
		uint64_t before = ticks_in_order(), read_ns = vtr_clock_ns(CLOCK_REALTIME);
		uint64_t bracket = ticks_in_order() - before;

		if (bracket >= tightest)
			continue;
		tightest = bracket;
		ticks = before + bracket / 2;
		ns = read_ns;
	}
	if (tightest < BRACKET_TICKS)
		vtr_tsc_learn(&vtr_tsc, ticks, ns);
}

#else

static int usable(void)
{
	return 0;
}

void vtr_tsc_keep(void)
{
}

#endif

int vtr_tsc_begin(void)
{
	int none = 0;

	return usable() && atomic_compare_exchange_strong(&kept, &none, 1);
}

void vtr_tsc_end(void)
{
	forget(&vtr_tsc);
	atomic_store(&kept, 0);
}

int vtr_tsc_kept(void)
{
	return atomic_load(&kept);
}
