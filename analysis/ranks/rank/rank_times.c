/* rank_times.c - blocks of offsets, and a list of what does not fit. */
#include "analysis/ranks/rank/rank_times.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"

size_t vpa_rank_times_bytes(size_t count)
{
	struct vpa_rank_times *t;

	return (count / VPA_TIMES_BLOCK + 1) * sizeof(*t->bases) +
	       (count + 1) * 2 * sizeof(*t->offsets);
}

void vpa_rank_times_init(struct vpa_rank_times *t, size_t count, void *bytes)
{
	t->bases = bytes;
	t->offsets = (uint32_t *)(t->bases + count / VPA_TIMES_BLOCK + 1);
}

int vpa_rank_times_put_far(struct vpa_rank_times *t, uint64_t start_ns, uint64_t end_ns)
{
	size_t i = t->count++;

	if (vpt_grow(&t->far, &t->far_cap, t->far_count + 1, sizeof(*t->far)))
		return VPT_ENOMEM;
	t->far[t->far_count++] = (struct vpa_far_times){i, start_ns, end_ns};
	t->offsets[2 * i] = t->offsets[2 * i + 1] = UINT32_MAX;
	return VPT_OK;
}

const struct vpa_far_times *vpa_rank_times_far(const struct vpa_rank_times *t, size_t item)
{
	size_t low = 0, high = t->far_count;

	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		if (t->far[middle].item <= item)
			low = middle;
		else
			high = middle;
	}
	return &t->far[low];
}

void vpa_rank_times_free(struct vpa_rank_times *t)
{
	vpt_free(t->far);
	*t = (struct vpa_rank_times){0};
}
