/* open_spans.c - the begin events of a thread's slices. */
#include "analysis/export/perfetto/lanes/thread_tracks.h"

#include "analysis/export/perfetto/lanes/launch_links.h"
#include "analysis/export/perfetto/lanes/result_tracks.h"
#include "formats/domains.h"

#include <string.h>

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

/* The annotation of a range: our own ranges have one, in JSON; 0: none. */
static uint32_t annotation_of(const struct vpa_ex_out *x, const struct vpa_ex_host_span *span)
{
	struct vpt_text domain = vpt_strings_get(&x->texts, span->domain);

	return span->payload == VPT_PAYLOAD_JSON && vpt_domain_is(domain, VPT_DOMAIN_OWN)
		       ? (uint32_t)span->value
		       : 0;
}

void vpa_ex_span_event(struct vpa_ex_out *x, const struct vpa_ex_host_span *span, unsigned *inside,
	struct vpa_ex_event *e)
{
	*e = (struct vpa_ex_event){.time_ns = span->start_ns,
		.name = span->name,
		.type = span->is_mark ? VPT_PF_INSTANT : VPT_PF_SLICE_BEGIN,
		.category = span->category};
	if (span->category == EX_CUDA_API) {
		const struct vpa_ex_link *link =
			span->link != EX_NO_INDEX ? &x->links->items[span->link] : NULL;

		if (span->value)
			vpa_ex_add_arg(e, EX_ARG_CORRELATION, EX_UINT, span->value);
		if (span->result)
			vpa_ex_add_arg(e, EX_ARG_RETURN_CODE, EX_INT,
				(uint64_t)(int64_t)(int32_t)span->result);
		if (link && link->count) {
			e->ops = vpa_ex_link_ops(x->links, link);
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
