/* pauses.c - pauses in an array, in the order in which they began. */
#include "tracer/window/pauses.h"

#include "formats/base/memory.h"
#include "formats/base/search.h"

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
		p->items[p->count++] = (struct vtr_pause){.from_ns = from_ns,
			.to_ns = UINT64_MAX,
			.before = p->newest,
			.first = UINT64_MAX,
			.after = UINT64_MAX};
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

/* The number of pauses that begin at the time or before, if they are in order. */
static size_t count_begun(const struct vtr_pauses *p, uint64_t time_ns)
{
	size_t low = 0, high = p->count;

	VPT_SEARCH(low, high, middle, p->items[middle].from_ns <= time_ns);
	return low;
}

const struct vtr_pause *vtr_pauses_at(const struct vtr_pauses *p, uint64_t time_ns)
{
	size_t begun, i = p->count;

	if (p->unordered) {
		while (i-- > 0)
			if (covers(&p->items[i], time_ns))
				return &p->items[i];
		return NULL;
	}
	begun = count_begun(p, time_ns);
	return begun && covers(&p->items[begun - 1], time_ns) ? &p->items[begun - 1] : NULL;
}

/* ---- launches ---- */

static void take_least(uint64_t *least, uint64_t id)
{
	*least = id < *least ? id : *least;
}

static void take_most(uint64_t *most, uint64_t id)
{
	*most = id > *most ? id : *most;
}

void vtr_pauses_note_id(struct vtr_pauses *p, uint64_t id)
{
	take_most(&p->newest, id);
}

void vtr_pauses_note_call(struct vtr_pauses *p, uint64_t id, uint64_t start_ns)
{
	size_t begun = p->unordered ? 0 : count_begun(p, start_ns);
	struct vtr_pause *now = begun ? &p->items[begun - 1] : NULL;

	p->has_calls = 1;
	vtr_pauses_note_id(p, id);
	if (now && covers(now, start_ns)) {
		take_least(&now->first, id);
		take_most(&now->last, id);
	} else if (now) {
		take_least(&now->after, id);
	}
	/* Of two pauses the later one has no smaller `before`. */
	for (; begun < p->count && p->items[begun].before < id; begun++)
		p->items[begun].before = id;
}

enum launch { OUTSIDE, IN_PAUSE, NOT_NOTED };

static enum launch find_launch(const struct vtr_pauses *p, uint64_t id, uint64_t start_ns)
{
	size_t i;

	for (i = start_ns ? count_begun(p, start_ns) : p->count; i-- > 0;) {
		const struct vtr_pause *pause = &p->items[i];
		/* A launch comes before its op: it cannot lie after a pause that the op began in. */
		int may_follow = !start_ns || !covers(pause, start_ns);

		if (id <= pause->before)
			continue;
		if (may_follow && id >= pause->after)
			return OUTSIDE;
		if (id < pause->first)
			return NOT_NOTED;
		return !may_follow || id <= pause->last ? IN_PAUSE : NOT_NOTED;
	}
	return OUTSIDE;
}

int vtr_pauses_hide_op(const struct vtr_pauses *p, uint64_t id, uint64_t start_ns)
{
	if (!id || !p->has_calls || p->unordered)
		return start_ns && vtr_pauses_at(p, start_ns);
	return find_launch(p, id, start_ns) == IN_PAUSE;
}

int vtr_pauses_doubt_op(const struct vtr_pauses *p, uint64_t id, uint64_t start_ns)
{
	return id && start_ns && !p->unordered && vtr_pauses_at(p, start_ns) &&
	       find_launch(p, id, start_ns) == NOT_NOTED;
}

int vtr_pauses_reach(const struct vtr_pauses *p, uint64_t time_ns)
{
	return p->count && (p->unordered || p->items[p->count - 1].to_ns > time_ns);
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
