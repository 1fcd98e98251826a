/* kineto.c - traces of the PyTorch profiler (Kineto): Chrome's JSON, plain, gzip or zstd.
 *
 * Such a file is one object whose traceEvents can hold millions of events in hundreds of megabytes.
 * So this file walks the outer levels and parses one element at a time: memory stays that
 * of one event, and a truncated file still gives all events before the cut. Unneeded members are
 * skipped unparsed. A bare array of events is a trace too. */
#include "formats/import/kineto/kineto_parts.h"
#include "formats/import/kineto/kineto_flows.h"
#include "formats/import/kineto/kineto_own.h"
#include "formats/import/kineto/text/kineto_json.h"
#include "formats/import/refused_formats.h"

#include <stdio.h>
#include <string.h>

enum { KEY_BYTES = 32 }; /* no known key is longer */

/* Trace clocks above this count from 1970 already. */
static const uint64_t UNIX_CLOCK_NS = 1000000000000000000u;

struct document {
	struct vpt_kineto_json json;
	struct vpt_kineto_rows rows;
	int has_events; /* traceEvents has begun */
	/* No event was read in its place since the last unreadable one: more of the same is no other. */
	int in_damage;
	struct vpt_err *err;
};

/* ---- the events ---- */

static int read_event(struct document *d)
{
	struct vpt_text phase, category;
	const struct vpt_kineto_value *event;
	int rc = vpt_kineto_json_look_ahead(&d->json);

	if (rc)
		return rc;
	vpt_kineto_glance(d->json.bytes.cur, &phase, &category);
	if (phase.text && vpt_kineto_rows_needless(&d->rows, phase, category)) {
		rc = vpt_kineto_json_skip(&d->json);
		d->rows.stats->events += !rc;
		d->rows.stats->skipped += !rc;
		return rc;
	}
	rc = vpt_kineto_json_value(&d->json, &event);
	if (rc)
		return rc;
	vpt_kineto_rows_event(&d->rows, event);
	return d->rows.no_memory ? vpt_fail(d->err, VPT_ENOMEM, "no memory for the trace's threads")
				 : 0;
}

static void count_unreadable(struct document *d, const struct vpt_kineto_fault *fault)
{
	struct vpt_import_stats *stats = d->rows.stats;

	if (!stats->unreadable++)
		snprintf(stats->first_unreadable, sizeof(stats->first_unreadable),
			"at byte %llu of the %s stands \"%s\"", (unsigned long long)fault->at,
			d->json.bytes.packer ? "decompressed text" : "file", fault->found);
}

/* Reads what may be an event at an anchor. Sets *is_event; if it is none, goes back to its beginning. */
static int try_event(struct document *d, int *is_event)
{
	int is_begun = vpt_kineto_json_begins_with(&d->json, "ph");
	const struct vpt_kineto_value *event;
	int rc = vpt_kineto_json_value(&d->json, &event);

	*is_event = !rc && vpt_kineto_text(vpt_kineto_member(event, "ph")).len == 1;
	if (*is_event)
		vpt_kineto_rows_event(&d->rows, event);
	/* The next event is unreadable, too. */
	if (rc == VPT_EDATA && is_begun)
		count_unreadable(d, &d->json.fault);
	if (!*is_event)
		vpt_kineto_json_rewind(&d->json);
	return rc == VPT_EDATA || rc == VPT_END ? 0 : rc;
}

/* Moves to an anchor that holds what it seems to; an event there is read. */
static int find_anchor(
	struct document *d, const struct vpt_kineto_anchors *wanted, enum vpt_kineto_anchor *anchor)
{
	int is_found = 0, rc;

	vpt_kineto_json_rewind(&d->json);
	do {
		rc = vpt_kineto_json_anchor(&d->json, wanted, anchor);
		if (!rc && *anchor == VPT_KINETO_AT_EVENT)
			rc = try_event(d, &is_found);
		else
			is_found = 1;
	} while (!rc && !is_found);
	return rc;
}

