/* test_said.c - what the program said of itself: memory by label, components, networks, compilations, iterations. */
#include "formats/base/count.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

#define START                 "start 1us\n"
#define MARK(at, label, json) "mark t1 " at " \"" label "\" json \"{" json "}\"\n"
#define MEMORY                "\\\"kind\\\":\\\"memory\\\""
#define SAID(key, value)      ",\\\"" key "\\\":" value
#define END                   "call t1 cudaLaunchKernel 9000-9100\n"

/* ---- memory by label ---- */

static void put_bytes(char *to, size_t room, uint64_t bytes)
{
	if (bytes == UINT64_MAX)
		snprintf(to, room, "-");
	else
		snprintf(to, room, "%" PRIu64, bytes);
}

/* "label: count allocated reserved peak[!] unused growth", "!": exact. */
static void put_label(char *to, size_t room, const struct vpa_memory_label *l)
{
	char allocated[24], reserved[24], peak[24], growth[24] = "-";

	put_bytes(allocated, sizeof(allocated), l->allocated_bytes);
	put_bytes(reserved, sizeof(reserved), l->reserved_bytes);
	put_bytes(peak, sizeof(peak), l->peak_bytes);
	if (l->count > 1 && l->allocated_bytes != UINT64_MAX)
		snprintf(growth, sizeof(growth), "%" PRId64, l->growth_bytes);
	snprintf(to, room, "%s/%" PRId64 ": %" PRIu64 " %s %s %s%s %.2f %s; ", l->label, l->device,
		l->count, allocated, reserved, peak, l->peak_exact ? "!" : "", l->unused_share,
		growth);
}

static const struct {
	const char *rule, *script, *rows;
} labels[] = {
	{"a label has what the program said there",
		START MARK("1100", "after_load",
			MEMORY SAID("allocated", "600") SAID("reserved", "800") SAID("peak", "700")
				SAID("device", "0")) END,
		"after_load/0: 1 600 800 700 0.25 -; "},
	{"what is not said is not known",
		START MARK("1100", "a", MEMORY) MARK("1200", "b", MEMORY SAID("reserved", "800"))
			END,
		"a/-1: 1 - - - -1.00 -; b/-1: 1 - 800 - -1.00 -; "},
	{"of a label in a loop the newest values count, and the largest peak",
		START MARK("1100", "block",
			MEMORY SAID("allocated", "100") SAID("peak", "900") SAID("exact", "1"))
			MARK("1200", "block", MEMORY SAID("allocated", "70") SAID("peak", "80"))
				END,
		"block/-1: 2 70 - 900! -1.00 -30; "},
	{"a mark that comes late in the file is not the newest one",
		START MARK("1200", "block", MEMORY SAID("allocated", "70")) "chunk\n" MARK(
			"1100", "block", MEMORY SAID("allocated", "100")) END,
		"block/-1: 2 70 - - -1.00 -30; "},
	{"each GPU has its own row",
		START MARK("1100", "x", MEMORY SAID("allocated", "1") SAID("device", "1"))
			MARK("1100", "x", MEMORY SAID("allocated", "2") SAID("device", "0")) END,
		"x/0: 1 2 - - -1.00 -; x/1: 1 1 - - -1.00 -; "},
	{"more allocated than reserved is no share",
		START MARK("1100", "x", MEMORY SAID("allocated", "9") SAID("reserved", "3")) END,
		"x/-1: 1 9 3 - -1.00 -; "},
	{"other marks, and what cannot be read, are no labels",
		START MARK("1100", "x", "\\\"kind\\\":\\\"frames\\\"" SAID("allocated", "9"))
			MARK("1200", "y", MEMORY SAID("allocated", "[9]"))
				MARK("1300", "z", MEMORY ",") "mark t1 1400 \"memory\"\n" END,
		""},
	{"a number that cannot be bytes is not known",
		START MARK("1100", "x",
			MEMORY SAID("allocated", "-5") SAID("reserved", "1e30")
				SAID("peak", "99999999999999999999")) END,
		"x/-1: 1 - - - -1.00 -; "},
};

