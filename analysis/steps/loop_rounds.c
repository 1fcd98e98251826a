/* loop_rounds.c - groups steps into rows, and rows with what lies between them into rounds. */
#include "analysis/steps/loop_rounds.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"

enum {
	FEW = 8,     /* ops */
	ROWS_MAX = 3 /* in a round */
};

void vpa_loop_rows_free(struct vpa_loop_rows *rows)
{
	vpt_free(rows->first);
	*rows = (struct vpa_loop_rows){0};
}

static int ends_row(const struct vpa_loop *loop, size_t i)
{
	/* A pass that is no step may follow it. */
	return i + 1 == loop->step_count || !loop->steps[i].followed ||
	       loop->steps[i].next != loop->steps[i + 1].begin;
}

static unsigned steps_of(const struct vpa_loop_rows *rows, size_t i)
{
	return (unsigned)(rows->first[i + 1] - rows->first[i]);
}

/* Ops between a row and the next one. */
static uint32_t ops_between(const struct vpa_loop *loop, const struct vpa_loop_rows *rows, size_t i)
{
	size_t next = rows->first[i + 1];

	return loop->steps[next].begin - loop->steps[next - 1].end;
}

static int are_alike(uint32_t a, uint32_t b)
{
	uint32_t more = a > b ? a : b, less = a > b ? b : a;

	return more - less <= FEW || 10 * (uint64_t)(more - less) <= more;
}

/* After how many rows the same lies between rows again; 0: that is not seen. */
static unsigned rows_in_round(const struct vpa_loop *loop, const struct vpa_loop_rows *rows)
{
	unsigned n;
	size_t i;

	if (rows->count == 2)
		return 1;
	for (n = 1; n <= ROWS_MAX && n + 2 <= rows->count; n++) {
		for (i = 0; i + n + 1 < rows->count; i++)
			if (!are_alike(ops_between(loop, rows, i), ops_between(loop, rows, i + n)))
				break;
		if (i + n + 1 == rows->count)
			return n;
	}
	return 0;
}

int vpa_loop_rows_find(const struct vpa_loop *loop, struct vpa_loop_rows *rows)
{
	size_t i;

	rows->first = vpt_calloc(loop->step_count + 1, sizeof(*rows->first));
	if (!rows->first)
		return VPT_ENOMEM;
	for (i = 0; i < loop->step_count; i++)
		if (ends_row(loop, i))
			rows->first[++rows->count] = i + 1;
	if (rows->count < 2)
		return VPT_OK;
	rows->steps = steps_of(rows, rows->count > 2);
	for (i = 1; i + 1 < rows->count; i++)
		if (steps_of(rows, i) != rows->steps)
			rows->steps = 0;
	rows->in_round = rows_in_round(loop, rows);
	return VPT_OK;
}

/* Only the first row and the last one may be cut. */
static int may_be_rounds(const struct vpa_loop_rows *rows)
{
	return rows->steps > 1 && rows->in_round && steps_of(rows, 0) <= rows->steps &&
	       steps_of(rows, rows->count - 1) <= rows->steps;
}

int vpa_loop_rows_are_whole(const struct vpa_loop_rows *rows)
{
	return rows->steps > 1 && steps_of(rows, 0) == rows->steps &&
	       steps_of(rows, rows->count - 1) == rows->steps;
}

int vpa_loop_rounds_find(
	const struct vpa_loop *loop, const struct vpa_loop_rows *rows, struct vpa_loop *rounds)
{
	size_t i;

	if (!may_be_rounds(rows))
		return VPT_OK;
	rounds->steps = vpt_calloc(rows->count, sizeof(*rounds->steps));
	if (!rounds->steps)
		return VPT_ENOMEM;
	for (i = steps_of(rows, 0) < rows->steps; i < rows->count; i += rows->in_round) {
		size_t next_row = i + rows->in_round;
		size_t next = rows->first[next_row < rows->count ? next_row : rows->count];
		struct vpa_loop_step *round = &rounds->steps[rounds->step_count++];

		*round = (struct vpa_loop_step){loop->steps[rows->first[i]].begin,
			loop->steps[next - 1].end, next_row < rows->count, 0};
		round->next = round->followed ? loop->steps[next].begin : round->end;
	}
	return VPT_OK;
}
