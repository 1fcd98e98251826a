/* python_writer.c - the process, and the socket to it.
 *
 * A socket rather than two pipes: a write to a process that has ended is then an error, not a signal. */
#include "analysis/export/columns/column_store.h"

#include "formats/cli/start_program.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern const char vpa_write_columns_py[]; /* of the build */

#define INSTALL "install python3, and pyarrow by: python3 -m pip install pyarrow"

/* Reads a line without its end; *line is empty where there is none. */
static void read_reply(struct vpa_python_writer *w, char *line, size_t size)
{
	size_t used = 0;
	char c;

	while (used + 1 < size) {
		ssize_t got = recv(w->fd, &c, 1, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || c == '\n')
			break;
		line[used++] = c;
	}
	line[used] = '\0';
}

/* Waits for "ok". */
static int expect_ok(struct vpa_python_writer *w, int code, struct vpt_err *err)
{
	char line[300];

	read_reply(w, line, sizeof(line));
	if (!strcmp(line, "ok"))
		return VPT_OK;
	return vpt_fail(err, *line ? code : VPT_EIO, "--format %s: %s", w->format,
		*line ? line : "python3 ended before it was done");
}

int vpa_python_writer_start(struct vpa_python_writer *w, const char *format, const char *folder,
	int level, struct vpt_err *err)
{
	char number[16];
	const char *const words[] = {
		"python3", "-c", vpa_write_columns_py, format, folder, number, NULL};
	sigset_t signals;
	int ends[2], rc;

	*w = (struct vpa_python_writer){-1, -1, format};
	snprintf(number, sizeof(number), "%d", level);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return vpt_fail(err, VPT_EIO, "cannot open a socket: %s", strerror(errno));
	/* Those that this program ignores would remain ignored. */
	sigfillset(&signals);
	rc = vpt_start_program(&w->pid, (char *const *)words, ends[1], ends[1], &signals);
	close(ends[1]);
	w->fd = ends[0];
	if (rc) {
		w->pid = -1;
		return vpt_fail(err, rc == ENOENT ? VPT_EUNSUPPORTED : VPT_EIO,
			"--format %s needs python3 with pyarrow, and python3 was not started "
			"(%s): " INSTALL,
			format, strerror(rc));
	}
	return expect_ok(w, VPT_EUNSUPPORTED, err);
}

int vpa_python_writer_put(
	struct vpa_python_writer *w, const void *data, size_t size, struct vpt_err *err)
{
	const char *at = data;

	while (size) {
		ssize_t sent = send(w->fd, at, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {
			/* Its reply says why. "ok" cannot be: that is an answer to the last message. */
			int rc = expect_ok(w, VPT_EIO, err);

			return rc ? rc : vpt_fail(err, VPT_EIO, "python3: %s", strerror(EPIPE));
		}
		at += sent;
		size -= (size_t)sent;
	}
	return VPT_OK;
}

int vpa_python_writer_finish(struct vpa_python_writer *w, struct vpt_err *err)
{
	return expect_ok(w, VPT_EIO, err);
}

void vpa_python_writer_end(struct vpa_python_writer *w)
{
	if (w->fd >= 0)
		close(w->fd); /* it reads the end of its input, and ends */
	while (w->pid > 0 && waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
	w->fd = -1;
	w->pid = -1;
}
