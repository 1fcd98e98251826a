/* intervals.h - a set of times as disjoint, ordered spans: where records were lost, where the
 * profiling library was at work. */
#ifndef VPA_ANALYSIS_BASE_INTERVALS_H
#define VPA_ANALYSIS_BASE_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t vpa_earlier(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

static inline uint64_t vpa_later(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

struct vpa_interval {
	uint64_t start_ns, end_ns;
};

/* All zeros is empty. Always disjoint and ordered. */
struct vpa_intervals {
	struct vpa_intervals_slab {
		struct vpa_interval *spans; /* at least one */
		size_t count, cap;
		uint64_t length_ns; /* of its spans */
	} * slabs;
	size_t slab_count, slab_cap, count; /* count: of all spans */
	uint64_t trimmed_ns;                /* total length of dropped spans */
	uint64_t trimmed_until_ns;          /* end of the last dropped span; 0: none */
};

/* Adds a span, in any order; what it overlaps or touches becomes one with it. An empty one is ignored. Takes
 * no longer however many there are. 0 or VPT_ENOMEM. */
int vpa_intervals_add(struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns);

/* Which span comes next. */
struct vpa_intervals_at {
	size_t slab, i;
};

/* The first span that ends after `t_ns`, then the others; NULL after the last. Any change of the set
 * ends the enumeration. */
const struct vpa_interval *vpa_intervals_after(
	const struct vpa_intervals *s, uint64_t t_ns, struct vpa_intervals_at *at);
const struct vpa_interval *vpa_intervals_next(
	const struct vpa_intervals *s, struct vpa_intervals_at *at);
/* The first and the last span of a set that is not empty. */
static inline const struct vpa_interval *vpa_intervals_first(const struct vpa_intervals *s)
{
	return s->slabs[0].spans;
}

static inline const struct vpa_interval *vpa_intervals_last(const struct vpa_intervals *s)
{
	const struct vpa_intervals_slab *last = &s->slabs[s->slab_count - 1];

	return &last->spans[last->count - 1];
}

/* Drops most of the spans that end at or before `before_ns`, if there are many. */
void vpa_intervals_trim(struct vpa_intervals *s, uint64_t before_ns);
/* Total length, dropped spans included; time from `end_ns` on does not count. */
uint64_t vpa_intervals_total(const struct vpa_intervals *s, uint64_t end_ns);
/* How much of [start_ns, end_ns) no span covers; knows only spans that have not been dropped. */
uint64_t vpa_intervals_outside(const struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns);
/* Whether a span, as of a pause, may hide the launch of the first or of the last op of a range from `start_ns` to
 * `end_ns` on the host, whose ops run from `first_ns` to `last_ns`. What is launched outside is recorded whenever
 * it runs, so a span before or after the range on the host hides neither; nor does one that begins after the first
 * op, and is over before the last one ends. */
int vpa_intervals_cut(const struct vpa_intervals *s, uint64_t start_ns, uint64_t first_ns,
	uint64_t last_ns, uint64_t end_ns);
void vpa_intervals_free(struct vpa_intervals *s);

/* Whether any span, dropped ones included, touches [start_ns, end_ns). `end_ns` must not lie before
 * a dropped span. */
static inline int vpa_intervals_touch(
	const struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns)
{
	const struct vpa_interval *span;
	struct vpa_intervals_at at;

	if (start_ns < s->trimmed_until_ns)
		return 1;
	if (!s->count || vpa_intervals_last(s)->end_ns <= start_ns)
		return 0;
	span = vpa_intervals_after(s, start_ns, &at);
	return span && span->start_ns < end_ns;
}

/* Whether some of the time from a moment to a later one is a span's; no if the second is not later. */
static inline int vpa_intervals_between(
	const struct vpa_intervals *s, uint64_t from_ns, uint64_t to_ns)
{
	return from_ns < to_ns && vpa_intervals_touch(s, from_ns, to_ns);
}

#endif
