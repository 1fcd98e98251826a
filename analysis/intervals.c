/* intervals.c - spans are collected, then sorted and merged once per chunk. */
#include "analysis/intervals.h"

#include "formats/error.h"
#include "formats/memory.h"

#include <stdlib.h>
#include <string.h>

int vpa_intervals_add(struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns)
{
	if (end_ns <= start_ns)
		return VPT_OK;
	if (vpt_grow(&s->items, &s->cap, s->count + 1, sizeof(*s->items)))
		return VPT_ENOMEM;
	s->items[s->count++] = (struct vpa_interval){start_ns, end_ns};
	return VPT_OK;
}

static int compare_intervals(const void *pa, const void *pb)
{
	const struct vpa_interval *a = pa, *b = pb;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

void vpa_intervals_settle(struct vpa_intervals *s)
{
	size_t kept = 0, i;

	if (s->settled == s->count)
		return;
	qsort(s->items, s->count, sizeof(*s->items), compare_intervals);
	for (i = 0; i < s->count; i++) {
		struct vpa_interval *last = kept ? &s->items[kept - 1] : NULL;

		if (last && s->items[i].start_ns <= last->end_ns) {
			if (s->items[i].end_ns > last->end_ns)
				last->end_ns = s->items[i].end_ns;
		} else {
			s->items[kept++] = s->items[i];
		}
	}
	s->count = s->settled = kept;
}

size_t vpa_intervals_after(const struct vpa_intervals *s, uint64_t t)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->items[middle].end_ns > t)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

void vpa_intervals_trim(struct vpa_intervals *s, uint64_t before_ns)
{
	size_t gone = vpa_intervals_after(s, before_ns);

	size_t i;

	if (gone < 1024)
		return;
	for (i = 0; i < gone; i++)
		s->trimmed_ns += s->items[i].end_ns - s->items[i].start_ns;
	s->trimmed_until_ns = s->items[gone - 1].end_ns;
	s->count -= gone;
	s->settled = s->count;
	memmove(s->items, s->items + gone, s->count * sizeof(*s->items));
}

uint64_t vpa_intervals_total(const struct vpa_intervals *s, uint64_t end_ns)
{
	uint64_t total = s->trimmed_ns;
	size_t i;

	for (i = 0; i < s->count && s->items[i].start_ns < end_ns; i++)
		total += (s->items[i].end_ns < end_ns ? s->items[i].end_ns : end_ns) -
			 s->items[i].start_ns;
	return total;
}

uint64_t vpa_intervals_outside(const struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t ns = end_ns - start_ns;
	size_t i = vpa_intervals_after(s, start_ns);

	for (; i < s->count && s->items[i].start_ns < end_ns; i++) {
		uint64_t from = s->items[i].start_ns, to = s->items[i].end_ns;

		ns -= (to < end_ns ? to : end_ns) - (from > start_ns ? from : start_ns);
	}
	return ns;
}

int vpa_intervals_cut(const struct vpa_intervals *s, uint64_t start_ns, uint64_t first_ns,
	uint64_t last_ns, uint64_t end_ns)
{
	return vpa_intervals_touch(s, vpa_earlier(start_ns, first_ns), first_ns + 1) ||
	       vpa_intervals_touch(s, last_ns - 1, vpa_later(end_ns, last_ns));
}

void vpa_intervals_free(struct vpa_intervals *s)
{
	vpt_free(s->items);
	memset(s, 0, sizeof(*s));
}
