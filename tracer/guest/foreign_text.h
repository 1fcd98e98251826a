/* foreign_text.h - reads text that somebody else owns and may have freed.
 *
 * Kernel names in CUPTI's records point into memory that is freed when a module is unloaded,
 * perhaps before a slow disk lets us read it. So a system call reads them: freed memory is an
 * error, not a crash. */
#ifndef VPTRACE_TRACER_GUEST_FOREIGN_TEXT_H
#define VPTRACE_TRACER_GUEST_FOREIGN_TEXT_H

#include <stddef.h>
#include <sys/types.h>

/* Copies the text at `from`, without its NUL, at most `size` bytes. Returns the length, or -1:
 * unreadable. Where the system forbids the call, reads the text directly. The writer's thread only;
 * costs a system call. */
ssize_t vtr_foreign_text(const char *from, char *out, size_t size);

#endif
