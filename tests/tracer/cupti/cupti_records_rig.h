/* cupti_records_rig.h - what tests of records share: a decoder on a recorder, buffers decoded by it, and the rows of
 * the open chunk. */
#ifndef TESTS_TRACER_CUPTI_CUPTI_RECORDS_RIG_H
#define TESTS_TRACER_CUPTI_CUPTI_RECORDS_RIG_H

#include "tracer/cupti/records/cupti_records.h"

#include "formats/base/memory.h"
#include "formats/calls.h"
#include "formats/capture_layout.h"
#include "tests/tracer/cupti/cupti_fake.h"
#include "tracer/cupti/records/cupti_decoder.h"
#include "tracer/ranges/words/range_strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <time.h>

#include <cmocka.h>

static struct vtr_recorder *recorder;
static struct vtr_decoder *decoder;
static struct vtr_sizes sizes;
static struct vtr_calls calls;
static struct vpt_buffer file;
static struct fake_buffer buffer;

static inline void close_all(void)
{
	vtr_recorder_free(recorder);
	vtr_decoder_free(decoder);
	vpt_free(file.data);
	recorder = NULL;
	decoder = NULL;
	memset(&file, 0, sizeof(file));
}

static inline void open_recorder(void)
{
	struct vtr_recorder_options o = {
		.header = {.major = VPT_MAJOR, .t0_ns = 1000, .pid = 7}, .level = 1};

	vtr_names_init();
	assert_int_equal(vpt_sink_memory(&file, &o.sink, NULL), VPT_OK);
	assert_int_equal(vtr_recorder_new(&o, &recorder, NULL), VPT_OK);
}

static inline void open_all(const struct fake_version *version)
{
	struct vtr_cupti_functions fn;

	close_all();
	fake_reset(version);
	fn = fake_functions();
	vtr_sizes_learn(&fn, &sizes);
	vtr_calls_learn(&fn, VPTRACE_PROFILE_DEFAULT, &calls);
	open_recorder();
	decoder = vtr_decoder_new();
	assert_non_null(decoder);
	vtr_decoder_begin(decoder, &sizes, &calls);
	buffer.bytes = 0;
}

static inline int teardown(void **state)
{
	(void)state;
	close_all();
	return 0;
}

static inline uint64_t decode_as(int discard, int stale)
{
	struct vtr_full full = {.data = buffer.words,
		.valid_bytes = buffer.bytes,
		.taken_ns = 77,
		.discard = discard,
		.stale = stale};
	uint64_t records = vtr_decoder_buffer(decoder, &full, recorder);

	buffer.bytes = 0;
	return records;
}

static inline uint64_t decode(void)
{
	return decode_as(0, 0);
}

static inline struct vtr_decoded counts(void)
{
	struct vtr_decoded n;

	vtr_decoder_counts(decoder, &n);
	return n;
}

/* Nothing gets lost on the way: the sum of the header, and the recorder's. */
static inline void assert_conserved(uint64_t delivered)
{
	struct vtr_decoded n = counts();
	struct vtr_recorder_totals t;

	vtr_recorder_totals(recorder, &t);
	assert_int_equal(n.records, delivered);
	assert_int_equal(n.records, n.rows + n.dropped + n.filtered + n.described + n.held);
	assert_int_equal(t.received, n.rows + n.dropped);
	assert_int_equal(t.received, t.written + t.dropped);
}

static const struct vpt_section *section_of(enum vpt_kind kind, uint32_t *row)
{
	const struct vpt_batch *b = vtr_recorder_batch(recorder);
	size_t i;

	for (i = 0; i < b->section_count; i++) {
		if (b->sections[i].kind != kind)
			continue;
		if (*row < b->sections[i].row_count)
			return &b->sections[i];
		*row -= b->sections[i].row_count;
	}
	return NULL;
}

static inline uint32_t count(enum vpt_kind kind)
{
	uint32_t n = 0, row;

	for (;; n++) {
		row = n;
		if (!section_of(kind, &row))
			return n;
	}
}

static inline uint64_t cell(enum vpt_kind kind, uint32_t row, unsigned column)
{
	const struct vpt_section *s = section_of(kind, &row);

	assert_non_null(s);
	return s->col[column][row];
}

static inline uint64_t lane_of(enum vpt_kind kind, uint32_t row)
{
	const struct vpt_section *s = section_of(kind, &row);

	assert_non_null(s);
	return s->lane;
}

static inline void assert_text(uint64_t id, const char *expected)
{
	struct vpt_text t = vpt_batch_text(vtr_recorder_batch(recorder), id);

	assert_int_equal(t.len, strlen(expected));
	assert_memory_equal(t.text, expected, t.len);
}

enum { RUNTIME = VTR_KIND_RUNTIME, DRIVER = VTR_KIND_DRIVER };

static inline void put_calls(const char *text, uint32_t thread)
{
	char domain;
	unsigned long start, end;
	unsigned correlation;
	int used;

	for (; sscanf(text, " %c%lu-%lu#%u%n", &domain, &start, &end, &correlation, &used) == 4;
		text += used)
		fake_call(&buffer, domain == 'R' ? RUNTIME : DRIVER,
			domain == 'R' ? FAKE_LAUNCH_KERNEL : FAKE_CU_LAUNCH_KERNEL, thread, start,
			end, correlation);
}

#define TEST(f) cmocka_unit_test_teardown(f, teardown)

#endif
