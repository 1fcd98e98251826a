/* temporary_file.c - a temporary file whose name goes as soon as nobody needs it, so that no death leaves it behind. */
#include "analysis/export/temporary_file.h"

#include "formats/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int temporary_write(
	struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	struct vpa_temporary *s = (struct vpa_temporary *)sink;
	size_t done = 0;

	while (done < size) {
		ssize_t n = write(s->fd, (const char *)data + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return vpt_fail(
				err, VPT_EIO, "cannot write a temporary file: %s", strerror(errno));
		done += (size_t)n;
	}
	sink->written_bytes += size;
	return VPT_OK;
}

/* Temporary files are their callers': only the file is closed. */
static int temporary_finish(struct vpt_sink *sink, int commit, struct vpt_err *err)
{
	(void)commit;
	(void)err;
	vpa_temporary_close((struct vpa_temporary *)sink);
	return VPT_OK;
}

int vpa_temporary_open(struct vpa_temporary *s, const char *folder, struct vpt_err *err)
{
	const char *usual = getenv("TMPDIR");

	if (!folder)
		folder = usual && *usual ? usual : "/tmp";
	s->sink = (struct vpt_sink){.write = temporary_write, .finish = temporary_finish};
	s->fd = -1;
	if ((size_t)snprintf(s->path, sizeof(s->path), "%s/.vptrace-XXXXXX", folder) <
		sizeof(s->path))
		s->fd = mkostemp(s->path, O_CLOEXEC);
	if (s->fd < 0) {
		*s->path = '\0';
		return vpt_fail(err, VPT_EIO, "%.200s: cannot create a temporary file: %s", folder,
			strerror(errno));
	}
	return VPT_OK;
}

void vpa_temporary_hide(struct vpa_temporary *s)
{
	if (*s->path)
		unlink(s->path);
	*s->path = '\0';
}

void vpa_temporary_close(struct vpa_temporary *s)
{
	if (s->fd < 0)
		return;
	vpa_temporary_hide(s);
	close(s->fd);
	s->fd = -1;
}

int vpa_temporary_copy(const struct vpa_temporary *s,
	int (*put)(void *ctx, const void *data, size_t size, struct vpt_err *err), void *ctx,
	struct vpt_err *err)
{
	enum { PIECE = 256 << 10 };
	char *piece = vpt_alloc(PIECE, 1);
	int rc = piece ? VPT_OK : vpt_fail(err, VPT_ENOMEM, "no memory to copy a file");
	off_t at = 0;
	ssize_t n = 1;

	while (!rc && n) {
		n = pread(s->fd, piece, PIECE, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = vpt_fail(
				err, VPT_EIO, "cannot read a temporary file: %s", strerror(errno));
		else if (n)
			rc = put(ctx, piece, (size_t)n, err);
		at += n;
	}
	vpt_free(piece);
	return rc;
}
