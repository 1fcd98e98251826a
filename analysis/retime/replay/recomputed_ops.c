/* recomputed_ops.c - which ops of a tape activation checkpointing computes again, see ../../model/recomputation.h. */
#include "analysis/retime/replay/chain_ops.h"

#include "analysis/base/intervals.h"
#include "analysis/model/recomputation.h"
#include "formats/base/memory.h"

/* A stretch of a thread in which what it launches is computed again. */
struct stretch {
	uint64_t from_ns, to_ns;
	uint32_t thread;
};

struct stretches {
	struct stretch *items; /* by start */
	size_t count, cap;
};

/* By thread: the stretches whose range is open, the newest first: 1 + number; 0: none. */
struct open_stretch {
	uint64_t end_ns; /* of the range */
	uint32_t below;
};

static int find_stretches(const struct vpa_tape *t, struct stretches *all)
{
	uint32_t *tops = vpt_calloc(t->thread_count + 1, sizeof(*tops));
	struct open_stretch *open = NULL;
	size_t cap = 0, i;
	int rc = tops ? VPT_OK : VPT_ENOMEM;

	for (i = 0; !rc && i < t->range_count; i++) {
		const struct vpa_tape_range *range = &t->ranges[i];
		struct vpt_text name = vpt_strings_get(&t->names, range->name);
		uint32_t *top = &tops[range->thread];

		while (*top && open[*top - 1].end_ns <= range->start_ns)
			*top = open[*top - 1].below;
		if (vpa_recomputes(name)) {
			rc = vpt_grow(&all->items, &all->cap, all->count + 1, sizeof(*all->items));
			rc = rc ? rc : vpt_grow(&open, &cap, all->count + 1, sizeof(*open));
			if (rc)
				break;
			all->items[all->count] =
				(struct stretch){range->start_ns, range->end_ns, range->thread};
			open[all->count] =
				(struct open_stretch){.end_ns = range->end_ns, .below = *top};
			*top = (uint32_t)++all->count;
		} else if (*top && vpa_is_of_gradients(name)) {
			/* They end the stretch of the innermost range that is open. */
			all->items[*top - 1].to_ns =
				vpa_earlier(all->items[*top - 1].to_ns, range->start_ns);
		}
	}
	vpt_free(tops);
	vpt_free(open);
	return rc;
}

/* By thread the last stretch that has begun; calls come by start. */
static int mark_ops(const struct vpa_tape *t, const struct stretches *all, uint8_t *chains)
{
	uint32_t *last = vpt_calloc(t->thread_count + 1, sizeof(*last));
	size_t i, next = 0;
	uint32_t k;

	if (!last)
		return VPT_ENOMEM;
	for (i = 0; i < t->call_count; i++) {
		const struct vpa_tape_call *c = &t->calls[i];
		const struct stretch *s;

		for (; next < all->count && all->items[next].from_ns <= c->start_ns; next++)
			last[all->items[next].thread] = (uint32_t)next + 1;
		s = last[c->thread] ? &all->items[last[c->thread] - 1] : NULL;
		for (k = 0; s && c->start_ns < s->to_ns && k < c->op_count; k++)
			chains[t->launched[c->op + k]] |= VPA_CHAIN_RECOMPUTED;
	}
	vpt_free(last);
	return VPT_OK;
}

int vpa_recomputed_ops_find(const struct vpa_tape *t, uint8_t *chains)
{
	struct stretches all = {.items = NULL};
	int rc = find_stretches(t, &all);

	if (!rc && all.count)
		rc = mark_ops(t, &all, chains);
	vpt_free(all.items);
	return rc;
}
