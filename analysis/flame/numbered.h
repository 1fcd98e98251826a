/* numbered.h - frames whose names differ only in a number at their end: "Block_0" to "Block_35", the layers of a model.
 *
 * PyTorch's profiler numbers the modules of a class. Such frames run the same code, and apart they make a picture of as many thin
 * towers. */
#ifndef VPA_ANALYSIS_FLAME_NUMBERED_H
#define VPA_ANALYSIS_FLAME_NUMBERED_H

#include "analysis/report/rows/code_line.h"

/* Of each stack, the first one whose innermost frame is the same: its kind, apart from such a number; itself, in all. */
struct vpa_numbered {
	uint32_t *kind, *self;
};

/* Fills *out for all stacks. 0 or VPT_ENOMEM; free it with vpa_numbered_free() also after a failure. */
int vpa_numbered_find(const struct vpa_lines *lines, struct vpa_numbered *out);
void vpa_numbered_free(struct vpa_numbered *n);

/* The length of a name without the number at its end, which follows '_', '.' or '#'. The whole length if it has none. */
size_t vpa_numbered_stem(const char *name);

#endif
