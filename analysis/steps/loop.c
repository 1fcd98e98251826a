/* loop.c - chooses the repetition whose turns are the model's passes. */
#include "analysis/steps/loop.h"

#include "analysis/base/sort.h"
#include "analysis/steps/loop_passes.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	LAYERS_MIN = 6, /* rounds in a pass that make it more than a layer */
	PASS_OPS_MIN = 16,
	WHOLE_OPS = 256,   /* a pass of this many needs no layers */
	ATTENTION_MIN = 4, /* calls in such a pass, if there is attention elsewhere */
	LAYER_OPS =
		6, /* at least, of a layer with attention: a slice of unfused attention has less */
	OUTSIDE_MIN = 3, /* ops of a pass before and after its layers */
	CANDIDATES = 48  /* groups that are looked at */
};

#define SURE          0.9  /* confidence of steps that make rounds */
#define LAYERS_SHARE  0.3  /* of the ops of passes */
#define NESTED_SHARE  0.8  /* of the time of turns that hold steps; of that of a loop */
#define SIMILAR_SHARE 0.15 /* rounds that differ by less fill about as much */

/* A group whose turns may be passes. */
struct candidate {
	const struct vpa_loop_group *group;
	uint32_t *layers; /* in each of its turns; NULL: it has none */
	uint32_t most, layer_ops;
	uint32_t
		model_layers; /* of `most` those with attention, if there is any: rounds outside all have none */
	int is_main; /* takes about as much time as any */
};

void vpa_loop_free(struct vpa_loop *loop)
{
	vpt_free(loop->steps);
	*loop = (struct vpa_loop){0};
}

/* ---- layers ---- */

/* Counts in each turn of `outer` how often `inner` occurs; after the last one, as far as a turn goes. */
static void count_layers(const struct vpa_loop_text *t, const struct vpa_loop_group *outer,
	const struct vpa_loop_round *inner, uint32_t longest, uint32_t *layers)
{
	const uint32_t *turns = vpa_loop_places(t, outer->token);
	const uint32_t *places = vpa_loop_places(t, inner->token);
	size_t i, k = vpa_loop_place_after(places, inner->count, turns[0]);

	for (i = 0; i < outer->count; i++) {
		uint64_t end = i + 1 < outer->count ? turns[i + 1] : (uint64_t)turns[i] + longest;

		for (layers[i] = 0; k < inner->count && places[k] < end; k++)
			layers[i]++;
	}
}

/* The number of layers that the turns with most layers, all together, have. `sorted` is room. */
static uint32_t most_layers(const uint32_t *layers, uint32_t *sorted, size_t count)
{
	uint64_t weight = 0;
	uint32_t best = 0;
	size_t from, to;

	memcpy(sorted, layers, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), vpa_by_u32);
	for (from = 0; from < count; from = to) {
		for (to = from + 1; to < count && sorted[to] == sorted[from]; to++)
			;
		if ((uint64_t)sorted[from] * (to - from) >= weight && to - from > 1) {
			weight = (uint64_t)sorted[from] * (to - from);
			best = sorted[from];
		}
	}
	return best;
}

/* The share of the turns' ops that are in layers of `body` ops. */
static double share_of(const struct vpa_loop_text *t, const struct vpa_loop_group *group,
	const uint32_t *layers, uint32_t body)
{
	const uint32_t *turns = vpa_loop_places(t, group->token);
	uint64_t count = 0;
	size_t i;

	for (i = 0; i + 1 < group->count; i++)
		count += layers[i];
	return (double)count * body / (double)(turns[i] - turns[0]);
}

/* The longest turn: how far the last one may go. */
static uint32_t longest_turn(const struct vpa_loop_text *t, const struct vpa_loop_group *group)
{
	const uint32_t *turns = vpa_loop_places(t, group->token);
	uint32_t longest = 0;
	size_t i;

	for (i = 0; i + 1 < group->count; i++)
		if (turns[i + 1] - turns[i] > longest)
			longest = turns[i + 1] - turns[i];
	return longest;
}

/* Calls of attention in a turn, the mean of those that have about as many layers as most; `layers` NULL: of
 * all. The last one has no end. */
