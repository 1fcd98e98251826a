/* io_calls.c - the system calls that sources and sinks use, replaceable so that a test can make the
 * n-th one fail. */
#include "formats/io/io_calls.h"

#include "formats/io/io.h"

#include <string.h>
#include <unistd.h>

static long real_read(int fd, void *buf, size_t size, uint64_t offset)
{
	return pread(fd, buf, size, (off_t)offset);
}

static long real_write(int fd, const void *buf, size_t size)
{
	return write(fd, buf, size);
}

static const struct vpt_io_ops real_ops = {.read = real_read, .write = real_write};
static const struct vpt_io_ops *current = &real_ops;

const struct vpt_io_ops *vpt_io_use(const struct vpt_io_ops *ops)
{
	const struct vpt_io_ops *former = current;

	current = ops ? ops : &real_ops;
	return former;
}

const struct vpt_io_ops *vpt_io_used(void)
{
	return current;
}

long vpt_io_read(int fd, void *buf, size_t size, uint64_t offset)
{
	return current->read(fd, buf, size, offset);
}

long vpt_io_write(int fd, const void *buf, size_t size)
{
	return current->write(fd, buf, size);
}

/* strerror(3) follows the user's locale and may share a buffer between threads; these messages are
 * the same everywhere. */
const char *vpt_io_reason(int error)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
	const char *text = strerrordesc_np(error);

	return text ? text : "unknown error";
#else
	return strerror(error);
#endif
}

/* Paths are cut to 200 characters, so that the fault itself always has room in the message. */
int vpt_io_fail(struct vpt_err *err, const char *path, const char *what, int error)
{
	return vpt_fail(err, VPT_EIO, "%.200s: %s: %s", path, what, vpt_io_reason(error));
}
