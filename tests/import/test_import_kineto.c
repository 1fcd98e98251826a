/* test_import_kineto.c - whole documents of the PyTorch profiler: what stands around the events,
 * tears, gzip, and what is no trace at all.
 *
 * Documents stand here with single quotes, which the rig makes double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef VPT_HAVE_KINETO

#include "formats/base/cost_limits.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/traces/kineto_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* ---- what stands around the events ---- */

#define ONE_KERNEL                                                                                 \
	"{'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': "                     \
	"5, 'dur': 1}"
#define ABOUT                                                                                      \
	"'schemaVersion': 1, 'deviceProperties': [{'id': 1, 'name': 'NVIDIA H100', "               \
	"'totalGlobalMem': 84990623744, 'computeMajor': 9, 'computeMinor': 0, "                    \
	"'maxThreadsPerMultiprocessor': 2048, 'regsPerMultiprocessor': 65536, "                    \
	"'sharedMemPerMultiprocessor': 233472, 'numSms': 132}, {'name': 'no id'}], "               \
	"'INFO': ['a ] } \\' b', {'x': [[]]}], 'distributedInfo': {'backend': "                    \
	"'nccl', 'rank': 3, "                                                                      \
	"'world_size': 16}, 'cuda_runtime_version': 12040, 'cuda_driver_version': 12090, "         \
	"'cupti_version': 22, 'traceName': 'run.json', 'with_stack': 1, "                          \
	"'baseTimeNanoseconds': 1751410836000000000"

static void a_gpu_without_a_name_is_amds_by_its_waves(void **state)
{
	(void)state;
	assert_int_equal(
		rig_text("{'deviceProperties': [{'id': 0, 'name': '', 'computeMajor': 9, "
			 "'computeMinor': 4, 'warpSize': 64}], 'traceEvents': [" ONE_KERNEL "]}"),
		0);
	rig_expect_text(rig_value(VPT_DEVICE, VPT_DEVICE_NAME), "AMD GPU", 7);
	assert_int_equal(
		rig_text("{'deviceProperties': [{'id': 0, 'name': '', 'computeMajor': 9, "
			 "'computeMinor': 0, 'warpSize': 32}], 'traceEvents': [" ONE_KERNEL "]}"),
		0);
	rig_expect_text(rig_value(VPT_DEVICE, VPT_DEVICE_NAME), "", 0);
	rig_drop();
}

static void what_is_known_of_the_run_may_stand_before_or_behind_the_events(void **state)
{
	static const char *const documents[] = {
		"{" ABOUT ", 'traceEvents': [" ONE_KERNEL "]}",
		"{'traceEvents': [" ONE_KERNEL "], " ABOUT "}",
		"\xef\xbb\xbf\n{ 'traceEvents' : [" ONE_KERNEL ",] ," ABOUT "} \n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(documents); i++) {
		assert_int_equal(rig_text(documents[i]), 0);
		assert_int_equal(rig.stats.truncated + (int)rig.stats.malformed, 0);
		assert_int_equal(vpt_collect_header(rig.collect)->t0_ns, 5000);
		assert_int_equal(vpt_collect_header(rig.collect)->t0_unix_ns, 1751410836000005000);
		assert_int_equal(rig_rows(VPT_KERNEL), 1);
		assert_int_equal(rig_rows(VPT_DEVICE), 1);
		assert_int_equal(rig_value(VPT_DEVICE, VPT_DEVICE_DEVICE), 1);
		rig_expect_text(rig_value(VPT_DEVICE, VPT_DEVICE_NAME), "NVIDIA H100", 11);
		assert_int_equal(rig_value(VPT_DEVICE, VPT_DEVICE_COMPUTE_MAJOR), 9);
		assert_int_equal(rig_value(VPT_DEVICE, VPT_DEVICE_SM_COUNT), 132);
		assert_int_equal(rig_value(VPT_DEVICE, VPT_DEVICE_SM_THREADS), 2048);
		assert_int_equal(rig_value(VPT_DEVICE, VPT_DEVICE_SM_REGISTERS), 65536);
		assert_int_equal(rig_value(VPT_DEVICE, VPT_DEVICE_SM_SHARED), 233472);
		assert_int_equal(rig_value(VPT_DEVICE, VPT_DEVICE_MEMORY), 84990623744);
		assert_string_equal(rig_meta("source"), "PyTorch profiler (Kineto)");
		assert_string_equal(rig_meta("rank"), "3");
		assert_string_equal(rig_meta("world_size"), "16");
		assert_string_equal(rig_meta("backend"), "nccl");
		assert_string_equal(rig_meta("cuda_runtime"), "12040");
		assert_string_equal(rig_meta("cuda_driver"), "12090");
		assert_string_equal(rig_meta("cupti"), "22");
		assert_string_equal(rig_meta("torch_with_stack"), "1");
		assert_string_equal(rig_meta("trace_name"), "run.json");
	}
	rig_drop();
}