static double attention_of(const struct vpa_loop_text *t, const struct vpa_loop_group *group,
	const uint32_t *layers, uint32_t most)
{
	const uint32_t *turns = vpa_loop_places(t, group->token);
	uint64_t calls = 0, used = 0;
	size_t i;

	for (i = 0; i + 1 < group->count; i++) {
		if (layers && 10 * (uint64_t)layers[i] < 9 * (uint64_t)most)
			continue;
		calls += vpa_loop_attention(t, turns[i], turns[i + 1]);
		used++;
	}
	return used ? (double)calls / (double)used : 0;
}

static int has_attention(const struct vpa_loop_text *t)
{
	return t->attention[t->count] >= LAYERS_MIN;
}

/* Whether rounds are layers of a model. Where there is attention each layer has it: what repeats more
 * often is within a layer, as linear layers of several kernels are. */
static int are_layers(const struct vpa_loop_text *t, const struct vpa_loop_group *group,
	const uint32_t *layers, uint32_t most, uint32_t body)
{
	return most >= LAYERS_MIN &&
	       (!has_attention(t) ||
		       (body >= LAYER_OPS && 4 * attention_of(t, group, layers, most) >= 3 * most));
}

/* Whether enough turns have about as many layers as most. Where a model has two kinds of layers, those that come first
 * take turns as well, and its last turn has all of the others. A step cache leaves layers out of two or three of four
 * steps. */
static int are_in_turns(const uint32_t *layers, size_t count, uint32_t most)
{
	size_t full = 0, i;

	for (i = 0; i < count; i++)
		full += 2 * (uint64_t)layers[i] >= most;
	return 4 * full >= count;
}

/* The layers of a full turn by its calls of attention, as many for each as in most rounds: the op that marks rounds may
 * occur once more, before the first layer or after the last. */
static uint32_t count_with_attention(const struct vpa_loop_text *t,
	const struct vpa_loop_group *outer, const struct vpa_loop_round *inner,
	const uint32_t *layers, uint32_t most)
{
	enum { CALLS_MAX = 16 };
	const uint32_t *turns = vpa_loop_places(t, outer->token);
	const uint32_t *places = vpa_loop_places(t, inner->token);
	uint32_t rounds[CALLS_MAX] = {0}, usual = 1, found, calls;
	size_t i, k;

	for (i = 0; i + 1 < outer->count && layers[i] != most; i++)
		;
	if (!has_attention(t) || i + 1 >= outer->count)
		return most;
	k = vpa_loop_place_after(places, inner->count, turns[i]);
	for (; k + 1 < inner->count && places[k + 1] < turns[i + 1]; k++) {
		calls = vpa_loop_attention(t, places[k], places[k + 1]);
		rounds[calls < CALLS_MAX ? calls : 0]++;
	}
	for (calls = 1; calls < CALLS_MAX; calls++)
		usual = rounds[calls] > rounds[usual] ? calls : usual;
	found = (vpa_loop_attention(t, turns[i], turns[i + 1]) + usual / 2) / usual;
	return found < most && 2 * found > most ? found : most;
}

/* Looks for the layers that fill most of the candidate's turns, of those that fill about as much for the
 * longest. Fills its `layers`, if there are any. */
static int find_layers(const struct vpa_loop_text *t, struct candidate *c)
{
	size_t count = c->group->count, i;
	uint32_t *layers = vpt_alloc(2 * count, sizeof(*layers));
	uint32_t longest = longest_turn(t, c->group);
	double best = LAYERS_SHARE;

	if (!layers)
		return VPT_ENOMEM;
	for (i = 0; i < t->round_count; i++) {
		const struct vpa_loop_round *inner = &t->rounds[i];
		uint32_t most;
		double share;

		if (inner->count < 2 * count || LAYERS_MIN * inner->body > longest)
			continue;
		count_layers(t, c->group, inner, longest, layers);
		most = most_layers(layers, layers + count, count);
		share = share_of(t, c->group, layers, inner->body);
		if (share <= LAYERS_SHARE || share <= best - SIMILAR_SHARE ||
			(share <= best + SIMILAR_SHARE && inner->body <= c->layer_ops) ||
			!are_in_turns(layers, count, most) ||
			!are_layers(t, c->group, layers, most, inner->body))
			continue;
		best = share > best ? share : best;
		if (!c->layers)
			c->layers = vpt_alloc(count, sizeof(*c->layers));
		if (!c->layers)
			break;
		memcpy(c->layers, layers, count * sizeof(*layers));
		c->most = most;
		c->layer_ops = inner->body;
		c->model_layers = count_with_attention(t, c->group, inner, layers, most);
	}
	vpt_free(layers);
	return best > LAYERS_SHARE && !c->layers ? VPT_ENOMEM : VPT_OK;
}

