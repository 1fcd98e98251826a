/* protobuf.h - protocol buffers, written: bytes in the wire format, appended to one buffer.
 *
 *	vpt_pb_begin(&b, 60);          a message in field 60 ...
 *	vpt_pb_uint(&b, 1, uuid);      ... with these fields
 *	vpt_pb_string(&b, 2, "GPU 0");
 *	vpt_pb_end(&b);                its length is set now
 *
 * Sticky: without memory, or after a message more than 16 deep, puts do nothing and b->failed says so;
 * check once. All varints are as short as they can be, so equal calls give equal bytes. Not for reading. */
#ifndef VPT_FORMATS_PROTOBUF_H
#define VPT_FORMATS_PROTOBUF_H

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
	int failed; /* VPT_ENOMEM; VPT_EINVAL: begun and ended unevenly */
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

/* A number where there is room for it. Returns what comes after it. */
static inline uint8_t *vpt_pb_varint_at(uint8_t *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*to++ = (uint8_t)value;
	return to;
}

/* uint32, uint64, bool, enum; an int32 or int64 that is negative is converted to uint64_t. */
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

/* Text for readers that insist on valid UTF-8 without NUL: what is not becomes U+FFFD. At most `max` bytes
 * come out, cut between characters. */
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
