/* test_findings_claims.c - no two findings claim the same time: of random traces, and pair by pair. */
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/advice/finding.h"
#include "analysis/report/device_limit.h"
#include "tests/support/traces/findings_rig.h"
#include "tests/support/traces/random_causes.h"

enum { SEEDS = 1500 };

/* Far below a nanosecond. */
static const double rounding_ms = 1e-7;

struct seen {
	size_t findings, less;
};

/* The causes of idle time between ops, as ../../../analysis/advice/findings/findings_idle.c lists them. */
static int is_of_gaps(const struct vpa_finding *f)
{
	return f->is_idle && f->id != VPA_FOUND_BEFORE_FIRST_WORK &&
	       f->id != VPA_FOUND_AFTER_LAST_WORK && f->id != VPA_FOUND_NOT_NAMED;
}

/* What findings claim adds up to no more than there is. */
static void claims_fit(const struct vpa_report *r, uint64_t seed, struct seen *seen)
{
	double idle_ms = 0, busy_ms = vpa_in_ms(vpa_busy_ns(r));
	size_t i;

	for (i = 0; i < r->device_count; i++)
		idle_ms += vpa_in_ms(r->devices[i].active_ns - r->devices[i].busy_ns +
				     (finding(r, "small-reads") || finding(r, "host-waits")
						     ? r->devices[i].small_read_ns
						     : 0));
	for (i = 0; i < r->finding_count; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (f->adds_ms < 0 || f->adds_ms > f->gain_at_most_ms)
			fail_msg("seed %llu: %s adds %.6f of %.6f ms", (unsigned long long)seed,
				vpa_finding_text(f->id), f->adds_ms, f->gain_at_most_ms);
		if ((f->adds_ms < f->gain_at_most_ms - rounding_ms) !=
			(f->instead_of != VPA_FOUND_NONE))
			fail_msg("seed %llu: %s adds %.6f of %.6f ms, the rest instead of %s",
				(unsigned long long)seed, vpa_finding_text(f->id), f->adds_ms,
				f->gain_at_most_ms, vpa_finding_text(f->instead_of));
		seen->findings += f->gain_at_most_ms > 0;
		seen->less += f->instead_of != VPA_FOUND_NONE;
		if (is_of_gaps(f))
			idle_ms -= f->adds_ms;
		else if (!f->is_idle && f->id != VPA_FOUND_FIRST_USE)
			busy_ms -= f->adds_ms;
	}
	if (idle_ms < -rounding_ms || busy_ms < -rounding_ms)
		fail_msg("seed %llu: %.6f ms more idle time is claimed than there is, %.6f ms more "
			 "work",
			(unsigned long long)seed, -idle_ms, -busy_ms);
}

static void claims_of_random_traces_fit(void **state)
{
	struct seen seen = {0};
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= SEEDS; seed++) {
		const struct random_causes how = {.seed = seed};
		struct vpa_options window = {0};
		char *script = random_causes_script(&how, &window);
		struct vpa_report *r;

		assert_non_null(script);
		window.step_parts = 1;
		r = vpt_script_report(script, &window);
		claims_fit(r, seed, &seen);
		vpa_report_free(r);
		vpt_free(script);
	}
	assert_true(seen.findings > SEEDS && seen.less > SEEDS / 10);
}

