/* test_import_kineto_processes.c - merged traces of several ranks, however the merging program writes their
 * process ids: each kernel has its rank's process, GPU and launch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef VPT_HAVE_KINETO

#include "formats/base/count.h"
#include "tests/support/traces/kineto_rig.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 10, TEXT_BYTES = 1 << 16 };

/* ---- two ranks ---- */

/* The "pid" of a rank's CPU or GPU events: %R the rank, %N the number that the profiler wrote. */
static const char *const forms[] = {
	"\"[TP0%R] %N\"", "\"rank%R:%N\"", "\"%N (rank %R)\"", "\"%N-r%R\"", "\"DP%R TP0 PP0 %N\"",
	"1%R000%N", /* a number, with an offset by rank */
};

static void write_pid(char *out, const char *form, int rank, int number)
{
	for (; *form; form++)
		if (form[0] == '%') {
			form++;
			out += sprintf(out, "%d", *form == 'R' ? rank : number);
		} else {
			*out++ = *form;
		}
	*out = '\0';
}

struct merge {
	const char *form;
	int gpus[2];   /* as each rank calls its GPU */
	int shift;     /* us by which the second rank is later */
	int ahead;     /* by how many launches the host runs ahead */
	int is_joined; /* one after the other, else by time */
	int pids[2];
};

static size_t write_step(char *out, const struct merge *m, int rank, int step)
{
	char cpu[40], gpu[40];
	int at = 100 * step + rank * m->shift;

	write_pid(cpu, m->form, rank, m->pids[rank]);
	write_pid(gpu, m->form, rank, m->gpus[rank]);
	return (size_t)sprintf(out,
		"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
		"\"pid\": "
		"%s, \"tid\": 7, \"ts\": %d, \"dur\": 5, \"args\": {\"correlation\": %d}},\n"
		"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"of rank %d\", \"pid\": %s, "
		"\"tid\": "
		"7, \"ts\": %d, \"dur\": 80, \"args\": {\"device\": %d, \"stream\": 7, "
		"\"correlation\": %d}},\n",
		cpu, at, step + 1, rank, gpu, at + 10 + 100 * m->ahead, m->gpus[rank], step + 1);
}

static void read_merge(const struct merge *m)
{
	char *text = malloc(TEXT_BYTES);
	size_t used;
	int i;

	assert_non_null(text);
	used = (size_t)sprintf(text, "{\"traceEvents\": [\n");
	for (i = 0; i < 2 * STEPS; i++)
		used += write_step(text + used, m, m->is_joined ? i / STEPS : i % 2,
			m->is_joined ? i % STEPS : i / 2);
	used += (size_t)sprintf(text + used, "]}");
	if (rig_bytes(text, used))
		fail_msg("%s: %s", m->form, rig.err.text);
	free(text);
}

/* ---- what is found ---- */

static uint64_t call_start(uint64_t pid, uint64_t id)
{
	size_t i;
	uint32_t row;

	for (i = 0; i < rig.batch.section_count; i++) {
		const struct vpt_section *s = &rig.batch.sections[i];

		for (row = 0; s->kind == VPT_CALL && row < s->row_count; row++)
			if (s->col[VPT_CALL_CORRELATION][row] == id &&
				rig_lane(s->lane, VPT_LANE_PID) == pid)
				return s->col[VPT_CALL_START][row];
	}
	return UINT64_MAX;
}

static int rank_of(const struct vpt_section *s, uint32_t row)
{
	const struct vpt_section *configs = vpt_batch_find(&rig.batch, VPT_CONFIG);
	struct vpt_text name = vpt_batch_text(
		&rig.batch, configs->col[VPT_CONFIG_NAME][s->col[VPT_KERNEL_CONFIG][row]]);

	return name.text[name.len - 1] - '0';
}

