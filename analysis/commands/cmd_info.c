/* cmd_info.c - describes a file: its format and size, when and where it was recorded, its contents by kind,
 * and what could not be read.
 *
 * Of a capture with contents it reads the chunks that say more than how many rows they have, and says how many: damage
 * in others is for `check` to find. Others are decompressed once, on several cores, since only checksums tell of damage. Rows of
 * events are counted, and most not decoded; when the last one ended is taken from the headers, which `check` compares
 * with the rows. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/shared_options.h"

#include "analysis/join/prefetch.h"
#include "analysis/trust/completeness.h"
#include "formats/io/json_writer.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { FORMAT, MEMORY, OPTIONS };

static const struct vpt_option options[OPTIONS] = {
	[FORMAT] = VPA_FORMAT_OPTION("text|json", "text", ""),
	[MEMORY] = VPA_MEMORY_OPTION,
};

/* Strings of a chunk, kept in one table over all chunks. */
struct gpu {
	struct vpt_device row; /* its STRING columns are ids of info.strings */
};

struct pair {
	uint64_t key, value;
};

struct info {
	const char *path;
	const struct vpt_trace *trace;
	const struct vpt_batch *batch; /* the chunk that is read */
	uint64_t size_bytes, events;
	uint64_t rows[VPT_KIND_LIMIT];
	uint64_t end_ns; /* the largest time of any event or clock */
	struct vpt_chunk_choice chosen;
	struct vpa_completeness reading;

	struct vpt_strings strings;
	struct vpt_strings lane_keys, gpu_keys, meta_keys; /* what was seen already */
	uint64_t lanes[4];                                 /* by LANETYPE */
	struct gpu *gpus;
	size_t gpu_count, gpu_cap;
	struct pair *meta;
	size_t meta_count, meta_cap;
};

/* ---- gathering ---- */

static uint64_t keep(struct info *in, uint64_t id)
{
	struct vpt_text text = vpt_batch_text(in->batch, id);

	return vpt_strings_put(&in->strings, text.text, text.len);
}

static void take_lane(struct info *in, const struct vpt_section *s, uint32_t row)
{
	uint64_t key = s->col[VPT_LANE_KEY][row], type = s->col[VPT_LANE_LANE_TYPE][row];
	size_t before = in->lane_keys.count;

	vpt_strings_put(&in->lane_keys, (const char *)&key, sizeof(key));
	in->lanes[type < 4 ? type : 0] += in->lane_keys.count - before;
}

/* Every chunk repeats the tables; the last row of a device or key counts. */
static void take_device(struct info *in, const struct vpt_section *s, uint32_t row)
{
	uint64_t device = s->col[VPT_DEVICE_DEVICE][row], *values, id;
	const struct vpt_kind_desc *kind = vpt_kind_desc(VPT_DEVICE);
	unsigned c;

	id = vpt_strings_put(&in->gpu_keys, (const char *)&device, sizeof(device));
	if (id > in->gpu_count ||
		vpt_grow(&in->gpus, &in->gpu_cap, in->gpu_count + 1, sizeof(*in->gpus)))
		return;
	in->gpu_count += id == in->gpu_count;
	values = (uint64_t *)(void *)&in->gpus[id].row;
	for (c = 0; c < kind->n_columns; c++)
		values[c] = kind->columns[c].unit == VPT_UNIT_STRING ? keep(in, s->col[c][row])
								     : s->col[c][row];
}

static void take_meta(struct info *in, const struct vpt_section *s, uint32_t row)
{
	struct vpt_text key = vpt_batch_text(in->batch, s->col[VPT_META_KEY][row]);
	uint64_t id = vpt_strings_put(&in->meta_keys, key.text, key.len);

	if (id > in->meta_count ||
		vpt_grow(&in->meta, &in->meta_cap, in->meta_count + 1, sizeof(*in->meta)))
		return;
	in->meta_count += id == in->meta_count;
	in->meta[id].key = keep(in, s->col[VPT_META_KEY][row]);
	in->meta[id].value = keep(in, s->col[VPT_META_VALUE][row]);
}

