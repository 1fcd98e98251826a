/* intervals.h - a set of times as disjoint, ordered spans: where records were lost, where the
 * profiling library was at work. */
#ifndef VPA_ANALYSIS_INTERVALS_H
#define VPA_ANALYSIS_INTERVALS_H

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

struct vpa_intervals {
	/* [0, settled) disjoint and ordered, the rest in order of arrival */
	struct vpa_interval *items;
	size_t count, cap, settled;
	uint64_t trimmed_ns;       /* total length of dropped spans */
	uint64_t trimmed_until_ns; /* end of the last dropped span; 0: none */
};

int vpa_intervals_add(struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns);
void vpa_intervals_settle(struct vpa_intervals *s); /* after adding, before any query */

/* Index of the first span that ends after `t`; s->count if there is none. */
size_t vpa_intervals_after(const struct vpa_intervals *s, uint64_t t);
void vpa_intervals_trim(struct vpa_intervals *s, uint64_t before_ns);
/* Total length, dropped spans included; time from `end_ns` on does not count. */
uint64_t vpa_intervals_total(const struct vpa_intervals *s, uint64_t end_ns);
/* How much of [start_ns, end_ns) no span covers; knows only spans that have not been dropped. */
uint64_t vpa_intervals_outside(const struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns);
/* Whether a span, as of a pause, may hide the first or the last op of a range from `start_ns` to `end_ns` on the
 * host. One that begins after the first op, and is over before the last one ends, hides neither. */
int vpa_intervals_cut(const struct vpa_intervals *s, uint64_t start_ns, uint64_t first_ns,
	uint64_t last_ns, uint64_t end_ns);
void vpa_intervals_free(struct vpa_intervals *s);

/* Whether any span, dropped ones included, touches [start_ns, end_ns). `end_ns` must not lie before
 * a dropped span. */
static inline int vpa_intervals_touch(
	const struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns)
{
	size_t i;

	if (start_ns < s->trimmed_until_ns)
		return 1;
	if (!s->count || s->items[s->count - 1].end_ns <= start_ns)
		return 0;
	i = vpa_intervals_after(s, start_ns);
	return i < s->count && s->items[i].start_ns < end_ns;
}

#endif
