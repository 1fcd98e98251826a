/* test_findings_candidates.c - no gain is hidden by smaller ones: FIX FIRST of random traces against all that idle time
 * could bring. */
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/advice/findings/findings_idle.h"
#include "tests/support/traces/findings_rig.h"
#include "tests/support/traces/random_causes.h"

/* The findings about causes of idle time, of the program and not of its recording. */
static const struct {
	const char *id;
	enum vpa_cause cause;
	int is_course; /* listed from a tenth of the window only */
} causes[] = {
	{"allocation", VPA_CAUSE_ALLOCATION, 0},
	{"module-load", VPA_CAUSE_MODULE_LOAD, 0},
	{"first-use", VPA_CAUSE_FIRST_USE, 0},
	{"graph-build", VPA_CAUSE_GRAPH_BUILD, 0},
	{"other-call", VPA_CAUSE_OTHER_CALL, 0},
	{"launch-rate", VPA_CAUSE_LAUNCH_RATE, 0},
	{"host-stall", VPA_CAUSE_HOST_CODE, 0},
	{"launch-call", VPA_CAUSE_LAUNCH_CALL, 1},
	{"launch-latency", VPA_CAUSE_LAUNCH_LATENCY, 1},
	{"dependency", VPA_CAUSE_DEPENDENCY, 0},
	{"inside-graph", VPA_CAUSE_INSIDE_GRAPH, 0},
	{"graph-start", VPA_CAUSE_GRAPH_START, 1},
	{"scheduling", VPA_CAUSE_SCHEDULING, 1},
	{"queued", VPA_CAUSE_QUEUED, 1},
};

static const struct {
	const char *id;
	enum vpa_waits part;
} waits[] = {{"small-reads", VPA_WAITS_READS}, {"blocking-copy", VPA_WAITS_COPIES},
	{"sync-drain", VPA_WAITS_SYNCS}, {"host-waits", VPA_WAITS_ALL}};

enum { SEEDS = 1500 };

/* The largest gain that the findings show, and the largest that there is: of a cause alone, or of all waits together,
 * as far as they are no long code of the host. What is listed from a tenth of the window only is none below that. */
struct largest {
	uint64_t listed_ns, any_ns;
	const char *of_any;
	size_t listed;
};

static void look_at(
	struct largest *l, const char *id, uint64_t gain_ns, int is_listed, uint64_t listed_ns)
{
	if (gain_ns > l->any_ns) {
		l->any_ns = gain_ns;
		l->of_any = id;
	}
	if (is_listed && listed_ns > l->listed_ns)
		l->listed_ns = listed_ns;
	l->listed += (size_t)is_listed;
}

static struct largest largest_of(const struct vpa_report *r)
{
	struct largest l = {.of_any = ""};
	struct vpa_idle_sum sum;
	size_t i;

	for (i = 0; i < COUNT(causes); i++) {
		sum = vpa_idle_sum_of(r, causes[i].cause);
		vpa_idle_sum_leave_first_use(r, &sum);
		if (!causes[i].is_course || (double)sum.ns >= 0.1 * (double)vpa_windows_ns(r))
			look_at(&l, causes[i].id, sum.saving.ns, finding(r, causes[i].id) != NULL,
				sum.saving.ns);
	}
	for (i = 0; i < COUNT(waits); i++) {
		sum = vpa_idle_sum_of_waits(r, waits[i].part);
		look_at(&l, waits[i].id, sum.claim_ns, finding(r, waits[i].id) != NULL,
			sum.saving.ns);
	}
	return l;
}

static void no_gain_is_hidden(const struct vpa_report *r, const struct largest *l, uint64_t seed)
{
	const struct vpa_saving more = {
		.ns = l->any_ns - (l->listed_ns < l->any_ns ? l->listed_ns : l->any_ns)};

	if (vpa_saving_is_worth(r, &more))
		fail_msg("seed %llu: %s would save %llu ns, and the largest that is listed %llu",
			(unsigned long long)seed, l->of_any, (unsigned long long)l->any_ns,
			(unsigned long long)l->listed_ns);
}

/* What no other cause has is listed, if it is worth a line, however small beside others. */
static void none_that_is_its_own_is_missing(const struct vpa_report *r, uint64_t seed)
{
	size_t i;

	for (i = 0; i < COUNT(causes); i++) {
		struct vpa_idle_sum sum = vpa_idle_sum_of(r, causes[i].cause);
		const struct vpa_saving own = {.ns = vpa_idle_sum_own(&sum)};

		/* First use takes its part, and a gain that changes no figure is dropped. */
		if (!finding(r, "first-use") && !causes[i].is_course &&
			vpa_saving_is_worth(r, &own) && !finding(r, causes[i].id))
			fail_msg("seed %llu: %s is missing, %llu ns", (unsigned long long)seed,
				causes[i].id, (unsigned long long)own.ns);
	}
}

static void the_largest_gain_is_always_listed(void **state)
{
	size_t several = 0, traces = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= SEEDS; seed++) {
		const struct random_causes how = {.seed = seed};
		struct vpa_options window = {.has_from = 0};
		char *script = random_causes_script(&how, &window);
		struct vpt_trace *trace = NULL;
		struct vpa_report *r = NULL;
		struct vpt_err err = {0};
		struct largest l;

		/* A window may be empty. */
		if (!vpt_script_trace(script, &trace, &err) &&
			!vpa_analyze(trace, "case", &window, &r, &err)) {
			l = largest_of(r);
			no_gain_is_hidden(r, &l, seed);
			none_that_is_its_own_is_missing(r, seed);
			several += l.listed > 1;
			traces += l.any_ns > 0;
		}
		vpa_report_free(r);
		vpt_trace_close(trace);
		vpt_free(script);
	}
	assert_true(traces > SEEDS / 2 && several > SEEDS / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_gain_is_always_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
