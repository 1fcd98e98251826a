/* test_counters.c - samples against a dumber calculation, and series, energy, memory and findings of
 * traces whose answers a person can compute. */
#include "analysis/analyze.h"
#include "analysis/base/sampled_series.h"
#include "analysis/render/renderer.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"
#include "tests/support/traces/script.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { CELL_NS = 1000000, CELLS = 400 };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- against values of every millisecond ---- */

/* The value in the middle of each cell, NAN: none; of lines the mean over a cell. */
static void fill_cells(enum vpa_sample_shape shape, const uint64_t *at, const double *value,
	size_t count, double cells[CELLS])
{
	size_t i, k;

	for (k = 0; k < CELLS; k++)
		cells[k] = NAN;
	for (i = 1; i < count; i++)
		for (k = at[i - 1]; k < at[i]; k++) {
			double part = ((double)(k - at[i - 1]) + 0.5) / (double)(at[i] - at[i - 1]);

			cells[k] = shape == VPA_SAMPLE_SINCE ? value[i]
				   : shape == VPA_SAMPLE_UNTIL
					   ? value[i - 1]
					   : value[i - 1] + part * (value[i] - value[i - 1]);
		}
}

static int compare_doubles(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static void near(const char *what, double expected, double found)
{
	if (fabs(expected - found) > 1e-6 + fabs(expected) * 1e-9)
		fail_msg("%s: expected %.9f, found %.9f", what, expected, found);
}

static int measure(const struct vpa_samples *s, const struct vpa_interval *times, size_t count,
	struct vpa_measure *m)
{
	struct vpa_intervals set = {.count = 0};
	size_t i;
	int rc;

	for (i = 0; i < count; i++)
		assert_int_equal(vpa_intervals_add(&set, times[i].start_ns, times[i].end_ns), 0);
	rc = vpa_samples_measure(s, &set, m);
	vpa_intervals_free(&set);
	return rc;
}

static void compare_with_cells(const struct vpa_samples *s, const double cells[CELLS],
	const struct vpa_interval *times, size_t count)
{
	double sorted[CELLS], area = 0;
	struct vpa_measure m;
	size_t i, k, n = 0;

	for (i = 0; i < count; i++)
		for (k = times[i].start_ns / CELL_NS; k < times[i].end_ns / CELL_NS; k++)
			if (!isnan(cells[k])) {
				sorted[n++] = cells[k];
				area += cells[k] / 1e3;
			}
	assert_int_equal(measure(s, times, count, &m), 0);
	assert_int_equal(m.covered_ns, n * (uint64_t)CELL_NS);
	near("area", area, m.area);
	if (!n)
		return;
	near("mean", area * 1e3 / (double)n, m.mean);
	if (s->shape == VPA_SAMPLE_LINE)
		return; /* cells do not have its extremes */
	qsort(sorted, n, sizeof(*sorted), compare_doubles);
	near("p95", sorted[(size_t)ceil(0.95 * (double)n) - 1], m.p95);
	/* A sample inside counts even if its value holds outside. */
	assert_true(m.min <= sorted[0] && m.max >= sorted[n - 1]);
}

static size_t make_series(struct vpt_random *r, struct vpa_samples *s, double cells[CELLS])
{
	uint64_t at[CELLS];
	double value[CELLS];
	size_t count = 0, i;
	uint64_t t = vpt_random_below(r, 50);

	for (; t < CELLS && count < CELLS; t += 1 + vpt_random_below(r, 40)) {
		at[count] = t;
		value[count++] = (double)vpt_random_below(r, 1000);
	}
	for (i = 0; i < count; i++)
		assert_int_equal(vpa_samples_add(s, at[i] * CELL_NS, value[i]), 0);
	fill_cells(s->shape, at, value, count, cells);
	return count;
}

static void measures_equal_a_sum_over_every_millisecond(void **state)
{
	struct vpt_random r = {.state = 42};
	struct vpa_interval times[8];
	double cells[CELLS], parts;
	size_t round, i, count;
	struct vpa_measure m;

	(void)state;
	for (round = 0; round < 3000; round++) {
		struct vpa_samples s = {.shape = (enum vpa_sample_shape)(round % 3)};
		struct vpa_interval all = {0, (uint64_t)CELLS * CELL_NS};
		uint64_t t = 0;

		make_series(&r, &s, cells);
		for (count = 0; count < COUNT(times) && t < CELLS - 60; count++) {
			times[count].start_ns = (t + vpt_random_below(&r, 30)) * CELL_NS;
			t = times[count].start_ns / CELL_NS + vpt_random_below(&r, 30);
			times[count].end_ns = t * CELL_NS;
		}
		compare_with_cells(&s, cells, times, count);
		compare_with_cells(&s, cells, &all, 1);
		/* Parts of the window add up to the window. */
		assert_int_equal(measure(&s, &all, 1, &m), 0);
		for (parts = 0, i = 0; i < CELLS; i += 25)
			parts += vpa_samples_area(&s, i * CELL_NS, (i + 25) * CELL_NS);
		near("parts", m.area, parts);
		vpa_samples_free(&s);
	}
}

/* 100 times as many samples as are kept. */
static void a_long_series_keeps_its_sum_and_its_extremes(void **state)
{
	enum { SAMPLES = 100 * VPA_SAMPLES_MAX + 17 };
	struct vpa_samples s = {.shape = VPA_SAMPLE_LINE};
	struct vpa_interval all = {0, (uint64_t)SAMPLES * CELL_NS};
	double area = 0, before = 0, value;
	struct vpa_measure m;
	uint64_t i;

	(void)state;
	for (i = 0; i < SAMPLES; i++) {
		value = i == 777777 ? 5000 : i == 1000001 ? -3 : (double)(i * 7919 % 1000);
		area += i ? (before + value) / 2 / 1e3 : 0;
		before = value;
		assert_int_equal(vpa_samples_add(&s, i * CELL_NS, value), 0);
		assert_true(s.count <= VPA_SAMPLES_MAX);
	}
	assert_int_equal(measure(&s, &all, 1, &m), 0);
	assert_int_equal(m.samples, SAMPLES);
	assert_int_equal(m.covered_ns, (uint64_t)(SAMPLES - 1) * CELL_NS);
	assert_true(fabs(m.area / area - 1) < 1e-9);
	near("min", -3, m.min);
	near("max", 5000, m.max);
	vpa_samples_free(&s);
}

/* 1 for each third event: the more of them are merged, the same is their mean. */
static void a_long_series_of_events_keeps_its_mean(void **state)
{
	enum { EVENTS = 12 * VPA_SAMPLES_MAX };
	struct vpa_samples s = {.shape = VPA_SAMPLE_EVENT};
	struct vpa_interval all = {0, UINT64_MAX};
	struct vpa_measure m;
	uint64_t i, t = 0;

	(void)state;
	for (i = 0; i < EVENTS; i++, t += i % 3 == 1 ? 1 : 1000)
		assert_int_equal(vpa_samples_add(&s, t, i % 3 == 0), 0);
	assert_int_equal(vpa_samples_end(&s, t), 0);
	assert_int_equal(measure(&s, &all, 1, &m), 0);
	assert_int_equal(m.samples, EVENTS);
	near("mean", 1.0 / 3, m.mean);
	near("by time", 1.0 / 2001, m.mean_by_time);
	near("min", 0, m.min);
	near("max", 1, m.max);
	vpa_samples_free(&s);
}

/* A trace ends with its last event, which may be a sample. */
static void a_last_sample_at_the_end_is_inside(void **state)
{
	struct vpa_samples s = {.shape = VPA_SAMPLE_EVENT};
	struct vpa_interval whole = {100, 300}, first = {100, 200};
	struct vpa_measure m;

	(void)state;
	vpa_samples_add(&s, 100, 0);
	vpa_samples_add(&s, 200, 1);
	vpa_samples_add(&s, 300, 1);
	assert_int_equal(vpa_samples_end(&s, 300), 0);
	assert_int_equal(measure(&s, &whole, 1, &m), 0);
	assert_int_equal(m.samples, 3);
	near("mean", 2 / 3.0, m.mean);
	assert_int_equal(measure(&s, &first, 1, &m), 0);
	assert_int_equal(m.samples, 1);
	near("what begins the next part is not in this one", 0, m.mean);
	vpa_samples_free(&s);
}

static void nonsense_is_dropped(void **state)
{
	struct vpa_samples s = {.shape = VPA_SAMPLE_UNTIL};
	struct vpa_interval all = {0, 1000}, none = {5, 5};
	struct vpa_measure m;

	(void)state;
	assert_int_equal(measure(&s, &all, 1, &m), 0);
	assert_int_equal(m.samples, 0);
	assert_int_equal(vpa_samples_end(&s, 1000), 0);
	assert_int_equal(s.count, 0);
	vpa_samples_add(&s, 100, NAN);
	vpa_samples_add(&s, 100, INFINITY);
	vpa_samples_add(&s, 100, 7);
	vpa_samples_add(&s, 50, 9);
	assert_int_equal(s.count, 1);
	assert_int_equal(measure(&s, &all, 1, &m), 0);
	assert_int_equal(m.samples, 1);
	near("a value for no time", 7, m.mean);
	assert_int_equal(measure(&s, &none, 1, &m), 0);
	assert_int_equal(m.samples, 0);
	assert_int_equal(vpa_samples_end(&s, 400), 0);
	assert_int_equal(measure(&s, &all, 1, &m), 0);
	assert_int_equal(m.samples, 1);
	assert_int_equal(m.covered_ns, 300);
	vpa_samples_free(&s);
}

/* ---- traces ---- */

static struct vpa_report *analyze(const char *script)
{
	const struct vpa_options options = {.jobs = 1, .overview = 1};

	return vpt_script_report(script, &options);
}

static const struct vpa_counter *counter(
	const struct vpa_report *r, int64_t device, const char *name)
{
	size_t i;

	for (i = 0; i < r->counter_count; i++)
		if (r->counters[i].device == device && !strcmp(r->counters[i].name, name))
			return &r->counters[i];
	fail_msg("there is no series %s of device %lld", name, (long long)device);
	return NULL;
}

static const struct vpa_counter_part *part(const struct vpa_counter *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->part_count; i++)
		if (!strcmp(c->parts[i].name, name))
			return &c->parts[i];
	fail_msg("%s: there is no stage %s", c->name, name);
	return NULL;
}

