/* host_spans.c - who did it, what its slice says, and slices that stand beside a thread's own. */
#include "analysis/export/perfetto/host.h"

#include "formats/memory.h"

#include <stdio.h>
#include <string.h>

enum { SEQUENCES = 16 };

/* ---- descriptions ---- */

static uint64_t thread_uuid(const struct vpa_export *x, uint32_t thread)
{
	const struct vpa_thread *t = &x->model->threads[thread];
	char path[96];

	snprintf(path, sizeof(path), "thread %lld %lld %llu", (long long)t->pid, (long long)t->tid,
		t->tid < 0 ? (unsigned long long)t->key : 0);
	return vpa_ex_uuid(x, path);
}

/* Perfetto's thread ids are 31 bits; a thread without one gets one of those that Linux never gives. */
static uint32_t thread_id(const struct vpa_export *x, uint32_t thread)
{
	int64_t tid = x->model->threads[thread].tid;

	return tid >= 0 && tid <= INT32_MAX ? (uint32_t)tid : 0x40000000u + thread;
}

void vpa_ex_thread_begin(struct vpa_export *x, struct vpa_ex_thread *t, uint32_t thread)
{
	const struct vpa_thread *row = &x->model->threads[thread];
	struct vpt_text name = vpa_name(x->model, row->name);
	struct vpt_pb *b = &x->pf.out;
	uint64_t uuid;

	t->begun = 1;
	uuid = thread_uuid(x, thread);
	vpa_ex_process(x, row->pid);
	vpt_pf_begin_timeless(&x->pf, &x->meta);
	vpt_pb_begin(b, VPT_PF_TRACK);
	vpt_pb_uint(b, 1, uuid);
	vpt_pb_begin(b, 4);
	vpt_pb_uint(b, 1, (uint64_t)vpa_ex_pid(x, row->pid));
	vpt_pb_uint(b, 2, thread_id(x, thread));
	if (name.len)
		vpt_pb_text(b, 5, name.text, name.len, 200);
	vpt_pb_end(b);
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
	vpt_pf_sequence(&x->pf, &t->sequence, SEQUENCES + thread, x->start_ns + x->shift_ns, uuid);
}

struct beside {
	uint64_t parent;
	const char *name, *key;
};

static void describe_beside(struct vpa_export *x, const void *ctx)
{
	const struct beside *d = ctx;
	struct vpt_pb *b = &x->pf.out;

	vpt_pb_uint(b, 5, d->parent);
	vpt_pb_string(b, 2, d->name);
	vpt_pb_uint(b, 15, 3);
	vpt_pb_string(b, 16, d->key);
}

/* ---- events ---- */

static void put_payload(const struct vpa_ex_host_span *span, struct vpa_ex_event *e)
{
	switch (span->payload) {
	case VPT_PAYLOAD_NONE:
	case VPT_PAYLOAD_BLOB:
		return;
	case VPT_PAYLOAD_JSON:
		vpa_ex_add_arg(e, EX_ARG_PAYLOAD, EX_TEXT, span->value);
		return;
	case VPT_PAYLOAD_INT64:
		vpa_ex_add_arg(e, EX_ARG_PAYLOAD, EX_INT, span->value);
		return;
	case VPT_PAYLOAD_INT32:
		vpa_ex_add_arg(e, EX_ARG_PAYLOAD, EX_INT, (uint64_t)(int64_t)(int32_t)span->value);
		return;
	case VPT_PAYLOAD_DOUBLE:
		vpa_ex_add_arg(e, EX_ARG_PAYLOAD, EX_DOUBLE, span->value);
		return;
	case VPT_PAYLOAD_FLOAT: {
		uint32_t bits = (uint32_t)span->value;
		uint64_t value;
		double number;
		float f;

		memcpy(&f, &bits, sizeof(f));
		number = (double)f;
		memcpy(&value, &number, sizeof(value));
		vpa_ex_add_arg(e, EX_ARG_PAYLOAD, EX_DOUBLE, value);
		return;
	}
	default:
		vpa_ex_add_arg(e, EX_ARG_PAYLOAD, EX_UINT, span->value);
	}
}

/* Our own ranges say in JSON what they are; 0: this one does not. */
static uint32_t annotation_of(const struct vpa_export *x, const struct vpa_ex_host_span *span)
{
	struct vpt_text domain = vpt_strings_get(&x->texts, span->domain);

	return span->payload == VPT_PAYLOAD_JSON && domain.len == 7 &&
			       !memcmp(domain.text, "vptrace", 7)
		       ? (uint32_t)span->value
		       : 0;
}

