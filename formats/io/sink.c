/* sink.c - byte sinks: a file, standard output, memory.
 *
 * A file is written under a temporary name in the folder of its target and renamed in one step at
 * the end. The folder stays open, so a later chdir(2) does no harm.
 *
 * Left out: fsync(2), since we guard against our own failures, not the machine's; and cleaning up
 * after SIGKILL, which leaves the temporary file. The program must ignore SIGPIPE. */
#include "formats/io/io.h"

#include "formats/io/io_calls.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SINK_BUFFER_BYTES = 64 * 1024 };

/* ---- to a descriptor ---- */

struct file_sink {
	struct vpt_sink base;
	int fd;
	int dir; /* the folder of the target; -1: standard output, nothing to publish */
	int flags;
	int failed;         /* the code of the first failure; then only abort is allowed */
	char *path;         /* for messages */
	const char *target; /* the last part of path */
	char temp[256];     /* the temporary name in dir */
	size_t used;
	char buf[SINK_BUFFER_BYTES];
};

/* Waits for a pipe that is non-blocking because a program that shares it made it so. */
static int wait_writable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, -1) < 0 && errno != EINTR ? -1 : 0;
}

static int fail_write(const struct file_sink *f, int error, struct vpt_err *err)
{
	if (error == EPIPE && f->fd == STDOUT_FILENO)
		return vpt_fail(
			err, VPT_EGONE, "%s: cannot write: %s", f->path, vpt_io_reason(error));
	return vpt_io_fail(err, f->path, "cannot write", error);
}

static int write_all(struct file_sink *f, const char *data, size_t size, struct vpt_err *err)
{
	while (size) {
		long n = vpt_io_write(f->fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN && !wait_writable(f->fd))
			continue;
		if (n <= 0) {
			f->failed = fail_write(f, n ? errno : EIO, err);
			return f->failed;
		}
		data += n;
		size -= (size_t)n;
	}
	return VPT_OK;
}

static int flush(struct file_sink *f, struct vpt_err *err)
{
	size_t used = f->used;

	f->used = 0;
	return write_all(f, f->buf, used, err);
}

static int file_write(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	struct file_sink *f = (struct file_sink *)sink;
	int rc;

	if (f->failed)
		return vpt_fail(err, f->failed, "%.200s: written to after a failure", f->path);
	if (size > sizeof(f->buf) - f->used) {
		rc = flush(f, err);
		if (rc)
			return rc;
	}
	if (size >= sizeof(f->buf)) {
		rc = write_all(f, data, size, err);
		if (rc)
			return rc;
	} else if (size) {
		memcpy(f->buf + f->used, data, size);
		f->used += size;
	}
	sink->written_bytes += size;
	return VPT_OK;
}

static int file_flush(struct vpt_sink *sink, struct vpt_err *err)
{
	struct file_sink *f = (struct file_sink *)sink;

	return f->failed ? f->failed : flush(f, err);
}

static int fail_exists(struct vpt_err *err, const char *path)
{
	return vpt_fail(err, VPT_EINVAL, "%.200s: exists already; use --force to replace it", path);
}

