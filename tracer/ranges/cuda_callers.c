/* cuda_callers.c - a small table of threads. */
#include "tracer/ranges/cuda_callers.h"

#include <stdatomic.h>

static struct {
	_Atomic uint32_t tid; /* 0: free */
	_Atomic uint64_t seen_ns;
} callers[VTR_CALLERS_MAX];

static atomic_int is_watched;

void vtr_callers_watch(void)
{
	atomic_store(&is_watched, 1);
}

void vtr_callers_saw(uint32_t tid, uint64_t now_ns)
{
	size_t i, oldest = 0;
	uint32_t old;

	if (!atomic_load_explicit(&is_watched, memory_order_relaxed))
		return;
	for (i = 0; i < VTR_CALLERS_MAX; i++) {
		old = atomic_load_explicit(&callers[i].tid, memory_order_relaxed);
		if (!old || old == tid) {
			oldest = i;
			break;
		}
		if (atomic_load_explicit(&callers[i].seen_ns, memory_order_relaxed) <
			atomic_load_explicit(&callers[oldest].seen_ns, memory_order_relaxed))
			oldest = i;
	}
	/* Two threads may take the same place: one of them comes again with its next call. */
	atomic_store_explicit(&callers[oldest].seen_ns, now_ns, memory_order_relaxed);
	atomic_store_explicit(&callers[oldest].tid, tid, memory_order_relaxed);
}

size_t vtr_callers(uint64_t since_ns, uint32_t *tids)
{
	size_t i, k, count = 0;
	uint32_t tid;

	for (i = 0; i < VTR_CALLERS_MAX; i++) {
		tid = atomic_load_explicit(&callers[i].tid, memory_order_relaxed);
		if (!tid ||
			atomic_load_explicit(&callers[i].seen_ns, memory_order_relaxed) < since_ns)
			continue;
		for (k = 0; k < count && tids[k] != tid; k++)
			;
		if (k == count)
			tids[count++] = tid;
	}
	return count;
}
