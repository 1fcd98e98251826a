/* loop_groups.c - numbers tokens, lists where each occurs, and joins those that occur in turns. */
#include "analysis/steps/loop_groups.h"

#include "analysis/base/index.h"
#include "analysis/base/sort.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/search.h"

#include <stdlib.h>
#include <string.h>

enum {
	TURNS_MIN = VPA_LOOP_STEPS_MIN,
	TOKENS_MIN = 4,   /* fewer take turns by chance */
	LEADERS_MAX = 16, /* groups of one count */
	GROUPS_MAX = 256,
	ROUNDS_MIN = 6 * VPA_LOOP_STEPS_MIN, /* a layer's, in all passes */
	ROUND_OPS_MIN = 4,
	ROUND_CLASSES = 22, /* of counts: powers of two */
	ROUNDS_OF_CLASS = 8
};

#define REGULAR 0.75 /* of the distances of a round's token */

/* ---- tokens ---- */

static int number_symbols(const struct vpa_loop_ops *ops, struct vpa_loop_text *t)
{
	struct vpa_index index = {0};
	size_t i;
	uint32_t symbol = 0;

	for (i = 0; i < t->count && symbol != UINT32_MAX; i++) {
		symbol = vpa_index_put(&index, ops->symbols[i], 0);
		t->symbols[i] = symbol;
		t->sum_ns[i + 1] = t->sum_ns[i] + ops->duration_ns[i];
		t->attention[i + 1] =
			t->attention[i] + (ops->kinds && ops->kinds[i] == VPA_LOOP_ATTENTION);
	}
	t->symbol_count = (uint32_t)index.count;
	vpa_index_free(&index);
	return symbol == UINT32_MAX ? VPT_ENOMEM : VPT_OK;
}

static int number_triples(struct vpa_loop_text *t)
{
	struct vpa_index index = {0};
	size_t i;
	uint32_t triple = 0;

	for (i = 0; i < t->count; i++)
		t->triples[i] = VPA_NO_TOKEN;
	for (i = 0; i + 2 < t->count && triple != UINT32_MAX; i++) {
		triple = vpa_index_put(&index, (uint64_t)t->symbols[i] << 32 | t->symbols[i + 1],
			t->symbols[i + 2]);
		t->triples[i] = t->symbol_count + triple;
	}
	t->token_count = t->symbol_count + (uint32_t)index.count;
	vpa_index_free(&index);
	return triple == UINT32_MAX ? VPT_ENOMEM : VPT_OK;
}

static void put_place(const struct vpa_loop_text *t, uint32_t *next, uint32_t token, size_t i)
{
	if (token != VPA_NO_TOKEN)
		t->places[next[token]++] = (uint32_t)i;
}

/* Counting sort of the places by token. */
static int list_places(struct vpa_loop_text *t)
{
	uint32_t *next = vpt_calloc((size_t)t->token_count + 1, sizeof(*next));
	size_t i;

	t->first = vpt_calloc((size_t)t->token_count + 2, sizeof(*t->first));
	t->places = vpt_alloc(t->count * 2, sizeof(*t->places));
	if (!next || !t->first || !t->places) {
		vpt_free(next);
		return VPT_ENOMEM;
	}
	for (i = 0; i < t->count; i++) {
		t->first[t->symbols[i] + 1]++;
		if (t->triples[i] != VPA_NO_TOKEN)
			t->first[t->triples[i] + 1]++;
	}
	for (i = 0; i < t->token_count; i++)
		t->first[i + 1] += t->first[i];
	memcpy(next, t->first, (size_t)t->token_count * sizeof(*next));
	for (i = 0; i < t->count; i++) {
		put_place(t, next, t->symbols[i], i);
		put_place(t, next, t->triples[i], i);
	}
	vpt_free(next);
	return VPT_OK;
}

size_t vpa_loop_place_after(const uint32_t *places, size_t count, uint32_t from)
{
	size_t low = 0, high = count;

	VPT_SEARCH(low, high, middle, places[middle] < from);
	return low;
}

/* ---- groups ---- */

struct token {
	uint32_t count, first, token;
};

