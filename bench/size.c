/* size.c - bytes per event of a trace in three formats: a vptrace capture, raw CUPTI records with
 * zstd 1, and Kineto's JSON with gzip.
 *
 *	bench_size [-l] [-t] [-j EVENTS] FILE...     one line per format; -t: tab-separated, for run.sh
 *	bench_size -c FILE...                        a capture's bytes, plane by plane
 *
 * Any trace that vptrace-analyze reads will do: its chunks are written again, in memory. An event
 * is a kernel, copy, memset, call, range or sample. JSON is slow to compress, so only the first
 * EVENTS (default 262,144) are written as JSON; with -l it has only the capture's content, see
 * kineto_json.h. */
#include "bench/bench.h"
#include "bench/kineto_json.h"
#include "bench/raw_records.h"
#include "formats/base/memory.h"
#include "formats/chunk/column.h"
#include "formats/file/capture_writer.h"
#include "formats/import/any_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { GZIP_LEVELS = 2, PLANES = 8, TEXT_COLUMN = VPT_COLUMNS_MAX };

static const int gzip_levels[GZIP_LEVELS] = {6, 9};

/* Compresses JSON text once for each level. */
struct gzip_sink {
	struct vpt_sink base; /* first: the writer sees only this */
	z_stream streams[GZIP_LEVELS];
	uint64_t ns[GZIP_LEVELS];
};

struct plane_cost {
	uint64_t rows, bytes;
};

struct sizes {
	const char *path;
	struct vpt_trace *trace;
	struct vpt_decoder *decoder;
	struct vpt_batch batch;
	struct bench_order order; /* of the batch's rows */
	struct vpt_lane *lanes;   /* of the batch's sections */
	size_t lane_cap;
	struct vpt_writer *writer;
	struct vpt_sink counter;
	ZSTD_CCtx *zstd;
	unsigned char *raw, *packed;
	size_t raw_cap, packed_cap;
	uint64_t events, damaged;
	uint64_t vptrace_ns, raw_bytes, raw_packed_bytes, raw_ns;
	int lean; /* the JSON has only the capture's content */
	uint64_t ranges, sm_count;
	uint64_t json_events, json_events_max, json_bytes, json_ns;
	struct gzip_sink gzip;
	struct vpt_json json;
	struct plane_cost cost[VPT_KIND_LIMIT][VPT_COLUMNS_MAX + 1][PLANES];
	struct vpt_err err;
};

/* The LANE row of a key; zeros if there is none. */
static struct vpt_lane find_lane(const struct vpt_batch *b, uint64_t key)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_LANE);
	struct vpt_lane lane = {.key = key};
	uint64_t *values = (uint64_t *)&lane;
	uint32_t row;
	unsigned c;

	for (row = 0; s && row < s->row_count; row++)
		if (s->col[VPT_LANE_KEY][row] == key) {
			for (c = 0; c < VPT_LANE_COLUMNS; c++)
				values[c] = s->col[c][row];
			break;
		}
	return lane;
}

/* Prepares what both foreign formats need: each section's lane, and the order of rows. */
static int prepare(struct sizes *z)
{
	const struct vpt_batch *b = &z->batch;
	size_t i;

	if (vpt_grow(&z->lanes, &z->lane_cap, b->section_count + 1, sizeof(*z->lanes)) ||
		bench_order_rows(b, &z->order))
		return vpt_fail(&z->err, VPT_ENOMEM, "no memory to order a chunk");
	for (i = 0; i < b->section_count; i++)
		z->lanes[i] = find_lane(b, b->sections[i].lane);
	if (vpt_batch_find(b, VPT_DEVICE))
		z->sm_count = vpt_batch_find(b, VPT_DEVICE)->col[VPT_DEVICE_SM_COUNT][0];
	return VPT_OK;
}

/* ---- the three formats ---- */

static int add_vptrace(struct sizes *z)
{
	uint64_t began = bench_now_ns();
	int rc = vpt_writer_put(z->writer, &z->batch, &z->err);

	z->vptrace_ns += bench_now_ns() - began;
	return rc;
}

