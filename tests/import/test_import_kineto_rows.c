/* test_import_kineto_rows.c - which row each event of the PyTorch profiler becomes.
 *
 * Documents stand here with single quotes, which the rig makes double.
 * Long, since each kind of event is a case of the same rig. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef VPT_HAVE_KINETO

#include "formats/base/count.h"
#include "formats/calls.h"
#include "tests/support/traces/kineto_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- categories ---- */

#define SKIPPED 100
#define UNKNOWN 101

static void each_category_has_its_kind(void **state)
{
	static const struct {
		const char *category;
		int kind;
	} cases[] = {
		{"kernel", VPT_KERNEL},
		{"Kernel", VPT_KERNEL},
		{"gpu_memcpy", VPT_COPY},
		{"Memcpy", VPT_COPY},
		{"gpu_memset", VPT_COPY},
		{"memset", VPT_COPY},
		{"cuda_runtime", VPT_CALL},
		{"Runtime", VPT_CALL},
		{"cuda_driver", VPT_CALL},
		{"user_annotation", VPT_RANGE},
		{"cpu_op", VPT_RANGE},
		{"CPU_OP", VPT_RANGE},
		{"cuda_sync", VPT_SYNC},
		{"cuda_event", VPT_EVENT},
		{"overhead", VPT_OVERHEAD},
		{"python_function", VPT_SAMPLE},
		{"gpu_user_annotation", SKIPPED},
		{"ac2g", SKIPPED},
		{"async_cpu_to_gpu", SKIPPED},
		{"cpu_instant_event", SKIPPED},
		{"Trace", SKIPPED},
		{"cuda_profiler_range", SKIPPED},
		{"fwdbwd", SKIPPED},
		{"xpu_runtime", VPT_CALL},
		{"privateuse1_runtime", VPT_CALL},
		{"privateuse1_driver", VPT_CALL},
		{"mtia_ccp_events", UNKNOWN},
		{"kernels", UNKNOWN},
		{"kernel,gpu_memcpy", UNKNOWN},
		{"", UNKNOWN},
	};
	char event[256];
	size_t i;
	int kind;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpt_import_stats want = {.events = 1};

		snprintf(event, sizeof(event),
			"{'ph': 'X', 'cat': '%s', 'name': 'n', 'pid': 1, 'tid': 2, 'ts': 5, 'dur': "
			"3}",
			cases[i].category);
		rig_events(event);
		want.skipped = cases[i].kind == SKIPPED;
		want.unknown_category = cases[i].kind == UNKNOWN;
		rig_expect_stats(cases[i].category, &want);
		assert_string_equal(
			rig.stats.unknown_names, cases[i].kind == UNKNOWN ? cases[i].category : "");
		/* A call of a Python function begins and ends: two samples. */
		for (kind = VPT_KERNEL; kind <= VPT_SAMPLE; kind++)
			if (vpt_kind_desc((unsigned)kind) &&
				rig_rows((enum vpt_kind)kind) != (size_t)(kind == cases[i].kind)
									 << (kind == VPT_SAMPLE))
				fail_msg("category %s: wrong rows of %s", cases[i].category,
					vpt_kind_desc((unsigned)kind)->name);
	}
	rig_drop();
}

static void phases_other_than_complete_give_no_rows(void **state)
{
	static const struct {
		const char *rule, *event;
		struct vpt_import_stats want;
	} cases[] = {
		{"an instant", "{'ph': 'i', 'cat': 'cpu_instant_event', 'ts': 1}", {.skipped = 1}},
		{"a flow begins", "{'ph': 's', 'cat': 'ac2g', 'ts': 1}", {.skipped = 1}},
		{"a flow ends", "{'cat': 'ac2g', 'ph': 'f', 'ts': 1}", {.skipped = 1}},
		{"a process name", "{'ph': 'M', 'name': 'process_name', 'pid': 1}", {.skipped = 1}},
		{"a thread name without thread",
			"{'ph': 'M', 'name': 'thread_name', 'args': {'name': 'x'}}",
			{.malformed = 1}},
		{"an asynchronous begin", "{'ph': 'b', 'cat': 'kernel', 'ts': 1}",
			{.unknown_category = 1}},
		{"no phase", "{'cat': 'kernel', 'ts': 1}", {.malformed = 1}},
		{"an empty phase", "{'ph': '', 'cat': 'kernel'}", {.malformed = 1}},
		{"an empty object", "{}", {.malformed = 1}},
		{"a number", "7", {.malformed = 1}},
		{"null", "null", {.malformed = 1}},
		{"an array", "[['ph', 'X']]", {.malformed = 1}},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpt_import_stats want = cases[i].want;

		want.events = 1;
		rig_events(cases[i].event);
		rig_expect_stats(cases[i].rule, &want);
	}
	rig_drop();
}

