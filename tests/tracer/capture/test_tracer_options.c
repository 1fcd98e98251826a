/* test_tracer_options.c - what a capture is asked to be, and how its file is called. Every test
 * begins without any variable that the tracer reads.
 * Long, since each option is a case in the same empty environment. */
#include "tracer/settings/capture_options.h"

#include "formats/base/count.h"
#include "tests/support/skip.h"
#include "tracer/guest/environment.h"
#include "tracer/settings/output_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static struct vpt_err err;
static struct vtr_options got;

static int clean_environment(void **state)
{
	static const char *const names[] = {"VPTRACE_OUTPUT", "VPTRACE_OVERWRITE",
		"VPTRACE_PROFILE", "VPTRACE_MEMORY", "VPTRACE_FLUSH_MS", "VPTRACE_STOP_MS",
		"VPTRACE_LEVEL", "VPTRACE_LIBCUPTI", "VPTRACE_SYNC", "VPTRACE_DEVICE_BUFFERS",
		"VPTRACE_COUNTERS", "VPTRACE_STACKS", "RANK", "OMPI_COMM_WORLD_RANK",
		"SLURM_PROCID", "SLURM_STEP_ID", "PMI_RANK", "PMIX_RANK", "TAG", "EMPTY"};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(names); i++)
		unsetenv(names[i]);
	memset(&err, 0, sizeof(err));
	return 0;
}

static struct vptrace_options given(void)
{
	return (struct vptrace_options){.struct_bytes = sizeof(struct vptrace_options)};
}

static void expect_failure(const char *rule, int rc, const char *words)
{
	static const struct vtr_options nothing;

	if (rc != VPT_EINVAL || strcmp(err.text, words))
		fail_msg("%s: expected %d \"%s\", found %d \"%s\"", rule, VPT_EINVAL, words, rc,
			err.text);
	if (memcmp(&got, &nothing, sizeof(got)))
		fail_msg("%s: options were set all the same", rule);
}

static void expect_defaults(void)
{
	char path[256];

	snprintf(path, sizeof(path), "vptrace-test_tracer_options-%ld.zst", (long)getpid());
	assert_string_equal(got.path, path);
	assert_string_equal(got.cupti_path, "");
	assert_int_equal(got.overwrite, 0);
	assert_int_equal(got.synchronize, 1);
	assert_int_equal(got.profile, VPTRACE_PROFILE_DEFAULT);
	assert_int_equal(got.memory_limit_bytes, 256 << 20);
	assert_int_equal(got.flush_interval_ms, 1000);
	assert_int_equal(got.stop_timeout_ms, 5000);
	assert_int_equal(got.compression_level, 1);
	assert_int_equal(got.device_buffers, 0);
	assert_int_equal(vtr_monitors_same(&got.monitors), 500);
	assert_false(got.monitors.wanted);
	assert_int_equal(got.stacks_hz, 200);
	assert_int_equal(got.rank, -1);
}

static void nothing_said_means_the_defaults(void **state)
{
	struct vptrace_options o = given();

	(void)state;
	assert_int_equal(vtr_options_resolve(NULL, &got, &err), VPT_OK);
	expect_defaults();
	memset(&got, 0xff, sizeof(got));
	assert_int_equal(vtr_options_resolve(&o, &got, &err), VPT_OK);
	expect_defaults();
	setenv("VPTRACE_MEMORY", "", 1);
	setenv("VPTRACE_OUTPUT", "", 1);
	o.path = o.cupti_path = "";
	assert_int_equal(vtr_options_resolve(&o, &got, &err), VPT_OK);
	expect_defaults();
}

static void fields_are_taken(void **state)
{
	struct vptrace_options o = {.struct_bytes = sizeof(o),
		.path = "/data/run.zst",
		.overwrite = 7,
		.profile = VPTRACE_PROFILE_COARSE,
		.memory_limit_bytes = 16 << 20,
		.flush_interval_ms = 3600000,
		.stop_timeout_ms = 1,
		.compression_level = -7,
		.cupti_path = "/opt/libcupti.so.13",
		.synchronize = -1,
		.device_buffers = 1000,
		.counters_ms = -1,
		.stacks_hz = -1};

	(void)state;
	assert_int_equal(vtr_options_resolve(&o, &got, &err), VPT_OK);
	assert_string_equal(got.path, "/data/run.zst");
	assert_string_equal(got.cupti_path, "/opt/libcupti.so.13");
	assert_int_equal(got.overwrite, 1);
	assert_int_equal(got.synchronize, 0);
	assert_int_equal(got.profile, VPTRACE_PROFILE_COARSE);
	assert_int_equal(got.memory_limit_bytes, 16 << 20);
	assert_int_equal(got.flush_interval_ms, 3600000);
	assert_int_equal(got.stop_timeout_ms, 1);
	assert_int_equal(got.device_buffers, 1000);
	assert_false(vtr_monitors_any(&got.monitors));
	assert_int_equal(got.stacks_hz, -1);
	assert_int_equal(got.compression_level, -7);
}