static void labels_have_what_the_allocator_held(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(labels); i++) {
		struct vpa_report *r = vpt_script_report(labels[i].script, NULL);
		char rows[1024] = "";

		for (k = 0; k < r->said.memory_label_count; k++)
			put_label(rows + strlen(rows), sizeof(rows) - strlen(rows),
				&r->said.memory_labels[k]);
		if (strcmp(rows, labels[i].rows) != 0)
			fail_msg("%s:\n%s\nexpected\n%s", labels[i].rule, rows, labels[i].rows);
		vpa_report_free(r);
	}
}

/* ---- components ---- */

#define STAGE(from, to, name, more)                                                                \
	"range t1 " from "-" to " \"" name "\" json \"{\\\"kind\\\":\\\"stage\\\"" more "}\"\n"
#define LAUNCH(from, to, corr) "call t1 cudaLaunchKernel " from "-" to " corr " corr "\n"
#define KERNEL(from, to, corr) "kernel s7 " from "-" to " corr " corr " \"k\"\n"
#define COMPONENT              SAID("component", "1")

/* Of each: name[*] frames FPS, times: count mean min max std, memory in it; "*": a component, "h": no work on a GPU. */
static const struct {
	const char *rule, *script, *rows;
} components[] = {
	{"a component has frames for each second of its time on the GPU",
		START STAGE("1100", "1200", "world", COMPONENT SAID("frames", "4")) LAUNCH("1110",
			"1120", "1") STAGE("1300", "1400", "world", COMPONENT SAID("frames", "4"))
			LAUNCH("1310", "1320", "2") KERNEL("2000", "3000", "1")
				KERNEL("4000", "7000", "2"),
		"world* 8 2000000.0 2 2000 1000 3000 1000 -; "},
	{"without work on a GPU the time is the host's",
		START STAGE("1100", "1300", "audio", COMPONENT SAID("frames", "1")) END,
		"audio*h 1 5000000.0 1 200 200 200 0 -; "},
	{"beside a component stages are listed, after it; frames of some calls count for those",
		START STAGE("1100", "1900", "vae", "") STAGE("2000", "2200", "text", COMPONENT)
			STAGE("2300", "2400", "vae", SAID("frames", "2")) END,
		"text*h 0 -1.0 1 200 200 200 0 -; vaeh 2 20000000.0 2 450 100 800 350 -; "},
	{"stages that say frames need no component",
		START STAGE("1100", "1300", "vae", SAID("frames", "2")) END,
		"vaeh 2 10000000.0 1 200 200 200 0 -; "},
	{"stages that say none are in their own table alone",
		START STAGE("1100", "1300", "vae", "") END, ""},
	{"memory is the most that was sampled in it",
		START "series m unit \"bytes\" \"memory.peak\"\ncounter m 1150 700\ncounter m 1290 "
		      "900\ncounter m 1400 5000\n" STAGE("1100", "1300", "vae", COMPONENT)
			      LAUNCH("1110", "1120", "1") KERNEL("2000", "3000", "1"),
		"vae* 0 -1.0 1 1000 1000 1000 0 900; "},
	{"a range that was never closed has no time",
		START "range t1 1100-1300 \"vae\" unmatched json "
		      "\"{\\\"kind\\\":\\\"stage\\\",\\\"component\\\":1}\"\n" END,
		""},
};

static void components_have_rates_times_and_memory(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(components); i++) {
		struct vpa_report *r = vpt_script_report(components[i].script, NULL);
		char rows[1024] = "", bytes[24];
		size_t used = 0;

		for (k = 0; k < r->said.component_count; k++) {
			const struct vpa_component *c = &r->said.components[k];

			put_bytes(bytes, sizeof(bytes), c->peak_bytes);
			used += (size_t)snprintf(rows + used, sizeof(rows) - used,
				"%s%s%s %" PRIu64 " %.1f %" PRIu64 " %.0f %" PRIu64 " %" PRIu64
				" %.0f %s; ",
				c->name, c->is_component ? "*" : "", c->on_gpu ? "" : "h",
				c->frames, c->fps, c->time.count, c->time.mean_ns, c->time.min_ns,
				c->time.max_ns, c->time.deviation_ns, bytes);
		}
		if (strcmp(rows, components[i].rows) != 0)
			fail_msg("%s:\n%s\nexpected\n%s", components[i].rule, rows,
				components[i].rows);
		vpa_report_free(r);
	}
}

