/* test_blocks.c - requests, blocks, steps and stages: every definition on a capture whose answer a person can
 * compute. Scripts (tests/support/script.h) are put together by small functions that speak of blocks and steps.
 * Long, since the cases of all definitions use the same few builders of scripts. */
#include "analysis/analyze.h"
#include "analysis/folds/blocks_math.h"
#include "formats/count.h"
#include "formats/memory.h"
#include "tests/support/random.h"
#include "tests/support/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000

/* ---- captures ---- */

static struct {
	char text[1 << 20];
	size_t len;
	unsigned corr;
} script;

__attribute__((format(printf, 1, 2))) static void line(const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(script.text + script.len, sizeof(script.text) - script.len, format, args);
	va_end(args);
	assert_in_range(n, 0, sizeof(script.text) - script.len - 2);
	script.len += (size_t)n;
	script.text[script.len++] = '\n';
	script.text[script.len] = '\0';
}

static void begin(void)
{
	script.len = script.corr = 0;
	line("start 1s");
}

/* Times are milliseconds since the capture's start. */
static unsigned at(unsigned ms)
{
	return 1000 + ms;
}

/* A push/pop range of thread t1 with an annotation; single quotes stand for double ones. */
static void annotated(
	const char *kind, unsigned from, unsigned to, const char *name, const char *json)
{
	char escaped[256];
	size_t n = 0;

	for (; *json && n + 3 < sizeof(escaped); json++) {
		if (*json == '\'')
			escaped[n++] = '\\';
		escaped[n++] = *json == '\'' ? '"' : *json;
	}
	escaped[n] = '\0';
	line("%s t1 %ums-%ums \"%s\" domain vptrace json \"%s\"", kind, at(from), at(to), name,
		escaped);
}

static void block(unsigned from, unsigned to, unsigned index, unsigned frames)
{
	char name[32], json[96];

	snprintf(name, sizeof(name), "block %u", index);
	if (frames)
		snprintf(json, sizeof(json), "{'kind':'block','index':%u,'frames':%u,'latents':3}",
			index, frames);
	else
		snprintf(json, sizeof(json), "{'kind':'block','index':%u}", index);
	annotated("range", from, to, name, json);
}

static void step(unsigned from, unsigned to, unsigned index, int context)
{
	char name[32], json[96];

	snprintf(name, sizeof(name), context ? "context pass" : "step %u", index);
	snprintf(json, sizeof(json), "{'kind':'step','index':%u,'timestep':%u%s}", index,
		context ? 0 : 1000 - 250 * index, context ? ",'context':1" : "");
	annotated("range", from, to, name, json);
}

static void request(unsigned from, unsigned to, const char *name)
{
	annotated("range", from, to, name, "{'kind':'request'}");
}

static void ready(unsigned ms, unsigned index, unsigned frames)
{
	line("mark t1 %ums \"frames\" domain vptrace json "
	     "\"{\\\"kind\\\":\\\"frames\\\",\\\"index\\\":%u,"
	     "\\\"frames\\\":%u}\"",
		at(ms), index, frames);
}

/* A kernel, launched a moment after `launched`. */
static void kernel_on(
	unsigned launched, const char *stream, unsigned from, unsigned to, const char *name)
{
	script.corr++;
	line("call t1 cudaLaunchKernel %u001us+1us corr %u", at(launched), script.corr);
	line("kernel %s %ums-%ums corr %u \"%s\"", stream, at(from), at(to), script.corr, name);
}

static void kernel(unsigned launched, unsigned from, unsigned to, const char *name)
{
	kernel_on(launched, "s7", from, to, name);
}

#define ATTENTION "flash_fwd_kernel"
#define GEMM      "ampere_sgemm_128x64"
#define CONV      "implicit_convolve_sgemm"

static struct vpa_report *analyze(const struct vpa_options *options)
{
	struct vpt_trace *trace = NULL;
	struct vpa_report *report = NULL;
	struct vpt_err err = {0};

	if (vpt_script_trace(script.text, &trace, &err) ||
		vpa_analyze(trace, "case", options, &report, &err))
		fail_msg("%s\n%s", err.text, script.text);
	vpt_trace_close(trace);
	return report;
}

/* ---- a request in few words ---- */

struct words {
	char text[2000];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(w->text + w->len, sizeof(w->text) - w->len, format, args);
	va_end(args);
	assert_in_range(n, 0, sizeof(w->text) - w->len - 1);
	w->len += (size_t)n;
}

/* Up to three decimals, no zeros at the end; nothing for what is unavailable. */
static void say_rate(struct words *w, const char *name, double rate)
{
	char number[40];
	size_t len;

	if (rate < 0)
		return;
	len = (size_t)snprintf(number, sizeof(number), "%.3f", rate);
	while (number[len - 1] == '0')
		number[--len] = '\0';
	if (number[len - 1] == '.')
		number[--len] = '\0';
	say(w, "%s%s %s", w->len ? ", " : "", name, number);
}

static void say_count(struct words *w, const char *name, uint64_t n)
{
	if (n)
		say(w, "%s%s %" PRIu64, w->len ? ", " : "", name, n);
}

static void say_request(struct words *w, const struct vpa_request *r)
{
	const struct vpa_blocks *b = &r->blocks;

	say_count(w, "blocks", b->count);
	say_count(w, "warmup", b->warmup);
	say_count(w, "left out", b->left_out);
	say_count(w, "frames", b->frames);
	say_rate(w, "FPS", b->fps);
	say_rate(w, "denoise rate", b->denoise_rate);
	say_rate(w, "BPS", b->bps);
	say_rate(w, "busy", b->fps_busy);
	say_rate(w, "denoise", b->fps_denoise);
	say_rate(w, "latent", b->latent_fps);
	say_count(w, "all", r->frames);
	say_rate(w, "end to end", r->fps_end_to_end);
	say_rate(w, "TTFB ms", r->ttfb_ns ? (double)r->ttfb_ns / MS : -1);
	say_rate(w, "TTFF ms", r->ttff_ns ? (double)r->ttff_ns / MS : -1);
	say_count(w, "steps", r->steps.count);
	say_rate(w, "a block", r->steps.per_block);
	say_rate(w, "steps/s", r->steps.steps_per_s);
	say_rate(w, "s/it", r->steps.s_per_it);
	say_count(w, "context", r->steps.context_count);
}

static void say_periods(struct words *w, const struct vpa_request *r)
{
	size_t i;

	for (i = 0; i < r->blocks.count; i++) {
		const struct vpa_block_row *b = &r->blocks.series[i];

		say(w, "%s%" PRId64 ": %g", i ? ", " : "", b->index, (double)b->period_ns / MS);
		if (b->latency_ns != b->period_ns)
			say(w, " (%g)", (double)b->latency_ns / MS);
	}
}

static void expect(const char *rule, const struct words *found, const char *expected)
{
	if (strcmp(found->text, expected))
		fail_msg("%s:\n  found    %s\n  expected %s\n%s", rule, found->text, expected,
			script.text);
}

static void expect_request(
	const char *rule, const struct vpa_report *r, size_t request_at, const char *expected)
{
	struct words w = {.len = 0};

	if (request_at < r->request_count)
		say_request(&w, &r->requests[request_at]);
	expect(rule, &w, expected);
}

/* What the request is made of sums to it; for every report. */
static void check_sums(const struct vpa_report *r)
{
	size_t q, i;

	for (q = 0; q < r->request_count; q++) {
		const struct vpa_blocks *b = &r->requests[q].blocks;
		uint64_t parts = 0, wanted = 0, span = 0;

		assert_int_equal(b->count, b->warmup + b->measured);
		/* From one step to the next: never at odds with how many there are in a second. */
		assert_true((r->requests[q].steps.steps_per_s > 0) ==
			    (r->requests[q].steps.s_per_it > 0));
		if (r->requests[q].steps.steps_per_s > 0)
			assert_true(r->requests[q].steps.s_per_it ==
				    1 / r->requests[q].steps.steps_per_s);
		for (i = 0; i < b->count; i++) {
			const struct vpa_block_row *row = &b->series[i];

			assert_int_equal(row->busy_ns + row->idle_ns + row->paused_ns,
				row->period_ns * row->devices);
			assert_int_equal(row->end_ns - row->start_ns, row->latency_ns);
			wanted += row->warmup ? 0 : row->period_ns * row->devices;
			span += row->warmup ? 0 : row->period_ns;
		}
		for (i = 0; i < b->part_count; i++)
			parts += b->parts[i].ns;
		assert_int_equal(parts, wanted);
		assert_int_equal(b->span_ns, span);
		assert_int_equal(b->busy_ns + b->idle_ns + b->paused_ns, wanted);
	}
}

static void expect_report(const char *rule, const struct vpa_options *options, const char *expected)
{
	struct vpa_report *r = analyze(options);

	check_sums(r);
	expect_request(rule, r, 0, expected);
	vpa_report_free(r);
}

static void expect_note(const char *rule, const struct vpa_report *r, const char *note)
{
	size_t i;

	for (i = 0; i < r->verdict.reason_count; i++)
		if (strstr(r->verdict.reasons[i], note))
			return;
	fail_msg("%s: no reason says \"%s\"", rule, note);
}

/* ---- the reference case ---- */

/* Blocks of four steps of 100 ms and a context pass; the host is `ahead` by so much, at most. */
static void reference_blocks(unsigned from, unsigned count, unsigned host_ms)
{
	unsigned b, s;

	for (b = 0; b < count; b++) {
		unsigned host = from + b * 5 * host_ms, device = from + b * 500;

		block(host, host + 5 * host_ms, b, b ? 12 : 9);
		for (s = 0; s < 5; s++) {
			step(host + s * host_ms, host + (s + 1) * host_ms, s, s == 4);
			kernel(host + s * host_ms, device + s * 100, device + s * 100 + 60,
				ATTENTION);
			kernel(host + s * host_ms, device + s * 100 + 60, device + s * 100 + 100,
				GEMM);
		}
	}
}

#define REFERENCE                                                                                  \
	"blocks 7, warmup 1, frames 72, FPS 24, BPS 2, busy 24, denoise 30, latent 6, all 81, "    \
	"end to "                                                                                  \
	"end 23.143, TTFB ms 500, steps 28, a block 4, steps/s 10, s/it 0.1, context 7"

static void the_reference_case(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	request(0, 3500, "clip");
	reference_blocks(0, 7, 100);
	expect_report("seven blocks of 500 ms", NULL, REFERENCE);
	r = analyze(NULL);
	assert_true(r->requests[0].blocks.fps == 24.0);
	assert_true(r->requests[0].blocks.bps == 2.0);
	assert_true(r->requests[0].steps.steps_per_s == 10.0);
	assert_true(r->requests[0].fps_end_to_end == 81.0 / 3.5);
	assert_string_equal(r->requests[0].name, "clip");
	assert_int_equal(r->requests[0].blocks.attention.p50_ns, 300 * MS);
	vpa_report_free(r);

	begin();
	reference_blocks(0, 7, 100);
	expect_report("without a request the window is one", NULL, REFERENCE);

	begin();
	request(0, 35, "clip");
	reference_blocks(0, 7, 1);
	expect_report("ranges that are over before their kernels begin", NULL, REFERENCE);
}

