/* loop_passes_per_step.c - which passes are a step together.
 *
 *	P s P s P s                a step each: s, the scheduler, is part of the pattern
 *	P P s P P s                guidance: s closes a step of two passes
 *	P s P s P VAE P s P s P    s does not follow the last pass of a block: that one writes a cache
 *	P Q P Q P Q                two passes that differ by turns: a step of two passes
 *	P P P P P P                nothing tells halves apart: each pass is a step */
#include "analysis/steps/loop_passes.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <stdlib.h>

enum {
	CLOSING_MIN = 3,
	CLOSED_BY = 2,    /* ops of them at least */
	CLOSING_MAX = 32, /* ops of a scheduler; what is longer is something else */
	PASSES_MAX = 4,   /* of a step */
	BY_TURNS_MIN = 6  /* passes: fewer may differ by turns by chance */
};

#define NEGLIGIBLE 0.05 /* of a pass's device time */

static uint64_t ns_of(const struct vpa_loop_text *t, uint32_t begin, uint32_t end)
{
	return end > begin ? t->sum_ns[end] - t->sum_ns[begin] : 0;
}

static uint64_t pass_ns(const void *ctx, size_t i)
{
	const struct vpa_loop_passes *p = ctx;

	return ns_of(p->text, p->at[i].begin, p->at[i].end);
}

/* ---- passes that follow each other ---- */

static size_t count_followed(struct vpa_loop_passes *p, double negligible_ns)
{
	size_t i, count = 0;

	for (i = 0; i + 1 < p->count; i++) {
		uint64_t between = ns_of(p->text, p->at[i].end, p->at[i + 1].begin);

		p->at[i].followed = (double)between <= negligible_ns;
		count += p->at[i].followed;
	}
	return count;
}

/* ---- passes that were interrupted ---- */

/* Whether the passes from `at` on have fewer layers than most, and lack the end that all others have. */
static int are_interrupted(const struct vpa_loop_passes *p, size_t at)
{
	uint32_t to = 0;
	size_t i;

	for (i = at; i < p->count; i++) {
		if (p->at[i].is_full)
			return 0;
		to = p->at[i].to > to ? p->at[i].to : to;
	}
	for (i = 0; i < at; i++)
		if (p->at[i].to < to + CLOSING_MIN)
			return 0;
	return 1;
}

/* A loop may be left within a pass, and what follows it may begin like one. A step cache leaves out layers,
 * no ends. More of them would be a loop of another kind. */
static void find_interrupted(struct vpa_loop_passes *p)
{
	size_t few, i;

	if (!p->layers)
		return;
	for (few = VPA_LOOP_STEPS_MIN - 1; few; few--) {
		if (few >= p->count || !are_interrupted(p, p->count - few))
			continue;
		for (i = p->count - few; i < p->count; i++)
			p->at[i].is_cut = 1;
		return;
	}
}

/* ---- what closes a step ---- */

/* Where in the pattern most passes end; if some end earlier, by no more than a scheduler's ops, where the
 * first of those do: several alike, or one that nothing follows. */
static int find_end(const struct vpa_loop_passes *p, uint32_t *out)
{
	uint32_t *counts = vpt_calloc((size_t)p->pattern.ops + 1, sizeof(*counts)), i, top = 0;
	size_t k;

	if (!counts)
		return VPT_ENOMEM;
	for (k = 0; k < p->count; k++)
		if (!p->at[k].is_cut)
			counts[p->at[k].to] += p->at[k].followed ? 1 : 2;
	for (i = 0; i <= p->pattern.ops; i++)
		top = counts[i] >= counts[top] ? i : top;
	*out = top;
	for (i = top > CLOSING_MAX ? top - CLOSING_MAX : 0; i + CLOSING_MIN <= top; i++)
		if (counts[i] >= 2) {
			*out = i;
			break;
		}
	vpt_free(counts);
	return VPT_OK;
}

/* The ops after each pass's core, up to the next pass. */
struct tail {
	uint32_t begin, end;
};

