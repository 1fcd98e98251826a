/* sweep.c - adds up busy and idle time between two edges, on all devices.
 *
 * Busy time is distributed as sharing.h has it, to families: up to an op's start when that op comes, and on
 * all devices up to an edge when that is set. A gap becomes known at its end, and is then cut at the edges
 * already set inside it. */
#include "analysis/pipeline/sweep.h"

#include "analysis/pipeline/sharing.h"
#include "formats/base/memory.h"

#include <string.h>

enum { EDGES_OPEN = 16 /* the last edges, which gaps and moving cuts may still change */ };

void vpa_sweep_init(struct vpa_sweep *s)
{
	memset(s, 0, sizeof(*s));
	s->first = s->last = s->unused = s->unused_cut = VPA_NONE;
	s->earliest_ns = UINT64_MAX;
}

void vpa_sweep_free(struct vpa_sweep *s)
{
	size_t i;

	for (i = 0; i < s->edge_count; i++)
		vpa_edge_free(&s->edges[i]);
	vpa_edge_free(&s->now);
	vpt_free(s->edges);
	vpt_free(s->cuts);
	vpt_free(s->waiting);
	vpt_free(s->devices);
	vpt_free(s->gaps);
	vpa_sweep_init(s);
}

/* ---- busy time ---- */

static void advance(struct vpa_sharing *d, uint64_t until_ns, struct vpa_sweep_sums *sums)
{
	vpa_sharing_advance(d, until_ns, vpa_sharing_give_cells, sums->ns);
}

static int advance_all(struct vpa_sweep *s, uint64_t until_ns)
{
	uint32_t i;

	for (i = 0; i < s->device_count; i++) {
		struct vpa_sweep_sums *sums = vpa_edge_sums(&s->now, i);

		if (!sums)
			return VPT_ENOMEM;
		advance(&s->devices[i], until_ns, sums);
	}
	return VPT_OK;
}

/* ---- edges ---- */

/* Packs the newest edge that is no longer open. */
static void pack_behind(struct vpa_sweep *s)
{
	uint32_t edge = s->last;
	int i;

	for (i = 0; i < EDGES_OPEN && edge != VPA_NONE; i++)
		edge = s->edges[edge].previous;
	if (edge != VPA_NONE)
		vpa_edge_pack(&s->edges[edge]);
}

/* Sets an edge at the last edge or after it. The sums since the last edge move to the new one. */
static uint32_t set_edge(struct vpa_sweep *s, uint64_t time_ns)
{
	struct vpa_sweep_edge *e, moved;
	uint32_t edge;

	if (s->last != VPA_NONE && s->edges[s->last].time_ns >= time_ns)
		return s->last;
	if (advance_all(s, time_ns))
		return VPA_NONE;
	if ((s->unused == VPA_NONE &&
		    vpt_grow(&s->edges, &s->edge_cap, s->edge_count + 1, sizeof(*s->edges))) ||
		vpa_edge_take(&moved, &s->now))
		return VPA_NONE;
	edge = s->unused;
	if (edge != VPA_NONE)
		s->unused = s->edges[edge].next;
	else
		edge = (uint32_t)s->edge_count++;
	e = &s->edges[edge];
	*e = moved;
	e->time_ns = time_ns;
	e->references = 0;
	e->previous = s->last;
	e->next = VPA_NONE;
	if (s->last == VPA_NONE)
		s->first = edge;
	else
		s->edges[s->last].next = edge;
	s->last = edge;
	pack_behind(s);
	return edge;
}

void vpa_sweep_release(struct vpa_sweep *s, uint32_t edge)
{
	struct vpa_sweep_edge *e = edge == VPA_NONE ? NULL : &s->edges[edge], *into;

	if (!e || --e->references)
		return;
	/* The sums before this edge now belong to the next one. */
	into = e->next == VPA_NONE ? &s->now : &s->edges[e->next];
	if (vpa_edge_merge(into, e)) {
		s->failed = VPT_ENOMEM;
		return;
	}
	if (e->previous == VPA_NONE)
		s->first = e->next;
	else
		s->edges[e->previous].next = e->next;
	if (e->next == VPA_NONE)
		s->last = e->previous;
	else
		s->edges[e->next].previous = e->previous;
	e->next = s->unused;
	s->unused = edge;
}

