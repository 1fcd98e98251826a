/* gap_causes.c - the rules of gap_causes.h. Most gaps are a few microseconds between two queued kernels, and
 * idle_gaps.c explains them from the launch alone; this file explains all others. */
#include "analysis/idle/gap_causes.h"

#include "analysis/idle/overhead.h"
#include "formats/base/memory.h"

void vpa_cause_headline(struct vpa_gap *gap)
{
	const struct vpa_cause_piece *pieces = gap->pieces, *longest = NULL;
	uint64_t sums[VPA_CAUSES], met = 0;
	unsigned most = pieces[0].cause, k;
	size_t count = gap->piece_count, i;

	for (i = 0; i < count; i++) {
		k = pieces[i].cause;
		sums[k] = (met >> k & 1 ? sums[k] : 0) + pieces[i].end_ns - pieces[i].start_ns;
		met |= (uint64_t)1 << k;
	}
	for (; met; met &= met - 1) {
		k = (unsigned)__builtin_ctzll(met);
		if (sums[k] > sums[most] || (sums[k] == sums[most] && k < most))
			most = k;
	}
	for (i = 0; i < count; i++)
		if (pieces[i].cause == most &&
			(!longest || pieces[i].end_ns - pieces[i].start_ns >
					     longest->end_ns - longest->start_ns))
			longest = &pieces[i];
	gap->cause = (enum vpa_cause)most;
	gap->call = longest->call;
	gap->place = longest->place;
}

/* The question being answered. */
struct work {
	struct vpa_resolver *resolver;
	struct vpa_gain *gain;
	struct vpa_answer *answer;
};

/* ---- pieces ---- */

/* Appends a piece, unless it is empty. */
static int put_piece(struct vpa_cause_pieces *to, const struct vpa_cause_piece *piece)
{
	if (piece->end_ns <= piece->start_ns)
		return VPT_OK;
	if (vpt_grow(&to->items, &to->cap, to->count + 1, sizeof(*to->items)))
		return VPT_ENOMEM;
	to->items[to->count++] = *piece;
	return VPT_OK;
}

/* ---- overhead ---- */

/* Appends a cut as pieces, minus the time that overhead records cover. Records of other threads of
 * the process count while the thread was in a call, since they share its locks. */
VPA_RARE static int put_cut_beside(
	struct work *w, uint32_t thread, const struct vpa_cut *cut, struct vpa_cause_pieces *to)
{
	int shares = cut->in && vpa_overhead_is_shared(cut->piece.base);
	const struct vpa_overheads o = vpa_overheads_of(w->resolver, thread, shares);
	uint64_t at, end_ns = cut->piece.end_ns;
	int rc = VPT_OK;

	for (at = cut->piece.start_ns; at < end_ns && !rc;) {
		struct vpa_cause_piece piece = cut->piece;
		enum vpa_cause cause = (enum vpa_cause)piece.cause;

		piece.start_ns = at;
		if (vpa_overhead_at(&o, at, &piece.end_ns, &cause))
			piece.host = 0, piece.instead_call = piece.instead_place = 0;
		piece.cause = (uint8_t)cause;
		rc = put_piece(to, &piece);
		at = piece.end_ns;
	}
	return rc;
}

static int put_cut(
	struct work *w, uint32_t thread, const struct vpa_cut *cut, struct vpa_cause_pieces *to)
{
	return w->resolver->quiet_ns > cut->piece.start_ns ? put_cut_beside(w, thread, cut, to)
							   : put_piece(to, &cut->piece);
}

/* ---- a gap ---- */

/* A gap whose gating op has a launch. */
struct launched {
	const struct vpa_question *q;
	struct vpa_call *own, *outer;
	uint32_t thread, place;
	uint64_t late_ns, called_ns; /* ends of late and of call */
};

static uint64_t clamp(uint64_t t, uint64_t from, uint64_t to)
{
	return t < from ? from : t > to ? to : t;
}

static struct launched find_launched(struct work *w, const struct vpa_question *q)
{
	struct vpa_call *own = q->gating->launch;
	struct launched g = {.q = q, .own = own, .thread = vpa_call_thread(own)};
	const struct vpa_calls *calls = &w->resolver->pasts[g.thread].calls;

