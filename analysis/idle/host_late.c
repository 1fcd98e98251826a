/* host_late.c - cutting and credit. Both walk the outermost calls of one thread once per gap and
 * device. */
#include "analysis/idle/host_late.h"

#include "analysis/idle/gap_causes.h"
#include "analysis/idle/setup_calls.h"
#include "formats/base/memory.h"

#include <stdlib.h>

const uint8_t vpa_cause_of_class[] = {
	[VPT_CALL_OTHER] = VPA_CAUSE_OTHER_CALL,
	[VPT_CALL_LAUNCH] = VPA_CAUSE_LAUNCH_CALL,
	[VPT_CALL_GRAPH_LAUNCH] = VPA_CAUSE_LAUNCH_CALL,
	[VPT_CALL_COPY] = VPA_CAUSE_LAUNCH_CALL,
	[VPT_CALL_BLOCKING_COPY] = VPA_CAUSE_BLOCKING_COPY,
	[VPT_CALL_MEMSET] = VPA_CAUSE_LAUNCH_CALL,
	[VPT_CALL_SYNC] = VPA_CAUSE_SYNC,
	[VPT_CALL_STREAM_WAIT] = VPA_CAUSE_OTHER_CALL,
	[VPT_CALL_EVENT_RECORD] = VPA_CAUSE_LAUNCH_CALL,
	[VPT_CALL_QUERY] = VPA_CAUSE_LAUNCH_CALL,
	[VPT_CALL_ALLOCATION] = VPA_CAUSE_ALLOCATION,
	[VPT_CALL_MODULE_LOAD] = VPA_CAUSE_MODULE_LOAD,
	[VPT_CALL_GRAPH_BUILD] = VPA_CAUSE_GRAPH_BUILD,
	[VPT_CALL_BEGIN_CAPTURE] = VPA_CAUSE_GRAPH_BUILD,
	[VPT_CALL_END_CAPTURE] = VPA_CAUSE_GRAPH_BUILD,
};

/* ---- what a call is ---- */

static enum vpa_cause cause_of(const struct vpa_host_late *l, const struct vpa_call *call)
{
	return l->first_use && vpa_is_setup_call(l->resolver->model, call)
		       ? VPA_CAUSE_MODULE_LOAD
		       : vpa_host_late_cause_of(call);
}

/* ---- cutting ---- */

/* Appends a cut; returns its piece, to be filled in. NULL: no memory. */
static struct vpa_cause_piece *piece_of(struct vpa_cuts *cuts, uint64_t start_ns, uint64_t end_ns)
{
	struct vpa_cut *cut = vpa_cuts_add(cuts);

	if (!cut)
		return NULL;
	cut->piece.start_ns = start_ns;
	cut->piece.end_ns = end_ns;
	return &cut->piece;
}

/* A walk over the thread's outermost calls. */
struct walk {
	const struct vpa_host_late *late;
	const struct vpa_calls *calls;
	const struct vpa_captures *captures;
	struct vpa_cuts *out;
	uint64_t at_ns;
	uint64_t ended_ns; /* end of the previous call; ~0: none */
	struct vpa_capture_span capture;
};

/* What the host code of [start_ns, end_ns) is, part of a stretch between two calls, the first of which ended at
 * `ended_ns` (~0: there is none). `captures`: the thread captures a stream. */
static inline struct vpa_late_code judge_code(const struct vpa_host_late *l, uint64_t start_ns,
	uint64_t end_ns, uint64_t ended_ns, uint64_t next_ns, int captures)
{
	uint64_t whole_ns = ended_ns == UINT64_MAX ? UINT64_MAX
			    : next_ns <= ended_ns  ? 0
						   : next_ns - ended_ns;
	uint32_t place = start_ns >= l->place_from_ns
				 ? l->launch_place
				 : vpa_resolver_place_of(l->resolver, l->thread, start_ns, end_ns);

	if (!place && l->launch_place)
		place = l->launch_place | VPA_BEFORE;
	return (struct vpa_late_code){place,
		captures                  ? VPA_CAUSE_GRAPH_BUILD
		: whole_ns < VPA_STALL_NS ? VPA_CAUSE_LAUNCH_RATE
					  : VPA_CAUSE_HOST_CODE,
		whole_ns >= VPA_LOAD_NS};
}

