/* json_key.c - looks keys up in flat JSON objects. */
#include "analysis/base/json_key.h"

/* What follows `"key":`, from its first character that is no blank. Empty: there is no such key. */
static struct vpt_text value_of(struct vpt_text object, const char *key)
{
	const char *end = object.text + object.len;
	const char *at = object.len ? memmem(object.text, object.len, key, strlen(key)) : NULL;

	if (!at)
		return (struct vpt_text){"", 0};
	for (at += strlen(key); at < end && (*at == ' ' || *at == ':'); at++)
		;
	return (struct vpt_text){at, (size_t)(end - at)};
}

struct vpt_text vpa_json_key_text(struct vpt_text object, const char *key)
{
	struct vpt_text v = value_of(object, key);
	size_t len = 0;

	if (!v.len || *v.text != '"') {
		while (len < v.len && vpt_is_digit(v.text[len]))
			len++;
		return (struct vpt_text){v.text, len};
	}
	while (1 + len < v.len && v.text[1 + len] != '"')
		len++;
	return (struct vpt_text){v.text + 1, len};
}

uint64_t vpa_json_key_number(struct vpt_text object, const char *key)
{
	struct vpt_text digits = vpa_json_key_text(object, key);
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < digits.len; i++)
		if (!vpt_is_digit(digits.text[i]) || __builtin_mul_overflow(n, 10, &n) ||
			__builtin_add_overflow(n, (uint64_t)(digits.text[i] - '0'), &n))
			return 0;
	return n >> 63 ? 0 : n;
}
