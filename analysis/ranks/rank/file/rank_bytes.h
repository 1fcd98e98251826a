/* rank_bytes.h - a rank as bytes: what a block of a .vps file holds, unpacked.
 *
 *	who, when   version, identity, facts, figures, part names, keys; of the collectives keys, starts, lengths
 *	detail      parts between marks, terms, see rank_detail_bytes.h
 *
 * Texts are 1 + their length and their bytes, 0 is NULL. Columns stand one after the other, so that what is alike is near. Equal
 * ranks give equal bytes. */
#ifndef VPA_ANALYSIS_RANKS_RANK_FILE_RANK_BYTES_H
#define VPA_ANALYSIS_RANKS_RANK_FILE_RANK_BYTES_H

#include "analysis/ranks/rank/rank_summary.h"
#include "formats/io/io.h"

/* Writes a rank without its detail; out->data is the caller's to free with vpt_free(). 0 or VPT_ENOMEM. */
int vpa_rank_to_bytes(const struct vpa_rank *r, struct vpt_buffer *out);

/* Reads a rank into an empty one, which the caller frees, whatever this returns. VPA_COLUMN_PADDING bytes after it can be read,
 * see rank_numbers.h. 0; VPT_EDATA: the bytes are no rank, the error says where; VPT_EVERSION: written by another version;
 * VPT_ENOMEM. Any bytes are safe to read. */
int vpa_rank_from_bytes(const void *data, size_t size, struct vpa_rank *out, struct vpt_err *err);

#endif
