/* range_names.c - names without what emit_nvtx() appends. A file may hold any names, and long ones
 * are cut off, so only the first key and the beginning of its value are checked. */
#include "analysis/names/range_names.h"

#include "formats/base/count.h"
#include "formats/base/text.h"

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

/* ---- what is loaded ----
 *
 * What from_pretrained() loads was trained, whatever it is for. What else is loaded the words after "load" say, then
 * those before: of a class. */

/* The next word between `at` and `end`; its text is NULL if there is none. */
static struct vpt_text next_word(const char *at, const char *end)
{
	const char *to;

	while (at < end && !isalnum((unsigned char)*at))
		at++;
	for (to = at; to < end && isalnum((unsigned char)*to);)
		to++;
	return (struct vpt_text){at < to ? at : NULL, (size_t)(to - at)};
}

static int begins_so(const char *at, const char *end, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(end - at) >= len && !strncasecmp(at, word, len);
}

/* Where a name has such a word; NULL: nowhere. */
static const char *find_word(struct vpt_text name, const char *word)
{
	const char *end = name.text + name.len;
	struct vpt_text w;

	for (w = next_word(name.text, end); w.text; w = next_word(w.text + w.len, end))
		if (begins_so(w.text, end, word))
			return w.text;
	return NULL;
}

int vpa_range_has_word(const char *name, size_t len, const char *word)
{
	return find_word((struct vpt_text){name, len}, word) != NULL;
}

int vpa_range_is_encoder(const char *name, size_t len)
{
	return vpa_range_has_word(name, len, "encod") && !vpa_range_has_word(name, len, "decod");
}

enum loaded { LOADED_UNKNOWN, LOADED_KEPT, LOADED_DATA, LOADED_END };

/* What a word says of what is loaded: it can be kept, or is new each time. A name in English has its thing last, "text
 * encoder", "model inputs", unless a preposition follows. */
static enum loaded loaded_of_word(struct vpt_text word)
{
	static const struct {
		const char *start;
		enum loaded is;
	} words[] = {{"lora", LOADED_KEPT}, {"weight", LOADED_KEPT}, {"adapter", LOADED_KEPT},
		{"model", LOADED_KEPT}, {"checkpoint", LOADED_KEPT}, {"state", LOADED_KEPT},
		{"pipeline", LOADED_KEPT}, {"transformer", LOADED_KEPT}, {"unet", LOADED_KEPT},
		{"vae", LOADED_KEPT}, {"encoder", LOADED_KEPT}, {"decoder", LOADED_KEPT},
		{"tokenizer", LOADED_KEPT}, {"input", LOADED_DATA}, {"data", LOADED_DATA},
		{"image", LOADED_DATA}, {"video", LOADED_DATA}, {"audio", LOADED_DATA},
		{"frame", LOADED_DATA}, {"batch", LOADED_DATA}, {"latent", LOADED_DATA},
		{"prompt", LOADED_DATA}, {"token", LOADED_DATA}, {"text", LOADED_DATA},
		{"noise", LOADED_DATA}, {"cond", LOADED_DATA}};
	static const char *const ends[] = {
		"for", "from", "to", "into", "of", "on", "in", "with", "by"};
	size_t i;

	for (i = 0; i < COUNT(ends); i++)
		if (word.len == strlen(ends[i]) && !strncasecmp(word.text, ends[i], word.len))
			return LOADED_END;
	for (i = 0; i < COUNT(words); i++)
		if (begins_so(word.text, word.text + word.len, words[i].start))
			return words[i].is;
	return LOADED_UNKNOWN;
}

/* The last word between `at` and `end` that says it. */
static enum loaded loaded_in(const char *at, const char *end)
{
	enum loaded last = LOADED_UNKNOWN;
	struct vpt_text w;

	for (w = next_word(at, end); w.text; w = next_word(w.text + w.len, end)) {
		enum loaded is = loaded_of_word(w);

		if (is == LOADED_END && last)
			break;
		last = is == LOADED_UNKNOWN || is == LOADED_END ? last : is;
	}
	return last;
}

int vpa_range_loads(const char *name, size_t len)
{
	const char *load = find_word((struct vpt_text){name, len}, "load_");
	enum loaded what;

	if (vpa_range_has_word(name, len, "from_pretrained") ||
		vpa_range_has_word(name, len, "from_single_file"))
		return 1;
	if (!load)
		return 0;
	what = loaded_in(load + strlen("load_"), name + len);
	return (what ? what : loaded_in(name, load)) == LOADED_KEPT;
}