static void the_host_has_a_name_in_old_and_new_versions(void **state)
{
	(void)state;
	assert_int_equal(rig_text("{'hostname': 'node1', 'traceEvents': [" ONE_KERNEL "]}"), 0);
	assert_string_equal(rig_meta("host"), "node1");
	assert_int_equal(rig_text("{'host_name': 'node2', 'traceEvents': [" ONE_KERNEL "]}"), 0);
	assert_string_equal(rig_meta("host"), "node2");
	rig_drop();
}

static void absolute_times_need_no_offset(void **state)
{
	(void)state;
	assert_int_equal(rig_text("{'baseTimeNanoseconds': 1751410836000000000, 'traceEvents': "
				  "[{'ph': 'X', 'cat': 'cpu_op', 'name': 'a', 'pid': 1, 'tid': 1, "
				  "'ts': 1712867402348289, 'dur': 1}]}"),
		0);
	assert_int_equal(vpt_collect_header(rig.collect)->t0_ns, 1712867402348289000);
	assert_int_equal(vpt_collect_header(rig.collect)->t0_unix_ns, 1712867402348289000);
	rig_drop();
}

static void a_bare_array_of_events_is_a_trace(void **state)
{
	(void)state;
	assert_int_equal(rig_text(" [" ONE_KERNEL ", " ONE_KERNEL "]"), 0);
	assert_int_equal(rig_rows(VPT_KERNEL), 2);
	assert_int_equal(rig_text("[]"), 0);
	assert_int_equal(rig.stats.events, 0);
	assert_int_equal(rig_text("{'traceEvents': []}"), 0);
	assert_int_equal(rig.stats.truncated, 0);
	rig_drop();
}

/* ---- what is no trace, or half of one ---- */

static void what_is_no_trace_is_refused_with_the_reason(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{"", "end of the file at byte 0"},
		{"  \n", "end of the file at byte 3"},
		{"hello", "expected '{' or '['"},
		{"\x89PNG\r\n", "found byte 0x89"},
		{"{}", "expected a member traceEvents"},
		{"{'events': [1, 2]}", "expected a member traceEvents"},
		{"{'traceEvents': {}}", "expected '[' of the traceEvents array at byte 16"},
		{"{'traceEvents'", "end of the file at byte 14"},
		{"{traceEvents: []}", "expected a member's name or '}' at byte 1"},
		{"{'a' 1}", "expected ':' after a member's name at byte 5"},
		{"{'rank': 1]", "expected ',' or '}' after a member"},
		{"{'traceName': ]", "invalid JSON at byte 14"},
		{"{'a': [[[['", "end of the file at byte 11"},
		{"'a string'", "expected '{' or '['"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		int rc = rig_text(cases[i].text);

		if (rc != VPT_EDATA || !strstr(rig.err.text, cases[i].words))
			fail_msg("%s: %d '%s'", cases[i].text, rc, rig.err.text);
	}
	rig_drop();
}

