/* replay.c - the clocks of all worlds, in recorded order.
 *
 * Times are relative to the tape's start. What later events ask for is kept in slots, a clock for each world, which
 * are freed with their last use; so memory is bounded by what is open at one moment. */
#include "analysis/retime/replay.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <string.h>

enum { RING = 2 * VPA_QUEUE_LAUNCHES };

struct slot {
	uint32_t uses, next_free;
};

/* A stream in one world: when its last op ended, and whether the last recorded op was run there. */
struct tail {
	int64_t end_ns;
	uint8_t any, has_last;
};

/* The launches of a device in one world: when each one's ops ended, as far as known. */
struct line {
	int64_t ends_ns[RING];
	uint64_t count;
};

struct replay {
	const struct vpa_tape *t;
	const struct vpa_edges *e;
	const struct vpa_effects *x;
	const struct vpa_world *worlds;
	size_t k; /* worlds */
	/* By slot: `k` clocks, and of launches the `k` places in the line. */
	int64_t *clocks;
	uint64_t *places;
	struct slot *slots;
	size_t slot_count, slot_cap, clock_cap, place_cap;
	uint32_t free_slot;                       /* 1 + number; 0: none */
	uint32_t *call_start, *call_end, *op_end; /* by call or op: 1 + its slot; 0: none */
	struct tail *tails;                       /* by stream, then world; streams aside follow */
	struct line *lines;                       /* by device, then world */
	int64_t last_ns[VPA_WORLDS_MOST];         /* the end of the last call of all */
	uint64_t error_ns;
	struct vpa_moment *moments;
	uint8_t *moment_kinds;
	/* By moment, then world: the end of the last call before it; the latest end of the ops that had ended by then; the
	 * earliest start of those that started from then on. */
	int64_t *host_ns, *ends_ns, *starts_ns;
	size_t moment_count, next_moment;
};

enum { AT_CALL, AT_END, AT_START };

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* A changed world may come to the end of the type. */
static int64_t plus(int64_t a, int64_t b)
{
	return vpt_sat_add_i64(a, b);
}

/* ---- slots ---- */

static uint32_t new_slot(struct replay *r, uint32_t uses)
{
	uint32_t slot;

	if (r->free_slot) {
		slot = r->free_slot;
		r->free_slot = r->slots[slot - 1].next_free;
	} else {
		if (vpt_grow(&r->slots, &r->slot_cap, r->slot_count + 1, sizeof(*r->slots)) ||
			vpt_grow(&r->clocks, &r->clock_cap, (r->slot_count + 1) * r->k,
				sizeof(*r->clocks)) ||
			vpt_grow(&r->places, &r->place_cap, (r->slot_count + 1) * r->k,
				sizeof(*r->places)))
			return 0;
		slot = (uint32_t)++r->slot_count;
	}
	r->slots[slot - 1].uses = uses;
	return slot;
}

static int64_t *clocks_of(struct replay *r, uint32_t slot)
{
	return &r->clocks[(slot - 1) * r->k];
}

static void use_slot(struct replay *r, uint32_t *slot)
{
	struct slot *s = &r->slots[*slot - 1];

	if (--s->uses)
		return;
	s->next_free = r->free_slot;
	r->free_slot = *slot;
	*slot = 0;
}

/* ---- moments ---- */

static void note_error(struct replay *r, int64_t ns, uint64_t recorded_ns)
{
	int64_t differs = vpt_sat_diff_i64(ns, (int64_t)(recorded_ns - r->t->start_ns));
	uint64_t by = (uint64_t)(differs < 0 ? -differs : differs);

	if (by > r->error_ns)
		r->error_ns = by;
}

