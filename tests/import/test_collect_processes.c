/* test_collect_processes.c - processes of a foreign trace are told apart: each op has its launch, each GPU
 * its number, and what cannot be known is not guessed. */
#include "formats/import/collect/collect.h"

#include "formats/calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words of `trace`:
 *
 *	call PID@TIME#ID      a launch of 5 ns; graph: of a CUDA graph
 *	op WHO/GPU@TIME#ID    a kernel of 10 ns on a stream of process WHO; with letters: of owner A, B
 *	gpu WHO/GPU=UUID      a DEVICE row
 *
 * Found: for each op, by time, "TIME:PID/GPU#ID<CALL", where CALL is the start of the call that has the id
 * and the process of the op; then the DEVICE rows. */
static struct vpt_collect *c;
static uint32_t owners[26];
static int owner_known[26];

static void put_call(int64_t pid, uint64_t at, uint64_t id, const char *name)
{
	struct vpt_call call = {.start_ns = at,
		.duration_ns = 5,
		.id = vpt_call_find(name, strlen(name)),
		.correlation = id};

	vpt_collect_put(c, VPT_CALL, vpt_collect_thread(c, pid, pid), &call);
}

static uint64_t lane_of(const char *who, int64_t gpu)
{
	int letter = *who - 'A';
	long pid = -1;

	if (letter < 0 || letter > 25) {
		assert_int_equal(sscanf(who, "%ld", &pid), 1);
		return vpt_collect_stream(c, pid, gpu, 1, 7);
	}
	if (!owner_known[letter])
		owners[letter] = vpt_collect_owner(c);
	owner_known[letter] = 1;
	return vpt_collect_owned_stream(c, owners[letter], gpu, 1, 7);
}

static void put_op(const char *who, int64_t gpu, uint64_t at, uint64_t id)
{
	struct vpt_config config = {0};
	struct vpt_kernel kernel = {.start_ns = at,
		.duration_ns = 10,
		.config = vpt_collect_config(c, &config),
		.correlation = id};

	vpt_collect_put(c, VPT_KERNEL, lane_of(who, gpu), &kernel);
}

static void put_gpu(int64_t pid, uint64_t gpu, const char *uuid)
{
	struct vpt_device row = {.device = gpu, .uuid = vpt_collect_string(c, uuid, strlen(uuid))};

	vpt_collect_device(c, pid, &row);
}

static void put_all(const char *trace)
{
	char who[8], uuid[8];
	unsigned long long at, id;
	long gpu;
	int used;

	while (*trace) {
		if (sscanf(trace, "call %7[^@]@%llu#%llu %n", who, &at, &id, &used) == 3)
			put_call(strtol(who, NULL, 10), at, id, "cudaLaunchKernel");
		else if (sscanf(trace, "graph %7[^@]@%llu#%llu %n", who, &at, &id, &used) == 3)
			put_call(strtol(who, NULL, 10), at, id, "cudaGraphLaunch");
		else if (sscanf(trace, "sync %7[^@]@%llu#%llu %n", who, &at, &id, &used) == 3)
			put_call(strtol(who, NULL, 10), at, id, "cudaDeviceSynchronize");
		else if (sscanf(trace, "op %7[^/]/%ld@%llu#%llu %n", who, &gpu, &at, &id, &used) ==
			 4)
			put_op(who, gpu, at, id);
		else if (sscanf(trace, "gpu %7[^/]/%ld=%7s %n", who, &gpu, uuid, &used) == 3)
			put_gpu(strtol(who, NULL, 10), (uint64_t)gpu, uuid);
		else
			fail_msg("cannot read: %s", trace);
		trace += used;
	}
}

static uint64_t lane_column(const struct vpt_batch *b, uint64_t key, int column)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_LANE);
	uint32_t row;

	for (row = 0; s && row < s->row_count; row++)
		if (s->col[VPT_LANE_KEY][row] == key)
			return s->col[column][row];
	fail_msg("no lane %" PRIu64, key);
	return 0;
}

static long call_of(const struct vpt_batch *b, uint64_t pid, uint64_t id)
{
	size_t i;
	uint32_t row;

	for (i = 0; i < b->section_count; i++) {
		const struct vpt_section *s = &b->sections[i];

		for (row = 0; s->kind == VPT_CALL && row < s->row_count; row++)
			if (id && s->col[VPT_CALL_CORRELATION][row] == id &&
				((int64_t)pid == -1 ||
					lane_column(b, s->lane, VPT_LANE_PID) == pid))
				return (long)s->col[VPT_CALL_START][row];
	}
	return -1;
}