	g.outer = own->state & VPA_CALL_NESTED
			  ? vpa_calls_at(calls, vpa_calls_outermost(calls, vpa_call_position(own)))
			  : own;
	g.place = g.outer == own
			  ? q->place
			  : vpa_resolver_place(w->resolver, g.thread, vpa_call_start(g.outer));
	g.late_ns = clamp(vpa_call_start(g.outer), q->start_ns, q->end_ns);
	g.called_ns = clamp(vpa_call_end(g.outer), g.late_ns, q->end_ns);
	return g;
}

/* The cause of time inside the launching call. */
static enum vpa_cause cause_of_launch(const struct launched *g)
{
	enum vpa_cause cause = vpa_host_late_cause_of(g->outer);

	if (vpa_call_effect(g->own) == VPT_CALL_BLOCKING_COPY)
		return VPA_CAUSE_BLOCKING_COPY;
	if (cause == VPA_CAUSE_LAUNCH_CALL && g->own->klass == VPT_CALL_LAUNCH && g->q->first_use &&
		vpa_call_end(g->outer) - vpa_call_start(g->outer) >= VPA_LOAD_NS)
		return VPA_CAUSE_MODULE_LOAD;
	return cause;
}

static int cut_launch(struct work *w, const struct launched *g, int counts)
{
	struct vpa_cut *cut;
	uint64_t *counted;

	if (g->called_ns <= g->late_ns)
		return VPT_OK;
	cut = vpa_cuts_add(&w->answer->cuts);
	if (!cut)
		return VPT_ENOMEM;
	cut->in = g->outer;
	cut->piece.start_ns = g->late_ns;
	cut->piece.end_ns = g->called_ns;
	cut->piece.call = g->own->name;
	cut->piece.place = g->place;
	cut->piece.call_start_ns = vpa_call_start(g->outer);
	cut->piece.call_end_ns = vpa_call_end(g->outer);
	cut->piece.cause = cut->piece.base = (uint8_t)cause_of_launch(g);
	if (counts && vpa_host_late_cause_of(g->outer) != VPA_CAUSE_LAUNCH_CALL) {
		counted = vpa_call_counted(g->outer, g->q->device);
		if (!counted)
			return VPT_ENOMEM;
		*counted += g->called_ns - g->late_ns;
	}
	return VPT_OK;
}

static int put_queue(struct work *w, const struct launched *g, struct vpa_cause_pieces *to)
{
	const struct vpa_question *q = g->q;
	uint64_t near_ns = vpa_call_end(g->outer) + VPA_NEAR_NS;
	struct vpa_cause_piece piece = {.start_ns = g->called_ns,
		.end_ns = clamp(near_ns, g->called_ns, q->end_ns),
		.call = g->own->name,
		.place = g->place,
		.cause = VPA_CAUSE_LAUNCH_LATENCY,
		.call_start_ns = vpa_call_start(g->outer),
		.call_end_ns = vpa_call_end(g->outer)};
	int rc = put_piece(to, &piece);

	/* No op of this device runs in a gap: only another one's can be waited for. */
	if (!rc && q->others_ns > piece.end_ns && piece.end_ns < q->end_ns &&
		vpa_cause_has_stream_wait(w->resolver, q->gating->stream, g->thread, q->since_ns,
			vpa_call_start(g->outer))) {
		piece.start_ns = piece.end_ns;
		piece.end_ns = vpa_earlier(q->others_ns, q->end_ns);
		piece.cause = VPA_CAUSE_DEPENDENCY;
		rc = put_piece(to, &piece);
	}
	piece.start_ns = piece.end_ns;
	piece.end_ns = q->end_ns;
	piece.cause = (uint8_t)vpa_cause_queued(
		g->own->klass == VPT_CALL_GRAPH_LAUNCH, piece.end_ns - piece.start_ns);
	return rc ? rc : put_piece(to, &piece);
}

/* Appends the three stretches of a gap. */
static int put_stretches(
	struct work *w, const struct launched *g, int no_credit, struct vpa_cause_pieces *to)
{
	const struct vpa_host_late late = {.resolver = w->resolver,
		.device = g->q->device,
		.thread = g->thread,
		.start_ns = g->q->start_ns,
		.end_ns = g->late_ns,
		.launch = g->outer,
		.launch_place = g->place,
		.place_from_ns = g->outer == g->own ? g->q->place_from_ns : UINT64_MAX,
		.first_use = g->q->first_use,
		.no_credit = no_credit};
	struct vpa_cuts *cuts = &w->answer->cuts;
	size_t i;
	int rc;

