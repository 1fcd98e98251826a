/* test_unit.c - one unit: RESULT, gains, the checklist, a comparison and a condition speak of the same. */
#include "formats/base/count.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/compare/comparison.h"
#include "analysis/compare/conditions/fail_conditions.h"
#include "analysis/pipeline/unit.h"
#include "tests/support/traces/findings_rig.h"
#include "tests/support/outputs/read_back.h"

/* What a trace has. Requests of 860 ms, one after the other; in each, marked spans of 100 ms: 60 ms of work, then 37 in which
 * the host waits, then one of work. */
enum {
	REQUEST = 1,     /* a range around each request */
	BLOCK = 2,       /* and around each two marked spans */
	STEP = 4,        /* and around each marked span */
	ITERATION = 8,   /* the same of a profiler */
	STAGE = 16,      /* the same with a name of its own */
	VAE_LATE = 32,   /* the VAE's work comes after the last block */
	LAPS_MIXED = 64, /* marked spans differ, so that nothing can be inferred */
	/* A decoder runs for 40 ms after the marked spans of each request: with it they are a round. */
	DECODER = 128
};

struct text {
	char *bytes;
	size_t used, size;
};

static void put(struct text *t, const char *form, ...)
{
	va_list args;

	va_start(args, form);
	t->used += (size_t)vsnprintf(t->bytes + t->used, t->size - t->used, form, args);
	va_end(args);
	assert_true(t->used < t->size);
}

static void put_range(struct text *t, size_t from_ms, size_t ms, const char *name, size_t number)
{
	put(t, "range t1 %zums-%zums \"%s%zu\"\n", from_ms, from_ms + ms, name, number);
}

enum { LAYERS = 8, OF_LAYER = 8, OF_LAP = 4 + LAYERS * OF_LAYER + 4 };

/* A model of 8 layers with attention, its embedding and head; of marked spans that differ, no two kernels are alike. */
static void kernel_name(char name[48], unsigned has, size_t k, size_t corr)
{
	static const char *const layer[OF_LAYER] = {"layer_norm_kernel",
		"ampere_bf16_s16816gemm_bf16_qkv", "rope_kernel", "flash_fwd_kernel",
		"ampere_bf16_s16816gemm_bf16_out", "layer_norm_kernel",
		"ampere_bf16_s16816gemm_bf16_mlp", "gelu_kernel"};
	static const char *const ends[] = {"embed_kernel", "time_kernel", "patch_kernel",
		"modulate_kernel", "head_kernel", "unpatch_kernel", "scale_kernel", "euler_kernel"};

	if (has & LAPS_MIXED)
		snprintf(name, 48, "kernel_%zu", corr);
	else
		snprintf(name, 48, "%s",
			k < 4            ? ends[k]
			: k < OF_LAP - 4 ? layer[(k - 4) % OF_LAYER]
					 : ends[k - (OF_LAP - 8)]);
}

static void put_marked_span(
	struct text *t, unsigned has, size_t at, size_t marked_span, size_t *corr)
{
	size_t k, each_us = 60000 / OF_LAP;
	char name[48];

	if (has & STEP)
		put_range(t, at, 99, "step ", marked_span);
	if (has & ITERATION)
		put_range(t, at, 99, "ProfilerStep#", at / 100);
	if (has & STAGE)
		put(t, "range t1 %zums-%zums \"predict_noise\"\n", at, at + 99);
	for (k = 0; k < OF_LAP; k++) {
		size_t from_us = at * 1000 + k * each_us;

		kernel_name(name, has, k, ++*corr);
		put(t, "call t1 cudaLaunchKernel %zuus+1us corr %zu\n", at * 1000 + k * 2, *corr);
		put(t, "kernel s7 %zuus-%zuus corr %zu \"%s\"\n", from_us + 10, from_us + each_us,
			*corr, name);
	}
	put(t, "call t1 cudaStreamSynchronize %zuus-%zuus corr %zu\n", at * 1000 + 2 * OF_LAP,
		at * 1000 + 97000, ++*corr);
	put(t, "call t1 cudaLaunchKernel %zums+1us corr %zu\n", at + 97, ++*corr);
	kernel_name(name, has, 0, *corr);
	put(t, "kernel s7 %zuus-%zuus corr %zu \"%s\"\n", at * 1000 + 97010, at * 1000 + 98000,
		*corr, has & LAPS_MIXED ? name : "euler_kernel");
}

