/* op_slices.c - kernels, copies and memsets as Perfetto's render stage events, in one order.
 *
 * Rows of all streams wait here until no earlier one can come, then are emitted in order of start.
 * Those of a stream come in order, so only a few runs need merging. */
#include "analysis/export/perfetto/perfetto_parts.h"

#include "analysis/export/perfetto/lanes/launch_links.h"
#include "analysis/export/perfetto/op_fields.h"
#include "analysis/export/sorted_runs.h"
#include "analysis/join/call_waits.h"
#include "analysis/join/resolver_maps.h"
#include "formats/base/memory.h"

#include <string.h>

/* A pending op. */
struct op {
	uint64_t start_ns, end_ns, correlation;
	uint32_t stream, shape;
};

struct vpa_ex_ops {
	struct vpa_ex_out *x;
	struct vpa_ex_shapes shapes;
	struct vpa_ex_streams streams;
	struct vpa_ex_forms forms;
	struct vpa_runs pending; /* of struct op */
	struct vpa_op_waits *waits;
	int has_waits;      /* some stream may wait */
	int has_call_waits; /* some call may wait */
	uint32_t number;    /* of the last op */
};

struct vpa_ex_ops *vpa_ex_ops_new(struct vpa_ex_out *x, struct vpa_op_waits *waits)
{
	struct vpa_ex_ops *o = vpt_calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->x = x;
	o->waits = waits;
	return o;
}

void vpa_ex_ops_free(struct vpa_ex_ops *o)
{
	if (!o)
		return;
	vpa_ex_shapes_free(&o->shapes);
	vpa_ex_streams_free(&o->streams);
	vpa_ex_forms_free(&o->forms);
	vpa_runs_free(&o->pending);
	vpt_free(o);
}

/* ---- rows in ---- */

/* Clips an op to the window, as the resolver does. Returns whether anything is left. */
static int clip(const struct vpa_model *m, struct op *op)
{
	if (!vpa_is_op_valid(m, op->start_ns, op->end_ns) ||
		!vpa_is_op_in_window(m, op->start_ns, op->end_ns))
		return 0;
	if (op->start_ns < m->window_start_ns)
		op->start_ns = m->window_start_ns;
	if (op->end_ns > m->window_end_ns)
		op->end_ns = m->window_end_ns;
	return 1;
}

static inline int is_after(const void *pa, const void *pb, void *unused)
{
	const struct op *a = pa, *b = pb;

	(void)unused;
	if (a->start_ns != b->start_ns)
		return a->start_ns > b->start_ns;
	if (a->stream != b->stream)
		return a->stream > b->stream;
	if (a->correlation != b->correlation)
		return a->correlation > b->correlation;
	return a->end_ns > b->end_ns;
}

int vpa_ex_ops_add(struct vpa_ex_ops *o, const struct vpt_batch *b, const struct vpt_section *s)
{
	struct vpa_resolver *resolver = o->x->view.resolver;
	struct vpa_ex_shapes *shapes = &o->shapes;
	int is_kernel = s->kind == VPT_KERNEL;
	uint32_t row, stream;
	int rc = vpa_ex_shapes_section(shapes, b);

	if (!rc)
		rc = vpa_maps_stream(resolver, s->lane, &stream);
	if (rc || vpa_runs_reserve(&o->pending, s->row_count, sizeof(struct op)))
		return VPT_ENOMEM;
	for (row = 0; row < s->row_count && !rc; row++) {
		/* Written in place, field by field: copying what has just been written is slow. */
		struct op *op = (struct op *)o->pending.items + o->pending.count;

		op->start_ns = s->col[0][row];
		op->end_ns = op->start_ns + s->col[1][row];
		op->stream = stream;
		if (!clip(o->x->model, op))
			continue;
		if (is_kernel) {
			uint64_t config = s->col[VPT_KERNEL_CONFIG][row];
			uint64_t node = s->col[VPT_KERNEL_GRAPH_NODE][row];

			op->correlation = s->col[VPT_KERNEL_CORRELATION][row];
			if (config < shapes->row_count && shapes->of_row[config])
				op->shape = shapes->of_row[config] - 1;
			else
				rc = vpa_ex_config_shape(
					shapes, resolver, b, config, stream, &op->shape);
			if (node && !rc)
				rc = vpa_ex_node_shape(shapes, node, &op->shape);
		} else {
			op->correlation = s->col[VPT_COPY_CORRELATION][row];
			rc = vpa_ex_copy_shape(shapes, s, row, stream, &op->shape);
		}
		if (!rc)
			rc = vpa_runs_put(&o->pending, sizeof(*op), is_after);
	}
	return rc ? rc : vpa_ex_forms_reserve(&o->forms, shapes->shapes.count);
}

int vpa_ex_ops_syncs(struct vpa_ex_ops *o, const struct vpt_section *s)
{
	struct vpa_ex_out *x = o->x;
	int rc = vpa_op_waits_add(o->waits, s);

	o->has_waits = 1;
	if (rc || s->kind != VPT_SYNC || x->options->no_api)
		return rc;
	rc = vpa_call_waits_add(x->call_waits, s);
	o->has_call_waits = vpa_call_waits_any(x->call_waits);
	return rc;
}

int vpa_ex_ops_lanes(struct vpa_ex_ops *o, const struct vpt_batch *b)
{
	return vpa_ex_streams_add(o->x, &o->streams, b);
}