/* Scripts begin at 100 s: a time of 0 is invalid. */

/* A video of 10 s: a stage of 2 s on the host whose work runs from 1 to 3 s, and blocks of 2 s. */
#define VIDEO                                                                                      \
	"start 100s\n"                                                                             \
	"range t1 100s-110s \"video\" domain vptrace json \"{\\\"kind\\\":\\\"request\\\"}\"\n"    \
	"range t1 100s-102s \"encode\" domain vptrace json \"{\\\"kind\\\":\\\"stage\\\"}\"\n"     \
	"call t1 cudaLaunchKernel 100s+10 corr 1\nkernel s7 101s-103s corr 1 \"gemm\"\n"           \
	"range t1 102s-104s \"block 0\" domain vptrace json "                                      \
	"\"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":0,"                                           \
	"\\\"frames\\\":10}\"\n"                                                                   \
	"call t1 cudaLaunchKernel 102s+10 corr 2\nkernel s7 103s-105s corr 2 \"gemm\"\n"           \
	"range t1 104s-106s \"block 1\" domain vptrace json "                                      \
	"\"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":1,"                                           \
	"\\\"frames\\\":10}\"\n"                                                                   \
	"call t1 cudaLaunchKernel 104s+10 corr 3\nkernel s7 105s-107s corr 3 \"gemm\"\n"           \
	"range t1 106s-108s \"block 2\" domain vptrace json "                                      \
	"\"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":2,"                                           \
	"\\\"frames\\\":10}\"\n"                                                                   \
	"call t1 cudaLaunchKernel 106s+10 corr 4\n"                                                \
	"kernel s7 107s-110s corr 4 \"gemm\"\n"                                                    \
	"series power device 0 unit \"W\" \"Power draw\"\n"

