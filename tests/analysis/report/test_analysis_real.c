/* test_analysis_real.c - traces of real GPUs, where they are at hand: the report against the answers of another
 * program, and against what is known of each trace. Each is analyzed as it is and as a capture made from it. */
#include "analysis/analyze.h"
#include "analysis/render/renderer.h"
#include "formats/base/count.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "formats/file/capture_writer.h"
#include "formats/import/any_trace.h"
#include "tests/support/traces/script.h"
#include "tests/support/skip.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/model/said_places.h"

static const char *traces_folder(void)
{
	static char folder[2048];
	const char *shared = getenv("VPT_SHARED"), *source = getenv("VPT_SOURCE_DIR");

	if (shared)
		snprintf(folder, sizeof(folder), "%s/traces", shared);
	else
		snprintf(folder, sizeof(folder), "%s/../shared/traces", source ? source : ".");
	return folder;
}

static FILE *open_answers(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/expected.jsonl", traces_folder());
	return fopen(path, "r");
}

/* NULL where this build cannot read the format. */
static struct vpt_trace *open_trace(const char *name)
{
	struct vpt_trace *trace;
	struct vpt_err err = {0};
	char path[4096];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", traces_folder(), name);
	rc = vpt_trace_open(path, &trace, &err);
	if (rc == VPT_EUNSUPPORTED) {
		print_message("%s: %s: skipped\n", name, err.text);
		return NULL;
	}
	if (rc)
		fail_msg("%s: %s", name, err.text);
	return trace;
}

static struct vpa_report *analyze(const struct vpt_trace *trace, const struct vpa_options *options)
{
	struct vpa_report *r;
	struct vpt_err err = {0};

	if (vpa_analyze(trace, "trace", options, &r, &err))
		fail_msg("%s", err.text);
	return r;
}

/* The trace's chunks written as a capture, and that opened. */
static struct vpt_trace *converted(const struct vpt_trace *trace)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_buffer bytes = {0};
	struct vpt_sink *sink;
	struct vpt_writer *writer;
	struct vpt_source *source;
	struct vpt_trace *capture;
	struct vpt_batch batch;
	size_t i;

	vpt_batch_init(&batch);
	assert_int_equal(vpt_sink_memory(&bytes, &sink, NULL), 0);
	assert_int_equal(vpt_writer_open(sink, vpt_trace_header(trace), 0, &writer, NULL), 0);
	for (i = 0; i < vpt_trace_chunks(trace); i++) {
		assert_int_equal(vpt_trace_chunk(trace, decoder, i, &batch, NULL), 0);
		assert_int_equal(vpt_writer_put(writer, &batch, NULL), 0);
	}
	vpt_writer_free(writer);
	assert_int_equal(sink->finish(sink, 1, NULL), 0);
	assert_int_equal(vpt_source_own(&bytes, &source, NULL), 0);
	assert_int_equal(vpt_trace_open_source(source, &capture, NULL), 0);
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	return capture;
}

/* ---- the independent answers ---- */

/* The number behind "key": in a line of JSON, up to `end`. */
static uint64_t number_of(const char *text, const char *end, const char *key)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
	at = strstr(text, quoted);
	if (!at || at >= end)
		fail_msg("the answers lack \"%s\"", key);
	return strtoull(at + strlen(quoted), NULL, 10);
}

static void expect(const char *trace, const char *what, uint64_t found, uint64_t expected)
{
	if (found != expected)
		fail_msg("%s: %s is %" PRIu64 ", expected %" PRIu64, trace, what, found, expected);
}

static void compare_device(
	const char *trace, const struct vpa_device *d, const char *from, const char *end)
{
	unsigned b;

#define SAME(field) expect(trace, #field, d->field, number_of(from, end, #field))
	SAME(ops);
	SAME(streams);
	SAME(active_ns);
	SAME(busy_ns);
	SAME(idle_ns);
	SAME(gaps);
	SAME(longest_gap_ns);
	SAME(kernel_ns);
	SAME(same_stream_overlaps);
#undef SAME
	for (b = 0; b < VPA_GAP_BUCKETS; b++)
		expect(trace, vpa_gap_bucket_names[b], d->histogram[b],
			number_of(from, end, vpa_gap_bucket_names[b]));
}

