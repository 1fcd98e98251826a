/* test_compare_instead.c - comparisons where what the host did after a wait is what changed: on traces whose answers a person
 * can compute. */
#include "analysis/analyze.h"
#include "analysis/compare/comparison.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/traces/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { STEPS = 6 };

/* A step: a kernel of 20 ms; what the host does then. Times in microseconds. */
struct shape {
	unsigned
		copy; /* the host waits this long for a copy to pageable memory, which runs after the kernel */
	unsigned code; /* then it runs its own code, in post_process */
	unsigned sync; /* 1: the host waits for the kernel; else it runs code beside it */
	unsigned call; /* then it makes a stream */
	const char *range;
};

static struct vpa_report *report_of(const struct shape *s)
{
	const struct vpa_options options = {.step_parts = 1};
	static char script[16384];
	size_t used = (size_t)snprintf(script, sizeof(script), "start 1ms\n"), i, t = 1000;

	for (i = 0; i < STEPS; i++) {
		size_t from = t, done = t + 20005, id = 2 * i + 1;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaLaunchKernel %zuus+5us corr %zu\n"
			"kernel s7 %zuus+20000us corr %zu \"k\"\n",
			t, id, t + 5, id);
		if (s->copy)
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 cudaMemcpyAsync %zuus-%zuus corr %zu\n"
				"copy s7 DtoH device->pageable %zuus+%uus bytes 8294400 corr %zu\n",
				t + 10, done + s->copy, id + 1, done, s->copy, id + 1);
		if (s->sync)
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 cudaStreamSynchronize %zuus-%zuus\n", t + 10, done);
		t = done + s->copy;
		if (s->code)
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"range t1 %zuus+%uus \"post_process\"\n", t, s->code);
		t += s->code;
		if (s->call)
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 cudaStreamCreate %zuus+%uus\n", t, s->call);
		t += s->call;
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zuus-%zuus \"%s %zu\"\n", from, t, s->range, i);
	}
	assert_true(used < sizeof(script));
	return vpt_script_report(script, &options);
}

static struct vpa_comparison *pair(const struct vpa_report *a, const struct vpa_report *b)
{
	static const struct vpa_compare_options usual = {.margin = 0.005};
	struct vpa_side sa = {&a, 1}, sb = {&b, 1};
	struct vpa_comparison *c;
	struct vpt_err err = {0};

	if (vpa_compare(&sa, &sb, &usual, &c, &err))
		fail_msg("%s", err.text);
	return c;
}

static const struct vpa_compared_part *part_of(
	const struct vpa_comparison *c, const char *name, enum vpa_cause host)
{
	size_t i;

	for (i = 0; i < c->part_count; i++)
		if (!strcmp(c->parts[i].name, name) && c->parts[i].host == host)
			return &c->parts[i];
	return NULL;
}

static void expect_text(const struct vpa_comparison *c, const char *words)
{
	struct vpt_buffer text = {0};
	struct vpt_sink *sink;
	struct vpt_err err = {0};

	assert_int_equal(vpt_sink_memory(&text, &sink, &err), 0);
	assert_int_equal(vpa_compare_text(c, 200, 0, 0, sink, &err), 0);
	assert_int_equal(sink->finish(sink, 1, &err), 0);
	if (!memmem(text.data, text.size, words, strlen(words)))
		fail_msg("no \"%s\" in\n%.*s", words, (int)text.size, (const char *)text.data);
	vpt_free(text.data);
}

static void adds_up(const struct vpa_comparison *c)
{
	int64_t parts = 0, rows = 0;
	size_t i;

	for (i = 0; i < c->part_count; i++)
		parts += c->parts[i].times.delta_ns;
	for (i = 0; i < c->row_count; i++)
		rows += c->rows[i].times.delta_ns;
	assert_int_equal(parts, c->delta_ns);
	assert_int_equal(rows, c->window_delta_ns);
}

/* Work on what a copy brought takes 16 ms instead of 8: it is long code, and no part of the copy. */
static void work_after_a_wait_leads_by_its_name(void **state)
{
	const struct shape before = {.copy = 1000, .code = 8000, .range = "step"};
	const struct shape after = {.copy = 1000, .code = 16000, .range = "step"};
	struct vpa_report *a = report_of(&before), *b = report_of(&after);
	struct vpa_comparison *c = pair(a, b);
	const struct vpa_compared_part *part = part_of(c, "host code", VPA_CAUSE_NOT_IDLE);

	(void)state;
	assert_int_equal(c->unit, VPA_UNIT_STEP);
	assert_int_equal(c->delta_ns, 8000000);
	assert_non_null(part);
	assert_int_equal(part->a_mean_ns, 8000000);
	assert_int_equal(part->b_mean_ns, 16000000);
	assert_int_equal(part->times.delta_ns, 8000000);
	adds_up(c);
	expect_text(c, "BECAUSE idle: host code +8.000 ms.");
	vpa_comparison_free(c);
	vpa_report_free(a);
	vpa_report_free(b);
}