static void energy_is_the_area_under_the_power(void **state)
{
	static const struct {
		const char *rule, *samples;
		double window, encode, blocks, request; /* J */
	} cases[] = {
		{"300 W for 10 s are 0.833 Wh, however uneven the samples are",
			"counter power 100s 300\ncounter power 101s 300\ncounter power 109s "
			"300\ncounter power 110s 300\n",
			3000, 600, 2100, 3000},
		{"a ramp from 0 to 1000 W", "counter power 100s 0\ncounter power 110s 1000\n", 5000,
			400, 4550, 5000},
		{"a step is a slope between its samples",
			"counter power 100s 100\ncounter power 103s 100\ncounter power 105s "
			"300\ncounter power 110s 300\n",
			2200, 200, 1900, 2200},
		{"what samples do not cover is not guessed",
			"counter power 102s 100\ncounter power 110s 100\n", 800, -1, 700, -1},
		{"a sample after the end counts for what is before it",
			"counter power 100s 100\ncounter power 120s 300\n", 1500, 240, 1155 + 0,
			1500},
	};
	const struct vpa_counter *c;
	struct vpa_report *r;
	char script[8192];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(script, sizeof(script), "%s%send 110s\n", VIDEO, cases[i].samples);
		r = analyze(script);
		c = counter(r, 0, "Power draw");
		print_message("%s\n", cases[i].rule);
		near("window", cases[i].window / 3600, c->energy_wh);
		near("encode", cases[i].encode < 0 ? -1 : cases[i].encode / 3600,
			part(c, "encode")->energy_wh);
		near("blocks", cases[i].blocks / 3600, part(c, "block")->energy_wh);
		assert_int_equal(c->request_count, 1);
		near("request", cases[i].request < 0 ? -1 : cases[i].request / 3600,
			c->requests[0].energy_wh);
		vpa_report_free(r);
	}
}

