/* intervals.c - spans in slabs of at most SLAB.
 *
 *	slabs     [ 1-3  5-6 ]   [ 8-9  12-20  22-30 ]   [ 40-41 ]
 *	length_ns       3                  17                 1
 *
 * A span in the middle moves only those of its slab. A slab that is full is split, and one without
 * spans is removed. */
#include "analysis/base/intervals.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <string.h>

enum {
	SLAB = 1024,
	TRIM_SPANS = 1024 /* are dropped together, or more */
};

static uint64_t length_of(const struct vpa_interval *span)
{
	return span->end_ns - span->start_ns;
}

/* ---- finding ---- */

/* The first span that ends at `t_ns` or after it; past the last slab, if there is none. */
static struct vpa_intervals_at find(const struct vpa_intervals *s, uint64_t t_ns)
{
	struct vpa_intervals_at at = {0, 0};
	size_t low = 0, high = s->slab_count, middle;
	const struct vpa_intervals_slab *b;

	while (low < high) {
		middle = low + (high - low) / 2;
		b = &s->slabs[middle];
		if (b->spans[b->count - 1].end_ns >= t_ns)
			high = middle;
		else
			low = middle + 1;
	}
	at.slab = low;
	if (low == s->slab_count)
		return at;
	b = &s->slabs[low];
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

	if (at->slab == s->slab_count)
		return NULL;
	span = &s->slabs[at->slab].spans[at->i];
	if (++at->i == s->slabs[at->slab].count)
		*at = (struct vpa_intervals_at){at->slab + 1, 0};
	return span;
}

const struct vpa_interval *vpa_intervals_after(
	const struct vpa_intervals *s, uint64_t t_ns, struct vpa_intervals_at *at)
{
	*at = t_ns == UINT64_MAX ? (struct vpa_intervals_at){s->slab_count, 0} : find(s, t_ns + 1);
	return vpa_intervals_next(s, at);
}

/* ---- adding ---- */

/* Makes an empty slab. */
static int add_slab(struct vpa_intervals *s, size_t at)
{
	if (vpt_grow(&s->slabs, &s->slab_cap, s->slab_count + 1, sizeof(*s->slabs)))
		return VPT_ENOMEM;
	memmove(s->slabs + at + 1, s->slabs + at, (s->slab_count - at) * sizeof(*s->slabs));
	s->slabs[at] = (struct vpa_intervals_slab){.spans = NULL};
	s->slab_count++;
	return VPT_OK;
}

static void remove_slabs(struct vpa_intervals *s, size_t from, size_t to)
{
	size_t i;

	for (i = from; i < to; i++) {
		s->count -= s->slabs[i].count;
		vpt_free(s->slabs[i].spans);
	}
	s->slab_count -= to - from;
	memmove(s->slabs + from, s->slabs + to, (s->slab_count - from) * sizeof(*s->slabs));
}

/* Moves the upper half of a slab's spans to a new slab behind it. */
static int split(struct vpa_intervals *s, size_t slab)
{
	size_t kept = s->slabs[slab].count / 2, moved = s->slabs[slab].count - kept, i;
	struct vpa_interval *spans = NULL;
	struct vpa_intervals_slab *b;
	size_t cap = 0;

	if (vpt_grow(&spans, &cap, SLAB, sizeof(*spans)))
		return VPT_ENOMEM;
	if (add_slab(s, slab + 1)) {
		vpt_free(spans);
		return VPT_ENOMEM;
	}
	b = &s->slabs[slab];
	memcpy(spans, b->spans + kept, moved * sizeof(*spans));
	b[1] = (struct vpa_intervals_slab){.spans = spans, .count = moved, .cap = cap};
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
	struct vpa_intervals_slab *b;

	/* Behind the last one: at the end of the last slab, or of a new one. */
	if (at.slab == s->slab_count) {
		if (at.slab && s->slabs[at.slab - 1].count < SLAB)
			at = (struct vpa_intervals_at){at.slab - 1, s->slabs[at.slab - 1].count};
		else if (add_slab(s, at.slab))
			return VPT_ENOMEM;
	} else if (s->slabs[at.slab].count == SLAB) {
		if (split(s, at.slab))
			return VPT_ENOMEM;
		if (at.i > SLAB / 2)
			at = (struct vpa_intervals_at){at.slab + 1, at.i - SLAB / 2};
	}
	b = &s->slabs[at.slab];
	if (vpt_grow(&b->spans, &b->cap, b->count + 1, sizeof(*b->spans))) {
		if (!b->count)
			s->slab_count--;
		return VPT_ENOMEM;
	}
	memmove(b->spans + at.i + 1, b->spans + at.i, (b->count - at.i) * sizeof(*b->spans));
	b->spans[at.i] = *span;
	b->count++;
	s->count++;
	b->length_ns += length_of(span);
	return VPT_OK;
}

