/* model_gaps.c - device time and gaps by cutting time at every edge and looking at all events for each piece. */
#include "formats/memory.h"
#include "tests/support/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LATENCY = 10000, STALL = 100000, GAPS_MAX = 4096, PIECES_MAX = 512 };

struct gap {
	uint64_t start, end;
	const struct model_op *before, *gating; /* NULL at the window's edges */
	enum vpa_cause cause;
	const char *call, *range;
};

struct piece {
	enum vpa_cause cause;
	const char *range;
	uint64_t ns;
};

/* ---- opened by ---- */

/* The outermost call of a thread around a moment; NULL if that is `except`. */
static const struct model_call *call_at(
	const struct model *m, size_t thread, uint64_t t, const struct model_call *except)
{
	const struct model_call *best = NULL;
	size_t i;

	for (i = 0; i < m->calls.count; i++) {
		const struct model_call *c = &m->calls.items[i];

		if (c->thread != thread || c->start > t || c->end <= t)
			continue;
		if (!best || c->start < best->start ||
			(c->start == best->start && c->end > best->end))
			best = c;
	}
	return best == except ? NULL : best;
}

static enum vpa_cause cause_of_call(const struct model_call *c)
{
	switch (model_effect(c)) {
	case VPT_CALL_SYNC:
		return VPA_CAUSE_SYNC_DRAIN;
	case VPT_CALL_BLOCKING_COPY:
		return VPA_CAUSE_BLOCKING_COPY;
	case VPT_CALL_ALLOCATION:
		return VPA_CAUSE_ALLOCATION;
	case VPT_CALL_MODULE_LOAD:
		return VPA_CAUSE_MODULE_LOAD;
	case VPT_CALL_GRAPH_BUILD:
		return VPA_CAUSE_GRAPH_BUILD;
	default:
		return VPA_CAUSE_OTHER_CALL;
	}
}

static const char *range_name(const struct model_range *r)
{
	return r ? r->name : NULL;
}

static void answer_late(const struct model *m, struct gap *g, const struct model_call *l)
{
	const struct model_call *in = call_at(m, l->thread, g->start, l);
	uint64_t previous = 0;
	size_t i;

	g->range = range_name(model_range_at(m, l->thread, g->start));
	if (in) {
		g->cause = cause_of_call(in);
		g->call = in->name;
		return;
	}
	for (i = 0; i < m->calls.count; i++) {
		const struct model_call *c = &m->calls.items[i];

		if (c->thread == l->thread && c != l && c->end <= l->start && c->end > previous)
			previous = c->end;
	}
	if (previous && l->start - previous < STALL) {
		g->cause = VPA_CAUSE_LAUNCH_RATE;
		g->call = l->name;
	} else {
		g->cause = VPA_CAUSE_HOST_STALL;
	}
}

/* Whether K's stream was told to wait between its previous op's launch, as far as that is known, and K's. */
static int waited(const struct model *m, const struct model_op *k)
{
	uint64_t previous = 0;
	size_t i;

	for (i = 0; i < m->ops.count && &m->ops.items[i] != k; i++)
		if (m->ops.items[i].active && m->ops.items[i].stream == k->stream &&
			m->ops.items[i].corr)
			previous = m->ops.items[i].corr;
	for (i = 0; i < m->waits.count; i++)
		if (m->waits.items[i].stream == k->stream && m->waits.items[i].corr > previous &&
			m->waits.items[i].corr < k->corr)
			return 1;
	return 0;
}

static int lost_in(const struct model *m, const struct gap *g)
{
	size_t i;

	for (i = 0; i < m->spans.count; i++)
		if (m->spans.items[i].cause == VPA_CAUSE_UNKNOWN &&
			m->spans.items[i].end > m->spans.items[i].start &&
			m->spans.items[i].start < g->end && m->spans.items[i].end > g->start)
			return 1;
	return 0;
}

