/* flop_rates.c - operations per second of matrix products, attention and convolutions, where ranges say how many
 * operations their kernels do.
 *
 * A range says so with an annotation that has the number {"flop": N}; importers of profilers that record the
 * shapes of an operator's inputs make one, see formats/import/kineto/text/kineto_work.h. A kernel belongs to the
 * innermost such range around its launch; a range counts when it has ended, with all its kernels, whatever
 * they are: the sum of a split product is a part of it. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "analysis/folds/kernels/said_number.h"
#include "analysis/folds/kernels/stage_names.h"
#include "analysis/model/gpu_peak.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

enum family { OTHER = 0, GEMM = 1, ATTENTION = 2, CONV = 4 }; /* bits: a range may have several */

/* The kernels of an open range. */
struct work {
	uint64_t ns;
	uint32_t device, stage; /* stage: see stage_names.h; VPA_NONE: of several */
	uint8_t families, precision;
};

struct sum {
	uint64_t calls, ns, flop;
};

struct state {
	struct vpa_index ranges; /* by address, which a new range may reuse when a range is over */
	struct work *works;
	size_t work_cap;
	struct vpa_said_number flop;
	uint8_t *precisions; /* by kernel: 0 not looked up, else 1 + enum vpa_precision */
	size_t precision_cap;
	struct vpa_index sum_index; /* device, family and precision */
	struct sum *sums;
	size_t sum_cap;
	struct vpa_work_stages stages;
	int failed;
};

/* ---- kernels ---- */

static uint8_t precision_of(struct state *s, const struct vpa_fold_context *c, uint32_t kernel)
{
	struct vpt_text name = vpa_name(c->model, c->model->kernels[kernel].name);

	if (kernel >= s->precision_cap && vpt_grow_zeroed(&s->precisions, &s->precision_cap,
						  c->model->kernel_count, sizeof(*s->precisions))) {
		s->failed = 1;
		return VPA_PRECISION_UNKNOWN;
	}
	if (!s->precisions[kernel])
		s->precisions[kernel] = (uint8_t)(1 + vpa_precision_of(name.text, name.len));
	return (uint8_t)(s->precisions[kernel] - 1);
}

static void add_kernel(struct state *s, const struct vpa_fold_context *c, struct work *w,
	const struct vpa_ops *ops, size_t i, uint32_t stage)
{
	uint8_t family = ops->role[i] == VPA_ROLE_GEMM ? GEMM
			 : ops->role[i] == VPA_ROLE_FUSED || ops->role[i] == VPA_ROLE_AUX
				 ? ATTENTION
			 : ops->family[i] == VPA_FAMILY_CONV ? CONV
							     : OTHER;

	w->device = ops->device[i];
	w->stage = w->ns && w->stage != stage ? VPA_NONE : stage;
	w->ns += ops->end_ns[i] - ops->start_ns[i];
	w->families |= family;
	if (family && !w->precision)
		w->precision = precision_of(s, c, ops->kernel[i]);
}

static void add_stretch(struct state *s, const struct vpa_fold_context *c,
	const struct vpa_ops *ops, const struct vpa_op_stretch *stretch, size_t begin)
{
	size_t i;

	for (i = begin; i < stretch->end && !s->failed; i++) {
		const struct vpa_range *range;
		uint32_t row, stage;

		if (ops->kind[i] != VPA_KERNEL)
			continue;
		range = vpa_said_range(&s->flop, 1, c->model, stretch, ops->launch_start_ns[i]);
		if (!range)
			continue;
		row = vpa_index_row(&s->ranges, (uintptr_t)range, 0, &s->works, &s->work_cap,
			sizeof(*s->works));
		stage = vpa_stage_work_row(&s->stages, c, i);
		if (row == UINT32_MAX || stage == VPA_NONE)
			s->failed = 1;
		else
			add_kernel(s, c, &s->works[row], ops, i, stage);
	}
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t k, begin = 0;

	vpa_stage_work_batch(&s->stages);
	s->flop.key = "\"flop\"";
	for (k = 0; c->model->has_flop && k < ops->stretch_count; begin = ops->stretches[k++].end)
		if (ops->stretches[k].range)
			add_stretch(s, c, ops, &ops->stretches[k], begin);
	return s->failed || s->flop.failed ? VPT_ENOMEM : VPT_OK;
}

