/* rank_threads.h - work on many ranks, in several threads. */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_THREADS_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_THREADS_H

#include "analysis/ranks/rank/rank_summary.h"

enum { VPA_RANK_THREADS_MOST = 8 };

/* How many threads are worth while for these ranks: as many as list->jobs says; if it says none, one for small jobs. */
unsigned vpa_rank_threads(const struct vpa_rank_list *list);

/* Calls work(ctx, thread, i) once for each i below `count`, in threads 0 to threads - 1, in any order. Ends with the first error:
 * that is returned, or 0. */
int vpa_in_threads(unsigned threads, size_t count,
	int (*work)(void *ctx, unsigned thread, size_t i), void *ctx);

#endif