	cuts->count = 0;
	rc = vpa_host_late_cut(&late, cuts, &w->answer->spare);
	if (!rc)
		rc = cut_launch(w, g, !no_credit);
	for (i = 0; i < cuts->count && !rc; i++)
		rc = put_cut(w, g->thread, &cuts->items[i], to);
	if (!rc && g->q->first_use && !no_credit)
		rc = vpa_cause_first_use(w->resolver, g->thread, w->answer, to);
	return rc ? rc : put_queue(w, g, to);
}

/* Counts what the gap would have lost without each of its causes. */
static void count_gain(struct work *w, const struct launched *g)
{
	const struct vpa_cause_pieces *pieces = &w->answer->pieces;
	struct vpa_gain_gap gap = {.thread = g->thread,
		.start_ns = g->q->start_ns,
		.host_ns = vpa_earlier(vpa_call_end(g->outer), g->called_ns),
		.most_ns = vpa_resolver_recorded_ns(w->resolver, g->q->start_ns, g->q->end_ns),
		.pieces = g->q->first_use ? pieces : NULL,
		.cuts = &w->answer->cuts};
	size_t i;

	for (i = 0; i < pieces->count; i++) {
		const struct vpa_cause_piece *p = &pieces->items[i];

		gap.ns[p->cause] += p->end_ns - p->start_ns;
		if (vpa_piece_is_long_work(p))
			gap.long_ns += p->end_ns - p->start_ns;
	}
	gap.made_ns = vpa_gain_made(&gap);
	vpa_gain_count(w->gain, w->resolver, &gap);
}

/* The whole gap has one cause. `g` may be NULL. */
static int put_whole(struct work *w, const struct vpa_question *q, enum vpa_cause cause,
	const struct launched *g)
{
	const struct vpa_cause_piece piece = {.start_ns = q->start_ns,
		.end_ns = q->end_ns,
		.call = g ? g->own->name : 0,
		.place = g ? g->place : 0,
		.cause = (uint8_t)cause};

	return put_piece(&w->answer->pieces, &piece);
}

static int is_same_graph_launch(const struct vpa_model *m, const struct vpa_question *q)
{
	const struct vpa_op *before = q->before, *op = q->gating;
	int64_t pid = m->streams[op->stream].pid, pid_before = m->streams[before->stream].pid;

	if (!op->correlation || before->correlation != op->correlation)
		return 0;
	/* Processes number their launches separately. */
	if (pid != pid_before && pid != -1 && pid_before != -1)
		return 0;
	return op->launch->klass == VPT_CALL_GRAPH_LAUNCH || (before->graph_node && op->graph_node);
}

int vpa_cause_answer(struct vpa_resolver *r, struct vpa_gain *gain, const struct vpa_question *q,
	struct vpa_answer *out)
{
	struct work w = {r, gain, out};
	struct launched g;
	int rc;

	out->pieces.count = out->host_pieces.count = 0;
	if (!q->gating)
		return put_whole(&w, q, VPA_CAUSE_AFTER_LAST_WORK, NULL);
	if (!q->before) {
		rc = put_whole(&w, q, VPA_CAUSE_BEFORE_FIRST_WORK, NULL);
		if (rc || !q->gating->launch || r->model->clocks_disagree)
			return rc;
		g = find_launched(&w, q);
		return put_stretches(&w, &g, 1, &out->host_pieces);
	}
	if (vpa_intervals_touch(&r->lost, q->start_ns, q->end_ns))
		return put_whole(&w, q, VPA_CAUSE_RECORDS_LOST, NULL);
	if (!q->gating->launch)
		return put_whole(&w, q, VPA_CAUSE_NO_LAUNCH, NULL);
	g = find_launched(&w, q);
	if (is_same_graph_launch(r->model, q))
		return put_whole(&w, q, VPA_CAUSE_INSIDE_GRAPH, &g);
	if (r->model->clocks_disagree)
		return put_whole(&w, q, VPA_CAUSE_CLOCKS, NULL);
	rc = put_stretches(&w, &g, 0, &out->pieces);
	if (!rc)
		count_gain(&w, &g);
	return rc;
}

void vpa_answer_free(struct vpa_answer *a)
{
	vpt_free(a->pieces.items);
	vpt_free(a->host_pieces.items);
	vpt_free(a->cuts.items);
	vpt_free(a->spare.items);
	vpt_free(a->spare_pieces.items);
	vpt_free(a->edges);
}
