/* findings_precision.c - conclusions about kernels that compute in FP32 where narrower types would do: matrix products and
 * convolutions. */
#include "analysis/advice/finding.h"

#include "analysis/advice/gain_unit.h"
#include "analysis/model/gpu_arch.h"
#include "analysis/model/gpu_peak.h"
#include "analysis/names/families.h"
#include "analysis/names/number_format.h"
#include "formats/base/saturate.h"

#include <string.h>

/* Kernels of one kind are worth a line from this share of busy time. */
static const double work_share = 0.05;

/* ---- matrix products in FP32 ---- */

static uint64_t precision_ns(const struct vpa_report *r, enum vpa_precision precision)
{
	size_t i;

	for (i = 0; i < r->precision_count; i++)
		if (r->precisions[i].precision == precision)
			return r->precisions[i].exclusive_ns;
	return 0;
}

/* Time of matrix products that the finding about unfused attention already counts. */
static uint64_t eager_gemm_ns(const struct vpa_report *r)
{
	const struct vpa_finding *f = vpa_finding_find(r, VPA_FOUND_EAGER_ATTENTION);

	return f ? vpt_sat_u64((f->gain_at_most_ms - f->gain_from_ms) * 1e6 + 0.5) : 0;
}

/* TF32 came with Ampere. Nothing is known of a GPU without a row: newer ones are more likely. */
static int has_tf32(const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->gpu_count; i++)
		if (!vpa_gpu_is_amd(&r->gpus[i]) && r->gpus[i].compute_major &&
			r->gpus[i].compute_major < 8)
			return 0;
	return 1;
}

static const char *wide_title(const struct vpa_report *r, int is_mixed)
{
	if (is_mixed && !has_tf32(r))
		return "some matrix products run in FP32, others in 16 bits or fewer: cast the "
		       "inputs";
	if (is_mixed)
		return "some matrix products run in FP32, others in 16 bits or fewer: cast the "
		       "inputs, or allow TF32";
	return has_tf32(r) ? "matrix products run in FP32: allow TF32 "
			     "(torch.set_float32_matmul_precision(\"high\")), or run the model in "
			     "BF16"
			   : "matrix products run in FP32: run the model in FP16, for which this "
			     "GPU has tensor cores";
}

/* What is left at best of the time of products in FP32 with 16 bits, by the peaks of the GPU that gains most. One that is not known
 * is taken to be a data centre's. */
static double narrow_share(const struct vpa_report *r)
{
	static const double unknown = 1.0 / 16;
	double least = 1;
	size_t i;

	for (i = 0; i < r->gpu_count; i++) {
		double wide = vpa_gpu_peak_tflops(&r->gpus[i], VPA_PRECISION_FP32),
		       narrow = vpa_gpu_peak_tflops(&r->gpus[i], VPA_PRECISION_16),
		       share = wide > 0 && narrow > 0 ? wide / narrow : unknown;

		least = share < least ? share : least;
	}
	return r->gpu_count ? least : unknown;
}

/* What narrower types save at most. */
static uint64_t narrowed_ns(const struct vpa_report *r, uint64_t wide_ns)
{
	return wide_ns - vpt_sat_u64(narrow_share(r) * (double)wide_ns + 0.5);
}

static const char *narrow_caveat(struct vpa_report *r)
{
	return vpa_arena_printf(&r->arena, "with 16 bits at least %s %% of that time is left",
		vpa_share(narrow_share(r)).text);
}

static void find_wide_gemms(struct vpa_report *r)
{
	double busy = (double)vpa_busy_ns(r);
	uint64_t wide = precision_ns(r, VPA_PRECISION_FP32), eager = eager_gemm_ns(r),
		 narrow = precision_ns(r, VPA_PRECISION_16) + precision_ns(r, VPA_PRECISION_8);
	struct vpa_saving s = {.ns = narrowed_ns(r, wide > eager ? wide - eager : 0)};
	int is_mixed = (double)narrow >= work_share * busy;
	struct vpa_finding *f;

	if ((double)wide < work_share * busy || !vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_FP32_GEMM, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = wide_title(r, is_mixed);
	f->words = has_tf32(r) ? NULL : "matrix products in FP16";
	s.base_ns = vpa_gain_unit_busy(r, s.ns, VPA_FAMILY_GEMM);
	vpa_finding_saves(r, f, &s);
	f->measured = vpa_arena_printf(&r->arena, "%s in FP32, %s %% of busy",
		vpa_duration(wide).text, vpa_share((double)wide / busy).text);
	if (is_mixed)
		f->measured = vpa_arena_printf(&r->arena, "%s, and %s in 16 bits or fewer",
			f->measured, vpa_duration(narrow).text);
	f->threshold = "5 % of busy time, 2 % of active, 1 % of the window";
	f->caveat = narrow_caveat(r);
	if (eager)
		f->caveat = vpa_arena_printf(&r->arena,
			"%s; excludes products that may belong to unfused attention", f->caveat);
}

/* ---- convolutions in FP32 ---- */

static uint64_t wide_conv_ns(const struct vpa_report *r)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->kernel_names; i++) {
		const struct vpa_kernel_row *k = &r->kernels[i];

		if (k->family == VPA_FAMILY_CONV &&
			vpa_precision_of(k->name, strlen(k->name)) == VPA_PRECISION_FP32)
			vpt_sat_add_to(&ns, k->exclusive_ns);
	}
	return ns;
}

/* A decoder is often run in FP32, without need. */
static void find_wide_convs(struct vpa_report *r)
{
	uint64_t wide_ns = wide_conv_ns(r);
	struct vpa_saving s = {.ns = narrowed_ns(r, wide_ns)};
	struct vpa_finding *f;

	if ((double)wide_ns < work_share * (double)vpa_busy_ns(r) || !vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_FP32_CONV, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = has_tf32(r)
			   ? "convolutions run in FP32: allow TF32 "
			     "(torch.backends.cudnn.allow_tf32 = True), or run them in BF16"
			   : "convolutions run in FP32: run them in FP16, for which this GPU has "
			     "tensor cores";
	f->words = has_tf32(r) ? NULL : "convolutions in FP16";
	s.base_ns = vpa_gain_unit_busy(r, s.ns, VPA_FAMILY_CONV);
	vpa_finding_saves(r, f, &s);
	f->measured =
		vpa_arena_printf(&r->arena, "%s in FP32, %s %% of busy", vpa_duration(wide_ns).text,
			vpa_share((double)wide_ns / (double)vpa_busy_ns(r)).text);
	f->threshold = "5 % of busy time, 2 % of active, 1 % of the window";
	f->caveat = narrow_caveat(r);
}

void vpa_find_precisions(struct vpa_report *r)
{
	find_wide_gemms(r);
	find_wide_convs(r);
}
