/* python_lines.c - three generations of CPython's line tables. */
#include "tracer/python_stacks/python_code.h"

/* Sums wrap: a damaged table may hold any number. */
static int32_t add(int32_t a, int32_t b)
{
	return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* Pairs: bytes of code (unsigned), then lines (signed) to go on before the next pair applies. */
static int32_t lnotab_line(const uint8_t *table, size_t bytes, int32_t first, int32_t at)
{
	int32_t line = first, offset = 0;
	size_t i;

	for (i = 0; i + 1 < bytes; i += 2) {
		offset = add(offset, table[i]);
		if (offset > at)
			break;
		line = add(line, (int8_t)table[i + 1]);
	}
	return line;
}

/* Pairs: bytes of code, and the difference of their line from that of the pair before; -128: they
 * have none. */
static int32_t table_line(const uint8_t *table, size_t bytes, int32_t first, int32_t at)
{
	int32_t line = first, end = 0;
	size_t i;

	for (i = 0; i + 1 < bytes; i += 2) {
		end = add(end, table[i]);
		if ((int8_t)table[i + 1] != -128)
			line = add(line, (int8_t)table[i + 1]);
		if (at < end)
			return (int8_t)table[i + 1] == -128 ? -1 : line;
	}
	return line;
}

/* Six bits a byte, the lowest first; bit 6 marks that more follow. */
static uint32_t varint(const uint8_t *table, size_t bytes, size_t *i)
{
	uint32_t value = 0, shift = 0;

	while (*i < bytes) {
		uint8_t byte = table[(*i)++];

		if (shift < 32)
			value |= (uint32_t)(byte & 63) << shift;
		shift += 6;
		if (!(byte & 64))
			break;
	}
	return value;
}

static int32_t signed_varint(const uint8_t *table, size_t bytes, size_t *i)
{
	uint32_t value = varint(table, bytes, i);

	return value & 1 ? (int32_t)(0 - (value >> 1)) : (int32_t)(value >> 1);
}

/* Entries: a byte 1 | code 4 | units of code, less one, 3, and what the code asks for; the columns
 * that follow have no highest bit, so they are skipped unread. */
static int32_t locations_line(const uint8_t *table, size_t bytes, int32_t first, int32_t at)
{
	enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NOTHING = 15 };
	int32_t line = first, end = 0;
	size_t i = 0;

	if (at < 0)
		return first;
	while (i < bytes) {
		unsigned code = table[i] >> 3 & 15;

		end = add(end, ((table[i++] & 7) + 1) * 2);
		if (code == LONG || code == NO_COLUMNS)
			line = add(line, signed_varint(table, bytes, &i));
		else if (code >= ONE_LINE && code < NO_COLUMNS)
			line = add(line, (int32_t)code - ONE_LINE);
		while (i < bytes && !(table[i] & 128))
			i++;
		if (at < end)
			return code == NOTHING ? -1 : line;
	}
	return line;
}

int32_t vtr_python_line(
	enum vtr_python_lines kind, const uint8_t *table, size_t bytes, int32_t first, int32_t at)
{
	switch (kind) {
	case VTR_LINES_LNOTAB:
		return lnotab_line(table, bytes, first, at);
	case VTR_LINES_TABLE:
		return table_line(table, bytes, first, at);
	case VTR_LINES_LOCATIONS:
		break;
	}
	return locations_line(table, bytes, first, at);
}
