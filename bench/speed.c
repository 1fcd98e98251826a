/* speed.c - nanoseconds per event to encode and to decode, on one core.
 *
 *	bench_speed [-t] [-n EVENTS] [-p PASSES] FILE     -t: tab-separated, for run.sh
 *
 * The first EVENTS of a trace (default 2,000,000) are laid out as rows in the order in which a
 * tracer gets them. Each of PASSES passes (default 9) then measures:
 *
 *	fill       vpt_batch_put of every row into an empty batch; "reading" is the part of it spent on
 *	           getting the rows from memory, as a tracer gets its records
 *	transform  vpt_batch_measure and vpt_chunk_encode: columns, planes, headers
 *	zstd       the rest of vpt_writer_put: compression, a sink that only counts
 *	decode     vpt_trace_chunk of every chunk of the capture, from memory
 *
 * In addition, "names" is vpt_batch_config and vpt_batch_string, as often as a tracer would call
 * them. The best pass shows what the code costs, the median what it cost on this machine in this
 * run. */
#include "bench/bench.h"
#include "formats/base/memory.h"
#include "formats/chunk/chunk.h"
#include "formats/file/capture_writer.h"
#include "formats/import/any_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PASSES_MAX = 101 };
enum part { READ, FILL, NAMES, TRANSFORM, PUT, DECODE, PARTS };

/* A chunk as a tracer gets it: a sequence of rows, each an array of its columns. */
struct chunk_rows {
	struct vpt_batch batch; /* as read; the source of strings and tables */
	uint64_t *values;
	struct row_head {
		uint64_t lane;
		uint32_t kind, columns;
	} * heads;
	size_t row_count;
};

struct speed {
	struct chunk_rows *chunks;
	size_t chunk_count;
	uint64_t events;
	struct vpt_header header;
	struct vpt_batch batch;
	struct vpt_payload payload;
	struct vpt_buffer capture;
	uint64_t ns[PARTS][PASSES_MAX], read_sum;
	struct vpt_err err;
};

/* ---- the rows ---- */

static int lay_out(struct chunk_rows *c, struct vpt_err *err)
{
	struct bench_order order = {0};
	uint64_t *to;
	size_t i;
	unsigned k;
	int rc = VPT_OK;

	if (bench_order_rows(&c->batch, &order))
		goto no_memory;
	c->values = vpt_alloc(order.count * VPT_COLUMNS_MAX + 1, sizeof(*c->values));
	c->heads = vpt_alloc(order.count + 1, sizeof(*c->heads));
	if (!c->values || !c->heads)
		goto no_memory;
	to = c->values;
	for (i = 0; i < order.count; i++) {
		const struct vpt_section *s = &c->batch.sections[order.rows[i].section];
		unsigned columns = vpt_kind_desc(s->kind)->n_columns;

		for (k = 0; k < columns; k++)
			*to++ = s->col[k][order.rows[i].row];
		c->heads[i] = (struct row_head){s->lane, s->kind, columns};
	}
	c->row_count = order.count;
out:
	vpt_free(order.rows);
	return rc;
no_memory:
	rc = vpt_fail(err, VPT_ENOMEM, "no memory for the rows of a chunk");
	goto out;
}

static int load(struct speed *s, const char *path, uint64_t events_max)
{
	struct vpt_decoder *d = vpt_decoder_new();
	struct vpt_trace *t = NULL;
	size_t i;
	int rc;

	rc = d ? vpt_trace_open(path, &t, &s->err)
	       : vpt_fail(&s->err, VPT_ENOMEM, "no memory for zstd");
	if (rc)
		goto out;
	s->header = *vpt_trace_header(t);
	s->chunks = vpt_calloc(vpt_trace_chunks(t), sizeof(*s->chunks));
	if (!s->chunks)
		rc = vpt_fail(&s->err, VPT_ENOMEM, "no memory for %zu chunks", vpt_trace_chunks(t));
	for (i = 0; !rc && i < vpt_trace_chunks(t) && s->events < events_max; i++) {
		struct chunk_rows *c = &s->chunks[s->chunk_count];

		vpt_batch_init(&c->batch);
		s->chunk_count++;
		if (vpt_trace_chunk(t, d, i, &c->batch, NULL))
			continue; /* damaged: an empty chunk */
		s->events += bench_events(&c->batch);
		rc = lay_out(c, &s->err);
	}
	if (!rc && !s->events)
		rc = vpt_fail(&s->err, VPT_EINVAL, "%s holds no events", path);
out:
	vpt_trace_close(t);
	vpt_decoder_free(d);
	return rc;
}

/* ---- the passes ---- */

