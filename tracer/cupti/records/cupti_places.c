/* cupti_places.c - small tables in front of the recorder's lanes.
 *
 * Records of one lane come in runs, so each lookup first tries its last result. Contexts are few
 * and searched linearly; streams and threads are hashed. */
#include "tracer/cupti/records/cupti_decoder.h"

#include "formats/base/memory.h"

#include <stdio.h>
#include <string.h>

enum { STREAM_SLOTS = 256, DESCRIBED_MAX = 4096, CONTEXTS_MAX = 4096, THREADS_MAX = 1 << 16 };

struct stream {
	uint32_t device, context, stream;
	struct vtr_lane *lane; /* NULL: slot unused */
};

struct context {
	uint32_t context, device;
	uint32_t default_stream;
};

struct described {
	uint32_t context, stream;
	int32_t priority;
	uint32_t flags;
};

struct vtr_places {
	struct stream streams[STREAM_SLOTS];
	struct context *contexts;
	size_t context_count, context_cap;
	struct described *described;
	size_t described_count, described_cap;
	struct vtr_call_thread **threads;
	size_t thread_count, thread_cap;
	struct vtr_call_thread *last_thread;
	uint32_t thread_slots[2 * THREADS_MAX]; /* 1 + index */
};

struct vtr_places *vtr_places_new(void)
{
	return vpt_calloc(1, sizeof(struct vtr_places));
}

static void forget_threads(struct vtr_places *p)
{
	size_t i;

	for (i = 0; i < p->thread_count; i++) {
		vpt_free(p->threads[i]->held);
		vpt_free(p->threads[i]);
	}
	if (p->thread_count)
		memset(p->thread_slots, 0, sizeof(p->thread_slots));
	p->thread_count = 0;
	p->last_thread = NULL;
}

void vtr_places_free(struct vtr_places *p)
{
	if (!p)
		return;
	forget_threads(p);
	vpt_free(p->threads);
	vpt_free(p->contexts);
	vpt_free(p->described);
	vpt_free(p);
}

void vtr_places_begin(struct vtr_places *p)
{
	forget_threads(p);
	memset(p->streams, 0, sizeof(p->streams));
}

/* ---- devices ---- */

void vtr_places_device(const struct vtr_record_device *g, struct vtr_device *out)
{
	const uint8_t *u = g->uuid;

	memset(out, 0, sizeof(*out));
	out->device = g->device;
	out->compute_major = g->compute_major;
	out->compute_minor = g->compute_minor;
	out->sm_count = g->sm_count;
	out->sm_threads = (uint64_t)g->sm_warps * g->warp_threads;
	out->sm_registers = g->sm_registers;
	out->sm_shared = g->sm_shared;
	out->memory_bytes = g->memory_bytes;
	if (g->name)
		snprintf(out->name, sizeof(out->name), "%s", g->name);
	snprintf(out->uuid, sizeof(out->uuid),
		"GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
		u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13],
		u[14], u[15]);
	out->simulated = !strncmp(out->name, "Simulated", 9);
}

/* ---- contexts ---- */

static struct context *find_context(const struct vtr_places *p, uint32_t context)
{
	size_t i;

	for (i = p->context_count; i-- > 0;)
		if (p->contexts[i].context == context)
			return &p->contexts[i];
	return NULL;
}

static struct context *learn_context(struct vtr_places *p, uint32_t context, uint32_t device)
{
	struct context *c = find_context(p, context);

	if (!c) {
		if (p->context_count == CONTEXTS_MAX ||
			vpt_grow(&p->contexts, &p->context_cap, p->context_count + 1,
				sizeof(*p->contexts)))
			return NULL;
		c = &p->contexts[p->context_count++];
		*c = (struct context){context, device, 0};
	}
	c->device = device;
	return c;
}

void vtr_places_context(struct vtr_places *p, const struct vtr_record_context *record)
{
	struct context *c = learn_context(p, record->context, record->device);

	if (c)
		c->default_stream = record->null_stream;
}

/* ---- streams ---- */

static const struct described *find_described(
	const struct vtr_places *p, uint32_t context, uint32_t stream)
{
	size_t i;

	for (i = p->described_count; i-- > 0;)
		if (p->described[i].stream == stream && p->described[i].context == context)
			return &p->described[i];
	return NULL;
}

