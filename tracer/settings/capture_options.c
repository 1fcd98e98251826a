/* capture_options.c - a capture's options.
 *
 * One table gives each option's place in the host's struct and in ours, its environment variable,
 * its range and its default. Parsing, checking and every error message use it. Paths are handled
 * separately: they are text, and the output's name is expanded. */
#include "tracer/settings/capture_options.h"

#include "formats/base/count.h"
#include "tracer/guest/environment.h"
#include "tracer/guest/system_file.h"
#include "tracer/settings/amounts.h"
#include "tracer/settings/output_name.h"
#include "tracer/settings/rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GIVEN_BYTES_MAX = 4096 };

/* ---- the table ---- */

static const struct vtr_word flags[] = {{"0", 0}, {"1", 1}, {"no", 0}, {"yes", 1}, {"off", 0},
	{"on", 1}, {"false", 0}, {"true", 1}, {NULL, 0}};
static const struct vtr_word profiles[] = {{"default", VPTRACE_PROFILE_DEFAULT},
	{"lite", VPTRACE_PROFILE_LITE}, {"full", VPTRACE_PROFILE_FULL},
	{"coarse", VPTRACE_PROFILE_COARSE}, {"none", VPTRACE_PROFILE_NONE}, {NULL, 0}};

/* A value's type in both structs. SECONDS: a UINT64 of nanoseconds, written in seconds. MONITORS: an INT in the host's. */
enum storage { INT, UINT32, UINT64, SECONDS, TEXT, MONITORS };

struct option {
	const char *name, *variable;
	enum storage storage;
	int is_choice; /* `words` are the values; else the units of a number */
	const struct vtr_word *words;
	size_t given, resolved; /* offsets */
	int64_t fallback, low, high;
	const struct vtr_word *besides; /* words that stand for a number outside of low to high */
};

#define FIELD(name)                                                                                \
	.given = offsetof(struct vptrace_options, name),                                           \
	.resolved = offsetof(struct vtr_options, name)

static const struct option options[] = {
	{"path", "VPTRACE_OUTPUT", TEXT, FIELD(path)},
	{"cupti_path", "VPTRACE_LIBCUPTI", TEXT, FIELD(cupti_path)},
	{"overwrite", "VPTRACE_OVERWRITE", INT, 1, flags, FIELD(overwrite), .high = 1},
	{"profile", "VPTRACE_PROFILE", INT, 1, profiles, FIELD(profile),
		.high = VPTRACE_PROFILE_NONE},
	{"memory_limit_bytes", "VPTRACE_MEMORY", UINT64, 0, vtr_sizes, FIELD(memory_limit_bytes),
		256ll << 20, 16ll << 20, 1ll << 40},
	{"flush_interval_ms", "VPTRACE_FLUSH_MS", UINT32, 0, vtr_milliseconds,
		FIELD(flush_interval_ms), 1000, 10, 3600000},
	{"stop_timeout_ms", "VPTRACE_STOP_MS", UINT32, 0, vtr_milliseconds, FIELD(stop_timeout_ms),
		5000, 1, 3600000},
	{"compression_level", "VPTRACE_LEVEL", INT, 0, vtr_numbers, FIELD(compression_level), 1, -7,
		19},
	{"synchronize", "VPTRACE_SYNC", INT, 1, flags, FIELD(synchronize), 1, .high = 1},
	{"device_buffers", "VPTRACE_DEVICE_BUFFERS", UINT32, 0, vtr_numbers, FIELD(device_buffers),
		0, 0, 100000},
	{"capture", "VPTRACE_CAPTURE", TEXT, FIELD(capture)},
	{"duration_ns", "VPTRACE_DURATION", SECONDS, 0, vtr_numbers, FIELD(duration_ns), 0, 1,
		INT64_MAX},
	{"max_bytes", "VPTRACE_MAX_BYTES", UINT64, 0, vtr_sizes, FIELD(max_bytes), 0, 1ll << 20,
		INT64_MAX},
	{"ring", "VPTRACE_RING", TEXT, FIELD(ring)},
	{"snapshot_on", "VPTRACE_SNAPSHOT_ON", TEXT, FIELD(snapshot_on)},
	{"counters_ms", "VPTRACE_COUNTERS", MONITORS, 0, vtr_milliseconds,
		.given = offsetof(struct vptrace_options, counters_ms), .low = VTR_MONITOR_MS_MIN,
		.high = VTR_MONITOR_MS_MAX, .besides = vtr_never},
	{"stacks_hz", "VPTRACE_STACKS", INT, 0, vtr_numbers, FIELD(stacks_hz), 200, 1, 1000,
		vtr_never},
	{"tags", "VPTRACE_TAGS", TEXT, FIELD(tags)},
};

