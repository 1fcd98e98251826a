/* event_words.h - an event as 64-bit words, as stored in a thread's ring.
 *
 *	header   epoch 32 | payload bytes 16 | payload type 8 | flags 5 | event type 3
 *	time     start; of a range also: end
 *	names    name 32 | domain 32
 *	look     category 32 | colour 32           with VTR_WORDS_LOOK
 *	opener   thread that opened the range      with VTR_WORDS_OPENER
 *	payload value, or a blob's schema       with a payload type; then a blob, padded to words
 *
 * A graph event is header, time, name | operation, graph, node, origin. The header alone determines
 * the length. */
#ifndef VPTRACE_TRACER_RANGES_EVENT_WORDS_H
#define VPTRACE_TRACER_RANGES_EVENT_WORDS_H

#include "tracer/handover/word_ring.h"
#include "tracer/ranges/words/thread_event.h"

#include <stdint.h>
#include <string.h>

enum {
	VTR_WORDS_UNMATCHED = 1 << 3,
	VTR_WORDS_LOOK = 1 << 4,
	VTR_WORDS_OPENER = 1 << 5, /* a start/end range */
	VTR_WORDS_LEAST = 3,       /* no event has fewer */
	VTR_BLOB_WORDS = VTR_BLOB_MAX / 8
};

static inline uint64_t vtr_words_header(
	enum vtr_event_type type, unsigned flags, uint32_t epoch, const struct vtr_payload *payload)
{
	return (uint64_t)epoch << 32 | (uint64_t)(payload->bytes & 0xffff) << 16 |
	       (uint64_t)(payload->type & 0xff) << 8 | flags | (unsigned)type;
}

/* Up to 8 bytes of a blob as a word, the rest 0. */
static inline uint64_t vtr_words_load(const void *blob, uint32_t at, uint32_t bytes)
{
	uint64_t word = 0;

	if (bytes - at >= 8)
		memcpy(&word, (const char *)blob + at, 8);
	else
		memcpy(&word, (const char *)blob + at, bytes - at);
	return word;
}

static inline uint32_t vtr_words_epoch(uint64_t header)
{
	return (uint32_t)(header >> 32);
}

static inline uint32_t vtr_words_payload(uint64_t header)
{
	return (uint32_t)(header >> 8 & 0xff);
}

static inline unsigned vtr_words_blob(uint64_t header)
{
	return (unsigned)(((header >> 16 & 0xffff) + 7) / 8);
}

/* Words of the record, header included. */
static inline unsigned vtr_words_count(uint64_t header)
{
	static const unsigned char fixed[8] = {
		[VTR_EVENT_RANGE] = 4,
		[VTR_EVENT_MARK] = 3,
		[VTR_EVENT_COUNTER] = 3,
		[VTR_EVENT_GRAPH] = 6,
		1,
		1,
		1,
		1, /* no such events; not 0, so that no walk can stand still */
	};
	unsigned words = fixed[header & 7];

	words += (header & VTR_WORDS_LOOK) != 0;
	words += (header & VTR_WORDS_OPENER) != 0;
	return vtr_words_payload(header) ? words + 1 + vtr_words_blob(header) : words;
}

/* When the event at `at` happened or ended. */
static inline uint64_t vtr_words_time(const struct vtr_ring *ring, uint64_t at)
{
	int is_range = (vtr_ring_get(ring, at) & 7) == VTR_EVENT_RANGE;

	return vtr_ring_get(ring, at + 1 + (unsigned)is_range);
}

/* Writes an event's words at position `at` of a ring, which must have room for vtr_words_count().
 * `e->tid` is written only with VTR_WORDS_OPENER in the header. */
void vtr_words_put(struct vtr_ring *ring, uint64_t at, uint64_t header, const struct vtr_event *e);

/* Reads the record at `at`, made by thread `tid`. The blob is copied to `blob`, to which the event
 * points. */
void vtr_words_get(const struct vtr_ring *ring, uint64_t at, uint32_t tid, struct vtr_event *e,
	uint64_t blob[VTR_BLOB_WORDS]);

#endif
