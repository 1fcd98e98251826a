/* chunk_choice.h - which chunks of a capture with contents somebody needs to read. */
#ifndef VPT_FORMATS_FILE_CHUNK_CHOICE_H
#define VPT_FORMATS_FILE_CHUNK_CHOICE_H

#include "formats/file/capture_reader.h"
#include "formats/file/contents.h"

enum vpt_chunk_use {
	VPT_CHUNK_LEFT, /* out: what the contents say of it is enough */
	VPT_CHUNK_KNOWN, /* for what it tells of others: facts, losses, what was used before; its ranges end before them */
	VPT_CHUNK_READ
};

/* All zeros: every chunk is read. */
struct vpt_chunk_choice {
	uint8_t *uses; /* enum vpt_chunk_use, for each chunk; NULL: all are read */
	size_t count, read;
	uint64_t
		until_ns; /* of a window: chunks in a row are read up to here; ranges that begin later may have no end */
	const struct vpt_contents *contents; /* a row for each chunk */
	struct vpt_contents made;            /* those, if the file has none */
};

static inline enum vpt_chunk_use vpt_chunk_use(const struct vpt_chunk_choice *c, size_t index)
{
	return c->uses ? (enum vpt_chunk_use)c->uses[index] : VPT_CHUNK_READ;
}

/* What the contents say of a chunk, by enum vpt_contents_column. */
static inline const uint64_t *vpt_chunk_contents(const struct vpt_chunk_choice *c, size_t index)
{
	return c->contents->items[index].values;
}

/* For what all rows of a kind say together: facts, devices, lanes, losses, the last counts. Of a file with less
 * than VPT_CONTENTS_LEAST chunks all are read; of a file without contents, or if `r` is NULL, all are read. 0 or VPT_ENOMEM. */
int vpt_choose_for_facts(const struct vpt_reader *r, struct vpt_chunk_choice *out);

/* For a window, its ends included. Left out are chunks whose rows all end before it or begin after it, where no
 * call in them launched work in the window or the reverse, nothing is new, and nothing is odd. Contents that the
 * file lacks are made, which decodes every chunk, but still takes less than to analyze them. 0, VPT_ENOMEM or VPT_EIO. */
int vpt_choose_for_window(const struct vpt_reader *r, uint64_t from_ns, uint64_t to_ns,
	struct vpt_chunk_choice *out, struct vpt_err *err);

/* Chunks in a row, with the rows of this time and some before and after it, by their headers. All are read if that is half of
 * the file or more, and of a file of few chunks; `to_ns` 0: of any. 0 or VPT_ENOMEM. */
int vpt_choose_around(
	const struct vpt_reader *r, uint64_t from_ns, uint64_t to_ns, struct vpt_chunk_choice *out);

void vpt_chunk_choice_free(struct vpt_chunk_choice *c);

#endif
