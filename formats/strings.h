/* strings.h - a table of distinct strings, numbered from 0 in order of arrival.
 *
 * Strings are any bytes. The table owns copies; ids and texts stay valid until reset. */
#ifndef VPT_FORMATS_STRINGS_H
#define VPT_FORMATS_STRINGS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct vpt_text {
	const char *text; /* any bytes, not NUL-terminated; borrowed */
	size_t len;
};

struct vpt_strings {
	char *bytes;
	size_t size, size_cap;
	uint64_t *ends; /* where string i ends in bytes */
	size_t count, cap;
	uint32_t *slots; /* id + 1, open addressing; NULL until the first put */
	size_t slot_count;
};

#define VPT_NO_ID UINT64_MAX

/* All zeros is an empty table. */
void vpt_strings_reset(struct vpt_strings *s); /* empty, memory kept */
void vpt_strings_free(struct vpt_strings *s);

/* The id of a text, added if it is new. VPT_NO_ID when there is no memory. */
uint64_t vpt_strings_put(struct vpt_strings *s, const char *text, size_t len);

/* The id of a text; VPT_NO_ID: it is not there. */
uint64_t vpt_strings_find(const struct vpt_strings *s, const char *text, size_t len);

/* Appends a text as the next id even if it is there already (a reader keeps a file's numbering).
 * 0 or VPT_ENOMEM. Such a table must not be mixed with vpt_strings_put(). */
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

/* A hash of bytes for tables in memory; not stable across versions, never written to a file. */
static inline uint64_t vpt_hash_mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15u;
	h ^= h >> 29;
	return h;
}

static inline uint64_t vpt_hash(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = 0x2545f4914f6cdd1du ^ len, word;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		h = vpt_hash_mix(h ^ word) * 0xd6e8feb86659fd93u;
	}
	word = 0;
	if (len)
		memcpy(&word, p, len);
	return vpt_hash_mix(vpt_hash_mix(h ^ word));
}

#endif
