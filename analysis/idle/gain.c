/* gain.c - the rules of gain.h: walks each host's outermost calls once, in order of time. */
#include "analysis/idle/gain.h"

#include "analysis/idle/gap_causes.h"
#include "analysis/idle/overhead.h"
#include "formats/base/memory.h"

#include <string.h>

/* ---- host time ---- */

static int is_wait(enum vpa_cause cause)
{
	return cause == VPA_CAUSE_SYNC || cause == VPA_CAUSE_BLOCKING_COPY;
}

static inline void add_to(struct vpa_gain_host *h, unsigned counter, uint64_t ns)
{
	h->early_ns[counter] += ns;
	h->counting |= 1u << counter;
}

static inline void add(struct vpa_gain_host *h, enum vpa_cause cause, uint64_t ns)
{
	add_to(h, cause - VPA_GAIN_FIRST, ns);
	if (is_wait(cause))
		add_to(h, VPA_GAIN_WAITS, ns);
	if (cause == VPA_CAUSE_HOST_CODE)
		add_to(h, VPA_GAIN_HALF_CODE, ns - ns / 2);
}

/* The first of a set of counters, which is not empty. */
static unsigned first_of(unsigned counters)
{
	return (unsigned)__builtin_ctz(counters);
}

static void take(uint64_t *from, uint64_t ns)
{
	*from -= vpa_earlier(*from, ns);
}

/* Host time that was taken for another cause. */
static void move(struct vpa_gain_host *h, enum vpa_cause from, enum vpa_cause to, uint64_t ns)
{
	take(&h->early_ns[from - VPA_GAIN_FIRST], ns);
	if (is_wait(from))
		take(&h->early_ns[VPA_GAIN_WAITS], ns);
	if (from == VPA_CAUSE_HOST_CODE)
		take(&h->early_ns[VPA_GAIN_HALF_CODE], ns - ns / 2);
	add(h, to, ns);
}

/* Caps how much earlier the host would be at `ns`, for every counter except those that this wait
 * itself is of: its cause, its part and all waits. */
static void limit(struct vpa_gain_host *h, enum vpa_cause cause, unsigned part, uint64_t ns)
{
	unsigned own = (unsigned)cause - VPA_GAIN_FIRST;
	unsigned limited = h->counting & ~(1u << own | 1u << part | 1u << VPA_GAIN_WAITS), k;

	for (; limited; limited &= limited - 1) {
		k = first_of(limited);
		h->early_ns[k] = vpa_earlier(h->early_ns[k], ns);
		if (!h->early_ns[k])
			h->counting &= ~(1u << k);
	}
}

/* A walk over a host's calls. */
struct walk {
	const struct vpa_resolver *resolver;
	struct vpa_gain_host *host;
	const struct vpa_calls *calls;
	const struct vpa_captures *captures;
	uint64_t forgotten_ns; /* calls that ended by then may have been dropped */
	uint64_t gap_ns;       /* start of the device's idle time; ~0: it is busy */
	struct vpa_capture_span capture;
};

/* A stretch of host time: without what overhead records cover; of that, what the loader took. */
struct host_time {
	uint64_t own_ns, loading_ns;
};

VPA_RARE static struct host_time time_beside_overhead(
	struct walk *w, uint64_t start_ns, uint64_t end_ns, int shares)
{
	struct vpa_overheads o = vpa_overheads_of(w->resolver, w->host->thread, shares);
	struct host_time time = {end_ns - start_ns, 0};
	uint64_t at, until;

	for (at = start_ns; at < end_ns; at = until) {
		enum vpa_cause cause = VPA_CAUSE_NOT_IDLE;

		until = end_ns;
		if (!vpa_overhead_at(&o, at, &until, &cause))
			continue;
		time.own_ns -= until - at;
		time.loading_ns += cause == VPA_CAUSE_MODULE_LOAD ? until - at : 0;
	}
	return time;
}

