/* test_findings_stops.c - what is said of a host that stands still, wherever it is; and where such a stretch is something else. */
#include "formats/base/count.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/advice/finding.h"
#include "analysis/retime/predictions.h"
#include "analysis/retime/retime.h"
#include "tests/support/traces/findings_rig.h"
#include "tests/support/outputs/read_back.h"

/* A loop of 600 kernels of 50 us, each launched 10 us after the one before has ended; the second half is in another range. Between
 * two of them the host may spend time, up to `until_us` from the start, or as long as that, in
 *
 *	l   the launch of the next kernel
 *	f   the same of a kernel that is used first
 *	s   a wait for the kernel before, which has ended
 *	c   code
 *	g   the same, for so long
 *	w   the same, in a range of its own
 *	m   cudaMalloc
 *	p   a copy from pageable memory */
enum { KERNELS = 600, STOPS_MOST = 6, SIZE = 120000 };

struct stop {
	int after; /* this kernel; 0: no more */
	char in;
	unsigned until_us;
};

static const struct {
	const char *rule;
	struct stop stops[STOPS_MOST];
	const char *more;     /* events of other threads, and names */
	const char *measured; /* of the finding; NULL: there is none */
	const char *title;    /* a part of it */
	double left_ms;       /* of the active time, in a replay without them */
} cases[] = {
	{"a CPU quota stops the process until its next period",
		{{100, 'l', 50000}, {250, 's', 150000}, {280, 'l', 250000}, {400, 'c', 350000},
			{500, 'l', 450000}},
		"",
		"5 stops of 43.7 ms to 98.1 ms, 419 ms of idle time in all, in 4 places; they end "
		"every 100 ms",
		"CPU quota", 37.8},
	{"stops that end at any time have no name",
		{{100, 'l', 17000}, {250, 's', 50000}, {280, 'l', 62000}, {400, 's', 99000},
			{500, 'l', 131000}},
		"", "5 stops of 10.1 ms to 29.4 ms, 99.5 ms of idle time in all, in 4 places",
		"look for other processes", 37.8},
	{"code may need as long",
		{{100, 'c', 17000}, {250, 'c', 50000}, {280, 'c', 62000}, {400, 'c', 99000},
			{500, 'c', 131000}},
		"", NULL, NULL, 0},
	{"code that ends every 100 ms may have a pace",
		{{100, 'c', 50000}, {250, 'c', 150000}, {280, 'c', 250000}, {400, 'c', 350000},
			{500, 'c', 450000}},
		"", NULL, NULL, 0},
	{"launches alone may be slow for a reason of theirs",
		{{100, 'l', 17000}, {250, 'l', 50000}, {280, 'l', 62000}, {400, 'l', 99000},
			{500, 'l', 131000}},
		"", NULL, NULL, 0},
	{"what is used first is loaded",
		{{100, 'f', 17000}, {250, 's', 50000}, {280, 'f', 62000}, {400, 's', 99000},
			{500, 'f', 131000}},
		"", NULL, NULL, 0},
	{"the allocator, and copies of pageable memory, take long",
		{{100, 'm', 17000}, {250, 'p', 50000}, {280, 'm', 62000}, {400, 'p', 99000},
			{500, 'l', 131000}},
		"", NULL, NULL, 0},
	{"a thread that allocates may hold up another one",
		{{100, 'l', 17000}, {250, 's', 50000}, {280, 'l', 62000}, {400, 's', 99000},
			{500, 'l', 131000}},
		"call t2 cudaHostAlloc 1000us-18000us corr 9001\n"
		"call t2 cudaHostAlloc 60000us-140000us corr 9002\n",
		NULL, NULL, 0},
	{"a thread that goes on does not stand still",
		{{100, 'l', 17000}, {250, 's', 50000}, {280, 'l', 62000}, {400, 's', 99000},
			{500, 'l', 131000}},
		"call t2 cudaEventRecord 11000us-11002us corr 9001\n"
		"call t2 cudaEventRecord 30000us-30002us corr 9002\n"
		"call t2 cudaEventRecord 57000us-57002us corr 9003\n",
		NULL, NULL, 0},
	{"a wait may be for a function of the host",
		{{100, 'l', 17000}, {250, 's', 50000}, {280, 's', 62000}, {400, 's', 99000},
			{500, 's', 131000}},
		"call t1 cudaLaunchHostFunc 0us-1us corr 9001\n", NULL, NULL, 0},
};

