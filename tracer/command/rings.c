/* rings.c - receives descriptors while the command runs, writes files when it has ended.
 *
 * A descriptor keeps a ring's memory after its process has died. Rings whose processes have written
 * them are closed as others arrive. The sender's process id comes from the kernel, since the sender
 * may be in another pid namespace. The thread is ended by a shutdown of the socket, which needs no
 * name: the command may have removed that. */
#include "tracer/command/rings.h"

#include "tracer/capture_file.h"
#include "tracer/command/say.h"
#include "tracer/flight_file.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

struct ring {
	int memory;
	int process; /* a pidfd; -1: unknown */
};

struct vtr_rings {
	char folder[64];
	struct sockaddr_un name;
	int fd;
	pthread_t thread;
	int has_thread;
	atomic_int is_over; /* the thread is to end */
	struct ring *rings; /* the thread's while it runs */
	size_t count;
};

/* ---- receiving ---- */

static void close_ring(const struct ring *ring)
{
	close(ring->memory);
	if (ring->process >= 0)
		close(ring->process);
}

static void close_settled(struct vtr_rings *r)
{
	size_t i, kept = 0;

	for (i = 0; i < r->count; i++)
		if (vtr_flight_image_is_settled(r->rings[i].memory))
			close_ring(&r->rings[i]);
		else
			r->rings[kept++] = r->rings[i];
	r->count = kept;
}

/* Two descriptors for each process that runs at once. The command has been started by now: its limit is
 * as it was. */
static void allow_descriptors(void)
{
	enum { ENOUGH = 65536 };
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= ENOUGH)
		return;
	limit.rlim_cur = limit.rlim_max < ENOUGH ? limit.rlim_max : ENOUGH;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void keep(struct vtr_rings *r, const struct ring *ring)
{
	struct ring *grown;

	if (!r->count)
		allow_descriptors();
	close_settled(r);
	grown = realloc(r->rings, (r->count + 1) * sizeof(*grown));
	if (!grown) {
		close_ring(ring);
		return;
	}
	r->rings = grown;
	r->rings[r->count++] = *ring;
}

static struct ring read_control(struct msghdr *message)
{
	struct ring ring = {-1, -1};
	struct cmsghdr *c;
	struct ucred sender;

	for (c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(&ring.memory, CMSG_DATA(c), sizeof(int));
		if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len == CMSG_LEN(sizeof(sender))) {
			memcpy(&sender, CMSG_DATA(c), sizeof(sender));
			ring.process = (int)syscall(SYS_pidfd_open, sender.pid, 0);
		}
	}
	return ring;
}

/* Keeps the first descriptor of a message; more than one it has no room for. Returns the message's
 * bytes; 0 if the socket was shut down; -1 and errno. */
static ssize_t receive(struct vtr_rings *r, int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr aligned;
	} control;
	char byte = '\0';
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	ssize_t n = recvmsg(r->fd, &message, MSG_CMSG_CLOEXEC | flags);
	struct ring ring = {-1, -1};

	if (n >= 0)
		ring = read_control(&message);
	if (ring.memory >= 0)
		keep(r, &ring);
	else if (ring.process >= 0)
		close(ring.process);
	return n;
}

static void *run(void *arg)
{
	struct vtr_rings *r = arg;

	while (!atomic_load(&r->is_over))
		if (receive(r, 0) < 0 && errno != EINTR)
			break;
	return NULL;
}

