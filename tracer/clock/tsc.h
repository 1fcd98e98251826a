/* tsc.h - the system's clock, read from the processor's time stamp counter.
 *
 * A range reads the clock twice, and with clock_gettime() that is three quarters of its cost.
 * Reading the counter takes less than half as long. One thread, the keeper, compares it with the
 * system's clock every few milliseconds and publishes the conversion; other threads convert. A
 * conversion is valid for 50 ms: if the keeper sleeps, is gone after a fork, or saw the clock being
 * set, readers fall back to clock_gettime().
 *
 * The two agree within some 50 ns while the system's clock runs evenly; while its speed changes by
 * `s` ppm, within 20 ns x s until the keeper has learned the new speed. */
#ifndef VPTRACE_TRACER_CLOCK_TSC_H
#define VPTRACE_TRACER_CLOCK_TSC_H

#include <stdatomic.h>
#include <stdint.h>

enum { VTR_TSC_READINGS = 16 };

struct vtr_tsc {
	/* ns = from_ns + (ticks - from) * mult / 2^32, for less than `valid` ticks; 0: for none.
	 * All fields are consistent while the version does not change; it is odd during a
	 * change. */
	_Alignas(64) _Atomic uint32_t version;
	_Atomic uint64_t from, from_ns, mult, valid;

	/* The keeper's own readings, at least 4 ms apart, oldest first. */
	struct vtr_tsc_reading {
		uint64_t ticks, ns;
	} readings[VTR_TSC_READINGS];
	unsigned count;
};

/* The time of a tick count, in ns; 0: unknown. Any thread. */
static inline uint64_t vtr_tsc_convert(struct vtr_tsc *c, uint64_t ticks)
{
	uint32_t version = atomic_load_explicit(&c->version, memory_order_acquire);
	uint64_t from = atomic_load_explicit(&c->from, memory_order_acquire);
	uint64_t from_ns = atomic_load_explicit(&c->from_ns, memory_order_acquire);
	uint64_t mult = atomic_load_explicit(&c->mult, memory_order_acquire);
	uint64_t valid = atomic_load_explicit(&c->valid, memory_order_acquire);

	if (atomic_load_explicit(&c->version, memory_order_relaxed) != version || version & 1 ||
		ticks - from >= valid)
		return 0;
	return from_ns + ((ticks - from) * mult >> 32);
}

/* Adds one reading of both clocks. The keeper only. */
void vtr_tsc_learn(struct vtr_tsc *c, uint64_t ticks, uint64_t ns);

/* ---- the process's ---- */

extern struct vtr_tsc vtr_tsc;

/* Makes the calling thread the keeper. 1 if there was none and the counter can replace the system's
 * clock: it never stops or changes speed, the kernel itself trusts it, clock_gettime() is the C
 * library's and not a simulation's, and VPTRACE_TSC=0 is not set; else 0. Reads files; not for
 * callbacks. */
int vtr_tsc_begin(void);
/* Reads both clocks and learns from it: about 0.5 us. */
void vtr_tsc_keep(void);
/* Readers use the system's clock again, and another thread may become the keeper. */
void vtr_tsc_end(void);
/* Whether there is a keeper. Any thread. */
int vtr_tsc_kept(void);

#endif
