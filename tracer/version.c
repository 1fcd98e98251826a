/* version.c - which release this is; the build says. */
#include "tracer/vptrace.h"

#ifndef VPT_VERSION
#define VPT_VERSION "unknown"
#endif

const char *vptrace_version(void)
{
	return VPT_VERSION;
}
