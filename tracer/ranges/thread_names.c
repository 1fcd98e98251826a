/* thread_names.c - the host's names for its threads.
 *
 * A small hash table that any thread writes and the writer's thread reads, one word per entry:
 * thread id and name. If all places of an id are taken, it replaces one of them: names of ended
 * threads must not keep new ones out. */
#include "tracer/ranges/thread_names.h"

#include "tracer/ranges/epoch.h"

#include <stdatomic.h>

enum { PLACES = 4096, PROBES = 16 };

static _Atomic uint64_t places[PLACES]; /* thread id 32 | name 32; 0: free */

static uint32_t home(uint32_t tid)
{
	return tid * 2654435761u >> 20;
}

void vtr_thread_name(uint32_t tid, uint32_t name)
{
	uint64_t word = (uint64_t)tid << 32 | name;
	uint32_t i;

	if (!tid)
		return;
	for (i = 0; i < PROBES; i++) {
		_Atomic uint64_t *place = &places[(home(tid) + i) % PLACES];
		uint64_t there = atomic_load_explicit(place, memory_order_relaxed);

		if (!there && atomic_compare_exchange_strong_explicit(place, &there, word,
				      memory_order_release, memory_order_relaxed))
			return;
		if (there >> 32 == tid) {
			atomic_store_explicit(place, word, memory_order_release);
			return;
		}
	}
	atomic_store_explicit(&places[home(tid)], word, memory_order_release);
}

void vtr_thread_names(void (*take)(void *ctx, uint32_t tid, uint32_t name), void *ctx)
{
	static uint64_t reported[PLACES];
	static uint32_t reported_in;
	uint32_t capture = vtr_epoch_capture(vtr_epoch_now()), i;

	for (i = 0; i < PLACES; i++) {
		uint64_t word = atomic_load_explicit(&places[i], memory_order_acquire);

		if (!word || (word == reported[i] && reported_in == capture))
			continue;
		reported[i] = word;
		take(ctx, (uint32_t)(word >> 32), (uint32_t)word);
	}
	reported_in = capture;
}

void vtr_thread_names_forget(void)
{
	uint32_t i;

	for (i = 0; i < PLACES; i++)
		if (atomic_load_explicit(&places[i], memory_order_relaxed))
			atomic_store_explicit(&places[i], 0, memory_order_relaxed);
}
