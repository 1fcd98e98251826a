/* kineto.c - traces of the PyTorch profiler (Kineto): Chrome's JSON, plain or gzip.
 *
 * Such a file is one object whose traceEvents can hold millions of events in hundreds of megabytes.
 * So this file walks the outer levels and passes one element at a time to json-c: memory stays that
 * of one event, and a truncated file still gives all events before the cut. Unneeded members are
 * skipped unparsed. A bare array of events is a trace too. */
#include "formats/import/kineto_bytes.h"
#include "formats/import/kineto_devices.h"
#include "formats/import/kineto_flows.h"
#include "formats/import/kineto_own.h"
#include "formats/import/kineto_python.h"
#include "formats/import/kineto_rows.h"

#include <string.h>

enum {
	DEPTH_MAX = 64,         /* nesting inside one event; real ones have 5 */
	VALUE_BYTES = 16 << 20, /* of one event or member */
	/* Commas and opening brackets of one event or member; json-c needs some hundred bytes for
	 * each. */
	VALUE_PARTS = 1 << 18,
	KEY_BYTES = 32 /* no known key is longer */
};

/* Trace clocks above this count from 1970 already. */
static const uint64_t UNIX_CLOCK_NS = 1000000000000000000u;

struct document {
	struct vpt_kineto_bytes bytes;
	struct json_tokener *tokener;
	struct vpt_kineto_rows rows;
	int64_t base_ns; /* baseTimeNanoseconds, 0 if absent */
	int has_events;  /* traceEvents has begun */
	struct vpt_err *err;
};

/* ---- bytes ---- */

static int wrong(struct document *d, const char *expected)
{
	uint64_t at = vpt_kineto_bytes_offset(&d->bytes);
	const char *what = d->bytes.gzip ? "decompressed text" : "file";

	return vpt_fail(d->err, VPT_EDATA, "expected %s at byte %llu of the %s, found byte 0x%02x",
		expected, (unsigned long long)at, what, *d->bytes.cur);
}

/* Makes the next byte available. 0, VPT_END or the reader's error. */
static int need_byte(struct document *d)
{
	return d->bytes.cur < d->bytes.end ? 0 : vpt_kineto_bytes_fill(&d->bytes, d->err);
}