static int create_only(int dir, const char *name)
{
	return openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Renames the temporary file to its target. Without VPT_SINK_FORCE a file that has appeared there
 * in the meantime must win, so plain rename(2) will not do. There are three ways, since not every
 * file system supports the first (NFS) or the second (object stores mounted as a folder): a rename
 * that never replaces; a hard link; creating the target exclusively, then replacing it. Returns 0
 * or an errno. */
static int publish(struct file_sink *f)
{
	int fd, error;

	if (f->flags & VPT_SINK_FORCE)
		return renameat(f->dir, f->temp, f->dir, f->target) ? errno : 0;
	if (!renameat2(f->dir, f->temp, f->dir, f->target, RENAME_NOREPLACE))
		return 0;
	if (errno == EEXIST)
		return EEXIST;
	if (!linkat(f->dir, f->temp, f->dir, f->target, 0)) {
		unlinkat(f->dir, f->temp, 0);
		return 0;
	}
	if (errno == EEXIST)
		return EEXIST;
	fd = create_only(f->dir, f->target);
	if (fd < 0)
		return errno;
	close(fd);
	if (!renameat(f->dir, f->temp, f->dir, f->target))
		return 0;
	error = errno;
	unlinkat(f->dir, f->target, 0);
	return error;
}

static void file_sink_free(struct file_sink *f)
{
	if (!f)
		return;
	if (f->dir >= 0)
		close(f->dir);
	vpt_free(f->path);
	vpt_free(f);
}

static int stdout_finish(struct vpt_sink *sink, int commit, struct vpt_err *err)
{
	struct file_sink *f = (struct file_sink *)sink;
	int rc = f->failed;

	if (commit && rc)
		vpt_fail(err, rc, "%s: committed after a failure", f->path);
	else if (commit)
		rc = flush(f, err);
	file_sink_free(f);
	return commit ? rc : VPT_OK;
}

static int file_finish(struct vpt_sink *sink, int commit, struct vpt_err *err)
{
	struct file_sink *f = (struct file_sink *)sink;
	int rc = f->failed, error;

	if (commit && rc)
		vpt_fail(err, rc, "%.200s: committed after a failure", f->path);
	else if (commit)
		rc = flush(f, err);
	/* Network file systems report a full disk as late as here. */
	if (close(f->fd) && errno != EINTR && commit && !rc)
		rc = vpt_io_fail(err, f->path, "cannot write", errno);
	if (commit && !rc) {
		error = publish(f);
		if (error == EEXIST)
			rc = fail_exists(err, f->path);
		else if (error)
			rc = vpt_io_fail(err, f->path, "cannot rename the file", error);
	}
	if (!commit || rc)
		unlinkat(f->dir, f->temp, 0);
	file_sink_free(f);
	return commit ? rc : VPT_OK;
}

static int open_folder(const char *path, const char *target, int *dir, struct vpt_err *err)
{
	char *folder =
		target == path ? vpt_strndup(".", 1) : vpt_strndup(path, (size_t)(target - path));
	int rc = VPT_OK;

	if (!folder)
		return vpt_fail(err, VPT_ENOMEM, "%.200s: no memory to write it", path);
	*dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*dir < 0)
		rc = vpt_io_fail(err, path, "cannot open its folder", errno);
	vpt_free(folder);
	return rc;
}

