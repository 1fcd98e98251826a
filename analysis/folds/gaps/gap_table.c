/* gap_table.c - the longest gaps, and all gaps added up by cause, call and place (gap_parts.h). */
#include "analysis/folds/fold.h"
#include "analysis/folds/gap_line.h"
#include "analysis/folds/gaps/gap_parts.h"

#include "analysis/base/durations.h"
#include "analysis/idle/idle_gaps.h"
#include "formats/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PIECES_MAX = 64,
	/* Bounds of the default length of the shortest gap listed, which leaves out none of the longest. */
	MIN_GAP_NS = 10000,
	MIN_GAP_MOST_NS = 1000000,
	LISTED = 10
};

/* Neighbours that are alike, as one piece: what the host did is that of the longest of them, and so is what it could do without, of
 * those of which that is known. */
struct kept_piece {
	struct vpa_cause_piece whole;
	uint64_t longest_ns;
	uint64_t instead_ns, longest_instead_ns; /* of those of which it is known */
};

/* A gap that may be listed, with copies of all that is freed before the end. */
struct kept {
	struct vpa_gap gap;
	struct neighbour {
		uint8_t there, kind;
		uint32_t name; /* of a kernel */
	} after,
		before; /* what the gap comes after, and before: ops themselves are gone by the end */
	int64_t pid, tid;
	struct vpa_gap_line line;
	/* Host code after a wait, and the part of it in one place: in that of more than half, if there is one. */
	uint64_t code_ns, code_place_ns;
	uint32_t code_place;
	struct kept_piece *pieces;
	size_t piece_count;
};

/* What fold_aside() adds up, beside the pass, and fold_gap() on its own. */
struct sums {
	struct vpa_gap_parts parts;
	struct vpa_durations_builder lengths; /* of gaps between ops */
};

struct state {
	struct sums aside, own;
	struct vpa_instead instead;
	uint64_t gap_count; /* emitted so far */
	struct kept *heap;  /* the longest gaps, the shortest of them on top */
	size_t heap_count, heap_cap;
	uint64_t kept_ns;                   /* shorter gaps can no longer be kept */
	struct vpa_durations_builder edges; /* of gaps at the window's edges */
};

/* Whether `a` is listed after `b`. */
static int is_after(const struct vpa_gap *a, const struct vpa_gap *b)
{
	uint64_t la = a->end_ns - a->start_ns, lb = b->end_ns - b->start_ns;

	if (la != lb)
		return la < lb;
	if (a->start_ns != b->start_ns)
		return a->start_ns > b->start_ns;
	return a->device > b->device;
}

/* Puts a gap into the heap at `at` or below: those that are listed after it move up. */
static void sift_down(struct kept *heap, size_t count, size_t at, const struct kept *k)
{
	size_t child;

	for (; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && is_after(&heap[child + 1].gap, &heap[child].gap))
			child++;
		if (!is_after(&heap[child].gap, &k->gap))
			break;
		heap[at] = heap[child];
	}
	heap[at] = *k;
}

