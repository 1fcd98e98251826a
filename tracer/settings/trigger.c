/* trigger.c - parses VPTRACE_CAPTURE: a word, and after a colon its argument. */
#include "tracer/settings/trigger.h"

#include "tracer/vptrace.h"

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
static int read_first_to_last(const char *text, struct vtr_trigger *out)
{
	const char *end = text + strlen(text), *dash = strchr(text, '-');
	uint64_t last;

	if (read_number(text, dash ? dash : end, &out->wait))
		return -1;
	last = out->wait;
	if (dash && read_number(dash + 1, end, &last))
		return -1;
	if (last < out->wait || last == UINT64_MAX)
		return -1;
	out->active = last - out->wait + 1;
	out->repeat = 1;
	return 0;
}

/* "KEY=N" with commas between, each key once. The tracer is on in all of it, so that units of warm-up are units of
 * wait. */
static int read_cycles(const char *text, struct vtr_trigger *out)
{
	static const char *const keys[] = {"skip_first=", "wait=", "warmup=", "active=", "repeat="};
	enum { SKIP, WAIT, WARMUP, ACTIVE, REPEAT, KEYS };
	uint64_t values[KEYS] = {[ACTIVE] = 1};
	int seen[KEYS] = {0}, k;

	for (; *text; text += *text == ',' && text[1]) {
		const char *end = text + strcspn(text, ",");

		for (k = 0; k < KEYS && strncmp(text, keys[k], strlen(keys[k])) != 0; k++)
			;
		if (k == KEYS || seen[k]++ ||
			read_number(text + strlen(keys[k]), end, &values[k]) ||
			values[k] > UINT32_MAX)
			return -1;
		text = end;
		if (*text == ',' && !text[1])
			return -1;
	}
	out->skip = values[SKIP];
	out->wait = values[WAIT] + values[WARMUP];
	out->active = values[ACTIVE];
	out->repeat = values[REPEAT];
	return out->active ? 0 : -1;
}

static int read_units(const char *text, struct vtr_trigger *out)
{
	return strchr(text, '=') ? read_cycles(text, out) : read_first_to_last(text, out);
}

static int read_delay(const char *text, struct vtr_trigger *out)
{
	return vtr_seconds_read(text, &out->delay_ns);
}

static const struct {
	const char *word;
	enum vtr_trigger_kind kind;
	int (*read)(const char *text, struct vtr_trigger *out); /* NULL: nothing follows */
	int64_t unit;
} words[] = {
	{"now", VTR_TRIGGER_NOW, NULL, 0},
	{"api", VTR_TRIGGER_API, NULL, 0},
	{"cudaProfilerApi", VTR_TRIGGER_PROFILER, NULL, 0},
	{"nvtx:", VTR_TRIGGER_RANGE, read_range, 0},
	{"step:", VTR_TRIGGER_UNITS, read_units, VPTRACE_NOTE_STEP},
	{"block:", VTR_TRIGGER_UNITS, read_units, VPTRACE_NOTE_BLOCK},
	{"request:", VTR_TRIGGER_UNITS, read_units, VPTRACE_NOTE_REQUEST},
	{"delay:", VTR_TRIGGER_DELAY, read_delay, 0},
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
		out->unit = words[i].unit;
		snprintf(out->text, sizeof(out->text), "%s", text);
		return VPT_OK;
	}
	*out = (struct vtr_trigger){.kind = VTR_TRIGGER_NOW, .text = "now"};
	return vpt_fail(err, VPT_EINVAL,
		"expected now, api, cudaProfilerApi, nvtx:RANGE, nvtx:RANGE:COUNT, delay:SECONDS, "
		"or one of step, block and request with :A-B or :wait=N,active=N,repeat=N, found "
		"\"%.100s\"",
		text);
}
