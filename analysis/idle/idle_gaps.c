/* idle_gaps.c - explains the gaps measured by idle_devices.c. Nearly all are a few microseconds
 * between two queued kernels; many of these are explained at once from the times of their launches.
 * gap_causes.c explains the others, which are emitted one by one. */
#include "analysis/idle/idle_gaps.h"

#include "formats/base/memory.h"
#include "formats/base/vectorise.h"

#include <string.h>

static inline unsigned bucket_of(uint64_t ns)
{
	unsigned b = 0;

	while (ns >= vpa_gap_bucket_from_ns[b + 1])
		b++;
	return b;
}

static inline void count_gap(struct vpa_idle_device *d, uint64_t ns)
{
	d->gaps++;
	d->histogram[bucket_of(ns)]++;
	if (ns > d->longest_gap_ns)
		d->longest_gap_ns = ns;
}

void vpa_idle_gap(
	const struct vpa_idle *s, const struct vpa_ops *ops, size_t i, struct vpa_whole_gap *out)
{
	const struct vpa_idle_device *d = &s->devices[ops->device[i]];
	int is_here = ops->gap_before[i] != VPA_NO_OP;
	struct vpa_gap_stretch parts[VPA_GAP_STRETCHES];
	size_t k = 0, count = vpa_ops_gap(ops, i, vpa_ops_stretch(ops, i, &k)->place, parts);

	out->before = is_here ? vpa_ops_get(ops, ops->gap_before[i]) : d->last;
	out->gating = vpa_ops_get(ops, i);
	for (k = 0; k < count; k++) {
		const struct vpa_gap_stretch *part = &parts[k];

		out->pieces[k] = (struct vpa_cause_piece){.start_ns = part->start_ns,
			.end_ns = part->end_ns,
			.call = part->call,
			.place = part->place,
			.cause = part->cause,
			.call_start_ns = part->call ? ops->launch_start_ns[i] : 0,
			.call_end_ns = part->call ? ops->launch_end_ns[i] : 0};
	}
	out->gap = (struct vpa_gap){.start_ns = ops->start_ns[i] - ops->gap_ns[i],
		.end_ns = ops->start_ns[i],
		.device = ops->device[i],
		.thread = ops->launch[i] ? vpa_call_thread(ops->launch[i]) : VPA_NONE,
		.pieces = out->pieces,
		.piece_count = count,
		.before = is_here || d->has_last ? &out->before : NULL,
		.gating = &out->gating};
}

/* Sets `part` to the pieces within [from_ns, to_ns). */
static int cut_pieces(const struct vpa_cause_pieces *all, uint64_t from_ns, uint64_t to_ns,
	struct vpa_cause_pieces *part)
{
	size_t i;

	part->count = 0;
	if (vpt_grow(&part->items, &part->cap, all->count, sizeof(*part->items)))
		return VPT_ENOMEM;
	for (i = 0; i < all->count; i++) {
		struct vpa_cause_piece piece = all->items[i];

		piece.start_ns = piece.start_ns > from_ns ? piece.start_ns : from_ns;
		piece.end_ns = piece.end_ns < to_ns ? piece.end_ns : to_ns;
		if (piece.end_ns > piece.start_ns)
			part->items[part->count++] = piece;
	}
	return VPT_OK;
}

/* Emits a gap, or a part of one, covered by these pieces. */
static int hand_out_part(
	struct vpa_idle *s, struct vpa_gap *gap, const struct vpa_cause_pieces *pieces)
{
	if (gap->before && gap->gating)
		count_gap(&s->devices[gap->device], gap->end_ns - gap->start_ns);
	gap->pieces = pieces->items;
	gap->piece_count = pieces->count;
	return s->gap(s->ctx, gap);
}

static int hand_out_cut(struct vpa_idle *s, struct vpa_gap *gap)
{
	uint64_t from_ns = gap->start_ns, to_ns = gap->end_ns;

	if (cut_pieces(&s->answer.pieces, from_ns, to_ns, &s->part) ||
		cut_pieces(&s->answer.host_pieces, from_ns, to_ns, &s->host_part))
		return VPT_ENOMEM;
	gap->host_pieces = s->host_part.items;
	gap->host_piece_count = s->host_part.count;
	return hand_out_part(s, gap, &s->part);
}