static void what_came_before_the_tear_is_kept(void **state)
{
	static const struct {
		const char *rule, *text;
		int events;
	} cases[] = {
		{"inside an event", "{'traceEvents': [" ONE_KERNEL ", {'ph': 'X', 'ca", 1},
		{"between events", "{'traceEvents': [" ONE_KERNEL ",", 1},
		{"before the array ends", "{'traceEvents': [" ONE_KERNEL, 1},
		{"behind the array", "{'traceEvents': [" ONE_KERNEL "], 'trace", 1},
		{"behind an event that is skipped",
			"{'traceEvents': [" ONE_KERNEL ", {'ph': 't', 'id': ''}, ", 2},
		{"inside an event that is skipped",
			"{'traceEvents': [" ONE_KERNEL ", {'ph': 't', 'id': '", 1},
		{"inside the name of a thread", "[" ONE_KERNEL ", {'ph': 'M', 'args': {'name': 'a",
			1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpt_import_stats want = {
			.events = (uint64_t)cases[i].events, .truncated = 1};

		want.skipped = want.events - 1;
		if (rig_text(cases[i].text))
			fail_msg("%s: %s", cases[i].rule, rig.err.text);
		rig_expect_stats(cases[i].rule, &want);
		assert_int_equal(rig_rows(VPT_KERNEL), 1);
	}
	rig_drop();
}

static void every_beginning_of_a_document_is_read_as_far_as_it_goes(void **state)
{
	static const char text[] =
		"{" ABOUT ", 'traceEvents': [" ONE_KERNEL
		", {'ph': 's', 'cat': 'ac2g'}, " ONE_KERNEL "], 'trace_id': '7'}";
	const char *begun = strstr(text, "traceEvents': [") + strlen("traceEvents': [");
	size_t size, last = 0;

	(void)state;
	for (size = 0; size < sizeof(text) - 1; size++) {
		int rc = rig_json(text, size);

		if (rc != (text + size < begun ? VPT_EDATA : 0))
			fail_msg("%zu bytes: %d %s", size, rc, rig.err.text);
		if (rc)
			continue;
		assert_int_equal(rig.stats.truncated, 1);
		assert_true(rig.stats.events >= last);
		last = rig.stats.events;
	}
	assert_int_equal(last, 3);
	assert_int_equal(rig_json(text, sizeof(text) - 1), 0);
	assert_int_equal(rig.stats.truncated, 0);
	rig_drop();
}

static void text_behind_the_document_is_counted(void **state)
{
	(void)state;
	assert_int_equal(rig_text("[" ONE_KERNEL "] \n\t "), 0);
	assert_int_equal(rig.stats.malformed, 0);
	assert_int_equal(rig_text("[" ONE_KERNEL "] and more {"), 0);
	assert_int_equal(rig.stats.unreadable, 1);
	assert_int_equal(rig.stats.truncated, 0);
	assert_int_equal(rig_rows(VPT_KERNEL), 1);
	rig_drop();
}

static void deep_and_long_values_are_limited_where_they_are_needed(void **state)
{
	enum { DEEP = 100000, LONG = 17 << 20 };
	char *text = malloc(LONG + 4096);
	int at;

	(void)state;
	assert_non_null(text);
	at = sprintf(text, "{'unknown': ");
	memset(text + at, '[', DEEP);
	memset(text + at + DEEP, ']', DEEP);
	sprintf(text + at + 2 * DEEP, ", 'traceEvents': [" ONE_KERNEL "]}");
	assert_int_equal(rig_text(text), 0);
	assert_int_equal(rig.stats.truncated, 0);
	assert_int_equal(rig_rows(VPT_KERNEL), 1);

	at = sprintf(text, "[" ONE_KERNEL ", {'ph': 'X', 'args': ");
	memset(text + at, '[', DEEP);
	memset(text + at + DEEP, ']', DEEP);
	sprintf(text + at + 2 * DEEP, "}]");
	assert_int_equal(rig_text(text), 0);
	assert_int_equal(rig.stats.unreadable, 1);
	assert_int_equal(rig_rows(VPT_KERNEL), 1);

	at = sprintf(text, "[" ONE_KERNEL ", {'ph': 'X', 'name': '");
	memset(text + at, 'n', LONG);
	sprintf(text + at + LONG, "'}]");
	assert_int_equal(rig_text(text), 0);
	assert_int_equal(rig.stats.unreadable, 1);
	assert_int_equal(rig.stats.truncated, 0);
	assert_int_equal(rig.stats.events, 1);
	free(text);
	rig_drop();
}

/* Each of "{}," takes many times its size in memory. */
static void a_value_of_very_many_parts_is_limited(void **state)
{
	enum { PARTS = 1 << 20 };
	char *text = malloc(3 * PARTS + 4096);
	int at = sprintf(text, "[" ONE_KERNEL ", {'ph': 'X', 'args': ["), i;

	(void)state;
	for (i = 0; i < PARTS; i++, at += 3)
		memcpy(text + at, "{},", 3);
	sprintf(text + at, "0]}]");
	assert_int_equal(rig_text(text), 0);
	assert_int_equal(rig.stats.unreadable, 1);
	assert_int_equal(rig_rows(VPT_KERNEL), 1);
	free(text);
	rig_drop();
}

/* Blocks of text end anywhere: in a number, an escape, a key, an event that is skipped. */
static void an_event_may_stand_across_blocks(void **state)
{
	static const char events[] =
		"{'ph': 's', 'cat': 'ac2g', 'name': 'a\\'}'}, {'ph': 'X', 'cat': 'kernel', 'name': "
		"'\\u00e9', 'pid': 0, 'tid': 7, 'ts': 1365627862757.064, 'dur': 1.25}]";
	enum { BLOCK = 256 << 10 };
	char *text = malloc(BLOCK + sizeof(events));
	size_t before;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', BLOCK);
	text[0] = '[';
	for (before = 1; before < sizeof(events); before++) {
		memcpy(text + BLOCK - before, events, sizeof(events));
		assert_int_equal(rig_text(text), 0);
		if (rig.stats.truncated || rig.stats.skipped != 1 || rig_rows(VPT_KERNEL) != 1)
			fail_msg("%zu bytes before the edge", before);
		assert_int_equal(rig_value(VPT_KERNEL, VPT_KERNEL_START), 1365627862757064);
		assert_int_equal(rig_value(VPT_KERNEL, VPT_KERNEL_DURATION), 1250);
	}
	free(text);
	rig_drop();
}

/* ---- gzip ---- */

/* Appends `text` as one gzip member; returns the new size. */
static size_t put_member(unsigned char *out, size_t size, size_t cap, const char *text, size_t len)
{
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)text;
	z.avail_in = (uInt)len;
	z.next_out = out + size;
	z.avail_out = (uInt)(cap - size);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	size += z.total_out;
	deflateEnd(&z);
	return size;
}

