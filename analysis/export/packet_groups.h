/* packet_groups.h - compresses groups of packets on several threads and writes them in order. */
#ifndef VPA_ANALYSIS_EXPORT_PACKET_GROUPS_H
#define VPA_ANALYSIS_EXPORT_PACKET_GROUPS_H

#include "formats/io/io.h"
#include "formats/perfetto/packet_container.h"

struct vpa_groups;

/* `jobs` threads besides the caller's; 0: one per core, at most 4; 1: none, vpa_groups_put()
 * compresses. Goes on with fewer threads where the system refuses some. The caller keeps the sink. 0,
 * VPT_ENOMEM, VPT_EUNSUPPORTED. */
int vpa_groups_start(struct vpt_sink *sink, enum vpt_container kind, int level, unsigned jobs,
	struct vpa_groups **out, struct vpt_err *err);

/* Takes a copy of a group. Waits while too many are pending. 0 or the first failure. */
int vpa_groups_put(struct vpa_groups *g, const void *data, size_t size, struct vpt_err *err);

/* Writes all pending groups. 0 or the first failure. */
int vpa_groups_flush(struct vpa_groups *g, struct vpt_err *err);
void vpa_groups_free(struct vpa_groups *g); /* accepts NULL */

#endif