static const char names[][24] = {"elementwise_0", "elementwise_1", "elementwise_2", "elementwise_3",
	"elementwise_4", "elementwise_5", "elementwise_6"};

struct script {
	char text[SIZE];
	size_t used;
	unsigned at_us, call;
	const char *kernel;
};

static void put(struct script *s, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(s->text + s->used, sizeof(s->text) - s->used, format, args);
	va_end(args);
	assert_true(n > 0 && s->used + (size_t)n < sizeof(s->text));
	s->used += (size_t)n;
}

/* The next kernel, which is launched for so long. */
static void run(struct script *s, unsigned launch_us)
{
	s->call++;
	put(s, "call t1 cudaLaunchKernel %uus+%uus corr %u\nkernel s7 %uus+50us corr %u \"%s\"\n",
		s->at_us, launch_us, s->call, s->at_us + launch_us + 1, s->call, s->kernel);
	s->at_us += launch_us + 61;
}

/* Returns how long the next launch takes. */
static unsigned stop(struct script *s, const struct stop *stop)
{
	static const char *const calls[128] = {
		['m'] = "cudaMalloc", ['s'] = "cudaStreamSynchronize", ['p'] = "cudaMemcpy"};
	unsigned until_us = stop->until_us;

	if (stop->in == 'g' || stop->in == 'w')
		until_us += s->at_us;
	if (stop->in == 'w')
		put(s, "range t1 %uus-%uus \"save\"\n", s->at_us + 1, until_us);
	if (stop->in == 'f')
		s->kernel += sizeof(names[0]);
	if (stop->in == 'l' || stop->in == 'f')
		return until_us - s->at_us;
	if (calls[(unsigned char)stop->in])
		put(s, "call t1 %s %uus-%uus corr %u\n", calls[(unsigned char)stop->in], s->at_us,
			until_us, 2000 + s->call);
	s->at_us = until_us + 1;
	return 2;
}

static void write_script(struct script *s, const struct stop *stops, const char *more)
{
	int i;

	*s = (struct script){.at_us = 1, .kernel = names[0]};
	put(s, "start 0us\nthread t1 pid 1 tid 1\nthread t2 pid 1 tid 2\n%s", more);
	for (i = 0; i < KERNELS; i++) {
		unsigned launch_us = 2, from_us = s->at_us;

		if (stops->after && stops->after == i)
			launch_us = stop(s, stops++);
		run(s, launch_us);
		put(s, "range t1 %uus-%uus \"%s\"\n", from_us, s->at_us,
			i < KERNELS / 2 ? "denoise" : "decode");
	}
}

static void expect_absorbed(const char *rule, const struct vpa_report *r)
{
	static const char *const others[] = {
		"launch-call", "sync-drain", "host-stall", "host-waits"};
	size_t i;

	for (i = 0; i < COUNT(others); i++)
		if (finding(r, others[i]))
			fail_msg("%s: %s is there too", rule, others[i]);
}

/* All that the sentences say, as data. */
static void expect_data(const char *rule, const struct vpa_report *r)
{
	struct vpa_report *back = read_back(r);
	const struct vpa_host_stops *stops = &back->host_stops;
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < stops->cause_count; i++) {
		assert_int_equal(
			stops->causes[i].ns, r->host_stops.cause_ns[stops->causes[i].cause]);
		ns += stops->causes[i].ns;
	}
	if (!ns || stops->ns != r->host_stops.ns || ns != stops->ns ||
		stops->count != r->host_stops.count || stops->places != r->host_stops.places ||
		stops->shortest_ns != r->host_stops.shortest_ns ||
		stops->longest_ns != r->host_stops.longest_ns ||
		stops->clock.every_ns != r->host_stops.clock.every_ns ||
		stops->clock.from_ns != r->host_stops.clock.from_ns)
		fail_msg("%s: other stops in the JSON", rule);
	vpa_report_free(back);
}

