/* past_stacks.c - searches by halves, and moves what is left once half has been dropped. */
#include "analysis/past/timeline.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/search.h"

#include <string.h>

enum {
	KEPT_MAX = 1 << 20,
	COMPACT = 1024 /* fewer dropped items stay where they are */
};

/* An interval is chosen before it is known what the sample at its end finds. So sums of weights
 * estimate time, however ticks are spaced. A limit by the length of the gap that the sample is in would
 * break this for short gaps: the weights of their samples would no longer depend on the interval. */
static uint32_t weight_of(const struct vpa_stack_samples *s, uint64_t t)
{
	const struct vpa_stack_sample *before =
		s->count > s->dropped ? &s->items[s->count - 1] : NULL;

	if (!before || before->is_exact)
		return VPA_SAMPLE_INTERVAL_NS;
	if (t - before->time_ns > VPA_SAMPLE_INTERVAL_MAX_NS)
		return before->weight_ns;
	return t > before->time_ns ? (uint32_t)(t - before->time_ns) : 1;
}

int vpa_stack_samples_add(struct vpa_stack_samples *s, const struct vpa_stack_sample *sample)
{
	if (s->count > s->dropped && sample->time_ns < s->items[s->count - 1].time_ns) {
		s->late++;
		return VPT_OK;
	}
	if (vpt_grow(&s->items, &s->cap, s->count + 1, sizeof(*s->items)))
		return VPT_ENOMEM;
	if (!s->count && !sample->is_exact)
		s->first_ns = sample->time_ns;
	s->items[s->count] = *sample;
	s->items[s->count].weight_ns = weight_of(s, sample->time_ns);
	s->count++;
	return VPT_OK;
}

size_t vpa_stack_samples_from(const struct vpa_stack_samples *s, uint64_t t)
{
	size_t low = s->dropped, high = s->count;

	VPT_SEARCH(low, high, middle, s->items[middle].time_ns < t);
	return low;
}

const struct vpa_stack_sample *vpa_stack_samples_at(const struct vpa_stack_samples *s, uint64_t t)
{
	size_t next = t == UINT64_MAX ? s->count : vpa_stack_samples_from(s, t + 1);
	const struct vpa_stack_sample *at = next > s->dropped ? &s->items[next - 1] : NULL;

	return at && at->is_exact ? at : NULL;
}

const struct vpa_stack_sample *vpa_stack_samples_next(const struct vpa_stack_samples *s, uint64_t t)
{
	const struct vpa_stack_sample *at = vpa_stack_samples_at(s, t);
	size_t next;

	if (at)
		return at;
	next = vpa_stack_samples_from(s, t);
	return next < s->count && s->items[next].is_exact ? &s->items[next] : NULL;
}

void vpa_stack_samples_trim(struct vpa_stack_samples *s, uint64_t t)
{
	size_t first = vpa_stack_samples_from(s, t);

	if (s->count - s->dropped > KEPT_MAX && first < s->count - KEPT_MAX)
		first = s->count - KEPT_MAX;
	if (first > s->dropped + 1)
		s->dropped = first - 1;
	if (s->dropped < COMPACT || s->dropped < s->count / 2)
		return;
	memmove(s->items, s->items + s->dropped, (s->count - s->dropped) * sizeof(*s->items));
	s->count -= s->dropped;
	s->dropped = 0;
}

void vpa_stack_samples_free(struct vpa_stack_samples *s)
{
	vpt_free(s->items);
	*s = (struct vpa_stack_samples){0};
}
