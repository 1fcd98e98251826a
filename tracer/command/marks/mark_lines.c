/* mark_lines.c - lines.py in C, without what the lines mean. The functions have the names that they have there. */
#include "tracer/command/marks/mark_lines.h"

#include "formats/base/utf8.h"
#include "tracer/command/marks/mark_values.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 64, FILE_MAX = 1 << 20 };

/* In the order of messages. */
static const struct kind {
	const char *name, *keys[6];
	int may_have_name;
} kinds[] = {
	{"block", {"frames", "latents", "index", "closes"}, 1},
	{"block begin", {"frames", "latents", "index", "key"}, 0},
	{"block end", {NULL}, 0},
	{"context", {"index", "closes"}, 1},
	{"frames", {"index", "frames"}, 0},
	{"none", {NULL}, 0},
	{"pass", {"frames", "latents", "timestep", "context", "key"}, 0},
	{"request", {"frames", "latents", "index", "facts", "closes"}, 1},
	{"stage", {"frames", "latents", "index", "closes"}, 1},
	{"step", {"index", "timestep", "context", "closes"}, 1},
	{"step begin", {"index", "timestep", "context", "key"}, 0},
	{"step end", {NULL}, 0},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct line {
	const char *file;
	size_t number;
	char *words[WORDS_MAX];
	size_t count;
	const struct kind *kind;
	int is_unsure;  /* Python is to judge the rest of it */
	unsigned given; /* a bit for each of the kind's keys that has stood in the line */
	struct vpt_err *err;
};

static int fail(const struct line *l, const char *expected, const char *found)
{
	const char *quote = *found ? "\"" : "";

	return vpt_fail(l->err, VPT_EINVAL, "%s:%zu: expected %s, found %s%s%s", l->file, l->number,
		expected, quote, *found ? found : "nothing", quote);
}

/* ---- names ---- */

/* Whether [text, end) is a name; `wild`: "*" may stand in it or for it. */
static int is_name(const char *text, const char *end, int wild)
{
	const char *at;

	for (at = text; at < end; at++)
		if (!isalnum((unsigned char)*at) && *at != '_' && !(wild && *at == '*'))
			return 0;
	return text < end && (!isdigit((unsigned char)*text) ||
				     (wild && memchr(text, '*', (size_t)(end - text))));
}

static int is_dotted(const char *text, int wild)
{
	const char *end;

	for (;; text = end + 1) {
		end = text + strcspn(text, ".");
		if (!is_name(text, end, wild))
			return 0;
		if (!*end)
			return 1;
	}
}

/* A name, which may be followed by that of a base class. */
static int is_part(const char *text, const char *end)
{
	const char *base = memchr(text, '(', (size_t)(end - text));

	if (!base)
		return is_name(text, end, 1);
	return is_name(text, base, 1) && end[-1] == ')' && is_name(base + 1, end - 1, 0);
}

/* ---- the parts of a line ---- */

static int check_target(const struct line *l)
{
	char *word = l->words[0], *colon = strchr(word, ':'), *text, *end, *next;
	int is_good;

	if (colon)
		*colon = '\0';
	is_good = colon && is_dotted(word, 1);
	if (colon)
		*colon = ':';
	if (!is_good)
		return fail(l, "a module, a colon and a name", word);
	for (text = colon + 1;; text = next + 1) {
		next = text + strcspn(text, ".");
		end = next;
		if (*next && !strchr(next + 1, '.') && end > text && end[-1] == '+')
			end--;
		if (!*next && end > text && end[-1] == '!')
			end--;
		if (!is_part(text, end))
			return fail(l, "names with dots between them after the colon", colon + 1);
		if (!*next)
			return VPT_OK;
	}
}

static const struct kind *kind_named(const char *first, const char *second)
{
	size_t i, len = strlen(first);

	for (i = 0; i < KINDS; i++) {
		const char *name = kinds[i].name;

		if (!second ? !strcmp(name, first)
			    : !strncmp(name, first, len) && name[len] == ' ' &&
					!strcmp(name + len + 1, second))
			return &kinds[i];
	}
	return NULL;
}

static int fail_kind(const struct line *l, const char *found)
{
	char names[256] = "one of ";
	size_t used = strlen(names), i;

	for (i = 0; i < KINDS; i++)
		used += (size_t)snprintf(
			names + used, sizeof(names) - used, "%s%s", i ? ", " : "", kinds[i].name);
	return fail(l, names, found);
}

static int fail_key(const struct line *l, const char *word)
{
	char keys[128] = "";
	size_t used = 0, i;

	for (i = 0; l->kind->keys[i]; i++)
		used += (size_t)snprintf(keys + used, sizeof(keys) - used, "%s%s=", i ? " or " : "",
			l->kind->keys[i]);
	snprintf(keys + used, sizeof(keys) - used, "%s for %s", used ? "" : "nothing more",
		l->kind->name);
	return fail(l, keys, word);
}

/* Without the quotes at both ends; in place. */
static char *unquoted(char *text)
{
	size_t len;

	text += strspn(text, "\"");
	for (len = strlen(text); len && text[len - 1] == '"'; len--)
		text[len - 1] = '\0';
	return text;
}

static int fail_value(const struct line *l, const char *mistake, const char *key, const char *text)
{
	char words[160];

	snprintf(words, sizeof(words), "%s as the value of %s=", mistake, key);
	return fail(l, words, text);
}

static int check_closes(const struct line *l, char *text)
{
	char *what;

	while ((what = strsep(&text, ",")))
		if (strcmp(what, "block") != 0 && strcmp(what, "step") != 0)
			return fail(l, "block or step after closes=", what);
	return VPT_OK;
}

/* Facts are values between commas, each with a name before a colon if it likes. */
static int check_facts(struct line *l, const char *text)
{
	char *facts = strdup(text), *rest = facts, *fact, *colon;
	const char *mistake = NULL;

	if (!facts)
		return vpt_fail(l->err, VPT_ENOMEM, "no memory for the marks");
	while (!mistake && !l->is_unsure && (fact = strsep(&rest, ","))) {
		colon = strchr(fact, ':');
		mistake = vtr_mark_value_mistake(colon ? colon + 1 : fact, &l->is_unsure);
	}
	free(facts);
	return mistake ? fail_value(l, mistake, "facts", text) : VPT_OK;
}

static int check_value(struct line *l, char *word)
{
	char *equals = strchr(word, '='), *text, once[32];
	const char *mistake, *key;
	size_t i, len = equals ? (size_t)(equals - word) : 0;

	for (i = 0; (key = l->kind->keys[i]); i++)
		if (equals && strlen(key) == len && !memcmp(word, key, len))
			break;
	if (!key)
		return fail_key(l, word);
	snprintf(once, sizeof(once), "a value for %s=", key);
	if (!equals[1 + strspn(equals + 1, "\"")])
		return fail(l, once, "");
	snprintf(once, sizeof(once), "%s= once", key);
	if (l->given & 1U << i)
		return fail(l, once, word);
	l->given |= 1U << i;
	text = unquoted(equals + 1);
	if (!strcmp(key, "closes"))
		return check_closes(l, text);
	if (!strcmp(key, "facts"))
		return check_facts(l, text);
	mistake = vtr_mark_value_mistake(text, &l->is_unsure);
	return mistake ? fail_value(l, mistake, key, text) : VPT_OK;
}

static int check_package(struct line *l)
{
	char found[512] = "";
	size_t used = 0, i;

	if (l->count == 2 && is_dotted(l->words[1], 0))
		return VPT_OK;
	for (i = 1; i < l->count && used < sizeof(found); i++)
		used += (size_t)snprintf(
			found + used, sizeof(found) - used, "%s%s", i > 1 ? " " : "", l->words[i]);
	return fail(l, "the name of one package", found);
}

static int check_mark(struct line *l)
{
	char two[512];
	size_t at = 2;
	const char *name = NULL;
	int rc;

	if (l->count < 2 || strcmp(l->words[1], "=") != 0) {
		snprintf(two, sizeof(two), "%s%s%s", l->words[0], l->count > 1 ? " " : "",
			l->count > 1 ? l->words[1] : "");
		return fail(l, "MODULE:NAME, \" = \" and a kind", two);
	}
	rc = check_target(l);
	if (rc)
		return rc;
	l->kind = l->count > 3 ? kind_named(l->words[2], l->words[3]) : NULL;
	at += l->kind ? 2 : 1;
	if (!l->kind && l->count > 2)
		l->kind = kind_named(l->words[2], NULL);
	if (!l->kind)
		return fail_kind(l, l->count > 2 ? l->words[2] : "");
	if (at < l->count && !strchr(l->words[at], '=')) {
		snprintf(two, sizeof(two), "no name for %s", l->kind->name);
		if (!l->kind->may_have_name)
			return fail(l, two, l->words[at]);
		name = unquoted(l->words[at++]);
	}
	if (!strcmp(l->kind->name, "stage") && (!name || !*name))
		return fail(l, "the stage's name", at < l->count ? l->words[at] : "");
	for (rc = VPT_OK; !rc && !l->is_unsure && at < l->count; at++)
		rc = check_value(l, l->words[at]);
	return rc;
}

/* ---- lines ---- */

static int is_space(char c)
{
	return c && strchr(" \t\n\v\f\r\x1c\x1d\x1e\x1f", c);
}

/* Divides a line into words, in place. Quotes keep spaces together; a comment is no word. Returns whether it is for
 * this parser: ASCII, and of no more words than there is room for. */
static int split(char *raw, struct line *l)
{
	int quoted = 0, in_word = 0;
	char *at;

	l->count = 0;
	for (at = raw; *at; at++) {
		if (!quoted && *at == '#' && (at == raw || !at[-1] || is_space(at[-1])))
			break;
		if ((unsigned char)*at >= 0x80)
			return 0;
		quoted ^= *at == '"';
		if (!quoted && is_space(*at)) {
			*at = '\0';
			in_word = 0;
		} else if (!in_word) {
			if (l->count == WORDS_MAX)
				return 0;
			l->words[l->count++] = at;
			in_word = 1;
		}
	}
	*at = '\0';
	return 1;
}

/* The end of a line as str.splitlines() has it, and in *next where the following one begins. */
static char *end_of_line(char *at, char **next)
{
	static const char *const ends[] = {"\r\n", "\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e",
		"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
	size_t i;

	for (; *at; at++)
		for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			if (!strncmp(at, ends[i], strlen(ends[i]))) {
				*next = at + strlen(ends[i]);
				return at;
			}
	*next = at;
	return at;
}

int vtr_mark_lines_check(const char *name, char *text, size_t len, struct vpt_err *err)
{
	struct line line = {.file = name, .err = err};
	char *end;
	int rc = VPT_OK;

	if (memchr(text, '\0', len)) /* of which lines.py knows what to say */
		return VPT_OK;
	for (line.number = 1; *text && !rc; line.number++) {
		char *raw = text;

		end = end_of_line(raw, &text);
		*end = '\0';
		line.given = 0;
		line.is_unsure = 0;
		if (!split(raw, &line) || !line.count)
			continue;
		rc = strcmp(line.words[0], "package") != 0 ? check_mark(&line)
							   : check_package(&line);
	}
	return rc;
}

/* Python reads no other text. */
static int check_utf8(const char *path, const char *text, size_t len, struct vpt_err *err)
{
	size_t at = 0, length = 1, line = 1;

	for (; at < len; at += length) {
		length = vpt_utf8_length(text + at, len - at, NULL);
		if (!length)
			return vpt_fail(err, VPT_EINVAL,
				"%.200s:%zu: expected UTF-8, found the byte 0x%02x", path, line,
				(unsigned char)text[at]);
		line += text[at] == '\n';
	}
	return VPT_OK;
}

int vtr_mark_file_check(const char *path, struct vpt_err *err)
{
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(FILE_MAX) : NULL;
	size_t len = text ? fread(text, 1, FILE_MAX - 1, file) : 0;
	int is_whole = text && feof(file), rc = VPT_OK;

	if (is_whole) {
		text[len] = '\0';
		rc = check_utf8(path, text, len, err);
		if (!rc)
			rc = vtr_mark_lines_check(path, text, len, err);
	}
	if (file)
		fclose(file);
	free(text);
	return rc;
}