/* Emits the parts between pauses: while recording is off nothing is known, of the host either. */
static int hand_out_between(struct vpa_idle *s, struct vpa_gap *gap)
{
	const struct vpa_intervals *paused = &s->resolver->paused;
	uint64_t end_ns = gap->end_ns;
	struct vpa_intervals_at at;
	const struct vpa_interval *pause = vpa_intervals_after(paused, gap->start_ns, &at);
	int rc = VPT_OK;

	for (; !rc && gap->start_ns < end_ns; pause = vpa_intervals_next(paused, &at)) {
		int last = !pause || pause->start_ns >= end_ns;

		gap->end_ns = last ? end_ns : pause->start_ns;
		if (gap->end_ns > gap->start_ns)
			rc = hand_out_cut(s, gap);
		gap->start_ns = last ? end_ns : pause->end_ns;
	}
	return rc;
}

/* Explains a gap and emits it. */
int vpa_idle_explain(struct vpa_idle *s, const struct vpa_question *q)
{
	const struct vpa_op *gating = q->gating;
	struct vpa_gap gap = {.start_ns = q->start_ns,
		.end_ns = q->end_ns,
		.device = q->device,
		.thread = gating && gating->launch ? vpa_call_thread(gating->launch) : VPA_NONE,
		.before = q->before,
		.gating = gating,
		.first_use = q->first_use};
	int is_cut = vpa_intervals_touch(&s->resolver->paused, q->start_ns, q->end_ns), rc;

	/* A gap of which nothing was recorded is not counted. */
	if (is_cut && !vpa_resolver_recorded_ns(s->resolver, q->start_ns, q->end_ns))
		return VPT_OK;
	rc = vpa_cause_answer(s->resolver, &s->devices[q->device].gain, q, &s->answer);
	if (rc)
		return rc;
	gap.host_pieces = s->answer.host_pieces.items;
	gap.host_piece_count = s->answer.host_pieces.count;
	if (is_cut)
		return hand_out_between(s, &gap);
	return hand_out_part(s, &gap, &s->answer.pieces);
}

static int is_first(const struct vpa_ops *ops, size_t i)
{
	size_t k;

	for (k = 0; k < ops->first_count; k++)
		if (ops->firsts[k] == i)
			return 1;
	return 0;
}

static int hand_out_before(struct vpa_idle *s, struct vpa_ops *ops, size_t i, uint64_t since_ns)
{
	const struct vpa_idle_device *d = &s->devices[ops->device[i]];
	const struct vpa_op_stretch *stretch = vpa_ops_stretch(ops, i, &s->stretch);
	int is_here = ops->gap_before[i] != VPA_NO_OP;
	struct vpa_op before = is_here ? vpa_ops_get(ops, ops->gap_before[i]) : d->last;
	struct vpa_op gating = vpa_ops_get(ops, i);
	const struct vpa_question q = {.device = ops->device[i],
		.start_ns = ops->start_ns[i] - ops->gap_ns[i],
		.end_ns = ops->start_ns[i],
		.before = is_here || d->has_last ? &before : NULL,
		.gating = &gating,
		.since_ns = since_ns,
		.others_ns = vpa_idle_others_end(s, ops, i),
		.place = stretch->place,
		.place_from_ns = stretch->from_ns,
		.first_use = is_first(ops, i)};

	return vpa_idle_explain(s, &q);
}

/* ---- many gaps at once ---- */

/* When the op was launched; if that is unknown, when it began. */
static uint64_t since_of(const struct vpa_ops *ops, size_t i)
{
	return ops->launch[i] ? ops->launch_start_ns[i] : ops->start_ns[i];
}

/* When the stream's newest op of a launch other than `id` was launched; 0: there was none. */
static uint64_t since_before(const struct vpa_idle_stream *stream, uint64_t id)
{
	return id && stream->id == id ? stream->other_since_ns : stream->since_ns;
}

/* Notes op `i` on its stream; ops that began before the window are noted already. */
static inline void note_op(const struct vpa_idle *s, struct vpa_idle_stream *stream,
	const struct vpa_ops *ops, size_t i)
{
	if (ops->start_ns[i] > s->resolver->model->window_start_ns)
		vpa_idle_note_launch(stream, ops->correlation[i], since_of(ops, i));
}

/* Notes ops [begin, end): the last two, if they are of different launches, hide all before them. */
static void note_ops(const struct vpa_idle *s, struct vpa_idle_stream *stream,
	const struct vpa_ops *ops, size_t begin, size_t end)
{
	if (end - begin > 2 && ops->correlation[end - 1] != ops->correlation[end - 2])
		begin = end - 2;
	for (; begin < end; begin++)
		note_op(s, stream, ops, begin);
}