/* `shares`: see vpa_overheads_of(). */
static inline struct host_time host_time_of(
	struct walk *w, uint64_t start_ns, uint64_t end_ns, int shares)
{
	return w->resolver->quiet_ns <= start_ns
		       ? (struct host_time){end_ns - start_ns, 0}
		       : time_beside_overhead(w, start_ns, end_ns, shares);
}

/* Counts host time of a cause, and of a part of the waits; 0: none. What the profiling library took is no
 * time of the program. */
static void add_time(struct walk *w, enum vpa_cause cause, unsigned part, struct host_time time)
{
	add(w->host, cause, time.own_ns);
	if (time.loading_ns)
		add(w->host, VPA_CAUSE_MODULE_LOAD, time.loading_ns);
	if (part)
		add_to(w->host, part, time.own_ns);
}

/* Counts host code up to `end_ns`, which is later than the host's time, in a stretch that ends with a call at `next_ns`. */
static void pass_host_code(struct walk *w, uint64_t end_ns, uint64_t next_ns)
{
	struct vpa_gain_host *h = w->host;
	enum vpa_cause cause = VPA_CAUSE_HOST_CODE;

	if (next_ns <= h->ended_ns || next_ns - h->ended_ns < VPA_STALL_NS)
		cause = VPA_CAUSE_LAUNCH_RATE;
	if (vpa_capture_span_at(&w->capture, w->captures, h->at_ns))
		cause = VPA_CAUSE_GRAPH_BUILD;
	add_time(w, cause, 0, host_time_of(w, h->at_ns, end_ns, 0));
	h->at_ns = end_ns;
}

/* A call that waits for the device has returned. If it began while the device was busy, it waited
 * for it if it was a copy, or took longer than such a call takes with nothing to wait for. A short
 * one may have come just as the device finished. `kind`: its kind by name; `cause` and `part`: what it
 * counts as. */
static void settle_wait(struct walk *w, const struct vpa_call *call, enum vpa_cause kind,
	enum vpa_cause cause, unsigned part)
{
	uint64_t start = vpa_call_start(call), end = vpa_call_end(call);

	if (start >= w->gap_ns)
		limit(w->host, cause, part, vpa_earlier(end, start + VPA_NEAR_NS) - w->gap_ns);
	else if (kind == VPA_CAUSE_BLOCKING_COPY || end - start >= VPA_NEAR_NS)
		limit(w->host, cause, part, 0);
	else if (end > w->gap_ns)
		limit(w->host, cause, part, end - w->gap_ns);
}

/* The part of the waits that a call goes away with, by its kind; 0: none. */
static unsigned part_of(const struct vpa_call *call, enum vpa_cause kind)
{
	int is_small = vpa_call_is_small_read(call);

	if (kind == VPA_CAUSE_BLOCKING_COPY)
		return is_small ? VPA_GAIN_SMALL_READS : VPA_GAIN_LARGE_COPIES;
	if (kind == VPA_CAUSE_LAUNCH_CALL)
		return is_small ? VPA_GAIN_SMALL_READS : 0;
	return kind == VPA_CAUSE_SYNC ? VPA_GAIN_OTHER_SYNCS : 0;
}

/* Whether a synchronisation that begins at `start_ns` is of the copy before it. For one that did not wait it is
 * the wait, whatever it waits for besides, and however late it comes. */
static int is_of_copy(const struct vpa_gain_host *h, uint64_t start_ns)
{
	return h->copied &&
	       start_ns < h->ended_ns + (h->copy_waited ? (uint64_t)VPA_NEAR_NS : VPA_STALL_NS);
}

/* Remembers a copy for a synchronisation that follows. */
static void note_copy(struct vpa_gain_host *h, enum vpa_cause kind, unsigned part)
{
	h->copied = kind == VPA_CAUSE_SYNC ? 0 : part;
	h->copy_waited = kind == VPA_CAUSE_BLOCKING_COPY;
}

