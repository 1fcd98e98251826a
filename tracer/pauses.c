/* pauses.c - a sorted array, as long as the clock only goes forward. */
#include "tracer/pauses.h"

#include "formats/memory.h"

#include <string.h>

static struct vtr_pause *last(const struct vtr_pauses *p)
{
	return p->count ? &p->items[p->count - 1] : NULL;
}

/* Room for one more. At the limit, and without memory, the older half is forgotten. */
static int make_room(struct vtr_pauses *p)
{
	size_t half = p->count / 2;

	if (p->count < VTR_PAUSES_MAX &&
		!vpt_grow(&p->items, &p->cap, p->count + 1, sizeof(*p->items)))
		return 0;
	if (!p->count)
		return -1;
	half += !half;
	memmove(p->items, p->items + half, (p->count - half) * sizeof(*p->items));
	p->count -= half;
	return 0;
}

void vtr_pauses_begin(struct vtr_pauses *p, uint64_t from_ns)
{
	struct vtr_pause *before = last(p);

	if (before && before->to_ns == UINT64_MAX) {
		if (from_ns < before->from_ns)
			before->from_ns = from_ns;
		return;
	}
	if (before && from_ns < before->to_ns)
		p->unordered = 1;
	if (!make_room(p))
		p->items[p->count++] = (struct vtr_pause){from_ns, UINT64_MAX};
}

void vtr_pauses_end(struct vtr_pauses *p, uint64_t to_ns)
{
	struct vtr_pause *now = last(p);

	if (!now || now->to_ns != UINT64_MAX)
		return;
	if (to_ns < now->from_ns)
		p->unordered = 1;
	now->to_ns = to_ns;
	p->due = *now;
	p->is_due = 1;
}

int vtr_pauses_take(struct vtr_pauses *p, uint64_t now_ns, struct vtr_pause *out)
{
	if (!p->is_due || p->due.to_ns > now_ns)
		return 0;
	*out = p->due;
	p->is_due = 0;
	return 1;
}

void vtr_pauses_stop(struct vtr_pauses *p, uint64_t stop_ns)
{
	struct vtr_pause *now = last(p);

	if (p->is_due && p->due.to_ns > stop_ns)
		p->due.to_ns = stop_ns;
	if (now && now->to_ns == UINT64_MAX && now->from_ns >= stop_ns)
		p->count--;
	else if (!p->is_due)
		vtr_pauses_end(p, stop_ns);
}

static int covers(const struct vtr_pause *p, uint64_t time_ns)
{
	return time_ns >= p->from_ns && time_ns < p->to_ns;
}

const struct vtr_pause *vtr_pauses_at(const struct vtr_pauses *p, uint64_t time_ns)
{
	size_t low = 0, high = p->count;

	if (p->unordered) {
		while (high-- > 0)
			if (covers(&p->items[high], time_ns))
				return &p->items[high];
		return NULL;
	}
	while (low < high) { /* the number of pauses that begin at the time or before */
		size_t middle = low + (high - low) / 2;

		if (p->items[middle].from_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low && covers(&p->items[low - 1], time_ns) ? &p->items[low - 1] : NULL;
}

void vtr_pauses_clear(const struct vtr_pauses *p, uint64_t *from_ns, uint64_t *to_ns)
{
	size_t i;

	*from_ns = 1; /* a row that starts at 0 is invalid */
	*to_ns = UINT64_MAX;
	for (i = p->unordered || p->count < 2 ? 0 : p->count - 2; i < p->count; i++) {
		if (p->items[i].to_ns == UINT64_MAX)
			*to_ns = p->items[i].from_ns;
		else if (p->items[i].to_ns > *from_ns)
			*from_ns = p->items[i].to_ns;
	}
	if (*from_ns > *to_ns)
		*from_ns = *to_ns;
}

void vtr_pauses_free(struct vtr_pauses *p)
{
	vpt_free(p->items);
	*p = (struct vtr_pauses){0};
}

int vtr_pauses_cut(const struct vtr_pauses *p, uint64_t *start_ns, uint64_t end_ns)
{
	const struct vtr_pause *pause;
	int was_moved = 0;

	while ((pause = vtr_pauses_at(p, *start_ns)) != NULL) {
		if (pause->to_ns >= end_ns)
			return -1;
		*start_ns = pause->to_ns;
		was_moved = 1;
	}
	return was_moved;
}
