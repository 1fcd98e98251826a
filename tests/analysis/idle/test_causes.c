/* test_causes.c - what idle time waited for: on the traces of tests/data/causes.txt, whose answers a person can compute, and
 * on random ones, for what must hold of all. By the slow model, and by the analyzer, which has to agree with that. */
#include "analysis/analyze.h"
#include "tests/support/model/model_causes.h"
#include "tests/support/model/model_late.h"
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

enum { SEEDS = 600, ORDERLY_SEEDS = 1500 };

struct text {
	char data[8192];
	size_t size;
};

/* A rule with its trace and its answers. */
struct example {
	struct text rule, script, answers;
	struct vpa_options options;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->data + t->size, sizeof(t->data) - t->size, format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < sizeof(t->data) - t->size);
	t->size += (size_t)n;
}

static void say_gap(struct text *t, const struct model_gap *g)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < g->piece_count; i++) {
		const struct model_piece *p = &g->pieces[i];

		sum += p->end - p->start;
		say(t, "%s%s %" PRIu64, i ? ", " : "= ", model_cause_names[p->cause],
			(p->end - p->start) / 1000);
		if ((p->end - p->start) % 1000)
			say(t, ".%03" PRIu64, (p->end - p->start) % 1000);
		if (p->call)
			say(t, " %s", p->call);
		if (p->range)
			say(t, " [%s]", p->range);
		if (p->is_credited)
			say(t, " while %s", model_cause_names[p->host]);
		if (p->is_credited && p->inside)
			say(t, " %s", p->inside);
		if (p->is_credited && p->host_range)
			say(t, " [%s]", p->host_range);
		if (p->instead_call)
			say(t, " instead of %s", p->instead_call);
	}
	say(t, "\n");
	assert_int_equal(sum, g->idle_ns);
}

/* Whether the analyzer's report says what the model does. */
static int check_report(const struct example *e, const struct vpt_trace *trace)
{
	struct vpa_options options = e->options;
	struct vpa_report *report;
	struct vpt_err err = {0};
	const char *why;

	options.min_gap_ns = 1;
	options.top = 10000;
	if (vpa_analyze(trace, "example", &options, &report, &err))
		fail_msg("%s: %s", e->rule.data, err.text);
	why = vpt_model_differs(trace, &options, report);
	if (why)
		print_error("%s\nreport: %s\n", e->rule.data, why);
	vpa_report_free(report);
	return why != NULL;
}

/* 1 if the model does not say what is expected, or the report does not say what the model does. */
static int check_example(const struct example *e)
{
	struct model_causes causes;
	struct vpt_trace *trace;
	struct vpt_err err = {0};
	struct text found = {.size = 0};
	size_t i, k;
	int differs;

	if (vpt_script_trace(e->script.data, &trace, &err))
		fail_msg("%s: %s", e->rule.data, err.text);
	assert_null(model_causes_compute(trace, &e->options, &causes));
	for (i = 0; i < causes.device_count; i++)
		for (k = 0; k < causes.devices[i].gap_count; k++)
			say_gap(&found, &causes.devices[i].gaps[k]);
	differs = strcmp(found.data, e->answers.data) != 0;
	if (differs)
		print_error("%s\nexpected\n%sfound\n%s", e->rule.data, e->answers.data, found.data);
	model_causes_free(&causes);
	differs |= check_report(e, trace);
	vpt_trace_close(trace);
	return differs;
}

static void take_line(struct example *e, const char *line)
{
	uint64_t from, to;

	if (line[0] == '=') {
		say(&e->answers, "%s", line);
	} else if (sscanf(line, "window %" SCNu64 " %" SCNu64, &from, &to) == 2) {
		e->options.has_from = e->options.has_to = 1;
		e->options.from_ns = from * 1000;
		e->options.to_ns = to * 1000;
	} else {
		say(&e->script, "%s", line);
	}
}

static void idle_time_waited_for_what_a_person_finds(void **state)
{
	static struct example e;
	const char *folder = getenv("VPT_SOURCE_DIR");
	char path[4096], line[1024];
	int examples = 0, differ = 0;
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "%s/tests/data/causes.txt", folder ? folder : ".");
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "## ", 3) != 0) {
			take_line(&e, line);
			continue;
		}
		differ += examples++ ? check_example(&e) : 0;
		memset(&e, 0, sizeof(e));
		say(&e.rule, "%s", line + 3);
	}
	fclose(file);
	differ += check_example(&e);
	assert_true(examples > 15);
	assert_int_equal(differ, 0);
}