static void variables_win_over_fields(void **state)
{
	struct vptrace_options o = {.struct_bytes = sizeof(o),
		.path = "field.zst",
		.overwrite = 1,
		.profile = VPTRACE_PROFILE_COARSE,
		.memory_limit_bytes = 3, /* nonsense that nobody asks for */
		.flush_interval_ms = 50,
		.stop_timeout_ms = 50,
		.compression_level = 9,
		.cupti_path = "field.so",
		.synchronize = 1,
		.device_buffers = 9,
		.counters_ms = -1,
		.stacks_hz = -1,
		.tags = "field=1"};

	(void)state;
	setenv("VPTRACE_OUTPUT", "variable.zst", 1);
	setenv("VPTRACE_OVERWRITE", "0", 1);
	setenv("VPTRACE_PROFILE", "default", 1);
	setenv("VPTRACE_MEMORY", "1GiB", 1);
	setenv("VPTRACE_FLUSH_MS", "2s", 1);
	setenv("VPTRACE_STOP_MS", "70", 1);
	setenv("VPTRACE_LEVEL", "0", 1);
	setenv("VPTRACE_LIBCUPTI", "variable.so", 1);
	setenv("VPTRACE_SYNC", "off", 1);
	setenv("VPTRACE_DEVICE_BUFFERS", "100000", 1);
	setenv("VPTRACE_COUNTERS", "2s", 1);
	setenv("VPTRACE_STACKS", "50", 1);
	setenv("VPTRACE_TAGS", "model=wan", 1);
	assert_int_equal(vtr_options_resolve(&o, &got, &err), VPT_OK);
	assert_string_equal(got.path, "variable.zst");
	assert_string_equal(got.cupti_path, "variable.so");
	assert_int_equal(got.overwrite, 0);
	assert_int_equal(got.synchronize, 0);
	assert_int_equal(got.profile, VPTRACE_PROFILE_DEFAULT);
	assert_int_equal(got.memory_limit_bytes, 1 << 30);
	assert_int_equal(got.flush_interval_ms, 2000);
	assert_int_equal(got.stop_timeout_ms, 70);
	assert_int_equal(got.device_buffers, 100000);
	assert_int_equal(vtr_monitors_same(&got.monitors), 2000);
	assert_true(got.monitors.wanted);
	assert_int_equal(got.stacks_hz, 50);
	assert_string_equal(got.tags.text, "model=wan");
	assert_int_equal(got.compression_level, 0);
	setenv("VPTRACE_COUNTERS", "off", 1);
	setenv("VPTRACE_STACKS", "0", 1);
	assert_int_equal(vtr_options_resolve(&o, &got, &err), VPT_OK);
	assert_false(vtr_monitors_any(&got.monitors));
	assert_int_equal(got.stacks_hz, -1);
}

static void amounts_carry_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes; /* 0: refused */
	} cases[] = {
		{"16777216", 16 << 20}, {"16777216B", 16 << 20}, {"16M", 16 << 20},
		{"16m", 16 << 20}, {"16 MiB", 16 << 20}, {"20MB", 20000000}, {"16384K", 16 << 20},
		{"1T", 1ull << 40}, {"1TiB", 1ull << 40}, {"16777215", 0}, {"15M", 0}, {"1025G", 0},
		{"0", 0}, {"-16M", 0}, {"+16M", 0}, {" 16M", 0}, {"16M ", 0}, {"16  M", 0},
		{"16 ", 0}, {"1.5G", 0}, {"0x10000000", 0}, {"16P", 0}, {"M", 0}, {"-", 0},
		{"9223372036854775808", 0}, {"9223372036854775807T", 0},
		{"16777216T", 0}, /* 2^64: wraps to nothing */
	};
	char words[256];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		int rc;

		setenv("VPTRACE_MEMORY", cases[i].text, 1);
		rc = vtr_options_resolve(NULL, &got, &err);
		snprintf(words, sizeof(words),
			"VPTRACE_MEMORY: expected 16 MiB to 1 TiB, found \"%s\"", cases[i].text);
		if (!cases[i].bytes)
			expect_failure(cases[i].text, rc, words);
		else if (rc || got.memory_limit_bytes != cases[i].bytes)
			fail_msg("%s: found %d, %llu bytes", cases[i].text, rc,
				(unsigned long long)got.memory_limit_bytes);
	}
}