static struct vpa_report *make(unsigned has, size_t requests, size_t marked_spans)
{
	static const struct vpa_options options = {
		.step_parts = 1, .overview = 1, .frames_per_block = 12};
	struct text t = {.size = 1 << 20};
	struct vpa_report *r;
	size_t i, k, corr = 0;

	t.bytes = test_malloc(t.size);
	put(&t, "start 1s\n");
	for (i = 0; i < requests; i++) {
		size_t at = 1000 + i * 860;

		if (has & REQUEST)
			put_range(&t, at, 855, "request ", i);
		for (k = 0; k < marked_spans; k++) {
			if (has & BLOCK && k % 2 == 0)
				put_range(&t, at + k * 100, 199, "block ", k / 2);
			put_marked_span(&t, has, at + k * 100, k, &corr);
		}
		if (has & DECODER) {
			put(&t, "call t1 cudaLaunchKernel %zums+1us corr %zu\n", at + 801, ++corr);
			put(&t, "kernel s7 %zums-%zums corr %zu \"conv\"\n", at + 802, at + 842,
				corr);
		}
		if (has & VAE_LATE) {
			put(&t, "range t1 %zums-%zums \"vae_decode\"\n", at + 805, at + 845);
			put(&t, "call t1 cudaLaunchKernel %zums+1us corr %zu\n", at + 806, ++corr);
			put(&t, "kernel s7 %zums-%zums corr %zu \"conv\"\n", at + 810, at + 840,
				corr);
		}
	}
	r = vpt_script_report(t.bytes, &options);
	test_free(t.bytes);
	return r;
}

/* The words of RESULT that name each kind of unit. */
static const char *const result_words[VPA_UNIT_KINDS][3] = {
	[VPA_UNIT_BLOCK] = {" A block takes "},
	[VPA_UNIT_REQUEST] = {" A request takes ", "RESULT The only request takes "},
	[VPA_UNIT_STEP] = {" A step takes ", "RESULT The only step takes "},
	[VPA_UNIT_ITERATION] = {" An iteration takes ", "RESULT The only iteration takes "},
	[VPA_UNIT_INFERRED] = {"Nothing marks steps: these are the repetition of the kernels"},
	[VPA_UNIT_INSTANCE] = {"A pass through predict_noise takes "},
	[VPA_UNIT_WINDOW] = {"RESULT The GPU works "},
	[VPA_UNIT_ROUND] = {" A round takes "},
};

static void result_is_of(const struct vpa_report *r, enum vpa_unit_kind kind, const char *rule)
{
	char *page = page_of(r);
	size_t i, found = 0;

	for (i = 0; i < 3 && result_words[kind][i]; i++)
		found += strstr(page, result_words[kind][i]) != NULL;
	if (!found)
		fail_msg(
			"%s: RESULT does not name %s in\n%s", rule, vpa_unit_kind_name(kind), page);
	vpt_free(page);
}

static void gains_are_of(const struct vpa_report *r, enum vpa_unit_kind kind, const char *rule)
{
	const struct vpa_finding *f = finding(r, "sync-drain");

	if (!f)
		fail_msg("%s: no gain", rule);
	if (f->base != (kind == VPA_UNIT_WINDOW ? VPA_BASE_ACTIVE : vpa_base_of_unit(kind)))
		fail_msg("%s: the gain is of \"%s\", not of %s", rule, vpa_base_name(f->base),
			vpa_unit_kind_name(kind));
}

static void the_checklist_is_of(
	const struct vpa_report *r, enum vpa_unit_kind kind, const char *rule)
{
	const struct vpa_check_loop *loop = &r->expert.loop;

	if (kind == VPA_UNIT_WINDOW ? loop->count > 0 : !loop->count || loop->kind != kind)
		fail_msg("%s: the checklist is of %s", rule,
			loop->count ? vpa_unit_kind_name(loop->kind) : "no loop");
}

