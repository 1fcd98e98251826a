/* code_places.c - a table of lines of source. */
#include "tracer/python_stacks/code_places.h"

#include "formats/base/error.h"
#include "formats/base/hash.h"
#include "formats/base/memory.h"

#include <string.h>

static uint32_t append(struct vtr_code_places *p, const struct vtr_code_place *place, uint64_t hash)
{
	if (p->count == VTR_CODE_PLACES_MAX ||
		vpt_grow(&p->all, &p->cap, p->count + 1, sizeof(*p->all)) ||
		vpt_map_put(&p->map, hash, (uint32_t)p->count)) {
		p->refused++;
		return VTR_CODE_PLACE_UNKNOWN;
	}
	p->all[p->count] = *place;
	return (uint32_t)p->count++;
}

int vtr_code_places_init(struct vtr_code_places *p)
{
	struct vtr_code_place unknown = {0};

	memset(p, 0, sizeof(*p));
	unknown.function = unknown.file = vtr_code_places_text(p, "?", 1);
	append(p, &unknown, vpt_hash(&unknown, sizeof(unknown)));
	if (p->count == 1 && unknown.file == 0)
		return VPT_OK;
	vtr_code_places_free(p);
	return VPT_ENOMEM;
}

void vtr_code_places_free(struct vtr_code_places *p)
{
	vpt_strings_free(&p->texts);
	vpt_map_free(&p->map);
	vpt_free(p->all);
	memset(p, 0, sizeof(*p));
}

uint32_t vtr_code_places_text(struct vtr_code_places *p, const char *text, size_t bytes)
{
	uint64_t id = p->texts.size + bytes <= VTR_CODE_PLACES_TEXT_MAX
			      ? vpt_strings_put(&p->texts, text, bytes)
			      : vpt_strings_find(&p->texts, text, bytes);

	return id < UINT32_MAX ? (uint32_t)id : UINT32_MAX;
}

uint32_t vtr_code_places_put(struct vtr_code_places *p, const struct vtr_code_place *place)
{
	uint64_t hash = vpt_hash(place, sizeof(*place)), at = hash;
	uint32_t n;

	if (place->function == UINT32_MAX || place->file == UINT32_MAX) {
		p->refused++;
		return VTR_CODE_PLACE_UNKNOWN;
	}
	while ((n = vpt_map_next(&p->map, hash, &at)) != VPT_MAP_NONE)
		if (!memcmp(&p->all[n], place, sizeof(*place)))
			return n;
	return append(p, place, hash);
}
