/* track_event.c - track events: slices, marks and their arguments. */
#include "analysis/export/perfetto/lanes/track_event.h"

#include <string.h>

static const char *const arg_names[EX_ARGS] = {
	[EX_ARG_CORRELATION] = "correlation",
	[EX_ARG_RETURN_CODE] = "return_code",
	[EX_ARG_DOMAIN] = "domain",
	[EX_ARG_PAYLOAD] = "payload",
	[EX_ARG_COLOR] = "color",
	[EX_ARG_NVTX_CATEGORY] = "nvtx_category",
	[EX_ARG_OPS] = "ops",
	[EX_ARG_BUSY] = "gpu_busy_pct",
	[EX_ARG_NVTX] = "nvtx",
	[EX_ARG_STAGE] = "stage",
	[EX_ARG_STEP] = "step",
	[EX_ARG_BLOCK] = "block",
	[EX_ARG_ATTENTION_NS] = "attention_ns",
	[EX_ARG_IMPL] = "impl",
	[EX_ARG_ID] = "id",
	[EX_ARG_GPU] = "gpu",
	[EX_ARG_CAUSE] = "cause",
	[EX_ARG_CAUSE_NS] = "cause_ns",
	[EX_ARG_THEN] = "then",
	[EX_ARG_THEN_NS] = "then_ns",
	[EX_ARG_CALL] = "call",
	[EX_ARG_RANGE] = "range",
	[EX_ARG_HOST] = "host",
	[EX_ARG_HOST_RANGE] = "host_range",
	[EX_ARG_PREVIOUS] = "prev_kernel",
	[EX_ARG_NEXT] = "next_kernel",
	[EX_ARG_LINE] = "line",
	[EX_ARG_LINE_SHARE] = "line_share",
	[EX_ARG_LINE_SAMPLES] = "line_samples",
	[EX_ARG_DEVICE] = "device",
	[EX_ARG_STREAM] = "stream",
	[EX_ARG_GRID] = "grid_size",
	[EX_ARG_WORKGROUP] = "workgroup_size",
	[EX_ARG_REGISTERS] = "registers_per_thread",
	[EX_ARG_STATIC] = "shared_mem_static",
	[EX_ARG_DYNAMIC] = "shared_mem_dynamic",
	[EX_ARG_NODE] = "graph_node_id",
	[EX_ARG_BYTES] = "bytes",
};

static const char *const categories[EX_CATEGORIES] = {
	[EX_CUDA_API] = "cuda_api",
	[EX_NVTX] = "nvtx",
	[EX_CPU_OP] = "cpu_op",
	[EX_PIPELINE] = "pipeline",
	[EX_STEP] = "step",
	[EX_BLOCK] = "block",
	[EX_ATTENTION] = "attention",
	[EX_IDLE] = "idle",
	[EX_COUNTER] = "counter",
	[EX_KERNEL] = "kernel",
	[EX_MEMCPY] = "memcpy",
	[EX_MEMSET] = "memset",
};

void vpa_ex_add_arg(struct vpa_ex_event *e, enum vpa_ex_arg_name name, enum vpa_ex_arg_type type,
	uint64_t value)
{
	if (e->arg_count < EX_ARGS_MAX)
		e->args[e->arg_count++] = (struct vpa_ex_arg){(uint8_t)name, (uint8_t)type, value};
}

void vpa_ex_add_double(struct vpa_ex_event *e, enum vpa_ex_arg_name name, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	vpa_ex_add_arg(e, name, EX_DOUBLE, bits);
}

void vpa_ex_add_text(struct vpa_ex_event *e, enum vpa_ex_arg_name name, uint32_t text)
{
	if (text)
		vpa_ex_add_arg(e, name, EX_TEXT, text);
}

/* Categories and names of arguments are emitted when a sequence begins: their numbers are those of the
 * enums, from 1. */
static void tell_words(struct vpt_pb *b, unsigned table, const char *const *words, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		vpt_pb_begin(b, table);
		vpt_pb_uint(b, VPT_PF_NAMED_IID, i + 1);
		vpt_pb_string(b, VPT_PF_NAMED_NAME, words[i]);
		vpt_pb_end(b);
	}
}

void vpa_ex_tell_tables(struct vpa_ex_out *x, struct vpt_pf_sequence *s)
{
	struct vpt_pb *b = &x->pf.out;

	s->tables = x->pf.generation;
	vpt_pf_begin_timeless(&x->pf, s);
	vpt_pb_begin(b, VPT_PF_PACKET_INTERNED);
	tell_words(b, VPT_PF_INTERNED_CATEGORIES, categories, EX_CATEGORIES);
	tell_words(b, VPT_PF_INTERNED_ARG_NAMES, arg_names, EX_ARGS);
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
}

static uint8_t *arg_at(uint8_t *to, const struct vpa_ex_arg *a, uint64_t value)
{
	uint8_t *content;

	*to++ = VPT_PF_EVENT_ANNOTATIONS << 3 | 2;
	content = ++to;
	to = vpt_pb_uint_at(to, VPT_PF_ANNOTATION_NAME, a->name + 1u);
	if (a->type == EX_DOUBLE)
		to = vpt_pb_fixed_at(to, EX_DOUBLE, value);
	else
		to = vpt_pb_uint_at(to, a->type, value);
	content[-1] = (uint8_t)(to - content);
	return to;
}