/* Checks early, so that no one computes for an hour and is refused then; publish() decides. */
static int check_target(const struct file_sink *f, struct vpt_err *err)
{
	struct stat st;

	if (fstatat(f->dir, f->target, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? VPT_OK : vpt_io_fail(err, f->path, "cannot create", errno);
	if (S_ISDIR(st.st_mode))
		return vpt_fail(
			err, VPT_EINVAL, "%.200s: is a directory, expected a file name", f->path);
	/* Never replace a device such as /dev/null by a file, even if asked to. */
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return vpt_fail(err, VPT_EINVAL,
			"%.200s: is not a regular file; use - to write to standard output",
			f->path);
	return f->flags & VPT_SINK_FORCE ? VPT_OK : fail_exists(err, f->path);
}

/* ".NAME.XXXXXX". The six digits make collisions rare; O_EXCL makes them harmless. */
static int create_temp(struct file_sink *f, struct vpt_err *err)
{
	size_t len = strlen(f->target);
	struct timespec now;
	uint32_t salt;
	int attempt;

	if (len > 200) /* room for the rest in NAME_MAX; cut between characters */
		for (len = 200; len && ((unsigned char)f->target[len] & 0xc0) == 0x80; len--)
			;
	clock_gettime(CLOCK_MONOTONIC, &now);
	salt = (uint32_t)now.tv_nsec ^ (uint32_t)getpid() << 12;
	for (attempt = 0; attempt < 1000; attempt++) {
		salt = salt * 1664525u + 1013904223u;
		snprintf(f->temp, sizeof(f->temp), ".%.*s.%06x", (int)len, f->target, salt >> 8);
		f->fd = create_only(f->dir, f->temp);
		if (f->fd >= 0)
			return VPT_OK;
		if (errno != EEXIST && errno != EINTR)
			break;
	}
	return vpt_io_fail(err, f->path, "cannot create", errno);
}

static int open_file(struct file_sink *f, struct vpt_err *err)
{
	const char *slash = strrchr(f->path, '/');
	int rc;

	f->target = slash ? slash + 1 : f->path;
	if (!*f->target)
		return vpt_fail(err, VPT_EINVAL, "\"%.200s\": expected a file name, found %s",
			f->path, slash ? "a folder" : "nothing");
	rc = open_folder(f->path, f->target, &f->dir, err);
	if (!rc)
		rc = check_target(f, err);
	if (!rc)
		rc = create_temp(f, err);
	return rc;
}

int vpt_sink_open(const char *path, int flags, struct vpt_sink **out, struct vpt_err *err)
{
	int to_stdout = vpt_is_standard(path), rc = VPT_OK;
	const char *name = to_stdout ? "standard output" : path;
	struct file_sink *f;

	*out = NULL;
	f = vpt_alloc(1, sizeof(*f));
	if (!f)
		return vpt_fail(err, VPT_ENOMEM, "%.200s: no memory to write it", name);
	memset(f, 0, offsetof(struct file_sink, buf));
	f->dir = -1;
	f->flags = flags;
	f->base.write = file_write;
	f->base.flush = file_flush;
	f->path = vpt_strndup(name, strlen(name));
	if (!f->path) {
		rc = vpt_fail(err, VPT_ENOMEM, "%.200s: no memory to write it", name);
	} else if (to_stdout) {
		f->fd = STDOUT_FILENO;
		f->base.finish = stdout_finish;
	} else {
		f->base.finish = file_finish;
		rc = open_file(f, err);
	}
	if (!rc) {
		*out = &f->base;
		f = NULL;
	}
	file_sink_free(f);
	return rc;
}

/* ---- to memory ---- */

struct memory_sink {
	struct vpt_sink base;
	struct vpt_buffer *buf; /* the caller's */
	int failed;
};

static int memory_write(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	struct memory_sink *m = (struct memory_sink *)sink;
	struct vpt_buffer *b = m->buf;

	if (m->failed)
		return vpt_fail(err, m->failed, "memory: written to after a failure");
	if (!size)
		return VPT_OK;
	if (size > SIZE_MAX - b->size || vpt_grow(&b->data, &b->cap, b->size + size, 1)) {
		m->failed = VPT_ENOMEM;
		return vpt_fail(err, VPT_ENOMEM, "no memory for %zu more bytes of output", size);
	}
	memcpy(b->data + b->size, data, size);
	b->size += size;
	sink->written_bytes += size;
	return VPT_OK;
}

static int memory_finish(struct vpt_sink *sink, int commit, struct vpt_err *err)
{
	struct memory_sink *m = (struct memory_sink *)sink;
	int rc = commit ? m->failed : VPT_OK;

	if (rc)
		vpt_fail(err, rc, "memory: committed after a failure");
	if (!commit || rc) {
		vpt_free(m->buf->data);
		*m->buf = (struct vpt_buffer){0};
	}
	vpt_free(m);
	return rc;
}

int vpt_sink_memory(struct vpt_buffer *buf, struct vpt_sink **out, struct vpt_err *err)
{
	struct memory_sink *m = vpt_calloc(1, sizeof(*m));

	*out = NULL;
	*buf = (struct vpt_buffer){0};
	if (!m)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a sink of bytes");
	m->base.write = memory_write;
	m->base.finish = memory_finish;
	m->buf = buf;
	*out = &m->base;
	return VPT_OK;
}