/* Goes on after something unreadable, as vpt_kineto_json_anchor() does. Returns `rc` if nothing more can be
 * read. A value that does not end before the text is unreadable if others follow: else it is cut. */
static int recover(struct document *d, int rc, int in_events, enum vpt_kineto_anchor *anchor)
{
	struct vpt_kineto_fault fault = d->json.fault;
	struct vpt_err first = *d->err;
	int is_new = !d->in_damage, found;

	if (rc != VPT_EDATA && rc != VPT_END)
		return rc;
	if (is_new && rc == VPT_EDATA)
		count_unreadable(d, &fault);
	found = find_anchor(
		d, &(struct vpt_kineto_anchors){vpt_kineto_about_names, in_events}, anchor);
	if (is_new && rc == VPT_END && !found)
		count_unreadable(d, &fault);
	d->in_damage = 1;
	*d->err = first;
	return found == VPT_END ? rc : found;
}

/* Reads events up to the end of their array. */
static int read_more_events(struct document *d)
{
	enum vpt_kineto_anchor anchor;
	int c, rc;

	d->has_events = 1;
	for (;;) {
		rc = vpt_kineto_json_peek(&d->json, &c);
		if (rc)
			return rc;
		if (c == ']')
			break;
		/* A comma too many, or none, costs nothing. */
		if (c == ',') {
			d->json.bytes.cur++;
			continue;
		}
		if (c == '{')
			d->in_damage = 0;
		rc = read_event(d);
		if (rc)
			rc = recover(d, rc, 1, &anchor);
		if (rc)
			return rc == VPT_EDATA ? VPT_END : rc;
	}
	d->json.bytes.cur++;
	return 0;
}

static int read_events(struct document *d)
{
	int rc = vpt_kineto_json_expect(&d->json, '[', "'[' of the traceEvents array");

	return rc ? rc : read_more_events(d);
}

/* ---- the other members ---- */

static int read_key(struct document *d, char key[KEY_BYTES])
{
	const struct vpt_kineto_value *value;
	struct vpt_text text;
	int rc = vpt_kineto_json_value(&d->json, &value);

	if (rc)
		return rc;
	text = vpt_kineto_text(value);
	memset(key, 0, KEY_BYTES);
	if (text.len < KEY_BYTES)
		memcpy(key, text.text, text.len);
	return vpt_kineto_json_expect(&d->json, ':', "':' after a member's name");
}

static int read_member(struct document *d)
{
	const struct vpt_kineto_value *value;
	char key[KEY_BYTES];
	int c, rc = read_key(d, key);

	if (rc)
		return rc;
	if (!strcmp(key, "traceEvents"))
		return read_events(d);
	if (!strcmp(key, "rocprofiler-sdk-tool"))
		return vpt_fail(d->err, VPT_EUNSUPPORTED,
			"a trace of rocprofiler: record the program with PyTorch's profiler "
			"(torch.profiler.profile), which records AMD GPUs too");
	if (!strcmp(key, "ph") && !d->has_events)
		return vpt_fail(d->err, VPT_EUNSUPPORTED,
			"JSON lines: expected one JSON text, found an event in each line; join "
			"them with: jq -s . FILE > trace.json");
	rc = vpt_kineto_json_peek(&d->json, &c);
	if (rc)
		return rc;
	if (!vpt_kineto_about_knows(key))
		return vpt_kineto_json_skip(&d->json);
	rc = vpt_kineto_json_value(&d->json, &value);
	if (rc)
		return rc;
	vpt_kineto_about(&d->rows, key, value);
	return 0;
}

/* Finds the next member, or event, after something unreadable. */
static int recover_member(struct document *d, int rc)
{
	enum vpt_kineto_anchor anchor;

	rc = recover(d, rc, 0, &anchor);
	if (!rc && anchor == VPT_KINETO_AT_EVENT)
		rc = read_more_events(d);
	return rc;
}

