/* code_places.h - lines of source: (function, file, line), interned by content and numbered.
 *
 * Numbers and texts stay valid until the table is freed. Its memory is bounded: beyond the limits
 * every new place is number 0. One thread at a time. */
#ifndef VPTRACE_TRACER_PYTHON_STACKS_CODE_PLACES_H
#define VPTRACE_TRACER_PYTHON_STACKS_CODE_PLACES_H

#include "formats/base/map.h"
#include "formats/chunk/strings.h"

#include <stddef.h>
#include <stdint.h>

enum {
	VTR_CODE_PLACE_UNKNOWN = 0,
	VTR_CODE_PLACES_MAX = 1 << 16,
	VTR_CODE_PLACES_TEXT_MAX = 2 << 20 /* bytes */
};

struct vtr_code_place {
	uint32_t function, file; /* numbers of texts */
	uint32_t line;           /* 0: unknown */
};

struct vtr_code_places {
	struct vpt_strings texts;
	struct vtr_code_place *all;
	size_t count, cap;
	struct vpt_map map;
	uint64_t refused; /* places that became number 0 */
};

/* 0 or VPT_ENOMEM. */
int vtr_code_places_init(struct vtr_code_places *p);
void vtr_code_places_free(struct vtr_code_places *p);

/* Interns UTF-8 text; UINT32_MAX: the limit, or no memory. */
uint32_t vtr_code_places_text(struct vtr_code_places *p, const char *text, size_t bytes);

/* Interns a place whose texts are interned. VTR_CODE_PLACE_UNKNOWN: the limit, no memory, or a text that
 * is UINT32_MAX. */
uint32_t vtr_code_places_put(struct vtr_code_places *p, const struct vtr_code_place *place);

static inline struct vpt_text vtr_code_place_function(
	const struct vtr_code_places *p, uint32_t place)
{
	return vpt_strings_get(&p->texts, p->all[place].function);
}

static inline struct vpt_text vtr_code_place_file(const struct vtr_code_places *p, uint32_t place)
{
	return vpt_strings_get(&p->texts, p->all[place].file);
}

#endif
