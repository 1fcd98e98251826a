/* test_perfetto_export.c - traces of a few lines, exported and read back by a decoder that shares nothing with the encoder.
 *
 * tests/support/outputs/pftrace.py reads an export as Perfetto's importer does: it fails on whatever that would drop or get wrong
 * without a word, and where a total differs from what the analyzer counted.
 * Long, since what is expected of each case is text in one table. */
#include "analysis/export/export_pass.h"

#include "analysis/analyze.h"
#include "formats/base/memory.h"
#include "tests/export/perfetto_export_cases.h"
#include "tests/support/random.h"
#include "tests/support/traces/script.h"

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

static int export_trace(const struct vpt_trace *trace, const struct vpa_options *analysis,
	const struct vpa_export_options *options, struct vpt_sink *sink, struct vpt_err *err)
{
	const struct vpa_export_job job = {.exporter = &vpa_exporter_perfetto,
		.trace = trace,
		.path = "x.zst",
		.analysis = analysis,
		.options = options,
		.sink = sink};
	struct vpa_export_totals totals;

	return vpa_export(&job, &totals, err);
}

/* Exports a script. Returns vpa_export()'s code; out->data is the caller's to free. */
static int export_script(const char *script, const struct vpa_options *analysis,
	const struct vpa_export_options *options, struct vpt_buffer *out)
{
	static const struct vpa_options usual = {.jobs = 1};
	struct vpt_trace *trace;
	struct vpt_sink *sink;
	struct vpt_err err = {0};
	int rc;

	*out = (struct vpt_buffer){0};
	if (vpt_script_trace(script, &trace, &err))
		fail_msg("%s", err.text);
	assert_int_equal(vpt_sink_memory(out, &sink, &err), 0);
	rc = export_trace(trace, analysis ? analysis : &usual, options, sink, &err);
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

	snprintf(script, sizeof(script), "%s/tests/support/outputs/pftrace.py",
		source ? source : ".");
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

static uint64_t total_of(const char *said, const char *key)
{
	const char *at = strstr(said, key);

	assert_non_null(at);
	return strtoull(at + strlen(key), NULL, 10);
}

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

/* Of gaps of 30, 100, 20, 50, 60 and 40 us the report lists one or two; those have ids, whenever they come. */
static void the_longest_gaps_have_the_reports_ids(void **state)
{
	static const char *const gaps =
		"kernel s7 2000-3000 \"k\"\nkernel s7 33000-34000 \"k\"\n"
		"kernel s7 134000-135000 \"k\"\nkernel s7 155000-156000 \"k\"\n"
		"kernel s7 206000-207000 \"k\"\nkernel s7 267000-268000 \"k\"\n"
		"kernel s7 308000-309000 \"k\"\n";
	char *script = script_of(gaps);
	size_t top;

	(void)state;
	for (top = 1; top <= 2; top++) {
		struct vpa_options analysis = {.jobs = 1, .top = top, .min_gap_ns = 1};
		struct vpt_buffer file;
		size_t ids = 0;
		char *said, *at;

		assert_int_equal(export_script(script, &analysis, &plain, &file), 0);
		said = decode(&file, "--slices", 0);
		for (at = said; (at = strstr(at, "'id': 'G")) != NULL; at++)
			ids++;
		assert_int_equal(ids, top);
		assert_non_null(strstr(said, "Idle gaps: 32000 +100000 depth 0 idle \"unknown"));
		assert_true(total_of(said, "\ngaps ") == 6);
		assert_true(total_of(said, "\ngap_ns ") == 300000);
		at = strstr(said, "'id': 'G1'");
		while (at > said && at[-1] != '\n')
			at--;
		assert_non_null(strstr(at, "+100000 "));
		assert_true(strstr(at, "+100000 ") < strchr(at, '\n'));
		free(said);
		vpt_free(file.data);
	}
	free(script);
}

/* ---- options ---- */

static const char *const many =
	"range t1 2000-2900 \"part\"\ncall t1 cudaLaunchKernel 2000-2010 corr 1\n"
	"call t1 cudaLaunchKernel 2500-2510 corr 2\ncall t1 cudaLaunchKernel 3000-3010 corr 3\n"
	"kernel s7 2100-2200 corr 1 \"a\"\nkernel s8 2150-2650 corr 2 \"b\"\n"
	"kernel s7 3100-3200 corr 3 \"c\"\nsample t1 2000 \"main (run.py:3);step\"\n"
	"sample t2 2000 \"main (run.py:3);item\" flags 1\n";

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

/* ---- calls that wait ---- */

struct waiting {
	const char *rule;
	unsigned syncs, streams, step; /* step: from the id of one sync to the next one's */
	unsigned chunk;                /* syncs in each; 0: all in one */
	int rows_first;                /* the rows of a chunk come one chunk before the calls */
};

static void put_waiting_calls(char **at, const struct waiting *w, unsigned from, unsigned to)
{
	for (; from < to; from++)
		put_line(at,
			"call t1 cudaLaunchKernel %u+5 corr %u\n"
			"call t1 cudaStreamSynchronize %u+90 corr %u\n",
			2000 + 100 * from, 1 + from * w->step, 2006 + 100 * from,
			2 + from * w->step);
}

static void put_waiting_rows(char **at, const struct waiting *w, unsigned from, unsigned to)
{
	for (; from < to; from++)
		put_line(at,
			"kernel s%u %u+20 corr %u \"k\"\n"
			"sync s%u stream %u+80 corr %u waits s%u\n",
			7 + from % w->streams, 2010 + 100 * from, 1 + from * w->step,
			7 + from % w->streams, 2008 + 100 * from, 2 + from * w->step,
			7 + from % w->streams);
}

/* Each call waits for the op before it: none of these waits is lost. */
static void waits_of_many(void **state)
{
	static const struct waiting rows[] = {
		{"one stream", 3000, 1, 8, 0, 0},
		{"ids 4096 apart", 300, 1, 4096, 0, 0},
		{"two streams", 3000, 2, 2, 0, 0},
		{"two streams, some chunks", 3000, 2, 3, 700, 0},
		{"calls a chunk later", 3000, 2, 8, 700, 1},
	};
	char *script = malloc(1 << 20), *said, *at;
	struct vpt_buffer file;
	unsigned from, to, last;
	size_t i;

	(void)state;
	assert_non_null(script);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct waiting *w = &rows[i];

		at = script;
		put_line(&at, "%s", header);
		for (from = last = 0; from < w->syncs; last = from, from = to) {
			to = w->chunk && from + w->chunk < w->syncs ? from + w->chunk : w->syncs;
			put_waiting_rows(&at, w, from, to);
			put_waiting_calls(
				&at, w, w->rows_first ? last : from, w->rows_first ? from : to);
			put_line(&at, "chunk\n");
		}
		if (w->rows_first)
			put_waiting_calls(&at, w, last, w->syncs);
		assert_int_equal(export_script(script, NULL, &plain, &file), 0);
		said = decode(&file, "", 0);
		if (total_of(said, "\ncall_waits ") != w->syncs)
			fail_msg("%s: %llu of %u waits", w->rule,
				(unsigned long long)total_of(said, "\ncall_waits "), w->syncs);
		free(said);
		vpt_free(file.data);
	}
	free(script);
}

