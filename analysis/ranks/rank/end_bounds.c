/* end_bounds.c - how much later than earlier ones each collective of a rank ends, at least, and which terms that makes superfluous. */
#include "analysis/ranks/rank/moments.h"

#include "formats/base/saturate.h"

/* A collective ends no earlier than it starts, so no earlier than what that waits for, and so on. */
static void add_bound(struct vpa_end_bounds *b, uint32_t after, int64_t ns)
{
	uint32_t n;

	for (n = 0; n < b->count && b->items[n].after != after; n++)
		;
	if (n == VPA_END_BOUNDS_MOST || (n < b->count && b->items[n].ns >= ns))
		return;
	b->items[n] = (struct vpa_end_bound){after, ns};
	b->count += n == b->count;
}

void vpa_end_bounds_set(
	struct vpa_end_bounds *bounds, size_t collective, const struct moment *start)
{
	const struct term *terms = terms_of(start, RECORDED);
	struct vpa_end_bounds *b = &bounds[collective + 1], *before = b - 1;
	uint32_t i, k, count = start->count[RECORDED];

	*b = (struct vpa_end_bounds){.chain = (uint32_t)collective + 1};
	for (i = 0; i < count; i++)
		add_bound(b, terms[i].after, terms[i].ns);
	for (i = 0; i < count; i++) {
		const struct term *x = &terms[i];
		const struct vpa_end_bounds *of = &bounds[rank_of(x->after)];

		for (k = 0; k < of->count; k++)
			add_bound(b, of->items[k].after, vpt_sat_add_i64(x->ns, of->items[k].ns));
	}
	for (i = 0; i < b->count; i++)
		if (rank_of(b->items[i].after) == collective) {
			b->chain = before->chain;
			b->sum_ns = vpt_sat_add_i64(before->sum_ns, b->items[i].ns);
		}
}

/* Whether collective `later` ends at least so much later than `after` that `ns` after it is no earlier than `than`
 * after that. */
static int outweighs(const struct vpa_end_bounds *bounds, uint32_t later, int64_t ns,
	uint32_t after, int64_t than)
{
	const struct vpa_end_bounds *b = &bounds[rank_of(later)], *a = &bounds[rank_of(after)];
	uint32_t i;

	if (a->chain == b->chain && vpt_sat_add_i64(b->sum_ns - a->sum_ns, ns) >= than)
		return 1;
	for (i = 0; i < b->count; i++)
		if (b->items[i].after == after)
			return vpt_sat_add_i64(b->items[i].ns, ns) >= than;
	return 0;
}

void vpa_prune_moment(const struct vpa_end_bounds *bounds, struct moment *x)
{
	struct term *items = terms_in(x, RECORDED);
	uint32_t i, k, kept = 1;

	for (i = 1; i < x->count[RECORDED]; i++) {
		for (k = 0; k < kept; k++)
			if (outweighs(bounds, items[k].after, items[k].ns, items[i].after,
				    items[i].ns))
				break;
		if (k == kept && kept++ != i)
			items[k] = items[i];
	}
	x->count[RECORDED] = kept < x->count[RECORDED] ? kept : x->count[RECORDED];
}
