/* arena.h - allocations that are freed together. */
#ifndef VPA_ANALYSIS_BASE_ARENA_H
#define VPA_ANALYSIS_BASE_ARENA_H

#include "formats/base/error.h"

#include <stddef.h>

struct vpa_arena {
	struct vpa_arena_slab *slabs;
	int failed; /* sticky: an allocation failed, all later ones return NULL */
};

/* An all-zero struct is an empty arena. Memory is zeroed and 16-aligned; NULL: no memory, or
 * overflow. */
void *vpa_arena_alloc(struct vpa_arena *a, size_t count, size_t size);
/* A NUL-terminated copy; NUL bytes inside become spaces. "" if there is no memory. */
const char *vpa_arena_text(struct vpa_arena *a, const char *text, size_t len);
VPT_PRINTF(2, 3)
const char *vpa_arena_printf(struct vpa_arena *a, const char *fmt, ...);
void vpa_arena_free(struct vpa_arena *a);

#endif