static void the_window_is_a_request_from_its_start(void **state)
{
	(void)state;
	begin();
	reference_blocks(1000, 7, 100);
	expect_report("start-up counts", NULL,
		"blocks 7, warmup 1, frames 72, FPS 24, BPS 2, busy 24, denoise 30, latent 6, all "
		"81, end "
		"to end 18, TTFB ms 1500, steps 28, a block 4, steps/s 10, s/it 0.1, context 7");
}

/* ---- where blocks end ---- */

/* Up to four chunks in flight: each forward works on all that are open. */
static void overlapping_blocks_have_long_latencies_and_short_periods(void **state)
{
	struct vpa_report *r;
	struct words w = {.len = 0};
	unsigned k, forward;

	(void)state;
	begin();
	for (k = 0; k < 6; k++) {
		char json[64];

		snprintf(json, sizeof(json), "{'kind':'block','index':%u,'frames':24}", k);
		annotated("startend", k * 100, k * 100 + 400, "chunk", json);
	}
	for (forward = 0; forward < 9; forward++)
		kernel(forward * 100, forward * 100 + 10, forward * 100 + 110, GEMM);
	r = analyze(NULL);
	check_sums(r);
	expect_request("overlap", r, 0,
		"blocks 6, warmup 1, frames 120, FPS 240, BPS 10, busy 240, all 144, end to end "
		"158.242, "
		"TTFB ms 410");
	say_periods(&w, &r->requests[0]);
	expect("latency is four periods", &w,
		"0: 400, 1: 100 (400), 2: 100 (400), 3: 100 (400), 4: 100 (400), 5: 100 (400)");
	vpa_report_free(r);
}

static void a_mark_says_when_frames_are_ready(void **state)
{
	struct vpa_report *r;
	struct words w = {.len = 0};
	unsigned k;

	(void)state;
	/* Denoising in the block, the VAE behind it; the host runs ahead all the time. */
	begin();
	for (k = 0; k < 4; k++) {
		unsigned host = k * 10, device = k * 100 + 100;

		block(host, host + 4, k, k ? 12 : 9);
		kernel(host + 1, device, device + 60, GEMM);
		annotated("range", host + 4, host + 6, "vae_decode", "{'kind':'stage'}");
		kernel(host + 5, device + 60, device + 90, CONV);
		ready(host + 7, k, 12);
		kernel(host + 8, device + 90, device + 95, GEMM); /* behind the mark */
	}
	r = analyze(NULL);
	check_sums(r);
	expect_request("with marks", r, 0,
		"blocks 4, warmup 1, frames 36, FPS 120, BPS 10, busy 126.316, latent 30, all 45, "
		"end to "
		"end 90.909, TTFB ms 190, TTFF ms 190");
	say_periods(&w, &r->requests[0]);
	expect("with marks", &w, "0: 90, 1: 100 (90), 2: 100 (90), 3: 100 (90)");
	vpa_report_free(r);
}

static void a_mark_of_a_block_that_only_has_a_name(void **state)
{
	struct vpa_report *r;
	struct words w = {.len = 0};
	unsigned cut;

	(void)state;
	for (cut = 0; cut < 2; cut++) {
		begin();
		w.len = 0;
		line("range t1 %ums-%ums \"block 0\"", at(0), at(10));
		kernel(1, 1, 5, GEMM);
		kernel(20, 20, 30, GEMM);
		if (cut)
			line("chunk");
		ready(40, 0, 9);
		line("range t1 %ums-%ums \"block 1\"", at(50), at(60));
		kernel(51, 51, 55, GEMM);
		r = analyze(NULL);
		say_periods(&w, &r->requests[0]);
		expect("wherever chunks end", &w, "0: 29, 1: 25 (4)");
		vpa_report_free(r);
	}
}

static void a_mark_belongs_to_the_newest_block_of_its_index(void **state)
{
	struct vpa_report *r;
	struct words w = {.len = 0};

	(void)state;
	begin();
	block(0, 10, 0, 0);
	kernel(1, 1, 5, GEMM);
	kernel(20, 20, 30, GEMM);
	ready(40, 0, 9);
	block(50, 60, 1, 0);
	kernel(51, 51, 55, GEMM);
	ready(60, 7, 9); /* there is no such block */
	kernel(61, 61, 70, GEMM);
	line("mark t2 %ums \"frames\" domain vptrace json \"{\\\"kind\\\":\\\"frames\\\"}\"",
		at(80)); /* launched nothing */
	ready(90, 1, 12);
	line("mark t1 %ums \"frames\" domain other json \"{\\\"kind\\\":\\\"frames\\\"}\"", at(95));
	kernel(91, 91, 99, GEMM);
	r = analyze(NULL);
	check_sums(r);
	say_periods(&w, &r->requests[0]);
	expect("ends", &w, "0: 29, 1: 40 (19)");
	assert_int_equal(r->requests[0].frames, 21);
	vpa_report_free(r);
}

static void an_op_of_another_thread_inside_the_period_is_in_it(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	block(0, 10, 0, 4);
	kernel(1, 0, 10, GEMM);
	line("call t2 cudaLaunchKernel %ums+1us corr 900", at(5));
	line("kernel s8 %ums-%ums corr 900 \"%s\"", at(12), at(14), CONV);
	block(10, 30, 1, 4);
	kernel(11, 20, 30, GEMM);
	r = analyze(NULL);
	check_sums(r);
	assert_int_equal(r->requests[0].blocks.busy_ns, 12 * MS);
	assert_int_equal(r->requests[0].blocks.idle_ns, 8 * MS);
	vpa_report_free(r);
}

/* ---- requests ---- */

static void indices_restart_with_each_request(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	request(0, 3500, "first");
	reference_blocks(0, 7, 100);
	request(5000, 8500, "second");
	reference_blocks(5000, 7, 100);
	r = analyze(NULL);
	check_sums(r);
	assert_int_equal(r->request_count, 2);
	expect_request("the first", r, 0, REFERENCE);
	expect_request("no period spans two", r, 1, REFERENCE);
	assert_string_equal(r->requests[1].name, "second");
	assert_int_equal(r->stages[0].count, 56);
	assert_int_equal(r->stages[0].in_blocks, 48);
	vpa_report_free(r);
}

static void a_request_of_another_thread_is_around_by_time(void **state)
{
	struct vpa_report *r;
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 2; k++) {
		unsigned t = k * 5000;

		line("range t2 %ums-%ums \"served %u\" domain vptrace json "
		     "\"{\\\"kind\\\":\\\"request\\\"}\"",
			at(t), at(t + 4500), k);
		reference_blocks(t, 7, 100);
		if (k)
			kernel(t + 3500, t + 3500, t + 4000, CONV);
	}
	r = analyze(NULL);
	check_sums(r);
	assert_int_equal(r->request_count, 2);
	expect_request("it ends on the host", r, 0,
		"blocks 7, warmup 1, frames 72, FPS 24, BPS 2, busy 24, denoise 30, latent 6, all "
		"81, end to "
		"end 18, TTFB ms 500, steps 28, a block 4, steps/s 10, s/it 0.1, context 7");
	expect_request("what comes behind the blocks is its own", r, 1,
		"blocks 7, warmup 1, frames 72, denoise rate 24, BPS 2, busy 24, denoise 30, "
		"latent 6, all 81, "
		"end to end 18, TTFB ms 500, steps 28, a block 4, steps/s 10, s/it 0.1, context "
		"7");
	assert_string_equal(r->requests[0].name, "served 0");
	vpa_report_free(r);
}

/* ---- frames ---- */

static void plain_blocks(unsigned count, unsigned frames)
{
	unsigned b;

	for (b = 0; b < count; b++) {
		block(b * 100, b * 100 + 100, b, frames);
		kernel(b * 100, b * 100, b * 100 + 100, GEMM);
	}
}

static void frames_are_never_guessed(void **state)
{
	static const struct {
		const char *rule;
		struct vpa_options options;
		const char *expected;
	} cases[] = {
		{"nobody says", {.top = 0}, "blocks 7, warmup 1, BPS 10, TTFB ms 100"},
		{"frames per block by option", {.frames_per_block = 12},
			"blocks 7, warmup 1, frames 72, FPS 120, BPS 10, busy 120, all 84, end to "
			"end 120, TTFB "
			"ms 100"},
		{"another number in the first", {.frames_per_block = 12, .first_block_frames = 9},
			"blocks 7, warmup 1, frames 72, FPS 120, BPS 10, busy 120, all 81, end to "
			"end 115.714, "
			"TTFB ms 100"},
		{"latents alone do not say", {.latents_per_block = 3},
			"blocks 7, warmup 1, BPS 10, latent 30, TTFB ms 100"},
		{"latents and a factor: 21 are 81 frames",
			{.latents_per_block = 3, .vae_factor = 4},
			"blocks 7, warmup 1, frames 72, FPS 120, BPS 10, busy 120, latent 30, all "
			"81, end to "
			"end 115.714, TTFB ms 100"},
		{"a number of frames goes first",
			{.frames_per_block = 24, .latents_per_block = 3, .vae_factor = 4},
			"blocks 7, warmup 1, frames 144, FPS 240, BPS 10, busy 240, latent 30, all "
			"168, end to "
			"end 240, TTFB ms 100"},
	};
	struct vpa_report *r;
	size_t i;

	(void)state;
	begin();
	plain_blocks(7, 0);
	for (i = 0; i < COUNT(cases); i++)
		expect_report(cases[i].rule, &cases[i].options, cases[i].expected);
	r = analyze(NULL);
	expect_note(
		"nobody says", r, "FPS is unavailable: 6 of 6 measured blocks have no frame count");
	vpa_report_free(r);

	begin();
	plain_blocks(3, 12);
	expect_report("what a block says goes before options", &cases[5].options,
		"blocks 3, warmup 1, frames 24, FPS 120, BPS 10, busy 120, latent 30, all 36, end "
		"to end 120, "
		"TTFB ms 100");
	begin();
	block(0, 100, 0, 9);
	kernel(0, 0, 100, GEMM);
	block(100, 200, 1, 12);
	kernel(100, 100, 200, GEMM);
	block(200, 300, 2, 0);
	kernel(200, 200, 300, GEMM);
	expect_report(
		"one that does not say is enough", NULL, "blocks 3, warmup 1, BPS 10, TTFB ms 100");
}

static void decoding_at_the_end_makes_it_a_denoise_rate(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	request(0, 5000, "clip");
	reference_blocks(0, 7, 100);
	annotated("range", 3500, 4500, "vae_decode", "{'kind':'stage'}");
	kernel(3500, 3500, 4500, CONV);
	r = analyze(NULL);
	check_sums(r);
	expect_request("a stage called VAE", r, 0,
		"blocks 7, warmup 1, frames 72, denoise rate 24, BPS 2, busy 24, denoise 30, "
		"latent 6, all "
		"81, end to end 18, TTFB ms 500, steps 28, a block 4, steps/s 10, s/it 0.1, "
		"context "
		"7");
	expect_note("it is said", r,
		"steady FPS is unavailable: the VAE's work comes after the last block");
	assert_int_equal(r->stage_count, 3);
	assert_string_equal(r->stages[2].name, "vae_decode");
	assert_int_equal(r->stages[2].in_blocks, 0);
	vpa_report_free(r);

	begin();
	request(0, 5000, "clip");
	reference_blocks(0, 7, 100);
	kernel(3500, 3500, 4500, CONV);
	r = analyze(NULL);
	assert_true(r->requests[0].blocks.fps < 0 && r->requests[0].blocks.denoise_rate == 24);
	vpa_report_free(r);

	begin();
	request(0, 5000, "clip");
	reference_blocks(0, 7, 100);
	line("call t1 cudaMemcpyAsync %ums+1us corr 900", at(3500));
	line("copy s7 DtoH device->pinned %ums-%ums corr 900 bytes 100MiB", at(3500), at(3510));
	r = analyze(NULL);
	expect_note("copies of frames", r, "the copies of frames come after the last block");
	vpa_report_free(r);
}