/* ---- names of calls ---- */

static void a_call_does_what_its_name_says(void **state)
{
	static const struct {
		const char *name;
		enum model_call_kind kind;
	} names[] = {
		{"cudaLaunchKernel_v7000", MODEL_CALL_LAUNCH},
		{"cuLaunchKernelEx_ptsz", MODEL_CALL_LAUNCH},
		{"hipExtLaunchKernel", MODEL_CALL_LAUNCH},
		{"cudaGraphLaunch_v10000_ptsz", MODEL_CALL_GRAPH_LAUNCH},
		{"cudaGraphInstantiateWithFlags_v11040", MODEL_CALL_GRAPH_BUILD},
		{"cudaStreamBeginCapture_spt", MODEL_CALL_BEGIN_CAPTURE},
		{"cuStreamEndCapture", MODEL_CALL_END_CAPTURE},
		{"cudaLaunchHostFunc", MODEL_CALL_OTHER},
		{"cudaMemcpy2DAsync_ptsz", MODEL_CALL_COPY},
		{"cuMemcpyDtoH_v2", MODEL_CALL_BLOCKING_COPY},
		{"cudaMemsetAsync", MODEL_CALL_MEMSET},
		{"cuStreamWaitValue32_v2", MODEL_CALL_STREAM_WAIT},
		{"cudaEventSynchronize", MODEL_CALL_SYNC},
		{"__cudaPushCallConfiguration", MODEL_CALL_QUERY},
		{"cudaEventRecordWithFlags", MODEL_CALL_QUERY},
		{"cudaFuncGetAttributes", MODEL_CALL_QUERY},
		{"cuFuncLoad", MODEL_CALL_MODULE_LOAD},
		{"hiprtcCompileProgram", MODEL_CALL_MODULE_LOAD},
		{"cudaMallocAsync", MODEL_CALL_ALLOCATION},
		{"cuMemFreeHost", MODEL_CALL_ALLOCATION},
		{"cuMemHostRegister_v2", MODEL_CALL_ALLOCATION},
		{"cudaMemPrefetchAsync", MODEL_CALL_OTHER},
		{"cudaSetDevice", MODEL_CALL_OTHER},
		{"", MODEL_CALL_OTHER},
		{NULL, MODEL_CALL_OTHER},
	};
	size_t i;

	(void)state;
	for (i = 0; i < MODEL_COUNT(names); i++)
		if (model_call_kind_of(names[i].name) != names[i].kind)
			fail_msg("%s is of kind %d", names[i].name,
				(int)model_call_kind_of(names[i].name));
}

/* ---- random traces ---- */

static void compute_random(
	const struct random_causes *how, struct vpa_options *window, struct model_causes *out)
{
	struct vpt_buffer bytes;
	struct vpt_source *source;
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};

	if (random_causes_write(how, window, &bytes, &err) ||
		vpt_source_own(&bytes, &source, &err) ||
		vpt_trace_open_source(source, &trace, &err))
		fail_msg("seed %" PRIu64 ": %s", how->seed, err.text);
	assert_null(model_causes_compute(trace, window, out));
	vpt_trace_close(trace);
}

/* Pieces lie in their gap one after the other and leave out nothing but pauses; gaps do not meet. */
static void check_parts(uint64_t seed, const struct model_causes *c, const struct model_device *d)
{
	uint64_t rows = 0, gaps = 0, at = c->window_start;
	size_t i, k;

	for (i = 0; i < d->gap_count; i++) {
		const struct model_gap *g = &d->gaps[i];
		uint64_t in = g->start, sum = 0;

		if (g->start < at || g->end > c->window_end || !g->piece_count)
			fail_msg("seed %" PRIu64 ": the gap at %" PRIu64, seed, g->start);
		for (k = 0; k < g->piece_count; in = g->pieces[k++].end) {
			sum += g->pieces[k].end - g->pieces[k].start;
			if (g->pieces[k].start < in || g->pieces[k].end <= g->pieces[k].start)
				fail_msg("seed %" PRIu64 ": a piece at %" PRIu64, seed, in);
		}
		if (in > g->end || sum != g->idle_ns ||
			(!c->m.losses.count && sum != g->end - g->start))
			fail_msg("seed %" PRIu64 ": the sum at %" PRIu64, seed, g->start);
		gaps += sum;
		at = g->end;
	}
	for (i = 0; i < d->row_count; i++)
		rows += d->rows[i].ns;
	if (rows != d->idle_ns || gaps != d->idle_ns)
		fail_msg("seed %" PRIu64 ": the sums of device %" PRId64, seed, d->device);
}