/* The core ends with the place before `end` in the pattern. */
static int find_tails(const struct vpa_loop_passes *p, uint32_t end, struct tail *tails)
{
	uint32_t head = p->pattern.ops - p->phase;
	struct vpa_loop_match m;
	size_t i;

	for (i = 0; i < p->count; i++) {
		const struct vpa_loop_pass *pass = &p->at[i];

		tails[i].begin = pass->end;
		tails[i].end = i + 1 < p->count ? p->at[i + 1].begin : (uint32_t)p->text->count;
		if (pass->to <= end || end < head)
			continue;
		vpa_loop_match_on(&p->pattern, pass->anchor, pass->end, 0, end - head, &m);
		tails[i].begin = m.end;
	}
	return VPT_OK;
}

static uint32_t common(const struct vpa_loop_text *t, struct tail a, struct tail b)
{
	uint32_t n = 0;

	while (n < CLOSING_MAX + 1 && a.begin + n < a.end && b.begin + n < b.end &&
		t->symbols[a.begin + n] == t->symbols[b.begin + n])
		n++;
	return n;
}

/* How many of the closing's ops are among the first of the tail, in any order: work of several streams
 * may change places. *end is after the last of them. */
static uint32_t shared(
	const struct vpa_loop_text *t, struct tail tail, struct tail closing, uint32_t *end)
{
	uint32_t window = 2 * (closing.end - closing.begin), i, k, n = 0;
	uint8_t used[2 * CLOSING_MAX] = {0};

	*end = tail.begin;
	if (tail.end - tail.begin < window)
		window = tail.end - tail.begin;
	for (k = closing.begin; k < closing.end; k++) {
		for (i = 0; i < window; i++)
			if (!used[i] && t->symbols[tail.begin + i] == t->symbols[k])
				break;
		if (i == window)
			continue;
		used[i] = 1;
		*end = tail.begin + i + 1 > *end ? tail.begin + i + 1 : *end;
		n++;
	}
	return n;
}

/* How many ops of this tail three quarters of those have that begin alike; *alike is how many do. More
 * than CLOSING_MAX where they are mostly the beginning of something longer. */
static uint32_t common_ops(
	const struct vpa_loop_passes *p, const struct tail *tails, size_t i, size_t *alike)
{
	size_t counts[CLOSING_MAX + 2] = {0}, at_least = 0, whole = 0, k;
	uint32_t n;

	*alike = 0;
	for (k = 0; k < p->count; k++) {
		n = common(p->text, tails[i], tails[k]);
		*alike += n >= CLOSING_MIN;
		counts[n]++;
		whole += n >= CLOSING_MIN && tails[k].end - tails[k].begin <= CLOSING_MAX;
	}
	if (3 * whole < *alike)
		return CLOSING_MAX + 1;
	for (n = CLOSING_MAX + 1; n > CLOSING_MIN; n--) {
		at_least += counts[n];
		if (4 * at_least >= 3 * *alike)
			break;
	}
	return n;
}

/* The beginning that most tails have in common, of a scheduler's length: finds it among the first
 * tails, since a loop's schedulers are alike. */
static struct tail find_closing(const struct vpa_loop_passes *p, const struct tail *tails)
{
	enum { TRIES = 16 };
	struct tail best = {0};
	size_t most = 1, i, tried = 0, alike;

	for (i = 0; i < p->count && tried < TRIES; i++) {
		uint32_t ops;

		if (tails[i].end - tails[i].begin < CLOSING_MIN)
			continue;
		tried++;
		ops = common_ops(p, tails, i, &alike);
		if (alike > most && ops <= CLOSING_MAX) {
			most = alike;
			best = (struct tail){tails[i].begin, tails[i].begin + ops};
		}
	}
	return best;
}

/* Sets `closes`, and lets passes end with what closes them. Returns how many are closed. */
static size_t close_passes(struct vpa_loop_passes *p, const struct tail *tails, struct tail closing)
{
	uint32_t ops = closing.end - closing.begin;
	size_t i, count = 0;

	for (i = 0; i < p->count; i++) {
		struct vpa_loop_pass *pass = &p->at[i];
		uint32_t end, n;

		n = shared(p->text, tails[i], closing, &end);
		/* The last step of some samplers adds no noise. */
		pass->closes = !ops || (n >= CLOSED_BY && 4 * n >= ops);
		count += pass->closes;
		if (pass->closes && end > pass->end)
			pass->end = end;
	}
	return count;
}

