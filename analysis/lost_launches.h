/* lost_launches.h - launches whose kernel is missing from the recording.
 *
 * A launch may have no op because it failed, was captured into a graph, or because its kernel had
 * not ended when the recording did. It is lost if none of this explains it:
 *
 *	- a later call of its thread waited for all work of the only device, or
 *	- a later call of its thread has an op, and either all ops are on one stream, hence run in
 *	  the order of their launches, or the launch lies further before the last recorded op than
 *	  any recorded op ended after its launch. */
#ifndef VPA_ANALYSIS_LOST_LAUNCHES_H
#define VPA_ANALYSIS_LOST_LAUNCHES_H

#include "analysis/resolver.h"

/* Notes how long after their launches the ops ended. */
void vpa_lost_launches_note(struct vpa_resolver *r, const struct vpa_ops *ops);

/* Counts those among the thread's calls before position `end`, which are about to be dropped. */
void vpa_lost_launches_count(struct vpa_resolver *r, uint32_t thread, uint64_t end);

#endif
