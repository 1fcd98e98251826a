/* rank_bytes.h - a rank as bytes: what a block of a .vps file holds, unpacked.
 *
 *	who, when   version, identity, facts, figures, part names, keys; since version 7 rate of blocks, gauges, what limits
 *	            the clock, stages, calls that make communicators; of the collectives keys, starts, lengths: a column each
 *	detail      parts between marks, terms, see below
 *
 * Texts are 1 + their length and their bytes, 0 is NULL. Columns, see rank_columns.h, stand one after the other, so that what is
 * alike is near. Equal ranks give equal bytes. */
#ifndef VPA_ANALYSIS_RANKS_RANK_FILE_RANK_BYTES_H
#define VPA_ANALYSIS_RANKS_RANK_FILE_RANK_BYTES_H

#include "analysis/ranks/rank/rank_summary.h"
#include "formats/io/io.h"

/* Writes a rank without its detail; out->data is the caller's to free with vpt_free(). 0 or VPT_ENOMEM. */
int vpa_rank_to_bytes(const struct vpa_rank *r, struct vpt_buffer *out);

/* Reads a rank into an empty one, which the caller frees, whatever this returns. VPA_COLUMN_PADDING bytes after it can be read,
 * see rank_columns.h. 0; VPT_EDATA: the bytes are no rank, the error says where; VPT_EVERSION: written by another version;
 * VPT_ENOMEM. Any bytes are safe to read. */
int vpa_rank_from_bytes(const void *data, size_t size, struct vpa_slab **slab, struct vpa_rank *out,
	struct vpt_err *err);

/* Reads only which rank it is, -1 where nothing says so. The same errors. */
int vpa_rank_number_from_bytes(const void *data, size_t size, int64_t *number, struct vpt_err *err);

/* ---- rank_detail_bytes.c: the detail of a rank as bytes.
 *
 *	shapes of stretches   the lists of parts that stretches before a mark consist of, each once
 *	marks                 a shape each; then the times of its parts, a column for each name; the first one is what the others leave
 *	shapes of terms       the lists of earlier collectives that starts wait for: how many back each is, 0 is the rank's start
 *	starts                a shape each; then how much earlier than the start each term is, one of them 0: a column for 0 back, one
 *	                      for 1, and one for more
 *	shares                what each of these terms consists of: a column of ops, and one of host code
 *	paces                 of each shapes, starts and shares, times in units of VPA_PACE_TERM_NS: how much earlier than the term
 *	                      of the start after the same end, where there is one; in version 3, than the start
 *
 * Marks themselves follow from the times of collectives. A program repeats itself, so there are few shapes. Before version 6 the
 * numbers of marks, of starts, and of shares were in one column each. */

/* Writes the detail of a rank, which is not folded; out->data is the caller's to free with vpt_free(). *shares_at: where its shares
 * begin, and after them its paces; of a rank without paces its end. 0 or VPT_ENOMEM. */
int vpa_rank_detail_to_bytes(const struct vpa_rank *r, struct vpt_buffer *out, size_t *shares_at);

/* Reads it, its shares and paces only `with_paces`: else they need not be there. VPA_COLUMN_PADDING bytes after it can be read, see
 * rank_columns.h. What `out` had is overwritten, its memory is used again, and the caller frees it, whatever this returns. `taker`
 * takes marks and parts, of a rank without overlaps; NULL: they are in `out`. 0; VPT_EDATA, the error says where; VPT_ENOMEM; or
 * what the taker returns. Any bytes are safe to read. */
int vpa_rank_detail_from_bytes(const void *data, size_t size, const struct vpa_rank *r,
	int with_paces, const struct vpa_stretch_taker *taker, struct vpa_rank_detail *out,
	struct vpt_err *err);

#endif
