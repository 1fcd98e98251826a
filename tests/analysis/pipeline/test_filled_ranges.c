/* test_filled_ranges.c - what a range of several chunks says of itself, of which each chunk may know more. */
#include "formats/base/count.h"
#include "tests/support/traces/block_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { CHUNKS = 4, SILENT = -2 /* no annotation */, UNKNOWN = -1 /* one without frames */ };

/* What a row says: its kind if that is another one than the first row's, and its frames. */
struct says {
	int frames;
	const char *kind;
};

static void put_row(const char *row, const char *kind, const struct says *says)
{
	const char *of = says->kind ? says->kind : kind;

	if (says->frames == SILENT)
		line("%s", row);
	else if (says->frames == UNKNOWN)
		line("%s json \"{\\\"kind\\\":\\\"%s\\\"}\"", row, of);
	else
		line("%s json \"{\\\"kind\\\":\\\"%s\\\",\\\"index\\\":%d,\\\"frames\\\":%d}\"",
			row, of, says->frames, says->frames);
}

/* A range from 10 ms to 390 ms with work in each of four chunks: OPEN rows in three, its end in the last. */
static void range_of_four_chunks(int start_end, const char *kind, const struct says says[CHUNKS])
{
	char row[128];
	unsigned i;

	begin();
	for (i = 0; i < CHUNKS; i++) {
		kernel(20 + 100 * i, 20 + 100 * i, 80 + 100 * i, GEMM);
		if (i + 1 == CHUNKS)
			snprintf(row, sizeof(row), "%s t1 %ums-%ums \"a\" domain vptrace",
				start_end ? "startend" : "range", at(10), at(390));
		else
			snprintf(row, sizeof(row),
				"opened t1 %ums \"a\" domain vptrace range_kind %d", at(10),
				start_end);
		put_row(row, kind, &says[i]);
		if (i + 1 < CHUNKS)
			line("chunk %ums", at(100 * i + 100));
	}
	line("end %ums", at(400));
}

static const struct {
	const char *rule;
	struct says says[CHUNKS];
	uint64_t frames;
} cases[] = {
	{"all rows say the same", {{9, NULL}, {9, NULL}, {9, NULL}, {9, NULL}}, 9},
	{"the end says more", {{UNKNOWN, NULL}, {UNKNOWN, NULL}, {UNKNOWN, NULL}, {17, NULL}}, 17},
	{"each row says something else", {{1, NULL}, {2, NULL}, {3, NULL}, {4, NULL}}, 4},
	{"the end says less", {{1, NULL}, {2, NULL}, {3, NULL}, {UNKNOWN, NULL}}, 0},
	{"the end says nothing", {{UNKNOWN, NULL}, {2, NULL}, {3, NULL}, {SILENT, NULL}}, 3},
	{"it stays what it was", {{2, NULL}, {2, NULL}, {2, NULL}, {7, "stage"}}, 2},
};

static void the_last_row_that_is_annotated_counts(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases) * 2; i++) {
		const size_t k = i / 2;
		struct vpa_report *r;

		range_of_four_chunks((int)(i % 2), "request", cases[k].says);
		r = analyze(NULL);
		assert_int_equal(r->request_count, 1);
		if (r->requests[0].frames != cases[k].frames)
			fail_msg("%s: expected %" PRIu64 " frames, found %" PRIu64, cases[k].rule,
				cases[k].frames, r->requests[0].frames);
		vpa_report_free(r);
	}
}

static void blocks_are_read_again(void **state)
{
	static const struct says says[CHUNKS] = {{UNKNOWN, NULL}, {3, NULL}, {5, NULL}, {8, NULL}};
	struct vpa_report *r;

	(void)state;
	range_of_four_chunks(0, "block", says);
	r = analyze(NULL);
	assert_int_equal(r->request_count, 1);
	assert_int_equal(r->requests[0].blocks.count, 1);
	assert_int_equal(r->requests[0].blocks.series[0].index, 8); /* 0 in the order of time */
	assert_int_equal(r->requests[0].blocks.series[0].frames, 8);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_row_that_is_annotated_counts),
		cmocka_unit_test(blocks_are_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
