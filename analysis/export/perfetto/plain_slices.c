/* plain_slices.c - ops as plain slices, for readers without support for GPUs: Perfetto before v55, and other tools that read its
 * format, show nothing of the GPU without them.
 *
 * A track per stream, lanes if its ops overlap, and an arrow from the call to the op. Left out, as slices
 * cannot show it: full launch dimensions, kernels' classes, what an op waited for. */
#include "analysis/export/perfetto/perfetto_parts.h"

#include "analysis/export/perfetto/lanes/machine.h"
#include "analysis/export/perfetto/lanes/track_event.h"
#include "analysis/export/perfetto/op_fields.h"
#include <stdio.h>

static void add_kernel_args(struct vpa_ex_event *e, const struct vpa_ex_shape *s)
{
	vpa_ex_add_arg(e, EX_ARG_GRID, EX_UINT, vpa_ex_product(s->grid));
	vpa_ex_add_arg(e, EX_ARG_WORKGROUP, EX_UINT, vpa_ex_product(s->block));
	vpa_ex_add_arg(e, EX_ARG_REGISTERS, EX_UINT, s->registers);
	vpa_ex_add_arg(e, EX_ARG_STATIC, EX_UINT, s->static_shared);
	vpa_ex_add_arg(e, EX_ARG_DYNAMIC, EX_UINT, s->dynamic_shared);
}

int vpa_ex_op_slice(struct vpa_ex_out *x, struct vpa_ex_streams *streams,
	const struct vpa_numbered_op *op, const struct vpa_ex_shape *s)
{
	static const uint8_t categories[] = {
		[VPA_KERNEL] = EX_KERNEL, [VPA_MEMCPY] = EX_MEMCPY, [VPA_MEMSET] = EX_MEMSET};
	const struct vpa_stream *stream = &x->model->streams[op->stream];
	struct vpa_ex_stream *d = vpa_ex_stream_of(streams, op->stream);
	const struct vpa_ex_gpu *gpu = vpa_ex_gpu_of(x, stream->device);
	char name[64], key[96];
	struct vpa_ex_lane_words words = {vpa_ex_process(x, stream->pid), name, key, NULL, 0};
	struct vpa_ex_event e = {.time_ns = op->start_ns, .ops = &op->number, .op_count = 1};
	struct vpa_ex_lane *lane;

	if (!d || !gpu)
		return VPT_ENOMEM;
	snprintf(name, sizeof(name), "GPU %u stream %lld", gpu->gpu_id, (long long)stream->stream);
	snprintf(key, sizeof(key), "%llx %s %llu", (unsigned long long)words.parent, name,
		(unsigned long long)stream->context);
	lane = vpa_ex_lane(x, &d->slices, op->start_ns, op->end_ns, key, &words);
	if (!lane)
		return VPT_ENOMEM;
	e.track = lane->uuid;
	e.category = categories[s->kind];
	e.name = s->kind == VPA_KERNEL ? vpa_ex_short_name(x, s->kernel) : vpa_ex_copy_name(x, s);
	vpa_ex_add_arg(&e, EX_ARG_DEVICE, EX_INT, (uint64_t)x->model->devices[stream->device]);
	vpa_ex_add_arg(&e, EX_ARG_STREAM, EX_INT, (uint64_t)stream->stream);
	if (s->kind == VPA_KERNEL)
		add_kernel_args(&e, s);
	else
		vpa_ex_add_arg(&e, EX_ARG_BYTES, EX_UINT, s->bytes);
	if (s->node)
		vpa_ex_add_arg(&e, EX_ARG_NODE, EX_UINT, s->node);
	vpa_ex_span(x, &x->gpu, &e, op->end_ns);
	return x->pf.failed;
}
