/* capture_file.h - the file a capture is written to: made with its first byte, appended to, never
 * renamed.
 *
 * Mode 0600, O_EXCL, O_NOFOLLOW, O_CLOEXEC. A name that is taken gets "-2", "-3" ... before its
 * suffix, unless it may be overwritten: then a regular file of this user without other names is
 * truncated, and nothing else ever is; numbered names never are. A folder, FIFO, socket or device of the
 * name itself is refused. While it is open the file is
 * locked (flock), so that two processes with one name and leave to overwrite get two files. Every
 * write is one write(2) of a whole frame, repeated after EINTR, EAGAIN (for a tenth of a second)
 * and short writes; a frame that fails half-way is cut off again where possible. After the first
 * failure nothing more is written. The descriptor is checked before each write (device and inode),
 * so that a host which closed it, or gave its number to another file, loses no data of its own.
 * SIGPIPE and SIGXFSZ must be blocked in the calling thread. One thread at a time. */
#ifndef VPTRACE_TRACER_CAPTURE_FILE_H
#define VPTRACE_TRACER_CAPTURE_FILE_H

#include "formats/io.h"

struct vtr_capture_file;

/* A sink; nothing is created yet. `path` is copied, and means the working folder of now.
 * VPT_ENOMEM. Writing returns VPT_EIO, the same sentence from the first failure on: path and
 * reason. finish() closes the file whatever `commit` says, and keeps it: what was written is good.
 * Where nothing was, a new file is removed. After a failure a commit returns that failure again. */
int vtr_capture_file_new(
	const char *path, int overwrite, struct vpt_sink **out, struct vpt_err *err);

/* Makes the file now, empty. 0, or why it cannot be made. */
int vtr_capture_file_create(struct vpt_sink *sink, struct vpt_err *err);

/* The name that the file got, with its folder; "" before the first byte. Borrowed until finish. */
const char *vtr_capture_file_path(const struct vpt_sink *sink);

/* Cuts the frame that was written last off again, where that is possible. */
void vtr_capture_file_take_back(struct vpt_sink *sink);

/* In a forked child: closes the descriptor and writes nothing. finish() still frees the sink.
 * Async-signal-safe. */
void vtr_capture_file_abandon(struct vpt_sink *sink);

#endif