void vpa_ex_span_event(struct vpa_export *x, const struct vpa_ex_host_span *span, unsigned *inside,
	struct vpa_ex_event *e)
{
	*e = (struct vpa_ex_event){.time_ns = span->start_ns,
		.name = span->name,
		.type = span->is_mark ? VPT_PF_INSTANT : VPT_PF_SLICE_BEGIN,
		.category = span->category};
	if (span->category == EX_CUDA_API) {
		const struct vpa_ex_link *link =
			span->link != EX_NO_INDEX ? &x->host->links[span->link] : NULL;

		if (span->value)
			vpa_ex_add_arg(e, EX_ARG_CORRELATION, EX_UINT, span->value);
		if (span->result)
			vpa_ex_add_arg(e, EX_ARG_RETURN_CODE, EX_INT,
				(uint64_t)(int64_t)(int32_t)span->result);
		if (link && link->count) {
			e->ops = vpa_ex_link_ops(x->host, link);
			e->op_count = link->count;
		}
		if (link)
			e->waits = vpa_ex_link_waits(
				x, link, span->start_ns, span->end_ns, &e->wait_count);
		return;
	}
	if (span->domain && span->category == EX_NVTX)
		vpa_ex_add_arg(e, EX_ARG_DOMAIN, EX_TEXT, span->domain);
	put_payload(span, e);
	if (span->colour)
		vpa_ex_add_arg(e, EX_ARG_COLOR, EX_UINT, span->colour);
	if (span->nvtx_category)
		vpa_ex_add_arg(e, EX_ARG_NVTX_CATEGORY, EX_UINT, span->nvtx_category);
	if (span->category == EX_NVTX && !span->is_mark)
		vpa_ex_stage_args(x, span->name, annotation_of(x, span), inside, e);
}

/* ---- what comes too late ---- */

uint64_t vpa_ex_span_end(const struct vpa_ex_thread *t, const struct vpa_ex_host_span *s)
{
	return s->open != EX_NO_INDEX ? t->open.items[s->open].end_ns : s->end_ns;
}

void vpa_ex_late_span(struct vpa_export *x, struct vpa_ex_thread *t, uint32_t thread,
	const struct vpa_ex_host_span *span, struct vpa_ex_event *e)
{
	struct beside d = {thread_uuid(x, thread), "recorded late", "recorded late"};
	uint64_t end = vpa_ex_span_end(t, span);
	struct vpa_ex_lane *lane;
	char path[96];

	/* An open range that is late as well: where it will end is not known. */
	if (end == UINT64_MAX)
		end = span->start_ns;
	snprintf(path, sizeof(path), "late %llx", (unsigned long long)d.parent);
	lane = vpa_ex_lane(x, &t->late, span->start_ns, end, path, describe_beside, &d);
	if (!lane)
		return;
	x->late_slices++;
	e->track = lane->uuid;
	if (e->type == VPT_PF_INSTANT)
		vpa_ex_event(x, vpa_ex_annotations(x), e);
	else
		vpa_ex_span(x, vpa_ex_annotations(x), e, end);
	if (span->open == EX_NO_INDEX)
		return;
	if (t->open.items[span->open].end_ns != UINT64_MAX) {
		vpa_ex_open_drop(&t->open, span->open);
		return;
	}
	t->open.items[span->open].written = 1;
	t->open.items[span->open].cut_ns = end;
}

/* ---- ranges of a whole process ---- */

static struct vpa_ex_track *wide_track(struct vpa_export *x, int64_t pid)
{
	struct vpa_ex_host *h = x->host;
	size_t before = h->wide_track_cap;
	uint32_t row = vpa_index_find(&x->pids, (uint64_t)vpa_ex_pid(x, pid), 0);

	if (row == UINT32_MAX || vpt_grow(&h->wide_tracks, &h->wide_track_cap, (size_t)row + 1,
					 sizeof(*h->wide_tracks))) {
		x->pf.failed = VPT_ENOMEM;
		return NULL;
	}
	if (h->wide_track_cap > before)
		memset(h->wide_tracks + before, 0,
			(h->wide_track_cap - before) * sizeof(*h->wide_tracks));
	return &h->wide_tracks[row];
}

void vpa_ex_wide_range(struct vpa_export *x, const struct vpa_ex_host_span *span, uint32_t thread)
{
	int64_t pid = thread < x->model->thread_count ? x->model->threads[thread].pid : -1;
	struct beside d = {vpa_ex_process(x, pid), "NVTX ranges (async)", "NVTX ranges (async)"};
	struct vpa_ex_host_span plain = *span;
	struct vpa_ex_track *track = wide_track(x, pid);
	struct vpa_ex_lane *lane;
	struct vpa_ex_event e;
	unsigned inside = 0;
	char path[96];

	plain.link = plain.open = EX_NO_INDEX;
	snprintf(path, sizeof(path), "async %llx", (unsigned long long)d.parent);
	lane = track ? vpa_ex_lane(
			       x, track, span->start_ns, span->end_ns, path, describe_beside, &d)
		     : NULL;
	if (!lane)
		return;
	vpa_ex_span_event(x, &plain, &inside, &e);
	e.track = lane->uuid;
	vpa_ex_span(x, vpa_ex_annotations(x), &e, span->end_ns);
}
