/* saturate.h - arithmetic on numbers that come from a file: it stops at the ends of a type and never wraps.
 *
 * A file may hold any 64 bits as a time, a size or a count. A sum of such numbers that reaches the end of its type stays there,
 * where a reader sees that it is no real figure; one that wrapped would look like one. */
#ifndef VPT_FORMATS_BASE_SATURATE_H
#define VPT_FORMATS_BASE_SATURATE_H

#include <stdint.h>

static inline uint64_t vpt_sat_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* sum += more */
static inline void vpt_sat_add_to(uint64_t *sum, uint64_t more)
{
	*sum = vpt_sat_add(*sum, more);
}

/* a - b; 0 where b is larger. */
static inline uint64_t vpt_sat_sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* From one to the other, whichever is larger. */
static inline uint64_t vpt_distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static inline uint64_t vpt_sat_mul(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* n * part / whole; 0 of nothing. */
static inline uint64_t vpt_sat_scale(uint64_t n, uint64_t part, uint64_t whole)
{
	unsigned __int128 q = whole ? (unsigned __int128)n * part / whole : 0;

	return q > UINT64_MAX ? UINT64_MAX : (uint64_t)q;
}

/* The same of numbers with a sign. The least is -INT64_MAX, so that each has a negative. */
static inline int64_t vpt_sat_i128(__int128 n)
{
	return n > INT64_MAX ? INT64_MAX : n < -INT64_MAX ? -INT64_MAX : (int64_t)n;
}

static inline int64_t vpt_sat_add_i64(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : -INT64_MAX;
	return sum < -INT64_MAX ? -INT64_MAX : sum;
}

/* a - b, with its sign. */
static inline int64_t vpt_sat_diff(uint64_t a, uint64_t b)
{
	return vpt_sat_i128((__int128)a - b);
}

static inline int64_t vpt_sat_diff_i64(int64_t a, int64_t b)
{
	return vpt_sat_i128((__int128)a - b);
}

/* A fraction without its decimals. Below 0, and what is no number: 0. */
static inline uint64_t vpt_sat_u64(double x)
{
	return x >= 0x1p64 ? UINT64_MAX : x > 0 ? (uint64_t)x : 0;
}

static inline int64_t vpt_sat_i64(double x)
{
	return x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? -INT64_MAX : x == x ? (int64_t)x : 0;
}

/* A number in fewer bits. */
static inline uint32_t vpt_sat_u32(uint64_t n)
{
	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

#endif
