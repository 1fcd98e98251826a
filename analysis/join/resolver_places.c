/* resolver_places.c - the ranges around a moment, and which of them is its place. */
#include "analysis/join/resolver.h"
#include "analysis/join/resolver_parts.h"

void vpa_resolver_ranges_at(struct vpa_resolver *r, uint32_t thread, uint64_t t,
	const struct vpa_range **own, const struct vpa_range **wide)
{
	*own = vpa_range_changes_at(&r->pasts[thread].ranges.changes, t);
	*wide = vpa_range_changes_at(
		&r->processes[r->model->threads[thread].process].ranges.changes, t);
}

/* Ranges to consider around a moment: open at `at_ns`, and covering at least `min_ns` of the span. */
struct asked {
	uint64_t at_ns;
	struct vpa_interval span;
	uint64_t min_ns;
};

/* The innermost range of a chain that has this level; opened by this thread, unless that is VPA_NONE. NULL: none. */
static const struct vpa_range *find_level(
	struct vpa_range *range, enum vpa_range_level level, uint32_t thread, const struct asked *a)
{
	for (range = vpa_range_open_at(range, a->at_ns); range;
		range = vpa_range_around(range, a->at_ns)) {
		uint64_t from, to;

		if (range->level != level || (thread != VPA_NONE && range->thread != thread))
			continue;
		from = vpa_later(range->start_ns, a->span.start_ns);
		to = vpa_earlier(range->end_ns, a->span.end_ns);
		if (to >= from && to - from >= a->min_ns)
			return range;
	}
	return NULL;
}

/* The innermost range of the first level that has one, up to `last`. `thread`: who opened the process-wide ones, or
 * VPA_NONE. NULL: none. */
static const struct vpa_range *find_range(struct vpa_range *own, struct vpa_range *wide,
	uint32_t thread, enum vpa_range_level last, const struct asked *a)
{
	const struct vpa_range *found = NULL;
	int level;

	for (level = VPA_LEVEL_ANNOTATION; level <= (int)last && !found; level++) {
		enum vpa_range_level at = (enum vpa_range_level)level;

		found = vpa_inner_range(
			find_level(own, at, VPA_NONE, a), find_level(wide, at, thread, a));
	}
	return found;
}

/* The place among these ranges and those around them. What other threads opened for the whole process comes after all
 * that the thread has opened: it says what those do. The profiler's iteration is anyone's. */
static uint32_t find_place(
	struct vpa_range *own, struct vpa_range *wide, uint32_t thread, const struct asked *a)
{
	const struct vpa_range *found = find_range(own, wide, thread, VPA_LEVEL_FUNCTION, a);

	if (!found)
		found = find_range(own, wide, VPA_NONE, VPA_LEVEL_ITERATION, a);
	return found ? found->name : 0;
}

uint32_t vpa_place_among(struct vpa_range *own, struct vpa_range *wide, uint32_t thread, uint64_t t)
{
	const struct asked a = {.at_ns = t, .span = {0, UINT64_MAX}};

	return find_place(own, wide, thread, &a);
}

static uint32_t place_in(struct vpa_resolver *r, uint32_t thread, const struct asked *a)
{
	struct vpa_range_changes *wide =
		&r->processes[r->model->threads[thread].process].ranges.changes;

	return find_place(vpa_range_changes_at(&r->pasts[thread].ranges.changes, a->at_ns),
		wide->count ? vpa_range_changes_at(wide, a->at_ns) : NULL, thread, a);
}

uint32_t vpa_resolver_place(struct vpa_resolver *r, uint32_t thread, uint64_t t)
{
	const struct asked a = {.at_ns = t, .span = {0, UINT64_MAX}};

	return place_in(r, thread, &a);
}

/* Of ranges that cover at least `min_ns` of a stretch. */
static uint32_t place_of(
	struct vpa_resolver *r, uint32_t thread, uint64_t from_ns, uint64_t to_ns, uint64_t min_ns)
{
	const struct asked a = {.at_ns = from_ns + (to_ns - from_ns) / 2,
		.span = {from_ns, to_ns},
		.min_ns = min_ns};

	return place_in(r, thread, &a);
}

uint32_t vpa_resolver_place_of(
	struct vpa_resolver *r, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	return place_of(r, thread, from_ns, to_ns, (to_ns - from_ns) / 2 + 1);
}

int vpa_resolver_is_in_place(
	struct vpa_resolver *r, uint32_t thread, uint64_t from_ns, uint64_t to_ns, uint32_t place)
{
	uint64_t ns = to_ns - from_ns;

	return place_of(r, thread, from_ns, to_ns, ns - ns / 10) == place;
}