static void blocks_and_frames_share_the_energy(void **state)
{
	struct vpa_report *r =
		analyze(VIDEO "counter power 100s 300\ncounter power 110s 300\nend 110s\n");
	const struct vpa_counter *c = counter(r, 0, "Power draw");
	const struct vpa_request_energy *e = &c->requests[0];

	(void)state;
	assert_int_equal(e->block_count, 3);
	near("block 0", 600 / 3600.0, e->blocks[0].energy_wh);
	near("block 1", 600 / 3600.0, e->blocks[1].energy_wh);
	near("block 2", 900 / 3600.0, e->blocks[2].energy_wh);
	assert_int_equal(e->blocks[2].index, 2);
	near("a frame", 3000 / 3600.0 / 30, e->per_frame_wh);
	near("a measured block", 1500 / 3600.0 / 2, e->per_block_wh);
	near("its frame", 1500 / 3600.0 / 20, e->per_block_frame_wh);
	vpa_report_free(r);
}

/* A pause is not part of the window: neither its time nor its energy. */
static void a_pause_takes_no_energy(void **state)
{
	struct vpa_report *r = analyze(VIDEO "counter power 100s 300\ncounter power 110s 300\nloss "
					     "all paused 104s-106s\nend 110s\n");
	const struct vpa_counter *c = counter(r, 0, "Power draw");

	(void)state;
	near("window", 2400 / 3600.0, c->energy_wh);
	assert_int_equal(c->covered_ns, 8000000000);
	vpa_report_free(r);
}

/* The stage is at work on the GPU from 1 to 3 s, and on the host from 0 to 2 s. */
static void a_stage_is_when_its_work_runs(void **state)
{
	static const char script[] =
		VIDEO "series clock device 0 unit \"MHz\" \"SM clock\"\n"
		      "series cpu unit \"%\" \"Process CPU\"\n"
		      "series queue \"queue depth\"\n"
		      "counter clock 100s 1000\ncounter clock 102s 1000\ncounter clock 104s "
		      "2000\ncounter clock 110s 2000\n"
		      "counter cpu 101s 50\ncounter cpu 102s 90\ncounter cpu 103s 10\n"
		      "counter queue 101s 4\ncounter queue 109s 8\nend 110s\n";
	struct vpa_report *r = analyze(script);
	const struct vpa_counter *c = counter(r, 0, "SM clock");

	(void)state;
	near("clock", (1000 + 1250) / 2.0, part(c, "encode")->mean);
	near("its highest", 1500, part(c, "encode")->max);
	near("no energy", -1, c->energy_wh);
	c = counter(r, -1, "Process CPU");
	near("a share holds since the sample before", 90, part(c, "encode")->mean);
	assert_int_equal(part(c, "encode")->covered_ns, 1000000000);
	c = counter(r, -1, "queue depth");
	near("a number holds until the next", (8 * 4 + 1 * 8) / 9.0, c->mean_by_time);
	near("but its mean is of its samples", (4 + 8) / 2.0, c->mean);
	assert_int_equal(c->covered_ns, 9000000000);
	near("95 %", 8, c->p95);
	vpa_report_free(r);
}