/* Stacks with outer frames in common: samples on one thread, exact stacks on the other. */
static void put_stacks(char **at, struct vpt_random *r, uint64_t t)
{
	unsigned i;

	for (i = 0; i < 6; i++) {
		uint64_t leaf = vpt_random_below(r, 5);

		put_line(at, "sample t1 %llu \"main (run.py:%llu);step;f%llu (m.py:9)\"\n",
			(unsigned long long)t + i * 150, (unsigned long long)leaf % 2,
			(unsigned long long)leaf);
		put_line(at, "sample t2 %llu \"%s\" flags 1\n", (unsigned long long)t + i * 160,
			leaf ? leaf % 2 ? "main (run.py:7)" : "main (run.py:7);g (m.py:4)" : "");
	}
}

/* Chunks of calls with ops that come later, ranges of two domains that overlap in part, on two threads. */
static char *long_script(uint64_t seed, unsigned chunks, uint64_t least_ns)
{
	struct vpt_random r = {seed};
	char *script = malloc(1 << 20), *at = script;
	uint64_t t = 2000, correlation = 1, chunk, i;

	assert_non_null(script);
	put_line(&at, "%s", header);
	for (chunk = 0; chunk < chunks; chunk++) {
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
					(unsigned long long)correlation);
				put_line(&at, "sync s%llu stream %llu+%llu corr %llu waits s%llu\n",
					(unsigned long long)(7 + i % 2), (unsigned long long)start,
					(unsigned long long)ns * 3, (unsigned long long)correlation,
					(unsigned long long)(7 + i % 2));
				correlation++;
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
					(unsigned long long)(start + ns),
					(unsigned long long)(ns + least_ns),
					(unsigned long long)correlation,
					(unsigned long long)(i % 5));
				correlation++;
			}
		}
		put_stacks(&at, &r, t);
		t += 1000;
		put_line(&at, "chunk %llu\n", (unsigned long long)t);
	}
	return script;
}

