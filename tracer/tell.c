/* tell.c - writing to a pipe that may have no reader. */
#include "tracer/tell.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

void vtr_tell(const char *fmt, ...)
{
	const struct timespec at_once = {0, 0};
	char line[1024] = "vptrace: ";
	sigset_t pipe, before, pending;
	int was_pending, n;
	va_list args;

	va_start(args, fmt);
	n = vsnprintf(line + 9, sizeof(line) - 10, fmt, args);
	va_end(args);
	n = n < 0 ? 9 : (n < (int)sizeof(line) - 11 ? n + 9 : (int)sizeof(line) - 2);
	line[n++] = '\n';
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	/* A failure loses a line of text; there is nobody to report it to. */
	if (write(STDERR_FILENO, line, (size_t)n) < 0 && !was_pending)
		sigtimedwait(&pipe, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