static void times_take_each_unit(void **state)
{
	static const struct {
		const char *text;
		int ms; /* 0: refused */
	} cases[] = {{"500", 500}, {"500ms", 500}, {"2s", 2000}, {"1min", 60000}, {"1m", 60000},
		{"300000us", 300}, {"1h", 0}, {"0.5s", 0}, {"5d", 0}, {"min", 0}};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		int rc;

		setenv("VPTRACE_COUNTERS", cases[i].text, 1);
		rc = vtr_options_resolve(NULL, &got, &err);
		if (!cases[i].ms != (rc != VPT_OK) ||
			(!rc && vtr_monitors_same(&got.monitors) != (uint32_t)cases[i].ms))
			fail_msg("%s: found %d, %u ms", cases[i].text, rc,
				vtr_monitors_same(&got.monitors));
	}
}

/* Intervals in the order of the monitors: memory, utilization, power, clocks, temperature; cpu, ram, disk, faults. */
static void each_monitor_has_its_interval(void **state)
{
	static const struct {
		const char *text, *expected;
		int wanted;
	} cases[] = {
		{"gpu:100ms", "100 100 100 100 100 500 500 500 500", 1},
		{"gpu:100ms,cpu:1s,temperature:off", "100 100 100 100 0 1000 500 500 500", 1},
		{"temperature:off", "500 500 500 500 0 500 500 500 500", 0},
		{"all:off,power:100", "0 0 100 0 0 0 0 0 0", 1},
		{"all:2s,host:0,ram:1min", "2000 2000 2000 2000 2000 0 60000 0 0", 1},
		{"memory:200,utilization:300,clocks:400,disk:600,faults:700",
			"200 300 500 400 500 500 500 600 700", 1},
		{"gpu:off,host:off", "0 0 0 0 0 0 0 0 0", 0},
		{"gpu:1s,gpu:off", "0 0 0 0 0 500 500 500 500", 1},
	};
	static const struct {
		const char *text, *found;
	} bad[] = {
		{"gpu:50ms", "VPTRACE_COUNTERS: gpu: expected 100 ms to 60000 ms or off, found "
			     "\"50ms\""},
		{"gpus:1s", "of all, gpu, memory, utilization, power, clocks, temperature, host, "
			    "cpu, ram, disk, faults; found \"gpus\""},
		{"gpu", "found \"gpu\""},
		{"500ms,gpu:1s", "found \"500ms\""},
		{"gpu:1s,", "found \"\""},
		{"gpu:", "gpu: expected 100 ms to 60000 ms or off, found \"\""},
		{"gpu:1s:2", "found \"1s:2\""},
		{"often", "found \"often\""},
	};
	char words[128];
	size_t i, k, used;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		setenv("VPTRACE_COUNTERS", cases[i].text, 1);
		assert_int_equal(vtr_options_resolve(NULL, &got, &err), VPT_OK);
		for (k = 0, used = 0; k < VTR_MONITORS; k++)
			used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%u",
				k ? " " : "", got.monitors.ms[k]);
		assert_string_equal(words, cases[i].expected);
		assert_int_equal(got.monitors.wanted, cases[i].wanted);
		assert_string_equal(got.monitors.text, cases[i].text);
	}
	for (i = 0; i < COUNT(bad); i++) {
		setenv("VPTRACE_COUNTERS", bad[i].text, 1);
		assert_int_equal(vtr_options_resolve(NULL, &got, &err), VPT_EINVAL);
		if (!strstr(err.text, bad[i].found))
			fail_msg("%s: %s", bad[i].text, err.text);
	}
}

static void a_folder_gets_the_default_name(void **state)
{
	char expected[VTR_PATH_MAX + 8];

	(void)state;
	assert_int_equal(vtr_options_resolve(NULL, &got, &err), VPT_OK);
	snprintf(expected, sizeof(expected), "out/%%%s", got.path);
	setenv("VPTRACE_OUTPUT", "out/%%/", 1);
	assert_int_equal(vtr_options_resolve(NULL, &got, &err), VPT_OK);
	assert_int_equal(strncmp(got.path, "out/%/vptrace-", 14), 0);
	assert_string_equal(got.path + 6, expected + 5);
}

