/* cupti_unfinished.c - ops without an end, by stream. */
#include "tracer/cupti/records/cupti_records.h"

#include "formats/base/memory.h"

#include <stddef.h>
#include <string.h>

struct vtr_unfinished_stream {
	uint32_t device, context, stream;
	int has_done;     /* some op of it has an end */
	uint32_t done;    /* the newest correlation id of these */
	uint64_t from_ns; /* from then on nothing is known */
	uint64_t count;   /* of ops that are unfinished */
};

struct vtr_unfinished_op {
	size_t stream; /* its index */
	uint32_t correlation;
};

/* The end of a 32-bit field. */
#define REACH(record, field) (offsetof(struct vtr_record_##record, field) + sizeof(uint32_t))

/* By kind of op: its record's minimum length and the offsets of fields. */
static const struct place {
	uint16_t bytes, end, device, context, stream, correlation;
} places[VTR_KINDS] = {
#define PLACES_NO(KIND, record)
#define PLACES_OP(KIND, record)                                                                    \
	[VTR_KIND_##KIND] = {REACH(record, correlation) > REACH(record, stream)                    \
				     ? REACH(record, correlation)                                  \
				     : REACH(record, stream),                                      \
		offsetof(struct vtr_record_##record, end),                                         \
		offsetof(struct vtr_record_##record, device),                                      \
		offsetof(struct vtr_record_##record, context),                                     \
		offsetof(struct vtr_record_##record, stream),                                      \
		offsetof(struct vtr_record_##record, correlation)},
#define VTR_CUPTI_KIND(KIND, number, record, TIMES, OP, decode, PROFILES, existing)                \
	PLACES_##OP(KIND, record)
#include "tracer/cupti/library/cupti_kinds.def"
#undef PLACES_NO
#undef PLACES_OP
};

static uint32_t word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint64_t time_at(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* NULL: no memory. */
static struct vtr_unfinished_stream *find_stream(
	struct vtr_unfinished *u, const struct place *p, const uint8_t *record, uint64_t taken_ns)
{
	struct vtr_unfinished_stream it = {.device = word(record + p->device),
		.context = word(record + p->context),
		.stream = word(record + p->stream),
		.from_ns = taken_ns}; /* CUPTI puts an op into a buffer when it is launched */
	size_t i;

	for (i = u->stream_count; i-- > 0;) {
		struct vtr_unfinished_stream *s = &u->streams[i];

		if (s->stream == it.stream && s->context == it.context && s->device == it.device)
			return s;
	}
	if (vpt_grow(&u->streams, &u->stream_cap, u->stream_count + 1, sizeof(*u->streams)))
		return NULL;
	u->streams[u->stream_count] = it;
	return &u->streams[u->stream_count++];
}

/* Ids have 32 bits in a record, and wrap around. */
static int is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static void note_op(
	struct vtr_unfinished *u, const struct place *p, const uint8_t *record, uint64_t taken_ns)
{
	struct vtr_unfinished_stream *s = find_stream(u, p, record, taken_ns);
	uint32_t correlation = word(record + p->correlation);
	uint64_t end_ns = time_at(record + p->end);

	if (!s)
		return;
	if (end_ns) {
		if (!s->has_done || is_before(s->done, correlation))
			s->done = correlation;
		s->has_done = 1;
		if (end_ns > s->from_ns)
			s->from_ns = end_ns;
		return;
	}
	if (!vpt_grow(&u->ops, &u->op_cap, u->op_count + 1, sizeof(*u->ops)))
		u->ops[u->op_count++] =
			(struct vtr_unfinished_op){(size_t)(s - u->streams), correlation};
}

void vtr_unfinished_buffer(
	struct vtr_unfinished *u, const struct vtr_sizes *sizes, const struct vtr_full *full)
{
	const uint8_t *record = full->data, *end = record + full->valid_bytes;
	size_t size;
	uint32_t kind;

	for (; (size = vtr_sizes_of_record(sizes, record, (size_t)(end - record), &kind));
		record += size)
		if (places[kind].bytes && places[kind].bytes <= size)
			note_op(u, &places[kind], record, full->taken_ns);
}

static uint64_t widen(uint64_t newest, uint32_t id)
{
	return newest + (uint64_t)(int64_t)(int32_t)(id - (uint32_t)newest);
}

/* Whether later work of its stream has ended. A graph's nodes share the id of its launch, and some may end
 * before others. */
static int is_overtaken(const struct vtr_unfinished *u, const struct vtr_unfinished_op *op)
{
	const struct vtr_unfinished_stream *s = &u->streams[op->stream];

	return s->has_done && is_before(op->correlation, s->done);
}

uint64_t vtr_unfinished_put(
	struct vtr_unfinished *u, struct vtr_recorder *r, uint64_t newest, uint64_t stop_ns)
{
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < u->op_count; i++)
		if (!is_overtaken(u, &u->ops[i]) &&
			!vtr_recorder_hides_op(r, widen(newest, u->ops[i].correlation)))
			u->streams[u->ops[i].stream].count++;
	for (i = 0; i < u->stream_count; i++) {
		const struct vtr_unfinished_stream *s = &u->streams[i];

		if (!s->count)
			continue;
		all += s->count;
		vtr_recorder_room(r);
		vtr_recorder_loss(r, vtr_recorder_stream(r, s->device, s->context, s->stream),
			VPT_LOSSKIND_UNFINISHED, s->from_ns, stop_ns, s->count);
	}
	return all;
}

void vtr_unfinished_reset(struct vtr_unfinished *u)
{
	vpt_free(u->streams);
	vpt_free(u->ops);
	*u = (struct vtr_unfinished){0};
}
