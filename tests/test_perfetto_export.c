/* test_perfetto_export.c - traces of a few lines, exported and read back by a decoder that shares nothing with the encoder.
 *
 * tests/support/pftrace.py reads an export as Perfetto's importer does: it fails on whatever that would drop or get wrong
 * without a word, and where a total differs from what the analyzer counted. */
#include "analysis/export/export.h"

#include "formats/memory.h"
#include "tests/support/random.h"
#include "tests/support/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static const char *const header =
	"start 1000\npid 42\ndevice 0 \"Sim GPU\" cc 9.0 sms 132 memory 80GiB simulated\n"
	"thread t1 pid 42 tid 100 \"main\"\nthread t2 pid 42 tid 101\n"
	"stream s7 device 0 context 1 stream 7 pid 42\nstream s8 device 0 context 1 stream 8 pid "
	"42\n";

static struct vpa_export_options plain = {.container = VPT_CONTAINER_NONE, .jobs = 1};

/* Exports a script. Returns vpa_export_perfetto()'s code; out->data is the caller's to free. */
static int export_script(const char *script, const struct vpa_options *analysis,
	const struct vpa_export_options *options, struct vpt_buffer *out)
{
	static const struct vpa_options usual = {.jobs = 1};
	struct vpa_export_totals totals;
	struct vpt_trace *trace;
	struct vpt_sink *sink;
	struct vpt_err err = {0};
	int rc;

	*out = (struct vpt_buffer){0};
	if (vpt_script_trace(script, &trace, &err))
		fail_msg("%s", err.text);
	assert_int_equal(vpt_sink_memory(out, &sink, &err), 0);
	rc = vpa_export_perfetto(
		trace, "x.zst", analysis ? analysis : &usual, options, sink, &totals, &err);
	sink->finish(sink, !rc, NULL);
	vpt_trace_close(trace);
	return rc;
}

/* The decoder, started once: it reads names of files and says what it makes of them. */
static struct {
	pid_t pid;
	FILE *ask, *answer;
} decoder;

static void start_decoder(void)
{
	const char *source = getenv("VPT_SOURCE_DIR");
	char script[600];
	int ask[2], answer[2];

	snprintf(script, sizeof(script), "%s/tests/support/pftrace.py", source ? source : ".");
	assert_int_equal(pipe2(ask, O_CLOEXEC) | pipe2(answer, O_CLOEXEC), 0);
	decoder.pid = fork();
	assert_true(decoder.pid >= 0);
	if (!decoder.pid) {
		dup2(ask[0], 0);
		dup2(answer[1], 1);
		execlp("python3", "python3", script, "--serve", (char *)NULL);
		_exit(127);
	}
	close(ask[0]);
	close(answer[1]);
	decoder.ask = fdopen(ask[1], "w");
	decoder.answer = fdopen(answer[0], "r");
	assert_non_null(decoder.ask);
	assert_non_null(decoder.answer);
}

static int stop_decoder(void **state)
{
	(void)state;
	if (!decoder.pid)
		return 0;
	fclose(decoder.ask);
	fclose(decoder.answer);
	return waitpid(decoder.pid, NULL, 0) != decoder.pid;
}

/* What the decoder says of an export. */
static char *decode(const struct vpt_buffer *file, const char *option, int expected)
{
	enum { SAID_MAX = 1 << 20 };
	char name[] = "/tmp/vptrace-pftrace-XXXXXX", *said = malloc(SAID_MAX);
	int fd = mkstemp(name), code = -1;
	size_t size = 0;

	assert_non_null(said);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, file->data, file->size), file->size);
	close(fd);
	if (!decoder.pid)
		start_decoder();
	fprintf(decoder.ask, "%s %s\n", name, option);
	fflush(decoder.ask);
	while (fgets(said + size, (int)(SAID_MAX - size), decoder.answer) &&
		sscanf(said + size, "= %d", &code) != 1)
		size += strlen(said + size);
	said[size] = '\0';
	unlink(name);
	if (code != expected)
		fail_msg("the decoder ended with %d:\n%s", code, said);
	return said;
}