/* The period of a condition is that of the comparison's mean unit. */
static void a_comparison_is_by(
	const struct vpa_report *r, enum vpa_unit_kind kind, const char *rule)
{
	const struct vpa_compare_options how = {.is_of_itself = 1};
	const struct vpa_side side = {&r, 1};
	struct vpa_comparison *c;
	struct vpa_condition above, below;
	struct vpt_err err = {0};
	char text[2][64], what[160];
	double ms;
	int holds;

	if (vpa_compare(&side, &side, &how, &c, &err))
		fail_msg("%s: %s", rule, err.text);
	if (c->unit != kind)
		fail_msg("%s: compared by %s, not by %s", rule, vpa_unit_kind_name(c->unit),
			vpa_unit_kind_name(kind));
	ms = (double)c->b_total_ns / (double)c->b_over / 1e6;
	vpa_comparison_free(c);
	snprintf(text[0], sizeof(text[0]), "period>%.3fms", ms * 1.01);
	snprintf(text[1], sizeof(text[1]), "period>%.3fms", ms * 0.99);
	assert_int_equal(vpa_condition_read(text[0], 1, &above, &err), 0);
	assert_int_equal(vpa_condition_read(text[1], 1, &below, &err), 0);
	assert_int_equal(vpa_condition_holds_of(&above, r, &holds, what, &err), 0);
	if (holds)
		fail_msg("%s: a condition is of a longer unit: %s", rule, what);
	assert_int_equal(vpa_condition_holds_of(&below, r, &holds, what, &err), 0);
	if (!holds)
		fail_msg("%s: a condition is of a shorter unit: %s", rule, what);
}

static void all_speak_of(const struct vpa_report *r, enum vpa_unit_kind kind, const char *rule)
{
	if (vpa_unit_of(r) != kind)
		fail_msg("%s: the unit is %s, not %s", rule, vpa_unit_kind_name(vpa_unit_of(r)),
			vpa_unit_kind_name(kind));
	gains_are_of(r, kind, rule);
	the_checklist_is_of(r, kind, rule);
	a_comparison_is_by(r, kind, rule);
	result_is_of(r, kind, rule);
}

/* The rule of unit.h, as a person would say it. */
static enum vpa_unit_kind expected(unsigned has, size_t requests)
{
	int is_many = has & REQUEST && requests > VPA_UNIT_REQUESTS;

	if (has & BLOCK && !(has & VAE_LATE && is_many))
		return VPA_UNIT_BLOCK;
	if (is_many)
		return VPA_UNIT_REQUEST;
	if (has & STEP)
		return VPA_UNIT_STEP;
	if (has & ITERATION)
		return VPA_UNIT_ITERATION;
	if (has & REQUEST)
		return VPA_UNIT_REQUEST;
	if (!(has & (LAPS_MIXED | VAE_LATE)))
		return VPA_UNIT_INFERRED;
	return has & STAGE ? VPA_UNIT_INSTANCE : VPA_UNIT_WINDOW;
}

static void every_part_of_a_report_speaks_of_one_unit(void **state)
{
	static const size_t counts[] = {1, 2, 5};
	size_t seen[VPA_UNIT_KINDS] = {0}, i;
	unsigned has;
	char rule[80];

	(void)state;
	for (has = 0; has < 2 * LAPS_MIXED; has++)
		for (i = 0; i < COUNT(counts); i++) {
			struct vpa_report *r = make(has, counts[i], 8);
			enum vpa_unit_kind kind = expected(has, counts[i]);

			snprintf(rule, sizeof(rule), "%zu x%s%s%s%s%s%s%s", counts[i],
				has & REQUEST ? " request" : "", has & BLOCK ? " block" : "",
				has & STEP ? " step" : "", has & ITERATION ? " iteration" : "",
				has & STAGE ? " stage" : "", has & VAE_LATE ? " VAE" : "",
				has & LAPS_MIXED ? " mixed" : "");
			all_speak_of(r, kind, rule);
			seen[kind]++;
			vpa_report_free(r);
		}
	for (i = 0; i < VPA_UNIT_KINDS; i++)
		assert_true(seen[i] >= 3 || i == VPA_UNIT_ROUND);
}

