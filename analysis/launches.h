/* launches.h - from a correlation id to the call that carries it.
 *
 * An open hash of the calls that may still be asked for. Ids are handed out in order, so eight neighbours share a
 * run of slots: looking one up touches memory that the last one brought in. */
#ifndef VPA_ANALYSIS_LAUNCHES_H
#define VPA_ANALYSIS_LAUNCHES_H

#include <stddef.h>
#include <stdint.h>

struct vpa_launch {
	uint64_t correlation; /* 0: free slot */
	uint32_t thread;
	uint32_t position; /* low 32 bits of the call's position on its thread */
};

struct vpa_launches {
	struct vpa_launch *slots;
	size_t slot_count, used;
	uint64_t ambiguous; /* entries given up because their id is met over and over */
};

/* Slots to visit for an id, in order; VPA_LAUNCH_PROBES at most, so that no file can make it slow. */
enum { VPA_LAUNCH_PROBES = 256 };

size_t vpa_launch_home(const struct vpa_launches *l, uint64_t correlation);

/* Adds an entry. 0 or VPT_ENOMEM. */
int vpa_launches_add(struct vpa_launches *l, struct vpa_launch entry);

/* Removes exactly this entry, if it is there. */
void vpa_launches_remove(struct vpa_launches *l, struct vpa_launch entry);
void vpa_launches_free(struct vpa_launches *l);

#endif