static int find_closed(struct vpa_loop_passes *p, double negligible_ns, size_t *closed)
{
	struct tail *tails = vpt_alloc(p->count, sizeof(*tails)), closing = {0};
	uint32_t end;
	int rc = tails ? find_end(p, &end) : VPT_ENOMEM;

	if (!rc)
		rc = find_tails(p, end, tails);
	if (!rc) {
		closing = find_closing(p, tails);
		if ((double)ns_of(p->text, closing.begin, closing.end) > negligible_ns)
			closing.end = closing.begin;
		*closed = close_passes(p, tails, closing);
	}
	vpt_free(tails);
	return rc;
}

/* ---- passes that differ by turns ---- */

/* Whether every second pass has ops that the pattern lacks, clearly more than the others, though it is
 * as long: 1 the first, third ..., 2 the second, fourth ...; 0: no. */
static unsigned differ_by_turns(const struct vpa_loop_passes *p)
{
	double least[2] = {1, 1}, most[2] = {0, 0}, ops[2] = {0, 0}, share;
	size_t i;
	unsigned k;

	if (p->count < BY_TURNS_MIN)
		return 0;
	for (i = 0; i < p->count; i++) {
		const struct vpa_loop_pass *pass = &p->at[i];

		share = 1 - (double)pass->matched / (double)(pass->end - pass->begin);
		least[i & 1] = share < least[i & 1] ? share : least[i & 1];
		most[i & 1] = share > most[i & 1] ? share : most[i & 1];
		ops[i & 1] += (double)(pass->end - pass->begin);
	}
	ops[0] /= (double)((p->count + 1) / 2);
	ops[1] /= (double)(p->count / 2);
	if (ops[0] > 1.03 * ops[1] || ops[1] > 1.03 * ops[0])
		return 0;
	for (k = 0; k < 2; k++)
		if ((most[k] <= 0 && least[!k] > 0) || most[k] + 0.01 < least[!k])
			return 2 - k;
	return 0;
}

/* Compares every second pass with the middle one of them instead: it is half of the pattern. */
static void match_by_turns(struct vpa_loop_passes *p, unsigned which)
{
	const struct vpa_loop_pass *middle = &p->at[(p->count / 2 & ~(size_t)1) + which - 1];
	struct vpa_loop_pattern other = {p->text, middle->begin, middle->end - middle->begin};
	struct vpa_loop_match m;
	size_t i;

	for (i = which - 1; i < p->count; i += 2) {
		struct vpa_loop_pass *pass = &p->at[i];

		vpa_loop_match_on(&other, pass->begin, pass->end, 0, other.ops, &m);
		if (m.matched <= pass->matched)
			continue;
		p->matched += m.matched - pass->matched;
		pass->matched = m.matched;
	}
}

/* ---- steps ---- */

/* How many passes each closed one ends a row of: from after a closed pass, or one that none follows. 0
 * for passes that are not closed. */
static void count_rows(const struct vpa_loop_passes *p, size_t *rows)
{
	size_t size = 0, i;

	for (i = 0; i < p->count; i++) {
		size++;
		rows[i] = p->at[i].closes ? size : 0;
		if (p->at[i].closes || !p->at[i].followed)
			size = 0;
	}
}

static size_t most_frequent(const size_t *rows, size_t count, size_t from, size_t to)
{
	size_t best = from, most = 0, size, n, i;

	for (size = from; size <= to; size++) {
		for (n = 0, i = 0; i < count; i++)
			n += rows[i] == size;
		if (n > most) {
			most = n;
			best = size;
		}
	}
	return best;
}

/* Whether rows are as a loop makes them: longer ones all alike, by the passes of one block's end; shorter
 * ones together, where guidance is off. */
static int is_regular(const size_t *rows, size_t count, size_t size)
{
	size_t longer = most_frequent(rows, count, size + 1, 3 * PASSES_MAX), i;
	size_t longer_count = 0, shorter_count = 0, changes = 0, before = size;

	for (i = 0; i < count; i++) {
		if (!rows[i])
			continue;
		if (rows[i] > size && rows[i] != longer)
			return 0;
		longer_count += rows[i] == longer;
		shorter_count += rows[i] < size;
		changes += (rows[i] < size) != (before < size);
		before = rows[i];
	}
	/* A single one of two steps has only lost what closes the first. */
	if (size > 1 && longer_count == 1 && longer % size == 0)
		return 0;
	/* A single shorter one has lost a pass, unless the recording began with it. */
	if (shorter_count == 1 && changes == 2 && !(rows[0] && rows[0] < size))
		return 0;
	return changes <= 3;
}

