/* last_error.c - one sentence a thread. */
#include "tracer/last_error.h"

#include "tracer/vptrace.h"

#include <stdarg.h>
#include <stdio.h>

static __thread char sentence[512];

int vtr_fail(int code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	return code;
}

const char *vptrace_last_error(void)
{
	return sentence;
}
