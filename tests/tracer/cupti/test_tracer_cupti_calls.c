/* test_tracer_cupti_calls.c - calls among CUPTI's records: which are asked for, which are nested in others, and
 * correlation numbers that never wrap. */
#include "tests/tracer/cupti/cupti_records_rig.h"

#include <cmocka.h>

/* ---- calls ---- */

static void calls_that_nobody_asked_for_are_filtered(void **unused)
{
	(void)unused;
	open_all(&fake_versions[0]);
	fake_call(&buffer, RUNTIME, FAKE_LAUNCH_KERNEL, 11, 100, 110, 1);
	fake_call(&buffer, RUNTIME, FAKE_GET_LAST_ERROR, 11, 120, 121, 2);
	fake_call(&buffer, DRIVER, FAKE_CU_CTX_GET_CURRENT, 11, 122, 123, 3);
	fake_call(&buffer, RUNTIME, 1999, 11, 124, 125, 4);    /* no name */
	fake_call(&buffer, RUNTIME, 7000000, 11, 126, 127, 5); /* no such id */
	fake_call(&buffer, RUNTIME, FAKE_STREAM_SYNCHRONIZE, 12, 130, 140, 6);
	fake_record(&buffer, 12); /* a marker: another client's */
	assert_int_equal(decode(), 7);
	assert_int_equal(count(VPT_CALL), 2);
	assert_int_equal(cell(VPT_CALL, 0, VPT_CALL_ID), vpt_call_find("cudaLaunchKernel", 16));
	assert_int_equal(cell(VPT_CALL, 0, VPT_CALL_NAME), 0);
	assert_int_equal(
		cell(VPT_CALL, 1, VPT_CALL_ID), vpt_call_find("cudaStreamSynchronize", 21));
	assert_int_equal(lane_of(VPT_CALL, 0), vtr_recorder_thread(recorder, 11)->key);
	assert_int_equal(lane_of(VPT_CALL, 1), vtr_recorder_thread(recorder, 12)->key);
	assert_int_equal(counts().filtered, 5);
	assert_conserved(7);
}

static void unknown_ways_to_copy_keep_their_names(void **unused)
{
	struct vtr_record_call *c;

	(void)unused;
	open_all(&fake_versions[2]);
	fake_call(&buffer, DRIVER, FAKE_CU_MEMCPY_DTOA, 11, 100, 110, 0);
	c = fake_record(&buffer, RUNTIME);
	*c = (struct vtr_record_call){RUNTIME, FAKE_MALLOC, 120, 130, 1, 11, 2, (uint32_t)-2};
	decode();
	assert_int_equal(cell(VPT_CALL, 0, VPT_CALL_ID), 0);
	assert_text(cell(VPT_CALL, 0, VPT_CALL_NAME), "cuMemcpyDtoA");
	assert_int_equal((int64_t)cell(VPT_CALL, 1, VPT_CALL_RESULT), -2);
}

/* Calls of one thread in the order of their delivery: R and D for the domain, then
 * start-end#correlation. */
static const struct {
	const char *name, *records;
	unsigned rows, nested, held; /* before everything is settled */
} nestings[] = {
	{"a driver call inside of a runtime call is part of it", "D110-120#1 R100-130#1", 1, 1, 0},
	{"and so are several", "D110-112#1 D113-115#1 D116-118#1 R100-130#1", 1, 3, 0},
	{"the order does not matter", "R100-130#1 D110-120#1", 1, 1, 0},
	{"nor do touching ends", "D100-130#1 R100-130#1", 1, 1, 0},
	{"alone it waits for the next call", "D110-120#1", 0, 0, 1},
	{"and becomes a row when another one comes", "D110-120#1 D130-140#2", 1, 0, 1},
	{"or a runtime call elsewhere", "D110-120#1 R200-230#2", 2, 0, 0},
	{"the same number is not enough", "D110-120#1 R200-230#1", 2, 0, 0},
	{"nor is being inside", "D110-120#1 R100-130#2", 2, 0, 0},
	{"one inside, one before", "D90-95#1 D110-120#1 R100-130#1", 2, 1, 0},
	{"without a number nothing is nested", "D110-120#0 R100-130#0", 2, 0, 0},
	{"launches one after the other", "D11-12#1 R10-13#1 D21-22#2 R20-23#2 D31-32#3 R30-33#3", 3,
		3, 0},
};

