/* own_calls.c - the correlation ids of our own calls, those of the capture before first. */
#include "tracer/cupti/library/own_calls.h"

static struct {
	_Atomic uint32_t ids[2 * VTR_OWN_CALLS_MAX];
	unsigned before; /* of them, those of the capture before */
} own;

atomic_uint vtr_own_call_count;

int vtr_own_call_find(uint32_t correlation)
{
	unsigned i, count = atomic_load(&vtr_own_call_count);

	for (i = 0; i < count; i++)
		if (atomic_load(&own.ids[i]) == correlation)
			return 1;
	return 0;
}

void vtr_own_call_add(uint32_t correlation)
{
	unsigned i = atomic_load(&vtr_own_call_count);

	if (i == own.before + VTR_OWN_CALLS_MAX)
		return;
	atomic_store(&own.ids[i], correlation);
	atomic_store(&vtr_own_call_count, i + 1);
}

void vtr_own_calls_begin(void)
{
	unsigned i, kept = atomic_load(&vtr_own_call_count) - own.before;

	for (i = 0; i < kept; i++)
		atomic_store(&own.ids[i], atomic_load(&own.ids[own.before + i]));
	atomic_store(&vtr_own_call_count, kept);
	own.before = kept;
}
