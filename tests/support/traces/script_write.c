/* script_write.c - what a script says as a capture.
 *
 * The whole script is read before the first chunk is written, because a chunk's OPEN rows depend on what
 * stands after it. */
#include "formats/base/memory.h"
#include "formats/file/capture_writer.h"
#include "tests/support/traces/script_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static uint64_t local_string(const struct script *s, struct vpt_batch *b, uint64_t id)
{
	struct vpt_text t = vpt_strings_get(&s->strings, id);

	return id ? vpt_batch_string(b, t.text, t.len) : 0;
}

/* "function (file:line)"; what stands in brackets may be missing. */
static uint64_t local_frame(struct vpt_batch *b, const char *text, size_t len)
{
	struct vpt_frame frame = {0};
	const char *file = memmem(text, len, " (", 2);
	const char *end = text + len - (file && text[len - 1] == ')'), *colon;

	if (file) {
		colon = memrchr(file, ':', (size_t)(end - file));
		frame.line = colon ? strtoull(colon + 1, NULL, 10) : 0;
		colon = frame.line ? colon : end;
		frame.file = vpt_batch_string(b, file + 2, (size_t)(colon - file - 2));
	}
	frame.function = vpt_batch_string(b, text, file ? (size_t)(file - text) : len);
	return vpt_batch_frame(b, &frame);
}

/* A stack whose frames are the parts of a string. */
static uint64_t local_stack(const struct script *s, struct vpt_batch *b, uint64_t id)
{
	struct vpt_text t = vpt_strings_get(&s->strings, id);
	const char *at = t.text, *end = t.text + t.len;
	uint64_t stack = 0;

	while (id && at < end) {
		const char *next = memchr(at, ';', (size_t)(end - at));

		next = next ? next : end;
		stack = vpt_batch_stack(b, stack, local_frame(b, at, (size_t)(next - at)));
		at = next + 1;
	}
	return stack;
}

static int is_string(const struct vpt_kind_desc *kind, const uint64_t *values, unsigned c)
{
	return kind->columns[c].unit == VPT_UNIT_STRING ||
	       (c && kind->columns[c - 1].unit == VPT_UNIT_PAYLOAD &&
		       (values[c - 1] == VPT_PAYLOAD_BLOB || values[c - 1] == VPT_PAYLOAD_JSON));
}

static void use_lane(unsigned char *used, size_t count, uint64_t key)
{
	if (key && key <= count)
		used[key - 1] = 1;
}

static void put_row(
	const struct script *s, struct vpt_batch *b, const struct row *row, unsigned char *used)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(row->kind);
	uint64_t values[VPT_COLUMNS_MAX];
	unsigned c;

	use_lane(used, s->lane_count, row->lane);
	for (c = 0; c < kind->n_columns; c++) {
		values[c] = row->values[c];
		if (is_string(kind, row->values, c)) {
			values[c] = local_string(s, b, values[c]);
		} else if (kind->columns[c].unit == VPT_UNIT_LANE) {
			use_lane(used, s->lane_count, values[c]);
		} else if (kind->columns[c].unit == VPT_UNIT_CONFIG) {
			struct vpt_config config = s->configs[values[c]];

			config.name = local_string(s, b, config.name);
			values[c] = vpt_batch_config(b, &config);
		} else if (kind->columns[c].unit == VPT_UNIT_STACK) {
			values[c] = local_stack(s, b, values[c]);
		}
	}
	vpt_batch_put(b, row->kind, row->lane, values);
}

/* The OPEN row of a range that stands in a later chunk. */
static void put_open(
	const struct script *s, struct vpt_batch *b, const struct row *row, unsigned char *used)
{
	struct row open = {.kind = VPT_OPEN};

	open.values[VPT_OPEN_LANE] = row->lane;
	open.values[VPT_OPEN_START] = row->start;
	open.values[VPT_OPEN_NAME] = row->values[VPT_RANGE_NAME];
	open.values[VPT_OPEN_DOMAIN] = row->values[VPT_RANGE_DOMAIN];
	open.values[VPT_OPEN_RANGE_KIND] = row->values[VPT_RANGE_RANGE_KIND];
	open.values[VPT_OPEN_PAYLOAD] = row->values[VPT_RANGE_PAYLOAD];
	open.values[VPT_OPEN_VALUE] = row->values[VPT_RANGE_VALUE];
	put_row(s, b, &open, used);
}

/* Whether the script itself gives the range's OPEN row of this chunk. */
static int is_opened(const struct script *s, const struct row *range, size_t chunk)
{
	size_t i;

	for (i = 0; i < s->row_count; i++) {
		const struct row *row = &s->rows[i];

		if (row->kind == VPT_OPEN && !row->open && row->chunk == chunk &&
			row->start == range->start && row->values[VPT_OPEN_LANE] == range->lane &&
			row->values[VPT_OPEN_NAME] == range->values[VPT_RANGE_NAME])
			return 1;
	}
	return 0;
}

static uint64_t completion(const struct row *r)
{
	return r->end < r->start ? r->start : r->end;
}