static void an_event_that_lacks_what_its_kind_needs_is_malformed(void **state)
{
#define OP "'ph': 'X', 'cat': 'kernel', "
	static const struct {
		const char *rule, *event;
		int malformed, bad_numbers;
	} cases[] = {
		{"complete", "{" OP "'name': 'k', 'ts': 1, 'dur': 0, 'pid': 0, 'tid': 7}", 0, 0},
		{"no time", "{" OP "'name': 'k', 'pid': 0, 'tid': 7}", 1, 0},
		{"time is null", "{" OP "'name': 'k', 'ts': null, 'dur': 0, 'pid': 0, 'tid': 7}", 1,
			0},
		{"time is NaN", "{" OP "'name': 'k', 'ts': NaN, 'dur': 0, 'pid': 0, 'tid': 7}", 1,
			1},
		{"time is infinite",
			"{" OP "'name': 'k', 'ts': -Infinity, 'dur': 0, 'pid': 0, 'tid': 7}", 1, 1},
		{"time is a list", "{" OP "'name': 'k', 'ts': [1], 'dur': 0, 'pid': 0, 'tid': 7}",
			1, 1},
		{"time is before zero",
			"{" OP "'name': 'k', 'ts': -1, 'dur': 0, 'pid': 0, 'tid': 7}", 1, 0},
		{"time is too large",
			"{" OP
			"'name': 'k', 'ts': 9223372036854775807, 'dur': 0, 'pid': 0, 'tid': 7}",
			1, 1},
		{"duration is text", "{" OP "'name': 'k', 'ts': 1, 'dur': '?', 'pid': 0, 'tid': 7}",
			1, 1},
		{"no duration", "{" OP "'name': 'k', 'ts': 1, 'dur': null, 'pid': 0, 'tid': 7}", 1,
			0},
		{"no member for the duration", "{" OP "'name': 'k', 'ts': 1, 'pid': 0, 'tid': 7}",
			1, 0},
		{"no name", "{" OP "'ts': 1, 'dur': 0, 'pid': 0, 'tid': 7}", 1, 0},
		{"name is a number", "{" OP "'name': 5, 'ts': 1, 'dur': 0, 'pid': 0, 'tid': 7}", 1,
			0},
		{"no device", "{" OP "'name': 'k', 'ts': 1, 'dur': 0, 'tid': 7}", 1, 0},
		{"device is text",
			"{" OP "'name': 'k', 'ts': 1, 'dur': 0, 'pid': 'Spans', 'tid': 7}", 1, 1},
		{"device is text in args",
			"{" OP "'name': 'k', 'ts': 1, 'dur': 0, 'pid': 0, 'tid': 7, 'args': "
			"{'device': 'x'}}",
			1, 1},
		{"device is a number as text",
			"{" OP "'name': 'k', 'ts': 1, 'dur': 0, 'pid': '0', 'tid': '7'}", 0, 0},
		{"no stream", "{" OP "'name': 'k', 'ts': 1, 'dur': 0, 'pid': 0}", 1, 0},
		{"args is no object",
			"{" OP "'name': 'k', 'ts': 1, 'dur': 0, 'pid': 0, 'tid': 7, 'args': 3}", 0,
			0},
		{"a negative correlation counts as none",
			"{" OP "'name': 'k', 'ts': 1, 'dur': 0, 'pid': 0, 'tid': 7, 'args': "
			"{'correlation': -5}}",
			0, 1},
		{"a call without thread",
			"{'ph': 'X', 'cat': 'cuda_runtime', 'name': 'c', 'ts': 1, 'dur': 0, 'pid': "
			"4}",
			1, 0},
		{"a range on a thread with an array for id",
			"{'ph': 'X', 'cat': 'cpu_op', 'name': 'c', 'ts': 1, 'dur': 0, 'pid': 4, "
			"'tid': "
			"[1]}",
			1, 1},
	};
#undef OP
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpt_import_stats want = {.events = 1,
			.malformed = (uint64_t)cases[i].malformed,
			.bad_numbers = (uint64_t)cases[i].bad_numbers};

		rig_events(cases[i].event);
		rig_expect_stats(cases[i].rule, &want);
		assert_int_equal(rig_rows(VPT_KERNEL), !cases[i].malformed);
	}
	rig_drop();
}

/* ---- rows ---- */

static void a_kernel_keeps_its_configuration(void **state)
{
	(void)state;
	rig_events("{'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 9, 'tid': 9, 'ts': "
		   "1365627862757.064, 'dur': 18.112, 'args': {'device': 1, 'context': '3', "
		   "'stream': 20, 'correlation': '4711', 'registers per thread': 122, 'shared "
		   "memory': 12544, 'grid': [8, 16, 5], 'block': [128, 2, 1], 'cluster': [2, 1, "
		   "1], 'graph id': 6, 'graph node id': 25769803779}}");
	assert_int_equal(rig_value(VPT_KERNEL, VPT_KERNEL_START), 1365627862757064);
	assert_int_equal(rig_value(VPT_KERNEL, VPT_KERNEL_DURATION), 18112);
	assert_int_equal(rig_value(VPT_KERNEL, VPT_KERNEL_CORRELATION), 4711);
	assert_int_equal(rig_value(VPT_KERNEL, VPT_KERNEL_GRAPH_NODE), 25769803779);
	rig_expect_text(rig_value(VPT_CONFIG, VPT_CONFIG_NAME), "gemm", 4);
	assert_int_equal(rig_value(VPT_CONFIG, VPT_CONFIG_GRID_X), 8);
	assert_int_equal(rig_value(VPT_CONFIG, VPT_CONFIG_GRID_Y), 16);
	assert_int_equal(rig_value(VPT_CONFIG, VPT_CONFIG_GRID_Z), 5);
	assert_int_equal(rig_value(VPT_CONFIG, VPT_CONFIG_BLOCK_X), 128);
	assert_int_equal(rig_value(VPT_CONFIG, VPT_CONFIG_BLOCK_Y), 2);
	assert_int_equal(rig_value(VPT_CONFIG, VPT_CONFIG_CLUSTER_X), 2);
	assert_int_equal(rig_value(VPT_CONFIG, VPT_CONFIG_REGISTERS), 122);
	assert_int_equal(rig_value(VPT_CONFIG, VPT_CONFIG_STATIC_SHARED), 12544);
	assert_int_equal(rig_value(VPT_CONFIG, VPT_CONFIG_GRAPH), 6);
	assert_int_equal(
		rig_lane(rig_only(VPT_KERNEL)->lane, VPT_LANE_LANE_TYPE), VPT_LANETYPE_STREAM);
	assert_int_equal(rig_lane(rig_only(VPT_KERNEL)->lane, VPT_LANE_DEVICE), 1);
	assert_int_equal(rig_lane(rig_only(VPT_KERNEL)->lane, VPT_LANE_CONTEXT), 3);
	assert_int_equal(rig_lane(rig_only(VPT_KERNEL)->lane, VPT_LANE_STREAM), 20);
	/* The profiler does not say whose stream it is. */
	assert_int_equal((int64_t)rig_lane(rig_only(VPT_KERNEL)->lane, VPT_LANE_PID), -1);
	rig_drop();
}

