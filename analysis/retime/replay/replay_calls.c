/* replay_calls.c - calls, and the lines of launches before devices. */
#include "analysis/retime/replay/replaying.h"

#include <string.h>

/* The launch takes the next place in the line of its device. */
static void enter_line(struct vpa_replaying *r, uint32_t call)
{
	const struct vpa_tape_call *c = &r->t->calls[call];
	size_t slot = vpa_launch_slot(r, call), w;
	struct vpa_launch *l = &r->launches[slot];
	const struct vpa_tape_op *first = &r->t->ops[r->t->launched[c->op]];
	uint32_t device = r->t->streams[first->stream].gpu;
	uint64_t place = r->counts[device]++;

	*l = (struct vpa_launch){
		place, call, device, r->effects.gone, r->effects.ops_gone, r->effects.in_graph};
	for (w = 0; w < r->words; w++)
		r->inside[slot * r->words + w] = r->effects.inside[w];
	memcpy(vpa_line_at(r, device, place), r->never, r->n * sizeof(*r->never));
	for (w = r->plain; w < r->worlds; w++) {
		if (vpa_is_in(l->gone, w))
			continue;
		place = (*vpa_own_count(r, device, w))++;
		*vpa_own_place(r, slot, w) = place;
		*vpa_own_line_at(r, device, w, place) = VPA_CLOCK_NEVER;
	}
	VPA_FOR_WORLDS(world, l->in_graph)
	r->heads[slot * r->n + world] = r->effects.heads[world];
	if (!first->anchor)
		memcpy(&r->launch_starts[slot * r->n], &r->starts[c->thread * r->n],
			r->n * sizeof(*r->starts));
}

void vpa_replay_start(struct vpa_replaying *r, uint32_t call)
{
	const struct vpa_tape_call *c = &r->t->calls[call];
	const struct vpa_call_effects *x = &r->effects;
	struct vpa_open_call *open = &r->open[c->thread];
	const int64_t *before = c->before == VPA_TAPE_NONE
					? r->zero
					: &r->ends[r->t->calls[c->before].thread * r->n];
	int64_t *start = &r->starts[c->thread * r->n];

	vpa_walk_call(r->walk, call, &r->effects);
	vpa_clocks_add(start, before, (int64_t)c->gap_ns, r->n);
	*open = (struct vpa_open_call){.differs = x->worlds, .gone = x->gone};
	VPA_FOR_WORLDS(world, x->worlds)
	{
		start[world] = vpa_clock_plus(before[world], (int64_t)x->at[world].gap_ns);
		r->costs[c->thread * r->n + world] = x->at[world].cost_ns;
		r->afters[c->thread * r->n + world] = x->at[world].after_ns;
		open->no_wait |= (uint32_t)x->at[world].no_wait << world;
	}
	VPA_FOR_WORLDS(world, r->no_host)
	start[world] = before[world];
	vpa_moments_start(r->moments, c->start_ns, start);
	if (c->op_count)
		enter_line(r, call);
	vpa_note_error(r, start[0], c->start_ns);
}

/* The last of the ops that a call waits for. NULL: one of them is no longer kept. */
static int64_t *find_wait(struct vpa_replaying *r, const struct vpa_tape_call *c, uint32_t newest)
{
	uint32_t no_wait = r->open[c->thread].no_wait, i;

	memcpy(r->wait, r->never, r->n * sizeof(*r->wait));
	for (i = 0; i < c->target_count; i++) {
		const int64_t *row = vpa_end_of(r, r->e->targets[c->target + i], newest);

		if (!row)
			return NULL;
		vpa_clocks_later(r->wait, row, r->n);
	}
	VPA_FOR_WORLDS(world, no_wait)
	r->wait[world] = VPA_CLOCK_NEVER;
	return r->wait;
}

/* When the launch that must end first did, in worlds without lines of their own. `never`: there is none, or it has not
 * begun. In a changed world more launches may follow than the line keeps: then the place belongs to a later one. */
static const int64_t *find_queue(
	const struct vpa_replaying *r, const struct vpa_tape_call *c, const struct vpa_launch *l)
{
	uint32_t launches = r->e->queue_launches;

	if (!c->can_fill || l->place < launches ||
		r->counts[l->device] - l->place > VPA_LINE - launches)
		return r->never;
	return vpa_line_at(r, l->device, l->place - launches);
}