/* Counts a call, up to `until_ns`. */
static void pass_call(
	struct walk *w, const struct vpa_call_slab *slab, size_t slot, uint64_t until_ns)
{
	struct vpa_gain_host *h = w->host;
	const struct vpa_call *call = &slab->calls[slot];
	uint64_t start = slab->starts_ns[slot], end = slab->ends_ns[slot];
	enum vpa_cause cause = vpa_host_late_cause_of(call), kind = cause;
	unsigned part = part_of(call, kind);

	if (cause == VPA_CAUSE_LAUNCH_CALL && vpa_capture_span_at(&w->capture, w->captures, start))
		cause = VPA_CAUSE_GRAPH_BUILD;
	if (cause == VPA_CAUSE_SYNC && is_of_copy(h, start)) {
		cause = h->copy_waited ? VPA_CAUSE_BLOCKING_COPY : VPA_CAUSE_SYNC;
		part = h->copied;
	}
	start = vpa_later(start, h->at_ns);
	until_ns = vpa_earlier(end, until_ns);
	if (until_ns > start)
		add_time(w, cause, part,
			host_time_of(w, start, until_ns, vpa_overhead_is_shared(kind)));
	h->at_ns = vpa_later(h->at_ns, until_ns);
	if (until_ns < end)
		return;
	if (is_wait(kind))
		settle_wait(w, call, kind, cause, part);
	note_copy(h, kind, part);
	h->ended_ns = end;
}

/* ---- launches in a row ---- */

/* Whether a call launches, waits for nothing, and is outermost. */
static int is_launch(const struct vpa_call_slab *slab, size_t slot)
{
	const struct vpa_call *call = &slab->calls[slot];

	return vpa_call_is_outermost(call) && !(call->state & VPA_CALL_PAGEABLE) &&
	       vpa_cause_of_class[call->klass] == VPA_CAUSE_LAUNCH_CALL &&
	       !(slab->small_reads[slot / 64] >> slot % 64 & 1);
}

/* Passes the launches of a slab from `slot` on that come one after the other and end by `until_ns`, if no stream
 * is captured and no overhead record covers any of it. Returns the slot of the first call that is not one of them. */
static size_t pass_launches(
	struct walk *w, const struct vpa_call_slab *slab, size_t slot, uint64_t until_ns)
{
	struct vpa_gain_host *h = w->host;
	size_t end = (size_t)vpa_earlier(w->calls->end - slab->first, VPA_CALL_SLAB), i;
	uint64_t at = h->at_ns, ended = h->ended_ns, code = 0, half = 0, in_calls = 0;

	if (w->resolver->quiet_ns > at || vpa_capture_span_at(&w->capture, w->captures, at))
		return slot;
	until_ns = vpa_earlier(until_ns, w->capture.until_ns);
	for (i = slot; i < end; i++) {
		uint64_t start = slab->starts_ns[i], ns = start - at;

		if (start < at || slab->ends_ns[i] > until_ns || !is_launch(slab, i))
			break;
		if (start - ended >= VPA_STALL_NS) {
			code += ns;
			half += ns - ns / 2;
		}
		in_calls += slab->ends_ns[i] - start;
		at = ended = slab->ends_ns[i];
	}
	if (i == slot)
		return slot;
	add(h, VPA_CAUSE_LAUNCH_RATE, at - h->at_ns - in_calls - code);
	add(h, VPA_CAUSE_LAUNCH_CALL, in_calls);
	if (code) {
		add_to(h, VPA_CAUSE_HOST_CODE - VPA_GAIN_FIRST, code);
		add_to(h, VPA_GAIN_HALF_CODE, half);
	}
	h->at_ns = h->ended_ns = at;
	note_copy(h, VPA_CAUSE_LAUNCH_CALL, 0);
	return i;
}

