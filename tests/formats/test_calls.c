/* test_calls.c - calls are known by any of their spellings; words and kinds are found and not made up. */
#include "formats/calls.h"
#include "formats/event_schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void calls_are_found_under_decorated_names(void **state)
{
	static const struct {
		const char *name;
		uint32_t number;
		enum vpt_call_class klass;
	} cases[] = {
		{"cudaLaunchKernel", 1, VPT_CALL_LAUNCH},
		{"cudaLaunchKernel_v7000", 1, VPT_CALL_LAUNCH},
		{"cudaLaunchKernel_ptsz", 1, VPT_CALL_LAUNCH},
		{"cudaLaunchKernel_ptsz_v7000", 1, VPT_CALL_LAUNCH},
		{"cudaMemcpyAsync_v3020", 30, VPT_CALL_COPY},
		{"cuMemcpyHtoDAsync_v2", 41, VPT_CALL_COPY},
		{"cuMemcpyHtoDAsync_v2_ptsz", 41, VPT_CALL_COPY},
		{"cudaMemcpy", 0, VPT_CALL_BLOCKING_COPY},
		{"cudaGraphLaunch_v10000", 15, VPT_CALL_GRAPH_LAUNCH},
		{"cudaLaunchKernel_v", 0, VPT_CALL_OTHER},
		{"cudaLaunchKernel_", 0, VPT_CALL_OTHER},
		{"cudaLaunchKernel7000", 0, VPT_CALL_OTHER},
		{"cudaLaunchKerne", 0, VPT_CALL_OTHER},
		{"cudalaunchkernel", 0, VPT_CALL_OTHER},
		{"_v7000", 0, VPT_CALL_OTHER},
		{"v7000", 0, VPT_CALL_OTHER},
		{"7000", 0, VPT_CALL_OTHER},
		{"_ptsz", 0, VPT_CALL_OTHER},
		{"", 0, VPT_CALL_OTHER},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t found = vpt_call_find(cases[i].name, strlen(cases[i].name));

		if (cases[i].number ? found != cases[i].number
				    : (cases[i].klass == VPT_CALL_OTHER && found))
			fail_msg("\"%s\" is number %u", cases[i].name, found);
		assert_int_equal(vpt_call_class(found), cases[i].klass);
	}
}

static void a_name_ends_at_its_length(void **state)
{
	(void)state;
	assert_int_equal(vpt_call_find("cudaLaunchKernelXYZ", 16), 1);
	assert_int_equal(vpt_call_find("cudaLaunchKernel\0_v7000", 23), 0);
}

/* What the table promises: its own name leads back to each number, and no number is used twice. */
static void each_call_is_found_under_its_own_name(void **state)
{
	static const struct {
		const char *name;
		unsigned number;
	} calls[] = {
#define VPT_CALL_NAME(number, name) {name, number},
#include "formats/calls.def"
	};
	unsigned char seen[256] = {0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		assert_in_range(calls[i].number, 1, 255);
		if (vpt_call_find(calls[i].name, strlen(calls[i].name)) != calls[i].number ||
			seen[calls[i].number]++)
			fail_msg("%s is not number %u, or not alone", calls[i].name,
				calls[i].number);
		assert_string_equal(vpt_call_name(calls[i].number), calls[i].name);
		assert_string_equal(vpt_word(VPT_UNIT_CALL, calls[i].number), calls[i].name);
	}
}