static struct {
	const char *rule, *script;
	const char *says[6]; /* whole lines, without what stands before them */
} cases[] = {
	{"a kernel and its call",
		"call t1 cudaLaunchKernel 2000-2010 corr 1\n"
		"kernel s7 2100-2180 corr 1 \"gemm\" grid 8x4x1 block 128\n",
		{"thread 100: 0 +10 depth 0 cuda_api \"cudaLaunchKernel\" {'correlation': 1} -> "
		 "[1]",
			"GPU 0 pid 42 Stream 7: 1 100 +80 kernel \"gemm\" [[8, 4, 1], [128, 1, 1]]",
			"kernels 1", "submissions 1", "late_links 0"}},
	{"kernels that overlap on one stream all survive",
		"kernel s7 2000-2100 corr 0 \"a\"\nkernel s7 2050-2150 corr 0 \"b\"\n"
		"kernel s7 2060-2070 corr 0 \"c\"\n",
		{"Stream 7: 1 0 +100 kernel \"a\"", "Stream 7: 2 50 +100 kernel \"b\"",
			"Stream 7: 3 60 +10 kernel \"c\"", "kernel_ns 210"}},
	{"a graph launch names all of its ops, the next launch its own",
		"call t1 cudaGraphLaunch 2000-2010 corr 1\ncall t1 cudaLaunchKernel 2020-2030 corr "
		"2\n"
		"kernel s7 2100-2110 corr 1 \"a\" node 5\nkernel s7 2120-2130 corr 1 \"b\" node 6\n"
		"copy s7 DtoD 2140-2150 corr 1 bytes 64 node 7\nkernel s7 2160-2170 corr 2 \"c\"\n",
		{"\"cudaGraphLaunch\" {'correlation': 1} -> [1, 2, 3]",
			"\"cudaLaunchKernel\" {'correlation': 2} -> [4]", "submissions 4",
			"'graph_node_id': 6"}},
	{"of two calls around one op the outer one has launched it",
		"call t1 cuLaunchKernel 2002-2008 corr 1\ncall t1 cudaLaunchKernel 2000-2010 corr "
		"1\n"
		"kernel s7 2100-2110 corr 1 \"a\"\n",
		{"depth 0 cuda_api \"cudaLaunchKernel\" {'correlation': 1} -> [1]",
			"depth 1 cuda_api \"cuLaunchKernel\" {'correlation': 1} -> []"}},
	{"calls nest inside ranges",
		"range t1 2000-2100 \"step 1\"\ncall t1 cudaMalloc 2010-2020 corr 1\n"
		"range t1 2000-2200 \"all\"\n",
		{"0 +200 depth 0 nvtx \"all\"", "0 +100 depth 1 nvtx \"step 1\"",
			"10 +10 depth 2 cuda_api \"cudaMalloc\"", "nest_clamps 0"}},
	{"what reaches beyond the range around it ends with that, counted",
		"range t1 2000-2100 \"a\"\nrange t1 2050-2160 \"b\" domain x\n",
		{"0 +100 depth 0 nvtx \"a\"", "50 +50 depth 1 nvtx \"b\" {'domain': 'x'}",
			"nest_clamps 1", "nvtx_ns 150"}},
	{"one ends where the next begins",
		"range t1 2000-2100 \"a\"\nrange t1 2100-2160 \"b\"\nrange t1 2160-2160 \"c\"\n",
		{"0 +100 depth 0 nvtx \"a\"", "100 +60 depth 0 nvtx \"b\"",
			"160 +0 depth 0 nvtx \"c\"", "nest_clamps 0"}},
	{"an open range reaches over chunks, and its calls come later than it",
		"chunk 2050\nrange t1 2000-2400 \"long\"\nrange t1 2200-2210 \"in\"\n"
		"call t1 cudaLaunchKernel 2300-2310 corr 1\nkernel s7 2350-2360 corr 1 \"k\"\n",
		{"0 +400 depth 0 nvtx \"long\"", "200 +10 depth 1 nvtx \"in\"", "nvtx_ranges 2",
			"late_slices 0"}},
	{"a range that never ended ends with the trace",
		"open t1 2000 \"stuck\"\ncall t1 cudaMalloc 2010-2020 corr 1\nend 3000\n",
		{"0 +1000 depth 0 nvtx \"stuck\"", "10 +10 depth 1 cuda_api \"cudaMalloc\"",
			"nvtx_ranges 1"}},
	{"an open range is cut by the one around it, of which the end came first",
		"chunk 2050\nrange t1 2000-2400 \"a\"\nrange t1 2020-2500 \"b\" domain x\n"
		"kernel s7 2900-2910 \"k\"\n",
		{"0 +400 depth 0 nvtx \"a\"", "20 +380 depth 1 nvtx \"b\"", "nest_clamps 1",
			"nvtx_ns 780"}},
	{"ranges of a whole process that overlap stand side by side",
		"startend t1 2000-2100 \"a\"\nstartend t2 2050-2150 \"b\"\nstartend t1 2100-2110 "
		"\"c\"\n",
		{"NVTX ranges (async): 0 +100 depth 0 nvtx \"a\"",
			"NVTX ranges (async): 50 +100 depth 0 nvtx \"b\"",
			"NVTX ranges (async): 100 +10 depth 0 nvtx \"c\"", "nvtx_ns 210"}},
	{"a mark inside a range, with payload",
		"range t1 2000-2100 \"a\" int -5\nmark t1 2050 \"m\" int 42\n",
		{"nvtx \"a\" {'payload': -5}", "instants 1", "nest_clamps 0"}},
	{"names with any bytes",
		"kernel s7 2000-2010 \"a\\xff\\x80b\"\nrange t1 2000-2010 "
		"\"\\xc3\\xa9\\xed\\xa0\\x80\"\n",
		{"kernel \"a\xef\xbf\xbd\xef\xbf\xbd"
		 "b\"",
			"nvtx \"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}},
	{"C++ names are short on the slice",
		"kernel s7 2000-2010 \"void ns::(anonymous namespace)::gemm<float, (int)4>(float "
		"const*)\"\n"
		"kernel s7 2020-2030 \"my kernel\"\n",
		{"kernel \"ns::gemm\"", "kernel \"my kernel\""}},
	{"an op of no length is there, and counted apart",
		"kernel s7 2000-2000 \"a\"\nkernel s7 2010-2020 \"b\"\n",
		{"1 0 +0 kernel \"a\"", "zero_length 1", "kernels 1"}},
	{"invalid ops are not there",
		"kernel s7 0-2000 \"a\"\nkernel s7 2010-2005 \"b\"\nkernel s7 2010-2020 \"c\"\n",
		{"1 0 +10 kernel \"c\"", "kernels 1"}},
	{"copies and memsets",
		"copy s7 HtoD pinned->device 2000-2010 bytes 4096\nmemset s7 2020-2021 bytes 16 "
		"value 3\n",
		{"memcpy \"Memcpy HtoD (pinned -> device)\"", "'bytes': 4096",
			"'copy_kind': 'HtoD'", "memset \"Memset (", "memcpys 1", "memsets 1"}},
	{"gaps with what opened them, and the report's ids",
		"call t1 cudaLaunchKernel 1500-1510 corr 1\nkernel s7 2000-2100 corr 1 \"a\"\n"
		"call t1 cudaStreamSynchronize 1600-15000 corr 9\n"
		"call t1 cudaLaunchKernel 16000-16010 corr 2\nkernel s7 20000-20100 corr 2 \"b\"\n"
		"kernel s7 20101-20110 \"c\"\nkernel s7 20111-20120 \"c\"\nkernel s7 20121-20130 "
		"\"c\"\n",
		{"Idle gaps: 600 +17900 depth 0 idle \"sync drain\" {'id': 'G",
			"'prev_kernel': 'a', "
			"'next_kernel': 'b'}",
			"gaps 4", "gap_ns 17903"}},
	{"blocks, steps and attention in GPU time",
		"range t1 2000-3000 \"block 3\"\nrange t1 2010-2900 \"step 1\"\n"
		"call t1 cudaLaunchKernel 2020-2030 corr 1\nkernel s7 2500-2600 corr 1 "
		"\"flash_fwd_kernel\"\n"
		"call t1 cudaLaunchKernel 2040-2050 corr 2\nkernel s7 2600-3500 corr 2 \"gemm\"\n",
		{"Video blocks: 500 +1000 depth 0 block \"block 3\"",
			"Denoising steps: 500 +1000 depth 0 step \"step 1\"",
			"Attention kernels: 500 +100 depth 0 attention \"flash_fwd_kernel\"",
			"'block': 3, 'step': 1}", "'attention_ns': 100", "attention_kernels 1"}},
	{"counters",
		"series power device 0 unit \"W\" \"GPU power\"\ncounter power 2000 250.5\n"
		"counter power 2100 251\nkernel s7 2000-2010 \"a\"\n",
		{"counter_samples 2"}},
	{"a stream that was told to wait: for the op before the event, and only the next op did",
		"call t1 cudaLaunchKernel 2000-2001 corr 1\ncall t1 cudaLaunchKernel 2002-2003 "
		"corr 2\n"
		"kernel s7 2100-2110 corr 1 \"a\"\nkernel s7 2110-2120 corr 2 \"b\"\n"
		"event s7 0 event 4 sync_id 9 corr 3\n"
		"call t1 cudaLaunchKernel 2004-2005 corr 4\nkernel s7 2130-2140 corr 4 \"c\"\n"
		"sync s8 \"stream waits for event\" 2006-2007 corr 5 event 4 sync_id 9\n"
		"call t1 cudaLaunchKernel 2008-2009 corr 6\ncall t1 cudaLaunchKernel 2010-2011 "
		"corr 7\n"
		"kernel s8 2125-2145 corr 6 \"d\"\nkernel s8 2150-2155 corr 7 \"e\"\n",
		{"3 125 +20 kernel \"d\"", "waited for [2]", "waits 1"}},
	{"samples of what Perfetto knows of a GPU",
		"series draw device 0 unit \"W\" \"Power draw\"\n"
		"series clock device 0 unit \"MHz\" \"SM clock\"\n"
		"series used device 0 unit \"B\" \"memory used\"\n"
		"series other device 0 unit \"kW\" \"Power draw\"\n"
		"counter draw 2000 250.5\ncounter clock 2000 1980\ncounter used 2001 4096\n"
		"counter other 2002 1\nkernel s7 2000-2010 \"a\"\n",
		{"sample: GPU 0 0 Power draw 250.5", "sample: GPU 0 0 frequency 1980000",
			"sample: GPU 0 1 memory 4096", "counter_samples 4"}},
	{"a stream with a name",
		"stream s9 device 0 context 1 stream 9 pid 42 priority -1 \"decode\"\n"
		"kernel s9 2000-2010 \"a\"\n",
		{"GPU 0 pid 42 Stream 9 decode: 1 0 +10"}},
	{"what comes when its time has been written stands beside it",
		"range t1 3000-3100 \"a\"\nkernel s7 3000-3010 \"k\"\nchunk\n"
		"kernel s7 9000-9010 \"k\"\nchunk\nkernel s7 9020-9030 \"k\"\nchunk\n"
		"call t1 cudaDeviceSynchronize 2500-2600\nkernel s7 9100-9110 \"k\"\n",
		{"thread 100: 500 +100 depth 0 nvtx \"a\"",
			"recorded late: 0 +100 depth 0 cuda_api \"cudaDeviceSynchronize\"",
			"late_slices 1", "api_ns 100"}},
	{"nothing at all", "", {"kernels 0", "api_calls 0"}},
};

static char *script_of(const char *body)
{
	char *text = malloc(strlen(header) + strlen(body) + 1);

	assert_non_null(text);
	strcpy(text, header);
	strcat(text, body);
	return text;
}

static void by_hand(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *script = script_of(cases[i].script), *said;
		struct vpt_buffer file;

		if (export_script(script, NULL, &plain, &file))
			fail_msg("%s: no export", cases[i].rule);
		said = decode(&file, "--slices", 0);
		for (k = 0; k < 6 && cases[i].says[k]; k++)
			if (!strstr(said, cases[i].says[k]))
				fail_msg("%s: expected\n%s\nfound\n%s", cases[i].rule,
					cases[i].says[k], said);
		free(said);
		free(script);
		vpt_free(file.data);
	}
}

/* ---- options ---- */

static const char *const many =
	"range t1 2000-2900 \"part\"\ncall t1 cudaLaunchKernel 2000-2010 corr 1\n"
	"call t1 cudaLaunchKernel 2500-2510 corr 2\ncall t1 cudaLaunchKernel 3000-3010 corr 3\n"
	"kernel s7 2100-2200 corr 1 \"a\"\nkernel s8 2150-2650 corr 2 \"b\"\n"
	"kernel s7 3100-3200 corr 3 \"c\"\n";

static void windows(void **state)
{
	static const struct {
		const char *rule;
		struct vpa_options options;
		const char *says[4];
	} rows[] = {
		{"all", {.jobs = 1},
			{"kernels 3", "api_calls 3", "nvtx_ranges 1", "kernel_ns 700"}},
		{"ops are clipped, calls belong to where they begin",
			{.jobs = 1, .has_from = 1, .from_ns = 1160, .has_to = 1, .to_ns = 1600},
			{"kernels 2", "api_calls 1", "nvtx_ranges 0", "kernel_ns 480"}},
		{"a range", {.jobs = 1, .range = "part"},
			{"kernels 2", "api_calls 2", "nvtx_ranges 1", "kernel_ns 600"}},
	};
	char *script = script_of(many);
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct vpt_buffer file;
		char *said;

		assert_int_equal(export_script(script, &rows[i].options, &plain, &file), 0);
		said = decode(&file, "", 0);
		for (k = 0; k < 4; k++)
			if (!strstr(said, rows[i].says[k]))
				fail_msg("%s: expected %s, found\n%s", rows[i].rule,
					rows[i].says[k], said);
		free(said);
		vpt_free(file.data);
	}
	free(script);
}

