/* findings_precision.c - conclusions about kernels that compute in FP32 or TF32 where narrower types would do: matrix products and
 * convolutions. */
#include "analysis/advice/finding.h"

#include "analysis/advice/gain_unit.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/model/gpu_arch.h"
#include "analysis/model/gpu_peak.h"
#include "analysis/names/families.h"
#include "analysis/names/number_format.h"
#include "analysis/report/device_limit.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <math.h>
#include <string.h>

/* Kernels of one kind are worth a line from this share of busy time. */
static const double work_share = 0.05;

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

static uint64_t conv_ns(const struct vpa_report *r, enum vpa_precision precision)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->kernel_names; i++) {
		const struct vpa_kernel_row *k = &r->kernels[i];

		if (k->family == VPA_FAMILY_CONV &&
			vpa_precision_of(k->name, strlen(k->name)) == precision)
			vpt_sat_add_to(&ns, k->exclusive_ns);
	}
	return ns;
}

/* Half of the time of kernels that read and write what products do, of which no name says that it has 16 bits already. */
static uint64_t beside_ns(const struct vpa_report *r)
{
	static const uint64_t families = 1u << VPA_FAMILY_ELEMENTWISE | 1u << VPA_FAMILY_LAYOUT |
					 1u << VPA_FAMILY_NORM | 1u << VPA_FAMILY_REDUCE |
					 1u << VPA_FAMILY_INDEX;
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->kernel_names; i++) {
		const struct vpa_kernel_row *k = &r->kernels[i];
		enum vpa_precision p;

		if (!(families >> k->family & 1))
			continue;
		p = vpa_precision_of(k->name, strlen(k->name));
		if (p == VPA_PRECISION_UNKNOWN || p == VPA_PRECISION_FP32)
			vpt_sat_add_to(&ns, k->exclusive_ns / 2);
	}
	return ns;
}

/* What is left at best of the time of products with 16 bits, by the peaks of the GPU that gains most. Of one that is not known half of
 * TF32's time is, and that of a data centre's GPU without tensor cores. */
static double narrow_share(const struct vpa_report *r, enum vpa_precision precision)
{
	double unknown = precision == VPA_PRECISION_TF32 ? 1.0 / 2 : 1.0 / 16, least = 1;
	size_t i;

	for (i = 0; i < r->gpu_count; i++) {
		double wide = vpa_gpu_peak_tflops(&r->gpus[i], precision),
		       narrow = vpa_gpu_peak_tflops(&r->gpus[i], VPA_PRECISION_16),
		       share = wide > 0 && narrow > 0 ? wide / narrow : unknown;

		least = share < least ? share : least;
	}
	return r->gpu_count ? least : unknown;
}

/* ---- titles ---- */

/* What narrower types are for: kernels of a family that multiply wider ones. */
struct wide {
	enum vpa_family family;
	enum vpa_precision precision;
	enum vpa_finding_id id;
	const char *(*title)(const struct vpa_report *r, int is_mixed);
	const char *words; /* on a GPU without TF32; NULL: the usual ones */
};

static const char *fp32_gemm_title(const struct vpa_report *r, int is_mixed)
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

static const char *fp32_conv_title(const struct vpa_report *r, int is_mixed)
{
	(void)is_mixed;
	return has_tf32(r) ? "convolutions run in FP32: allow TF32 "
			     "(torch.backends.cudnn.allow_tf32 = True), or run them in BF16"
			   : "convolutions run in FP32: run them in FP16, for which this GPU has "
			     "tensor cores";
}

static const char *tf32_gemm_title(const struct vpa_report *r, int is_mixed)
{
	(void)r;
	return is_mixed ? "some matrix products run in TF32, others in 16 bits or fewer: cast the "
			  "inputs"
			: "matrix products run in TF32: run the model in BF16, or under autocast";
}

static const char *tf32_conv_title(const struct vpa_report *r, int is_mixed)
{
	(void)r;
	(void)is_mixed;
	return "convolutions run in TF32: run them in BF16, if pictures show no difference";
}

