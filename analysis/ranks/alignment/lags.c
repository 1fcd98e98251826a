/* lags.c - the lag of those with the smallest deviations of ends that gives most pairs, and these.
 *
 * Ranks leave a collective together, so the ends of the right pairs differ by the clocks' offset and little else, while
 * those of wrong pairs add up the differences between all steps of the program. Clocks may drift, so the slope is taken
 * off first. */
#include "analysis/ranks/alignment/lags.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/rank/same_calls.h"
#include "formats/base/run_sort.h"
#include "formats/base/saturate.h"

#include <string.h>

enum {
	LAGS_MOST = 64,
	PAIRS_LOOKED_AT = 128,
	CHANGES_LOOKED_AT = 1024,
	LAGS_FOLLOWED = 6,
	PAIRS_KNOWN = 256,
	/* ns by which one may end before another one starts, on one clock and on two: they are not exact. */
	SLACK_OF_ONE = 2000,
	SLACK_OF_TWO = 20000,
	LOOK_AHEAD = 64,         /* collectives in a row that one of two may lack */
	TOLERANCE_LEAST = 20000, /* ns by which ends may differ */
	TOLERANCE_MOST = 500000,
	PPM_MOST = 500 /* of a clock's drift */
};

static int is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static int is_other(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

/* A capture is of one machine, unless it says otherwise: one that was merged says it. */
static int is_surely_one(const struct vpa_rank *a, const struct vpa_rank *b)
{
	return is_same(a->boot_id, b->boot_id) ||
	       (is_same(a->capture, b->capture) && !is_other(a->boot_id, b->boot_id) &&
		       !is_other(a->host, b->host));
}

int vpa_ranks_share_host(const struct vpa_rank *a, const struct vpa_rank *b)
{
	return !is_surely_one(a, b) && !(a->boot_id && b->boot_id) && is_same(a->host, b->host);
}

int vpa_ranks_share_clock(const struct vpa_rank *a, const struct vpa_rank *b)
{
	return is_surely_one(a, b) || (vpa_ranks_share_host(a, b) && a->machine == b->machine);
}

static inline int64_t start_of(const struct vpa_sequence *s, size_t i)
{
	return (int64_t)vpa_rank_start_ns(s->rank, s->items[i]);
}

static inline int64_t end_of(const struct vpa_sequence *s, size_t i)
{
	return (int64_t)vpa_rank_end_ns(s->rank, s->items[i]);
}

static int are_alike(const struct vpa_collective_key *x, const struct vpa_collective_key *y)
{
	if (x->kind != y->kind)
		return 0;
	/* A point-to-point call is what it is on each side: one sends, one receives. */
	if (x->kind == VPA_COLLECTIVE_SEND_RECV)
		return 1;
	if (strcmp(x->text, y->text) != 0)
		return 0;
	/* Ranks send parts of different sizes. */
	if (x->kind == VPA_COLLECTIVE_ALL_TO_ALL)
		return 1;
	return (!x->bytes || !y->bytes || x->bytes == y->bytes) &&
	       (x->group || x->blocks == y->blocks);
}

/* What was found of pairs of keys: there are few, and texts are long. */
struct known {
	struct {
		uint32_t a, b;
		enum { UNKNOWN, ALIKE, UNLIKE } is;
	} pairs[PAIRS_KNOWN];
};

static inline int may_be_one(struct known *known, const struct vpa_sequence *a, size_t i,
	const struct vpa_sequence *b, size_t j)
{
	uint32_t x = vpa_rank_key_index(a->rank, a->items[i]);
	uint32_t y = vpa_rank_key_index(b->rank, b->items[j]);
	size_t slot = (x * 31 + y) % PAIRS_KNOWN;

	if (known->pairs[slot].is == UNKNOWN || known->pairs[slot].a != x ||
		known->pairs[slot].b != y) {
		known->pairs[slot].a = x;
		known->pairs[slot].b = y;
		known->pairs[slot].is =
			are_alike(&a->rank->keys[x], &b->rank->keys[y]) ? ALIKE : UNLIKE;
	}
	return known->pairs[slot].is == ALIKE;
}

static inline int64_t end_difference(
	const struct vpa_sequence *a, size_t i, const struct vpa_sequence *b, size_t j)
{
	return end_of(b, j) - end_of(a, i);
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

static int is_after(const void *a, const void *b, void *unused)
{
	(void)unused;
	return *(const int64_t *)a > *(const int64_t *)b;
}

/* They are few, and there are hundreds of such lists for each pair of sequences: so without memory of its own. */
static void sort_numbers(int64_t *numbers, size_t count)
{
	int64_t spare[PAIRS_LOOKED_AT];
	size_t ends[PAIRS_LOOKED_AT], run_count = 0, end = 0;

	while (end < count)
		ends[run_count++] = end =
			vpt_run_end((char *)numbers, end, count, sizeof(*numbers), is_after, NULL);
	vpt_runs_merge_all((char *)numbers, (char *)spare, count, ends, run_count, sizeof(*numbers),
		is_after, NULL);
}

/* Offset and deviation of the quarter of all differences that lie closest together: captures that lack collectives have a
 * lag for each stretch between these. */
static void measure_at(const struct pairs *p, int64_t ppb, int share_clock, struct vpa_lag *out)
{
	size_t quarter = p->count / 4 + (p->count < 4), i, best = 0;
	int64_t numbers[PAIRS_LOOKED_AT];

	for (i = 0; i < p->count; i++) {
		numbers[i] = p->differences[i] - vpa_drift_ns(p->times[i], ppb);
		if (share_clock)
			numbers[i] = (int64_t)absolute(numbers[i]);
	}
	sort_numbers(numbers, p->count);
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
	struct vpa_lag drifting = {.lag = out->lag, .share_clock = share_clock};
	int64_t ppb = share_clock ? 0 : drift_of(p);

	measure_at(p, 0, share_clock, out);
	if (!ppb)
		return;
	measure_at(p, ppb, 0, &drifting);
	if (drifting.deviation_ns < out->deviation_ns)
		*out = drifting;
}

/* Pairs of a lag; `count` 0: too few, or of different collectives. */
static void take_pairs(struct known *known, const struct vpa_sequence *a,
	const struct vpa_sequence *b, int64_t lag, struct pairs *out)
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

		if (!may_be_one(known, a, i, b, j)) {
			wrong++;
			continue;
		}
		out->differences[out->count] = end_difference(a, i, b, j);
		out->times[out->count++] = end_of(a, i) - end_of(a, 0);
	}
	if (wrong > out->count)
		out->count = 0;
}

