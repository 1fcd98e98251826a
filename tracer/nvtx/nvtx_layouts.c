/* nvtx_layouts.c - a pool of layouts, filled in the order of registration.
 *
 * A layout is complete before its number is given out, which happens by way of an atomic store in
 * nvtx_schemas.c. A field whose type the host defined, such as an enumeration, is an integer of the
 * size that was registered for the type, perhaps after the layout. */
#include "tracer/nvtx/nvtx_layouts.h"

#include "formats/base/count.h"
#include "tracer/nvtx/nvtx_schemas.h"
#include "tracer/ranges/words/range_strings.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { LAYOUTS = 256, OFFSET_MAX = 4096, NAME_BYTES_MAX = 64, FIELD_BYTES_MAX = 100 };
enum form { NONE, SIGNED, UNSIGNED, FLOATING };

static const struct number {
	uint8_t bytes, form;
} numbers[] = {
	[VTR_NVTX_CHAR] = {1, SIGNED},
	[VTR_NVTX_UCHAR] = {1, UNSIGNED},
	[VTR_NVTX_SHORT] = {2, SIGNED},
	[VTR_NVTX_USHORT] = {2, UNSIGNED},
	[VTR_NVTX_INT] = {4, SIGNED},
	[VTR_NVTX_UINT] = {4, UNSIGNED},
	[VTR_NVTX_LONG] = {sizeof(long), SIGNED},
	[VTR_NVTX_ULONG] = {sizeof(long), UNSIGNED},
	[VTR_NVTX_LONGLONG] = {8, SIGNED},
	[VTR_NVTX_ULONGLONG] = {8, UNSIGNED},
	[VTR_NVTX_INT8] = {1, SIGNED},
	[VTR_NVTX_UINT8] = {1, UNSIGNED},
	[VTR_NVTX_INT16] = {2, SIGNED},
	[VTR_NVTX_UINT16] = {2, UNSIGNED},
	[VTR_NVTX_INT32] = {4, SIGNED},
	[VTR_NVTX_UINT32] = {4, UNSIGNED},
	[VTR_NVTX_INT64] = {8, SIGNED},
	[VTR_NVTX_UINT64] = {8, UNSIGNED},
	[VTR_NVTX_FLOAT] = {4, FLOATING},
	[VTR_NVTX_DOUBLE] = {8, FLOATING},
	[VTR_NVTX_SIZE] = {sizeof(size_t), UNSIGNED},
	[VTR_NVTX_ADDRESS] = {sizeof(void *), UNSIGNED},
	[VTR_NVTX_BYTE] = {1, UNSIGNED},
	[VTR_NVTX_FLOAT32] = {4, FLOATING},
	[VTR_NVTX_FLOAT64] = {8, FLOATING},
};

struct field {
	uint64_t type;
	uint32_t name, offset;
};

static struct layout {
	uint32_t count;
	struct field fields[VTR_LAYOUT_FIELDS_MAX];
} layouts[LAYOUTS];

static _Atomic uint32_t layout_count;

/* A type of NVTX's, or one that the host registers. */
static int is_possible(uint64_t type)
{
	return type >= VTR_NVTX_FIRST_STATIC_ID || (type < COUNT(numbers) && numbers[type].form);
}

static struct number number_of(uint64_t type, uint32_t domain)
{
	size_t bytes;

	if (type < COUNT(numbers))
		return numbers[type];
	/* A layout within this one is no number. */
	bytes = vtr_nvtx_schema_layout(type, domain) ? 0 : vtr_nvtx_schema_bytes(type, domain);
	return (struct number){(uint8_t)bytes,
		bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ? SIGNED : NONE};
}

/* An offset of 0 means where the field before it ends, as the compiler would align it. */
static int read_layout(const struct vtr_nvtx_schema *attr, struct layout *out)
{
	const struct vtr_nvtx_entry *entries = attr->entries;
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < attr->entry_count; i++) {
		const struct vtr_nvtx_entry *e = &entries[i];
		uint64_t bytes = e->type < COUNT(numbers) ? numbers[e->type].bytes : 4;
		uint64_t offset = e->offset || !i ? e->offset : (end + bytes - 1) / bytes * bytes;

		if (e->flags & VTR_NVTX_ENTRY_NOT_A_NUMBER || !is_possible(e->type) ||
			offset > OFFSET_MAX)
			return -1;
		out->fields[i] = (struct field){e->type, vtr_name_of(e->name), (uint32_t)offset};
		end = offset + bytes;
	}
	out->count = (uint32_t)attr->entry_count;
	return 0;
}

