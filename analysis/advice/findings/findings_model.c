/* findings_model.c - conclusions from what the run says of its models. */
#include "analysis/advice/finding.h"

#include "analysis/base/numbers.h"
#include "analysis/names/number_format.h"

/* A model of more parameters than this is worth quantising. */
static const uint64_t most_unquantised = 1000000000;

/* Whether there are matrix products, and none of 8 bits or fewer. */
static int has_wide_products_only(const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->precision_count; i++)
		if (r->precisions[i].precision == VPA_PRECISION_8)
			return 0;
	return r->precision_count > 0;
}

void vpa_find_model(struct vpa_report *r)
{
	const struct vpa_model_size *largest = r->said.models;
	struct vpa_finding *f;

	if (!r->said.model_count || largest->parameters <= most_unquantised ||
		!has_wide_products_only(r))
		return;
	f = vpa_finding_add(r, VPA_FOUND_PARAMETERS, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = "a large model without a matrix product in 8 bits or fewer: quantise its "
		   "weights (FP8, INT8)";
	f->measured = vpa_arena_printf(&r->arena, "%s: %s billion parameters",
		vpa_fit(largest->name, 60).text,
		vpa_fixed((double)largest->parameters / 1e9, 2).text);
	f->threshold = "1 billion parameters";
	f->note = f->measured;
	f->caveat = "8 bits change the output: compare videos";
}