/* The first moment at or after a time. */
static size_t moment_from(const struct replay *r, uint64_t ns)
{
	size_t low = 0, high = r->moment_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->moments[middle].ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The moments that an op counts for: the first one by which it had ended, and the last one from which on it starts;
 * moment_count: none. */
struct around {
	size_t end, start;
};

static struct around moments_of(const struct replay *r, const struct vpa_tape_op *o)
{
	struct around at = {moment_from(r, o->end_ns), moment_from(r, o->start_ns + 1)};

	at.start = at.start ? at.start - 1 : r->moment_count;
	return at;
}

static void note_op(
	struct replay *r, const struct around *at, size_t w, int64_t start_ns, int64_t end_ns)
{
	int64_t *ns;

	if (at->end < r->moment_count) {
		ns = &r->ends_ns[at->end * r->k + w];
		*ns = *ns > end_ns ? *ns : end_ns;
	}
	if (at->start < r->moment_count) {
		ns = &r->starts_ns[at->start * r->k + w];
		*ns = *ns < start_ns ? *ns : start_ns;
	}
}

/* Notes where the host is at the moments before a time. */
static void pass_moments(struct replay *r, uint64_t until_ns)
{
	size_t w;

	for (; r->next_moment < r->moment_count && r->moments[r->next_moment].ns < until_ns;
		r->next_moment++)
		for (w = 0; w < r->k; w++)
			r->host_ns[r->next_moment * r->k + w] = r->last_ns[w];
}

static void find_kinds(struct replay *r)
{
	const struct vpa_tape *t = r->t;
	size_t i, at;

	memset(r->moment_kinds, AT_CALL, r->moment_count);
	for (i = 0; i < t->op_count; i++) {
		at = moment_from(r, t->ops[i].start_ns);
		if (at < r->moment_count && r->moments[at].ns == t->ops[i].start_ns &&
			r->moment_kinds[at] == AT_CALL)
			r->moment_kinds[at] = AT_START;
		at = moment_from(r, t->ops[i].end_ns);
		if (at < r->moment_count && r->moments[at].ns == t->ops[i].end_ns)
			r->moment_kinds[at] = AT_END;
	}
	for (i = 0; i < r->moment_count * r->k; i++) {
		r->ends_ns[i] = INT64_MIN;
		r->starts_ns[i] = INT64_MAX;
	}
}

/* What had ended by a moment includes what had by an earlier one; what starts from it on, what does from a later one. */
static void add_others(struct replay *r)
{
	size_t i, n = r->moment_count * r->k;

	for (i = r->k; i < n; i++)
		if (r->ends_ns[i] < r->ends_ns[i - r->k])
			r->ends_ns[i] = r->ends_ns[i - r->k];
	for (i = n > r->k ? n - r->k : 0; i--;)
		if (r->starts_ns[i] > r->starts_ns[i + r->k])
			r->starts_ns[i] = r->starts_ns[i + r->k];
}

/* A GPU without its host may begin what comes later before what comes first has ended: then the moment is when that
 * has. Where nothing begins or ends, it is as long after the last thing before it, on the host or on a GPU, as it was.
 * Where all ops are gone, the host says when it is. */
static int64_t time_of(const struct replay *r, size_t i, size_t w)
{
	size_t at = i * r->k + w;
	int64_t end_ns = r->ends_ns[at], start_ns = r->starts_ns[at], host_ns = r->host_ns[at];
	int64_t recorded_ns = later(r->ends_ns[i * r->k], r->host_ns[i * r->k]);

	if (r->moment_kinds[i] == AT_CALL)
		return vpt_sat_add_i64(later(end_ns, host_ns),
			vpt_sat_diff_i64(
				vpt_sat_diff(r->moments[i].ns, r->t->start_ns), recorded_ns));
	if (r->moment_kinds[i] == AT_START && start_ns != INT64_MAX)
		return later(start_ns, end_ns);
	return end_ns == INT64_MIN ? host_ns : end_ns;
}

static void end_moments(struct replay *r)
{
	size_t i, w;

	add_others(r);
	for (i = 0; i < r->moment_count; i++)
		for (w = 0; w < r->k; w++)
			r->moments[i].times_ns[w] = time_of(r, i, w);
}

/* ---- calls ---- */

/* Whether a call puts work on its device in a world: some op is not gone, and hangs on it. */
static int launches_in(const struct replay *r, uint32_t call, const struct vpa_call_effect *effect)
{
	const struct vpa_tape_call *c = &r->t->calls[call];

	return c->op_count && !(effect && effect->is_gone);
}

static struct line *line_of(const struct replay *r, const struct vpa_tape_call *c, size_t w)
{
	const struct vpa_tape *t = r->t;

	return &r->lines[t->streams[t->ops[t->launched[c->op]].stream].gpu * r->k + w];
}

static int start_call(struct replay *r, uint32_t call)
{
	const struct vpa_tape_call *c = &r->t->calls[call];
	uint32_t slot = new_slot(r, c->start_uses + 1), *before = NULL;
	int64_t *ns;
	size_t w;

	if (!slot)
		return VPT_ENOMEM;
	r->call_start[call] = slot;
	ns = clocks_of(r, slot);
	if (c->before != VPA_TAPE_NONE)
		before = &r->call_end[c->before];
	for (w = 0; w < r->k; w++) {
		const struct vpa_call_effect *effect =
			c->mods ? vpa_effect_on_call(r->x, c, w) : NULL;

		ns[w] = before ? clocks_of(r, *before)[w] : 0;
		if (!r->worlds[w].no_host)
			ns[w] = plus(ns[w], (int64_t)(effect ? effect->gap_ns : c->gap_ns));
		if (c->op_count && launches_in(r, call, effect)) {
			struct line *line = line_of(r, c, w);

			r->places[(slot - 1) * r->k + w] = line->count;
			line->ends_ns[line->count++ % RING] = INT64_MIN;
		}
	}
	note_error(r, ns[0], c->start_ns);
	if (before)
		use_slot(r, before);
	return VPT_OK;
}

/* The end of the last of the ops that a call waits for; INT64_MIN: there is none in this world. */
static int64_t awaited(const struct replay *r, const struct vpa_tape_call *c, size_t w)
{
	int64_t end_ns = INT64_MIN;
	uint32_t i;

	for (i = 0; i < c->target_count; i++) {
		uint32_t slot = r->op_end[r->e->targets[c->target + i]];

		if (slot)
			end_ns = later(end_ns, r->clocks[(slot - 1) * r->k + w]);
	}
	return end_ns;
}

/* When the launch that must end first did; INT64_MIN: there is none, or it has not begun. */
static int64_t queued(
	const struct replay *r, const struct vpa_tape_call *c, uint32_t slot, size_t w)
{
	uint64_t place = r->places[(slot - 1) * r->k + w];

	struct line *line = line_of(r, c, w);

	/* In a changed world more launches may follow than the line keeps: then the place belongs to a later one. */
	if (!c->can_fill || place < VPA_QUEUE_LAUNCHES ||
		line->count - place > RING - VPA_QUEUE_LAUNCHES)
		return INT64_MIN;
	return line->ends_ns[(place - VPA_QUEUE_LAUNCHES) % RING];
}

static int64_t end_in(const struct replay *r, uint32_t call, int64_t start_ns, size_t w)
{
	const struct vpa_tape_call *c = &r->t->calls[call];
	const struct vpa_call_effect *effect = c->mods ? vpa_effect_on_call(r->x, c, w) : NULL;
	int64_t end_ns = start_ns, wait_ns;

	if (effect && effect->is_gone)
		return start_ns;
	if (r->worlds[w].no_host)
		return start_ns;
	end_ns = plus(start_ns, (int64_t)(effect ? effect->cost_ns : c->cost_ns));
	wait_ns = effect && effect->no_wait ? INT64_MIN : awaited(r, c, w);
	if (wait_ns > start_ns)
		end_ns = later(end_ns, plus(wait_ns, c->after_ns));
	if (launches_in(r, call, effect)) {
		wait_ns = queued(r, c, r->call_start[call], w);
		if (wait_ns > start_ns)
			end_ns = later(end_ns,
				plus(wait_ns, c->waits == VPA_WAIT_QUEUE ? c->after_ns : 0));
	}
	return end_ns;
}

static int end_call(struct replay *r, uint32_t call)
{
	const struct vpa_tape_call *c = &r->t->calls[call];
	/* One use is this function's own. */
	uint32_t slot = new_slot(r, c->uses + 1), i;
	size_t w;

	if (!slot)
		return VPT_ENOMEM;
	r->call_end[call] = slot;
	for (w = 0; w < r->k; w++) {
		int64_t start_ns = clocks_of(r, r->call_start[call])[w];

		clocks_of(r, slot)[w] = end_in(r, call, start_ns, w);
		if (launches_in(r, call, c->mods ? vpa_effect_on_call(r->x, c, w) : NULL))
			r->places[(slot - 1) * r->k + w] =
				r->places[(r->call_start[call] - 1) * r->k + w];
		r->last_ns[w] = clocks_of(r, slot)[w];
	}
	note_error(r, clocks_of(r, slot)[0], c->end_ns);
	for (i = 0; i < c->target_count; i++)
		if (r->op_end[r->e->targets[c->target + i]])
			use_slot(r, &r->op_end[r->e->targets[c->target + i]]);
	use_slot(r, &r->call_start[call]);
	use_slot(r, &r->call_end[call]);
	return VPT_OK;
}

/* ---- ops ---- */

static struct tail *tail_of(const struct replay *r, const struct vpa_tape_op *o,
	const struct vpa_op_effect *effect, size_t w)
{
	size_t stream =
		effect && effect->aside ? r->t->stream_count + effect->aside - 1 : o->stream;

	return &r->tails[stream * r->k + w];
}

static int is_in_graph(const struct vpa_op_effect *effect)
{
	return effect && effect->in_graph;
}

/* The slot of the clock that its launch edge starts from. */
static uint32_t anchor_of(
	const struct replay *r, const struct vpa_tape_op *o, const struct vpa_op_effect *effect)
{
	if (is_in_graph(effect))
		return r->call_end[effect->call];
	return o->anchor ? r->call_end[o->call] : r->call_start[o->call];
}

static int64_t start_in(
	struct replay *r, const struct vpa_tape_op *o, const struct vpa_op_effect *effect, size_t w)
{
	const struct tail *own = &r->tails[o->stream * r->k + w], *tail = tail_of(r, o, effect, w);
	int64_t ns = INT64_MIN, gap_ns = o->stream_ns;
	int in_graph = is_in_graph(effect);

	if (o->launch_ns != VPA_EDGE_NONE)
		ns = plus(clocks_of(r, anchor_of(r, o, effect))[w], in_graph ? 0 : o->launch_ns);
	if (o->event != VPA_TAPE_NONE && r->op_end[o->event] &&
		clocks_of(r, r->op_end[o->event])[w] != INT64_MIN)
		ns = later(ns, plus(clocks_of(r, r->op_end[o->event])[w], o->event_ns));
	/* What is put aside needs what came before it on its own stream. */
	if (tail != own && own->any && own->has_last)
		ns = later(ns, own->end_ns);
	if (tail->any) {
		if (gap_ns == VPA_EDGE_NONE || tail != own || !tail->has_last ||
			(in_graph && gap_ns > r->e->stream_gap_ns))
			gap_ns = r->e->stream_gap_ns;
		ns = later(ns, plus(tail->end_ns, gap_ns));
	}
	return ns == INT64_MIN ? (int64_t)(o->start_ns - r->t->start_ns) : ns;
}

static int64_t duration_in(const struct replay *r, const struct vpa_tape_op *o,
	const struct vpa_op_effect *effect, size_t w)
{
	if (r->worlds[w].no_ops)
		return 0;
	return effect ? effect->duration_ns : (int64_t)(o->end_ns - o->start_ns);
}

/* The op ends its launch's turn in the line of its device. */
static void leave_line(struct replay *r, const struct vpa_tape_op *o,
	const struct vpa_op_effect *effect, size_t w, int64_t end_ns)
{
	uint32_t call = is_in_graph(effect) ? effect->call : o->call;
	const struct vpa_tape_call *c = &r->t->calls[call];
	struct line *line = line_of(r, c, w);
	uint64_t place;
	int64_t *at;

	if (!launches_in(r, call, c->mods ? vpa_effect_on_call(r->x, c, w) : NULL))
		return;
	place = r->places[(anchor_of(r, o, effect) - 1) * r->k + w];
	if (line->count - place > RING)
		return;
	at = &line->ends_ns[place % RING];
	*at = later(*at, end_ns);
}

static int run_op(struct replay *r, uint32_t op)
{
	const struct vpa_tape_op *o = &r->t->ops[op];
	struct around at = moments_of(r, o);
	uint32_t slot = 0;
	size_t w;

	if (o->uses) {
		slot = new_slot(r, o->uses);
		if (!slot)
			return VPT_ENOMEM;
		r->op_end[op] = slot;
	}
	for (w = 0; w < r->k; w++) {
		const struct vpa_op_effect *effect = o->mods ? vpa_effect_on_op(r->x, o, w) : NULL;
		struct tail *own = &r->tails[o->stream * r->k + w],
			    *tail = tail_of(r, o, effect, w);
		int64_t start_ns, end_ns;

		/* Who waits for what is gone waits for what was before it on the stream. */
		if (effect && effect->is_gone) {
			own->has_last = 0;
			if (slot)
				clocks_of(r, slot)[w] = own->any ? own->end_ns : INT64_MIN;
			continue;
		}
		start_ns = start_in(r, o, effect, w);
		end_ns = plus(start_ns, duration_in(r, o, effect, w));
		own->has_last = tail == own;
		tail->any = 1;
		tail->end_ns = end_ns;
		if (slot)
			clocks_of(r, slot)[w] = end_ns;
		if (o->call != VPA_TAPE_NONE)
			leave_line(r, o, effect, w, end_ns);
		note_op(r, &at, w, start_ns, end_ns);
		if (!w) {
			note_error(r, start_ns, o->start_ns);
			note_error(r, end_ns, o->end_ns);
		}
	}
	for (w = 0; o->mods && w < r->k; w++)
		if (is_in_graph(vpa_effect_on_op(r->x, o, w)))
			use_slot(r, &r->call_end[vpa_effect_on_op(r->x, o, w)->call]);
	if (o->call != VPA_TAPE_NONE)
		use_slot(r, o->anchor ? &r->call_end[o->call] : &r->call_start[o->call]);
	if (o->event != VPA_TAPE_NONE)
		use_slot(r, &r->op_end[o->event]);
	return VPT_OK;
}

/* ---- the order ---- */

/* At one moment: ends of calls that began before it, then calls in order, then ops. A call of no length begins and ends
 * at once. */
static int run(struct replay *r)
{
	const struct vpa_tape *t = r->t;
	size_t starts = 0, ends = 0, ops = 0;
	int rc = VPT_OK;

	while (!rc && (starts < t->call_count || ends < t->call_count || ops < t->op_count)) {
		uint64_t start_ns = starts < t->call_count ? t->calls[starts].start_ns : UINT64_MAX,
			 end_ns = UINT64_MAX,
			 op_ns = ops < t->op_count ? t->ops[ops].start_ns : UINT64_MAX;

		/* Those of no length have ended when they began. */
		while (ends < t->call_count) {
			const struct vpa_tape_call *c = &t->calls[r->e->calls_by_end[ends]];

			if (c->end_ns > c->start_ns) {
				end_ns = c->end_ns;
				break;
			}
			ends++;
		}
		if (ends < t->call_count && end_ns <= start_ns && end_ns <= op_ns) {
			pass_moments(r, end_ns);
			rc = end_call(r, r->e->calls_by_end[ends++]);
		} else if (starts < t->call_count && start_ns <= op_ns) {
			rc = start_call(r, (uint32_t)starts);
			if (!rc && t->calls[starts].end_ns == start_ns) {
				pass_moments(r, start_ns);
				rc = end_call(r, (uint32_t)starts);
			}
			starts++;
		} else if (ops < t->op_count) {
			rc = run_op(r, (uint32_t)ops++);
		}
	}
	pass_moments(r, UINT64_MAX);
	return rc;
}

int vpa_replay(const struct vpa_tape *t, const struct vpa_edges *e, const struct vpa_effects *x,
	const struct vpa_world *worlds, size_t world_count, struct vpa_moment *moments,
	size_t moment_count, uint64_t *error_ns)
{
	struct replay r = {.t = t,
		.e = e,
		.x = x,
		.worlds = worlds,
		.k = world_count,
		.moments = moments,
		.moment_count = moment_count};
	int rc = VPT_ENOMEM;

	r.call_start = vpt_calloc(t->call_count, sizeof(*r.call_start));
	r.call_end = vpt_calloc(t->call_count, sizeof(*r.call_end));
	r.op_end = vpt_calloc(t->op_count, sizeof(*r.op_end));
	r.tails = vpt_calloc((t->stream_count + x->asides) * world_count, sizeof(*r.tails));
	r.lines = vpt_calloc(t->gpu_count * world_count, sizeof(*r.lines));
	r.moment_kinds = vpt_calloc(moment_count + 1, 1);
	r.host_ns = vpt_calloc((moment_count + 1) * world_count, sizeof(*r.host_ns));
	r.ends_ns = vpt_calloc((moment_count + 1) * world_count, sizeof(*r.ends_ns));
	r.starts_ns = vpt_calloc((moment_count + 1) * world_count, sizeof(*r.starts_ns));
	if (r.call_start && r.call_end && r.op_end && r.tails && r.lines && r.moment_kinds &&
		r.host_ns && r.ends_ns && r.starts_ns) {
		find_kinds(&r);
		rc = run(&r);
		end_moments(&r);
	}
	*error_ns = r.error_ns;
	vpt_free(r.clocks);
	vpt_free(r.places);
	vpt_free(r.slots);
	vpt_free(r.call_start);
	vpt_free(r.call_end);
	vpt_free(r.op_end);
	vpt_free(r.tails);
	vpt_free(r.lines);
	vpt_free(r.moment_kinds);
	vpt_free(r.host_ns);
	vpt_free(r.ends_ns);
	vpt_free(r.starts_ns);
	return rc;
}