/* Reads members up to the end of the document. */
static int read_members(struct document *d)
{
	int c, rc, is_first = 1;

	for (;; is_first = 0) {
		rc = vpt_kineto_json_peek(&d->json, &c);
		if (!rc && c == '}')
			break;
		if (!rc && c == ',' && !is_first) {
			d->json.bytes.cur++;
			continue;
		}
		if (!rc && c != '"')
			rc = vpt_kineto_json_wrong(&d->json,
				is_first ? "a member's name or '}'" : "',' or '}' after a member");
		if (!rc)
			rc = read_member(d);
		if (rc)
			rc = recover_member(d, rc);
		if (rc)
			return rc;
	}
	d->json.bytes.cur++;
	return 0;
}

/* ---- the whole ---- */

static int skip_byte_order_mark(struct document *d)
{
	static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
	size_t i;
	int c, rc = vpt_kineto_json_peek(&d->json, &c);

	for (i = 0; !rc && i < sizeof(mark) && *d->json.bytes.cur == mark[i]; i++) {
		d->json.bytes.cur++;
		rc = vpt_kineto_json_peek(&d->json, &c);
	}
	return rc;
}

/* Reads the text to its end, so that the checksum of compressed data is verified: the document, others after it,
 * and the events in what is neither. */
static int read_documents(struct document *d)
{
	int c, rc = skip_byte_order_mark(d), is_first = 1;

	for (; !rc; is_first = 0) {
		rc = vpt_kineto_json_peek(&d->json, &c);
		if (rc)
			return rc == VPT_END && !is_first ? 0 : rc;
		if (c == '[')
			rc = read_events(d);
		else if (c == '{' && !is_first && vpt_kineto_json_begins_event(&d->json))
			rc = read_more_events(d);
		else if (c == '{') {
			d->json.bytes.cur++;
			rc = read_members(d);
		} else {
			rc = vpt_kineto_json_wrong(
				&d->json, "'{' or '[', the start of a PyTorch profiler trace,");
			if (!is_first)
				rc = recover_member(d, rc);
			if (!rc)
				rc = read_members(d);
			if (rc == VPT_EDATA && d->has_events)
				return 0;
		}
	}
	return rc;
}

static int kineto_probe(const unsigned char *head, size_t size)
{
	size_t i = 0;

	if (size >= 2 && head[0] == 0x1f && head[1] == 0x8b)
		return 1;
	if (size >= 3 && !memcmp(head, "\xef\xbb\xbf", 3))
		i = 3;
	while (i < size && memchr(" \n\r\t", head[i], 4))
		i++;
	return i < size && (head[i] == '{' || head[i] == '[');
}

/* Names compressed data that is no text. */
static int look_inside(struct document *d)
{
	struct vpt_kineto_bytes *b = &d->json.bytes;
	int rc = vpt_kineto_bytes_fill(b, d->err);
	size_t size = (size_t)(b->end - b->cur);
	const char *reason;

	if (rc || !b->packer)
		return rc;
	reason = vpt_foreign_reason(b->cur, size, kineto_probe(b->cur, size) ? NULL : "");
	return reason ? vpt_fail(d->err, VPT_EDATA, "a file compressed by %s, and in it %s",
				b->packer, reason)
		      : 0;
}

static int read_document(struct document *d)
{
	int rc = look_inside(d);

	if (!rc)
		rc = read_documents(d);
	if (!rc && !d->has_events)
		return vpt_fail(d->err, VPT_EDATA,
			"expected a member traceEvents in the JSON object, found none: not a "
			"PyTorch profiler trace");
	return rc;
}

