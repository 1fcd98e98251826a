/* prefetch.h - chunks decoded ahead by other threads, returned in order. */
#ifndef VPA_ANALYSIS_JOIN_PREFETCH_H
#define VPA_ANALYSIS_JOIN_PREFETCH_H

#include "formats/file/chunk_choice.h"
#include "formats/import/any_trace.h"

struct vpa_crew;
struct vpa_prefetch;

/* Starts `jobs` - 1 threads (0: as many jobs as there are cores, at most 4, and one for a single chunk; 1: no thread,
 * chunks are decoded on request). Threads that cannot be started are not used. `ahead`: how many chunks may be decoded
 * before they are asked for, each of which takes memory; 0: as many as there are jobs. Chunks that `choice` leaves out
 * are not returned; it is borrowed until the stop; NULL: all are. 0 or VPT_ENOMEM. */
int vpa_prefetch_start(const struct vpt_trace *trace, const struct vpt_chunk_choice *choice,
	unsigned jobs, unsigned ahead, struct vpa_prefetch **out, struct vpt_err *err);

/* The next chunk, with packed sections (see vpt_batch.packs), valid until the following call.
 * VPT_END after the last; VPT_EDATA if this one is damaged (go on); VPT_ENOMEM or VPT_EIO. */
int vpa_prefetch_next(struct vpa_prefetch *p, struct vpt_batch **batch, struct vpt_err *err);

/* The threads, which may have other work too: until vpa_prefetch_stop(). NULL: there are none. */
struct vpa_crew *vpa_prefetch_crew(const struct vpa_prefetch *p);

void vpa_prefetch_stop(struct vpa_prefetch *p); /* accepts NULL */

#endif