/* Skips what the host did up to `at_ns`. */
static void go_on_after(struct walk *w, uint64_t at_ns)
{
	struct vpa_gain_host *h = w->host;
	uint64_t before;

	h->at_ns = vpa_later(h->at_ns, at_ns);
	h->position = vpa_calls_next(w->calls, vpa_calls_after(w->calls, at_ns, h->position));
	before = vpa_calls_previous(w->calls, h->position);
	h->ended_ns = before != VPA_NOWHERE ? vpa_calls_end_at(w->calls, before) : h->at_ns;
	h->copied = 0;
}

/* Passes calls up to `until_ns`; `whole`: only those that ended by then. */
static void pass_calls(struct walk *w, uint64_t until_ns, int whole)
{
	const struct vpa_calls *calls = w->calls;
	struct vpa_gain_host *h = w->host;
	uint64_t p;

	if (h->position < calls->begin)
		go_on_after(w, w->forgotten_ns);
	if (h->full_ns > h->at_ns && h->full_ns < until_ns) {
		memset(h->early_ns, 0, sizeof(h->early_ns));
		h->counting = 0;
		go_on_after(w, h->full_ns);
	}
	p = vpa_calls_next(calls, h->position);
	while (p < calls->end) {
		const struct vpa_call_slab *slab = vpa_calls_slab(calls, p);
		size_t slot = (size_t)(p - slab->first);
		uint64_t start = slab->starts_ns[slot], end = slab->ends_ns[slot];
		size_t next;

		if (whole && end > until_ns)
			break;
		if (start >= until_ns) {
			if (until_ns > h->at_ns)
				pass_host_code(w, until_ns, start);
			break;
		}
		next = pass_launches(w, slab, slot, until_ns);
		if (next > slot) {
			p = vpa_calls_next(calls, slab->first + next);
			continue;
		}
		if (start > h->at_ns)
			pass_host_code(w, start, start);
		pass_call(w, slab, slot, until_ns);
		if (end > until_ns)
			break;
		p = vpa_calls_next(calls, p + 1);
	}
	h->position = p;
}

static struct walk walk_of(const struct vpa_resolver *r, struct vpa_gain_host *h, uint64_t gap_ns)
{
	struct vpa_thread_past *past = &r->pasts[h->thread];

	return (struct walk){r, h, &past->calls, &past->captures, past->forgotten_ns, gap_ns,
		vpa_capture_span_first(&past->captures)};
}

/* ---- gaps ---- */

/* Time that host_late.h counts as loading code although the calls' names do not say so: first uses. */
static void move_first_use(struct walk *w, const struct vpa_cuts *cuts)
{
	struct vpa_gain_host *h = w->host;
	size_t i;

	for (i = 0; i < cuts->count; i++) {
		const struct vpa_cut *cut = &cuts->items[i];
		enum vpa_cause kind =
			cut->in ? vpa_host_late_cause_of(cut->in) : VPA_CAUSE_MODULE_LOAD;

		if (cut->piece.base != VPA_CAUSE_MODULE_LOAD || kind == VPA_CAUSE_MODULE_LOAD)
			continue;
		move(h, kind, VPA_CAUSE_MODULE_LOAD,
			host_time_of(w, cut->piece.start_ns, cut->piece.end_ns, 1).own_ns);
	}
}

/* The same for time that first use has made what it is: its pieces, counted as what it was. */
static void move_setup(struct vpa_gain_host *h, const struct vpa_cause_pieces *pieces)
{
	size_t i;

	for (i = 0; i < pieces->count; i++) {
		const struct vpa_cause_piece *p = &pieces->items[i];

		if (!p->is_setup || !vpa_gain_is_counted((enum vpa_cause)p->base))
			continue;
		move(h, (enum vpa_cause)p->base, (enum vpa_cause)p->cause, p->end_ns - p->start_ns);
	}
}

/* A gap as the counters see it. */
struct room {
	uint64_t most;     /* the host made so much of it */
	uint64_t not_long; /* part of it: not long code of the host */
	uint64_t own;      /* is assigned to waits */
	uint64_t left;     /* is assigned to no cause */
};