static int add_raw(struct sizes *z)
{
	const struct vpt_batch *b = &z->batch;
	uint64_t began = bench_now_ns();
	size_t i, used = 0, packed;

	if (vpt_grow(&z->raw, &z->raw_cap, (size_t)b->event_count * RAW_MAX + 1, 1))
		return vpt_fail(&z->err, VPT_ENOMEM, "no memory for raw records");
	for (i = 0; i < z->order.count; i++) {
		const struct bench_row *r = &z->order.rows[i];

		used += raw_put(
			b, &b->sections[r->section], r->row, &z->lanes[r->section], z->raw + used);
	}
	if (vpt_grow(&z->packed, &z->packed_cap, ZSTD_compressBound(used), 1))
		return vpt_fail(&z->err, VPT_ENOMEM, "no memory for packed records");
	packed = ZSTD_compressCCtx(z->zstd, z->packed, z->packed_cap, z->raw, used, 1);
	if (ZSTD_isError(packed))
		return vpt_fail(&z->err, VPT_ENOMEM, "zstd: %s", ZSTD_getErrorName(packed));
	z->raw_ns += bench_now_ns() - began;
	z->raw_bytes += used;
	z->raw_packed_bytes += packed;
	return VPT_OK;
}

static int gzip_write(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	struct gzip_sink *g = (struct gzip_sink *)sink;
	unsigned char out[65536];
	unsigned i;

	(void)err;
	sink->written_bytes += size;
	for (i = 0; i < GZIP_LEVELS; i++) {
		z_stream *s = &g->streams[i];
		uint64_t began = bench_now_ns();

		s->next_in = (Bytef *)(uintptr_t)data;
		s->avail_in = (uInt)size;
		do {
			s->next_out = out;
			s->avail_out = sizeof(out);
			deflate(s, size ? Z_NO_FLUSH : Z_FINISH);
		} while (!s->avail_out);
		g->ns[i] += bench_now_ns() - began;
	}
	return VPT_OK;
}

static void add_json(struct sizes *z)
{
	const struct vpt_batch *b = &z->batch;
	uint64_t began = bench_now_ns();
	size_t i;

	for (i = 0; i < z->order.count && z->json_events < z->json_events_max; i++) {
		const struct bench_row *r = &z->order.rows[i];
		struct kineto_row k = {.batch = b,
			.section = &b->sections[r->section],
			.lane = &z->lanes[r->section],
			.row = r->row,
			.lean = z->lean,
			.t0_ns = vpt_trace_header(z->trace)->t0_ns,
			.operator_id = z->ranges + 1,
			.sm_count = z->sm_count};

		if (!bench_counts(k.section->kind))
			continue;
		z->ranges += k.section->kind == VPT_RANGE;
		kineto_put(&z->json, &k);
		z->json_events++;
	}
	z->json_ns += bench_now_ns() - began;
}

/* ---- where the bytes are ----
 *
 * Here planes are compressed one by one, but in the file they share a window: the sums differ a
 * little. */

static int cost_bytes(
	struct sizes *z, struct plane_cost *cost, const void *data, size_t size, uint64_t rows)
{
	size_t packed;

	if (vpt_grow(&z->packed, &z->packed_cap, ZSTD_compressBound(size), 1))
		return vpt_fail(&z->err, VPT_ENOMEM, "no memory for a plane");
	packed = ZSTD_compressCCtx(z->zstd, z->packed, z->packed_cap, data, size, 1);
	if (ZSTD_isError(packed))
		return vpt_fail(&z->err, VPT_ENOMEM, "zstd: %s", ZSTD_getErrorName(packed));
	cost->rows += rows;
	/* The frame's header is not part of the plane's cost, but its block's header is. */
	cost->bytes += packed > 6 ? packed - 6 : packed;
	return VPT_OK;
}

static int cost_column(struct sizes *z, const struct vpt_section *s, unsigned column)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(s->kind);
	const uint64_t *durations = kind->flags & VPT_KIND_SPAN ? s->col[1] : NULL;
	struct vpt_column_code code;
	unsigned plane;

	if (vpt_grow(&z->raw, &z->raw_cap, (size_t)s->row_count * PLANES, 1))
		return vpt_fail(&z->err, VPT_ENOMEM, "no memory for a column");
	code = vpt_column_plan(kind->columns[column].enc, s->col[column], durations, s->row_count);
	vpt_column_planes(&code, s->col[column], durations, s->row_count, z->raw);
	for (plane = 0; plane < code.width; plane++)
		if (cost_bytes(z, &z->cost[s->kind][column][plane],
			    z->raw + (size_t)plane * s->row_count, s->row_count, s->row_count))
			return VPT_ENOMEM;
	return VPT_OK;
}