static int one_graph_launch(const struct gap *g)
{
	const struct model_op *a = g->before, *k = g->gating;

	return k->corr && a->corr == k->corr &&
	       (k->launch->klass == VPT_CALL_GRAPH_LAUNCH || (a->node && k->node));
}

static void answer(const struct model *m, struct gap *g)
{
	const struct model_op *k = g->gating;
	const struct model_call *l = k ? k->launch : NULL;

	if (!g->before || !k) {
		g->cause = k ? VPA_CAUSE_BEFORE_FIRST_WORK : VPA_CAUSE_AFTER_LAST_WORK;
	} else if (lost_in(m, g)) {
		g->cause = VPA_CAUSE_RECORDS_LOST;
	} else if (!l) {
		g->cause = VPA_CAUSE_NO_LAUNCH;
	} else if (!one_graph_launch(g) && l->start >= g->start) {
		answer_late(m, g, l);
	} else {
		g->call = l->name;
		g->range = range_name(model_range_at(m, l->thread, l->start));
		if (one_graph_launch(g))
			g->cause = VPA_CAUSE_INSIDE_GRAPH;
		else if (l->end + LATENCY > g->start)
			g->cause = VPA_CAUSE_LAUNCH_LATENCY;
		else if (waited(m, k))
			g->cause = VPA_CAUSE_DEPENDENCY;
		else if (l->klass == VPT_CALL_GRAPH_LAUNCH)
			g->cause = VPA_CAUSE_GRAPH_START;
		else
			g->cause = g->end - g->start <= LATENCY ? VPA_CAUSE_SCHEDULING
								: VPA_CAUSE_QUEUED;
	}
}

/* ---- spent in ---- */

static enum vpa_cause cause_at(const struct model *m, const struct gap *g, uint64_t t)
{
	static const enum vpa_cause first[] = {
		VPA_CAUSE_UNKNOWN, VPA_CAUSE_PROFILER, VPA_CAUSE_MODULE_LOAD};
	const struct model_call *l = g->gating ? g->gating->launch : NULL, *in;
	size_t i, k;

	for (k = 0; k < MODEL_COUNT(first); k++)
		for (i = 0; i < m->spans.count; i++)
			if (m->spans.items[i].cause == first[k] && m->spans.items[i].start <= t &&
				t < m->spans.items[i].end)
				return first[k];
	if (g->cause == VPA_CAUSE_AFTER_LAST_WORK || g->cause == VPA_CAUSE_INSIDE_GRAPH)
		return g->cause;
	if (!l)
		return g->cause == VPA_CAUSE_BEFORE_FIRST_WORK ? g->cause : VPA_CAUSE_UNKNOWN;
	if (t < l->start) {
		in = call_at(m, l->thread, t, l);
		if (!in)
			return VPA_CAUSE_HOST_CODE;
		return cause_of_call(in) == VPA_CAUSE_SYNC_DRAIN ? VPA_CAUSE_SYNC
								 : cause_of_call(in);
	}
	if (t < l->end)
		return VPA_CAUSE_LAUNCH_CALL;
	switch (g->cause) {
	case VPA_CAUSE_DEPENDENCY:
	case VPA_CAUSE_GRAPH_START:
	case VPA_CAUSE_SCHEDULING:
	case VPA_CAUSE_QUEUED:
		return g->cause;
	default:
		return VPA_CAUSE_LAUNCH_LATENCY;
	}
}

static void put_edges(const struct model *m, const struct gap *g, struct model_edges *e)
{
	size_t i;

	model_edge(e, g->start);
	model_edge(e, g->end);
#define PUT(list)                                                                                  \
	for (i = 0; i < (list).count; i++) {                                                       \
		model_edge(e, (list).items[i].start);                                              \
		model_edge(e, (list).items[i].end);                                                \
	}
	PUT(m->spans)
	PUT(m->calls)
	PUT(m->ranges)
#undef PUT
	model_edges_sort(e);
}

