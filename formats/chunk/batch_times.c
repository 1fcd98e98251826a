/* batch_times.c - the times of a chunk: the earliest that a later chunk may not pass, the latest, and how many events it has.
 *
 * Every chunk that is written is measured, so rows are examined in stretches that the compiler makes vectors of. */
#include "formats/chunk/batch.h"

#include "formats/base/vectorise.h"
#include "formats/calls.h"

/* The smallest start and the largest end of spans. Ignores invalid times; no start is below `first`. */
VPT_VECTORISE
static void span_bounds(const uint64_t *starts, const uint64_t *durations, size_t count,
	uint64_t first, uint64_t *least, uint64_t *largest)
{
	uint64_t from = UINT64_MAX, to = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t start = starts[i], end = start + durations[i];
		uint64_t valid = 0 - (uint64_t)((end >= start) & (start >= first));

		to = (end & valid) > to ? (end & valid) : to;
		from = (start | ~valid) < from ? (start | ~valid) : from;
	}
	*least = from;
	*largest = to;
}

/* The same where all times are valid and below 2^63, as they usually are: with signed numbers, which take a fourth of the
 * instructions. Returns 0 where they are not. */
VPT_VECTORISE
static int usual_bounds(const uint64_t *starts, const uint64_t *durations, size_t count,
	uint64_t *least, uint64_t *largest)
{
	int64_t from = INT64_MAX, to = 0;
	uint64_t bad = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t start = (int64_t)starts[i], end = (int64_t)(starts[i] + durations[i]);

		/* A start beyond is in its end, or the duration is too. */
		bad |= durations[i] | (uint64_t)end | (starts[i] - 1);
		from = start < from ? start : from;
		to = end > to ? end : to;
	}
	*least = (uint64_t)from;
	*largest = (uint64_t)to;
	return !(bad >> 63);
}

/* Which rows of a kind move t_min: none, all, or some (vpt_call_moves_t_min()). */
enum moves { MOVES_NOT, MOVES, MAY_MOVE };

static enum moves moves_t_min(const struct vpt_kind_desc *kind)
{
	if (kind->type == VPT_CALL || kind->type == VPT_SYNC)
		return MAY_MOVE;
	return kind->flags & VPT_KIND_OP || kind->type == VPT_LOSS || kind->type == VPT_OVERHEAD
		       ? MOVES
		       : MOVES_NOT;
}

static int call_moves(uint64_t id, uint64_t duration_ns)
{
	return vpt_call_moves_t_min(vpt_call_class((uint32_t)id), duration_ns);
}

static int row_moves(const struct vpt_section *s, size_t row)
{
	if (s->kind == VPT_CALL)
		return call_moves(s->col[VPT_CALL_ID][row], s->col[VPT_CALL_DURATION][row]);
	return s->col[VPT_SYNC_SYNC_KIND][row] == VPT_SYNCKIND_STREAM_WAIT;
}

uint64_t vpt_batch_row_t_min(
	const struct vpt_kind_desc *kind, const uint64_t *columns, int zero_is_time)
{
	enum moves moves = moves_t_min(kind);
	uint64_t start = columns[0];

	if (moves == MOVES_NOT || (!start && !zero_is_time) || start + columns[1] < start)
		return UINT64_MAX;
	if (moves == MAY_MOVE &&
		!(kind->type == VPT_CALL
				? call_moves(columns[VPT_CALL_ID], columns[VPT_CALL_DURATION])
				: columns[VPT_SYNC_SYNC_KIND] == VPT_SYNCKIND_STREAM_WAIT))
		return UINT64_MAX;
	return start;
}

/* Rows are examined one by one only in a stretch with a row that could move t_min. */
enum { MEASURE_STRETCH = 512 };

static void measure_spans(
	struct vpt_batch *b, const struct vpt_section *s, const struct vpt_kind_desc *kind)
{
	const uint64_t *starts = s->col[0], *durations = s->col[1];
	uint64_t first = b->zero_is_time ? 0 : 1;
	enum moves moves = moves_t_min(kind);
	size_t at, rows, row;

	for (at = 0; at < s->row_count; at += rows) {
		uint64_t least, largest;

		rows = s->row_count - at < MEASURE_STRETCH ? s->row_count - at : MEASURE_STRETCH;
		if (!usual_bounds(starts + at, durations + at, rows, &least, &largest))
			span_bounds(starts + at, durations + at, rows, first, &least, &largest);
		if (largest > b->t_max_ns)
			b->t_max_ns = largest;
		if (moves == MOVES && least < b->t_min_ns)
			b->t_min_ns = least;
		if (moves != MAY_MOVE || least >= b->t_min_ns)
			continue;
		for (row = at; row < at + rows; row++)
			if (starts[row] >= first && starts[row] < b->t_min_ns &&
				starts[row] + durations[row] >= starts[row] && row_moves(s, row))
				b->t_min_ns = starts[row];
	}
}

void vpt_batch_measure(struct vpt_batch *b)
{
	size_t i;

	b->t_min_ns = UINT64_MAX;
	b->t_max_ns = 0;
	b->event_count = 0;
	for (i = 0; i < b->section_count; i++) {
		const struct vpt_section *s = &b->sections[i];
		const struct vpt_kind_desc *kind = vpt_kind_desc(s->kind);
		uint32_t row;

		if (!(kind->flags & VPT_KIND_EVENT))
			continue;
		b->event_count += s->row_count;
		if (kind->flags & VPT_KIND_SPAN)
			measure_spans(b, s, kind);
		else if (s->kind != VPT_SAMPLE)
			for (row = 0; row < s->row_count; row++)
				if (s->col[0][row] > b->t_max_ns)
					b->t_max_ns = s->col[0][row];
	}
}