/* Eight spans and a decoder, five times: rounds. The last one has no period, and of one alone nothing is known. */
static void rounds_of_inferred_steps_are_the_unit(void **state)
{
	struct vpa_report *r = make(DECODER, 5, 8);
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);

	(void)state;
	all_speak_of(r, VPA_UNIT_ROUND, "rounds");
	assert_string_equal(vpa_base_rate(finding(r, "sync-drain")->base), "rounds/s");
	assert_int_equal(r->inferred->round_count, 5);
	assert_int_equal(r->inferred->round_steps, 8);
	assert_int_equal((int)unit.units, 4);
	assert_int_equal(vpa_mean_unit_ns(&unit), 860000000);
	assert_int_equal(
		r->inferred->rounds[1].start_ns - r->inferred->rounds[0].start_ns, 860000000);
	/* In each the host waits for 37 ms eight times. */
	assert_int_equal(
		r->inferred->rounds[0].busy_ns + r->inferred->rounds[0].idle_ns, 860000000);
	expect_page("alike", r, "; the shortest", 0);
	r->inferred->rounds[1].period_ns = 1290000000;
	expect_page("uneven", r, "; the shortest 860 ms, the longest 1.29 s.", 1);
	vpa_report_free(r);
	r = make(DECODER | REQUEST, 5, 8);
	all_speak_of(r, VPA_UNIT_REQUEST, "marked requests");
	vpa_report_free(r);
	r = make(DECODER, 1, 8);
	all_speak_of(r, VPA_UNIT_INFERRED, "one round");
	vpa_report_free(r);
}

/* The second of two units has no period: it is in no series, and yet it is the unit. */
static void the_only_step_or_iteration_is_a_unit(void **state)
{
	static const struct {
		unsigned has;
		enum vpa_unit_kind kind;
	} cases[] = {{STEP, VPA_UNIT_STEP}, {ITERATION, VPA_UNIT_ITERATION}};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *r = make(cases[i].has | VAE_LATE, 1, 1);

		assert_int_equal(vpa_unit_of(r), cases[i].kind);
		assert_true(vpa_mean_unit_of(r).units == 1);
		the_checklist_is_of(r, cases[i].kind, "the only one");
		a_comparison_is_by(r, cases[i].kind, "the only one");
		vpa_report_free(r);
	}
}

/* Operators are too short to count in, however much of the window they have. */
static void an_operator_is_no_unit(void **state)
{
	static const struct vpa_options options = {.step_parts = 1};
	static const struct {
		const char *name;
		enum vpa_unit_kind kind;
	} cases[] = {{"aten::copy_", VPA_UNIT_WINDOW}, {"c10d::allreduce_", VPA_UNIT_WINDOW},
		{"my model: forward", VPA_UNIT_INSTANCE}, {"::", VPA_UNIT_INSTANCE}};
	char script[2048];
	size_t i, k, used;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *r;

		for (k = 0, used = (size_t)snprintf(script, sizeof(script), "start 1us\n"); k < 5;
			k++)
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"range t1 %zu-%zu \"%s\"\n"
				"call t1 cudaLaunchKernel %zu+1 corr %zu\n"
				"kernel s7 %zu-%zu corr %zu \"k%zu\"\n",
				1000 + k * 100, 1090 + k * 100, cases[i].name, 1001 + k * 100,
				k + 1, 1005 + k * 100, 1080 + k * 100, k + 1, k);
		r = vpt_script_report(script, &options);
		if (vpa_unit_of(r) != cases[i].kind)
			fail_msg("%s: the unit is %s", cases[i].name,
				vpa_unit_kind_name(vpa_unit_of(r)));
		vpa_report_free(r);
	}
}

/* ---- ranges with numbers ---- */

/* 8 unmarked steps of 100 ms, and a range around the launches of each `steps` of them, called by the form and its number from 0 on; of
 * 0 steps, two ranges a step. */
static struct vpa_report *number(const char *form, size_t steps, int falls)
{
	static const struct vpa_options options = {.step_parts = 1, .overview = 1};
	size_t k, corr = 0, each_us = steps ? steps * 100000 : 50000, count = 800000 / each_us;
	struct text t = {.size = 1 << 18};
	struct vpa_report *r;
	char name[64];

