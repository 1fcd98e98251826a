/* loop.c - chooses the repetition whose turns are the model's passes. */
#include "analysis/loop.h"

#include "analysis/loop_passes.h"
#include "formats/error.h"
#include "formats/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	LAYERS_MIN = 6, /* rounds in a pass that make it more than a layer */
	PASS_OPS_MIN = 16,
	WHOLE_OPS = 256, /* a pass of this many needs no layers */
	CANDIDATES = 48  /* groups that are looked at */
};

#define LAYERS_SHARE 0.3 /* of the ops of passes */

/* A group whose turns may be passes. */
struct candidate {
	const struct vpa_loop_group *group;
	uint32_t *layers; /* in each of its turns; NULL: it has none */
	uint32_t most, layer_ops;
	int is_main; /* takes about as much time as any */
};

void vpa_loop_free(struct vpa_loop *loop)
{
	vpt_free(loop->steps);
	*loop = (struct vpa_loop){0};
}

/* ---- layers ---- */

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

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
	qsort(sorted, count, sizeof(*sorted), compare_u32);
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

/* Looks for the rounds that fill most of the candidate's turns. Fills its `layers`, if there are any. */
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
		if (most < LAYERS_MIN || share <= best)
			continue;
		best = share;
		if (!c->layers)
			c->layers = vpt_alloc(count, sizeof(*c->layers));
		if (!c->layers)
			break;
		memcpy(c->layers, layers, count * sizeof(*layers));
		c->most = most;
		c->layer_ops = inner->body;
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

/* Whether the turns of a candidate can be passes of the loop that takes most time. */
static int is_likely(const struct candidate *c, uint64_t most_ns)
{
	return c->layers ? c->group->covers_ns >= most_ns / 4
			 : c->group->body >= WHOLE_OPS && c->group->covers_ns >= most_ns / 2;
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
		if (!is_likely(&c, most_ns)) {
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

/* Whether the pattern holds a loop with layers of its own: then its turns are blocks of steps, and
 * irregularities hide the steps. */
static int is_block(const struct vpa_loop_pattern *p, int *out)
{
	uint32_t *duration_ns = vpt_alloc(p->ops, sizeof(*duration_ns)), i;
	const uint64_t *sum_ns = p->text->sum_ns + p->begin;
	struct vpa_loop_ops ops = {p->text->symbols + p->begin, duration_ns, p->ops};
	struct vpa_loop inside;
	int rc;

	*out = 0;
	if (!duration_ns)
		return VPT_ENOMEM;
	for (i = 0; i < p->ops; i++)
		duration_ns[i] = (uint32_t)(sum_ns[i + 1] - sum_ns[i]);
	rc = vpa_loop_find(&ops, &inside);
	*out = inside.step_count && inside.layers;
	vpa_loop_free(&inside);
	vpt_free(duration_ns);
	return rc;
}

static int try_candidate(
	const struct vpa_loop_text *t, const struct candidate *c, struct vpa_loop *out)
{
	struct vpa_loop_passes passes;
	int rc = vpa_loop_passes_make(t, c->group, c->layers, c->most, c->layer_ops, &passes);
	int wrong = 0;

	if (!rc)
		rc = vpa_loop_steps_make(&passes, out);
	if (!rc && out->step_count >= VPA_LOOP_STEPS_MIN)
		rc = is_block(&passes.pattern, &wrong);
	if (wrong)
		out->step_count = 0;
	vpa_loop_passes_free(&passes);
	return rc;
}

/* Takes the first candidate that is a loop; else reports the confidence of the best. */
static int try_all(const struct vpa_loop_text *t, const struct candidate *candidates, size_t count,
	struct vpa_loop *out)
{
	double best = 0;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < count && !rc; i++) {
		rc = try_candidate(t, &candidates[i], out);
		if (!rc && (out->step_count >= VPA_LOOP_STEPS_MIN || out->is_irregular))
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
