/* random.h - random numbers for tests: seeded, so that a failure comes again. */
#ifndef VPT_TESTS_SUPPORT_RANDOM_H
#define VPT_TESTS_SUPPORT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct vpt_random {
	uint64_t state; /* any value is a good seed */
};

/* A counter whose bits are mixed well; period 2^64. */
static inline uint64_t vpt_random(struct vpt_random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* 0 .. limit-1; limit > 0. Not perfectly even, which no test minds. */
static inline uint64_t vpt_random_below(struct vpt_random *r, uint64_t limit)
{
	return vpt_random(r) % limit;
}

/* Numbers as they break things: small ones, large ones, edges of every width, neighbours of powers of 2. */
static inline uint64_t vpt_random_nasty(struct vpt_random *r)
{
	static const uint64_t edges[] = {0, 1, 0xff, 0x100, 0xffff, 0x10000, UINT32_MAX, 1ull << 32,
		(1ull << 62) - 1, 1ull << 62, INT64_MAX, 1ull << 63, UINT64_MAX - 1, UINT64_MAX};
	uint64_t kind = vpt_random_below(r, 4);

	if (kind == 0)
		return edges[vpt_random_below(r, sizeof(edges) / sizeof(edges[0]))];
	if (kind == 1)
		return (1ull << vpt_random_below(r, 64)) + vpt_random_below(r, 3) - 1;
	return vpt_random(r) >> vpt_random_below(r, 64);
}

#endif