static void older_traces_show_device_and_stream_as_process_and_thread(void **state)
{
	(void)state;
	rig_events(
		"{'ph': 'X', 'cat': 'Kernel', 'name': 'k', 'pid': 2, 'tid': 7, 'ts': 1, 'dur': 0}");
	assert_int_equal(rig_lane(rig_only(VPT_KERNEL)->lane, VPT_LANE_DEVICE), 2);
	assert_int_equal(rig_lane(rig_only(VPT_KERNEL)->lane, VPT_LANE_STREAM), 7);
	assert_int_equal(rig_lane(rig_only(VPT_KERNEL)->lane, VPT_LANE_CONTEXT), 0);
	rig_drop();
}

/* PyTorch 2.15 can draw the ops of CUDA graphs on lanes that the user names. */
static void an_op_is_on_its_own_stream_wherever_it_is_drawn(void **state)
{
	static const struct {
		const char *args;
		uint64_t stream;
	} cases[] = {
		{"'stream': 7, 'original_stream': 31", 31},
		{"'original_stream': 31, 'stream': 7", 31},
		{"'stream': 31, 'annotated_stream': 7", 31},
		{"'original_stream': 31", 31},
	};
	static const struct {
		const char *category, *name;
		enum vpt_kind kind;
	} ops[] = {
		{"kernel", "k", VPT_KERNEL},
		{"gpu_memcpy", "Memcpy DtoD (Device -> Device)", VPT_COPY},
		{"gpu_memset", "Memset (Device)", VPT_COPY},
	};
	char event[256];
	size_t i, op;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		for (op = 0; op < COUNT(ops); op++) {
			snprintf(event, sizeof(event),
				"{'ph': 'X', 'cat': '%s', 'name': '%s', 'pid': 0, 'tid': 7, 'ts': "
				"1, 'dur': 1, 'args': {'device': 0, 'correlation': 5, %s}}",
				ops[op].category, ops[op].name, cases[i].args);
			rig_events(event);
			assert_int_equal(rig_lane(rig_only(ops[op].kind)->lane, VPT_LANE_STREAM),
				cases[i].stream);
		}
	rig_drop();
}

/* What the name of a copy tells; 0: unknown. */
struct copy_name {
	const char *category, *name;
	uint64_t kind, source, target;
};

static void expect_copies(const struct copy_name *cases, size_t count)
{
	char event[256];
	size_t i;

	for (i = 0; i < count; i++) {
		snprintf(event, sizeof(event),
			"{'ph': 'X', 'cat': '%s', 'name': '%s', 'ts': 1, 'dur': 0, 'pid': 0, "
			"'tid': 7, "
			"'args': {'bytes': 4096.0, 'correlation': 3, 'graph_node_id': 9}}",
			cases[i].category, cases[i].name);
		rig_events(event);
		if (rig_value(VPT_COPY, VPT_COPY_COPY_KIND) != cases[i].kind ||
			rig_value(VPT_COPY, VPT_COPY_SOURCE_MEMORY) != cases[i].source ||
			rig_value(VPT_COPY, VPT_COPY_TARGET_MEMORY) != cases[i].target)
			fail_msg("%s: kind %d, %d -> %d", cases[i].name,
				(int)rig_value(VPT_COPY, VPT_COPY_COPY_KIND),
				(int)rig_value(VPT_COPY, VPT_COPY_SOURCE_MEMORY),
				(int)rig_value(VPT_COPY, VPT_COPY_TARGET_MEMORY));
		assert_int_equal(rig_value(VPT_COPY, VPT_COPY_BYTES), 4096);
		assert_int_equal(rig_value(VPT_COPY, VPT_COPY_CORRELATION), 3);
		assert_int_equal(rig_value(VPT_COPY, VPT_COPY_GRAPH_NODE), 9);
		assert_int_equal(rig_value(VPT_COPY, VPT_COPY_PEER), 0);
		assert_int_equal(rig.stats.bad_numbers, 0);
	}
	rig_drop();
}

static void a_copys_name_tells_its_direction_and_memories(void **state)
{
	static const struct copy_name cases[] = {
		{"gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", VPT_COPYKIND_HTOD,
			VPT_MEMKIND_PAGEABLE, VPT_MEMKIND_DEVICE},
		{"gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", VPT_COPYKIND_DTOH,
			VPT_MEMKIND_DEVICE, VPT_MEMKIND_PINNED},
		{"gpu_memcpy", "Memcpy DtoD (Device -> Device)", VPT_COPYKIND_DTOD,
			VPT_MEMKIND_DEVICE, VPT_MEMKIND_DEVICE},
		{"gpu_memcpy", "Memcpy PtoP (Device -> Managed Static)", VPT_COPYKIND_PTOP,
			VPT_MEMKIND_DEVICE, VPT_MEMKIND_MANAGED_STATIC},
		{"gpu_memcpy", "Memcpy AtoA (Array -> <unrecognized>)", VPT_COPYKIND_ATOA,
			VPT_MEMKIND_ARRAY, 0},
		{"gpu_memcpy", "Memcpy <unknown> (Unknown -> Unknown)", 0, 0, 0},
		{"gpu_memcpy", "Memcpy memset (Device)", VPT_COPYKIND_MEMSET, VPT_MEMKIND_DEVICE,
			0},
		{"gpu_memcpy", "Memcpy", 0, 0, 0},
		{"gpu_memcpy", "", 0, 0, 0},
		{"gpu_memcpy", "HtoD (", 0, 0, 0},
		{"gpu_memset", "Memset (Device)", VPT_COPYKIND_MEMSET, 0, VPT_MEMKIND_DEVICE},
		{"gpu_memset", "Memset (Unknown)", VPT_COPYKIND_MEMSET, 0, 0},
		{"memset", "Memset", VPT_COPYKIND_MEMSET, 0, 0},
	};

	(void)state;
	expect_copies(cases, COUNT(cases));
}

