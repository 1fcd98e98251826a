/* recording_window.c - the state of the window in one word, and the ring of its changes.
 *
 *	state = changes ever 56 | flags 8          recording: no flag is set
 *
 * Whoever changes the word by compare-and-swap, so that recording begins or ends, owns the ring's
 * slot of that number, and fills it. The writer takes slots in the order of their numbers. */
#include "tracer/window/recording_window.h"

#include "tracer/clock/capture_clock.h"
#include "tracer/guest/thread_id.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/vptrace.h"

#include <string.h>

enum { PAUSED = 1, CLOSED = 2, OVER = 4, FLAGS = 255, COUNT_SHIFT = 8 };
enum { SLOTS = 2048 };

/* The open range that holds the window open: a thread's, or an id of the process's ranges. */
#define OF_THREAD (UINT64_C(1) << 63)

_Atomic uint32_t vtr_window_watch;
_Atomic uint64_t vtr_window_changes;

static struct {
	_Atomic uint64_t state;
	_Atomic uint64_t taken;  /* changes that the writer has taken */
	_Atomic uint64_t missed; /* windows */
	_Atomic uint64_t opened; /* times that the trigger has opened the window */
	_Atomic uint64_t units;  /* steps, blocks or requests that have begun */
	_Atomic uint64_t opens_ns;
	_Atomic uint64_t owner; /* 0: no range */
	_Atomic uint32_t name;  /* of the range to look for */
	_Atomic uint32_t
		nested; /* open ranges of that name on the owner's thread, from the owner on */
	atomic_int kind;
	atomic_int ends; /* the owner's window is the last one */
	struct vtr_trigger trigger;
	struct {
		_Atomic uint64_t number; /* 1 and up, set last */
		_Atomic uint64_t time_ns;
		_Atomic uint32_t flags;
	} slots[SLOTS];
} all;

/* ---- changes ---- */

static void publish(uint64_t number, uint64_t time_ns, uint32_t flags)
{
	uint64_t i = (number - 1) % SLOTS;

	atomic_store_explicit(&all.slots[i].time_ns, time_ns, memory_order_relaxed);
	atomic_store_explicit(&all.slots[i].flags, flags, memory_order_relaxed);
	atomic_store_explicit(&all.slots[i].number, number, memory_order_release);
	atomic_fetch_add_explicit(&vtr_window_changes, 1, memory_order_release);
}

/* An end needs a slot too: only a beginning can be refused. */
static int has_room(uint64_t number)
{
	return number - atomic_load_explicit(&all.taken, memory_order_acquire) < SLOTS - 2;
}

/* Sets and clears flags, at `time_ns`; 0: now. 1: done; 0: they were so already, or a beginning
 * found no room.
 *
 * The time is read between the load of the word and the change of just that word. So it lies after
 * the time of the change before, whatever thread made that, however long either of them was held up. */
static int change_at(uint32_t set, uint32_t clear, uint64_t time_ns)
{
	uint64_t old = atomic_load_explicit(&all.state, memory_order_acquire), next, at_ns;
	uint32_t before, after;

	do {
		before = (uint32_t)(old & FLAGS);
		after = (before & ~clear) | set;
		if (before == after)
			return 0;
		next = (old & ~(uint64_t)FLAGS) | after;
		if (!before != !after)
			next += UINT64_C(1) << COUNT_SHIFT;
		if (before && !after && !has_room(old >> COUNT_SHIFT)) {
			atomic_fetch_add_explicit(&all.missed, 1, memory_order_relaxed);
			return 0;
		}
		at_ns = time_ns ? time_ns : vtr_now();
	} while (!atomic_compare_exchange_weak_explicit(
		&all.state, &old, next, memory_order_acq_rel, memory_order_acquire));
	if (!before != !after)
		publish(next >> COUNT_SHIFT, at_ns, after);
	return 1;
}

static int change(uint32_t set, uint32_t clear)
{
	return change_at(set, clear, 0);
}

int vtr_window_next(struct vtr_window_change *out)
{
	uint64_t number = atomic_load_explicit(&all.taken, memory_order_relaxed) + 1;
	uint64_t i = (number - 1) % SLOTS;
	uint32_t flags;

	if (atomic_load_explicit(&all.slots[i].number, memory_order_acquire) != number)
		return 0;
	flags = atomic_load_explicit(&all.slots[i].flags, memory_order_relaxed);
	out->time_ns = atomic_load_explicit(&all.slots[i].time_ns, memory_order_relaxed);
	out->records = !flags;
	out->is_last = (flags & OVER) != 0;
	atomic_store_explicit(&all.taken, number, memory_order_release);
	return 1;
}

