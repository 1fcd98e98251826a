/* cupti_clock.c - converts the times of records, where a program has given CUPTI a clock of its own. */
#include "tracer/cupti/records/cupti_clock.h"

#include <stddef.h>
#include <string.h>

enum { TIMES_MAX = 5 };

/* By kind of record: its minimum length and the offsets of its times, ended by 0. */
static const struct {
	uint16_t bytes, offsets[TIMES_MAX + 1];
} times_of[VTR_KINDS] = {
#define AT(record, field) offsetof(struct vtr_record_##record, field)
#define TIMES_NONE(KIND, record)
#define TIMES_TIME(KIND, record)                                                                   \
	[VTR_KIND_##KIND] = {sizeof(struct vtr_record_##record), {AT(record, time)}},
#define TIMES_SPAN(KIND, record)                                                                   \
	[VTR_KIND_##KIND] = {                                                                      \
		sizeof(struct vtr_record_##record), {AT(record, start), AT(record, end)}},
#define TIMES_KERNEL(KIND, record)                                                                 \
	[VTR_KIND_##KIND] = {sizeof(struct vtr_record_##record),                                   \
		{AT(record, start), AT(record, end), AT(record, completed), AT(record, queued),    \
			AT(record, submitted)}},
#define TIMES_DEVICE_TIME(KIND, record)                                                            \
	[VTR_KIND_##KIND] = {                                                                      \
		sizeof(struct vtr_record_##record##_tail), {AT(record##_tail, device_time)}},
#define VTR_CUPTI_KIND(KIND, number, record, TIMES, OP, decode, PROFILES, existing)                \
	TIMES_##TIMES(KIND, record)
#include "tracer/cupti/library/cupti_kinds.def"
#undef TIMES_NONE
#undef TIMES_TIME
#undef TIMES_SPAN
#undef TIMES_KERNEL
#undef TIMES_DEVICE_TIME
#undef AT
};

static const struct vtr_cupti_point *point(const struct vtr_cupti_clock *c, uint64_t i)
{
	return &c->points[i % VTR_CUPTI_CLOCK_POINTS];
}

static uint64_t on_line(
	const struct vtr_cupti_point *a, const struct vtr_cupti_point *b, uint64_t time)
{
	double rate = (double)(b->trace_ns - a->trace_ns) / (double)(b->cupti - a->cupti);
	double ns = (double)(int64_t)(time - a->cupti) * rate;

	return a->trace_ns + (uint64_t)(int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

/* Notes how far `p` lies from the line through its neighbours. */
static void note_error(struct vtr_cupti_clock *c, const struct vtr_cupti_point *a,
	const struct vtr_cupti_point *p, const struct vtr_cupti_point *b)
{
	uint64_t there = on_line(a, b, p->cupti);
	uint64_t error_ns = vpt_distance(there, p->trace_ns);

	c->error_ns = error_ns > c->error_ns ? error_ns : c->error_ns;
}

static void add_point(struct vtr_cupti_clock *c, struct vtr_cupti_point fresh)
{
	const struct vtr_cupti_point *last = c->count ? point(c, c->count - 1) : NULL, *before;

	if (last && (fresh.cupti < last->cupti || fresh.trace_ns < last->trace_ns)) {
		c->count = 0;
		last = NULL;
	}
	if (last && (fresh.cupti == last->cupti || fresh.trace_ns == last->trace_ns))
		return;
	before = vtr_cupti_clock_is_known(c) ? point(c, c->count - 2) : NULL;
	if (before)
		note_error(c, before, last, &fresh);
	if (!before || last->trace_ns - before->trace_ns >= VTR_CUPTI_CLOCK_APART_NS)
		c->count++;
	c->points[(c->count - 1) % VTR_CUPTI_CLOCK_POINTS] = fresh;
}

void vtr_cupti_clock_reading(
	struct vtr_cupti_clock *c, uint64_t cupti, const struct vpt_clock *moment)
{
	c->read_before_ns = c->read_ns;
	c->read_ns = moment->monotonic_ns;
	if (cupti && vtr_clock_is_far(cupti, moment->trace_ns))
		add_point(c, (struct vtr_cupti_point){cupti, moment->trace_ns});
}

uint64_t vtr_cupti_clock_convert(struct vtr_cupti_clock *c, uint64_t time)
{
	uint64_t newest = c->count - 1, oldest, at;

	if (!time || !vtr_cupti_clock_is_known(c) ||
		!vtr_clock_is_far(time, point(c, newest)->trace_ns))
		return time;
	c->converted++;
	oldest = c->count > VTR_CUPTI_CLOCK_POINTS ? c->count - VTR_CUPTI_CLOCK_POINTS : 0;
	/* Usually it is in the last interval, or after it. */
	for (at = newest; at > oldest + 1 && point(c, at - 1)->cupti > time; at--)
		;
	return on_line(point(c, at - 1), point(c, at), time);
}

/* ---- records ---- */

/* Converts the times of the record at `record`, which is `left` bytes before the end; returns its
 * size, 0: not a record that we understand. */
static size_t find_times(
	const struct vtr_sizes *sizes, const uint8_t *record, size_t left, const uint16_t **offsets)
{
	static const uint16_t none[1] = {0};
	uint32_t kind;
	size_t size = vtr_sizes_of_record(sizes, record, left, &kind);

	if (!size)
		return 0;
	*offsets = times_of[kind].bytes && times_of[kind].bytes <= size ? times_of[kind].offsets
									: none;
	return size;
}

int vtr_cupti_clock_is_foreign(const struct vtr_sizes *sizes, const struct vtr_full *full)
{
	const uint8_t *record = full->data, *end = record + full->valid_bytes;
	const uint16_t *offsets;
	uint64_t time;
	size_t size;

	for (; (size = find_times(sizes, record, (size_t)(end - record), &offsets));
		record += size) {
		if (!*offsets)
			continue;
		memcpy(&time, record + *offsets, sizeof(time));
		if (time)
			return vtr_clock_is_far(time, full->taken_ns);
	}
	return 0;
}

void vtr_cupti_clock_earliest(const struct vtr_sizes *sizes, const uint8_t *buffer,
	size_t valid_bytes, uint64_t now_ns, uint64_t *near_ns, uint64_t *far)
{
	const uint8_t *record = buffer, *end = buffer + valid_bytes;
	const uint16_t *offsets;
	uint64_t time, *least;
	size_t size;

	*near_ns = *far = UINT64_MAX;
	for (; (size = find_times(sizes, record, (size_t)(end - record), &offsets)); record += size)
		for (; *offsets; offsets++) {
			memcpy(&time, record + *offsets, sizeof(time));
			least = vtr_clock_is_far(time, now_ns) ? far : near_ns;
			if (time && time < *least)
				*least = time;
		}
}

void vtr_cupti_clock_buffer(
	struct vtr_cupti_clock *c, const struct vtr_sizes *sizes, const struct vtr_full *full)
{
	uint8_t *record = full->data, *end = record + full->valid_bytes;
	const uint16_t *offsets;
	uint64_t time;
	size_t size;

	for (; (size = find_times(sizes, record, (size_t)(end - record), &offsets)); record += size)
		for (; *offsets; offsets++) {
			memcpy(&time, record + *offsets, sizeof(time));
			time = vtr_cupti_clock_convert(c, time);
			memcpy(record + *offsets, &time, sizeof(time));
		}
}