static void a_copys_name_on_rocm_tells_its_direction_and_the_devices_side(void **state)
{
	static const struct copy_name cases[] = {
		{"gpu_memcpy", "Memcpy HtoD (Host -> Device)", VPT_COPYKIND_HTOD, 0,
			VPT_MEMKIND_DEVICE},
		{"gpu_memcpy", "Memcpy DtoH (Device -> Host)", VPT_COPYKIND_DTOH,
			VPT_MEMKIND_DEVICE, 0},
		{"gpu_memcpy", "CopyHostToDevice", VPT_COPYKIND_HTOD, 0, VPT_MEMKIND_DEVICE},
		{"gpu_memcpy", "CopyDeviceToHost", VPT_COPYKIND_DTOH, VPT_MEMKIND_DEVICE, 0},
		{"gpu_memcpy", "CopyDeviceToDevice", VPT_COPYKIND_DTOD, VPT_MEMKIND_DEVICE,
			VPT_MEMKIND_DEVICE},
		{"gpu_memcpy", "CopyDeviceToHost2D", VPT_COPYKIND_DTOH, VPT_MEMKIND_DEVICE, 0},
		{"gpu_memcpy", "hcMemcpyHostToHost", VPT_COPYKIND_HTOH, 0, 0},
		{"gpu_memcpy", "hcMemcpyDeviceToHost", VPT_COPYKIND_DTOH, VPT_MEMKIND_DEVICE, 0},
		{"gpu_memcpy", "MEMORY_COPY_HOST_TO_DEVICE", VPT_COPYKIND_HTOD, 0,
			VPT_MEMKIND_DEVICE},
		{"gpu_memcpy", "hipMemcpyPeerToPeer", VPT_COPYKIND_PTOP, VPT_MEMKIND_DEVICE,
			VPT_MEMKIND_DEVICE},
		{"gpu_memcpy", "hipMemcpyWithStream", 0, 0, 0},
	};

	(void)state;
	expect_copies(cases, COUNT(cases));
}

/* ROCm's profiler calls a copy by the call that made it. */
static void a_copy_without_a_direction_in_its_name_has_a_kind(void **state)
{
	static const struct {
		const char *name, *kind;
		uint64_t direction;
	} cases[] = {
		{"hipMemcpyWithStream", "HtoD", VPT_COPYKIND_HTOD},
		{"hipMemcpyAsync", "DtoH", VPT_COPYKIND_DTOH},
		{"hipMemcpyWithStream", "CopyDeviceToDevice", VPT_COPYKIND_DTOD},
		{"hipMemcpyWithStream", "hipMemcpyHostToDevice", VPT_COPYKIND_HTOD},
		{"hipMemcpyAsync", "0", VPT_COPYKIND_HTOH},
		{"hipMemcpyAsync", "1", VPT_COPYKIND_HTOD},
		{"hipMemcpyAsync", "2", VPT_COPYKIND_DTOH},
		{"hipMemcpyAsync", "3", VPT_COPYKIND_DTOD},
		{"hipMemcpyAsync", "4", 0},
		{"hipMemcpyAsync", "", 0},
		{"hipMemcpyAsync", "Dispatch Kernel", 0},
		{"Memcpy DtoH (Device -> Host)", "HtoD", VPT_COPYKIND_DTOH},
	};
	char event[256];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(event, sizeof(event),
			"{'ph': 'X', 'cat': 'gpu_memcpy', 'name': '%s', 'ts': 1, 'dur': 0, 'pid': "
			"0, 'tid': "
			"7, 'args': {'kind': '%s'}}",
			cases[i].name, cases[i].kind);
		rig_events(event);
		if (rig_value(VPT_COPY, VPT_COPY_COPY_KIND) != cases[i].direction)
			fail_msg("%s, %s: kind %d", cases[i].name, cases[i].kind,
				(int)rig_value(VPT_COPY, VPT_COPY_COPY_KIND));
	}
	rig_drop();
}

static void a_peer_copy_names_the_other_device(void **state)
{
	static const struct {
		const char *args;
		uint64_t peer;
	} cases[] = {
		{"'fromDevice': 0, 'inDevice': 0, 'toDevice': 3", 4},
		{"'fromDevice': 3, 'inDevice': 0, 'toDevice': 0", 4},
		{"'fromDevice': 0, 'inDevice': 0, 'toDevice': 0", 0},
		{"'fromDevice': 0", 0},
	};
	char event[256];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(event, sizeof(event),
			"{'ph': 'X', 'cat': 'gpu_memcpy', 'name': 'Memcpy PtoP (Device -> "
			"Device)', 'ts': 1, 'dur': 0, 'pid': 0, 'tid': 7, 'args': {%s, 'stream': "
			"7}}",
			cases[i].args);
		rig_events(event);
		assert_int_equal(rig_value(VPT_COPY, VPT_COPY_PEER), cases[i].peer);
	}
	rig_drop();
}