static void without_calls(void **state)
{
	struct vpa_export_options options = plain;
	char *script = script_of(many), *said;
	struct vpt_buffer file;

	(void)state;
	options.no_api = 1;
	assert_int_equal(export_script(script, NULL, &options, &file), 0);
	said = decode(&file, "", 0);
	assert_non_null(strstr(said, "api_calls 0"));
	assert_non_null(strstr(said, "kernels 3"));
	assert_non_null(strstr(said, "late_links 0"));
	free(said);
	free(script);
	vpt_free(file.data);
}

/* ---- traces at random ---- */

static void put_line(char **at, const char *fmt, ...)
{
	va_list list;

	va_start(list, fmt);
	*at += vsprintf(*at, fmt, list);
	va_end(list);
}

/* Chunks of calls with ops that come later, ranges of two domains that overlap in part, on two threads. */
static char *random_script(uint64_t seed)
{
	struct vpt_random r = {seed};
	char *script = malloc(1 << 20), *at = script;
	uint64_t t = 2000, correlation = 1, chunk, i;

	assert_non_null(script);
	put_line(&at, "%s", header);
	for (chunk = 0; chunk < 6; chunk++) {
		for (i = 0; i < 30; i++) {
			uint64_t start = t + vpt_random_below(&r, 1000);
			uint64_t ns = vpt_random_below(&r, 300);
			unsigned thread = 1 + (unsigned)vpt_random_below(&r, 2);

			switch (vpt_random_below(&r, 6)) {
			case 0:
				put_line(&at, "range t%u %llu+%llu \"r%llu\" domain d%llu\n",
					thread, (unsigned long long)start,
					(unsigned long long)ns * 9, (unsigned long long)i,
					(unsigned long long)(i % 3));
				break;
			case 1:
				put_line(&at,
					"call t%u cudaStreamSynchronize %llu+%llu corr %llu\n",
					thread, (unsigned long long)start,
					(unsigned long long)ns * 3,
					(unsigned long long)correlation++);
				break;
			case 2:
				put_line(&at, "startend t%u %llu+%llu \"s\"\n", thread,
					(unsigned long long)start, (unsigned long long)ns * 9);
				break;
			default:
				put_line(&at, "call t%u cudaLaunchKernel %llu+%llu corr %llu\n",
					thread, (unsigned long long)start,
					(unsigned long long)ns / 9,
					(unsigned long long)correlation);
				put_line(&at, "kernel s%llu %llu+%llu corr %llu \"k%llu\"\n",
					(unsigned long long)(7 + i % 2),
					(unsigned long long)(start + ns), (unsigned long long)ns,
					(unsigned long long)correlation,
					(unsigned long long)(i % 5));
				correlation++;
			}
		}
		t += 1000;
		put_line(&at, "chunk %llu\n", (unsigned long long)t);
	}
	return script;
}