/* ---- findings ---- */

static const struct wide wides[] = {
	{VPA_FAMILY_GEMM, VPA_PRECISION_FP32, VPA_FOUND_FP32_GEMM, fp32_gemm_title,
		"matrix products in FP16"},
	{VPA_FAMILY_CONV, VPA_PRECISION_FP32, VPA_FOUND_FP32_CONV, fp32_conv_title,
		"convolutions in FP16"},
	{VPA_FAMILY_GEMM, VPA_PRECISION_TF32, VPA_FOUND_TF32_GEMM, tf32_gemm_title, NULL},
	{VPA_FAMILY_CONV, VPA_PRECISION_TF32, VPA_FOUND_TF32_CONV, tf32_conv_title, NULL},
};

static uint64_t wide_ns(const struct vpa_report *r, const struct wide *w)
{
	return w->family == VPA_FAMILY_CONV ? conv_ns(r, w->precision)
					    : precision_ns(r, w->precision);
}

/* With 16 bits half the bytes are moved, and tensor cores are twice as fast as with TF32, the others slower still: whatever limits a
 * kernel, at most half of its time is left. Kernels beside them get as much shorter if they are of the same numbers. */
static struct vpa_saving narrowed(
	const struct vpa_report *r, const struct wide *w, uint64_t ns, double left)
{
	uint64_t most_ns = ns - vpt_sat_u64(left * (double)ns + 0.5);
	struct vpa_saving s = {.ns = vpt_sat_add(most_ns, beside_ns(r)), .from_ns = ns / 2};

	s.ns = vpa_earlier(s.ns, vpa_busy_ns(r));
	s.base_ns = vpa_gain_unit_busy(r, s.ns, w->family);
	return s;
}

static void find_wide(struct vpa_report *r, const struct wide *w)
{
	double busy = (double)vpa_busy_ns(r), left = narrow_share(r, w->precision);
	uint64_t all_ns = wide_ns(r, w),
		 eager = w->family == VPA_FAMILY_GEMM ? eager_gemm_ns(r) : 0,
		 ns = vpt_sat_sub(all_ns, eager),
		 narrow = precision_ns(r, VPA_PRECISION_16) + precision_ns(r, VPA_PRECISION_8);
	int is_mixed = w->family == VPA_FAMILY_GEMM && (double)narrow >= work_share * busy;
	struct vpa_saving s;
	struct vpa_finding *f;

	if ((double)all_ns < work_share * busy)
		return;
	s = narrowed(r, w, ns, left);
	if (!vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, w->id, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = w->title(r, is_mixed);
	f->words = has_tf32(r) ? NULL : w->words;
	vpa_finding_saves(r, f, &s);
	f->measured = vpa_arena_printf(&r->arena, "%s in %s, %s %% of busy",
		vpa_duration(all_ns).text, w->precision == VPA_PRECISION_TF32 ? "TF32" : "FP32",
		vpa_share((double)all_ns / busy).text);
	if (is_mixed)
		f->measured = vpa_arena_printf(&r->arena, "%s, and %s in 16 bits or fewer",
			f->measured, vpa_duration(narrow).text);
	f->threshold = "5 % of busy time, 2 % of active, 1 % of the window";
	f->caveat = vpa_arena_printf(&r->arena,
		"with 16 bits at least %s %% of that time is left%s", vpa_share(left).text,
		eager ? "; excludes products that may belong to unfused attention" : "");
	/* Of the family as a whole, on average. */
	f->change = vpa_arena_printf(&r->arena, "scale %s %s", vpa_family_name(w->family),
		vpa_fixed(1 - 0.5 * fmin((double)ns / (double)vpa_family_ns(r, w->family), 1), 6)
			.text);
}

void vpa_find_precisions(struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < COUNT(wides); i++)
		find_wide(r, &wides[i]);
}