static void a_vae_between_the_blocks_is_inside_the_fps(void **state)
{
	struct vpa_report *r;
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 4; k++) {
		block(k * 100, k * 100 + 60, k, 12);
		kernel(k * 100, k * 100, k * 100 + 60, GEMM);
		annotated("range", k * 100 + 60, k * 100 + 100, "vae_decode", "{'kind':'stage'}");
		kernel(k * 100 + 60, k * 100 + 60, k * 100 + 100, CONV);
	}
	r = analyze(NULL);
	check_sums(r);
	expect_request("three of four", r, 0,
		"blocks 4, warmup 1, frames 36, FPS 120, BPS 10, busy 120, latent 30, all 48, end "
		"to end "
		"120, TTFB ms 60");
	vpa_report_free(r);
}

/* ---- warm-up ---- */

static void warm_up_is_left_out(void **state)
{
	static const unsigned lengths[] = {900, 500, 100, 100, 110, 100, 90, 100};
	static const struct vpa_options none = {.has_warmup = 1},
					three = {.has_warmup = 1, .warmup = 3},
					many = {.has_warmup = 1, .warmup = 99};
	struct vpa_report *r;
	unsigned t = 0;
	size_t i;

	(void)state;
	begin();
	for (i = 0; i < COUNT(lengths); i++) {
		block(t, t + lengths[i], (unsigned)i, 10);
		kernel(t, t, t + lengths[i], GEMM);
		t += lengths[i];
	}
	expect_report("where the period changes", NULL,
		"blocks 8, warmup 2, frames 60, FPS 100, BPS 10, busy 100, latent 30, all 80, end "
		"to end 40, "
		"TTFB ms 900");
	expect_report("none", &none,
		"blocks 8, frames 80, FPS 40, BPS 4, busy 40, latent 12, all 80, end to end 40, "
		"TTFB ms "
		"900");
	expect_report("as many as asked for", &three,
		"blocks 8, warmup 3, frames 50, FPS 100, BPS 10, busy 100, latent 30, all 80, end "
		"to end 40, "
		"TTFB ms 900");
	expect_report("all", &many, "blocks 8, warmup 8, all 80, end to end 40, TTFB ms 900");
	r = analyze(&many);
	expect_note("all", r, "all blocks are warm-up");
	vpa_report_free(r);
	begin();
	plain_blocks(1, 12);
	r = analyze(NULL);
	expect_note("one block", r, "a single block has no period");
	vpa_report_free(r);
	expect_report("one block and no warm-up", &none,
		"blocks 1, frames 12, FPS 120, BPS 10, busy 120, latent 30, all 12, end to end "
		"120, TTFB ms "
		"100");
}

static void warm_up_ends_where_the_period_changes(void **state)
{
	static const struct {
		const char *rule;
		uint64_t periods[12];
		size_t count, expected;
	} cases[] = {
		{"no blocks", {0}, 0, 0},
		{"one", {5}, 1, 1},
		{"all alike", {100, 100, 100, 100, 100, 100}, 6, 1},
		{"the first is slow", {900, 100, 100, 100, 100, 100}, 6, 1},
		{"the first three are slow", {900, 900, 900, 100, 100, 100, 100, 100}, 8, 3},
		{"a fifth more is not slow", {120, 120, 120, 100, 100, 100, 100, 100}, 8, 1},
		{"growth is no warm-up", {100, 110, 120, 130, 140, 150, 160, 170}, 8, 1},
		{"falling slowly is none", {170, 165, 160, 155, 150, 145}, 6, 1},
		{"not more than half", {900, 900, 900, 900, 900, 100}, 6, 1},
		{"a late outlier is none", {100, 100, 100, 900, 100, 100, 100, 100}, 8, 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		if (vpa_warmup_of(cases[i].periods, cases[i].count) != cases[i].expected)
			fail_msg("%s: %zu", cases[i].rule,
				vpa_warmup_of(cases[i].periods, cases[i].count));
}

/* ---- real time ---- */

static void deadlines_and_the_buffer_that_hides_them(void **state)
{
	/* 12 frames at 120 FPS last 100 ms. Ends: 100, 180, 310, 440, 520, 600, 710. */
	static const unsigned lengths[] = {100, 80, 130, 130, 80, 80, 110};
	static const struct vpa_options target = {.target_millifps = 120000},
					slower = {.target_millifps = 90000};
	struct vpa_report *r;
	const struct vpa_blocks *b;
	unsigned t = 0;
	size_t i;

	(void)state;
	begin();
	for (i = 0; i < COUNT(lengths); i++) {
		block(t, t + lengths[i], (unsigned)i, 12);
		kernel(t, t, t + lengths[i], GEMM);
		t += lengths[i];
	}
	r = analyze(&target);
	b = &r->requests[0].blocks;
	assert_int_equal(b->misses, 3);
	assert_int_equal(b->longest_miss_run, 2);
	assert_int_equal(b->jitter_ns, 50 * MS); /* p50 80, p99 130 */
	/* Block 3 is there 440 ms after the start and due 300 ms after playback begins: that must be 140 ms or
	 * later, which is when block 1 is there. */
	assert_int_equal(b->prebuffer_frames, 24);
	assert_true(b->series[2].missed && b->series[3].missed && b->series[6].missed);
	vpa_report_free(r);
	/* 133.3 ms a block: none is late, and playback can begin with the first. */
	r = analyze(&slower);
	assert_int_equal(r->requests[0].blocks.misses, 0);
	assert_int_equal(r->requests[0].blocks.longest_miss_run, 0);
	assert_int_equal(r->requests[0].blocks.prebuffer_frames, 12);
	vpa_report_free(r);
	r = analyze(NULL);
	assert_int_equal(r->requests[0].blocks.misses, -1);
	assert_int_equal(r->requests[0].blocks.prebuffer_frames, -1);
	vpa_report_free(r);
}

static void the_smallest_buffer_that_never_stalls(void **state)
{
	static const struct {
		const char *rule;
		uint64_t ready_ms[5], frames[5];
		size_t count;
		uint64_t millifps, expected;
	} cases[] = {
		{"one block", {100}, {12}, 1, 24000, 12},
		{"as fast as they are shown", {500, 1000, 1500}, {12, 12, 12}, 3, 24000, 12},
		{"faster", {500, 600, 700}, {12, 12, 12}, 3, 24000, 12},
		{"a short first block needs the second", {500, 1000, 1500}, {9, 12, 12}, 3, 24000,
			21},
		{"half as fast: all but the last must be there", {1000, 2000, 3000, 4000},
			{12, 12, 12, 12}, 4, 24000, 36},
		{"one nanosecond late is late", {0, 501}, {12, 12}, 2, 24000, 24},
		{"one hiccup", {100, 200, 300, 600, 700}, {12, 12, 12, 12, 12}, 5, 120000, 36},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		uint64_t ready_ns[5], found;

		for (k = 0; k < cases[i].count; k++)
			ready_ns[k] = cases[i].ready_ms[k] * MS;
		found = vpa_prebuffer_of(
			ready_ns, cases[i].frames, cases[i].count, cases[i].millifps);
		if (found != cases[i].expected)
			fail_msg("%s: %" PRIu64, cases[i].rule, found);
	}
}

/* ---- drift, outliers ---- */

static void drift_is_a_median_slope(void **state)
{
	static const uint64_t line_of[] = {100, 110, 120, 130, 140, 150, 160},
			      full[] = {100, 110, 120, 130, 140, 140, 140, 140, 140},
			      spoilt[] = {100, 110, 120, 9000, 140, 150, 160},
			      flat[] = {100, 101, 100, 99, 100, 101, 100};
	uint64_t *many = calloc(5000, sizeof(*many));
	double slope;
	size_t i;

	(void)state;
	assert_int_equal(vpa_slope_of(line_of, COUNT(line_of), &slope), 0);
	assert_true(slope == 10);
	assert_int_equal(vpa_slope_of(spoilt, COUNT(spoilt), &slope), 0);
	assert_true(slope == 10);
	assert_int_equal(vpa_saturation_of(line_of, COUNT(line_of)), -1);
	assert_int_equal(vpa_saturation_of(full, COUNT(full)), 4);
	assert_int_equal(vpa_saturation_of(flat, COUNT(flat)), -1);
	assert_int_equal(vpa_saturation_of(full, 5), -1);
	assert_non_null(many);
	for (i = 0; i < 5000; i++)
		many[i] = 1000 + 3 * i;
	assert_int_equal(vpa_slope_of(many, 5000, &slope), 0);
	assert_true(slope == 3);
	free(many);
}

static int compare_doubles(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return a < b ? -1 : a > b;
}

static uint64_t slope_value(int kind, size_t i, size_t count, struct vpt_random *r)
{
	switch (kind) {
	case 0:
		return vpt_random_below(r, 1000000);
	case 1:
		return 100 * i + vpt_random_below(r, 3);
	case 2:
		return vpt_random_below(r, 2);
	case 3:
		return i % 2;
	default:
		return i < count / 2 ? 0 : 1000;
	}
}

/* Against sorting them all: most slopes in a small part of their bounds, many or most of them equal, an even number or an
 * odd one. */
static void a_median_slope_is_that_of_all_pairs(void **state)
{
	enum { MOST = 702, PAIRS = MOST * (MOST - 1) / 2, KINDS = 5 };
	uint64_t values[MOST];
	double *slopes = calloc(PAIRS, sizeof(*slopes)), slope, expected;
	struct vpt_random r = {7};
	size_t count, i, k, pairs;
	int kind;

	(void)state;
	for (count = MOST - 1; count <= MOST; count++)
		for (kind = 0; kind < KINDS; kind++) {
			for (i = 0; i < count; i++)
				values[i] = slope_value(kind, i, count, &r);
			/* A few that spread the bounds. */
			for (i = 0; kind < 3 && i < 5; i++)
				values[vpt_random_below(&r, count)] = (uint64_t)1 << 50;
			for (pairs = 0, i = 0; i < count; i++)
				for (k = i + 1; k < count; k++)
					slopes[pairs++] = ((double)values[k] - (double)values[i]) /
							  (double)(k - i);
			qsort(slopes, pairs, sizeof(*slopes), compare_doubles);
			expected = (slopes[(pairs - 1) / 2] + slopes[pairs / 2]) / 2;
			assert_int_equal(vpa_slope_of(values, count, &slope), 0);
			if (slope != expected)
				fail_msg("kind %d, %zu values: %.17g, expected %.17g", kind, count,
					slope, expected);
		}
	free(slopes);
}

/* Differences of such numbers are rounded: slopes of values far apart may lie beyond those of all neighbours. */
static void drift_of_numbers_that_a_double_cannot_hold(void **state)
{
	const uint64_t step = 7300000000000012;
	const uint64_t values[] = {4, 4 + step, 4 + 2 * step, 4 + 3 * step, 4 + 4 * step,
		4 + 5 * step, 4 + 6 * step - 4};
	double slope;

	(void)state;
	assert_int_equal(vpa_slope_of(values, COUNT(values), &slope), 0);
	assert_true(slope > (double)step - 2 && slope < (double)step + 2);
}

static void attention_that_grows_until_its_window_is_full(void **state)
{
	struct vpa_report *r;
	const struct vpa_blocks *b;
	unsigned k, t = 0;

	(void)state;
	begin();
	for (k = 0; k < 10; k++) {
		unsigned attention = 100 + 20 * (k < 6 ? k : 6);

		block(t, t + attention + 100, k, 12);
		kernel(t, t, t + attention, ATTENTION);
		kernel(t, t + attention, t + attention + 100, GEMM);
		t += attention + 100;
	}
	r = analyze(NULL);
	check_sums(r);
	b = &r->requests[0].blocks;
	assert_int_equal(b->warmup, 1);
	assert_true(b->has_drift);
	assert_true(b->attention_drift_ns > 10e6 && b->attention_drift_ns <= 20e6);
	assert_true(b->period_drift_ns == b->attention_drift_ns);
	assert_int_equal(b->saturated_at, 6);
	vpa_report_free(r);
}

static void an_outlier_has_someone_to_blame(void **state)
{
	struct vpa_report *r;
	const struct vpa_blocks *b;
	unsigned k, t = 0;

	(void)state;
	begin();
	for (k = 0; k < 12; k++) {
		unsigned late = k == 7 ? 60 : 0;

		block(t, t + 100 + late, k, 12);
		annotated("range", t, t + 60, "work", "{'kind':'stage'}");
		kernel(t, t, t + 60, GEMM);
		annotated("range", t + 60, t + 100 + late, "to_host", "{'kind':'stage'}");
		kernel(t + 60 + late / 2, t + 60 + late / 2, t + 70 + late / 2, ATTENTION);
		kernel(t + 90 + late, t + 90 + late, t + 100 + late, ATTENTION);
		t += 100 + late;
	}
	r = analyze(NULL);
	check_sums(r);
	b = &r->requests[0].blocks;
	assert_int_equal(b->outlier_count, 1);
	assert_int_equal(b->outliers[0].block, 7);
	assert_int_equal(b->series[7].index, 7);
	assert_int_equal(b->outliers[0].delta_ns, 60 * MS);
	assert_string_equal(b->outliers[0].part, "host code");
	assert_int_equal(b->outliers[0].part_kind, VPA_PART_IDLE);
	assert_int_equal(b->outliers[0].part_delta_ns, 60 * MS);
	assert_string_equal(b->outliers[0].stage, "to_host");
	assert_int_equal(b->outliers[0].stage_delta_ns, 30 * MS);
	vpa_report_free(r);
}

static void an_outlier_is_far_from_its_neighbours(void **state)
{
	static const struct {
		const char *rule;
		unsigned values_ms[9];
		size_t count, at;
		int expected;
	} cases[] = {
		{"alone", {100}, 1, 0, 0},
		{"a fifth more is not", {100, 100, 120, 100, 100}, 5, 2, 0},
		{"more than that is", {100, 100, 121, 100, 100}, 5, 2, 1},
		{"less is one too", {100, 100, 79, 100, 100}, 5, 2, 1},
		{"4 ms are always allowed", {10, 10, 14, 10, 10}, 5, 2, 0},
		{"but not 5", {10, 10, 15, 10, 10}, 5, 2, 1},
		{"five times the usual distance is allowed",
			{90, 110, 150, 90, 110, 100, 100, 90, 110}, 9, 2, 0},
		{"a trend is none", {100, 120, 140, 160, 180}, 5, 4, 0},
	};
	size_t i, k, reference;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		uint64_t values[9];

		for (k = 0; k < cases[i].count; k++)
			values[k] = (uint64_t)cases[i].values_ms[k] * MS;
		if (vpa_is_outlier(values, cases[i].count, cases[i].at, &reference) !=
			cases[i].expected)
			fail_msg("%s", cases[i].rule);
	}
}

/* ---- what a block is made of ---- */

static void parts_of_the_period_add_up(void **state)
{
	static const char expected[] =
		"busy attention 100 2, busy gemm 60 2, busy elementwise 40 2, "
		"idle host code 140 2, idle sync 60 2";
	struct vpa_report *r;
	struct words w = {.len = 0};
	unsigned k;
	size_t i;

	(void)state;
	begin();
	for (k = 0; k < 3; k++) {
		unsigned t = k * 200;

		block(t, t + 200, k, 12);
		kernel(t, t, t + 50, ATTENTION);
		kernel(t, t + 50, t + 80, GEMM);
		line("call t1 cudaStreamSynchronize %ums-%ums", at(t + 1), at(t + 81));
		kernel(t + 110, t + 110, t + 130, "vectorized_elementwise_kernel");
	}
	r = analyze(NULL);
	check_sums(r);
	for (i = 0; i < r->requests[0].blocks.part_count; i++) {
		const struct vpa_block_part *p = &r->requests[0].blocks.parts[i];

		say(&w, "%s%s %s %g %" PRIu64, i ? ", " : "",
			p->kind == VPA_PART_BUSY ? "busy" : "idle", p->name, (double)p->ns / MS,
			p->count);
	}
	expect("two periods of 200 ms", &w, expected);
	vpa_report_free(r);
}

static void several_devices_are_added_up(void **state)
{
	struct vpa_report *r;
	const struct vpa_blocks *b;
	unsigned k;

	(void)state;
	begin();
	kernel_on(0, "s2.7", 0, 5, GEMM); /* a device that no block uses */
	for (k = 0; k < 4; k++) {
		unsigned t = 10 + k * 100;

		block(t, t + 100, k, 12);
		kernel_on(t, "s0.7", t, t + 90, GEMM);
		kernel_on(t, "s1.7", t + 50, t + 80, GEMM);
		kernel_on(t, "s1.8", t + 60, t + 100, ATTENTION);
	}
	r = analyze(NULL);
	check_sums(r);
	b = &r->requests[0].blocks;
	assert_int_equal(b->devices, 2);
	assert_int_equal(b->span_ns, 300 * MS);
	assert_int_equal(b->busy_ns, 3 * (90 + 50) * MS);
	assert_int_equal(b->idle_ns, 3 * (10 + 50) * MS);
	/* Overlapping kernels share time: 10 of 20 ms each. */
	assert_int_equal(b->attention.p50_ns, 30 * MS);
	/* The busiest one worked 90 ms a block. */
	assert_true(b->fps_busy == 36e9 / 270e6);
	vpa_report_free(r);
}

static void pauses_are_neither_busy_nor_idle(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	plain_blocks(3, 12);
	line("loss all paused %ums-%ums", at(310), at(340));
	block(300, 400, 3, 12);
	kernel(300, 300, 305, GEMM);
	kernel(350, 350, 400, GEMM);
	r = analyze(NULL);
	check_sums(r);
	assert_int_equal(r->requests[0].blocks.paused_ns, 30 * MS);
	assert_int_equal(r->requests[0].blocks.idle_ns, 15 * MS);
	vpa_report_free(r);
}

/* ---- steps and stages ---- */

static void say_stages(struct words *w, const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->stage_count; i++) {
		const struct vpa_stage_row *s = &r->stages[i];

		say(w, "%s%s%s %" PRIu64 "x%g, %g ms, busy %g, idle %g, attention %g",
			i ? "; " : "", s->nested ? "(" : "", s->name, s->count, s->per_block,
			(double)s->time.mean_ns / MS, (double)s->busy_ns / MS,
			(double)s->idle_ns / MS, (double)s->attention_ns / MS);
		say(w, "%s", s->nested ? ")" : "");
	}
}

