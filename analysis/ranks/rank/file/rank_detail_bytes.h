/* rank_detail_bytes.h - the detail of a rank as bytes.
 *
 *	shapes of stretches   the lists of parts that stretches before a mark consist of, each once
 *	marks                 a shape each, then the times of its parts; the first one is what the others leave
 *	shapes of terms       the lists of earlier collectives that starts wait for: how many back each is, 0 is the rank's start
 *	starts                a shape each, then how much earlier than the start each term is: one of them 0
 *	shares                what each of these terms consists of
 *	paces                 of each shapes, starts and shares, times in units of VPA_PACE_TERM_NS: how much earlier than the term
 *	                      of the start after the same end, where there is one; in version 3, than the start
 *
 * Marks themselves follow from the times of collectives. A program repeats itself, so there are few shapes. */
#ifndef VPA_ANALYSIS_RANKS_RANK_FILE_RANK_DETAIL_BYTES_H
#define VPA_ANALYSIS_RANKS_RANK_FILE_RANK_DETAIL_BYTES_H

#include "analysis/ranks/rank/rank_summary.h"
#include "formats/io/io.h"

/* Writes the detail of a rank, which is not folded; out->data is the caller's to free with vpt_free(). *shares_at: where its shares
 * begin, and after them its paces; of a rank without paces its end. 0 or VPT_ENOMEM. */
int vpa_rank_detail_to_bytes(const struct vpa_rank *r, struct vpt_buffer *out, size_t *shares_at);

/* Reads it, its shares and paces only `with_paces`: else they need not be there. VPA_COLUMN_PADDING bytes after it can be read, see rank_numbers.h. What `out`
 * had is overwritten, its memory is used again, and the caller frees it, whatever this returns. 0; VPT_EDATA, the error says where;
 * VPT_ENOMEM. Any bytes are safe to read. */
int vpa_rank_detail_from_bytes(const void *data, size_t size, const struct vpa_rank *r,
	int with_paces, struct vpa_rank_detail *out, struct vpt_err *err);

#endif
