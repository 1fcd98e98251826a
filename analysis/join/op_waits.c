/* op_waits.c - which ops an op waited for because its stream was made to wait for an event.
 *
 *	EVENT row:  call records event n on stream A         --> the last op of A launched before it
 *	SYNC row:   a later call makes stream B wait for n   --> the first op of B launched after it
 *
 * Ops are identified by the call that launched them: correlation ids of a process rise. A wait is
 * reported only if all of it is known: both rows, joined by their number, before the op is written,
 * and the earlier op among the newest of its stream. */
#include "analysis/join/op_waits.h"

#include "analysis/base/index.h"
#include "analysis/join/resolver_maps.h"
#include "formats/base/memory.h"

#include <string.h>

enum { PAST = 256, WAITS_MAX = 1 << 16 };

struct record {
	uint64_t correlation;
	uint32_t stream;
};

struct wait {
	uint64_t correlation, sync_id;
};

struct lane {
	struct wait *waits; /* [taken, count) are pending, in order of their calls */
	size_t taken, count, cap;
	struct past {
		uint64_t correlation;
		uint32_t number;
	} past[PAST]; /* a ring */
	size_t past_count;
};

struct vpa_op_waits {
	struct vpa_resolver *resolver;
	struct vpa_index events; /* by process and joining number */
	struct record *records;
	size_t record_cap;
	struct lane **lanes; /* by stream; NULL: nothing known */
	size_t lane_cap;
};

struct vpa_op_waits *vpa_op_waits_new(struct vpa_resolver *resolver)
{
	struct vpa_op_waits *w = vpt_calloc(1, sizeof(*w));

	if (w)
		w->resolver = resolver;
	return w;
}

void vpa_op_waits_free(struct vpa_op_waits *w)
{
	size_t i;

	if (!w)
		return;
	for (i = 0; i < w->lane_cap; i++) {
		if (w->lanes[i])
			vpt_free(w->lanes[i]->waits);
		vpt_free(w->lanes[i]);
	}
	vpt_free(w->lanes);
	vpa_index_free(&w->events);
	vpt_free(w->records);
	vpt_free(w);
}

static struct lane *lane_of(struct vpa_op_waits *w, uint32_t stream)
{
	if (vpt_grow_zeroed(&w->lanes, &w->lane_cap, (size_t)stream + 1, sizeof(struct lane *)))
		return NULL;
	if (!w->lanes[stream])
		w->lanes[stream] = vpt_calloc(1, sizeof(struct lane));
	return w->lanes[stream];
}

static uint64_t process_of(const struct vpa_op_waits *w, uint32_t stream)
{
	return (uint64_t)w->resolver->model->streams[stream].pid;
}

static int add_events(struct vpa_op_waits *w, const struct vpt_section *s)
{
	uint32_t stream, row;

	if (!s->lane || vpa_maps_stream(w->resolver, s->lane, &stream))
		return s->lane ? VPT_ENOMEM : VPT_OK;
	/* Events recorded long ago are rarely waited for. */
	if (w->events.count > WAITS_MAX)
		vpa_index_free(&w->events);
	if (!lane_of(w, stream))
		return VPT_ENOMEM;
	for (row = 0; row < s->row_count; row++) {
		uint64_t id = s->col[VPT_EVENT_SYNC_ID][row];
		uint32_t at;

		if (!id || !s->col[VPT_EVENT_CORRELATION][row])
			continue;
		at = vpa_index_put(&w->events, process_of(w, stream), id);
		if (at == UINT32_MAX ||
			vpt_grow(&w->records, &w->record_cap, (size_t)at + 1, sizeof(*w->records)))
			return VPT_ENOMEM;
		w->records[at] = (struct record){s->col[VPT_EVENT_CORRELATION][row], stream};
	}
	return VPT_OK;
}