/* Puts everything except events: strings and tables, with their old ids. */
static void fill_tables(struct speed *s, const struct chunk_rows *c)
{
	struct vpt_batch *b = &s->batch;
	uint64_t row[VPT_COLUMNS_MAX];
	size_t i;
	uint32_t r;
	unsigned k;

	for (i = 0; i < c->batch.strings.count; i++) {
		struct vpt_text t = vpt_batch_text(&c->batch, i);

		vpt_batch_string(b, t.text, t.len);
	}
	for (i = 0; i < c->batch.section_count; i++) {
		const struct vpt_section *from = &c->batch.sections[i];
		const struct vpt_kind_desc *kind = vpt_kind_desc(from->kind);

		for (r = 0; !(kind->flags & VPT_KIND_EVENT) && r < from->row_count; r++) {
			for (k = 0; k < kind->n_columns; k++)
				row[k] = from->col[k][r];
			if (from->kind == VPT_CONFIG)
				vpt_batch_config(b, (const struct vpt_config *)row);
			else
				vpt_batch_put(b, from->kind, from->lane, row);
		}
	}
}

static void fill_rows(struct speed *s, const struct chunk_rows *c)
{
	const uint64_t *row = c->values;
	size_t i;

	for (i = 0; i < c->row_count; i++) {
		vpt_batch_put(&s->batch, c->heads[i].kind, c->heads[i].lane, row);
		row += c->heads[i].columns;
	}
}

/* A tracer looks up each kernel's configuration and each range's name. */
static void look_up_names(struct speed *s, const struct chunk_rows *c)
{
	const struct vpt_section *configs = vpt_batch_find(&c->batch, VPT_CONFIG);
	const uint64_t *row = c->values;
	uint64_t config[VPT_COLUMNS_MAX];
	size_t i;
	unsigned k;

	for (i = 0; i < c->row_count; row += c->heads[i++].columns) {
		if (c->heads[i].kind == VPT_RANGE) {
			struct vpt_text t = vpt_batch_text(&c->batch, row[VPT_RANGE_NAME]);

			vpt_batch_string(&s->batch, t.text, t.len);
		}
		if (c->heads[i].kind != VPT_KERNEL || !configs ||
			row[VPT_KERNEL_CONFIG] >= configs->row_count)
			continue;
		for (k = 0; k < VPT_CONFIG_COLUMNS; k++)
			config[k] = configs->col[k][row[VPT_KERNEL_CONFIG]];
		vpt_batch_config(&s->batch, (const struct vpt_config *)config);
	}
}

/* Sums the rows' values, so that they are really read. All chunks in one go, so that none is in the
 * cache. */
static void read_pass(struct speed *s, int pass)
{
	uint64_t began = bench_now_ns(), sum = 0;
	size_t chunk, i;
	unsigned k;

	for (chunk = 0; chunk < s->chunk_count; chunk++) {
		const struct chunk_rows *c = &s->chunks[chunk];
		const uint64_t *row = c->values;

		for (i = 0; i < c->row_count; row += c->heads[i++].columns)
			for (k = 0; k < c->heads[i].columns; k++)
				sum += row[k];
	}
	s->read_sum += sum;
	s->ns[READ][pass] = bench_now_ns() - began;
}

static int encode_chunk(struct speed *s, const struct chunk_rows *c, struct vpt_writer *w, int pass)
{
	uint64_t began;
	int rc;

	vpt_batch_reset(&s->batch);
	began = bench_now_ns();
	fill_tables(s, c);
	fill_rows(s, c);
	s->ns[FILL][pass] += bench_now_ns() - began;

	began = bench_now_ns();
	look_up_names(s, c);
	s->ns[NAMES][pass] += bench_now_ns() - began;

	began = bench_now_ns();
	vpt_batch_measure(&s->batch);
	rc = vpt_chunk_encode(&s->batch, &s->payload, &s->err);
	s->ns[TRANSFORM][pass] += bench_now_ns() - began;
	if (rc)
		return rc;

	began = bench_now_ns();
	rc = vpt_writer_put(w, &s->batch, &s->err);
	s->ns[PUT][pass] += bench_now_ns() - began;
	return rc;
}

static int encode_pass(struct speed *s, struct vpt_sink *sink, int pass)
{
	struct vpt_writer *w;
	size_t i;
	int rc = vpt_writer_open(sink, &s->header, 0, &w, &s->err);

	for (i = 0; !rc && i < s->chunk_count; i++)
		rc = encode_chunk(s, &s->chunks[i], w, pass);
	vpt_writer_free(w);
	return rc;
}

static int make_capture(struct speed *s)
{
	struct vpt_sink *sink;
	int rc = vpt_sink_memory(&s->capture, &sink, &s->err), finished;

	if (rc)
		return rc;
	rc = encode_pass(s, sink, PASSES_MAX - 1); /* this pass is never shown */
	finished = sink->finish(sink, !rc, rc ? NULL : &s->err);
	return rc ? rc : finished;
}