static int ends_early(struct document *d)
{
	uint64_t at = vpt_kineto_bytes_offset(&d->json.bytes);

	if (d->json.bytes.packer)
		return vpt_fail(d->err, VPT_EDATA,
			"expected traceEvents, found that the %s %s after %llu bytes of text",
			d->json.bytes.packer,
			d->json.bytes.torn ? "is damaged or truncated" : "ends",
			(unsigned long long)at);
	return vpt_fail(d->err, VPT_EDATA,
		"expected traceEvents, found the end of the file at byte %llu",
		(unsigned long long)at);
}

/* A fault after traceEvents has begun costs only the rest of the file. */
static int judge(struct document *d, int rc)
{
	int early = rc == VPT_END || rc == VPT_EDATA;

	if (d->has_events && (!rc || early)) {
		d->rows.stats->truncated = early || d->json.bytes.torn;
		return 0;
	}
	return rc == VPT_END ? ends_early(d) : rc;
}

static int kineto_read(struct vpt_source *src, struct vpt_collect *c,
	struct vpt_import_stats *stats, struct vpt_err *err)
{
	struct vpt_err local = {0};
	struct document d = {.err = &local, .json.err = &local};
	int rc;

	memset(stats, 0, sizeof(*stats));
	d.rows.collect = c;
	d.rows.stats = stats;
	rc = vpt_kineto_bytes_open(&d.json.bytes, src, &local);
	if (rc)
		goto out;
	rc = judge(&d, read_document(&d));
	if (rc)
		goto out;
	if (d.rows.other && !d.rows.has_rows && stats->unknown_category) {
		rc = vpt_fail(&local, VPT_EUNSUPPORTED,
			"a trace of the profiler of %s, which is not read: record the program with "
			"vptrace run or nsys profile if it runs on NVIDIA GPUs",
			d.rows.other);
		goto out;
	}
	vpt_kineto_bytes_stop(&d.json.bytes);
	stats->after_gzip = d.json.bytes.unpack.after_gzip;
	stats->another_gzip = d.json.bytes.unpack.another_gzip;

	vpt_kineto_flows_end(&d.rows);
	vpt_kineto_records_end(&d.rows);
	vpt_kineto_unsaid_end(&d.rows);
	vpt_kineto_python_end(&d.rows);
	if (d.rows.no_memory) {
		rc = vpt_fail(&local, VPT_ENOMEM,
			"no memory for what the trace says of stacks and events");
		goto out;
	}
	vpt_kineto_threads_name_lanes(&d.rows.threads, c);
	vpt_kineto_processes_end(&d.rows);
	if (d.rows.own.is_own) {
		vpt_collect_window(c, d.rows.own.start_ns, d.rows.own.end_ns);
		if (d.rows.own.has_realtime)
			vpt_collect_realtime(c, d.rows.own.unix_offset_ns);
		goto out;
	}
	vpt_collect_fact(c, VPT_METADATA_SOURCE, VPT_SOURCE_PYTORCH " (Kineto)");
	/* Older versions write absolute times. */
	if (d.rows.last_start_ns >= UNIX_CLOCK_NS)
		vpt_collect_realtime(c, 0);
	else if (d.rows.base_ns)
		vpt_collect_realtime(c, (uint64_t)d.rows.base_ns);
out:
	if (rc && err)
		*err = local;
	vpt_kineto_parser_free(&d.json.parser);
	vpt_kineto_threads_free(&d.rows.threads);
	vpt_kineto_flows_free(&d.rows.flows);
	vpt_kineto_records_free(&d.rows.records);
	vpt_kineto_unsaid_free(&d.rows.unsaid);
	vpt_kineto_processes_free(&d.rows.processes);
	vpt_kineto_python_free(&d.rows.python);
	vpt_kineto_bytes_close(&d.json.bytes);
	return rc;
}

const struct vpt_importer vpt_import_kineto = {
	.name = "kineto",
	.help = "traces of the PyTorch profiler (Kineto), JSON, plain or compressed by gzip or "
		"zstd",
	.probe = kineto_probe,
	.reads_zstd = 1,
	.read = kineto_read,
};