/* The gap's pieces in order of time; neighbours that say the same are one. */
static size_t spend(const struct model *m, const struct gap *g, struct piece *pieces)
{
	const struct model_call *l = g->gating ? g->gating->launch : NULL;
	struct model_edges e = {0};
	size_t count = 0, i;

	put_edges(m, g, &e);
	for (i = 0; i + 1 < e.count; i++) {
		uint64_t from = e.items[i], to = e.items[i + 1];
		struct piece p = {.ns = to - from};

		if (from < g->start || to > g->end || from == to)
			continue;
		p.cause = cause_at(m, g, from);
		p.range = l ? range_name(model_range_at(m, l->thread, from)) : NULL;
		if (count && pieces[count - 1].cause == p.cause &&
			model_same_text(pieces[count - 1].range, p.range))
			pieces[count - 1].ns += p.ns;
		else if (count < PIECES_MAX)
			pieces[count++] = p;
	}
	vpt_free(e.items);
	return count;
}

/* ---- comparing gaps ---- */

static const struct vpa_gap_row *reported_gap(
	const struct vpa_report *r, int64_t device, const struct gap *g)
{
	size_t i;

	for (i = 0; i < r->gap_count; i++)
		if (r->gaps[i].device == device && r->gaps[i].start_ns == g->start)
			return &r->gaps[i];
	return NULL;
}

static void check_gap(struct model *m, const struct vpa_report *r, int64_t device,
	const struct gap *g, uint64_t *spent)
{
	const struct vpa_gap_row *row = reported_gap(r, device, g);
	struct piece pieces[PIECES_MAX];
	size_t count = spend(m, g, pieces), i;
	char where[96];

	snprintf(where, sizeof(where), "device %" PRId64 ", gap %" PRIu64 "-%" PRIu64, device,
		g->start, g->end);
	for (i = 0; i < count; i++)
		spent[pieces[i].cause] += pieces[i].ns;
	if (!row) {
		model_say(m, "%s: not in the report", where);
		return;
	}
	model_same(m, where, "duration", g->end - g->start, row->duration_ns);
	if (row->opened_by != g->cause)
		model_say(m, "%s: opened by %s, the model says %s", where,
			vpa_cause_text(row->opened_by), vpa_cause_text(g->cause));
	if (!model_same_text(row->call, g->call) || !model_same_text(row->range, g->range))
		model_say(m, "%s: call %s in range %s, the model says %s in %s", where, row->call,
			row->range, g->call, g->range);
	if (count > 64) /* the report adds up what comes on top */
		return;
	model_same(m, where, "number of pieces", count, row->piece_count);
	for (i = 0; i < count && i < row->piece_count; i++)
		if (row->pieces[i].cause != pieces[i].cause || row->pieces[i].ns != pieces[i].ns ||
			!model_same_text(row->pieces[i].range, pieces[i].range))
			model_say(m,
				"%s: piece %zu is %s %" PRIu64 " in %s, the model says %s %" PRIu64
				" in %s",
				where, i, vpa_cause_text(row->pieces[i].cause), row->pieces[i].ns,
				row->pieces[i].range, vpa_cause_text(pieces[i].cause), pieces[i].ns,
				pieces[i].range);
}

static void check_opened(
	struct model *m, const struct vpa_device *d, const struct gap *gaps, size_t count)
{
	size_t i, k, other = 0;
	char where[64];

	snprintf(where, sizeof(where), "device %" PRId64 ", opened by", d->device);
	for (i = 0; i < d->opened_by_count; i++)
		other |= d->opened_by[i].range && !strcmp(d->opened_by[i].range, "(other)");
	for (i = 0; i < d->opened_by_count && !other; i++) {
		const struct vpa_idle_part *p = &d->opened_by[i];
		uint64_t ns = 0, n = 0;

		for (k = 0; k < count; k++)
			if (gaps[k].cause == p->cause && model_same_text(gaps[k].call, p->call) &&
				model_same_text(gaps[k].range, p->range)) {
				ns += gaps[k].end - gaps[k].start;
				n++;
			}
		model_same(m, where, vpa_cause_text(p->cause), ns, p->ns);
		model_same(m, where, "gaps", n, p->gaps);
	}
}

