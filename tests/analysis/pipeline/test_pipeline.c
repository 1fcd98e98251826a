/* test_pipeline.c - where ops stand among requests, blocks, steps and stages; and that every caller gets the same. */
#include "analysis/analyze.h"
#include "analysis/folds/observer.h"
#include "analysis/pipeline/pipeline.h"
#include "formats/base/count.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* What the observer sees. */
struct seen {
	struct vpa_observer_view view;
	char ops[400]; /* of each op: the scopes that it belongs to */
	char ranges[400];
};

static int begin(void *ctx, const struct vpa_observer_view *view)
{
	((struct seen *)ctx)->view = *view;
	return VPT_OK;
}

static void append(char *text, size_t size, const char *format, const char *word, int64_t index)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, format, word, index);
}

static void append_scope(struct seen *s, uint32_t scope)
{
	const struct vpa_scope_label *label;

	if (scope == VPA_NONE)
		return;
	label = &s->view.context->pipeline->scopes[scope].label;
	append(s->ops, sizeof(s->ops), label->index < 0 ? " %s" : " %s %" PRId64,
		vpa_scope_kind_name(label->kind), label->index);
}

static int64_t index_of(const struct vpa_pipeline *p, uint32_t scope, enum vpa_scope_kind kind)
{
	return scope == VPA_NONE || p->scopes[scope].label.kind != kind
		       ? -1
		       : p->scopes[scope].label.index;
}

static int see_ops(void *ctx, const struct vpa_ops *ops)
{
	struct seen *s = ctx;
	struct vpa_pipeline *p = s->view.context->pipeline;
	const struct vpa_position *at = p->positions;
	size_t i, k = 0;

	for (i = 0; i < ops->count; i++) {
		const struct vpa_op_stretch *stretch = vpa_ops_stretch(ops, i, &k);
		struct vpa_where where;

		while (at->end <= i)
			at++;
		append(s->ops, sizeof(s->ops), "%s", s->ops[0] ? "," : "", 0);
		if (at->thread == VPA_NONE) {
			append(s->ops, sizeof(s->ops), " %s", "unknown", 0);
			continue;
		}
		append_scope(s, at->around.request);
		append_scope(s, at->around.block);
		append_scope(s, at->around.step);
		append_scope(s, at->around.stage);
		assert_int_equal(vpa_pipeline_where(p, stretch->range, stretch->process_range,
					 ops->launch_start_ns[i], &where),
			VPT_OK);
		assert_int_equal(where.block, index_of(p, at->around.block, VPA_SCOPE_BLOCK));
		assert_int_equal(where.step, index_of(p, at->around.step, VPA_SCOPE_STEP));
		/* A stage around the block is returned too. */
		assert_true(at->around.stage == VPA_NONE || where.stage);
	}
	return VPT_OK;
}

static int see_range(void *ctx, const struct vpa_range *range)
{
	struct seen *s = ctx;

	if (vpa_pipeline_kind(range))
		append(s->ranges, sizeof(s->ranges), " %s",
			vpa_scope_kind_name(vpa_pipeline_kind(range)), 0);
	return VPT_OK;
}

#define LAUNCH(at, corr)                                                                           \
	"call t1 cudaLaunchKernel " #at "+1 corr " #corr "\nkernel s7 1" #at "+10 corr " #corr     \
	" \"k\"\n"

static const struct {
	const char *rule, *script, *ops, *ranges;
} cases[] = {
	{"nothing is around it", LAUNCH(110, 1), "", ""},
	{"each kind once",
		LAUNCH(110, 1) "range t1 106-120 \"vae decode\"\nrange t1 105-121 \"step 3\"\n"
			       "range t1 104-122 \"block 2\"\nrange t1 103-123 \"request\"\n",
		" request block 2 step 3 stage", " stage step block request"},
	{"a block inside a step is a layer",
		LAUNCH(110, 1) "range t1 106-120 \"block 7\"\nrange t1 105-121 \"step 3\"\n",
		" step 3", " step"},
	{"a block inside a part is no block of the video",
		LAUNCH(110, 1) "range t1 106-120 \"block 7\"\nrange t1 105-121 \"vae\"\n", " stage",
		" stage"},
	{"unless that is all of the denoising, wherever it stands",
		LAUNCH(110, 1) "range t1 106-120 \"block 7\"\nrange t1 105-121 \"DenoisingStage\"\n"
			       "range t1 104-122 \"vae\"\n",
		" block 7", " block stage stage"},
	{"an annotation is not put aside by a name further in",
		LAUNCH(110, 1) "range t1 106-120 \"vae\"\n"
			       "range t1 105-121 \"a\" domain vptrace json "
			       "\"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":4}\"\n",
		" block 4 stage", " stage block"},
	{"a step in which a block stands is not around what is in the block",
		LAUNCH(110, 1) "range t1 106-120 \"step 1\"\n"
			       "range t1 105-121 \"a\" domain vptrace json "
			       "\"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":4}\"\n"
			       "range t1 104-122 \"step 8\"\n",
		" block 4 step 1", " step block step"},
	{"what began without launching anything is the step that it was",
		LAUNCH(105, 1)
			LAUNCH(115, 2) "range t1 103-108 \"step 1\"\nrange t1 112-120 \"step 2\"\n",
		" step 1, step 2", " step step"},
	{"a range that launched nothing is nothing but a request",
		"range t1 103-108 \"step 1\"\nrange t1 110-120 \"request\"\n" LAUNCH(130, 1), "",
		" request"},
	{"an op without launch record stands nowhere",
		"range t1 103-508 \"step 1\"\nkernel s7 120-130 corr 9 \"k\"\n", " unknown", ""},
};

static void an_op_stands_in_the_scopes_around_its_launch(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct seen s = {.ops = ""};
		struct vpa_observer observer = {
			.ctx = &s, .begin = begin, .ops = see_ops, .range = see_range};
		struct vpa_options options = {.observer = &observer};
		struct vpa_report *r = NULL;
		struct vpt_trace *trace;
		struct vpt_err err = {0};
		char script[1200];

		snprintf(script, sizeof(script), "start 100\n%s", cases[i].script);
		if (vpt_script_trace(script, &trace, &err) ||
			vpa_analyze(trace, "trace", &options, &r, &err))
			fail_msg("%s: %s", cases[i].rule, err.text);
		if (strcmp(s.ops, cases[i].ops) || strcmp(s.ranges, cases[i].ranges))
			fail_msg("%s: ops in \"%s\", ranges \"%s\"; expected \"%s\", \"%s\"",
				cases[i].rule, s.ops, s.ranges, cases[i].ops, cases[i].ranges);
		vpa_report_free(r);
		vpt_trace_close(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_op_stands_in_the_scopes_around_its_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
