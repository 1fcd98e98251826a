/* rank_times.h - when the collectives of a rank start and end: 8 bytes each, since a job has millions of them.
 *
 *	base 0   start end, start end, ...    each after the base of its block, in 32 bits
 *	base 1   ...
 *	far      index, start, end            those that do not fit: longer than 4 s, or after a pause of it
 */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_TIMES_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_TIMES_H

#include <stddef.h>
#include <stdint.h>

enum { VPA_TIMES_BLOCK = 16 };

struct vpa_far_times {
	size_t item;
	uint64_t start_ns, end_ns;
};

/* All zeros is empty. */
struct vpa_rank_times {
	size_t count;
	uint64_t *bases;
	uint32_t *offsets;         /* of item i, 2 * i and 2 * i + 1; UINT32_MAX: it is far */
	struct vpa_far_times *far; /* by item */
	size_t far_count, far_cap;
};

/* How much memory `count` times take, where none is far. */
size_t vpa_rank_times_bytes(size_t count);
/* Makes room for `count` times in an empty list, in memory of that size, which stays the caller's. It is aligned for 8 bytes. */
void vpa_rank_times_init(struct vpa_rank_times *t, size_t count, void *bytes);
/* Frees those that are far. */
void vpa_rank_times_free(struct vpa_rank_times *t);

/* Private: of an item that is far; puts the next one, which is. */
const struct vpa_far_times *vpa_rank_times_far(const struct vpa_rank_times *t, size_t item);
int vpa_rank_times_put_far(struct vpa_rank_times *t, uint64_t start_ns, uint64_t end_ns);

/* Puts the next one, of at most as many as there is room for. Starts ascend. 0 or VPT_ENOMEM. */
static inline int vpa_rank_times_put(struct vpa_rank_times *t, uint64_t start_ns, uint64_t end_ns)
{
	size_t i = t->count;
	uint64_t base;

	if (i % VPA_TIMES_BLOCK == 0)
		t->bases[i / VPA_TIMES_BLOCK] = start_ns;
	base = t->bases[i / VPA_TIMES_BLOCK];
	if (start_ns - base >= UINT32_MAX || end_ns - base >= UINT32_MAX)
		return vpa_rank_times_put_far(t, start_ns, end_ns);
	t->offsets[2 * i] = (uint32_t)(start_ns - base);
	t->offsets[2 * i + 1] = (uint32_t)(end_ns - base);
	t->count++;
	return 0;
}

static inline uint64_t vpa_rank_times_start(const struct vpa_rank_times *t, size_t i)
{
	uint32_t offset = t->offsets[2 * i];

	return offset != UINT32_MAX ? t->bases[i / VPA_TIMES_BLOCK] + offset
				    : vpa_rank_times_far(t, i)->start_ns;
}

static inline uint64_t vpa_rank_times_end(const struct vpa_rank_times *t, size_t i)
{
	uint32_t offset = t->offsets[2 * i + 1];

	return offset != UINT32_MAX ? t->bases[i / VPA_TIMES_BLOCK] + offset
				    : vpa_rank_times_far(t, i)->end_ns;
}

struct vpa_item_times {
	uint64_t start_ns, end_ns;
};

/* Both, for less than one after the other. */
static inline struct vpa_item_times vpa_rank_times_of(const struct vpa_rank_times *t, size_t i)
{
	const uint32_t *offsets = &t->offsets[2 * i];
	uint64_t base = t->bases[i / VPA_TIMES_BLOCK];

	/* Of an item that is far both are. */
	if (__builtin_expect(offsets[0] != UINT32_MAX, 1))
		return (struct vpa_item_times){base + offsets[0], base + offsets[1]};
	return (struct vpa_item_times){
		vpa_rank_times_far(t, i)->start_ns, vpa_rank_times_far(t, i)->end_ns};
}

/* By how much a clock that gains `ppb` in a thousand million is ahead after so long. Both are of ranks: below 2^61. */
static inline int64_t vpa_drift_ns(int64_t since_ns, int64_t ppb)
{
	int64_t product;

	return __builtin_mul_overflow(since_ns, ppb, &product)
		       ? (int64_t)((__int128)since_ns * ppb / 1000000000)
		       : product / 1000000000;
}

#endif
