/* io_calls.h - the two system calls that sources and sinks use, and messages for their failures.
 * Private to them. */
#ifndef VPT_FORMATS_IO_IO_CALLS_H
#define VPT_FORMATS_IO_IO_CALLS_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* pread(2) and write(2), or their replacements from vpt_io_use(). */
long vpt_io_read(int fd, void *buf, size_t size, uint64_t offset);
long vpt_io_write(int fd, const void *buf, size_t size);

/* The text of an errno, the same in every locale; static. Any thread. */
const char *vpt_io_reason(int error);

/* Sets the error "PATH: WHAT: REASON", REASON from an errno. Returns VPT_EIO. */
int vpt_io_fail(struct vpt_err *err, const char *path, const char *what, int error);

#endif