/* The same at `at` or above. */
static void sift_up(struct kept *heap, size_t at, const struct kept *k)
{
	for (; at && is_after(&k->gap, &heap[(at - 1) / 2].gap); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = *k;
}

static struct neighbour neighbour_of(
	const struct vpa_fold_context *c, uint8_t kind, uint32_t kernel)
{
	return (struct neighbour){1, kind, kernel != VPA_NONE ? c->model->kernels[kernel].name : 0};
}

static int is_like(const struct vpa_cause_piece *a, const struct vpa_cause_piece *b)
{
	return a->cause == b->cause && a->call == b->call && a->place == b->place;
}

static uint64_t code_of(const struct vpa_cause_piece *piece)
{
	return piece->host == VPA_CAUSE_HOST_CODE ? piece->end_ns - piece->start_ns : 0;
}

/* Sums up what the host ran of its own code. A place with more than half of it outlives the others, if each of
 * them cancels as much. */
static void sum_code(struct kept *k, const struct vpa_gap *gap)
{
	uint64_t lead_ns = 0;
	size_t i;

	for (i = 0; i < gap->piece_count; i++) {
		const struct vpa_cause_piece *piece = &gap->pieces[i];
		uint64_t ns = code_of(piece);

		k->code_ns += ns;
		if (k->code_place == piece->host_place) {
			lead_ns += ns;
		} else if (ns > lead_ns) {
			k->code_place = piece->host_place;
			lead_ns = ns - lead_ns;
		} else {
			lead_ns -= ns;
		}
	}
	for (i = 0; i < gap->piece_count; i++)
		if (gap->pieces[i].host_place == k->code_place)
			k->code_place_ns += code_of(&gap->pieces[i]);
}

/* Adds what follows a piece. */
static void merge_piece(struct kept_piece *to, const struct vpa_cause_piece *piece)
{
	uint64_t ns = piece->end_ns - piece->start_ns;

	to->whole.end_ns = piece->end_ns;
	if (ns > to->longest_ns) {
		to->whole.host = piece->host;
		to->whole.host_place = piece->host_place;
		to->longest_ns = ns;
	}
	if (!piece->instead_call)
		return;
	to->instead_ns += ns;
	if (ns > to->longest_instead_ns) {
		to->whole.instead_call = piece->instead_call;
		to->whole.instead_place = piece->instead_place;
		to->longest_instead_ns = ns;
	}
}

/* Copies a gap's pieces, merging equal neighbours; of too many, the last become one per cause. */
static int copy_pieces(struct kept *k, const struct vpa_gap *gap)
{
	struct kept_piece pieces[PIECES_MAX + VPA_CAUSES], *last = NULL;
	uint64_t rest_ns[VPA_CAUSES] = {0};
	size_t count = 0, i;
	int is_full = 0;

	for (i = 0; i < gap->piece_count; i++) {
		const struct vpa_cause_piece *piece = &gap->pieces[i];
		uint64_t ns = piece->end_ns - piece->start_ns;

		if (last && is_like(&last->whole, piece) && last->whole.end_ns == piece->start_ns) {
			merge_piece(last, piece);
		} else if (count < PIECES_MAX) {
			last = &pieces[count++];
			*last = (struct kept_piece){*piece, ns, piece->instead_call ? ns : 0, 0};
			last->longest_instead_ns = last->instead_ns;
		} else {
			rest_ns[piece->cause] += ns;
			is_full = 1;
			last = NULL;
		}
	}
	for (i = 0; is_full && i < VPA_CAUSES; i++)
		if (rest_ns[i])
			pieces[count++] = (struct kept_piece){
				.whole = {.end_ns = rest_ns[i], .cause = (uint8_t)i}};
	k->pieces = vpt_alloc(count, sizeof(*k->pieces));
	if (!k->pieces)
		return VPT_ENOMEM;
	memcpy(k->pieces, pieces, count * sizeof(*pieces));
	k->piece_count = count;
	return VPT_OK;
}

/* Units are compared by more gaps than are listed. */
static size_t kept_most(const struct vpa_fold_context *c)
{
	return c->top > VPA_LONG_GAPS ? c->top : VPA_LONG_GAPS;
}

VPA_RARE static int keep_gap(
	struct state *s, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	struct kept k = {.gap = *gap, .pid = -1, .tid = -1};

	vpa_cause_headline(&k.gap);
	if (gap->before)
		k.after = neighbour_of(c, gap->before->kind, gap->before->kernel);
	if (gap->gating)
		k.before = neighbour_of(c, gap->gating->kind, gap->gating->kernel);
	if (gap->thread != VPA_NONE) {
		k.pid = c->model->threads[gap->thread].pid;
		k.tid = c->model->threads[gap->thread].tid;
	}
	sum_code(&k, gap);
	if (vpa_gap_line(c, &k.gap, &k.line) || copy_pieces(&k, gap))
		return VPT_ENOMEM;
	if (s->heap_count == kept_most(c)) {
		vpt_free(s->heap[0].pieces);
		sift_down(s->heap, s->heap_count, 0, &k);
		return VPT_OK;
	}
	if (vpt_grow(&s->heap, &s->heap_cap, s->heap_count + 1, sizeof(*s->heap))) {
		vpt_free(k.pieces);
		return VPT_ENOMEM;
	}
	sift_up(s->heap, s->heap_count++, &k);
	return VPT_OK;
}

/* Considers a gap at least as long as the shortest retained. */
VPA_RARE static int consider(
	struct state *s, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	if (s->heap_count == kept_most(c) && !is_after(&s->heap[0].gap, gap))
		return VPT_OK;
	if (keep_gap(s, c, gap))
		return VPT_ENOMEM;
	if (s->heap_count == kept_most(c))
		s->kept_ns = s->heap[0].gap.end_ns - s->heap[0].gap.start_ns;
	return VPT_OK;
}

static int add_piece(struct state *s, const struct vpa_gap *gap,
	const struct vpa_cause_piece *piece, int is_head)
{
	struct vpa_gap_owner owner = vpa_gap_owner_of(gap->device, piece->cause, is_head);

	if (piece->host && vpa_instead_add(&s->instead, gap->device, piece, s->gap_count))
		return VPT_ENOMEM;
	return vpa_gap_parts_add_piece(&s->own.parts, owner, piece, s->gap_count);
}

static int fold_gap(void *state, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	struct state *s = state;
	uint64_t ns = gap->end_ns - gap->start_ns;
	size_t i;
	int rc = VPT_OK;

	s->gap_count++;
	for (i = 0; i < gap->piece_count && !rc; i++)
		rc = add_piece(s, gap, &gap->pieces[i], 0);
	for (i = 0; i < gap->host_piece_count && !rc; i++)
		rc = add_piece(s, gap, &gap->host_pieces[i], 1);
	if (rc || vpa_durations_add(gap->before && gap->gating ? &s->own.lengths : &s->edges, ns))
		return VPT_ENOMEM;
	return ns >= s->kept_ns ? consider(s, c, gap) : VPT_OK;
}

VPA_RARE static int consider_op(
	struct state *s, const struct vpa_fold_context *c, const struct vpa_ops *ops, size_t i)
{
	struct vpa_whole_gap whole;

	vpa_idle_gap(c->idle, ops, i, &whole);
	return consider(s, c, &whole.gap);
}

/* The longest are listed, with what is known of their lines of Python. */
static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t r, i;
	int rc = VPT_OK;

	for (r = 0; r < ops->run_count && !rc; r++) {
		const struct vpa_op_run *run = &ops->runs[r];
		size_t end = run->longest_ns < s->kept_ns ? run->begin + 1u : run->end;

		for (i = run->begin; i < end && !rc; i++)
			if (ops->gap_cause[i] && ops->gap_ns[i] >= s->kept_ns)
				rc = consider_op(s, c, ops, i);
	}
	return rc;
}

