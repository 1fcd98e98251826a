/* rank_fold.h - the detail of a rank, packed while nobody asks for it: a job has a thousand ranks and looks at one at a time. */
#ifndef VPA_ANALYSIS_RANKS_RANK_FILE_RANK_FOLD_H
#define VPA_ANALYSIS_RANKS_RANK_FILE_RANK_FOLD_H

#include "analysis/ranks/rank/rank_summary.h"
#include "formats/base/error.h"

/* Memory that unfolding uses again and again. All zeros is empty. */
struct vpa_unfolded {
	/* Set by the caller: what only a change that is asked about needs is not read; who takes stretches, which then are not in
	 * `detail`: NULL: nobody. */
	int without_paces;
	const struct vpa_stretch_taker *taker;
	struct vpa_rank_detail detail;
	unsigned char *bytes, *packed;
	size_t byte_cap, packed_cap;
	void *decoder;
};

/* Packs the detail of a rank and frees it; one that is folded stays so. 0 or VPT_ENOMEM. */
int vpa_rank_fold(struct vpa_rank *r);
/* The packed detail of a rank lies at this byte of a file that can be opened again: from now on it is read from there, and
 * takes no memory. 0 or VPT_ENOMEM. */
int vpa_rank_leave_in_file(struct vpa_rank *r, const char *path, uint64_t at);
/* Reads the detail of a rank that is folded. 0, VPT_EDATA, VPT_EIO or VPT_ENOMEM. */
int vpa_rank_unfold(const struct vpa_rank *r, struct vpa_unfolded *out, struct vpt_err *err);
void vpa_unfolded_free(struct vpa_unfolded *u);

#endif