uint32_t vpa_sweep_pin(struct vpa_sweep *s)
{
	uint32_t edge = set_edge(s, s->at_ns);

	if (edge != VPA_NONE)
		s->edges[edge].references++;
	return edge;
}

/* ---- cuts ---- */

uint32_t vpa_sweep_cut_new(struct vpa_sweep *s)
{
	uint32_t cut = s->unused_cut;

	if (cut != VPA_NONE) {
		s->unused_cut = s->cuts[cut].edge;
	} else if (s->cut_count == VPA_NONE ||
		   vpt_grow(&s->cuts, &s->cut_cap, s->cut_count + 1, sizeof(*s->cuts))) {
		return VPA_NONE;
	} else {
		cut = (uint32_t)s->cut_count++;
	}
	s->cuts[cut] = (struct vpa_sweep_cut){.edge = VPA_NONE};
	return cut;
}

void vpa_sweep_cut_free(struct vpa_sweep *s, uint32_t cut)
{
	if (cut == VPA_NONE)
		return;
	vpa_sweep_hold(s, cut);
	s->cuts[cut].edge = s->unused_cut;
	s->unused_cut = cut;
}

static uint64_t time_at(const struct vpa_sweep *s, size_t place)
{
	return s->cuts[s->waiting[place]].time_ns;
}

static void put_at(struct vpa_sweep *s, size_t place, uint32_t cut)
{
	s->waiting[place] = cut;
	s->cuts[cut].waits = (uint32_t)place + 1;
}

/* Puts a cut in the place where there is none, or where it belongs above or below that. */
static void settle_at(struct vpa_sweep *s, size_t place, uint32_t cut)
{
	uint64_t time_ns = s->cuts[cut].time_ns;
	size_t next;

	for (; place && time_at(s, (place - 1) / 2) > time_ns; place = (place - 1) / 2)
		put_at(s, place, s->waiting[(place - 1) / 2]);
	for (;; place = next) {
		next = 2 * place + 1;
		next += next + 1 < s->waiting_count && time_at(s, next + 1) < time_at(s, next);
		if (next >= s->waiting_count || time_at(s, next) >= time_ns)
			break;
		put_at(s, place, s->waiting[next]);
	}
	put_at(s, place, cut);
	s->earliest_ns = time_at(s, 0);
}

static int wait_for(struct vpa_sweep *s, uint32_t cut)
{
	struct vpa_sweep_cut *c = &s->cuts[cut];

	if (!c->waits) {
		if (vpt_grow(&s->waiting, &s->waiting_cap, s->waiting_count + 1,
			    sizeof(*s->waiting)))
			return VPT_ENOMEM;
		put_at(s, s->waiting_count++, cut);
	}
	settle_at(s, c->waits - 1, cut);
	return VPT_OK;
}

static void wait_no_more(struct vpa_sweep *s, uint32_t cut)
{
	size_t place = s->cuts[cut].waits - 1;
	uint32_t last = s->waiting[--s->waiting_count];

	s->cuts[cut].waits = 0;
	if (last != cut)
		settle_at(s, place, last);
	s->earliest_ns = s->waiting_count ? time_at(s, 0) : UINT64_MAX;
}

int vpa_sweep_cut_copy(struct vpa_sweep *s, uint32_t cut, uint32_t from)
{
	struct vpa_sweep_cut *c = &s->cuts[cut];

	vpa_sweep_hold(s, cut);
	c->time_ns = s->cuts[from].time_ns;
	c->edge = s->cuts[from].edge;
	if (c->edge != VPA_NONE)
		s->edges[c->edge].references++;
	return s->cuts[from].waits ? wait_for(s, cut) : VPT_OK;
}

void vpa_sweep_hold(struct vpa_sweep *s, uint32_t cut)
{
	struct vpa_sweep_cut *c = &s->cuts[cut];

	if (c->waits)
		wait_no_more(s, cut);
	vpa_sweep_release(s, c->edge);
	c->edge = VPA_NONE;
}

