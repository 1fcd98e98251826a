/* strings.c - distinct strings: bytes one after the other, their ends, and a hash of ids over them. */
#include "formats/strings.h"

#include "formats/error.h"
#include "formats/memory.h"

void vpt_strings_reset(struct vpt_strings *s)
{
	s->size = 0;
	s->count = 0;
	if (s->slots)
		memset(s->slots, 0, s->slot_count * sizeof(*s->slots));
}

void vpt_strings_free(struct vpt_strings *s)
{
	vpt_free(s->bytes);
	vpt_free(s->ends);
	vpt_free(s->slots);
	memset(s, 0, sizeof(*s));
}

int vpt_strings_append(struct vpt_strings *s, const char *text, size_t len)
{
	/* One byte more, so that the empty string alone has an address too. */
	if (len >= SIZE_MAX - s->size || vpt_grow(&s->bytes, &s->size_cap, s->size + len + 1, 1) ||
		vpt_grow(&s->ends, &s->cap, s->count + 1, sizeof(*s->ends)))
		return VPT_ENOMEM;
	if (len)
		memcpy(s->bytes + s->size, text, len);
	s->size += len;
	s->ends[s->count++] = s->size;
	return VPT_OK;
}

/* Where a text is, or the free slot where it belongs. */
static uint32_t *slot_of(const struct vpt_strings *s, const char *text, size_t len)
{
	size_t mask = s->slot_count - 1, i = vpt_hash(text, len) & mask;

	for (;; i = (i + 1) & mask) {
		struct vpt_text t;

		if (!s->slots[i])
			return &s->slots[i];
		t = vpt_strings_get(s, s->slots[i] - 1);
		if (t.len == len && !memcmp(t.text, text, len))
			return &s->slots[i];
	}
}

static int grow_slots(struct vpt_strings *s)
{
	size_t want = s->slot_count ? s->slot_count * 2 : 64, i;
	uint32_t *slots;

	if (s->count >= UINT32_MAX - 1)
		return VPT_ENOMEM;
	slots = vpt_calloc(want, sizeof(*slots));
	if (!slots)
		return VPT_ENOMEM;
	vpt_free(s->slots);
	s->slots = slots;
	s->slot_count = want;
	for (i = 0; i < s->count; i++) {
		struct vpt_text t = vpt_strings_get(s, i);

		*slot_of(s, t.text, t.len) = (uint32_t)(i + 1);
	}
	return VPT_OK;
}

uint64_t vpt_strings_find(const struct vpt_strings *s, const char *text, size_t len)
{
	const uint32_t *slot = s->slot_count ? slot_of(s, text, len) : NULL;

	return slot && *slot ? *slot - 1 : VPT_NO_ID;
}

uint64_t vpt_strings_put(struct vpt_strings *s, const char *text, size_t len)
{
	uint32_t *slot;

	if (s->count * 2 >= s->slot_count && grow_slots(s))
		return VPT_NO_ID;
	slot = slot_of(s, text, len);
	if (!*slot) {
		if (vpt_strings_append(s, text, len))
			return VPT_NO_ID;
		*slot = (uint32_t)s->count;
	}
	return *slot - 1;
}
