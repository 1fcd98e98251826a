/* rank_timeline.c - one sweep over the stretches of all classes. */
#include "analysis/ranks/rank/rank_parts.h"

#include "analysis/base/sort.h"
#include "formats/base/memory.h"

int vpa_rank_timeline_put(struct vpa_rank_timeline *t, enum vpa_part_class klass, uint64_t start_ns,
	uint64_t end_ns, uint32_t part)
{
	struct vpa_timeline_class *c = &t->classes[klass];
	struct vpa_timeline_stretch *last = c->count ? &c->items[c->count - 1] : NULL;

	if (last && klass != VPA_TIME_IDLE && start_ns < last->end_ns)
		start_ns = last->end_ns;
	if (start_ns >= end_ns)
		return VPT_OK;
	if (last && last->part == part && last->end_ns == start_ns) {
		last->end_ns = end_ns;
		return VPT_OK;
	}
	if (vpt_grow(&c->items, &c->cap, c->count + 1, sizeof(*c->items)))
		return VPT_ENOMEM;
	c->items[c->count++] = (struct vpa_timeline_stretch){start_ns, end_ns, part};
	return VPT_OK;
}

static int by_start(const void *a, const void *b)
{
	const struct vpa_timeline_stretch *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

struct cut {
	const struct vpa_rank_timeline *timeline;
	size_t at[VPA_TIME_CLASSES]; /* the first stretch of each class that has not ended */
	uint64_t *since;             /* by part, since the mark before */
	uint32_t *met;               /* the parts with such time */
	size_t met_count;
	uint32_t unknown;
	struct vpa_rank *rank;
};

/* What it is from `from_ns` on, and until when, at most `*until_ns`. */
static uint32_t look(
	struct cut *c, uint64_t from_ns, uint64_t *until_ns, enum vpa_part_class *found)
{
	unsigned k;

	for (k = 0; k < VPA_TIME_CLASSES; k++) {
		const struct vpa_timeline_class *list = &c->timeline->classes[k];
		const struct vpa_timeline_stretch *s;

		while (c->at[k] < list->count && list->items[c->at[k]].end_ns <= from_ns)
			c->at[k]++;
		if (c->at[k] == list->count)
			continue;
		s = &list->items[c->at[k]];
		*found = (enum vpa_part_class)k;
		if (s->start_ns <= from_ns) {
			*until_ns = s->end_ns < *until_ns ? s->end_ns : *until_ns;
			return s->part;
		}
		*until_ns = s->start_ns < *until_ns ? s->start_ns : *until_ns;
	}
	*found = VPA_TIME_IDLE;
	return c->unknown;
}

static void sweep(struct cut *c, uint64_t from_ns, uint64_t to_ns)
{
	while (from_ns < to_ns) {
		uint64_t until_ns = to_ns;
		enum vpa_part_class klass;
		uint32_t part = look(c, from_ns, &until_ns, &klass);

		if (!c->since[part])
			c->met[c->met_count++] = part;
		c->since[part] += until_ns - from_ns;
		c->rank->class_ns[klass] += until_ns - from_ns;
		c->rank->part_ns[part] += until_ns - from_ns;
		from_ns = until_ns;
	}
}

static int end_stretch(struct cut *c, struct vpa_rank_mark *mark)
{
	struct vpa_rank_detail *r = &c->rank->detail;
	size_t i;

	if (vpt_grow(&r->parts, &r->part_cap, r->part_count + c->met_count, sizeof(*r->parts)) ||
		vpa_sort(c->met, c->met_count, sizeof(*c->met), vpa_by_u32))
		return VPT_ENOMEM;
	for (i = 0; i < c->met_count; i++) {
		r->parts[r->part_count++] = (struct vpa_rank_part){c->met[i], c->since[c->met[i]]};
		c->since[c->met[i]] = 0;
	}
	c->met_count = 0;
	mark->part_end = r->part_count;
	return VPT_OK;
}

int vpa_rank_timeline_cut(struct vpa_rank_timeline *t, uint64_t first_ns, uint64_t last_ns,
	uint32_t unknown, struct vpa_rank *rank)
{
	struct vpa_timeline_class *idle = &t->classes[VPA_TIME_IDLE];
	struct cut c = {.timeline = t, .unknown = unknown, .rank = rank};
	uint64_t at_ns = first_ns;
	size_t i;
	int rc = vpa_sort(idle->items, idle->count, sizeof(*idle->items), by_start);

	c.since = vpt_calloc(rank->part_name_count + 1, sizeof(*c.since));
	c.met = vpt_calloc(rank->part_name_count + 1, sizeof(*c.met));
	if (!c.since || !c.met)
		rc = VPT_ENOMEM;
	for (i = 0; i < rank->detail.mark_count && !rc; i++) {
		struct vpa_rank_mark *mark = &rank->detail.marks[i];

		sweep(&c, at_ns, mark->time_ns);
		at_ns = mark->time_ns > at_ns ? mark->time_ns : at_ns;
		rc = end_stretch(&c, mark);
	}
	if (!rc)
		sweep(&c, at_ns, last_ns);
	vpt_free(c.since);
	vpt_free(c.met);
	return rc;
}

void vpa_rank_timeline_free(struct vpa_rank_timeline *t)
{
	size_t k;

	for (k = 0; k < VPA_TIME_CLASSES; k++)
		vpt_free(t->classes[k].items);
	*t = (struct vpa_rank_timeline){0};
}