/* Adds a stretch of a gap. */
static inline int add_stretch(
	struct sums *s, uint32_t device, unsigned cause, uint32_t place, uint32_t call, uint64_t ns)
{
	struct vpa_gap_owner owner = vpa_gap_owner_of(device, cause, 0);

	return vpa_gap_parts_add(&s->parts, vpa_gap_drawer_of(&s->parts, owner, place), call, ns);
}

/* The stretches before the last one of the gap that ends with op `i`. */
static int add_late(struct sums *s, const struct vpa_ops *ops, size_t i, uint32_t place)
{
	const struct vpa_late *late = &ops->late[i];
	uint32_t device = ops->device[i], call = ops->launch_name[i];
	int rc = VPT_OK;

	if (late->code_ns)
		rc = add_stretch(s, device, late->cause, late->place, 0, late->code_ns);
	if (late->call_ns && !rc)
		rc = add_stretch(s, device, VPA_CAUSE_LAUNCH_CALL, place, call, late->call_ns);
	if (late->latency_ns && !rc)
		rc = add_stretch(
			s, device, VPA_CAUSE_LAUNCH_LATENCY, place, call, late->latency_ns);
	return rc;
}

/* The gaps before ops [begin, end), which are of one stream and stretch. */
static int fold_stretch(
	struct sums *s, const struct vpa_ops *ops, size_t begin, size_t end, uint32_t place)
{
	size_t i;