/* ---- networks ---- */

static void networks_are_those_of_readable_facts(void **state)
{
	static const char script[] = START
		"meta model.vae.parameters \"5\"\nmeta model.vae.bytes \"20\"\n"
		"meta model.a.b.parameters \"1300000000\"\nmeta model.a.b.bytes \"2600000000\"\n"
		"meta model.a.b.dtypes \"bfloat16:1300000000\"\nmeta model.a.b.stage "
		"\"transformer\"\n"
		"meta model.parameters \"1.3e3\"\n"
		"meta model.many.parameters \"many\"\nmeta model.minus.parameters \"-7\"\n"
		"meta model.cut.parameters \"7x\"\nmeta model.nan.parameters \"nan\"\n"
		"meta models.parameters \"7\"\nmeta model.empty.parameters \"\"\n"
		"meta model.huge.parameters \"1e300\"\nmeta model.x.bytes \"7\"\n" END;
	struct vpa_report *r = vpt_script_report(script, NULL);

	(void)state;
	assert_int_equal(r->said.model_count, 3);
	assert_string_equal(r->said.models[0].name, "a.b");
	assert_int_equal(r->said.models[0].parameters, 1300000000);
	assert_int_equal(r->said.models[0].bytes, 2600000000);
	assert_string_equal(r->said.models[0].dtypes, "bfloat16:1300000000");
	assert_string_equal(r->said.models[0].stage, "transformer");
	assert_string_equal(r->said.models[1].name, "model");
	assert_int_equal(r->said.models[1].parameters, 1300);
	assert_true(r->said.models[1].bytes == UINT64_MAX);
	assert_string_equal(r->said.models[2].name, "vae");
	assert_int_equal(r->said.models[2].bytes, 20);
	assert_null(r->said.models[2].dtypes);
	assert_null(r->said.models[2].stage);
	vpa_report_free(r);
}

/* ---- moments ---- */

static const struct {
	const char *rule, *script, *rows;
} moments[] = {
	{"marks of one name are one row, in the order of their first time",
		START "mark t1 1500 \"saved\"\nmark t2 1200 \"seed set\"\n"
		      "mark t1 1300 \"saved\"\nmark t2 1900 \"saved\"\n" END,
		"seed set (-) 1 at 1200 after 200 to 0; saved (-) 3 at 1300 after 300 to 600; "},
	{"a domain tells names apart",
		START "mark t1 1500 \"x\" domain mine\nmark t1 1600 \"x\"\n" END,
		"x (mine) 1 at 1500 after 500 to 0; x (-) 1 at 1600 after 600 to 0; "},
	{"annotations of a known kind have tables of their own",
		START "mark t1 1500 \"after load\" json "
		      "\"{\\\"kind\\\":\\\"memory\\\",\\\"allocated\\\":1}\"\n"
		      "mark t1 1600 \"noted\" json \"{\\\"note\\\":\\\"12\\\"}\"\n" END,
		"noted (-) 1 at 1600 after 600 to 0; "},
};

static void moments_are_listed_by_name(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(moments); i++) {
		struct vpa_report *r = vpt_script_report(moments[i].script, NULL);
		char rows[512] = "";
		size_t used = 0;

		for (k = 0; k < r->said.moment_count; k++) {
			const struct vpa_moment *m = &r->said.moments[k];

			used += (size_t)snprintf(rows + used, sizeof(rows) - used,
				"%s (%s) %" PRIu64 " at %" PRIu64 " after %" PRIu64 " to %" PRIu64
				"; ",
				m->name, m->domain ? m->domain : "-", m->count, m->first_ns,
				m->after_ns, m->span_ns);
		}
		if (strcmp(rows, moments[i].rows) != 0)
			fail_msg("%s:\n%s\nexpected\n%s", moments[i].rule, rows, moments[i].rows);
		vpa_report_free(r);
	}
}