static void at_random(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 12; seed++) {
		char *script = random_script(seed), *said;
		struct vpt_buffer file;

		assert_int_equal(export_script(script, NULL, &plain, &file), 0);
		said = decode(&file, "", 0);
		if (!strstr(said, "late_links 0"))
			fail_msg("seed %llu: %s", (unsigned long long)seed, said);
		free(said);
		free(script);
		vpt_free(file.data);
	}
}

static void same_bytes(void **state)
{
	static const enum vpt_container kinds[] = {
		VPT_CONTAINER_PACKETS, VPT_CONTAINER_ZSTD, VPT_CONTAINER_GZIP};
	char *script = random_script(99);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct vpa_options analysis = {.jobs = 1};
		struct vpa_export_options options = {.container = kinds[i], .jobs = 1};
		struct vpt_buffer one, other;

		if (!vpt_container_available(kinds[i]))
			continue;
		assert_int_equal(export_script(script, &analysis, &options, &one), 0);
		for (options.jobs = 1; options.jobs < 5; options.jobs++) {
			analysis.jobs = options.jobs;
			assert_int_equal(export_script(script, &analysis, &options, &other), 0);
			assert_int_equal(other.size, one.size);
			assert_memory_equal(other.data, one.data, one.size);
			vpt_free(other.data);
		}
		free(decode(&one, "", 0));
		vpt_free(one.data);
	}
	free(script);
}