static int is_space(int c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The next byte that is not white space, without consuming it. */
static int peek(struct document *d, int *c)
{
	int rc;

	while (!(rc = need_byte(d)) && is_space(*d->bytes.cur))
		d->bytes.cur++;
	*c = rc ? 0 : *d->bytes.cur;
	return rc;
}

static int expect(struct document *d, char wanted, const char *words)
{
	int c, rc = peek(d, &c);

	if (rc)
		return rc;
	if (c != wanted)
		return wrong(d, words);
	d->bytes.cur++;
	return 0;
}

/* ---- values ---- */

/* An upper bound on the number of values in some bytes. */
static size_t count_parts(const unsigned char *p, size_t size)
{
	size_t count = 0, i;

	for (i = 0; i < size; i++)
		count += (p[i] == ',') | (p[i] == '[') | (p[i] == '{');
	return count;
}

/* Parses one value with json-c. The caller owns *out and puts it; it is NULL for null too. */
static int read_value(struct document *d, struct json_object **out)
{
	enum json_tokener_error state = json_tokener_continue;
	uint64_t begin = vpt_kineto_bytes_offset(&d->bytes);
	size_t taken = 0, parts = 0, size;
	int rc;

	*out = NULL;
	json_tokener_reset(d->tokener);
	while (state == json_tokener_continue) {
		rc = need_byte(d);
		if (rc)
			return rc;
		size = (size_t)(d->bytes.end - d->bytes.cur);
		if (taken + size > VALUE_BYTES)
			size = VALUE_BYTES - taken;
		if (!size || parts > VALUE_PARTS)
			return vpt_fail(d->err, VPT_EDATA,
				"the JSON value at byte %llu is longer than %d MiB, or has more "
				"than %d parts",
				(unsigned long long)begin, VALUE_BYTES >> 20, VALUE_PARTS);
		*out = json_tokener_parse_ex(d->tokener, (const char *)d->bytes.cur, (int)size);
		state = json_tokener_get_error(d->tokener);
		size = json_tokener_get_parse_end(d->tokener);
		if (state == json_tokener_continue)
			parts += count_parts(d->bytes.cur, size);
		d->bytes.cur += size;
		taken += size;
	}
	if (state == json_tokener_success)
		return 0;
	return vpt_fail(d->err, VPT_EDATA, "invalid JSON at byte %llu: %s",
		(unsigned long long)vpt_kineto_bytes_offset(&d->bytes),
		json_tokener_error_desc(state));
}

struct skip {
	uint64_t depth;
	int in_string, escaped;
};

/* The end of the value: the ',' or bracket after it, or `end` if neither comes before. */
static const unsigned char *skip_within(
	struct skip *s, const unsigned char *p, const unsigned char *end)
{
	for (; p < end; p++) {
		if (s->in_string) {
			s->in_string = s->escaped || *p != '"';
			s->escaped = !s->escaped && *p == '\\';
		} else if (*p == '"') {
			s->in_string = 1;
		} else if (*p == '{' || *p == '[') {
			s->depth++;
		} else if (!s->depth && (*p == ',' || *p == '}' || *p == ']')) {
			break;
		} else if (*p == '}' || *p == ']') {
			s->depth--;
		}
	}
	return p;
}

/* Skips one value of any size and depth. */
static int skip_value(struct document *d)
{
	struct skip s = {0};
	int rc;

	do {
		rc = need_byte(d);
		if (rc)
			return rc;
		d->bytes.cur = skip_within(&s, d->bytes.cur, d->bytes.end);
	} while (d->bytes.cur == d->bytes.end);
	return 0;
}

/* ---- the events ---- */

/* Reads a call of a Python function from its text: most of a trace with stacks are such calls. 0: parse
 * it. */
static int read_call(struct document *d, struct vpt_text phase, struct vpt_text category)
{
	const unsigned char *p = d->bytes.cur;
	struct vpt_kineto_flat flat;

	if (!vpt_kineto_rows_is_python(phase, category) ||
		!vpt_kineto_glance_event(&p, d->bytes.end, &flat) ||
		!vpt_kineto_python_flat(&d->rows, &flat))
		return 0;
	d->bytes.cur = p;
	return 1;
}

static int read_event(struct document *d)
{
	struct vpt_text phase, category;
	struct json_object *event;
	int rc;

	vpt_kineto_glance_head(d->bytes.cur, d->bytes.end, &phase, &category);
	if (phase.text && vpt_kineto_rows_needless(&d->rows, phase, category)) {
		d->rows.stats->events++;
		d->rows.stats->skipped++;
		return skip_value(d);
	}
	if (!phase.text || !read_call(d, phase, category)) {
		rc = read_value(d, &event);
		if (rc)
			return rc;
		vpt_kineto_rows_event(&d->rows, event);
		json_object_put(event);
	}
	return d->rows.no_memory ? vpt_fail(d->err, VPT_ENOMEM, "no memory for the trace's threads")
				 : 0;
}

static int read_events(struct document *d)
{
	int c, rc = expect(d, '[', "'[' of the traceEvents array");

	if (rc)
		return rc;
	d->has_events = 1;
	for (;;) {
		rc = peek(d, &c);
		if (rc || c == ']')
			break;
		rc = read_event(d);
		if (rc)
			return rc;
		rc = peek(d, &c);
		if (rc || c == ']')
			break;
		rc = expect(d, ',', "',' or ']' after an event");
		if (rc)
			return rc;
	}
	if (!rc)
		d->bytes.cur++;
	return rc;
}

/* ---- the other members ---- */

struct member {
	const char *key;
	void (*take)(struct document *d, const struct member *m, struct json_object *value);
	const char *meta; /* its name in a capture's META rows */
};

static void take_meta(struct document *d, const struct member *m, struct json_object *value)
{
	const char *text = value ? json_object_get_string(value) : NULL;

	/* Our own files list all facts by name, including these. */
	if (text && *text && !d->rows.own.is_own)
		vpt_collect_meta(d->rows.collect, m->meta, text);
}

static void take_base(struct document *d, const struct member *m, struct json_object *value)
{
	int64_t ns;

	(void)m;
	if (vpt_kineto_number(value, 0, &ns) == VPT_KINETO_EXACT && ns > 0)
		d->base_ns = ns;
	else
		d->rows.stats->bad_numbers++;
}

static void take_devices(struct document *d, const struct member *m, struct json_object *value)
{
	(void)m;
	vpt_kineto_devices(&d->rows, value);
}

static void take_own(struct document *d, const struct member *m, struct json_object *value)
{
	(void)m;
	vpt_kineto_own_begin(&d->rows, value);
}

static void take_own_end(struct document *d, const struct member *m, struct json_object *value)
{
	(void)m;
	vpt_kineto_own_end(&d->rows, value);
}

static void take_distributed(struct document *d, const struct member *m, struct json_object *value)
{
	static const struct member parts[] = {
		{"rank", NULL, "rank"},
		{"world_size", NULL, "world_size"},
		{"backend", NULL, "backend"},
	};
	size_t i;

	(void)m;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		take_meta(d, &parts[i], vpt_kineto_member(value, parts[i].key));
}

static const struct member members[] = {
	{"vptrace", take_own, NULL},
	{"vptraceEnd", take_own_end, NULL},
	{"baseTimeNanoseconds", take_base, NULL},
	{"deviceProperties", take_devices, NULL},
	{"distributedInfo", take_distributed, NULL},
	{"cuda_runtime_version", take_meta, "cuda_runtime"},
	{"cuda_driver_version", take_meta, "cuda_driver"},
	{"cupti_version", take_meta, "cupti"},
	{"traceName", take_meta, "trace_name"},
	{"trace_id", take_meta, "trace_id"},
	{"host_name", take_meta, "hostname"},
	{"hostname", take_meta, "hostname"}, /* of older versions */
	/* what the profiler was set to record; each of these slows the program down */
	{"record_shapes", take_meta, "torch_record_shapes"},
	{"profile_memory", take_meta, "torch_profile_memory"},
	{"with_stack", take_meta, "torch_with_stack"},
	{"with_flops", take_meta, "torch_with_flops"},
	{"with_modules", take_meta, "torch_with_modules"},
};

static int read_key(struct document *d, char key[KEY_BYTES])
{
	struct json_object *value;
	struct vpt_text text;
	int c, rc = peek(d, &c);

	if (!rc && c != '"')
		rc = wrong(d, "a member's name or '}'");
	if (!rc)
		rc = read_value(d, &value);
	if (rc)
		return rc;
	text = vpt_kineto_text(value);
	memset(key, 0, KEY_BYTES);
	if (text.len < KEY_BYTES)
		memcpy(key, text.text, text.len);
	json_object_put(value);
	return expect(d, ':', "':' after a member's name");
}

static int read_member(struct document *d)
{
	struct json_object *value;
	char key[KEY_BYTES];
	size_t i;
	int rc = read_key(d, key);

	if (rc)
		return rc;
	if (!strcmp(key, "traceEvents"))
		return read_events(d);
	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!strcmp(key, members[i].key))
			break;
	if (i == sizeof(members) / sizeof(members[0]))
		return skip_value(d);
	rc = read_value(d, &value);
	if (rc)
		return rc;
	members[i].take(d, &members[i], value);
	json_object_put(value);
	return 0;
}

