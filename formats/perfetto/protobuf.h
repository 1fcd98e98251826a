/* protobuf.h - writes protocol buffers: wire format, appended to one buffer.
 *
 *	vpt_pb_begin(&b, 60);          a message in field 60 ...
 *	vpt_pb_uint(&b, 1, uuid);      ... with these fields
 *	vpt_pb_string(&b, 2, "GPU 0");
 *	vpt_pb_end(&b);                its length is set now
 *
 * Sticky: out of memory, or after a message nested more than 16 deep, puts do nothing and b->failed
 * is set; check once. All varints but padded ones are as short as possible, so equal calls give
 * equal bytes. Does not read. */
#ifndef VPT_FORMATS_PERFETTO_PROTOBUF_H
#define VPT_FORMATS_PERFETTO_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	VPT_PB_DEPTH = 16,
	VPT_PB_VARINT = 10 /* most bytes of a number */
};

/* All zeros is an empty buffer. */
struct vpt_pb {
	uint8_t *data;
	size_t size, cap;
	int failed; /* VPT_ENOMEM; VPT_EINVAL: begin and end do not match */
	unsigned depth;
	size_t starts[VPT_PB_DEPTH]; /* where the content of each open message begins */
};

void vpt_pb_reset(struct vpt_pb *b); /* empty, memory kept */
void vpt_pb_free(struct vpt_pb *b);

int vpt_pb_room_more(struct vpt_pb *b, size_t bytes);

/* Whether `bytes` more can be written. */
static inline int vpt_pb_room(struct vpt_pb *b, size_t bytes)
{
	return b->cap - b->size >= bytes ? !b->failed : vpt_pb_room_more(b, bytes);
}

static inline uint8_t *vpt_pb_varint_loop_at(uint8_t *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*to++ = (uint8_t)value;
	return to;
}

/* Spreads 28 bits over four bytes, 7 bits each, without the bits that say whether more follow. */
static inline uint32_t vpt_pb_spread(uint32_t value)
{
	return (value & 0x7f) | (value & 0x3f80) << 1 | (value & 0x1fc000) << 2 |
	       (value & 0xfe00000) << 3;
}

/* Writes a number at `to`, which has room for VPT_PB_VARINT bytes. Returns its end. Lengths vary,
 * so numbers of up to 28 bits take no branch that the processor would mispredict. */
static inline uint8_t *vpt_pb_varint_at(uint8_t *to, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (__builtin_constant_p(value) && value < 0x80) {
		*to = (uint8_t)value;
		return to + 1;
	}
	if (value < 1 << 28) {
		/* The highest bit's position / 7; for up to 28 bits, * 37 / 256 gives the same. */
		unsigned more = (unsigned)(31 - __builtin_clz((uint32_t)value | 1)) * 37 >> 8;
		uint32_t bytes = vpt_pb_spread((uint32_t)value) | 0x808080u >> (24 - 8 * more);

		memcpy(to, &bytes, sizeof(bytes));
		return to + more + 1;
	}
#endif
	return vpt_pb_varint_loop_at(to, value);
}

/* The same, padded to three bytes if it needs fewer. */
static inline uint8_t *vpt_pb_padded_at(uint8_t *to, uint64_t value)
{
	if (value >= 1 << 21)
		return vpt_pb_varint_at(to, value);
	to[0] = (uint8_t)(value | 0x80);
	to[1] = (uint8_t)(value >> 7 | 0x80);
	to[2] = (uint8_t)(value >> 14);
	return to + 3;
}

static inline uint8_t *vpt_pb_uint_at(uint8_t *to, uint32_t field, uint64_t value)
{
	return vpt_pb_varint_at(vpt_pb_varint_at(to, (uint64_t)field << 3), value);
}

/* A fixed64, or a double given by its bits. */
static inline uint8_t *vpt_pb_fixed_at(uint8_t *to, uint32_t field, uint64_t bits)
{
	unsigned i;

	to = vpt_pb_varint_at(to, (uint64_t)field << 3 | 1);
	for (i = 0; i < sizeof(bits); i++)
		*to++ = (uint8_t)(bits >> 8 * i);
	return to;
}

/* Sets the length of the message [content, end), for which the caller left one byte in front; moves
 * the content if the length needs two. There must be room for one more byte, and the content must
 * be under 16 KiB. Returns the end. */
static inline uint8_t *vpt_pb_close_at(uint8_t *content, uint8_t *end)
{
	size_t size = (size_t)(end - content);

	if (__builtin_expect(size < 0x80, 1)) {
		content[-1] = (uint8_t)size;
		return end;
	}
	memmove(content + 1, content, size);
	content[-1] = (uint8_t)(size | 0x80);
	content[0] = (uint8_t)(size >> 7);
	return end + 1;
}

/* uint32, uint64, bool, enum; cast an int32 or int64 to uint64_t. */
static inline void vpt_pb_uint(struct vpt_pb *b, uint32_t field, uint64_t value)
{
	uint8_t *to;

	if (!vpt_pb_room(b, 2 * (size_t)VPT_PB_VARINT))
		return;
	to = vpt_pb_varint_at(b->data + b->size, (uint64_t)field << 3);
	b->size = (size_t)(vpt_pb_varint_at(to, value) - b->data);
}

/* Bytes as they are: fields encoded elsewhere. */
static inline void vpt_pb_raw(struct vpt_pb *b, const void *data, size_t size)
{
	if (!size || !vpt_pb_room(b, size))
		return;
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

void vpt_pb_double(struct vpt_pb *b, uint32_t field, double value);
void vpt_pb_bytes(struct vpt_pb *b, uint32_t field, const void *data, size_t size);

/* Text for readers that insist on valid UTF-8 without NUL: everything else becomes U+FFFD. Writes
 * at most `max` bytes, cut between characters. */
void vpt_pb_text(struct vpt_pb *b, uint32_t field, const char *text, size_t len, size_t max);
void vpt_pb_string(struct vpt_pb *b, uint32_t field, const char *text); /* NULL: no field */

void vpt_pb_begin(struct vpt_pb *b, uint32_t field);
void vpt_pb_end_long(struct vpt_pb *b, size_t start, size_t size);

static inline void vpt_pb_end(struct vpt_pb *b)
{
	size_t start, size;

	if (b->failed)
		return;
	start = b->depth ? b->starts[--b->depth] : 0;
	size = b->size - start;
	if (start && size < 0x80)
		b->data[start - 1] = (uint8_t)size;
	else
		vpt_pb_end_long(b, start, size);
}

#endif