/* Whether no record but those of calls could change the answer for the gap before op `i`. */
static inline int is_usual(
	const struct vpa_idle *s, const struct vpa_ops *ops, size_t i, uint64_t since_ns)
{
	const struct vpa_resolver *r = s->resolver;
	const struct vpa_idle_device *d = &s->devices[ops->device[i]];
	uint64_t start = ops->start_ns[i] - ops->gap_ns[i], id = ops->correlation[i];
	const struct vpa_call *launch = ops->launch[i];

	if (!launch || launch->state & VPA_CALL_NESTED || r->quiet_ns > start ||
		s->paused_until_ns > start)
		return 0;
	if (ops->gap_before[i] != VPA_NO_OP ? ops->correlation[ops->gap_before[i]] == id
					    : !d->has_last || d->last.correlation == id)
		return 0;
	return vpa_idle_others_end(s, ops, i) <= start ||
	       !vpa_cause_has_stream_wait(r, ops->stream[i], vpa_call_thread(launch), since_ns,
		       ops->launch_start_ns[i]);
}

/* Counts what a gap that the host made would have lost without each of its causes. */
static void count_late(struct vpa_idle *s, const struct vpa_ops *ops, size_t i)
{
	const struct vpa_late *late = &ops->late[i];
	uint64_t start = ops->start_ns[i] - ops->gap_ns[i];
	uint64_t before = (uint64_t)late->code_ns + late->call_ns + late->latency_ns;
	struct vpa_gain_gap *gap = &s->late;
	unsigned rest = ops->gap_cause[i];

	gap->thread = vpa_call_thread(ops->launch[i]);
	gap->start_ns = start;
	gap->host_ns = vpa_earlier(ops->launch_end_ns[i], ops->start_ns[i]);
	gap->most_ns = ops->gap_ns[i];
	gap->ns[late->cause] = late->code_ns;
	gap->ns[VPA_CAUSE_LAUNCH_CALL] = late->call_ns;
	gap->ns[VPA_CAUSE_LAUNCH_LATENCY] = late->latency_ns;
	gap->ns[rest] = ops->gap_ns[i] - before;
	/* All but what the op was queued for. */
	gap->made_ns = rest == VPA_CAUSE_LAUNCH_LATENCY || rest == VPA_CAUSE_LAUNCH_CALL
			       ? gap->most_ns
			       : before;
	vpa_gain_count(&s->devices[ops->device[i]].gain, s->resolver, gap);
	gap->ns[late->cause] = gap->ns[rest] = 0;
	gap->ns[VPA_CAUSE_LAUNCH_CALL] = gap->ns[VPA_CAUSE_LAUNCH_LATENCY] = 0;
}

/* Explains a usual gap during which the host was at most in its own code, then in the launch call. Returns
 * whether that is all. */
static int answer_late(struct vpa_idle *s, struct vpa_ops *ops, size_t i)
{
	const struct vpa_op_stretch *stretch = vpa_ops_stretch(ops, i, &s->stretch);
	struct vpa_call *launch = ops->launch[i];
	uint64_t end = ops->start_ns[i], start = end - ops->gap_ns[i];
	uint64_t late_ns = vpa_later(ops->launch_start_ns[i], start);
	uint64_t called_ns = vpa_earlier(vpa_later(ops->launch_end_ns[i], late_ns), end);
	uint64_t near_ns =
		vpa_earlier(vpa_later(ops->launch_end_ns[i] + VPA_NEAR_NS, called_ns), end);
	struct vpa_host_late l = {.resolver = s->resolver,
		.device = ops->device[i],
		.thread = vpa_call_thread(launch),
		.start_ns = start,
		.end_ns = late_ns,
		.launch = launch,
		.launch_place = stretch->place,
		.place_from_ns = stretch->from_ns};
	struct vpa_late_code code = {.cause = VPA_CAUSE_LAUNCH_RATE};

	if (s->each || late_ns >= end || ops->gap_ns[i] > UINT32_MAX ||
		vpa_host_late_cause_of(launch) != VPA_CAUSE_LAUNCH_CALL || is_first(ops, i) ||
		(late_ns > start && (!vpa_host_late_is_code(&l, &code) || code.is_long)))
		return 0;
	ops->has_late[i] = 1;
	ops->late_count++;
	ops->late[i] =
		(struct vpa_late){(uint32_t)(late_ns - start), (uint32_t)(called_ns - late_ns),
			(uint32_t)(near_ns - called_ns), code.place, code.cause};
	/* The last stretch is never empty. */
	if (near_ns < end) {
		ops->gap_cause[i] = (uint8_t)vpa_cause_queued(
			launch->klass == VPT_CALL_GRAPH_LAUNCH, end - near_ns);
	} else if (called_ns < end) {
		ops->gap_cause[i] = VPA_CAUSE_LAUNCH_LATENCY;
		ops->late[i].latency_ns = 0;
	} else {
		ops->gap_cause[i] = VPA_CAUSE_LAUNCH_CALL;
		ops->late[i].call_ns = 0;
	}
	count_late(s, ops, i);
	return 1;
}