/* 24 samples in 8 s, of which 8 are 1, each for a tenth of a second. */
static void put_events(char *out, size_t size)
{
	size_t i, used = 0;

	for (i = 0; i < 8; i++)
		used += (size_t)snprintf(out + used, size - used,
			"counter hit %zums 1\ncounter hit %zums 0\ncounter hit %zums 0\n",
			101000 + i * 1000, 101100 + i * 1000, 101700 + i * 1000);
}

static void the_unit_says_whether_samples_or_time_count(void **state)
{
	static const double of_samples = 8 / 24.0, held = 0.8 / 9, since = (7 * 0.3) / 7.7;
	static const double line = (8 * 0.05 + 7 * 0.15) / 7.7;
	static const struct {
		const char *series;
		enum vpa_mean_of mean_of;
		double mean, mean_by_time;
	} cases[] = {
		{"series hit \"cache hit\"\n", VPA_MEAN_OF_SAMPLES, of_samples, held},
		{"series hit unit \"\" \"cache hit\"\n", VPA_MEAN_OF_SAMPLES, of_samples, held},
		{"series hit unit \"hits\" \"cache hit\"\n", VPA_MEAN_OF_SAMPLES, of_samples, held},
		{"series hit unit \"ms\" \"cache hit\"\n", VPA_MEAN_OF_SAMPLES, of_samples, held},
		{"series hit unit \"bytes\" \"cache hit\"\n", VPA_MEAN_OF_TIME, held, held},
		{"series hit unit \"GiB\" \"cache hit\"\n", VPA_MEAN_OF_TIME, held, held},
		{"series hit unit \"%\" \"cache hit\"\n", VPA_MEAN_OF_TIME, since, since},
		{"series hit unit \"hits/s\" \"cache hit\"\n", VPA_MEAN_OF_TIME, since, since},
		{"series hit unit \"C\" \"cache hit\"\n", VPA_MEAN_OF_TIME, line, line},
	};
	char script[8192], samples[2048];
	size_t i;

	(void)state;
	put_events(samples, sizeof(samples));
	for (i = 0; i < COUNT(cases); i++) {
		const struct vpa_counter *c;
		struct vpa_report *r;

		snprintf(script, sizeof(script), "%s%s%send 110s\n", VIDEO, cases[i].series,
			samples);
		print_message("%s", cases[i].series);
		r = analyze(script);
		c = counter(r, -1, "cache hit");
		assert_int_equal(c->samples, 24);
		assert_int_equal(c->mean_of, cases[i].mean_of);
		near("mean", cases[i].mean, c->mean);
		near("by time", cases[i].mean_by_time, c->mean_by_time);
		near("max", 1, c->max);
		vpa_report_free(r);
	}
}

/* The stage has the events of 101 to 102 s; the one of 109 to 110 s has none, whatever was last. */
static void a_stage_has_the_events_in_it(void **state)
{
	char script[8192], samples[2048];
	const struct vpa_counter *c;
	struct vpa_report *r;
	size_t i;

	(void)state;
	put_events(samples, sizeof(samples));
	snprintf(script, sizeof(script),
		"%srange t1 109s-110s \"decode\" domain vptrace json "
		"\"{\\\"kind\\\":\\\"stage\\\"}\"\n"
		"call t1 cudaLaunchKernel 109s+10 corr 5\nkernel s7 110s-111s corr 5 \"gemm\"\n"
		"series hit \"cache hit\"\n%send 111s\n",
		VIDEO, samples);
	r = analyze(script);
	c = counter(r, -1, "cache hit");
	assert_int_equal(part(c, "encode")->samples, 3);
	near("mean", 1 / 3.0, part(c, "encode")->mean);
	near("p95", 1, part(c, "encode")->p95);
	assert_int_equal(part(c, "encode")->mean_of, VPA_MEAN_OF_SAMPLES);
	for (i = 0; i < c->part_count; i++)
		assert_string_not_equal(c->parts[i].name, "decode");
	vpa_report_free(r);
}

/* A stage of 2 s and one of 1 s; samples just before their ends, with what is held before each, or as older versions made
 * them, just after. The work of neither is what counts. */
