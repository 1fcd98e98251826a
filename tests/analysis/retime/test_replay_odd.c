/* test_replay_odd.c - a trace without a change is replayed to the nanosecond, whatever it holds. */
#include "analysis/retime/retime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/report/report.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"
#include "tests/support/random_causes.h"
#include "tests/support/script.h"

enum { PROGRAMS = 1500, SPANS = 8, LISTS = 4, CHANGES = 3 };

static const char *const some_changes[] = {"drop syncs", "drop copies", "delete small-reads",
	"delete copies HtoD", "delete syncs in *1", "host 0", "host 0.5 in *2", "host 3",
	"host 0 after syncs", "host 0.1 after small-reads", "scale * 0.5", "scale gemm 2",
	"scale *a* 0 in *", "rate HtoD 25", "rate DtoH 0.001", "pin DtoH 12", "pin HtoD 3 in *",
	"aside *1", "aside *", "graph *", "graph *1 each *2", "skip 1/2 *", "skip 1/3 *1"};

static struct vpa_change changes[LISTS][CHANGES];
static struct vpa_change_list lists[LISTS];

static void pick_changes(struct vpt_random *random)
{
	size_t i, k;

	for (i = 0; i < LISTS; i++) {
		lists[i] = (struct vpa_change_list){changes[i], i % (CHANGES + 1)};
		for (k = 0; k < lists[i].count; k++)
			assert_int_equal(
				vpa_change_read(
					some_changes[vpt_random_below(random,
						sizeof(some_changes) / sizeof(*some_changes))],
					&changes[i][k], NULL),
				VPT_OK);
	}
}

/* Returns whether it could be replayed. */
static int check_script(const char *script, uint64_t from_ns, uint64_t to_ns, uint64_t seed)
{
	struct vpt_random random = {seed};
	struct vpa_span spans[SPANS];
	struct vpa_retiming out;
	struct vpt_trace *trace;
	struct vpt_err err = {0};
	size_t i;
	int rc;

	assert_int_equal(vpt_script_trace(script, &trace, &err), VPT_OK);
	for (i = 0; i < SPANS; i++) {
		uint64_t a = from_ns + vpt_random_below(&random, to_ns - from_ns + 1),
			 b = from_ns + vpt_random_below(&random, to_ns - from_ns + 1);

		spans[i] = (struct vpa_span){a < b ? a : b, a < b ? b : a};
	}
	pick_changes(&random);
	rc = vpa_retime(trace, 1, VPA_REPLAYED_MOST, lists, LISTS, spans, SPANS, &out, &err);
	if (rc && rc != VPT_EUNSUPPORTED && rc != VPT_EINVAL)
		fail_msg("seed %d: %s", (int)seed, err.text);
	if (rc == VPT_EUNSUPPORTED && !strstr(err.text, "has no"))
		fail_msg("seed %d: %s", (int)seed, err.text);
	for (i = 0; !rc && i < SPANS; i++) {
		assert_int_equal(vpa_retimed_ns(&out, VPA_WORLD_RECORDED, i),
			spans[i].to_ns - spans[i].from_ns);
		assert_int_equal(vpa_retimed_ns(&out, VPA_WORLD_FIRST, i),
			spans[i].to_ns - spans[i].from_ns);
	}
	vpa_retiming_free(&out);
	vpt_trace_close(trace);
	return !rc;
}

static void test_random_programs(void **state)
{
	uint64_t seed;
	size_t replayed = 0;

	(void)state;
	for (seed = 1; seed <= PROGRAMS; seed++) {
		struct random_causes how = {.seed = seed, .cuts = 3, .orderly = seed % 2};
		struct vpa_options window = {0};
		char *script = random_causes_script(&how, &window);

		replayed += (size_t)check_script(script, 1000, 1000000000, seed);
		vpt_free(script);
	}
	assert_true(replayed > PROGRAMS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
