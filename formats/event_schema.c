/* event_schema.c - events.def as tables. */
#include "formats/event_schema.h"

#include "formats/calls.h"

#include <string.h>

/* Some of these macros open a brace that another one closes. */
/* clang-format off */
#define VPT_KIND(KIND, kind, type, lane, flags, help) static const struct vpt_column_desc kind##_columns[] = {
#define VPT_COLUMN(KIND, kind, COL, col, id, enc, unit, help) \
	{#col, help, id, VPT_ENC_##enc, VPT_UNIT_##unit},
#define VPT_KIND_END(KIND, kind) }; \
	_Static_assert(VPT_##KIND##_COLUMNS <= VPT_COLUMNS_MAX, "raise VPT_COLUMNS_MAX"); \
	_Static_assert(sizeof(struct vpt_##kind) == VPT_##KIND##_COLUMNS * sizeof(uint64_t), "rows are arrays");
#include "formats/events.def"

static const struct vpt_kind_desc kinds[VPT_KIND_LIMIT] = {
#define VPT_KIND(KIND, kind, type, lane, flags, help) \
	[type] = {#kind, help, type, VPT_LANES_##lane, flags, VPT_##KIND##_COLUMNS, kind##_columns},
#include "formats/events.def"
};

/* clang-format on */

const struct vpt_kind_desc *vpt_kind_desc(unsigned type)
{
	return type < VPT_KIND_LIMIT && kinds[type].name ? &kinds[type] : NULL;
}

const struct vpt_kind_desc *vpt_kind_by_name(const char *name)
{
	unsigned type;

	for (type = 0; type < VPT_KIND_LIMIT; type++)
		if (kinds[type].name && !strcmp(kinds[type].name, name))
			return &kinds[type];
	return NULL;
}

enum {
#define VPT_WORDS(UNIT, SET) SET_##SET = VPT_UNIT_##UNIT,
#include "formats/events.def"
};

static const struct {
	unsigned set;
	uint8_t number;
	const char *text;
} words[] = {
#define VPT_NAME(SET, NAME, number, text) {SET_##SET, number, text},
#include "formats/events.def"
};

const char *vpt_word(enum vpt_unit unit, uint64_t number)
{
	size_t i;

	if (unit == VPT_UNIT_CALL)
		return number && number <= UINT32_MAX ? vpt_call_name((uint32_t)number) : NULL;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].set == unit && words[i].number == number)
			return words[i].text;
	return NULL;
}
