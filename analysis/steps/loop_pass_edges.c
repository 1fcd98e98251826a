/* loop_pass_edges.c - where each pass begins and ends.
 *
 *	anchor           anchor           anchor                    a turn goes from anchor to anchor
 *	  |----------------|----------------|------------------->
 *	[head  layers tail] [head layers tail]   VAE   [head ...    a pass begins before its anchor
 *	                                         ^ not in the pattern
 *
 * The pattern is a turn, so it begins in the middle of a pass and ends with the next one's head. Turns
 * that differ from it, and the first anchor, show where heads begin: there the ops before the anchor are
 * the pattern's only as far as they belong to the pass. */
#include "analysis/steps/loop_passes.h"

#include "analysis/base/sort.h"
#include "formats/base/error.h"
#include "formats/base/hash.h"
#include "formats/base/memory.h"
#include "formats/chunk/strings.h"

#include <stdlib.h>

enum {
	FEW = 2,
	FULL_MIN = 12 /* at least one pass in this many has all its layers */
};

void vpa_loop_passes_free(struct vpa_loop_passes *p)
{
	vpt_free(p->at);
	*p = (struct vpa_loop_passes){0};
}

static uint32_t end_of_turn(const struct vpa_loop_passes *p, size_t i)
{
	return i + 1 < p->count ? p->at[i + 1].anchor : (uint32_t)p->text->count;
}

/* ---- the pattern ---- */

struct turn {
	uint64_t hash;
	uint32_t ops, layers, pass;
};

static int compare_turns(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->pass > y->pass) - (x->pass < y->pass);
}

static int is_better(const struct turn *a, const struct turn *b)
{
	return a->layers != b->layers ? a->layers > b->layers : a->ops < b->ops;
}

/* The most frequent of equal turns, of several the one with most layers, or the shortest. NULL: more than
 * half of the turns are like no other. What is so irregular is not told apart reliably. */
static const struct turn *choose(struct turn *turns, size_t count)
{
	const struct turn *best = NULL;
	size_t most = 1, alone = 0, from, to;

	qsort(turns, count, sizeof(*turns), compare_turns);
	for (from = 0; from < count; from = to) {
		for (to = from + 1; to < count && turns[to].hash == turns[from].hash; to++)
			;
		if (to - from > most ||
			(best && to - from == most && is_better(&turns[from], best))) {
			most = to - from;
			best = &turns[from];
		}
		alone += to - from == 1;
	}
	return 2 * alone <= count ? best : NULL;
}

static uint64_t hash_of(const struct vpa_loop_text *t, uint32_t begin, uint32_t end)
{
	uint64_t hash = end - begin;

	for (; begin < end; begin++)
		hash = vpt_mix(hash + t->symbols[begin]);
	return hash;
}

/* Chooses among the full turns; the last one has no end. A pattern of 0 ops: there is none. */
static int find_pattern(struct vpa_loop_passes *p)
{
	struct turn *turns = vpt_alloc(p->count, sizeof(*turns));
	const struct turn *best;
	size_t count = 0, i;

	if (!turns)
		return VPT_ENOMEM;
	for (i = 0; i + 1 < p->count; i++)
		if (p->at[i].is_full)
			turns[count++] = (struct turn){
				hash_of(p->text, p->at[i].anchor, p->at[i + 1].anchor),
				p->at[i + 1].anchor - p->at[i].anchor, p->at[i].layers,
				(uint32_t)i};
	p->pattern = (struct vpa_loop_pattern){.text = p->text};
	best = choose(turns, count);
	if (best) {
		p->pattern.begin = p->at[best->pass].anchor;
		p->pattern.ops = best->ops;
	}
	vpt_free(turns);
	return VPT_OK;
}

/* ---- where passes begin ---- */

/* The most frequent of the places, of several `rather`, else the earliest: the longest head. */
static uint32_t most_frequent(uint32_t *places, size_t count, uint32_t rather)
{
	size_t most = 0, from, to;
	uint32_t best = 0;

	qsort(places, count, sizeof(*places), vpa_by_u32);
	for (from = 0; from < count; from = to) {
		for (to = from + 1; to < count && places[to] == places[from]; to++)
			;
		if (to - from > most || (to - from == most && places[from] == rather)) {
			most = to - from;
			best = places[from];
		}
	}
	return best;
}

static int is_in_pattern(const struct vpa_loop_passes *p, uint32_t symbol)
{
	const uint32_t *places = vpa_loop_places(p->text, symbol);
	size_t count = p->text->first[symbol + 1] - p->text->first[symbol];
	size_t k = vpa_loop_place_after(places, count, p->pattern.begin);

	return k < count && places[k] < p->pattern.begin + p->pattern.ops;
}

/* Goes back from an anchor to where the pattern ends with an op that it does not have at all. Returns
 * the place; VPA_NO_TOKEN: there is no such op. A scheduler is never so short that it would be taken for
 * an op or two inserted in a pass. */
static uint32_t find_foreign(const struct vpa_loop_passes *p, size_t i)
{
	uint32_t begin = p->at[i - 1].anchor + 1;
	struct vpa_loop_match m;

	vpa_loop_match_back(&p->pattern, p->at[i].anchor, begin, 0, FEW, &m);
	if (m.begin > begin && m.from && !is_in_pattern(p, p->text->symbols[m.begin - 1]))
		return m.from;
	return VPA_NO_TOKEN;
}

/* Whether a loop ended among the layers of its last pass. None at all: they precede the anchor. */
static int is_left_early(const struct vpa_loop_pass *last)
{
	return last->layers && !last->is_full;
}

