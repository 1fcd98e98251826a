/* quiet.c - blocks the signals that a failed write sends, and takes back those that came. */
#include "tracer/guest/quiet.h"

#include <time.h>
#include <unistd.h>

void vtr_quiet_begin(struct vtr_quiet *q)
{
	static const int ends[] = {SIGPIPE, SIGXFSZ};
	sigset_t blocked, pending;
	size_t i;

	sigemptyset(&blocked);
	sigemptyset(&q->ours);
	sigpending(&pending);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		sigaddset(&blocked, ends[i]);
		if (!sigismember(&pending, ends[i]))
			sigaddset(&q->ours, ends[i]);
	}
	pthread_sigmask(SIG_BLOCK, &blocked, &q->before);
}

void vtr_quiet_end(struct vtr_quiet *q, int has_failed)
{
	const struct timespec at_once = {0, 0};

	if (has_failed)
		sigtimedwait(&q->ours, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &q->before, NULL);
}

int vtr_quiet_write(int fd, const void *data, size_t bytes)
{
	struct vtr_quiet q;
	int rc;

	vtr_quiet_begin(&q);
	rc = write(fd, data, bytes) == (ssize_t)bytes ? 0 : -1;
	vtr_quiet_end(&q, rc);
	return rc;
}
