/* protobuf.c - writes the wire format of protocol buffers.
 *
 * A message's length precedes it but is known only at its end. One byte is reserved for it, enough
 * for nearly all messages; a message of 128 bytes or more is moved to make room for the rest. Left
 * out: packed fields, groups, reading. */
#include "formats/perfetto/protobuf.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/utf8.h"

void vpt_pb_reset(struct vpt_pb *b)
{
	b->size = 0;
	b->depth = 0;
	b->failed = 0;
}

void vpt_pb_free(struct vpt_pb *b)
{
	vpt_free(b->data);
	*b = (struct vpt_pb){0};
}

int vpt_pb_room_more(struct vpt_pb *b, size_t bytes)
{
	size_t need;

	if (b->failed)
		return 0;
	if (__builtin_add_overflow(b->size, bytes, &need) ||
		vpt_grow(&b->data, &b->cap, need < 4096 ? 4096 : need, 1)) {
		b->failed = VPT_ENOMEM;
		return 0;
	}
	return 1;
}

/* ---- values ---- */

static void put_head(struct vpt_pb *b, uint32_t field, unsigned type)
{
	if (vpt_pb_room(b, VPT_PB_VARINT))
		b->size =
			(size_t)(vpt_pb_varint_at(b->data + b->size, (uint64_t)field << 3 | type) -
				 b->data);
}

void vpt_pb_double(struct vpt_pb *b, uint32_t field, double value)
{
	uint64_t bits;
	uint8_t le[8];
	unsigned i;

	memcpy(&bits, &value, sizeof(bits));
	for (i = 0; i < sizeof(le); i++)
		le[i] = (uint8_t)(bits >> 8 * i);
	put_head(b, field, 1);
	vpt_pb_raw(b, le, sizeof(le));
}

void vpt_pb_bytes(struct vpt_pb *b, uint32_t field, const void *data, size_t size)
{
	put_head(b, field, 2);
	if (!vpt_pb_room(b, VPT_PB_VARINT))
		return;
	b->size = (size_t)(vpt_pb_varint_at(b->data + b->size, size) - b->data);
	vpt_pb_raw(b, data, size);
}

/* ---- messages ---- */

void vpt_pb_begin(struct vpt_pb *b, uint32_t field)
{
	put_head(b, field, 2);
	if (!vpt_pb_room(b, 1))
		return;
	if (b->depth == VPT_PB_DEPTH) {
		b->failed = VPT_EINVAL;
		return;
	}
	b->data[b->size++] = 0;
	b->starts[b->depth++] = b->size;
}

void vpt_pb_end_long(struct vpt_pb *b, size_t start, size_t size)
{
	uint8_t length[VPT_PB_VARINT];
	size_t bytes = (size_t)(vpt_pb_varint_at(length, size) - length);

	if (!start) {
		b->failed = VPT_EINVAL;
		return;
	}
	if (!vpt_pb_room(b, bytes - 1))
		return;
	memmove(b->data + start + bytes - 1, b->data + start, size);
	memcpy(b->data + start - 1, length, bytes);
	b->size += bytes - 1;
}

/* ---- text ---- */

void vpt_pb_text(struct vpt_pb *b, uint32_t field, const char *text, size_t len, size_t max)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t i = 0, written = 0, start;

	vpt_pb_begin(b, field);
	while (i < len && !b->failed) {
		start = i;
		while (i < len && s[i] && s[i] < 0x80 && written + (i - start) < max)
			i++;
		vpt_pb_raw(b, text + start, i - start);
		written += i - start;
		if (i == len || written >= max)
			break;
		start = s[i] ? vpt_utf8_length(text + i, len - i, NULL) : 0;
		if (written + (start ? start : 3) > max)
			break;
		vpt_pb_raw(b, start ? (const char *)s + i : "\xef\xbf\xbd", start ? start : 3);
		written += start ? start : 3;
		i += start ? start : 1;
	}
	vpt_pb_end(b);
}

void vpt_pb_string(struct vpt_pb *b, uint32_t field, const char *text)
{
	if (text)
		vpt_pb_text(b, field, text, strlen(text), SIZE_MAX);
}