static void gzip_in_one_or_more_members_is_one_text(void **state)
{
	char text[] = "{'traceEvents': [" ONE_KERNEL ", " ONE_KERNEL "]}\n";
	unsigned char packed[4096];
	size_t cut, size;

	(void)state;
	rig_quote(text, sizeof(text));
	for (cut = 0; cut < sizeof(text); cut += 7) {
		size = put_member(packed, 0, sizeof(packed), text, cut);
		size = put_member(packed, size, sizeof(packed), text + cut, sizeof(text) - 1 - cut);
		memset(packed + size, 0, 64);
		assert_int_equal(rig_bytes(packed, size + (cut % 2 ? 64 : 0)), 0);
		assert_int_equal(rig.stats.truncated + (int)rig.stats.malformed, 0);
		assert_int_equal(rig_rows(VPT_KERNEL), 2);
	}
	rig_drop();
}

static void what_follows_a_gzip_is_told(void **state)
{
	static const struct {
		const char *rule, *after;
		size_t size;
		uint64_t bytes;
		int another;
	} cases[] = {
		{"nothing", "", 0, 0, 0},
		{"zeros", "\0\0\0\0\0\0\0\0", 8, 0, 0},
		{"zeros and garbage", "\0\0garbage", 9, 7, 0},
		{"garbage", "garbage", 7, 7, 0},
		{"half a magic", "\x1f", 1, 0, 0},
		{"zeros and another gzip", "\0\0\0\x1f\x8b\x08", 6, 3, 1},
	};
	char text[] = "{'traceEvents': [" ONE_KERNEL "]}";
	unsigned char packed[4096];
	size_t size, i;

	(void)state;
	rig_quote(text, sizeof(text));
	for (i = 0; i < COUNT(cases); i++) {
		size = put_member(packed, 0, sizeof(packed), text, sizeof(text) - 1);
		memcpy(packed + size, cases[i].after, cases[i].size);
		assert_int_equal(rig_bytes(packed, size + cases[i].size), 0);
		if (rig.stats.after_gzip != cases[i].bytes ||
			rig.stats.another_gzip != cases[i].another)
			fail_msg("%s: %u bytes, another: %d", cases[i].rule,
				(unsigned)rig.stats.after_gzip, rig.stats.another_gzip);
		assert_int_equal(rig_rows(VPT_KERNEL), 1);
	}
	rig_drop();
}

