/* range_names.c - names without what emit_nvtx() appends. A file may hold any names, and long ones
 * are cut off, so only the first key and the beginning of its value are checked. */
#include "analysis/names/range_names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { DIGITS = 9 };

/* Whether a key of emit_nvtx() and the beginning of its value are at `text`. */
static int is_key(const char *text, size_t len)
{
	static const struct {
		const char *text;
		int is_list; /* the value begins with a bracket, else with a digit */
	} keys[] = {
		{", seq = ", 0}, {", op_id = ", 0}, {", sizes = ", 1}, {", input_op_ids = ", 1}};
	size_t i, n;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		n = strlen(keys[i].text);
		if (len <= n || memcmp(text, keys[i].text, n))
			continue;
		return keys[i].is_list ? text[n] == '[' : text[n] >= '0' && text[n] <= '9';
	}
	return 0;
}

size_t vpa_range_name_len(const char *name, size_t len)
{
	const char *at = len ? memchr(name, ',', len) : NULL, *end = name + len;

	for (; at; at = memchr(at + 1, ',', (size_t)(end - at - 1)))
		if (at > name && is_key(at, (size_t)(end - at)))
			return (size_t)(at - name);
	return len;
}

int vpa_range_is_process_wide(const char *name, size_t len)
{
	static const char prefix[] = "ProfilerStep#";
	size_t n = sizeof(prefix) - 1;

	return len > n && !memcmp(name, prefix, n) && name[n] >= '0' && name[n] <= '9';
}

int vpa_range_names_operator(const char *name, size_t len)
{
	size_t i = 0;

	while (i < len && (isalnum((unsigned char)name[i]) || name[i] == '_'))
		i++;
	return i && i + 2 < len && name[i] == ':' && name[i + 1] == ':';
}

int vpa_range_is_decoder(const char *name, size_t len)
{
	static const char *const words[] = {"vae", "decode"};
	size_t i, at, n;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (at = 0, n = strlen(words[i]); at + n <= len; at++)
			if (!strncasecmp(name + at, words[i], n))
				return 1;
	return 0;
}

/* ---- numbers ---- */

/* Also of a word in another alphabet. */
static int is_letter(char c)
{
	return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t without(const char *name, size_t len, const char *bytes)
{
	while (len && strchr(bytes, name[len - 1]))
		len--;
	return len;
}

static size_t before_number(const char *name, size_t len)
{
	while (len && is_digit(name[len - 1]))
		len--;
	return len;
}

/* "7" of "7 of 9" and "7/9". */
static size_t without_total(const char *name, size_t len)
{
	size_t at = before_number(name, len), end = without(name, at, " ");

	if (end && name[end - 1] == '/')
		end = without(name, end - 1, " ");
	else if (end > 3 && end < at && !strncasecmp(name + end - 3, " of", 3))
		end = without(name, end - 3, " ");
	else
		return len;
	return end && is_digit(name[end - 1]) ? end : len;
}

/* Whether the last word is one of parts of a model, of devices, or of parts of a program that do different work. Class names end with
 * it: "DecoderLayer". */
static int names_a_part(const char *stem, size_t len)
{
	static const char *const words[] = {"layer", "layers", "block", "blocks", "rank", "gpu",
		"device", "cuda", "worker", "thread", "stream", "head", "expert", "module", "stage",
		"phase"};
	size_t i, n;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		n = strlen(words[i]);
		if (n <= len && !strncasecmp(stem + len - n, words[i], n))
			return 1;
	}
	return 0;
}

size_t vpa_range_stem(const char *name, size_t len, uint64_t *number)
{
	size_t end = without_total(name, without(name, len, " )]>")), i,
	       at = before_number(name, end), stem = without(name, at, " _-#:=([</");

	if (at == end || end - at > DIGITS || !stem || !is_letter(name[stem - 1]) ||
		names_a_part(name, stem))
		return 0;
	for (*number = 0, i = at; i < end; i++)
		*number = 10 * *number + (uint64_t)(name[i] - '0');
	return stem;
}
