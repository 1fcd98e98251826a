/* mark_check.c - runs vptrace_marks/check.py. */
#include "tracer/command/options/marks.h"

#include "tracer/command/base/run_program.h"

#include <limits.h>
#include <stdio.h>

/* The exit status of check.py for a mistake: Python's own are 0, 1 and 2. */
enum { IS_WRONG = 3 };

int vtr_mark_check(const char *python, const char *site, const char *what, const char *item,
	struct vpt_err *err)
{
	char script[PATH_MAX], said[sizeof(err->text)];
	/* Isolated: neither the user's variables nor a module beside the script takes part. */
	const char *const argv[] = {python, "-I", "-S", "-B", script, what, item, NULL};

	if (!*python || snprintf(script, sizeof(script), "%s/../vptrace_marks/check.py", site) >=
				(int)sizeof(script))
		return VPT_OK;
	if (vtr_program_ask(python, argv, said, sizeof(said)) != IS_WRONG || !*said)
		return VPT_OK;
	return vpt_fail(err, VPT_EINVAL, "%s", said);
}
