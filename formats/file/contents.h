/* contents.h - what each chunk of a capture holds, in a table at the capture's end.
 *
 * A reader that has the table reads the chunks that it needs and no others. The table is a skippable frame, so
 * a reader that does not know it reads the file as if it were not there:
 *
 *	header | chunk 0 | chunk 1 | ... | chunk n | contents of chunks 0 to n
 *	                                             8 bytes, a zstd frame, 16 bytes at the end to find it by
 *
 * A long capture has several, each after the chunks that it describes: a writer needs little memory. A
 * capture whose process was killed ends without one, and is read without it. */
#ifndef VPT_FORMATS_FILE_CONTENTS_H
#define VPT_FORMATS_FILE_CONTENTS_H

#include "formats/io/io.h"
#include "formats/base/map.h"
#include "formats/chunk/batch.h"

/* Columns of the table. */
enum vpt_contents_column {
	VPT_CONTENTS_SIZE,     /* bytes of the chunk's frame */
	VPT_CONTENTS_CONTENT,  /* bytes of its content */
	VPT_CONTENTS_SEQUENCE, /* the next seven as in the chunk's header */
	VPT_CONTENTS_T_MIN,
	VPT_CONTENTS_T_MAX,
	VPT_CONTENTS_SECTIONS,
	VPT_CONTENTS_EVENTS,
	VPT_CONTENTS_LOST,
	VPT_CONTENTS_FLAGS,
	VPT_CONTENTS_FIRST, /* the smallest time of any event; ~0: none */
	VPT_CONTENTS_ODD, /* ops without a time or a length, or that end before they start; captures of streams begun or ended */
	VPT_CONTENTS_NEWS, /* kernels, kinds of copies, lanes and facts that no earlier chunk has */
	VPT_CONTENTS_DEVICES, /* bits 0 to 47: devices of streams, the last for those from 47 on; 48 to 63: processes */
	VPT_CONTENTS_CALLS_FROM, /* correlation ids of calls: the smallest but 0, ~0: none; the largest */
	VPT_CONTENTS_CALLS_TO,
	VPT_CONTENTS_OPS_FROM, /* those of ops, likewise */
	VPT_CONTENTS_OPS_TO,
	VPT_CONTENTS_ROWS, /* rows of kind k: column VPT_CONTENTS_ROWS + k */
	VPT_CONTENTS_COLUMNS = VPT_CONTENTS_ROWS + VPT_KIND_LIMIT
};

enum {
	VPT_CONTENTS_ENTRIES = 512, /* of one table, as the writer makes it */
	VPT_CONTENTS_LEAST = 32,    /* a capture of fewer chunks needs none */
	VPT_CONTENTS_BYTES = 64 /* of a table, for each entry, at most; and as much as 32 of them */
};

/* The number of a column in the file. */
unsigned vpt_contents_number(unsigned column);

/* A chunk's row of the table. */
struct vpt_contents_entry {
	uint64_t offset; /* of the chunk; set when it is read */
	uint64_t values[VPT_CONTENTS_COLUMNS];
};

/* ---- reading ---- */

/* What a table says of ranges, undecoded. */
struct vpt_contents_names {
	unsigned char *bytes;
	size_t size, rows; /* allocated for this many rows */
};

/* Rows in the order of the file. All zeros is empty. */
struct vpt_contents {
	struct vpt_contents_entry *items;
	size_t count, cap;
	struct vpt_contents_names *names; /* of tables that have any, in the order of the file */
	size_t name_count, name_cap;
	uint64_t name_bytes; /* of all */
};

/* Reads the tables at the end of a file whose chunks begin at `begin`. VPT_END: the file has none, they do not
 * describe every byte from there on, or they are damaged: read the file without. VPT_ENOMEM, VPT_EIO. */
int vpt_contents_read(
	struct vpt_source *src, uint64_t begin, struct vpt_contents *out, struct vpt_err *err);
void vpt_contents_free(struct vpt_contents *c);

/* How many ranges of each name end in each chunk, read chunk by chunk:
 *
 *	rc = vpt_contents_counts_begin(&c, contents)       VPT_END: a table does not say it
 *	while (!(rc = vpt_contents_counts_next(&c)))       VPT_END: no chunk is left, or the table is damaged; VPT_ENOMEM
 *		... c.items[0 .. c.count)
 *	vpt_contents_counts_end(&c)
 * */
struct vpt_contents_counts {
	const struct vpt_contents *contents;
	struct vpt_contents_count {
		struct vpt_text name; /* valid until the next chunk; no name stands twice */
		uint64_t rows;
	} * items;
	size_t count, cap;
	/* Private. */
	size_t table, rows; /* the next table; rows left of the current one */
	const unsigned char *at, *end;
	struct vpt_strings names;
};

int vpt_contents_counts_begin(struct vpt_contents_counts *c, const struct vpt_contents *contents);
int vpt_contents_counts_next(struct vpt_contents_counts *c);
void vpt_contents_counts_end(struct vpt_contents_counts *c);

/* ---- writing ---- */

/* The same of the chunks of one table, as it is made. All zeros is empty. */
struct vpt_contents_ranges {
	struct vpt_strings names;
	unsigned char *rows; /* encoded */
	size_t row_bytes, row_cap;
	uint32_t *counts; /* by string of a chunk */
	size_t count_cap;
	int too_many; /* names: the table says nothing */
};

/* Counts the ranges of the next chunk. 0 or VPT_ENOMEM. */
int vpt_contents_ranges_add(struct vpt_contents_ranges *r, const struct vpt_batch *b);
/* Bytes that are enough for them, 0: there are none to be put; puts them, and returns their size. */
size_t vpt_contents_ranges_room(const struct vpt_contents_ranges *r);
size_t vpt_contents_ranges_put(const struct vpt_contents_ranges *r, unsigned char *out);
void vpt_contents_ranges_reset(struct vpt_contents_ranges *r);
void vpt_contents_ranges_free(struct vpt_contents_ranges *r);

/* What a chunk may have news of. All zeros is empty. */
struct vpt_contents_known {
	uint64_t *items; /* hashes */
	size_t count, cap;
	struct vpt_map map;
	int is_full; /* all is news */
	int failed;  /* no memory */
};

void vpt_contents_known_free(struct vpt_contents_known *k);

/* Describes a measured batch, except its frame. 0 or VPT_ENOMEM. */
int vpt_contents_describe(const struct vpt_batch *b, struct vpt_contents_known *known,
	struct vpt_contents_entry *out);

/* The table as a skippable frame, in `out`, which grows; `ranges`: of all its chunks, or NULL. 0 or VPT_ENOMEM. */
int vpt_contents_encode(const struct vpt_contents *c, const struct vpt_contents_ranges *ranges,
	struct vpt_buffer *out);

#endif