static void memory_of_a_stage_is_what_it_holds_at_its_end(void **state)
{
	static const struct {
		const char *rule, *samples;
		double encode, decode;
	} cases[] = {
		{"in the stages",
			"counter held 99999ms 100\ncounter held 101990ms 4096\ncounter held "
			"104999ms "
			"12288\ncounter held 105990ms 2048\n",
			4096, 2048},
		{"after them",
			"counter held 102001ms 4096\ncounter held 104500ms 12288\n"
			"counter held 106001ms 2048\n",
			4096, 2048},
		{"a peak inside the second",
			"counter held 99999ms 100\ncounter held 101990ms 4096\ncounter held "
			"105500ms 12288\ncounter held 105990ms 2048\n",
			4096, 12288},
		{"and nothing for the second, but later",
			"counter held 99999ms 100\ncounter held 101990ms 4096\ncounter held 107s "
			"2048\n",
			4096, 2048},
	};
	const struct vpa_counter *c;
	struct vpa_report *r;
	char script[4096];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(script, sizeof(script),
			"start 99s\nseries held unit \"bytes\" \"memory.allocated\"\n"
			"range t1 100s-102s \"encode\" domain vptrace json "
			"\"{\\\"kind\\\":\\\"stage\\\"}\"\n"
			"call t1 cudaLaunchKernel 100s+10 corr 1\nkernel s7 101s-103s corr 1 "
			"\"gemm\"\n"
			"range t1 105s-106s \"decode\" domain vptrace json "
			"\"{\\\"kind\\\":\\\"stage\\\"}\"\n"
			"call t1 cudaLaunchKernel 105s+10 corr 2\nkernel s7 105s-108s corr 2 "
			"\"gemm\"\n"
			"%send 110s\n",
			cases[i].samples);
		print_message("%s\n", cases[i].rule);
		r = analyze(script);
		c = counter(r, -1, "memory.allocated");
		near("encode", cases[i].encode, part(c, "encode")->max);
		near("decode", cases[i].decode, part(c, "decode")->max);
		vpa_report_free(r);
	}
}

static void memory_in_use_follows_the_allocations(void **state)
{
	static const char script[] =
		VIDEO "memory s7 100s allocate memory_kind device bytes 1000 address 0x1000\n"
		      "memory s7 102s allocate memory_kind device bytes 500 address 0x2000\n"
		      "memory s7 104s free memory_kind device bytes 1000 address 0x1000\n"
		      "memory s7 105s free memory_kind device bytes 77 address 0x9000\n"
		      "memory s7 106s allocate memory_kind pinned bytes 64 address 0x1000\n"
		      "end 110s\n";
	struct vpa_report *r = analyze(script);
	const struct vpa_counter *c = counter(r, 0, "Allocated by CUDA calls");

	(void)state;
	near("peak", 1500, c->max);
	near("what was there before is not known", 500, c->p95 > 1500 ? 0 : c->min);
	near("in encode", 1500, part(c, "encode")->max);
	near("its mean", 1250, part(c, "encode")->mean);
	near("pinned", 64, counter(r, -1, "Pinned by CUDA calls")->max);
	vpa_report_free(r);
}

/* Whether a form of the report has these words. */
static int has(const struct vpa_report *r, const char *form, const char *words)
{
	struct vpt_err err = {0};
	struct vpt_buffer out;
	struct vpt_sink *sink;
	int found;

	assert_int_equal(vpt_sink_memory(&out, &sink, NULL), VPT_OK);
	if (vpa_renderer_find(form)->render(
		    r, &(struct vpa_text){.full = 1, .width = 100}, sink, &err) ||
		sink->finish(sink, 1, &err))
		fail_msg("%s", err.text);
	found = memmem(out.data, out.size, words, strlen(words)) != NULL;
	vpt_free(out.data);
	return found;
}

/* Whoever measured it: the driver, the CUDA calls, or PyTorch's allocator. */
static void the_text_says_the_most_memory_of_a_stage(void **state)
{
	static const char *const names[] = {
		"Memory used", "Allocated by CUDA calls", "PyTorch allocated"};
	char script[1024], words[128];
	struct vpa_report *r;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(names); i++) {
		snprintf(script, sizeof(script),
			VIDEO
			"series held device 0 unit \"B\" \"%s\"\ncounter held 100s 1000000000\n"
			"counter held 101500ms 3000000000\ncounter held 102s 2000000000\n"
			"end 110s\n",
			names[i]);
		snprintf(words, sizeof(words), " %s of GPU 0 at most: encode 3.00 GB\n", names[i]);
		r = analyze(script);
		if (!has(r, "text", words))
			fail_msg("expected: %s", words);
		vpa_report_free(r);
	}
}

