/* check_loop.c - the loop among the report's blocks, marked steps, iterations and inferred steps, and how many ops a unit of it has. */
#include "analysis/folds/gaps/check_loop.h"

#include "analysis/pipeline/unit.h"
#include "formats/base/saturate.h"

const struct vpa_stage_row *vpa_stage_of_kind(const struct vpa_report *r, enum vpa_scope_kind kind)
{
	size_t i;

	for (i = 0; i < r->stage_count; i++)
		if (r->stages[i].kind == kind)
			return &r->stages[i];
	return NULL;
}

static void count_ops(struct vpa_check_loop *out, const struct vpa_stage_row *row, const char *of)
{
	if (!row || !row->ops)
		return;
	out->ops_of = of;
	out->ops = row->ops;
	out->ops_count = row->in_blocks ? row->in_blocks : row->count;
}

static void count_block_ops(
	const struct vpa_report *r, const struct vpa_mean_unit *unit, struct vpa_check_loop *out)
{
	count_ops(out, vpa_stage_of_kind(r, VPA_SCOPE_STEP), "step");
	if (out->ops_of || !unit->ops)
		return;
	out->ops = unit->ops;
	out->ops_of = "block";
	out->ops_count = vpa_main_request(r)->blocks.measured;
}

/* Those of the first GPU that has some. */
static void find_inferred(const struct vpa_inferred *row, struct vpa_check_loop *out)
{
	out->count = row->step_count;
	out->span_ns = vpt_sat_sub(out->end_ns, out->start_ns);
	out->busy_ns = row->busy_ns;
	out->idle_ns = row->idle_ns;
	out->ops_of = "step";
	out->ops = row->ops;
	out->ops_count = row->step_count;
}

/* The steps of all requests, and what the devices did from one to the next. Where no step follows another, only the
 * steps' own times are known. */
static void find_steps(
	const struct vpa_report *r, const struct vpa_stage_row *steps, struct vpa_check_loop *out)
{
	size_t i;

	*out = (struct vpa_check_loop){.kind = VPA_UNIT_STEP};
	for (i = 0; i < r->request_count; i++) {
		const struct vpa_request *q = &r->requests[i];

		if (!q->steps.count)
			continue;
		vpt_sat_add_to(&out->count, q->steps.count);
		if (q->steps.s_per_it > 0)
			vpt_sat_add_to(&out->span_ns,
				vpt_sat_u64(
					q->steps.s_per_it * 1e9 * (double)q->steps.count + 0.5));
		vpt_sat_add_to(&out->busy_ns, q->loop.busy_ns);
		vpt_sat_add_to(&out->idle_ns, q->loop.idle_ns);
		out->is_whole |= q->loop.devices != 0;
	}
	if (!out->is_whole) {
		out->busy_ns = steps->busy_ns;
		out->idle_ns = steps->idle_ns;
	}
	count_ops(out, steps, "step");
}

void vpa_check_loop_find(const struct vpa_report *r, struct vpa_check_loop *out)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	const struct vpa_stage_row *steps = vpa_stage_of_kind(r, VPA_SCOPE_STEP);

	*out = (struct vpa_check_loop){.kind = unit.kind,
		.is_whole = unit.has_parts,
		.count = (uint64_t)unit.units,
		.start_ns = unit.start_ns,
		.first_end_ns = unit.first_end_ns,
		.end_ns = unit.end_ns,
		.span_ns = unit.span_ns,
		.busy_ns = unit.busy_ns,
		.idle_ns = unit.idle_ns};
	/* What the host did before the only one's first op is a part of it. */
	if (unit.from_host)
		out->idle_ns =
			vpt_sat_sub(vpt_sat_mul(unit.span_ns, r->device_count), unit.busy_ns);
	switch (unit.kind) {
	case VPA_UNIT_BLOCK:
		count_block_ops(r, &unit, out);
		break;
	case VPA_UNIT_STEP:
		if (steps)
			find_steps(r, steps, out);
		break;
	case VPA_UNIT_ITERATION:
		count_ops(out, vpa_stage_of_kind(r, VPA_SCOPE_ITERATION), "iteration");
		break;
	case VPA_UNIT_INFERRED:
		find_inferred(&r->inferred[0], out);
		break;
	default:
		break;
	}
}
