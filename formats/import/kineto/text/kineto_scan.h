/* kineto_scan.h - finds where strings, white space and digits end.
 *
 * The text ends with a NUL, so nothing here knows its length; VPT_SCAN_BYTES after that can be read, too. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_SCAN_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_SCAN_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { VPT_SCAN_BYTES = 16 };

static inline int vpt_is_space(int c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

#ifdef __SSE2__

/* A bit for each of the bytes at `p` that is `c`. */
#define VPT_SCAN_SAME(bytes, c) _mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)(c)))

/* The first `quote`, backslash or NUL. */
static inline const unsigned char *vpt_scan_string(const unsigned char *p, unsigned char quote)
{
	for (;; p += VPT_SCAN_BYTES) {
		const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
		const __m128i found = _mm_or_si128(
			_mm_or_si128(VPT_SCAN_SAME(bytes, quote), VPT_SCAN_SAME(bytes, '\\')),
			VPT_SCAN_SAME(bytes, 0));
		const unsigned mask = (unsigned)_mm_movemask_epi8(found);

		if (mask)
			return p + __builtin_ctz(mask);
	}
}

/* The first byte that is no white space. */
static inline const unsigned char *vpt_scan_long_space(const unsigned char *p)
{
	for (;; p += VPT_SCAN_BYTES) {
		const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
		const __m128i found = _mm_or_si128(
			_mm_or_si128(VPT_SCAN_SAME(bytes, ' '), VPT_SCAN_SAME(bytes, '\n')),
			_mm_or_si128(VPT_SCAN_SAME(bytes, '\r'), VPT_SCAN_SAME(bytes, '\t')));
		const unsigned mask = ~(unsigned)_mm_movemask_epi8(found) & 0xffffu;

		if (mask)
			return p + __builtin_ctz(mask);
	}
}

/* The first byte that is no digit. */
static inline const unsigned char *vpt_scan_digits(const unsigned char *p)
{
	for (;; p += VPT_SCAN_BYTES) {
		const __m128i bytes = _mm_sub_epi8(
			_mm_loadu_si128((const __m128i *)(const void *)p), _mm_set1_epi8('0'));
		const __m128i found = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(9)), bytes);
		const unsigned mask = ~(unsigned)_mm_movemask_epi8(found) & 0xffffu;

		if (mask)
			return p + __builtin_ctz(mask);
	}
}

#undef VPT_SCAN_SAME

#else

static inline const unsigned char *vpt_scan_digits(const unsigned char *p)
{
	while (*p >= '0' && *p <= '9')
		p++;
	return p;
}

static inline const unsigned char *vpt_scan_string(const unsigned char *p, unsigned char quote)
{
	while (*p != quote && *p != '\\' && *p)
		p++;
	return p;
}

static inline const unsigned char *vpt_scan_long_space(const unsigned char *p)
{
	while (vpt_is_space(*p))
		p++;
	return p;
}

#endif

/* Most white space is none, or one blank. */
static inline const unsigned char *vpt_scan_space(const unsigned char *p)
{
	if (*p > ' ')
		return p;
	if (*p == ' ' && p[1] > ' ')
		return p + 1;
	return vpt_scan_long_space(p);
}

#endif