static int add_costs(struct sizes *z)
{
	const struct vpt_batch *b = &z->batch;
	size_t i;
	unsigned c;

	if (b->strings.count && cost_bytes(z, &z->cost[VPT_STRING][TEXT_COLUMN][0],
					b->strings.bytes, b->strings.size, b->strings.count))
		return VPT_ENOMEM;
	for (i = 0; i < b->section_count; i++)
		for (c = 0; c < vpt_kind_desc(b->sections[i].kind)->n_columns; c++)
			if (b->sections[i].row_count && cost_column(z, &b->sections[i], c))
				return VPT_ENOMEM;
	return VPT_OK;
}

static void print_column(const struct sizes *z, const struct vpt_kind_desc *kind, unsigned column)
{
	const struct plane_cost *planes = z->cost[kind->type][column];
	uint64_t bytes = 0, rows = 0;
	unsigned p;

	for (p = 0; p < PLANES; p++) {
		bytes += planes[p].bytes;
		rows = planes[p].rows > rows ? planes[p].rows : rows;
	}
	if (!rows)
		return;
	printf("%-9s %-14s %10llu %10llu %8.3f %8.3f   ", kind->name,
		column == TEXT_COLUMN ? "text" : kind->columns[column].name,
		(unsigned long long)rows, (unsigned long long)bytes, (double)bytes / (double)rows,
		(double)bytes / (double)z->events);
	for (p = 0; p < PLANES && planes[p].rows; p++)
		printf(" %.2f", (double)planes[p].bytes / (double)rows);
	printf("\n");
}

static void print_costs(const struct sizes *z)
{
	uint64_t total = 0;
	unsigned k, c, p;

	printf("%s: %llu events, %llu bytes, %.3f B/event\n", bench_base_name(z->path),
		(unsigned long long)z->events, (unsigned long long)z->counter.written_bytes,
		(double)z->counter.written_bytes / (double)z->events);
	printf("%-9s %-14s %10s %10s %8s %8s    planes, B/row\n", "kind", "column", "rows", "bytes",
		"B/row", "B/event");
	for (k = 0; k < VPT_KIND_LIMIT; k++)
		for (c = 0; vpt_kind_desc(k) && c <= VPT_COLUMNS_MAX; c++) {
			print_column(z, vpt_kind_desc(k), c);
			for (p = 0; p < PLANES; p++)
				total += z->cost[k][c][p].bytes;
		}
	printf("planes packed one by one %llu bytes, the rest is headers and what packing them "
	       "together changes\n\n",
		(unsigned long long)total);
}

/* ---- one trace ---- */

static int open_all(struct sizes *z, const char *path)
{
	unsigned i;
	int rc;

	z->path = path;
	z->counter = bench_counting_sink();
	z->gzip.base.write = gzip_write;
	vpt_batch_init(&z->batch);
	vpt_json_init(&z->json, &z->gzip.base, 0);
	for (i = 0; i < GZIP_LEVELS; i++)
		if (deflateInit2(&z->gzip.streams[i], gzip_levels[i], Z_DEFLATED, 15 + 16, 8,
			    Z_DEFAULT_STRATEGY))
			return vpt_fail(&z->err, VPT_ENOMEM, "no memory for gzip");
	z->decoder = vpt_decoder_new();
	z->zstd = ZSTD_createCCtx();
	if (!z->decoder || !z->zstd)
		return vpt_fail(&z->err, VPT_ENOMEM, "no memory for zstd");
	rc = vpt_trace_open(path, &z->trace, &z->err);
	return rc ? rc
		  : vpt_writer_open(
			    &z->counter, vpt_trace_header(z->trace), 0, &z->writer, &z->err);
}

static int measure(struct sizes *z, int columns)
{
	uint64_t began;
	size_t chunk;
	int rc = VPT_OK;

	for (chunk = 0; !rc && chunk < vpt_trace_chunks(z->trace); chunk++) {
		if (vpt_trace_chunk(z->trace, z->decoder, chunk, &z->batch, &z->err)) {
			z->damaged++;
			continue;
		}
		z->events += bench_events(&z->batch);
		rc = add_vptrace(z);
		if (!rc && columns)
			rc = add_costs(z);
		if (!rc && !columns)
			rc = prepare(z);
		if (!rc && !columns) {
			rc = add_raw(z);
			add_json(z);
		}
	}
	began = bench_now_ns();
	if (!rc)
		rc = vpt_json_finish(&z->json, &z->err);
	if (!rc)
		gzip_write(&z->gzip.base, "", 0, NULL);
	z->json_ns += bench_now_ns() - began;
	return rc;
}

