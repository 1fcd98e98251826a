/* batch_order.c - sorts the rows of a section by their ends: a permutation first, then each column. */
#include "formats/chunk/batch.h"

#include "formats/base/memory.h"
#include "formats/event_schema.h"

#include <stdlib.h>
#include <string.h>

struct place {
	uint64_t end_ns;
	uint32_t row;
};

/* Of equal ends, the row that was put first: an inner call is put before the one around it. */
static int by_end(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int is_ordered(const struct vpt_section *s)
{
	const uint64_t *starts = s->col[0], *durations = s->col[1];
	uint64_t before = 0, end;
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		end = starts[i] + durations[i];
		if (end < before)
			return 0;
		before = end;
	}
	return 1;
}

static void permute(struct vpt_section *s, const struct place *places, uint64_t *spare)
{
	unsigned c;
	uint32_t i;

	for (c = 0; c < VPT_COLUMNS_MAX; c++) {
		if (!vpt_section_has(s, c))
			continue;
		for (i = 0; i < s->row_count; i++)
			spare[i] = s->col[c][places[i].row];
		memcpy(s->col[c], spare, s->row_count * sizeof(*spare));
	}
}

static int order(struct vpt_section *s)
{
	struct place *places = vpt_alloc(s->row_count, sizeof(*places));
	uint64_t *spare = vpt_alloc(s->row_count, sizeof(*spare));
	int rc = places && spare ? VPT_OK : VPT_ENOMEM;
	uint32_t i;

	if (rc)
		goto out;
	for (i = 0; i < s->row_count; i++)
		places[i] = (struct place){s->col[0][i] + s->col[1][i], i};
	qsort(places, s->row_count, sizeof(*places), by_end);
	permute(s, places, spare);
out:
	vpt_free(places);
	vpt_free(spare);
	return rc;
}

int vpt_batch_order(struct vpt_batch *b)
{
	const struct vpt_kind_desc *kind;
	int rc = VPT_OK;
	size_t i;

	for (i = 0; i < b->section_count && !rc; i++) {
		kind = vpt_kind_desc(b->sections[i].kind);
		if (kind && kind->flags & VPT_KIND_SPAN && !is_ordered(&b->sections[i]))
			rc = order(&b->sections[i]);
	}
	return rc;
}
