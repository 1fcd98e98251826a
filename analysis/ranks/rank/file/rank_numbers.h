/* rank_numbers.h - numbers of a rank as bytes.
 *
 * A single one is in base 128, the low seven bits first, a bit above them set where more follow. Signed ones alternate, 0, -1,
 * 1, -2. Of a reader the first thing that is wrong counts; after it every number is 0. */
#ifndef VPA_ANALYSIS_RANKS_RANK_FILE_RANK_NUMBERS_H
#define VPA_ANALYSIS_RANKS_RANK_FILE_RANK_NUMBERS_H

#include "formats/io/io.h"
#include "formats/base/memory.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t vpa_from_signed(int64_t n)
{
	return ((uint64_t)n << 1) ^ (n < 0 ? UINT64_MAX : 0);
}

static inline int64_t vpa_to_signed(uint64_t n)
{
	return (int64_t)(n >> 1 ^ (n & 1 ? UINT64_MAX : 0));
}

struct vpa_number_writer {
	struct vpt_buffer *out;
	int failed; /* no memory */
};

static inline void vpa_put_bytes(struct vpa_number_writer *w, const void *data, size_t size)
{
	struct vpt_buffer *b = w->out;

	if (w->failed || vpt_grow(&b->data, &b->cap, b->size + size, 1)) {
		w->failed = 1;
		return;
	}
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

static inline void vpa_put_number(struct vpa_number_writer *w, uint64_t n)
{
	unsigned char bytes[10];
	size_t used = 0;

	for (; n >= 0x80; n >>= 7)
		bytes[used++] = (unsigned char)(n | 0x80);
	bytes[used++] = (unsigned char)n;
	vpa_put_bytes(w, bytes, used);
}

static inline void vpa_put_signed(struct vpa_number_writer *w, int64_t n)
{
	vpa_put_number(w, vpa_from_signed(n));
}

struct vpa_number_reader {
	const unsigned char *begin, *at, *end;
	const char *
		wrong; /* what was expected instead of the first thing that is wrong; NULL: all is well */
	int no_memory;
	int has_lengths; /* columns are as they were before version 6, see rank_columns.h */
};

static inline int vpa_is_failed(const struct vpa_number_reader *r)
{
	return r->wrong || r->no_memory;
}

/* Nothing is read after it. */
static inline void vpa_stop_reading(struct vpa_number_reader *r, const char *wrong)
{
	if (!vpa_is_failed(r))
		r->wrong = wrong;
	r->end = r->at;
}

static inline uint64_t vpa_get_number(struct vpa_number_reader *r)
{
	uint64_t n = 0;
	unsigned shift;

	for (shift = 0;; shift += 7) {
		unsigned char byte;

		if (r->at == r->end) {
			vpa_stop_reading(r, "more bytes");
			return 0;
		}
		byte = *r->at++;
		if (shift == 63 && byte > 1) {
			vpa_stop_reading(r, "a number of at most 64 bits");
			return 0;
		}
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return n;
	}
}

/* A number of at most `most`; `what` it should have been. */
static inline uint64_t vpa_get_below(struct vpa_number_reader *r, uint64_t most, const char *what)
{
	uint64_t n = vpa_get_number(r);

	if (n <= most)
		return n;
	vpa_stop_reading(r, what);
	return 0;
}

static inline int64_t vpa_get_signed(struct vpa_number_reader *r)
{
	return vpa_to_signed(vpa_get_number(r));
}

static inline size_t vpa_bytes_left(const struct vpa_number_reader *r)
{
	return (size_t)(r->end - r->at);
}

#endif
