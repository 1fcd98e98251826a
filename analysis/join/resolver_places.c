/* resolver_places.c - the ranges around a moment, and which of them is its place. */
#include "analysis/join/resolver.h"
#include "analysis/join/resolver_parts.h"

void vpa_resolver_ranges_at(struct vpa_resolver *r, uint32_t thread, uint64_t t,
	const struct vpa_range **own, const struct vpa_range **wide)
{
	*own = vpa_steps_at(&r->pasts[thread].ranges.steps, t);
	*wide = vpa_steps_at(&r->processes[r->model->threads[thread].process].ranges.steps, t);
}

/* The innermost range of a chain that has this `level`, is open at `t` and covers at least `min_ns`
 * of the span; NULL: none. */
static const struct vpa_range *find_level(struct vpa_range *range, enum vpa_range_level level,
	uint64_t t, const struct vpa_interval *span, uint64_t min_ns)
{
	for (range = vpa_range_open_at(range, t); range; range = vpa_range_around(range, t)) {
		uint64_t from, to;

		if (range->level != level)
			continue;
		from = range->start_ns > span->start_ns ? range->start_ns : span->start_ns;
		to = range->end_ns < span->end_ns ? range->end_ns : span->end_ns;
		if (to >= from && to - from >= min_ns)
			return range;
	}
	return NULL;
}

/* The place at `t`: considers these ranges and those around them that cover at least `min_ns` of
 * `span`. */
static uint32_t find_place(struct vpa_range *own, struct vpa_range *wide, uint64_t t,
	const struct vpa_interval *span, uint64_t min_ns)
{
	const struct vpa_range *found;
	int level;

	for (level = VPA_LEVEL_ANNOTATION; level <= VPA_LEVEL_ITERATION; level++) {
		enum vpa_range_level at = (enum vpa_range_level)level;

		found = vpa_inner_range(find_level(own, at, t, span, min_ns),
			find_level(wide, at, t, span, min_ns));
		if (found)
			return found->name;
	}
	return 0;
}

static const struct vpa_interval any_time = {0, UINT64_MAX};

uint32_t vpa_place_among(struct vpa_range *own, struct vpa_range *wide, uint64_t t)
{
	return find_place(own, wide, t, &any_time, 0);
}

static uint32_t place_in(struct vpa_resolver *r, uint32_t thread, uint64_t t,
	const struct vpa_interval *span, uint64_t min_ns)
{
	struct vpa_steps *wide = &r->processes[r->model->threads[thread].process].ranges.steps;

	return find_place(vpa_steps_at(&r->pasts[thread].ranges.steps, t),
		wide->count ? vpa_steps_at(wide, t) : NULL, t, span, min_ns);
}

uint32_t vpa_resolver_place(struct vpa_resolver *r, uint32_t thread, uint64_t t)
{
	return place_in(r, thread, t, &any_time, 0);
}

uint32_t vpa_resolver_place_of(
	struct vpa_resolver *r, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	const struct vpa_interval span = {from_ns, to_ns};
	uint64_t ns = to_ns - from_ns;

	return place_in(r, thread, from_ns + ns / 2, &span, ns / 2 + 1);
}