/* Whether there is host code beside the range that is its place. */
static int lies_partly(const struct vpa_host_late *l, const struct vpa_cause_piece *code)
{
	return code->place && !(code->place & VPA_BEFORE) && code->start_ns < l->place_from_ns &&
	       !vpa_resolver_is_in_place(
		       l->resolver, l->thread, code->start_ns, code->end_ns, code->place);
}

/* Cuts host code until `end_ns`, part of a stretch that lasts until the next call begins. */
static int cut_host(struct walk *w, uint64_t end_ns, uint64_t next_ns)
{
	struct vpa_cause_piece *piece;
	struct vpa_late_code code;

	if (end_ns <= w->at_ns)
		return VPT_OK;
	piece = piece_of(w->out, w->at_ns, end_ns);
	if (!piece)
		return VPT_ENOMEM;
	code = judge_code(w->late, w->at_ns, end_ns, w->ended_ns, next_ns,
		vpa_capture_span_at(&w->capture, w->captures, w->at_ns));
	piece->cause = piece->base = code.cause;
	piece->is_long = code.is_long;
	piece->place = code.place;
	piece->is_partly = code.is_long && lies_partly(w->late, piece);
	w->at_ns = end_ns;
	return VPT_OK;
}

/* Cuts time inside a call. */
static int cut_call(struct walk *w, struct vpa_call *call)
{
	const struct vpa_host_late *l = w->late;
	uint64_t start = vpa_call_start(call), end = vpa_call_end(call);
	uint64_t from_ns = vpa_later(start, w->at_ns), to_ns = vpa_earlier(end, l->end_ns);
	struct vpa_cause_piece *piece;

	w->ended_ns = end;
	if (to_ns <= from_ns)
		return VPT_OK;
	piece = piece_of(w->out, from_ns, to_ns);
	if (!piece)
		return VPT_ENOMEM;
	w->out->items[w->out->count - 1].in = call;
	piece->call = call->name;
	piece->call_start_ns = start;
	piece->call_end_ns = end;
	piece->cause = (uint8_t)cause_of(l, call);
	if (piece->cause == VPA_CAUSE_LAUNCH_CALL &&
		vpa_capture_span_at(&w->capture, w->captures, start))
		piece->cause = VPA_CAUSE_GRAPH_BUILD;
	piece->is_long = piece->cause == VPA_CAUSE_ALLOCATION && end - start > VPA_STALL_NS;
	piece->base = piece->cause;
	piece->place = from_ns >= l->place_from_ns
			       ? l->launch_place
			       : vpa_resolver_place(l->resolver, l->thread, from_ns);
	w->at_ns = to_ns;
	return VPT_OK;
}

/* End of the outermost call at `before`, which precedes those of interest; ~0: none. */
static uint64_t end_of(const struct vpa_thread_past *past, uint64_t before)
{
	if (before != VPA_NOWHERE)
		return vpa_calls_end_at(&past->calls, before);
	return past->forgotten_ns ? past->forgotten_ns : UINT64_MAX;
}

/* End of the outermost call before the one at `position`; ~0: none. */
static uint64_t end_before(const struct vpa_thread_past *past, uint64_t position)
{
	return end_of(past, vpa_calls_previous(&past->calls, position));
}

/* Cuts the time for which the thread's past has been dropped. */
static int cut_forgotten(struct walk *w, uint64_t forgotten_ns)
{
	uint64_t end_ns = vpa_earlier(forgotten_ns, w->late->end_ns);
	struct vpa_cause_piece *piece = piece_of(w->out, w->at_ns, end_ns);

	if (!piece)
		return VPT_ENOMEM;
	piece->cause = VPA_CAUSE_RECORDS_LOST;
	w->at_ns = end_ns;
	return VPT_OK;
}

/* Cuts [g0, l). All calls that overlap without nesting may still be running here: looks at no more
 * calls than end here. `position`: the first outermost call that ends after g0; `before`: the one before it. */