/* Takes from a counter what it gains. */
static uint64_t take_gain(
	struct vpa_gain *g, struct vpa_gain_host *h, unsigned counter, uint64_t most)
{
	uint64_t ns = vpa_earlier(h->early_ns[counter], most);

	h->early_ns[counter] -= ns;
	if (!h->early_ns[counter])
		h->counting &= ~(1u << counter);
	g->ns[counter] += ns;
	return ns;
}

static void add_counter(struct vpa_gain *g, struct vpa_gain_host *h, unsigned counter,
	const struct room *room, uint64_t own)
{
	uint64_t ns = take_gain(g, h, counter, room->most);

	g->own_ns[counter] += vpa_earlier(ns, own);
	g->claim_ns[counter] += vpa_earlier(ns, room->not_long);
}

/* The same for all waits, for their parts, which divide what is assigned to waits, and for half of the host code. */
static void add_parts(struct vpa_gain *g, struct vpa_gain_host *h, const struct room *room)
{
	uint64_t own = room->own;
	unsigned part;

	if (!(h->counting >> VPA_GAIN_SMALL_READS))
		return;
	add_counter(g, h, VPA_GAIN_HALF_CODE, room, 0);
	add_counter(g, h, VPA_GAIN_WAITS, room, own + room->left);
	for (part = VPA_GAIN_OTHER_SYNCS; part >= VPA_GAIN_SMALL_READS; part--) {
		uint64_t before = g->own_ns[part];

		add_counter(g, h, part, room, own);
		own -= g->own_ns[part] - before;
	}
}

/* Each cause gains what it can. It owns the gain of its own pieces, then, in order, of pieces that
 * no other cause gains; the time of the launch on its way belongs to launch latency. */
static void add_gains(struct vpa_gain *g, struct vpa_gain_host *h, const uint64_t *pieces,
	uint64_t most, uint64_t long_ns)
{
	uint64_t more[VPA_GAIN_CAUSES], left = most, own;
	struct room room = {most, most - vpa_earlier(long_ns, most), 0, 0};
	unsigned causes = h->counting & ((1u << VPA_GAIN_CAUSES) - 1), rest, i;

	left -= vpa_earlier(left, pieces[VPA_CAUSE_LAUNCH_LATENCY]);
	for (rest = causes; rest; rest &= rest - 1) {
		i = first_of(rest);
		more[i] = take_gain(g, h, i, most);
		own = vpa_earlier(vpa_earlier(more[i], pieces[VPA_GAIN_FIRST + i]), left);
		more[i] -= own;
		left -= own;
		g->own_ns[i] += own;
		room.own += is_wait((enum vpa_cause)(VPA_GAIN_FIRST + i)) ? own : 0;
	}
	for (rest = left ? causes : 0; rest; rest &= rest - 1) {
		i = first_of(rest);
		own = vpa_earlier(more[i], left);
		left -= own;
		g->own_ns[i] += own;
		room.own += is_wait((enum vpa_cause)(VPA_GAIN_FIRST + i)) ? own : 0;
	}
	room.left = left;
	add_parts(g, h, &room);
}

uint64_t vpa_gain_made(const struct vpa_gain_gap *gap)
{
	uint64_t ns = gap->ns[VPA_CAUSE_LAUNCH_LATENCY] + gap->ns[VPA_CAUSE_PROFILER];
	size_t i;

	for (i = VPA_GAIN_FIRST; i < VPA_GAIN_FIRST + VPA_GAIN_CAUSES; i++)
		ns += gap->ns[i];
	return vpa_earlier(ns, gap->most_ns);
}

void vpa_gain_count(
	struct vpa_gain *g, const struct vpa_resolver *r, const struct vpa_gain_gap *gap)
{
	struct vpa_gain_host *h = vpa_gain_host_of(g, gap->thread);
	struct walk w;

