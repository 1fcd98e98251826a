/* block_rig.h - captures of programs that mark blocks, and their reports in a few words.
 *
 * A test begins a script, adds what the program did, and says what the report must have:
 *
 *	begin();
 *	block(0, 100, 0, 12);
 *	kernel(0, 0, 100, GEMM);
 *	expect_report("one", NULL, "blocks 1, warmup 1, all 12, end to end 120, TTFB ms 100");
 *
 * Times are milliseconds since the capture's start. Ranges, marks and launches are thread t1's. A
 * `rule` is what a failure says of the case. */
#ifndef VPT_TESTS_SUPPORT_BLOCK_RIG_H
#define VPT_TESTS_SUPPORT_BLOCK_RIG_H

#include "analysis/analyze.h"

#include <stddef.h>

#define MS 1000000 /* in nanoseconds */

/* Names of kernels of three families. */
#define ATTENTION "flash_fwd_kernel"
#define GEMM      "ampere_sgemm_128x64"
#define CONV      "implicit_convolve_sgemm"

/* ---- the script: see tests/support/traces/script.h ---- */

struct block_script {
	char text[1 << 20];
	size_t len;
	unsigned corr; /* of the newest launch */
};
extern struct block_script script;

void begin(void);
__attribute__((format(printf, 1, 2))) void line(const char *format, ...);

/* For line(): the same moment in the script, which starts at 1 s. */
unsigned at(unsigned ms);

/* A range with an annotation; `kind` is "range" or "startend". Single quotes in `json` stand for
 * double ones. */
void annotated(const char *kind, unsigned from, unsigned to, const char *name, const char *json);

/* Without `frames` it says neither frames nor latents; else there are 3 latents. */
void block(unsigned from, unsigned to, unsigned index, unsigned frames);
void step(unsigned from, unsigned to, unsigned index, int context); /* or the context pass */
void request(unsigned from, unsigned to, const char *name);
void ready(unsigned ms, unsigned index, unsigned frames); /* the mark that frames are ready */

/* A kernel, launched a moment after `launched`; on stream s7, if none is given. */
void kernel_on(unsigned launched, const char *stream, unsigned from, unsigned to, const char *name);
void kernel(unsigned launched, unsigned from, unsigned to, const char *name);

/* ---- whole programs ---- */

/* Blocks of four steps of 100 ms and a context pass, of which the host launches one every
 * `host_ms`. The first block has 9 frames, the others have 12. */
void reference_blocks(unsigned from, unsigned count, unsigned host_ms);

/* Blocks of one kernel of 100 ms, one behind the other from 0 on. */
void plain_blocks(unsigned count, unsigned frames);

/* A pipeline of diffusers as its profiling guide has it annotated: `steps` steps of 60 ms and 10 ms
 * of the scheduler, 100 ms apart, after 50 ms of the text encoder; the VAE has the last `after`. */
void guide(unsigned from, unsigned steps, unsigned after);

/* ---- the report in a few words ---- */

/* The script's report. The caller frees it with vpa_report_free(). */
struct vpa_report *analyze(const struct vpa_options *options);

/* Begins with a `len` of 0. */
struct words {
	char text[2000];
	size_t len;
};

/* Each adds to the words: any text; of each block its period, and in parentheses its latency where
 * that is another; of each stage its times. */
__attribute__((format(printf, 2, 3))) void say(struct words *w, const char *format, ...);
void say_periods(struct words *w, const struct vpa_request *r);
void say_stages(struct words *w, const struct vpa_report *r);

/* ---- what is expected ---- */

void expect(const char *rule, const struct words *found, const char *expected);

/* Of one request all counts and rates that are available, as say_request() in block_rig.c words
 * them; "" where there is no such request. */
void expect_request(
	const char *rule, const struct vpa_report *r, size_t request_at, const char *expected);

/* What each request is made of sums to it; for every report. */
void check_sums(const struct vpa_report *r);

/* Of the script's report: its sums and its first request; its sums and its stages. */
void expect_report(const char *rule, const struct vpa_options *options, const char *expected);
void expect_stages(const char *rule, const char *expected);

/* One of the verdict's reasons has this text. */
void expect_note(const char *rule, const struct vpa_report *r, const char *note);

#endif