size_t vtr_options_count(void)
{
	return COUNT(options);
}

const char *vtr_options_variable(size_t i)
{
	return options[i].variable;
}

static size_t width(enum storage storage)
{
	static const size_t widths[] = {[INT] = sizeof(int),
		[UINT32] = sizeof(uint32_t),
		[UINT64] = sizeof(uint64_t),
		[SECONDS] = sizeof(uint64_t),
		[TEXT] = sizeof(const char *),
		[MONITORS] = sizeof(int)};

	return widths[storage];
}

static int64_t load(enum storage storage, const void *at)
{
	union {
		int i;
		uint32_t u32;
		uint64_t u64;
	} v;

	memcpy(&v, at, width(storage));
	if (storage == INT || storage == MONITORS)
		return v.i;
	if (storage == UINT32)
		return v.u32;
	return v.u64 > INT64_MAX ? INT64_MAX : (int64_t)v.u64;
}

static void store(enum storage storage, void *at, int64_t value)
{
	union {
		int i;
		uint32_t u32;
		uint64_t u64;
	} v;

	if (storage == INT)
		v.i = (int)value;
	else if (storage == UINT32)
		v.u32 = (uint32_t)value;
	else
		v.u64 = (uint64_t)value;
	memcpy(at, &v, width(storage));
}

/* ---- values ---- */

/* An amount in the largest unit that holds it exactly. */
static void put_amount(const struct option *o, int64_t value, char *out, size_t size)
{
	const struct vtr_word *unit = o->words;

	while (unit[1].text && (value % unit->value || !value))
		unit++;
	snprintf(out, size, "%lld%s%s", (long long)(value / unit->value), *unit->text ? " " : "",
		unit->text);
}

static void put_expected(const struct option *o, char *out, size_t size)
{
	const char *between = "";
	char low[40], high[40];
	size_t used = 0, i;

	if (o->storage == SECONDS) {
		snprintf(out, size, "seconds, as 10 or 0.25");
		return;
	}
	if (!o->is_choice && o->high == INT64_MAX) {
		put_amount(o, o->low, low, sizeof(low));
		snprintf(out, size, "at least %s", low);
		return;
	}
	if (!o->is_choice) {
		put_amount(o, o->low, low, sizeof(low));
		put_amount(o, o->high, high, sizeof(high));
		snprintf(out, size, "%s to %s%s%s", low, high, o->besides ? " or " : "",
			o->besides ? o->besides->text : "");
		return;
	}
	out[0] = '\0';
	for (i = 0; o->words[i].text && used < size; i++) {
		if (i)
			between = o->words[i + 1].text ? ", " : " or ";
		used += (size_t)snprintf(
			out + used, size - used, "%s%s", between, o->words[i].text);
	}
}

static int fail_variable(const struct option *o, const char *text, struct vpt_err *err)
{
	char expected[160];

	put_expected(o, expected, sizeof(expected));
	return vpt_fail(
		err, VPT_EINVAL, "%s: expected %s, found \"%.100s\"", o->variable, expected, text);
}

static int fail_field(const struct option *o, int64_t value, struct vpt_err *err)
{
	char expected[160];

	put_expected(o, expected, sizeof(expected));
	return vpt_fail(err, VPT_EINVAL, "options.%s: expected %s, found %lld", o->name, expected,
		(long long)value);
}

static int parse_variable(
	const struct option *o, const char *text, int64_t *out, struct vpt_err *err)
{
	const struct vtr_word *words = o->is_choice ? o->words : o->besides;
	const struct vtr_word *word = words ? vtr_word_find(words, text) : NULL;

	if (word) {
		*out = word->value;
		return VPT_OK;
	}
	if (o->is_choice)
		return fail_variable(o, text, err);
	if (o->storage == SECONDS) {
		uint64_t ns;

		if (vtr_seconds_read(text, &ns) || !ns)
			return fail_variable(o, text, err);
		*out = (int64_t)ns;
		return VPT_OK;
	}
	if (vtr_amount_read(o->words, text, out) || *out < o->low || *out > o->high)
		return fail_variable(o, text, err);
	return VPT_OK;
}

/* A field of 0 means the default, a negative one switches off what is on by default; a variable of
 * 0 means 0, if that is in range. */
