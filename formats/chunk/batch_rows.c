/* batch_rows.c - leaves out rows of a section. */
#include "formats/chunk/batch.h"

void vpt_section_keep_until(struct vpt_section *s, unsigned column, uint64_t last)
{
	uint32_t from, to = 0;
	unsigned c;

	for (from = 0; from < s->row_count; from++) {
		if (s->col[column][from] > last)
			continue;
		for (c = 0; to < from && c < VPT_COLUMNS_MAX; c++)
			if (vpt_section_has(s, c))
				s->col[c][to] = s->col[c][from];
		to++;
	}
	s->row_count = to;
}
