/* blocks_plain_parts.h - which ranges without a meaning are stages of the blocks that they begin in. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_PLAIN_PARTS_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_PLAIN_PARTS_H

#include "analysis/folds/blocks/blocks_groups.h"

/* Sets is_part of the rows of plain parts, of which vpa_row_kind() knows nothing before. Needs the blocks of all groups. */
void vpa_plain_parts_choose(struct vpa_blocks_writer *w);

#endif