	if (!h || !gap->made_ns)
		return;
	w = walk_of(r, h, gap->start_ns);
	pass_calls(&w, gap->host_ns, 0);
	if (gap->pieces) {
		move_first_use(&w, gap->cuts);
		move_setup(h, gap->pieces);
	}
	add_gains(g, h, gap->ns, gap->made_ns, gap->long_ns);
}

/* ---- hosts ---- */

struct vpa_gain_host *vpa_gain_find(struct vpa_gain *g, uint32_t thread)
{
	uint32_t row = vpa_index_find(&g->index, thread, 0);

	if (row == UINT32_MAX)
		return NULL;
	g->newest = row;
	return &g->hosts[row];
}

int vpa_gain_meet(struct vpa_gain *g, const struct vpa_resolver *r, struct vpa_call *launch)
{
	uint32_t thread = vpa_call_thread(launch);
	const struct vpa_calls *calls = &r->pasts[thread].calls;
	uint64_t position = vpa_call_position(launch), start;
	uint32_t row;

	if (vpt_grow(&g->hosts, &g->host_cap, g->index.count + 1, sizeof(*g->hosts)))
		return VPT_ENOMEM;
	row = vpa_index_put(&g->index, thread, 0);
	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	if (launch->state & VPA_CALL_NESTED)
		position = vpa_calls_outermost(calls, position);
	start = vpa_call_start(vpa_calls_at(calls, position));
	g->hosts[row] = (struct vpa_gain_host){
		.thread = thread, .position = position, .at_ns = start, .ended_ns = start};
	g->newest = row;
	return VPT_OK;
}

void vpa_gain_pass(
	struct vpa_gain *g, const struct vpa_resolver *r, uint64_t until_ns, uint64_t gap_ns)
{
	size_t i;

	for (i = 0; i < g->index.count; i++) {
		struct vpa_gain_host *h = &g->hosts[i];
		const struct vpa_calls *calls = &r->pasts[h->thread].calls;
		struct walk w = walk_of(r, h, gap_ns);
		uint64_t end;

		/* The resolver keeps at least two slabs of calls: an enclosing call is known by
		 * then. */
		if (calls->end - calls->begin <= 2 * VPA_CALL_SLAB)
			continue;
		end = calls->end - 2 * VPA_CALL_SLAB;
		end += (VPA_CALL_SLAB - end % VPA_CALL_SLAB) % VPA_CALL_SLAB;
		end = vpa_earlier(until_ns, vpa_calls_end_at(calls, end - 1));
		if (h->full_ns < end)
			pass_calls(&w, end, 1);
	}
}

void vpa_gain_look_at_queue(struct vpa_gain *g, const struct vpa_resolver *r,
	const struct vpa_call *launch, uint64_t at_ns)
{
	uint32_t thread = vpa_call_thread(launch);
	const struct vpa_calls *calls = &r->pasts[thread].calls;
	struct vpa_gain_host *h = vpa_gain_host_of(g, thread);
	uint64_t from = vpa_call_position(launch), to = vpa_calls_after(calls, at_ns, from),
		 launches = 0;

	if (!h || to < from + VPA_GAIN_QUEUE)
		return;
	/* Assumes that the share of calls that put work on a device is the same throughout a
	 * slab. */
	while (from < to) {
		const struct vpa_call_slab *slab = vpa_calls_slab(calls, from);
		uint64_t end = vpa_earlier(slab->first + VPA_CALL_SLAB, to);
		uint64_t count = vpa_earlier(calls->end - slab->first, VPA_CALL_SLAB);

		launches += (end - from) * slab->launches / count;
		from = end;
	}
	if (launches >= VPA_GAIN_QUEUE)
		h->full_ns = vpa_later(h->full_ns, at_ns);
}

void vpa_gain_free(struct vpa_gain *g)
{
	vpt_free(g->hosts);
	vpa_index_free(&g->index);
	memset(g, 0, sizeof(*g));
}
