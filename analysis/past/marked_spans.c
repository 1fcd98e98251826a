/* marked_spans.c - makes marked spans from marks. A chunk's marks come in any order, open ones first, so they are
 * sorted. */
#include "analysis/past/marked_spans.h"

#include "formats/base/count.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/search.h"

#include <stdlib.h>
#include <string.h>

/* Per thread or process; with more a trace is no longer one of a video or a loop. */
enum { LAPS_MAX = 1 << 16 };

enum vpa_marked_span_mark vpa_marked_span_mark_of(const char *name, size_t len)
{
	static const struct {
		const char *name;
		enum vpa_marked_span_mark mark;
	} whole[] = {
		{"transformer_forward", VPA_RANGE_MARK_FORWARD},
		{"ltx2.denoise.pass.pos", VPA_RANGE_MARK_FORWARD},
		{"minimax_h3.dit", VPA_RANGE_MARK_FORWARD},
		{"scheduler_step", VPA_RANGE_MARK_SCHEDULER},
		{"ltx2.denoise.scheduler_update", VPA_RANGE_MARK_SCHEDULER},
	};
	static const char optimizer[] = "Optimizer.step#", loader[] = "DataLoader",
			  next[] = "__next__";
	size_t i;

	for (i = 0; i < COUNT(whole); i++)
		if (strlen(whole[i].name) == len && !memcmp(name, whole[i].name, len))
			return whole[i].mark;
	if (len > sizeof(optimizer) - 1 && !memcmp(name, optimizer, sizeof(optimizer) - 1))
		return VPA_RANGE_MARK_OPTIMIZER;
	if (len > sizeof(next) - 1 &&
		!memcmp(name + len - (sizeof(next) - 1), next, sizeof(next) - 1) &&
		memmem(name, len, loader, sizeof(loader) - 1))
		return VPA_RANGE_MARK_LOADER;
	return VPA_RANGE_MARK_NONE;
}

/* ---- marks ---- */

int vpa_marked_spans_note(struct vpa_marked_spans *l, const struct vpa_marked_span_note *note)
{
	if (vpt_grow(&l->fresh, &l->fresh_cap, l->fresh_count + 1, sizeof(*l->fresh)))
		return VPT_ENOMEM;
	l->fresh[l->fresh_count++] = *note;
	return VPT_OK;
}

static struct vpa_marked_span_track *track_of(
	struct vpa_marked_spans *l, enum vpa_marked_span_kind kind, uint32_t owner)
{
	size_t before = l->counts[kind];

	if (owner >= before) {
		if (vpt_grow(&l->tracks[kind], &l->caps[kind], (size_t)owner + 1,
			    sizeof(*l->tracks[kind])))
			return NULL;
		l->counts[kind] = (size_t)owner + 1;
		memset(l->tracks[kind] + before, 0,
			(l->counts[kind] - before) * sizeof(*l->tracks[kind]));
	}
	return &l->tracks[kind][owner];
}

static int open_marked_span(struct vpa_marked_spans *l, struct vpa_marked_span_track *t,
	uint64_t start_ns, uint64_t end_ns, int goes_on)
{
	if (t->count == LAPS_MAX) {
		l->left_out++;
		return VPT_OK;
	}
	if (vpt_grow(&t->items, &t->cap, t->count + 1, sizeof(*t->items)))
		return VPT_ENOMEM;
	t->items[t->count++] = (struct vpa_marked_span){
		.start_ns = start_ns, .end_ns = end_ns, .goes_on = goes_on != 0};
	return VPT_OK;
}

/* The newest marked span, if it is open; else NULL. */
static struct vpa_marked_span *open_one(const struct vpa_marked_span_track *t)
{
	struct vpa_marked_span *last = t->count ? &t->items[t->count - 1] : NULL;

	return last && last->end_ns == UINT64_MAX ? last : NULL;
}

/* Up to where the track is settled. */
static uint64_t settled_ns(const struct vpa_marked_span_track *t)
{
	const struct vpa_marked_span *last = t->count ? &t->items[t->count - 1] : NULL;

	return !last ? 0 : last->end_ns == UINT64_MAX ? last->start_ns : last->end_ns;
}

static int add_forward(struct vpa_marked_spans *l, struct vpa_marked_span_track *t,
	const struct vpa_marked_span_note *n)
{
	t->has_forward = 1;
	if (open_one(t) || n->start_ns < settled_ns(t))
		return VPT_OK;
	return open_marked_span(l, t, n->start_ns, UINT64_MAX, 0);
}