static void take_clock(struct info *in, const struct vpt_section *s, uint32_t row)
{
	if (s->col[VPT_CLOCK_TRACE][row] > in->end_ns)
		in->end_ns = s->col[VPT_CLOCK_TRACE][row];
}

static void take_section(struct info *in, const struct vpt_section *s)
{
	static void (*const take[VPT_KIND_LIMIT])(
		struct info *, const struct vpt_section *, uint32_t) = {
		[VPT_LANE] = take_lane,
		[VPT_DEVICE] = take_device,
		[VPT_META] = take_meta,
		[VPT_CLOCK] = take_clock,
	};
	uint32_t row;

	in->rows[s->kind] += s->row_count;
	in->events += vpt_kind_desc(s->kind)->flags & VPT_KIND_EVENT ? s->row_count : 0;
	for (row = 0; take[s->kind] && row < s->row_count; row++)
		take[s->kind](in, s, row);
}

static int take_chunk(struct info *in, size_t index, const struct vpt_batch *b)
{
	int rc = vpa_completeness_chunk(&in->reading, index, b);
	size_t i;

	if (rc)
		return rc;
	in->batch = b;
	for (i = 0; i < b->section_count; i++)
		take_section(in, &b->sections[i]);
	if (b->t_max_ns > in->end_ns)
		in->end_ns = b->t_max_ns;
	return VPT_OK;
}

static int take_left(struct info *in, size_t index)
{
	const uint64_t *values = vpt_chunk_contents(&in->chosen, index);
	unsigned kind;

	for (kind = 0; kind < VPT_KIND_LIMIT; kind++)
		in->rows[kind] += values[VPT_CONTENTS_ROWS + kind];
	in->events += values[VPT_CONTENTS_EVENTS];
	if (values[VPT_CONTENTS_T_MAX] > in->end_ns)
		in->end_ns = values[VPT_CONTENTS_T_MAX];
	return vpa_completeness_left(&in->reading, index, values);
}

/* ---- what is shown ---- */

/* "2025-01-31T12:00:00.123456789Z"; "" if unknown. */
static void utc_text(uint64_t unix_ns, char out[40])
{
	time_t seconds = (time_t)(unix_ns / 1000000000u);
	struct tm tm;
	size_t len;

	out[0] = '\0';
	if (!unix_ns || !gmtime_r(&seconds, &tm))
		return;
	len = strftime(out, 40, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + len, 40 - len, ".%09uZ", (unsigned)(unix_ns % 1000000000u));
}

static uint64_t length_ns(const struct info *in)
{
	uint64_t start = vpt_trace_start(in->trace);

	return in->end_ns > start ? in->end_ns - start : 0;
}

static uint64_t count_of(const struct info *in, enum vpa_completeness_count count)
{
	return in->reading.counts[count];
}

static int header_damaged(const struct info *in)
{
	const struct vpt_reader *reader = vpt_trace_reader(in->trace);

	return reader && vpt_reader_header_damaged(reader);
}

/* What an import met, by name. */
static const struct {
	const char *key, *text;
	size_t offset;
} import_counts[] = {
	{"records", "records", offsetof(struct vpt_import_stats, events)},
	{"skipped", "known and not needed", offsetof(struct vpt_import_stats, skipped)},
	{"unknown_category", "of an unknown category",
		offsetof(struct vpt_import_stats, unknown_category)},
	{"malformed", "malformed, left out", offsetof(struct vpt_import_stats, malformed)},
	{"unreadable", "no valid JSON, left out", offsetof(struct vpt_import_stats, unreadable)},
	{"bad_text", "with invalid text", offsetof(struct vpt_import_stats, bad_text)},
	{"bad_numbers", "with truncated numbers", offsetof(struct vpt_import_stats, bad_numbers)},
};