/* Explains the gap before an op. */
static int answer_gap(struct vpa_idle *s, struct vpa_ops *ops, size_t i, uint64_t since_ns)
{
	uint64_t ns = ops->gap_ns[i], start = ops->start_ns[i] - ns;

	ops->gap_cause[i] = VPA_CAUSE_NOT_IDLE;
	if (!ns)
		return VPT_OK;
	if (!is_usual(s, ops, i, since_ns))
		return hand_out_before(s, ops, i, since_ns);
	/* After that an earlier host would not have made the gap shorter. */
	if (ops->launch_end_ns[i] + VPA_NEAR_NS <= start)
		ops->gap_cause[i] = (uint8_t)vpa_cause_queued(
			ops->launch[i]->klass == VPT_CALL_GRAPH_LAUNCH, ns);
	else if (!answer_late(s, ops, i))
		return hand_out_before(s, ops, i, since_ns);
	count_gap(&s->devices[ops->device[i]], ns);
	return VPT_OK;
}

/* Summary of the gaps of a serial run. */
struct calm {
	uint64_t bad;      /* top bit set: some gap may be more than the device's own start time */
	uint64_t below[3]; /* gaps in the first buckets, cumulative */
};

/* The rule of vpa_cause_is_scheduling(), and that neighbours are of different launches, as a sum of
 * signs: also refuses numbers whose top bit is set. */
VPT_VECTORISE
static struct calm look_at_gaps(const struct vpa_ops *ops, size_t begin, size_t end)
{
	uint64_t bad = 0, below_1us = 0, below_5us = 0;
	size_t i;

	for (i = begin + 1; i < end; i++) {
		uint64_t from = ops->end_ns[i - 1], returned = ops->launch_end_ns[i];
		uint64_t ns = ops->gap_ns[i];

		bad |= returned | from | (from - returned - VPA_NEAR_NS);
		bad |= (ns - 1) | (VPA_NEAR_NS - ns);
		bad |= (ops->correlation[i] ^ ops->correlation[i - 1]) - 1;
		below_1us += (ns - 1000) >> 63;
		below_5us += (ns - 5000) >> 63;
	}
	return (struct calm){bad, {below_1us, below_5us, end - begin - 1}};
}

/* Explains the gaps after a serial run's first op if all are of the usual kind: short, before ops
 * queued long ago. Returns whether they were. */
static int answer_all(struct vpa_idle *s, struct vpa_ops *ops, struct vpa_op_run *run)
{
	struct vpa_idle_device *d = &s->devices[ops->device[run->begin]];
	size_t begin = run->begin, count = run->end - begin - 1;
	struct calm calm;

	_Static_assert(VPA_NEAR_NS < 20000, "such gaps are in the first three buckets");
	if (ops->graph_launches || !count)
		return 0;
	calm = look_at_gaps(ops, begin, run->end);
	if (calm.bad >> 63)
		return 0;
	memset(ops->gap_cause + begin + 1, VPA_CAUSE_SCHEDULING, count);
	d->gaps += count;
	d->histogram[0] += calm.below[0];
	d->histogram[1] += calm.below[1] - calm.below[0];
	d->histogram[2] += calm.below[2] - calm.below[1];
	d->longest_gap_ns = vpa_later(d->longest_gap_ns, run->longest_ns);
	run->calm = 1;
	return 1;
}

/* Passes ops that each begin as the one before ends, from `i` on; returns the first that does not. */
static size_t pass_no_gaps(struct vpa_ops *ops, size_t i, size_t end)
{
	for (; i < end && !ops->gap_ns[i]; i++)
		ops->gap_cause[i] = VPA_CAUSE_NOT_IDLE;
	return i;
}

/* Explains the gaps after a serial run's first op one by one, if no record could change the answers
 * but the gaps are not all alike. */