static void a_call_has_a_number_and_a_name_only_where_it_differs(void **state)
{
	static const struct {
		const char *name, *known, *kept;
	} cases[] = {
		{"cudaLaunchKernel", "cudaLaunchKernel", ""},
		{"cudaLaunchKernel_v7000", "cudaLaunchKernel", "cudaLaunchKernel_v7000"},
		{"cudaNobodyKnowsThis", NULL, "cudaNobodyKnowsThis"},
	};
	char event[256];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(event, sizeof(event),
			"{'ph': 'X', 'cat': 'cuda_runtime', 'name': '%s', 'pid': 4515, 'tid': -77, "
			"'ts': 10, 'dur': 2.5, 'args': {'cbid': 211, 'correlation': 863350}}",
			cases[i].name);
		rig_events(event);
		assert_int_equal(rig_value(VPT_CALL, VPT_CALL_ID),
			cases[i].known ? vpt_call_find(cases[i].known, strlen(cases[i].known)) : 0);
		rig_expect_text(
			rig_value(VPT_CALL, VPT_CALL_NAME), cases[i].kept, strlen(cases[i].kept));
		assert_int_equal(rig_value(VPT_CALL, VPT_CALL_CORRELATION), 863350);
		assert_int_equal(rig_value(VPT_CALL, VPT_CALL_DURATION), 2500);
		assert_int_equal(rig_lane(rig_only(VPT_CALL)->lane, VPT_LANE_LANE_TYPE),
			VPT_LANETYPE_THREAD);
		assert_int_equal(rig_lane(rig_only(VPT_CALL)->lane, VPT_LANE_PID), 4515);
		assert_int_equal((int64_t)rig_lane(rig_only(VPT_CALL)->lane, VPT_LANE_TID), -77);
	}
	rig_drop();
}

static void ranges_of_the_user_and_operators_differ_by_domain(void **state)
{
	(void)state;
	rig_events("{'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#6', 'pid': 1, "
		   "'tid': 1, 'ts': 1, 'dur': 9}");
	rig_expect_text(rig_value(VPT_RANGE, VPT_RANGE_NAME), "ProfilerStep#6", 14);
	assert_int_equal(rig_value(VPT_RANGE, VPT_RANGE_DOMAIN), 0);
	assert_int_equal(rig_value(VPT_RANGE, VPT_RANGE_DURATION), 9000);
	rig_events("{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'pid': 1, 'tid': 1, 'ts': 1, "
		   "'dur': 0}");
	rig_expect_text(rig_value(VPT_RANGE, VPT_RANGE_DOMAIN), "cpu_op", 6);
	assert_int_equal(rig_value(VPT_RANGE, VPT_RANGE_DURATION), 0);
	rig_drop();
}

static void operators_with_shapes_say_how_much_they_do(void **state)
{
	(void)state;
	rig_events("{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'pid': 1, 'tid': 2, 'ts': 5, "
		   "'dur': 3, 'args': {'Input Dims': [[3, 4], [4, 5]]}}");
	assert_int_equal(rig_value(VPT_RANGE, VPT_RANGE_PAYLOAD), VPT_PAYLOAD_JSON);
	rig_expect_text(
		rig_value(VPT_RANGE, VPT_RANGE_VALUE), "{\"flop\":120,\"shapes\":\"3x4 4x5\"}", 31);
	rig_events("{'ph': 'X', 'cat': 'user_annotation', 'name': 'aten::mm', 'pid': 1, 'tid': 2, "
		   "'ts': 5, 'dur': 3, 'args': {'Input Dims': [[3, 4], [4, 5]]}}");
	assert_int_equal(rig_value(VPT_RANGE, VPT_RANGE_PAYLOAD), VPT_PAYLOAD_NONE);
	rig_drop();
}

static void a_negative_duration_wraps_and_is_kept(void **state)
{
	(void)state;
	rig_events("{'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': 10, 'dur': "
		   "-2}");
	assert_int_equal(rig_value(VPT_KERNEL, VPT_KERNEL_DURATION), (uint64_t)-2000);
	assert_int_equal(rig.stats.malformed, 0);
	rig_drop();
}

static void threads_with_rows_get_their_names_whenever_these_come(void **state)
{
#define NAMED(tid, name)                                                                           \
	"{'ph': 'M', 'name': 'thread_name', 'pid': 5, 'tid': " tid ", 'args': {'name': '" name "'" \
	"}"                                                                                        \
	"}"
#define RANGE(tid)                                                                                 \
	"{'ph': 'X', 'cat': 'cpu_op', 'name': 'n', 'pid': 5, 'tid': " tid ", 'ts': 1, 'dur': 0}"
	static const char *const orders[] = {
		NAMED("6", "main") "," RANGE("6") "," NAMED("8", "unused"),
		NAMED("8", "unused") "," RANGE("6") "," NAMED("'6'", "main"),
		NAMED("6", "old") "," RANGE("'6'") "," NAMED("6", "main"),
	};
#undef NAMED
#undef RANGE
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(orders); i++) {
		rig_events(orders[i]);
		rig_expect_text(rig_lane(rig_only(VPT_RANGE)->lane, VPT_LANE_NAME), "main", 4);
		assert_int_equal(rig_rows(VPT_LANE), 1);
		assert_int_equal(rig.stats.events, 3);
	}
	rig_drop();
}

