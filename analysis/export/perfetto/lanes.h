/* lanes.h - spans of one kind, side by side where they overlap. For this folder alone. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_LANES_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_LANES_H

#include "analysis/export/perfetto/out.h"

/* What Perfetto shows as one track; each of its lanes is one to it. All zeros has none. */
struct vpa_ex_track {
	struct vpa_ex_lane {
		uint64_t uuid, end_ns;
	} * lanes;
	size_t count, cap;
	/* A tree over the lanes' ends, for there may be one for each of tens of thousands of ranges: node k has the least of
	 * nodes 2k and 2k + 1, lane i is node leaf_count + i. */
	uint64_t *least;
	size_t leaf_count; /* a power of two, or 0 */
};

/* What all lanes of a track say of themselves. */
struct vpa_ex_lane_words {
	uint64_t parent; /* track */
	const char *name;
	const char *key;         /* what has one key below one parent is one track */
	const char *description; /* NULL: none, nor a rank */
	unsigned rank;           /* among its siblings */
};

void vpa_ex_track_free(struct vpa_ex_track *t);
int vpa_ex_has_lane(const struct vpa_ex_track *t, uint64_t start_ns); /* one that is free then */
/* A lane that is free at `start_ns`, made if there is none: then its number comes from `path`. It is taken until
 * `end_ns`, and valid until the next call. NULL: no memory. */
struct vpa_ex_lane *vpa_ex_lane(struct vpa_ex_out *x, struct vpa_ex_track *t, uint64_t start_ns,
	uint64_t end_ns, const char *path, const struct vpa_ex_lane_words *words);

#endif