static void nonsense_in_a_variable_is_named(void **state)
{
	static const struct {
		const char *name, *value, *words;
	} cases[] = {
		{"VPTRACE_PROFILE", "light",
			"VPTRACE_PROFILE: expected default, lite, full, coarse or none, found "
			"\"light\""},
		{"VPTRACE_PROFILE", "0",
			"VPTRACE_PROFILE: expected default, lite, full, coarse or none, found "
			"\"0\""},
		{"VPTRACE_SYNC", "2",
			"VPTRACE_SYNC: expected 0, 1, no, yes, off, on, false or true, found "
			"\"2\""},
		{"VPTRACE_OVERWRITE", "1 ",
			"VPTRACE_OVERWRITE: expected 0, 1, no, yes, off, on, false or true, found "
			"\"1 \""},
		{"VPTRACE_FLUSH_MS", "9",
			"VPTRACE_FLUSH_MS: expected 10 ms to 3600000 ms, found \"9\""},
		{"VPTRACE_STOP_MS", "0",
			"VPTRACE_STOP_MS: expected 1 ms to 3600000 ms, found \"0\""},
		{"VPTRACE_STOP_MS", "3601s",
			"VPTRACE_STOP_MS: expected 1 ms to 3600000 ms, found \"3601s\""},
		{"VPTRACE_COUNTERS", "99",
			"VPTRACE_COUNTERS: expected 100 ms to 60000 ms or off, found \"99\""},
		{"VPTRACE_STACKS", "1001",
			"VPTRACE_STACKS: expected 1 to 1000 or off, found \"1001\""},
		{"VPTRACE_COUNTERS", "-1",
			"VPTRACE_COUNTERS: expected 100 ms to 60000 ms or off, found \"-1\""},
		{"VPTRACE_LEVEL", "20", "VPTRACE_LEVEL: expected -7 to 19, found \"20\""},
		{"VPTRACE_LEVEL", "fast\033[1m",
			"VPTRACE_LEVEL: expected -7 to 19, found \"fast?[1m\""},
		{"VPTRACE_OUTPUT", "out/.",
			"VPTRACE_OUTPUT: \"out/.\": expected a file name, found a folder"},
	};
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		clean_environment(state);
		setenv(cases[i].name, cases[i].value, 1);
		expect_failure(
			cases[i].name, vtr_options_resolve(NULL, &got, &err), cases[i].words);
		assert_int_equal(vtr_options_resolve(NULL, &got, NULL), VPT_EINVAL);
	}
}

static void nonsense_in_a_field_is_named(void **state)
{
	static char longest[VTR_PATH_MAX + 1];
	struct vptrace_options cases[] = {
		{.memory_limit_bytes = (16 << 20) - 1},
		{.memory_limit_bytes = UINT64_MAX},
		{.profile = (enum vptrace_profile)5},
		{.flush_interval_ms = UINT32_MAX},
		{.stop_timeout_ms = 3600001},
		{.compression_level = -8},
		{.counters_ms = -2},
		{.counters_ms = 99},
		{.path = ".."},
		{.path = longest},
	};
	static const char *const words[] = {
		"options.memory_limit_bytes: expected 16 MiB to 1 TiB, found 16777215",
		"options.memory_limit_bytes: expected 16 MiB to 1 TiB, found 9223372036854775807",
		"options.profile: expected default, lite, full, coarse or none, found 5",
		"options.flush_interval_ms: expected 10 ms to 3600000 ms, found 4294967295",
		"options.stop_timeout_ms: expected 1 ms to 3600000 ms, found 3600001",
		"options.compression_level: expected -7 to 19, found -8",
		"options.counters_ms: expected 100 ms to 60000 ms or off, found -2",
		"options.counters_ms: expected 100 ms to 60000 ms or off, found 99",
		"options.path: \"..\": expected a file name, found a folder",
		NULL,
	};
	struct vptrace_options o = given();
	size_t i;

	(void)state;
	memset(longest, 'x', VTR_PATH_MAX);
	for (i = 0; i < COUNT(cases); i++) {
		int rc;

		cases[i].struct_bytes = sizeof(cases[i]);
		rc = vtr_options_resolve(&cases[i], &got, &err);
		if (words[i])
			expect_failure(words[i], rc, words[i]);
	}
	assert_non_null(strstr(err.text, "expected at most 4095 bytes when expanded, found more"));
	o.cupti_path = longest;
	assert_int_equal(vtr_options_resolve(&o, &got, &err), VPT_EINVAL);
	assert_non_null(strstr(err.text,
		"options.cupti_path: expected a path of at most 4095 bytes, found 4096: xxx"));
	longest[VTR_PATH_MAX - 1] = '\0';
	o.path = longest;
	assert_int_equal(vtr_options_resolve(&o, &got, &err), VPT_OK);
	assert_string_equal(got.cupti_path, longest);
	assert_string_equal(got.path, longest);
}

