/* intervals.h - a set of moments as disjoint spans in order: where records were lost, where the profiling
 * library was at work. */
#ifndef VPA_ANALYSIS_INTERVALS_H
#define VPA_ANALYSIS_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

struct vpa_interval {
	uint64_t start_ns, end_ns;
};

struct vpa_intervals {
	struct vpa_interval *items; /* [0, settled) disjoint and in order, the rest as it came */
	size_t count, cap, settled;
	uint64_t trimmed_ns;       /* length of what has been given up */
	uint64_t trimmed_until_ns; /* where the last span of it ends; 0: none */
};

int vpa_intervals_add(struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns);
void vpa_intervals_settle(struct vpa_intervals *s); /* after adding, before asking */

/* Index of the first span that ends after `t`; s->count if there is none. */
size_t vpa_intervals_after(const struct vpa_intervals *s, uint64_t t);
void vpa_intervals_trim(struct vpa_intervals *s, uint64_t before_ns);
/* Total length, given-up spans included; what lies at or after `end_ns` does not count. */
uint64_t vpa_intervals_total(const struct vpa_intervals *s, uint64_t end_ns);
/* How much of [start_ns, end_ns) lies in none of them; only spans that have not been given up are known. */
uint64_t vpa_intervals_outside(const struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns);
void vpa_intervals_free(struct vpa_intervals *s);

/* `end_ns` is not before anything that was given up. */
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