static void stages_are_measured_inside_measured_blocks(void **state)
{
	struct vpa_report *r;
	struct words w = {.len = 0};
	unsigned k;

	(void)state;
	begin();
	annotated("range", 0, 10, "text_encode", "{'kind':'stage'}");
	kernel(0, 0, 10, GEMM);
	for (k = 0; k < 3; k++) {
		unsigned t = 10 + k * 100, slow = k ? 0 : 10;

		block(t, t + 100, k, 12);
		step(t, t + 50, 0, 0);
		kernel(t, t, t + 20 + slow, ATTENTION);
		annotated("range", t + 30, t + 40, "mlp", "{'kind':'stage'}");
		kernel(t + 30, t + 30, t + 50, GEMM);
		annotated("range", t + 60, t + 100, "vae_decode", "{'kind':'stage'}");
		kernel(t + 60, t + 60, t + 100, CONV);
	}
	r = analyze(NULL);
	check_sums(r);
	say_stages(&w, r);
	expect("warm-up apart", &w,
		"text_encode 1x0, 10 ms, busy 10, idle 0, attention 0; denoise step 3x1, 50 ms, "
		"busy 80, "
		"idle 20, attention 40; (mlp 3x1, 20 ms, busy 40, idle 0, attention 0); vae_decode "
		"3x1, 40 "
		"ms, busy 80, idle 0, attention 0");
	assert_true(r->stages[1].share == 0.5);
	vpa_report_free(r);
}

/* Of `count` steps, one every 149 ms, each has 124 ms of work; then the host does something else. */
static void steps_of_149_ms(unsigned from, unsigned count)
{
	unsigned k;

	for (k = 0; k < count; k++) {
		step(from + k * 149, from + k * 149 + 149, k, 0);
		kernel(from + k * 149, from + k * 149, from + k * 149 + 124, GEMM);
	}
}

static void a_step_takes_the_time_from_one_to_the_next(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	steps_of_149_ms(0, 4);
	expect_report("however few steps there are", NULL, "steps 4, steps/s 6.711, s/it 0.149");
	r = analyze(NULL);
	assert_int_equal(r->requests[0].steps.periods, 3);
	vpa_report_free(r);
	begin();
	steps_of_149_ms(0, 1);
	expect_report("a single one its own", NULL, "steps 1, steps/s 8.065, s/it 0.124");
	r = analyze(NULL);
	assert_int_equal(r->requests[0].steps.periods, 0);
	vpa_report_free(r);
	begin();
	block(0, 596, 0, 12);
	steps_of_149_ms(0, 3);
	block(1000, 1596, 1, 12);
	steps_of_149_ms(1000, 3);
	block(2000, 2596, 2, 12);
	steps_of_149_ms(2000, 1);
	r = analyze(NULL);
	expect_request("not from block to block: in block 1", r, 0,
		"blocks 3, warmup 1, frames 24, FPS 14.101, BPS 1.175, busy 48.387, denoise "
		"48.387, latent 3.525, all 36, end to end 16.949, TTFB ms 422, steps 7, a block 2, "
		"steps/s 6.711, s/it 0.149");
	assert_int_equal(r->requests[0].steps.periods, 2);
	vpa_report_free(r);
}

static void steps_without_blocks_are_steps(void **state)
{
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 5; k++) {
		line("range t1 %ums-%ums \"denoise_step\"", at(k * 100), at(k * 100 + 80));
		kernel(k * 100, k * 100, k * 100 + 80, GEMM);
	}
	expect_report("from one step to the next", NULL, "steps 5, steps/s 10, s/it 0.1");
}

