/* lags.c - the lag with the smallest deviation of ends, and from there pair by pair.
 *
 * Ranks leave a collective together, so the ends of the right pairs differ by the clocks' offset and little else, while
 * those of wrong pairs add up the differences between all steps of the program. Clocks may drift, so the slope is taken
 * off first. */
#include "analysis/ranks/lags.h"

#include "analysis/base/sort.h"

#include <stdlib.h>
#include <string.h>

enum {
	LAGS_MOST = 64,
	PAIRS_LOOKED_AT = 128,
	CHANGES_LOOKED_AT = 1024,
	LOOK_AHEAD = 64,         /* collectives in a row that one of two may lack */
	TOLERANCE_LEAST = 20000, /* ns by which ends may differ */
	TOLERANCE_MOST = 500000,
	PPM_MOST = 500 /* of a clock's drift */
};

static const struct vpa_rank_collective *item(const struct vpa_sequence *s, size_t i)
{
	return &s->rank->collectives[s->items[i]];
}

static int may_be_one(
	const struct vpa_sequence *a, size_t i, const struct vpa_sequence *b, size_t j)
{
	const struct vpa_collective_key *x = &a->rank->keys[item(a, i)->key];
	const struct vpa_collective_key *y = &b->rank->keys[item(b, j)->key];

	if (x->kind != y->kind || strcmp(x->text, y->text) != 0)
		return 0;
	/* Ranks send parts of different sizes, and a point-to-point call is what it is on each side. */
	if (x->kind == VPA_COLLECTIVE_ALL_TO_ALL || x->kind == VPA_COLLECTIVE_SEND_RECV)
		return 1;
	return (!x->bytes || !y->bytes || x->bytes == y->bytes) &&
	       (x->group || x->blocks == y->blocks);
}

static int64_t end_difference(
	const struct vpa_sequence *a, size_t i, const struct vpa_sequence *b, size_t j)
{
	return (int64_t)(item(b, j)->end_ns - item(a, i)->end_ns);
}

