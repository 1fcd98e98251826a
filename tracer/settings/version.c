/* version.c - the release: the header's version numbers as text. */
#include "tracer/vptrace.h"

#include "formats/base/text.h"

const char *vptrace_version(void)
{
	return VPT_TEXT_OF(VPTRACE_VERSION_MAJOR) "." VPT_TEXT_OF(
		VPTRACE_VERSION_MINOR) "." VPT_TEXT_OF(VPTRACE_VERSION_PATCH);
}
