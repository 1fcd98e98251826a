/* side_by_side.h - spans of one kind; overlapping ones are put side by side on lanes. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_LANES_SIDE_BY_SIDE_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_LANES_SIDE_BY_SIDE_H

#include "analysis/export/perfetto/lanes/perfetto_names.h"

/* What Perfetto shows as one track. In the file each lane is a track. All zeros has no lanes. */
struct vpa_ex_track {
	struct vpa_ex_lane {
		uint64_t uuid, end_ns;
	} * lanes;
	size_t count, cap;
	/* A tree over the lanes' ends, since tens of thousands of ranges may need a lane each: node k
	 * has the least of nodes 2k and 2k + 1, lane i is node leaf_count + i. */
	uint64_t *least;
	size_t leaf_count; /* a power of two, or 0 */
};

/* What the descriptors of a track's lanes share. */
struct vpa_ex_lane_words {
	uint64_t parent; /* track */
	const char *name;
	const char *key;         /* lanes with one parent and key are shown as one track */
	const char *description; /* NULL: no description and no rank */
	unsigned rank;           /* among its siblings */
};

void vpa_ex_track_free(struct vpa_ex_track *t);
int vpa_ex_has_lane(const struct vpa_ex_track *t, uint64_t start_ns); /* free at start_ns */
/* Takes a lane that is free at `start_ns`, and occupies it until `end_ns`. If none is free it makes
 * one, whose uuid comes from `path`. Valid until the next call. NULL: no memory. */
struct vpa_ex_lane *vpa_ex_lane(struct vpa_ex_out *x, struct vpa_ex_track *t, uint64_t start_ns,
	uint64_t end_ns, const char *path, const struct vpa_ex_lane_words *words);

#endif
