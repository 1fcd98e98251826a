/* scaled.h - less or more of the usual work of a test: VPT_PERCENT says how much. cli_tsan.sh asks for little. */
#ifndef VPT_TESTS_TRACER_SCALED_H
#define VPT_TESTS_TRACER_SCALED_H

#include <stdlib.h>

/* So much of the usual work, at least 1. */
static inline unsigned scaled(unsigned usual)
{
	const char *percent = getenv("VPT_PERCENT");
	unsigned long work = percent ? usual * strtoul(percent, NULL, 10) / 100 : usual;

	return work ? (unsigned)work : 1;
}

#endif