/* The two records were converted along different lines. */
static void a_driver_call_may_reach_out_by_the_doubt_of_both_times(void **unused)
{
	static const struct {
		const char *records;
		unsigned nested;
	} cases[] = {{"D95-120#1 R100-130#1", 1}, {"D110-135#1 R100-130#1", 1},
		{"R100-130#1 D95-135#1", 1}, {"D94-120#1 R100-130#1", 0},
		{"D110-136#1 R100-130#1", 0}};
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_all(&fake_versions[1]);
		vtr_decoder_doubt(decoder, 5);
		put_calls(cases[i].records, 11);
		decode();
		assert_int_equal(counts().nested, cases[i].nested);
	}
}

static void nested_driver_calls_are_told_once(void **unused)
{
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(nestings) / sizeof(nestings[0]); i++) {
		uint64_t records;

		open_all(&fake_versions[1]);
		put_calls(nestings[i].records, 11);
		records = decode();
		if (count(VPT_CALL) != nestings[i].rows || counts().nested != nestings[i].nested ||
			counts().held != nestings[i].held)
			fail_msg("%s: %u rows, %u nested, %u held", nestings[i].name,
				count(VPT_CALL), (unsigned)counts().nested,
				(unsigned)counts().held);
		assert_conserved(records);
		vtr_decoder_settle(decoder, recorder, 0);
		assert_int_equal(counts().held, 0);
		assert_int_equal(count(VPT_CALL), nestings[i].rows + nestings[i].held);
		assert_conserved(records);
	}
}

static void nesting_is_seen_across_buffers_and_threads(void **unused)
{
	const struct timespec moment = {0, 2000000};

	(void)unused;
	open_all(&fake_versions[1]);
	put_calls("D110-120#1", 11);
	put_calls("D210-220#2", 12);
	put_calls("D310-320#3", 13);
	decode();
	vtr_decoder_settle(decoder, recorder, UINT64_C(60000000000)); /* they are younger */
	assert_int_equal(counts().held, 3);
	put_calls("R200-230#2", 12);
	put_calls("R100-130#1", 11);
	decode();
	assert_int_equal(counts().nested, 2);
	assert_int_equal(count(VPT_CALL), 2);
	nanosleep(&moment, NULL);
	vtr_decoder_settle(decoder, recorder, 1000000);
	assert_int_equal(counts().held, 0);
	assert_int_equal(count(VPT_CALL), 3);
	assert_conserved(5);
}

/* Buffers may come in another order than they were filled. */
static void nesting_is_seen_across_buffers_out_of_order(void **unused)
{
	static const struct {
		const char *name, *buffers[4];
		unsigned rows, nested;
	} cases[] = {
		{"the second first: its runtime call is known when the driver call comes",
			{"R100-130#1 D211-212#2 R210-213#2", "D11-12#9 R10-13#9 D110-120#1",
				"D311-312#3 R310-313#3"},
			4, 4},
		{"what the second one ended with waits through the first",
			{"R100-130#1 D211-212#2", "D11-12#9 R10-13#9 D110-120#1",
				"R210-213#2 D311-312#3 R310-313#3"},
			4, 4},
		{"the third before the first",
			{"R210-213#2", "D11-12#9 R10-13#9 D110-120#1", "R100-130#1 D211-212#2",
				"D411-412#4 R410-413#4"},
			4, 4},
		{"a driver call of its own becomes a row",
			{"D110-120#1", "D211-212#2 R210-213#2", "D311-312#3 R310-313#3",
				"D411-412#4 R410-413#4"},
			4, 3},
		{"and is not part of a call elsewhere with its number",
			{"D110-120#1", "R211-219#1", "D311-312#3 R310-313#3",
				"D411-412#4 R410-413#4"},
			4, 2},
		{"several in one call, cut in the middle",
			{"D110-111#1 D112-113#1", "D114-115#1 R100-130#1"}, 1, 3},
	};
	size_t i, k;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t records = 0;

		open_all(&fake_versions[1]);
		for (k = 0; k < 4 && cases[i].buffers[k]; k++) {
			put_calls(cases[i].buffers[k], 11);
			records += decode();
		}
		vtr_decoder_settle(decoder, recorder, 0);
		if (count(VPT_CALL) != cases[i].rows || counts().nested != cases[i].nested ||
			counts().held)
			fail_msg("%s: %u rows, %u nested, %u held", cases[i].name, count(VPT_CALL),
				(unsigned)counts().nested, (unsigned)counts().held);
		assert_conserved(records);
	}
}

