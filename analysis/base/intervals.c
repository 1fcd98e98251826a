/* intervals.c - spans in blocks of at most BLOCK.
 *
 *	blocks     [ 1-3  5-6 ]   [ 8-9  12-20  22-30 ]   [ 40-41 ]
 *	length_ns       3                  17                 1
 *
 * A span in the middle moves only those of its block. A block that is full is split, and one without
 * spans is removed. */
#include "analysis/base/intervals.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <string.h>

enum {
	BLOCK = 1024,
	TRIM_SPANS = 1024 /* are dropped together, or more */
};

static uint64_t length_of(const struct vpa_interval *span)
{
	return span->end_ns - span->start_ns;
}

/* ---- finding ---- */

/* The first span that ends at `t_ns` or after it; past the last block, if there is none. */
static struct vpa_intervals_at find(const struct vpa_intervals *s, uint64_t t_ns)
{
	struct vpa_intervals_at at = {0, 0};
	size_t low = 0, high = s->block_count, middle;
	const struct vpa_intervals_block *b;

	while (low < high) {
		middle = low + (high - low) / 2;
		b = &s->blocks[middle];
		if (b->spans[b->count - 1].end_ns >= t_ns)
			high = middle;
		else
			low = middle + 1;
	}
	at.block = low;
	if (low == s->block_count)
		return at;
	b = &s->blocks[low];
	for (low = 0, high = b->count - 1; low < high;) {
		middle = low + (high - low) / 2;
		if (b->spans[middle].end_ns >= t_ns)
			high = middle;
		else
			low = middle + 1;
	}
	at.i = low;
	return at;
}

const struct vpa_interval *vpa_intervals_next(
	const struct vpa_intervals *s, struct vpa_intervals_at *at)
{
	const struct vpa_interval *span;

	if (at->block == s->block_count)
		return NULL;
	span = &s->blocks[at->block].spans[at->i];
	if (++at->i == s->blocks[at->block].count)
		*at = (struct vpa_intervals_at){at->block + 1, 0};
	return span;
}

const struct vpa_interval *vpa_intervals_after(
	const struct vpa_intervals *s, uint64_t t_ns, struct vpa_intervals_at *at)
{
	*at = t_ns == UINT64_MAX ? (struct vpa_intervals_at){s->block_count, 0} : find(s, t_ns + 1);
	return vpa_intervals_next(s, at);
}

/* ---- adding ---- */

/* Makes an empty block. */
static int add_block(struct vpa_intervals *s, size_t at)
{
	if (vpt_grow(&s->blocks, &s->block_cap, s->block_count + 1, sizeof(*s->blocks)))
		return VPT_ENOMEM;
	memmove(s->blocks + at + 1, s->blocks + at, (s->block_count - at) * sizeof(*s->blocks));
	s->blocks[at] = (struct vpa_intervals_block){.spans = NULL};
	s->block_count++;
	return VPT_OK;
}

static void remove_blocks(struct vpa_intervals *s, size_t from, size_t to)
{
	size_t i;

	for (i = from; i < to; i++) {
		s->count -= s->blocks[i].count;
		vpt_free(s->blocks[i].spans);
	}
	s->block_count -= to - from;
	memmove(s->blocks + from, s->blocks + to, (s->block_count - from) * sizeof(*s->blocks));
}

/* Moves the upper half of a block's spans to a new block behind it. */
static int split(struct vpa_intervals *s, size_t block)
{
	size_t kept = s->blocks[block].count / 2, moved = s->blocks[block].count - kept, i;
	struct vpa_interval *spans = NULL;
	struct vpa_intervals_block *b;
	size_t cap = 0;

	if (vpt_grow(&spans, &cap, BLOCK, sizeof(*spans)))
		return VPT_ENOMEM;
	if (add_block(s, block + 1)) {
		vpt_free(spans);
		return VPT_ENOMEM;
	}
	b = &s->blocks[block];
	memcpy(spans, b->spans + kept, moved * sizeof(*spans));
	b[1] = (struct vpa_intervals_block){.spans = spans, .count = moved, .cap = cap};
	b->count = kept;
	for (i = 0; i < moved; i++)
		b[1].length_ns += length_of(&spans[i]);
	b->length_ns -= b[1].length_ns;
	return VPT_OK;
}

/* Puts a span that touches no other before the span at `at`. */
static int insert(
	struct vpa_intervals *s, struct vpa_intervals_at at, const struct vpa_interval *span)
{
	struct vpa_intervals_block *b;

	/* Behind the last one: at the end of the last block, or of a new one. */
	if (at.block == s->block_count) {
		if (at.block && s->blocks[at.block - 1].count < BLOCK)
			at = (struct vpa_intervals_at){at.block - 1, s->blocks[at.block - 1].count};
		else if (add_block(s, at.block))
			return VPT_ENOMEM;
	} else if (s->blocks[at.block].count == BLOCK) {
		if (split(s, at.block))
			return VPT_ENOMEM;
		if (at.i > BLOCK / 2)
			at = (struct vpa_intervals_at){at.block + 1, at.i - BLOCK / 2};
	}
	b = &s->blocks[at.block];
	if (vpt_grow(&b->spans, &b->cap, b->count + 1, sizeof(*b->spans))) {
		if (!b->count)
			s->block_count--;
		return VPT_ENOMEM;
	}
	memmove(b->spans + at.i + 1, b->spans + at.i, (b->count - at.i) * sizeof(*b->spans));
	b->spans[at.i] = *span;
	b->count++;
	s->count++;
	b->length_ns += length_of(span);
	return VPT_OK;
}