/* Ends a step. A second scheduler step, of a model with two schedulers, continues the same marked span. */
static int add_scheduler(struct vpa_marked_spans *l, struct vpa_marked_span_track *t,
	const struct vpa_marked_span_note *n)
{
	struct vpa_marked_span *marked_span = open_one(t);

	if (n->start_ns < settled_ns(t) && !(marked_span && n->end_ns > marked_span->start_ns))
		return VPT_OK;
	if (!marked_span && t->has_forward)
		return t->count ? open_marked_span(l, t, n->start_ns, n->end_ns, 1) : VPT_OK;
	if (n->end_ns == UINT64_MAX)
		return VPT_OK;
	if (marked_span)
		marked_span->end_ns = n->end_ns;
	return t->has_forward ? VPT_OK : open_marked_span(l, t, n->end_ns, UINT64_MAX, 0);
}

/* Ends an iteration and begins the next one at the same time. */
static int add_turn(
	struct vpa_marked_spans *l, struct vpa_marked_span_track *t, uint32_t name, uint64_t at_ns)
{
	struct vpa_marked_span *marked_span = open_one(t);

	if (at_ns == UINT64_MAX || (t->name && t->name != name) ||
		(marked_span && at_ns <= marked_span->start_ns))
		return VPT_OK;
	t->name = name;
	if (marked_span)
		marked_span->end_ns = at_ns;
	return open_marked_span(l, t, at_ns, UINT64_MAX, 0);
}

static int add_mark(struct vpa_marked_spans *l, const struct vpa_marked_span_note *n)
{
	static const enum vpa_marked_span_kind kinds[] = {
		[VPA_RANGE_MARK_FORWARD] = VPA_MARKED_SPAN_STEP,
		[VPA_RANGE_MARK_SCHEDULER] = VPA_MARKED_SPAN_STEP,
		[VPA_RANGE_MARK_OPTIMIZER] = VPA_MARKED_SPAN_OPTIMIZER,
		[VPA_RANGE_MARK_LOADER] = VPA_MARKED_SPAN_LOADER};
	enum vpa_marked_span_kind kind = kinds[n->mark];
	struct vpa_marked_span_track *t =
		track_of(l, kind, kind == VPA_MARKED_SPAN_STEP ? n->thread : n->process);

	if (!t)
		return VPT_ENOMEM;
	switch (n->mark) {
	case VPA_RANGE_MARK_FORWARD:
		return add_forward(l, t, n);
	case VPA_RANGE_MARK_SCHEDULER:
		return add_scheduler(l, t, n);
	case VPA_RANGE_MARK_OPTIMIZER:
		return add_turn(l, t, n->name, n->end_ns);
	default:
		return add_turn(l, t, n->name, n->start_ns);
	}
}

static int compare_notes(const void *pa, const void *pb)
{
	const struct vpa_marked_span_note *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

int vpa_marked_spans_settle(struct vpa_marked_spans *l)
{
	size_t i;
	int rc = VPT_OK;

	if (l->fresh_count > 1)
		qsort(l->fresh, l->fresh_count, sizeof(*l->fresh), compare_notes);
	for (i = 0; i < l->fresh_count && !rc; i++)
		rc = add_mark(l, &l->fresh[i]);
	l->fresh_count = 0;
	return rc;
}

/* ---- queries ---- */

struct vpa_marked_span *vpa_marked_spans_at(const struct vpa_marked_spans *l,
	enum vpa_marked_span_kind kind, uint32_t owner, uint64_t at_ns, uint64_t *from_ns,
	uint64_t *until_ns)
{
	const struct vpa_marked_span_track *t =
		owner < l->counts[kind] ? &l->tracks[kind][owner] : NULL;
	size_t low = 0, high = t ? t->count : 0;
	uint64_t from, until;

	VPT_SEARCH(low, high, middle, t->items[middle].start_ns <= at_ns);
	/* The marked span at low - 1 is the newest that has begun; the next one begins at `until`. */
	until = t && low < t->count ? t->items[low].start_ns : UINT64_MAX;
	from = low ? t->items[low - 1].start_ns : 0;
	if (low && t->items[low - 1].end_ns <= at_ns)
		from = t->items[low - 1].end_ns;
	else if (low && t->items[low - 1].end_ns < until)
		until = t->items[low - 1].end_ns;
	*from_ns = from > *from_ns ? from : *from_ns;
	*until_ns = until < *until_ns ? until : *until_ns;
	if (!low || t->items[low - 1].end_ns <= at_ns)
		return NULL;
	for (low--; low && t->items[low].goes_on; low--)
		;
	return &t->items[low];
}

void vpa_marked_spans_free(struct vpa_marked_spans *l)
{
	size_t kind, i;

	for (kind = 0; kind < VPA_MARKED_SPAN_KINDS; kind++) {
		for (i = 0; i < l->counts[kind]; i++)
			vpt_free(l->tracks[kind][i].items);
		vpt_free(l->tracks[kind]);
	}
	vpt_free(l->fresh);
	memset(l, 0, sizeof(*l));
}
