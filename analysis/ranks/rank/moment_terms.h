/* moment_terms.h - when collectives of a rank start becomes terms of the rank and of its paces. */
#ifndef VPA_ANALYSIS_RANKS_RANK_MOMENT_TERMS_H
#define VPA_ANALYSIS_RANKS_RANK_MOMENT_TERMS_H

#include "analysis/ranks/rank/moments.h"

/* A rank whose term_ends, and those of its paces, have room for all of its collectives and one more. */
struct vpa_moment_terms {
	struct vpa_rank *rank;
	size_t count[WORLDS]; /* terms so far */
	/* Of each pace, of the rank's start, then by collective. */
	struct vpa_pace_step *steps[VPA_PACES];
};

/* Makes room for all starts of the rank. 0 or VPT_ENOMEM; the caller frees it, whatever this returns. */
int vpa_moment_terms_init(struct vpa_moment_terms *to, struct vpa_rank *rank);
void vpa_moment_terms_free(struct vpa_moment_terms *to);
/* Puts the start of the next collective, or after the last one the rank's end: a settled time. 0 or VPT_ENOMEM. */
int vpa_put_moment(struct vpa_moment_terms *to, size_t collective, const struct moment *at);

#endif