static void many_threads_keep_their_own_lanes(void **state)
{
	enum { THREADS = 300, EVENT_BYTES = 96 };
	char *text = malloc(THREADS * EVENT_BYTES);
	const struct vpt_section *lanes;
	uint32_t k;
	int i, at = 0;

	(void)state;
	assert_non_null(text);
	for (i = 0; i < THREADS; i++)
		at += snprintf(text + at, EVENT_BYTES,
			"%s{'ph':'X','cat':'cpu_op','name':'n','pid':1,'tid':%d,'ts':%d, 'dur': 0}",
			i ? "," : "[", i * 64, i);
	snprintf(text + at, EVENT_BYTES, "]");
	assert_int_equal(rig_text(text), 0);
	free(text);
	lanes = rig_only(VPT_LANE);
	assert_int_equal(lanes->row_count, THREADS);
	assert_int_equal(rig_rows(VPT_RANGE), THREADS);
	for (k = 0; k < lanes->row_count; k++)
		assert_int_equal(lanes->col[VPT_LANE_TID][k] % 64, 0);
	rig_drop();
}

/* ---- waits and overhead ---- */

/* Stream ids of the lanes; -2 stands for lane 0. */
static int64_t stream_of_lane(uint64_t key)
{
	return key ? (int64_t)rig_lane(key, VPT_LANE_STREAM) : -2;
}

static void events_join_waits_by_the_recording_call(void **state)
{
	(void)state;
	rig_events("{'ph': 'X', 'cat': 'cuda_event', 'name': 'cudaEvent', 'pid': 0, 'tid': 20, "
		   "'ts': 100, 'dur': 0, 'args': {'event_id': 9, 'stream': 20, 'correlation': 32, "
		   "'device': 0, 'context': 1}}");
	assert_int_equal(rig_value(VPT_EVENT, VPT_EVENT_TIME), 100000);
	assert_int_equal(rig_value(VPT_EVENT, VPT_EVENT_EVENT), 10);
	assert_int_equal(rig_value(VPT_EVENT, VPT_EVENT_CORRELATION), 32);
	assert_int_equal(rig_value(VPT_EVENT, VPT_EVENT_SYNC_ID), 32);
	assert_int_equal(stream_of_lane(rig_only(VPT_EVENT)->lane), 20);
}

/* Other tools than the profiler join calls and ops by arrows alone. */
static void arrows_stand_for_missing_correlation_ids(void **state)
{
	static const struct {
		const char *rule, *events;
		uint64_t call, kernel;
	} cases[] = {
		{"an arrow from the call to the kernel",
			"{'ph': 's', 'cat': 'ac2g', 'id': 7, 'pid': 1, 'tid': 2, 'ts': 10}, "
			"{'ph': 'f', 'cat': 'ac2g', 'id': 7, 'pid': 0, 'tid': 5, 'ts': 20, 'bp': "
			"'e'}",
			7, 7},
		{"from inside the call, by the older name, to the kernel's end",
			"{'ph': 's', 'cat': 'async_cpu_to_gpu', 'id': '8', 'pid': 1, 'tid': 2, "
			"'ts': 13}, "
			"{'ph': 'f', 'cat': 'async_cpu_to_gpu', 'id': '8', 'pid': 0, 'tid': 5, "
			"'ts': 25}",
			8, 8},
		{"arrows on other lines, and of other kinds, are not theirs",
			"{'ph': 's', 'cat': 'ac2g', 'id': 7, 'pid': 1, 'tid': 3, 'ts': 10}, "
			"{'ph': 'f', 'cat': 'ac2g', 'id': 7, 'pid': 0, 'tid': 5, 'ts': 19.999}, "
			"{'ph': 's', 'cat': 'fwdbwd', 'id': 9, 'pid': 1, 'tid': 2, 'ts': 10}",
			0, 0},
		{"invalid arrows",
			"{'ph': 's', 'cat': 'ac2g', 'pid': 1, 'tid': 2, 'ts': 10}, {'ph': 'f', "
			"'cat': 'ac2g', 'id': 7, 'ts': 20}, {'ph': 'f', 'cat': 'ac2g', 'id': 7, "
			"'pid': 0, 'tid': 5}",
			0, 0},
	};
	char events[1024];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(events, sizeof(events),
			"{'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, "
			"'tid': 2, 'ts': 10, 'dur': 3}, "
			"{'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 5, 'ts': 20, "
			"'dur': 5}, %s",
			cases[i].events);
		rig_events(events);
		if (rig_value(VPT_CALL, VPT_CALL_CORRELATION) != cases[i].call ||
			rig_value(VPT_KERNEL, VPT_KERNEL_CORRELATION) != cases[i].kernel)
			fail_msg("%s", cases[i].rule);
		assert_int_equal(rig.stats.malformed, 0);
	}
	/* An id of its own is not overruled. */
	rig_events("{'ph': 'X', 'cat': 'kernel', 'name': 'j', 'pid': 0, 'tid': 6, 'ts': 1, 'dur': "
		   "1}, {'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 6, 'ts': 20, "
		   "'dur': 5, 'args': {'correlation': 0}}, {'ph': 'f', 'cat': 'ac2g', 'id': 7, "
		   "'pid': 0, 'tid': 6, 'ts': 20}");
	assert_int_equal(rig_only(VPT_KERNEL)->col[VPT_KERNEL_CORRELATION][0], 0);
	assert_int_equal(rig_only(VPT_KERNEL)->col[VPT_KERNEL_CORRELATION][1], 0);
}