/* ---- candidates ---- */

static int compare_times(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->group->covers_ns != y->group->covers_ns)
		return x->group->covers_ns < y->group->covers_ns ? 1 : -1;
	return (x->group->token > y->group->token) - (x->group->token < y->group->token);
}

/* Those with layers first, the smaller passes before the larger. What has no layers cannot be told from
 * a part of itself: there the repetitions that take most time come first. */
static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (!x->layers != !y->layers)
		return x->layers ? -1 : 1;
	if (!x->layers && x->is_main != y->is_main)
		return x->is_main ? -1 : 1;
	if (!x->layers && !x->is_main)
		return compare_times(a, b);
	if (x->group->count != y->group->count)
		return x->group->count < y->group->count ? 1 : -1;
	if (x->group->tokens != y->group->tokens)
		return x->group->tokens < y->group->tokens ? 1 : -1;
	return (x->group->token > y->group->token) - (x->group->token < y->group->token);
}

/* Whether the turns of a candidate can be passes of the loop that takes most time. Without layers, and
 * without the attention that the trace has elsewhere, they are of something else, as tiles of a decoder. */
static int is_likely(const struct vpa_loop_text *t, const struct candidate *c, uint64_t most_ns)
{
	if (c->layers)
		return c->group->covers_ns >= most_ns / 4;
	return c->group->body >= WHOLE_OPS && c->group->covers_ns >= most_ns / 2 &&
	       (!has_attention(t) || attention_of(t, c->group, NULL, 0) >= ATTENTION_MIN);
}

/* Fills `out`, room for all groups, with the candidates in the order in which they are tried. */
static int find_candidates(const struct vpa_loop_text *t, struct candidate *out, size_t *count)
{
	uint64_t most_ns;
	size_t n = 0, likely = 0, i;

	*count = 0;
	for (i = 0; i < t->group_count; i++)
		if (t->groups[i].count >= VPA_LOOP_STEPS_MIN &&
			longest_turn(t, &t->groups[i]) >= PASS_OPS_MIN)
			out[n++] = (struct candidate){.group = &t->groups[i]};
	if (!n)
		return VPT_OK;
	qsort(out, n, sizeof(*out), compare_times);
	n = n < CANDIDATES ? n : CANDIDATES;
	most_ns = out[0].group->covers_ns;
	for (i = 0; i < n; i++) {
		struct candidate c = out[i];
		int rc = find_layers(t, &c);

		if (rc)
			vpt_free(c.layers);
		if (rc)
			return rc;
		if (!is_likely(t, &c, most_ns)) {
			vpt_free(c.layers);
			continue;
		}
		c.is_main = (double)c.group->covers_ns >= 0.8 * (double)most_ns;
		out[likely++] = c;
		*count = likely;
	}
	qsort(out, likely, sizeof(*out), compare_candidates);
	return VPT_OK;
}

/* ---- rounds ---- */

static uint64_t step_ns(const struct vpa_loop_text *t, const struct vpa_loop_step *step)
{
	return t->sum_ns[step->end] - t->sum_ns[step->begin];
}

struct steps {
	const struct vpa_loop_text *text;
	const struct vpa_loop *loop;
};

static uint64_t nth_step_ns(const void *ctx, size_t i)
{
	const struct steps *s = ctx;

	return step_ns(s->text, &s->loop->steps[i]);
}