static char *random_script(uint64_t seed)
{
	return long_script(seed, 6, 0);
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

/* Ops are slices for readers that know none of what came with ops as such: nothing of that may be there. */
static void as_slices_alone(void **state)
{
	static const char *const says[] = {"\nsubmissions 300",
		"\ncounter_samples 8", /* each at the end once more */
		"GPU utilization (GPU 0)", "SM clock (GPU 0)", "sample: GPU 0 0 memory 4096"};
	struct vpa_export_options slices = plain;
	char *script = script_of("series u device 0 unit \"%\" \"GPU utilization\"\n"
				 "series c device 0 unit \"MHz\" \"SM clock\"\n"
				 "series m device 0 unit \"B\" \"Memory used\"\n"
				 "series o pid 42 \"queue\"\n"
				 "counter u 2000 55\ncounter c 2000 1980\ncounter m 2000 4096\n"
				 "counter o 2000 1\n"
				 "call t1 cudaGraphLaunch 2000-2010 corr 1\n"),
	     *said;
	struct vpt_buffer file;
	size_t i, len = strlen(script);

	(void)state;
	/* More ops than a packet by hand can name. */
	script = realloc(script, len + 300 * 64);
	assert_non_null(script);
	for (i = 0; i < 300; i++)
		len += (size_t)sprintf(script + len, "kernel s7 %zu+5 corr 1 \"k\" node %zu\n",
			3000 + 10 * i, i + 1);
	slices.gpu_as_slices = 1;
	assert_int_equal(export_script(script, NULL, &slices, &file), 0);
	said = decode(&file, "--slices", 0);
	for (i = 0; i < sizeof(says) / sizeof(*says); i++)
		if (!strstr(said, says[i]))
			fail_msg("expected %s, found\n%s", says[i], said);
	free(said);
	free(script);
	vpt_free(file.data);
}

/* A grid of more blocks than 64 bits count is the largest number, in both forms of ops. */
static void a_grid_beyond_64_bits_does_not_wrap(void **state)
{
	struct vpa_export_options how = plain;
	struct vpt_buffer file;
	char *script, *said;

	(void)state;
	for (how.gpu_as_slices = 0; how.gpu_as_slices < 2; how.gpu_as_slices++) {
		script =
			script_of("kernel s7 3000+5 \"huge\" grid 4294967295x4294967295x4294967295 "
				  "block 128\n");
		assert_int_equal(export_script(script, NULL, &how, &file), 0);
		said = decode(&file, "--slices", 0);
		if (!strstr(said, "'grid_size': 18446744073709551615"))
			fail_msg("encoding %d: found\n%s", how.gpu_as_slices, said);
		free(said);
		free(script);
		vpt_free(file.data);
	}
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

/* ---- memory ---- */

static size_t in_use, most_in_use;

static void *counting(void *ptr, size_t size)
{
	enum { HEAD = 16 };
	size_t before = 0;
	char *now;

	if (ptr)
		memcpy(&before, (char *)ptr - HEAD, sizeof(before));
	now = realloc(ptr ? (char *)ptr - HEAD : NULL, size + HEAD);
	assert_non_null(now);
	memcpy(now, &size, sizeof(size));
	in_use += size - before;
	most_in_use = in_use > most_in_use ? in_use : most_in_use;
	return now + HEAD;
}

static void uncounting(void *ptr)
{
	size_t before;

	memcpy(&before, (char *)ptr - 16, sizeof(before));
	in_use -= before;
	free((char *)ptr - 16);
}

static int nowhere(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	(void)data;
	(void)err;
	sink->written_bytes += size;
	return 0;
}

/* The most memory at a time of a pass over a trace, with or without export. */
static size_t most_of(const struct vpt_trace *trace, int is_export, uint64_t *written)
{
	static const struct vpt_memory_ops ops = {counting, uncounting};
	struct vpa_options analysis = {.jobs = 1};
	struct vpa_export_options options = plain;
	struct vpt_sink sink = {.write = nowhere};
	const struct vpt_memory_ops *before;
	struct vpa_report *report = NULL;
	struct vpt_err err = {0};
	int rc;

	options.group_bytes = 8 << 10; /* so that many are written */
	in_use = most_in_use = 0;
	before = vpt_memory_use(&ops);
	if (is_export)
		rc = export_trace(trace, &analysis, &options, &sink, &err);
	else
		rc = vpa_analyze(trace, "x", &analysis, &report, &err);
	vpa_report_free(report);
	vpt_memory_use(before);
	assert_int_equal(rc, 0);
	assert_int_equal(in_use, 0);
	*written = sink.written_bytes;
	return most_in_use;
}

/* What the export of this many chunks takes besides the analysis, which keeps samples for its percentiles. */
static size_t memory_of(unsigned chunks, uint64_t *written)
{
	/* A call whose op has no length waits for another one, 10 s long. */
	char *script = long_script(5, chunks, 1);
	struct vpt_trace *trace;
	struct vpt_err err = {0};
	uint64_t nothing;
	size_t bytes;

	assert_int_equal(vpt_script_trace(script, &trace, &err), 0);
	bytes = most_of(trace, 1, written) - most_of(trace, 0, &nothing);
	vpt_trace_close(trace);
	free(script);
	return bytes;
}

static void memory_does_not_grow_with_length(void **state)
{
	uint64_t short_bytes, long_bytes;
	size_t of_short = memory_of(20, &short_bytes), of_long = memory_of(160, &long_bytes);

	/* The report's rows, which are few, may need another block of their arena beside the export's buffers. */
	enum { ARENA_BLOCK = 64 << 10 };

	(void)state;
	assert_true(long_bytes > short_bytes * 6);
	if (of_long > of_short + of_short / 10 + ARENA_BLOCK)
		fail_msg("%zu bytes for 20 chunks, %zu for 160", of_short, of_long);
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
		rc = export_trace(trace, &analysis, &plain, memory, &err);
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
		cmocka_unit_test(the_longest_gaps_have_the_reports_ids),
		cmocka_unit_test(windows),
		cmocka_unit_test(without_calls),
		cmocka_unit_test(waits_of_many),
		cmocka_unit_test(at_random),
		cmocka_unit_test(same_bytes),
		cmocka_unit_test(cut),
		cmocka_unit_test(a_hole),
		cmocka_unit_test(as_slices),
		cmocka_unit_test(as_slices_alone),
		cmocka_unit_test(a_grid_beyond_64_bits_does_not_wrap),
		cmocka_unit_test(the_decoder_can_fail),
		cmocka_unit_test(memory_does_not_grow_with_length),
		cmocka_unit_test(without_memory),
	};

	if (system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null")) {
		puts("SKIPPED: no python3 to decode exports with");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, stop_decoder);
}