static void describe_op(const struct vpt_batch *b, uint64_t at, char *out, size_t size)
{
	size_t i, used;
	uint32_t row;

	for (i = 0; i < b->section_count; i++) {
		const struct vpt_section *s = &b->sections[i];

		for (row = 0; s->kind == VPT_KERNEL && row < s->row_count; row++) {
			uint64_t id = s->col[VPT_KERNEL_CORRELATION][row], pid;
			long call;

			if (s->col[VPT_KERNEL_START][row] != at)
				continue;
			pid = lane_column(b, s->lane, VPT_LANE_PID);
			call = call_of(b, pid, id);
			used = strlen(out);
			snprintf(out + used, size - used, "%s%" PRIu64 ":%" PRId64 "/%" PRIu64,
				used ? " " : "", at, (int64_t)pid,
				lane_column(b, s->lane, VPT_LANE_DEVICE));
			used = strlen(out);
			if (call >= 0)
				snprintf(out + used, size - used, "<%ld", call);
		}
	}
}

static void describe(const struct vpt_batch *b, char *out, size_t size)
{
	const struct vpt_section *gpus = vpt_batch_find(b, VPT_DEVICE);
	uint64_t at;
	uint32_t row;
	size_t used;

	*out = '\0';
	for (at = 0; at < 2000; at++)
		describe_op(b, at, out, size);
	for (row = 0; gpus && row < gpus->row_count; row++) {
		struct vpt_text uuid = vpt_batch_text(b, gpus->col[VPT_DEVICE_UUID][row]);

		used = strlen(out);
		snprintf(out + used, size - used, " %" PRIu64 "=%.*s",
			gpus->col[VPT_DEVICE_DEVICE][row], (int)uuid.len, uuid.text);
	}
}

