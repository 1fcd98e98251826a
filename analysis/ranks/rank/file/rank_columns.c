/* rank_columns.c - planes, and columns as they were before. */
#include "analysis/ranks/rank/file/rank_columns.h"

#include "formats/base/error.h"

#include <string.h>

static uint64_t low_byte_first(uint64_t n)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(n) : n;
}

/* ---- writing ---- */

static uint64_t least_of(const uint64_t *numbers, size_t count, enum vpa_sign sign)
{
	/* In another order, in which negative numbers are the first ones. */
	const uint64_t turn = sign == VPA_SIGNED ? UINT64_C(1) << 63 : 0;
	uint64_t least = count ? numbers[0] ^ turn : turn;
	size_t i;

	for (i = 0; i < count; i++)
		least = (numbers[i] ^ turn) < least ? numbers[i] ^ turn : least;
	return least ^ turn;
}

static unsigned width_of(const uint64_t *numbers, size_t count, uint64_t least)
{
	uint64_t bits = 1;
	size_t i;

	for (i = 0; i < count; i++)
		bits |= numbers[i] - least;
	return (71 - (unsigned)__builtin_clzll(bits)) / 8;
}

static void put_column(
	struct vpa_number_writer *w, const uint64_t *numbers, size_t count, enum vpa_sign sign)
{
	struct vpt_buffer *b = w->out;
	uint64_t least = least_of(numbers, count, sign);
	unsigned width = width_of(numbers, count, least), plane;
	unsigned char *at;
	size_t i;

	vpa_put_signed(w, (int64_t)least);
	if (w->failed ||
		vpt_grow(&b->data, &b->cap, b->size + 1 + width * count + VPA_COLUMN_PADDING, 1)) {
		w->failed = 1;
		return;
	}
	at = (unsigned char *)b->data + b->size;
	*at++ = (unsigned char)width;
	for (plane = 0; plane < width; plane++)
		for (i = 0; i < count; i++)
			*at++ = (unsigned char)((numbers[i] - least) >> 8 * plane);
	b->size = (size_t)(at - (unsigned char *)b->data);
}

/* Sorts them by column, and sets where each one ends. */
static int sort_numbers(struct vpa_numbers *n, size_t count)
{
	size_t i, at = 0;

	if (n->failed || vpt_grow(&n->ends, &n->end_cap, count, sizeof(*n->ends)) ||
		vpt_grow(&n->sorted, &n->sorted_cap, n->count + 1, sizeof(*n->sorted)))
		return VPT_ENOMEM;
	memset(n->ends, 0, count * sizeof(*n->ends));
	for (i = 0; i < n->count; i++)
		n->ends[n->items[i].column]++;
	for (i = 0; i < count; i++) {
		size_t begin = at;

		at += n->ends[i];
		n->ends[i] = begin;
	}
	for (i = 0; i < n->count; i++)
		n->sorted[n->ends[n->items[i].column]++] = n->items[i].number;
	return VPT_OK;
}

void vpa_put_number_columns(
	struct vpa_number_writer *w, struct vpa_numbers *n, size_t count, enum vpa_sign sign)
{
	size_t i, begin = 0;

	w->failed |= sort_numbers(n, count) != 0;
	for (i = 0; i < count && !w->failed; begin = n->ends[i++])
		if (n->ends[i] > begin || (!n->count && !i))
			put_column(w, n->sorted + begin, n->ends[i] - begin, sign);
	n->count = 0;
}

void vpa_numbers_free(struct vpa_numbers *n)
{
	vpt_free(n->items);
	vpt_free(n->sorted);
	vpt_free(n->ends);
}

/* ---- reading ---- */

/* Whether the bytes of a column are there, and its end. */
static int begin_planes(struct vpa_number_reader *r, size_t count, struct vpa_number_column *out)
{
	uint64_t least = (uint64_t)vpa_get_signed(r), width = r->at < r->end ? *r->at : 0;

	if (!width || width > 8 || count > (vpa_bytes_left(r) - 1) / width)
		return 0;
	out->least = least;
	out->width = (unsigned)width;
	out->stride = count;
	out->at = r->at + 1;
	r->at = out->at + width * count;
	return 1;
}