static void close_all(struct sizes *z)
{
	unsigned i;

	for (i = 0; i < GZIP_LEVELS; i++)
		deflateEnd(&z->gzip.streams[i]);
	vpt_trace_close(z->trace);
	vpt_writer_free(z->writer);
	vpt_decoder_free(z->decoder);
	vpt_batch_free(&z->batch);
	ZSTD_freeCCtx(z->zstd);
	vpt_free(z->raw);
	vpt_free(z->packed);
	vpt_free(z->lanes);
	vpt_free(z->order.rows);
}

static void print_shape(const struct sizes *z, int tabs, const char *shape, uint64_t events,
	uint64_t bytes, uint64_t ns)
{
	char encode[32] = "-";

	if (ns)
		snprintf(encode, sizeof(encode), "%.1f", (double)ns / (double)events);
	printf(tabs ? "%s\t%s\t%llu\t%.3f\t%s\n"
		    : "%-34s %-20s %10llu events %9.3f B/event %9s ns/event to encode\n",
		bench_base_name(z->path), shape, (unsigned long long)events,
		(double)bytes / (double)events, encode);
}

static void print_sizes(const struct sizes *z, int tabs)
{
	uint64_t format_ns = z->json_ns - z->gzip.ns[0] - z->gzip.ns[1];
	struct stat file;
	char shape[32];
	unsigned i;

	/* A foreign file may hold more than its events; it is what its owner has on disk. */
	if (vpt_trace_format(z->trace) != VPT_FORMAT_CAPTURE && !stat(z->path, &file))
		print_shape(z, tabs, "file as given", z->events, (uint64_t)file.st_size, 0);
	print_shape(z, tabs, "vptrace", z->events, z->counter.written_bytes, z->vptrace_ns);
	print_shape(z, tabs, "CUPTI raw", z->events, z->raw_bytes, 0);
	print_shape(z, tabs, "CUPTI raw + zstd 1", z->events, z->raw_packed_bytes, z->raw_ns);
	print_shape(z, tabs, "Kineto JSON", z->json_events, z->gzip.base.written_bytes, format_ns);
	for (i = 0; i < GZIP_LEVELS; i++) {
		snprintf(shape, sizeof(shape), "Kineto JSON + gzip %d", gzip_levels[i]);
		print_shape(z, tabs, shape, z->json_events, z->gzip.streams[i].total_out,
			format_ns + z->gzip.ns[i]);
	}
}

static int size_of(const char *path, int columns, int tabs, int lean, uint64_t json_events_max)
{
	struct sizes *z = vpt_calloc(1, sizeof(*z));
	int rc;

	if (!z) {
		fprintf(stderr, "bench_size: no memory\n");
		return 1;
	}
	z->json_events_max = json_events_max;
	z->lean = lean;
	rc = open_all(z, path);
	if (!rc)
		rc = measure(z, columns);
	if (rc)
		fprintf(stderr, "bench_size: %s\n", z->err.text);
	else if (!z->events)
		fprintf(stderr, "bench_size: %s holds no events\n", path);
	else if (columns)
		print_costs(z);
	else
		print_sizes(z, tabs);
	if (z->damaged)
		fprintf(stderr, "bench_size: %s: %llu chunks left out, damaged\n", path,
			(unsigned long long)z->damaged);
	close_all(z);
	vpt_free(z);
	return rc ? 1 : 0;
}

int main(int argc, char **argv)
{
	uint64_t json_events_max = 262144;
	int columns = 0, tabs = 0, lean = 0, option, status = 0;

	while ((option = getopt(argc, argv, "cltj:")) != -1) {
		columns |= option == 'c';
		tabs |= option == 't';
		lean |= option == 'l';
		if (option == 'j')
			json_events_max = strtoull(optarg, NULL, 10);
		if (option == '?')
			optind = argc + 1;
	}
	if (optind >= argc) {
		fprintf(stderr, "usage: bench_size [-c] [-l] [-t] [-j EVENTS] FILE...\n");
		return 2;
	}
	for (; optind < argc; optind++)
		status |= size_of(argv[optind], columns, tabs, lean, json_events_max);
	return status;
}
