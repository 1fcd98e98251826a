/* lines_rig.h - makes a script of host code with samples of Python stacks, and looks at the lines that
 * its report has. Include cmocka.h first. */
#ifndef VPT_TESTS_SUPPORT_LINES_RIG_H
#define VPT_TESTS_SUPPORT_LINES_RIG_H

#include "analysis/analyze.h"
#include "formats/base/memory.h"
#include "tests/support/traces/random_lines.h"
#include "tests/support/traces/script.h"

#include <stdint.h>
#include <string.h>

/* The host of these launches a kernel, is in its own code from 2 ms to 102 ms, and launches another: 100 ms of host code,
 * and 10 us of launch latency before the second kernel. Samples come every 5 ms, the first at 4 ms. */
#define HOST_CODE                                                                                  \
	"start 0\n"                                                                                \
	"call t1 cudaLaunchKernel 900000-910000 corr 1; kernel s1 1000000-2000000 corr 1 \"a\"\n"  \
	"call t1 cudaLaunchKernel 102000000-102005000 corr 2\n"                                    \
	"kernel s1 102010000-103000000 corr 2 \"b\"\n"                                             \
	"end 103000000\n"

/* Stacks whose innermost frames are at line 40 and at line 4. */
static const char slow[] = "main (/app/run.py:3);slow (/app/model.py:40)";
static const char other[] = "main (/app/run.py:4)";

/* Adds a text of any length. */
static inline void add_script(struct random_text *out, const char *script)
{
	for (; *script; script += strnlen(script, 200))
		random_text_add(out, "%.200s", script);
}

/* Adds samples number `from` to `to` - 1 of thread t1, with `more` behind each. */
static inline void add_samples(
	struct random_text *out, unsigned from, unsigned to, const char *stack, const char *more)
{
	for (; from < to; from++)
		random_text_add(
			out, "sample t1 %u \"%s\" %s\n", 4000000 + from * 5000000, stack, more);
}

/* The same of a text, whose data it frees, with all gaps listed. */
static inline struct vpa_report *report_of_text(struct random_text *text)
{
	struct vpa_options options = {.min_gap_ns = 1};
	struct vpa_report *r = vpt_script_report(text->data, &options);

	vpt_free(text->data);
	return r;
}

/* The idle time by a cause, of the only device: the first part where there are several. Fails the
 * test where there is none. */
static inline const struct vpa_idle_part *part_of(const struct vpa_report *r, enum vpa_cause cause)
{
	size_t i;

	assert_int_equal(r->device_count, 1);
	for (i = 0; i < r->devices[0].cause_count; i++)
		if (r->devices[0].causes[i].cause == cause)
			return &r->devices[0].causes[i];
	fail_msg("no idle time by %s", vpa_cause_text(cause));
	return NULL;
}

/* The time of a cause at a line; line 0: without one. */
static inline uint64_t ns_at(const struct vpa_report *r, enum vpa_cause cause, uint64_t number)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->lines.idle_count; i++)
		if (r->lines.idle[i].cause == cause && r->lines.idle[i].line.number == number)
			ns += r->lines.idle[i].ns;
	return ns;
}

#endif
