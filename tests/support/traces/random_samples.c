/* random_samples.c - samples of Python stacks in a script that is made at random. */
#include "tests/support/traces/random_samples.h"

#include "tests/support/traces/random_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const stacks[] = {"main (run.py:3)", "main (run.py:3);step (model.py:40)",
	"main (run.py:4);step (model.py:41);item", "", "_bootstrap (threading.py:890)"};

char *random_samples(const char *script, struct vpt_random *r, size_t *count)
{
	struct random_text out = {0};
	const char *line, *next;

	for (line = script; *line; line = next) {
		const char *end = strchrnul(line, '\n'), *thread = strstr(line, " t1 "), *digits;
		uint64_t more;
		size_t left;

		next = *end ? end + 1 : end;
		for (; line < next; line += left < 200 ? left : 200) {
			left = (size_t)(next - line);
			random_text_add(&out, "%.*s", left < 200 ? (int)left : 200, line);
		}
		if (!thread || thread > end || vpt_random_below(r, 2))
			continue;
		digits = thread + 4 + strcspn(thread + 4, "0123456789\n");
		for (more = vpt_random_below(r, 8); more; more--, ++*count)
			random_text_add(&out,
				"sample t1 %" PRIu64 " \"%s\" state %" PRIu64 " cpu_us 7\n",
				(uint64_t)strtoull(digits, NULL, 10) + vpt_random_below(r, 3000000),
				stacks[vpt_random_below(r, 5)], vpt_random_below(r, 6));
	}
	return out.data;
}