/* A call without length is inside no other: where one has just ended it comes after that. */
static int is_empty_call(const struct row *r)
{
	return r->kind == VPT_CALL && r->start == completion(r);
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (completion(a) != completion(b))
		return completion(a) < completion(b) ? -1 : 1;
	if (is_empty_call(a) != is_empty_call(b))
		return is_empty_call(a) ? 1 : -1;
	if (a->start != b->start)
		return a->start > b->start ? -1 : 1;
	if (a->kind == VPT_CALL && b->kind == VPT_CALL &&
		a->values[VPT_CALL_CORRELATION] != b->values[VPT_CALL_CORRELATION])
		return a->values[VPT_CALL_CORRELATION] < b->values[VPT_CALL_CORRELATION] ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void put_lanes(const struct script *s, struct vpt_batch *b, const unsigned char *used)
{
	size_t i;

	for (i = 0; i < s->lane_count; i++) {
		struct vpt_lane row = s->lanes[i].row;

		if (!used[i])
			continue;
		row.name = local_string(s, b, row.name);
		row.lane_unit = local_string(s, b, row.lane_unit);
		vpt_batch_put(b, VPT_LANE, 0, &row);
	}
}

static void fill_chunk(
	const struct script *s, struct vpt_batch *b, size_t index, unsigned char *used)
{
	const struct chunk *chunk = &s->chunks[index];
	uint64_t end = s->has_end ? s->end_ns : s->largest_ns;
	size_t i;

	memset(used, 0, s->lane_count + 1);
	for (i = 0; i < s->row_count; i++) {
		const struct row *row = &s->rows[i];
		int last = index + 1 == s->chunk_count;

		if (row->open ? row->start <= chunk->closes_ns || (last && row->chunk == index)
			      : row->chunk == index)
			put_row(s, b, row, used);
		else if (row->kind == VPT_RANGE && row->chunk > index &&
			 row->start <= chunk->closes_ns && !is_opened(s, row, index))
			put_open(s, b, row, used);
	}
	if (index + 1 == s->chunk_count && !s->killed) {
		uint64_t t0 = s->header.t0_ns, unix_ns = s->header.t0_unix_ns;
		struct vpt_clock clock = {
			.trace_ns = end, .realtime_ns = unix_ns ? unix_ns + (end - t0) : 0};

		vpt_batch_put(b, VPT_CLOCK, 0, &clock);
		b->flags |= VPT_BATCH_LAST;
	}
	b->lost_events = chunk->lost;
	put_lanes(s, b, used);
}

static int write_chunks(struct script *s, struct vpt_sink *sink)
{
	unsigned char *used = vpt_calloc(s->lane_count + 1, 1);
	struct vpt_writer *w = NULL;
	struct vpt_batch b;
	size_t i;
	int rc;

	vpt_batch_init(&b);
	if (!used)
		return script_no_memory(s);
	if (s->row_count)
		qsort(s->rows, s->row_count, sizeof(*s->rows), compare_rows);
	rc = vpt_writer_open(sink, &s->header, 0, &w, s->err);
	for (i = 0; !rc && i < s->chunk_count; i++) {
		vpt_batch_reset(&b);
		fill_chunk(s, &b, i, used);
		rc = vpt_writer_put(w, &b, s->err);
	}
	vpt_writer_free(w);
	vpt_batch_free(&b);
	vpt_free(used);
	return rc;
}

int vpt_script_write(const char *script, struct vpt_sink *sink, struct vpt_err *err)
{
	struct script s = {.err = err};
	int rc;

	s.text = vpt_strndup(script, strlen(script));
	rc = s.text && vpt_strings_put(&s.strings, "", 0) != VPT_NO_ID ? VPT_OK
								       : script_no_memory(&s);
	if (!rc)
		rc = script_parse(&s);
	if (!rc)
		rc = write_chunks(&s, sink);
	vpt_free(s.text);
	vpt_strings_free(&s.strings);
	vpt_free(s.configs);
	vpt_free(s.rows);
	vpt_free(s.lanes);
	vpt_free(s.chunks);
	return rc;
}

/* ---- captures that live in memory ---- */

int vpt_script_bytes(const char *script, struct vpt_buffer *out, struct vpt_err *err)
{
	struct vpt_sink *sink;
	int rc = vpt_sink_memory(out, &sink, err), written;

	if (rc)
		return rc;
	written = vpt_script_write(script, sink, err);
	rc = sink->finish(sink, !written, err);
	return written ? written : rc;
}

struct owning_source {
	struct vpt_source base;
	struct vpt_buffer bytes;
};

static int owning_read_at(struct vpt_source *src, uint64_t offset, void *buf, size_t size,
	size_t *got, struct vpt_err *err)
{
	const struct vpt_buffer *b = &((struct owning_source *)src)->bytes;

	(void)err;
	*got = offset >= b->size                 ? 0
	       : b->size - (size_t)offset < size ? b->size - (size_t)offset
						 : size;
	if (*got)
		memcpy(buf, b->data + offset, *got);
	return VPT_OK;
}

static void owning_close(struct vpt_source *src)
{
	vpt_free(((struct owning_source *)src)->bytes.data);
	vpt_free(src);
}

int vpt_source_own(struct vpt_buffer *bytes, struct vpt_source **out, struct vpt_err *err)
{
	struct owning_source *o = vpt_calloc(1, sizeof(*o));

	*out = NULL;
	if (!o) {
		vpt_free(bytes->data);
		*bytes = (struct vpt_buffer){0};
		return vpt_fail(err, VPT_ENOMEM, "no memory for a source");
	}
	o->base = (struct vpt_source){.read_at = owning_read_at,
		.close = owning_close,
		.size_bytes = bytes->size,
		.name = "script"};
	o->bytes = *bytes;
	*bytes = (struct vpt_buffer){0};
	*out = &o->base;
	return VPT_OK;
}

int vpt_script_source(const char *script, struct vpt_source **out, struct vpt_err *err)
{
	struct vpt_buffer bytes;
	int rc;

	*out = NULL;
	rc = vpt_script_bytes(script, &bytes, err);
	return rc ? rc : vpt_source_own(&bytes, out, err);
}

int vpt_script_trace(const char *script, struct vpt_trace **out, struct vpt_err *err)
{
	struct vpt_source *src;
	int rc;

	*out = NULL;
	rc = vpt_script_source(script, &src, err);
	return rc ? rc : vpt_trace_open_source(src, out, err);
}