static int cut_late(
	const struct vpa_host_late *l, uint64_t position, uint64_t before, struct vpa_cuts *out)
{
	const struct vpa_thread_past *past = &l->resolver->pasts[l->thread];
	const struct vpa_calls *calls = &past->calls;
	struct walk w = {l, calls, &past->captures, out, l->start_ns, UINT64_MAX,
		vpa_capture_span_first(&past->captures)};
	uint64_t launch_ns = vpa_call_start(l->launch);
	int rc = VPT_OK;

	w.ended_ns = end_of(past, before);
	if (past->forgotten_ns > l->start_ns)
		rc = cut_forgotten(&w, past->forgotten_ns);
	while (!rc && position < calls->end && w.at_ns < l->end_ns) {
		struct vpa_call *call = vpa_calls_at(calls, position);
		uint64_t start = vpa_call_start(call);

		if (start >= launch_ns)
			break;
		rc = cut_host(&w, vpa_earlier(start, l->end_ns), start);
		if (!rc)
			rc = cut_call(&w, call);
		position = vpa_calls_next(calls, position + 1);
	}
	return rc ? rc : cut_host(&w, l->end_ns, launch_ns);
}

/* ---- credit ---- */

static int holds_host(enum vpa_cause cause)
{
	return cause != VPA_CAUSE_LAUNCH_CALL;
}

/* Whether credit never takes time from such a cut. */
static int is_fixed(const struct vpa_cut *cut)
{
	return cut->piece.base == VPA_CAUSE_SYNC || cut->piece.base == VPA_CAUSE_BLOCKING_COPY ||
	       cut->piece.cause == VPA_CAUSE_RECORDS_LOST;
}

/* Cuts that credit may still take from, and what was taken. */
struct taking {
	struct vpa_cuts *cuts;
	size_t first, next; /* cuts before `next` are fixed or fully taken */
	struct vpa_cuts *taken;
};

/* Whether credit of such a call uses up a cut and leaves it what it is. */
static int is_kept(const struct vpa_cause_piece *from, const struct vpa_cause_piece *as)
{
	return (as->cause == VPA_CAUSE_SYNC || as->cause == VPA_CAUSE_BLOCKING_COPY) &&
	       vpa_piece_is_long_work(from);
}

/* Takes up to *credit_ns from the rest of a cut. */
static int take(struct taking *t, struct vpa_cut *from, const struct vpa_cause_piece *as,
	uint64_t *credit_ns)
{
	int kept = is_kept(&from->piece, as);
	struct vpa_cut *cut = vpa_cuts_add(t->taken);
	struct vpa_cause_piece *part;

	if (!cut)
		return VPT_ENOMEM;
	part = &cut->piece;
	*part = kept ? from->piece : *as;
	part->start_ns = from->taken_ns;
	part->end_ns = vpa_earlier(from->piece.end_ns, from->taken_ns + *credit_ns);
	cut->in = from->in;
	if (kept) {
		/* Calls that free wait for the GPU themselves. */
		int is_code = from->piece.cause == VPA_CAUSE_HOST_CODE;

		part->instead_call = is_code ? as->call : 0;
		part->instead_place = is_code ? as->place : 0;
	} else {
		part->inside = from->in ? from->piece.call : 0;
		part->base = part->host = from->piece.base;
		part->host_place = from->piece.place;
	}
	*credit_ns -= part->end_ns - part->start_ns;
	from->taken_ns = part->end_ns;
	return VPT_OK;
}

/* Whether anything is left for credit to take. */
static int has_more(struct taking *t)
{
	while (t->next < t->cuts->count &&
		(is_fixed(&t->cuts->items[t->next]) ||
			t->cuts->items[t->next].taken_ns == t->cuts->items[t->next].piece.end_ns))
		t->next++;
	return t->next < t->cuts->count;
}

/* A call takes up to `credit_ns`, earliest first. *took_ns: how much it took. */
static int take_credit(struct taking *t, struct vpa_call *call, const struct vpa_cause_piece *as,
	uint64_t credit_ns, uint64_t *took_ns)
{
	uint64_t left = credit_ns;
	size_t i;
	int rc = VPT_OK;

	for (i = t->next; i < t->cuts->count && left && !rc; i++) {
		struct vpa_cut *cut = &t->cuts->items[i];

		if (!is_fixed(cut) && cut->in != call && cut->taken_ns < cut->piece.end_ns)
			rc = take(t, cut, as, &left);
	}
	*took_ns = credit_ns - left;
	return rc;
}