static void expect_stages(const char *rule, const char *expected)
{
	struct vpa_report *r = analyze(NULL);
	struct words w = {.len = 0};

	check_sums(r);
	say_stages(&w, r);
	expect(rule, &w, expected);
	vpa_report_free(r);
}

/* An iteration of the profiler is a row of the stages: never a step, and no rate is made of it. */
static void an_iteration_of_the_profiler_is_no_step(void **state)
{
	struct vpa_report *r;
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 5; k++) {
		line("range t1 %ums-%ums \"ProfilerStep#%u\"", at(k * 100), at(k * 100 + 80), k);
		kernel(k * 100, k * 100, k * 100 + 80, GEMM);
	}
	expect_report("it makes no request", NULL, "");
	expect_stages("it is a stage",
		"iteration (ProfilerStep) 5x0, 80 ms, busy 400, idle 0, attention 0");
	r = analyze(NULL);
	assert_string_equal(r->stages[0].kind, "iteration");
	vpa_report_free(r);
	begin();
	line("range t1 %ums-%ums \"ProfilerStep#3\"", at(0), at(500));
	for (k = 0; k < 5; k++) {
		line("range t1 %ums-%ums \"step %u\"", at(k * 100), at(k * 100 + 80), k);
		kernel(k * 100, k * 100, k * 100 + 80, GEMM);
	}
	expect_report("steps are counted alone", NULL, "steps 5, steps/s 10, s/it 0.1");
	expect_stages("and are inside of it",
		"iteration (ProfilerStep) 1x0, 480 ms, busy 400, idle 80, attention 0; (step "
		"5x0, 80 ms, busy 400, idle 0, attention 0)");
}

/* The forward pass is launched by the thread that opens the iteration, the backward pass by autograd's. */
static void an_iteration_has_the_work_of_all_threads(void **state)
{
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 3; k++) {
		unsigned t = k * 100;

		line("range t1 %ums-%ums \"ProfilerStep#%u\"", at(t), at(t + 80), k);
		kernel(t, t, t + 20, GEMM);
		script.corr++;
		line("call t2 cudaLaunchKernel %u001us+1us corr %u", at(t + 30), script.corr);
		line("kernel s7 %ums-%ums corr %u \"" GEMM "\"", at(t + 30), at(t + 70),
			script.corr);
		/* Behind its end: nobody's, though it runs before the next one. */
		kernel(t + 85, t + 85, t + 95, GEMM);
	}
	expect_stages("autograd's too",
		"iteration (ProfilerStep) 3x0, 70 ms, busy 180, idle 30, attention 0");
	begin();
	line("thread x pid 2 tid 5");
	line("stream y device 0 context 1 stream 9 pid 2");
	line("range t1 %ums-%ums \"ProfilerStep#0\"", at(0), at(80));
	kernel(0, 0, 20, GEMM);
	line("call x cudaLaunchKernel %u001us+1us corr 7", at(30));
	line("kernel y %ums-%ums corr 7 \"" GEMM "\"", at(30), at(70));
	expect_stages("of its process",
		"iteration (ProfilerStep) 1x0, 20 ms, busy 20, idle 0, attention 0");
}

/* ---- names ---- */

/* A pipeline of diffusers as its profiling guide has it annotated: `steps` steps of 60 ms and 10 ms of the scheduler, 100 ms
 * apart, after 50 ms of the text encoder. */
static void guide(unsigned from, unsigned steps, unsigned after)
{
	unsigned k, end = from + 50 + steps * 100;

	line("range t1 %ums-%ums \"pipeline_call\"", at(from), at(end + after));
	line("range t1 %ums-%ums \"encode_prompt\"", at(from), at(from + 50));
	kernel(from, from, from + 40, GEMM);
	for (k = 0; k < steps; k++) {
		unsigned t = from + 50 + k * 100;

		line("range t1 %ums-%ums \"transformer_forward\"", at(t), at(t + 70));
		kernel(t, t, t + 60, ATTENTION);
		line("range t1 %ums-%ums \"scheduler_step\"", at(t + 80), at(t + 95));
		kernel(t + 80, t + 80, t + 90, "vectorized_elementwise_kernel");
	}
	line("range t1 %ums-%ums \"vae_decode\"", at(end), at(end + after));
	kernel(end, end, end + after, CONV);
}

static void the_names_of_the_guide_are_stages(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	line("range t1 %ums-%ums \"pipeline_call\"", at(0), at(200));
	line("range t1 %ums-%ums \"encode_prompt\"", at(0), at(50));
	kernel(0, 0, 40, GEMM);
	line("range t1 %ums-%ums \"transformer_forward\"", at(50), at(90));
	kernel(50, 50, 90, ATTENTION);
	line("range t1 %ums-%ums \"vae_decode\"", at(100), at(200));
	kernel(100, 100, 200, CONV);
	expect_stages("all of it, and what it is made of",
		"pipeline_call 1x0, 200 ms, busy 180, idle 20, attention 40; encode_prompt 1x0, 40 "
		"ms, busy 40, idle 0, attention 0; transformer_forward 1x0, 40 ms, busy 40, idle "
		"0, attention 40; vae_decode 1x0, 100 ms, busy 100, idle 0, attention 0");
	r = analyze(NULL);
	assert_int_equal(r->request_count, 1);
	assert_string_equal(r->requests[0].name, "pipeline_call");
	assert_string_equal(r->stages[0].kind, "request");
	vpa_report_free(r);
}

/* ---- from mark to mark ---- */

static void a_step_ends_with_its_schedulers(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	guide(0, 5, 100);
	/* One every 100 ms, from 50 to 450 ms. */
	expect_report("from the forward pass to the scheduler's end", NULL,
		"steps 5, steps/s 10, s/it 0.1");
	expect_stages("forward, a gap of 20 ms, the scheduler",
		"pipeline_call 1x0, 650 ms, busy 490, idle 160, attention 300; encode_prompt 1x0, "
		"40 ms, busy 40, idle 0, attention 0; denoise step 5x0, 90 ms, busy 350, idle 100, "
		"attention 300; (transformer_forward 5x0, 60 ms, busy 300, idle 0, attention 300); "
		"(scheduler_step 5x0, 10 ms, busy 50, idle 0, attention 0); vae_decode 1x0, 100 "
		"ms, busy 100, idle 0, attention 0");
	r = analyze(NULL);
	assert_string_equal(r->stages[2].source, "marks");
	vpa_report_free(r);
	begin();
	guide(0, 2, 100);
	guide(1000, 2, 100);
	r = analyze(NULL);
	assert_int_equal(r->request_count, 2);
	/* 100 ms from the first to the second: the time between the two videos belongs to none. */
	expect_request("of each request", r, 1, "steps 2, steps/s 10, s/it 0.1");
	vpa_report_free(r);
}

/* A span of work of thread t1 under a name. */
static void named(unsigned from, unsigned to, const char *name)
{
	line("range t1 %ums-%ums \"%s\"", at(from), at(to), name);
	kernel(from, from, to, GEMM);
}

static void steps_from_mark_to_mark(void **state)
{
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 3; k++) {
		named(k * 100, k * 100 + 20, "transformer_forward");
		named(k * 100 + 20, k * 100 + 40, "transformer_forward");
		named(k * 100 + 50, k * 100 + 60, "scheduler_step");
		named(k * 100 + 70, k * 100 + 80, "scheduler_step");
		/* Between two schedulers nothing is of the step; this is behind the second. */
		kernel(k * 100 + 85, k * 100 + 85, k * 100 + 95, GEMM);
	}
	expect_report(
		"two passes, two schedulers: one step", NULL, "steps 3, steps/s 10, s/it 0.1");
	begin();
	for (k = 0; k < 4; k++) {
		kernel(k * 100, k * 100, k * 100 + 60, ATTENTION);
		named(k * 100 + 80, k * 100 + 90, "scheduler_step");
	}
	expect_stages("without a forward pass from one scheduler's to the next",
		"scheduler_step 4x0, 10 ms, busy 40, idle 0, attention 0; denoise step 3x0, 90 ms, "
		"busy 210, idle 60, attention 180");
	begin();
	for (k = 0; k < 3; k++) {
		line("range t1 %ums-%ums \"step %u\"", at(k * 100), at(k * 100 + 90), k);
		named(k * 100, k * 100 + 20, "transformer_forward");
		named(k * 100 + 50, k * 100 + 60, "scheduler_step");
	}
	expect_report("not where steps are named", NULL, "steps 3, steps/s 10, s/it 0.1");
	begin();
	named(0, 20, "transformer_forward");
	named(100, 120, "transformer_forward");
	expect_report("not where no scheduler ends them", NULL, "");
	begin();
	named(0, 20, "transformer_forward, op_id = 7");
	named(20, 30, "scheduler_step, op_id = 8");
	expect_report("by names that emit_nvtx() numbers too", NULL,
		"steps 1, steps/s 33.333, s/it 0.03");
}

/* The pass that writes the context has a forward pass and no scheduler: the next block's first step does not begin there. */
static void a_step_does_not_go_on_from_block_to_block(void **state)
{
	unsigned b, k;

	(void)state;
	begin();
	for (b = 0; b < 3; b++) {
		unsigned t = b * 100;

		line("range t1 %ums-%ums \"block %u\"", at(t), at(t + 100), b);
		for (k = 0; k < 2; k++) {
			named(t + k * 40, t + k * 40 + 20, "transformer_forward");
			named(t + k * 40 + 30, t + k * 40 + 40, "scheduler_step");
		}
		named(t + 80, t + 100, "transformer_forward");
	}
	expect_report("two steps a block, the second 40 ms after the first", NULL,
		"blocks 3, warmup 1, BPS 10, TTFB ms 100, steps 6, a block 2, steps/s 25, s/it "
		"0.04");
	expect_stages("and a pass that is none",
		"denoise step 6x2, 40 ms, busy 120, idle 40, attention 0; transformer_forward 9x3, "
		"20 ms, busy 120, idle 0, attention 0; (scheduler_step 6x2, 10 ms, busy 40, idle "
		"0, attention 0)");
}

/* A loop that trains: a batch, the forward pass, the backward pass on a thread of autograd's, the optimizer. */
static void train(unsigned count)
{
	unsigned k, t;

	for (k = 0; k < count; k++) {
		t = k * 100;
		line("range t1 %ums-%ums "
		     "\"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__\"",
			at(t), at(t + 10));
		kernel(t + 10, t + 10, t + 30, GEMM);
		script.corr++;
		line("call t2 cudaLaunchKernel %u001us+1us corr %u", at(t + 30), script.corr);
		line("kernel s7 %ums-%ums corr %u \"" GEMM "\"", at(t + 30), at(t + 70),
			script.corr);
		line("range t1 %ums-%ums \"Optimizer.step#SGD.step\"", at(t + 80), at(t + 90));
		kernel(t + 80, t + 80, t + 90, GEMM);
	}
	line("range t1 %ums-%ums \"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__\"",
		at(count * 100), at(count * 100 + 10));
}

