/* event_schema.c - events.def and names.def as tables. */
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
	SET_COPYKIND = 1,
	SET_MEMKIND,
	SET_SYNCKIND,
	SET_OVERHEADKIND,
	SET_LOSSKIND,
	SET_RANGEKIND,
	SET_LANETYPE,
	SET_GRAPHOP,
	SET_MEMOP,
	SET_PAYLOAD,
	SET_THREADSTATE
};

static const struct {
	uint8_t set, number;
	const char *text;
} words[] = {
#define VPT_NAME(SET, NAME, number, text) {SET_##SET, number, text},
#include "formats/names.def"
};

static const uint8_t set_of_unit[] = {
	[VPT_UNIT_COPY_KIND] = SET_COPYKIND,
	[VPT_UNIT_MEMORY_KIND] = SET_MEMKIND,
	[VPT_UNIT_SYNC_KIND] = SET_SYNCKIND,
	[VPT_UNIT_OVERHEAD_KIND] = SET_OVERHEADKIND,
	[VPT_UNIT_LOSS_KIND] = SET_LOSSKIND,
	[VPT_UNIT_RANGE_KIND] = SET_RANGEKIND,
	[VPT_UNIT_LANE_TYPE] = SET_LANETYPE,
	[VPT_UNIT_GRAPH_OP] = SET_GRAPHOP,
	[VPT_UNIT_MEMORY_OP] = SET_MEMOP,
	[VPT_UNIT_PAYLOAD] = SET_PAYLOAD,
	[VPT_UNIT_THREAD_STATE] = SET_THREADSTATE,
};

const char *vpt_word(enum vpt_unit unit, uint64_t number)
{
	size_t i;

	if (unit == VPT_UNIT_CALL)
		return number && number <= UINT32_MAX ? vpt_call_name((uint32_t)number) : NULL;
	if ((size_t)unit >= sizeof(set_of_unit) || !set_of_unit[unit])
		return NULL;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].set == set_of_unit[unit] && words[i].number == number)
			return words[i].text;
	return NULL;
}
