/* resolver_stream_order.c - the order of streams, by process and number.
 *
 * A file may have a new stream in each chunk, so ranks leave room between them. */
#include "analysis/join/resolver_parts.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <string.h>

/* Streams have ranks so far apart, so that others have room between them; there are at most 8,193. */
enum { RANK_STEP = 1 << 17 };

static int compare_streams(
	const uint32_t *stream_a, const uint32_t *stream_b, const struct vpa_model *model)
{
	const struct vpa_stream *a = &model->streams[*stream_a], *b = &model->streams[*stream_b];

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

/* Where a stream belongs among those that are ranked: after those that are equal. */
static size_t find_rank(const struct vpa_resolver *r, uint32_t stream)
{
	size_t low = 0, high = r->rank_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_streams(&r->ranked[middle], &stream, r->model) > 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Ranks a stream between its neighbours. Returns whether there was room. */
static int rank_between(struct vpa_resolver *r, size_t at)
{
	uint32_t stream = r->ranked[at], before = at ? r->ranks[r->ranked[at - 1]] : 0;
	uint32_t after = at < r->rank_count ? r->ranks[r->ranked[at + 1]] : before + 2 * RANK_STEP;

	if (at && !compare_streams(&r->ranked[at - 1], &stream, r->model)) {
		r->ranks[stream] = before;
		return 1;
	}
	r->ranks[stream] = before + (after - before) / 2;
	return after - before >= 2;
}

/* Ranks all others too where there is no room between them. */
int vpa_resolver_rank_streams(struct vpa_resolver *r)
{
	size_t count = r->model->stream_count, i;
	int has_room = 1;

	if (r->rank_count == count)
		return VPT_OK;
	if (vpt_grow(&r->ranked, &r->ranked_cap, count, sizeof(*r->ranked)) ||
		vpt_grow(&r->ranks, &r->rank_cap, count, sizeof(*r->ranks)))
		return VPT_ENOMEM;
	for (; r->rank_count < count; r->rank_count++) {
		size_t at = find_rank(r, (uint32_t)r->rank_count);

		memmove(r->ranked + at + 1, r->ranked + at,
			(r->rank_count - at) * sizeof(*r->ranked));
		r->ranked[at] = (uint32_t)r->rank_count;
		has_room &= rank_between(r, at);
	}
	for (i = 0; i < count && !has_room; i++)
		r->ranks[r->ranked[i]] =
			i && !compare_streams(&r->ranked[i - 1], &r->ranked[i], r->model)
				? r->ranks[r->ranked[i - 1]]
				: (uint32_t)(i + 1) * RANK_STEP;
	r->queue.ranks = r->ranks;
	return VPT_OK;
}
