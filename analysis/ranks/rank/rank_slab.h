/* rank_slab.h - memory that many ranks have parts of: a thousand ranks have three arrays each, and pages of many small blocks
 * cost more than what is done with them. */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_SLAB_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_SLAB_H

#include <stddef.h>

struct vpa_slab;

/* Takes `bytes` of a slab, for any kind of number; of one that nobody else uses any more, from its beginning. Where *slab is NULL
 * or has no room left, it becomes another one, with room for more parts. One thread at a time may use it. The caller drops *slab,
 * and with each part the slab that it is of, which *of is then. NULL: no memory. */
void *vpa_slab_take(struct vpa_slab **slab, size_t bytes, struct vpa_slab **of);
/* The last one frees it. Accepts NULL. Any thread. */
void vpa_slab_drop(struct vpa_slab *slab);

#endif