static void synchronisations_say_who_waits_for_what(void **state)
{
	static const struct {
		const char *rule, *args;
		uint64_t kind;
		int64_t lane, waited_for;
		uint64_t event, sync_id;
	} cases[] = {
		{"the host waits for an event of stream 20",
			"'cuda_sync_kind': 'Event Sync', 'wait_on_stream': 20, "
			"'wait_on_cuda_event_record_corr_id': 32, 'wait_on_cuda_event_id': 9, "
			"'stream': -1",
			VPT_SYNCKIND_EVENT, -2, 20, 10, 32},
		{"the event's stream is unknown",
			"'cuda_sync_kind': 'Event Sync', 'wait_on_stream': -1, "
			"'wait_on_cuda_event_record_corr_id': -1, 'wait_on_cuda_event_id': 0, "
			"'stream': -1",
			VPT_SYNCKIND_EVENT, -2, -2, 1, 0},
		{"stream 24 waits for stream 20",
			"'cuda_sync_kind': 'Stream Wait Event', 'wait_on_stream': 20, "
			"'wait_on_cuda_event_record_corr_id': 1385, 'wait_on_cuda_event_id': 19, "
			"'stream': 24",
			VPT_SYNCKIND_STREAM_WAIT, 24, 20, 20, 1385},
		{"the host waits for a stream", "'cuda_sync_kind': 'Stream Sync', 'stream': 7",
			VPT_SYNCKIND_STREAM, 7, 7, 0, 0},
		{"the host waits for all", "'cuda_sync_kind': 'Context Sync', 'stream': 4294967295",
			VPT_SYNCKIND_CONTEXT, -2, -2, 0, 0},
		{"the name tells where the args do not", "'stream': -1", VPT_SYNCKIND_EVENT, -2, -2,
			0, 0},
		{"a kind nobody knows", "'cuda_sync_kind': 'Moon Sync'", VPT_SYNCKIND_UNKNOWN, -2,
			-2, 0, 0},
	};
	char event[512];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(event, sizeof(event),
			"{'ph': 'X', 'cat': 'cuda_sync', 'name': 'Event Sync', 'pid': 0, 'tid': "
			"-1, 'ts': 100, 'dur': 4, 'args': {%s, 'correlation': 24, 'device': 0, "
			"'context': 1}}",
			cases[i].args);
		rig_events(event);
		if (rig_value(VPT_SYNC, VPT_SYNC_SYNC_KIND) != cases[i].kind ||
			stream_of_lane(rig_only(VPT_SYNC)->lane) != cases[i].lane ||
			stream_of_lane(rig_value(VPT_SYNC, VPT_SYNC_STREAM)) !=
				cases[i].waited_for ||
			rig_value(VPT_SYNC, VPT_SYNC_EVENT) != cases[i].event ||
			rig_value(VPT_SYNC, VPT_SYNC_SYNC_ID) != cases[i].sync_id)
			fail_msg("%s", cases[i].rule);
		assert_int_equal(rig_value(VPT_SYNC, VPT_SYNC_CORRELATION), 24);
		assert_int_equal(rig_value(VPT_SYNC, VPT_SYNC_CONTEXT), 1);
		assert_int_equal(rig_value(VPT_SYNC, VPT_SYNC_DURATION), 4000);
	}
	rig_drop();
}

#define WAIT(waits, correlation)                                                                   \
	"{'ph': 'X', 'cat': 'cuda_sync', 'name': 'Stream Wait Event', 'pid': 0, 'tid': 24, 'ts': " \
	"100, 'dur': 0, 'args': {'cuda_sync_kind': 'Stream Wait Event', 'wait_on_stream': 20, "    \
	"'wait_on_cuda_event_record_corr_id': 30, 'wait_on_cuda_event_id': 19, 'stream': " waits   \
	", 'correlation': " correlation ", 'device': 0, 'context': 1}}"
#define RECORD                                                                                     \
	"{'ph': 'X', 'cat': 'cuda_event', 'name': 'cudaEvent', 'pid': 0, 'tid': 20, 'ts': 90, "    \
	"'dur': 0, 'args': {'event_id': 19, 'correlation': 30, 'device': 0, 'context': 1, "        \
	"'stream': 20}}"

static void a_record_that_only_waits_name_is_there_once(void **state)
{
	static const struct {
		const char *rule, *events;
		uint64_t time_ns;
	} cases[] = {
		{"a record that the file does not have", WAIT("24", "31"), 100000},
		{"two waits for one record", WAIT("24", "31") ", " WAIT("28", "32"), 100000},
		{"a record before its wait", RECORD ", " WAIT("24", "31"), 90000},
		{"a record after its wait", WAIT("24", "31") ", " RECORD, 90000},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		rig_events(cases[i].events);
		if (stream_of_lane(rig_only(VPT_EVENT)->lane) != 20 ||
			rig_only(VPT_EVENT)->row_count != 1 ||
			rig_value(VPT_EVENT, VPT_EVENT_TIME) != cases[i].time_ns ||
			rig_value(VPT_EVENT, VPT_EVENT_CORRELATION) != 30 ||
			rig_value(VPT_EVENT, VPT_EVENT_SYNC_ID) != 30 ||
			rig_value(VPT_EVENT, VPT_EVENT_EVENT) != 20)
			fail_msg("%s", cases[i].rule);
	}
	rig_drop();
}

static double sample_of(size_t i)
{
	const struct vpt_section *s = NULL;
	double value;
	size_t k;

	for (k = 0; k < rig.batch.section_count; k++)
		if (rig.batch.sections[k].kind == VPT_COUNTER && !i--)
			s = &rig.batch.sections[k];
	assert_non_null(s);
	memcpy(&value, &s->col[VPT_COUNTER_VALUE][0], sizeof(value));
	return value;
}

