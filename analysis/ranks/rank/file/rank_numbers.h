/* rank_numbers.h - numbers of a rank as bytes.
 *
 * A single one is in base 128, the low seven bits first, a bit above them set where more follow. Signed ones alternate, 0, -1,
 * 1, -2. Of a reader the first thing that is wrong counts; after it every number is 0.
 *
 * A *column* is many of them, fast to read:
 *
 *	lengths   four bits each, the first one low: 0 to 8 bytes
 *	bytes     those of each number, the low one first
 */
#ifndef VPA_ANALYSIS_RANKS_RANK_FILE_RANK_NUMBERS_H
#define VPA_ANALYSIS_RANKS_RANK_FILE_RANK_NUMBERS_H

#include "formats/io/io.h"
#include "formats/base/memory.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
	vpa_put_number(w, ((uint64_t)n << 1) ^ (n < 0 ? UINT64_MAX : 0));
}

struct vpa_number_reader {
	const unsigned char *begin, *at, *end;
	const char *
		wrong; /* what was expected instead of the first thing that is wrong; NULL: all is well */
	int no_memory;
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
	uint64_t n = vpa_get_number(r);

	return (int64_t)(n >> 1 ^ (n & 1 ? UINT64_MAX : 0));
}

static inline size_t vpa_bytes_left(const struct vpa_number_reader *r)
{
	return (size_t)(r->end - r->at);
}

/* ---- columns ---- */

/* Numbers that become a column. All zeros is empty. */
struct vpa_numbers {
	uint64_t *items;
	size_t count, cap;
	int failed; /* no memory */
};

/* Makes room for `more` numbers, which vpa_add_number() then takes; 0: no memory. */
static inline int vpa_room_for_numbers(struct vpa_numbers *n, size_t more)
{
	n->failed |= vpt_grow(&n->items, &n->cap, n->count + more, sizeof(*n->items)) != 0;
	return !n->failed;
}

static inline void vpa_add_number(struct vpa_numbers *n, uint64_t number)
{
	n->items[n->count++] = number;
}

static inline uint64_t vpa_from_signed(int64_t n)
{
	return ((uint64_t)n << 1) ^ (n < 0 ? UINT64_MAX : 0);
}

static inline int64_t vpa_to_signed(uint64_t n)
{
	return (int64_t)(n >> 1 ^ (n & 1 ? UINT64_MAX : 0));
}

static inline unsigned vpa_number_length(uint64_t n)
{
	return n ? (71 - (unsigned)__builtin_clzll(n)) / 8 : 0;
}

static inline uint64_t vpa_low_byte_first(uint64_t n)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(n) : n;
}

/* Writes the numbers, of which there are none afterwards. */
static inline void vpa_put_number_column(struct vpa_number_writer *w, struct vpa_numbers *n)
{
	struct vpt_buffer *b = w->out;
	size_t count = n->count, i, most = b->size + (count + 1) / 2 + 8 * count + 8;
	unsigned char *lengths, *at;

	n->count = 0;
	w->failed |= n->failed;
	if (w->failed || vpt_grow(&b->data, &b->cap, most, 1)) {
		w->failed = 1;
		return;
	}
	lengths = (unsigned char *)b->data + b->size;
	at = lengths + (count + 1) / 2;
	memset(lengths, 0, (count + 1) / 2);
	for (i = 0; i < count; i++) {
		unsigned length = vpa_number_length(n->items[i]);
		uint64_t bytes = vpa_low_byte_first(n->items[i]);

		lengths[i / 2] |= (unsigned char)(length << 4 * (i % 2));
		memcpy(at, &bytes, sizeof(bytes));
		at += length;
	}
	b->size = (size_t)(at - (unsigned char *)b->data);
}

struct vpa_number_column {
	const unsigned char *lengths, *at;
	uint64_t ahead; /* lengths of the next ones, and how many these are */
	unsigned ahead_count;
};

enum { VPA_COLUMN_PADDING = 8 };

/* Begins a column of `count` numbers, and moves the reader to its end. Lengths are checked here: at most `count` numbers can then
 * be taken without a check, if VPA_COLUMN_PADDING bytes after the reader's end can be read, whatever they are. 0: the reader
 * failed. */
static inline int vpa_begin_number_column(
	struct vpa_number_reader *r, size_t count, struct vpa_number_column *out)
{
	size_t length_bytes = count / 2 + count % 2, size = 0, i;
	uint64_t wrong = 0;

	*out = (struct vpa_number_column){r->at, r->at, 0, 0};
	if (vpa_is_failed(r))
		return 0;
	if (length_bytes > vpa_bytes_left(r)) {
		vpa_stop_reading(r, "a column of numbers");
		return 0;
	}
	for (i = 0; i + 8 <= length_bytes; i += 8) {
		const uint64_t low_bits = 0x0f0f0f0f0f0f0f0f, ones = 0x0101010101010101;
		uint64_t lengths, low, high;

		memcpy(&lengths, r->at + i, sizeof(lengths));
		low = lengths & low_bits;
		high = lengths >> 4 & low_bits;
		/* A length above 8 carries into the bit above its four. */
		wrong |= ((low + 7 * ones) | (high + 7 * ones)) & 16 * ones;
		size += (low + high) * ones >> 56;
	}
	for (; i < length_bytes; i++) {
		unsigned low = r->at[i] & 15, high = r->at[i] >> 4;

		wrong |= low > 8 || high > 8;
		size += low + high;
	}
	wrong |= count % 2 && r->at[length_bytes - 1] >> 4;
	if (wrong || size > vpa_bytes_left(r) - length_bytes) {
		vpa_stop_reading(r, "a column of numbers");
		return 0;
	}
	out->at = r->at + length_bytes;
	r->at = out->at + size;
	return 1;
}

static inline uint64_t vpa_next_number(struct vpa_number_column *c)
{
	static const uint64_t masks[9] = {0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff,
		0xffffffffffff, 0xffffffffffffff, UINT64_MAX};
	unsigned length;
	uint64_t n;

	if (!c->ahead_count) {
		memcpy(&n, c->lengths, sizeof(n));
		c->ahead = vpa_low_byte_first(n);
		c->ahead_count = 2 * sizeof(n);
		c->lengths += sizeof(n);
	}
	length = c->ahead & 15;
	c->ahead >>= 4;
	c->ahead_count--;
	memcpy(&n, c->at, sizeof(n));
	c->at += length;
	return vpa_low_byte_first(n) & masks[length];
}

#endif
