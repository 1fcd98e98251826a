/* misfits.c - kernels whose names show that a format costs time: matrix products that load one element
 * at a time, FP32 among narrower ones, and copies between the layouts that convolutions want.
 *
 * Reads the table of kernels, with the rows that the report does not list. */
#include "analysis/folds/fold.h"

#include "analysis/demangle.h"
#include "analysis/precision.h"
#include "formats/count.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int is_family(const struct vpa_kernel_row *k, enum vpa_family family)
{
	return !strcmp(k->family, vpa_family_name(family));
}

/* CUTLASS and cuBLAS write the elements per load: "align8" is the best, "align1" the worst. */
static int is_align1(const struct vpa_kernel_row *k)
{
	const char *at = k->name;

	if (!is_family(k, VPA_FAMILY_GEMM) && !is_family(k, VPA_FAMILY_CONV))
		return 0;
	while ((at = strstr(at, "align1"))) {
		at += strlen("align1");
		if (!isdigit((unsigned char)*at))
			return 1;
	}
	return 0;
}

static int is_fp32(const struct vpa_kernel_row *k)
{
	return is_family(k, VPA_FAMILY_GEMM) &&
	       vpa_precision_of(k->name, strlen(k->name)) == VPA_PRECISION_FP32;
}

static int is_layout_copy(const struct vpa_kernel_row *k)
{
	static const char *const words[] = {
		"nchwToNhwc", "nhwcToNchw", "ncdhwToNdhwc", "ndhwcToNcdhw", "nhwcAddPadding"};
	size_t i;

	for (i = 0; i < COUNT(words); i++)
		if (strstr(k->name, words[i]))
			return 1;
	return 0;
}

static uint64_t narrow_ns(const struct vpa_report *r)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->precision_count; i++)
		if (!strcmp(r->precisions[i].precision, vpa_precision_name(VPA_PRECISION_16)) ||
			!strcmp(r->precisions[i].precision, vpa_precision_name(VPA_PRECISION_8)))
			ns += r->precisions[i].exclusive_ns;
	return ns;
}

static const struct misfit {
	const char *id, *title, *advice;
	int (*is)(const struct vpa_kernel_row *k);
	int needs_narrow; /* only where other matrix products are in 16 bits or fewer */
} misfits[] = {
	{"align1-gemm", "products of unaligned operands (align1)",
		"pad the innermost dimension to a multiple of 8 elements", is_align1, 0},
	{"fp32-gemm", "products in FP32 among narrower ones",
		"cast the inputs to the model's type, or allow TF32", is_fp32, 1},
	{"layout-copy", "copies between layouts for convolutions", "keep tensors in channels_last",
		is_layout_copy, 0},
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
	uint64_t busy = vpa_busy_ns(out), narrow = narrow_ns(out);
	size_t i, k, count = 0;

	(void)state;
	(void)c;
	if (!rows)
		return VPT_ENOMEM;
	for (i = 0; i < COUNT(misfits); i++) {
		if (misfits[i].needs_narrow && !narrow)
			continue;
		for (k = 0; k < out->kernel_names; k++)
			if (misfits[i].is(&out->kernels[k]))
				add_kernel(&rows[count], &misfits[i], &out->kernels[k]);
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

const struct vpa_fold vpa_fold_misfits = {
	.name = "misfits",
	.help = "kernels whose format costs time: alignment, precision, layout",
	.finish = finish,
};