/* Of 100 ms, 60 of them idle. */
static void each_pair_claims_its_time_once(void **state)
{
	static const struct {
		const char *rule;
		struct vpa_finding first, second;
		double adds_ms;
	} cases[] = {
		{"two causes that no other would save",
			{.id = VPA_FOUND_SYNC_DRAIN, .is_idle = 1, .gain_at_most_ms = 20},
			{.id = VPA_FOUND_ALLOCATION, .is_idle = 1, .gain_at_most_ms = 10}, 10},
		{"either would do",
			{.id = VPA_FOUND_SYNC_DRAIN,
				.is_idle = 1,
				.gain_at_most_ms = 20,
				.gain_shared_ms = 20},
			{.id = VPA_FOUND_HOST_STALL,
				.is_idle = 1,
				.gain_at_most_ms = 15,
				.gain_shared_ms = 15},
			0},
		{"either would do for a part",
			{.id = VPA_FOUND_SYNC_DRAIN,
				.is_idle = 1,
				.gain_at_most_ms = 20,
				.gain_shared_ms = 4},
			{.id = VPA_FOUND_HOST_STALL,
				.is_idle = 1,
				.gain_at_most_ms = 15,
				.gain_shared_ms = 9},
			11},
		{"a replay takes the idle time of other causes too",
			{.id = VPA_FOUND_LAUNCH_RATE,
				.is_idle = 1,
				.gain_at_most_ms = 50,
				.gain_excess_ms = 35},
			{.id = VPA_FOUND_LAUNCH_CALL, .is_idle = 1, .gain_at_most_ms = 18}, 0},
		{"no more than the idle time",
			{.id = VPA_FOUND_LAUNCH_RATE, .is_idle = 1, .gain_at_most_ms = 45},
			{.id = VPA_FOUND_LAUNCH_CALL, .is_idle = 1, .gain_at_most_ms = 18}, 15},
		{"idle time and work",
			{.id = VPA_FOUND_LAUNCH_RATE, .is_idle = 1, .gain_at_most_ms = 50},
			{.id = VPA_FOUND_FP32_GEMM, .gain_at_most_ms = 18}, 18},
		{"the layouts of a decoder are in chains too",
			{.id = VPA_FOUND_DECODER_WORK, .gain_at_most_ms = 25},
			{.id = VPA_FOUND_UNFUSED_ELEMENTWISE, .gain_at_most_ms = 27}, 2},
		{"copies of a decoder may be the exposed ones",
			{.id = VPA_FOUND_EXPOSED_COPY, .gain_at_most_ms = 12},
			{.id = VPA_FOUND_DECODER_WORK, .gain_at_most_ms = 9}, 0},
		{"reads have the time of their copies",
			{.id = VPA_FOUND_EXPOSED_COPY, .gain_at_most_ms = 12},
			{.id = VPA_FOUND_SMALL_READS,
				.is_idle = 1,
				.gain_at_most_ms = 9,
				.gain_shared_ms = 2},
			7},
		{"all waits have it too", {.id = VPA_FOUND_EXPOSED_COPY, .gain_at_most_ms = 12},
			{.id = VPA_FOUND_HOST_WAITS,
				.is_idle = 1,
				.gain_at_most_ms = 9,
				.gain_shared_ms = 2},
			7},
		{"waits for other copies are idle time, and copies are work",
			{.id = VPA_FOUND_EXPOSED_COPY, .gain_at_most_ms = 12},
			{.id = VPA_FOUND_BLOCKING_COPY,
				.is_idle = 1,
				.gain_at_most_ms = 9,
				.gain_shared_ms = 2},
			9},
		{"products in unfused attention are left out",
			{.id = VPA_FOUND_EAGER_ATTENTION, .gain_at_most_ms = 12},
			{.id = VPA_FOUND_FP32_GEMM, .gain_at_most_ms = 9}, 9},
		{"communication, less what may be waiting for others",
			{.id = VPA_FOUND_PEER_WAIT, .gain_at_most_ms = 12},
			{.id = VPA_FOUND_EXPOSED_COMM, .gain_at_most_ms = 9}, 9},
		{"kernels of other families", {.id = VPA_FOUND_FP32_GEMM, .gain_at_most_ms = 12},
			{.id = VPA_FOUND_FP32_CONV, .gain_at_most_ms = 9}, 9},
		{"first use is in the head",
			{.id = VPA_FOUND_BEFORE_FIRST_WORK,
				.is_idle = 1,
				.gain_at_most_ms = 30,
				.gain_shared_ms = 8},
			{.id = VPA_FOUND_FIRST_USE, .gain_at_most_ms = 10}, 2},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_finding findings[2] = {cases[i].first, cases[i].second};
		struct vpa_device device = {
			.active_ns = 100000000, .busy_ns = 40000000, .small_read_ns = 2000000};
		struct vpa_report r = {.findings = findings,
			.finding_count = 2,
			.devices = &device,
			.device_count = 1};
		double off;

		vpa_findings_claim(&r);
		off = findings[1].adds_ms - cases[i].adds_ms;
		if (off > rounding_ms || off < -rounding_ms)
			fail_msg("%s: adds %.3f ms, not %.3f", cases[i].rule, findings[1].adds_ms,
				cases[i].adds_ms);
		if ((cases[i].adds_ms < findings[1].gain_at_most_ms) !=
			(findings[1].instead_of == findings[0].id))
			fail_msg("%s: instead of %s", cases[i].rule,
				vpa_finding_text(findings[1].instead_of));
		assert_true(findings[0].adds_ms >= findings[0].gain_at_most_ms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claims_of_random_traces_fit),
		cmocka_unit_test(each_pair_claims_its_time_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
