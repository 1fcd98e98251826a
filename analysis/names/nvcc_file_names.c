/* nvcc_file_names.c - skips the names of files in the names of kernels, whether their lengths are right or not. */
#include "analysis/names/nvcc_file_names.h"

#include <string.h>

static size_t count_hex(const char *p, const char *end)
{
	const char *from = p;

	while (p < end && ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f')))
		p++;
	return (size_t)(p - from);
}

/* The number at p, with its count of digits in *digits; 0 if it is no length or has more than four
 * digits. */
static size_t read_length(const char *p, const char *end, size_t *digits)
{
	size_t value = 0;

	for (*digits = 0; p < end && *p >= '0' && *p <= '9' && *digits < 5; p++, ++*digits)
		value = value * 10 + (size_t)(*p - '0');
	return *digits < 5 ? value : 0;
}

static int is_identifier(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z');
}

/* The end of "_<hash>_<length>_<file>_<hash>" at p, where `length` counts the file, "attention_cu".
 * NULL if this is something else. If the length is wrong, the file ends at the first
 * "_cu_<hash>". */
static const char *skip_hashed(const char *p, const char *end)
{
	enum { HASH_MIN = 8, HASH_MAX = 32, FILE_MAX = 256 };
	size_t hash, digits, length, left, i;

	if (p == end || *p != '_')
		return NULL;
	hash = count_hex(++p, end);
	if (hash < HASH_MIN || hash > HASH_MAX || (size_t)(end - p) <= hash || p[hash] != '_')
		return NULL;
	p += hash + 1;
	length = read_length(p, end, &digits);
	p += digits;
	if (!digits || p == end || *p++ != '_')
		return NULL;
	left = (size_t)(end - p);
	if (left > length + hash && p[length] == '_' &&
		count_hex(p + length + 1, p + length + 1 + hash) == hash)
		return p + length + 1 + hash;
	for (i = 0; i < FILE_MAX && left - i >= 4 + hash && is_identifier(p[i]); i++)
		if (!memcmp(p + i, "_cu_", 4) && count_hex(p + i + 4, p + i + 4 + hash) == hash)
			return p + i + 4 + hash;
	return NULL;
}

/* The end of the identifier that begins at `id`, if the mangled name gives its length in the digits
 * before it. Those may follow a digit of another identifier, so three are tried, then two; in a
 * mangled name a digit or a capital follows. */
static const char *skip_counted(const char *name, const char *id, const char *end)
{
	size_t digits, used, length, i;

	for (digits = 3; digits >= 2; digits--) {
		if ((size_t)(id - name) < digits)
			continue;
		length = read_length(id - digits, id, &used);
		if (used != digits || length < sizeof(VPA_NVCC_PREFIX) ||
			length > (size_t)(end - id))
			continue;
		for (i = 0; i < length && is_identifier(id[i]);)
			i++;
		if (i == length && (id + i == end || (id[i] >= '0' && id[i] <= '9') ||
					   (id[i] >= 'A' && id[i] <= 'Z')))
			return id + length;
	}
	return NULL;
}

size_t vpa_nvcc_file_name_end(const char *name, size_t len, size_t at)
{
	const char *prefix_end = name + at + sizeof(VPA_NVCC_PREFIX) - 1;
	const char *p = skip_hashed(prefix_end, name + len);

	if (!p)
		p = skip_counted(name, name + at, name + len);
	return (size_t)((p ? p : prefix_end) - name);
}

void vpa_kernel_name_plain(char *text, size_t cap, const char *name, size_t len)
{
	enum { PREFIX = sizeof(VPA_NVCC_PREFIX) - 1 };
	size_t i, n = 0;

	for (i = 0; i < len && n < cap - 1;) {
		if (name[i] == '_' && len - i >= PREFIX &&
			!memcmp(name + i, VPA_NVCC_PREFIX, PREFIX)) {
			size_t next = vpa_nvcc_file_name_end(name, len, i);

			if (next > i + PREFIX) {
				i = next;
				continue;
			}
		}
		text[n++] = name[i] ? name[i] : '?';
		i++;
	}
	text[n] = '\0';
}