static void loops_that_train_have_iterations(void **state)
{
	unsigned k;

	(void)state;
	begin();
	train(4);
	expect_stages("from one optimizer's step to the next",
		"iteration (Optimizer.step) 3x0, 80 ms, busy 210, idle 30, attention 0");
	expect_report("never a step", NULL, "");
	begin();
	train(4);
	line("range t1 %ums-%ums \"ProfilerStep#1\"", at(0), at(400));
	expect_stages("where nothing else is one",
		"iteration (ProfilerStep) 1x0, 380 ms, busy 280, idle 100, attention 0");
	begin();
	train(4);
	named(500, 520, "step 0");
	expect_stages("no step", "step 1x0, 20 ms, busy 20, idle 0, attention 0");
	begin();
	train(4);
	named(500, 520, "block 0");
	expect_stages("no block", "");
	begin();
	for (k = 0; k < 4; k++) {
		line("range t1 %ums-%ums \"DataLoader.__next__\"", at(k * 100), at(k * 100 + 10));
		kernel(k * 100 + 10, k * 100 + 10, k * 100 + 70, GEMM);
	}
	expect_stages("from one batch to the next: the last one's end is not known",
		"iteration (DataLoader) 3x0, 60 ms, busy 180, idle 0, attention 0");
}

/* ---- where names stand ---- */

static void names_are_blocks_where_they_are_outermost(void **state)
{
	static const char block_rules[] =
		"range block(index,frames)\t^clip ([0-9]+) of ([0-9]+)$\n";
	static const struct vpa_options rules = {
		.rules = block_rules, .rules_len = sizeof(block_rules) - 1};
	unsigned b, s, layer;

	(void)state;
	begin();
	for (b = 0; b < 4; b++) {
		unsigned t = b * 100;

		line("range t1 %ums-%ums \"chunk %u\"", at(t), at(t + 100), b);
		for (s = 0; s < 2; s++) {
			line("range t1 %ums-%ums \"step %u\"", at(t + s * 40), at(t + s * 40 + 40),
				s);
			for (layer = 0; layer < 4; layer++) {
				unsigned from = t + s * 40 + layer * 10;

				/* a layer, and what a cache calls its blocks */
				line("range t1 %ums-%ums \"transformer_block.%u\"", at(from),
					at(from + 10), layer);
				line("range t1 %ums-%ums \"block %u\"", at(from), at(from + 10),
					layer);
				kernel(from, from, from + 10, GEMM);
			}
		}
		line("range t1 %ums-%ums \"vae_decode\"", at(t + 80), at(t + 100));
		line("range t1 %ums-%ums \"chunk 0\"", at(t + 80), at(t + 100)); /* of the VAE */
		kernel(t + 80, t + 80, t + 100, CONV);
	}
	expect_report("by name", NULL,
		"blocks 4, warmup 1, BPS 10, TTFB ms 100, steps 8, a block 2, steps/s 25, s/it "
		"0.04");

	begin();
	for (b = 0; b < 4; b++) {
		line("range t1 %ums-%ums \"clip %u of 12\"", at(b * 100), at(b * 100 + 100), b);
		line("range t1 %ums-%ums \"block 9\"", at(b * 100), at(b * 100 + 50));
		kernel(b * 100, b * 100, b * 100 + 100, GEMM);
	}
	expect_report("by a rule, with frames", &rules,
		"blocks 4, warmup 1, frames 36, FPS 120, BPS 10, busy 120, all 48, end to end 120, "
		"TTFB ms 100");
	expect_report("without it", NULL, "blocks 4, warmup 1, BPS 10, TTFB ms 100");
}

/* A profiler that records Python's stack has a range for each of its frames. */
static void a_block_is_around_any_number_of_other_ranges(void **state)
{
	enum { FRAMES = 200 };
	unsigned b, depth;

	(void)state;
	begin();
	for (b = 0; b < 3; b++) {
		unsigned t = at(b * 100) * 1000;

		line("range t1 %uus-%uus \"block %u\"", t, t + 100000, b);
		for (depth = 1; depth <= FRAMES; depth++)
			line("range t1 %uus-%uus \"frame %u\"", t + depth, t + 100000 - depth,
				depth);
		line("range t1 %uus-%uus \"step 0\"", t + FRAMES + 1, t + 100000 - FRAMES - 1);
		kernel(b * 100 + 1, b * 100 + 10, b * 100 + 100, GEMM);
	}
	expect_report("steps under a stack", NULL,
		"blocks 3, warmup 1, BPS 10, TTFB ms 100, steps 3, a block 1, steps/s 11.111, "
		"s/it 0.09");
}

static void an_annotation_puts_rules_aside(void **state)
{
	unsigned b;

	(void)state;
	begin();
	for (b = 0; b < 4; b++) {
		unsigned t = b * 100;

		line("range t1 %ums-%ums \"chunk 7\"", at(t), at(t + 30));
		kernel(t, t, t + 30, GEMM);
		block(t + 30, t + 100, b, 12);
		line("range t1 %ums-%ums \"chunk 8\"", at(t + 50), at(t + 60));
		kernel(t + 50, t + 50, t + 100, GEMM);
	}
	expect_report("blocks that nobody annotated are none then", NULL,
		"blocks 4, warmup 1, frames 36, FPS 120, BPS 10, busy 150, latent 30, all 48, end "
		"to end "
		"120, TTFB ms 100");
}

static void what_is_no_annotation_is_a_name(void **state)
{
	unsigned b;

	(void)state;
	begin();
	for (b = 0; b < 3; b++) {
		unsigned t = b * 100;

		/* Not our domain, not an object, not a kind: the name remains. */
		line("range t1 %ums-%ums \"block %u\" %s", at(t), at(t + 100), b,
			b == 0   ? "domain other json \"{\\\"kind\\\":\\\"request\\\"}\""
			: b == 1 ? "domain vptrace json \"block\""
				 : "domain vptrace int 5");
		kernel(t, t, t + 100, GEMM);
	}
	expect_report("names", NULL, "blocks 3, warmup 1, BPS 10, TTFB ms 100");
}

/* ---- the window ---- */

static void blocks_at_the_edge_are_left_out(void **state)
{
	static const struct vpa_options from = {.has_from = 1, .from_ns = 150 * MS},
					to = {.has_to = 1, .to_ns = 550 * MS},
					to_500 = {.has_to = 1, .to_ns = 500 * MS};
	struct vpa_report *r;

	(void)state;
	begin();
	plain_blocks(7, 12);
	expect_report("the beginning is cut off", &from,
		"blocks 5, warmup 1, left out 1, frames 48, FPS 120, BPS 10, busy 120, latent 30");
	r = analyze(&from);
	expect_note("that is said", r, "1 block is left out: cut off by the window");
	vpa_report_free(r);
	expect_report("the end is cut off", &to,
		"blocks 5, warmup 1, left out 1, frames 48, FPS 120, BPS 10, busy 120, latent 30");

	/* The whole clip's frames did not come in a part of its time. */
	begin();
	annotated("range", 0, 700, "clip", "{'kind':'request','frames':81}");
	plain_blocks(7, 0);
	expect_report("a request that knows its frames", NULL,
		"blocks 7, warmup 1, BPS 10, all 81, end to end 115.714, TTFB ms 100");
	expect_report("a part of it", &to, "blocks 5, warmup 1, left out 1, BPS 10");
	expect_report("a part that no block is cut by", &to_500,
		"blocks 5, warmup 1, BPS 10, TTFB ms 100");

	begin();
	line("open t1 %ums \"clip\" domain vptrace json "
	     "\"{\\\"kind\\\":\\\"request\\\",\\\"frames\\\":81}\"",
		at(0));
	plain_blocks(7, 0);
	expect_report(
		"a request that never ended", NULL, "blocks 7, warmup 1, BPS 10, TTFB ms 100");

	begin();
	plain_blocks(3, 12);
	line("open t1 %ums \"block 3\" domain vptrace json \"{\\\"kind\\\":\\\"block\\\"}\"",
		at(300));
	kernel(300, 300, 350, GEMM);
	expect_report("a block that never ended", NULL,
		"blocks 3, warmup 1, left out 1, frames 24, FPS 120, BPS 10, busy 120, latent 30");

	begin();
	plain_blocks(3, 12);
	block(300, 310, 3, 12);
	line("end %ums", at(400));
	expect_report("a block that launched nothing", NULL,
		"blocks 3, warmup 1, frames 24, FPS 120, BPS 10, busy 120, latent 30, all 36, end "
		"to end 120, "
		"TTFB ms 100");
}

static void the_first_block_of_a_part_is_not_the_first_one(void **state)
{
	static const struct vpa_options from = {.has_from = 1,
		.from_ns = 300 * MS,
		.has_warmup = 1,
		.frames_per_block = 12,
		.first_block_frames = 9};

	(void)state;
	begin();
	plain_blocks(7, 0);
	expect_report("from block 3 on", &from,
		"blocks 4, frames 48, FPS 120, BPS 10, busy 120, all 48, end to end 120, TTFB ms "
		"100");
}

/* Two requests at once, each on a thread of its own, with marks that tell the frames. */
static void a_mark_belongs_to_the_request_of_its_thread(void **state)
{
	unsigned t, b;

	(void)state;
	begin();
	for (t = 0; t < 2; t++) {
		unsigned first = t * 50;

		line("range t%u %ums-%ums \"request %u\"", t + 1, at(first), at(first + 300), t);
		for (b = 0; b < 3; b++) {
			unsigned from = first + b * 100;

			script.corr++;
			line("range t%u %ums-%ums \"block %u\"", t + 1, at(from), at(from + 100),
				b);
			line("call t%u cudaLaunchKernel %u001us+1us corr %u", t + 1, at(from),
				script.corr);
			line("kernel s%u %ums-%ums corr %u \"k\"", t + 7, at(from), at(from + 100),
				script.corr);
			line("mark t%u %ums \"frames\" domain vptrace json "
			     "\"{\\\"kind\\\":\\\"frames\\\",\\\"index\\\":%u,"
			     "\\\"frames\\\":%u}\"",
				t + 1, at(from + 99), b, 12 * (t + 1));
		}
	}
	expect_report("the first one", NULL,
		"blocks 3, warmup 1, frames 24, FPS 120, BPS 10, busy 120, all 36, end to end 120, "
		"TTFB ms 100, TTFF ms 100");
}

/* The host runs ahead: at the window's end it may have launched blocks that the device has not begun. */
static void a_block_whose_work_is_cut_off_is_left_out(void **state)
{
	static const struct vpa_options to = {.has_to = 1, .to_ns = 1230 * MS},
					between = {.has_to = 1, .to_ns = 130 * MS};

	(void)state;
	begin();
	reference_blocks(0, 7, 10);
	expect_report("in the middle of an op", &to,
		"blocks 2, warmup 1, left out 1, frames 12, FPS 24, BPS 2, busy 24, denoise 30, "
		"latent 6, steps 11, a block 4, steps/s 10, s/it 0.1, context 2");

	begin();
	plain_blocks(1, 12);
	block(100, 110, 1, 12);
	kernel(101, 100, 110, GEMM);
	kernel(102, 110, 120, GEMM);
	kernel(103, 140, 200, GEMM);
	block(110, 120, 2, 12);
	kernel(111, 200, 300, GEMM);
	expect_report("between two ops of it", &between, "blocks 1, warmup 1, left out 1");
}

/* Three whole blocks; the tracer writes the whole range of a fourth, but of its work what began before
 * the pause. */