int vpa_sweep_extend(struct vpa_sweep *s, uint32_t cut, uint64_t time_ns)
{
	struct vpa_sweep_cut *c = &s->cuts[cut];

	if (time_ns > c->time_ns)
		c->time_ns = time_ns;
	return wait_for(s, cut);
}

/* Sets edges at all cuts up to `until_ns`, the earliest first. */
VPA_RARE static int pass(struct vpa_sweep *s, uint64_t until_ns)
{
	while (s->waiting_count && s->earliest_ns <= until_ns) {
		uint32_t cut = s->waiting[0], edge = set_edge(s, s->earliest_ns);

		if (edge == VPA_NONE)
			return VPT_ENOMEM;
		wait_no_more(s, cut);
		s->cuts[cut].edge = edge;
		s->edges[edge].references++;
	}
	return VPT_OK;
}

/* ---- idle time ---- */

/* A gap is nearly always ahead, so drop the taken ones without waiting for an empty list. */
VPA_RARE static void drop_taken(struct vpa_sweep *s)
{
	s->gap_count -= s->gap_taken;
	memmove(s->gaps, s->gaps + s->gap_taken, s->gap_count * sizeof(*s->gaps));
	s->gap_taken = 0;
}

static inline int put_gap(
	struct vpa_sweep *s, uint32_t device, uint32_t part, uint64_t start_ns, uint64_t end_ns)
{
	size_t at;

	if (device >= VPA_SWEEP_DEVICES)
		return VPT_OK;
	if (s->gap_taken > 1024 && s->gap_taken > s->gap_count / 2)
		drop_taken(s);
	if (vpt_grow(&s->gaps, &s->gap_cap, s->gap_count + 1, sizeof(*s->gaps)))
		return VPT_ENOMEM;
	/* Ordered by end; they arrive nearly in that order. */
	for (at = s->gap_count++; at > s->gap_taken && s->gaps[at - 1].end_ns > end_ns; at--)
		s->gaps[at] = s->gaps[at - 1];
	s->gaps[at] = (struct vpa_sweep_gap_part){start_ns, end_ns, device, part};
	return VPT_OK;
}

int vpa_sweep_gap(struct vpa_sweep *s, uint32_t device, enum vpa_cause cause, uint64_t start_ns,
	uint64_t end_ns)
{
	return put_gap(s, device, VPA_SWEEP_IDLE + (uint32_t)cause, start_ns, end_ns);
}

int vpa_sweep_instead(struct vpa_sweep *s, uint32_t device, enum vpa_cause cause,
	enum vpa_cause host, uint64_t start_ns, uint64_t end_ns)
{
	unsigned number = vpa_instead_number(cause, host);

	return number < VPA_INSTEADS
		       ? put_gap(s, device, VPA_SWEEP_PARTS + number, start_ns, end_ns)
		       : VPT_OK;
}

static void add_gap(struct vpa_sweep_sums *sums, const struct vpa_sweep_gap_part *gap,
	uint64_t start_ns, uint64_t end_ns)
{
	sums->ns[gap->part] += end_ns - start_ns;
	if (gap->part < VPA_SWEEP_PARTS)
		sums->count[gap->part] += start_ns == gap->start_ns;
}

/* Cuts a gap at the edges inside it, from its end to its start. */
VPA_RARE static int cut_at_edges(struct vpa_sweep *s, const struct vpa_sweep_gap_part *gap)
{
	struct vpa_sweep_edge *e = &s->now;
	uint32_t edge = s->last;
	uint64_t end = gap->end_ns;

	for (;;) {
		uint64_t from = edge == VPA_NONE ? 0 : s->edges[edge].time_ns;
		uint64_t start = from > gap->start_ns ? from : gap->start_ns;

		if (end > start) {
			struct vpa_sweep_sums *sums = vpa_edge_sums(e, gap->device);

			if (!sums)
				return VPT_ENOMEM;
			add_gap(sums, gap, start, end);
			end = start;
		}
		if (edge == VPA_NONE || from <= gap->start_ns)
			return VPT_OK;
		e = &s->edges[edge];
		edge = e->previous;
	}
}