static int answer_each(struct vpa_idle *s, struct vpa_ops *ops, const struct vpa_op_run *run)
{
	struct vpa_idle_device *d = &s->devices[ops->device[run->begin]];
	struct vpa_idle_stream *stream = &s->streams[ops->stream[run->begin]];
	uint64_t longest_ns = 0, tiny = 0, gaps = 0;
	size_t i;
	int rc = VPT_OK;

	for (i = run->begin + (size_t)1; i < run->end && !rc; i++) {
		uint64_t from = ops->end_ns[i - 1], ns = ops->gap_ns[i];

		if (!ns) {
			size_t end = pass_no_gaps(ops, i, run->end);

			note_ops(s, stream, ops, i, end);
			i = end - 1;
			continue;
		}
		if (!vpa_cause_is_scheduling(from, ns, ops->launch_end_ns[i]) ||
			ops->correlation[i] == ops->correlation[i - 1] ||
			ops->launch[i]->klass == VPT_CALL_GRAPH_LAUNCH) {
			rc = answer_gap(s, ops, i, since_before(stream, ops->correlation[i]));
			note_op(s, stream, ops, i);
			continue;
		}
		note_op(s, stream, ops, i);
		ops->gap_cause[i] = VPA_CAUSE_SCHEDULING;
		longest_ns = ns > longest_ns ? ns : longest_ns;
		gaps++;
		if (ns < vpa_gap_bucket_from_ns[1])
			tiny++;
		else
			d->histogram[bucket_of(ns)]++;
	}
	d->gaps += gaps;
	d->histogram[0] += tiny;
	d->longest_gap_ns = longest_ns > d->longest_gap_ns ? longest_ns : d->longest_gap_ns;
	return rc;
}

/* The first and the last launch time of ops [begin, end). */
VPT_VECTORISE
static void launch_bounds(
	const struct vpa_ops *ops, size_t begin, size_t end, uint64_t *first_ns, uint64_t *last_ns)
{
	uint64_t first = UINT64_MAX, last = 0;
	size_t i;

	for (i = begin; i < end; i++) {
		uint64_t start = ops->launch_start_ns[i];

		first = start < first ? start : first;
		last = start > last ? start : last;
	}
	*first_ns = first;
	*last_ns = last;
}

/* Whether no relevant stream got a wait between the launches of a run's ops. */
static int is_without_waits(
	const struct vpa_idle *s, const struct vpa_ops *ops, const struct vpa_op_run *run)
{
	const struct vpa_resolver *r = s->resolver;
	uint32_t thread = ops->stretches[0].thread;
	uint64_t first_ns, last_ns, wait_ns;
	size_t i;

	if (!r->newest_wait_ns)
		return 1;
	for (i = 1; !r->waits_name_streams && i < ops->stretch_count; i++)
		if (ops->stretches[i].thread != thread)
			return 0;
	if (thread == VPA_NONE && !r->waits_name_streams)
		return 0;
	launch_bounds(ops, run->begin, run->end, &first_ns, &last_ns);
	if (ops->start_ns[run->begin] < first_ns)
		first_ns = ops->start_ns[run->begin];
	wait_ns = vpa_resolver_last_wait(r, ops->stream[run->begin], thread, last_ns);
	return wait_ns == UINT64_MAX || wait_ns <= first_ns;
}

/* Whether no record could change the causes of a run's gaps after its first op, and each op's own
 * call is the outermost. A wait changes nothing if no other device works later. */
static int is_quiet(
	const struct vpa_idle *s, const struct vpa_ops *ops, const struct vpa_op_run *run)
{
	uint64_t from_ns = ops->end_ns[run->begin];

	return run->serial && !ops->nested_launches && from_ns >= s->resolver->quiet_ns &&
	       (vpa_idle_others_end(s, ops, run->end - (size_t)1) <= from_ns ||
		       is_without_waits(s, ops, run));
}

/* Explains the gaps of a run, in order. */
int vpa_idle_answer(struct vpa_idle *s, struct vpa_ops *ops, struct vpa_op_run *run)
{
	struct vpa_idle_stream *stream = &s->streams[ops->stream[run->begin]];
	size_t i = run->begin;
	int rc = answer_gap(s, ops, i, since_before(stream, ops->correlation[i]));

	note_op(s, stream, ops, i);
	if (rc || run->end - i == 1)
		return rc;
	if (is_quiet(s, ops, run)) {
		if (!answer_all(s, ops, run))
			return answer_each(s, ops, run);
		note_ops(s, stream, ops, i + 1, run->end);
		return VPT_OK;
	}
	for (i++; i < run->end && !rc; i++) {
		rc = answer_gap(s, ops, i, since_before(stream, ops->correlation[i]));
		note_op(s, stream, ops, i);
	}
	return rc;
}