enum { IMPORT_COUNTS = sizeof(import_counts) / sizeof(import_counts[0]) };

static uint64_t import_count(const struct vpt_import_stats *s, size_t index)
{
	uint64_t value;

	memcpy(&value, (const char *)s + import_counts[index].offset, sizeof(value));
	return value;
}

/* ---- text ---- */

static void print_string(struct vpt_out *o, const struct info *in, uint64_t id)
{
	struct vpt_text t = vpt_strings_get(&in->strings, id);

	vpt_out_text(o, t.text, t.len);
}

static void print_events(struct vpt_out *o, const struct info *in)
{
	uint64_t ns = length_ns(in);
	unsigned type;

	vpt_out_print(o, "events    %" PRIu64 " over %" PRIu64 ".%09" PRIu64 " s", in->events,
		ns / 1000000000u, ns % 1000000000u);
	if (in->events)
		vpt_out_print(
			o, ", %.2f bytes an event", (double)in->size_bytes / (double)in->events);
	vpt_out_print(o, "\n");
	for (type = 0; type < VPT_KIND_LIMIT; type++) {
		const struct vpt_kind_desc *kind = vpt_kind_desc(type);

		if (kind && in->rows[type] && kind->flags & VPT_KIND_EVENT)
			vpt_out_print(o, "  %-10s %12" PRIu64 "  %s\n", kind->name, in->rows[type],
				kind->help);
	}
}

static void print_header(struct vpt_out *o, const struct info *in)
{
	const struct vpt_header *h = vpt_trace_header(in->trace);
	char utc[40];

	if (header_damaged(in)) {
		vpt_out_print(o, "recorded  unknown: the header is damaged\n");
		return;
	}
	utc_text(h->t0_unix_ns, utc);
	vpt_out_print(o, "recorded  %s", *utc ? utc : "at an unknown time");
	if (h->pid)
		vpt_out_print(o, ", process %u", h->pid);
	if (h->capture_id)
		vpt_out_print(o, ", capture %016" PRIx64, h->capture_id);
	vpt_out_print(o, "\n");
}

static void print_devices(struct vpt_out *o, const struct info *in)
{
	size_t i;

	for (i = 0; i < in->gpu_count; i++) {
		const struct vpt_device *d = &in->gpus[i].row;

		vpt_out_print(o, "device %-2lld ", (long long)d->device);
		print_string(o, in, d->name);
		if (d->compute_major)
			vpt_out_print(o, ", compute capability %" PRIu64 ".%" PRIu64,
				d->compute_major, d->compute_minor);
		if (d->sm_count)
			vpt_out_print(o, ", %" PRIu64 " SMs", d->sm_count);
		if (d->memory_bytes)
			vpt_out_print(o, ", %.1f GiB", (double)d->memory_bytes / (1 << 30));
		vpt_out_print(o, "%s\n", d->simulated ? ", simulated" : "");
	}
}

static void print_meta(struct vpt_out *o, const struct info *in)
{
	size_t i;

	vpt_out_print(o, "lanes     %" PRIu64 " streams, %" PRIu64 " threads, %" PRIu64 " series\n",
		in->lanes[VPT_LANETYPE_STREAM], in->lanes[VPT_LANETYPE_THREAD],
		in->lanes[VPT_LANETYPE_SERIES]);
	for (i = 0; i < in->meta_count; i++) {
		vpt_out_print(o, "%s", i ? "          " : "meta      ");
		print_string(o, in, in->meta[i].key);
		vpt_out_print(o, " = ");
		print_string(o, in, in->meta[i].value);
		vpt_out_print(o, "\n");
	}
}