static void the_page_has_a_section_if_there_are_samples(void **state)
{
	struct vpa_report *without = analyze(VIDEO "end 110s\n");
	struct vpa_report *with = analyze(VIDEO "counter power 100s 300\ncounter power 110s 300\n"
						"meta counters_ms \"500\"\nend 110s\n");

	(void)state;
	assert_int_equal(without->counter_count, 0);
	assert_int_equal(has(without, "text", "COUNTERS"), 0);
	assert_int_equal(has(with, "text", "COUNTERS, every 500 ms"), 1);
	assert_int_equal(
		has(with, "text", "Energy of GPU 0: 833 mWh; a video 833 mWh, a block 208 mWh"), 1);
	vpa_report_free(without);
	vpa_report_free(with);
}

static void all_forms_show_the_mean_of_events(void **state)
{
	static const struct {
		const char *form, *words;
	} cases[] = {
		{"text", " cache hit                                         0.0  0.333  1.0  1.0  "
			 "     24\n"},
		{"text", " Mean and p95 of the samples, others by time: cache hit\n"},
		{"json", "\"mean\": 0.333,\n      \"mean_of\": \"samples\",\n      "
			 "\"mean_by_time\": 0.089,\n"},
		{"json", "\"mean\": 300.000,\n      \"mean_of\": \"time\",\n      "
			 "\"mean_by_time\": 300.000,\n"},
		{"html", "<b>cache hit</b> <span>mean 0.333 of 24 samples, max 1.0</span>"},
	};
	char script[8192], samples[2048];
	struct vpa_report *r;
	size_t i;

	(void)state;
	put_events(samples, sizeof(samples));
	snprintf(script, sizeof(script),
		"%sseries hit \"cache hit\"\n%scounter power 100s 300\ncounter power 110s 300\n"
		"end 110s\n",
		VIDEO, samples);
	r = analyze(script);
	for (i = 0; i < COUNT(cases); i++)
		if (!has(r, cases[i].form, cases[i].words))
			fail_msg("%s: expected: %s", cases[i].form, cases[i].words);
	vpa_report_free(r);
}

/* ---- findings ---- */

static int has_finding(const struct vpa_report *r, const char *id)
{
	size_t i;

	for (i = 0; i < r->finding_count; i++)
		if (!strcmp(vpa_finding_text(r->findings[i].id), id))
			return 1;
	return 0;
}

#define FIVE(name, from, to)                                                                       \
	"counter " name " 100s " from "\ncounter " name " 102s " from "\ncounter " name            \
	" 104s " to "\ncounter " name " 106s " to "\ncounter " name " 108s " to "\ncounter " name  \
	" 110s " to "\n"
#define REASONS "series why device 0 unit \"bits\" \"Clocks event reasons\"\n"
#define CLOCK   "series clock device 0 unit \"MHz\" \"SM clock\"\n"
#define USED    "series used device 0 unit \"B\" \"Memory used\"\n"
#define TOTAL   "series total device 0 unit \"B\" \"Memory total\"\ncounter total 100s 1000\n"
#define DISK    "series disk unit \"B/s\" \"Disk read\"\n"
#define QUOTA   "series quota unit \"%\" \"CPU quota throttled\"\n"