static void what_a_call_does_follows_from_its_name(void **state)
{
	static const struct {
		const char *name;
		enum vpt_call_class klass;
	} cases[] = {
		{"cudaLaunchKernel", VPT_CALL_LAUNCH},
		{"__cudaPushCallConfiguration", VPT_CALL_QUERY},
		{"cuLaunchKernelEx_ptsz", VPT_CALL_LAUNCH},
		{"hipLaunchKernel", VPT_CALL_LAUNCH},
		{"hipModuleLaunchKernel", VPT_CALL_LAUNCH},
		{"hipExtModuleLaunchKernel", VPT_CALL_LAUNCH},
		{"hipExtLaunchKernel", VPT_CALL_LAUNCH},
		{"cudaLaunchHostFunc_v10000", VPT_CALL_OTHER},
		{"hipGraphLaunch", VPT_CALL_GRAPH_LAUNCH},
		{"cudaGraphLaunch_ptsz", VPT_CALL_GRAPH_LAUNCH},
		{"cudaGraphicsMapResources", VPT_CALL_OTHER},
		{"cudaGraphKernelNodeSetParams", VPT_CALL_GRAPH_BUILD},
		{"cudaStreamBeginCaptureToGraph", VPT_CALL_BEGIN_CAPTURE},
		{"hipStreamEndCapture", VPT_CALL_END_CAPTURE},
		{"cudaMemcpyAsync_spt", VPT_CALL_COPY},
		{"hipMemcpyAsync", VPT_CALL_COPY},
		{"hipMemcpyWithStream", VPT_CALL_BLOCKING_COPY},
		{"cuMemcpyDtoH_v2", VPT_CALL_BLOCKING_COPY},
		{"hipMemsetAsync", VPT_CALL_MEMSET},
		{"hipDeviceSynchronize", VPT_CALL_SYNC},
		{"hipStreamWaitEvent", VPT_CALL_STREAM_WAIT},
		{"cuStreamWaitValue64_v2", VPT_CALL_STREAM_WAIT},
		{"hipEventRecord", VPT_CALL_EVENT_RECORD},
		{"hipEventQuery", VPT_CALL_QUERY},
		{"hipPointerGetAttributes", VPT_CALL_QUERY},
		{"cudaEventCreateWithFlags", VPT_CALL_QUERY},
		{"hipExtMallocWithFlags", VPT_CALL_ALLOCATION},
		{"hipFree", VPT_CALL_ALLOCATION},
		{"hipModuleLoadData", VPT_CALL_MODULE_LOAD},
		{"hiprtcCompileProgram", VPT_CALL_MODULE_LOAD},
		{"cuLinkAddData_v2", VPT_CALL_MODULE_LOAD},
		{"cudaMemPrefetchAsync", VPT_CALL_OTHER},
		{"cudaStreamCreateWithPriority", VPT_CALL_OTHER},
		{"cudaSetDevice", VPT_CALL_OTHER},
		{"Free", VPT_CALL_ALLOCATION},
		{"cuda", VPT_CALL_OTHER},
		{"hip", VPT_CALL_OTHER},
		{"", VPT_CALL_OTHER},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (vpt_call_class_of(cases[i].name, strlen(cases[i].name)) != cases[i].klass)
			fail_msg("%s is of class %d", cases[i].name,
				(int)vpt_call_class_of(cases[i].name, strlen(cases[i].name)));
}

static void only_calls_that_may_enclose_a_launch_move_the_lower_edge(void **state)
{
	(void)state;
	assert_true(vpt_call_moves_t_min(VPT_CALL_LAUNCH, 2000000000));
	assert_true(vpt_call_moves_t_min(VPT_CALL_OTHER, 1000000000));
	assert_true(vpt_call_moves_t_min(VPT_CALL_MODULE_LOAD, 1));
	assert_false(vpt_call_moves_t_min(VPT_CALL_OTHER, 1000000001));
	assert_false(vpt_call_moves_t_min(VPT_CALL_SYNC, 1));
	assert_false(vpt_call_moves_t_min(VPT_CALL_QUERY, 1));
	assert_false(vpt_call_moves_t_min(VPT_CALL_EVENT_RECORD, 1));
}

static void unknown_numbers_have_no_name(void **state)
{
	static const uint32_t numbers[] = {0, 254, 256, 65536, UINT32_MAX};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		assert_null(vpt_call_name(numbers[i]));
		assert_int_equal(vpt_call_class(numbers[i]), VPT_CALL_OTHER);
	}
	assert_null(vpt_word(VPT_UNIT_CALL, (1ull << 32) + 1));
}