/* ---- events out ---- */

/* The ops that an op waited for. */
struct waits {
	uint32_t numbers[VPA_OP_WAITS_MAX];
	size_t count;
};

/* The form of an op comes first; its times and number, which are its own, come last: see perfetto_packets.h. */
static uint8_t *put_event(const struct vpa_ex_ops *o, uint8_t *to, const struct op *op,
	const struct vpa_ex_form *form, const struct waits *waits)
{
	const struct vpa_ex_out *x = o->x;
	uint8_t *content;
	size_t i;

	to = vpt_pb_varint_at(to, VPT_PF_PACKET_RENDER << 3 | 2);
	content = ++to;
	if (form->size <= VPA_EX_FORM_COPY)
		memcpy(to, o->forms.encoded.data + form->begin, VPA_EX_FORM_COPY);
	else
		memcpy(to, o->forms.encoded.data + form->begin, form->size);
	to += form->size;
	for (i = 0; i < waits->count; i++) {
		to = vpt_pb_varint_at(to, VPT_PF_RENDER_WAITS << 3);
		to = vpa_ex_op_id_at(x, to, waits->numbers[i]);
	}
	*to++ = VPT_PF_RENDER_DURATION << 3;
	to = vpt_pb_varint_at(to, vpa_ex_length(x, op->start_ns, op->end_ns));
	*to++ = VPT_PF_RENDER_ID << 3;
	to = vpa_ex_op_id_at(x, to, o->number);
	return vpt_pb_close_at(content, to);
}

static int write_slice(struct vpa_ex_ops *o, const struct vpa_numbered_op *op, uint32_t shape)
{
	struct vpa_ex_shape s;

	vpa_ex_shape_get(&o->shapes, shape, &s);
	return vpa_ex_op_slice(o->x, &o->streams, op, &s);
}

static int make_form(struct vpa_ex_ops *o, uint32_t shape)
{
	struct vpa_ex_shape s;

	vpa_ex_shape_get(&o->shapes, shape, &s);
	return vpa_ex_form_make(o->x, &o->forms, &o->streams, &s, shape);
}

static int write_op(struct vpa_ex_ops *o, const struct op *op)
{
	enum {
		WAIT = VPT_PB_VARINT + 2,
		BESIDES = 3 * VPT_PB_VARINT + 8 + VPA_OP_WAITS_MAX * WAIT
	};
	struct vpa_ex_out *x = o->x;
	const struct vpa_ex_form *form = &o->forms.items[op->shape];
	struct vpa_numbered_op numbered = {
		op->start_ns, op->end_ns, op->correlation, op->stream, o->number + 1};
	int is_joined = op->end_ns > op->start_ns && op->correlation;
	struct waits waits = {0};
	uint8_t *to;

	if (x->options->gpu_as_slices) {
		o->number++;
		if (is_joined)
			vpa_ex_links_join(x, op->stream, op->correlation, o->number);
		return write_slice(o, &numbered, op->shape);
	}
	vpt_pf_next(&x->pf);
	if (__builtin_expect(form->generation != x->pf.generation, 0) && make_form(o, op->shape))
		return VPT_ENOMEM;
	o->number++;
	if (o->has_waits) {
		waits.count = vpa_op_waits_of(o->waits, &numbered, waits.numbers);
		vpa_op_waits_done(o->waits, &numbered);
	}
	if (o->has_call_waits && vpa_call_waits_done(x->call_waits, &numbered))
		return VPT_ENOMEM;
	if (is_joined)
		vpa_ex_links_join(x, op->stream, op->correlation, o->number);
	vpt_pf_resume(&x->pf, &x->gpu);
	to = vpt_pf_packet_at(&x->pf, (size_t)form->size + VPA_EX_FORM_COPY + BESIDES);
	if (!to)
		return VPT_ENOMEM;
	to = put_event(o, to, op, form, &waits);
	vpt_pf_packet_end(&x->pf, vpt_pf_time_at(&x->gpu, to, vpa_ex_time(x, op->start_ns)));
	return x->pf.failed;
}

/* Starts over when there are very many shapes, with those of the pending ops. */
static int renew_shapes(struct vpa_ex_ops *o)
{
	struct op *items = o->pending.items;
	struct vpt_strings former;
	size_t i;
	int rc = VPT_OK;

	if (!vpa_ex_shapes_renew(&o->shapes, &former))
		return VPT_OK;
	vpa_ex_forms_forget(&o->forms);
	for (i = 0; i < o->pending.count && !rc; i++)
		rc = vpa_ex_shape_move(&o->shapes, &former, &items[i].shape);
	vpt_strings_free(&former);
	return rc ? rc : vpa_ex_forms_reserve(&o->forms, o->shapes.shapes.count);
}

int vpa_ex_ops_release(struct vpa_ex_ops *o, uint64_t until_ns)
{
	const struct op *items;
	size_t done = 0;
	int rc = VPT_OK;

	vpa_runs_sort(&o->pending, sizeof(*items), is_after);
	items = o->pending.items;
	while (done < o->pending.count && items[done].start_ns < until_ns && !rc)
		rc = write_op(o, &items[done++]);
	if (o->has_call_waits && !rc)
		rc = vpa_call_waits_until(o->x->call_waits, until_ns);
	if (vpa_runs_drop(&o->pending, done, sizeof(*items)))
		return VPT_ENOMEM;
	return rc ? rc : renew_shapes(o);
}