/* Whatever is cut off, what is before can be read. */
static void cut(void **state)
{
	char *script = random_script(7);
	struct vpt_buffer whole, file;
	size_t i;

	(void)state;
	assert_int_equal(export_script(script, NULL, &plain, &whole), 0);
	for (i = 1; i < 12; i++) {
		file = (struct vpt_buffer){.data = whole.data, .size = whole.size * i / 12};
		free(decode(&file, "--cut", 0));
	}
	free(script);
	vpt_free(whole.data);
}

static uint64_t total_of(const char *said, const char *key)
{
	const char *at = strstr(said, key);

	assert_non_null(at);
	return strtoull(at + strlen(key), NULL, 10);
}

/* With a hole in it, what comes after the next restart of its sequence can be read; without restarts nothing could. */
static void a_hole(void **state)
{
	struct vpa_export_options often = plain, never = plain;
	char *script = random_script(7), *said;
	struct vpt_buffer file;
	uint64_t all;

	(void)state;
	often.restart_bytes = 2000;
	often.group_bytes = never.group_bytes = 500;
	assert_int_equal(export_script(script, NULL, &often, &file), 0);
	said = decode(&file, "", 0);
	all = total_of(said, "\nkernels ");
	free(said);
	said = decode(&file, "--hole", 0);
	assert_true(total_of(said, "\nkernels ") > all * 2 / 3);
	assert_true(total_of(said, "\nkernels ") < all);
	free(said);
	vpt_free(file.data);
	assert_int_equal(export_script(script, NULL, &never, &file), 0);
	said = decode(&file, "--hole", 0);
	assert_true(total_of(said, "\nkernels ") < all / 2);
	free(said);
	vpt_free(file.data);
	free(script);
}

