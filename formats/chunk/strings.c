/* strings.c - distinct strings: their bytes concatenated, their ends, and a map from text to id. */
#include "formats/chunk/strings.h"

#include "formats/base/error.h"
#include "formats/base/hash.h"
#include "formats/base/memory.h"

void vpt_strings_reset(struct vpt_strings *s)
{
	s->size = 0;
	s->count = 0;
	vpt_map_reset(&s->map);
}

void vpt_strings_free(struct vpt_strings *s)
{
	vpt_free(s->bytes);
	vpt_free(s->ends);
	vpt_map_free(&s->map);
	memset(s, 0, sizeof(*s));
}

int vpt_strings_append(struct vpt_strings *s, const char *text, size_t len)
{
	/* One byte more, so that a lone empty string has an address too. */
	if (len >= SIZE_MAX - s->size || vpt_grow(&s->bytes, &s->size_cap, s->size + len + 1, 1) ||
		vpt_grow(&s->ends, &s->cap, s->count + 1, sizeof(*s->ends)))
		return VPT_ENOMEM;
	if (len)
		memcpy(s->bytes + s->size, text, len);
	s->size += len;
	s->ends[s->count++] = s->size;
	return VPT_OK;
}

/* The id of a text with this hash; VPT_MAP_NONE if it is not in the table. */
static inline uint32_t find(
	const struct vpt_strings *s, uint64_t hash, const char *text, size_t len)
{
	uint64_t at = hash;
	uint32_t id;

	while ((id = vpt_map_next(&s->map, hash, &at)) != VPT_MAP_NONE) {
		struct vpt_text t = vpt_strings_get(s, id);

		if (t.len == len && !memcmp(t.text, text, len))
			break;
	}
	return id;
}

uint64_t vpt_strings_find(const struct vpt_strings *s, const char *text, size_t len)
{
	uint32_t id = find(s, vpt_hash(text, len), text, len);

	return id == VPT_MAP_NONE ? VPT_NO_ID : id;
}

uint64_t vpt_strings_put(struct vpt_strings *s, const char *text, size_t len)
{
	uint64_t hash = vpt_hash(text, len);
	uint32_t id = find(s, hash, text, len);

	if (id != VPT_MAP_NONE)
		return id;
	if (s->count >= VPT_MAP_NONE || vpt_strings_append(s, text, len))
		return VPT_NO_ID;
	if (!vpt_map_put(&s->map, hash, (uint32_t)(s->count - 1)))
		return s->count - 1;
	/* Remove it: a text that the map does not find would be added again. */
	s->count--;
	s->size -= len;
	return VPT_NO_ID;
}
