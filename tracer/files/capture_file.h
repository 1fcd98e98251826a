/* capture_file.h - the capture's file: created with its first byte, appended to, never renamed.
 *
 * Mode 0600, O_EXCL, O_NOFOLLOW, O_CLOEXEC. A name that is taken gets "-2", "-3" ... before its
 * suffix, unless overwriting is allowed. Only a regular file of this user with a single link is
 * ever truncated, and never one with a numbered name. A folder, FIFO, socket or device of that name
 * is refused. An open file is locked (flock), so two processes that may overwrite the same name get
 * two files. Every write is one write(2) of a whole frame, repeated after EINTR, EAGAIN (for a
 * tenth of a second) and short writes; a frame that fails half-way is cut off again where possible.
 * After the first failure nothing more is written. The descriptor is checked before each write
 * (device and inode), so that a host which closed it, or gave its number to another file, loses no
 * data of its own. SIGPIPE and SIGXFSZ must be blocked in the calling thread. One thread at a
 * time. */
#ifndef VPTRACE_TRACER_FILES_CAPTURE_FILE_H
#define VPTRACE_TRACER_FILES_CAPTURE_FILE_H

#include "formats/io/io.h"

struct vtr_capture_file;

/* Creates a sink but no file yet. `path` is copied; a relative one is relative to the current
 * working folder. VPT_ENOMEM. A failed write returns VPT_EIO with path and reason; every later one
 * repeats it. finish() closes the file whatever `commit` says, and keeps it: what was written is
 * good. A new file without a byte is removed. After a failure, a commit returns that failure
 * again. */
int vtr_capture_file_new(
	const char *path, int overwrite, struct vpt_sink **out, struct vpt_err *err);

/* Whether what has this name now, if anything, would be refused. Changes and opens nothing. VPT_EINVAL
 * with path, what was found and what was expected. */
int vtr_capture_file_check(const char *path, int overwrite, struct vpt_err *err);

/* Creates the file now, empty. 0, or why it cannot be created. */
int vtr_capture_file_create(struct vpt_sink *sink, struct vpt_err *err);

/* The file's actual name, with its folder; "" before the first byte. Borrowed until finish. */
const char *vtr_capture_file_path(const struct vpt_sink *sink);

/* Truncates the file before the last frame written, where that is possible. */
void vtr_capture_file_take_back(struct vpt_sink *sink);

/* In a forked child: closes the descriptor and writes nothing. finish() still frees the sink.
 * Async-signal-safe. */
void vtr_capture_file_abandon(struct vpt_sink *sink);

#endif
