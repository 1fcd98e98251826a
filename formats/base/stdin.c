/* stdin.c - standard input as a source.
 *
 * A source is read at any offset and by several threads; a pipe allows neither. So its bytes go to
 * a file first, on disk, since traces may not fit in memory. The file has no name, so it can never
 * be left over. */
#include "formats/base/io.h"

#include "formats/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 256 << 10 };

static const char name[] = "standard input";

static int cannot(const char *what, struct vpt_err *err)
{
	return vpt_fail(err, VPT_EIO, "%s: cannot %s: %s", name, what, strerror(errno));
}

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

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

/* Copies the rest of standard input to `fd`. */
static int copy_to(int fd, const char *folder, uint64_t *size_bytes, struct vpt_err *err)
{
	char *block = vpt_alloc(BLOCK_BYTES, 1);
	ssize_t n = 0;
	int rc = block ? VPT_OK : vpt_fail(err, VPT_ENOMEM, "%s: no memory to read it", name);

	while (!rc) {
		n = read(STDIN_FILENO, block, BLOCK_BYTES);
		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			rc = cannot("read", err);
		if (n > 0 && write_all(fd, block, (size_t)n))
			rc = vpt_fail(err, VPT_EIO,
				"%s: cannot copy it to a file in %.200s: %s; set TMPDIR to "
				"another folder",
				name, folder, strerror(errno));
		*size_bytes += n > 0 ? (uint64_t)n : 0;
	}
	vpt_free(block);
	return rc;
}

static int copy(struct vpt_source **out, struct vpt_err *err)
{
	const char *folder = temporary_folder();
	uint64_t size_bytes = 0;
	int fd = open_nameless(folder), rc;

	if (fd < 0)
		return vpt_fail(err, VPT_EIO,
			"%s: cannot create a file in %.200s: %s; set TMPDIR to another folder",
			name, folder, strerror(errno));
	rc = copy_to(fd, folder, &size_bytes, err);
	if (!rc)
		return vpt_source_take(fd, size_bytes, name, out, err);
	close(fd);
	return rc;
}

int vpt_source_stdin(struct vpt_source **out, struct vpt_err *err)
{
	struct stat st;
	int fd;

	*out = NULL;
	if (isatty(STDIN_FILENO))
		return vpt_fail(err, VPT_EINVAL,
			"%s is a terminal: expected a trace from a pipe or a file", name);
	if (fstat(STDIN_FILENO, &st))
		return cannot("read", err);
	if (!S_ISREG(st.st_mode) || lseek(STDIN_FILENO, 0, SEEK_CUR))
		return copy(out, err);
	fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return cannot("read", err);
	return vpt_source_take(fd, (uint64_t)st.st_size, name, out, err);
}