static size_t put_frame(unsigned char *out, size_t size, size_t cap, const char *text, size_t len)
{
	size_t made = ZSTD_compress(out + size, cap - size, text, len, 3);

	assert_false(ZSTD_isError(made));
	return size + made;
}

static void zstd_in_one_or_more_frames_is_one_text(void **state)
{
	static const unsigned char skippable[] = {0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 'x', 'y'};
	char text[] = "{'traceEvents': [" ONE_KERNEL ", " ONE_KERNEL "]}\n";
	unsigned char packed[4096];
	size_t cut, size;

	(void)state;
	rig_quote(text, sizeof(text));
	for (cut = 0; cut < sizeof(text); cut += 7) {
		size = cut % 2 ? sizeof(skippable) : 0;
		memcpy(packed, skippable, size);
		size = put_frame(packed, size, sizeof(packed), text, cut);
		size = put_frame(packed, size, sizeof(packed), text + cut, sizeof(text) - 1 - cut);
		assert_int_equal(rig_bytes(packed, size), 0);
		assert_int_equal(rig.stats.truncated + (int)rig.stats.malformed, 0);
		assert_int_equal(rig_rows(VPT_KERNEL), 2);
		/* All is there, but for the last block. */
		assert_int_equal(rig_bytes(packed, size - 1), cut < 18 ? VPT_EDATA : 0);
		assert_int_equal(rig.stats.truncated, cut >= 18);
	}
	rig_drop();
}

/* Text beyond what such a file may unpack to, unless its reader gives more memory. */
static void a_bomb_is_refused(void **state)
{
	enum { TEXT = 64 << 20 };
	char *text = malloc(TEXT);
	unsigned char packed[TEXT / 512];
	size_t size;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', TEXT);
	text[0] = '[';
	text[TEXT - 1] = ']';
	size = put_member(packed, 0, sizeof(packed), text, TEXT);
	assert_int_equal(rig_bytes(packed, size), VPT_ENOMEM);
	assert_non_null(strstr(rig.err.text, "--memory"));
	vpt_limits_memory(TEXT);
	assert_int_equal(rig_bytes(packed, size), 0);
	free(text);
	rig_drop();
}

