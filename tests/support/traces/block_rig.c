/* block_rig.c - scripts put together by small functions that speak of blocks and steps. */
#include "formats/base/error.h"
#include "formats/import/any_trace.h"
#include "tests/support/traces/block_rig.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- the script ---- */

struct block_script script;

void line(const char *format, ...)
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

void begin(void)
{
	script.len = script.corr = 0;
	line("start 1s");
}

unsigned at(unsigned ms)
{
	return 1000 + ms;
}

void annotated(const char *kind, unsigned from, unsigned to, const char *name, const char *json)
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

void block(unsigned from, unsigned to, unsigned index, unsigned frames)
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

void step(unsigned from, unsigned to, unsigned index, int context)
{
	char name[32], json[96];

	snprintf(name, sizeof(name), context ? "context pass" : "step %u", index);
	snprintf(json, sizeof(json), "{'kind':'step','index':%u,'timestep':%u%s}", index,
		context ? 0 : 1000 - 250 * index, context ? ",'context':1" : "");
	annotated("range", from, to, name, json);
}

void request(unsigned from, unsigned to, const char *name)
{
	annotated("range", from, to, name, "{'kind':'request'}");
}

void ready(unsigned ms, unsigned index, unsigned frames)
{
	line("mark t1 %ums \"frames\" domain vptrace json "
	     "\"{\\\"kind\\\":\\\"frames\\\",\\\"index\\\":%u,"
	     "\\\"frames\\\":%u}\"",
		at(ms), index, frames);
}

void kernel_on(unsigned launched, const char *stream, unsigned from, unsigned to, const char *name)
{
	script.corr++;
	line("call t1 cudaLaunchKernel %u001us+1us corr %u", at(launched), script.corr);
	line("kernel %s %ums-%ums corr %u \"%s\"", stream, at(from), at(to), script.corr, name);
}

void kernel(unsigned launched, unsigned from, unsigned to, const char *name)
{
	kernel_on(launched, "s7", from, to, name);
}

/* ---- programs ---- */

void reference_blocks(unsigned from, unsigned count, unsigned host_ms)
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

void plain_blocks(unsigned count, unsigned frames)
{
	unsigned b;

	for (b = 0; b < count; b++) {
		block(b * 100, b * 100 + 100, b, frames);
		kernel(b * 100, b * 100, b * 100 + 100, GEMM);
	}
}

void guide(unsigned from, unsigned steps, unsigned after)
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

/* ---- the report in few words ---- */

struct vpa_report *analyze(const struct vpa_options *options)
{
	return vpt_script_report(script.text, options);
}

void say(struct words *w, const char *format, ...)
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

void say_periods(struct words *w, const struct vpa_request *r)
{
	size_t i;

	for (i = 0; i < r->blocks.count; i++) {
		const struct vpa_block_row *b = &r->blocks.series[i];

		say(w, "%s%" PRId64 ": %g", i ? ", " : "", b->index, (double)b->period_ns / MS);
		if (b->latency_ns != b->period_ns)
			say(w, " (%g)", (double)b->latency_ns / MS);
	}
}

void say_stages(struct words *w, const struct vpa_report *r)
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

/* ---- what is expected ---- */

void expect(const char *rule, const struct words *found, const char *expected)
{
	if (strcmp(found->text, expected))
		fail_msg("%s:\n  found    %s\n  expected %s\n%s", rule, found->text, expected,
			script.text);
}

void expect_request(
	const char *rule, const struct vpa_report *r, size_t request_at, const char *expected)
{
	struct words w = {.len = 0};

	if (request_at < r->request_count)
		say_request(&w, &r->requests[request_at]);
	expect(rule, &w, expected);
}

void check_sums(const struct vpa_report *r)
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

void expect_report(const char *rule, const struct vpa_options *options, const char *expected)
{
	struct vpa_report *r = analyze(options);

	check_sums(r);
	expect_request(rule, r, 0, expected);
	vpa_report_free(r);
}

void expect_stages(const char *rule, const char *expected)
{
	struct vpa_report *r = analyze(NULL);
	struct words w = {.len = 0};

	check_sums(r);
	say_stages(&w, r);
	expect(rule, &w, expected);
	vpa_report_free(r);
}

void expect_note(const char *rule, const struct vpa_report *r, const char *note)
{
	size_t i;

	for (i = 0; i < r->verdict.reason_count; i++)
		if (strstr(r->verdict.reasons[i], note))
			return;
	fail_msg("%s: no reason says \"%s\"", rule, note);
}
