/* open_range.h - an open range, in words that its owner writes and the writer's thread may read at
 * any moment.
 *
 *	start   when it was opened; 0 if nothing was recorded then, or was about to be
 *	names   name 32 | domain 32
 *	look    category 32 | colour 32
 *	shape   epoch 32 | payload bytes 16 | payload type 8 | depth in its domain 8
 *	payload value, or a blob's schema
 *
 * Each word is atomic, so a reader gets whole words. The version of the stack, or the id of the
 * slot, that holds them shows whether they belong together. Stores release and loads acquire to
 * keep both in order without fences. */
#ifndef VPTRACE_TRACER_RANGES_OPEN_RANGE_H
#define VPTRACE_TRACER_RANGES_OPEN_RANGE_H

#include "tracer/ranges/event_words.h"

#include <stdatomic.h>
#include <string.h>

struct vtr_open_range {
	_Atomic uint64_t start, names, look, shape, payload;
};

typedef _Atomic uint64_t vtr_open_blob[VTR_BLOB_WORDS];

static inline void vtr_open_set(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_release);
}

static inline uint64_t vtr_open_get(_Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_acquire);
}

static inline uint32_t vtr_open_domain(struct vtr_open_range *r)
{
	return (uint32_t)vtr_open_get(&r->names);
}

static inline unsigned vtr_open_depth(struct vtr_open_range *r)
{
	return (unsigned)(vtr_open_get(&r->shape) & 0xff);
}

static inline uint32_t vtr_open_epoch(struct vtr_open_range *r)
{
	return (uint32_t)(vtr_open_get(&r->shape) >> 32);
}

/* Bytes of its blob; 0: none. */
static inline uint32_t vtr_open_bytes(struct vtr_open_range *r)
{
	uint32_t bytes = (uint32_t)(vtr_open_get(&r->shape) >> 16 & 0xffff);

	return bytes <= VTR_BLOB_MAX ? bytes : VTR_BLOB_MAX;
}

/* Writes everything but the start. `a->payload.bytes` must be 0 unless there is a blob. */
static inline void vtr_open_put(struct vtr_open_range *r, _Atomic uint64_t *blob,
	const struct vtr_attributes *a, uint32_t epoch, unsigned depth)
{
	const struct vtr_payload *p = &a->payload;
	uint32_t bytes = p->bytes, i;

	for (i = 0; i < bytes; i += 8)
		vtr_open_set(&blob[i / 8], vtr_words_load(p->blob, i, bytes));
	vtr_open_set(&r->names, (uint64_t)a->name << 32 | a->domain);
	vtr_open_set(&r->look, (uint64_t)a->category << 32 | a->colour);
	vtr_open_set(&r->shape, (uint64_t)epoch << 32 | (uint64_t)bytes << 16 |
					(uint64_t)(p->type & 0xff) << 8 | (depth & 0xff));
	if (p->type)
		vtr_open_set(&r->payload, bytes ? p->schema : p->value);
}

/* Copies all words and the blob. */
static inline void vtr_open_copy(struct vtr_open_range *to, _Atomic uint64_t *to_blob,
	struct vtr_open_range *from, _Atomic uint64_t *from_blob)
{
	uint32_t i, words;

	vtr_open_set(&to->start, vtr_open_get(&from->start));
	vtr_open_set(&to->names, vtr_open_get(&from->names));
	vtr_open_set(&to->look, vtr_open_get(&from->look));
	vtr_open_set(&to->shape, vtr_open_get(&from->shape));
	vtr_open_set(&to->payload, vtr_open_get(&from->payload));
	words = (vtr_open_bytes(to) + 7) / 8;
	for (i = 0; i < words; i++)
		vtr_open_set(&to_blob[i], vtr_open_get(&from_blob[i]));
}

/* Fills an event from the range; the caller sets the blob's pointer. */
static inline void vtr_open_take(struct vtr_open_range *r, struct vtr_event *e)
{
	uint64_t names = vtr_open_get(&r->names), look = vtr_open_get(&r->look);
	uint64_t shape = vtr_open_get(&r->shape);

	e->type = VTR_EVENT_RANGE;
	e->start_ns = vtr_open_get(&r->start);
	e->name = (uint32_t)(names >> 32);
	e->domain = (uint32_t)names;
	e->category = (uint32_t)(look >> 32);
	e->colour = (uint32_t)look;
	e->payload.type = (uint32_t)(shape >> 8 & 0xff);
	if (!e->payload.type)
		return;
	e->payload.bytes = vtr_open_bytes(r);
	*(e->payload.bytes ? &e->payload.schema : &e->payload.value) = vtr_open_get(&r->payload);
}

#endif
