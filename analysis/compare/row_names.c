/* row_names.c - a map over the hashes of names. */
#include "analysis/compare/comparison_steps.h"

#include "formats/base/error.h"
#include "formats/base/text.h"

#include <string.h>

static uint64_t hash_of_text(const char *text)
{
	return text ? vpt_hash(text, strlen(text)) : 0;
}

static uint64_t hash_of(const struct vpa_row_name *n)
{
	const uint64_t words[] = {
		hash_of_text(n->name), hash_of_text(n->kind), (uint64_t)n->device};

	return vpt_hash_words(words, 3);
}

static int is_same(const struct vpa_row_name *a, const struct vpa_row_name *b)
{
	return a->device == b->device && vpt_same_text(a->name, b->name) &&
	       vpt_same_text(a->kind, b->kind);
}

static size_t find(
	const struct vpa_row_names *names, const struct vpa_row_name *name, uint64_t hash)
{
	uint64_t at = hash;
	uint32_t row;

	while ((row = vpt_map_next(&names->map, hash, &at)) != VPT_MAP_NONE) {
		struct vpa_row_name other = names->name_of(names->rows, row);

		if (is_same(&other, name))
			return row;
	}
	return SIZE_MAX;
}

size_t vpa_row_names_find(const struct vpa_row_names *names, const struct vpa_row_name *name)
{
	return find(names, name, hash_of(name));
}

int vpa_row_names_put(struct vpa_row_names *names, size_t i)
{
	struct vpa_row_name name = names->name_of(names->rows, i);
	uint64_t hash = hash_of(&name);

	if (find(names, &name, hash) != SIZE_MAX)
		return 0;
	if (i >= VPT_MAP_NONE || vpt_map_put(&names->map, hash, (uint32_t)i))
		return VPT_ENOMEM;
	return 1;
}
