/* tell.c - one line, one write. */
#include "tracer/guest/tell.h"

#include "tracer/guest/quiet.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void vtr_tell(const char *fmt, ...)
{
	char line[1024] = "vptrace: ";
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(line + 9, sizeof(line) - 10, fmt, args);
	va_end(args);
	n = n < 0 ? 9 : (n < (int)sizeof(line) - 11 ? n + 9 : (int)sizeof(line) - 2);
	line[n++] = '\n';
	/* A failure loses a line of text; there is nobody to report it to. */
	vtr_quiet_write(STDERR_FILENO, line, (size_t)n);
}
