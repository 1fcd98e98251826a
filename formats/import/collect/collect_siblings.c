/* collect_siblings.c - calls and ranges of a thread that overlap in part since a writer rounded their times.
 *
 * A thread ends one call, or push/pop range, before it begins the next, so two of them lie apart or one in the other. A file with
 * times and lengths of its own rounding, such as microseconds since 1970 that went through a double, may let the first end in the
 * second, or the inner one after the outer. Such a denoising step would count as inside another, or as beside its block. So what
 * is too long by no more than VPT_ROUNDED_NS, and half of it, is cut: the first where the second begins, or the inner one where the
 * outer ends.
 *
 * Exports of our own, and of Nsight Systems, have exact times. Rows are compared in the file's order, as far as those of a
 * thread are in the order of their starts. */
#include "formats/import/collect/collect.h"

#include "formats/base/memory.h"
#include "formats/clocks.h"
#include "formats/import/collect/collect_state.h"

/* Rows of one kind that are open on a thread: each began no earlier than the one before. */
struct stack {
	uint64_t **rows;
	size_t count, cap;
};

static uint64_t start_of(const uint64_t *row)
{
	return row[1];
}

static uint64_t end_of(const uint64_t *row)
{
	return row[1] + row[2];
}

/* Whether rounding explains so much of a row. */
static int is_rounded(const uint64_t *row, uint64_t ns)
{
	return ns <= VPT_ROUNDED_NS && ns <= row[2] / 2;
}

/* Cuts one of two rows that overlap in part, where rounding explains it. */
static void part_two(uint64_t *row, uint64_t *next)
{
	uint64_t start = start_of(next), end = end_of(row), over = end - start;

	if (start <= start_of(row) || start >= end || end >= end_of(next))
		return;
	if (is_rounded(row, over))
		row[2] -= over;
	else if (is_rounded(next, end_of(next) - end))
		next[2] = over;
}

static int add(struct stack *s, uint64_t *row)
{
	/* Times in another order: what came before says nothing. */
	if (s->count && start_of(s->rows[s->count - 1]) > start_of(row))
		s->count = 0;
	while (s->count) {
		part_two(s->rows[s->count - 1], row);
		if (end_of(s->rows[s->count - 1]) > start_of(row))
			break;
		s->count--;
	}
	if (vpt_grow(&s->rows, &s->cap, s->count + 1, sizeof(*s->rows)))
		return VPT_ENOMEM;
	s->rows[s->count++] = row;
	return VPT_OK;
}

/* Whether rows like it nest on their thread. */
static int nests(const struct vpt_collect *c, unsigned kind, const uint64_t *row)
{
	uint64_t columns[VPT_COLUMNS_MAX];

	if (!row[0] || row[0] > c->lane_count || end_of(row) < start_of(row))
		return 0;
	if (kind == VPT_CALL || !(c->kinds[kind].stored >> VPT_RANGE_RANGE_KIND & 1))
		return 1;
	vpt_collect_columns(c, kind, row, columns);
	return columns[VPT_RANGE_RANGE_KIND] == VPT_RANGEKIND_PUSH_POP;
}

static int part(struct vpt_collect *c, unsigned kind)
{
	struct stack *stacks = vpt_calloc(c->lane_count + 1, sizeof(*stacks));
	size_t i;
	int rc = VPT_OK;

	if (!stacks)
		return VPT_ENOMEM;
	for (i = 0; i < c->kinds[kind].count && !rc; i++) {
		uint64_t *row = vpt_collect_row_at(c, kind, i);

		if (nests(c, kind, row))
			rc = add(&stacks[row[0]], row);
	}
	for (i = 0; i <= c->lane_count; i++)
		vpt_free(stacks[i].rows);
	vpt_free(stacks);
	return rc;
}

int vpt_collect_part_siblings(struct vpt_collect *c)
{
	int rc = c->times_are_exact ? VPT_OK : part(c, VPT_CALL);

	return rc || c->times_are_exact ? rc : part(c, VPT_RANGE);
}