/* Passes begin where other ops precede them: those before the first one, those between blocks, a
 * scheduler that is not in the pattern. The first pass may be unlike the others. */
static int find_phase(struct vpa_loop_passes *p)
{
	uint32_t *places = vpt_alloc(p->count, sizeof(*places)), place, first = VPA_NO_TOKEN;
	struct vpa_loop_match m;
	size_t count = 0, i;

	if (!places)
		return VPT_ENOMEM;
	vpa_loop_match_back(&p->pattern, p->at[0].anchor, 0, 0, VPA_LOOP_BACK, &m);
	if (m.begin > 0)
		places[count++] = first = m.from;
	for (i = 1; i < p->count; i++) {
		place = find_foreign(p, i);
		if (place != VPA_NO_TOKEN)
			places[count++] = place;
	}
	p->phase = p->pattern.ops;
	if (count) {
		p->phase = most_frequent(places, count, first);
	} else if (is_left_early(&p->at[p->count - 1])) {
		/* Its end is not the others'; the first one begins with the sequence. */
		p->phase = m.from;
	} else { /* they follow each other from the first op on: see where the last one ends */
		i = p->count - 1;
		vpa_loop_match_on(
			&p->pattern, p->at[i].anchor, end_of_turn(p, i), 0, p->pattern.ops, &m);
		if (m.end < p->text->count)
			p->phase = m.to;
	}
	vpt_free(places);
	return VPT_OK;
}

/* ---- passes ---- */

static void find_head(struct vpa_loop_passes *p, size_t i)
{
	struct vpa_loop_pass *pass = &p->at[i];
	struct vpa_loop_match m;

	vpa_loop_match_back(&p->pattern, pass->anchor, i ? p->at[i - 1].anchor + 1 : 0, p->phase,
		VPA_LOOP_BACK, &m);
	pass->begin = m.matched ? m.begin : pass->anchor;
	pass->matched = m.matched;
	/* The head is not whole, and there is no room for the rest. */
	pass->is_cut = m.from > p->phase && pass->begin < m.from - p->phase;
}

static void find_tail(struct vpa_loop_passes *p, size_t i)
{
	struct vpa_loop_pass *pass = &p->at[i];
	uint32_t end = i + 1 < p->count ? p->at[i + 1].begin : (uint32_t)p->text->count;
	struct vpa_loop_match m;

	vpa_loop_match_on(&p->pattern, pass->anchor, end, 0, p->phase, &m);
	pass->matched += m.matched;
	pass->end = m.matched ? m.end : pass->anchor;
	pass->to = p->pattern.ops - p->phase + m.to;
	/* The sequence ends before the pass does: an op of the pattern would have had to follow. */
	if (pass->end == p->text->count && m.to < p->phase)
		pass->is_cut = 1;
}

/* Leaves out what is no pass though it has the anchor: less than half of what a pass has around its
 * layers, or hardly anything of the pattern. With layers it is a pass that is not understood, and nothing
 * is known for sure. */
static void drop_strays(struct vpa_loop_passes *p)
{
	uint32_t in_layers = p->layers * p->layer_ops, outside, least;
	size_t i, kept = 0;

	outside = p->pattern.ops > in_layers ? p->pattern.ops - in_layers : 0;
	least = p->layers ? outside / 2 : p->pattern.ops / 10;
	least = least < 4 ? 4 : least;
	for (i = 0; i < p->count; i++) {
		const struct vpa_loop_pass *pass = &p->at[i];

		if (pass->matched >= least && pass->matched >= (pass->end - pass->begin) / 2) {
			p->at[kept++] = *pass;
		} else if (p->layers && 2 * pass->layers >= p->layers) {
			kept = 0;
			break;
		}
	}
	p->count = kept;
}

/* An op inserted into a layer may hide it. */
static int is_about(uint32_t layers, uint32_t most)
{
	return layers >= most - most / 10 && layers <= most + most / 10;
}

int vpa_loop_passes_make(const struct vpa_loop_text *text, const struct vpa_loop_group *group,
	const uint32_t *layers, uint32_t most, uint32_t layer_ops, struct vpa_loop_passes *p)
{
	const uint32_t *places = vpa_loop_places(text, group->token);
	size_t full = 0, i;

	*p = (struct vpa_loop_passes){.text = text, .layers = most, .layer_ops = layer_ops};
	p->at = vpt_calloc(group->count, sizeof(*p->at));
	if (!p->at)
		return VPT_ENOMEM;
	p->count = group->count;
	for (i = 0; i < p->count; i++) {
		p->at[i].anchor = places[i];
		p->at[i].layers = layers ? layers[i] : 0;
		p->at[i].is_full = (uint8_t)is_about(p->at[i].layers, most);
		full += p->at[i].is_full;
	}
	/* No step cache omits this much: these are not passes. */
	if (FULL_MIN * full < p->count) {
		p->count = 0;
		return VPT_OK;
	}
	if (find_pattern(p))
		return VPT_ENOMEM;
	if (!p->pattern.ops) {
		p->count = 0;
		return VPT_OK;
	}
	if (find_phase(p))
		return VPT_ENOMEM;
	for (i = 0; i < p->count; i++)
		find_head(p, i);
	for (i = 0; i < p->count; i++)
		find_tail(p, i);
	drop_strays(p);
	for (i = 0; i < p->count; i++) {
		p->matched += p->at[i].matched;
		p->ops += p->at[i].end - p->at[i].begin;
	}
	return VPT_OK;
}
