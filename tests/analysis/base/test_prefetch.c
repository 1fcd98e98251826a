/* test_prefetch.c - chunks come in order and all of them, whoever decodes them. */
#include "analysis/join/prefetch.h"
#include "formats/base/memory.h"
#include "formats/chunk/chunk.h"
#include "tests/support/traces/hand.h"
#include "tests/support/traces/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CHUNKS = 40, ROWS = 60 };

static size_t frame_ends[CHUNKS + 1];

static struct vpt_trace *open_capture(size_t chunks, int damaged)
{
	struct vpt_buffer file = {0};
	struct vpt_source *source;
	struct vpt_trace *trace;
	struct vpt_err err = {0};

	vpt_hand_capture(&file, 7, chunks, ROWS, frame_ends);
	/* A byte in the middle of a frame: its checksum tells. */
	if (damaged >= 0)
		file.data[(frame_ends[damaged] + frame_ends[damaged + 1]) / 2] ^= 0x55;
	assert_int_equal(vpt_source_own(&file, &source, &err), 0);
	if (vpt_trace_open_source(source, &trace, &err))
		fail_msg("%s", err.text);
	assert_int_equal(vpt_trace_chunks(trace), chunks);
	return trace;
}

/* Takes every chunk; returns how many were damaged, and checks that the others come as they are written. */
static size_t take_all(const struct vpt_trace *trace, unsigned jobs, int damaged)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_batch *batch, same;
	struct vpa_prefetch *p;
	struct vpt_err err = {0};
	size_t at = 0, bad = 0;
	int rc;

	vpt_batch_init(&same);
	assert_int_equal(vpa_prefetch_start(trace, NULL, jobs, jobs % 3, &p, &err), 0);
	while ((rc = vpa_prefetch_next(p, &batch, &err)) != VPT_END) {
		const char *differ;

		if (rc == VPT_EDATA) {
			assert_int_equal(at, damaged);
			assert_true(err.text[0] != 0);
			bad++;
			at++;
			continue;
		}
		assert_int_equal(rc, 0);
		assert_int_equal(vpt_trace_chunk(trace, decoder, at, &same, &err), 0);
		assert_int_equal(vpt_chunk_unpack(batch), 0);
		differ = vpt_hand_differ(batch, &same);
		if (differ)
			fail_msg("%u jobs, chunk %zu: %s", jobs, at, differ);
		assert_int_equal(batch->sequence, same.sequence);
		at++;
	}
	assert_int_equal(at, vpt_trace_chunks(trace));
	assert_int_equal(vpa_prefetch_next(p, &batch, &err), VPT_END);
	vpa_prefetch_stop(p);
	vpt_batch_free(&same);
	vpt_decoder_free(decoder);
	return bad;
}

static const unsigned jobs_tried[] = {0, 1, 2, 3, 4, 16, 100};

static void chunks_come_in_order_for_any_number_of_threads(void **state)
{
	struct vpt_trace *trace = open_capture(CHUNKS, -1);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(jobs_tried) / sizeof(jobs_tried[0]); i++)
		assert_int_equal(take_all(trace, jobs_tried[i], -1), 0);
	vpt_trace_close(trace);
}

static void a_damaged_chunk_costs_only_itself(void **state)
{
	struct vpt_trace *trace = open_capture(CHUNKS, 17);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(jobs_tried) / sizeof(jobs_tried[0]); i++)
		assert_int_equal(take_all(trace, jobs_tried[i], 17), 1);
	vpt_trace_close(trace);
}

static void a_single_chunk_needs_no_threads(void **state)
{
	struct vpt_trace *trace = open_capture(1, -1);

	(void)state;
	assert_int_equal(take_all(trace, 4, -1), 0);
	vpt_trace_close(trace);
}

/* Stopping before the end, with chunks decoded and not asked for: nothing hangs and nothing leaks. */
static void stopping_early_waits_for_nobody(void **state)
{
	struct vpt_trace *trace = open_capture(CHUNKS, -1);
	struct vpa_prefetch *p;
	struct vpt_batch *batch;
	unsigned jobs, taken;

	(void)state;
	for (jobs = 1; jobs <= 4; jobs++)
		for (taken = 0; taken < 6; taken++) {
			unsigned i;

			assert_int_equal(
				vpa_prefetch_start(trace, NULL, jobs, taken % 3, &p, NULL), 0);
			for (i = 0; i < taken; i++)
				assert_int_equal(vpa_prefetch_next(p, &batch, NULL), 0);
			vpa_prefetch_stop(p);
		}
	vpa_prefetch_stop(NULL);
	vpt_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_come_in_order_for_any_number_of_threads),
		cmocka_unit_test(a_damaged_chunk_costs_only_itself),
		cmocka_unit_test(a_single_chunk_needs_no_threads),
		cmocka_unit_test(stopping_early_waits_for_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
