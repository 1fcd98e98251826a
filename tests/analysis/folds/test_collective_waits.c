/* test_collective_waits.c - how much of a collective's time waits for other ranks, by what the trace says of its size. */
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
	"start 1us\nkernel s7 2us-3us corr 0 \"gemm\"\nkernel s7 9000us-9900us corr 0 \"gemm\"\n"
#define SAID(from, to, name, group, bytes)                                                         \
	"range t1 " from "-" to " \"record_param_comms\" json \"{\\\"collective\\\":\\\"" name     \
	"\\\",\\\"group\\\":\\\"" group                                                            \
	"\\\",\\\"ranks\\\":\\\"[0, 1, 2, 3]\\\",\\\"message_bytes\\\":" bytes "}\"\n"
#define CALL(from, corr) "call t1 cudaLaunchKernel " from "+100ns corr " corr "\n"
#define NCCL(from, to, corr, grid, name)                                                           \
	"kernel s9 " from "-" to " corr " corr " grid " grid " \"ncclDevKernel_" name "\"\n"

#define SUM "AllReduce_Sum_f32_RING_LL"

/* Two calls, launched at 12 and 32 us and of other sizes. */
#define TWO(name, first, second, group)                                                            \
	SAID("10us", "20us", name, "0", first)                                                     \
	CALL("12us", "1") SAID("30us", "40us", name, group, second) CALL("32us", "2")

/* Each row: all communication, that of a known size, what is waiting; calls of next to nothing, and their time. */
static const struct rows_case cases[] = {
	{"a message of a few bytes takes no longer than latency: the rest waits",
		START TWO("allreduce", "4", "4", "0") NCCL("100us", "2100us", "1", "8", SUM)
			NCCL("3000us", "6000us", "2", "8", SUM),
		"5000 of them 5000 sized, 4800 wait; 0 small 0\n"},
	{"short calls of a few bytes take what the shortest does",
		START TWO("allreduce", "65536", "65536", "0") NCCL("100us", "2100us", "1", "8", SUM)
			NCCL("3000us", "3020us", "2", "8", SUM),
		"2020 of them 2020 sized, 1980 wait; 2 small 40\n"},
	{"more than a few bytes take what they take",
		START TWO("allreduce", "65540", "65540", "0") NCCL("100us", "2100us", "1", "8", SUM)
			NCCL("3000us", "6000us", "2", "8", SUM),
		"5000 of them 5000 sized, 1000 wait; 0 small 0\n"},
	{"a barrier moves nothing, whatever its size",
		START TWO("barrier", "0", "0", "0") NCCL("100us", "2100us", "1", "8", SUM)
			NCCL("3000us", "6000us", "2", "8", SUM),
		"5000 of them 0 sized, 4800 wait; 0 small 0\n"},
	{"without a size the shortest of the kernel and grid is the transfer",
		START CALL("12us", "1") CALL("32us", "2") CALL("52us", "3") NCCL(
			"100us", "2100us", "1", "8", SUM) NCCL("3000us", "6000us", "2", "8", SUM)
			NCCL("7000us", "7500us", "3", "24", SUM),
		"5500 of them 0 sized, 1000 wait; 0 small 0\n"},
	{"a larger message is no wait of a smaller one's kernel",
		START TWO("allreduce", "1000000", "4000000", "0") NCCL(
			"100us", "1100us", "1", "8", SUM) NCCL("3000us", "7000us", "2", "8", SUM),
		"5000 of them 5000 sized, 0 wait; 0 small 0\n"},
	{"it takes no more bytes a second to move less: a larger one tells of a smaller",
		START TWO("allreduce", "1000000", "4000000", "0") NCCL(
			"100us", "3100us", "1", "8", SUM) NCCL("4000us", "5000us", "2", "24", SUM),
		"4000 of them 4000 sized, 2000 wait; 0 small 0\n"},
	{"a smaller one tells of a larger, by the bytes",
		START TWO("allreduce", "1000000", "4000000", "0") NCCL(
			"100us", "600us", "1", "8", SUM) NCCL("3000us", "8000us", "2", "24", SUM),
		"5500 of them 5500 sized, 3000 wait; 0 small 0\n"},
	{"ordinary spread is no waiting",
		START TWO("allreduce", "1000000", "1000000", "0") SAID("50us", "60us", "allreduce",
			"0", "1000000") CALL("52us", "3") NCCL("100us", "2100us", "1", "8", SUM)
			NCCL("3000us", "5400us", "2", "8", SUM)
				NCCL("6000us", "8980us", "3", "8", SUM),
		"7380 of them 7380 sized, 0 wait; 0 small 0\n"},
	{"half as long again is: all that the transfer does not take",
		START TWO("allreduce", "1000000", "1000000", "0") SAID("50us", "60us", "allreduce",
			"0", "1000000") CALL("52us", "3") NCCL("100us", "1100us", "1", "8", SUM)
			NCCL("3000us", "4200us", "2", "8", SUM)
				NCCL("6000us", "8000us", "3", "8", SUM),
		"4200 of them 4200 sized, 1000 wait; 0 small 0\n"},
	{"nor is the spread of calls without a size",
		START CALL("12us", "1") CALL("32us", "2") NCCL("100us", "2100us", "1", "8", SUM)
			NCCL("3000us", "5800us", "2", "8", SUM),
		"4800 of them 0 sized, 0 wait; 0 small 0\n"},
	{"another communicator has other links",
		START TWO("allreduce", "1000000", "1000000", "1") NCCL(
			"100us", "600us", "1", "8", SUM) NCCL("3000us", "8000us", "2", "8", SUM),
		"5500 of them 5500 sized, 0 wait; 0 small 0\n"},
	{"another kind moves other bytes",
		START SAID("10us", "20us", "allreduce", "0", "1000000") CALL("12us", "1")
			SAID("30us", "40us", "_allgather_base", "0", "1000000") CALL("32us", "2")
				NCCL("100us", "600us", "1", "8", SUM)
					NCCL("3000us", "8000us", "2", "8", "AllGather_RING_LL"),
		"5500 of them 5500 sized, 0 wait; 0 small 0\n"},
	{"a rank may leave a broadcast early: one size tells nothing of another",
		START TWO("broadcast", "1000000", "2000000", "0")
			NCCL("100us", "600us", "1", "8", "Broadcast_RING_LL")
				NCCL("3000us", "8000us", "2", "8", "Broadcast_RING_LL"),
		"5500 of them 5500 sized, 0 wait; 0 small 0\n"},
};

