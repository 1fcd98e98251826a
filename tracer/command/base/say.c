/* say.c - one write for each line, so that lines of several processes do not mix. */
#include "tracer/command/base/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Appends one byte of text as a terminal may see it. */
static size_t put(char *line, size_t used, size_t size, unsigned char c)
{
	if (c >= 0x20 && c != 0x7f) {
		line[used] = (char)c;
		return used + 1;
	}
	return used + (size_t)snprintf(line + used, size - used, "\\x%02x", c);
}

void vtr_say(const char *fmt, ...)
{
	char text[8192], line[sizeof(text) * 4] = "vptrace: ";
	size_t used = strlen(line);
	va_list args;
	const char *p;
	ssize_t n;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (p = text; *p && used < sizeof(line) - 8; p++)
		used = put(line, used, sizeof(line), (unsigned char)*p);
	line[used++] = '\n';
	do {
		n = write(STDERR_FILENO, line, used);
	} while (n < 0 && errno == EINTR);
}