/* Whoever may enter the folder may send: this user alone. */
static int open_socket(struct vtr_rings *r)
{
	const char *const folders[] = {getenv("TMPDIR"), "/tmp", "/dev/shm", "/var/tmp"};
	const int on = 1;
	size_t i;

	r->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	setsockopt(r->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	for (i = 0; i < sizeof(folders) / sizeof(folders[0]) && r->fd >= 0; i++) {
		if (!folders[i] || *folders[i] != '/' ||
			strlen(folders[i]) > sizeof(r->folder) - sizeof("/vptrace-ring-XXXXXX"))
			continue;
		snprintf(r->folder, sizeof(r->folder), "%s/vptrace-ring-XXXXXX", folders[i]);
		if (!mkdtemp(r->folder))
			continue;
		r->name.sun_family = AF_UNIX;
		snprintf(r->name.sun_path, sizeof(r->name.sun_path), "%s/socket", r->folder);
		if (!bind(r->fd, (const struct sockaddr *)&r->name, sizeof(r->name)))
			return 0;
		rmdir(r->folder);
	}
	r->folder[0] = '\0';
	return -1;
}

int vtr_rings_listen(struct vtr_rings **out, struct vpt_err *err)
{
	struct vtr_rings *r = calloc(1, sizeof(*r));
	sigset_t all, before;

	*out = NULL;
	unsetenv("VPTRACE_RING_SOCKET"); /* one of a launcher around this one */
	if (!r)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the command's rings");
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	if (!open_socket(r))
		r->has_thread = !pthread_create(&r->thread, NULL, run, r);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!r->has_thread || setenv("VPTRACE_RING_SOCKET", r->name.sun_path, 1)) {
		vtr_rings_free(r);
		return vpt_fail(err, VPT_EIO, "no socket for rings: set TMPDIR to a short path");
	}
	*out = r;
	return VPT_OK;
}

/* What was sent before waits in the socket, and is received too. */
static void stop_receiving(struct vtr_rings *r)
{
	if (!r->has_thread)
		return;
	atomic_store(&r->is_over, 1);
	shutdown(r->fd, SHUT_RD);
	pthread_join(r->thread, NULL);
	r->has_thread = 0;
	while (receive(r, MSG_DONTWAIT) > 0)
		;
}

/* ---- writing ---- */

static int is_listed(const struct vtr_list *list, const char *path)
{
	size_t i;

	for (i = 0; i < list->file_count; i++)
		if (!strcmp(list->files[i].path, path))
			return 1;
	return 0;
}

static int still_runs(const struct ring *ring)
{
	struct pollfd end = {.fd = ring->process, .events = POLLIN};

	return ring->process >= 0 && poll(&end, 1, 0) == 0;
}

static int write_file(struct vtr_flight_view *view, const struct vtr_image_head *head,
	const char *cause, struct vtr_list *list, struct vpt_err *err)
{
	const struct vtr_flight_why why = {.cause = cause, .ring = head->ring};
	char name[PATH_MAX];
	struct vpt_sink *file;
	int rc = vtr_capture_file_new(
		head->path, head->overwrite == 1 && !is_listed(list, head->path), &file, err);

	if (rc)
		return rc;
	rc = vtr_flight_write(view, &why, file, err);
	snprintf(name, sizeof(name), "%s", vtr_capture_file_path(file));
	if (rc)
		file->finish(file, 0, NULL);
	else
		rc = file->finish(file, 1, err);
	if (rc && *name)
		unlink(name);
	if (!rc)
		vtr_list_file(list, (long)head->pid, name);
	return rc;
}

static void write_ring(const struct ring *ring, struct vtr_list *list)
{
	const char *cause = still_runs(ring) ? "leave" : "death";
	struct vtr_flight_image *image = NULL;
	struct vtr_flight_view view;
	struct vpt_err err = {0};
	int rc;

	if (vtr_flight_image_is_settled(ring->memory))
		return;
	rc = vtr_flight_image_open(ring->memory, &image, &view, &err);
	/* A process that has recorded nothing leaves no file. */
	if (!rc && view.count)
		rc = write_file(&view, vtr_flight_image_head(image), cause, list, &err);
	if (rc)
		vtr_say("a ring was not written: %s", err.text);
	vtr_flight_image_free(image);
}

void vtr_rings_write(struct vtr_rings *rings, struct vtr_list *list)
{
	size_t i;

	if (!rings)
		return;
	stop_receiving(rings);
	for (i = 0; i < rings->count; i++)
		write_ring(&rings->rings[i], list);
}

void vtr_rings_free(struct vtr_rings *rings)
{
	size_t i;

	if (!rings)
		return;
	stop_receiving(rings);
	for (i = 0; i < rings->count; i++)
		close_ring(&rings->rings[i]);
	if (rings->fd >= 0)
		close(rings->fd);
	if (*rings->folder) {
		unlink(rings->name.sun_path);
		rmdir(rings->folder);
	}
	free(rings->rings);
	free(rings);
}