static uint8_t *ops_at(struct vpa_ex_out *x, uint8_t *to, const struct vpa_ex_event *e)
{
	uint8_t *content;
	size_t i;

	for (i = 0; i < e->op_count && x->options->gpu_as_slices; i++)
		to = vpt_pb_fixed_at(to, VPT_PF_EVENT_FLOWS, vpa_ex_op_id(x, e->ops[i]));
	if (x->options->gpu_as_slices)
		return to;
	to = vpt_pb_uint_at(to, VPT_PF_EVENT_API, VPT_PF_API_CUDA);
	to = vpt_pb_varint_at(to, VPT_PF_EVENT_CORRELATION << 3 | 2);
	content = ++to;
	for (i = 0; i < e->op_count; i++)
		to = vpt_pb_uint_at(to, VPT_PF_CORRELATION_SUBMISSIONS, vpa_ex_op_id(x, e->ops[i]));
	for (i = 0; i < e->wait_count; i++)
		to = vpt_pb_uint_at(to, VPT_PF_CORRELATION_WAITS, vpa_ex_op_id(x, e->waits[i]));
	return vpt_pb_close_at(content, to);
}

/* A call with too many ops for the hand-written path. */
static void put_long(struct vpa_ex_out *x, struct vpt_pf_sequence *s, const struct vpa_ex_event *e,
	uint32_t name, const uint8_t *rest, size_t size)
{
	struct vpt_pb *b = &x->pf.out;
	size_t i;

	vpt_pf_begin(&x->pf, s, vpa_ex_time(x, e->time_ns));
	vpt_pb_begin(b, VPT_PF_PACKET_TRACK_EVENT);
	vpt_pb_uint(b, VPT_PF_EVENT_TYPE, e->type);
	if (e->track)
		vpt_pb_uint(b, VPT_PF_EVENT_TRACK, e->track);
	vpt_pb_uint(b, VPT_PF_EVENT_CATEGORY, e->category + 1u);
	vpt_pb_uint(b, VPT_PF_EVENT_NAME, name);
	vpt_pb_raw(b, rest, size);
	for (i = 0; i < e->op_count && x->options->gpu_as_slices; i++) {
		uint8_t flow[16];

		vpt_pb_raw(b, flow,
			(size_t)(vpt_pb_fixed_at(
					 flow, VPT_PF_EVENT_FLOWS, vpa_ex_op_id(x, e->ops[i])) -
				 flow));
	}
	if (!x->options->gpu_as_slices) {
		vpt_pb_begin(b, VPT_PF_EVENT_CORRELATION);
		for (i = 0; i < e->op_count; i++)
			vpt_pb_uint(b, VPT_PF_CORRELATION_SUBMISSIONS, vpa_ex_op_id(x, e->ops[i]));
		vpt_pb_end(b);
		vpt_pb_uint(b, VPT_PF_EVENT_API, VPT_PF_API_CUDA);
	}
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
}

void vpa_ex_event(struct vpa_ex_out *x, struct vpt_pf_sequence *s, const struct vpa_ex_event *e)
{
	enum { ARG_MOST = 24, BY_HAND_MAX = 256, REST = 64 };
	uint8_t args[EX_ARGS_MAX * ARG_MOST], *end = args, *to, *content;
	int has_name = e->type == VPT_PF_SLICE_BEGIN || e->type == VPT_PF_INSTANT;
	uint32_t name = 0;
	unsigned i;

	vpt_pf_next(&x->pf);
	vpa_ex_tables(x, s);
	if (has_name)
		name = vpa_ex_text_iid(x, s, VPT_PF_INTERNED_NAMES, e->name);
	for (i = 0; i < e->arg_count; i++) {
		const struct vpa_ex_arg *a = &e->args[i];

		end = arg_at(end, a,
			a->type == EX_TEXT
				? vpa_ex_text_iid(x, s, VPT_PF_INTERNED_TEXTS, (uint32_t)a->value)
				: a->value);
	}
	if (e->op_count > BY_HAND_MAX) {
		put_long(x, s, e, name, args, (size_t)(end - args));
		return;
	}
	vpt_pf_resume(&x->pf, s);
	to = vpt_pf_packet_at(
		&x->pf, sizeof(args) + REST + (e->op_count + e->wait_count) * (VPT_PB_VARINT + 1));
	if (!to)
		return;
	*to++ = VPT_PF_PACKET_TRACK_EVENT << 3 | 2;
	content = ++to;
	to = vpt_pb_uint_at(to, VPT_PF_EVENT_TYPE, e->type);
	if (e->track)
		to = vpt_pb_uint_at(to, VPT_PF_EVENT_TRACK, e->track);
	if (has_name) {
		to = vpt_pb_uint_at(to, VPT_PF_EVENT_CATEGORY, e->category + 1u);
		to = vpt_pb_uint_at(to, VPT_PF_EVENT_NAME, name);
	}
	memcpy(to, args, (size_t)(end - args));
	to += end - args;
	if (e->op_count || e->wait_count)
		to = ops_at(x, to, e);
	to = vpt_pb_close_at(content, to);
	vpt_pf_packet_end(&x->pf, vpt_pf_padded_time_at(s, to, vpa_ex_time(x, e->time_ns)));
}

void vpa_ex_span(struct vpa_ex_out *x, struct vpt_pf_sequence *s, struct vpa_ex_event *begin,
	uint64_t end_ns)
{
	struct vpa_ex_event end = {
		.time_ns = end_ns, .track = begin->track, .type = VPT_PF_SLICE_END};

	begin->type = VPT_PF_SLICE_BEGIN;
	vpa_ex_event(x, s, begin);
	vpa_ex_event(x, s, &end);
}
