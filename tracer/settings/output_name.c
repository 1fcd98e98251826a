/* output_name.c - the name of a capture's file.
 *
 * A small builder knows two sorts of text: the user's own, kept as it is, and text from elsewhere
 * (variables, host, command), cleaned so that it can neither name another folder nor need quoting
 * in a shell. Whether the name is taken is checked when the file is created. */
#include "tracer/settings/output_name.h"

#include "tracer/guest/environment.h"
#include "formats/base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_LENGTH_MAX = 64, VARIABLE_LENGTH_MAX = 255, PATTERN_LENGTH_MAX = 4096 };

struct name {
	char *out;
	size_t size, used;
	int overflow;
};

static void put_char(struct name *n, char c)
{
	if (n->used + 1 >= n->size) {
		n->overflow = 1;
		return;
	}
	n->out[n->used++] = c;
	n->out[n->used] = '\0';
}

static void put_text(struct name *n, const char *text)
{
	while (*text)
		put_char(n, *text++);
}

static void put_number(struct name *n, long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", number);
	put_text(n, text);
}

/* Not isalnum(3), which depends on the locale. */
static int is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("._+-", c));
}

static void put_cleaned(struct name *n, const char *text, size_t len)
{
	int in_front = 1;
	size_t i;

	for (i = 0; i < len; i++) {
		in_front = in_front && text[i] == '.';
		put_char(n, is_plain(text[i]) && !in_front ? text[i] : '_');
	}
}

static void put_host(struct name *n)
{
	char host[256] = "";

	if (gethostname(host, sizeof(host) - 1) || !*host)
		put_text(n, "none");
	else
		put_cleaned(n, host, strlen(host));
}

/* `*at` is at the q of %q{VAR} and moves to the closing brace. */
static int put_variable(struct name *n, const char **at, const char *pattern, struct vpt_err *err)
{
	const char *begin = *at + 2, *end = (*at)[1] == '{' ? strchr(begin, '}') : NULL;
	char variable[VARIABLE_LENGTH_MAX + 1];
	const char *value;
	size_t len = end ? (size_t)(end - begin) : 0;

	if (!len || len > VARIABLE_LENGTH_MAX)
		return vpt_fail(err, VPT_EINVAL,
			"\"%.200s\": expected %%q{VARIABLE}, found \"%%%.40s\"", pattern, *at);
	memcpy(variable, begin, len);
	variable[len] = '\0';
	value = vtr_environment(variable);
	if (value)
		put_cleaned(n, value, strlen(value));
	else
		put_text(n, "none");
	*at = end;
	return VPT_OK;
}

static int put_sequence(
	struct name *n, const char **at, long rank, const char *pattern, struct vpt_err *err)
{
	switch (**at) {
	case '%':
		put_char(n, '%');
		return VPT_OK;
	case 'p':
		put_number(n, (long)getpid());
		return VPT_OK;
	case 'r':
		put_number(n, rank < 0 ? 0 : rank);
		return VPT_OK;
	case 'h':
		put_host(n);
		return VPT_OK;
	case 'q':
		return put_variable(n, at, pattern, err);
	default:
		return vpt_fail(err, VPT_EINVAL,
			"\"%.200s\": expected %%p, %%h, %%r, %%q{VARIABLE} or %%%%, "
			"found \"%%%.1s\"",
			pattern, *at);
	}
}

static int check_name(const struct name *n, const char *pattern, struct vpt_err *err)
{
	const char *slash = strrchr(n->out, '/');
	const char *last = slash ? slash + 1 : n->out;

	if (n->overflow)
		return vpt_fail(err, VPT_EINVAL,
			"\"%.200s\": expected at most %zu bytes when expanded, found more", pattern,
			n->size - 1);
	if (!*last || !strcmp(last, ".") || !strcmp(last, ".."))
		return vpt_fail(err, VPT_EINVAL, "\"%.200s\": expected a file name, found a folder",
			pattern);
	return VPT_OK;
}

int vtr_output_expand(const char *pattern, long rank, char *out, size_t size, struct vpt_err *err)
{
	struct name n = {.out = out, .size = size};
	const char *at;
	int rc = VPT_OK;

	out[0] = '\0';
	for (at = pattern; *at && !rc; at++) {
		if (*at != '%') {
			put_char(&n, *at);
			continue;
		}
		at++;
		rc = put_sequence(&n, &at, rank, pattern, err);
		if (rc)
			break;
	}
	if (!rc)
		rc = check_name(&n, pattern, err);
	if (rc)
		out[0] = '\0';
	return rc;
}

/* ---- names of other processes ---- */

/* What is known of a place in the pattern: the path so far may end before it, where a sequence has taken
 * nothing yet, or something. */