/* A buffer is returned once the work in it has ended: many that were filled later may come before it. The driver call
 * at its end, or at the end of one of those, is held for as many. */
static void nesting_is_seen_across_many_buffers(void **unused)
{
	enum { LATE = 30 };
	unsigned at, i;
	uint64_t records = 0;
	char text[80];

	(void)unused;
	open_all(&fake_versions[1]);
	/* Buffer 0 comes after the others, each of which begins with the runtime call of the one before. */
	for (i = 1; i <= LATE; i++) {
		at = 100 * i;
		snprintf(text, sizeof(text), "R%u-%u#%u D%u-%u#%u", at, at + 30, i, at + 110,
			at + 120, i + 1);
		put_calls(text, 11);
		records += decode();
	}
	put_calls("D11-12#900 R10-13#900 D110-120#1", 11);
	records += decode();
	vtr_decoder_settle(decoder, recorder, 0);
	assert_int_equal(counts().nested, LATE + 1);
	assert_int_equal(count(VPT_CALL), LATE + 2); /* the last one's driver call is alone */
	assert_conserved(records);
	/* One of its own waits for so many buffers, and no longer. */
	put_calls("D9000-9001#5000", 11);
	records += decode();
	for (i = 0; i <= VTR_EDGE_BUFFERS; i++) {
		assert_int_equal(counts().held, 1);
		put_calls("R9010-9011#5001", 11);
		records += decode();
	}
	put_calls("R9010-9011#5001", 11);
	records += decode();
	assert_int_equal(counts().held, 0);
	assert_conserved(records);
}

/* Where each thread has buffers of its own, any number of them may come between two of one thread. */
static void nesting_is_seen_across_buffers_of_other_threads(void **unused)
{
	uint64_t records;
	int i;

	(void)unused;
	open_all(&fake_versions[1]);
	put_calls("D11-12#9 R10-13#9 D110-120#1", 11);
	records = decode();
	for (i = 0; i < 5; i++) {
		put_calls("D111-112#2 R110-113#2", 12);
		records += decode();
	}
	put_calls("R100-130#1", 11);
	records += decode();
	assert_int_equal(counts().held, 0);
	assert_int_equal(counts().nested, 7);
	assert_int_equal(count(VPT_CALL), 7);
	assert_conserved(records);
}

/* No buffer comes after it in which the thread would be met again. */
static void the_last_buffer_may_be_the_one_that_was_filled_first(void **unused)
{
	uint64_t records;

	(void)unused;
	open_all(&fake_versions[1]);
	put_calls("R100-130#1 D211-212#2 R210-213#2", 11);
	records = decode();
	put_calls("D11-12#9 R10-13#9 D110-120#1", 11);
	records += decode();
	assert_int_equal(counts().held, 1);
	vtr_decoder_settle(decoder, recorder, 0);
	assert_int_equal(counts().held, 0);
	assert_int_equal(counts().nested, 3);
	assert_int_equal(count(VPT_CALL), 3);
	assert_conserved(records);
	/* A driver call of its own still becomes a row. */
	put_calls("D310-320#1", 11);
	records += decode();
	vtr_decoder_settle(decoder, recorder, 0);
	assert_int_equal(count(VPT_CALL), 4);
	assert_conserved(records);
}

/* ---- correlation ---- */

