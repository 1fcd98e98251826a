/* test_memory_limits.c - writing, reading, collecting: each allocation fails in turn, see scarce.h. */
#include "formats/base/memory.h"
#include "formats/file/capture_writer.h"
#include "formats/import/any_trace.h"
#include "formats/import/collect/collect.h"
#include "tests/support/traces/hand.h"
#include "tests/support/scarce.h"
#include "tests/support/traces/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Enough of everything for each array to grow: rows, sections, strings, configurations. */
static void fill(struct vpt_batch *b)
{
	struct vpt_random r = {1};
	uint64_t lane;

	vpt_hand_batch(b, &r, 1200);
	for (lane = 0; lane < 70; lane++) {
		struct vpt_mark mark = {.time_ns = lane + 1};
		struct vpt_config config = {.graph = lane};

		vpt_batch_config(b, &config);
		vpt_batch_put(b, VPT_MARK, lane, &mark);
	}
}

static int write_capture(struct vpt_err *err)
{
	struct vpt_header header = {.t0_ns = 1};
	struct vpt_writer *w = NULL;
	struct vpt_buffer bytes;
	struct vpt_sink *sink;
	struct vpt_batch b;
	int rc = vpt_sink_memory(&bytes, &sink, err), finished, i;

	if (rc)
		return rc;
	vpt_batch_init(&b);
	rc = vpt_writer_open(sink, &header, 0, &w, err);
	for (i = 0; !rc && i < 2; i++) {
		fill(&b);
		rc = vpt_writer_put(w, &b, err);
	}
	vpt_writer_free(w);
	vpt_batch_free(&b);
	finished = sink->finish(sink, !rc, rc ? NULL : err);
	vpt_free(bytes.data);
	return rc ? rc : finished;
}

static void writing_survives_each_missing_allocation(void **state)
{
	(void)state;
	vpt_fail_each_allocation(write_capture);
}

static struct vpt_buffer file;

/* A damaged chunk is no failure; one that there is no memory for is, and the next ones are tried all the same. */
static int read_trace(struct vpt_source *src, struct vpt_err *err)
{
	struct vpt_decoder *d;
	struct vpt_trace *t;
	struct vpt_batch b;
	int rc = vpt_trace_open_source(src, &t, err), worst = VPT_OK;
	size_t i;

	if (rc) {
		assert_null(t);
		return rc;
	}
	vpt_batch_init(&b);
	d = vpt_decoder_new();
	for (i = 0; d && i < vpt_trace_chunks(t); i++) {
		rc = vpt_trace_chunk(t, d, i, &b, worst ? NULL : err);
		worst = rc && rc != VPT_EDATA ? rc : worst;
	}
	vpt_decoder_free(d);
	vpt_batch_free(&b);
	vpt_trace_close(t);
	return d ? worst : vpt_fail(err, VPT_ENOMEM, "no memory for a decoder");
}

static int read_capture(struct vpt_err *err)
{
	struct vpt_source *src;
	int rc = vpt_source_memory(file.data, file.size, &src, err);

	return rc ? rc : read_trace(src, err);
}

static void reading_survives_each_missing_allocation(void **state)
{
	(void)state;
	vpt_hand_capture(&file, 3, 3, 1500, NULL);
	vpt_fail_each_allocation(read_capture);
	vpt_free(file.data);
	file = (struct vpt_buffer){0};
}

/* Damage in front makes the reader look for chunks; that must not turn a lack of memory into "no capture". */
static void reading_a_damaged_file_survives_each_missing_allocation(void **state)
{
	struct vpt_buffer whole = {0};

	(void)state;
	vpt_hand_capture(&whole, 3, 3, 50, NULL);
	vpt_hand_fill(&file, 'g', 100);
	vpt_hand_put(&file, whole.data, whole.size);
	vpt_free(whole.data);
	vpt_fail_each_allocation(read_capture);
	vpt_free(file.data);
	file = (struct vpt_buffer){0};
}

static void put_rows(struct vpt_collect *c)
{
	uint64_t i;
	char text[32];

	for (i = 0; i < 1200; i++) {
		uint64_t thread = vpt_collect_thread(c, 1, (int64_t)(i % 150));
		uint64_t stream = vpt_collect_stream(c, 1, 0, 1, (int64_t)(i % 3));
		struct vpt_config config = {.grid_x = i % 200};
		struct vpt_kernel k = {.start_ns = 10000 - i, .duration_ns = 5};
		struct vpt_range r = {.start_ns = 1 + i, .duration_ns = 500};

		snprintf(text, sizeof(text), "name %llu", (unsigned long long)i % 300);
		r.name = config.name = vpt_collect_string(c, text, strlen(text));
		k.config = vpt_collect_config(c, &config);
		vpt_collect_put(c, VPT_KERNEL, stream, &k);
		vpt_collect_put(c, VPT_RANGE, thread, &r);
	}
	vpt_collect_fact(c, VPT_METADATA_PIPELINE, "value");
}

/* Long texts, so that there are cuts and open ranges. */
static void put_long_rows(struct vpt_collect *c)
{
	static char text[VPT_STRING_MAX];
	uint64_t i;

	for (i = 0; i < 70; i++) {
		struct vpt_range r = {.start_ns = 1 + i % 7, .duration_ns = 100 + i};

		memcpy(text, &i, sizeof(i));
		r.name = vpt_collect_string(c, text, sizeof(text));
		vpt_collect_put(c, VPT_RANGE, vpt_collect_thread(c, 1, 1), &r);
	}
}

static int collect_with(void (*put)(struct vpt_collect *c), struct vpt_err *err)
{
	struct vpt_collect *c = vpt_collect_new();
	struct vpt_batch b;
	size_t i;
	int rc;

	if (!c)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a collector");
	put(c);
	vpt_batch_init(&b);
	rc = vpt_collect_finish(c, err);
	for (i = 0; !rc && i < vpt_collect_chunks(c); i++)
		rc = vpt_collect_chunk(c, i, &b, err);
	vpt_batch_free(&b);
	vpt_collect_free(c);
	return rc;
}

static int collect(struct vpt_err *err)
{
	return collect_with(put_rows, err);
}

static int collect_long(struct vpt_err *err)
{
	return collect_with(put_long_rows, err);
}

static void collecting_survives_each_missing_allocation(void **state)
{
	(void)state;
	vpt_fail_each_allocation(collect);
	vpt_fail_each_allocation(collect_long);
}

static int run_script(struct vpt_err *err)
{
	static const char script[] = "device 0 \"Sim GPU\" cc 9.0 sms 132; meta a b; call t1 "
				     "cudaLaunchKernel 10-20 corr 1\n"
				     "kernel s7 30-40 corr 1 \"gemm\"; chunk; range t1 5-100 "
				     "\"step\"; open t2 3 \"block\"\n";
	struct vpt_source *src;
	int rc = vpt_script_source(script, &src, err);

	return rc ? rc : read_trace(src, err);
}

static void scripts_survive_each_missing_allocation(void **state)
{
	(void)state;
	vpt_fail_each_allocation(run_script);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(writing_survives_each_missing_allocation),
		cmocka_unit_test(reading_survives_each_missing_allocation),
		cmocka_unit_test(reading_a_damaged_file_survives_each_missing_allocation),
		cmocka_unit_test(collecting_survives_each_missing_allocation),
		cmocka_unit_test(scripts_survive_each_missing_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
