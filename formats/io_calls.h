/* io_calls.h - the two system calls under sources and sinks, and words for their failures.
 * Private to these. */
#ifndef VPT_FORMATS_IO_CALLS_H
#define VPT_FORMATS_IO_CALLS_H

#include "formats/error.h"

#include <stddef.h>
#include <stdint.h>

/* pread(2) and write(2), or what vpt_io_use() put in their places. */
long vpt_io_read(int fd, void *buf, size_t size, uint64_t offset);
long vpt_io_write(int fd, const void *buf, size_t size);

/* An errno in words that are the same in every language; static. Any thread. */
const char *vpt_io_reason(int error);

/* Words "PATH: cannot open: REASON" of an errno. Returns VPT_EIO. */
int vpt_io_fail(struct vpt_err *err, const char *path, const char *what, int error);

#endif