/* Removes the spans [from, to) of a block, not all of them. */
static void remove_spans(struct vpa_intervals *s, size_t block, size_t from, size_t to)
{
	struct vpa_intervals_block *b = &s->blocks[block];
	size_t i;

	for (i = from; i < to; i++)
		b->length_ns -= length_of(&b->spans[i]);
	memmove(b->spans + from, b->spans + to, (b->count - to) * sizeof(*b->spans));
	b->count -= to - from;
	s->count -= to - from;
}

/* Widens the span at `at` to this one, which touches it, and takes in all others that it touches then. */
static void widen(
	struct vpa_intervals *s, struct vpa_intervals_at at, const struct vpa_interval *to)
{
	struct vpa_intervals_at last = find(s, to->end_ns);
	struct vpa_interval *span = &s->blocks[at.block].spans[at.i];
	struct vpa_interval wide = {vpa_earlier(span->start_ns, to->start_ns), to->end_ns};

	/* `last` is one behind those to take in, unless it touches this one too. */
	if (last.block < s->block_count &&
		s->blocks[last.block].spans[last.i].start_ns <= to->end_ns) {
		wide.end_ns = s->blocks[last.block].spans[last.i].end_ns;
		if (++last.i == s->blocks[last.block].count)
			last = (struct vpa_intervals_at){last.block + 1, 0};
	}
	s->blocks[at.block].length_ns += length_of(&wide) - length_of(span);
	*span = wide;
	if (last.block == at.block) {
		remove_spans(s, at.block, at.i + 1, last.i);
	} else {
		if (last.i)
			remove_spans(s, last.block, 0, last.i);
		remove_spans(s, at.block, at.i + 1, s->blocks[at.block].count);
		remove_blocks(s, at.block + 1, last.block);
	}
}

int vpa_intervals_add(struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns)
{
	const struct vpa_interval span = {start_ns, end_ns};
	struct vpa_intervals_at at = {s->block_count, 0};

	if (end_ns <= start_ns)
		return VPT_OK;
	if (s->count && vpa_intervals_last(s)->end_ns >= start_ns)
		at = find(s, start_ns);
	if (at.block == s->block_count || s->blocks[at.block].spans[at.i].start_ns > end_ns)
		return insert(s, at, &span);
	widen(s, at, &span);
	return VPT_OK;
}

/* ---- the rest ---- */

void vpa_intervals_trim(struct vpa_intervals *s, uint64_t before_ns)
{
	size_t gone = 0, spans = 0;
	uint64_t ns = 0;

	while (gone < s->block_count &&
		s->blocks[gone].spans[s->blocks[gone].count - 1].end_ns <= before_ns) {
		spans += s->blocks[gone].count;
		ns += s->blocks[gone++].length_ns;
	}
	if (spans < TRIM_SPANS)
		return;
	s->trimmed_ns += ns;
	s->trimmed_until_ns = vpa_later(s->trimmed_until_ns,
		s->blocks[gone - 1].spans[s->blocks[gone - 1].count - 1].end_ns);
	remove_blocks(s, 0, gone);
}

/* The length of the spans before this one in its block, and of its part before `until_ns`. */
static uint64_t length_in(
	const struct vpa_intervals *s, struct vpa_intervals_at at, uint64_t until_ns)
{
	const struct vpa_intervals_block *b;
	uint64_t ns = 0;
	size_t i;

	if (at.block == s->block_count)
		return 0;
	b = &s->blocks[at.block];
	for (i = 0; i < at.i; i++)
		ns += length_of(&b->spans[i]);
	return until_ns > b->spans[i].start_ns ? ns + (until_ns - b->spans[i].start_ns) : ns;
}

/* How much of [start_ns, end_ns) the spans cover. */
static uint64_t covered(const struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns)
{
	struct vpa_intervals_at from = find(s, start_ns), to = find(s, end_ns);
	uint64_t ns = length_in(s, to, end_ns) - length_in(s, from, start_ns);

	for (; from.block < to.block; from.block++)
		ns += s->blocks[from.block].length_ns;
	return ns;
}

uint64_t vpa_intervals_total(const struct vpa_intervals *s, uint64_t end_ns)
{
	return s->trimmed_ns + covered(s, 0, end_ns);
}

uint64_t vpa_intervals_outside(const struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns)
{
	return end_ns - start_ns - covered(s, start_ns, end_ns);
}

int vpa_intervals_cut(const struct vpa_intervals *s, uint64_t start_ns, uint64_t first_ns,
	uint64_t last_ns, uint64_t end_ns)
{
	return vpa_intervals_between(s, start_ns, vpa_earlier(first_ns + 1, end_ns)) ||
	       vpa_intervals_between(s, vpa_earlier(last_ns, end_ns) - 1, end_ns);
}

void vpa_intervals_free(struct vpa_intervals *s)
{
	if (s->block_count)
		remove_blocks(s, 0, s->block_count);
	vpt_free(s->blocks);
	memset(s, 0, sizeof(*s));
}