static void expect_apart(const struct merge *m)
{
	uint64_t pids[2] = {0}, devices[2] = {0};
	size_t i, kernels = 0;
	uint32_t row;

	for (i = 0; i < rig.batch.section_count; i++) {
		const struct vpt_section *s = &rig.batch.sections[i];

		for (row = 0; s->kind == VPT_KERNEL && row < s->row_count; row++) {
			int rank = rank_of(s, row);
			uint64_t pid = rig_lane(s->lane, VPT_LANE_PID);
			uint64_t start = s->col[VPT_KERNEL_START][row];

			kernels++;
			pids[rank] = pids[rank] ? pids[rank] : pid;
			devices[rank] = rig_lane(s->lane, VPT_LANE_DEVICE);
			if (pids[rank] != pid ||
				call_start(pid, s->col[VPT_KERNEL_CORRELATION][row]) !=
					start - 10000 - 100000 * (uint64_t)m->ahead)
				fail_msg(
					"%s, GPUs %d and %d, %d us later, %d ahead, joined %d: the "
					"kernel of rank %d at %" PRIu64 " is of process %" PRId64,
					m->form, m->gpus[0], m->gpus[1], m->shift, m->ahead,
					m->is_joined, rank, start, (int64_t)pid);
		}
	}
	assert_int_equal(kernels, 2 * STEPS);
	assert_int_not_equal(pids[0], pids[1]);
	assert_int_not_equal(devices[0], devices[1]);
	assert_int_equal(vpt_collect_doubts(rig.collect)->unclear_ops, 0);
	assert_int_equal(rig.stats.malformed, 0);
}

static void ranks_are_told_apart_by_their_labels(void **state)
{
	size_t i;
	int k;

	(void)state;
	for (i = 0; i < COUNT(forms); i++)
		for (k = 0; k < 32; k++) {
			struct merge m = {.form = forms[i],
				.gpus = {0, k & 1},
				.shift = k & 2 ? 50 : 3,
				.ahead = k & 4 ? 3 : 0,
				.is_joined = k & 8,
				.pids = {100, k & 16 ? 100 : 1100}};

			/* Numbers say no more than that a rank's GPU events belong together. */
			if (m.form[0] == '1' && (m.shift == 3 || m.ahead))
				continue;
			read_merge(&m);
			expect_apart(&m);
		}
	rig_drop();
}

/* ---- two ranks as they are ---- */

static void numbers_as_they_are_need_certain_times(void **state)
{
	struct merge m = {.form = "%N", .gpus = {0, 1}, .shift = 50, .pids = {100, 200}};

	(void)state;
	read_merge(&m);
	expect_apart(&m);
	/* Both call their GPU 0: a kernel begins before the other rank's launch. */
	m.gpus[1] = 0;
	read_merge(&m);
	expect_apart(&m);
	/* Both launch before either runs: any of two could be. */
	m.shift = 3;
	read_merge(&m);
	assert_int_equal(rig_rows(VPT_KERNEL), 0);
	assert_int_equal(vpt_collect_doubts(rig.collect)->mixed_ops, 2 * STEPS);
	m.gpus[1] = 1;
	read_merge(&m);
	assert_int_equal(rig_rows(VPT_KERNEL), 2 * STEPS);
	assert_int_equal(vpt_collect_doubts(rig.collect)->unclear_ops, 2 * STEPS);
	assert_int_equal(rig_value(VPT_KERNEL, VPT_KERNEL_CORRELATION), 0);
	rig_drop();
}

static void processes_keep_their_names(void **state)
{
	(void)state;
	rig_events(
		"{'ph': 'M', 'name': 'process_name', 'pid': 100, 'args': {'name': 'python3'}}, "
		"{'ph': 'M', 'name': 'process_name', 'pid': 0, 'args': {'name': 'GPU'}}, "
		"{'ph': 'X', 'cat': 'cpu_op', 'name': 'a', 'pid': 100, 'tid': 7, 'ts': 1, 'dur': "
		"1}");
	assert_string_equal(rig_meta("process.100"), "python3");
	assert_null(rig_meta("process.0"));
	rig_events("{'ph': 'X', 'cat': 'cpu_op', 'name': 'a', 'pid': '[TP3] 100', 'tid': 'main', "
		   "'ts': 1, 'dur': 1}");
	assert_string_equal(rig_meta("process.100"), "[TP3] 100");
	rig_drop();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_told_apart_by_their_labels),
		cmocka_unit_test(numbers_as_they_are_need_certain_times),
		cmocka_unit_test(processes_keep_their_names),
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