/* ---- compilations ---- */

#define COMPILE(thread, from, to, id)                                                              \
	"range " thread " " from "-" to                                                            \
	" \"compile\" json \"{\\\"kind\\\":\\\"range\\\",\\\"compile\\\":\\\"" id "\\\"}\"\n"
#define REASON(thread, at, function, reason)                                                       \
	"mark " thread " " at " \"" reason                                                         \
	"\" json \"{\\\"kind\\\":\\\"recompile\\\",\\\"function\\\":\\\"" function "\\\"}\"\n"
#define STEP(from, to, index)                                                                      \
	"range t1 " from "-" to " \"step\" json \"{\\\"kind\\\":\\\"step\\\",\\\"index\\\":" index \
	"}\"\n"

static const struct {
	const char *rule, *script, *rows;
} compilations[] = {
	{"a compilation is in the step around it, and has the reason that came in it",
		START STEP("1100", "1900", "3") COMPILE("t1", "1200", "1700", "0/1")
			REASON("t1", "1300", "forward in m.py:12", "size changed") END,
		"0/1 forward in m.py:12 (size changed) 500 step 3 in step; "},
	{"a reason may come before its compilation",
		START COMPILE("t1", "1100", "1150", "0/0") REASON("t1", "1160", "f", "why")
			COMPILE("t1", "1200", "1300", "0/1") END,
		"0/0 - (-) 50 step -1 in -; 0/1 f (why) 100 step -1 in -; "},
	{"a reason of another thread is another's",
		START COMPILE("t1", "1100", "1300", "0/1") REASON("t2", "1200", "f", "why") END,
		"0/1 - (-) 200 step -1 in -; ? f (why) 0 step -1 in -; "},
	{"one compilation has one reason",
		START COMPILE("t1", "1100", "1300", "0/1") REASON("t1", "1200", "f", "one")
			REASON("t1", "1210", "f", "two") END,
		"0/1 f (one) 200 step -1 in -; ? f (two) 0 step -1 in -; "},
	{"a range that says it otherwise is none",
		START "range t1 1100-1300 \"compile\" json \"{\\\"compile\\\":3}\"\n" END, ""},
};

static void compilations_have_their_step_and_reason(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(compilations); i++) {
		struct vpa_report *r = vpt_script_report(compilations[i].script, NULL);
		char rows[1024] = "";
		size_t used = 0;

		for (k = 0; k < r->said.compilation_count; k++) {
			const struct vpa_compilation *c = &r->said.compilations[k];

			used += (size_t)snprintf(rows + used, sizeof(rows) - used,
				"%s %s (%s) %" PRIu64 " step %" PRId64 " in %s; ", c->id,
				c->function ? c->function : "-", c->reason ? c->reason : "-",
				c->host_ns, c->step, c->place ? c->place : "-");
		}
		if (strcmp(rows, compilations[i].rows) != 0)
			fail_msg("%s:\n%s\nexpected\n%s", compilations[i].rule, rows,
				compilations[i].rows);
		vpa_report_free(r);
	}
}

/* ---- iterations ---- */

#define BLOCK(from, to, index)                                                                     \
	"range t1 " from "-" to " \"b\" json \"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":" index   \
	"}\"\n"
#define REQUEST(from, to) "range t1 " from "-" to " \"r\" json \"{\\\"kind\\\":\\\"request\\\"}\"\n"