/* ---- pair by pair ---- */

struct walk {
	struct known known;
	const struct vpa_sequence *a, *b;
	int64_t offset_ns, ppb;
	int64_t at_ns; /* of the first's clock: when the offset was that */
	uint64_t tolerance_ns;
	int64_t slack_ns;
	size_t pairs;
};

static inline int64_t offset_at(const struct walk *w, size_t i)
{
	return w->offset_ns + vpa_drift_ns(end_of(w->a, i) - w->at_ns, w->ppb);
}

static uint64_t error_of(const struct walk *w, size_t i, size_t j)
{
	return absolute(end_difference(w->a, i, w->b, j) - offset_at(w, i));
}

/* Whether they may be one, and both run at some moment: none ends before all have started. */
static inline int is_possible(struct walk *w, size_t i, size_t j, int64_t offset_ns)
{
	return start_of(w->b, j) - offset_ns <= end_of(w->a, i) + w->slack_ns &&
	       start_of(w->a, i) <= end_of(w->b, j) - offset_ns + w->slack_ns &&
	       may_be_one(&w->known, w->a, i, w->b, j);
}

static int is_near(struct walk *w, size_t i, size_t j)
{
	return is_possible(w, i, j, offset_at(w, i)) && error_of(w, i, j) <= w->tolerance_ns;
}

/* Finds the nearest pair from (*i, *j) on with equal ends, at most LOOK_AHEAD away. 0: there is none. */
static int find_near(struct walk *w, size_t *i, size_t *j)
{
	size_t d;

	for (d = 1; d <= LOOK_AHEAD; d++) {
		int a = *i + d < w->a->count && is_near(w, *i + d, *j);
		int b = *j + d < w->b->count && is_near(w, *i, *j + d);

		if (a && b && error_of(w, *i, *j + d) < error_of(w, *i + d, *j))
			a = 0;
		*i += a ? d : 0;
		*j += b && !a ? d : 0;
		if (a || b)
			return 1;
	}
	return 0;
}

/* Follows the clocks as they drift; one pair with odd ends moves the offset by little. */
static void follow_offset(struct walk *w, size_t i, size_t j)
{
	int64_t offset_ns = offset_at(w, i), by_ns = end_difference(w->a, i, w->b, j) - offset_ns;
	int64_t most_ns = (int64_t)w->tolerance_ns;

	w->offset_ns = offset_ns + (by_ns > most_ns           ? most_ns
					   : by_ns < -most_ns ? -most_ns
							      : by_ns);
	w->at_ns = end_of(w->a, i);
}

