/* said_number.c - looks numbers up in annotations. */
#include "analysis/folds/kernels/said_number.h"

#include "analysis/base/json_key.h"
#include "formats/base/memory.h"

enum { RANGES_LOOKED_AT = 8 /* around a launch */ };

uint64_t vpa_said_number(struct vpa_said_number *s, const struct vpa_model *m, uint32_t payload)
{
	if (payload >= s->cap &&
		vpt_grow_zeroed(&s->values, &s->cap, (size_t)payload + 1, sizeof(*s->values))) {
		s->failed = 1;
		return 0;
	}
	if (!s->values[payload])
		s->values[payload] = 1 + vpa_json_key_number(vpa_name(m, payload), s->key);
	return s->values[payload] - 1;
}

const struct vpa_range *vpa_said_range(struct vpa_said_number *keys, size_t count,
	const struct vpa_model *m, const struct vpa_op_stretch *stretch, uint64_t at_ns)
{
	const struct vpa_range *range = vpa_range_open_at(stretch->range, at_ns);
	size_t n, k;

	for (n = 0; range && n < RANGES_LOOKED_AT; n++) {
		for (k = 0; range->payload && k < count; k++)
			if (vpa_said_number(&keys[k], m, range->payload))
				return range->start_ns < m->window_start_ns ? NULL : range;
		range = vpa_range_around(range, at_ns);
	}
	return NULL;
}

void vpa_said_number_free(struct vpa_said_number *s)
{
	vpt_free(s->values);
}
