/* op_queue.h - the ops of all streams in one order: by start, stream (process, then number),
 * correlation id.
 *
 * A chunk's ops stay in the columns of its sections, where they were decoded; the queue merges all
 * sections. Only ops that must wait for later chunks are copied. So the chunk must not change until
 * vpa_op_queue_hold() returns. */
#ifndef VPA_ANALYSIS_JOIN_PENDING_OP_QUEUE_H
#define VPA_ANALYSIS_JOIN_PENDING_OP_QUEUE_H

#include "analysis/model/model.h"
#include "formats/chunk/chunk.h"

#include <stddef.h>
#include <stdint.h>

/* Properties of a chunk's CONFIG rows. */
enum { VPA_CONFIG_PLAIN = 1, VPA_CONFIG_COMM = 2 /* works between devices */ };

struct vpa_config_entry {
	uint32_t kernel, blocks;
	uint8_t state; /* 0: not looked up yet */
	uint8_t family, role, traits;
	uint32_t shape;         /* as in vpa_ops */
} __attribute__((aligned(16))); /* so that a shift indexes the array */

/* Looks up the configurations of the current chunk. */
struct vpa_op_configs {
	const struct vpa_config_entry *items;
	size_t count;
	/* Called for a row that is not among the items or not looked up yet. 0 or VPT_ENOMEM. */
	int (*find)(void *ctx, uint64_t config, struct vpa_config_entry *entry);
	void *ctx;
};

/* Some rows of a packed section, presented as a section. */
struct vpa_op_window {
	struct vpt_section section;
	uint32_t left; /* rows after the window */
	struct vpt_rows rows;
	uint64_t starts[VPT_ROWS_AT_ONCE], correlations[VPT_ROWS_AT_ONCE];
};

/* One section of ops, walked in order of start. */
struct vpa_op_source {
	const struct vpt_section *section; /* NULL: the held ops; the window's if there is one */
	struct vpa_op_window *window;      /* NULL: all rows are decoded */
	uint32_t *order;                   /* rows by start; NULL: already in order */
	size_t at, count;
	uint64_t head_ns; /* start of the next op; undefined when at = count */
	uint32_t stream, device;
};

struct vpa_op_queue {
	struct vpa_op *held; /* [held_begin, held_count) in order */
	size_t held_begin, held_count, held_cap;
	struct vpa_op_source *sources; /* sources[0] is the held ops */
	size_t source_count, source_cap;
	struct vpa_op_window **windows; /* the first `window_count` of them in use */
	size_t window_count, windows_made, window_cap;
	uint32_t **orders; /* of this chunk's sources that are not in order */
	size_t order_count, order_cap;
	struct vpa_op_configs configs;
	/* The owner's, by stream: its rank in order of process, then number. Set before ops are
	 * taken. */
	const uint32_t *ranks;
	int failed; /* VPT_ENOMEM: no memory to look up a configuration */
};

/* Adds a KERNEL or COPY section of the current chunk, whose configs the caller has set. 0 or
 * VPT_ENOMEM. */
int vpa_op_queue_add(struct vpa_op_queue *q, const struct vpt_section *section, uint32_t stream,
	uint32_t device);

/* The earliest start in the section added last, which must have rows. */
static inline uint64_t vpa_op_queue_newest_ns(const struct vpa_op_queue *q)
{
	return q->sources[q->source_count - 1].head_ns;
}

/* Fills `out` with the ops that start before `until_ns` (~0: all), in order, except the columns
 * about launches. Returns how many; 0: the rest must wait, or the queue has failed. */
size_t vpa_op_queue_take(struct vpa_op_queue *q, uint64_t until_ns, struct vpa_ops *out);

/* The chunk is about to be freed: copies the ops left in it. 0 or VPT_ENOMEM. */
int vpa_op_queue_hold(struct vpa_op_queue *q);

void vpa_op_queue_free(struct vpa_op_queue *q);

/* ---- op_order.c: the rows of a KERNEL or COPY section, by start, then correlation id, then place ---- */

static inline uint64_t vpa_op_start(const struct vpt_section *s, uint32_t row)
{
	return s->col[0][row]; /* START of either section kind */
}

static inline uint64_t vpa_op_correlation(const struct vpt_section *s, uint32_t row)
{
	return s->col[s->kind == VPT_KERNEL ? VPT_KERNEL_CORRELATION : VPT_COPY_CORRELATION][row];
}

/* Whether they are in order as they are. */
int vpa_ops_in_order(const struct vpt_section *s);
/* Fills `order`, with room for each row, with the rows in order. */
void vpa_ops_sort(const struct vpt_section *s, uint32_t *order);

/* ---- copy_holds.c: ops held back although no later chunk brings an earlier one.
 *
 * A copy blocks the host if a copy inside it does, and the inner copy's op may begin after the
 * outer copy's own. Until that op is known nothing may ask what the outer copy did. */

struct vpa_copy_holds {
	struct vpa_copy_hold {
		uint64_t start_ns, end_ns;
	} * items;
	size_t count, cap;
};

/* Holds back what begins from `start_ns` on until everything that begins before `end_ns` is known.
 * 0 or VPT_ENOMEM. */
int vpa_copy_holds_add(struct vpa_copy_holds *h, uint64_t start_ns, uint64_t end_ns);

/* Everything that begins before `until_ns` is known: drops the holds that are over, and of the
 * others all but 4,096. Returns the time before which nothing has to wait, at most `until_ns`. */
uint64_t vpa_copy_holds_pass(struct vpa_copy_holds *h, uint64_t until_ns);

void vpa_copy_holds_free(struct vpa_copy_holds *h);

#endif
