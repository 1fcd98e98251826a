/* gpu_ranges.c - ranges where their ops ran: on each stream from the first op to the end of the last.
 *
 * The profiler calls these gpu_user_annotation. A span is retained while its range may still get ops;
 * the driver reports a range when nothing refers to it any more, so memory is bounded by the pending
 * ranges. */
#include "analysis/export/chrome/chrome_ranges.h"

#include "analysis/join/resolver_maps.h"
#include "formats/base/hash.h"

struct span {
	const struct vpa_range *range; /* NULL: free */
	uint64_t first_ns, last_ns;
	uint32_t stream, next; /* 1 + the range's next span */
};

struct vpa_chrome_gpu {
	struct vpa_chrome *x;
	struct span *spans;
	size_t count, cap;
	uint32_t unused; /* 1 + the first free span, chained by `next` */
	uint32_t *slots; /* 1 + the first span of a range; open addressing by its address */
	size_t slot_count, used;
};

struct vpa_chrome_gpu *vpa_chrome_gpu_new(struct vpa_chrome *x)
{
	struct vpa_chrome_gpu *g = vpt_calloc(1, sizeof(*g));

	if (g)
		g->x = x;
	return g;
}

void vpa_chrome_gpu_free(struct vpa_chrome_gpu *g)
{
	if (!g)
		return;
	vpt_free(g->spans);
	vpt_free(g->slots);
	vpt_free(g);
}

/* ---- the spans of a range ---- */

static size_t home_of(const struct vpa_chrome_gpu *g, const struct vpa_range *range)
{
	return (size_t)vpt_hash_number((uint64_t)(uintptr_t)range) & (g->slot_count - 1);
}

/* The slot of a range, or a free one where it belongs. */
static uint32_t *slot_of(const struct vpa_chrome_gpu *g, const struct vpa_range *range)
{
	size_t i = home_of(g, range);

	while (g->slots[i] && g->spans[g->slots[i] - 1].range != range)
		i = (i + 1) & (g->slot_count - 1);
	return &g->slots[i];
}

static int grow(struct vpa_chrome_gpu *g)
{
	size_t old_count = g->slot_count, i;
	uint32_t *old = g->slots;

	g->slot_count = old_count ? old_count * 2 : 256;
	g->slots = vpt_calloc(g->slot_count, sizeof(*g->slots));
	if (!g->slots) {
		g->slots = old;
		g->slot_count = old_count;
		return VPT_ENOMEM;
	}
	for (i = 0; i < old_count; i++)
		if (old[i])
			*slot_of(g, g->spans[old[i] - 1].range) = old[i];
	vpt_free(old);
	return VPT_OK;
}

static struct span *new_span(struct vpa_chrome_gpu *g)
{
	struct span *s;

	if (g->unused) {
		s = &g->spans[g->unused - 1];
		g->unused = s->next;
		return s;
	}
	if (g->count >= UINT32_MAX - 1 ||
		vpt_grow(&g->spans, &g->cap, g->count + 1, sizeof(*g->spans)))
		return NULL;
	return &g->spans[g->count++];
}

static int widen(struct vpa_chrome_gpu *g, const struct vpa_range *range, uint32_t stream,
	uint64_t first_ns, uint64_t last_ns)
{
	uint32_t *slot, at;
	struct span *s;

	if (g->used * 2 >= g->slot_count && grow(g))
		return VPT_ENOMEM;
	slot = slot_of(g, range);
	for (at = *slot; at; at = g->spans[at - 1].next) {
		s = &g->spans[at - 1];
		if (s->stream != stream)
			continue;
		s->last_ns = last_ns > s->last_ns ? last_ns : s->last_ns;
		return VPT_OK;
	}
	s = new_span(g);
	if (!s)
		return VPT_ENOMEM;
	g->used += !*slot;
	*s = (struct span){range, first_ns, last_ns, stream, *slot};
	*slot = (uint32_t)(s - g->spans) + 1;
	return VPT_OK;
}

