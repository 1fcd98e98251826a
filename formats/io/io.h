/* io.h - byte sources and sinks.
 *
 * A source is read at any offset. A sink is appended to, then committed or discarded. Both are
 * small tables of functions, so that a test can use memory instead of files and make the n-th call
 * fail. */
#ifndef VPT_FORMATS_IO_IO_H
#define VPT_FORMATS_IO_IO_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* ---- reading ---- */

struct vpt_source {
	/* Reads up to `size` bytes at `offset`. *got < size only at the end of the data.
	 * Returns 0 or VPT_EIO. Must be callable from several threads at once. */
	int (*read_at)(struct vpt_source *src, uint64_t offset, void *buf, size_t size, size_t *got,
		struct vpt_err *err);
	void (*close)(struct vpt_source *src); /* frees src itself */
	uint64_t size_bytes;
	const char *name; /* for messages; borrowed from the source, valid until close */
	const char *path; /* of the file that it is, likewise; NULL: it is none */
	/* Tells that these bytes will be read soon. NULL: no use. */
	void (*expect)(struct vpt_source *src, uint64_t offset, uint64_t size);
	/* Whether another process holds the lock of the file, as a tracer does of the capture that it records. File
	 * systems without locks say no. NULL: it is no file. */
	int (*is_locked)(struct vpt_source *src);
};

/* Opens a regular file for reading, a file in a tar archive by "ARCHIVE/FILE", see tar_members.h, or standard input for "-". VPT_EIO,
 * with the reason, for a directory or a path that cannot be opened. The caller closes *out with vpt_source_close(). */
int vpt_source_open(const char *path, struct vpt_source **out, struct vpt_err *err);

/* Opens standard input, up to its end. A pipe, which cannot be read at any offset, is first copied
 * to an unnamed file in $TMPDIR or /tmp. A terminal is VPT_EINVAL. */
int vpt_source_stdin(struct vpt_source **out, struct vpt_err *err);

/* Takes an open regular file of `size_bytes`; closes it with the source, and on failure. */
int vpt_source_take(int fd, uint64_t size_bytes, const char *name, struct vpt_source **out,
	struct vpt_err *err);

/* The same over bytes in memory, borrowed until close. */
int vpt_source_memory(const void *data, size_t size, struct vpt_source **out, struct vpt_err *err);

void vpt_source_close(struct vpt_source *src); /* accepts NULL */

/* ---- writing ---- */

struct vpt_sink {
	/* Appends all of `data` or fails; after a failure only abort is allowed. 0, VPT_EIO or VPT_EGONE. */
	int (*write)(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err);
	/* Ends the writing and always frees the sink. commit != 0: publishes the result under its
	 * name or reports why not. commit == 0: discards what was written. */
	int (*finish)(struct vpt_sink *sink, int commit, struct vpt_err *err);
	/* Passes on what is still held back; NULL: nothing is. 0, VPT_EIO or VPT_EGONE. */
	int (*flush)(struct vpt_sink *sink, struct vpt_err *err);
	uint64_t written_bytes;
};

enum { VPT_SINK_FORCE = 1 }; /* an existing file may be replaced */

/* Writes a file of mode 0600. The bytes go to a temporary file in the same folder; a commit renames
 * it to `path`, so nobody sees half a file. An existing `path` is VPT_EINVAL unless VPT_SINK_FORCE;
 * symbolic links are replaced, not followed. "-" is standard output, written at once. */
int vpt_sink_open(const char *path, int flags, struct vpt_sink **out, struct vpt_err *err);

/* Collects bytes in memory. buf->data and buf->size are valid until finish; after a commit the
 * caller owns buf->data and frees it with vpt_free(). */
struct vpt_buffer {
	char *data;
	size_t size, cap;
};
int vpt_sink_memory(struct vpt_buffer *buf, struct vpt_sink **out, struct vpt_err *err);

static inline int vpt_sink_write(struct vpt_sink *s, const void *p, size_t n, struct vpt_err *err)
{
	return s->write(s, p, n, err);
}

/* ---- the system calls underneath, replaceable as in memory.h (NULL: the real ones) ---- */

struct vpt_io_ops {
	long (*read)(int fd, void *buf, size_t size, uint64_t offset); /* pread(2) and its errno */
	long (*write)(int fd, const void *buf, size_t size);           /* write(2) and its errno */
};
const struct vpt_io_ops *vpt_io_use(const struct vpt_io_ops *ops);
const struct vpt_io_ops *vpt_io_used(void); /* now */

#endif