static int resolve_value(const struct option *o, const struct vptrace_options *given,
	struct vtr_options *out, struct vpt_err *err)
{
	const char *text = vtr_environment(o->variable);
	int64_t value = load(o->storage, (const char *)given + o->given);
	int rc = VPT_OK;

	if (text)
		rc = parse_variable(o, text, &value, err);
	else if (!value)
		value = o->fallback;
	else if (o->words == flags)
		value = value > 0 || !o->fallback;
	else if (o->besides && value == o->besides->value)
		rc = VPT_OK;
	else if (value < o->low || value > o->high)
		rc = fail_field(o, value, err);
	if (!rc)
		store(o->storage, (char *)out + o->resolved, value);
	return rc;
}

/* One interval in the field; in the variable perhaps one for each monitor. */
static int resolve_monitors(const struct option *o, const struct vptrace_options *given,
	struct vtr_options *out, struct vpt_err *err)
{
	const char *text = vtr_environment(o->variable);
	int64_t value = load(o->storage, (const char *)given + o->given);
	int rc;

	if (text) {
		rc = vtr_monitors_read(text, &out->monitors, err);
		if (rc)
			vpt_err_at(err, o->variable);
		return rc;
	}
	if (value && value != o->besides->value && (value < o->low || value > o->high))
		return fail_field(o, value, err);
	vtr_monitors_all(&out->monitors, value);
	return VPT_OK;
}

/* ---- paths ---- */

/* The variable's text, else the field's, else NULL; an empty field is none. */
static const char *given_text(const struct option *o, const struct vptrace_options *given)
{
	const char *text = vtr_environment(o->variable), *field;

	memcpy(&field, (const char *)given + o->given, sizeof(field));
	if (!text && field && *field)
		text = field;
	return text;
}

static int resolve_output(
	const struct option *o, const char *text, char *to, long rank, struct vpt_err *err)
{
	char command[VTR_PATH_MAX], name[VTR_PATH_MAX], pattern[2 * VTR_PATH_MAX];
	size_t len = text ? strlen(text) : 0;
	int rc = VPT_OK, is_folder = len && text[len - 1] == '/';

	if (!text || is_folder) {
		vtr_command_name(command, sizeof(command));
		vtr_output_default(command, rank, name, sizeof(name));
		snprintf(pattern, sizeof(pattern), "%.*s%s", VTR_PATH_MAX, text ? text : "", name);
		text = pattern;
	}
	rc = vtr_output_expand(text, rank, to, VTR_PATH_MAX, err);
	if (rc)
		vpt_err_at(err, vtr_environment(o->variable) ? o->variable : "options.path");
	return rc;
}

/* What a file of its own reads. */
static int resolve_words(const struct option *o, const char *text, const char *to,
	struct vtr_options *out, struct vpt_err *err)
{
	char field[64];
	int rc;

	if (to == (char *)&out->capture)
		rc = vtr_trigger_read(text, &out->capture, err);
	else if (to == (char *)&out->ring)
		rc = vtr_ring_read(text, &out->ring, err);
	else if (to == (char *)&out->snapshot_on)
		rc = vtr_snapshot_on_read(text, &out->snapshot_on, err);
	else
		rc = vtr_tags_read(text, &out->tags, err);
	snprintf(field, sizeof(field), "options.%s", o->name);
	if (rc)
		vpt_err_at(err, vtr_environment(o->variable) ? o->variable : field);
	return rc;
}

static int resolve_text(const struct option *o, const struct vptrace_options *given,
	struct vtr_options *out, struct vpt_err *err)
{
	const char *text = given_text(o, given);
	char *to = (char *)out + o->resolved;

	if (to == out->path)
		return resolve_output(o, text, to, out->rank, err);
	if (to == (char *)&out->capture || to == (char *)&out->ring ||
		to == (char *)&out->snapshot_on || to == (char *)&out->tags)
		return resolve_words(o, text, to, out, err);
	if (text && strlen(text) >= VTR_PATH_MAX)
		return vpt_fail(err, VPT_EINVAL,
			"%s: expected a path of at most %d bytes, found %zu: %.100s",
			vtr_environment(o->variable) ? o->variable : "options.cupti_path",
			VTR_PATH_MAX - 1, strlen(text), text);
	snprintf(to, VTR_PATH_MAX, "%s", text ? text : "");
	return VPT_OK;
}

/* ---- the host's struct ---- */

/* An older struct ends after one of our fields; a newer one is longer. */
static int is_cut(size_t struct_bytes)
{
	size_t i;

	for (i = 0; i < COUNT(options); i++)
		if (options[i].given < struct_bytes &&
			options[i].given + width(options[i].storage) > struct_bytes)
			return 1;
	return struct_bytes < sizeof(struct_bytes);
}