static void compare_report(const char *trace, const struct vpa_report *r, const char *line)
{
	const char *end = line + strlen(line), *devices = strstr(line, "\"devices\": ");
	size_t i, answers = 0;

	expect(trace, "kernels", r->counts.kernels, number_of(line, end, "kernels"));
	expect(trace, "memcpy", r->counts.memcpy, number_of(line, end, "memcpy"));
	expect(trace, "memset", r->counts.memset, number_of(line, end, "memset"));
	expect(trace, "ranges", r->counts.ranges, number_of(line, end, "ranges"));
	expect(trace, "zero_duration", r->verdict.zero_duration,
		number_of(line, end, "zero_duration"));
	expect(trace, "reversed", r->verdict.reversed, number_of(line, end, "reversed"));
	expect(trace, "ops_without_launch", r->verdict.ops_without_launch,
		number_of(line, end, "ops_without_launch"));
	assert_non_null(devices);
	for (i = 0; i < r->device_count; i++) {
		char key[32];
		const char *from, *to;

		snprintf(key, sizeof(key), "\"%" PRId64 "\": {", r->devices[i].device);
		from = strstr(devices, key);
		if (!from)
			fail_msg("%s: device %" PRId64 " is not in the answers", trace,
				r->devices[i].device);
		to = strstr(from, "\"same_stream_overlaps\"");
		to = to ? strchr(to, '}') : NULL;
		assert_non_null(to);
		compare_device(trace, &r->devices[i], from, to);
	}
	for (devices = strstr(devices, "\"ops\": "); devices;
		devices = strstr(devices + 1, "\"ops\": "))
		answers++;
	expect(trace, "number of devices", r->device_count, answers);
}

static struct vpt_buffer json_of(const struct vpa_report *r)
{
	struct vpt_buffer b = {0};
	struct vpt_sink *sink;

	assert_int_equal(vpt_sink_memory(&b, &sink, NULL), 0);
	assert_int_equal(vpa_render_json(r, sink, NULL), 0);
	assert_int_equal(sink->finish(sink, 1, NULL), 0);
	return b;
}

/* Where the report begins to speak of the trace and no longer of the file. */
static const char *behind_format(const struct vpt_buffer *json, size_t *size)
{
	const char *at = memmem(json->data, json->size, "\"format\": ", 10);

	assert_non_null(at);
	at = memchr(at, '\n', json->size - (size_t)(at - json->data));
	assert_non_null(at);
	*size = json->size - (size_t)(at - json->data);
	return at;
}

static void expect_same_json(
	const char *trace, const struct vpa_report *a, const struct vpa_report *b)
{
	struct vpt_buffer ja = json_of(a), jb = json_of(b);
	size_t sa, sb, at = 0;
	const char *ta = behind_format(&ja, &sa), *tb = behind_format(&jb, &sb);

	while (at < sa && at < sb && ta[at] == tb[at])
		at++;
	if (at < sa || at < sb)
		fail_msg("%s: differs as a capture: %.80s | %.80s", trace, ta + at, tb + at);
	vpt_free(ja.data);
	vpt_free(jb.data);
}

/* Of the time of kernels at most a twentieth may be of those that no pattern knows. */
static void most_kernels_have_a_family(const char *trace, const struct vpa_report *r)
{
	uint64_t all_ns = 0, unknown_ns = 0;
	size_t i;

	for (i = 0; i < r->family_count; i++) {
		const struct vpa_family_row *f = &r->families[i];

		if (f->family == VPA_FAMILY_MEMCPY || f->family == VPA_FAMILY_MEMSET)
			continue;
		all_ns += f->total_ns;
		unknown_ns += f->family == VPA_FAMILY_UNKNOWN ? f->total_ns : 0;
	}
	if (unknown_ns > all_ns / 20)
		fail_msg("%s: %" PRIu64 " of %" PRIu64 " ns of kernels are of no family, first %s",
			trace, unknown_ns, all_ns, r->unknown_kernels[0]);
}

static unsigned claims; /* of findings, about places */

static void check_trace(const char *name, const char *line)
{
	struct vpt_trace *trace = open_trace(name), *capture;
	struct vpa_report *direct, *again, *threads;
	struct vpa_options two = {.jobs = 2};
	const char *wrong;

	if (!trace)
		return;
	direct = analyze(trace, NULL);
	compare_report(name, direct, line);
	most_kernels_have_a_family(name, direct);
	wrong = said_places_differ(direct, &claims);
	if (wrong)
		fail_msg("%s: a finding says \"%s\"", name, wrong);
	threads = analyze(trace, &two);
	expect_same_json(name, direct, threads);
	capture = converted(trace);
	again = analyze(capture, NULL);
	compare_report(name, again, line);
	expect_same_json(name, direct, again);
	vpa_report_free(direct);
	vpa_report_free(again);
	vpa_report_free(threads);
	vpt_trace_close(capture);
	vpt_trace_close(trace);
}