	t.bytes = test_malloc(t.size);
	put(&t, "start 1s\n");
	for (k = 0; k < count; k++) {
		size_t at_us = 1000000 + k * each_us;

		if (!steps)
			at_us = 1000000 + k / 2 * 100000 + k % 2 * OF_LAP;
		snprintf(name, sizeof(name), form, falls ? count - k : k);
		put(&t, "range t1 %zuus-%zuus \"%s\"\n", at_us,
			at_us + (steps          ? each_us - 1000
					: k % 2 ? 98000
						: OF_LAP - 1),
			name);
	}
	for (k = 0; k < 8; k++)
		put_marked_span(&t, 0, 1000 + k * 100, k, &corr);
	r = vpt_script_report(t.bytes, &options);
	test_free(t.bytes);
	return r;
}

static void a_report_read_back_has_the_mean(
	const struct vpa_report *r, const struct vpa_mean_unit *unit, const char *form)
{
	struct vpa_report *back = read_back(r);
	struct vpa_mean_unit mean = vpa_mean_unit_of(back);

	if (mean.kind != unit->kind || mean.span_ns != unit->span_ns ||
		mean.idle_ns != unit->idle_ns || vpa_mean_unit_ns(&mean) != vpa_mean_unit_ns(unit))
		fail_msg("%s: read back, the unit is %s of %.3f ms", form,
			vpa_unit_kind_name(mean.kind), (double)vpa_mean_unit_ns(&mean) / 1e6);
	vpa_report_free(back);
}

/* A user counts in what the program numbers, and not in steps that nothing marks. */
static void numbered_ranges_are_instances_of_one(void **state)
{
	static const struct {
		const char *form;
		size_t steps;
		int falls;
		const char *words; /* of RESULT; NULL: steps */
	} cases[] = {
		{"section %zu", 2, 0,
			"RESULT 5.00 sections/s. A section takes 200 ms, the mean of 3."},
		{"Segment-%zu", 2, 0,
			"RESULT 5.00 segments/s. A segment takes 200 ms, the mean of 3."},
		{"batch_%zu", 1, 0, "RESULT 10.0 batches/s. A batch takes 100 ms, the mean of 7."},
		{"image [%zu]", 1, 0,
			"RESULT 10.0 images/s. An image takes 100 ms, the mean of 7."},
		{"window %zu of 9", 2, 0, "RESULT 5.00 windows/s. A window takes 200 ms, "},
		{"tile %zu/9", 2, 0, "RESULT 5.00 tiles/s. A tile takes 200 ms, "},
		{"my clip #%zu", 2, 0,
			"RESULT A pass through my clip takes 200 ms, the mean of 3."},
		{"query %zu", 2, 0, "RESULT A pass through query takes 200 ms, the mean of 3."},
		{"section %zu", 4, 0, NULL},            /* only one has a time */
		{"section %zu", 2, 1, NULL},            /* numbers fall */
		{"section 1 of 9", 2, 0, NULL},         /* of one name */
		{"half %zu", 0, 0, NULL},               /* shorter than a step */
		{"layer %zu", 2, 0, NULL},              /* parts of a model or of a machine */
		{"DecoderLayer_%zu", 2, 0, NULL},       /* the same */
		{"transformer_blocks.%zu", 2, 0, NULL}, /* the same */
		{"rank %zu", 2, 0, NULL},               /* the same */
		{"%zu", 2, 0, NULL},                    /* no word */
		{"section %zu: encode", 2, 0, NULL},    /* the number is not at the end */
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *r = number(cases[i].form, cases[i].steps, cases[i].falls);
		enum vpa_unit_kind kind = cases[i].words ? VPA_UNIT_INSTANCE : VPA_UNIT_INFERRED;
		struct vpa_mean_unit unit = vpa_mean_unit_of(r);

		if (unit.kind != kind)
			fail_msg(
				"%s: the unit is %s", cases[i].form, vpa_unit_kind_name(unit.kind));
		if (cases[i].words) {
			expect_page(cases[i].form, r, cases[i].words, 1);
			/* Also what is between two of them: in each step the host waits 39.4 ms. */
			assert_int_equal(unit.span_ns, unit.busy_ns + unit.idle_ns);
			assert_true(unit.idle_ns > unit.span_ns * 39 / 100);
			a_report_read_back_has_the_mean(r, &unit, cases[i].form);
		}
		the_checklist_is_of(r, kind, cases[i].form);
		a_comparison_is_by(r, kind, cases[i].form);
		vpa_report_free(r);
	}
}