static void half_a_gzip_gives_what_is_there(void **state)
{
	enum { EVENTS = 2000, TEXT = EVENTS * 128 };
	unsigned char *packed = malloc(TEXT);
	char *text = malloc(TEXT);
	size_t size, at, last = 0;
	int i;

	(void)state;
	assert_non_null(packed);
	assert_non_null(text);
	at = (size_t)sprintf(text, "{'traceEvents': [");
	for (i = 0; i < EVENTS; i++)
		at += (size_t)sprintf(text + at,
			"%s{'ph':'X','cat':'kernel','name':'k%d','pid':0,'tid':7,'ts':%d, 'dur': "
			"0}",
			i ? "," : "", (int)(2654435761u * (unsigned)i % 9973), i * 31);
	at += (size_t)sprintf(text + at, "]}");
	rig_quote(text, at);
	size = put_member(packed, 0, TEXT, text, at);
	for (i = 2; i <= 7; i++) {
		assert_int_equal(rig_bytes(packed, size * (size_t)i / 8), 0);
		assert_int_equal(rig.stats.truncated, 1);
		assert_true(rig_rows(VPT_KERNEL) > last && rig_rows(VPT_KERNEL) < EVENTS);
		last = rig_rows(VPT_KERNEL);
	}
	/* All is there, but for the checksum. */
	assert_int_equal(rig_bytes(packed, size - 1), 0);
	assert_int_equal(rig.stats.truncated, 1);
	assert_int_equal(rig_rows(VPT_KERNEL), EVENTS);
	packed[size - 6] ^= 1;
	assert_int_equal(rig_bytes(packed, size), 0);
	assert_int_equal(rig.stats.truncated, 1);
	packed[size - 6] ^= 1;
	assert_int_equal(rig_bytes(packed, size), 0);
	assert_int_equal(rig.stats.truncated, 0);
	assert_int_equal(rig_rows(VPT_KERNEL), EVENTS);
	free(packed);
	free(text);
	rig_drop();
}

static void a_gzip_of_something_else_is_refused(void **state)
{
	unsigned char packed[256];
	size_t size = put_member(packed, 0, sizeof(packed), "hello, world", 12);

	(void)state;
	assert_int_equal(rig_bytes(packed, size), VPT_EDATA);
	assert_non_null(strstr(rig.err.text, "byte 0 of the decompressed text"));
	size = put_member(packed, 0, sizeof(packed), "", 0);
	assert_int_equal(rig_bytes(packed, size), VPT_EDATA);
	assert_non_null(strstr(rig.err.text, "gzip ends after 0 bytes"));
	assert_int_equal(rig_bytes("\x1f\x8b", 2), VPT_EDATA);
	assert_non_null(strstr(rig.err.text, "truncated after 0 bytes"));
	assert_int_equal(rig_bytes("\x1f\x8b garbage garbage", 18), VPT_EDATA);
	assert_non_null(strstr(rig.err.text, "damaged"));
	rig_drop();
}