static void reports_give_the_independent_answers(void **state)
{
	FILE *answers = open_answers();
	char line[16384], name[256];
	int compared = 0;

	(void)state;
	if (!answers) {
		vpt_skip("no real traces in %s", traces_folder());
	}
	while (fgets(line, sizeof(line), answers)) {
		assert_int_equal(sscanf(line, "{\"trace\": \"%255[^\"]\"", name), 1);
		check_trace(name, line);
		compared++;
	}
	fclose(answers);
	assert_true(compared > 0 && claims > 0);
}

/* ---- what is known of each trace ---- */

static uint64_t caused_by(const struct vpa_report *r, enum vpa_cause cause, uint64_t *gaps)
{
	uint64_t ns = 0;
	size_t i, k;

	*gaps = 0;
	for (i = 0; i < r->device_count; i++)
		for (k = 0; k < r->devices[i].cause_count; k++)
			if (r->devices[i].causes[k].cause == cause) {
				ns += r->devices[i].causes[k].ns;
				*gaps += r->devices[i].causes[k].gaps;
			}
	return ns;
}

/* Whether the cause is an answer: neither unknown nor "queued, reason not recorded". */
static int is_answer(enum vpa_cause cause)
{
	return cause != VPA_CAUSE_NOT_IDLE && cause != VPA_CAUSE_RECORDS_LOST &&
	       cause != VPA_CAUSE_NO_LAUNCH && cause != VPA_CAUSE_QUEUED;
}

static double answered_share(const struct vpa_report *r)
{
	uint64_t idle = 0, unknown = 0, gaps;
	size_t i;
	int cause;

	for (i = 0; i < r->device_count; i++)
		idle += r->devices[i].window_idle_ns;
	for (cause = 0; cause < VPA_CAUSES; cause++)
		if (!is_answer((enum vpa_cause)cause))
			unknown += caused_by(r, (enum vpa_cause)cause, &gaps);
	return idle ? 1 - (double)unknown / (double)idle : 1;
}

static void most_idle_time_is_answered(const struct vpa_report *r)
{
	assert_true(answered_share(r) >= 0.9);
}

static void long_gaps_are_host_code(const struct vpa_report *r)
{
	uint64_t longest = 0;
	size_t i, count = 0;

	for (i = 0; i < r->gap_count; i++) {
		const struct vpa_gap_row *g = &r->gaps[i];

		if (g->duration_ns < 1000000 || !g->after || !g->before)
			continue;
		count++;
		longest = g->duration_ns > longest ? g->duration_ns : longest;
		assert_int_equal(g->cause, VPA_CAUSE_HOST_CODE);
		assert_non_null(g->place.text);
	}
	assert_int_equal(count, 44);
	assert_int_equal(longest, 26819873);
	most_idle_time_is_answered(r);
}

static void graphs_are_named(const struct vpa_report *r)
{
	uint64_t inside, start, latency;

	caused_by(r, VPA_CAUSE_INSIDE_GRAPH, &inside);
	caused_by(r, VPA_CAUSE_GRAPH_START, &start);
	caused_by(r, VPA_CAUSE_LAUNCH_LATENCY, &latency);
	assert_true(inside > 0);
	assert_true(start + latency > 0);
}

static void launches_before_the_recording_are_said(const struct vpa_report *r)
{
	/* The recording begins in a wait of 14 ms for what had been queued; ids 675771 to 682741, the
	 * first recorded one is 682747. */
	assert_int_equal(r->verdict.ops_without_launch, 509);
	assert_int_equal(r->verdict.early_ops, 509);
	assert_true(r->verdict.complete);
	assert_true(r->verdict.reason_count > 0);
	assert_non_null(strstr(
		r->verdict.reasons[0], "509 operations were launched before the recording began"));
}