/* Whether time in an outermost call, or what it takes as credit, may count to a cause. */
static int may_count(
	const struct model_thread *thread, const struct model_call *outer, enum model_cause cause)
{
	enum model_cause of = model_cause_of_kind(model_kind(outer));
	size_t i;

	if (cause == MODEL_BLOCKING_COPY)
		for (i = 0; i < thread->call_count; i++)
			if (thread->calls[i]->outer == outer &&
				model_kind(thread->calls[i]) == MODEL_CALL_BLOCKING_COPY)
				return 1;
	if (cause == MODEL_GRAPH_BUILD && of == MODEL_LAUNCH_CALL)
		return model_captures(thread, outer->start);
	if (cause == MODEL_MODULE_LOAD && outer->end - outer->start >= 1000000)
		return of == MODEL_LAUNCH_CALL || of == MODEL_ALLOCATION ||
		       of == MODEL_OTHER_CALL || of == cause;
	return of == cause;
}

/* The most that a cause of time in calls can be: the length of these calls, of captures with the launches that begin
 * in them, and of loader records. */
static uint64_t bound_of(
	const struct model_causes *c, const struct model_thread *threads, enum model_cause cause)
{
	uint64_t ns = 0;
	size_t i, k;

	for (i = 0; i < c->m.lanes.count; i++) {
		for (k = 0; k < threads[i].outermost_count; k++) {
			const struct model_call *outer = threads[i].outermost[k];

			ns += may_count(&threads[i], outer, cause) ? outer->end - outer->start : 0;
		}
		for (k = 0; cause == MODEL_GRAPH_BUILD && k < threads[i].capture_count; k++)
			ns += (threads[i].captures[k].end < c->window_end
					      ? threads[i].captures[k].end
					      : c->window_end) -
			      threads[i].captures[k].start;
	}
	for (i = 0; cause == MODEL_MODULE_LOAD && i < c->m.overheads.count; i++)
		ns += c->m.overheads.items[i].end - c->m.overheads.items[i].start;
	return ns;
}

static void check_bounds(uint64_t seed, struct model_causes *c)
{
	struct model_thread *threads = model_threads_new(&c->m);
	size_t i;
	int cause;

	for (i = 0; i < c->device_count; i++)
		for (cause = MODEL_SYNC; cause <= MODEL_OTHER_CALL; cause++) {
			uint64_t most = bound_of(c, threads, (enum model_cause)cause);

			/* First use is host code too, which has no such bound. */
			if (cause != MODEL_FIRST_USE && c->devices[i].ns[cause] > most)
				fail_msg("seed %" PRIu64 ": device %" PRId64 " waited %" PRIu64
					 " ns for %s, at most %" PRIu64 " are possible",
					seed, c->devices[i].device, c->devices[i].ns[cause],
					model_cause_names[cause], most);
		}
	model_threads_free(threads, c->m.lanes.count);
}

static void the_causes_of_every_trace_sum_to_idle_time(void **state)
{
	unsigned have[MODEL_CAUSES] = {0};
	struct vpa_options window;
	struct model_causes c;
	uint64_t seed;
	size_t i;
	int cause;

	(void)state;
	for (seed = 0; seed < SEEDS; seed++) {
		struct random_causes how = {.seed = seed, .orderly = seed % 2 == 0};

		compute_random(&how, &window, &c);
		for (i = 0; i < c.device_count; i++)
			check_parts(seed, &c, &c.devices[i]);
		check_bounds(seed, &c);
		for (cause = 0; cause < MODEL_CAUSES; cause++) {
			uint64_t ns = 0;

			for (i = 0; i < c.device_count; i++)
				ns += c.devices[i].ns[cause];
			have[cause] += ns > 0;
		}
		model_causes_free(&c);
	}
	for (cause = 0; cause < MODEL_CAUSES; cause++) {
		print_message(
			"%4u of %d traces: %s\n", have[cause], SEEDS, model_cause_names[cause]);
		assert_true(have[cause] > SEEDS / 20);
	}
}

