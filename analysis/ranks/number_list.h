/* number_list.h - numbers in words, "0, 3, 5 to 7". */
#ifndef VPA_ANALYSIS_RANKS_NUMBER_LIST_H
#define VPA_ANALYSIS_RANKS_NUMBER_LIST_H

#include "analysis/base/arena.h"

#include <stdint.h>

/* Ascending numbers; after eight stretches "and N more". The text is in the arena. */
const char *vpa_number_list(struct vpa_arena *arena, const int64_t *numbers, size_t count);

#endif
