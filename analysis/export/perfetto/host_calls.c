/* host_calls.c - slices of CUDA calls, which are most of what threads do: encoded by hand.
 *
 * What is alike in all calls of a name on a thread stands first and is encoded once; the correlation id, the number of the op and
 * the time come last, see perfetto.h. */
#include "analysis/export/perfetto/host.h"

enum {
	TYPE = 9,
	CATEGORY = 3,
	NAME = 10,
	ARGUMENT = 4,
	GPU_CORRELATION = 3000,
	GPU_API = 3001,
	API_CUDA = 4
};

/* Has all told that calls of the name refer to. */
static int make_form(struct vpa_export *x, struct vpa_ex_thread *t, uint32_t name, int has_ops,
	struct vpa_ex_call_form *form)
{
	uint8_t *to = form->bytes;

	vpa_ex_tables(x, &t->sequence);
	form->name = name;
	to = vpt_pb_uint_at(to, TYPE, VPT_PF_SLICE_BEGIN);
	to = vpt_pb_uint_at(to, CATEGORY, EX_CUDA_API + 1);
	to = vpt_pb_uint_at(to, NAME, vpa_ex_text_iid(x, &t->sequence, VPT_PF_NAMES, name));
	if (has_ops)
		to = vpt_pb_uint_at(to, GPU_API, API_CUDA);
	form->size = (uint8_t)(to - form->bytes);
	form->generation = x->pf.generation;
	return x->pf.failed;
}

static inline int put_end(struct vpa_export *x, struct vpa_ex_thread *t, uint64_t time_ns)
{
	static const uint8_t end[] = {VPT_PF_TRACK_EVENT << 3 | 2, 2, TYPE << 3, VPT_PF_SLICE_END};
	uint8_t *to;

	vpt_pf_next(&x->pf);
	vpt_pf_resume(&x->pf, &t->sequence);
	to = vpt_pf_packet_at(&x->pf, sizeof(end));
	if (!to)
		return VPT_ENOMEM;
	memcpy(to, end, sizeof(end));
	to += sizeof(end);
	vpt_pf_packet_end(&x->pf, vpt_pf_padded_time_at(&t->sequence, to, time_ns + x->shift_ns));
	return x->pf.failed;
}

int vpa_ex_slice_end(struct vpa_export *x, struct vpa_ex_thread *t, uint64_t time_ns)
{
	return put_end(x, t, time_ns);
}

int vpa_ex_call_write(struct vpa_export *x, struct vpa_ex_thread *t, const struct vpa_ex_call *call,
	uint32_t ops, int ends)
{
	enum { MOST = 160 };
	struct vpa_ex_call_form *form =
		&(ops ? t->forms_with_ops : t->forms)[call->name % EX_CALL_FORMS];
	uint8_t *to, *content, *inner;

	vpt_pf_next(&x->pf);
	if ((form->name != call->name || form->generation != x->pf.generation) &&
		make_form(x, t, call->name, ops != 0, form))
		return x->pf.failed;
	vpt_pf_resume(&x->pf, &t->sequence);
	to = vpt_pf_packet_at(&x->pf, MOST);
	if (!to)
		return VPT_ENOMEM;
	*to++ = VPT_PF_TRACK_EVENT << 3 | 2;
	content = ++to;
	memcpy(to, form->bytes, sizeof(form->bytes));
	to += form->size;
	if (call->correlation) {
		*to++ = ARGUMENT << 3 | 2;
		inner = ++to;
		to = vpt_pb_uint_at(to, 1, EX_ARG_CORRELATION + 1);
		to = vpt_pb_uint_at(to, EX_UINT, call->correlation);
		inner[-1] = (uint8_t)(to - inner);
	}
	if (ops) {
		to = vpt_pb_varint_at(to, GPU_CORRELATION << 3 | 2);
		inner = ++to;
		*to++ = 1 << 3;
		to = vpa_ex_op_id_at(x, to, x->host->links[call->link].first);
		inner[-1] = (uint8_t)(to - inner);
	}
	to = vpt_pb_close_at(content, to);
	vpt_pf_packet_end(
		&x->pf, vpt_pf_padded_time_at(&t->sequence, to, call->start_ns + x->shift_ns));
	return ends ? put_end(x, t, call->end_ns) : x->pf.failed;
}