/* Most gaps begin after the last edge. */
static inline int cut_gap(struct vpa_sweep *s, const struct vpa_sweep_gap_part *gap)
{
	if (gap->device >= s->now.device_count || s->last == VPA_NONE ||
		s->edges[s->last].time_ns > gap->start_ns)
		return cut_at_edges(s, gap);
	add_gap(&s->now.devices[gap->device], gap, gap->start_ns, gap->end_ns);
	return VPT_OK;
}

static inline int take_gaps(struct vpa_sweep *s, uint64_t until_ns)
{
	int rc = VPT_OK;

	while (!rc && s->gap_taken < s->gap_count && s->gaps[s->gap_taken].end_ns <= until_ns)
		rc = cut_gap(s, &s->gaps[s->gap_taken++]);
	return rc;
}

/* ---- ops ---- */

VPA_RARE static int make_room(struct vpa_sweep *s, uint32_t device)
{
	size_t before = s->device_count;

	if (vpt_grow(&s->devices, &s->device_cap, (size_t)device + 1, sizeof(*s->devices)))
		return VPT_ENOMEM;
	s->device_count = (size_t)device + 1;
	memset(s->devices + before, 0, (s->device_count - before) * sizeof(*s->devices));
	return VPT_OK;
}

static inline int reach(struct vpa_sweep *s, uint64_t time_ns)
{
	int rc = VPT_OK;

	if (time_ns > s->at_ns)
		s->at_ns = time_ns;
	if (s->earliest_ns <= time_ns)
		rc = pass(s, time_ns);
	if (s->gap_taken < s->gap_count && !rc)
		rc = take_gaps(s, time_ns);
	return rc;
}

int vpa_sweep_reach(struct vpa_sweep *s, uint64_t time_ns)
{
	return reach(s, time_ns);
}

int vpa_sweep_op(
	struct vpa_sweep *s, uint32_t device, uint32_t family, uint64_t start_ns, uint64_t end_ns)
{
	struct vpa_sharing *d;
	struct vpa_sweep_sums *sums;
	int rc = reach(s, start_ns);

	if (rc || device >= VPA_SWEEP_DEVICES)
		return rc;
	if (device >= s->device_count && make_room(s, device))
		return VPT_ENOMEM;
	d = &s->devices[device];
	sums = vpa_edge_sums(&s->now, device);
	if (!sums)
		return VPT_ENOMEM;
	sums->count[family]++;
	s->worked |= (uint32_t)1 << device;
	/* One after the other, as most kernels run. */
	if (d->count == 1 && d->running[0].end_ns <= start_ns) {
		sums->ns[d->running[0].cell] += d->running[0].end_ns - d->at_ns;
		d->running[0] = (struct vpa_sharer){end_ns, family};
		d->at_ns = start_ns;
		return VPT_OK;
	}
	advance(d, start_ns, sums);
	vpa_sharing_begin(d, end_ns, family);
	return VPT_OK;
}

/* The gap that ends with op `i`, which the sweep has reached. */
static int add_gap_before(struct vpa_sweep *s, const struct vpa_ops *ops, size_t i)
{
	struct vpa_gap_stretch parts[VPA_GAP_STRETCHES];
	size_t k, count = ops->device[i] < VPA_SWEEP_DEVICES ? vpa_ops_gap(ops, i, 0, parts) : 0;
	int rc = VPT_OK;

	for (k = 0; k < count && !rc; k++) {
		const struct vpa_sweep_gap_part gap = {parts[k].start_ns, parts[k].end_ns,
			ops->device[i], VPA_SWEEP_IDLE + parts[k].cause};

		rc = cut_gap(s, &gap);
	}
	return rc;
}

/* Idle time of a cause; 0: it has none. */
static inline void add_idle(struct vpa_sweep_sums *sums, unsigned cause, uint64_t ns)
{
	sums->ns[VPA_SWEEP_IDLE + cause] += ns;
	sums->count[VPA_SWEEP_IDLE + cause] += ns != 0;
}