/* A host compiled with another version of the header. */
static void older_and_newer_structs_are_understood(void **state)
{
	struct {
		struct vptrace_options o;
		char tail[8];
	} newer = {.o = {.compression_level = 5, .synchronize = -1}};
	size_t after_level = offsetof(struct vptrace_options, compression_level) + sizeof(int);
	char words[256];
	size_t i;
	static const size_t cut[] = {0, 1, 7, 9, 15, 4097, SIZE_MAX};

	(void)state;
	newer.o.struct_bytes = after_level; /* synchronize is not the host's any more */
	assert_int_equal(vtr_options_resolve(&newer.o, &got, &err), VPT_OK);
	assert_int_equal(got.compression_level, 5);
	assert_int_equal(got.synchronize, 1);
	newer.o.struct_bytes = sizeof(size_t); /* the oldest there can be */
	assert_int_equal(vtr_options_resolve(&newer.o, &got, &err), VPT_OK);
	expect_defaults();
	newer.o.struct_bytes = sizeof(newer);
	assert_int_equal(vtr_options_resolve(&newer.o, &got, &err), VPT_OK);
	assert_int_equal(got.synchronize, 0);
	newer.tail[7] = 1;
	snprintf(words, sizeof(words),
		"options: expected %zu bytes, found %zu with a newer option at byte %zu, "
		"unknown to this version",
		sizeof(newer.o), sizeof(newer), sizeof(newer) - 1);
	expect_failure("newer", vtr_options_resolve(&newer.o, &got, &err), words);
	for (i = 0; i < COUNT(cut); i++) {
		newer.o.struct_bytes = cut[i];
		snprintf(words, sizeof(words),
			"options.struct_bytes: expected sizeof(struct vptrace_options), which is "
			"%zu, found %zu",
			sizeof(newer.o), cut[i]);
		expect_failure("cut", vtr_options_resolve(&newer.o, &got, &err), words);
	}
}

static void the_first_number_is_the_rank(void **state)
{
	static const struct {
		const char *rule, *rank, *slurm, *pmix;
		long expected;
	} cases[] = {
		{"none", NULL, NULL, NULL, -1},
		{"torchrun's", "3", "4", "5", 3},
		{"zero is a rank", "0", "4", NULL, 0},
		{"words are not", "first", "4", "5", 4},
		{"nor is nothing", "", "", "5", 5},
		{"nor a negative number", "-1", NULL, NULL, -1},
		{"nor a hexadecimal one", "0x1", NULL, NULL, -1},
		{"nor one with blanks", " 1", NULL, NULL, -1},
		{"nor one too large", "1000000000", NULL, NULL, -1},
		{"the largest", "999999999", NULL, NULL, 999999999},
	};
	char path[256];
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		clean_environment(state);
		if (cases[i].rank)
			setenv("RANK", cases[i].rank, 1);
		if (cases[i].slurm) {
			setenv("SLURM_PROCID", cases[i].slurm, 1);
			setenv("SLURM_STEP_ID", "0", 1);
		}
		if (cases[i].pmix)
			setenv("PMIX_RANK", cases[i].pmix, 1);
		assert_int_equal(vtr_options_resolve(NULL, &got, &err), VPT_OK);
		if (got.rank != cases[i].expected)
			fail_msg("%s: found %ld", cases[i].rule, got.rank);
		snprintf(path, sizeof(path), "vptrace-test_tracer_options-r%ld-%ld.zst", got.rank,
			(long)getpid());
		if (got.rank >= 0)
			assert_string_equal(got.path, path);
	}
	clean_environment(state);
	setenv("PMI_RANK", "7", 1);
	assert_int_equal(vtr_options_resolve(NULL, &got, &err), VPT_OK);
	assert_int_equal(got.rank, 7);
	setenv("OMPI_COMM_WORLD_RANK", "6", 1);
	assert_int_equal(vtr_options_resolve(NULL, &got, &err), VPT_OK);
	assert_int_equal(got.rank, 6);
}

/* `text` with @ replaced by this process's id, and & by the host's name. */
static void fill_in(const char *text, char *out, size_t cap)
{
	char host[256] = "";
	size_t used = 0;

	gethostname(host, sizeof(host) - 1);
	*out = '\0';
	for (; *text; text++) {
		if (*text == '@')
			used += (size_t)snprintf(out + used, cap - used, "%ld", (long)getpid());
		else if (*text == '&')
			used += (size_t)snprintf(out + used, cap - used, "%s", host);
		else
			used += (size_t)snprintf(out + used, cap - used, "%c", *text);
	}
}