static void a_block_that_a_pause_cuts_is_left_out(void **state)
{
	static const char whole[] =
		"blocks 3, warmup 1, left out 1, frames 24, FPS 120, BPS 10, busy 120, latent 30";
	struct vpa_report *r;

	(void)state;
	begin();
	plain_blocks(3, 12);
	block(300, 400, 3, 12);
	kernel(300, 300, 320, GEMM);
	line("loss all paused %ums-%ums", at(340), at(900));
	expect_report("its end is in the pause", NULL, whole);
	r = analyze(NULL);
	expect_note("that is said", r, "1 block is left out: cut off by the window or a pause");
	vpa_report_free(r);

	begin();
	plain_blocks(3, 12);
	block(300, 310, 3, 12);
	kernel(300, 300, 350, GEMM);
	line("loss all paused %ums-%ums", at(340), at(900));
	expect_report("its work runs into the pause", NULL, whole);

	begin();
	plain_blocks(3, 12);
	block(300, 400, 3, 12);
	kernel(300, 300, 320, GEMM);
	line("loss all paused %ums-%ums", at(340), at(390));
	expect_report("its end is not in the pause, its last work may be", NULL, whole);

	begin();
	line("loss all paused %ums-%ums", at(0), at(50));
	block(20, 100, 0, 12);
	kernel(60, 60, 100, GEMM);
	block(100, 200, 1, 12);
	kernel(100, 100, 200, GEMM);
	block(200, 300, 2, 12);
	kernel(200, 200, 300, GEMM);
	expect_report("its beginning is in the pause", NULL,
		"blocks 2, warmup 1, left out 1, frames 12, FPS 120, BPS 10, busy 120, latent 30");

	begin();
	plain_blocks(3, 12);
	block(300, 310, 3, 12);
	kernel(300, 300, 310, GEMM);
	kernel(311, 311, 350, GEMM);
	ready(320, 3, 12);
	line("loss all paused %ums-%ums", at(340), at(900));
	expect_report("its frames are ready in the pause", NULL, whole);
}

static void a_pause_next_to_a_block_does_not_cut_it(void **state)
{
	(void)state;
	begin();
	line("loss all paused %ums-%ums", at(0), at(100));
	block(100, 200, 0, 12);
	kernel(100, 100, 200, GEMM);
	block(200, 300, 1, 12);
	kernel(200, 200, 300, GEMM);
	line("loss all paused %ums-%ums", at(300), at(900));
	expect_report("before and after", NULL,
		"blocks 2, warmup 1, frames 12, FPS 120, BPS 10, busy 120, latent 30, all 24, "
		"end to end 80, TTFB ms 200");
}

/* Blocks of nine ops, one every 100 ms; the tracer drops the ops that begin in the pause, and blocks that do
 * as a whole. */
static void blocks_and_pause(unsigned count, unsigned from, unsigned to)
{
	unsigned b, k;

	begin();
	line("loss all paused %ums-%ums", at(from), at(to));
	for (b = 0; b < count; b++) {
		if (from <= 100 * b + 10 && to >= 100 * (b + 1))
			continue;
		block(100 * b + 10, 100 * (b + 1), b, 12);
		for (k = 100 * b + 10; k < 100 * (b + 1); k += 10)
			if (k < from || k >= to)
				kernel(k, k, k + 10, GEMM);
	}
}

static void a_pause_anywhere_changes_no_rate(void **state)
{
	unsigned from, length, rated = 0;

	(void)state;
	for (from = 0; from < 800; from += 5)
		for (length = 5; length < 1000; length = 3 * length) {
			struct vpa_report *r;

			blocks_and_pause(8, from, from + length);
			r = analyze(NULL);
			check_sums(r);
			if (r->request_count && r->requests[0].blocks.fps >= 0 &&
				r->requests[0].blocks.fps != 120)
				fail_msg("a pause at %u ms for %u ms: %g FPS", from, length,
					r->requests[0].blocks.fps);
			rated += r->request_count && r->requests[0].blocks.fps > 0;
			vpa_report_free(r);
		}
	assert_true(rated > 600);
}

/* Blocks 3 and 4 are cut. The end of 3 is not known, nor what was between; that of 4 is. */
static void no_period_spans_a_pause(void **state)
{
	static const struct vpa_options none = {.has_warmup = 1}, target = {.target_millifps = 1};
	struct words w = {.len = 0};
	struct vpa_report *r;

	(void)state;
	blocks_and_pause(8, 350, 450);
	r = analyze(&target);
	check_sums(r);
	say_periods(&w, &r->requests[0]);
	expect("from the end of block 4, which is cut at its beginning", &w,
		"0: 90, 1: 100 (90), 2: 100 (90), 5: 100 (90), 6: 100 (90), 7: 100 (90)");
	expect_request("its frames are in no rate", r, 0,
		"blocks 6, warmup 1, left out 2, frames 60, FPS 120, BPS 10, busy 133.333, latent "
		"30");
	vpa_report_free(r);

	blocks_and_pause(8, 350, 500);
	r = analyze(&target);
	check_sums(r);
	w.len = 0;
	say_periods(&w, &r->requests[0]);
	expect("block 5 is the first one again", &w,
		"0: 90, 1: 100 (90), 2: 100 (90), 5: 90, 6: 100 (90), 7: 100 (90)");
	expect_request("and not measured", r, 0,
		"blocks 6, warmup 2, left out 1, frames 48, FPS 120, BPS 10, busy 133.333, latent "
		"30");
	assert_true(r->requests[0].blocks.series[3].warmup);
	assert_int_equal(r->requests[0].blocks.prebuffer_frames, -1);
	expect_note("that is said", r,
		"1 block is the first after recording was paused: the time since the block before "
		"is not known, so it is not measured");
	vpa_report_free(r);

	blocks_and_pause(8, 350, 500);
	r = analyze(&none);
	check_sums(r);
	expect_request("but by its length where the first one is", r, 0,
		"blocks 6, left out 1, frames 72, FPS 124.138, BPS 10.345, busy 133.333, latent "
		"31.034");
	vpa_report_free(r);

	/* Nothing shows whether there were more blocks between. */
	blocks_and_pause(8, 302, 308);
	expect_report("a pause between two blocks", NULL,
		"blocks 8, warmup 2, frames 72, FPS 120, BPS 10, busy 133.333, latent 30, TTFB ms "
		"100");
}

/* Five steps of two ops, one every 100 ms; the tracer drops the ops that begin in the pause. */
static void steps_and_pause(unsigned from, unsigned to)
{
	unsigned k, t;

	begin();
	line("loss all paused %ums-%ums", at(from), at(to));
	for (k = 0; k < 5; k++) {
		step(k * 100, k * 100 + 80, k, 0);
		for (t = k * 100; t < k * 100 + 80; t += 40)
			if (t < from || t >= to)
				kernel(t, t, t + 30, GEMM);
	}
}

static void a_step_that_a_pause_cuts_is_none(void **state)
{
	struct vpa_report *r;

	(void)state;
	steps_and_pause(235, 290);
	expect_report("its last op is in the pause: no period from 1 to 3", NULL,
		"steps 4, steps/s 10, s/it 0.1");
	expect_stages("nor is it a part of the stage",
		"denoise step 4x0, 70 ms, busy 240, idle 40, attention 0");
	r = analyze(NULL);
	assert_int_equal(r->requests[0].steps.periods, 2);
	expect_note("that is said", r, "1 step or iteration is left out: cut off by a pause");
	vpa_report_free(r);
	steps_and_pause(195, 205);
	expect_report("its first op is in the pause", NULL, "steps 4, steps/s 10, s/it 0.1");
	steps_and_pause(232, 238);
	expect_report(
		"between two ops of it nothing is cut", NULL, "steps 5, steps/s 10, s/it 0.1");
	steps_and_pause(0, 350);
	expect_report("one whole step", NULL, "steps 1, steps/s 14.286, s/it 0.07");
}

static void a_step_from_mark_to_mark_that_a_pause_cuts_is_none(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	guide(0, 5, 100);
	line("loss all paused %ums-%ums", at(342), at(348));
	expect_report(
		"the scheduler's range ends in the pause", NULL, "steps 4, steps/s 10, s/it 0.1");
	r = analyze(NULL);
	assert_int_equal(r->requests[0].steps.periods, 2);
	vpa_report_free(r);
}

static void no_period_of_a_step_spans_a_pause(void **state)
{
	unsigned k;

	(void)state;
	begin();
	line("loss all paused %ums-%ums", at(402), at(698));
	for (k = 0; k < 10; k++) {
		if (k > 3 && k < 7)
			continue;
		step(k * 100, k * 100 + 100, k, 0);
		kernel(k * 100, k * 100, k * 100 + 60, GEMM);
	}
	expect_report("four steps, and three", NULL, "steps 7, steps/s 10, s/it 0.1");
}

/* The whole clip's frames did not come in a part of its time. */
static void a_request_that_a_pause_cuts_has_no_end_to_end_rate(void **state)
{
	(void)state;
	begin();
	annotated("range", 0, 700, "clip", "{'kind':'request','frames':81}");
	plain_blocks(4, 0);
	line("loss all paused %ums-%ums", at(400), at(900));
	expect_report("its end is in the pause", NULL, "blocks 4, warmup 1, BPS 10, TTFB ms 100");
}

static void without_any_of_it_there_is_no_request(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	kernel(0, 0, 100, GEMM);
	line("range t1 %ums-%ums \"forward\"", at(0), at(100));
	r = analyze(NULL);
	assert_int_equal(r->request_count, 0);
	assert_int_equal(r->stage_count, 0);
	assert_int_equal(r->verdict.reason_count, 0);
	vpa_report_free(r);
}

/* ---- findings ---- */

static const struct vpa_finding *finding(const struct vpa_report *r, const char *id)
{
	size_t i;

	for (i = 0; i < r->finding_count; i++)
		if (!strcmp(r->findings[i].id, id))
			return &r->findings[i];
	return NULL;
}

static void expect_finding(const char *id, const struct vpa_options *options, const char *measured)
{
	struct vpa_report *r = analyze(options);
	const struct vpa_finding *f = finding(r, id);

	if (!f != !measured || (f && strcmp(f->measured, measured)))
		fail_msg("%s: found %s, expected %s", id, f ? f->measured : "nothing",
			measured ? measured : "nothing");
	vpa_report_free(r);
}

