/* table_columns.c - the types that units have. */
#include "analysis/export/rows/table_columns.h"

#include "analysis/base/choices.h"
#include "formats/base/memory.h"
#include "formats/event_schema.h"

#include <string.h>

/* Units not listed are words of events.def. */
static const struct {
	uint8_t unit, type;
	const char *words;
} units[] = {
	{VPT_UNIT_TIME_NS, VPA_COLUMN_INTEGER, "ns on the trace clock"},
	{VPT_UNIT_DUR_NS, VPA_COLUMN_INTEGER, "ns"},
	{VPT_UNIT_COUNT, VPA_COLUMN_INTEGER, "count"},
	{VPT_UNIT_BYTES, VPA_COLUMN_INTEGER, "bytes"},
	{VPT_UNIT_NUMBER, VPA_COLUMN_INTEGER, NULL},
	{VPT_UNIT_SIGNED, VPA_COLUMN_INTEGER, NULL},
	{VPT_UNIT_HEX, VPA_COLUMN_TEXT, "hexadecimal"},
	{VPT_UNIT_F64, VPA_COLUMN_NUMBER, NULL},
	{VPT_UNIT_STRING, VPA_COLUMN_TEXT, NULL},
	{VPT_UNIT_LANE, VPA_COLUMN_TEXT, NULL},
	{VPT_UNIT_CALL, VPA_COLUMN_TEXT, "CUDA call"},
};

VPA_WORDS_OF(enum vpa_column_type, vpa_column_type_name, [VPA_COLUMN_INTEGER] = "integer",
	[VPA_COLUMN_NUMBER] = "number", [VPA_COLUMN_TEXT] = "text", [VPA_COLUMN_ANY] = "any");

void vpa_table_columns_put(struct vpa_table_columns *c, const struct vpa_table_column *column)
{
	if (vpt_grow(&c->at, &c->cap, c->count + 1, sizeof(*c->at)))
		c->failed = 1;
	else
		c->at[c->count++] = *column;
}

const struct vpa_table_column *vpa_table_columns_find(
	const struct vpa_table_columns *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		if (!strcmp(c->at[i].name, name))
			return &c->at[i];
	return NULL;
}

void vpa_table_columns_put_unit(void *columns, const char *name, unsigned unit, const char *help)
{
	struct vpa_table_columns *c = columns;
	const struct vpa_table_column *before = c->count ? &c->at[c->count - 1] : NULL;
	struct vpa_table_column column = {.name = name, .help = help, .type = VPA_COLUMN_TEXT};
	size_t i, count = sizeof(units) / sizeof(*units);

	for (i = 0; i < count && units[i].unit != unit; i++)
		;
	if (unit == VPT_UNIT_HEX && before && before->words == VPT_UNIT_PAYLOAD) {
		column.type = VPA_COLUMN_ANY; /* the column before a payload gives its type */
	} else if (i < count) {
		column.type = units[i].type;
		column.unit = units[i].words;
	} else {
		column.words = (uint8_t)unit;
	}
	column.is_time = unit == VPT_UNIT_TIME_NS;
	vpa_table_columns_put(c, &column);
}
