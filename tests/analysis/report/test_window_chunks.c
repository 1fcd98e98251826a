/* test_window_chunks.c - a report of a window reads few chunks of a capture with contents, and says the same as one that reads
 * all, and as one of the same file without contents. */
#include "analysis/analyze.h"
#include "analysis/render/renderer.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/capture_layout.h"
#include "formats/file/chunk_choice.h"
#include "formats/file/contents.h"
#include "tests/support/random.h"
#include "tests/support/traces/random_causes.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 300, CUTS = 90, WINDOWS = 4 };

static size_t chunks, left_out, long_captures;

static struct vpt_trace *open_bytes(const char *data, size_t size)
{
	struct vpt_source *src;
	struct vpt_trace *trace;

	assert_int_equal(vpt_source_memory(data, size, &src, NULL), 0);
	assert_int_equal(vpt_trace_open_source(src, &trace, NULL), 0);
	return trace;
}

/* The report, or why there is none. */
static struct vpt_buffer report_of(const struct vpt_trace *trace, const struct vpa_options *o)
{
	struct vpt_buffer json = {0};
	struct vpa_report *report;
	struct vpt_err err = {0};
	struct vpt_sink *sink;

	if (vpa_analyze(trace, "trace", o, &report, &err)) {
		json.size = strlen(err.text);
		json.data = vpt_strndup(err.text, json.size);
		assert_non_null(json.data);
		return json;
	}
	assert_int_equal(vpt_sink_memory(&json, &sink, NULL), 0);
	assert_int_equal(vpa_render_json(report, sink, NULL), 0);
	assert_int_equal(sink->finish(sink, 1, NULL), 0);
	vpa_report_free(report);
	return json;
}

static void expect_equal(uint64_t seed, const char *what, const struct vpa_options *o,
	const struct vpt_buffer *a, const struct vpt_buffer *b)
{
	size_t at = 0;

	if (a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size)))
		return;
	while (at < a->size && at < b->size && a->data[at] == b->data[at])
		at++;
	at = at > 100 ? at - 100 : 0;
	fail_msg("seed %" PRIu64 ", %s, window %" PRIu64 " to %" PRIu64 ":\n%.200s\n---\n%.200s",
		seed, what, o->from_ns, o->to_ns, a->data ? a->data + at : "",
		b->data ? b->data + at : "");
}

static void count_left(const struct vpt_trace *trace, const struct vpa_options *o)
{
	uint64_t start = vpt_trace_start(trace);
	struct vpt_chunk_choice choice;

	assert_int_equal(vpt_choose_for_window(vpt_trace_reader(trace), start + o->from_ns,
				 start + o->to_ns, &choice, NULL),
		0);
	chunks += choice.count;
	left_out += choice.count - choice.read;
	vpt_chunk_choice_free(&choice);
}

/* Cuts the contents off, which are last in the bytes of so short a capture. */
static size_t size_without(const struct vpt_buffer *bytes)
{
	uint32_t size;

	assert_memory_equal(bytes->data + bytes->size - 8, "VPTCNTS\n", 8);
	memcpy(&size, bytes->data + bytes->size - 16, 4);
	return bytes->size - size;
}

/* Of a capture that is not orderly the whole may tell what its chunks do not: of an op that begins before its launch, for
 * example. */
static void check_windows(uint64_t seed, const struct vpt_buffer *bytes, int is_orderly)
{
	struct vpt_trace *trace = open_bytes(bytes->data, bytes->size);
	struct vpt_trace *without = open_bytes(bytes->data, size_without(bytes));
	struct vpt_random random = {seed};
	uint64_t last =
		vpt_reader_info(vpt_trace_reader(trace), vpt_trace_chunks(trace) - 1)->t_max_ns -
		vpt_trace_start(trace);
	int i;

	assert_non_null(vpt_reader_contents(vpt_trace_reader(trace)));
	assert_null(vpt_reader_contents(vpt_trace_reader(without)));
	for (i = 0; i < WINDOWS; i++) {
		struct vpa_options o = {.has_from = 1, .has_to = 1, .jobs = 1 + (unsigned)i % 2};
		struct vpa_options all = o;
		struct vpt_buffer few, whole, none;

		o.from_ns = vpt_random_below(&random, last + 1);
		o.to_ns = o.from_ns + 1 +
			  vpt_random_below(&random, last / (1 + vpt_random_below(&random, 20)) + 1);
		all = o;
		all.whole_file = 1;
		count_left(trace, &o);
		few = report_of(trace, &o);
		whole = report_of(trace, &all);
		none = report_of(without, &o);
		if (is_orderly)
			expect_equal(seed, "chosen chunks against all", &o, &few, &whole);
		expect_equal(seed, "with contents against without", &o, &few, &none);
		vpt_free(few.data);
		vpt_free(whole.data);
		vpt_free(none.data);
	}
	vpt_trace_close(trace);
	vpt_trace_close(without);
}

static void chunks_that_are_left_out_do_not_show_in_the_report(void **state)
{
	const char *only = getenv("VPT_SEED");
	uint64_t seed, from = only ? strtoull(only, NULL, 10) : 1;

	(void)state;
	for (seed = from; seed < (only ? from + 1 : SEEDS); seed++) {
		struct random_causes how = {.seed = seed, .cuts = CUTS, .orderly = seed % 3 > 0};
		struct vpa_options window;
		struct vpt_buffer bytes;
		struct vpt_trace *trace;
		int is_long;

		assert_int_equal(random_causes_write(&how, &window, &bytes, NULL), 0);
		trace = open_bytes(bytes.data, bytes.size);
		is_long = vpt_reader_contents(vpt_trace_reader(trace)) != NULL;
		vpt_trace_close(trace);
		long_captures += (size_t)is_long;
		if (is_long)
			check_windows(seed, &bytes, how.orderly);
		vpt_free(bytes.data);
	}
	print_message(
		"%zu captures, %zu of %zu chunks left out\n", long_captures, left_out, chunks);
	assert_true(only || (long_captures > SEEDS / 4 && left_out > chunks / 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_that_are_left_out_do_not_show_in_the_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
