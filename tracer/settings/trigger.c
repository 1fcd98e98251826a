/* trigger.c - parses VPTRACE_CAPTURE: a word, and after a colon its argument. */
#include "tracer/settings/trigger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS_MAX = 100 * 366 * 24 * 3600u };

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits up to `end`. 0, or -1: other characters, none, or too large. */
static int read_number(const char *text, const char *end, uint64_t *out)
{
	const char *p;

	*out = 0;
	for (p = text; p < end; p++)
		if (!is_digit(*p) || __builtin_mul_overflow(*out, 10u, out) ||
			__builtin_add_overflow(*out, (uint64_t)(*p - '0'), out))
			return -1;
	return p == text ? -1 : 0;
}

int vtr_seconds_read(const char *text, uint64_t *ns)
{
	const char *end = text + strlen(text), *point = strchr(text, '.'), *p;
	uint64_t whole = 0, parts = 0, place = 100000000;

	*ns = 0;
	if (read_number(text, point ? point : end, &whole) || whole > SECONDS_MAX)
		return -1;
	for (p = point ? point + 1 : end; p < end; p++, place /= 10) {
		if (!is_digit(*p) || !place)
			return -1;
		parts += (uint64_t)(*p - '0') * place;
	}
	if (point && point + 1 == end)
		return -1;
	*ns = whole * 1000000000 + parts;
	return 0;
}

/* "NAME" or "NAME:COUNT". What begins with a digit or a sign after the last colon is a count, or a mistake:
 * "a:2-3" is no name, since one that ends like this needs a count of its own. */
static int read_range(const char *text, struct vtr_trigger *out)
{
	const char *end = text + strlen(text), *colon = strrchr(text, ':');

	if (colon && (is_digit(colon[1]) || colon[1] == '-' || colon[1] == '+')) {
		if (read_number(colon + 1, end, &out->count) || !out->count)
			return -1;
		end = colon;
	}
	if (end == text || end - text >= VTR_TRIGGER_NAME_MAX)
		return -1;
	snprintf(out->name, sizeof(out->name), "%.*s", (int)(end - text), text);
	return 0;
}

/* "A-B", or "A" alone. */
static int read_steps(const char *text, struct vtr_trigger *out)
{
	const char *end = text + strlen(text), *dash = strchr(text, '-');

	if (read_number(text, dash ? dash : end, &out->first))
		return -1;
	out->last = out->first;
	if (dash && read_number(dash + 1, end, &out->last))
		return -1;
	return out->last < out->first || out->last == UINT64_MAX ? -1 : 0;
}

static int read_delay(const char *text, struct vtr_trigger *out)
{
	return vtr_seconds_read(text, &out->delay_ns);
}

static const struct {
	const char *word;
	enum vtr_trigger_kind kind;
	int (*read)(const char *text, struct vtr_trigger *out); /* NULL: nothing follows */
} words[] = {
	{"now", VTR_TRIGGER_NOW, NULL},
	{"api", VTR_TRIGGER_API, NULL},
	{"cudaProfilerApi", VTR_TRIGGER_PROFILER, NULL},
	{"nvtx:", VTR_TRIGGER_RANGE, read_range},
	{"step:", VTR_TRIGGER_STEPS, read_steps},
	{"delay:", VTR_TRIGGER_DELAY, read_delay},
};

int vtr_trigger_read(const char *text, struct vtr_trigger *out, struct vpt_err *err)
{
	size_t i, len;

	*out = (struct vtr_trigger){.kind = VTR_TRIGGER_NOW, .text = "now"};
	if (!text || !*text)
		return VPT_OK;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		len = strlen(words[i].word);
		if (words[i].read ? strncmp(text, words[i].word, len) ||
					    words[i].read(text + len, out)
				  : strcmp(text, words[i].word))
			continue;
		out->kind = words[i].kind;
		snprintf(out->text, sizeof(out->text), "%s", text);
		return VPT_OK;
	}
	*out = (struct vtr_trigger){.kind = VTR_TRIGGER_NOW, .text = "now"};
	return vpt_fail(err, VPT_EINVAL,
		"expected now, api, cudaProfilerApi, nvtx:RANGE, nvtx:RANGE:COUNT, step:A-B or "
		"delay:SECONDS, found \"%.100s\"",
		text);
}