static void findings_have_floors(void **state)
{
	static const struct {
		const char *rule, *id;
		int found;
		const char *samples;
	} cases[] = {
		{"a power cap with lower clocks", "throttling", 1,
			REASONS CLOCK FIVE("why", "0", "4") FIVE("clock", "1980", "1400")},
		{"a power cap that costs no clocks", "throttling", 0,
			REASONS CLOCK FIVE("why", "0", "4") FIVE("clock", "1980", "1970")},
		{"without clocks the reason is enough", "throttling", 1,
			REASONS FIVE("why", "0", "0x40")},
		{"an idle GPU is not limited", "throttling", 0, REASONS FIVE("why", "1", "5")},
		{"clocks that somebody set", "throttling", 0, REASONS FIVE("why", "0", "2")},
		{"a power cap from the start, at one clock", "throttling", 1,
			REASONS CLOCK FIVE("why", "4", "4") FIVE("clock", "1400", "1400")},
		{"a hardware slowdown from the start", "throttling", 1,
			REASONS CLOCK FIVE("why", "8", "8") FIVE("clock", "1400", "1400")},
		{"a software thermal slowdown from the start", "throttling", 1,
			REASONS CLOCK FIVE("why", "0x20", "0x20") FIVE("clock", "1400", "1400")},
		{"a hardware thermal slowdown from the start", "throttling", 1,
			REASONS CLOCK FIVE("why", "0x48", "0x48") FIVE("clock", "1400", "1400")},
		{"a power brake from the start, of clocks that somebody set", "throttling", 1,
			REASONS CLOCK FIVE("why", "0x82", "0x82") FIVE("clock", "1400", "1400")},
		{"from the start of the work, after idle time", "throttling", 1,
			REASONS CLOCK FIVE("why", "1", "4") FIVE("clock", "345", "1400")},
		{"from the start, but for a moment", "throttling", 1,
			REASONS CLOCK FIVE("clock", "1400",
				"1400") "counter why 100s 4\n"
					"counter why 103s 4\ncounter why 106s 4\ncounter why "
					"106500ms 0\n"
					"counter why 108s 4\ncounter why 110s 4\n"},
		{"an idle GPU from the start", "throttling", 0,
			REASONS CLOCK FIVE("why", "1", "1") FIVE("clock", "345", "345")},
		{"set clocks from the start", "throttling", 0,
			REASONS CLOCK FIVE("why", "2", "2") FIVE("clock", "1400", "1400")},
		{"clocks of the group or the display from the start", "throttling", 0,
			REASONS CLOCK FIVE("why", "0x110", "0x110") FIVE("clock", "1400", "1400")},
		{"no reason at one clock", "throttling", 0,
			REASONS CLOCK FIVE("why", "0", "0") FIVE("clock", "1400", "1400")},
		{"limited for a moment", "throttling", 0,
			REASONS "counter why 100s 0\ncounter why 101s 0\ncounter why 102s "
				"0\ncounter why 103s 4\ncounter why 104s 0\ncounter why 110s 0\n"},
		{"in too few samples", "throttling", 0,
			REASONS "counter why 100s 4\ncounter why 110s 4\n"},
		{"91 % of the memory", "memory-full", 1, TOTAL USED FIVE("used", "100", "910")},
		{"89 % of the memory", "memory-full", 0, TOTAL USED FIVE("used", "100", "890")},
		{"memory of unknown size", "memory-full", 0, USED FIVE("used", "100", "910")},
		{"reads in the loop", "disk-in-loop", 1, DISK FIVE("disk", "0", "1e8")},
		{"few reads in the loop", "disk-in-loop", 0, DISK FIVE("disk", "0", "1e6")},
		{"reads before the loop", "disk-in-loop", 0, DISK FIVE("disk", "1e9", "0")},
		{"a quota that runs out", "cpu-quota", 1, QUOTA FIVE("quota", "50", "20")},
		{"a quota that holds", "cpu-quota", 0, QUOTA FIVE("quota", "5", "5")},
	};
	char script[8192];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *r;

		snprintf(script, sizeof(script), "%s%send 110s\n", VIDEO, cases[i].samples);
		r = analyze(script);
		if (has_finding(r, cases[i].id) != cases[i].found)
			fail_msg("%s: expected %s%s", cases[i].rule, cases[i].found ? "" : "no ",
				cases[i].id);
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measures_equal_a_sum_over_every_millisecond),
		cmocka_unit_test(a_long_series_keeps_its_sum_and_its_extremes),
		cmocka_unit_test(a_long_series_of_events_keeps_its_mean),
		cmocka_unit_test(a_last_sample_at_the_end_is_inside),
		cmocka_unit_test(nonsense_is_dropped),
		cmocka_unit_test(energy_is_the_area_under_the_power),
		cmocka_unit_test(blocks_and_frames_share_the_energy),
		cmocka_unit_test(a_pause_takes_no_energy),
		cmocka_unit_test(a_stage_is_when_its_work_runs),
		cmocka_unit_test(the_unit_says_whether_samples_or_time_count),
		cmocka_unit_test(a_stage_has_the_events_in_it),
		cmocka_unit_test(memory_of_a_stage_is_what_it_holds_at_its_end),
		cmocka_unit_test(memory_in_use_follows_the_allocations),
		cmocka_unit_test(the_text_says_the_most_memory_of_a_stage),
		cmocka_unit_test(the_page_has_a_section_if_there_are_samples),
		cmocka_unit_test(all_forms_show_the_mean_of_events),
		cmocka_unit_test(findings_have_floors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
