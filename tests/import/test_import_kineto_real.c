/* test_import_kineto_real.c - traces of real GPUs, where they are at hand, against the answers that
 * another program computed from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef VPT_HAVE_KINETO

#include "formats/base/count.h"
#include "formats/import/kineto/text/kineto_json.h"
#include "formats/import/kineto/text/kineto_scan.h"
#include "tests/support/traces/kineto_rig.h"
#include "tests/support/skip.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- traces of real GPUs ---- */

struct totals {
	int64_t kernels, memcpy_, memset_, ranges, zero_duration;
	int64_t kernel_ns[64], ops[64]; /* by device; ops of zero duration left out */
};

static void add_ops(struct totals *t, const struct vpt_section *s)
{
	int64_t device = (int64_t)rig_lane(s->lane, VPT_LANE_DEVICE);
	uint32_t i;

	assert_in_range(device, 0, 63);
	for (i = 0; i < s->row_count; i++) {
		uint64_t duration = s->col[VPT_KERNEL_DURATION][i];

		t->zero_duration += !duration;
		t->ops[device] += (int64_t)duration > 0;
		if (s->kind == VPT_KERNEL)
			t->kernel_ns[device] += (int64_t)duration;
		else if (s->col[VPT_COPY_COPY_KIND][i] == VPT_COPYKIND_MEMSET)
			t->memset_++;
		else
			t->memcpy_++;
	}
	t->kernels += s->kind == VPT_KERNEL ? s->row_count : 0;
}

static void add_ranges(struct totals *t, const struct vpt_section *s)
{
	uint32_t i;

	for (i = 0; i < s->row_count; i++)
		t->ranges += vpt_batch_text(&rig.batch, s->col[VPT_RANGE_DOMAIN][i]).len == 0;
}

static void sum_chunks(struct totals *t)
{
	size_t chunk, i;

	memset(t, 0, sizeof(*t));
	for (chunk = 0; chunk < vpt_collect_chunks(rig.collect); chunk++) {
		assert_int_equal(vpt_collect_chunk(rig.collect, chunk, &rig.batch, &rig.err), 0);
		for (i = 0; i < rig.batch.section_count; i++) {
			const struct vpt_section *s = &rig.batch.sections[i];

			if (s->kind == VPT_KERNEL || s->kind == VPT_COPY)
				add_ops(t, s);
			else if (s->kind == VPT_RANGE)
				add_ranges(t, s);
		}
	}
}

static int64_t expected_number(const struct vpt_kineto_value *o, const char *key)
{
	int64_t number = 0;

	assert_int_equal(
		vpt_kineto_number(vpt_kineto_member(o, key), 0, &number), VPT_KINETO_EXACT);
	return number;
}

static void expect_same(const char *trace, const char *what, int64_t ours, int64_t theirs)
{
	if (ours != theirs)
		fail_msg("%s: %s is %" PRId64 ", expected %" PRId64, trace, what, ours, theirs);
}

static void compare_trace(
	const char *trace, const char *path, const struct vpt_kineto_value *answer)
{
	const struct vpt_kineto_value *devices = vpt_kineto_member(answer, "devices");
	const struct vpt_kineto_value *device = vpt_kineto_first(devices);
	struct vpt_source *src;
	struct totals t;

	assert_int_equal(vpt_source_open(path, &src, &rig.err), 0);
	if (rig_import(src))
		fail_msg("%s: %s", trace, rig.err.text);
	vpt_source_close(src);
	expect_same(trace, "events of unknown category", (int64_t)rig.stats.unknown_category, 0);
	expect_same(trace, "malformed events", (int64_t)rig.stats.malformed, 0);
	expect_same(trace, "numbers that were bent", (int64_t)rig.stats.bad_numbers, 0);
	expect_same(trace, "truncated", rig.stats.truncated, 0);
	sum_chunks(&t);
	expect_same(trace, "kernels", t.kernels, expected_number(answer, "kernels"));
	expect_same(trace, "memcpy", t.memcpy_, expected_number(answer, "memcpy"));
	expect_same(trace, "memset", t.memset_, expected_number(answer, "memset"));
	expect_same(trace, "ranges", t.ranges, expected_number(answer, "ranges"));
	expect_same(
		trace, "zero_duration", t.zero_duration, expected_number(answer, "zero_duration"));
	for (; device; device = vpt_kineto_next(devices, device)) {
		int index = atoi(device->name);

		assert_in_range(index, 0, 63);
		expect_same(trace, "kernel_ns", t.kernel_ns[index],
			expected_number(device, "kernel_ns"));
		expect_same(trace, "ops", t.ops[index], expected_number(device, "ops"));
	}
}

static FILE *open_answers(char *folder, size_t size)
{
	const char *shared = getenv("VPT_SHARED"), *source = getenv("VPT_SOURCE_DIR");
	char path[4096];

	if (shared)
		snprintf(folder, size, "%s/traces", shared);
	else
		snprintf(folder, size, "%s/../shared/traces", source ? source : ".");
	snprintf(path, sizeof(path), "%.3000s/expected.jsonl", folder);
	return fopen(path, "r");
}

static void real_traces_give_the_independent_answers(void **state)
{
	char folder[2048], path[4096], line[8192 + VPT_SCAN_BYTES] = {0};
	struct vpt_kineto_parser parser = {0};
	FILE *answers = open_answers(folder, sizeof(folder));
	int compared = 0;

	(void)state;
	if (!answers) {
		vpt_skip("no real traces in %s", folder);
	}
	while (fgets(line, 8192, answers)) {
		const unsigned char *p = (const unsigned char *)line;
		struct vpt_text name;
		char trace[256];

		memset(line + strlen(line), 0, VPT_SCAN_BYTES);
		assert_int_equal(vpt_kineto_parse(&parser, &p, p + strlen(line)), 0);
		name = vpt_kineto_text(vpt_kineto_member(parser.values, "trace"));
		assert_in_range(name.len, 1, sizeof(trace) - 1);
		snprintf(trace, sizeof(trace), "%.*s", (int)name.len, name.text);
		snprintf(path, sizeof(path), "%s/%s", folder, trace);
		if (strstr(trace, ".json")) {
			compare_trace(trace, path, parser.values);
			compared++;
		}
	}
	vpt_kineto_parser_free(&parser);
	fclose(answers);
	rig_drop();
	assert_true(compared > 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_traces_give_the_independent_answers),
	};

	return vpt_skip_code(
		cmocka_run_group_tests(tests, NULL, NULL), sizeof(tests) / sizeof(*tests));
}

#else

int main(void)
{
	print_message("SKIPPED: built without zlib\n");
	return 77;
}

#endif
