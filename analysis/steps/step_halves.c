/* step_halves.c - guesses where the second half begins, from ops that occur exactly twice, and compares the halves.
 *
 * Both tables are open addressing over a power of two of slots, at most half full: they are made for one
 * sequence of known length, so they never grow. */
#include "analysis/steps/step_kinds.h"

#include "formats/base/error.h"
#include "formats/base/hash.h"
#include "formats/base/memory.h"

#include <stdlib.h>

enum {
	TWICE_MIN = 3,    /* of such triples */
	LAYERS_MIN = 3,   /* in a half */
	HALF_LONG = 256,  /* ops of a half that needs no layers */
	SPREAD_PART = 50, /* distances differ by a fiftieth of the step */
	SPREAD_OPS = 2    /* and by so few ops */
};

static size_t slots_for(size_t count)
{
	size_t slots = 16;

	while (slots < 2 * count)
		slots *= 2;
	return slots;
}

/* ---- symbols in common ---- */

struct vpa_symbol_count {
	uint32_t symbol, count; /* count 0: free */
	uint32_t used, round;   /* used: in this round */
};

static struct vpa_symbol_count *slot_of(const struct vpa_symbol_counts *c, uint32_t symbol)
{
	size_t at = vpt_hash_number(symbol);

	for (;; at++) {
		struct vpa_symbol_count *s = &c->slots[at & (c->slot_count - 1)];

		if (!s->count || s->symbol == symbol)
			return s;
	}
}

int vpa_symbol_counts_make(struct vpa_symbol_counts *c, const uint32_t *symbols, size_t count)
{
	size_t i;

	c->round = 0;
	c->slot_count = slots_for(count);
	c->slots = vpt_calloc(c->slot_count, sizeof(*c->slots));
	if (!c->slots)
		return VPT_ENOMEM;
	for (i = 0; i < count; i++) {
		struct vpa_symbol_count *s = slot_of(c, symbols[i]);

		s->symbol = symbols[i];
		s->count++;
	}
	return VPT_OK;
}

size_t vpa_symbol_counts_common(struct vpa_symbol_counts *c, const uint32_t *symbols, size_t count)
{
	size_t common = 0, i;

	c->round++;
	for (i = 0; i < count; i++) {
		struct vpa_symbol_count *s = slot_of(c, symbols[i]);

		if (s->round != c->round) {
			s->round = c->round;
			s->used = 0;
		}
		if (s->used < s->count) {
			s->used++;
			common++;
		}
	}
	return common;
}

void vpa_symbol_counts_free(struct vpa_symbol_counts *c)
{
	vpt_free(c->slots);
	c->slots = NULL;
}

/* ---- three ops in a row ---- */

struct triple {
	uint64_t hash;
	uint32_t first, second, count; /* where it occurs, and how often; 0: free */
};

struct triples {
	struct triple *slots;
	size_t slot_count;
};

static void count_triples(struct triples *t, const uint32_t *symbols, size_t count)
{
	uint64_t two = ((uint64_t)symbols[0] << 32) | symbols[1];
	size_t i;

	for (i = 0; i + 2 < count; i++) {
		uint64_t hash = vpt_hash_pair(two, symbols[i + 2]);
		size_t at = hash;
		struct triple *s;

		for (;; at++) {
			s = &t->slots[at & (t->slot_count - 1)];
			if (!s->count || s->hash == hash)
				break;
		}
		if (!s->count)
			*s = (struct triple){hash, (uint32_t)i, 0, 0};
		if (s->count++ == 1)
			s->second = (uint32_t)i;
		two = two << 32 | symbols[i + 2];
	}
}

static int compare_distances(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* The distance of most triples that occur twice; 0: they have none in common, or are too few. */
static int find_distance(const struct triples *t, size_t count, uint32_t *out)
{
	uint32_t *distances = vpt_alloc(count / 2 + 1, sizeof(*distances)), middle;
	size_t spread = count / SPREAD_PART + SPREAD_OPS, n = 0, near = 0, i;

	*out = 0;
	if (!distances)
		return VPT_ENOMEM;
	for (i = 0; i < t->slot_count; i++)
		if (t->slots[i].count == 2)
			distances[n++] = t->slots[i].second - t->slots[i].first;
	if (n >= TWICE_MIN) {
		qsort(distances, n, sizeof(*distances), compare_distances);
		middle = distances[n / 2];
		for (i = 0; i < n; i++)
			near += distances[i] + spread >= middle && distances[i] <= middle + spread;
		if (4 * near >= 3 * n && near >= TWICE_MIN)
			*out = middle;
	}
	vpt_free(distances);
	return VPT_OK;
}

/* The first triple that occurs twice, about that far apart. */
static const struct triple *find_first(const struct triples *t, size_t count, uint32_t distance)
{
	size_t spread = count / SPREAD_PART + SPREAD_OPS, i;
	const struct triple *first = NULL;

	for (i = 0; i < t->slot_count; i++) {
		const struct triple *s = &t->slots[i];

		if (s->count == 2 && s->second - s->first + spread >= distance &&
			s->second - s->first <= distance + spread &&
			(!first || s->first < first->first))
			first = s;
	}
	return first;
}

/* Whether a third of the halves' ops begin something that each half holds three times. */
static int has_layers(const struct triples *t, const struct vpa_step_halves *h)
{
	size_t ops = 0, i;

	if (h->end - h->second >= HALF_LONG)
		return 1;
	for (i = 0; i < t->slot_count; i++)
		if (t->slots[i].count >= 2 * LAYERS_MIN)
			ops += t->slots[i].count;
	return 3 * ops >= h->end - h->first;
}

/* ---- halves ---- */

static int are_alike(const uint32_t *symbols, const struct vpa_step_halves *h, int *out)
{
	size_t first = h->second - h->first, second = h->end - h->second;
	struct vpa_symbol_counts counts;
	int rc = vpa_symbol_counts_make(&counts, symbols + h->first, first);

	if (!rc)
		*out = 10 * vpa_symbol_counts_common(&counts, symbols + h->second, second) >=
		       9 * (first > second ? first : second);
	vpa_symbol_counts_free(&counts);
	return rc;
}

static int find_halves(
	const struct triples *t, const uint32_t *symbols, size_t count, struct vpa_step_halves *out)
{
	struct vpa_step_halves h;
	const struct triple *first;
	uint32_t distance;
	int rc = find_distance(t, count, &distance), alike = 0;

	first = !rc && distance ? find_first(t, count, distance) : NULL;
	if (!first)
		return rc;
	h.first = first->first;
	h.second = first->second;
	while (h.first && symbols[h.first - 1] == symbols[h.second - 1]) {
		h.first--;
		h.second--;
	}
	distance = h.second - h.first;
	h.end = distance < count - h.second ? h.second + distance : (uint32_t)count;
	if (5 * (size_t)(h.end - h.first) < 4 * count || !has_layers(t, &h))
		return VPT_OK;
	rc = are_alike(symbols, &h, &alike);
	if (!rc && alike)
		*out = h;
	return rc;
}

int vpa_step_halves_find(const uint32_t *symbols, size_t count, struct vpa_step_halves *out)
{
	struct triples t;
	int rc = VPT_ENOMEM;

	*out = (struct vpa_step_halves){0};
	if (count < 2 * LAYERS_MIN)
		return VPT_OK;
	t.slot_count = slots_for(count);
	t.slots = vpt_calloc(t.slot_count, sizeof(*t.slots));
	if (t.slots) {
		count_triples(&t, symbols, count);
		rc = find_halves(&t, symbols, count, out);
	}
	vpt_free(t.slots);
	return rc;
}