/* Credits one call that may have held the host before the gap. `own_ns`: start of the part that it
 * shares with no earlier call. */
static int credit_call(const struct vpa_host_late *l, struct taking *t, struct vpa_call *call,
	uint64_t own_ns, uint64_t since_ns)
{
	enum vpa_cause cause = cause_of(l, call);
	uint64_t from = vpa_later(own_ns, since_ns),
		 to = vpa_earlier(vpa_call_end(call), l->start_ns), took;
	uint64_t *counted;
	struct vpa_cause_piece as = {.call = call->name,
		.cause = (uint8_t)cause,
		.call_start_ns = vpa_call_start(call),
		.call_end_ns = vpa_call_end(call)};
	int rc;

	if (!holds_host(cause) || from >= to)
		return VPT_OK;
	counted = vpa_call_counted(call, l->device);
	if (!counted)
		return VPT_ENOMEM;
	if (*counted >= to - from)
		return VPT_OK;
	as.place = vpa_resolver_place(l->resolver, l->thread, vpa_call_start(call));
	rc = take_credit(t, call, &as, to - from - *counted, &took);
	*counted += took;
	return rc;
}

/* When S began; the window's start if there is no S. *position: that of the first outermost call that ends
 * after g0; becomes that of the first that ends after S began. */
static uint64_t find_submit(
	const struct vpa_host_late *l, const struct vpa_calls *calls, uint64_t *position)
{
	uint64_t p = vpa_calls_begun_from(calls, *position, l->start_ns);
	uint64_t since_ns = l->resolver->model->window_start_ns;

	while ((p = vpa_calls_last_submit(calls, p)) != VPA_NOWHERE) {
		uint64_t start_ns = vpa_call_start(vpa_calls_at(calls, p));

		if (start_ns >= l->start_ns)
			continue;
		since_ns = start_ns;
		break;
	}
	*position = vpa_calls_next(
		calls, vpa_calls_after(calls, since_ns, p == VPA_NOWHERE ? calls->begin : p));
	return since_ns;
}

/* Whether a call has ended and all of its time since `from_ns` is counted. */
static int is_exhausted(const struct vpa_host_late *l, struct vpa_call *call, uint64_t from_ns)
{
	uint64_t end_ns = vpa_call_end(call);
	const uint64_t *counted;

	if (end_ns > l->start_ns)
		return 0;
	if (!holds_host(cause_of(l, call)) || from_ns >= end_ns)
		return 1;
	counted = vpa_call_counted(call, l->device);
	return counted && *counted >= end_ns - from_ns;
}

/* A walk over the outermost calls from S on. Later gaps of the device begin later, and so does
 * their S: they skip what a long walk found exhausted. */
struct crediting {
	const struct vpa_host_late *late;
	uint64_t since_ns; /* when S began */
	uint64_t ended_ns; /* when the previous call ended; 0: none */
	uint64_t slab;     /* of the last call */
	unsigned steps;
	int unbroken; /* all calls of the slab were exhausted so far */
};

static void note_exhausted(
	struct crediting *c, struct vpa_call *call, uint64_t position, uint64_t own_ns)
{
	enum { STEPS_FEW = 16 };
	const struct vpa_host_late *l = c->late;

	if (c->slab != position / VPA_CALL_SLAB)
		c->unbroken = 1;
	c->slab = position / VPA_CALL_SLAB;
	c->unbroken = c->unbroken && is_exhausted(l, call, vpa_later(own_ns, c->since_ns));
	if (++c->steps > STEPS_FEW && c->unbroken)
		vpa_call_exhaust(call, l->device);
}

/* The first call from `position` on that is not exhausted. */
static uint64_t skip_exhausted(struct crediting *c, uint64_t position)
{
	const struct vpa_host_late *l = c->late;
	const struct vpa_thread_past *past = &l->resolver->pasts[l->thread];
	uint64_t skipped = vpa_calls_skip_exhausted(&past->calls, position, l->device);

	if (skipped == position)
		return position;
	skipped = vpa_calls_next(&past->calls, skipped);
	c->ended_ns = end_before(past, skipped);
	return skipped;
}

