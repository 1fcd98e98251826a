/* rank_bytes.h - a rank as bytes: what a block of a .vps file holds, unpacked.
 *
 *	version, identity, facts, figures, part names, keys, marks, parts, collectives, terms
 *
 * Numbers are in base 128, the low seven bits first, a bit above them set where more follow; signed ones alternate, 0, -1,
 * 1, -2. Texts are 1 + their length and their bytes, 0 is NULL. Columns stand one after the other, so that what is alike
 * is near. Equal ranks give equal bytes. */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_BYTES_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_BYTES_H

#include "analysis/ranks/rank/rank_summary.h"
#include "formats/base/io.h"

/* Writes a rank; out->data is the caller's to free with vpt_free(). 0 or VPT_ENOMEM. */
int vpa_rank_to_bytes(const struct vpa_rank *r, struct vpt_buffer *out);

/* Reads a rank into an empty one, which the caller frees, whatever this returns. 0; VPT_EDATA: the bytes are no rank, the
 * error says where; VPT_EVERSION: written by a newer version; VPT_ENOMEM. Any bytes are safe to read. */
int vpa_rank_from_bytes(const void *data, size_t size, struct vpa_rank *out, struct vpt_err *err);

#endif