/* ---- devices ---- */

/* What runs on a device between two neighbouring edges. */
struct cover {
	int compute, comm, copy;
};

static struct cover cover_of(const struct model *m, int64_t device, uint64_t from, uint64_t to)
{
	struct cover c = {0};
	size_t i;

	for (i = 0; i < m->ops.count; i++) {
		const struct model_op *op = &m->ops.items[i];

		if (!op->active || op->device != device || op->start > from || op->end < to)
			continue;
		c.copy += op->kind != VPA_KERNEL;
		c.comm += op->kind == VPA_KERNEL && vpa_family_is_comm(op->family);
		c.compute += op->kind == VPA_KERNEL && !vpa_family_is_comm(op->family);
	}
	return c;
}

/* The ops at a gap's two ends: of several the last that ended, the first that begins. */
static void find_neighbours(const struct model *m, int64_t device, struct gap *g)
{
	size_t i;

	for (i = 0; i < m->ops.count; i++) {
		const struct model_op *op = &m->ops.items[i];

		if (!op->active || op->device != device)
			continue;
		if (op->end == g->start)
			g->before = op;
		if (op->start == g->end && !g->gating)
			g->gating = op;
	}
}

static size_t find_gaps(const struct model *m, int64_t device, const struct model_edges *e,
	struct gap *gaps, struct vpa_device *sums)
{
	size_t i, count = 0;

	for (i = 0; i + 1 < e->count; i++) {
		uint64_t from = e->items[i], to = e->items[i + 1];
		struct cover c = cover_of(m, device, from, to);

		if (from == to)
			continue;
		sums->compute_ns += c.compute ? to - from : 0;
		sums->exposed_comm_ns += !c.compute && c.comm ? to - from : 0;
		sums->exposed_copy_ns += !c.compute && !c.comm && c.copy ? to - from : 0;
		if (c.compute || c.comm || c.copy || to > m->window_end)
			continue;
		if (count && gaps[count - 1].end == from)
			gaps[count - 1].end = to;
		else if (count < GAPS_MAX)
			gaps[count++] = (struct gap){.start = from, .end = to};
	}
	for (i = 0; i < count; i++) {
		find_neighbours(m, device, &gaps[i]);
		answer(m, &gaps[i]);
	}
	return count;
}

static uint64_t sms_of(const struct model *m, int64_t device)
{
	size_t i;

	for (i = 0; i < m->sms.count; i++)
		if (m->sms.items[i].device == device)
			return m->sms.items[i].count;
	return 0;
}

static void sum_ops(const struct model *m, struct vpa_device *d, struct model_edges *e)
{
	size_t i, k;

	d->first_ns = UINT64_MAX;
	model_edge(e, m->window_start);
	model_edge(e, m->window_end);
	for (i = 0; i < m->ops.count; i++) {
		const struct model_op *op = &m->ops.items[i];
		int overlaps = 0, again = 0;

		if (!op->active || op->device != d->device)
			continue;
		model_edge(e, op->start);
		model_edge(e, op->end);
		d->ops++;
		d->first_ns = op->start < d->first_ns ? op->start : d->first_ns;
		d->last_ns = op->end > d->last_ns ? op->end : d->last_ns;
		d->kernel_ns += op->kind == VPA_KERNEL ? op->end - op->start : 0;
		if (op->kind == VPA_KERNEL && op->blocks && op->blocks < sms_of(m, d->device))
			d->small_grid_ns += op->end - op->start;
		for (k = 0; k < i; k++) {
			const struct model_op *o = &m->ops.items[k];

			if (o->active && o->device == d->device && o->stream == op->stream) {
				again = 1;
				overlaps |= o->end > op->start;
			}
		}
		d->same_stream_overlaps += (uint64_t)overlaps;
		d->streams += !again;
	}
	model_edges_sort(e);
}

