/* open_source.c - the source that a path names: a regular file, one in a tar archive, or standard input. */
#include "formats/io/io.h"

#include "formats/file/tar_members.h"
#include "formats/io/io_calls.h"
#include "formats/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* With O_NONBLOCK a FIFO without a writer is refused instead of waited for. */
static int open_regular(const char *path, int *fd, uint64_t *size_bytes, struct vpt_err *err)
{
	struct stat st;
	int rc;

	do {
		*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	} while (*fd < 0 && errno == EINTR);
	if (*fd < 0)
		return vpt_io_fail(err, path, "cannot open", errno);
	if (fstat(*fd, &st))
		rc = vpt_io_fail(err, path, "cannot open", errno);
	else if (S_ISDIR(st.st_mode))
		rc = vpt_fail(err, VPT_EIO, "%.200s: is a directory, expected a file", path);
	else if (!S_ISREG(st.st_mode))
		rc = vpt_fail(err, VPT_EIO,
			"%.200s: is not a regular file; use - to read standard input", path);
	else {
		*size_bytes = (uint64_t)st.st_size;
		return VPT_OK;
	}
	close(*fd);
	return rc;
}

/* "job.tar/rank0.zst": a part of the path is a file. */
static int leads_into_file(const char *path)
{
	struct stat st;

	return *path && stat(path, &st) && errno == ENOTDIR;
}

int vpt_source_open(const char *path, struct vpt_source **out, struct vpt_err *err)
{
	uint64_t size_bytes = 0;
	int fd, rc;

	*out = NULL;
	if (vpt_is_standard(path))
		return vpt_source_stdin(out, err);
	if (leads_into_file(path)) {
		rc = vpt_tar_member_open(path, out, err);
		if (rc != VPT_END)
			return rc;
	}
	rc = open_regular(path, &fd, &size_bytes, err);
	if (!rc)
		rc = vpt_source_take(fd, size_bytes, path, out, err);
	if (!rc)
		(*out)->path = (*out)->name;
	return rc;
}