/* Whether a turn in which `inside` was found is a round: these are steps for sure, and there is much else. A step may consist of
 * groups of layers, and little else. */
static int is_round(const struct vpa_loop_text *t, const struct vpa_loop *inside, uint32_t turn_ops)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < inside->step_count; i++)
		ns += step_ns(t, &inside->steps[i]);
	return inside->step_count && !inside->round_steps && inside->confidence >= SURE &&
	       (double)ns < NESTED_SHARE * (double)(t->sum_ns[turn_ops] - t->sum_ns[0]);
}

/* Makes rounds of turns in which `inside` was found, if they are; else nothing is claimed. */
static int make_rounds(const struct vpa_loop_text *t, const struct vpa_loop *inside,
	uint32_t turn_ops, struct vpa_loop *out)
{
	const struct steps s = {t, inside};
	uint64_t *room;

	if (!is_round(t, inside, turn_ops)) {
		out->step_count = 0;
		return VPT_OK;
	}
	room = vpt_alloc(VPA_LOOP_SAMPLES, sizeof(*room));
	if (!room)
		return VPT_ENOMEM;
	out->layers = inside->layers;
	out->round_steps = (unsigned)inside->step_count;
	out->round_step_ns = vpa_loop_median(nth_step_ns, &s, inside->step_count, room);
	vpt_free(room);
	return VPT_OK;
}

/* Whether the pattern holds a loop with layers of its own: then its turns are rounds of steps. Irregularities hide the steps, or so
 * little of the time is theirs that no group of them was looked at. */
static int look_inside(const struct vpa_loop_pattern *p, struct vpa_loop *out)
{
	uint32_t *duration_ns = vpt_alloc(p->ops, sizeof(*duration_ns)), i;
	struct vpa_loop_text at = {.sum_ns = p->text->sum_ns + p->begin};
	struct vpa_loop_ops ops = {p->text->symbols + p->begin, duration_ns,
		p->text->kinds ? p->text->kinds + p->begin : NULL, p->ops};
	struct vpa_loop inside;
	int rc;

	if (!duration_ns)
		return VPT_ENOMEM;
	for (i = 0; i < p->ops; i++)
		duration_ns[i] = (uint32_t)(at.sum_ns[i + 1] - at.sum_ns[i]);
	rc = vpa_loop_find(&ops, &inside);
	if (!rc && inside.layers && (inside.step_count || inside.rivals[0].count))
		rc = make_rounds(&at, &inside, p->ops, out);
	vpa_loop_free(&inside);
	vpt_free(duration_ns);
	return rc;
}

static int make_loop(const struct vpa_loop_text *t, const struct candidate *c, int may_be_block,
	struct vpa_loop *out)
{
	struct vpa_loop_passes passes;
	int rc = vpa_loop_passes_make(t, c->group, c->layers, c->most, c->layer_ops, &passes);

	passes.model_layers = c->model_layers;
	if (!rc)
		rc = vpa_loop_steps_make(&passes, out);
	if (!rc && out->step_count >= VPA_LOOP_STEPS_MIN && !may_be_block)
		rc = look_inside(&passes.pattern, out);
	vpa_loop_passes_free(&passes);
	return rc;
}

/* ---- two repetitions, one inside the other ---- */

/* Whether the steps of `outer` consist of several of `inner`, and of little else. A block of steps may hold
 * a decoder too. */
static int nests(
	const struct vpa_loop_text *t, const struct vpa_loop *outer, const struct vpa_loop *inner)
{
	uint64_t all_ns = 0, inside_ns = 0;
	size_t i, k = 0, inside = 0;

	for (i = 0; i < outer->step_count; i++) {
		const struct vpa_loop_step *o = &outer->steps[i];

		all_ns += step_ns(t, o);
		for (; k < inner->step_count && inner->steps[k].begin < o->end; k++) {
			if (inner->steps[k].begin < o->begin)
				continue;
			inside_ns += step_ns(t, &inner->steps[k]);
			inside++;
		}
	}
	return inside >= 2 * outer->step_count &&
	       (double)inside_ns >= NESTED_SHARE * (double)all_ns;
}

