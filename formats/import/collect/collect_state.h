/* collect_state.h - the state of a collector. Private to collect*.c.
 *
 *	collect.c         rows in any order: one growing array of uint64_t per kind, lane first
 *	collect_cuts.c    an index of (completion time, kind, row), sorted once; a chunk is a stretch
 *	collect_processes.c  whose each op is, and which call launched it
 *	collect_devices.c    one number for each GPU
 *	collect_strays.c  rows that are far away from all others
 *	collect_doubtful_times.c   times that cannot be
 *	collect_siblings.c  calls and ranges of a thread that overlap by rounding
 *	collect_chunks.c  a stretch as a batch, ids translated to the chunk's */
#ifndef VPT_FORMATS_IMPORT_COLLECT_COLLECT_STATE_H
#define VPT_FORMATS_IMPORT_COLLECT_COLLECT_STATE_H

#include "formats/base/map.h"
#include "formats/calls.h"
#include "formats/capture_layout.h"
#include "formats/chunk/batch.h"

#include <stddef.h>
#include <stdint.h>

/* Rows of a kind: lane, then columns. Of RANGE and SAMPLE, which are many and mostly zeros, only columns that
 * have had another value: read these by vpt_collect_columns(), except for their times. */
struct vpt_collect_rows {
	uint64_t *values;
	size_t count, cap;
	size_t width;    /* values of a row; 0: there has been none */
	uint32_t stored; /* a bit for each column in a row */
};

struct vpt_collect_entry {
	uint64_t time; /* completion: the sort key */
	uint32_t row;
	uint32_t kind;
};

struct vpt_collect_cut {
	size_t begin, end; /* of the index */
	uint64_t time;     /* completion of its last event */
	uint64_t t_min;
	uint32_t *open; /* rows of RANGE that are open at `time` */
	size_t open_count, open_cap;
};

struct vpt_collect {
	int failed;
	struct vpt_collect_rows kinds[VPT_KIND_LIMIT];
	/* A bit for each column of a kind that may hold the number of a string, configuration or stack. */
	uint32_t ids[VPT_KIND_LIMIT];
	struct vpt_strings strings;
	struct vpt_recent recent;        /* of strings */
	struct vpt_collect_rows configs; /* without lane */
	struct vpt_map config_rows;      /* by content */
	struct vpt_stack_table stacks;
	struct vpt_lane *lanes; /* key is index + 1 */
	size_t lane_count, lane_cap;
	struct vpt_map lane_rows; /* by the fields that identify a lane */

	int64_t *owners; /* by owner: its process, -1 while unknown */
	size_t owner_count, owner_cap;
	int launching; /* processes that launch: 0, 1, or 2 for more */
	struct vpt_collect_doubts doubts;
	int zero_is_no_time; /* the importer says so */
	int zero_is_time;    /* an op begins at 0, and that is near the other events */
	int gpus_are_numbered, times_are_exact;

	struct vpt_header header;
	uint64_t end_ns;
	uint64_t given_start_ns, given_end_ns; /* from vpt_collect_window(); 0: unknown */
	int has_realtime;
	uint64_t unix_offset_ns;
	struct vpt_collect_entry *index;
	size_t index_count;
	struct vpt_collect_cut *cuts;
	size_t cut_count, cut_cap;
};

/* A stream's pid is this plus the owner until vpt_collect_finish() has found the process. */
#define VPT_COLLECT_OWNER INT64_MIN

/* The owner of a lane; UINT32_MAX: none. */
static inline uint32_t vpt_collect_owner_of(const struct vpt_lane *lane)
{
	return lane->lane_type == VPT_LANETYPE_STREAM && (int64_t)lane->pid < -1
		       ? (uint32_t)(lane->pid - (uint64_t)VPT_COLLECT_OWNER)
		       : UINT32_MAX;
}

/* Steps of vpt_collect_finish(), in this order; each returns 0 or VPT_ENOMEM. */
int vpt_collect_tell_apart(struct vpt_collect *c);
int vpt_collect_number_devices(struct vpt_collect *c);
int vpt_collect_leave_out_strays(struct vpt_collect *c);
int vpt_collect_doubt_times(struct vpt_collect *c);
int vpt_collect_part_siblings(struct vpt_collect *c);

static inline uint64_t *vpt_collect_row_at(const struct vpt_collect *c, unsigned kind, size_t i)
{
	return c->kinds[kind].values + i * c->kinds[kind].width;
}

/* All columns of a row. */
static inline void vpt_collect_columns(
	const struct vpt_collect *c, unsigned kind, const uint64_t *row, uint64_t *columns)
{
	uint32_t stored = c->kinds[kind].stored;
	unsigned i, count = vpt_kind_desc(kind)->n_columns;

	for (i = 0; i < count; i++)
		columns[i] = stored >> i & 1 ? *++row : 0;
}

/* The row of an entry. */
static inline const uint64_t *vpt_collect_row(
	const struct vpt_collect *c, const struct vpt_collect_entry *e)
{
	return vpt_collect_row_at(c, e->kind, e->row);
}

/* Whether this row of CALL has an id and may launch, as one that is not in our table may. */
static inline int vpt_collect_is_launch(const uint64_t *row)
{
	uint64_t id = row[1 + VPT_CALL_ID];

	return row[1 + VPT_CALL_CORRELATION] &&
	       (!id || vpt_call_launches(vpt_call_class((uint32_t)id)));
}

/* Those of them that rows of the kind have. */
static inline uint32_t vpt_collect_ids(const struct vpt_collect *c, unsigned kind)
{
	return c->ids[kind] & c->kinds[kind].stored;
}

/* Whether column `i` of a row holds the id of a string. */
static inline int vpt_collect_is_string(
	const struct vpt_kind_desc *kind, const uint64_t *columns, unsigned i)
{
	if (kind->columns[i].unit == VPT_UNIT_STRING)
		return 1;
	/* A blob or JSON payload is kept as a string; the column before holds the payload's
	 * type. */
	return i && kind->columns[i - 1].unit == VPT_UNIT_PAYLOAD &&
	       (columns[i - 1] == VPT_PAYLOAD_BLOB || columns[i - 1] == VPT_PAYLOAD_JSON);
}

#endif
