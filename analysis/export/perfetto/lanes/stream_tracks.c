/* stream_tracks.c - streams and contexts, as events refer to them. */
#include "analysis/export/perfetto/lanes/stream_tracks.h"

#include "analysis/export/perfetto/lanes/machine.h"
#include "analysis/join/resolver_maps.h"
#include "formats/base/memory.h"

#include <stdio.h>
#include <string.h>

enum { COMPUTE = 2 };

void vpa_ex_streams_free(struct vpa_ex_streams *o)
{
	size_t i;

	for (i = 0; i < o->cap; i++)
		vpa_ex_track_free(&o->items[i].slices);
	vpt_free(o->items);
	vpt_free(o->contexts);
}

/* ---- lanes in ---- */

struct vpa_ex_stream *vpa_ex_stream_of(struct vpa_ex_streams *o, uint32_t stream)
{
	if (vpt_grow_zeroed(&o->items, &o->cap, (size_t)stream + 1, sizeof(*o->items)))
		return NULL;
	return &o->items[stream];
}

int vpa_ex_streams_add(struct vpa_ex_out *x, struct vpa_ex_streams *o, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_LANE);
	struct vpa_ex_stream *stream;
	uint32_t row, index;

	for (row = 0; s && row < s->row_count; row++) {
		struct vpt_text name = vpt_batch_text(b, s->col[VPT_LANE_NAME][row]);

		if (s->col[VPT_LANE_LANE_TYPE][row] != VPT_LANETYPE_STREAM)
			continue;
		if (vpa_maps_stream(x->view.resolver, s->col[VPT_LANE_KEY][row], &index))
			return VPT_ENOMEM;
		stream = vpa_ex_stream_of(o, index);
		if (!stream)
			return VPT_ENOMEM;
		stream->priority = (int64_t)s->col[VPT_LANE_PRIORITY][row];
		stream->flags = s->col[VPT_LANE_FLAGS][row];
		stream->name = vpa_ex_text(x, name.text, name.len);
	}
	return VPT_OK;
}

/* ---- descriptions out ---- */

/* A number for a context that no other context of any process uses. */
static uint32_t free_context(const struct vpa_ex_streams *o, uint32_t iid)
{
	size_t i;

	for (i = 0; i < o->context_count; i++)
		if (o->contexts[i].iid == iid || !iid) {
			iid += 0x101; /* rare: look at all of them again */
			i = SIZE_MAX;
		}
	return iid + !iid;
}

static int context_iid(struct vpa_ex_out *x, struct vpa_ex_streams *o, int64_t pid,
	uint64_t context, uint32_t *iid)
{
	uint64_t salt = vpt_pf_hash(x->identity, &pid, sizeof(pid));
	struct vpa_ex_context *c;
	size_t i;

	for (i = 0; i < o->context_count; i++)
		if (o->contexts[i].pid == pid && o->contexts[i].id == context)
			break;
	if (i == o->context_count) {
		if (vpt_grow(&o->contexts, &o->context_cap, i + 1, sizeof(*o->contexts)))
			return VPT_ENOMEM;
		o->contexts[i] = (struct vpa_ex_context){pid, context,
			free_context(o, (uint32_t)((salt & 0xff) << 8 | (context & 0xff))), 0};
		o->context_count++;
	}
	c = &o->contexts[i];
	*iid = c->iid;
	if (c->emitted == x->pf.generation)
		return VPT_OK;
	c->emitted = x->pf.generation;
	vpa_ex_begin_interned(x, &x->gpu);
	vpt_pb_begin(&x->pf.out, VPT_PF_INTERNED_CONTEXTS);
	vpt_pb_uint(&x->pf.out, VPT_PF_CONTEXT_IID, *iid);
	vpt_pb_uint(&x->pf.out, VPT_PF_CONTEXT_PID, (uint64_t)pid);
	vpt_pb_uint(&x->pf.out, VPT_PF_CONTEXT_API, VPT_PF_API_CUDA);
	vpt_pb_end(&x->pf.out);
	vpa_ex_end_interned(x);
	return VPT_OK;
}

/* "Stream 7", or with its name. */
static void put_queue(
	struct vpa_ex_out *x, const struct vpa_stream *s, const struct vpa_ex_stream *d)
{
	struct vpt_text name = vpt_strings_get(&x->texts, d->name);
	struct vpt_pb *b = &x->pf.out;
	enum { NON_BLOCKING = 1 };
	char text[400];
	int len = snprintf(text, sizeof(text), "Stream %lld", (long long)s->stream);

	if (d->name)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " %.*s",
			name.len < 200 ? (int)name.len : 200, name.text);
	vpt_pb_text(b, VPT_PF_SPECIFICATION_NAME, text, strlen(text), VPT_PF_TEXT_MAX);
	len = snprintf(text, sizeof(text), "device %lld, context %llu",
		(long long)x->model->devices[s->device], (unsigned long long)s->context);
	/* Importers know neither; 0 is the default priority. */
	if (d->priority)
		len += snprintf(text + len, sizeof(text) - (size_t)len, ", priority %lld",
			(long long)d->priority);
	if (d->flags & NON_BLOCKING)
		snprintf(text + len, sizeof(text) - (size_t)len, ", non-blocking");
	vpt_pb_string(b, VPT_PF_SPECIFICATION_DESCRIPTION, text);
}

int vpa_ex_stream_describe(struct vpa_ex_out *x, struct vpa_ex_streams *o, uint32_t stream)
{
	const struct vpa_stream *s = &x->model->streams[stream];
	struct vpt_pb *b = &x->pf.out;

	if (!vpa_ex_stream_of(o, stream))
		return VPT_ENOMEM;
	if (o->items[stream].emitted == x->pf.generation)
		return VPT_OK;
	o->items[stream].emitted = x->pf.generation;
	vpa_ex_process(x, s->pid);
	if (context_iid(x, o, vpa_ex_pid(x, s->pid), s->context, &o->items[stream].context))
		return VPT_ENOMEM;
	vpa_ex_begin_interned(x, &x->gpu);
	vpt_pb_begin(b, VPT_PF_INTERNED_SPECIFICATIONS);
	vpt_pb_uint(b, VPT_PF_SPECIFICATION_IID, VPA_EX_QUEUES + stream);
	put_queue(x, s, &o->items[stream]);
	vpt_pb_uint(b, VPT_PF_SPECIFICATION_CATEGORY, COMPUTE);
	vpt_pb_end(b);
	vpa_ex_end_interned(x);
	return VPT_OK;
}