	for (i = begin; i < end; i++) {
		if (!ops->gap_cause[i])
			continue;
		if ((ops->has_late[i] && add_late(s, ops, i, place)) ||
			add_stretch(s, ops->device[i], ops->gap_cause[i], place,
				ops->launch_name[i], vpa_ops_last_ns(ops, i)))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

/* The same for ops after the first of a calm run: each has a gap before it. */
static int fold_calm(
	struct sums *s, const struct vpa_ops *ops, size_t begin, size_t end, uint32_t place)
{
	struct vpa_gap_owner owner = vpa_gap_owner_of(ops->device[begin], VPA_CAUSE_SCHEDULING, 0);
	struct vpa_gap_drawer *drawer = vpa_gap_drawer_of(&s->parts, owner, place);
	size_t i;

	for (i = begin; i < end; i++)
		if (vpa_gap_parts_add(&s->parts, drawer, ops->launch_name[i], ops->gap_ns[i]))
			return VPT_ENOMEM;
	return VPT_OK;
}

static int fold_run(
	struct sums *s, const struct vpa_ops *ops, const struct vpa_op_run *run, size_t *k)
{
	size_t i = run->begin, end;
	int rc = VPT_OK;

	if (run->calm) {
		rc = fold_stretch(s, ops, i, i + 1, vpa_ops_stretch(ops, i, k)->place);
		i++;
	}
	for (; i < run->end && !rc; i = end) {
		const struct vpa_op_stretch *stretch = vpa_ops_stretch(ops, i, k);

		end = stretch->end < run->end ? stretch->end : run->end;
		rc = run->calm ? fold_calm(s, ops, i, end, stretch->place)
			       : fold_stretch(s, ops, i, end, stretch->place);
	}
	return rc;
}

/* Adds the lengths of the gaps between ops. */
static int add_lengths(struct sums *s, const struct vpa_ops *ops, const struct vpa_op_run *run)
{
	size_t i = run->begin, first = i + 1;

	if (ops->gap_cause[i] && vpa_durations_add(&s->lengths, ops->gap_ns[i]))
		return VPT_ENOMEM;
	if (run->calm)
		return vpa_durations_add_all(&s->lengths, ops->gap_ns + first, run->end - first);
	for (i = first; i < run->end; i++)
		if (ops->gap_cause[i] && vpa_durations_add(&s->lengths, ops->gap_ns[i]))
			return VPT_ENOMEM;
	return VPT_OK;
}

/* All of them are added up. */
static int fold_aside(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct sums *s = &((struct state *)state)->aside;
	size_t r, k = 0;
	int rc = VPT_OK;

	(void)c;
	for (r = 0; r < ops->run_count && !rc; r++) {
		rc = fold_run(s, ops, &ops->runs[r], &k);
		if (!rc)
			rc = add_lengths(s, ops, &ops->runs[r]);
	}
	return rc;
}

/* ---- writing down ---- */

static int compare_kept(const void *pa, const void *pb)
{
	const struct kept *a = pa, *b = pb;

	return is_after(&a->gap, &b->gap) ? 1 : is_after(&b->gap, &a->gap) ? -1 : 0;
}

static const char *neighbour_name(
	struct vpa_report *out, const struct vpa_model *m, struct neighbour n)
{
	static const char *const kinds[] = {"kernel", "memcpy", "memset"};

	if (!n.there)
		return NULL;
	return n.name ? vpa_fold_name(out, m, n.name) : kinds[n.kind];
}

/* What is known of the gap's line; *top stays NULL if it has no samples, but its thread has. The fold of lines
 * completes it. */
static int write_line(struct vpa_report *out, const struct vpa_model *m,
	const struct vpa_gap_line *line, const struct vpa_top_line **top)
{
	struct vpa_top_line *row;

	if (line->frame == VPA_NONE && !line->samples && !line->is_foreign)
		return VPT_OK;
	row = vpa_arena_alloc(&out->arena, 1, sizeof(*row));
	if (!row)
		return VPT_ENOMEM;
	if (line->frame != VPA_NONE)
		row->line = vpa_fold_line(out, m, line->frame);
	row->share = line->share;
	row->samples = line->samples;
	row->covers_calls = !line->samples;
	*top = row;
	return VPT_OK;
}

static struct vpa_gap_piece write_piece(
	struct vpa_report *out, const struct vpa_model *m, const struct kept_piece *kept)
{
	const struct vpa_cause_piece *piece = &kept->whole;

	return (struct vpa_gap_piece){.cause = (enum vpa_cause)piece->cause,
		.call = vpa_fold_name(out, m, piece->call),
		.place = vpa_fold_place(&out->arena, m, piece->place),
		.is_partly = piece->is_partly,
		.ns = piece->end_ns - piece->start_ns,
		.host = (enum vpa_cause)piece->host,
		.host_place = vpa_fold_place(&out->arena, m, piece->host_place),
		.instead_ns = kept->instead_ns,
		.instead = vpa_fold_name(out, m, piece->instead_call),
		.instead_place = vpa_fold_place(&out->arena, m, piece->instead_place)};
}

static int write_long_gaps(struct state *s, const struct vpa_model *m, struct vpa_report *out)
{
	size_t i, count = s->heap_count < VPA_LONG_GAPS ? s->heap_count : VPA_LONG_GAPS;

	out->long_gaps = vpa_arena_alloc(&out->arena, count, sizeof(*out->long_gaps));
	if (!out->long_gaps)
		return VPT_ENOMEM;
	for (i = 0; i < count; i++) {
		const struct vpa_gap *gap = &s->heap[i].gap;

		out->long_gaps[i] = (struct vpa_long_gap){gap->start_ns, gap->end_ns, gap->cause,
			vpa_fold_name(out, m, gap->call),
			vpa_fold_place(&out->arena, m, gap->place), gap->thread};
	}
	out->long_gap_count = count;
	return VPT_OK;
}

static int write_gaps(struct state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	const struct vpa_model *m = c->model;
	size_t i, p, count = s->heap_count < c->top ? s->heap_count : c->top;

	out->gaps = vpa_arena_alloc(&out->arena, count, sizeof(*out->gaps));
	if (!out->gaps)
		return VPT_ENOMEM;
	for (i = 0; i < count; i++) {
		const struct kept *k = &s->heap[i];
		struct vpa_gap_row *row = &out->gaps[out->gap_count];

		if (k->gap.end_ns - k->gap.start_ns < out->min_gap_ns)
			break;
		snprintf(row->id, sizeof(row->id), "G%zu", ++out->gap_count);
		row->device = m->devices[k->gap.device];
		row->start_ns = k->gap.start_ns;
		row->duration_ns = k->gap.end_ns - k->gap.start_ns;
		row->cause = k->gap.cause;
		row->call = vpa_fold_name(out, m, k->gap.call);
		row->place = vpa_fold_place(&out->arena, m, k->gap.place);
		row->pid = k->pid;
		row->tid = k->tid;
		row->after = neighbour_name(out, m, k->after);
		row->before = neighbour_name(out, m, k->before);
		row->code = (struct vpa_gap_code){k->code_ns, k->code_place_ns,
			vpa_fold_place(&out->arena, m, k->code_place)};
		row->pieces = vpa_arena_alloc(&out->arena, k->piece_count, sizeof(*row->pieces));
		if (!row->pieces || write_line(out, m, &k->line, &row->top))
			return VPT_ENOMEM;
		for (p = 0; p < k->piece_count; p++)
			row->pieces[p] = write_piece(out, m, &k->pieces[p]);
		row->piece_count = k->piece_count;
	}
	return VPT_OK;
}

/* Several times the usual gap; where all are alike, the longest are listed all the same. */
static uint64_t default_min_gap(struct state *s, size_t top)
{
	size_t listed = s->heap_count < top ? s->heap_count : top;
	uint64_t min_ns = 5 * vpa_durations_of(&s->aside.lengths).p50_ns, tenth_ns = 0;

	if (listed) {
		const struct vpa_gap *last =
			&s->heap[listed < LISTED ? listed - 1 : LISTED - 1].gap;

		tenth_ns = last->end_ns - last->start_ns;
	}
	min_ns = min_ns > MIN_GAP_MOST_NS ? MIN_GAP_MOST_NS : min_ns;
	min_ns = min_ns > tenth_ns ? tenth_ns : min_ns;
	return min_ns < MIN_GAP_NS ? MIN_GAP_NS : min_ns;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i;
	int rc = vpa_gap_parts_merge(&s->aside.parts, &s->own.parts);

	if (!rc)
		rc = vpa_durations_merge(&s->aside.lengths, &s->own.lengths);
	if (rc)
		return rc;
	if (s->heap_count)
		qsort(s->heap, s->heap_count, sizeof(*s->heap), compare_kept);
	out->min_gap_ns =
		c->options->min_gap_ns ? c->options->min_gap_ns : default_min_gap(s, c->top);
	out->gaps_listed_of = vpa_durations_at_least(&s->aside.lengths, out->min_gap_ns) +
			      vpa_durations_at_least(&s->edges, out->min_gap_ns);
	for (i = 0; !rc && i < out->device_count; i++) {
		uint32_t index = vpa_find_device(c->model, out->devices[i].device);
		struct vpa_device *d = &out->devices[i];

		rc = vpa_gap_parts_write(
			&s->aside.parts, c, index, 0, out, &d->causes, &d->cause_count);
		if (!rc)
			rc = vpa_gap_parts_write(&s->aside.parts, c, index, 1, out,
				&d->before_first_work, &d->before_first_work_count);
		if (!rc)
			rc = vpa_instead_write(&s->instead, c, index, out, d);
	}
	if (!rc)
		rc = write_long_gaps(s, c->model, out);
	return rc ? rc : write_gaps(s, c, out);
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->heap_count; i++)
		vpt_free(s->heap[i].pieces);
	vpa_gap_parts_free(&s->aside.parts);
	vpa_gap_parts_free(&s->own.parts);
	vpa_instead_free(&s->instead);
	vpt_free(s->heap);
	vpa_durations_free(&s->aside.lengths);
	vpa_durations_free(&s->own.lengths);
	vpa_durations_free(&s->edges);
}

const struct vpa_fold vpa_fold_gaps = {
	.name = "gaps",
	.help = "idle stretches of each GPU: what they waited for, and the longest ones",
	.state_bytes = sizeof(struct state),
	.ops = fold_ops,
	.aside = fold_aside,
	.gap = fold_gap,
	.gap_is_apart = 1,
	.finish = finish,
	.free = free_state,
};
