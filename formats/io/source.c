/* source.c - byte sources: an open file, or memory. file/open_source.c opens paths.
 *
 * Reads with pread(2) in a loop, never mmap(2): a file that shrinks meanwhile then gives a short
 * read, not a signal. */
#include "formats/io/io.h"

#include "formats/io/io_calls.h"
#include "formats/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct file_source {
	struct vpt_source base;
	int fd;
	char name[];
};

struct memory_source {
	struct vpt_source base;
	const char *data;
};

/* How many of `size` bytes at `offset` are inside the source. A file that grows meanwhile keeps the
 * size it had when opened. */
static size_t clamp_to_end(const struct vpt_source *src, uint64_t offset, size_t size)
{
	uint64_t left = offset < src->size_bytes ? src->size_bytes - offset : 0;

	return left < size ? (size_t)left : size;
}

static int file_read_at(struct vpt_source *src, uint64_t offset, void *buf, size_t size,
	size_t *got, struct vpt_err *err)
{
	struct file_source *f = (struct file_source *)src;
	size_t done = 0;

	*got = 0;
	size = clamp_to_end(src, offset, size);
	while (done < size) {
		long n = vpt_io_read(f->fd, (char *)buf + done, size - done, offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return vpt_fail(err, VPT_EIO,
				"%.200s: cannot read %zu bytes at offset %llu: %s", src->name,
				size - done, (unsigned long long)(offset + done),
				vpt_io_reason(errno));
		if (n == 0)
			break;
		done += (size_t)n;
	}
	*got = done;
	return VPT_OK;
}

static void file_expect(struct vpt_source *src, uint64_t offset, uint64_t size)
{
	posix_fadvise(
		((struct file_source *)src)->fd, (off_t)offset, (off_t)size, POSIX_FADV_WILLNEED);
}

/* The lock is given back at once; a tracer that wants the file just then takes another name. */
static int file_is_locked(struct vpt_source *src)
{
	int fd = ((struct file_source *)src)->fd;

	if (!flock(fd, LOCK_SH | LOCK_NB)) {
		flock(fd, LOCK_UN);
		return 0;
	}
	return errno == EWOULDBLOCK;
}

static void file_source_close(struct vpt_source *src)
{
	close(((struct file_source *)src)->fd);
	vpt_free(src);
}

int vpt_source_take(
	int fd, uint64_t size_bytes, const char *path, struct vpt_source **out, struct vpt_err *err)
{
	size_t name_bytes = strlen(path) + 1;
	struct file_source *f;

	*out = NULL;
	f = vpt_alloc(1, sizeof(*f) + name_bytes);
	if (!f) {
		close(fd);
		return vpt_fail(err, VPT_ENOMEM, "%.200s: no memory to read it", path);
	}
	memcpy(f->name, path, name_bytes);
	f->fd = fd;
	f->base = (struct vpt_source){.read_at = file_read_at,
		.expect = file_expect,
		.is_locked = file_is_locked,
		.close = file_source_close,
		.size_bytes = size_bytes,
		.name = f->name};
	*out = &f->base;
	return VPT_OK;
}

static int memory_read_at(struct vpt_source *src, uint64_t offset, void *buf, size_t size,
	size_t *got, struct vpt_err *err)
{
	struct memory_source *m = (struct memory_source *)src;

	(void)err;
	*got = clamp_to_end(src, offset, size);
	if (*got)
		memcpy(buf, m->data + offset, *got);
	return VPT_OK;
}

static void memory_source_close(struct vpt_source *src)
{
	vpt_free(src);
}

int vpt_source_memory(const void *data, size_t size, struct vpt_source **out, struct vpt_err *err)
{
	struct memory_source *m = vpt_alloc(1, sizeof(*m));

	*out = NULL;
	if (!m)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a source of bytes");
	m->data = data;
	m->base = (struct vpt_source){.read_at = memory_read_at,
		.close = memory_source_close,
		.size_bytes = size,
		.name = "memory"};
	*out = &m->base;
	return VPT_OK;
}

void vpt_source_close(struct vpt_source *src)
{
	if (src)
		src->close(src);
}