/* Whether the call before a gap, at `before`, is S, and no call from then on held the host before the gap. `position`:
 * the first outermost call that ends after g0. */
static int ran_freely(const struct vpa_host_late *l, uint64_t position, uint64_t before)
{
	const struct vpa_calls *calls = &l->resolver->pasts[l->thread].calls;
	const struct vpa_call *submit, *next;
	uint64_t earlier;

	if (before == VPA_NOWHERE || position >= calls->end)
		return 0;
	earlier = vpa_calls_previous(calls, before);
	submit = vpa_calls_at(calls, before);
	next = vpa_calls_at(calls, position);
	return earlier != VPA_NOWHERE && vpa_call_submits(submit) &&
	       vpa_calls_end_at(calls, earlier) <= vpa_call_start(submit) &&
	       vpa_call_start(submit) < l->start_ns &&
	       !holds_host(vpa_host_late_cause_of(submit)) &&
	       (vpa_call_start(next) >= l->start_ns || !holds_host(vpa_host_late_cause_of(next)));
}

/* Time shared by overlapping calls belongs to the earlier one: of the calls running at g0 only the
 * first has any. */
static int give_credit(const struct vpa_host_late *l, uint64_t position, struct taking *t)
{
	const struct vpa_thread_past *past = &l->resolver->pasts[l->thread];
	const struct vpa_calls *calls = &past->calls;
	struct crediting c = {.late = l, .slab = UINT64_MAX};
	int rc = VPT_OK;

	c.since_ns = find_submit(l, calls, &position);
	c.ended_ns = end_before(past, position);
	c.ended_ns = c.ended_ns == UINT64_MAX ? 0 : c.ended_ns;
	position = skip_exhausted(&c, position);
	while (position < calls->end && c.ended_ns < l->start_ns && has_more(t) && !rc) {
		struct vpa_call *call = vpa_calls_at(calls, position);
		uint64_t start = vpa_call_start(call), end = vpa_call_end(call);
		uint64_t own_ns = vpa_earlier(vpa_later(start, c.ended_ns), end);

		if (start < l->start_ns)
			rc = credit_call(l, t, call, own_ns, c.since_ns);
		note_exhausted(&c, call, position, own_ns);
		c.ended_ns = end;
		position = skip_exhausted(&c, vpa_calls_next(calls, position + 1));
	}
	return rc;
}

static int compare_starts(const void *pa, const void *pb)
{
	const struct vpa_cut *a = pa, *b = pb;

	return a->piece.start_ns < b->piece.start_ns ? -1 : a->piece.start_ns > b->piece.start_ns;
}

/* Sorts the taken parts, of which each call took its own in order. */
static void sort_taken(struct vpa_cuts *taken)
{
	size_t i;

	for (i = 1; i < taken->count; i++)
		if (taken->items[i - 1].piece.start_ns > taken->items[i].piece.start_ns)
			break;
	if (i < taken->count)
		qsort(taken->items, taken->count, sizeof(*taken->items), compare_starts);
}

/* Puts the taken parts between what is left of the cuts: merges both from their ends. */
static int put_taken(struct taking *t)
{
	struct vpa_cuts *cuts = t->cuts, *taken = t->taken;
	size_t left = t->first, from = taken->count, to, i;

	if (!taken->count)
		return VPT_OK;
	for (i = t->first; i < cuts->count; i++) {
		struct vpa_cut *cut = &cuts->items[i];

		cut->piece.start_ns = cut->taken_ns;
		if (cut->piece.end_ns > cut->piece.start_ns)
			cuts->items[left++] = *cut;
	}
	sort_taken(taken);
	to = left + from;
	if (vpt_grow(&cuts->items, &cuts->cap, to, sizeof(*cuts->items)))
		return VPT_ENOMEM;
	cuts->count = to;
	while (from) {
		int is_left = left > t->first && cuts->items[left - 1].piece.start_ns >
							 taken->items[from - 1].piece.start_ns;

		cuts->items[--to] = is_left ? cuts->items[--left] : taken->items[--from];
	}
	return VPT_OK;
}