static void check_same(uint64_t seed, const struct model_causes *a, const struct model_causes *b)
{
	size_t i, k, n;

	assert_int_equal(a->device_count, b->device_count);
	for (i = 0; i < a->device_count; i++) {
		assert_int_equal(a->devices[i].gap_count, b->devices[i].gap_count);
		for (k = 0; k < a->devices[i].gap_count; k++) {
			const struct model_gap *x = &a->devices[i].gaps[k],
					       *y = &b->devices[i].gaps[k];

			assert_int_equal(x->piece_count, y->piece_count);
			for (n = 0; n < x->piece_count; n++)
				if (x->pieces[n].cause != y->pieces[n].cause ||
					x->pieces[n].start != y->pieces[n].start ||
					x->pieces[n].end != y->pieces[n].end ||
					!model_same_text(x->pieces[n].call, y->pieces[n].call) ||
					!model_same_text(x->pieces[n].range, y->pieces[n].range))
					fail_msg("seed %" PRIu64 ": the piece at %" PRIu64, seed,
						x->pieces[n].start);
		}
	}
}

static void chunks_do_not_show_in_the_causes(void **state)
{
	struct vpa_options window;
	struct model_causes one, many;
	uint64_t seed;

	(void)state;
	for (seed = 0; seed < SEEDS; seed++) {
		struct random_causes how = {.seed = seed, .orderly = seed % 2 == 0};

		compute_random(&how, &window, &one);
		how.cuts = 1 + (unsigned)(seed % 20);
		compute_random(&how, &window, &many);
		check_same(seed, &one, &many);
		model_causes_free(&one);
		model_causes_free(&many);
	}
}

/* ---- the analyzer ---- */

/* A number from the environment, so that a run can cover more traces, or one. */
static uint64_t number_from(const char *variable, uint64_t usual)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 10) : usual;
}

/* Why the analyzer's report of a random trace is not the model's; NULL: it is. */
static const char *analyzer_differs(const struct random_causes *how)
{
	struct vpa_options options = {0};
	struct vpt_source *source;
	struct vpa_report *report = NULL;
	struct vpt_buffer bytes;
	struct vpt_err err = {0};
	struct vpt_trace *trace = NULL;
	const char *why;

	if (random_causes_write(how, &options, &bytes, &err) ||
		vpt_source_own(&bytes, &source, &err) ||
		vpt_trace_open_source(source, &trace, &err))
		fail_msg("seed %" PRIu64 ": %s", how->seed, err.text);
	options.min_gap_ns = 1;
	options.top = 100000;
	if (vpa_analyze(trace, "random", &options, &report, &err))
		fail_msg("seed %" PRIu64 ": %s", how->seed, err.text);
	why = vpt_model_devices_differ(trace, &options, report);
	vpa_report_free(report);
	vpt_trace_close(trace);
	return why;
}

static void the_analyzer_agrees_with_the_model(void **state)
{
	uint64_t seed = number_from("VPT_CAUSES_FIRST", 0),
		 end = seed + number_from("VPT_CAUSES_SEEDS", ORDERLY_SEEDS);
	int differ = 0;

	(void)state;
	for (; seed < end && differ < 10; seed++) {
		const struct random_causes how = {
			.seed = seed, .cuts = (unsigned)(seed % 3 * 8), .orderly = 1};
		const char *why = analyzer_differs(&how);

		if (why)
			print_error("seed %" PRIu64 ", %u cuts: %s\n", seed, how.cuts, why);
		differ += why != NULL;
	}
	assert_int_equal(differ, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_does_what_its_name_says),
		cmocka_unit_test(idle_time_waited_for_what_a_person_finds),
		cmocka_unit_test(the_causes_of_every_trace_sum_to_idle_time),
		cmocka_unit_test(chunks_do_not_show_in_the_causes),
		cmocka_unit_test(the_analyzer_agrees_with_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
