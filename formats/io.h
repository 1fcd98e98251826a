/* io.h - where bytes come from and where they go.
 *
 * A source is read at any offset; a sink is appended to and either committed or thrown away. Both
 * are small tables, so that a test feeds memory instead of files, and makes the n-th call fail. */
#ifndef VPT_FORMATS_IO_H
#define VPT_FORMATS_IO_H

#include "formats/error.h"

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
};

/* Opens a regular file for reading, or standard input for "-". A directory, or a path that cannot be opened, is VPT_EIO
 * with the reason. The caller closes *out with vpt_source_close(). */
int vpt_source_open(const char *path, struct vpt_source **out, struct vpt_err *err);

/* Standard input up to its end. What cannot be read at any offset, a pipe, is copied first to a file without a name in
 * $TMPDIR or /tmp. A terminal is VPT_EINVAL. */
int vpt_source_stdin(struct vpt_source **out, struct vpt_err *err);

/* An open regular file of `size_bytes`, which is closed with the source, and on failure too. */
int vpt_source_take(int fd, uint64_t size_bytes, const char *name, struct vpt_source **out,
	struct vpt_err *err);

/* The same over bytes in memory, borrowed until close. */
int vpt_source_memory(const void *data, size_t size, struct vpt_source **out, struct vpt_err *err);

void vpt_source_close(struct vpt_source *src); /* accepts NULL */

/* ---- writing ---- */

struct vpt_sink {
	/* Appends all of `data` or fails; after a failure only abort is allowed. 0 or VPT_EIO. */
	int (*write)(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err);
	/* Ends the writing. commit != 0: the result becomes visible under its name, a failure to do
	 * so is reported. commit == 0: nothing stays behind. Frees the sink in every case. */
	int (*finish)(struct vpt_sink *sink, int commit, struct vpt_err *err);
	uint64_t written_bytes;
};

enum { VPT_SINK_FORCE = 1 }; /* an existing file may be replaced */

/* A file of mode 0600. The bytes go to a temporary name in the same folder, which becomes `path`
 * at commit, so nobody sees half a file. An existing `path` is VPT_EINVAL unless VPT_SINK_FORCE;
 * symbolic links are replaced, not followed. `path` "-" is standard output: appended at once. */
int vpt_sink_open(const char *path, int flags, struct vpt_sink **out, struct vpt_err *err);

/* Collects bytes in memory; *bytes and *size are valid until finish, and are the caller's to free
 * with vpt_free() after a commit. */
struct vpt_buffer {
	char *data;
	size_t size, cap;
};
int vpt_sink_memory(struct vpt_buffer *buf, struct vpt_sink **out, struct vpt_err *err);

static inline int vpt_sink_write(struct vpt_sink *s, const void *p, size_t n, struct vpt_err *err)
{
	return s->write(s, p, n, err);
}

/* ---- the system calls underneath, replaceable like memory (NULL: the real ones) ---- */

struct vpt_io_ops {
	long (*read)(int fd, void *buf, size_t size, uint64_t offset); /* pread(2) and its errno */
	long (*write)(int fd, const void *buf, size_t size);           /* write(2) and its errno */
};
const struct vpt_io_ops *vpt_io_use(const struct vpt_io_ops *ops);

#endif