/* By count, then by the first occurrence: a group is led by its earliest token. */
static int compare_tokens(const void *a, const void *b)
{
	const struct token *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Whether `b`, which begins no earlier, occurs once in each turn of `a`. */
static int takes_turns(const uint32_t *a, const uint32_t *b, size_t count)
{
	size_t i;

	for (i = 0; i + 1 < count; i++)
		if (b[i] < a[i] || b[i] >= a[i + 1])
			return 0;
	return b[i] >= a[i];
}

static int keep_leaders(
	struct vpa_loop_text *t, const struct vpa_loop_group *leaders, size_t leader_count)
{
	size_t i;

	if (vpt_grow(&t->groups, &t->group_cap, t->group_count + leader_count, sizeof(*t->groups)))
		return VPT_ENOMEM;
	for (i = 0; i < leader_count; i++)
		if (leaders[i].tokens >= TOKENS_MIN)
			t->groups[t->group_count++] = leaders[i];
	return VPT_OK;
}

/* Joins the tokens [from, to), all of one count. */
static int join(struct vpa_loop_text *t, const struct token *tokens, size_t from, size_t to)
{
	struct vpa_loop_group leaders[LEADERS_MAX];
	size_t leader_count = 0, i, k;

	for (i = from; i < to; i++) {
		const uint32_t *places = vpa_loop_places(t, tokens[i].token);

		for (k = 0; k < leader_count; k++)
			if (takes_turns(
				    vpa_loop_places(t, leaders[k].token), places, tokens[i].count))
				break;
		if (k < leader_count)
			leaders[k].tokens++;
		else if (leader_count < LEADERS_MAX)
			leaders[leader_count++] = (struct vpa_loop_group){
				.token = tokens[i].token, .count = tokens[i].count, .tokens = 1};
	}
	return keep_leaders(t, leaders, leader_count);
}

static int compare_weights(const void *a, const void *b)
{
	const struct vpa_loop_group *x = a, *y = b;
	uint64_t of_x = (uint64_t)x->count * x->tokens, of_y = (uint64_t)y->count * y->tokens;

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return (x->token > y->token) - (x->token < y->token);
}

static int compare_counts(const void *a, const void *b)
{
	const struct vpa_loop_group *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return compare_weights(a, b);
}

static int find_groups(struct vpa_loop_text *t)
{
	struct token *tokens = vpt_alloc(t->token_count, sizeof(*tokens));
	size_t count = 0, from, to;
	uint32_t i;
	int rc = tokens ? VPT_OK : VPT_ENOMEM;

	for (i = 0; i < t->token_count && !rc; i++) {
		uint32_t turns = t->first[i + 1] - t->first[i];

		if (turns >= TURNS_MIN && turns <= t->count / TOKENS_MIN)
			tokens[count++] = (struct token){turns, t->places[t->first[i]], i};
	}
	if (!rc)
		qsort(tokens, count, sizeof(*tokens), compare_tokens);
	for (from = 0; from < count && !rc; from = to) {
		for (to = from + 1; to < count && tokens[to].count == tokens[from].count; to++)
			;
		rc = join(t, tokens, from, to);
	}
	vpt_free(tokens);
	if (rc || !t->group_count)
		return rc;
	qsort(t->groups, t->group_count, sizeof(*t->groups), compare_weights);
	if (t->group_count > GROUPS_MAX)
		t->group_count = GROUPS_MAX;
	qsort(t->groups, t->group_count, sizeof(*t->groups), compare_counts);
	return VPT_OK;
}

/* ---- what a group's turns are like ---- */

uint64_t vpa_loop_median(
	uint64_t (*value)(const void *ctx, size_t i), const void *ctx, size_t count, uint64_t *room)
{
	size_t used = count < VPA_LOOP_SAMPLES ? count : VPA_LOOP_SAMPLES, i;

	if (!count)
		return 0;
	for (i = 0; i < used; i++)
		room[i] = value(ctx, (size_t)((uint64_t)i * count / used));
	qsort(room, used, sizeof(*room), vpa_by_u64);
	return room[used / 2];
}

struct turns {
	const struct vpa_loop_text *text;
	const uint32_t *places;
};

static uint64_t turn_ops(const void *ctx, size_t i)
{
	const struct turns *t = ctx;

	return t->places[i + 1] - t->places[i];
}

static uint64_t turn_ns(const void *ctx, size_t i)
{
	const struct turns *t = ctx;

	return t->text->sum_ns[t->places[i + 1]] - t->text->sum_ns[t->places[i]];
}

static int measure_groups(struct vpa_loop_text *t)
{
	uint64_t *room = vpt_alloc(VPA_LOOP_SAMPLES, sizeof(*room));
	size_t g, i;

	if (!room)
		return VPT_ENOMEM;
	for (g = 0; g < t->group_count; g++) {
		struct vpa_loop_group *group = &t->groups[g];
		struct turns turns = {t, vpa_loop_places(t, group->token)};
		uint64_t most;

		group->body = (uint32_t)vpa_loop_median(turn_ops, &turns, group->count - 1, room);
		most = 2 * vpa_loop_median(turn_ns, &turns, group->count - 1, room);
		group->covers_ns = most / 2; /* the last turn has no end */
		for (i = 0; i + 1 < group->count; i++) {
			uint64_t ns = turn_ns(&turns, i);

			group->covers_ns += ns < most ? ns : most;
		}
	}
	vpt_free(room);
	return VPT_OK;
}

/* ---- rounds ---- */

/* Whether most distances are within a quarter of the usual one. */
static int is_regular(const uint32_t *places, size_t count, uint32_t body)
{
	uint32_t slack = body / 4 < 2 ? 2 : body / 4;
	size_t regular = 0, i;

	for (i = 0; i + 1 < count; i++) {
		uint32_t ops = places[i + 1] - places[i];

		regular += ops + slack >= body && ops <= body + slack;
	}
	return (double)regular >= REGULAR * (double)(count - 1);
}

/* Keeps a round if it covers more than one of its class that is kept. */
static void keep_round(struct vpa_loop_round *kept, size_t *count, struct vpa_loop_round round)
{
	size_t least = 0, i;

	if (*count < ROUNDS_OF_CLASS) {
		kept[(*count)++] = round;
		return;
	}
	for (i = 1; i < *count; i++)
		if ((uint64_t)kept[i].count * kept[i].body <
			(uint64_t)kept[least].count * kept[least].body)
			least = i;
	if ((uint64_t)round.count * round.body > (uint64_t)kept[least].count * kept[least].body)
		kept[least] = round;
}

static int find_rounds(struct vpa_loop_text *t)
{
	struct vpa_loop_round kept[ROUND_CLASSES][ROUNDS_OF_CLASS];
	size_t counts[ROUND_CLASSES] = {0}, class, i;
	uint64_t *room = vpt_alloc(VPA_LOOP_SAMPLES, sizeof(*room));
	uint32_t token;

	t->rounds = vpt_alloc(ROUND_CLASSES * ROUNDS_OF_CLASS, sizeof(*t->rounds));
	if (!room || !t->rounds) {
		vpt_free(room);
		return VPT_ENOMEM;
	}
	for (token = 0; token < t->token_count; token++) {
		struct turns turns = {t, vpa_loop_places(t, token)};
		uint32_t count = t->first[token + 1] - t->first[token], body;

		if (count < ROUNDS_MIN)
			continue;
		body = (uint32_t)vpa_loop_median(turn_ops, &turns, count - 1, room);
		class = 31 - (size_t)__builtin_clz(count);
		if (body >= ROUND_OPS_MIN && is_regular(turns.places, count, body))
			keep_round(kept[class], &counts[class],
				(struct vpa_loop_round){token, count, body});
	}
	vpt_free(room);
	for (class = ROUND_CLASSES; class -- > 0;)
		for (i = 0; i < counts[class]; i++)
			t->rounds[t->round_count++] = kept[class][i];
	return VPT_OK;
}

int vpa_loop_text_make(const struct vpa_loop_ops *ops, struct vpa_loop_text *t)
{
	int rc;

	*t = (struct vpa_loop_text){.count = ops->count, .kinds = ops->kinds};
	t->symbols = vpt_alloc(ops->count, sizeof(*t->symbols));
	t->triples = vpt_alloc(ops->count, sizeof(*t->triples));
	t->sum_ns = vpt_calloc(ops->count + 1, sizeof(*t->sum_ns));
	t->attention = vpt_calloc(ops->count + 1, sizeof(*t->attention));
	if (!t->symbols || !t->triples || !t->sum_ns || !t->attention)
		return VPT_ENOMEM;
	rc = number_symbols(ops, t);
	if (!rc)
		rc = number_triples(t);
	if (!rc)
		rc = list_places(t);
	if (!rc)
		rc = find_groups(t);
	if (!rc)
		rc = measure_groups(t);
	return rc ? rc : find_rounds(t);
}

void vpa_loop_text_free(struct vpa_loop_text *t)
{
	vpt_free(t->symbols);
	vpt_free(t->triples);
	vpt_free(t->sum_ns);
	vpt_free(t->attention);
	vpt_free(t->first);
	vpt_free(t->places);
	vpt_free(t->groups);
	vpt_free(t->rounds);
}
