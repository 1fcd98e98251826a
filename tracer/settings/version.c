/* version.c - the release: the header's version numbers as text. */
#include "tracer/vptrace.h"

#define TEXT_OF(number)           #number
#define JOIN(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *vptrace_version(void)
{
	return JOIN(VPTRACE_VERSION_MAJOR, VPTRACE_VERSION_MINOR, VPTRACE_VERSION_PATCH);
}