static void patterns_are_expanded(void **state)
{
	static const struct {
		const char *pattern, *tag;
		long rank;
		const char *expected; /* NULL: refused */
	} cases[] = {
		{"plain.zst", NULL, -1, "plain.zst"},
		{"a b/c:d\xc3\xa9.zst", NULL, -1, "a b/c:d\xc3\xa9.zst"},
		{"%p", NULL, -1, "@"},
		{"t-%p-%r.zst", NULL, 12, "t-@-12.zst"},
		{"t-%r.zst", NULL, -1, "t-0.zst"},
		{"%h.zst", NULL, -1, "&.zst"},
		{"100%%.zst", NULL, -1, "100%.zst"},
		{"%%p", NULL, -1, "%p"},
		{"%q{TAG}.zst", "run 1", -1, "run_1.zst"},
		{"%q{TAG}.zst", "Az09._+-", -1, "Az09._+-.zst"},
		{"%q{TAG}.zst", "../../etc/passwd", -1, "___.._etc_passwd.zst"},
		{"%q{TAG}/t.zst", "..", -1, "__/t.zst"},
		{".%q{TAG}/t.zst", ".", -1, "._/t.zst"},
		{"%q{TAG}.zst", "/", -1, "_.zst"},
		{"%q{TAG}.zst", "a\n\xff%p", -1, "a___p.zst"},
		{"%q{TAG}.zst", NULL, -1, "none.zst"},
		{"%q{EMPTY}.zst", NULL, -1, "none.zst"},
		{"%q{TAG}%q{TAG}", "x", -1, "xx"},
		{"", NULL, -1, NULL},
		{"dir/", NULL, -1, NULL},
		{"dir/.", NULL, -1, NULL},
		{"/", NULL, -1, NULL},
		{"t%", NULL, -1, NULL},
		{"t%d", NULL, -1, NULL},
		{"t%q", NULL, -1, NULL},
		{"t%qTAG", "x", -1, NULL},
		{"t%q{}", NULL, -1, NULL},
		{"t%q{TAG", "x", -1, NULL},
	};
	char out[VTR_PATH_MAX], expected[VTR_PATH_MAX];
	size_t i;
	int rc;

	(void)state;
	setenv("EMPTY", "", 1);
	for (i = 0; i < COUNT(cases); i++) {
		fill_in(cases[i].expected ? cases[i].expected : "", expected, sizeof(expected));
		unsetenv("TAG");
		if (cases[i].tag)
			setenv("TAG", cases[i].tag, 1);
		memset(out, 'x', sizeof(out));
		rc = vtr_output_expand(cases[i].pattern, cases[i].rank, out, sizeof(out), &err);
		if (rc != (cases[i].expected ? VPT_OK : VPT_EINVAL) || strcmp(out, expected))
			fail_msg("%s: found %d \"%s\", expected \"%s\"", cases[i].pattern, rc, out,
				expected);
	}
}

static void a_name_is_the_patterns_or_not(void **state)
{
	static const struct {
		const char *pattern, *path;
		int fits;
	} cases[] = {
		{"/a/b.zst", "/a/b.zst", 1},
		{"/a/b.zst", "/a/c.zst", 0},
		{"/a/b.zst", "/a/b.zst.old", 0},
		{"/a/b.zst", "/a/b", 0},
		{"/a/%p.zst", "/a/123.zst", 1},
		{"/a/%p.zst", "/a/x.zst", 0},
		{"/a/%p.zst", "/a/1/2.zst", 0},
		{"/a/r%r-%p.zst", "/a/r0-17.zst", 1},
		{"/a/r%r-%p.zst", "/a/r0-17.zst-17.zst", 0},
		{"/a/%q{NAME}.zst", "/a/x.y.zst", 1},
		{"/a/%q{NAME}.zst", "/a/.x.zst", 0},
		{"/a/%q{NAME}/t", "/a/../t", 0},
		{"/a/%q{NAME}/t", "/a/b/c/t", 0},
		{"/a/%q{A}b%q{B}b/t", "/a/bbbbb/t", 1},
		{"/a/%q{A}b%q{B}b/t", "/a/b/t", 0},
		{"/a/%h-%%.zst", "/a/host-%.zst", 1},
		{"/a/%h-%%.zst", "/a/host-x.zst", 0},
		{"/a/%%p", "/a/%p", 1},
		{"/a/%%p", "/a/1", 0},
		{"/a/", "/a/vptrace-x-1.zst", 1},
		{"/a/", "/a/vptrace-x-r3-1.zst", 1},
		{"/a/", "/a/vptrace-x-y.zst", 0},
		{"/a/", "/a/photo.zst", 0},
		{"/a/", "/a/b/vptrace-x-1.zst", 0},
		{"/a/", "/b/vptrace-x-1.zst", 0},
		{"/a/%p/", "/a/5/vptrace-x-5.zst", 1},
		{"", "vptrace-x-5.zst", 1},
	};
	char pattern[5000];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		if (vtr_output_fits(cases[i].pattern, cases[i].path) != cases[i].fits)
			fail_msg("%s, %s: expected %d", cases[i].pattern, cases[i].path,
				cases[i].fits);
	memset(pattern, 'x', sizeof(pattern));
	pattern[sizeof(pattern) - 1] = '\0';
	assert_false(vtr_output_fits(pattern, pattern));
}

