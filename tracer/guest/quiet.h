/* quiet.h - writing in the host's process, whose signals are its own.
 *
 * A reader that is gone, or a limit on the size of files, would end the host with SIGPIPE or SIGXFSZ. */
#ifndef VPTRACE_TRACER_GUEST_QUIET_H
#define VPTRACE_TRACER_GUEST_QUIET_H

#include <signal.h>
#include <stddef.h>

struct vtr_quiet {
	sigset_t before, ours;
};

/* Between the two the calling thread gets none of these signals. `has_failed`: what was done has, and one
 * that it caused is taken back. They do not nest. */
void vtr_quiet_begin(struct vtr_quiet *q);
void vtr_quiet_end(struct vtr_quiet *q, int has_failed);

/* write(2), once, in between. 0: all was written. Any thread. */
int vtr_quiet_write(int fd, const void *data, size_t bytes);

#endif
