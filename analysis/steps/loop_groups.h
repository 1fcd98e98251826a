/* loop_groups.h - repetitions in a sequence of symbols, by the tokens that occur in turns.
 *
 * A token is a symbol, or three symbols in a row. Tokens that occur equally often, and always in turns
 * (a b c, a b c, a b c), form a group. It costs little to find, does not mind how long the turns are,
 * and an op that is inserted or missing spoils the few tokens around it, not the group. */
#ifndef VPA_ANALYSIS_STEPS_LOOP_GROUPS_H
#define VPA_ANALYSIS_STEPS_LOOP_GROUPS_H

#include "analysis/steps/loop.h"

struct vpa_loop_group {
	uint32_t token;     /* of its tokens the one that occurs first */
	uint32_t count;     /* of its occurrences */
	uint32_t tokens;    /* in the group */
	uint32_t body;      /* median distance between occurrences, in ops */
	uint64_t covers_ns; /* device time of the turns; of each at most twice the median */
};

/* A token that comes back after about as many ops each time, but for a few times. Layers do. */
struct vpa_loop_round {
	uint32_t token, count, body; /* body: the usual distance, in ops */
};

struct vpa_loop_text {
	size_t count;
	uint32_t *symbols;    /* numbered from 0 */
	uint32_t *triples;    /* the token of [i, i + 3); the last two ops have VPA_NO_TOKEN */
	uint64_t *sum_ns;     /* device time of the ops before i; count + 1 of them */
	const uint8_t *kinds; /* of the ops, borrowed; NULL: not known */
	uint32_t *attention;  /* calls of attention before i; count + 1 of them */
	uint32_t symbol_count, token_count; /* tokens below symbol_count are symbols */
	/* Where tokens occur, in order: token t at places[first[t]] to places[first[t + 1] - 1]. */
	uint32_t *first, *places;
	struct vpa_loop_group *groups; /* by count, descending */
	size_t group_count, group_cap;
	struct vpa_loop_round *rounds; /* the largest of about each count; by count, descending */
	size_t round_count;
};

#define VPA_NO_TOKEN UINT32_MAX

/* Fills *out from ops. Free it in all cases. 0 or VPT_ENOMEM. */
int vpa_loop_text_make(const struct vpa_loop_ops *ops, struct vpa_loop_text *out);
void vpa_loop_text_free(struct vpa_loop_text *t);

/* Calls of attention in [begin, end). */
static inline uint32_t vpa_loop_attention(
	const struct vpa_loop_text *t, uint32_t begin, uint32_t end)
{
	return t->attention[end] - t->attention[begin];
}

/* Where a token occurs. */
static inline const uint32_t *vpa_loop_places(const struct vpa_loop_text *t, uint32_t token)
{
	return t->places + t->first[token];
}

/* The first of `count` ascending places that is at least `from`; `count`: none. */
size_t vpa_loop_place_after(const uint32_t *places, size_t count, uint32_t from);

/* The median of values, at most 4,096 of them evenly spread: value(ctx, i) for i < count. `room` has
 * space for VPA_LOOP_SAMPLES values. */
enum { VPA_LOOP_SAMPLES = 4096 };
uint64_t vpa_loop_median(uint64_t (*value)(const void *ctx, size_t i), const void *ctx,
	size_t count, uint64_t *room);

#endif
