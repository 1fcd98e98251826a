/* findings_quantising.c - conclusions about kernels that only change how numbers are packed.
 *
 * Weights of few bits (GGUF, bitsandbytes, FP8 without FP8 products) are unpacked before each matrix product, unless the product reads
 * them packed. Activations are packed for products of few bits, unless the kernel before does it. Both only move data. PyTorch's own
 * operators unpack in many kernels, of which those that shift or mask bytes tell what the others are for; and they pack in many,
 * which begin with a scale and end before a product of few bits. One kernel that packs takes about as long as the longest of them. Where
 * the scale is known before, one cast packs; then only the kernel before could do it. */
#include "analysis/advice/finding.h"

#include "analysis/advice/gain_unit.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/names/number_format.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <string.h>

/* As for other kinds of kernels. */
static const double work_share = 0.05;

struct quantising {
	uint64_t ns, unpacking_ns, packing_ns, calls;
	const char *kernel; /* the largest; NULL: there is none */
};

static struct quantising quantising_of(const struct vpa_report *r)
{
	struct quantising out = {.ns = 0};
	size_t i;

	for (i = 0; i < r->kernel_names; i++) {
		const struct vpa_kernel_row *k = &r->kernels[i];

		if (k->family != VPA_FAMILY_QUANT)
			continue;
		vpt_sat_add_to(&out.ns, k->exclusive_ns);
		if (strstr(k->name, "dequant") || strstr(k->name, "Dequant") ||
			vpa_is_of_bits(k->name, strlen(k->name)))
			vpt_sat_add_to(&out.unpacking_ns, k->exclusive_ns);
		out.calls += k->time.count;
		out.kernel = out.kernel ? out.kernel : k->name;
	}
	vpt_sat_add_to(&out.ns, r->unpacking.other_ns);
	vpt_sat_add_to(&out.unpacking_ns, r->unpacking.other_ns);
	out.calls += r->unpacking.other_kernels;
	out.packing_ns = r->quantised.total_ns;
	vpt_sat_add_to(&out.ns, out.packing_ns);
	out.calls += r->quantised.kernels;
	out.kernel = out.kernel ? out.kernel : r->quantised.kernel;
	out.ns = vpa_earlier(out.ns, vpa_busy_ns(r));
	return out;
}

uint64_t vpa_unpacking_ns(const struct vpa_report *r)
{
	return quantising_of(r).unpacking_ns;
}

int vpa_packs_in_several(const struct vpa_report *r)
{
	return r->quantised.kernels / 2 >= r->quantised.count;
}

/* The families of kernels that may pack: see ../../model/unpacking.h. */
static const uint32_t packing_families =
	(uint32_t)1 << VPA_FAMILY_QUANT | (uint32_t)1 << VPA_FAMILY_ELEMENTWISE |
	(uint32_t)1 << VPA_FAMILY_LAYOUT | (uint32_t)1 << VPA_FAMILY_REDUCE |
	(uint32_t)1 << VPA_FAMILY_NORM | (uint32_t)1 << VPA_FAMILY_INDEX;

/* Several kernels pack one operand. */
static void set_packing(struct vpa_finding *f, const struct vpa_report *r, uint64_t all_ns)
{
	f->title = "operands of 8-bit products are quantised in several kernels each: use one "
		   "kernel, as torch.compile makes it, and quantise once what q, k and v share; or "
		   "stay in BF16";
	f->words = "quantise in one kernel: torch.compile";
	f->base_likely_ms =
		f->base_gain_ms *
		(1 - (double)vpa_earlier(r->quantised.longest_ns, all_ns) / (double)all_ns);
}

void vpa_find_quantising(struct vpa_report *r)
{
	struct quantising q = quantising_of(r);
	struct vpa_saving s = {.ns = q.ns};
	int unpacks = q.unpacking_ns >= q.ns / 2, packs = q.packing_ns > q.ns / 2;
	struct vpa_finding *f;

	if ((double)q.ns < work_share * (double)vpa_busy_ns(r) || !vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_QUANTISING, vpa_saving_status(r, &s));
	if (!f)
		return;
	s.base_ns = packs ? vpa_gain_unit_busy_of(r, s.ns, packing_families)
			  : vpa_gain_unit_busy(r, s.ns, VPA_FAMILY_QUANT);
	vpa_finding_saves(r, f, &s);
	f->title = unpacks ? "weights are unpacked at every use: products that read packed "
			     "weights, or weights in BF16 where memory allows"
			   : "numbers are quantised in kernels of their own: fuse that into the "
			     "kernels before, as torch.compile does";
	f->words = unpacks ? "products that read packed weights, or BF16" : NULL;
	f->caveat = unpacks ? "weights in BF16 take two to four times the memory" : NULL;
	if (packs && vpa_packs_in_several(r))
		set_packing(f, r, q.ns);
	f->measured = vpa_arena_printf(&r->arena, "%" PRIu64 " kernel%s, %s, %s %% of busy",
		q.calls, vpa_plural(q.calls), vpa_duration(q.ns).text,
		vpa_percent(q.ns, vpa_busy_ns(r)).text);
	f->threshold = "5 % of busy time, 2 % of active, 1 % of the window";
	f->note = f->caveat ? vpa_arena_printf(&r->arena, "%s; %s", f->measured, f->caveat)
			    : f->measured;
	vpa_finding_evidence(f, q.kernel);
}