static void correlation_numbers_never_wrap(void **unused)
{
	static const struct {
		uint32_t id;
		uint64_t wide;
	} steps[] = {{5, 5}, {3, 3}, {0x7fffff00u, 0x7fffff00u}, {0xf0000000u, 0xf0000000u},
		{0xfffffff0u, 0xfffffff0u}, {0xfffffffeu, 0xfffffffeu}, {2, UINT64_C(0x100000002)},
		{0, 0}, {0xfffffffdu, 0xfffffffdu}, /* late */
		{1, UINT64_C(0x100000001)}, {0x70000000u, UINT64_C(0x170000000)},
		{0xe0000000u, UINT64_C(0x1e0000000)}, {0x40000000u, UINT64_C(0x240000000)},
		{0xe0000001u, UINT64_C(0x1e0000001)}, {0x40000001u, UINT64_C(0x240000001)}};
	size_t i;

	(void)unused;
	open_all(&fake_versions[1]);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		assert_int_equal(vtr_decoder_widen(decoder, steps[i].id), steps[i].wide);
	/* A second capture of the process goes on counting. */
	vtr_decoder_begin(decoder, &sizes, &calls);
	assert_int_equal(vtr_decoder_widen(decoder, 0x40000002u), UINT64_C(0x240000002));
}

/* ---- what goes wrong ---- */

static void profiles_choose_the_calls(void **unused)
{
	static const struct {
		uint32_t domain, cbid;
		int lite, other;
	} chosen[] = {
		{VTR_DOMAIN_RUNTIME, FAKE_LAUNCH_KERNEL, 1, 1},
		{VTR_DOMAIN_RUNTIME, FAKE_GRAPH_LAUNCH, 1, 1},
		{VTR_DOMAIN_RUNTIME, FAKE_MEMCPY_ASYNC, 1, 1},
		{VTR_DOMAIN_DRIVER, FAKE_CU_LAUNCH_KERNEL_EX, 1, 1},
		{VTR_DOMAIN_DRIVER, FAKE_CU_MEMCPY_DTOA, 1, 1},
		{VTR_DOMAIN_RUNTIME, FAKE_MALLOC, 0, 1},
		{VTR_DOMAIN_RUNTIME, FAKE_STREAM_SYNCHRONIZE, 0, 1},
		{VTR_DOMAIN_DRIVER, FAKE_CU_CTX_SYNCHRONIZE, 0, 1},
		{VTR_DOMAIN_RUNTIME, FAKE_GET_LAST_ERROR, 0, 0},
		{VTR_DOMAIN_DRIVER, FAKE_CU_CTX_GET_CURRENT, 0, 0},
		{VTR_DOMAIN_RUNTIME, VTR_CBIDS, 0, 0},
	};
	struct vtr_cupti_functions fn;
	int lite;
	size_t i;

	(void)unused;
	fake_reset(&fake_versions[2]);
	fn = fake_functions();
	for (lite = 0; lite < 2; lite++) {
		vtr_calls_learn(&fn, lite ? VPTRACE_PROFILE_LITE : VPTRACE_PROFILE_FULL, &calls);
		for (i = 0; i < sizeof(chosen) / sizeof(chosen[0]); i++)
			assert_int_equal(
				vtr_calls_find(&calls, chosen[i].domain, chosen[i].cbid) != NULL,
				lite ? chosen[i].lite : chosen[i].other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(profiles_choose_the_calls),
		TEST(calls_that_nobody_asked_for_are_filtered),
		TEST(unknown_ways_to_copy_keep_their_names),
		TEST(nested_driver_calls_are_told_once),
		TEST(nesting_is_seen_across_buffers_out_of_order),
		TEST(nesting_is_seen_across_many_buffers),
		TEST(nesting_is_seen_across_buffers_of_other_threads),
		TEST(the_last_buffer_may_be_the_one_that_was_filled_first),
		TEST(a_driver_call_may_reach_out_by_the_doubt_of_both_times),
		TEST(nesting_is_seen_across_buffers_and_threads),
		TEST(correlation_numbers_never_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
