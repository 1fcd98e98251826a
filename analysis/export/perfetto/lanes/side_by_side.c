/* side_by_side.c - spans of one kind; overlapping ones are put side by side. */
#include "analysis/export/perfetto/lanes/side_by_side.h"

#include "formats/base/memory.h"

#include <stdio.h>
#include <string.h>

void vpa_ex_track_free(struct vpa_ex_track *t)
{
	vpt_free(t->lanes);
	vpt_free(t->least);
	*t = (struct vpa_ex_track){.lanes = NULL};
}

int vpa_ex_has_lane(const struct vpa_ex_track *t, uint64_t start_ns)
{
	return t->leaf_count && t->least[1] <= start_ns;
}

/* The first lane that is free at `start_ns`; there must be one. */
static size_t first_free(const struct vpa_ex_track *t, uint64_t start_ns)
{
	size_t node = 1;

	while (node < t->leaf_count)
		node = 2 * node + (t->least[2 * node] > start_ns);
	return node - t->leaf_count;
}

/* Sets the end of a lane. */
static void set_end(struct vpa_ex_track *t, size_t lane, uint64_t end_ns)
{
	size_t node = t->leaf_count + lane;

	t->lanes[lane].end_ns = t->least[node] = end_ns;
	while ((node /= 2) > 0) {
		const uint64_t *under = &t->least[2 * node];

		t->least[node] = under[0] < under[1] ? under[0] : under[1];
	}
}

/* Makes room for one more lane. */
static int add_lane(struct vpa_ex_track *t)
{
	size_t leaves = t->leaf_count ? t->leaf_count * 2 : 1, i;
	uint64_t *least;

	if (vpt_grow(&t->lanes, &t->cap, t->count + 1, sizeof(*t->lanes)))
		return VPT_ENOMEM;
	if (t->count < t->leaf_count)
		return VPT_OK;
	least = vpt_alloc(2 * leaves, sizeof(*least));
	if (!least)
		return VPT_ENOMEM;
	memset(least, 0xff, 2 * leaves * sizeof(*least));
	vpt_free(t->least);
	t->least = least;
	t->leaf_count = leaves;
	for (i = 0; i < t->count; i++)
		set_end(t, i, t->lanes[i].end_ns);
	return VPT_OK;
}

/* The descriptor of a new lane. */
static void describe(
	struct vpa_ex_out *x, const struct vpa_ex_lane *lane, const struct vpa_ex_lane_words *words)
{
	enum { MERGE_BY_KEY = 3 };
	struct vpt_pb *b = &x->pf.out;

	vpt_pf_begin_timeless(&x->pf, &x->meta);
	vpt_pb_begin(b, VPT_PF_PACKET_TRACK);
	vpt_pb_uint(b, VPT_PF_TRACK_UUID, lane->uuid);
	vpt_pb_uint(b, VPT_PF_TRACK_PARENT, words->parent);
	vpt_pb_string(b, VPT_PF_TRACK_NAME, words->name);
	if (words->description) {
		vpt_pb_uint(b, VPT_PF_TRACK_RANK, words->rank);
		vpt_pb_string(b, VPT_PF_TRACK_DESCRIPTION, words->description);
	}
	vpt_pb_uint(b, VPT_PF_TRACK_MERGE, MERGE_BY_KEY);
	vpt_pb_string(b, VPT_PF_TRACK_MERGE_KEY, words->key);
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
}

struct vpa_ex_lane *vpa_ex_lane(struct vpa_ex_out *x, struct vpa_ex_track *t, uint64_t start_ns,
	uint64_t end_ns, const char *path, const struct vpa_ex_lane_words *words)
{
	char place[160];
	size_t i;

	if (vpa_ex_has_lane(t, start_ns)) {
		i = first_free(t, start_ns);
	} else {
		i = t->count;
		if (add_lane(t)) {
			x->pf.failed = VPT_ENOMEM;
			return NULL;
		}
		snprintf(place, sizeof(place), "%s/%zu", path, i);
		t->lanes[t->count++] = (struct vpa_ex_lane){vpa_ex_uuid(x, place), 0};
		describe(x, &t->lanes[i], words);
	}
	set_end(t, i, end_ns > t->lanes[i].end_ns ? end_ns : t->lanes[i].end_ns);
	return &t->lanes[i];
}
