/* calls.c - looks calls up. Callers look up and classify each distinct name once, so a linear scan
 * of a few hundred entries is enough. Classes by number are queried per call and so cached. */
#include "formats/calls.h"

#include <stdatomic.h>
#include <string.h>

static const struct call {
	const char *name;
	uint8_t len;
	uint16_t number;
} calls[] = {
#define VPT_CALL_NAME(number, name) {name, sizeof(name) - 1, number},
#include "formats/calls.def"
};

static const struct {
	const char *patterns; /* separated by single blanks */
	enum vpt_call_class klass;
} kinds[] = {
#define VPT_CALL_KIND(CLASS, patterns) {patterns, VPT_CALL_##CLASS},
#include "formats/calls.def"
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
enum { NUMBER_LIMIT = 256 };

static const char *const name_of[NUMBER_LIMIT] = {
#define VPT_CALL_NAME(number, name) [number] = name,
#include "formats/calls.def"
};

/* ---- names ---- */

static int ends_with(const char *name, size_t len, const char *ending)
{
	size_t n = strlen(ending);

	return len > n && !memcmp(name + len - n, ending, n);
}

/* Cuts "_v<digits>", "_ptsz", "_ptds" and "_spt", in any order and number, off the end. */
static size_t bare_length(const char *name, size_t len)
{
	for (;;) {
		size_t end = len;

		if (ends_with(name, len, "_ptsz") || ends_with(name, len, "_ptds")) {
			len -= 5;
			continue;
		}
		if (ends_with(name, len, "_spt")) {
			len -= 4;
			continue;
		}
		while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
			end--;
		if (end == len || end < 3 || name[end - 1] != 'v' || name[end - 2] != '_')
			return len;
		len = end - 2;
	}
}

uint32_t vpt_call_find(const char *name, size_t len)
{
	size_t bare = bare_length(name, len), i;

	for (i = 0; i < CALLS; i++)
		if (calls[i].len == bare && !memcmp(calls[i].name, name, bare))
			return calls[i].number;
	return 0;
}

const char *vpt_call_name(uint32_t number)
{
	return number < NUMBER_LIMIT ? name_of[number] : NULL;
}

/* ---- classes ---- */

/* Whether the pattern [p, p_end) matches all of [s, s_end). Never backtracks before the last `*`,
 * which matches the least that lets the rest match; so the time is at most the product of both
 * lengths. */
static int matches(const char *p, const char *p_end, const char *s, const char *s_end)
{
	const char *star = NULL, *tried = NULL;

	while (s < s_end) {
		if (p < p_end && *p == '*') {
			star = ++p;
			tried = s;
		} else if (p < p_end && *p == *s) {
			p++;
			s++;
		} else if (star) {
			p = star;
			s = ++tried;
		} else {
			return 0;
		}
	}
	while (p < p_end && *p == '*')
		p++;
	return p == p_end;
}

static int matches_any(const char *patterns, const char *s, const char *s_end)
{
	while (*patterns) {
		size_t len = strcspn(patterns, " ");

		if (matches(patterns, patterns + len, s, s_end))
			return 1;
		patterns += len + (patterns[len] == ' ');
	}
	return 0;
}

/* The name after any underscores and "cuda", "cu" or "hip"; the whole name if it has no such
 * prefix. */
static const char *after_prefix(const char *name, const char *end)
{
	static const char *const prefixes[] = {"cuda", "cu", "hip"};
	const char *p = name;
	size_t i;

	while (p < end && *p == '_')
		p++;
	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if ((size_t)(end - p) >= n && !memcmp(p, prefixes[i], n))
			return p + n;
	}
	return name;
}

enum vpt_call_class vpt_call_class_of(const char *name, size_t len)
{
	const char *end = name + bare_length(name, len), *rest = after_prefix(name, end);
	size_t i;

	for (i = 0; i < KINDS; i++)
		if (matches_any(kinds[i].patterns, rest, end))
			return kinds[i].klass;
	return VPT_CALL_OTHER;
}

enum vpt_call_class vpt_call_class(uint32_t number)
{
	/* 1 + class; 0: not computed yet. Concurrent threads store the same value. */
	static _Atomic uint8_t known[NUMBER_LIMIT];
	const char *name = vpt_call_name(number);
	uint8_t klass;

	if (!name)
		return VPT_CALL_OTHER;
	klass = atomic_load_explicit(&known[number], memory_order_relaxed);
	if (!klass) {
		klass = (uint8_t)(1 + vpt_call_class_of(name, strlen(name)));
		atomic_store_explicit(&known[number], klass, memory_order_relaxed);
	}
	return (enum vpt_call_class)(klass - 1);
}

int vpt_call_launches(enum vpt_call_class klass)
{
	return klass == VPT_CALL_LAUNCH || klass == VPT_CALL_GRAPH_LAUNCH ||
	       klass == VPT_CALL_COPY || klass == VPT_CALL_BLOCKING_COPY ||
	       klass == VPT_CALL_MEMSET;
}

int vpt_call_moves_t_min(enum vpt_call_class klass, uint64_t duration_ns)
{
	const uint64_t long_ns = 1000000000;

	if (vpt_call_launches(klass))
		return 1;
	return klass != VPT_CALL_SYNC && klass != VPT_CALL_QUERY &&
	       klass != VPT_CALL_EVENT_RECORD && duration_ns <= long_ns;
}