/* The same in a world that has one. */
static int64_t own_queue(
	const struct vpa_replaying *r, const struct vpa_tape_call *c, size_t slot, size_t w)
{
	const struct vpa_launch *l = &r->launches[slot];
	uint64_t place = *vpa_own_place(r, slot, w);
	uint32_t launches = r->e->queue_launches;

	if (!c->can_fill || vpa_is_in(l->gone, w) || place < launches ||
		*vpa_own_count(r, l->device, w) - place > VPA_LINE - launches)
		return VPA_CLOCK_NEVER;
	return *vpa_own_line_at(r, l->device, w, place - launches);
}

static int64_t wait_until(int64_t end, int64_t start, int64_t wait, int64_t back_ns)
{
	return wait > start ? vpa_clock_later(end, vpa_clock_plus(wait, back_ns)) : end;
}

/* From when the queue has room to the end of the call. */
static int64_t back_from_queue(
	const struct vpa_replaying *r, const struct vpa_tape_call *c, size_t w)
{
	if (c->waits != VPA_WAIT_QUEUE)
		return 0;
	return vpa_is_in(r->open[c->thread].differs, w) ? r->afters[c->thread * r->n + w]
							: c->after_ns;
}

/* Waits for the queue of a device; what the call waits for besides has been waited for. */
static void wait_for_queue(
	struct vpa_replaying *r, uint32_t call, const int64_t *queue, int64_t *end)
{
	const struct vpa_tape_call *c = &r->t->calls[call];
	const int64_t *start = &r->starts[c->thread * r->n];
	size_t slot = vpa_launch_slot(r, call), w;

	for (w = 0; queue && w < r->plain; w++)
		end[w] = wait_until(end[w], start[w], queue[w], back_from_queue(r, c, w));
	for (w = r->plain; w < r->worlds; w++)
		end[w] = wait_until(
			end[w], start[w], own_queue(r, c, slot, w), back_from_queue(r, c, w));
}

/* Worlds in which the call is another one. */
static void end_differing(struct vpa_replaying *r, const struct vpa_tape_call *c,
	const int64_t *wait, const int64_t *queue, int64_t *end)
{
	const int64_t *start = &r->starts[c->thread * r->n];
	const uint64_t *costs = &r->costs[c->thread * r->n];
	const int64_t *afters = &r->afters[c->thread * r->n];

	VPA_FOR_WORLDS(w, r->open[c->thread].differs)
	{
		end[w] = vpa_clock_plus(start[w], (int64_t)costs[w]);
		end[w] = wait_until(end[w], start[w], wait[w], afters[w]);
		if (w < r->plain)
			end[w] = wait_until(end[w], start[w], queue[w], back_from_queue(r, c, w));
	}
}

void vpa_replay_end(struct vpa_replaying *r, uint32_t call, uint32_t newest)
{
	const struct vpa_tape_call *c = &r->t->calls[call];
	const struct vpa_open_call *open = &r->open[c->thread];
	const struct vpa_launch *l = c->op_count ? vpa_launch_of(r, call) : NULL;
	const int64_t *start = &r->starts[c->thread * r->n], *wait = r->never,
		      *queue = l ? find_queue(r, c, l) : r->never;
	int64_t *end = &r->ends[c->thread * r->n], cost_ns = (int64_t)c->cost_ns,
		back_ns = c->waits == VPA_WAIT_QUEUE ? c->after_ns : 0;
	size_t w;

	if (c->target_count) {
		wait = find_wait(r, c, newest);
		cost_ns = wait ? cost_ns : (int64_t)(c->end_ns - c->start_ns);
		wait = wait ? wait : r->never;
		vpa_clocks_end(end, start, cost_ns, wait, c->after_ns, r->n);
	} else {
		vpa_clocks_end(end, start, cost_ns, queue, back_ns, r->n);
		for (w = r->plain; w < r->worlds; w++)
			end[w] = vpa_clock_plus(start[w], cost_ns);
	}
	if (open->differs)
		end_differing(r, c, wait, queue, end);
	if (l)
		wait_for_queue(r, call, c->target_count ? queue : NULL, end);
	VPA_FOR_WORLDS(world, open->gone | r->no_host)
	end[world] = start[world];
	if (l)
		memcpy(&r->launch_ends[vpa_launch_slot(r, call) * r->n], end, r->n * sizeof(*end));
	r->host = end;
	vpa_note_error(r, end[0], c->end_ns);
}
