/* ops_write.c - ops as Perfetto's render stage events. */
#include "analysis/export/perfetto/ops.h"

/* Ops that one has waited for. */
struct waits {
	uint32_t numbers[VPA_EX_WAITS_MAX];
	size_t count;
};

/* The form of an op stands first and its times and number, which are its own, last: see perfetto.h. */
static uint8_t *put_event(struct vpa_export *x, uint8_t *to, const struct vpa_ex_op *op,
	const struct vpa_ex_form *form, const struct waits *waits)
{
	const struct vpa_ex_ops *o = x->ops;
	uint8_t *content;
	size_t i;

	to = vpt_pb_varint_at(to, VPT_PF_RENDER_STAGE << 3 | 2);
	content = ++to;
	if (form->size <= VPA_EX_FORM_COPY)
		memcpy(to, o->encoded.data + form->begin, VPA_EX_FORM_COPY);
	else
		memcpy(to, o->encoded.data + form->begin, form->size);
	to += form->size;
	for (i = 0; i < waits->count; i++) {
		to = vpt_pb_varint_at(to, 18 << 3);
		to = vpa_ex_op_id_at(x, to, waits->numbers[i]);
	}
	*to++ = 2 << 3;
	to = vpt_pb_varint_at(to, op->end_ns - op->start_ns);
	*to++ = 1 << 3;
	to = vpa_ex_op_id_at(x, to, o->number);
	return vpt_pb_close_at(content, to);
}

int vpa_ex_op_write(struct vpa_export *x, const struct vpa_ex_op *op)
{
	enum {
		WAIT = VPT_PB_VARINT + 2,
		BESIDES = 3 * VPT_PB_VARINT + 8 + VPA_EX_WAITS_MAX * WAIT
	};
	struct vpa_ex_ops *o = x->ops;
	const struct vpa_ex_form *form = &o->forms[op->shape];
	struct waits waits = {0};
	uint8_t *to;

	if (x->options->gpu_as_slices) {
		o->number++;
		if (op->end_ns > op->start_ns && op->correlation)
			vpa_ex_host_join(x, op->stream, op->correlation, o->number);
		return vpa_ex_op_slice(x, op, o->number);
	}
	vpt_pf_next(&x->pf);
	if (__builtin_expect(form->generation != x->pf.generation, 0) &&
		vpa_ex_form_make(x, op->shape))
		return VPT_ENOMEM;
	o->number++;
	if (o->waits) {
		waits.count = vpa_ex_waits_of(x, op, waits.numbers);
		vpa_ex_waits_done(x, op, o->number);
	}
	if (o->syncs && vpa_ex_syncs_done(x, op, o->number))
		return VPT_ENOMEM;
	if (op->end_ns > op->start_ns && op->correlation)
		vpa_ex_host_join(x, op->stream, op->correlation, o->number);
	vpt_pf_resume(&x->pf, &x->gpu);
	to = vpt_pf_packet_at(&x->pf, (size_t)form->size + VPA_EX_FORM_COPY + BESIDES);
	if (!to)
		return VPT_ENOMEM;
	to = put_event(x, to, op, form, &waits);
	vpt_pf_packet_end(&x->pf, vpt_pf_time_at(&x->gpu, to, op->start_ns + x->shift_ns));
	return x->pf.failed;
}
