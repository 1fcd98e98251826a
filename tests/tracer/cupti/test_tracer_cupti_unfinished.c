/* test_tracer_cupti_unfinished.c - which ops without an end were still to be done when recording stopped. */
#include "tracer/cupti/records/cupti_records.h"

#include "tests/tracer/cupti/cupti_fake.h"
#include "tracer/ranges/words/range_strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { OPS_MAX = 6 };

struct op {
	uint32_t stream, correlation;
	uint64_t start, end;
};

static const struct {
	const char *name;
	struct op ops[OPS_MAX]; /* up to the first of stream 0 */
	uint64_t unfinished, losses;
} cases[] = {
	{"no work, nothing unfinished", {{0}}, 0, 0},
	{"work that was done", {{7, 1, 10, 20}, {7, 2, 20, 30}}, 0, 0},
	{"queued after what was done", {{7, 1, 10, 20}, {7, 2, 0, 0}, {7, 3, 0, 0}}, 2, 1},
	{"running", {{7, 1, 10, 20}, {7, 2, 20, 0}}, 1, 1},
	{"nothing was done yet", {{7, 1, 0, 0}, {7, 2, 0, 0}}, 2, 1},
	{"overtaken on its stream, so it was done", {{7, 1, 0, 0}, {7, 2, 20, 30}}, 0, 0},
	{"records in any order", {{7, 3, 0, 0}, {7, 2, 20, 30}, {7, 1, 0, 0}}, 1, 1},
	{"streams do not overtake each other", {{7, 1, 0, 0}, {8, 2, 20, 30}}, 1, 1},
	{"two streams", {{7, 1, 0, 0}, {8, 2, 20, 30}, {8, 3, 0, 0}, {7, 4, 0, 0}}, 3, 2},
	{"ids that begin again", {{7, 0xfffffffe, 10, 20}, {7, 0xffffffff, 0, 0}, {7, 1, 0, 0}}, 2,
		1},
	{"ids that began again before", {{7, 0xfffffffe, 0, 0}, {7, 1, 20, 30}}, 0, 0},
	{"nodes of one graph", {{7, 5, 10, 20}, {7, 5, 0, 0}}, 1, 1},
};

static struct vtr_sizes sizes;
static struct fake_buffer buffer;

static void learn_sizes(unsigned version)
{
	struct vtr_cupti_functions fn;

	fake_reset(&fake_versions[version]);
	fn = fake_functions();
	vtr_sizes_learn(&fn, &sizes);
}

static uint64_t count_losses(struct vtr_recorder *r)
{
	const struct vpt_batch *b = vtr_recorder_batch(r);
	uint64_t rows = 0;
	uint32_t i;

	for (i = 0; i < b->section_count; i++)
		if (b->sections[i].kind == VPT_LOSS)
			rows += b->sections[i].row_count;
	return rows;
}

static void run_case(const struct op *ops, uint64_t unfinished, uint64_t losses)
{
	struct vtr_full full = {.data = buffer.words, .taken_ns = 5};
	struct vtr_recorder_options options = {.header = {.major = VPT_MAJOR}};
	struct vtr_unfinished u = {0};
	struct vtr_recorder *r;
	size_t i;

	memset(&buffer, 0, sizeof(buffer));
	for (i = 0; i < OPS_MAX && ops[i].stream; i++)
		fake_kernel(&buffer, "k", ops[i].start, ops[i].end, ops[i].correlation)->stream =
			ops[i].stream;
	full.valid_bytes = buffer.bytes;
	assert_int_equal(vtr_recorder_new(&options, &r, NULL), VPT_OK);
	vtr_unfinished_buffer(&u, &sizes, &full);
	assert_int_equal(vtr_unfinished_put(&u, r, 1, 100), unfinished);
	assert_int_equal(count_losses(r), losses);
	vtr_unfinished_reset(&u);
	vtr_recorder_disown(r);
	vtr_recorder_free(r);
}

static void ops_that_no_other_has_overtaken(void **state)
{
	unsigned version;
	size_t i;

	(void)state;
	for (version = 0; version < FAKE_VERSIONS; version++) {
		learn_sizes(version);
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			run_case(cases[i].ops, cases[i].unfinished, cases[i].losses);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(ops_that_no_other_has_overtaken)};

	vtr_names_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
