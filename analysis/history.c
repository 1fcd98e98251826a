/* history.c - calls in blocks, ranges as steps. Searches start where the last one ended, since questions
 * come in order of time but for a few. */
#include "analysis/history.h"

#include "formats/error.h"
#include "formats/memory.h"

#include <string.h>

enum { AHEAD = 3, TRIES = 8 /* steps forward before a search */ };

int vpa_calls_begin_block(struct vpa_calls *c, uint32_t thread)
{
	struct vpa_call_block *block;

	if (vpt_grow(&c->blocks, &c->block_cap, c->block_count + 1, sizeof(*c->blocks)))
		return VPT_ENOMEM;
	block = vpt_alloc(1, sizeof(*block));
	if (!block)
		return VPT_ENOMEM;
	block->thread = thread;
	block->waiting = 0;
	block->start_ns = UINT64_MAX;
	memset(block->correlations, 0, sizeof(block->correlations));
	memset(block->encloses, 0, sizeof(block->encloses));
	c->blocks[c->block_count++] = block;
	return VPT_OK;
}

uint64_t vpa_calls_after(const struct vpa_calls *c, uint64_t t)
{
	uint64_t low = c->begin, high = c->end, step = 1;

	/* Mostly near the end: gallop backwards, then halve. */
	while (high > low && high - low > step && vpa_calls_end_at(c, high - step) > t) {
		high -= step;
		step *= 2;
	}
	if (high - low > step)
		low = high - step;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (vpa_calls_end_at(c, middle) > t)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint64_t vpa_calls_earliest(const struct vpa_calls *c, uint64_t position)
{
	uint64_t earliest = UINT64_MAX;
	size_t i;

	for (; position % VPA_CALL_BLOCK && position < c->end; position++)
		if (vpa_call_start(vpa_calls_at(c, position)) < earliest)
			earliest = vpa_call_start(vpa_calls_at(c, position));
	if (position >= c->end)
		return earliest;
	for (i = (size_t)(position / VPA_CALL_BLOCK - c->first_block); i < c->block_count; i++)
		if (c->blocks[i]->start_ns < earliest)
			earliest = c->blocks[i]->start_ns;
	return earliest;
}

void vpa_calls_drop(struct vpa_calls *c, uint64_t position)
{
	size_t blocks = (size_t)(position / VPA_CALL_BLOCK - c->first_block), i;

	c->begin = position > c->begin ? position : c->begin;
	if (!blocks)
		return;
	for (i = 0; i < blocks; i++)
		vpt_free(c->blocks[i]);
	memmove(c->blocks, c->blocks + blocks, (c->block_count - blocks) * sizeof(*c->blocks));
	c->block_count -= blocks;
	c->first_block += blocks;
}

void vpa_calls_free(struct vpa_calls *c)
{
	size_t i;

	for (i = 0; i < c->block_count; i++)
		vpt_free(c->blocks[i]);
	vpt_free(c->blocks);
	memset(c, 0, sizeof(*c));
}

size_t vpa_steps_index(struct vpa_steps *s, uint64_t t)
{
	size_t low = s->dropped, high = s->count, at = s->cursor;

	if (at < low || at >= high)
		at = low;
	if (low == high || s->items[low].time_ns > t)
		return SIZE_MAX;
	/* A few steps forward from the last answer, else halve. */
	if (s->items[at].time_ns <= t) {
		unsigned tries;

		for (tries = 0; tries < TRIES && at + 1 < high && s->items[at + 1].time_ns <= t;
			tries++)
			at++;
		if (at + 1 == high || s->items[at + 1].time_ns > t)
			return s->cursor = at;
		low = at;
	} else {
		high = at;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (s->items[middle].time_ns <= t)
			low = middle;
		else
			high = middle;
	}
	return s->cursor = low;
}

void vpa_step_span_seek(struct vpa_step_span *span, struct vpa_steps *s, uint64_t t)
{
	size_t i = s->cursor, last = i + TRIES < s->count ? i + TRIES : s->count - 1, next;

	/* Mostly it is one of those just behind the last answer. */
	if (i >= s->dropped && i < s->count && s->items[i].time_ns <= t) {
		while (i < last && s->items[i + 1].time_ns <= t)
			i++;
		s->cursor = i;
		if (i == last && i + 1 < s->count)
			i = vpa_steps_index(s, t);
	} else {
		i = vpa_steps_index(s, t);
	}
	next = i == SIZE_MAX ? s->dropped : i + 1;

	/* Ranges were made long before they are asked for. */
	if (i + AHEAD < s->count) {
		__builtin_prefetch(s->items[i + AHEAD].range, 1);
		__builtin_prefetch(
			s->items[i + AHEAD].range ? &s->items[i + AHEAD].range->gpu : NULL, 1);
	}
	span->from_ns = i == SIZE_MAX ? 0 : s->items[i].time_ns;
	span->until_ns = next < s->count ? s->items[next].time_ns : UINT64_MAX;
	span->range = i == SIZE_MAX ? NULL : s->items[i].range;
}
