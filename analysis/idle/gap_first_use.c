/* gap_first_use.c - the rule of first use, see gap_causes.h: finds the items, then cuts the pieces at their edges. Few gaps
 * end with a first op, so it looks at all calls that may have been in one. */
#include "analysis/idle/gap_causes.h"

#include "analysis/idle/setup_calls.h"
#include "formats/base/memory.h"

#include <stdlib.h>

/* ---- items ---- */

static int put_edge(struct vpa_answer *a, uint64_t at_ns, int queries)
{
	if (vpt_grow(&a->edges, &a->edge_cap, a->edge_count + 1, sizeof(*a->edges)))
		return VPT_ENOMEM;
	a->edges[a->edge_count++] = (struct vpa_setup_edge){at_ns, queries};
	return VPT_OK;
}

/* Adds the edges of the thread's queries that load code in [from_ns, to_ns). Calls are in order of their end, so any later
 * one may have begun in it: whole blocks that did not are skipped. */
static int find_queries(const struct vpa_resolver *r, uint32_t thread, uint64_t from_ns,
	uint64_t to_ns, struct vpa_answer *a)
{
	const struct vpa_calls *calls = &r->pasts[thread].calls;
	uint64_t p = vpa_calls_after(calls, from_ns, calls->end);
	int rc = VPT_OK;

	while (p < calls->end && !rc) {
		const struct vpa_call *call = vpa_calls_at(calls, p);
		uint64_t start = vpa_call_start(call), end = vpa_call_end(call);

		if (vpa_call_slab_of(call)->start_ns >= to_ns) {
			p += VPA_CALL_SLAB - p % VPA_CALL_SLAB;
			continue;
		}
		p++;
		if (start >= to_ns || end <= from_ns || !vpa_is_loading_query(r->model, call))
			continue;
		rc = put_edge(a, vpa_later(start, from_ns), 1);
		if (!rc)
			rc = put_edge(a, vpa_earlier(end, to_ns), -1);
	}
	return rc;
}

static int compare_edges(const void *pa, const void *pb)
{
	const struct vpa_setup_edge *a = pa, *b = pb;

	return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

/* The time from the first item's start to the last one's end; empty: there is none. */
static struct vpa_interval span_items(
	const struct vpa_answer *a, const struct vpa_cause_pieces *pieces)
{
	struct vpa_interval items = {UINT64_MAX, 0};
	size_t i;

	for (i = 0; i < a->edge_count; i++) {
		items.start_ns = vpa_earlier(items.start_ns, a->edges[i].at_ns);
		items.end_ns = vpa_later(items.end_ns, a->edges[i].at_ns);
	}
	for (i = 0; i < pieces->count; i++) {
		if (pieces->items[i].cause != VPA_CAUSE_MODULE_LOAD)
			continue;
		items.start_ns = vpa_earlier(items.start_ns, pieces->items[i].start_ns);
		items.end_ns = vpa_later(items.end_ns, pieces->items[i].end_ns);
	}
	return items;
}

/* ---- pieces ---- */

static int is_fixed(const struct vpa_cause_piece *p)
{
	return p->cause == VPA_CAUSE_PROFILER || p->cause == VPA_CAUSE_MODULE_LOAD ||
	       p->base == VPA_CAUSE_SYNC || p->base == VPA_CAUSE_BLOCKING_COPY;
}

/* Gives a part of a piece, between two edges, its cause. */
static void judge(struct vpa_cause_piece *part, const struct vpa_interval *items, int queries)
{
	int is_code = part->cause == VPA_CAUSE_HOST_CODE && part->is_long;
	int is_between = part->start_ns >= items->start_ns && part->end_ns <= items->end_ns;

	if (!queries && !is_code && !is_between)
		return;
	part->cause = queries ? VPA_CAUSE_MODULE_LOAD : VPA_CAUSE_FIRST_USE;
	part->is_setup = 1;
	part->host = 0;
	part->inside = part->host_place = part->instead_call = part->instead_place = 0;
}

/* Cuts the pieces at the edges, into the answer's spare pieces. */
static int cut_pieces(struct vpa_answer *a, const struct vpa_cause_pieces *pieces,
	const struct vpa_interval *items)
{
	struct vpa_cause_pieces *out = &a->spare_pieces;
	size_t i, edge = 0;
	int queries = 0;

	out->count = 0;
	if (vpt_grow(&out->items, &out->cap, pieces->count + a->edge_count, sizeof(*out->items)))
		return VPT_ENOMEM;
	for (i = 0; i < pieces->count; i++) {
		struct vpa_cause_piece part = pieces->items[i];
		uint64_t end_ns = part.end_ns;

		while (part.start_ns < end_ns) {
			for (; edge < a->edge_count && a->edges[edge].at_ns <= part.start_ns;
				edge++)
				queries += a->edges[edge].queries;
			part.end_ns = end_ns;
			if (!is_fixed(&pieces->items[i])) {
				if (edge < a->edge_count)
					part.end_ns = vpa_earlier(end_ns, a->edges[edge].at_ns);
				judge(&part, items, queries);
			}
			out->items[out->count++] = part;
			part = pieces->items[i];
			part.start_ns = out->items[out->count - 1].end_ns;
		}
	}
	return VPT_OK;
}

int vpa_cause_first_use(const struct vpa_resolver *r, uint32_t thread, struct vpa_answer *a,
	struct vpa_cause_pieces *pieces)
{
	struct vpa_cause_pieces judged;
	struct vpa_interval items;
	int rc;

	if (!pieces->count)
		return VPT_OK;
	a->edge_count = 0;
	rc = find_queries(
		r, thread, pieces->items[0].start_ns, pieces->items[pieces->count - 1].end_ns, a);
	items = span_items(a, pieces);
	if (rc || items.start_ns >= items.end_ns)
		return rc;
	rc = put_edge(a, items.start_ns, 0);
	if (!rc)
		rc = put_edge(a, items.end_ns, 0);
	if (rc)
		return rc;
	qsort(a->edges, a->edge_count, sizeof(*a->edges), compare_edges);
	rc = cut_pieces(a, pieces, &items);
	if (rc)
		return rc;
	judged = a->spare_pieces;
	a->spare_pieces = *pieces;
	*pieces = judged;
	return VPT_OK;
}
