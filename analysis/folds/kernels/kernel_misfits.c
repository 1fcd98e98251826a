/* kernel_misfits.c - kernels whose names show that a format costs time: matrix products that load one element
 * at a time, FP32 among narrower ones, copies between the layouts that convolutions want, and kernels that a library falls back to
 * where it has none for a format or GPU.
 *
 * Reads the table of kernels, with the rows that the report does not list. PyTorch's own copies between
 * layouts have a name that many copies have: they are found by the operators around them. */
#include "analysis/folds/fold.h"

#include "analysis/names/demangle.h"
#include "analysis/names/number_format.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <stdlib.h>
#include <string.h>

enum { RANGES_LOOKED_AT = 16 /* around a launch */ };

/* What is known of an operator's name. 0: not looked up yet. */
enum { KNOWN = 1, CONTIGUOUS = 2, CONVOLUTION = 4 };

struct copies {
	uint64_t calls, ns;
};

struct state {
	uint8_t *names; /* by name */
	size_t name_cap;
	struct copies *copies; /* between layouts, by kernel */
	size_t copy_cap;
	int failed; /* no memory */
};

/* ---- PyTorch's copies between layouts ---- */

static uint8_t judge_name(struct vpt_text name)
{
	int is_operator = name.len > 6 && !memcmp(name.text, "aten::", 6);

	return KNOWN | (vpt_text_is(name, "aten::contiguous") ? CONTIGUOUS : 0) |
	       (is_operator && vpt_text_holds(name, "conv") ? CONVOLUTION : 0);
}

static uint8_t know(struct state *s, const struct vpa_fold_context *c, uint32_t name)
{
	if (name >= s->name_cap && vpt_grow_zeroed(&s->names, &s->name_cap, c->model->names.count,
					   sizeof(*s->names))) {
		s->failed = 1;
		return 0;
	}
	if (!s->names[name])
		s->names[name] = judge_name(vpa_name(c->model, name));
	return s->names[name];
}

/* Whether a launch was in aten::contiguous, and that in a convolution. */
static int is_for_convolution(struct state *s, const struct vpa_fold_context *c,
	const struct vpa_op_stretch *stretch, uint64_t at_ns)
{
	const struct vpa_range *range = vpa_range_open_at(stretch->range, at_ns);
	int is_contiguous = 0;
	size_t n;

	for (n = 0; range && n < RANGES_LOOKED_AT; n++) {
		uint8_t known = range->level == VPA_LEVEL_OPERATOR ? know(s, c, range->name) : 0;

		if (is_contiguous && known & CONVOLUTION)
			return 1;
		is_contiguous |= known & CONTIGUOUS;
		range = vpa_range_around(range, at_ns);
	}
	return 0;
}

/* Ops [begin, end) of a stretch. */
static void add_stretch(struct state *s, const struct vpa_fold_context *c,
	const struct vpa_ops *ops, const struct vpa_op_stretch *stretch, size_t begin)
{
	size_t i;

	for (i = begin; i < stretch->end && !s->failed; i++) {
		uint32_t kernel = ops->kernel[i];

		if (kernel == VPA_NONE ||
			!vpa_is_marked(
				c->model->kernels[kernel].klass.marks, VPA_MARK_DIRECT_COPY) ||
			!is_for_convolution(s, c, stretch, ops->launch_start_ns[i]))
			continue;
		if (vpt_grow_zeroed(
			    &s->copies, &s->copy_cap, c->model->kernel_count, sizeof(*s->copies))) {
			s->failed = 1;
			continue;
		}
		s->copies[kernel].calls++;
		s->copies[kernel].ns += ops->end_ns[i] - ops->start_ns[i];
	}
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t k, begin = 0;

	for (k = 0; k < ops->stretch_count; begin = ops->stretches[k++].end) {
		const struct vpa_range *range =
			vpa_range_open_at(ops->stretches[k].range, ops->launch_start_ns[begin]);

		if (range && range->level == VPA_LEVEL_OPERATOR)
			add_stretch(s, c, ops, &ops->stretches[k], begin);
	}
	return s->failed ? VPT_ENOMEM : VPT_OK;
}

/* ---- names ---- */

static int is_align1(const struct vpa_kernel_row *k)
{
	return (k->family == VPA_FAMILY_GEMM || k->family == VPA_FAMILY_CONV) &&
	       vpa_is_unaligned(k->name);
}

static int is_fp32(const struct vpa_kernel_row *k)
{
	return k->family == VPA_FAMILY_GEMM &&
	       vpa_precision_of(k->name, strlen(k->name)) == VPA_PRECISION_FP32;
}

static int is_layout_copy(const struct vpa_kernel_row *k)
{
	return vpa_is_marked(k->marks, VPA_MARK_CONV_LAYOUT);
}

static int is_naive_conv(const struct vpa_kernel_row *k)
{
	return vpa_fallback_of(k->name) == VPA_FALLBACK_NAIVE_CONV;
}

static int is_for_any_isa(const struct vpa_kernel_row *k)
{
	return vpa_fallback_of(k->name) == VPA_FALLBACK_ANY_ISA;
}

/* cuDNN's kernels for any type and layout. */
static int is_plain_conv(const struct vpa_kernel_row *k)
{
	return k->family == VPA_FAMILY_CONV && strstr(k->name, "convolve_sgemm");
}

static int has_tensor_convs(const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->kernel_names; i++)
		if (r->kernels[i].family == VPA_FAMILY_CONV &&
			vpa_is_marked(r->kernels[i].marks, VPA_MARK_TENSOR_CORES))
			return 1;
	return 0;
}