/* Pairs items one by one as long as their ends are equal: nearly all of them. 0: nothing is left of one sequence. */
static int follow_near(struct walk *w, size_t *from_i, size_t *from_j, uint32_t *partner)
{
	const struct vpa_sequence a = *w->a, b = *w->b;
	const struct vpa_rank_times times = a.rank->times, others = b.rank->times;
	int64_t offset_ns = w->offset_ns, at_ns = w->at_ns, ppb = w->ppb, slack_ns = w->slack_ns;
	int64_t most_ns = (int64_t)w->tolerance_ns;
	size_t i = *from_i, j = *from_j;
	uint32_t alike_x = UINT32_MAX, alike_y = UINT32_MAX;

	for (; i < a.count && j < b.count; partner[i++] = (uint32_t)j++) {
		uint32_t x = a.items[i], y = b.items[j], key_x, key_y;
		const struct vpa_item_times one = vpa_rank_times_of(&times, x);
		const struct vpa_item_times two = vpa_rank_times_of(&others, y);
		int64_t end = (int64_t)one.end_ns, other = (int64_t)two.end_ns, by_ns;

		if (ppb)
			offset_ns += vpa_drift_ns(end - at_ns, ppb);
		at_ns = end;
		by_ns = other - end - offset_ns;
		if (by_ns > most_ns || by_ns < -most_ns ||
			(int64_t)two.start_ns - offset_ns > end + slack_ns ||
			(int64_t)one.start_ns > other - offset_ns + slack_ns)
			break;
		key_x = vpa_rank_key_index(a.rank, x);
		key_y = vpa_rank_key_index(b.rank, y);
		if ((key_x != alike_x || key_y != alike_y) && !may_be_one(&w->known, &a, i, &b, j))
			break;
		alike_x = key_x;
		alike_y = key_y;
		offset_ns += by_ns;
	}
	w->offset_ns = offset_ns;
	w->at_ns = at_ns;
	w->pairs += i - *from_i;
	*from_i = i;
	*from_j = j;
	return i < a.count && j < b.count;
}

/* Ranks leave sends and receives when their own partners have come, at other times than the other ranks, perhaps before those
 * come: of them the one whose end is nearest is the same. */
static int is_nearest_message(struct walk *w, size_t i, size_t j)
{
	uint32_t key = vpa_rank_key_index(w->a->rank, w->a->items[i]);

	return w->a->rank->keys[key].kind == VPA_COLLECTIVE_SEND_RECV &&
	       may_be_one(&w->known, w->a, i, w->b, j) &&
	       (i + 1 >= w->a->count || error_of(w, i, j) <= error_of(w, i + 1, j)) &&
	       (j + 1 >= w->b->count || error_of(w, i, j) <= error_of(w, i, j + 1));
}

size_t vpa_lag_follow(const struct vpa_sequence *a, const struct vpa_sequence *b,
	const struct vpa_lag *lag, uint32_t *partner)
{
	struct walk w = {.a = a, .b = b, .ppb = lag->ppb, .offset_ns = lag->offset_ns};
	size_t i = 0, j = 0, n;

	for (n = 0; n < a->count; n++)
		partner[n] = UINT32_MAX;
	if (!lag->pairs || !a->count)
		return 0;
	if (lag->is_by_order) {
		for (n = 0; n < a->count; n++)
			partner[n] = (uint32_t)n;
		return a->count;
	}
	w.at_ns = end_of(a, 0);
	w.slack_ns = lag->share_clock ? SLACK_OF_ONE : SLACK_OF_TWO;
	w.tolerance_ns =
		lag->deviation_ns < TOLERANCE_MOST / 20 ? 20 * lag->deviation_ns : TOLERANCE_MOST;
	if (w.tolerance_ns < TOLERANCE_LEAST)
		w.tolerance_ns = TOLERANCE_LEAST;
	while (follow_near(&w, &i, &j, partner)) {
		int64_t offset_ns = offset_at(&w, i);
		int is_one = is_possible(&w, i, j, offset_ns);

		if (is_nearest_message(&w, i, j)) {
			partner[i++] = (uint32_t)j++;
			w.pairs++;
			continue;
		}
		if (!find_near(&w, &i, &j) && !is_one) {
			/* The earlier one has no partner. */
			if (end_difference(a, i, b, j) < offset_ns)
				j++;
			else
				i++;
			continue;
		}
		follow_offset(&w, i, j);
		partner[i++] = (uint32_t)j++;
		w.pairs++;
	}
	return w.pairs;
}

/* ---- the lag that gives most pairs ---- */

/* By deviation; of equals the one that says least about the captures' starts. */
static int is_nearer(const struct vpa_lag *x, const struct vpa_lag *than)
{
	if (x->deviation_ns != than->deviation_ns)
		return x->deviation_ns < than->deviation_ns;
	return absolute(x->lag) < absolute(than->lag);
}

/* The lags with the smallest deviations, in order; returns how many. */
static size_t list_lags(const struct vpa_sequence *a, const struct vpa_sequence *b, int share_clock,
	struct vpa_lag *best)
{
	struct known known = {.pairs = {{0}}};
	struct pairs pairs;
	size_t count = 0, at;
	int64_t lag;