uint64_t vtr_window_missed(void)
{
	return atomic_load(&all.missed);
}

/* ---- the session ---- */

void vtr_window_begin(const struct vtr_trigger *t, int started, uint64_t start_ns)
{
	enum vtr_trigger_kind kind = t->kind;
	int is_open = kind == VTR_TRIGGER_NOW || (kind == VTR_TRIGGER_API && started);
	struct vtr_window_change old;

	atomic_store(&vtr_window_watch, 0);
	while (vtr_window_next(&old)) /* of the capture before */
		;
	atomic_store(&all.missed, 0);
	atomic_store(&all.opened, (uint64_t)is_open);
	atomic_store(&all.units, 0);
	atomic_store(&all.owner, 0);
	atomic_store(&all.nested, 0);
	atomic_store(&all.opens_ns, 0);
	all.trigger = *t;
	atomic_store(&all.kind, (int)kind);
	/* From here on recording is on, whatever the last capture left. */
	atomic_fetch_and(&all.state, ~(uint64_t)FLAGS);
	if (!is_open)
		change_at(CLOSED, 0, start_ns);
	if (kind == VTR_TRIGGER_DELAY) {
		atomic_store(&all.opens_ns, start_ns + t->delay_ns);
		atomic_store(&all.opened, 1);
		change_at(0, CLOSED, start_ns + t->delay_ns);
	}
	if (kind == VTR_TRIGGER_RANGE) {
		atomic_store(&all.name, vtr_name_of(t->name));
		atomic_store(&vtr_window_watch, VTR_WINDOW_NAME);
	} else if (kind == VTR_TRIGGER_UNITS) {
		atomic_store(&vtr_window_watch, VTR_WINDOW_UNIT);
	}
}

void vtr_window_end(void)
{
	atomic_store(&vtr_window_watch, 0);
	atomic_store(&all.kind, VTR_TRIGGER_NOW);
}

int vtr_window_pause(int pausing)
{
	if (pausing)
		return change(PAUSED, 0);
	if (atomic_load(&all.kind) == VTR_TRIGGER_API) {
		atomic_store(&all.opened, 1);
		return change(0, PAUSED | CLOSED);
	}
	return change(0, PAUSED);
}

int vtr_window_start(void)
{
	if (atomic_load(&all.kind) != VTR_TRIGGER_API || atomic_exchange(&all.opened, 1))
		return 0;
	return change(0, CLOSED);
}

int vtr_window_is_open(void)
{
	uint64_t opens_ns = atomic_load(&all.opens_ns);

	return !(atomic_load(&all.state) & FLAGS) && (!opens_ns || vtr_now() >= opens_ns);
}

int vtr_window_was_open(void)
{
	uint64_t opens_ns = atomic_load(&all.opens_ns);

	return atomic_load(&all.opened) && (!opens_ns || vtr_now() >= opens_ns);
}

/* ---- events ---- */

/* The trigger opens the window. Returns whether it is open now because of it. */
static int open_window(void)
{
	if (!change(0, CLOSED))
		return 0;
	atomic_fetch_add_explicit(&all.opened, 1, memory_order_relaxed);
	return 1;
}

static void close_window(int for_good)
{
	change(CLOSED | (for_good ? OVER : 0u), 0);
}

void vtr_window_profiler(int starts)
{
	if (atomic_load_explicit(&all.kind, memory_order_relaxed) != VTR_TRIGGER_PROFILER)
		return;
	if (starts)
		open_window();
	else
		close_window(0);
}

/* What a unit of the trigger is to its windows. */
struct place {
	int is_recorded;
	int ends_window; /* the last unit of a window */
	int is_over;     /* no window follows: this unit's is the last one, or that was before it */
};

static struct place place_of(uint64_t unit)
{
	const struct vtr_trigger *t = &all.trigger;
	uint64_t cycle = t->wait + t->active, place, number;
	struct place p = {0};

	if (unit < t->skip)
		return p;
	number = (unit - t->skip) / cycle;
	place = (unit - t->skip) % cycle;
	p.is_recorded = place >= t->wait && (!t->repeat || number < t->repeat);
	p.ends_window = p.is_recorded && place + 1 == cycle;
	p.is_over =
		t->repeat && (number >= t->repeat || (p.ends_window && number + 1 == t->repeat));
	return p;
}