/* How many of the steps have something that the host reads, up to the next one. */
static size_t count_read(const struct vpa_loop_text *t, const struct vpa_loop *loop)
{
	size_t i, count = 0;

	for (i = 0; i < loop->step_count && t->kinds; i++) {
		uint32_t end =
			i + 1 < loop->step_count ? loop->steps[i + 1].begin : (uint32_t)t->count;

		count += memchr(t->kinds + loop->steps[i].begin, VPA_LOOP_READ,
				 end - loop->steps[i].begin) != NULL;
	}
	return count;
}

static int put_rivals(
	const struct vpa_loop_text *t, const struct vpa_loop *outer, struct vpa_loop *inner)
{
	uint64_t *room = vpt_alloc(VPA_LOOP_SAMPLES, sizeof(*room));
	const struct vpa_loop *both[] = {inner, outer};
	size_t i;

	if (!room)
		return VPT_ENOMEM;
	for (i = 0; i < 2; i++) {
		const struct steps s = {t, both[i]};

		inner->rivals[i].count = both[i]->step_count;
		inner->rivals[i].median_ns =
			vpa_loop_median(nth_step_ns, &s, both[i]->step_count, room);
	}
	vpt_free(room);
	inner->step_count = 0;
	return VPT_OK;
}

/* Whether steps are of three lengths or more, each of one step in twenty. A step cache leaves out the same layers each
 * time, so its steps are of two; the levels of a U-Net have as many layers as they like. */
static int have_many_lengths(const struct vpa_loop *loop)
{
	enum { LENGTHS = 3, LOOKED_AT = 16 };
	struct {
		uint32_t ops;
		size_t steps;
	} seen[LOOKED_AT] = {{0}};
	size_t i, k, count = 0, lengths = 0;

	for (i = 0; i < loop->step_count; i++) {
		uint32_t ops = loop->steps[i].end - loop->steps[i].begin;

		for (k = 0; k < count && seen[k].ops != ops; k++)
			;
		if (k == LOOKED_AT)
			continue;
		count += k == count;
		seen[k].ops = ops;
		seen[k].steps++;
	}
	for (k = 0; k < count; k++)
		lengths += 20 * seen[k].steps >= loop->step_count;
	return lengths >= LENGTHS;
}

/* Of two repetitions, takes that whose turns the host reads from. Where that does not say it takes the inner one if that
 * `is_settled` and its lengths are those of a step cache; else none. */
static int choose_level(const struct vpa_loop_text *t, struct vpa_loop *outer,
	struct vpa_loop *inner, int is_settled)
{
	struct vpa_loop swap = *inner;

	if (2 * count_read(t, inner) >= inner->step_count ||
		10 * count_read(t, outer) < 9 * outer->step_count)
		return is_settled && !have_many_lengths(inner) ? VPT_OK
							       : put_rivals(t, outer, inner);
	*inner = *outer;
	*outer = swap;
	return VPT_OK;
}

/* Looks for a repetition whose turns hold several steps of the loop, which candidate `i` is. */
static int weigh_outer(const struct vpa_loop_text *t, const struct candidate *candidates,
	size_t count, size_t i, int is_settled, struct vpa_loop *out)
{
	struct vpa_loop outer;
	size_t k;
	int rc = VPT_OK, found = 0;

	for (k = 0; k < count && !rc && !found; k++) {
		if (k == i || 2 * candidates[k].group->count > out->step_count)
			continue;
		outer = (struct vpa_loop){0};
		rc = make_loop(t, &candidates[k], 1, &outer);
		found = !rc && outer.step_count >= VPA_LOOP_STEPS_MIN && nests(t, &outer, out);
		if (found)
			rc = choose_level(t, &outer, out, is_settled);
		vpa_loop_free(&outer);
	}
	return rc;
}

/* Whether steps are known to be passes of a model: they have ops of their own before and after the layers,
 * and all of their attention in them, or much attention. A few layers may be a group that repeats in a
 * model. */