static int begin_lengths(struct vpa_number_reader *r, size_t count, struct vpa_number_column *out)
{
	size_t length_bytes = count / 2 + count % 2, size = 0, i;
	uint64_t wrong = 0;

	if (length_bytes > vpa_bytes_left(r))
		return 0;
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
	if (wrong || size > vpa_bytes_left(r) - length_bytes)
		return 0;
	out->width = 0;
	out->lengths = r->at;
	out->at = r->at + length_bytes;
	r->at = out->at + size;
	return 1;
}

int vpa_begin_number_column(struct vpa_number_reader *r, size_t count, enum vpa_sign sign,
	struct vpa_number_column *out)
{
	out->next = out->end = 0;
	out->left = count;
	out->sign = sign;
	if (vpa_is_failed(r))
		return 0;
	if (r->has_lengths ? begin_lengths(r, count, out) : begin_planes(r, count, out))
		return 1;
	vpa_stop_reading(r, "a column of numbers");
	return 0;
}

/* Part of its callers, which say what is constant: then the compiler joins several at once. */
static inline __attribute__((always_inline)) void join(uint64_t *restrict out,
	const unsigned char *restrict at, size_t stride, uint64_t least, unsigned width,
	size_t count)
{
	size_t i;
	unsigned plane;

	for (i = 0; i < count; i++) {
		uint64_t n = at[i];

		for (plane = 1; plane < width; plane++)
			n |= (uint64_t)at[plane * stride + i] << 8 * plane;
		out[i] = least + n;
	}
}

static void join_1(uint64_t *restrict out, const unsigned char *restrict at, uint64_t least)
{
	join(out, at, 0, least, 1, VPA_NUMBERS_AHEAD);
}

static void join_2(
	uint64_t *restrict out, const unsigned char *restrict at, size_t stride, uint64_t least)
{
	join(out, at, stride, least, 2, VPA_NUMBERS_AHEAD);
}

static void join_3(
	uint64_t *restrict out, const unsigned char *restrict at, size_t stride, uint64_t least)
{
	join(out, at, stride, least, 3, VPA_NUMBERS_AHEAD);
}

static void take_planes(struct vpa_number_column *c, size_t count)
{
	if (count < VPA_NUMBERS_AHEAD || c->width > 3)
		join(c->ahead, c->at, c->stride, c->least, c->width, count);
	else if (c->width == 1)
		join_1(c->ahead, c->at, c->least);
	else if (c->width == 2)
		join_2(c->ahead, c->at, c->stride, c->least);
	else
		join_3(c->ahead, c->at, c->stride, c->least);
	c->at += count;
}

static void take_lengths(struct vpa_number_column *c, size_t count)
{
	static const uint64_t masks[9] = {0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff,
		0xffffffffffff, 0xffffffffffffff, UINT64_MAX};
	const unsigned char *at = c->at;
	uint64_t lengths = 0, n;
	size_t i;

	for (i = 0; i < count; i++, lengths >>= 4) {
		if (i % (2 * sizeof(lengths)) == 0) {
			memcpy(&lengths, c->lengths + i / 2, sizeof(lengths));
			lengths = low_byte_first(lengths);
		}
		memcpy(&n, at, sizeof(n));
		at += lengths & 15;
		c->ahead[i] = low_byte_first(n) & masks[lengths & 15];
	}
	for (i = 0; c->sign == VPA_SIGNED && i < count; i++)
		c->ahead[i] = (uint64_t)vpa_to_signed(c->ahead[i]);
	c->at = at;
	c->lengths += count / 2;
}
_Static_assert(VPA_NUMBERS_AHEAD % 2 == 0, "lengths are taken at whole bytes");

size_t vpa_take_numbers(struct vpa_number_column *c)
{
	size_t count = c->left < VPA_NUMBERS_AHEAD ? c->left : VPA_NUMBERS_AHEAD;

	c->left -= count;
	if (c->width)
		take_planes(c, count);
	else
		take_lengths(c, count);
	return count;
}