static const struct {
	const char *rule, *script, *rows;
} iterations[] = {
	{"a step has its block, its request, and its time on the GPU",
		START REQUEST("1010", "1900") BLOCK("1020", "1800", "5") STEP("1100", "1200", "0")
			LAUNCH("1110", "1120", "1") STEP("1300", "1450", "1") LAUNCH("1310", "1320",
				"2") KERNEL("2000", "2400", "1") KERNEL("2500", "2600", "2"),
		"request 0 block 5 step 0: 100 400 400 1; request 0 block 5 step 1: 150 100 100 "
		"1; "},
	{"steps are listed by start, however they end",
		START STEP("1300", "1450", "1") "chunk\n" STEP("1100", "1200", "0") END,
		"request -1 block -1 step 0: 100 0 0 0; request -1 block -1 step 1: 150 0 0 0; "},
	{"without steps blocks are listed",
		START REQUEST("1010", "1500") BLOCK("1020", "1200", "0") REQUEST("1600", "1900")
			BLOCK("1700", "1750", "0") END,
		"request 0 block -1 block 0: 180 0 0 0; request 1 block -1 block 0: 50 0 0 0; "},
	{"without either requests are", START REQUEST("1010", "1500") END,
		"request -1 block -1 request -1: 490 0 0 0; "},
	{"other ranges are none", START STAGE("1010", "1500", "vae", "") END, ""},
};

static void iterations_are_listed_one_by_one(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(iterations); i++) {
		struct vpa_report *r = vpt_script_report(iterations[i].script, NULL);
		char rows[1024] = "";
		size_t used = 0;

		for (k = 0; k < r->said.iteration_count; k++) {
			const struct vpa_iteration *it = &r->said.iterations[k];

			used += (size_t)snprintf(rows + used, sizeof(rows) - used,
				"request %" PRId64 " block %" PRId64 " %s %" PRId64 ": %" PRIu64
				" %" PRIu64 " %" PRIu64 " %" PRIu64 "; ",
				it->request, it->block, vpa_scope_kind_name(it->kind), it->index,
				it->host_ns, it->gpu_ns, it->busy_ns, it->ops);
		}
		if (strcmp(rows, iterations[i].rows) != 0)
			fail_msg("%s:\n%s\nexpected\n%s", iterations[i].rule, rows,
				iterations[i].rows);
		vpa_report_free(r);
	}
}

/* ---- rates that need no marked block ---- */

#define FRAMES(at, n)                                                                              \
	"mark t1 " at " \"frames ready\" domain vptrace json "                                     \
	"\"{\\\"kind\\\":\\\"frames\\\",\\\"frames\\\":" n "}\"\n"
#define WORK START "call t1 cudaLaunchKernel 1us-2us corr 1\nkernel s7 3us-3s corr 1 \"k\"\n"

static void marks_of_frames_alone_make_a_rate(void **state)
{
	static const struct {
		const char *rule, *script, *words; /* NULL: no rate */
	} rates[] = {
		{"those of the first mark have no time",
			WORK FRAMES("1s", "9") FRAMES("2s", "4") FRAMES("3s", "4"),
			"RESULT 4.00 FPS. That is from the first to the last of 3 marks of "
			"frames."},
		{"of several threads", WORK FRAMES("2s", "4") FRAMES("1s", "9") FRAMES("3s", "4"),
			"RESULT 4.00 FPS. That is from the first to the last of 3 marks of "
			"frames."},
		{"two are too few", WORK FRAMES("1s", "4") FRAMES("3s", "4"), NULL},
		{"frames that are not said",
			WORK FRAMES("1s", "0") FRAMES("2s", "0") FRAMES("3s", "0"), NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rates); i++) {
		struct vpa_report *r = vpt_script_report(rates[i].script, NULL);

		expect_page(rates[i].rule, r, rates[i].words ? rates[i].words : "marks of frames.",
			rates[i].words != NULL);
		vpa_report_free(r);
	}
}

/* Six blocks of 12 frames, of 100 to 200 ms: their mean is no block's rate. */
static void blocks_that_grow_have_a_rate_at_the_end(void **state)
{
	static char script[4000];
	int at = snprintf(script, sizeof(script), START);
	unsigned t = 10, k;
	struct vpa_report *r;

	(void)state;
	for (k = 0; k < 6; k++) {
		unsigned ms = 100 + 20 * k;

		at += snprintf(script + at, sizeof(script) - (size_t)at,
			"range t1 %ums+%ums \"block\" domain vptrace json "
			"\"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":%u,\\\"frames\\\":12}\"\n"
			"call t1 cudaLaunchKernel %ums+3us corr %u\n"
			"kernel s7 %ums+%ums corr %u \"k\"\n",
			t, ms, k, t, k + 1, t + 1, ms, k + 1);
		t += ms;
	}
	r = vpt_script_report(script, NULL);
	expect_page(
		"growth", r, "unknown takes 20.0 ms of it. The last block runs at 60.0 FPS.", 1);
	vpa_report_free(r);
}