/* Removes a range from the table and moves up the entries that its slot had displaced. */
static void forget(struct vpa_chrome_gpu *g, uint32_t *slot)
{
	size_t hole = (size_t)(slot - g->slots), i = hole, mask = g->slot_count - 1;

	g->slots[hole] = 0;
	g->used--;
	while (g->slots[i = (i + 1) & mask]) {
		size_t home = home_of(g, g->spans[g->slots[i] - 1].range);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		g->slots[hole] = g->slots[i];
		g->slots[i] = 0;
		hole = i;
	}
}

/* ---- ops in, events out ---- */

/* Operators are shown on their threads only. */
static int is_operator(struct vpa_chrome_gpu *g, const struct vpa_range *range)
{
	return range->domain &&
	       range->domain == g->x->c->view.resolver->maps->domains[VPT_DOMAIN_OPERATORS];
}

/* Widens a range by the ops in [begin, end) of a stretch that were launched while it was open. */
static int widen_by(struct vpa_chrome_gpu *g, const struct vpa_range *range,
	const struct vpa_ops *ops, size_t begin, size_t end)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	for (; begin < end; begin++)
		if (ops->launch_start_ns[begin] < range->end_ns) {
			if (first_ns == UINT64_MAX)
				first_ns = ops->start_ns[begin];
			if (ops->end_ns[begin] > last_ns)
				last_ns = ops->end_ns[begin];
		}
	return last_ns ? widen(g, range, ops->stream[end - 1], first_ns, last_ns) : VPT_OK;
}

/* The same for all ranges of a chain; they were open when the stretch began. */
static int widen_chain(struct vpa_chrome_gpu *g, const struct vpa_range *range,
	const struct vpa_op_stretch *stretch, const struct vpa_ops *ops, size_t begin, size_t end)
{
	int rc = VPT_OK;

	for (; range && !rc; range = vpa_range_around(range, stretch->from_ns))
		if (!is_operator(g, range))
			rc = widen_by(g, range, ops, begin, end);
	return rc;
}

int vpa_chrome_gpu_ops(struct vpa_chrome_gpu *g, const struct vpa_ops *ops)
{
	size_t k, i = 0, end;
	int rc = VPT_OK;

	for (k = 0; k < ops->stretch_count && !rc; k++) {
		const struct vpa_op_stretch *stretch = &ops->stretches[k];

		for (; i < stretch->end && !rc; i = end) {
			for (end = i + 1; end < stretch->end && ops->stream[end] == ops->stream[i];
				end++)
				;
			rc = widen_chain(g, stretch->range, stretch, ops, i, end);
			if (!rc)
				rc = widen_chain(g, stretch->process_range, stretch, ops, i, end);
		}
	}
	return rc;
}

static void put_span(struct vpa_chrome *x, const struct vpa_range *range, const struct span *s)
{
	const struct vpa_model *m = x->c->view.context->model;
	const struct vpa_stream *stream = &m->streams[s->stream];
	struct vpt_text name = vpa_range_name(m, range);
	struct vpa_line *l = &x->out;

	vpa_chrome_event(x);
	vpa_line_words(l, "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":");
	vpa_line_json(l, name.text, name.len);
	vpa_chrome_pid(x, l, ",\"pid\":", (uint64_t)m->devices[stream->device]);
	vpa_line_words(l, ",\"tid\":");
	vpa_line_signed(l, (uint64_t)stream->stream);
	vpa_line_words(l, ",\"ts\":");
	vpa_chrome_time(x, s->first_ns);
	vpa_line_words(l, ",\"dur\":");
	vpa_line_micros(l, s->last_ns - s->first_ns);
	vpa_line_words(l, "}");
}

int vpa_chrome_gpu_range(struct vpa_chrome_gpu *g, const struct vpa_range *range)
{
	uint32_t *slot, at, next;

	if (!g->used)
		return VPT_OK;
	slot = slot_of(g, range);
	at = *slot;
	if (at)
		forget(g, slot);
	for (; at; at = next) {
		struct span *s = &g->spans[at - 1];

		put_span(g->x, range, s);
		next = s->next;
		s->next = g->unused;
		s->range = NULL;
		g->unused = at;
	}
	return g->x->out.failed ? VPT_ENOMEM : VPT_OK;
}
