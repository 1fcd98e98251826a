/* blocks_laps.h - laps, see ../laps.h, as scopes of the blocks' table; and the stay of an op in scopes, of which laps are some. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_LAPS_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_LAPS_H

#include "analysis/folds/blocks_table.h"
#include "analysis/laps.h"

/* More scopes that an op is in are passed over. */
enum { VPA_STAY_SCOPES_MAX = 16 };

/* Ops next to each other of one thread in the same scopes, with no mark among their launches. What ends with them is held
 * until there are no more: then it is moved to the end of its ops once. */
struct vpa_blocks_stay {
	const struct vpa_position *position; /* NULL: there is none */
	uint64_t at_ns, until_ns;            /* launches in [at, until) belong to it */
	uint64_t end_ns, attention_ns;
	uint32_t thread;
	uint32_t devices; /* mask */
	uint32_t scopes[VPA_STAY_SCOPES_MAX];
	uint32_t laps[VPA_LAP_KINDS]; /* those of them that are laps */
	size_t lap_count;
	uint32_t *cuts; /* of them, of the thread, and of its marks behind the launch */
	size_t count, cut_count, cut_cap;
	int vae, known;
};

/* Makes a scope of a lap. 0 or VPT_ENOMEM. */
int vpa_blocks_begin_lap(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	enum vpa_lap_kind kind, uint32_t thread, struct vpa_lap *lap);
/* Adds the laps that a launch at `at_ns` of the stay's thread is in, and narrows the stay to them. 0 or VPT_ENOMEM. */
int vpa_blocks_find_laps(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	uint64_t at_ns, struct vpa_blocks_stay *p);
/* Adds ops [begin, end) of one run to them. 0 or VPT_ENOMEM. */
int vpa_blocks_lap_ops(struct vpa_blocks_table *s, const struct vpa_blocks_stay *p,
	const struct vpa_ops *ops, size_t begin, size_t end);
/* The trace is over: all that have ended become stages. 0 or VPT_ENOMEM. */
int vpa_blocks_end_laps(struct vpa_blocks_table *s, const struct vpa_fold_context *c);
void vpa_blocks_free_laps(struct vpa_blocks_table *s);

#endif