/* Five calls of a pipeline, each of two steps. */
static void a_pipeline_is_called_for_a_request(void **state)
{
	static const struct {
		const char *name, *words;
	} names[] = {
		{"WanPipeline.__call__", "A request takes 100 ms"},
		{"wan_pipeline", "steps/s. A step takes 50.0 ms"},
	};
	static const struct vpa_options options = {.step_parts = 1};
	static char script[4000];
	size_t i;
	unsigned k;

	(void)state;
	for (i = 0; i < COUNT(names); i++) {
		int at = snprintf(script, sizeof(script), START);
		struct vpa_report *r;

		for (k = 0; k < 10; k++)
			at += snprintf(script + at, sizeof(script) - (size_t)at,
				"range t1 %ums+40ms \"step %u\"\n"
				"call t1 cudaLaunchKernel %ums+3us corr %u\n"
				"kernel s7 %ums+50ms corr %u \"k\"\n",
				10 + 50 * k, k % 2, 11 + 50 * k, k + 1, 11 + 50 * k, k + 1);
		for (k = 0; k < 5; k++)
			at += snprintf(script + at, sizeof(script) - (size_t)at,
				"range t1 %ums+95ms \"%s\"\n", 10 + 100 * k, names[i].name);
		r = vpt_script_report(script, &options);
		expect_page(names[i].name, r, names[i].words, 1);
		vpa_report_free(r);
	}
}

/* Ten steps, in each a call of something called a pipeline, with or without work of its own. */
static void a_pipeline_in_a_step_is_a_part_of_it(void **state)
{
	static const struct {
		const char *rule;
		unsigned us; /* from the step's start to the call's end */
	} cases[] = {
		{"it launches what the step does first", 5000},
		{"it launches nothing", 800},
	};
	static const struct vpa_options options = {.step_parts = 1};
	static char script[4000];
	size_t i;
	unsigned k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		int at = snprintf(script, sizeof(script), START);
		struct vpa_report *r;

		for (k = 0; k < 10; k++)
			at += snprintf(script + at, sizeof(script) - (size_t)at,
				"range t1 %ums+40ms \"step %u\"\n"
				"range t1 %u100us-%u%03uus \"EncoderPipeline.forward\"\n"
				"call t1 cudaLaunchKernel %ums+3us corr %u\n"
				"kernel s7 %ums+50ms corr %u \"k\"\n",
				10 + 50 * k, k, 10 + 50 * k, 10 + 50 * k + cases[i].us / 1000,
				cases[i].us % 1000, 11 + 50 * k, k + 1, 11 + 50 * k, k + 1);
		r = vpt_script_report(script, &options);
		expect_page(cases[i].rule, r, "steps/s. A step takes 50.0 ms", 1);
		expect_page(cases[i].rule, r, "1 request, 10 steps", 1);
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_have_what_the_allocator_held),
		cmocka_unit_test(components_have_rates_times_and_memory),
		cmocka_unit_test(networks_are_those_of_readable_facts),
		cmocka_unit_test(moments_are_listed_by_name),
		cmocka_unit_test(compilations_have_their_step_and_reason),
		cmocka_unit_test(iterations_are_listed_one_by_one),
		cmocka_unit_test(marks_of_frames_alone_make_a_rate),
		cmocka_unit_test(blocks_that_grow_have_a_rate_at_the_end),
		cmocka_unit_test(a_pipeline_is_called_for_a_request),
		cmocka_unit_test(a_pipeline_in_a_step_is_a_part_of_it),
	};

	return cmocka_run_group_tests_name("said", tests, NULL, NULL);
}
