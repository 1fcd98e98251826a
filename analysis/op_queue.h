/* op_queue.h - the ops of all streams in one order: by start, stream (process, then number), correlation id.
 *
 * A chunk's ops stay where they were decoded, in the columns of its sections; the queue walks all sections at
 * once and takes the earliest. Only what must wait for later chunks is copied. So the chunk has to stay as it
 * is until vpa_op_queue_hold() has been called. */
#ifndef VPA_ANALYSIS_OP_QUEUE_H
#define VPA_ANALYSIS_OP_QUEUE_H

#include "analysis/model.h"
#include "formats/chunk.h"

/* What a chunk's CONFIG rows are, by row. */
enum { VPA_CONFIG_PLAIN = 1, VPA_CONFIG_COMM = 2 /* works between devices */ };

struct vpa_config_entry {
	uint32_t kernel, blocks;
	uint8_t state; /* 0: not asked yet */
	uint8_t family, role;
	uint8_t special;        /* 1: of its role, see vpa_ops.specials */
} __attribute__((aligned(16))); /* indexed by a shift */

/* Where the configurations of the chunk at hand are looked up. */
struct vpa_op_configs {
	const struct vpa_config_entry *items;
	size_t count;
	/* Of a row that is not among the items or not known yet. 0 or VPT_ENOMEM. */
	int (*find)(void *ctx, uint64_t config, struct vpa_config_entry *entry);
	void *ctx;
};

/* Some rows of a packed section, as if they were one. */
struct vpa_op_window {
	struct vpt_section section;
	uint32_t left; /* rows behind it */
	struct vpt_rows rows;
	uint64_t starts[VPT_ROWS_AT_ONCE], correlations[VPT_ROWS_AT_ONCE];
};

/* One section of ops, walked in order of start. */
struct vpa_op_source {
	const struct vpt_section *section; /* NULL: the held ops; the window's if there is one */
	struct vpa_op_window *window;      /* NULL: all rows are at hand */
	uint32_t *order;                   /* rows by start; NULL: they are in order */
	size_t at, count;
	uint64_t head_ns; /* start of the next op; undefined when at = count */
	uint32_t stream, device;
};

struct vpa_op_queue {
	struct vpa_op *held; /* [held_begin, held_count) in order */
	size_t held_begin, held_count, held_cap;
	struct vpa_op_source *sources; /* [0] is the held ones */
	size_t source_count, source_cap;
	struct vpa_op_window **windows; /* the first `window_count` of them in use */
	size_t window_count, windows_made, window_cap;
	uint32_t **orders; /* of this chunk's sources that are not in order */
	size_t order_count, order_cap;
	struct vpa_op_configs configs;
	/* The owner's, by stream: its place among all by process, then number. Set before ops are taken. */
	const uint32_t *ranks;
	int failed; /* VPT_ENOMEM: a configuration was not found for want of memory */
};

/* Adds a KERNEL or COPY section of the chunk at hand, whose configs the caller has set. 0 or VPT_ENOMEM. */
int vpa_op_queue_add(struct vpa_op_queue *q, const struct vpt_section *section, uint32_t stream,
	uint32_t device);

/* The earliest start in the section that was added last; it must have rows. */
static inline uint64_t vpa_op_queue_newest_ns(const struct vpa_op_queue *q)
{
	return q->sources[q->source_count - 1].head_ns;
}

/* Fills `out` with ops that start before `until_ns` (~0: all), in order, but for what concerns their launches.
 * Returns how many; 0 means that the rest must wait, or that the queue has failed. */
size_t vpa_op_queue_take(struct vpa_op_queue *q, uint64_t until_ns, struct vpa_ops *out);

/* The chunk is going: copies what is left of it. 0 or VPT_ENOMEM. */
int vpa_op_queue_hold(struct vpa_op_queue *q);

void vpa_op_queue_free(struct vpa_op_queue *q);

#endif