/* A unit begins. A window that a range holds open ends with that range, and not with the next unit: requests may
 * overlap. Returns whether the unit is the last one of its window. */
static int begin_unit(void)
{
	struct place p = place_of(atomic_fetch_add_explicit(&all.units, 1, memory_order_relaxed));

	if (p.is_recorded)
		open_window();
	else if (!atomic_load(&all.owner))
		close_window(p.is_over);
	if (p.ends_window)
		atomic_store(&all.ends, p.is_over);
	return p.ends_window;
}

void vtr_window_step(void)
{
	if (vtr_window_watches() & VTR_WINDOW_UNIT && all.trigger.unit == VPTRACE_NOTE_STEP)
		begin_unit();
}

/* Whether a range's note says that it is a unit of the trigger. */
static int is_unit(const struct vtr_attributes *a)
{
	struct vptrace_note note;

	if (a->payload.schema != VTR_SCHEMA_NOTE || !a->payload.blob ||
		a->payload.bytes < sizeof(note))
		return 0;
	memcpy(&note, a->payload.blob, sizeof(note));
	return note.kind == all.trigger.unit;
}

static uint64_t own_key(void)
{
	return OF_THREAD | vtr_tid();
}

/* Whether the range holds the window open from now on. A window that another range of the name
 * holds open is that one's. */
static int take_window(uint64_t key)
{
	uint64_t none = 0;

	if (!atomic_compare_exchange_strong(&all.owner, &none, key))
		return 0;
	atomic_store(&all.nested, 0);
	return 1;
}

enum { OPENS_NOTHING, OPENS, NESTS };

int vtr_window_pushing(const struct vtr_attributes *a)
{
	uint32_t watch = vtr_window_watches();

	if (watch & VTR_WINDOW_UNIT && is_unit(a) && begin_unit()) {
		/* Its end is the window's, also where the one that should have ended the window before is open. */
		atomic_store(&all.owner, own_key());
		atomic_store(&all.nested, 0);
		atomic_store(&all.name, a->name);
		atomic_fetch_or(&vtr_window_watch, VTR_WINDOW_NAME);
		return OPENS;
	}
	if (!(watch & VTR_WINDOW_NAME) || a->name != atomic_load(&all.name))
		return OPENS_NOTHING;
	if (atomic_load(&all.owner) == own_key())
		return NESTS;
	if (watch & VTR_WINDOW_UNIT || !take_window(own_key()))
		return OPENS_NOTHING;
	if (open_window())
		return OPENS;
	atomic_store(&all.owner, 0);
	return OPENS_NOTHING;
}

/* The range that held the window open has ended. */
static void release(void)
{
	int is_unit = (vtr_window_watches() & VTR_WINDOW_UNIT) != 0, for_good;

	if (is_unit)
		for_good = atomic_load(&all.ends);
	else
		for_good = all.trigger.count && atomic_load(&all.opened) >= all.trigger.count;
	close_window(for_good);
	if (for_good)
		atomic_store(&vtr_window_watch, 0);
	else if (is_unit) /* the next window ends with a range of another name, perhaps */
		atomic_fetch_and(&vtr_window_watch, ~(uint32_t)VTR_WINDOW_NAME);
	atomic_store(&all.owner, 0);
}

void vtr_window_pushed(int opens)
{
	if (opens != OPENS_NOTHING)
		atomic_fetch_add(&all.nested, 1);
}

void vtr_window_popped(uint32_t name)
{
	if (!(vtr_window_watches() & VTR_WINDOW_NAME) || name != atomic_load(&all.name) ||
		atomic_load(&all.owner) != own_key())
		return;
	if (atomic_fetch_sub(&all.nested, 1) == 1)
		release();
}

void vtr_window_started(int opens, uint64_t id)
{
	if (opens != OPENS)
		return;
	if (id)
		atomic_store(&all.owner, id);
	else
		release();
}

void vtr_window_ended(uint64_t id)
{
	if (id && atomic_load(&all.owner) == id)
		release();
}

void vtr_window_thread_ended(void)
{
	if (vtr_window_watches() & VTR_WINDOW_NAME && atomic_load(&all.owner) == own_key())
		release();
}