/* Whatever a pattern expands to, fits. */
static void an_expanded_name_fits(void **state)
{
	static const char *const patterns[] = {"/a/%p", "/%h/%r-%q{TAG}%q{TAG}.%%", "/a/%q{TAG}/"};
	static const char *const tags[] = {"", "x", "...", "../..", "a.b", "\xff/ \n"};
	char path[VTR_PATH_MAX], pattern[VTR_PATH_MAX];
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(patterns); i++)
		for (k = 0; k < COUNT(tags); k++) {
			setenv("TAG", tags[k], 1);
			snprintf(pattern, sizeof(pattern), "%s%s", patterns[i], i == 2 ? "t" : "");
			assert_int_equal(
				vtr_output_expand(pattern, 3, path, sizeof(path), &err), VPT_OK);
			if (i == 2)
				vtr_output_default(tags[k], 3, strrchr(path, '/') + 1, 200);
			if (!vtr_output_fits(patterns[i], path))
				fail_msg("%s does not fit %s", path, patterns[i]);
		}
	unsetenv("TAG");
}

static void a_bad_pattern_says_what_is_known(void **state)
{
	char out[64];

	(void)state;
	assert_int_equal(vtr_output_expand("a%dz", 0, out, sizeof(out), &err), VPT_EINVAL);
	assert_string_equal(
		err.text, "\"a%dz\": expected %p, %h, %r, %q{VARIABLE} or %%, found \"%d\"");
	assert_int_equal(vtr_output_expand("a%q{z", 0, out, sizeof(out), &err), VPT_EINVAL);
	assert_string_equal(err.text, "\"a%q{z\": expected %q{VARIABLE}, found \"%q{z\"");
	assert_int_equal(vtr_output_expand("abcdefgh", 0, out, 9, &err), VPT_OK);
	assert_int_equal(vtr_output_expand("abcdefgh", 0, out, 8, &err), VPT_EINVAL);
	assert_string_equal(
		err.text, "\"abcdefgh\": expected at most 7 bytes when expanded, found more");
	assert_string_equal(out, "");
}

#define LINE(text) text, sizeof(text)

static void a_command_is_called_by_what_it_runs(void **state)
{
	static const struct {
		const char *words;
		size_t bytes;
		const char *expected;
	} cases[] = {
		{LINE("./demo"), "demo"},
		{LINE("/usr/bin/demo\0--frames\0x.py"), "demo"},
		{LINE("-bash"), "bash"},
		{LINE("python3\0demo.py"), "demo"},
		{LINE("/usr/bin/python3.11\0-u\0/srv/app/generate.py\0--seed\0x.py"), "generate"},
		{LINE("python\0-X\0faulthandler\0-W\0ignore\0a.py"), "a"},
		{LINE("python\0-Xdev\0-Wignore\0a.py"), "a"},
		{LINE("python\0-OO\0--\0-odd.py"), "-odd"},
		{LINE("python\0--check-hash-based-pycs=never\0a.py"), "a"},
		{LINE("python3\0-m\0wan.generate\0-x"), "wan.generate"},
		{LINE("python3\0-mwan"), "wan"},
		{LINE("python3\0-um\0wan"), "wan"},
		{LINE("python3\0/usr/local/bin/accelerate\0launch"), "accelerate"},
		{LINE("python3\0-c\0import a.py"), "python3"},
		{LINE("python3\0-"), "python3"},
		{LINE("python3\0-m"), "python3"},
		{LINE("python3\0app/"), "python3"},
		{LINE("python3"), "python3"},
		{LINE("pypy3\0a.py"), "a"},
		{LINE("demo.py"), "demo.py"},
		{LINE("python3\0.py"), ".py"},
		{LINE(""), ""},
		{"", 0, ""},
		{"cut", 3, ""},
	};
	char out[64];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		memset(out, 'x', sizeof(out));
		vtr_output_command(cases[i].words, cases[i].bytes, out, sizeof(out));
		if (strcmp(out, cases[i].expected))
			fail_msg("case %zu, %s: found \"%s\", expected \"%s\"", i, cases[i].words,
				out, cases[i].expected);
	}
	vtr_output_command(LINE("abcdef"), out, 4);
	assert_string_equal(out, "abc");
}

static void default_names_are_clean(void **state)
{
	char out[256], expected[256], command[100];

	(void)state;
	vtr_output_default("ray::Actor a/b", 3, out, sizeof(out));
	snprintf(expected, sizeof(expected), "vptrace-ray__Actor_a_b-r3-%ld.zst", (long)getpid());
	assert_string_equal(out, expected);
	memset(command, 'c', sizeof(command) - 1);
	command[sizeof(command) - 1] = '\0';
	vtr_output_default(command, -1, out, sizeof(out));
	snprintf(expected, sizeof(expected), "vptrace-%.64s-%ld.zst", command, (long)getpid());
	assert_string_equal(out, expected);
}