static void add_gaps(
	struct vpa_sweep_sums *sums, const struct vpa_ops *ops, size_t begin, size_t end)
{
	size_t i;

	for (i = begin + 1; i < end; i++) {
		const struct vpa_late *late = &ops->late[i];

		if (!ops->gap_cause[i])
			continue;
		add_idle(sums, ops->gap_cause[i], vpa_ops_last_ns(ops, i));
		if (!ops->has_late[i])
			continue;
		add_idle(sums, late->cause, late->code_ns);
		add_idle(sums, VPA_CAUSE_LAUNCH_CALL, late->call_ns);
		add_idle(sums, VPA_CAUSE_LAUNCH_LATENCY, late->latency_ns);
	}
}

/* Ops (begin, end) of a serial run, if only `begin` runs and no edge is set before the last starts. */
static void add_serial(struct vpa_sharing *d, struct vpa_sweep_sums *sums,
	const struct vpa_ops *ops, size_t begin, size_t end)
{
	const uint8_t *families = ops->family;
	size_t i;

	for (i = begin; i < end - 1; i++) {
		sums->ns[families[i]] += ops->end_ns[i] - ops->start_ns[i];
		sums->count[families[i]]++;
	}
	sums->count[families[begin]]--; /* already counted */
	sums->count[families[end - 1]]++;
	d->running[0] = (struct vpa_sharer){ops->end_ns[end - 1], families[end - 1]};
	d->at_ns = ops->start_ns[end - 1];
}

int vpa_sweep_ops(struct vpa_sweep *s, const struct vpa_ops *ops, const struct vpa_op_run *run,
	size_t begin, size_t end)
{
	uint32_t device = ops->device[begin];
	size_t i;
	int rc = VPT_OK;

	for (i = begin; i < end && !rc; i++) {
		struct vpa_sharing *d;

		rc = vpa_sweep_op(s, device, ops->family[i], ops->start_ns[i], ops->end_ns[i]);
		if (!rc)
			rc = add_gap_before(s, ops, i);
		if (rc || device >= VPA_SWEEP_DEVICES)
			continue;
		/* With two or more ops, each op of the run begins after all before it have ended. */
		d = &s->devices[device];
		if (d->count == 1 && i + 1 < end && s->earliest_ns > ops->start_ns[end - 1]) {
			struct vpa_sweep_sums *sums = &s->now.devices[device];

			add_serial(d, sums, ops, i, end);
			if (run->calm) {
				sums->ns[VPA_SWEEP_IDLE + VPA_CAUSE_SCHEDULING] +=
					ops->idle_ns[end - 1] - ops->idle_ns[i];
				sums->count[VPA_SWEEP_IDLE + VPA_CAUSE_SCHEDULING] +=
					(uint32_t)(end - 1 - i);
			} else {
				add_gaps(sums, ops, i, end);
			}
			s->at_ns = ops->start_ns[end - 1];
			break;
		}
	}
	return rc;
}

int vpa_sweep_end(struct vpa_sweep *s)
{
	int rc = s->failed ? s->failed : pass(s, UINT64_MAX);

	if (!rc)
		rc = advance_all(s, UINT64_MAX);
	return rc ? rc : take_gaps(s, UINT64_MAX);
}

/* ---- results ---- */

void vpa_sweep_between(const struct vpa_sweep *s, uint32_t from, uint32_t to, uint32_t device_mask,
	struct vpa_sweep_sums *sums, uint64_t *busy_ns, struct vpa_sweep_notes *notes)
{
	uint32_t edge = from == VPA_NONE ? s->first : s->edges[from].next;

	if (from != VPA_NONE && from == to)
		return;
	for (; edge != VPA_NONE; edge = s->edges[edge].next) {
		vpa_edge_add(&s->edges[edge], device_mask, sums, busy_ns, notes);
		if (edge == to)
			return;
	}
	if (to == VPA_NONE)
		vpa_edge_add(&s->now, device_mask, sums, busy_ns, notes);
}
