/* collect_times.c - times of ops in a foreign trace that cannot be.
 *
 * A profiler that converts a device's time wrongly puts an op years away, or gives it a length that runs
 * over the ops behind it. Such an op would stretch the window, and hide all idle time.
 *
 *	- An op is far away if it begins more than an hour after the last call, and more than 10 times
 *	  as long after it as all calls took; or ends so long before the first. Its start becomes 0,
 *	  an invalid time. If most ops are, it is the clocks that differ, and none is touched.
 *	- An op lasts too long if two or more later ones of its stream, one after the other, end before
 *	  it does. The next kernel may begin early (programmatic dependent launch) and overlap it, but
 *	  not the one behind that. It is cut at the start of the next. Nodes of a graph are not
 *	  compared: they may run at once.
 *
 * Left out: times of other rows. */
#include "formats/collect.h"

#include "formats/collect_state.h"
#include "formats/memory.h"

#include <stdlib.h>

static const uint64_t HOUR_NS = UINT64_C(3600000000000);

struct op {
	uint64_t lane, start, end, correlation;
	uint64_t *row; /* its lane, then its columns */
	int is_node;
};

struct ops {
	struct op *at;
	size_t count;
};

static uint64_t *row_of(const struct vpt_collect *c, uint8_t kind, size_t i)
{
	return c->kinds[kind].values + i * (1 + (size_t)vpt_kind_desc(kind)->n_columns);
}

/* Both kinds of ops begin with START and DURATION. */
static void list_ops(const struct vpt_collect *c, uint8_t kind, unsigned correlation, unsigned node,
	struct ops *ops)
{
	size_t i;

	for (i = 0; i < c->kinds[kind].count; i++) {
		uint64_t *row = row_of(c, kind, i), start = row[1], end = row[1] + row[2];

		if (start && end >= start)
			ops->at[ops->count++] = (struct op){
				row[0], start, end, row[1 + correlation], row, row[1 + node] != 0};
	}
}

/* ---- far away ---- */

struct span {
	uint64_t start, end; /* end 0: there is none */
};

/* From the first start to the last end of a kind's rows. */
static struct span span_of(const struct vpt_collect *c, uint8_t kind)
{
	struct span s = {UINT64_MAX, 0};
	size_t i;

	for (i = 0; i < c->kinds[kind].count; i++) {
		const uint64_t *row = row_of(c, kind, i);
		uint64_t end = row[1] + row[2];

		if (!row[1] || end < row[1])
			continue;
		s.start = row[1] < s.start ? row[1] : s.start;
		s.end = end > s.end ? end : s.end;
	}
	return s;
}

static int is_far(const struct op *op, const struct span *host)
{
	uint64_t length = host->end - host->start,
		 limit = length > HOUR_NS / 10 ? length * 10 : HOUR_NS;

	if (length > UINT64_MAX / 10)
		return 0;
	return (op->start > host->end && op->start - host->end > limit) ||
	       (op->end < host->start && host->start - op->end > limit);
}

static void mark_far(struct vpt_collect *c, struct ops *ops)
{
	struct span host = span_of(c, VPT_CALL);
	size_t i, far = 0, left = 0;

	if (!host.end)
		host = span_of(c, VPT_RANGE);
	if (!host.end)
		return;
	for (i = 0; i < ops->count; i++)
		far += (size_t)is_far(&ops->at[i], &host);
	if (!far || far > ops->count / 2)
		return;
	for (i = 0; i < ops->count; i++) {
		if (is_far(&ops->at[i], &host))
			ops->at[i].row[1] = 0;
		else
			ops->at[left++] = ops->at[i];
	}
	ops->count = left;
}

/* ---- too long ---- */

static int compare_ops(const void *pa, const void *pb)
{
	const struct op *a = pa, *b = pb;

	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* Whether the two ops after this one ran during it, one after the other. */
static int is_too_long(const struct vpt_collect *c, const struct op *op)
{
	const struct op *next = op + 1, *third = op + 2;

	return op->lane == third->lane && op->lane && op->lane <= c->lane_count &&
	       (int64_t)c->lanes[op->lane - 1].stream != -1 && next->end < op->end &&
	       third->end < op->end && next->start > op->start && third->start >= next->end &&
	       !op->is_node && !next->is_node && !third->is_node && op->correlation &&
	       next->correlation && op->correlation != next->correlation;
}

static void cut_long(struct vpt_collect *c, struct ops *ops)
{
	size_t i;

	for (i = 1; i < ops->count && compare_ops(&ops->at[i - 1], &ops->at[i]) <= 0; i++)
		;
	if (i < ops->count)
		qsort(ops->at, ops->count, sizeof(*ops->at), compare_ops);
	for (i = 0; i + 2 < ops->count; i++) {
		struct op *op = &ops->at[i];

		if (!is_too_long(c, op))
			continue;
		op->row[2] = ops->at[i + 1].start - op->start;
		c->cut_ops++;
	}
}

int vpt_collect_doubt_times(struct vpt_collect *c)
{
	struct ops ops = {.count = 0};
	size_t count = c->kinds[VPT_KERNEL].count + c->kinds[VPT_COPY].count;

	if (!count)
		return VPT_OK;
	ops.at = vpt_alloc(count, sizeof(*ops.at));
	if (!ops.at)
		return VPT_ENOMEM;
	list_ops(c, VPT_KERNEL, VPT_KERNEL_CORRELATION, VPT_KERNEL_GRAPH_NODE, &ops);
	list_ops(c, VPT_COPY, VPT_COPY_CORRELATION, VPT_COPY_GRAPH_NODE, &ops);
	mark_far(c, &ops);
	cut_long(c, &ops);
	vpt_free(ops.at);
	return VPT_OK;
}
