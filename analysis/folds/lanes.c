/* lanes.c - a ring of batches, and how far each lane is in it. */
#include "analysis/folds/lanes.h"

#include "formats/base/memory.h"

#include <string.h>

enum {
	/* How many batches of ops are worth waking a thread for, which then finds more, and the most that it takes at
	 * once. */
	WORTH = 8
};

void vpa_lanes_add(struct vpa_lanes *l, int fold)
{
	l->lanes[l->count++] = (struct vpa_lane){.fold = fold};
}

/* Batches that some lane has not passed. */
static uint64_t kept(const struct vpa_lanes *l)
{
	uint64_t least = l->put;
	size_t i;

	for (i = 0; i < l->count; i++)
		if (l->lanes[i].taken < least)
			least = l->lanes[i].taken;
	return l->put - least;
}

/* Whether a thread should take what a lane that has `taken` waits for. Few ops follow soon after others, and ranges all
 * at once, while the pass has other work. */
static int is_worth(const struct vpa_lanes *l, uint64_t taken)
{
	return l->settles || l->put - taken >= WORTH ||
	       l->batches[taken % VPA_LANE_BATCHES].range_count;
}

/* Gives a lane that nobody feeds what it waits for, without the lock. */
static void feed(struct vpa_lanes *l, struct vpa_lane *lane)
{
	uint64_t until = l->put - lane->taken > WORTH ? lane->taken + WORTH : l->put, at;
	int rc = VPT_OK;

	lane->is_fed = 1;
	vpa_crew_unlock(l->crew);
	for (at = lane->taken; at < until && !rc; at++)
		rc = l->feed(l->ctx, lane->fold, &l->batches[at % VPA_LANE_BATCHES]);
	vpa_crew_lock(l->crew);
	lane->taken = until;
	lane->is_fed = 0;
	l->rc = l->rc ? l->rc : rc;
	vpa_crew_tell(l->crew);
}

/* Feeds the lane that is furthest behind. See vpa_crew_take. */
static int feed_one(void *source, unsigned who)
{
	struct vpa_lanes *l = source;
	struct vpa_lane *last = NULL;
	size_t i;

	for (i = 0; i < l->count; i++)
		if (!l->lanes[i].is_fed && (!last || l->lanes[i].taken < last->taken))
			last = &l->lanes[i];
	if (!last || last->taken == l->put || (who && !is_worth(l, last->taken)))
		return 0;
	feed(l, last);
	return 1;
}

void vpa_lanes_share(struct vpa_lanes *l, struct vpa_crew *crew)
{
	if (!crew || !l->count)
		return;
	l->batches = vpt_alloc(VPA_LANE_BATCHES, sizeof(*l->batches));
	if (!l->batches)
		return;
	l->crew = crew;
	l->is_settled = l->are_ops_settled = 1;
	vpa_crew_serve(crew, feed_one, l);
}

int vpa_lanes_unshare(struct vpa_lanes *l)
{
	if (!l->crew)
		return VPT_OK;
	vpa_lanes_settle(l);
	vpa_crew_leave(l->crew, l);
	l->crew = NULL;
	vpt_free(l->batches);
	l->batches = NULL;
	return l->rc;
}

/* Ends the batch that was made last. */
static int put(struct vpa_lanes *l)
{
	int calls, rc;

	l->open = NULL;
	l->is_settled = 0;
	vpa_crew_lock(l->crew);
	l->put++;
	calls = is_worth(l, l->put - kept(l));
	rc = l->rc;
	vpa_crew_unlock(l->crew);
	if (calls)
		vpa_crew_call(l->crew);
	return rc;
}

/* The next batch, which no lane needs any more. */
static struct vpa_lane_batch *next(struct vpa_lanes *l)
{
	vpa_crew_lock(l->crew);
	while (kept(l) == VPA_LANE_BATCHES)
		if (!feed_one(l, 0))
			vpa_crew_await(l->crew);
	vpa_crew_unlock(l->crew);
	return &l->batches[l->put % VPA_LANE_BATCHES];
}

#define COPY(member, count) memcpy(to->member, from->member, (count) * sizeof(*to->member))

/* Copies what folds may read beside the pass. */
static void copy_ops(struct vpa_ops *to, const struct vpa_ops *from)
{
	size_t n = from->count, i;

	to->count = n;
	to->one_stream = from->one_stream;
	COPY(start_ns, n);
	COPY(end_ns, n);
	COPY(launch, n);
	COPY(launch_start_ns, n);
	COPY(launch_name, n);
	COPY(stream, n);
	COPY(device, n);
	COPY(kernel, n);
	COPY(blocks, n);
	COPY(shape, n);
	COPY(graph_node, n);
	COPY(kind, n);
	COPY(is_comm, n);
	COPY(family, n);
	COPY(role, n);
	COPY(traits, n);
	COPY(first_of_launch, n);
	for (i = 0; i < from->other_count; i++)
		to->copy[from->others[i]] = from->copy[from->others[i]];
	COPY(others, from->other_count);
	to->other_count = from->other_count;
	COPY(specials, from->special_count);
	to->special_count = from->special_count;
	COPY(stretches, from->stretch_count);
	to->stretch_count = from->stretch_count;
	to->graph_launches = from->graph_launches;
	to->nested_launches = from->nested_launches;
	to->all_first = from->all_first;
	COPY(idle_ns, n);
	COPY(gap_ns, n);
	COPY(gap_cause, n);
	COPY(has_late, n);
	to->late_count = from->late_count;
	COPY(late, from->late_count ? n : 0);
	COPY(runs, from->run_count);
	to->run_count = from->run_count;
}

int vpa_lanes_put(struct vpa_lanes *l, const struct vpa_ops *ops)
{
	struct vpa_lane_batch *batch;

	if (l->open)
		put(l);
	batch = next(l);
	batch->range_count = 0;
	copy_ops(&batch->ops, ops);
	l->are_ops_settled = 0;
	return put(l);
}

int vpa_lanes_put_range(struct vpa_lanes *l, const struct vpa_range *range)
{
	if (!l->open) {
		l->open = next(l);
		l->open->range_count = 0;
		l->is_settled = 0;
	}
	l->open->ranges[l->open->range_count++] = *range;
	return l->open->range_count == VPA_LANE_RANGES ? put(l) : VPT_OK;
}

int vpa_lanes_settle(struct vpa_lanes *l)
{
	int rc;

	if (!l->crew || l->is_settled)
		return VPT_OK;
	if (l->open)
		put(l);
	vpa_crew_lock(l->crew);
	l->settles = 1;
	vpa_crew_call(l->crew);
	while (kept(l))
		if (!feed_one(l, 0))
			vpa_crew_await(l->crew);
	l->settles = 0;
	l->is_settled = l->are_ops_settled = 1;
	rc = l->rc;
	vpa_crew_unlock(l->crew);
	return rc;
}

int vpa_lanes_wait(struct vpa_lanes *l, int fold)
{
	struct vpa_lane *lane = l->lanes;
	int rc;

	if (l->open)
		put(l);
	while (lane->fold != fold)
		lane++;
	vpa_crew_lock(l->crew);
	while (lane->is_fed || lane->taken < l->put)
		if (lane->is_fed)
			vpa_crew_await(l->crew);
		else
			feed(l, lane);
	rc = l->rc;
	vpa_crew_unlock(l->crew);
	return rc;
}