static void print_import(struct vpt_out *o, const struct vpt_import_stats *s)
{
	size_t i;

	vpt_out_print(o, "import    ");
	for (i = 0; i < IMPORT_COUNTS; i++)
		if (import_count(s, i) || !i)
			vpt_out_print(o, "%s%" PRIu64 " %s", i ? "\n          " : "",
				import_count(s, i), import_counts[i].text);
	vpt_out_print(o, "\ndamage    %s\n", s->truncated ? "the file ends in the middle" : "none");
}

static size_t chunks_read(const struct info *in)
{
	return in->chosen.uses ? in->chosen.read : vpt_trace_chunks(in->trace);
}

static void print_damage(struct vpt_out *o, const struct info *in)
{
	uint64_t damaged = count_of(in, VPA_READING_DAMAGED), torn = count_of(in, VPA_READING_TORN);

	vpt_out_print(o, "chunks    %zu, %s\n", vpt_trace_chunks(in->trace),
		in->reading.has_end ? "ends with a clean stop"
		: in->reading.is_recorded
			? "still being recorded"
			: "ends without a clean stop: its process may have been killed");
	vpt_out_print(o, "damage    ");
	if (damaged || torn || header_damaged(in))
		vpt_out_print(o,
			"%" PRIu64 " chunks damaged, %" PRIu64
			" torn%s; vptrace-analyze check lists them\n",
			damaged, torn, header_damaged(in) ? ", header damaged" : "");
	else if (chunks_read(in) < vpt_trace_chunks(in->trace))
		vpt_out_print(o, "none in the %zu chunks read; vptrace-analyze check reads all\n",
			chunks_read(in));
	else
		vpt_out_print(o, "none\n");
	if (in->reading.header_lost)
		vpt_out_print(o, "dropped   %" PRIu64 " events, by the tracer while it recorded\n",
			in->reading.header_lost);
	if (in->reading.unknown_sections)
		vpt_out_print(o,
			"newer     %" PRIu64 " sections of a newer format version were skipped\n",
			in->reading.unknown_sections);
}

static void print_missing(void *ctx, const struct vpa_remark *remark)
{
	struct vpt_out *o = ctx;

	if (!remark->is_missing)
		return;
	vpt_out_print(o, "missing   ");
	vpt_out_text(o, remark->text, strlen(remark->text));
	vpt_out_print(o, "%s%s\n", remark->remedy[0] ? ": " : "", remark->remedy);
}

static void print_text(struct vpt_out *o, const struct info *in)
{
	const struct vpt_header *h = vpt_trace_header(in->trace);
	const struct vpt_import_stats *s = vpt_trace_import_stats(in->trace);

	vpt_out_print(o, "file      ");
	vpt_out_text(o, in->path, strlen(in->path));
	vpt_out_print(o, "\nformat    %s", vpt_trace_format_name(in->trace));
	if (!s && !header_damaged(in))
		vpt_out_print(o, " %u.%u", h->major, h->minor);
	vpt_out_print(o, ", %" PRIu64 " bytes\n", in->size_bytes);
	print_header(o, in);
	print_events(o, in);
	print_devices(o, in);
	print_meta(o, in);
	if (s)
		print_import(o, s);
	else
		print_damage(o, in);
	vpa_completeness_judge(&in->reading, print_missing, o);
}

/* ---- JSON ---- */

static void put_string(struct vpt_json *j, const char *key, const struct info *in, uint64_t id)
{
	struct vpt_text t = vpt_strings_get(&in->strings, id);

	vpt_json_text(j, key, t.text, t.len);
}

static void put_file(struct vpt_json *j, const struct info *in)
{
	const struct vpt_header *h = vpt_trace_header(in->trace);
	char utc[40], id[20];

	utc_text(h->t0_unix_ns, utc);
	snprintf(id, sizeof(id), "%016" PRIx64, h->capture_id);
	vpt_json_string(j, "path", in->path);
	vpt_json_string(j, "format", vpt_trace_format_name(in->trace));
	vpt_json_u64(j, "size_bytes", in->size_bytes);
	vpt_json_u64(j, "major", h->major);
	vpt_json_u64(j, "minor", h->minor);
	vpt_json_string(j, "capture_id", h->capture_id ? id : NULL);
	vpt_json_u64(j, "pid", h->pid);
	vpt_json_u64(j, "start_ns", vpt_trace_start(in->trace));
	vpt_json_string(j, "start_utc", *utc ? utc : NULL);
	vpt_json_u64(j, "length_ns", length_ns(in));
}