static void list_rows(struct rows_text *to, const struct vpa_report *r)
{
	const struct vpa_device *d = &r->devices[0];

	assert_int_equal(r->device_count, 1);
	add_row(to,
		"%" PRIu64 " of them %" PRIu64 " sized, %" PRIu64 " wait; %" PRIu64
		" small %" PRIu64 "\n",
		d->comm_ns / 1000, d->comm_sized_ns / 1000, d->comm_wait_ns / 1000,
		d->comm_small_calls, d->comm_small_ns / 1000);
}

static void a_call_waits_beyond_its_transfer(void **state)
{
	(void)state;
	expect_rows(cases, COUNT(cases), list_rows);
}

/* ---- where, and who works there ---- */

/* Three requests of 2 ms work and a barrier of 6 ms in another stage; `work`: kernels of that stage. */
static struct vpa_report *requests(const char *own, const char *work, unsigned work_us)
{
	char script[8192];
	size_t used = 0, i;

#define ADD_TEXT(...) used += (size_t)snprintf(script + used, sizeof(script) - used, __VA_ARGS__)
	ADD_TEXT("start 1us\n");
	for (i = 0; i < 3; i++) {
		size_t t = 10 + i * 10000, corr = 1 + i * 4;

		ADD_TEXT("range t1 %zuus+90us \"denoise\"\ncall t1 cudaLaunchKernel %zuus+1us corr "
			 "%zu\n"
			 "kernel s7 %zuus+2000us corr %zu \"gemm\"\n",
			t, t + 10, corr, t + 20, corr);
		ADD_TEXT("range t1 %zuus+80us \"vae_decode\"\nrange t1 %zuus+20us \"%s\"\n"
			 "range t1 %zuus+10us \"record_param_comms\" json \"{\\\"collective\\\":"
			 "\\\"allreduce\\\",\\\"group\\\":\\\"0\\\",\\\"ranks\\\":\\\"[0, 1]\\\","
			 "\\\"message_bytes\\\":4}\"\n"
			 "call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
			 "kernel s9 %zuus+6000us corr %zu grid 8 \"ncclDevKernel_" SUM "\"\n",
			t + 100, t + 101, own, t + 102, t + 103, corr + 1, t + 2100, corr + 1);
		if (work)
			ADD_TEXT("range t1 %zuus+20us \"%s\"\n"
				 "call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
				 "kernel s7 %zuus+%uus corr %zu \"gemm\"\n",
				t + 140, work, t + 141, corr + 2, t + 8100, work_us, corr + 2);
	}
	ADD_TEXT("end 30000us\n");
#undef ADD_TEXT
	assert_true(used < sizeof(script));
	return vpt_script_report(script, NULL);
}

static void the_place_of_the_waits_is_named(void **state)
{
	static const struct {
		const char *rule, *own, *work, *words;
		unsigned work_us;
		int there;
	} cases_of_places[] = {
		{"a stage without work of this rank", "barrier", NULL,
			"share the work of other ranks in barrier", 0, 1},
		{"NCCL's ranges are no place", "nccl:all_reduce", NULL,
			"share the work of other ranks in vae_decode", 0, 1},
		{"the words say why", "nccl:all_reduce", NULL,
			"this rank launches hardly any work in vae_decode: give it a part of what "
			"the "
			"others do",
			0, 1},
		{"work inside the stage is work", "nccl:all_reduce", "decoder", "share the work",
			1000, 0},
		{"who works there is late, perhaps", "nccl:all_reduce", "decoder",
			"find the late rank: vptrace-analyze ranks 17.70 17.7 ms of 29.1 ms "
			"active: at most 2.56x as fast; all of it in vae_decode",
			1000, 1},
		{"a kernel of no length to speak of is none", "nccl:all_reduce", "decoder",
			"share the work of other ranks in vae_decode", 20, 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases_of_places); i++) {
		struct vpa_report *r = requests(cases_of_places[i].own, cases_of_places[i].work,
			cases_of_places[i].work_us);

		assert_non_null(finding(r, "peer-wait"));
		if (cases_of_places[i].there && strstr(cases_of_places[i].words, "in vae_decode") &&
			!strstr(cases_of_places[i].words, "late"))
			assert_string_equal(finding(r, "peer-wait")->title,
				"other ranks work in vae_decode while this one waits: share that "
				"work "
				"among all ranks");
		expect_page(cases_of_places[i].rule, r, cases_of_places[i].words,
			cases_of_places[i].there);
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_waits_beyond_its_transfer),
		cmocka_unit_test(the_place_of_the_waits_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