/* The same trace with its ops as slices: as many of all, as long, each with its call. */
static void as_slices(void **state)
{
	static const char *const keys[] = {"\nkernels ", "\nkernel_ns ", "\nmemcpys ", "\nmemsets ",
		"\nzero_length ", "api_calls ", "\nfirst_gpu_ts "};
	struct vpa_export_options slices = plain;
	char *script = random_script(11), *events, *said;
	struct vpt_buffer file;
	size_t i;

	(void)state;
	slices.gpu_as_slices = 1;
	assert_int_equal(export_script(script, NULL, &plain, &file), 0);
	events = decode(&file, "", 0);
	vpt_free(file.data);
	assert_int_equal(export_script(script, NULL, &slices, &file), 0);
	said = decode(&file, "--slices", 0);
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		assert_int_equal(total_of(said, keys[i]), total_of(events, keys[i]));
	assert_non_null(strstr(said, "late_links 0"));
	assert_non_null(strstr(said, "GPU 0 stream 7"));
	free(said);
	free(events);
	vpt_free(file.data);
	free(script);
}

/* The decoder finds what is wrong: a packet that is missing, wherever it is. */
static void the_decoder_can_fail(void **state)
{
	char *script = random_script(3);
	struct vpt_buffer file, less = {0};
	size_t at = 0, packets = 0;

	(void)state;
	assert_int_equal(export_script(script, NULL, &plain, &file), 0);
	less.data = malloc(file.size);
	assert_non_null(less.data);
	while (at < file.size) {
		const unsigned char *p = (const unsigned char *)file.data + at;
		size_t size = 2 + p[1];

		if (p[1] & 0x80)
			size = 3 + (size_t)(p[1] & 0x7f) + ((size_t)p[2] << 7);
		/* Every 41st packet and the last one, but for those that only say something more of the whole. */
		if (packets > 4 && (packets % 41 == 0 || at + size == file.size)) {
			memcpy(less.data, file.data, at);
			memcpy(less.data + at, file.data + at + size, file.size - at - size);
			less.size = file.size - size;
			free(decode(&less, "", 1));
		}
		packets++;
		at += size;
	}
	assert_true(packets > 200);
	free(less.data);
	free(script);
	vpt_free(file.data);
}