	for (lag = -LAGS_MOST; lag <= LAGS_MOST; lag++) {
		struct vpa_lag x = {.lag = lag, .share_clock = share_clock};

		if ((lag < 0 && (size_t)-lag >= a->count) || (lag > 0 && (size_t)lag >= b->count))
			continue;
		take_pairs(&known, a, b, lag, &pairs);
		if (!pairs.count)
			continue;
		measure(&pairs, share_clock, &x);
		for (at = count; at && is_nearer(&x, &best[at - 1]); at--)
			if (at < LAGS_FOLLOWED)
				best[at] = best[at - 1];
		if (at < LAGS_FOLLOWED)
			best[at] = x;
		count += count < LAGS_FOLLOWED;
	}
	return count;
}

/* How far the clocks would be from what they say themselves. */
static uint64_t disbelief(
	const struct vpa_sequence *a, const struct vpa_sequence *b, const struct vpa_lag *x)
{
	int64_t said_ns = (int64_t)(a->rank->unix_offset_ns - b->rank->unix_offset_ns);

	return a->rank->has_realtime && b->rank->has_realtime
		       ? absolute(vpt_sat_diff_i64(x->offset_ns, said_ns))
		       : 0;
}

/* Where a program repeats itself, other lags than the right one have equal ends too, but leave more without partner. */
struct vpa_lag vpa_lag_find(const struct vpa_sequence *a, const struct vpa_sequence *b,
	int share_clock, uint32_t *partner)
{
	struct vpa_lag lags[LAGS_FOLLOWED], best = {.pairs = 0};
	size_t shorter = a->count < b->count ? a->count : b->count, most = 0, count, i;

	count = list_lags(a, b, share_clock, lags);
	for (i = 0; i < count && most < shorter; i++) {
		size_t pairs = vpa_lag_follow(a, b, &lags[i], partner);

		if (!i || pairs > most ||
			(pairs == most && disbelief(a, b, &lags[i]) < disbelief(a, b, &best))) {
			most = pairs;
			best = lags[i];
		}
	}
	return best;
}

int vpa_lag_none(const struct vpa_sequence *a, const struct vpa_sequence *b, int share_clock,
	struct vpa_lag *out)
{
	struct known known = {.pairs = {{0}}};
	struct pairs pairs;

	*out = (struct vpa_lag){.share_clock = share_clock};
	take_pairs(&known, a, b, 0, &pairs);
	if (pairs.count)
		measure(&pairs, share_clock, out);
	return pairs.count != 0;
}

int vpa_lag_by_order(const struct vpa_sequence *a, const struct vpa_sequence *b, int share_clock,
	struct vpa_lag *out)
{
	size_t i;
	int fits;

	*out = (struct vpa_lag){.is_by_order = 1, .share_clock = share_clock};
	if (!a->count || a->count != b->count ||
		vpa_rank_key(a->rank, a->items[0])->kind != VPA_COLLECTIVE_SEND_RECV)
		return 0;
	for (i = 0; i < a->count; i++)
		if (a->items[i] != b->items[i])
			return 0;
	if (!vpa_same_calls(a->rank, b->rank, share_clock))
		return 0;
	fits = vpa_lag_none(a, b, share_clock, out);
	out->is_by_order = 1;
	return fits;
}

struct vpa_agreement vpa_lag_agreement(
	const struct vpa_sequence *a, const struct vpa_sequence *b, const uint32_t *partner)
{
	size_t shorter = a->count < b->count ? a->count : b->count, pairs = 0, count = 0, i;
	int64_t changes[CHANGES_LOOKED_AT], before = 0;
	uint64_t sum_ns = 0;

	for (i = 0; i < a->count; i++) {
		int64_t difference;

		if (partner[i] == UINT32_MAX)
			continue;
		difference = end_difference(a, i, b, partner[i]);
		/* The first ones are as good as any others. */
		if (pairs && count < CHANGES_LOOKED_AT)
			changes[count++] = (int64_t)absolute(difference - before);
		if (pairs++)
			vpt_sat_add_to(&sum_ns, absolute(difference - before));
		before = difference;
	}
	/* Nothing contradicts a single one. */
	if (pairs == 1 && shorter == 1)
		return (struct vpa_agreement){0, 0};
	if (!count || 4 * pairs < 3 * shorter)
		return (struct vpa_agreement){UINT64_MAX, UINT64_MAX};
	vpt_sat_add_to(&sum_ns, vpt_sat_mul(shorter - pairs, TOLERANCE_MOST));
	return (struct vpa_agreement){(uint64_t)median(changes, count), sum_ns / pairs};
}