static int read_object(struct document *d)
{
	int c, rc = expect(d, '{', "'{'");

	for (;;) {
		if (!rc)
			rc = peek(d, &c);
		if (rc)
			return rc;
		if (c == '}')
			break;
		rc = read_member(d);
		if (!rc)
			rc = peek(d, &c);
		if (!rc && c != '}')
			rc = expect(d, ',', "',' or '}' after a member");
	}
	d->bytes.cur++;
	return 0;
}

/* ---- the whole ---- */

static int skip_byte_order_mark(struct document *d)
{
	static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
	size_t i;
	int rc = 0;

	for (i = 0; i < sizeof(mark); i++) {
		rc = need_byte(d);
		if (rc || *d->bytes.cur != mark[i])
			break;
		d->bytes.cur++;
	}
	return rc;
}

/* Reads to the end, so that the checksum of the gzip is verified. Counts once if there is more than
 * white space. */
static int drain(struct document *d)
{
	int c, rc = peek(d, &c);

	d->rows.stats->malformed += !rc;
	while (!rc) {
		d->bytes.cur = d->bytes.end;
		rc = need_byte(d);
	}
	return rc == VPT_END ? 0 : rc;
}

static int read_document(struct document *d)
{
	int c, rc = skip_byte_order_mark(d);

	if (!rc)
		rc = peek(d, &c);
	if (rc)
		return rc;
	if (c == '[')
		rc = read_events(d);
	else if (c == '{')
		rc = read_object(d);
	else
		rc = wrong(d, "'{' or '[', the start of a PyTorch profiler trace,");
	if (rc)
		return rc;
	if (!d->has_events)
		return vpt_fail(d->err, VPT_EDATA,
			"expected a member traceEvents in the JSON object, found none: not a "
			"PyTorch profiler trace");
	return drain(d);
}