/* RESULT of 8 unmarked steps of 100 ms, and one kernel of `ms` after them. */
static void result_leads_with(size_t ms, const char *words)
{
	static const struct vpa_options options = {.step_parts = 1, .overview = 1};
	struct text t = {.size = 1 << 18};
	struct vpa_report *r;
	size_t k, corr = 0;
	char *page;

	t.bytes = test_malloc(t.size);
	put(&t, "start 1s\n");
	for (k = 0; k < 8; k++)
		put_marked_span(&t, 0, 1000 + k * 100, k, &corr);
	put(&t, "call t1 cudaLaunchKernel 1800ms+1us corr %zu\n", corr + 1);
	put(&t, "kernel s7 1801ms+%zums corr %zu \"conv\"\n", ms, corr + 1);
	r = vpt_script_report(t.bytes, &options);
	page = page_of(r);
	if (!strstr(page, words))
		fail_msg("%zu ms: no \"%s\" in\n%s", ms, words, page);
	a_comparison_is_by(r, VPA_UNIT_INFERRED, words);
	vpt_free(page);
	vpa_report_free(r);
	test_free(t.bytes);
}

/* What most of the window is not says little about it. Conditions are of the steps either way. */
static void steps_of_a_minor_part_come_after_the_window(void **state)
{
	(void)state;
	result_leads_with(700, "RESULT 10.0 steps/s. A step takes 100 ms, the mean of ");
	result_leads_with(900, "RESULT The GPU works 1.38 s of 1.70 s. Steps, which nothing marks, "
			       "are 798 ms of this: 8 of 100 ms, 10.0 steps/s. They are the "
			       "repetition of the kernels, with confidence 0.93. CAUSE");
}

/* The first of 8 unmarked steps may set up what the others reuse, or be cut by the beginning of the recording. The others take so
 * long, and every second one 3 ms longer. */
static void a_first_step_unlike_all_others_is_in_no_mean(void **state)
{
	static const struct {
		size_t first_ms, others_ms;
		const char *words;
	} cases[] = {{140, 100, ", the mean of 6 without the first, of 140 ms."},
		{109, 100, ", the mean of 6 without the first, of 109 ms."},
		{106, 100, ", the mean of 7."}, {99, 100, ", the mean of 7."},
		{99, 180, ", the mean of 6 without the first, of 99.0 ms."},
		{177, 180, ", the mean of 7."}};
	static const struct vpa_options options = {.step_parts = 1, .overview = 1};
	size_t i, k, at;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct text t = {.size = 1 << 18};
		int is_left = strstr(cases[i].words, "without") != NULL;
		struct vpa_mean_unit unit;
		struct vpa_report *r;
		size_t corr = 0;

		t.bytes = test_malloc(t.size);
		put(&t, "start 1s\n");
		for (k = 0, at = 1000; k < 8; k++) {
			put_marked_span(&t, 0, at, k, &corr);
			at += !k ? cases[i].first_ms : cases[i].others_ms + (k % 2 ? 0 : 3);
		}
		r = vpt_script_report(t.bytes, &options);
		unit = vpa_mean_unit_of(r);
		assert_int_equal(unit.kind, VPA_UNIT_INFERRED);
		expect_page(cases[i].words, r, cases[i].words, 1);
		assert_int_equal(unit.units, is_left ? 6 : 7);
		assert_int_equal((unit.span_ns + 500000) / 1000000,
			6 * cases[i].others_ms + 9 + (is_left ? 0 : cases[i].first_ms));
		a_report_read_back_has_the_mean(r, &unit, cases[i].words);
		the_checklist_is_of(r, VPA_UNIT_INFERRED, cases[i].words);
		a_comparison_is_by(r, VPA_UNIT_INFERRED, cases[i].words);
		vpa_report_free(r);
		test_free(t.bytes);
	}
}

