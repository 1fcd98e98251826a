/* range_stack.c - the rare cases of a thread's stack: several domains, too many ranges, copying. */
#include "tracer/ranges/range_stack.h"

#include "tracer/guest/budget.h"

#include <stddef.h>

/* Bytes of an element with its blob. Rounded up: the arrays are touched by pages. */
enum { PLACE_BYTES = 512 };

_Static_assert(sizeof(struct vtr_open_range) + sizeof(vtr_open_blob) <= PLACE_BYTES, "of a place");

static struct vtr_open_range *open_at(const struct vtr_stack *s, int place)
{
	return (struct vtr_open_range *)&s->open[place];
}

static int innermost(const struct vtr_stack *s, uint32_t domain)
{
	int place = (int)vtr_stack_own(&s->count) - 1;

	while (place >= 0 && vtr_open_domain(open_at(s, place)) != domain)
		place--;
	return place;
}

/* The index of a domain's count of forgotten ranges; -1: none. To count one more there always is one. */
static int forgotten_index(const struct vtr_stack *s, uint32_t domain, int for_more)
{
	int i;

	for (i = 0; i < VTR_STACK_FORGOTTEN_DOMAINS - 1; i++)
		if (s->forgotten_by[i].count && s->forgotten_by[i].domain == domain)
			return i;
	if (!for_more && s->forgotten_by[i].count)
		return i;
	for (i = 0; for_more && i < VTR_STACK_FORGOTTEN_DOMAINS - 1; i++)
		if (!s->forgotten_by[i].count)
			return i;
	return for_more ? VTR_STACK_FORGOTTEN_DOMAINS - 1 : -1;
}

static int forgotten_of(const struct vtr_stack *s, uint32_t domain)
{
	int i = s->forgotten ? forgotten_index(s, domain, 0) : -1;

	return i < 0 ? 0 : (int)s->forgotten_by[i].count;
}

int vtr_stack_depth(const struct vtr_stack *s, uint32_t domain)
{
	int place = innermost(s, domain), forgotten;

	if (place >= 0)
		return vtr_stack_next_depth(open_at(s, place));
	forgotten = forgotten_of(s, domain);
	return forgotten < 255 ? forgotten : 255;
}

/* Removes a range; those above move down. */
static void remove_at(struct vtr_stack *s, uint32_t place)
{
	uint32_t count = vtr_stack_own(&s->count), version = vtr_stack_begin(s);

	for (; place + 1 < count; place++)
		vtr_open_copy(
			&s->open[place], s->blob[place], &s->open[place + 1], s->blob[place + 1]);
	vtr_stack_end(s, version, count - 1);
}

void vtr_stack_forget(struct vtr_stack *s)
{
	uint32_t domain;
	int i;

	if (!vtr_stack_own(&s->count))
		return;
	domain = vtr_open_domain(&s->open[0]);
	i = forgotten_index(s, domain, 1);
	s->forgotten_by[i].domain = domain;
	s->forgotten_by[i].count++;
	s->forgotten++;
	remove_at(s, 0);
}

int vtr_stack_grow(struct vtr_stack *s)
{
	uint32_t room = s->room * 2;

	if (room > VTR_DEPTH_MAX ||
		!vtr_budget_take(VTR_BUDGET_THREADS, (uint64_t)s->room * PLACE_BYTES))
		return 0;
	s->room = room;
	return 1;
}

uint64_t vtr_stack_bytes(const struct vtr_stack *s)
{
	return (uint64_t)(s->room - VTR_STACK_ROOM) * PLACE_BYTES;
}

int vtr_stack_find_below(const struct vtr_stack *s, uint32_t domain)
{
	int place = innermost(s, domain);

	return place < 0 && forgotten_of(s, domain) ? VTR_STACK_FORGOTTEN : place;
}

int vtr_stack_remove_below(struct vtr_stack *s, uint32_t domain, int place)
{
	int depth, i;

	if (place == VTR_STACK_FORGOTTEN) {
		i = forgotten_index(s, domain, 0);
		s->forgotten_by[i].count--;
		s->forgotten--;
		return vtr_stack_depth(s, domain);
	}
	depth = (int)vtr_open_depth(open_at(s, place));
	remove_at(s, (uint32_t)place);
	return depth;
}

/* The place of the innermost range with a note of this kind; -1: none. */
static int innermost_note(const struct vtr_stack *s, int64_t kind)
{
	int place = (int)vtr_stack_own(&s->count) - 1;

	for (; place >= 0; place--) {
		struct vtr_open_range *r = open_at(s, place);

		if (vtr_open_bytes(r) >= sizeof(struct vptrace_note) &&
			vtr_open_get(&r->payload) == VTR_SCHEMA_NOTE &&
			(int64_t)vtr_open_get((_Atomic uint64_t *)&s->blob[place][0]) == kind)
			break;
	}
	return place;
}

_Static_assert(offsetof(struct vptrace_note, timestep) == 4 * sizeof(uint64_t), "words of a blob");

void vtr_stack_fill(struct vtr_stack *s, const struct vptrace_note *note)
{
	int place = innermost_note(s, note->kind), i;
	uint64_t words[sizeof(*note) / sizeof(uint64_t)], version;

	if (place < 0)
		return;
	memcpy(words, note, sizeof(*note));
	version = vtr_stack_begin(s);
	for (i = 1; i < 5; i++) /* the sign of a double is where that of an integer is */
		if ((int64_t)vtr_open_get(&s->blob[place][i]) < 0)
			vtr_open_set(&s->blob[place][i], words[i]);
	vtr_stack_end(s, (uint32_t)version, vtr_stack_own(&s->count));
}

void vtr_stack_clear(struct vtr_stack *s)
{
	/* A thread cancelled in a change has left it odd. */
	uint32_t version = vtr_stack_own(&s->version) & ~UINT32_C(1);

	atomic_store_explicit(&s->version, version + 1, memory_order_relaxed);
	s->forgotten = 0;
	memset(s->forgotten_by, 0, sizeof(s->forgotten_by));
	vtr_stack_end(s, version, 0);
}

int vtr_stack_copy(struct vtr_stack *s, struct vtr_stack_copy *out)
{
	uint32_t version = atomic_load_explicit(&s->version, memory_order_acquire), i;

	if (version & 1)
		return 0;
	out->count = atomic_load_explicit(&s->count, memory_order_acquire);
	for (i = 0; i < out->count && i < VTR_DEPTH_MAX; i++)
		vtr_open_copy(&out->open[i], out->blob[i], &s->open[i], s->blob[i]);
	return atomic_load_explicit(&s->version, memory_order_relaxed) == version;
}