static int decode_pass(struct speed *s, int pass)
{
	struct vpt_decoder *d = vpt_decoder_new();
	struct vpt_source *src;
	struct vpt_trace *t = NULL;
	size_t i;
	int rc = d ? vpt_source_memory(s->capture.data, s->capture.size, &src, &s->err)
		   : vpt_fail(&s->err, VPT_ENOMEM, "no memory for zstd");

	if (!rc)
		rc = vpt_trace_open_source(src, &t, &s->err);
	for (i = 0; !rc && i < vpt_trace_chunks(t); i++) {
		uint64_t began = bench_now_ns();

		rc = vpt_trace_chunk(t, d, i, &s->batch, &s->err);
		s->ns[DECODE][pass] += bench_now_ns() - began;
	}
	vpt_trace_close(t);
	vpt_decoder_free(d);
	return rc;
}

static int run_passes(struct speed *s, int passes)
{
	int pass, rc = make_capture(s);

	for (pass = 0; !rc && pass < passes; pass++) {
		struct vpt_sink sink = bench_counting_sink();

		read_pass(s, pass);
		rc = encode_pass(s, &sink, pass);
		if (!rc)
			rc = decode_pass(s, pass);
	}
	return rc;
}

/* ---- results ---- */

static int compare_ns(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static double each(const struct speed *s, uint64_t total)
{
	return (double)total / (double)s->events;
}

static void sort_ns(uint64_t *to, const uint64_t *ns, int passes)
{
	memcpy(to, ns, (size_t)passes * sizeof(*to));
	qsort(to, (size_t)passes, sizeof(*to), compare_ns);
}

static void print_line(const struct speed *s, const char *name, const uint64_t *ns, int passes)
{
	uint64_t sorted[PASSES_MAX];

	sort_ns(sorted, ns, passes);
	printf("%-28s %8.2f %8.2f\n", name, each(s, sorted[0]), each(s, sorted[passes / 2]));
}

static uint64_t best(const uint64_t *ns, int passes)
{
	uint64_t least = ns[0];
	int i;

	for (i = 1; i < passes; i++)
		least = ns[i] < least ? ns[i] : least;
	return least;
}

static void print_speed(struct speed *s, const char *path, int passes, int tabs)
{
	uint64_t encode[PASSES_MAX] = {0}, zstd[PASSES_MAX] = {0}, transform[PASSES_MAX];
	int i;

	for (i = 0; i < passes; i++)
		encode[i] = s->ns[FILL][i] + s->ns[PUT][i];
	/* Subtract best from best and median from median: a disturbed pass must not make the rest
	 * look good. */
	sort_ns(zstd, s->ns[PUT], passes);
	sort_ns(transform, s->ns[TRANSFORM], passes);
	for (i = 0; i < passes; i++)
		zstd[i] -= transform[i] < zstd[i] ? transform[i] : zstd[i];
	if (tabs) {
		printf("%s\t%llu\t%.3f\t%.2f\t%.2f\n", bench_base_name(path),
			(unsigned long long)s->events, each(s, s->capture.size),
			each(s, best(encode, passes)), each(s, best(s->ns[DECODE], passes)));
		return;
	}
	printf("%s: %llu events in %zu chunks, %.3f B/event, %d passes, one core\n%-28s %8s %8s\n",
		bench_base_name(path), (unsigned long long)s->events, s->chunk_count,
		each(s, s->capture.size), passes, "ns/event", "best", "median");
	print_line(s, "encode (fill + put)", encode, passes);
	print_line(s, "  fill", s->ns[FILL], passes);
	print_line(s, "    of it reading", s->ns[READ], passes);
	print_line(s, "  put: measure, transform", s->ns[TRANSFORM], passes);
	print_line(s, "  put: zstd", zstd, passes);
	print_line(s, "names (beside encode)", s->ns[NAMES], passes);
	print_line(s, "decode", s->ns[DECODE], passes);
}

static void free_speed(struct speed *s)
{
	size_t i;

	for (i = 0; i < s->chunk_count; i++) {
		vpt_batch_free(&s->chunks[i].batch);
		vpt_free(s->chunks[i].values);
		vpt_free(s->chunks[i].heads);
	}
	vpt_free(s->chunks);
	vpt_batch_free(&s->batch);
	vpt_payload_free(&s->payload);
	vpt_free(s->capture.data);
}

int main(int argc, char **argv)
{
	static struct speed s;
	uint64_t events_max = 2000000;
	int passes = 9, tabs = 0, option, rc;

	while ((option = getopt(argc, argv, "tn:p:")) != -1) {
		tabs |= option == 't';
		if (option == 'n')
			events_max = strtoull(optarg, NULL, 10);
		if (option == 'p')
			passes = atoi(optarg);
		if (option == '?')
			optind = argc + 1;
	}
	if (optind + 1 != argc || passes < 1 || passes >= PASSES_MAX) {
		fprintf(stderr, "usage: bench_speed [-t] [-n EVENTS] [-p PASSES] FILE\n");
		return 2;
	}
	vpt_batch_init(&s.batch);
	rc = load(&s, argv[optind], events_max);
	if (!rc)
		rc = run_passes(&s, passes);
	if (rc)
		fprintf(stderr, "bench_speed: %s\n", s.err.text);
	else
		print_speed(&s, argv[optind], passes, tabs);
	free_speed(&s);
	return rc ? 1 : 0;
}