static const struct {
	const char *rule, *trace, *found;
	uint64_t unclear, mixed;
} cases[] = {
	{"of one process nothing changes", "call 1@10#1 call 1@20#2 op -1/0@30#1 op -1/0@40#2",
		"30:-1/0<10 40:-1/0<20", 0, 0},
	{"of one process an owner need not be known", "call 1@10#1 op A/0@30#1 op B/1@40#9",
		"30:-1/0<10 40:-1/1", 0, 0},
	{"two sessions of a process", "call 1@10#1 op -1/0@20#1 call 1@100#1 op -1/0@120#1",
		"20:-1/0<10 120:-1/0<100", 0, 0},
	{"two sessions, the first without its op", "call 1@10#1 call 1@100#1 op -1/0@120#1",
		"120:-1/0<100", 0, 0},
	{"three sessions, ops first in the file",
		"op -1/0@220#1 op -1/0@20#1 op -1/0@120#1 call 1@200#1 call 1@100#1 call 1@10#1",
		"20:-1/0<10 120:-1/0<100 220:-1/0<200", 0, 0},
	{"a wait with the id of a launch is no launch",
		"call 1@10#1 op -1/0@200#1 sync 1@100#1 call 1@300#1 op -1/0@310#1",
		"200:-1/0<10 310:-1/0<300", 0, 0},
	{"a graph's launch puts several ops in each session",
		"graph 1@10#1 op -1/0@20#1 op -1/0@30#1 graph 1@100#1 op -1/0@110#1 op -1/0@120#1",
		"20:-1/0<10 30:-1/0<10 110:-1/0<100 120:-1/0<100", 0, 0},
	{"known processes with equal ids", "call 1@10#1 call 2@11#1 op 1/0@30#1 op 2/1@31#1",
		"30:1/0<10 31:2/1<11", 0, 0},
	{"known processes that both call their GPU 0",
		"call 1@10#1 call 2@11#1 op 1/0@30#1 op 2/0@31#1", "30:1/0<10 31:2/1<11", 0, 0},
	{"owners are found by the ids that only one process has",
		"call 1@10#1 call 2@11#2 op A/0@30#1 op B/0@31#2", "30:1/0<10 31:2/1<11", 0, 0},
	{"owners are found by time", "call 1@10#1 op A/0@20#1 call 2@30#1 op B/0@40#1",
		"20:1/0<10 40:2/1<30", 0, 0},
	{"one certain op decides about its owner's others",
		"call 1@10#1 call 2@11#1 call 1@12#2 op A/0@50#1 op A/0@60#2 op B/0@70#1",
		"50:1/0<10 60:1/0<12 70:2/1<11", 0, 0},
	{"what remains is the other owner's",
		"call 1@10#1 call 2@11#1 call 1@12#2 op B/0@50#1 op A/0@60#1 op A/0@70#2",
		"50:2/0<11 60:1/1<10 70:1/1<12", 0, 0},
	{"owners that cannot be told apart lose their launches, not their times",
		"call 1@10#1 call 2@11#1 op A/0@30#1 op B/1@31#1", "30:-1/0 31:-1/1", 2, 0},
	{"and stay two GPUs", "call 1@10#1 call 2@11#1 op A/0@30#1 op B/0@31#1", "30:-1/0 31:-1/1",
		2, 0},
	{"an owner of two processes is divided if each op is certain",
		"call 1@10#1 op A/0@20#1 call 2@21#1 op A/0@22#1 call 1@30#2 op A/0@40#2 "
		"call 2@50#2 op A/0@60#2",
		"20:1/0<10 22:2/1<21 40:1/0<30 60:2/1<50", 0, 0},
	{"else its ops are left out",
		"call 1@10#1 op A/0@11#1 call 2@12#1 op A/0@22#1 call 1@30#2 call 2@31#2 "
		"op A/0@40#2 op A/0@60#2",
		"", 0, 4},
	{"a GPU of two processes is one if its UUID says so",
		"gpu 1/0=X gpu 2/0=X call 1@10#1 call 2@11#1 op 1/0@30#1 op 2/0@31#1",
		"30:1/0<10 31:2/0<11 0=X", 0, 0},
	{"ordinals of two processes cross",
		"gpu 1/0=X gpu 1/1=Y gpu 2/0=Y gpu 2/1=X call 1@10#1 call 2@11#1 op 1/0@30#1 "
		"op 1/1@31#1 op 2/0@32#1 op 2/1@33#1",
		"30:1/0<10 31:1/1<10 32:2/1<11 33:2/0<11 0=X 1=Y", 0, 0},
	{"a new number is one that nobody uses",
		"call 1@10#1 call 2@11#1 op 1/0@30#1 op 2/0@31#1 op 2/1@32#1",
		"30:1/0<10 31:2/2<11 32:2/1<11", 0, 0},
	{"rows of no process describe the ranks in their order",
		"gpu -1/0=X gpu -1/0=Y call 1@10#1 call 2@11#1 op 1/0@30#1 op 2/0@31#1",
		"30:1/0<10 31:2/1<11 0=X 1=Y", 0, 0},
};

static void processes_are_told_apart(void **state)
{
	struct vpt_batch batch;
	struct vpt_err err = {0};
	char found[1000];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		c = vpt_collect_new();
		memset(owner_known, 0, sizeof(owner_known));
		put_all(cases[i].trace);
		assert_int_equal(vpt_collect_finish(c, &err), 0);
		vpt_batch_init(&batch);
		assert_int_equal(vpt_collect_chunk(c, 0, &batch, &err), 0);
		describe(&batch, found, sizeof(found));
		if (strcmp(found, cases[i].found) != 0)
			fail_msg("%s: expected \"%s\", found \"%s\"", cases[i].rule, cases[i].found,
				found);
		assert_int_equal(vpt_collect_doubts(c)->unclear_ops, cases[i].unclear);
		assert_int_equal(vpt_collect_doubts(c)->mixed_ops, cases[i].mixed);
		vpt_batch_free(&batch);
		vpt_collect_free(c);
	}
}

/* An id that every call has, and many processes, cost no more than their number. */
static void hostile_ids_take_linear_time(void **state)
{
	struct vpt_err err = {0};
	uint64_t i;

	(void)state;
	c = vpt_collect_new();
	memset(owner_known, 0, sizeof(owner_known));
	for (i = 0; i < 200000; i++) {
		put_call((int64_t)(i % 50000), i * 10, 1, "cudaLaunchKernel");
		put_op(i & 1 ? "A" : "B", (int64_t)(i % 2000), i * 10 + 5, 1);
	}
	assert_int_equal(vpt_collect_finish(c, &err), 0);
	assert_int_equal(vpt_collect_doubts(c)->unclear_ops, 200000);
	vpt_collect_free(c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_are_told_apart),
		cmocka_unit_test(hostile_ids_take_linear_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
