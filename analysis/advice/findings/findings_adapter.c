/* findings_adapter.c - conclusions about low-rank adapters (LoRA) that run beside their layers.
 *
 * Merged into the weights once, an adapter costs nothing: its kernels go, and what launching them costs. Both are the time from the
 * end of a layer's product to the end of its adapter, since nothing else runs on the stream then. */
#include "analysis/advice/finding.h"

#include "analysis/advice/gain_unit.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/model/adapter.h"
#include "formats/base/saturate.h"

#include <inttypes.h>

/* At least this share of the layers' products have an adapter: fewer are another pattern, of a few layers. */
static const double layer_share = 0.25;

/* Products that are no adapter's. */
static uint64_t layers_of(const struct vpa_report *r)
{
	uint64_t products = 0;
	size_t i;

	for (i = 0; i < r->kernel_names; i++) {
		const struct vpa_kernel_row *k = &r->kernels[i];
		struct vpa_kernel_class klass = {.family = k->family, .marks = k->marks};

		if (vpa_adapter_part(&klass, vpt_text_from(k->name)) == VPA_PART_PRODUCT)
			vpt_sat_add_to(&products, k->time.count);
	}
	return products - vpa_earlier(2 * r->adapters.count, products);
}

void vpa_find_adapter(struct vpa_report *r)
{
	const struct vpa_adapters *a = &r->adapters;
	struct vpa_saving s = {.ns = vpa_earlier(a->span_ns, vpa_active_ns(r))};
	struct vpa_finding *f;
	uint64_t layers;

	if (!a->count || !vpa_saving_is_worth(r, &s))
		return;
	layers = layers_of(r);
	if ((double)a->count < layer_share * (double)layers)
		return;
	f = vpa_finding_add(r, VPA_FOUND_UNMERGED_ADAPTER, vpa_saving_status(r, &s));
	if (!f)
		return;
	f->title = "small matrix products run beside each layer's: merge the adapter (LoRA) into "
		   "the weights";
	s.base_ns = vpa_gain_unit_busy(r, s.ns, VPA_FAMILY_GEMM);
	vpa_finding_saves(r, f, &s);
	f->measured = vpa_arena_printf(&r->arena,
		"%" PRIu64 " adapter%s beside %" PRIu64 " product%s: %" PRIu64
		" kernels take %s, %s with the gaps between them",
		a->count, vpa_plural(a->count), layers, vpa_plural(layers), a->kernels,
		vpa_duration(a->total_ns).text, vpa_duration(a->span_ns).text);
	f->threshold = "a quarter of the products, 2 % of active, 1 % of the window";
	f->caveat = "to change the adapter, the weights change";
	f->note = f->measured;
	vpa_finding_evidence(f, a->first);
	vpa_finding_evidence(f, a->second);
}
