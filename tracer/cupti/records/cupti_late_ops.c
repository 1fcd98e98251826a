/* cupti_late_ops.c - an array of copied records, nearly always empty. */
#include "tracer/cupti/records/cupti_decoder.h"

#include "formats/base/memory.h"

#include <stddef.h>
#include <string.h>

enum { RECORD_BYTES = 256 };

struct vtr_late_op {
	uint64_t correlation, start_ns;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	size_t size;
	uint8_t record[RECORD_BYTES] __attribute__((aligned(8)));
};

/* Offsets by kind of op; start 0: no op. */
static const struct place {
	uint16_t start, correlation;
} places[VTR_KINDS] = {
#define PLACES_NO(KIND, record)
#define PLACES_OP(KIND, record)                                                                    \
	[VTR_KIND_##KIND] = {.start = offsetof(struct vtr_record_##record, start),                 \
		.correlation = offsetof(struct vtr_record_##record, correlation)},
#define VTR_CUPTI_KIND(KIND, number, record, TIMES, OP, decode, PROFILES, existing)                \
	PLACES_##OP(KIND, record)
#include "tracer/cupti/library/cupti_kinds.def"
#undef PLACES_NO
#undef PLACES_OP
};

int vtr_late_ops_take(struct vtr_late_ops *l, const struct vtr_late_ops_owner *owner,
	const struct vtr_recorder *r, uint32_t kind, const uint8_t *record, size_t size,
	uint64_t now_ns)
{
	const struct place *p = &places[kind];
	struct vtr_late_op *op;
	uint64_t start_ns, correlation;
	uint32_t id;

	if (!p->start || size > RECORD_BYTES || l->count == VTR_LATE_OPS_MAX)
		return 0;
	memcpy(&start_ns, record + p->start, sizeof(start_ns));
	memcpy(&id, record + p->correlation, sizeof(id));
	correlation = owner->widen(owner->ctx, id);
	if (!vtr_recorder_doubts_op(r, correlation, start_ns))
		return 0;
	if (!l->ops)
		l->ops = vpt_alloc(VTR_LATE_OPS_MAX, sizeof(*l->ops));
	if (!l->ops)
		return 0;
	op = &l->ops[l->count++];
	op->correlation = correlation;
	op->start_ns = start_ns;
	op->since_ns = now_ns;
	op->size = size;
	memcpy(op->record, record, size);
	return 1;
}

size_t vtr_late_ops_release(struct vtr_late_ops *l, const struct vtr_late_ops_owner *owner,
	struct vtr_recorder *r, uint64_t until_ns)
{
	size_t i, kept = 0, released;

	for (i = 0; i < l->count; i++) {
		struct vtr_late_op *op = &l->ops[i];

		if (op->since_ns > until_ns &&
			vtr_recorder_doubts_op(r, op->correlation, op->start_ns)) {
			l->ops[kept++] = *op;
			continue;
		}
		owner->decode(owner->ctx, op->record, op->size);
	}
	released = l->count - kept;
	l->count = kept;
	return released;
}

void vtr_late_ops_free(struct vtr_late_ops *l)
{
	vpt_free(l->ops);
	*l = (struct vtr_late_ops){0};
}
