/* blocks_frames.c - groups of marks are split where an op is launched between them, and joined where one outlasts
 * them. */
#include "analysis/folds/blocks/table/blocks_table.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/search.h"

#include <string.h>

/* The first mark after `time_ns`, in order. */
static size_t find_mark(
	const struct vpa_blocks_thread *t, const struct vpa_ready_mark *marks, uint64_t time_ns)
{
	size_t low = 0, high = t->count;

	VPT_SEARCH(low, high, middle, marks[t->order[middle]].time_ns <= time_ns);
	return low;
}

/* The group of a mark, given its place in order. */
static size_t find_group(const struct vpa_blocks_thread *t, size_t place)
{
	size_t low = 0, high = t->group_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (t->groups[middle].first > place)
			high = middle;
		else
			low = middle;
	}
	return low;
}

/* ---- groups ---- */

static int add_group(struct vpa_blocks_thread *t, size_t at, const struct vpa_mark_group *group)
{
	if (vpt_grow(&t->groups, &t->group_cap, t->group_count + 1, sizeof(*t->groups)))
		return VPT_ENOMEM;
	memmove(t->groups + at + 1, t->groups + at, (t->group_count - at) * sizeof(*t->groups));
	t->groups[at] = *group;
	t->group_count++;
	return VPT_OK;
}

/* Makes a group from this place on, with the ends that a cut and `end_ns` have so far. */
static int begin_group(struct vpa_blocks_thread *t, struct vpa_sweep *sweep, size_t at,
	uint32_t first, uint32_t cut, uint64_t end_ns)
{
	struct vpa_mark_group group = {.first = first, .cut = VPA_NONE, .end_ns = end_ns};

	if (cut != VPA_NONE) {
		group.cut = vpa_sweep_cut_new(sweep);
		if (group.cut == VPA_NONE || vpa_sweep_cut_copy(sweep, group.cut, cut))
			return VPT_ENOMEM;
	}
	return add_group(t, at, &group);
}

static uint64_t end_of(const struct vpa_sweep *sweep, const struct vpa_mark_group *group)
{
	return group->cut == VPA_NONE ? group->end_ns : sweep->cuts[group->cut].time_ns;
}

/* Joins the groups after this one that end by then with it. */
static void join(
	struct vpa_blocks_thread *t, struct vpa_sweep *sweep, size_t group, uint64_t until_ns)
{
	size_t end = group + 1;

	for (; end < t->group_count && end_of(sweep, &t->groups[end]) <= until_ns; end++)
		vpa_sweep_cut_free(sweep, t->groups[end].cut);
	memmove(t->groups + group + 1, t->groups + end,
		(t->group_count - end) * sizeof(*t->groups));
	t->group_count -= end - group - 1;
}

/* ---- marks ---- */

/* Whether a mark with the ends that the thread has so far is one of its last group. */
static int is_of_last(const struct vpa_blocks_thread *t, const struct vpa_sweep *sweep)
{
	const struct vpa_mark_group *last = t->group_count ? &t->groups[t->group_count - 1] : NULL;
	const struct vpa_sweep_cut *a, *b;

	if (!last || (last->cut == VPA_NONE) != (t->cut == VPA_NONE))
		return 0;
	if (t->cut == VPA_NONE)
		return last->end_ns == t->end_ns;
	a = &sweep->cuts[last->cut];
	b = &sweep->cuts[t->cut];
	return a->time_ns == b->time_ns && a->edge == b->edge && !a->waits == !b->waits;
}

int vpa_thread_marks_add(struct vpa_blocks_thread *t, struct vpa_sweep *sweep,
	const struct vpa_ready_mark *marks, uint32_t mark)
{
	size_t place = find_mark(t, marks, marks[mark].time_ns), i;

	if (vpt_grow(&t->order, &t->cap, t->count + 1, sizeof(*t->order)))
		return VPT_ENOMEM;
	/* One that comes late belongs to those after it: which ops they have in common is not known. */
	if (place == t->count && !is_of_last(t, sweep) &&
		begin_group(t, sweep, t->group_count, (uint32_t)place, t->cut, t->end_ns))
		return VPT_ENOMEM;
	for (i = place < t->count ? find_group(t, place) + 1 : t->group_count; i < t->group_count;
		i++)
		t->groups[i].first++;
	memmove(t->order + place + 1, t->order + place, (t->count - place) * sizeof(*t->order));
	t->order[place] = mark;
	t->count++;
	return VPT_OK;
}

void vpa_thread_marks_limit(const struct vpa_blocks_thread *t, const struct vpa_ready_mark *marks,
	uint64_t at_ns, uint64_t *from_ns, uint64_t *until_ns)
{
	size_t place = find_mark(t, marks, at_ns);

	if (place && marks[t->order[place - 1]].time_ns > *from_ns)
		*from_ns = marks[t->order[place - 1]].time_ns;
	if (place < t->count && marks[t->order[place]].time_ns < *until_ns)
		*until_ns = marks[t->order[place]].time_ns;
}

/* ---- ops ---- */

int vpa_thread_marks_begin(struct vpa_blocks_thread *t, struct vpa_sweep *sweep,
	const struct vpa_ready_mark *marks, uint64_t from_ns, uint64_t start_ns, uint32_t *cut)
{
	size_t place = find_mark(t, marks, from_ns), group;

	*cut = VPA_NONE;
	if (place == t->count)
		return VPT_OK;
	group = find_group(t, place);
	if (t->groups[group].first < place) {
		if (begin_group(t, sweep, group + 1, (uint32_t)place, t->groups[group].cut,
			    t->groups[group].end_ns))
			return VPT_ENOMEM;
		group++;
	}
	/* A thread gets a cut with its first op. */
	if (t->cut != VPA_NONE && t->groups[group].cut == VPA_NONE) {
		t->groups[group].cut = vpa_sweep_cut_new(sweep);
		if (t->groups[group].cut == VPA_NONE)
			return VPT_ENOMEM;
	}
	/* The op will outlast these. */
	join(t, sweep, group, start_ns);
	*cut = t->groups[group].cut;
	return VPT_OK;
}

int vpa_thread_marks_end(struct vpa_blocks_thread *t, struct vpa_sweep *sweep,
	const struct vpa_ready_mark *marks, uint64_t from_ns, uint64_t end_ns)
{
	size_t place = find_mark(t, marks, from_ns), group;

	if (place == t->count)
		return VPT_OK;
	group = find_group(t, place);
	if (t->groups[group].cut == VPA_NONE && end_ns > t->groups[group].end_ns)
		t->groups[group].end_ns = end_ns;
	join(t, sweep, group, end_ns);
	return VPT_OK;
}

int vpa_thread_marks_watch(struct vpa_blocks_thread *t, struct vpa_sweep *sweep)
{
	size_t i;

	for (i = 0; i < t->group_count; i++) {
		struct vpa_mark_group *g = &t->groups[i];

		g->cut = vpa_sweep_cut_new(sweep);
		if (g->cut == VPA_NONE ||
			(g->end_ns > sweep->at_ns && vpa_sweep_extend(sweep, g->cut, g->end_ns)))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

void vpa_thread_marks_settle(const struct vpa_blocks_thread *t, struct vpa_ready_mark *marks)
{
	size_t group = 0, i;

	for (i = 0; i < t->count; i++) {
		while (group + 1 < t->group_count && t->groups[group + 1].first <= i)
			group++;
		marks[t->order[i]].cut = t->groups[group].cut;
	}
}

void vpa_thread_marks_free(struct vpa_blocks_thread *t)
{
	vpt_free(t->order);
	vpt_free(t->groups);
}