static int ends_early(struct document *d)
{
	uint64_t at = vpt_kineto_bytes_offset(&d->bytes);

	if (d->bytes.gzip)
		return vpt_fail(d->err, VPT_EDATA,
			"expected traceEvents, found that the gzip %s after %llu bytes of text",
			d->bytes.torn ? "is damaged or truncated" : "ends", (unsigned long long)at);
	return vpt_fail(d->err, VPT_EDATA,
		"expected traceEvents, found the end of the file at byte %llu",
		(unsigned long long)at);
}

/* A fault after traceEvents has begun costs only the rest of the file. */
static int judge(struct document *d, int rc)
{
	int early = rc == VPT_END || rc == VPT_EDATA;

	if (d->has_events && (!rc || early)) {
		d->rows.stats->truncated = early || d->bytes.torn;
		return 0;
	}
	return rc == VPT_END ? ends_early(d) : rc;
}

static int kineto_read(struct vpt_source *src, struct vpt_collect *c,
	struct vpt_import_stats *stats, struct vpt_err *err)
{
	struct vpt_err local = {0};
	struct document d = {.err = &local};
	int rc;

	memset(stats, 0, sizeof(*stats));
	d.rows.collect = c;
	d.rows.stats = stats;
	rc = vpt_kineto_bytes_open(&d.bytes, src, &local);
	if (rc)
		goto out;
	d.tokener = json_tokener_new_ex(DEPTH_MAX);
	if (!d.tokener) {
		rc = vpt_fail(&local, VPT_ENOMEM, "no memory to parse JSON");
		goto out;
	}
	rc = judge(&d, read_document(&d));
	if (rc)
		goto out;

	vpt_kineto_flows_end(&d.rows);
	vpt_kineto_python_end(&d.rows);
	if (d.rows.no_memory) {
		rc = vpt_fail(&local, VPT_ENOMEM, "no memory for the trace's stacks");
		goto out;
	}
	vpt_kineto_threads_name_lanes(&d.rows.threads, c);
	if (d.rows.own.is_own) {
		vpt_collect_window(c, d.rows.own.start_ns, d.rows.own.end_ns);
		if (d.rows.own.has_realtime)
			vpt_collect_realtime(c, d.rows.own.unix_offset_ns);
		goto out;
	}
	vpt_collect_meta(c, "source", "PyTorch profiler (Kineto)");
	/* Older versions write absolute times. */
	if (d.rows.last_start_ns >= UNIX_CLOCK_NS)
		vpt_collect_realtime(c, 0);
	else if (d.base_ns)
		vpt_collect_realtime(c, (uint64_t)d.base_ns);
out:
	if (rc && err)
		*err = local;
	if (d.tokener)
		json_tokener_free(d.tokener);
	vpt_kineto_threads_free(&d.rows.threads);
	vpt_kineto_flows_free(&d.rows.flows);
	vpt_kineto_python_free(&d.rows.python);
	vpt_kineto_bytes_close(&d.bytes);
	return rc;
}

static int kineto_probe(const unsigned char *head, size_t size)
{
	size_t i = 0;

	if (size >= 2 && head[0] == 0x1f && head[1] == 0x8b)
		return 1;
	if (size >= 3 && !memcmp(head, "\xef\xbb\xbf", 3))
		i = 3;
	while (i < size && is_space(head[i]))
		i++;
	return i < size && (head[i] == '{' || head[i] == '[');
}

const struct vpt_importer vpt_import_kineto = {
	.name = "kineto",
	.help = "traces of the PyTorch profiler (Kineto), JSON or gzip",
	.probe = kineto_probe,
	.read = kineto_read,
};