static void calls_that_put_ops_on_a_device_are_launches(void **state)
{
	static const struct {
		enum vpt_call_class klass;
		int launches;
	} cases[] = {
		{VPT_CALL_OTHER, 0},
		{VPT_CALL_LAUNCH, 1},
		{VPT_CALL_GRAPH_LAUNCH, 1},
		{VPT_CALL_COPY, 1},
		{VPT_CALL_BLOCKING_COPY, 1},
		{VPT_CALL_MEMSET, 1},
		{VPT_CALL_SYNC, 0},
		{VPT_CALL_STREAM_WAIT, 0},
		{VPT_CALL_EVENT_RECORD, 0},
		{VPT_CALL_QUERY, 0},
		{VPT_CALL_ALLOCATION, 0},
		{VPT_CALL_MODULE_LOAD, 0},
		{VPT_CALL_GRAPH_BUILD, 0},
		{VPT_CALL_BEGIN_CAPTURE, 0},
		{VPT_CALL_END_CAPTURE, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(vpt_call_launches(cases[i].klass), cases[i].launches);
}

static void words_stand_for_the_numbers_of_their_set(void **state)
{
	static const struct {
		enum vpt_unit unit;
		uint64_t number;
		const char *word;
	} cases[] = {
		{VPT_UNIT_COPY_KIND, 1, "HtoD"},
		{VPT_UNIT_COPY_KIND, 15, "memset"},
		{VPT_UNIT_COPY_KIND, 14, "unified DtoD"},
		{VPT_UNIT_COPY_KIND, 16, NULL},
		{VPT_UNIT_MEMORY_KIND, 1, "pageable"},
		{VPT_UNIT_SYNC_KIND, 3, "stream"},
		{VPT_UNIT_OVERHEAD_KIND, 2, "buffer flush"},
		{VPT_UNIT_LOSS_KIND, 4, "ring full"},
		{VPT_UNIT_RANGE_KIND, 1, "start/end"},
		{VPT_UNIT_LANE_TYPE, 2, "stream"},
		{VPT_UNIT_GRAPH_OP, 5, "capture begins"},
		{VPT_UNIT_MEMORY_OP, 2, "free"},
		{VPT_UNIT_PAYLOAD, 8, "json"},
		{VPT_UNIT_PAYLOAD, UINT64_MAX, NULL},
		{VPT_UNIT_COUNT, 1, NULL},
		{VPT_UNIT_TIME_NS, 0, NULL},
		{(enum vpt_unit)1000, 1, NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *word = vpt_word(cases[i].unit, cases[i].number);

		if (!word != !cases[i].word || (word && strcmp(word, cases[i].word)))
			fail_msg("unit %d number %llu is \"%s\"", cases[i].unit,
				(unsigned long long)cases[i].number, word ? word : "(none)");
	}
}

static void the_schema_keeps_its_own_rules(void **state)
{
	unsigned type, a, b;

	(void)state;
	for (type = 0; type < VPT_KIND_LIMIT; type++) {
		const struct vpt_kind_desc *kind = vpt_kind_desc(type);

		if (!kind)
			continue;
		assert_int_equal(kind->type, type);
		assert_ptr_equal(vpt_kind_by_name(kind->name), kind);
		if (kind->flags & VPT_KIND_SPAN) {
			assert_string_equal(kind->columns[0].name, "start_ns");
			assert_string_equal(kind->columns[1].name, "duration_ns");
			assert_int_equal(kind->columns[0].enc, VPT_ENC_GAP);
		}
		for (a = 0; a < kind->n_columns; a++) {
			assert_true(kind->columns[a].id > 0);
			assert_true(a == 0 || kind->columns[a].enc != VPT_ENC_GAP);
			for (b = 0; b < a; b++)
				assert_int_not_equal(kind->columns[a].id, kind->columns[b].id);
		}
	}
	assert_null(vpt_kind_desc(0));
	assert_null(vpt_kind_desc(VPT_KIND_LIMIT));
	assert_null(vpt_kind_desc(UINT32_MAX));
	assert_null(vpt_kind_by_name("Kernel"));
	assert_null(vpt_kind_by_name(""));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_found_under_decorated_names),
		cmocka_unit_test(a_name_ends_at_its_length),
		cmocka_unit_test(each_call_is_found_under_its_own_name),
		cmocka_unit_test(what_a_call_does_follows_from_its_name),
		cmocka_unit_test(only_calls_that_may_enclose_a_launch_move_the_lower_edge),
		cmocka_unit_test(unknown_numbers_have_no_name),
		cmocka_unit_test(calls_that_put_ops_on_a_device_are_launches),
		cmocka_unit_test(words_stand_for_the_numbers_of_their_set),
		cmocka_unit_test(the_schema_keeps_its_own_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
