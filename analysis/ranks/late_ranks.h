/* late_ranks.h - the answer of a job in one word: whether its ranks keep step, else which of them are late, and with what. */
#ifndef VPA_ANALYSIS_RANKS_LATE_RANKS_H
#define VPA_ANALYSIS_RANKS_LATE_RANKS_H

#include "analysis/ranks/job.h"

enum vpa_late_kind {
	VPA_LATE_NONE,    /* ranks wait for each other for less than a fiftieth of their time */
	VPA_LATE_ONE,     /* one rank is to blame for most of the waits */
	VPA_LATE_SEVERAL, /* a few are, no more than half of all */
	VPA_LATE_ALL      /* all are, in turns */
};

struct vpa_late_ranks {
	enum vpa_late_kind kind;
	uint64_t share_ns; /* of the waits those that `ranks` are to blame for */
	size_t ranks[8];   /* indexes in job->ranks, the most to blame first */
	size_t rank_count; /* of NONE and ALL 0 */
	int with_start; /* waits at the start count; 0: job->start_ns is apart from what is said here */
	int with_cut; /* most of the blame is of ranks whose captures end early; 0: `ranks` has none of these */
	enum vpa_late_class klass; /* most of what they are later by */
	const struct vpa_job_part
		*part; /* the largest of that class, of the first rank or of all; NULL: none */
};

struct vpa_late_ranks vpa_late_ranks_of(const struct vpa_job *job);

/* What each of the other ranks loses by them, the mean, if ranks whose captures end early are as late to the end. */
uint64_t vpa_late_loss(const struct vpa_job *job, const struct vpa_late_ranks *late);

/* Whether a rank, an index in job->ranks, is one of them. */
int vpa_is_late(const struct vpa_late_ranks *late, size_t rank);

/* What the replay says of late ranks: the best fix of one of them alone, and that of several together. NULL: there is none. */
void vpa_late_fixes(const struct vpa_job *job, const struct vpa_job_fix **alone,
	const struct vpa_job_fix **together);

/* Their numbers, "3, 5", in the arena; NULL: it names none. */
const char *vpa_late_numbers(
	struct vpa_arena *arena, const struct vpa_job *job, const struct vpa_late_ranks *late);

/* A part in words: "gemm kernels", "the host ran other code". Its place is left out. */
const char *vpa_job_part_words(const struct vpa_job_part *part);

#endif