/* ---- without memory ---- */

static size_t allocations_left;

static void *scarce(void *ptr, size_t size)
{
	if (!allocations_left)
		return NULL;
	allocations_left--;
	return realloc(ptr, size);
}

static void without_memory(void **state)
{
	static const struct vpt_memory_ops ops = {scarce, free};
	struct vpa_options analysis = {.jobs = 1};
	struct vpa_export_totals totals;
	char *script = script_of(many);
	struct vpt_trace *trace;
	struct vpt_err err = {0};
	size_t n;
	int rc = VPT_ENOMEM;

	(void)state;
	assert_int_equal(vpt_script_trace(script, &trace, &err), 0);
	for (n = 0; rc && n < 2000; n++) {
		const struct vpt_memory_ops *before;
		struct vpt_buffer out = {0};
		struct vpt_sink *memory;

		assert_int_equal(vpt_sink_memory(&out, &memory, &err), 0);
		allocations_left = n;
		before = vpt_memory_use(&ops);
		rc = vpa_export_perfetto(trace, "x", &analysis, &plain, memory, &totals, &err);
		allocations_left = SIZE_MAX;
		memory->finish(memory, 0, NULL);
		vpt_memory_use(before);
		if (rc && rc != VPT_ENOMEM)
			fail_msg("after %zu allocations: %d, %s", n, rc, err.text);
	}
	assert_true(n > 50 && n < 2000);
	vpt_trace_close(trace);
	free(script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(windows),
		cmocka_unit_test(without_calls),
		cmocka_unit_test(at_random),
		cmocka_unit_test(same_bytes),
		cmocka_unit_test(cut),
		cmocka_unit_test(a_hole),
		cmocka_unit_test(as_slices),
		cmocka_unit_test(the_decoder_can_fail),
		cmocka_unit_test(without_memory),
	};

	if (system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null")) {
		puts("SKIPPED: no python3 to decode exports with");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, stop_decoder);
}