/* How many passes most steps have; 0: the rows are irregular. 0 or VPT_ENOMEM. */
static int passes_of_step(const struct vpa_loop_passes *p, unsigned *out)
{
	size_t *rows = vpt_alloc(p->count, sizeof(*rows)), size;

	if (!rows)
		return VPT_ENOMEM;
	count_rows(p, rows);
	size = most_frequent(rows, p->count, 1, PASSES_MAX);
	*out = is_regular(rows, p->count, size) ? (unsigned)size : 0;
	vpt_free(rows);
	return VPT_OK;
}

static void put_step(struct vpa_loop_passes *p, size_t from, size_t to, struct vpa_loop *out)
{
	const struct vpa_loop_pass *first = &p->at[from], *last = &p->at[to];
	struct vpa_loop_step *step;
	size_t i;

	for (i = from; i <= to; i++)
		if (p->at[i].is_cut) {
			out->cut++;
			return;
		}
	step = &out->steps[out->step_count++];
	*step = (struct vpa_loop_step){first->begin, last->end, last->followed, last->end};
	if (last->followed)
		step->next = p->at[to + 1].begin;
}

static void put_steps(struct vpa_loop_passes *p, struct vpa_loop *out)
{
	unsigned size = 0, cut = 0, most = out->passes_per_step;
	size_t i;

	for (i = 0; i < p->count; i++) {
		size++;
		cut += p->at[i].is_cut;
		if (p->at[i].closes) {
			unsigned used = size < most ? size : most;

			put_step(p, i + 1 - used, i, out);
			out->context_passes += size - used;
			size = cut = 0;
		} else if (!p->at[i].followed) {
			/* Those that are cut may only lack their end. */
			out->cut += cut > 0;
			out->context_passes += size - cut;
			size = cut = 0;
		}
	}
}

int vpa_loop_steps_make(struct vpa_loop_passes *p, struct vpa_loop *out)
{
	uint64_t *room;
	double negligible_ns;
	size_t closed, i;
	unsigned which;

	out->explained = p->ops ? (double)p->matched / (double)p->ops : 0;
	if (p->count < VPA_LOOP_STEPS_MIN || out->explained < VPA_LOOP_CONFIDENCE)
		return VPT_OK;
	room = vpt_alloc(VPA_LOOP_SAMPLES, sizeof(*room));
	if (!room)
		return VPT_ENOMEM;
	negligible_ns = NEGLIGIBLE * (double)vpa_loop_median(pass_ns, p, p->count, room);
	vpt_free(room);
	if (count_followed(p, negligible_ns) < p->count / 2)
		return VPT_OK;
	find_interrupted(p);
	if (find_closed(p, negligible_ns, &closed))
		return VPT_ENOMEM;
	out->passes_per_step = 1;
	if (closed == p->count || 4 * closed < p->count)
		for (i = 0; i < p->count; i++)
			p->at[i].closes = 1;
	else if (passes_of_step(p, &out->passes_per_step))
		return VPT_ENOMEM;
	out->is_irregular = !out->passes_per_step;
	if (out->is_irregular)
		return VPT_OK;
	which = closed == p->count ? differ_by_turns(p) : 0;
	if (which) {
		out->passes_per_step = 2;
		match_by_turns(p, which);
		out->explained = (double)p->matched / (double)p->ops;
		for (i = 0; i < p->count; i += 2)
			p->at[i].closes = 0;
	}
	out->layers = p->model_layers;
	if (p->pattern.ops > p->model_layers * p->layer_ops)
		out->outside_ops = p->pattern.ops - p->model_layers * p->layer_ops;
	out->steps = vpt_alloc(p->count, sizeof(*out->steps));
	if (!out->steps)
		return VPT_ENOMEM;
	put_steps(p, out);
	return VPT_OK;
}