uint32_t vtr_nvtx_layout(const struct vtr_nvtx_schema *attr, uint32_t known)
{
	static const uint64_t needed =
		VTR_NVTX_SCHEMA_HAS_TYPE | VTR_NVTX_SCHEMA_HAS_ENTRIES | VTR_NVTX_SCHEMA_HAS_COUNT;
	struct layout layout = {0};
	uint32_t place;

	if ((attr->fields & needed) != needed || attr->type != VTR_NVTX_SCHEMA_STATIC ||
		!attr->entries || !attr->entry_count || attr->entry_count > VTR_LAYOUT_FIELDS_MAX ||
		read_layout(attr, &layout))
		return 0;
	if (known && known <= LAYOUTS && !memcmp(&layouts[known - 1], &layout, sizeof(layout)))
		return known;
	place = atomic_load_explicit(&layout_count, memory_order_relaxed);
	do
		if (place == LAYOUTS)
			return 0;
	while (!atomic_compare_exchange_weak(&layout_count, &place, place + 1));
	layouts[place] = layout;
	return place + 1;
}

size_t vtr_nvtx_layout_bytes(uint32_t layout)
{
	size_t bytes = 0, i;

	for (i = 0; layout && i < layouts[layout - 1].count; i++) {
		const struct field *f = &layouts[layout - 1].fields[i];

		if (f->type >= COUNT(numbers))
			return 0;
		if (f->offset + numbers[f->type].bytes > bytes)
			bytes = f->offset + numbers[f->type].bytes;
	}
	return bytes;
}

/* ---- as text ---- */

static size_t put_floating(char *out, double value, int digits)
{
	char text[40];
	size_t len = 0, i;

	if (!isfinite(value))
		return (size_t)snprintf(out, sizeof(text), "null");
	snprintf(text, sizeof(text), "%.*g", digits, value);
	/* The host's locale decides the point, which may be several bytes. */
	for (i = 0; text[i]; i++) {
		if (strchr("0123456789+-e", text[i]))
			out[len++] = text[i];
		else if (len && out[len - 1] != '.')
			out[len++] = '.';
	}
	return len;
}

static size_t put_integer(char *out, size_t size, const uint8_t *bytes, struct number n)
{
	uint64_t value = 0;

	memcpy(&value, bytes, n.bytes); /* the machine's first byte is the lowest */
	if (n.form == UNSIGNED)
		return (size_t)snprintf(out, size, "%" PRIu64, value);
	if (n.bytes < 8 && value >> (n.bytes * 8 - 1))
		value |= ~UINT64_C(0) << n.bytes * 8;
	return (size_t)snprintf(out, size, "%" PRId64, (int64_t)value);
}

static size_t put_number(char *out, size_t size, const uint8_t *bytes, struct number n)
{
	float narrow;
	double wide;

	if (n.form != FLOATING)
		return put_integer(out, size, bytes, n);
	if (n.bytes == sizeof(wide)) {
		memcpy(&wide, bytes, sizeof(wide));
		return put_floating(out, wide, 17);
	}
	memcpy(&narrow, bytes, sizeof(narrow));
	return put_floating(out, (double)narrow, 9);
}

static size_t put_name(char *out, uint32_t name)
{
	size_t len, i;
	const char *text = vtr_name_text(name, &len);

	len = len < NAME_BYTES_MAX ? len : NAME_BYTES_MAX;
	for (i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)text[i];

		out[i] = byte < 0x20 || byte > 0x7e || byte == '"' || byte == '\\' ? '?' : text[i];
	}
	return len;
}

size_t vtr_nvtx_payload_text(uint64_t schema, uint32_t domain, const void *blob, size_t bytes,
	char out[VTR_LAYOUT_TEXT_MAX])
{
	uint32_t number = vtr_nvtx_schema_layout(schema, domain), i;
	const struct layout *l = number && number <= LAYOUTS ? &layouts[number - 1] : NULL;
	size_t len = 0;

	for (i = 0; l && i < l->count && len + FIELD_BYTES_MAX < VTR_LAYOUT_TEXT_MAX; i++) {
		struct number n = number_of(l->fields[i].type, domain);

		if (!n.form || l->fields[i].offset > bytes || n.bytes > bytes - l->fields[i].offset)
			continue;
		out[len] = len ? ',' : '{';
		out[len + 1] = '"';
		len += 2;
		len += put_name(out + len, l->fields[i].name);
		out[len++] = '"';
		out[len++] = ':';
		len += put_number(out + len, VTR_LAYOUT_TEXT_MAX - len,
			(const uint8_t *)blob + l->fields[i].offset, n);
	}
	if (!len)
		return 0;
	out[len++] = '}';
	out[len] = '\0';
	return len;
}
