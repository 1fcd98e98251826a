/* groups.h - groups of packets, compressed by several threads and written in order. */
#ifndef VPA_ANALYSIS_EXPORT_GROUPS_H
#define VPA_ANALYSIS_EXPORT_GROUPS_H

#include "formats/container.h"
#include "formats/io.h"

struct vpa_groups;

/* `jobs` threads besides the caller's; 0: as many as cores, at most 4; 1: none, groups are compressed when they are put.
 * Threads that cannot be had are done without. The sink stays the caller's. 0, VPT_ENOMEM, VPT_EUNSUPPORTED. */
int vpa_groups_start(struct vpt_sink *sink, enum vpt_container kind, int level, unsigned jobs,
	struct vpa_groups **out, struct vpt_err *err);

/* Takes a copy of a group. Waits while too many are on their way. 0 or the first failure. */
int vpa_groups_put(struct vpa_groups *g, const void *data, size_t size, struct vpt_err *err);

/* Writes all that is on its way. */
int vpa_groups_flush(struct vpa_groups *g, struct vpt_err *err);
void vpa_groups_free(struct vpa_groups *g); /* accepts NULL */

#endif
