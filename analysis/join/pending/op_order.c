/* op_order.c - whether the rows of a section of ops are in order, and in which order they come otherwise. */
#include "analysis/join/pending/op_queue.h"

#include "formats/base/vectorise.h"

#include <stdlib.h>

static int row_before(const struct vpt_section *s, uint32_t a, uint32_t b)
{
	if (vpa_op_start(s, a) != vpa_op_start(s, b))
		return vpa_op_start(s, a) < vpa_op_start(s, b);
	if (vpa_op_correlation(s, a) != vpa_op_correlation(s, b))
		return vpa_op_correlation(s, a) < vpa_op_correlation(s, b);
	return a < b;
}

static int compare_rows(const void *pa, const void *pb, void *section)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return row_before(section, a, b) ? -1 : row_before(section, b, a);
}

/* Whether each number is greater than the one before; also refuses numbers with the top bit set. */
VPT_VECTORISE
static int rise(const uint64_t *numbers, size_t count)
{
	uint64_t bad = 0;
	size_t i;

	for (i = 1; i < count; i++)
		bad |= numbers[i] | (numbers[i] - numbers[i - 1] - 1);
	return !(bad >> 63);
}

int vpa_ops_in_order(const struct vpt_section *s)
{
	uint32_t i;

	if (s->row_count && s->col[0][0] <= INT64_MAX && rise(s->col[0], s->row_count))
		return 1;
	for (i = 1; i < s->row_count; i++)
		if (vpa_op_start(s, i - 1) >= vpa_op_start(s, i) && !row_before(s, i - 1, i))
			return 0;
	return 1;
}

/* Kernels that overlap on one stream are a place or two out of order: insertion sort is then
 * linear. Anything worse is sorted. */
void vpa_ops_sort(const struct vpt_section *s, uint32_t *order)
{
	size_t moves = 16 * (size_t)s->row_count, i, at;

	for (i = 0; i < s->row_count; i++) {
		for (at = i; at && moves && row_before(s, (uint32_t)i, order[at - 1]);
			at--, moves--)
			order[at] = order[at - 1];
		order[at] = (uint32_t)i;
	}
	if (!moves)
		qsort_r(order, s->row_count, sizeof(*order), compare_rows, (void *)(uintptr_t)s);
}
