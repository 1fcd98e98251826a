/* cupti_strays.c - the earliest times in buffers that nobody reads. */
#include "tracer/cupti/cupti_parts.h"

#include "tracer/clock/capture_clock.h"

void vtr_strays_reset(struct vtr_strays *s)
{
	atomic_store(&s->bytes, 0);
	atomic_store(&s->near_ns, UINT64_MAX);
	atomic_store(&s->far, UINT64_MAX);
}

static void lower(_Atomic uint64_t *least, uint64_t value)
{
	uint64_t seen = atomic_load(least);

	while (value < seen && !atomic_compare_exchange_weak(least, &seen, value))
		;
}

void vtr_strays_add(struct vtr_strays *s, const struct vtr_sizes *sizes, const uint8_t *buffer,
	size_t valid_bytes)
{
	uint64_t near_ns, far;

	vtr_cupti_clock_earliest(sizes, buffer, valid_bytes, vtr_now(), &near_ns, &far);
	lower(&s->near_ns, near_ns);
	lower(&s->far, far);
	/* Last: who sees the bytes finds their times. */
	atomic_fetch_add(&s->bytes, valid_bytes);
}

uint64_t vtr_strays_from(struct vtr_strays *s, struct vtr_cupti_clock *clock)
{
	uint64_t near_ns = atomic_exchange(&s->near_ns, UINT64_MAX);
	uint64_t far = atomic_exchange(&s->far, UINT64_MAX);

	if (far == UINT64_MAX)
		return near_ns;
	if (!vtr_cupti_clock_is_known(clock))
		return 0;
	far = vtr_cupti_clock_convert(clock, far);
	return far < near_ns ? far : near_ns;
}