void vtr_places_describe(struct vtr_places *p, const struct vtr_record_stream *s)
{
	struct described *d = (struct described *)find_described(p, s->context, s->stream);

	if (!d) {
		if (p->described_count == DESCRIBED_MAX ||
			vpt_grow(&p->described, &p->described_cap, p->described_count + 1,
				sizeof(*p->described)))
			return;
		d = &p->described[p->described_count++];
	}
	*d = (struct described){
		s->context, s->stream, (int32_t)s->priority, s->flag == VTR_STREAM_NON_BLOCKING};
	/* An existing lane gets it at its next lookup. */
	memset(p->streams, 0, sizeof(p->streams));
}

static struct vtr_lane *look_up(struct vtr_places *p, struct vtr_recorder *r, struct stream *slot,
	uint32_t device, uint32_t context, uint32_t stream)
{
	const struct described *d = find_described(p, context, stream);
	struct vtr_lane *lane = vtr_recorder_stream(r, device, context, stream);

	learn_context(p, context, device);
	if (d)
		vtr_recorder_describe_stream(lane, d->priority, d->flags);
	*slot = (struct stream){device, context, stream, lane};
	return lane;
}

struct vtr_lane *vtr_places_stream(struct vtr_places *p, struct vtr_recorder *r, uint32_t device,
	uint32_t context, uint32_t stream)
{
	/* One step, and no key: what collides is looked up again. */
	struct stream *slot =
		&p->streams[(stream * 0x9e3779b1u ^ context * 0x85ebca6bu ^ device) % STREAM_SLOTS];

	if (slot->lane && slot->stream == stream && slot->context == context &&
		slot->device == device)
		return slot->lane;
	return look_up(p, r, slot, device, context, stream);
}

struct vtr_lane *vtr_places_stream_of(
	struct vtr_places *p, struct vtr_recorder *r, uint32_t context, uint32_t stream)
{
	const struct context *c = vtr_no_place(stream) ? NULL : find_context(p, context);

	return c ? vtr_places_stream(p, r, c->device, context, stream) : NULL;
}

struct vtr_lane *vtr_places_any_stream(
	struct vtr_places *p, struct vtr_recorder *r, uint32_t device, uint32_t context)
{
	const struct context *c = find_context(p, context);
	size_t i;

	if (c && c->default_stream)
		return vtr_places_stream(p, r, device, context, c->default_stream);
	for (i = 0; i < p->context_count; i++) {
		c = &p->contexts[i];
		if (c->device == device && c->default_stream)
			return vtr_places_stream(p, r, device, c->context, c->default_stream);
	}
	for (i = 0; i < STREAM_SLOTS; i++)
		if (p->streams[i].lane && p->streams[i].device == device)
			return p->streams[i].lane;
	return NULL;
}

/* ---- threads ---- */

static struct vtr_call_thread *new_thread(
	struct vtr_places *p, struct vtr_recorder *r, uint32_t tid, size_t slot)
{
	struct vtr_call_thread *t;

	if (p->thread_count == THREADS_MAX ||
		vpt_grow(&p->threads, &p->thread_cap, p->thread_count + 1, sizeof(*p->threads)))
		return NULL;
	t = vpt_calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->tid = tid;
	t->lane = vtr_recorder_thread(r, tid);
	p->threads[p->thread_count++] = t;
	p->thread_slots[slot] = (uint32_t)p->thread_count;
	return t;
}

struct vtr_call_thread *vtr_places_thread(
	struct vtr_places *p, struct vtr_recorder *r, uint32_t tid)
{
	/* No key is needed: the kernel gives out thread ids, and at most 32 of them share a slot. */
	size_t slot = (size_t)(tid * 0x9e3779b1u) % (2 * THREADS_MAX);
	struct vtr_call_thread *t = p->last_thread;

	if (t && t->tid == tid)
		return t;
	for (; p->thread_slots[slot]; slot = (slot + 1) % (2 * THREADS_MAX)) {
		t = p->threads[p->thread_slots[slot] - 1];
		if (t->tid == tid)
			return p->last_thread = t;
	}
	t = new_thread(p, r, tid, slot);
	p->last_thread = t;
	return t;
}

struct vtr_call_thread *vtr_places_thread_at(struct vtr_places *p, size_t index)
{
	return index < p->thread_count ? p->threads[index] : NULL;
}
