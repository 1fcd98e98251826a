/* strings.h - a table of distinct strings, numbered from 0 in order of arrival.
 *
 * Strings are any bytes. The table owns copies; ids and texts stay valid until reset. */
#ifndef VPT_FORMATS_CHUNK_STRINGS_H
#define VPT_FORMATS_CHUNK_STRINGS_H

#include "formats/base/map.h"
#include "formats/base/text.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct vpt_strings {
	char *bytes;
	size_t size, size_cap;
	uint64_t *ends; /* where string i ends in bytes */
	size_t count, cap;
	struct vpt_map map; /* ids by text */
};

#define VPT_NO_ID UINT64_MAX

/* All zeros is an empty table. */
void vpt_strings_reset(struct vpt_strings *s); /* empty, memory kept */
void vpt_strings_free(struct vpt_strings *s);

/* Interns a text and returns its id; VPT_NO_ID when there is no memory. */
uint64_t vpt_strings_put(struct vpt_strings *s, const char *text, size_t len);

/* The id of a text; VPT_NO_ID if it is not in the table. */
uint64_t vpt_strings_find(const struct vpt_strings *s, const char *text, size_t len);

/* Appends a text as the next id even if the table has it already (a reader keeps the file's ids).
 * 0 or VPT_ENOMEM. Do not mix with vpt_strings_put() in one table. */
int vpt_strings_append(struct vpt_strings *s, const char *text, size_t len);

/* The text of an id; out of range gives "?". */
static inline struct vpt_text vpt_strings_get(const struct vpt_strings *s, uint64_t id)
{
	struct vpt_text t = {"?", 1};

	if (id < s->count) {
		uint64_t begin = id ? s->ends[id - 1] : 0;

		t.len = (size_t)(s->ends[id] - begin);
		t.text = t.len ? s->bytes + begin : "";
	}
	return t;
}

#endif