/* Independent sums of shapes and durations, by a few lines of Python over the trace's operators. */
static void shapes_give_the_operations(const struct vpa_report *r)
{
	static const struct {
		const char *family, *precision;
		uint64_t calls, flop, kernel_ns;
	} rows[] = {{"gemm", "16 bit", 168, 5514536681472, 8854707},
		{"attention", "16 bit", 24, 245745057792, 2722705},
		{"gemm", "fp32", 1, 35776, 3520}};
	size_t i;

	assert_int_equal(r->expert.flop_rate_count, COUNT(rows));
	for (i = 0; i < COUNT(rows); i++) {
		const struct vpa_flop_row *f = &r->expert.flop_rates[i];

		assert_string_equal(f->family, rows[i].family);
		assert_string_equal(vpa_precision_name(f->precision), rows[i].precision);
		assert_int_equal(f->calls, rows[i].calls);
		assert_int_equal(f->flop, rows[i].flop);
		assert_int_equal(f->kernel_ns, rows[i].kernel_ns);
	}
}

static void no_gpu_work_is_said_in_a_sentence(const struct vpa_report *r)
{
	assert_int_equal(r->device_count, 0);
	/* 77 kernels, 16 copies, 10 memsets and a blocking copy, and then a wait for the device. */
	assert_false(r->verdict.complete);
	assert_int_equal(r->verdict.launches_lost, 77);
	assert_int_equal(r->verdict.reason_count, 3);
	assert_non_null(strstr(r->verdict.reasons[0], "77 kernels are missing"));
	assert_non_null(strstr(r->verdict.reasons[1], "no GPU work"));
	assert_non_null(strstr(r->verdict.reasons[2], "27 launches have no op"));
}

static void attention_is_eager(const struct vpa_report *r)
{
	uint64_t softmax = 0, sequences = 0;
	size_t i;

	for (i = 0; i < r->family_count; i++)
		softmax += r->families[i].family == VPA_FAMILY_EAGER_SOFTMAX
				   ? r->families[i].total_ns
				   : 0;
	for (i = 0; i < r->attention.eager_count; i++)
		sequences += r->attention.eager[i].count;
	/* 44.4 % of kernel time, to the last digit given. */
	assert_int_equal(
		(softmax * 1000 + r->devices[0].kernel_ns / 2) / r->devices[0].kernel_ns, 444);
	assert_true(sequences > 0);
	assert_int_equal(r->attention.backend_count, 0);
	most_idle_time_is_answered(r);
}

static void known(const char *name, void (*check)(const struct vpa_report *r))
{
	struct vpa_options all = {.top = 100000, .min_gap_ns = 1};
	FILE *answers = open_answers();
	struct vpt_trace *trace;
	struct vpa_report *r;

	if (!answers)
		vpt_skip("no real traces in %s", traces_folder());
	fclose(answers);
	trace = open_trace(name);
	if (!trace)
		vpt_skip("this build cannot read %s", name);
	r = analyze(trace, &all);
	check(r);
	vpa_report_free(r);
	vpt_trace_close(trace);
}

#define KNOWN(test, name, check)                                                                   \
	static void test(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		known(name, check);                                                                \
	}

KNOWN(a_t4_that_waits_for_host_code, "t4_power_iteration.sqlite", long_gaps_are_host_code)
KNOWN(a_v100_fed_too_slowly, "v100_training_19k.json.gz", most_idle_time_is_answered)
KNOWN(a_b200_with_overlapping_kernels, "b200_overlapping_kernels.json.gz",
	most_idle_time_is_answered)
KNOWN(an_a100_that_replays_graphs, "a100_graphs_6k.json.gz", graphs_are_named)
KNOWN(an_h100_with_work_in_its_queue, "h100_missing_launches.json.gz",
	launches_before_the_recording_are_said)
KNOWN(an_h100_with_shapes, "h100_missing_launches.json.gz", shapes_give_the_operations)
KNOWN(an_a100_without_work, "a100_no_kernels.json.gz", no_gpu_work_is_said_in_a_sentence)
KNOWN(an_h100_with_eager_attention, "h100_video_eager_attention.json.gz", attention_is_eager)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_give_the_independent_answers),
		cmocka_unit_test(a_t4_that_waits_for_host_code),
		cmocka_unit_test(a_v100_fed_too_slowly),
		cmocka_unit_test(a_b200_with_overlapping_kernels),
		cmocka_unit_test(an_a100_that_replays_graphs),
		cmocka_unit_test(an_h100_with_work_in_its_queue),
		cmocka_unit_test(an_h100_with_shapes),
		cmocka_unit_test(an_a100_without_work),
		cmocka_unit_test(an_h100_with_eager_attention),
	};

	return vpt_skip_code(
		cmocka_run_group_tests(tests, NULL, NULL), sizeof(tests) / sizeof(*tests));
}
