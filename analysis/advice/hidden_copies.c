/* hidden_copies.c - compares exposed copies with the compute that could hide them. */
#include "analysis/advice/hidden_copies.h"

#include "analysis/advice/finding.h"
#include "analysis/base/intervals.h"
#include "formats/base/saturate.h"

/* Compute with no copy beside it yet. */
static uint64_t unused_compute_ns(const struct vpa_report *r, const struct vpa_device *d)
{
	const struct vpa_expert *e = &r->expert;
	size_t i;

	for (i = 0; i < e->overlap_count; i++)
		if (e->overlaps[i].device == d->device)
			return e->overlaps[i].ns[VPA_OVERLAP_COMPUTE] +
			       e->overlaps[i].ns[VPA_OVERLAP_COMPUTE | VPA_OVERLAP_COMM];
	return d->compute_ns;
}

static uint64_t share_of(double share, uint64_t ns)
{
	return vpt_sat_u64(share * (double)ns + 0.5);
}

struct vpa_hidden_copies vpa_hidden_copies_of(const struct vpa_report *r, double stay_share)
{
	double needed = 1 - vpa_needless_copies(r);
	struct vpa_hidden_copies out = {.left_ns = 0};
	size_t i;

	for (i = 0; i < r->device_count; i++) {
		const struct vpa_device *d = &r->devices[i];
		uint64_t all_ns = share_of(needed, d->exposed_copy_ns),
			 left_ns = vpt_sat_sub(
				 share_of(1 - stay_share, all_ns), unused_compute_ns(r, d));

		vpt_sat_add_to(&out.all_ns, all_ns);
		vpt_sat_add_to(&out.left_ns, left_ns);
		vpt_sat_add_to(&out.saved_ns, vpt_sat_sub(d->exposed_copy_ns, left_ns));
	}
	return out;
}
