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

/* Ids of texts that were put lately. All zeros knows none; so does a table that is reset or freed need. */
struct vpt_recent {
	uint32_t ids[512]; /* 1 + id, by a number that is cheaper than a hash */
};

/* The same as vpt_strings_put(), for texts of which most repeat: hashes only those that are not recent. */
static inline uint64_t vpt_strings_put_recent(
	struct vpt_strings *s, struct vpt_recent *r, const char *text, size_t len);

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

static inline uint64_t vpt_strings_put_recent(
	struct vpt_strings *s, struct vpt_recent *r, const char *text, size_t len)
{
	uint64_t first = 0, last = 0, id;
	struct vpt_text known;
	uint32_t *slot;

	if (len >= sizeof(first)) {
		memcpy(&first, text, sizeof(first));
		memcpy(&last, text + len - sizeof(last), sizeof(last));
	} else if (len) {
		memcpy(&first, text, len);
	}
	slot = &r->ids[((first ^ last << 1 ^ len) * 0x9e3779b97f4a7c15u) >> 55];
	if (*slot) {
		known = vpt_strings_get(s, *slot - 1);
		if (known.len == len && !memcmp(known.text, text, len))
			return *slot - 1;
	}
	id = vpt_strings_put(s, text, len);
	if (id < UINT32_MAX)
		*slot = (uint32_t)id + 1;
	return id;
}

#endif