static void the_frameworks_memory_is_two_series_a_device(void **state)
{
	(void)state;
	rig_events(
		"{'ph': 'i', 'cat': 'cpu_instant_event', 'name': '[memory]', 'pid': 1, 'tid': 2, "
		"'ts': 5, 'args': {'Total Reserved': 4096, 'Total Allocated': 1024, 'Bytes': "
		"-512, 'Device Id': 0, 'Device Type': 1}}");
	assert_int_equal(rig_rows(VPT_COUNTER), 2);
	assert_true(sample_of(0) == 1024 || sample_of(1) == 1024);
	assert_true(sample_of(0) == 4096 || sample_of(1) == 4096);
	rig_expect_stats("memory", &(struct vpt_import_stats){.events = 1});
	/* In whatever order the members come. */
	rig_events("{'ph': 'i', 's': 't', 'name': '[memory]', 'ts': 5, 'args': {'Device Id': 0, "
		   "'Device Type': 1, 'Total Allocated': 7}, 'cat': 'cpu_instant_event'}");
	assert_int_equal(rig_rows(VPT_COUNTER), 1);
	assert_true(sample_of(0) == 7);
	/* That of the host is not looked at, nor any other moment of this category. */
	rig_events(
		"{'ph': 'i', 'cat': 'cpu_instant_event', 'name': '[memory]', 'pid': 1, 'tid': 2, "
		"'ts': 5, 'args': {'Total Allocated': 1024, 'Device Id': -1, 'Device Type': "
		"0}}, {'ph': 'i', 'cat': 'cpu_instant_event', 'name': 'x', 'ts': 5}");
	rig_expect_stats("other moments", &(struct vpt_import_stats){.events = 2, .skipped = 2});
	rig_events("{'ph': 'i', 'cat': 'cpu_instant_event', 'name': '[memory]', 'ts': 5, 'args': "
		   "{'Device Id': 0, 'Device Type': 1}}");
	rig_expect_stats("without totals", &(struct vpt_import_stats){.events = 1, .malformed = 1});
	/* What cannot be held is no sample: the track would fall to 0. */
	rig_events(
		"{'ph': 'i', 'cat': 'cpu_instant_event', 'name': '[memory]', 'ts': 5, 'args': "
		"{'Total Allocated': -123, 'Device Id': 0, 'Device Type': 1}}, "
		"{'ph': 'i', 'cat': 'cpu_instant_event', 'name': '[memory]', 'ts': 6, 'args': "
		"{'Total Allocated': 'abc', 'Device Id': 0, 'Device Type': 1}}, "
		"{'ph': 'i', 'cat': 'cpu_instant_event', 'name': '[memory]', 'ts': 7, 'args': "
		"{'Total Allocated': 5, 'Total Reserved': -1, 'Device Id': 0, 'Device Type': 1}}");
	assert_int_equal(rig_rows(VPT_COUNTER), 1);
	assert_true(sample_of(0) == 5);
	rig_drop();
}

static void overhead_is_told_apart_by_its_name(void **state)
{
	static const struct {
		const char *name;
		uint64_t kind;
	} cases[] = {
		{"Activity Buffer Request", VPT_OVERHEADKIND_BUFFER_REQUEST},
		{"Lazy Function Loading", VPT_OVERHEADKIND_LAZY_LOADING},
		{"Runtime Triggered Module Loading", VPT_OVERHEADKIND_MODULE_LOADING},
		{"Command Buffer Full", VPT_OVERHEADKIND_COMMAND_BUFFER_FULL},
		{"Buffer Flush", VPT_OVERHEADKIND_FLUSH},
		{"Instrumentation", VPT_OVERHEADKIND_INSTRUMENTATION},
		{"Resource", VPT_OVERHEADKIND_RESOURCE},
		{"Driver Compiler", VPT_OVERHEADKIND_COMPILER},
		{"UVM Activity Init", VPT_OVERHEADKIND_UVM_INIT},
		{"Something new", VPT_OVERHEADKIND_UNKNOWN},
	};
	char event[256];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(event, sizeof(event),
			"{'ph': 'X', 'cat': 'overhead', 'name': '%s', 'pid': -1, 'tid': 0, 'ts': "
			"1, 'dur': 2}",
			cases[i].name);
		rig_events(event);
		if (rig_value(VPT_OVERHEAD, VPT_OVERHEAD_OVERHEAD_KIND) != cases[i].kind)
			fail_msg("%s", cases[i].name);
		assert_int_equal(rig_only(VPT_OVERHEAD)->lane, 0);
	}
	rig_drop();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_category_has_its_kind),
		cmocka_unit_test(phases_other_than_complete_give_no_rows),
		cmocka_unit_test(an_event_that_lacks_what_its_kind_needs_is_malformed),
		cmocka_unit_test(a_kernel_keeps_its_configuration),
		cmocka_unit_test(older_traces_show_device_and_stream_as_process_and_thread),
		cmocka_unit_test(an_op_is_on_its_own_stream_wherever_it_is_drawn),
		cmocka_unit_test(a_copys_name_tells_its_direction_and_memories),
		cmocka_unit_test(a_copys_name_on_rocm_tells_its_direction_and_the_devices_side),
		cmocka_unit_test(a_copy_without_a_direction_in_its_name_has_a_kind),
		cmocka_unit_test(a_peer_copy_names_the_other_device),
		cmocka_unit_test(a_call_has_a_number_and_a_name_only_where_it_differs),
		cmocka_unit_test(ranges_of_the_user_and_operators_differ_by_domain),
		cmocka_unit_test(operators_with_shapes_say_how_much_they_do),
		cmocka_unit_test(a_negative_duration_wraps_and_is_kept),
		cmocka_unit_test(threads_with_rows_get_their_names_whenever_these_come),
		cmocka_unit_test(many_threads_keep_their_own_lanes),
		cmocka_unit_test(events_join_waits_by_the_recording_call),
		cmocka_unit_test(arrows_stand_for_missing_correlation_ids),
		cmocka_unit_test(synchronisations_say_who_waits_for_what),
		cmocka_unit_test(a_record_that_only_waits_name_is_there_once),
		cmocka_unit_test(the_frameworks_memory_is_two_series_a_device),
		cmocka_unit_test(overhead_is_told_apart_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	print_message("SKIPPED: built without zlib\n");
	return 77;
}

#endif