/* Rows arrive nearly in order of their calls. */
static int add_wait(struct lane *l, const struct wait *wait)
{
	size_t at;

	if (l->taken > 1024 && l->taken > l->count / 2) {
		l->count -= l->taken;
		memmove(l->waits, l->waits + l->taken, l->count * sizeof(*l->waits));
		l->taken = 0;
	}
	if (vpt_grow(&l->waits, &l->cap, l->count + 1, sizeof(*l->waits)))
		return VPT_ENOMEM;
	for (at = l->count; at > l->taken && l->count - at < 64 &&
			    l->waits[at - 1].correlation > wait->correlation;
		at--)
		l->waits[at] = l->waits[at - 1];
	l->waits[at] = *wait;
	l->count++;
	return VPT_OK;
}

static int add_syncs(struct vpa_op_waits *w, const struct vpt_section *s)
{
	uint32_t stream, row;
	struct lane *lane;

	for (row = 0; row < s->row_count && s->lane; row++) {
		struct wait wait = {
			s->col[VPT_SYNC_CORRELATION][row], s->col[VPT_SYNC_SYNC_ID][row]};

		if (s->col[VPT_SYNC_SYNC_KIND][row] != VPT_SYNCKIND_STREAM_WAIT ||
			!wait.correlation || !wait.sync_id)
			continue;
		if (vpa_maps_stream(w->resolver, s->lane, &stream))
			return VPT_ENOMEM;
		lane = lane_of(w, stream);
		if (!lane || add_wait(lane, &wait))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

int vpa_op_waits_add(struct vpa_op_waits *w, const struct vpt_section *s)
{
	return s->kind == VPT_EVENT ? add_events(w, s) : add_syncs(w, s);
}

/* The last op of a stream launched before a call; 0: not known. */
static uint32_t op_before(const struct lane *l, uint64_t correlation)
{
	uint64_t best = 0;
	uint32_t number = 0;
	size_t i, count = l->past_count < PAST ? l->past_count : PAST;

	for (i = 0; i < count; i++) {
		const struct past *p = &l->past[i];

		/* Of a graph's ops, the last one. */
		if (p->correlation < correlation && p->correlation &&
			(p->correlation > best || (p->correlation == best && p->number > number))) {
			best = p->correlation;
			number = p->number;
		}
	}
	return number;
}

int vpa_op_waits_record(const struct vpa_op_waits *w, int64_t pid, uint64_t sync_id,
	uint32_t *stream, uint64_t *correlation)
{
	uint32_t row = sync_id ? vpa_index_find(&w->events, (uint64_t)pid, sync_id) : UINT32_MAX;

	if (row == UINT32_MAX)
		return 0;
	*stream = w->records[row].stream;
	*correlation = w->records[row].correlation;
	return 1;
}

size_t vpa_op_waits_of(struct vpa_op_waits *w, const struct vpa_numbered_op *op,
	uint32_t numbers[VPA_OP_WAITS_MAX])
{
	struct lane *l = op->stream < w->lane_cap ? w->lanes[op->stream] : NULL;
	size_t count = 0;

	if (!l || !op->correlation)
		return 0;
	while (l->taken < l->count && l->waits[l->taken].correlation < op->correlation) {
		const struct wait *wait = &l->waits[l->taken++];
		uint32_t row = vpa_index_find(&w->events, process_of(w, op->stream), wait->sync_id);
		uint32_t number = 0;

		if (row != UINT32_MAX && w->records[row].correlation < wait->correlation)
			number = op_before(
				w->lanes[w->records[row].stream], w->records[row].correlation);
		if (number && count < VPA_OP_WAITS_MAX)
			numbers[count++] = number;
	}
	return count;
}

void vpa_op_waits_done(struct vpa_op_waits *w, const struct vpa_numbered_op *op)
{
	struct lane *l = op->stream < w->lane_cap ? w->lanes[op->stream] : NULL;

	if (l)
		l->past[l->past_count++ % PAST] = (struct past){op->correlation, op->number};
}