static void the_process_knows_its_own_name(void **state)
{
	char name[64], line[4096], small[6];

	(void)state;
	vtr_command_name(name, sizeof(name));
	assert_string_equal(name, "test_tracer_options");
	vtr_command_line(line, sizeof(line));
	assert_non_null(strstr(line, "test_tracer_options"));
	vtr_command_line(small, sizeof(small));
	assert_int_equal(strlen(small), 5);
	assert_memory_equal(small, line, 5);
}

/* This program again, under other words; it prints its name and line, see main(). */
static void expect_as(char *const words[], const char *expected)
{
	char said[256] = "";
	int ends[2], status;
	ssize_t size;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		dup2(ends[1], STDOUT_FILENO);
		setenv("TAG", "tell", 1);
		execv("/proc/self/exe", words);
		_exit(127);
	}
	close(ends[1]);
	size = read(ends[0], said, sizeof(said) - 1);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(size >= 0);
	assert_string_equal(said, expected);
}

static void names_come_from_the_command_line(void **state)
{
	char *const script[] = {"python3", "-u", "app/gen.py", "a\tb", "", "c", NULL};
	char *const quiet[] = {"", NULL};

	(void)state;
	expect_as(script, "gen|python3 -u app/gen.py a?b  c");
	expect_as(quiet, "exe|"); /* comm: the last part of what was executed */
}

static int tell(void)
{
	char name[64], line[128];

	vtr_command_name(name, sizeof(name));
	vtr_command_line(line, sizeof(line));
	printf("%s|%s", name, line);
	return 0;
}

/* A process whose user is not its effective one, as in a setuid program; needs to be root. */
static void a_setuid_program_ignores_the_environment(void **state)
{
	pid_t child;
	int status;

	(void)state;
	if (getuid() != 0)
		vpt_skip("only root can run a program as another user");
	setenv("VPTRACE_OUTPUT", "/etc/%q{TAG}", 1);
	setenv("VPTRACE_MEMORY", "nonsense", 1);
	setenv("RANK", "5", 1);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct vptrace_options o = given();
		char out[64];

		if (!vtr_environment_trusted() || !vtr_environment("RANK"))
			_exit(1);
		if (seteuid(65534))
			_exit(2);
		if (vtr_environment_trusted() || vtr_environment("RANK"))
			_exit(3);
		if (vtr_options_resolve(&o, &got, &err))
			_exit(4);
		if (strncmp(got.path, "vptrace-test_tracer_options-", 28) || got.rank != -1)
			_exit(5);
		if (vtr_output_expand("%q{RANK}", 0, out, sizeof(out), &err) || strcmp(out, "none"))
			_exit(6);
		if (seteuid(0) || setegid(65534) || vtr_environment_trusted())
			_exit(7);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_said_means_the_defaults, clean_environment),
		cmocka_unit_test_setup(fields_are_taken, clean_environment),
		cmocka_unit_test_setup(variables_win_over_fields, clean_environment),
		cmocka_unit_test_setup(amounts_carry_units, clean_environment),
		cmocka_unit_test_setup(times_take_each_unit, clean_environment),
		cmocka_unit_test_setup(each_monitor_has_its_interval, clean_environment),
		cmocka_unit_test_setup(a_folder_gets_the_default_name, clean_environment),
		cmocka_unit_test_setup(nonsense_in_a_variable_is_named, clean_environment),
		cmocka_unit_test_setup(nonsense_in_a_field_is_named, clean_environment),
		cmocka_unit_test_setup(older_and_newer_structs_are_understood, clean_environment),
		cmocka_unit_test_setup(the_first_number_is_the_rank, clean_environment),
		cmocka_unit_test_setup(patterns_are_expanded, clean_environment),
		cmocka_unit_test_setup(a_name_is_the_patterns_or_not, clean_environment),
		cmocka_unit_test_setup(an_expanded_name_fits, clean_environment),
		cmocka_unit_test_setup(a_bad_pattern_says_what_is_known, clean_environment),
		cmocka_unit_test_setup(a_command_is_called_by_what_it_runs, clean_environment),
		cmocka_unit_test_setup(default_names_are_clean, clean_environment),
		cmocka_unit_test_setup(the_process_knows_its_own_name, clean_environment),
		cmocka_unit_test_setup(names_come_from_the_command_line, clean_environment),
		cmocka_unit_test_setup(a_setuid_program_ignores_the_environment, clean_environment),
	};

	if (getenv("TAG") && !strcmp(getenv("TAG"), "tell"))
		return tell();
	return cmocka_run_group_tests_name("tracer_options", tests, NULL, NULL);
}
