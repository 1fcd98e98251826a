/* batch.h - one chunk of events in memory, as tracer, files, importers and analysis exchange it.
 *
 * A batch is a list of sections. A section is a small table of one kind of event on one lane,
 * stored as columns of plain uint64_t. It always has every column of its kind; a column that the
 * file lacks reads as 0. Ids of strings and kernel configurations are local to the batch, which
 * refers to no other batch.
 *
 *	section KERNEL, lane 7          section CALL, lane 3
 *	  start_ns     10   25   40       start_ns   2  11
 *	  duration_ns  10    5    8       ...
 *	  config        0    1    0  ---> row of CONFIG ---> row of STRING
 *	  correlation   1    2    3
 *
 * The tracer and the importers fill it row by row, the reader column by column. Either way a column
 * of zeros takes no memory: all such columns share one array of zeros that nobody writes to. */
#ifndef VPT_FORMATS_CHUNK_BATCH_H
#define VPT_FORMATS_CHUNK_BATCH_H

#include "formats/base/error.h"
#include "formats/chunk/strings.h"
#include "formats/event_schema.h"

#include <stddef.h>
#include <stdint.h>

/* ---- stack_table.c: Python stacks: the tables FRAME and STACK of a chunk, as they are built and checked.
 *
 * A stack is its innermost frame and the stack of the caller. So stacks that have their outer frames
 * in common share them, and a stack is one number:
 *
 *	STACK  row  caller  frame            FRAME  row  function  file      line
 *	         0       -      -                     0  main      train.py    12
 *	         1       0      0                     1  forward   model.py    40
 *	         2       1      1                     2  backward  model.py    71
 *	         3       1      2
 *
 * Stack 3 is main, backward; stack 0 is empty. A caller's row is smaller than its own rows, so no
 * stack contains itself. Writers intern with vpt_batch_frame() and vpt_batch_stack() (batch.h), or
 * with those of a collector (collect.h); batch_stacks.h reads. */

/* Distinct frames and stacks, numbered in order of arrival; stacks from 1. All zeros is empty. */
struct vpt_stack_table {
	struct vpt_strings frames, stacks; /* rows of FRAME and STACK, each as a string of bytes */
	uint16_t *depths;                  /* of the rows of STACK */
	size_t depth_count, depth_cap;
};

void vpt_stack_table_reset(struct vpt_stack_table *t); /* empty, memory kept */
void vpt_stack_table_free(struct vpt_stack_table *t);

/* Intern; VPT_NO_ID when there is no memory, or no such caller. A caller of VPT_STACK_DEPTH_MAX frames takes no further
 * one: the result is the caller. */
uint64_t vpt_stack_table_frame(struct vpt_stack_table *t, const struct vpt_frame *frame);
uint64_t vpt_stack_table_stack(struct vpt_stack_table *t, uint64_t caller, uint64_t frame);

/* The row of an id that the table has returned. */
struct vpt_frame vpt_stack_table_frame_row(const struct vpt_stack_table *t, uint64_t id);
struct vpt_stack vpt_stack_table_stack_row(const struct vpt_stack_table *t, uint64_t id);

/* Checks a STACK section of `count` rows, at least 1, that was read, and records the depths. 0;
 * VPT_EDATA if a caller is no smaller row, or a stack deeper than VPT_STACK_DEPTH_MAX, or if there was
 * such a section already; VPT_ENOMEM. */
int vpt_stack_table_read(struct vpt_stack_table *t, const uint64_t *callers, size_t count);

/* A column as encoded in a chunk, see column.h. */
struct vpt_packed {
	const unsigned char *planes;
	uint64_t base;
	uint8_t enc, width;
};

enum { VPT_PACKED_COLUMNS = 6, VPT_PACKED_ROWS = 1024 };
_Static_assert((int)VPT_KERNEL_COLUMNS == 6 && (int)VPT_CALL_COLUMNS == 6, "packed kinds");

struct vpt_section {
	uint16_t kind; /* enum vpt_kind */
	uint64_t lane; /* 0 for kinds without lanes */
	uint64_t aux;  /* reserved, 0 */
	uint32_t row_count;
	uint32_t row_cap;
	uint32_t present;               /* a bit for each column with values of its own */
	uint64_t *col[VPT_COLUMNS_MAX]; /* col[VPT_KERNEL_START][row] */
	uint64_t *data;                 /* the one allocation that col[] points into */
	size_t data_cap;                /* in values */
	/* 1: still packed, see vpt_batch.packs. Present columns are NULL in col[] and are in
	 * packed[]. */
	int is_packed;
	struct vpt_packed packed[VPT_PACKED_COLUMNS];
};

