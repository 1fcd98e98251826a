/* foreign_text.h - text that belongs to somebody else and may be gone.
 *
 * Kernel names in CUPTI's records are pointers into memory that goes when a module is unloaded,
 * perhaps before a slow disk lets us look. So they are read by the kernel's hand: what is not there
 * any more is an error, not a crash. */
#ifndef VPTRACE_TRACER_FOREIGN_TEXT_H
#define VPTRACE_TRACER_FOREIGN_TEXT_H

#include <stddef.h>
#include <sys/types.h>

/* Copies the text at `from`, without its NUL, at most `size` bytes. Returns the length, or -1: it
 * is not readable. Where the system forbids the call, the text is read directly. The writer's
 * thread; costs a system call. */
ssize_t vtr_foreign_text(const char *from, char *out, size_t size);

#endif
