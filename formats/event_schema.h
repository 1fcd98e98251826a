/* event_schema.h - the event schema as data and as C types, both generated from events.def.
 *
 * In memory every value of every column is a uint64_t. So a row is a struct of uint64_t fields and
 * also an array that generic code indexes by column:
 *
 *	struct vpt_kernel k = {.start_ns = 10, .duration_ns = 5, .correlation = 7};
 *	vpt_batch_put(batch, VPT_KERNEL, lane_key, &k);
 *	section->col[VPT_KERNEL_START][row]
 */
#ifndef VPT_FORMATS_EVENT_SCHEMA_H
#define VPT_FORMATS_EVENT_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

/* Some of these macros open a brace that another one closes. */
/* clang-format off */

/* Section types as in the file: VPT_KERNEL = 1, VPT_CALL = 2 ... */
enum vpt_kind {
#define VPT_KIND(KIND, kind, type, lane, flags, help) VPT_##KIND = type,
#include "formats/events.def"
	VPT_KIND_LIMIT /* the last kind has the highest number; those above are unknown */
};

/* Indexes into a row: VPT_KERNEL_START = 0, VPT_KERNEL_DURATION = 1 ... VPT_KERNEL_COLUMNS. */
#define VPT_KIND(KIND, kind, type, lane, flags, help) enum {
#define VPT_COLUMN(KIND, kind, COL, col, id, enc, unit, help) VPT_##KIND##_##COL,
#define VPT_KIND_END(KIND, kind) VPT_##KIND##_COLUMNS };
#include "formats/events.def"

/* struct vpt_kernel, struct vpt_call ...: one uint64_t per column, in the same order. */
#define VPT_KIND(KIND, kind, type, lane, flags, help) struct vpt_##kind {
#define VPT_COLUMN(KIND, kind, COL, col, id, enc, unit, help) uint64_t col; /* help */
#define VPT_KIND_END(KIND, kind) };
#include "formats/events.def"

/* clang-format on */

/* Words as numbers: VPT_COPYKIND_HTOD, VPT_SYNCKIND_STREAM ... */
enum {
#define VPT_NAME(SET, NAME, number, text) VPT_##SET##_##NAME = number,
#include "formats/events.def"
};

enum { VPT_ENC_PLAIN = 0, VPT_ENC_DELTA = 1, VPT_ENC_GAP = 2, VPT_ENC_BYTES = 3 };

enum vpt_unit {
	VPT_UNIT_TIME_NS,
	VPT_UNIT_DUR_NS,
	VPT_UNIT_COUNT,
	VPT_UNIT_BYTES,
	VPT_UNIT_NUMBER,
	VPT_UNIT_SIGNED,
	VPT_UNIT_HEX,
	VPT_UNIT_F64,
	VPT_UNIT_STRING,
	VPT_UNIT_CONFIG,
	VPT_UNIT_FRAME,
	VPT_UNIT_STACK,
	VPT_UNIT_LANE,
	VPT_UNIT_CALL,
/* Sets of words: VPT_UNIT_COPY_KIND ... */
#define VPT_WORDS(UNIT, SET) VPT_UNIT_##UNIT,
#include "formats/events.def"
};

enum vpt_lane_use {
	VPT_LANES_NONE,
	VPT_LANES_STREAM,
	VPT_LANES_THREAD,
	VPT_LANES_SERIES,
	VPT_LANES_ANY
};

/* Whether a copy moves pages of unified memory: the driver does that, so no call launches it. */
static inline int vpt_copy_is_migration(uint64_t copy_kind)
{
	return copy_kind >= VPT_COPYKIND_UNIFIED && copy_kind <= VPT_COPYKIND_UNIFIED_DTOD;
}

/* Flags of a SAMPLE row. */
enum {
	VPT_SAMPLE_EXACT = 1,    /* the stack is the thread's until its next sample */
	VPT_SAMPLE_TRUNCATED = 2 /* the stack has more frames than are given */
};

enum {
	VPT_KIND_EVENT = 1, /* rows count as events of the chunk */
	VPT_KIND_SPAN = 2,  /* columns 0 and 1 are START and DURATION */
	VPT_KIND_OP = 4,    /* work on a device */
	VPT_KIND_TABLE = 8, /* describes other rows */
	VPT_KIND_CRITICAL = 16
};

struct vpt_column_desc {
	const char *name; /* as in the struct: "start_ns" */
	const char *help;
	uint8_t id, enc;
	uint8_t unit; /* enum vpt_unit */
};

struct vpt_kind_desc {
	const char *name; /* "kernel" */
	const char *help;
	uint8_t type, lanes, flags, n_columns;
	const struct vpt_column_desc *columns;
};

#define VPT_COLUMNS_MAX 16 /* most columns any known kind has; the file may hold up to 32 */

/* The description of a section type, NULL for one this version does not know. */
const struct vpt_kind_desc *vpt_kind_desc(unsigned type);
/* The same by name ("kernel"), NULL if there is none. */
const struct vpt_kind_desc *vpt_kind_by_name(const char *name);

/* The word for a number of the set that `unit` names (VPT_UNIT_COPY_KIND, ...). NULL if the unit
 * has no words or the number is unknown. */
const char *vpt_word(enum vpt_unit unit, uint64_t number);

#endif