/* Whether a column has values of its own; if not, all are 0. */
static inline int vpt_section_has(const struct vpt_section *s, unsigned column)
{
	return s->present >> column & 1;
}

enum {
	VPT_BATCH_LAST = 1, /* the capture was stopped cleanly after this chunk */
	VPT_BATCH_TORN = 2  /* in memory only: the end of this chunk is missing from the file */
};

struct vpt_batch {
	uint64_t sequence;
	/* smallest start of valid ops, launch calls, stream waits, LOSS and OVERHEAD; ~0: none */
	uint64_t t_min_ns;
	uint64_t t_max_ns; /* largest end of any event; 0: none */
	/* 1: rows that begin at 0 have a time, and may set t_min_ns, as in an imported trace that counts from 0 */
	int zero_is_time;
	uint32_t lost_events;
	uint32_t flags;
	uint32_t event_count;

	struct vpt_section *sections;
	/* slots beyond section_count keep their memory for reuse */
	size_t section_count, section_cap;

	struct vpt_strings strings; /* id 0 is the empty string */
	/* what was interned; of a batch that was read, only the depths (see vpt_stacks_view()) */
	struct vpt_stack_table stacks;
	int decoded; /* filled by the reader: takes no puts until reset */

	/* 1: the reader leaves some sections packed, for a caller that reads rows once and in
	 * order (see vpt_rows_begin()): CALL sections, and KERNEL sections of at least
	 * VPT_PACKED_ROWS rows in which every kernel lasts at least 1 ns and begins no earlier
	 * than the one before ends. vpt_chunk_unpack() unpacks them. Set it after
	 * vpt_batch_init(); a reset keeps it. */
	int packs;
	unsigned char *payload; /* what packed sections point into */
	size_t payload_cap;

	uint32_t unknown_sections; /* skipped by the reader: written by a newer version */
	uint32_t skipped_critical; /* how many of those are marked critical */

	struct vpt_batch_index *index; /* finds the section for a put; NULL until the first put */
};

void vpt_batch_init(struct vpt_batch *b);
void vpt_batch_reset(struct vpt_batch *b); /* empties it and keeps its memory for the next chunk */
void vpt_batch_free(struct vpt_batch *b);  /* frees what it holds; the batch must be initialised */

/* ---- reading ---- */

/* The string of an id; an id out of range gives "?". */
static inline struct vpt_text vpt_batch_text(const struct vpt_batch *b, uint64_t id)
{
	return vpt_strings_get(&b->strings, id);
}

/* The first section of this kind, the only one for a kind without lanes; NULL if there is none. */
const struct vpt_section *vpt_batch_find(const struct vpt_batch *b, enum vpt_kind kind);

/* The time that a row of this kind may set t_min_ns to; ~0: none. `columns`: those of the kind. */
uint64_t vpt_batch_row_t_min(
	const struct vpt_kind_desc *kind, const uint64_t *columns, int zero_is_time);

/* Sets t_min_ns, t_max_ns and event_count from the rows. The writer calls it. */
void vpt_batch_measure(struct vpt_batch *b);

/* Puts the rows of span kinds into completion order, as FORMAT.md has them: buffers of a profiler may
 * arrive in another order than they were filled in. Rows that end together keep theirs. Of a batch being
 * filled; 0, or VPT_ENOMEM: some sections are as they were. */
int vpt_batch_order(struct vpt_batch *b);

/* ---- filling ----
 *
 * Sticky: after a failure (no memory, or a limit of the format reached) every put does nothing and
 * vpt_batch_error() reports it; check once, at the end. */

/* Appends one row; `row` is the struct of this kind (struct vpt_kernel *, ...). Returns the row's
 * section, which the next put of any kind may move; NULL: nothing was put. */
struct vpt_section *vpt_batch_put(
	struct vpt_batch *b, enum vpt_kind kind, uint64_t lane, const void *row);

/* The columns that a new KERNEL or CALL section has: those that nearly every row uses. The first
 * row that needs another column adds all the others. */
