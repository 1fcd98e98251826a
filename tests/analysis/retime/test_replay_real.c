/* test_replay_real.c - traces of real GPUs, where they are at hand: each is replayed to the nanosecond, with one thread
 * or four, and a change makes the same of it beside any others. */
#include "analysis/retime/retime.h"

#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/base/count.h"
#include "formats/import/any_trace.h"
#include "tests/support/skip.h"

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

/* NULL where it is no trace, or not of a format of this build. */
static struct vpt_trace *open_trace(const char *name)
{
	struct vpt_trace *trace;
	struct vpt_err err = {0};
	char path[4096];

	if (!strstr(name, ".json.gz") && !strstr(name, ".sqlite"))
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", traces_folder(), name);
	if (!vpt_trace_open(path, &trace, &err))
		return trace;
	if (!strstr(err.text, "built without"))
		fail_msg("%s: %s", name, err.text);
	return NULL;
}

static const char *const texts[] = {"host 1", "scale * 0.5", "delete syncs", "host 0", "graph *",
	"aside *", "delete small-reads", "drop syncs"};

enum { CHANGES = COUNT(texts), SPANS = 3 };

/* The lengths of three spans in each world of its own change; 0: the trace has no calls or no ops. */
static int replay(const char *name, const struct vpt_trace *trace, unsigned jobs, size_t from,
	size_t count, uint64_t ns[][SPANS])
{
	struct vpa_change changes[CHANGES];
	struct vpa_change_list lists[CHANGES];
	struct vpa_retiming out;
	struct vpt_err err = {0};
	struct vpa_span spans[SPANS];
	uint64_t start = vpt_trace_start(trace);
	size_t i, w;
	int rc;

	for (i = 0; i < SPANS; i++)
		spans[i] = (struct vpa_span){start + i * 10000000, start + (i + 1) * 1000000000};
	for (i = 0; i < count; i++) {
		assert_int_equal(vpa_change_read(texts[from + i], &changes[i], NULL), VPT_OK);
		lists[i] = (struct vpa_change_list){&changes[i], 1};
	}
	rc = vpa_retime(trace, jobs, VPA_REPLAYED_MOST, lists, count, spans, SPANS, &out, &err);
	if (rc && !strstr(err.text, "the trace has no "))
		fail_msg("%s: %s", name, err.text);
	for (i = 0; !rc && i < SPANS; i++) {
		assert_int_equal(vpa_retimed_ns(&out, VPA_WORLD_RECORDED, i),
			spans[i].to_ns - spans[i].from_ns);
		for (w = 0; w < count; w++)
			ns[from + w][i] = vpa_retimed_ns(&out, VPA_WORLD_FIRST + w, i);
	}
	if (!rc && from == 0)
		assert_memory_equal(ns[0], out.span_ns, SPANS * sizeof(**ns));
	vpa_retiming_free(&out);
	return !rc;
}

static void test_traces(void **state)
{
	DIR *folder = opendir(traces_folder());
	struct dirent *entry;
	size_t replayed = 0, i;

	(void)state;
	if (!folder)
		vpt_skip("no folder %s", traces_folder());
	while ((entry = readdir(folder)) != NULL) {
		uint64_t together[CHANGES][SPANS], alone[CHANGES][SPANS];
		struct vpt_trace *trace = open_trace(entry->d_name);

		if (trace && replay(entry->d_name, trace, 1, 0, CHANGES, together)) {
			for (i = 0; i < CHANGES; i++)
				replay(entry->d_name, trace, 4, i, 1, alone);
			assert_memory_equal(together, alone, sizeof(alone));
			replayed++;
		}
		vpt_trace_close(trace);
	}
	closedir(folder);
	assert_true(replayed >= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traces),
	};

	return vpt_skip_code(cmocka_run_group_tests(tests, NULL, NULL), COUNT(tests));
}