/* ---- the end of a range ---- */

static int fold_range(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct state *s = state;
	uint32_t row =
		s->ranges.count ? vpa_index_find(&s->ranges, (uintptr_t)range, 0) : UINT32_MAX;
	struct work *w;
	struct sum *sum;

	if (row == UINT32_MAX || !s->works[row].ns)
		return VPT_OK;
	w = &s->works[row];
	if (!range->unmatched && !range->cut) {
		uint64_t flop = vpa_said_number(&s->flop, c->model, range->payload);
		uint32_t at = vpa_index_row(&s->sum_index, w->device,
			(uint64_t)w->families << 8 | w->precision, &s->sums, &s->sum_cap,
			sizeof(*s->sums));

		if (at == UINT32_MAX || vpa_stage_work_add(&s->stages, w->stage, w->device,
						w->precision, flop, w->ns))
			return VPT_ENOMEM;
		sum = &s->sums[at];
		sum->calls++;
		sum->ns += w->ns;
		vpt_sat_add_to(&sum->flop, flop);
	}
	*w = (struct work){0};
	return VPT_OK;
}

/* ---- writing down ---- */

static int compare_rows(const void *pa, const void *pb)
{
	const struct vpa_flop_row *a = pa, *b = pb;
	int order;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->kernel_ns != b->kernel_ns)
		return a->kernel_ns > b->kernel_ns ? -1 : 1;
	order = strcmp(a->family, b->family);
	return order ? order
		     : strcmp(vpa_precision_name(a->precision), vpa_precision_name(b->precision));
}

static const char *family_name(unsigned families)
{
	switch (families) {
	case OTHER:
		return "other";
	case GEMM:
		return "gemm";
	case ATTENTION:
		return "attention";
	case CONV:
		return "conv";
	default:
		return "several";
	}
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_expert *e = &out->expert;
	struct state *s = state;
	size_t i;

	e->flop_rates =
		vpa_arena_alloc(&out->arena, s->sum_index.count + 1, sizeof(*e->flop_rates));
	if (!e->flop_rates)
		return VPT_ENOMEM;
	for (i = 0; i < s->sum_index.count; i++) {
		const struct vpa_index_entry *at = &s->sum_index.entries[i];
		enum vpa_precision precision = (enum vpa_precision)(at->b & 255);
		struct vpa_flop_row *row = &e->flop_rates[i];

		*row = (struct vpa_flop_row){.device = c->model->devices[at->a],
			.family = family_name((unsigned)(at->b >> 8)),
			.precision = precision,
			.calls = s->sums[i].calls,
			.kernel_ns = s->sums[i].ns,
			.flop = s->sums[i].flop,
			.share_of_peak = -1};
		row->tflops = (double)row->flop / (double)row->kernel_ns / 1e3;
		row->peak_tflops = vpa_stage_work_peak(out, row->device, precision);
		if (row->peak_tflops > 0)
			row->share_of_peak = row->tflops / row->peak_tflops;
	}
	e->flop_rate_count = s->sum_index.count;
	qsort(e->flop_rates, e->flop_rate_count, sizeof(*e->flop_rates), compare_rows);
	return vpa_stage_work_write(&s->stages, c, out);
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->ranges);
	vpa_index_free(&s->sum_index);
	vpt_free(s->works);
	vpa_said_number_free(&s->flop);
	vpt_free(s->precisions);
	vpt_free(s->sums);
	vpa_stage_work_free(&s->stages);
}

const struct vpa_fold vpa_fold_flop_rates = {
	.name = "flop_rates",
	.help = "operations per second where ranges say how many their kernels do",
	.state_bytes = sizeof(struct state),
	.wanted = vpa_fold_is_table,
	.ops = fold_ops,
	.annotated = fold_range,
	.finish = finish,
	.free = free_state,
};
