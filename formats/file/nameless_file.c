/* nameless_file.c - a file without a name, and standard input as a source: a pipe is read in order and once, so its bytes go to
 * such a file first. */
#include "formats/file/nameless_file.h"

#include "formats/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 256 << 10 };

static const char standard_input[] = "standard input";

static const char *temporary_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

/* Opens a file that only this user can access and that vanishes with its descriptor; -1 with
 * errno. */
static int open_nameless(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char path[4096];
	size_t len = strlen(folder);

	if (fd >= 0 || len + sizeof("/vptrace-XXXXXX") > sizeof(path))
		return fd;
	/* This file system does not support unnamed files. */
	memcpy(path, folder, len);
	memcpy(path + len, "/vptrace-XXXXXX", sizeof("/vptrace-XXXXXX"));
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int vpt_spool_open(struct vpt_spool *s, const char *name, struct vpt_err *err)
{
	*s = (struct vpt_spool){.name = name, .folder = temporary_folder()};
	s->fd = open_nameless(s->folder);
	return s->fd >= 0 ? VPT_OK
			  : vpt_fail(err, VPT_EIO,
				    "%.200s: cannot create a file in %.200s: %s; set TMPDIR to "
				    "another folder",
				    name, s->folder, strerror(errno));
}

int vpt_spool_write(struct vpt_spool *s, const void *data, size_t size, struct vpt_err *err)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(s->fd, at, size);

		if (n < 0 && errno != EINTR)
			return vpt_fail(err, VPT_EIO,
				"%.200s: cannot copy it to a file in %.200s: %s; set TMPDIR to "
				"another folder",
				s->name, s->folder, strerror(errno));
		if (n > 0) {
			at += n;
			size -= (size_t)n;
			s->size_bytes += (uint64_t)n;
		}
	}
	return VPT_OK;
}

int vpt_spool_source(struct vpt_spool *s, struct vpt_source **out, struct vpt_err *err)
{
	int fd = s->fd;

	s->fd = -1;
	return vpt_source_take(fd, s->size_bytes, s->name, out, err);
}

void vpt_spool_close(struct vpt_spool *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* ---- standard input ---- */

static int cannot(const char *what, struct vpt_err *err)
{
	return vpt_fail(err, VPT_EIO, "%s: cannot %s: %s", standard_input, what, strerror(errno));
}

/* Copies the rest of standard input. */
static int copy_to(struct vpt_spool *spool, struct vpt_err *err)
{
	char *block = vpt_alloc(BLOCK_BYTES, 1);
	ssize_t n = 0;
	int rc = block ? VPT_OK
		       : vpt_fail(err, VPT_ENOMEM, "%s: no memory to read it", standard_input);

	while (!rc) {
		n = read(STDIN_FILENO, block, BLOCK_BYTES);
		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			rc = cannot("read", err);
		if (n > 0)
			rc = vpt_spool_write(spool, block, (size_t)n, err);
	}
	vpt_free(block);
	return rc;
}

static int copy(struct vpt_source **out, struct vpt_err *err)
{
	struct vpt_spool spool;
	int rc = vpt_spool_open(&spool, standard_input, err);

	if (rc)
		return rc;
	rc = copy_to(&spool, err);
	if (!rc)
		return vpt_spool_source(&spool, out, err);
	vpt_spool_close(&spool);
	return rc;
}

int vpt_source_stdin(struct vpt_source **out, struct vpt_err *err)
{
	struct stat st;
	int fd;

	*out = NULL;
	if (isatty(STDIN_FILENO))
		return vpt_fail(err, VPT_EINVAL,
			"%s is a terminal: expected a trace from a pipe or a file", standard_input);
	if (fstat(STDIN_FILENO, &st))
		return cannot("read", err);
	if (!S_ISREG(st.st_mode) || lseek(STDIN_FILENO, 0, SEEK_CUR))
		return copy(out, err);
	fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return cannot("read", err);
	return vpt_source_take(fd, (uint64_t)st.st_size, standard_input, out, err);
}