/* Removes the spans [from, to) of a slab, not all of them. */
static void remove_spans(struct vpa_intervals *s, size_t slab, size_t from, size_t to)
{
	struct vpa_intervals_slab *b = &s->slabs[slab];
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
	struct vpa_interval *span = &s->slabs[at.slab].spans[at.i];
	struct vpa_interval wide = {vpa_earlier(span->start_ns, to->start_ns), to->end_ns};

	/* `last` is one behind those to take in, unless it touches this one too. */
	if (last.slab < s->slab_count && s->slabs[last.slab].spans[last.i].start_ns <= to->end_ns) {
		wide.end_ns = s->slabs[last.slab].spans[last.i].end_ns;
		if (++last.i == s->slabs[last.slab].count)
			last = (struct vpa_intervals_at){last.slab + 1, 0};
	}
	s->slabs[at.slab].length_ns += length_of(&wide) - length_of(span);
	*span = wide;
	if (last.slab == at.slab) {
		remove_spans(s, at.slab, at.i + 1, last.i);
	} else {
		if (last.i)
			remove_spans(s, last.slab, 0, last.i);
		remove_spans(s, at.slab, at.i + 1, s->slabs[at.slab].count);
		remove_slabs(s, at.slab + 1, last.slab);
	}
}

int vpa_intervals_add(struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns)
{
	const struct vpa_interval span = {start_ns, end_ns};
	struct vpa_intervals_at at = {s->slab_count, 0};

	if (end_ns <= start_ns)
		return VPT_OK;
	if (s->count && vpa_intervals_last(s)->end_ns >= start_ns)
		at = find(s, start_ns);
	if (at.slab == s->slab_count || s->slabs[at.slab].spans[at.i].start_ns > end_ns)
		return insert(s, at, &span);
	widen(s, at, &span);
	return VPT_OK;
}

/* ---- the rest ---- */

void vpa_intervals_trim(struct vpa_intervals *s, uint64_t before_ns)
{
	size_t gone = 0, spans = 0;
	uint64_t ns = 0;

	while (gone < s->slab_count &&
		s->slabs[gone].spans[s->slabs[gone].count - 1].end_ns <= before_ns) {
		spans += s->slabs[gone].count;
		ns += s->slabs[gone++].length_ns;
	}
	if (spans < TRIM_SPANS)
		return;
	s->trimmed_ns += ns;
	s->trimmed_until_ns = vpa_later(
		s->trimmed_until_ns, s->slabs[gone - 1].spans[s->slabs[gone - 1].count - 1].end_ns);
	remove_slabs(s, 0, gone);
}

/* The length of the spans before this one in its slab, and of its part before `until_ns`. */
static uint64_t length_in(
	const struct vpa_intervals *s, struct vpa_intervals_at at, uint64_t until_ns)
{
	const struct vpa_intervals_slab *b;
	uint64_t ns = 0;
	size_t i;

	if (at.slab == s->slab_count)
		return 0;
	b = &s->slabs[at.slab];
	for (i = 0; i < at.i; i++)
		ns += length_of(&b->spans[i]);
	return until_ns > b->spans[i].start_ns ? ns + (until_ns - b->spans[i].start_ns) : ns;
}

/* How much of [start_ns, end_ns) the spans cover. */
static uint64_t covered(const struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns)
{
	struct vpa_intervals_at from = find(s, start_ns), to = find(s, end_ns);
	uint64_t ns = length_in(s, to, end_ns) - length_in(s, from, start_ns);

	for (; from.slab < to.slab; from.slab++)
		ns += s->slabs[from.slab].length_ns;
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
	if (s->slab_count)
		remove_slabs(s, 0, s->slab_count);
	vpt_free(s->slabs);
	memset(s, 0, sizeof(*s));
}
