/* loop_match.c - alignment with a pattern. What it leaves out: the best alignment. A greedy one explains
 * no more than that, so it can only lower a confidence. */
#include "analysis/steps/loop_passes.h"

enum {
	SURE = 3, /* equal ops in a row that make a continuation */
	NEAR = 16,
	LOOK = 64, /* ops and places that are near */
	BACK = VPA_LOOP_BACK
};

static uint32_t at(const struct vpa_loop_pattern *p, uint32_t place)
{
	return p->text->symbols[p->begin + place];
}

/* Whether up to SURE ops from `i` on are those of the pattern from `place` on; at least one. */
static int goes_on(
	const struct vpa_loop_pattern *p, uint32_t i, uint32_t end, uint32_t place, uint32_t to)
{
	uint32_t k;

	for (k = 0; k < SURE && i + k < end && place + k < to; k++)
		if (p->text->symbols[i + k] != at(p, place + k))
			return 0;
	return k > 0;
}

/* The next place in the pattern from where the three ops at `i` stand in it; `to`: none. */
static uint32_t jump(
	const struct vpa_loop_pattern *p, uint32_t i, uint32_t end, uint32_t place, uint32_t to)
{
	const struct vpa_loop_text *t = p->text;
	uint32_t triple = t->triples[i];
	const uint32_t *places;
	size_t count, k;

	if (i + SURE > end || triple == VPA_NO_TOKEN)
		return to;
	places = vpa_loop_places(t, triple);
	count = t->first[triple + 1] - t->first[triple];
	k = vpa_loop_place_after(places, count, p->begin + place);
	return k < count && places[k] + SURE <= p->begin + to ? places[k] - p->begin : to;
}

/* Finds the first of the ops from `i` to before `until` that goes on at a place from `place` to before
 * `to`; 0: there is none. */
static int find_next(const struct vpa_loop_pattern *p, uint32_t *i, uint32_t until, uint32_t end,
	uint32_t *place, uint32_t to)
{
	uint32_t start = *i, at_op, ahead;

	for (at_op = start; at_op < until; at_op++) {
		/* One or two equal ops far away are no continuation. */
		if (to - *place < SURE && at_op - start > NEAR)
			return 0;
		if (goes_on(p, at_op + 1, end, *place + 1, to)) { /* another op in its place */
			*i = at_op + 1;
			++*place;
			return 1;
		}
		ahead = goes_on(p, at_op, end, *place, to) ? *place
							   : jump(p, at_op, end, *place, to);
		if (ahead < to) {
			*i = at_op;
			*place = ahead;
			return 1;
		}
	}
	return 0;
}

/* Moves to the next continuation after a difference, a near one rather than a far one: what is inserted
 * may look like the beginning of something that comes much later. 0: there is none. */
static int resume(
	const struct vpa_loop_pattern *p, uint32_t *i, uint32_t end, uint32_t *place, uint32_t to)
{
	uint32_t near_end = end - *i > LOOK ? *i + LOOK : end;
	uint32_t near_to = to - *place > LOOK ? *place + LOOK : to;

	return find_next(p, i, near_end, end, place, near_to) ||
	       find_next(p, i, end, end, place, to);
}

void vpa_loop_match_on(const struct vpa_loop_pattern *p, uint32_t i, uint32_t end, uint32_t from,
	uint32_t to, struct vpa_loop_match *out)
{
	*out = (struct vpa_loop_match){.begin = i, .end = i, .from = from, .to = from};
	while (i < end && from < to) {
		if (p->text->symbols[i] != at(p, from)) {
			if (!resume(p, &i, end, &from, to))
				return;
			continue;
		}
		if (!out->matched++) {
			out->begin = i;
			out->from = from;
		}
		out->end = ++i;
		out->to = ++from;
	}
}

/* Whether SURE ops before `i` are those of the pattern before `place`. */
static int came_from(
	const struct vpa_loop_pattern *p, uint32_t i, uint32_t begin, uint32_t place, uint32_t to)
{
	uint32_t k;

	if (i < begin + SURE || place < to + SURE)
		return 0;
	for (k = 1; k <= SURE; k++)
		if (p->text->symbols[i - k] != at(p, place - k))
			return 0;
	return 1;
}

/* Skips ops, places or both; at most `inserted` more ops than places. */
static int resume_back(const struct vpa_loop_pattern *p, uint32_t *i, uint32_t begin,
	uint32_t *place, uint32_t to, uint32_t inserted)
{
	uint32_t ops, places;

	for (ops = 0; ops <= BACK; ops++)
		for (places = 0; places <= BACK; places++)
			if (ops <= places + inserted && *i >= ops && *place >= places &&
				came_from(p, *i - ops, begin, *place - places, to)) {
				*i -= ops;
				*place -= places;
				return 1;
			}
	return 0;
}

void vpa_loop_match_back(const struct vpa_loop_pattern *p, uint32_t i, uint32_t begin, uint32_t to,
	uint32_t inserted, struct vpa_loop_match *out)
{
	uint32_t place = p->ops;

	*out = (struct vpa_loop_match){.begin = i, .end = i, .from = place, .to = place};
	while (i > begin && place > to) {
		if (p->text->symbols[i - 1] != at(p, place - 1)) {
			if (!resume_back(p, &i, begin, &place, to, inserted))
				return;
			continue;
		}
		if (!out->matched++)
			out->end = i;
		out->begin = --i;
		out->from = --place;
	}
}