static void findings_are_silent_within_their_thresholds(void **state)
{
	static const struct vpa_options large = {.latents_per_block = 9};
	unsigned k, s;

	(void)state;
	begin();
	request(0, 3500, "clip");
	reference_blocks(0, 7, 100);
	expect_finding("bps", NULL, NULL);
	expect_finding("steps", NULL, NULL);
	expect_finding("block-size", NULL, NULL);
	expect_finding("attention-growth", NULL, NULL);
	expect_finding("stage-share", NULL, NULL);
	expect_finding("syncs-per-step", NULL, NULL);

	begin();
	for (k = 0; k < 4; k++) {
		unsigned t = k * 1000;

		block(t, t + 1000, k, 0);
		for (s = 0; s < 31; s++) {
			step(t + s * 10, t + s * 10 + 10, s, 0);
			kernel(t + s * 10, t + s * 10, t + s * 10 + 5, GEMM);
			line("call t1 cudaStreamSynchronize %u002us-%ums", at(t + s * 10),
				at(t + s * 10 + 6));
		}
		annotated("range", t + 400, t + 1000, "to_host", "{'kind':'stage'}");
		kernel(t + 400, t + 400, t + 1000, GEMM);
	}
	expect_finding("bps", NULL, "1.00 blocks per second");
	expect_finding("steps", NULL, "31 denoising steps per block");
	expect_finding("block-size", &large, "9 latent frames per block");
	expect_finding("stage-share", NULL,
		"to_host: 60.0 % of the blocks' time, with nothing else beside it");
	/* Of each block 30 gaps of 5 ms, and 6 ms of one of 95: the wait itself, and its credit. */
	expect_finding(
		"syncs-per-step", NULL, "1.0 waits per step drain the GPU, 468.0 ms in all blocks");

	/* Steps of one image that is marked are many; of how many images those of a window are, nobody knows. */
	for (k = 0; k < 2; k++) {
		begin();
		if (k)
			request(0, 400, "image");
		for (s = 0; s < 31; s++) {
			step(s * 10, s * 10 + 10, s, 0);
			kernel(s * 10, s * 10, s * 10 + 5, GEMM);
		}
		expect_finding("steps", NULL, k ? "31 denoising steps per request" : NULL);
	}

	begin();
	for (k = 0, s = 0; k < 5; k++) {
		block(s, s + 100 + 10 * k, k, 12);
		kernel(s, s, s + 50 + 10 * k, ATTENTION);
		kernel(s, s + 50 + 10 * k, s + 100 + 10 * k, GEMM);
		s += 100 + 10 * k;
	}
	expect_finding(
		"attention-growth", NULL, "+10.00 ms of attention per block, 8.0 % of the period");
}

/* Five blocks with an unfused sequence each, whose kernels take 20, 10 and 10 ms in the first and as much more in
 * each that follows: its softmax grows by 10 ms, all of it by 40. */
static void unfused_attention_grows_as_a_whole(void **state)
{
	const struct vpa_options options = {.has_warmup = 1, .warmup = 1};
	const struct vpa_finding *f;
	struct vpa_report *r;
	unsigned k, t = 0;

	(void)state;
	begin();
	for (k = 1; k <= 5; k++) {
		block(t, t + 60 + 40 * k, k, 12);
		kernel(t, t, t + 20 * k, GEMM);
		kernel(t, t + 20 * k, t + 30 * k, "softmax_warp_forward");
		kernel(t, t + 30 * k, t + 40 * k, GEMM);
		kernel(t, t + 40 * k, t + 40 * k + 60, CONV);
		t += 60 + 40 * k;
	}
	expect_finding("attention-growth", &options,
		"+10.00 to +40.00 ms of attention per block, 5.0 to 20.0 % of the period");
	r = analyze(&options);
	f = finding(r, "eager-attention");
	assert_non_null(f);
	assert_true(f->gain_from_ms == 150 && f->gain_at_most_ms == 600);
	/* All of it is claimed by the finding above. */
	assert_true(finding(r, "attention-growth")->gain_at_most_ms == 0);
	assert_true(r->requests[0].blocks.attention_drift_ns == 10e6);
	assert_true(r->requests[0].blocks.attention_drift_most_ns == 40e6);
	vpa_report_free(r);
}

/* Seven blocks `period` apart: 100 ms of denoising, then 60 ms of a stage on another stream. */
static void blocks_with_a_stage_beside(unsigned period)
{
	unsigned k;

	begin();
	for (k = 0; k < 7; k++) {
		unsigned t = k * period;

		block(t, t + 40, k, 0);
		step(t, t + 20, 0, 0);
		kernel(t, t, t + 100, GEMM);
		annotated("range", t + 20, t + 40, "decode", "{'kind':'stage'}");
		kernel_on(t + 30, "s8", t + 100, t + 160, CONV);
	}
}

/* Seven blocks of 100 ms: 50 of denoising, then a stage with work at its beginning and its end, and 10 ms of
 * work that is not its own between them, or none. */
static void blocks_with_a_stage_that_waits(int has_other)
{
	unsigned k;

	begin();
	for (k = 0; k < 7; k++) {
		unsigned t = k * 100;

		block(t, t + 99, k, 0);
		step(t, t + 20, 0, 0);
		kernel(t, t, t + 50, GEMM);
		annotated("range", t + 20, t + 95, "decode", "{'kind':'stage'}");
		kernel(t + 30, t + 50, t + 60, CONV);
		kernel(t + 60, t + 90, t + 100, CONV);
		if (has_other)
			line("call t2 cudaLaunchKernel %u001us+1us corr %u\n"
			     "kernel s9 %ums+10ms corr %u \"%s\"",
				at(t + 70), 1000 + k, at(t + 70), 1000 + k, GEMM);
	}
}

/* Of the blocks after the first: denoising covers 40 of the stage's 60 ms, in the last one none; or 15. */
static void a_stage_costs_what_it_has_the_device_alone(void **state)
{
	const struct vpa_options options = {.has_warmup = 1, .warmup = 1};
	struct vpa_report *r;
	size_t i;

	(void)state;
	blocks_with_a_stage_beside(120);
	expect_finding("stage-share", &options, NULL);
	r = analyze(&options);
	for (i = 0; i < r->stage_count; i++)
		if (!strcmp(r->stages[i].name, "decode"))
			assert_int_equal(r->stages[i].alone_ns, (5 * 20 + 60) * MS);
	vpa_report_free(r);
	blocks_with_a_stage_beside(145);
	/* (5 x 45 + 60) of 6 x 145 ms */
	expect_finding("stage-share", &options,
		"decode: 32.8 % of the blocks' time, with nothing else beside it");
	blocks_with_a_stage_that_waits(0);
	expect_finding("stage-share", &options,
		"decode: 50.0 % of the blocks' time, with nothing else beside it");
	blocks_with_a_stage_that_waits(1);
	expect_finding("stage-share", &options, NULL);
}

/* ---- no memory ---- */

static size_t allocations_left;

static void *scarce(void *ptr, size_t size)
{
	if (!allocations_left)
		return NULL;
	allocations_left--;
	return realloc(ptr, size);
}

/* Whichever allocation fails: an error and nothing left behind, which the sanitizers watch. */
static void without_memory_there_is_an_error(void **state)
{
	static const struct vpt_memory_ops ops = {scarce, free};
	struct vpt_trace *trace = NULL;
	struct vpa_report *report;
	struct vpt_err err = {0};
	size_t count;
	int rc = VPT_ENOMEM;

	(void)state;
	begin();
	request(0, 3500, "clip");
	reference_blocks(0, 7, 100);
	ready(3500, 6, 12);
	assert_int_equal(vpt_script_trace(script.text, &trace, &err), VPT_OK);
	for (count = 0; rc; count++) {
		struct vpa_options options = {.jobs = 1, .target_millifps = 16000};

		allocations_left = count;
		vpt_memory_use(&ops);
		rc = vpa_analyze(trace, "scarce", &options, &report, &err);
		vpt_memory_use(NULL);
		if (rc) {
			assert_int_equal(rc, VPT_ENOMEM);
			assert_null(report);
		}
	}
	assert_in_range(count, 50, 5000);
	expect_request("with just enough", report, 0,
		"blocks 7, warmup 1, frames 72, FPS 24, BPS 2, busy 24, denoise 30, latent 6, all "
		"81, end "
		"to end 23.143, TTFB ms 500, TTFF ms 3500, steps 28, a block 4, steps/s 10, s/it "
		"0.1, "
		"context 7");
	vpa_report_free(report);
	vpt_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_case),
		cmocka_unit_test(the_window_is_a_request_from_its_start),
		cmocka_unit_test(overlapping_blocks_have_long_latencies_and_short_periods),
		cmocka_unit_test(a_mark_says_when_frames_are_ready),
		cmocka_unit_test(a_mark_of_a_block_that_only_has_a_name),
		cmocka_unit_test(a_mark_belongs_to_the_newest_block_of_its_index),
		cmocka_unit_test(an_op_of_another_thread_inside_the_period_is_in_it),
		cmocka_unit_test(indices_restart_with_each_request),
		cmocka_unit_test(a_request_of_another_thread_is_around_by_time),
		cmocka_unit_test(frames_are_never_guessed),
		cmocka_unit_test(decoding_at_the_end_makes_it_a_denoise_rate),
		cmocka_unit_test(a_vae_between_the_blocks_is_inside_the_fps),
		cmocka_unit_test(warm_up_is_left_out),
		cmocka_unit_test(warm_up_ends_where_the_period_changes),
		cmocka_unit_test(deadlines_and_the_buffer_that_hides_them),
		cmocka_unit_test(the_smallest_buffer_that_never_stalls),
		cmocka_unit_test(drift_is_a_median_slope),
		cmocka_unit_test(a_median_slope_is_that_of_all_pairs),
		cmocka_unit_test(drift_of_numbers_that_a_double_cannot_hold),
		cmocka_unit_test(attention_that_grows_until_its_window_is_full),
		cmocka_unit_test(an_outlier_has_someone_to_blame),
		cmocka_unit_test(an_outlier_is_far_from_its_neighbours),
		cmocka_unit_test(parts_of_the_period_add_up),
		cmocka_unit_test(several_devices_are_added_up),
		cmocka_unit_test(pauses_are_neither_busy_nor_idle),
		cmocka_unit_test(stages_are_measured_inside_measured_blocks),
		cmocka_unit_test(a_step_takes_the_time_from_one_to_the_next),
		cmocka_unit_test(steps_without_blocks_are_steps),
		cmocka_unit_test(an_iteration_of_the_profiler_is_no_step),
		cmocka_unit_test(an_iteration_has_the_work_of_all_threads),
		cmocka_unit_test(the_names_of_the_guide_are_stages),
		cmocka_unit_test(a_step_ends_with_its_schedulers),
		cmocka_unit_test(steps_from_mark_to_mark),
		cmocka_unit_test(a_step_does_not_go_on_from_block_to_block),
		cmocka_unit_test(loops_that_train_have_iterations),
		cmocka_unit_test(names_are_blocks_where_they_are_outermost),
		cmocka_unit_test(a_block_is_around_any_number_of_other_ranges),
		cmocka_unit_test(an_annotation_puts_rules_aside),
		cmocka_unit_test(what_is_no_annotation_is_a_name),
		cmocka_unit_test(blocks_at_the_edge_are_left_out),
		cmocka_unit_test(the_first_block_of_a_part_is_not_the_first_one),
		cmocka_unit_test(a_mark_belongs_to_the_request_of_its_thread),
		cmocka_unit_test(a_block_whose_work_is_cut_off_is_left_out),
		cmocka_unit_test(a_block_that_a_pause_cuts_is_left_out),
		cmocka_unit_test(a_pause_next_to_a_block_does_not_cut_it),
		cmocka_unit_test(a_pause_anywhere_changes_no_rate),
		cmocka_unit_test(no_period_spans_a_pause),
		cmocka_unit_test(a_step_that_a_pause_cuts_is_none),
		cmocka_unit_test(a_step_from_mark_to_mark_that_a_pause_cuts_is_none),
		cmocka_unit_test(no_period_of_a_step_spans_a_pause),
		cmocka_unit_test(a_request_that_a_pause_cuts_has_no_end_to_end_rate),
		cmocka_unit_test(without_any_of_it_there_is_no_request),
		cmocka_unit_test(findings_are_silent_within_their_thresholds),
		cmocka_unit_test(unfused_attention_grows_as_a_whole),
		cmocka_unit_test(a_stage_costs_what_it_has_the_device_alone),
		cmocka_unit_test(without_memory_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