/* A call after the copy takes 16 ms instead of 8: it counts to the copy, and leads by its own name. */
static void calls_after_a_wait_lead_by_their_name(void **state)
{
	const struct shape before = {.copy = 1000, .call = 8000, .range = "step"};
	const struct shape after = {.copy = 1000, .call = 16000, .range = "step"};
	struct vpa_report *a = report_of(&before), *b = report_of(&after);
	struct vpa_comparison *c = pair(a, b);
	const struct vpa_compared_part *part = part_of(c, "blocking copy", VPA_CAUSE_OTHER_CALL);

	(void)state;
	assert_int_equal(c->delta_ns, 8000000);
	assert_non_null(part);
	assert_int_equal(part->a_mean_ns, 8000000);
	assert_int_equal(part->b_mean_ns, 16000000);
	assert_int_equal(part->times.delta_ns, 8000000);
	assert_string_equal(part->call, "cudaMemcpyAsync");
	assert_string_equal(part->host_call, "cudaStreamCreate");
	adds_up(c);
	vpa_comparison_free(c);
	vpa_report_free(a);
	vpa_report_free(b);
}

/* The same call of 10 ms counts to a wait on one side and for itself on the other, where it takes 0.4 ms longer: only that
 * is a change. */
static void what_counts_elsewhere_is_no_change(void **state)
{
	const struct shape before = {.sync = 1, .call = 10000, .range = "step"};
	const struct shape after = {.call = 10400, .range = "step"};
	struct vpa_report *a = report_of(&before), *b = report_of(&after);
	struct vpa_comparison *c = pair(a, b);

	(void)state;
	assert_int_equal(c->delta_ns, 400000);
	assert_int_equal(part_of(c, "sync", VPA_CAUSE_OTHER_CALL)->times.delta_ns, -10000000);
	assert_string_equal(
		part_of(c, "sync", VPA_CAUSE_OTHER_CALL)->host_call, "cudaStreamCreate");
	assert_int_equal(
		part_of(c, "other CUDA call", VPA_CAUSE_NOT_IDLE)->times.delta_ns, 10400000);
	adds_up(c);
	expect_text(c, "BECAUSE idle: other CUDA call +0.400 ms.");
	vpa_comparison_free(c);
	vpa_report_free(a);
	vpa_report_free(b);
}

/* Where one side does not say what the host did, both are divided by cause only. */
static void a_side_that_does_not_know_is_compared_by_cause(void **state)
{
	const struct shape before = {.copy = 1000, .call = 8000, .range = "layer"};
	const struct shape after = {.copy = 1000, .call = 16000, .range = "layer"};
	struct vpa_report *a = report_of(&before), *b = report_of(&after);
	struct vpa_comparison *c = pair(a, b);
	size_t i;

	(void)state;
	assert_int_equal(c->unit, VPA_UNIT_WINDOW);
	assert_int_equal(part_of(c, "blocking copy", VPA_CAUSE_OTHER_CALL)->times.delta_ns,
		(STEPS - 1) * 8000000);
	adds_up(c);
	vpa_comparison_free(c);
	a->devices[0].instead = NULL;
	a->devices[0].instead_count = 0;
	c = pair(a, b);
	for (i = 0; i < c->part_count; i++)
		assert_int_equal(c->parts[i].host, VPA_CAUSE_NOT_IDLE);
	for (i = 0; i < c->row_count; i++)
		assert_int_equal(c->rows[i].host, VPA_CAUSE_NOT_IDLE);
	assert_int_equal(part_of(c, "blocking copy", VPA_CAUSE_NOT_IDLE)->times.delta_ns,
		(STEPS - 1) * 8000000);
	adds_up(c);
	vpa_comparison_free(c);
	vpa_report_free(a);
	vpa_report_free(b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_after_a_wait_leads_by_its_name),
		cmocka_unit_test(calls_after_a_wait_lead_by_their_name),
		cmocka_unit_test(what_counts_elsewhere_is_no_change),
		cmocka_unit_test(a_side_that_does_not_know_is_compared_by_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
