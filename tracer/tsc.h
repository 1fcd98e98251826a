/* tsc.h - the system's clock, read from the processor's time stamp counter.
 *
 * A range costs two readings of the clock, and through clock_gettime() they are three quarters of what it costs. The counter alone
 * takes less than half of that. One thread, the keeper, compares it with the system's clock every few milliseconds and
 * says how to convert; everybody else converts. What the keeper said holds for 50 ms: where it sleeps, has died with
 * a fork, or saw the clock being set, readers go back to clock_gettime() by themselves.
 *
 * The two agree within some 50 ns while the system's clock runs evenly; where its speed is being changed by `s` ppm, within
 * 20 ns x s until the keeper knows the new one. */
#ifndef VPTRACE_TRACER_TSC_H
#define VPTRACE_TRACER_TSC_H

#include <stdatomic.h>
#include <stdint.h>

enum { VTR_TSC_READINGS = 16 };

struct vtr_tsc {
	/* ns = from_ns + (ticks - from) * mult / 2^32, for less than `valid` ticks; 0: for none. All
	 * of it belongs together while the version stands still; it is odd during a change. */
	_Alignas(64) _Atomic uint32_t version;
	_Atomic uint64_t from, from_ns, mult, valid;

	/* The keeper's own: what it read, at least 4 ms apart, the oldest first. */
	struct vtr_tsc_reading {
		uint64_t ticks, ns;
	} readings[VTR_TSC_READINGS];
	unsigned count;
};

/* The moment of a count, in ns; 0: not known. Any thread. */
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

/* Takes one reading of both clocks in. The keeper alone. */
void vtr_tsc_learn(struct vtr_tsc *c, uint64_t ticks, uint64_t ns);
/* Nothing is known any more: readers use the system's clock. The keeper alone. */
void vtr_tsc_forget(struct vtr_tsc *c);

/* ---- the process's ---- */

extern struct vtr_tsc vtr_tsc;

/* The caller's thread is to be the keeper from now on: 1 if there is none and the counter can be had for the system's clock:
 * it never stops nor changes its speed, the kernel itself trusts it, clock_gettime() is the C library's and no
 * simulation's, and VPTRACE_TSC=0 does not forbid it. Reads files; not for callbacks. */
int vtr_tsc_begin(void);
/* Reads both clocks and learns from it: about 0.5 us. */
void vtr_tsc_keep(void);
/* Readers use the system's clock again, and another thread may become the keeper. */
void vtr_tsc_end(void);
/* Whether there is a keeper. Any thread. */
int vtr_tsc_kept(void);

#endif