static uint64_t absolute(int64_t n)
{
	return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

static int64_t median(int64_t *numbers, size_t count)
{
	return vpa_nth(numbers, count, count / 2);
}

/* ---- the lag ---- */

struct pairs {
	int64_t differences[PAIRS_LOOKED_AT], times[PAIRS_LOOKED_AT];
	size_t count;
};

/* Drift in parts of a thousand million: the median slope between pairs half of all apart. */
static int64_t drift_of(const struct pairs *p)
{
	int64_t slopes[PAIRS_LOOKED_AT];
	size_t half = p->count / 2, i, count = 0;

	for (i = 0; half && i + half < p->count; i++) {
		__int128 rise = (__int128)(p->differences[i + half] - p->differences[i]);
		int64_t run = p->times[i + half] - p->times[i];

		if (run > 0)
			slopes[count++] = (int64_t)(rise * 1000000000 / run);
	}
	if (count < 3)
		return 0;
	slopes[0] = median(slopes, count);
	return absolute(slopes[0]) > PPM_MOST * 1000 ? 0 : slopes[0];
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Offset and deviation of the quarter of all differences that lie closest together: captures that lack collectives have a
 * lag for each stretch between these. */
static void measure_at(const struct pairs *p, int64_t ppb, int share_clock, struct vpa_lag *out)
{
	size_t quarter = p->count / 4 + (p->count < 4), i, best = 0;
	int64_t numbers[PAIRS_LOOKED_AT];

	for (i = 0; i < p->count; i++) {
		numbers[i] =
			p->differences[i] - (int64_t)((__int128)ppb * p->times[i] / 1000000000);
		if (share_clock)
			numbers[i] = (int64_t)absolute(numbers[i]);
	}
	qsort(numbers, p->count, sizeof(*numbers), by_value);
	out->ppb = ppb;
	out->pairs = p->count;
	if (quarter >= p->count)
		quarter = p->count - 1;
	for (i = 1; i + quarter < p->count && !share_clock; i++)
		if (numbers[i + quarter] - numbers[i] < numbers[best + quarter] - numbers[best])
			best = i;
	out->offset_ns = share_clock ? 0 : numbers[best + quarter / 2];
	out->deviation_ns =
		share_clock ? (uint64_t)numbers[quarter]
			    : ((uint64_t)numbers[best + quarter] - (uint64_t)numbers[best] + 1) / 2;
}

static void measure(const struct pairs *p, int share_clock, struct vpa_lag *out)
{
	struct vpa_lag drifting = {.lag = out->lag};
	int64_t ppb = share_clock ? 0 : drift_of(p);

	measure_at(p, 0, share_clock, out);
	if (!ppb)
		return;
	measure_at(p, ppb, 0, &drifting);
	if (drifting.deviation_ns < out->deviation_ns)
		*out = drifting;
}

/* Pairs of a lag; `count` 0: too few, or of different collectives. */
static void take_pairs(
	const struct vpa_sequence *a, const struct vpa_sequence *b, int64_t lag, struct pairs *out)
{
	size_t from = lag < 0 ? (size_t)-lag : 0,
	       shorter = a->count < b->count ? a->count : b->count;
	size_t until =
		lag > 0 && b->count < a->count + (size_t)lag ? b->count - (size_t)lag : a->count;
	size_t step, i, wrong = 0;

	if (lag <= 0 && b->count < a->count - from)
		until = from + b->count;
	out->count = 0;
	if (until <= from || 2 * (until - from) < shorter)
		return;
	step = (until - from + PAIRS_LOOKED_AT - 1) / PAIRS_LOOKED_AT;
	for (i = from; i < until; i += step) {
		size_t j = (size_t)((int64_t)i + lag);

		if (!may_be_one(a, i, b, j)) {
			wrong++;
			continue;
		}
		out->differences[out->count] = end_difference(a, i, b, j);
		out->times[out->count++] = (int64_t)(item(a, i)->end_ns - item(a, 0)->end_ns);
	}
	if (wrong > out->count)
		out->count = 0;
}

static int is_better(const struct vpa_lag *x, const struct vpa_lag *than)
{
	if (!than->pairs)
		return x->pairs > 0;
	if (!x->pairs)
		return 0;
	/* Of equals the one that says least about the captures' starts. */
	if (x->deviation_ns != than->deviation_ns)
		return x->deviation_ns < than->deviation_ns;
	return absolute(x->lag) < absolute(than->lag);
}

struct vpa_lag vpa_lag_find(
	const struct vpa_sequence *a, const struct vpa_sequence *b, int share_clock)
{
	struct vpa_lag best = {.pairs = 0};
	struct pairs pairs;
	int64_t lag;

	for (lag = -LAGS_MOST; lag <= LAGS_MOST; lag++) {
		struct vpa_lag x = {.lag = lag};

		if ((lag < 0 && (size_t)-lag >= a->count) || (lag > 0 && (size_t)lag >= b->count))
			continue;
		take_pairs(a, b, lag, &pairs);
		if (pairs.count)
			measure(&pairs, share_clock, &x);
		if (is_better(&x, &best))
			best = x;
	}
	return best;
}

/* ---- pair by pair ---- */

struct walk {
	const struct vpa_sequence *a, *b;
	int64_t offset_ns;
	uint64_t tolerance_ns;
};

static uint64_t error_of(const struct walk *w, size_t i, size_t j)
{
	return absolute(end_difference(w->a, i, w->b, j) - w->offset_ns);
}

/* Whether both run at some moment, by the offset. */
static int overlap(const struct walk *w, size_t i, size_t j)
{
	const struct vpa_rank_collective *x = item(w->a, i), *y = item(w->b, j);
	int64_t start_y = (int64_t)y->start_ns - w->offset_ns,
		end_y = (int64_t)y->end_ns - w->offset_ns, slack = (int64_t)w->tolerance_ns;

	return start_y <= (int64_t)x->end_ns + slack && (int64_t)x->start_ns <= end_y + slack;
}

/* Finds the next pair from (*i, *j) on that fits best, at most LOOK_AHEAD away. 0: none fits. */
static int find_near(const struct walk *w, size_t *i, size_t *j)
{
	uint64_t best = w->tolerance_ns;
	size_t d, at_i = *i, at_j = *j;
	int found = 0;

	for (d = 1; d <= LOOK_AHEAD && !found; d++) {
		if (*i + d < w->a->count && may_be_one(w->a, *i + d, w->b, *j) &&
			error_of(w, *i + d, *j) <= best) {
			best = error_of(w, *i + d, *j);
			at_i = *i + d;
			at_j = *j;
			found = 1;
		}
		if (*j + d < w->b->count && may_be_one(w->a, *i, w->b, *j + d) &&
			error_of(w, *i, *j + d) <= best) {
			best = error_of(w, *i, *j + d);
			at_i = *i;
			at_j = *j + d;
			found = 1;
		}
	}
	*i = at_i;
	*j = at_j;
	return found;
}

/* Follows the clocks as they drift; one pair with odd ends moves the offset by little. */
static void follow_offset(struct walk *w, size_t i, size_t j)
{
	int64_t by_ns = end_difference(w->a, i, w->b, j) - w->offset_ns;
	int64_t most_ns = (int64_t)w->tolerance_ns;

	w->offset_ns += by_ns > most_ns ? most_ns : by_ns < -most_ns ? -most_ns : by_ns;
}

size_t vpa_lag_follow(const struct vpa_sequence *a, const struct vpa_sequence *b,
	const struct vpa_lag *lag, uint32_t *partner)
{
	struct walk w = {.a = a, .b = b};
	size_t i = 0, j = 0, n, count = 0;

	for (n = 0; n < a->count; n++)
		partner[n] = UINT32_MAX;
	if (!lag->pairs)
		return 0;
	w.offset_ns = lag->offset_ns;
	w.tolerance_ns =
		lag->deviation_ns < TOLERANCE_MOST / 20 ? 20 * lag->deviation_ns : TOLERANCE_MOST;
	if (w.tolerance_ns < TOLERANCE_LEAST)
		w.tolerance_ns = TOLERANCE_LEAST;
	while (i < a->count && j < b->count) {
		int is_one = may_be_one(a, i, b, j);

		if (!(is_one && error_of(&w, i, j) <= w.tolerance_ns) && !find_near(&w, &i, &j) &&
			!(is_one && overlap(&w, i, j))) {
			/* The earlier one has no partner. */
			if (end_difference(a, i, b, j) < w.offset_ns)
				j++;
			else
				i++;
			continue;
		}
		follow_offset(&w, i, j);
		partner[i++] = (uint32_t)j++;
		count++;
	}
	return count;
}

uint64_t vpa_lag_agreement(
	const struct vpa_sequence *a, const struct vpa_sequence *b, const uint32_t *partner)
{
	size_t shorter = a->count < b->count ? a->count : b->count, pairs = 0, count = 0, i;
	int64_t changes[CHANGES_LOOKED_AT], before = 0;

	for (i = 0; i < a->count; i++) {
		int64_t difference;

		if (partner[i] == UINT32_MAX)
			continue;
		difference = end_difference(a, i, b, partner[i]);
		/* The first ones are as good as any others. */
		if (pairs++ && count < CHANGES_LOOKED_AT)
			changes[count++] = (int64_t)absolute(difference - before);
		before = difference;
	}
	return count && 2 * pairs >= shorter ? (uint64_t)median(changes, count) : UINT64_MAX;
}