enum {
	VPT_KERNEL_USUAL = 1 << VPT_KERNEL_START | 1 << VPT_KERNEL_DURATION |
			   1 << VPT_KERNEL_CONFIG | 1 << VPT_KERNEL_CORRELATION,
	VPT_KERNEL_ALL = (1 << VPT_KERNEL_COLUMNS) - 1,
	VPT_CALL_USUAL = 1 << VPT_CALL_START | 1 << VPT_CALL_DURATION | 1 << VPT_CALL_ID |
			 1 << VPT_CALL_CORRELATION,
	VPT_CALL_ALL = (1 << VPT_CALL_COLUMNS) - 1
};

/* A faster put: appends a row to a section that has room and exactly the columns of `mask`, a
 * constant. The row's other columns must be 0. The caller increments event_count. Returns 1, or 0
 * if it did nothing. */
static inline __attribute__((always_inline)) int vpt_section_append(
	struct vpt_section *s, uint32_t mask, const uint64_t *row)
{
	uint32_t at = s->row_count;

	if (at == s->row_cap || s->present != mask)
		return 0;
#define VPT_STORE(c)                                                                               \
	if (mask & 1u << (c))                                                                      \
		s->col[c][at] = row[c];
	VPT_STORE(0)
	VPT_STORE(1)
	VPT_STORE(2)
	VPT_STORE(3)
	VPT_STORE(4)
	VPT_STORE(5)
#undef VPT_STORE
	s->row_count = at + 1;
	return 1;
}
_Static_assert((int)VPT_KERNEL_COLUMNS <= 6 && (int)VPT_CALL_COLUMNS <= 6, "stored above");

/* Interns a string: the same text gives the same id, "" is 0. Cuts text beyond 65,536 bytes. */
uint64_t vpt_batch_string(struct vpt_batch *b, const char *text, size_t len);

/* Interns a kernel configuration: equal ones give the same id. Its name is a string id of this
 * batch. */
uint64_t vpt_batch_config(struct vpt_batch *b, const struct vpt_config *config);

/* Interns a frame: the same function, file and line give the same id. The first two are string ids of
 * this batch; the line is 0 if it is unknown. */
uint64_t vpt_batch_frame(struct vpt_batch *b, const struct vpt_frame *frame);

/* Interns the stack of a frame that is called from another stack, `caller`, 0 for the outermost frame:
 *
 *	for (stack = 0, i = 0; i < depth; i++)          outermost frame first
 *		stack = vpt_batch_stack(b, stack, vpt_batch_frame(b, &frames[i]));
 *	vpt_batch_put(b, VPT_SAMPLE, thread, &(struct vpt_sample){.time_ns = now, .stack = stack});
 *
 * The same frames give the same id, never 0 unless the batch has failed. A caller of
 * VPT_STACK_DEPTH_MAX frames takes no further one: the result is the caller. Put no rows of FRAME and
 * STACK in another way. */
uint64_t vpt_batch_stack(struct vpt_batch *b, uint64_t caller, uint64_t frame);

int vpt_batch_error(const struct vpt_batch *b);

/* Whether the chunk has enough events, bytes, strings or sections to be written before the next
 * put. */
int vpt_batch_full(const struct vpt_batch *b);

/* The same for a moment when the chunk should rather go on: the thresholds are several times
 * higher, but still within the format's limits. */
int vpt_batch_crowded(const struct vpt_batch *b);

/* About how many events it takes until it is crowded, if they have short names and payloads. */
size_t vpt_batch_space(const struct vpt_batch *b);

/* Bytes of its strings and of tables other than those of events, before compression. */
size_t vpt_batch_side_bytes(const struct vpt_batch *b);

/* Drops the rows whose value in a column is larger. Not of a packed section. */
void vpt_section_keep_until(struct vpt_section *s, unsigned column, uint64_t last);

/* Appends a section of `rows` rows for the reader to fill. Columns whose bit is set in `present`
 * are undefined; the others are the shared zeros, which nobody may write to. The batch then takes
 * no puts until reset. NULL: no memory. */
struct vpt_section *vpt_batch_section(struct vpt_batch *b, const struct vpt_kind_desc *kind,
	uint64_t lane, uint32_t rows, uint32_t present);

#endif