static void put_contents(struct vpt_json *j, const struct info *in)
{
	unsigned type;

	vpt_json_u64(j, "events", in->events);
	if (in->events)
		vpt_json_fixed(
			j, "bytes_per_event", (double)in->size_bytes / (double)in->events, 3);
	else
		vpt_json_null(j, "bytes_per_event");
	vpt_json_object(j, "kinds");
	for (type = 0; type < VPT_KIND_LIMIT; type++)
		if (vpt_kind_desc(type) && vpt_kind_desc(type)->flags & VPT_KIND_EVENT &&
			in->rows[type])
			vpt_json_u64(j, vpt_kind_desc(type)->name, in->rows[type]);
	vpt_json_end(j);
	vpt_json_object(j, "lanes");
	vpt_json_u64(j, "streams", in->lanes[VPT_LANETYPE_STREAM]);
	vpt_json_u64(j, "threads", in->lanes[VPT_LANETYPE_THREAD]);
	vpt_json_u64(j, "series", in->lanes[VPT_LANETYPE_SERIES]);
	vpt_json_end(j);
}

/* The device table as the schema has it. */
static void put_tables(struct vpt_json *j, const struct info *in)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(VPT_DEVICE);
	size_t i;
	unsigned c;

	vpt_json_array(j, "devices");
	for (i = 0; i < in->gpu_count; i++) {
		const uint64_t *values = (const uint64_t *)(const void *)&in->gpus[i].row;

		vpt_json_object(j, NULL);
		for (c = 0; c < kind->n_columns; c++)
			if (kind->columns[c].unit == VPT_UNIT_STRING)
				put_string(j, kind->columns[c].name, in, values[c]);
			else
				vpt_json_i64(j, kind->columns[c].name, (int64_t)values[c]);
		vpt_json_end(j);
	}
	vpt_json_end(j);
	vpt_json_array(j, "meta");
	for (i = 0; i < in->meta_count; i++) {
		vpt_json_object(j, NULL);
		put_string(j, "key", in, in->meta[i].key);
		put_string(j, "value", in, in->meta[i].value);
		vpt_json_end(j);
	}
	vpt_json_end(j);
}

static void put_missing(void *ctx, const struct vpa_remark *remark)
{
	if (remark->is_missing)
		vpt_json_string(ctx, NULL, remark->text);
}

static void put_state(struct vpt_json *j, const struct info *in)
{
	const struct vpt_import_stats *s = vpt_trace_import_stats(in->trace);
	size_t i;

	vpt_json_u64(j, "chunks", vpt_trace_chunks(in->trace));
	if (s) {
		vpt_json_object(j, "import");
		for (i = 0; i < IMPORT_COUNTS; i++)
			vpt_json_u64(j, import_counts[i].key, import_count(s, i));
		vpt_json_bool(j, "truncated", s->truncated);
		vpt_json_end(j);
		return;
	}
	vpt_json_bool(j, "clean_stop", in->reading.has_end);
	vpt_json_bool(j, "being_recorded", in->reading.is_recorded);
	vpt_json_bool(j, "header_damaged", header_damaged(in));
	vpt_json_u64(j, "chunks_read", chunks_read(in));
	vpt_json_u64(j, "damaged_chunks", count_of(in, VPA_READING_DAMAGED));
	vpt_json_u64(j, "torn_chunks", count_of(in, VPA_READING_TORN));
	vpt_json_u64(j, "damaged_bytes", vpt_reader_damaged_bytes(vpt_trace_reader(in->trace)));
	vpt_json_u64(j, "dropped", in->reading.header_lost);
	vpt_json_u64(j, "unknown_sections", in->reading.unknown_sections);
}

