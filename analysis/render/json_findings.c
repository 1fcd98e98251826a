/* json_findings.c - findings in the report for programs. The rules of json.c hold; what is 0 or unknown is null. */
#include "analysis/render/json.h"

enum { NUMBER_DECIMALS = 3 };

static void put_some(struct vpt_json *j, const char *key, double value)
{
	if (value > 0)
		vpt_json_fixed(j, key, value, NUMBER_DECIMALS);
	else
		vpt_json_null(j, key);
}

void vpa_json_finding(struct vpt_json *j, const struct vpa_finding *f)
{
	size_t i;

	vpt_json_object(j, NULL);
	vpt_json_string(j, "id", f->id);
	vpt_json_string(j, "title", f->title);
	vpt_json_string(j, "measured", f->measured);
	vpt_json_string(j, "threshold", f->threshold);
	put_some(j, "gain_at_most_ms", f->gain_at_most_ms);
	vpt_json_array(j, "evidence");
	for (i = 0; i < f->evidence_count; i++)
		vpt_json_string(j, NULL, f->evidence[i]);
	vpt_json_end(j);
	vpt_json_string(j, "status", f->status);
	vpt_json_string(j, "caveat", f->caveat);
	put_some(j, "gain_shared_ms", f->gain_shared_ms);
	put_some(j, "gain_from_ms", f->gain_from_ms);
	vpt_json_string(j, "base", f->base);
	put_some(j, "base_ms", f->base_ms);
	put_some(j, "base_gain_ms", f->base_gain_ms);
	put_some(j, "base_gain_from_ms", f->base_gain_from_ms);
	put_some(j, "fps_from", f->fps_from);
	put_some(j, "fps_to", f->fps_to);
	vpt_json_string(j, "note", f->note);
	vpt_json_bool(j, "incomplete", f->touched);
	vpt_json_end(j);
}
