/* slow_steps.c - a median of a few numbers, sorted each time. */
#include "tracer/window/slow_steps.h"

#include "formats/event_schema.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/vptrace.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 256, USUAL_SECONDS = 30 };

/* The newest calls of vptrace_step(). */
static _Atomic uint64_t calls[CALLS], call_count;
static atomic_int is_watched;

void vtr_slow_steps_begin(struct vtr_slow_steps *s, double factor, uint64_t keep_ns)
{
	*s = (struct vtr_slow_steps){.factor = factor,
		.quiet_ns = keep_ns ? keep_ns : USUAL_SECONDS * 1000000000ull,
		.read = atomic_load(&call_count)};
	atomic_store(&is_watched, factor > 0);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median(const struct vtr_slow_steps *s)
{
	uint64_t sorted[VTR_STEPS_KEPT];
	size_t n = s->count < VTR_STEPS_KEPT ? (size_t)s->count : VTR_STEPS_KEPT;

	memcpy(sorted, s->durations, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	return sorted[n / 2];
}

int vtr_slow_steps_take(struct vtr_slow_steps *s, uint64_t duration_ns, uint64_t end_ns)
{
	int is_slow = s->factor > 0 && s->count >= VTR_STEPS_LEAST &&
		      (double)duration_ns > s->factor * (double)median(s) &&
		      (!s->last_ns || end_ns - s->last_ns >= s->quiet_ns);

	s->durations[s->count++ % VTR_STEPS_KEPT] = duration_ns;
	if (is_slow)
		s->last_ns = end_ns;
	return is_slow;
}

int vtr_slow_steps_see(struct vtr_slow_steps *s, const struct vtr_event *event)
{
	struct vptrace_note note;

	if (event->type != VTR_EVENT_RANGE || event->payload.schema != VTR_SCHEMA_NOTE ||
		!event->payload.blob || event->payload.bytes < sizeof(note))
		return 0;
	memcpy(&note, event->payload.blob, sizeof(note));
	if (note.kind != VPTRACE_NOTE_STEP || event->end_ns <= event->start_ns)
		return 0;
	return vtr_slow_steps_take(s, event->end_ns - event->start_ns, event->end_ns);
}

int vtr_slow_steps_poll(struct vtr_slow_steps *s)
{
	uint64_t end = atomic_load(&call_count);
	int is_slow = 0;

	if (end - s->read > CALLS - 1)
		s->read = end - (CALLS - 1);
	/* The first call of a capture begins a step; each other one ends one too. */
	for (; s->read + 1 < end; s->read++) {
		uint64_t from = atomic_load(&calls[s->read % CALLS]);
		uint64_t to = atomic_load(&calls[(s->read + 1) % CALLS]);

		if (from && to > from)
			is_slow |= vtr_slow_steps_take(s, to - from, to);
	}
	return is_slow;
}

void vtr_slow_steps_call(void)
{
	uint64_t at = atomic_load(&call_count);

	if (!atomic_load_explicit(&is_watched, memory_order_relaxed))
		return;
	/* Two threads at once: one of the calls is not counted. */
	atomic_store(&calls[at % CALLS], vtr_now());
	atomic_compare_exchange_strong(&call_count, &at, at + 1);
}