static int print_json(struct vpt_out *o, const struct info *in)
{
	struct vpt_json j;

	vpt_json_init(&j, o->sink, 1);
	vpt_json_object(&j, NULL);
	vpt_json_string(&j, "schema", "vptrace.info/1");
	put_file(&j, in);
	put_contents(&j, in);
	put_tables(&j, in);
	put_state(&j, in);
	vpt_json_bool(&j, "complete", vpa_completeness_judge(&in->reading, NULL, NULL));
	vpt_json_array(&j, "missing");
	vpa_completeness_judge(&in->reading, put_missing, &j);
	vpt_json_end(&j);
	vpt_json_end(&j);
	vpt_json_newline(&j);
	return vpt_json_finish(&j, &o->err);
}

/* ---- the whole ---- */

static int gather(struct info *in, struct vpt_err *err)
{
	struct vpa_prefetch *chunks;
	struct vpt_batch *b;
	struct vpt_err why = {0};
	size_t index;
	/* Of an import, making chunks is a tenth of the work, and each takes memory. */
	unsigned jobs = vpt_trace_reader(in->trace) ? 0 : 1;
	int rc = vpt_choose_for_facts(vpt_trace_reader(in->trace), &in->chosen);

	if (!rc)
		rc = vpa_prefetch_start(in->trace, &in->chosen, jobs, 0, &chunks, err);
	if (rc)
		return rc;
	in->size_bytes = vpt_trace_size_bytes(in->trace);
	in->end_ns = vpt_trace_start(in->trace);
	vpa_completeness_begin(&in->reading, in->trace);
	for (index = 0; index < vpt_trace_chunks(in->trace) && !rc; index++) {
		if (vpt_chunk_use(&in->chosen, index) == VPT_CHUNK_LEFT) {
			rc = take_left(in, index);
			continue;
		}
		rc = vpa_prefetch_next(chunks, &b, &why);
		if (rc == VPT_EDATA)
			rc = vpa_completeness_damage(&in->reading, index, why.text);
		else if (!rc)
			rc = take_chunk(in, index, b);
		else
			*err = why;
	}
	vpa_prefetch_stop(chunks);
	return rc ? rc : vpa_completeness_end(&in->reading);
}

static void info_free(struct info *in)
{
	vpa_completeness_free(&in->reading);
	vpt_chunk_choice_free(&in->chosen);
	vpt_strings_free(&in->strings);
	vpt_strings_free(&in->lane_keys);
	vpt_strings_free(&in->gpu_keys);
	vpt_strings_free(&in->meta_keys);
	vpt_free(in->gpus);
	vpt_free(in->meta);
}

static int run(const struct vpt_args *args)
{
	struct info in = {.path = vpa_input_name(args->operands[0])};
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};
	struct vpt_out o;
	int rc, lossy = 0;

	rc = vpt_trace_open(args->operands[0], &trace, &err);
	in.trace = trace;
	if (!rc)
		rc = gather(&in, &err);
	if (!rc)
		rc = vpt_out_open(&o, "-", 0, &err);
	if (!rc) {
		lossy = !vpa_completeness_judge(&in.reading, NULL, NULL);
		if (vpt_is(args, FORMAT, "json"))
			o.failed = print_json(&o, &in);
		else
			print_text(&o, &in);
		rc = vpt_out_close(&o, 1, &err);
	}
	info_free(&in);
	vpt_trace_close(trace);
	if (rc)
		return vpa_failed(&err);
	return lossy ? VPT_EXIT_DAMAGED : VPT_EXIT_DONE;
}

const struct vpt_command vpa_cmd_info = {
	.program = VPA_PROGRAM,
	.name = "info",
	.usage = "FILE [options]",
	.help = "show what a file contains and what could not be read",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.run = run,
};