static void sum_gaps(struct vpa_device *d, const struct gap *gaps, size_t count)
{
	size_t i;
	unsigned b;

	for (i = 0; i < count; i++) {
		uint64_t ns = gaps[i].end - gaps[i].start;

		d->window_idle_ns += ns;
		if (!gaps[i].before || !gaps[i].gating)
			continue;
		d->gaps++;
		d->idle_ns += ns;
		d->longest_gap_ns = ns > d->longest_gap_ns ? ns : d->longest_gap_ns;
		for (b = 0; b < VPA_GAP_BUCKETS; b++)
			d->histogram[b] += ns >= vpa_gap_bucket_from_ns[b] &&
					   ns < vpa_gap_bucket_from_ns[b + 1];
	}
}

static void compare_device(
	struct model *m, const struct vpa_device *ours, const struct vpa_device *theirs)
{
	char where[32];
	unsigned b;

	snprintf(where, sizeof(where), "device %" PRId64, ours->device);
#define SAME(field) model_same(m, where, #field, ours->field, theirs->field)
	SAME(ops);
	SAME(streams);
	SAME(first_ns);
	SAME(last_ns);
	SAME(active_ns);
	SAME(busy_ns);
	SAME(idle_ns);
	SAME(gaps);
	SAME(longest_gap_ns);
	SAME(kernel_ns);
	SAME(same_stream_overlaps);
	SAME(compute_ns);
	SAME(exposed_comm_ns);
	SAME(exposed_copy_ns);
	SAME(window_idle_ns);
	SAME(small_grid_ns);
#undef SAME
	for (b = 0; b < VPA_GAP_BUCKETS; b++)
		model_same(m, where, vpa_gap_bucket_names[b], ours->histogram[b],
			theirs->histogram[b]);
}

static void check_device(
	struct model *m, const struct vpa_report *r, const struct vpa_device *theirs)
{
	struct gap *gaps = vpt_calloc(GAPS_MAX, sizeof(*gaps));
	struct vpa_device ours = {.device = theirs->device};
	uint64_t spent[VPA_CAUSES] = {0};
	struct model_edges e = {0};
	size_t count, i, k;

	if (!gaps)
		abort();
	sum_ops(m, &ours, &e);
	count = find_gaps(m, ours.device, &e, gaps, &ours);
	sum_gaps(&ours, gaps, count);
	ours.busy_ns = ours.compute_ns + ours.exposed_comm_ns + ours.exposed_copy_ns;
	ours.active_ns = ours.last_ns - ours.first_ns;
	compare_device(m, &ours, theirs);
	for (i = 0; i < count; i++)
		check_gap(m, r, ours.device, &gaps[i], spent);
	check_opened(m, theirs, gaps, count);
	for (k = 0; k < VPA_CAUSES; k++) {
		uint64_t ns = 0;

		for (i = 0; i < theirs->spent_in_count; i++)
			ns += theirs->spent_in[i].cause == k ? theirs->spent_in[i].ns : 0;
		model_same(m, "spent in", vpa_cause_text((enum vpa_cause)k), spent[k], ns);
	}
	vpt_free(gaps);
	vpt_free(e.items);
}

void model_check_devices(struct model *m, const struct vpa_report *r)
{
	size_t i, k, gaps = 0;

	for (i = 0; i < m->ops.count; i++) {
		const struct model_op *op = &m->ops.items[i];
		int there = 0;

		for (k = 0; k < r->device_count; k++)
			there |= r->devices[k].device == op->device;
		if (op->active && !there)
			model_say(m, "device %" PRId64 " is not in the report", op->device);
	}
	for (i = 0; i < r->device_count; i++) {
		check_device(m, r, &r->devices[i]);
		for (k = 0; k < r->devices[i].opened_by_count; k++)
			gaps += r->devices[i].opened_by[k].gaps;
	}
	model_same(m, "report", "listed gaps", gaps, r->gap_count);
}