enum { BEFORE = 1, WITHIN = 2 };

static int is_sequence(const char *pattern)
{
	return pattern[0] == '%' && pattern[1] != '%';
}

size_t vtr_output_width(const char *pattern)
{
	const char *end = is_sequence(pattern) && pattern[1] == 'q' ? strchr(pattern, '}') : NULL;

	if (end)
		return (size_t)(end - pattern) + 1;
	return pattern[0] == '%' && pattern[1] ? 2 : 1;
}

static int may_insert(const char *sequence, char c, int known)
{
	if (sequence[1] == 'p' || sequence[1] == 'r')
		return c >= '0' && c <= '9';
	return is_plain(c) && (c != '.' || known & WITHIN);
}

/* Goes through the path once, and keeps all places of the pattern at which it may be. */
static int fits(const char *pattern, const char *path)
{
	unsigned char now[PATTERN_LENGTH_MAX + 64] = {BEFORE}, next[sizeof(now)];
	size_t len = strlen(pattern), i;

	for (;; path++) {
		memset(next, 0, sizeof(next));
		for (i = 0; i < len; i++) {
			if (!now[i])
				continue;
			if (is_sequence(pattern + i)) {
				now[i + vtr_output_width(pattern + i)] |= BEFORE;
				if (may_insert(pattern + i, *path, now[i]))
					next[i] |= WITHIN;
			} else if (*path == pattern[i]) {
				next[i + vtr_output_width(pattern + i)] |= BEFORE;
			}
		}
		if (!*path)
			return now[len] != 0;
		memcpy(now, next, sizeof(now));
	}
}

int vtr_output_fits(const char *pattern, const char *path)
{
	static const char name[] =
		"vptrace-%q{COMMAND}-%p.zst"; /* a rank is like a part of the command */
	char whole[PATTERN_LENGTH_MAX + sizeof(name)];
	size_t len = strlen(pattern);

	if (len > PATTERN_LENGTH_MAX)
		return 0;
	snprintf(
		whole, sizeof(whole), "%s%s", pattern, !len || pattern[len - 1] == '/' ? name : "");
	return fits(whole, path);
}

void vtr_output_default(const char *command, long rank, char *out, size_t size)
{
	struct name n = {.out = out, .size = size};

	out[0] = '\0';
	put_text(&n, "vptrace-");
	put_cleaned(&n, command, strnlen(command, COMMAND_LENGTH_MAX));
	if (rank >= 0) {
		put_text(&n, "-r");
		put_number(&n, rank);
	}
	put_char(&n, '-');
	put_number(&n, (long)getpid());
	put_text(&n, ".zst");
}

/* ---- the command ---- */

struct words {
	const char *at, *end;
};

/* NULL: none left. The last one ends with NUL even if the text was cut. */
static const char *next_word(struct words *w)
{
	const char *word = w->at, *end;

	if (word >= w->end)
		return NULL;
	end = memchr(word, '\0', (size_t)(w->end - word));
	if (!end)
		return NULL;
	w->at = end + 1;
	return word;
}

/* What a Python interpreter runs: the first word that is neither an option nor an option's
 * argument. Sets *is_module after -m. NULL: a program text (-c), standard input, nothing. */
static const char *python_operand(struct words *w, int *is_module)
{
	const char *word, *letter;

	*is_module = 0;
	while ((word = next_word(w)) != NULL) {
		if (word[0] != '-')
			return word;
		if (!strcmp(word, "--"))
			return next_word(w);
		if (word[1] == '-')
			continue;
		letter = strpbrk(word + 1, "cmWX");
		if (!word[1] || (letter && *letter == 'c'))
			return NULL;
		if (letter && *letter == 'm') {
			*is_module = 1;
			return letter[1] ? letter + 1 : next_word(w);
		}
		if (letter && !letter[1])
			next_word(w);
	}
	return NULL;
}

void vtr_output_command(const char *words, size_t words_bytes, char *out, size_t size)
{
	struct words w = {words, words + words_bytes};
	const char *command = next_word(&w), *operand = NULL;
	int is_module = 0;
	size_t len;

	if (command) {
		command = vpt_file_name(command);
		command += *command == '-'; /* a login shell's */
		if (!strncmp(command, "python", 6) || !strncmp(command, "pypy", 4))
			operand = python_operand(&w, &is_module);
		if (operand && !is_module)
			operand = vpt_file_name(operand);
		if (operand && *operand)
			command = operand;
	} else {
		command = "";
	}
	len = strlen(command);
	if (command == operand && len > 3 && !strcmp(command + len - 3, ".py"))
		len -= 3;
	if (len >= size)
		len = size - 1;
	memcpy(out, command, len);
	out[len] = '\0';
}