static int is_settled(
	const struct vpa_loop_text *t, const struct candidate *c, const struct vpa_loop *loop)
{
	double calls = attention_of(t, c->group, c->layers, c->most), each;

	if (!has_attention(t) || loop->outside_ops < OUTSIDE_MIN)
		return 0;
	each = c->model_layers ? floor(calls / c->model_layers + 0.5) : 0;
	return calls >= 2 * LAYERS_MIN || fabs(calls - each * c->model_layers) < 0.5;
}

/* Whether the steps take at least half of all device time, and most from the first to the last. A part of an
 * iteration repeats too, among much else; and of two or three iterations nothing else shows that they do. */
static int are_most(const struct vpa_loop_text *t, const struct vpa_loop *loop)
{
	uint64_t ns = 0, span_ns;
	size_t i;

	for (i = 0; i < loop->step_count; i++)
		ns += step_ns(t, &loop->steps[i]);
	span_ns = i ? t->sum_ns[loop->steps[i - 1].end] - t->sum_ns[loop->steps[0].begin] : 0;
	return ns >= t->sum_ns[t->count] / 2 && (double)ns >= NESTED_SHARE * (double)span_ns;
}

/* Whether three quarters of the steps have at least half of the ops of the longest. Nothing says that a shorter one
 * leaves layers out: what repeats inside may be the steps, and what holds them runs of some. */
static int are_alike(const struct vpa_loop *loop)
{
	uint32_t longest = 0, ops;
	size_t i, alike = 0;

	for (i = 0; i < loop->step_count; i++) {
		ops = loop->steps[i].end - loop->steps[i].begin;
		longest = ops > longest ? ops : longest;
	}
	for (i = 0; i < loop->step_count; i++)
		alike += 2 * (loop->steps[i].end - loop->steps[i].begin) >= longest;
	return 4 * alike >= 3 * loop->step_count;
}

/* How often the level was right: of sequences made with a known answer, but not more than of real traces without their
 * marks, cut and repeated: with attention 17 of 17, of three models; without 12 of 15. */
static double trust_in(
	const struct vpa_loop_text *t, const struct candidate *c, const struct vpa_loop *loop)
{
	return !loop->round_steps && is_settled(t, c, loop) ? 0.93 : 0.80;
}

/* Takes the first candidate that is a loop; else reports the confidence of the best. */
static int try_all(const struct vpa_loop_text *t, const struct candidate *candidates, size_t count,
	struct vpa_loop *out)
{
	double best = 0;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < count && !rc; i++) {
		rc = make_loop(t, &candidates[i], 0, out);
		if (!rc && out->step_count >= VPA_LOOP_STEPS_MIN) {
			int settled = !out->round_steps && is_settled(t, &candidates[i], out);

			if (!out->round_steps && (!settled || !are_alike(out)))
				rc = weigh_outer(t, candidates, count, i, settled, out);
			if (!settled && (!are_most(t, out) || !are_alike(out)))
				out->step_count = 0;
		}
		out->confidence = out->explained * trust_in(t, &candidates[i], out);
		if (!rc && (out->step_count >= VPA_LOOP_STEPS_MIN || out->is_irregular ||
				   out->rivals[0].count))
			return VPT_OK;
		best = out->confidence > best ? out->confidence : best;
		vpa_loop_free(out);
	}
	out->confidence = best;
	return rc;
}

int vpa_loop_find(const struct vpa_loop_ops *ops, struct vpa_loop *out)
{
	struct vpa_loop_text text;
	struct candidate *candidates;
	size_t count = 0, i;
	int rc;

	*out = (struct vpa_loop){0};
	if (ops->count > VPA_LOOP_OPS_MAX)
		return VPT_EINVAL;
	rc = vpa_loop_text_make(ops, &text);
	candidates = rc ? NULL : vpt_calloc(text.group_count, sizeof(*candidates));
	if (!rc && !candidates)
		rc = VPT_ENOMEM;
	if (!rc)
		rc = find_candidates(&text, candidates, &count);
	if (!rc)
		rc = try_all(&text, candidates, count, out);
	for (i = 0; i < count; i++)
		vpt_free(candidates[i].layers);
	vpt_free(candidates);
	vpa_loop_text_free(&text);
	return rc;
}
