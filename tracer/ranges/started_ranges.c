/* started_ranges.c - start/end ranges: opened on one thread, perhaps closed on another.
 *
 *	id = generation 52 | slot 12          0 in a slot's `id`: free, or being filled; with ENDING:
 *	                                      claimed by the thread that ends it
 *
 * Free slots are a stack of indexes whose top carries a tag against reuse; slots never used before
 * come from a counter. The id is stored last when a range opens and marked first when it ends, so a
 * reader that finds the same id before and after has read one range. */
#include "tracer/ranges/started_ranges.h"

#include "formats/event_schema.h"
#include "tracer/clock/capture_clock.h"

#define ENDING (UINT64_C(1) << 63) /* no id has this bit within 2^51 ranges of a slot */

struct slot {
	_Atomic uint64_t id;
	_Atomic uint32_t tid, next; /* next: index + 1 of the free slot below */
	uint64_t generation;        /* used only by the holder of the slot */
	struct vtr_open_range range;
	vtr_open_blob blob;
};

static struct slot slots[VTR_STARTED_MAX];
static _Atomic uint64_t free_top; /* tag 32 | index + 1 */
static _Atomic uint32_t used;     /* slots ever taken */

static struct slot *take_slot(void)
{
	uint64_t top = atomic_load_explicit(&free_top, memory_order_acquire), below;
	uint32_t fresh;

	while ((uint32_t)top) {
		struct slot *s = &slots[(uint32_t)top - 1];

		below = atomic_load_explicit(&s->next, memory_order_relaxed);
		below |= ((top >> 32) + 1) << 32;
		if (atomic_compare_exchange_weak_explicit(
			    &free_top, &top, below, memory_order_acquire, memory_order_acquire))
			return s;
	}
	fresh = atomic_load_explicit(&used, memory_order_relaxed);
	do {
		if (fresh == VTR_STARTED_MAX)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&used, &fresh, fresh + 1, memory_order_relaxed, memory_order_relaxed));
	return &slots[fresh];
}

static void free_slot(struct slot *s)
{
	uint64_t top = atomic_load_explicit(&free_top, memory_order_relaxed), mine;

	do {
		atomic_store_explicit(&s->next, (uint32_t)top, memory_order_relaxed);
		mine = ((top >> 32) + 1) << 32 | (uint32_t)(s - slots + 1);
	} while (!atomic_compare_exchange_weak_explicit(
		&free_top, &top, mine, memory_order_release, memory_order_relaxed));
}

uint64_t vtr_started_open(const struct vtr_attributes *a, uint32_t tid, uint32_t epoch, int stamped)
{
	struct slot *s = take_slot();
	uint64_t id;

	if (!s)
		return 0;
	id = ++s->generation * VTR_STARTED_MAX | (uint64_t)(s - slots);
	vtr_open_put(&s->range, s->blob, a, epoch, 0);
	atomic_store_explicit(&s->tid, tid, memory_order_release);
	vtr_open_set(&s->range.start, stamped ? vtr_now() : 0);
	atomic_store_explicit(&s->id, id, memory_order_release);
	return id;
}

static void read_slot(
	struct slot *s, struct vtr_event *e, uint32_t *epoch, uint64_t blob[VTR_BLOB_WORDS])
{
	uint32_t i;

	memset(e, 0, sizeof(*e));
	vtr_open_take(&s->range, e);
	*epoch = vtr_open_epoch(&s->range);
	e->range_kind = VPT_RANGEKIND_START_END;
	e->tid = e->end_tid = atomic_load_explicit(&s->tid, memory_order_acquire);
	for (i = 0; i < (e->payload.bytes + 7) / 8; i++)
		blob[i] = vtr_open_get(&s->blob[i]);
	e->payload.blob = e->payload.bytes ? blob : NULL;
}

int vtr_started_claim(
	uint64_t id, struct vtr_event *e, uint32_t *epoch, uint64_t blob[VTR_BLOB_WORDS])
{
	struct slot *s = &slots[vtr_started_slot(id)];
	uint64_t expected = id;

	if (!id || id & ENDING ||
		!atomic_compare_exchange_strong_explicit(
			&s->id, &expected, id | ENDING, memory_order_acq_rel, memory_order_relaxed))
		return 0;
	read_slot(s, e, epoch, blob);
	return 1;
}

void vtr_started_free(uint64_t id)
{
	struct slot *s = &slots[vtr_started_slot(id)];

	atomic_store_explicit(&s->id, 0, memory_order_release);
	free_slot(s);
}

int vtr_started_is_ending(uint32_t slot)
{
	return (atomic_load_explicit(&slots[slot].id, memory_order_acquire) & ENDING) != 0;
}

int vtr_started_peek(
	uint32_t slot, struct vtr_event *e, uint32_t *epoch, uint64_t blob[VTR_BLOB_WORDS])
{
	struct slot *s = &slots[slot];
	uint64_t id = atomic_load_explicit(&s->id, memory_order_acquire);

	if (!id || id & ENDING)
		return 0;
	read_slot(s, e, epoch, blob);
	return atomic_load_explicit(&s->id, memory_order_relaxed) == id;
}

/* A slot keeps its generation: no id comes twice. */
void vtr_started_forget(void)
{
	uint32_t i, count = atomic_load_explicit(&used, memory_order_relaxed);

	for (i = 0; i < count; i++)
		atomic_store_explicit(&slots[i].id, 0, memory_order_relaxed);
	atomic_store_explicit(&free_top, 0, memory_order_relaxed);
	atomic_store_explicit(&used, 0, memory_order_relaxed);
}