/* Counts the gap's time inside calls, without credit. */
static int count_calls(const struct vpa_host_late *l, const struct vpa_cut *cuts, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t *counted;

		if (!cuts[i].in || !holds_host(vpa_host_late_cause_of(cuts[i].in)))
			continue;
		counted = vpa_call_counted(cuts[i].in, l->device);
		if (!counted)
			return VPT_ENOMEM;
		*counted += cuts[i].piece.end_ns - cuts[i].piece.start_ns;
	}
	return VPT_OK;
}

int vpa_host_late_cut(const struct vpa_host_late *l, struct vpa_cuts *out, struct vpa_cuts *spare)
{
	const struct vpa_calls *calls = &l->resolver->pasts[l->thread].calls;
	struct taking t = {.cuts = out, .first = out->count, .next = out->count, .taken = spare};
	uint64_t position, before;
	size_t i;
	int rc;

	spare->count = 0;
	if (l->end_ns <= l->start_ns)
		return VPT_OK;
	position = vpa_calls_next(
		calls, vpa_calls_after(calls, l->start_ns, vpa_call_position(l->launch)));
	before = vpa_calls_previous(calls, position);
	rc = cut_late(l, position, before, out);
	if (rc || l->no_credit)
		return rc;
	for (i = t.first; i < out->count; i++)
		out->items[i].taken_ns = out->items[i].piece.start_ns;
	if (!ran_freely(l, position, before))
		rc = give_credit(l, position, &t);
	/* Time in a call counts for that call, whoever has taken it. */
	if (!rc)
		rc = count_calls(l, out->items + t.first, out->count - t.first);
	return rc ? rc : put_taken(&t);
}

/* Whether two calls precede a launch in its slab, all three outermost and around no other: most launches. */
static int follows_two(const struct vpa_calls *calls, const struct vpa_call_slab *slab, size_t slot)
{
	const struct vpa_call *c = &slab->calls[slot];

	return slot >= 2 && slab->first + slot >= calls->begin + 2 &&
	       !((c[0].state | c[-1].state | c[-2].state) & (VPA_CALL_NESTED | VPA_CALL_NONE)) &&
	       !(slab->encloses[slot] | slab->encloses[slot - 1]);
}

/* The same as ran_freely() for such a launch, before which the host ran its own code. */
static int ran_freely_in_row(
	const struct vpa_host_late *l, const struct vpa_call_slab *slab, size_t slot)
{
	const struct vpa_call *submit = &slab->calls[slot - 1];
	uint64_t submit_ns = slab->starts_ns[slot - 1];

	return vpa_call_submits(submit) && slab->ends_ns[slot - 2] <= submit_ns &&
	       submit_ns < l->start_ns && !holds_host(vpa_host_late_cause_of(submit)) &&
	       (slab->starts_ns[slot] >= l->start_ns ||
		       !holds_host(vpa_host_late_cause_of(l->launch)));
}

int vpa_host_late_is_code(const struct vpa_host_late *l, struct vpa_late_code *out)
{
	const struct vpa_thread_past *past = &l->resolver->pasts[l->thread];
	const struct vpa_calls *calls = &past->calls;
	const struct vpa_call_slab *slab = vpa_call_slab_of(l->launch);
	size_t slot = l->launch->slot;
	uint64_t position = slab->first + slot, before, ended_ns;

	if (position == calls->begin || past->forgotten_ns > l->start_ns ||
		vpa_capture_span_first(&past->captures).until_ns != UINT64_MAX)
		return 0;
	if (follows_two(calls, slab, slot)) {
		ended_ns = slab->ends_ns[slot - 1];
		if (ended_ns > l->start_ns || !ran_freely_in_row(l, slab, slot))
			return 0;
	} else {
		before = vpa_calls_previous(calls, position);
		if (vpa_calls_end_at(calls, position - 1) > l->start_ns ||
			!ran_freely(l, position, before))
			return 0;
		ended_ns = vpa_calls_end_at(calls, before);
	}
	*out = judge_code(l, l->start_ns, l->end_ns, ended_ns, slab->starts_ns[slot], 0);
	return 1;
}
