/* allocations.c - memory in use by CUDA's allocation calls, from MEMORY rows: a level for each device
 * and one for pinned memory.
 *
 * What was allocated before the capture is unknown, and its release changes nothing. A chunk's rows
 * are sorted by time; those of a later chunk that are older than an earlier one's count as of that
 * one's end. */
#include "analysis/folds/over_time/counters_by_stage.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 63, PINNED = DEVICES_MAX, LEVELS, LIVE_MAX = 1 << 22 };

/* A row of the current chunk. */
struct event {
	uint64_t time_ns, address, bytes;
	uint32_t level, order;
	int is_release;
};

struct state {
	struct vpa_counter_times times;
	struct vpa_index live; /* (address, level) to the bytes in use */
	uint64_t *bytes;
	size_t cap;
	struct event *events;
	size_t event_count, event_cap;
	uint64_t sequence; /* of the chunk that the events are of */
	uint64_t level[LEVELS], newest_ns;
	struct vpa_samples samples[LEVELS];
};

static int compare_events(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* The change of an event; 0: it changes nothing that is known. */
static int apply(struct state *s, const struct event *e)
{
	uint64_t *level = &s->level[e->level], before = *level;
	uint64_t time_ns = e->time_ns > s->newest_ns ? e->time_ns : s->newest_ns;
	uint32_t at = s->live.count < LIVE_MAX && !e->is_release
			      ? vpa_index_put(&s->live, e->address, e->level)
			      : vpa_index_find(&s->live, e->address, e->level);

	if (at == UINT32_MAX)
		return e->is_release || s->live.count >= LIVE_MAX ? VPT_OK : VPT_ENOMEM;
	if (vpt_grow_zeroed(&s->bytes, &s->cap, (size_t)at + 1, sizeof(*s->bytes)))
		return VPT_ENOMEM;
	s->samples[e->level].shape = VPA_SAMPLE_UNTIL;
	*level -= s->bytes[at];
	s->bytes[at] = e->is_release ? 0 : e->bytes;
	*level += s->bytes[at];
	s->newest_ns = time_ns;
	return *level == before && s->samples[e->level].count
		       ? VPT_OK
		       : vpa_samples_add(&s->samples[e->level], time_ns, (double)*level);
}

/* Applies the events of the chunk that has ended. */
static int settle(struct state *s)
{
	size_t i;
	int rc = VPT_OK;

	if (s->event_count)
		qsort(s->events, s->event_count, sizeof(*s->events), compare_events);
	for (i = 0; i < s->event_count && !rc; i++)
		rc = apply(s, &s->events[i]);
	s->event_count = 0;
	return rc;
}

static uint32_t device_of(const struct vpt_batch *b, uint64_t key)
{
	const struct vpt_section *lanes = vpt_batch_find(b, VPT_LANE);
	uint32_t row;

	for (row = 0; lanes && row < lanes->row_count; row++)
		if (lanes->col[VPT_LANE_KEY][row] == key &&
			lanes->col[VPT_LANE_DEVICE][row] < DEVICES_MAX)
			return (uint32_t)lanes->col[VPT_LANE_DEVICE][row];
	return LEVELS;
}

static uint32_t level_of(uint64_t memory_kind, uint32_t device)
{
	switch (memory_kind) {
	case VPT_MEMKIND_PINNED:
		return PINNED;
	case VPT_MEMKIND_DEVICE:
	case VPT_MEMKIND_ARRAY:
	case VPT_MEMKIND_MANAGED:
	case VPT_MEMKIND_DEVICE_STATIC:
	case VPT_MEMKIND_MANAGED_STATIC:
		return device;
	default:
		return LEVELS;
	}
}

static int fold_section(void *state, const struct vpa_fold_context *c, const struct vpt_batch *b,
	const struct vpt_section *section)
{
	struct state *s = state;
	uint32_t row, device;
	int rc = VPT_OK;

	(void)c;
	if (section->kind == VPT_LOSS)
		return vpa_counter_pauses(&s->times, section);
	if (section->kind != VPT_MEMORY)
		return VPT_OK;
	if (b->sequence != s->sequence)
		rc = settle(s);
	s->sequence = b->sequence;
	device = device_of(b, section->lane);
	for (row = 0; row < section->row_count && !rc; row++) {
		uint64_t op = section->col[VPT_MEMORY_MEMORY_OP][row];
		uint32_t level = level_of(section->col[VPT_MEMORY_MEMORY_KIND][row], device);

		if (level == LEVELS || (op != VPT_MEMOP_ALLOCATE && op != VPT_MEMOP_RELEASE))
			continue;
		rc = vpt_grow(&s->events, &s->event_cap, s->event_count + 1, sizeof(*s->events));
		if (!rc)
			s->events[s->event_count] =
				(struct event){.time_ns = section->col[VPT_MEMORY_TIME][row],
					.address = section->col[VPT_MEMORY_ADDRESS][row],
					.bytes = section->col[VPT_MEMORY_BYTES][row],
					.level = level,
					.order = (uint32_t)s->event_count,
					.is_release = op == VPT_MEMOP_RELEASE};
		s->event_count += !rc;
	}
	return rc;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_counter_series series[LEVELS];
	const char *name, *unit;
	enum vpt_series known;
	struct state *s = state;
	size_t i, count = 0;
	int rc = settle(s);

	for (i = 0; i < LEVELS && !rc; i++) {
		if (!s->samples[i].count)
			continue;
		known = i == PINNED ? VPT_SERIES_CUDA_PINNED : VPT_SERIES_CUDA_ALLOCATED;
		name = vpt_series_name(known);
		unit = vpt_series_unit(known);
		series[count++] = (struct vpa_counter_series){.name = {name, strlen(name)},
			.unit = {unit, strlen(unit)},
			.device = i == PINNED ? -1 : (int64_t)i,
			.samples = s->samples[i]};
		s->samples[i] = (struct vpa_samples){0};
	}
	if (!rc)
		rc = vpa_counters_write(c, &s->times, series, count, out);
	for (i = 0; i < count; i++)
		vpa_samples_free(&series[i].samples);
	return rc;
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < LEVELS; i++)
		vpa_samples_free(&s->samples[i]);
	vpa_index_free(&s->live);
	vpt_free(s->bytes);
	vpt_free(s->events);
	vpa_counter_times_free(&s->times);
}

const struct vpa_fold vpa_fold_allocations = {
	.name = "allocations",
	.help = "memory in use by CUDA's allocation calls, by stage",
	.state_bytes = sizeof(struct state),
	.section = fold_section,
	.finish = finish,
	.free = free_state,
};