static void stops_in_unrelated_places_are_one_finding(void **state)
{
	static struct script script;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const char *rule = cases[i].rule, *measured = cases[i].measured;
		struct vpt_trace *trace = NULL;
		struct vpa_report *r = NULL;
		const struct vpa_finding *f;
		struct vpt_err err = {0};

		write_script(&script, cases[i].stops, cases[i].more);
		if (vpt_script_trace(script.text, &trace, &err) ||
			vpa_analyze(trace, "case", NULL, &r, &err) ||
			vpa_predict(trace, 1, VPA_REPLAYED_MOST, r, &err))
			fail_msg("%s: %s", rule, err.text);
		f = finding(r, "host-stops");
		if (!f != !measured || (f && strcmp(f->measured, measured) != 0))
			fail_msg("%s: expected \"%s\", found \"%s\"", rule,
				measured ? measured : "nothing", f ? f->measured : "nothing");
		if (f && !strstr(f->title, cases[i].title))
			fail_msg("%s: %s", rule, f->title);
		if (f && fabs(f->predicted_ms - cases[i].left_ms) > 0.01 * cases[i].left_ms)
			fail_msg("%s: expected %.3f ms, predicted %.3f of %.3f (%s)", rule,
				cases[i].left_ms, f->predicted_ms, f->base_ms, f->change);
		if (f)
			expect_absorbed(rule, r);
		if (f) {
			expect_page(rule, r, "the host stood still: 5 times", 1);
			expect_data(rule, r);
		}
		vpa_report_free(r);
		vpt_trace_close(trace);
	}
}

/* Of code that takes long now and then, where else it takes nothing, only that is known. */
static void rare_pauses_are_named(void **state)
{
	static const struct {
		const char *rule;
		struct stop stops[STOPS_MOST];
		const char *words; /* of the note; NULL: there is none */
	} pauses[] = {
		{"garbage collection pauses any code",
			{{100, 'g', 30000}, {200, 'g', 33000}, {350, 'g', 31000},
				{500, 'g', 32000}},
			"4 times it took 30.0 ms to 33.0 ms, 126 ms in all: a pause for garbage"},
		{"all may be as long",
			{{100, 'g', 30000}, {200, 'g', 30000}, {350, 'g', 30000},
				{500, 'g', 30000}},
			"4 times it took 30.0 ms, 120 ms in all: a pause for garbage"},
		{"code of any length may be just that",
			{{100, 'g', 30000}, {200, 'g', 20000}, {350, 'g', 11000}, {500, 'g', 7000}},
			NULL},
		{"what is always long is that code",
			{{100, 'w', 30000}, {200, 'w', 33000}, {350, 'w', 31000},
				{500, 'w', 32000}},
			NULL},
		{"twice is chance", {{100, 'g', 30000}, {200, 'g', 33000}}, NULL},
	};
	static struct script script;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(pauses); i++) {
		const struct vpa_finding *f;
		struct vpa_report *r;

		write_script(&script, pauses[i].stops, "");
		r = vpt_script_report(script.text, NULL);
		f = finding(r, "host-stall");
		if (!f || !f->note ||
			!pauses[i].words !=
				!strstr(f->note, pauses[i].words ? pauses[i].words : "garbage"))
			fail_msg("%s: %s", pauses[i].rule, f && f->note ? f->note : "nothing");
		expect_page(
			pauses[i].rule, r, "as garbage collection may.", pauses[i].words != NULL);
		vpa_report_free(r);
	}
}

/* 40 ms of code in `place`, which is entered 100 times, 36 of them in four pauses. */
static const struct vpa_pauses *pauses_in(const char *place)
{
	static struct vpa_idle_part part;
	static struct vpa_device device;
	static struct vpa_range_row range;
	static struct vpa_report r;
	static struct vpa_pauses pauses;

	pauses = (struct vpa_pauses){.count = 4,
		.ns = 36000000,
		.shortest_ns = 9000000,
		.longest_ns = 9000000,
		.places = &place,
		.place_count = 1};
	r = (struct vpa_report){.pauses = &pauses,
		.pause_count = 1,
		.devices = &device,
		.device_count = 1,
		.ranges = &range,
		.range_count = 1};
	part = (struct vpa_idle_part){.cause = VPA_CAUSE_HOST_CODE,
		.place = {.kind = VPA_PLACE_IN, .text = place},
		.ns = 40000000,
		.gaps = 100};
	device = (struct vpa_device){.causes = &part, .cause_count = 1};
	range = (struct vpa_range_row){.name = place, .host.count = 100};
	return vpa_rare_pauses(&r);
}

static void an_operator_collects_no_garbage(void **state)
{
	(void)state;
	assert_non_null(pauses_in("decode"));
	assert_null(pauses_in("aten::add_"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stops_in_unrelated_places_are_one_finding),
		cmocka_unit_test(rare_pauses_are_named),
		cmocka_unit_test(an_operator_collects_no_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