static uint64_t narrow_ns(const struct vpa_report *r)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->precision_count; i++)
		if (r->precisions[i].precision == VPA_PRECISION_16 ||
			r->precisions[i].precision == VPA_PRECISION_8)
			ns += r->precisions[i].exclusive_ns;
	return ns;
}

static const struct misfit {
	const char *id, *title, *advice;
	int (*is)(const struct vpa_kernel_row *k); /* NULL: those of state.copies */
	enum {
		ALWAYS,
		AMONG_NARROW,
		AMONG_TENSOR_CONVS
	} when; /* only beside products of 16 bits or fewer, ... */
} misfits[] = {
	{"align1-gemm", "products of unaligned operands (align1)",
		"pad the innermost dimension to a multiple of 8 elements", is_align1, ALWAYS},
	{"fp32-gemm", "products in FP32 among narrower ones",
		"cast the inputs to the model's type, or allow TF32", is_fp32, AMONG_NARROW},
	{"layout-copy", "copies between layouts for convolutions", "keep tensors in channels_last",
		is_layout_copy, ALWAYS},
	{"pytorch-layout-copy", "PyTorch's copies between layouts for convolutions",
		"keep tensors and weights in channels_last", NULL, ALWAYS},
	{"naive-conv", "convolutions in MIOpen's reference kernels",
		"FP16, channels_last or channels_last_3d, MIOPEN_FIND_MODE=NORMAL, a newer ROCm",
		is_naive_conv, ALWAYS},
	{"fallback-gemm", "products in Tensile's kernels for any GPU",
		"install rocBLAS with kernels for this GPU", is_for_any_isa, ALWAYS},
	{"plain-conv", "convolutions without tensor cores among others that use them",
		"cast the inputs, or allow TF32; pad channels to a multiple of 8", is_plain_conv,
		AMONG_TENSOR_CONVS},
};

static void add_kernel(
	struct vpa_misfit_row *row, const struct misfit *m, const struct vpa_kernel_row *k)
{
	if (!row->calls) {
		row->id = m->id;
		row->title = m->title;
		row->advice = m->advice;
		row->kernel = k->name; /* kernels come by exclusive time, falling */
	}
	row->calls += k->time.count;
	row->total_ns += k->time.total_ns;
	row->exclusive_ns += k->exclusive_ns;
}

/* The row of a kernel of the model; NULL: it has none. */
static const struct vpa_kernel_row *row_of(const struct vpa_report *r, size_t kernel)
{
	size_t i;

	for (i = 0; i < r->kernel_names; i++)
		if (r->kernels[i].kernel == kernel)
			return &r->kernels[i];
	return NULL;
}

/* They are a part of their kernel's calls, whose exclusive time is in proportion. */
static void add_copies(struct vpa_misfit_row *row, const struct misfit *m, const struct state *s,
	const struct vpa_report *out)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < s->copy_cap; i++) {
		const struct vpa_kernel_row *kernel = NULL;
		struct vpa_kernel_row part;

		if (s->copies[i].ns)
			kernel = row_of(out, i);
		if (!kernel || !kernel->time.total_ns)
			continue;
		part = *kernel;
		part.time.count = s->copies[i].calls;
		part.time.total_ns = s->copies[i].ns;
		part.exclusive_ns =
			vpt_sat_u64((double)kernel->exclusive_ns / (double)kernel->time.total_ns *
					    (double)s->copies[i].ns +
				    0.5);
		add_kernel(row, m, &part);
		if (s->copies[i].ns > most)
			row->kernel = part.name;
		most = s->copies[i].ns > most ? s->copies[i].ns : most;
	}
}

static int compare_misfits(const void *pa, const void *pb)
{
	const struct vpa_misfit_row *a = pa, *b = pb;

	if (a->exclusive_ns != b->exclusive_ns)
		return a->exclusive_ns > b->exclusive_ns ? -1 : 1;
	return strcmp(a->id, b->id);
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_misfit_row *rows = vpa_arena_alloc(&out->arena, COUNT(misfits), sizeof(*rows));
	uint64_t busy = vpa_busy_ns(out);
	const int has[] = {[ALWAYS] = 1,
		[AMONG_NARROW] = narrow_ns(out) > 0,
		[AMONG_TENSOR_CONVS] = has_tensor_convs(out)};
	size_t i, k, count = 0;

	(void)c;
	if (!rows)
		return VPT_ENOMEM;
	for (i = 0; i < COUNT(misfits); i++) {
		if (!has[misfits[i].when])
			continue;
		for (k = 0; misfits[i].is && k < out->kernel_names; k++)
			if (misfits[i].is(&out->kernels[k]))
				add_kernel(&rows[count], &misfits[i], &out->kernels[k]);
		if (!misfits[i].is)
			add_copies(&rows[count], &misfits[i], state, out);
		if (!rows[count].calls)
			continue;
		rows[count].kernel = vpa_demangle(&out->arena, rows[count].kernel);
		rows[count].share_of_busy =
			busy ? (double)rows[count].exclusive_ns / (double)busy : -1;
		count++;
	}
	qsort(rows, count, sizeof(*rows), compare_misfits);
	out->expert.misfits = rows;
	out->expert.misfit_count = count;
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpt_free(s->names);
	vpt_free(s->copies);
}

const struct vpa_fold vpa_fold_misfits = {
	.name = "misfits",
	.help = "kernels whose format costs time: alignment, precision, layout",
	.state_bytes = sizeof(struct state),
	.wanted = vpa_fold_is_table,
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};
