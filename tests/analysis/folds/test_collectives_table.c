/* test_collectives_table.c - collectives by name, communicator and size, and the bandwidth of the bus. */
#include "formats/base/count.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/rows_rig.h"

#define START                                                                                      \
	"start 1us\nkernel s7 2us-3us corr 0 \"gemm\"\nkernel s7 900us-990us corr 0 \"gemm\"\n"
#define SAID(from, to, json) "range t1 " from "-" to " \"record_param_comms\" json \"" json "\"\n"
#define CALL(from, corr)     "call t1 cudaLaunchKernel " from "+100ns corr " corr "\n"
#define NCCL(from, to, corr, name)                                                                 \
	"kernel s9 " from "-" to " corr " corr " \"ncclDevKernel_" name "\"\n"
#define TORCH(name, bytes)                                                                         \
	"{\\\"collective\\\":\\\"" name "\\\",\\\"group\\\":\\\"0\\\",\\\"ranks\\\":\\\"[0, 1, "   \
	"2, 3]\\\",\\\"message_bytes\\\":" bytes "}"

/* Each row: kind, name, group, ranks, bytes, calls, total, shortest; bandwidth of all, and of the shortest. */
static const struct rows_case cases[] = {
	{"an all-reduce moves its message one and a half times in a group of four",
		START SAID("10us", "20us", TORCH("allreduce", "4000000")) CALL("12us", "1")
			NCCL("100us", "200us", "1", "AllReduce_Sum_bf16_RING_LL"),
		"all-reduce allreduce 0 [0, 1, 2, 3] 4 4000000 1 100000 100000; 60.0 60.0\n"},
	{"calls of a size are one row, and the shortest has the least wait",
		START SAID("10us", "20us", TORCH("allreduce", "4000000")) CALL("12us", "1")
			SAID("30us", "40us", TORCH("allreduce", "4000000")) CALL("32us", "2") SAID(
				"50us", "60us", TORCH("allreduce", "1000000")) CALL("52us", "3")
				NCCL("100us", "200us", "1", "AllReduce_Sum_bf16_RING_LL") NCCL(
					"300us", "350us", "2", "AllReduce_Sum_bf16_RING_LL")
					NCCL("400us", "420us", "3", "AllReduce_Sum_bf16_RING_LL"),
		"all-reduce allreduce 0 [0, 1, 2, 3] 4 4000000 2 150000 50000; 80.0 120.0\n"
		"all-reduce allreduce 0 [0, 1, 2, 3] 4 1000000 1 20000 20000; 75.0 75.0\n"},
	{"each rank gives its message to all others in an all-gather, and parts of it else",
		START SAID("10us", "20us", TORCH("_allgather_base", "1000000")) CALL("12us", "1")
			SAID("30us", "40us", TORCH("_reduce_scatter_base", "1000000")) CALL(
				"32us", "2") SAID("50us", "60us", TORCH("all_to_all", "1000000"))
				CALL("52us", "3") NCCL("100us", "130us", "1", "AllGather_RING_LL")
					NCCL("200us", "225us", "2", "ReduceScatter_Sum_f32_RING_LL")
						NCCL("300us", "310us", "3", "SendRecv"),
		"all-gather _allgather_base 0 [0, 1, 2, 3] 4 1000000 1 30000 30000; 100.0 100.0\n"
		"reduce-scatter _reduce_scatter_base 0 [0, 1, 2, 3] 4 1000000 1 25000 25000; 30.0 "
		"30.0\n"
		"all-to-all all_to_all 0 [0, 1, 2, 3] 4 1000000 1 10000 10000; 75.0 75.0\n"},
	{"a send moves its message once, whoever is in the group",
		START SAID("10us", "20us",
			"{\\\"NCCL communicator ID\\\":133,\\\"Message size [bytes]\\\":2000000}")
			CALL("12us", "1") NCCL("100us", "140us", "1", "SendRecv"),
		"send/recv ncclDevKernel_SendRecv 133 0 2000000 1 40000 40000; 50.0 50.0\n"},
	{"without an annotation the name says the kind, and no size",
		START CALL("12us", "1") NCCL("100us", "200us", "1", "AllReduce_Sum_bf16_RING_LL"),
		"all-reduce ncclDevKernel_AllReduce_Sum_bf16_RING_LL - 0 0 1 100000 100000; -1.0 "
		"-1.0\n"},
	{"a list of ranks that is cut says no number",
		START SAID("10us", "20us",
			"{\\\"collective\\\":\\\"allreduce\\\",\\\"group\\\":\\\"0\\\","
			"\\\"ranks\\\":\\\"[0, 1, ...]"
			"\\\",\\\"message_bytes\\\":4000000}") CALL("12us", "1")
			NCCL("100us", "200us", "1", "AllReduce_Sum_bf16_RING_LL"),
		"all-reduce allreduce 0 [0, 1, ...] 0 4000000 1 100000 100000; -1.0 -1.0\n"},
	{"other kernels are none", START, ""},
};

static void list_rows(struct rows_text *to, const struct vpa_report *r)
{
	size_t k;

	for (k = 0; k < r->expert.collective_count; k++) {
		const struct vpa_collective_row *c = &r->expert.collectives[k];

		add_row(to,
			"%s %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			"; %.1f %.1f\n",
			c->kind, c->name, c->group ? c->group : "-", c->ranks, c->bytes, c->calls,
			c->total_ns, c->shortest_ns, c->bus_gb_per_s, c->bus_gb_per_s_most);
	}
}

static void collectives_reach_a_bandwidth(void **state)
{
	(void)state;
	expect_rows(cases, COUNT(cases), list_rows);
}

static void the_text_shows_them(void **state)
{
	struct vpa_report *r = vpt_script_report(cases[0].script, NULL);

	(void)state;
	expect_page("a section", r, "COLLECTIVES", 1);
	expect_page("kind, size, calls, time and bandwidth", r,
		"all-reduce, 4 ranks 4.00 MB 1 0.100 100 us 60.0 60.0", 1);
	expect_page("the group", r, "group 0 [0, 1, 2, 3]", 1);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collectives_reach_a_bandwidth),
		cmocka_unit_test(the_text_shows_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