/* 5 iterations of the lengths, and so long after each: the GPU works in all of it but the last millisecond. */
static void iterations_take(const size_t *ms, size_t between_ms, double mean_ms, const char *words)
{
	static const struct vpa_options options = {.step_parts = 1, .overview = 1};
	struct text t = {.size = 1 << 16};
	struct vpa_mean_unit unit;
	struct vpa_report *r;
	size_t k, at = 1000;

	t.bytes = test_malloc(t.size);
	put(&t, "start 1s\n");
	for (k = 0; k < 5; k++) {
		put_range(&t, at, ms[k], "ProfilerStep#", 12 + k);
		put(&t, "call t1 cudaLaunchKernel %zums+1us corr %zu\n", at, k + 1);
		put(&t, "kernel s7 %zums-%zums corr %zu \"gemm\"\n", at, at + ms[k] - 1, k + 1);
		at += ms[k] + between_ms;
	}
	r = vpt_script_report(t.bytes, &options);
	unit = vpa_mean_unit_of(r);
	assert_int_equal(unit.kind, VPA_UNIT_ITERATION);
	expect_page(words, r, words, 1);
	assert_true(fabs((double)vpa_mean_unit_ns(&unit) / 1e6 - mean_ms) < 0.01);
	assert_int_equal(unit.span_ns, unit.busy_ns + unit.idle_ns);
	a_report_read_back_has_the_mean(r, &unit, words);
	a_comparison_is_by(r, VPA_UNIT_ITERATION, words);
	vpa_report_free(r);
	test_free(t.bytes);
}

/* A mean from start to start lacks the last one: of other work, where they differ much. */
static void the_last_iteration_counts_where_they_differ(void **state)
{
	static const size_t differ[] = {220, 180, 290, 230, 150},
			    turns[] = {220, 150, 220, 150, 220},
			    alike[] = {220, 221, 222, 220, 219};

	(void)state;
	iterations_take(differ, 0, 213.8,
		" An iteration takes 214 ms, the mean of 5; the shortest 149 ms, the longest 290 "
		"ms.");
	iterations_take(turns, 0, 185, " An iteration takes 185 ms, the mean of 4");
	iterations_take(alike, 0, 220.75, " An iteration takes 221 ms, the mean of 4. CAUSE");
	/* What comes between them is a part of the others. */
	iterations_take(differ, 20, 250, "the mean of 4; the shortest 200 ms, the longest 310 ms.");
}

/* What of a cause lies outside the units may be all of what is at other places, or nothing of it. */
static void a_place_has_of_a_unit_what_it_must_have(void **state)
{
	static const struct {
		uint64_t place_ns, all_ns, inside_ns; /* 0: the window */
		enum vpa_amount amount;
	} cases[] = {{10000, 10000, 0, VPA_AMOUNT_ALL}, {9990, 10000, 0, VPA_AMOUNT_NEARLY_ALL},
		{9400, 10000, 0, VPA_AMOUNT_MOST}, {6000, 10000, 0, VPA_AMOUNT_MOST},
		{5999, 10000, 0, VPA_AMOUNT_HALF}, {5000, 10000, 0, VPA_AMOUNT_HALF},
		{4999, 10000, 0, VPA_AMOUNT_SOME}, {9600, 10000, 10000, VPA_AMOUNT_NEARLY_ALL},
		{9800, 10000, 6000, VPA_AMOUNT_NEARLY_ALL}, {9600, 10000, 6000, VPA_AMOUNT_MOST},
		{10000, 10000, 100, VPA_AMOUNT_ALL}, {8000, 10000, 4000, VPA_AMOUNT_MOST},
		{7999, 10000, 4000, VPA_AMOUNT_SOME}};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_mean_unit u = {.has_parts = 1};

		u.cause_ns[VPA_CAUSE_HOST_CODE] = cases[i].inside_ns;
		assert_int_equal(
			vpa_mean_unit_amount_at(cases[i].inside_ns ? &u : NULL,
				1u << VPA_CAUSE_HOST_CODE, cases[i].place_ns, cases[i].all_ns),
			cases[i].amount);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_has_of_a_unit_what_it_must_have),
		cmocka_unit_test(every_part_of_a_report_speaks_of_one_unit),
		cmocka_unit_test(rounds_of_inferred_steps_are_the_unit),
		cmocka_unit_test(numbered_ranges_are_instances_of_one),
		cmocka_unit_test(steps_of_a_minor_part_come_after_the_window),
		cmocka_unit_test(a_first_step_unlike_all_others_is_in_no_mean),
		cmocka_unit_test(the_last_iteration_counts_where_they_differ),
		cmocka_unit_test(the_only_step_or_iteration_is_a_unit),
		cmocka_unit_test(an_operator_is_no_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
