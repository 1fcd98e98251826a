/* long_names.c - shortens strings and moves the rest together. */
#include "analysis/names/long_names.h"

void vpa_long_names_begin(struct vpa_long_names *l, uint64_t file_bytes)
{
	uint64_t more = file_bytes < UINT64_MAX / 2 / VPA_LONG_NAMES_A_FILE_BYTE
				? file_bytes * VPA_LONG_NAMES_A_FILE_BYTE
				: UINT64_MAX / 2;

	*l = (struct vpa_long_names){.left_bytes = VPA_LONG_NAMES_BASE + more};
}

static int has_long(const struct vpt_strings *s)
{
	uint64_t begin = 0;
	size_t i;

	for (i = 0; i < s->count; begin = s->ends[i++])
		if (s->ends[i] - begin > VPA_NAME_USUAL)
			return 1;
	return 0;
}

/* How much of a name to keep; never splits a UTF-8 character. */
static size_t kept_of(struct vpa_long_names *l, const char *name, size_t len)
{
	size_t keep = len < VPA_NAME_MAX ? len : VPA_NAME_MAX;

	if (len <= VPA_NAME_USUAL)
		return len;
	if (keep > l->left_bytes)
		keep = VPA_NAME_USUAL;
	l->left_bytes -= keep < l->left_bytes ? keep : l->left_bytes;
	if (keep == len)
		return len;
	l->cut++;
	while (keep > VPA_NAME_USUAL - 4 && ((unsigned char)name[keep] & 0xc0) == 0x80)
		keep--;
	return keep;
}

void vpa_long_names_cut(struct vpa_long_names *l, struct vpt_strings *s)
{
	uint64_t begin = 0, size = 0;
	size_t i;

	if (!has_long(s))
		return;
	for (i = 0; i < s->count; i++) {
		size_t len = (size_t)(s->ends[i] - begin);
		size_t keep = kept_of(l, s->bytes + begin, len);

		memmove(s->bytes + size, s->bytes + begin, keep);
		begin = s->ends[i];
		s->ends[i] = size += keep;
	}
	s->size = (size_t)size;
}
