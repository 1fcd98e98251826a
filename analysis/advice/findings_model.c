/* findings_model.c - conclusions from what the run says of its models. */
#include "analysis/advice/finding.h"

#include "analysis/base/numbers.h"
#include "analysis/names/number_format.h"

#include <stdlib.h>
#include <string.h>

/* A model of more parameters than this is worth quantising. */
static const double most_unquantised = 1e9;

/* Whether there are matrix products, and none of 8 bits or fewer. */
static int has_wide_products_only(const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->precision_count; i++)
		if (!strcmp(r->precisions[i].precision, vpa_precision_name(VPA_PRECISION_8)))
			return 0;
	return r->precision_count > 0;
}

/* The parameters of the largest module that the run names: facts "model.parameters" and "model.NAME.parameters". */
static double most_parameters(const struct vpa_report *r, const char **key)
{
	static const char begin[] = "model.", end[] = "parameters";
	double most = 0, value;
	size_t i, len;

	for (i = 0; i < r->meta_count; i++) {
		const char *k = r->meta[i].key;

		len = k ? strlen(k) : 0;
		if (len < sizeof(begin) - 1 + sizeof(end) - 1 || !r->meta[i].value ||
			strncmp(k, begin, sizeof(begin) - 1) != 0 ||
			strcmp(k + len - (sizeof(end) - 1), end) != 0 ||
			k[len - sizeof(end)] != '.')
			continue;
		value = strtod(r->meta[i].value, NULL);
		if (value > most && value < 1e18) {
			most = value;
			*key = k;
		}
	}
	return most;
}

void vpa_find_model(struct vpa_report *r)
{
	const char *key = NULL;
	double parameters = most_parameters(r, &key);
	struct vpa_finding *f;

	if (parameters <= most_unquantised || !has_wide_products_only(r))
		return;
	f = vpa_finding_add(r, VPA_FOUND_PARAMETERS, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title =
		"a large model without a matrix product in 8 bits or fewer: quantise its weights "
		"(FP8, INT8)";
	f->measured = vpa_arena_printf(&r->arena, "%s: %s billion parameters",
		vpa_fit(key, 60).text, vpa_fixed(parameters / 1e9, 2).text);
	f->threshold = "1 billion parameters";
	f->note = f->measured;
	f->caveat = "8 bits change the output: compare videos";
}
