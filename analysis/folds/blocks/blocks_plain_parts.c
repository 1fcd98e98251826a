/* blocks_plain_parts.c - stages that only their place makes some.
 *
 * A program names its ranges as it likes, so a range directly in a block is a part of it whatever its name is. It is a stage
 * if blocks regularly have it, if it matters, and if it holds no step and no stage: those say more. */
#include "analysis/folds/blocks/blocks_groups.h"

/* It is in three of four blocks or more, and has 1 / this of their GPUs' busy time or more. */
enum { SHARE = 20 };

/* Whether the row is one, of the blocks of all requests. */
static int is_part(const struct vpa_blocks_writer *w, uint32_t row)
{
	uint64_t all_ns = 0, ns = 0;
	size_t blocks = 0, with = 0, g, i;

	for (g = 0; g < w->group_count; g++)
		for (i = 0; i < w->groups[g].block_count; i++) {
			uint32_t id = w->groups[g].blocks[i].id;
			const struct vpa_stage_sum *sum = vpa_stage_sum_of(w, id, row);

			blocks++;
			all_ns += w->s->gpu[id].busy_ns;
			with += sum != NULL;
			ns += sum ? sum->busy_ns : 0;
		}
	return blocks && with >= blocks - blocks / 4 && ns >= all_ns / SHARE;
}

void vpa_plain_parts_choose(struct vpa_blocks_writer *w)
{
	struct vpa_blocks_table *s = w->s;
	uint32_t row;

	for (row = 0; row < s->row_index.count; row++)
		if (s->rows[row].source == VPA_SOURCE_PLACE && !s->rows[row].holds_scopes)
			s->rows[row].is_part = is_part(w, row);
}
