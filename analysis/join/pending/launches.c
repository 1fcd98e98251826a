/* launches.c - a table that expires by itself. */
#include "analysis/join/pending/launches.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/vectorise.h"

#include <string.h>

enum {
	NEAR = 8, /* slots an id may use; the table is longer than its index by as many */
	FIRST_SLOTS = 1024,
	SLOTS_MAX = 1 << 22
};

static struct vpa_launch *home(const struct vpa_launches *l, uint64_t correlation)
{
	return &l->slots[correlation & (l->slot_count - 1)];
}

/* The id of a live slot's call. */
static uint64_t id_of(const struct vpa_launch *s, const struct vpa_thread_past *pasts)
{
	return vpa_call_correlation(vpa_launch_call(s, pasts));
}

static void mark(uint64_t marks[VPA_LAUNCH_IDS / 64], uint64_t correlation)
{
	marks[correlation % VPA_LAUNCH_IDS / 64] |= (uint64_t)1 << correlation % 64;
}

static void note_double(struct vpa_launches *l, uint64_t correlation)
{
	l->doubled = 1;
	mark(l->doubles, correlation);
}

/* Where ids are doubled, a call may get its id's own slot while another one with the id is next to it. */
VPA_RARE static void note_doubles(struct vpa_launches *l, const struct vpa_thread_past *pasts,
	const uint64_t *correlations, size_t count)
{
	size_t k;

	for (k = 0; k < count; k++) {
		int i = 0;

		if (vpa_launches_is_marked(l->displaced, correlations[k]) &&
			vpa_launches_next(l, pasts, correlations[k], &i))
			note_double(l, correlations[k]);
	}
}

/* An entry to be placed. */
struct entry {
	uint64_t correlation;
	struct vpa_launch launch;
};

/* Stores the entry in a free slot. Returns whether it found one. */
static int place(struct vpa_launches *l, const struct vpa_thread_past *pasts, const struct entry *e)
{
	struct vpa_launch *s = home(l, e->correlation);
	int i;

	for (i = 0; i < NEAR; i++) {
		if (!vpa_launch_is_live(&s[i], pasts)) {
			s[i] = e->launch;
			if (i)
				mark(l->displaced, e->correlation);
			return 1;
		}
		if (id_of(&s[i], pasts) == e->correlation)
			note_double(l, e->correlation);
	}
	return 0;
}

/* Whether an op released now is too late to have been launched by the call. */
static int is_over(const struct vpa_launches *l, const struct vpa_call *call)
{
	uint64_t end_ns = vpa_call_end(call);

	return l->released_ns > end_ns && l->released_ns - end_ns >= VPA_LAUNCH_WAIT_NS;
}

/* Stores the entry in place of one that is over, if the table is long enough for the calls of its
 * thread: entries of threads with few calls last longer. Returns whether it did. */
static int replace(
	struct vpa_launches *l, const struct vpa_thread_past *pasts, const struct entry *e)
{
	struct vpa_launch *s = home(l, e->correlation);
	const struct vpa_calls *calls = &pasts[e->launch.owner - 1].calls;

	if (!vpa_launch_is_live(s, pasts) || id_of(s, pasts) == e->correlation ||
		calls->end - calls->begin > l->slot_count / 2 ||
		!is_over(l, vpa_launch_call(s, pasts)))
		return 0;
	*s = e->launch;
	return 1;
}

/* Makes the table four times as long; counts what does not fit even then. */
static int grow(struct vpa_launches *l, const struct vpa_thread_past *pasts)
{
	struct vpa_launches bigger = {.slot_count = l->slot_count ? l->slot_count * 4 : FIRST_SLOTS,
		.released_ns = l->released_ns,
		.added = l->added,
		.ambiguous = l->ambiguous};
	size_t i;

	bigger.doubled = l->doubled;
	memcpy(bigger.doubles, l->doubles, sizeof(bigger.doubles));
	bigger.slots = vpt_calloc(bigger.slot_count + NEAR, sizeof(*bigger.slots));
	if (!bigger.slots)
		return VPT_ENOMEM;
	for (i = 0; l->slot_count && i < l->slot_count + NEAR; i++)
		if (vpa_launch_is_live(&l->slots[i], pasts)) {
			struct entry e = {id_of(&l->slots[i], pasts), l->slots[i]};

			bigger.ambiguous += !place(&bigger, pasts, &e);
		}
	vpt_free(l->slots);
	*l = bigger;
	return VPT_OK;
}

VPA_RARE static int add_near(
	struct vpa_launches *l, const struct vpa_thread_past *pasts, const struct entry *e)
{
	const struct vpa_launch *s;
	int i, same = 0;