static int take_given(
	const struct vptrace_options *given, struct vptrace_options *out, struct vpt_err *err)
{
	size_t bytes = given ? given->struct_bytes : 0, i;

	memset(out, 0, sizeof(*out));
	if (!given)
		return VPT_OK;
	if (is_cut(bytes) || bytes > GIVEN_BYTES_MAX)
		return vpt_fail(err, VPT_EINVAL,
			"options.struct_bytes: expected sizeof(struct vptrace_options), which is "
			"%zu, found %zu",
			sizeof(*out), bytes);
	for (i = sizeof(*out); i < bytes; i++)
		if (((const char *)given)[i])
			return vpt_fail(err, VPT_EINVAL,
				"options: expected %zu bytes, found %zu with a newer option at "
				"byte %zu, unknown to this version",
				sizeof(*out), bytes, i);
	memcpy(out, given, bytes < sizeof(*out) ? bytes : sizeof(*out));
	return VPT_OK;
}

static const char *name_of(const char *variable, const char *field)
{
	return vtr_environment(variable) ? variable : field;
}

/* What does not go with a ring, or not without one. */
static int check_ring(const struct vtr_options *o, struct vpt_err *err)
{
	int is_on = o->ring.keep_ns || o->ring.bytes;

	if (!is_on && o->snapshot_on.text[0])
		return vpt_fail(err, VPT_EINVAL,
			"%s: expected a ring (VPTRACE_RING) to take snapshots of, found none",
			name_of("VPTRACE_SNAPSHOT_ON", "options.snapshot_on"));
	if (is_on && o->max_bytes)
		return vpt_fail(err, VPT_EINVAL,
			"%s: expected no limit of the file with a ring, which has its own",
			name_of("VPTRACE_MAX_BYTES", "options.max_bytes"));
	if (o->ring.keep_ns && o->ring.keep_ns < (uint64_t)o->flush_interval_ms * 1000000)
		return vpt_fail(err, VPT_EINVAL,
			"%s: expected at least one chunk, which is filled for %u ms "
			"(VPTRACE_FLUSH_MS), found \"%s\"",
			name_of("VPTRACE_RING", "options.ring"), o->flush_interval_ms,
			o->ring.text);
	return VPT_OK;
}

void vtr_options_default(size_t i, char *out, size_t size)
{
	const struct option *o = &options[i];

	out[0] = '\0';
	if (o->storage == MONITORS)
		snprintf(out, size, "%d ms if a GPU is recorded", VTR_MONITOR_MS);
	else if (o->is_choice)
		snprintf(out, size, "%s", o->words[o->fallback].text);
	else if (o->fallback)
		put_amount(o, o->fallback, out, size);
}

int vtr_options_resolve(
	const struct vptrace_options *given, struct vtr_options *out, struct vpt_err *err)
{
	struct vptrace_options taken;
	size_t i;
	int rc;

	memset(out, 0, sizeof(*out));
	out->rank = vtr_rank();
	rc = take_given(given, &taken, err);
	for (i = 0; i < COUNT(options) && !rc; i++)
		if (options[i].storage == TEXT)
			rc = resolve_text(&options[i], &taken, out, err);
		else if (options[i].storage == MONITORS)
			rc = resolve_monitors(&options[i], &taken, out, err);
		else
			rc = resolve_value(&options[i], &taken, out, err);
	if (!rc)
		rc = check_ring(out, err);
	if (rc)
		memset(out, 0, sizeof(*out));
	return rc;
}

/* ---- the command ---- */

/* The command line first: programs rename their main thread, and comm is that name, cut at 15
 * bytes. */
void vtr_command_name(char *out, size_t size)
{
	char words[VTR_PATH_MAX];
	size_t used = vtr_system_file("/proc/self/cmdline", words, sizeof(words));

	vtr_output_command(words, used + 1, out, size);
	if (*out)
		return;
	vtr_system_file("/proc/self/comm", out, size);
	out[strcspn(out, "\n")] = '\0';
	if (!*out)
		snprintf(out, size, "program");
}

void vtr_command_line(char *out, size_t size)
{
	size_t used = vtr_system_file("/proc/self/cmdline", out, size), i;

	while (used && !out[used - 1])
		used--;
	for (i = 0; i < used; i++) {
		if (!out[i])
			out[i] = ' ';
		else if ((unsigned char)out[i] < 0x20 || out[i] == 0x7f)
			out[i] = '?';
	}
}
