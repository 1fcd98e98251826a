/* dead_rings.c - receives descriptors while the command runs, writes files when it has ended.
 *
 * A descriptor keeps a ring's memory after its process has died. Rings whose processes have written
 * them are closed as others arrive. The sender's process id comes from the kernel, since the sender
 * may be in another pid namespace. The thread is ended by a shutdown of the socket, which needs no
 * name: the command may have removed that.
 *
 * A traced process may write anything to its ring, and send anything. Which files may be written, and
 * whether they replace others, is decided before the command starts; a ring's head is read once, as it
 * arrives, and its name counts only where this run may have given it. */
#include "tracer/command/run_parts.h"

#include "formats/metadata.h"
#include "tracer/command/base/say.h"
#include "tracer/flight/flight_file.h"
#include "tracer/flight/flight_handover.h"
#include "tracer/settings/capture_options.h"
#include "tracer/settings/output_name.h"
#include "tracer/files/capture_file.h"
#include "tracer/files/run_list.h"

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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	DESCRIPTORS_MAX = 253, /* of a message; the kernel's own limit */
	CONTROL_BYTES = CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))
};

struct ring {
	int memory;
	int process;                 /* a pidfd; -1: unknown */
	struct vtr_image_head *head; /* as it arrived */
};

/* Decided before the command starts. */
struct wishes {
	struct vtr_options options;
	char pattern[2 * VTR_PATH_MAX]; /* of the files' names */
};

struct vtr_rings {
	char folder[64];
	struct sockaddr_un name;
	int fd;
	pthread_t thread;
	int has_thread;
	atomic_int is_over; /* the thread is to end */
	struct wishes *wishes;
	struct ring *rings; /* the thread's while it runs */
	size_t count;
};

/* ---- receiving ---- */

static void close_ring(const struct ring *ring)
{
	if (ring->memory >= 0)
		close(ring->memory);
	if (ring->process >= 0)
		close(ring->process);
	free(ring->head);
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

/* A process that sends its ring again makes no second one. */
static int is_known(const struct vtr_rings *r, int memory)
{
	struct stat st, other;
	size_t i;

	if (fstat(memory, &st))
		return 1;
	for (i = 0; i < r->count; i++)
		if (!fstat(r->rings[i].memory, &other) && other.st_dev == st.st_dev &&
			other.st_ino == st.st_ino)
			return 1;
	return 0;
}

/* 0: the ring is the list's. */
static int keep(struct vtr_rings *r, struct ring *ring)
{
	struct ring *grown;

	if (!r->count)
		allow_descriptors();
	close_settled(r);
	ring->head = malloc(sizeof(*ring->head));
	grown = realloc(r->rings, (r->count + 1) * sizeof(*grown));
	if (grown)
		r->rings = grown;
	if (!ring->head || !grown || is_known(r, ring->memory) ||
		vtr_flight_image_head(ring->memory, ring->head, NULL))
		return -1;
	r->rings[r->count++] = *ring;
	return 0;
}

/* Closes all descriptors of a message but a single one, which it returns; -1: there is no single one. */
static int take_descriptor(const struct cmsghdr *c)
{
	size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int), i;
	int fd = -1;

	for (i = 0; i < count; i++) {
		memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
		if (count > 1)
			close(fd);
	}
	return count == 1 ? fd : -1;
}

static struct ring read_control(struct msghdr *message)
{
	struct ring ring = {.memory = -1, .process = -1};
	struct cmsghdr *c;
	struct ucred sender;

	for (c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		/* The kernel makes one of all that a message has. */
		if (c->cmsg_type == SCM_RIGHTS)
			ring.memory = take_descriptor(c);
		if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len == CMSG_LEN(sizeof(sender))) {
			memcpy(&sender, CMSG_DATA(c), sizeof(sender));
			ring.process = (int)syscall(SYS_pidfd_open, sender.pid, 0);
		}
	}
	return ring;
}

/* Keeps the ring of a message that has one descriptor and nothing else; there is room for as many as a
 * message can have, so that each is closed. Returns the message's bytes; 0 if the socket was shut down; -1
 * and errno. */
static ssize_t receive(struct vtr_rings *r, int flags)
{
	union {
		char bytes[CONTROL_BYTES];
		struct cmsghdr aligned;
	} control;
	char byte = '\0';
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	ssize_t n = recvmsg(r->fd, &message, MSG_CMSG_CLOEXEC | flags);
	struct ring ring;

	if (n < 0)
		return n;
	ring = read_control(&message);
	if (ring.memory < 0 || n != 1 || byte != VTR_HANDOVER_BYTE || keep(r, &ring))
		close_ring(&ring);
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

/* By the variables that the command gets. */
static struct wishes *read_wishes(void)
{
	struct wishes *w = malloc(sizeof(*w));
	const char *pattern = getenv("VPTRACE_OUTPUT");
	struct vpt_err err;

	if (w && vtr_options_resolve(NULL, &w->options, &err)) {
		free(w);
		w = NULL;
	}
	if (w)
		snprintf(w->pattern, sizeof(w->pattern), "%s", pattern ? pattern : "");
	return w;
}

int vtr_rings_listen(struct vtr_rings **out, struct vpt_err *err)
{
	struct vtr_rings *r = calloc(1, sizeof(*r));
	sigset_t all, before;

	*out = NULL;
	unsetenv("VPTRACE_RING_SOCKET"); /* one of a launcher around this one */
	if (r) {
		r->fd = -1;
		r->wishes = read_wishes();
	}
	if (!r || !r->wishes) {
		vtr_rings_free(r);
		return vpt_fail(err, VPT_ENOMEM, "no memory for the command's rings");
	}
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

/* The name that the ring's process would have given its file, if this run may have told it to. */
static const char *path_of(const struct ring *ring, const struct wishes *wishes)
{
	const struct vtr_image_head *head = ring->head;

	if (vtr_output_fits(wishes->pattern, head->path))
		return head->path;
	vtr_say("a ring is written to %s: its process wanted %s, which is not the output of this "
		"run; choose it with -o",
		wishes->options.path, head->path);
	return wishes->options.path;
}

static int write_file(struct vtr_flight_view *view, const struct ring *ring, const char *cause,
	const struct wishes *wishes, struct vtr_list *list, struct vpt_err *err)
{
	const struct vtr_flight_why why = {.cause = cause, .ring = ring->head->ring};
	const char *path = path_of(ring, wishes);
	char name[PATH_MAX];
	struct vpt_sink *file;
	int is_known =
		is_listed(list, path) || (list->outer && vtr_run_list_has(list->outer, path));
	int rc = vtr_capture_file_new(path, wishes->options.overwrite && !is_known, &file, err);

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
		vtr_list_file(list, (long)ring->head->pid, name);
	return rc;
}

static void write_ring(const struct ring *ring, const struct wishes *wishes, struct vtr_list *list)
{
	const char *cause = still_runs(ring) ? VPT_RING_LEAVE : VPT_RING_DEATH;
	struct vtr_flight_image *image = NULL;
	struct vtr_flight_view view;
	struct vpt_err err = {0};
	int rc;

	if (vtr_flight_image_is_settled(ring->memory))
		return;
	rc = vtr_flight_image_open(ring->memory, ring->head, &image, &view, &err);
	/* A process that has recorded nothing leaves no file. */
	if (!rc && view.count)
		rc = write_file(&view, ring, cause, wishes, list, &err);
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
		write_ring(&rings->rings[i], rings->wishes, list);
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
	free(rings->wishes);
	free(rings);
}
