/* nvtx_map.h - maps 64-bit keys to 32-bit values, for what NVTX's users register: handles and schemas.
 *
 * No locks; nothing is removed; putting a key again replaces its value. All zeros is an empty map.
 * A full map drops new keys. Key 0 is never in it. A look-up takes at most VTR_NVTX_MAP_PROBES steps, and the hash
 * has a key of the process: ids that a program takes from elsewhere cannot be chosen to fill one place. */
#ifndef VPTRACE_TRACER_NVTX_NVTX_MAP_H
#define VPTRACE_TRACER_NVTX_NVTX_MAP_H

#include "formats/base/hash.h"

#include <stdatomic.h>
#include <stdint.h>

enum { VTR_NVTX_MAP_PROBES = 64 };

struct vtr_nvtx_pair {
	_Atomic uint64_t key;
	_Atomic uint64_t value; /* 1 + the value; 0: not stored yet */
};

/* `count`: pairs of the map, a power of two. */
static inline struct vtr_nvtx_pair *vtr_nvtx_map_place(
	struct vtr_nvtx_pair *map, uint32_t count, uint64_t key, uint32_t probe)
{
	return &map[((uint32_t)vpt_hash_number(key) + probe) & (count - 1)];
}

static inline void vtr_nvtx_map_put(
	struct vtr_nvtx_pair *map, uint32_t count, uint64_t key, uint32_t value)
{
	uint32_t i;

	for (i = 0; key && i < VTR_NVTX_MAP_PROBES; i++) {
		struct vtr_nvtx_pair *p = vtr_nvtx_map_place(map, count, key, i);
		uint64_t there = atomic_load_explicit(&p->key, memory_order_relaxed);

		if (!there)
			atomic_compare_exchange_strong_explicit(
				&p->key, &there, key, memory_order_relaxed, memory_order_relaxed);
		if (!there || there == key) {
			atomic_store_explicit(&p->value, UINT64_C(1) + value, memory_order_release);
			return;
		}
	}
}

/* 1 and the value, or 0. */
static inline int vtr_nvtx_map_get(
	struct vtr_nvtx_pair *map, uint32_t count, uint64_t key, uint32_t *value)
{
	uint32_t i;

	for (i = 0; key && i < VTR_NVTX_MAP_PROBES; i++) {
		struct vtr_nvtx_pair *p = vtr_nvtx_map_place(map, count, key, i);
		uint64_t there = atomic_load_explicit(&p->key, memory_order_relaxed);
		uint64_t found = atomic_load_explicit(&p->value, memory_order_acquire);

		if (!there || (there == key && !found))
			return 0;
		if (there == key) {
			*value = (uint32_t)(found - 1);
			return 1;
		}
	}
	return 0;
}

#endif