static void the_probe_looks_at_the_first_bytes(void **state)
{
	static const struct {
		const char *head;
		size_t size;
		int yes;
	} cases[] = {
		{"\x1f\x8b\x08", 3, 1},
		{"{", 1, 1},
		{"\n\t [", 4, 1},
		{"\xef\xbb\xbf {", 5, 1},
		{"", 0, 0},
		{"   ", 3, 0},
		{"\x1f", 1, 0},
		{"SQLite format 3", 15, 0},
		{"VPTRACE\n", 8, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		if (vpt_import_kineto.probe((const unsigned char *)cases[i].head, cases[i].size) !=
			cases[i].yes)
			fail_msg("'%s'", cases[i].head);
}

/* ---- failures from outside ---- */

static int reads_left;

static int failing_read(struct vpt_source *src, uint64_t offset, void *buf, size_t size,
	size_t *got, struct vpt_err *e)
{
	(void)src, (void)offset, (void)buf, (void)size;
	*got = 0;
	if (!reads_left)
		return vpt_fail(e, VPT_EIO, "the disk is gone");
	reads_left--;
	memset(buf, '[', size);
	*got = size;
	return 0;
}

static void a_source_that_cannot_be_read_is_an_error_of_reading(void **state)
{
	struct vpt_source src = {.read_at = failing_read, .size_bytes = 1 << 20, .name = "broken"};

	(void)state;
	for (reads_left = 0; reads_left < 2;) {
		int allowed = reads_left;

		assert_int_equal(rig_import(&src), VPT_EIO);
		assert_string_equal(rig.err.text, "the disk is gone");
		reads_left = allowed + 1;
	}
	rig_drop();
}

static int allocations_left;

static void *failing_resize(void *ptr, size_t size)
{
	return allocations_left-- > 0 ? realloc(ptr, size) : NULL;
}

static const struct vpt_memory_ops failing_memory = {failing_resize, free};

static void no_memory_is_reported_wherever_it_runs_out(void **state)
{
	char text[] = "[" ONE_KERNEL ", {'ph': 'X', 'cat': 'cpu_op', 'name': 'n', 'pid': 1, 'tid': "
		      "1, 'ts': 2, 'dur': 0}]";
	unsigned char packed[1024];
	int allowed, rc = VPT_ENOMEM;
	size_t size;

	(void)state;
	rig_drop();
	rig_quote(text, sizeof(text));
	size = put_member(packed, 0, sizeof(packed), text, sizeof(text) - 1);
	for (allowed = 0; rc; allowed++) {
		struct vpt_collect *c = vpt_collect_new();
		struct vpt_source *src;

		assert_non_null(c);
		assert_int_equal(vpt_source_memory(packed, size, &src, &rig.err), 0);
		allocations_left = allowed;
		vpt_memory_use(&failing_memory);
		rc = vpt_import_kineto.read(src, c, &rig.stats, &rig.err);
		if (!rc)
			rc = vpt_collect_finish(c, &rig.err);
		vpt_memory_use(NULL);
		vpt_collect_free(c);
		vpt_source_close(src);
		if (rc && rc != VPT_ENOMEM)
			fail_msg("%d allocations: %d %s", allowed, rc, rig.err.text);
	}
	assert_true(allowed > 5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gpu_without_a_name_is_amds_by_its_waves),
		cmocka_unit_test(what_is_known_of_the_run_may_stand_before_or_behind_the_events),
		cmocka_unit_test(the_host_has_a_name_in_old_and_new_versions),
		cmocka_unit_test(absolute_times_need_no_offset),
		cmocka_unit_test(a_bare_array_of_events_is_a_trace),
		cmocka_unit_test(what_is_no_trace_is_refused_with_the_reason),
		cmocka_unit_test(what_came_before_the_tear_is_kept),
		cmocka_unit_test(every_beginning_of_a_document_is_read_as_far_as_it_goes),
		cmocka_unit_test(text_behind_the_document_is_counted),
		cmocka_unit_test(deep_and_long_values_are_limited_where_they_are_needed),
		cmocka_unit_test(an_event_may_stand_across_blocks),
		cmocka_unit_test(a_value_of_very_many_parts_is_limited),
		cmocka_unit_test(gzip_in_one_or_more_members_is_one_text),
		cmocka_unit_test(half_a_gzip_gives_what_is_there),
		cmocka_unit_test(a_gzip_of_something_else_is_refused),
		cmocka_unit_test(what_follows_a_gzip_is_told),
		cmocka_unit_test(zstd_in_one_or_more_frames_is_one_text),
		cmocka_unit_test(the_probe_looks_at_the_first_bytes),
		cmocka_unit_test(a_source_that_cannot_be_read_is_an_error_of_reading),
		cmocka_unit_test(no_memory_is_reported_wherever_it_runs_out),
		cmocka_unit_test(a_bomb_is_refused), /* raises the bound */
	};

	vpt_limits_memory(0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	print_message("SKIPPED: built without zlib\n");
	return 77;
}

#endif