	if (!l->slot_count && grow(l, pasts))
		return VPT_ENOMEM;
	while (!replace(l, pasts, e) && !place(l, pasts, e)) {
		s = home(l, e->correlation);
		for (i = 0, same = 0; i < NEAR; i++)
			same += id_of(&s[i], pasts) == e->correlation;
		/* Growing separates different ids, never equal ones; and ids chosen to collide in
		 * any table must not grow it beyond what this number of calls may need. */
		if (same == NEAR || l->slot_count >= SLOTS_MAX ||
			l->slot_count / 64 > 16 + l->added) {
			l->ambiguous++;
			return VPT_OK;
		}
		if (grow(l, pasts))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

/* Whether all ids but 0 count up by one, from `first` for the first call. */
VPT_VECTORISE
static int count_up(const uint64_t *ids, size_t count, uint64_t first)
{
	uint64_t bad = 0;
	size_t i;

	for (i = 0; i < count; i++)
		bad |= ids[i] ? ids[i] ^ (first + i) : 0;
	return !bad;
}

/* Adds calls with such ids to their slots, if each of these is unused or holds an expired call of the
 * same thread. Returns 0 if not. */
VPT_VECTORISE
static int add_in_row(struct vpa_launch *restrict slots, const uint64_t *restrict ids, size_t count,
	struct vpa_launch first, uint32_t begin, uint32_t live)
{
	uint32_t owner = first.owner, at = first.position, bad = 0, i;

	for (i = 0; i < (uint32_t)count; i++)
		bad |= (uint32_t)(slots[i].owner != 0) &
		       ((uint32_t)(slots[i].owner != owner) |
			       (uint32_t)(slots[i].position - begin < live));
	if (bad)
		return 0;
	for (i = 0; i < (uint32_t)count; i++) {
		slots[i].owner = ids[i] ? owner : slots[i].owner;
		slots[i].position = ids[i] ? at + i : slots[i].position;
	}
	return 1;
}

/* Adds all calls at once if their ids are in order and nothing is in their way. Returns 0 if not. */
static int add_all(struct vpa_launches *l, struct vpa_launch first, const struct vpa_calls *calls,
	const uint64_t *ids, size_t count)
{
	uint64_t live = calls->end - calls->begin, id;
	size_t i = 0, at;

	while (i < count && !ids[i])
		i++;
	if (i == count)
		return 1;
	id = ids[i] - i;
	at = (size_t)(id & (l->slot_count - 1));
	return live <= UINT32_MAX && at + count <= l->slot_count && count_up(ids, count, id) &&
	       add_in_row(l->slots + at, ids, count, first, (uint32_t)calls->begin, (uint32_t)live);
}

int vpa_launches_add(struct vpa_launches *l, const struct vpa_thread_past *pasts, uint32_t thread,
	uint64_t position, const uint64_t *correlations, size_t count)
{
	const struct vpa_calls *calls = &pasts[thread].calls;
	uint32_t begin = (uint32_t)calls->begin, at = (uint32_t)position;
	uint64_t live = calls->end - calls->begin;
	struct vpa_launch *slots;
	size_t i, mask;

	if (!l->slot_count && grow(l, pasts))
		return VPT_ENOMEM;
	slots = l->slots;
	mask = l->slot_count - 1;
	l->added += count;
	if (l->doubled)
		note_doubles(l, pasts, correlations, count);
	if (add_all(l, (struct vpa_launch){thread + 1, at}, calls, correlations, count))
		return VPT_OK;
	for (i = 0; i < count; i++, at++) {
		uint64_t correlation = correlations[i];
		struct vpa_launch *own = &slots[correlation & mask];
		struct entry e;

		if (!correlation)
			continue;
		/* Usually the slot holds an expired call of the same thread. */
		if (own->owner == thread + 1 && own->position - begin >= live) {
			own->position = at;
			continue;
		}
		e = (struct entry){correlation, {thread + 1, at}};
		if (!vpa_launch_is_live(own, pasts)) {
			*own = e.launch;
			continue;
		}
		if (add_near(l, pasts, &e))
			return VPT_ENOMEM;
		slots = l->slots; /* the table may have moved */
		mask = l->slot_count - 1;
	}
	return VPT_OK;
}

/* Whether to return `a` rather than `b`, which has the same id. */
static int is_better(const struct vpa_call *a, const struct vpa_call *b)
{
	int a_launches = vpt_call_launches((enum vpt_call_class)a->klass) != 0;
	int b_launches = vpt_call_launches((enum vpt_call_class)b->klass) != 0;

	if (a_launches != b_launches)
		return a_launches;
	if (vpa_call_start(a) != vpa_call_start(b))
		return vpa_call_start(a) < vpa_call_start(b);
	if (vpa_call_end(a) != vpa_call_end(b))
		return vpa_call_end(a) > vpa_call_end(b);
	return (b->state & ~a->state & VPA_CALL_NESTED) != 0;
}

struct vpa_call *vpa_launches_next(const struct vpa_launches *l,
	const struct vpa_thread_past *pasts, uint64_t correlation, int *i)
{
	const struct vpa_launch *s = l->slot_count ? home(l, correlation) : NULL;

	while (s && correlation && *i < NEAR) {
		const struct vpa_launch *slot = &s[(*i)++];

		if (vpa_launch_is_live(slot, pasts) && id_of(slot, pasts) == correlation)
			return vpa_launch_call(slot, pasts);
	}
	return NULL;
}

struct vpa_call *vpa_launches_find_near(
	const struct vpa_launches *l, const struct vpa_thread_past *pasts, uint64_t correlation)
{
	struct vpa_call *best = NULL, *call;
	int i = 0;

	while ((call = vpa_launches_next(l, pasts, correlation, &i))) {
		if (!best || is_better(call, best))
			best = call;
		if (!vpa_launches_may_double(l, correlation))
			break;
	}
	return best;
}

struct vpa_call *vpa_launches_find_wait(
	const struct vpa_launches *l, const struct vpa_thread_past *pasts, uint64_t correlation)
{
	struct vpa_call *best = NULL, *call;
	int i = 0;

	while ((call = vpa_launches_next(l, pasts, correlation, &i)))
		if (call->klass == VPT_CALL_STREAM_WAIT &&
			(!best || vpa_call_start(call) < vpa_call_start(best)))
			best = call;
	return best;
}

void vpa_launches_end(struct vpa_launches *l)
{
	vpt_free(l->slots);
	l->slots = NULL;
	l->slot_count = 0;
}

void vpa_launches_free(struct vpa_launches *l)
{
	vpa_launches_end(l);
	memset(l, 0, sizeof(*l));
}
